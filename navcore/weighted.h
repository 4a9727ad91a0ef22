/// Private: the search with area costs, which also rides links.
#ifndef NAV_WEIGHTED_H
#define NAV_WEIGHTED_H

#include "polyanya.h"

/// A point of the path found. Where the path neither bends nor meets another cost there is none.
typedef struct nav__step {
    nav__p2 p;
    double y; ///< relative to the origin
    /// The leg to this point crosses cells of this one's cost, this one last. NAV_NONE at the start and on rides.
    uint32_t cell;
    uint32_t ride; ///< the leg to this point rides mesh->rides[ride]; NAV_NONE: it walks
} nav__step;

typedef struct nav__weighted {
    const nav_mesh *mesh;
    const nav_filter *filter; ///< area_costs NULL: every area costs 1
    const nav__anchor *start, *goal;
    uint32_t max_nodes; ///< 0: no limit
    double max_cost;    ///< 0: no limit
    uint32_t explain;   ///< sites to note in query->explained

    // The answer.
    uint32_t nodes; ///< sites expanded
    uint32_t explained_count;
    double cost;         ///< walked legs: 3D length times the area's cost; rides: nav__ride_cost
    double length;       ///< 3D, rides included
    uint32_t step_count; ///< nav__step in query->steps, the start first
} nav__weighted;

/// Cheapest path between two anchors, up to the sampling of edges (see sites.h): what that leaves is
/// usually taken out by way.h, which makes the path locally the best.
/// @return as nav__polyanya; NAV__LIMITED: the steps lead to the place nearest to the goal that was reached
nav__search_result nav__weighted_search(nav_query *query, nav__weighted *search);

#endif
