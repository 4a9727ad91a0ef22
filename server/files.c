#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "nav_cooked.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

// A name that begins with a dot is never taken for a mesh.
#define TEMPORARY_MARK ".tmp-"

static int64_t to_ns(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

srv_look srv_look_from(const struct stat *st)
{
    return (srv_look){
        .device = st->st_dev,
        .inode = st->st_ino,
        .bytes = (uint64_t)st->st_size,
        .modified_ns = to_ns(&st->st_mtim),
        .changed_ns = to_ns(&st->st_ctim),
    };
}

bool srv_look_equal(const srv_look *a, const srv_look *b)
{
    return a->device == b->device && a->inode == b->inode && a->bytes == b->bytes && a->modified_ns == b->modified_ns &&
           a->changed_ns == b->changed_ns;
}

bool srv_look_settled(const srv_look *look)
{
    return look->changed_ns > look->modified_ns;
}

static bool join(char path[PATH_MAX], const char *folder, const char *name)
{
    int n = snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return n > 0 && n < PATH_MAX;
}

/// The file behind `folder`/`name` with links resolved, if it lies inside the folder.
static bool resolve(const char *real_folder, const char *name, char real[PATH_MAX], bool *outside)
{
    char path[PATH_MAX];
    *outside = false;
    if (!join(path, real_folder, name) || !realpath(path, real)) {
        return false;
    }
    size_t length = strlen(real_folder);
    if (length == 1) { // "/" holds everything
        return true;
    }
    *outside = strncmp(real, real_folder, length) != 0 || real[length] != '/';
    return !*outside;
}

bool srv_file_look(const char *real_folder, const char *name, srv_look *look, bool *outside)
{
    char real[PATH_MAX];
    struct stat st;
    *look = (srv_look){0};
    *outside = false;
    // Most are no links; then the folder need not be gone through again, which takes long with thousands of tiles.
    if (join(real, real_folder, name) && lstat(real, &st) == 0 && S_ISREG(st.st_mode)) {
        *look = srv_look_from(&st);
        return true;
    }
    if (!resolve(real_folder, name, real, outside) || stat(real, &st) != 0 || !S_ISREG(st.st_mode)) {
        return false;
    }
    *look = srv_look_from(&st);
    return true;
}

static bool read_all(int fd, char *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = read(fd, data + done, size - done);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

/// Maps a .navd. @return NULL: it is none, or cannot be mapped
static srv_mapped *map_open(int fd, size_t size)
{
    char begin[NAV_COOKED_MAGIC_BYTES];
    bool cooked = pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin && nav_cooked_is(begin, sizeof begin);
    return cooked ? srv_mapped_open(fd, size) : NULL;
}

static srv_read_result read_open(int fd, const char *name, srv_bytes *out, srv_mapped **mapped, api_problem *problem)
{
    struct stat before, after;
    if (fstat(fd, &before) != 0 || !S_ISREG(before.st_mode)) {
        return SRV_READ_MISSING;
    }
    if (before.st_size < 0 || (uint64_t)before.st_size > SRV_FILE_MAX_BYTES) {
        api_problem_set(problem, API_TOO_LARGE, "%s is larger than %zu bytes", name, SRV_FILE_MAX_BYTES);
        return SRV_READ_FAILED;
    }
    size_t size = (size_t)before.st_size;
    srv_mapped *map = mapped ? map_open(fd, size) : NULL;
    char *data = map ? (char *)(uintptr_t)srv_mapped_bytes(map) : malloc(size + 1); // what is mapped is only read
    if (!data) {
        api_problem_set(problem, API_INTERNAL, "no memory to read %s", name);
        return SRV_READ_FAILED;
    }
    srv_look first = srv_look_from(&before);
    bool whole = (map || read_all(fd, data, size)) && fstat(fd, &after) == 0;
    if (whole) {
        out->look = srv_look_from(&after);
        whole = srv_look_equal(&first, &out->look);
    }
    if (!whole) {
        if (map) {
            srv_mapped_close(map);
        } else {
            free(data);
        }
        return SRV_READ_CHANGED;
    }
    if (map) {
        *mapped = map;
    } else {
        data[size] = '\0';
    }
    out->data = data;
    out->size = size;
    return SRV_READ_OK;
}

srv_read_result srv_file_read(const char *real_folder, const char *name, srv_bytes *out, api_problem *problem)
{
    return srv_file_read_or_map(real_folder, name, out, NULL, problem);
}

srv_read_result srv_file_read_or_map(const char *real_folder, const char *name, srv_bytes *out, srv_mapped **mapped,
                                     api_problem *problem)
{
    char real[PATH_MAX];
    bool outside;
    *out = (srv_bytes){0};
    if (!resolve(real_folder, name, real, &outside)) {
        return SRV_READ_MISSING;
    }
    // O_NONBLOCK: a FIFO put there between the look and now must not hang a job thread.
    int fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        if (errno == ENOENT) {
            return SRV_READ_MISSING;
        }
        api_problem_set(problem, API_INTERNAL, "cannot open %s: %s", name, strerror(errno));
        return SRV_READ_FAILED;
    }
    srv_read_result result = read_open(fd, name, out, mapped, problem);
    close(fd);
    return result;
}

static bool write_problem(api_problem *problem, const char *what, const char *name, int error)
{
    bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    api_problem_set(problem, full ? API_STORAGE_FULL : API_INTERNAL, "cannot %s %s: %s", what, name, strerror(error));
    return false;
}

bool srv_write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return false;
        }
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

