/// Cheapest paths on random meshes with area costs: near the brute-force optimum, walkable at the cost they
/// tell, never costlier than A* over edge middles with string pulling, and with the properties of a metric.
///
/// NAVD_TEST_ROUNDS multiplies the number of meshes (default 1).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "midpoint_path.h"
#include "oracle.h"
#include "scratch.h"
#include "weighted_scene.h"

#include <math.h>
#include <stdlib.h>

enum { PAIRS = 8 };

/// How far the answers of one test lie above what they are held against.
typedef struct excess {
    double sum, worst;
    uint32_t count;
} excess;

static void add_excess(excess *e, double cost, double best)
{
    double part = best > 0 ? fmax(cost / best - 1, 0) : 0;
    e->sum += part;
    e->worst = fmax(e->worst, part);
    e->count++;
}

static uint64_t rounds(uint64_t meshes)
{
    const char *times = getenv("NAVD_TEST_ROUNDS");
    return meshes * (times ? strtoull(times, NULL, 10) : 1);
}

#define EXPECT(s, condition, what, got, want)                                                               \
    do {                                                                                                    \
        if (!(condition)) {                                                                                 \
            print_error("%s: %s: %.17g, expected %.17g\n", (s)->name, what, (double)(got), (double)(want)); \
            fail();                                                                                         \
        }                                                                                                   \
    } while (0)

static nav_vec position(const weighted_scene *s, oracle_point p)
{
    return random_point_position(&s->mesh, p);
}

/// Cost of the way from one position to another, INFINITY where there is none.
static double ask(const weighted_scene *s, nav_query *query, oracle_point from, oracle_point to, nav__weighted *w)
{
    nav__search_result result;
    *w = (nav__weighted){.max_nodes = 0};
    if (!weighted_scene_ask(s, query, position(s, from), position(s, to), w, &result)) {
        return INFINITY;
    }
    if (result != NAV__FOUND) {
        assert_int_equal(result, NAV__EXHAUSTED);
        return INFINITY;
    }
    return w->cost;
}

/// The steps begin and end where they should, each leg is walkable, and what the legs cost by the polygons
/// under them is what was told. Flat meshes only.
static void check_steps(const weighted_scene *s, nav_query *query, oracle_point from, oracle_point to,
                        const nav__weighted *w)
{
    const nav__step *steps = query->steps.data;
    nav_vec o = s->nav->origin;
    double cost = 0, length = 0;
    assert_true(w->step_count > 0);
    const nav__step *last = &steps[w->step_count - 1];
    EXPECT(s, hypot(steps[0].p.x + o.x - from.x, steps[0].p.z + o.z - from.z) < 1e-4, "start", steps[0].p.x, from.x);
    EXPECT(s, hypot(last->p.x + o.x - to.x, last->p.z + o.z - to.z) < 1e-4, "goal", last->p.x, to.x);
    assert_int_equal(steps[0].cell, NAV_NONE);
    for (uint32_t i = 1; i < w->step_count; i++) {
        nav__p2 a = steps[i - 1].p, b = steps[i].p;
        assert_int_equal(steps[i].ride, NAV_NONE);
        assert_true(steps[i].cell < s->nav->cell_count);
        cost += weighted_oracle_leg(s->oracle, a.x + o.x, a.z + o.z, b.x + o.x, b.z + o.z, 1e-6);
        length += nav__dist(a, b);
        if (i > 1) {
            // A point between legs of one cost is a bend.
            double before = s->area_costs[s->nav->cells[steps[i - 1].cell].area];
            double after = s->area_costs[s->nav->cells[steps[i].cell].area];
            EXPECT(s, before != after || nav__orient(steps[i - 2].p, a, b) != 0, "needless step", a.x, a.z);
        }
    }
    EXPECT(s, fabs(cost - w->cost) <= 1e-5 * (1 + cost), "cost by the ground", cost, w->cost);
    EXPECT(s, fabs(length - w->length) <= 1e-9 * (1 + length), "length", length, w->length);
}

// --- Against brute force ---

/// What A* over edge middles with string pulling finds, and what it is worth.
typedef struct rival {
    excess by; ///< by how much we are above it
    excess of; ///< by how much it is above us
} rival;

