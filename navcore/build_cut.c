/// A ring to exactly convex pieces: triangles first, then needless cuts are taken out again.
#include "build_clip.h"

#include <stdlib.h>

/// A cut that may be taken out.
typedef struct diagonal {
    double length;
    uint32_t half;
} diagonal;

/// A triangulation on its way to pieces.
typedef struct cutter {
    nav__clipper clip;
    diagonal *diagonals;
    uint32_t *place; ///< [half_count] where a half-edge is written in the end
} cutter;

bool nav__ring_is_convex(const nav__p2 *at, uint32_t n)
{
    // Left turns only, and once round: the edges' direction along (x, z) changes sign just twice.
    uint32_t changes = 0;
    double area = 0;
    nav__p2 a = at[n - 1];
    bool up = a.x > at[n - 2].x || (a.x == at[n - 2].x && a.z > at[n - 2].z);
    for (uint32_t i = 0; i < n; i++) {
        nav__p2 p = at[i];
        bool now_up = p.x > a.x || (p.x == a.x && p.z > a.z);
        double turn = nav__orient(i >= 2 ? at[i - 2] : at[n - 2 + i], a, p);
        if (turn < 0) {
            return false;
        }
        area = turn > area ? turn : area;
        changes += now_up != up;
        up = now_up;
        a = p;
    }
    return area > 0 && changes == 2;
}

static int by_length_falling(const void *a, const void *b)
{
    const diagonal *p = a, *q = b;
    return p->length != q->length ? (p->length < q->length ? 1 : -1) : (p->half > q->half) - (p->half < q->half);
}

static nav__tri_half *half_at(const cutter *c, uint32_t half)
{
    return &c->clip.halves[half];
}

/// Where a half-edge begins.
static nav__p2 start_of(const cutter *c, uint32_t half)
{
    return c->clip.at[half_at(c, half)->from];
}

/// Do the starts of three half-edges turn left or run straight on, not back?
static bool goes_on(const cutter *c, uint32_t p, uint32_t q, uint32_t r)
{
    nav__p2 a = start_of(c, p), b = start_of(c, q), d = start_of(c, r);
    double turn = nav__orient(a, b, d);
    return turn > 0 || (turn == 0 && nav__dot(nav__sub(b, a), nav__sub(d, b)) > 0);
}

/// Takes out the cut between two pieces if their union is convex.
static void try_union(cutter *c, uint32_t half)
{
    nav__tri_half *h = half_at(c, half), *t = half_at(c, h->twin);
    if (!goes_on(c, h->prev, half, half_at(c, t->next)->next) ||
        !goes_on(c, t->prev, h->twin, half_at(c, h->next)->next)) {
        return;
    }
    half_at(c, h->prev)->next = t->next;
    half_at(c, t->next)->prev = h->prev;
    half_at(c, t->prev)->next = h->next;
    half_at(c, h->next)->prev = t->prev;
    h->from = t->from = NAV_NONE;
}

static void unite(cutter *c)
{
    uint32_t count = 0;
    for (uint32_t h = 0; h < c->clip.half_count; h++) {
        uint32_t t = half_at(c, h)->twin;
        if (t != NAV_NONE && h < t) {
            c->diagonals[count++] = (diagonal){nav__dist(start_of(c, h), start_of(c, t)), h};
        }
    }
    qsort(c->diagonals, count, sizeof *c->diagonals, by_length_falling);
    for (uint32_t i = 0; i < count; i++) {
        try_union(c, c->diagonals[i].half);
    }
}

/// Writes what is left of the half-edges ring by ring.
static void write_pieces(cutter *c, nav__pieces *out)
{
    uint32_t *place = c->place;
    out->piece_count = out->corner_count = 0;
    memset(place, 0xFF, c->clip.half_count * sizeof *place);
    for (uint32_t start = 0; start < c->clip.half_count; start++) {
        if (c->clip.halves[start].from == NAV_NONE || place[start] != NAV_NONE) {
            continue;
        }
        out->first[out->piece_count++] = out->corner_count;
        uint32_t h = start;
        do {
            place[h] = out->corner_count;
            out->corner[out->corner_count++] = c->clip.halves[h].from;
            h = c->clip.halves[h].next;
        } while (h != start);
    }
    out->first[out->piece_count] = out->corner_count;
    for (uint32_t h = 0; h < c->clip.half_count; h++) {
        if (c->clip.halves[h].from != NAV_NONE) {
            out->mate[place[h]] = c->clip.halves[h].twin == NAV_NONE ? NAV_NONE : place[c->clip.halves[h].twin];
        }
    }
}

/// Deals out the work memory, the strictest alignment first.
/// @return bytes needed; with `work` NULL nothing is set
static size_t deal(cutter *c, void *work, size_t n)
{
    size_t halves = 3 * n, cells = 2 * n;
    if (work) {
        nav__clipper *k = &c->clip;
        c->diagonals = work;
        k->cut = (double *)(c->diagonals + n);
        k->halves = (nav__tri_half *)(k->cut + n);
        c->place = (uint32_t *)(k->halves + halves);
        k->next = c->place + halves;
        k->prev = k->next + n;
        k->inner = k->prev + n;
        k->heap = k->inner + n;
        k->heap_at = k->heap + n;
        k->blockers = k->heap_at + n;
        k->blocker_at = k->blockers + n;
        k->cell_next = k->blocker_at + n;
        k->cell_prev = k->cell_next + n;
        k->heads = k->cell_prev + n;
    }
    return n * (sizeof(diagonal) + sizeof(double)) + halves * sizeof(nav__tri_half) +
           (halves + 9 * n + cells) * sizeof(uint32_t);
}

/// Room for a ring of n corners: 3 (n - 2) half-edges at most.
static bool reserve(nav__build *b, nav__pieces *p, uint32_t n)
{
    if (n <= p->cap) {
        return true;
    }
    uint32_t grown = n > 2 * p->cap ? n : 2 * p->cap;
    uint32_t *first = nav__build_retake(b, p->first, grown, sizeof *first);
    p->first = first ? first : p->first;
    uint32_t *corner = nav__build_retake(b, p->corner, 3 * (size_t)grown, sizeof *corner);
    p->corner = corner ? corner : p->corner;
    uint32_t *mate = nav__build_retake(b, p->mate, 3 * (size_t)grown, sizeof *mate);
    p->mate = mate ? mate : p->mate;
    void *work = nav__build_retake(b, p->work, deal(NULL, NULL, grown), 1);
    p->work = work ? work : p->work;
    if (!first || !corner || !mate || !work) {
        return false;
    }
    p->cap = grown;
    return true;
}

nav__cut_result nav__ring_cut(nav__build *b, const nav__p2 *at, uint32_t n, bool lenient, nav__pieces *pieces)
{
    if (!reserve(b, pieces, n)) {
        return NAV__CUT_NO_MEMORY;
    }
    cutter c = {.clip = {.at = at, .budget = &b->cut_budget, .size = n}};
    deal(&c, pieces->work, n);
    if (!nav__clip_ring(&c.clip, lenient)) {
        return NAV__CUT_IMPOSSIBLE;
    }
    unite(&c);
    write_pieces(&c, pieces);
    return NAV__CUT_DONE;
}
