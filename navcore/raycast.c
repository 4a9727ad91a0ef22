/// Straight walks: from cell to cell along a line, told by exact orientation of vertices against it.
///
/// Seen from the ray, each vertex of a convex cell lies left, right or exactly on it. Where the cell's
/// outline turns from right to left, anticlockwise, the ray leaves: through the middle of an edge, or
/// through a vertex that lies on the ray; of several, the one furthest along. Beyond an edge the twin's
/// cell goes on; beyond a vertex the cell of its fan that holds the direction. No step compares
/// parameters of intersections, and each leaves its cell further along than the one before, so that
/// slivers, vertices and edges along the ray need no tolerance and cannot make the walk go round.
#include "scratch.h"

/// Longer rays are cut to this: the squares of longer ones leave the range of a double.
static const double LONGEST = 1e100;
/// Shorter ones have no direction left in a double's square, and end where they begin.
static const double SHORTEST = 1e-140;

typedef struct walk {
    const nav_mesh *m;
    const nav_filter *filter;
    nav__p2 start, end;
} walk;

/// Where the ray leaves a cell.
typedef struct way_out {
    uint32_t edge; ///< through its middle; or, with `at_vertex`, through the vertex it starts from
    bool at_vertex;
} way_out;

/// How a walk ended.
typedef struct outcome {
    bool clear;
    uint32_t cell;  ///< the last one
    nav__p2 point;
    nav__p2 normal;
    double t;
} outcome;

/// > 0: v lies left of the ray. Exact sign.
static double side(const walk *w, nav__p2 v) { return nav__orient(w->start, w->end, v); }

/// Of two positions on the ray's line: does b lie further along than a? Exact.
static bool is_ahead(const walk *w, nav__p2 a, nav__p2 b)
{
    double dx = w->end.x - w->start.x, dz = w->end.z - w->start.z;
    if (fabs(dx) >= fabs(dz)) {
        return dx > 0 ? b.x > a.x : b.x < a.x;
    }
    return dz > 0 ? b.z > a.z : b.z < a.z;
}

/// The half-edge on the other side that the ray may cross to, NAV_NONE at a wall or a closed cell.
static uint32_t open_twin(const walk *w, uint32_t e)
{
    uint32_t twin = w->m->edges[e].twin;
    return twin != NAV_NONE && nav__passes(w->m, w->filter, w->m->edge_cell[twin]) ? twin : NAV_NONE;
}

/// @return false when the ray's line does not meet the cell at all
static bool find_exit(const walk *w, uint32_t cell, way_out *out)
{
    const nav_mesh *m = w->m;
    uint32_t first = m->cells[cell].first_edge, end = m->cells[cell + 1].first_edge;
    nav__p2 furthest = {0, 0};
    bool found = false;
    double before = side(w, nav__edge_from(m, end - 1));
    for (uint32_t e = first; e < end; e++) {
        nav__p2 v = nav__edge_from(m, e);
        double s = side(w, v);
        if (before < 0 && s > 0) {
            *out = (way_out){e == first ? end - 1 : e - 1, false};
            return true;
        }
        if (s == 0 && (!found || is_ahead(w, furthest, v))) {
            furthest = v;
            *out = (way_out){e, true};
            found = true;
        }
        before = s;
    }
    return found;
}

/// Does the ray's end lie in the cell that it leaves by `out`?
static bool ends_before(const walk *w, way_out out)
{
    nav__p2 a = nav__edge_from(w->m, out.edge);
    if (out.at_vertex) {
        return !is_ahead(w, a, w->end);
    }
    return nav__orient(a, nav__edge_from(w->m, nav__edge_next(w->m, out.edge)), w->end) >= 0;
}

// ---- vertices --------------------------------------------------------------------------------------

/// Does the cell of half-edge e hold the ray's direction, seen from the vertex e starts from, which lies
/// on the ray? The interior lies between e and the edge before it, anticlockwise.
static bool holds_direction(const walk *w, uint32_t e)
{
    const nav_mesh *m = w->m;
    nav__p2 v = nav__edge_from(m, e);
    nav__p2 next = nav__edge_from(m, nav__edge_next(m, e)), prev = nav__edge_from(m, nav__edge_prev(m, e));
    double sn = side(w, next), sp = side(w, prev);
    if (sn == 0 && sp == 0) {
        return true;
    }
    return (sn < 0 || (sn == 0 && is_ahead(w, v, next))) && (sp > 0 || (sp == 0 && is_ahead(w, v, prev)));
}

