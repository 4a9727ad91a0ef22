/// Which cells a revision makes anew, and into what.
#include "edit.h"
#include "scratch.h"
#include "surface.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 12 };

static uint32_t plan_rim(nav_editor *e, uint32_t edge)
{
    uint32_t twin = e->base.edges[edge].twin;
    edge = edge < twin ? edge : twin;
    if (e->plan_rim_of[edge] == NAV_NONE) {
        if (!nav__grow(&e->alloc, &e->plan.rims, &e->plan.rim_cap, e->plan.rim_count, sizeof *e->plan.rims)) {
            return NAV_NONE;
        }
        e->plan.rims[e->plan.rim_count] = (nav__plan_rim){.edge = edge};
        e->plan_rim_of[edge] = e->plan.rim_count++;
    }
    return e->plan_rim_of[edge];
}

/// Cells that share a face go together.
static bool register_cell(nav_editor *e, uint32_t cell);

static bool register_sharers(nav_editor *e, uint32_t cell)
{
    const nav_mesh *m = &e->base;
    for (uint32_t k = m->cells[cell].first_face; k < m->cells[cell + 1].first_face; k++) {
        uint32_t cells[NAV__FACE_CELLS], count = nav__face_cells(m, m->cell_faces[k], cells);
        for (uint32_t i = 0; i < count; i++) {
            if (!register_cell(e, cells[i])) {
                return false;
            }
        }
    }
    return true;
}

static bool register_cell(nav_editor *e, uint32_t cell)
{
    const nav_mesh *m = &e->base;
    nav__plan *p = &e->plan;
    if (e->plan_of[cell] != NAV_NONE) {
        return true;
    }
    if (!nav__grow(&e->alloc, &p->cells, &p->cell_cap, p->cell_count, sizeof *p->cells)) {
        return false;
    }
    e->plan_of[cell] = p->cell_count;
    nav__plan_cell *c = &p->cells[p->cell_count++];
    *c = (nav__plan_cell){.cell = cell};
    const nav__patch *patch = e->patch_of[cell] == NAV_NONE ? NULL : &e->patches[e->patch_of[cell]];
    for (uint32_t i = 0; patch && i < patch->bodies.count; i++) {
        const nav__body *b = e->bodies[patch->bodies.data[i]];
        if (!b->leaving && !b->arriving && !nav__numbers_add(e, &c->bodies, patch->bodies.data[i])) {
            return false;
        }
    }
    for (uint32_t k = m->cells[cell].first_edge; k < m->cells[cell + 1].first_edge; k++) {
        if (plan_rim(e, k) == NAV_NONE) {
            return false;
        }
    }
    return !m->cells[cell].shares_face || register_sharers(e, cell);
}

/// A cell beyond a rim that would get other corners there than it has must be made anew as well.
/// @return false when out of memory
static bool grow_over_rims(nav_editor *e, bool *grown)
{
    const nav_mesh *m = &e->base;
    for (uint32_t i = 0; i < e->plan.rim_count; i++) {
        const nav__plan_rim *r = &e->plan.rims[i];
        uint32_t twin = m->edges[r->edge].twin;
        uint32_t cells[2] = {nav__edge_cell(m, r->edge), twin == NAV_NONE ? NAV_NONE : nav__edge_cell(m, twin)};
        const nav__rim *had = e->rim_of[r->edge] == NAV_NONE ? NULL : &e->rims[e->rim_of[r->edge]];
        uint32_t count = had ? had->count : 0;
        if (count == r->count && (count == 0 || memcmp(had->at, r->at, count * sizeof *r->at) == 0)) {
            continue;
        }
        for (int k = 0; k < 2; k++) {
            if (cells[k] != NAV_NONE && e->plan_of[cells[k]] == NAV_NONE) {
                *grown = true;
                if (!register_cell(e, cells[k])) {
                    return false;
                }
                r = &e->plan.rims[i]; // the list may have moved
            }
        }
    }
    return true;
}

