/// Real files of other people's making, where they are at hand: each must load with the counts that were
/// measured on its bytes, and broken variants of it must do no harm.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mangle.h"
#include "nav_format.h"

typedef struct sample {
    const char *file;
    nav_read_fn *read;
    uint32_t vertices, polygons, corners, detail_tris, links, seams;
} sample;

static const sample samples[] = {
    {"files/detour/godetour-solomesh-nav_test.bin", nav_read_mset, 340, 185, 706, 561, 0, 0},
    {"files/detour/godetour-tilemesh-stair3.bin", nav_read_mset, 52, 13, 52, 26, 0, 16},
    {"files/detour/dotrecast-dungeon_all_tiles_navmesh.bin", nav_read_mset, 398, 143, 570, 348, 0, 145},
    {"files/detour/dotrecast-dungeon_all_tiles_navmesh_32bit.bin", nav_read_mset, 398, 143, 570, 348, 0, 145},
    {"detour/nav_test_anno_tiled.bin", nav_read_mset, 626, 248, 959, 698, 7, 0},
    {"files/obj/colyseus-SampleSceneNavMesh.obj", nav_read_obj, 137, 57, 171, 0, 0, 0},
    {"files/obj/dotrecast-nav_test.obj", nav_read_obj, 884, 792, 776 * 4 + 8 * 3 + 2 * 6 + 4 * 8 + 2 * 12, 0, 0, 0},
    {"files/obj/godetour-hill.obj", nav_read_obj, 81, 128, 384, 0, 0, 0},
    {"files/obj/godetour-stair3.obj", nav_read_obj, 64, 96, 288, 0, 0, 0},
    {"files/polyanya/arena-v2.mesh", nav_read_polyanya, 112, 120, 360, 0, 0, 0},
    {"files/polyanya/bad-collinear.mesh", nav_read_polyanya, 16, 6, 28, 0, 0, 0},
    {"polyanya/maps/Aurora.mesh", nav_read_polyanya, 34707, 19244, 73304, 0, 0, 0},
};
#define SAMPLE_COUNT (sizeof samples / sizeof *samples)

/// @return malloc'ed, NULL when the file is not there
static char *read_file(const char *file, size_t *size)
{
    const char *root = getenv("NAVD_SHARED");
    char path[512];
    snprintf(path, sizeof path, "%s/conformance/%s", root ? root : "../shared", file);
    FILE *f = fopen(path, "rb");
    if (!f) {
        print_message("SKIPPED: no %s; set NAVD_SHARED to the folder that holds conformance/\n", path);
        return NULL;
    }
    char *bytes = NULL;
    if (fseek(f, 0, SEEK_END) == 0 && ftell(f) > 0) {
        *size = (size_t)ftell(f);
        rewind(f);
        bytes = malloc(*size);
        assert_non_null(bytes);
        assert_int_equal(fread(bytes, 1, *size, f), *size);
    }
    fclose(f);
    return bytes;
}

static uint32_t count_seams(const nav_soup *s)
{
    uint32_t seams = 0;
    for (uint32_t i = 0; s->has_edges && i < s->corner_count; i++) {
        seams += s->edges[i] == NAV_EDGE_SEAM;
    }
    return seams;
}

static void test_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        const sample *e = &samples[i];
        size_t size;
        char *bytes = read_file(e->file, &size);
        if (!bytes) {
            skip();
        }
        nav_soup s;
        nav_error error = {0};
        nav_soup_init(&s, NULL);
        if (e->read(&s, bytes, size, &error) != NAV_OK) {
            fail_msg("%s: %s", e->file, error.message);
        }
        if (s.vertex_count != e->vertices || s.poly_count != e->polygons || s.corner_count != e->corners ||
            s.detail_tri_count != e->detail_tris || s.link_count != e->links ||
            (e->seams && count_seams(&s) != e->seams)) {
            fail_msg("%s: %u vertices, %u polygons, %u corners, %u detail triangles, %u links, %u seams", e->file,
                     s.vertex_count, s.poly_count, s.corner_count, s.detail_tri_count, s.link_count, count_seams(&s));
        }
        nav_soup_deinit(&s);
        free(bytes);
    }
}

/// Explicit neighbours of real files are mutual and meet at a common edge, run the other way.
static void test_neighbours_are_mutual(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        size_t size;
        char *bytes = read_file(samples[i].file, &size);
        if (!bytes) {
            skip();
        }
        nav_soup s;
        nav_soup_init(&s, NULL);
        assert_int_equal(samples[i].read(&s, bytes, size, NULL), NAV_OK);
        for (uint32_t p = 0; s.has_edges && p < s.poly_count; p++) {
            for (uint32_t c = s.poly_first[p]; c < s.poly_first[p + 1]; c++) {
                if (s.edges[c] >= NAV_EDGE_SEAM) {
                    continue;
                }
                uint32_t q = s.edges[c], from = s.corners[c];
                uint32_t to = s.corners[c + 1 < s.poly_first[p + 1] ? c + 1 : s.poly_first[p]];
                bool met = false;
                for (uint32_t d = s.poly_first[q]; d < s.poly_first[q + 1]; d++) {
                    uint32_t next = d + 1 < s.poly_first[q + 1] ? d + 1 : s.poly_first[q];
                    met = met || (s.edges[d] == p && s.corners[d] == to && s.corners[next] == from);
                }
                if (!met) {
                    fail_msg("%s: polygon %u does not meet polygon %u at its edge %u", samples[i].file, p, q,
                             c - s.poly_first[p]);
                }
            }
        }
        nav_soup_deinit(&s);
        free(bytes);
    }
}

static void try_bytes(void *ctx, const void *bytes, size_t size)
{
    const sample *e = ctx;
    watched_memory memory = {.limit = 64 * size + 65536};
    nav_alloc alloc = watched_alloc(&memory);
    nav_soup soup;
    nav_error error = {0};
    nav_soup_init(&soup, &alloc);
    if (e->read(&soup, bytes, size, &error) != NAV_OK) {
        assert_true(error.message[0] != '\0');
        assert_int_equal(memory.used, 0);
    }
    assert_int_equal(memory.failed, 0);
    nav_soup_deinit(&soup);
    assert_int_equal(memory.used, 0);
}

static void test_mangled(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        size_t size;
        char *bytes = read_file(samples[i].file, &size);
        if (!bytes) {
            skip();
        }
        sample e = samples[i];
        if (size < 100000) {
            mangle_cuts(bytes, size, try_bytes, &e);
            mangle_words(bytes, size, 400, try_bytes, &e);
            mangle_flips(bytes, size, 200, 100 + i, try_bytes, &e);
        }
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_neighbours_are_mutual),
        cmocka_unit_test(test_mangled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
