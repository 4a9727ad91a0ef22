#include "loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#include "clock.h"
#include "http.h"
#include "log.h"
#include "mapped.h"
#include "server.h"
#include "watch.h"

#define DRAIN_LOOK_MS 10
#define EXPIRY_LOOK_MS 60000
#define IDLE_GRACE_MS 1000 // kept connections are told 503 for so long before they are closed
#define EXIT_SECOND_SIGNAL 1

struct srv_loop {
    srv_server *server;
    uv_loop_t uv;
    uv_signal_t term, interrupt, hangup, lease;
    uv_async_t rescan, expiries;
    uv_timer_t drain_timer, expiry_timer;
    uv_timer_t tick_timer;
    uv_async_t rearm; ///< the ticks of agents have changed
    srv_watch watch;
    uint64_t drain_began_ns;
};

/// A drain is over when no connection is open and no work is left, or when its time is up.
static void on_drain_look(uv_timer_t *timer)
{
    srv_loop *loop = timer->data;
    srv_server *server = loop->server;
    size_t running = 0, jobs_running = 0;
    size_t waiting = srv_pool_depth(server->workers, &running) + srv_pool_depth(server->jobs, &jobs_running);
    size_t connections = atomic_load(&server->connections);
    bool done = connections == 0 && waiting + running + jobs_running == 0;
    uint64_t ms = (srv_now_ns() - loop->drain_began_ns) / SRV_NS_PER_MS;
    if (!done && ms < server->config.drain_timeout_ms) {
        return;
    }
    if (done) {
        srv_log(SRV_INFO, SRV_EVENT("drained"), SRV_INT("ms", ms));
    } else {
        srv_log(SRV_WARN, SRV_EVENT("drain timeout: what is under way is given up"), SRV_INT("ms", ms),
                SRV_INT("connections", connections), SRV_INT("works", waiting + running + jobs_running));
        atomic_store(&server->stopping, true);
    }
    uv_stop(&loop->uv);
}

static void on_stop_signal(uv_signal_t *signal, int number)
{
    srv_loop *loop = signal->data;
    srv_server *server = loop->server;
    if (atomic_load(&server->draining)) {
        srv_log(SRV_WARN, SRV_EVENT("second signal: ending at once"), SRV_INT("signal", number));
        _exit(EXIT_SECOND_SIGNAL);
    }
    srv_log(SRV_INFO, SRV_EVENT("draining"), SRV_INT("signal", number),
            SRV_INT("connections", atomic_load(&server->connections)));
    loop->drain_began_ns = srv_now_ns();
    atomic_store(&server->draining, true);
    srv_crowds_drain(server->crowds);
    uint64_t half = server->config.drain_timeout_ms / 2;
    srv_http_drain(server->http, (unsigned)(half < IDLE_GRACE_MS ? half : IDLE_GRACE_MS));
    uv_timer_start(&loop->drain_timer, on_drain_look, 0, DRAIN_LOOK_MS);
}

static void on_hangup(uv_signal_t *signal, int number)
{
    (void)number;
    srv_loop *loop = signal->data;
    char error[256];
    srv_log(SRV_INFO, SRV_EVENT("SIGHUP: reading the mesh folder and the token again"));
    if (!srv_auth_reload(loop->server->auth, error, sizeof error)) {
        srv_log(SRV_ERROR, SRV_EVENT("the old token goes on holding"), SRV_TEXT("error", error));
    }
    if (loop->server->folder) {
        srv_watch_rescan(&loop->watch);
    }
}

/// Somebody wants to write to a file that is mapped.
static void on_lease(uv_signal_t *signal, int number)
{
    (void)signal;
    (void)number;
    size_t count = srv_mapped_guard();
    if (count > 0) {
        srv_log(SRV_INFO, SRV_EVENT("mapped mesh files are being written to: their meshes were copied"),
                SRV_INT("count", count));
    }
}

static void on_rescan(uv_async_t *async)
{
    srv_loop *loop = async->data;
    srv_watch_rescan(&loop->watch);
}

void srv_loop_rescan(void *loop)
{
    uv_async_send(&((srv_loop *)loop)->rescan);
}

/// Begins the ticks of agents that are due, and comes back for the next.
static void on_tick(uv_timer_t *timer)
{
    srv_loop *loop = timer->data;
    uint64_t now = srv_now_ns();
    uint64_t next = srv_crowds_tick(loop->server->crowds, now);
    if (next == UINT64_MAX) {
        return;
    }
    uv_update_time(&loop->uv); // timers count from here
    uv_timer_start(timer, on_tick, next > now ? (next - now + SRV_NS_PER_MS - 1) / SRV_NS_PER_MS : 0, 0);
}

static void on_rearm(uv_async_t *async)
{
    srv_loop *loop = async->data;
    on_tick(&loop->tick_timer);
}

