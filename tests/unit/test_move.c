/// Steps that slide along walls: against what brute force finds on the ground inside the circle, what holds of
/// every step, and single cases with known answers.
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

// ---- brute force -----------------------------------------------------------------------------------

/// A step: polygons that hang together with the start inside the circle over start and end.
typedef struct step {
    const poly_mesh *m;
    const bool *open;
    double sx, sz, ex, ez;
    bool *in; ///< [poly_count]
} step;

/// The part of a polygon's side inside the circle, by its own parameter.
static bool side_in_circle(const step *s, uint32_t polygon, uint32_t k, double slack, double *t0, double *t1)
{
    const double *a = poly_mesh_corner(s->m, polygon, k), *b = poly_mesh_corner(s->m, polygon, k + 1);
    double cx = (s->sx + s->ex) / 2, cz = (s->sz + s->ez) / 2, r = hypot(s->ex - s->sx, s->ez - s->sz) / 2 + slack;
    double dx = b[0] - a[0], dz = b[2] - a[2], length = hypot(dx, dz);
    double along = ((cx - a[0]) * dx + (cz - a[2]) * dz) / length, off = ((cx - a[0]) * dz - (cz - a[2]) * dx) / length;
    if (fabs(off) > r) {
        return false;
    }
    double half = sqrt(r * r - off * off);
    *t0 = fmax((along - half) / length, 0);
    *t1 = fmin((along + half) / length, 1);
    return *t0 <= *t1;
}

static void flood(step *s, uint32_t first, double slack)
{
    const poly_mesh *m = s->m;
    uint32_t *stack = poly_mesh_resize(NULL, m->poly_count, sizeof *stack), count = 0;
    s->in[first] = true;
    stack[count++] = first;
    while (count > 0) {
        uint32_t p = stack[--count];
        for (uint32_t k = 0; k < poly_mesh_size(m, p); k++) {
            uint32_t next = m->neighbours[m->first[p] + k];
            double t0, t1;
            if (next != NAV_NONE && s->open[next] && !s->in[next] && side_in_circle(s, p, k, slack, &t0, &t1)) {
                s->in[next] = true;
                stack[count++] = next;
            }
        }
    }
    free(stack);
}

/// The least ground distance to the end from any place of those polygons inside the circle.
static double least_left(const step *s)
{
    double best = hypot(s->ex - s->sx, s->ez - s->sz);
    for (uint32_t p = 0; p < s->m->poly_count; p++) {
        if (!s->in[p]) {
            continue;
        }
        if (poly_mesh_holds(s->m, p, s->ex, s->ez, 0)) {
            return 0;
        }
        for (uint32_t k = 0; k < poly_mesh_size(s->m, p); k++) {
            double t0, t1;
            if (side_in_circle(s, p, k, 0, &t0, &t1)) {
                const double *a = poly_mesh_corner(s->m, p, k), *b = poly_mesh_corner(s->m, p, k + 1);
                double dx = b[0] - a[0], dz = b[2] - a[2];
                double t = ((s->ex - a[0]) * dx + (s->ez - a[2]) * dz) / (dx * dx + dz * dz);
                t = fmin(fmax(t, t0), t1);
                best = fmin(best, hypot(a[0] + t * dx - s->ex, a[2] + t * dz - s->ez));
            }
        }
    }
    return best;
}

// ---- random meshes ---------------------------------------------------------------------------------

typedef struct mover {
    scene s;
    bool *open;
    oracle *oracle;
    nav_query *query;
    nav_snap snap;
    rng r;
    int moved, hit, slid;
} mover;

static void wrong(const mover *a, oracle_point from, nav_vec end, const nav_move *got, const char *why, double want)
{
    print_error("%s: (%.17g %.17g) on %u to (%.17g %.17g): at (%.15g %.15g) on %u, hit %d: %s %.15g\n",
                scene_name(&a->s), from.x, from.z, from.polygon, end.x, end.z, got->point.x, got->point.z, got->polygon,
                got->hit, why, want);
    fail();
}

/// Is p in the circle over start and end, grown by `slack`?
static bool is_in_circle(nav_vec start, nav_vec end, nav_vec p, double slack)
{
    double radius = hypot(end.x - start.x, end.z - start.z) / 2;
    return hypot(p.x - (start.x + end.x) / 2, p.z - (start.z + end.z) / 2) <= radius + slack;
}

