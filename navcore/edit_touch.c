/// Which cells a body touches, and the lines it draws across one.
#include "edit.h"
#include "scratch.h"
#include "surface.h"

#include <string.h>

/// A convex ring of the base: a cell's edges or a face's corners.
typedef struct ring {
    const nav_mesh *m;
    uint32_t first, count;
    bool is_face;
} ring;

static ring cell_ring(const nav_mesh *m, uint32_t cell)
{
    return (ring){m, m->cells[cell].first_edge, m->cells[cell + 1].first_edge - m->cells[cell].first_edge, false};
}

static ring face_ring(const nav_mesh *m, uint32_t face)
{
    return (ring){m, m->faces[face].first_corner, m->faces[face + 1].first_corner - m->faces[face].first_corner, true};
}

static nav__p2 ring_at(const ring *r, uint32_t i)
{
    i = r->first + (i < r->count ? i : i - r->count);
    return r->is_face ? nav__face_corner(r->m, i) : nav__edge_from(r->m, i);
}

/// Have the insides of two convex outlines a point in common? Exact: else a side of one parts them.
static bool overlaps(const ring *r, const nav__part *p)
{
    for (uint32_t i = 0; i < r->count; i++) {
        nav__p2 a = ring_at(r, i), b = ring_at(r, i + 1);
        uint32_t k = 0;
        while (k < p->count && nav__orient(a, b, p->at[k]) <= 0) {
            k++;
        }
        if (k == p->count) {
            return false;
        }
    }
    for (uint32_t k = 0; k < p->count; k++) {
        nav__p2 a = p->at[k], b = p->at[k + 1 < p->count ? k + 1 : 0];
        uint32_t i = 0;
        while (i < r->count && nav__orient(a, b, ring_at(r, i)) <= 0) {
            i++;
        }
        if (i == r->count) {
            return false;
        }
    }
    return true;
}

bool nav__part_holds(const nav__part *p, nav__p2 at)
{
    for (uint32_t k = 0; k < p->count; k++) {
        if (nav__orient(p->at[k], p->at[k + 1 < p->count ? k + 1 : 0], at) < 0) {
            return false;
        }
    }
    return true;
}

uint32_t nav__edit_clip(nav_editor *e, uint32_t count, nav__p2 a, nav__p2 b, double slack)
{
    double length = nav__dist(a, b), most = -INFINITY, least = INFINITY;
    const nav__p2 *at = e->clip[0];
    for (uint32_t i = 0; i < count; i++) {
        double d = nav__orient(a, b, at[i]) / length;
        most = fmax(most, d);
        least = fmin(least, d);
    }
    if (least >= -slack) {
        return count;
    }
    if (most <= slack) {
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        if (!nav__grow(&e->alloc, &e->clip[i], &e->clip_cap[i], 2 * count, sizeof *e->clip[i])) {
            return NAV_NONE;
        }
    }
    at = e->clip[0];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        nav__p2 p = at[i], q = at[i + 1 < count ? i + 1 : 0];
        double dp = nav__orient(a, b, p) / length, dq = nav__orient(a, b, q) / length;
        bool in = dp >= -slack, next_in = dq >= -slack;
        if (in) {
            e->clip[1][kept++] = p;
        }
        if (in != next_in && (in ? dp : dq) > slack) {
            e->clip[1][kept++] = nav__cut_at(p, q, a, b);
        }
    }
    nav__p2 *swap = e->clip[0];
    e->clip[0] = e->clip[1];
    e->clip[1] = swap;
    uint32_t cap = e->clip_cap[0];
    e->clip_cap[0] = e->clip_cap[1];
    e->clip_cap[1] = cap;
    return kept;
}

