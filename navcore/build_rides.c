/// The ends of off-mesh links on the finished surface: what the searches ride.
#include "build.h"

#include "rides.h"
#include "scratch.h"

#include <stdlib.h>

/// The surface nearest to a link's end, no further than its radius on the ground and its radius or the
/// agent's climb in height, whichever is more.
bool nav__ride_land(const nav_mesh *m, nav_vec end, double radius, nav_place *place)
{
    double reach = fmax(radius, m->rounding), height = fmax(reach, m->agent.climb);
    nav_snap snap = nav_snap_default();
    snap.half_extents = (nav_vec){reach, height, reach};
    return nav__nearest(m, end, &snap, place) &&
           hypot(place->point.x - end.x, place->point.z - end.z) <= reach + m->rounding;
}

void nav__ride_set_end(const nav_mesh *m, const nav_place *place, float p[3], uint32_t *cell)
{
    p[0] = (float)(place->point.x - m->origin.x);
    p[1] = (float)(place->point.y - m->origin.y);
    p[2] = (float)(place->point.z - m->origin.z);
    *cell = place->cell;
}

int nav__ride_order(const void *a, const void *b)
{
    const nav__ride *r = a, *s = b;
    if (r->from_cell != s->from_cell) {
        return r->from_cell < s->from_cell ? -1 : 1;
    }
    if (r->link != s->link) {
        return r->link < s->link ? -1 : 1;
    }
    return (int)r->backwards - (int)s->backwards;
}

void nav__build_rides(nav__build *b, nav_mesh *m)
{
    nav__ride *rides = (nav__ride *)m->rides;
    for (uint32_t i = 0; i < m->link_count; i++) {
        const nav_link *link = &m->links[i];
        nav_place start, end;
        bool starts = nav__ride_land(m, link->start, link->radius, &start),
             ends = nav__ride_land(m, link->end, link->radius, &end);
        if (!starts || !ends) {
            nav__build_drop_link(b, link, starts ? "its end is not near the mesh" : "its start is not near the mesh");
            continue;
        }
        nav__ride ride = {.link = i};
        nav__ride_set_end(m, &start, ride.from, &ride.from_cell);
        nav__ride_set_end(m, &end, ride.to, &ride.to_cell);
        if (memcmp(ride.from, ride.to, sizeof ride.from) == 0) {
            nav__build_drop_link(b, link, "it ends where it starts");
            continue;
        }
        rides[m->ride_count++] = ride;
        if (link->bidirectional) {
            nav__ride back = {.link = i, .from_cell = ride.to_cell, .to_cell = ride.from_cell, .backwards = true};
            memcpy(back.from, ride.to, sizeof back.from);
            memcpy(back.to, ride.from, sizeof back.to);
            rides[m->ride_count++] = back;
        }
    }
    qsort(rides, m->ride_count, sizeof *rides, nav__ride_order);
}
