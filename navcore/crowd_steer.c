/// Which velocity an agent takes: the one its route asks for where nobody is in the way, else what orca.c finds.
#include "crowd.h"
#include "orca.h"

#include <math.h>

/// Seconds in which bodies, and walls, are not to be met.
static const float HORIZON = 1.5f, WALL_HORIZON = 0.3f;
/// Where others are in the way the wanted velocity is turned: always to the same side, so that two that meet head on
/// both give way and a jam turns round; and to and fro for who has been kept from going on for a while (see
/// nav_crowd.impatience). In tangents of the angle.
static const float BIAS = 0.3f, WANDER = 1.5f;
/// Impatience at which it begins to wander, and the part of the time in which it makes way instead.
static const float WANDERS_AFTER = 1, WAY_PART = 0.3f;
/// Seconds to and fro, and how much each agent is ahead of the one before.
static const double WANDER_PERIOD = 4, OUT_OF_STEP = 0.618;
/// Nearer than so many of both radii they stand against each other.
static const float TOUCH = 1.1f;

/// An agent among what is near it.
typedef struct steering {
    nav_crowd *c;
    const nav__body *body;
    uint32_t slot;
    nav__neighbour near[NAV__NEIGHBOURS];
    uint32_t near_count;
    nav__half_plane planes[NAV__HALF_PLANES];
    uint32_t plane_count;
    bool yields; ///< stands, and makes way
} steering;

static void keep(nav_crowd *c, uint32_t i)
{
    c->flags[i] |= nav__crowd_rounds(c, i) ? 0 : NAV__ON_ROUTE;
    c->chosen_x[i] = c->wanted_x[i];
    c->chosen_z[i] = c->wanted_z[i];
}

static void add_walls(steering *s, nav__v2 wanted, float fastest)
{
    nav_crowd *c = s->c;
    float horizon = fmaxf(WALL_HORIZON, (float)c->dt), clearance = nav__crowd_clearance(c, s->slot);
    nav__crowd_find_walls(c, s->slot, clearance + fastest * horizon);
    const nav__walls *walls = &c->walls[s->slot];
    for (uint32_t k = 0; k < walls->count; k++) {
        const float *w = walls->ends[k];
        nav__v2 a = {(float)((double)w[0] - c->x[s->slot]), (float)((double)w[1] - c->z[s->slot])};
        nav__v2 b = {(float)((double)w[2] - c->x[s->slot]), (float)((double)w[3] - c->z[s->slot])};
        bool is_inside = (b.x - a.x) * -a.z - (b.z - a.z) * -a.x >= 0;
        s->plane_count += is_inside && nav__orca_wall(a, b, clearance, wanted, horizon, &s->planes[s->plane_count]);
    }
}

static nav__disc disc_of(const steering *s, const nav__body *o)
{
    bool presses = s->yields && (o->press_x != 0 || o->press_z != 0);
    return (nav__disc){.offset = {o->x - s->body->x, o->z - s->body->z},
                       .velocity = {presses ? o->press_x : o->vx, presses ? o->press_z : o->vz},
                       .radius = o->radius + s->body->radius,
                       .share = o->share,
                       .is_first = s->slot < o->slot};
}

static void add_gaps(steering *s, float fastest)
{
    float dt = (float)s->c->dt, *room = &s->c->room[s->slot];
    *room = INFINITY;
    for (uint32_t k = 0; k < s->near_count; k++) {
        nav__disc disc = disc_of(s, s->near[k].body);
        *room = fminf(*room, disc.share * (sqrtf(s->near[k].distance2) - disc.radius));
        float reach = disc.radius + 2 * fastest * dt;
        if (s->near[k].distance2 < reach * reach) {
            s->planes[s->plane_count++] = nav__orca_gap(&disc, disc.share, fastest, dt);
        }
    }
}

static void add_neighbours(steering *s, nav__v2 velocity)
{
    float dt = (float)s->c->dt, horizon = fmaxf(HORIZON, dt);
    for (uint32_t k = 0; k < s->near_count; k++) {
        nav__disc disc = disc_of(s, s->near[k].body);
        if (s->near[k].distance2 > disc.radius * disc.radius) {
            s->planes[s->plane_count++] = nav__orca_disc(&disc, velocity, horizon);
        }
    }
}

static bool is_closed(const steering *s, nav__v2 v)
{
    for (uint32_t k = 0; k < s->plane_count; k++) {
        const nav__half_plane *p = &s->planes[k];
        if (p->x * v.x + p->z * v.z < p->least) {
            return true;
        }
    }
    return false;
}

static double goal_distance(const nav_crowd *c, const nav__goal *goal, uint32_t i)
{
    return nav__dist((nav__p2){goal->x, goal->z}, (nav__p2){c->x[i], c->z[i]});
}

