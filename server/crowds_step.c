// One step on several workers. The worker that the step fell to opens one phase after the other; helpers, works of
// the same pool, take shares of whatever phase is open until the step is over. Nobody waits for a helper that has
// not begun: a busy pool only makes the step take longer.
#include <stdlib.h>

#include "clock.h"
#include "crowds_inside.h"

#define SHARE_LEAST 32 // agents of a share: fewer, and the lock is all that is seen
#define SHARE_MOST 256
#define SHARES_EACH 8  // for each worker, so that one who comes late finds some left
#define ALONE_MOST 192 // agents that are stepped without help

typedef struct crew crew;

typedef struct helper {
    srv_work work; // first, so that a work is its helper
    crew *crew;
} helper;

struct crew {
    nav_crowd *crowd;
    pthread_mutex_t lock;
    pthread_cond_t opened, done;
    // under lock:
    size_t references; ///< of the step, and of each helper
    uint32_t phase, next, count, share;
    uint32_t busy; ///< shares under way
    bool over;
    helper helpers[];
};

static void release(crew *c)
{
    pthread_mutex_lock(&c->lock);
    bool last = --c->references == 0;
    pthread_mutex_unlock(&c->lock);
    if (last) {
        pthread_cond_destroy(&c->opened);
        pthread_cond_destroy(&c->done);
        pthread_mutex_destroy(&c->lock);
        free(c);
    }
}

/// Does shares of the open phase until none is left. Under the lock, which is given up meanwhile.
static void do_shares(crew *c, nav_query *query)
{
    while (c->next < c->count) {
        uint32_t phase = c->phase, first = c->next;
        uint32_t count = c->count - first < c->share ? c->count - first : c->share;
        c->next += count;
        c->busy++;
        pthread_mutex_unlock(&c->lock);
        // Without memory an agent gets no path in this step, and asks again in the next.
        (void)nav_crowd_step_part(c->crowd, phase, first, count, query);
        pthread_mutex_lock(&c->lock);
        if (--c->busy == 0 && c->next >= c->count) {
            pthread_cond_signal(&c->done);
        }
    }
}

static void help(srv_work *work, srv_worker *worker)
{
    crew *c = ((helper *)work)->crew;
    nav_query *query = api_context_query(worker->context);
    pthread_mutex_lock(&c->lock);
    while (!c->over && !worker->stopping) {
        do_shares(c, query);
        if (!c->over) {
            pthread_cond_wait(&c->opened, &c->lock);
        }
    }
    pthread_mutex_unlock(&c->lock);
    release(c);
}

/// @return NULL: no memory
static crew *call_helpers(const srv_crowds *crowds, nav_crowd *crowd, uint32_t count)
{
    uint32_t helpers = crowds->options.worker_count - 1;
    uint32_t useful = count / SHARE_LEAST;
    helpers = helpers < useful ? helpers : useful;
    crew *c = calloc(1, sizeof *c + helpers * sizeof c->helpers[0]);
    if (!c) {
        return NULL;
    }
    c->crowd = crowd;
    c->references = helpers + 1;
    uint32_t share = count / (SHARES_EACH * crowds->options.worker_count);
    c->share = share < SHARE_LEAST ? SHARE_LEAST : share > SHARE_MOST ? SHARE_MOST : share;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->opened, NULL);
    pthread_cond_init(&c->done, NULL);
    for (uint32_t i = 0; i < helpers; i++) {
        c->helpers[i] = (helper){.work = {.run = help}, .crew = c};
        srv_pool_hurry(crowds->options.workers, &c->helpers[i].work);
    }
    return c;
}

static void run_phases(crew *c, uint32_t count, nav_query *query)
{
    pthread_mutex_lock(&c->lock);
    for (uint32_t phase = 0; phase < NAV_CROWD_PHASES; phase++) {
        c->phase = phase;
        c->next = 0;
        c->count = count;
        pthread_cond_broadcast(&c->opened);
        do_shares(c, query);
        while (c->busy > 0) {
            pthread_cond_wait(&c->done, &c->lock);
        }
    }
    c->over = true;
    pthread_cond_broadcast(&c->opened);
    pthread_mutex_unlock(&c->lock);
}

bool srv__crowd_step(srv_crowd *crowd, double dt, api_context *context)
{
    srv_crowds *crowds = crowd->crowds;
    nav_crowd *nav = api_agents_crowd(crowd->agents);
    nav_query *query = api_context_query(context);
    uint64_t began = srv_now_ns();
    uint32_t count = 0;
    if (nav_crowd_step_begin(nav, dt, &count) != NAV_OK) {
        return false;
    }
    bool alone = count <= ALONE_MOST || crowds->options.worker_count < 2;
    crew *c = alone ? NULL : call_helpers(crowds, nav, count);
    if (c) {
        run_phases(c, count, query);
        release(c);
    } else {
        for (uint32_t phase = 0; phase < NAV_CROWD_PHASES; phase++) {
            (void)nav_crowd_step_part(nav, phase, 0, count, query);
        }
    }
    nav_crowd_step_end(nav);
    api_agents_stepped(crowd->agents);
    srv__count_time(&crowds->step_times, srv_now_ns() - began);
    return true;
}
