/// Blocks as private mappings of one memory file: the kernel copies a page when it is written and shares the
/// others. Where there are no memory files a block is a plain copy.
#include "edit_store.h"

#include "alloc.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/// Blocks kept that no mesh uses; the next revisions go into them.
enum { SPARE = 2 };

struct nav__store {
    nav_alloc alloc;
    size_t bytes;
    int file; ///< -1: plain copies
    char *image;
    nav__revision *revisions; ///< the editor's alone
    _Atomic uint32_t users;   ///< meshes, and the editor
};

/// @return NULL when the system gives no such memory
static char *map(const nav__store *s, int flags)
{
    void *p = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, s->file, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void open_file(nav__store *s)
{
    s->file = memfd_create("navd-mesh", MFD_CLOEXEC);
    if (s->file >= 0 && (ftruncate(s->file, (off_t)s->bytes) != 0 || !(s->image = map(s, MAP_SHARED)))) {
        close(s->file);
        s->file = -1;
    }
}

nav__store *nav__store_create(const nav_alloc *alloc, size_t bytes)
{
    nav_alloc a = nav__alloc_or_libc(alloc);
    nav__store *s = a.resize(a.ctx, NULL, sizeof *s);
    if (!s) {
        return NULL;
    }
    *s = (nav__store){.alloc = a, .bytes = bytes, .users = 1};
    open_file(s);
    if (s->file < 0) {
        s->image = a.resize(a.ctx, NULL, bytes);
        if (!s->image) {
            a.resize(a.ctx, s, 0);
            return NULL;
        }
        memset(s->image, 0, bytes);
    }
    return s;
}

char *nav__store_image(nav__store *store)
{
    return store->image;
}

static void free_bytes(const nav__store *s, char *bytes)
{
    if (s->file >= 0) {
        munmap(bytes, s->bytes);
    } else {
        s->alloc.resize(s->alloc.ctx, bytes, 0);
    }
}

static bool is_busy(nav__revision *r)
{
    return __atomic_load_n(&r->busy, __ATOMIC_ACQUIRE) != 0;
}

/// Frees blocks that are neither used nor spare. @return the free one written last
static nav__revision *find_free(nav__store *s)
{
    nav__revision *best = NULL;
    uint32_t spare = 0;
    for (nav__revision **at = &s->revisions; *at;) {
        nav__revision *r = *at;
        if (is_busy(r)) {
            at = &r->next;
        } else if (spare++ < SPARE) {
            best = !best || r->edition > best->edition ? r : best;
            at = &r->next;
        } else {
            *at = r->next;
            free_bytes(s, r->bytes);
            s->alloc.resize(s->alloc.ctx, r, 0);
        }
    }
    return best;
}

nav__revision *nav__store_take(nav__store *s)
{
    nav__revision *r = find_free(s);
    if (!r) {
        r = s->alloc.resize(s->alloc.ctx, NULL, sizeof *r);
        if (!r) {
            return NULL;
        }
        *r = (nav__revision){.next = s->revisions, .store = s};
        r->bytes = s->file >= 0 ? map(s, MAP_PRIVATE) : s->alloc.resize(s->alloc.ctx, NULL, s->bytes);
        if (!r->bytes) {
            s->alloc.resize(s->alloc.ctx, r, 0);
            return NULL;
        }
        if (s->file < 0) {
            memcpy(r->bytes, s->image, s->bytes);
        }
        s->revisions = r;
    }
    nav__revision_hold(r);
    return r;
}

void nav__revision_hold(nav__revision *r)
{
    __atomic_fetch_add(&r->busy, 1, __ATOMIC_RELAXED);
    atomic_fetch_add(&r->store->users, 1);
}

void nav__store_leave(nav__store *s)
{
    if (!s || atomic_fetch_sub(&s->users, 1) != 1) {
        return;
    }
    for (nav__revision *r = s->revisions, *next; r; r = next) {
        next = r->next;
        free_bytes(s, r->bytes);
        s->alloc.resize(s->alloc.ctx, r, 0);
    }
    free_bytes(s, s->image);
    if (s->file >= 0) {
        close(s->file);
    }
    s->alloc.resize(s->alloc.ctx, s, 0);
}

void nav__revision_release(nav__revision *r)
{
    nav__store *s = r->store;
    __atomic_fetch_sub(&r->busy, 1, __ATOMIC_RELEASE);
    nav__store_leave(s);
}
