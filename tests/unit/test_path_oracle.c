/// The path search against the brute-force oracle: thousands of random meshes of every kind, several
/// floors, T-junctions, filters, coordinates that 32-bit floats do not hold. Each answer's length is the
/// shortest there is, and each answer can be walked.
///
/// NAVD_TEST_ROUNDS multiplies the number of meshes (default 1).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 8 };

/// One pair on one scene, and everything needed to judge the answer.
typedef struct trial {
    const scene *scene;
    oracle *oracle;
    const bool *open; ///< [poly_count]; NULL: all
    oracle_point from, to;
    const nav_path *path;
    double slack; ///< how far lengths and positions may be off
} trial;

static void complain(const trial *t, const char *what, double got, double want)
{
    print_error("%s: (%.17g, %.17g) on %u to (%.17g, %.17g) on %u: %s: %.17g, oracle %.17g\n", scene_name(t->scene),
                t->from.x, t->from.z, t->from.polygon, t->to.x, t->to.z, t->to.polygon, what, got, want);
    fail();
}

#define EXPECT(condition, what, got, want)          \
    do {                                            \
        if (!(condition)) {                         \
            complain(t, what, (double)(got), want); \
        }                                           \
    } while (0)

static double apart(nav_vec a, nav_vec b)
{
    return hypot(hypot(a.x - b.x, a.z - b.z), a.y - b.y);
}

/// Fans of a spiral's quadrangles are not flat, and navcore may cut them along the other diagonal.
static double lift_of(const trial *t)
{
    return t->scene->kind == RANDOM_SPIRAL ? 1.5 : 1e-6 + t->slack;
}

/// How far snapping has moved a position that lies on the mesh.
static double moved(const trial *t, nav_vec snapped, oracle_point asked)
{
    nav_vec p = random_point_position(&t->scene->mesh, asked);
    return fmax(hypot(snapped.x - p.x, snapped.z - p.z), fabs(snapped.y - p.y) - lift_of(t));
}

/// A polygon that holds the point on its floor; NAV_NONE beside the surface.
static uint32_t polygon_under(const trial *t, nav_vec p, double lift)
{
    const poly_mesh *m = &t->scene->mesh;
    for (uint32_t i = 0; i < m->poly_count; i++) {
        if ((!t->open || t->open[i]) && poly_mesh_holds(m, i, p.x, p.z, t->slack) &&
            fabs(poly_mesh_height(m, i, p.x, p.z) - p.y) <= lift) {
            return i;
        }
    }
    return NAV_NONE;
}

/// What holds for every answer with points: its ends, no doubled points, every point on the surface, every
/// leg over shared edges.
static void check_points(const trial *t)
{
    const nav_path *path = t->path;
    uint32_t n = path->point_count;
    EXPECT(n >= 1, "points", n, 1);
    EXPECT(apart(path->points[0], path->start.point) == 0, "first point apart from start",
           apart(path->points[0], path->start.point), 0);
    EXPECT(moved(t, path->start.point, t->from) <= t->slack, "start moved", moved(t, path->start.point, t->from), 0);
    EXPECT(fabs(path->length - space_length(path)) <= 1e-9 * (1 + path->length), "length", path->length,
           space_length(path));
    EXPECT(path->cost == path->length, "cost", path->cost, path->length);
    double *xz = poly_mesh_resize(NULL, 2 * (size_t)n, sizeof *xz);
    for (uint32_t i = 0; i < n; i++) {
        nav_vec p = path->points[i];
        xz[2 * i] = p.x;
        xz[2 * i + 1] = p.z;
        EXPECT(i == 0 || apart(p, path->points[i - 1]) > 0, "doubled point", i, n);
        EXPECT(polygon_under(t, p, lift_of(t)) != NAV_NONE, "point off the surface", i, n);
    }
    uint32_t last = polygon_under(t, path->points[n - 1], lift_of(t));
    EXPECT(oracle_walkable(t->oracle, xz, n, t->from.polygon, last, t->slack), "cannot be walked", n, 0);
    free(xz);
}

static void check_complete(const trial *t, double want)
{
    const nav_path *path = t->path;
    nav_vec end = path->points[path->point_count - 1];
    EXPECT(apart(end, path->end.point) == 0, "last point apart from end", apart(end, path->end.point), 0);
    EXPECT(moved(t, path->end.point, t->to) <= t->slack, "end moved", moved(t, path->end.point, t->to), 0);
    EXPECT(path->remaining == 0, "remaining", path->remaining, 0);
    double got = ground_length(path);
    EXPECT(fabs(got - want) <= t->slack + 1e-9 * want, "ground length", got, want);
}

