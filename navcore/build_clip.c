/// Ears off a ring until triangles are left (Meisters, "Polygons Have Ears", 1975). All decisions are
/// exact orientation tests.
#include "build_clip.h"

/// Rings up to this size need no grid.
#define SHORT_RING 64u

/// Ears taken in spite of corners in them before a ring that crosses itself is given up.
#define MOST_FORCED 32u

static double turn_at(const nav__clipper *c, uint32_t v)
{
    return nav__orient(c->at[c->prev[v]], c->at[v], c->at[c->next[v]]);
}

static uint32_t column(double v, double least, double inverse, uint32_t count)
{
    double k = (v - least) * inverse;
    return k >= (double)count ? count - 1 : k > 0 ? (uint32_t)k : 0;
}

static uint32_t *grid_cell(const nav__clipper *c, nav__p2 p)
{
    uint32_t i = column(p.x, c->least.x, c->inverse, c->nx), j = column(p.z, c->least.z, c->inverse, c->nz);
    return &c->heads[(size_t)j * c->nx + i];
}

static void add_blocker(nav__clipper *c, uint32_t v)
{
    if (c->blocker_at[v] != NAV_NONE) {
        return;
    }
    c->blocker_at[v] = c->blocker_count;
    c->blockers[c->blocker_count++] = v;
    if (c->nx > 0) {
        uint32_t *head = grid_cell(c, c->at[v]);
        c->cell_next[v] = *head;
        c->cell_prev[v] = NAV_NONE;
        if (*head != NAV_NONE) {
            c->cell_prev[*head] = v;
        }
        *head = v;
    }
}

static void drop_blocker(nav__clipper *c, uint32_t v)
{
    uint32_t place = c->blocker_at[v];
    if (place == NAV_NONE) {
        return;
    }
    uint32_t moved = c->blockers[--c->blocker_count];
    c->blockers[place] = moved;
    c->blocker_at[moved] = place;
    c->blocker_at[v] = NAV_NONE;
    if (c->nx > 0) {
        if (c->cell_prev[v] == NAV_NONE) {
            *grid_cell(c, c->at[v]) = c->cell_next[v];
        } else {
            c->cell_next[c->cell_prev[v]] = c->cell_next[v];
        }
        if (c->cell_next[v] != NAV_NONE) {
            c->cell_prev[c->cell_next[v]] = c->cell_prev[v];
        }
    }
}

static bool same_place(nav__p2 a, nav__p2 b)
{
    return a.x == b.x && a.z == b.z;
}

/// A triangle and its bounds.
typedef struct ear {
    nav__p2 at[3], low, high;
} ear;

/// Does s lie in the closed triangle? Corners in the place of one of the triangle's own are allowed:
/// rings with holes run through their bridges twice.
static bool lies_in(const ear *e, nav__p2 s)
{
    if (s.x < e->low.x || s.x > e->high.x || s.z < e->low.z || s.z > e->high.z) {
        return false;
    }
    return nav__orient(e->at[0], e->at[1], s) >= 0 && nav__orient(e->at[1], e->at[2], s) >= 0 &&
           nav__orient(e->at[2], e->at[0], s) >= 0 && !same_place(s, e->at[0]) && !same_place(s, e->at[1]) &&
           !same_place(s, e->at[2]);
}

static void spend(const nav__clipper *c, uint64_t tests)
{
    *c->budget -= tests < *c->budget ? tests : *c->budget;
}

static ear ear_at(const nav__clipper *c, uint32_t v)
{
    nav__p2 p = c->at[c->prev[v]], q = c->at[v], r = c->at[c->next[v]];
    return (ear){{p, q, r},
                 {fmin(fmin(p.x, q.x), r.x), fmin(fmin(p.z, q.z), r.z)},
                 {fmax(fmax(p.x, q.x), r.x), fmax(fmax(p.z, q.z), r.z)}};
}

/// Is the triangle at v free of blockers?
static bool is_clear(const nav__clipper *c, uint32_t v)
{
    ear e = ear_at(c, v);
    uint32_t i0 = 0, i1 = 0, j0 = 0, j1 = 0;
    if (c->nx > 0) {
        i0 = column(e.low.x, c->least.x, c->inverse, c->nx);
        i1 = column(e.high.x, c->least.x, c->inverse, c->nx);
        j0 = column(e.low.z, c->least.z, c->inverse, c->nz);
        j1 = column(e.high.z, c->least.z, c->inverse, c->nz);
    }
    if (c->nx == 0 || (uint64_t)(i1 - i0 + 1) * (j1 - j0 + 1) > c->blocker_count) {
        spend(c, c->blocker_count);
        for (uint32_t i = 0; i < c->blocker_count; i++) {
            if (lies_in(&e, c->at[c->blockers[i]])) {
                return false;
            }
        }
        return true;
    }
    for (uint32_t j = j0; j <= j1; j++) {
        for (uint32_t i = i0; i <= i1; i++) {
            spend(c, 1);
            for (uint32_t s = c->heads[(size_t)j * c->nx + i]; s != NAV_NONE; s = c->cell_next[s]) {
                spend(c, 1);
                if (lies_in(&e, c->at[s])) {
                    return false;
                }
            }
        }
    }
    return true;
}

static void set_heap(nav__clipper *c, uint32_t place, uint32_t v)
{
    c->heap[place] = v;
    c->heap_at[v] = place;
}

