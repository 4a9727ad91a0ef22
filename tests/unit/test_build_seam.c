/// Edges that meet in part: tilings cut at random, turned and moved, and the seams of tiles.
#include "geom.h"
#include "mesh_check.h"
#include "nav_mesh.h"
#include "rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static nav_mesh *build(const nav_soup *soup, bool no_merge, double moved, nav_report *report)
{
    nav_build_options options = {.weld = -1, .no_merge = no_merge};
    nav_mesh *mesh = NULL;
    nav_error error = {0};
    char why[256];
    if (nav_mesh_build(soup, &options, NULL, &mesh, report, &error) != NAV_OK) {
        fail_msg("%s", error.message);
    }
    if (!mesh_check(mesh, moved, why)) {
        fail_msg("%s", why);
    }
    return mesh;
}

static double wall_length(const nav_mesh *m)
{
    double sum = 0;
    for (uint32_t e = 0; e < m->edge_count; e++) {
        if (m->edges[e].twin == NAV_NONE) {
            uint32_t n = nav__edge_next(m, e);
            sum += hypot((double)m->edges[n].x - (double)m->edges[e].x, (double)m->edges[n].z - (double)m->edges[e].z);
        }
    }
    return sum;
}

/// A rectangle still to be divided.
typedef struct box {
    double x0, x1, z0, z1;
} box;

/// How the plane is turned and moved.
typedef struct frame {
    double cos, sin, scale, x, z;
} frame;

/// How far corners are off, and what the file says of edges.
typedef struct noise {
    double ground, height;
    int kinds; ///< 0: nothing, 1: seams, 2: seams and edges it says nothing of
} noise;

static void add_rough_box(nav_soup *soup, const box *r, const noise *n, rng *random)
{
    const double xs[4] = {r->x0, r->x0, r->x1, r->x1}, zs[4] = {r->z0, r->z1, r->z1, r->z0};
    double y = n->height * rng_unit(random);
    uint32_t index[4], kinds[4];
    for (uint32_t i = 0; i < 4; i++) {
        index[i] = soup->vertex_count;
        kinds[i] = n->kinds == 2 && rng_chance(random, 0.5) ? NAV_EDGE_ANY : NAV_EDGE_SEAM;
        double x = xs[i] + n->ground * (rng_unit(random) - 0.5), z = zs[i] + n->ground * (rng_unit(random) - 0.5);
        assert_int_equal(nav_soup_add_vertex(soup, x, y + 0.2 * n->height * rng_unit(random), z), NAV_OK);
    }
    assert_int_equal(nav_soup_add_polygon(soup, index, 4, 0, 1, n->kinds ? kinds : NULL), NAV_OK);
}

static void add_box(nav_soup *soup, const box *r, const frame *f)
{
    const double corners[4][2] = {{r->x0, r->z0}, {r->x0, r->z1}, {r->x1, r->z1}, {r->x1, r->z0}};
    uint32_t index[4];
    for (uint32_t i = 0; i < 4; i++) {
        double x = corners[i][0] * f->scale, z = corners[i][1] * f->scale;
        index[i] = soup->vertex_count;
        assert_int_equal(nav_soup_add_vertex(soup, f->x + x * f->cos - z * f->sin, 0, f->z + x * f->sin + z * f->cos),
                         NAV_OK);
    }
    assert_int_equal(nav_soup_add_polygon(soup, index, 4, 0, 1, NULL), NAV_OK);
}

/// Divides a square into rectangles: nearly every corner lies in the middle of some edge. They are added
/// as they are in the frame, or rough.
static void divide(nav_soup *soup, rng *r, double side, uint32_t count, const frame *f, const noise *n)
{
    box *todo = malloc(count * sizeof *todo);
    uint32_t waiting = 1;
    todo[0] = (box){0, side, 0, side};
    while (waiting > 0) {
        uint32_t pick = rng_below(r, waiting);
        box b = todo[pick], c = b;
        double width = b.x1 - b.x0, depth = b.z1 - b.z0, at = n ? 0.05 + 0.9 * rng_unit(r) : 0.3 + 0.4 * rng_unit(r);
        if (waiting + 1 >= count || (!n && fmin(width, depth) < 1)) {
            if (n) {
                add_rough_box(soup, &b, n, r);
            } else {
                add_box(soup, &b, f);
            }
            todo[pick] = todo[--waiting];
            count -= count > 1;
            continue;
        }
        if (width > depth) {
            c.x0 = b.x1 = b.x0 + at * width;
        } else {
            c.z0 = b.z1 = b.z0 + at * depth;
        }
        todo[pick] = b;
        todo[waiting++] = c;
    }
    free(todo);
}

