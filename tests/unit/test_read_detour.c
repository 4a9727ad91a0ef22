/// What Detour tiles come in: sets of every kind, tiles alone, maps in many files; and Unreal's longer header.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mangle.h"
#include "mset_writer.h"
#include "nav_format.h"

// Two quads side by side, x 0 to 8, that lead out on the right, and a connection between them.
static const float vertices_0[] = {0, 0, 0, 0, 0, 4, 4, 1, 4, 4, 1, 0, 8, 0, 0, 8, 0, 4, 1, 0, 1, 7, 0, 3};
static const mset_polygon polygons_0[] = {
    {4, {0, 1, 2, 3}, {0, 0, 2, 0}, 0x0001, 2, false},
    {4, {3, 2, 5, 4}, {1, 0, MSET_OUTSIDE | 0, 0}, 0x0103, 63, false},
    {2, {6, 7}, {0}, 0x0008, 5, true},
};
static const mset_connection connections_0[] = {{{1, 0, 1}, {7, 0, 3}, 0.5f, 2, true, 1000}};
static const float vertices_1[] = {8, 0, 0, 8, 0, 4, 12, 0, 4, 12, 0, 0};
static const mset_polygon polygons_1[] = {
    {4, {0, 1, 2, 3}, {MSET_OUTSIDE | 4, 0, MSET_OUTSIDE | 0, 0}, 0x0001, 0, false}};

static const mset_tile tiles[] = {
    {.height = 2,
     .radius = 0.5f,
     .climb = 0.25f,
     .vertices = vertices_0,
     .vertex_count = 8,
     .polygons = polygons_0,
     .polygon_count = 3,
     .link_count = 7,
     .connections = connections_0,
     .connection_count = 1},
    {.x = 1, .vertices = vertices_1, .vertex_count = 4, .polygons = polygons_1, .polygon_count = 1, .link_count = 2},
};

/// Bytes that grow by pieces.
typedef struct bytes {
    uint8_t data[4096];
    size_t size;
} bytes;

