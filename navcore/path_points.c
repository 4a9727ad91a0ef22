#include "path_points.h"

#include "walk.h"
#include "weighted.h"

#include <math.h>

static double distance(nav_vec a, nav_vec b)
{
    double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrt(x * x + y * y + z * z);
}

/// Answers carry 32-bit floats: two points that print alike are one.
static bool prints_alike(nav_vec a, nav_vec b)
{
    return (float)a.x == (float)b.x && (float)a.y == (float)b.y && (float)a.z == (float)b.z;
}

static bool is_beside(const nav_mesh *m, nav_vec a, nav_vec b)
{
    return fabs(a.x - b.x) <= m->rounding && fabs(a.z - b.z) <= m->rounding;
}

// ---- stops -----------------------------------------------------------------------------------------

static nav_vec absolute(const nav_mesh *m, const float p[3])
{
    return (nav_vec){m->origin.x + (double)p[0], m->origin.y + (double)p[1], m->origin.z + (double)p[2]};
}

static nav__stop ride_stop(const nav_mesh *m, uint32_t ride, bool end)
{
    const nav__ride *r = &m->rides[ride];
    const float *p = end ? r->to : r->from;
    return (nav__stop){.point = absolute(m, p),
                       .ground = {(double)p[0], (double)p[2]},
                       .vertex = NAV_NONE,
                       .cell = end ? r->to_cell : r->from_cell,
                       .ride = end ? NAV_NONE : ride};
}

static nav__stop corner_stop(const nav_mesh *m, uint32_t v)
{
    uint32_t edge = m->vertex_edge[v];
    float p[3] = {m->edges[edge].x, nav__vertex_y(m, v), m->edges[edge].z};
    return (nav__stop){.point = absolute(m, p),
                       .ground = {(double)p[0], (double)p[2]},
                       .vertex = v,
                       .cell = nav__edge_cell(m, edge),
                       .ride = NAV_NONE};
}

bool nav__stops_from_corners(nav_query *query, const nav_mesh *m, const nav__stop *first, const nav__stop *last,
                             uint32_t corner_count, uint32_t *stop_count)
{
    // A ride takes two stops.
    nav__stop *stops = nav__reserve(query, &query->stops, ((size_t)corner_count * 2 + 2) * sizeof *stops);
    if (!stops) {
        return false;
    }
    const uint32_t *corners = query->corners.data;
    uint32_t n = 0;
    stops[n++] = *first;
    for (uint32_t i = 0; i < corner_count; i++) {
        if (corners[i] >= m->vertex_count) {
            uint32_t ride = corners[i] - m->vertex_count;
            nav__stop from = ride_stop(m, ride, false);
            if (prints_alike(stops[n - 1].point, from.point)) {
                stops[n - 1].ride = ride;
            } else {
                stops[n++] = from;
            }
            stops[n++] = ride_stop(m, ride, true);
            continue;
        }
        nav__stop corner = corner_stop(m, corners[i]);
        nav__stop next = i + 1 == corner_count               ? *last
                         : corners[i + 1] >= m->vertex_count ? ride_stop(m, corners[i + 1] - m->vertex_count, false)
                                                             : corner_stop(m, corners[i + 1]);
        const nav__stop *before = &stops[n - 1];
        // An end that stands on a corner is that corner, and a place on a straight line is none.
        bool needless = (before->vertex == NAV_NONE && is_beside(m, before->point, corner.point)) ||
                        (next.vertex == NAV_NONE && is_beside(m, corner.point, next.point)) ||
                        nav__orient(before->ground, corner.ground, next.ground) == 0 ||
                        prints_alike(before->point, corner.point);
        if (!needless) {
            stops[n++] = corner;
        }
    }
    if (!prints_alike(stops[n - 1].point, last->point)) {
        stops[n++] = *last;
    }
    *stop_count = n;
    return true;
}

bool nav__stops_from_steps(nav_query *query, const nav_mesh *m, const nav_filter *filter, const nav__stop *first,
                           const nav__stop *last, uint32_t step_count, uint32_t *stop_count)
{
    nav__stop *stops = nav__reserve(query, &query->stops, ((size_t)step_count + 1) * sizeof *stops);
    if (!stops) {
        return false;
    }
    const nav__step *steps = query->steps.data;
    uint32_t n = 0;
    stops[n++] = *first;
    for (uint32_t i = 1; i < step_count; i++) {
        const nav__step *step = &steps[i];
        nav__stop stop = {.point = {m->origin.x + step->p.x, m->origin.y + step->y, m->origin.z + step->p.z},
                          .ground = step->p,
                          .vertex = NAV_NONE,
                          .cell = step->cell,
                          .ride = NAV_NONE};
        if (step->ride != NAV_NONE) {
            stops[n - 1].ride = step->ride;
            stop.cell = m->rides[step->ride].to_cell;
        } else if (last && i + 1 == step_count) {
            stop = *last;
        }
        // Along the border of two areas the cheaper one counts: the search knows, a walk would not.
        stop.unit_cost = step->ride == NAV_NONE ? filter->area_costs[m->cells[step->cell].area] : 0;
        if (step->ride != NAV_NONE || !prints_alike(stops[n - 1].point, stop.point)) {
            stops[n++] = stop;
        }
    }
    *stop_count = n;
    return true;
}

