/// What must hold of paths whatever the mesh: the metric's laws, independence of how the surface is cut into
/// polygons, limits, filters, and that a query which has grown to its work asks for no more memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene.h"

#include <math.h>
#include <stdlib.h>

#define EXPECT(scene, condition, what, got, want)                                                                   \
    do {                                                                                                            \
        if (!(condition)) {                                                                                         \
            print_error("%s: %s: %.17g, expected %.17g\n", scene_name(scene), what, (double)(got), (double)(want)); \
            fail();                                                                                                 \
        }                                                                                                           \
    } while (0)

static nav_query *query_of(void **state)
{
    return *state;
}

static nav_path find(nav_query *query, const scene *s, nav_vec from, nav_vec to, const nav_path_options *options)
{
    nav_path_options defaults = nav_path_options_default();
    nav_path path;
    assert_int_equal(nav_query_path(query, s->nav, from, to, options ? options : &defaults, &path), NAV_OK);
    return path;
}

/// Ground length; INFINITY where there is no way.
static double span(nav_query *query, const scene *s, nav_vec from, nav_vec to)
{
    nav_path path = find(query, s, from, to, NULL);
    return path.status == NAV_PATH_COMPLETE ? ground_length(&path) : INFINITY;
}

static nav_vec position(const scene *s, rng *r)
{
    return random_point_position(&s->mesh, random_point(&s->mesh, r));
}

static bool same(double a, double b, double slack)
{
    return a == b || fabs(a - b) <= slack + 1e-9 * fabs(a);
}

/// Calls `check` on scenes of every kind and variant.
static void on_scenes(void **state, uint64_t seeds, void (*check)(nav_query *, const scene *, rng *))
{
    for (uint64_t seed = 0; seed < seeds; seed++) {
        scene s;
        // 7 is prime to the number of kinds: in time each kind meets each variant.
        unsigned variant = (unsigned)(seed * 7 / RANDOM_KIND_COUNT % SCENE_VARIANTS) & ~(unsigned)SCENE_FLAGS;
        assert_true(scene_make(&s, (random_kind)(seed % RANDOM_KIND_COUNT), 50000 + seed, variant, NULL));
        rng r = rng_seeded(seed);
        check(query_of(state), &s, &r);
        scene_destroy(&s);
    }
}

static void check_metric(nav_query *query, const scene *s, rng *r)
{
    oracle *o = oracle_create(&s->mesh, NULL, 4 * s->rounding);
    double slack = 8 * s->rounding + 1e-9;
    for (int i = 0; i < 8; i++) {
        oracle_point middle = random_point(&s->mesh, r);
        nav_vec a = position(s, r), b = random_point_position(&s->mesh, middle), c = position(s, r);
        double ab = span(query, s, a, b), bc = span(query, s, b, c), ac = span(query, s, a, c);
        EXPECT(s, same(ab, span(query, s, b, a), slack), "there and back", ab, span(query, s, b, a));
        EXPECT(s, ab >= hypot(a.x - b.x, a.z - b.z) - slack, "straight line", ab, hypot(a.x - b.x, a.z - b.z));
        // At a vertex where obstacles touch, b may lie in one sector for a and in another for c.
        if (!oracle_ambiguous(o, middle)) {
            EXPECT(s, ab + bc >= ac * (1 - 1e-9) - slack, "triangle inequality", ab + bc, ac);
        }
        EXPECT(s, span(query, s, a, a) == 0, "from a point to itself", span(query, s, a, a), 0);
    }
    oracle_destroy(o);
}

static void lengths_are_a_metric(void **state)
{
    on_scenes(state, 240, check_metric);
}

static void check_standing(nav_query *query, const scene *s, rng *r)
{
    nav_vec a = position(s, r);
    nav_path path = find(query, s, a, a, NULL);
    EXPECT(s, path.status == NAV_PATH_COMPLETE, "status", path.status, NAV_PATH_COMPLETE);
    EXPECT(s, path.point_count == 1, "points", path.point_count, 1);
    EXPECT(s, path.length == 0 && path.cost == 0 && path.remaining == 0, "length", path.length, 0);
}

static void standing_still_is_one_point(void **state)
{
    on_scenes(state, 120, check_standing);
}