static void rearm(void *ctx)
{
    uv_async_send(&((srv_loop *)ctx)->rearm);
}

static void on_expiry(uv_timer_t *timer);

/// The timer stands at the next expiry.
static void set_expiry_timer(srv_loop *loop)
{
    int64_t next = srv_edits_next(loop->server->edits), now = srv_wall_ms();
    if (next == INT64_MAX) {
        uv_timer_stop(&loop->expiry_timer);
        return;
    }
    // The loop's clock may be a little behind, and the system's may be set: so no wait is long.
    uint64_t wait = next > now ? (uint64_t)(next - now) : 0;
    uv_update_time(&loop->uv);
    uv_timer_start(&loop->expiry_timer, on_expiry, wait < EXPIRY_LOOK_MS ? wait : EXPIRY_LOOK_MS, 0);
}

static void on_expiry(uv_timer_t *timer)
{
    srv_loop *loop = timer->data;
    srv_edits_expire(loop->server->edits);
    set_expiry_timer(loop);
}

static void on_expiries(uv_async_t *async)
{
    set_expiry_timer(async->data);
}

void srv_loop_look_at_expiries(void *loop)
{
    uv_async_send(&((srv_loop *)loop)->expiries);
}

static int start_signal(srv_loop *loop, uv_signal_t *handle, uv_signal_cb callback, int number)
{
    handle->data = loop;
    int status = uv_signal_init(&loop->uv, handle);
    return status ? status : uv_signal_start(handle, callback, number);
}

static int start_handles(srv_loop *loop)
{
    loop->rescan.data = loop->expiries.data = loop->drain_timer.data = loop->expiry_timer.data = loop->tick_timer.data =
        loop->rearm.data = loop;
    int status = uv_async_init(&loop->uv, &loop->rescan, on_rescan);
    status = status ? status : uv_async_init(&loop->uv, &loop->expiries, on_expiries);
    status = status ? status : uv_timer_init(&loop->uv, &loop->drain_timer);
    status = status ? status : uv_timer_init(&loop->uv, &loop->tick_timer);
    status = status ? status : uv_async_init(&loop->uv, &loop->rearm, on_rearm);
    status = status ? status : uv_timer_init(&loop->uv, &loop->expiry_timer);
    status = status ? status : start_signal(loop, &loop->term, on_stop_signal, SIGTERM);
    status = status ? status : start_signal(loop, &loop->interrupt, on_stop_signal, SIGINT);
    status = status ? status : start_signal(loop, &loop->hangup, on_hangup, SIGHUP);
    status = status ? status : start_signal(loop, &loop->lease, on_lease, SIGIO);
    if (status == 0) {
        srv_mapped_enable();
    }
    return status;
}

srv_loop *srv_loop_create(srv_server *server, char *error, size_t error_size)
{
    srv_loop *loop = calloc(1, sizeof *loop);
    if (!loop) {
        snprintf(error, error_size, "no memory");
        return NULL;
    }
    loop->server = server;
    int status = uv_loop_init(&loop->uv);
    status = status ? status : start_handles(loop);
    if (status) {
        snprintf(error, error_size, "event loop: %s", uv_strerror(status));
        free(loop); // the process is about to end
        return NULL;
    }
    return loop;
}

void srv_loop_run(srv_loop *loop)
{
    srv_server *server = loop->server;
    if (server->folder) {
        int status = srv_watch_start(&loop->watch, &loop->uv, server->folder);
        if (status) {
            srv_log(SRV_ERROR, SRV_EVENT("the mesh folder cannot be watched"), SRV_TEXT("error", uv_strerror(status)));
        }
    }
    srv_crowds_set_rearm(server->crowds, rearm, loop);
    on_tick(&loop->tick_timer); // what began before
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    srv_crowds_set_rearm(server->crowds, NULL, NULL);
}

void srv_loop_destroy(srv_loop *loop)
{
    if (loop->server->folder && loop->watch.loop) {
        srv_watch_stop(&loop->watch);
    }
    uv_close((uv_handle_t *)&loop->rescan, NULL);
    uv_close((uv_handle_t *)&loop->expiries, NULL);
    uv_close((uv_handle_t *)&loop->drain_timer, NULL);
    uv_close((uv_handle_t *)&loop->tick_timer, NULL);
    uv_close((uv_handle_t *)&loop->rearm, NULL);
    uv_close((uv_handle_t *)&loop->expiry_timer, NULL);
    uv_close((uv_handle_t *)&loop->term, NULL);
    uv_close((uv_handle_t *)&loop->interrupt, NULL);
    uv_close((uv_handle_t *)&loop->hangup, NULL);
    uv_close((uv_handle_t *)&loop->lease, NULL);
    uv_run(&loop->uv, UV_RUN_DEFAULT); // lets the handles end
    uv_loop_close(&loop->uv);
    free(loop);
}
