/// Doors, painted ground, links that come and go, meshes for larger agents, and edits that are refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layout.h"
#include "mesh_check.h"
#include "nav_edit.h"
#include "nav_surface.h"
#include "scene.h"
#include "small_mesh.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

static void check(const nav_mesh *m)
{
    char why[256];
    if (!mesh_check_edited(m, 1e-3, why)) {
        fail_msg("%s", why);
    }
}

static nav_mesh *apply(nav_editor *editor, const nav_edit *edits, uint32_t count)
{
    nav_mesh *m = NULL;
    nav_error error = {.message = "?"};
    nav_status status = nav_editor_apply(editor, edits, count, &m, NULL, &error);
    if (status != NAV_OK) {
        fail_msg("apply: %s: %s", nav_status_text(status), error.message);
    }
    check(m);
    return m;
}

static nav_editor *edit(const nav_mesh *m)
{
    nav_editor *editor = NULL;
    assert_int_equal(nav_editor_create(m, NULL, &editor, NULL), NAV_OK);
    return editor;
}

static nav_path find(nav_query *q, const nav_mesh *m, nav_vec a, nav_vec b, const nav_filter *filter)
{
    nav_path path;
    nav_path_options options = nav_path_options_default();
    options.snap.half_extents = (nav_vec){1e-3, 0.4, 1e-3};
    if (filter) {
        options.snap.filter = *filter;
    }
    assert_int_equal(nav_query_path(q, m, a, b, &options, &path), NAV_OK);
    return path;
}

static const nav_vec strip[4] = {{4, 0, -1}, {5, 0, -1}, {5, 0, 3}, {4, 0, 3}};

static nav_edit region(const char *id)
{
    nav_edit e = {.kind = NAV_EDIT_REGION};
    snprintf(e.id, sizeof e.id, "%s", id);
    e.region.shape = (nav_shape){.kind = NAV_SHAPE_PRISM, .points = strip, .point_count = 4, .min = -1, .max = 1};
    return e;
}

static nav_edit named(nav_edit_kind kind, const char *id)
{
    nav_edit e = {.kind = kind};
    snprintf(e.id, sizeof e.id, "%s", id);
    return e;
}

/// Two corridors along x, z 0..2 and 6..8, joined at both ends; above the first a floor at height 3.
static void start_ring(small_mesh *s)
{
    small_mesh_start(s);
    small_mesh_quad(s, 0, 10, 0, 2, 0);
    small_mesh_quad(s, 0, 2, 2, 6, 0);
    small_mesh_quad(s, 8, 10, 2, 6, 0);
    small_mesh_quad(s, 0, 10, 6, 8, 0);
    small_mesh_quad(s, 0, 10, 0, 2, 3);
    small_mesh_build(s);
}

static void door(void **state)
{
    (void)state;
    small_mesh s;
    start_ring(&s);
    nav_editor *editor = edit(s.nav);
    const nav_vec a = {1, 0, 1}, b = {9, 0, 1};
    nav_edit shut = region("door");
    shut.region.blocked = true;
    nav_mesh *closed = apply(editor, &shut, 1);
    assert_true(find(s.query, closed, a, b, NULL).length > 12);
    assert_int_equal(find(s.query, closed, a, b, NULL).status, NAV_PATH_COMPLETE);
    const nav_vec up_a = {1, 3, 1}, up_b = {9, 3, 1};
    assert_true(find(s.query, closed, up_a, up_b, NULL).length == 8); // the other floor
    nav_edit second = region("other");
    const nav_vec across[4] = {{4, 0, 5}, {4, 0, 9}, {5, 0, 9}, {5, 0, 5}};
    second.region.shape.points = across;
    second.region.blocked = true;
    nav_mesh *cut = apply(editor, &second, 1);
    assert_int_equal(find(s.query, cut, a, b, NULL).status, NAV_PATH_PARTIAL);
    assert_true(fabs(find(s.query, cut, a, b, NULL).remaining - 5) < 1e-6);
    shut.region.blocked = false; // an open door is a region that does nothing
    nav_mesh *open = apply(editor, &shut, 1);
    assert_true(find(s.query, open, a, b, NULL).length == 8);
    nav_edit back[2] = {named(NAV_EDIT_REMOVE_REGION, "door"), named(NAV_EDIT_REMOVE_REGION, "other")};
    nav_mesh *none = apply(editor, back, 2);
    assert_true(find(s.query, none, a, b, NULL).length == 8);
    assert_int_equal(find(s.query, cut, a, b, NULL).status, NAV_PATH_PARTIAL); // old revisions stay
    nav_editor_destroy(editor);
    nav_mesh_destroy(cut);
    nav_mesh_destroy(closed);
    assert_true(find(s.query, none, a, b, NULL).length == 8);
    nav_mesh_destroy(none);
    nav_mesh_destroy(open);
    small_mesh_finish(&s);
}

