/// From a request to its handler, and the tasks that handlers leave behind.
#include "api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "query_string.h"
#include "route.h"

static const char json_type[] = "application/json";

api_limits api_limits_default(void)
{
    return (api_limits){
        .max_body = (size_t)256 << 20,
        .max_query_body = (size_t)8 << 20,
        .max_depth = 16,
        .max_batch = 10000,
        .max_matrix = 1000000,
        .max_nodes = 5000000,
        .max_agents = 10000,
        .inline_nodes = 2000,
        .max_timeout_ms = 30000,
    };
}

api_context *api_context_create(const api_host *host, const api_limits *limits)
{
    api_context *context = calloc(1, sizeof *context);
    if (!context) {
        return NULL;
    }
    context->host = *host;
    context->limits = *limits;
    context->query = nav_query_create(NULL);
    if (!context->query) {
        free(context);
        return NULL;
    }
    return context;
}

void api_context_destroy(api_context *context)
{
    if (context) {
        nav_query_destroy(context->query);
        api_args_deinit(&context->args);
        free(context);
    }
}

nav_query *api_context_query(api_context *context)
{
    nav_query_set_interrupt(context->query, &(nav_interrupt){.stop = NULL});
    return context->query;
}

static bool out_of_time(void *ctx)
{
    const api_context *context = ctx;
    return api_now(context) >= context->deadline_ns;
}

void api_set_deadline(api_context *context, uint64_t deadline_ns)
{
    context->deadline_ns = deadline_ns;
    nav_query_set_interrupt(context->query, &(nav_interrupt){.stop = out_of_time, .ctx = context});
}

size_t api_body_limit(const api_limits *limits, api_method method, const char *path)
{
    api_route_ids ids;
    const api_route *route = api_route_find(path, &ids);
    if (route && route->put == api_mesh_put && method == API_PUT) {
        return limits->max_body;
    }
    bool single = route && route->kind && limits->max_query_body > route->kind->max_bytes;
    return single ? route->kind->max_bytes : limits->max_query_body;
}

/// A body that did not fit in memory is no answer.
static void check_body(api_response *response)
{
    if (response->body.failed) {
        api_buffer_free(&response->body);
        response->status = api_code_status(API_INTERNAL);
        response->revision = 0;
    }
}

void api_respond_problem(api_response *response, const api_problem *problem, const char *request_id)
{
    api_buffer_free(&response->body);
    api_json json = api_json_begin(&response->body);
    api_json_problem(&json, problem, request_id);
    response->status = api_code_status(problem->code);
    response->content_type = "application/problem+json";
    response->allow = problem->allow;
    response->retry_after = problem->retry_after;
    response->revision = 0;
    check_body(response);
}

api_outcome api_fail(api_call *call, const api_problem *problem)
{
    api_respond_problem(call->response, problem, call->request->request_id);
    return API_DONE;
}

api_outcome api_succeed(api_response *response, int status)
{
    response->status = status;
    if (!response->content_type && status != 204) {
        response->content_type = json_type;
    }
    check_body(response);
    return API_DONE;
}

api_task *api_task_create(const api_call *call, api_outcome (*run)(api_task *, api_context *, api_response *))
{
    api_task *task = calloc(1, sizeof *task);
    if (task) {
        task->run = run;
        task->request = call->request;
        task->route = call->route;
        memcpy(task->id, call->id, sizeof task->id);
        memcpy(task->item, call->item, sizeof task->item);
        task->deadline_ns = call->request->start_ns + (uint64_t)call->context->limits.max_timeout_ms * 1000000u;
    }
    return task;
}

void api_task_free(api_task *task, api_context *context)
{
    if (task->work) { // which may borrow the mesh
        task->free_work(task->work);
    }
    if (task->mesh) {
        context->host.release(context->host.ctx, task->mesh);
    }
    cJSON_Delete(task->question);
    api_buffer_free(&task->body);
    free(task);
}

api_outcome api_task_finish(api_task *task, api_context *context, api_response *response)
{
    response->body = task->body;
    task->body = (api_buffer){0};
    response->revision = task->mesh ? task->mesh->revision : 0;
    api_task_free(task, context);
    return api_succeed(response, 200);
}

api_outcome api_task_fail(api_task *task, api_context *context, api_response *response, const api_problem *problem)
{
    const char *request_id = task->request->request_id;
    api_task_free(task, context);
    api_respond_problem(response, problem, request_id);
    return API_DONE;
}

