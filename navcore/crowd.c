/// The agents of a crowd: added, changed, taken to another mesh, asked about. Steps are in crowd_step.c.
#include "crowd.h"

#include "alloc.h"

#include <math.h>
#include <string.h>

static const double DEFAULT_RADIUS = 0.5;
enum { DEFAULT_AGENTS = 10000, DEFAULT_SEARCHES = 256, FIRST_SLOTS = 64 };

// ---- defaults and names ----------------------------------------------------------------------------

nav_crowd_options nav_crowd_options_default(void)
{
    return (nav_crowd_options){.max_agents = DEFAULT_AGENTS, .max_searches = DEFAULT_SEARCHES};
}

nav_crowd_agent nav_crowd_agent_default(const nav_mesh *mesh)
{
    return (nav_crowd_agent){.radius = mesh->agent.radius > 0 ? mesh->agent.radius : DEFAULT_RADIUS,
                             .height = mesh->agent.height,
                             .max_speed = 3.5,
                             .max_acceleration = 8,
                             .avoidance = NAV_AVOIDANCE_ORCA,
                             .filter = nav_filter_default(),
                             .snap = nav_snap_default().half_extents};
}

nav_crowd_chase nav_crowd_chase_default(void)
{
    return (nav_crowd_chase){.repath = 0.5};
}

const char *nav_crowd_mode_text(nav_crowd_mode mode)
{
    static const char *const texts[NAV_CROWD_MODE_COUNT] = {"idle",      "moving", "arrived",     "chasing",
                                                            "attacking", "stuck",  "unreachable", "off_mesh"};
    return (unsigned)mode < NAV_CROWD_MODE_COUNT ? texts[mode] : "unknown";
}

// ---- memory ----------------------------------------------------------------------------------------

nav_status nav_crowd_create(const nav_crowd_options *options, const nav_mesh *mesh, const nav_alloc *alloc,
                            nav_crowd **out)
{
    if (options->max_agents == 0 || options->max_agents == NAV_NONE) {
        return NAV_BAD_ARGUMENT;
    }
    nav_alloc from = nav__alloc_or_libc(alloc);
    nav_crowd *crowd = from.resize(from.ctx, NULL, sizeof *crowd);
    if (!crowd) {
        return NAV_NO_MEMORY;
    }
    memset(crowd, 0, sizeof *crowd);
    crowd->alloc = from;
    crowd->mesh = mesh;
    crowd->options = *options;
    crowd->options.max_searches = options->max_searches ? options->max_searches : DEFAULT_SEARCHES;
    crowd->oldest = crowd->youngest = crowd->empty = NAV_NONE;
    *out = crowd;
    return NAV_OK;
}

static void release(nav_crowd *crowd, void *p)
{
    if (p) {
        crowd->alloc.resize(crowd->alloc.ctx, p, 0);
    }
}

void nav_crowd_destroy(nav_crowd *crowd)
{
    if (!crowd) {
        return;
    }
    for (uint32_t i = 0; i < crowd->slot_count; i++) {
        release(crowd, crowd->route[i].via);
    }
    for (uint32_t i = 0; i < crowd->filter_count; i++) {
        release(crowd, crowd->filters[i].costs);
    }
#define NAV__RELEASE(type, name, what) release(crowd, crowd->name);
    NAV__CROWD_ARRAYS(NAV__RELEASE)
#undef NAV__RELEASE
    release(crowd, crowd->filters);
    release(crowd, crowd->grid_first);
    nav_alloc from = crowd->alloc;
    from.resize(from.ctx, crowd, 0);
}

static bool grow_array(nav_crowd *crowd, void **array, size_t size, uint32_t cap)
{
    void *grown = cap > SIZE_MAX / size ? NULL : crowd->alloc.resize(crowd->alloc.ctx, *array, cap * size);
    if (grown) {
        *array = grown;
    }
    return grown != NULL;
}

