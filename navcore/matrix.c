/// Matrices: Dijkstra's search over the corners that see each other, once a source.
///
/// A shortest path bends at corners only, so that the lengths from one source to all targets are the
/// lengths in the graph of corners with the source's and the targets' views added. The graph is made as
/// it is needed: a corner's view is swept when the search first comes to it, and kept for later rows.
/// With area costs, with links to ride, and where a filter closes cells (which cut corners into sectors),
/// there is no such graph: each pair is then a path of its own.
#include "matrix.h"

#include "alloc.h"

#include <math.h>
#include <string.h>

void *nav__matrix_resize(nav_matrix *x, void *p, size_t count, size_t size)
{
    return size && count > SIZE_MAX / size ? NULL : x->alloc.resize(x->alloc.ctx, p, count * size);
}

static void *take(nav_matrix *x, size_t count, size_t size)
{
    void *p = nav__matrix_resize(x, NULL, count + 1, size);
    if (p) {
        memset(p, 0, (count + 1) * size);
    } else {
        x->failed = true;
    }
    return p;
}

static nav_vec point_of(const nav_mesh *m, uint32_t v)
{
    nav__p2 at = nav__vertex_ground(m, v);
    return (nav_vec){m->origin.x + at.x, m->origin.y + (double)nav__vertex_y(m, v), m->origin.z + at.z};
}

static double distance(nav_vec a, nav_vec b)
{
    double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrt(x * x + y * y + z * z);
}

/// By corner, which targets it sees.
static void turn_target_views(nav_matrix *x)
{
    const nav_mesh *m = x->mesh;
    uint32_t total = 0;
    for (uint32_t t = 0; t < x->target_count; t++) {
        const nav__view *v = &x->target_views[t];
        for (uint32_t i = v->first; i < v->end; i++) {
            x->watchers[x->sights[i].vertex + 1]++;
        }
        total += v->end - v->first;
    }
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        x->watchers[v + 1] += x->watchers[v];
    }
    x->watcher_targets = take(x, total, sizeof *x->watcher_targets);
    if (!x->watcher_targets) {
        return;
    }
    // Filling from the back leaves each run's first in place.
    for (uint32_t t = x->target_count; t-- > 0;) {
        for (uint32_t i = x->target_views[t].first; i < x->target_views[t].end; i++) {
            x->watcher_targets[--x->watchers[x->sights[i].vertex + 1]] = t;
        }
    }
    memmove(x->watchers, x->watchers + 1, m->vertex_count * sizeof *x->watchers);
    x->watchers[m->vertex_count] = total;
}

// ---- one row ---------------------------------------------------------------------------------------

static void offer(nav_matrix *x, const nav__sight *s, double g, uint32_t parent)
{
    nav__corner *c = &x->corners[s->vertex];
    if (g < c->g) {
        if (isinf(c->g)) {
            x->touched[x->touched_count++] = s->vertex;
        }
        c->g = g;
        x->ways[s->vertex].parent = parent;
        x->ways[s->vertex].past = (nav__side)s->past;
        nav__matrix_open(x, s->vertex);
    }
}

/// 3D length of the way found to a target: as in an answer's points, a corner on a straight line is none.
static double length_to(nav_matrix *x, const nav__matrix_place *from, uint32_t target)
{
    const nav_mesh *m = x->mesh;
    const nav__matrix_place *to = &x->targets[target];
    if (isinf(x->best[target])) {
        return INFINITY;
    }
    uint32_t count = 0;
    for (uint32_t v = x->last[target]; v != NAV_NONE; v = x->ways[v].parent) {
        x->chain[count++] = v;
    }
    double length = 0;
    nav__p2 bend = from->anchor.p;
    nav_vec bend_point = from->at.point;
    bool bent = false;
    while (count-- > 0) {
        uint32_t v = x->chain[count];
        nav__p2 at = nav__vertex_ground(m, v), next = count ? nav__vertex_ground(m, x->chain[count - 1]) : to->anchor.p;
        bool is_source = !bent && nav__dist(bend, at) <= m->rounding;
        if (!is_source && nav__orient(bend, at, next) != 0) {
            length += distance(bend_point, point_of(m, v));
            bend = at;
            bend_point = point_of(m, v);
            bent = true;
        }
    }
    return length + distance(bend_point, to->at.point);
}