/// Whatever the frame, the tiles are one piece and walls run only round the whole.
static void test_tilings(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        rng r = rng_seeded(seed);
        double angle = 6.3 * rng_unit(&r), far = seed % 3 == 0 ? 10000 : 100;
        frame f = {cos(angle), sin(angle), 0.5 + 2 * rng_unit(&r), far * rng_unit(&r), -far * rng_unit(&r)};
        if (seed % 4 == 0) {
            f = (frame){1, 0, 1, 0, 0};
        }
        nav_soup soup;
        nav_soup_init(&soup, NULL);
        divide(&soup, &r, 100, 2 + rng_below(&r, 200), &f, NULL);
        nav_report *report = calloc(1, sizeof *report);
        nav_mesh *mesh = build(&soup, seed % 2, far * 1e-6, report);
        if (mesh->island_count != 1 || fabs(wall_length(mesh) - 400 * f.scale) > 0.01) {
            fail_msg("seed %llu: %u islands, walls %.9g for %.9g", (unsigned long long)seed, mesh->island_count,
                     wall_length(mesh), 400 * f.scale);
        }
        assert_int_equal(report->degenerate_polygons, 0);
        nav_mesh_destroy(mesh);
        free(report);
        nav_soup_deinit(&soup);
    }
}

/// Corners off by less and by more than any tolerance, tiles smaller than it, steps: whatever is joined
/// or given up, the structure holds.
static void test_rough_tilings(void **state)
{
    (void)state;
    uint64_t junctions = 0;
    nav_report *report = calloc(1, sizeof *report);
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        rng r = rng_seeded(seed);
        noise n = {pow(10, -6 + 4.5 * rng_unit(&r)), rng_chance(&r, 0.5) ? 0 : rng_unit(&r), (int)rng_below(&r, 3)};
        nav_soup soup;
        nav_soup_init(&soup, NULL);
        divide(&soup, &r, pow(10, -2 + 4 * rng_unit(&r)), 2 + rng_below(&r, 60), NULL, &n);
        nav_build_options options = {.weld = rng_chance(&r, 0.5) ? -1 : 0.01 * rng_unit(&r), .no_merge = seed % 2};
        nav_mesh *mesh = NULL;
        char why[256];
        nav_status status = nav_mesh_build(&soup, &options, NULL, &mesh, report, NULL);
        if (status == NAV_OK && !mesh_check_structure(mesh, why)) {
            fail_msg("seed %llu: %s", (unsigned long long)seed, why);
        }
        assert_true(status == NAV_OK || status == NAV_BAD_MESH);
        junctions += report->t_junction_count;
        nav_mesh_destroy(mesh);
        nav_soup_deinit(&soup);
    }
    assert_true(junctions > 10000);
    free(report);
}

/// A quad whose side towards the next tile is a seam: x0 .. x1, its heights at z0 and z1 of that side.
static void add_tile(nav_soup *soup, double x0, double x1, double z0, double z1, bool seam_right, double y0, double y1)
{
    uint32_t v = soup->vertex_count;
    const double xs[4] = {x0, x0, x1, x1}, zs[4] = {z0, z1, z1, z0}, ys[4] = {y0, y1, y1, y0};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(nav_soup_add_vertex(soup, xs[i], ys[i], zs[i]), NAV_OK);
    }
    const uint32_t corners[4] = {v, v + 1, v + 2, v + 3};
    const uint32_t w = NAV_EDGE_WALL, edges[4] = {seam_right ? w : NAV_EDGE_SEAM, w, seam_right ? NAV_EDGE_SEAM : w, w};
    assert_int_equal(nav_soup_add_polygon(soup, corners, 4, 0, 1, edges), NAV_OK);
}

static uint32_t tile_islands(double gap_x, double y0, double y1, double z0, double z1, double *walls)
{
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    soup.has_agent = true;
    soup.agent = (nav_agent){0.6, 2, 0.9, 45};
    add_tile(&soup, 0, 10, 0, 10, true, 0, 0);
    add_tile(&soup, 10 + gap_x, 20, z0, z1, false, y0, y1);
    nav_mesh *mesh = build(&soup, true, 0.02, NULL);
    uint32_t islands = mesh->island_count;
    *walls = wall_length(mesh);
    nav_mesh_destroy(mesh);
    nav_soup_deinit(&soup);
    return islands;
}

static void test_seams_of_tiles(void **state)
{
    (void)state;
    double walls;
    // Level, over twice the climb, and just beyond it.
    assert_int_equal(tile_islands(0, 0, 0, 0, 10, &walls), 1);
    assert_true(fabs(walls - 60) < 1e-4);
    assert_int_equal(tile_islands(0, 1.79, 1.79, 0, 10, &walls), 1);
    assert_int_equal(tile_islands(0, 1.81, 1.81, 0, 10, &walls), 2);
    // Near at one end is enough, and so is crossing.
    assert_int_equal(tile_islands(0, 1.5, 5, 0, 10, &walls), 1);
    assert_int_equal(tile_islands(0, -6, 7, 0, 10, &walls), 1);
    assert_int_equal(tile_islands(0, 2, 7, 0, 10, &walls), 2);
    // In part, and a corner that is as good as shared.
    assert_int_equal(tile_islands(0, 0, 0, 4, 14, &walls), 1);
    assert_true(fabs(walls - 68) < 1e-4);
    assert_int_equal(tile_islands(0, 0, 0, 0.005, 10, &walls), 1);
    assert_true(fabs(walls - 60) < 0.02);
    // Up to a centimetre apart on the ground.
    assert_int_equal(tile_islands(0.008, 0, 0, 0, 10, &walls), 1);
    assert_true(fabs(walls - 60) < 0.02);
    assert_int_equal(tile_islands(0.03, 0, 0, 0, 10, &walls), 2);
}

