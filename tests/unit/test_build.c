/// nav_mesh_build on small soups whose right answer can be read off the drawing.
#include "geom.h"
#include "mesh_check.h"
#include "nav_mesh.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

/// What a test builds from: positions, and polygons as lists of vertex numbers that end in -1.
typedef struct fixture {
    nav_soup soup;
    nav_mesh *mesh;
    nav_report report;
    nav_error error;
} fixture;

/// In doubles: cmocka's assert_float_equal rounds to floats first.
static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.17g is not %.17g", value, expected);
    }
}

static void begin(fixture *f)
{
    memset(f, 0, sizeof *f);
    nav_soup_init(&f->soup, NULL);
}

static void vertex(fixture *f, double x, double y, double z)
{
    assert_int_equal(nav_soup_add_vertex(&f->soup, x, y, z), NAV_OK);
}

static void polygon(fixture *f, uint32_t count, const uint32_t *corners)
{
    assert_int_equal(nav_soup_add_polygon(&f->soup, corners, count, 0, 1, NULL), NAV_OK);
}

#define POLYGON(f, ...) \
    polygon((f), sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (const uint32_t[]){__VA_ARGS__})

/// An axis-aligned quad with vertices of its own.
static void quad(fixture *f, double x0, double x1, double z0, double z1, double y)
{
    uint32_t v = f->soup.vertex_count;
    vertex(f, x0, y, z0);
    vertex(f, x0, y, z1);
    vertex(f, x1, y, z1);
    vertex(f, x1, y, z0);
    POLYGON(f, v, v + 1, v + 2, v + 3);
}

static nav_status build_with(fixture *f, double weld, bool no_merge)
{
    nav_build_options options = {.weld = weld, .no_merge = no_merge};
    nav_status status = nav_mesh_build(&f->soup, &options, NULL, &f->mesh, &f->report, &f->error);
    if (status == NAV_OK) {
        char why[256];
        if (!mesh_check(f->mesh, 2e-3, why)) {
            fail_msg("%s", why);
        }
    }
    return status;
}

static void build(fixture *f)
{
    assert_int_equal(build_with(f, -1, true), NAV_OK);
}

static void end(fixture *f)
{
    nav_mesh_destroy(f->mesh);
    f->mesh = NULL;
    nav_soup_deinit(&f->soup);
}

static uint32_t portals(const nav_mesh *m)
{
    uint32_t count = 0;
    for (uint32_t e = 0; e < m->edge_count; e++) {
        count += m->edges[e].twin != NAV_NONE;
    }
    return count / 2;
}

static uint32_t corners(const nav_mesh *m)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        count += (m->edges[m->vertex_edge[v]].vertex & NAV__CORNER) != 0;
    }
    return count;
}

static bool in_report(const nav_report *r, double x, double y, double z)
{
    for (uint32_t i = 0; i < r->t_junction_count; i++) {
        nav_vec p = r->t_junctions[i];
        if (fabs(p.x - x) < 1e-6 && fabs(p.y - y) < 1e-6 && fabs(p.z - z) < 1e-6) {
            return true;
        }
    }
    return false;
}

static void test_one_quad(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    quad(&f, 0.1, 10, 0, 5, 2);
    build(&f);
    nav_mesh_info info;
    nav_mesh_get_info(f.mesh, &info);
    assert_int_equal(info.polygons, 1);
    assert_int_equal(info.faces, 1);
    assert_int_equal(info.cells, 1);
    assert_int_equal(info.vertices, 4);
    assert_int_equal(info.islands, 1);
    assert_true(info.min.x == (double)0.1f && info.min.y == 2 && info.min.z == 0);
    assert_true(info.max.x == 10 && info.max.y == 2 && info.max.z == 5);
    assert_int_equal(portals(f.mesh), 0);
    assert_int_equal(corners(f.mesh), 0);
    assert_near(f.report.islands[0].area, 9.9 * 5, 1e-5);
    end(&f);
}

