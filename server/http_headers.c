// What the headers say: the fields that the api wants, who may change things, and requests that must be
// refused before their body is read.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http_internal.h"

// Below libmicrohttpd's own limit, its memory for a connection, beyond which it answers by itself; together with
// what it keeps of each header that leaves room for the head of our answer.
#define URI_MAX 8192
#define HEADERS_MAX 8192
#define HEAD_MAX (SRV_CONNECTION_BYTES - 1024)
#define KEPT_OF_HEADER 80
#define HEADER_COUNT_MAX 100

/// What one walk over the headers collects.
typedef struct header_walk {
    srv_request *r;
    size_t bytes, count;
    unsigned length_fields, coding_fields, host_fields;
    bool malformed; ///< a name or a value with bytes that may not be there
    const char *length, *coding;
    const char *authorization, *origin, *host, *preflight, *encoding, *forwarded;
} header_walk;

static bool is(const char *key, size_t size, const char *name, size_t name_size)
{
    return size == name_size && strncasecmp(key, name, size) == 0;
}
#define IS(name) is(key, key_size, name, sizeof(name) - 1)

/// 1 to 64 of A-Z a-z 0-9 . _ -
static bool sane_request_id(const char *text, size_t size)
{
    if (size < 1 || size > SRV_REQUEST_ID_MAX) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
              c == '-')) {
            return false;
        }
    }
    return true;
}

static void take_request_id(srv_request *r, const char *value, size_t size)
{
    if (sane_request_id(value, size)) {
        memcpy(r->request_id, value, size);
        r->request_id[size] = '\0';
    }
}

/// RFC 9110 section 5.6.2: what names are made of. "Content-Length " is none: another server may read it all the
/// same and see the body end elsewhere.
static bool is_token(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    (c != '\0' && strchr("-_.!#$%&'*+^`|~", c));
        if (!good) {
            return false;
        }
    }
    return size > 0;
}

/// No control character but the tab (section 5.5): a carriage return ends the line for some.
static bool is_field_value(const char *text, size_t size)
{
    bool good = true;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        good &= (c >= 0x20 || c == '\t') & (c != 0x7F);
    }
    return good;
}

/// W3C Trace Context, section 3.2: "00-{32 digits}-{16 digits}-{2 digits}", more behind it in later versions.
static bool is_traceparent(const char *text, size_t size)
{
    static const char form[] = "xx-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";
    size_t length = sizeof form - 1;
    if (size < length || size > SRV_TRACE_MAX || (size > length && (text[length] != '-' || text[1] == '0'))) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        bool digit = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
        if (form[i] == 'x' ? !digit : text[i] != '-') {
            return false;
        }
    }
    return memcmp(text, "ff", 2) != 0 && strspn(text + 3, "0") < 32 && strspn(text + 36, "0") < 16;
}

static enum MHD_Result visit(void *cls, enum MHD_ValueKind kind, const char *key, size_t key_size, const char *value,
                             size_t value_size)
{
    (void)kind;
    header_walk *w = cls;
    api_request *api = &w->r->api;
    w->count++;
    w->bytes += key_size + value_size;
    w->malformed = w->malformed || !is_token(key, key_size) || (value && !is_field_value(value, value_size));
    if (!value) {
        return MHD_YES;
    }
    if (IS("Content-Type")) {
        api->content_type = value;
    } else if (IS("Content-Length")) {
        w->length_fields++;
        w->length = value;
    } else if (IS("Transfer-Encoding")) {
        w->coding_fields++;
        w->coding = value;
    } else if (IS("Accept")) {
        api->accept = value;
    } else if (IS("If-Match")) {
        api->if_match = value;
    } else if (IS("If-None-Match")) {
        api->if_none_match = value;
    } else if (IS("Last-Event-ID")) {
        api->last_event_id = value;
    } else if (IS("X-Request-Id")) {
        take_request_id(w->r, value, value_size);
    } else if (IS("traceparent")) {
        w->r->traceparent = is_traceparent(value, value_size) ? value : NULL;
    } else if (IS("Authorization")) {
        w->authorization = value;
    } else if (IS("Origin")) {
        w->origin = value;
    } else if (IS("Host")) {
        w->host_fields++;
        w->host = value;
    } else if (IS("Accept-Encoding")) {
        w->encoding = value;
    } else if (IS("Access-Control-Request-Method")) {
        w->preflight = value;
    } else if (IS("X-Forwarded-For") || IS("Forwarded")) {
        w->forwarded = value;
    }
    return MHD_YES;
}

static api_method method_of(const char *method)
{
    static const struct {
        const char *name;
        api_method method;
    } methods[] = {{"GET", API_GET},       {"POST", API_POST},   {"HEAD", API_HEAD},      {"PUT", API_PUT},
                   {"DELETE", API_DELETE}, {"PATCH", API_PATCH}, {"OPTIONS", API_OPTIONS}};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (strcmp(method, methods[i].name) == 0) {
            return methods[i].method;
        }
    }
    return API_OTHER;
}

/// localhost or below it, 127.…, [::1], each with a port or without: names that lead to this machine whoever
/// answers for the others.
static bool names_this_machine(const char *host)
{
    static const char name[] = "localhost";
    size_t size = strcspn(host, "[:"), length = sizeof name - 1;
    if (strncmp(host, "127.", 4) == 0) {
        return strspn(host, "0123456789.") == size;
    }
    if (size < length || strncasecmp(host + size - length, name, length) != 0) {
        return strncmp(host, "[::1]", 5) == 0 && (host[5] == '\0' || host[5] == ':');
    }
    return size == length || host[size - length - 1] == '.';
}

