/// A triangulation that grows by points and lines.
#include "carve_mesh.h"

#include "alloc.h"

static const nav__carve_mark no_mark = {.side = NAV_NONE};

bool nav__grow(const nav_alloc *alloc, void *array, uint32_t *cap, uint32_t count, size_t size)
{
    if (count < *cap) {
        return true;
    }
    void **p = array;
    uint32_t grown = count < 32 ? 64 : count < UINT32_MAX / 4 ? 2 * count : 0;
    void *moved = grown ? alloc->resize(alloc->ctx, *p, grown * size) : NULL;
    if (!moved) {
        return false;
    }
    *p = moved;
    *cap = grown;
    return true;
}

static nav__p2 from_of(const nav__carver *c, uint32_t h)
{
    return c->at[c->halves[h].from];
}

static uint32_t to_of(const nav__carver *c, uint32_t h)
{
    return c->halves[nav__tri_next(h)].from;
}

static nav__carve_mark turned(nav__carve_mark m)
{
    return (nav__carve_mark){m.side, -m.depth, -m.ring, m.fixed};
}

static void pair(nav__carver *c, uint32_t h, uint32_t g, nav__carve_mark mark)
{
    c->halves[h].twin = g;
    c->halves[h].mark = mark;
    if (g != NAV_NONE) {
        c->halves[g].twin = h;
        c->halves[g].mark = turned(mark);
    }
}

/// A new triangle with its corners. @return its first half-edge, NAV_NONE: no memory
static uint32_t add_triangle(nav__carver *c, uint32_t i, uint32_t j, uint32_t k)
{
    if (!nav__grow(&c->alloc, &c->halves, &c->half_cap, c->half_count + 3, sizeof *c->halves)) {
        c->failed = true;
        return NAV_NONE;
    }
    uint32_t h = c->half_count, corners[3] = {i, j, k};
    c->half_count += 3;
    for (uint32_t n = 0; n < 3; n++) {
        c->halves[h + n] = (nav__carve_half){.from = corners[n], .twin = NAV_NONE, .mark = no_mark};
        c->at_half[corners[n]] = h + n;
    }
    return h;
}

static uint32_t add_at(nav__carver *c, nav__p2 p)
{
    if (!nav__grow(&c->alloc, &c->at, &c->at_cap, c->at_count, sizeof *c->at) ||
        !nav__grow(&c->alloc, &c->at_half, &c->at_half_cap, c->at_count, sizeof *c->at_half)) {
        c->failed = true;
        return NAV_NONE;
    }
    c->at[c->at_count] = p;
    return c->at_count++;
}

bool nav__tri_start(nav__carver *c, nav__p2 low, nav__p2 high)
{
    double margin = fmax(high.x - low.x, high.z - low.z);
    nav__p2 box[4] = {{low.x - margin, low.z - margin},
                      {high.x + margin, low.z - margin},
                      {high.x + margin, high.z + margin},
                      {low.x - margin, high.z + margin}};
    c->at_count = c->half_count = 0;
    c->last = 0;
    c->dice = 1;
    for (int i = 0; i < 4; i++) {
        if (add_at(c, box[i]) == NAV_NONE) {
            return false;
        }
    }
    uint32_t g = add_triangle(c, 0, 1, 2), h = add_triangle(c, 0, 2, 3);
    if (c->failed) {
        return false;
    }
    pair(c, g + 2, h, no_mark);
    return true;
}

