#include "oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// A vertex seen from one of its free sectors: the open polygons round it that are joined by shared edges.
typedef struct corner {
    double x, z;
    uint32_t first, count; ///< in oracle.sectors
} corner;

struct oracle {
    const poly_mesh *mesh;
    bool *open;
    double slack;
    uint32_t *component;    ///< [poly_count] of open polygons joined by shared edges
    uint32_t *vertex_first; ///< [vertex_count + 1] in vertex_polygons
    uint32_t *vertex_polygons;
    uint32_t *sectors; ///< polygons of the corners' sectors
    uint32_t sector_count;
    corner *corners;
    uint32_t corner_count;
    double *sight; ///< [corner_count * corner_count] length of the straight line, INFINITY where there is none

    // Scratch of a walk and of a query.
    double *reached; ///< [poly_count] least share of the way at which a walk is in a polygon; INFINITY: not there
    uint32_t *queue; ///< [poly_count]
    uint32_t queue_cap;
    double *from_sight, *to_sight, *best; ///< [corner_count]
    bool *settled;                        ///< [corner_count]
};

/// Polygons that hold one point.
typedef struct spot {
    double x, z;
    uint32_t count;
    uint32_t polygons[64];
} spot;

static const double *vertex_at(const oracle *o, uint32_t v)
{
    return &o->mesh->vertices[3 * (size_t)v];
}

/// Distance of w from the segment uv; `share` is where on uv the nearest point lies. All are [x, y, z].
static double from_segment(const double *w, const double *u, const double *v, double *share)
{
    double dx = v[0] - u[0], dz = v[2] - u[2], square = dx * dx + dz * dz;
    double t = square > 0 ? ((w[0] - u[0]) * dx + (w[2] - u[2]) * dz) / square : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    *share = t;
    return hypot(u[0] + dx * t - w[0], u[2] + dz * t - w[2]);
}

/// Where the segment st touches the edge uv: the shares [low, high] of the way from s to t.
/// @return false when they keep apart by more than `slack`
static bool touches(const double *s, const double *t, const double *u, const double *v, double slack, double *low,
                    double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    double su = poly_mesh_turn(s, t, u), sv = poly_mesh_turn(s, t, v);
    double us = poly_mesh_turn(u, v, s), ut = poly_mesh_turn(u, v, t);
    if (((su > 0 && sv < 0) || (su < 0 && sv > 0)) && ((us > 0 && ut < 0) || (us < 0 && ut > 0))) {
        *low = *high = us / (us - ut);
    }
    const double *ends[2] = {u, v};
    for (int i = 0; i < 2; i++) {
        double share;
        if (from_segment(ends[i], s, t, &share) <= slack) {
            *low = fmin(*low, share);
            *high = fmax(*high, share);
        }
    }
    double unused;
    if (from_segment(s, u, v, &unused) <= slack) {
        *low = 0;
        *high = fmax(*high, 0);
    }
    if (from_segment(t, u, v, &unused) <= slack) {
        *low = fmin(*low, 1);
        *high = 1;
    }
    return *low <= *high;
}

/// Walks the straight line from s to t, beginning in the given polygons, over shared edges only and never
/// backwards. Afterwards reached[p] is finite for each polygon the walk came to, and queue[0 .. result - 1]
/// lists them (some more than once); the caller clears with `forget`.
static uint32_t walk(const oracle *o, const double *s, const double *t, const uint32_t *start, uint32_t start_count,
                     double slack)
{
    uint32_t head = 0, tail = 0;
    double length = hypot(t[0] - s[0], t[2] - s[2]), step = length > 0 ? slack / length : 1;
    for (uint32_t i = 0; i < start_count; i++) {
        if (o->open[start[i]] && o->reached[start[i]] > 0) {
            o->reached[start[i]] = 0;
            o->queue[tail++] = start[i];
        }
    }
    while (head < tail) {
        uint32_t p = o->queue[head++];
        double here = o->reached[p];
        for (uint32_t k = 0; k < poly_mesh_size(o->mesh, p); k++) {
            uint32_t q = o->mesh->neighbours[o->mesh->first[p] + k];
            double low, high;
            if (q == NAV_NONE || !o->open[q] ||
                !touches(s, t, poly_mesh_corner(o->mesh, p, k), poly_mesh_corner(o->mesh, p, k + 1), slack, &low,
                         &high) ||
                high < here - step) {
                continue;
            }
            double there = fmax(here, low);
            if (there < o->reached[q] - 1e-12) {
                if (tail == o->queue_cap) {
                    abort(); // a wrong bound must not look like a wall
                }
                o->reached[q] = there;
                o->queue[tail++] = q;
            }
        }
    }
    return tail;
}

