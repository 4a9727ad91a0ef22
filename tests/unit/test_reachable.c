/// What is within reach: costs against shortest paths to many places of each polygon, rings against the
/// sides of the polygons found, and single cases with known answers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nav_surface.h"
#include "scene.h"
#include "small_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct asker {
    scene s;
    nav_query *query, *other; ///< other: for paths, while an answer of the first is looked at
    nav_snap snap;
    rng r;
    int asked, rings;
} asker;

static void make_scene(asker *a, uint64_t seed, unsigned variant)
{
    assert_true(scene_make(&a->s, (random_kind)(seed % RANDOM_KIND_COUNT), seed, variant, NULL));
    a->r = rng_seeded(seed + 9);
    a->snap = nav_snap_default();
    if (variant & SCENE_FLAGS) {
        a->snap.filter.exclude = 1u << rng_below(&a->r, 3);
    }
}

static bool is_open(const asker *a, uint32_t polygon)
{
    return !a->s.mesh.has_flags || !(a->s.mesh.flags[polygon] & a->snap.filter.exclude);
}

// ---- costs -----------------------------------------------------------------------------------------

/// How far inside an edge a way to it ends: at the edge's ends polygons may touch that do not hang together, and
/// who stands there within rounding stands on both.
#define INWARD 1e-3

/// The cost of a path on flat ground, piece by piece. Pieces along an edge take the cheaper side.
static double path_cost(const asker *a, const nav_path *path)
{
    enum { PIECES = 50 };
    const poly_mesh *m = &a->s.mesh;
    double sum = 0;
    for (uint32_t i = 0; i + 1 < path->point_count; i++) {
        nav_vec from = path->points[i], to = path->points[i + 1];
        for (int k = 0; k < PIECES; k++) {
            double t = (k + 0.5) / PIECES, x = from.x + t * (to.x - from.x), z = from.z + t * (to.z - from.z);
            double least = INFINITY;
            for (uint32_t p = 0; p < m->poly_count; p++) {
                double cost = a->snap.filter.area_costs[m->areas[p]];
                least = cost < least && poly_mesh_holds(m, p, x, z, 1e-6) ? cost : least;
            }
            sum += least * hypot(to.x - from.x, to.z - from.z) / PIECES;
        }
    }
    return sum;
}

/// Ground length, or with area costs the cost, of the best path to a place just inside an edge; INFINITY: none.
static double way_to_edge(asker *a, nav_vec from, uint32_t polygon, uint32_t k, double t)
{
    const double *u = poly_mesh_corner(&a->s.mesh, polygon, k), *v = poly_mesh_corner(&a->s.mesh, polygon, k + 1);
    double x = u[0] + t * (v[0] - u[0]), z = u[2] + t * (v[2] - u[2]), cx = 0, cz = 0;
    for (uint32_t i = 0, n = poly_mesh_size(&a->s.mesh, polygon); i < n; i++) {
        cx += poly_mesh_corner(&a->s.mesh, polygon, i)[0] / n;
        cz += poly_mesh_corner(&a->s.mesh, polygon, i)[2] / n;
    }
    double inward = INWARD / hypot(cx - x, cz - z);
    x += inward * (cx - x);
    z += inward * (cz - z);
    nav_vec to = {x, poly_mesh_height(&a->s.mesh, polygon, x, z), z};
    nav_path_options options = nav_path_options_default();
    options.snap = a->snap;
    options.no_partial = true;
    nav_path path;
    assert_int_equal(nav_query_path(a->other, a->s.nav, from, to, &options, &path), NAV_OK);
    if (path.status != NAV_PATH_COMPLETE) {
        return INFINITY;
    }
    return a->snap.filter.area_costs ? path_cost(a, &path) : ground_length(&path);
}

