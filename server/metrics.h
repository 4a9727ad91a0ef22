/// Counters. Each serving thread writes its own and nobody else's, without locks; they are summed when
/// somebody asks.
#ifndef SRV_METRICS_H
#define SRV_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "api_buffer.h"

#define SRV_METRIC_ROUTES 96
#define SRV_METRIC_STATUSES 16
#define SRV_METRIC_BUCKETS 16

typedef struct srv_route_metrics {
    _Atomic(const char *) route;                          ///< static text; NULL: free
    atomic_uint_fast64_t buckets[SRV_METRIC_BUCKETS + 1]; ///< not cumulative; the last: longer than all
    atomic_uint_fast64_t sum_ns;
    struct {
        atomic_int status;
        atomic_uint_fast64_t count;
    } statuses[SRV_METRIC_STATUSES];
} srv_route_metrics;

/// Of one serving thread.
typedef struct srv_thread_metrics {
    srv_route_metrics routes[SRV_METRIC_ROUTES]; ///< hashed by the route's address
    atomic_uint_fast64_t shed, deadlines, cut, refused_connections;
} srv_thread_metrics;

/// Adds 1. Only the thread that owns the counter may call it.
static inline void srv_metric_add(atomic_uint_fast64_t *counter, uint64_t amount)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + amount, memory_order_relaxed);
}

/// A request was answered. @param route  static text, NULL: none of the api's
void srv_metrics_count(srv_thread_metrics *metrics, const char *route, int status, uint64_t ns);

struct srv_server;

/// Prometheus text of everything. @thread any
void srv_metrics_write(struct srv_server *server, api_buffer *out);

#endif
