/// Neighbouring cells become larger convex ones, and corners that no longer mean anything go.
///
/// Greedy: shared edges, the longest first, again until nothing can be joined any more. The union of two
/// convex cells is convex exactly when it is at the two ends of what they share, so nothing else is
/// tested. Positions never change: what is straight must be exactly straight to lose a corner.
#include "build.h"

/// Search scans a cell's edges one by one: beyond this many, larger cells cost more than they save.
#define MOST_EDGES 32u
/// Heights and corridors scan a cell's faces.
#define MOST_FACES 256u
#define MOST_PASSES 16

typedef struct merger {
    nav__build *b;
    uint32_t *face_count; ///< [cell_count] faces in each cell's list
    uint32_t *stamp;      ///< [face_count] last cell whose list was looked through
    uint64_t *keys;       ///< [half_count] and as much scratch behind
} merger;

/// What two cells share: consecutive half-edges of one, and of the other the twins.
typedef struct border {
    uint32_t first, last;           ///< in the kept cell
    uint32_t twin_first, twin_last; ///< their twins
    uint32_t length;                ///< half-edges
} border;

static nav__half *half_at(const nav__build *b, uint32_t half)
{
    return &b->halves[half];
}

/// All of the border around one of its half-edges.
static border border_of(const nav__build *b, uint32_t half)
{
    uint32_t twin = half_at(b, half)->twin;
    border r = {half, half, twin, twin, 1};
    for (;;) {
        uint32_t h = half_at(b, r.last)->next, t = half_at(b, r.twin_last)->prev;
        if (half_at(b, h)->twin != t || r.length == MOST_EDGES) {
            break;
        }
        r.last = h;
        r.twin_last = t;
        r.length++;
    }
    for (;;) {
        uint32_t h = half_at(b, r.first)->prev, t = half_at(b, r.twin_first)->next;
        if (half_at(b, h)->twin != t || r.length >= MOST_EDGES) {
            break;
        }
        r.first = h;
        r.twin_first = t;
        r.length++;
    }
    return r;
}

/// Does a path p, q, r turn left or run straight on? Straight back, along both sides of a wall, is neither.
static bool goes_on(const nav__build *b, uint32_t p, uint32_t q, uint32_t r)
{
    nav__p2 a = nav__build_spot(b, p), c = nav__build_spot(b, q), d = nav__build_spot(b, r);
    double turn = nav__orient(a, c, d);
    return turn > 0 || (turn == 0 && nav__dot(nav__sub(c, a), nav__sub(d, c)) > 0);
}

static bool is_straight(const nav__build *b, uint32_t half)
{
    const nav__half *h = half_at(b, half);
    return nav__orient(nav__build_spot(b, h->prev), nav__build_spot(b, half), nav__build_spot(b, h->next)) == 0;
}

static bool may_merge(const merger *m, uint32_t half, border *r)
{
    const nav__build *b = m->b;
    uint32_t twin = half_at(b, half)->twin;
    uint32_t c = half_at(b, half)->cell, d = half_at(b, twin)->cell;
    const nav__work_cell *p = &b->cells[c], *q = &b->cells[d];
    if (c == d || p->area != q->area || p->flags != q->flags || m->face_count[c] + m->face_count[d] > MOST_FACES) {
        return false;
    }
    *r = border_of(b, half);
    if (p->size + q->size - 2 * r->length > MOST_EDGES) {
        return false;
    }
    uint32_t after = half_at(b, r->twin_first)->next, before = half_at(b, r->twin_last)->prev;
    uint32_t last_next = half_at(b, r->last)->next;
    return goes_on(b, half_at(b, r->first)->prev, r->first, half_at(b, after)->next) &&
           goes_on(b, before, last_next, half_at(b, last_next)->next);
}

static void bury(nav__build *b, uint32_t half)
{
    half_at(b, half)->spot = NAV_NONE;
}

/// The half-edge before this one takes over its stretch.
static void extend_over(nav__build *b, uint32_t half)
{
    nav__half *h = half_at(b, half);
    half_at(b, h->prev)->next = h->next;
    half_at(b, h->next)->prev = h->prev;
    b->cells[h->cell].size--;
    if (b->cells[h->cell].half == half) {
        b->cells[h->cell].half = h->prev;
    }
}

/// Takes the half-edge's corner out of the surface if it is straight and between the same two cells, or
/// between one cell and a wall.
static void drop_corner(nav__build *b, uint32_t half)
{
    const nav__half *h = half_at(b, half);
    uint32_t prev = h->prev, twin = h->twin, prev_twin = half_at(b, prev)->twin;
    if (!is_straight(b, half)) {
        return;
    }
    if (twin == NAV_NONE && prev_twin == NAV_NONE) {
        extend_over(b, half);
        bury(b, half);
    } else if (twin != NAV_NONE && prev_twin != NAV_NONE && half_at(b, twin)->next == prev_twin) {
        extend_over(b, half);
        extend_over(b, prev_twin);
        half_at(b, prev)->twin = twin;
        half_at(b, twin)->twin = prev;
        bury(b, half);
        bury(b, prev_twin);
    }
}

