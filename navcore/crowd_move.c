/// Steps of an agent over the surface. Whatever is asked, it ends exactly in the cell that it is said to stand in.
///
/// Aside of its route it slides: up to a wall, then with what is left of the step along the wall, a hair off it,
/// until the step is made or a second wall closes the corner. (nav_query_move finds the nearest place to the end
/// instead, and takes longer: steps of a crowd are short.)
#include "crowd.h"

#include <math.h>
#include <string.h>

/// How far off a wall a slide goes on, and the least of it that still is one, in parts of the mesh's rounding and
/// of an agent's radius.
static const double OFF_WALL = 1e-4;
/// Slides along so many walls in a step.
enum { MOST_SLIDES = 4 };
/// A link may be taken from so far off its beginning by who cannot get nearer, in radii.
static const double RIDE_REACH = 1;
static const double LEAST_LINK_SPEED = 0.1;

static nav__p2 ground_of(const nav__via *v)
{
    return (nav__p2){v->x, v->z};
}

static void stand_at(nav_crowd *c, uint32_t i, uint32_t cell, nav__p2 p)
{
    c->cell[i] = cell;
    c->x[i] = p.x;
    c->z[i] = p.z;
}

/// Walks straight. @return true when `to` was reached; else it stands at the wall, `normal` is the wall's
static bool walk_to(nav_crowd *c, uint32_t i, nav__p2 to, nav__p2 *normal)
{
    const nav_mesh *m = c->mesh;
    uint32_t cell = c->cell[i];
    nav__p2 from = {c->x[i], c->z[i]};
    if (nav__cell_holds(m, cell, to)) {
        stand_at(c, i, cell, to);
        return true;
    }
    nav__walk_end end = {.clear = false, .cell = cell, .point = from};
    nav__walk_leg(m, nav__crowd_filter_of(c, i), &cell, 1, from, to, NULL, NULL, &end);
    if (end.clear) {
        stand_at(c, i, end.cell, to);
        return true;
    }
    *normal = end.normal;
    // A hair off the wall; where that is no place of the cell, in a corner, a hair back.
    double hair = OFF_WALL * (double)c->radius[i];
    nav__p2 off = {end.point.x + hair * end.normal.x, end.point.z + hair * end.normal.z};
    if (nav__cell_holds(m, end.cell, off)) {
        stand_at(c, i, end.cell, off);
        return false;
    }
    for (double back = OFF_WALL; back < 1; back *= 8) {
        nav__p2 p = {end.point.x + back * (from.x - end.point.x), end.point.z + back * (from.z - end.point.z)};
        if (nav__cell_holds(m, end.cell, p)) {
            stand_at(c, i, end.cell, p);
            break;
        }
    }
    return false;
}

/// @param room  once it slides it gets no further from where it began: others may be there
static void slide_to(nav_crowd *c, uint32_t i, nav__p2 to, double room)
{
    nav__p2 way = {to.x - c->x[i], to.z - c->z[i]}, normal = {0, 0};
    for (int k = 0; k < MOST_SLIDES; k++) {
        nav__p2 from = {c->x[i], c->z[i]};
        if (walk_to(c, i, (nav__p2){from.x + way.x, from.z + way.z}, &normal)) {
            break;
        }
        c->flags[i] |= NAV__IS_BLOCKED;
        // What is left, without the part into the wall. (It can be no longer than it was.)
        nav__p2 left = {from.x + way.x - c->x[i], from.z + way.z - c->z[i]};
        double into = nav__dot(left, normal);
        left = (nav__p2){left.x - fmin(into, 0) * normal.x, left.z - fmin(into, 0) * normal.z};
        room -= nav__dist(from, (nav__p2){c->x[i], c->z[i]});
        double length = sqrt(nav__dot(left, left)), part = room < length ? room / length : 1;
        if (!(nav__dot(left, way) > 1e-6 * nav__dot(way, way)) || !(part > 0)) {
            break; // into a corner
        }
        way = (nav__p2){part * left.x, part * left.z};
    }
}

// ---- links -----------------------------------------------------------------------------------------

uint32_t nav__crowd_same_ride(const nav_mesh *from, uint32_t ride, const nav_mesh *to)
{
    const nav__ride *r = &from->rides[ride];
    const nav_link *link = &from->links[r->link];
    for (uint32_t k = 0; k < to->ride_count; k++) {
        const nav__ride *other = &to->rides[k];
        const nav_link *l = &to->links[other->link];
        if (r->backwards == other->backwards && strcmp(link->id, l->id) == 0 &&
            memcmp(&link->start, &l->start, sizeof l->start) == 0 && memcmp(&link->end, &l->end, sizeof l->end) == 0) {
            return k;
        }
    }
    return NAV_NONE;
}

static double ride_speed(const nav_crowd *c, uint32_t i)
{
    double speed = (double)(c->link_speed[i] > 0 ? c->link_speed[i] : c->max_speed[i]);
    return speed > LEAST_LINK_SPEED || c->link_speed[i] > 0 ? speed : LEAST_LINK_SPEED;
}

