/// Cells that a seam bent are cut into convex ones again.
#include "build_seam.h"

/// A ring of half-edges with their positions, and what becomes of it.
typedef struct recut {
    uint32_t *halves; ///< of the ring
    uint32_t cap;
    uint32_t *made; ///< half-edge for each corner of the pieces
    uint32_t made_cap;
} recut;

static bool load_cell(nav__seam *s, recut *r, uint32_t cell, uint32_t *count)
{
    nav__build *b = s->b;
    uint32_t h = b->cells[cell].half, n = 0;
    do {
        if (!nav__build_room(b, &r->halves, &r->cap, n, sizeof *r->halves) || !nav__seam_ring_room(s, n)) {
            return false;
        }
        s->ring[n] = nav__build_spot(b, h);
        r->halves[n++] = h;
        h = b->halves[h].next;
    } while (h != b->cells[cell].half);
    *count = n;
    return true;
}

static double piece_area(const nav__seam *s, uint32_t piece)
{
    uint32_t first = s->pieces.first[piece], end = s->pieces.first[piece + 1];
    nav__p2 o = s->ring[s->pieces.corner[first]];
    double sum = 0;
    for (uint32_t k = first + 1; k + 1 < end; k++) {
        sum += nav__cross(nav__sub(s->ring[s->pieces.corner[k]], o), nav__sub(s->ring[s->pieces.corner[k + 1]], o));
    }
    return sum;
}

/// Half-edges for the pieces' corners: the ring's own, and new ones along the cuts.
static bool make_halves(nav__seam *s, recut *r)
{
    nav__build *b = s->b;
    const nav__pieces *p = &s->pieces;
    for (uint32_t k = 0; k < p->corner_count; k++) {
        if (!nav__build_room(b, &r->made, &r->made_cap, k, sizeof *r->made)) {
            return false;
        }
        uint32_t own = r->halves[p->corner[k]];
        r->made[k] = own;
        if (p->mate[k] != NAV_NONE) {
            if (!nav__build_room(b, &b->halves, &b->half_cap, b->half_count, sizeof *b->halves)) {
                return false;
            }
            r->made[k] = b->half_count;
            b->halves[b->half_count++] = (nav__half){.spot = b->halves[own].spot, .kind = NAV_EDGE_ANY};
        }
    }
    for (uint32_t k = 0; k < p->corner_count; k++) {
        if (p->mate[k] != NAV_NONE) {
            b->halves[r->made[k]].twin = r->made[p->mate[k]];
        }
    }
    return true;
}

/// A further cell over the same faces.
static bool add_cell(nav__build *b, uint32_t like)
{
    if (!nav__build_room(b, &b->cells, &b->cell_cap, b->cell_count, sizeof *b->cells)) {
        return false;
    }
    uint32_t c = b->cell_count;
    b->cells[c] = b->cells[like];
    b->cells[c].first_item = b->cells[c].last_item = NAV_NONE;
    for (uint32_t i = b->cells[like].first_item; i != NAV_NONE; i = b->items[i].next) {
        if (!nav__build_room(b, &b->items, &b->item_cap, b->item_count, sizeof *b->items)) {
            return false;
        }
        b->items[b->item_count] = (nav__item){b->items[i].face, b->cells[c].first_item};
        if (b->cells[c].first_item == NAV_NONE) {
            b->cells[c].last_item = b->item_count;
        }
        b->cells[c].first_item = b->item_count++;
    }
    b->cell_count++;
    return true;
}

static void link_piece(nav__seam *s, const recut *r, uint32_t piece, uint32_t cell)
{
    nav__build *b = s->b;
    uint32_t first = s->pieces.first[piece], n = s->pieces.first[piece + 1] - first;
    for (uint32_t k = 0; k < n; k++) {
        nav__half *h = &b->halves[r->made[first + k]];
        h->next = r->made[first + (k + 1) % n];
        h->prev = r->made[first + (k + n - 1) % n];
        h->cell = cell;
    }
    b->cells[cell].half = r->made[first];
    b->cells[cell].size = n;
}

/// The largest piece stays the cell that its faces name.
static bool cut_cell(nav__seam *s, recut *r, uint32_t cell)
{
    uint32_t largest = 0;
    for (uint32_t p = 1; p < s->pieces.piece_count; p++) {
        largest = piece_area(s, p) > piece_area(s, largest) ? p : largest;
    }
    if (!make_halves(s, r)) {
        return false;
    }
    for (uint32_t p = 0; p < s->pieces.piece_count; p++) {
        if (p != largest && !add_cell(s->b, cell)) {
            return false;
        }
        link_piece(s, r, p, p == largest ? cell : s->b->cell_count - 1);
    }
    return true;
}

nav_status nav__seam_recut(nav__seam *s)
{
    nav__build *b = s->b;
    recut r = {0};
    uint32_t cells = b->cell_count;
    for (uint32_t c = 0; c < cells; c++) {
        uint32_t n;
        if (!s->touched[c]) {
            continue;
        }
        if (!load_cell(s, &r, c, &n)) {
            return nav__build_no_memory(b);
        }
        if (nav__ring_is_convex(s->ring, n)) {
            continue;
        }
        // It was tried before: only memory can be short now, and the budget must not be.
        b->cut_budget = UINT64_MAX;
        if (nav__ring_cut(b, s->ring, n, false, &s->pieces) != NAV__CUT_DONE || !cut_cell(s, &r, c)) {
            return nav__build_no_memory(b);
        }
    }
    nav__build_give(b, r.halves);
    nav__build_give(b, r.made);
    return NAV_OK;
}
