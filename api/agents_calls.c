/// Calls about agents. Each is a task that the host runs one after another for each mesh, on its workers.
#include <stdio.h>
#include <stdlib.h>

#include "agents_inside.h"
#include "number.h"
#include "route.h"

typedef api_outcome run_fn(api_task *task, api_context *context, api_response *response);

static api_outcome start(api_call *call, run_fn *run)
{
    api_task *task = api_task_create(call, run);
    if (!task) {
        api_problem problem;
        api_problem_set(&problem, API_INTERNAL, "out of memory");
        return api_fail(call, &problem);
    }
    *call->task = task;
    return API_AGENTS;
}

/// The agents of the mesh in the path.
/// @return NULL: `problem` says why
static api_agents *enter(const api_task *task, api_context *context, api_problem *problem)
{
    const api_host *host = &context->host;
    api_agents *agents = host->agents.get(host->ctx, task->id);
    if (!agents) {
        const api_mesh *mesh = api_acquire_mesh(context, task->id, problem);
        if (mesh) {
            host->release(host->ctx, mesh);
            api_problem_set(problem, API_INTERNAL, "out of memory");
        }
    }
    return agents;
}

/// The answer is in the task's body. Frees the task.
static api_outcome finish(api_task *task, api_context *context, api_response *response, const api_agents *agents,
                          int status)
{
    response->body = task->body;
    task->body = (api_buffer){0};
    response->revision = agents->mesh->revision;
    api_task_free(task, context);
    return api_succeed(response, status);
}

/// The arguments of a change are in its body, if it has any.
static bool check_query(const api_request *request, const api_place *place)
{
    api_place in_query = *place;
    in_query.query_string = true;
    return !request->query || !*request->query ||
           api_place_fail(&in_query, "", "this call takes no arguments in its query string");
}

static bool read_body(api_task *task, const api_context *context, const api_place *place)
{
    const api_request *request = task->request;
    if (!check_query(request, place)) {
        return false;
    }
    task->question = api_json_parse(request->body, request->body_bytes, context->limits.max_depth, place->problem);
    return task->question != NULL;
}

/// Reads the arguments of a call whose agents, if any, are in `agents`.
static bool read_call(api_task *task, const api_context *context, uint32_t allowed, api_agents_call *call,
                      api_problem *problem)
{
    api_place place = {.problem = problem};
    api_method method = task->request->method;
    if (method == API_GET || method == API_HEAD) {
        place.query_string = true;
        task->question = api_agents_query(task->request->query, allowed, &place);
        return task->question && api_agents_read_call(call, task->question, allowed, false, &place);
    }
    return read_body(task, context, &place) && api_agents_read_call(call, task->question, allowed, false, &place);
}

static void write_count(api_json *json, const char *name, uint64_t value)
{
    api_json_key(json, name);
    api_json_u64(json, value);
}

// Making and changing.

/// A body that makes or changes agents.
typedef struct change_body {
    api_agents_call call;
    api_agents_changes changes;
} change_body;

/// Reads the agents of the body, one or many.
static bool read_list(change_body *body, api_agent_rules *rules, const cJSON *question)
{
    api_agents_changes *changes = &body->changes;
    bool objects = false, known = body->call.given & API_CALL_VECTORS;
    const cJSON *entry = changes->bulk ? body->call.agents->child : question;
    rules->frame = body->call.view.has_frame ? &body->call.view.frame : &rules->mesh->frame;
    for (uint32_t i = 0; i < changes->count; i++, entry = entry->next) {
        api_place place = {.problem = changes->problem};
        if (changes->bulk) {
            snprintf(place.prefix, sizeof place.prefix, "/agents/%u", (unsigned)i);
        }
        if (!api_agent_read_change(&changes->list[i], entry, rules, !changes->bulk, &objects, &known, &place)) {
            return false;
        }
    }
    if (!(body->call.given & API_CALL_VECTORS)) {
        body->call.view.objects = objects;
    }
    return true;
}

