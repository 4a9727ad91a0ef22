// Ticks by the clock. The loop's timer only puts a work into the pool when one is due; a tick that finds the one
// before it still at work is not made, and counted.
#include "clock.h"
#include "crowds_inside.h"
#include "log.h"

double srv__crowd_hz(const srv_crowd *crowd)
{
    return crowd->set_hz >= 0 ? crowd->set_hz : crowd->mesh_hz;
}

bool srv__crowd_ticks(const srv_crowd *crowd)
{
    const srv_crowds *crowds = crowd->crowds;
    return srv__crowd_hz(crowd) > 0 && crowd->agent_count > 0 && !crowd->removed && !crowds->draining &&
           !crowds->stopped;
}

static uint64_t period_ns(const srv_crowd *crowd)
{
    return (uint64_t)((double)SRV_NS_PER_S / srv__crowd_hz(crowd));
}

void srv__crowd_reschedule(srv_crowd *crowd, double mesh_hz, double set_hz, uint32_t agent_count)
{
    srv_crowds *crowds = crowd->crowds;
    pthread_mutex_lock(&crowds->lock);
    bool ticked = srv__crowd_ticks(crowd);
    double before = srv__crowd_hz(crowd);
    crowd->mesh_hz = mesh_hz;
    crowd->set_hz = set_hz;
    crowd->agent_count = agent_count;
    bool begins = srv__crowd_ticks(crowd) && (!ticked || srv__crowd_hz(crowd) != before);
    if (begins) {
        crowd->next_ns = srv_now_ns() + period_ns(crowd);
    }
    if (begins && crowds->rearm) {
        crowds->rearm(crowds->rearm_ctx);
    }
    pthread_mutex_unlock(&crowds->lock);
}

/// Under the lock.
static void begin_tick(srv_crowd *crowd, uint64_t now)
{
    // Periods that have passed altogether are lost, and so is this one when the last is still at work; the rate
    // stays tied to the clock.
    uint64_t period = period_ns(crowd);
    uint64_t missed = (now - crowd->next_ns) / period;
    crowd->skipped += missed;
    uint64_t due = crowd->next_ns + missed * period;
    crowd->next_ns = due + period;
    if (crowd->tick_waits) {
        crowd->skipped++;
        return;
    }
    crowd->due_ns = due;
    crowd->tick_waits = true;
    crowd->references++;
    srv_pool_hurry(crowd->crowds->options.workers, &crowd->tick);
}

uint64_t srv_crowds_tick(srv_crowds *crowds, uint64_t now_ns)
{
    uint64_t next = UINT64_MAX;
    pthread_mutex_lock(&crowds->lock);
    for (size_t i = 0; i < crowds->slot_count; i++) {
        srv_crowd *crowd = crowds->slots[i]->crowd;
        if (!crowd || !srv__crowd_ticks(crowd)) {
            continue;
        }
        if (now_ns >= crowd->next_ns) {
            begin_tick(crowd, now_ns);
        }
        next = crowd->next_ns < next ? crowd->next_ns : next;
    }
    pthread_mutex_unlock(&crowds->lock);
    return next;
}

void srv_crowds_set_rearm(srv_crowds *crowds, void (*rearm)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&crowds->lock);
    crowds->rearm = rearm;
    crowds->rearm_ctx = ctx;
    pthread_mutex_unlock(&crowds->lock);
}

/// @param hz  of the tick, as it was when it began
static void tick(srv_crowd *crowd, double hz, const srv_worker *worker)
{
    uint64_t began = srv_now_ns();
    if (!srv__crowd_refresh(crowd)) {
        return; // the mesh was removed; its agents go when that is told
    }
    if (!srv__crowd_step(crowd, 1 / hz, worker->context)) {
        srv_log(SRV_ERROR, SRV_EVENT("no memory for a step of agents"), SRV_TEXT("mesh", crowd->id));
        return;
    }
    srv__crowd_publish(crowd);
    srv__count_time(&crowd->crowds->tick_times, srv_now_ns() - began);
}

void srv__crowd_run_tick(srv_work *work, srv_worker *worker)
{
    srv_crowd *crowd = (srv_crowd *)(void *)((char *)work - offsetof(srv_crowd, tick));
    srv_crowds *crowds = crowd->crowds;
    pthread_mutex_lock(&crowds->lock);
    bool wanted = srv__crowd_ticks(crowd) && !worker->stopping;
    double hz = srv__crowd_hz(crowd);
    if (wanted) {
        crowd->ticks++;
        crowd->steps++;
        crowd->late += worker->began_ns > crowd->due_ns + period_ns(crowd) / 2;
    }
    pthread_mutex_unlock(&crowds->lock);
    if (wanted) {
        tick(crowd, hz, worker);
    }
    pthread_mutex_lock(&crowds->lock);
    crowd->tick_waits = false;
    pthread_mutex_unlock(&crowds->lock);
    srv__crowd_leave(crowd);
}