/// Targets that the source itself sees.
static void see_targets(nav_matrix *x, const nav__matrix_place *from)
{
    const nav_mesh *m = x->mesh;
    for (uint32_t t = 0; t < x->target_count; t++) {
        const nav__matrix_place *to = &x->targets[t];
        x->best[t] = INFINITY;
        x->last[t] = NAV_NONE;
        x->wanted[t] = false;
        if (to->at.polygon == NAV_NONE) {
            continue;
        }
        nav__walk_end end = {.clear = false};
        double ground = nav__dist(from->anchor.p, to->anchor.p);
        bool shared = false;
        for (uint32_t i = 0; i < from->anchor.count; i++) {
            for (uint32_t k = 0; k < to->anchor.count; k++) {
                uint32_t a = from->anchor.cells[i], b = to->anchor.cells[k];
                shared = shared || a == b;
                x->wanted[t] = x->wanted[t] || m->cells[a].island == m->cells[b].island;
            }
        }
        if (!shared && ground > 0) {
            nav__walk_leg(m, &x->snap.filter, from->anchor.cells, from->anchor.count, from->anchor.p, to->anchor.p,
                          NULL, NULL, &end);
            for (uint32_t k = 0; k < to->anchor.count; k++) {
                shared = shared || (end.clear && end.cell == to->anchor.cells[k]);
            }
        }
        if (shared) {
            x->best[t] = ground;
        }
    }
}

/// No corner further than this can bring a target nearer.
static double furthest_open(const nav_matrix *x)
{
    double most = 0;
    for (uint32_t t = 0; t < x->target_count; t++) {
        if (x->wanted[t] && x->best[t] > most) {
            most = x->best[t];
        }
    }
    return most;
}

/// Targets that a corner sees.
/// @return has one come nearer that was as far as `limit`?
static bool reach_targets(nav_matrix *x, uint32_t vertex, double limit)
{
    bool nearer = false;
    nav__p2 at = nav__corner_at(x, vertex);
    for (uint32_t i = x->watchers[vertex]; i < x->watchers[vertex + 1]; i++) {
        uint32_t t = x->watcher_targets[i];
        double g = x->corners[vertex].g + nav__dist(at, x->targets[t].anchor.p);
        if (g < x->best[t]) {
            nearer = nearer || x->best[t] >= limit;
            x->best[t] = g;
            x->last[t] = vertex;
        }
    }
    return nearer;
}

/// Goes on from a corner to those that it sees. A shortest path is taut: it bends round the obstacle of its
/// corner. What would bend the other way can be cut short, and is left out. The sign need not be exact: who
/// lies on one line with the corner and the one before it is seen from there as well.
static void expand(nav_matrix *x, nav_query *query, const nav__matrix_place *from, uint32_t vertex)
{
    nav__view v = nav__matrix_view_of(x, query, vertex);
    const nav__corner_way *way = &x->ways[vertex];
    double g = x->corners[vertex].g;
    nav__p2 at = nav__corner_at(x, vertex);
    nav__p2 before = way->parent == NAV_NONE ? from->anchor.p : nav__corner_at(x, way->parent);
    nav__p2 leg = nav__sub(at, before);
    // Of a source that all but is the corner the direction says nothing.
    nav__side past = g > x->mesh->rounding ? way->past : NAV__SIDE_UNKNOWN;
    double outwards = past == NAV__SIDE_LEFT ? -1 : past == NAV__SIDE_RIGHT ? 1 : 0;
    uint32_t first = past == NAV__SIDE_RIGHT ? v.right : v.first, end = past == NAV__SIDE_LEFT ? v.unknown : v.end;
    for (uint32_t i = first; i < end; i++) {
        const nav__sight *s = &x->sights[i];
        nav__p2 to = nav__corner_at(x, s->vertex);
        if (outwards * nav__cross(leg, nav__sub(to, at)) > 0) {
            break;
        }
        offer(x, s, g + nav__dist(at, to), vertex);
    }
    for (uint32_t i = v.unknown; i < v.right && past != NAV__SIDE_UNKNOWN; i++) {
        const nav__sight *s = &x->sights[i];
        nav__p2 to = nav__corner_at(x, s->vertex);
        if (outwards * nav__cross(leg, nav__sub(to, at)) <= 0) {
            offer(x, s, g + nav__dist(at, to), vertex);
        }
    }
}