static bool has_corners(const nav_editor *e, uint32_t cell)
{
    const nav_mesh *m = &e->base;
    for (uint32_t k = m->cells[cell].first_edge; k < m->cells[cell + 1].first_edge; k++) {
        uint32_t twin = m->edges[k].twin;
        if (e->plan.rims[e->plan_rim_of[k < twin ? k : twin]].count > 0) {
            return true;
        }
    }
    return false;
}

/// A cell without bodies and without corners on its rims is the base's again, if those that share its faces are.
static void choose_carved(nav_editor *e)
{
    nav__plan *p = &e->plan;
    const nav_mesh *m = &e->base;
    for (uint32_t i = 0; i < p->cell_count; i++) {
        p->cells[i].carved = p->cells[i].carved || p->cells[i].bodies.count > 0 || has_corners(e, p->cells[i].cell);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < p->cell_count; i++) {
            uint32_t cell = p->cells[i].cell;
            for (uint32_t k = m->cells[cell].first_face;
                 p->cells[i].carved && m->cells[cell].shares_face && k < m->cells[cell + 1].first_face; k++) {
                uint32_t cells[NAV__FACE_CELLS], count = nav__face_cells(m, m->cell_faces[k], cells);
                for (uint32_t n = 0; n < count; n++) {
                    bool *carved = &p->cells[e->plan_of[cells[n]]].carved;
                    changed = changed || !*carved;
                    *carved = true;
                }
            }
        }
    }
}

// ---- carving ---------------------------------------------------------------------------------------

static uint32_t depth_at(void *ctx, nav__p2 p)
{
    const nav_editor *e = ctx;
    const nav__plan_cell *c = e->plan.asking;
    uint32_t depth = 0;
    for (uint32_t i = 0; i < c->draught_count; i++) {
        depth += e->bodies[c->draughts[i].body]->blocks && nav__part_holds(&c->draughts[i].part, p);
    }
    return depth;
}

static uint32_t label_at(void *ctx, nav__p2 p)
{
    nav_editor *e = ctx;
    const nav__plan_cell *c = e->plan.asking;
    const nav__cell *base = &e->base.cells[c->cell];
    nav__label label = {base->flags, base->area};
    uint64_t area_order = 0, flags_order = 0;
    for (uint32_t i = 0; i < c->draught_count; i++) {
        const nav__body *b = e->bodies[c->draughts[i].body];
        if (b->blocks || !nav__part_holds(&c->draughts[i].part, p)) {
            continue;
        }
        if (b->paint.sets_area && b->order >= area_order) {
            label.area = b->paint.area;
            area_order = b->order;
        }
        if (b->paint.sets_flags && b->order >= flags_order) {
            label.flags = b->paint.flags;
            flags_order = b->order;
        }
    }
    nav__plan *plan = &e->plan;
    for (uint32_t i = 0; i < plan->label_count; i++) {
        if (plan->labels[i].flags == label.flags && plan->labels[i].area == label.area) {
            return i;
        }
    }
    if (!nav__grow(&e->alloc, &plan->labels, &plan->label_cap, plan->label_count, sizeof *plan->labels)) {
        e->carver.failed = true;
        return 0;
    }
    plan->labels[plan->label_count] = label;
    return plan->label_count++;
}

/// The cell's ring with all corners on its rims, in e->clip[0]. @return its corners, NAV_NONE: out of memory
static uint32_t lay_ring(nav_editor *e, nav__plan_cell *c)
{
    const nav_mesh *m = &e->base;
    uint32_t n = 0, first = m->cells[c->cell].first_edge, end = m->cells[c->cell + 1].first_edge, total = 0;
    for (uint32_t k = first; k < end; k++) {
        uint32_t twin = m->edges[k].twin;
        total += 1 + e->plan.rims[e->plan_rim_of[k < twin ? k : twin]].count;
    }
    uint32_t *sides = e->alloc.resize(e->alloc.ctx, c->side_rim, 2 * (size_t)total * sizeof *sides);
    c->side_rim = sides ? sides : c->side_rim;
    c->side_at = c->side_rim + total;
    if (!sides || !nav__grow(&e->alloc, &e->clip[0], &e->clip_cap[0], total, sizeof *e->clip[0])) {
        return NAV_NONE;
    }
    for (uint32_t k = first; k < end; k++) {
        uint32_t twin = m->edges[k].twin, rim = e->plan_rim_of[k < twin ? k : twin];
        const nav__plan_rim *r = &e->plan.rims[rim];
        bool turned = twin < k;
        for (uint32_t i = 0; i <= r->count; i++) {
            e->clip[0][n] = i == 0 ? nav__edge_from(m, k) : r->at[turned ? r->count - i : i - 1];
            c->side_rim[n] = rim;
            c->side_at[n++] = turned ? r->count - i : i;
        }
    }
    return n;
}

