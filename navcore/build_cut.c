/// A ring to exactly convex pieces: ears are cut off until triangles are left, then needless cuts are
/// taken out again. All decisions are exact orientation tests.
#include "build.h"

#include <stdlib.h>

/// A half-edge of the triangulation.
typedef struct tri_half {
    uint32_t from; ///< ring index
    uint32_t twin, next, prev;
} tri_half;

/// A cut that may be taken out.
typedef struct diagonal {
    double length;
    uint32_t half;
} diagonal;

/// The ring still to be cut, doubly linked.
typedef struct clipper {
    const nav__p2 *at;
    uint32_t left;        ///< corners left
    uint32_t *next, *prev;
    uint32_t *inner;      ///< triangle half-edge beyond the edge that starts here, NAV_NONE: the ring's own
    uint32_t *blockers;   ///< corners that may lie in an ear: those that do not turn left
    uint32_t *blocker_at; ///< [n] place in blockers, NAV_NONE: none
    uint32_t blocker_count;
    tri_half *halves;
    uint32_t half_count;
    diagonal *diagonals;
} clipper;

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

static double turn_at(const clipper *c, uint32_t v)
{
    return nav__orient(c->at[c->prev[v]], c->at[v], c->at[c->next[v]]);
}

static void drop_blocker(clipper *c, uint32_t v)
{
    uint32_t place = c->blocker_at[v];
    if (place != NAV_NONE) {
        uint32_t moved = c->blockers[--c->blocker_count];
        c->blockers[place] = moved;
        c->blocker_at[moved] = place;
        c->blocker_at[v] = NAV_NONE;
    }
}

/// Files v among the blockers or takes it out, as it turns now.
static void judge_blocker(clipper *c, uint32_t v)
{
    if (turn_at(c, v) > 0) {
        drop_blocker(c, v);
    } else if (c->blocker_at[v] == NAV_NONE) {
        c->blocker_at[v] = c->blocker_count;
        c->blockers[c->blocker_count++] = v;
    }
}

static bool same_place(nav__p2 a, nav__p2 b)
{
    return a.x == b.x && a.z == b.z;
}

/// Does nothing of the ring lie in the closed triangle at v? Corners in the place of one of the
/// triangle's own are allowed: rings with holes run through their bridges twice.
static bool is_clear(const clipper *c, uint32_t v)
{
    nav__p2 p = c->at[c->prev[v]], q = c->at[v], r = c->at[c->next[v]];
    for (uint32_t i = 0; i < c->blocker_count; i++) {
        nav__p2 s = c->at[c->blockers[i]];
        if (nav__orient(p, q, s) >= 0 && nav__orient(q, r, s) >= 0 && nav__orient(r, p, s) >= 0 &&
            !same_place(s, p) && !same_place(s, q) && !same_place(s, r)) {
            return false;
        }
    }
    return true;
}

static void pair(clipper *c, uint32_t half, uint32_t twin)
{
    c->halves[half].twin = twin;
    if (twin != NAV_NONE) {
        c->halves[twin].twin = half;
    }
}

/// Adds the triangle prev(v), v, next(v) and takes v out of the ring.
static void clip(clipper *c, uint32_t v)
{
    uint32_t p = c->prev[v], r = c->next[v], h = c->half_count;
    const uint32_t from[3] = {p, v, r};
    for (uint32_t i = 0; i < 3; i++) {
        c->halves[h + i] = (tri_half){from[i], NAV_NONE, h + (i + 1) % 3, h + (i + 2) % 3};
    }
    pair(c, h, c->inner[p]);
    pair(c, h + 1, c->inner[v]);
    c->half_count += 3;
    c->inner[p] = h + 2;
    c->next[p] = r;
    c->prev[r] = p;
    drop_blocker(c, v);
    c->left--;
    judge_blocker(c, p);
    judge_blocker(c, r);
}

/// Cuts the whole ring into triangles of positive area.
static bool clip_all(clipper *c, bool lenient)
{
    uint32_t v = 0, tried = 0;
    bool forced = false;
    while (c->left > 3) {
        if (turn_at(c, v) > 0 && (forced || is_clear(c, v))) {
            uint32_t next = c->next[v];
            clip(c, v);
            v = c->next[next]; // not at once beside the last ear: fans of slivers would follow
            tried = 0;
            forced = false;
        } else if (++tried > c->left) {
            if (!lenient || forced) {
                return false;
            }
            forced = true;
            tried = 0;
        } else {
            v = c->next[v];
        }
    }
    if (!(turn_at(c, v) > 0)) {
        return false;
    }
    uint32_t third = c->next[v];
    clip(c, v);
    pair(c, c->half_count - 1, c->inner[third]);
    return true;
}

static int by_length_falling(const void *a, const void *b)
{
    const diagonal *p = a, *q = b;
    return p->length != q->length ? (p->length < q->length ? 1 : -1) : (p->half > q->half) - (p->half < q->half);
}