/// Both parts of a shortest path are shortest themselves.
static void check_parts(nav_query *query, const scene *s, rng *r)
{
    oracle *o = oracle_create(&s->mesh, NULL, 4 * s->rounding);
    double slack = 8 * s->rounding + 1e-9;
    for (int i = 0; i < 8; i++) {
        nav_vec a = position(s, r), b = position(s, r);
        nav_path path = find(query, s, a, b, NULL);
        if (path.status != NAV_PATH_COMPLETE || path.point_count < 3) {
            continue;
        }
        double whole = ground_length(&path), before = 0;
        uint32_t at = 1 + rng_below(r, path.point_count - 2);
        for (uint32_t k = 0; k < at; k++) {
            before += hypot(path.points[k + 1].x - path.points[k].x, path.points[k + 1].z - path.points[k].z);
        }
        nav_vec bend = path.points[at];
        double first = span(query, s, a, bend), second = span(query, s, bend, b);
        EXPECT(s, first <= before + slack, "first part", first, before);
        EXPECT(s, second <= whole - before + slack, "second part", second, whole - before);
        bool pinched = false;
        for (uint32_t p = 0; p < s->mesh.poly_count; p++) {
            pinched |= poly_mesh_holds(&s->mesh, p, bend.x, bend.z, slack) &&
                       oracle_ambiguous(o, (oracle_point){bend.x, bend.z, p});
        }
        if (!pinched) {
            EXPECT(s, first + second >= whole - slack - 1e-9 * whole, "both parts", first + second, whole);
        }
    }
    oracle_destroy(o);
}

static void parts_of_a_shortest_path_are_shortest(void **state)
{
    on_scenes(state, 240, check_parts);
}

/// The same surface, cut into search cells, wound and numbered another way.
static void cutting_the_surface_changes_nothing(void **state)
{
    static const unsigned changes[] = {SCENE_NO_MERGE, SCENE_SHUFFLE, SCENE_T_JUNCTIONS};
    for (uint64_t seed = 0; seed < 240; seed++) {
        random_kind kind = (random_kind)(seed % RANDOM_KIND_COUNT);
        scene one, other;
        assert_true(scene_make(&one, kind, 60000 + seed, 0, NULL));
        assert_true(scene_make(&other, kind, 60000 + seed, changes[seed / RANDOM_KIND_COUNT % 3], NULL));
        rng r = rng_seeded(seed);
        for (int i = 0; i < 10; i++) {
            nav_vec a = position(&one, &r), b = position(&one, &r);
            double first = span(query_of(state), &one, a, b), second = span(query_of(state), &other, a, b);
            EXPECT(&other, same(first, second, 1e-9), "length on the changed mesh", second, first);
        }
        scene_destroy(&one);
        scene_destroy(&other);
    }
}

static void answers_repeat_exactly(void **state)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        scene s;
        assert_true(scene_make(&s, (random_kind)(seed % RANDOM_KIND_COUNT), 70000 + seed, 0, NULL));
        nav_query *fresh = nav_query_create(NULL);
        assert_non_null(fresh);
        rng r = rng_seeded(seed);
        for (int i = 0; i < 10; i++) {
            nav_vec a = position(&s, &r), b = position(&s, &r);
            nav_path used = find(query_of(state), &s, a, b, NULL), first = find(fresh, &s, a, b, NULL);
            assert_int_equal(used.point_count, first.point_count);
            assert_memory_equal(used.points, first.points, used.point_count * sizeof *used.points);
            assert_true(used.length == first.length && used.nodes == first.nodes);
        }
        nav_query_destroy(fresh);
        scene_destroy(&s);
    }
}

// --- Limits ---

