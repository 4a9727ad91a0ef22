/// Faces that cover each other at one height, as a floor drawn twice does: no edge joins them, so a search cannot
/// change from one to the other, and people should know.
#include "build.h"

/// Pairs looked at: piles of faces in one place must not stop the build.
#define MOST_PAIRS 2000000u
#define MOST_PAIRS_PER_FACE 64u
#define MOST_CORNERS 64
#define LEAST_SHARE 1e-3 ///< of the smaller face, that is covered
#define LEVEL 0.1        ///< in climbs: faces no further apart in height are one floor

typedef struct ring {
    nav__p2 at[2 * MOST_CORNERS];
    uint32_t count;
} ring;

/// Of a face, x, height and z.
typedef struct bounds {
    float low[3], high[3];
} bounds;

static bool load(const nav__build *b, uint32_t face, ring *r)
{
    uint32_t first = b->faces[face].first_corner;
    r->count = b->faces[face + 1].first_corner - first;
    if (r->count > MOST_CORNERS) {
        return false;
    }
    for (uint32_t k = 0; k < r->count; k++) {
        r->at[k] = nav__build_point(b, b->face_corners[first + k]);
    }
    return true;
}

static double area_of(const ring *r)
{
    double twice = 0;
    for (uint32_t k = 2; k < r->count; k++) {
        twice += nav__cross(nav__sub(r->at[k - 1], r->at[0]), nav__sub(r->at[k], r->at[0]));
    }
    return twice / 2;
}

static nav__p2 middle_of(const ring *r)
{
    nav__p2 m = {0, 0};
    for (uint32_t k = 0; k < r->count; k++) {
        m.x += r->at[k].x / r->count;
        m.z += r->at[k].z / r->count;
    }
    return m;
}

/// Does a side of g have all of f on its other side, but for a hair? So it is for neighbours.
static bool parted(const ring *f, const ring *g, double hair)
{
    nav__p2 a = g->at[g->count - 1];
    for (uint32_t k = 0; k < g->count; k++) {
        nav__p2 u = nav__sub(g->at[k], a);
        double most = hair * (fabs(u.x) + fabs(u.z));
        uint32_t i = 0;
        while (i < f->count && nav__cross(u, nav__sub(f->at[i], a)) <= most) {
            i++;
        }
        if (i == f->count) {
            return true;
        }
        a = g->at[k];
    }
    return false;
}

/// Cuts off what lies to the right of the line from a to c (Sutherland and Hodgman, "Reentrant Polygon Clipping",
/// 1974).
static void clip(const ring *from, nav__p2 a, nav__p2 c, ring *to)
{
    nav__p2 u = nav__sub(c, a);
    to->count = 0;
    for (uint32_t k = 0; k < from->count; k++) {
        nav__p2 p = from->at[k], q = from->at[k + 1 < from->count ? k + 1 : 0];
        double side_p = nav__cross(u, nav__sub(p, a)), side_q = nav__cross(u, nav__sub(q, a));
        if (side_p >= 0) {
            to->at[to->count++] = p;
        }
        if ((side_p > 0 && side_q < 0) || (side_p < 0 && side_q > 0)) {
            double t = side_p / (side_p - side_q);
            to->at[to->count++] = (nav__p2){p.x + t * (q.x - p.x), p.z + t * (q.z - p.z)};
        }
    }
}

/// The part of two faces' ground that is one. @return its area
static double intersect(const ring *f, const ring *g, ring *both)
{
    ring other;
    *both = *f;
    for (uint32_t k = 0; k < g->count && both->count >= 3 && both->count + 1 < 2 * MOST_CORNERS; k++) {
        clip(both, g->at[k], g->at[k + 1 < g->count ? k + 1 : 0], &other);
        *both = other;
    }
    return both->count >= 3 ? area_of(both) : 0;
}

/// Height of a face over a point in it, by the fan round its first corner.
static double height_at(const nav__build *b, uint32_t face, nav__p2 p)
{
    uint32_t first = b->faces[face].first_corner, end = b->faces[face + 1].first_corner, o = b->face_corners[first];
    nav__p2 at = nav__build_point(b, o);
    double y = (double)nav__build_height(b, o);
    for (uint32_t k = first + 1; k + 1 < end; k++) {
        uint32_t i = b->face_corners[k], j = b->face_corners[k + 1];
        nav__p2 u = nav__sub(nav__build_point(b, i), at), v = nav__sub(nav__build_point(b, j), at), w = nav__sub(p, at);
        double whole = nav__cross(u, v);
        if (whole > 0 && (nav__cross(w, v) >= 0 || k + 2 == end) && (nav__cross(u, w) >= 0 || k == first + 1)) {
            double s = nav__cross(w, v) / whole, t = nav__cross(u, w) / whole;
            return y + s * ((double)nav__build_height(b, i) - y) + t * ((double)nav__build_height(b, j) - y);
        }
    }
    return y;
}