static void forget(const oracle *o, uint32_t visited)
{
    for (uint32_t i = 0; i < visited; i++) {
        o->reached[o->queue[i]] = INFINITY;
    }
}

/// Does a straight line lead from s, in one of the first polygons, to t in one of the last?
static bool sees(const oracle *o, const double *s, const uint32_t *first, uint32_t first_count, const double *t,
                 const uint32_t *last, uint32_t last_count)
{
    uint32_t visited = walk(o, s, t, first, first_count, o->slack);
    bool there = false;
    for (uint32_t i = 0; i < last_count && !there; i++) {
        there = o->open[last[i]] && o->reached[last[i]] < INFINITY;
    }
    forget(o, visited);
    return there;
}

static void number_components(oracle *o)
{
    const poly_mesh *m = o->mesh;
    uint32_t next = 0;
    for (uint32_t p = 0; p < m->poly_count; p++) {
        o->component[p] = NAV_NONE;
    }
    for (uint32_t root = 0; root < m->poly_count; root++) {
        if (!o->open[root] || o->component[root] != NAV_NONE) {
            continue;
        }
        uint32_t head = 0, tail = 0;
        o->component[root] = next;
        o->queue[tail++] = root;
        while (head < tail) {
            uint32_t p = o->queue[head++];
            for (uint32_t c = m->first[p]; c < m->first[p + 1]; c++) {
                uint32_t q = m->neighbours[c];
                if (q != NAV_NONE && o->open[q] && o->component[q] == NAV_NONE) {
                    o->component[q] = next;
                    o->queue[tail++] = q;
                }
            }
        }
        next++;
    }
}

static void list_vertex_polygons(oracle *o)
{
    const poly_mesh *m = o->mesh;
    o->vertex_first = poly_mesh_resize(NULL, (size_t)m->vertex_count + 2, sizeof *o->vertex_first);
    o->vertex_polygons = poly_mesh_resize(NULL, m->corner_count, sizeof *o->vertex_polygons);
    memset(o->vertex_first, 0, ((size_t)m->vertex_count + 2) * sizeof *o->vertex_first);
    for (uint32_t c = 0; c < m->corner_count; c++) {
        o->vertex_first[m->corners[c] + 2]++;
    }
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        o->vertex_first[v + 2] += o->vertex_first[v + 1];
    }
    for (uint32_t p = 0; p < m->poly_count; p++) {
        for (uint32_t c = m->first[p]; c < m->first[p + 1]; c++) {
            o->vertex_polygons[o->vertex_first[m->corners[c] + 1]++] = p;
        }
    }
}

/// The corner of polygon p at vertex v.
static uint32_t corner_of(const poly_mesh *m, uint32_t p, uint32_t v)
{
    uint32_t k = 0;
    while (m->corners[m->first[p] + k] != v) {
        k++;
    }
    return k;
}

