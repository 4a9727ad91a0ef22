/// What a single face or cell says about a ground position: does it hold it, how far is it, how high is
/// it there. Knows nothing of snapping or floors (locate.c).
#include "surface.h"
#include "scratch.h"

// ---- the grid --------------------------------------------------------------------------------------

bool nav__grid_cover(const nav_mesh *m, nav__p2 low, nav__p2 high, nav__grid_span *span)
{
    if (!(low.x <= (double)m->max[0] && high.x >= (double)m->min[0] && low.z <= (double)m->max[2] &&
          high.z >= (double)m->min[2])) {
        return false;
    }
    span->i0 = nav__grid_index(low.x, m->grid_x, m->grid_inverse, m->grid_nx);
    span->i1 = nav__grid_index(high.x, m->grid_x, m->grid_inverse, m->grid_nx);
    span->j0 = nav__grid_index(low.z, m->grid_z, m->grid_inverse, m->grid_nz);
    span->j1 = nav__grid_index(high.z, m->grid_z, m->grid_inverse, m->grid_nz);
    return true;
}

// ---- outlines --------------------------------------------------------------------------------------

bool nav__face_holds(const nav_mesh *m, uint32_t face, nav__p2 p)
{
    uint32_t first = m->faces[face].first_corner, end = m->faces[face + 1].first_corner;
    nav__p2 a = nav__face_corner(m, end - 1);
    for (uint32_t k = first; k < end; k++) {
        nav__p2 b = nav__face_corner(m, k);
        if (nav__orient(a, b, p) < 0) {
            return false;
        }
        a = b;
    }
    return true;
}

/// Where from a (0) to b (1) the segment comes nearest to p.
static double nearest_on_segment(nav__p2 a, nav__p2 b, nav__p2 p)
{
    nav__p2 ab = nav__sub(b, a);
    double along = nav__dot(nav__sub(p, a), ab), all = nav__dot(ab, ab);
    return along <= 0 ? 0 : along >= all ? 1 : along / all;
}

static nav__p2 between(nav__p2 a, nav__p2 b, double t)
{
    return t == 1 ? b : (nav__p2){a.x + t * (b.x - a.x), a.z + t * (b.z - a.z)};
}

static double distance2(nav__p2 a, nav__p2 b)
{
    nav__p2 d = nav__sub(a, b);
    return nav__dot(d, d);
}

/// Always from the lesser end, so that the faces on both sides of an edge find the same point.
static nav__p2 closest_on_edge(nav__p2 a, nav__p2 b, nav__p2 p)
{
    bool forward = a.x < b.x || (a.x == b.x && a.z < b.z);
    nav__p2 from = forward ? a : b, to = forward ? b : a;
    return between(from, to, nearest_on_segment(from, to, p));
}

double nav__outline_closest(const nav_mesh *m, uint32_t face, nav__p2 p, double reach2, nav__p2 *closest)
{
    uint32_t first = m->faces[face].first_corner, end = m->faces[face + 1].first_corner;
    double best = INFINITY;
    nav__p2 a = nav__face_corner(m, end - 1);
    for (uint32_t k = first; k < end; k++) {
        nav__p2 b = nav__face_corner(m, k);
        double side = nav__orient(a, b, p);
        // The nearest point of a convex outline lies on an edge that p is outside of.
        if (side < 0) {
            nav__p2 ab = nav__sub(b, a);
            if (side * side > reach2 * nav__dot(ab, ab)) {
                return INFINITY;
            }
            nav__p2 at = closest_on_edge(a, b, p);
            double d = distance2(p, at);
            if (d < best) {
                best = d;
                *closest = at;
            }
        }
        a = b;
    }
    if (best == INFINITY) {
        *closest = p;
        return 0;
    }
    return best;
}

// ---- heights ---------------------------------------------------------------------------------------

static const float *point(const nav_mesh *m, uint32_t number)
{
    return m->points + 3 * (size_t)number;
}

static nav__p2 ground_of(const float *v)
{
    return (nav__p2){(double)v[0], (double)v[2]};
}

/// A triangle holds what lies beside it by less than this part of its size: such is rounding.
static const double BESIDE = 1e-9;