/// Walks round the vertex that half-edge e starts from, over open edges only.
/// @param walls  set to the half-edges along which the fan ends, clockwise and anticlockwise, where the
///               walk finds nothing; NAV_NONE when it closes into a circle
/// @return a half-edge from the vertex whose cell holds the ray's direction, NAV_NONE when none does
static uint32_t turn_at_vertex(const walk *w, uint32_t e, uint32_t walls[2])
{
    const nav_mesh *m = w->m;
    walls[0] = walls[1] = NAV_NONE;
    uint32_t at = e;
    for (uint32_t steps = 0; steps < m->edge_count; steps++) {
        uint32_t prev = nav__edge_prev(m, at), twin = open_twin(w, prev);
        if (twin == NAV_NONE) {
            walls[1] = prev;
            break;
        }
        if (twin == e) {
            return NAV_NONE;
        }
        at = twin;
        if (holds_direction(w, at)) {
            return at;
        }
    }
    at = e;
    for (uint32_t steps = 0; steps < m->edge_count; steps++) {
        uint32_t twin = open_twin(w, at);
        if (twin == NAV_NONE) {
            walls[0] = at;
            break;
        }
        at = nav__edge_next(m, twin);
        if (holds_direction(w, at)) {
            return at;
        }
    }
    return NAV_NONE;
}

// ---- ends ------------------------------------------------------------------------------------------

/// Unit normal of a half-edge, into its cell.
static nav__p2 inward_normal(const nav_mesh *m, uint32_t e)
{
    nav__p2 d = nav__sub(nav__edge_from(m, nav__edge_next(m, e)), nav__edge_from(m, e));
    double length = sqrt(nav__dot(d, d));
    return length > 0 ? (nav__p2){-d.z / length, d.x / length} : (nav__p2){0, 0};
}

/// The point in which the ray crosses a half-edge.
static nav__p2 crossing_point(const walk *w, uint32_t e)
{
    nav__p2 a = nav__edge_from(w->m, e), b = nav__edge_from(w->m, nav__edge_next(w->m, e));
    double sa = side(w, a), sb = side(w, b), t = sa / (sa - sb);
    return (nav__p2){a.x + t * (b.x - a.x), a.z + t * (b.z - a.z)};
}

static nav__p2 exit_point(const walk *w, way_out out)
{
    return out.at_vertex ? nav__edge_from(w->m, out.edge) : crossing_point(w, out.edge);
}

/// Stopped by a wall, or at a vertex by whichever of two faces the start more squarely. (Where no wall is
/// told, for floors that are not what they claim, it is one across the ray.)
static outcome stopped_at(const walk *w, uint32_t cell, nav__p2 point, const uint32_t walls[2])
{
    nav__p2 d = nav__sub(w->end, w->start);
    double all = nav__dot(d, d), length = sqrt(all);
    nav__p2 normal = {-d.x / length, -d.z / length};
    double squarest = -INFINITY;
    for (int i = 0; i < 2; i++) {
        if (walls[i] != NAV_NONE) {
            nav__p2 n = inward_normal(w->m, walls[i]);
            double square = -nav__dot(n, d);
            if (square > squarest) {
                squarest = square;
                normal = n;
            }
        }
    }
    double t = nav__dot(nav__sub(point, w->start), d) / all;
    return (outcome){false, cell, point, normal, t < 0 ? 0 : t > 1 ? 1 : t};
}

// ---- the walk --------------------------------------------------------------------------------------

/// Notes which polygons the ray crosses.
typedef struct trace {
    nav_query *query; ///< NULL: nobody asks
    uint32_t count;
    nav__p2 from; ///< where the ray entered the cell it is in
} trace;

/// @return false when out of memory
static bool note_cell(const walk *w, trace *tr, uint32_t cell, nav__p2 to, bool last)
{
    if (!tr->query) {
        return true;
    }
    nav__p2 from = tr->from;
    tr->from = to;
    // A cell that is only touched, where the ray starts from a vertex, is crossed by nothing.
    bool touched = from.x == to.x && from.z == to.z;
    return (touched && (!last || tr->count > 0)) ||
           nav__corridor_add(tr->query, w->m, cell, from, to, &tr->count);
}