bool srv_file_stage(srv_staged *staged, const char *folder, const char *name, const void *bytes, size_t size,
                    api_problem *problem)
{
    *staged = (srv_staged){.fd = -1};
    int n = snprintf(staged->temporary, sizeof staged->temporary, "%s/.%s%sXXXXXX", folder, name, TEMPORARY_MARK);
    if (!join(staged->path, folder, name) || n < 0 || (size_t)n >= sizeof staged->temporary) {
        return write_problem(problem, "write", name, ENAMETOOLONG);
    }
    int fd = mkostemp(staged->temporary, O_CLOEXEC);
    if (fd < 0) {
        return write_problem(problem, "write", name, errno);
    }
    staged->fd = fd;
    // The lock tells srv_files_clean of another process that this file has a writer.
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fchmod(fd, 0644) == 0 && srv_write_all(fd, bytes, size) && fsync(fd) == 0) {
        return true;
    }
    int error = errno;
    srv_file_discard(staged);
    return write_problem(problem, "write", name, error);
}

bool srv_file_commit(srv_staged *staged, srv_look *look, api_problem *problem)
{
    struct stat st;
    if (rename(staged->temporary, staged->path) != 0) {
        int error = errno;
        srv_file_discard(staged);
        return write_problem(problem, "put into place", strrchr(staged->path, '/') + 1, error);
    }
    *look = fstat(staged->fd, &st) == 0 ? srv_look_from(&st) : (srv_look){0};
    close(staged->fd);
    staged->fd = -1;
    return true;
}

void srv_file_discard(srv_staged *staged)
{
    if (staged->fd >= 0) {
        unlink(staged->temporary);
        close(staged->fd);
        staged->fd = -1;
    }
}

bool srv_files_sync(const char *folder, api_problem *problem)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // Some file systems cannot sync a folder; then a rename is as good as it gets.
    bool ok = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL || errno == EROFS);
    int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    return ok || write_problem(problem, "sync the folder", folder, error);
}

bool srv_file_remove(const char *folder, const char *name, api_problem *problem)
{
    char path[PATH_MAX];
    if (!join(path, folder, name)) {
        return write_problem(problem, "remove", name, ENAMETOOLONG);
    }
    return unlink(path) == 0 || errno == ENOENT || write_problem(problem, "remove", name, errno);
}

/// "." name ".tmp-" six characters
static bool is_temporary(const char *name)
{
    size_t length = strlen(name), tail = strlen(TEMPORARY_MARK) + 6;
    return name[0] == '.' && length > tail + 1 &&
           strncmp(name + length - tail, TEMPORARY_MARK, strlen(TEMPORARY_MARK)) == 0;
}

static bool remove_if_orphan(int folder_fd, const char *name)
{
    int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return false;
    }
    bool orphan = flock(fd, LOCK_EX | LOCK_NB) == 0;
    bool removed = orphan && unlinkat(folder_fd, name, 0) == 0;
    close(fd);
    return removed;
}

size_t srv_files_clean(const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir) {
        return 0;
    }
    size_t removed = 0;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (is_temporary(entry->d_name)) {
            removed += remove_if_orphan(dirfd(dir), entry->d_name);
        }
    }
    closedir(dir);
    return removed;
}

uint64_t srv_hash(uint64_t hash, const void *bytes, size_t size)
{
    return XXH3_64bits_withSeed(bytes, size, hash);
}