static void test_winding_does_not_matter(void **state)
{
    (void)state;
    for (uint32_t mask = 0; mask < 16; mask++) {
        fixture f;
        begin(&f);
        const double xz[6][2] = {{0, 0}, {0, 4}, {4, 4}, {4, 0}, {8, 4}, {8, 0}};
        const uint32_t tris[4][3] = {{0, 1, 2}, {0, 2, 3}, {3, 2, 4}, {3, 4, 5}};
        for (int i = 0; i < 6; i++) {
            vertex(&f, xz[i][0], 0, xz[i][1]);
        }
        for (uint32_t t = 0; t < 4; t++) {
            bool turned = mask >> t & 1;
            POLYGON(&f, tris[t][0], tris[t][turned ? 2 : 1], tris[t][turned ? 1 : 2]);
        }
        build(&f);
        uint32_t turned = (uint32_t)__builtin_popcount(mask);
        assert_int_equal(f.mesh->island_count, 1);
        assert_int_equal(portals(f.mesh), 3);
        assert_int_equal(f.report.flipped_polygons, turned < 2 ? turned : 4 - turned);
        assert_int_equal(f.report.mixed_winding, turned != 0 && turned != 4);
        end(&f);
    }
}

static void test_weld_by_distance(void **state)
{
    (void)state;
    const double tolerances[2] = {1e-4, 1e-6};
    for (int i = 0; i < 2; i++) {
        fixture f;
        begin(&f);
        quad(&f, 0, 1.00004, 0, 1, 0);
        quad(&f, 1.00006, 2, 0, 1, 0);
        assert_int_equal(build_with(&f, tolerances[i], true), NAV_OK);
        assert_int_equal(f.mesh->island_count, i == 0 ? 1 : 2);
        assert_int_equal(f.report.welded_vertices, i == 0 ? 2 : 0);
        end(&f);
    }
}

static void test_weld_does_not_drift(void **state)
{
    (void)state;
    // Each vertex is within the tolerance of the one before: only those near the first may join it.
    fixture f;
    begin(&f);
    for (int i = 0; i < 10; i++) {
        quad(&f, i * 0.6, i * 0.6 + 0.3, 0, 100, 0);
    }
    // So coarse a tolerance also bends cells by their own width: only the points are looked at.
    nav_build_options options = {.weld = 0.7, .no_merge = true};
    assert_int_equal(nav_mesh_build(&f.soup, &options, NULL, &f.mesh, NULL, NULL), NAV_OK);
    for (uint32_t p = 0; p < f.mesh->vertex_points; p++) {
        for (uint32_t q = 0; q < p; q++) {
            double x = (double)f.mesh->points[3 * p] - (double)f.mesh->points[3 * q];
            double z = (double)f.mesh->points[3 * p + 2] - (double)f.mesh->points[3 * q + 2];
            assert_true(hypot(x, z) > 0.7 - 1e-6);
        }
    }
    end(&f);
}

static void test_floors_stay_apart(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    quad(&f, 0, 4, 0, 4, 0);
    quad(&f, 0, 4, 0, 4, 3);
    quad(&f, 4, 8, 0, 4, 3);
    build(&f);
    assert_int_equal(f.mesh->island_count, 2);
    assert_int_equal(portals(f.mesh), 1);
    assert_int_equal(f.mesh->vertex_points, 10);
    end(&f);
}

