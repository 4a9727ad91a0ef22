/// Detour sets: what a small set of two tiles must load as, what broken ones must be told, and that no
/// broken one does harm.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mangle.h"
#include "mset_writer.h"
#include "nav_format.h"

// Tile 0: two quads side by side, x 0 to 8, and a connection whose polygon lies between them in the file.
static const float vertices_0[] = {0, 0, 0, 0, 0, 4, 4, 1, 4, 4, 1, 0, 8, 0, 0, 8, 0, 4, 1, 0, 1, 7, 0, 3};
static const mset_polygon polygons_0[] = {
    {4, {0, 1, 2, 3}, {0, 0, 3, 0}, 0x0001, 2, false},
    {2, {6, 7}, {0}, 0x0008, 5, true},
    {4, {3, 2, 5, 4}, {1, 0, MSET_OUTSIDE | 0, 2}, 0x0103, 63, false},
};
static const mset_connection connections_0[] = {{{1, 0, 1}, {7, 0, 3}, 0.5f, 1, true, 1000}};

// Tile 1: one quad at x 8 to 12 with a detail vertex in its middle.
static const float vertices_1[] = {8, 0, 0, 8, 0, 4, 12, 0, 4, 12, 0, 0};
static const mset_polygon polygons_1[] = {
    {4, {0, 1, 2, 3}, {MSET_OUTSIDE | 4, 0, 0, 0}, 0x0001, 0, false},
};
static const mset_detail details_1[] = {{0, 0, 1, 4}};
static const float detail_vertices_1[] = {10, 0.75f, 2};
static const uint8_t detail_tris_1[][4] = {{0, 1, 4, 0}, {1, 2, 4, 0}, {2, 3, 4, 0}, {3, 0, 4, 0}};

static const mset_tile tiles[] = {
    {.height = 2,
     .radius = 0.5f,
     .climb = 0.25f,
     .vertices = vertices_0,
     .vertex_count = 8,
     .polygons = polygons_0,
     .polygon_count = 3,
     .link_count = 7,
     .bv_node_count = 3,
     .connections = connections_0,
     .connection_count = 1},
    {.x = 1,
     .height = 2,
     .radius = 0.5f,
     .climb = 0.25f,
     .vertices = vertices_1,
     .vertex_count = 4,
     .polygons = polygons_1,
     .polygon_count = 1,
     .link_count = 2,
     .details = details_1,
     .detail_count = 1,
     .detail_vertices = detail_vertices_1,
     .detail_vertex_count = 1,
     .detail_tris = detail_tris_1,
     .detail_tri_count = 4},
};

static uint8_t *write_set(bool wide, size_t *size)
{
    uint8_t *bytes = mset_write(tiles, 2, wide, size);
    assert_non_null(bytes);
    return bytes;
}

static void check_set(const nav_soup *s)
{
    static const uint32_t corners[] = {0, 1, 2, 3, 3, 2, 5, 4, 8, 9, 10, 11};
    static const uint32_t w = NAV_EDGE_WALL, seam = NAV_EDGE_SEAM;
    const uint32_t edges[] = {w, w, 1, w, 0, w, seam, w, seam, w, w, w};
    assert_string_equal(s->format, "mset");
    assert_int_equal(s->dimensions, 3);
    assert_true(s->has_areas && s->has_flags && s->has_edges && s->has_agent);
    assert_int_equal(s->vertex_count, 12);
    assert_true(s->vertices[3 * 3] == 4 && s->vertices[3 * 3 + 1] == 1 && s->vertices[3 * 3 + 2] == 0);
    assert_int_equal(s->poly_count, 3);
    assert_int_equal(s->corner_count, 12);
    assert_memory_equal(s->corners, corners, sizeof corners);
    // The quad whose third edge names polygon 2 of its tile by way of the word 3 gets the soup's number 1;
    // the one whose fourth names polygon 1, which is a connection, gets a wall.
    assert_memory_equal(s->edges, edges, sizeof edges);
    assert_int_equal(s->areas[0], 2);
    assert_int_equal(s->areas[1], 63);
    assert_int_equal(s->flags[1], 0x0103);
    assert_true(s->agent.radius == 0.5 && s->agent.height == 2 && s->agent.climb == 0.25 && s->agent.slope == 45);

    assert_int_equal(s->detail_vertex_count, 1);
    assert_true(s->detail_vertices[0] == 10 && s->detail_vertices[1] == 0.75 && s->detail_vertices[2] == 2);
    static const uint32_t first[] = {0, 0, 0, 4}, tris[] = {8, 9, 12, 9, 10, 12, 10, 11, 12, 11, 8, 12};
    assert_int_equal(s->detail_tri_count, 4);
    assert_memory_equal(s->detail_first, first, sizeof first);
    assert_memory_equal(s->detail_tris, tris, sizeof tris);

    assert_int_equal(s->link_count, 1);
    const nav_link *l = &s->links[0];
    assert_string_equal(l->id, "1000");
    assert_string_equal(l->kind, "off-mesh");
    assert_true(l->start.x == 1 && l->start.y == 0 && l->start.z == 1 && l->end.x == 7 && l->end.z == 3);
    assert_true(l->radius == 0.5 && l->cost < 0 && l->bidirectional);
    assert_int_equal(l->area, 5);
    assert_int_equal(l->flags, 8);
}

