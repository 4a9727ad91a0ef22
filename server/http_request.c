// The life of a request in libmicrohttpd's callbacks: request line, headers, body, answer, end.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "feed.h"
#include "http_internal.h"
#include "log.h"

#define BODY_KEEP_BYTES ((size_t)64 << 10)   // a recycled request keeps buffers up to this size
#define DISCARD_MAX_BYTES ((size_t)64 << 20) // of a body that cannot be taken
#define BODIES_MAX_BYTES ((size_t)1 << 30)   // of all bodies larger than BODY_KEEP_BYTES at one time

static srv_request *new_request(srv_thread *thread)
{
    srv_request *r = thread->free_requests;
    if (!r) {
        r = calloc(1, sizeof *r);
        return r;
    }
    thread->free_requests = r->next;
    srv_request clean = {.uri = r->uri, .uri_cap = r->uri_cap, .body = r->body, .body_cap = r->body_cap};
    *r = clean;
    return r;
}

static void drop_large_body(srv_request *r)
{
    if (r->body_cap > BODY_KEEP_BYTES) {
        free(r->body);
        r->body = NULL;
        r->body_cap = 0;
    }
    if (r->budgeted) {
        atomic_fetch_sub(&r->thread->server->body_bytes, r->budgeted);
        r->budgeted = 0;
    }
}

static void recycle(srv_request *r)
{
    srv_thread *thread = r->thread;
    api_buffer_free(&r->response.body);
    if (r->response.stream) { // the client left before it was sent
        srv_reader_close(r->response.stream);
    }
    drop_large_body(r);
    r->next = thread->free_requests;
    thread->free_requests = r;
}

void srv__requests_free(srv_thread *thread)
{
    while (thread->free_requests) {
        srv_request *r = thread->free_requests;
        thread->free_requests = r->next;
        free(r->uri);
        free(r->body);
        free(r);
    }
}

static bool reserve(char **buffer, size_t *cap, size_t bytes)
{
    if (bytes <= *cap) {
        return true;
    }
    size_t grown = *cap ? *cap : 512;
    while (grown < bytes) {
        if (grown > SIZE_MAX / 2) {
            return false;
        }
        grown *= 2;
    }
    char *p = realloc(*buffer, grown);
    if (p) {
        *buffer = p;
        *cap = grown;
    }
    return p != NULL;
}

/// Keeps the path and the query string as sent; "http://host/path" (RFC 9112 section 3.2.2) loses its host.
static bool keep_uri(srv_request *r, const char *uri)
{
    size_t size = strlen(uri) + 1;
    if (!reserve(&r->uri, &r->uri_cap, size)) {
        return false;
    }
    memcpy(r->uri, uri, size);
    char *path = r->uri;
    if (*path != '/') {
        char *authority = strstr(path, "://");
        char *slash = authority ? strchr(authority + 3, '/') : NULL;
        path = slash ? slash : path;
    }
    char *mark = strchr(path, '?');
    if (mark) {
        *mark = '\0';
        r->api.query = mark + 1;
    }
    r->api.path = path;
    return true;
}

/// Sixteen hexadecimal digits: a random half for the process and thread, then a count.
static void make_request_id(srv_request *r)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t n = r->thread->id_prefix + ++r->thread->id_count;
    for (int i = 15; i >= 0; i--, n >>= 4) {
        r->request_id[i] = digits[n & 15];
    }
    r->request_id[16] = '\0';
}

void *srv__request_begin(void *cls, const char *uri, struct MHD_Connection *connection)
{
    srv_thread *thread = cls;
    srv_conn *conn = srv__conn_of(connection);
    srv_request *r = conn ? new_request(thread) : NULL;
    if (!r) {
        return NULL;
    }
    r->thread = thread;
    r->connection = connection;
    r->conn = conn;
    conn->has_line = true;
    r->late = atomic_load_explicit(&thread->server->draining, memory_order_relaxed);
    r->api.request_id = r->request_id;
    r->api.start_ns = srv_now_ns();
    if (r->conn->state != SRV_CONN_RECEIVING) {
        r->conn->state = SRV_CONN_RECEIVING;
        r->conn->deadline_ns = r->api.start_ns + thread->server->config.request_timeout_ms * SRV_NS_PER_MS;
    }
    if (!keep_uri(r, uri)) {
        recycle(r);
        return NULL;
    }
    return r;
}

/// Before the body is read. The client may still be sending it: the connection cannot be used again, and
/// is read for a moment after the answer so that the client gets to see it.
static enum MHD_Result reply_early(srv_request *r)
{
    r->close = true;
    r->conn->linger = true;
    return srv__reply(r);
}

/// A large body from somebody who may not change anything: the api says so without it. (A small one is
/// read, so that the connection can be used again.)
static bool forbidden_upload(const srv_request *r)
{
    return r->announced > BODY_KEEP_BYTES && !r->api.may_change &&
           r->body_limit > r->thread->server->limits.max_query_body;
}

/// Headers are there, the body is not read yet.
static enum MHD_Result take_headers(srv_request *r, const char *method, const char *version)
{
    api_problem problem = {0};
    bool ok = srv__read_headers(r, method, version, &problem);
    if (!r->request_id[0]) {
        make_request_id(r);
    }
    if (!ok) {
        srv__refuse(r, &problem);
        return reply_early(r);
    }
    if (forbidden_upload(r)) {
        r->api.body = "";
        r->phase = SRV_PHASE_ANSWER;
        srv__dispatch(r);
        return r->suspended ? MHD_YES : reply_early(r);
    }
    r->phase = SRV_PHASE_BODY;
    return MHD_YES;
}

