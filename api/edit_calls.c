/// The calls about obstacles, regions and links. Changes run on job threads: once to be applied, then once
/// more to be committed together with what others applied meanwhile.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edit_json.h"
#include "meshes.h"
#include "query_string.h"
#include "route.h"

/// Longer lists are printed by a worker.
#define INLINE_EDITS 200

/// A request's changes on their way.
typedef struct edit_work {
    api_host host;
    void *ticket; ///< NULL: not applied, or committed
    int status;   ///< of the answer
    uint64_t revision;
    char location[160];
} edit_work;

static void free_work(void *work)
{
    edit_work *w = work;
    if (w->ticket) {
        w->host.edit_drop(w->host.ctx, w->ticket);
    }
    free(w);
}

static api_edit_kind kind_of(const char *pattern)
{
    int kind = API_OBSTACLE;
    while (kind < API_LINK && !strstr(pattern, api_edit_kind_plural((api_edit_kind)kind))) {
        kind++;
    }
    return (api_edit_kind)kind;
}

// Looking.

static void write_list(api_json *json, const api_mesh *mesh, api_edit_kind kind)
{
    const api_edit_terms terms = api_edit_terms_of(mesh);
    api_json_open(json, '{');
    api_json_key(json, api_edit_kind_plural(kind));
    api_json_open(json, '[');
    api_edit_both both = api_edit_both_walk(&mesh->ground->items, &mesh->edits, kind);
    for (const api_edit *edit; (edit = api_edit_both_next(&both)) && edit->kind == kind;) {
        api_json_open(json, '{');
        api_edit_write(json, &terms, edit);
        api_json_close(json, '}');
    }
    api_json_close(json, ']');
    api_json_key(json, "revision");
    api_json_u64(json, mesh->revision);
    api_json_close(json, '}');
}

static api_outcome run_list(api_task *task, api_context *context, api_response *response)
{
    api_json json = api_json_begin(&task->body);
    write_list(&json, task->mesh, kind_of(task->route->pattern));
    return api_task_finish(task, context, response);
}

api_outcome api_edit_list(api_call *call)
{
    const api_host *host = &call->context->host;
    api_problem problem = {0};
    const api_mesh *mesh = api_acquire_mesh(call->context, call->id, &problem);
    if (!mesh) {
        return api_fail(call, &problem);
    }
    if (api_not_modified(call, mesh)) {
        host->release(host->ctx, mesh);
        return API_DONE;
    }
    api_edit_kind kind = kind_of(call->route->pattern);
    if (mesh->ground->items.counts[kind] + mesh->edits.counts[kind] > INLINE_EDITS) {
        api_task *task = api_task_create(call, run_list);
        if (task) {
            task->mesh = mesh;
            *call->task = task;
            return API_WORKER;
        }
    }
    api_json json = api_json_begin(&call->response->body);
    write_list(&json, mesh, kind);
    call->response->revision = mesh->revision;
    host->release(host->ctx, mesh);
    return api_succeed(call->response, 200);
}

static void write_one(api_json *json, const api_edit_terms *terms, const api_edit *edit, uint64_t revision)
{
    api_json_open(json, '{');
    api_edit_write(json, terms, edit);
    api_json_key(json, "revision");
    api_json_u64(json, revision);
    api_json_close(json, '}');
}

api_outcome api_edit_get(api_call *call)
{
    const api_host *host = &call->context->host;
    api_problem problem = {0};
    const api_mesh *mesh = api_acquire_mesh(call->context, call->id, &problem);
    if (!mesh) {
        return api_fail(call, &problem);
    }
    api_edit_kind kind = kind_of(call->route->pattern);
    const api_edit *edit = api_edit_set_find(&mesh->edits, kind, call->item);
    edit = edit ? edit : api_edit_set_find(&mesh->ground->items, kind, call->item);
    if (!edit) {
        api_problem_set(&problem, API_NOT_FOUND, "there is no %s `%s`", api_edit_kind_name(kind), call->item);
        api_fail(call, &problem);
    } else if (!api_not_modified(call, mesh)) {
        const api_edit_terms terms = api_edit_terms_of(mesh);
        api_json json = api_json_begin(&call->response->body);
        write_one(&json, &terms, edit, mesh->revision);
        call->response->revision = mesh->revision;
        api_succeed(call->response, 200);
    }
    host->release(host->ctx, mesh);
    return API_DONE;
}

