/// The steps of a crowd: who may search, the phases, and what an agent is told to do in the end.
#include "crowd.h"

#include <math.h>
#include <string.h>

enum { PLAN, STEER, MOVE, SETTLE };

/// A span of progress, and of wanted speed what has to be made good of it.
static const float SPAN = 0.5f, LEAST_PROGRESS = 0.05f;
/// Slower is standing, for the yaw.
static const float LEAST_SPEED = 1e-3f;
/// Who makes less of its most speed good is kept from going on.
static const float KEPT_BACK = 0.3f, MOST_IMPATIENCE = 4;

// ---- searches --------------------------------------------------------------------------------------

/// Lets who waits search, first come first served.
static void grant_searches(nav_crowd *c)
{
    for (uint32_t i = 0; i < c->slot_count; i++) {
        if ((c->flags[i] & (NAV__WANTS_SEARCH | NAV__QUEUED)) == NAV__WANTS_SEARCH && c->standing[i] == NAV__STANDS) {
            c->queue[(c->queue_first + c->queue_count++) % c->slot_cap] = i;
            c->flags[i] |= NAV__QUEUED;
        }
    }
    for (uint32_t granted = 0; c->queue_count > 0 && granted < c->options.max_searches;) {
        uint32_t i = c->queue[c->queue_first];
        c->queue_first = (c->queue_first + 1) % c->slot_cap;
        c->queue_count--;
        c->flags[i] &= (uint16_t)~NAV__QUEUED;
        if (c->flags[i] & NAV__WANTS_SEARCH && c->standing[i] == NAV__STANDS) {
            c->flags[i] |= NAV__MAY_SEARCH;
            granted++;
        }
    }
}

// ---- what became of it -----------------------------------------------------------------------------

/// Adds the step to its progress, where it wanted to move.
static void note_progress(nav_crowd *c, uint32_t i)
{
    nav__progress *p = &c->progress[i];
    float wx = c->wanted_x[i], wz = c->wanted_z[i], wanted = sqrtf(wx * wx + wz * wz), dt = (float)c->dt;
    if (!(wanted > 0)) {
        if (p->count > 0 || p->age > 0) {
            *p = (nav__progress){.count = 0};
        }
        c->flags[i] &= (uint16_t)~NAV__IS_STUCK;
        return;
    }
    float along = (c->vx[i] * wx + c->vz[i] * wz) / wanted, more = along < KEPT_BACK * c->max_speed[i] ? dt : -dt;
    c->impatience[i] = fminf(fmaxf(c->impatience[i] + more, 0), MOST_IMPATIENCE);
    p->made[0] += (c->vx[i] * wx + c->vz[i] * wz) / wanted * dt;
    p->age += dt;
    if (p->age < SPAN) {
        return;
    }
    float sum = 0, least = LEAST_PROGRESS * c->max_speed[i] * SPAN * NAV__SPANS;
    p->count += p->count < NAV__SPANS;
    for (uint32_t k = 0; k < p->count; k++) {
        sum += p->made[k];
    }
    if (sum >= least) {
        c->flags[i] &= (uint16_t)~NAV__IS_STUCK;
    } else if (p->count == NAV__SPANS) {
        c->flags[i] |= NAV__IS_STUCK;
    }
    memmove(&p->made[1], &p->made[0], (NAV__SPANS - 1) * sizeof p->made[0]);
    p->made[0] = 0;
    p->age = 0;
}

static nav_crowd_mode mode_of(const nav_crowd *c, uint32_t i)
{
    uint16_t f = c->flags[i];
    if (c->standing[i] == NAV__IS_OFF) {
        return NAV_CROWD_OFF_MESH;
    }
    if (!(f & NAV__HAS_TARGET)) {
        return NAV_CROWD_IDLE;
    }
    if (f & NAV__ATTACKS) {
        return NAV_CROWD_ATTACKING;
    }
    if (f & NAV__HAS_ARRIVED) {
        return NAV_CROWD_ARRIVED;
    }
    if (c->goal[i].cell == NAV_NONE || f & NAV__IS_PARTIAL) {
        return NAV_CROWD_UNREACHABLE;
    }
    if (f & NAV__IS_STUCK) {
        return NAV_CROWD_STUCK;
    }
    return c->chase[i].agent ? NAV_CROWD_CHASING : NAV_CROWD_MOVING;
}

/// Where it stands becomes its place, to which it goes back when it had to make way.
static void arrive(nav_crowd *c, uint32_t i)
{
    nav__route *r = &c->route[i];
    r->via[0] = (nav__via){c->x[i], c->z[i], (float)c->y[i], c->cell[i], NAV_NONE};
    r->at = 0;
    r->count = 1;
    r->rest = 0;
    c->flags[i] |= NAV__HAS_ARRIVED;
    c->flags[i] &= (uint16_t) ~(NAV__IS_STUCK | NAV__WANTS_SEARCH);
    c->progress[i] = (nav__progress){.count = 0};
    c->impatience[i] = 0;
}

