/// Other ways past a vertex that a way stands at, and other ways for a leg through a dear cell.
#include "way.h"

#include <string.h>

enum { MOST_SPOKES = NAV__WAY_FEW - 1 /**< edges round a vertex that a way is led over, and one */ };

// ---- round a vertex --------------------------------------------------------------------------------

/// Leads a leg pair a -> vertex -> b over the edges on one side of the vertex instead: a, a point on each
/// of them, b. `points` has room for all.
/// @return how many, 0 when there is no way round on that side or it cannot be shorter
static uint32_t lead_round(const nav__way *way, const nav__way_point *corner, bool anticlockwise,
                           nav__way_point *points)
{
    const nav_mesh *m = way->mesh;
    uint32_t cell = corner->cell, last = corner[1].cell, n = 0, e = m->cells[cell].first_edge;
    while (e < m->cells[cell + 1].first_edge && (m->edges[e].vertex & NAV__VERTEX) != corner->vertex) {
        e++;
    }
    if (e == m->cells[cell + 1].first_edge) {
        return 0;
    }
    double rate = nav__leg_rate(way, corner);
    bool one_rate = nav__leg_rate(way, corner + 1) == rate;
    points[n++] = corner[-1];
    while (cell != last) {
        uint32_t spoke = anticlockwise ? m->edges[nav__edge_prev(m, e)].twin : e; // starts at the vertex
        if (spoke == NAV_NONE || m->edges[spoke].twin == NAV_NONE || n == MOST_SPOKES) {
            return 0;
        }
        e = anticlockwise ? spoke : nav__edge_next(m, m->edges[spoke].twin);
        points[n++] = (nav__way_point){.cell = cell, .ride = NAV_NONE, .vertex = NAV_NONE, .edge = spoke};
        cell = nav__edge_cell(m, e);
        if (!nav__passes(m, way->filter, cell)) {
            return 0;
        }
        one_rate = one_rate && nav__cell_cost(m, way->filter, cell) == rate;
    }
    points[n++] = corner[1];
    double turn = nav__span(nav__minus(corner[-1].at, corner->at), nav__minus(corner[1].at, corner->at));
    return one_rate && (anticlockwise ? turn <= 0 : turn >= 0) ? 0 : n;
}

/// Sets the points of a new lead as far from the vertex as its nearer neighbour, or in the edge's middle.
static void set_out(const nav__way *way, const nav__way_point *corner, nav__way_point *points, uint32_t count)
{
    double a = nav__dist3(corner->at, corner[-1].at), b = nav__dist3(corner->at, corner[1].at);
    double nearer = a < b ? a : b;
    for (uint32_t i = 1; i + 1 < count; i++) {
        nav_vec end = nav__edge_end(way->mesh, points[i].edge);
        double t = nearer / nav__dist3(corner->at, end);
        points[i].t = t < 0.5 ? t : 0.5;
        points[i].at = nav__between(corner->at, end, points[i].t);
    }
}

bool nav__way_leave_vertex(nav__way *way, uint32_t at, double *gain)
{
    nav__way_point *sides = nav__reserve(way->query, &way->query->side_way, 2 * (MOST_SPOKES + 1) * sizeof *sides);
    if (!sides) {
        return false;
    }
    nav__way_point *corner = &way->points[at];
    double cost = nav__legs_cost(way, corner - 1, 3), least = cost * (1 - NAV__LEAST_GAIN);
    const nav__way_point *lead = NULL;
    uint32_t lead_count = 0;
    for (int side = 0; side < 2; side++) {
        nav__way_point *points = sides + side * (MOST_SPOKES + 1);
        uint32_t count = lead_round(way, corner, side == 0, points);
        if (count < 3) {
            continue;
        }
        set_out(way, corner, points, count);
        nav__way_slide_few(way, points, count, 1e-7 * cost);
        double round = nav__legs_cost(way, points, count);
        if (round < least) {
            least = round;
            lead = points + 1;
            lead_count = count - 2;
        }
    }
    corner->tried = !lead;
    if (!lead) {
        return true;
    }
    *gain += cost - least;
    return nav__way_splice(way, at, lead, lead_count);
}

// ---- through a cheaper cell ------------------------------------------------------------------------

