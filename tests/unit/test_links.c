/// Paths that ride off-mesh links, against brute force: the shortest way over start, goal and all ends of
/// links, where the walks between them are paths on the same mesh without links.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene.h"
#include "small_mesh.h"

#include <math.h>
#include <stdio.h>

enum { MOST_LINKS = 5, NODES = 2 + 2 * MOST_LINKS };

static double walk(nav_query *query, const nav_mesh *mesh, nav_vec a, nav_vec b)
{
    nav_path_options options = nav_path_options_default();
    options.no_partial = true;
    options.snap.half_extents = (nav_vec){0.01, 0.5, 0.01};
    nav_path path;
    assert_int_equal(nav_query_path(query, mesh, a, b, &options, &path), NAV_OK);
    return path.status == NAV_PATH_COMPLETE ? ground_length(&path) : INFINITY;
}

/// Least ground length plus ride costs from node 0 to node 1 (Floyd and Warshall).
static double brute_force(double d[NODES][NODES], uint32_t nodes)
{
    for (uint32_t k = 0; k < nodes; k++) {
        for (uint32_t i = 0; i < nodes; i++) {
            for (uint32_t j = 0; j < nodes; j++) {
                d[i][j] = fmin(d[i][j], d[i][k] + d[k][j]);
            }
        }
    }
    return d[0][1];
}

static double straight(nav_vec a, nav_vec b)
{
    return hypot(hypot(a.x - b.x, a.z - b.z), a.y - b.y);
}

static double ride_cost(const nav_link *link)
{
    return link->cost >= 0 ? link->cost : straight(link->start, link->end);
}

/// What the answer says it walks on the ground and rides.
static double told(const nav_mesh *mesh, const nav_path *path)
{
    double sum = 0;
    for (uint32_t i = 0, next = 0; i + 1 < path->point_count; i++) {
        if (next < path->link_count && path->links[next].at == i) {
            sum += ride_cost(&nav_mesh_links(mesh)[path->links[next++].link]);
        } else {
            sum += hypot(path->points[i + 1].x - path->points[i].x, path->points[i + 1].z - path->points[i].z);
        }
    }
    return sum;
}

/// The middle of some polygon: a link's end in a pinch would join the sectors that meet there.
static nav_vec some_middle(const scene *s, rng *r)
{
    uint32_t polygon = rng_below(r, s->mesh.poly_count), size = poly_mesh_size(&s->mesh, polygon);
    nav_vec sum = {0, 0, 0};
    for (uint32_t k = 0; k < size; k++) {
        sum.x += poly_mesh_corner(&s->mesh, polygon, k)[0] / size;
        sum.z += poly_mesh_corner(&s->mesh, polygon, k)[2] / size;
    }
    sum.y = poly_mesh_height(&s->mesh, polygon, sum.x, sum.z);
    return sum;
}

static nav_link random_link(const scene *s, rng *r, uint32_t number)
{
    nav_link link = {.radius = 0.05, .cost = -1, .flags = 1};
    snprintf(link.id, sizeof link.id, "link-%u", number);
    link.start = some_middle(s, r);
    do {
        link.end = some_middle(s, r);
    } while (s->mesh.poly_count > 1 && straight(link.start, link.end) == 0);
    link.bidirectional = rng_below(r, 2) == 0;
    if (rng_below(r, 2) == 0) {
        link.cost = rng_below(r, 3) == 0 ? 0 : straight(link.start, link.end) * rng_unit(r); // a teleport
    }
    return link;
}

static void check_scene(const scene *s, nav_query *query, rng *r)
{
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    assert_int_equal(poly_mesh_to_soup(&s->mesh, &soup, false, 0), NAV_OK);
    nav_link links[MOST_LINKS];
    uint32_t count = 1 + rng_below(r, MOST_LINKS);
    for (uint32_t i = 0; i < count; i++) {
        links[i] = random_link(s, r, i);
        assert_int_equal(nav_soup_add_link(&soup, &links[i]), NAV_OK);
    }
    nav_mesh *mesh;
    nav_error error;
    if (nav_mesh_build(&soup, NULL, NULL, &mesh, NULL, &error) != NAV_OK) {
        fail_msg("%s: %s", scene_name(s), error.message);
    }
    for (int pair = 0; pair < 6; pair++) {
        nav_vec nodes[NODES] = {random_point_position(&s->mesh, random_point(&s->mesh, r)),
                                random_point_position(&s->mesh, random_point(&s->mesh, r))};
        uint32_t n = 2;
        for (uint32_t i = 0; i < count; i++) {
            nodes[n++] = links[i].start;
            nodes[n++] = links[i].end;
        }
        double d[NODES][NODES];
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t k = 0; k < n; k++) {
                d[i][k] = i == k ? 0 : walk(query, s->nav, nodes[i], nodes[k]);
            }
        }
        for (uint32_t i = 0; i < count; i++) {
            double cost = ride_cost(&links[i]);
            d[2 + 2 * i][3 + 2 * i] = fmin(d[2 + 2 * i][3 + 2 * i], cost);
            if (links[i].bidirectional) {
                d[3 + 2 * i][2 + 2 * i] = fmin(d[3 + 2 * i][2 + 2 * i], cost);
            }
        }
        double want = brute_force(d, n);
        nav_path_options options = nav_path_options_default();
        options.no_partial = true;
        options.snap.half_extents = (nav_vec){0.01, 0.5, 0.01};
        nav_path path;
        assert_int_equal(nav_query_path(query, mesh, nodes[0], nodes[1], &options, &path), NAV_OK);
        double got = path.status == NAV_PATH_COMPLETE ? told(mesh, &path) : INFINITY;
        if (!(got == want || fabs(got - want) <= 1e-5 * (1 + want))) {
            fail_msg("%s: (%.17g, %.17g, %.17g) to (%.17g, %.17g, %.17g): %.17g, brute force %.17g", scene_name(s),
                     nodes[0].x, nodes[0].y, nodes[0].z, nodes[1].x, nodes[1].y, nodes[1].z, got, want);
        }
    }
    nav_mesh_destroy(mesh);
    nav_soup_deinit(&soup);
}

