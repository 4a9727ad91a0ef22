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

// ---- random meshes and bodies ------------------------------------------------------------------------

enum { MOST_BODIES = 12, STEPS = 10, SAMPLES = 300 };

/// What stands on a mesh, as the test sees it.
typedef struct standing {
    bool there;
    nav_edit edit;
    nav_vec points[8];
} standing;

typedef struct world {
    scene s;
    nav_editor *editor;
    nav_mesh *base, *now;
    nav_query *query;
    standing bodies[MOST_BODIES];
    double extent, agent;
    rng r;
} world;

static void bounds_of(const poly_mesh *m, double low[2], double high[2])
{
    low[0] = low[1] = INFINITY;
    high[0] = high[1] = -INFINITY;
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        for (int i = 0; i < 2; i++) {
            low[i] = fmin(low[i], m->vertices[3 * (size_t)v + 2 * (size_t)i]);
            high[i] = fmax(high[i], m->vertices[3 * (size_t)v + 2 * (size_t)i]);
        }
    }
}

/// A body somewhere on the mesh; now and then one that lies along what is already there, to the last bit.
static void random_body(world *w, uint32_t i)
{
    standing *b = &w->bodies[i];
    nav_vec at = random_point_position(&w->s.mesh, random_point(&w->s.mesh, &w->r));
    double size = w->extent * (0.01 + 0.1 * rng_unit(&w->r) * rng_unit(&w->r));
    uint32_t kind = rng_below(&w->r, 4);
    char id[16];
    snprintf(id, sizeof id, "b%u", i);
    if (kind == 0) {
        b->edit = cylinder(id, at.x, at.y - 0.1, at.z, size, 1);
    } else if (kind == 1) {
        double yaw = rng_chance(&w->r, 0.5) ? 0 : 6.3 * rng_unit(&w->r);
        b->edit = box(id, at, (nav_vec){size, 0.5, size * (0.3 + rng_unit(&w->r))}, yaw);
    } else if (kind == 2) { // a box between multiples of 1/8
        nav_vec half = {ceil(size * 8) / 8, 0.5, ceil(size * 4) / 8};
        b->edit = box(id, (nav_vec){floor(at.x * 8) / 8, at.y, floor(at.z * 8) / 8}, half, 0);
    } else { // an arrow head, not convex
        const double shape[5][2] = {{0, 0}, {1, -0.6}, {0.3, 0}, {1, 0.6}, {0, 0.1}};
        double turn = 6.3 * rng_unit(&w->r);
        for (int k = 0; k < 5; k++) {
            b->points[k].x = at.x + size * (shape[k][0] * cos(turn) - shape[k][1] * sin(turn));
            b->points[k].z = at.z + size * (shape[k][0] * sin(turn) + shape[k][1] * cos(turn));
        }
        b->edit = (nav_edit){.kind = NAV_EDIT_OBSTACLE};
        snprintf(b->edit.id, sizeof b->edit.id, "%s", id);
        b->edit.shape = (nav_shape){.kind = NAV_SHAPE_PRISM, .point_count = 5, .min = at.y - 0.5, .max = at.y + 0.5};
    }
    b->edit.shape.points = b->points;
    b->there = true;
}

static double segment_distance(nav_vec p, nav_vec a, nav_vec b)
{
    double x = b.x - a.x, z = b.z - a.z, t = ((p.x - a.x) * x + (p.z - a.z) * z) / (x * x + z * z);
    t = fmin(fmax(t, 0), 1);
    return hypot(a.x + t * x - p.x, a.z + t * z - p.z);
}

/// Ground distance from a shape, negative inside.
static double shape_distance(const nav_shape *s, nav_vec p)
{
    if (s->kind == NAV_SHAPE_CYLINDER) {
        return hypot(p.x - s->center.x, p.z - s->center.z) - s->radius;
    }
    if (s->kind == NAV_SHAPE_BOX) {
        double x = p.x - s->center.x, z = p.z - s->center.z, u = cos(s->yaw), v = sin(s->yaw);
        double dx = fabs(x * u - z * v) - s->half_extents.x, dz = fabs(x * v + z * u) - s->half_extents.z;
        return dx < 0 && dz < 0 ? fmax(dx, dz) : hypot(fmax(dx, 0), fmax(dz, 0));
    }
    bool inside = false;
    double least = INFINITY;
    for (uint32_t i = 0; i < s->point_count; i++) {
        nav_vec a = s->points[i], b = s->points[(i + 1) % s->point_count];
        if ((a.z > p.z) != (b.z > p.z) && p.x < a.x + (p.z - a.z) / (b.z - a.z) * (b.x - a.x)) {
            inside = !inside;
        }
        least = fmin(least, segment_distance(p, a, b));
    }
    return inside ? -least : least;
}