/// Leads a leg a -> b through one cell over one of the cell's edges and back, where what lies beyond costs
/// less: towards the edge and away from it at the critical angle of refraction, and along it between
/// (Mitchell, Papadimitriou, "The Weighted Region Problem", JACM 1991, section 3).
/// @param points  [4] out: a, the two places on the edge, b
/// @return what that costs, INFINITY when it cannot help
static double dip(const nav__way *way, const nav__way_point *to, uint32_t edge, nav__way_point *points)
{
    const nav_mesh *m = way->mesh;
    uint32_t twin = m->edges[edge].twin;
    if (twin == NAV_NONE || !nav__passes(m, way->filter, nav__edge_cell(m, twin))) {
        return INFINITY;
    }
    double rate = nav__leg_rate(way, to), beyond = nav__cell_cost(m, way->filter, nav__edge_cell(m, twin));
    if (beyond >= rate) {
        return INFINITY;
    }
    nav_vec origin = nav__edge_begin(m, edge), end = nav__edge_end(m, edge);
    nav_vec along = nav__minus(end, origin), a = nav__minus(to[-1].at, origin), b = nav__minus(to->at, origin);
    double square = along.x * along.x + along.z * along.z;
    double foot_a = (along.x * a.x + along.z * a.z) / square, foot_b = (along.x * b.x + along.z * b.z) / square;
    double slope = beyond / sqrt(rate * rate - beyond * beyond) / square * (foot_a <= foot_b ? 1 : -1);
    double in = foot_a + fabs(nav__span(along, a)) * slope, out = foot_b - fabs(nav__span(along, b)) * slope;
    in = in < 0 ? 0 : in > 1 ? 1 : in;
    out = out < 0 ? 0 : out > 1 ? 1 : out;
    if ((out - in) * slope <= 0) {
        return INFINITY;
    }
    nav__way_point slider = {.cell = to->cell, .ride = NAV_NONE, .vertex = NAV_NONE, .edge = edge};
    points[0] = to[-1];
    points[1] = points[2] = slider;
    points[1].t = in;
    points[1].at = nav__between(origin, end, in);
    points[2].t = out;
    points[2].at = nav__between(origin, end, out);
    points[2].cell = nav__edge_cell(m, twin);
    points[3] = *to;
    return nav__legs_cost(way, points, 4);
}

/// The cheapest of a leg's dips over the edges of its cell.
/// @param best  [4] set where one costs less than `least`
/// @return what it costs, `least` where none costs less
static double best_dip(const nav__way *way, const nav__way_point *to, double least, nav__way_point *best)
{
    const nav__cell *cell = &way->mesh->cells[to->cell];
    nav__way_point points[4];
    for (uint32_t e = cell[0].first_edge; e < cell[1].first_edge; e++) {
        double cost = dip(way, to, e, points);
        if (cost < least) {
            least = cost;
            memcpy(best, points, sizeof points);
        }
    }
    return least;
}

/// Does p lie on the edge, within rounding?
static bool lies_on(const nav_mesh *m, uint32_t edge, nav_vec p)
{
    nav_vec a = nav__edge_begin(m, edge), along = nav__minus(nav__edge_end(m, edge), a), d = nav__minus(p, a);
    double square = along.x * along.x + along.z * along.z, foot = along.x * d.x + along.z * d.z;
    return foot >= 0 && foot <= square && fabs(nav__span(along, d)) <= 1e-9 * square;
}

/// The cell beyond the edge of its cell that a leg runs along; NAV_NONE where it does not, or cannot be beyond.
static uint32_t cell_beside(const nav__way *way, const nav__way_point *to)
{
    const nav_mesh *m = way->mesh;
    for (uint32_t e = m->cells[to->cell].first_edge; e < m->cells[to->cell + 1].first_edge; e++) {
        if (m->edges[e].twin != NAV_NONE && lies_on(m, e, to[-1].at) && lies_on(m, e, to->at)) {
            uint32_t cell = nav__edge_cell(m, m->edges[e].twin);
            return nav__passes(m, way->filter, cell) ? cell : NAV_NONE;
        }
    }
    return NAV_NONE;
}

bool nav__way_cut_through(nav__way *way, uint32_t at, double *gain)
{
    nav__way_point *to = &way->points[at], best[4];
    if (to->ride != NAV_NONE || nav__leg_rate(way, to) <= way->least_cost) {
        return true;
    }
    double cost = nav__legs_cost(way, to - 1, 2), start = cost * (1 - NAV__LEAST_GAIN);
    double least = best_dip(way, to, start, best);
    uint32_t beside = cell_beside(way, to);
    if (beside != NAV_NONE) {
        nav__way_point moved[2] = {to[-1], *to};
        moved[1].cell = beside;
        least = best_dip(way, &moved[1], least, best);
    }
    if (least == start) {
        return true;
    }
    *gain += cost - least;
    return nav__way_splice(way, at, best + 1, 3);
}