/// @param id  of the one agent; NULL: the body says
static bool read_changes(api_task *task, api_context *context, change_body *body, api_agent_rules *rules,
                         const char *id)
{
    api_agents_changes *changes = &body->changes;
    const api_place place = {.problem = changes->problem};
    if (!read_body(task, context, &place)) {
        return false;
    }
    changes->bulk = !id && cJSON_GetObjectItemCaseSensitive(task->question, "agents");
    uint32_t allowed = API_CALL_FORM | (changes->bulk ? API_CALL_AGENTS : 0);
    if (!api_agents_read_call(&body->call, task->question, allowed, !changes->bulk, &place)) {
        return false;
    }
    changes->count = changes->bulk ? (uint32_t)cJSON_GetArraySize(body->call.agents) : 1;
    if (changes->count > changes->agents->max_agents) { // before there is room for what cannot be
        api_problem_set(changes->problem, API_TOO_LARGE, "a mesh holds at most %u agents",
                        (unsigned)changes->agents->max_agents);
        snprintf(changes->problem->pointer, sizeof changes->problem->pointer, "%s", changes->bulk ? "/agents" : "");
        return false;
    }
    changes->list = calloc(changes->count ? changes->count : 1, sizeof *changes->list);
    if (!changes->list) {
        api_problem_set(changes->problem, API_INTERNAL, "out of memory");
        return false;
    }
    if (id) {
        snprintf(changes->list->id, sizeof changes->list->id, "%s", id);
    }
    if (!changes->bulk && !body->call.has_fields) {
        body->call.view.fields = API_AGENT_ALL;
    }
    return read_list(body, rules, task->question);
}

/// The states of the agents that were made or changed.
static void write_changed(api_task *task, const change_body *body)
{
    const api_agents_changes *changes = &body->changes;
    api_json json = api_json_begin(&task->body);
    api_agents_writer writer = api_agents_writer_begin(changes->agents, &body->call.view, &json);
    if (changes->bulk) {
        api_json_open(&json, '{');
        api_json_key(&json, "agents");
        api_json_open(&json, '[');
    }
    for (uint32_t i = 0; i < changes->count; i++) {
        const api_agent *agent = api_agents_find_number(changes->agents, changes->list[i].number);
        api_agents_write_one(&writer, agent);
    }
    if (changes->bulk) {
        api_json_close(&json, ']');
        write_count(&json, "version", changes->agents->version);
        write_count(&json, "revision", changes->agents->mesh->revision);
        api_json_close(&json, '}');
    }
    api_agents_writer_deinit(&writer);
}

static api_outcome change(api_task *task, api_context *context, api_response *response, api_agent_rules *rules,
                          const char *id, bool (*apply)(const api_agents_changes *changes), int status)
{
    const api_host *host = &context->host;
    api_problem problem = {0};
    api_agents *agents = enter(task, context, &problem);
    if (!agents) {
        return api_task_fail(task, context, response, &problem);
    }
    change_body body = {.changes = {.agents = agents, .context = context, .problem = &problem}};
    rules->mesh = agents->mesh;
    bool good = read_changes(task, context, &body, rules, id) && apply(&body.changes);
    if (good) {
        write_changed(task, &body);
        if (status == 201 && !body.changes.bulk) {
            snprintf(response->location, sizeof response->location, "/v1/meshes/%s/agents/%s", task->id,
                     body.changes.list->id);
        }
        host->agents.changed(host->ctx, task->id);
    }
    free(body.changes.list);
    return good ? finish(task, context, response, agents, status) : api_task_fail(task, context, response, &problem);
}

static api_outcome run_create(api_task *task, api_context *context, api_response *response)
{
    api_agent_rules rules = {.creates = true, .names_id = true};
    return change(task, context, response, &rules, NULL, api_agents_add_all, 201);
}

api_outcome api_agents_add(api_call *call)
{
    return start(call, run_create);
}

static api_outcome run_patch_many(api_task *task, api_context *context, api_response *response)
{
    api_agent_rules rules = {.names_id = true, .needs_id = true};
    return change(task, context, response, &rules, NULL, api_agents_patch_all, 200);
}

api_outcome api_agents_patch(api_call *call)
{
    return start(call, run_patch_many);
}

static api_outcome run_patch(api_task *task, api_context *context, api_response *response)
{
    api_agent_rules rules = {0};
    return change(task, context, response, &rules, task->item, api_agents_patch_all, 200);
}

api_outcome api_agent_patch(api_call *call)
{
    return start(call, run_patch);
}

// Asking.

static api_outcome run_list(api_task *task, api_context *context, api_response *response)
{
    api_problem problem = {0};
    api_agents_call call;
    if (!read_call(task, context, API_CALL_FORM | API_CALL_SINCE, &call, &problem)) {
        return api_task_fail(task, context, response, &problem);
    }
    api_agents *agents = enter(task, context, &problem);
    if (!agents) {
        return api_task_fail(task, context, response, &problem);
    }
    uint64_t since = call.since && api_agents_knows(agents, call.since) ? call.since : 0;
    api_json json = api_json_begin(&task->body);
    api_agents_writer writer = api_agents_writer_begin(agents, &call.view, &json);
    api_json_open(&json, '{');
    api_json_key(&json, "agents");
    api_agents_write_list(&writer, since);
    if (call.given & API_CALL_SINCE) {
        api_json_key(&json, "removed");
        api_agents_write_removed(agents, since ? since : agents->version, &json);
    }
    api_json_key(&json, "full");
    api_json_bool(&json, !since);
    write_count(&json, "step", nav_crowd_steps(agents->crowd));
    write_count(&json, "version", agents->version);
    write_count(&json, "revision", agents->mesh->revision);
    api_json_close(&json, '}');
    api_agents_writer_deinit(&writer);
    return finish(task, context, response, agents, 200);
}