/// The way to the nearest place of a polygon's outline, by sampling and then narrowing down.
static double way_to_polygon(asker *a, nav_vec from, uint32_t polygon)
{
    enum { SAMPLES = 16, NARROWINGS = 20 };
    double best = INFINITY, at = 0;
    uint32_t edge = 0;
    for (uint32_t k = 0; k < poly_mesh_size(&a->s.mesh, polygon); k++) {
        for (int i = 0; i < SAMPLES; i++) {
            double way = way_to_edge(a, from, polygon, k, (double)i / SAMPLES);
            if (way < best) {
                best = way;
                edge = k;
                at = (double)i / SAMPLES;
            }
        }
    }
    // An edge's first place stands for the last one of the edge before it too.
    for (uint32_t back = 0; back < 2 && best < INFINITY; back++) {
        uint32_t k = back ? edge + poly_mesh_size(&a->s.mesh, polygon) - 1 : edge;
        double low = back ? 1 - 1.0 / SAMPLES : fmax(at - 1.0 / SAMPLES, 0);
        double high = back ? 1 : fmin(at + 1.0 / SAMPLES, 1);
        for (int i = 0; i < NARROWINGS && !(back && at > 0); i++) {
            double l = low + (high - low) / 3, h = high - (high - low) / 3;
            double wl = way_to_edge(a, from, polygon, k, l), wh = way_to_edge(a, from, polygon, k, h);
            best = fmin(best, fmin(wl, wh));
            wl < wh ? (high = h) : (low = l);
        }
    }
    return best;
}

static double cost_told(const nav_reach *reach, uint32_t polygon)
{
    for (uint32_t i = 0; i < reach->polygon_count; i++) {
        if (reach->polygons[i].polygon == polygon) {
            return reach->polygons[i].cost;
        }
    }
    return INFINITY;
}

static void check_costs(asker *a, oracle_point from)
{
    nav_reach_options options = nav_reach_options_default();
    options.snap = a->snap;
    nav_vec point = random_point_position(&a->s.mesh, from);
    nav_reach reach;
    assert_int_equal(nav_query_reachable(a->query, a->s.nav, point, &options, &reach), NAV_OK);
    assert_int_equal(reach.status, NAV_REACH_FOUND);
    for (uint32_t i = 1; i < reach.polygon_count; i++) {
        assert_true(reach.polygons[i - 1].cost <= reach.polygons[i].cost);
    }
    for (int i = 0; i < 3; i++) {
        uint32_t polygon = rng_below(&a->r, a->s.mesh.poly_count);
        double told = cost_told(&reach, polygon),
               want = is_open(a, polygon) ? way_to_polygon(a, point, polygon) : INFINITY;
        // Who stands in the polygon need not go to its outline.
        bool inside = poly_mesh_holds(&a->s.mesh, polygon, from.x, from.z, 0) && told == 0;
        if (!inside && !(told == want || (told < want && told > want - 1.1 * INWARD))) {
            print_error("%s: (%.17g %.17g) on %u to polygon %u: %.15g, want %.15g\n", scene_name(&a->s), from.x, from.z,
                        from.polygon, polygon, told, want);
            fail();
        }
        a->asked++;
    }
}

static void costs_are_those_of_shortest_paths(void **state)
{
    (void)state;
    asker a = {.query = nav_query_create(NULL), .other = nav_query_create(NULL)};
    for (uint64_t seed = 0; seed < 120; seed++) {
        make_scene(&a, seed, (unsigned)(seed / 4 % SCENE_TRANSFORM));
        for (int i = 0; i < 4; i++) {
            oracle_point from = random_point(&a.s.mesh, &a.r);
            if (is_open(&a, from.polygon)) {
                check_costs(&a, from);
            }
        }
        scene_destroy(&a.s);
    }
    print_message("%d polygons\n", a.asked);
    assert_true(a.asked > 800);
    nav_query_destroy(a.query);
    nav_query_destroy(a.other);
}

