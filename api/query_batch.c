/// `batch`: many questions to one revision of one mesh, answered in chunks.
///
/// Questions are parsed one by one as they are answered: a tree of them all would take ten times the
/// body's memory, and building it more time than many a search.
#include <stdio.h>

#include "query.h"
#include "route.h"

/// A chunk ends after this many questions or this much time, whichever comes first.
#define CHUNK_QUERIES 64
#define CHUNK_NS 1000000u
/// Bodies and batches up to this size are tried on the serving thread.
#define INLINE_BYTES 2048
#define INLINE_QUERIES 8

/// Bytes of all answers: a short question may have a long one.
#define ANSWERS_MAX ((size_t)128 << 20)

enum { PHASE_READ, PHASE_START, PHASE_ENTRIES };

/// The members of a batch but for its queries.
typedef struct batch_members {
    const cJSON *defaults, *timeout_ms, *id;
} batch_members;

static batch_members find_members(const cJSON *question)
{
    return (batch_members){
        .defaults = cJSON_GetObjectItemCaseSensitive(question, "defaults"),
        .timeout_ms = cJSON_GetObjectItemCaseSensitive(question, "timeout_ms"),
        .id = cJSON_GetObjectItemCaseSensitive(question, "id"),
    };
}

/// The cursor complains of meshes; a body that it cannot follow is no JSON.
static bool bad_text(api_problem *problem)
{
    problem->code = problem->code == API_BAD_MESH ? API_BAD_JSON : problem->code;
    return false;
}

static size_t place_of(const api_stream *text)
{
    return (size_t)(text->p - text->start);
}

/// Parses the value at the cursor and steps over it.
static cJSON *take_value(api_stream *text, uint32_t max_depth, api_problem *problem)
{
    api_stream_skip_space(text);
    size_t from = place_of(text);
    if (!api_stream_skip_value(text)) {
        bad_text(problem);
        return NULL;
    }
    return api_json_parse_part(text->start, from, place_of(text), max_depth, problem);
}

/// Notes where the queries are and counts them.
static bool find_queries(api_task *task, api_stream *text, const api_place *place)
{
    if (!api_stream_take(text, '[')) {
        return api_place_fail(place, "/queries", "`queries` must be a list of questions, each with its `type`");
    }
    api_stream_list list = {.close = ']'};
    task->text = *text;
    task->list = list;
    while (api_stream_more(text, &list)) {
        if (!api_stream_skip_value(text)) {
            return bad_text(place->problem);
        }
        task->count++;
    }
    return !list.failed || bad_text(place->problem);
}

static bool read_member(api_task *task, api_stream *text, uint32_t max_depth, bool *queries, const api_place *place)
{
    static const char *const known[] = {"defaults", "timeout_ms", "id"};
    char name[API_STREAM_NAME_CAP], pointer[96];
    if (!api_stream_name(text, name)) {
        return bad_text(place->problem);
    }
    bool is_queries = strcmp(name, "queries") == 0, is_known = is_queries;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        is_known = is_known || strcmp(name, known[i]) == 0;
    }
    api_pointer_join(pointer, sizeof pointer, "", name);
    if (!is_known) {
        return api_place_fail(place, pointer,
                              "unknown member `%.40s`: a batch has `queries`, `defaults`, `timeout_ms` and `id`", name);
    }
    if (is_queries ? *queries : cJSON_GetObjectItemCaseSensitive(task->question, name) != NULL) {
        return api_place_fail(place, pointer, "`%s` is there twice", name);
    }
    if (is_queries) {
        *queries = true;
        return find_queries(task, text, place);
    }
    cJSON *value = take_value(text, max_depth, place->problem);
    if (value && !cJSON_AddItemToObject(task->question, name, value)) {
        cJSON_Delete(value);
        api_problem_set(place->problem, API_INTERNAL, "out of memory");
        return false;
    }
    return value;
}

/// Reads the body but for what the queries hold.
static bool read_members(api_task *task, uint32_t max_depth, api_problem *problem)
{
    const api_request *request = task->request;
    api_place place = {.problem = problem};
    api_stream text = api_stream_begin(request->body, request->body_bytes, problem);
    api_stream_list list = {.close = '}'};
    bool queries = false;
    if (!api_stream_take(&text, '{')) {
        // Whatever else it is, if it is anything.
        cJSON *other = api_json_parse(request->body, request->body_bytes, max_depth, problem);
        if (other) {
            api_place_fail(&place, "", "a batch is a JSON object, not %s", api_json_kind(other));
        }
        cJSON_Delete(other);
        return false;
    }
    while (api_stream_more(&text, &list)) {
        if (!read_member(task, &text, max_depth, &queries, &place)) {
            return false;
        }
    }
    if (list.failed) {
        return bad_text(problem);
    }
    api_stream_skip_space(&text);
    if (text.p < text.end) {
        api_problem_set(problem, API_BAD_JSON, "byte %zu: more text after the JSON value", place_of(&text));
        return false;
    }
    return queries || api_place_fail(&place, "/queries", "`queries` is missing");
}