/// Appends the free sector of v that holds polygon p to oracle.sectors.
/// @return its angle; INFINITY when no wall bounds it
static double add_sector(oracle *o, uint32_t v, uint32_t p)
{
    const poly_mesh *m = o->mesh;
    uint32_t first = o->sector_count;
    double angle = 0;
    bool wall = false;
    o->sectors[o->sector_count++] = p;
    for (uint32_t i = first; i < o->sector_count; i++) {
        uint32_t at = o->sectors[i], size = poly_mesh_size(m, at), k = corner_of(m, at, v);
        const double *here = vertex_at(o, v), *before = poly_mesh_corner(m, at, k + size - 1),
                     *after = poly_mesh_corner(m, at, k + 1);
        double bx = before[0] - here[0], bz = before[2] - here[2], ax = after[0] - here[0], az = after[2] - here[2];
        angle += fabs(atan2(ax * bz - az * bx, ax * bx + az * bz));
        uint32_t sides[2] = {m->neighbours[m->first[at] + k], m->neighbours[m->first[at] + (k + size - 1) % size]};
        for (int s = 0; s < 2; s++) {
            if (sides[s] == NAV_NONE || !o->open[sides[s]]) {
                wall = true;
                continue;
            }
            bool known = false;
            for (uint32_t j = first; j < o->sector_count; j++) {
                known |= o->sectors[j] == sides[s];
            }
            if (!known) {
                o->sectors[o->sector_count++] = sides[s];
            }
        }
    }
    return wall ? angle : INFINITY;
}

/// One corner for each free sector of more than 180 degrees that a wall bounds: no shortest path bends elsewhere.
static void find_corners(oracle *o)
{
    const poly_mesh *m = o->mesh;
    const double straight = acos(-1.0);
    o->sectors = poly_mesh_resize(NULL, m->corner_count, sizeof *o->sectors);
    o->corners = poly_mesh_resize(NULL, m->corner_count, sizeof *o->corners);
    bool *seen = poly_mesh_resize(NULL, m->poly_count, sizeof *seen);
    memset(seen, 0, m->poly_count * sizeof *seen);
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        for (uint32_t i = o->vertex_first[v]; i < o->vertex_first[v + 1]; i++) {
            uint32_t p = o->vertex_polygons[i], first = o->sector_count;
            if (!o->open[p] || seen[p]) {
                continue;
            }
            double angle = add_sector(o, v, p);
            for (uint32_t s = first; s < o->sector_count; s++) {
                seen[o->sectors[s]] = true;
            }
            if (angle == INFINITY || angle <= straight + 1e-9) {
                // Keep the polygons marked until the vertex is done, but not the sector.
                o->sector_count = first;
                continue;
            }
            o->corners[o->corner_count++] =
                (corner){vertex_at(o, v)[0], vertex_at(o, v)[2], first, o->sector_count - first};
        }
        for (uint32_t i = o->vertex_first[v]; i < o->vertex_first[v + 1]; i++) {
            seen[o->vertex_polygons[i]] = false;
        }
    }
    free(seen);
}

static void find_sight(oracle *o)
{
    o->sight = poly_mesh_resize(NULL, (size_t)o->corner_count * o->corner_count, sizeof *o->sight);
    for (uint32_t i = 0; i < o->corner_count; i++) {
        o->sight[(size_t)i * o->corner_count + i] = 0;
        for (uint32_t k = 0; k < i; k++) {
            const corner *a = &o->corners[i], *b = &o->corners[k];
            double s[3] = {a->x, 0, a->z}, t[3] = {b->x, 0, b->z}, length = INFINITY;
            if (o->component[o->sectors[a->first]] == o->component[o->sectors[b->first]] &&
                sees(o, s, &o->sectors[a->first], a->count, t, &o->sectors[b->first], b->count)) {
                length = hypot(a->x - b->x, a->z - b->z);
            }
            o->sight[(size_t)i * o->corner_count + k] = o->sight[(size_t)k * o->corner_count + i] = length;
        }
    }
}

static double extent(const poly_mesh *m)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        for (int a = 0; a < 2; a++) {
            low[a] = fmin(low[a], m->vertices[3 * (size_t)v + 2 * (size_t)a]);
            high[a] = fmax(high[a], m->vertices[3 * (size_t)v + 2 * (size_t)a]);
        }
    }
    return m->vertex_count ? fmax(high[0] - low[0], high[1] - low[1]) : 0;
}

