/// One request -> one answer. No socket, thread or file: what the api needs from the process comes as
/// a struct of functions, so unit tests call it with no server at all.
#ifndef API_H
#define API_H

#include "agents.h"
#include "api_buffer.h"
#include "api_mesh.h"
#include "api_problem.h"
#include "editor.h"

typedef enum api_method {
    API_GET,
    API_HEAD,
    API_POST,
    API_PUT,
    API_PATCH,
    API_DELETE,
    API_OPTIONS,
    API_OTHER
} api_method;

/// Everything is borrowed from the server and stays valid until the answer is done. Header members are
/// NULL where the client sent none.
typedef struct api_request {
    api_method method;
    const char *path;  ///< NUL-terminated, percent-encoded as sent, no query string
    const char *query; ///< NUL-terminated raw query string without '?', NULL: none
    const char *body;  ///< NUL-terminated for safety; may hold NULs itself
    size_t body_bytes;
    const char *content_type, *accept, *if_match, *if_none_match, *last_event_id;
    const char *request_id; ///< NUL-terminated, as echoed
    bool may_change;        ///< the token, or the loopback rule, allows changes
    bool token_missing;     ///< with !may_change: 401 (a token is configured, none or a wrong one came), else 403
    uint64_t start_ns;      ///< when it arrived; with the host's clock
} api_request;

typedef struct api_response {
    int status;
    const char *content_type;   ///< static text
    const char *content_policy; ///< Content-Security-Policy, static text; NULL: none
    api_buffer body;            ///< owned by the response; the server takes body.data
    const char *route;          ///< static template for metrics: "/v1/meshes/{m}/path"
    const char *allow;          ///< Allow header, NULL: none
    int retry_after;            ///< seconds, 0: none
    uint64_t revision;          ///< ETag "<revision>", 0: none
    char location[160];         ///< empty: none
    void *stream;               ///< of api_agents_host.subscribe: sent behind the body; NULL: none
} api_response;

/// What the process knows of a mesh id.
typedef enum api_mesh_state { API_MESH_READY, API_MESH_LOADING, API_MESH_FAILED } api_mesh_state;
typedef struct api_mesh_entry {
    char id[NAV_ID_MAX + 1];
    const api_mesh *mesh; ///< a reference that api_host.release gives back; NULL: never loaded
    /// Of the newest attempt; a mesh that serves while a newer file is broken is READY with an error.
    api_mesh_state state;
    bool has_error; ///< the newest attempt failed
    char error_code[32];
    char error_detail[API_DETAIL_SIZE];
    int64_t error_at_ms;
    char source[256];
} api_mesh_entry;

/// One request's edits.
typedef struct api_edit_request {
    const api_change *changes;
    uint32_t count;
    bool listed;                   ///< as in api_editor_apply
    const char *if_match;          ///< NULL: whatever stands
    const struct api_place *place; ///< for problems
} api_edit_request;

/// Does the If-None-Match or If-Match text name this revision? "*" names any.
bool api_etag_matches(const char *list, uint64_t revision);

