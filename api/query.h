/// Queries: one question to one mesh.
#ifndef API_QUERY_H
#define API_QUERY_H

#include "context.h"

/// Bytes of one question: it needs a few hundred, and a tree is built of it.
#define API_QUESTION_MAX ((size_t)262144)
/// Of one that has lists of positions.
#define API_LONG_QUESTION_MAX ((size_t)1048576)

typedef enum api_verdict {
    API_ANSWERED,
    API_POSTPONED, ///< more search nodes than the budget: ask again on a worker. Nothing was written
    API_REFUSED    ///< the problem says why. Nothing was written
} api_verdict;

/// What a kind of query needs to answer.
typedef struct api_ask {
    api_context *context;
    const api_mesh *mesh;
    const api_args *args;
    uint32_t node_budget; ///< search nodes before API_POSTPONED; 0: as many as the arguments allow
    api_json *out;
    api_problem *problem;
} api_ask;

typedef struct api_query_kind {
    const char *name;           ///< last part of its path, and its `type` in a batch
    uint32_t required, allowed; ///< api_arg bits
    uint32_t max_count;         ///< largest `count`
    size_t max_bytes;           ///< of a question's body
    /// Writes the members of the answer, `status` first, into an open object.
    api_verdict (*answer)(const api_ask *ask);
    /// Answers one that was postponed in chunks, as a task's `run`. NULL: `answer` does it in one.
    api_outcome (*run)(api_task *task, api_context *context, api_response *response);
} api_query_kind;

extern const api_query_kind api_nearest, api_height, api_path, api_raycast, api_wall, api_move, api_reachable,
    api_random, api_pick, api_matrix;

/// The kinds; NULL behind their end.
const api_query_kind *api_query_kind_at(size_t index);
/// A kind by its name; NULL: unknown.
const api_query_kind *api_query_kind_find(const char *name);

/// One question from its JSON to its answer.
typedef struct api_inquiry {
    const api_query_kind *kind;
    const api_mesh *mesh;
    const cJSON *question, *defaults; ///< defaults may be NULL
    const char *ignored;              ///< a member that is no argument, NULL: none
    const api_place *place;           ///< its problem is filled on API_REFUSED
    uint32_t node_budget;
    uint64_t start_ns;  ///< `timeout_ms` counts from here
    uint64_t latest_ns; ///< and nothing goes on after this
} api_inquiry;

/// Reads the arguments into the context, and lets its searches stop when their time is over.
bool api_inquiry_read(api_context *context, const api_inquiry *inquiry);

/// The mesh for the agent whose radius was read last: `mesh` itself, or one shrunk for it.
/// @param wait  on a worker; elsewhere only one that is there already is given
/// @param fit   another than `mesh` must be given back by host.release
/// @return API_POSTPONED: it is being made, ask again on a worker
api_verdict api_fit_mesh(api_context *context, const api_mesh *mesh, bool wait, const api_mesh **fit,
                         api_problem *problem);

/// The inquiry of a task: its question, which is read here where it is the body of a POST that came unread.
/// @return false: `place` has the problem
bool api_task_inquiry(api_task *task, api_context *context, api_inquiry *inquiry, api_place *place);

/// Appends the whole answer object.
api_verdict api_inquire(api_context *context, const api_inquiry *inquiry, api_json *out);

/// Checks a POST before its body is read: its size, and that there are no arguments beside it.
bool api_check_body(const api_call *call, size_t max_bytes, const api_place *place);

/// Would a search over all of the mesh be too much for a serving thread?
bool api_too_large(const api_ask *ask);

/// Lets a search on a serving thread have but a moment, where the mesh is large.
/// @return when the time of the question itself is over, for api_give_up
uint64_t api_take_slice(const api_ask *ask);
/// After a search that failed: API_POSTPONED where only its moment was over, else as api_refuse.
api_verdict api_give_up(const api_ask *ask, nav_status status, uint64_t deadline_ns);

/// Turns a failed status of navcore into a problem.
void api_tell_status(api_problem *problem, nav_status status);
/// The same for an answer.
/// @return API_REFUSED
api_verdict api_refuse(const api_ask *ask, nav_status status);

/// `point`, `distance`, `polygon` … of a place, as members.
void api_write_place(const api_ask *ask, const nav_place *place);
/// A member with one position.
void api_write_position(const api_ask *ask, const char *name, nav_vec position);
/// A member with one number.
void api_write_number(const api_ask *ask, const char *name, double value);
/// `area` and `flags` of the surface at a place, as members.
void api_write_surface_kind(const api_ask *ask, const nav_place *place);
/// A member with a list of polygon numbers.
void api_write_polygons(const api_ask *ask, const char *name, const uint32_t *polygons, uint32_t count);

#endif
