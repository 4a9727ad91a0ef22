/// What is within reach of a place: a spread offers ways to polygons, here the cheapest are kept.
#include "reachable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// In nav__reachable.costs: the polygon was found, and nothing is cheaper.
static const double SETTLED = -1;

// ---- polygons by cost ------------------------------------------------------------------------------

static bool before(nav__reachable_open a, nav__reachable_open b)
{
    return a.cost < b.cost || (a.cost == b.cost && a.polygon < b.polygon);
}

static bool grow(nav__reachable *r, nav__buffer *buffer, void *array, uint32_t *cap, size_t entry)
{
    size_t want = (size_t)*cap * 2 + 64;
    void *data = want < NAV_NONE ? nav__reserve(r->query, buffer, want * entry) : NULL;
    if (!data) {
        r->out_of_memory = true;
        return false;
    }
    memcpy(array, &data, sizeof data);
    *cap = (uint32_t)(buffer->bytes / entry < NAV_NONE ? buffer->bytes / entry : NAV_NONE - 1);
    return true;
}

void nav__reachable_offer(nav__reachable *r, uint32_t face, double cost)
{
    if (!nav__reachable_lacks(r, face, cost) ||
        (r->open_count == r->open_cap && !grow(r, &r->query->reach_open, &r->open, &r->open_cap, sizeof *r->open))) {
        return;
    }
    nav__reachable_open entry = {cost, nav__face_polygon(r->m, face)};
    r->costs[entry.polygon] = cost;
    uint32_t i = r->open_count++;
    for (; i > 0 && before(entry, r->open[(i - 1) / 2]); i = (i - 1) / 2) {
        r->open[i] = r->open[(i - 1) / 2];
    }
    r->open[i] = entry;
}

static nav__reachable_open pop(nav__reachable *r)
{
    nav__reachable_open *h = r->open, top = h[0], last = h[--r->open_count];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < r->open_count; i = child) {
        child += child + 1 < r->open_count && before(h[child + 1], h[child]);
        if (!before(h[child], last)) {
            break;
        }
        h[i] = h[child];
    }
    h[i] = last;
    return top;
}

bool nav__reachable_settle(nav__reachable *r, double cost)
{
    while (r->open_count > 0 && r->open[0].cost <= cost) {
        nav__reachable_open next = pop(r);
        if (next.cost != r->costs[next.polygon]) {
            continue; // found, or a cheaper way is known
        }
        if (r->limit && r->found_count == r->limit) {
            r->limited = true;
            return false;
        }
        if (r->found_count == r->found_cap &&
            !grow(r, &r->query->reach_found, &r->found, &r->found_cap, sizeof *r->found)) {
            return false;
        }
        r->costs[next.polygon] = SETTLED;
        r->found[r->found_count++] = (nav_reached){next.polygon, next.cost};
    }
    return true;
}

// ---- what the found make -----------------------------------------------------------------------------

static nav__p2 corner_ground(const nav_mesh *m, uint32_t k)
{
    const float *p = m->points + 3 * (size_t)m->face_corners[k];
    return (nav__p2){(double)p[0], (double)p[2]};
}

static double face_area(const nav_mesh *m, uint32_t face)
{
    uint32_t first = m->faces[face].first_corner, end = m->faces[face + 1].first_corner;
    nav__p2 o = corner_ground(m, first), a = nav__sub(corner_ground(m, first + 1), o);
    double sum = 0;
    for (uint32_t k = first + 2; k < end; k++) {
        nav__p2 b = nav__sub(corner_ground(m, k), o);
        sum += nav__cross(a, b);
        a = b;
    }
    return sum / 2;
}

