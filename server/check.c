// --check: the service without sockets, one mesh at a time.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "command_file.h"
#include "commands.h"
#include "server.h"

static void tell(const char *file, const api_problem *problem)
{
    fprintf(stderr, "navd: %s: %s: %s\n", file, api_code_text(problem->code), problem->detail);
}

static api_mesh *load(const char *file, char id[NAV_ID_MAX + 1], double *ms, api_problem *problem)
{
    srv_source source;
    srv_command_progress progress = srv_command_begin(file);
    if (!srv_command_read(&source, file, problem)) {
        return NULL;
    }
    const char *dot = strrchr(source.name, '.');
    int stem = dot ? (int)(dot - source.name) : (int)strlen(source.name);
    bool named = api_id_valid(source.name, (size_t)stem);
    snprintf(id, NAV_ID_MAX + 1, "%.*s", named ? stem : 4, named ? source.name : "mesh");
    uint64_t began = srv_now_ns();
    api_mesh *mesh = srv_source_load(&source, srv_command_tell_step, &progress, problem);
    *ms = (double)(srv_now_ns() - began) / SRV_NS_PER_MS;
    srv_command_end(&progress);
    srv_source_free(&source);
    return mesh;
}

static bool print_answer(api_context *context, const char *title, const char *path)
{
    api_request request = {
        .method = API_GET, .path = path, .body = "", .request_id = "check", .start_ns = srv_now_ns()};
    api_response response = {0};
    api_task *task = NULL;
    api_outcome outcome = api_begin(context, &request, &response, &task);
    while (outcome != API_DONE) {
        outcome = api_task_run(task, context, &response);
    }
    printf("%s: %.*s\n", title, (int)response.body.size, response.body.data ? response.body.data : "");
    bool ok = response.status == 200;
    api_buffer_free(&response.body);
    return ok;
}

static bool check_file(srv_server *server, api_context *context, const char *file)
{
    char id[NAV_ID_MAX + 1], path[NAV_ID_MAX + 32];
    api_problem problem;
    double ms = 0;
    api_mesh *mesh = load(file, id, &ms, &problem);
    if (!mesh) {
        tell(file, &problem);
        return false;
    }
    const char *slash = strrchr(file, '/');
    if (!srv_registry_publish(server->registry, id, mesh, slash ? slash + 1 : file, ms, NULL)) {
        fprintf(stderr, "navd: %s: no memory\n", file);
        return false;
    }
    printf("%s\n", file);
    snprintf(path, sizeof path, "/v1/meshes/%s", id);
    bool ok = print_answer(context, "summary", path);
    snprintf(path, sizeof path, "/v1/meshes/%s/report", id);
    ok = print_answer(context, "report", path) && ok;
    srv_registry_remove(server->registry, id);
    return ok;
}

int srv_check(char **files, int count)
{
    srv_server server = {.limits = api_limits_default(), .registry = srv_registry_create()};
    srv_host_init(&server);
    api_context *context = server.registry ? api_context_create(&server.host, &server.limits) : NULL;
    if (!context) {
        fprintf(stderr, "navd: no memory\n");
        srv_registry_destroy(server.registry);
        return 1;
    }
    int status = 0;
    for (int i = 0; i < count; i++) {
        if (!check_file(&server, context, files[i])) {
            status = 1;
        }
    }
    api_context_destroy(context);
    srv_registry_destroy(server.registry);
    return status;
}
