/// Private: the polygons within reach, as a spread finds them.
///
///   reachable.c        the question; which polygons are within reach, cheapest first
///   spread.c           the spread of costs where all areas cost the same
///   spread_weighted.c  and where they do not
///   outline.c          rings round polygons
#ifndef NAV_REACHABLE_H
#define NAV_REACHABLE_H

#include "nav_surface.h"
#include "polyanya.h"

/// A polygon that can be reached, but perhaps for less than that.
typedef struct nav__reachable_open {
    double cost;
    uint32_t polygon;
} nav__reachable_open;

typedef struct nav__reachable {
    nav_query *query;
    const nav_mesh *m;
    const nav_filter *filter;
    const nav__anchor *start;
    double max_cost;
    uint32_t limit; ///< polygons; 0: no limit

    double *costs;             ///< [polygon_count] the least known, INFINITY: none, SETTLED: found
    nav__reachable_open *open; ///< heap
    uint32_t open_count, open_cap;
    nav_reached *found;
    uint32_t found_count, found_cap;
    bool limited; ///< the limit left a polygon out
    bool out_of_memory;
} nav__reachable;

/// Could a way to the face that costs this be news?
static inline bool nav__reachable_lacks(const nav__reachable *r, uint32_t face, double cost)
{
    return cost <= r->max_cost && cost < r->costs[nav__face_polygon(r->m, face)];
}

/// Notes a way to the nearest place of a face.
void nav__reachable_offer(nav__reachable *r, uint32_t face, double cost);

/// No way that costs less will be offered any more: what can be had for that is found.
/// @return false when the limit is reached
bool nav__reachable_settle(nav__reachable *r, double cost);

/// Costs are `unit` times the ground length, plus those of rides.
/// @return NAV__EXHAUSTED when done, NAV__LIMITED, NAV__STOPPED, NAV__OUT_OF_MEMORY
nav__search_result nav__spread(nav__reachable *r, double unit);

/// Costs are the ground length times each cell's cost, plus those of rides.
/// @return as nav__spread
nav__search_result nav__spread_weighted(nav__reachable *r);

/// Rings round polygons, sorted upwards: nav_ring in query->rings, their places in query->points.
/// @return false when out of memory
bool nav__outline(nav_query *query, const nav_mesh *m, const uint32_t *polygons, uint32_t count, uint32_t *ring_count);

#endif
