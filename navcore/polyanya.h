/// Private: the any-angle interval search over cells.
#ifndef NAV_POLYANYA_H
#define NAV_POLYANYA_H

#include "scratch.h"

typedef struct nav__search {
    const nav_mesh *mesh;
    const nav_filter *filter;
    const nav__anchor *start, *goal; ///< goal NULL: none, for who uses the intervals to spread everywhere
    uint32_t max_nodes;              ///< 0: no limit
    uint32_t explain;                ///< nodes to note in query->explained

    // The answer.
    uint32_t nodes;        ///< cells expanded
    double length;         ///< over the ground plane, start to goal (or to tip)
    uint32_t corner_count; ///< in query->corners, uint32_t, in order: vertices where the path bends,
                           ///< or vertex_count + k where it rides k
    uint32_t explained_count;
    nav__p2 tip;       ///< NAV__LIMITED: where the best partial path ends ...
    uint32_t tip_cell; ///< ... and a cell that holds it
} nav__search;

typedef enum nav__search_result {
    NAV__FOUND,
    NAV__EXHAUSTED, ///< the goal's cells cannot be entered from the start's
    NAV__LIMITED,   ///< max_nodes; corners and tip tell the best partial path
    NAV__STOPPED,   ///< by the query's interrupt
    NAV__OUT_OF_MEMORY
} nav__search_result;

/// Shortest path over the ground plane between two anchors.
nav__search_result nav__polyanya(nav_query *query, nav__search *search);

#endif