static void paint(void **state)
{
    (void)state;
    small_mesh s;
    start_ring(&s);
    nav_editor *editor = edit(s.nav);
    const nav_vec a = {1, 0, 1}, b = {9, 0, 1};
    double costs[256];
    for (int i = 0; i < 256; i++) {
        costs[i] = i == 7 ? 50 : 1;
    }
    nav_filter dear = nav_filter_default(), dry = nav_filter_default(), walk = nav_filter_default();
    dear.area_costs = costs;
    dry.exclude = 4;
    walk.include = 1;
    nav_edit mud = region("mud");
    mud.region.sets_area = true;
    mud.region.area = 7;
    nav_mesh *m = apply(editor, &mud, 1);
    assert_true(find(s.query, m, a, b, NULL).length == 8);
    assert_true(fabs(find(s.query, m, (nav_vec){4.4, 0, 1}, (nav_vec){4.6, 0, 1}, &dear).cost - 10) < 1e-4);
    assert_true(find(s.query, m, a, b, &dear).length > 12);
    nav_edit water = region("water"); // later than the mud, but it says nothing of the area
    water.region.sets_flags = true;
    water.region.flags = 4;
    nav_mesh *wet = apply(editor, &water, 1);
    assert_true(find(s.query, wet, a, b, &dry).length > 12);
    assert_true(find(s.query, wet, a, b, &walk).length > 12); // other ground has bit 0
    assert_true(find(s.query, wet, a, b, NULL).length == 8);
    assert_true(find(s.query, wet, a, b, &dear).length > 12);
    nav_edit both[2] = {named(NAV_EDIT_REMOVE_REGION, "mud"), named(NAV_EDIT_REMOVE_REGION, "water")};
    nav_mesh *clean = apply(editor, both, 2);
    assert_true(find(s.query, clean, a, b, &dry).length == 8);
    assert_true(find(s.query, clean, a, b, &dear).length == 8);
    nav_editor_destroy(editor);
    nav_mesh_destroy(m);
    nav_mesh_destroy(wet);
    nav_mesh_destroy(clean);
    small_mesh_finish(&s);
}

static void links(void **state)
{
    (void)state;
    small_mesh s;
    start_ring(&s);
    nav_editor *editor = edit(s.nav);
    const nav_vec down = {1, 0, 1}, up = {9, 3, 1};
    nav_edit lift = named(NAV_EDIT_LINK, "lift");
    lift.link = (nav_link){.start = {5, 0, 1}, .end = {5, 3, 1}, .radius = 0.1, .cost = -1, .flags = 1};
    nav_mesh *m = apply(editor, &lift, 1);
    assert_int_equal(find(s.query, m, down, up, NULL).status, NAV_PATH_COMPLETE);
    assert_int_equal(find(s.query, m, down, up, NULL).link_count, 1);
    assert_int_equal(find(s.query, m, up, down, NULL).status, NAV_PATH_PARTIAL);
    lift.link.bidirectional = true;
    nav_mesh *both = apply(editor, &lift, 1);
    assert_int_equal(find(s.query, both, up, down, NULL).status, NAV_PATH_COMPLETE);
    nav_edit crate = named(NAV_EDIT_OBSTACLE, "crate");
    crate.shape = (nav_shape){.kind = NAV_SHAPE_CYLINDER, .center = {5, 0, 1}, .radius = 0.5, .height = 1};
    nav_edit_report report;
    nav_mesh *covered;
    assert_int_equal(nav_editor_apply(editor, &crate, 1, &covered, &report, NULL), NAV_OK);
    assert_int_equal(report.links_off, 1);
    assert_int_equal(find(s.query, covered, down, up, NULL).status, NAV_PATH_PARTIAL);
    nav_edit away = named(NAV_EDIT_REMOVE_OBSTACLE, "crate");
    nav_mesh *again = apply(editor, &away, 1);
    assert_int_equal(find(s.query, again, down, up, NULL).status, NAV_PATH_COMPLETE);
    lift.link_disabled = true;
    nav_mesh *off = apply(editor, &lift, 1);
    assert_int_equal(find(s.query, off, down, up, NULL).status, NAV_PATH_PARTIAL);
    assert_true(nav_editor_has(editor, NAV_EDIT_LINK, "lift"));
    nav_edit gone = named(NAV_EDIT_REMOVE_LINK, "lift");
    nav_mesh *none = apply(editor, &gone, 1);
    assert_int_equal(nav_editor_count(editor, NAV_EDIT_LINK), 0);
    nav_mesh *const all[] = {m, both, covered, again, off, none};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        nav_mesh_destroy(all[i]);
    }
    nav_editor_destroy(editor);
    small_mesh_finish(&s);
}