static uint32_t *copy_list(const nav_editor *e, const uint32_t *from, uint32_t count)
{
    uint32_t *to = e->alloc.resize(e->alloc.ctx, NULL, ((size_t)count + 1) * sizeof *to);
    if (to && count > 0) {
        memcpy(to, from, count * sizeof *to);
    }
    return to;
}

static void give(const nav_editor *e, void *p)
{
    if (p) {
        e->alloc.resize(e->alloc.ctx, p, 0);
    }
}

static void drop_result(const nav_editor *e, nav__plan_cell *c)
{
    void *const parts[] = {c->at, c->first, c->label, c->corner, c->side, c->twin};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        give(e, parts[i]);
    }
    c->at = NULL;
    c->first = c->label = c->corner = c->side = c->twin = NULL;
    c->ready = false;
}

static bool keep_result(const nav_editor *e, nav__plan_cell *c)
{
    const nav__carver *r = &e->carver;
    c->at = e->alloc.resize(e->alloc.ctx, NULL, ((size_t)r->at_count + 1) * sizeof *c->at);
    c->first = copy_list(e, r->cell_first, r->cell_count > 0 ? r->cell_count + 1 : 0);
    c->label = copy_list(e, r->cell_label, r->cell_count);
    c->corner = copy_list(e, r->corner, r->corner_count);
    c->side = copy_list(e, r->corner_side, r->corner_count);
    c->twin = copy_list(e, r->corner_twin, r->corner_count);
    if (!c->at || !c->first || !c->label || !c->corner || !c->side || !c->twin) {
        return false;
    }
    memcpy(c->at, r->at, r->at_count * sizeof *c->at);
    c->at_count = r->at_count;
    c->piece_count = r->cell_count;
    c->corner_count = r->corner_count;
    c->ready = true;
    return true;
}

static bool mark_awkward(nav_editor *e, const nav__plan_cell *c, bool fresh)
{
    bool any = false;
    for (uint32_t i = 0; i < c->bodies.count; i++) {
        nav__body *b = e->bodies[c->bodies.data[i]];
        b->awkward = b->awkward || b->fresh || !fresh;
        any = any || b->awkward;
    }
    return any;
}

/// Bodies that may be what makes trouble in a cell: its own, or all under work where only its neighbours have any.
static void note_awkward(nav_editor *e, const nav__plan_cell *c)
{
    bool any = mark_awkward(e, c, true) || mark_awkward(e, c, false);
    for (uint32_t i = 0; !any && i < e->plan.cell_count; i++) {
        mark_awkward(e, &e->plan.cells[i], false);
    }
}

/// @param grown  set when rims got more corners
static nav_status carve_cell(nav_editor *e, nav__plan_cell *c, bool *grown)
{
    uint32_t n = lay_ring(e, c);
    if (n == NAV_NONE) {
        return NAV_NO_MEMORY;
    }
    for (uint32_t i = 0; i < c->draught_count; i++) {
        c->has_labels = c->has_labels || !e->bodies[c->draughts[i].body]->blocks;
    }
    e->plan.asking = c;
    nav__carve_job job = {.ring = e->clip[0],
                          .ring_count = n,
                          .lines = c->lines,
                          .line_count = c->line_count,
                          .has_labels = c->has_labels,
                          .depth_at = depth_at,
                          .label_at = label_at,
                          .ctx = e};
    if (!nav__carve(&e->carver, &job)) {
        note_awkward(e, c);
        return e->carver.torn || e->carver.budget == 0 ? NAV_TOO_LARGE : NAV_NO_MEMORY;
    }
    for (uint32_t i = 0; i < e->carver.extra_count; i++) {
        const nav__carve_extra *x = &e->carver.extras[i];
        uint32_t rim = c->side_rim[x->side];
        bool more = false;
        if (!nav__edit_rim_corner(e, rim, x->at, &more)) {
            return NAV_NO_MEMORY;
        }
        uint32_t edge = e->plan.rims[rim].edge, twin = e->base.edges[edge].twin;
        uint32_t other = twin == NAV_NONE ? NAV_NONE : e->plan_of[nav__edge_cell(&e->base, twin)];
        uint32_t own = e->plan_of[nav__edge_cell(&e->base, edge)];
        *grown = true;
        if (more && own != NAV_NONE) {
            drop_result(e, &e->plan.cells[own]);
        }
        if (more && other != NAV_NONE) {
            drop_result(e, &e->plan.cells[other]);
        }
    }
    return e->carver.extra_count > 0 ? NAV_OK : keep_result(e, c) ? NAV_OK : NAV_NO_MEMORY;
}