static void settle(nav_crowd *c, uint32_t i)
{
    if (c->standing[i] == NAV__STANDS) {
        note_progress(c, i);
        const nav__route *r = &c->route[i];
        bool leads_there = !(c->flags[i] & (NAV__OLD_ROUTE | NAV__IS_PARTIAL | NAV__GOAL_MOVED | NAV__HAS_ARRIVED)) &&
                           c->flags[i] & NAV__HAS_TARGET && !c->chase[i].agent && !nav__route_is_empty(r);
        bool is_there =
            c->flags[i] & NAV__IS_CROWDED || nav__crowd_remaining(c, i) <= (double)c->stopping[i] + NAV__AT_GOAL;
        // One that cannot get back to its place takes the one where it is.
        bool is_kept_off = (c->flags[i] & NAV__HAS_ARRIVED) && (c->flags[i] & NAV__IS_CROWDED);
        if ((leads_there && is_there) || is_kept_off) {
            arrive(c, i);
        }
    }
    float yaw = c->yaw[i];
    if (c->flags[i] & NAV__ATTACKS) {
        yaw = atan2f((float)(c->goal[i].x - c->x[i]), (float)(c->goal[i].z - c->z[i]));
    } else if (c->vx[i] * c->vx[i] + c->vz[i] * c->vz[i] > LEAST_SPEED * LEAST_SPEED) {
        yaw = atan2f(c->vx[i], c->vz[i]);
    }
    nav_crowd_mode mode = mode_of(c, i);
    bool moved = c->vx[i] != 0 || c->vz[i] != 0 || c->vy[i] != 0 || c->standing[i] == NAV__RIDES;
    if (moved || c->was_moving[i] || mode != c->mode[i] || yaw != c->yaw[i] || c->chase[i].agent) {
        nav__crowd_touch(c, i);
    }
    c->was_moving[i] = moved;
    c->mode[i] = (uint8_t)mode;
    c->yaw[i] = yaw;
}

// ---- the step --------------------------------------------------------------------------------------

nav_status nav_crowd_step_begin(nav_crowd *crowd, double dt, uint32_t *count)
{
    *count = 0;
    if (!(dt > 0) || !isfinite(dt)) {
        return NAV_BAD_ARGUMENT;
    }
    crowd->dt = dt;
    if (!nav__crowd_sort(crowd)) {
        return NAV_NO_MEMORY;
    }
    grant_searches(crowd);
    *count = crowd->slot_count;
    return NAV_OK;
}

static nav_status run(nav_crowd *crowd, uint32_t phase, uint32_t i, nav_query *query)
{
    switch (phase) {
    case PLAN:
        return nav__crowd_plan(crowd, i, query);
    case STEER:
        nav__crowd_steer(crowd, i);
        break;
    case MOVE:
        nav__crowd_move(crowd, i);
        break;
    case SETTLE:
        settle(crowd, i);
        break;
    default:
        break;
    }
    return NAV_OK;
}

nav_status nav_crowd_step_part(nav_crowd *crowd, uint32_t phase, uint32_t first, uint32_t count, nav_query *query)
{
    nav_interrupt interrupt = query->interrupt;
    query->interrupt = (nav_interrupt){.stop = NULL};
    nav_status status = NAV_OK;
    uint32_t end = first + count;
    if (phase == STEER) {
        end = end < crowd->body_count ? end
                                      : crowd->body_count; // in the order of the grid: neighbours are near in memory
    }
    for (uint32_t i = first; i < end; i++) {
        if (phase == STEER || crowd->standing[i] != NAV__IS_EMPTY) {
            nav_status s = run(crowd, phase, i, query);
            status = s == NAV_OK ? status : s;
        }
    }
    query->interrupt = interrupt;
    return status;
}

void nav_crowd_step_end(nav_crowd *crowd)
{
    crowd->steps++;
    crowd->time += crowd->dt;
}

nav_status nav_crowd_step(nav_crowd *crowd, double dt, nav_query *query)
{
    uint32_t count;
    nav_status status = nav_crowd_step_begin(crowd, dt, &count);
    if (status != NAV_OK) {
        return status;
    }
    for (uint32_t phase = 0; phase < NAV_CROWD_PHASES; phase++) {
        nav_status s = nav_crowd_step_part(crowd, phase, 0, count, query);
        status = s == NAV_OK ? status : s;
    }
    nav_crowd_step_end(crowd);
    return status;
}