/// What `defaults` may hold: the arguments of any kind, but no time of its own, no id and no positions'
/// worth of sense is demanded.
static uint32_t default_arguments(void)
{
    uint32_t all = 0;
    const api_query_kind *kind;
    for (size_t i = 0; (kind = api_query_kind_at(i)); i++) {
        all |= kind->allowed;
    }
    return all & ~(uint32_t)(API_ARG_TIMEOUT_MS | API_ARG_ID);
}

static bool check_members(const api_task *task, const batch_members *members, const api_context *context,
                          api_problem *problem)
{
    if (task->count > context->limits.max_batch) {
        api_problem_set(problem, API_TOO_LARGE, "a batch holds at most %u queries, not %u",
                        (unsigned)context->limits.max_batch, (unsigned)task->count);
        snprintf(problem->pointer, sizeof problem->pointer, "/queries");
        return false;
    }
    if (members->defaults) {
        api_place place = {.problem = problem, .prefix = "/defaults"};
        api_args_rules rules = {.mesh = task->mesh,
                                .limits = &context->limits,
                                .allowed = default_arguments(),
                                .max_count = API_RANDOM_MAX};
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

/// @param type  NULL: there is none
/// @return NULL
static const api_query_kind *unknown_type(const cJSON *type, const api_place *place)
{
    char list[128] = "";
    api_suggestion near = api_suggest_for(cJSON_IsString(type) ? type->valuestring : "");
    const api_query_kind *kind;
    for (size_t i = 0; (kind = api_query_kind_at(i)); i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s\"%s\"", i ? ", " : "", kind->name);
        api_suggest(&near, kind->name);
    }
    api_place_fail(place, "/type", "`type` must be one of %s%s", list, api_suggestion_text(&near));
    return NULL;
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
    return kind ? kind : unknown_type(type, place);
}

/// @return API_POSTPONED: it is too long for here. API_REFUSED: the whole batch is out of time
static api_verdict answer_entry(api_task *task, api_context *context, const cJSON *entry, const cJSON *defaults,
                                uint32_t budget, api_problem *problem)
{
    api_place place = {.problem = problem};
    snprintf(place.prefix, sizeof place.prefix, "/queries/%u", (unsigned)task->next);
    api_json out = {.out = &task->body, .comma = task->next > 0};
    const api_query_kind *kind = entry_kind(entry, &place);
    api_verdict verdict = API_REFUSED;
    if (kind) {
        // Time is kept for the batch as a whole.
        api_query_kind untimed = *kind;
        untimed.allowed &= ~(uint32_t)API_ARG_TIMEOUT_MS;
        api_inquiry inquiry = {.kind = &untimed,
                               .mesh = task->mesh,
                               .question = entry,
                               .defaults = defaults,
                               .ignored = "type",
                               .place = &place,
                               .node_budget = budget,
                               .start_ns = task->request->start_ns,
                               .latest_ns = task->deadline_ns};
        verdict = api_inquire(context, &inquiry, &out);
    }
    if (verdict == API_REFUSED && problem->code != API_DEADLINE) {
        write_entry_problem(&out, entry, problem);
        verdict = API_ANSWERED;
    }
    return verdict;
}

/// Answers the query at the cursor, which is behind it then; or, when it is postponed, before it as it was.
static api_verdict answer_next(api_task *task, api_context *context, const cJSON *defaults, uint32_t budget,
                               api_problem *problem)
{
    api_stream before = task->text;
    api_stream_list list_before = task->list;
    task->text.problem = problem;
    api_stream_more(&task->text, &task->list); // there is one: they were counted
    cJSON *entry = take_value(&task->text, context->limits.max_depth, problem);
    if (!entry) {
        return API_REFUSED;
    }
    api_verdict verdict = answer_entry(task, context, entry, defaults, budget, problem);
    cJSON_Delete(entry);
    if (verdict == API_ANSWERED) {
        task->next++;
    } else {
        task->text = before;
        task->list = list_before;
    }
    return verdict;
}

static void close_answer(api_task *task, const cJSON *id)
{
    api_json out = api_json_begin(&task->body);
    api_json_close(&out, ']');
    api_json_key(&out, "revision");
    api_json_u64(&out, task->mesh->revision);
    api_args_echo_id(&out, id);
    api_json_close(&out, '}');
}

/// Answers queries until the batch or the chunk is done.
/// @return API_POSTPONED: go on later, on a worker
static api_verdict answer_chunk(api_task *task, api_context *context, const cJSON *defaults, uint32_t budget,
                                api_problem *problem)
{
    uint64_t end = api_now(context) + CHUNK_NS;
    for (uint32_t done = 0; task->next < task->count; done++) {
        uint64_t now = api_now(context);
        if (now >= task->deadline_ns) {
            api_problem_set(problem, API_DEADLINE, "%u of %u queries were answered in the time that the batch has",
                            (unsigned)task->next, (unsigned)task->count);
            return API_REFUSED;
        }
        if (task->body.failed) {
            api_problem_set(problem, API_INTERNAL, "out of memory");
            return API_REFUSED;
        }
        if (task->body.size > ANSWERS_MAX) {
            api_problem_set(problem, API_TOO_LARGE, "the answers of the batch have more than %zu bytes after %u of %u",
                            ANSWERS_MAX, (unsigned)task->next, (unsigned)task->count);
            return API_REFUSED;
        }
        if (done == CHUNK_QUERIES || now >= end) {
            return API_POSTPONED;
        }
        api_verdict verdict = answer_next(task, context, defaults, budget, problem);
        if (verdict != API_ANSWERED) {
            return verdict;
        }
    }
    return API_ANSWERED;
}

/// Reads and checks the frame of the batch; queries are checked one by one as they are answered.
static bool read_frame(api_task *task, api_context *context, api_problem *problem)
{
    task->question = cJSON_CreateObject();
    if (!task->question) {
        api_problem_set(problem, API_INTERNAL, "out of memory");
        return false;
    }
    if (!read_members(task, context->limits.max_depth, problem)) {
        return false;
    }
    batch_members members = find_members(task->question);
    if (!check_members(task, &members, context, problem) ||
        !read_own(&members, context, task->request, &task->deadline_ns, problem)) {
        return false;
    }
    task->phase = PHASE_START;
    return true;
}

static api_outcome run_chunk(api_task *task, api_context *context, api_response *response, uint32_t budget)
{
    api_problem problem = {0};
    batch_members members = find_members(task->question);
    if (task->phase == PHASE_START) {
        api_buffer_add_text(&task->body, "{\"status\":\"ok\",\"results\":[");
        task->phase = PHASE_ENTRIES;
    }
    switch (answer_chunk(task, context, members.defaults, budget, &problem)) {
    case API_POSTPONED:
        return API_WORKER;
    case API_REFUSED:
        return api_task_fail(task, context, response, &problem);
    default:
        close_answer(task, members.id);
        return api_task_finish(task, context, response);
    }
}

static api_outcome run_on_worker(api_task *task, api_context *context, api_response *response)
{
    api_problem problem = {0};
    if (api_client_gone(context, task->request)) {
        api_problem_set(&problem, API_DEADLINE, "the client has gone");
        return api_task_fail(task, context, response, &problem);
    }
    if (task->phase == PHASE_READ && !read_frame(task, context, &problem)) {
        return api_task_fail(task, context, response, &problem);
    }
    return run_chunk(task, context, response, 0);
}

/// Small batches are answered at once; of others not even the body is read here.
static api_outcome try_inline(const api_call *call, api_task *task)
{
    api_problem problem = {0};
    api_place place = {.problem = &problem};
    bool good = api_check_body(call, call->context->limits.max_query_body, &place);
    if (good && call->request->body_bytes > INLINE_BYTES) {
        return API_WORKER;
    }
    if (!good || !read_frame(task, call->context, &problem)) {
        return api_task_fail(task, call->context, call->response, &problem);
    }
    return task->count > INLINE_QUERIES
               ? API_WORKER
               : run_chunk(task, call->context, call->response, call->context->limits.inline_nodes);
}

api_outcome api_batch_begin(api_call *call)
{
    api_problem problem = {0};
    const api_mesh *mesh = api_acquire_mesh(call->context, call->id, &problem);
    if (!mesh) {
        return api_fail(call, &problem);
    }
    api_task *task = api_task_create(call, run_on_worker);
    if (!task) {
        call->context->host.release(call->context->host.ctx, mesh);
        api_problem_set(&problem, API_INTERNAL, "out of memory");
        return api_fail(call, &problem);
    }
    task->mesh = mesh;
    api_outcome outcome = try_inline(call, task);
    *call->task = outcome == API_WORKER ? task : NULL;
    return outcome;
}
