/// A bounded queue and the threads that serve it: the workers of heavy queries, and the job threads
/// that change meshes. It knows nothing of requests.
#ifndef SRV_POOL_H
#define SRV_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api.h"

typedef struct srv_pool srv_pool;

/// What a thread of the pool has at hand.
typedef struct srv_worker {
    srv_pool *pool;
    api_context *context;
    uint64_t began_ns; ///< when the piece of work under way was taken
    bool stopping;     ///< the pool is being shut: give work up instead of doing it
} srv_worker;

/// A piece of work, part of a larger record of its owner.
typedef struct srv_work {
    struct srv_work *next; ///< the pool's
    /// Does the work or its next part; may hand `work` to srv_pool_again as its last act.
    void (*run)(struct srv_work *work, srv_worker *worker);
    /// Two works with the same key never run at the same time and keep their order; NULL: no such tie.
    const char *key;
} srv_work;

typedef struct srv_pool_options {
    const char *name; ///< of the threads, at most 12 characters
    uint32_t threads;
    uint32_t bound; ///< works that may wait
    int nice;       ///< added to the threads' niceness, so that they yield to the serving threads
    const api_host *host;
    const api_limits *limits;
} srv_pool_options;

/// @return NULL: no memory or no thread
srv_pool *srv_pool_create(const srv_pool_options *options);

/// @return false: the bound is reached, nothing was done
/// @thread any
bool srv_pool_submit(srv_pool *pool, srv_work *work);

/// As srv_pool_submit, but never refused: for the rest of a work that is being run, and for work that
/// must not be lost (freeing a mesh).
void srv_pool_again(srv_pool *pool, srv_work *work);

/// As srv_pool_again, but before all works that wait: for short work that keeps a rate.
void srv_pool_hurry(srv_pool *pool, srv_work *work);

/// Works that wait; and those that run in `running` when not NULL.
size_t srv_pool_depth(srv_pool *pool, size_t *running);

/// Is the pool being shut? For long work. @thread any
bool srv_pool_stopping(srv_pool *pool);

/// When the work that the calling thread runs was taken (srv_worker.began_ns); 0 on other threads.
uint64_t srv_pool_began_ns(void);

/// Lets every work that waits run with worker->stopping set, then ends the threads. From now on
/// srv_pool_submit refuses; srv_pool_again is for works of the pool only.
void srv_pool_stop(srv_pool *pool);

/// Stops the pool if it runs, and frees it. No thread may know it any more.
void srv_pool_destroy(srv_pool *pool);

#endif
