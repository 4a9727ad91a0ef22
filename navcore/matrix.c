/// Matrices: Dijkstra's search over the corners that see each other, once a source.
///
/// A shortest path bends at corners only, so that the lengths from one source to all targets are the
/// lengths in the graph of corners with the source's and the targets' views added. The graph is made as
/// it is needed: a corner's view is swept when the search first comes to it, and kept for later rows.
/// With area costs, with links to ride, and where a filter closes cells (which cut corners into sectors),
/// there is no such graph: each pair is then a path of its own.
#include "nav_matrix.h"

#include "alloc.h"
#include "visibility.h"
#include "walk.h"

#include <math.h>
#include <string.h>

/// One corner that a place sees.
typedef struct sight {
    double distance;  ///< over the ground plane
    uint32_t vertex;
} sight;

/// A run of `sights`.
typedef struct view {
    uint32_t first, count;
} view;

static const uint32_t NOT_SEEN_YET = NAV_NONE;

/// The far ends of the two walls that meet in a corner: where its open fan begins and where it ends,
/// anticlockwise.
typedef struct wall_ends {
    nav__p2 first, last;
} wall_ends;

/// A place asked about.
typedef struct place {
    nav_vec asked;
    nav_place at;  ///< polygon NAV_NONE: off the mesh
    nav__anchor anchor;
} place;

/// A corner in the search of one row.
typedef struct reached {
    double g;         ///< over the ground plane
    double length;    ///< 3D, of the bends up to `bend`
    uint32_t bend;    ///< the last vertex on the way, this one included, where the way is known to bend; NAV_NONE: the source
    uint32_t stamp;
    bool settled;
} reached;

typedef struct open_corner {
    double g;
    uint32_t vertex, parent;
} open_corner;

struct nav_matrix {
    nav_alloc alloc;
    const nav_mesh *mesh;
    nav_snap snap;
    bool pairwise;
    place *sources, *targets;
    uint32_t source_count, target_count;

    sight *sights;
    uint32_t sight_count, sight_cap;
    wall_ends *walls;    ///< [vertex_count] of corners
    view *views;         ///< [vertex_count]
    view *target_views;  ///< [target_count]
    uint32_t *watchers;  ///< [vertex_count + 1] by corner, first of its run in watcher_targets
    sight *watcher_targets;  ///< targets (as `vertex`) that see the corner

    reached *corners;  ///< [vertex_count]
    uint32_t stamp;
    open_corner *heap;
    uint32_t heap_count, heap_cap;
    double *best;          ///< [target_count] ground length known
    double *best_length;   ///< [target_count] the same in 3D
    bool *wanted;          ///< [target_count] on an island of the row's source
    uint32_t *seen_stamp;  ///< [vertex_count] of the sweep under way
    uint32_t sweep_stamp;
    bool failed;
};

static void *resize(nav_matrix *x, void *p, size_t count, size_t size)
{
    return size && count > SIZE_MAX / size ? NULL : x->alloc.resize(x->alloc.ctx, p, count * size);
}

static void *take(nav_matrix *x, size_t count, size_t size)
{
    void *p = resize(x, NULL, count + 1, size);
    if (p) {
        memset(p, 0, (count + 1) * size);
    } else {
        x->failed = true;
    }
    return p;
}

static nav__p2 ground_of(const nav_mesh *m, uint32_t v)
{
    return (nav__p2){(double)m->vertex_xz[2 * v], (double)m->vertex_xz[2 * v + 1]};
}

static nav_vec point_of(const nav_mesh *m, uint32_t v)
{
    return (nav_vec){m->origin.x + (double)m->vertex_xz[2 * v], m->origin.y + (double)m->vertex_y[v],
                     m->origin.z + (double)m->vertex_xz[2 * v + 1]};
}

static double distance(nav_vec a, nav_vec b)
{
    double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrt(x * x + y * y + z * z);
}

// ---- views -----------------------------------------------------------------------------------------

static wall_ends ends_of(const nav_mesh *m, uint32_t vertex)
{
    uint32_t e = m->vertex_edge[vertex];
    wall_ends ends = {.first = nav__edge_from(m, nav__edge_next(m, e))};
    uint32_t prev = nav__edge_prev(m, e);
    while (m->edges[prev].twin != NAV_NONE) {
        prev = nav__edge_prev(m, m->edges[prev].twin);
    }
    ends.last = nav__edge_from(m, prev);
    return ends;
}