/// No small step from where a step stopped leads nearer to its end.
static void check_stuck(mover *a, oracle_point from, nav_vec end, const nav_move *got)
{
    double left = hypot(end.x - got->point.x, end.z - got->point.z), small = 0.01;
    // From a place where obstacles touch, a ray may begin on the other side.
    oracle_point at = {got->point.x, got->point.z, got->polygon};
    bool between = a->s.variant & SCENE_TRANSFORM || oracle_ambiguous(a->oracle, at);
    for (int k = 0; k < 16 && got->hit && !between; k++) {
        double angle = 2 * acos(-1.0) * k / 16;
        nav_vec to = {got->point.x + small * cos(angle), got->point.y, got->point.z + small * sin(angle)};
        nav_ray ray;
        assert_int_equal(nav_query_raycast(a->query, a->s.nav, got->point, to, &a->snap, false, &ray), NAV_OK);
        double then = hypot(end.x - ray.point.x, end.z - ray.point.z);
        if (then < left - 1e-4 - 4 * a->s.rounding) {
            wrong(a, from, end, got, "a small step leaves less by", left - then);
        }
    }
}

/// What holds of every step, however the mesh is made.
static nav_move check_step(mover *a, oracle_point from, nav_vec end)
{
    const poly_mesh *m = &a->s.mesh;
    nav_vec start = random_point_position(m, from);
    nav_move got;
    nav_ray ray;
    assert_int_equal(nav_query_move(a->query, a->s.nav, start, end, &a->snap, &got), NAV_OK);
    assert_int_equal(nav_query_raycast(a->query, a->s.nav, start, end, &a->snap, false, &ray), NAV_OK);
    assert_int_equal(got.status, NAV_MOVE_MOVED);
    double slack = 1e-9 + 4 * a->s.rounding, way = hypot(end.x - start.x, end.z - start.z);
    double left = hypot(end.x - got.point.x, end.z - got.point.z);
    double ray_left = hypot(end.x - ray.point.x, end.z - ray.point.z);
    if (ray.status == NAV_RAY_CLEAR ? got.hit || left != 0 : left > ray_left + slack) {
        wrong(a, from, end, &got, "a straight walk leaves", ray_left);
    }
    if (got.hit != (left > 0) && !(got.hit && left <= slack)) {
        wrong(a, from, end, &got, "left to go", left);
    }
    if (hypot(got.point.x - start.x, got.point.z - start.z) > way + slack &&
        is_in_circle(start, end, got.point, 1e-6)) {
        wrong(a, from, end, &got, "further than", way);
    }
    if (is_in_circle(start, end, got.point, -1e-6)) {
        check_stuck(a, from, end, &got);
    }
    // On the surface: the polygon named is open, holds the place, and is as high there.
    if (!a->open[got.polygon] || !poly_mesh_holds(m, got.polygon, got.point.x, got.point.z, slack)) {
        wrong(a, from, end, &got, "off the surface", 0);
    }
    // A polygon that is not flat is higher or lower by where its fan begins, which shuffling changes.
    double height = poly_mesh_height(m, got.polygon, got.point.x, got.point.z);
    if (fabs(height - got.point.y) > (a->s.variant & SCENE_SHUFFLE ? 2 : 1e-5 + 100 * slack)) {
        wrong(a, from, end, &got, "height", height);
    }
    a->moved++;
    a->hit += got.hit;
    a->slid += got.hit && left < ray_left - 1e-6;
    return got;
}

static nav_vec random_end(mover *a, oracle_point from)
{
    if (rng_chance(&a->r, 0.3)) {
        return random_point_position(&a->s.mesh, random_point(&a->s.mesh, &a->r));
    }
    double far = exp(6 * rng_unit(&a->r) - 2), angle = 7 * rng_unit(&a->r);
    return (nav_vec){from.x + far * cos(angle), 100 * rng_unit(&a->r), from.z + far * sin(angle)};
}

static void begin(mover *a, uint64_t seed, unsigned variant)
{
    assert_true(scene_make(&a->s, (random_kind)(seed % RANDOM_KIND_COUNT), seed, variant, NULL));
    a->r = rng_seeded(seed + 11);
    a->snap = nav_snap_default();
    if (variant & SCENE_FLAGS) {
        a->snap.filter.exclude = 1u << rng_below(&a->r, 3);
    }
    a->open = poly_mesh_resize(NULL, a->s.mesh.poly_count, sizeof *a->open);
    for (uint32_t p = 0; p < a->s.mesh.poly_count; p++) {
        a->open[p] = !a->s.mesh.has_flags || !(a->s.mesh.flags[p] & a->snap.filter.exclude);
    }
    a->oracle = oracle_create(&a->s.mesh, a->open, 0);
}