static void clear_row(nav_matrix *x)
{
    while (x->touched_count > 0) {
        x->corners[x->touched[--x->touched_count]].g = INFINITY;
    }
    nav__matrix_open_clear(x);
}

static nav_status search_row(nav_matrix *x, nav_query *query, const nav__matrix_place *from)
{
    const double rounding_up = 1 + 1e-6; // of the heap's keys
    clear_row(x);
    see_targets(x, from);
    nav__view v = nav__matrix_look(x, query, from->anchor.p, NAV_NONE, from->anchor.cells, from->anchor.count);
    for (uint32_t i = v.first; i < v.end; i++) {
        offer(x, &x->sights[i], nav__dist(from->anchor.p, nav__corner_at(x, x->sights[i].vertex)), NAV_NONE);
    }
    x->sight_count = v.first; // the source's view is not kept
    double limit = furthest_open(x);
    uint32_t expanded = 0;
    while (!x->failed && nav__matrix_open_ready(x) && (double)x->heap[0].g < limit * rounding_up) {
        nav__open_corner entry = nav__matrix_pop(x);
        if (entry.g > (float)x->corners[entry.vertex].g) {
            continue; // it has been reached by a shorter way since
        }
        if ((++expanded & 63) == 0 && query->interrupt.stop && query->interrupt.stop(query->interrupt.ctx)) {
            return NAV_INTERRUPTED;
        }
        if (reach_targets(x, entry.vertex, limit)) {
            limit = furthest_open(x);
        }
        expand(x, query, from, entry.vertex);
    }
    return x->failed ? NAV_NO_MEMORY : NAV_OK;
}

static nav_status path_row(nav_matrix *x, nav_query *query, const nav__matrix_place *from, double *lengths)
{
    nav_path_options options = nav_path_options_default();
    options.snap = x->snap;
    options.no_partial = true;
    for (uint32_t t = 0; t < x->target_count; t++) {
        nav_path path;
        nav_status status = nav_query_path(query, x->mesh, from->asked, x->targets[t].asked, &options, &path);
        if (status != NAV_OK) {
            return status;
        }
        lengths[t] = path.status == NAV_PATH_COMPLETE ? path.length : INFINITY;
    }
    return NAV_OK;
}

nav_status nav_matrix_row(nav_matrix *x, nav_query *query, uint32_t source, double *lengths)
{
    const nav__matrix_place *from = &x->sources[source];
    if (x->pairwise) {
        return path_row(x, query, from, lengths);
    }
    for (uint32_t t = 0; t < x->target_count; t++) {
        lengths[t] = INFINITY;
    }
    if (from->at.polygon == NAV_NONE) {
        return NAV_OK;
    }
    nav_status status = search_row(x, query, from);
    for (uint32_t t = 0; t < x->target_count && status == NAV_OK; t++) {
        lengths[t] = length_to(x, from, t);
    }
    return status;
}

// ---- the whole -------------------------------------------------------------------------------------

/// @return false: a coordinate is not finite, or no memory (x->failed)
static bool find_places(nav_matrix *x, nav_query *query, const nav_vec *points, uint32_t count, nav__matrix_place **out)
{
    *out = take(x, count, sizeof **out);
    for (uint32_t i = 0; i < count && *out; i++) {
        nav__matrix_place *p = &(*out)[i];
        p->asked = points[i];
        p->at.polygon = NAV_NONE;
        if (!isfinite(points[i].x) || !isfinite(points[i].y) || !isfinite(points[i].z)) {
            return false;
        }
        if (nav_query_nearest(query, x->mesh, points[i], &x->snap, &p->at)) {
            nav__anchor_make(x->mesh, &p->at, &x->snap.filter, &p->anchor);
        }
    }
    return !x->failed;
}

static bool has_costs(const nav_mesh *m, const nav_filter *f)
{
    for (uint32_t area = 0; f->area_costs && area < 256; area++) {
        if (m->areas_used[area / 64] >> area % 64 & 1 && f->area_costs[area] != 1) {
            return true;
        }
    }
    return false;
}