/// Turns the edge of two triangles: from a-b to d-c, c left of a-b and d right.
static void flip(nav__carver *c, uint32_t h)
{
    nav__carve_half *half = c->halves;
    uint32_t g = half[h].twin, nh = nav__tri_next(h), ph = nav__tri_prev(h), ng = nav__tri_next(g),
             pg = nav__tri_prev(g);
    uint32_t a = half[h].from, b = half[g].from, top = half[ph].from, bottom = half[pg].from;
    nav__carve_half bc = half[nh], ca = half[ph], ad = half[ng], db = half[pg];
    half[h].from = bottom;
    half[nh].from = top;
    half[ph].from = a;
    half[g].from = top;
    half[ng].from = bottom;
    half[pg].from = b;
    pair(c, nh, ca.twin, ca.mark);
    pair(c, ph, ad.twin, ad.mark);
    pair(c, ng, db.twin, db.mark);
    pair(c, pg, bc.twin, bc.mark);
    pair(c, h, g, no_mark);
    c->at_half[a] = ph;
    c->at_half[b] = pg;
    c->at_half[top] = g;
    c->at_half[bottom] = h;
}

/// Does d lie in the circle through a, b, c (anticlockwise)? Only a matter of shape, so not exact: in doubt no.
static bool in_circle(nav__p2 a, nav__p2 b, nav__p2 c, nav__p2 d)
{
    a = nav__sub(a, d);
    b = nav__sub(b, d);
    c = nav__sub(c, d);
    double la = nav__dot(a, a), lb = nav__dot(b, b), lc = nav__dot(c, c);
    double bc = nav__cross(b, c), ca = nav__cross(c, a), ab = nav__cross(a, b);
    double det = la * bc + lb * ca + lc * ab;
    return det > 1e-9 * (la * fabs(bc) + lb * fabs(ca) + lc * fabs(ab));
}

/// Flips edges round a new corner until the triangulation is one of Delaunay's again.
/// @param count  half-edges on the stack, each opposite to the corner in its triangle
static void settle(nav__carver *c, uint32_t count)
{
    while (count > 0) {
        uint32_t h = c->stack[--count], g = c->halves[h].twin;
        if (g == NAV_NONE || c->halves[h].mark.fixed || c->budget == 0) {
            continue;
        }
        c->budget--;
        uint32_t corner = nav__tri_prev(h), far = nav__tri_prev(g);
        if (!in_circle(from_of(c, h), from_of(c, nav__tri_next(h)), from_of(c, corner), from_of(c, far))) {
            continue;
        }
        nav__p2 p = from_of(c, corner), q = from_of(c, far);
        if (nav__orient(q, p, from_of(c, h)) <= 0 || nav__orient(q, p, from_of(c, g)) >= 0) {
            continue; // not convex: rounding spoke
        }
        if (!nav__grow(&c->alloc, &c->stack, &c->stack_cap, count + 2, sizeof *c->stack)) {
            c->failed = true;
            return;
        }
        flip(c, h); // h: far -> corner, then corner -> a, a -> far; g: corner -> far, far -> b, b -> corner
        c->stack[count++] = nav__tri_prev(h);
        c->stack[count++] = nav__tri_next(g);
    }
}

static bool begin_stack(nav__carver *c, const uint32_t *edges, uint32_t count)
{
    if (!nav__grow(&c->alloc, &c->stack, &c->stack_cap, count + 4, sizeof *c->stack)) {
        c->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        c->stack[i] = edges[i];
    }
    return true;
}

static void split_triangle(nav__carver *c, uint32_t h0, uint32_t p)
{
    uint32_t h1 = nav__tri_next(h0), h2 = nav__tri_prev(h0);
    uint32_t i = c->halves[h0].from, j = c->halves[h1].from, k = c->halves[h2].from;
    nav__carve_half jk = c->halves[h1], ki = c->halves[h2];
    uint32_t t1 = add_triangle(c, j, k, p), t2 = add_triangle(c, k, i, p);
    if (c->failed) {
        return;
    }
    c->halves[h2].from = p;
    pair(c, t1, jk.twin, jk.mark);
    pair(c, t2, ki.twin, ki.mark);
    pair(c, h1, t1 + 2, no_mark);
    pair(c, t1 + 1, t2 + 2, no_mark);
    pair(c, t2 + 1, h2, no_mark);
    c->at_half[p] = h2;
    c->at_half[i] = h0;
    c->at_half[j] = h1;
    c->at_half[k] = t2;
    const uint32_t outer[3] = {h0, t1, t2};
    if (begin_stack(c, outer, 3)) {
        settle(c, 3);
    }
}

