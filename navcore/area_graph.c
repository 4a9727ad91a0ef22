/// Areas and their directed connections: shared borders where both ways are open, links for the rest.
#include "nav_area_graph.h"

#include "read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATERAL 0.05        ///< how far borders may be apart, as a share of the overlap
#define MOST_PAIRS 4000000u ///< pairs of sides looked at: hostile files must not stop the reader
#define INSET 0.02          ///< how far inside of the border links end, as a share of the way to the middle
#define WIDE 3.0            ///< in steps: borders as wide as that get three links

/// A stretch that one area's side has in common with another area.
typedef struct stretch {
    uint32_t side;   ///< corner at which the side begins, counted over all areas
    uint32_t across; ///< area
    float from, to;  ///< shares of the side, from < to
} stretch;

/// How two areas lie to each other.
typedef struct border {
    uint32_t side[2];           ///< of either area
    double from[2], to[2];      ///< the overlap as shares of each side; that of the second runs the other way
    double length, apart, step; ///< of the overlap on the ground; largest distance on the ground and in height
} border;

typedef struct grapher {
    nav_soup *soup;
    nav_area_graph *graph;
    nav_error *error;
    stretch *stretches;
    uint32_t stretch_count, stretch_cap;
    uint32_t pairs;
    nav__list ring, edges; ///< of the area being added
} grapher;

static const double *corner(const grapher *g, uint32_t index)
{
    return &g->graph->corners[3 * (size_t)index];
}

/// The corner that follows in an area's ring.
static uint32_t after(const grapher *g, uint32_t area, uint32_t index)
{
    return index + 1 == g->graph->first[area + 1] ? g->graph->first[area] : index + 1;
}

static nav_vec along(const grapher *g, uint32_t area, uint32_t side, double share)
{
    const double *a = corner(g, side), *b = corner(g, after(g, area, side));
    return (nav_vec){a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * (b[2] - a[2])};
}

static nav_vec middle(const grapher *g, uint32_t area)
{
    uint32_t first = g->graph->first[area], end = g->graph->first[area + 1];
    nav_vec m = {0, 0, 0};
    for (uint32_t k = first; k < end; k++) {
        m.x += corner(g, k)[0] / (end - first);
        m.y += corner(g, k)[1] / (end - first);
        m.z += corner(g, k)[2] / (end - first);
    }
    return m;
}

/// Share of side (a, b) at which p lies, and how far beside it.
static double project(const double *a, const double *b, const double *p, double *beside)
{
    double ux = b[0] - a[0], uz = b[2] - a[2], square = ux * ux + uz * uz;
    double vx = p[0] - a[0], vz = p[2] - a[2];
    *beside = fabs(ux * vz - uz * vx) / sqrt(square);
    return (ux * vx + uz * vz) / square;
}

/// The stretch that two sides have in common. @return false: none
static bool overlap(const grapher *g, const uint32_t area[2], const uint32_t side[2], border *found)
{
    const double *a = corner(g, side[0]), *b = corner(g, after(g, area[0], side[0]));
    const double *c = corner(g, side[1]), *d = corner(g, after(g, area[1], side[1]));
    double length = hypot(b[0] - a[0], b[2] - a[2]), other = hypot(d[0] - c[0], d[2] - c[2]);
    if (!(length > 0) || !(other > 0)) {
        return false;
    }
    double off_c, off_d, share_c = project(a, b, c, &off_c), share_d = project(a, b, d, &off_d);
    // Areas may be wound either way, so the sides may run alike.
    double low = fmin(share_c, share_d), high = fmax(share_c, share_d);
    border o = {.side = {side[0], side[1]}, .from = {fmax(0, low), 0}, .to = {fmin(1, high), 0}};
    o.length = (o.to[0] - o.from[0]) * length;
    o.apart = fmax(off_c, off_d);
    if (!(o.length > 0) || o.apart > LATERAL * fmin(length, other)) {
        return false;
    }
    double ends[2];
    o.step = 0;
    for (int k = 0; k < 2; k++) {
        double t = k ? o.to[0] : o.from[0];
        ends[k] = fmin(fmax((t - share_c) / (share_d - share_c), 0), 1);
        o.step = fmax(o.step, fabs(a[1] + t * (b[1] - a[1]) - (c[1] + ends[k] * (d[1] - c[1]))));
    }
    o.from[1] = fmin(ends[0], ends[1]);
    o.to[1] = fmax(ends[0], ends[1]);
    *found = o;
    return true;
}