/// A mesh of areas 0 to 2 with costs; flat, so that lengths in space and on the ground are the same.
static void make_weighted(asker *a, uint64_t seed, double costs[256])
{
    rng r = rng_seeded(seed + 10);
    random_mesh(&a->s.mesh, seed % 2 ? RANDOM_GRID : RANDOM_TRIANGLES, seed);
    for (uint32_t p = 0; p < a->s.mesh.poly_count; p++) {
        a->s.mesh.areas[p] = (uint8_t)rng_below(&r, 3);
    }
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    assert_int_equal(poly_mesh_to_soup(&a->s.mesh, &soup, false, 0), NAV_OK);
    soup.has_areas = true;
    memcpy(soup.areas, a->s.mesh.areas, a->s.mesh.poly_count);
    assert_int_equal(nav_mesh_build(&soup, NULL, NULL, &a->s.nav, NULL, NULL), NAV_OK);
    nav_soup_deinit(&soup);
    for (int i = 0; i < 256; i++) {
        costs[i] = 1;
    }
    for (int i = 0; i < 3; i++) {
        costs[i] = exp(4 * rng_unit(&r) - 2);
    }
    a->r = r;
    a->snap = nav_snap_default();
    a->snap.filter.area_costs = costs;
}

static nav_reach reach_all(asker *a, nav_query *query, nav_vec point, const double *costs)
{
    nav_reach_options options = nav_reach_options_default();
    options.snap = a->snap;
    options.snap.filter.area_costs = costs;
    nav_reach reach;
    assert_int_equal(nav_query_reachable(query, a->s.nav, point, &options, &reach), NAV_OK);
    for (uint32_t i = 1; i < reach.polygon_count; i++) {
        assert_true(reach.polygons[i - 1].cost <= reach.polygons[i].cost);
    }
    return reach;
}

static void weighted_costs_are_near_those_of_paths(void **state)
{
    (void)state;
    asker a = {.query = nav_query_create(NULL), .other = nav_query_create(NULL)};
    nav_query *plain = nav_query_create(NULL);
    double worst = 0, sum = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        double costs[256];
        make_weighted(&a, seed, costs);
        nav_vec point = random_point_position(&a.s.mesh, random_point(&a.s.mesh, &a.r));
        nav_reach reach = reach_all(&a, a.query, point, costs), lengths = reach_all(&a, plain, point, NULL);
        assert_int_equal(reach.polygon_count, lengths.polygon_count);
        for (int i = 0; i < 4; i++) {
            uint32_t polygon = rng_below(&a.r, a.s.mesh.poly_count);
            double told = cost_told(&reach, polygon), length = cost_told(&lengths, polygon), want = INFINITY;
            if (length == 0 || length == INFINITY) {
                assert_true(told == length);
                continue;
            }
            for (uint32_t k = 0; k < poly_mesh_size(&a.s.mesh, polygon); k++) {
                want = fmin(want, fmin(way_to_edge(&a, point, polygon, k, 0), way_to_edge(&a, point, polygon, k, 0.5)));
            }
            double least = fmin(costs[0], fmin(costs[1], costs[2])), over = told / want - 1;
            worst = fmax(worst, over);
            sum += fmax(over, 0);
            a.asked++;
            if (!(told >= least * length * (1 - 1e-9) && over < 0.03)) {
                print_error("seed %u: polygon %u: %.15g, path %.15g, length %.15g\n", (unsigned)seed, polygon, told,
                            want, length);
                fail();
            }
        }
        nav_mesh_destroy(a.s.nav);
        poly_mesh_deinit(&a.s.mesh);
    }
    print_message("%d polygons, mean %.3f %%, worst %.3f %% above the best of a few paths\n", a.asked,
                  100 * sum / a.asked, 100 * worst);
    assert_true(a.asked > 100 && sum / a.asked < 0.003);
    nav_query_destroy(a.query);
    nav_query_destroy(a.other);
    nav_query_destroy(plain);
}

// ---- rings -----------------------------------------------------------------------------------------