static void finish(mover *a)
{
    oracle_destroy(a->oracle);
    free(a->open);
    scene_destroy(&a->s);
}

static void steps_stay_on_the_surface(void **state)
{
    (void)state;
    mover a = {.query = nav_query_create(NULL)};
    for (uint64_t seed = 0; seed < 400; seed++) {
        begin(&a, seed, (unsigned)(seed / 4 % SCENE_VARIANTS));
        for (int i = 0; i < 60; i++) {
            oracle_point from = random_point(&a.s.mesh, &a.r);
            if (a.open[from.polygon]) {
                check_step(&a, from, random_end(&a, from));
            }
        }
        finish(&a);
    }
    print_message("%d steps, %d stopped short, %d of them after sliding\n", a.moved, a.hit, a.slid);
    assert_true(a.moved > 15000 && a.hit > 4000 && a.slid > 3000);
    nav_query_destroy(a.query);
}

/// A place inside a polygon: on a vertex or an edge it might stand on several.
static oracle_point inner_point(mover *a)
{
    const poly_mesh *m = &a->s.mesh;
    oracle_point p = random_point(m, &a->r);
    double x = 0, z = 0, n = poly_mesh_size(m, p.polygon), share = 0.1 + 0.9 * rng_unit(&a->r);
    for (uint32_t k = 0; k < n; k++) {
        x += poly_mesh_corner(m, p.polygon, k)[0] / n;
        z += poly_mesh_corner(m, p.polygon, k)[2] / n;
    }
    return (oracle_point){p.x + share * (x - p.x), p.z + share * (z - p.z), p.polygon};
}

static void steps_end_where_brute_force_does(void **state)
{
    (void)state;
    mover a = {.query = nav_query_create(NULL)};
    int compared = 0, further = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        begin(&a, seed + 1000, (unsigned)(seed / 4 % SCENE_TRANSFORM));
        for (int i = 0; i < 40; i++) {
            oracle_point from = inner_point(&a);
            nav_vec end = random_end(&a, from);
            if (!a.open[from.polygon]) {
                continue;
            }
            step least = {&a.s.mesh, a.open, from.x, from.z, end.x, end.z, calloc(a.s.mesh.poly_count, 1)};
            step most = least;
            most.in = calloc(a.s.mesh.poly_count, 1);
            flood(&least, from.polygon, -1e-9);
            flood(&most, from.polygon, 1e-9);
            double want = least_left(&least), other = least_left(&most);
            free(least.in);
            free(most.in);
            nav_move got = check_step(&a, from, end);
            double left = hypot(end.x - got.point.x, end.z - got.point.z);
            if (fabs(left - want) > 1e-6 && fabs(left - other) > 1e-6) {
                // Then it was led out of the circle, and came nearer, but not by magic.
                step wide = {&a.s.mesh, a.open, from.x, from.z, end.x, end.z, calloc(a.s.mesh.poly_count, 1)};
                flood(&wide, from.polygon, hypot(end.x - from.x, end.z - from.z));
                bool holds = false;
                for (uint32_t p = 0; p < a.s.mesh.poly_count; p++) {
                    holds = holds || (wide.in[p] && poly_mesh_holds(&a.s.mesh, p, got.point.x, got.point.z, 1e-9));
                }
                free(wide.in);
                if (left > want || !holds) {
                    wrong(&a, from, end, &got, "brute force leaves", want);
                }
                further++;
            }
            compared++;
        }
        finish(&a);
    }
    print_message("%d steps, %d slid on beyond the circle\n", compared, further);
    assert_true(compared > 4000 && further > 20);
    nav_query_destroy(a.query);
}

