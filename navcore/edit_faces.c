/// The surface of cells made anew: each face of the base cut to the pieces it lies under, with its own heights, and
/// the grid that finds them.
#include "build.h"
#include "edit.h"
#include "scratch.h"
#include "surface.h"

#include <string.h>

// ---- cutting ---------------------------------------------------------------------------------------

/// Rounding may have bent a corner the wrong way: it is left out.
static uint32_t make_convex(nav__p2 *at, uint32_t n)
{
    for (bool changed = true; changed && n >= 3;) {
        changed = false;
        for (uint32_t i = 0; i < n && n >= 3; i++) {
            nav__p2 a = at[(i + n - 1) % n], b = at[i], c = at[(i + 1) % n];
            if ((b.x == c.x && b.z == c.z) || nav__orient(a, b, c) < 0) {
                memmove(&at[i], &at[i + 1], (n - 1 - i) * sizeof *at);
                n--;
                changed = true;
            }
        }
    }
    return n >= 3 && nav__ring_is_convex(at, n) ? n : 0;
}

static double area2(const nav__p2 *at, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 2; i < n; i++) {
        sum += nav__cross(nav__sub(at[i - 1], at[0]), nav__sub(at[i], at[0]));
    }
    return sum;
}

static bool add_face(nav_editor *e, nav__new_faces *out, uint32_t base, uint32_t piece, const nav__p2 *at, uint32_t n)
{
    if (!nav__grow(&e->alloc, &out->faces, &out->cap, out->count, sizeof *out->faces)) {
        return false;
    }
    out->faces[out->count++] = (nav__new_face){base, piece, out->at_count, n};
    for (uint32_t i = 0; i < n; i++) {
        if (!nav__grow(&e->alloc, &out->at, &out->at_cap, out->at_count, sizeof *out->at)) {
            return false;
        }
        out->at[out->at_count++] = at[i];
    }
    out->per_piece.data[piece]++;
    return true;
}

/// Puts the ring of a piece into e->clip[0]. @return its corners; NAV_NONE: out of memory
static uint32_t load_piece(nav_editor *e, const nav__plan_cell *c, uint32_t piece)
{
    uint32_t first = c->first[piece], n = c->first[piece + 1] - first;
    if (!nav__grow(&e->alloc, &e->clip[0], &e->clip_cap[0], n, sizeof *e->clip[0])) {
        return NAV_NONE;
    }
    for (uint32_t k = 0; k < n; k++) {
        e->clip[0][k] = c->at[c->corner[first + k]];
    }
    return n;
}

/// What of a piece lies on a face.
static uint32_t cut_piece(nav_editor *e, const nav__plan_cell *c, uint32_t piece, uint32_t face)
{
    const nav_mesh *m = &e->base;
    uint32_t n = load_piece(e, c, piece), first = m->faces[face].first_corner, end = m->faces[face + 1].first_corner;
    double slack = 2 * m->rounding;
    for (uint32_t k = first; k < end && n > 0 && n != NAV_NONE; k++) {
        n = nav__edit_clip(e, n, nav__face_corner(m, k), nav__face_corner(m, k + 1 < end ? k + 1 : first), slack);
    }
    return n;
}

/// The face nearest to a piece's first corner, for pieces so thin that no face is left of them.
static uint32_t nearest_face(const nav_editor *e, const nav__plan_cell *c, uint32_t piece)
{
    uint32_t face = e->base.cell_faces[e->base.cells[c->cell].first_face];
    nav__cell_height(&e->base, c->cell, c->at[c->corner[c->first[piece]]], &face);
    return face;
}

static nav__window piece_window(const nav_mesh *m, const nav__plan_cell *c, uint32_t piece)
{
    nav__p2 low = c->at[c->corner[c->first[piece]]], high = low;
    for (uint32_t k = c->first[piece] + 1; k < c->first[piece + 1]; k++) {
        nav__p2 p = c->at[c->corner[k]];
        low = (nav__p2){p.x < low.x ? p.x : low.x, p.z < low.z ? p.z : low.z};
        high = (nav__p2){p.x > high.x ? p.x : high.x, p.z > high.z ? p.z : high.z};
    }
    return nav__window_of(m, low, high);
}

