/// The edits of all meshes: applied one after another for each mesh, kept in the state folder, published as
/// revisions, replayed when the file below them changes, taken away when their time is over.
///
/// Everything about one mesh happens on job threads under the mesh's key, so that nothing of it needs a lock.
#ifndef SRV_EDITS_H
#define SRV_EDITS_H

#include "api.h"
#include "pool.h"
#include "registry.h"
#include "state.h"

typedef struct srv_edits srv_edits;

/// @param state  NULL: edits are kept in memory only
/// @return NULL: no memory
srv_edits *srv_edits_create(srv_registry *registry, srv_state *state);
/// From now on expiries and rewritten logs are jobs of this pool. `wake` is called from any thread when
/// srv_edits_next has changed.
void srv_edits_connect(srv_edits *edits, srv_pool *jobs, void (*wake)(void *ctx), void *ctx);
/// No job may be left.
void srv_edits_destroy(srv_edits *edits);

/// As srv_registry_publish, for a mesh that was loaded: with the edits that stand on its id.
/// @return false: `problem` says why; the mesh has been freed, what was served goes on being served
bool srv_edits_publish(srv_edits *edits, const char *id, api_mesh *mesh, const char *source, double load_ms,
                       bool *created, api_problem *problem);

/// The mesh is gone and may come back: its edits wait.
void srv_edits_rest(srv_edits *edits, const char *id);
/// The mesh was deleted, and its edits with it.
bool srv_edits_forget(srv_edits *edits, const char *id, api_problem *problem);

/// As the functions of api_host.
void *srv_edits_apply(srv_edits *edits, const char *id, const api_edit_request *request, api_edited *edited,
                      uint64_t *revision);
bool srv_edits_commit(srv_edits *edits, void *ticket, api_problem *problem);
void srv_edits_drop(srv_edits *edits, void *ticket);

/// Unix time at which the next edit expires; INT64_MAX: none.
/// @thread any
int64_t srv_edits_next(srv_edits *edits);
/// Queues what has expired by now to be taken away.
/// @thread any
void srv_edits_expire(srv_edits *edits);

#define SRV_EDIT_BUCKETS 10
extern const uint64_t srv_edit_bucket_us[SRV_EDIT_BUCKETS];

/// For metrics; sums over all meshes.
typedef struct srv_edits_stats {
    uint64_t made[API_EDIT_KINDS], removed[API_EDIT_KINDS], expired, failed;
    uint64_t standing[API_EDIT_KINDS];
    uint64_t log_bytes, commits;
    uint64_t buckets[SRV_EDIT_BUCKETS + 1]; ///< of requests by the time from being applied to being committed
    uint64_t sum_ns;
} srv_edits_stats;

/// @thread any
void srv_edits_get_stats(const srv_edits *edits, srv_edits_stats *stats);

#endif