/// A ray from above meets a slope exactly where it is not carved.
static void picked(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    uint32_t corners[4] = {small_mesh_vertex(&s, 0, 0, 0), small_mesh_vertex(&s, 0, 1, 10),
                           small_mesh_vertex(&s, 10, 0, 10), small_mesh_vertex(&s, 10, 2, 0)}; // not flat
    small_mesh_polygon(&s, 4, corners);
    small_mesh_build(&s);
    nav_editor *editor = edit(s.nav);
    nav_edit crate = named(NAV_EDIT_OBSTACLE, "crate");
    crate.shape = (nav_shape){.kind = NAV_SHAPE_BOX, .center = {5, 0, 4}, .half_extents = {1, 3, 2}};
    nav_mesh *m = apply(editor, &crate, 1);
    for (int i = 1; i < 20; i++) {
        for (int k = 1; k < 20; k++) {
            double x = i / 2.0 + 0.1, z = k / 2.0 + 0.1;
            bool want = !(fabs(x - 5) < 1 && fabs(z - 4) < 2);
            nav_pick pick, before;
            nav_filter all = nav_filter_default();
            assert_int_equal(nav_query_pick(s.query, m, (nav_vec){x, 9, z}, (nav_vec){0, -1, 0}, INFINITY, &all, &pick),
                             NAV_OK);
            assert_int_equal(
                nav_query_pick(s.query, s.nav, (nav_vec){x, 9, z}, (nav_vec){0, -1, 0}, INFINITY, &all, &before),
                NAV_OK);
            assert_int_equal(pick.polygon != NAV_NONE, want);
            assert_true(!want || fabs(pick.point.y - before.point.y) < 1e-5);
        }
    }
    nav_mesh_destroy(m);
    nav_editor_destroy(editor);
    small_mesh_finish(&s);
}