/// Height of a triangle at p, by barycentric coordinates.
/// @return false when p lies beside it, or it has no ground area
static inline bool height_in_triangle(const float *a, const float *b, const float *c, nav__p2 p, double *height)
{
    nav__p2 o = ground_of(a), ab = nav__sub(ground_of(b), o), ac = nav__sub(ground_of(c), o), ap = nav__sub(p, o);
    double all = nav__cross(ab, ac), least = -BESIDE * all;
    double wb = nav__cross(ap, ac), wc = nav__cross(ab, ap), wa = all - wb - wc;
    double worst = wb < wc ? wb : wc;
    worst = wa < worst ? wa : worst; // for one branch, see nav__meets_window
    if (worst < least || !(all > 0)) {
        return false;
    }
    double ya = (double)a[1], yb = (double)b[1], yc = (double)c[1];
    double y = ya + (wb * (yb - ya) + wc * (yc - ya)) / all;
    double low = ya < yb ? ya : yb, high = ya < yb ? yb : ya;
    low = low < yc ? low : yc;
    high = high > yc ? high : yc;
    *height = y < low ? low : y > high ? high : y;
    return true;
}

/// In the fan round corner 0: the triangle whose far side p has not passed.
static bool height_in_fan(const nav_mesh *m, const nav__face *f, nav__p2 p, double *height)
{
    const uint32_t *corners = m->face_corners + f->first_corner;
    uint32_t last = f[1].first_corner - f->first_corner - 1, k = 2;
    const float *top = point(m, corners[0]);
    nav__p2 o = ground_of(top), op = nav__sub(p, o);
    while (k < last && nav__cross(nav__sub(ground_of(point(m, corners[k])), o), op) > 0) {
        k++;
    }
    return height_in_triangle(top, point(m, corners[k - 1]), point(m, corners[k]), p, height);
}

static bool height_in_detail(const nav_mesh *m, uint32_t first, uint32_t end, nav__p2 p, double *height)
{
    for (uint32_t t = first; t < end; t++) {
        const uint32_t *tri = m->tris + 3 * (size_t)t;
        if (height_in_triangle(point(m, tri[0]), point(m, tri[1]), point(m, tri[2]), p, height)) {
            return true;
        }
    }
    return false;
}

/// The edge nearest to p so far, and the height there.
typedef struct nearest_edge {
    double distance2, height;
} nearest_edge;

static void try_edge(nearest_edge *best, const float *from, const float *to, nav__p2 p)
{
    nav__p2 a = ground_of(from), b = ground_of(to), ab = nav__sub(b, a);
    double side = nav__cross(ab, nav__sub(p, a));
    if (side * side > best->distance2 * nav__dot(ab, ab) * (1 + 1e-9)) {
        return; // the edge's line is further away
    }
    double t = nearest_on_segment(a, b, p), d = distance2(p, between(a, b, t));
    if (d < best->distance2) {
        *best = (nearest_edge){d, (double)from[1] + t * ((double)to[1] - (double)from[1])};
    }
}

/// Height where the edges of the face, or of its detail, come nearest to p.
static double height_on_edges(const nav_mesh *m, const nav__face *f, uint32_t first_tri, uint32_t end_tri, nav__p2 p)
{
    nearest_edge best = {INFINITY, 0};
    for (uint32_t t = first_tri; t < end_tri; t++) {
        const uint32_t *tri = m->tris + 3 * (size_t)t;
        for (int i = 0; i < 3; i++) {
            try_edge(&best, point(m, tri[i]), point(m, tri[(i + 1) % 3]), p);
        }
    }
    uint32_t first = f->first_corner, end = f[1].first_corner;
    for (uint32_t k = first; k < end && first_tri == end_tri; k++) {
        try_edge(&best, point(m, m->face_corners[k]), point(m, m->face_corners[k + 1 < end ? k + 1 : first]), p);
    }
    return best.height;
}

double nav__face_height(const nav_mesh *m, uint32_t face, nav__p2 p)
{
    const nav__face *f = &m->faces[face];
    double height;
    if (m->cells[f->cell].level) {
        return (double)point(m, m->face_corners[f->first_corner])[1] + 0.0; // no height is a negative zero
    }
    uint32_t first, end = nav__face_tris(m, face, &first);
    bool over = end > first ? height_in_detail(m, first, end, p, &height) : height_in_fan(m, f, p, &height);
    return over ? height : height_on_edges(m, f, first, end, p);
}

// ---- cells -----------------------------------------------------------------------------------------

bool nav__cell_holds(const nav_mesh *m, uint32_t cell, nav__p2 p)
{
    uint32_t first = m->cells[cell].first_edge, end = m->cells[cell + 1].first_edge;
    nav__p2 a = nav__edge_from(m, end - 1);
    for (uint32_t e = first; e < end; e++) {
        nav__p2 b = nav__edge_from(m, e);
        if (nav__orient(a, b, p) < 0) {
            return false;
        }
        a = b;
    }
    return true;
}

static bool lists_face(const nav_mesh *m, uint32_t cell, uint32_t face)
{
    for (uint32_t k = m->cells[cell].first_face; k < m->cells[cell + 1].first_face; k++) {
        if (m->cell_faces[k] == face) {
            return true;
        }
    }
    return false;
}

