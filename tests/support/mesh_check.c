#include "mesh_check.h"

#include "geom.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static bool wrong(char why[256], const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool wrong(char why[256], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, 256, format, args);
    va_end(args);
    return false;
}

static nav__p2 edge_at(const nav_mesh *m, uint32_t e)
{
    return (nav__p2){(double)m->edges[e].x, (double)m->edges[e].z};
}

static nav__p2 point_at(const nav_mesh *m, uint32_t p)
{
    return (nav__p2){(double)m->points[3 * (size_t)p], (double)m->points[3 * (size_t)p + 2]};
}

/// Exactly convex, and once round: the turns add up to one full circle.
static bool is_convex(const nav__p2 *at, uint32_t n)
{
    double turned = 0;
    bool area = false;
    for (uint32_t i = 0; i < n; i++) {
        nav__p2 a = at[i], b = at[(i + 1) % n], c = at[(i + 2) % n];
        double turn = nav__orient(a, b, c);
        if (turn < 0 || (a.x == b.x && a.z == b.z)) {
            return false;
        }
        if (turn == 0 && nav__dot(nav__sub(b, a), nav__sub(c, b)) < 0) {
            return false;
        }
        area = area || turn > 0;
        turned += atan2(nav__cross(nav__sub(b, a), nav__sub(c, b)), nav__dot(nav__sub(b, a), nav__sub(c, b)));
    }
    return area && fabs(turned - 2 * PI) < 0.1;
}

static double area_of(const nav__p2 *at, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 1; i + 1 < n; i++) {
        sum += nav__cross(nav__sub(at[i], at[0]), nav__sub(at[i + 1], at[0]));
    }
    return sum / 2;
}

static uint32_t load_cell(const nav_mesh *m, uint32_t cell, nav__p2 *at)
{
    uint32_t first = m->cells[cell].first_edge, n = m->cells[cell + 1].first_edge - first;
    for (uint32_t i = 0; i < n; i++) {
        at[i] = edge_at(m, first + i);
    }
    return n;
}

static uint32_t load_face(const nav_mesh *m, uint32_t face, nav__p2 *at)
{
    uint32_t first = m->faces[face].first_corner, n = m->faces[face + 1].first_corner - first;
    for (uint32_t i = 0; i < n; i++) {
        at[i] = point_at(m, m->face_corners[first + i]);
    }
    return n;
}

static bool check_starts(const nav_mesh *m, char why[256])
{
    if (m->cells[0].first_edge != 0 || m->cells[m->cell_count].first_edge != m->edge_count ||
        m->cells[0].first_face != 0 || m->cells[m->cell_count].first_face != m->cell_face_count ||
        m->faces[0].first_corner != 0 || m->faces[m->face_count].first_corner != m->corner_count ||
        (m->face_tris && (m->face_tris[0] != 0 || m->face_tris[m->face_count] != m->tri_count)) ||
        (!m->face_pieces && !m->face_tris != (m->tri_count == 0))) {
        return wrong(why, "first or last start of a list");
    }
    for (uint32_t c = 0; c < m->cell_count; c++) {
        if (m->cells[c + 1].first_edge < m->cells[c].first_edge + 3) {
            return wrong(why, "cell %u has fewer than three edges", c);
        }
        if (m->cells[c + 1].first_face <= m->cells[c].first_face) {
            return wrong(why, "cell %u has no face", c);
        }
    }
    for (uint32_t f = 0; f < m->face_count; f++) {
        if (m->faces[f + 1].first_corner < m->faces[f].first_corner + 3 ||
            (m->face_tris && m->face_tris[f + 1] < m->face_tris[f])) {
            return wrong(why, "face %u has fewer than three corners or its triangles are out of order", f);
        }
        if (nav__face_polygon(m, f) >= m->polygon_count ||
            (f > 0 && f < m->sorted_face_count && nav__face_polygon(m, f) < nav__face_polygon(m, f - 1))) {
            return wrong(why, "face %u is out of order", f);
        }
    }
    return true;
}

