// The agents' part of api_host. Every function runs in a work with the mesh's key.
#include "crowds_inside.h"
#include "server.h"

static srv_crowd *find(void *ctx, const char *id)
{
    srv_server *server = ctx;
    return srv__crowd_find(server->crowds, id);
}

static api_agents *get(void *ctx, const char *id)
{
    srv_server *server = ctx;
    srv_crowd *crowd = srv__crowd_get(server->crowds, id);
    return crowd ? crowd->agents : NULL;
}

/// The mesh was removed since `get`.
static bool fail_removed(const char *id, api_problem *problem)
{
    api_problem_set(problem, API_NOT_FOUND, "mesh `%s` was removed meanwhile", id);
    return false;
}

static bool step(void *ctx, const char *id, double dt, api_context *context, api_problem *problem)
{
    srv_crowd *crowd = find(ctx, id);
    if (!crowd) {
        return fail_removed(id, problem);
    }
    srv_crowds *crowds = crowd->crowds;
    pthread_mutex_lock(&crowds->lock);
    bool ticks = srv__crowd_hz(crowd) > 0;
    pthread_mutex_unlock(&crowds->lock);
    if (ticks) {
        api_problem_set(problem, API_CONFLICT,
                        "the server moves the agents of mesh `%s` itself; set its `tick_hz` to 0 to step them", id);
        return false;
    }
    if (!srv__crowd_step(crowd, dt, context)) {
        api_problem_set(problem, API_INTERNAL, "out of memory");
        return false;
    }
    pthread_mutex_lock(&crowds->lock);
    crowd->steps++;
    pthread_mutex_unlock(&crowds->lock);
    srv__crowd_publish(crowd);
    return true;
}

static void changed(void *ctx, const char *id)
{
    srv_crowd *crowd = find(ctx, id);
    if (!crowd) {
        return;
    }
    srv__crowd_reschedule(crowd, crowd->mesh_hz, crowd->set_hz, api_agents_count(crowd->agents));
    pthread_mutex_lock(&crowd->crowds->lock);
    bool ticks = srv__crowd_ticks(crowd);
    pthread_mutex_unlock(&crowd->crowds->lock);
    if (!ticks) { // else the next tick tells
        srv__crowd_publish(crowd);
    }
}

static void get_status(void *ctx, const char *id, api_agents_status *status)
{
    srv_crowd *crowd = find(ctx, id);
    if (!crowd) {
        return;
    }
    pthread_mutex_lock(&crowd->crowds->lock);
    *status = (api_agents_status){.tick_hz = srv__crowd_hz(crowd),
                                  .tick_hz_set = crowd->set_hz >= 0,
                                  .ticks = crowd->ticks,
                                  .late = crowd->late,
                                  .skipped = crowd->skipped};
    pthread_mutex_unlock(&crowd->crowds->lock);
    status->subscribers = srv_feed_readers(crowd->feed);
}

static void set_tick_hz(void *ctx, const char *id, double tick_hz)
{
    srv_crowd *crowd = find(ctx, id);
    if (crowd) {
        srv__crowd_reschedule(crowd, crowd->mesh_hz, tick_hz, api_agents_count(crowd->agents));
    }
}

static void *subscribe(void *ctx, const char *id, const api_agents_view *view, api_buffer *first, api_problem *problem)
{
    srv_crowd *crowd = find(ctx, id);
    if (!crowd) {
        api_buffer_free(first);
        fail_removed(id, problem);
        return NULL;
    }
    return srv_feed_subscribe(crowd->feed, view, first, problem);
}

api_agents_host srv_crowds_host(void)
{
    return (api_agents_host){.get = get,
                             .step = step,
                             .changed = changed,
                             .status = get_status,
                             .set_tick_hz = set_tick_hz,
                             .subscribe = subscribe};
}
