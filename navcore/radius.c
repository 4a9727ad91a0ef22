/// Meshes for larger agents: a capsule round every wall is carved out.
#include "edit.h"
#include "scratch.h"

#include <string.h>

/// The corners of a polygon round a circle are this many: it exceeds the radius by less than 2 %.
enum { ROUND = 16 };

static bool add_capsule(nav_editor *e, nav__p2 a, nav__p2 b, double low, double high, double radius)
{
    nav__p2 points[2 * ROUND];
    double reach = radius / cos(acos(-1) / ROUND);
    for (uint32_t k = 0; k < ROUND; k++) {
        double angle = 2 * acos(-1) * k / ROUND;
        points[k] = (nav__p2){a.x + reach * cos(angle), a.z + reach * sin(angle)};
        points[ROUND + k] = (nav__p2){b.x + reach * cos(angle), b.z + reach * sin(angle)};
    }
    nav__body *body = e->alloc.resize(e->alloc.ctx, NULL, sizeof *body);
    if (!body) {
        return false;
    }
    *body = (nav__body){.blocks = true, .low_y = low, .high_y = high};
    body->parts = e->alloc.resize(e->alloc.ctx, NULL, sizeof *body->parts);
    if (!body->parts || !nav__part_hull(e, points, 2 * ROUND, body->parts)) {
        nav__body_free(e, body);
        return false;
    }
    body->part_count = 1;
    body->low = body->parts->low;
    body->high = body->parts->high;
    if (body->parts->count < 3) { // thinner than a float
        nav__body_free(e, body);
        return true;
    }
    if (nav__edit_add_body(e, body) == NAV_NONE) {
        nav__body_free(e, body);
        return false;
    }
    return true;
}

/// Ground this near to a wall may lie so much higher or lower than it.
static double rise(const nav_mesh *m, double radius)
{
    double slope = fmin(fmax(m->agent.slope, 0), 75);
    return m->agent.climb + 1.02 * radius * tan(slope * acos(-1) / 180);
}

static bool add_walls(nav_editor *e, double radius)
{
    const nav_mesh *m = &e->base;
    double margin = rise(m, radius);
    for (uint32_t c = 0; c < m->cell_count; c++) {
        for (uint32_t k = m->cells[c].first_edge; !nav__cell_is_gone(m, c) && k < m->cells[c + 1].first_edge; k++) {
            if (m->edges[k].twin != NAV_NONE) {
                continue;
            }
            uint32_t next = nav__edge_next(m, k);
            double ya = (double)m->vertex_y[m->edges[k].vertex & NAV__VERTEX];
            double yb = (double)m->vertex_y[m->edges[next].vertex & NAV__VERTEX];
            if (!add_capsule(e, nav__edge_from(m, k), nav__edge_from(m, next), fmin(ya, yb) - margin,
                             fmax(ya, yb) + margin, radius)) {
                return false;
            }
        }
    }
    return true;
}

nav_status nav_mesh_shrink(const nav_mesh *mesh, double difference, const nav_interrupt *interrupt,
                           const nav_alloc *alloc, nav_mesh **out, nav_error *error)
{
    if (!(difference > 0 && difference <= 1e9)) {
        return nav_fail(error, NAV_BAD_ARGUMENT, 0, NAV_NO_BYTE, "the radius must be above the mesh's and at most 1e9");
    }
    nav_editor *e = NULL;
    nav_status status = nav_editor_create(mesh, alloc, &e, error);
    if (status != NAV_OK) {
        return status;
    }
    nav_edit_report report;
    e->interrupt = interrupt;
    status = add_walls(e, difference)
                 ? nav__edit_run(e, false, out, &report, error)
                 : nav_fail(error, NAV_NO_MEMORY, 0, NAV_NO_BYTE, "out of memory while a mesh was shrunk");
    if (status == NAV_OK) {
        (*out)->agent.radius += difference;
    }
    nav_editor_destroy(e);
    return status;
}