/// The process, as the api sees it. All functions may be called from any thread that has a context.
typedef struct api_host {
    void *ctx;
    uint64_t (*now_ns)(void *ctx);

    /// A reference to the mesh published under `id`; NULL: none. Never blocks for long.
    const api_mesh *(*acquire)(void *ctx, const char *id);
    void (*release)(void *ctx, const api_mesh *mesh);
    /// @return false: unknown id. entry->mesh must be released when not NULL.
    bool (*entry)(void *ctx, const char *id, api_mesh_entry *entry);
    /// Ids in alphabetical order: fills up to `cap` entries from `skip` on. @return how many there are in all
    size_t (*entries)(void *ctx, size_t skip, api_mesh_entry *entries, size_t cap);

    /// `mesh` (held by the caller) for an agent whose radius is larger by `difference`: of the same revision, to
    /// be given back by `release`. Such meshes are made in the background and kept for a while.
    /// @param wait  may block for a moment, and has one made that is not there
    /// @return NULL: `problem` says why; or it holds API_NO_PROBLEM: not yet, ask again with `wait`
    const api_mesh *(*shrunk)(void *ctx, const api_mesh *mesh, double difference, bool wait, api_problem *problem);

    // Changes. Called on job threads only; may block on files. On failure `problem` is filled.

    /// Publishes `mesh` under `id` (takes it over, also on failure). With `persist` the bytes are kept
    /// first (temporary file, fsync, rename; sidecar text beside it when not NULL), and nothing is
    /// published when that fails.
    bool (*put)(void *ctx, const char *id, api_mesh *mesh, const void *bytes, size_t size, const char *sidecar,
                bool persist, bool *created, api_problem *problem);
    /// Malloc'ed text of the mesh's sidecar in the folder, NULL: none.
    char *(*sidecar)(void *ctx, const char *id);
    bool (*remove)(void *ctx, const char *id, api_problem *problem);
    /// Re-reads the mesh's file now, whether it changed or not. A failure leaves the old one serving.
    bool (*reload)(void *ctx, const char *id, api_problem *problem);

    // Edits, on job threads too. One request's are applied by `edit`, then kept and published by `edit_commit`,
    // which does so for all that were applied meanwhile.

    /// Holds the changes against what stands on the mesh (with what was applied and not yet committed).
    /// @param edited  filled on success but for `mesh`, which the host keeps
    /// @param revision  that queries will see it in, or in a later one
    /// @return a ticket for edit_commit or edit_drop; NULL: request->place->problem says why
    void *(*edit)(void *ctx, const char *id, const api_edit_request *request, api_edited *edited, uint64_t *revision);
    /// After this the edits are on the disk and queries see them. Ends the ticket.
    /// @return false: nothing was changed, `problem` says why
    bool (*edit_commit)(void *ctx, void *ticket, api_problem *problem);
    /// Ends the ticket of a request that will not be answered.
    void (*edit_drop)(void *ctx, void *ticket);

    /// Prometheus text.
    void (*metrics)(void *ctx, api_buffer *out);
    bool (*ready)(void *ctx); ///< the folder has been read and no drain has begun
    bool (*draining)(void *ctx);
    /// Has the client of this request gone? Asked between chunks of long work. May be NULL.
    bool (*client_gone)(void *ctx, const api_request *request);
    api_agents_host agents;
} api_host;

typedef struct api_limits {
    size_t max_body;         ///< bytes of a mesh upload
    size_t max_query_body;   ///< bytes of any other body
    uint32_t max_depth;      ///< nesting of JSON
    uint32_t max_batch;      ///< queries in one batch
    uint32_t max_matrix;     ///< sources times targets of one matrix
    uint32_t max_nodes;      ///< search nodes of one path, and the largest max_nodes a caller may ask
    uint32_t max_agents;     ///< of one mesh
    uint32_t inline_nodes;   ///< search nodes on a serving thread before the rest goes to a worker
    uint32_t max_timeout_ms; ///< largest and default timeout_ms
} api_limits;

api_limits api_limits_default(void);

/// One per thread: search scratch and buffers that are reused.
typedef struct api_context api_context;
api_context *api_context_create(const api_host *host, const api_limits *limits);
void api_context_destroy(api_context *context);
/// The context's search scratch, for steps of agents: nothing interrupts its searches until the next request.
nav_query *api_context_query(api_context *context);

typedef struct api_task api_task;
typedef enum api_outcome {
    API_DONE,   ///< the response is filled
    API_WORKER, ///< too long for a serving thread: queue the task for a worker
    API_AGENTS, ///< about the agents of the mesh in the path: queue the task for a worker, and let tasks of this
                ///< kind for one mesh run one after another, in the order in which they came
    API_JOB     ///< may block on files or take seconds (changes to meshes): queue the task for a job thread
} api_outcome;

/// Body bytes allowed for this request; known from method and path alone, asked before the body is read.
size_t api_body_limit(const api_limits *limits, api_method method, const char *path);

/// Handles what is cheap at once; gives a task for what is not. `response` must be zeroed.
api_outcome api_begin(api_context *context, const api_request *request, api_response *response, api_task **task);

/// Runs a task, or its next chunk (about a millisecond), on a worker's or job thread's own context.
/// @return API_DONE: the response is filled, the task freed. API_WORKER: queue it again behind the others.
api_outcome api_task_run(api_task *task, api_context *context, api_response *response);

/// Frees a task that will not be run (drain, client gone).
void api_task_abandon(api_task *task, api_context *context);

/// The answer for a problem, for those the server finds itself (limits, overload, drain).
void api_respond_problem(api_response *response, const api_problem *problem, const char *request_id);

#endif
