/// One question from its bytes to its answer.
#include "query.h"

#include <math.h>

#include "route.h"

/// Bodies up to this size are parsed on the serving thread.
#define INLINE_BYTES 16384
/// A search over a large mesh has so long on a serving thread, then a worker begins it again.
#define INLINE_NS 1000000u

static const api_query_kind *const kinds[] = {&api_path, &api_nearest,   &api_raycast, &api_height, &api_move,
                                              &api_wall, &api_reachable, &api_random,  &api_pick,   &api_matrix};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

const api_query_kind *api_query_kind_at(size_t index)
{
    return index < KIND_COUNT ? kinds[index] : NULL;
}

const api_query_kind *api_query_kind_find(const char *name)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (strcmp(name, kinds[i]->name) == 0) {
            return kinds[i];
        }
    }
    return NULL;
}

bool api_too_large(const api_ask *ask)
{
    nav_mesh_info info;
    nav_mesh_get_info(ask->mesh->nav, &info);
    return ask->node_budget && info.cells > ask->node_budget;
}

void api_tell_status(api_problem *problem, nav_status status)
{
    if (status == NAV_INTERRUPTED) {
        api_problem_set(problem, API_DEADLINE, "no answer within the time that the request has");
    } else {
        api_problem_set(problem, API_INTERNAL, "the search failed: %s", nav_status_text(status));
    }
}

api_verdict api_refuse(const api_ask *ask, nav_status status)
{
    api_tell_status(ask->problem, status);
    return API_REFUSED;
}

uint64_t api_take_slice(const api_ask *ask)
{
    uint64_t deadline = ask->context->deadline_ns;
    if (api_too_large(ask)) {
        uint64_t end = api_now(ask->context) + INLINE_NS;
        api_set_deadline(ask->context, end < deadline ? end : deadline);
    }
    return deadline;
}

api_verdict api_give_up(const api_ask *ask, nav_status status, uint64_t deadline_ns)
{
    bool early = ask->node_budget && status == NAV_INTERRUPTED && api_now(ask->context) < deadline_ns;
    return early ? API_POSTPONED : api_refuse(ask, status);
}

void api_write_position(const api_ask *ask, const char *name, nav_vec position)
{
    api_positions positions = api_args_positions(ask->args, ask->mesh);
    api_json_key(ask->out, name);
    api_json_position(ask->out, &positions, position);
}

void api_write_number(const api_ask *ask, const char *name, double value)
{
    api_json_key(ask->out, name);
    api_json_double(ask->out, value);
}

void api_write_place(const api_ask *ask, const nav_place *place)
{
    api_write_position(ask, "point", place->point);
    api_json_key(ask->out, "polygon");
    api_json_u64(ask->out, place->polygon);
    api_write_number(ask, "distance", place->distance);
}

