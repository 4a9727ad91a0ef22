/// One question from its bytes to its answer.
#include "query.h"

#include "route.h"

const api_query_kind *api_query_kind_find(const char *name)
{
    static const api_query_kind *const kinds[] = {&api_path, &api_nearest, &api_raycast, &api_height};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(name, kinds[i]->name) == 0) {
            return kinds[i];
        }
    }
    return NULL;
}

api_verdict api_refuse(const api_ask *ask, nav_status status)
{
    if (status == NAV_INTERRUPTED) {
        api_problem_set(ask->problem, API_DEADLINE, "no answer within the time that the request has");
    } else {
        api_problem_set(ask->problem, API_INTERNAL, "the search failed: %s", nav_status_text(status));
    }
    return API_REFUSED;
}

void api_write_place(const api_ask *ask, const nav_place *place)
{
    api_positions positions = api_args_positions(ask->args, ask->mesh);
    api_json_key(ask->out, "point");
    api_json_position(ask->out, &positions, place->point);
    api_json_key(ask->out, "polygon");
    api_json_u64(ask->out, place->polygon);
    api_json_key(ask->out, "distance");
    api_json_double(ask->out, place->distance);
}

void api_write_polygon_kind(const api_ask *ask, uint32_t polygon)
{
    uint8_t area = nav_mesh_polygon_area(ask->mesh->nav, polygon);
    api_json_key(ask->out, "area");
    if (ask->mesh->areas[area].name[0]) {
        api_json_text(ask->out, ask->mesh->areas[area].name);
    } else {
        api_json_u64(ask->out, area);
    }
    api_json_key(ask->out, "flags");
    api_json_u64(ask->out, nav_mesh_polygon_flags(ask->mesh->nav, polygon));
}

void api_write_polygons(const api_ask *ask, const char *name, const uint32_t *polygons, uint32_t count)
{
    api_json_key(ask->out, name);
    api_json_open(ask->out, '[');
    for (uint32_t i = 0; i < count; i++) {
        api_json_u64(ask->out, polygons[i]);
    }
    api_json_close(ask->out, ']');
}

static bool out_of_time(void *ctx)
{
    const api_context *context = ctx;
    return api_now(context) >= context->deadline_ns;
}

api_verdict api_inquire(api_context *context, const api_inquiry *inquiry, api_json *out)
{
    const api_mesh *mesh = inquiry->mesh;
    api_args *args = &context->args;
    api_args_rules rules = {.mesh = mesh,
                            .limits = &context->limits,
                            .allowed = inquiry->kind->allowed,
                            .required = inquiry->kind->required};
    if (!api_args_read(args, &rules, inquiry->question, inquiry->defaults, inquiry->ignored, inquiry->place)) {
        return API_REFUSED;
    }
    uint64_t deadline = inquiry->start_ns + (uint64_t)args->timeout_ms * 1000000u;
    context->deadline_ns = deadline < inquiry->latest_ns ? deadline : inquiry->latest_ns;
    nav_query_set_interrupt(context->query, &(nav_interrupt){.stop = out_of_time, .ctx = context});

    api_ask ask = {.context = context,
                   .mesh = mesh,
                   .args = args,
                   .node_budget = inquiry->node_budget,
                   .out = out,
                   .problem = inquiry->place->problem};
    api_json before = *out;
    size_t size = out->out->size;
    api_json_open(out, '{');
    api_verdict verdict = inquiry->kind->answer(&ask);
    if (verdict != API_ANSWERED) {
        out->out->size = size;
        *out = before;
        return verdict;
    }
    api_json_key(out, "revision");
    api_json_u64(out, mesh->revision);
    api_args_echo_id(out, args->id);
    api_json_close(out, '}');
    return API_ANSWERED;
}

bool api_check_body(const api_call *call, size_t max_bytes, const api_place *place)
{
    const api_request *request = call->request;
    if (request->query && *request->query) {
        api_place in_query = *place;
        in_query.query_string = true;
        return api_place_fail(&in_query, "", "the arguments of a POST belong in its body, not in its query string");
    }
    if (request->body_bytes > max_bytes) {
        api_problem_set(place->problem, API_TOO_LARGE, "the body has more than %zu bytes", max_bytes);
        return false;
    }
    return true;
}

/// The question as JSON, from the body or the query string.
static cJSON *read_question(const api_call *call, api_place *place)
{
    const api_request *request = call->request;
    const api_limits *limits = &call->context->limits;
    if (request->method != API_POST) {
        place->query_string = true;
        return api_args_from_query(request->query, call->route->kind->allowed, limits->max_depth, place);
    }
    size_t most = limits->max_query_body < API_QUESTION_MAX ? limits->max_query_body : API_QUESTION_MAX;
    if (!api_check_body(call, most, place)) {
        return NULL;
    }
    return api_json_parse(request->body, request->body_bytes, limits->max_depth, place->problem);
}

static api_inquiry make_inquiry(const api_route *route, const api_request *request, const api_mesh *mesh,
                                const cJSON *question, const api_place *place)
{
    return (api_inquiry){.kind = route->kind,
                         .mesh = mesh,
                         .question = question,
                         .place = place,
                         .start_ns = request->start_ns,
                         .latest_ns = UINT64_MAX};
}

static api_outcome answer_on_worker(api_task *task, api_context *context, api_response *response)
{
    api_problem problem = {0};
    api_place place = {.problem = &problem, .query_string = task->from_query};
    api_inquiry inquiry = make_inquiry(task->route, task->request, task->mesh, task->question, &place);
    api_json out = api_json_begin(&task->body);
    if (api_inquire(context, &inquiry, &out) != API_ANSWERED) {
        return api_task_fail(task, context, response, &problem);
    }
    return api_task_finish(task, context, response);
}

static api_outcome postpone(api_call *call, const api_mesh *mesh, cJSON *question, const api_place *place)
{
    api_task *task = api_task_create(call, answer_on_worker);
    if (!task) {
        cJSON_Delete(question);
        call->context->host.release(call->context->host.ctx, mesh);
        api_problem_set(place->problem, API_INTERNAL, "out of memory");
        return api_fail(call, place->problem);
    }
    task->mesh = mesh;
    task->question = question;
    task->from_query = place->query_string;
    task->body = call->response->body; // empty by now, but its room can be used again
    call->response->body = (api_buffer){0};
    *call->task = task;
    return API_WORKER;
}

api_outcome api_query_begin(api_call *call)
{
    api_context *context = call->context;
    api_problem problem = {0};
    const api_mesh *mesh = api_acquire_mesh(context, call->id, &problem);
    if (!mesh) {
        return api_fail(call, &problem);
    }
    api_place place = {.problem = &problem};
    cJSON *question = read_question(call, &place);
    api_verdict verdict = API_REFUSED;
    if (question) {
        api_inquiry inquiry = make_inquiry(call->route, call->request, mesh, question, &place);
        inquiry.node_budget = context->limits.inline_nodes;
        api_json out = api_json_begin(&call->response->body);
        verdict = api_inquire(context, &inquiry, &out);
    }
    if (verdict == API_POSTPONED) {
        return postpone(call, mesh, question, &place);
    }
    call->response->revision = mesh->revision;
    cJSON_Delete(question);
    context->host.release(context->host.ctx, mesh);
    return verdict == API_ANSWERED ? api_succeed(call->response, 200) : api_fail(call, &problem);
}
