/// Cheapest paths where the answer is known: mud and roads, links of every kind, limits, and what happens
/// when memory or patience ends.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scratch.h"
#include "weighted_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_rectangle(poly_mesh *mesh, double x0, double x1, double z0, double z1, uint8_t area)
{
    const double at[4][2] = {{x0, z0}, {x1, z0}, {x1, z1}, {x0, z1}};
    uint32_t corners[4];
    for (int i = 0; i < 4; i++) {
        uint32_t v = 0;
        while (v < mesh->vertex_count && (mesh->vertices[3 * v] != at[i][0] || mesh->vertices[3 * v + 2] != at[i][1])) {
            v++;
        }
        corners[i] = v < mesh->vertex_count ? v : poly_mesh_add_vertex(mesh, at[i][0], 0, at[i][1]);
    }
    uint32_t polygon = poly_mesh_add_polygon(mesh, corners, 4);
    mesh->areas[polygon] = area;
}

static nav_vec at(double x, double z)
{
    return (nav_vec){x, 0, z};
}

static nav__weighted find(const weighted_scene *s, nav_query *query, nav_vec from, nav_vec to)
{
    nav__weighted w = {.max_nodes = 0};
    nav__search_result result = NAV__STOPPED;
    assert_true(weighted_scene_ask(s, query, from, to, &w, &result));
    assert_int_equal(result, NAV__FOUND);
    return w;
}

static void expect_points(nav_query *query, const weighted_scene *s, const nav__weighted *w, const double (*points)[2],
                          uint32_t count)
{
    const nav__step *steps = query->steps.data;
    assert_int_equal(w->step_count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(fabs(steps[i].p.x + s->nav->origin.x - points[i][0]) < 1e-5);
        assert_true(fabs(steps[i].p.z + s->nav->origin.z - points[i][1]) < 1e-5);
    }
}

// --- Areas ---

/// A straight lane with mud (area 1) in the middle, and a longer way round it (area 2).
static void make_lane(weighted_scene *s, double mud, double round)
{
    poly_mesh mesh;
    poly_mesh_init(&mesh);
    add_rectangle(&mesh, 0, 1, 0, 1, 0);
    add_rectangle(&mesh, 1, 9, 0, 1, 1);
    add_rectangle(&mesh, 9, 10, 0, 1, 0);
    add_rectangle(&mesh, 0, 1, 1, 3, 2);
    add_rectangle(&mesh, 0, 1, 3, 4, 2);
    add_rectangle(&mesh, 1, 9, 3, 4, 2);
    add_rectangle(&mesh, 9, 10, 3, 4, 2);
    add_rectangle(&mesh, 9, 10, 1, 3, 2);
    poly_mesh_link(&mesh);
    double costs[256];
    for (int i = 0; i < 256; i++) {
        costs[i] = 1;
    }
    costs[1] = mud;
    costs[2] = round;
    nav_filter filter = {.include = UINT32_MAX, .area_costs = costs};
    weighted_scene_make(s, &mesh, NULL, 0, &filter, false, 0);
}

static void goes_round_mud_when_that_is_cheaper(void **state)
{
    static const double straight[2][2] = {{0.5, 0.5}, {9.5, 0.5}};
    static const double muddy[4][2] = {{0.5, 0.5}, {1, 0.5}, {9, 0.5}, {9.5, 0.5}};
    static const double round[4][2] = {{0.5, 0.5}, {1, 3}, {9, 3}, {9.5, 0.5}};
    static const struct {
        double mud, round, cost, slack;
        const double (*points)[2];
        uint32_t count;
    } cases[] = {
        {1, 1, 9, 1e-9, straight, 2},
        {1.2, 1, 10.6, 1e-9, muddy, 4},
        {10, 1, 13.099019513592785, 1e-9, round, 4}, // 8 and twice the root of 6.5
        // The round at a quarter: 12 units of it and two diagonals over the ends, or less by refraction.
        {1, 0.25, 4.414213562373095, 0, NULL, 0},
    };
    nav_query *query = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weighted_scene s;
        make_lane(&s, cases[i].mud, cases[i].round);
        nav__weighted w = find(&s, query, at(0.5, 0.5), at(9.5, 0.5));
        assert_true(w.cost <= cases[i].cost + cases[i].slack);
        if (cases[i].points) {
            assert_true(w.cost >= cases[i].cost - cases[i].slack);
            expect_points(query, &s, &w, cases[i].points, cases[i].count);
        }
        weighted_scene_destroy(&s);
    }
}

