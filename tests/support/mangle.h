/// Broken variants of a good file for the tests of readers, and an allocator that watches them.
#ifndef TEST_MANGLE_H
#define TEST_MANGLE_H

#include "nav_types.h"

/// An allocator over the C library's with a limit: asking for more than `limit` bytes in all fails, and
/// with `fail_at` > 0 so does that call (counted from 1).
typedef struct watched_memory {
    size_t limit, used, peak;
    unsigned calls, fail_at, failed;
} watched_memory;

nav_alloc watched_alloc(watched_memory *memory);

/// Gets one variant. The bytes lie at the end of a block of their own, so that a sanitizer sees a read
/// behind them.
typedef void mangle_fn(void *ctx, const void *bytes, size_t size);

/// All beginnings of a file that are shorter than it, in steps that grow with the file.
void mangle_cuts(const void *bytes, size_t size, mangle_fn *try, void *ctx);

/// `count` copies with 1, 2 or 8 random bits flipped, or bytes replaced.
void mangle_flips(const void *bytes, size_t size, unsigned count, uint64_t seed, mangle_fn *try, void *ctx);

/// Each aligned 32-bit word in the first `head` bytes replaced by 0, 2^31 - 1, 2^31, 2^32 - 1 in turn.
void mangle_words(const void *bytes, size_t size, size_t head, mangle_fn *try, void *ctx);

#endif