/// The longest border of two areas; among those within a step before all others.
static bool find_border(grapher *g, const uint32_t area[2], border *best)
{
    double step = g->soup->agent.climb;
    bool any = false;
    const uint32_t *first = g->graph->first;
    for (uint32_t i = first[area[0]]; i < first[area[0] + 1]; i++) {
        for (uint32_t j = first[area[1]]; j < first[area[1] + 1]; j++, g->pairs++) {
            border o;
            if (overlap(g, area, (const uint32_t[]){i, j}, &o)) {
                bool better = (o.step <= step) != (best->step <= step) ? o.step <= step : o.length > best->length;
                *best = !any || better ? o : *best;
                any = true;
            }
        }
    }
    return any;
}

static int by_ends(const void *a, const void *b)
{
    const uint32_t *p = a, *q = b;
    return p[0] != q[0] ? (p[0] < q[0] ? -1 : 1) : (p[1] > q[1]) - (p[1] < q[1]);
}

static bool leads_back(const nav_area_graph *graph, const uint32_t connection[2])
{
    const uint32_t back[2] = {connection[1], connection[0]};
    return bsearch(back, graph->connections, graph->connection_count, sizeof *graph->connections, by_ends) != NULL;
}

static bool add_stretch(grapher *g, uint32_t side, uint32_t across, double from, double to)
{
    const nav_alloc *alloc = &g->soup->alloc;
    if (g->stretch_count == g->stretch_cap) {
        uint32_t cap = g->stretch_cap ? 2 * g->stretch_cap : 64;
        stretch *grown = alloc->resize(alloc->ctx, g->stretches, (size_t)cap * sizeof *grown);
        if (!grown) {
            return false;
        }
        g->stretches = grown;
        g->stretch_cap = cap;
    }
    g->stretches[g->stretch_count++] = (stretch){side, across, (float)from, (float)to};
    return true;
}

// Links.

/// A hair inside of the area from a place on its border.
static nav_vec inside(const grapher *g, uint32_t area, nav_vec p)
{
    nav_vec m = middle(g, area);
    return (nav_vec){p.x + INSET * (m.x - p.x), p.y + INSET * (m.y - p.y), p.z + INSET * (m.z - p.z)};
}

/// The place on an area's border that is nearest to p on the ground.
static nav_vec nearest(const grapher *g, uint32_t area, nav_vec p)
{
    nav_vec best = along(g, area, g->graph->first[area], 0);
    double least = INFINITY;
    for (uint32_t i = g->graph->first[area]; i < g->graph->first[area + 1]; i++) {
        const double at[3] = {p.x, p.y, p.z};
        double beside, share = project(corner(g, i), corner(g, after(g, area, i)), at, &beside);
        nav_vec q = along(g, area, i, isfinite(share) ? fmin(fmax(share, 0), 1) : 0);
        double far = hypot(q.x - p.x, q.z - p.z);
        if (far < least) {
            least = far;
            best = q;
        }
    }
    return best;
}

static nav_status add_link(grapher *g, const uint32_t area[2], nav_vec start, nav_vec end, int number)
{
    nav_link link = {.start = inside(g, area[0], start), .end = inside(g, area[1], end), .cost = -1, .flags = 1};
    double rise = link.end.y - link.start.y, step = g->soup->agent.climb;
    const uint32_t *ids = g->graph->ids;
    snprintf(link.id, sizeof link.id, number ? "%u-%u.%d" : "%u-%u", ids[area[0]], ids[area[1]], number);
    strcpy(link.kind, rise > step ? "jump" : rise < -step ? "drop" : "one-way");
    if (g->soup->link_count >= g->graph->most_links) {
        return nav_fail(g->error, NAV_TOO_LARGE, 0, NAV_NO_BYTE,
                        "more than %u connections that are not two-way borders", g->graph->most_links);
    }
    return nav_soup_add_link(g->soup, &link);
}

/// Links across a border, or from one area to the nearest place of the other where there is none.
static nav_status add_links(grapher *g, const uint32_t area[2], const border *o)
{
    if (!o) {
        nav_vec start = nearest(g, area[0], middle(g, area[1]));
        return add_link(g, area, start, nearest(g, area[1], start), 0);
    }
    bool wide = o->length > WIDE * g->soup->agent.climb;
    nav_status status = NAV_OK;
    for (int k = 0; status == NAV_OK && k < (wide ? 3 : 1); k++) {
        double t = k == 0 ? 0.5 : k == 1 ? 0.05 : 0.95;
        nav_vec start = along(g, area[0], o->side[0], o->from[0] + t * (o->to[0] - o->from[0]));
        status = add_link(g, area, start, nearest(g, area[1], start), k);
    }
    return status;
}

/// What one connection comes to.
static nav_status connect(grapher *g, const uint32_t connection[2])
{
    border o = {.step = INFINITY};
    bool touching = find_border(g, connection, &o), both = leads_back(g->graph, connection);
    if (g->pairs > MOST_PAIRS) {
        return nav_fail(g->error, NAV_TOO_LARGE, 0, NAV_NO_BYTE, "too many connections between areas of many corners");
    }
    if (!both || !touching || o.step > g->soup->agent.climb) {
        return add_links(g, connection, touching ? &o : NULL);
    }
    if (connection[0] > connection[1]) {
        return NAV_OK; // the other direction has made both sides
    }
    return add_stretch(g, o.side[0], connection[1], o.from[0], o.to[0]) &&
                   add_stretch(g, o.side[1], connection[0], o.from[1], o.to[1])
               ? NAV_OK
               : NAV_NO_MEMORY;
}

