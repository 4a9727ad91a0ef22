/// From a ring and lines to cells.
#include "carve_mesh.h"

#include "alloc.h"

#include <stdlib.h>
#include <string.h>

/// Steps of all kinds for one ring: far more than any sound input takes.
static const uint64_t MOST_STEPS = 100000000;

static bool push(nav__carver *c, uint32_t *count, uint32_t value)
{
    if (!nav__grow(&c->alloc, &c->stack, &c->stack_cap, *count, sizeof *c->stack)) {
        c->failed = true;
        return false;
    }
    c->stack[(*count)++] = value;
    return true;
}

static bool insert_lines(nav__carver *c, const nav__carve_job *job)
{
    nav__p2 low = job->ring[0], high = low;
    for (uint32_t i = 1; i < job->ring_count; i++) {
        low = (nav__p2){fmin(low.x, job->ring[i].x), fmin(low.z, job->ring[i].z)};
        high = (nav__p2){fmax(high.x, job->ring[i].x), fmax(high.z, job->ring[i].z)};
    }
    if (!nav__tri_start(c, low, high)) {
        return false;
    }
    uint32_t first = 0, last = 0;
    for (uint32_t i = 0; i <= job->ring_count; i++) {
        uint32_t corner = i < job->ring_count ? nav__tri_point(c, job->ring[i]) : first;
        nav__carve_mark mark = {.side = i - 1, .ring = 1, .fixed = true};
        if (corner == NAV_NONE || (i > 0 && !nav__tri_line(c, last, corner, mark))) {
            return false;
        }
        first = i == 0 ? corner : first;
        last = corner;
    }
    for (uint32_t i = 0; i < job->line_count; i++) {
        const nav__carve_line *line = &job->lines[i];
        uint32_t a = nav__tri_point(c, line->a), b = a == NAV_NONE ? a : nav__tri_point(c, line->b);
        if (b == NAV_NONE ||
            !nav__tri_line(c, a, b, (nav__carve_mark){.side = NAV_NONE, .depth = line->depth, .fixed = true})) {
            return false;
        }
    }
    return true;
}

/// Parts of the triangulation. ALL is only on the way: cover then counts how often the ring runs round.
enum { OUTSIDE = 1, INSIDE, ALL, FIRST_PART };

/// Marks what can be reached from triangle t without crossing such edges.
/// @param stops  at which edges
static bool flood(nav__carver *c, uint32_t t, uint32_t comp, bool (*stops)(const nav__carve_mark *mark))
{
    uint32_t count = 0;
    c->halves[t].comp = comp;
    push(c, &count, t);
    while (count > 0 && !c->failed) {
        uint32_t from = c->stack[--count];
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t h = from + k, g = c->halves[h].twin;
            if (g == NAV_NONE || stops(&c->halves[h].mark)) {
                continue;
            }
            uint32_t next = g - g % 3;
            if (c->halves[next].comp != comp) {
                c->halves[next].comp = comp;
                int step = comp == ALL ? c->halves[h].mark.ring : c->halves[h].mark.depth;
                c->halves[next].cover = c->halves[from].cover - step;
                push(c, &count, next);
            }
        }
    }
    return !c->failed;
}

static bool is_nothing(const nav__carve_mark *mark)
{
    (void)mark;
    return false;
}

static bool is_side(const nav__carve_mark *mark)
{
    return mark->side != NAV_NONE;
}

static bool is_fixed(const nav__carve_mark *mark)
{
    return mark->fixed;
}

static double area_of(const nav__carver *c, uint32_t t)
{
    nav__p2 o = c->at[c->halves[t].from];
    return nav__cross(nav__sub(c->at[c->halves[t + 1].from], o), nav__sub(c->at[c->halves[t + 2].from], o));
}

static nav__p2 middle_of(const nav__carver *c, uint32_t t)
{
    nav__p2 a = c->at[c->halves[t].from], b = c->at[c->halves[t + 1].from], d = c->at[c->halves[t + 2].from];
    return (nav__p2){(a.x + b.x + d.x) / 3, (a.z + b.z + d.z) / 3};
}

/// Finds the ring's inside and how often each triangle of it is covered: asked at the largest triangle only, and
/// carried on over the lines, so that no rounding can tear an outline.
static bool find_cover(nav__carver *c, const nav__carve_job *job)
{
    uint32_t largest = NAV_NONE;
    for (uint32_t h = 0; h < c->half_count; h++) {
        c->halves[h].comp = 0;
        c->halves[h].cover = 0;
    }
    uint32_t box = c->at_half[0] - c->at_half[0] % 3;
    if (!flood(c, box, ALL, is_nothing)) {
        return false;
    }
    for (uint32_t t = 0; t < c->half_count; t += 3) { // where rounding folded the ring, it runs round backwards
        c->halves[t].comp = c->halves[t].cover > 0 ? 0 : OUTSIDE;
        c->halves[t].cover = 0;
    }
    for (;;) {
        double most = -1;
        for (uint32_t t = 0; t < c->half_count; t += 3) {
            if (c->halves[t].comp == 0 && area_of(c, t) > most) {
                most = area_of(c, t);
                largest = t;
            }
        }
        if (most < 0) {
            return true;
        }
        c->halves[largest].cover = (int)job->depth_at(job->ctx, middle_of(c, largest));
        if (!flood(c, largest, INSIDE, is_side)) {
            return false;
        }
    }
}

