/// nav_mesh_build on random soups: what holds of any mesh, and that nothing a soup may say does harm.
#include "mesh_check.h"
#include "nav_mesh.h"
#include "poly_mesh.h"
#include "random_mesh.h"
#include "rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static nav_mesh *build(const nav_soup *soup, bool no_merge, nav_report *report)
{
    nav_build_options options = nav_build_options_default();
    options.no_merge = no_merge;
    nav_mesh *mesh = NULL;
    nav_error error = {0};
    nav_status status = nav_mesh_build(soup, &options, NULL, &mesh, report, &error);
    if (status != NAV_OK) {
        fail_msg("%s", error.message);
    }
    return mesh;
}

static void check(const nav_mesh *mesh, const char *what, uint64_t seed)
{
    char why[256];
    if (!mesh_check(mesh, mesh->rounding, why)) {
        fail_msg("%s, seed %llu: %s", what, (unsigned long long)seed, why);
    }
}

static uint32_t root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/// Do the mesh's islands hold the same polygons as the generator's connected components?
static void compare_islands(const poly_mesh *poly, const nav_mesh *mesh, uint64_t seed)
{
    uint32_t *parent = malloc(poly->poly_count * sizeof *parent), pieces = poly->poly_count;
    for (uint32_t p = 0; p < poly->poly_count; p++) {
        parent[p] = p;
    }
    for (uint32_t p = 0; p < poly->poly_count; p++) {
        for (uint32_t k = poly->first[p]; k < poly->first[p + 1]; k++) {
            if (poly->neighbours[k] != NAV_NONE) {
                uint32_t a = root(parent, p), b = root(parent, poly->neighbours[k]);
                pieces -= a != b;
                parent[a] = b;
            }
        }
    }
    if (pieces != mesh->island_count) {
        fail_msg("seed %llu: %u islands for %u pieces", (unsigned long long)seed, mesh->island_count, pieces);
    }
    for (uint32_t f = 1; f < mesh->face_count; f++) {
        bool same = root(parent, nav__face_polygon(mesh, f)) == root(parent, nav__face_polygon(mesh, f - 1));
        bool island = mesh->cells[mesh->faces[f].cell].island == mesh->cells[mesh->faces[f - 1].cell].island;
        assert_int_equal(same, island);
    }
    free(parent);
}

static double total_area(const poly_mesh *poly)
{
    double sum = 0;
    for (uint32_t p = 0; p < poly->poly_count; p++) {
        sum += poly_mesh_area(poly, p);
    }
    return sum;
}

static void random_case(random_kind kind, uint64_t seed)
{
    poly_mesh poly;
    rng r = rng_seeded(seed);
    random_mesh(&poly, kind, seed);
    bool moved = rng_chance(&r, 0.5), junctions = rng_chance(&r, 0.5), flags = rng_chance(&r, 0.3);
    double area = total_area(&poly);
    if (flags) {
        random_flags(&poly, &r, 3);
    }
    if (moved) {
        random_transform(&poly, &r);
        area = total_area(&poly);
    }
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    // Straight corners can only be told where positions are exact: leave them out before moving.
    assert_int_equal(poly_mesh_to_soup(&poly, &soup, junctions && !moved, seed * rng_below(&r, 2)), NAV_OK);
    for (int no_merge = 0; no_merge < 2; no_merge++) {
        nav_report *report = calloc(1, sizeof *report);
        nav_mesh *mesh = build(&soup, no_merge, report);
        check(mesh, no_merge ? "unmerged" : "merged", seed);
        compare_islands(&poly, mesh, seed);
        assert_int_equal(report->degenerate_polygons, 0);
        assert_int_equal(report->duplicate_polygons, 0);
        double sum = 0;
        for (uint32_t i = 0; i < mesh->island_count; i++) {
            sum += mesh->island_area[i];
        }
        assert_true(fabs(sum - area) <= 1e-6 * area + (moved ? 1e-3 * area : 0));
        for (uint32_t p = 0; flags && p < poly.poly_count; p++) {
            assert_int_equal(nav_mesh_polygon_flags(mesh, p), poly.flags[p]);
        }
        nav_mesh_destroy(mesh);
        free(report);
    }
    nav_soup_deinit(&soup);
    poly_mesh_deinit(&poly);
}

static void test_random_meshes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        for (int kind = 0; kind < RANDOM_KIND_COUNT; kind++) {
            random_case((random_kind)kind, seed);
        }
    }
}