/// Puts the faces of cell `gone` into the list of `kept`, each once: cells cut apart share faces.
static void join_lists(merger *m, uint32_t kept, uint32_t gone)
{
    nav__build *b = m->b;
    bool shared = b->item_count > b->face_count;
    for (uint32_t i = b->cells[kept].first_item; shared && i != NAV_NONE; i = b->items[i].next) {
        m->stamp[b->items[i].face] = kept;
    }
    for (uint32_t i = b->cells[gone].first_item, next; i != NAV_NONE; i = next) {
        nav__item *item = &b->items[i];
        next = item->next;
        if (b->faces[item->face].cell == gone) {
            b->faces[item->face].cell = kept;
        }
        if (!shared || m->stamp[item->face] != kept) {
            item->next = NAV_NONE;
            b->items[b->cells[kept].last_item].next = i;
            b->cells[kept].last_item = i;
            m->face_count[kept]++;
        }
    }
    for (uint32_t i = b->cells[kept].first_item; shared && i != NAV_NONE; i = b->items[i].next) {
        m->stamp[b->items[i].face] = NAV_NONE;
    }
}

/// Joins the two cells at the border; the larger one keeps its number, so that fewer half-edges change.
static void merge(merger *m, border r)
{
    nav__build *b = m->b;
    uint32_t kept = half_at(b, r.first)->cell, gone = half_at(b, r.twin_first)->cell;
    if (b->cells[gone].size > b->cells[kept].size) {
        uint32_t swap = kept;
        kept = gone;
        gone = swap;
        r = (border){r.twin_last, r.twin_first, r.last, r.first, r.length};
    }
    uint32_t before = half_at(b, r.first)->prev, after = half_at(b, r.last)->next;
    uint32_t other_before = half_at(b, r.twin_last)->prev, other_after = half_at(b, r.twin_first)->next;
    for (uint32_t h = r.first, next; h != after; h = next) {
        next = half_at(b, h)->next;
        bury(b, half_at(b, h)->twin);
        bury(b, h);
    }
    for (uint32_t h = other_after;; h = half_at(b, h)->next) {
        half_at(b, h)->cell = kept;
        if (h == other_before) {
            break;
        }
    }
    half_at(b, before)->next = other_after;
    half_at(b, other_after)->prev = before;
    half_at(b, other_before)->next = after;
    half_at(b, after)->prev = other_before;
    b->cells[kept].half = before;
    b->cells[kept].size += b->cells[gone].size - 2 * r.length;
    b->cells[kept].link_end |= b->cells[gone].link_end;
    join_lists(m, kept, gone);
    b->cells[gone].half = NAV_NONE;
    drop_corner(b, other_after);
    drop_corner(b, after);
}

/// One pass over all borders, the longest first.
/// @return how many cells went
static uint32_t pass(merger *m)
{
    nav__build *b = m->b;
    uint32_t count = 0, merged = 0;
    border r;
    for (uint32_t h = 0; h < b->half_count; h++) {
        const nav__half *half = half_at(b, h);
        if (half->spot == NAV_NONE || half->twin == NAV_NONE || half->twin < h || !may_merge(m, h, &r)) {
            continue;
        }
        float length = (float)nav__dist(nav__build_spot(b, h), nav__build_spot(b, half->next));
        uint32_t bits;
        memcpy(&bits, &length, sizeof bits); // floats >= 0 sort like their bits
        m->keys[count++] = (uint64_t)(UINT32_MAX - bits) << 32 | h;
    }
    nav__sort_u64(m->keys, m->keys + b->half_count, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t h = (uint32_t)m->keys[i];
        if (half_at(b, h)->spot != NAV_NONE && half_at(b, h)->twin != NAV_NONE && may_merge(m, h, &r)) {
            merge(m, r);
            merged++;
        }
    }
    return merged;
}

static bool prepare(merger *m)
{
    nav__build *b = m->b;
    m->face_count = nav__build_take(b, b->cell_count, sizeof *m->face_count);
    m->stamp = nav__build_take(b, b->face_count, sizeof *m->stamp);
    m->keys = nav__build_take(b, 2 * (size_t)b->half_count, sizeof *m->keys);
    if (!m->face_count || !m->stamp || !m->keys) {
        return false;
    }
    memset(m->stamp, 0xFF, b->face_count * sizeof *m->stamp);
    for (uint32_t c = 0; c < b->cell_count; c++) {
        m->face_count[c] = 0;
        for (uint32_t i = b->cells[c].first_item; i != NAV_NONE; i = b->items[i].next) {
            m->face_count[c]++;
        }
    }
    return true;
}

nav_status nav__build_merge(nav__build *b)
{
    merger m = {.b = b};
    if (b->options.no_merge) {
        return NAV_OK;
    }
    if (!prepare(&m)) {
        return nav__build_no_memory(b);
    }
    for (uint32_t h = 0; h < b->half_count; h++) {
        if (half_at(b, h)->spot != NAV_NONE) {
            drop_corner(b, h);
        }
    }
    for (uint32_t i = 0; i < MOST_PASSES && pass(&m) > 0; i++) {
    }
    nav__build_give(b, m.face_count);
    nav__build_give(b, m.stamp);
    nav__build_give(b, m.keys);
    return NAV_OK;
}
