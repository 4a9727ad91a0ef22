// From a whole request to a filled response: inline, or suspended while a pool's thread is at work.
#include <string.h>

#include "clock.h"
#include "http_internal.h"

// Clients that do not care for Retry-After would turn every refusal into the next request at once.
#define REFUSAL_DELAY_MS 50
#define DELAYED_MAX 1024

void srv__refuse(srv_request *r, const api_problem *problem)
{
    api_respond_problem(&r->response, problem, r->request_id);
    r->phase = SRV_PHASE_ANSWER;
    r->done = true;
}

static void suspend(srv_request *r)
{
    r->suspended = true;
    MHD_suspend_connection(r->connection);
}

/// 503 a little later; at once and with the connection's end when too many wait already.
static void refuse_overload(srv_request *r)
{
    srv_thread *thread = r->thread;
    api_problem problem;
    api_problem_set(&problem, API_OVERLOADED, "the queue is full; nothing was started");
    problem.retry_after = 1;
    srv__refuse(r, &problem);
    srv_metric_add(&thread->metrics->shed, 1);
    if (thread->delayed_count >= DELAYED_MAX) {
        r->close = true;
        return;
    }
    r->resume_ns = srv_now_ns() + (uint64_t)REFUSAL_DELAY_MS * SRV_NS_PER_MS;
    r->next = NULL;
    *thread->delayed_last = r;
    thread->delayed_last = &r->next;
    thread->delayed_count++;
    suspend(r);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/// The mesh id in "/v1/meshes/{id}/…", percent-decoded, so that changes of one mesh keep their order
/// however it is spelled.
static void find_key(srv_request *r)
{
    static const char prefix[] = "/v1/meshes/";
    size_t n = 0;
    if (strncmp(r->api.path, prefix, sizeof prefix - 1) == 0) {
        for (const char *at = r->api.path + sizeof prefix - 1; *at && *at != '/' && n < NAV_ID_MAX; at++) {
            char c = *at;
            if (c == '%' && hex_digit(at[1]) >= 0 && hex_digit(at[2]) >= 0) {
                c = (char)(hex_digit(at[1]) * 16 + hex_digit(at[2]));
                at += 2;
            }
            r->key[n++] = c;
        }
    }
    r->key[n] = '\0';
}

static void abandon(srv_request *r, api_context *context)
{
    api_task_abandon(r->task, context);
    r->task = NULL;
}

static void refuse_task(srv_request *r, srv_worker *worker, api_code code, const char *detail)
{
    abandon(r, worker->context);
    api_problem problem;
    api_problem_set(&problem, code, "%s", detail);
    problem.retry_after = code == API_DRAINING ? 1 : 0;
    srv__refuse(r, &problem);
}

/// A pool's thread: the task's next chunk.
static void run_task(srv_work *work, srv_worker *worker)
{
    srv_request *r = (srv_request *)work;
    const srv_server *server = r->thread->server;
    uint64_t limit_ns = (uint64_t)server->limits.max_timeout_ms * SRV_NS_PER_MS;
    if (worker->stopping) {
        refuse_task(r, worker, API_DRAINING, "the server is shutting down; nothing was changed");
    } else if (!r->is_job && worker->began_ns - r->api.start_ns > limit_ns) {
        refuse_task(r, worker, API_DEADLINE, "the time ran out before an answer was found");
    } else if (!r->is_job && srv_http_client_gone(&r->api)) {
        r->gone = true; // a change is made all the same: the client asked for it and left
        abandon(r, worker->context);
    } else {
        api_outcome outcome = api_task_run(r->task, worker->context, &r->response);
        if (outcome != API_DONE) {
            srv_pool_again(worker->pool, &r->work);
            return;
        }
        r->task = NULL;
    }
    srv__compress(r);
    srv__thread_give_back(r);
}

/// @param keyed  not beside another such task of the same mesh
static void queue_task(srv_request *r, bool job, bool keyed)
{
    srv_server *server = r->thread->server;
    r->is_job = job;
    find_key(r);
    r->work.run = run_task;
    r->work.key = keyed ? r->key : NULL;
    if (srv_pool_submit(job ? server->jobs : server->workers, &r->work)) {
        // In time, even if the work is done already: it is this thread that takes it back and resumes.
        suspend(r);
    } else {
        abandon(r, r->thread->context);
        refuse_overload(r);
    }
}

void srv__dispatch(srv_request *r)
{
    if (r->late) {
        api_problem problem;
        api_problem_set(&problem, API_DRAINING, "the server is shutting down");
        problem.retry_after = 1;
        r->close = true;
        srv__refuse(r, &problem);
        return;
    }
    if (r->preflight) {
        r->response.status = MHD_HTTP_NO_CONTENT;
        r->done = true;
        return;
    }
    switch (api_begin(r->thread->context, &r->api, &r->response, &r->task)) {
    case API_DONE:
        r->done = true;
        srv__compress(r);
        break;
    case API_WORKER:
        queue_task(r, false, false);
        break;
    case API_AGENTS:
        queue_task(r, false, true);
        break;
    case API_JOB:
        queue_task(r, true, true);
        break;
    }
}

void srv__thread_give_back(srv_request *r)
{
    srv_thread *thread = r->thread;
    srv_request *head = atomic_load_explicit(&thread->finished, memory_order_relaxed);
    do {
        r->next = head;
    } while (!atomic_compare_exchange_weak_explicit(&thread->finished, &head, r, memory_order_release,
                                                    memory_order_relaxed));
    if (!head) { // the thread takes the whole list at once, so one wake is enough for all of it
        srv__thread_wake(thread);
    }
}

static void resume(srv_request *r)
{
    r->done = true;
    r->suspended = false;
    MHD_resume_connection(r->connection);
}

bool srv__resume_finished(srv_thread *thread, uint64_t now)
{
    srv_request *list = atomic_exchange_explicit(&thread->finished, NULL, memory_order_acquire), *ordered = NULL;
    bool some = list != NULL;
    while (list) { // oldest first
        srv_request *next = list->next;
        list->next = ordered;
        ordered = list;
        list = next;
    }
    while (ordered) {
        srv_request *r = ordered;
        ordered = r->next;
        resume(r);
    }
    while (thread->delayed && thread->delayed->resume_ns <= now) {
        srv_request *r = thread->delayed;
        thread->delayed = r->next;
        if (!thread->delayed) {
            thread->delayed_last = &thread->delayed;
        }
        thread->delayed_count--;
        resume(r);
        some = true;
    }
    return some;
}

uint64_t srv__next_delayed(const srv_thread *thread)
{
    return thread->delayed ? thread->delayed->resume_ns : UINT64_MAX;
}
