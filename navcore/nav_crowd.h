/// A crowd: agents that walk over one mesh, to targets or after each other, and keep out of each other's way.
///
/// A crowd has no clock and no threads: time passes by nav_crowd_step, and a step can be cut into parts that
/// the caller runs on as many threads as it likes. The same calls give the same bytes for every way of cutting.
///
/// Units are the mesh's; speeds are units a second, times seconds of simulated time. Positions are absolute,
/// on the surface under an agent's feet. "Ground" is the xz plane. Numbers must be finite unless said otherwise,
/// or NAV_BAD_ARGUMENT is returned and nothing is changed.
///
/// @thread Calls that change a crowd: one thread at a time, no other call meanwhile. Calls that take a
///         `const nav_crowd *` may run at the same time as each other. nav_crowd_step_part see there.
#ifndef NAV_CROWD_H
#define NAV_CROWD_H

#include "nav_query.h"

typedef struct nav_crowd nav_crowd;

/// An agent by number; 0 is none. The number of an agent that was removed is never used again (until 2^32
/// agents have had its place).
typedef uint64_t nav_crowd_id;

// ---- the crowd -------------------------------------------------------------------------------------

typedef struct nav_crowd_options {
    uint32_t max_agents; ///< most at a time, > 0
    /// Searches for whole paths in one step; 0: 256. Who does not get one waits for a later step, first come
    /// first served, and keeps to its old path meanwhile.
    uint32_t max_searches;
    uint32_t max_nodes; ///< of one search; 0: no limit. An agent at the limit goes the best partial path and asks anew
} nav_crowd_options;

/// 10,000 agents, 256 searches, no limit of nodes.
nav_crowd_options nav_crowd_options_default(void);

/// @param mesh   must outlive the crowd, or be replaced by nav_crowd_set_mesh first
/// @param alloc  may be NULL; must outlive the crowd, and be safe to call from all threads that run parts
/// @param out    set only on NAV_OK
/// @return NAV_OK, NAV_BAD_ARGUMENT, NAV_NO_MEMORY
nav_status nav_crowd_create(const nav_crowd_options *options, const nav_mesh *mesh, const nav_alloc *alloc,
                            nav_crowd **out);
/// NULL is fine.
void nav_crowd_destroy(nav_crowd *crowd);

/// Takes all agents over to another revision of their mesh, which may look quite different. Each is put on the
/// nearest surface within its snap box, by the rule of nav_query_nearest; who finds none keeps its position, is
/// told as NAV_CROWD_OFF_MESH, takes part in nothing, and is looked for again at the next set_mesh. Targets
/// are snapped again likewise; paths are made anew by the following steps. Who rides a link goes on riding if
/// the link with that id has the same ends still, else it is put down where it is.
/// @param mesh  as in nav_crowd_create; the old one is not used any more
void nav_crowd_set_mesh(nav_crowd *crowd, const nav_mesh *mesh);
const nav_mesh *nav_crowd_mesh(const nav_crowd *crowd);

/// How many agents there are.
uint32_t nav_crowd_count(const nav_crowd *crowd);
/// How many steps were made. Changes between steps belong to the step to come, see nav_crowd_state.changed_step.
uint64_t nav_crowd_steps(const nav_crowd *crowd);
size_t nav_crowd_memory_bytes(const nav_crowd *crowd);

// ---- agents ----------------------------------------------------------------------------------------

typedef enum nav_avoidance {
    NAV_AVOIDANCE_NONE, ///< walks through others; others keep out of its way
    NAV_AVOIDANCE_ORCA  ///< van den Berg, Guy, Lin, Manocha, "Reciprocal n-Body Collision Avoidance", 2011
} nav_avoidance;

/// What an agent is.
typedef struct nav_crowd_agent {
    double radius;    ///< > 0; also keeps further from walls where it is more than the mesh's agent's
    double height;    ///< > 0; agents whose heights do not overlap are on different floors and do not see each other
    double max_speed; ///< >= 0
    /// By how much the speed rises or falls in a second, > 0, may be infinite. Turning takes no time, so that no
    /// agent circles: from a turn on, only the speed that it had in the new direction is left. Keeping out of
    /// others' way, walls, and ending at the target may take away speed faster.
    double max_acceleration;
    /// >= 0; who is so near to its target, along its path, has arrived. 0: on the target itself
    double stopping_distance;
    double link_speed; ///< on off-mesh links, > 0; 0: as max_speed, but at least a tenth of a unit a second
    nav_avoidance avoidance;
    nav_filter filter; ///< copied, costs included
    nav_vec snap;      ///< half extents of the box in which its position and target are brought to the mesh
} nav_crowd_agent;

