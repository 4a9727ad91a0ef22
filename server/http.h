/// The serving threads. Each drives its own libmicrohttpd daemons in external epoll mode, one for each
/// address listened on; the kernel spreads connections over them (SO_REUSEPORT).
#ifndef SRV_HTTP_H
#define SRV_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "api.h"

struct srv_server;
typedef struct srv_http srv_http;

/// Opens every socket and starts every thread.
/// @return NULL and one line in `error`: an address is taken or wrong, a certificate cannot be used, …
srv_http *srv_http_start(struct srv_server *server, char *error, size_t error_size);

/// The URL of address `index` as a client would write it; NULL: no such address.
const char *srv_http_url(const srv_http *http, size_t index);

/// Stops accepting; later requests are refused with 503 draining (server->draining is set already).
/// Idle connections are closed after `grace_ms`.
void srv_http_drain(srv_http *http, unsigned grace_ms);

/// Ends the threads and closes every connection. The pools must have been stopped before, so that no
/// request is with a worker.
void srv_http_stop(srv_http *http);

/// api_host.client_gone
bool srv_http_client_gone(const api_request *request);

#endif
