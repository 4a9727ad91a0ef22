/// What the parts of the edits share. Private to edits*.c.
#ifndef SRV_EDITS_INTERNAL_H
#define SRV_EDITS_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "edits.h"

/// Edits of one mesh: more would make its revisions unwieldy.
#define SRV_EDITS_MAX 100000

/// What several requests are committed with.
typedef struct srv_group {
    uint32_t holders; ///< tickets, and the mesh while it is open
    bool done, kept;
    api_problem problem; ///< when not kept
} srv_group;

/// One request between being applied and being answered.
typedef struct srv_ticket {
    srv_group *group;
    char id[NAV_ID_MAX + 1];
    uint64_t began_ns;
} srv_ticket;

/// The edits of one mesh. Used under the mesh's key.
typedef struct srv_living {
    char id[NAV_ID_MAX + 1];
    uint64_t serial; ///< tells it from a later one of the same id
    bool log_read;
    bool has_log; ///< there is a state folder, and the log could be read
    srv_state_log log;
    api_problem log_problem; ///< why not
    uint64_t shortest;       ///< bytes of the log when it was last rewritten or read
    bool rewriting;
    api_edit_set standing; ///< what is committed
    uint64_t last_order;

    api_editor *editor; ///< with what is applied; NULL: to be made
    srv_group *open;    ///< what is applied and not committed; NULL: nothing
    api_mesh *pending;  ///< the newest revision of those, unpublished
    uint64_t pending_revision;
} srv_living;

/// A mesh of whose edits one expires.
typedef struct srv_expiry {
    int64_t at_ms;
    char id[NAV_ID_MAX + 1];
} srv_expiry;

typedef struct srv_edits_counters {
    atomic_uint_fast64_t made[API_EDIT_KINDS], removed[API_EDIT_KINDS], expired, failed;
    atomic_uint_fast64_t standing[API_EDIT_KINDS];
    atomic_uint_fast64_t log_bytes, commits;
    atomic_uint_fast64_t buckets[SRV_EDIT_BUCKETS + 1];
    atomic_uint_fast64_t sum_ns;
} srv_edits_counters;

struct srv_edits {
    srv_registry *registry;
    srv_state *state;
    srv_pool *jobs;
    void (*wake)(void *ctx);
    void *wake_ctx;
    srv_edits_counters counters;

    pthread_mutex_t lock;
    // under lock: the table (not what is in it) and the heap
    srv_living **living; ///< sorted by id
    size_t count, cap;
    uint64_t last_serial;
    srv_expiry *heap; ///< the earliest first
    size_t heap_count, heap_cap;
};

/// The edits of a mesh, made where there are none; NULL: no memory.
srv_living *srv__living(srv_edits *edits, const char *id);
/// NULL: there are none.
srv_living *srv__living_find(srv_edits *edits, const char *id);

/// Commits what is applied, if anything is.
/// @return false: it could not be kept, and the editor has been dropped
bool srv__living_commit(srv_edits *edits, srv_living *living);
/// Takes what is committed now for the mesh's edits.
/// @return false: no memory, nothing was changed
bool srv__living_stand(srv_edits *edits, srv_living *living, const api_edit_set *set);

/// Reads the log, once.
void srv__living_read_log(srv_edits *edits, srv_living *living);
/// Begins to rewrite the log when that is due.
void srv__living_look_at_log(srv_edits *edits, srv_living *living);
/// Counts what the log has grown or shrunk by.
void srv__count_log(srv_edits *edits, uint64_t before, uint64_t after);

/// Notes when an edit expires. @return false: no memory
bool srv__expiry_add(srv_edits *edits, const char *id, int64_t at_ms);

#endif