/// "scheme://host[:port]" is the page that this server itself gave out. By its name alone that would also be a
/// page of somebody whose name was made to lead here after it was loaded (DNS rebinding).
static bool is_own_origin(const char *origin, const char *host)
{
    const char *after = strstr(origin, "://");
    return after && host && strcasecmp(after + 3, host) == 0 && names_this_machine(host);
}

static bool origin_allowed(const srv_config *config, const char *origin)
{
    for (uint32_t i = 0; i < config->cors_origin_count; i++) {
        if (strcmp(config->cors_origin[i], "*") == 0 || strcmp(config->cors_origin[i], origin) == 0) {
            return true;
        }
    }
    return false;
}

/// With a token: who shows it. Without: peers on this machine, unless a proxy speaks for somebody else
/// or a foreign web page speaks through its reader's browser.
static void judge_rights(srv_request *r, const header_walk *w)
{
    srv_server *server = r->thread->server;
    if (srv_auth_has_token(server->auth)) {
        r->api.may_change = w->authorization && srv_auth_check(server->auth, w->authorization);
        r->api.token_missing = !r->api.may_change;
        return;
    }
    bool foreign_page = w->origin && !is_own_origin(w->origin, w->host) && !origin_allowed(&server->config, w->origin);
    r->api.may_change = r->conn->local && !w->forwarded && !foreign_page;
}

/// "gzip" among the codings, else "*", and not with q=0.
static bool accepts_gzip(const char *encoding)
{
    bool accepted = false;
    for (const char *at = encoding; *at;) {
        at += strspn(at, " \t,");
        size_t name = strcspn(at, " \t,;");
        size_t item = strcspn(at, ",");
        bool gzip = name == 4 && strncasecmp(at, "gzip", 4) == 0;
        if (gzip || (name == 1 && *at == '*')) {
            const char *q = memmem(at, item, "q=", 2);
            accepted = !q || strtod(q + 2, NULL) > 0;
            if (gzip) {
                return accepted;
            }
        }
        at += item;
    }
    return accepted;
}

/// Two ways to say where a body ends are one too many: a proxy may believe the other one (request
/// smuggling, RFC 9112 section 6.3).
static bool check_framing(srv_request *r, const header_walk *w, api_problem *problem)
{
    if (w->length_fields + w->coding_fields > 1) {
        api_problem_set(problem, API_BAD_REQUEST, "Content-Length and Transfer-Encoding may be sent once and not both");
        return false;
    }
    if (w->coding && strcasecmp(w->coding, "chunked") != 0) {
        api_problem_set(problem, API_BAD_REQUEST, "of transfer codings only chunked is known");
        return false;
    }
    if (!w->length) {
        if (!w->coding && r->api.method == API_PUT) {
            api_problem_set(problem, API_LENGTH_REQUIRED, "PUT needs a body with its Content-Length");
            return false;
        }
        r->announced = w->coding ? SIZE_MAX : 0;
        return true;
    }
    size_t digits = strspn(w->length, "0123456789");
    if (digits == 0 || w->length[digits]) {
        api_problem_set(problem, API_BAD_REQUEST, "Content-Length is not a number");
        return false;
    }
    r->announced = digits > 18 ? SIZE_MAX : strtoull(w->length, NULL, 10);
    if (r->announced > r->body_limit) {
        api_problem_set(problem, API_TOO_LARGE, "the body may have at most %zu bytes", r->body_limit);
        return false;
    }
    return true;
}

/// RFC 9112 section 3.2. (libmicrohttpd would check this too, but 0.9.75 garbles its answer.)
static bool check_host(const header_walk *w, const char *version, api_problem *problem)
{
    if (w->host_fields > 1) {
        api_problem_set(problem, API_BAD_REQUEST, "the Host header is there twice");
        return false;
    }
    if (w->host || strcmp(version, MHD_HTTP_VERSION_1_1) != 0) {
        return true;
    }
    api_problem_set(problem, API_BAD_REQUEST, "the Host header is missing");
    return false;
}

static bool check_bytes(const header_walk *w, api_problem *problem)
{
    if (w->malformed) {
        api_problem_set(problem, API_BAD_REQUEST, "a header's name or value holds characters that may not be there");
    }
    return !w->malformed;
}

bool srv__read_headers(srv_request *r, const char *method, const char *version, api_problem *problem)
{
    srv_server *server = r->thread->server;
    header_walk w = {.r = r};
    r->method = method;
    r->api.method = method_of(method);
    MHD_get_connection_values_n(r->connection, MHD_HEADER_KIND, visit, &w);
    r->body_limit = api_body_limit(&server->limits, r->api.method, r->api.path);
    r->accepts_gzip = w.encoding && accepts_gzip(w.encoding);
    if (w.origin && origin_allowed(&server->config, w.origin)) {
        r->origin = w.origin;
        r->preflight = r->api.method == API_OPTIONS ? w.preflight : NULL;
    }
    judge_rights(r, &w);
    if (!check_bytes(&w, problem) || !check_host(&w, version, problem) || !check_framing(r, &w, problem)) {
        return false;
    }
    size_t uri_bytes = strlen(r->api.path) + (r->api.query ? strlen(r->api.query) + 1 : 0);
    if (uri_bytes > URI_MAX) {
        api_problem_set(problem, API_URI_TOO_LONG, "path and query may have at most %d bytes; POST takes more",
                        URI_MAX);
        return false;
    }
    if (w.bytes > HEADERS_MAX || w.count > HEADER_COUNT_MAX ||
        uri_bytes + w.bytes + w.count * KEPT_OF_HEADER > HEAD_MAX) {
        api_problem_set(problem, API_HEADERS_TOO_LARGE,
                        "at most %d headers with %d bytes in all are taken, fewer after a long query string",
                        HEADER_COUNT_MAX, HEADERS_MAX);
        return false;
    }
    return true;
}
