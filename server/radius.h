/// Meshes for agents larger than those a mesh was made for: made in the background once for each revision and
/// difference of radius, kept while there is room, gone with the revision.
#ifndef SRV_RADIUS_H
#define SRV_RADIUS_H

#include "api.h"
#include "pool.h"
#include "registry.h"

typedef struct srv_radius srv_radius;

/// @param bound  bytes of meshes that are kept though nobody uses them
/// @return NULL: no memory
srv_radius *srv_radius_create(srv_registry *registry, size_t bound);
/// They are made by this pool's threads.
void srv_radius_connect(srv_radius *radius, srv_pool *workers);
/// No mesh may be in use.
void srv_radius_destroy(srv_radius *radius);

/// As api_host.shrunk.
/// @thread any
const api_mesh *srv_radius_acquire(srv_radius *radius, const api_mesh *mesh, double difference, bool wait,
                                   api_problem *problem);
void srv_radius_release(srv_radius *radius, const api_mesh *mesh);

/// The last reader of this revision is gone: its shrunk meshes go with it.
/// @thread any
void srv_radius_forget(srv_radius *radius, uint64_t revision);

typedef struct srv_radius_stats {
    size_t meshes, bytes;
    uint64_t made, failed;
} srv_radius_stats;

/// @thread any
void srv_radius_get_stats(srv_radius *radius, srv_radius_stats *stats);

#endif