static void test_degenerate_and_duplicate(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    quad(&f, 0, 4, 0, 4, 0); // 0 .. 3
    POLYGON(&f, 1, 2, 3, 0); // the same again
    POLYGON(&f, 3, 2, 1, 0); // and the other way round
    POLYGON(&f, 0, 1, 1);    // two corners
    POLYGON(&f, 0, 2, 0, 2); // a line
    vertex(&f, 2, 0, 2);
    POLYGON(&f, 0, 4, 2); // three on a line
    vertex(&f, 0, 5, 0);
    POLYGON(&f, 0, 1, 5); // a wall
    build(&f);
    assert_int_equal(f.report.duplicate_polygons, 2);
    assert_int_equal(f.report.degenerate_polygons, 4);
    assert_int_equal(f.mesh->face_count, 1);
    assert_int_equal(f.mesh->polygon_count, 7);
    assert_int_equal(nav_mesh_polygon_flags(f.mesh, 3), 0);
    end(&f);
}

/// What crosses itself is named: alone it is the mesh's fault, beside others a warning.
static void test_crossing_polygon_is_named(void **state)
{
    (void)state;
    for (int beside = 0; beside < 2; beside++) {
        fixture f;
        begin(&f);
        const double star[5][2] = {{0, 3}, {2, -3}, {-3, 1}, {3, 1}, {-2, -3}};
        for (int i = 0; i < 5; i++) {
            vertex(&f, star[i][0], 0, star[i][1]);
        }
        if (beside) {
            quad(&f, 10, 14, 0, 4, 0);
        }
        POLYGON(&f, 0, 1, 2, 3, 4);
        nav_error error;
        nav_status status = nav_mesh_build(&f.soup, NULL, NULL, &f.mesh, &f.report, &error);
        assert_int_equal(status, beside ? NAV_OK : NAV_BAD_MESH);
        assert_non_null(strstr(beside ? f.report.warnings[0] : error.message,
                               beside ? "polygon 1 crosses itself" : "polygon 0 crosses itself"));
        end(&f);
    }
}

static void test_repeated_corners_and_spikes(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    const double xz[6][2] = {{0, 0}, {0, 4}, {4, 4}, {4, 0}, {0, 7}, {-2, 0}};
    for (int i = 0; i < 6; i++) {
        vertex(&f, xz[i][0], 0, xz[i][1]);
    }
    // A spike out and back at 1, one that overshoots at the closing corner 0, and corners twice.
    POLYGON(&f, 0, 0, 1, 4, 1, 2, 2, 3, 5);
    build(&f);
    assert_int_equal(f.mesh->face_count, 1);
    assert_int_equal(f.mesh->corner_count, 4);
    assert_near(f.mesh->island_area[0], 16, 1e-9);
    end(&f);
}

static void test_not_convex(void **state)
{
    (void)state;
    // An L, a comb and a square with a square hole reached by a bridge.
    fixture f;
    begin(&f);
    const double at[][2] = {{0, 0}, {0, 6}, {2, 6}, {2, 2}, {6, 2}, {6, 0}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        vertex(&f, at[i][0], 0, at[i][1]);
    }
    POLYGON(&f, 0, 1, 2, 3, 4, 5);
    build(&f);
    assert_int_equal(f.report.split_polygons, 1);
    assert_int_equal(f.mesh->face_count, 2);
    assert_int_equal(f.mesh->island_count, 1);
    assert_int_equal(corners(f.mesh), 1);
    assert_near(f.mesh->island_area[0], 20, 1e-9);
    end(&f);

    begin(&f);
    const double holed[][2] = {{0, 0}, {0, 9}, {9, 9}, {9, 0}, {3, 3}, {6, 3}, {6, 6}, {3, 6}};
    for (size_t i = 0; i < sizeof holed / sizeof *holed; i++) {
        vertex(&f, holed[i][0], 0, holed[i][1]);
    }
    POLYGON(&f, 0, 1, 2, 3, 0, 4, 5, 6, 7, 4);
    build(&f);
    assert_int_equal(f.mesh->island_count, 1);
    assert_near(f.mesh->island_area[0], 72, 1e-9);
    assert_int_equal(corners(f.mesh), 4);
    end(&f);
}

