/// Point location: which surface a position belongs to, by the snap rule of the service's contract.
///
/// A face's candidate is its point closest to the position, ground plane first: straight below or above
/// where the position lies over the face, else on its outline. What counts is the 3D distance, but for a
/// face straight below or above only what of it exceeds the agent's climb. So the work has two parts:
///
///   1. faces over or under the position: all are listed in the one grid cell that holds it;
///   2. outlines: rings of grid cells round that one, until no cell further out can hold anything that
///      counts less. Skipped where part 1 found a face that counts nothing, as it mostly does.
///
/// Over or under means within `rounding`: between two faces there may be a crack as wide as a 32-bit
/// step, and a position that was answered once and asked again may lie on its wrong side.
#include "locate.h"
#include "surface.h"

#include <string.h>

/// Positions further out are on no mesh: their squared distances leave the range of a double.
static const double FARTHEST = 1e150;

/// Vertical slack in roundings: steep ground turns horizontal rounding into more vertical one.
static const double STEEPNESS = 8;

static const nav__candidate no_candidate = {.counted = INFINITY, .distance = INFINITY, .face = NAV_NONE};

static bool within_reach(nav_vec p)
{
    return fabs(p.x) < FARTHEST && fabs(p.y) < FARTHEST && fabs(p.z) < FARTHEST;
}

bool nav__locator_init(nav__locator *s, const nav_mesh *m, nav_vec point, const nav_snap *snap)
{
    *s = (nav__locator){
        .m = m,
        .p = nav__ground(m, point),
        .y = point.y - m->origin.y,
        .half_x = snap->half_extents.x + m->rounding,
        .half_y = snap->half_extents.y + STEEPNESS * m->rounding,
        .half_z = snap->half_extents.z + m->rounding,
        .slack = m->rounding,
        .tall_slack = STEEPNESS * m->rounding,
        .climb = m->agent.climb,
        .floor = snap->floor,
        .open = nav__passes_all(m, &snap->filter),
        .filter = &snap->filter,
    };
    return within_reach(point) && s->y - s->half_y <= (double)m->max[1] && s->y + s->half_y >= (double)m->min[1] &&
           (s->open || (m->flags_used & snap->filter.include));
}

bool nav__judge(const nav__locator *s, uint32_t face, nav__p2 at, bool over, nav__candidate *c)
{
    double dx = at.x - s->p.x, dz = at.z - s->p.z;
    if (fabs(dx) > s->half_x || fabs(dz) > s->half_z) {
        return false;
    }
    double y = nav__face_height(s->m, face, at), dy = y - s->y;
    double reach = s->climb + s->tall_slack;
    if (fabs(dy) > s->half_y || (s->floor == NAV_FLOOR_BELOW && dy > reach) ||
        (s->floor == NAV_FLOOR_ABOVE && dy < -reach)) {
        return false;
    }
    double distance = sqrt(dx * dx + dy * dy + dz * dz), counted = distance;
    if (over && !s->plain) {
        double excess = fabs(dy) - s->climb;
        counted = s->floor == NAV_FLOOR_BELOW   ? reach - dy
                  : s->floor == NAV_FLOOR_ABOVE ? reach + dy
                  : excess > 0                  ? excess
                                                : 0;
    }
    *c = (nav__candidate){counted, distance, at, y, face, over};
    return true;
}

// ---- part 1: straight over or under ----------------------------------------------------------------

static void consider_over(const nav__locator *s, uint32_t face, nav__candidate *best)
{
    double slack2 = s->slack * s->slack;
    nav__p2 at;
    nav__candidate c;
    if (nav__face_closest(s->m, face, s->p, slack2, &at) <= slack2 && nav__takes_face(s, face) &&
        nav__judge(s, face, at, true, &c) && nav__is_better(&c, best)) {
        *best = c;
    }
}

