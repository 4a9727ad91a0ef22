/// What single faces and cells say: containment, closest points, heights, the faces a leg crosses, and the
/// query's buffers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rng.h"
#include "scratch.h"
#include "surface.h"

#include <math.h>
#include <stdlib.h>

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
    f->mesh = NULL;
}

static uint32_t vertex(fixture *f, double x, double y, double z)
{
    assert_int_equal(nav_soup_add_vertex(&f->soup, x, y, z), NAV_OK);
    return f->soup.vertex_count - 1;
}

static void polygon(fixture *f, uint32_t count, const uint32_t *corners)
{
    assert_int_equal(nav_soup_add_polygon(&f->soup, corners, count, 0, 1, NULL), NAV_OK);
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

/// Height of the surface at an absolute position of the only face.
static double height_at(const fixture *f, double x, double z)
{
    return f->mesh->origin.y + nav__face_height(f->mesh, 0, nav__ground(f->mesh, (nav_vec){x, 0, z}));
}

// ---- outlines --------------------------------------------------------------------------------------

static void containment_is_exact(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    vertex(&f, 0, 0, 0);
    vertex(&f, 3, 0, 1);
    vertex(&f, 0, 0, 1);
    polygon(&f, 3, (uint32_t[]){0, 1, 2});
    build(&f);
    nav__p2 o = nav__ground(f.mesh, (nav_vec){0, 0, 0});
    assert_true(nav__face_holds(f.mesh, 0, o));
    // (1.5, 0.5) lies on the edge from (0, 0) to (3, 1); the next double below it does not.
    nav__p2 on = {o.x + 1.5, o.z + 0.5}, below = {on.x, nextafter(on.z, -INFINITY)},
            above = {on.x, nextafter(on.z, INFINITY)};
    assert_true(nav__face_holds(f.mesh, 0, on) && nav__cell_holds(f.mesh, 0, on));
    assert_true(!nav__face_holds(f.mesh, 0, below) && !nav__cell_holds(f.mesh, 0, below));
    assert_true(nav__face_holds(f.mesh, 0, above) && nav__cell_holds(f.mesh, 0, above));
    nav__p2 away = {on.x, on.z - 1}, at;
    assert_true(nav__face_closest(f.mesh, 0, away, 0.89, &at) == INFINITY);
    assert_true(fabs(nav__face_closest(f.mesh, 0, away, 0.91, &at) - 0.9) < 1e-15);
    assert_true(nav__face_closest(f.mesh, 0, below, 0, &at) > 0);
    assert_true(nav__face_closest(f.mesh, 0, on, 0, &at) == 0 && at.x == on.x && at.z == on.z);
    finish(&f);
}

/// No sample of the outline is nearer than the closest point, and faces on both sides of an edge agree.
static void closest_points_are_closest(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    rng r = rng_seeded(3);
    static const double ring[6][2] = {{0, 0}, {5, -2}, {9, 1}, {8, 6}, {3, 8}, {-1, 4}};
    for (int i = 0; i < 6; i++) {
        vertex(&f, ring[i][0], 0, ring[i][1]);
    }
    polygon(&f, 3, (uint32_t[]){0, 1, 2});
    polygon(&f, 4, (uint32_t[]){0, 2, 3, 5});
    polygon(&f, 3, (uint32_t[]){3, 4, 5});
    build(&f);
    assert_int_equal(f.mesh->face_count, 3);
    int shared = 0;
    for (int i = 0; i < 20000; i++) {
        nav__p2 p = nav__ground(f.mesh, (nav_vec){30 * (rng_unit(&r) - 0.4), 0, 30 * (rng_unit(&r) - 0.4)}), at[3];
        double d2[3];
        for (uint32_t face = 0; face < 3; face++) {
            d2[face] = nav__face_closest(f.mesh, face, p, INFINITY, &at[face]);
            assert_true((d2[face] == 0) == nav__face_holds(f.mesh, face, p));
            assert_true(fabs(nav__dist(p, at[face]) - sqrt(d2[face])) < 1e-12);
            uint32_t first = f.mesh->faces[face].first_corner, n = f.mesh->faces[face + 1].first_corner - first;
            double t = rng_unit(&r);
            for (uint32_t k = 0; k < n; k++) {
                nav__p2 a = nav__face_corner(f.mesh, first + k), b = nav__face_corner(f.mesh, first + (k + 1) % n);
                nav__p2 s = {a.x + t * (b.x - a.x), a.z + t * (b.z - a.z)};
                assert_true(d2[face] == 0 || nav__dist(p, s) >= sqrt(d2[face]) - 1e-12);
            }
        }
        // Beyond a third face, the point nearest to two of them lies on their common edge.
        if (fabs(d2[0] - d2[1]) < 1e-9 && d2[0] > 0) {
            assert_true(at[0].x == at[1].x && at[0].z == at[1].z && d2[0] == d2[1]);
            shared++;
        }
    }
    assert_true(shared > 100);
    finish(&f);
}

// ---- heights ---------------------------------------------------------------------------------------

static void heights_without_detail_are_the_fans(void **state)
{
    (void)state;
    for (int back = 0; back < 2; back++) {
        fixture f;
        start(&f);
        vertex(&f, 0, 1, 0);
        vertex(&f, 4, 0, 0);
        vertex(&f, 4, 3, 4);
        vertex(&f, 0, 0, 4);
        polygon(&f, 4, back ? (uint32_t[]){0, 3, 2, 1} : (uint32_t[]){0, 1, 2, 3});
        build(&f);
        assert_true(height_at(&f, 2, 2) == 2);   // on the diagonal from corner 0
        assert_true(height_at(&f, 3, 1) == 1.0); // 1/4 * 1 + 1/2 * 0 + 1/4 * 3
        assert_true(height_at(&f, 0, 2) == 0.5 && height_at(&f, 4, 4) == 3);
        assert_true(height_at(&f, -5, 2) == 0.5); // beside it: of its outline
        assert_true(height_at(&f, 9, 9) == 3);
        finish(&f);
    }
}

static void heights_with_detail_are_the_triangles(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    vertex(&f, 0, 0, 0);
    vertex(&f, 4, 0, 0);
    vertex(&f, 4, 0, 4);
    vertex(&f, 0, 0, 4);
    polygon(&f, 4, (uint32_t[]){0, 1, 2, 3});
    assert_int_equal(nav_soup_add_detail_vertex(&f.soup, 2, 2, 2), NAV_OK);
    for (uint32_t k = 0; k < 4; k++) { // half of them wound the other way
        uint32_t a = k % 2 ? k : (k + 1) % 4, b = k % 2 ? (k + 1) % 4 : k;
        assert_int_equal(nav_soup_add_detail_tri(&f.soup, a, b, 4), NAV_OK);
    }
    build(&f);
    assert_true(height_at(&f, 2, 2) == 2);
    assert_true(height_at(&f, 1, 2) == 1 && height_at(&f, 2, 3.5) == 0.5);
    assert_true(height_at(&f, 0, 0) == 0 && height_at(&f, 4, 1) == 0);
    assert_true(height_at(&f, 2, -7) == 0);
    nav_place place;
    nav_snap snap = nav_snap_default();
    assert_true(nav_query_height(f.query, f.mesh, (nav_vec){1, 3, 2}, &snap, &place) && place.point.y == 1);
    assert_true(place.distance == 2 && place.inside && !place.on_mesh);
    finish(&f);
}

// ---- merged cells ----------------------------------------------------------------------------------

enum { STRIPS = 8 };

/// A slope of rectangles from x = 0 to 16 that rises by 1/4 a unit; they merge into one cell.
static void make_slope(fixture *f)
{
    start(f);
    for (int i = 0; i <= STRIPS; i++) {
        vertex(f, 2 * i, i * 0.5, 0);
        vertex(f, 2 * i, i * 0.5, 6);
    }
    for (uint32_t i = 0; i < STRIPS; i++) {
        polygon(f, 4, (uint32_t[]){2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2});
    }
    build(f);
    assert_int_equal(f->mesh->cell_count, 1);
}

static void a_cell_finds_the_face_that_holds(void **state)
{
    (void)state;
    fixture f;
    make_slope(&f);
    for (int i = 0; i < 160; i++) {
        double x = 0.05 + 0.1 * i;
        uint32_t face;
        nav__p2 p = nav__ground(f.mesh, (nav_vec){x, 0, 3});
        double y = f.mesh->origin.y + nav__cell_height(f.mesh, 0, p, &face);
        assert_true(fabs(y - x / 4) < 1e-6);
        assert_int_equal(face, (uint32_t)(x / 2));
        p = nav__ground(f.mesh, (nav_vec){x, 0, -3});
        assert_true(fabs(f.mesh->origin.y + nav__cell_height(f.mesh, 0, p, &face) - x / 4) < 1e-6);
        assert_int_equal(face, (uint32_t)(x / 2));
    }
    finish(&f);
}

static void a_leg_names_the_faces_it_crosses(void **state)
{
    (void)state;
    fixture f;
    make_slope(&f);
    nav__p2 a = nav__ground(f.mesh, (nav_vec){1, 0, 1}), b = nav__ground(f.mesh, (nav_vec){11, 0, 3.5});
    uint32_t count = 0;
    assert_true(nav__corridor_add(f.query, f.mesh, 0, a, b, &count));
    const uint32_t *polygons = f.query->polygons.data;
    assert_int_equal(count, 6);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(polygons[i], i);
    }
    assert_true(nav__corridor_add(f.query, f.mesh, 0, b, a, &count));
    assert_int_equal(count, 11); // back again, the last one once
    assert_true(polygons[5] == 5 && polygons[6] == 4 && polygons[10] == 0);
    // Along the edge between two faces one of them is enough; a leg without length lies in one.
    count = 0;
    a = nav__ground(f.mesh, (nav_vec){4, 0, 1});
    b = nav__ground(f.mesh, (nav_vec){4, 0, 5});
    assert_true(nav__corridor_add(f.query, f.mesh, 0, a, b, &count));
    assert_true(count == 1 && (*(uint32_t *)f.query->polygons.data == 1 || *(uint32_t *)f.query->polygons.data == 2));
    count = 0;
    assert_true(nav__corridor_add(f.query, f.mesh, 0, b, b, &count) && count == 1);
    finish(&f);
}