oracle *oracle_create(const poly_mesh *mesh, const bool *open, double slack)
{
    oracle *o = poly_mesh_resize(NULL, 1, sizeof *o);
    memset(o, 0, sizeof *o);
    uint32_t n = mesh->poly_count;
    o->mesh = mesh;
    o->slack = slack > 0 ? slack : 1e-9 * extent(mesh);
    o->open = poly_mesh_resize(NULL, n, sizeof *o->open);
    o->component = poly_mesh_resize(NULL, n, sizeof *o->component);
    o->reached = poly_mesh_resize(NULL, n, sizeof *o->reached);
    // A walk begins in a polygon at most once and mostly comes over each edge at most once; it may come again
    // when it finds an earlier way in.
    o->queue_cap = 4 * mesh->corner_count + n;
    o->queue = poly_mesh_resize(NULL, o->queue_cap, sizeof *o->queue);
    for (uint32_t p = 0; p < n; p++) {
        o->open[p] = !open || open[p];
        o->reached[p] = INFINITY;
    }
    number_components(o);
    list_vertex_polygons(o);
    find_corners(o);
    find_sight(o);
    o->from_sight = poly_mesh_resize(NULL, o->corner_count, sizeof *o->from_sight);
    o->to_sight = poly_mesh_resize(NULL, o->corner_count, sizeof *o->to_sight);
    o->best = poly_mesh_resize(NULL, o->corner_count, sizeof *o->best);
    o->settled = poly_mesh_resize(NULL, o->corner_count, sizeof *o->settled);
    return o;
}

void oracle_destroy(oracle *o)
{
    if (!o) {
        return;
    }
    void *parts[] = {o->open,    o->component, o->vertex_first, o->vertex_polygons, o->sectors, o->corners, o->sight,
                     o->reached, o->queue,     o->from_sight,   o->to_sight,        o->best,    o->settled};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        free(parts[i]);
    }
    free(o);
}

/// The vertex at the point, among those of its polygon; NAV_NONE when it is on none.
static uint32_t vertex_under(const oracle *o, oracle_point point)
{
    for (uint32_t k = 0; k < poly_mesh_size(o->mesh, point.polygon); k++) {
        const double *v = poly_mesh_corner(o->mesh, point.polygon, k);
        if (hypot(v[0] - point.x, v[2] - point.z) <= o->slack) {
            return o->mesh->corners[o->mesh->first[point.polygon] + k];
        }
    }
    return NAV_NONE;
}

/// All open polygons that hold the point: round a vertex, on both sides of an edge, or the one.
static void find_spot(const oracle *o, oracle_point point, spot *out)
{
    const poly_mesh *m = o->mesh;
    *out = (spot){.x = point.x, .z = point.z};
    uint32_t v = vertex_under(o, point), cap = sizeof out->polygons / sizeof *out->polygons;
    if (v != NAV_NONE) {
        for (uint32_t i = o->vertex_first[v]; i < o->vertex_first[v + 1] && out->count < cap; i++) {
            if (o->open[o->vertex_polygons[i]]) {
                out->polygons[out->count++] = o->vertex_polygons[i];
            }
        }
        return;
    }
    double at[3] = {point.x, 0, point.z}, share;
    if (o->open[point.polygon]) {
        out->polygons[out->count++] = point.polygon;
    }
    for (uint32_t k = 0; k < poly_mesh_size(m, point.polygon) && out->count < cap; k++) {
        uint32_t q = m->neighbours[m->first[point.polygon] + k];
        if (q != NAV_NONE && o->open[q] &&
            from_segment(at, poly_mesh_corner(m, point.polygon, k), poly_mesh_corner(m, point.polygon, k + 1),
                         &share) <= o->slack) {
            out->polygons[out->count++] = q;
        }
    }
}

static bool spots_meet(const oracle *o, const spot *a, const spot *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        for (uint32_t k = 0; k < b->count; k++) {
            if (o->component[a->polygons[i]] == o->component[b->polygons[k]]) {
                return true;
            }
        }
    }
    return false;
}

bool oracle_connected(const oracle *o, oracle_point from, oracle_point to)
{
    spot a, b;
    find_spot(o, from, &a);
    find_spot(o, to, &b);
    return spots_meet(o, &a, &b);
}