/// Radius and height of the mesh's agent (0.5 where the mesh says 0), speed 3.5, acceleration 8, stopping
/// distance 0, ORCA, default filter, snap 2, 4, 2.
nav_crowd_agent nav_crowd_agent_default(const nav_mesh *mesh);

/// Adds an agent, idle. Where nothing is within its snap box it is NAV_CROWD_OFF_MESH, at `position`.
/// @return NAV_OK, NAV_BAD_ARGUMENT, NAV_TOO_LARGE (there are max_agents), NAV_NO_MEMORY; `id` is 0 but on NAV_OK
nav_status nav_crowd_add(nav_crowd *crowd, const nav_crowd_agent *agent, nav_vec position, nav_crowd_id *id);
/// @return false when there is no such agent. Who chases it becomes idle in the next step.
bool nav_crowd_remove(nav_crowd *crowd, nav_crowd_id id);
bool nav_crowd_has(const nav_crowd *crowd, nav_crowd_id id);

// These give NAV_BAD_ARGUMENT where there is no such agent.

/// What the agent is. `agent->filter.area_costs` points into the crowd, until an agent is added or changed.
nav_status nav_crowd_get_agent(const nav_crowd *crowd, nav_crowd_id id, nav_crowd_agent *agent);
/// Replaces what the agent is; its target, path and speed stay. (Get, change, set.)
/// @return also NAV_NO_MEMORY
nav_status nav_crowd_set_agent(nav_crowd *crowd, nav_crowd_id id, const nav_crowd_agent *agent);
/// Puts it elsewhere, at rest, by its snap box. A target is kept.
nav_status nav_crowd_set_position(nav_crowd *crowd, nav_crowd_id id, nav_vec position);
/// Goes there, and chases no one any more. The same target again changes nothing. A target off the mesh, beyond
/// the snap box, is told as NAV_CROWD_UNREACHABLE; the agent then stays where it is.
nav_status nav_crowd_set_target(nav_crowd *crowd, nav_crowd_id id, nav_vec target);
/// No target, no chase: stops, idle.
nav_status nav_crowd_clear_target(nav_crowd *crowd, nav_crowd_id id);

typedef struct nav_crowd_chase {
    nav_crowd_id agent;  ///< another one
    double repath;       ///< >= 0, seconds; searches are at least so far apart. Between them the path's end follows
    double attack_range; ///< >= 0, from centre to centre in space; 0: never attacks
} nav_crowd_chase;

/// No agent, 0.5 s, range 0.
nav_crowd_chase nav_crowd_chase_default(void);

/// Follows another agent until told otherwise. Within the attack range and with a straight free way to the
/// other over the surface it stands and is NAV_CROWD_ATTACKING. The same chase again changes nothing.
nav_status nav_crowd_set_chase(nav_crowd *crowd, nav_crowd_id id, const nav_crowd_chase *chase);

// ---- what became of them ---------------------------------------------------------------------------

typedef enum nav_crowd_mode {
    NAV_CROWD_IDLE, ///< no target
    NAV_CROWD_MOVING,
    /// Within the stopping distance. Also who gets no further for half a second and stands against one that has
    /// arrived, is nearer, and whose target is less than both radii from its own; or stands less than its radius from
    /// its target and against anyone on the way to such a target. Stays so until it gets another target; it makes way
    /// for others and goes back.
    NAV_CROWD_ARRIVED,
    NAV_CROWD_CHASING,
    NAV_CROWD_ATTACKING,
    /// Wants to get on, but for two seconds came nearer by less than a twentieth of what its speed allows. It goes
    /// on trying, and is told otherwise as soon as it gets on.
    NAV_CROWD_STUCK,
    /// No way leads to the target, which is told as soon as it is known. It goes to the reachable place nearest to
    /// it, and stays there.
    NAV_CROWD_UNREACHABLE,
    NAV_CROWD_OFF_MESH,
    NAV_CROWD_MODE_COUNT
} nav_crowd_mode;