static void prepare_graph(nav_matrix *x, nav_query *query)
{
    uint32_t vertices = x->mesh->vertex_count;
    x->walls = take(x, vertices, sizeof *x->walls);
    x->watchers = take(x, (size_t)vertices + 1, sizeof *x->watchers);
    x->corners = take(x, vertices, sizeof *x->corners);
    x->ways = take(x, vertices, sizeof *x->ways);
    x->touched = take(x, vertices, sizeof *x->touched);
    x->chain = take(x, vertices, sizeof *x->chain);
    x->seen_stamp = take(x, vertices, sizeof *x->seen_stamp);
    x->target_views = take(x, x->target_count, sizeof *x->target_views);
    x->best = take(x, x->target_count, sizeof *x->best);
    x->last = take(x, x->target_count, sizeof *x->last);
    x->wanted = take(x, x->target_count, sizeof *x->wanted);
    if (x->failed) {
        return;
    }
    nav__p2 low = {INFINITY, INFINITY}, high = {-INFINITY, -INFINITY};
    for (uint32_t v = 0; v < vertices; v++) {
        const nav__edge *edge = &x->mesh->edges[x->mesh->vertex_edge[v]];
        low = (nav__p2){fmin(low.x, (double)edge->x), fmin(low.z, (double)edge->z)};
        high = (nav__p2){fmax(high.x, (double)edge->x), fmax(high.z, (double)edge->z)};
        x->corners[v] = (nav__corner){INFINITY, edge->x, edge->z};
        x->ways[v].view.first = NAV__NOT_SEEN_YET;
    }
    nav__matrix_find_walls(x);
    x->buckets_per_unit = (NAV__BUCKETS - 4) / nav__dist(low, high);
    for (uint32_t t = 0; t < x->target_count && !x->failed; t++) {
        const nav__matrix_place *p = &x->targets[t];
        if (p->at.polygon != NAV_NONE) {
            x->target_views[t] = nav__matrix_look(x, query, p->anchor.p, NAV_NONE, p->anchor.cells, p->anchor.count);
        }
    }
    if (!x->failed) {
        turn_target_views(x);
    }
}

/// Are there too few pairs to pay for the views of the mesh's corners? (Measured on game maps: a third of the
/// vertices is where single paths begin to take longer.)
static bool is_few(const nav_matrix *x)
{
    return (uint64_t)x->source_count * x->target_count < x->mesh->vertex_count / 3;
}

nav_status nav_matrix_create(nav_query *query, const nav_mesh *mesh, const nav_snap *snap, const nav_vec *sources,
                             uint32_t source_count, const nav_vec *targets, uint32_t target_count,
                             const nav_alloc *alloc, nav_matrix **out)
{
    nav_alloc from = nav__alloc_or_libc(alloc);
    nav_matrix *x = from.resize(from.ctx, NULL, sizeof *x);
    if (!x) {
        return NAV_NO_MEMORY;
    }
    *x = (nav_matrix){
        .alloc = from, .mesh = mesh, .snap = *snap, .source_count = source_count, .target_count = target_count};
    bool found = find_places(x, query, sources, source_count, &x->sources) &&
                 find_places(x, query, targets, target_count, &x->targets);
    x->pairwise = mesh->ride_count > 0 || has_costs(mesh, &snap->filter) || !nav__passes_all(mesh, &snap->filter) ||
                  mesh->vertex_count > NAV__MATRIX_VERTICES || is_few(x);
    if (found && !x->pairwise) {
        prepare_graph(x, query);
    }
    if (!found || x->failed) {
        nav_status status = x->failed ? NAV_NO_MEMORY : NAV_BAD_ARGUMENT;
        nav_matrix_destroy(x);
        return status;
    }
    *out = x;
    return NAV_OK;
}

void nav_matrix_destroy(nav_matrix *x)
{
    if (!x) {
        return;
    }
    void *const blocks[] = {
        x->sources, x->targets, x->sights,    x->walls, x->target_views, x->watchers, x->watcher_targets,
        x->corners, x->ways,    x->touched,   x->chain, x->heap,         x->pool,     x->best,
        x->last,    x->wanted,  x->seen_stamp};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        if (blocks[i]) {
            x->alloc.resize(x->alloc.ctx, blocks[i], 0);
        }
    }
    nav_alloc from = x->alloc;
    from.resize(from.ctx, x, 0);
}