static void test_crossed_polygons_do_no_harm(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    quad(&f, 20, 24, 0, 4, 0);
    const double xz[5][2] = {{0, 0}, {4, 4}, {4, 0}, {0, 4}, {2, 9}};
    for (int i = 0; i < 5; i++) {
        vertex(&f, xz[i][0], 0, xz[i][1]);
    }
    POLYGON(&f, 4, 5, 6, 7);    // a bow tie
    POLYGON(&f, 8, 4, 6, 7, 5); // a crossed house
    build(&f);
    assert_true(f.mesh->face_count >= 1);
    end(&f);
}

static void test_nothing_left(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    vertex(&f, 0, 0, 0);
    vertex(&f, 1000, 0, 0);
    vertex(&f, 1000, 1000, 0);
    vertex(&f, 0, 1000, 0);
    POLYGON(&f, 0, 1, 2, 3);
    assert_int_equal(build_with(&f, -1, true), NAV_BAD_MESH);
    assert_non_null(strstr(f.error.message, "up axis"));
    end(&f);
    begin(&f);
    assert_int_equal(build_with(&f, -1, true), NAV_BAD_MESH);
    end(&f);
}

static void test_bad_numbers(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    quad(&f, 0, 1, 0, 1, 0);
    POLYGON(&f, 0, 1, 4);
    assert_int_equal(build_with(&f, -1, true), NAV_BAD_MESH);
    assert_non_null(strstr(f.error.message, "polygon 1"));
    end(&f);
    const double values[3] = {(double)NAN, (double)INFINITY, -1.5e9};
    for (int i = 0; i < 3; i++) {
        begin(&f);
        quad(&f, 0, 1, 0, 1, 0);
        vertex(&f, 0, values[i], 0);
        assert_int_equal(build_with(&f, -1, true), NAV_BAD_MESH);
        assert_non_null(strstr(f.error.message, "vertex 4"));
        end(&f);
    }
}

/// A big quad beside three small ones: two corners lie inside its edge.
static void test_t_junctions(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    quad(&f, 0, 10, 0, 9, 0);
    quad(&f, 10, 14, 0, 3, 0.25);
    quad(&f, 10, 14, 3, 5, 0.25);
    quad(&f, 10, 14, 5, 9, 0.25);
    build(&f);
    assert_int_equal(f.mesh->island_count, 1);
    assert_int_equal(portals(f.mesh), 5);
    assert_int_equal(f.report.t_junction_count, 2);
    assert_true(in_report(&f.report, 10, 0.25, 3));
    assert_true(in_report(&f.report, 10, 0.25, 5));
    assert_int_equal(f.mesh->vertex_count, 10);
    assert_int_equal(corners(f.mesh), 0);
    end(&f);
}

static void test_partly_open_edge(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    quad(&f, 0, 10, 0, 10, 0);
    quad(&f, 10, 20, -2, 4, 0);
    build(&f);
    assert_int_equal(f.mesh->island_count, 1);
    assert_int_equal(portals(f.mesh), 1);
    assert_int_equal(f.report.t_junction_count, 2);
    assert_int_equal(corners(f.mesh), 2); // (10, 0) of the right and (10, 4) of the left
    end(&f);
}

static void test_climb_limits_joins(void **state)
{
    (void)state;
    const double steps[3] = {0.4, 0.5, 0.6};
    for (int i = 0; i < 3; i++) {
        fixture f;
        begin(&f);
        quad(&f, 0, 4, 0, 4, 0);
        quad(&f, 4, 8, 0, 4, steps[i]);
        build(&f);
        assert_int_equal(f.mesh->island_count, i < 2 ? 1 : 2);
        end(&f);
    }
}

static void test_nearest_height_wins(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    quad(&f, 0, 4, 0, 4, 0);
    quad(&f, 4, 8, 0, 4, 0.3);
    quad(&f, 4, 8, 0, 4, -0.1);
    build(&f);
    assert_int_equal(f.mesh->island_count, 2);
    assert_int_equal(f.mesh->cells[f.mesh->faces[0].cell].island, f.mesh->cells[f.mesh->faces[2].cell].island);
    end(&f);
}

