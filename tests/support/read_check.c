#include "read_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "mangle.h"

nav_status read_check_text(nav_read_fn *read, nav_soup *soup, const char *text, nav_error *error)
{
    nav_soup_init(soup, NULL);
    *error = (nav_error){0};
    return read(soup, text, strlen(text), error);
}

void read_check_polygon(const nav_soup *soup, uint32_t p, uint32_t count, const uint32_t *corners)
{
    assert_true(p < soup->poly_count);
    assert_int_equal(soup->poly_first[p + 1] - soup->poly_first[p], count);
    assert_memory_equal(soup->corners + soup->poly_first[p], corners, count * sizeof *corners);
}

void read_check_complaints(nav_read_fn *read, const read_complaint *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        nav_soup soup;
        nav_error error;
        assert_int_not_equal(read_check_text(read, &soup, cases[i].text, &error), NAV_OK);
        if (!strstr(error.message, cases[i].message)) {
            fail_msg("case %zu: `%s` does not say `%s`", i, error.message, cases[i].message);
        }
        assert_int_equal(soup.vertex_count, 0);
        assert_null(soup.vertices);
    }
}

typedef struct attempt {
    nav_read_fn *read;
    unsigned loaded;
} attempt;

static void try_bytes(void *ctx, const void *bytes, size_t size)
{
    attempt *a = ctx;
    watched_memory memory = {.limit = 64 * size + 65536};
    nav_alloc alloc = watched_alloc(&memory);
    nav_soup soup;
    nav_error error = {0};
    nav_soup_init(&soup, &alloc);
    nav_status status = a->read(&soup, bytes, size, &error);
    assert_int_equal(memory.failed, 0);
    if (status == NAV_OK) {
        a->loaded++;
        for (uint32_t i = 0; i < soup.corner_count; i++) {
            assert_true(soup.corners[i] < soup.vertex_count);
        }
    } else {
        assert_true(error.message[0] != '\0');
        assert_int_equal(memory.used, 0);
    }
    nav_soup_deinit(&soup);
    assert_int_equal(memory.used, 0);
}

unsigned read_check_mangled(nav_read_fn *read, const void *bytes, size_t size, unsigned flips)
{
    attempt a = {.read = read};
    mangle_cuts(bytes, size, try_bytes, &a);
    unsigned whole = a.loaded;
    mangle_flips(bytes, size, flips, size, try_bytes, &a);
    mangle_words(bytes, size, size < 256 ? size : 256, try_bytes, &a);
    return whole;
}

void read_check_memory(nav_read_fn *read, const void *bytes, size_t size)
{
    nav_status status = NAV_NO_MEMORY;
    for (unsigned n = 1; status == NAV_NO_MEMORY; n++) {
        watched_memory memory = {.limit = SIZE_MAX, .fail_at = n};
        nav_alloc alloc = watched_alloc(&memory);
        nav_soup soup;
        nav_error error = {0};
        nav_soup_init(&soup, &alloc);
        status = read(&soup, bytes, size, &error);
        assert_true(status == NAV_NO_MEMORY ? strstr(error.message, "memory") != NULL : memory.failed == 0);
        nav_soup_deinit(&soup);
        assert_int_equal(memory.used, 0);
    }
    assert_int_equal(status, NAV_OK);
}

double read_check_area(const nav_soup *soup)
{
    double total = 0;
    for (uint32_t p = 0; p < soup->poly_count; p++) {
        double area = 0;
        uint32_t first = soup->poly_first[p], end = soup->poly_first[p + 1];
        for (uint32_t k = first; k < end; k++) {
            const double *a = &soup->vertices[3 * (size_t)soup->corners[k]];
            const double *b = &soup->vertices[3 * (size_t)soup->corners[k + 1 < end ? k + 1 : first]];
            area += a[0] * b[2] - b[0] * a[2];
        }
        total += fabs(area) / 2;
    }
    return total;
}
