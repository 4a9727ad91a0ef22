#include "interval.h"

#include <math.h>
#include <string.h>

/// Doubles an array of the query's.
static bool grow(nav__intervals *st, nav__buffer *buffer, void *array, uint32_t *cap, size_t entry)
{
    size_t want = *cap ? (size_t)*cap * 2 : 512;
    void *data = want < NAV_NONE ? nav__reserve(st->query, buffer, want * entry) : NULL;
    if (!data) {
        st->out_of_memory = true;
        return false;
    }
    memcpy(array, &data, sizeof data);
    *cap = (uint32_t)(buffer->bytes / entry < NAV_NONE ? buffer->bytes / entry : NAV_NONE - 1);
    return true;
}

bool nav__grow_records(nav__intervals *st)
{
    return grow(st, &st->query->records, &st->records, &st->record_cap, sizeof *st->records);
}

bool nav__grow_fresh(nav__intervals *st)
{
    return grow(st, &st->query->fresh, &st->fresh, &st->fresh_cap, sizeof *st->fresh);
}

// ---- the open list, a heap of four children --------------------------------------------------------

/// Without a branch: which child comes first cannot be foretold.
static inline bool before(nav__open a, nav__open b)
{
    return (a.f < b.f) | ((a.f == b.f) & (a.node > b.node));
}

void nav__open_node(nav__intervals *st, nav__node n, double f)
{
    if ((st->node_count == st->node_cap &&
         !grow(st, &st->query->nodes, &st->nodes, &st->node_cap, sizeof *st->nodes)) ||
        (st->heap_count == st->heap_cap && !grow(st, &st->query->heap, &st->heap, &st->heap_cap, sizeof *st->heap))) {
        return;
    }
    nav__open entry = {f, st->node_count};
    st->nodes[st->node_count++] = n;
    uint32_t i = st->heap_count++;
    for (uint32_t up; i > 0 && before(entry, st->heap[up = (i - 1) / 4]); i = up) {
        st->heap[i] = st->heap[up];
    }
    st->heap[i] = entry;
}

nav__open nav__pop_open(nav__intervals *st)
{
    nav__open *h = st->heap, top = h[0], last = h[--st->heap_count];
    uint32_t i = 0, n = st->heap_count;
    for (uint32_t first = 1; first < n; first = 4 * i + 1) {
        uint32_t best = first, end = first + 4 < n ? first + 4 : n;
        for (uint32_t k = first + 1; k < end; k++) {
            best = before(h[k], h[best]) ? k : best;
        }
        if (!before(h[best], last)) {
            break;
        }
        h[i] = h[best];
        i = best;
    }
    h[i] = last;
    __builtin_prefetch(&st->nodes[h[0].node]); // perhaps the next
    return top;
}

// ---- the beginning ---------------------------------------------------------------------------------

/// Known lengths by vertex, by ride and, where a filter closes cells, by half-edge. Those of the search before
/// are made infinite again one by one.
static bool prepare_known(nav__intervals *st)
{
    nav_query *q = st->query;
    size_t had = q->known.bytes / sizeof *st->known;
    size_t sectors = st->all_pass ? 0 : st->m->edge_count;
    size_t want = (size_t)st->m->vertex_count + st->m->ride_count + sectors + 1;
    // One more than there are: nav__reach writes before it knows whether to count.
    st->touched = nav__reserve(q, &q->touched, (want + 1) * sizeof *st->touched);
    st->known = st->touched ? nav__reserve(q, &q->known, want * sizeof *st->known) : NULL;
    if (!st->known) {
        return false;
    }
    for (uint32_t i = 0; i < q->touched_count; i++) {
        st->known[st->touched[i]] = INFINITY;
    }
    for (size_t i = had; i < q->known.bytes / sizeof *st->known; i++) {
        st->known[i] = INFINITY;
    }
    q->touched_count = 0;
    st->touched_count = &q->touched_count;
    return true;
}

bool nav__intervals_init(nav__intervals *st, nav_query *query, nav__search *search)
{
    *st = (nav__intervals){
        .query = query,
        .s = search,
        .m = search->mesh,
        .start = search->start->p,
        .goal = search->goal ? search->goal->p : search->start->p,
        .all_pass = nav__passes_all(search->mesh, search->filter),
        .nodes = query->nodes.data,
        .node_cap = (uint32_t)(query->nodes.bytes / sizeof *st->nodes),
        .fresh = query->fresh.data,
        .fresh_cap = (uint32_t)(query->fresh.bytes / sizeof *st->fresh),
        .records = query->records.data,
        .record_cap = (uint32_t)(query->records.bytes / sizeof *st->records),
        .heap = query->heap.data,
        .heap_cap = (uint32_t)(query->heap.bytes / sizeof *st->heap),
        .best_final = INFINITY,
    };
    return prepare_known(st);
}
