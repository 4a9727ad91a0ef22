/// What folder.c (scanning) and folder_load.c (reading, keeping) share.
#ifndef SRV_FOLDER_INTERNAL_H
#define SRV_FOLDER_INTERNAL_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "files.h"
#include "folder.h"
#include "source.h"

#define SRV_NAME_MAX SRV_NAME_SIZE
#define SRV_SIDECAR_ENDING ".meta.json"
#define SRV_TOLD_MAX 64

/// A mesh file and its sidecar as one look saw them.
typedef struct srv_look_pair {
    srv_look mesh, sidecar;
} srv_look_pair;

/// A mesh id that has a file.
typedef struct srv_item {
    char id[NAV_ID_MAX + 1];
    char name[SRV_NAME_MAX]; ///< of the file that stands for the id
    srv_look_pair taken;     ///< what the newest load was queued for, or what we wrote ourselves
    srv_look_pair seen;      ///< by the last scan
    uint64_t seen_ns;        ///< when `seen` was first seen so
    uint64_t restless_ns;    ///< since when no look has found it at rest; 0: it is
    uint64_t missing_ns;     ///< since when there is no file; 0: there is
    bool queued;             ///< a load waits in the job queue
    bool removing;           ///< a removal waits in the job queue
    bool writing;            ///< an upload is being kept: its files are not to be looked at
    bool has_hash;
    uint64_t hash; ///< of what is served
    bool has_failed_hash;
    uint64_t failed_hash;     ///< of what could not be loaded
    char clash[SRV_NAME_MAX]; ///< another file of the same id, told once
} srv_item;

/// Files of an id as they were read or written.
typedef struct srv_kept {
    char name[SRV_NAME_MAX]; ///< of the mesh file
    srv_look_pair look;
    uint64_t hash; ///< of both files' bytes
} srv_kept;

struct srv_folder {
    char path[PATH_MAX]; ///< as resolved at start
    srv_registry *registry;
    srv_edits *edits;
    srv_pool *jobs;
    srv_rescan_fn *rescan;
    void *rescan_ctx;
    uint64_t opened_ns;
    atomic_bool scanned;
    atomic_size_t first_loads; ///< of the first scan, still to finish
    // main thread only:
    bool unreadable;             ///< told already
    uint64_t told[SRV_TOLD_MAX]; ///< hashes of the names of unknown files that were told of
    size_t told_count;

    pthread_mutex_t lock;
    // under lock:
    srv_item **items; ///< sorted by id
    size_t count, cap;
};

/// Both under the folder's lock.
srv_item *srv__folder_find(srv_folder *folder, const char *id);
srv_item *srv__folder_find_or_add(srv_folder *folder, const char *id);
void srv__folder_forget(srv_folder *folder, const char *id);

/// Hash of a mesh file's bytes with its sidecar's (NULL: none).
uint64_t srv__folder_hash(const void *mesh, size_t mesh_size, const char *sidecar, size_t sidecar_size);
/// Notes what came of these bytes, so that they are not tried again.
/// @param served  false: they could not be loaded
void srv__folder_note(srv_folder *folder, const char *id, const srv_kept *kept, bool served);

/// Queues a load of the id, or its removal when the file is still missing then.
/// @return false: no memory
bool srv__folder_queue_load(srv_folder *folder, const char *id, bool first);
bool srv__folder_queue_removal(srv_folder *folder, const char *id);

/// The id that a file's name stands for. @return false: no mesh file, or its name makes no id
bool srv__folder_id_of(const char *name, char id[NAV_ID_MAX + 1]);

/// "{id}.meta.json"
void srv__sidecar_name(const char *id, char name[SRV_NAME_MAX]);

#endif