/// Cells from which the leg after a stop may set out.
static uint32_t cells_at(const nav_mesh *m, const nav__stop *stop, const nav_filter *filter, uint32_t *cells)
{
    if (stop->vertex != NAV_NONE) {
        return nav__fan_cells(m, stop->vertex, cells, NAV__ANCHOR_CELLS);
    }
    nav_place place = {.point = stop->point, .cell = stop->cell};
    nav__anchor anchor;
    nav__anchor_make(m, &place, filter, &anchor);
    for (uint32_t i = 0; i < anchor.count; i++) {
        cells[i] = anchor.cells[i];
    }
    return anchor.count;
}

// ---- a cut -----------------------------------------------------------------------------------------

/// Looks for the part of a leg, inside one cell, in which the length left over is used up.
typedef struct cut_walk {
    const nav_mesh *m;
    nav_vec from; ///< where the leg begins
    double left;  ///< length that may still be walked
    nav__p2 a, b; ///< the part of the leg in `cell`
    uint32_t cell;
} cut_walk;

static nav_vec lifted(const nav_mesh *m, uint32_t cell, nav__p2 at)
{
    return (nav_vec){m->origin.x + at.x, m->origin.y + nav__cell_height(m, cell, at, NULL), m->origin.z + at.z};
}

static bool visit_cut(void *ctx, uint32_t cell, nav__p2 from, nav__p2 to)
{
    cut_walk *w = ctx;
    w->cell = cell;
    w->a = from;
    w->b = to;
    return distance(w->from, lifted(w->m, cell, to)) <= w->left;
}

enum { HALVINGS = 50 }; ///< of a part of a leg, until nothing of a double is left to halve

/// The last place of the part that is no further than what is left: the surface may lie above or below the
/// leg's straight line, so that its length is no help.
static nav__stop cut_place(const cut_walk *w)
{
    double low = 0, high = 1;
    for (int i = 0; i < HALVINGS; i++) {
        double t = low + (high - low) / 2;
        nav__p2 at = {w->a.x + (w->b.x - w->a.x) * t, w->a.z + (w->b.z - w->a.z) * t};
        if (distance(w->from, lifted(w->m, w->cell, at)) <= w->left) {
            low = t;
        } else {
            high = t;
        }
    }
    nav__p2 at = {w->a.x + (w->b.x - w->a.x) * low, w->a.z + (w->b.z - w->a.z) * low};
    return (nav__stop){
        .point = lifted(w->m, w->cell, at), .ground = at, .vertex = NAV_NONE, .cell = w->cell, .ride = NAV_NONE};
}

bool nav__stops_cut(nav_query *query, const nav_mesh *m, const nav_filter *filter, double max_length,
                    uint32_t *stop_count)
{
    nav__stop *stops = query->stops.data;
    double length = 0;
    for (uint32_t i = 1; i < *stop_count; i++) {
        nav__stop *from = &stops[i - 1];
        double leg = distance(from->point, stops[i].point);
        if (length + leg <= max_length) {
            length += leg;
            continue;
        }
        *stop_count = i;
        if (from->ride != NAV_NONE) {
            from->ride = NAV_NONE;
            return true;
        }
        cut_walk w = {.m = m,
                      .from = from->point,
                      .left = max_length - length,
                      .a = from->ground,
                      .b = from->ground,
                      .cell = from->cell};
        uint32_t cells[NAV__ANCHOR_CELLS];
        uint32_t count = cells_at(m, from, filter, cells);
        nav__walk_end end;
        nav__walk_leg(m, filter, cells, count, from->ground, stops[i].ground, visit_cut, &w, &end);
        nav__stop last = cut_place(&w);
        if (!prints_alike(from->point, last.point)) {
            stops[(*stop_count)++] = last;
        }
        return true;
    }
    return false;
}

// ---- the answer ------------------------------------------------------------------------------------

