/// Source engine's .nav: every version, two-way borders, one-way drops, ladders; and the directed graph of real
/// files, where they are at hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_mesh.h"
#include "nav_mesh.h"
#include "nav_query.h"
#include "read_check.h"

typedef struct writer {
    unsigned char bytes[4096];
    size_t size;
} writer;

static void put(writer *w, uint64_t value, size_t size)
{
    for (size_t k = 0; k < size; k++) {
        w->bytes[w->size++] = (unsigned char)(value >> 8 * k);
    }
}

static void put_floats(writer *w, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        put(w, bits, 4);
    }
}

/// Area 11 of 50 by 50; 12 east of it, half as far along, 10 higher, two-way; 13 south of it, 60 lower, one way.
static const struct {
    uint32_t id;
    float corners[8];
    uint32_t lead[4]; ///< one connection each way, 0: none
} areas[] = {
    {11, {0, 0, 0, 50, 50, 0, 0, 0}, {0, 12, 13, 0}},
    {12, {50, 25, 10, 100, 75, 10, 10, 10}, {0, 0, 0, 11}},
    {13, {0, 50, -60, 50, 100, -60, -60, -60}, {0, 0, 0, 99}},
};

/// @param added  bytes that the game adds to each area: 0, 4, or 15 for a list of one
static void write_nav(writer *w, uint32_t version, uint32_t sub_version, size_t added)
{
    *w = (writer){0};
    put(w, 0xFEEDFACE, 4);
    put(w, version, 4);
    put(w, sub_version, version >= 10 ? 4 : 0);
    put(w, 1234, 4);
    put(w, 1, version >= 14 ? 1 : 0);
    put(w, 1, 2); // a place of three characters
    put(w, 3, 2);
    put(w, 0x006261, 3);
    put(w, 0, version > 11 ? 1 : 0);
    put(w, 3, 4);
    for (size_t i = 0; i < 3; i++) {
        put(w, areas[i].id, 4);
        put(w, 0, version <= 8 ? 1 : version < 13 ? 2 : 4);
        put_floats(w, areas[i].corners, 8);
        for (int k = 0; k < 4; k++) {
            put(w, areas[i].lead[k] ? 1 : 0, 4);
            put(w, areas[i].lead[k], areas[i].lead[k] ? 4 : 0);
        }
        put(w, 1, 1); // a hiding spot
        w->size += 17;
        if (version < 15) {
            put(w, 1, 1);
            w->size += 14;
        }
        put(w, 1, 4); // an encounter of one spot
        w->size += 10;
        put(w, 1, 1);
        w->size += 5;
        w->size += 2 + 8;
        w->size += version >= 8 ? 8 : 0;
        w->size += version >= 11 ? 16 : 0;
        if (version >= 16) {
            put(w, 1, 4);
            w->size += 5 + 4;
        }
        put(w, 1, added > 0 ? 1 : 0);
        w->size += added > 0 ? added - 1 : 0;
    }
    if (version >= 6) {
        static const float ladder[8] = {20, 60, 51, 10, 60, 51, -60, 70};
        put(w, 1, 4);
        put(w, 7, 4);
        put_floats(w, ladder, 8);
        w->size += 24;
    }
}

static bool path_exists(const nav_mesh *mesh, nav_vec start, nav_vec end)
{
    nav_query *query = nav_query_create(NULL);
    assert_non_null(query);
    nav_path_options options = nav_path_options_default();
    nav_path path;
    options.snap.half_extents = (nav_vec){1, 20, 1};
    options.no_partial = true;
    assert_int_equal(nav_query_path(query, mesh, start, end, &options, &path), NAV_OK);
    nav_query_destroy(query);
    return path.status == NAV_PATH_COMPLETE;
}

static api_mesh *load(const void *bytes, size_t size, api_problem *problem)
{
    api_mesh_source source = {.bytes = bytes, .size = size};
    return api_mesh_load(&source, problem);
}