/// Why there is nothing to acquire.
static void explain_missing(api_context *context, const char *id, api_problem *problem)
{
    api_mesh_entry entry = {0};
    if (!context->host.entry(context->host.ctx, id, &entry)) {
        api_problem_set(problem, API_NOT_FOUND, "there is no mesh `%s`", id);
        return;
    }
    if (entry.mesh) { // published between the two looks
        context->host.release(context->host.ctx, entry.mesh);
    }
    if (entry.state == API_MESH_FAILED) {
        api_problem_set(problem, API_CONFLICT, "mesh `%s` could not be loaded: %.200s", id, entry.error_detail);
        return;
    }
    api_problem_set(problem, API_CONFLICT, "mesh `%s` is still being loaded", id);
    problem->retry_after = 1;
}

const api_mesh *api_acquire_mesh(api_context *context, const char *id, api_problem *problem)
{
    const api_mesh *mesh = context->host.acquire(context->host.ctx, id);
    if (!mesh) {
        explain_missing(context, id, problem);
    }
    return mesh;
}

static bool check_rights(const api_call *call, api_problem *problem)
{
    if (call->request->may_change || !api_route_changes(call->route, call->request->method)) {
        return true;
    }
    if (call->request->token_missing) {
        api_problem_set(problem, API_UNAUTHORIZED, "changes need the header `Authorization: Bearer …` with the token");
    } else {
        api_problem_set(problem, API_FORBIDDEN, "no token is configured, so changes are taken from this machine only");
    }
    return false;
}

/// An id that cannot be one names nothing; nothing new can be put under it.
static bool check_id(const api_call *call, const char *what, const char *id, size_t size, char to[NAV_ID_MAX + 1],
                     api_problem *problem)
{
    if (!id || (api_percent_decode(id, size, false, to, NAV_ID_MAX + 1) && api_id_valid(to, strlen(to)))) {
        return true;
    }
    int shown = size < 100 ? (int)size : 100;
    if (call->request->method == API_PUT) {
        api_problem_set(problem, API_BAD_REQUEST, "`%.*s` is no id: 1 to 64 of A-Z a-z 0-9 . _ - and no dot first",
                        shown, id);
    } else {
        api_problem_set(problem, API_NOT_FOUND, "there is no %s `%.*s`", what, shown, id);
    }
    return false;
}

static bool check_ids(api_call *call, const api_route_ids *ids, api_problem *problem)
{
    return check_id(call, "mesh", ids->at[0], ids->size[0], call->id, problem) &&
           check_id(call, "such thing as", ids->at[1], ids->size[1], call->item, problem);
}

/// Only some calls and uploads have parameters, and look at them themselves; elsewhere one is a mistake that
/// could cost a mesh.
static bool check_parameters(const api_call *call, api_problem *problem)
{
    const api_route *route = call->route;
    if (route->kind || route->parameters || (route->put == api_mesh_put && call->request->method == API_PUT) ||
        strncmp(route->pattern, "/v1/", strlen("/v1/")) != 0) {
        return true;
    }
    api_parameters parameters;
    api_parameters_init(&parameters, call->request->query);
    problem->code = API_NO_PROBLEM;
    if (api_parameters_next(&parameters, problem)) {
        char name[sizeof problem->parameter];
        snprintf(name, sizeof name, "%s", parameters.name);
        api_problem_set(problem, API_BAD_REQUEST, "unknown parameter `%s`: this call has none", name);
        memcpy(problem->parameter, name, sizeof name);
        api_parameters_deinit(&parameters);
    }
    return problem->code == API_NO_PROBLEM;
}

api_outcome api_begin(api_context *context, const api_request *request, api_response *response, api_task **task)
{
    *task = NULL;
    api_route_ids ids;
    const api_route *route = api_route_find(request->path, &ids);
    api_call call = {.context = context, .request = request, .response = response, .route = route, .task = task};
    api_problem problem;
    if (!route) {
        response->route = "other";
        api_problem_set(&problem, API_NOT_FOUND, "there is nothing at `%.200s`", request->path);
        return api_fail(&call, &problem);
    }
    response->route = route->pattern;
    if (request->method == API_OPTIONS) {
        response->allow = api_route_allow(route);
        return api_succeed(response, 204);
    }
    api_handler *handler = api_route_handler(route, request->method);
    if (!handler) {
        api_problem_set(&problem, API_METHOD_NOT_ALLOWED, "%s takes %s", route->pattern, api_route_allow(route));
        problem.allow = api_route_allow(route);
        return api_fail(&call, &problem);
    }
    if (!check_rights(&call, &problem) || !check_ids(&call, &ids, &problem) || !check_parameters(&call, &problem)) {
        return api_fail(&call, &problem);
    }
    return handler(&call);
}

api_outcome api_task_run(api_task *task, api_context *context, api_response *response)
{
    response->route = task->route->pattern;
    return task->run(task, context, response);
}

void api_task_abandon(api_task *task, api_context *context)
{
    api_task_free(task, context);
}
