#include "mangle.h"

#include "rng.h"

#include <stdlib.h>
#include <string.h>

/// Each block is preceded by its size, in a header that keeps alignment.
#define HEADER 16

static void *watched_resize(void *ctx, void *p, size_t bytes)
{
    watched_memory *m = ctx;
    char *block = p ? (char *)p - HEADER : NULL;
    size_t old = 0;
    if (block) {
        memcpy(&old, block, sizeof old);
    }
    if (bytes == 0) {
        m->used -= old;
        free(block);
        return NULL;
    }
    m->calls++;
    if (m->calls == m->fail_at || bytes > m->limit || m->used - old > m->limit - bytes) {
        m->failed++;
        return NULL;
    }
    block = realloc(block, bytes + HEADER);
    if (!block) {
        return NULL;
    }
    memcpy(block, &bytes, sizeof bytes);
    m->used += bytes - old;
    m->peak = m->used > m->peak ? m->used : m->peak;
    return block + HEADER;
}

nav_alloc watched_alloc(watched_memory *memory)
{
    return (nav_alloc){.resize = watched_resize, .ctx = memory};
}

/// Calls `try` with a copy that ends where its block does.
static void try_copy(const void *bytes, size_t size, mangle_fn *try, void *ctx)
{
    char *copy = malloc(size ? size : 1);
    if (copy) {
        memcpy(copy, bytes, size);
        try(ctx, size ? copy : copy + 1, size);
    }
    free(copy);
}

void mangle_cuts(const void *bytes, size_t size, mangle_fn *try, void *ctx)
{
    size_t step = size / 2000 + 1;
    for (size_t cut = 0; cut < size; cut += cut < 256 ? 1 : step) {
        try_copy(bytes, cut, try, ctx);
    }
    try_copy(bytes, size - 1, try, ctx);
}

void mangle_flips(const void *bytes, size_t size, unsigned count, uint64_t seed, mangle_fn *try, void *ctx)
{
    static const int flips[] = {1, 2, 8};
    rng r = rng_seeded(seed);
    for (unsigned i = 0; i < count; i++) {
        char *copy = malloc(size);
        if (!copy) {
            return;
        }
        memcpy(copy, bytes, size);
        for (int k = flips[i % 3]; k > 0; k--) {
            uint32_t at = rng_below(&r, (uint32_t)(rng_chance(&r, 0.5) && size > 256 ? 256 : size));
            char bit = (char)(1 << rng_below(&r, 8));
            copy[at] = rng_chance(&r, 0.8) ? (char)(copy[at] ^ bit) : (char)rng_below(&r, 256);
        }
        try(ctx, copy, size);
        free(copy);
    }
}

void mangle_words(const void *bytes, size_t size, size_t head, mangle_fn *try, void *ctx)
{
    static const uint32_t words[] = {0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x00010000};
    for (size_t at = 0; at + 4 <= size && at < head; at += 4) {
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            char *copy = malloc(size);
            if (!copy) {
                return;
            }
            memcpy(copy, bytes, size);
            memcpy(copy + at, &words[i], 4);
            try(ctx, copy, size);
            free(copy);
        }
    }
}