static void a_leg_has_a_point_at_each_edge_it_crosses(void **state)
{
    (void)state;
    fixture f;
    make_slope(&f);
    nav__p2 a = nav__ground(f.mesh, (nav_vec){15, 0, 1}), b = nav__ground(f.mesh, (nav_vec){5, 0, 6});
    uint32_t count = 0;
    assert_true(nav__surface_points(f.query, f.mesh, 0, a, b, &count));
    assert_int_equal(count, 5);
    const nav_vec *points = f.query->points.data;
    for (uint32_t i = 0; i < count; i++) {
        double x = 14 - 2.0 * i;
        assert_true(fabs(points[i].x - x) < 1e-9 && fabs(points[i].y - x / 4) < 1e-6);
        assert_true(fabs(points[i].z - (1 + (15 - x) / 2)) < 1e-9);
    }
    assert_true(nav__surface_points(f.query, f.mesh, 0, a, a, &count) && count == 5);
    finish(&f);
}

// ---- memory ----------------------------------------------------------------------------------------

typedef struct counter {
    int calls, fail_from; ///< from this call on none succeeds
} counter;

static void *counting_resize(void *ctx, void *p, size_t bytes)
{
    counter *c = ctx;
    if (bytes == 0) {
        free(p);
        return NULL;
    }
    return ++c->calls >= c->fail_from ? NULL : realloc(p, bytes);
}

