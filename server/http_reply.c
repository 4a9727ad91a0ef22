// From a filled response to libmicrohttpd's. The body is handed over, never copied.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "clock.h"
#include "http_internal.h"
#include "log.h"
#include "number.h"

#define COMPRESS_MIN_BYTES 1024
#define COMPRESS_LEVEL 1
#define GZIP_WINDOW_BITS (15 + 16) // zlib: 16 more asks for gzip's frame
#define SEND_BYTES_PER_MS 8        // a client that takes an answer more slowly than this is cut

static bool is_text(const char *content_type)
{
    return content_type && (strstr(content_type, "json") || strncmp(content_type, "text/", 5) == 0 ||
                            strncmp(content_type, "model/", 6) == 0);
}

void srv__compress(srv_request *r)
{
    api_buffer *body = &r->response.body;
    r->varies = body->size > COMPRESS_MIN_BYTES && body->size <= UINT32_MAX && is_text(r->response.content_type);
    if (!r->accepts_gzip || !r->varies) {
        return;
    }
    z_stream z = {0};
    if (deflateInit2(&z, COMPRESS_LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        return;
    }
    // One step with room for the worst case; on any failure the plain body is as good an answer.
    size_t bound = deflateBound(&z, body->size);
    char *packed = malloc(bound);
    if (packed) {
        z.next_in = (Bytef *)body->data;
        z.avail_in = (uInt)body->size;
        z.next_out = (Bytef *)packed;
        z.avail_out = (uInt)bound;
        if (bound <= UINT32_MAX && deflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out < body->size) {
            api_buffer_free(body);
            *body = (api_buffer){.data = packed, .size = z.total_out, .cap = bound};
            packed = NULL;
            r->compressed = true;
        }
        free(packed);
    }
    deflateEnd(&z);
}

static void add(struct MHD_Response *out, const char *name, const char *value)
{
    // Fails only without memory; an answer with a header less beats none.
    (void)MHD_add_response_header(out, name, value);
}

static void add_cors(const srv_request *r, struct MHD_Response *out)
{
    add(out, "Access-Control-Allow-Origin", r->origin);
    add(out, "Vary", "Origin");
    if (!r->preflight) {
        add(out, "Access-Control-Expose-Headers", "ETag, Location, Retry-After, X-Request-Id, traceparent");
        return;
    }
    add(out, "Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE");
    add(out, "Access-Control-Allow-Headers",
        "Authorization, Content-Type, If-Match, If-None-Match, X-Request-Id, traceparent");
    add(out, "Access-Control-Max-Age", "600");
}

static void add_headers(const srv_request *r, struct MHD_Response *out)
{
    const api_response *response = &r->response;
    char text[API_NUMBER_MAX + 3];
    add(out, "X-Request-Id", r->request_id);
    if (r->traceparent) { // so that who asks can tell which of its requests this one answers
        add(out, "traceparent", r->traceparent);
    }
    if (response->content_type) {
        add(out, "Content-Type", response->content_type);
    }
    if (response->content_policy) {
        add(out, "Content-Security-Policy", response->content_policy);
        add(out, "X-Content-Type-Options", "nosniff");
        add(out, "Referrer-Policy", "no-referrer");
        add(out, "Cache-Control", "no-cache");
    }
    if (response->revision) {
        size_t length = api_number_u64(text + 1, response->revision);
        text[0] = text[length + 1] = '"';
        text[length + 2] = '\0';
        add(out, "ETag", text);
    }
    if (response->allow) {
        add(out, "Allow", response->allow);
    }
    if (response->retry_after) {
        snprintf(text, sizeof text, "%d", response->retry_after);
        add(out, "Retry-After", text);
    }
    if (response->location[0]) {
        add(out, "Location", response->location);
    }
    if (response->status == MHD_HTTP_UNAUTHORIZED) {
        add(out, "WWW-Authenticate", "Bearer");
    }
    if (response->content_type && strcmp(response->content_type, "text/event-stream") == 0) {
        add(out, "Cache-Control", "no-store");
        add(out, "X-Accel-Buffering", "no"); // nginx would hold events back
    }
    if (r->compressed) {
        add(out, "Content-Encoding", "gzip");
    }
    if (r->varies) { // a cache must know it of the plain one, too
        add(out, "Vary", "Accept-Encoding");
    }
    if (r->origin) {
        add_cors(r, out);
    }
    if (r->close || atomic_load_explicit(&r->thread->server->draining, memory_order_relaxed)) {
        add(out, "Connection", "close");
    }
}

static struct MHD_Response *make(srv_request *r)
{
    api_buffer *body = &r->response.body;
    if (r->response.stream) {
        return srv__stream_response(r);
    }
    if (body->size == 0) {
        return MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
    }
    struct MHD_Response *out = MHD_create_response_from_buffer_with_free_callback(body->size, body->data, free);
    if (out) {
        *body = (api_buffer){0}; // libmicrohttpd's from now on
    }
    return out;
}

/// What an operator should know of: our own faults by their request id, and changes that came to nothing.
static void tell(const srv_request *r)
{
    int status = r->response.status;
    bool ours = status == MHD_HTTP_INTERNAL_SERVER_ERROR || status == MHD_HTTP_INSUFFICIENT_STORAGE;
    if (ours || (r->is_job && status >= 400)) {
        srv_log(ours ? SRV_ERROR : SRV_WARN, SRV_EVENT(ours ? "request failed" : "change refused"),
                SRV_TEXT("method", r->method), SRV_INT("status", status), SRV_TEXT("id", r->request_id),
                SRV_TEXT("traceparent", r->traceparent), SRV_TEXT("path", r->api.path));
    }
}

static void count(srv_request *r, uint64_t now)
{
    srv_thread_metrics *metrics = r->thread->metrics;
    srv_metrics_count(metrics, r->response.route, r->response.status, now - r->api.start_ns);
    if (r->response.status == MHD_HTTP_GATEWAY_TIMEOUT) {
        srv_metric_add(&metrics->deadlines, 1);
    }
    r->answered = true;
}

enum MHD_Result srv__reply(srv_request *r)
{
    size_t bytes = r->response.body.size;
    struct MHD_Response *out = make(r);
    if (!out) {
        return MHD_NO;
    }
    add_headers(r, out);
    enum MHD_Result result = MHD_queue_response(r->connection, (unsigned)r->response.status, out);
    MHD_destroy_response(out); // the queue holds it now
    if (result == MHD_YES) {
        const srv_config *config = &r->thread->server->config;
        uint64_t now = srv_now_ns();
        r->phase = SRV_PHASE_SENT;
        r->conn->state = SRV_CONN_SENDING;
        r->conn->deadline_ns = now + (config->request_timeout_ms + bytes / SEND_BYTES_PER_MS) * SRV_NS_PER_MS;
        count(r, now);
        tell(r);
    }
    return result;
}
