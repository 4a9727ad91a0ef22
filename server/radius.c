// A short list under one lock: a handful of revisions times a handful of radii. What is being made has its place
// in the list from the start, so that nobody makes it twice.
#include "radius.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"
#include "log.h"

#define MAKING_MAX 16   // at a time, those that wait for a thread included
#define WAIT_NS 2000000 // then the thread looks after other work

typedef enum state { MAKING, READY, FAILED } state;

typedef struct entry {
    struct entry *next;
    uint64_t revision;
    double difference;
    state state;
    api_mesh *mesh;      ///< READY
    api_problem problem; ///< FAILED
    size_t holders;
    uint64_t used;  ///< turn of its last use
    bool forgotten; ///< not in the list any more
} entry;

struct srv_radius {
    srv_registry *registry;
    srv_pool *workers;
    size_t bound;

    pthread_mutex_t lock;
    pthread_cond_t made_one;
    // under lock:
    entry *entries;
    size_t bytes, making;
    uint64_t turn, made, failed;
};

/// A mesh that is to be made.
typedef struct radius_work {
    srv_work work;
    srv_radius *radius;
    const api_mesh *mesh; ///< a reference
    entry *entry;         ///< held
    srv_worker *worker;
} radius_work;

srv_radius *srv_radius_create(srv_registry *registry, size_t bound)
{
    srv_radius *radius = calloc(1, sizeof *radius);
    if (radius) {
        radius->registry = registry;
        radius->bound = bound;
        pthread_mutex_init(&radius->lock, NULL);
        pthread_condattr_t clock;
        pthread_condattr_init(&clock);
        pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
        pthread_cond_init(&radius->made_one, &clock);
        pthread_condattr_destroy(&clock);
    }
    return radius;
}

void srv_radius_connect(srv_radius *radius, srv_pool *workers)
{
    radius->workers = workers;
}

static void free_entry(entry *e)
{
    api_mesh_destroy(e->mesh);
    free(e);
}

void srv_radius_destroy(srv_radius *radius)
{
    if (!radius) {
        return;
    }
    while (radius->entries) {
        entry *e = radius->entries;
        radius->entries = e->next;
        free_entry(e);
    }
    pthread_cond_destroy(&radius->made_one);
    pthread_mutex_destroy(&radius->lock);
    free(radius);
}

/// Takes an entry out of the list; it goes to `gone` unless somebody holds it. Under the lock.
static void take_out(srv_radius *radius, entry **at, entry **gone)
{
    entry *e = *at;
    *at = e->next;
    e->forgotten = true;
    if (e->state == READY) {
        radius->bytes -= e->mesh->memory_bytes;
    }
    if (e->holders == 0) {
        e->next = *gone;
        *gone = e;
    }
}

static void free_all(entry *gone)
{
    while (gone) {
        entry *next = gone->next;
        free_entry(gone);
        gone = next;
    }
}

/// Takes out what has not been used for the longest time until the rest is within the bound. Under the lock.
static void evict(srv_radius *radius, entry **gone)
{
    while (radius->bytes > radius->bound) {
        entry **oldest = NULL;
        for (entry **at = &radius->entries; *at; at = &(*at)->next) {
            bool idle = (*at)->state == READY && (*at)->holders == 0;
            if (idle && (!oldest || (*at)->used < (*oldest)->used)) {
                oldest = at;
            }
        }
        if (!oldest) {
            return;
        }
        take_out(radius, oldest, gone);
    }
}

/// Gives one hold back. Under the lock.
static void let_go(entry *e, entry **gone)
{
    if (--e->holders == 0 && e->forgotten) {
        e->next = *gone;
        *gone = e;
    }
}

static bool stopping(void *ctx)
{
    const radius_work *w = ctx;
    return srv_pool_stopping(w->worker->pool);
}

