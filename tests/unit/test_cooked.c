/// The cooked form: it must hold the whole mesh, and bytes that were damaged or made to hurt must be refused, or
/// else do no harm whatever is asked of them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "layout.h"
#include "mangle.h"
#include "mesh_check.h"
#include "nav_cooked.h"
#include "nav_matrix.h"
#include "nav_surface.h"
#include "random_mesh.h"

/// A mesh with areas, flags, and a link between two random places, and its cooked form.
typedef struct dish {
    nav_mesh *mesh;
    nav_report report;
    void *bytes;
    size_t size;
} dish;

static const char extra_text[] = "what the caller adds";

static void dish_make(dish *d, random_kind kind, uint64_t seed)
{
    poly_mesh polygons;
    nav_soup soup;
    rng r = rng_seeded(seed);
    random_mesh(&polygons, kind, seed);
    random_flags(&polygons, &r, 3);
    nav_soup_init(&soup, NULL);
    assert_int_equal(poly_mesh_to_soup(&polygons, &soup, false, seed), NAV_OK);
    for (int i = 0; i < 3; i++) {
        nav_link link = {.id = "a", .kind = "jump", .radius = 1, .cost = i - 1, .flags = 1, .bidirectional = i != 1};
        link.start = random_point_position(&polygons, random_point(&polygons, &r));
        link.end = random_point_position(&polygons, random_point(&polygons, &r));
        link.id[0] = (char)('a' + i);
        assert_int_equal(nav_soup_add_link(&soup, &link), NAV_OK);
    }
    nav_link far = {.id = "far", .start = {1e6, 0, 0}, .end = {1e6, 0, 1}};
    assert_int_equal(nav_soup_add_link(&soup, &far), NAV_OK);
    nav_soup_warn(&soup, "a warning");
    nav_error error;
    if (nav_mesh_build(&soup, NULL, NULL, &d->mesh, &d->report, &error) != NAV_OK) {
        fail_msg("seed %u: %s", (unsigned)seed, error.message);
    }
    nav_soup_deinit(&soup);
    poly_mesh_deinit(&polygons);
    assert_int_equal(nav_mesh_cook(d->mesh, &d->report, extra_text, sizeof extra_text, NULL, &d->bytes, &d->size),
                     NAV_OK);
}

static void dish_throw(dish *d)
{
    nav_mesh_destroy(d->mesh);
    free(d->bytes);
}

static nav_vec anywhere(const nav_mesh *m, rng *r)
{
    nav_mesh_info i;
    nav_mesh_get_info(m, &i);
    return (nav_vec){i.min.x + rng_unit(r) * (i.max.x - i.min.x), i.min.y + rng_unit(r) * (i.max.y - i.min.y),
                     i.min.z + rng_unit(r) * (i.max.z - i.min.z)};
}

/// Stops a search that has gone on for long, as a deadline would.
static bool has_had_enough(void *ctx)
{
    return ++*(unsigned *)ctx > 200;
}

static bool is_answer(nav_status status)
{
    return status == NAV_OK || status == NAV_INTERRUPTED;
}

/// Sums up some answers; the same mesh gives the same sum.
static double ask(nav_query *q, const nav_mesh *m, unsigned count)
{
    unsigned looks;
    nav_query_set_interrupt(q, &(nav_interrupt){has_had_enough, &looks});
    double sum = 0;
    rng r = rng_seeded(count);
    nav_snap snap = nav_snap_default();
    nav_path_options path_options = nav_path_options_default();
    nav_reach_options reach = nav_reach_options_default();
    nav_random_options chance = nav_random_options_default();
    path_options.corridor = path_options.surface = true;
    reach.max_cost = 5;
    for (unsigned i = 0; i < count; i++) {
        nav_vec a = anywhere(m, &r), b = anywhere(m, &r);
        looks = 0;
        path_options.snap.filter.exclude = i % 4 == 0 ? 2 : 0;
        nav_place place;
        nav_path path;
        nav_ray ray;
        nav_wall wall;
        nav_move move;
        nav_reach reached;
        nav_random random;
        sum += nav_query_nearest(q, m, a, &snap, &place) ? place.point.y + place.polygon : -1;
        assert_true(is_answer(nav_query_path(q, m, a, b, &path_options, &path)));
        sum += path.length + path.point_count + path.link_count;
        assert_true(is_answer(nav_query_raycast(q, m, a, b, &snap, true, &ray)));
        sum += ray.t;
        assert_true(is_answer(nav_query_wall(q, m, a, 5, &snap, &wall)));
        sum += wall.distance;
        assert_true(is_answer(nav_query_move(q, m, a, b, &snap, &move)));
        sum += move.point.x;
        if (i % 8 == 0) {
            assert_true(is_answer(nav_query_reachable(q, m, a, &reach, &reached)));
            sum += reached.area;
            chance.seed = i;
            assert_true(is_answer(nav_query_random(q, m, &chance, &random)));
            sum += random.point_count > 0 ? random.points[0].x : 0;
        }
    }
    return sum;
}

