/// Private: which corners a place sees.
#ifndef NAV_VISIBILITY_H
#define NAV_VISIBILITY_H

#include "scratch.h"

/// Tells of each corner vertex that can be seen from p, in no order, some more than once. Seen means that
/// the straight line lies on the surface; it may touch walls and run along them.
/// @param cells  that hold p, all of which the filter passes; of a corner all of its fan
/// @param visit  may not use query->sight
/// @return false when out of memory
bool nav__see_corners(nav_query *query, const nav_mesh *m, const nav_filter *filter, nav__p2 p, const uint32_t *cells,
                      uint32_t cell_count, void (*visit)(void *ctx, uint32_t vertex), void *ctx);

#endif
