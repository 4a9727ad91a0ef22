/// Private: a crowd in memory, and what its files share.
///
/// Agents live in slots of parallel arrays; a slot that was emptied is used again. A step has phases, and who may
/// write what in which keeps it the same for every number of threads:
///
///   begin   one thread: grid of bodies (what others may know of an agent), who may search
///   plan    own route, flags, wanted velocity; reads where others stand (position, cell, standing)
///   steer   own chosen velocity; reads bodies and others' goals
///   move    own position, cell, standing, route; reads nothing of others
///   settle  own mode, progress, changed; reads nothing of others
///
/// Positions are relative to the mesh's origin, on the ground in double, so that they lie exactly in their cell.
#ifndef NAV_CROWD_PRIVATE_H
#define NAV_CROWD_PRIVATE_H

#include "nav_crowd.h"
#include "walk.h"

/// A point of a route.
typedef struct nav__via {
    double x, z;
    float y;
    uint32_t cell; ///< one that holds it, NAV_NONE where not yet known
    uint32_t ride; ///< ridden by the leg to it, index into the mesh's rides; NAV_NONE: it walks
} nav__via;

/// The way ahead: straight from where the agent is to via[at], and on.
typedef struct nav__route {
    nav__via *via;
    uint32_t at, count, cap;
    uint32_t bends; ///< of its end since the last search
    double rest;    ///< length from via[at] on
} nav__route;

static inline bool nav__route_is_empty(const nav__route *r)
{
    return r->at >= r->count;
}

/// Where an agent is to go, on the surface.
typedef struct nav__goal {
    nav_vec asked; ///< absolute, as given
    double x, z, y;
    uint32_t cell; ///< NAV_NONE: nothing of the mesh is near
} nav__goal;

/// Walls near an agent: the stretches of boundary edges that the agent is inside of, nearest first.
#define NAV__WALLS 8
typedef struct nav__walls {
    float x, z, reach; ///< looked for round here, as far as this; reach < 0: not yet
    uint32_t count;
    float ends[NAV__WALLS][4]; ///< ax, az, bx, bz; the ground lies left of a -> b
} nav__walls;

/// Whether an agent gets on: the way made in the direction it wanted, while it wanted to move, in the last few
/// spans of time.
#define NAV__SPANS 4
typedef struct nav__progress {
    float made[NAV__SPANS]; ///< newest first; the first is under way
    uint32_t count;         ///< spans that are over, at most NAV__SPANS
    float age;              ///< seconds of the span under way
} nav__progress;

/// A ride under way.
typedef struct nav__riding {
    double x, z, y; ///< where it began
    uint32_t ride;
    float part;
} nav__riding;

/// Filters that agents have in common.
typedef struct nav__crowd_filter {
    nav_filter filter; ///< its costs point to `costs`
    double *costs;     ///< [256], NULL: none
    uint32_t users;
} nav__crowd_filter;

enum { NAV__STANDS, NAV__RIDES, NAV__IS_OFF, NAV__IS_EMPTY }; ///< nav_crowd.standing

/// nav_crowd.flags
enum {
    NAV__HAS_TARGET = 1,
    NAV__GOAL_MOVED = 2, ///< the route leads to where the goal was
    NAV__WANTS_SEARCH = 4,
    NAV__QUEUED = 8,
    NAV__MAY_SEARCH = 16, ///< in this step
    NAV__STRAYED = 32,    ///< not where its route led: is the next point of it still to be seen?
    NAV__IS_PARTIAL = 64, ///< the route leads to the nearest reachable place
    NAV__ATTACKS = 128,
    NAV__ON_ROUTE = 256, ///< this step it goes exactly along its route
    NAV__HAS_ARRIVED = 512,
    NAV__IS_STUCK = 1024,
    NAV__OLD_ROUTE = 4096,   ///< the route does not lead to the goal
    NAV__IS_CUT = 8192,      ///< likewise, for a limit: at its end another search is due
    NAV__IS_BLOCKED = 16384, ///< by a wall, in its last move
    NAV__IS_CROWDED = 32768  ///< rests against one that has arrived at the same goal
};

