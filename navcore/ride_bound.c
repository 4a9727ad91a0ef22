#include "ride_bound.h"

static nav_vec position(const float p[3])
{
    return (nav_vec){(double)p[0], (double)p[1], (double)p[2]};
}

/// Does the ride cost less than walking could?
static bool is_cheap(const nav_mesh *m, const nav__ride *ride, const nav_filter *filter, double least_cost,
                     double *cost)
{
    const nav_link *link = &m->links[ride->link];
    if (link->cost < 0 && (!filter->area_costs || filter->area_costs[link->area] >= least_cost)) {
        return false;
    }
    *cost = nav__ride_cost(m, ride, filter);
    return *cost < least_cost * nav__dist3(position(ride->from), position(ride->to)) && nav__ride_open(m, ride, filter);
}

/// Lowers what is left after each ride by what the others offer until nothing changes (Bellman and Ford;
/// with costs above zero a round for each ride is enough).
static void settle(nav__ride_bound *b, const nav_vec *to, const double *cost)
{
    for (uint32_t round = 0; round < b->count; round++) {
        bool changed = false;
        for (uint32_t i = 0; i < b->count; i++) {
            double rest = cost[i] + nav__ride_bound_at(b, to[i]);
            if (rest < b->rest[i]) {
                b->rest[i] = rest;
                changed = true;
            }
        }
        if (!changed) {
            return;
        }
    }
}

void nav__ride_bound_init(nav__ride_bound *bound, const nav_mesh *m, const nav_filter *filter, nav_vec goal,
                          double least_cost)
{
    *bound = (nav__ride_bound){.goal = goal, .least_cost = least_cost};
    nav_vec to[NAV__BOUND_RIDES];
    double cost[NAV__BOUND_RIDES];
    double least_ride = INFINITY, least_walk = INFINITY;
    for (uint32_t r = 0; r < m->ride_count; r++) {
        double c;
        if (!is_cheap(m, &m->rides[r], filter, least_cost, &c)) {
            continue;
        }
        nav_vec end = position(m->rides[r].to);
        double walk = least_cost * nav__dist3(end, goal);
        least_ride = c < least_ride ? c : least_ride;
        least_walk = walk < least_walk ? walk : least_walk;
        if (bound->count == NAV__BOUND_RIDES) {
            bound->crowded = true;
            continue;
        }
        uint32_t i = bound->count++;
        bound->from[i] = position(m->rides[r].from);
        bound->rest[i] = c + walk;
        to[i] = end;
        cost[i] = c;
    }
    if (bound->crowded) {
        // Whoever rides at all rides once at least, and walks from the last ride's end.
        bound->count = 0;
        bound->least_rest = least_ride + least_walk;
    } else {
        settle(bound, to, cost);
    }
}