/// Twice the signed area with x to the right and z up.
static double ring_area2(const nav_vec *p, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 1; i + 1 < count; i++) {
        sum += (p[i].x - p[0].x) * (p[i + 1].z - p[0].z) - (p[i].z - p[0].z) * (p[i + 1].x - p[0].x);
    }
    return sum;
}

static double ring_length(const nav_vec *p, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += hypot(p[(i + 1) % count].x - p[i].x, p[(i + 1) % count].z - p[i].z);
    }
    return sum;
}

static void check_rings(asker *a)
{
    const poly_mesh *m = &a->s.mesh;
    oracle_point from = random_point(m, &a->r);
    if (!is_open(a, from.polygon)) {
        return;
    }
    nav_reach_options options = nav_reach_options_default();
    options.snap = a->snap;
    options.outline = true;
    options.limit = rng_chance(&a->r, 0.5) ? 1 + rng_below(&a->r, 60) : 0;
    options.max_cost = rng_chance(&a->r, 0.5) ? 100 * rng_unit(&a->r) : INFINITY;
    nav_reach reach;
    nav_vec point = random_point_position(m, from);
    assert_int_equal(nav_query_reachable(a->query, a->s.nav, point, &options, &reach), NAV_OK);
    bool *in = calloc(m->poly_count, sizeof *in);
    double area = 0, border = 0, ring_area = 0, ring_border = 0;
    for (uint32_t i = 0; i < reach.polygon_count; i++) {
        in[reach.polygons[i].polygon] = true;
        area += poly_mesh_area(m, reach.polygons[i].polygon);
    }
    for (uint32_t p = 0; p < m->poly_count; p++) {
        for (uint32_t k = 0; in[p] && k < poly_mesh_size(m, p); k++) {
            uint32_t next = m->neighbours[m->first[p] + k];
            const double *u = poly_mesh_corner(m, p, k), *v = poly_mesh_corner(m, p, k + 1);
            border += next == NAV_NONE || !in[next] ? hypot(v[0] - u[0], v[2] - u[2]) : 0;
        }
    }
    bool twice = false;
    for (uint32_t i = 0; i < reach.ring_count; i++) {
        const nav_vec *p = reach.points + reach.rings[i].first;
        uint32_t count = reach.rings[i].count;
        ring_area += ring_area2(p, count) / 2;
        ring_border += ring_length(p, count);
        for (uint32_t k = 0; k < count; k++) {
            for (uint32_t n = k + 1; n < count; n++) {
                twice = twice || (p[k].x == p[n].x && p[k].y == p[n].y && p[k].z == p[n].z);
            }
        }
        a->rings++;
    }
    free(in);
    double slack = 1e-6 + 100 * a->s.rounding * (1 + border);
    if (fabs(reach.area - area) > slack || fabs(ring_area - area) > slack || fabs(ring_border - border) > slack ||
        twice) {
        print_error(
            "%s: (%.17g %.17g) limit %u most %g: %u polygons, %u rings, area %.12g and round it %.12g, want %.12g; "
            "length %.12g, want %.12g%s\n",
            scene_name(&a->s), from.x, from.z, options.limit, options.max_cost, reach.polygon_count, reach.ring_count,
            reach.area, ring_area, area, ring_border, border, twice ? "; a place twice" : "");
        fail();
    }
    a->asked++;
}

static void rings_run_round_the_polygons(void **state)
{
    (void)state;
    asker a = {.query = nav_query_create(NULL)};
    for (uint64_t seed = 0; seed < 400; seed++) {
        make_scene(&a, seed, (unsigned)(seed / 4 % SCENE_VARIANTS));
        for (int i = 0; i < 10; i++) {
            check_rings(&a);
        }
        scene_destroy(&a.s);
    }
    print_message("%d answers, %d rings\n", a.asked, a.rings);
    assert_true(a.asked > 2000 && a.rings > 4000);
    nav_query_destroy(a.query);
}