/// Many small steps never leave the surface, and keep to their floor.
static void a_long_walk_keeps_to_its_floor(void **state)
{
    (void)state;
    mover a = {.query = nav_query_create(NULL)};
    begin(&a, RANDOM_BUILDING + 4 * 5, 0);
    oracle_point from = random_point(&a.s.mesh, &a.r);
    nav_vec at = random_point_position(&a.s.mesh, from);
    double vx = 0.2, vz = 0.1;
    for (int i = 0; i < 20000; i++) {
        nav_move got;
        nav_vec end = {at.x + vx, at.y, at.z + vz};
        assert_int_equal(nav_query_move(a.query, a.s.nav, at, end, &a.snap, &got), NAV_OK);
        assert_int_equal(got.status, NAV_MOVE_MOVED);
        double far = hypot(got.point.x - at.x, got.point.z - at.z);
        assert_true(far <= 2 * hypot(vx, vz) + 1e-9);
        // The ramps rise by 8 over 8.
        assert_true(fabs(got.point.y - at.y) <= far * 1.5 + 1e-6);
        at = got.point;
        if (got.hit || rng_chance(&a.r, 0.05)) {
            double angle = 7 * rng_unit(&a.r);
            vx = 0.3 * cos(angle);
            vz = 0.3 * sin(angle);
        }
    }
    finish(&a);
    nav_query_destroy(a.query);
}

// ---- single cases ----------------------------------------------------------------------------------

static void expect(small_mesh *s, nav_vec start, nav_vec end, nav_vec at, uint32_t polygon, bool hit)
{
    nav_snap snap = nav_snap_default();
    nav_move got;
    assert_int_equal(nav_query_move(s->query, s->nav, start, end, &snap, &got), NAV_OK);
    assert_int_equal(got.status, NAV_MOVE_MOVED);
    if (fabs(got.point.x - at.x) > 1e-9 || fabs(got.point.y - at.y) > 1e-9 || fabs(got.point.z - at.z) > 1e-9 ||
        got.hit != hit || (polygon != NAV_NONE && got.polygon != polygon)) {
        fail_msg("at (%.12g %.12g %.12g) on %u, hit %d", got.point.x, got.point.y, got.point.z, got.polygon, got.hit);
    }
}

static void sides_are_open_in_part(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 10, 0, 10, 0);
    small_mesh_quad(&s, 10, 20, 0, 4, 0);
    small_mesh_build(&s);
    expect(&s, (nav_vec){9, 0, 8}, (nav_vec){12, 0, 9}, (nav_vec){10, 0, 9}, 0, true);
    expect(&s, (nav_vec){9, 0, 2}, (nav_vec){12, 0, 3}, (nav_vec){12, 0, 3}, 1, false);
    // Into the side, from on it, and into a corner.
    expect(&s, (nav_vec){10, 0, 8}, (nav_vec){13, 0, 7}, (nav_vec){10, 0, 7}, 0, true);
    expect(&s, (nav_vec){10, 0, 8}, (nav_vec){13, 0, 8}, (nav_vec){10, 0, 8}, 0, true);
    expect(&s, (nav_vec){9, 0, 9}, (nav_vec){12, 0, 13}, (nav_vec){10, 0, 10}, 0, true);
    // Round the door's post: the end itself lies behind it.
    expect(&s, (nav_vec){9, 0, 5}, (nav_vec){11, 0, 3}, (nav_vec){11, 0, 3}, 1, false);
    expect(&s, (nav_vec){9, 0, 5}, (nav_vec){12, 0, 3.5}, (nav_vec){12, 0, 3.5}, 1, false);
    // Nowhere, and straight up.
    expect(&s, (nav_vec){3, 0, 3}, (nav_vec){3, 0, 3}, (nav_vec){3, 0, 3}, 0, false);
    expect(&s, (nav_vec){3, 1, 3}, (nav_vec){3, 9, 3}, (nav_vec){3, 0, 3}, 0, false);
    // Very far.
    expect(&s, (nav_vec){3, 0, 3}, (nav_vec){1e38, 0, 3}, (nav_vec){20, 0, 3}, 1, true);
    expect(&s, (nav_vec){3, 0, 3}, (nav_vec){-1e308, 0, 1e308}, (nav_vec){0, 0, 10}, 0, true);
    small_mesh_finish(&s);
}

static void floors_are_kept(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 10, 0, 10, 0);
    small_mesh_quad(&s, 5, 15, 0, 10, 3);
    small_mesh_ramp(&s, 10, 16, -4, 0, 0, 3);
    small_mesh_build(&s);
    expect(&s, (nav_vec){9, 0, 5}, (nav_vec){12, 3, 5}, (nav_vec){10, 0, 5}, 0, true);
    expect(&s, (nav_vec){6, 3, 5}, (nav_vec){3, 0, 5}, (nav_vec){5, 3, 5}, 1, true);
    // The height is that of the slope.
    expect(&s, (nav_vec){12, 1, -2}, (nav_vec){14, 0, -3}, (nav_vec){14, 2, -3}, 2, false);
    expect(&s, (nav_vec){12, 1, -2}, (nav_vec){14, 0, -6}, (nav_vec){14, 2, -4}, 2, true);
    small_mesh_finish(&s);
}

