/// Writes a plan: old pieces go, new ones take places, edges are joined across rims, and corners are judged anew.
#include "edit.h"
#include "scratch.h"

#include <string.h>

static bool fits(uint32_t count, uint32_t base, uint32_t room)
{
    return count <= base + room;
}

static nav__edge *write_edge(nav_editor *e, uint32_t edge)
{
    return NAV__WRITE(e, edges, edge, 1);
}

// ---- what goes -------------------------------------------------------------------------------------

/// Nothing leads to the cell any more.
static void bury_cell(nav_editor *e, uint32_t cell)
{
    nav__cell *c = NAV__WRITE(e, cells, cell, 1);
    c->island = NAV_NONE;
    for (uint32_t k = c[0].first_edge; k < e->now.cells[cell + 1].first_edge; k++) {
        uint32_t vertex = e->now.edges[k].vertex & NAV__VERTEX;
        if (!nav__numbers_add(e, &e->old_vertices, vertex)) {
            e->broken = true;
        }
        nav__edge *edge = write_edge(e, k);
        edge->twin = NAV_NONE;
        edge->vertex = vertex;
    }
}

static void free_cell(nav_editor *e, uint32_t cell)
{
    uint32_t edges = e->now.cells[cell + 1].first_edge - e->now.cells[cell].first_edge;
    uint32_t faces = e->now.cells[cell + 1].first_face - e->now.cells[cell].first_face;
    if (edges < NAV__SLOT_EDGES && faces < NAV__SLOT_FACES) {
        e->broken = !nav__numbers_add(e, &e->free_cells[edges][faces], cell) || e->broken;
    }
}

static bool take_away(nav_editor *e, const nav__plan_cell *c)
{
    if (e->patch_of[c->cell] == NAV_NONE) {
        bury_cell(e, c->cell);
        return nav__edit_base_faces(e, c->cell, false);
    }
    nav__patch *p = &e->patches[e->patch_of[c->cell]];
    if (!nav__edit_drop_faces(e, p)) {
        return false;
    }
    for (uint32_t i = 0; i < p->pieces.count; i++) {
        bury_cell(e, p->pieces.data[i]);
        free_cell(e, p->pieces.data[i]);
    }
    p->pieces.count = p->bodies.count = 0;
    return true;
}

// ---- what comes ------------------------------------------------------------------------------------

/// A place for a cell of so many edges and faces. @return NAV_NONE: no room
static uint32_t take_cell(nav_editor *e, uint32_t edges, uint32_t faces)
{
    nav_mesh *m = &e->now;
    if (edges < NAV__SLOT_EDGES && faces < NAV__SLOT_FACES && e->free_cells[edges][faces].count > 0) {
        nav__numbers *list = &e->free_cells[edges][faces];
        return list->data[--list->count];
    }
    if (!fits(m->cell_count + 2, e->base.cell_count, e->room.cells) ||
        !fits(m->edge_count + edges, e->base.edge_count, e->room.edges) ||
        !fits(m->cell_face_count + faces, e->base.cell_face_count, e->room.cell_faces)) {
        return NAV_NONE;
    }
    uint32_t cell = m->cell_count++;
    m->edge_count += edges;
    m->cell_face_count += faces;
    nav__cell *c = NAV__WRITE(e, cells, cell, 2);
    c[1] = (nav__cell){.first_edge = m->edge_count, .first_face = m->cell_face_count, .island = NAV_NONE};
    for (uint32_t k = c[0].first_edge; k < m->edge_count; k++) {
        if (k % NAV__EDGE_BLOCK == 0) {
            *(uint32_t *)NAV__WRITE(e, edge_block, k / NAV__EDGE_BLOCK, 1) = cell;
        }
        *(uint8_t *)NAV__WRITE(e, edge_offset, k, 1) = (uint8_t)(cell - m->edge_block[k / NAV__EDGE_BLOCK]);
    }
    return cell;
}

static void note_label(nav_editor *e, nav__label label)
{
    nav_mesh *m = &e->now;
    m->has_areas = m->has_areas || label.area != 0;
    m->areas_used[label.area / 64] |= (uint64_t)1 << label.area % 64;
    if (!m->has_flags && label.flags != 1) { // other ground has bit 0
        m->has_flags = true;
        m->flags_used = 1;
    }
    if (m->has_flags) {
        m->flags_used |= label.flags;
        m->has_flagless = m->has_flagless || !label.flags;
    }
}

