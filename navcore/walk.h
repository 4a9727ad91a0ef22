/// Private: straight walks over cells.
#ifndef NAV_WALK_H
#define NAV_WALK_H

#include "scratch.h"

/// Told of each cell that a straight leg crosses, in order, with the part of the leg inside it.
/// @return false to end the walk
typedef bool nav__visit_fn(void *ctx, uint32_t cell, nav__p2 from, nav__p2 to);

/// How a walk ended.
typedef struct nav__walk_end {
    bool clear;    ///< b was reached
    uint32_t cell; ///< the last one
    nav__p2 point;
    nav__p2 normal; ///< unit, of the wall that stopped it, towards a; zero when clear
    double t;       ///< 0 .. 1 along a -> b
} nav__walk_end;

/// Walks the leg a -> b, which must have a direction, from whichever of the cells, each of which holds
/// a, leads all the way (furthest, where none does). Then visits the cells crossed.
/// @param visit  may be NULL
/// @param end    left as it is when there is no cell
/// @return false when a visit ended the walk
bool nav__walk_leg(const nav_mesh *m, const nav_filter *filter, const uint32_t *cells, uint32_t cell_count, nav__p2 a,
                   nav__p2 b, nav__visit_fn *visit, void *ctx, nav__walk_end *end);

/// Cells round a vertex by its fan, at most `cap`. @return how many
uint32_t nav__fan_cells(const nav_mesh *m, uint32_t vertex, uint32_t *cells, uint32_t cap);

#endif