/// What was expanded is told in the search's order: places seen from roots that cost no more than the way found.
static void tells_what_it_expanded(void **state)
{
    nav_query *query = *state;
    weighted_scene s;
    make_lane(&s, 1.2, 1);
    double costs[256] = {[0] = 1, [1] = 1.2, [2] = 1};
    nav_path_options options = nav_path_options_default();
    options.snap.filter.area_costs = costs;
    options.explain = 5;
    nav_path path;
    assert_int_equal(nav_query_path(query, s.nav, at(0.5, 0.5), at(9.5, 0.5), &options, &path), NAV_OK);
    assert_true(path.nodes > 6);
    assert_int_equal(path.explained_count, 5);
    for (uint32_t i = 0; i < path.explained_count; i++) {
        const nav_explained *e = &path.explained[i];
        assert_true(e->g >= 0 && e->g <= path.cost);
        assert_true(e->left.x == e->right.x && e->left.z == e->right.z);
        assert_true(e->left.x >= 0 && e->left.x <= 10 && e->left.z >= 0 && e->left.z <= 4);
        assert_true(e->polygon < 8);
    }
    // The first is seen from the start.
    assert_true(path.explained[0].g == 0 && path.explained[0].root.x == 0.5 && path.explained[0].root.z == 0.5);
    weighted_scene_destroy(&s);
}

/// Round a vertex with a sliver beside it: the edges that the way crosses there lie close together.
static void passes_a_sliver_in_a_straight_line(void **state)
{
    static const double places[7][2] = {{0, 0}, {0, -7}, {8, -7}, {8, -1}, {-0.9, -7.3}, {-7, 0.9}, {-7, -9}};
    static const uint32_t polygons[3][4] = {{0, 3, 2, 1}, {0, 1, 4, UINT32_MAX}, {0, 4, 6, 5}};
    nav_query *query = *state;
    poly_mesh mesh;
    poly_mesh_init(&mesh);
    for (size_t i = 0; i < 7; i++) {
        poly_mesh_add_vertex(&mesh, places[i][0], 0, places[i][1]);
    }
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t polygon = poly_mesh_add_polygon(&mesh, polygons[i], i == 1 ? 3 : 4);
        mesh.areas[polygon] = (uint8_t)i; // not merged
    }
    poly_mesh_link(&mesh);
    double costs[256];
    for (int i = 0; i < 256; i++) {
        costs[i] = 1;
    }
    nav_filter filter = {.include = UINT32_MAX, .area_costs = costs};
    weighted_scene s;
    weighted_scene_make(&s, &mesh, NULL, 0, &filter, false, 0);
    nav_vec from = at(2.1, -0.3), to = at(-3, -0.21);
    nav__weighted w = find(&s, query, from, to);
    assert_true(fabs(w.cost - hypot(from.x - to.x, from.z - to.z)) < 1e-9);
    assert_int_equal(w.step_count, 2);
    weighted_scene_destroy(&s);
}

/// Two half planes: Snell's law holds where the way crosses from one to the other.
static void refracts_at_a_border(void **state)
{
    nav_query *query = *state;
    for (int i = 1; i <= 8; i++) {
        poly_mesh mesh;
        poly_mesh_init(&mesh);
        add_rectangle(&mesh, 0, 100, 0, 50, 0);
        add_rectangle(&mesh, 0, 100, 50, 100, 1);
        poly_mesh_link(&mesh);
        double costs[256] = {[0] = 1, [1] = i / 2.5};
        nav_filter filter = {.include = UINT32_MAX, .area_costs = costs};
        weighted_scene s;
        weighted_scene_make(&s, &mesh, NULL, 0, &filter, false, 0);
        nav__weighted w = find(&s, query, at(10, 10), at(80, 85));
        const nav__step *steps = query->steps.data;
        assert_int_equal(w.step_count, 3);
        nav__p2 a = nav__sub(steps[1].p, steps[0].p), b = nav__sub(steps[2].p, steps[1].p);
        double sine_a = a.x / sqrt(nav__dot(a, a)), sine_b = b.x / sqrt(nav__dot(b, b));
        assert_true(fabs(sine_a - costs[1] * sine_b) < 1e-6);
        weighted_scene_destroy(&s);
    }
}

