/// Queries: one question to one mesh.
#ifndef API_QUERY_H
#define API_QUERY_H

#include "context.h"

/// Bytes of one question: it needs a few hundred, and a tree is built of it.
#define API_QUESTION_MAX ((size_t)262144)

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
    /// Writes the members of the answer, `status` first, into an open object.
    api_verdict (*answer)(const api_ask *ask);
} api_query_kind;

extern const api_query_kind api_nearest, api_height, api_path, api_raycast;

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

/// Appends the whole answer object.
api_verdict api_inquire(api_context *context, const api_inquiry *inquiry, api_json *out);

/// Checks a POST before its body is read: its size, and that there are no arguments beside it.
bool api_check_body(const api_call *call, size_t max_bytes, const api_place *place);

/// Turns a failed status of navcore into a problem.
/// @return API_REFUSED
api_verdict api_refuse(const api_ask *ask, nav_status status);

/// `point`, `distance`, `polygon` … of a place, as members.
void api_write_place(const api_ask *ask, const nav_place *place);
/// `area` and `flags` of a polygon, as members.
void api_write_polygon_kind(const api_ask *ask, uint32_t polygon);
/// A member with a list of polygon numbers.
void api_write_polygons(const api_ask *ask, const char *name, const uint32_t *polygons, uint32_t count);

#endif