/// @return false when out of memory
static bool walk_from(const walk *w, uint32_t cell, trace *tr, outcome *end)
{
    const nav_mesh *m = w->m;
    // Each step leaves a cell for good; the bound is for meshes whose floors are not what they claim.
    for (uint32_t steps = 0; steps <= m->edge_count; steps++) {
        way_out out = {0, false};
        if (!find_exit(w, cell, &out)) {
            break;
        }
        if (ends_before(w, out)) {
            *end = (outcome){.clear = true, .cell = cell, .point = w->end, .t = 1};
            return note_cell(w, tr, cell, w->end, true);
        }
        uint32_t walls[2] = {out.edge, NAV_NONE};
        uint32_t next = out.at_vertex ? turn_at_vertex(w, out.edge, walls) : open_twin(w, out.edge);
        if (next == NAV_NONE) {
            *end = stopped_at(w, cell, exit_point(w, out), walls);
            return note_cell(w, tr, cell, end->point, true);
        }
        if (tr->query && !note_cell(w, tr, cell, exit_point(w, out), false)) {
            return false;
        }
        cell = m->edge_cell[next];
    }
    *end = stopped_at(w, cell, w->start, (uint32_t[2]){NAV_NONE, NAV_NONE});
    return note_cell(w, tr, cell, w->start, true);
}

/// Walks from each cell that holds the start, and keeps the walk that gets furthest.
static nav_status walk_best(const walk *w, const nav__anchor *anchor, nav_query *query, bool corridor, outcome *best,
                            uint32_t *polygon_count)
{
    uint32_t best_cell = anchor->cells[0];
    for (uint32_t i = 0; i < anchor->count; i++) {
        trace silent = {.query = NULL};
        outcome end;
        walk_from(w, anchor->cells[i], &silent, &end);
        if (i == 0 || (end.clear && !best->clear) || end.t > best->t) {
            *best = end;
            best_cell = anchor->cells[i];
        }
        if (best->clear) {
            break;
        }
    }
    trace told = {.query = query, .from = w->start};
    if (corridor && !walk_from(w, best_cell, &told, best)) {
        return NAV_NO_MEMORY;
    }
    *polygon_count = told.count;
    return NAV_OK;
}

// ---- the whole -------------------------------------------------------------------------------------

/// A ray to further than LONGEST is asked about as far as that, which no mesh reaches.
/// @return by what the end was scaled
static double cut(nav_vec *end)
{
    double most = fmax(fabs(end->x), fabs(end->z));
    double scale = most > LONGEST ? LONGEST / most : 1;
    end->x *= scale;
    end->z *= scale;
    return scale;
}

static bool has_direction(const walk *w)
{
    return fabs(w->end.x - w->start.x) > SHORTEST || fabs(w->end.z - w->start.z) > SHORTEST;
}

static bool is_finite(nav_vec p) { return isfinite(p.x) && isfinite(p.y) && isfinite(p.z); }

nav_status nav_query_raycast(nav_query *query, const nav_mesh *mesh, nav_vec start, nav_vec end,
                             const nav_snap *snap, bool corridor, nav_ray *ray)
{
    *ray = (nav_ray){.status = NAV_RAY_START_OFF_MESH, .start.polygon = NAV_NONE};
    if (!is_finite(start) || !is_finite(end)) {
        return NAV_BAD_ARGUMENT;
    }
    if (!nav_query_nearest(query, mesh, start, snap, &ray->start)) {
        return NAV_OK;
    }
    nav__anchor anchor;
    nav__anchor_make(mesh, &ray->start, &snap->filter, &anchor);
    nav_vec target = end;
    double scale = cut(&target);
    walk w = {mesh, &snap->filter, anchor.p, nav__ground(mesh, target)};
    outcome best = {.clear = true, .cell = ray->start.cell, .point = w.start, .t = 1};
    if (has_direction(&w)) {
        nav_status status = walk_best(&w, &anchor, query, corridor, &best, &ray->polygon_count);
        if (status != NAV_OK) {
            return status;
        }
    } else if (corridor && !nav__corridor_add(query, mesh, best.cell, w.start, w.start, &ray->polygon_count)) {
        return NAV_NO_MEMORY;
    }
    ray->status = best.clear ? NAV_RAY_CLEAR : NAV_RAY_BLOCKED;
    ray->t = best.clear ? 1 : best.t * scale;
    ray->point = (nav_vec){best.clear ? end.x : mesh->origin.x + best.point.x,
                           mesh->origin.y + nav__cell_height(mesh, best.cell, best.point, NULL),
                           best.clear ? end.z : mesh->origin.z + best.point.z};
    ray->normal = (nav_vec){best.normal.x, 0, best.normal.z};
    ray->distance = nav__dist(w.start, best.point);
    ray->polygons = query->polygons.data;
    return NAV_OK;
}
