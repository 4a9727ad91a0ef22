/// What rays in space hit: against all triangles tried one by one in long doubles, rays at vertices and edges,
/// and single cases with known answers.
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

typedef long double real;

typedef struct brute {
    real t; ///< of the nearest hit; INFINITY: none
    uint32_t polygon;
    real normal[3];
} brute;

static void cross(const real a[3], const real b[3], real out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static real dot(const real a[3], const real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Moeller and Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection", 1997. `slack` grows the triangle
/// by that part of its size.
static void try_triangle(brute *best, const double *a, const double *b, const double *c, const real o[3],
                         const real d[3], real slack, uint32_t polygon)
{
    real e1[3], e2[3], s[3], p[3], q[3];
    for (int k = 0; k < 3; k++) {
        e1[k] = (real)b[k] - a[k];
        e2[k] = (real)c[k] - a[k];
        s[k] = o[k] - a[k];
    }
    cross(d, e2, p);
    cross(s, e1, q);
    real all = dot(e1, p);
    if (all == 0) {
        return;
    }
    real u = dot(s, p) / all, v = dot(d, q) / all, t = dot(e2, q) / all;
    if (u < -slack || v < -slack || u + v > 1 + slack || t < 0 || t >= best->t) {
        return;
    }
    best->t = t;
    best->polygon = polygon;
    cross(e2, e1, best->normal); // wound clockwise seen from above, where x runs right and z up
    real length = sqrtl(dot(best->normal, best->normal));
    for (int k = 0; k < 3; k++) {
        best->normal[k] /= length;
    }
}

/// Polygons fan out from their corner 0, as navcore's do when nothing is shuffled.
static brute brute_pick(const poly_mesh *m, const bool *open, nav_vec origin, const real d[3], real slack)
{
    real o[3] = {origin.x, origin.y, origin.z};
    brute best = {INFINITY, NAV_NONE, {0, 0, 0}};
    for (uint32_t p = 0; p < m->poly_count; p++) {
        for (uint32_t k = 1; open[p] && k + 1 < poly_mesh_size(m, p); k++) {
            try_triangle(&best, poly_mesh_corner(m, p, 0), poly_mesh_corner(m, p, k), poly_mesh_corner(m, p, k + 1), o,
                         d, slack, p);
        }
    }
    return best;
}

// ---- random meshes ---------------------------------------------------------------------------------

typedef struct picker {
    scene s;
    bool *open;
    nav_query *query;
    nav_filter filter;
    rng r;
    int cast, hit;
} picker;

/// Gives flat meshes hills: each vertex a random height, in eighths.
static void begin(picker *a, uint64_t seed, unsigned variant)
{
    assert_true(scene_make(&a->s, (random_kind)(seed % RANDOM_KIND_COUNT), seed, variant, NULL));
    a->r = rng_seeded(seed + 13);
    a->filter = nav_filter_default();
    if (variant & SCENE_FLAGS) {
        a->filter.exclude = 1u << rng_below(&a->r, 3);
    }
    bool hilly = a->s.kind == RANDOM_TRIANGLES && !(variant & SCENE_FLAGS);
    if (hilly) {
        for (uint32_t v = 0; v < a->s.mesh.vertex_count; v++) {
            a->s.mesh.vertices[3 * v + 1] = rng_between(&a->r, 0, 80) / 8.0;
        }
        nav_mesh_destroy(a->s.nav);
        nav_soup soup;
        nav_soup_init(&soup, NULL);
        assert_int_equal(poly_mesh_to_soup(&a->s.mesh, &soup, false, 0), NAV_OK);
        assert_int_equal(nav_mesh_build(&soup, NULL, NULL, &a->s.nav, NULL, NULL), NAV_OK);
        nav_soup_deinit(&soup);
    }
    a->open = poly_mesh_resize(NULL, a->s.mesh.poly_count, sizeof *a->open);
    for (uint32_t p = 0; p < a->s.mesh.poly_count; p++) {
        a->open[p] = !a->s.mesh.has_flags || !(a->s.mesh.flags[p] & a->filter.exclude);
    }
}

static void finish(picker *a)
{
    free(a->open);
    scene_destroy(&a->s);
}

/// A target on the mesh, on any floor, and an origin anywhere.
static void random_ray(picker *a, nav_vec *origin, nav_vec *direction)
{
    nav_vec to = random_point_position(&a->s.mesh, random_point(&a->s.mesh, &a->r));
    double angle = 7 * rng_unit(&a->r), far = exp(8 * rng_unit(&a->r) - 2), up = 200 * rng_unit(&a->r) - 100;
    *origin = (nav_vec){to.x + far * cos(angle), to.y + up, to.z + far * sin(angle)};
    if (rng_chance(&a->r, 0.2)) {
        origin->x = to.x;
        origin->z = to.z;
    }
    double scale = exp(20 * rng_unit(&a->r) - 10), off = rng_chance(&a->r, 0.5) ? 5 : 0;
    *direction = (nav_vec){scale * (to.x - origin->x + off * rng_unit(&a->r)), scale * (to.y - origin->y),
                           scale * (to.z - origin->z + off * rng_unit(&a->r))};
}

static void check_ray(picker *a, nav_vec origin, nav_vec direction, double most)
{
    real d[3] = {direction.x, direction.y, direction.z}, length = sqrtl(dot(d, d));
    for (int k = 0; k < 3; k++) {
        d[k] /= length;
    }
    // What it hits well inside of triangles, and what it may hit within rounding.
    brute sure = brute_pick(&a->s.mesh, a->open, origin, d, -1e-9L),
          maybe = brute_pick(&a->s.mesh, a->open, origin, d, 1e-9L);
    nav_pick got;
    assert_int_equal(nav_query_pick(a->query, a->s.nav, origin, direction, most, &a->filter, &got), NAV_OK);
    double slack = 1e-7;
    bool right = got.hit ? got.distance <= (double)sure.t + slack && got.distance >= (double)maybe.t - slack &&
                               got.distance <= most
                         : (double)sure.t >= most - slack;
    if (right && got.hit) {
        double x = origin.x + got.distance * (double)d[0], y = origin.y + got.distance * (double)d[1];
        double z = origin.z + got.distance * (double)d[2];
        right = fabs(got.point.x - x) < slack && fabs(got.point.y - y) < slack && fabs(got.point.z - z) < slack &&
                a->open[got.polygon] && poly_mesh_holds(&a->s.mesh, got.polygon, x, z, 1e-6);
        double nd = got.normal.x * (double)d[0] + got.normal.y * (double)d[1] + got.normal.z * (double)d[2];
        right = right && got.normal.y >= 0 && got.back == (nd > 0);
        if (sure.t == maybe.t && sure.polygon == maybe.polygon && fabs(got.distance - (double)sure.t) < slack) {
            right = right && got.polygon == sure.polygon && fabs(got.normal.x - (double)sure.normal[0]) < 1e-9 &&
                    fabs(got.normal.y - (double)sure.normal[1]) < 1e-9 &&
                    fabs(got.normal.z - (double)sure.normal[2]) < 1e-9;
        }
    }
    if (!right) {
        print_error("%s: (%.17g %.17g %.17g) towards (%.17g %.17g %.17g) up to %g: hit %d at %.15g on %u, want %.15Lg "
                    "or %.15Lg on %u\n",
                    scene_name(&a->s), origin.x, origin.y, origin.z, direction.x, direction.y, direction.z, most,
                    got.hit, got.distance, got.polygon, sure.t, maybe.t, maybe.polygon);
        fail();
    }
    a->cast++;
    a->hit += got.hit;
}

static void rays_agree_with_brute_force(void **state)
{
    (void)state;
    picker a = {.query = nav_query_create(NULL)};
    for (uint64_t seed = 0; seed < 300; seed++) {
        begin(&a, seed, (unsigned)(seed / 4 % 2 ? SCENE_FLAGS : 0) | (seed / 8 % 2 ? SCENE_NO_MERGE : 0));
        for (int i = 0; i < 100; i++) {
            nav_vec origin, direction;
            random_ray(&a, &origin, &direction);
            if (direction.x != 0 || direction.y != 0 || direction.z != 0) {
                check_ray(&a, origin, direction, rng_chance(&a.r, 0.2) ? 200 * rng_unit(&a.r) : INFINITY);
            }
        }
        finish(&a);
    }
    print_message("%d rays, %d hit\n", a.cast, a.hit);
    assert_true(a.cast > 25000 && a.hit > 10000);
    nav_query_destroy(a.query);
}

/// Rays at what triangles share, inside a surface without holes, never get through.
static void nothing_slips_through(void **state)
{
    (void)state;
    enum { N = 24 };
    small_mesh s;
    small_mesh_start(&s);
    rng r = rng_seeded(14);
    // Hills over a lattice that is bent so that nothing lies on round numbers.
    for (int j = 0; j <= N; j++) {
        for (int i = 0; i <= N; i++) {
            small_mesh_vertex(&s, i + 0.6 * rng_unit(&r), 3 * rng_unit(&r), j + 0.6 * rng_unit(&r));
        }
    }
    for (uint32_t j = 0; j < N; j++) {
        for (uint32_t i = 0; i < N; i++) {
            uint32_t a = j * (N + 1) + i, b = a + 1, c = a + N + 1, d = c + 1;
            small_mesh_polygon(&s, 3, (uint32_t[]){a, c, b});
            small_mesh_polygon(&s, 3, (uint32_t[]){b, c, d});
        }
    }
    small_mesh_build(&s);
    nav_filter filter = nav_filter_default();
    const double *v = s.soup.vertices;
    for (int i = 0; i < 60000; i++) {
        uint32_t x = 2 + rng_below(&r, N - 4), z = 2 + rng_below(&r, N - 4), k = z * (N + 1) + x;
        const uint32_t steps[3] = {1, N + 1, N};
        const double *p = v + 3 * k, *q = v + 3 * (k + steps[rng_below(&r, 3)]);
        double t = rng_chance(&r, 0.3) ? 0 : rng_unit(&r);
        // As the mesh has them.
        nav_vec to = {(float)p[0] + t * ((double)(float)q[0] - (double)(float)p[0]),
                      (float)p[1] + t * ((double)(float)q[1] - (double)(float)p[1]),
                      (float)p[2] + t * ((double)(float)q[2] - (double)(float)p[2])};
        nav_vec from = {to.x + 2 * (rng_unit(&r) - 0.5), rng_chance(&r, 0.5) ? 40 : -40,
                        to.z + 2 * (rng_unit(&r) - 0.5)};
        if (rng_chance(&r, 0.2)) {
            from.x = to.x;
            from.z = to.z;
        }
        nav_pick got;
        assert_int_equal(nav_query_pick(s.query, s.nav, from, (nav_vec){to.x - from.x, to.y - from.y, to.z - from.z},
                                        1000, &filter, &got),
                         NAV_OK);
        double way = sqrt((to.x - from.x) * (to.x - from.x) + (to.y - from.y) * (to.y - from.y) +
                          (to.z - from.z) * (to.z - from.z));
        assert_true(got.hit && got.distance < way + 1e-5 && got.back == (from.y < 0));
    }
    small_mesh_finish(&s);
}

// ---- single cases ----------------------------------------------------------------------------------

static nav_pick pick(small_mesh *s, nav_vec origin, nav_vec direction, double most)
{
    nav_filter filter = nav_filter_default();
    nav_pick got;
    assert_int_equal(nav_query_pick(s->query, s->nav, origin, direction, most, &filter, &got), NAV_OK);
    return got;
}

static void expect(small_mesh *s, nav_vec origin, nav_vec direction, double distance, nav_vec at, nav_vec normal,
                   bool back)
{
    nav_pick got = pick(s, origin, direction, INFINITY);
    if (!got.hit || fabs(got.distance - distance) > 1e-9 * (1 + distance) || fabs(got.point.x - at.x) > 1e-9 ||
        fabs(got.point.y - at.y) > 1e-9 || fabs(got.point.z - at.z) > 1e-9 || fabs(got.normal.x - normal.x) > 1e-12 ||
        fabs(got.normal.y - normal.y) > 1e-12 || fabs(got.normal.z - normal.z) > 1e-12 || got.back != back) {
        fail_msg("hit %d at %.12g (%.12g %.12g %.12g) normal (%g %g %g) back %d", got.hit, got.distance, got.point.x,
                 got.point.y, got.point.z, got.normal.x, got.normal.y, got.normal.z, got.back);
    }
}

static void a_square_of_four_triangles(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_vertex(&s, 0, 0, 0);
    small_mesh_vertex(&s, 2, 0, 0);
    small_mesh_vertex(&s, 0, 0, 2);
    small_mesh_vertex(&s, -2, 0, 0);
    small_mesh_vertex(&s, 0, 0, -2);
    const uint32_t faces[4][3] = {{0, 2, 1}, {0, 3, 2}, {0, 4, 3}, {0, 1, 4}};
    for (int i = 0; i < 4; i++) {
        small_mesh_polygon(&s, 3, faces[i]);
    }
    small_mesh_build(&s);
    const nav_vec down = {0, -1, 0}, up = {0, 1, 0};
    expect(&s, (nav_vec){0, 5, 0}, down, 5, (nav_vec){0, 0, 0}, up, false);
    expect(&s, (nav_vec){1, 5, 0}, down, 5, (nav_vec){1, 0, 0}, up, false);
    expect(&s, (nav_vec){2, 5, 0}, down, 5, (nav_vec){2, 0, 0}, up, false);
    expect(&s, (nav_vec){1, 5, 1}, down, 5, (nav_vec){1, 0, 1}, up, false);
    expect(&s, (nav_vec){0.5, -5, 0.25}, (nav_vec){0, 3, 0}, 5, (nav_vec){0.5, 0, 0.25}, up, true);
    expect(&s, (nav_vec){0.5, 0, 0.25}, down, 0, (nav_vec){0.5, 0, 0.25}, up, false);
    expect(&s, (nav_vec){-3, 4, 0}, (nav_vec){3e-300, -4e-300, 0}, 5, (nav_vec){0, 0, 0}, up, false);
    expect(&s, (nav_vec){-3, 4, 0}, (nav_vec){3e300, -4e300, 0}, 5, (nav_vec){0, 0, 0}, up, false);
    expect(&s, (nav_vec){1, 1e9, 0}, down, 1e9, (nav_vec){1, 0, 0}, up, false);
    assert_false(pick(&s, (nav_vec){0, 5, 0}, (nav_vec){1, 0, 0}, INFINITY).hit);
    assert_false(pick(&s, (nav_vec){0, 5, 0}, up, INFINITY).hit);
    assert_false(pick(&s, (nav_vec){3, 5, 0}, down, INFINITY).hit);
    assert_false(pick(&s, (nav_vec){2, 5, 0.001}, down, INFINITY).hit);
    // Within the surface's own plane there is nothing to hit.
    assert_false(pick(&s, (nav_vec){-9, 0, 0.1}, (nav_vec){1, 0, 0}, INFINITY).hit);
    // The limit counts lengths, not the direction's units, and includes its own.
    assert_false(pick(&s, (nav_vec){1, 5, 1}, down, 4.9).hit);
    assert_true(pick(&s, (nav_vec){1, 5, 1}, (nav_vec){0, -0.001, 0}, 5).hit);
    assert_true(pick(&s, (nav_vec){1, 5, 1}, (nav_vec){0, -1000, 0}, 5).distance == 5);
    small_mesh_finish(&s);
}

static void slopes_and_floors(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 100, 0, 100, 0);
    small_mesh_quad(&s, 40, 60, 40, 60, 10);
    small_mesh_ramp(&s, 100, 104, 0, 100, 0, 3);
    small_mesh_build(&s);
    expect(&s, (nav_vec){50, 30, 50}, (nav_vec){0, -1, 0}, 20, (nav_vec){50, 10, 50}, (nav_vec){0, 1, 0}, false);
    expect(&s, (nav_vec){50, 5, 50}, (nav_vec){0, 1, 0}, 5, (nav_vec){50, 10, 50}, (nav_vec){0, 1, 0}, true);
    expect(&s, (nav_vec){50, 5, 50}, (nav_vec){0, -1, 0}, 5, (nav_vec){50, 0, 50}, (nav_vec){0, 1, 0}, false);
    expect(&s, (nav_vec){102, 9, 70}, (nav_vec){0, -1, 0}, 7.5, (nav_vec){102, 1.5, 70}, (nav_vec){-0.6, 0.8, 0},
           false);
    // Level, from far away: past the lower floor to the slope, whose front faces that way.
    expect(&s, (nav_vec){-1000, 1.5, 70}, (nav_vec){1, 0, 0}, 1102, (nav_vec){102, 1.5, 70}, (nav_vec){-0.6, 0.8, 0},
           false);
    expect(&s, (nav_vec){1000, 1.5, 70}, (nav_vec){-1, 0, 0}, 898, (nav_vec){102, 1.5, 70}, (nav_vec){-0.6, 0.8, 0},
           true);
    assert_int_equal(pick(&s, (nav_vec){50, 30, 50}, (nav_vec){0, -1, 0}, 99).polygon, 1);
    small_mesh_finish(&s);
}

/// A polygon with detail: a tent over a square.
static void detail_is_hit(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 8, 0, 8, 0);
    assert_int_equal(nav_soup_add_detail_vertex(&s.soup, 4, 3, 4), NAV_OK);
    const uint32_t tris[4][3] = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(nav_soup_add_detail_tri(&s.soup, tris[i][0], tris[i][1], tris[i][2]), NAV_OK);
    }
    small_mesh_build(&s);
    expect(&s, (nav_vec){2, 9, 4}, (nav_vec){0, -1, 0}, 7.5, (nav_vec){2, 1.5, 4}, (nav_vec){-0.6, 0.8, 0}, false);
    expect(&s, (nav_vec){-10, 1.5, 4}, (nav_vec){1, 0, 0}, 12, (nav_vec){2, 1.5, 4}, (nav_vec){-0.6, 0.8, 0}, false);
    expect(&s, (nav_vec){4, 1, 4}, (nav_vec){-1, 0, 0}, 4.0 - 4.0 / 3, (nav_vec){4.0 / 3, 1, 4},
           (nav_vec){-0.6, 0.8, 0}, true);
    assert_true(pick(&s, (nav_vec){4, 9, 4}, (nav_vec){0, -1, 0}, 99).hit);
    small_mesh_finish(&s);
}

