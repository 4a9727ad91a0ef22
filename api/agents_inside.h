/// What the files about agents share. Private to agents*.c.
#ifndef API_AGENTS_INSIDE_H
#define API_AGENTS_INSIDE_H

#include "agents.h"
#include "args.h"
#include "context.h"

/// A filter that agents use; one record for all that were given the same.
typedef struct api_agent_filter {
    struct api_agent_filter *next;
    char *text;       ///< as given: JSON; NULL: none was, the mesh's default
    uint32_t users;   ///< agents
    api_filter value; ///< on the present mesh
    bool has_costs;
} api_agent_filter;

typedef struct api_agent {
    nav_crowd_id number; ///< 0: was removed
    uint64_t changed;    ///< version in which it last did
    api_agent_filter *filter;
    char id[NAV_ID_MAX + 1];
} api_agent;

typedef struct api_agent_removed {
    uint64_t version;
    char id[NAV_ID_MAX + 1];
} api_agent_removed;

/// Open addressing, of places in `list` plus 1; those of removed agents stay until the list is closed up.
typedef struct api_agent_index {
    uint32_t *slots;
    uint32_t cap; ///< a power of two, more than the entries
} api_agent_index;

struct api_agents {
    const api_mesh *mesh;
    nav_crowd *crowd;
    uint32_t max_agents;
    uint64_t *numbers;
    uint64_t version, told;

    api_agent *list; ///< in order of creation
    uint32_t count, cap, live;
    api_agent_index by_id, by_number;

    api_agent_removed *removed; ///< oldest first
    uint32_t removed_count, removed_cap;
    uint64_t forgotten; ///< removals up to this version may be missing

    api_agent_filter *filters;
};

/// @return NULL: no such agent
api_agent *api_agents_find(const api_agents *agents, const char *id);
api_agent *api_agents_find_number(const api_agents *agents, nav_crowd_id number);

/// Room for `count` more, so that api_agents_append cannot fail. @return false: no memory
bool api_agents_reserve(api_agents *agents, uint32_t count);
/// @param filter  used once more; given back by api_agents_erase
api_agent *api_agents_append(api_agents *agents, const char *id, nav_crowd_id number, api_agent_filter *filter);
/// Makes room to note `count` removals. @return false: no memory
bool api_agents_reserve_removals(api_agents *agents, uint32_t count);
/// Takes it out of the crowd and the list. @param note  tell of it (api_agents_reserve_removals was called)
void api_agents_erase(api_agents *agents, api_agent *agent, bool note);
/// Closes the list up when it has become sparse. Pointers to agents are void after this.
void api_agents_tidy(api_agents *agents);

/// An id that is not used and was never made before.
void api_agents_make_id(api_agents *agents, char id[NAV_ID_MAX + 1]);

/// From here on what is touched has changed in a new version.
void api_agents_begin_change(api_agents *agents);
static inline void api_agents_touch(api_agents *agents, api_agent *agent)
{
    agent->changed = agents->version;
}

/// The filter that a value stands for, used by nobody yet.
/// @param value    a name or an object; NULL: the mesh's default
/// @param scratch  arguments to read it into
/// @return NULL: `place` says why
api_agent_filter *api_agents_filter(api_agents *agents, const cJSON *value, api_args *scratch, const api_place *place);
/// Frees those that nobody uses.
void api_agents_sweep_filters(api_agents *agents);
nav_filter api_agent_nav_filter(const api_agent_filter *filter);

// agents_read.c

/// What a body or a query string says besides agents.
typedef struct api_agents_call {
    api_agents_view view;
    uint32_t given; ///< members that were there, as api_agents_members
    bool has_fields;
    uint64_t since;
    double dt, tick_hz; ///< tick_hz negative: null
    bool changed;
    const cJSON *id;     ///< echoed
    const cJSON *agents; ///< list; NULL: none
} api_agents_call;

/// Members of a call, to say which ones it takes.
typedef enum api_agents_member {
    API_CALL_FIELDS = 1u << 0,
    API_CALL_PRECISION = 1u << 1,
    API_CALL_VECTORS = 1u << 2,
    API_CALL_FRAME = 1u << 3,
    API_CALL_SINCE = 1u << 4,
    API_CALL_DT = 1u << 5,
    API_CALL_CHANGED = 1u << 6,
    API_CALL_ID = 1u << 7,
    API_CALL_AGENTS = 1u << 8,
    API_CALL_TICK_HZ = 1u << 9,
    API_CALL_ALL = 1u << 10
} api_agents_member;
#define API_CALL_FORM (API_CALL_FIELDS | API_CALL_PRECISION | API_CALL_VECTORS | API_CALL_FRAME)