/// Polygons that lack some of each other's corners: rings have no seams.
static void check_outline(small_mesh *s, nav_vec from, uint32_t polygons, uint32_t rings, double area, double length)
{
    nav_reach_options options = nav_reach_options_default();
    options.outline = true;
    nav_reach reach;
    assert_int_equal(nav_query_reachable(s->query, s->nav, from, &options, &reach), NAV_OK);
    assert_int_equal(reach.polygon_count, polygons);
    double sum = 0, border = 0;
    for (uint32_t i = 0; i < reach.ring_count; i++) {
        sum += ring_area2(reach.points + reach.rings[i].first, reach.rings[i].count) / 2;
        border += ring_length(reach.points + reach.rings[i].first, reach.rings[i].count);
    }
    if (fabs(reach.area - area) > 1e-3 || fabs(sum - area) > 0.06 || fabs(border - length) > 0.03 ||
        reach.ring_count != rings) {
        fail_msg("%u rings, area %.9g and round it %.9g, length %.9g", reach.ring_count, reach.area, sum, border);
    }
}

static void sides_that_meet_in_part_are_no_outline(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 10, 0, 10, 0);
    small_mesh_quad(&s, 10, 20, 2, 4, 0);
    small_mesh_quad(&s, 10, 20, 6, 12, 0);
    small_mesh_quad(&s, 20, 22, 3, 9, 0);
    small_mesh_build(&s);
    // Round the four: 192 + ..., the hole between them, and nothing along the joints.
    check_outline(&s, (nav_vec){1, 0, 1}, 4, 2, 100 + 20 + 60 + 12,
                  10 + 10 + 2 + 10 + 1 + 2 + 6 + 2 + 3 + 10 + 2 + 10 + 2 * 12);
    small_mesh_finish(&s);
}

static void tiles_that_share_no_vertex_are_one(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    // Two tiles 5 mm apart, cut differently along their seam, and a little apart in height.
    const double z[2][4] = {{0, 4, 10, 10}, {0, 3, 7, 10}};
    for (int tile = 0; tile < 2; tile++) {
        double x0 = tile ? 10.005 : 0, x1 = tile ? 20 : 10, y = tile ? 0.1 : 0;
        for (int k = 0; k < 3; k++) {
            if (z[tile][k] == z[tile][k + 1]) {
                continue;
            }
            uint32_t corners[4] = {
                small_mesh_vertex(&s, x0, y, z[tile][k]), small_mesh_vertex(&s, x0, y, z[tile][k + 1]),
                small_mesh_vertex(&s, x1, y, z[tile][k + 1]), small_mesh_vertex(&s, x1, y, z[tile][k])};
            const uint32_t edges[2][4] = {{NAV_EDGE_ANY, NAV_EDGE_ANY, NAV_EDGE_SEAM, NAV_EDGE_ANY},
                                          {NAV_EDGE_SEAM, NAV_EDGE_ANY, NAV_EDGE_ANY, NAV_EDGE_ANY}};
            assert_int_equal(nav_soup_add_polygon(&s.soup, corners, 4, 0, 1, edges[tile]), NAV_OK);
        }
    }
    small_mesh_build(&s);
    check_outline(&s, (nav_vec){1, 0, 1}, 5, 1, 100 + 99.95, 60);
    small_mesh_finish(&s);
}

static void rings_are_split_where_they_touch(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    // Two rooms that touch in a point and hang together by a corridor round the other way.
    small_mesh_quad(&s, 0, 4, 0, 4, 0);
    small_mesh_quad(&s, 4, 8, 4, 8, 0);
    small_mesh_quad(&s, 8, 10, 4, 8, 0);
    small_mesh_quad(&s, 8, 10, -2, 4, 0);
    small_mesh_quad(&s, 0, 8, -2, 0, 0);
    small_mesh_build(&s);
    nav_reach_options options = nav_reach_options_default();
    options.outline = true;
    nav_reach reach;
    assert_int_equal(nav_query_reachable(s.query, s.nav, (nav_vec){1, 0, 1}, &options, &reach), NAV_OK);
    assert_int_equal(reach.polygon_count, 5);
    assert_int_equal(reach.ring_count, 2);
    double areas[2];
    for (int i = 0; i < 2; i++) {
        areas[i] = ring_area2(reach.points + reach.rings[i].first, reach.rings[i].count) / 2;
    }
    // The whole, and the yard between rooms and corridor. The rooms' common corner is on both.
    assert_true(fabs(fmax(areas[0], areas[1]) - 84) < 1e-9 && fabs(fmin(areas[0], areas[1]) + 16) < 1e-9);
    assert_true(reach.area == 68);
    small_mesh_finish(&s);
}

