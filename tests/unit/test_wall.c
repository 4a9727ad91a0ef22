/// The nearest wall: against all walls by brute force, with the oracle to say which can be walked to, and
/// single cases with known answers.
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

typedef struct wall_place {
    double distance, x, z;
    uint32_t polygon;
    bool at_end;
} wall_place;

static wall_place nearest_on(const poly_mesh *m, uint32_t polygon, uint32_t k, double x, double z)
{
    const double *a = poly_mesh_corner(m, polygon, k), *b = poly_mesh_corner(m, polygon, k + 1);
    double dx = b[0] - a[0], dz = b[2] - a[2], t = ((x - a[0]) * dx + (z - a[2]) * dz) / (dx * dx + dz * dz);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    wall_place p = {0, a[0] + t * dx, a[2] + t * dz, polygon, t == 0 || t == 1};
    p.distance = hypot(p.x - x, p.z - z);
    return p;
}

static int by_distance(const void *a, const void *b)
{
    double d = ((const wall_place *)a)->distance - ((const wall_place *)b)->distance;
    return d < 0 ? -1 : d > 0;
}

/// The nearest place on any wall that the oracle can walk to straight; distance INFINITY: none.
static wall_place brute_wall(const scene *s, const oracle *o, const bool *open, oracle_point from)
{
    const poly_mesh *m = &s->mesh;
    wall_place *all = poly_mesh_resize(NULL, m->corner_count, sizeof *all), best = {.distance = INFINITY};
    uint32_t count = 0;
    for (uint32_t p = 0; p < m->poly_count; p++) {
        for (uint32_t k = 0; open[p] && k < poly_mesh_size(m, p); k++) {
            uint32_t next = m->neighbours[m->first[p] + k];
            if (next == NAV_NONE || !open[next]) {
                all[count++] = nearest_on(m, p, k, from.x, from.z);
            }
        }
    }
    qsort(all, count, sizeof *all, by_distance);
    for (uint32_t i = 0; i < count && best.distance == INFINITY; i++) {
        double leg[4] = {from.x, from.z, all[i].x, all[i].z};
        if (oracle_walkable(o, leg, 2, from.polygon, all[i].polygon, 1e-9)) {
            best = all[i];
        }
    }
    free(all);
    return best;
}

// ---- random meshes ---------------------------------------------------------------------------------

typedef struct asker {
    scene s;
    bool *open;
    oracle *oracle;
    nav_query *query;
    nav_snap snap;
    rng r;
    int asked;
} asker;

static void check_wall(asker *a, oracle_point from)
{
    wall_place want = brute_wall(&a->s, a->oracle, a->open, from);
    nav_vec point = random_point_position(&a->s.mesh, from);
    double most = rng_chance(&a->r, 0.3) ? want.distance * 2 * rng_unit(&a->r) : INFINITY;
    nav_wall got;
    assert_int_equal(nav_query_wall(a->query, a->s.nav, point, most, &a->snap, &got), NAV_OK);
    bool found = want.distance <= most, right;
    if (!found) {
        right = got.status == NAV_WALL_NONE;
    } else {
        double dx = point.x - got.point.x, dz = point.z - got.point.z, d = hypot(dx, dz);
        double leg[4] = {from.x, from.z, got.point.x, got.point.z};
        right = got.status == NAV_WALL_FOUND && fabs(got.distance - want.distance) < 1e-9 &&
                fabs(d - got.distance) < 1e-9 && fabs(hypot(got.normal.x, got.normal.z) - 1) < 1e-12 &&
                got.normal.y == 0;
        right = right && (d < 1e-6 || (dx * got.normal.x + dz * got.normal.z) / d > 1 - 1e-6);
        bool seen = false;
        for (uint32_t p = 0; p < a->s.mesh.poly_count && right && !seen; p++) {
            seen = a->open[p] && poly_mesh_holds(&a->s.mesh, p, got.point.x, got.point.z, 1e-9) &&
                   fabs(poly_mesh_height(&a->s.mesh, p, got.point.x, got.point.z) - got.point.y) < 1e-5 &&
                   oracle_walkable(a->oracle, leg, 2, from.polygon, p, 1e-9);
        }
        right = right && seen;
    }
    if (!right) {
        print_error("%s: (%.17g %.17g) on %u up to %g: status %d distance %.15g at (%g %g) normal (%g %g), want %.15g "
                    "at (%g %g)\n",
                    scene_name(&a->s), from.x, from.z, from.polygon, most, got.status, got.distance, got.point.x,
                    got.point.z, got.normal.x, got.normal.z, want.distance, want.x, want.z);
        fail();
    }
    a->asked++;
}

