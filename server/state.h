/// The state folder: one append-only log for each mesh that has edits, so that they survive the process.
///
/// A log is text: the line "navd edits 1", then one line for each commit, "CRC32 PAYLOAD\n", the checksum in
/// eight hexadecimal digits over the payload. A payload is bytes without a line feed; what they mean is
/// nobody's business here. What stands after the last whole record was never acknowledged and is cut.
#ifndef SRV_STATE_H
#define SRV_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api_buffer.h"
#include "api_problem.h"
#include "files.h"

typedef struct srv_state srv_state;

/// Of a log's file name: an id and its ending.
#define SRV_STATE_NAME_MAX 80

/// Opens the folder for this process alone (a lock that ends with it) and removes what a crash left behind.
/// @return NULL and one line in `error`
srv_state *srv_state_open(const char *path, char *error, size_t error_size);
void srv_state_close(srv_state *state);

/// The log of one mesh. To be zeroed before its first use; one thread at a time. Holds no descriptor.
typedef struct srv_state_log {
    srv_state *state;
    char name[SRV_STATE_NAME_MAX];
    uint64_t bytes;   ///< of whole records and the line before them; 0: there is no file
    api_buffer batch; ///< records that wait for the next commit
} srv_state_log;

/// What opening found.
typedef struct srv_state_found {
    uint64_t records;
    uint64_t cut_bytes; ///< a torn tail, cut
    uint64_t broken;    ///< records in the middle whose checksum does not hold, passed over
    bool foreign;       ///< no log of this version; it was renamed to end in ".unknown"
} srv_state_found;

/// Reads the log of a mesh, record by record, and cuts a torn tail. No log is fine: no records.
/// @param record  a NUL-terminated payload
/// @return false and a problem: it cannot be read or cut
bool srv_state_log_open(srv_state_log *log, srv_state *state, const char *id,
                        void (*record)(void *ctx, char *payload, size_t size), void *ctx, srv_state_found *found,
                        api_problem *problem);
/// Frees the batch; the file stays.
void srv_state_log_close(srv_state_log *log);

/// Adds a record to the batch. @return false: no memory, the batch is as it was
bool srv_state_log_add(srv_state_log *log, const char *payload, size_t size);
/// Writes the batch and sees it on the disk (fdatasync).
/// @return false and a problem (507 storage_full or 500): the log is as it was before, the batch empty
bool srv_state_log_commit(srv_state_log *log, api_problem *problem);
/// Empties the batch.
void srv_state_log_forget(srv_state_log *log);

/// A shorter log of the same state, made beside the old one while that is still written to.
typedef struct srv_state_rewrite {
    srv_staged staged;
    uint64_t from;  ///< bytes of the old log that the new one stands for
    uint64_t bytes; ///< of the new one so far
} srv_state_rewrite;

/// Writes `records` (made by srv_state_record) to a temporary file and sees them on the disk.
/// @param from  log->bytes when they were the whole state
/// @thread any, while another writes to the log
bool srv_state_rewrite_begin(srv_state_rewrite *rewrite, srv_state *state, const char *name, const api_buffer *records,
                             uint64_t from, api_problem *problem);
/// Adds what the log gained meanwhile and puts the new one in its place; the old one stays on failure.
/// @param log  with an empty batch
bool srv_state_rewrite_finish(srv_state_rewrite *rewrite, srv_state_log *log, api_problem *problem);
void srv_state_rewrite_drop(srv_state_rewrite *rewrite);

/// Appends one record to `out`.
void srv_state_record(api_buffer *out, const char *payload, size_t size);

/// Deletes the mesh's log; none is fine.
bool srv_state_log_remove(srv_state_log *log, api_problem *problem);

#endif
