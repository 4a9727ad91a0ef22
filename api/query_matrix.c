/// `matrix`: lengths from many places to many others, a row at a time.
#include <math.h>
#include <stdlib.h>

#include "nav_matrix.h"
#include "query.h"

/// Matrices up to this product are answered on the serving thread, where the mesh is small too.
#define INLINE_PRODUCT 64
/// A chunk ends after the row in which it has taken so long.
#define CHUNK_NS 1000000u

/// A matrix under way: all that its rows need, as contexts and their arguments change between chunks.
typedef struct matrix_work {
    nav_matrix *matrix;
    api_filter filter; ///< its costs are navcore's while the matrix lives
    uint32_t sources, targets;
    uint64_t deadline_ns;
    double lengths[]; ///< [targets]: one row
} matrix_work;

static void destroy(void *work)
{
    matrix_work *w = work;
    if (w) {
        nav_matrix_destroy(w->matrix);
        free(w);
    }
}

static bool check_product(const api_args *args, uint32_t most, api_problem *problem)
{
    uint64_t product = (uint64_t)args->sources.count * args->targets.count;
    if (product > most) {
        api_problem_set(problem, API_TOO_LARGE, "%u sources times %u targets are more than the %u lengths of a matrix",
                        (unsigned)args->sources.count, (unsigned)args->targets.count, (unsigned)most);
        return false;
    }
    return true;
}

/// From the context's arguments.
/// @return NULL: the problem says why
static matrix_work *create(api_context *context, const api_mesh *mesh, api_problem *problem)
{
    const api_args *args = &context->args;
    if (!check_product(args, context->limits.max_matrix, problem)) {
        return NULL;
    }
    matrix_work *w = malloc(sizeof *w + args->targets.count * sizeof *w->lengths);
    if (!w) {
        api_tell_status(problem, NAV_NO_MEMORY);
        return NULL;
    }
    w->matrix = NULL;
    w->sources = args->sources.count;
    w->targets = args->targets.count;
    w->deadline_ns = context->deadline_ns;
    nav_snap snap = args->snap;
    if (snap.filter.area_costs) {
        memcpy(w->filter.costs, snap.filter.area_costs, sizeof w->filter.costs);
        snap.filter.area_costs = w->filter.costs;
    }
    nav_status status = nav_matrix_create(context->query, mesh->nav, &snap, args->sources.at, w->sources,
                                          args->targets.at, w->targets, NULL, &w->matrix);
    if (status != NAV_OK) {
        api_tell_status(problem, status);
        destroy(w);
        return NULL;
    }
    return w;
}

static void open_answer(api_json *out)
{
    api_json_key(out, "status");
    api_json_word(out, "ok");
    api_json_key(out, "lengths");
    api_json_open(out, '[');
}

/// Works out one row and writes it.
static bool write_row(matrix_work *w, api_context *context, uint32_t row, api_json *out, api_problem *problem)
{
    nav_status status = nav_matrix_row(w->matrix, context->query, row, w->lengths);
    if (status != NAV_OK) {
        api_tell_status(problem, status);
        return false;
    }
    api_json_open(out, '[');
    for (uint32_t i = 0; i < w->targets; i++) {
        if (isfinite(w->lengths[i])) {
            api_json_double(out, w->lengths[i]);
        } else {
            api_json_null(out);
        }
    }
    api_json_close(out, ']');
    return true;
}

/// All rows at once: small matrices, and those of a batch.
static api_verdict answer(const api_ask *ask)
{
    const api_args *args = ask->args;
    bool small = (uint64_t)args->sources.count * args->targets.count <= INLINE_PRODUCT;
    if (!check_product(args, ask->context->limits.max_matrix, ask->problem)) {
        return API_REFUSED;
    }
    if (ask->node_budget && (!small || api_too_large(ask))) {
        return API_POSTPONED;
    }
    matrix_work *w = create(ask->context, ask->mesh, ask->problem);
    if (!w) {
        return API_REFUSED;
    }
    open_answer(ask->out);
    bool good = true;
    for (uint32_t row = 0; good && row < w->sources; row++) {
        good = write_row(w, ask->context, row, ask->out, ask->problem);
    }
    api_json_close(ask->out, ']');
    destroy(w);
    return good ? API_ANSWERED : API_REFUSED;
}

/// Rows until the chunk or the matrix is done.
static api_verdict run_rows(api_task *task, api_context *context, api_problem *problem)
{
    matrix_work *w = task->work;
    api_set_deadline(context, w->deadline_ns);
    uint64_t end = api_now(context) + CHUNK_NS;
    while (task->next < w->sources) {
        uint64_t now = api_now(context);
        if (now >= w->deadline_ns) {
            api_problem_set(problem, API_DEADLINE, "%u of %u rows were done in the time that the request has",
                            (unsigned)task->next, (unsigned)w->sources);
            return API_REFUSED;
        }
        if (now >= end) {
            return API_POSTPONED;
        }
        api_json out = {.out = &task->body, .comma = task->next > 0};
        if (!write_row(w, context, task->next, &out, problem)) {
            return API_REFUSED;
        }
        if (task->body.failed) {
            api_tell_status(problem, NAV_NO_MEMORY);
            return API_REFUSED;
        }
        task->next++;
    }
    return API_ANSWERED;
}

/// Reads the question and begins the answer.
static api_verdict start(api_task *task, api_context *context, api_problem *problem)
{
    api_place place = {.problem = problem};
    api_inquiry inquiry;
    const api_mesh *mesh;
    if (!api_task_inquiry(task, context, &inquiry, &place) || !api_inquiry_read(context, &inquiry)) {
        return API_REFUSED;
    }
    api_verdict verdict = api_fit_mesh(context, task->mesh, true, &mesh, problem);
    if (verdict != API_ANSWERED) {
        return verdict;
    }
    if (mesh != task->mesh) { // for all of the rows
        context->host.release(context->host.ctx, task->mesh);
        task->mesh = mesh;
    }
    task->work = create(context, task->mesh, problem);
    task->free_work = destroy;
    if (!task->work) {
        return API_REFUSED;
    }
    api_json out = api_json_begin(&task->body);
    api_json_open(&out, '{');
    open_answer(&out);
    return API_ANSWERED;
}

static api_outcome run(api_task *task, api_context *context, api_response *response)
{
    api_problem problem = {0};
    if (api_client_gone(context, task->request)) {
        api_problem_set(&problem, API_DEADLINE, "the client has gone");
        return api_task_fail(task, context, response, &problem);
    }
    api_verdict verdict = task->work ? API_ANSWERED : start(task, context, &problem);
    switch (verdict == API_ANSWERED ? run_rows(task, context, &problem) : verdict) {
    case API_POSTPONED:
        return API_WORKER;
    case API_REFUSED:
        return api_task_fail(task, context, response, &problem);
    default:
        break;
    }
    api_json out = api_json_begin(&task->body);
    api_json_close(&out, ']');
    api_json_key(&out, "revision");
    api_json_u64(&out, task->mesh->revision);
    api_args_echo_id(&out, cJSON_GetObjectItemCaseSensitive(task->question, "id"));
    api_json_close(&out, '}');
    return api_task_finish(task, context, response);
}

const api_query_kind api_matrix = {
    .name = "matrix",
    .required = API_ARG_SOURCES | API_ARG_TARGETS,
    .allowed = API_ARGS_COMMON | API_ARG_SOURCES | API_ARG_TARGETS,
    .max_bytes = API_LONG_QUESTION_MAX,
    .answer = answer,
    .run = run,
};