static void walls_agree_with_brute_force(void **state)
{
    (void)state;
    asker a = {.query = nav_query_create(NULL)};
    for (uint64_t seed = 0; seed < 240; seed++) {
        unsigned variant = (unsigned)(seed / 4 % SCENE_TRANSFORM);
        assert_true(scene_make(&a.s, (random_kind)(seed % RANDOM_KIND_COUNT), seed, variant, NULL));
        a.r = rng_seeded(seed + 8);
        a.snap = nav_snap_default();
        if (variant & SCENE_FLAGS) {
            a.snap.filter.exclude = 1u << rng_below(&a.r, 3);
        }
        a.open = poly_mesh_resize(NULL, a.s.mesh.poly_count, sizeof *a.open);
        for (uint32_t p = 0; p < a.s.mesh.poly_count; p++) {
            a.open[p] = !a.s.mesh.has_flags || !(a.s.mesh.flags[p] & a.snap.filter.exclude);
        }
        a.oracle = oracle_create(&a.s.mesh, a.open, 0);
        for (int i = 0; i < 40; i++) {
            oracle_point from = random_point(&a.s.mesh, &a.r);
            if (a.open[from.polygon]) {
                check_wall(&a, from);
            }
        }
        oracle_destroy(a.oracle);
        free(a.open);
        scene_destroy(&a.s);
    }
    nav_query_destroy(a.query);
    print_message("%d places\n", a.asked);
    assert_true(a.asked > 5000);
}

// ---- single cases ----------------------------------------------------------------------------------

static nav_wall ask(small_mesh *s, nav_vec point, double most)
{
    nav_snap snap = nav_snap_default();
    nav_wall wall;
    assert_int_equal(nav_query_wall(s->query, s->nav, point, most, &snap, &wall), NAV_OK);
    return wall;
}

static void expect(small_mesh *s, nav_vec point, double distance, nav_vec at, double nx, double nz)
{
    nav_wall wall = ask(s, point, 100);
    assert_int_equal(wall.status, NAV_WALL_FOUND);
    assert_true(fabs(wall.distance - distance) < 1e-12);
    assert_true(fabs(wall.point.x - at.x) < 1e-12 && fabs(wall.point.y - at.y) < 1e-12 &&
                fabs(wall.point.z - at.z) < 1e-12);
    assert_true(fabs(wall.normal.x - nx) < 1e-12 && wall.normal.y == 0 && fabs(wall.normal.z - nz) < 1e-12);
}

static void a_room_with_a_door(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 10, 0, 10, 1);
    small_mesh_quad(&s, 10, 20, 0, 4, 1); // joins the lower part of the side x = 10
    small_mesh_build(&s);
    expect(&s, (nav_vec){9, 1, 8}, 1, (nav_vec){10, 1, 8}, -1, 0);
    expect(&s, (nav_vec){9, 1, 2}, 2, (nav_vec){9, 1, 0}, 0, 1);
    double root = sqrt(0.5);
    expect(&s, (nav_vec){9.5, 1, 3.5}, root, (nav_vec){10, 1, 4}, -root, -root);
    // On walls: the wall's normal, in corners both.
    expect(&s, (nav_vec){4, 1, 0}, 0, (nav_vec){4, 1, 0}, 0, 1);
    expect(&s, (nav_vec){0, 1, 0}, 0, (nav_vec){0, 1, 0}, root, root);
    expect(&s, (nav_vec){10, 1, 4}, 0, (nav_vec){10, 1, 4}, -root, -root);
    // Snapped from outside: from the wall that it was snapped to.
    expect(&s, (nav_vec){-1, 1, 5}, 0, (nav_vec){0, 1, 5}, 1, 0);
    // The limit includes its own distance.
    assert_int_equal(ask(&s, (nav_vec){5, 1, 5}, 4.999).status, NAV_WALL_NONE);
    assert_int_equal(ask(&s, (nav_vec){5, 1, 5}, 5).status, NAV_WALL_FOUND);
    assert_int_equal(ask(&s, (nav_vec){5, 1, 5}, INFINITY).status, NAV_WALL_FOUND);
    assert_int_equal(ask(&s, (nav_vec){4, 1, 0}, 0).status, NAV_WALL_FOUND);
    assert_int_equal(ask(&s, (nav_vec){50, 1, 5}, 9).status, NAV_WALL_OFF_MESH);
    small_mesh_finish(&s);
}

