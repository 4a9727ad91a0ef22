/// PUT, DELETE and reload. They run on job threads, where the host keeps changes of one mesh in order.
#include <stdio.h>
#include <stdlib.h>

#include "meshes.h"
#include "query_string.h"
#include "route.h"

static api_outcome start_job(api_call *call, api_outcome (*run)(api_task *, api_context *, api_response *))
{
    api_task *task = api_task_create(call, run);
    if (!task) {
        api_problem problem;
        api_problem_set(&problem, API_INTERNAL, "out of memory");
        return api_fail(call, &problem);
    }
    *call->task = task;
    return API_JOB;
}

/// Is the mesh still what the client thinks it is?
static bool check_if_match(const api_task *task, api_context *context, api_problem *problem)
{
    const char *list = task->request->if_match;
    if (!list) {
        return true;
    }
    const api_mesh *mesh = context->host.acquire(context->host.ctx, task->id);
    uint64_t revision = mesh ? mesh->revision : 0;
    bool holds = mesh && api_etag_matches(list, revision);
    if (mesh) {
        context->host.release(context->host.ctx, mesh);
    }
    if (!mesh) {
        api_problem_set(problem, API_CONFLICT, "If-Match does not hold: there is no mesh `%s`", task->id);
    } else if (!holds) {
        api_problem_set(problem, API_CONFLICT, "If-Match does not hold: mesh `%s` is at revision %llu", task->id,
                        (unsigned long long)revision);
    }
    return holds;
}

/// The summary of what the id now stands for. Frees the task.
static api_outcome finish_with_summary(api_task *task, api_context *context, api_response *response, int status)
{
    api_mesh_entry entry = {0};
    if (!context->host.entry(context->host.ctx, task->id, &entry)) {
        api_problem problem;
        api_problem_set(&problem, API_NOT_FOUND, "mesh `%s` was removed meanwhile", task->id);
        return api_task_fail(task, context, response, &problem);
    }
    api_json json = api_json_begin(&response->body);
    api_write_summary(&json, &entry);
    if (entry.mesh) {
        response->revision = entry.mesh->revision;
        context->host.release(context->host.ctx, entry.mesh);
    }
    if (status == 201) {
        snprintf(response->location, sizeof response->location, "/v1/meshes/%s", task->id);
    }
    api_task_free(task, context);
    return api_succeed(response, status);
}

/// What the upload's own parameters say; the others describe the mesh and go to its loader.
typedef struct upload_options {
    bool persist;
    char *format; ///< malloc'ed, NULL: by content
} upload_options;

static bool read_upload(const char *query, upload_options *upload, api_problem *problem)
{
    *upload = (upload_options){.persist = true};
    upload->format = api_parameter_find(query, "format", problem);
    if (!upload->format && problem->code != API_NO_PROBLEM) {
        return false;
    }
    char *persist = api_parameter_find(query, "persist", problem);
    bool known = !persist || strcmp(persist, "true") == 0 || strcmp(persist, "false") == 0;
    upload->persist = !persist || strcmp(persist, "true") == 0;
    bool failed = !persist && problem->code != API_NO_PROBLEM;
    free(persist);
    if (!known) {
        api_problem_set(problem, API_BAD_REQUEST, "`persist` must be true or false");
        snprintf(problem->parameter, sizeof problem->parameter, "persist");
    }
    if (!known || failed) {
        free(upload->format);
        return false;
    }
    return true;
}

static api_mesh *load(const api_task *task, api_context *context, const upload_options *upload, const char *sidecar,
                      api_problem *problem)
{
    const api_request *request = task->request;
    uint64_t start = api_now(context);
    api_mesh_source source = {.bytes = request->body,
                              .size = request->body_bytes,
                              .format = upload->format,
                              .sidecar = sidecar,
                              .params = request->query};
    api_mesh *mesh = api_mesh_load(&source, problem);
    if (mesh) {
        mesh->load_ms = (double)(api_now(context) - start) / 1e6;
    }
    return mesh;
}

/// Loads and publishes. What the parameters say of the mesh is kept in its sidecar, so that the file
/// loads the same way after a restart.
static bool put(const api_task *task, api_context *context, const upload_options *upload, bool *created,
                api_problem *problem)
{
    const api_host *host = &context->host;
    char *sidecar = host->sidecar(host->ctx, task->id);
    api_mesh *mesh = load(task, context, upload, sidecar, problem);
    bool good = false;
    if (mesh) {
        char *kept = upload->persist ? api_sidecar_merge(sidecar, task->request->query) : NULL;
        good = host->put(host->ctx, task->id, mesh, task->request->body, task->request->body_bytes, kept,
                         upload->persist, created, problem);
        free(kept);
    }
    free(sidecar);
    return good;
}

static api_outcome run_put(api_task *task, api_context *context, api_response *response)
{
    api_problem problem = {0};
    upload_options upload;
    if (!check_if_match(task, context, &problem) || !read_upload(task->request->query, &upload, &problem)) {
        return api_task_fail(task, context, response, &problem);
    }
    bool created = false;
    bool good = put(task, context, &upload, &created, &problem);
    free(upload.format);
    if (!good) {
        return api_task_fail(task, context, response, &problem);
    }
    return finish_with_summary(task, context, response, created ? 201 : 200);
}

api_outcome api_mesh_put(api_call *call)
{
    return start_job(call, run_put);
}

static api_outcome run_delete(api_task *task, api_context *context, api_response *response)
{
    api_problem problem = {0};
    if (!check_if_match(task, context, &problem) || !context->host.remove(context->host.ctx, task->id, &problem)) {
        return api_task_fail(task, context, response, &problem);
    }
    api_task_free(task, context);
    return api_succeed(response, 204);
}

api_outcome api_mesh_delete(api_call *call)
{
    return start_job(call, run_delete);
}

static api_outcome run_reload(api_task *task, api_context *context, api_response *response)
{
    api_problem problem = {0};
    if (!check_if_match(task, context, &problem) || !context->host.reload(context->host.ctx, task->id, &problem)) {
        return api_task_fail(task, context, response, &problem);
    }
    return finish_with_summary(task, context, response, 200);
}

api_outcome api_mesh_reload(api_call *call)
{
    return start_job(call, run_reload);
}