// ---- single cases ----------------------------------------------------------------------------------

static void costs_round_a_corner(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 4, 0, 4, 0);
    small_mesh_quad(&s, 4, 8, 0, 4, 0);
    small_mesh_quad(&s, 4, 8, 4, 8, 0);
    small_mesh_quad(&s, 4, 8, 8, 12, 0);
    small_mesh_quad(&s, 0, 4, 8, 12, 0);
    small_mesh_build(&s);
    nav_reach_options options = nav_reach_options_default();
    nav_reach reach;
    const nav_vec from = {1, 0, 1};
    assert_int_equal(nav_query_reachable(s.query, s.nav, from, &options, &reach), NAV_OK);
    const double want[5] = {0, 3, sqrt(18), sqrt(18) + 4, sqrt(18) + 4};
    assert_int_equal(reach.polygon_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(reach.polygons[i].polygon == i && fabs(reach.polygons[i].cost - want[i]) < 1e-12);
    }
    assert_true(reach.area == 80);
    options.max_cost = 4;
    assert_int_equal(nav_query_reachable(s.query, s.nav, from, &options, &reach), NAV_OK);
    assert_true(reach.status == NAV_REACH_FOUND && reach.polygon_count == 2 && reach.area == 32);
    options.max_cost = 3;
    options.limit = 1;
    assert_int_equal(nav_query_reachable(s.query, s.nav, from, &options, &reach), NAV_OK);
    assert_true(reach.status == NAV_REACH_LIMIT && reach.polygon_count == 1 && reach.polygons[0].polygon == 0);
    options.limit = 2;
    assert_int_equal(nav_query_reachable(s.query, s.nav, from, &options, &reach), NAV_OK);
    assert_true(reach.status == NAV_REACH_FOUND && reach.polygon_count == 2);
    assert_int_equal(nav_query_reachable(s.query, s.nav, (nav_vec){50, 0, 1}, &options, &reach), NAV_OK);
    assert_true(reach.status == NAV_REACH_OFF_MESH && reach.polygon_count == 0);
    options.max_cost = -1;
    assert_int_equal(nav_query_reachable(s.query, s.nav, from, &options, &reach), NAV_BAD_ARGUMENT);
    small_mesh_finish(&s);
}

/// All areas at one cost: the same ways, that much dearer.
static void one_cost_for_all_is_a_unit(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 4, 0, 4, 0);
    small_mesh_quad(&s, 4, 8, 0, 4, 0);
    small_mesh_build(&s);
    double costs[256];
    for (int i = 0; i < 256; i++) {
        costs[i] = i ? 1 : 2.5;
    }
    nav_reach_options options = nav_reach_options_default();
    options.snap.filter.area_costs = costs;
    options.max_cost = 7.5;
    nav_reach reach;
    assert_int_equal(nav_query_reachable(s.query, s.nav, (nav_vec){1, 0, 1}, &options, &reach), NAV_OK);
    assert_true(reach.polygon_count == 2 && fabs(reach.polygons[1].cost - 7.5) < 1e-12);
    options.max_cost = 7.4;
    assert_int_equal(nav_query_reachable(s.query, s.nav, (nav_vec){1, 0, 1}, &options, &reach), NAV_OK);
    assert_true(reach.polygon_count == 1);
    small_mesh_finish(&s);
}

