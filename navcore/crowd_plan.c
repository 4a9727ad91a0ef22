/// Where an agent wants to go: its goal, the route there, and the velocity along it.
///
/// A route is made by nav_query_path and then kept: it is a chain of points with free straight ways between
/// them, the first of them in sight of the agent. Who walks along it exactly keeps it in sight for nothing. Who
/// was led aside looks whether it still sees the next point, or already the one after; where it sees none, a
/// search of a few nodes back to that point mends the route. When the goal moves, the route's end is bent after
/// it as long as a straight walk leads from one of its last points there. Only what none of this can do takes a
/// whole search, of which each step has so many (crowd_step.c).
#include "crowd.h"

#include <math.h>

/// Steps between looks for the next point, and past it, of who is not on its route.
enum { LOOK_EVERY = 4, SHORTCUT_EVERY = 8 };
/// Nodes of a search that mends, and bends of a route's end before it is searched anew.
enum { MEND_NODES = 48, MOST_BENDS = 16 };
/// A goal that moved by less than this part of the way left is no reason to search when bending leads there.
static const double SMALL_MOVE = 0.1;
/// Floors less apart in height are one.
static const double SAME_FLOOR = 0.05;

static nav__p2 at(const nav_crowd *c, uint32_t i)
{
    return (nav__p2){c->x[i], c->z[i]};
}

static nav__p2 ground_of(const nav__via *v)
{
    return (nav__p2){v->x, v->z};
}

bool nav__crowd_sees(const nav_mesh *m, const nav_filter *filter, uint32_t cell, nav__p2 p, nav__p2 to, double height,
                     uint32_t *holds)
{
    nav__walk_end end = {.clear = true, .cell = cell};
    if (!nav__cell_holds(m, cell, to)) {
        nav__walk_leg(m, filter, &cell, 1, p, to, NULL, NULL, &end);
    }
    if (holds) {
        *holds = end.cell;
    }
    return end.clear && fabs(nav__cell_height(m, end.cell, to, NULL) - height) <= SAME_FLOOR;
}

// ---- routes ----------------------------------------------------------------------------------------

static double leg_length(const nav__via *from, const nav__via *to)
{
    double ground = nav__dist(ground_of(from), ground_of(to));
    return to->ride == NAV_NONE ? ground : hypot(ground, (double)to->y - (double)from->y);
}

void nav__route_measure(nav__route *route)
{
    route->rest = 0;
    for (uint32_t k = route->at + 1; k < route->count; k++) {
        route->rest += leg_length(&route->via[k - 1], &route->via[k]);
    }
}

void nav__route_pass(nav__route *route)
{
    uint32_t k = ++route->at;
    if (k + 1 >= route->count) {
        route->rest = 0; // no sum of differences is left over
    } else {
        route->rest -= leg_length(&route->via[k - 1], &route->via[k]);
    }
}

/// Room for `count` points in all.
static bool reserve(nav_crowd *c, nav__route *route, uint32_t count)
{
    if (count <= route->cap) {
        return true;
    }
    uint32_t cap = count + count / 2 + 4;
    nav__via *via = c->alloc.resize(c->alloc.ctx, route->via, cap * sizeof *via);
    if (!via) {
        return false;
    }
    route->via = via;
    route->cap = cap;
    return true;
}

static nav__via goal_via(const nav__goal *goal)
{
    return (nav__via){goal->x, goal->z, (float)goal->y, goal->cell, NAV_NONE};
}

/// Straight to the goal.
static bool lead_straight(nav_crowd *c, uint32_t i)
{
    nav__route *r = &c->route[i];
    if (!reserve(c, r, 1)) {
        return false;
    }
    r->via[0] = goal_via(&c->goal[i]);
    r->at = 0;
    r->count = 1;
    r->rest = 0;
    return true;
}

// ---- searches --------------------------------------------------------------------------------------

static nav_vec absolute(const nav_mesh *m, double x, double y, double z)
{
    return (nav_vec){m->origin.x + x, m->origin.y + y, m->origin.z + z};
}