static void refusals(void **state)
{
    (void)state;
    small_mesh s;
    start_ring(&s);
    nav_editor *editor = edit(s.nav);
    nav_edit good = named(NAV_EDIT_OBSTACLE, "a");
    good.shape = (nav_shape){.kind = NAV_SHAPE_CYLINDER, .center = {5, 0, 1}, .radius = 0.5, .height = 1};
    nav_edit list[2] = {good, good};
    const struct {
        nav_edit_kind kind;
        nav_shape shape;
        const char *member;
    } bad[] = {
        {NAV_EDIT_OBSTACLE, {.kind = NAV_SHAPE_CYLINDER, .radius = 0, .height = 1}, "radius"},
        {NAV_EDIT_OBSTACLE, {.kind = NAV_SHAPE_CYLINDER, .radius = 1, .height = -1}, "height"},
        {NAV_EDIT_OBSTACLE, {.kind = NAV_SHAPE_CYLINDER, .radius = 1, .center = {NAN, 0, 0}}, "center"},
        {NAV_EDIT_OBSTACLE, {.kind = NAV_SHAPE_BOX, .half_extents = {1, 1, 0}}, "half_extents"},
        {NAV_EDIT_OBSTACLE, {.kind = NAV_SHAPE_BOX, .half_extents = {1, 1, 1}, .yaw = INFINITY}, "yaw"},
        {NAV_EDIT_OBSTACLE, {.kind = NAV_SHAPE_PRISM, .points = strip, .point_count = 2}, "points"},
        {NAV_EDIT_OBSTACLE, {.kind = NAV_SHAPE_PRISM, .points = strip, .point_count = 4, .min = 2, .max = 1}, "max"},
        {NAV_EDIT_REMOVE_OBSTACLE, {.kind = NAV_SHAPE_BOX}, "id"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        list[1] = named(bad[i].kind, "b");
        list[1].shape = bad[i].shape;
        nav_mesh *m = NULL;
        nav_edit_report report;
        nav_error error;
        assert_int_equal(nav_editor_apply(editor, list, 2, &m, &report, &error), NAV_BAD_ARGUMENT);
        assert_int_equal(report.bad_edit, 1);
        assert_string_equal(report.member, bad[i].member);
        assert_int_equal(report.not_found, bad[i].kind == NAV_EDIT_REMOVE_OBSTACLE);
        assert_null(m);
        assert_int_equal(nav_editor_count(editor, NAV_EDIT_OBSTACLE), 0); // all or nothing
    }
    nav_mesh *m = apply(editor, NULL, 0);
    assert_true(find(s.query, m, (nav_vec){1, 0, 1}, (nav_vec){9, 0, 1}, NULL).length == 8);
    nav_mesh_destroy(m);
    nav_editor_destroy(editor);
    small_mesh_finish(&s);
}

/// Each allocation fails once; the editor goes on, and nothing leaks (seen by the address sanitizer).
static void no_memory(void **state)
{
    (void)state;
    small_mesh s;
    start_ring(&s);
    nav_edit list[3] = {named(NAV_EDIT_OBSTACLE, "a"), region("r"), named(NAV_EDIT_LINK, "l")};
    list[0].shape = (nav_shape){.kind = NAV_SHAPE_CYLINDER, .center = {7, 0, 1}, .radius = 0.5, .height = 1};
    list[1].region.sets_area = true;
    list[1].region.area = 3;
    list[2].link = (nav_link){.start = {5, 0, 1}, .end = {5, 3, 1}, .radius = 0.1, .cost = -1, .flags = 1};
    bool done = false;
    for (size_t n = 1; !done; n++) {
        test_alloc a;
        test_alloc_init(&a);
        a.refuse_from = n;
        nav_editor *editor;
        nav_mesh *m = NULL;
        nav_status status = nav_editor_create(s.nav, &a.alloc, &editor, NULL);
        if (status != NAV_OK) {
            assert_int_equal(status, NAV_NO_MEMORY);
            continue;
        }
        status = nav_editor_apply(editor, list, 3, &m, NULL, NULL);
        done = status == NAV_OK;
        if (!done) {
            assert_int_equal(status, NAV_NO_MEMORY);
            assert_int_equal(nav_editor_count(editor, NAV_EDIT_OBSTACLE), 0);
            a.refuse_from = 0;
            assert_int_equal(nav_editor_apply(editor, list, 3, &m, NULL, NULL), NAV_OK);
        }
        check(m);
        nav_mesh_destroy(m);
        nav_editor_destroy(editor);
    }
    small_mesh_finish(&s);
}

/// A million edits in small, without a word of memory more: obstacles come and go among others.
static void level_memory(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    for (int i = 0; i < 10; i++) {
        for (int k = 0; k < 10; k++) {
            small_mesh_quad(&s, 4 * i, 4 * i + 4, 4 * k, 4 * k + 4, 0);
        }
    }
    small_mesh_build(&s);
    nav_editor *editor = edit(s.nav);
    rng r = rng_seeded(3);
    size_t most = 0, early = 0;
    nav_mesh *m = NULL;
    for (int i = 0; i < 1600; i++) {
        char id[16];
        snprintf(id, sizeof id, "o%u", rng_below(&r, 40));
        nav_edit e = named(NAV_EDIT_OBSTACLE, id);
        e.shape = (nav_shape){.kind = NAV_SHAPE_CYLINDER,
                              .center = {40 * rng_unit(&r), 0, 40 * rng_unit(&r)},
                              .radius = 0.3 + rng_unit(&r),
                              .height = 1};
        if (nav_editor_has(editor, NAV_EDIT_OBSTACLE, id) && rng_chance(&r, 0.4)) {
            e = named(NAV_EDIT_REMOVE_OBSTACLE, id);
        }
        nav_mesh *next = NULL;
        assert_int_equal(nav_editor_apply(editor, &e, 1, &next, NULL, NULL), NAV_OK);
        nav_mesh_destroy(m);
        m = next;
        nav_mesh_info info;
        nav_mesh_get_info(m, &info);
        most = info.memory_bytes > most ? info.memory_bytes : most;
        early = i == 800 ? most : early;
    }
    check(m);
    print_message("%zu bytes at most, %zu after half\n", most, early);
    assert_true(most < early + early / 4);
    nav_mesh_destroy(m);
    nav_editor_destroy(editor);
    small_mesh_finish(&s);
}

// ---- larger agents -----------------------------------------------------------------------------------

static double area_of(const nav_mesh *m)
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

static void square_shrunk(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 10, 0, 10, 0);
    small_mesh_build(&s);
    nav_mesh *m, *none;
    assert_int_equal(nav_mesh_shrink(s.nav, 1, NULL, NULL, &m, NULL), NAV_OK);
    check(m);
    double area = area_of(m);
    assert_true(area <= 64 + 1e-4 && area >= 7.96 * 7.96);
    assert_true(m->agent.radius == s.nav->agent.radius + 1);
    assert_int_equal(nav_mesh_shrink(s.nav, 6, NULL, NULL, &none, NULL), NAV_OK);
    check(none);
    assert_int_equal(find(s.query, none, (nav_vec){5, 0, 5}, (nav_vec){6, 0, 5}, NULL).status, NAV_PATH_START_OFF_MESH);
    assert_int_equal(nav_mesh_shrink(s.nav, 0, NULL, NULL, &m, NULL), NAV_BAD_ARGUMENT);
    nav_mesh_destroy(m);
    nav_mesh_destroy(none);
    small_mesh_finish(&s);
}