/// From one place in mud to another: to the road beside it at the critical angle, along it, and back.
static void uses_a_road_beside_the_straight_line(void **state)
{
    nav_query *query = *state;
    poly_mesh mesh;
    poly_mesh_init(&mesh);
    add_rectangle(&mesh, 0, 100, 0, 10, 0);
    add_rectangle(&mesh, 0, 100, 10, 12, 1);
    poly_mesh_link(&mesh);
    double costs[256] = {[0] = 2, [1] = 1};
    nav_filter filter = {.include = UINT32_MAX, .area_costs = costs};
    weighted_scene s;
    weighted_scene_make(&s, &mesh, NULL, 0, &filter, false, 0);
    nav__weighted w = find(&s, query, at(10, 5), at(90, 7));
    // 80 along the road, and for each unit of distance to it the cosine of the critical angle times 2.
    assert_true(fabs(w.cost - (80 + (5 + 3) * 2 * sqrt(0.75))) < 1e-6);
    assert_int_equal(w.step_count, 4);
    weighted_scene_destroy(&s);
}

/// Corners are judged by the filter: where closed ground touches in a point nothing passes.
static void does_not_squeeze_between_closed_cells(void **state)
{
    nav_query *query = *state;
    poly_mesh mesh;
    poly_mesh_init(&mesh);
    add_rectangle(&mesh, 0, 10, 0, 10, 0);
    add_rectangle(&mesh, 10, 20, 0, 10, 0);
    add_rectangle(&mesh, 0, 10, 10, 20, 0);
    add_rectangle(&mesh, 10, 20, 10, 20, 0);
    mesh.has_flags = true;
    mesh.flags[0] = mesh.flags[3] = 1;
    mesh.flags[1] = mesh.flags[2] = 2;
    poly_mesh_link(&mesh);
    nav_filter filter = {.include = 1};
    weighted_scene s;
    weighted_scene_make(&s, &mesh, NULL, 0, &filter, false, 0);
    nav__weighted w = {.max_nodes = 0};
    nav__search_result result = NAV__FOUND;
    assert_true(weighted_scene_ask(&s, query, at(5, 5), at(15, 15), &w, &result));
    assert_int_equal(result, NAV__EXHAUSTED);
    weighted_scene_destroy(&s);
}

// --- Links ---

static nav_link make_link(double x0, double z0, double x1, double z1, double cost, bool both)
{
    return (nav_link){.start = {x0, 0, z0}, .end = {x1, 0, z1}, .radius = 0.1, .cost = cost, .bidirectional = both};
}

static void make_strips(weighted_scene *s, uint32_t strips, const nav_link *links, uint32_t count)
{
    poly_mesh mesh;
    poly_mesh_init(&mesh);
    for (uint32_t i = 0; i < strips; i++) {
        add_rectangle(&mesh, 0, 100, 10.0 * i, 10.0 * i + 2, 0);
    }
    poly_mesh_link(&mesh);
    nav_filter filter = {.include = UINT32_MAX};
    weighted_scene_make(s, &mesh, links, count, &filter, false, 0);
}

static void rides_what_is_cheaper_than_walking(void **state)
{
    nav_query *query = *state;
    // The first begins behind the start: the bound must not keep the search from walking back to it.
    nav_link links[] = {make_link(10, 1, 50, 1, 1, false), make_link(52, 1, 95, 1, 1, false)};
    weighted_scene s;
    make_strips(&s, 1, links, 2);
    nav__weighted w = find(&s, query, at(12, 1), at(99, 1));
    assert_true(fabs(w.cost - 10) < 1e-6);
    assert_true(fabs(w.length - (2 + 40 + 2 + 43 + 4)) < 1e-4);
    const nav__step *steps = query->steps.data;
    assert_int_equal(w.step_count, 6);
    uint32_t rides = 0;
    for (uint32_t i = 0; i < w.step_count; i++) {
        if (steps[i].ride != NAV_NONE) {
            assert_int_equal(steps[i].cell, NAV_NONE);
            assert_int_equal(s.nav->rides[steps[i].ride].link, rides);
            rides++;
        }
    }
    assert_int_equal(rides, 2);
    // Links of one way are not ridden back.
    w = find(&s, query, at(99, 1), at(12, 1));
    assert_true(fabs(w.cost - 87) < 1e-6);
    weighted_scene_destroy(&s);
    links[0].bidirectional = links[1].bidirectional = true;
    make_strips(&s, 1, links, 2);
    w = find(&s, query, at(99, 1), at(12, 1));
    assert_true(fabs(w.cost - 10) < 1e-6);
    weighted_scene_destroy(&s);
}