static bool is_free(const nav__carver *c, uint32_t h)
{
    const nav__carve_half *t = &c->halves[h - h % 3];
    return t->comp != OUTSIDE && t->cover <= 0;
}

/// Numbers the parts that lines part, each asked for its label where it is widest. The label becomes comp.
static bool find_labels(nav__carver *c, const nav__carve_job *job)
{
    uint32_t part = FIRST_PART;
    for (uint32_t t = 0; job->has_labels && t < c->half_count; t += 3) {
        if (c->halves[t].comp != INSIDE || !is_free(c, t)) {
            continue;
        }
        if (!flood(c, t, part++, is_fixed)) {
            return false;
        }
    }
    uint32_t *best = NULL, cap = 0;
    if (part == FIRST_PART) {
        return true;
    }
    if (!nav__grow(&c->alloc, &best, &cap, part, sizeof *best)) {
        c->failed = true;
        return false;
    }
    memset(best, 0xFF, part * sizeof *best);
    for (uint32_t t = 0; t < c->half_count; t += 3) {
        uint32_t p = c->halves[t].comp;
        if (p >= FIRST_PART && (best[p] == NAV_NONE || area_of(c, t) > area_of(c, best[p]))) {
            best[p] = t;
        }
    }
    for (uint32_t p = FIRST_PART; p < part; p++) {
        best[p] = FIRST_PART + job->label_at(job->ctx, middle_of(c, best[p]));
    }
    for (uint32_t t = 0; t < c->half_count; t += 3) {
        uint32_t p = c->halves[t].comp;
        c->halves[t].comp = p >= FIRST_PART ? best[p] : p;
    }
    c->alloc.resize(c->alloc.ctx, best, 0);
    return true;
}

static bool goes_on(const nav__carver *c, uint32_t p, uint32_t q, uint32_t r)
{
    nav__p2 a = c->at[c->halves[p].from], b = c->at[c->halves[q].from], d = c->at[c->halves[r].from];
    double turn = nav__orient(a, b, d);
    return turn > 0 || (turn == 0 && nav__dot(nav__sub(b, a), nav__sub(d, b)) > 0);
}

static int by_length_falling(const void *a, const void *b)
{
    const nav__carve_cut *p = a, *q = b;
    return p->length != q->length ? (p->length < q->length ? 1 : -1) : (p->half > q->half) - (p->half < q->half);
}

static void try_union(nav__carver *c, uint32_t h)
{
    nav__carve_half *half = c->halves;
    uint32_t t = half[h].twin, hp = half[h].prev, hn = half[h].next, tp = half[t].prev, tn = half[t].next;
    if (!goes_on(c, hp, h, half[tn].next) || !goes_on(c, tp, t, half[hn].next)) {
        return;
    }
    half[hp].next = tn;
    half[tn].prev = hp;
    half[tp].next = hn;
    half[hn].prev = tp;
    half[h].dead = half[t].dead = true;
}

/// Free triangles become convex cells.
static bool unite(nav__carver *c)
{
    uint32_t count = 0;
    for (uint32_t h = 0; h < c->half_count; h++) {
        nav__carve_half *half = &c->halves[h];
        half->next = nav__tri_next(h);
        half->prev = nav__tri_prev(h);
        half->dead = !is_free(c, h);
    }
    for (uint32_t h = 0; h < c->half_count; h++) {
        uint32_t g = c->halves[h].twin;
        if (c->halves[h].dead || g == NAV_NONE || g < h || c->halves[g].dead || c->halves[h].mark.side != NAV_NONE ||
            c->halves[h - h % 3].comp != c->halves[g - g % 3].comp) {
            continue;
        }
        if (!nav__grow(&c->alloc, &c->cuts, &c->cut_cap, count, sizeof *c->cuts)) {
            c->failed = true;
            return false;
        }
        c->cuts[count++] = (nav__carve_cut){nav__dist(c->at[c->halves[h].from], c->at[c->halves[g].from]), h};
    }
    if (count > 0) {
        qsort(c->cuts, count, sizeof *c->cuts, by_length_falling);
    }
    for (uint32_t i = 0; i < count; i++) {
        try_union(c, c->cuts[i].half);
    }
    return true;
}

static bool room_for_corner(nav__carver *c)
{
    c->failed = c->failed || !nav__grow(&c->alloc, &c->corner, &c->corner_cap, c->corner_count, sizeof *c->corner) ||
                !nav__grow(&c->alloc, &c->corner_side, &c->corner_side_cap, c->corner_count, sizeof *c->corner_side) ||
                !nav__grow(&c->alloc, &c->corner_twin, &c->corner_twin_cap, c->corner_count, sizeof *c->corner_twin) ||
                !nav__grow(&c->alloc, &c->cell_first, &c->cell_first_cap, c->cell_count + 1, sizeof *c->cell_first) ||
                !nav__grow(&c->alloc, &c->cell_label, &c->cell_label_cap, c->cell_count, sizeof *c->cell_label);
    return !c->failed;
}

