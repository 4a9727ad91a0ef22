// navd: puts the process together and takes it apart again.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "api_version.h"
#include "clock.h"
#include "commands.h"
#include "http.h"
#include "log.h"
#include "loop.h"
#include "server.h"

#define JOB_THREADS 2
#define JOB_BOUND 64
#define WORKER_NICE 10 // heavy queries yield to cheap ones,
#define JOB_NICE 15    // and changes of meshes to both
#define DESCRIPTORS_BESIDE_CONNECTIONS 128

#define EXIT_CANNOT_START 1
#define EXIT_USAGE 2

/// A mesh whose last reader is gone, on its way to a job thread: freeing hundreds of megabytes takes
/// milliseconds that no serving thread has.
typedef struct disposal {
    srv_work work;
    srv_server *server;
    api_mesh *mesh;
} disposal;

static void run_disposal(srv_work *work, srv_worker *worker)
{
    (void)worker;
    disposal *d = (disposal *)work;
    srv_radius_forget(d->server->radius, d->mesh->revision);
    api_mesh_destroy(d->mesh);
    free(d);
}

static bool dispose(void *ctx, api_mesh *mesh)
{
    disposal *d = calloc(1, sizeof *d);
    if (!d) {
        return false;
    }
    d->work.run = run_disposal;
    d->server = ctx;
    d->mesh = mesh;
    srv_pool_again(d->server->jobs, &d->work);
    return true;
}

static void set_limits(srv_server *server)
{
    const srv_config *config = &server->config;
    server->limits = api_limits_default();
    server->limits.max_body = config->max_body;
    if (server->limits.max_query_body > config->max_body) {
        server->limits.max_query_body = config->max_body;
    }
    server->limits.max_batch = (uint32_t)config->max_batch;
    server->limits.max_matrix = (uint32_t)config->max_matrix;
    server->limits.max_agents = (uint32_t)config->max_agents;
    server->limits.max_nodes = (uint32_t)config->max_nodes;
    if (server->limits.inline_nodes > server->limits.max_nodes) {
        server->limits.inline_nodes = server->limits.max_nodes;
    }
}

/// As many descriptors as the system gives, and no more connections than they allow.
static void fit_descriptors(srv_config *config)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return;
    }
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return;
    }
    uint64_t room = limit.rlim_cur > 2 * DESCRIPTORS_BESIDE_CONNECTIONS
                        ? limit.rlim_cur - DESCRIPTORS_BESIDE_CONNECTIONS
                        : limit.rlim_cur / 2;
    if (config->max_connections > room) {
        srv_log(SRV_WARN, SRV_EVENT("max-connections lowered to what the descriptor limit allows"),
                SRV_INT("from", config->max_connections), SRV_INT("to", room));
        config->max_connections = room;
    }
}

static bool create_pools(srv_server *server)
{
    const srv_config *config = &server->config;
    srv_pool_options workers = {
        .name = "work",
        .threads = (uint32_t)config->workers,
        .bound = (uint32_t)config->max_queue,
        .nice = WORKER_NICE,
        .host = &server->host,
        .limits = &server->limits,
    };
    srv_pool_options jobs = workers;
    jobs.name = "job";
    jobs.threads = JOB_THREADS;
    jobs.bound = JOB_BOUND;
    jobs.nice = JOB_NICE;
    server->workers = srv_pool_create(&workers);
    server->jobs = srv_pool_create(&jobs);
    return server->workers && server->jobs;
}

/// The agents of meshes, which are taken over by each revision that is published.
static bool create_crowds(srv_server *server)
{
    const srv_config *config = &server->config;
    srv_crowds_options options = {
        .registry = server->registry,
        .workers = server->workers,
        .worker_count = (uint32_t)config->workers,
        .max_agents = (uint32_t)config->max_agents,
    };
    server->crowds = srv_crowds_create(&options);
    if (server->crowds) {
        srv_registry_set_watch(server->registry, srv_crowds_mesh_changed, server->crowds);
    }
    return server->crowds;
}