/// Polygons of random corners over few positions: crossed, doubled, overlapping, upright, of any size.
static void random_soup(nav_soup *soup, rng *r)
{
    uint32_t vertices = 3 + rng_below(r, 30), polygons = 1 + rng_below(r, 30);
    int range = rng_between(r, 1, 6), height = rng_between(r, 0, 2);
    double grain = rng_chance(r, 0.3) ? 1e-4 * rng_between(r, 1, 50) : 1, jitter = rng_chance(r, 0.4) ? 3e-4 : 0;
    for (uint32_t v = 0; v < vertices; v++) {
        double x = grain * rng_between(r, 0, range) + jitter * rng_unit(r), z = grain * rng_between(r, 0, range);
        assert_int_equal(nav_soup_add_vertex(soup, x, 0.4 * rng_between(r, 0, height), z), NAV_OK);
    }
    bool edges = rng_chance(r, 0.3);
    for (uint32_t p = 0; p < polygons; p++) {
        uint32_t corners[12], kinds[12], count = 3 + rng_below(r, rng_chance(r, 0.7) ? 2 : 10);
        for (uint32_t k = 0; k < count; k++) {
            corners[k] = rng_below(r, vertices);
            kinds[k] = rng_chance(r, 0.5) ? rng_below(r, polygons) : NAV_EDGE_SEAM + rng_below(r, 3);
        }
        assert_int_equal(
            nav_soup_add_polygon(soup, corners, count, (uint8_t)rng_below(r, 2), rng_below(r, 3), edges ? kinds : NULL),
            NAV_OK);
    }
}

/// The structure holds of whatever is built from nonsense. Not the areas: a coarse tolerance may move
/// the sides of cells by more than their width.
static void test_nonsense(void **state)
{
    (void)state;
    uint32_t built = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        rng r = rng_seeded(seed);
        nav_soup soup;
        nav_soup_init(&soup, NULL);
        random_soup(&soup, &r);
        nav_build_options options = {.weld = rng_chance(&r, 0.5) ? -1 : 0.01 * rng_unit(&r), .no_merge = seed % 2};
        nav_mesh *mesh = NULL;
        nav_error error = {0};
        nav_status status = nav_mesh_build(&soup, &options, NULL, &mesh, NULL, &error);
        if (status == NAV_OK) {
            char why[256];
            if (!mesh_check_structure(mesh, why)) {
                fail_msg("seed %llu: %s", (unsigned long long)seed, why);
            }
            built++;
        } else {
            assert_int_equal(status, NAV_BAD_MESH);
            assert_true(error.message[0] != '\0');
        }
        nav_mesh_destroy(mesh);
        nav_soup_deinit(&soup);
    }
    assert_true(built > 1000);
}

/// Fails the call that `left` counts down to, and counts what is taken and not given back.
typedef struct failing {
    uint64_t left;
    int64_t held;
} failing;

static void *failing_resize(void *ctx, void *p, size_t bytes)
{
    failing *f = ctx;
    if (bytes == 0) {
        f->held -= p != NULL;
        free(p);
        return NULL;
    }
    if (f->left == 0) {
        return NULL;
    }
    f->left--;
    void *q = realloc(p, bytes);
    f->held += q && !p;
    return q;
}

static void test_out_of_memory_anywhere(void **state)
{
    (void)state;
    // A mesh that needs every step: junctions, cuts, detail, links.
    poly_mesh poly;
    random_mesh(&poly, RANDOM_GRID, 3);
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    assert_int_equal(poly_mesh_to_soup(&poly, &soup, true, 5), NAV_OK);
    uint32_t v = soup.vertex_count;
    const double at[][2] = {{2000, 0}, {2000, 6},      {2002, 6}, {2002, 2}, {2006, 2},
                            {2006, 0}, {2005.9999, 1}, {2009, 0}, {2009, 1}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        assert_int_equal(nav_soup_add_vertex(&soup, at[i][0], 0, at[i][1]), NAV_OK);
    }
    const uint32_t bent[6] = {v, v + 1, v + 2, v + 3, v + 4, v + 5}, side[4] = {v + 5, v + 6, v + 8, v + 7};
    assert_int_equal(nav_soup_add_polygon(&soup, bent, 6, 0, 0, NULL), NAV_OK);
    assert_int_equal(nav_soup_add_polygon(&soup, side, 4, 0, 0, NULL), NAV_OK);
    nav_link link = {.id = "a", .start = {2001, 0, 1}, .end = {2008, 0, 0.5}, .radius = 1, .bidirectional = true};
    assert_int_equal(nav_soup_add_link(&soup, &link), NAV_OK);
    uint32_t failures = 0;
    for (uint64_t n = 0;; n++) {
        failing f = {n, 0};
        nav_alloc alloc = {failing_resize, &f};
        nav_mesh *mesh = NULL;
        nav_error error = {0};
        nav_status status = nav_mesh_build(&soup, NULL, &alloc, &mesh, NULL, &error);
        if (status == NAV_OK) {
            check(mesh, "after failures", n);
            nav_mesh_destroy(mesh);
            assert_int_equal(f.held, 0);
            break;
        }
        assert_int_equal(status, NAV_NO_MEMORY);
        assert_null(mesh);
        assert_int_equal(f.held, 0);
        failures++;
    }
    assert_true(failures > 50);
    nav_soup_deinit(&soup);
    poly_mesh_deinit(&poly);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_meshes),
        cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
