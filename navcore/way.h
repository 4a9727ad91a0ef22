/// Private: a path as a chain of points that can still be moved, and what makes it cheaper.
#ifndef NAV_WAY_H
#define NAV_WAY_H

#include "sites.h"

/// A point of a way. It is fixed (start, goal, an end of a ride), or stands at a vertex, or slides on an
/// edge between the cells of the leg before and the leg after it.
///
/// Where both legs cost the same a sliding point is a *passing* point: the answer will not tell it, so
/// its height is not the edge's but that of the straight line between its neighbours.
typedef struct nav__way_point {
    nav_vec at;      ///< relative to the origin
    uint32_t cell;   ///< crossed by the leg to it; NAV_NONE at the start and on rides
    uint32_t ride;   ///< ridden by the leg to it; NAV_NONE: it walks
    uint32_t vertex; ///< NAV_NONE: not at one
    uint32_t edge;   ///< half-edge it slides on; NAV_NONE: it does not
    double t;        ///< 0 .. 1 along the half-edge
    bool tried;      ///< leading the way round this vertex did not help, and nothing beside it moved since
} nav__way_point;

/// Points live in query->way.
typedef struct nav__way {
    nav_query *query;
    const nav_mesh *mesh;
    const nav_filter *filter;
    double least_cost; ///< of any area of the mesh
    nav__way_point *points;
    uint32_t count, cap;
} nav__way;

/// Makes room for `count` points in all.
/// @return false when out of memory
bool nav__way_reserve(nav__way *way, uint32_t count);

/// Makes the way cheaper until neither moving points along their edges, nor leading the way round either
/// side of a vertex, nor a detour through a neighbour cell helps any more: cheapest among its
/// neighbours, not of all ways.
/// @return false when out of memory
bool nav__way_improve(nav__way *way);

/// Gains below this part of the cost are none.
#define NAV__LEAST_GAIN 1e-10

/// Replaces one point of the way by others.
/// @return false when out of memory
bool nav__way_splice(nav__way *way, uint32_t at, const nav__way_point *points, uint32_t count);

/// Leads the way round the vertex that a point stands at, between two walked legs, on the side where that
/// saves more (way_lead.c).
/// @param gain  what is saved is added
/// @return false when out of memory
bool nav__way_leave_vertex(nav__way *way, uint32_t at, double *gain);

/// Leads the leg to a point out of its cell and back into it where the cells outside cost less (way_lead.c).
/// @param gain  what is saved is added
/// @return false when out of memory
bool nav__way_cut_through(nav__way *way, uint32_t at, double *gain);

/// Moves all sliding points to where the way as a whole costs least (way_slide.c).
/// @param least  gains below this are none
/// @param gain   what is saved is added
/// @return false when out of memory
bool nav__way_slide(nav__way *way, double least, double *gain);

enum { NAV__WAY_FEW = 33 };

/// The same for at most NAV__WAY_FEW points that are not in the way yet: first and last stay, all between slide.
void nav__way_slide_few(const nav__way *way, nav__way_point *points, uint32_t count, double least);

/// Puts points between legs at one rate onto a straight line where their edges allow it.
void nav__way_straighten(nav__way *way);

static inline nav_vec nav__vertex_at(const nav_mesh *m, uint32_t v)
{
    nav__p2 at = nav__vertex_ground(m, v);
    return (nav_vec){at.x, (double)nav__vertex_y(m, v), at.z};
}

static inline nav_vec nav__edge_begin(const nav_mesh *m, uint32_t e)
{
    return nav__vertex_at(m, m->edges[e].vertex & NAV__VERTEX);
}

static inline nav_vec nav__edge_end(const nav_mesh *m, uint32_t e)
{
    return nav__edge_begin(m, nav__edge_next(m, e));
}

static inline nav_vec nav__minus(nav_vec a, nav_vec b)
{
    return (nav_vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline double nav__dot3(nav_vec a, nav_vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/// Twice the area that a and b span on the ground: > 0 when b lies left of a.
static inline double nav__span(nav_vec a, nav_vec b)
{
    return a.x * b.z - a.z * b.x;
}

static inline nav_vec nav__between(nav_vec a, nav_vec b, double t)
{
    return (nav_vec){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z)};
}

/// Cost per unit of length of the leg to a point.
static inline double nav__leg_rate(const nav__way *way, const nav__way_point *p)
{
    return nav__cell_cost(way->mesh, way->filter, p->cell);
}

/// What the legs between the first and the last of some points cost; rides are left out.
double nav__legs_cost(const nav__way *way, const nav__way_point *points, uint32_t count);

#endif