/// A wall without width that ends in the middle of the room: at its end, and beside it.
static void a_wall_without_width(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    uint32_t a = small_mesh_vertex(&s, 0, 0, 0), b = small_mesh_vertex(&s, 4, 0, 0), c = small_mesh_vertex(&s, 8, 0, 0);
    uint32_t d = small_mesh_vertex(&s, 0, 0, 4), e = small_mesh_vertex(&s, 4, 0, 4), f = small_mesh_vertex(&s, 8, 0, 4);
    uint32_t g = small_mesh_vertex(&s, 0, 0, 8), h = small_mesh_vertex(&s, 4, 0, 8), i = small_mesh_vertex(&s, 8, 0, 8);
    const uint32_t quads[4][4] = {{a, b, e, d}, {b, c, f, e}, {d, e, h, g}, {e, f, i, h}};
    // The edge b - e is a wall on both sides.
    const uint32_t edges[4][4] = {{NAV_EDGE_ANY, NAV_EDGE_WALL, NAV_EDGE_ANY, NAV_EDGE_ANY},
                                  {NAV_EDGE_ANY, NAV_EDGE_ANY, NAV_EDGE_ANY, NAV_EDGE_WALL},
                                  {NAV_EDGE_ANY, NAV_EDGE_ANY, NAV_EDGE_ANY, NAV_EDGE_ANY},
                                  {NAV_EDGE_ANY, NAV_EDGE_ANY, NAV_EDGE_ANY, NAV_EDGE_ANY}};
    for (int k = 0; k < 4; k++) {
        assert_int_equal(nav_soup_add_polygon(&s.soup, quads[k], 4, 0, 1, edges[k]), NAV_OK);
    }
    small_mesh_build(&s);
    expect(&s, (nav_vec){4, 0, 4}, 0, (nav_vec){4, 0, 4}, 0, 1);
    expect(&s, (nav_vec){4, 0, 5}, 1, (nav_vec){4, 0, 4}, 0, 1);
    expect(&s, (nav_vec){3.5, 0, 2}, 0.5, (nav_vec){4, 0, 2}, -1, 0);
    expect(&s, (nav_vec){4.5, 0, 2}, 0.5, (nav_vec){4, 0, 2}, 1, 0);
    small_mesh_finish(&s);
}

/// Two rooms that touch in a point, which is a wall for both.
static void a_pinch(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 8, 0, 8, 0);
    small_mesh_quad(&s, 8, 16, 8, 16, 0);
    small_mesh_build(&s);
    expect(&s, (nav_vec){7, 0, 6}, 1, (nav_vec){8, 0, 6}, -1, 0);
    expect(&s, (nav_vec){9, 0, 10}, 1, (nav_vec){8, 0, 10}, 1, 0);
    nav_wall wall = ask(&s, (nav_vec){8, 0, 8}, 1);
    assert_true(wall.status == NAV_WALL_FOUND && wall.distance == 0 &&
                fabs(hypot(wall.normal.x, wall.normal.z) - 1) < 1e-12);
    small_mesh_finish(&s);
}

/// A floor above another, with a hole in the upper one: the lower knows nothing of it.
static void floors_do_not_see_each_other(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 20, 0, 20, 0);
    small_mesh_quad(&s, 8, 12, 0, 20, 5);
    small_mesh_build(&s);
    expect(&s, (nav_vec){9, 0, 10}, 9, (nav_vec){0, 0, 10}, 1, 0);
    expect(&s, (nav_vec){9, 5, 10}, 1, (nav_vec){8, 5, 10}, 1, 0);
    small_mesh_finish(&s);
}

