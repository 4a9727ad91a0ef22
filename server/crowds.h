/// The crowds of agents: one for each mesh that has some, stepped on the worker pool, by calls or by the clock.
///
/// What concerns one mesh's agents - calls, ticks, taking them over to a new revision - are works of the pool
/// with the mesh's id as their key, so that one runs after the other and none needs a lock.
#ifndef SRV_CROWDS_H
#define SRV_CROWDS_H

#include "api.h"
#include "feed.h"
#include "pool.h"
#include "registry.h"

typedef struct srv_crowds srv_crowds;

typedef struct srv_crowds_options {
    srv_registry *registry;
    srv_pool *workers;
    uint32_t worker_count;
    uint32_t max_agents;
} srv_crowds_options;

/// @return NULL: no memory
srv_crowds *srv_crowds_create(const srv_crowds_options *options);
/// No pool may run any more.
void srv_crowds_destroy(srv_crowds *crowds);
/// From now on no new work is begun; before the pools are stopped. NULL is fine.
void srv_crowds_stop(srv_crowds *crowds);

/// The functions for api_host.agents; their context is the server.
api_agents_host srv_crowds_host(void);

/// srv_registry_watch_fn; `ctx` is the crowds.
void srv_crowds_mesh_changed(void *ctx, const char *id, bool removed);

/// Begins the ticks that are due. @return when the next one is; UINT64_MAX: none
/// @thread the loop's
uint64_t srv_crowds_tick(srv_crowds *crowds, uint64_t now_ns);
/// `rearm` is called, on any thread, when a tick may be due earlier than was said.
void srv_crowds_set_rearm(srv_crowds *crowds, void (*rearm)(void *ctx), void *ctx);

/// No more ticks, and every stream ends.
void srv_crowds_drain(srv_crowds *crowds);

void srv_crowds_metrics(srv_crowds *crowds, api_buffer *out);

#endif
