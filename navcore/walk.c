/// Straight walks: from cell to cell along a line, told by exact orientation of vertices against it.
///
/// Seen from the ray, each vertex of a convex cell lies left, right or exactly on it. Where the cell's
/// outline turns from right to left, anticlockwise, the ray leaves: through the middle of an edge, or
/// through a vertex that lies on the ray; of several, the one furthest along. Beyond an edge the twin's
/// cell goes on; beyond a vertex the cell of its fan that holds the direction. No step compares
/// parameters of intersections, and each leaves its cell further along than the one before, so that
/// slivers, vertices and edges along the ray need no tolerance and cannot make the walk go round.
#include "walk.h"

typedef struct walk {
    const nav_mesh *m;
    const nav_filter *filter;
    nav__p2 start, end, way; ///< way: end - start, rounded
} walk;

/// Where the ray leaves a cell.
typedef struct way_out {
    uint32_t edge; ///< through its middle; or, with `at_vertex`, through the vertex it starts from
    uint32_t next; ///< the cell's half-edge after it
    bool at_vertex;
} way_out;

/// > 0: v lies left of the ray. Exact sign.
static inline double side(const walk *w, nav__p2 v)
{
    // nav__orient with the differences that all vertices share taken once.
    double l = w->way.x * (v.z - w->start.z), r = w->way.z * (v.x - w->start.x);
    double det = l - r, bound = NAV__ORIENT_BOUND * (fabs(l) + fabs(r));
    return fabs(det) > bound ? det : nav__orient_exact(w->start, w->end, v);
}

/// Of two positions on the ray's line: does b lie further along than a? Exact.
static bool is_ahead(const walk *w, nav__p2 a, nav__p2 b)
{
    double dx = w->way.x, dz = w->way.z;
    if (fabs(dx) >= fabs(dz)) {
        return dx > 0 ? b.x > a.x : b.x < a.x;
    }
    return dz > 0 ? b.z > a.z : b.z < a.z;
}

/// The half-edge on the other side that the ray may cross to, NAV_NONE at a wall or a closed cell.
static uint32_t open_twin(const walk *w, uint32_t e)
{
    uint32_t twin = w->m->edges[e].twin;
    return twin != NAV_NONE && nav__passes(w->m, w->filter, nav__edge_cell(w->m, twin)) ? twin : NAV_NONE;
}

/// The way out of a cell that the ray entered through the middle of half-edge e: on from its right end,
/// anticlockwise, to the first vertex that is not on the right any more.
static way_out find_exit_from(const walk *w, uint32_t cell, uint32_t e)
{
    const nav_mesh *m = w->m;
    uint32_t first = m->cells[cell].first_edge, end = m->cells[cell + 1].first_edge;
    uint32_t right = e + 1 == end ? first : e + 1;
    for (;;) {
        uint32_t next = right + 1 == end ? first : right + 1;
        double s = side(w, nav__edge_from(m, next));
        if (s > 0 || next == e) {
            return (way_out){right, next, false};
        }
        if (s == 0) {
            return (way_out){next, next + 1 == end ? first : next + 1, true};
        }
        right = next;
    }
}

