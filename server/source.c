#include "source.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TILE_ENDING ".mmtile"

static bool ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n > m && strcmp(name + n - m, ending) == 0;
}

/// Takes two digits, and a _ before them, off the end.
static bool take_number(const char *name, size_t *length)
{
    size_t n = *length;
    if (n < 3 || !isdigit((unsigned char)name[n - 1]) || !isdigit((unsigned char)name[n - 2])) {
        return false;
    }
    n -= 2;
    *length = n > 1 && name[n - 1] == '_' ? n - 1 : n;
    return true;
}

bool srv_tile_stem(const char *name, char stem[SRV_NAME_SIZE])
{
    size_t length = strlen(name);
    if (length >= SRV_NAME_SIZE || !ends_with(name, TILE_ENDING)) {
        return false;
    }
    length -= strlen(TILE_ENDING);
    if (!take_number(name, &length) || !take_number(name, &length)) {
        return false;
    }
    memcpy(stem, name, length);
    stem[length] = '\0';
    return true;
}

void srv_look_add(srv_look *look, const char *name, const srv_look *tile)
{
    bool settled = srv_look_settled(look) && srv_look_settled(tile);
    look->inode += srv_hash(srv_hash(SRV_HASH_START, name, strlen(name)), tile, sizeof *tile);
    look->bytes += tile->bytes;
    look->modified_ns = tile->modified_ns > look->modified_ns ? tile->modified_ns : look->modified_ns;
    look->changed_ns = tile->changed_ns > look->changed_ns ? tile->changed_ns : look->changed_ns;
    if (!settled) { // one that is still being written makes the whole so
        look->changed_ns = look->modified_ns;
    }
}

// Tiles.

typedef struct names {
    char (*list)[SRV_NAME_SIZE];
    size_t count, cap;
} names;

static bool add_name(names *n, const char *name)
{
    if (n->count == n->cap) {
        size_t cap = n->cap ? 2 * n->cap : 64;
        void *list = realloc(n->list, cap * sizeof *n->list);
        if (!list) {
            return false;
        }
        n->list = list;
        n->cap = cap;
    }
    snprintf(n->list[n->count++], sizeof *n->list, "%s", name);
    return true;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/// Names of the tiles of a map. @return false: no memory, or the folder cannot be read
static bool list_tiles(const char *folder, const char *map, names *out)
{
    char stem[SRV_NAME_SIZE];
    size_t length = strlen(map) - strlen(SRV_MMAP_ENDING);
    DIR *dir = opendir(folder);
    bool ok = dir != NULL;
    for (struct dirent *entry = ok ? readdir(dir) : NULL; ok && entry; entry = readdir(dir)) {
        if (srv_tile_stem(entry->d_name, stem) && strlen(stem) == length && memcmp(stem, map, length) == 0) {
            ok = add_name(out, entry->d_name);
        }
    }
    if (dir) {
        closedir(dir);
    }
    if (ok && out->count > 0) {
        qsort(out->list, out->count, sizeof *out->list, compare_names);
    }
    return ok;
}

static void free_parts(srv_source *s)
{
    for (size_t i = 0; i < s->part_count; i++) {
        free((void *)(uintptr_t)s->parts[i].name);
        if (i > 0) { // the first one's bytes are the mesh's
            free((void *)(uintptr_t)s->parts[i].bytes);
        }
    }
    free(s->parts);
    s->parts = NULL;
    s->part_count = 0;
}

static srv_read_result read_tiles(srv_source *s, const char *folder, const names *tiles, api_problem *problem)
{
    s->parts = calloc(tiles->count + 1, sizeof *s->parts);
    for (size_t i = 0; s->parts && i <= tiles->count; i++) {
        const char *name = i == 0 ? s->name : tiles->list[i - 1];
        srv_bytes bytes = s->mesh;
        if (i > 0) {
            srv_read_result result = srv_file_read(folder, name, &bytes, problem);
            if (result != SRV_READ_OK) { // one that is gone since it was listed will be missed by the next scan
                return result == SRV_READ_MISSING ? SRV_READ_CHANGED : result;
            }
            srv_look_add(&s->mesh.look, name, &bytes.look);
        }
        char *copy = strdup(name);
        s->parts[s->part_count++] = (nav_part){copy, bytes.data, bytes.size};
        if (!copy) {
            break;
        }
    }
    if (s->part_count != tiles->count + 1) {
        api_problem_set(problem, API_INTERNAL, "no memory to read %s", s->name);
        return SRV_READ_FAILED;
    }
    return SRV_READ_OK;
}

static srv_read_result read_map(srv_source *s, const char *folder, api_problem *problem)
{
    names tiles = {0};
    srv_read_result result = SRV_READ_FAILED;
    if (list_tiles(folder, s->name, &tiles)) {
        result = read_tiles(s, folder, &tiles, problem);
    } else {
        api_problem_set(problem, API_INTERNAL, "cannot list the tiles of %s", s->name);
    }
    free(tiles.list);
    return result;
}

srv_read_result srv_source_read(srv_source *source, const char *real_folder, const char *name, const char *sidecar_name,
                                api_problem *problem)
{
    *source = (srv_source){0};
    snprintf(source->name, sizeof source->name, "%s", name);
    srv_read_result result = srv_file_read_or_map(real_folder, name, &source->mesh, &source->mapped, problem);
    if (result == SRV_READ_OK && ends_with(name, SRV_MMAP_ENDING)) {
        result = read_map(source, real_folder, problem);
    }
    if (result == SRV_READ_OK && sidecar_name) {
        result = srv_file_read(real_folder, sidecar_name, &source->sidecar, problem);
        result = result == SRV_READ_MISSING ? SRV_READ_OK : result;
    }
    if (result != SRV_READ_OK) {
        srv_source_free(source);
    }
    return result;
}

static void release_mapped(void *mapped)
{
    srv_mapped_close(mapped);
}

void srv_source_free(srv_source *source)
{
    free_parts(source);
    if (source->mapped) {
        srv_mapped_close(source->mapped);
    } else {
        free(source->mesh.data);
    }
    free(source->sidecar.data);
    source->mesh.data = source->sidecar.data = NULL;
    source->mapped = NULL;
}

api_mesh *srv_source_load(srv_source *source, void (*progress)(void *ctx, unsigned step, unsigned of), void *ctx,
                          api_problem *problem)
{
    const api_mesh_source what = {
        .bytes = source->mesh.data,
        .size = source->mesh.size,
        .parts = source->parts,
        .part_count = source->part_count,
        .name = source->name,
        .sidecar = source->sidecar.data,
        .release = source->mapped ? release_mapped : free,
        .progress = progress,
        .progress_ctx = ctx,
        .release_ctx = source->mapped ? (void *)source->mapped : source->mesh.data,
    };
    source->mesh.data = NULL; // the loader's from here on
    source->mapped = NULL;
    return api_mesh_load(&what, problem);
}