static void test_sliver_leaves_a_junction(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    const double xz[5][2] = {{0, 0}, {2, 0}, {2, 2}, {0, 2}, {1, 1}};
    for (int i = 0; i < 5; i++) {
        vertex(&f, xz[i][0], 0, xz[i][1]);
    }
    POLYGON(&f, 0, 2, 1);
    POLYGON(&f, 0, 4, 2);
    POLYGON(&f, 0, 3, 4);
    POLYGON(&f, 4, 3, 2);
    build(&f);
    assert_int_equal(f.report.degenerate_polygons, 1);
    assert_int_equal(f.mesh->island_count, 1);
    assert_int_equal(portals(f.mesh), 3);
    assert_int_equal(corners(f.mesh), 0);
    end(&f);
}

/// A corner a little inside or outside the long edge: both cells get it, and stay exactly convex.
static void test_bent_edges_are_cut(void **state)
{
    (void)state;
    const double offsets[4] = {1e-4, -1e-4, 3e-6, -3e-6};
    for (int i = 0; i < 4; i++) {
        fixture f;
        begin(&f);
        quad(&f, 0, 10, 0, 10, 0);
        uint32_t v = f.soup.vertex_count;
        vertex(&f, 10, 0, 0);
        vertex(&f, 10 + offsets[i], 0, 5);
        vertex(&f, 10, 0, 10);
        vertex(&f, 20, 0, 0);
        vertex(&f, 20, 0, 5);
        vertex(&f, 20, 0, 10);
        POLYGON(&f, v, v + 1, v + 4, v + 3);
        POLYGON(&f, v + 1, v + 2, v + 5, v + 4);
        build(&f);
        assert_int_equal(f.mesh->island_count, 1);
        assert_int_equal(f.report.t_junction_count, 1);
        assert_int_equal(f.mesh->cell_count, offsets[i] < 0 ? 4 : 3);
        assert_int_equal(corners(f.mesh), 0);
        end(&f);
    }
}

static void test_explicit_edges(void **state)
{
    (void)state;
    // The file closes one edge and opens the other.
    fixture f;
    begin(&f);
    for (uint32_t i = 0; i < 4; i++) {
        vertex(&f, i, 0, 0);
        vertex(&f, i, 0, 1);
    }
    const uint32_t walls = NAV_EDGE_WALL;
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t at[4] = {2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2};
        const uint32_t edges[4] = {i == 2 ? 1 : walls, walls, i == 1 ? 2 : walls, walls};
        assert_int_equal(nav_soup_add_polygon(&f.soup, at, 4, 0, 1, edges), NAV_OK);
    }
    build(&f);
    assert_int_equal(f.mesh->island_count, 2);
    assert_int_equal(portals(f.mesh), 1);
    end(&f);
}

/// Three quads at one edge: a floor goes on flat, a ramp leaves downwards from the same edge.
static void test_non_manifold(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    quad(&f, 0, 4, 0, 4, 0);
    quad(&f, 4, 8, 0, 4, 0);
    uint32_t v = f.soup.vertex_count;
    vertex(&f, 4, 0, 0);
    vertex(&f, 4, 0, 4);
    vertex(&f, 8, -3, 4);
    vertex(&f, 8, -3, 0);
    POLYGON(&f, v, v + 1, v + 2, v + 3);
    build(&f);
    assert_int_equal(f.report.non_manifold_count, 1);
    assert_near(f.report.non_manifold[0][0].x, 4, 0);
    assert_near(f.report.non_manifold[0][1].x, 4, 0);
    assert_int_equal(f.mesh->island_count, 2);
    assert_int_equal(f.mesh->cells[f.mesh->faces[0].cell].island, f.mesh->cells[f.mesh->faces[1].cell].island);
    end(&f);
}

