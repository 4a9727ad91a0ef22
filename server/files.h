/// Files of the mesh folder: whole reads, replacements that survive a crash, and what tells one state of
/// a file from another.
#ifndef SRV_FILES_H
#define SRV_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "api_problem.h"
#include "mapped.h"

/// Largest file that is read from the folder.
#define SRV_FILE_MAX_BYTES ((size_t)1 << 30)

/// What a look at a file tells without reading it. All zero: there is no such file.
typedef struct srv_look {
    uint64_t device, inode, bytes;
    int64_t modified_ns; ///< mtime
    int64_t changed_ns;  ///< ctime
} srv_look;

srv_look srv_look_from(const struct stat *st);
bool srv_look_equal(const srv_look *a, const srv_look *b);
/// The last thing that happened to the file was no write: it was renamed into place, or finished by
/// setting its times or mode. Such a file is whole.
bool srv_look_settled(const srv_look *look);

/// A file read whole.
typedef struct srv_bytes {
    char *data; ///< malloc'ed, NUL-terminated
    size_t size;
    srv_look look; ///< the same before and after reading
} srv_bytes;

typedef enum srv_read_result {
    SRV_READ_OK,
    SRV_READ_MISSING, ///< no such file inside the folder
    SRV_READ_CHANGED, ///< written to while it was read: look again later
    SRV_READ_FAILED   ///< problem filled: too large, unreadable, no memory
} srv_read_result;

/// Reads `folder`/`name`. Symbolic links are followed while they stay inside the folder.
/// @param real_folder  the folder's path with all links resolved (realpath)
srv_read_result srv_file_read(const char *real_folder, const char *name, srv_bytes *out, api_problem *problem);

/// The same, but a .navd is mapped where that can be done: then `mapped` owns the bytes, which no NUL ends.
srv_read_result srv_file_read_or_map(const char *real_folder, const char *name, srv_bytes *out, srv_mapped **mapped,
                                     api_problem *problem);

/// Looks at `folder`/`name` through links that stay inside the folder.
/// @return false: no regular file there, or a link that leads out (`outside` is set)
bool srv_file_look(const char *real_folder, const char *name, srv_look *look, bool *outside);

/// A file that has been written whole under a temporary name, ready to take its place.
typedef struct srv_staged {
    int fd; ///< holds the lock that tells a live writer; -1: nothing is staged
    char temporary[PATH_MAX], path[PATH_MAX];
} srv_staged;

/// Writes the bytes to a temporary file beside `folder`/`name` and fsyncs it.
/// @return false and a problem (507 storage_full or 500); nothing is left behind
bool srv_file_stage(srv_staged *staged, const char *folder, const char *name, const void *bytes, size_t size,
                    api_problem *problem);
/// Renames it into place: after a crash at any moment the file is the old or the new one, whole. Done for
/// good after srv_files_sync.
/// @param look  the new file's
bool srv_file_commit(srv_staged *staged, srv_look *look, api_problem *problem);
/// Removes a staged file that was not committed; otherwise nothing.
void srv_file_discard(srv_staged *staged);

/// Makes renames and removals in the folder last through a power cut.
bool srv_files_sync(const char *folder, api_problem *problem);

/// Unlinks; a file that is not there is fine. Done for good after srv_files_sync.
/// @return false and a problem: 500
bool srv_file_remove(const char *folder, const char *name, api_problem *problem);

/// Removes temporary files that a crash left behind (a live writer holds a lock on its own).
/// @return how many
size_t srv_files_clean(const char *folder);

/// XXH3, 64 bits (Collet), seeded with the hash of what came before. Begin with SRV_HASH_START.
#define SRV_HASH_START 0xcbf29ce484222325u
uint64_t srv_hash(uint64_t hash, const void *bytes, size_t size);

/// Writes all of the bytes, however many calls that takes. @return false: errno says why
bool srv_write_all(int fd, const char *bytes, size_t size);

#endif
