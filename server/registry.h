/// Mesh id -> the revision that serves now, with the state of the newest attempt to change it.
///
/// Published meshes are counted: the registry holds one reference, every reader one more. The lock is
/// held for a look-up or a swap of one pointer, never while a mesh is loaded or freed.
#ifndef SRV_REGISTRY_H
#define SRV_REGISTRY_H

#include "api.h"

typedef struct srv_registry srv_registry;

/// Source of a mesh that has no file.
#define SRV_SOURCE_UPLOAD "upload"

/// Called with a mesh whose last reference is gone; has it freed on another thread. Must be quick and
/// call nothing of the registry.
/// @return false: cannot, the caller shall free it
typedef bool srv_dispose_fn(void *ctx, api_mesh *mesh);

/// @return NULL: no memory
srv_registry *srv_registry_create(void);
/// From now on meshes are disposed of by `dispose`; before that, and after NULL, at once.
void srv_registry_set_dispose(srv_registry *registry, srv_dispose_fn *dispose, void *ctx);
/// Called after a mesh was published or removed, on the thread that did it and without a lock.
typedef void srv_registry_watch_fn(void *ctx, const char *id, bool removed);
/// Before other threads know the registry.
void srv_registry_set_watch(srv_registry *registry, srv_registry_watch_fn *watch, void *ctx);
/// Releases every mesh. No reader may be left.
void srv_registry_destroy(srv_registry *registry);

/// @return NULL: none is published
const api_mesh *srv_registry_acquire(srv_registry *registry, const char *id);
void srv_registry_release(srv_registry *registry, const api_mesh *mesh);
/// One reference more to a mesh of which the caller has one.
const api_mesh *srv_registry_retain(const api_mesh *mesh);

/// As api_host.entry and api_host.entries.
bool srv_registry_entry(srv_registry *registry, const char *id, api_mesh_entry *entry);
size_t srv_registry_entries(srv_registry *registry, size_t skip, api_mesh_entry *entries, size_t cap);

/// An attempt to load has begun. Makes the entry if there is none.
/// @return false: no memory
bool srv_registry_loading(srv_registry *registry, const char *id, const char *source);

/// Publishes `mesh` (takes it over) under the next revision and clears the error.
/// @param created  may be NULL; the id had no mesh
/// @return false: no memory; the mesh has been freed
bool srv_registry_publish(srv_registry *registry, const char *id, api_mesh *mesh, const char *source, double load_ms,
                          bool *created);

/// A revision that nobody has and nobody will get but who asked.
uint64_t srv_registry_reserve(srv_registry *registry);

/// Publishes an edited revision of the mesh that serves (takes it over) as `revision`, a reserved one. What is
/// told of its file stays as it was.
/// @return false: no memory, or the id has no mesh any more; the mesh has been freed
bool srv_registry_revise(srv_registry *registry, const char *id, api_mesh *mesh, uint64_t revision);

/// The attempt failed: notes why; what serves goes on serving.
void srv_registry_fail(srv_registry *registry, const char *id, const char *source, const api_problem *problem);

/// The attempt found what is served already: the error is over.
void srv_registry_unchanged(srv_registry *registry, const char *id);

/// The attempt was given up (the file changed while it was read); another will follow.
void srv_registry_cancelled(srv_registry *registry, const char *id);

/// @return false: unknown id
bool srv_registry_remove(srv_registry *registry, const char *id);

typedef struct srv_mesh_stats {
    char id[NAV_ID_MAX + 1];
    uint64_t revision; ///< 0: nothing is published
    uint32_t polygons;
    size_t memory_bytes;
    uint64_t reloads, failures; ///< attempts that published, that failed
    bool failed;                ///< the newest attempt failed
} srv_mesh_stats;

/// Fills up to `cap` from `skip` on, in order of ids. @return how many there are
size_t srv_registry_stats(srv_registry *registry, size_t skip, srv_mesh_stats *stats, size_t cap);

#endif