// Polygons.

static int by_place(const void *a, const void *b)
{
    const stretch *p = a, *q = b;
    if (p->side != q->side) {
        return p->side < q->side ? -1 : 1;
    }
    return p->from != q->from ? (p->from < q->from ? -1 : 1) : (p->across > q->across) - (p->across < q->across);
}

/// A corner of the ring being made, and what its edge leads to.
static nav_status push_corner(grapher *g, nav_vec p, uint32_t edge)
{
    const nav_alloc *alloc = &g->soup->alloc;
    if (!nav__list_push(&g->ring, alloc, g->soup->vertex_count) || !nav__list_push(&g->edges, alloc, edge)) {
        return NAV_NO_MEMORY;
    }
    return nav_soup_add_vertex(g->soup, p.x, p.y, p.z);
}

/// One side of an area in pieces: walls, and stretches that name the area across.
static nav_status push_side(grapher *g, uint32_t area, uint32_t side, uint32_t *next)
{
    const float least = 1e-4f;
    float at = 0;
    nav_status status = NAV_OK;
    for (; status == NAV_OK && *next < g->stretch_count && g->stretches[*next].side == side; ++*next) {
        stretch s = g->stretches[*next];
        s.from = s.from < at + least ? at : s.from; // overlapping ones: first come, first served
        s.to = s.to > 1 - least ? 1 : s.to;
        if (s.to - s.from <= least) {
            continue;
        }
        if (s.from > at) {
            status = push_corner(g, along(g, area, side, (double)at), NAV_EDGE_WALL);
        }
        if (status == NAV_OK) {
            status = push_corner(g, along(g, area, side, (double)s.from), s.across);
        }
        at = s.to;
    }
    return status == NAV_OK && at < 1 ? push_corner(g, along(g, area, side, (double)at), NAV_EDGE_WALL) : status;
}

static nav_status add_polygons(grapher *g)
{
    nav_status status = NAV_OK;
    uint32_t next = 0;
    if (g->stretch_count > 1) {
        qsort(g->stretches, g->stretch_count, sizeof *g->stretches, by_place);
    }
    for (uint32_t a = 0; status == NAV_OK && a < g->graph->count; a++) {
        g->ring.count = g->edges.count = 0;
        for (uint32_t i = g->graph->first[a]; status == NAV_OK && i < g->graph->first[a + 1]; i++) {
            status = push_side(g, a, i, &next);
        }
        if (status == NAV_OK) {
            status = nav_soup_add_polygon(g->soup, g->ring.data, g->ring.count, 0, 0, g->edges.data);
        }
    }
    return status;
}

/// From z up to y up, and back.
static void swap_axes(double *p, size_t count)
{
    for (size_t i = 0; i < count; i++, p += 3) {
        double y = p[1];
        p[1] = p[2];
        p[2] = y;
    }
}

static void swap_soup(nav_soup *s)
{
    swap_axes(s->vertices, s->vertex_count);
    for (uint32_t i = 0; i < s->link_count; i++) {
        nav_link *l = &s->links[i];
        l->start = (nav_vec){l->start.x, l->start.z, l->start.y};
        l->end = (nav_vec){l->end.x, l->end.z, l->end.y};
    }
}

nav_status nav_soup_add_areas(nav_soup *soup, nav_area_graph *graph, nav_error *error)
{
    grapher g = {.soup = soup, .graph = graph, .error = error};
    nav_status status = NAV_OK;
    if (graph->z_up) {
        swap_axes(graph->corners, graph->first[graph->count]);
    }
    if (graph->connection_count > 1) {
        qsort(graph->connections, graph->connection_count, sizeof *graph->connections, by_ends);
    }
    for (uint32_t i = 0; status == NAV_OK && i < graph->connection_count; i++) {
        bool again = i > 0 && by_ends(graph->connections[i - 1], graph->connections[i]) == 0;
        if (!again && graph->connections[i][0] != graph->connections[i][1]) {
            status = connect(&g, graph->connections[i]);
        }
    }
    if (status == NAV_OK) {
        status = add_polygons(&g);
    }
    if (graph->z_up) {
        swap_soup(soup);
    }
    if (g.stretches) {
        soup->alloc.resize(soup->alloc.ctx, g.stretches, 0);
    }
    nav__list_free(&g.ring, &soup->alloc);
    nav__list_free(&g.edges, &soup->alloc);
    return status;
}