/// A path from where the agent stands.
static nav_status find_path(nav_crowd *c, uint32_t i, nav_query *query, nav_vec end, uint32_t max_nodes, nav_path *path)
{
    // Both ends are on the surface already: a small box finds them again.
    nav_path_options options = {.snap = {.half_extents = {0.01, 0.1, 0.01}, .filter = *nav__crowd_filter_of(c, i)},
                                .max_nodes = max_nodes};
    nav_vec start = nav__crowd_position(c, i);
    nav_status status = nav_query_path(query, c->mesh, start, end, &options, path);
    if (status == NAV_OK && path->status == NAV_PATH_START_OFF_MESH) {
        // Its filter closes where it stands.
        options.snap.half_extents = c->snap[i];
        status = nav_query_path(query, c->mesh, start, end, &options, path);
    }
    return status;
}

static uint32_t ride_of(const nav_mesh *m, uint32_t link, nav_vec end)
{
    uint32_t best = NAV_NONE;
    double least = INFINITY;
    for (uint32_t k = 0; k < m->ride_count; k++) {
        const nav__ride *r = &m->rides[k];
        double d = fabs(m->origin.x + (double)r->to[0] - end.x) + fabs(m->origin.y + (double)r->to[1] - end.y) +
                   fabs(m->origin.z + (double)r->to[2] - end.z);
        if (r->link == link && d < least) {
            least = d;
            best = k;
        }
    }
    return best;
}

static nav__via via_of(const nav_mesh *m, nav_vec p)
{
    return (nav__via){p.x - m->origin.x, p.z - m->origin.z, (float)(p.y - m->origin.y), NAV_NONE, NAV_NONE};
}

/// The path becomes the route. Its first point is where the agent stands, unless that had to be moved.
static bool take_path(nav_crowd *c, uint32_t i, const nav_path *path)
{
    const nav_mesh *m = c->mesh;
    nav__route *r = &c->route[i];
    uint32_t first = path->start.distance > (double)c->radius[i] ? 0 : 1;
    if (path->point_count <= 1) {
        first = 0;
    }
    if (!reserve(c, r, path->point_count - first)) {
        return false;
    }
    r->at = r->count = r->bends = 0;
    uint32_t link = 0;
    for (uint32_t k = first; k < path->point_count; k++) {
        nav__via v = via_of(m, path->points[k]);
        while (link < path->link_count && path->links[link].at + 1 < k) {
            link++;
        }
        if (link < path->link_count && path->links[link].at + 1 == k) {
            v.ride = ride_of(m, path->links[link].link, path->points[k]);
        }
        r->via[r->count++] = v;
    }
    if (path->status == NAV_PATH_COMPLETE) {
        uint32_t ride = r->via[r->count - 1].ride;
        r->via[r->count - 1] = goal_via(&c->goal[i]); // not rounded
        r->via[r->count - 1].ride = ride;
    }
    nav__route_measure(r);
    return true;
}

static nav_status search(nav_crowd *c, uint32_t i, nav_query *query)
{
    const nav__goal *goal = &c->goal[i];
    nav_vec end = absolute(c->mesh, goal->x, goal->y, goal->z);
    nav_path path;
    nav_status status = find_path(c, i, query, end, c->options.max_nodes, &path);
    if (status != NAV_OK || (path.point_count > 0 && !take_path(c, i, &path))) {
        return NAV_NO_MEMORY; // it goes on wanting
    }
    c->flags[i] &= (uint16_t) ~(NAV__WANTS_SEARCH | NAV__GOAL_MOVED | NAV__STRAYED | NAV__IS_PARTIAL | NAV__OLD_ROUTE |
                                NAV__IS_CUT);
    c->repath_age[i] = 0;
    if (path.point_count == 0) {
        c->route[i].at = c->route[i].count = 0;
        c->flags[i] |= NAV__IS_PARTIAL;
    } else if (path.status == NAV_PATH_LIMIT) {
        c->flags[i] |= path.length > 0 ? NAV__IS_CUT | NAV__OLD_ROUTE : NAV__IS_PARTIAL;
    } else if (path.status != NAV_PATH_COMPLETE) {
        c->flags[i] |= NAV__IS_PARTIAL;
    }
    return NAV_OK;
}

