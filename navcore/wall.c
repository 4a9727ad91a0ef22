/// The nearest wall: cells are looked through outwards, nearest open edge first, until no open edge is
/// nearer than the nearest wall found.
///
/// Whatever is found so is seen. The open disc round the place up to the nearest wall holds no wall, so it
/// lies flat on the surface like a coin, and each cell that reaches into it through an edge that does
/// belongs to it: a cell of another floor can only be entered at or beyond the first wall. For that an edge
/// that is nearest in its end must not be passed when a wall ends there too, even if the wall belongs to
/// cells not yet met; so ends of open edges are asked whether they touch a wall.
#include "flood.h"
#include "nav_surface.h"

#include <math.h>

/// An open edge, by its half-edge in the cell behind it.
typedef struct near_edge {
    double distance2;
    uint32_t edge;
} near_edge;

/// A place on a wall.
typedef struct wall_place {
    double distance2; ///< INFINITY: none
    nav__p2 at;
    uint32_t edge; ///< that the place lies on
    bool is_corner;
} wall_place;

typedef struct wall_search {
    nav_query *query;
    const nav_mesh *m;
    const nav_filter *filter;
    bool all_pass;
    nav__p2 p;
    double limit2; ///< squared distance beyond which no wall counts
    wall_place best;
    uint32_t *reached; ///< by cell
    near_edge *heap;
    uint32_t heap_count, heap_cap;
    bool out_of_memory;
} wall_search;

// ---- open edges by distance ------------------------------------------------------------------------

static void push(wall_search *s, near_edge entry)
{
    if (s->heap_count == s->heap_cap) {
        near_edge *heap = nav__reserve(s->query, &s->query->near_edges, ((size_t)s->heap_cap + 64) * sizeof *heap);
        if (!heap) {
            s->out_of_memory = true;
            return;
        }
        s->heap = heap;
        s->heap_cap = (uint32_t)(s->query->near_edges.bytes / sizeof *heap);
    }
    uint32_t i = s->heap_count++;
    for (; i > 0 && entry.distance2 < s->heap[(i - 1) / 2].distance2; i = (i - 1) / 2) {
        s->heap[i] = s->heap[(i - 1) / 2];
    }
    s->heap[i] = entry;
}

static near_edge pop(wall_search *s)
{
    near_edge *h = s->heap, top = h[0], last = h[--s->heap_count];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < s->heap_count; i = child) {
        child += child + 1 < s->heap_count && h[child + 1].distance2 < h[child].distance2;
        if (h[child].distance2 >= last.distance2) {
            break;
        }
        h[i] = h[child];
    }
    h[i] = last;
    return top;
}

// ---- walls -----------------------------------------------------------------------------------------

static bool is_open(const wall_search *s, uint32_t e)
{
    uint32_t twin = s->m->edges[e].twin;
    return twin != NAV_NONE && (s->all_pass || nav__passes(s->m, s->filter, nav__edge_cell(s->m, twin)));
}

static bool touches_wall(const wall_search *s, uint32_t e)
{
    uint32_t vertex = s->m->edges[e].vertex & NAV__VERTEX;
    return s->m->edges[s->m->vertex_edge[vertex]].twin == NAV_NONE ||
           (!s->all_pass && nav__touches_closed(s->m, s->filter, vertex));
}

/// Does the place, where it is nearer than any other so far, become the best?
static bool counts(const wall_search *s, double distance2)
{
    return distance2 < s->best.distance2 && distance2 <= s->limit2;
}

/// Looks at half-edge e from a to b.
static void look_at_edge(wall_search *s, uint32_t e, uint32_t next, nav__p2 a, nav__p2 b)
{
    nav__p2 d = nav__sub(b, a), ap = nav__sub(s->p, a);
    double along = nav__dot(ap, d), all = nav__dot(d, d), distance2;
    uint32_t end = NAV_NONE; // half-edge that starts where the edge is nearest, where that is an end
    if (along <= 0) {
        end = e;
        distance2 = nav__dot(ap, ap);
    } else if (along >= all) {
        end = next;
        nav__p2 bp = nav__sub(s->p, b);
        distance2 = nav__dot(bp, bp);
    } else {
        double off = nav__cross(d, ap);
        distance2 = off * off / all;
    }
    if (!counts(s, distance2)) {
        return;
    }
    if (is_open(s, e) && (end == NAV_NONE || !touches_wall(s, end))) {
        uint32_t twin = s->m->edges[e].twin;
        if (s->reached[nav__edge_cell(s->m, twin)] != s->query->reached_stamp) {
            push(s, (near_edge){distance2, twin});
        }
        return;
    }
    double t = along / all;
    nav__p2 at = end == e ? a : end == next ? b : (nav__p2){a.x + t * d.x, a.z + t * d.z};
    s->best = (wall_place){distance2, at, e, end != NAV_NONE};
}

static void look_round(wall_search *s, uint32_t cell)
{
    const nav_mesh *m = s->m;
    if (s->reached[cell] == s->query->reached_stamp) {
        return;
    }
    s->reached[cell] = s->query->reached_stamp;
    uint32_t first = m->cells[cell].first_edge, end = m->cells[cell + 1].first_edge;
    uint32_t e = end - 1;
    nav__p2 a = nav__edge_from(m, e);
    for (uint32_t next = first; next < end; next++) {
        nav__p2 b = nav__edge_from(m, next);
        look_at_edge(s, e, next, a, b);
        e = next;
        a = b;
    }
}