static void test_pinch_has_a_vertex_a_sector(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    quad(&f, 0, 4, 0, 4, 0);
    quad(&f, 4, 8, 4, 8, 0);
    build(&f);
    assert_int_equal(f.mesh->vertex_points, 7);
    assert_int_equal(f.mesh->vertex_count, 8);
    assert_int_equal(f.mesh->island_count, 2);
    end(&f);
}

static void test_far_from_zero(void **state)
{
    (void)state;
    // At a million, floats are 1/16 apart; relative to an origin nothing of 0.1 is lost.
    fixture f;
    begin(&f);
    quad(&f, 1000000.1, 1000001.1, -2000000.3, -2000000.2, 5);
    assert_int_equal(build_with(&f, 1e-6, true), NAV_OK);
    nav_mesh_info info;
    nav_mesh_get_info(f.mesh, &info);
    assert_near(info.min.x, 1000000.1, 1e-6);
    assert_near(info.max.z, -2000000.2, 1e-6);
    assert_true((double)(float)f.mesh->origin.x == f.mesh->origin.x);
    end(&f);
    // Floats keep each bit, however far.
    begin(&f);
    quad(&f, 100000.5, 100010.25, 300000.125, 300001, 5);
    build(&f);
    nav_mesh_get_info(f.mesh, &info);
    assert_true(info.min.x == 100000.5 && info.min.z == 300000.125 && info.max.x == 100010.25);
    end(&f);
}

static void test_links(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    quad(&f, 0, 4, 0, 4, 3);
    quad(&f, 6, 10, 0, 4, 0);
    nav_link good = {.id = "jump", .start = {3.5, 3, 2}, .end = {6.5, 0, 2}, .radius = 0.5, .cost = -1};
    nav_link bad = {.id = "lost", .start = {3.5, 3, 2}, .end = {60.5, 0, 2}, .radius = 0.5, .cost = -1};
    assert_int_equal(nav_soup_add_link(&f.soup, &good), NAV_OK);
    assert_int_equal(nav_soup_add_link(&f.soup, &bad), NAV_OK);
    build(&f);
    assert_int_equal(f.mesh->link_count, 1);
    assert_string_equal(nav_mesh_links(f.mesh)[0].id, "jump");
    assert_int_equal(f.report.dropped_link_count, 1);
    assert_string_equal(f.report.dropped_links[0].id, "lost");
    assert_true(f.mesh->cells[0].link_end && f.mesh->cells[1].link_end);
    end(&f);
}

static void test_detail(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    quad(&f, 0, 4, 0, 4, 0);
    assert_int_equal(nav_soup_add_detail_vertex(&f.soup, 2, 1.5, 2), NAV_OK);
    const uint32_t tris[5][3] = {{0, 1, 4}, {2, 1, 4}, {2, 3, 4}, {3, 0, 4}, {0, 2, 4}};
    for (int i = 0; i < 5; i++) { // wound both ways, the last without area
        assert_int_equal(nav_soup_add_detail_tri(&f.soup, tris[i][0], tris[i][1], tris[i][2]), NAV_OK);
    }
    build(&f);
    assert_int_equal(f.mesh->tri_count, 4);
    assert_int_equal(f.mesh->point_count, 5);
    nav_mesh_info info;
    nav_mesh_get_info(f.mesh, &info);
    assert_true(info.max.y == 1.5);
    assert_int_equal(info.vertices, 4);
    end(&f);
}

static bool warned(const nav_report *r, const char *words)
{
    for (uint32_t i = 0; i < r->warning_count; i++) {
        if (strstr(r->warnings[i], words)) {
            return true;
        }
    }
    return false;
}