/// May a shortest path come from `from` and bend at this corner? Only past the obstacle's side: where its
/// walls lie to both sides of the line, the path could be pulled tight on either.
static bool is_tangent(const nav_matrix *x, nav__p2 from, uint32_t vertex)
{
    nav__p2 at = ground_of(x->mesh, vertex);
    const wall_ends *w = &x->walls[vertex];
    return nav__orient(from, at, w->first) <= 0 || nav__orient(from, at, w->last) >= 0;
}

typedef struct sweep {
    nav_matrix *x;
    nav__p2 from;
    uint32_t self;  ///< the corner that looks, or NAV_NONE
} sweep;

static void note_sight(void *ctx, uint32_t vertex)
{
    sweep *s = ctx;
    nav_matrix *x = s->x;
    if (vertex == s->self || x->seen_stamp[vertex] == x->sweep_stamp || x->failed) {
        return;
    }
    x->seen_stamp[vertex] = x->sweep_stamp;
    nav__p2 at = ground_of(x->mesh, vertex);
    if (!is_tangent(x, s->from, vertex) || (s->self != NAV_NONE && !is_tangent(x, at, s->self))) {
        return;
    }
    if (x->sight_count == x->sight_cap) {
        size_t cap = x->sight_cap ? 2 * (size_t)x->sight_cap : 1024;
        sight *sights = cap < NAV_NONE ? resize(x, x->sights, cap, sizeof *sights) : NULL;
        if (!sights) {
            x->failed = true;
            return;
        }
        x->sights = sights;
        x->sight_cap = (uint32_t)cap;
    }
    x->sights[x->sight_count++] = (sight){nav__dist(s->from, at), vertex};
}

static view look(nav_matrix *x, nav_query *query, nav__p2 from, uint32_t self, const uint32_t *cells, uint32_t count)
{
    sweep s = {x, from, self};
    view v = {x->sight_count, 0};
    if (++x->sweep_stamp == 0) {
        memset(x->seen_stamp, 0, x->mesh->vertex_count * sizeof *x->seen_stamp);
        x->sweep_stamp = 1;
    }
    if (!nav__see_corners(query, x->mesh, &x->snap.filter, from, cells, count, note_sight, &s)) {
        x->failed = true;
    }
    v.count = x->sight_count - v.first;
    return v;
}

/// The cells of a corner's fan.
static uint32_t fan_cells(nav_matrix *x, nav_query *query, uint32_t vertex, const uint32_t **cells)
{
    const nav_mesh *m = x->mesh;
    uint32_t first = m->vertex_edge[vertex], e = first, count = 0;
    do {
        uint32_t *list = nav__reserve(query, &query->cells, ((size_t)count + 1) * sizeof *list);
        if (!list) {
            x->failed = true;
            return 0;
        }
        list[count++] = m->edge_cell[e];
        e = m->edges[nav__edge_prev(m, e)].twin;
    } while (e != NAV_NONE && e != first);
    *cells = query->cells.data;
    return count;
}

static view view_of(nav_matrix *x, nav_query *query, uint32_t vertex)
{
    if (x->views[vertex].first == NOT_SEEN_YET) {
        const uint32_t *cells = NULL;
        uint32_t count = fan_cells(x, query, vertex, &cells);
        x->views[vertex] = look(x, query, ground_of(x->mesh, vertex), vertex, cells, count);
    }
    return x->views[vertex];
}

/// By corner, which targets it sees.
static void turn_target_views(nav_matrix *x)
{
    const nav_mesh *m = x->mesh;
    for (uint32_t t = 0; t < x->target_count; t++) {
        for (uint32_t i = 0; i < x->target_views[t].count; i++) {
            x->watchers[x->sights[x->target_views[t].first + i].vertex + 1]++;
        }
    }
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        x->watchers[v + 1] += x->watchers[v];
    }
    x->watcher_targets = take(x, x->watchers[m->vertex_count], sizeof *x->watcher_targets);
    if (!x->watcher_targets) {
        return;
    }
    // Filling from the back leaves each run's first in place.
    for (uint32_t t = x->target_count; t-- > 0;) {
        for (uint32_t i = 0; i < x->target_views[t].count; i++) {
            const sight *s = &x->sights[x->target_views[t].first + i];
            x->watcher_targets[--x->watchers[s->vertex + 1]] = (sight){s->distance, t};
        }
    }
    memmove(x->watchers, x->watchers + 1, m->vertex_count * sizeof *x->watchers);
    uint32_t total = 0;
    for (uint32_t t = 0; t < x->target_count; t++) {
        total += x->target_views[t].count;
    }
    x->watchers[m->vertex_count] = total;
}

// ---- one row ---------------------------------------------------------------------------------------

