/// The report of polygons that cover each other at one height.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "nav_mesh.h"

static void add_rectangle(nav_soup *s, double x, double z, double width, double depth, double y)
{
    uint32_t first = s->vertex_count;
    const uint32_t corners[4] = {first, first + 1, first + 2, first + 3};
    nav_soup_add_vertex(s, x, y, z);
    nav_soup_add_vertex(s, x, y, z + depth);
    nav_soup_add_vertex(s, x + width, y, z + depth);
    nav_soup_add_vertex(s, x + width, y, z);
    assert_int_equal(nav_soup_add_polygon(s, corners, 4, 0, 0, NULL), NAV_OK);
}

/// @return overlaps found
static uint32_t build(nav_soup *s, nav_report *report)
{
    nav_mesh *mesh;
    nav_error error;
    if (nav_mesh_build(s, NULL, NULL, &mesh, report, &error) != NAV_OK) {
        fail_msg("%s", error.message);
    }
    nav_mesh_destroy(mesh);
    nav_soup_deinit(s);
    return report->overlap_count;
}

static void test_what_covers_is_told(void **state)
{
    (void)state;
    static nav_report report;
    nav_soup s;
    nav_soup_init(&s, NULL);
    add_rectangle(&s, 0, 0, 10, 10, 3);
    add_rectangle(&s, 100, 0, 10, 10, 3);
    add_rectangle(&s, 8, 6, 10, 2, 3.01); // covers 2 by 2 of the first
    assert_int_equal(build(&s, &report), 1);
    assert_int_equal(report.overlaps[0].polygons[0], 0);
    assert_int_equal(report.overlaps[0].polygons[1], 2);
    assert_true(report.overlaps[0].at.x == 9 && report.overlaps[0].at.z == 7);
    assert_true(fabs(report.overlaps[0].at.y - 3) < 0.02);
    assert_int_equal(report.warning_count, 1);
    assert_non_null(strstr(report.warnings[0], "1 pairs of polygons cover each other"));
}

static void test_sound_meshes_have_none(void **state)
{
    (void)state;
    static nav_report report;
    nav_soup s;
    // Neighbours, one that touches in part, one that overlaps by less than is welded, and a floor above.
    nav_soup_init(&s, NULL);
    add_rectangle(&s, 0, 0, 10, 10, 0);
    add_rectangle(&s, 10, 0, 10, 10, 0);
    add_rectangle(&s, 5, 10, 10, 10, 0);
    add_rectangle(&s, -10, 0, 10 + 5e-5, 10, 0);
    add_rectangle(&s, 0, 0, 20, 20, 3);
    assert_int_equal(build(&s, &report), 0);
    // A ramp over a floor: at one height along a line only.
    nav_soup_init(&s, NULL);
    add_rectangle(&s, 0, 0, 10, 10, 0);
    const uint32_t ramp[4] = {4, 5, 6, 7};
    nav_soup_add_vertex(&s, 0, 0, 0);
    nav_soup_add_vertex(&s, 0, 0, 10);
    nav_soup_add_vertex(&s, 10, 8, 10);
    nav_soup_add_vertex(&s, 10, 8, 0);
    assert_int_equal(nav_soup_add_polygon(&s, ramp, 4, 0, 0, NULL), NAV_OK);
    assert_int_equal(build(&s, &report), 0);
}

/// Pieces of one polygon, and very many polygons in one place.
static void test_odd_ones(void **state)
{
    (void)state;
    static nav_report report;
    nav_soup s;
    nav_soup_init(&s, NULL);
    static const double corners[6][2] = {{0, 0}, {0, 10}, {10, 10}, {10, 8}, {2, 8}, {2, 0}};
    uint32_t ring[6];
    for (uint32_t i = 0; i < 6; i++) {
        ring[i] = i;
        nav_soup_add_vertex(&s, corners[i][0], 0, corners[i][1]);
    }
    assert_int_equal(nav_soup_add_polygon(&s, ring, 6, 0, 0, NULL), NAV_OK);
    assert_int_equal(build(&s, &report), 0);
    nav_soup_init(&s, NULL);
    for (int i = 0; i < 400; i++) {
        add_rectangle(&s, 0.01 * i, 0, 50, 50, 0);
    }
    assert_int_equal(build(&s, &report), 400 * 399 / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_covers_is_told),
        cmocka_unit_test(test_sound_meshes_have_none),
        cmocka_unit_test(test_odd_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