static nav__candidate find_over(const nav__locator *s)
{
    const nav_mesh *m = s->m;
    nav__candidate best = no_candidate;
    nav__grid_span span;
    nav__p2 low = {s->p.x - s->slack, s->p.z - s->slack}, high = {s->p.x + s->slack, s->p.z + s->slack};
    if (!nav__grid_cover(m, low, high, &span)) {
        return best;
    }
    nav__window here = nav__window_of(m, low, high);
    for (uint32_t j = span.j0; j <= span.j1; j++) {
        size_t row = (size_t)j * m->grid_nx;
        for (uint32_t i = span.i0; i <= span.i1; i++) {
            nav__grid_cell list = m->grid_cells[row + i];
            for (uint32_t k = list.first; k < list.end; k++) {
                if (nav__meets_window(m, m->grid_faces[k], &here)) {
                    consider_over(s, m->grid_faces[k], &best);
                }
            }
        }
    }
    return best;
}

// ---- part 2: outlines, ring by ring ----------------------------------------------------------------

bool nav__speaks_for_polygon(const nav__locator *s, uint32_t face, double distance2)
{
    const nav_mesh *m = s->m;
    uint32_t polygon = nav__face_polygon(m, face);
    nav__p2 at;
    if (m->face_pieces) {
        nav__polygon_walk walk;
        for (uint32_t f = nav__polygon_first(m, polygon, &walk); f != NAV_NONE; f = nav__polygon_next(m, &walk)) {
            if (f != face && nav__face_closest(m, f, s->p, distance2, &at) < distance2) {
                return false;
            }
        }
        return true;
    }
    for (uint32_t f = face; f > 0 && nav__face_polygon(m, f - 1) == polygon; f--) {
        if (nav__face_closest(m, f - 1, s->p, distance2, &at) < distance2) {
            return false;
        }
    }
    for (uint32_t f = face + 1; f < m->face_count && nav__face_polygon(m, f) == polygon; f++) {
        if (nav__face_closest(m, f, s->p, distance2, &at) < distance2) {
            return false;
        }
    }
    return true;
}

enum { REMEMBERED = 32 };

/// Rings of grid cells round the position.
typedef struct rings {
    const nav__locator *s;
    nav__candidate *best;
    nav__grid_span span;       ///< the box's, or what of it can still count less than the best
    int64_t ci, cj;            ///< the position's cell, or the nearest to it
    double step;               ///< of the grid, as exactly as nav__grid_index has it
    double reach2;             ///< squared ground distance beyond which nothing counts less than the best
    nav__window window;        ///< likewise
    uint16_t low_y, high_y;    ///< likewise in height, by nav__height_index
    uint32_t seen[REMEMBERED]; ///< faces looked at, by their last bits: most are listed by several cells
} rings;

static inline double least(double a, double b)
{
    return a < b ? a : b;
}

/// How far y lies above or below all of the mesh.
static double height_gap(const nav_mesh *m, double y)
{
    double above = y - (double)m->max[1], below = (double)m->min[1] - y;
    double gap = above > below ? above : below;
    return gap > 0 ? gap : 0;
}

/// The box, cut to what can count less than the best: an outline counts its 3D distance. With a hair to spare.
/// @return false when there is nothing of the mesh in it
static bool cover(rings *r)
{
    const nav__locator *s = r->s;
    const nav_mesh *m = s->m;
    double counted2 = r->best->counted * r->best->counted * (1 + 1e-12);
    double tall = least(s->half_y, sqrt(counted2)) + s->slack, gap = height_gap(m, s->y) - s->slack;
    r->reach2 = gap > 0 ? counted2 - gap * gap : counted2;
    if (!(r->reach2 >= 0)) {
        return false;
    }
    double reach = sqrt(r->reach2), dx = least(s->half_x, reach), dz = least(s->half_z, reach);
    nav__p2 low = {s->p.x - dx, s->p.z - dz}, high = {s->p.x + dx, s->p.z + dz};
    r->window = nav__window_of(m, low, high);
    r->low_y = nav__height_index(m, s->y - tall);
    r->high_y = nav__height_index(m, s->y + tall);
    return nav__grid_cover(m, low, high, &r->span);
}