/// What others may know of an agent in a step, sorted by the grid.
typedef struct nav__body {
    float x, z, y;
    float vx, vz;
    float press_x, press_z; ///< the velocity that it would like, seen by those who make way
    float radius, height;
    float share; ///< of keeping apart that others must take: 1 who keeps its place or avoids no one, else 1/2
    uint32_t slot;
    bool has_target, has_arrived;
} nav__body;

#define NAV__NEIGHBOURS 10

/// Arrays by slot.
#define NAV__CROWD_ARRAYS(X)                                                                           \
    X(uint32_t, generation, "of the slot's agent, or its next one")                                    \
    X(uint32_t, younger, "slot of the agent added next")                                               \
    X(uint32_t, older, "likewise before; of an empty slot the next one")                               \
    X(uint8_t, standing, "")                                                                           \
    X(uint8_t, mode, "nav_crowd_mode")                                                                 \
    X(uint8_t, was_moving, "in the last step")                                                         \
    X(uint16_t, flags, "")                                                                             \
    X(double, x, "")                                                                                   \
    X(double, z, "")                                                                                   \
    X(double, y, "")                                                                                   \
    X(uint32_t, cell, "that holds x, z")                                                               \
    X(float, vx, "velocity of the last step")                                                          \
    X(float, vz, "")                                                                                   \
    X(float, vy, "")                                                                                   \
    X(float, wanted_x, "velocity that the route asks for")                                             \
    X(float, wanted_z, "")                                                                             \
    X(float, stride, "way along the route to make in this step")                                       \
    X(float, chosen_x, "velocity after avoidance")                                                     \
    X(float, chosen_z, "")                                                                             \
    X(float, room, "how far it gets in any direction without meeting another in this step")            \
    X(float, impatience, "seconds that it was kept from going on, less those that it was not; 0 .. 4") \
    X(float, yaw, "")                                                                                  \
    X(float, radius, "")                                                                               \
    X(float, height, "")                                                                               \
    X(float, max_speed, "")                                                                            \
    X(float, max_acceleration, "")                                                                     \
    X(float, stopping, "stopping distance")                                                            \
    X(float, link_speed, "")                                                                           \
    X(uint8_t, avoids, "nav_avoidance")                                                                \
    X(uint32_t, filter, "index into filters")                                                          \
    X(nav_vec, snap, "")                                                                               \
    X(nav__goal, goal, "")                                                                             \
    X(nav__route, route, "")                                                                           \
    X(nav__walls, walls, "")                                                                           \
    X(nav__progress, progress, "")                                                                     \
    X(nav__riding, riding, "")                                                                         \
    X(nav_crowd_chase, chase, "")                                                                      \
    X(float, repath_age, "seconds since its last search")                                              \
    X(uint64_t, changed, "step")                                                                       \
    X(uint32_t, queue, "ring of slots that wait for a search")                                         \
    X(nav__body, bodies, "by the grid's cells, body_count of them")                                    \
    X(uint32_t, body_cell, "scratch of sorting")

struct nav_crowd {
    nav_alloc alloc;
    const nav_mesh *mesh;
    nav_crowd_options options;

    uint32_t count;      ///< of agents
    uint32_t slot_count; ///< slots ever used
    uint32_t slot_cap;
    uint32_t oldest, youngest, empty; ///< heads of lists; NAV_NONE
#define NAV__ARRAY(type, name, what) type *name;
    NAV__CROWD_ARRAYS(NAV__ARRAY)
#undef NAV__ARRAY

    nav__crowd_filter *filters; ///< [filter_count] those without users are free
    uint32_t filter_count;

    uint64_t steps;
    double dt, time; ///< time: of all steps so far
    uint32_t queue_first, queue_count;

    // The grid: cell (i, k), number k * grid_nx + i, has bodies[grid_first[c]] .. grid_first[c + 1] - 1.
    uint32_t *grid_first;
    uint32_t grid_cap, grid_nx, grid_nz;
    uint32_t body_count;
    float grid_x, grid_z, grid_inverse;
    float max_radius; ///< of any body
};

/// The slot of an agent, NAV_NONE when there is none of this number.
uint32_t nav__crowd_slot(const nav_crowd *crowd, nav_crowd_id id);
nav_crowd_id nav__crowd_id(const nav_crowd *crowd, uint32_t slot);

static inline const nav_filter *nav__crowd_filter_of(const nav_crowd *crowd, uint32_t slot)
{
    return &crowd->filters[crowd->filter[slot]].filter;
}

