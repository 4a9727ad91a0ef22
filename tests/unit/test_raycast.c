/// Straight walks: against exact integer geometry where nothing is degenerate, against the oracle where
/// everything is (vertices, edges, pinches, several floors), and single cases with known answers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nav_query.h"
#include "scene.h"

#include <math.h>
#include <stdlib.h>

// ---- exact, where rays meet no vertex --------------------------------------------------------------

/// Coordinates in 64ths: the random meshes' are multiples of 1/8.
typedef struct spot {
    int64_t x, z;
} spot;

static spot spot_at(double x, double z)
{
    return (spot){llround(64 * x), llround(64 * z)};
}

static spot corner_spot(const poly_mesh *m, uint32_t polygon, uint32_t k)
{
    const double *v = poly_mesh_corner(m, polygon, k);
    return spot_at(v[0], v[2]);
}

static int64_t turn(spot a, spot b, spot c)
{
    return (b.x - a.x) * (c.z - a.z) - (b.z - a.z) * (c.x - a.x);
}

/// A ray and the wall that stops it, by trying all walls.
typedef struct exact_ray {
    spot p, q;
    bool generic; ///< meets no vertex of the mesh, and starts inside a polygon
    bool blocked;
    double t;
    nav_vec normal;
} exact_ray;

static void meet_edge(exact_ray *ray, const poly_mesh *m, uint32_t polygon, uint32_t k, bool wall)
{
    spot u = corner_spot(m, polygon, k), v = corner_spot(m, polygon, k + 1);
    int64_t su = turn(ray->p, ray->q, u), sv = turn(ray->p, ray->q, v);
    int64_t from = turn(u, v, ray->p), to = turn(u, v, ray->q);
    ray->generic = ray->generic && su != 0 && sv != 0 && to != 0;
    if (!wall || !(su < 0 && sv > 0 && from > 0 && to < 0)) {
        return;
    }
    double t = (double)from / (double)(from - to);
    if (!ray->blocked || t < ray->t) {
        double dx = (double)(v.x - u.x), dz = (double)(v.z - u.z), length = hypot(dx, dz);
        ray->blocked = true;
        ray->t = t;
        ray->normal = (nav_vec){-dz / length, 0, dx / length};
    }
}

static exact_ray exact_cast(const scene *s, const bool *open, spot p, spot q, uint32_t first)
{
    const poly_mesh *m = &s->mesh;
    exact_ray ray = {.p = p, .q = q, .generic = true, .t = 1};
    for (uint32_t i = 0; i < m->poly_count; i++) {
        for (uint32_t k = 0; open[i] && k < poly_mesh_size(m, i); k++) {
            uint32_t next = m->neighbours[m->first[i] + k];
            meet_edge(&ray, m, i, k, next == NAV_NONE || !open[next]);
        }
    }
    for (uint32_t k = 0; k < poly_mesh_size(m, first); k++) {
        ray.generic = ray.generic && turn(corner_spot(m, first, k), corner_spot(m, first, k + 1), p) > 0;
    }
    return ray;
}

/// The part of the ray up to t inside a polygon.
static bool clip(const poly_mesh *m, uint32_t polygon, const exact_ray *ray, double *t0, double *t1)
{
    *t0 = 0;
    *t1 = ray->t;
    for (uint32_t k = 0; k < poly_mesh_size(m, polygon); k++) {
        spot u = corner_spot(m, polygon, k), v = corner_spot(m, polygon, k + 1);
        double from = (double)turn(u, v, ray->p), to = (double)turn(u, v, ray->q);
        if (from < to) {
            *t0 = fmax(*t0, from / (from - to));
        } else if (from > to) {
            *t1 = fmin(*t1, from / (from - to));
        } else if (from < 0) {
            return false;
        }
    }
    return *t1 > *t0;
}