static void swamps_are_gone_round(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    // A swamp, z 0 to 10, with a dry bank on one side of it, and land behind.
    small_mesh_quad(&s, 0, 10, -10, 0, 0);
    small_mesh_quad(&s, 0, 10, 0, 10, 0);
    small_mesh_quad(&s, 10, 12, 0, 10, 0);
    small_mesh_quad(&s, 0, 12, 10, 20, 0);
    small_mesh_quad(&s, 10, 12, -10, 0, 0);
    s.soup.areas[1] = 1;
    s.soup.has_areas = true;
    small_mesh_build(&s);
    double costs[256] = {0};
    costs[0] = 1;
    costs[1] = 10;
    nav_reach_options options = nav_reach_options_default();
    options.snap.filter.area_costs = costs;
    nav_reach reach;
    assert_int_equal(nav_query_reachable(s.query, s.nav, (nav_vec){5, 0, -5}, &options, &reach), NAV_OK);
    assert_int_equal(reach.polygon_count, 5);
    // Behind: by the bank's corner, straight on along the swamp.
    double behind = cost_told(&reach, 3), best = sqrt(50) + 10;
    assert_true(behind >= best - 1e-9 && behind < best * 1.01);
    assert_true(fabs(cost_told(&reach, 1) - 5) < 1e-9);
    small_mesh_finish(&s);
}

/// Four rooms that meet in a point, two of them closed: the point is no way between the others, whatever they cost.
static void closed_rooms_leave_no_way_past_a_corner(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 4, 0, 4, 0);
    small_mesh_quad(&s, 4, 8, 0, 4, 0);
    small_mesh_quad(&s, 0, 4, 4, 8, 0);
    small_mesh_quad(&s, 4, 8, 4, 8, 0);
    s.soup.has_areas = s.soup.has_flags = true;
    s.soup.areas[3] = 1;
    s.soup.flags[1] = s.soup.flags[2] = 2;
    small_mesh_build(&s);
    double costs[256];
    for (int i = 0; i < 256; i++) {
        costs[i] = 1 + i;
    }
    nav_reach_options options = nav_reach_options_default();
    nav_reach reach;
    for (int weighted = 0; weighted < 2; weighted++) {
        options.snap.filter.area_costs = weighted ? costs : NULL;
        options.snap.filter.exclude = 0;
        assert_int_equal(nav_query_reachable(s.query, s.nav, (nav_vec){1, 0, 1}, &options, &reach), NAV_OK);
        assert_int_equal(reach.polygon_count, 4);
        options.snap.filter.exclude = 2;
        assert_int_equal(nav_query_reachable(s.query, s.nav, (nav_vec){1, 0, 1}, &options, &reach), NAV_OK);
        assert_int_equal(reach.polygon_count, 1);
    }
    small_mesh_finish(&s);
}

static void links_are_ridden(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 4, 0, 4, 0);
    small_mesh_quad(&s, 20, 24, 0, 4, 0);
    small_mesh_quad(&s, 24, 28, 0, 4, 0);
    nav_link link = {.id = "bridge", .start = {3, 0, 1}, .end = {21, 0, 1}, .radius = 0.5, .cost = 2, .flags = 1};
    assert_int_equal(nav_soup_add_link(&s.soup, &link), NAV_OK);
    small_mesh_build(&s);
    nav_reach_options options = nav_reach_options_default();
    nav_reach reach;
    assert_int_equal(nav_query_reachable(s.query, s.nav, (nav_vec){1, 0, 1}, &options, &reach), NAV_OK);
    assert_int_equal(reach.polygon_count, 3);
    assert_true(fabs(reach.polygons[1].cost - 4) < 1e-6 && fabs(reach.polygons[2].cost - 7) < 1e-6);
    // By sites, and with the cost of area 0 for walking only.
    double costs[256];
    for (int i = 0; i < 256; i++) {
        costs[i] = 3;
    }
    options.snap.filter.area_costs = costs;
    assert_int_equal(nav_query_reachable(s.query, s.nav, (nav_vec){1, 0, 1}, &options, &reach), NAV_OK);
    assert_true(reach.polygon_count == 3 && fabs(reach.polygons[1].cost - 8) < 1e-6 &&
                fabs(reach.polygons[2].cost - 17) < 1e-5);
    // It leads one way only.
    assert_int_equal(nav_query_reachable(s.query, s.nav, (nav_vec){25, 0, 1}, &options, &reach), NAV_OK);
    assert_int_equal(reach.polygon_count, 2);
    small_mesh_finish(&s);
}

