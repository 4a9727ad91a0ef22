/// Watching the mesh folder: events, debounced scans, and a slow poll for file systems without events.
#ifndef SRV_WATCH_H
#define SRV_WATCH_H

#include <stdbool.h>
#include <uv.h>

#include "folder.h"

typedef struct srv_watch {
    uv_loop_t *loop;
    srv_folder *folder;
    uv_fs_event_t events;
    uv_timer_t soon, slow;
    bool watching; ///< the system tells of changes
    bool soon_set;
    uint64_t inode; ///< of the folder that is watched
} srv_watch;

/// @return 0 or a libuv error
int srv_watch_start(srv_watch *watch, uv_loop_t *loop, srv_folder *folder);

/// Scans as soon as the moment's events have come in. @thread the loop's
void srv_watch_rescan(srv_watch *watch);

/// Closes the handles; they end with the loop's next turns.
void srv_watch_stop(srv_watch *watch);

#endif