static bool write_piece(nav_editor *e, const nav__plan_cell *c, uint32_t piece, uint32_t faces, uint32_t *number)
{
    uint32_t first = c->first[piece], n = c->first[piece + 1] - first, cell = take_cell(e, n, faces);
    if (cell == NAV_NONE) {
        return false;
    }
    const nav__cell *base = &e->base.cells[c->cell];
    nav__cell *w = NAV__WRITE(e, cells, cell, 1);
    nav__label label = c->has_labels ? e->plan.labels[c->label[piece]] : (nav__label){base->flags, base->area};
    w->island = base->island;
    w->tree_first = base->tree_first;
    w->tree_last = 0;
    w->flags = label.flags;
    w->area = label.area;
    w->link_end = base->link_end;
    w->shares_face = 0;
    note_label(e, label);
    nav__edge *edges = NAV__WRITE(e, edges, w->first_edge, n);
    for (uint32_t k = 0; k < n; k++) {
        nav__p2 p = c->at[c->corner[first + k]];
        edges[k] = (nav__edge){(float)p.x, (float)p.z, NAV__VERTEX, NAV_NONE};
    }
    *number = cell;
    return true;
}

static nav__patch *take_patch(nav_editor *e, uint32_t cell)
{
    if (e->patch_of[cell] != NAV_NONE) {
        return &e->patches[e->patch_of[cell]];
    }
    uint32_t number;
    if (e->free_patches.count > 0) {
        number = e->free_patches.data[--e->free_patches.count];
    } else {
        if (!nav__grow(&e->alloc, &e->patches, &e->patch_cap, e->patch_count, sizeof *e->patches)) {
            return NULL;
        }
        number = e->patch_count++;
        e->patches[number] = (nav__patch){0};
    }
    e->patch_of[cell] = number;
    e->patches[number].cell = cell;
    e->carved++;
    return &e->patches[number];
}

/// The edge of the mesh that a corner of a plan's cell became.
static uint32_t edge_of(const nav_editor *e, const nav__patch *p, const nav__plan_cell *c, uint32_t piece, uint32_t k)
{
    return e->now.cells[p->pieces.data[piece]].first_edge + (k - c->first[piece]);
}

static bool put_pieces(nav_editor *e, nav__plan_cell *c)
{
    nav__patch *p = take_patch(e, c->cell);
    nav__new_faces faces = {0};
    bool good = p && nav__edit_cut_faces(e, c, &faces);
    for (uint32_t i = 0; good && i < c->bodies.count; i++) {
        good = nav__numbers_add(e, &p->bodies, c->bodies.data[i]);
    }
    for (uint32_t i = 0; good && i < c->piece_count; i++) {
        uint32_t number;
        good = write_piece(e, c, i, faces.per_piece.data[i], &number) && nav__numbers_add(e, &p->pieces, number);
    }
    e->cells_made += good ? c->piece_count : 0;
    // corner -> half-edge replaces the corner's own number: `twin` holds corners, `corner` is needed no more
    for (uint32_t i = 0; good && i < c->piece_count; i++) {
        for (uint32_t k = c->first[i]; k < c->first[i + 1]; k++) {
            c->corner[k] = edge_of(e, p, c, i, k);
        }
    }
    for (uint32_t k = 0; good && k < c->corner_count; k++) {
        write_edge(e, c->corner[k])->twin = c->twin[k] == NAV_NONE ? NAV_NONE : c->corner[c->twin[k]];
        good = nav__numbers_add(e, &e->seeds, c->corner[k]);
    }
    good = good && nav__edit_write_faces(e, c, p, &faces);
    e->alloc.resize(e->alloc.ctx, faces.faces, 0);
    e->alloc.resize(e->alloc.ctx, faces.at, 0);
    nav__numbers_free(e, &faces.per_piece);
    return good;
}

