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
#include "scratch.h"
#include "surface.h"

/// Positions further out are on no mesh: their squared distances leave the range of a double.
static const double FARTHEST = 1e150;

/// Vertical slack in roundings: steep ground turns horizontal rounding into more vertical one.
static const double STEEPNESS = 8;

/// What is looked for, and the best so far. Everything is relative to the mesh's origin.
typedef struct locator {
    const nav_mesh *m;
    nav__p2 p;
    double y;
    double half_x, half_y, half_z; ///< grown by rounding
    double slack, tall_slack;      ///< rounding on the ground, in height
    double climb;
    nav_floor floor;
    bool plain; ///< plain 3D distance: climb and floor do not matter
    bool open;  ///< every cell is taken
    const nav_filter *filter;
    bool (*takes)(const void *ctx, uint32_t cell); ///< instead of a filter
    const void *takes_ctx;
} locator;

/// A face's candidate.
typedef struct candidate {
    double counted;  ///< what the rule compares first; INFINITY: none
    double distance; ///< 3D
    nav__p2 at;
    double y;
    uint32_t face;
    bool over;
} candidate;

static const candidate no_candidate = {.counted = INFINITY, .distance = INFINITY, .face = NAV_NONE};

/// Faces are sorted by polygon, so that the lower face also has the lower polygon number.
static bool is_better(const candidate *a, const candidate *b)
{
    if (a->counted != b->counted) {
        return a->counted < b->counted;
    }
    return a->distance != b->distance ? a->distance < b->distance : a->face < b->face;
}

static bool within_reach(nav_vec p) { return fabs(p.x) < FARTHEST && fabs(p.y) < FARTHEST && fabs(p.z) < FARTHEST; }