static void closed_polygons_are_walls(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 10, 0, 10, 0);
    small_mesh_quad(&s, 10, 20, 0, 10, 0);
    s.soup.flags[1] = 2;
    s.soup.has_flags = true;
    small_mesh_build(&s);
    nav_snap snap = nav_snap_default();
    nav_wall wall;
    assert_int_equal(nav_query_wall(s.query, s.nav, (nav_vec){9, 0, 4}, 9, &snap, &wall), NAV_OK);
    assert_true(wall.distance == 4 && wall.normal.z == 1);
    snap.filter.exclude = 2;
    assert_int_equal(nav_query_wall(s.query, s.nav, (nav_vec){9, 0, 4}, 9, &snap, &wall), NAV_OK);
    assert_true(wall.distance == 1 && wall.normal.x == -1);
    snap.filter.include = 4;
    assert_int_equal(nav_query_wall(s.query, s.nav, (nav_vec){9, 0, 4}, 9, &snap, &wall), NAV_OK);
    assert_true(wall.status == NAV_WALL_OFF_MESH && wall.start.polygon == NAV_NONE);
    small_mesh_finish(&s);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 10, 0, 10, 0);
    small_mesh_build(&s);
    nav_snap snap = nav_snap_default();
    nav_wall wall;
    const nav_vec at = {5, 0, 5}, nowhere = {NAN, 0, 5};
    assert_int_equal(nav_query_wall(s.query, s.nav, at, -1, &snap, &wall), NAV_BAD_ARGUMENT);
    assert_int_equal(nav_query_wall(s.query, s.nav, at, NAN, &snap, &wall), NAV_BAD_ARGUMENT);
    assert_int_equal(nav_query_wall(s.query, s.nav, nowhere, 1, &snap, &wall), NAV_BAD_ARGUMENT);
    assert_true(wall.status == NAV_WALL_OFF_MESH && wall.start.polygon == NAV_NONE);
    assert_int_equal(nav_query_wall(s.query, s.nav, (nav_vec){1e308, -1e308, 1e308}, 1e308, &snap, &wall), NAV_OK);
    assert_int_equal(wall.status, NAV_WALL_OFF_MESH);
    small_mesh_finish(&s);
}

static void memory(void **state)
{
    (void)state;
    scene s;
    assert_true(scene_make(&s, RANDOM_TRIANGLES, 77, 0, NULL));
    nav_snap snap = nav_snap_default();
    nav_wall wall;
    for (size_t refuse = 1; refuse < 6; refuse++) {
        test_alloc a;
        test_alloc_init(&a);
        a.refuse_from = refuse;
        nav_query *query = nav_query_create(&a.alloc);
        rng r = rng_seeded(3);
        for (int i = 0; query && i < 200; i++) {
            nav_vec p = random_point_position(&s.mesh, random_point(&s.mesh, &r));
            nav_status got = nav_query_wall(query, s.nav, p, INFINITY, &snap, &wall);
            assert_true(got == NAV_NO_MEMORY || (got == NAV_OK && wall.status == NAV_WALL_FOUND));
        }
        if (query) {
            a.refuse_from = 0;
            rng again = rng_seeded(3);
            for (int i = 0; i < 400; i++) {
                a.calls = i == 200 ? 0 : a.calls;
                again = i == 200 ? rng_seeded(3) : again;
                nav_vec p = random_point_position(&s.mesh, random_point(&s.mesh, &again));
                assert_int_equal(nav_query_wall(query, s.nav, p, INFINITY, &snap, &wall), NAV_OK);
            }
            assert_true(a.calls == 0); // the second time all is there
        }
        nav_query_destroy(query);
    }
    scene_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walls_agree_with_brute_force), cmocka_unit_test(a_room_with_a_door),
        cmocka_unit_test(a_wall_without_width),         cmocka_unit_test(a_pinch),
        cmocka_unit_test(floors_do_not_see_each_other), cmocka_unit_test(closed_polygons_are_walls),
        cmocka_unit_test(nonsense_is_refused),          cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