/// The way out of a cell that the ray starts in or entered by a vertex.
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
            *out = (way_out){e == first ? end - 1 : e - 1, e, false};
            return true;
        }
        if (s == 0 && (!found || is_ahead(w, furthest, v))) {
            furthest = v;
            *out = (way_out){e, e + 1 == end ? first : e + 1, true};
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
    return nav__orient(a, nav__edge_from(w->m, out.next), w->end) >= 0;
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

/// The point in which the ray crosses the half-edge it leaves by.
static nav__p2 crossing_point(const walk *w, way_out out)
{
    nav__p2 a = nav__edge_from(w->m, out.edge), b = nav__edge_from(w->m, out.next);
    double sa = side(w, a), sb = side(w, b), t = sa / (sa - sb);
    return (nav__p2){a.x + t * (b.x - a.x), a.z + t * (b.z - a.z)};
}

static nav__p2 exit_point(const walk *w, way_out out)
{
    return out.at_vertex ? nav__edge_from(w->m, out.edge) : crossing_point(w, out);
}

/// Stopped by a wall, or at a vertex by whichever of two faces the start more squarely. (Where no wall is
/// told, for floors that are not what they claim, it is one across the ray.)
static nav__walk_end stopped_at(const walk *w, uint32_t cell, nav__p2 point, const uint32_t walls[2])
{
    nav__p2 d = w->way;
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
    return (nav__walk_end){false, cell, point, normal, t > 0 ? t < 1 ? t : 1 : 0};
}

// ---- the walk --------------------------------------------------------------------------------------

/// Who is told of the cells crossed.
typedef struct trace {
    nav__visit_fn *visit; ///< NULL: nobody
    void *ctx;
    nav__p2 from; ///< where the ray entered the cell it is in
    bool begun;   ///< a cell has been told of
} trace;

/// @return false when the visitor ends the walk
static bool note_cell(trace *tr, uint32_t cell, nav__p2 to, bool last)
{
    if (!tr->visit) {
        return true;
    }
    nav__p2 from = tr->from;
    tr->from = to;
    // A cell that is only touched, where the ray starts from a vertex, is crossed by nothing.
    bool touched = from.x == to.x && from.z == to.z;
    if (touched && (!last || tr->begun)) {
        return true;
    }
    tr->begun = true;
    return tr->visit(tr->ctx, cell, from, to);
}

/// @return false when the visitor ended the walk
static bool walk_from(const walk *w, uint32_t cell, trace *tr, nav__walk_end *end)
{
    const nav_mesh *m = w->m;
    way_out out = {NAV_NONE, NAV_NONE, false};
    bool known = find_exit(w, cell, &out);
    // Each step leaves a cell for good; the bound is for meshes whose floors are not what they claim.
    for (uint32_t steps = 0; known && steps <= m->edge_count; steps++) {
        if (ends_before(w, out)) {
            *end = (nav__walk_end){.clear = true, .cell = cell, .point = w->end, .t = 1};
            return note_cell(tr, cell, w->end, true);
        }
        uint32_t walls[2] = {out.edge, NAV_NONE};
        uint32_t next = out.at_vertex ? turn_at_vertex(w, out.edge, walls) : open_twin(w, out.edge);
        if (next == NAV_NONE) {
            *end = stopped_at(w, cell, exit_point(w, out), walls);
            return note_cell(tr, cell, end->point, true);
        }
        if (tr->visit && !note_cell(tr, cell, exit_point(w, out), false)) {
            return false;
        }
        cell = nav__edge_cell(m, next);
        if (out.at_vertex) {
            known = find_exit(w, cell, &out);
        } else {
            out = find_exit_from(w, cell, next);
        }
    }
    *end = stopped_at(w, cell, w->start, (uint32_t[2]){NAV_NONE, NAV_NONE});
    return note_cell(tr, cell, w->start, true);
}

bool nav__walk_leg(const nav_mesh *m, const nav_filter *filter, const uint32_t *cells, uint32_t cell_count, nav__p2 a,
                   nav__p2 b, nav__visit_fn *visit, void *ctx, nav__walk_end *end)
{
    walk w = {m, filter, a, b, nav__sub(b, a)};
    uint32_t best = NAV_NONE;
    for (uint32_t i = 0; i < cell_count && (best == NAV_NONE || !end->clear); i++) {
        trace silent = {.visit = NULL};
        nav__walk_end tried;
        walk_from(&w, cells[i], &silent, &tried);
        if (best == NAV_NONE || (tried.clear && !end->clear) || tried.t > end->t) {
            *end = tried;
            best = cells[i];
        }
    }
    trace told = {.visit = visit, .ctx = ctx, .from = a};
    return !visit || best == NAV_NONE || walk_from(&w, best, &told, end);
}

uint32_t nav__fan_cells(const nav_mesh *m, uint32_t vertex, uint32_t *cells, uint32_t cap)
{
    uint32_t first = m->vertex_edge[vertex], e = first, count = 0;
    do {
        cells[count++] = nav__edge_cell(m, e);
        e = m->edges[nav__edge_prev(m, e)].twin;
    } while (e != NAV_NONE && e != first && count < cap);
    return count;
}

bool nav__touches_closed(const nav_mesh *m, const nav_filter *f, uint32_t vertex)
{
    uint32_t first = m->vertex_edge[vertex], e = first;
    do {
        if (!nav__passes(m, f, nav__edge_cell(m, e))) {
            return true;
        }
        e = m->edges[nav__edge_prev(m, e)].twin;
    } while (e != NAV_NONE && e != first);
    return false;
}