/// Moves v from `place` to where it belongs.
static void settle(nav__clipper *c, uint32_t place, uint32_t v)
{
    double key = c->cut[v];
    while (place > 0 && c->cut[c->heap[(place - 1) / 2]] > key) {
        set_heap(c, place, c->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (uint32_t child; (child = 2 * place + 1) < c->heap_count; place = child) {
        if (child + 1 < c->heap_count && c->cut[c->heap[child + 1]] < c->cut[c->heap[child]]) {
            child++;
        }
        if (c->cut[c->heap[child]] >= key) {
            break;
        }
        set_heap(c, place, c->heap[child]);
    }
    set_heap(c, place, v);
}

static void remove_ear(nav__clipper *c, uint32_t v)
{
    uint32_t place = c->heap_at[v];
    if (place != NAV_NONE) {
        uint32_t moved = c->heap[--c->heap_count];
        c->heap_at[v] = NAV_NONE;
        if (moved != v) {
            settle(c, place, moved);
        }
    }
}

/// Files v as an ear to be tried and as a blocker, or as neither, as it turns now.
static void judge(nav__clipper *c, uint32_t v)
{
    if (turn_at(c, v) > 0) {
        nav__p2 d = nav__sub(c->at[c->prev[v]], c->at[c->next[v]]);
        c->cut[v] = nav__dot(d, d);
        settle(c, c->heap_at[v] == NAV_NONE ? c->heap_count++ : c->heap_at[v], v);
        drop_blocker(c, v);
    } else {
        remove_ear(c, v);
        add_blocker(c, v);
    }
}

static void pair(nav__clipper *c, uint32_t half, uint32_t twin)
{
    c->halves[half].twin = twin;
    if (twin != NAV_NONE) {
        c->halves[twin].twin = half;
    }
}

/// Adds the triangle prev(v), v, next(v) and takes v out of the ring.
static void clip(nav__clipper *c, uint32_t v)
{
    uint32_t p = c->prev[v], r = c->next[v], h = c->half_count;
    const uint32_t from[3] = {p, v, r};
    for (uint32_t i = 0; i < 3; i++) {
        c->halves[h + i] = (nav__tri_half){from[i], NAV_NONE, h + (i + 1) % 3, h + (i + 2) % 3};
    }
    pair(c, h, c->inner[p]);
    pair(c, h + 1, c->inner[v]);
    c->half_count += 3;
    c->inner[p] = h + 2;
    c->next[p] = r;
    c->prev[r] = p;
    c->tip = r;
    c->left--;
    remove_ear(c, v);
    drop_blocker(c, v);
    judge(c, p);
    judge(c, r);
}

/// Takes clear ears until every corner in doubt has been tried.
/// @return how many
static uint32_t clip_ears(nav__clipper *c)
{
    uint32_t clipped = 0;
    while (c->left > 3 && c->heap_count > 0 && *c->budget > 0) {
        uint32_t v = c->heap[0];
        spend(c, 1);
        if (is_clear(c, v)) {
            clip(c, v);
            clipped++;
        } else {
            remove_ear(c, v); // until a neighbour goes
        }
    }
    return clipped;
}

static void judge_all(nav__clipper *c)
{
    uint32_t v = c->tip;
    spend(c, 2 * (uint64_t)c->left);
    for (uint32_t i = 0; i < c->left; i++, v = c->next[v]) {
        judge(c, v);
    }
}

/// Cuts the whole ring but for the last triangle.
static bool clip_all(nav__clipper *c, bool lenient)
{
    uint32_t forced = lenient ? MOST_FORCED : 0;
    while (c->left > 3) {
        // An ear that was blocked may be clear by now: all are tried again before giving up.
        judge_all(c);
        if (clip_ears(c) > 0) {
            continue;
        }
        judge_all(c);
        if (forced == 0 || c->heap_count == 0) {
            return false;
        }
        forced--;
        clip(c, c->heap[0]);
    }
    return *c->budget > 0;
}

/// The grid's cells are about as large as the ring's edges are long, and no more than twice as many as
/// it has corners.
static void plan_grid(nav__clipper *c)
{
    nav__p2 low = c->at[0], high = c->at[0];
    double around = 0;
    c->nx = c->nz = 0;
    if (c->size <= SHORT_RING) {
        return;
    }
    for (uint32_t i = 0; i < c->size; i++) {
        nav__p2 p = c->at[i];
        low = (nav__p2){fmin(low.x, p.x), fmin(low.z, p.z)};
        high = (nav__p2){fmax(high.x, p.x), fmax(high.z, p.z)};
        around += nav__dist(p, c->at[i + 1 < c->size ? i + 1 : 0]);
    }
    double w = high.x - low.x, d = high.z - low.z;
    double cell = fmax(around / c->size, fmax(sqrt(w * d / c->size), 2 * fmax(w, d) / c->size));
    c->least = low;
    c->inverse = 1 / cell;
    c->nx = (uint32_t)fmin(w / cell + 1, c->size);
    c->nz = (uint32_t)fmin(d / cell + 1, c->size);
    while ((uint64_t)c->nx * c->nz > 2 * (uint64_t)c->size) { // the ones added: border cells grow
        c->nx > c->nz ? c->nx-- : c->nz--;
    }
    memset(c->heads, 0xFF, (size_t)c->nx * c->nz * sizeof *c->heads);
}

bool nav__clip_ring(nav__clipper *c, bool lenient)
{
    uint32_t n = c->size;
    c->left = n;
    c->tip = c->heap_count = c->blocker_count = c->half_count = 0;
    plan_grid(c);
    for (uint32_t i = 0; i < n; i++) {
        c->next[i] = i + 1 < n ? i + 1 : 0;
        c->prev[i] = i > 0 ? i - 1 : n - 1;
        c->inner[i] = c->blocker_at[i] = c->heap_at[i] = NAV_NONE;
    }
    judge_all(c);
    if (!clip_all(c, lenient) || !(turn_at(c, c->tip) > 0)) {
        return false;
    }
    uint32_t last = c->next[c->tip];
    clip(c, c->tip);
    pair(c, c->half_count - 1, c->inner[last]);
    return true;
}