/// The polygons named are exactly those crossed, in order. Shorter crossings than rounding may be left out.
static void check_corridor(const scene *s, const bool *open, const exact_ray *ray, const nav_ray *got)
{
    double at = -1;
    uint32_t expected = 0, doubtful = 0, found = 0;
    for (uint32_t i = 0; i < got->polygon_count; i++) {
        double t0, t1;
        assert_true(clip(&s->mesh, got->polygons[i], ray, &t0, &t1));
        assert_true(t0 > at);
        at = t0;
    }
    for (uint32_t p = 0; p < s->mesh.poly_count; p++) {
        double t0, t1;
        if (!open[p] || !clip(&s->mesh, p, ray, &t0, &t1)) {
            continue;
        }
        expected++;
        doubtful += t1 - t0 < 1e-8;
        for (uint32_t i = 0; i < got->polygon_count; i++) {
            found += got->polygons[i] == p;
        }
    }
    assert_true(found <= expected && found + doubtful >= expected && found == got->polygon_count);
}

static void check_exact(const scene *s, const bool *open, const exact_ray *ray, const nav_ray *got)
{
    if (got->status != (ray->blocked ? NAV_RAY_BLOCKED : NAV_RAY_CLEAR) || fabs(got->t - ray->t) > 1e-12) {
        print_error("%s: (%.6f %.6f) to (%.6f %.6f): status %d t %.15g, want %d %.15g\n", scene_name(s),
                    (double)ray->p.x / 64, (double)ray->p.z / 64, (double)ray->q.x / 64, (double)ray->q.z / 64,
                    got->status, got->t, ray->blocked, ray->t);
        fail();
    }
    double px = (double)ray->p.x / 64, pz = (double)ray->p.z / 64, qx = (double)ray->q.x / 64,
           qz = (double)ray->q.z / 64;
    assert_true(fabs(got->point.x - (px + ray->t * (qx - px))) < 1e-9 &&
                fabs(got->point.z - (pz + ray->t * (qz - pz))) < 1e-9);
    assert_true(fabs(got->distance - ray->t * hypot(qx - px, qz - pz)) < 1e-9);
    assert_true(fabs(got->normal.x - ray->normal.x) < 1e-12 && fabs(got->normal.z - ray->normal.z) < 1e-12);
    assert_true(got->normal.y == 0);
    if (got->status == NAV_RAY_CLEAR) {
        assert_true(got->point.x == qx && got->point.z == qz);
    }
    check_corridor(s, open, ray, got);
}

static bool *open_polygons(const scene *s, const nav_filter *filter)
{
    bool *open = poly_mesh_resize(NULL, s->mesh.poly_count, sizeof *open);
    for (uint32_t p = 0; p < s->mesh.poly_count; p++) {
        open[p] = !s->mesh.has_flags || (s->mesh.flags[p] & filter->include && !(s->mesh.flags[p] & filter->exclude));
    }
    return open;
}

/// @return how many rays were generic
static int exact_rays(nav_query *query, random_kind kind, uint64_t seed, unsigned variant)
{
    scene s;
    assert_true(scene_make(&s, kind, seed, variant, NULL));
    rng r = rng_seeded(seed + 5);
    nav_snap snap = nav_snap_default();
    if (variant & SCENE_FLAGS) {
        snap.filter.exclude = 1u << rng_below(&r, 3);
    }
    bool *open = open_polygons(&s, &snap.filter);
    int generic = 0;
    for (int i = 0; i < 40; i++) {
        oracle_point from = random_point(&s.mesh, &r), to = random_point(&s.mesh, &r);
        spot p = spot_at(from.x, from.z);
        spot q = spot_at(to.x + 8 * (rng_unit(&r) - 0.5), to.z + 8 * (rng_unit(&r) - 0.5));
        if (!open[from.polygon] || (p.x == q.x && p.z == q.z)) {
            continue;
        }
        exact_ray ray = exact_cast(&s, open, p, q, from.polygon);
        if (ray.generic) {
            nav_ray got;
            nav_vec start = {(double)p.x / 64, 0, (double)p.z / 64}, end = {(double)q.x / 64, 0, (double)q.z / 64};
            start.y = poly_mesh_height(&s.mesh, from.polygon, start.x, start.z);
            assert_int_equal(nav_query_raycast(query, s.nav, start, end, &snap, true, &got), NAV_OK);
            check_exact(&s, open, &ray, &got);
            generic++;
        }
    }
    free(open);
    scene_destroy(&s);
    return generic;
}