static inline nav_vec nav__crowd_position(const nav_crowd *crowd, uint32_t slot)
{
    const nav_mesh *m = crowd->mesh;
    return (nav_vec){m->origin.x + crowd->x[slot], m->origin.y + crowd->y[slot], m->origin.z + crowd->z[slot]};
}

/// How far the centre is to keep from the mesh's walls: the mesh keeps its own agent's radius already.
static inline float nav__crowd_clearance(const nav_crowd *crowd, uint32_t slot)
{
    float baked = (float)crowd->mesh->agent.radius, more = crowd->radius[slot] - baked;
    return baked > 0 && more > 1e-3f * baked ? more : 0;
}

/// Must it keep off the next point of its route, as that is a corner?
static inline bool nav__crowd_rounds(const nav_crowd *crowd, uint32_t slot)
{
    const nav__route *r = &crowd->route[slot];
    return r->at + 1 < r->count && r->via[r->at + 1].ride == NAV_NONE && nav__crowd_clearance(crowd, slot) > 0;
}

static inline void nav__crowd_touch(nav_crowd *crowd, uint32_t slot)
{
    crowd->changed[slot] = crowd->steps + 1;
}

/// Puts an agent on the surface by its snap box, or off the mesh.
void nav__crowd_put(nav_crowd *crowd, uint32_t slot, nav_vec position);

/// Brings the goal's position to the surface, by the agent's snap box and filter.
void nav__crowd_snap_goal(nav_crowd *crowd, uint32_t slot);

/// Forgets route and progress; the next step searches when there is a target.
void nav__crowd_start_over(nav_crowd *crowd, uint32_t slot);

/// Impatience from which on others with the same goal keep it from there.
#define NAV__CROWDED_AFTER 0.5f

/// Nearer to the end than this is at it.
#define NAV__AT_GOAL 1e-6

/// How far it is along the route to its end.
double nav__crowd_remaining(const nav_crowd *crowd, uint32_t slot);

/// The goal becomes where another agent stands.
void nav__crowd_follow(nav_crowd *crowd, uint32_t slot, uint32_t prey);

/// Keeps, mends or searches the route, and sets the wanted velocity (crowd_plan.c).
/// @return NAV_OK or NAV_NO_MEMORY
nav_status nav__crowd_plan(nav_crowd *crowd, uint32_t slot, nav_query *query);

/// Makes the step: along the route, aside of it, or over a link (crowd_move.c).
void nav__crowd_move(nav_crowd *crowd, uint32_t slot);

/// Who has been kept from going on for long now and then makes way, each in its time.
bool nav__crowd_makes_way(const nav_crowd *crowd, uint32_t slot);

/// Sorts bodies into the grid. @return false when out of memory
bool nav__crowd_sort(nav_crowd *crowd);

/// Another body near an agent.
typedef struct nav__neighbour {
    float distance2; ///< on the ground
    uint32_t slot;
    const nav__body *body;
} nav__neighbour;

/// The nearest bodies on the agent's floor whose centres are within `range`, nearest first.
/// @param most  at most NAV__NEIGHBOURS
/// @return how many
uint32_t nav__crowd_neighbours(const nav_crowd *crowd, const nav__body *body, float range, uint32_t most,
                               nav__neighbour *neighbours);

/// Looks for the walls within `reach` round where an agent stands, unless those it has will do.
void nav__crowd_find_walls(nav_crowd *crowd, uint32_t slot, float reach);

/// Chooses the velocity of the agent that bodies[at] is of (crowd_steer.c).
void nav__crowd_steer(nav_crowd *crowd, uint32_t at);

/// The ride of another mesh that leads where this one does, NAV_NONE when there is none.
uint32_t nav__crowd_same_ride(const nav_mesh *from, uint32_t ride, const nav_mesh *to);

/// The route's next point has been reached.
void nav__route_pass(nav__route *route);
/// Sums up nav__route.rest.
void nav__route_measure(nav__route *route);

/// Does a straight walk from p, which `cell` holds, lead to `to` on the same floor?
/// @param height  of the surface there
/// @param holds   the cell that holds `to`; may be NULL
bool nav__crowd_sees(const nav_mesh *m, const nav_filter *filter, uint32_t cell, nav__p2 p, nav__p2 to, double height,
                     uint32_t *holds);

#endif