api_outcome api_agents_list(api_call *call)
{
    return start(call, run_list);
}

static api_outcome run_get(api_task *task, api_context *context, api_response *response)
{
    api_problem problem = {0};
    api_agents_call call;
    if (!read_call(task, context, API_CALL_FORM, &call, &problem)) {
        return api_task_fail(task, context, response, &problem);
    }
    api_agents *agents = enter(task, context, &problem);
    const api_agent *agent = agents ? api_agents_find(agents, task->item) : NULL;
    if (agents && !agent) {
        api_problem_set(&problem, API_NOT_FOUND, "there is no agent `%s`", task->item);
    }
    if (!agent) {
        return api_task_fail(task, context, response, &problem);
    }
    if (!call.has_fields) {
        call.view.fields = API_AGENT_ALL;
    }
    api_json json = api_json_begin(&task->body);
    api_agents_writer writer = api_agents_writer_begin(agents, &call.view, &json);
    api_agents_write_one(&writer, agent);
    api_agents_writer_deinit(&writer);
    return finish(task, context, response, agents, 200);
}

api_outcome api_agent_get(api_call *call)
{
    return start(call, run_get);
}

// Removing.

static api_outcome remove_agents(api_task *task, api_context *context, api_response *response, const cJSON *ids)
{
    const api_host *host = &context->host;
    api_problem problem = {0};
    api_agents *agents = enter(task, context, &problem);
    if (!agents || !api_agents_remove_all(agents, ids, &problem)) {
        return api_task_fail(task, context, response, &problem);
    }
    host->agents.changed(host->ctx, task->id);
    return finish(task, context, response, agents, 204);
}

/// Which ones must be said: a call that forgot to would remove them all.
static api_outcome run_delete_many(api_task *task, api_context *context, api_response *response)
{
    api_problem problem = {0};
    api_place place = {.problem = &problem};
    api_agents_call call = {0};
    const uint32_t allowed = API_CALL_AGENTS | API_CALL_ALL;
    const api_request *request = task->request;
    bool good;
    if (request->body_bytes > 0) {
        good = read_call(task, context, allowed, &call, &problem);
    } else {
        place.query_string = true;
        task->question = api_agents_query(request->query, allowed, &place);
        good = task->question && api_agents_read_call(&call, task->question, allowed, false, &place);
    }
    if (good && call.given != API_CALL_AGENTS && call.given != API_CALL_ALL) {
        good = api_place_fail(&place, "/agents", "say which: `agents`, a list of ids, or `all`=true");
    }
    return good ? remove_agents(task, context, response, call.agents)
                : api_task_fail(task, context, response, &problem);
}

api_outcome api_agents_delete(api_call *call)
{
    return start(call, run_delete_many);
}

static api_outcome run_delete(api_task *task, api_context *context, api_response *response)
{
    api_problem problem = {0};
    const api_place place = {.problem = &problem};
    if (!check_query(task->request, &place)) {
        return api_task_fail(task, context, response, &problem);
    }
    api_agents *agents = enter(task, context, &problem);
    if (agents && !api_agents_find(agents, task->item)) {
        api_problem_set(&problem, API_NOT_FOUND, "there is no agent `%s`", task->item);
        agents = NULL;
    }
    task->question = agents ? cJSON_CreateArray() : NULL;
    cJSON *id = task->question ? cJSON_CreateString(task->item) : NULL;
    if (agents && (!id || !cJSON_AddItemToArray(task->question, id))) {
        cJSON_Delete(id);
        api_problem_set(&problem, API_INTERNAL, "out of memory");
        agents = NULL;
    }
    return agents ? remove_agents(task, context, response, task->question)
                  : api_task_fail(task, context, response, &problem);
}

api_outcome api_agent_delete(api_call *call)
{
    return start(call, run_delete);
}

// Steps and settings.