static void rays_agree_with_exact_geometry(void **state)
{
    (void)state;
    nav_query *query = nav_query_create(NULL);
    int generic = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        generic +=
            exact_rays(query, seed % 2 ? RANDOM_GRID : RANDOM_TRIANGLES, seed, (unsigned)(seed / 2 % SCENE_TRANSFORM));
    }
    print_message("%d rays\n", generic);
    assert_true(generic > 2000);
    nav_query_destroy(query);
}

// ---- anything, by the oracle -----------------------------------------------------------------------

typedef struct caster {
    const scene *scene;
    oracle *oracle;
    const bool *open;
    oracle_point from;
} caster;

/// Can one walk straight to (x, z), wherever that lies in space?
static bool can_walk(const caster *c, double x, double z)
{
    const poly_mesh *m = &c->scene->mesh;
    double leg[4] = {c->from.x, c->from.z, x, z};
    for (uint32_t p = 0; p < m->poly_count; p++) {
        if (c->open[p] && poly_mesh_holds(m, p, x, z, 1e-9) &&
            oracle_walkable(c->oracle, leg, 2, c->from.polygon, p, 1e-9)) {
            return true;
        }
    }
    return false;
}

static void check_by_oracle(const caster *c, nav_query *query, const nav_snap *snap, oracle_point to)
{
    nav_ray got;
    nav_vec start = random_point_position(&c->scene->mesh, c->from), end = {to.x, -3, to.z};
    assert_int_equal(nav_query_raycast(query, c->scene->nav, start, end, snap, false, &got), NAV_OK);
    double span = hypot(to.x - start.x, to.z - start.z), step = 1e-4;
    double dx = span > 0 ? (to.x - start.x) / span : 0, dz = span > 0 ? (to.z - start.z) / span : 0;
    bool clear = can_walk(c, to.x, to.z), right;
    if (clear) {
        right = got.status == NAV_RAY_CLEAR && got.t == 1 && got.point.x == to.x && got.point.z == to.z &&
                got.normal.x == 0 && got.normal.z == 0;
    } else {
        right = got.status == NAV_RAY_BLOCKED && fabs(got.distance - got.t * span) < 1e-9 &&
                fabs(hypot(got.normal.x, got.normal.z) - 1) < 1e-9 && got.normal.x * dx + got.normal.z * dz <= 1e-9 &&
                can_walk(c, got.point.x, got.point.z) &&
                (got.distance + step >= span || !can_walk(c, got.point.x + step * dx, got.point.z + step * dz));
    }
    if (!right) {
        print_error(
            "%s: (%.17g %.17g) on %u to (%.17g %.17g): status %d t %.12g distance %.12g normal %g %g, oracle %s\n",
            scene_name(c->scene), c->from.x, c->from.z, c->from.polygon, to.x, to.z, got.status, got.t, got.distance,
            got.normal.x, got.normal.z, clear ? "clear" : "blocked");
        fail();
    }
}

static int oracle_rays(nav_query *query, random_kind kind, uint64_t seed, unsigned variant)
{
    scene s;
    assert_true(scene_make(&s, kind, seed, variant, NULL));
    rng r = rng_seeded(seed + 6);
    nav_snap snap = nav_snap_default();
    if (variant & SCENE_FLAGS) {
        snap.filter.exclude = 1u << rng_below(&r, 3);
    }
    bool *open = open_polygons(&s, &snap.filter);
    caster c = {&s, oracle_create(&s.mesh, open, 0), open, {0, 0, 0}};
    int cast = 0;
    for (int i = 0; i < 40; i++) {
        c.from = random_point(&s.mesh, &r);
        if (open[c.from.polygon]) {
            check_by_oracle(&c, query, &snap, random_point(&s.mesh, &r));
            cast++;
        }
    }
    oracle_destroy(c.oracle);
    free(open);
    scene_destroy(&s);
    return cast;
}