bool nav__edit_cut_faces(nav_editor *e, const nav__plan_cell *c, nav__new_faces *out)
{
    const nav_mesh *m = &e->base;
    const nav__cell *base = &m->cells[c->cell];
    uint32_t faces = base[1].first_face - base->first_face;
    if (!nav__numbers_size(e, &out->per_piece, c->piece_count)) {
        return false;
    }
    bool whole = faces == 1 && !base->shares_face;
    for (uint32_t p = 0; p < c->piece_count; p++) {
        nav__window window = piece_window(m, c, p);
        for (uint32_t k = base->first_face; k < base[1].first_face; k++) {
            uint32_t face = m->cell_faces[k];
            if (!nav__meets_window(m, face, &window)) {
                continue;
            }
            uint32_t n = whole ? load_piece(e, c, p) : cut_piece(e, c, p, face);
            if (n == NAV_NONE) {
                return false;
            }
            n = whole ? n : make_convex(e->clip[0], n);
            bool wide = n > 0 &&
                        (whole || area2(e->clip[0], n) > 4 * m->rounding * nav__dist(e->clip[0][0], e->clip[0][n / 2]));
            if (wide && !add_face(e, out, face, p, e->clip[0], n)) {
                return false;
            }
        }
        if (out->per_piece.data[p] == 0) {
            uint32_t n = load_piece(e, c, p);
            if (n == NAV_NONE || !add_face(e, out, nearest_face(e, c, p), p, e->clip[0], n)) {
                return false;
            }
        }
    }
    return true;
}

// ---- the grid --------------------------------------------------------------------------------------

static uint32_t log2_of(uint32_t n)
{
    uint32_t log = 0;
    while (log < 31 && (1u << log) < n) {
        log++;
    }
    return log;
}

/// Room for a list in grid_faces. @return NAV_NONE: there is none
static uint32_t take_entries(nav_editor *e, uint32_t log)
{
    if (log >= 24) {
        return NAV_NONE;
    }
    if (e->free_lists[log].count > 0) {
        return e->free_lists[log].data[--e->free_lists[log].count];
    }
    uint32_t first = e->now.grid_face_count;
    if ((uint64_t)first + (1u << log) > (uint64_t)e->base.grid_face_count + e->room.grid_faces) {
        return NAV_NONE;
    }
    e->now.grid_face_count += 1u << log;
    return first;
}

/// Moves a grid cell's list to where it has room for `count` entries.
static bool move_list(nav_editor *e, size_t g, uint32_t count)
{
    nav__grid_cell had = e->now.grid_cells[g];
    uint32_t log = log2_of(count + count / 2 + 4), first = take_entries(e, log), n = had.end - had.first;
    if (first == NAV_NONE) {
        return false;
    }
    if (n > 0) {
        memcpy(NAV__WRITE(e, grid_faces, first, n), &e->now.grid_faces[had.first], n * sizeof *e->now.grid_faces);
    }
    if (e->grid_room[g] > 0 && !nav__numbers_add(e, &e->free_lists[log2_of(e->grid_room[g])], had.first)) {
        return false;
    }
    e->grid_room[g] = 1u << log;
    *(nav__grid_cell *)NAV__WRITE(e, grid_cells, g, 1) = (nav__grid_cell){first, first + n};
    return true;
}

static bool enter_face(nav_editor *e, size_t g, uint32_t face)
{
    uint32_t n = e->now.grid_cells[g].end - e->now.grid_cells[g].first;
    if (n + 1 > e->grid_room[g] && !move_list(e, g, n + 1)) {
        return false;
    }
    nav__grid_cell *list = NAV__WRITE(e, grid_cells, g, 1);
    *(uint32_t *)NAV__WRITE(e, grid_faces, list->end, 1) = face;
    list->end++;
    return true;
}

static bool strike_face(nav_editor *e, size_t g, uint32_t face)
{
    nav__grid_cell had = e->now.grid_cells[g];
    uint32_t k = had.first;
    while (k < had.end && e->now.grid_faces[k] != face) {
        k++;
    }
    if (k == had.end) {
        return true;
    }
    if (e->grid_room[g] == 0 && !move_list(e, g, had.end - had.first)) {
        return false;
    }
    k = k - had.first + e->now.grid_cells[g].first;
    nav__grid_cell *list = NAV__WRITE(e, grid_cells, g, 1);
    *(uint32_t *)NAV__WRITE(e, grid_faces, k, 1) = e->now.grid_faces[--list->end];
    return true;
}

/// Does the face surely miss grid cell (i, j)? As build_grid.c has it.
static bool misses(const nav_mesh *m, uint32_t face, uint32_t i, uint32_t j)
{
    double step = 1 / (double)m->grid_inverse, half = 0.5005 * step;
    nav__p2 middle = {(double)m->grid_x + (i + 0.5) * step, (double)m->grid_z + (j + 0.5) * step};
    uint32_t first = m->faces[face].first_corner, end = m->faces[face + 1].first_corner;
    nav__p2 from = nav__face_corner(m, end - 1);
    for (uint32_t k = first; k < end; k++) {
        nav__p2 to = nav__face_corner(m, k), d = nav__sub(to, from);
        double reach = (fabs(d.x) + fabs(d.z)) * half;
        if (nav__cross(d, nav__sub(middle, from)) < -reach * (1 + 1e-6)) {
            return true;
        }
        from = to;
    }
    return false;
}