static void test_both_reference_widths(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        size_t size;
        uint8_t *bytes = write_set(wide, &size);
        nav_soup soup;
        nav_error error = {0};
        nav_soup_init(&soup, NULL);
        assert_int_equal(nav_read_mset(&soup, bytes, size, &error), NAV_OK);
        check_set(&soup);
        nav_soup_deinit(&soup);
        free(bytes);
    }
}

/// Detour's loader ends the list of tiles at an entry without reference or size, whatever the count says.
static void test_an_empty_entry_ends_the_list(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = write_set(false, &size);
    uint32_t first_size;
    memcpy(&first_size, bytes + 44, 4);
    size_t second = 48 + first_size;
    memset(bytes + second, 0, 4);
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    assert_int_equal(nav_read_mset(&soup, bytes, second + 8, NULL), NAV_OK);
    assert_int_equal(soup.poly_count, 2);
    nav_soup_deinit(&soup);
    free(bytes);
}

static void test_links_are_named_by_user_ids_that_are_unique(void **state)
{
    (void)state;
    static const uint32_t ids[] = {7, 0, 9, 7, 4294967295u};
    static const char *const names[] = {"link-0", "link-1", "9", "link-3", "4294967295"};
    mset_connection connections[5];
    for (int i = 0; i < 5; i++) {
        connections[i] = connections_0[0];
        connections[i].user_id = ids[i];
    }
    mset_tile tile = tiles[0];
    tile.connections = connections;
    tile.connection_count = 5;
    size_t size;
    uint8_t *bytes = mset_write(&tile, 1, false, &size);
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    assert_int_equal(nav_read_mset(&soup, bytes, size, NULL), NAV_OK);
    assert_int_equal(soup.link_count, 5);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(soup.links[i].id, names[i]);
    }
    nav_soup_deinit(&soup);
    free(bytes);
}

/// A change to a good set, and what its error must say.
typedef struct breakage {
    size_t at;
    uint32_t value;
    size_t bytes;
    const char *message;
} breakage;

static void test_each_complaint(void **state)
{
    (void)state;
    size_t tile = mset_first_tile(false), vertices = mset_vertices_at(tile), polygons = mset_polygons_at(tile, 8);
    size_t connections = polygons + 3 * 32 + 7 * 12 + 3 * 16;
    const breakage cases[] = {
        {0, 0x5445534D, 4, "big-endian"},
        {0, 0x12345678, 4, "not a Detour set"},
        {4, 2, 4, "version 2"},
        {8, 0, 4, "0 tiles"},
        {8, 3, 4, "the file ends before tile 2 of 3"},
        {8, 1000000, 4, "1000000 tiles cannot be"},
        {8, 0xFFFFFFFF, 4, "-1 tiles cannot be"},
        {44, 0x7FFFFFFF, 4, "claims 2147483647 bytes"},
        {44, 0xFFFFFFFF, 4, "claims -1 bytes"},
        {44, 100, 4, "the parts of tile 0 take"},
        {tile, 0x41564E44, 4, "no Detour tile follows"},
        {tile + 4, 6, 4, "tile 0 has version 6"},
        {tile + 24, 0x7FFFFFFF, 4, "byte 72: tile 0"},
        {tile + 24, 4, 4, "the parts of tile 0 take"},
        {tile + 32, 0xFFFFFFFF, 4, "claims -1 entries"},
        {tile + 60, 0x7FC00000, 4, "the agent of tile 0"},
        {vertices + 4, 0x7FC00000, 4, "byte 152: a coordinate in tile 0 is not finite"},
        {vertices + 8, 0x7F800000, 4, "byte 156: a coordinate"},
        {polygons + 4, 8, 2, "polygon 0 of tile 0 has vertex 8 of 8"},
        {polygons + 4, 65535, 2, "has vertex 65535"},
        {polygons + 16, 4, 2, "polygon 0 of tile 0 has neighbour 3 of 3"},
        {polygons + 30, 0, 1, "has 0 corners"},
        {polygons + 30, 7, 1, "has 7 corners"},
        {polygons + 30, 2, 1, "has 2 corners"},
        {polygons + 31, 0x80, 1, "unknown type 2"},
        {connections + 24, 0xBF800000, 4, "has no radius"},
        {connections + 28, 0, 2, "names polygon 0, which is none of its kind"},
        {connections + 28, 3, 2, "names polygon 3"},
        {connections, 0x7FC00000, 4, "not finite"},
    };
    size_t size;
    uint8_t *bytes = write_set(false, &size);
    uint8_t *bad = malloc(size);
    assert_non_null(bad);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(bad, bytes, size);
        memcpy(bad + cases[i].at, &cases[i].value, cases[i].bytes);
        nav_soup soup;
        nav_error error = {0};
        nav_soup_init(&soup, NULL);
        assert_int_not_equal(nav_read_mset(&soup, bad, size, &error), NAV_OK);
        if (!strstr(error.message, cases[i].message)) {
            fail_msg("case %zu: `%s` does not say `%s`", i, error.message, cases[i].message);
        }
        assert_int_equal(soup.poly_count, 0);
        assert_null(soup.vertices);
    }
    free(bad);
    free(bytes);
}