static void rays_agree_with_the_oracle(void **state)
{
    (void)state;
    nav_query *query = nav_query_create(NULL);
    int cast = 0;
    for (uint64_t seed = 0; seed < 160; seed++) {
        cast +=
            oracle_rays(query, (random_kind)(seed % RANDOM_KIND_COUNT), seed, (unsigned)(seed / 4 % SCENE_TRANSFORM));
    }
    print_message("%d rays\n", cast);
    assert_true(cast > 3000);
    nav_query_destroy(query);
}

// ---- single cases ----------------------------------------------------------------------------------

typedef struct fixture {
    nav_soup soup;
    nav_mesh *mesh;
    nav_query *query;
} fixture;

static void start(fixture *f)
{
    nav_soup_init(&f->soup, NULL);
    f->query = nav_query_create(NULL);
    assert_non_null(f->query);
}

static void vertex(fixture *f, double x, double y, double z)
{
    assert_int_equal(nav_soup_add_vertex(&f->soup, x, y, z), NAV_OK);
}

static void polygon(fixture *f, uint32_t count, const uint32_t *corners)
{
    assert_int_equal(nav_soup_add_polygon(&f->soup, corners, count, 0, 1, NULL), NAV_OK);
}

/// x0..x1, z0..z1 at height y.
static void quad(fixture *f, double x0, double x1, double z0, double z1, double y)
{
    uint32_t n = f->soup.vertex_count;
    vertex(f, x0, y, z0);
    vertex(f, x0, y, z1);
    vertex(f, x1, y, z1);
    vertex(f, x1, y, z0);
    polygon(f, 4, (uint32_t[]){n, n + 1, n + 2, n + 3});
}

static void build(fixture *f)
{
    nav_error error;
    if (nav_mesh_build(&f->soup, NULL, NULL, &f->mesh, NULL, &error) != NAV_OK) {
        fail_msg("%s", error.message);
    }
}

static void finish(fixture *f)
{
    nav_query_destroy(f->query);
    nav_mesh_destroy(f->mesh);
    nav_soup_deinit(&f->soup);
}

static nav_ray cast(fixture *f, nav_vec from, nav_vec to)
{
    nav_snap snap = nav_snap_default();
    nav_ray ray;
    assert_int_equal(nav_query_raycast(f->query, f->mesh, from, to, &snap, true, &ray), NAV_OK);
    return ray;
}

static void expect_ray(fixture *f, nav_vec from, nav_vec to, nav_ray_status status, double t, nav_vec point,
                       nav_vec normal)
{
    nav_ray ray = cast(f, from, to);
    assert_int_equal(ray.status, status);
    assert_true(fabs(ray.t - t) <= 1e-12);
    assert_true(hypot(hypot(ray.point.x - point.x, ray.point.z - point.z), ray.point.y - point.y) < 1e-9);
    assert_true(hypot(ray.normal.x - normal.x, ray.normal.z - normal.z) < 1e-12);
}

static const nav_vec none = {0, 0, 0};

static void a_flat_sliver_stops_nothing(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    vertex(&f, 0, 0, 0);
    vertex(&f, 2, 0, 0);
    vertex(&f, 2, 0, 2);
    vertex(&f, 0, 0, 2);
    vertex(&f, 1, 0, 1);
    static const uint32_t faces[4][3] = {{0, 2, 1}, {0, 4, 2}, {0, 3, 4}, {4, 3, 2}};
    for (int i = 0; i < 4; i++) {
        polygon(&f, 3, faces[i]);
    }
    build(&f);
    expect_ray(&f, (nav_vec){1.5, 0, 0.5}, (nav_vec){0.5, 0, 1.5}, NAV_RAY_CLEAR, 1, (nav_vec){0.5, 0, 1.5}, none);
    expect_ray(&f, (nav_vec){1, 0, 1}, (nav_vec){3, 0, 1}, NAV_RAY_BLOCKED, 0.5, (nav_vec){2, 0, 1},
               (nav_vec){-1, 0, 0});
    expect_ray(&f, (nav_vec){0, 0, 0}, (nav_vec){2, 0, 2}, NAV_RAY_CLEAR, 1, (nav_vec){2, 0, 2}, none);
    finish(&f);
}