static bool check_edges(const nav_mesh *m, char why[256])
{
    for (uint32_t c = 0; c < m->cell_count; c++) {
        for (uint32_t e = m->cells[c].first_edge; !nav__cell_is_gone(m, c) && e < m->cells[c + 1].first_edge; e++) {
            uint32_t v = m->edges[e].vertex & NAV__VERTEX, t = m->edges[e].twin;
            if (nav__edge_cell(m, e) != c) {
                return wrong(why, "edge %u: edge_cell", e);
            }
            if (v >= m->vertex_count || m->vertex_edge[v] >= m->edge_count ||
                m->edges[m->vertex_edge[v]].x != m->edges[e].x || m->edges[m->vertex_edge[v]].z != m->edges[e].z) {
                return wrong(why, "edge %u is not where its vertex %u is", e, v);
            }
            if (t == NAV_NONE) {
                continue;
            }
            if (t >= m->edge_count || m->edges[t].twin != e || nav__edge_cell(m, t) == c) {
                return wrong(why, "edge %u: twin %u", e, t);
            }
            nav__p2 a = edge_at(m, e), b = edge_at(m, nav__edge_next(m, e));
            nav__p2 p = edge_at(m, t), q = edge_at(m, nav__edge_next(m, t));
            if (a.x != q.x || a.z != q.z || b.x != p.x || b.z != p.z) {
                return wrong(why, "edge %u and its twin %u have other ends", e, t);
            }
            if ((m->edges[e].vertex & NAV__VERTEX) != (m->edges[nav__edge_next(m, t)].vertex & NAV__VERTEX)) {
                return wrong(why, "edge %u: the fan changes its vertex", e);
            }
            const nav__cell *d = &m->cells[nav__edge_cell(m, t)];
            if (nav__cell_is_gone(m, nav__edge_cell(m, t))) {
                return wrong(why, "edge %u leads to a cell that is gone", e);
            }
            if (d->island != m->cells[c].island) {
                return wrong(why, "edge %u leads to another island", e);
            }
        }
    }
    return true;
}

static bool check_fan(const nav_mesh *m, uint32_t v, uint32_t edges_of_vertex, char why[256])
{
    uint32_t first = m->vertex_edge[v], count = 0;
    bool flag = m->edges[first].vertex & NAV__CORNER, open = m->edges[first].twin == NAV_NONE;
    double angle = 0;
    uint32_t e = first;
    do {
        if ((m->edges[e].vertex & NAV__VERTEX) != v || (bool)(m->edges[e].vertex & NAV__CORNER) != flag) {
            return wrong(why, "vertex %u: edge %u of its fan says otherwise", v, e);
        }
        nav__p2 o = edge_at(m, e), d = nav__sub(edge_at(m, nav__edge_next(m, e)), o);
        nav__p2 p = nav__sub(edge_at(m, nav__edge_prev(m, e)), o);
        angle += atan2(nav__cross(d, p) + 0.0, nav__dot(d, p)); // + 0.0: a straight angle is +180 degrees
        count++;
        e = m->edges[nav__edge_prev(m, e)].twin;
    } while (e != NAV_NONE && e != first);
    if (count != edges_of_vertex) {
        return wrong(why, "vertex %u: its fan has %u edges of %u", v, count, edges_of_vertex);
    }
    if (open != (e == NAV_NONE)) {
        return wrong(why, "vertex %u: vertex_edge is not the most clockwise", v);
    }
    double slack = 1e-9;
    if ((flag && (!open || angle < PI - slack)) || (!flag && open && angle > PI + slack)) {
        return wrong(why, "vertex %u: corner flag %d, angle %.17g", v, flag, angle);
    }
    return true;
}

static bool check_vertices(const nav_mesh *m, char why[256])
{
    uint32_t *uses = calloc(m->vertex_count, sizeof *uses);
    for (uint32_t e = 0; e < m->edge_count; e++) {
        uses[m->edges[e].vertex & NAV__VERTEX] += !nav__cell_is_gone(m, nav__edge_cell(m, e));
    }
    bool good = true;
    for (uint32_t v = 0; good && v < m->vertex_count; v++) {
        if (uses[v] == 0 && m->face_pieces &&
            (m->edges[m->vertex_edge[v]].vertex & ~NAV__DEAD_END) != (v | NAV__CORNER)) {
            continue; // free, and nobody takes it for a corner
        }
        good = m->vertex_edge[v] < m->edge_count ? check_fan(m, v, uses[v], why) : wrong(why, "vertex_edge of %u", v);
    }
    free(uses);
    return good;
}