/// What walking a leg gathers.
typedef struct leg_walk {
    nav_query *query;
    const nav_mesh *m;
    const nav_path_options *options;
    nav_path *path;
    nav__p2 from;            ///< where the leg begins
    bool first_cell;         ///< nothing of the leg has been walked
    bool failed;             ///< out of memory
    double ground, weighted; ///< the leg's ground length so far, and the same times the areas' costs
} leg_walk;

static bool add_point(leg_walk *w, nav_vec point)
{
    nav_path *path = w->path;
    nav_vec *points = nav__reserve(w->query, &w->query->points, ((size_t)path->point_count + 1) * sizeof *points);
    if (!points) {
        w->failed = true;
        return false;
    }
    if (path->point_count == 0 || !prints_alike(points[path->point_count - 1], point)) {
        points[path->point_count++] = point;
    }
    return true;
}

static bool visit_leg(void *ctx, uint32_t cell, nav__p2 from, nav__p2 to)
{
    leg_walk *w = ctx;
    const nav_mesh *m = w->m;
    double part = nav__dist(from, to);
    w->ground += part;
    const double *costs = w->options->snap.filter.area_costs;
    w->weighted += part * (costs ? costs[m->cells[cell].area] : 1);
    if (w->options->corridor && !nav__corridor_add(w->query, m, cell, from, to, &w->path->polygon_count)) {
        w->failed = true;
    }
    if (w->options->surface && !w->failed) {
        if (!w->first_cell) {
            nav_vec edge = {m->origin.x + from.x, m->origin.y + nav__cell_height(m, cell, from, NULL),
                            m->origin.z + from.z};
            add_point(w, edge);
        }
        uint32_t before = w->path->point_count;
        if (!nav__surface_points(w->query, m, cell, from, to, &w->path->point_count)) {
            w->failed = true;
        }
        // A crossing that prints like the point before it is the same place.
        nav_vec *points = w->query->points.data;
        uint32_t kept = before;
        for (uint32_t i = before; i < w->path->point_count; i++) {
            if (kept == 0 || !prints_alike(points[kept - 1], points[i])) {
                points[kept++] = points[i];
            }
        }
        w->path->point_count = kept;
    }
    w->first_cell = false;
    return !w->failed;
}

static bool add_link(nav_query *query, nav_path *path, uint32_t link)
{
    nav_ridden *links = nav__reserve(query, &query->links, ((size_t)path->link_count + 1) * sizeof *links);
    if (!links) {
        return false;
    }
    links[path->link_count++] = (nav_ridden){path->point_count - 1, link};
    return true;
}

nav_status nav__stops_write(nav_query *query, const nav_mesh *m, const nav_path_options *options, uint32_t stop_count,
                            nav_path *path)
{
    const nav__stop *stops = query->stops.data;
    const nav_filter *filter = &options->snap.filter;
    leg_walk w = {.query = query, .m = m, .options = options, .path = path};
    bool walks = options->corridor || options->surface || filter->area_costs;
    path->point_count = path->link_count = path->polygon_count = 0;
    path->length = path->cost = 0;
    add_point(&w, stops[0].point);
    if (stop_count == 1 && options->corridor) {
        visit_leg(&w, stops[0].cell, stops[0].ground, stops[0].ground);
    }
    for (uint32_t i = 1; i < stop_count && !w.failed; i++) {
        const nav__stop *from = &stops[i - 1], *to = &stops[i];
        double leg = distance(from->point, to->point);
        if (from->ride != NAV_NONE) {
            w.failed = !add_link(query, path, m->rides[from->ride].link);
            path->length += leg;
            path->cost += nav__ride_cost(m, &m->rides[from->ride], filter);
            add_point(&w, to->point);
            continue;
        }
        uint32_t begun = path->point_count;
        w.ground = w.weighted = 0;
        if (walks && nav__dist(from->ground, to->ground) > 0) {
            uint32_t cells[NAV__ANCHOR_CELLS];
            uint32_t count = cells_at(m, from, filter, cells);
            w.first_cell = true;
            nav__walk_end end;
            nav__walk_leg(m, filter, cells, count, from->ground, to->ground, visit_leg, &w, &end);
        }
        add_point(&w, to->point);
        if (options->surface && !w.failed) {
            const nav_vec *points = query->points.data;
            leg = 0;
            for (uint32_t k = begun; k < path->point_count; k++) {
                leg += distance(points[k - 1], points[k]);
            }
        }
        path->length += leg;
        path->cost += leg * (to->unit_cost > 0 ? to->unit_cost : w.ground > 0 ? w.weighted / w.ground : 1);
    }
    path->points = query->points.data;
    path->polygons = query->polygons.data;
    path->links = query->links.data;
    return w.failed ? NAV_NO_MEMORY : NAV_OK;
}