/// The base's cell again, but for its edges' twins and vertices.
static bool put_back(nav_editor *e, const nav__plan_cell *c)
{
    const nav__cell *base = &e->base.cells[c->cell];
    nav__cell *w = NAV__WRITE(e, cells, c->cell, 1);
    *w = *base;
    for (uint32_t k = base->first_edge; k < base[1].first_edge; k++) {
        nav__edge *edge = write_edge(e, k);
        *edge = e->base.edges[k];
        edge->vertex = NAV__VERTEX;
        if (!nav__numbers_add(e, &e->seeds, k)) {
            return false;
        }
    }
    if (e->patch_of[c->cell] != NAV_NONE) {
        nav__patch *p = &e->patches[e->patch_of[c->cell]];
        p->bodies.count = p->pieces.count = 0;
        e->carved--;
        if (!nav__numbers_add(e, &e->free_patches, e->patch_of[c->cell])) {
            return false;
        }
        e->patch_of[c->cell] = NAV_NONE;
    }
    return nav__edit_base_faces(e, c->cell, true);
}

// ---- rims ------------------------------------------------------------------------------------------

static nav__rim *take_rim(nav_editor *e, uint32_t edge)
{
    if (e->rim_of[edge] == NAV_NONE) {
        uint32_t number;
        if (e->free_rims.count > 0) {
            number = e->free_rims.data[--e->free_rims.count];
        } else {
            if (!nav__grow(&e->alloc, &e->rims, &e->rim_cap, e->rim_count, sizeof *e->rims)) {
                return NULL;
            }
            number = e->rim_count++;
            e->rims[number] = (nav__rim){0};
        }
        nav__rim *r = &e->rims[number];
        r->edge = edge;
        r->count = 0;
        uint32_t halves[2] = {edge, e->base.edges[edge].twin};
        for (int i = 0; i < 2; i++) {
            if (!nav__grow(&e->alloc, &r->half[i], &r->half_cap[i], 1, sizeof *r->half[i])) {
                return NULL;
            }
            r->half[i][0] = halves[i];
        }
        e->rim_of[edge] = number;
    }
    return &e->rims[e->rim_of[edge]];
}

/// Takes the plan's corners over. Sides under work have no half-edges yet; the others keep theirs.
static bool begin_rim(nav_editor *e, const nav__plan_rim *p)
{
    nav__rim *r = take_rim(e, p->edge);
    if (!r || !nav__grow(&e->alloc, &r->at, &r->cap, p->count, sizeof *r->at)) {
        return false;
    }
    uint32_t halves[2] = {p->edge, e->base.edges[p->edge].twin};
    r->count = p->count;
    if (p->count > 0) {
        memcpy(r->at, p->at, p->count * sizeof *r->at);
    }
    for (int i = 0; i < 2; i++) {
        uint32_t cell = halves[i] == NAV_NONE ? NAV_NONE : nav__edge_cell(&e->base, halves[i]);
        uint32_t plan = cell == NAV_NONE ? NAV_NONE : e->plan_of[cell];
        if (!nav__grow(&e->alloc, &r->half[i], &r->half_cap[i], p->count + 1, sizeof *r->half[i])) {
            return false;
        }
        if (cell == NAV_NONE || plan != NAV_NONE) {
            memset(r->half[i], 0xFF, ((size_t)p->count + 1) * sizeof *r->half[i]);
            r->half[i][0] = plan != NAV_NONE && !e->plan.cells[plan].carved ? halves[i] : r->half[i][0];
        }
    }
    return true;
}

static void file_sides(nav_editor *e, const nav__plan_cell *c)
{
    for (uint32_t k = 0; c->carved && k < c->corner_count; k++) {
        if (c->side[k] != NAV_NONE) {
            const nav__plan_rim *p = &e->plan.rims[c->side_rim[c->side[k]]];
            nav__rim *r = &e->rims[e->rim_of[p->edge]];
            bool turned = nav__edge_cell(&e->base, p->edge) != c->cell;
            r->half[turned][c->side_at[c->side[k]]] = c->corner[k];
        }
    }
}

static void set_twin(nav_editor *e, uint32_t edge, uint32_t twin)
{
    if (edge != NAV_NONE && e->now.edges[edge].twin != twin) {
        write_edge(e, edge)->twin = twin;
    }
}