static void a_ray_stays_on_its_floor(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    quad(&f, 0, 10, 0, 4, 0);
    quad(&f, 10, 12, 0, 4, 0);
    uint32_t n = f.soup.vertex_count;
    vertex(&f, 10, 0, 4);
    vertex(&f, 10, 4, 12);
    vertex(&f, 12, 4, 12);
    vertex(&f, 12, 0, 4);
    polygon(&f, 4, (uint32_t[]){n, n + 1, n + 2, n + 3});
    quad(&f, 10, 12, 12, 16, 4);
    quad(&f, 0, 10, 12, 16, 4);
    quad(&f, 0, 10, 0, 12, 4);
    build(&f);
    expect_ray(&f, (nav_vec){1, 0, 2}, (nav_vec){9, 4, 2}, NAV_RAY_CLEAR, 1, (nav_vec){9, 0, 2}, none);
    // Up the ramp: the height of the surface half way, and the polygons in order.
    nav_ray ray = cast(&f, (nav_vec){11, 0, 1}, (nav_vec){11, 0, 8});
    assert_int_equal(ray.status, NAV_RAY_CLEAR);
    assert_true(ray.point.y == 2);
    assert_int_equal(ray.polygon_count, 2);
    assert_true(ray.polygons[0] == 1 && ray.polygons[1] == 2);
    finish(&f);
}

static void rays_without_end_stop_at_the_wall(void **state)
{
    (void)state;
    static const double far[] = {1e9, 1e38, 1e150, 1.7e308};
    fixture f;
    start(&f);
    quad(&f, 0, 10, 0, 10, 0);
    build(&f);
    for (int i = 0; i < 4; i++) {
        nav_ray ray = cast(&f, (nav_vec){1, 0, 1}, (nav_vec){far[i], 0, far[i]});
        assert_int_equal(ray.status, NAV_RAY_BLOCKED);
        assert_true(hypot(ray.point.x - 10, ray.point.z - 10) < 1e-6);
        assert_true(ray.t > 0 && fabs(ray.t * far[i] - 9) < 1e-6);
        ray = cast(&f, (nav_vec){1, 0, 1}, (nav_vec){-far[i], far[i], 1});
        assert_true(ray.status == NAV_RAY_BLOCKED && fabs(ray.point.x) < 1e-9 && ray.normal.x == 1);
    }
    // Hardly any direction, and none.
    expect_ray(&f, (nav_vec){0, 0, 0}, (nav_vec){1e-300, 0, 1e-310}, NAV_RAY_CLEAR, 1, none, none);
    expect_ray(&f, (nav_vec){3, 1, 4}, (nav_vec){3, 9, 4}, NAV_RAY_CLEAR, 1, (nav_vec){3, 0, 4}, none);
    assert_int_equal(cast(&f, (nav_vec){3, 0, 4}, (nav_vec){3, 0, 4}).polygon_count, 1);
    // Snapped from outside, the ray starts from the wall.
    expect_ray(&f, (nav_vec){-1, 0, 5}, (nav_vec){5, 0, 5}, NAV_RAY_CLEAR, 1, (nav_vec){5, 0, 5}, none);
    expect_ray(&f, (nav_vec){5, 0, 5}, (nav_vec){5, 0, 10}, NAV_RAY_CLEAR, 1, (nav_vec){5, 0, 10}, none);
    // Along the wall, and out of a corner.
    expect_ray(&f, (nav_vec){0, 0, 0}, (nav_vec){0, 0, 20}, NAV_RAY_BLOCKED, 0.5, (nav_vec){0, 0, 10},
               (nav_vec){0, 0, -1});
    expect_ray(&f, (nav_vec){0, 0, 0}, (nav_vec){-1, 0, -2}, NAV_RAY_BLOCKED, 0, none, (nav_vec){0, 0, 1});
    nav_snap snap = nav_snap_default();
    nav_ray ray;
    assert_int_equal(nav_query_raycast(f.query, f.mesh, (nav_vec){99, 0, 0}, none, &snap, true, &ray), NAV_OK);
    assert_true(ray.status == NAV_RAY_START_OFF_MESH && ray.start.polygon == NAV_NONE && ray.polygon_count == 0);
    assert_int_equal(nav_query_raycast(f.query, f.mesh, none, (nav_vec){NAN, 0, 0}, &snap, true, &ray),
                     NAV_BAD_ARGUMENT);
    finish(&f);
}