static nav_status wall_near(nav_query *q, const nav_mesh *m, nav_vec p, nav_wall *wall)
{
    nav_snap snap = nav_snap_default();
    snap.half_extents = (nav_vec){0, 0.1, 0};
    return nav_query_wall(q, m, p, INFINITY, &snap, wall);
}

/// Random meshes with obstacles, shrunk: a place is left exactly when no wall is nearer, to within 2 %; and no path
/// comes nearer either.
static void random_shrunk(void **state)
{
    (void)state;
    nav_query *q = nav_query_create(NULL);
    uint32_t samples = 0;
    for (uint64_t seed = 0; seed < 18; seed++) {
        scene s;
        random_kind kind = seed % 3 == 0 ? RANDOM_BUILDING : seed % 3 == 1 ? RANDOM_GRID : RANDOM_TRIANGLES;
        assert_true(scene_make(&s, kind, seed, seed % 2 ? SCENE_NO_MERGE : 0, NULL));
        rng r = rng_seeded(seed + 5);
        nav_mesh *small;
        double radius = (kind == RANDOM_TRIANGLES ? 8 : 0.3) * (0.3 + rng_unit(&r));
        nav_error error = {.message = "?"};
        if (nav_mesh_shrink(s.nav, radius, NULL, NULL, &small, &error) != NAV_OK) {
            fail_msg("%s: %s", scene_name(&s), error.message);
        }
        char why[256];
        if (!mesh_check_edited(small, 1e-3, why)) {
            fail_msg("%s: %s", scene_name(&s), why);
        }
        nav_snap snap = nav_snap_default();
        snap.half_extents = (nav_vec){0, 0.1, 0};
        for (int i = 0; i < 200; i++) {
            nav_vec p = random_point_position(&s.mesh, random_point(&s.mesh, &r));
            nav_wall wall;
            nav_place place;
            assert_int_equal(wall_near(q, s.nav, p, &wall), NAV_OK);
            double d = wall.status == NAV_WALL_FOUND ? wall.distance : 1e9;
            bool left = nav_query_nearest(q, small, p, &snap, &place);
            // Walls behind walls do not count here, but a capsule reaches round a corner: only what is left is sure.
            if ((left && d < radius * (1 - 1e-4)) || (!left && kind == RANDOM_GRID && d > 3 * radius)) {
                fail_msg("%s: (%.9g, %.9g, %.9g): wall at %.9g, radius %.9g, %s", scene_name(&s), p.x, p.y, p.z, d,
                         radius, left ? "left" : "taken");
            }
            samples += left;
        }
        nav_mesh_destroy(small);
        scene_destroy(&s);
    }
    assert_true(samples > 150);
    nav_query_destroy(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(door),         cmocka_unit_test(paint),         cmocka_unit_test(links),
        cmocka_unit_test(picked),       cmocka_unit_test(refusals),      cmocka_unit_test(no_memory),
        cmocka_unit_test(level_memory), cmocka_unit_test(square_shrunk), cmocka_unit_test(random_shrunk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
