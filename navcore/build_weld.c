/// Vertices to points: vertices nearer to one another than the tolerance become one.
///
/// By distance, never by rounded cell: two vertices on either side of a cell border are as near as any.
/// A vertex joins the nearest point within the tolerance, or becomes a point itself. Points stay where
/// the first of their vertices is, so a chain of near vertices cannot drift.
#include "build.h"

/// Hash grid over space. Cells are a few tolerances wide: most vertices then lie in one cell with all
/// that may be near them, and points, being further apart than the tolerance, cannot crowd a cell.
typedef struct hash_grid {
    double inverse; ///< 1 / cell; 0: tolerance zero, the key is the position itself
    uint32_t *heads;
    uint32_t *next; ///< [points]
    uint32_t mask;
} hash_grid;

static uint64_t mix(uint64_t h)
{
    h ^= h >> 31;
    h *= 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
    h *= 0xBF58476D1CE4E5B9u;
    return h ^ h >> 32;
}

static uint32_t bucket(const hash_grid *g, const int64_t key[3])
{
    uint64_t h = mix((uint64_t)key[0]);
    h = mix(h + (uint64_t)key[1]);
    h = mix(h + (uint64_t)key[2]);
    return (uint32_t)h & g->mask;
}

static void cell_of(const hash_grid *g, const float p[3], double shift, int64_t key[3])
{
    for (int i = 0; i < 3; i++) {
        if (g->inverse > 0) {
            key[i] = (int64_t)floor(((double)p[i] + shift) * g->inverse);
        } else {
            uint32_t bits;
            memcpy(&bits, &p[i], sizeof bits);
            key[i] = bits;
        }
    }
}

static double squared_distance(const float *a, const float *b)
{
    double x = (double)a[0] - (double)b[0], y = (double)a[1] - (double)b[1], z = (double)a[2] - (double)b[2];
    return x * x + y * y + z * z;
}

/// The nearest point within the tolerance, NAV_NONE: none.
static uint32_t find_near(const nav__build *b, const hash_grid *g, const float p[3])
{
    double limit = b->weld * b->weld;
    uint32_t found = NAV_NONE;
    int64_t low[3], high[3], key[3];
    cell_of(g, p, -b->weld, low);
    cell_of(g, p, b->weld, high);
    for (key[0] = low[0]; key[0] <= high[0]; key[0]++) {
        for (key[1] = low[1]; key[1] <= high[1]; key[1]++) {
            for (key[2] = low[2]; key[2] <= high[2]; key[2]++) {
                for (uint32_t q = g->heads[bucket(g, key)]; q != NAV_NONE; q = g->next[q]) {
                    double d = squared_distance(p, &b->points[3 * (size_t)q]);
                    if (d < limit || (d == limit && (found == NAV_NONE || q < found))) {
                        limit = d;
                        found = q;
                    }
                }
            }
        }
    }
    return found;
}

static void insert(const nav__build *b, hash_grid *g, uint32_t point)
{
    int64_t key[3];
    cell_of(g, &b->points[3 * (size_t)point], 0, key);
    uint32_t *head = &g->heads[bucket(g, key)];
    g->next[point] = *head;
    *head = point;
}

static bool make_grid(nav__build *b, hash_grid *g, uint32_t vertices)
{
    // Below the float step nothing is near without being equal.
    bool exact = b->weld <= b->largest * 0x1p-30;
    g->inverse = exact ? 0 : 1 / (8 * b->weld);
    uint32_t buckets = 64;
    while (buckets < vertices) {
        buckets *= 2;
    }
    g->mask = buckets - 1;
    g->heads = nav__build_take(b, buckets, sizeof *g->heads);
    g->next = nav__build_take(b, vertices, sizeof *g->next);
    if (!g->heads || !g->next) {
        return false;
    }
    memset(g->heads, 0xFF, buckets * sizeof *g->heads);
    return true;
}

/// Adding zero turns -0 into 0: they are one place and shall print as one.
static void relative(const nav__build *b, const double *v, float out[3])
{
    out[0] = (float)(v[0] - b->origin.x) + 0.0f;
    out[1] = (float)(v[1] - b->origin.y) + 0.0f;
    out[2] = (float)(v[2] - b->origin.z) + 0.0f;
}

static nav_status add_detail_points(nav__build *b)
{
    const nav_soup *s = b->soup;
    uint32_t count = s->detail_first ? s->detail_vertex_count : 0;
    b->point_count = b->vertex_points + count;
    float *points = nav__build_retake(b, b->points, (size_t)b->point_count, 3 * sizeof *points);
    if (!points) {
        return nav__build_no_memory(b);
    }
    b->points = points;
    for (uint32_t i = 0; i < count; i++) {
        relative(b, &s->detail_vertices[3 * (size_t)i], &points[3 * (size_t)(b->vertex_points + i)]);
    }
    return NAV_OK;
}

nav_status nav__build_weld(nav__build *b)
{
    const nav_soup *s = b->soup;
    hash_grid grid;
    b->point_of = nav__build_take(b, s->vertex_count, sizeof *b->point_of);
    b->points = nav__build_take(b, s->vertex_count, 3 * sizeof *b->points);
    if (!b->point_of || !b->points || !make_grid(b, &grid, s->vertex_count)) {
        return nav__build_no_memory(b);
    }
    memset(b->point_of, 0xFF, s->vertex_count * sizeof *b->point_of);
    for (uint32_t k = 0; k < s->corner_count; k++) {
        b->point_of[s->corners[k]] = 0;
    }
    for (uint32_t v = 0; v < s->vertex_count; v++) {
        if (b->point_of[v] == NAV_NONE) {
            continue;
        }
        float *p = &b->points[3 * (size_t)b->vertex_points];
        relative(b, &s->vertices[3 * (size_t)v], p);
        uint32_t near = find_near(b, &grid, p);
        if (near != NAV_NONE) {
            b->point_of[v] = near;
            b->report->welded_vertices++;
        } else {
            insert(b, &grid, b->vertex_points);
            b->point_of[v] = b->vertex_points++;
        }
    }
    nav__build_give(b, grid.heads);
    nav__build_give(b, grid.next);
    return add_detail_points(b);
}