/// Writes the cells; a half-edge's comp becomes its corner's number, for the twins.
static bool write_cells(nav__carver *c)
{
    uint32_t count = 0;
    c->cell_count = c->corner_count = 0;
    for (uint32_t h = 0; h < c->half_count; h++) { // comp of a triangle lives in its first half-edge
        uint32_t label = c->halves[h - h % 3].comp;
        c->halves[h].cover = label >= FIRST_PART ? (int)(label - FIRST_PART) : 0;
    }
    for (uint32_t h = 0; h < c->half_count; h++) {
        c->halves[h].comp = NAV_NONE;
    }
    for (uint32_t start = 0; start < c->half_count; start++) {
        if (c->halves[start].dead || c->halves[start].comp != NAV_NONE) {
            continue;
        }
        uint32_t h = start;
        do {
            if (!room_for_corner(c) || !push(c, &count, h)) {
                return false;
            }
            if (h == start) {
                c->cell_first[c->cell_count] = c->corner_count;
                c->cell_label[c->cell_count] = (uint32_t)c->halves[h].cover;
            }
            c->halves[h].comp = c->corner_count;
            c->corner[c->corner_count] = c->halves[h].from;
            bool own = c->halves[h].mark.side != NAV_NONE && c->halves[h].mark.ring > 0;
            c->corner_side[c->corner_count++] = own ? c->halves[h].mark.side : NAV_NONE;
            h = c->halves[h].next;
        } while (h != start);
        c->cell_first[++c->cell_count] = c->corner_count;
    }
    for (uint32_t k = 0; k < c->corner_count; k++) {
        uint32_t g = c->halves[c->stack[k]].twin;
        bool open = g != NAV_NONE && !c->halves[g].dead && c->halves[g].mark.side == NAV_NONE;
        c->corner_twin[k] = open ? c->halves[g].comp : NAV_NONE;
    }
    return true;
}

static bool is_at(nav__p2 p, nav__p2 q)
{
    return p.x == q.x && p.z == q.z;
}

/// Is each side of the ring one edge still, and its own?
static bool has_all_sides(nav__carver *c, const nav__carve_job *job)
{
    uint32_t sides = 0;
    for (uint32_t h = 0; h < c->half_count; h++) {
        uint32_t side = c->halves[h].mark.side;
        if (side == NAV_NONE) {
            continue;
        }
        nav__p2 a = job->ring[side], b = job->ring[side + 1 < job->ring_count ? side + 1 : 0];
        nav__p2 p = c->at[c->halves[h].from], q = c->at[c->halves[nav__tri_next(h)].from];
        if (!(is_at(p, a) && is_at(q, b)) && !(is_at(p, b) && is_at(q, a))) {
            c->torn = true;
            return false;
        }
        sides++;
    }
    c->torn = sides != 2 * job->ring_count;
    return !c->torn;
}

/// Corners on the ring's sides that it did not have.
static bool find_extras(nav__carver *c, const nav__carve_job *job)
{
    c->extra_count = 0;
    for (uint32_t h = 0; h < c->half_count; h++) {
        uint32_t side = c->halves[h].mark.side;
        if (side == NAV_NONE) {
            continue;
        }
        nav__p2 a = job->ring[side], b = job->ring[(side + 1) % job->ring_count];
        nav__p2 p = c->at[c->halves[h].from];
        if (is_at(p, a) || is_at(p, b)) {
            continue;
        }
        if (!nav__grow(&c->alloc, &c->extras, &c->extra_cap, c->extra_count, sizeof *c->extras)) {
            c->failed = true;
            return false;
        }
        c->extras[c->extra_count++] = (nav__carve_extra){side, p};
    }
    return true;
}

bool nav__carve(nav__carver *c, const nav__carve_job *job)
{
    c->failed = c->torn = false;
    c->budget = MOST_STEPS;
    c->extra_count = c->cell_count = c->corner_count = 0;
    if (!insert_lines(c, job) || !find_extras(c, job)) {
        return false;
    }
    if (c->extra_count > 0) {
        return true;
    }
    return has_all_sides(c, job) && find_cover(c, job) && find_labels(c, job) && unite(c) && write_cells(c);
}

void nav__carver_free(nav__carver *c)
{
    void *const parts[] = {c->at,         c->at_half,    c->halves, c->stack,       c->tasks,       c->pairs, c->cuts,
                           c->cell_first, c->cell_label, c->corner, c->corner_side, c->corner_twin, c->extras};
    for (size_t i = 0; c->alloc.resize && i < sizeof parts / sizeof *parts; i++) {
        if (parts[i]) {
            c->alloc.resize(c->alloc.ctx, parts[i], 0);
        }
    }
}