static double found_area(const nav__reachable *r)
{
    double sum = 0;
    for (uint32_t i = 0; i < r->found_count; i++) {
        nav__polygon_walk walk;
        uint32_t face = nav__polygon_first(r->m, r->found[i].polygon, &walk);
        for (; face != NAV_NONE; face = nav__polygon_next(r->m, &walk)) {
            sum += face_area(r->m, face);
        }
    }
    return sum;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/// @return false when out of memory
static bool draw_outline(nav__reachable *r, nav_reach *reach)
{
    uint32_t *polygons = nav__reserve(r->query, &r->query->polygons, ((size_t)r->found_count + 1) * sizeof *polygons);
    if (!polygons) {
        return false;
    }
    for (uint32_t i = 0; i < r->found_count; i++) {
        polygons[i] = r->found[i].polygon;
    }
    qsort(polygons, r->found_count, sizeof *polygons, by_number);
    if (!nav__outline(r->query, r->m, polygons, r->found_count, &reach->ring_count)) {
        return false;
    }
    reach->rings = r->query->rings.data;
    reach->points = r->query->points.data;
    return true;
}

// ---- the whole -------------------------------------------------------------------------------------

nav_reach_options nav_reach_options_default(void)
{
    return (nav_reach_options){.snap = nav_snap_default(), .max_cost = INFINITY};
}

/// The cost that all areas of the mesh have in common; 0: they differ.
static double common_cost(const nav_mesh *m, const nav_filter *filter)
{
    double common = filter->area_costs ? 0 : 1;
    for (uint32_t area = 0; filter->area_costs && area < 256; area++) {
        if (m->areas_used[area / 64] >> area % 64 & 1) {
            double cost = filter->area_costs[area];
            if (common != 0 && cost != common) {
                return 0;
            }
            common = cost;
        }
    }
    return common;
}

static nav_status spread(nav__reachable *r)
{
    uint32_t count = r->m->polygon_count;
    r->costs = nav__reserve(r->query, &r->query->reach_costs, ((size_t)count + 1) * sizeof *r->costs);
    if (!r->costs) {
        return NAV_NO_MEMORY;
    }
    for (uint32_t p = 0; p < count; p++) {
        r->costs[p] = INFINITY;
    }
    double unit = common_cost(r->m, r->filter);
    switch (unit > 0 ? nav__spread(r, unit) : nav__spread_weighted(r)) {
    case NAV__OUT_OF_MEMORY:
        return NAV_NO_MEMORY;
    case NAV__STOPPED:
        return NAV_INTERRUPTED;
    default:
        return NAV_OK;
    }
}

nav_status nav_query_reachable(nav_query *query, const nav_mesh *mesh, nav_vec point, const nav_reach_options *options,
                               nav_reach *reach)
{
    *reach = (nav_reach){.status = NAV_REACH_OFF_MESH, .start.polygon = NAV_NONE};
    if (!isfinite(point.x) || !isfinite(point.y) || !isfinite(point.z) || !(options->max_cost >= 0)) {
        return NAV_BAD_ARGUMENT;
    }
    const nav_filter *filter = &options->snap.filter;
    if (!nav_query_nearest(query, mesh, point, &options->snap, &reach->start)) {
        return NAV_OK;
    }
    nav__anchor start;
    nav__anchor_make(mesh, &reach->start, filter, &start);
    nav__reachable r = {.query = query,
                        .m = mesh,
                        .filter = filter,
                        .start = &start,
                        .max_cost = options->max_cost,
                        .limit = options->limit,
                        .open = query->reach_open.data,
                        .open_cap = (uint32_t)(query->reach_open.bytes / sizeof(nav__reachable_open)),
                        .found = query->reach_found.data,
                        .found_cap = (uint32_t)(query->reach_found.bytes / sizeof(nav_reached))};
    nav_status status = spread(&r);
    if (status != NAV_OK) {
        return status;
    }
    reach->area = found_area(&r);
    reach->polygons = r.found;
    reach->polygon_count = r.found_count;
    if (options->outline && !draw_outline(&r, reach)) {
        return NAV_NO_MEMORY;
    }
    reach->status = r.limited ? NAV_REACH_LIMIT : NAV_REACH_FOUND;
    return NAV_OK;
}