// Changing.

/// The list of a body: an array, or an object of `edits`. @param prefix  JSON Pointer of the list
static const cJSON *find_list(const cJSON *body, char prefix[48], const api_place *place)
{
    prefix[0] = '\0';
    if (cJSON_IsArray(body)) {
        return body;
    }
    for (const cJSON *m = cJSON_IsObject(body) ? body->child : NULL; m; m = m->next) {
        if (strcmp(m->string, "edits") != 0) {
            char pointer[96];
            api_pointer_join(pointer, sizeof pointer, "", m->string);
            api_place_fail(place, pointer, "unknown member `%.40s`: a list of edits has `edits`", m->string);
            return NULL;
        }
    }
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(body, "edits");
    if (!cJSON_IsArray(list)) {
        api_place_fail(place, list ? "/edits" : "", "must be a list of edits");
        return NULL;
    }
    snprintf(prefix, 48, "/edits");
    return list;
}

/// What a request asks for.
typedef struct edit_order {
    api_change *changes; ///< [count], each to be deinitialised
    uint32_t count;
    api_edit_terms terms;
} edit_order;

static void order_deinit(edit_order *order)
{
    for (uint32_t i = 0; i < order->count; i++) {
        api_change_deinit(&order->changes[i]);
    }
    free(order->changes);
}

static bool order_reserve(edit_order *order, size_t count, const api_place *place)
{
    order->changes = calloc(count + 1, sizeof *order->changes);
    if (!order->changes) {
        api_problem_set(place->problem, API_INTERNAL, "out of memory");
    }
    return order->changes != NULL;
}

static bool read_list(edit_order *order, const cJSON *body, const api_context *context, api_place *place)
{
    char prefix[sizeof place->prefix];
    const cJSON *list = find_list(body, prefix, place);
    if (!list) {
        return false;
    }
    memcpy(place->prefix, prefix, sizeof prefix);
    size_t count = (size_t)cJSON_GetArraySize(list);
    if (count > context->limits.max_batch) {
        return api_place_fail(place, "", "more than %u edits in one request", (unsigned)context->limits.max_batch);
    }
    if (!order_reserve(order, count, place)) {
        return false;
    }
    for (const cJSON *entry = list->child; entry; entry = entry->next) {
        char pointer[16];
        snprintf(pointer, sizeof pointer, "/%u", (unsigned)order->count);
        if (!api_change_read_entry(&order->changes[order->count], &order->terms, entry, pointer, place)) {
            return false;
        }
        order->count++;
    }
    return true;
}

/// Objects as positions are answered with such.
static bool asks_objects(const cJSON *value)
{
    const cJSON *position = cJSON_GetObjectItemCaseSensitive(value, "center");
    position = position ? position : cJSON_GetObjectItemCaseSensitive(value, "start");
    return cJSON_IsObject(position);
}

static bool read_order(edit_order *order, const api_task *task, const api_context *context, api_place *place)
{
    const api_request *request = task->request;
    bool many = strstr(task->route->pattern, "/edits") != NULL;
    api_edit_kind kind = kind_of(task->route->pattern);
    if (request->method == API_DELETE) {
        if (!order_reserve(order, 1, place)) {
            return false;
        }
        order->changes[0] = (api_change){.op = API_EDIT_REMOVE, .kind = kind};
        memcpy(order->changes[0].id, task->item, sizeof task->item);
        order->count = 1;
        return true;
    }
    cJSON *body = api_json_parse(request->body, request->body_bytes, context->limits.max_depth, place->problem);
    bool good = body != NULL;
    if (good && many) {
        good = read_list(order, body, context, place);
    } else if (good) {
        good =
            order_reserve(order, 1, place) && api_change_read(&order->changes[0], &order->terms, kind,
                                                              task->item[0] ? task->item : NULL, body, NULL, "", place);
        if (good) {
            order->count = 1;
            order->changes[0].op = request->method == API_POST ? API_EDIT_ADD : API_EDIT_PUT;
            order->terms.objects = asks_objects(body);
        }
    }
    cJSON_Delete(body);
    return good;
}