static void make(srv_work *work, srv_worker *worker)
{
    radius_work *w = (radius_work *)work;
    srv_radius *radius = w->radius;
    entry *e = w->entry, *gone = NULL;
    w->worker = worker;
    api_problem problem = {0};
    uint64_t began = srv_now_ns();
    api_mesh *mesh = NULL;
    if (worker->stopping) {
        api_problem_set(&problem, API_DRAINING, "the server is shutting down");
    } else {
        mesh = api_mesh_shrink(w->mesh, e->difference, &(nav_interrupt){.stop = stopping, .ctx = w}, &problem);
    }
    if (mesh) {
        mesh->owner = e;
        srv_log(SRV_INFO, SRV_EVENT("mesh made for a larger radius"), SRV_TEXT("mesh", w->mesh->id),
                SRV_REAL("difference", e->difference), SRV_REAL("ms", (double)(srv_now_ns() - began) / SRV_NS_PER_MS),
                SRV_INT("memory_bytes", mesh->memory_bytes));
    }
    pthread_mutex_lock(&radius->lock);
    radius->making--;
    e->mesh = mesh;
    e->problem = problem;
    e->state = mesh ? READY : FAILED;
    radius->made += mesh != NULL;
    radius->failed += mesh == NULL;
    if (mesh) {
        e->used = ++radius->turn; // the newest goes last
        radius->bytes += e->forgotten ? 0 : mesh->memory_bytes;
        evict(radius, &gone);
    }
    let_go(e, &gone);
    pthread_cond_broadcast(&radius->made_one);
    pthread_mutex_unlock(&radius->lock);
    free_all(gone);
    srv_registry_release(radius->registry, w->mesh);
    free(w);
}

static entry **find(srv_radius *radius, uint64_t revision, double difference)
{
    entry **at = &radius->entries;
    while (*at && ((*at)->revision != revision || (*at)->difference != difference)) {
        at = &(*at)->next;
    }
    return at;
}

/// Under the lock. @return NULL: problem says why
static radius_work *begin(srv_radius *radius, const api_mesh *mesh, double difference, api_problem *problem)
{
    if (radius->making >= MAKING_MAX) {
        api_problem_set(problem, API_OVERLOADED, "meshes for %d other radii are being made", MAKING_MAX);
        problem->retry_after = 1;
        return NULL;
    }
    radius_work *w = calloc(1, sizeof *w);
    entry *e = calloc(1, sizeof *e);
    if (!w || !e) {
        free(w);
        free(e);
        api_problem_set(problem, API_INTERNAL, "out of memory");
        return NULL;
    }
    *e = (entry){.next = radius->entries, .revision = mesh->revision, .difference = difference, .holders = 1};
    radius->entries = e;
    radius->making++;
    *w = (radius_work){.work = {.run = make}, .radius = radius, .entry = e};
    w->mesh = srv_registry_retain(mesh);
    return w;
}

static void wait_a_moment(srv_radius *radius)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WAIT_NS;
    if (until.tv_nsec >= (long)SRV_NS_PER_S) {
        until.tv_nsec -= (long)SRV_NS_PER_S;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&radius->made_one, &radius->lock, &until);
}

const api_mesh *srv_radius_acquire(srv_radius *radius, const api_mesh *mesh, double difference, bool wait,
                                   api_problem *problem)
{
    problem->code = API_NO_PROBLEM;
    entry *gone = NULL;
    const api_mesh *found = NULL;
    pthread_mutex_lock(&radius->lock);
    entry **at = find(radius, mesh->revision, difference);
    if (!*at && wait) {
        radius_work *w = begin(radius, mesh, difference, problem);
        if (w) {
            srv_pool_again(radius->workers, &w->work);
        }
    }
    at = find(radius, mesh->revision, difference);
    if (*at && (*at)->state == MAKING && wait) {
        wait_a_moment(radius);
        at = find(radius, mesh->revision, difference);
    }
    if (*at && (*at)->state == READY) {
        (*at)->holders++;
        (*at)->used = ++radius->turn;
        found = (*at)->mesh;
    } else if (*at && (*at)->state == FAILED) { // told once; then it may be tried again
        *problem = (*at)->problem;
        take_out(radius, at, &gone);
    }
    pthread_mutex_unlock(&radius->lock);
    free_all(gone);
    return found;
}

void srv_radius_release(srv_radius *radius, const api_mesh *mesh)
{
    entry *gone = NULL;
    pthread_mutex_lock(&radius->lock);
    let_go(mesh->owner, &gone);
    evict(radius, &gone);
    pthread_mutex_unlock(&radius->lock);
    free_all(gone);
}

void srv_radius_forget(srv_radius *radius, uint64_t revision)
{
    entry *gone = NULL;
    pthread_mutex_lock(&radius->lock);
    for (entry **at = &radius->entries; *at;) {
        if ((*at)->revision == revision) {
            take_out(radius, at, &gone);
        } else {
            at = &(*at)->next;
        }
    }
    pthread_mutex_unlock(&radius->lock);
    free_all(gone);
}

void srv_radius_get_stats(srv_radius *radius, srv_radius_stats *stats)
{
    pthread_mutex_lock(&radius->lock);
    *stats = (srv_radius_stats){.bytes = radius->bytes, .made = radius->made, .failed = radius->failed};
    for (const entry *e = radius->entries; e; e = e->next) {
        stats->meshes += e->state == READY;
    }
    pthread_mutex_unlock(&radius->lock);
}