static void test_detail_out_of_range(void **state)
{
    (void)state;
    static const mset_detail bad_details[] = {{1, 0, 1, 4}, {0, 1, 1, 4}, {0xFFFFFFFF, 0, 1, 4}, {0, 0xFFFFFFFF, 1, 4}};
    for (size_t i = 0; i < sizeof bad_details / sizeof *bad_details; i++) {
        mset_tile tile = tiles[1];
        tile.details = &bad_details[i];
        size_t size;
        uint8_t *bytes = mset_write(&tile, 1, false, &size);
        nav_soup soup;
        nav_error error = {0};
        nav_soup_init(&soup, NULL);
        assert_int_equal(nav_read_mset(&soup, bytes, size, &error), NAV_BAD_FORMAT);
        assert_non_null(strstr(error.message, "the detail mesh of polygon 0 of tile 0 lies outside it"));
        free(bytes);
    }
    static const uint8_t bad_tris[][4] = {{0, 1, 4, 0}, {1, 2, 5, 0}, {2, 3, 4, 0}, {3, 0, 4, 0}};
    mset_tile tile = tiles[1];
    tile.detail_tris = bad_tris;
    size_t size;
    uint8_t *bytes = mset_write(&tile, 1, false, &size);
    nav_soup soup;
    nav_error error = {0};
    nav_soup_init(&soup, NULL);
    assert_int_equal(nav_read_mset(&soup, bytes, size, &error), NAV_BAD_FORMAT);
    assert_non_null(strstr(error.message, "has vertex 5 of 5"));
    free(bytes);
}

/// Any bytes: an answer, the soup empty after a failure and sane after a success, memory in proportion.
static void try_bytes(void *ctx, const void *bytes, size_t size)
{
    unsigned *loaded = ctx;
    watched_memory memory = {.limit = 64 * size + 65536};
    nav_alloc alloc = watched_alloc(&memory);
    nav_soup soup;
    nav_error error = {0};
    nav_soup_init(&soup, &alloc);
    nav_status status = nav_read_mset(&soup, bytes, size, &error);
    assert_int_equal(memory.failed, 0);
    if (status == NAV_OK) {
        ++*loaded;
        for (uint32_t i = 0; i < soup.corner_count; i++) {
            assert_true(soup.corners[i] < soup.vertex_count);
            assert_true(soup.edges[i] < soup.poly_count || soup.edges[i] >= NAV_EDGE_SEAM);
        }
        for (uint32_t i = 0; i < 3 * soup.detail_tri_count; i++) {
            assert_true(soup.detail_tris[i] < soup.vertex_count + soup.detail_vertex_count);
        }
    } else {
        assert_true(error.message[0] != '\0');
        assert_int_equal(soup.poly_count, 0);
        assert_int_equal(memory.used, 0);
    }
    nav_soup_deinit(&soup);
    assert_int_equal(memory.used, 0);
}

static void test_mangled(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        size_t size;
        uint8_t *bytes = write_set(wide, &size);
        unsigned loaded = 0;
        mangle_cuts(bytes, size, try_bytes, &loaded);
        assert_int_equal(loaded, 0); // no part of a set is a set
        mangle_words(bytes, size, size, try_bytes, &loaded);
        mangle_flips(bytes, size, 4000, 1 + (uint64_t)wide, try_bytes, &loaded);
        assert_true(loaded > 100); // coordinates, flags and areas may change
        free(bytes);
    }
}

static void test_out_of_memory(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = write_set(false, &size);
    nav_status status = NAV_NO_MEMORY;
    for (unsigned n = 1; status == NAV_NO_MEMORY; n++) {
        watched_memory memory = {.limit = SIZE_MAX, .fail_at = n};
        nav_alloc alloc = watched_alloc(&memory);
        nav_soup soup;
        nav_soup_init(&soup, &alloc);
        status = nav_read_mset(&soup, bytes, size, NULL);
        assert_true(status == NAV_NO_MEMORY || (status == NAV_OK && memory.failed == 0));
        assert_true(n < 100);
        nav_soup_deinit(&soup);
        assert_int_equal(memory.used, 0);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_reference_widths),
        cmocka_unit_test(test_an_empty_entry_ends_the_list),
        cmocka_unit_test(test_links_are_named_by_user_ids_that_are_unique),
        cmocka_unit_test(test_each_complaint),
        cmocka_unit_test(test_detail_out_of_range),
        cmocka_unit_test(test_mangled),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