static void test_the_same_mesh(void **state)
{
    (void)state;
    nav_query *q = nav_query_create(NULL);
    for (uint64_t seed = 1; seed <= 24; seed++) {
        dish d;
        dish_make(&d, (random_kind)(seed % RANDOM_KIND_COUNT), seed);
        nav_cooked out;
        nav_report report;
        char why[256];
        nav_error error = {0};
        if (nav_mesh_open(d.bytes, d.size, NULL, NULL, NULL, &out, &report, &error) != NAV_OK) {
            fail_msg("seed %u: %s", (unsigned)seed, error.message);
        }
        assert_true(out.in_place);
        assert_int_equal(out.extra_size, sizeof extra_text);
        assert_memory_equal(out.extra, extra_text, sizeof extra_text);
        if (!mesh_check_structure(out.mesh, why)) {
            fail_msg("seed %u: %s", (unsigned)seed, why);
        }
        assert_memory_equal(&report, &d.report, sizeof report);
        assert_true(ask(q, d.mesh, 200) == ask(q, out.mesh, 200));
        // The same mesh is the same bytes, however it came about.
        void *again;
        size_t size;
        assert_int_equal(nav_mesh_cook(out.mesh, &report, out.extra, out.extra_size, NULL, &again, &size), NAV_OK);
        assert_int_equal(size, d.size);
        assert_memory_equal(again, d.bytes, size);
        free(again);
        nav_mesh_destroy(out.mesh);
        dish_throw(&d);
    }
    nav_query_destroy(q);
}

static void note_release(void *ctx)
{
    ++*(int *)ctx;
}

static void test_whose_bytes(void **state)
{
    (void)state;
    dish d;
    dish_make(&d, RANDOM_GRID, 5);
    int released = 0;
    nav_cooked out;
    assert_int_equal(nav_mesh_open(d.bytes, d.size, NULL, note_release, &released, &out, NULL, NULL), NAV_OK);
    assert_int_equal(released, 0);
    nav_mesh_destroy(out.mesh);
    assert_int_equal(released, 1);
    // Bytes that lie askew are copied.
    char *askew = malloc(d.size + 1);
    memcpy(askew + 1, d.bytes, d.size);
    assert_int_equal(nav_mesh_open(askew + 1, d.size, NULL, note_release, &released, &out, NULL, NULL), NAV_OK);
    assert_false(out.in_place);
    free(askew);
    nav_query *q = nav_query_create(NULL);
    assert_true(ask(q, d.mesh, 20) == ask(q, out.mesh, 20));
    nav_query_destroy(q);
    nav_mesh_destroy(out.mesh);
    assert_int_equal(released, 1);
    dish_throw(&d);
}

/// What a mangled file came to.
typedef struct tried {
    bool mend; ///< set the checksum right before trying
    unsigned opened, refused;
    nav_query *q;
} tried;

static void try_bytes(void *ctx, const void *bytes, size_t size)
{
    tried *t = ctx;
    void *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    if (t->mend && size > 32) {
        uint64_t whole = size, sum;
        memcpy((char *)copy + 24, &whole, 8);
        sum = XXH3_64bits((char *)copy + 16, size - 16);
        memcpy((char *)copy + 8, &sum, 8);
    }
    nav_cooked out;
    nav_error error = {0};
    static nav_report report;
    nav_status status = nav_mesh_open(copy, size, NULL, NULL, NULL, &out, &report, &error);
    if (status == NAV_OK) {
        t->opened++;
        ask(t->q, out.mesh, 9);
        nav_mesh_destroy(out.mesh);
    } else {
        t->refused++;
        assert_true(error.message[0] != '\0');
    }
    free(copy);
}

static void test_damaged(void **state)
{
    (void)state;
    dish d;
    dish_make(&d, RANDOM_BUILDING, 3);
    tried t = {.q = nav_query_create(NULL)};
    mangle_cuts(d.bytes, d.size, try_bytes, &t);
    mangle_flips(d.bytes, d.size, 300, 1, try_bytes, &t);
    assert_int_equal(t.opened, 0); // not one bit may differ
    nav_query_destroy(t.q);
    dish_throw(&d);
}

static void test_made_to_hurt(void **state)
{
    (void)state;
    tried t = {.mend = true, .q = nav_query_create(NULL)};
    for (uint64_t seed = 1; seed <= 6; seed++) {
        dish d;
        dish_make(&d, (random_kind)(seed % RANDOM_KIND_COUNT), seed);
        mangle_flips(d.bytes, d.size, 200, seed, try_bytes, &t);
        if (seed == 1) {
            mangle_words(d.bytes, d.size, 640, try_bytes, &t);
        }
        dish_throw(&d);
    }
    assert_true(t.opened > 200 && t.refused > 400);
    nav_query_destroy(t.q);
}