static void push(nav_matrix *x, open_corner entry)
{
    if (x->heap_count == x->heap_cap) {
        size_t cap = x->heap_cap ? 2 * (size_t)x->heap_cap : 1024;
        open_corner *heap = cap < NAV_NONE ? resize(x, x->heap, cap, sizeof *heap) : NULL;
        if (!heap) {
            x->failed = true;
            return;
        }
        x->heap = heap;
        x->heap_cap = (uint32_t)cap;
    }
    uint32_t i = x->heap_count++;
    while (i > 0 && entry.g < x->heap[(i - 1) / 4].g) {
        x->heap[i] = x->heap[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    x->heap[i] = entry;
}

static open_corner pop(nav_matrix *x)
{
    open_corner *h = x->heap, top = h[0], last = h[--x->heap_count];
    uint32_t i = 0, n = x->heap_count;
    for (uint32_t first = 1; first < n; first = 4 * i + 1) {
        uint32_t best = first, end = first + 4 < n ? first + 4 : n;
        for (uint32_t k = first + 1; k < end; k++) {
            best = h[k].g < h[best].g ? k : best;
        }
        if (h[best].g >= last.g) {
            break;
        }
        h[i] = h[best];
        i = best;
    }
    h[i] = last;
    return top;
}

static void offer(nav_matrix *x, uint32_t vertex, double g, uint32_t parent)
{
    reached *r = &x->corners[vertex];
    if (r->stamp != x->stamp) {
        *r = (reached){.g = INFINITY, .stamp = x->stamp};
    }
    if (!r->settled && g < r->g) {
        r->g = g;
        push(x, (open_corner){g, vertex, parent});
    }
}

/// 3D length of the way by `parent` on to a place, and the bend before it: as in an answer's points, a
/// corner on a straight line is none.
static double length_by(const nav_matrix *x, const place *from, uint32_t parent, nav_vec to, nav__p2 to_ground,
                        uint32_t *bend)
{
    const nav_mesh *m = x->mesh;
    *bend = NAV_NONE;
    if (parent == NAV_NONE) {
        return distance(from->at.point, to);
    }
    const reached *r = &x->corners[parent];
    nav__p2 before = r->bend == NAV_NONE ? from->anchor.p : ground_of(m, r->bend);
    nav_vec before_point = r->bend == NAV_NONE ? from->at.point : point_of(m, r->bend);
    bool is_source = r->bend == NAV_NONE && hypot(before.x - ground_of(m, parent).x, before.z - ground_of(m, parent).z) <= m->rounding;
    if (is_source || nav__orient(before, ground_of(m, parent), to_ground) == 0) {
        *bend = r->bend;
        return r->length + distance(before_point, to);
    }
    *bend = parent;
    return r->length + distance(before_point, point_of(m, parent)) + distance(point_of(m, parent), to);
}

/// A corner's way is final: what is known of it for the ways that go on.
static void settle(nav_matrix *x, const place *from, const open_corner *entry)
{
    reached *r = &x->corners[entry->vertex];
    r->settled = true;
    r->bend = NAV_NONE;
    r->length = 0;
    if (entry->parent == NAV_NONE) {
        return;
    }
    uint32_t bend;
    const nav_mesh *m = x->mesh;
    double length = length_by(x, from, entry->parent, point_of(m, entry->vertex), ground_of(m, entry->vertex), &bend);
    nav_vec last = bend == NAV_NONE ? from->at.point : point_of(m, bend);
    r->bend = bend;
    r->length = length - distance(last, point_of(m, entry->vertex));
}

/// Targets that the source itself sees.
static void see_targets(nav_matrix *x, const place *from)
{
    const nav_mesh *m = x->mesh;
    for (uint32_t t = 0; t < x->target_count; t++) {
        const place *to = &x->targets[t];
        x->best[t] = x->best_length[t] = INFINITY;
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
            nav__walk_leg(m, &x->snap.filter, from->anchor.cells, from->anchor.count, from->anchor.p, to->anchor.p, NULL,
                          NULL, &end);
            for (uint32_t k = 0; k < to->anchor.count; k++) {
                shared = shared || (end.clear && end.cell == to->anchor.cells[k]);
            }
        }
        if (shared) {
            x->best[t] = ground;
            x->best_length[t] = distance(from->at.point, to->at.point);
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

static nav_status search_row(nav_matrix *x, nav_query *query, const place *from)
{
    if (++x->stamp == 0) {
        memset(x->corners, 0, x->mesh->vertex_count * sizeof *x->corners);
        x->stamp = 1;
    }
    x->heap_count = 0;
    see_targets(x, from);
    view v = look(x, query, from->anchor.p, NAV_NONE, from->anchor.cells, from->anchor.count);
    for (uint32_t i = 0; i < v.count; i++) {
        offer(x, x->sights[v.first + i].vertex, x->sights[v.first + i].distance, NAV_NONE);
    }
    x->sight_count = v.first;  // the source's view is not kept
    double limit = furthest_open(x);
    uint32_t settled = 0;
    while (x->heap_count > 0 && !x->failed && x->heap[0].g < limit) {
        open_corner entry = pop(x);
        if (x->corners[entry.vertex].settled) {
            continue;
        }
        settle(x, from, &entry);
        if ((++settled & 63) == 0 && query->interrupt.stop && query->interrupt.stop(query->interrupt.ctx)) {
            return NAV_INTERRUPTED;
        }
        bool nearer = false;
        for (uint32_t i = x->watchers[entry.vertex]; i < x->watchers[entry.vertex + 1]; i++) {
            const sight *s = &x->watcher_targets[i];
            if (entry.g + s->distance < x->best[s->vertex]) {
                const place *to = &x->targets[s->vertex];
                uint32_t bend;
                x->best[s->vertex] = entry.g + s->distance;
                x->best_length[s->vertex] = length_by(x, from, entry.vertex, to->at.point, to->anchor.p, &bend);
                nearer = true;
            }
        }
        limit = nearer ? furthest_open(x) : limit;
        v = view_of(x, query, entry.vertex);
        for (uint32_t i = 0; i < v.count; i++) {
            offer(x, x->sights[v.first + i].vertex, entry.g + x->sights[v.first + i].distance, entry.vertex);
        }
    }
    return x->failed ? NAV_NO_MEMORY : NAV_OK;
}

static nav_status path_row(nav_matrix *x, nav_query *query, const place *from, double *lengths)
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
    const place *from = &x->sources[source];
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
    if (status == NAV_OK) {
        memcpy(lengths, x->best_length, x->target_count * sizeof *lengths);
    }
    return status;
}

// ---- the whole -------------------------------------------------------------------------------------

/// @return false: a coordinate is not finite, or no memory (x->failed)
static bool find_places(nav_matrix *x, nav_query *query, const nav_vec *points, uint32_t count, place **out)
{
    *out = take(x, count, sizeof **out);
    for (uint32_t i = 0; i < count && *out; i++) {
        place *p = &(*out)[i];
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
    x->views = take(x, vertices, sizeof *x->views);
    x->watchers = take(x, (size_t)vertices + 1, sizeof *x->watchers);
    x->corners = take(x, vertices, sizeof *x->corners);
    x->seen_stamp = take(x, vertices, sizeof *x->seen_stamp);
    x->target_views = take(x, x->target_count, sizeof *x->target_views);
    x->best = take(x, x->target_count, sizeof *x->best);
    x->best_length = take(x, x->target_count, sizeof *x->best_length);
    x->wanted = take(x, x->target_count, sizeof *x->wanted);
    if (x->failed) {
        return;
    }
    for (uint32_t v = 0; v < vertices; v++) {
        x->views[v].first = NOT_SEEN_YET;
        uint32_t e = x->mesh->vertex_edge[v];
        if (x->mesh->edges[e].vertex & NAV__CORNER) {
            x->walls[v] = ends_of(x->mesh, v);
        }
    }
    for (uint32_t t = 0; t < x->target_count && !x->failed; t++) {
        const place *p = &x->targets[t];
        if (p->at.polygon != NAV_NONE) {
            x->target_views[t] = look(x, query, p->anchor.p, NAV_NONE, p->anchor.cells, p->anchor.count);
        }
    }
    if (!x->failed) {
        turn_target_views(x);
    }
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
    *x = (nav_matrix){.alloc = from, .mesh = mesh, .snap = *snap, .source_count = source_count,
                      .target_count = target_count};
    bool found = find_places(x, query, sources, source_count, &x->sources) &&
                 find_places(x, query, targets, target_count, &x->targets);
    x->pairwise = mesh->ride_count > 0 || has_costs(mesh, &snap->filter) || !nav__passes_all(mesh, &snap->filter);
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
    void *const blocks[] = {x->sources, x->targets, x->sights, x->walls, x->views,       x->target_views, x->watchers,
                            x->watcher_targets, x->corners, x->heap, x->best, x->best_length, x->wanted,
                            x->seen_stamp};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        if (blocks[i]) {
            x->alloc.resize(x->alloc.ctx, blocks[i], 0);
        }
    }
    nav_alloc from = x->alloc;
    from.resize(from.ctx, x, 0);
}