static void split_edge(nav__carver *c, uint32_t h, uint32_t p)
{
    uint32_t g = c->halves[h].twin, nh = nav__tri_next(h), ph = nav__tri_prev(h);
    uint32_t ng = nav__tri_next(g), pg = nav__tri_prev(g);
    uint32_t a = c->halves[h].from, b = c->halves[g].from, top = c->halves[ph].from, bottom = c->halves[pg].from;
    nav__carve_mark mark = c->halves[h].mark;
    nav__carve_half bc = c->halves[nh], ad = c->halves[ng];
    uint32_t t = add_triangle(c, p, b, top), u = add_triangle(c, p, a, bottom);
    if (c->failed) {
        return;
    }
    c->halves[nh].from = p; // h: a -> p, nh: p -> top, ph: top -> a
    c->halves[ng].from = p; // g: b -> p, ng: p -> bottom, pg: bottom -> b
    pair(c, h, u, mark);
    pair(c, t, g, mark);
    pair(c, t + 1, bc.twin, bc.mark);
    pair(c, u + 1, ad.twin, ad.mark);
    pair(c, nh, t + 2, no_mark);
    pair(c, ng, u + 2, no_mark);
    c->at_half[p] = t;
    c->at_half[a] = h;
    c->at_half[b] = g;
    c->at_half[top] = ph;
    c->at_half[bottom] = pg;
    const uint32_t outer[4] = {ph, t + 1, u + 1, pg};
    if (begin_stack(c, outer, 4)) {
        settle(c, 4);
    }
}

/// The triangle that holds p: by walking, from which edge on by chance, so that the walk cannot go round for ever.
/// @param flat  out: half-edges of it that p lies on the line of, `count` of them
/// @return its first half-edge, NAV_NONE when lost
static uint32_t find_triangle(nav__carver *c, nav__p2 p, uint32_t flat[3], uint32_t *count)
{
    uint32_t t = c->last;
    while (c->budget > 0) {
        uint32_t across = NAV_NONE;
        c->dice = c->dice * 1664525u + 1013904223u;
        uint32_t turn = (c->dice >> 16) % 3;
        *count = 0;
        for (uint32_t k = 0; k < 3 && across == NAV_NONE; k++) {
            uint32_t h = t + (k + turn) % 3;
            double side = nav__orient(from_of(c, h), from_of(c, nav__tri_next(h)), p);
            if (side < 0) {
                across = c->halves[h].twin;
                if (across == NAV_NONE) {
                    c->failed = true;
                    return NAV_NONE;
                }
            } else if (side == 0) {
                flat[(*count)++] = h;
            }
        }
        c->budget--;
        if (across == NAV_NONE) {
            c->last = t;
            return t;
        }
        t = across - across % 3;
    }
    c->failed = true;
    return NAV_NONE;
}

uint32_t nav__tri_point(nav__carver *c, nav__p2 p)
{
    uint32_t flat[3], count, t = find_triangle(c, p, flat, &count);
    if (t == NAV_NONE) {
        return NAV_NONE;
    }
    for (uint32_t k = 0; count > 0 && k < 3; k++) {
        nav__p2 q = from_of(c, t + k);
        if (q.x == p.x && q.z == p.z) {
            return c->halves[t + k].from;
        }
    }
    uint32_t number = add_at(c, p);
    if (number == NAV_NONE) {
        return NAV_NONE;
    }
    if (count == 1) {
        split_edge(c, flat[0], number);
    } else {
        split_triangle(c, t, number);
    }
    return c->failed ? NAV_NONE : number;
}