/// Two rooms that touch in a point: no way through it, but from the point into either.
static void a_pinch_is_a_wall(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    quad(&f, 0, 4, 0, 4, 0);
    quad(&f, 4, 8, 4, 8, 0);
    build(&f);
    nav_ray ray = cast(&f, (nav_vec){1, 0, 1}, (nav_vec){7, 0, 7});
    assert_true(ray.status == NAV_RAY_BLOCKED && ray.t == 0.5 && ray.point.x == 4 && ray.point.z == 4);
    assert_true((ray.normal.x == -1 && ray.normal.z == 0) || (ray.normal.x == 0 && ray.normal.z == -1));
    expect_ray(&f, (nav_vec){4, 0, 4}, (nav_vec){7, 0, 7}, NAV_RAY_CLEAR, 1, (nav_vec){7, 0, 7}, none);
    expect_ray(&f, (nav_vec){4, 0, 4}, (nav_vec){1, 0, 2}, NAV_RAY_CLEAR, 1, (nav_vec){1, 0, 2}, none);
    expect_ray(&f, (nav_vec){2, 0, 4}, (nav_vec){6, 0, 4}, NAV_RAY_BLOCKED, 0.5, (nav_vec){4, 0, 4},
               (nav_vec){-1, 0, 0});
    finish(&f);
}

/// A disc of needles: triangles round a middle, each no wider than a few steps of a 32-bit float.
static void needles_are_crossed(void **state)
{
    (void)state;
    enum { NEEDLES = 400 };
    fixture f;
    start(&f);
    vertex(&f, 0, 0, 0);
    for (int i = 0; i <= NEEDLES; i++) {
        vertex(&f, 1000 + i * 0.000122, 0, 1000 - i * 0.000122);
    }
    vertex(&f, 1100, 0, 1100);
    for (uint32_t i = 0; i < NEEDLES; i++) {
        polygon(&f, 3, (uint32_t[]){0, i + 1, i + 2});
        polygon(&f, 3, (uint32_t[]){NEEDLES + 2, i + 1, i + 2});
    }
    nav_build_options options = nav_build_options_default();
    options.no_merge = true;
    options.weld = 0;
    assert_int_equal(nav_mesh_build(&f.soup, &options, NULL, &f.mesh, NULL, NULL), NAV_OK);
    rng r = rng_seeded(9);
    for (int i = 0; i < 2000; i++) {
        // Between two positions inside the kite, whose hull is convex, everything is clear.
        double u = 0.02 + 0.9 * rng_unit(&r), v = 0.02 + 0.9 * rng_unit(&r), w = rng_unit(&r), y = rng_unit(&r);
        double half = NEEDLES * 0.000122;
        nav_vec a = {u * (1000 + (0.05 + 0.9 * w) * half), 0, u * (1000 - (0.05 + 0.9 * w) * half)};
        nav_vec b = {v * (1000 + (0.05 + 0.9 * y) * half), 0, v * (1000 - (0.05 + 0.9 * y) * half)};
        nav_ray ray = cast(&f, a, b);
        assert_int_equal(ray.status, NAV_RAY_CLEAR);
        // Straight across, out through both sides.
        ray = cast(&f, a, (nav_vec){a.x + 10, 0, a.z - 10});
        assert_int_equal(ray.status, NAV_RAY_BLOCKED);
        assert_true(ray.t < 0.01 && ray.normal.x < -0.7 && ray.normal.z > 0.7);
    }
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flat_sliver_stops_nothing),
        cmocka_unit_test(a_ray_stays_on_its_floor),
        cmocka_unit_test(rays_without_end_stop_at_the_wall),
        cmocka_unit_test(a_pinch_is_a_wall),
        cmocka_unit_test(needles_are_crossed),
        cmocka_unit_test(rays_agree_with_exact_geometry),
        cmocka_unit_test(rays_agree_with_the_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