/// Everything but the sockets. @return false and one line in `error`
static bool prepare(srv_server *server, char *error, size_t error_size)
{
    const srv_config *config = &server->config;
    snprintf(error, error_size, "no memory or no thread");
    server->started_ms = srv_wall_ms();
    srv_host_init(server);
    server->metrics = calloc(config->threads, sizeof *server->metrics);
    server->registry = srv_registry_create();
    server->auth = srv_auth_create(config->token_file, error, error_size);
    if (!server->metrics || !server->registry || !server->auth) {
        return false;
    }
    if (config->state) {
        server->state = srv_state_open(config->state, error, error_size);
        if (!server->state) {
            return false;
        }
    }
    server->edits = srv_edits_create(server->registry, server->state);
    server->radius = srv_radius_create(server->registry, config->radius_cache);
    if (!server->edits || !server->radius) {
        return false;
    }
    if (config->meshes) {
        server->folder = srv_folder_open(config->meshes, server->registry, server->edits, error, error_size);
        if (!server->folder) {
            return false;
        }
    }
    if (!create_pools(server) || !create_crowds(server)) {
        return false;
    }
    srv_registry_set_dispose(server->registry, dispose, server);
    return true;
}

static void announce(const srv_server *server)
{
    const char *url;
    for (size_t i = 0; (url = srv_http_url(server->http, i)); i++) {
        printf("navd listening on %s\n", url);
        fflush(stdout);
    }
    srv_log(SRV_INFO, SRV_EVENT("serving"), SRV_TEXT("version", API_VERSION),
            SRV_INT("threads", server->config.threads), SRV_INT("workers", server->config.workers),
            SRV_TEXT("meshes", server->folder ? srv_folder_path(server->folder) : "none"),
            SRV_TEXT("state", server->config.state ? server->config.state : "none"));
}

/// In this order: no work is left that could touch a connection, then no connection that could ask for
/// work or hold a mesh, then the meshes.
static void take_down(srv_server *server)
{
    atomic_store(&server->draining, true);
    if (server->registry) {
        srv_registry_set_dispose(server->registry, NULL, NULL);
    }
    srv_crowds_stop(server->crowds);
    srv_pool_stop(server->workers);
    srv_pool_stop(server->jobs);
    srv_http_stop(server->http);
    srv_pool_destroy(server->workers);
    srv_pool_destroy(server->jobs);
    srv_folder_close(server->folder);
    srv_crowds_destroy(server->crowds);
    srv_radius_destroy(server->radius);
    srv_edits_destroy(server->edits);
    srv_state_close(server->state);
    srv_registry_destroy(server->registry);
    srv_auth_destroy(server->auth);
    free(server->metrics);
}

static int cannot_start(srv_server *server, srv_loop *loop, const char *error)
{
    fprintf(stderr, "navd: %s\n", error);
    take_down(server);
    if (loop) {
        srv_loop_destroy(loop);
    }
    return EXIT_CANNOT_START;
}

static int serve(srv_server *server)
{
    char error[512];
    signal(SIGPIPE, SIG_IGN);
    srv_log_setup(server->config.log_level, server->config.log_json);
    fit_descriptors(&server->config);
    set_limits(server);
    srv_loop *loop = srv_loop_create(server, error, sizeof error);
    if (!loop || !prepare(server, error, sizeof error)) {
        return cannot_start(server, loop, error);
    }
    srv_radius_connect(server->radius, server->workers);
    srv_edits_connect(server->edits, server->jobs, srv_loop_look_at_expiries, loop);
    if (server->folder) {
        srv_folder_connect(server->folder, server->jobs, srv_loop_rescan, loop);
    }
    server->http = srv_http_start(server, error, sizeof error);
    if (!server->http) {
        return cannot_start(server, loop, error);
    }
    announce(server);
    srv_loop_run(loop);
    take_down(server);
    srv_loop_destroy(loop);
    srv_log(SRV_INFO, SRV_EVENT("ended"));
    return EXIT_SUCCESS;
}

static int run(srv_server *server)
{
    const srv_config *config = &server->config;
    switch (config->command) {
    case SRV_HELP:
        srv_config_help(stdout);
        return EXIT_SUCCESS;
    case SRV_VERSION_ONLY:
        printf("%s %s\n", API_PROGRAM, API_VERSION);
        return EXIT_SUCCESS;
    case SRV_PRINT_CONFIG:
        srv_config_print(config, stdout);
        return EXIT_SUCCESS;
    case SRV_CHECK:
        return srv_check(config->operands, config->operand_count);
    case SRV_CONVERT:
        return srv_convert(config->operands[0], config->operands[1]);
    case SRV_HEALTHCHECK:
        return srv_healthcheck(config->operand_count ? config->operands[0] : config->listen[0]);
    case SRV_SERVE:
        break;
    }
    return serve(server);
}

int main(int argc, char **argv)
{
    static srv_server server;
    bool right = srv_config_read(&server.config, argc, argv, stderr);
    int status = right ? run(&server) : EXIT_USAGE;
    srv_config_deinit(&server.config);
    return status;
}
