/// Private: the scratch of a query and what its parts share.
#ifndef NAV_SCRATCH_H
#define NAV_SCRATCH_H

#include "geom.h"
#include "layout.h"
#include "nav_query.h"

/// A block that only grows.
typedef struct nav__buffer {
    void *data;
    size_t bytes;
} nav__buffer;

/// The buffers of a query: one list, so that none is forgotten when it is freed.
#define NAV__BUFFERS(X)                                            \
    X(points, "nav_vec, the last answer's")                        \
    X(polygons, "uint32_t, the last answer's")                     \
    X(links, "nav_ridden, the last answer's")                      \
    X(faces, "uint32_t, locate.c's")                               \
    X(cells, "uint32_t, flood fill's stack")                       \
    X(reached, "uint32_t by cell, flood fill's")                   \
    X(nodes, "polyanya.c: nodes of the search")                    \
    X(fresh, "polyanya.c: successors of one node")                 \
    X(records, "polyanya.c: bends")                                \
    X(heap, "polyanya.c: open nodes")                              \
    X(explained, "nav_explained, the last answer's")               \
    X(known, "interval.c: shortest way by vertex")                 \
    X(touched, "interval.c: which ways are known")                 \
    X(corners, "polyanya.c: the path found")                       \
    X(stops, "nav__stop: where the answer's path bends")           \
    X(sight, "visibility.c: edges still to be looked through")     \
    X(sites, "sites.c: nav__site")                                 \
    X(site_lists, "sites.c: uint32_t, sites by cell")              \
    X(site_slots, "sites.c: what begins where")                    \
    X(site_heap, "weighted.c: open sites")                         \
    X(way, "way.c: nav__way_point")                                \
    X(side_way, "way.c: a way round a vertex")                     \
    X(way_rows, "way_slide.c: a tridiagonal system")               \
    X(steps, "weighted.c: nav__step, the path found")              \
    X(near_edges, "wall.c: open edges by distance")                \
    X(areas, "random.c: areas added up, by cell or piece")         \
    X(reach_costs, "reachable.c: double by polygon")               \
    X(reach_open, "reachable.c: polygons by cost")                 \
    X(reach_found, "reachable.c: nav_reached, the last answer's")  \
    X(cell_bounds, "spread.c: double by cell")                     \
    X(spread_heap, "spread_weighted.c: open sites")                \
    X(sides, "outline.c: sides of polygons")                       \
    X(cuts, "outline.c: stretches of sides that others lie along") \
    X(at_points, "outline.c: uint32_t by point")                   \
    X(rings, "outline.c: nav_ring, the last answer's")

struct nav_query {
    nav_alloc alloc;
    nav_interrupt interrupt;

#define NAV__FIELD(name, what) nav__buffer name;
    NAV__BUFFERS(NAV__FIELD)
#undef NAV__FIELD
    uint32_t touched_count, reached_stamp, site_stamp;
};

/// At least `bytes` in `buffer`, what was there is kept.
/// @return the data, NULL when out of memory (the buffer is then as before)
void *nav__reserve(nav_query *query, nav__buffer *buffer, size_t bytes);

static inline bool nav__passes(const nav_mesh *m, const nav_filter *f, uint32_t cell)
{
    uint32_t flags = m->cells[cell].flags;
    return !m->has_flags || ((flags & f->include) && !(flags & f->exclude));
}

/// True when every cell of the mesh is sure to pass: the search then needs no test a cell.
static inline bool nav__passes_all(const nav_mesh *m, const nav_filter *f)
{
    return !m->has_flags ||
           ((f->include & m->flags_used) == m->flags_used && !(f->exclude & m->flags_used) && !m->has_flagless);
}

/// Does the filter close a cell round this vertex? Then a path may bend here although the mesh itself is
/// open or straight.
bool nav__touches_closed(const nav_mesh *m, const nav_filter *f, uint32_t vertex);

/// May a ride be taken under this filter?
static inline bool nav__ride_open(const nav_mesh *m, const nav__ride *ride, const nav_filter *f)
{
    uint32_t flags = m->links[ride->link].flags;
    return (!m->has_flags || ((flags & f->include) && !(flags & f->exclude))) && nav__passes(m, f, ride->to_cell);
}

/// What a ride costs: the link's own cost, or its 3D length times its area's.
double nav__ride_cost(const nav_mesh *m, const nav__ride *ride, const nav_filter *f);

static inline nav__p2 nav__ground(const nav_mesh *m, nav_vec p)
{
    return (nav__p2){p.x - m->origin.x, p.z - m->origin.z};
}

static inline nav__p2 nav__edge_from(const nav_mesh *m, uint32_t e)
{
    return (nav__p2){(double)m->edges[e].x, (double)m->edges[e].z};
}

static inline nav__p2 nav__vertex_ground(const nav_mesh *m, uint32_t vertex)
{
    return nav__edge_from(m, m->vertex_edge[vertex]);
}

/// Height (relative to the origin) of the surface at ground position p within one cell: of the face of
/// the cell that holds p, or is nearest to holding it. `face` may be NULL.
double nav__cell_height(const nav_mesh *m, uint32_t cell, nav__p2 p, uint32_t *face);

/// Height of one face at p (clamped to the face where p is beside it).
double nav__face_height(const nav_mesh *m, uint32_t face, nav__p2 p);

/// Is p in the closed cell? Exact.
bool nav__cell_holds(const nav_mesh *m, uint32_t cell, nav__p2 p);

/// Where a walk begins or ends: a ground position that lies exactly in the closed cells listed.
#define NAV__ANCHOR_CELLS 32
typedef struct nav__anchor {
    nav__p2 p;
    uint32_t count;
    uint32_t cells[NAV__ANCHOR_CELLS];
} nav__anchor;

/// From a place found by locate.c: where the place lies on a vertex within rounding, p is moved onto it;
/// where it lies outside its cell by rounding, just inside. On an edge both cells are listed, on a vertex all
/// that meet there on this floor, on a pinch those of every sector (found through the grid, not by walking, so
/// that sectors without a common edge are met). Cells that the filter closes are left out.
void nav__anchor_make(const nav_mesh *m, const nav_place *place, const nav_filter *filter, nav__anchor *anchor);

/// Appends the file polygons that a straight leg from a to b inside one cell crosses to query->polygons,
/// in order; the last one there is not repeated. `count` is how many query->polygons holds.
/// @return false when out of memory
bool nav__corridor_add(nav_query *query, const nav_mesh *m, uint32_t cell, nav__p2 a, nav__p2 b, uint32_t *count);

/// Appends to query->points (absolute) where a straight leg from a to b inside one cell passes from one
/// file polygon to the next, with the surface's height; a and b themselves are left to the caller.
/// `count` is how many query->points holds.
/// @return false when out of memory
bool nav__surface_points(nav_query *query, const nav_mesh *m, uint32_t cell, nav__p2 a, nav__p2 b, uint32_t *count);

/// nav_query_nearest without a query.
bool nav__nearest(const nav_mesh *m, nav_vec point, const nav_snap *snap, nav_place *place);

/// The surface nearest in 3D to a position among cells for which `takes` is true; no box.
/// @return false when no cell is taken
bool nav__nearest_taken(nav_query *query, const nav_mesh *m, nav_vec point,
                        bool (*takes)(const void *ctx, uint32_t cell), const void *ctx, nav_place *place);

#endif