static void what_is_closed_is_not_there(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 10, 0, 10, 0);
    small_mesh_quad(&s, 0, 10, 0, 10, 5);
    s.soup.flags[1] = 2;
    s.soup.has_flags = true;
    small_mesh_build(&s);
    nav_filter filter = nav_filter_default();
    nav_pick got;
    const nav_vec from = {5, 9, 5}, down = {0, -1, 0};
    assert_int_equal(nav_query_pick(s.query, s.nav, from, down, 99, &filter, &got), NAV_OK);
    assert_true(got.polygon == 1 && got.distance == 4);
    filter.exclude = 2;
    assert_int_equal(nav_query_pick(s.query, s.nav, from, down, 99, &filter, &got), NAV_OK);
    assert_true(got.polygon == 0 && got.distance == 9);
    filter.include = 4;
    assert_int_equal(nav_query_pick(s.query, s.nav, from, down, 99, &filter, &got), NAV_OK);
    assert_true(!got.hit && got.polygon == NAV_NONE);
    small_mesh_finish(&s);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 10, 0, 10, 0);
    small_mesh_build(&s);
    nav_filter filter = nav_filter_default();
    nav_pick got;
    const nav_vec at = {5, 5, 5}, down = {0, -1, 0}, none = {0, 0, 0}, odd = {0, NAN, 1};
    assert_int_equal(nav_query_pick(s.query, s.nav, at, none, 9, &filter, &got), NAV_BAD_ARGUMENT);
    assert_int_equal(nav_query_pick(s.query, s.nav, at, odd, 9, &filter, &got), NAV_BAD_ARGUMENT);
    assert_int_equal(nav_query_pick(s.query, s.nav, odd, down, 9, &filter, &got), NAV_BAD_ARGUMENT);
    assert_int_equal(nav_query_pick(s.query, s.nav, at, down, -1, &filter, &got), NAV_BAD_ARGUMENT);
    assert_int_equal(nav_query_pick(s.query, s.nav, at, down, NAN, &filter, &got), NAV_BAD_ARGUMENT);
    assert_true(!got.hit && got.polygon == NAV_NONE);
    // However large: an answer.
    const double huge[] = {1e30, 1e38, 1e160, 1.7e308};
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 27; k++) {
            nav_vec from = {(k % 3 - 1) * huge[i], (k / 3 % 3 - 1) * huge[i], (k / 9 - 1) * huge[i]};
            nav_vec way = {5 - from.x, -from.y, 5 - from.z};
            nav_status status = nav_query_pick(s.query, s.nav, from, way, INFINITY, &filter, &got);
            assert_true(status == NAV_OK || k == 13);
            assert_int_equal(
                nav_query_pick(s.query, s.nav, from, (nav_vec){1e-308, -4e-320, 1}, 1.7e308, &filter, &got), NAV_OK);
        }
    }
    small_mesh_finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_agree_with_brute_force),
        cmocka_unit_test(nothing_slips_through),
        cmocka_unit_test(a_square_of_four_triangles),
        cmocka_unit_test(slopes_and_floors),
        cmocka_unit_test(detail_is_hit),
        cmocka_unit_test(what_is_closed_is_not_there),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