/// Room for one more slot. What waits in the ring of searches is set in order again.
static bool reserve_slot(nav_crowd *crowd)
{
    if (crowd->slot_count < crowd->slot_cap) {
        return true;
    }
    uint32_t most = crowd->options.max_agents, cap = crowd->slot_cap ? crowd->slot_cap : FIRST_SLOTS;
    cap = crowd->slot_cap == 0 ? cap : cap > most / 2 ? most : 2 * cap;
    cap = cap > most ? most : cap;
#define NAV__GROW(type, name, what)                                \
    {                                                              \
        void *array = crowd->name;                                 \
        bool grown = grow_array(crowd, &array, sizeof(type), cap); \
        crowd->name = array;                                       \
        if (!grown) {                                              \
            return false;                                          \
        }                                                          \
    }
    NAV__CROWD_ARRAYS(NAV__GROW)
#undef NAV__GROW
    // The ring wraps at slot_cap: what had wrapped goes to behind the rest.
    uint32_t wrapped = crowd->queue_first + crowd->queue_count;
    for (uint32_t i = crowd->slot_cap; i < wrapped; i++) {
        crowd->queue[i % cap] = crowd->queue[i - crowd->slot_cap];
    }
    crowd->slot_cap = cap;
    return true;
}

size_t nav_crowd_memory_bytes(const nav_crowd *crowd)
{
    size_t bytes =
        sizeof *crowd + crowd->filter_count * sizeof *crowd->filters + crowd->grid_cap * sizeof *crowd->grid_first;
#define NAV__ADD(type, name, what) bytes += sizeof(type) * (size_t)crowd->slot_cap;
    NAV__CROWD_ARRAYS(NAV__ADD)
#undef NAV__ADD
    for (uint32_t i = 0; i < crowd->slot_count; i++) {
        bytes += crowd->route[i].cap * sizeof *crowd->route[i].via;
    }
    for (uint32_t i = 0; i < crowd->filter_count; i++) {
        bytes += crowd->filters[i].costs ? 256 * sizeof(double) : 0;
    }
    return bytes;
}

// ---- filters ---------------------------------------------------------------------------------------

static bool is_same_filter(const nav_filter *a, const nav_filter *b)
{
    if (a->include != b->include || a->exclude != b->exclude || !a->area_costs != !b->area_costs) {
        return false;
    }
    return !a->area_costs || memcmp(a->area_costs, b->area_costs, 256 * sizeof(double)) == 0;
}

/// One more agent uses the filter.
/// @return its index, NAV_NONE when out of memory
static uint32_t share_filter(nav_crowd *crowd, const nav_filter *filter)
{
    uint32_t at = crowd->filter_count;
    for (uint32_t i = 0; i < crowd->filter_count; i++) {
        if (crowd->filters[i].users == 0) {
            at = i;
        } else if (is_same_filter(&crowd->filters[i].filter, filter)) {
            crowd->filters[i].users++;
            return i;
        }
    }
    if (at == crowd->filter_count) {
        void *array = crowd->filters;
        if (!grow_array(crowd, &array, sizeof *crowd->filters, at + 1)) {
            return NAV_NONE;
        }
        crowd->filters = array;
        crowd->filters[at] = (nav__crowd_filter){.costs = NULL};
        crowd->filter_count++;
    }
    nav__crowd_filter *f = &crowd->filters[at];
    if (filter->area_costs && !f->costs) {
        f->costs = crowd->alloc.resize(crowd->alloc.ctx, NULL, 256 * sizeof *f->costs);
        if (!f->costs) {
            return NAV_NONE;
        }
    }
    if (filter->area_costs) {
        memcpy(f->costs, filter->area_costs, 256 * sizeof *f->costs);
    }
    f->filter = *filter;
    f->filter.area_costs = filter->area_costs ? f->costs : NULL;
    f->users = 1;
    return at;
}

// ---- places ----------------------------------------------------------------------------------------

static bool is_finite(nav_vec p)
{
    return isfinite(p.x) && isfinite(p.y) && isfinite(p.z);
}

static nav_snap snap_of(const nav_crowd *crowd, uint32_t slot)
{
    return (nav_snap){
        .half_extents = crowd->snap[slot], .floor = NAV_FLOOR_NEAREST, .filter = *nav__crowd_filter_of(crowd, slot)};
}

