/// The main thread's event loop (libuv): signals, timers, file events. Nothing of it touches requests.
#ifndef SRV_LOOP_H
#define SRV_LOOP_H

#include <stdbool.h>
#include <stddef.h>

struct srv_server;
typedef struct srv_loop srv_loop;

/// Sets up signals and the watch of the mesh folder, before any other thread is started.
/// @return NULL and one line in `error`
srv_loop *srv_loop_create(struct srv_server *server, char *error, size_t error_size);

/// Asks for a scan of the mesh folder. @thread any; `loop` is a srv_loop
void srv_loop_rescan(void *loop);

/// As srv_edits_connect's `wake`.
/// @thread any
void srv_loop_look_at_expiries(void *loop);

/// Runs until a drain is over: SIGTERM or SIGINT came, and what was under way is done or its time is up.
void srv_loop_run(srv_loop *loop);

void srv_loop_destroy(srv_loop *loop);

#endif