/// Joins what lies on both sides of a rim; the half-edges of sides not under work are looked at again too.
static bool join_rim(nav_editor *e, const nav__plan_rim *p)
{
    nav__rim *r = &e->rims[e->rim_of[p->edge]];
    uint32_t halves[2] = {p->edge, e->base.edges[p->edge].twin};
    bool patched = false;
    for (uint32_t i = 0; i <= r->count; i++) {
        set_twin(e, r->half[0][i], r->half[1][i]);
        set_twin(e, r->half[1][i], r->half[0][i]);
    }
    for (int s = 0; s < 2 && halves[s] != NAV_NONE; s++) {
        uint32_t cell = nav__edge_cell(&e->base, halves[s]);
        patched = patched || e->patch_of[cell] != NAV_NONE;
        for (uint32_t i = 0; e->plan_of[cell] == NAV_NONE && i <= r->count; i++) {
            uint32_t h = r->half[s][i];
            if (h != NAV_NONE &&
                (!nav__numbers_add(e, &e->seeds, h) || !nav__numbers_add(e, &e->seeds, nav__edge_next(&e->now, h)))) {
                return false;
            }
        }
    }
    if (!patched) {
        if (!nav__numbers_add(e, &e->free_rims, e->rim_of[p->edge])) {
            return false;
        }
        e->rim_of[p->edge] = NAV_NONE;
    }
    return true;
}

// ---- vertices --------------------------------------------------------------------------------------

static nav__p2 edge_from(const nav_editor *e, uint32_t edge)
{
    return nav__edge_from(&e->now, edge);
}

/// As build_fans.c has it: is the free angle of an open fan more than 180 degrees?
static bool is_corner(const nav_editor *e)
{
    const nav_mesh *m = &e->now;
    uint32_t first = e->fan.data[0];
    if (m->edges[first].twin != NAV_NONE) {
        return false;
    }
    nav__p2 v = edge_from(e, first), side = edge_from(e, nav__edge_next(m, first));
    bool straight = false;
    for (uint32_t i = 0; i < e->fan.count; i++) {
        double turn = nav__orient(v, side, edge_from(e, nav__edge_prev(m, e->fan.data[i])));
        if (straight || turn < 0) {
            return true;
        }
        straight = turn == 0;
    }
    return false;
}

/// The fan that a half-edge begins in, from the most clockwise on; a closed one from its least half-edge on.
static bool collect_fan(nav_editor *e, uint32_t seed)
{
    const nav_mesh *m = &e->now;
    uint32_t h = seed, least = seed;
    while (m->edges[h].twin != NAV_NONE) {
        h = nav__edge_next(m, m->edges[h].twin);
        least = h < least ? h : least;
        if (h == seed) {
            h = least;
            break;
        }
    }
    e->fan.count = 0;
    uint32_t first = h;
    do {
        e->edge_seen.data[h] = e->claim_stamp;
        if (!nav__numbers_add(e, &e->fan, h)) {
            return false;
        }
        h = m->edges[nav__edge_prev(m, h)].twin;
    } while (h != NAV_NONE && h != first);
    return true;
}

static bool is_claimed(const nav_editor *e, uint32_t vertex)
{
    return e->claims.data[vertex] == e->claim_stamp;
}

/// Does another fan hold a vertex of the base?
static bool is_alive(const nav_editor *e, uint32_t vertex)
{
    const nav_mesh *m = &e->now;
    uint32_t edge = m->vertex_edge[vertex];
    return (m->edges[edge].vertex & NAV__VERTEX) == vertex && !nav__cell_is_gone(m, nav__edge_cell(m, edge));
}

/// A number for the fan: the base's where an edge of the base is in it, else one that an edge of it has, else a new
/// one. @return NAV_NONE: no room
static uint32_t choose_vertex(nav_editor *e)
{
    const nav_mesh *m = &e->now;
    uint32_t kept = NAV_NONE;
    for (uint32_t i = 0; i < e->fan.count; i++) {
        uint32_t h = e->fan.data[i], has = m->edges[h].vertex & NAV__VERTEX;
        uint32_t base = h < e->base.edge_count ? e->base.edges[h].vertex & NAV__VERTEX : NAV_NONE;
        bool holds = false;
        for (uint32_t k = 0; base != NAV_NONE && k < e->fan.count; k++) {
            holds = holds || (m->edges[e->fan.data[k]].vertex & NAV__VERTEX) == base;
        }
        if (base != NAV_NONE && !is_claimed(e, base) && (holds || !is_alive(e, base))) {
            return base;
        }
        if (has != NAV__VERTEX && !is_claimed(e, has)) {
            kept = has;
        }
    }
    if (kept != NAV_NONE) {
        return kept;
    }
    while (e->free_vertices.count > 0) {
        uint32_t v = e->free_vertices.data[--e->free_vertices.count];
        if (!is_claimed(e, v)) {
            return v;
        }
    }
    if (!fits(m->vertex_count + 1, e->base.vertex_count, e->room.vertices) ||
        !nav__numbers_size(e, &e->claims, m->vertex_count + 1)) {
        return NAV_NONE;
    }
    return e->now.vertex_count++;
}