void nav__crowd_put(nav_crowd *crowd, uint32_t slot, nav_vec position)
{
    const nav_mesh *m = crowd->mesh;
    nav_snap snap = snap_of(crowd, slot);
    nav_place place;
    nav__anchor anchor = {.count = 0};
    if (nav__nearest(m, position, &snap, &place)) {
        nav__anchor_make(m, &place, &snap.filter, &anchor);
    }
    crowd->vx[slot] = crowd->vz[slot] = crowd->vy[slot] = 0;
    crowd->walls[slot].reach = -1;
    if (anchor.count == 0) {
        crowd->standing[slot] = NAV__IS_OFF;
        crowd->mode[slot] = NAV_CROWD_OFF_MESH;
        crowd->cell[slot] = NAV_NONE;
        crowd->x[slot] = position.x - m->origin.x;
        crowd->y[slot] = position.y - m->origin.y;
        crowd->z[slot] = position.z - m->origin.z;
        return;
    }
    crowd->standing[slot] = NAV__STANDS;
    crowd->cell[slot] = anchor.cells[0];
    crowd->x[slot] = anchor.p.x;
    crowd->z[slot] = anchor.p.z;
    crowd->y[slot] = place.point.y - m->origin.y;
}

void nav__crowd_snap_goal(nav_crowd *crowd, uint32_t slot)
{
    const nav_mesh *m = crowd->mesh;
    nav__goal *goal = &crowd->goal[slot];
    nav_snap snap = snap_of(crowd, slot);
    nav_place place;
    goal->cell = NAV_NONE;
    if (!nav__nearest(m, goal->asked, &snap, &place)) {
        return;
    }
    nav__anchor anchor;
    nav__anchor_make(m, &place, &snap.filter, &anchor);
    if (anchor.count > 0) {
        goal->cell = anchor.cells[0];
        goal->x = anchor.p.x;
        goal->z = anchor.p.z;
        goal->y = place.point.y - m->origin.y;
    }
}

void nav__crowd_start_over(nav_crowd *crowd, uint32_t slot)
{
    crowd->route[slot].at = crowd->route[slot].count = 0;
    crowd->progress[slot] = (nav__progress){.count = 0};
    uint16_t keep = crowd->flags[slot] & (NAV__QUEUED | NAV__HAS_TARGET);
    bool searches = keep & NAV__HAS_TARGET && crowd->goal[slot].cell != NAV_NONE;
    crowd->flags[slot] = (uint16_t)(keep | (searches ? NAV__WANTS_SEARCH : 0));
}

void nav_crowd_set_mesh(nav_crowd *crowd, const nav_mesh *mesh)
{
    const nav_mesh *old = crowd->mesh;
    for (uint32_t i = crowd->oldest; i != NAV_NONE; i = crowd->younger[i]) {
        crowd->mesh = old;
        nav_vec position = nav__crowd_position(crowd, i);
        bool rides = crowd->standing[i] == NAV__RIDES;
        nav__riding riding = crowd->riding[i];
        nav_vec begun = {old->origin.x + riding.x, old->origin.y + riding.y, old->origin.z + riding.z};
        uint32_t same = rides ? nav__crowd_same_ride(old, riding.ride, mesh) : NAV_NONE;
        crowd->mesh = mesh;
        if (same != NAV_NONE) {
            riding.ride = same;
            riding.x = begun.x - mesh->origin.x;
            riding.y = begun.y - mesh->origin.y;
            riding.z = begun.z - mesh->origin.z;
            crowd->riding[i] = riding;
            crowd->x[i] = position.x - mesh->origin.x;
            crowd->y[i] = position.y - mesh->origin.y;
            crowd->z[i] = position.z - mesh->origin.z;
        } else {
            float vx = crowd->vx[i], vz = crowd->vz[i], vy = crowd->vy[i];
            uint8_t was = crowd->standing[i];
            nav__crowd_put(crowd, i, position);
            if (crowd->standing[i] == NAV__STANDS && was != NAV__IS_OFF) {
                crowd->vx[i] = vx;
                crowd->vz[i] = vz;
                crowd->vy[i] = vy;
            }
            if (crowd->standing[i] == NAV__STANDS && was == NAV__IS_OFF) {
                crowd->mode[i] = NAV_CROWD_IDLE; // the next step tells what it does
            }
        }
        bool arrived = crowd->flags[i] & NAV__HAS_ARRIVED && crowd->standing[i] == NAV__STANDS;
        if (crowd->flags[i] & NAV__HAS_TARGET && !crowd->chase[i].agent) {
            nav__crowd_snap_goal(crowd, i);
        }
        if (!arrived) {
            nav__crowd_start_over(crowd, i);
        } else {
            crowd->route[i].at = crowd->route[i].count = 0;
        }
        nav__crowd_touch(crowd, i);
    }
    crowd->mesh = mesh;
}