/// Straight lines from a spot to every corner.
static void spot_sight(const oracle *o, const spot *from, double *sight)
{
    double s[3] = {from->x, 0, from->z};
    for (uint32_t i = 0; i < o->corner_count; i++) {
        const corner *c = &o->corners[i];
        double t[3] = {c->x, 0, c->z};
        bool seen = sees(o, s, from->polygons, from->count, t, &o->sectors[c->first], c->count);
        sight[i] = seen ? hypot(c->x - from->x, c->z - from->z) : INFINITY;
    }
}

double oracle_distance(oracle *o, oracle_point from, oracle_point to)
{
    spot a, b;
    find_spot(o, from, &a);
    find_spot(o, to, &b);
    if (!spots_meet(o, &a, &b)) {
        return INFINITY;
    }
    double s[3] = {a.x, 0, a.z}, t[3] = {b.x, 0, b.z};
    if (sees(o, s, a.polygons, a.count, t, b.polygons, b.count)) {
        return hypot(a.x - b.x, a.z - b.z);
    }
    spot_sight(o, &a, o->from_sight);
    spot_sight(o, &b, o->to_sight);
    double answer = INFINITY;
    for (uint32_t i = 0; i < o->corner_count; i++) {
        o->best[i] = o->from_sight[i];
        o->settled[i] = false;
    }
    for (;;) {
        uint32_t next = NAV_NONE;
        for (uint32_t i = 0; i < o->corner_count; i++) {
            if (!o->settled[i] && o->best[i] < INFINITY && (next == NAV_NONE || o->best[i] < o->best[next])) {
                next = i;
            }
        }
        if (next == NAV_NONE || o->best[next] >= answer) {
            return answer;
        }
        o->settled[next] = true;
        answer = fmin(answer, o->best[next] + o->to_sight[next]);
        for (uint32_t i = 0; i < o->corner_count; i++) {
            o->best[i] = fmin(o->best[i], o->best[next] + o->sight[(size_t)next * o->corner_count + i]);
        }
    }
}

bool oracle_ambiguous(const oracle *o, oracle_point point)
{
    const poly_mesh *m = o->mesh;
    uint32_t v = vertex_under(o, point), ends = 0;
    if (v == NAV_NONE) {
        return false;
    }
    // Each free sector that a wall bounds has one wall on its left.
    for (uint32_t i = o->vertex_first[v]; i < o->vertex_first[v + 1]; i++) {
        uint32_t p = o->vertex_polygons[i];
        uint32_t q = m->neighbours[m->first[p] + corner_of(m, p, v)];
        ends += o->open[p] && (q == NAV_NONE || !o->open[q]);
    }
    return ends > 1;
}

bool oracle_walkable(const oracle *o, const double *xz, uint32_t count, uint32_t first, uint32_t last, double slack)
{
    const poly_mesh *m = o->mesh;
    uint32_t *here = poly_mesh_resize(NULL, m->poly_count, sizeof *here), here_count = 0;
    // The first point may be on an outline: every polygon at it that touches the named one there is a start.
    spot start;
    find_spot(o, (oracle_point){xz[0], xz[1], first}, &start);
    for (uint32_t i = 0; i < start.count; i++) {
        here[here_count++] = start.polygons[i];
    }
    for (uint32_t i = 0; i + 1 < count; i++) {
        double s[3] = {xz[2 * i], 0, xz[2 * i + 1]}, t[3] = {xz[2 * i + 2], 0, xz[2 * i + 3]};
        uint32_t visited = walk(o, s, t, here, here_count, slack);
        here_count = 0;
        for (uint32_t k = 0; k < visited; k++) {
            uint32_t p = o->queue[k];
            if (o->reached[p] < INFINITY && poly_mesh_holds(m, p, t[0], t[2], slack)) {
                here[here_count++] = p;
                o->reached[p] = INFINITY;
            }
        }
        forget(o, visited);
    }
    spot goal;
    find_spot(o, (oracle_point){xz[2 * count - 2], xz[2 * count - 1], last}, &goal);
    bool there = false;
    for (uint32_t i = 0; i < here_count; i++) {
        for (uint32_t k = 0; k < goal.count; k++) {
            there |= here[i] == goal.polygons[k];
        }
    }
    free(here);
    return there;
}