static void test_warnings(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    quad(&f, 0, 4, 0, 4, 0);
    build(&f);
    assert_int_equal(f.report.warning_count, 0);
    end(&f);

    begin(&f); // a house given with z up: one slope among its walls
    quad(&f, 0, 4, 0, 4, 0);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t v = f.soup.vertex_count;
        vertex(&f, i, 0, 10);
        vertex(&f, i, 5, 10);
        vertex(&f, i + 1, 5, 10);
        POLYGON(&f, v, v + 1, v + 2);
    }
    build(&f);
    assert_true(warned(&f.report, "upright"));
    end(&f);

    begin(&f); // a steep strip: hardly any ground, but high
    const double at[4][3] = {{0, 0, 0}, {0.01, 50, 0}, {0.01, 50, 100}, {0, 0, 100}};
    for (int i = 0; i < 4; i++) {
        vertex(&f, at[i][0], 0.1 * at[i][1], at[i][2]);
    }
    quad(&f, 0.01, 0.02, 0, 100, 50);
    POLYGON(&f, 0, 1, 2, 3);
    build(&f);
    assert_true(warned(&f.report, "flat in x"));
    end(&f);

    begin(&f); // two squares that call each other neighbours from afar
    const double xs[8] = {0, 0, 4, 4, 6, 6, 9, 9}, zs[8] = {0, 4, 4, 0, 0, 4, 4, 0};
    for (int i = 0; i < 8; i++) {
        vertex(&f, xs[i], 0, zs[i]);
    }
    const uint32_t w = NAV_EDGE_WALL, left[4] = {0, 1, 2, 3}, right[4] = {4, 5, 6, 7};
    assert_int_equal(nav_soup_add_polygon(&f.soup, left, 4, 0, 1, (const uint32_t[]){w, w, 1, w}), NAV_OK);
    assert_int_equal(nav_soup_add_polygon(&f.soup, right, 4, 0, 1, (const uint32_t[]){0, w, w, w}), NAV_OK);
    build(&f);
    assert_int_equal(f.mesh->island_count, 2);
    assert_true(warned(&f.report, "2 edges name a neighbour"));
    end(&f);
}

/// However small or large, a mesh is one.
static void test_sizes(void **state)
{
    (void)state;
    const double sizes[6] = {1e-37, 1e-20, 1e-3, 1, 1e5, 9e8};
    for (int i = 0; i < 6; i++) {
        fixture f;
        begin(&f);
        quad(&f, 0, sizes[i], 0, sizes[i], 0);
        quad(&f, sizes[i], 2 * sizes[i] < 1e9 ? 2 * sizes[i] : 1e9, 0, sizes[i], 0);
        assert_int_equal(build_with(&f, sizes[i] < 1e-3 ? 0 : -1, false), NAV_OK);
        assert_int_equal(f.mesh->island_count, 1);
        assert_int_equal(f.mesh->cell_count, 1);
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_quad),
        cmocka_unit_test(test_winding_does_not_matter),
        cmocka_unit_test(test_weld_by_distance),
        cmocka_unit_test(test_weld_does_not_drift),
        cmocka_unit_test(test_floors_stay_apart),
        cmocka_unit_test(test_degenerate_and_duplicate),
        cmocka_unit_test(test_crossing_polygon_is_named),
        cmocka_unit_test(test_repeated_corners_and_spikes),
        cmocka_unit_test(test_not_convex),
        cmocka_unit_test(test_crossed_polygons_do_no_harm),
        cmocka_unit_test(test_nothing_left),
        cmocka_unit_test(test_bad_numbers),
        cmocka_unit_test(test_t_junctions),
        cmocka_unit_test(test_partly_open_edge),
        cmocka_unit_test(test_climb_limits_joins),
        cmocka_unit_test(test_nearest_height_wins),
        cmocka_unit_test(test_sliver_leaves_a_junction),
        cmocka_unit_test(test_bent_edges_are_cut),
        cmocka_unit_test(test_explicit_edges),
        cmocka_unit_test(test_non_manifold),
        cmocka_unit_test(test_pinch_has_a_vertex_a_sector),
        cmocka_unit_test(test_far_from_zero),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_detail),
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
