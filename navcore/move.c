/// A step along the surface that slides along walls.
///
/// Where the straight walk is blocked: of the ground that hangs together with the start inside the circle
/// over start and end, the place nearest to the end. That ground does not depend on how it is cut into
/// cells. Its place nearest to the end lies on a wall (from elsewhere one could go on), so only walls are
/// measured. Where it lies on the circle as well, the slide goes on along that wall as long as that leads
/// nearer to the end. (Round the wall's end it does not go on: that would be a way, not a step.)
///
/// Coordinates are relative to the start, s: with u = end - s, a place y lies in the circle when
/// y . (y - u) <= 0 (Thales), and is the nearer to the end the smaller (y - u) . (y - u), or
/// y . y - 2 y . u, is. The last holds its precision however far away the end is.
#include "flood.h"
#include "nav_surface.h"
#include "walk.h"

/// Further ends are cut to this: the squares of longer steps leave the range of a double.
static const double LONGEST = 1e100;
/// An end that many times the mesh's width away is far beyond it.
static const double FAR = 1000;
/// A shorter step has no direction left in a double's square.
static const double SHORTEST = 1e-140;

typedef struct slide {
    nav_query *query;
    const nav_mesh *m;
    const nav_filter *filter;
    nav__p2 start, end, u;
    bool is_far;            ///< the end is
    uint32_t *reached;      ///< by cell
    uint32_t *queue, count; ///< cells in the order in which they were reached
    bool arrived;

    nav__p2 best;     ///< not relative to the start
    double best_left; ///< its left_to_go
    uint32_t best_cell;
    uint32_t best_edge; ///< with on_circle: the wall it lies on
    bool on_circle;     ///< the wall goes on beyond the circle
} slide;

/// Squared distance from y to the end; to an end far beyond the mesh less that from the start, as otherwise
/// places would hardly differ.
static double left_to_go(const slide *s, nav__p2 y)
{
    if (s->is_far) {
        return nav__dot(y, y) - 2 * nav__dot(y, s->u);
    }
    nav__p2 rest = nav__sub(y, s->u);
    return nav__dot(rest, rest);
}

/// The part of the edge a -> a + d that lies in the circle, a relative to the start.
/// @return false when there is none
static bool clip_to_circle(const slide *s, nav__p2 a, nav__p2 d, double *t0, double *t1)
{
    double square = nav__dot(d, d), linear = 2 * nav__dot(a, d) - nav__dot(d, s->u),
           constant = nav__dot(a, nav__sub(a, s->u));
    double discriminant = linear * linear - 4 * square * constant;
    if (!(discriminant >= 0)) {
        return false;
    }
    // The root of larger size first, so that nothing cancels; then the other by the product of both.
    double q = -(linear + copysign(sqrt(discriminant), linear)) / 2;
    double r0 = q / square, r1 = q != 0 ? constant / q : r0;
    *t0 = fmax(fmin(r0, r1), 0);
    *t1 = fmin(fmax(r0, r1), 1);
    return *t0 <= *t1;
}

static bool is_open(const slide *s, uint32_t e)
{
    uint32_t twin = s->m->edges[e].twin;
    return twin != NAV_NONE && nav__passes(s->m, s->filter, nav__edge_cell(s->m, twin));
}

/// Looks at the place on wall e, between t0 and t1 of it, that is nearest to the end.
static void try_wall(slide *s, uint32_t e, double t0, double t1)
{
    nav__p2 from = nav__edge_from(s->m, e), to = nav__edge_from(s->m, nav__edge_next(s->m, e));
    nav__p2 a = nav__sub(from, s->start), d = nav__sub(to, from);
    double best = nav__dot(d, nav__sub(s->u, a)) / nav__dot(d, d), t = fmin(fmax(best, t0), t1);
    nav__p2 y = {a.x + t * d.x, a.z + t * d.z};
    double left = left_to_go(s, y);
    if (!(left < s->best_left)) {
        return;
    }
    s->best = t == 0 ? from : t == 1 ? to : (nav__p2){s->start.x + y.x, s->start.z + y.z};
    s->best_left = left;
    s->best_cell = nav__edge_cell(s->m, e);
    s->best_edge = e;
    s->on_circle = t != best && t != 0 && t != 1;
}

static void reach(slide *s, uint32_t cell)
{
    if (s->reached[cell] != s->query->reached_stamp && nav__passes(s->m, s->filter, cell)) {
        s->reached[cell] = s->query->reached_stamp;
        s->queue[s->count++] = cell;
    }
}