/// A face's outline, as far as a part covers it, in e->clip[0]. @return its corners; NAV_NONE: out of memory
static uint32_t clip_face(nav_editor *e, uint32_t face, const nav__part *part)
{
    ring r = face_ring(&e->base, face);
    if (!nav__grow(&e->alloc, &e->clip[0], &e->clip_cap[0], r.count, sizeof *e->clip[0])) {
        return NAV_NONE;
    }
    for (uint32_t i = 0; i < r.count; i++) {
        e->clip[0][i] = ring_at(&r, i);
    }
    uint32_t n = r.count;
    for (uint32_t k = 0; k < part->count && n > 0 && n != NAV_NONE; k++) {
        n = nav__edit_clip(e, n, part->at[k], part->at[k + 1 < part->count ? k + 1 : 0], 0);
    }
    return n;
}

typedef enum band { BAND_NONE, BAND_SOME, BAND_ALL, BAND_FAILED } band;

/// Does ground of the face that the part covers lie in the body's height band? The greatest and least heights are
/// at corners of what is covered, or of the detail in it.
static band face_band(nav_editor *e, uint32_t face, const nav__body *b, const nav__part *part)
{
    const nav_mesh *m = &e->base;
    uint32_t n = clip_face(e, face, part);
    if (n == NAV_NONE) {
        return BAND_FAILED;
    }
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        double y = nav__face_height(m, face, e->clip[0][i]);
        low = fmin(low, y);
        high = fmax(high, y);
    }
    uint32_t first, end = nav__face_tris(m, face, &first);
    for (uint32_t k = 3 * first; k < 3 * end; k++) {
        const float *p = m->points + 3 * (size_t)m->tris[k];
        if (nav__part_holds(part, (nav__p2){(double)p[0], (double)p[2]})) {
            low = fmin(low, (double)p[1]);
            high = fmax(high, (double)p[1]);
        }
    }
    return n > 0 && low <= b->high_y && high >= b->low_y ? BAND_ALL : BAND_NONE;
}

/// What of the cell's ground under the part lies in the band.
static band cell_band(nav_editor *e, uint32_t cell, const nav__body *b, const nav__part *part)
{
    const nav_mesh *m = &e->base;
    const nav__cell *c = &m->cells[cell];
    uint16_t low = nav__height_index(m, b->low_y), high = nav__height_index(m, b->high_y);
    if (c->level) {
        double y = (double)nav__cell_level(m, cell);
        return y >= b->low_y && y <= b->high_y ? BAND_ALL : BAND_NONE;
    }
    if (c->low_y > high || c->high_y < low) {
        return BAND_NONE;
    }
    if (c->low_y > low && c->high_y < high) {
        return BAND_ALL;
    }
    bool some = false, all = true;
    for (uint32_t k = c->first_face; k < c[1].first_face; k++) {
        ring r = face_ring(m, m->cell_faces[k]);
        if (!overlaps(&r, part)) {
            continue;
        }
        band in = face_band(e, m->cell_faces[k], b, part);
        if (in == BAND_FAILED) {
            return in;
        }
        some = some || in == BAND_ALL;
        all = all && in == BAND_ALL;
    }
    return !some ? BAND_NONE : all ? BAND_ALL : BAND_SOME;
}

// ---- which cells -----------------------------------------------------------------------------------

/// @return false when out of memory
static bool consider_cell(nav_editor *e, nav__body *b, const nav__part *part, uint32_t cell)
{
    ring r = cell_ring(&e->base, cell);
    if (e->plan_of[cell] != NAV_NONE || !overlaps(&r, part)) {
        return true;
    }
    band in = cell_band(e, cell, b, part);
    if (in == BAND_NONE) {
        return true;
    }
    e->plan_of[cell] = 0;
    return in != BAND_FAILED && nav__numbers_add(e, &b->cells, cell);
}

static bool consider_list(nav_editor *e, nav__body *b, const nav__part *part, nav__grid_cell list)
{
    const nav_mesh *m = &e->base;
    nav__window window = nav__window_of(m, part->low, part->high);
    for (uint32_t k = list.first; k < list.end; k++) {
        uint32_t cells[NAV__FACE_CELLS], face = m->grid_faces[k];
        uint32_t count = nav__meets_window(m, face, &window) ? nav__face_cells(m, face, cells) : 0;
        for (uint32_t i = 0; i < count; i++) {
            if (!consider_cell(e, b, part, cells[i])) {
                return false;
            }
        }
    }
    return true;
}

