// One mutex, one condition, one list. A worker takes the first work whose key is not being run: the
// list is short (bounded), so looking through it costs nothing beside the work itself.
#include "pool.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"

typedef struct member {
    srv_pool *pool;
    pthread_t thread;
    api_context *context;
    const char *key; ///< of the work under way; under the pool's lock
    bool busy;       ///< under the pool's lock
} member;

struct srv_pool {
    char name[13];
    int nice;
    uint32_t bound;

    pthread_mutex_t lock;
    pthread_cond_t wake;
    // under lock:
    srv_work *first, **last;
    size_t waiting;
    bool stopping;

    uint32_t member_count, started;
    member members[];
};

static _Thread_local uint64_t work_began_ns;

uint64_t srv_pool_began_ns(void)
{
    return work_began_ns;
}

static bool key_runs(const srv_pool *pool, const char *key)
{
    if (!key) {
        return false;
    }
    for (uint32_t i = 0; i < pool->member_count; i++) {
        if (pool->members[i].key && strcmp(pool->members[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

/// Takes the first work that may run out of the list; NULL: none. Under the lock.
static srv_work *take(srv_pool *pool)
{
    for (srv_work **at = &pool->first; *at; at = &(*at)->next) {
        srv_work *work = *at;
        if (key_runs(pool, work->key)) {
            continue;
        }
        *at = work->next;
        if (pool->last == &work->next) {
            pool->last = at;
        }
        pool->waiting--;
        return work;
    }
    return NULL;
}

static void append(srv_pool *pool, srv_work *work)
{
    work->next = NULL;
    *pool->last = work;
    pool->last = &work->next;
    pool->waiting++;
    pthread_cond_signal(&pool->wake);
}

static void run_one(member *m, srv_work *work, bool stopping)
{
    work_began_ns = srv_now_ns();
    srv_worker worker = {.pool = m->pool, .context = m->context, .began_ns = work_began_ns, .stopping = stopping};
    work->run(work, &worker);
}

static void *member_main(void *arg)
{
    member *m = arg;
    srv_pool *pool = m->pool;
    // Fails only where priorities are forbidden altogether; then all threads are equal.
    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), pool->nice);
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        srv_work *work = take(pool);
        if (!work) {
            if (pool->stopping && pool->waiting == 0) {
                break;
            }
            pthread_cond_wait(&pool->wake, &pool->lock);
            continue;
        }
        char key[NAV_ID_MAX + 1] = "";
        if (work->key) {
            // Copied: the work may be freed before this thread is done with its key.
            snprintf(key, sizeof key, "%s", work->key);
            m->key = key;
        }
        m->busy = true;
        bool stopping = pool->stopping;
        pthread_mutex_unlock(&pool->lock);
        run_one(m, work, stopping);
        pthread_mutex_lock(&pool->lock);
        m->busy = false;
        if (m->key) {
            m->key = NULL;
            pthread_cond_broadcast(&pool->wake); // works of this key may have been passed over
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void free_pool(srv_pool *pool)
{
    for (uint32_t i = 0; i < pool->member_count; i++) {
        if (pool->members[i].context) {
            api_context_destroy(pool->members[i].context);
        }
    }
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

srv_pool *srv_pool_create(const srv_pool_options *options)
{
    srv_pool *pool = calloc(1, sizeof *pool + options->threads * sizeof pool->members[0]);
    if (!pool) {
        return NULL;
    }
    snprintf(pool->name, sizeof pool->name, "%s", options->name);
    pool->nice = options->nice;
    pool->bound = options->bound;
    pool->last = &pool->first;
    pool->member_count = options->threads;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    for (uint32_t i = 0; i < options->threads; i++) {
        member *m = &pool->members[i];
        m->pool = pool;
        m->context = api_context_create(options->host, options->limits);
        if (!m->context || pthread_create(&m->thread, NULL, member_main, m) != 0) {
            srv_pool_destroy(pool);
            return NULL;
        }
        pool->started++;
        char name[16];
        snprintf(name, sizeof name, "%.12s%u", pool->name, i % 1000);
        pthread_setname_np(m->thread, name);
    }
    return pool;
}

bool srv_pool_submit(srv_pool *pool, srv_work *work)
{
    pthread_mutex_lock(&pool->lock);
    bool room = pool->waiting < pool->bound && !pool->stopping;
    if (room) {
        append(pool, work);
    }
    pthread_mutex_unlock(&pool->lock);
    return room;
}

void srv_pool_again(srv_pool *pool, srv_work *work)
{
    pthread_mutex_lock(&pool->lock);
    append(pool, work);
    pthread_mutex_unlock(&pool->lock);
}

void srv_pool_hurry(srv_pool *pool, srv_work *work)
{
    pthread_mutex_lock(&pool->lock);
    work->next = pool->first;
    if (!pool->first) {
        pool->last = &work->next;
    }
    pool->first = work;
    pool->waiting++;
    pthread_cond_signal(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

size_t srv_pool_depth(srv_pool *pool, size_t *running)
{
    pthread_mutex_lock(&pool->lock);
    size_t waiting = pool->waiting;
    if (running) {
        *running = 0;
        for (uint32_t i = 0; i < pool->member_count; i++) {
            *running += pool->members[i].busy;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return waiting;
}

bool srv_pool_stopping(srv_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    bool stopping = pool->stopping;
    pthread_mutex_unlock(&pool->lock);
    return stopping;
}

void srv_pool_stop(srv_pool *pool)
{
    if (!pool) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->started; i++) {
        pthread_join(pool->members[i].thread, NULL);
    }
    pool->started = 0;
}

void srv_pool_destroy(srv_pool *pool)
{
    if (pool) {
        srv_pool_stop(pool);
        free_pool(pool);
    }
}
