// The process as the api sees it (api_host), on top of registry, folder and metrics.
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "http.h"
#include "log.h"
#include "server.h"

static uint64_t now_ns(void *ctx)
{
    (void)ctx;
    return srv_now_ns();
}

static const api_mesh *acquire(void *ctx, const char *id)
{
    srv_server *server = ctx;
    return srv_registry_acquire(server->registry, id);
}

static void release(void *ctx, const api_mesh *mesh)
{
    srv_server *server = ctx;
    if (mesh->shrunk_by > 0) {
        srv_radius_release(server->radius, mesh);
    } else {
        srv_registry_release(server->registry, mesh);
    }
}

static const api_mesh *shrunk(void *ctx, const api_mesh *mesh, double difference, bool wait, api_problem *problem)
{
    srv_server *server = ctx;
    return srv_radius_acquire(server->radius, mesh, difference, wait, problem);
}

static bool entry(void *ctx, const char *id, api_mesh_entry *out)
{
    srv_server *server = ctx;
    return srv_registry_entry(server->registry, id, out);
}

static size_t entries(void *ctx, size_t skip, api_mesh_entry *out, size_t cap)
{
    srv_server *server = ctx;
    return srv_registry_entries(server->registry, skip, out, cap);
}

/// Without a mesh folder nothing can be kept; the mesh then serves until the process ends.
static bool put(void *ctx, const char *id, api_mesh *mesh, const void *bytes, size_t size, const char *sidecar,
                bool persist, bool *created, api_problem *problem)
{
    srv_server *server = ctx;
    char name[256] = SRV_SOURCE_UPLOAD, ending[API_ENDING_MAX + 1];
    bool keep = persist && server->folder;
    if (keep && !srv_folder_keep(server->folder, id, api_mesh_extension(mesh->format, ending), bytes, size, sidecar,
                                 name, problem)) {
        srv_log(SRV_ERROR, SRV_EVENT("an uploaded mesh could not be kept"), SRV_TEXT("mesh", id),
                SRV_TEXT("code", api_code_text(problem->code)), SRV_TEXT("detail", problem->detail));
        api_mesh_destroy(mesh);
        return false;
    }
    uint64_t began = srv_pool_began_ns();
    double ms = began ? (double)(srv_now_ns() - began) / SRV_NS_PER_MS : 0;
    if (!srv_edits_publish(server->edits, id, mesh, name, ms, created, problem)) {
        return false;
    }
    srv_log(SRV_INFO, SRV_EVENT("mesh uploaded"), SRV_TEXT("mesh", id), SRV_INT("bytes", size), SRV_REAL("ms", ms),
            SRV_TEXT("kept", keep ? name : "no"));
    return true;
}

static char *sidecar_text(void *ctx, const char *id)
{
    srv_server *server = ctx;
    return server->folder ? srv_folder_sidecar(server->folder, id) : NULL;
}

static bool remove_mesh(void *ctx, const char *id, api_problem *problem)
{
    srv_server *server = ctx;
    api_mesh_entry known;
    if (!srv_registry_entry(server->registry, id, &known)) {
        api_problem_set(problem, API_NOT_FOUND, "there is no mesh `%s`", id);
        return false;
    }
    srv_registry_release(server->registry, known.mesh);
    if ((server->folder && !srv_folder_remove(server->folder, id, problem)) ||
        !srv_edits_forget(server->edits, id, problem)) {
        return false;
    }
    if (!srv_registry_remove(server->registry, id)) {
        api_problem_set(problem, API_NOT_FOUND, "there is no mesh `%s`", id);
        return false;
    }
    srv_log(SRV_INFO, SRV_EVENT("mesh deleted"), SRV_TEXT("mesh", id));
    return true;
}

static bool reload(void *ctx, const char *id, api_problem *problem)
{
    srv_server *server = ctx;
    api_mesh_entry e;
    if (!srv_registry_entry(server->registry, id, &e)) {
        api_problem_set(problem, API_NOT_FOUND, "there is no mesh `%s`", id);
        return false;
    }
    srv_registry_release(server->registry, e.mesh);
    problem->code = API_NOT_FOUND;
    if (server->folder && srv_folder_reload(server->folder, id, problem)) {
        return true;
    }
    if (problem->code == API_NOT_FOUND) {
        api_problem_set(problem, API_CONFLICT, "mesh `%s` has no file to read again", id);
    }
    return false;
}

static void *edit(void *ctx, const char *id, const api_edit_request *request, api_edited *edited, uint64_t *revision)
{
    srv_server *server = ctx;
    return srv_edits_apply(server->edits, id, request, edited, revision);
}

static bool edit_commit(void *ctx, void *ticket, api_problem *problem)
{
    srv_server *server = ctx;
    return srv_edits_commit(server->edits, ticket, problem);
}

static void edit_drop(void *ctx, void *ticket)
{
    srv_server *server = ctx;
    srv_edits_drop(server->edits, ticket);
}

static void metrics(void *ctx, api_buffer *out)
{
    srv_metrics_write(ctx, out);
}

static bool draining(void *ctx)
{
    srv_server *server = ctx;
    return atomic_load_explicit(&server->draining, memory_order_relaxed);
}

static bool ready(void *ctx)
{
    srv_server *server = ctx;
    return !draining(ctx) && (!server->folder || srv_folder_ready(server->folder));
}

static bool client_gone(void *ctx, const api_request *request)
{
    (void)ctx;
    return srv_http_client_gone(request);
}

void srv_host_init(srv_server *server)
{
    server->host = (api_host){
        .ctx = server,
        .now_ns = now_ns,
        .acquire = acquire,
        .release = release,
        .shrunk = shrunk,
        .entry = entry,
        .entries = entries,
        .put = put,
        .sidecar = sidecar_text,
        .remove = remove_mesh,
        .reload = reload,
        .edit = edit,
        .edit_commit = edit_commit,
        .edit_drop = edit_drop,
        .metrics = metrics,
        .ready = ready,
        .draining = draining,
        .client_gone = client_gone,
        .agents = srv_crowds_host(),
    };
}