/// @return false when the caller's interrupt ended it
static bool search(wall_search *s, const nav__anchor *start)
{
    const nav_interrupt *interrupt = &s->query->interrupt;
    for (uint32_t i = 0; i < start->count; i++) {
        look_round(s, start->cells[i]);
    }
    for (uint32_t steps = 1; s->heap_count > 0 && !s->out_of_memory; steps++) {
        near_edge nearest = pop(s);
        if (nearest.distance2 >= s->best.distance2) {
            break;
        }
        look_round(s, nav__edge_cell(s->m, nearest.edge));
        if (steps % 256 == 0 && interrupt->stop && interrupt->stop(interrupt->ctx)) {
            return false;
        }
    }
    return true;
}

// ---- normals ---------------------------------------------------------------------------------------

static nav__p2 unit(nav__p2 v)
{
    double length = sqrt(nav__dot(v, v));
    return (nav__p2){v.x / length, v.z / length};
}

/// Unit normal of a half-edge, into its cell.
static nav__p2 inward_normal(const nav_mesh *m, uint32_t e)
{
    nav__p2 d = unit(nav__sub(nav__edge_from(m, nav__edge_next(m, e)), nav__edge_from(m, e)));
    return (nav__p2){-d.z, d.x};
}

/// Who stands in a corner is sent away from all walls that meet there; from the end of a wall without
/// width, whose two sides say the opposite, along it.
static nav__p2 corner_normal(const wall_search *s, const nav__anchor *start)
{
    const nav_mesh *m = s->m;
    nav__p2 at = s->best.at, sum = {0, 0}, away = {0, 0};
    for (uint32_t i = 0; i < start->count; i++) {
        uint32_t cell = start->cells[i];
        for (uint32_t e = m->cells[cell].first_edge; e < m->cells[cell + 1].first_edge; e++) {
            nav__p2 a = nav__edge_from(m, e), b = nav__edge_from(m, nav__edge_next(m, e));
            bool begins = a.x == at.x && a.z == at.z, ends = b.x == at.x && b.z == at.z;
            if ((begins || ends) && !is_open(s, e)) {
                nav__p2 n = inward_normal(m, e);
                sum = (nav__p2){sum.x + n.x, sum.z + n.z};
                away = unit(begins ? nav__sub(a, b) : nav__sub(b, a));
            }
        }
    }
    bool told = nav__dot(sum, sum) > 1e-12;
    if (!told && away.x == 0 && away.z == 0) {
        return inward_normal(m, s->best.edge); // a corner of walls that none of these cells have
    }
    return told ? unit(sum) : away;
}

static nav__p2 normal_at_best(const wall_search *s, const nav__anchor *start)
{
    double distance = sqrt(s->best.distance2);
    if (!s->best.is_corner) {
        return inward_normal(s->m, s->best.edge);
    }
    return distance > s->m->rounding ? unit(nav__sub(s->p, s->best.at)) : corner_normal(s, start);
}

// ---- the whole -------------------------------------------------------------------------------------

static bool is_finite(nav_vec p)
{
    return isfinite(p.x) && isfinite(p.y) && isfinite(p.z);
}

nav_status nav_query_wall(nav_query *query, const nav_mesh *mesh, nav_vec point, double max_distance,
                          const nav_snap *snap, nav_wall *wall)
{
    *wall = (nav_wall){.status = NAV_WALL_OFF_MESH, .start.polygon = NAV_NONE};
    if (!is_finite(point) || !(max_distance >= 0)) {
        return NAV_BAD_ARGUMENT;
    }
    if (!nav_query_nearest(query, mesh, point, snap, &wall->start)) {
        return NAV_OK;
    }
    nav__anchor start;
    nav__anchor_make(mesh, &wall->start, &snap->filter, &start);
    wall_search s = {.query = query,
                     .m = mesh,
                     .filter = &snap->filter,
                     .all_pass = nav__passes_all(mesh, &snap->filter),
                     .p = start.p,
                     .limit2 = max_distance * max_distance,
                     .best = {.distance2 = INFINITY},
                     .reached = nav__stamps(query, mesh->cell_count),
                     .heap = query->near_edges.data,
                     .heap_cap = (uint32_t)(query->near_edges.bytes / sizeof(near_edge))};
    if (!s.reached) {
        return NAV_NO_MEMORY;
    }
    if (!search(&s, &start)) {
        return NAV_INTERRUPTED;
    }
    if (s.out_of_memory) {
        return NAV_NO_MEMORY;
    }
    wall->status = NAV_WALL_NONE;
    if (s.best.distance2 == INFINITY) {
        return NAV_OK;
    }
    nav__p2 normal = normal_at_best(&s, &start), at = s.best.at;
    double height = nav__cell_height(mesh, nav__edge_cell(mesh, s.best.edge), at, NULL);
    wall->status = NAV_WALL_FOUND;
    wall->distance = sqrt(s.best.distance2);
    wall->point = (nav_vec){mesh->origin.x + at.x, mesh->origin.y + height, mesh->origin.z + at.z};
    wall->normal = (nav_vec){normal.x, 0, normal.z};
    return NAV_OK;
}
