#include "ride_ways.h"

#include <math.h>

static inline double least(double a, double b)
{
    return a < b ? a : b;
}

static uint32_t island_of(const nav__ride_ways *w, uint32_t cell)
{
    return w->m->cells[cell].island;
}

double nav__ride_ways_at(const nav__ride_ways *w, nav__p2 at, uint32_t island)
{
    bool there = w->crowded || nav__has_goal(w, island);
    double best = there ? nav__dist(at, w->goal->p) : INFINITY;
    if (w->crowded) {
        return w->cheap ? least(best, w->least) : best;
    }
    for (uint32_t i = 0; i < w->count && (!there || w->cheap); i++) {
        const nav__ride *r = &w->m->rides[i];
        if (w->rest[i] < best && island_of(w, r->from_cell) == island) {
            best = least(best, nav__dist(at, nav__ride_from(r)) + w->rest[i]);
        }
    }
    return best;
}

/// Lowers what is left after each ride by what the others offer until nothing changes (Bellman and Ford).
static void settle(nav__ride_ways *w, const double *cost)
{
    for (uint32_t round = 0; round < w->count; round++) {
        bool changed = false;
        for (uint32_t i = 0; i < w->count; i++) {
            const nav__ride *r = &w->m->rides[i];
            double rest = cost[i] + nav__ride_ways_at(w, nav__ride_to(r), island_of(w, r->to_cell));
            if (rest < w->rest[i]) {
                w->rest[i] = rest;
                changed = true;
            }
        }
        if (!changed) {
            return;
        }
    }
}

void nav__ride_ways_init(nav__ride_ways *ways, const nav_mesh *m, const nav_filter *filter, const nav__anchor *goal)
{
    // Told member by member: `rest` is long, and mostly there are no rides.
    ways->m = m;
    ways->goal = goal;
    ways->count = 0;
    ways->crowded = m->ride_count > NAV__TOLD_RIDES;
    ways->cheap = false;
    ways->least = INFINITY;
    double cost[NAV__TOLD_RIDES];
    for (uint32_t i = 0; i < m->ride_count; i++) {
        const nav__ride *r = &m->rides[i];
        double c = nav__ride_open(m, r, filter) ? nav__ride_cost(m, r, filter) : INFINITY;
        ways->cheap = ways->cheap || c < nav__dist(nav__ride_from(r), nav__ride_to(r));
        ways->least = least(ways->least, c);
        if (!ways->crowded) {
            cost[i] = c;
            ways->rest[i] = INFINITY;
        }
    }
    if (!ways->crowded && m->ride_count > 0) {
        ways->count = m->ride_count;
        settle(ways, cost);
    }
}
