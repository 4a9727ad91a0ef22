/// Whole edges to portals: half-edges that run between the same two points in opposite directions.
///
/// Where the file names neighbours its word comes first. Where more than two faces share an edge, the
/// geometry decides: the two that continue each other most evenly are joined, the rest stays closed.
#include "build.h"

/// Half-edges between one pair of points beyond this many are left alone.
#define MOST_AT_EDGE 64

/// May this half-edge be joined to a face of `polygon`, as far as the file says?
static bool allows(const nav__build *b, uint32_t half, uint32_t polygon, const bool *kept)
{
    uint32_t kind = b->halves[half].kind;
    if (kind == NAV_EDGE_WALL) {
        return false;
    }
    // A neighbour that was dropped, or none of this mesh, tells nothing.
    return kind >= b->soup->poly_count || kind == polygon || !kept[kind];
}

static uint32_t polygon_of(const nav__build *b, uint32_t half)
{
    return b->faces[b->items[b->cells[b->halves[half].cell].first_item].face].polygon;
}

bool nav__build_may_join(const nav__build *b, uint32_t g, uint32_t h)
{
    return allows(b, g, polygon_of(b, h), b->kept) && allows(b, h, polygon_of(b, g), b->kept);
}

/// Does each half-edge name the other's polygon?
static bool name_each_other(const nav__build *b, uint32_t g, uint32_t h)
{
    return b->halves[g].kind == polygon_of(b, h) && b->halves[h].kind == polygon_of(b, g);
}

static void pair(nav__build *b, uint32_t g, uint32_t h)
{
    b->halves[g].twin = h;
    b->halves[h].twin = g;
}

/// Slope of the half-edge's face across the edge: height gained per unit of ground distance to the left.
static double slope_left(const nav__build *b, uint32_t half)
{
    const nav__work_face *f = &b->faces[b->items[b->cells[b->halves[half].cell].first_item].face];
    nav__p2 from = nav__build_spot(b, half), to = nav__build_spot(b, b->halves[half].next);
    double length = nav__dist(from, to), far = 0, slope = 0;
    double y0 = (double)nav__build_height(b, b->halves[half].spot);
    double y1 = (double)nav__build_height(b, b->halves[b->halves[half].next].spot);
    for (uint32_t k = f->first_corner; k < f[1].first_corner; k++) {
        nav__p2 p = nav__build_point(b, b->face_corners[k]);
        double left = nav__cross(nav__sub(to, from), nav__sub(p, from)) / length;
        if (left > far) { // the corner farthest from the edge tells best
            double along = nav__dot(nav__sub(to, from), nav__sub(p, from)) / (length * length);
            far = left;
            slope = ((double)nav__build_height(b, b->face_corners[k]) - (y0 + along * (y1 - y0))) / left;
        }
    }
    return slope;
}

/// Joins the best pairs among half-edges of both directions, best first.
static void join_best(nav__build *b, const uint32_t *halves, uint32_t count)
{
    double angle[MOST_AT_EDGE];
    for (uint32_t i = 0; i < count; i++) {
        angle[i] = atan(slope_left(b, halves[i]));
    }
    for (;;) {
        double best = INFINITY;
        uint32_t best_i = 0, best_j = 0;
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t j = i + 1; j < count; j++) {
                uint32_t g = halves[i], h = halves[j];
                if (b->halves[g].twin != NAV_NONE || b->halves[h].twin != NAV_NONE ||
                    b->halves[g].spot == b->halves[h].spot || !nav__build_may_join(b, g, h)) {
                    continue;
                }
                // Going on evenly means: as steeply up to the left as down to the right.
                double bend = fabs(angle[i] + angle[j]) - (name_each_other(b, g, h) ? 10 : 0);
                if (bend < best) {
                    best = bend;
                    best_i = i;
                    best_j = j;
                }
            }
        }
        if (best == INFINITY) {
            return;
        }
        pair(b, halves[best_i], halves[best_j]);
    }
}

static void report_edge(nav__build *b, uint32_t half)
{
    const uint32_t ends[2] = {b->halves[half].spot, b->halves[b->halves[half].next].spot};
    nav_report *r = b->report;
    if (r->non_manifold_count < NAV_REPORT_CAP) {
        for (int i = 0; i < 2; i++) {
            r->non_manifold[r->non_manifold_count][i] = nav__build_position(b, ends[i]);
        }
    }
    r->non_manifold_count++;
}