uint32_t nav__face_cells(const nav_mesh *m, uint32_t face, uint32_t cells[NAV__FACE_CELLS])
{
    uint32_t count = 1;
    cells[0] = m->faces[face].cell;
    // The pieces of a cut cell lie side by side. A cell that was not cut need not be asked.
    bool cut = m->cells[cells[0]].shares_face;
    for (uint32_t at = 0; cut && at < count; at++) {
        for (uint32_t e = m->cells[cells[at]].first_edge; e < m->cells[cells[at] + 1].first_edge; e++) {
            uint32_t twin = m->edges[e].twin, next = twin == NAV_NONE ? NAV_NONE : nav__edge_cell(m, twin);
            bool known = next == NAV_NONE || count == NAV__FACE_CELLS || !lists_face(m, next, face);
            for (uint32_t i = 0; i < count && !known; i++) {
                known = cells[i] == next;
            }
            if (!known) {
                cells[count++] = next;
            }
        }
    }
    return count;
}

/// How far p lies outside of the cell's edges; 0 when the cell holds it.
static double outside_by(const nav_mesh *m, uint32_t cell, nav__p2 p)
{
    uint32_t first = m->cells[cell].first_edge, end = m->cells[cell + 1].first_edge;
    double most = 0;
    nav__p2 a = nav__edge_from(m, end - 1);
    for (uint32_t e = first; e < end; e++) {
        nav__p2 b = nav__edge_from(m, e);
        double side = nav__orient(a, b, p);
        if (side < 0) {
            most = fmax(most, -side / nav__dist(a, b));
        }
        a = b;
    }
    return most;
}

uint32_t nav__face_cell_at(const nav_mesh *m, uint32_t face, nav__p2 p)
{
    uint32_t first = m->faces[face].cell;
    if (!m->cells[first].shares_face || nav__cell_holds(m, first, p)) {
        return first;
    }
    uint32_t cells[NAV__FACE_CELLS], count = nav__face_cells(m, face, cells), best = first;
    double least = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        double outside = outside_by(m, cells[i], p);
        if (outside < least) {
            least = outside;
            best = cells[i];
        }
    }
    return best;
}

/// Up to so many faces a cell's own list is looked through; of more, those that the grid lists at p.
enum { SHORT_LIST = 8 };

/// A face of the cell that holds p, within rounding; NAV_NONE when there is none.
static uint32_t face_holding(const nav_mesh *m, uint32_t cell, nav__p2 p)
{
    uint32_t first = m->cells[cell].first_face, end = m->cells[cell + 1].first_face;
    const uint32_t *list = m->cell_faces;
    bool own = end - first <= SHORT_LIST;
    if (!own) {
        nav__grid_span span;
        if (!nav__grid_cover(m, p, p, &span)) {
            return NAV_NONE;
        }
        nav__grid_cell here = m->grid_cells[(size_t)span.j0 * m->grid_nx + span.i0];
        first = here.first;
        end = here.end;
        list = m->grid_faces;
    }
    nav__window window = nav__window_of(m, p, p);
    double slack2 = m->rounding * m->rounding;
    for (uint32_t k = first; k < end; k++) {
        nav__p2 at;
        if (nav__meets_window(m, list[k], &window) && (own || m->faces[list[k]].cell == cell) &&
            nav__face_closest(m, list[k], p, slack2, &at) <= slack2) {
            return list[k];
        }
    }
    return NAV_NONE;
}

/// The cell's face nearest to p on the ground.
static uint32_t nearest_face(const nav_mesh *m, uint32_t cell, nav__p2 p)
{
    uint32_t first = m->cells[cell].first_face, end = m->cells[cell + 1].first_face;
    uint32_t best_face = m->cell_faces[first];
    double best = INFINITY;
    for (uint32_t k = first; k < end && best > 0; k++) {
        nav__p2 at;
        double d = nav__face_closest(m, m->cell_faces[k], p, best, &at);
        if (d < best) {
            best = d;
            best_face = m->cell_faces[k];
        }
    }
    return best_face;
}

double nav__cell_height(const nav_mesh *m, uint32_t cell, nav__p2 p, uint32_t *face)
{
    if (m->cells[cell].level && !face) {
        return (double)nav__cell_level(m, cell) + 0.0;
    }
    uint32_t first = m->cells[cell].first_face, count = m->cells[cell + 1].first_face - first;
    uint32_t found = count == 1 ? m->cell_faces[first] : face_holding(m, cell, p);
    if (found == NAV_NONE) {
        found = nearest_face(m, cell, p);
    }
    if (face) {
        *face = found;
    }
    return nav__face_height(m, found, p);
}