static void check_nav(const writer *w, bool ladder)
{
    api_problem problem;
    nav_mesh_info info;
    api_mesh *mesh = load(w->bytes, w->size, &problem);
    if (!mesh) {
        fail_msg("%s", problem.detail);
    }
    assert_string_equal(mesh->format, "source");
    assert_true(mesh->up == 'z' && mesh->agent.climb == 18);
    nav_mesh_get_info(mesh->nav, &info);
    assert_int_equal(info.polygons, 3);
    assert_int_equal(info.islands, 2);
    assert_int_equal(info.links, (ladder ? 1 : 0) + 1);
    assert_int_equal(mesh->report->dropped_link_count, 0);
    assert_true(info.min.y == -60 && info.max.y == 10 && info.max.z == 100);
    const nav_link *link = &nav_mesh_links(mesh->nav)[0];
    assert_string_equal(link->id, "11-13");
    assert_string_equal(link->kind, "drop");
    assert_false(link->bidirectional);
    bool warned = false;
    for (uint32_t i = 0; i < mesh->report->warning_count; i++) {
        warned = warned || strstr(mesh->report->warnings[i], "1 connections lead to areas");
    }
    assert_true(warned);
    const nav_vec a = {10, 0, 10}, b = {90, 10, 70}, c = {40, -60, 90};
    assert_true(path_exists(mesh->nav, a, b) && path_exists(mesh->nav, b, a));
    assert_true(path_exists(mesh->nav, b, c));
    assert_true(path_exists(mesh->nav, c, a) == ladder);
    api_mesh_destroy(mesh);
}

static void test_versions(void **state)
{
    (void)state;
    writer w;
    for (uint32_t version = 5; version <= 16; version++) {
        write_nav(&w, version, 0, 0);
        check_nav(&w, version >= 6);
    }
    write_nav(&w, 16, 1, 15); // CS:GO
    check_nav(&w, true);
    write_nav(&w, 16, 2, 4); // TF2
    check_nav(&w, true);
    write_nav(&w, 16, 0, 4); // one that does not say so
    check_nav(&w, true);
}

