/// The agents of one mesh, as the service knows them: navcore's crowd with ids, filters by name, and an account of
/// what changed when. Calls about them are in agents_calls.c; who steps them, and on which threads, is the host's
/// business.
///
/// @thread one at a time, for everything that is not said otherwise
#ifndef API_AGENTS_H
#define API_AGENTS_H

#include "api_buffer.h"
#include "api_mesh.h"
#include "nav_crowd.h"

#define API_TICK_HZ_MIN 0.1
#define API_TICK_HZ_MAX 240.0

typedef struct api_agents api_agents;

/// What is told of an agent; its id always is.
typedef enum api_agent_field {
    API_AGENT_POSITION = 1u << 0,
    API_AGENT_VELOCITY = 1u << 1,
    API_AGENT_YAW = 1u << 2,
    API_AGENT_MODE = 1u << 3, ///< `state`
    API_AGENT_TARGET = 1u << 4,
    API_AGENT_PATH = 1u << 5,
    API_AGENT_LINK = 1u << 6,
    API_AGENT_REMAINING = 1u << 7,
    API_AGENT_POLYGON = 1u << 8,
    API_AGENT_CHASE = 1u << 9,
    API_AGENT_RADIUS = 1u << 10,
    API_AGENT_HEIGHT = 1u << 11,
    API_AGENT_MAX_SPEED = 1u << 12,
    API_AGENT_MAX_ACCELERATION = 1u << 13,
    API_AGENT_STOPPING_DISTANCE = 1u << 14,
    API_AGENT_LINK_SPEED = 1u << 15,
    API_AGENT_AVOIDANCE = 1u << 16,
    API_AGENT_FILTER = 1u << 17,
    API_AGENT_SNAP = 1u << 18
} api_agent_field;
/// Where many agents are told of and nobody chooses.
#define API_AGENT_STATE                                                                                             \
    (API_AGENT_POSITION | API_AGENT_VELOCITY | API_AGENT_YAW | API_AGENT_MODE | API_AGENT_TARGET | API_AGENT_PATH | \
     API_AGENT_LINK)
#define API_AGENT_ALL ((API_AGENT_SNAP << 1) - 1)

/// How states are written.
typedef struct api_agents_view {
    uint32_t fields; ///< api_agent_field bits
    int precision;   ///< decimals; negative: the shortest that read back the same
    bool objects;    ///< positions as {"x":…}
    bool has_frame;  ///< else the mesh's
    api_frame frame;
} api_agents_view;

bool api_agents_view_equal(const api_agents_view *a, const api_agents_view *b);

typedef struct api_agents_options {
    uint32_t max_agents;
    /// Versions (of what the agents are) begin above this, so that one of an earlier crowd is never used again.
    uint64_t first_version;
    uint64_t *numbers; ///< counts the ids made; outlives the agents, so that none is made twice
} api_agents_options;

/// @param mesh  must stay until api_agents_set_mesh or api_agents_destroy
/// @return NULL: no memory
api_agents *api_agents_create(const api_agents_options *options, const api_mesh *mesh);
void api_agents_destroy(api_agents *agents);

uint32_t api_agents_count(const api_agents *agents);
size_t api_agents_memory_bytes(const api_agents *agents);

/// Another revision of the mesh serves: agents, their filters by name included, are carried over.
void api_agents_set_mesh(api_agents *agents, const api_mesh *mesh);
const api_mesh *api_agents_mesh(const api_agents *agents);

/// For steps; after one, api_agents_stepped is due.
nav_crowd *api_agents_crowd(api_agents *agents);
void api_agents_stepped(api_agents *agents);

/// Has anything changed since api_agents_told?
bool api_agents_news(const api_agents *agents);
/// Appends a server-sent event with what changed since api_agents_told; nothing where nothing did.
void api_agents_write_changes(api_agents *agents, const api_agents_view *view, api_buffer *out);
/// From here on later changes are news.
void api_agents_told(api_agents *agents);

/// Appends the first event of a stream: what changed since `version`, where that is known, else all there is.
/// Later events tell what is news by then, so there may be none when this is called.
/// @param version  0: none
void api_agents_write_first(api_agents *agents, const api_agents_view *view, uint64_t version, api_buffer *out);

/// How the server moves the agents of a mesh.
typedef struct api_agents_status {
    double tick_hz;         ///< 0: it waits for steps
    bool tick_hz_set;       ///< by a call; else it is what the mesh's settings say
    uint64_t ticks;         ///< steps that the server made
    uint64_t late, skipped; ///< of them begun late; not made at all because the one before still ran
    size_t subscribers;
} api_agents_status;

struct api_context;

/// The host's part. Used only by tasks of API_AGENTS, which it runs one after another for each mesh.
typedef struct api_agents_host {
    /// The agents of a mesh, on the revision that serves now; an empty crowd is made where there was none.
    /// @return NULL: there is no such mesh, or no memory
    api_agents *(*get)(void *ctx, const char *id);
    /// Steps them, on as many threads as the host likes, and tells who listens. @return false: `problem` says why
    bool (*step)(void *ctx, const char *id, double dt, struct api_context *context, api_problem *problem);
    /// Agents were made, changed or removed: tells who listens.
    void (*changed)(void *ctx, const char *id);
    void (*status)(void *ctx, const char *id, api_agents_status *status);
    /// @param tick_hz  negative: as the mesh's settings say
    void (*set_tick_hz)(void *ctx, const char *id, double tick_hz);
    /// A stream of events, to be sent as the body of the answer.
    /// @param first  the event before all others; taken over
    /// @return NULL: `problem` says why
    void *(*subscribe)(void *ctx, const char *id, const api_agents_view *view, api_buffer *first, api_problem *problem);
} api_agents_host;

#endif