static bool check_shapes(const nav_mesh *m, char why[256])
{
    nav__p2 *at = malloc(((size_t)m->edge_count + m->corner_count) * sizeof *at);
    bool good = true;
    for (uint32_t c = 0; good && c < m->cell_count; c++) {
        uint32_t n = load_cell(m, c, at);
        if (nav__cell_is_gone(m, c)) {
            continue;
        }
        if (!is_convex(at, n)) {
            good = wrong(why, "cell %u is not convex", c);
        } else if (m->cells[c].island >= m->island_count) {
            good = wrong(why, "cell %u: island %u of %u", c, m->cells[c].island, m->island_count);
        }
    }
    for (uint32_t f = 0; good && f < m->face_count; f++) {
        uint32_t n = load_face(m, f, at);
        if (nav__face_is_gone(m, f)) {
            continue;
        }
        if (!is_convex(at, n)) {
            good = wrong(why, "face %u is not convex", f);
        } else if (m->faces[f].cell >= m->cell_count) {
            good = wrong(why, "face %u: cell %u", f, m->faces[f].cell);
        }
    }
    free(at);
    return good;
}

/// Each island's cells have its faces' area; a seam may have moved their sides by `moved`.
static bool check_areas(const nav_mesh *m, double moved, char why[256])
{
    nav__p2 *at = malloc(((size_t)m->edge_count + m->corner_count) * sizeof *at);
    double *areas = calloc(3 * (size_t)m->island_count, sizeof *areas); // of cells, of faces; length of outlines
    bool good = true;
    for (uint32_t c = 0; c < m->cell_count; c++) {
        if (!nav__cell_is_gone(m, c)) {
            areas[m->cells[c].island] += area_of(at, load_cell(m, c, at));
        }
    }
    for (uint32_t f = 0; f < m->face_count; f++) {
        if (nav__face_is_gone(m, f)) {
            continue;
        }
        uint32_t n = load_face(m, f, at), island = m->cells[m->faces[f].cell].island;
        areas[m->island_count + island] += area_of(at, n);
        for (uint32_t i = 0; i < n; i++) {
            areas[2 * m->island_count + island] += nav__dist(at[i], at[(i + 1) % n]);
        }
    }
    for (uint32_t i = 0; good && i < m->island_count; i++) {
        double cells = areas[i], faces = areas[m->island_count + i], around = areas[2 * m->island_count + i];
        if (fabs(cells - faces) > 1e-9 * faces + moved * around) {
            good = wrong(why, "island %u: area of cells %.9g, of faces %.9g", i, cells, faces);
        } else if (!m->loose_islands && fabs(cells - m->island_area[i]) > 1e-6 * cells) {
            good = wrong(why, "island %u: island_area", i);
        }
    }
    free(areas);
    free(at);
    return good;
}

/// What a cell notes of its faces' heights.
static bool check_heights(const nav_mesh *m, char why[256])
{
    for (uint32_t c = 0; c < m->cell_count; c++) {
        const nav__cell *cell = &m->cells[c];
        if (nav__cell_is_gone(m, c)) {
            continue;
        }
        float low = INFINITY, high = -INFINITY;
        for (uint32_t i = cell->first_face; i < cell[1].first_face; i++) {
            const nav__face *f = &m->faces[m->cell_faces[i]];
            for (uint32_t k = f->first_corner; k < f[1].first_corner; k++) {
                low = fminf(low, m->points[3 * (size_t)m->face_corners[k] + 1]);
                high = fmaxf(high, m->points[3 * (size_t)m->face_corners[k] + 1]);
            }
            uint32_t first_tri, end_tri = nav__face_tris(m, m->cell_faces[i], &first_tri);
            for (uint32_t t = 3 * first_tri; t < 3 * end_tri; t++) {
                low = fminf(low, m->points[3 * (size_t)m->tris[t] + 1]);
                high = fmaxf(high, m->points[3 * (size_t)m->tris[t] + 1]);
            }
            if (f->cell != c && (!cell->shares_face || !m->cells[f->cell].shares_face)) {
                return wrong(why, "cell %u shares a face with cell %u and does not say so", c, f->cell);
            }
        }
        if (cell->level != (low == high) || cell->low_y != nav__height_index(m, (double)low) ||
            cell->high_y != nav__height_index(m, (double)high)) {
            return wrong(why, "cell %u has wrong heights", c);
        }
    }
    return true;
}