bool nav__edit_find_cells(nav_editor *e, nav__body *b)
{
    const nav_mesh *m = &e->base;
    bool good = true;
    for (uint32_t i = 0; i < b->cells.count; i++) {
        e->plan_of[b->cells.data[i]] = 0;
    }
    for (uint32_t p = 0; p < b->part_count && good; p++) {
        const nav__part *part = &b->parts[p];
        nav__grid_span span;
        if (!nav__grid_cover(m, part->low, part->high, &span)) {
            continue;
        }
        for (uint32_t j = span.j0; j <= span.j1 && good; j++) {
            for (uint32_t i = span.i0; i <= span.i1 && good; i++) {
                good = consider_list(e, b, part, m->grid_cells[(size_t)j * m->grid_nx + i]);
            }
        }
    }
    for (uint32_t i = 0; i < b->cells.count; i++) { // marks on the way: a cell is listed once
        e->plan_of[b->cells.data[i]] = NAV_NONE;
    }
    return good;
}

// ---- lines -----------------------------------------------------------------------------------------

bool nav__edit_rim_corner(nav_editor *e, uint32_t plan_rim, nav__p2 at, bool *grown)
{
    nav__plan_rim *r = &e->plan.rims[plan_rim];
    nav__p2 a = nav__edge_from(&e->base, r->edge), b = nav__edge_from(&e->base, nav__edge_next(&e->base, r->edge));
    if ((at.x == a.x && at.z == a.z) || (at.x == b.x && at.z == b.z)) {
        return true;
    }
    double along = nav__dot(nav__sub(at, a), nav__sub(b, a));
    uint32_t place = r->count;
    for (; place > 0; place--) {
        nav__p2 q = r->at[place - 1];
        if (q.x == at.x && q.z == at.z) {
            return true;
        }
        if (nav__dot(nav__sub(q, a), nav__sub(b, a)) <= along) {
            break;
        }
    }
    if (!nav__grow(&e->alloc, &r->at, &r->cap, r->count, sizeof *r->at)) {
        return false;
    }
    memmove(&r->at[place + 1], &r->at[place], (r->count - place) * sizeof *r->at);
    r->at[place] = at;
    r->count++;
    *grown = true;
    return true;
}

/// Where a line lies in a ring: from and to, each at an end of the line or where it crosses a side.
typedef struct stretch {
    double from, to;
    uint32_t from_side, to_side; ///< NAV_NONE: an end inside
} stretch;

/// A line enters and leaves through sides whose ends it parts: judged exactly, so that both sides of a rim agree.
/// @return false: no part of the line lies inside
static bool cut_line(const ring *r, nav__p2 s, nav__p2 t, stretch *out)
{
    double side_from = -INFINITY, side_to = INFINITY;
    *out = (stretch){0, 1, NAV_NONE, NAV_NONE};
    bool enters = false, leaves = false;
    for (uint32_t j = 0; j < r->count; j++) {
        nav__p2 a = ring_at(r, j), b = ring_at(r, j + 1);
        double ds = nav__orient(a, b, s), dt = nav__orient(a, b, t);
        if (ds <= 0 && dt <= 0) {
            return false;
        }
        if (ds > 0 && dt > 0) {
            continue;
        }
        double at = ds / (ds - dt), la = nav__orient(s, t, a), lb = nav__orient(s, t, b);
        bool through = (la >= 0 && lb <= 0) || (la <= 0 && lb >= 0);
        if (ds <= 0) {
            enters = true;
            out->from = fmax(out->from, at);
            if (through && at > side_from) {
                side_from = at;
                out->from_side = j;
            }
        } else {
            leaves = true;
            out->to = fmin(out->to, at);
            if (through && at < side_to) {
                side_to = at;
                out->to_side = j;
            }
        }
    }
    return out->from < out->to && enters == (out->from_side != NAV_NONE) && leaves == (out->to_side != NAV_NONE);
}