static void put(bytes *b, const void *data, size_t size)
{
    assert_true(b->size + size <= sizeof b->data);
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static void put_u32(bytes *b, uint32_t value)
{
    const uint8_t le[] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
    put(b, le, 4);
}

/// One tile alone.
static bytes tile_bytes(const mset_tile *t, bool wide)
{
    size_t size, first = mset_first_tile(wide);
    uint8_t *set = mset_write(t, 1, wide, &size);
    assert_non_null(set);
    bytes b = {0};
    put(&b, set + first, size - first);
    free(set);
    return b;
}

static void put_parameters(bytes *b, uint32_t tile_count)
{
    for (int i = 0; i < 5; i++) {
        put_u32(b, 0);
    }
    put_u32(b, tile_count);
    put_u32(b, 1 << 15);
}

/// Both tiles in a set of some kind.
static bytes set_bytes(const char *magic, size_t more, bool wide)
{
    bytes b = {0};
    put(&b, magic, strlen(magic));
    put_u32(&b, 1);
    put_u32(&b, 2);
    put_parameters(&b, 2);
    for (; more > 0; more -= 4) {
        put_u32(&b, 0x41000000);
    }
    for (uint32_t i = 0; i < 2; i++) {
        bytes tile = tile_bytes(&tiles[i], wide);
        put_u32(&b, i + 1);
        if (wide) {
            put_u32(&b, 0);
        }
        put_u32(&b, (uint32_t)tile.size);
        if (wide) {
            put_u32(&b, 0xCDCDCDCD);
        }
        put(&b, tile.data, tile.size);
    }
    return b;
}

/// A tile as Unreal 4 writes it: four more words in the header, connections of 40 bytes.
static bytes unreal_tile(const mset_tile *t, bool wide)
{
    bytes plain = tile_bytes(t, wide), b = {0};
    size_t connections = plain.size - 36 * (size_t)t->connection_count;
    put(&b, plain.data, 60);
    for (uint32_t i = 0; i < 4; i++) {
        put_u32(&b, 0);
    }
    put(&b, plain.data + 60, connections - 60);
    for (uint32_t i = 0; i < t->connection_count; i++) {
        const uint8_t *c = plain.data + connections + 36 * (size_t)i;
        put(&b, c, 28);                                           // ends and radius
        put_u32(&b, 0x42480000);                                  // a height to snap within
        put(&b, c + 32, 4);                                       // user id
        put(&b, c + 28, 2);                                       // polygon
        put(&b, (const uint8_t[]){0xFF, c[30] ? 0x80 : 0x7F}, 2); // side, flags
    }
    return b;
}

static bytes mmtile_bytes(const mset_tile *t, size_t more)
{
    bytes tile = tile_bytes(t, true), b = {0};
    put(&b, "PAMM", 4);
    put_u32(&b, 7);
    put_u32(&b, 4);
    put_u32(&b, (uint32_t)tile.size);
    put_u32(&b, 0xCCCCCC01);
    for (; more > 0; more -= 4) {
        put_u32(&b, 5);
    }
    put(&b, tile.data, tile.size);
    return b;
}

/// What every container must give of the first tile, and of the second one behind it.
static void check_soup(const nav_soup *s, const char *format, bool second)
{
    assert_string_equal(s->format, format);
    assert_int_equal(s->poly_count, second ? 3 : 2);
    assert_int_equal(s->vertex_count, second ? 12 : 8);
    assert_true(s->has_areas && s->has_flags && s->has_edges && s->has_agent);
    assert_int_equal(s->areas[1], 63);
    assert_int_equal(s->flags[1], 0x0103);
    assert_int_equal(s->edges[2], 1);
    assert_int_equal(s->edges[6], NAV_EDGE_SEAM);
    assert_true(s->vertices[3 * 3 + 1] == 1);
    assert_true(s->agent.height == 2 && s->agent.radius == 0.5 && s->agent.climb == 0.25);
    assert_int_equal(s->link_count, 1);
    assert_string_equal(s->links[0].id, "1000");
    assert_true(s->links[0].end.x == 7 && s->links[0].radius == 0.5 && s->links[0].bidirectional);
    assert_int_equal(s->links[0].area, 5);
    assert_int_equal(s->links[0].flags, 8);
}

static void check_reads(nav_read_fn *read, const bytes *b, const char *format, bool second)
{
    nav_soup soup;
    nav_error error = {0};
    nav_soup_init(&soup, NULL);
    if (read(&soup, b->data, b->size, &error) != NAV_OK) {
        fail_msg("%s: %s", format, error.message);
    }
    check_soup(&soup, format, second);
    nav_soup_deinit(&soup);
}

static void check_refused(nav_read_fn *read, const bytes *b, size_t size, nav_status status, const char *message)
{
    nav_soup soup;
    nav_error error = {0};
    nav_soup_init(&soup, NULL);
    assert_int_equal(read(&soup, b->data, size, &error), status);
    if (!strstr(error.message, message)) {
        fail_msg("`%s` does not say `%s`", error.message, message);
    }
    assert_null(soup.vertices);
}

static void test_sets(void **state)
{
    (void)state;
    static const struct {
        const char *magic;
        size_t more;
    } kinds[] = {{"TESM", 0}, {"TASM", 24}, {"", 0}};
    for (size_t i = 0; i < 6; i++) {
        bytes b = set_bytes(kinds[i / 2].magic, kinds[i / 2].more, i % 2);
        check_reads(nav_read_mset, &b, "mset", true);
    }
    bytes b = set_bytes("TASM", 24, false);
    check_refused(nav_read_mset, &b, 63, NAV_BAD_FORMAT, "ends within the set's header of 64 bytes");
    memcpy(b.data, "MSAT", 4);
    check_refused(nav_read_mset, &b, b.size, NAV_BAD_FORMAT, "big-endian");
    b = set_bytes("", 0, false);
    b.data[0] = 2;
    check_refused(nav_read_mset, &b, b.size, NAV_UNKNOWN_FORMAT, "not a Detour set");
    b.data[0] = 1;
    b.data[5] = 0x7F;
    check_refused(nav_read_mset, &b, b.size, NAV_BAD_FORMAT, "byte 4: 32514 tiles cannot be");
}

static void test_tiles_alone(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        bytes b = tile_bytes(&tiles[0], wide);
        check_reads(nav_read_dnav, &b, "dnav", false);
        check_refused(nav_read_dnav, &b, b.size - 1, NAV_BAD_FORMAT, "the parts of tile 0 take");
        b.data[4] = 10;
        check_refused(nav_read_dnav, &b, b.size, NAV_BAD_FORMAT, "version 10: only 7 is known (Unreal 5");
        memcpy(b.data, "DNAV", 4);
        check_refused(nav_read_dnav, &b, b.size, NAV_BAD_FORMAT, "big-endian");
        memcpy(b.data, "    ", 4);
        check_refused(nav_read_dnav, &b, b.size, NAV_UNKNOWN_FORMAT, "not a Detour tile");
    }
}