static void shortest_over_all_rides(void **state)
{
    (void)state;
    nav_query *query = nav_query_create(NULL);
    static const random_kind kinds[] = {RANDOM_TRIANGLES, RANDOM_GRID, RANDOM_BUILDING};
    for (uint64_t seed = 0; seed < 300; seed++) {
        scene s;
        assert_true(scene_make(&s, kinds[seed % 3], 70000 + seed, 0, NULL));
        rng r = rng_seeded(seed);
        check_scene(&s, query, &r);
        scene_destroy(&s);
    }
    nav_query_destroy(query);
}

/// Two platforms and a jump down, one way.
static void jump_down(small_mesh *s, uint32_t flags)
{
    small_mesh_start(s);
    small_mesh_quad(s, 0, 4, 0, 4, 3);
    small_mesh_quad(s, 6, 10, 0, 4, 0);
    nav_link link = {.id = "jump", .start = {3.5, 3, 2}, .end = {6.5, 0, 2}, .radius = 0.5, .cost = -1, .flags = flags};
    assert_int_equal(nav_soup_add_link(&s->soup, &link), NAV_OK);
    s->soup.has_flags = true;
    small_mesh_build(s);
}

static nav_path ask(small_mesh *s, nav_vec a, nav_vec b, uint32_t exclude)
{
    nav_path_options options = nav_path_options_default();
    options.snap.filter.exclude = exclude;
    nav_path path;
    assert_int_equal(nav_query_path(s->query, s->nav, a, b, &options, &path), NAV_OK);
    return path;
}

static void one_way_means_one_way(void **state)
{
    (void)state;
    small_mesh s;
    jump_down(&s, 1);
    nav_path down = ask(&s, (nav_vec){1, 3, 2}, (nav_vec){9, 0, 2}, 0);
    assert_int_equal(down.status, NAV_PATH_COMPLETE);
    assert_int_equal(down.point_count, 4);
    assert_int_equal(down.link_count, 1);
    assert_int_equal(down.links[0].at, 1);
    assert_true(down.points[1].x == 3.5 && down.points[1].y == 3 && down.points[2].x == 6.5 && down.points[2].y == 0);
    assert_true(fabs(down.length - (2.5 + sqrt(18) + 2.5)) < 1e-6 && fabs(down.cost - down.length) < 1e-9);
    nav_path up = ask(&s, (nav_vec){9, 0, 2}, (nav_vec){1, 3, 2}, 0);
    assert_int_equal(up.status, NAV_PATH_PARTIAL);
    assert_int_equal(up.link_count, 0);
    small_mesh_finish(&s);
}

static void a_filter_closes_links(void **state)
{
    (void)state;
    small_mesh s;
    jump_down(&s, 8);
    assert_int_equal(ask(&s, (nav_vec){1, 3, 2}, (nav_vec){9, 0, 2}, 8).status, NAV_PATH_PARTIAL);
    assert_int_equal(ask(&s, (nav_vec){1, 3, 2}, (nav_vec){9, 0, 2}, 0).status, NAV_PATH_COMPLETE);
    small_mesh_finish(&s);
}

static void links_beside_the_mesh_are_told(void **state)
{
    (void)state;
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    const double xz[4][2] = {{0, 0}, {4, 0}, {4, 4}, {0, 4}};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(nav_soup_add_vertex(&soup, xz[i][0], 0, xz[i][1]), NAV_OK);
    }
    assert_int_equal(nav_soup_add_polygon(&soup, (uint32_t[]){0, 1, 2, 3}, 4, 0, 1, NULL), NAV_OK);
    nav_link link = {.id = "lost", .start = {1, 0, 1}, .end = {90, 0, 1}, .radius = 0.5, .cost = -1, .flags = 1};
    assert_int_equal(nav_soup_add_link(&soup, &link), NAV_OK);
    nav_mesh *mesh;
    static nav_report report;
    nav_error error;
    assert_int_equal(nav_mesh_build(&soup, NULL, NULL, &mesh, &report, &error), NAV_OK);
    assert_int_equal(report.dropped_link_count, 1);
    assert_string_equal(report.dropped_links[0].id, "lost");
    assert_string_equal(report.dropped_links[0].reason, "its end is not near the mesh");
    nav_mesh_destroy(mesh);
    nav_soup_deinit(&soup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shortest_over_all_rides),
        cmocka_unit_test(one_way_means_one_way),
        cmocka_unit_test(a_filter_closes_links),
        cmocka_unit_test(links_beside_the_mesh_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