static void look_round(slide *s, uint32_t cell)
{
    const nav_mesh *m = s->m;
    uint32_t first = m->cells[cell].first_edge, end = m->cells[cell + 1].first_edge, e = end - 1;
    nav__p2 a = nav__edge_from(m, e);
    bool holds_end = true;
    for (uint32_t next = first; next < end; next++) {
        nav__p2 b = nav__edge_from(m, next);
        double t0, t1;
        holds_end = holds_end && nav__orient(a, b, s->end) >= 0;
        if (clip_to_circle(s, nav__sub(a, s->start), nav__sub(b, a), &t0, &t1)) {
            if (is_open(s, e)) {
                reach(s, nav__edge_cell(m, m->edges[e].twin));
            } else {
                try_wall(s, e, t0, t1);
            }
        }
        e = next;
        a = b;
    }
    if (holds_end) {
        s->best = s->end;
        s->best_cell = cell;
        s->arrived = true;
    }
}

/// @return NAV_OK, NAV_NO_MEMORY, NAV_INTERRUPTED
static nav_status slide_on(slide *s, const nav__anchor *start)
{
    const nav_interrupt *interrupt = &s->query->interrupt;
    s->reached = nav__stamps(s->query, s->m->cell_count);
    s->queue = nav__reserve(s->query, &s->query->cells, s->m->cell_count * sizeof *s->queue);
    if (!s->reached || !s->queue) {
        return NAV_NO_MEMORY;
    }
    for (uint32_t i = 0; i < start->count; i++) {
        reach(s, start->cells[i]);
    }
    for (uint32_t at = 0; at < s->count && !s->arrived; at++) {
        look_round(s, s->queue[at]);
        if (at % 256 == 255 && interrupt->stop && interrupt->stop(interrupt->ctx)) {
            return NAV_INTERRUPTED;
        }
    }
    return NAV_OK;
}

// ---- the whole -------------------------------------------------------------------------------------

static bool is_finite(nav_vec p)
{
    return isfinite(p.x) && isfinite(p.y) && isfinite(p.z);
}

static nav__p2 cut_end(const nav_mesh *m, nav_vec end)
{
    double most = fmax(fabs(end.x), fabs(end.z)), scale = most > LONGEST ? LONGEST / most : 1;
    return nav__ground(m, (nav_vec){end.x * scale, 0, end.z * scale});
}

nav_status nav_query_move(nav_query *query, const nav_mesh *mesh, nav_vec start, nav_vec end, const nav_snap *snap,
                          nav_move *move)
{
    *move = (nav_move){.status = NAV_MOVE_START_OFF_MESH, .start.polygon = NAV_NONE, .polygon = NAV_NONE};
    if (!is_finite(start) || !is_finite(end)) {
        return NAV_BAD_ARGUMENT;
    }
    if (!nav_query_nearest(query, mesh, start, snap, &move->start)) {
        return NAV_OK;
    }
    nav__anchor anchor;
    nav__anchor_make(mesh, &move->start, &snap->filter, &anchor);
    slide s = {.query = query,
               .m = mesh,
               .filter = &snap->filter,
               .start = anchor.p,
               .end = cut_end(mesh, end),
               .best_edge = NAV_NONE};
    s.u = nav__sub(s.end, s.start);
    double width = (double)mesh->max[0] - (double)mesh->min[0], depth = (double)mesh->max[2] - (double)mesh->min[2];
    s.is_far = fmax(fabs(s.u.x), fabs(s.u.z)) > FAR * fmax(width, depth);
    nav__walk_end walked = {.clear = true, .cell = move->start.cell, .point = s.end};
    if (fabs(s.u.x) > SHORTEST || fabs(s.u.z) > SHORTEST) {
        nav__walk_leg(mesh, &snap->filter, anchor.cells, anchor.count, s.start, s.end, NULL, NULL, &walked);
    }
    s.arrived = walked.clear;
    s.best = walked.point;
    s.best_cell = walked.cell;
    s.best_left = left_to_go(&s, nav__sub(walked.point, s.start));
    nav_status status = s.arrived ? NAV_OK : slide_on(&s, &anchor);
    if (status != NAV_OK) {
        return status;
    }
    if (!s.arrived && s.on_circle) {
        try_wall(&s, s.best_edge, 0, 1);
    }
    uint32_t face;
    double height = nav__cell_height(mesh, s.best_cell, s.best, &face);
    move->status = NAV_MOVE_MOVED;
    move->hit = !s.arrived;
    move->polygon = nav__face_polygon(mesh, face);
    move->point = (nav_vec){s.arrived ? end.x : mesh->origin.x + s.best.x, mesh->origin.y + height,
                            s.arrived ? end.z : mesh->origin.z + s.best.z};
    return NAV_OK;
}