static bool settle_fan(nav_editor *e)
{
    for (uint32_t i = 0; i < e->fan.count; i++) {
        uint32_t has = e->now.edges[e->fan.data[i]].vertex & NAV__VERTEX;
        if (has != NAV__VERTEX && !nav__numbers_add(e, &e->old_vertices, has)) {
            return false;
        }
    }
    uint32_t vertex = choose_vertex(e), first = e->fan.data[0];
    if (vertex == NAV_NONE) {
        return false;
    }
    e->claims.data[vertex] = e->claim_stamp;
    uint32_t word = vertex | (is_corner(e) ? NAV__CORNER : 0);
    for (uint32_t i = 0; i < e->fan.count; i++) {
        uint32_t h = e->fan.data[i], way = h < e->base.edge_count ? e->base.edges[h].vertex & NAV__DEAD_END : 0;
        if (e->now.edges[h].vertex != (word | way)) {
            write_edge(e, h)->vertex = word | way;
        }
    }
    if (e->now.vertex_edge[vertex] != first || vertex >= e->base.vertex_count) {
        *(uint32_t *)NAV__WRITE(e, vertex_edge, vertex, 1) = first;
    }
    if (vertex >= e->base.vertex_count) {
        double y = nav__cell_height(&e->now, nav__edge_cell(&e->now, first), edge_from(e, first), NULL);
        *(float *)NAV__WRITE(e, vertex_y, vertex, 1) = (float)y;
    }
    return true;
}

/// Numbers that no fan holds any more. Their half-edges are no longer theirs, which tells whoever asks.
static bool free_vertices(nav_editor *e)
{
    for (uint32_t i = 0; i < e->old_vertices.count; i++) {
        uint32_t v = e->old_vertices.data[i];
        if (v == NAV__VERTEX || is_claimed(e, v)) {
            continue;
        }
        e->claims.data[v] = e->claim_stamp; // once
        if (is_alive(e, v) && e->edge_seen.data[e->now.vertex_edge[v]] != e->claim_stamp) {
            continue; // held by a fan that was not looked at
        }
        if (v >= e->base.vertex_count && !nav__numbers_add(e, &e->free_vertices, v)) {
            return false;
        }
    }
    return true;
}

static bool settle_vertices(nav_editor *e)
{
    if (++e->claim_stamp == 0) {
        memset(e->claims.data, 0, e->claims.count * sizeof *e->claims.data);
        memset(e->edge_seen.data, 0, e->edge_seen.count * sizeof *e->edge_seen.data);
        e->claim_stamp = 1;
    }
    if (!nav__numbers_size(e, &e->claims, e->now.vertex_count) ||
        !nav__numbers_size(e, &e->edge_seen, e->now.edge_count)) {
        return false;
    }
    for (uint32_t i = 0; i < e->seeds.count; i++) {
        if (e->edge_seen.data[e->seeds.data[i]] != e->claim_stamp &&
            (!collect_fan(e, e->seeds.data[i]) || !settle_fan(e))) {
            return false;
        }
    }
    return free_vertices(e);
}

// ---- the whole -------------------------------------------------------------------------------------

bool nav__edit_commit(nav_editor *e)
{
    nav__plan *p = &e->plan;
    bool good = true;
    e->seeds.count = e->old_vertices.count = 0;
    for (uint32_t i = 0; good && i < p->cell_count; i++) {
        good = take_away(e, &p->cells[i]);
    }
    for (uint32_t i = 0; good && i < p->cell_count; i++) {
        good = p->cells[i].carved ? put_pieces(e, &p->cells[i]) : put_back(e, &p->cells[i]);
    }
    for (uint32_t i = 0; good && i < p->rim_count; i++) {
        good = begin_rim(e, &p->rims[i]);
    }
    for (uint32_t i = 0; good && i < p->cell_count; i++) {
        file_sides(e, &p->cells[i]);
    }
    for (uint32_t i = 0; good && i < p->rim_count; i++) {
        good = join_rim(e, &p->rims[i]);
    }
    good = good && settle_vertices(e);
    e->now.loose_islands = e->carved > 0;
    e->broken = e->broken || !good;
    return !e->broken;
}