void api_write_surface_kind(const api_ask *ask, const nav_place *place)
{
    nav_face_view face; // a region may have painted a part of the polygon
    nav_mesh_face(ask->mesh->nav, place->face, &face);
    uint8_t area = face.area;
    api_json_key(ask->out, "area");
    if (ask->mesh->areas[area].name[0]) {
        api_json_text(ask->out, ask->mesh->areas[area].name);
    } else {
        api_json_u64(ask->out, area);
    }
    api_json_key(ask->out, "flags");
    api_json_u64(ask->out, face.flags);
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

bool api_inquiry_read(api_context *context, const api_inquiry *inquiry)
{
    api_args_rules rules = {.mesh = inquiry->mesh,
                            .limits = &context->limits,
                            .allowed = inquiry->kind->allowed,
                            .required = inquiry->kind->required,
                            .max_count = inquiry->kind->max_count};
    const api_args *args = &context->args;
    if (!api_args_read(&context->args, &rules, inquiry->question, inquiry->defaults, inquiry->ignored,
                       inquiry->place)) {
        return false;
    }
    uint64_t deadline = inquiry->start_ns + (uint64_t)args->timeout_ms * 1000000u;
    api_set_deadline(context, deadline < inquiry->latest_ns ? deadline : inquiry->latest_ns);
    return true;
}

/// Differences of one class share a mesh: they are rounded up to four digits, which is less than what a mesh
/// may exceed the distance by.
static double radius_class(double difference)
{
    double scale = pow(10, 3 - floor(log10(difference)));
    double rounded = ceil(difference * scale * (1 - 1e-9)) / scale;
    return rounded >= difference ? rounded : difference; // but for what is not worth a digit
}

api_verdict api_fit_mesh(api_context *context, const api_mesh *mesh, bool wait, const api_mesh **fit,
                         api_problem *problem)
{
    double difference = context->args.radius - mesh->agent.radius;
    *fit = mesh;
    if (!(difference > context->args.radius * 1e-9)) {
        return API_ANSWERED;
    }
    if (api_now(context) >= context->deadline_ns) {
        return api_tell_status(problem, NAV_INTERRUPTED), API_REFUSED;
    }
    *fit = context->host.shrunk(context->host.ctx, mesh, radius_class(difference), wait, problem);
    return *fit ? API_ANSWERED : problem->code == API_NO_PROBLEM ? API_POSTPONED : API_REFUSED;
}

static api_verdict answer(const api_ask *ask, const api_inquiry *inquiry)
{
    api_json *out = ask->out, before = *out;
    size_t size = out->out->size;
    api_json_open(out, '{');
    api_verdict verdict = inquiry->kind->answer(ask);
    if (verdict != API_ANSWERED) {
        out->out->size = size;
        *out = before;
        return verdict;
    }
    api_json_key(out, "revision");
    api_json_u64(out, ask->mesh->revision);
    api_args_echo_id(out, ask->args->id);
    api_json_close(out, '}');
    return API_ANSWERED;
}

api_verdict api_inquire(api_context *context, const api_inquiry *inquiry, api_json *out)
{
    if (!api_inquiry_read(context, inquiry)) {
        return API_REFUSED;
    }
    const api_mesh *mesh;
    api_problem *problem = inquiry->place->problem;
    api_verdict verdict = api_fit_mesh(context, inquiry->mesh, inquiry->node_budget == 0, &mesh, problem);
    if (verdict != API_ANSWERED) {
        return verdict;
    }
    const api_ask ask = {.context = context,
                         .mesh = mesh,
                         .args = &context->args,
                         .node_budget = inquiry->node_budget,
                         .out = out,
                         .problem = problem};
    verdict = answer(&ask, inquiry);
    if (mesh != inquiry->mesh) {
        context->host.release(context->host.ctx, mesh);
    }
    return verdict;
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

/// The question of a POST as JSON.
static cJSON *read_body(const api_request *request, const api_context *context, const api_place *place)
{
    return api_json_parse(request->body, request->body_bytes, context->limits.max_depth, place->problem);
}

/// The question as JSON, from the body or the query string. NULL without a problem: it is long, and to be
/// read elsewhere.
static cJSON *read_question(const api_call *call, api_place *place)
{
    const api_request *request = call->request;
    const api_limits *limits = &call->context->limits;
    const api_query_kind *kind = call->route->kind;
    if (request->method != API_POST) {
        place->query_string = true;
        return api_args_from_query(request->query, kind->allowed, limits->max_depth, place);
    }
    size_t most = limits->max_query_body < kind->max_bytes ? limits->max_query_body : kind->max_bytes;
    if (!api_check_body(call, most, place) || request->body_bytes > INLINE_BYTES) {
        return NULL;
    }
    return read_body(request, call->context, place);
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

bool api_task_inquiry(api_task *task, api_context *context, api_inquiry *inquiry, api_place *place)
{
    place->query_string = task->from_query;
    place->query_filter = task->from_query_filter;
    if (!task->question) {
        task->question = read_body(task->request, context, place);
    }
    *inquiry = make_inquiry(task->route, task->request, task->mesh, task->question, place);
    return task->question;
}

static api_outcome answer_on_worker(api_task *task, api_context *context, api_response *response)
{
    api_problem problem = {0};
    api_place place = {.problem = &problem};
    api_inquiry inquiry;
    api_json out = api_json_begin(&task->body);
    api_verdict verdict = API_REFUSED;
    if (api_task_inquiry(task, context, &inquiry, &place)) {
        verdict = api_inquire(context, &inquiry, &out);
    }
    if (verdict == API_POSTPONED) { // the mesh for its radius is being made
        return API_WORKER;
    }
    if (verdict == API_REFUSED) {
        return api_task_fail(task, context, response, &problem);
    }
    response->content_type = api_answer_type(context);
    return api_task_finish(task, context, response);
}

static api_outcome postpone(api_call *call, const api_mesh *mesh, cJSON *question, const api_place *place)
{
    const api_query_kind *kind = call->route->kind;
    api_task *task = api_task_create(call, kind->run ? kind->run : answer_on_worker);
    if (!task) {
        cJSON_Delete(question);
        call->context->host.release(call->context->host.ctx, mesh);
        api_problem_set(place->problem, API_INTERNAL, "out of memory");
        return api_fail(call, place->problem);
    }
    task->mesh = mesh;
    task->question = question;
    task->from_query = place->query_string;
    task->from_query_filter = place->query_filter;
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
    api_verdict verdict = problem.code == API_NO_PROBLEM ? API_POSTPONED : API_REFUSED;
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
    if (verdict != API_ANSWERED) {
        return api_fail(call, &problem);
    }
    call->response->content_type = api_answer_type(context);
    return api_succeed(call->response, 200);
}