/// A change of one member, and what must be said of it.
static void check_refused(const dish *d, const void *member, const void *value, size_t bytes, const char *message)
{
    char *copy = aligned_alloc(64, (d->size + 63) / 64 * 64);
    nav_cooked out;
    assert_int_equal(nav_mesh_open(d->bytes, d->size, NULL, NULL, NULL, &out, NULL, NULL), NAV_OK);
    nav_mesh_destroy(out.mesh);
    memcpy(copy, d->bytes, d->size);
    memcpy(copy + ((const char *)member - (const char *)d->bytes), value, bytes);
    uint64_t sum = XXH3_64bits(copy + 16, d->size - 16);
    memcpy(copy + 8, &sum, 8);
    nav_error error = {0};
    assert_int_equal(nav_mesh_open(copy, d->size, NULL, NULL, NULL, &out, NULL, &error), NAV_BAD_FORMAT);
    if (!strstr(error.message, message)) {
        fail_msg("`%s` does not say `%s`", error.message, message);
    }
    free(copy);
}

static void test_each_complaint(void **state)
{
    (void)state;
    dish d;
    dish_make(&d, RANDOM_GRID, 9);
    nav_cooked out;
    assert_int_equal(nav_mesh_open(d.bytes, d.size, NULL, NULL, NULL, &out, NULL, NULL), NAV_OK);
    const nav_mesh *m = out.mesh;
    uint32_t e = 0;
    while (m->edges[e].twin == NAV_NONE) {
        e++;
    }
    const uint32_t zero = 0, most = NAV_NONE, big = 0x7FFFFFFF, points = m->point_count, faces = m->face_count;
    const float nan_value = NAN, infinite = INFINITY;
    uint32_t twin = m->edges[e].twin, other = twin + 1 == m->edge_count ? twin - 1 : twin + 1;
    const struct {
        const void *member, *value;
        const char *message;
    } cases[] = {
        {&m->cells[1].first_edge, &zero, "cells are out of order"},
        {&m->cells[1].first_edge, &most, "cells are out of order"},
        {&m->cells[0].island, &m->island_count, "cells are out of order"},
        {&m->cells[m->cell_count].first_edge, &big, "begin or end elsewhere"},
        {&m->faces[1].first_corner, &big, "faces are out of order"},
        {&m->faces[0].cell, &m->cell_count, "faces are out of order"},
        {&m->face_corners[2], &points, "a point that is not there"},
        {&m->cell_faces[0], &faces, "a face that is not there"},
        {&m->grid_faces[0], &faces, "the grid names a face"},
        {&m->grid_cells[0].end, &most, "the grid's lists"},
        {&m->vertex_edge[0], &m->edge_count, "an edge that is not there"},
        {&m->points[1], &nan_value, "no number"},
        {&m->points[2], &infinite, "no number"},
        {&m->edges[0].x, &infinite, "not convex"},
        {&m->edges[1].z, &nan_value, "not convex"},
        {&m->edges[e].twin, &other, "does not fit"},
        {&m->edges[e].twin, &m->edge_count, "does not fit"},
        {&m->edges[e].vertex, &m->vertex_count, "does not fit"},
        {&m->rides[0].to_cell, &m->cell_count, "a ride"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_refused(&d, cases[i].member, cases[i].value, 4, cases[i].message);
    }
    check_refused(&d, &m->links[0].radius, &(const double){-1}, 8, "a link cannot be");
    check_refused(&d, (const char *)d.bytes + 16, &big, 4, "another version or machine (2147483647");
    check_refused(&d, (const char *)d.bytes + 20, &zero, 4, "another version or machine");
    check_refused(&d, (const char *)d.bytes + 24, &zero, 4, "0 bytes of which");
    nav_mesh_destroy(out.mesh);
    nav_error error = {0};
    assert_int_equal(nav_mesh_open("hello", 5, NULL, NULL, NULL, &out, NULL, &error), NAV_UNKNOWN_FORMAT);
    assert_int_equal(nav_mesh_open(d.bytes, 40, NULL, NULL, NULL, &out, NULL, &error), NAV_BAD_FORMAT);
    assert_non_null(strstr(error.message, "ends within"));
    dish_throw(&d);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    dish d;
    dish_make(&d, RANDOM_GRID, 2);
    for (unsigned n = 1; n < 3; n++) {
        watched_memory memory = {.limit = SIZE_MAX, .fail_at = n};
        nav_alloc alloc = watched_alloc(&memory);
        void *bytes;
        size_t size;
        assert_int_equal(nav_mesh_cook(d.mesh, NULL, NULL, 0, &alloc, &bytes, &size), NAV_NO_MEMORY);
        assert_int_equal(memory.used, 0);
    }
    watched_memory memory = {.limit = SIZE_MAX, .fail_at = 1};
    nav_alloc alloc = watched_alloc(&memory);
    nav_cooked out;
    assert_int_equal(nav_mesh_open(d.bytes, d.size, &alloc, NULL, NULL, &out, NULL, NULL), NAV_NO_MEMORY);
    dish_throw(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_mesh),  cmocka_unit_test(test_whose_bytes),
        cmocka_unit_test(test_damaged),        cmocka_unit_test(test_made_to_hurt),
        cmocka_unit_test(test_each_complaint), cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
