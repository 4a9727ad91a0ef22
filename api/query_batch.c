/// `batch`: many questions to one revision of one mesh, answered in chunks.
#include <stdio.h>

#include "query.h"
#include "route.h"

/// A chunk ends after this many questions or this much time, whichever comes first.
#define CHUNK_QUERIES 64
#define CHUNK_NS 1000000u
/// Batches up to this size are tried on the serving thread.
#define INLINE_QUERIES 8

enum { PHASE_START, PHASE_ENTRIES };

/// The members of a batch.
typedef struct batch_members {
    const cJSON *queries, *defaults, *timeout_ms, *id;
} batch_members;

static bool find_members(const cJSON *question, batch_members *members, const api_place *place)
{
    *members = (batch_members){0};
    if (!cJSON_IsObject(question)) {
        return api_place_fail(place, "", "a batch is a JSON object, not %s", api_json_kind(question));
    }
    for (const cJSON *child = question->child; child; child = child->next) {
        const cJSON **member = strcmp(child->string, "queries") == 0      ? &members->queries
                               : strcmp(child->string, "defaults") == 0   ? &members->defaults
                               : strcmp(child->string, "timeout_ms") == 0 ? &members->timeout_ms
                               : strcmp(child->string, "id") == 0         ? &members->id
                                                                          : NULL;
        char pointer[96];
        api_pointer_join(pointer, sizeof pointer, "", child->string);
        if (!member) {
            return api_place_fail(place, pointer,
                                  "unknown member `%.40s`: a batch has `queries`, `defaults`, "
                                  "`timeout_ms` and `id`",
                                  child->string);
        }
        if (*member) {
            return api_place_fail(place, pointer, "`%s` is there twice", child->string);
        }
        *member = child;
    }
    return true;
}

/// What `defaults` may hold: the arguments of any kind, but no time of its own, no id and no positions'
/// worth of sense is demanded.
static uint32_t default_arguments(void)
{
    uint32_t all = api_path.allowed | api_nearest.allowed | api_raycast.allowed | api_height.allowed;
    return all & ~(uint32_t)(API_ARG_TIMEOUT_MS | API_ARG_ID);
}

static bool check_members(const batch_members *members, const api_context *context, const api_mesh *mesh,
                          api_problem *problem)
{
    api_place place = {.problem = problem};
    if (!cJSON_IsArray(members->queries)) {
        return api_place_fail(&place, "/queries", "`queries` must be a list of questions, each with its `type`");
    }
    int count = cJSON_GetArraySize(members->queries);
    if ((uint32_t)count > context->limits.max_batch) {
        api_problem_set(problem, API_TOO_LARGE, "a batch holds at most %u queries, not %d",
                        (unsigned)context->limits.max_batch, count);
        snprintf(problem->pointer, sizeof problem->pointer, "/queries");
        return false;
    }
    if (members->defaults) {
        api_args_rules rules = {.mesh = mesh, .limits = &context->limits, .allowed = default_arguments()};
        snprintf(place.prefix, sizeof place.prefix, "/defaults");
        return api_args_check(&rules, members->defaults, &place);
    }
    return true;
}

/// The batch's own arguments, which are read like those of a query.
static bool read_own(const batch_members *members, api_context *context, const api_request *request,
                     uint64_t *deadline_ns, api_problem *problem)
{
    api_place place = {.problem = problem};
    uint64_t ms = context->limits.max_timeout_ms;
    if (members->timeout_ms) {
        const cJSON *value = members->timeout_ms;
        if (!cJSON_IsNumber(value) || !(value->valuedouble >= 1) || value->valuedouble > (double)ms ||
            value->valuedouble != (double)(uint64_t)value->valuedouble) {
            return api_place_fail(&place, "/timeout_ms", "`timeout_ms` must be a whole number from 1 to %llu",
                                  (unsigned long long)ms);
        }
        ms = (uint64_t)value->valuedouble;
    }
    if (members->id && !cJSON_IsString(members->id) && !api_json_finite(members->id)) {
        return api_place_fail(&place, "/id", "`id` must be a string or a number, not %s", api_json_kind(members->id));
    }
    *deadline_ns = request->start_ns + ms * 1000000u;
    return true;
}

/// Why an entry has no answer, in its place.
static void write_entry_problem(api_json *out, const cJSON *entry, const api_problem *problem)
{
    const cJSON *id = cJSON_IsObject(entry) ? cJSON_GetObjectItemCaseSensitive(entry, "id") : NULL;
    api_json_open(out, '{');
    api_json_key(out, "error");
    api_json_problem(out, problem, NULL);
    if (cJSON_IsString(id) || api_json_finite(id)) {
        api_args_echo_id(out, id);
    }
    api_json_close(out, '}');
}

static const api_query_kind *entry_kind(const cJSON *entry, const api_place *place)
{
    if (!cJSON_IsObject(entry)) {
        api_place_fail(place, "", "a query is a JSON object, not %s", api_json_kind(entry));
        return NULL;
    }
    const cJSON *type = NULL;
    for (const cJSON *child = entry->child; child; child = child->next) {
        if (strcmp(child->string, "type") == 0) {
            if (type) {
                api_place_fail(place, "/type", "`type` is there twice");
                return NULL;
            }
            type = child;
        }
    }
    const api_query_kind *kind = cJSON_IsString(type) ? api_query_kind_find(type->valuestring) : NULL;
    if (!kind) {
        api_place_fail(place, "/type", "`type` must be \"path\", \"nearest\", \"raycast\" or \"height\"");
    }
    return kind;
}