static void height_band(const nav_shape *s, double *low, double *high)
{
    *low = s->kind == NAV_SHAPE_CYLINDER ? s->center.y
           : s->kind == NAV_SHAPE_BOX    ? s->center.y - s->half_extents.y
                                         : s->min;
    *high = s->kind == NAV_SHAPE_CYLINDER ? s->center.y + s->height
            : s->kind == NAV_SHAPE_BOX    ? s->center.y + s->half_extents.y
                                          : s->max;
}

typedef enum verdict { FREE, BLOCKED, UNSURE } verdict;

/// Is a place on a polygon walkable? Unsure within the 2 % that outlines may be too large, and where only a part of
/// a steep polygon lies in the height band.
static verdict judge(const world *w, nav_vec p, uint32_t polygon)
{
    double low_y = INFINITY, high_y = -INFINITY, slack = 1e-4 * w->extent + 4 * w->s.rounding;
    for (uint32_t k = 0; k < poly_mesh_size(&w->s.mesh, polygon); k++) {
        double y = poly_mesh_corner(&w->s.mesh, polygon, k)[1];
        low_y = fmin(low_y, y);
        high_y = fmax(high_y, y);
    }
    verdict all = FREE;
    for (uint32_t i = 0; i < MOST_BODIES; i++) {
        const nav_shape *s = &w->bodies[i].edit.shape;
        if (!w->bodies[i].there) {
            continue;
        }
        double low, high, d = shape_distance(s, p) - w->agent;
        double excess = 0.02 * fmax(w->agent, s->kind == NAV_SHAPE_CYLINDER ? s->radius : 0) + slack;
        height_band(s, &low, &high);
        low -= 0.5; // climb
        if (d > excess || low_y > high + slack || high_y < low - slack) {
            continue;
        }
        // A spiral's quadrangles are not flat, and navcore may cut them along the other diagonal.
        double bend = w->s.kind == RANDOM_SPIRAL ? 0.2 * w->extent : slack;
        if (d < -slack && p.y > low + bend && p.y < high - bend) {
            return BLOCKED;
        }
        all = UNSURE;
    }
    return all;
}

static void start_world(world *w, random_kind kind, uint64_t seed, unsigned variant)
{
    memset(w, 0, sizeof *w);
    assert_true(scene_make(&w->s, kind, seed, variant, NULL));
    w->r = rng_seeded(seed + 77);
    w->query = nav_query_create(NULL);
    w->agent = seed % 3 == 0 ? 0 : 0.25;
    w->s.nav->agent.radius = w->agent;
    double low[2], high[2];
    bounds_of(&w->s.mesh, low, high);
    w->extent = fmax(high[0] - low[0], high[1] - low[1]);
    assert_int_equal(nav_editor_create(w->s.nav, NULL, &w->editor, NULL), NAV_OK);
    w->base = apply(w->editor, NULL, 0);
}

static void end_world(world *w)
{
    nav_mesh_destroy(w->base);
    nav_mesh_destroy(w->now);
    nav_editor_destroy(w->editor);
    nav_query_destroy(w->query);
    scene_destroy(&w->s);
}