/// Kept from going on for a while by others with the same goal: by one that has arrived there and is nearer to it, or,
/// where it stands on the goal but not quite, by any.
static bool is_crowded(const steering *s)
{
    const nav_crowd *c = s->c;
    uint32_t i = s->slot;
    const nav__goal *goal = &c->goal[i];
    if (!(c->flags[i] & NAV__HAS_TARGET) || c->impatience[i] < NAV__CROWDED_AFTER) {
        return false;
    }
    double own = goal_distance(c, goal, i);
    for (uint32_t k = 0; k < s->near_count; k++) {
        const nav__body *o = s->near[k].body;
        const nav__goal *other = &c->goal[o->slot];
        float radii = o->radius + s->body->radius, touch = TOUCH * radii;
        bool shares =
            o->has_target && nav__dist((nav__p2){goal->x, goal->z}, (nav__p2){other->x, other->z}) < (double)radii;
        bool in_place = o->has_arrived ? goal_distance(c, goal, o->slot) < own : own < (double)s->body->radius;
        in_place = in_place || s->body->has_arrived; // it need not go back
        if (shares && in_place && s->near[k].distance2 <= touch * touch) {
            return true;
        }
    }
    return false;
}

/// Where in its to and fro an agent is, 0 .. 1.
static float phase_of(const nav_crowd *c, uint32_t i)
{
    return (float)fmod(c->time / WANDER_PERIOD + OUT_OF_STEP * (double)i, 1);
}

bool nav__crowd_makes_way(const nav_crowd *c, uint32_t i)
{
    return c->impatience[i] > WANDERS_AFTER && phase_of(c, i) < WAY_PART;
}

/// The wanted velocity of who has others in its way.
static nav__v2 turned(const nav_crowd *c, uint32_t i, nav__v2 wanted)
{
    if (nav__crowd_makes_way(c, i)) {
        return (nav__v2){0, 0};
    }
    float impatience = c->impatience[i], wave = 4 * fabsf(phase_of(c, i) - 0.5f) - 1;
    float wanders = fminf(fmaxf(impatience - WANDERS_AFTER, 0), 1);
    float bias = BIAS + WANDER * wave * wanders;
    float part = 1 / sqrtf(1 + bias * bias);
    return (nav__v2){(wanted.x - bias * wanted.z) * part, (wanted.z + bias * wanted.x) * part};
}

void nav__crowd_steer(nav_crowd *c, uint32_t at)
{
    steering s = {.c = c, .body = &c->bodies[at], .slot = c->bodies[at].slot, .plane_count = 0};
    uint32_t i = s.slot;
    nav__v2 wanted = {c->wanted_x[i], c->wanted_z[i]}, velocity = {s.body->vx, s.body->vz};
    s.yields = s.body->press_x == 0 && s.body->press_z == 0;
    const nav__route *route = &c->route[i];
    bool takes_link = !nav__route_is_empty(route) && route->via[route->at].ride != NAV_NONE;
    if (s.body->share == 1 || takes_link) {
        keep(c, i);
        return;
    }
    float top = c->max_speed[i];
    s.near_count =
        nav__crowd_neighbours(c, s.body, s.body->radius + c->max_radius + HORIZON * top, NAV__NEIGHBOURS, s.near);
    c->flags[i] |= is_crowded(&s) ? NAV__IS_CROWDED : 0;
    if (s.near_count == 0 && nav__crowd_clearance(c, i) == 0) {
        keep(c, i);
        return;
    }
    float fastest =
        fminf(top, sqrtf(velocity.x * velocity.x + velocity.z * velocity.z) + c->max_acceleration[i] * (float)c->dt);
    fastest = fmaxf(fastest, sqrtf(wanted.x * wanted.x + wanted.z * wanted.z));
    // The half-planes of neighbours first: mostly none is entered, and the walls, which the route does not enter,
    // need not be asked about.
    add_gaps(&s, fastest);
    add_neighbours(&s, velocity);
    if (!is_closed(&s, wanted) && nav__crowd_clearance(c, i) == 0) {
        keep(c, i);
        return;
    }
    s.plane_count = 0;
    add_walls(&s, wanted, fastest);
    uint32_t walls = s.plane_count;
    add_gaps(&s, fastest);
    uint32_t hard = s.plane_count;
    add_neighbours(&s, velocity);
    if (!is_closed(&s, wanted)) {
        keep(c, i);
        return;
    }
    nav__v2 v = nav__orca_choose(s.planes, s.plane_count, walls, hard, turned(c, i, wanted), fastest);
    c->chosen_x[i] = v.x;
    c->chosen_z[i] = v.z;
}
