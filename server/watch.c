// The folder is watched, never a file: a watch on a file is dead after the first rename over it.
#include "watch.h"

#include <string.h>

#include "log.h"

#define FIRST_LOOK_MS 10  // events come in bursts: one scan for all of them
#define SLOW_POLL_MS 3000 // network file systems, Kubernetes' links, a folder that was replaced

static void scan(srv_watch *watch);

static void on_soon(uv_timer_t *timer)
{
    srv_watch *watch = timer->data;
    watch->soon_set = false;
    scan(watch);
}

static void scan_in(srv_watch *watch, uint64_t ms)
{
    // Not pushed back by further events: a file that changes all the time must not hide the others.
    if (!watch->soon_set) {
        watch->soon_set = uv_timer_start(&watch->soon, on_soon, ms, 0) == 0;
    }
}

static void scan(srv_watch *watch)
{
    if (srv_folder_scan(watch->folder)) {
        scan_in(watch, SRV_FOLDER_QUIET_MS + 1);
    }
}

static void on_event(uv_fs_event_t *events, const char *name, int kinds, int status)
{
    (void)name, (void)kinds, (void)status;
    scan_in(events->data, FIRST_LOOK_MS);
}

static void watch_events(srv_watch *watch)
{
    watch->inode = srv_folder_inode(watch->folder);
    int status = uv_fs_event_start(&watch->events, on_event, srv_folder_path(watch->folder), 0);
    watch->watching = status == 0;
    if (status != 0) {
        srv_log(SRV_WARN, SRV_EVENT("no events for the mesh folder: it is looked at every few seconds"),
                SRV_TEXT("error", uv_strerror(status)));
    }
}

static void on_slow(uv_timer_t *timer)
{
    srv_watch *watch = timer->data;
    if (watch->watching && srv_folder_inode(watch->folder) != watch->inode) {
        uv_fs_event_stop(&watch->events); // of a folder that is no longer there
        watch_events(watch);
    }
    scan_in(watch, 0);
}

int srv_watch_start(srv_watch *watch, uv_loop_t *loop, srv_folder *folder)
{
    *watch = (srv_watch){.loop = loop, .folder = folder};
    watch->events.data = watch->soon.data = watch->slow.data = watch;
    int status = uv_fs_event_init(loop, &watch->events);
    status = status ? status : uv_timer_init(loop, &watch->soon);
    status = status ? status : uv_timer_init(loop, &watch->slow);
    status = status ? status : uv_timer_start(&watch->slow, on_slow, SLOW_POLL_MS, SLOW_POLL_MS);
    if (status == 0) {
        watch_events(watch);
        scan_in(watch, 0);
    }
    return status;
}

void srv_watch_rescan(srv_watch *watch)
{
    scan_in(watch, FIRST_LOOK_MS);
}

void srv_watch_stop(srv_watch *watch)
{
    uv_close((uv_handle_t *)&watch->events, NULL);
    uv_close((uv_handle_t *)&watch->soon, NULL);
    uv_close((uv_handle_t *)&watch->slow, NULL);
}