static void write_results(api_json *json, const api_edited *edited, uint64_t revision)
{
    api_json_open(json, '{');
    api_json_key(json, "results");
    api_json_open(json, '[');
    for (uint32_t i = 0; i < edited->count; i++) {
        const api_changed *c = &edited->changes[i];
        api_json_open(json, '{');
        api_json_key(json, "type");
        api_json_word(json, api_edit_kind_name(c->kind));
        api_json_key(json, "id");
        api_json_word(json, c->id);
        api_json_key(json, "status");
        api_json_word(json, !c->edit ? "removed" : c->created ? "created" : "changed");
        if (c->edit) {
            api_json_key(json, "touches");
            api_json_bool(json, !c->edit->idle);
        }
        api_json_close(json, '}');
    }
    api_json_close(json, ']');
    api_json_key(json, "revision");
    api_json_u64(json, revision);
    api_json_close(json, '}');
}

/// Prints the answer before it is known to hold; it is given only then.
static void prepare(api_task *task, edit_work *w, const edit_order *order, const api_edited *edited)
{
    api_json json = api_json_begin(&task->body);
    const api_changed *first = edited->changes;
    if (strstr(task->route->pattern, "/edits")) {
        write_results(&json, edited, w->revision);
        w->status = 200;
    } else if (!first->edit) {
        w->status = 204;
    } else {
        write_one(&json, &order->terms, first->edit, w->revision);
        w->status = first->created ? 201 : 200;
        if (first->created) {
            snprintf(w->location, sizeof w->location, "/v1/meshes/%s/%s/%s", task->id,
                     api_edit_kind_plural(first->kind), first->id);
        }
    }
}

static bool apply(api_task *task, const api_context *context, edit_work *w, api_problem *problem)
{
    api_place place = {.problem = problem};
    edit_order order = {.terms = api_edit_terms_of(task->mesh)};
    api_edited edited = {0};
    bool good = read_order(&order, task, context, &place);
    if (good) {
        const api_edit_request request = {.changes = order.changes,
                                          .count = order.count,
                                          .listed = strstr(task->route->pattern, "/edits") != NULL,
                                          .if_match = task->request->if_match,
                                          .place = &place};
        w->ticket = context->host.edit(context->host.ctx, task->id, &request, &edited, &w->revision);
        good = w->ticket != NULL;
    }
    if (good) {
        prepare(task, w, &order, &edited);
    }
    order_deinit(&order);
    api_edited_deinit(&edited);
    return good;
}

static api_outcome run_commit(api_task *task, api_context *context, api_response *response)
{
    edit_work *w = task->work;
    api_problem problem = {0};
    void *ticket = w->ticket;
    w->ticket = NULL;
    if (!context->host.edit_commit(context->host.ctx, ticket, &problem)) {
        return api_task_fail(task, context, response, &problem);
    }
    response->body = task->body;
    task->body = (api_buffer){0};
    response->revision = w->revision;
    memcpy(response->location, w->location, sizeof response->location);
    int status = w->status;
    api_task_free(task, context);
    return api_succeed(response, status);
}

static api_outcome run_apply(api_task *task, api_context *context, api_response *response)
{
    api_problem problem = {0};
    edit_work *w = task->work;
    task->mesh = api_acquire_mesh(context, task->id, &problem);
    if (!task->mesh || !apply(task, context, w, &problem)) {
        return api_task_fail(task, context, response, &problem);
    }
    // The mesh named the areas; held any longer it would only keep its memory.
    context->host.release(context->host.ctx, task->mesh);
    task->mesh = NULL;
    task->run = run_commit;
    return API_WORKER;
}

api_outcome api_edit_change(api_call *call)
{
    api_task *task = api_task_create(call, run_apply);
    edit_work *w = task ? calloc(1, sizeof *w) : NULL;
    if (!w) {
        if (task) {
            api_task_free(task, call->context);
        }
        api_problem problem;
        api_problem_set(&problem, API_INTERNAL, "out of memory");
        return api_fail(call, &problem);
    }
    w->host = call->context->host;
    task->work = w;
    task->free_work = free_work;
    *call->task = task;
    return API_JOB;
}
