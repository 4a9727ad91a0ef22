/// Matrices: every entry is the length of the single path.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nav_matrix.h"
#include "scene.h"
#include "small_mesh.h"

#include <math.h>

enum { SIDE = 14 }; ///< enough pairs for the graph of corners, on meshes this small

/// A place on the mesh, now and then one beside it.
static nav_vec some_place(const scene *s, rng *r)
{
    nav_vec p = random_point_position(&s->mesh, random_point(&s->mesh, r));
    if (rng_below(r, 12) == 0) {
        p.y += 1e6;
    }
    return p;
}

static void compare_with_paths(const scene *s, nav_query *query, const nav_snap *snap, rng *r)
{
    nav_vec sources[SIDE], targets[SIDE];
    for (int i = 0; i < SIDE; i++) {
        sources[i] = some_place(s, r);
        targets[i] = rng_below(r, 6) == 0 ? sources[i] : some_place(s, r);
    }
    nav_matrix *matrix;
    assert_int_equal(nav_matrix_create(query, s->nav, snap, sources, SIDE, targets, SIDE, NULL, &matrix), NAV_OK);
    nav_path_options options = nav_path_options_default();
    options.snap = *snap;
    options.no_partial = true;
    for (uint32_t i = 0; i < SIDE; i++) {
        double row[SIDE];
        assert_int_equal(nav_matrix_row(matrix, query, i, row), NAV_OK);
        for (int k = 0; k < SIDE; k++) {
            nav_path path;
            assert_int_equal(nav_query_path(query, s->nav, sources[i], targets[k], &options, &path), NAV_OK);
            double want = path.status == NAV_PATH_COMPLETE ? path.length : INFINITY;
            // Two ways may be equally short on the ground and differ in height.
            double slack = s->kind == RANDOM_SPIRAL ? 0.02 : 1e-6;
            if (!(row[k] == want || fabs(row[k] - want) <= slack * (1 + want))) {
                fail_msg("%s: %u to %d: %.17g, single path %.17g", scene_name(s), i, k, row[k], want);
            }
        }
    }
    nav_matrix_destroy(matrix);
}

static void rows_are_single_paths(void **state)
{
    (void)state;
    nav_query *query = nav_query_create(NULL);
    for (uint64_t seed = 0; seed < 240; seed++) {
        scene s;
        unsigned variant = (unsigned)(seed * 7 / RANDOM_KIND_COUNT % SCENE_VARIANTS) & ~(unsigned)SCENE_TRANSFORM;
        assert_true(scene_make(&s, (random_kind)(seed % RANDOM_KIND_COUNT), 90000 + seed, variant, NULL));
        rng r = rng_seeded(seed);
        nav_snap snap = nav_snap_default();
        snap.half_extents = (nav_vec){0.01, 0.5, 0.01};
        if (variant & SCENE_FLAGS) {
            snap.filter.exclude = 1u << rng_below(&r, 3);
        }
        compare_with_paths(&s, query, &snap, &r);
        scene_destroy(&s);
    }
    nav_query_destroy(query);
}

/// Two rooms joined by a link: there is no graph of corners that knows rides.
static void links_are_ridden(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 4, 0, 4, 0);
    small_mesh_quad(&s, 6, 10, 0, 4, 0);
    nav_link link = {.id = "jump", .start = {4, 0, 2}, .end = {6, 0, 2}, .radius = 0.1, .cost = -1, .flags = 1};
    assert_int_equal(nav_soup_add_link(&s.soup, &link), NAV_OK);
    small_mesh_build(&s);
    nav_snap snap = nav_snap_default();
    nav_vec places[2] = {{1, 0, 2}, {9, 0, 2}};
    nav_matrix *matrix;
    assert_int_equal(nav_matrix_create(s.query, s.nav, &snap, places, 2, places, 2, NULL, &matrix), NAV_OK);
    double row[2];
    assert_int_equal(nav_matrix_row(matrix, s.query, 0, row), NAV_OK);
    assert_true(row[0] == 0 && fabs(row[1] - 8) < 1e-9);
    assert_int_equal(nav_matrix_row(matrix, s.query, 1, row), NAV_OK);
    assert_true(isinf(row[0]) && row[1] == 0);
    nav_matrix_destroy(matrix);
    small_mesh_finish(&s);
}

static void nothing_is_lost_without_memory(void **state)
{
    (void)state;
    scene s;
    assert_true(scene_make(&s, RANDOM_GRID, 5, 0, NULL));
    rng r = rng_seeded(5);
    nav_vec places[SIDE];
    for (int i = 0; i < SIDE; i++) {
        places[i] = random_point_position(&s.mesh, random_point(&s.mesh, &r));
    }
    nav_snap snap = nav_snap_default();
    nav_query *query = nav_query_create(NULL);
    bool whole = false;
    for (size_t n = 1; !whole; n++) {
        test_alloc a;
        test_alloc_init(&a);
        a.refuse_from = n;
        nav_matrix *matrix = NULL;
        nav_status status = nav_matrix_create(query, s.nav, &snap, places, SIDE, places, SIDE, &a.alloc, &matrix);
        double row[SIDE];
        for (uint32_t i = 0; i < SIDE && status == NAV_OK; i++) {
            status = nav_matrix_row(matrix, query, i, row);
        }
        assert_true(status == NAV_OK || status == NAV_NO_MEMORY);
        whole = status == NAV_OK;
        nav_matrix_destroy(matrix);
    }
    nav_query_destroy(query);
    scene_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_single_paths),
        cmocka_unit_test(links_are_ridden),
        cmocka_unit_test(nothing_is_lost_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
