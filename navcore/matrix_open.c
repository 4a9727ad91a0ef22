/// The open list of a matrix's search: a ring of buckets.
#include "matrix.h"

#include <string.h>

void nav__matrix_open_clear(nav_matrix *x)
{
    memset(x->buckets, 0xFF, sizeof x->buckets); // NAV_NONE
    x->pool_free = NAV_NONE;
    x->heap_count = x->pool_count = x->waiting_count = 0;
    x->current = 0;
}

static void push(nav_matrix *x, nav__open_corner entry)
{
    if (x->heap_count == x->heap_cap) {
        size_t cap = x->heap_cap ? 2 * (size_t)x->heap_cap : 1024;
        nav__open_corner *heap = cap < NAV_NONE ? nav__matrix_resize(x, x->heap, cap, sizeof *heap) : NULL;
        if (!heap) {
            x->failed = true;
            return;
        }
        x->heap = heap;
        x->heap_cap = (uint32_t)cap;
    }
    uint32_t i = x->heap_count++;
    while (i > 0 && entry.g < x->heap[(i - 1) / 4].g) {
        x->heap[i] = x->heap[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    x->heap[i] = entry;
}

nav__open_corner nav__matrix_pop(nav_matrix *x)
{
    nav__open_corner *h = x->heap, top = h[0], last = h[--x->heap_count];
    uint32_t i = 0, n = x->heap_count;
    for (uint32_t first = 1; first < n; first = 4 * i + 1) {
        uint32_t best = first, end = first + 4 < n ? first + 4 : n;
        for (uint32_t k = first + 1; k < end; k++) {
            best = h[k].g < h[best].g ? k : best;
        }
        if (h[best].g >= last.g) {
            break;
        }
        h[i] = h[best];
        i = best;
    }
    h[i] = last;
    return top;
}

/// Puts an entry into a bucket after the current one.
static void put_off(nav_matrix *x, nav__open_corner entry, uint64_t bucket)
{
    uint32_t at = x->pool_free;
    if (at != NAV_NONE) {
        x->pool_free = x->pool[at].next;
    } else {
        if (x->pool_count == x->pool_cap) {
            size_t cap = x->pool_cap ? 2 * (size_t)x->pool_cap : 1024;
            nav__waiting *pool = cap < NAV_NONE ? nav__matrix_resize(x, x->pool, cap, sizeof *pool) : NULL;
            if (!pool) {
                x->failed = true;
                return;
            }
            x->pool = pool;
            x->pool_cap = (uint32_t)cap;
        }
        at = x->pool_count++;
    }
    uint32_t *head = &x->buckets[bucket % NAV__BUCKETS];
    x->pool[at] = (nav__waiting){entry, *head};
    *head = at;
    x->waiting_count++;
}

void nav__matrix_open(nav_matrix *x, uint32_t vertex)
{
    double g = x->corners[vertex].g;
    uint64_t bucket = (uint64_t)(g * x->buckets_per_unit);
    nav__open_corner entry = {(float)g, vertex};
    if (bucket > x->current) {
        put_off(x, entry, bucket);
    } else {
        push(x, entry);
    }
}

/// When the current bucket is used up, the next one that holds anything takes its place. What is not out of date
/// goes into the heap, and what it sees is asked of the memory ahead of time.
bool nav__matrix_open_ready(nav_matrix *x)
{
    while (x->heap_count == 0 && x->waiting_count > 0) {
        uint32_t *head = &x->buckets[++x->current % NAV__BUCKETS];
        while (*head != NAV_NONE) {
            nav__waiting *w = &x->pool[*head];
            uint32_t vertex = w->entry.vertex, next = w->next;
            if (w->entry.g <= (float)x->corners[vertex].g) {
                uint32_t first = x->ways[vertex].view.first;
                if (first != NAV__NOT_SEEN_YET) {
                    __builtin_prefetch(&x->sights[first]);
                    __builtin_prefetch((const char *)&x->sights[first] + 64);
                }
                __builtin_prefetch(&x->watchers[vertex]);
                push(x, w->entry);
            }
            w->next = x->pool_free;
            x->pool_free = *head;
            *head = next;
            x->waiting_count--;
        }
    }
    return x->heap_count > 0;
}