/// The reachable point nearest to the goal, by looking at every polygon.
static void check_partial(const trial *t)
{
    const poly_mesh *m = &t->scene->mesh;
    const nav_path *path = t->path;
    double best = INFINITY;
    for (uint32_t p = 0; p < m->poly_count; p++) {
        double centre[3] = {0}, at[3];
        for (uint32_t k = 0; k < poly_mesh_size(m, p); k++) {
            centre[0] += poly_mesh_corner(m, p, k)[0] / poly_mesh_size(m, p);
            centre[2] += poly_mesh_corner(m, p, k)[2] / poly_mesh_size(m, p);
        }
        if ((!t->open || t->open[p]) && oracle_connected(t->oracle, t->from, (oracle_point){centre[0], centre[2], p})) {
            nav_vec goal = path->end.point;
            poly_mesh_closest(m, p, goal.x, goal.z, at);
            best = fmin(best, apart(goal, (nav_vec){at[0], at[1], at[2]}));
        }
    }
    nav_vec end = path->points[path->point_count - 1];
    EXPECT(fabs(path->remaining - apart(end, path->end.point)) <= 1e-9 * (1 + best), "remaining", path->remaining,
           apart(end, path->end.point));
    EXPECT(fabs(path->remaining - best) <= t->slack + lift_of(t), "nearest reachable point", path->remaining, best);
    oracle_point reached = {end.x, end.z, polygon_under(t, end, lift_of(t))};
    // A few steps of a 32-bit float beside the outline, the oracle would see a gap: it is asked inside.
    double want = oracle_distance(t->oracle, t->from, reached);
    if (isfinite(want)) {
        EXPECT(fabs(ground_length(path) - want) <= 2 * t->slack + 1e-6 * (1 + want), "partial ground length",
               ground_length(path), want);
    }
}

static void run_pair(const trial *pair, nav_query *query, const nav_path_options *options)
{
    nav_path path;
    trial with_path = *pair, *t = &with_path;
    t->path = &path;
    nav_status status = nav_query_path(query, t->scene->nav, random_point_position(&t->scene->mesh, t->from),
                                       random_point_position(&t->scene->mesh, t->to), options, &path);
    EXPECT(status == NAV_OK, "call failed", status, NAV_OK);
    double want = oracle_distance(t->oracle, t->from, t->to);
    EXPECT(path.status == (isfinite(want) ? NAV_PATH_COMPLETE : NAV_PATH_PARTIAL), "status", path.status, want);
    check_points(t);
    if (isfinite(want)) {
        check_complete(t, want);
    } else {
        check_partial(t);
    }
}

/// A random point on a polygon that the filter leaves open.
static oracle_point open_point(const scene *s, const bool *open, rng *r)
{
    oracle_point p;
    do {
        p = random_point(&s->mesh, r);
    } while (!open[p.polygon]);
    return p;
}

static int run_scene(random_kind kind, uint64_t seed, unsigned variant, nav_query *query)
{
    scene s;
    assert_true(scene_make(&s, kind, seed, variant, NULL));
    rng r = rng_seeded(seed + 1000003);
    nav_path_options options = nav_path_options_default();
    bool *open = poly_mesh_resize(NULL, s.mesh.poly_count, sizeof *open), any = false;
    if (variant & SCENE_FLAGS) {
        options.snap.filter.exclude = 1u << rng_below(&r, 3);
    }
    for (uint32_t p = 0; p < s.mesh.poly_count; p++) {
        open[p] = !(s.mesh.has_flags && (s.mesh.flags[p] & options.snap.filter.exclude));
        any |= open[p];
    }
    double slack = s.rounding > 0 ? 4 * s.rounding : 0;
    trial t = {.scene = &s, .oracle = oracle_create(&s.mesh, open, slack), .open = open, .slack = fmax(slack, 1e-9)};
    int pairs = 0;
    for (; any && pairs < PAIRS; pairs++) {
        t.from = open_point(&s, open, &r);
        t.to = rng_chance(&r, 0.02) ? t.from : open_point(&s, open, &r);
        run_pair(&t, query, &options);
    }
    oracle_destroy(t.oracle);
    free(open);
    scene_destroy(&s);
    return pairs;
}

static void run(random_kind kind, uint64_t seeds)
{
    const char *rounds = getenv("NAVD_TEST_ROUNDS");
    seeds *= rounds ? strtoull(rounds, NULL, 10) : 1;
    nav_query *query = nav_query_create(NULL);
    assert_non_null(query);
    int pairs = 0;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        pairs += run_scene(kind, seed, (unsigned)(seed % SCENE_VARIANTS), query);
    }
    print_message("%llu meshes, %d pairs\n", (unsigned long long)seeds, pairs);
    nav_query_destroy(query);
}

static void triangles(void **state)
{
    (void)state;
    run(RANDOM_TRIANGLES, 1600);
}

static void grids(void **state)
{
    (void)state;
    run(RANDOM_GRID, 800);
}

static void spirals(void **state)
{
    (void)state;
    run(RANDOM_SPIRAL, 320);
}

static void buildings(void **state)
{
    (void)state;
    run(RANDOM_BUILDING, 320);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangles),
        cmocka_unit_test(grids),
        cmocka_unit_test(spirals),
        cmocka_unit_test(buildings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