/// Does a ring's part p, q, r turn left or run straight on, not back? Ring indices.
static bool goes_on(const clipper *c, uint32_t p, uint32_t q, uint32_t r)
{
    double turn = nav__orient(c->at[p], c->at[q], c->at[r]);
    return turn > 0 || (turn == 0 && nav__dot(nav__sub(c->at[q], c->at[p]), nav__sub(c->at[r], c->at[q])) > 0);
}

/// Takes out the cut between two pieces if their union is convex.
static void try_union(clipper *c, uint32_t half)
{
    tri_half *h = &c->halves[half], *t = &c->halves[h->twin];
    uint32_t after_t = c->halves[c->halves[t->next].next].from, after_h = c->halves[c->halves[h->next].next].from;
    if (!goes_on(c, c->halves[h->prev].from, h->from, after_t) ||
        !goes_on(c, c->halves[t->prev].from, t->from, after_h)) {
        return;
    }
    c->halves[h->prev].next = t->next;
    c->halves[t->next].prev = h->prev;
    c->halves[t->prev].next = h->next;
    c->halves[h->next].prev = t->prev;
    h->from = t->from = NAV_NONE;
}

static void unite(clipper *c)
{
    uint32_t count = 0;
    for (uint32_t h = 0; h < c->half_count; h++) {
        uint32_t t = c->halves[h].twin;
        if (t != NAV_NONE && h < t) {
            c->diagonals[count++] = (diagonal){nav__dist(c->at[c->halves[h].from], c->at[c->halves[t].from]), h};
        }
    }
    qsort(c->diagonals, count, sizeof *c->diagonals, by_length_falling);
    for (uint32_t i = 0; i < count; i++) {
        try_union(c, c->diagonals[i].half);
    }
}

/// Writes what is left of the half-edges ring by ring. `place` [half_count] is scratch.
static void write_pieces(clipper *c, uint32_t *place, nav__pieces *out)
{
    out->piece_count = out->corner_count = 0;
    memset(place, 0xFF, c->half_count * sizeof *place);
    for (uint32_t start = 0; start < c->half_count; start++) {
        if (c->halves[start].from == NAV_NONE || place[start] != NAV_NONE) {
            continue;
        }
        out->first[out->piece_count++] = out->corner_count;
        uint32_t h = start;
        do {
            place[h] = out->corner_count;
            out->corner[out->corner_count++] = c->halves[h].from;
            h = c->halves[h].next;
        } while (h != start);
    }
    out->first[out->piece_count] = out->corner_count;
    for (uint32_t h = 0; h < c->half_count; h++) {
        if (c->halves[h].from != NAV_NONE) {
            out->mate[place[h]] = c->halves[h].twin == NAV_NONE ? NAV_NONE : place[c->halves[h].twin];
        }
    }
}

/// Room for a ring of n corners: 3 (n - 2) half-edges at most.
static bool reserve(nav__build *b, nav__pieces *p, uint32_t n)
{
    size_t halves = 3 * (size_t)n;
    size_t bytes = halves * (sizeof(tri_half) + sizeof(uint32_t)) + n * (sizeof(diagonal) + 5 * sizeof(uint32_t));
    if (n > p->cap) {
        uint32_t *first = nav__build_retake(b, p->first, n, sizeof *first);
        p->first = first ? first : p->first;
        uint32_t *corner = nav__build_retake(b, p->corner, halves, sizeof *corner);
        p->corner = corner ? corner : p->corner;
        uint32_t *mate = nav__build_retake(b, p->mate, halves, sizeof *mate);
        p->mate = mate ? mate : p->mate;
        void *work = nav__build_retake(b, p->work, bytes, 1);
        p->work = work ? work : p->work;
        if (!first || !corner || !mate || !work) {
            return false;
        }
        p->cap = n;
    }
    return true;
}

nav__cut_result nav__ring_cut(nav__build *b, const nav__p2 *at, uint32_t n, bool lenient, nav__pieces *pieces)
{
    if (!reserve(b, pieces, n)) {
        return NAV__CUT_NO_MEMORY;
    }
    clipper c = {.at = at, .left = n};
    c.diagonals = pieces->work; // the strictest alignment first
    c.halves = (tri_half *)(c.diagonals + n);
    uint32_t *place = (uint32_t *)(c.halves + 3 * (size_t)n);
    c.next = place + 3 * (size_t)n;
    c.prev = c.next + n;
    c.inner = c.prev + n;
    c.blockers = c.inner + n;
    c.blocker_at = c.blockers + n;
    for (uint32_t i = 0; i < n; i++) {
        c.next[i] = i + 1 < n ? i + 1 : 0;
        c.prev[i] = i > 0 ? i - 1 : n - 1;
        c.inner[i] = c.blocker_at[i] = NAV_NONE;
    }
    for (uint32_t i = 0; i < n; i++) {
        judge_blocker(&c, i);
    }
    if (!clip_all(&c, lenient)) {
        return NAV__CUT_IMPOSSIBLE;
    }
    unite(&c);
    write_pieces(&c, place, pieces);
    return NAV__CUT_DONE;
}