/// Who does not see the next point of its route any more finds a way back to it.
static void mend(nav_crowd *c, uint32_t i, nav_query *query)
{
    nav__route *r = &c->route[i];
    const nav__via *next = &r->via[r->at];
    nav_path path;
    nav_status status = find_path(c, i, query, absolute(c->mesh, next->x, (double)next->y, next->z), MEND_NODES, &path);
    if (status != NAV_OK || path.status != NAV_PATH_COMPLETE || path.link_count > 0) {
        c->flags[i] |= NAV__WANTS_SEARCH;
        return;
    }
    uint32_t more = path.point_count > 2 ? path.point_count - 2 : 0, left = r->count - r->at;
    uint32_t front = more > r->at ? more : r->at; // the points passed make room for the new ones
    if (!reserve(c, r, front + left)) {
        c->flags[i] |= NAV__WANTS_SEARCH;
        return;
    }
    for (uint32_t k = left; front != r->at && k-- > 0;) {
        r->via[front + k] = r->via[r->at + k];
    }
    r->at = front - more;
    r->count = front + left;
    for (uint32_t k = 0; k < more; k++) {
        r->via[r->at + k] = via_of(c->mesh, path.points[k + 1]);
    }
    nav__route_measure(r);
}

// ---- goals that move -------------------------------------------------------------------------------

/// A straight way is no shorter where ground costs differ.
static bool has_costs(const nav_crowd *c, uint32_t i)
{
    return c->mesh->has_areas && nav__crowd_filter_of(c, i)->area_costs;
}

static bool sees_goal_from(nav_crowd *c, uint32_t i, nav__via *v)
{
    const nav__goal *goal = &c->goal[i];
    const nav_filter *filter = nav__crowd_filter_of(c, i);
    if (v->cell == NAV_NONE) {
        nav_snap snap = {.half_extents = {0.01, 0.1, 0.01}, .filter = *filter};
        nav_place place;
        nav__anchor anchor;
        if (!nav__nearest(c->mesh, absolute(c->mesh, v->x, (double)v->y, v->z), &snap, &place)) {
            return false;
        }
        nav__anchor_make(c->mesh, &place, filter, &anchor);
        if (anchor.count == 0) {
            return false;
        }
        v->x = anchor.p.x;
        v->z = anchor.p.z;
        v->cell = anchor.cells[0];
    }
    return nav__crowd_sees(c->mesh, filter, v->cell, ground_of(v), (nav__p2){goal->x, goal->z}, goal->y, NULL);
}

/// Does the agent see the goal? Then that is the route.
static bool go_straight(nav_crowd *c, uint32_t i)
{
    const nav__goal *goal = &c->goal[i];
    return nav__crowd_sees(c->mesh, nav__crowd_filter_of(c, i), c->cell[i], at(c, i), (nav__p2){goal->x, goal->z},
                           goal->y, NULL) &&
           lead_straight(c, i);
}

/// Leads the end of the route to where the goal is now: from the point before the end, or on from the end.
/// @return false when no straight walk leads there
static bool bend(nav_crowd *c, uint32_t i)
{
    nav__route *r = &c->route[i];
    if (nav__route_is_empty(r) || c->flags[i] & NAV__IS_PARTIAL || r->bends >= MOST_BENDS) {
        return false;
    }
    nav__via *last = &r->via[r->count - 1];
    nav__via *before = r->count - r->at >= 2 && last->ride == NAV_NONE ? last - 1 : NULL;
    if (before && sees_goal_from(c, i, before)) {
        *last = goal_via(&c->goal[i]);
    } else if (sees_goal_from(c, i, last) && reserve(c, r, r->count + 1)) {
        r->via[r->count++] = goal_via(&c->goal[i]);
    } else {
        return false;
    }
    r->bends++;
    nav__route_measure(r);
    return true;
}

/// The goal is not where the route leads to.
static void follow_goal(nav_crowd *c, uint32_t i)
{
    const nav__route *r = &c->route[i];
    c->flags[i] &= (uint16_t)~NAV__GOAL_MOVED;
    // Who is near looks first; from afar it hardly ever sees the goal where its route had bends.
    if (!has_costs(c, i) && r->count - r->at <= 2 && go_straight(c, i)) {
        c->flags[i] &= (uint16_t) ~(NAV__WANTS_SEARCH | NAV__OLD_ROUTE | NAV__IS_CUT | NAV__IS_PARTIAL | NAV__STRAYED);
        return;
    }
    double left = nav__crowd_remaining(c, i), moved = INFINITY;
    if (!nav__route_is_empty(r)) {
        const nav__via *last = &r->via[r->count - 1];
        moved = nav__dist(ground_of(last), (nav__p2){c->goal[i].x, c->goal[i].z});
    }
    bool leads_there = bend(c, i);
    c->flags[i] &= (uint16_t)~NAV__OLD_ROUTE;
    c->flags[i] |= leads_there ? 0 : NAV__OLD_ROUTE;
    bool searches = c->chase[i].agent ? c->repath_age[i] >= (float)c->chase[i].repath
                                      : !leads_there || moved > SMALL_MOVE * left || has_costs(c, i);
    c->flags[i] |= searches ? NAV__WANTS_SEARCH : 0;
}