static void rides_from_island_to_island(void **state)
{
    nav_query *query = *state;
    // The second link has no cost of its own: its length counts.
    nav_link links[] = {make_link(90, 1, 90, 11, 5, false), make_link(20, 11, 20, 21, -1, true)};
    weighted_scene s;
    make_strips(&s, 3, links, 2);
    nav__weighted w = find(&s, query, at(80, 1), at(40, 21));
    assert_true(fabs(w.cost - (10 + 5 + 70 + 10 + 20)) < 1e-5);
    w = find(&s, query, at(40, 21), at(20, 11));
    assert_true(fabs(w.cost - 30) < 1e-5);
    nav__search_result result = NAV__FOUND;
    w = (nav__weighted){.max_nodes = 0};
    assert_true(weighted_scene_ask(&s, query, at(40, 21), at(80, 1), &w, &result));
    assert_int_equal(result, NAV__EXHAUSTED);
    weighted_scene_destroy(&s);
}

static void closed_links_are_not_ridden(void **state)
{
    nav_query *query = *state;
    nav_link link = make_link(10, 1, 90, 1, 1, true);
    link.flags = 4;
    poly_mesh mesh;
    poly_mesh_init(&mesh);
    add_rectangle(&mesh, 0, 100, 0, 2, 0);
    mesh.has_flags = true;
    mesh.flags[0] = 1;
    poly_mesh_link(&mesh);
    nav_filter filter = {.include = 1};
    weighted_scene s;
    weighted_scene_make(&s, &mesh, &link, 1, &filter, false, 0);
    assert_true(fabs(find(&s, query, at(10, 1), at(90, 1)).cost - 80) < 1e-6);
    s.filter.include = 5;
    assert_true(fabs(find(&s, query, at(10, 1), at(90, 1)).cost - 1) < 1e-6);
    s.filter.exclude = 4;
    assert_true(fabs(find(&s, query, at(10, 1), at(90, 1)).cost - 80) < 1e-6);
    weighted_scene_destroy(&s);
}

/// Random links, more of them than the bound tells one by one, most cheaper than walking.
static void links_are_ridden_at_best(void **state)
{
    nav_query *query = *state;
    double sum = 0, worst = 0;
    uint32_t pairs = 0, rode = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        poly_mesh mesh;
        random_mesh(&mesh, seed % 2 ? RANDOM_GRID : RANDOM_TRIANGLES, 76000 + seed);
        rng r = rng_seeded(seed);
        nav_link links[30];
        uint32_t count = 1 + rng_below(&r, 30);
        double costs[256];
        for (int i = 0; i < 256; i++) {
            costs[i] = 0.2 + 5 * rng_unit(&r);
        }
        for (uint32_t i = 0; i < count; i++) {
            oracle_point a = random_point(&mesh, &r), b = random_point(&mesh, &r);
            links[i] = make_link(a.x, a.z, b.x, b.z, rng_chance(&r, 0.3) ? -1 : 4 * rng_unit(&r), rng_chance(&r, 0.5));
            links[i].area = (uint8_t)rng_below(&r, 200);
        }
        for (uint32_t p = 0; p < mesh.poly_count; p++) {
            mesh.areas[p] = (uint8_t)rng_below(&r, 3);
        }
        nav_filter filter = {.include = UINT32_MAX, .area_costs = costs};
        weighted_scene s;
        weighted_scene_make(&s, &mesh, links, count, &filter, seed % 3 == 0, 24);
        oracle_point from = random_point(&s.mesh, &r);
        weighted_oracle_from(s.oracle, from);
        for (int i = 0; i < 10; i++) {
            oracle_point to = random_point(&s.mesh, &r);
            nav__weighted w = {.max_nodes = 0};
            nav__search_result result = NAV__STOPPED;
            assert_true(weighted_scene_ask(&s, query, random_point_position(&s.mesh, from),
                                           random_point_position(&s.mesh, to), &w, &result));
            double best = weighted_oracle_cost(s.oracle, to);
            assert_int_equal(result == NAV__FOUND, best < INFINITY);
            if (result != NAV__FOUND || best == 0) {
                continue;
            }
            sum += fmax(w.cost / best - 1, 0);
            worst = fmax(worst, w.cost / best - 1);
            pairs++;
            const nav__step *steps = query->steps.data;
            double cost = 0;
            for (uint32_t k = 1; k < w.step_count; k++) {
                if (steps[k].ride != NAV_NONE) {
                    cost += nav__ride_cost(s.nav, &s.nav->rides[steps[k].ride], &s.filter);
                    rode++;
                } else {
                    cost += costs[s.nav->cells[steps[k].cell].area] * nav__dist(steps[k - 1].p, steps[k].p);
                }
            }
            assert_true(fabs(cost - w.cost) < 1e-5 * (1 + cost));
        }
        weighted_scene_destroy(&s);
    }
    print_message("links: %u pairs, %u rides, above the optimum mean %.4f %%, worst %.2f %%\n", pairs, rode,
                  100 * sum / pairs, 100 * worst);
    assert_true(pairs > 300 && rode > 300);
    assert_true(sum / pairs < 0.0005);
    assert_true(worst < 0.02);
}