const nav_mesh *nav_crowd_mesh(const nav_crowd *crowd)
{
    return crowd->mesh;
}

// ---- agents ----------------------------------------------------------------------------------------

nav_crowd_id nav__crowd_id(const nav_crowd *crowd, uint32_t slot)
{
    return (nav_crowd_id)crowd->generation[slot] << 32 | (slot + 1);
}

uint32_t nav__crowd_slot(const nav_crowd *crowd, nav_crowd_id id)
{
    uint32_t slot = (uint32_t)id - 1;
    bool is_there = slot < crowd->slot_count && crowd->standing[slot] != NAV__IS_EMPTY &&
                    crowd->generation[slot] == (uint32_t)(id >> 32);
    return is_there ? slot : NAV_NONE;
}

bool nav_crowd_has(const nav_crowd *crowd, nav_crowd_id id)
{
    return nav__crowd_slot(crowd, id) != NAV_NONE;
}

static bool is_sound_filter(const nav_filter *filter)
{
    for (int i = 0; i < 256 && filter->area_costs; i++) {
        if (!(filter->area_costs[i] > 0) || !isfinite(filter->area_costs[i])) {
            return false;
        }
    }
    return true;
}

static bool is_sound(const nav_crowd_agent *a)
{
    return a->radius > 0 && isfinite(a->radius) && a->height > 0 && isfinite(a->height) && a->max_speed >= 0 &&
           isfinite(a->max_speed) && a->max_acceleration > 0 && a->stopping_distance >= 0 &&
           isfinite(a->stopping_distance) && a->link_speed >= 0 && isfinite(a->link_speed) && is_finite(a->snap) &&
           a->snap.x >= 0 && a->snap.y >= 0 && a->snap.z >= 0 && is_sound_filter(&a->filter);
}

/// Sets what the agent is, its filter aside.
static void set_numbers(nav_crowd *crowd, uint32_t slot, const nav_crowd_agent *a)
{
    crowd->radius[slot] = (float)a->radius;
    crowd->height[slot] = (float)a->height;
    crowd->max_speed[slot] = (float)a->max_speed;
    crowd->max_acceleration[slot] = (float)a->max_acceleration;
    crowd->stopping[slot] = (float)a->stopping_distance;
    crowd->link_speed[slot] = (float)a->link_speed;
    crowd->avoids[slot] = (uint8_t)a->avoidance;
    crowd->snap[slot] = a->snap;
    crowd->walls[slot].reach = -1;
}

/// A slot, taken from the list of empty ones where there is one.
static uint32_t take_slot(nav_crowd *crowd)
{
    uint32_t slot = crowd->empty;
    if (slot != NAV_NONE) {
        crowd->empty = crowd->older[slot];
        return slot;
    }
    slot = crowd->slot_count++;
    crowd->generation[slot] = 0;
    crowd->flags[slot] = 0;
    crowd->route[slot] = (nav__route){.via = NULL};
    return slot;
}