static void compare(nav_query *query, const weighted_scene *s, rng *r, bool flat, excess *optimum, rival *usual)
{
    oracle_point from = random_point(&s->mesh, r);
    if (s->costs[from.polygon] == INFINITY) {
        return;
    }
    weighted_oracle_from(s->oracle, from);
    for (int i = 0; i < PAIRS; i++) {
        oracle_point to = random_point(&s->mesh, r);
        if (s->costs[to.polygon] == INFINITY) {
            continue;
        }
        nav__weighted w;
        double cost = ask(s, query, from, to, &w), best = weighted_oracle_cost(s->oracle, to);
        EXPECT(s, (cost < INFINITY) == (best < INFINITY), "is there a way", cost, best);
        if (cost == INFINITY) {
            continue;
        }
        add_excess(optimum, cost, best);
        if (flat) {
            check_steps(s, query, from, to, &w);
            double middles = midpoint_path_cost(&s->mesh, s->costs, s->oracle, from, to);
            if (middles < INFINITY) {
                add_excess(&usual->by, cost, middles);
                add_excess(&usual->of, middles, cost);
            }
        }
    }
}

static void is_near_the_optimum(void **state)
{
    static const char *const names[COSTS_COUNT] = {"0.1 to 20", "1 to 10", "all 1"};
    nav_query *query = *state;
    for (int costs = 0; costs < COSTS_COUNT; costs++) {
        excess optimum = {0};
        rival usual = {0};
        for (uint64_t seed = 0; seed < rounds(240); seed++) {
            weighted_scene s;
            random_kind kind = seed % 2 ? RANDOM_GRID : RANDOM_TRIANGLES;
            weighted_scene_random(&s, kind, (weighted_costs)costs, 70000 + seed, seed % 5 == 0, seed % 3 == 0, 32);
            rng r = rng_seeded(seed);
            compare(query, &s, &r, true, &optimum, &usual);
            weighted_scene_destroy(&s);
        }
        print_message("costs %s: %u pairs, above the optimum mean %.4f %%, worst %.2f %%; A* over edge middles "
                      "above ours mean %.1f %%, ours above it worst %.2f %%\n",
                      names[costs], optimum.count, 100 * optimum.sum / optimum.count, 100 * optimum.worst,
                      100 * usual.of.sum / usual.of.count, 100 * usual.by.worst);
        assert_true(optimum.count > 1000);
        assert_true(optimum.sum / optimum.count < 0.0002);
        assert_true(optimum.worst < 0.02);
        assert_true(usual.by.sum / usual.by.count < 1e-5);
        assert_true(usual.by.worst < 0.005);
    }
}

static void is_near_the_optimum_on_floors(void **state)
{
    nav_query *query = *state;
    excess optimum = {0};
    for (uint64_t seed = 0; seed < rounds(60); seed++) {
        weighted_scene s;
        random_kind kind = seed % 2 ? RANDOM_SPIRAL : RANDOM_BUILDING;
        weighted_scene_random(&s, kind, (weighted_costs)(seed % COSTS_COUNT), 75000 + seed, false, true, 24);
        rng r = rng_seeded(seed);
        compare(query, &s, &r, false, &optimum, NULL);
        weighted_scene_destroy(&s);
    }
    print_message("floors: %u pairs, above the optimum mean %.4f %%, worst %.2f %%\n", optimum.count,
                  100 * optimum.sum / optimum.count, 100 * optimum.worst);
    assert_true(optimum.sum / optimum.count < 0.001);
    assert_true(optimum.worst < 0.02);
}

// --- Properties ---

