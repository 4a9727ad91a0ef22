/// Private: which cells can be got to from a place, and stamps that make clearing needless.
#ifndef NAV_FLOOD_H
#define NAV_FLOOD_H

#include "scratch.h"

/// An array of `count` stamps in query->reached, none of them set to query->reached_stamp, which is new.
/// @return NULL when out of memory
uint32_t *nav__stamps(nav_query *query, uint32_t count);

/// What a flood reached; holds until the query's next stamps.
typedef struct nav__flooded {
    const nav_mesh *mesh;
    const uint32_t *reached; ///< by island, where the filter closes no cell; else by cell
    uint32_t stamp;
    bool by_island;
    uint32_t *seen; ///< [cell_count] for the caller's marks: none is set to `stamp`
} nav__flooded;

/// Finds every cell that one can get to from the cells of an anchor, on foot and by rides. Takes no time
/// where the filter closes nothing.
/// @return false when out of memory
bool nav__flood(nav_query *query, const nav_mesh *m, const nav_filter *filter, const nav__anchor *start,
                nav__flooded *flooded);

static inline bool nav__is_flooded(const nav__flooded *f, uint32_t cell)
{
    return f->reached[f->by_island ? f->mesh->cells[cell].island : cell] == f->stamp;
}

#endif
