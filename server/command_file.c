#include "command_file.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

bool srv_command_split(const char *file, char folder[PATH_MAX], const char **name)
{
    const char *slash = strrchr(file, '/');
    char given[PATH_MAX];
    size_t length = slash ? (size_t)(slash - file) : 1;
    if (length >= sizeof given) {
        return false;
    }
    memcpy(given, slash ? file : ".", length);
    given[length] = '\0';
    *name = slash ? slash + 1 : file;
    return realpath(length ? given : "/", folder) != NULL;
}

bool srv_command_read(srv_source *source, const char *file, api_problem *problem)
{
    char folder[PATH_MAX], sidecar[PATH_MAX];
    const char *name;
    api_problem_set(problem, API_NOT_FOUND, "no such file");
    if (!srv_command_split(file, folder, &name)) {
        return false;
    }
    const char *dot = strrchr(name, '.');
    int stem = dot ? (int)(dot - name) : (int)strlen(name);
    snprintf(sidecar, sizeof sidecar, "%.*s.meta.json", stem, name);
    return srv_source_read(source, folder, name, sidecar, problem) == SRV_READ_OK;
}

srv_command_progress srv_command_begin(const char *file)
{
    return (srv_command_progress){.file = file, .began_ns = srv_now_ns()};
}

void srv_command_tell(srv_command_progress *progress, const char *what)
{
    double seconds = (double)(srv_now_ns() - progress->began_ns) / (1000.0 * SRV_NS_PER_MS);
    if (isatty(STDERR_FILENO) || seconds >= 1) {
        fprintf(stderr, "%s%s: %s (%.1f s)%s", isatty(STDERR_FILENO) ? "\r" : "", progress->file, what, seconds,
                isatty(STDERR_FILENO) ? "\x1B[K" : "\n");
        fflush(stderr);
        progress->told = true;
    }
}

void srv_command_tell_step(void *progress, unsigned step, unsigned of)
{
    char what[48];
    snprintf(what, sizeof what, "building, step %u of %u", step + 1, of);
    srv_command_tell(progress, what);
}

void srv_command_end(srv_command_progress *progress)
{
    if (progress->told && isatty(STDERR_FILENO)) {
        fputs("\r\x1B[K", stderr);
    }
}