static void note(nav__build *b, uint32_t f, uint32_t g, nav__p2 p, double y)
{
    nav_report *r = b->report;
    if (r->overlap_count < NAV_REPORT_CAP) {
        r->overlaps[r->overlap_count].at = (nav_vec){b->origin.x + p.x, b->origin.y + y, b->origin.z + p.z};
        r->overlaps[r->overlap_count].polygons[0] = b->faces[f].polygon;
        r->overlaps[r->overlap_count].polygons[1] = b->faces[g].polygon;
    }
    r->overlap_count++;
}

/// Looks at two faces near each other.
static void compare(nav__build *b, uint32_t f, const ring *ring_f, uint32_t g)
{
    ring ring_g, both;
    if (b->faces[f].polygon == b->faces[g].polygon || !load(b, g, &ring_g)) {
        return;
    }
    double hair = 2 * fmax(b->weld, b->rounding);
    if (parted(ring_f, &ring_g, hair) || parted(&ring_g, ring_f, hair)) {
        return;
    }
    double area = intersect(ring_f, &ring_g, &both);
    if (area <= LEAST_SHARE * fmin(area_of(ring_f), area_of(&ring_g))) {
        return;
    }
    double round = 0;
    for (uint32_t k = 0; k < both.count; k++) {
        round += nav__dist(both.at[k], both.at[k + 1 < both.count ? k + 1 : 0]);
    }
    if (area <= round * hair) { // a sliver along a border that is joined
        return;
    }
    nav__p2 p = middle_of(&both);
    double y = height_at(b, f, p);
    if (fabs(y - height_at(b, g, p)) <= fmax(LEVEL * b->agent.climb, b->rounding)) {
        note(b, f, g, p, y);
    }
}

static void measure(const nav__build *b, bounds *all)
{
    for (uint32_t f = 0; f < b->face_count; f++) {
        bounds m = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
        for (uint32_t k = b->faces[f].first_corner; k < b->faces[f + 1].first_corner; k++) {
            const float *p = &b->points[3 * (size_t)b->face_corners[k]];
            for (int i = 0; i < 3; i++) {
                m.low[i] = p[i] < m.low[i] ? p[i] : m.low[i];
                m.high[i] = p[i] > m.high[i] ? p[i] : m.high[i];
            }
        }
        all[f] = m;
    }
}

/// Do the bounds of two faces overlap on the ground, and nearly in height?
static bool near(const bounds *f, const bounds *g, float hair, float level)
{
    return f->high[0] - g->low[0] > hair && g->high[0] - f->low[0] > hair && f->high[2] - g->low[2] > hair &&
           g->high[2] - f->low[2] > hair && g->low[1] - f->high[1] <= level && f->low[1] - g->high[1] <= level;
}

/// Looks at the faces behind f in the grid cells that f may touch.
static void look_around(nav__build *b, uint32_t f, const bounds *all, uint32_t *stamp, uint64_t *pairs)
{
    const nav__work_grid *grid = &b->grid;
    const float hair = (float)(2 * fmax(b->weld, b->rounding)),
                level = (float)fmax(LEVEL * b->agent.climb, b->rounding);
    ring own;
    if (!load(b, f, &own)) {
        return;
    }
    const nav__p2 low = {(double)all[f].low[0], (double)all[f].low[2]};
    const nav__p2 high = {(double)all[f].high[0], (double)all[f].high[2]};
    uint32_t i0 = nav__grid_index(low.x, grid->x, grid->inverse, grid->nx);
    uint32_t i1 = nav__grid_index(high.x, grid->x, grid->inverse, grid->nx);
    uint32_t j0 = nav__grid_index(low.z, grid->z, grid->inverse, grid->nz);
    uint32_t j1 = nav__grid_index(high.z, grid->z, grid->inverse, grid->nz);
    for (uint32_t j = j0; j <= j1; j++) {
        for (uint32_t i = i0; i <= i1; i++) {
            size_t cell = (size_t)j * grid->nx + i;
            for (uint32_t k = grid->first[cell]; k < grid->first[cell + 1] && *pairs > 0; k++) {
                uint32_t g = grid->faces[k];
                --*pairs;
                if (g > f && stamp[g] != f && near(&all[f], &all[g], hair, level)) {
                    stamp[g] = f;
                    compare(b, f, &own, g);
                }
            }
        }
    }
}

nav_status nav__build_cover(nav__build *b)
{
    uint64_t pairs = MOST_PAIRS + (uint64_t)MOST_PAIRS_PER_FACE * b->face_count;
    uint32_t *stamp = nav__build_take(b, b->face_count, sizeof *stamp);
    bounds *all = nav__build_take(b, b->face_count, sizeof *all);
    if (!stamp || !all) {
        return nav__build_no_memory(b);
    }
    measure(b, all);
    memset(stamp, 0xFF, b->face_count * sizeof *stamp);
    for (uint32_t f = 0; f < b->face_count && pairs > 0; f++) {
        look_around(b, f, all, stamp, &pairs);
    }
    nav__build_give(b, stamp);
    nav__build_give(b, all);
    if (b->report->overlap_count > 0) {
        nav__build_warn(b, "%u pairs of polygons cover each other at one height (see overlaps), and no edge joins them",
                        b->report->overlap_count);
    }
    return NAV_OK;
}
