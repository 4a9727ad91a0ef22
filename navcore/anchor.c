/// From a place on the surface to the exact ground position and cells a walk begins or ends in.
#include "scratch.h"
#include "surface.h"

/// The first part of the way to the cell's middle that is tried, and the factor to the next.
static const double FIRST_STEP = 1e-12, STEP_GROWTH = 8;

static nav__p2 cell_middle(const nav_mesh *m, uint32_t cell)
{
    uint32_t first = m->cells[cell].first_edge, end = m->cells[cell + 1].first_edge;
    nav__p2 sum = {0, 0};
    for (uint32_t e = first; e < end; e++) {
        nav__p2 v = nav__edge_from(m, e);
        sum.x += v.x;
        sum.z += v.z;
    }
    return (nav__p2){sum.x / (end - first), sum.z / (end - first)};
}

typedef enum side { OUTSIDE, ON_BORDER, INSIDE } side;

static side side_of_cell(const nav_mesh *m, uint32_t cell, nav__p2 p)
{
    uint32_t first = m->cells[cell].first_edge, end = m->cells[cell + 1].first_edge;
    side found = INSIDE;
    nav__p2 a = nav__edge_from(m, end - 1);
    for (uint32_t e = first; e < end; e++) {
        nav__p2 b = nav__edge_from(m, e);
        double turn = nav__orient(a, b, p);
        if (turn < 0) {
            return OUTSIDE;
        }
        found = turn == 0 ? ON_BORDER : found;
        a = b;
    }
    return found;
}

/// Does p lie surely inside the cell, and not within rounding of a vertex? Mostly it does, and there is no more to do.
static bool is_well_inside(const nav_mesh *m, uint32_t cell, nav__p2 p)
{
    uint32_t first = m->cells[cell].first_edge, end = m->cells[cell + 1].first_edge;
    nav__p2 a = nav__edge_from(m, end - 1);
    bool inside = true;
    for (uint32_t e = first; e < end; e++) {
        nav__p2 b = nav__edge_from(m, e), ab = nav__sub(b, a), ap = nav__sub(p, a);
        double l = ab.x * ap.z, r = ab.z * ap.x; // as in nav__orient
        inside &= l - r > NAV__ORIENT_BOUND * (fabs(l) + fabs(r));
        inside &= (fabs(ap.x) > m->rounding) | (fabs(ap.z) > m->rounding);
        a = b;
    }
    return inside;
}

/// The cell's vertex that p stands on within rounding, else p. Sectors that only touch in a vertex must all
/// be open to who stands there, and a position far from zero seldom hits a vertex exactly.
static nav__p2 onto_vertex(const nav_mesh *m, uint32_t cell, nav__p2 p)
{
    nav__p2 best = p;
    double reach = m->rounding;
    for (uint32_t e = m->cells[cell].first_edge; e < m->cells[cell + 1].first_edge; e++) {
        nav__p2 v = nav__edge_from(m, e);
        double dx = fabs(v.x - p.x), dz = fabs(v.z - p.z);
        if (dx <= reach && dz <= reach) {
            reach = dx > dz ? dx : dz;
            best = v;
        }
    }
    return best;
}

static nav__p2 nearest_vertex(const nav_mesh *m, uint32_t cell, nav__p2 p)
{
    nav__p2 best = nav__edge_from(m, m->cells[cell].first_edge);
    for (uint32_t e = m->cells[cell].first_edge + 1; e < m->cells[cell + 1].first_edge; e++) {
        nav__p2 v = nav__edge_from(m, e);
        best = nav__dist(v, p) < nav__dist(best, p) ? v : best;
    }
    return best;
}

/// A position just inside the cell, from p outside of it by rounding. A cell so thin that rounding leaves
/// nothing between its middle and p still holds its vertices.
static nav__p2 move_inside(const nav_mesh *m, uint32_t cell, nav__p2 p)
{
    nav__p2 middle = cell_middle(m, cell);
    for (double t = FIRST_STEP; t < 1; t *= STEP_GROWTH) {
        nav__p2 q = {p.x + t * (middle.x - p.x), p.z + t * (middle.z - p.z)};
        if (nav__cell_holds(m, cell, q)) {
            return q;
        }
    }
    return nearest_vertex(m, cell, p);
}