/// Reads the members of `object` that a call takes.
/// @param others  members that somebody else reads, besides: those of an agent
bool api_agents_read_call(api_agents_call *call, const cJSON *object, uint32_t allowed, bool others,
                          const api_place *place);
/// The same from a query string, as the object that a body would hold; the caller frees it.
cJSON *api_agents_query(const char *query, uint32_t allowed, const api_place *place);

/// Members of an agent.
typedef enum api_agent_member {
    API_SET_ID = 1u << 0,
    API_SET_POSITION = 1u << 1,
    API_SET_RADIUS = 1u << 2,
    API_SET_HEIGHT = 1u << 3,
    API_SET_MAX_SPEED = 1u << 4,
    API_SET_MAX_ACCELERATION = 1u << 5,
    API_SET_STOPPING_DISTANCE = 1u << 6,
    API_SET_LINK_SPEED = 1u << 7,
    API_SET_AVOIDANCE = 1u << 8,
    API_SET_TARGET = 1u << 9,
    API_SET_CHASE = 1u << 10,
    API_SET_FILTER = 1u << 11,
    API_SET_SNAP = 1u << 12
} api_agent_member;
/// Those that nav_crowd_agent holds.
#define API_SET_AGENT                                                                                             \
    (API_SET_RADIUS | API_SET_HEIGHT | API_SET_MAX_SPEED | API_SET_MAX_ACCELERATION | API_SET_STOPPING_DISTANCE | \
     API_SET_LINK_SPEED | API_SET_AVOIDANCE | API_SET_FILTER | API_SET_SNAP)

/// What one entry of a body says of an agent.
typedef struct api_agent_change {
    uint32_t given; ///< api_agent_member bits
    char id[NAV_ID_MAX + 1];
    nav_vec position, target;
    nav_crowd_agent agent; ///< members given; the others are not set. The filter is `filter`
    const cJSON *filter;   ///< NULL with API_SET_FILTER: null was given
    bool no_target, no_chase;
    char chased[NAV_ID_MAX + 1];
    nav_crowd_chase chase; ///< agent is not set

    // Of the call that applies it:
    api_agent_filter *interned;
    nav_crowd_id number;
    nav_crowd_agent before;
} api_agent_change;

typedef struct api_agent_rules {
    const api_mesh *mesh;
    const api_frame *frame;
    bool creates;  ///< `position` is needed, and defaults hold for what is missing
    bool names_id; ///< `id` may be given
    bool needs_id; ///< and must
} api_agent_rules;

/// Reads an agent. Members of a call are passed over with `in_call`.
/// @param objects  set where a position came as an object and `objects_known` does not say that one came before
bool api_agent_read_change(api_agent_change *change, const cJSON *value, const api_agent_rules *rules, bool in_call,
                           bool *objects, bool *objects_known, const api_place *place);

// agents_change.c

/// One request's changes. All or none are made.
typedef struct api_agents_changes {
    api_agents *agents;
    api_context *context;
    api_agent_change *list;
    uint32_t count;
    bool bulk; ///< pointers begin with "/agents/N"
    api_problem *problem;
} api_agents_changes;

bool api_agents_add_all(const api_agents_changes *changes);
bool api_agents_patch_all(const api_agents_changes *changes);
/// @param ids  list of strings; NULL: all there are
bool api_agents_remove_all(api_agents *agents, const cJSON *ids, api_problem *problem);

// agents_write.c

/// Writes states; to be zeroed but for what is said, and freed by api_agents_writer_deinit.
typedef struct api_agents_writer {
    api_agents *agents;
    const api_agents_view *view;
    api_json *out;
    api_positions positions;
    nav_vec *corners;
    uint32_t corner_cap;
} api_agents_writer;

api_agents_writer api_agents_writer_begin(api_agents *agents, const api_agents_view *view, api_json *out);
void api_agents_writer_deinit(api_agents_writer *writer);
/// An object.
void api_agents_write_one(api_agents_writer *writer, const api_agent *agent);
/// The list of those that changed after `version`; 0: of all.
void api_agents_write_list(api_agents_writer *writer, uint64_t version);
/// The list of ids removed after `version` that do not stand for another agent by now.
void api_agents_write_removed(const api_agents *agents, uint64_t version, api_json *out);
/// Is all known that happened since?
bool api_agents_knows(const api_agents *agents, uint64_t version);
/// The name of a field; NULL behind the last.
const char *api_agents_field_name(unsigned bit);

#endif