/// Draws the cells from `*drawn` on, and those that their corners on rims bring in.
static bool draw_all(nav_editor *e, uint32_t *drawn)
{
    for (bool grown = true; grown;) {
        grown = false;
        for (; *drawn < e->plan.cell_count; ++*drawn) {
            if (!nav__edit_draw(e, *drawn)) {
                return false;
            }
        }
        if (!grow_over_rims(e, &grown)) {
            return false;
        }
    }
    return true;
}

nav_status nav__edit_plan(nav_editor *e, const nav__numbers *cells)
{
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < cells->count; i++) {
        if (!register_cell(e, cells->data[i])) {
            return NAV_NO_MEMORY;
        }
    }
    for (uint32_t b = 0; b < e->body_count; b++) {
        const nav__body *body = e->bodies[b];
        for (uint32_t i = 0; body && body->arriving && i < body->cells.count; i++) {
            if (!nav__numbers_add(e, &e->plan.cells[e->plan_of[body->cells.data[i]]].bodies, b)) {
                return NAV_NO_MEMORY;
            }
        }
    }
    for (uint32_t round = 0; round < MOST_ROUNDS; round++) {
        if (!draw_all(e, &drawn)) {
            return NAV_NO_MEMORY;
        }
        choose_carved(e);
        bool grown = false;
        for (uint32_t i = 0; i < e->plan.cell_count; i++) {
            if (e->plan.cells[i].carved && !e->plan.cells[i].ready) {
                if (e->interrupt && e->interrupt->stop(e->interrupt->ctx)) {
                    return NAV_INTERRUPTED;
                }
                nav_status status = carve_cell(e, &e->plan.cells[i], &grown);
                if (status != NAV_OK) {
                    return status;
                }
            }
        }
        if (!grown) {
            return NAV_OK;
        }
        for (uint32_t i = 0; round + 1 == MOST_ROUNDS && i < e->plan.cell_count; i++) {
            if (!e->plan.cells[i].ready) {
                note_awkward(e, &e->plan.cells[i]);
            }
        }
        // A neighbour that was carved before its rim grew is carved again.
        for (uint32_t i = 0; i < e->plan.cell_count; i++) {
            if (!e->plan.cells[i].ready) {
                drop_result(e, &e->plan.cells[i]);
            }
        }
    }
    return NAV_TOO_LARGE;
}

void nav__edit_plan_clear(nav_editor *e)
{
    nav__plan *p = &e->plan;
    for (uint32_t i = 0; i < p->cell_count; i++) {
        nav__plan_cell *c = &p->cells[i];
        e->plan_of[c->cell] = NAV_NONE;
        drop_result(e, c);
        for (uint32_t k = 0; k < c->draught_count; k++) {
            if (c->draughts[k].own) {
                give(e, c->draughts[k].part.at);
            }
        }
        give(e, c->draughts);
        give(e, c->lines);
        give(e, c->side_rim);
        nav__numbers_free(e, &c->bodies);
    }
    for (uint32_t i = 0; i < p->rim_count; i++) {
        e->plan_rim_of[p->rims[i].edge] = NAV_NONE;
        give(e, p->rims[i].at);
    }
    p->cell_count = p->rim_count = p->label_count = 0;
}
