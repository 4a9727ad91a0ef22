/// Working memory of a build: every piece hangs in one list, so that a build that fails anywhere frees
/// all by one call. And the one sort that the steps share.
#include "build.h"

#include <stdalign.h>

struct nav__block {
    alignas(max_align_t) struct nav__block *next;
    struct nav__block *prev;
};

static struct nav__block *block_of(void *p)
{
    return (struct nav__block *)p - 1;
}

static void link_block(nav__build *b, struct nav__block *block)
{
    block->prev = NULL;
    block->next = b->blocks;
    if (b->blocks) {
        b->blocks->prev = block;
    }
    b->blocks = block;
}

static void unlink_block(nav__build *b, struct nav__block *block)
{
    if (block->prev) {
        block->prev->next = block->next;
    } else {
        b->blocks = block->next;
    }
    if (block->next) {
        block->next->prev = block->prev;
    }
}

void *nav__build_take(nav__build *b, size_t count, size_t size)
{
    return nav__build_retake(b, NULL, count, size);
}

void *nav__build_retake(nav__build *b, void *p, size_t count, size_t size)
{
    if (count > (SIZE_MAX - sizeof(struct nav__block)) / size) {
        return NULL;
    }
    struct nav__block *old = NULL;
    if (p) {
        old = block_of(p);
        unlink_block(b, old);
    }
    struct nav__block *block = b->alloc.resize(b->alloc.ctx, old, sizeof *block + count * size);
    if (!block) {
        if (old) {
            link_block(b, old);
        }
        return NULL;
    }
    link_block(b, block);
    return block + 1;
}

void nav__build_give(nav__build *b, void *p)
{
    if (p) {
        struct nav__block *block = block_of(p);
        unlink_block(b, block);
        b->alloc.resize(b->alloc.ctx, block, 0);
    }
}

void nav__build_release(nav__build *b)
{
    while (b->blocks) {
        nav__build_give(b, b->blocks + 1);
    }
}

bool nav__build_room(nav__build *b, void *array, uint32_t *cap, uint32_t count, size_t size)
{
    if (count < *cap) {
        return true;
    }
    if (*cap > UINT32_MAX / 2) {
        return false;
    }
    uint32_t grown = *cap < 32 ? 64 : *cap + *cap / 2;
    void *p;
    memcpy(&p, array, sizeof p); // the arrays' element types differ, their pointers' sizes do not
    p = nav__build_retake(b, p, grown, size);
    if (!p) {
        return false;
    }
    memcpy(array, &p, sizeof p);
    *cap = grown;
    return true;
}

void nav__sort_u64(uint64_t *keys, uint64_t *scratch, size_t count)
{
    uint64_t *from = keys, *to = scratch;
    for (int shift = 0; shift < 64; shift += 8) {
        size_t starts[257] = {0};
        for (size_t i = 0; i < count; i++) {
            starts[((from[i] >> shift) & 255) + 1]++;
        }
        bool one_digit = false;
        for (int d = 0; d < 256; d++) {
            one_digit = one_digit || starts[d + 1] == count;
            starts[d + 1] += starts[d];
        }
        if (one_digit) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            to[starts[(from[i] >> shift) & 255]++] = from[i];
        }
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys) {
        memcpy(keys, from, count * sizeof *keys);
    }
}
