/// A process for the api to live in: meshes in a small table, a clock that the test turns, and calls
/// counted. One thread.
#ifndef FAKE_HOST_H
#define FAKE_HOST_H

#include "api.h"

#define FAKE_MESHES 8

typedef struct fake_mesh {
    char id[NAV_ID_MAX + 1];
    api_mesh *mesh; ///< NULL: never loaded
    api_mesh_state state;
    bool has_error;
    char *sidecar;      ///< as persisted, NULL: none
    api_agents *agents; ///< NULL: none asked for yet
    double tick_hz;     ///< set by a call; negative: none
    api_editor *editor; ///< NULL: nothing was edited yet
    api_mesh *pending;  ///< applied and not committed
    uint64_t pending_revision;
} fake_mesh;

typedef struct fake_host {
    api_host host;     ///< to be given to the api
    api_limits limits; ///< the defaults; change them before fake_host_start
    api_context *context;
    fake_mesh meshes[FAKE_MESHES];
    size_t count;
    uint64_t now_ns, step_ns; ///< every look at the clock moves it by step_ns
    int references;           ///< acquired and not given back
    uint64_t last_revision;
    bool ready, draining, client_gone;
    bool may_change, token_missing; ///< of the requests made by fake_ask
    const char *accept, *if_match, *if_none_match;
    const char *last_event_id;
    uint64_t agent_numbers;
    uint64_t first_version;                ///< of agents
    uint32_t step_share;                   ///< agents stepped at a time; 0: all
    int told;                              ///< how often who listens was told
    api_buffer stream;                     ///< first event of the newest stream
    api_agents_view view;                  ///< and how it is written
    int persisted;                         ///< uploads that were to be kept
    int worker_runs, job_runs, agent_runs; ///< how often a task ran, by what queue
    int64_t wall_ms;                       ///< Unix time, for edits
    api_mesh *shrunk;                      ///< the one for larger agents that was asked for last
    int shrink_after;                      ///< so often it is not there yet
    bool storage_full;                     ///< edits cannot be committed
    int tickets;                           ///< given and not ended
    char log[1024];                        ///< what the last edits would add to a log
} fake_host;

/// Fills the table of functions; ready, changes allowed, no meshes.
void fake_host_init(fake_host *fake);
/// Makes the context. @return false when out of memory
bool fake_host_start(fake_host *fake);
/// Frees everything. @return references that were never given back; meshes that hold some are leaked
int fake_host_deinit(fake_host *fake);

/// Loads a mesh from the text of a file. @return NULL with `problem` filled
const api_mesh *fake_host_load(fake_host *fake, const char *id, const char *text, const char *params,
                               api_problem *problem);
/// An id without a mesh: LOADING, or FAILED with an error.
void fake_host_add_empty(fake_host *fake, const char *id, api_mesh_state state);

/// One request, its tasks run to the end.
/// @param target  path, with '?' and a query string or without
/// @param body    NUL-terminated, NULL: none
/// @return the answer; its body is NUL-terminated (the NUL not counted), to be freed by api_buffer_free
api_response fake_ask(fake_host *fake, api_method method, const char *target, const char *body);
/// The same for bodies with NULs.
api_response fake_ask_bytes(fake_host *fake, api_method method, const char *target, const void *body, size_t size);

#endif