static int ask_everything(nav_query *query, const nav_mesh *mesh)
{
    nav_snap snap = nav_snap_default();
    snap.half_extents = (nav_vec){50, 50, 50};
    nav_place place, many[8];
    nav_ray ray;
    int answered = 0;
    for (int i = 0; i < 20; i++) {
        nav_vec p = {i - 2, 1, 3}, q = {14 - i, 0, 5};
        answered += nav_query_nearest(query, mesh, p, &snap, &place);
        answered += nav_query_nearest_many(query, mesh, p, &snap, many, 8) > 0;
        answered += nav_query_raycast(query, mesh, p, q, &snap, true, &ray) == NAV_OK;
    }
    return answered;
}

static void the_steady_state_allocates_nothing(void **state)
{
    (void)state;
    fixture f;
    make_slope(&f);
    counter c = {0, INT32_MAX};
    nav_alloc alloc = {counting_resize, &c};
    nav_query *query = nav_query_create(&alloc);
    assert_int_equal(ask_everything(query, f.mesh), 60);
    int calls = c.calls;
    assert_int_equal(ask_everything(query, f.mesh), 60);
    assert_int_equal(c.calls, calls);
    nav_query_destroy(query);
    // Whichever allocation fails, the answer is no memory, and the next one is right.
    for (int fail_from = 1; fail_from <= calls; fail_from++) {
        c = (counter){0, fail_from};
        query = nav_query_create(&alloc);
        assert_true((query == NULL) == (fail_from == 1));
        if (query) {
            assert_true(ask_everything(query, f.mesh) < 60);
            c.fail_from = INT32_MAX;
            assert_int_equal(ask_everything(query, f.mesh), 60);
        }
        nav_query_destroy(query);
    }
    finish(&f);
}

static void buffers_grow_and_keep(void **state)
{
    (void)state;
    counter c = {0, INT32_MAX};
    nav_alloc alloc = {counting_resize, &c};
    nav_query *query = nav_query_create(&alloc);
    uint32_t *data = nav__reserve(query, &query->polygons, sizeof *data);
    assert_non_null(data);
    int before = c.calls;
    for (uint32_t i = 0; i < 100000; i++) {
        data = nav__reserve(query, &query->polygons, (i + 1) * sizeof *data);
        assert_non_null(data);
        data[i] = i;
    }
    assert_true(c.calls - before < 30);
    for (uint32_t i = 0; i < 100000; i++) {
        assert_int_equal(data[i], i);
    }
    c.fail_from = 0;
    assert_null(nav__reserve(query, &query->polygons, SIZE_MAX / 2));
    assert_true(query->polygons.data == data && query->polygons.bytes >= 100000 * sizeof *data);
    nav_query_destroy(query);
    nav_query_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containment_is_exact),
        cmocka_unit_test(closest_points_are_closest),
        cmocka_unit_test(heights_without_detail_are_the_fans),
        cmocka_unit_test(heights_with_detail_are_the_triangles),
        cmocka_unit_test(a_cell_finds_the_face_that_holds),
        cmocka_unit_test(a_leg_names_the_faces_it_crosses),
        cmocka_unit_test(a_leg_has_a_point_at_each_edge_it_crosses),
        cmocka_unit_test(the_steady_state_allocates_nothing),
        cmocka_unit_test(buffers_grow_and_keep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