static bool check_face_lists(const nav_mesh *m, char why[256])
{
    bool *listed = calloc(m->face_count, sizeof *listed);
    bool good = true;
    for (uint32_t c = 0; good && c < m->cell_count; c++) {
        uint32_t first = m->cells[c].first_face, end = nav__cell_is_gone(m, c) ? first : m->cells[c + 1].first_face;
        for (uint32_t i = first; good && i < end; i++) {
            uint32_t f = m->cell_faces[i];
            if (f >= m->face_count) {
                good = wrong(why, "cell %u lists face %u", c, f);
                break;
            }
            listed[f] = listed[f] || m->faces[f].cell == c;
            for (uint32_t j = m->cells[c].first_face; j < i; j++) {
                if (m->cell_faces[j] == f) {
                    good = wrong(why, "cell %u lists face %u twice", c, f);
                }
            }
        }
    }
    for (uint32_t f = 0; good && f < m->face_count; f++) {
        good = listed[f] || nav__face_is_gone(m, f) ? true : wrong(why, "face %u is not listed by its cell", f);
    }
    for (uint32_t t = 0; good && t < m->tri_count && !m->face_pieces; t++) {
        const uint32_t *p = &m->tris[3 * (size_t)t];
        if (p[0] >= m->point_count || p[1] >= m->point_count || p[2] >= m->point_count ||
            nav__orient(point_at(m, p[0]), point_at(m, p[1]), point_at(m, p[2])) <= 0) {
            good = wrong(why, "detail triangle %u", t);
        }
    }
    free(listed);
    return good;
}

static bool grid_lists(const nav_mesh *m, uint32_t face, nav__p2 p)
{
    uint32_t i = nav__grid_index(p.x, m->grid_x, m->grid_inverse, m->grid_nx);
    uint32_t j = nav__grid_index(p.z, m->grid_z, m->grid_inverse, m->grid_nz);
    size_t cell = (size_t)j * m->grid_nx + i;
    for (uint32_t k = m->grid_cells[cell].first; k < m->grid_cells[cell].end; k++) {
        if (m->grid_faces[k] == face) {
            return true;
        }
    }
    return false;
}

/// Every face is found at points spread over it, its edges and corners among them.
static bool check_grid(const nav_mesh *m, char why[256])
{
    nav__p2 *at = malloc((size_t)m->corner_count * sizeof *at);
    bool good = true;
    for (uint32_t f = 0; good && f < m->face_count; f++) {
        uint32_t n = nav__face_is_gone(m, f) ? 0 : load_face(m, f, at);
        for (uint32_t i = 0; good && i < n; i++) {
            for (uint32_t step = 0; good && step <= 16; step++) {
                double t = step / 16.0;
                nav__p2 a = at[i], b = at[(i + 1) % n], c = at[(i + n / 2) % n];
                nav__p2 edge = {a.x + t * (b.x - a.x), a.z + t * (b.z - a.z)};
                nav__p2 chord = {a.x + t * (c.x - a.x), a.z + t * (c.z - a.z)};
                if (!grid_lists(m, f, edge) || !grid_lists(m, f, chord)) {
                    good = wrong(why, "face %u is missing in the grid near %.9g, %.9g", f, edge.x, edge.z);
                }
            }
        }
    }
    free(at);
    return good;
}

/// Blocks are numbered so that those that hang on one follow it, each hangs on one cell alone, and no link
/// begins or ends in one that hangs on anything.
static bool check_blocks(const nav_mesh *m, char why[256])
{
    uint32_t count = m->cell_count + 2;
    uint32_t *stem = malloc(count * sizeof *stem), *last = calloc(count, sizeof *last);
    uint32_t *links = calloc(count, sizeof *links);
    bool good = true;
    memset(stem, 0xFF, count * sizeof *stem);
    for (uint32_t c = 0; good && c < m->cell_count; c++) {
        const nav__cell *cell = &m->cells[c];
        if (cell->tree_first == 0 || cell->tree_last < cell->tree_first || cell->tree_last > m->cell_count ||
            (last[cell->tree_first] > 0 && last[cell->tree_first] != cell->tree_last)) {
            good = wrong(why, "cell %u: blocks %u .. %u", c, cell->tree_first, cell->tree_last);
            break;
        }
        last[cell->tree_first] = cell->tree_last;
        links[cell->tree_first + 1] += cell->link_end;
    }
    for (uint32_t k = 1; k < count; k++) {
        links[k] += links[k - 1];
    }
    for (uint32_t e = 0; good && e < m->edge_count; e++) {
        uint32_t from = nav__edge_cell(m, e), into = m->edges[e].twin;
        bool hangs = into != NAV_NONE && nav__hangs_on(m, from, nav__edge_cell(m, into));
        if (hangs != ((m->edges[e].vertex & NAV__DEAD_END) != 0)) {
            good = wrong(why, "edge %u is wrong about a dead end", e);
        }
        if (!good || !hangs) {
            continue;
        }
        const nav__cell *stem_cell = &m->cells[from], *cell = &m->cells[nav__edge_cell(m, into)];
        if (stem[cell->tree_first] != NAV_NONE && stem[cell->tree_first] != from) {
            good = wrong(why, "block %u hangs on cells %u and %u", cell->tree_first, stem[cell->tree_first], from);
        } else if (cell->tree_first > stem_cell->tree_last || cell->tree_last > stem_cell->tree_last) {
            good = wrong(why, "cell %u and what hangs on it are out of order", from);
        } else if (links[cell->tree_last + 1] != links[cell->tree_first]) {
            good = wrong(why, "cell %u: a link's end in a dead end", from);
        }
        stem[cell->tree_first] = from;
    }
    free(stem);
    free(last);
    free(links);
    return good;
}

