#include "mapped.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "log.h"

struct srv_mapped {
    void *bytes;
    size_t size;
    int fd; ///< holds the lease; -1: the bytes are a copy
    srv_mapped *next, **from;
};

static atomic_bool enabled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static srv_mapped *all; ///< under the lock, as are their `fd`

void srv_mapped_enable(void)
{
    atomic_store(&enabled, true);
}

static bool map(srv_mapped *m)
{
    // Populated at once: a page fault for each page while it is checked costs more than the reading.
    void *p = mmap(NULL, m->size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, m->fd, 0);
    m->bytes = p == MAP_FAILED ? NULL : p;
    return m->bytes != NULL;
}

srv_mapped *srv_mapped_open(int fd, size_t size)
{
    srv_mapped *m = atomic_load(&enabled) && size > 0 ? calloc(1, sizeof *m) : NULL;
    if (!m) {
        return NULL;
    }
    m->size = size;
    m->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    // The lease is had only while nobody has the file open for writing.
    if (m->fd < 0 || fcntl(m->fd, F_SETLEASE, F_RDLCK) != 0 || !map(m)) {
        if (m->fd >= 0) {
            close(m->fd);
        }
        free(m);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    m->next = all;
    m->from = &all;
    if (all) {
        all->from = &m->next;
    }
    all = m;
    pthread_mutex_unlock(&lock);
    return m;
}

const void *srv_mapped_bytes(const srv_mapped *mapped)
{
    return mapped->bytes;
}

void srv_mapped_close(srv_mapped *mapped)
{
    pthread_mutex_lock(&lock);
    *mapped->from = mapped->next;
    if (mapped->next) {
        mapped->next->from = mapped->from;
    }
    pthread_mutex_unlock(&lock);
    munmap(mapped->bytes, mapped->size);
    if (mapped->fd >= 0) {
        close(mapped->fd); // with the lease
    }
    free(mapped);
}

/// Puts a copy in the mapping's place; readers go on at the same address.
static bool copy_over(srv_mapped *m)
{
    void *copy = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) {
        return false;
    }
    memcpy(copy, m->bytes, m->size);
    if (mprotect(copy, m->size, PROT_READ) != 0 ||
        mremap(copy, m->size, m->size, MREMAP_MAYMOVE | MREMAP_FIXED, m->bytes) == MAP_FAILED) {
        munmap(copy, m->size);
        return false;
    }
    return true;
}

size_t srv_mapped_guard(void)
{
    size_t count = 0;
    pthread_mutex_lock(&lock);
    for (srv_mapped *m = all; m; m = m->next) {
        // While a lease is being broken, what is told is what it has to become.
        if (m->fd < 0 || fcntl(m->fd, F_GETLEASE) == F_RDLCK) {
            continue;
        }
        if (copy_over(m)) {
            close(m->fd);
            m->fd = -1;
            count++;
        } else {
            srv_log(SRV_ERROR, SRV_EVENT("no memory to keep a mesh whose file is about to be written to"),
                    SRV_INT("bytes", m->size));
        }
    }
    pthread_mutex_unlock(&lock);
    return count;
}