/// The half-edge from one corner to another, NAV_NONE: there is none.
static uint32_t find_edge(const nav__carver *c, uint32_t from, uint32_t to)
{
    uint32_t start = c->at_half[from], h = start;
    do {
        if (to_of(c, h) == to) {
            return h;
        }
        h = c->halves[nav__tri_prev(h)].twin;
    } while (h != start && h != NAV_NONE);
    if (h == start) {
        return NAV_NONE;
    }
    for (h = c->halves[start].twin; h != NAV_NONE; h = c->halves[h].twin) { // round a corner of the box: the other way
        h = nav__tri_next(h);
        if (to_of(c, h) == to) {
            return h;
        }
    }
    return NAV_NONE;
}

/// Where a line leaves its first corner.
/// @return the half-edge crossed, its start on the right of the line; NAV_NONE: the line runs to corner *through
static uint32_t first_crossed(const nav__carver *c, uint32_t from, uint32_t to, uint32_t *through)
{
    nav__p2 o = c->at[from], p = c->at[to], d = nav__sub(p, o);
    uint32_t start = c->at_half[from], h = start;
    *through = NAV_NONE;
    do {
        uint32_t right = to_of(c, h), back = nav__tri_prev(h);
        if (right == to) {
            *through = to;
            return NAV_NONE;
        }
        double side = nav__orient(o, c->at[right], p);
        if (side == 0 && nav__dot(nav__sub(c->at[right], o), d) > 0) {
            *through = right;
            return NAV_NONE;
        }
        if (side > 0 && nav__orient(o, c->at[c->halves[back].from], p) < 0) {
            return nav__tri_next(h);
        }
        h = c->halves[back].twin;
    } while (h != start && h != NAV_NONE);
    return NAV_NONE;
}

static bool push_task(nav__carver *c, uint32_t *count, uint32_t from, uint32_t to, nav__carve_mark mark)
{
    if (from == to) {
        return true;
    }
    if (!nav__grow(&c->alloc, &c->tasks, &c->task_cap, *count, sizeof *c->tasks)) {
        c->failed = true;
        return false;
    }
    c->tasks[(*count)++] = (nav__carve_task){from, to, mark};
    return true;
}

static void sort_ends(nav__p2 *a, nav__p2 *b)
{
    if (b->x < a->x || (b->x == a->x && b->z < a->z)) {
        nav__p2 swap = *a;
        *a = *b;
        *b = swap;
    }
}

nav__p2 nav__cut_at(nav__p2 a, nav__p2 b, nav__p2 c, nav__p2 d)
{
    sort_ends(&a, &b);
    sort_ends(&c, &d);
    double from = nav__orient(c, d, a), to = nav__orient(c, d, b), all = from - to;
    double t = all != 0 ? fmin(fmax(from / all, 0), 1) : 0.5;
    return (nav__p2){nav__as_float(a.x + t * (b.x - a.x)), nav__as_float(a.z + t * (b.z - a.z))};
}

nav__p2 nav__crossing(nav__p2 a, nav__p2 b, nav__p2 c, nav__p2 d)
{
    sort_ends(&a, &b);
    sort_ends(&c, &d);
    bool swap = c.x < a.x || (c.x == a.x && (c.z < a.z || (c.z == a.z && (d.x < b.x || (d.x == b.x && d.z < b.z)))));
    return swap ? nav__cut_at(c, d, a, b) : nav__cut_at(a, b, c, d);
}

/// Two lines cross: both bend to a common corner.
static bool cross_lines(nav__carver *c, uint32_t *count, const nav__carve_task *task, uint32_t edge)
{
    uint32_t a = c->halves[edge].from, b = to_of(c, edge);
    nav__carve_mark mark = c->halves[edge].mark;
    pair(c, edge, c->halves[edge].twin, no_mark);
    c->last = edge - edge % 3;
    uint32_t p = nav__tri_point(c, nav__crossing(c->at[a], c->at[b], c->at[task->from], c->at[task->to]));
    return p != NAV_NONE && push_task(c, count, a, p, mark) && push_task(c, count, p, b, mark) &&
           push_task(c, count, task->from, p, task->mark) && push_task(c, count, p, task->to, task->mark);
}