// --- Limits ---

static void limits_lead_to_the_nearest_place(void **state)
{
    nav_query *query = *state;
    weighted_scene s;
    weighted_scene_random(&s, RANDOM_TRIANGLES, COSTS_TYPED, 77009, false, true, 0);
    rng r = rng_seeded(3);
    uint32_t limited = 0;
    for (int i = 0; i < 200; i++) {
        nav_vec a = random_point_position(&s.mesh, random_point(&s.mesh, &r));
        nav_vec b = random_point_position(&s.mesh, random_point(&s.mesh, &r));
        nav__weighted whole = {.max_nodes = 0}, part = {.max_nodes = 1 + rng_below(&r, 20)};
        nav__search_result result, cut;
        assert_true(weighted_scene_ask(&s, query, a, b, &whole, &result));
        assert_true(weighted_scene_ask(&s, query, a, b, &part, &cut));
        assert_true(part.nodes <= part.max_nodes);
        if (cut == NAV__LIMITED) {
            limited++;
            assert_true(part.step_count >= 1);
        } else {
            assert_int_equal(cut, result);
            assert_true(part.cost == whole.cost);
        }
        if (result != NAV__FOUND) {
            continue;
        }
        part = (nav__weighted){.max_cost = whole.cost * 0.7};
        assert_true(weighted_scene_ask(&s, query, a, b, &part, &cut));
        if (whole.cost > 0) {
            assert_int_equal(cut, NAV__LIMITED);
            assert_true(part.cost <= part.max_cost * (1 + 1e-9));
        }
    }
    assert_true(limited > 50);
    weighted_scene_destroy(&s);
}

static bool stop_at_once(void *ctx)
{
    ++*(int *)ctx;
    return true;
}

static void an_interrupt_stops_it(void **state)
{
    nav_query *query = *state;
    poly_mesh mesh;
    poly_mesh_init(&mesh);
    for (int i = 0; i < 30; i++) {
        for (int k = 0; k < 30; k++) {
            add_rectangle(&mesh, i, i + 1, k, k + 1, (uint8_t)((i * i + 3 * k) % 5));
        }
    }
    poly_mesh_link(&mesh);
    double costs[256] = {[0] = 1, [1] = 7, [2] = 3, [3] = 9, [4] = 5};
    nav_filter filter = {.include = UINT32_MAX, .area_costs = costs};
    weighted_scene s;
    weighted_scene_make(&s, &mesh, NULL, 0, &filter, false, 0);
    int asked = 0;
    nav_query_set_interrupt(query, &(nav_interrupt){stop_at_once, &asked});
    nav__weighted w = {.max_nodes = 0};
    nav__search_result result = NAV__FOUND;
    assert_true(weighted_scene_ask(&s, query, at(0.5, 0.5), at(29.5, 29.5), &w, &result));
    nav_query_set_interrupt(query, NULL);
    assert_int_equal(result, NAV__STOPPED);
    assert_int_equal(asked, 1);
    weighted_scene_destroy(&s);
}

