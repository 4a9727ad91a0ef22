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

#include <string.h>

/// Positions further out are on no mesh: their squared distances leave the range of a double.
static const double FARTHEST = 1e150;

/// Vertical slack in roundings: steep ground turns horizontal rounding into more vertical one.
static const double STEEPNESS = 8;

/// What is looked for. Everything is relative to the mesh's origin.
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
    nav__p2 at;
    candidate c;
    if (nav__face_closest(s->m, face, s->p, s->slack * s->slack, &at) <= s->slack * s->slack && takes_face(s, face) &&
        judge(s, face, at, true, &c) && is_better(&c, best)) {
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
    nav__window here = nav__window_of(m, low, high);
    for (uint32_t j = span.j0; j <= span.j1; j++) {
        size_t row = (size_t)j * m->grid_nx;
        uint32_t first = m->grid_first[row + span.i0], end = m->grid_first[row + span.i1 + 1];
        for (uint32_t k = first; k < end; k++) {
            if (nav__meets_window(m, m->grid_faces[k], &here)) {
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
        if (nav__face_closest(s->m, f - 1, s->p, distance2, &at) < distance2) {
            return false;
        }
    }
    for (uint32_t f = face + 1; f < s->m->face_count && faces[f].polygon == polygon; f++) {
        if (nav__face_closest(s->m, f, s->p, distance2, &at) < distance2) {
            return false;
        }
    }
    return true;
}

/// Squared ground distance beyond which nothing counts less than the best so far, with a hair to spare.
static double reach2(const candidate *best) { return best->counted * best->counted * (1 + 1e-12); }

enum { REMEMBERED = 64 };

/// Rings of grid cells round the position.
typedef struct rings {
    const locator *s;
    candidate *best;
    nav__grid_span span;  ///< the box's, or what of it can still count less than the best
    int64_t ci, cj;       ///< the position's cell, or the nearest to it
    double step;          ///< of the grid, as exactly as nav__grid_index has it
    nav__window window;   ///< what lies beyond cannot count less than the best
    uint32_t seen[REMEMBERED]; ///< faces looked at, by their last bits: most are listed by several cells
} rings;

/// Ground rectangle of the box, cut to what can count less than the best.
static bool cover(rings *r)
{
    const locator *s = r->s;
    double reach = sqrt(reach2(r->best)), dx = fmin(s->half_x, reach), dz = fmin(s->half_z, reach);
    nav__p2 low = {s->p.x - dx, s->p.z - dz}, high = {s->p.x + dx, s->p.z + dz};
    r->window = nav__window_of(s->m, low, high);
    return nav__grid_cover(s->m, low, high, &r->span);
}

static void consider_outline(rings *r, uint32_t face)
{
    const locator *s = r->s;
    uint32_t *seen = &r->seen[face % REMEMBERED];
    if (*seen == face || !nav__meets_window(s->m, face, &r->window) || !takes_face(s, face)) {
        return;
    }
    *seen = face;
    nav__p2 at;
    double reach = reach2(r->best), d2 = nav__face_closest(s->m, face, s->p, reach, &at);
    candidate c;
    if (d2 <= s->slack * s->slack || d2 > reach || !judge(s, face, at, false, &c) || !is_better(&c, r->best)) {
        return;
    }
    if (s->plain || speaks_for_polygon(s, face, d2)) {
        *r->best = c;
        cover(r);
    }
}

static double line_x(const rings *r, int64_t i) { return (double)r->s->m->grid_x + (double)i * r->step; }
static double line_z(const rings *r, int64_t j) { return (double)r->s->m->grid_z + (double)j * r->step; }

/// How far v is from the column between two grid lines.
static double column_gap(double v, double low, double high) { return v < low ? low - v : v > high ? v - high : 0; }

static void visit_grid_cell(rings *r, int64_t i, int64_t j)
{
    const nav_mesh *m = r->s->m;
    // The outermost cells reach outward without end.
    double dx = column_gap(r->s->p.x, i > 0 ? line_x(r, i) : -INFINITY, i + 1 < m->grid_nx ? line_x(r, i + 1) : INFINITY);
    double dz = column_gap(r->s->p.z, j > 0 ? line_z(r, j) : -INFINITY, j + 1 < m->grid_nz ? line_z(r, j + 1) : INFINITY);
    if ((dx * dx + dz * dz) * (1 - 1e-9) > reach2(r->best)) {
        return;
    }
    size_t g = (size_t)j * m->grid_nx + (size_t)i;
    for (uint32_t k = m->grid_first[g]; k < m->grid_first[g + 1]; k++) {
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
    gap = r->ci + k < r->span.i1 ? fmin(gap, line_x(r, r->ci + k + 1) - p.x) : gap;
    gap = r->ci - k > r->span.i0 ? fmin(gap, p.x - line_x(r, r->ci - k)) : gap;
    gap = r->cj + k < r->span.j1 ? fmin(gap, line_z(r, r->cj + k + 1) - p.z) : gap;
    gap = r->cj - k > r->span.j0 ? fmin(gap, p.z - line_z(r, r->cj - k)) : gap;
    return fmax(gap, 0) * (1 - 1e-9);
}

static void find_outline(const locator *s, candidate *best)
{
    const nav_mesh *m = s->m;
    rings r = {.s = s, .best = best, .step = 1 / (double)m->grid_inverse};
    if (!cover(&r)) {
        return;
    }
    memset(r.seen, 0xFF, sizeof r.seen);
    r.ci = nav__grid_index(s->p.x, m->grid_x, m->grid_inverse, m->grid_nx);
    r.cj = nav__grid_index(s->p.z, m->grid_z, m->grid_inverse, m->grid_nz);
    for (int64_t k = 0;; k++) {
        visit_ring(&r, k);
        double gap = beyond_ring(&r, k);
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
        .cell = nav__face_cell_at(m, c->face, c->at),
        .face = c->face,
        .inside = c->over,
        .on_mesh = c->over && fabs(c->y - s->y) <= s->climb + s->tall_slack,
    };
    return true;
}

bool nav__nearest(const nav_mesh *m, nav_vec point, const nav_snap *snap, nav_place *place)
{
    locator s;
    candidate best = begin(&s, m, point, snap) ? find_best(&s) : no_candidate;
    return write_place(&s, point, &best, place);
}

bool nav_query_nearest(nav_query *query, const nav_mesh *mesh, nav_vec point, const nav_snap *snap,
                       nav_place *place)
{
    (void)query;
    return nav__nearest(mesh, point, snap, place);
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

// ---- several floors --------------------------------------------------------------------------------
//
// One answer for each surface above or below another. Best first, a candidate is left out when
//   - it and a better one lie straight over or under the position, at one height, or in one cell or two
//     that share an edge (the position then stands on that edge);
//   - it lies beside the position, or a better one does, and their heights differ by no more than climb;
//   - it lies beside the position, and its own surface goes on towards it: a face of its cell, or of a
//     cell round the edge or corner it lies on, is a candidate too and is nearer on the ground.

enum { MOST_AROUND = 32 };

/// The candidates found, a binary heap with the best on top.
typedef struct candidate_heap {
    candidate *data;
    uint32_t count;
} candidate_heap;

static void sift_down(candidate_heap *h, uint32_t at)
{
    candidate moved = h->data[at];
    for (uint32_t child; (child = 2 * at + 1) < h->count; at = child) {
        child += child + 1 < h->count && is_better(&h->data[child + 1], &h->data[child]);
        if (!is_better(&h->data[child], &moved)) {
            break;
        }
        h->data[at] = h->data[child];
    }
    h->data[at] = moved;
}

static candidate pop_best(candidate_heap *h)
{
    candidate best = h->data[0];
    h->data[0] = h->data[--h->count];
    if (h->count > 0) {
        sift_down(h, 0);
    }
    return best;
}

/// A face's candidate, over or beside.
static bool evaluate(const locator *s, uint32_t face, candidate *c)
{
    nav__p2 at;
    bool over = nav__face_closest(s->m, face, s->p, INFINITY, &at) <= s->slack * s->slack;
    return judge(s, face, at, over, c);
}

/// Adds the candidates that a row of grid cells lists; a face that several of them list is added as often.
/// @return false when out of memory
static bool collect_row(nav_query *query, const locator *s, const nav__grid_span *span, uint32_t j,
                        candidate_heap *heap)
{
    const nav_mesh *m = s->m;
    size_t row = (size_t)j * m->grid_nx;
    uint32_t first = m->grid_first[row + span->i0], end = m->grid_first[row + span->i1 + 1];
    heap->data = nav__reserve(query, &query->faces, ((size_t)heap->count + (end - first) + 1) * sizeof *heap->data);
    if (!heap->data) {
        return false;
    }
    for (uint32_t k = first; k < end; k++) {
        uint32_t face = m->grid_faces[k];
        if (takes_face(s, face)) {
            heap->count += evaluate(s, face, &heap->data[heap->count]);
        }
    }
    return true;
}

/// All candidates in the box, as a heap; with a floor asked for, those beside only where none is over or under.
/// @return false when there are none, or no memory for them
static bool collect(nav_query *query, const locator *s, candidate_heap *heap)
{
    const nav_mesh *m = s->m;
    nav__grid_span span;
    nav__p2 low = {s->p.x - s->half_x, s->p.z - s->half_z}, high = {s->p.x + s->half_x, s->p.z + s->half_z};
    if (!nav__grid_cover(m, low, high, &span)) {
        return false;
    }
    for (uint32_t j = span.j0; j <= span.j1; j++) {
        if (!collect_row(query, s, &span, j, heap)) {
            return false;
        }
    }
    bool over_only = false;
    for (uint32_t k = 0; k < heap->count && s->floor != NAV_FLOOR_NEAREST; k++) {
        over_only = over_only || heap->data[k].over;
    }
    for (uint32_t k = heap->count; over_only && k > 0; k--) {
        if (!heap->data[k - 1].over) {
            heap->data[k - 1] = heap->data[--heap->count];
        }
    }
    for (uint32_t k = heap->count / 2; k > 0; k--) {
        sift_down(heap, k - 1);
    }
    return heap->count > 0;
}

static bool share_edge(const nav_mesh *m, uint32_t a, uint32_t b)
{
    for (uint32_t e = m->cells[a].first_edge; e < m->cells[a + 1].first_edge; e++) {
        if (m->edges[e].twin != NAV_NONE && m->edge_cell[m->edges[e].twin] == b) {
            return true;
        }
    }
    return false;
}

static bool is_same_floor(const locator *s, const candidate *a, const candidate *b)
{
    double gap = fabs(a->y - b->y);
    if (!a->over || !b->over) {
        return gap <= s->climb + s->tall_slack;
    }
    uint32_t cell_a = s->m->faces[a->face].cell, cell_b = s->m->faces[b->face].cell;
    return gap <= s->tall_slack || cell_a == cell_b || share_edge(s->m, cell_a, cell_b);
}

static bool has_nearer_face(const locator *s, uint32_t cell, double reach)
{
    for (uint32_t k = s->m->cells[cell].first_face; k < s->m->cells[cell + 1].first_face; k++) {
        nav__p2 at;
        candidate c;
        uint32_t face = s->m->cell_faces[k];
        double d2 = nav__face_closest(s->m, face, s->p, reach * reach, &at);
        if (d2 < reach * reach && judge(s, face, at, d2 <= s->slack * s->slack, &c)) {
            return true;
        }
    }
    return false;
}

static bool touches(const nav_mesh *m, uint32_t e, nav__p2 at, double slack)
{
    nav__p2 a = nav__edge_from(m, e), b = nav__edge_from(m, nav__edge_next(m, e));
    nav__p2 ab = nav__sub(b, a), ap = nav__sub(at, a);
    double t = nav__dot(ap, ab) / nav__dot(ab, ab);
    t = t > 0 ? t < 1 ? t : 1 : 0;
    return nav__dist(at, (nav__p2){a.x + t * ab.x, a.z + t * ab.z}) <= slack;
}

/// Does the candidate's surface go on towards the position? Looks at its cell and at those met by
/// crossing open edges that touch the place, and so all round a corner.
static bool goes_on(const locator *s, const candidate *c)
{
    const nav_mesh *m = s->m;
    double reach = nav__dist(c->at, s->p) - s->slack;
    if (!(reach > 0)) {
        return false;
    }
    uint32_t around[MOST_AROUND], count = 1;
    around[0] = m->faces[c->face].cell;
    for (uint32_t k = 0; k < count; k++) {
        if (has_nearer_face(s, around[k], reach)) {
            return true;
        }
        for (uint32_t e = m->cells[around[k]].first_edge; e < m->cells[around[k] + 1].first_edge; e++) {
            uint32_t twin = m->edges[e].twin, next = twin == NAV_NONE ? NAV_NONE : m->edge_cell[twin];
            bool known = next == NAV_NONE || count == MOST_AROUND || !touches(m, e, c->at, 2 * s->slack) ||
                         !nav__passes(m, s->filter, next);
            for (uint32_t i = 0; i < count && !known; i++) {
                known = around[i] == next;
            }
            if (!known) {
                around[count++] = next;
            }
        }
    }
    return false;
}

uint32_t nav_query_nearest_many(nav_query *query, const nav_mesh *mesh, nav_vec point, const nav_snap *snap,
                                nav_place *places, uint32_t cap)
{
    locator s;
    candidate_heap heap = {NULL, 0};
    if (cap == 0 || !begin(&s, mesh, point, snap) || !collect(query, &s, &heap)) {
        return 0;
    }
    candidate *kept = nav__reserve(query, &query->cells, cap * sizeof *kept);
    uint32_t count = 0, last = NAV_NONE;
    while (kept && heap.count > 0 && count < cap) {
        candidate c = pop_best(&heap);
        bool another = c.face != last;
        last = c.face;
        for (uint32_t i = 0; i < count && another; i++) {
            another = !is_same_floor(&s, &c, &kept[i]);
        }
        if (another && !c.over) {
            another = speaks_for_polygon(&s, c.face, nav__dist(c.at, s.p) * nav__dist(c.at, s.p) * (1 - 1e-12)) &&
                      (count == 0 || !goes_on(&s, &c));
        }
        if (another) {
            kept[count] = c;
            write_place(&s, point, &c, &places[count++]);
        }
    }
    return count;
}