static void test_unreal(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        bytes b = unreal_tile(&tiles[0], wide);
        check_reads(nav_read_dnav, &b, "dnav", false);
        b.data[b.size - 1] ^= 0x80; // one way
        nav_soup soup;
        nav_soup_init(&soup, NULL);
        assert_int_equal(nav_read_dnav(&soup, b.data, b.size, NULL), NAV_OK);
        assert_false(soup.links[0].bidirectional);
        nav_soup_deinit(&soup);
        b.data[b.size - 4] = 1; // its polygon
        check_refused(nav_read_dnav, &b, b.size, NAV_BAD_FORMAT, "names polygon 1, which is none of its kind");
        check_refused(nav_read_dnav, &b, b.size - 4, NAV_BAD_FORMAT, "the parts of tile 0 take");
    }
}

static void test_mmtile(void **state)
{
    (void)state;
    for (size_t more = 0; more <= 64; more += 4) {
        bytes b = mmtile_bytes(&tiles[0], more);
        check_reads(nav_read_mmtile, &b, "mmtile", false);
    }
    bytes b = mmtile_bytes(&tiles[0], 68);
    check_refused(nav_read_mmtile, &b, b.size, NAV_BAD_FORMAT, "no Detour tile follows");
    b = mmtile_bytes(&tiles[0], 0);
    check_refused(nav_read_mmtile, &b, b.size - 1, NAV_BAD_FORMAT, "byte 12: the tile claims");
    check_refused(nav_read_mmtile, &b, 3, NAV_UNKNOWN_FORMAT, "not a .mmtile");
    b.data[4] = 6;
    check_refused(nav_read_mmtile, &b, b.size, NAV_BAD_FORMAT, "Detour's version 6");
    memcpy(b.data, "MMAP", 4);
    check_refused(nav_read_mmtile, &b, b.size, NAV_BAD_FORMAT, "big-endian");
}

static bytes mmap_bytes(bool newer, uint32_t most_tiles)
{
    bytes b = {0};
    if (newer) {
        put(&b, "PAMM", 4);
        put_u32(&b, 16);
    }
    put_parameters(&b, most_tiles);
    if (newer) {
        put_u32(&b, 0);
    }
    return b;
}

static nav_status read_map(const nav_part *parts, size_t count, nav_soup *soup, nav_error *error)
{
    nav_soup_init(soup, NULL);
    return nav_read_mmap(soup, parts, count, error);
}

static void test_maps(void **state)
{
    (void)state;
    nav_soup soup;
    nav_error error = {0};
    for (int newer = 0; newer < 2; newer++) {
        bytes map = mmap_bytes(newer, 2), a = mmtile_bytes(&tiles[0], 0), b = mmtile_bytes(&tiles[1], 0);
        nav_part parts[] = {{"000.mmap", map.data, map.size}, {"b", b.data, b.size}, {"a", a.data, a.size}};
        // Whatever the files' order, tiles come in the grid's.
        assert_int_equal(read_map(parts, 3, &soup, &error), NAV_OK);
        check_soup(&soup, "mmap", true);
        assert_int_equal(soup.warning_count, 0);
        nav_soup_deinit(&soup);
        // Alone the first tile's way out leads nowhere, which is beyond all tiles and so no gap.
        parts[1] = parts[2];
        assert_int_equal(read_map(parts, 2, &soup, &error), NAV_OK);
        check_soup(&soup, "mmap", false);
        assert_int_equal(soup.warning_count, 1);
        assert_string_equal(soup.warnings[0], "1 tiles are here of the 2 that the .mmap has room for");
        nav_soup_deinit(&soup);

        assert_int_equal(read_map(parts, 1, &soup, &error), NAV_BAD_FORMAT);
        assert_string_equal(error.message, "000.mmap: an .mmap without any .mmtile beside it");
        parts[0].size--;
        assert_int_equal(read_map(parts, 2, &soup, &error), NAV_BAD_FORMAT);
        assert_non_null(strstr(error.message, "000.mmap: an .mmap has 28 or 40 bytes"));
    }
}