static bool lists(const nav__anchor *anchor, uint32_t cell)
{
    for (uint32_t i = 0; i < anchor->count; i++) {
        if (anchor->cells[i] == cell) {
            return true;
        }
    }
    return false;
}

static void add_cell(const nav_mesh *m, uint32_t cell, const nav_filter *filter, nav__anchor *anchor)
{
    if (anchor->count < NAV__ANCHOR_CELLS && !lists(anchor, cell) && nav__passes(m, filter, cell) &&
        nav__cell_holds(m, cell, anchor->p)) {
        anchor->cells[anchor->count++] = cell;
    }
}

/// Adds the cells that can be walked to without leaving the position: over its edge, or round its vertex.
static void add_connected(const nav_mesh *m, const nav_filter *filter, nav__anchor *anchor)
{
    for (uint32_t i = 0; i < anchor->count; i++) {
        uint32_t cell = anchor->cells[i];
        for (uint32_t e = m->cells[cell].first_edge; e < m->cells[cell + 1].first_edge; e++) {
            if (m->edges[e].twin != NAV_NONE) {
                add_cell(m, nav__edge_cell(m, m->edges[e].twin), filter, anchor);
            }
        }
    }
}

/// Adds those of the cells a face lies on that hold the position at its height.
static void add_cells_of(const nav_mesh *m, uint32_t face, double height, const nav_filter *filter, nav__anchor *anchor)
{
    double tolerance = m->agent.climb + 8 * m->rounding;
    uint32_t cells[NAV__FACE_CELLS], count = nav__face_cells(m, face, cells);
    for (uint32_t i = 0; i < count; i++) {
        if (nav__cell_holds(m, cells[i], anchor->p) &&
            fabs(nav__cell_height(m, cells[i], anchor->p, NULL) - height) <= tolerance) {
            add_cell(m, cells[i], filter, anchor);
        }
    }
}

/// Adds the cells of this floor that only touch the position, by the faces that lie round it.
static void add_touching(const nav_mesh *m, double height, const nav_filter *filter, nav__anchor *anchor)
{
    // A cell's faces cover it but for cracks as wide as rounding.
    double slack = 4 * m->rounding;
    nav__p2 p = anchor->p;
    nav__grid_span span;
    if (!nav__grid_cover(m, (nav__p2){p.x - slack, p.z - slack}, (nav__p2){p.x + slack, p.z + slack}, &span)) {
        return;
    }
    for (uint32_t j = span.j0; j <= span.j1; j++) {
        size_t row = (size_t)j * m->grid_nx;
        for (uint32_t i = span.i0; i <= span.i1; i++) {
            nav__grid_cell list = m->grid_cells[row + i];
            for (uint32_t k = list.first; k < list.end; k++) {
                add_cells_of(m, m->grid_faces[k], height, filter, anchor);
            }
        }
    }
}

void nav__anchor_make(const nav_mesh *m, const nav_place *place, const nav_filter *filter, nav__anchor *anchor)
{
    anchor->p = nav__ground(m, place->point);
    anchor->count = 0;
    if (is_well_inside(m, place->cell, anchor->p)) {
        anchor->cells[0] = place->cell;
        anchor->count = nav__passes(m, filter, place->cell);
        return;
    }
    anchor->p = onto_vertex(m, place->cell, anchor->p);
    side where = side_of_cell(m, place->cell, anchor->p);
    if (where == OUTSIDE) {
        anchor->p = move_inside(m, place->cell, anchor->p);
        where = ON_BORDER; // or next to it
    }
    if (nav__passes(m, filter, place->cell)) {
        anchor->cells[anchor->count++] = place->cell;
    }
    if (where == ON_BORDER) {
        add_connected(m, filter, anchor);
        add_touching(m, place->point.y - m->origin.y, filter, anchor);
        add_connected(m, filter, anchor);
    }
}
