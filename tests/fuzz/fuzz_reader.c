/// Any bytes to one reader, the one of the format that FORMAT names: see fuzz.mk.
///
/// What must hold: a mesh or a reason, within a second of processor time; nothing left over on failure; at no time
/// more than 64 bytes of memory for each byte of the file (the sanitizers' allocators tell; without them this is
/// not looked at). Small soups are built, too, for whatever a reader lets through must not hurt the builder.
///
/// Of "mmap" an input is many files: of each a byte pair with its size, then its bytes; the last takes the rest.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mesh_read.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

#define BYTES_A_BYTE 64
#define BYTES_ANYHOW 65536 ///< for what a reader keeps whatever the file's size
#define BUILT_CORNERS 1500
#define MAX_PARTS 64

// What the sanitizers' allocators call and offer.
size_t __sanitizer_get_allocated_size(const volatile void *p) __attribute__((weak));
void __sanitizer_malloc_hook(const volatile void *p, size_t size);
void __sanitizer_free_hook(const volatile void *p);

static size_t live, peak;

void __sanitizer_malloc_hook(const volatile void *p, size_t size)
{
    (void)p;
    live += size;
    peak = live > peak ? live : peak;
}

void __sanitizer_free_hook(const volatile void *p)
{
    size_t size = p && __sanitizer_get_allocated_size ? __sanitizer_get_allocated_size(p) : 0;
    live -= size < live ? size : live; // blocks from before the first look
}

static void demand(bool holds, const char *what, const char *detail)
{
    if (!holds) {
        fprintf(stderr, "fuzz_reader " FORMAT ": %s: %s\n", what, detail);
        abort();
    }
}

/// Cuts an input of "mmap" into its files.
static size_t cut_into_parts(const unsigned char *data, size_t size, nav_part parts[MAX_PARTS])
{
    size_t count = 0;
    while (size >= 2 && count < MAX_PARTS) {
        size_t length = (size_t)data[0] | (size_t)data[1] << 8;
        length = count + 1 == MAX_PARTS || length > size - 2 ? size - 2 : length;
        parts[count++] = (nav_part){"part", data + 2, length};
        data += 2 + length;
        size -= 2 + length;
    }
    return count;
}

static void check_problem(const api_problem *problem, const nav_soup *soup)
{
    bool known = problem->code == API_BAD_MESH || problem->code == API_UNSUPPORTED_MEDIA_TYPE ||
                 problem->code == API_BAD_JSON || problem->code == API_STORAGE_FULL;
    demand(known, "a code that no reader gives", problem->detail);
    demand(problem->detail[0] != '\0', "refused without a reason", "");
    demand(!soup->vertices && !soup->corners && !soup->links, "something is left", problem->detail);
}

static void build(const nav_soup *soup)
{
    nav_mesh *mesh = NULL;
    nav_error error = {0};
    if (soup->corner_count > BUILT_CORNERS) {
        return;
    }
    nav_status status = nav_mesh_build(soup, NULL, NULL, &mesh, NULL, &error);
    demand(status == NAV_OK || status == NAV_BAD_MESH || status == NAV_TOO_LARGE, "not built", error.message);
    nav_mesh_destroy(mesh);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static api_settings settings;
    api_problem problem = {0};
    if (!api_settings_read(&settings, NULL, NULL, &problem)) {
        abort();
    }
    const api_format *format = api_format_by_name(FORMAT);
    demand(format != NULL, "there is no such format", "");
    nav_part parts[MAX_PARTS];
    nav_soup soup;
    api_file_extra extra = {0};
    nav_soup_init(&soup, NULL);
    api_reading reading = {.bytes = (const char *)data,
                           .size = size,
                           .parts = parts,
                           .part_count = strcmp(FORMAT, "mmap") == 0 ? cut_into_parts(data, size, parts) : 0,
                           .settings = &settings,
                           .soup = &soup,
                           .extra = &extra,
                           .problem = &problem};
    clock_t began = clock();
    live = peak = 0;
    bool fine = api_format_read(format, &reading);
    demand(clock() - began < CLOCKS_PER_SEC, "too slow", problem.detail);
    demand(peak <= BYTES_A_BYTE * size + BYTES_ANYHOW, "too much memory", problem.detail);
    if (fine) {
        build(&soup);
    } else {
        check_problem(&problem, &soup);
    }
    nav_soup_deinit(&soup);
    cJSON_Delete(extra.links);
    api_settings_deinit(&settings);
    return 0;
}