/// Large bodies share a budget, so that many slow uploads at once cannot take all memory.
static bool within_budget(srv_request *r)
{
    if (r->body_cap <= BODY_KEEP_BYTES || r->body_cap == r->budgeted) {
        return true;
    }
    srv_server *server = r->thread->server;
    size_t more = r->body_cap - r->budgeted;
    size_t least = server->limits.max_body <= SIZE_MAX / 4 ? 4 * server->limits.max_body : SIZE_MAX;
    r->budgeted += more;
    return atomic_fetch_add(&server->body_bytes, more) + more <= (least > BODIES_MAX_BYTES ? least : BODIES_MAX_BYTES);
}

static void discard_from_here(srv_request *r, api_code refusal)
{
    r->phase = SRV_PHASE_DISCARD;
    r->refusal = refusal;
    drop_large_body(r);
}

static enum MHD_Result take_body(srv_request *r, const char *data, size_t size)
{
    if (r->phase == SRV_PHASE_BODY && size > r->body_limit - r->body_bytes) {
        discard_from_here(r, API_TOO_LARGE); // a chunked body: an announced length was checked before
    }
    if (r->phase == SRV_PHASE_BODY &&
        (!reserve(&r->body, &r->body_cap, r->body_bytes + size + 1) || !within_budget(r))) {
        discard_from_here(r, API_OVERLOADED);
    }
    if (r->phase == SRV_PHASE_DISCARD) {
        r->discarded += size;
        return r->discarded > DISCARD_MAX_BYTES ? MHD_NO : MHD_YES;
    }
    memcpy(r->body + r->body_bytes, data, size);
    r->body_bytes += size;
    return MHD_YES;
}

static enum MHD_Result refuse_discarded(srv_request *r)
{
    api_problem problem;
    if (r->refusal == API_TOO_LARGE) {
        api_problem_set(&problem, API_TOO_LARGE, "the body may have at most %zu bytes", r->body_limit);
    } else {
        api_problem_set(&problem, API_OVERLOADED, "too many large bodies are arriving at once; nothing was started");
        problem.retry_after = 1;
    }
    srv__refuse(r, &problem);
    return srv__reply(r);
}

static enum MHD_Result take_end(srv_request *r)
{
    if (r->phase == SRV_PHASE_DISCARD) {
        return refuse_discarded(r);
    }
    if (!reserve(&r->body, &r->body_cap, r->body_bytes + 1)) {
        return MHD_NO;
    }
    r->body[r->body_bytes] = '\0';
    r->api.body = r->body;
    r->api.body_bytes = r->body_bytes;
    r->conn->state = SRV_CONN_BUSY;
    r->conn->deadline_ns = 0;
    r->phase = SRV_PHASE_ANSWER;
    srv__dispatch(r);
    return r->suspended ? MHD_YES : srv__reply(r);
}

enum MHD_Result srv__request_handle(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                                    const char *version, const char *upload_data, size_t *upload_data_size,
                                    void **con_cls)
{
    (void)cls, (void)connection, (void)url;
    srv_request *r = *con_cls;
    if (!r) {
        return MHD_NO; // no memory when it began
    }
    switch (r->phase) {
    case SRV_PHASE_HEAD:
        return take_headers(r, method, version);
    case SRV_PHASE_BODY:
    case SRV_PHASE_DISCARD: {
        size_t size = *upload_data_size;
        *upload_data_size = 0;
        return size > 0 ? take_body(r, upload_data, size) : take_end(r);
    }
    case SRV_PHASE_ANSWER:
        return r->gone ? MHD_NO : srv__reply(r);
    case SRV_PHASE_SENT:
        *upload_data_size = 0;
        return MHD_YES;
    }
    return MHD_NO;
}

static bool access_logged(srv_thread *thread)
{
    const srv_config *config = &thread->server->config;
    if (config->access_log != SRV_ACCESS_SAMPLED) {
        return config->access_log == SRV_ACCESS_ON;
    }
    // Evenly spread: a line whenever the running share passes a whole number.
    uint64_t n = ++thread->access_count;
    return (uint64_t)((double)n * config->access_share) != (uint64_t)((double)(n - 1) * config->access_share);
}

void srv__request_completed(void *cls, struct MHD_Connection *connection, void **con_cls,
                            enum MHD_RequestTerminationCode toe)
{
    srv_thread *thread = cls;
    srv_request *r = *con_cls;
    srv_conn *conn = srv__conn_of(connection);
    uint64_t now = srv_now_ns();
    if (conn) {
        conn->state = SRV_CONN_IDLE;
        conn->has_line = false;
        conn->deadline_ns = now + thread->server->config.idle_timeout_ms * SRV_NS_PER_MS;
        conn->bytes_seen = 0;
    }
    if (!r) {
        return;
    }
    *con_cls = NULL;
    if (r->answered && access_logged(thread)) {
        srv_log(SRV_INFO, SRV_EVENT("request"), SRV_TEXT("method", r->method), SRV_INT("status", r->response.status),
                SRV_REAL("ms", (double)(now - r->api.start_ns) / SRV_NS_PER_MS), SRV_TEXT("id", r->request_id),
                SRV_INT("sent", toe == MHD_REQUEST_TERMINATED_COMPLETED_OK), SRV_TEXT("traceparent", r->traceparent),
                SRV_TEXT("path", r->api.path)); // last: it may be long, and a line is cut
    }
    recycle(r);
}