static bool visit_grid(nav_editor *e, uint32_t face, bool enter)
{
    const nav_mesh *m = &e->now;
    nav__p2 low = nav__face_corner(m, m->faces[face].first_corner), high = low;
    for (uint32_t k = m->faces[face].first_corner; k < m->faces[face + 1].first_corner; k++) {
        nav__p2 p = nav__face_corner(m, k);
        low = (nav__p2){fmin(low.x, p.x), fmin(low.z, p.z)};
        high = (nav__p2){fmax(high.x, p.x), fmax(high.z, p.z)};
    }
    uint32_t i0 = nav__grid_index(low.x, m->grid_x, m->grid_inverse, m->grid_nx);
    uint32_t i1 = nav__grid_index(high.x, m->grid_x, m->grid_inverse, m->grid_nx);
    uint32_t j0 = nav__grid_index(low.z, m->grid_z, m->grid_inverse, m->grid_nz);
    uint32_t j1 = nav__grid_index(high.z, m->grid_z, m->grid_inverse, m->grid_nz);
    bool large = (uint64_t)(i1 - i0 + 1) * (j1 - j0 + 1) > 4;
    for (uint32_t j = j0; j <= j1; j++) {
        for (uint32_t i = i0; i <= i1; i++) {
            size_t g = (size_t)j * m->grid_nx + i;
            if (large && misses(m, face, i, j)) {
                continue;
            }
            if (!(enter ? enter_face(e, g, face) : strike_face(e, g, face))) {
                return false;
            }
        }
    }
    return true;
}

bool nav__edit_base_faces(nav_editor *e, uint32_t cell, bool there)
{
    const nav_mesh *m = &e->base;
    for (uint32_t k = m->cells[cell].first_face; k < m->cells[cell + 1].first_face; k++) {
        uint32_t face = m->cell_faces[k];
        if (m->faces[face].cell == cell && !visit_grid(e, face, there)) { // the others' cells come as well
            return false;
        }
    }
    return true;
}

// ---- places ----------------------------------------------------------------------------------------

