/// What crowds*.c share.
#ifndef SRV_CROWDS_INSIDE_H
#define SRV_CROWDS_INSIDE_H

#include <pthread.h>

#include "crowds.h"

#define SRV_STEP_BUCKETS 20

/// A histogram of seconds.
typedef struct srv_step_times {
    atomic_uint_fast64_t buckets[SRV_STEP_BUCKETS + 1]; ///< not cumulative; the last: longer than all
    atomic_uint_fast64_t sum_ns;
} srv_step_times;

/// One mesh's agents.
typedef struct srv_crowd {
    srv_crowds *crowds;
    char id[NAV_ID_MAX + 1];

    // Used by works with the mesh's key only:
    const api_mesh *mesh; ///< a reference
    api_agents *agents;
    srv_feed *feed;

    // Under the crowds' lock:
    size_t references; ///< of the table, and of the works below that wait or run
    srv_work refresh, tick;
    bool refresh_waits, tick_waits;
    bool removed;   ///< the mesh is gone: not in the table any more
    double mesh_hz; ///< of the mesh's settings
    double set_hz;  ///< by a call; negative: none
    uint32_t agent_count;
    uint64_t next_ns, due_ns; ///< of the next tick, of the one that waits or runs
    uint64_t steps, ticks, late, skipped;
} srv_crowd;

/// A mesh that ever had agents. Never freed before the end: its numbers must not be used again.
typedef struct srv_crowd_slot {
    char id[NAV_ID_MAX + 1];
    uint64_t numbers;
    srv_crowd *crowd; ///< NULL: none now
} srv_crowd_slot;

struct srv_crowds {
    srv_crowds_options options;
    srv_feed_metrics feed_metrics;
    srv_step_times step_times, tick_times;

    pthread_mutex_t lock;
    // under lock:
    srv_crowd_slot **slots; ///< sorted by id
    size_t slot_count, slot_cap;
    bool stopped, draining;
    void (*rearm)(void *ctx);
    void *rearm_ctx;
};

// crowds.c
/// In works with the mesh's key only. @return NULL: none
srv_crowd *srv__crowd_find(srv_crowds *crowds, const char *id);
/// On the revision that serves; makes one where there is none. @return NULL: no such mesh, or no memory
srv_crowd *srv__crowd_get(srv_crowds *crowds, const char *id);
/// Puts the agents on the revision that serves. In a work with the mesh's key. @return false: there is none
bool srv__crowd_refresh(srv_crowd *crowd);
/// Tells who listens what has changed.
void srv__crowd_publish(srv_crowd *crowd);
/// Gives a work's reference back. In a work with the mesh's key.
void srv__crowd_leave(srv_crowd *crowd);

// crowds_tick.c
void srv__crowd_run_tick(srv_work *work, srv_worker *worker);
/// Does it tick by the clock? Under the lock.
bool srv__crowd_ticks(const srv_crowd *crowd);
double srv__crowd_hz(const srv_crowd *crowd);
/// What ticks may have changed: after agents came or went, or the rate changed. Takes the lock.
void srv__crowd_reschedule(srv_crowd *crowd, double mesh_hz, double set_hz, uint32_t agent_count);

// crowds_step.c
/// One step, on this worker and those that are free. @return false: no memory, nothing was stepped
bool srv__crowd_step(srv_crowd *crowd, double dt, api_context *context);

// crowds_metrics.c
void srv__count_time(srv_step_times *times, uint64_t ns);

#endif
