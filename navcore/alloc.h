/// Private: where navcore's memory comes from when the caller does not say.
#ifndef NAV_ALLOC_H
#define NAV_ALLOC_H

#include "nav_types.h"

#include <stdlib.h>

static inline void *nav__libc_resize(void *ctx, void *p, size_t bytes)
{
    (void)ctx;
    if (bytes == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, bytes);
}

/// The caller's allocator, or the C library's where it gave none.
static inline nav_alloc nav__alloc_or_libc(const nav_alloc *alloc)
{
    return alloc && alloc->resize ? *alloc : (nav_alloc){.resize = nav__libc_resize, .ctx = NULL};
}

#endif