// --- Memory ---

/// Refuses calls when `left` is used up.
typedef struct allocator {
    uint64_t calls, left;
} allocator;

static void *counted_resize(void *ctx, void *p, size_t bytes)
{
    allocator *a = ctx;
    if (bytes == 0) {
        free(p);
        return NULL;
    }
    a->calls++;
    if (a->left == 0) {
        return NULL;
    }
    a->left--;
    return realloc(p, bytes);
}

static void ask_often(const weighted_scene *s, nav_query *query)
{
    rng r = rng_seeded(5);
    for (int i = 0; i < 100; i++) {
        nav__weighted w = {.max_nodes = 0};
        nav__search_result result = NAV__STOPPED;
        assert_true(weighted_scene_ask(s, query, random_point_position(&s->mesh, random_point(&s->mesh, &r)),
                                       random_point_position(&s->mesh, random_point(&s->mesh, &r)), &w, &result));
        assert_true(result == NAV__FOUND || result == NAV__EXHAUSTED);
    }
}

static void the_steady_state_allocates_nothing(void **state)
{
    (void)state;
    weighted_scene s;
    weighted_scene_random(&s, RANDOM_TRIANGLES, COSTS_WILD, 77000, false, true, 0);
    allocator a = {.left = UINT64_MAX};
    nav_query *query = nav_query_create(&(nav_alloc){counted_resize, &a});
    ask_often(&s, query);
    uint64_t calls = a.calls;
    ask_often(&s, query);
    assert_int_equal(a.calls, calls);
    nav_query_destroy(query);
    weighted_scene_destroy(&s);
}

static void says_when_memory_ends(void **state)
{
    (void)state;
    weighted_scene s;
    weighted_scene_random(&s, RANDOM_TRIANGLES, COSTS_WILD, 77000, false, true, 0);
    rng r = rng_seeded(5);
    nav_vec from = random_point_position(&s.mesh, random_point(&s.mesh, &r));
    nav_vec to = random_point_position(&s.mesh, random_point(&s.mesh, &r));
    uint32_t failures = 0;
    double cost = -1;
    for (uint64_t n = 1;; n++) {
        allocator a = {.left = UINT64_MAX};
        nav_query *query = nav_query_create(&(nav_alloc){counted_resize, &a});
        a.left = n;
        nav__weighted w = {.max_nodes = 0};
        nav__search_result result = NAV__STOPPED;
        bool asked = weighted_scene_ask(&s, query, from, to, &w, &result);
        if (asked && result == NAV__OUT_OF_MEMORY) {
            failures++;
            // The query is as good as before.
            a.left = UINT64_MAX;
            assert_true(weighted_scene_ask(&s, query, from, to, &w, &result));
        }
        if (asked) {
            assert_int_equal(result, NAV__FOUND);
            assert_true(cost < 0 || w.cost == cost);
            cost = w.cost;
        }
        bool enough = a.left > 0 && a.left < UINT64_MAX / 2;
        nav_query_destroy(query);
        if (enough) {
            break;
        }
    }
    assert_true(failures >= 5);
    weighted_scene_destroy(&s);
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
        cmocka_unit_test(goes_round_mud_when_that_is_cheaper),
        cmocka_unit_test(passes_a_sliver_in_a_straight_line),
        cmocka_unit_test(tells_what_it_expanded),

        cmocka_unit_test(refracts_at_a_border),
        cmocka_unit_test(uses_a_road_beside_the_straight_line),
        cmocka_unit_test(does_not_squeeze_between_closed_cells),
        cmocka_unit_test(rides_what_is_cheaper_than_walking),
        cmocka_unit_test(rides_from_island_to_island),
        cmocka_unit_test(closed_links_are_not_ridden),
        cmocka_unit_test(links_are_ridden_at_best),
        cmocka_unit_test(limits_lead_to_the_nearest_place),
        cmocka_unit_test(an_interrupt_stops_it),
        cmocka_unit_test(the_steady_state_allocates_nothing),
        cmocka_unit_test(says_when_memory_ends),
    };
    return cmocka_run_group_tests(tests, make_query, destroy_query);
}
