/// Calls about the service itself.
#include <stdlib.h>

#include "api_version.h"
#include "embedded.h"
#include "route.h"

static api_outcome answer_text(api_call *call, const char *text)
{
    api_buffer_add_text(&call->response->body, text);
    return api_succeed(call->response, 200);
}

api_outcome api_service_version(api_call *call)
{
    return answer_text(call, "{\"name\":\"" API_PROGRAM "\",\"version\":\"" API_VERSION "\"}");
}

api_outcome api_service_livez(api_call *call)
{
    return answer_text(call, "{\"status\":\"ok\"}");
}

api_outcome api_service_readyz(api_call *call)
{
    const api_host *host = &call->context->host;
    if (host->ready(host->ctx)) {
        return answer_text(call, "{\"status\":\"ready\"}");
    }
    api_problem problem;
    if (host->draining(host->ctx)) {
        api_problem_set(&problem, API_DRAINING, "the service is shutting down");
    } else {
        api_problem_set(&problem, API_OVERLOADED, "the mesh folder is still being read");
    }
    problem.retry_after = 1;
    return api_fail(call, &problem);
}

/// Counts of meshes by state, and the failed ones.
typedef struct mesh_counts {
    size_t total, serving;
} mesh_counts;

static void add_entry(api_json *json, const api_mesh_entry *entry, mesh_counts *counts)
{
    counts->total++;
    if (entry->mesh) {
        counts->serving++;
    }
    if (!entry->has_error && entry->state != API_MESH_FAILED) {
        return;
    }
    api_json_open(json, '{');
    api_json_key(json, "id");
    api_json_text(json, entry->id);
    api_json_key(json, "serving");
    api_json_bool(json, entry->mesh);
    api_json_key(json, "code");
    api_json_text(json, entry->error_code);
    api_json_key(json, "detail");
    api_json_text(json, entry->error_detail);
    api_json_close(json, '}');
}

static bool add_entries(const api_host *host, api_json *json, mesh_counts *counts)
{
    enum { CHUNK = 32 };
    api_mesh_entry *entries = malloc(CHUNK * sizeof *entries);
    if (!entries) {
        return false;
    }
    size_t total = 1;
    for (size_t done = 0; done < total; done += CHUNK) {
        total = host->entries(host->ctx, done, entries, CHUNK);
        size_t count = total > done ? total - done : 0;
        for (size_t i = 0; i < count && i < CHUNK; i++) {
            add_entry(json, &entries[i], counts);
            if (entries[i].mesh) {
                host->release(host->ctx, entries[i].mesh);
            }
        }
    }
    free(entries);
    return true;
}

api_outcome api_service_healthz(api_call *call)
{
    api_buffer failed = {0};
    api_json list = api_json_begin(&failed);
    mesh_counts counts = {0};
    api_json_open(&list, '[');
    bool listed = add_entries(&call->context->host, &list, &counts);
    api_json_close(&list, ']');
    if (!listed || failed.failed) {
        api_buffer_free(&failed);
        api_problem problem;
        api_problem_set(&problem, API_INTERNAL, "out of memory");
        return api_fail(call, &problem);
    }
    api_json json = api_json_begin(&call->response->body);
    api_json_open(&json, '{');
    api_json_key(&json, "status");
    api_json_word(&json, failed.size > strlen("[]") ? "degraded" : "ok");
    api_json_key(&json, "meshes");
    api_json_open(&json, '{');
    api_json_key(&json, "total");
    api_json_u64(&json, counts.total);
    api_json_key(&json, "serving");
    api_json_u64(&json, counts.serving);
    api_json_key(&json, "failed");
    api_buffer_add(json.out, failed.data, failed.size);
    api_buffer_free(&failed);
    api_json_close(&json, '}');
    api_json_close(&json, '}');
    return api_succeed(call->response, 200);
}

api_outcome api_service_metrics(api_call *call)
{
    const api_host *host = &call->context->host;
    host->metrics(host->ctx, &call->response->body);
    call->response->content_type = "text/plain; version=0.0.4; charset=utf-8";
    return api_succeed(call->response, 200);
}

api_outcome api_service_openapi(api_call *call)
{
    api_buffer_add(&call->response->body, api_openapi_begin, (size_t)(api_openapi_end - api_openapi_begin));
    return api_succeed(call->response, 200);
}

/// A part of the viewer. Only what this server itself gives out may run, style or be asked by it.
static api_outcome answer_file(api_call *call, const char *begin, const char *end, const char *type)
{
    api_response *response = call->response;
    api_buffer_add(&response->body, begin, (size_t)(end - begin));
    response->content_type = type;
    response->content_policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                               "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    return api_succeed(response, 200);
}

api_outcome api_service_page(api_call *call)
{
    return answer_file(call, api_page_begin, api_page_end, "text/html; charset=utf-8");
}

api_outcome api_service_page_script(api_call *call)
{
    return answer_file(call, api_page_script_begin, api_page_script_end, "text/javascript; charset=utf-8");
}

api_outcome api_service_page_style(api_call *call)
{
    return answer_file(call, api_page_style_begin, api_page_style_end, "text/css; charset=utf-8");
}