/// Edges that the file closes stay closed, and a seam does not open towards them.
static void test_walls_stay(void **state)
{
    (void)state;
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    add_tile(&soup, 0, 10, 0, 10, true, 0, 0);
    add_tile(&soup, 10, 20, 2, 8, true, 0, 0); // its seam is on the far side
    nav_mesh *mesh = build(&soup, true, 0, NULL);
    assert_int_equal(mesh->island_count, 2);
    nav_mesh_destroy(mesh);
    nav_soup_deinit(&soup);
}

/// A neighbour named by number may share its edge in part only.
static void test_named_neighbour_in_part(void **state)
{
    (void)state;
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    const double xz[8][2] = {{0, 0}, {0, 10}, {10, 10}, {10, 0}, {10, 3}, {10, 7}, {20, 7}, {20, 3}};
    for (int i = 0; i < 8; i++) {
        assert_int_equal(nav_soup_add_vertex(&soup, xz[i][0], 0, xz[i][1]), NAV_OK);
    }
    const uint32_t w = NAV_EDGE_WALL, left[4] = {0, 1, 2, 3}, right[4] = {4, 5, 6, 7};
    assert_int_equal(nav_soup_add_polygon(&soup, left, 4, 0, 1, (const uint32_t[]){w, w, 1, w}), NAV_OK);
    assert_int_equal(nav_soup_add_polygon(&soup, right, 4, 0, 1, (const uint32_t[]){0, w, w, w}), NAV_OK);
    nav_mesh *mesh = build(&soup, true, 0, NULL);
    assert_int_equal(mesh->island_count, 1);
    assert_true(fabs(wall_length(mesh) - (40 + 28 - 8)) < 1e-9);
    nav_mesh_destroy(mesh);
    nav_soup_deinit(&soup);
}

/// Floors whose edges lie above each other: each tile joins the one at its own height.
static void test_floors_at_a_seam(void **state)
{
    (void)state;
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    for (int floor = 0; floor < 6; floor++) {
        add_tile(&soup, 0, 10, 0, 10, true, 3.0 * floor, 3.0 * floor);
        add_tile(&soup, 10, 20, -1, 6, false, 3.0 * floor + 0.3, 3.0 * floor + 0.3);
    }
    nav_mesh *mesh = build(&soup, true, 0, NULL);
    assert_int_equal(mesh->island_count, 6);
    for (uint32_t f = 0; f < mesh->face_count; f += 2) {
        assert_int_equal(mesh->cells[mesh->faces[f].cell].island, mesh->cells[mesh->faces[f + 1].cell].island);
    }
    nav_mesh_destroy(mesh);
    nav_soup_deinit(&soup);
}

/// Corners of three tiles at one place that differ a little, at three heights.
static void test_corner_of_tiles(void **state)
{
    (void)state;
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    const double x[3][2] = {{0, 10}, {10, 20}, {10.0003, 20}}, z[3][2] = {{0, 20}, {0, 10}, {10.0004, 20}};
    for (int i = 0; i < 3; i++) {
        uint32_t v = soup.vertex_count;
        const double xs[4] = {x[i][0], x[i][0], x[i][1], x[i][1]}, zs[4] = {z[i][0], z[i][1], z[i][1], z[i][0]};
        for (int k = 0; k < 4; k++) {
            assert_int_equal(nav_soup_add_vertex(&soup, xs[k], 0.2 * i, zs[k]), NAV_OK);
        }
        const uint32_t s = NAV_EDGE_SEAM, corners[4] = {v, v + 1, v + 2, v + 3}, edges[4] = {s, s, s, s};
        assert_int_equal(nav_soup_add_polygon(&soup, corners, 4, 0, 1, edges), NAV_OK);
    }
    nav_mesh *mesh = build(&soup, true, 0.02, NULL);
    assert_int_equal(mesh->island_count, 1);
    assert_true(fabs(wall_length(mesh) - 80) < 0.01);
    uint32_t corners = 0;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        corners += (mesh->edges[mesh->vertex_edge[v]].vertex & NAV__CORNER) != 0;
    }
    assert_int_equal(corners, 0);
    nav_mesh_destroy(mesh);
    nav_soup_deinit(&soup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tilings),
        cmocka_unit_test(test_rough_tilings),
        cmocka_unit_test(test_seams_of_tiles),
        cmocka_unit_test(test_walls_stay),
        cmocka_unit_test(test_named_neighbour_in_part),
        cmocka_unit_test(test_floors_at_a_seam),
        cmocka_unit_test(test_corner_of_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