/// Rides on for `time`. @return what is left of it when the ride is over, else 0
static double ride_on(nav_crowd *c, uint32_t i, double time)
{
    const nav_mesh *m = c->mesh;
    nav__riding *riding = &c->riding[i];
    const nav__ride *ride = &m->rides[riding->ride];
    double dx = (double)ride->to[0] - riding->x, dy = (double)ride->to[1] - riding->y,
           dz = (double)ride->to[2] - riding->z;
    double length = sqrt(dx * dx + dy * dy + dz * dz), speed = ride_speed(c, i);
    double left = (1 - (double)riding->part) * length, used = left / speed;
    if (used > time) {
        riding->part += (float)(speed * time / length);
        double part = (double)riding->part;
        c->x[i] = riding->x + part * dx;
        c->z[i] = riding->z + part * dz;
        c->y[i] = riding->y + part * dy;
        return 0;
    }
    nav_vec end = {m->origin.x + (double)ride->to[0], m->origin.y + (double)ride->to[1],
                   m->origin.z + (double)ride->to[2]};
    nav__crowd_put(c, i, end);
    return time - used;
}

static void begin_ride(nav_crowd *c, uint32_t i, uint32_t ride)
{
    c->riding[i] = (nav__riding){c->x[i], c->z[i], c->y[i], ride, 0};
    c->standing[i] = NAV__RIDES;
    c->cell[i] = NAV_NONE;
}

// ---- along the route -------------------------------------------------------------------------------

/// Goes exactly along its route, over links too.
static void follow_route(nav_crowd *c, uint32_t i, double time)
{
    nav__route *r = &c->route[i];
    double speed = (double)c->stride[i] / c->dt;
    while (!nav__route_is_empty(r) && time > 0) {
        nav__via *next = &r->via[r->at];
        if (next->ride != NAV_NONE) {
            begin_ride(c, i, next->ride);
            time = ride_on(c, i, time);
            if (c->standing[i] != NAV__STANDS) {
                return;
            }
            nav__route_pass(r);
            continue;
        }
        nav__p2 from = {c->x[i], c->z[i]}, to = ground_of(next), normal;
        double d = nav__dist(from, to), way = speed * time;
        if (d > way) {
            nav__p2 p = {from.x + (to.x - from.x) * (way / d), from.z + (to.z - from.z) * (way / d)};
            if (!walk_to(c, i, p, &normal)) {
                c->flags[i] |= NAV__STRAYED | NAV__IS_BLOCKED;
            }
            return;
        }
        if (!walk_to(c, i, to, &normal)) {
            c->flags[i] |= NAV__STRAYED | NAV__IS_BLOCKED;
            return;
        }
        time -= speed > 0 ? d / speed : time;
        if (r->at + 1 == r->count) {
            return; // the last point stays
        }
        nav__route_pass(r);
    }
}

/// Led aside, it may take a link from where it is.
static void try_ride(nav_crowd *c, uint32_t i)
{
    nav__route *r = &c->route[i];
    if (r->at + 1 < r->count && r->via[r->at + 1].ride != NAV_NONE &&
        nav__dist((nav__p2){c->x[i], c->z[i]}, ground_of(&r->via[r->at])) <= RIDE_REACH * (double)c->radius[i]) {
        nav__route_pass(r);
    }
}

void nav__crowd_move(nav_crowd *c, uint32_t i)
{
    double x = c->x[i], z = c->z[i], y = c->y[i], dt = c->dt;
    c->flags[i] &= (uint16_t)~NAV__IS_BLOCKED;
    if (c->standing[i] == NAV__RIDES) {
        double time = ride_on(c, i, dt);
        if (c->standing[i] == NAV__STANDS && !nav__route_is_empty(&c->route[i])) {
            nav__route_pass(&c->route[i]);
            c->stride[i] = (float)((double)c->max_speed[i] * dt);
            follow_route(c, i, time);
        }
    } else if (c->standing[i] != NAV__STANDS) {
        return;
    } else if (c->flags[i] & NAV__ON_ROUTE) {
        follow_route(c, i, dt);
    } else if (c->chosen_x[i] != 0 || c->chosen_z[i] != 0) {
        c->flags[i] |= NAV__STRAYED;
        slide_to(c, i, (nav__p2){x + (double)c->chosen_x[i] * dt, z + (double)c->chosen_z[i] * dt}, (double)c->room[i]);
        try_ride(c, i);
    }
    if (c->standing[i] == NAV__STANDS) {
        c->y[i] = nav__cell_height(c->mesh, c->cell[i], (nav__p2){c->x[i], c->z[i]}, NULL);
    }
    c->vx[i] = (float)((c->x[i] - x) / dt);
    c->vz[i] = (float)((c->z[i] - z) / dt);
    c->vy[i] = (float)((c->y[i] - y) / dt);
}