void nav__crowd_follow(nav_crowd *c, uint32_t i, uint32_t prey)
{
    c->goal[i] = (nav__goal){nav__crowd_position(c, prey), c->x[prey], c->z[prey], c->y[prey], c->cell[prey]};
}

/// Looks where the prey is, and whether it can be attacked.
static void chase(nav_crowd *c, uint32_t i)
{
    uint32_t prey = nav__crowd_slot(c, c->chase[i].agent);
    c->flags[i] &= (uint16_t)~NAV__ATTACKS;
    if (prey == NAV_NONE) {
        c->chase[i] = nav_crowd_chase_default();
        c->flags[i] &= NAV__QUEUED;
        c->route[i].at = c->route[i].count = 0;
        return;
    }
    c->repath_age[i] += (float)c->dt;
    if (c->standing[prey] != NAV__STANDS) {
        return; // to where it was last
    }
    if (c->goal[i].x != c->x[prey] || c->goal[i].z != c->z[prey] || c->goal[i].cell != c->cell[prey] ||
        c->flags[i] & NAV__OLD_ROUTE) {
        nav__crowd_follow(c, i, prey);
        c->flags[i] |= NAV__GOAL_MOVED;
    }
    double dx = c->x[prey] - c->x[i], dy = c->y[prey] - c->y[i], dz = c->z[prey] - c->z[i];
    double range = c->chase[i].attack_range;
    if (range > 0 && dx * dx + dy * dy + dz * dz <= range * range &&
        nav__crowd_sees(c->mesh, nav__crowd_filter_of(c, i), c->cell[i], at(c, i), (nav__p2){c->x[prey], c->z[prey]},
                        c->y[prey], NULL)) {
        c->flags[i] |= NAV__ATTACKS;
    }
}

// ---- on the way ------------------------------------------------------------------------------------

static bool sees_via(const nav_crowd *c, uint32_t i, nav__via *v)
{
    return nav__crowd_sees(c->mesh, nav__crowd_filter_of(c, i), c->cell[i], at(c, i), ground_of(v), (double)v->y,
                           &v->cell);
}

/// Who was led aside: is the next point still in sight, or already the one after it?
static void look_ahead(nav_crowd *c, uint32_t i, nav_query *query)
{
    nav__route *r = &c->route[i];
    if (r->via[r->at].ride != NAV_NONE) {
        return; // it is where a ride begins
    }
    uint64_t turn = c->steps + i;
    double near = nav__dist(at(c, i), ground_of(&r->via[r->at]));
    bool is_near = near < 2 * (double)c->radius[i] + (double)c->max_speed[i] * c->dt;
    bool is_walk = r->at + 1 < r->count && r->via[r->at + 1].ride == NAV_NONE;
    if (is_walk && (is_near || (turn % SHORTCUT_EVERY == 0 && !has_costs(c, i))) &&
        sees_via(c, i, &r->via[r->at + 1])) {
        nav__route_pass(r);
        return;
    }
    if (!(turn % LOOK_EVERY == 0 || is_near || c->flags[i] & NAV__IS_BLOCKED)) {
        return;
    }
    if (sees_via(c, i, &r->via[r->at])) {
        c->flags[i] &= (uint16_t)~NAV__STRAYED;
    } else {
        mend(c, i, query);
    }
}

/// The speed at which it is still able to stop after `left` more: after each step, v dt + v^2 / 2a <= left.
static double braking_speed(double left, double a, double dt)
{
    if (left <= a * dt * dt || isinf(a)) {
        return left / dt;
    }
    return a * (sqrt(dt * dt + 2 * left / a) - dt);
}

/// The place so far along the route, at most to where a ride begins.
static nav__p2 place_ahead(const nav_crowd *c, uint32_t i, double way)
{
    const nav__route *r = &c->route[i];
    nav__p2 p = at(c, i);
    for (uint32_t k = r->at; k < r->count && (k == r->at || r->via[k].ride == NAV_NONE); k++) {
        nav__p2 v = ground_of(&r->via[k]);
        double d = nav__dist(p, v);
        if (d > way) {
            return (nav__p2){p.x + (v.x - p.x) * (way / d), p.z + (v.z - p.z) * (way / d)};
        }
        way -= d;
        p = v;
    }
    return p;
}

