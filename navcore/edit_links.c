/// Off-mesh links of a mesh with edits: which there are, and where their ends come to lie.
#include "edit.h"
#include "rides.h"
#include "scratch.h"

#include <stdlib.h>
#include <string.h>

static bool is_near_plan(const nav_editor *e, nav_vec end, double radius)
{
    const nav_mesh *m = &e->base;
    nav__p2 p = nav__ground(m, end);
    double reach = radius + 2 * m->rounding;
    for (uint32_t i = 0; i < e->plan.cell_count; i++) {
        uint32_t cell = e->plan.cells[i].cell;
        nav__p2 low = {INFINITY, INFINITY}, high = {-INFINITY, -INFINITY};
        for (uint32_t k = m->cells[cell].first_edge; k < m->cells[cell + 1].first_edge; k++) {
            nav__p2 q = nav__edge_from(m, k);
            low = (nav__p2){fmin(low.x, q.x), fmin(low.z, q.z)};
            high = (nav__p2){fmax(high.x, q.x), fmax(high.z, q.z)};
        }
        if (p.x >= low.x - reach && p.x <= high.x + reach && p.z >= low.z - reach && p.z <= high.z + reach) {
            return true;
        }
    }
    return false;
}

/// The links in force: the file's, or what stands in for them, then those of edits alone.
static bool list_links(nav_editor *e)
{
    uint32_t count = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        uint32_t n = pass == 0 ? e->base.link_count : e->link_count;
        for (uint32_t i = 0; i < n; i++) {
            const nav_link *link = pass == 0 ? &e->base.links[i] : &e->links[i].link;
            bool takes = pass == 0 || !e->links[i].disabled;
            for (uint32_t k = 0; takes && pass == 0 && k < e->link_count; k++) {
                takes = strcmp(e->links[k].link.id, link->id) != 0;
            }
            if (!takes) {
                continue;
            }
            if (count == e->base.link_count + e->room.links) {
                return false;
            }
            memcpy(NAV__WRITE(e, links, count, 1), link, sizeof *link);
            count++;
        }
    }
    e->now.link_count = count;
    return true;
}

static void note_end(nav_editor *e, uint32_t cell)
{
    if (!e->now.cells[cell].link_end) {
        nav__cell *c = NAV__WRITE(e, cells, cell, 1);
        c->link_end = 1;
    }
}

static bool find_rides(nav_editor *e)
{
    const nav_mesh *m = &e->now;
    uint32_t count = 0;
    nav__ride *rides = NAV__WRITE(e, rides, 0, 2 * (size_t)m->link_count);
    for (uint32_t i = 0; i < m->link_count; i++) {
        const nav_link *link = &m->links[i];
        nav_place start, end;
        if (!nav__ride_land(m, link->start, link->radius, &start) ||
            !nav__ride_land(m, link->end, link->radius, &end)) {
            continue;
        }
        nav__ride ride;
        memset(&ride, 0, sizeof ride); // padding too
        ride.link = i;
        nav__ride_set_end(m, &start, ride.from, &ride.from_cell);
        nav__ride_set_end(m, &end, ride.to, &ride.to_cell);
        if (memcmp(ride.from, ride.to, sizeof ride.from) == 0) {
            continue;
        }
        rides[count++] = ride;
        if (link->bidirectional) {
            nav__ride back = ride;
            back.from_cell = ride.to_cell;
            back.to_cell = ride.from_cell;
            memcpy(back.from, ride.to, sizeof back.from);
            memcpy(back.to, ride.from, sizeof back.to);
            back.backwards = true;
            rides[count++] = back;
        }
    }
    if (count > 0) {
        qsort(rides, count, sizeof *rides, nav__ride_order);
    }
    e->now.ride_count = count;
    return !e->broken;
}

bool nav__edit_land_links(nav_editor *e, bool changed, uint32_t *off)
{
    *off = 0;
    if (changed && !list_links(e)) {
        e->broken = true;
        return false;
    }
    bool near = changed;
    for (uint32_t i = 0; i < e->now.link_count && !near; i++) {
        const nav_link *link = &e->now.links[i];
        near = is_near_plan(e, link->start, link->radius) || is_near_plan(e, link->end, link->radius);
    }
    if (near && !find_rides(e)) {
        return false;
    }
    for (uint32_t i = 0; i < e->now.ride_count && (near || e->plan.cell_count > 0); i++) {
        note_end(e, e->now.rides[i].from_cell);
        note_end(e, e->now.rides[i].to_cell);
    }
    uint32_t led = 0;
    for (uint32_t i = 0; i < e->now.ride_count; i++) {
        led += !e->now.rides[i].backwards;
    }
    *off = e->now.link_count - led;
    return !e->broken;
}