static bool meets_heights(const rings *r, uint32_t face)
{
    const nav__cell *cell = &r->s->m->cells[r->s->m->faces[face].cell];
    return (cell->low_y <= r->high_y) & (cell->high_y >= r->low_y);
}

static void consider_outline(rings *r, uint32_t face)
{
    const nav__locator *s = r->s;
    uint32_t *seen = &r->seen[face % REMEMBERED];
    bool in_window = nav__meets_window(s->m, face, &r->window), at_height = meets_heights(r, face);
    if (!(in_window & at_height & (*seen != face)) || !nav__takes_face(s, face)) {
        return;
    }
    *seen = face;
    nav__p2 at;
    double d2 = nav__face_closest(s->m, face, s->p, r->reach2, &at);
    nav__candidate c;
    bool beside = d2 > s->slack * s->slack && d2 <= r->reach2;
    if (beside && nav__judge(s, face, at, false, &c) && nav__is_better(&c, r->best) &&
        (s->plain || nav__speaks_for_polygon(s, face, d2))) {
        *r->best = c;
        cover(r);
    }
}

static double line_x(const rings *r, int64_t i)
{
    return (double)r->s->m->grid_x + (double)i * r->step;
}
static double line_z(const rings *r, int64_t j)
{
    return (double)r->s->m->grid_z + (double)j * r->step;
}

/// How far v is from column k of `count`; the outermost ones reach outward without end.
static double column_gap(double v, double least, double step, uint32_t count, int64_t k)
{
    double low = least + (double)k * step, high = least + (double)(k + 1) * step;
    return k > 0 && v < low ? low - v : k + 1 < count && v > high ? v - high : 0;
}

static void visit_grid_cell(rings *r, int64_t i, int64_t j)
{
    const nav_mesh *m = r->s->m;
    double dx = column_gap(r->s->p.x, (double)m->grid_x, r->step, m->grid_nx, i);
    double dz = column_gap(r->s->p.z, (double)m->grid_z, r->step, m->grid_nz, j);
    if ((dx * dx + dz * dz) * (1 - 1e-9) > r->reach2) {
        return;
    }
    nav__grid_cell list = m->grid_cells[(size_t)j * m->grid_nx + (size_t)i];
    for (uint32_t k = list.first; k < list.end; k++) {
        consider_outline(r, m->grid_faces[k]);
    }
}

/// The cells k columns or rows away from the middle, as far as they lie in the span.
static void visit_ring(rings *r, int64_t k)
{
    const nav__grid_span span = r->span; // of now: it shrinks meanwhile
    int64_t low_i = r->ci - k, high_i = r->ci + k, low_j = r->cj - k, high_j = r->cj + k;
    int64_t i0 = low_i > span.i0 ? low_i : span.i0, i1 = high_i < span.i1 ? high_i : span.i1;
    int64_t j0 = low_j > span.j0 ? low_j : span.j0, j1 = high_j < span.j1 ? high_j : span.j1;
    for (int64_t j = j0; j <= j1; j++) {
        if (j == low_j || j == high_j) {
            for (int64_t i = i0; i <= i1; i++) {
                visit_grid_cell(r, i, j);
            }
            continue;
        }
        if (i0 == low_i) {
            visit_grid_cell(r, i0, j);
        }
        if (i1 == high_i) {
            visit_grid_cell(r, i1, j);
        }
    }
}

/// Ground distance to the nearest place that is in the span and in none of the rings up to k; INFINITY
/// when the rings hold all of it.
static double beyond_ring(const rings *r, int64_t k)
{
    nav__p2 p = r->s->p;
    double gap = INFINITY;
    gap = r->ci + k < r->span.i1 ? least(gap, line_x(r, r->ci + k + 1) - p.x) : gap;
    gap = r->ci - k > r->span.i0 ? least(gap, p.x - line_x(r, r->ci - k)) : gap;
    gap = r->cj + k < r->span.j1 ? least(gap, line_z(r, r->cj + k + 1) - p.z) : gap;
    gap = r->cj - k > r->span.j0 ? least(gap, p.z - line_z(r, r->cj - k)) : gap;
    return gap > 0 ? gap * (1 - 1e-9) : 0;
}