/// Where to pass a corner of the route that the agent may not touch: off it, on the outer side of the turn.
static nav__p2 beside_corner(const nav_crowd *c, uint32_t i)
{
    const nav__route *r = &c->route[i];
    nav__p2 p = at(c, i), v = ground_of(&r->via[r->at]), next = ground_of(&r->via[r->at + 1]);
    double in = nav__dist(p, v), out = nav__dist(v, next), off = (double)nav__crowd_clearance(c, i);
    if (!(in > 0) || !(out > 0)) {
        return v;
    }
    nav__p2 turn = {(next.x - v.x) / out - (v.x - p.x) / in, (next.z - v.z) / out - (v.z - p.z) / in};
    double length = sqrt(nav__dot(turn, turn));
    return length > 0 ? (nav__p2){v.x - off * turn.x / length, v.z - off * turn.z / length} : v;
}

static void want(nav_crowd *c, uint32_t i)
{
    nav__p2 p = at(c, i);
    const nav__route *r = &c->route[i];
    bool leads_there = !(c->flags[i] & (NAV__OLD_ROUTE | NAV__IS_PARTIAL));
    bool goes_home = c->flags[i] & NAV__HAS_ARRIVED;
    double left = goes_home ? nav__dist(p, ground_of(&r->via[r->at]))
                            : nav__crowd_remaining(c, i) - (leads_there ? (double)c->stopping[i] : 0);
    if (left <= NAV__AT_GOAL) {
        c->flags[i] |= c->flags[i] & NAV__IS_CUT ? NAV__WANTS_SEARCH : 0;
        return;
    }
    nav__p2 next = ground_of(&r->via[r->at]);
    double d = nav__dist(p, next), a = (double)c->max_acceleration[i], top = (double)c->max_speed[i];
    // On a point of the route (where a ride begins, or one was passed) it comes from nowhere.
    double along = d > 0 ? ((double)c->vx[i] * (next.x - p.x) + (double)c->vz[i] * (next.z - p.z)) / d : top;
    double speed = fmin(top, (along > 0 ? along : 0) + a * c->dt);
    speed = fmin(speed, braking_speed(left, a, c->dt));
    // To the end, where it gets so far, whatever rounding says.
    c->stride[i] = (float)(speed * c->dt >= left ? left * (1 + 1e-6) + NAV__AT_GOAL : speed * c->dt);
    nav__p2 ahead = place_ahead(c, i, speed * c->dt);
    if (nav__crowd_rounds(c, i)) {
        nav__p2 by = beside_corner(c, i);
        double far = fmax(nav__dist(p, by), speed * c->dt), part = far > 0 ? speed * c->dt / far : 0;
        ahead = (nav__p2){p.x + part * (by.x - p.x), p.z + part * (by.z - p.z)};
    }
    c->wanted_x[i] = (float)((ahead.x - p.x) / c->dt);
    c->wanted_z[i] = (float)((ahead.z - p.z) / c->dt);
}

nav_status nav__crowd_plan(nav_crowd *c, uint32_t i, nav_query *query)
{
    bool may_search = c->flags[i] & NAV__MAY_SEARCH;
    c->flags[i] &= (uint16_t) ~(NAV__MAY_SEARCH | NAV__ON_ROUTE | NAV__IS_CROWDED);
    c->wanted_x[i] = c->wanted_z[i] = c->stride[i] = 0;
    if (c->standing[i] != NAV__STANDS) {
        return NAV_OK;
    }
    if (c->chase[i].agent) {
        chase(c, i);
    }
    if (!(c->flags[i] & NAV__HAS_TARGET) || c->flags[i] & NAV__ATTACKS || c->goal[i].cell == NAV_NONE) {
        return NAV_OK;
    }
    nav_status status = NAV_OK;
    if (may_search) {
        status = search(c, i, query);
    } else if (c->flags[i] & NAV__GOAL_MOVED) {
        follow_goal(c, i);
    }
    if (nav__route_is_empty(&c->route[i])) {
        return status;
    }
    if (c->flags[i] & NAV__STRAYED) {
        look_ahead(c, i, query);
    }
    want(c, i);
    return status;
}