/// Flips the edges that cross from - to until it is an edge itself (Sloan, section 5).
static bool flip_away(nav__carver *c, uint32_t from, uint32_t to, uint32_t count)
{
    nav__p2 o = c->at[from], p = c->at[to];
    for (uint32_t first = 0; first < count; first++) {
        if (c->budget == 0) {
            c->failed = true;
            return false;
        }
        c->budget--;
        uint32_t h = find_edge(c, c->pairs[2 * first], c->pairs[2 * first + 1]);
        uint32_t top = c->halves[nav__tri_prev(h)].from, bottom = c->halves[nav__tri_prev(c->halves[h].twin)].from;
        nav__p2 t = c->at[top], b = c->at[bottom];
        uint32_t again[2] = {c->pairs[2 * first], c->pairs[2 * first + 1]};
        bool convex = nav__orient(b, t, from_of(c, h)) > 0 && nav__orient(b, t, c->at[to_of(c, h)]) < 0;
        bool crosses = !convex;
        if (convex) {
            flip(c, h);
            again[0] = bottom;
            again[1] = top;
            crosses = top != from && top != to && bottom != from && bottom != to &&
                      (nav__orient(o, p, t) > 0) != (nav__orient(o, p, b) > 0);
        }
        if (crosses) {
            if (!nav__grow(&c->alloc, &c->pairs, &c->pair_cap, 2 * count + 2, sizeof *c->pairs)) {
                c->failed = true;
                return false;
            }
            c->pairs[2 * count] = again[0];
            c->pairs[2 * count + 1] = again[1];
            count++;
        }
    }
    return true;
}

static void mark_edge(nav__carver *c, uint32_t h, nav__carve_mark mark)
{
    nav__carve_mark *m = &c->halves[h].mark;
    m->fixed = true;
    m->depth += mark.depth;
    m->ring += mark.ring;
    m->side = mark.side != NAV_NONE ? mark.side : m->side;
    pair(c, h, c->halves[h].twin, *m);
}

static bool run_task(nav__carver *c, uint32_t *count, const nav__carve_task *task)
{
    uint32_t through, edge = find_edge(c, task->from, task->to), crossed = 0, end = task->to;
    if (edge != NAV_NONE) {
        mark_edge(c, edge, task->mark);
        return true;
    }
    edge = first_crossed(c, task->from, task->to, &through);
    if (through != NAV_NONE) {
        return push_task(c, count, task->from, through, task->mark) &&
               push_task(c, count, through, task->to, task->mark);
    }
    nav__p2 o = c->at[task->from], p = c->at[task->to];
    while (edge != NAV_NONE) {
        if (c->halves[edge].mark.fixed) {
            return cross_lines(c, count, task, edge);
        }
        if (!nav__grow(&c->alloc, &c->pairs, &c->pair_cap, 2 * crossed + 2, sizeof *c->pairs)) {
            break;
        }
        c->pairs[2 * crossed] = c->halves[edge].from;
        c->pairs[2 * crossed++ + 1] = to_of(c, edge);
        uint32_t g = c->halves[edge].twin, corner = c->halves[nav__tri_prev(g)].from;
        double side = corner == task->to ? 0 : nav__orient(o, p, c->at[corner]);
        if (side == 0) {
            end = corner;
            return flip_away(c, task->from, end, crossed) && push_task(c, count, task->from, end, task->mark) &&
                   push_task(c, count, end, task->to, task->mark);
        }
        edge = side > 0 ? nav__tri_next(g) : nav__tri_prev(g);
    }
    c->failed = true;
    return false;
}

bool nav__tri_line(nav__carver *c, uint32_t from, uint32_t to, nav__carve_mark mark)
{
    uint32_t count = 0;
    push_task(c, &count, from, to, mark);
    while (count > 0 && !c->failed) {
        if (c->budget == 0) {
            c->failed = true;
            break;
        }
        c->budget--;
        nav__carve_task task = c->tasks[--count];
        run_task(c, &count, &task);
    }
    return !c->failed;
}
