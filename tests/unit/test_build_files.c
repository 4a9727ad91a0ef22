/// Real files of other people's making, where they are at hand: what they must be built to is known from
/// their own documentation or from reading them by brute force.
#include "mesh_check.h"
#include "nav_format.h"
#include "nav_mesh.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN UINT32_MAX

/// Of the unmerged mesh.
typedef struct sample {
    const char *file;
    nav_read_fn *read;
    uint32_t vertices; ///< after welding
    uint32_t fans;     ///< vertices, one more for each further free sector of a pinch
    uint32_t portals, islands, corners;
    uint32_t most_cells; ///< after merging
} sample;

static const sample samples[] = {
    {"polyanya/maps/arena.mesh", nav_read_polyanya, 112, 112, UNKNOWN, 1, UNKNOWN, 40},
    {"polyanya/maps/lak303d.mesh", nav_read_polyanya, 2530, 2530 + 6, UNKNOWN, UNKNOWN, UNKNOWN, 1204},
    {"polyanya/maps/CatwalkAlley.mesh", nav_read_polyanya, 15301, 15301 + 37, UNKNOWN, UNKNOWN, UNKNOWN, 8014},
    {"polyanya/maps/Aurora.mesh", nav_read_polyanya, 34707, 34707 + 97, UNKNOWN, UNKNOWN, 17414, 18208},
    {"polyanya/maps/Aurora-cdt.mesh", nav_read_polyanya, 34707, 34707 + 97, UNKNOWN, UNKNOWN, 17414, 18118},
    {"polyanya/maps/random-400-33.mesh", nav_read_polyanya, 90748, 90748 + 10740, UNKNOWN, 1, UNKNOWN, 38305},
    {"files/obj/colyseus-SampleSceneNavMesh.obj", nav_read_obj, 53, UNKNOWN, UNKNOWN, 1, UNKNOWN, 27},
    {"files/obj/godetour-hill.obj", nav_read_obj, 81, 81, (128 * 3 - 32) / 2, 1, 0, 1},
    {"files/obj/dotrecast-nav_test.obj", nav_read_obj, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN},
    {"files/obj/godetour-stair3.obj", nav_read_obj, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN},
    {"files/polyanya/bad-collinear.mesh", nav_read_polyanya, 16, UNKNOWN, UNKNOWN, 1, UNKNOWN, UNKNOWN},
    {"files/detour/dotrecast-dungeon_all_tiles_navmesh.bin", nav_read_mset, UNKNOWN, UNKNOWN, UNKNOWN, 5, UNKNOWN,
     UNKNOWN},
    {"files/detour/godetour-tilemesh-stair3.bin", nav_read_mset, UNKNOWN, UNKNOWN, UNKNOWN, 8, UNKNOWN, UNKNOWN},
    {"detour/nav_test_solo.bin", nav_read_mset, 349, 349, 153, 17, UNKNOWN, 140},
    {"detour/nav_test_tiled.bin", nav_read_mset, UNKNOWN, UNKNOWN, 230, 22, UNKNOWN, 172},
    {"detour/nav_test_anno_tiled.bin", nav_read_mset, UNKNOWN, UNKNOWN, 273, 22, UNKNOWN, 194},
    {"detour/dungeon_solo.bin", nav_read_mset, 223, 223, 115, 4, UNKNOWN, 81},
    {"detour/dungeon_tiled.bin", nav_read_mset, UNKNOWN, UNKNOWN, 133, 4, UNKNOWN, 90},
    {"detour/extra/nav_test_anno2_r03_tiled.bin", nav_read_mset, UNKNOWN, UNKNOWN, 330, 48, UNKNOWN, UNKNOWN},
    {"detour/extra/undulating_tiled.bin", nav_read_mset, UNKNOWN, UNKNOWN, 350, 2, UNKNOWN, UNKNOWN},
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

static nav_mesh *build(const nav_soup *soup, const char *file, bool no_merge)
{
    nav_build_options options = {.weld = -1, .no_merge = no_merge};
    nav_mesh *mesh = NULL;
    nav_error error = {0};
    char why[256];
    if (nav_mesh_build(soup, &options, NULL, &mesh, NULL, &error) != NAV_OK) {
        fail_msg("%s: %s", file, error.message);
    }
    if (!mesh_check(mesh, mesh->rounding, why)) {
        fail_msg("%s: %s", file, why);
    }
    return mesh;
}

static void compare(const char *file, const char *what, uint32_t value, uint32_t expected)
{
    if (expected != UNKNOWN && value != expected) {
        fail_msg("%s: %u %s, expected %u", file, value, what, expected);
    }
}

static void check_sample(const sample *e, const nav_soup *soup)
{
    nav_mesh *m = build(soup, e->file, true);
    uint32_t portals = 0, corners = 0;
    for (uint32_t i = 0; i < m->edge_count; i++) {
        portals += m->edges[i].twin != NAV_NONE;
    }
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        corners += (m->edges[m->vertex_edge[v]].vertex & NAV__CORNER) != 0;
    }
    compare(e->file, "vertices", m->vertex_points, e->vertices);
    compare(e->file, "fans", m->vertex_count, e->fans);
    compare(e->file, "portals", portals / 2, e->portals);
    compare(e->file, "islands", m->island_count, e->islands);
    compare(e->file, "corners", corners, e->corners);
    uint32_t islands = m->island_count;
    nav_mesh_destroy(m);

    m = build(soup, e->file, false);
    compare(e->file, "islands", m->island_count, islands);
    if (m->cell_count > e->most_cells) {
        fail_msg("%s: %u cells, %u will do", e->file, m->cell_count, e->most_cells);
    }
    for (uint32_t p = 0; p < soup->poly_count; p++) {
        if (soup->has_areas) {
            assert_int_equal(nav_mesh_polygon_area(m, p), soup->areas[p]);
        }
        if (soup->has_flags) {
            assert_int_equal(nav_mesh_polygon_flags(m, p), soup->flags[p]);
        }
    }
    nav_mesh_destroy(m);
}

static void test_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        size_t size = 0;
        char *bytes = read_file(samples[i].file, &size);
        if (!bytes) {
            skip();
        }
        nav_soup soup;
        nav_error error = {0};
        nav_soup_init(&soup, NULL);
        if (samples[i].read(&soup, bytes, size, &error) != NAV_OK) {
            fail_msg("%s: %s", samples[i].file, error.message);
        }
        check_sample(&samples[i], &soup);
        nav_soup_deinit(&soup);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