/// Answers the next entry.
/// @return API_POSTPONED: it is too long for here. API_REFUSED: the whole batch is out of time
static api_verdict answer_entry(api_task *task, api_context *context, const batch_members *members, uint32_t budget,
                                api_problem *problem)
{
    api_place place = {.problem = problem};
    snprintf(place.prefix, sizeof place.prefix, "/queries/%u", (unsigned)task->next);
    api_json out = {.out = &task->body, .comma = task->next > 0};
    api_query_kind bounded;
    const api_query_kind *kind = entry_kind(task->entry, &place);
    api_verdict verdict = API_REFUSED;
    if (kind) {
        // Time is kept for the batch as a whole.
        bounded = *kind;
        bounded.allowed &= ~(uint32_t)API_ARG_TIMEOUT_MS;
        api_inquiry inquiry = {.kind = &bounded,
                               .mesh = task->mesh,
                               .question = task->entry,
                               .defaults = members->defaults,
                               .ignored = "type",
                               .place = &place,
                               .node_budget = budget,
                               .start_ns = task->request->start_ns,
                               .latest_ns = task->deadline_ns};
        verdict = api_inquire(context, &inquiry, &out);
    }
    if (verdict == API_POSTPONED || (verdict == API_REFUSED && problem->code == API_DEADLINE)) {
        return verdict;
    }
    if (verdict == API_REFUSED) {
        write_entry_problem(&out, task->entry, problem);
    }
    task->entry = task->entry->next;
    task->next++;
    return API_ANSWERED;
}

static void open_answer(api_task *task, const batch_members *members)
{
    api_buffer_add_text(&task->body, "{\"status\":\"ok\",\"results\":[");
    task->entry = members->queries->child;
    task->phase = PHASE_ENTRIES;
}

static void close_answer(api_task *task, const batch_members *members)
{
    api_json out = api_json_begin(&task->body);
    api_json_close(&out, ']');
    api_json_key(&out, "revision");
    api_json_u64(&out, task->mesh->revision);
    api_args_echo_id(&out, members->id);
    api_json_close(&out, '}');
}

/// Answers entries until the batch or the chunk is done.
/// @return API_POSTPONED: go on later, on a worker
static api_verdict answer_chunk(api_task *task, api_context *context, const batch_members *members, uint32_t budget,
                                api_problem *problem)
{
    uint64_t end = api_now(context) + CHUNK_NS;
    for (uint32_t done = 0; task->entry; done++) {
        uint64_t now = api_now(context);
        if (now >= task->deadline_ns) {
            api_problem_set(problem, API_DEADLINE, "%u of %d queries were answered in the time that the batch has",
                            (unsigned)task->next, cJSON_GetArraySize(members->queries));
            return API_REFUSED;
        }
        if (task->body.failed) {
            api_problem_set(problem, API_INTERNAL, "out of memory");
            return API_REFUSED;
        }
        if (done == CHUNK_QUERIES || now >= end) {
            return API_POSTPONED;
        }
        api_verdict verdict = answer_entry(task, context, members, budget, problem);
        if (verdict != API_ANSWERED) {
            return verdict;
        }
    }
    return API_ANSWERED;
}

static api_outcome run_chunk(api_task *task, api_context *context, api_response *response, uint32_t budget)
{
    api_problem problem = {0};
    batch_members members;
    api_place place = {.problem = &problem};
    find_members(task->question, &members, &place); // checked when the batch began
    if (task->phase == PHASE_START) {
        open_answer(task, &members);
    }
    switch (answer_chunk(task, context, &members, budget, &problem)) {
    case API_POSTPONED:
        return API_WORKER;
    case API_REFUSED:
        return api_task_fail(task, context, response, &problem);
    default:
        close_answer(task, &members);
        return api_task_finish(task, context, response);
    }
}

static api_outcome run_on_worker(api_task *task, api_context *context, api_response *response)
{
    if (api_client_gone(context, task->request)) {
        api_problem problem;
        api_problem_set(&problem, API_DEADLINE, "the client has gone");
        return api_task_fail(task, context, response, &problem);
    }
    return run_chunk(task, context, response, 0);
}

/// Reads and checks the whole frame of the batch; entries are checked one by one as they are answered.
static cJSON *read_batch(api_call *call, const api_mesh *mesh, uint64_t *deadline_ns, api_problem *problem)
{
    api_context *context = call->context;
    batch_members members;
    api_place place = {.problem = problem};
    cJSON *question = api_read_body(call, &place);
    if (question && find_members(question, &members, &place) && check_members(&members, context, mesh, problem) &&
        read_own(&members, context, call->request, deadline_ns, problem)) {
        return question;
    }
    cJSON_Delete(question);
    return NULL;
}

api_outcome api_batch_begin(api_call *call)
{
    api_context *context = call->context;
    api_problem problem = {0};
    const api_mesh *mesh = api_acquire_mesh(context, call->id, &problem);
    if (!mesh) {
        return api_fail(call, &problem);
    }
    uint64_t deadline_ns = 0;
    cJSON *question = read_batch(call, mesh, &deadline_ns, &problem);
    api_task *task = question ? api_task_create(call, run_on_worker) : NULL;
    if (!task) {
        if (question) {
            api_problem_set(&problem, API_INTERNAL, "out of memory");
        }
        cJSON_Delete(question);
        context->host.release(context->host.ctx, mesh);
        return api_fail(call, &problem);
    }
    task->mesh = mesh;
    task->question = question;
    task->deadline_ns = deadline_ns;
    int count = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(question, "queries"));
    api_outcome outcome = API_WORKER;
    if (count <= INLINE_QUERIES) {
        outcome = run_chunk(task, context, call->response, context->limits.inline_nodes);
    }
    *call->task = outcome == API_WORKER ? task : NULL;
    return outcome;
}
