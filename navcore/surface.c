/// What a single face or cell says about a ground position: does it hold it, how far is it, how high is
/// it there. Knows nothing of snapping or floors (locate.c).
#include "scratch.h"
#include "surface.h"

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

bool nav__face_misses(const nav_mesh *m, uint32_t face, nav__p2 p, double slack)
{
    uint32_t first = m->faces[face].first_corner, end = m->faces[face + 1].first_corner;
    nav__p2 a = nav__face_corner(m, end - 1);
    for (uint32_t k = first; k < end; k++) {
        nav__p2 b = nav__face_corner(m, k);
        double side = nav__orient(a, b, p);
        if (side < 0) {
            nav__p2 ab = nav__sub(b, a);
            if (side * side > slack * slack * nav__dot(ab, ab)) {
                return true;
            }
        }
        a = b;
    }
    return false;
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

double nav__face_closest(const nav_mesh *m, uint32_t face, nav__p2 p, nav__p2 *closest)
{
    uint32_t first = m->faces[face].first_corner, end = m->faces[face + 1].first_corner;
    double best = INFINITY;
    nav__p2 a = nav__face_corner(m, end - 1);
    for (uint32_t k = first; k < end; k++) {
        nav__p2 b = nav__face_corner(m, k);
        // The nearest point of a convex outline lies on an edge that p is outside of.
        if (nav__orient(a, b, p) < 0) {
            // Always from the lesser end, so that the faces on both sides find the same point.
            bool forward = a.x < b.x || (a.x == b.x && a.z < b.z);
            nav__p2 from = forward ? a : b, to = forward ? b : a;
            nav__p2 at = between(from, to, nearest_on_segment(from, to, p));
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

static uint32_t triangle_count(const nav_mesh *m, uint32_t face)
{
    const nav__face *f = &m->faces[face];
    uint32_t detail = f[1].first_tri - f->first_tri;
    return detail ? detail : f[1].first_corner - f->first_corner - 2;
}

/// Triangle k of the face: of its detail where it has some, else of the fan round its first corner.
static void triangle(const nav_mesh *m, uint32_t face, uint32_t k, const float *corner[3])
{
    const nav__face *f = &m->faces[face];
    uint32_t v[3];
    if (f[1].first_tri > f->first_tri) {
        const uint32_t *tri = m->tris + 3 * ((size_t)f->first_tri + k);
        v[0] = tri[0], v[1] = tri[1], v[2] = tri[2];
    } else {
        const uint32_t *corners = m->face_corners + f->first_corner;
        v[0] = corners[0], v[1] = corners[k + 1], v[2] = corners[k + 2];
    }
    for (int i = 0; i < 3; i++) {
        corner[i] = m->points + 3 * (size_t)v[i];
    }
}

static nav__p2 ground_of(const float *v) { return (nav__p2){(double)v[0], (double)v[2]}; }

static double clamp(double v, double a, double b)
{
    double low = a < b ? a : b, high = a < b ? b : a;
    return v < low ? low : v > high ? high : v;
}

/// Height of a triangle at p, by barycentric coordinates.
/// @return false when p lies beside it, or it has no ground area
static bool height_in_triangle(const float *const corner[3], nav__p2 p, double *height)
{
    nav__p2 a = ground_of(corner[0]), b = ground_of(corner[1]), c = ground_of(corner[2]);
    double wc = nav__cross(nav__sub(b, a), nav__sub(p, a));
    double wa = nav__cross(nav__sub(c, b), nav__sub(p, b));
    double wb = nav__cross(nav__sub(a, c), nav__sub(p, c));
    double sum = wa + wb + wc;
    if (wa < 0 || wb < 0 || wc < 0 || !(sum > 0)) {
        return false;
    }
    double ya = (double)corner[0][1], yb = (double)corner[1][1], yc = (double)corner[2][1];
    double y = ya + (wb * (yb - ya) + wc * (yc - ya)) / sum;
    double low = ya < yb ? ya : yb, high = ya < yb ? yb : ya;
    *height = clamp(y, low < yc ? low : yc, high > yc ? high : yc);
    return true;
}

/// Height where the edges of the face's triangles come nearest to p.
static double height_on_edges(const nav_mesh *m, uint32_t face, nav__p2 p)
{
    double best = INFINITY, height = 0;
    uint32_t count = triangle_count(m, face);
    for (uint32_t k = 0; k < count; k++) {
        const float *corner[3];
        triangle(m, face, k, corner);
        for (int i = 0; i < 3; i++) {
            const float *from = corner[i], *to = corner[(i + 1) % 3];
            nav__p2 a = ground_of(from), b = ground_of(to);
            double t = nearest_on_segment(a, b, p), d = distance2(p, between(a, b, t));
            if (d < best) {
                best = d;
                height = (double)from[1] + t * ((double)to[1] - (double)from[1]);
            }
        }
    }
    return height;
}

double nav__face_height(const nav_mesh *m, uint32_t face, nav__p2 p)
{
    uint32_t count = triangle_count(m, face);
    for (uint32_t k = 0; k < count; k++) {
        const float *corner[3];
        double height;
        triangle(m, face, k, corner);
        if (height_in_triangle(corner, p, &height)) {
            return height;
        }
    }
    return height_on_edges(m, face, p);
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
    // The pieces of a cut cell lie side by side. A mesh without cuts need not be asked.
    bool cut = m->cell_face_count > m->face_count;
    for (uint32_t at = 0; cut && at < count; at++) {
        for (uint32_t e = m->cells[cells[at]].first_edge; e < m->cells[cells[at] + 1].first_edge; e++) {
            uint32_t twin = m->edges[e].twin, next = twin == NAV_NONE ? NAV_NONE : m->edge_cell[twin];
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
    if (m->cell_face_count == m->face_count || nav__cell_holds(m, first, p)) {
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

/// Below so many faces a cell's list is looked through at once; above, the grid goes first.
enum { SHORT_LIST = 4 };

/// A face of the cell that holds p, by the grid; NAV_NONE when none does.
static uint32_t face_by_grid(const nav_mesh *m, uint32_t cell, nav__p2 p)
{
    nav__grid_span span;
    if (!nav__grid_cover(m, p, p, &span)) {
        return NAV_NONE;
    }
    size_t g = (size_t)span.j0 * m->grid_nx + span.i0;
    for (uint32_t k = m->grid_first[g]; k < m->grid_first[g + 1]; k++) {
        uint32_t face = m->grid_faces[k];
        if (m->faces[face].cell == cell && nav__face_holds(m, face, p)) {
            return face;
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
        double d = nav__face_closest(m, m->cell_faces[k], p, &at);
        if (d < best) {
            best = d;
            best_face = m->cell_faces[k];
        }
    }
    return best_face;
}

double nav__cell_height(const nav_mesh *m, uint32_t cell, nav__p2 p, uint32_t *face)
{
    uint32_t count = m->cells[cell + 1].first_face - m->cells[cell].first_face;
    uint32_t found = count > SHORT_LIST ? face_by_grid(m, cell, p) : NAV_NONE;
    if (found == NAV_NONE) {
        found = count == 1 ? m->cell_faces[m->cells[cell].first_face] : nearest_face(m, cell, p);
    }
    if (face) {
        *face = found;
    }
    return nav__face_height(m, found, p);
}