/// A cell with one neighbour is a dead end, unless the numbers begin with it or a link touches it.
static bool check_leaves(const nav_mesh *m, char why[256])
{
    for (uint32_t c = 0; c < m->cell_count; c++) {
        uint32_t neighbour = NAV_NONE;
        bool leaf = !m->cells[c].link_end;
        for (uint32_t e = m->cells[c].first_edge; leaf && e < m->cells[c + 1].first_edge; e++) {
            if (m->edges[e].twin != NAV_NONE) {
                uint32_t other = nav__edge_cell(m, m->edges[e].twin);
                leaf = neighbour == NAV_NONE || neighbour == other;
                neighbour = other;
            }
        }
        if (leaf && neighbour != NAV_NONE && !nav__hangs_on(m, neighbour, c) && !nav__hangs_on(m, c, neighbour)) {
            return wrong(why, "cell %u has one neighbour and is no dead end", c);
        }
    }
    return true;
}

static bool check_islands(const nav_mesh *m, char why[256])
{
    // Two cells of one island must hang together: count the pieces by flooding.
    uint32_t *stack = malloc((size_t)m->cell_count * sizeof *stack), pieces = 0;
    bool *seen = calloc(m->cell_count, sizeof *seen);
    for (uint32_t c = 0; c < m->cell_count; c++) {
        uint32_t count = 0;
        if (!seen[c]) {
            pieces++;
            seen[c] = true;
            stack[count++] = c;
        }
        while (count > 0) {
            uint32_t d = stack[--count];
            for (uint32_t e = m->cells[d].first_edge; e < m->cells[d + 1].first_edge; e++) {
                uint32_t t = m->edges[e].twin;
                if (t != NAV_NONE && !seen[nav__edge_cell(m, t)]) {
                    seen[nav__edge_cell(m, t)] = true;
                    stack[count++] = nav__edge_cell(m, t);
                }
            }
        }
    }
    free(stack);
    free(seen);
    return pieces == m->island_count ? true : wrong(why, "%u islands, %u pieces", m->island_count, pieces);
}

bool mesh_check_structure(const nav_mesh *m, char why[256])
{
    why[0] = '\0';
    return check_starts(m, why) && check_edges(m, why) && check_vertices(m, why) && check_shapes(m, why) &&
           check_face_lists(m, why) && check_heights(m, why) && check_grid(m, why) && check_blocks(m, why) &&
           check_leaves(m, why) && check_islands(m, why);
}

/// Gone faces must not be found any more.
static bool check_listed(const nav_mesh *m, char why[256])
{
    for (size_t g = 0; g < (size_t)m->grid_nx * m->grid_nz; g++) {
        for (uint32_t k = m->grid_cells[g].first; k < m->grid_cells[g].end; k++) {
            if (m->grid_faces[k] >= m->face_count || nav__face_is_gone(m, m->grid_faces[k])) {
                return wrong(why, "grid cell %zu lists face %u, which is gone", g, m->grid_faces[k]);
            }
        }
    }
    return true;
}

bool mesh_check_edited(const nav_mesh *m, double moved, char why[256])
{
    why[0] = '\0';
    return check_starts(m, why) && check_edges(m, why) && check_vertices(m, why) && check_shapes(m, why) &&
           check_face_lists(m, why) && check_heights(m, why) && check_grid(m, why) && check_listed(m, why) &&
           check_areas(m, moved, why);
}

bool mesh_check(const nav_mesh *m, double moved, char why[256])
{
    return mesh_check_structure(m, why) && check_areas(m, moved, why);
}