static void check_world(world *w)
{
    char why[256];
    if (!mesh_check_edited(w->now, 1e-3 + 8 * w->s.rounding, why)) {
        fail_msg("%s: %s", scene_name(&w->s), why);
    }
    nav_snap snap = nav_snap_default();
    snap.half_extents = (nav_vec){0, 1e-3 * w->extent, 0};
    for (int i = 0; i < SAMPLES; i++) {
        oracle_point o = random_point(&w->s.mesh, &w->r);
        nav_vec p = random_point_position(&w->s.mesh, o);
        nav_place place, before;
        verdict want = judge(w, p, o.polygon);
        if (want == UNSURE || !nav_query_nearest(w->query, w->base, p, &snap, &before)) {
            continue;
        }
        bool found = nav_query_nearest(w->query, w->now, p, &snap, &place);
        // Another floor may lie this near; then the place found tells.
        if (found != (want == FREE) && !(found && fabs(place.point.y - p.y) > 1e-4)) {
            fail_msg("%s: (%.9g, %.9g, %.9g) on %u is %s", scene_name(&w->s), p.x, p.y, p.z, o.polygon,
                     found ? "walkable" : "blocked");
        }
        if (found && fabs(place.point.y - before.point.y) > 1e-4 * (1 + w->extent) + 16 * w->s.rounding) {
            fail_msg("%s: height %.9g, was %.9g", scene_name(&w->s), place.point.y, before.point.y);
        }
    }
}

/// The base's own arrays, as far as edits write them.
static void check_restored(const world *w)
{
    const nav_mesh *a = w->base, *b = w->now;
    assert_false(b->loose_islands);
    assert_memory_equal(a->cells, b->cells, a->cell_count * sizeof *a->cells);
    assert_memory_equal(a->edges, b->edges, a->edge_count * sizeof *a->edges);
    assert_memory_equal(a->vertex_edge, b->vertex_edge, a->vertex_count * sizeof *a->vertex_edge);
    assert_memory_equal(a->faces, b->faces, a->face_count * sizeof *a->faces);
    assert_memory_equal(a->face_pieces, b->face_pieces, a->face_count * sizeof *a->face_pieces);
    for (uint32_t c = a->cell_count; c < b->cell_count; c++) {
        assert_true(nav__cell_is_gone(b, c));
    }
}

/// Meshes turned by any angle may have cells as thin as rounding, which no edit can cut: it is refused.
static uint32_t refused;

static void run_world(random_kind kind, uint64_t seed, unsigned variant)
{
    world w;
    start_world(&w, kind, seed, variant);
    for (int step = 0; step <= STEPS; step++) {
        nav_edit edits[MOST_BODIES];
        uint32_t count = 0;
        for (uint32_t i = 0; i < MOST_BODIES; i++) {
            bool last = step == STEPS;
            if (w.bodies[i].there && (last || rng_chance(&w.r, 0.15))) {
                edits[count++] = removal(NAV_EDIT_REMOVE_OBSTACLE, w.bodies[i].edit.id);
                w.bodies[i].there = false;
            } else if (!last && rng_chance(&w.r, 0.3)) {
                random_body(&w, i);
                edits[count++] = w.bodies[i].edit;
            }
        }
        nav_mesh *next = NULL;
        nav_error error = {.message = "?"};
        nav_status status = nav_editor_apply(w.editor, edits, count, &next, NULL, &error);
        if (status == NAV_TOO_LARGE && (variant & SCENE_TRANSFORM)) {
            refused++;
            end_world(&w);
            return;
        }
        if (status != NAV_OK) {
            fail_msg("%s: %s", scene_name(&w.s), error.message);
        }
        nav_mesh_destroy(w.now);
        w.now = next;
        check_world(&w);
    }
    check_restored(&w);
    end_world(&w);
}

static void run(random_kind kind, uint64_t seeds)
{
    const char *rounds = getenv("NAVD_TEST_ROUNDS");
    seeds *= rounds ? strtoull(rounds, NULL, 10) : 1;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        run_world(kind, seed, (unsigned)(seed % SCENE_VARIANTS));
    }
    assert_true(refused <= seeds / 50 + 1);
    refused = 0;
}

static void triangles(void **state)
{
    (void)state;
    run(RANDOM_TRIANGLES, 60);
}

static void grids(void **state)
{
    (void)state;
    run(RANDOM_GRID, 60);
}

static void spirals(void **state)
{
    (void)state;
    run(RANDOM_SPIRAL, 40);
}

static void buildings(void **state)
{
    (void)state;
    run(RANDOM_BUILDING, 40);
}

int main(int argc, char **argv)
{
    if (argc == 4) { // one world: its kind, seed and variant
        run_world((random_kind)atoi(argv[1]), strtoull(argv[2], NULL, 10), (unsigned)atoi(argv[3]));
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_cylinder), cmocka_unit_test(triangles), cmocka_unit_test(grids),
        cmocka_unit_test(spirals),      cmocka_unit_test(buildings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