static void check_node_limit(nav_query *query, const scene *s, rng *r)
{
    nav_path_options options = nav_path_options_default();
    for (int i = 0; i < 8; i++) {
        nav_vec a = position(s, r), b = position(s, r);
        nav_path whole = find(query, s, a, b, NULL);
        uint32_t needed = whole.nodes;
        nav_path_status status = whole.status;
        double length = whole.length;
        options.max_nodes = needed + 1;
        nav_path enough = find(query, s, a, b, &options);
        EXPECT(s, enough.status == status && enough.length == length, "status with nodes enough", enough.status,
               status);
        if (needed < 2) {
            continue;
        }
        options.max_nodes = 1 + rng_below(r, needed - 1);
        nav_path cut = find(query, s, a, b, &options);
        EXPECT(s, cut.status == NAV_PATH_LIMIT, "status past the limit", cut.status, NAV_PATH_LIMIT);
        EXPECT(s, cut.nodes <= options.max_nodes, "nodes", cut.nodes, options.max_nodes);
        EXPECT(s, cut.point_count >= 1, "points of the partial path", cut.point_count, 1);
        nav_vec end = cut.points[cut.point_count - 1];
        double left = hypot(hypot(end.x - cut.end.point.x, end.z - cut.end.point.z), end.y - cut.end.point.y);
        EXPECT(s, same(cut.remaining, left, 1e-9), "remaining", cut.remaining, left);
        // It is a path: no shorter than the shortest way to where it ends.
        double there = ground_length(&cut);
        EXPECT(s, span(query, s, a, end) <= there + 8 * s->rounding + 1e-6 * (1 + there), "partial length", there,
               span(query, s, a, end));
    }
}

static void node_limits_give_partial_paths(void **state)
{
    on_scenes(state, 240, check_node_limit);
}

static void check_length_limit(nav_query *query, const scene *s, rng *r)
{
    nav_path_options options = nav_path_options_default();
    for (int i = 0; i < 8; i++) {
        nav_vec a = position(s, r), b = position(s, r);
        nav_path whole = find(query, s, a, b, NULL);
        if (whole.status != NAV_PATH_COMPLETE || whole.length == 0) {
            continue;
        }
        double length = whole.length;
        options.max_length = length * (1 + 1e-6);
        nav_path_status status = find(query, s, a, b, &options).status;
        EXPECT(s, status == NAV_PATH_COMPLETE, "status with length enough", status, NAV_PATH_COMPLETE);
        options.max_length = length * (0.1 + 0.8 * rng_unit(r));
        nav_path cut = find(query, s, a, b, &options);
        EXPECT(s, cut.status == NAV_PATH_LIMIT, "status past the limit", cut.status, NAV_PATH_LIMIT);
        // The last step ends on the surface, which a ramp's curve lifts over or under the step's straight line.
        double lift = s->kind == RANDOM_SPIRAL ? 1.5 : 0;
        EXPECT(s, cut.length <= options.max_length * (1 + 1e-6) + s->rounding + lift, "length", cut.length,
               options.max_length);
    }
}

static void length_limits_give_partial_paths(void **state)
{
    on_scenes(state, 240, check_length_limit);
}

// --- Off the mesh, and unreachable ---

static void check_off_mesh(nav_query *query, const scene *s, rng *r)
{
    nav_vec on = position(s, r), off = {s->mesh.vertices[0] + 1e7, 0, 0};
    nav_path path = find(query, s, off, on, NULL);
    EXPECT(s, path.status == NAV_PATH_START_OFF_MESH && path.start.polygon == NAV_NONE, "status", path.status,
           NAV_PATH_START_OFF_MESH);
    EXPECT(s, path.point_count == 0, "points", path.point_count, 0);
    path = find(query, s, on, off, NULL);
    EXPECT(s, path.status == NAV_PATH_END_OFF_MESH && path.end.polygon == NAV_NONE, "status", path.status,
           NAV_PATH_END_OFF_MESH);
    EXPECT(s, path.point_count == 0, "points", path.point_count, 0);
}

static void off_mesh_ends_are_told_apart(void **state)
{
    on_scenes(state, 120, check_off_mesh);
}

static void check_unreachable(nav_query *query, const scene *s, rng *r)
{
    nav_path_options options = nav_path_options_default();
    options.no_partial = true;
    for (int i = 0; i < 8; i++) {
        nav_vec a = position(s, r), b = position(s, r);
        bool reachable = isfinite(span(query, s, a, b));
        nav_path path = find(query, s, a, b, &options);
        EXPECT(s, path.status == (reachable ? NAV_PATH_COMPLETE : NAV_PATH_UNREACHABLE), "status", path.status,
               reachable);
        EXPECT(s, reachable || path.point_count == 0, "points", path.point_count, 0);
    }
}