/// The corner where a line enters or leaves, noted on the rim.
static bool rim_end(nav_editor *e, uint32_t cell, const ring *r, uint32_t side, nav__p2 s, nav__p2 t, nav__p2 *end)
{
    if (side == NAV_NONE) {
        return true;
    }
    nav__p2 a = ring_at(r, side), b = ring_at(r, side + 1);
    if (nav__orient(a, b, *end) != 0) {
        *end = nav__crossing(a, b, s, t);
    }
    bool grown = false;
    uint32_t edge = e->base.cells[cell].first_edge + side, twin = e->base.edges[edge].twin;
    return nav__edit_rim_corner(e, e->plan_rim_of[edge < twin ? edge : twin], *end, &grown);
}

/// The lines of a draught's outline.
static bool draw_outline(nav_editor *e, nav__plan_cell *c, const nav__part *part, int depth)
{
    ring r = cell_ring(&e->base, c->cell);
    for (uint32_t k = 0; k < part->count; k++) {
        nav__p2 s = part->at[k], t = part->at[k + 1 < part->count ? k + 1 : 0], from = s, to = t;
        stretch in;
        if (!cut_line(&r, s, t, &in)) {
            continue;
        }
        if (!rim_end(e, c->cell, &r, in.from_side, s, t, &from) || !rim_end(e, c->cell, &r, in.to_side, s, t, &to) ||
            !nav__grow(&e->alloc, &c->lines, &c->line_cap, c->line_count, sizeof *c->lines)) {
            return false;
        }
        if (from.x != to.x || from.z != to.z) {
            c->lines[c->line_count++] = (nav__carve_line){from, to, depth};
        }
    }
    return true;
}

static bool add_draught(nav_editor *e, nav__plan_cell *c, uint32_t body, nav__part part, bool own)
{
    if (!nav__grow(&e->alloc, &c->draughts, &c->draught_cap, c->draught_count, sizeof *c->draughts)) {
        return false;
    }
    c->draughts[c->draught_count++] = (nav__draught){part, body, own};
    return draw_outline(e, c, &part, e->bodies[body]->blocks ? 1 : 0);
}

/// What of a part lies on faces in the band, one by one.
static bool draw_faces(nav_editor *e, nav__plan_cell *c, uint32_t body, const nav__part *part)
{
    const nav_mesh *m = &e->base;
    for (uint32_t k = m->cells[c->cell].first_face; k < m->cells[c->cell + 1].first_face; k++) {
        uint32_t face = m->cell_faces[k];
        ring r = face_ring(m, face);
        if (!overlaps(&r, part)) {
            continue;
        }
        band in = face_band(e, face, e->bodies[body], part);
        nav__part piece;
        if (in == BAND_FAILED) {
            return false;
        }
        if (in == BAND_NONE) {
            continue;
        }
        uint32_t n = clip_face(e, face, part);
        if (n < 3) {
            continue;
        }
        if (n == NAV_NONE || !nav__part_hull(e, e->clip[0], n, &piece)) {
            return false;
        }
        if (piece.count < 3) {
            e->alloc.resize(e->alloc.ctx, piece.at, 0);
        } else if (!add_draught(e, c, body, piece, true)) {
            return false;
        }
    }
    return true;
}

bool nav__edit_draw(nav_editor *e, uint32_t plan_cell)
{
    nav__plan_cell *c = &e->plan.cells[plan_cell];
    ring r = cell_ring(&e->base, c->cell);
    for (uint32_t i = 0; i < c->bodies.count; i++) {
        const nav__body *b = e->bodies[c->bodies.data[i]];
        for (uint32_t p = 0; p < b->part_count; p++) {
            if (!overlaps(&r, &b->parts[p])) {
                continue;
            }
            band in = cell_band(e, c->cell, b, &b->parts[p]);
            if (in == BAND_FAILED || (in == BAND_ALL && !add_draught(e, c, c->bodies.data[i], b->parts[p], false)) ||
                (in == BAND_SOME && !draw_faces(e, c, c->bodies.data[i], &b->parts[p]))) {
                return false;
            }
        }
    }
    return true;
}
