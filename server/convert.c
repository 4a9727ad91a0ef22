// --convert: a mesh file to a .navd.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "command_file.h"
#include "commands.h"

static bool fail(const char *file, const api_problem *problem)
{
    fprintf(stderr, "navd: %s: %s: %s\n", file, api_code_text(problem->code), problem->detail);
    return false;
}

static bool write_out(const char *out, const void *bytes, size_t size, api_problem *problem)
{
    char folder[PATH_MAX];
    const char *name;
    srv_staged staged;
    srv_look look;
    if (!srv_command_split(out, folder, &name)) {
        api_problem_set(problem, API_NOT_FOUND, "no such folder");
        return false;
    }
    return srv_file_stage(&staged, folder, name, bytes, size, problem) && srv_file_commit(&staged, &look, problem) &&
           srv_files_sync(folder, problem);
}

int srv_convert(const char *in, const char *out)
{
    api_problem problem;
    srv_source source;
    srv_command_progress progress = srv_command_begin(in);
    if (!srv_command_read(&source, in, &problem)) {
        fail(in, &problem);
        return 1;
    }
    api_mesh *mesh = srv_source_load(&source, srv_command_tell_step, &progress, &problem);
    void *bytes = NULL;
    size_t size = 0;
    bool ok = mesh || fail(in, &problem);
    if (ok && strcmp(mesh->format, "navd") == 0) {
        api_problem_set(&problem, API_BAD_REQUEST, "it is a .navd already");
        ok = fail(in, &problem);
    }
    if (ok) {
        srv_command_tell(&progress, "writing");
        ok = api_mesh_cook(mesh, source.sidecar.data, &bytes, &size, &problem) || fail(in, &problem);
        ok = ok && (write_out(out, bytes, size, &problem) || fail(out, &problem));
    }
    srv_command_end(&progress);
    if (ok) {
        nav_mesh_info info;
        nav_mesh_get_info(mesh->nav, &info);
        printf("%s: %u polygons, %zu bytes, %.0f ms\n", out, info.polygons, size,
               (double)(srv_now_ns() - progress.began_ns) / SRV_NS_PER_MS);
    }
    free(bytes);
    api_mesh_destroy(mesh);
    srv_source_free(&source);
    return ok ? 0 : 1;
}
