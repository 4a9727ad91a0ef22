/// Private: a lower bound on what it costs to get to a goal, on foot and by links that are cheaper than
/// walking.
#ifndef NAV_RIDE_BOUND_H
#define NAV_RIDE_BOUND_H

#include "scratch.h"

static inline double nav__dist3(nav_vec a, nav_vec b)
{
    double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrt(x * x + y * y + z * z);
}

/// Links told one by one in the bound; more are bounded by one number for all.
#define NAV__BOUND_RIDES 12

/// The bound falls from place to place by no more than walking costs, and over a ride by no more than the
/// ride costs: a search by it expands no site twice.
typedef struct nav__ride_bound {
    nav_vec goal;      ///< relative to the origin
    double least_cost; ///< of walking, per unit of length
    uint32_t count;    ///< of rides that cost less than least_cost times the straight way between their ends
    nav_vec from[NAV__BOUND_RIDES];
    double rest[NAV__BOUND_RIDES]; ///< at least what it costs from there on, the ride included
    bool crowded;                  ///< there are too many to tell one by one
    double least_rest;             ///< crowded: at least what it costs from any cheap ride's begin on
} nav__ride_bound;

void nav__ride_bound_init(nav__ride_bound *bound, const nav_mesh *m, const nav_filter *filter, nav_vec goal,
                          double least_cost);

/// At least what it costs from a place to the goal.
static inline double nav__ride_bound_at(const nav__ride_bound *b, nav_vec at)
{
    double best = b->least_cost * nav__dist3(at, b->goal);
    for (uint32_t i = 0; i < b->count; i++) {
        double way = b->least_cost * nav__dist3(at, b->from[i]) + b->rest[i];
        best = way < best ? way : best;
    }
    return b->crowded && b->least_rest < best ? b->least_rest : best;
}

#endif
