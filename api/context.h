/// What the api's own files share about one request: contexts, calls and tasks.
#ifndef API_CONTEXT_H
#define API_CONTEXT_H

#include <cjson/cJSON.h>

#include "api.h"
#include "args.h"
#include "json_stream.h"
#include "nav_query.h"

struct api_context {
    api_host host;
    api_limits limits;
    nav_query *query;
    api_args args;                   ///< of the question being answered
    nav_place places[API_COUNT_MAX]; ///< its surfaces
    uint64_t deadline_ns;            ///< when its search must stop
};

typedef struct api_route api_route;

/// One request on its way through a handler.
typedef struct api_call {
    api_context *context;
    const api_request *request;
    api_response *response;
    const api_route *route;
    char id[NAV_ID_MAX + 1];   ///< of the mesh in the path, empty where the route has none
    char item[NAV_ID_MAX + 1]; ///< of the thing of the mesh, likewise
    api_task **task;           ///< where a handler leaves the task it made
} api_call;

typedef api_outcome api_handler(api_call *call);

/// Work that outlives api_begin. Everything in it is freed by api_task_free.
struct api_task {
    api_outcome (*run)(api_task *task, api_context *context, api_response *response);
    const api_request *request;
    const api_route *route;
    char id[NAV_ID_MAX + 1], item[NAV_ID_MAX + 1];
    const api_mesh *mesh; ///< a reference; NULL: none
    cJSON *question;      ///< NULL: none; of a batch, its members but for the queries
    api_buffer body;      ///< the answer so far
    uint64_t deadline_ns;
    bool from_query;        ///< the question came as a query string,
    bool from_query_filter; ///< with a filter of its own (api_place.query_filter)
    uint32_t phase, next;   ///< where the next chunk goes on
    api_stream text;        ///< of a batch's body, before the next of its queries
    api_stream_list list;   ///< those queries
    uint32_t count;         ///< of them all
    void *work;             ///< of a query that is answered in chunks, freed by free_work; NULL: none
    void (*free_work)(void *work);
};

/// @return NULL when out of memory
api_task *api_task_create(const api_call *call, api_outcome (*run)(api_task *, api_context *, api_response *));
void api_task_free(api_task *task, api_context *context);

/// Moves the task's body into the response: 200, JSON, the mesh's revision. Frees the task.
api_outcome api_task_finish(api_task *task, api_context *context, api_response *response);
/// Answers with a problem and frees the task.
api_outcome api_task_fail(api_task *task, api_context *context, api_response *response, const api_problem *problem);

/// Answers with a problem.
/// @return API_DONE
api_outcome api_fail(api_call *call, const api_problem *problem);
/// Marks what is in the response's body as the answer.
api_outcome api_succeed(api_response *response, int status);

/// The mesh that the path names, as a reference to be given back by host.release.
/// @return NULL: `problem` says why (404; 409 while it is loaded for the first time)
const api_mesh *api_acquire_mesh(api_context *context, const char *id, api_problem *problem);

/// Media type of the answer to the question that was read last.
static inline const char *api_answer_type(const api_context *context)
{
    return context->args.geojson ? "application/geo+json" : "application/json";
}

/// Nanoseconds of the host's clock.
static inline uint64_t api_now(const api_context *context)
{
    return context->host.now_ns(context->host.ctx);
}

/// From here on the context's searches stop at this time.
void api_set_deadline(api_context *context, uint64_t deadline_ns);

static inline bool api_client_gone(const api_context *context, const api_request *request)
{
    return context->host.client_gone && context->host.client_gone(context->host.ctx, request);
}

#endif