static bool stop_at_once(void *ctx)
{
    ++*(int *)ctx;
    return true;
}

static void memory_and_interrupts(void **state)
{
    (void)state;
    scene s;
    assert_true(scene_make(&s, RANDOM_TRIANGLES, 77, SCENE_T_JUNCTIONS, NULL));
    nav_reach_options options = nav_reach_options_default();
    options.outline = true;
    nav_reach reach;
    double costs[256];
    for (int weighted = 0; weighted < 2; weighted++) {
        for (int i = 0; i < 256; i++) {
            costs[i] = 2;
        }
        options.snap.filter.area_costs = weighted ? costs : NULL;
        for (size_t refuse = 1; refuse < 40; refuse++) {
            test_alloc a;
            test_alloc_init(&a);
            a.refuse_from = refuse;
            nav_query *query = nav_query_create(&a.alloc);
            rng r = rng_seeded(3);
            for (int i = 0; query && i < 10; i++) {
                nav_vec p = random_point_position(&s.mesh, random_point(&s.mesh, &r));
                nav_status got = nav_query_reachable(query, s.nav, p, &options, &reach);
                assert_true(got == NAV_NO_MEMORY ||
                            (got == NAV_OK && reach.status == NAV_REACH_FOUND && reach.ring_count > 0));
            }
            a.refuse_from = 0;
            for (int round = 0; query && round < 2; round++) {
                a.calls = 0;
                rng again = rng_seeded(3);
                for (int i = 0; i < 20; i++) {
                    nav_vec p = random_point_position(&s.mesh, random_point(&s.mesh, &again));
                    assert_int_equal(nav_query_reachable(query, s.nav, p, &options, &reach), NAV_OK);
                }
                assert_true(round == 0 || a.calls == 0);
            }
            nav_query_destroy(query);
        }
    }
    scene_destroy(&s);
    int asked = 0;
    assert_true(scene_make(&s, RANDOM_BUILDING, 11, SCENE_NO_MERGE, NULL));
    nav_query *query = nav_query_create(NULL);
    nav_interrupt interrupt = {stop_at_once, &asked};
    nav_query_set_interrupt(query, &interrupt);
    rng r = rng_seeded(4);
    for (int i = 0; i < 50; i++) {
        nav_vec p = random_point_position(&s.mesh, random_point(&s.mesh, &r));
        int before = asked;
        nav_status got = nav_query_reachable(query, s.nav, p, &options, &reach);
        assert_int_equal(got, asked > before ? NAV_INTERRUPTED : NAV_OK);
    }
    print_message("%d of 50 were long enough to be stopped\n", asked);
    nav_query_destroy(query);
    scene_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_those_of_shortest_paths),
        cmocka_unit_test(weighted_costs_are_near_those_of_paths),
        cmocka_unit_test(rings_run_round_the_polygons),
        cmocka_unit_test(sides_that_meet_in_part_are_no_outline),
        cmocka_unit_test(tiles_that_share_no_vertex_are_one),
        cmocka_unit_test(rings_are_split_where_they_touch),
        cmocka_unit_test(costs_round_a_corner),
        cmocka_unit_test(one_cost_for_all_is_a_unit),
        cmocka_unit_test(swamps_are_gone_round),
        cmocka_unit_test(closed_rooms_leave_no_way_past_a_corner),
        cmocka_unit_test(links_are_ridden),
        cmocka_unit_test(memory_and_interrupts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