/// @return false when nothing of the mesh can be a candidate
static bool begin(locator *s, const nav_mesh *m, nav_vec point, const nav_snap *snap)
{
    *s = (locator){
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

static bool takes_face(const locator *s, uint32_t face)
{
    if (s->open) {
        return true;
    }
    uint32_t cell = s->m->faces[face].cell;
    return s->takes ? s->takes(s->takes_ctx, cell) : nav__passes(s->m, s->filter, cell);
}

/// The rule for a face whose closest point on the ground is `at`.
/// @return false when that place lies outside the box or on the wrong side of the asked floor
static bool judge(const locator *s, uint32_t face, nav__p2 at, bool over, candidate *c)
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
    *c = (candidate){counted, distance, at, y, face, over};
    return true;
}

// ---- part 1: straight over or under ----------------------------------------------------------------

static void consider_over(const locator *s, uint32_t face, candidate *best)
{
    if (nav__face_misses(s->m, face, s->p, s->slack) || !takes_face(s, face)) {
        return;
    }
    nav__p2 at;
    candidate c;
    if (nav__face_closest(s->m, face, s->p, &at) <= s->slack * s->slack && judge(s, face, at, true, &c) &&
        is_better(&c, best)) {
        *best = c;
    }
}

static candidate find_over(const locator *s)
{
    const nav_mesh *m = s->m;
    candidate best = no_candidate;
    nav__grid_span span;
    nav__p2 low = {s->p.x - s->slack, s->p.z - s->slack}, high = {s->p.x + s->slack, s->p.z + s->slack};
    if (!nav__grid_cover(m, low, high, &span)) {
        return best;
    }
    for (uint32_t j = span.j0; j <= span.j1; j++) {
        for (uint32_t i = span.i0; i <= span.i1; i++) {
            size_t g = (size_t)j * m->grid_nx + i;
            for (uint32_t k = m->grid_first[g]; k < m->grid_first[g + 1]; k++) {
                consider_over(s, m->grid_faces[k], &best);
            }
        }
    }
    return best;
}

// ---- part 2: outlines, ring by ring ----------------------------------------------------------------

/// A polygon cut into several faces is one surface: its point closest on the ground speaks for it.
/// @return false when a face of the same polygon is nearer than `distance2`, squared, on the ground
static bool speaks_for_polygon(const locator *s, uint32_t face, double distance2)
{
    const nav__face *faces = s->m->faces;
    uint32_t polygon = faces[face].polygon;
    nav__p2 at;
    for (uint32_t f = face; f > 0 && faces[f - 1].polygon == polygon; f--) {
        if (nav__face_closest(s->m, f - 1, s->p, &at) < distance2) {
            return false;
        }
    }
    for (uint32_t f = face + 1; f < s->m->face_count && faces[f].polygon == polygon; f++) {
        if (nav__face_closest(s->m, f, s->p, &at) < distance2) {
            return false;
        }
    }
    return true;
}

/// Squared ground distance beyond which nothing counts less than the best so far, with a hair to spare.
static double reach2(const candidate *best) { return best->counted * best->counted * (1 + 1e-12); }

static void consider_outline(const locator *s, uint32_t face, candidate *best)
{
    if (!takes_face(s, face)) {
        return;
    }
    nav__p2 at;
    double d2 = nav__face_closest(s->m, face, s->p, &at);
    candidate c;
    if (d2 <= s->slack * s->slack || d2 > reach2(best) || !judge(s, face, at, false, &c) || !is_better(&c, best)) {
        return;
    }
    if (s->plain || speaks_for_polygon(s, face, d2)) {
        *best = c;
    }
}

static double grid_line(float least, float inverse, int64_t k) { return (double)least + (double)k / (double)inverse; }

/// How far v is from the interval of column k, which reaches outward without end at the grid's borders.
static double column_gap(double v, float least, float inverse, uint32_t count, int64_t k)
{
    double low = grid_line(least, inverse, k), high = grid_line(least, inverse, k + 1);
    return k > 0 && v < low ? low - v : k + 1 < (int64_t)count && v > high ? v - high : 0;
}

static void visit_grid_cell(const locator *s, int64_t i, int64_t j, candidate *best)
{
    const nav_mesh *m = s->m;
    double dx = column_gap(s->p.x, m->grid_x, m->grid_inverse, m->grid_nx, i);
    double dz = column_gap(s->p.z, m->grid_z, m->grid_inverse, m->grid_nz, j);
    if ((dx * dx + dz * dz) * (1 - 1e-9) > reach2(best)) {
        return;
    }
    size_t g = (size_t)j * m->grid_nx + (size_t)i;
    for (uint32_t k = m->grid_first[g]; k < m->grid_first[g + 1]; k++) {
        consider_outline(s, m->grid_faces[k], best);
    }
}

/// The cells k columns or rows away from (ci, cj), as far as they lie in the span.
static void visit_ring(const locator *s, const nav__grid_span *span, int64_t ci, int64_t cj, int64_t k,
                       candidate *best)
{
    int64_t i0 = ci - k > span->i0 ? ci - k : span->i0, i1 = ci + k < span->i1 ? ci + k : span->i1;
    int64_t j0 = cj - k > span->j0 ? cj - k : span->j0, j1 = cj + k < span->j1 ? cj + k : span->j1;
    for (int64_t j = j0; j <= j1; j++) {
        if (j == cj - k || j == cj + k) {
            for (int64_t i = i0; i <= i1; i++) {
                visit_grid_cell(s, i, j, best);
            }
            continue;
        }
        if (i0 == ci - k) {
            visit_grid_cell(s, i0, j, best);
        }
        if (i1 == ci + k) {
            visit_grid_cell(s, i1, j, best);
        }
    }
}

/// Ground distance to the nearest place that is in the span and in none of the rings up to k; INFINITY
/// when the rings hold all of it.
static double beyond_ring(const locator *s, const nav__grid_span *span, int64_t ci, int64_t cj, int64_t k)
{
    const nav_mesh *m = s->m;
    double gap = INFINITY;
    if (ci + k < span->i1) {
        gap = fmin(gap, grid_line(m->grid_x, m->grid_inverse, ci + k + 1) - s->p.x);
    }
    if (ci - k > span->i0) {
        gap = fmin(gap, s->p.x - grid_line(m->grid_x, m->grid_inverse, ci - k));
    }
    if (cj + k < span->j1) {
        gap = fmin(gap, grid_line(m->grid_z, m->grid_inverse, cj + k + 1) - s->p.z);
    }
    if (cj - k > span->j0) {
        gap = fmin(gap, s->p.z - grid_line(m->grid_z, m->grid_inverse, cj - k));
    }
    return fmax(gap, 0) * (1 - 1e-9);
}

static void find_outline(const locator *s, candidate *best)
{
    const nav_mesh *m = s->m;
    nav__grid_span span;
    nav__p2 low = {s->p.x - s->half_x, s->p.z - s->half_z}, high = {s->p.x + s->half_x, s->p.z + s->half_z};
    if (!nav__grid_cover(m, low, high, &span)) {
        return;
    }
    int64_t ci = nav__grid_index(s->p.x, m->grid_x, m->grid_inverse, m->grid_nx);
    int64_t cj = nav__grid_index(s->p.z, m->grid_z, m->grid_inverse, m->grid_nz);
    for (int64_t k = 0;; k++) {
        visit_ring(s, &span, ci, cj, k, best);
        double gap = beyond_ring(s, &span, ci, cj, k);
        if (gap == INFINITY || gap * gap > reach2(best)) {
            return;
        }
    }
}

static candidate find_best(const locator *s)
{
    candidate best = find_over(s);
    bool settled = s->floor == NAV_FLOOR_NEAREST ? best.counted == 0 : best.face != NAV_NONE;
    if (!settled) {
        find_outline(s, &best);
    }
    return best;
}

// ---- answers ---------------------------------------------------------------------------------------

static bool write_place(const locator *s, nav_vec asked, const candidate *c, nav_place *place)
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
        .polygon = m->faces[c->face].polygon,
        .cell = m->faces[c->face].cell,
        .face = c->face,
        .inside = c->over,
        .on_mesh = c->over && fabs(c->y - s->y) <= s->climb + s->tall_slack,
    };
    return true;
}

bool nav_query_nearest(nav_query *query, const nav_mesh *mesh, nav_vec point, const nav_snap *snap,
                       nav_place *place)
{
    (void)query;
    locator s;
    candidate best = begin(&s, mesh, point, snap) ? find_best(&s) : no_candidate;
    return write_place(&s, point, &best, place);
}

bool nav_query_height(nav_query *query, const nav_mesh *mesh, nav_vec point, const nav_snap *snap,
                      nav_place *place)
{
    (void)query;
    locator s;
    candidate best = begin(&s, mesh, point, snap) ? find_over(&s) : no_candidate;
    return write_place(&s, point, &best, place);
}

bool nav__nearest_taken(nav_query *query, const nav_mesh *m, nav_vec point,
                        bool (*takes)(const void *ctx, uint32_t cell), const void *ctx, nav_place *place)
{
    (void)query;
    nav_snap everywhere = {.half_extents = {INFINITY, INFINITY, INFINITY}, .filter = nav_filter_default()};
    locator s;
    candidate best = no_candidate;
    if (begin(&s, m, point, &everywhere)) {
        s.plain = true;
        s.open = false;
        s.takes = takes;
        s.takes_ctx = ctx;
        best = find_best(&s);
    }
    return write_place(&s, point, &best, place);
}