nav_status nav_crowd_add(nav_crowd *crowd, const nav_crowd_agent *agent, nav_vec position, nav_crowd_id *id)
{
    *id = 0;
    if (!is_sound(agent) || !is_finite(position)) {
        return NAV_BAD_ARGUMENT;
    }
    if (crowd->count >= crowd->options.max_agents) {
        return NAV_TOO_LARGE;
    }
    if (crowd->empty == NAV_NONE && !reserve_slot(crowd)) {
        return NAV_NO_MEMORY;
    }
    uint32_t filter = share_filter(crowd, &agent->filter);
    if (filter == NAV_NONE) {
        return NAV_NO_MEMORY;
    }
    uint32_t i = take_slot(crowd);
    crowd->count++;
    crowd->older[i] = crowd->youngest;
    crowd->younger[i] = NAV_NONE;
    *(crowd->youngest == NAV_NONE ? &crowd->oldest : &crowd->younger[crowd->youngest]) = i;
    crowd->youngest = i;
    set_numbers(crowd, i, agent);
    crowd->filter[i] = filter;
    crowd->flags[i] &= NAV__QUEUED; // whoever waited in this slot before: the place in the ring goes on
    crowd->goal[i] = (nav__goal){.cell = NAV_NONE};
    crowd->route[i].at = crowd->route[i].count = 0;
    crowd->progress[i] = (nav__progress){.count = 0};
    crowd->chase[i] = nav_crowd_chase_default();
    crowd->repath_age[i] = 0;
    crowd->yaw[i] = 0;
    crowd->impatience[i] = 0;
    crowd->was_moving[i] = 0;
    crowd->wanted_x[i] = crowd->wanted_z[i] = crowd->chosen_x[i] = crowd->chosen_z[i] = 0;
    crowd->mode[i] = NAV_CROWD_IDLE;
    nav__crowd_put(crowd, i, position);
    nav__crowd_touch(crowd, i);
    *id = nav__crowd_id(crowd, i);
    return NAV_OK;
}

bool nav_crowd_remove(nav_crowd *crowd, nav_crowd_id id)
{
    uint32_t i = nav__crowd_slot(crowd, id);
    if (i == NAV_NONE) {
        return false;
    }
    uint32_t older = crowd->older[i], younger = crowd->younger[i];
    *(older == NAV_NONE ? &crowd->oldest : &crowd->younger[older]) = younger;
    *(younger == NAV_NONE ? &crowd->youngest : &crowd->older[younger]) = older;
    crowd->filters[crowd->filter[i]].users--;
    crowd->standing[i] = NAV__IS_EMPTY;
    crowd->flags[i] &= NAV__QUEUED;
    crowd->generation[i]++;
    crowd->older[i] = crowd->empty;
    crowd->empty = i;
    crowd->count--;
    return true;
}

nav_status nav_crowd_get_agent(const nav_crowd *crowd, nav_crowd_id id, nav_crowd_agent *agent)
{
    uint32_t i = nav__crowd_slot(crowd, id);
    if (i == NAV_NONE) {
        return NAV_BAD_ARGUMENT;
    }
    *agent = (nav_crowd_agent){.radius = (double)crowd->radius[i],
                               .height = (double)crowd->height[i],
                               .max_speed = (double)crowd->max_speed[i],
                               .max_acceleration = (double)crowd->max_acceleration[i],
                               .stopping_distance = (double)crowd->stopping[i],
                               .link_speed = (double)crowd->link_speed[i],
                               .avoidance = crowd->avoids[i],
                               .filter = *nav__crowd_filter_of(crowd, i),
                               .snap = crowd->snap[i]};
    return NAV_OK;
}

nav_status nav_crowd_set_agent(nav_crowd *crowd, nav_crowd_id id, const nav_crowd_agent *agent)
{
    uint32_t i = nav__crowd_slot(crowd, id);
    if (i == NAV_NONE || !is_sound(agent)) {
        return NAV_BAD_ARGUMENT;
    }
    if (!is_same_filter(nav__crowd_filter_of(crowd, i), &agent->filter)) {
        uint32_t filter = share_filter(crowd, &agent->filter);
        if (filter == NAV_NONE) {
            return NAV_NO_MEMORY;
        }
        crowd->filters[crowd->filter[i]].users--;
        crowd->filter[i] = filter;
        set_numbers(crowd, i, agent);
        nav__crowd_snap_goal(crowd, i);
        nav__crowd_start_over(crowd, i);
    } else {
        set_numbers(crowd, i, agent);
    }
    nav__crowd_touch(crowd, i);
    return NAV_OK;
}