/// All half-edges between one pair of points.
static void join_group(nav__build *b, const uint32_t *halves, uint32_t count)
{
    if (count == 2) {
        uint32_t g = halves[0], h = halves[1];
        if (b->halves[g].spot != b->halves[h].spot && b->halves[g].twin == NAV_NONE && b->halves[h].twin == NAV_NONE &&
            nav__build_may_join(b, g, h)) {
            pair(b, g, h);
        }
    } else if (count > 2) {
        report_edge(b, halves[0]);
        join_best(b, halves, count < MOST_AT_EDGE ? count : MOST_AT_EDGE);
    }
}

/// Half-edges sorted by their lower point: CSR arrays.
static bool bucket_by_point(nav__build *b, uint32_t **first_out, uint32_t **list_out)
{
    uint32_t *first = nav__build_take(b, (size_t)b->vertex_points + 2, sizeof *first);
    uint32_t *list = nav__build_take(b, b->half_count, sizeof *list);
    *first_out = first;
    *list_out = list;
    if (!first || !list) {
        return false;
    }
    memset(first, 0, ((size_t)b->vertex_points + 2) * sizeof *first);
    for (uint32_t h = 0; h < b->half_count; h++) {
        uint32_t p = b->halves[h].spot, q = b->halves[b->halves[h].next].spot;
        first[(p < q ? p : q) + 2]++;
    }
    for (uint32_t p = 0; p < b->vertex_points; p++) {
        first[p + 2] += first[p + 1];
    }
    for (uint32_t h = 0; h < b->half_count; h++) { // first[p + 1] moves from p's start to its end
        uint32_t p = b->halves[h].spot, q = b->halves[b->halves[h].next].spot;
        list[first[(p < q ? p : q) + 1]++] = h;
    }
    return true;
}

static uint32_t upper_point(const nav__build *b, uint32_t half)
{
    uint32_t p = b->halves[half].spot, q = b->halves[b->halves[half].next].spot;
    return p > q ? p : q;
}

/// Sorts one point's half-edges by their other point. `keys` has room for twice as many.
static void sort_bucket(const nav__build *b, uint32_t *list, uint32_t count, uint64_t *keys)
{
    if (count <= 24) {
        for (uint32_t i = 1; i < count; i++) {
            uint32_t h = list[i], upper = upper_point(b, h), j = i;
            for (; j > 0 && upper_point(b, list[j - 1]) > upper; j--) {
                list[j] = list[j - 1];
            }
            list[j] = h;
        }
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = (uint64_t)upper_point(b, list[i]) << 32 | list[i];
    }
    nav__sort_u64(keys, keys + count, count);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = (uint32_t)keys[i];
    }
}

static bool mark_kept(nav__build *b)
{
    b->kept = nav__build_take(b, b->soup->poly_count, sizeof *b->kept);
    if (!b->kept) {
        return false;
    }
    memset(b->kept, 0, b->soup->poly_count * sizeof *b->kept);
    for (uint32_t f = 0; f < b->face_count; f++) {
        b->kept[b->faces[f].polygon] = true;
    }
    return true;
}

nav_status nav__build_join(nav__build *b)
{
    uint32_t *first, *list;
    if (!mark_kept(b) || !bucket_by_point(b, &first, &list)) {
        return nav__build_no_memory(b);
    }
    uint32_t most = 0;
    for (uint32_t p = 0; p < b->vertex_points; p++) {
        uint32_t count = first[p + 1] - first[p];
        most = count > most ? count : most;
    }
    uint64_t *keys = nav__build_take(b, 2 * (size_t)most, sizeof *keys);
    if (!keys) {
        return nav__build_no_memory(b);
    }
    for (uint32_t p = 0; p < b->vertex_points; p++) {
        uint32_t *bucket = &list[first[p]], count = first[p + 1] - first[p];
        sort_bucket(b, bucket, count, keys);
        for (uint32_t i = 0, j; i < count; i = j) {
            uint32_t upper = upper_point(b, bucket[i]);
            for (j = i + 1; j < count && upper_point(b, bucket[j]) == upper; j++) {
            }
            join_group(b, &bucket[i], j - i);
        }
    }
    nav__build_give(b, first);
    nav__build_give(b, list);
    nav__build_give(b, keys);
    return NAV_OK;
}