static void unreachable_has_no_points_when_partial_is_not_wanted(void **state)
{
    on_scenes(state, 120, check_unreachable);
}

// --- Corridors and surface points ---

static void check_corridor(nav_query *query, const scene *s, rng *r)
{
    nav_path_options options = nav_path_options_default();
    options.corridor = options.surface = true;
    const poly_mesh *m = &s->mesh;
    double slack = 8 * s->rounding + 1e-9;
    for (int i = 0; i < 8; i++) {
        nav_vec a = position(s, r), b = position(s, r);
        nav_path plain = find(query, s, a, b, NULL);
        double ground = ground_length(&plain);
        nav_path path = find(query, s, a, b, &options);
        EXPECT(s, same(ground_length(&path), ground, slack), "ground length with surface points", ground_length(&path),
               ground);
        EXPECT(s, path.polygon_count > 0 && path.polygons[0] < m->poly_count, "corridor", path.polygon_count, 1);
        for (uint32_t k = 0; k + 1 < path.polygon_count; k++) {
            EXPECT(s, path.polygons[k] != path.polygons[k + 1], "corridor repeats", k, 0);
        }
        // The middle of each step lies on a polygon of the corridor, at its height.
        for (uint32_t k = 0; k + 1 < path.point_count; k++) {
            nav_vec p = path.points[k], q = path.points[k + 1];
            double x = (p.x + q.x) / 2, y = (p.y + q.y) / 2, z = (p.z + q.z) / 2, best = INFINITY;
            for (uint32_t n = 0; n < path.polygon_count; n++) {
                uint32_t polygon = path.polygons[n];
                if (poly_mesh_holds(m, polygon, x, z, 2 * slack)) {
                    best = fmin(best, fabs(poly_mesh_height(m, polygon, x, z) - y));
                }
            }
            EXPECT(s, best <= (s->kind == RANDOM_SPIRAL ? 1.5 : 1e-6 + 2 * slack), "step off its corridor", best, 0);
        }
    }
}

static void corridors_hold_the_path(void **state)
{
    on_scenes(state, 160, check_corridor);
}

// --- Memory ---

typedef struct counter {
    size_t calls;
} counter;

static void *counted_resize(void *ctx, void *p, size_t bytes)
{
    counter *c = ctx;
    c->calls++;
    if (bytes == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, bytes);
}

static void ask_everything(nav_query *query, const scene *s, rng *r, int times)
{
    nav_path_options options = nav_path_options_default();
    for (int i = 0; i < times; i++) {
        nav_vec a = position(s, r), b = position(s, r);
        options.corridor = options.surface = i % 2 != 0;
        options.snap.filter.exclude = i % 3 ? 0 : 1u << (i % 9 / 3);
        nav_path path = find(query, s, a, b, &options);
        assert_true(path.status <= NAV_PATH_LIMIT);
        nav_place place;
        nav_ray ray;
        nav_query_nearest(query, s->nav, a, &options.snap, &place);
        nav_query_height(query, s->nav, b, &options.snap, &place);
        assert_int_equal(nav_query_raycast(query, s->nav, a, b, &options.snap, i % 2 != 0, &ray), NAV_OK);
    }
}

static void steady_state_allocates_nothing(void **state)
{
    (void)state;
    for (int kind = 0; kind < RANDOM_KIND_COUNT; kind++) {
        counter c = {0};
        nav_alloc alloc = {counted_resize, &c};
        scene s;
        assert_true(scene_make(&s, (random_kind)kind, 80000, SCENE_FLAGS, NULL));
        nav_query *query = nav_query_create(&alloc);
        assert_non_null(query);
        rng r = rng_seeded(1);
        ask_everything(query, &s, &r, 1000);
        assert_true(c.calls > 0);
        size_t before = c.calls;
        r = rng_seeded(1); // the same again: nothing may need more room than it did
        ask_everything(query, &s, &r, 1000);
        assert_int_equal(c.calls, before);
        nav_query_destroy(query);
        scene_destroy(&s);
    }
}

