/// The mesh folder: which files it holds, which of them are whole and new, and loading them.
///
/// A scan looks at names, sizes and times only (main thread). What is new and whole is loaded as work of
/// the job pool, keyed by mesh id, so that it keeps its place among uploads and deletions of that id.
///
///     file seen -> settled, or the same on two looks QUIET apart -> load job -> bytes + sidecar hashed
///         -> hash known: nothing    -> new: built, published    -> broken: noted, the old one serves
#ifndef SRV_FOLDER_H
#define SRV_FOLDER_H

#include "api.h"
#include "edits.h"
#include "pool.h"
#include "registry.h"

typedef struct srv_folder srv_folder;

/// Time for which a file that is written in place must not change.
#define SRV_FOLDER_QUIET_MS 50

/// Asks for a scan soon. Called on job threads.
typedef void srv_rescan_fn(void *ctx);

/// Removes what a crash left behind. @return NULL and one line in `error`: no such folder
srv_folder *srv_folder_open(const char *path, srv_registry *registry, srv_edits *edits, char *error, size_t error_size);
/// No job may be running.
void srv_folder_close(srv_folder *folder);

/// Where loads run and who is told that a scan is needed; before the first scan.
void srv_folder_connect(srv_folder *folder, srv_pool *jobs, srv_rescan_fn *rescan, void *ctx);

/// Looks at every file and queues what is to be loaded or removed.
/// @return true: some file is not settled yet, look again after SRV_FOLDER_QUIET_MS
/// @thread main
bool srv_folder_scan(srv_folder *folder);

/// The first scan and the loads it queued are done. @thread any
bool srv_folder_ready(srv_folder *folder);

/// Inode of the folder itself: it changes when the folder is replaced. 0: it is gone.
uint64_t srv_folder_inode(const srv_folder *folder);
const char *srv_folder_path(const srv_folder *folder);

// The rest is for job threads, within work keyed by the id.

/// Writes the bytes under the id (sidecar first; NULL: none, an old one is removed) and removes other
/// files of the same id. The file's name is copied to `name`.
bool srv_folder_keep(srv_folder *folder, const char *id, const char *extension, const void *bytes, size_t size,
                     const char *sidecar, char name[256], api_problem *problem);
/// Removes the files of the id. @return false and a problem
bool srv_folder_remove(srv_folder *folder, const char *id, api_problem *problem);
/// Loads the id's file again whether it changed or not. @return false and a problem: none, or it is broken
bool srv_folder_reload(srv_folder *folder, const char *id, api_problem *problem);
/// Malloc'ed text of the id's sidecar, NULL: none.
char *srv_folder_sidecar(srv_folder *folder, const char *id);

#endif