/// "idle", "moving", ... "off_mesh"; never NULL.
const char *nav_crowd_mode_text(nav_crowd_mode mode);

typedef struct nav_crowd_state {
    nav_crowd_id id;
    nav_crowd_mode mode;
    nav_vec position;
    nav_vec velocity; ///< of the last step: way made / dt
    double
        yaw; ///< radians: 0 looks along +z, pi/2 along +x; (-pi, pi]. Kept while it stands; when attacking to its prey
    uint32_t polygon;      ///< of the file, that it stands on; NAV_NONE off the mesh and while it rides
    bool has_target;       ///< also while it chases
    nav_vec target;        ///< as given, or where the chased one is
    nav_crowd_chase chase; ///< agent 0: none
    double remaining;      ///< length of the path still to go on the ground; 0 without one
    uint32_t link;         ///< that it rides, index into nav_mesh_links; NAV_NONE: none
    double link_part;      ///< 0 .. 1 of the ride made
    /// The step in which anything of this last changed. Changed since step n (what was read then excluded):
    /// changed_step > n. A change between steps n and n + 1 has n + 1.
    uint64_t changed_step;
} nav_crowd_state;

/// @return false when there is no such agent
bool nav_crowd_get(const nav_crowd *crowd, nav_crowd_id id, nav_crowd_state *state);
/// The same without what has to be looked up on the mesh and the path: polygon is NAV_NONE, remaining 0. For
/// telling of thousands after each step.
bool nav_crowd_glance(const nav_crowd *crowd, nav_crowd_id id, nav_crowd_state *state);
/// nav_crowd_state.changed_step alone; 0 when there is no such agent.
uint64_t nav_crowd_changed_step(const nav_crowd *crowd, nav_crowd_id id);
/// The path ahead: corners still to be passed, the last one its end; links are ridden between their two ends.
/// Without the agent's own position; empty while it has no path.
/// @param points  may be NULL with cap 0
/// @return how many there are; the first `cap` of them are written
uint32_t nav_crowd_path(const nav_crowd *crowd, nav_crowd_id id, nav_vec *points, uint32_t cap);
/// The agent added next after `id`; after 0 the oldest.
/// @return 0 when there is none, or no agent `id`
nav_crowd_id nav_crowd_next(const nav_crowd *crowd, nav_crowd_id id);

// ---- steps -----------------------------------------------------------------------------------------

/// A step in one go.
/// @param dt  > 0; an agent gets no further than its path leads, however long it is
/// @return NAV_OK, NAV_BAD_ARGUMENT (nothing happened), NAV_NO_MEMORY (the step was made, but some agents got no
///         path; they ask again)
nav_status nav_crowd_step(nav_crowd *crowd, double dt, nav_query *query);

/// Phases of a step. Each must be over for all agents before the next is begun.
#define NAV_CROWD_PHASES 4

/// Begins a step in parts:
///
///     nav_crowd_step_begin(crowd, dt, &count);
///     for each phase in 0 .. NAV_CROWD_PHASES - 1
///         split 0 .. count - 1 in ranges, and call nav_crowd_step_part for each, on any thread
///         wait for all of them
///     nav_crowd_step_end(crowd);
///
/// @param count  of what phases are split by; not always nav_crowd_count
/// @return NAV_OK, NAV_BAD_ARGUMENT, NAV_NO_MEMORY; but on NAV_OK no step has begun
nav_status nav_crowd_step_begin(nav_crowd *crowd, double dt, uint32_t *count);
/// @param query  of this thread alone; an interrupt set on it is not asked
/// @return NAV_OK or NAV_NO_MEMORY; go on with the step in any case
/// @thread any number at the same time with different ranges of one phase, each with its own query, and no other
///         call to the crowd meanwhile
nav_status nav_crowd_step_part(nav_crowd *crowd, uint32_t phase, uint32_t first, uint32_t count, nav_query *query);
void nav_crowd_step_end(nav_crowd *crowd);

#endif
