/// The process: what its parts share. Everything here is set up by main.c before threads start, and
/// constant after that unless it is atomic.
#ifndef SRV_SERVER_H
#define SRV_SERVER_H

#include <stdatomic.h>

#include "api.h"
#include "auth.h"
#include "config.h"
#include "crowds.h"
#include "edits.h"
#include "folder.h"
#include "metrics.h"
#include "pool.h"
#include "radius.h"
#include "registry.h"

typedef struct srv_http srv_http;

typedef struct srv_server {
    srv_config config;
    api_limits limits;
    api_host host;
    srv_auth *auth;
    srv_registry *registry;
    srv_state *state; ///< NULL: edits do not outlive the process
    srv_edits *edits;
    srv_radius *radius;
    srv_folder *folder; ///< NULL: no mesh folder
    srv_pool *workers, *jobs;
    srv_crowds *crowds;
    srv_thread_metrics *metrics; ///< [config.threads]
    srv_http *http;
    int64_t started_ms; ///< Unix time

    atomic_bool draining; ///< no new requests
    atomic_bool stopping; ///< the drain timeout is over: give up what is under way
    atomic_size_t connections;
    atomic_size_t body_bytes; ///< memory of large request bodies that are arriving or being worked on
} srv_server;

/// Fills server->host.
void srv_host_init(srv_server *server);

#endif