static void test_maps_with_faults(void **state)
{
    (void)state;
    nav_soup soup;
    nav_error error = {0};
    bytes map = mmap_bytes(false, 3), a = mmtile_bytes(&tiles[0], 0), b = mmtile_bytes(&tiles[1], 0);
    mset_tile far = tiles[1];
    far.x = 3;
    bytes c = mmtile_bytes(&far, 0);
    nav_part parts[] = {{"m", map.data, map.size}, {"a", a.data, a.size}, {"b", b.data, b.size}, {"c", c.data, c.size}};
    assert_int_equal(read_map(parts, 4, &soup, &error), NAV_OK);
    assert_int_equal(soup.poly_count, 4);
    assert_int_equal(soup.warning_count, 1); // the second tile's way out and the third's lead to a gap
    assert_string_equal(soup.warnings[0],
                        "2 sides of tiles lead to where no tile is, the first to (2, 0): they stay closed");
    nav_soup_deinit(&soup);
    // The same place twice: the later file is left out.
    parts[3] = (nav_part){"a again", a.data, a.size};
    assert_int_equal(read_map(parts, 4, &soup, &error), NAV_OK);
    check_soup(&soup, "mmap", true);
    assert_int_equal(soup.warning_count, 1);
    assert_non_null(strstr(soup.warnings[0], "at (0, 0) layer 0: it is left out"));
    nav_soup_deinit(&soup);
    // Which file is at fault is told.
    b.data[b.size - 30] ^= 0x40;
    b.data[20 + 4] = 9;
    assert_int_equal(read_map(parts, 3, &soup, &error), NAV_BAD_FORMAT);
    assert_non_null(strstr(error.message, "b: byte 24: tile 1 has version 9"));
    b = mmtile_bytes(&tiles[1], 0);
    memcpy(b.data + 20 + 100, &(const uint32_t){0x7FC00000}, 4);
    assert_int_equal(read_map(parts, 3, &soup, &error), NAV_BAD_FORMAT);
    assert_non_null(strstr(error.message, "b: byte 120: a coordinate in tile 1 is not finite"));
    b.data[0] = 'Q';
    assert_int_equal(read_map(parts, 3, &soup, &error), NAV_UNKNOWN_FORMAT);
    assert_non_null(strstr(error.message, "b: byte 0: not a .mmtile"));
    assert_null(soup.vertices);
}

typedef struct tried {
    nav_read_fn *read;
    unsigned loaded;
} tried;

static void try_bytes(void *ctx, const void *data, size_t size)
{
    tried *t = ctx;
    nav_soup soup;
    nav_error error = {0};
    nav_soup_init(&soup, NULL);
    if (t->read(&soup, data, size, &error) == NAV_OK) {
        t->loaded++;
    } else {
        assert_true(error.message[0] != '\0');
        assert_null(soup.vertices);
    }
    nav_soup_deinit(&soup);
}

static void test_mangled(void **state)
{
    (void)state;
    const struct {
        nav_read_fn *read;
        bytes b;
    } files[] = {
        {nav_read_mset, set_bytes("TASM", 24, true)},
        {nav_read_mset, set_bytes("", 0, false)},
        {nav_read_dnav, unreal_tile(&tiles[0], false)},
        {nav_read_mmtile, mmtile_bytes(&tiles[0], 12)},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        tried t = {files[i].read, 0};
        mangle_cuts(files[i].b.data, files[i].b.size, try_bytes, &t);
        assert_int_equal(t.loaded, 0); // no part of one is one
        mangle_words(files[i].b.data, files[i].b.size, files[i].b.size, try_bytes, &t);
        mangle_flips(files[i].b.data, files[i].b.size, 2000, i, try_bytes, &t);
        assert_true(t.loaded > 50); // coordinates, flags and areas may change
    }
}

static void test_out_of_memory(void **state)
{
    (void)state;
    bytes map = mmap_bytes(false, 2), a = mmtile_bytes(&tiles[0], 0), b = mmtile_bytes(&tiles[1], 0);
    const nav_part parts[] = {{"m", map.data, map.size}, {"a", a.data, a.size}, {"b", b.data, b.size}};
    nav_status status = NAV_NO_MEMORY;
    for (unsigned n = 1; status == NAV_NO_MEMORY; n++) {
        watched_memory memory = {.limit = SIZE_MAX, .fail_at = n};
        nav_alloc alloc = watched_alloc(&memory);
        nav_soup soup;
        nav_error error = {0};
        nav_soup_init(&soup, &alloc);
        status = nav_read_mmap(&soup, parts, 3, &error);
        assert_true(status == NAV_NO_MEMORY || (status == NAV_OK && memory.failed == 0));
        assert_true(status == NAV_OK || error.message[0] != '\0');
        assert_true(n < 100);
        nav_soup_deinit(&soup);
        assert_int_equal(memory.used, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),    cmocka_unit_test(test_tiles_alone),   cmocka_unit_test(test_unreal),
        cmocka_unit_test(test_mmtile),  cmocka_unit_test(test_maps),          cmocka_unit_test(test_maps_with_faults),
        cmocka_unit_test(test_mangled), cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