/// An allocator that refuses its nth call: no crash, no leak, a status that says so, and the next query is right.
typedef struct failing {
    size_t left;
} failing;

static void *failing_resize(void *ctx, void *p, size_t bytes)
{
    failing *f = ctx;
    if (bytes == 0) {
        free(p);
        return NULL;
    }
    if (f->left == 0) {
        return NULL;
    }
    f->left--;
    return realloc(p, bytes);
}

static void running_out_of_memory_is_answered(void **state)
{
    (void)state;
    scene s;
    assert_true(scene_make(&s, RANDOM_BUILDING, 80001, 0, NULL));
    nav_path_options options = nav_path_options_default();
    options.corridor = options.surface = true;
    size_t refused = 0;
    for (size_t n = 0; n < 60; n++) {
        failing f = {n};
        nav_alloc alloc = {failing_resize, &f};
        nav_query *query = nav_query_create(&alloc);
        if (!query) {
            refused++;
            continue;
        }
        rng r = rng_seeded(n);
        nav_vec a = position(&s, &r), b = position(&s, &r);
        nav_path path;
        nav_status status = nav_query_path(query, s.nav, a, b, &options, &path);
        assert_true(status == NAV_OK || status == NAV_NO_MEMORY);
        refused += status == NAV_NO_MEMORY;
        f.left = SIZE_MAX;
        assert_int_equal(nav_query_path(query, s.nav, a, b, &options, &path), NAV_OK);
        double after = ground_length(&path);
        nav_query *fresh = nav_query_create(NULL);
        assert_non_null(fresh);
        assert_int_equal(nav_query_path(fresh, s.nav, a, b, &options, &path), NAV_OK);
        assert_true(ground_length(&path) == after);
        nav_query_destroy(fresh);
        nav_query_destroy(query);
    }
    assert_true(refused > 1);
    scene_destroy(&s);
}

static bool stop_at_once(void *ctx)
{
    ++*(int *)ctx;
    return true;
}

static void an_interrupt_stops_the_search_or_is_never_asked(void **state)
{
    (void)state;
    nav_query *query = nav_query_create(NULL);
    assert_non_null(query);
    int asked = 0, stopped = 0;
    nav_interrupt interrupt = {stop_at_once, &asked};
    nav_query_set_interrupt(query, &interrupt);
    for (uint64_t seed = 0; seed < 20; seed++) {
        scene s;
        assert_true(scene_make(&s, RANDOM_BUILDING, seed, SCENE_NO_MERGE, NULL));
        rng r = rng_seeded(seed);
        for (int i = 0; i < 20; i++) {
            nav_path_options options = nav_path_options_default();
            nav_path path;
            int before = asked;
            nav_status status = nav_query_path(query, s.nav, position(&s, &r), position(&s, &r), &options, &path);
            assert_int_equal(status, asked > before ? NAV_INTERRUPTED : NAV_OK);
            stopped += status == NAV_INTERRUPTED;
        }
        scene_destroy(&s);
    }
    print_message("%d of 400 searches were long enough to be stopped\n", stopped);
    nav_query_destroy(query);
}

static int make_query(void **state)
{
    *state = nav_query_create(NULL);
    return *state ? 0 : -1;
}

static int drop_query(void **state)
{
    nav_query_destroy(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_a_metric),
        cmocka_unit_test(standing_still_is_one_point),
        cmocka_unit_test(parts_of_a_shortest_path_are_shortest),
        cmocka_unit_test(cutting_the_surface_changes_nothing),
        cmocka_unit_test(answers_repeat_exactly),
        cmocka_unit_test(node_limits_give_partial_paths),
        cmocka_unit_test(length_limits_give_partial_paths),
        cmocka_unit_test(off_mesh_ends_are_told_apart),
        cmocka_unit_test(unreachable_has_no_points_when_partial_is_not_wanted),
        cmocka_unit_test(corridors_hold_the_path),
        cmocka_unit_test(steady_state_allocates_nothing),
        cmocka_unit_test(running_out_of_memory_is_answered),
        cmocka_unit_test(an_interrupt_stops_the_search_or_is_never_asked),
    };
    return cmocka_run_group_tests(tests, make_query, drop_query);
}
