// Edits reach the disk in groups: whatever was added since the last commit is one write and one sync.
#include "state.h"
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <zlib.h>

#define LOG_ENDING ".edits"
#define UNKNOWN_ENDING ".unknown"
#define LOCK_NAME "lock"

static const char first_line[] = "navd edits 1\n";
enum { FIRST_LINE = sizeof first_line - 1, CHECKSUM = 8, RECORD_FRAME = CHECKSUM + 2 };

struct srv_state {
    char path[PATH_MAX]; ///< with all links resolved
    int lock_fd;
};

static bool told(api_problem *problem, const char *what, const char *name, int error)
{
    bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    api_problem_set(problem, full ? API_STORAGE_FULL : API_INTERNAL, "cannot %s %s: %s", what, name, strerror(error));
    return false;
}

srv_state *srv_state_open(const char *path, char *error, size_t error_size)
{
    srv_state *state = calloc(1, sizeof *state);
    char lock[PATH_MAX];
    if (!state) {
        snprintf(error, error_size, "no memory");
        return NULL;
    }
    state->lock_fd = -1;
    int n = realpath(path, state->path) ? snprintf(lock, sizeof lock, "%s/%s", state->path, LOCK_NAME) : -1;
    if (n >= 0 && (size_t)n < sizeof lock) {
        state->lock_fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    }
    if (state->lock_fd < 0) {
        snprintf(error, error_size, "state folder %s: %s", path, strerror(errno));
    } else if (flock(state->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        snprintf(error, error_size, "state folder %s: %s", path,
                 errno == EWOULDBLOCK ? "another process uses it" : strerror(errno));
    } else {
        srv_files_clean(state->path);
        return state;
    }
    srv_state_close(state);
    return NULL;
}

void srv_state_close(srv_state *state)
{
    if (state) {
        if (state->lock_fd >= 0) {
            close(state->lock_fd);
        }
        free(state);
    }
}

static bool full_path(const srv_state *state, const char *name, const char *ending, char path[PATH_MAX])
{
    int n = snprintf(path, PATH_MAX, "%s/%s%s", state->path, name, ending);
    return n >= 0 && n < PATH_MAX;
}

/// Opens the log's file. @return -1 with errno
static int open_log(const srv_state_log *log, int flags)
{
    char path[PATH_MAX];
    if (!full_path(log->state, log->name, "", path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, flags | O_CLOEXEC, 0644);
}

static unsigned long checksum(const char *payload, size_t size)
{
    return crc32_z(0, (const unsigned char *)payload, size);
}

void srv_state_record(api_buffer *out, const char *payload, size_t size)
{
    char *to = api_buffer_room(out, size + RECORD_FRAME);
    if (!to) {
        return;
    }
    char frame[CHECKSUM + 2];
    snprintf(frame, sizeof frame, "%08lx ", checksum(payload, size));
    memcpy(to, frame, CHECKSUM + 1);
    memcpy(to + CHECKSUM + 1, payload, size);
    to[CHECKSUM + 1 + size] = '\n';
    out->size += size + RECORD_FRAME;
}

/// Is this line, without its line feed, a whole record?
static bool whole(const char *line, size_t size)
{
    if (size <= CHECKSUM || line[CHECKSUM] != ' ') {
        return false;
    }
    char expected[CHECKSUM + 1];
    snprintf(expected, sizeof expected, "%08lx", checksum(line + CHECKSUM + 1, size - CHECKSUM - 1));
    return memcmp(line, expected, CHECKSUM) == 0;
}

/// Walks the records. @return bytes up to the end of the last whole one
static size_t read_records(char *data, size_t size, void (*record)(void *ctx, char *payload, size_t size), void *ctx,
                           srv_state_found *found)
{
    size_t good = FIRST_LINE, broken = 0;
    for (size_t at = FIRST_LINE; at < size;) {
        char *line = data + at, *end = memchr(line, '\n', size - at);
        if (!end) {
            break;
        }
        size_t length = (size_t)(end - line);
        at += length + 1;
        if (!whole(line, length)) {
            broken++;
            continue;
        }
        // What was broken before a whole record lies in the middle; what follows the last one is the tail.
        found->broken += broken;
        broken = 0;
        found->records++;
        good = at;
        *end = '\0';
        record(ctx, line + CHECKSUM + 1, length - CHECKSUM - 1);
    }
    return good;
}

static bool cut(const srv_state_log *log, uint64_t bytes, api_problem *problem)
{
    int fd = open_log(log, O_WRONLY);
    bool done = fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 && fdatasync(fd) == 0;
    int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    return done || told(problem, "cut the torn end of", log->name, error);
}

static bool set_aside(const srv_state_log *log, api_problem *problem)
{
    char from[PATH_MAX], to[PATH_MAX];
    bool done = full_path(log->state, log->name, "", from) && full_path(log->state, log->name, UNKNOWN_ENDING, to) &&
                rename(from, to) == 0;
    return done || told(problem, "set aside", log->name, errno);
}

bool srv_state_log_open(srv_state_log *log, srv_state *state, const char *id,
                        void (*record)(void *ctx, char *payload, size_t size), void *ctx, srv_state_found *found,
                        api_problem *problem)
{
    *log = (srv_state_log){.state = state};
    *found = (srv_state_found){0};
    snprintf(log->name, sizeof log->name, "%.64s%s", id, LOG_ENDING);
    srv_bytes bytes;
    switch (srv_file_read(state->path, log->name, &bytes, problem)) {
    case SRV_READ_OK:
        break;
    case SRV_READ_MISSING:
        return true;
    case SRV_READ_CHANGED:
        api_problem_set(problem, API_INTERNAL, "%s is written to by another program", log->name);
        return false;
    case SRV_READ_FAILED:
        return false;
    }
    bool torn_start = bytes.size < FIRST_LINE && memcmp(bytes.data, first_line, bytes.size) == 0;
    bool ours = bytes.size >= FIRST_LINE && memcmp(bytes.data, first_line, FIRST_LINE) == 0;
    size_t good = ours ? read_records(bytes.data, bytes.size, record, ctx, found) : 0;
    size_t size = bytes.size;
    free(bytes.data);
    if (!ours && !torn_start) {
        found->foreign = true;
        return set_aside(log, problem);
    }
    found->cut_bytes = size - good;
    log->bytes = good;
    return size == good || cut(log, good, problem);
}

void srv_state_log_close(srv_state_log *log)
{
    api_buffer_free(&log->batch);
}

void srv_state_log_forget(srv_state_log *log)
{
    log->batch.size = 0;
    log->batch.failed = false;
}

bool srv_state_log_add(srv_state_log *log, const char *payload, size_t size)
{
    size_t before = log->batch.size;
    srv_state_record(&log->batch, payload, size);
    bool added = !log->batch.failed;
    if (!added) {
        log->batch.size = before;
        log->batch.failed = false;
    }
    return added;
}

/// Appends the batch behind the last whole record. @return false with errno
static bool append(srv_state_log *log, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return false;
    }
    if ((uint64_t)st.st_size < log->bytes) { // somebody took the file away or cut it
        errno = ESTALE;
        return false;
    }
    bool fresh = log->bytes == 0;
    if (ftruncate(fd, (off_t)log->bytes) != 0 || lseek(fd, (off_t)log->bytes, SEEK_SET) < 0) {
        return false;
    }
    return (!fresh || srv_write_all(fd, first_line, FIRST_LINE)) &&
           srv_write_all(fd, log->batch.data, log->batch.size) && fdatasync(fd) == 0;
}

bool srv_state_log_commit(srv_state_log *log, api_problem *problem)
{
    if (log->batch.size == 0) {
        return true;
    }
    int fd = open_log(log, O_WRONLY | O_CREAT);
    bool done = fd >= 0 && append(log, fd);
    int error = errno;
    if (fd >= 0 && !done && error != ESTALE) {
        // Nobody is told of these records as kept, so they must not come back either.
        if (ftruncate(fd, (off_t)log->bytes) == 0) {
            (void)fdatasync(fd);
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    if (done && log->bytes == 0) {
        done = srv_files_sync(log->state->path, problem);
        error = 0;
    }
    if (done) {
        log->bytes += log->batch.size + (log->bytes ? 0 : FIRST_LINE);
    }
    srv_state_log_forget(log);
    return done || error == 0 || told(problem, "write", log->name, error);
}

bool srv_state_rewrite_begin(srv_state_rewrite *rewrite, srv_state *state, const char *name, const api_buffer *records,
                             uint64_t from, api_problem *problem)
{
    *rewrite = (srv_state_rewrite){.from = from};
    api_buffer all = {0};
    api_buffer_add(&all, first_line, FIRST_LINE);
    api_buffer_add(&all, records->data, records->size);
    if (all.failed || records->failed) {
        api_buffer_free(&all);
        rewrite->staged.fd = -1;
        return told(problem, "write", name, ENOMEM);
    }
    rewrite->bytes = all.size;
    bool done = srv_file_stage(&rewrite->staged, state->path, name, all.data, all.size, problem);
    api_buffer_free(&all);
    return done;
}

/// Copies what stands in the log from `from` on. @return false with errno
static bool copy_rest(const srv_state_log *log, uint64_t from, int to)
{
    int fd = open_log(log, O_RDONLY);
    bool done = fd >= 0 && lseek(fd, (off_t)from, SEEK_SET) >= 0;
    char chunk[16384];
    for (uint64_t left = log->bytes - from; done && left > 0;) {
        ssize_t n = read(fd, chunk, left < sizeof chunk ? (size_t)left : sizeof chunk);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n == 0) {
            errno = ESTALE;
        }
        done = n > 0 && srv_write_all(to, chunk, (size_t)n);
        left -= done ? (uint64_t)n : 0;
    }
    int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    errno = error;
    return done;
}

bool srv_state_rewrite_finish(srv_state_rewrite *rewrite, srv_state_log *log, api_problem *problem)
{
    uint64_t gained = log->bytes - rewrite->from;
    if (gained > 0 && (!copy_rest(log, rewrite->from, rewrite->staged.fd) || fdatasync(rewrite->staged.fd) != 0)) {
        int error = errno;
        srv_file_discard(&rewrite->staged);
        return told(problem, "shorten", log->name, error);
    }
    srv_look look;
    if (!srv_file_commit(&rewrite->staged, &look, problem)) {
        return false;
    }
    log->bytes = rewrite->bytes + gained;
    return srv_files_sync(log->state->path, problem);
}

void srv_state_rewrite_drop(srv_state_rewrite *rewrite)
{
    srv_file_discard(&rewrite->staged);
}

bool srv_state_log_remove(srv_state_log *log, api_problem *problem)
{
    srv_state_log_forget(log);
    if (!srv_file_remove(log->state->path, log->name, problem)) {
        return false;
    }
    log->bytes = 0;
    return srv_files_sync(log->state->path, problem);
}