static api_outcome run_step(api_task *task, api_context *context, api_response *response)
{
    const api_host *host = &context->host;
    api_problem problem = {0};
    api_agents_call call;
    if (!read_call(task, context, API_CALL_FORM | API_CALL_DT | API_CALL_CHANGED | API_CALL_ID, &call, &problem)) {
        return api_task_fail(task, context, response, &problem);
    }
    if (!(call.given & API_CALL_DT)) {
        const api_place place = {.problem = &problem};
        api_place_fail(&place, "/dt", "`dt` is missing");
        return api_task_fail(task, context, response, &problem);
    }
    api_agents *agents = enter(task, context, &problem);
    uint64_t before = agents ? agents->version : 0;
    if (!agents || !host->agents.step(host->ctx, task->id, call.dt, context, &problem)) {
        return api_task_fail(task, context, response, &problem);
    }
    api_json json = api_json_begin(&task->body);
    api_agents_writer writer = api_agents_writer_begin(agents, &call.view, &json);
    api_json_open(&json, '{');
    api_json_key(&json, "agents");
    api_agents_write_list(&writer, call.changed ? before : 0);
    write_count(&json, "step", nav_crowd_steps(agents->crowd));
    api_args_echo_id(&json, call.id);
    api_json_close(&json, '}');
    api_agents_writer_deinit(&writer);
    return finish(task, context, response, agents, 200);
}

api_outcome api_agents_step(api_call *call)
{
    return start(call, run_step);
}

static api_outcome finish_settings(api_task *task, api_context *context, api_response *response,
                                   const api_agents *agents)
{
    const api_host *host = &context->host;
    api_agents_status status = {0};
    host->agents.status(host->ctx, task->id, &status);
    api_json json = api_json_begin(&task->body);
    api_json_open(&json, '{');
    api_json_key(&json, "tick_hz");
    api_json_double(&json, status.tick_hz);
    api_json_key(&json, "tick_hz_from");
    api_json_word(&json, status.tick_hz_set ? "call" : "mesh");
    write_count(&json, "agents", agents->live);
    write_count(&json, "max_agents", agents->max_agents);
    write_count(&json, "memory_bytes", api_agents_memory_bytes(agents));
    write_count(&json, "subscribers", status.subscribers);
    write_count(&json, "step", nav_crowd_steps(agents->crowd));
    write_count(&json, "ticks", status.ticks);
    write_count(&json, "late_ticks", status.late);
    write_count(&json, "skipped_ticks", status.skipped);
    write_count(&json, "version", agents->version);
    write_count(&json, "revision", agents->mesh->revision);
    api_json_close(&json, '}');
    return finish(task, context, response, agents, 200);
}

static api_outcome run_settings(api_task *task, api_context *context, api_response *response)
{
    api_problem problem = {0};
    const api_agents *agents = enter(task, context, &problem);
    return agents ? finish_settings(task, context, response, agents) : api_task_fail(task, context, response, &problem);
}

api_outcome api_agents_settings(api_call *call)
{
    return start(call, run_settings);
}

static api_outcome run_set(api_task *task, api_context *context, api_response *response)
{
    const api_host *host = &context->host;
    api_problem problem = {0};
    api_agents_call call;
    if (!read_call(task, context, API_CALL_TICK_HZ, &call, &problem)) {
        return api_task_fail(task, context, response, &problem);
    }
    const api_agents *agents = enter(task, context, &problem);
    if (!agents) {
        return api_task_fail(task, context, response, &problem);
    }
    if (call.given & API_CALL_TICK_HZ) {
        host->agents.set_tick_hz(host->ctx, task->id, call.tick_hz);
    }
    return finish_settings(task, context, response, agents);
}

api_outcome api_agents_set(api_call *call)
{
    return start(call, run_set);
}

// Events.

/// The version that `Last-Event-ID` names; 0: none.
static uint64_t last_version(const char *text)
{
    double value = 0;
    bool whole = text && api_number_parse(text, strlen(text), &value) == API_NUMBER_OK && value >= 1 &&
                 value < 9007199254740992.0;
    return whole ? (uint64_t)value : 0;
}

static api_outcome run_events(api_task *task, api_context *context, api_response *response)
{
    const api_host *host = &context->host;
    const api_request *request = task->request;
    api_problem problem = {0};
    api_agents_call call;
    if (!read_call(task, context, API_CALL_FORM, &call, &problem)) {
        return api_task_fail(task, context, response, &problem);
    }
    api_agents *agents = enter(task, context, &problem);
    if (!agents) {
        return api_task_fail(task, context, response, &problem);
    }
    response->content_type = "text/event-stream";
    if (request->method != API_HEAD) {
        api_buffer first = {0};
        api_agents_write_first(agents, &call.view, last_version(request->last_event_id), &first);
        response->stream = host->agents.subscribe(host->ctx, task->id, &call.view, &first, &problem);
        if (!response->stream) {
            response->content_type = NULL;
            return api_task_fail(task, context, response, &problem);
        }
    }
    return finish(task, context, response, agents, 200);
}

api_outcome api_agents_events(api_call *call)
{
    return start(call, run_events);
}