nav_status nav_crowd_set_position(nav_crowd *crowd, nav_crowd_id id, nav_vec position)
{
    uint32_t i = nav__crowd_slot(crowd, id);
    if (i == NAV_NONE || !is_finite(position)) {
        return NAV_BAD_ARGUMENT;
    }
    nav__crowd_put(crowd, i, position);
    nav__crowd_start_over(crowd, i);
    if (crowd->standing[i] == NAV__STANDS) {
        crowd->mode[i] = NAV_CROWD_IDLE;
    }
    nav__crowd_touch(crowd, i);
    return NAV_OK;
}

static bool is_same_place(nav_vec a, nav_vec b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

nav_status nav_crowd_set_target(nav_crowd *crowd, nav_crowd_id id, nav_vec target)
{
    uint32_t i = nav__crowd_slot(crowd, id);
    if (i == NAV_NONE || !is_finite(target)) {
        return NAV_BAD_ARGUMENT;
    }
    bool has_one = crowd->flags[i] & NAV__HAS_TARGET;
    if (has_one && !crowd->chase[i].agent && is_same_place(crowd->goal[i].asked, target)) {
        return NAV_OK;
    }
    bool has_arrived = crowd->flags[i] & NAV__HAS_ARRIVED;
    crowd->chase[i] = nav_crowd_chase_default();
    crowd->goal[i].asked = target;
    nav__crowd_snap_goal(crowd, i);
    crowd->flags[i] |= NAV__HAS_TARGET;
    crowd->flags[i] &= (uint16_t) ~(NAV__ATTACKS | NAV__HAS_ARRIVED);
    if (nav__route_is_empty(&crowd->route[i]) || has_arrived || crowd->flags[i] & NAV__IS_PARTIAL ||
        crowd->goal[i].cell == NAV_NONE) {
        nav__crowd_start_over(crowd, i);
    } else {
        crowd->flags[i] |= NAV__GOAL_MOVED; // the next step bends the route, or searches
        crowd->progress[i] = (nav__progress){.count = 0};
    }
    nav__crowd_touch(crowd, i);
    return NAV_OK;
}

nav_status nav_crowd_clear_target(nav_crowd *crowd, nav_crowd_id id)
{
    uint32_t i = nav__crowd_slot(crowd, id);
    if (i == NAV_NONE) {
        return NAV_BAD_ARGUMENT;
    }
    if (!(crowd->flags[i] & NAV__HAS_TARGET)) {
        return NAV_OK;
    }
    crowd->chase[i] = nav_crowd_chase_default();
    crowd->flags[i] &= NAV__QUEUED;
    nav__crowd_start_over(crowd, i);
    if (crowd->standing[i] == NAV__STANDS) {
        crowd->mode[i] = NAV_CROWD_IDLE;
    }
    nav__crowd_touch(crowd, i);
    return NAV_OK;
}

nav_status nav_crowd_set_chase(nav_crowd *crowd, nav_crowd_id id, const nav_crowd_chase *chase)
{
    uint32_t i = nav__crowd_slot(crowd, id), prey = nav__crowd_slot(crowd, chase->agent);
    if (i == NAV_NONE || prey == NAV_NONE || prey == i || !(chase->repath >= 0) || !isfinite(chase->repath) ||
        !(chase->attack_range >= 0) || !isfinite(chase->attack_range)) {
        return NAV_BAD_ARGUMENT;
    }
    nav_crowd_chase *has = &crowd->chase[i];
    if (has->agent == chase->agent && has->repath == chase->repath && has->attack_range == chase->attack_range) {
        return NAV_OK;
    }
    bool is_other = has->agent != chase->agent;
    *has = *chase;
    if (is_other) {
        crowd->flags[i] |= NAV__HAS_TARGET;
        nav__crowd_start_over(crowd, i);
        nav__crowd_follow(crowd, i, prey);
        crowd->flags[i] |= NAV__WANTS_SEARCH;
    }
    nav__crowd_touch(crowd, i);
    return NAV_OK;
}

// ---- reading ---------------------------------------------------------------------------------------

uint32_t nav_crowd_count(const nav_crowd *crowd)
{
    return crowd->count;
}

uint64_t nav_crowd_steps(const nav_crowd *crowd)
{
    return crowd->steps;
}

uint64_t nav_crowd_changed_step(const nav_crowd *crowd, nav_crowd_id id)
{
    uint32_t i = nav__crowd_slot(crowd, id);
    return i == NAV_NONE ? 0 : crowd->changed[i];
}

bool nav_crowd_glance(const nav_crowd *crowd, nav_crowd_id id, nav_crowd_state *state)
{
    uint32_t i = nav__crowd_slot(crowd, id);
    if (i == NAV_NONE) {
        return false;
    }
    *state = (nav_crowd_state){.id = id,
                               .mode = crowd->mode[i],
                               .position = nav__crowd_position(crowd, i),
                               .velocity = {(double)crowd->vx[i], (double)crowd->vy[i], (double)crowd->vz[i]},
                               .yaw = (double)crowd->yaw[i],
                               .polygon = NAV_NONE,
                               .has_target = crowd->flags[i] & NAV__HAS_TARGET,
                               .target = crowd->goal[i].asked,
                               .chase = crowd->chase[i],
                               .link = NAV_NONE,
                               .changed_step = crowd->changed[i]};
    if (crowd->standing[i] == NAV__RIDES) {
        state->link = crowd->mesh->rides[crowd->riding[i].ride].link;
        state->link_part = (double)crowd->riding[i].part;
    }
    return true;
}

bool nav_crowd_get(const nav_crowd *crowd, nav_crowd_id id, nav_crowd_state *state)
{
    if (!nav_crowd_glance(crowd, id, state)) {
        return false;
    }
    uint32_t i = nav__crowd_slot(crowd, id);
    const nav_mesh *m = crowd->mesh;
    state->remaining = nav__crowd_remaining(crowd, i);
    if (crowd->standing[i] == NAV__STANDS) {
        uint32_t face;
        nav__cell_height(m, crowd->cell[i], (nav__p2){crowd->x[i], crowd->z[i]}, &face);
        state->polygon = nav__face_polygon(m, face);
    }
    return true;
}

double nav__crowd_remaining(const nav_crowd *crowd, uint32_t slot)
{
    const nav__route *r = &crowd->route[slot];
    if (nav__route_is_empty(r) || crowd->flags[slot] & NAV__HAS_ARRIVED) {
        return 0;
    }
    const nav__via *next = &r->via[r->at];
    return nav__dist((nav__p2){crowd->x[slot], crowd->z[slot]}, (nav__p2){next->x, next->z}) + r->rest;
}

uint32_t nav_crowd_path(const nav_crowd *crowd, nav_crowd_id id, nav_vec *points, uint32_t cap)
{
    uint32_t i = nav__crowd_slot(crowd, id);
    if (i == NAV_NONE || crowd->flags[i] & NAV__HAS_ARRIVED) {
        return 0;
    }
    const nav_mesh *m = crowd->mesh;
    const nav__route *r = &crowd->route[i];
    for (uint32_t k = r->at; k < r->count && k - r->at < cap; k++) {
        const nav__via *v = &r->via[k];
        points[k - r->at] = (nav_vec){m->origin.x + v->x, m->origin.y + (double)v->y, m->origin.z + v->z};
    }
    return r->count - r->at;
}

nav_crowd_id nav_crowd_next(const nav_crowd *crowd, nav_crowd_id id)
{
    uint32_t i = id ? nav__crowd_slot(crowd, id) : NAV_NONE;
    uint32_t next = id ? (i == NAV_NONE ? NAV_NONE : crowd->younger[i]) : crowd->oldest;
    return next == NAV_NONE ? 0 : nav__crowd_id(crowd, next);
}
