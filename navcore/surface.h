/// Private: the surface near a ground position: which face, how far, how high.
#ifndef NAV_SURFACE_H
#define NAV_SURFACE_H

#include "geom.h"
#include "layout.h"

/// Cells of the grid, both ends included.
typedef struct nav__grid_span {
    uint32_t i0, i1; ///< along x
    uint32_t j0, j1; ///< along z
} nav__grid_span;

/// The cells that list every face whose bounds meet the rectangle from `low` to `high` (which may be of any size).
/// @return false when the rectangle lies beside the mesh's bounds
bool nav__grid_cover(const nav_mesh *m, nav__p2 low, nav__p2 high, nav__grid_span *span);

/// A rectangle in the unit of faces' bounds.
typedef struct nav__window {
    uint16_t low_x, low_z, high_x, high_z;
} nav__window;

static inline nav__window nav__window_of(const nav_mesh *m, nav__p2 low, nav__p2 high)
{
    return (nav__window){nav__bound_index(m, low.x, m->grid_x), nav__bound_index(m, low.z, m->grid_z),
                         nav__bound_index(m, high.x, m->grid_x), nav__bound_index(m, high.z, m->grid_z)};
}

/// May the face have a point in the window? Most of the faces near a position are told apart by this alone.
/// (Without branches: where a position lies, no processor foresees.)
static inline bool nav__meets_window(const nav_mesh *m, uint32_t face, const nav__window *w)
{
    const nav__face *f = &m->faces[face];
    return (f->low_x <= w->high_x) & (f->high_x >= w->low_x) & (f->low_z <= w->high_z) & (f->high_z >= w->low_z);
}

static inline nav__p2 nav__face_corner(const nav_mesh *m, uint32_t k)
{
    const float *q = m->points + 3 * (size_t)m->face_corners[k];
    return (nav__p2){(double)q[0], (double)q[2]};
}

/// Is p in the closed face? Exact.
bool nav__face_holds(const nav_mesh *m, uint32_t face, nav__p2 p);

/// The cells that a face lies on: mostly one, several where a seam bent an edge and its cell was cut.
#define NAV__FACE_CELLS 16
uint32_t nav__face_cells(const nav_mesh *m, uint32_t face, uint32_t cells[NAV__FACE_CELLS]);

/// Of the cells that a face lies on, the one that holds p, or comes nearest to holding it.
uint32_t nav__face_cell_at(const nav_mesh *m, uint32_t face, nav__p2 p);

/// nav__face_closest for a position on the face's outline, or beside it within reach.
double nav__outline_closest(const nav_mesh *m, uint32_t face, nav__p2 p, double reach2, nav__p2 *closest);

/// The point of the closed face nearest to p on the ground; two faces with a common edge agree to the last bit.
/// @param reach2  squared distance beyond which nobody cares: a face with an edge that p is further outside of
///                is done with at once
/// @return the squared distance, 0 and p itself when the face holds p; INFINITY when it is surely beyond reach
static inline double nav__face_closest(const nav_mesh *m, uint32_t face, nav__p2 p, double reach2, nav__p2 *closest)
{
    uint32_t first = m->faces[face].first_corner, end = m->faces[face + 1].first_corner;
    nav__p2 a = nav__face_corner(m, end - 1);
    bool inside = true, beyond = false;
    for (uint32_t k = first; k < end; k++) { // to the end in any case: leaving early is foreseen wrongly too often
        nav__p2 b = nav__face_corner(m, k), ab = nav__sub(b, a), ap = nav__sub(p, a);
        double l = ab.x * ap.z, r = ab.z * ap.x, side = l - r, doubt = NAV__ORIENT_BOUND * (fabs(l) + fabs(r));
        inside &= side > doubt;
        beyond |= (side < -doubt) & (side * side > reach2 * nav__dot(ab, ab));
        a = b;
    }
    if (inside) {
        *closest = p;
        return 0;
    }
    return beyond ? INFINITY : nav__outline_closest(m, face, p, reach2, closest);
}

#endif