/// Two rooms that touch in a point, behind a wall: neither a step nor its circle leads through.
static void a_pinch_is_no_way(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 4, 0, 4, 0);
    small_mesh_quad(&s, 4, 8, 4, 8, 0);
    small_mesh_build(&s);
    expect(&s, (nav_vec){3, 0, 3}, (nav_vec){5, 0, 5}, (nav_vec){4, 0, 4}, 0, true);
    expect(&s, (nav_vec){3, 0, 2}, (nav_vec){5, 0, 6}, (nav_vec){4, 0, 4}, 0, true);
    expect(&s, (nav_vec){4, 0, 4}, (nav_vec){5, 0, 5}, (nav_vec){5, 0, 5}, 1, false);
    small_mesh_finish(&s);
}

static void closed_polygons_are_not_entered(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 10, 0, 10, 0);
    small_mesh_quad(&s, 10, 20, 0, 10, 0);
    s.soup.flags[1] = 2;
    s.soup.has_flags = true;
    small_mesh_build(&s);
    expect(&s, (nav_vec){9, 0, 5}, (nav_vec){12, 0, 6}, (nav_vec){12, 0, 6}, 1, false);
    nav_snap snap = nav_snap_default();
    snap.filter.exclude = 2;
    nav_move got;
    assert_int_equal(nav_query_move(s.query, s.nav, (nav_vec){9, 0, 5}, (nav_vec){12, 0, 6}, &snap, &got), NAV_OK);
    assert_true(got.hit && got.polygon == 0 && got.point.x == 10 && fabs(got.point.z - 6) < 1e-12);
    assert_int_equal(nav_query_move(s.query, s.nav, (nav_vec){15, 0, 5}, (nav_vec){12, 0, 6}, &snap, &got), NAV_OK);
    assert_true(got.status == NAV_MOVE_START_OFF_MESH && got.polygon == NAV_NONE);
    small_mesh_finish(&s);
}

static void memory_and_nonsense(void **state)
{
    (void)state;
    scene s;
    assert_true(scene_make(&s, RANDOM_TRIANGLES, 77, 0, NULL));
    nav_snap snap = nav_snap_default();
    nav_move got;
    for (size_t refuse = 1; refuse < 5; refuse++) {
        test_alloc a;
        test_alloc_init(&a);
        a.refuse_from = refuse;
        nav_query *query = nav_query_create(&a.alloc);
        for (int round = 0; query && round < 3; round++) {
            a.refuse_from = round ? 0 : refuse;
            a.calls = round == 0 ? a.calls : 0;
            rng r = rng_seeded(3);
            for (int i = 0; i < 200; i++) {
                nav_vec p = random_point_position(&s.mesh, random_point(&s.mesh, &r));
                nav_vec q = {p.x + 50 * (rng_unit(&r) - 0.5), 0, p.z + 50 * (rng_unit(&r) - 0.5)};
                nav_status status = nav_query_move(query, s.nav, p, q, &snap, &got);
                assert_true(status == NAV_OK || (round == 0 && status == NAV_NO_MEMORY));
            }
            assert_true(round < 2 || a.calls == 0);
        }
        nav_query_destroy(query);
    }
    nav_query *query = nav_query_create(NULL);
    assert_int_equal(nav_query_move(query, s.nav, (nav_vec){NAN, 0, 0}, (nav_vec){0, 0, 0}, &snap, &got),
                     NAV_BAD_ARGUMENT);
    assert_int_equal(nav_query_move(query, s.nav, (nav_vec){0, 0, 0}, (nav_vec){0, INFINITY, 0}, &snap, &got),
                     NAV_BAD_ARGUMENT);
    assert_int_equal(got.status, NAV_MOVE_START_OFF_MESH);
    nav_query_destroy(query);
    scene_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_stay_on_the_surface),
        cmocka_unit_test(steps_end_where_brute_force_does),
        cmocka_unit_test(a_long_walk_keeps_to_its_floor),
        cmocka_unit_test(sides_are_open_in_part),
        cmocka_unit_test(floors_are_kept),
        cmocka_unit_test(a_pinch_is_no_way),
        cmocka_unit_test(closed_polygons_are_not_entered),
        cmocka_unit_test(memory_and_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