static void equal_costs_give_the_shortest_path(void **state)
{
    nav_query *query = *state;
    excess shortest = {0};
    for (uint64_t seed = 0; seed < rounds(100); seed++) {
        weighted_scene s;
        random_kind kind = seed % 2 ? RANDOM_GRID : RANDOM_TRIANGLES;
        weighted_scene_random(&s, kind, COSTS_EQUAL, 71000 + seed, false, false, 0);
        for (int a = 0; a < 256; a++) {
            s.area_costs[a] = 3;
        }
        oracle *o = oracle_create(&s.mesh, NULL, 0);
        rng r = rng_seeded(seed);
        for (int i = 0; i < PAIRS; i++) {
            oracle_point from = random_point(&s.mesh, &r), to = random_point(&s.mesh, &r);
            nav__weighted w;
            double cost = ask(&s, query, from, to, &w), length = oracle_distance(o, from, to);
            EXPECT(&s, (cost < INFINITY) == (length < INFINITY), "is there a way", cost, length);
            if (cost < INFINITY) {
                EXPECT(&s, cost >= 3 * length * (1 - 1e-6) - 1e-6, "shorter than possible", cost / 3, length);
                add_excess(&shortest, cost, 3 * length);
            }
        }
        oracle_destroy(o);
        weighted_scene_destroy(&s);
    }
    assert_true(shortest.sum / shortest.count < 0.0002);
    assert_true(shortest.worst < 0.02);
}

/// Four times the costs: the same way, to the last bit, at four times the cost. And the way back costs the same.
static void costs_scale_and_go_both_ways(void **state)
{
    nav_query *query = *state;
    excess back = {0};
    for (uint64_t seed = 0; seed < rounds(100); seed++) {
        weighted_scene s;
        weighted_scene_random(&s, seed % 2 ? RANDOM_GRID : RANDOM_TRIANGLES, COSTS_WILD, 72000 + seed, false, false, 0);
        rng r = rng_seeded(seed);
        for (int i = 0; i < PAIRS; i++) {
            oracle_point from = random_point(&s.mesh, &r), to = random_point(&s.mesh, &r);
            nav__weighted w;
            double cost = ask(&s, query, from, to, &w), other = ask(&s, query, to, from, &w);
            for (int a = 0; a < 256; a++) {
                s.area_costs[a] *= 4;
            }
            double scaled = ask(&s, query, from, to, &w);
            for (int a = 0; a < 256; a++) {
                s.area_costs[a] /= 4;
            }
            EXPECT(&s, scaled == 4 * cost, "four times the cost", scaled, 4 * cost);
            EXPECT(&s, (cost < INFINITY) == (other < INFINITY), "way back", other, cost);
            if (cost < INFINITY) {
                add_excess(&back, fmax(cost, other), fmin(cost, other));
            }
        }
        weighted_scene_destroy(&s);
    }
    assert_true(back.sum / back.count < 0.0005);
    assert_true(back.worst < 0.05);
}

/// No detour pays: a way through any third place costs at least as much. A place where obstacles touch is
/// none: one can come to it on one side and leave it on the other.
static void obeys_the_triangle_inequality(void **state)
{
    nav_query *query = *state;
    excess direct = {0};
    for (uint64_t seed = 0; seed < rounds(60); seed++) {
        weighted_scene s;
        weighted_scene_random(&s, seed % 2 ? RANDOM_GRID : RANDOM_TRIANGLES, COSTS_WILD, 73000 + seed, false, false, 0);
        oracle *o = oracle_create(&s.mesh, NULL, 0);
        rng r = rng_seeded(seed);
        for (int i = 0; i < PAIRS; i++) {
            oracle_point a = random_point(&s.mesh, &r), b = random_point(&s.mesh, &r), c = random_point(&s.mesh, &r);
            nav__weighted w;
            if (oracle_ambiguous(o, b)) {
                continue;
            }
            double through = ask(&s, query, a, b, &w) + ask(&s, query, b, c, &w);
            if (through < INFINITY) {
                add_excess(&direct, ask(&s, query, a, c, &w), through);
            }
        }
        oracle_destroy(o);
        weighted_scene_destroy(&s);
    }
    assert_true(direct.count > 100);
    assert_true(direct.worst < 0.02);
    assert_true(direct.sum / direct.count < 0.0005);
}

static int make_query(void **state)
{
    *state = nav_query_create(NULL);
    return *state ? 0 : -1;
}

static int destroy_query(void **state)
{
    nav_query_destroy(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_near_the_optimum),
        cmocka_unit_test(is_near_the_optimum_on_floors),
        cmocka_unit_test(equal_costs_give_the_shortest_path),
        cmocka_unit_test(costs_scale_and_go_both_ways),
        cmocka_unit_test(obeys_the_triangle_inequality),
    };
    return cmocka_run_group_tests(tests, make_query, destroy_query);
}