static void test_complaints(void **state)
{
    (void)state;
    nav_soup soup;
    nav_error error;
    writer w;
    static const struct {
        size_t at;
        uint32_t value;
        const char *message;
    } cases[] = {
        {0, 0xFEEDFACD, "no Source .nav"},
        {4, 4, "version 4 of Source's .nav"},
        {4, 35, "(of Source 2, give a JSON dump)"},
        {25, 0, "0 areas"},
        {25, 0x80000000, "2147483648 areas in"},
        {37, 0x7FC00000, "a corner that is no finite position"},
        {69, 0x7FFFFFFF, "the file ends within an area"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_nav(&w, 16, 0, 0);
        size_t size = w.size;
        w.size = cases[i].at;
        put(&w, cases[i].value, 4);
        nav_soup_init(&soup, NULL);
        assert_int_not_equal(nav_read_source(&soup, w.bytes, size, &error), NAV_OK);
        if (!strstr(error.message, cases[i].message)) {
            fail_msg("case %zu: %s", i, error.message);
        }
    }
    write_nav(&w, 16, 0, 0);
    nav_soup_init(&soup, NULL);
    assert_int_not_equal(nav_read_source(&soup, w.bytes, w.size - 1, &error), NAV_OK);
    assert_non_null(strstr(error.message, "more or fewer bytes"));
}

static void test_broken(void **state)
{
    (void)state;
    writer w;
    write_nav(&w, 16, 1, 15);
    assert_int_equal(read_check_mangled(nav_read_source, w.bytes, w.size, 5000), 0);
    read_check_memory(nav_read_source, w.bytes, w.size);
    write_nav(&w, 9, 0, 0);
    assert_int_equal(read_check_mangled(nav_read_source, w.bytes, w.size, 5000), 0);
}

// Real files: one gets from an area to another in the mesh exactly where the file's connections lead.

static char *read_shared(const char *file, size_t *size)
{
    const char *root = getenv("NAVD_SHARED");
    char path[512];
    snprintf(path, sizeof path, "%s/conformance/files/%s", root ? root : "../shared", file);
    FILE *f = fopen(path, "rb");
    if (!f) {
        print_message("SKIPPED: no %s; set NAVD_SHARED to the folder that holds conformance/\n", path);
        return NULL;
    }
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *size = (size_t)ftell(f);
    rewind(f);
    char *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

/// The middle of a polygon's face, a little above the mesh.
static bool find_middle(const nav_mesh *mesh, uint32_t polygon, nav_vec *middle)
{
    nav_mesh_info info;
    nav_mesh_get_info(mesh, &info);
    for (uint32_t f = 0; f < info.faces; f++) {
        nav_face_view view;
        nav_mesh_face(mesh, f, &view);
        if (view.polygon == polygon) {
            *middle = (nav_vec){0, 0, 0};
            for (uint32_t k = 0; k < view.corner_count; k++) {
                nav_vec v = nav_mesh_vertex(mesh, view.corners[k]);
                middle->x += v.x / view.corner_count;
                middle->y += v.y / view.corner_count;
                middle->z += v.z / view.corner_count;
            }
            return true;
        }
    }
    return false;
}

static void test_real_nav(void **state)
{
    (void)state;
    enum { COUNT = 25 };
    size_t size = 0;
    char *bytes = read_shared("source/src-aim_container_autosniper.nav", &size);
    if (!bytes) {
        skip();
    }
    api_problem problem;
    api_mesh *mesh = load(bytes, size, &problem);
    assert_non_null(mesh);
    // The connections once more, read plainly: id, flags, corners, then four lists.
    static bool reach[COUNT][COUNT];
    uint32_t ids[COUNT], lists[COUNT][64], counts[COUNT] = {0};
    size_t at = 0;
    uint32_t word;
    for (size_t i = 0; i + 4 < size && at == 0; i++) { // the count of areas stands before the first
        memcpy(&word, bytes + i, 4);
        at = word == COUNT && i > 16 ? i + 4 : 0;
    }
    for (int a = 0; a < COUNT; a++) {
        memcpy(&ids[a], bytes + at, 4);
        at += 40;
        for (int d = 0; d < 4; d++) {
            uint32_t n;
            memcpy(&n, bytes + at, 4);
            assert_true(n < 16);
            memcpy(&lists[a][counts[a]], bytes + at + 4, 4 * n);
            counts[a] += n;
            at += 4 + 4 * n;
        }
        at += 1 + 17 * (size_t)(unsigned char)bytes[at];
        memcpy(&word, bytes + at, 4);
        at += 4;
        for (uint32_t e = word; e > 0; e--) {
            at += 10 + 1 + 5 * (size_t)(unsigned char)bytes[at + 10];
        }
        at += 2 + 8 + 8 + 16;
        memcpy(&word, bytes + at, 4);
        at += 4 + 5 * word + 4;
        at += 1 + 14 * (size_t)(unsigned char)bytes[at];
    }
    for (int a = 0; a < COUNT; a++) {
        reach[a][a] = true;
        for (uint32_t k = 0; k < counts[a]; k++) {
            for (int b = 0; b < COUNT; b++) {
                reach[a][b] = reach[a][b] || ids[b] == lists[a][k];
            }
        }
    }
    for (int k = 0; k < COUNT; k++) {
        for (int a = 0; a < COUNT; a++) {
            for (int b = 0; b < COUNT; b++) {
                reach[a][b] = reach[a][b] || (reach[a][k] && reach[k][b]);
            }
        }
    }
    for (uint32_t a = 0; a < COUNT; a++) {
        for (uint32_t b = 0; b < COUNT; b++) {
            nav_vec start, end;
            assert_true(find_middle(mesh->nav, a, &start) && find_middle(mesh->nav, b, &end));
            if (path_exists(mesh->nav, start, end) != reach[a][b]) {
                fail_msg("from area %u to %u: the connections say %d", ids[a], ids[b], reach[a][b]);
            }
        }
    }
    api_mesh_destroy(mesh);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_complaints),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_real_nav),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