static void find_outline(const nav__locator *s, nav__candidate *best)
{
    const nav_mesh *m = s->m;
    rings r; // not zeroed: mostly there is nothing to be looked for
    r.s = s;
    r.best = best;
    if (!cover(&r)) {
        return;
    }
    r.step = 1 / (double)m->grid_inverse;
    memset(r.seen, 0xFF, sizeof r.seen);
    r.ci = nav__grid_index(s->p.x, m->grid_x, m->grid_inverse, m->grid_nx);
    r.cj = nav__grid_index(s->p.z, m->grid_z, m->grid_inverse, m->grid_nz);
    for (int64_t k = 0;; k++) {
        visit_ring(&r, k);
        double gap = beyond_ring(&r, k);
        if (gap == INFINITY || gap * gap > r.reach2) {
            return;
        }
    }
}

static nav__candidate find_best(const nav__locator *s)
{
    nav__candidate best = find_over(s);
    bool settled = s->floor == NAV_FLOOR_NEAREST ? best.counted == 0 : best.face != NAV_NONE;
    if (!settled) {
        find_outline(s, &best);
    }
    return best;
}

// ---- answers ---------------------------------------------------------------------------------------

bool nav__place_write(const nav__locator *s, nav_vec asked, const nav__candidate *c, nav_place *place)
{
    if (c->face == NAV_NONE) {
        *place = (nav_place){.polygon = NAV_NONE, .cell = NAV_NONE, .face = NAV_NONE};
        return false;
    }
    const nav_mesh *m = s->m;
    bool straight = c->at.x == s->p.x && c->at.z == s->p.z;
    *place = (nav_place){
        .point = {straight ? asked.x : m->origin.x + c->at.x, m->origin.y + c->y,
                  straight ? asked.z : m->origin.z + c->at.z},
        .distance = c->distance,
        .polygon = nav__face_polygon(m, c->face),
        .cell = nav__face_cell_at(m, c->face, c->at),
        .face = c->face,
        .inside = c->over,
        .on_mesh = c->over && fabs(c->y - s->y) <= s->climb + s->tall_slack,
    };
    return true;
}

bool nav__nearest(const nav_mesh *m, nav_vec point, const nav_snap *snap, nav_place *place)
{
    nav__locator s;
    nav__candidate best = nav__locator_init(&s, m, point, snap) ? find_best(&s) : no_candidate;
    return nav__place_write(&s, point, &best, place);
}

bool nav_query_nearest(nav_query *query, const nav_mesh *mesh, nav_vec point, const nav_snap *snap, nav_place *place)
{
    (void)query;
    return nav__nearest(mesh, point, snap, place);
}

bool nav_query_height(nav_query *query, const nav_mesh *mesh, nav_vec point, const nav_snap *snap, nav_place *place)
{
    (void)query;
    nav__locator s;
    nav__candidate best = nav__locator_init(&s, mesh, point, snap) ? find_over(&s) : no_candidate;
    return nav__place_write(&s, point, &best, place);
}

bool nav__nearest_taken(nav_query *query, const nav_mesh *m, nav_vec point,
                        bool (*takes)(const void *ctx, uint32_t cell), const void *ctx, nav_place *place)
{
    (void)query;
    nav_snap everywhere = {.half_extents = {INFINITY, INFINITY, INFINITY}, .filter = nav_filter_default()};
    nav__locator s;
    nav__candidate best = no_candidate;
    if (nav__locator_init(&s, m, point, &everywhere)) {
        s.plain = true;
        s.open = false;
        s.takes = takes;
        s.takes_ctx = ctx;
        best = find_best(&s);
    }
    return nav__place_write(&s, point, &best, place);
}