bool nav__edit_drop_faces(nav_editor *e, nav__patch *patch)
{
    for (uint32_t i = 0; i < patch->faces.count; i++) {
        uint32_t face = patch->faces.data[i];
        if (!visit_grid(e, face, false)) {
            return false;
        }
        nav__face *w = NAV__WRITE(e, faces, face, 1);
        w->cell = NAV_NONE;
        uint32_t corners = e->now.faces[face + 1].first_corner - e->now.faces[face].first_corner;
        uint32_t tris = e->now.face_tris[face + 1] - e->now.face_tris[face];
        if (corners < NAV__SLOT_CORNERS && tris < NAV__SLOT_TRIS &&
            !nav__numbers_add(e, &e->free_faces[corners][tris], face)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < patch->lists.count; i++) { // the faces of the base that have pieces
        uint32_t base = patch->lists.data[i], next = e->now.face_pieces[base];
        while (next != NAV_NONE && next >= e->base.face_count) { // ours come first, the base's own follow
            next = e->now.face_pieces[next];
        }
        *(uint32_t *)NAV__WRITE(e, face_pieces, base, 1) = next;
    }
    for (uint32_t i = 0; i < patch->points.count; i++) {
        if (!nav__numbers_add(e, &e->free_points, patch->points.data[i])) {
            return false;
        }
    }
    patch->faces.count = patch->lists.count = patch->points.count = 0;
    return true;
}

/// A place for a face. @return NAV_NONE: no room
static uint32_t take_face(nav_editor *e, uint32_t corners, uint32_t tris)
{
    nav_mesh *m = &e->now;
    if (corners < NAV__SLOT_CORNERS && tris < NAV__SLOT_TRIS && e->free_faces[corners][tris].count > 0) {
        nav__numbers *list = &e->free_faces[corners][tris];
        return list->data[--list->count];
    }
    if (m->face_count + 1 > e->base.face_count + e->room.faces ||
        m->corner_count + corners > e->base.corner_count + e->room.corners ||
        m->tri_count + tris > e->base.tri_count + e->room.tris) {
        return NAV_NONE;
    }
    uint32_t face = m->face_count++;
    m->corner_count += corners;
    m->tri_count += tris;
    nav__face *w = NAV__WRITE(e, faces, face, 2);
    w[1] = (nav__face){.first_corner = m->corner_count, .cell = NAV_NONE};
    uint32_t *t = NAV__WRITE(e, face_tris, face, 2);
    t[1] = m->tri_count;
    return face;
}

/// Points of one cell's pieces by their place on the ground.
typedef struct place_table {
    nav__numbers *slots;
    uint32_t mask;
} place_table;

static bool begin_table(nav_editor *e, place_table *t, uint32_t corners)
{
    uint32_t size = 16;
    while (size < 2 * corners) {
        size *= 2;
    }
    if (!nav__numbers_size(e, &e->points, size)) {
        return false;
    }
    *t = (place_table){&e->points, size - 1};
    memset(e->points.data, 0xFF, size * sizeof *e->points.data);
    return true;
}

/// The number of the point at p: a corner of the base's face, one that an earlier face has there, or a new one.
/// @return NAV_NONE: no room
static uint32_t point_at(nav_editor *e, place_table *t, nav__patch *patch, uint32_t base, nav__p2 p)
{
    const nav_mesh *m = &e->base;
    for (uint32_t k = m->faces[base].first_corner; k < m->faces[base + 1].first_corner; k++) {
        nav__p2 q = nav__face_corner(m, k);
        if (q.x == p.x && q.z == p.z) {
            return m->face_corners[k];
        }
    }
    float at[3] = {(float)p.x, (float)nav__face_height(m, base, p), (float)p.z};
    uint32_t bits[2];
    memcpy(&bits[0], &at[0], sizeof bits[0]);
    memcpy(&bits[1], &at[2], sizeof bits[1]);
    uint64_t hash = ((uint64_t)bits[0] << 32 | bits[1]) * 0x9E3779B97F4A7C15u;
    uint32_t slot = (uint32_t)(hash >> 32) & t->mask;
    for (; t->slots->data[slot] != NAV_NONE; slot = (slot + 1) & t->mask) {
        const float *q = e->now.points + 3 * (size_t)t->slots->data[slot];
        if (q[0] == at[0] && q[2] == at[2] && fabs((double)q[1] - (double)at[1]) <= 8 * m->rounding) {
            return t->slots->data[slot];
        }
    }
    uint32_t number;
    if (e->free_points.count > 0) {
        number = e->free_points.data[--e->free_points.count];
    } else if (e->now.point_count < e->base.point_count + e->room.points) {
        number = e->now.point_count++;
    } else {
        return NAV_NONE;
    }
    memcpy(nav__edit_write(e, e->now.points, 3 * (size_t)number, sizeof(float), 3), at, sizeof at);
    t->slots->data[slot] = number;
    return nav__numbers_add(e, &patch->points, number) ? number : NAV_NONE;
}

/// Triangles that carry the base face's heights to a piece: its detail, or its fan where it has four corners or more;
/// only those that the piece's bounds meet. With `out` NULL they are only counted.
static uint32_t list_tris(const nav_mesh *m, uint32_t base, nav__p2 low, nav__p2 high, uint32_t *out)
{
    uint32_t first, end = nav__face_tris(m, base, &first), count = 0;
    const nav__face *f = &m->faces[base];
    bool fan = first == end;
    if (fan) {
        end = first + f[1].first_corner - f->first_corner - 2;
        if (end - first < 2 || m->cells[f->cell].level) {
            return 0;
        }
    }
    for (uint32_t t = first; t < end; t++) {
        const uint32_t *corners = m->face_corners + f->first_corner, k = t - first;
        uint32_t tri[3] = {corners[0], fan ? corners[k + 1] : 0, fan ? corners[k + 2] : 0};
        if (!fan) {
            memcpy(tri, &m->tris[3 * (size_t)t], sizeof tri);
        }
        double min[2] = {INFINITY, INFINITY}, max[2] = {-INFINITY, -INFINITY};
        for (int i = 0; i < 3; i++) {
            const float *q = m->points + 3 * (size_t)tri[i];
            min[0] = fmin(min[0], (double)q[0]);
            max[0] = fmax(max[0], (double)q[0]);
            min[1] = fmin(min[1], (double)q[2]);
            max[1] = fmax(max[1], (double)q[2]);
        }
        if (min[0] > high.x || max[0] < low.x || min[1] > high.z || max[1] < low.z) {
            continue;
        }
        if (out) {
            memcpy(out + 3 * (size_t)count, tri, sizeof tri);
        }
        count++;
    }
    return count;
}

static void note_height(const nav_mesh *m, nav__cell *cell, uint32_t point, float first)
{
    float y = m->points[3 * (size_t)point + 1];
    uint16_t index = nav__height_index(m, (double)y);
    cell->low_y = index < cell->low_y ? index : cell->low_y;
    cell->high_y = index > cell->high_y ? index : cell->high_y;
    cell->level = cell->level && y == first;
}

/// What point location asks a cell about its heights.
static void set_heights(nav_editor *e, uint32_t cell)
{
    nav__cell *c = NAV__WRITE(e, cells, cell, 1);
    const nav_mesh *m = &e->now;
    float first = nav__cell_level(m, cell);
    c->low_y = UINT16_MAX;
    c->high_y = 0;
    c->level = 1;
    for (uint32_t i = c->first_face; i < c[1].first_face; i++) {
        uint32_t f = m->cell_faces[i];
        for (uint32_t k = m->faces[f].first_corner; k < m->faces[f + 1].first_corner; k++) {
            note_height(m, c, m->face_corners[k], first);
        }
        for (uint32_t k = 3 * m->face_tris[f]; k < 3 * m->face_tris[f + 1]; k++) {
            note_height(m, c, m->tris[k], first);
        }
    }
}

static bool write_face(nav_editor *e, nav__patch *patch, place_table *table, const nav__new_faces *all,
                       const nav__new_face *f, uint32_t *number)
{
    const nav_mesh *m = &e->base;
    const nav__p2 *at = all->at + f->first;
    nav__p2 low = at[0], high = at[0];
    for (uint32_t k = 1; k < f->count; k++) {
        low = (nav__p2){fmin(low.x, at[k].x), fmin(low.z, at[k].z)};
        high = (nav__p2){fmax(high.x, at[k].x), fmax(high.z, at[k].z)};
    }
    uint32_t tris = list_tris(m, f->base, low, high, NULL), face = take_face(e, f->count, tris);
    if (face == NAV_NONE) {
        return false;
    }
    nav__face *w = NAV__WRITE(e, faces, face, 1);
    w->cell = patch->pieces.data[f->piece];
    w->low_x = nav__bound_index(m, low.x, m->grid_x);
    w->high_x = nav__bound_index(m, high.x, m->grid_x);
    w->low_z = nav__bound_index(m, low.z, m->grid_z);
    w->high_z = nav__bound_index(m, high.z, m->grid_z);
    uint32_t *corners = NAV__WRITE(e, face_corners, w->first_corner, f->count);
    for (uint32_t k = 0; k < f->count; k++) {
        corners[k] = point_at(e, table, patch, f->base, at[k]);
        if (corners[k] == NAV_NONE) {
            return false;
        }
    }
    if (tris > 0) {
        uint32_t *t = nav__edit_write(e, e->now.tris, 3 * (size_t)e->now.face_tris[face], sizeof *t, 3 * (size_t)tris);
        list_tris(m, f->base, low, high, t);
    }
    *(uint32_t *)NAV__WRITE(e, face_polygon, face, 1) = m->face_polygon[f->base];
    uint32_t *list = NAV__WRITE(e, face_pieces, f->base, 1), *own = NAV__WRITE(e, face_pieces, face, 1);
    *own = *list;
    *list = face;
    *number = face;
    return nav__numbers_add(e, &patch->faces, face) && visit_grid(e, face, true);
}

bool nav__edit_write_faces(nav_editor *e, const nav__plan_cell *c, nav__patch *patch, const nav__new_faces *all)
{
    place_table table;
    if (!begin_table(e, &table, all->at_count)) {
        return false;
    }
    const nav__cell *base = &e->base.cells[c->cell];
    for (uint32_t k = base->first_face; k < base[1].first_face; k++) {
        if (e->base.faces[e->base.cell_faces[k]].cell == c->cell &&
            !nav__numbers_add(e, &patch->lists, e->base.cell_faces[k])) {
            return false;
        }
    }
    for (uint32_t i = 0, at = 0; i < all->count; i++) { // sorted by piece
        const nav__new_face *f = &all->faces[i];
        at = i > 0 && f->piece == all->faces[i - 1].piece ? at + 1 : 0;
        uint32_t number, cell = patch->pieces.data[f->piece];
        if (!write_face(e, patch, &table, all, f, &number)) {
            return false;
        }
        *(uint32_t *)NAV__WRITE(e, cell_faces, e->now.cells[cell].first_face + at, 1) = number;
    }
    for (uint32_t i = 0; i < patch->pieces.count; i++) {
        set_heights(e, patch->pieces.data[i]);
    }
    return true;
}
