/// Private: what the ways over links to a goal are at least, for the search over the ground plane.
///
/// Who is on another island than the goal must ride, and the rides that leave an island are few: the least way
/// over them is a far better bound than the straight line. On the goal's own island only rides that are
/// cheaper than walking matter.
#ifndef NAV_RIDE_WAYS_H
#define NAV_RIDE_WAYS_H

#include "scratch.h"

/// Rides told one by one in the bound; of more only the cheapest counts.
#define NAV__TOLD_RIDES 32

typedef struct nav__ride_ways {
    const nav_mesh *m;
    const nav__anchor *goal;
    uint32_t count;               ///< of rides told; 0: there are none, or too many
    bool crowded;                 ///< too many
    bool cheap;                   ///< some open ride costs less than its straight line
    double least;                 ///< crowded: no way by a cheap ride costs less than this from the ride's begin on
    double rest[NAV__TOLD_RIDES]; ///< [count] from the ride's begin to the goal, the ride included; INFINITY: none
} nav__ride_ways;

static inline nav__p2 nav__ride_from(const nav__ride *r)
{
    return (nav__p2){(double)r->from[0], (double)r->from[2]};
}
static inline nav__p2 nav__ride_to(const nav__ride *r)
{
    return (nav__p2){(double)r->to[0], (double)r->to[2]};
}

void nav__ride_ways_init(nav__ride_ways *ways, const nav_mesh *m, const nav_filter *filter, const nav__anchor *goal);

/// Is one of the goal's cells on the island?
static inline bool nav__has_goal(const nav__ride_ways *w, uint32_t island)
{
    for (uint32_t i = 0; i < w->goal->count; i++) {
        if (w->m->cells[w->goal->cells[i]].island == island) {
            return true;
        }
    }
    return false;
}

/// At least what it costs from a place on an island to the goal; INFINITY: there is no way.
double nav__ride_ways_at(const nav__ride_ways *w, nav__p2 at, uint32_t island);

#endif
