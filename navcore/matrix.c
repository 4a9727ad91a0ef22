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

/// On which side of a line through a corner its obstacle lies.
typedef enum side { SIDE_LEFT, SIDE_UNKNOWN, SIDE_RIGHT } side;

/// One corner that a place sees. Four bytes: the search goes through all of them in every row, in an order
/// that no cache foresees.
typedef struct sight {
    uint32_t vertex : 30;
    uint32_t past : 2;  ///< a `side`: where the corner's obstacle lies along the line of sight
} sight;

enum { MOST_VERTICES = 1 << 30 };

/// A run of `sights`. Of a place that is a corner itself: first those with its obstacle on the left of the line
/// of sight, leftmost first, from `unknown` on those of which that cannot be told, from `right` on those with it on the
/// right, rightmost first.
typedef struct view {
    uint32_t first, unknown, right, end;
} view;

static const uint32_t NOT_SEEN_YET = NAV_NONE;

/// The far ends of the two walls that meet in a corner: where its open fan begins and where it ends,
/// anticlockwise.
typedef struct wall_ends {
    nav__p2 first, last;
    bool wide;  ///< the fan is a full turn or more: on spiral stairs both walls may lie anywhere
} wall_ends;

/// A place asked about.
typedef struct place {
    nav_vec asked;
    nav_place at;  ///< polygon NAV_NONE: off the mesh
    nav__anchor anchor;
} place;

/// How far the search of one row has come with a corner, and where that is, which is asked for together.
typedef struct corner {
    double g;    ///< over the ground plane; INFINITY: not reached
    float x, z;
} corner;

/// The rest of a corner.
typedef struct corner_way {
    uint32_t parent;  ///< the corner before it on the way; NAV_NONE: the source
    side past;        ///< on which side of the leg to it its obstacle lies
    view view;        ///< what it sees; .first NOT_SEEN_YET: not swept yet
} corner_way;

/// An entry of the heap. What rounding g puts in the wrong order is put right by reaching a corner again.
typedef struct open_corner {
    float g;
    uint32_t vertex;
} open_corner;

/// An entry that waits in a bucket.
typedef struct waiting {
    open_corner entry;
    uint32_t next;  ///< in its bucket, or among those not used; NAV_NONE: the last
} waiting;

/// The open list is a ring of buckets of equal width in g (Dial, "Algorithm 360: Shortest-Path Forest with
/// Topological Ordering", CACM 1969), of which only the current one is a heap. The ring reaches further than any
/// corner can be seen.
enum { BUCKETS = 1024 };

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
    view *target_views;  ///< [target_count]
    uint32_t *watchers;  ///< [vertex_count + 1] by corner, first of its run in watcher_targets
    uint32_t *watcher_targets;  ///< targets that see the corner

    corner *corners;     ///< [vertex_count]
    corner_way *ways;    ///< [vertex_count]
    uint32_t *touched;   ///< [vertex_count] corners whose g is not INFINITY
    uint32_t touched_count;
    uint32_t *chain;    ///< [vertex_count] a way from its end
    open_corner *heap;  ///< of the current bucket
    uint32_t heap_count, heap_cap;
    waiting *pool;
    uint32_t pool_count, pool_cap, pool_free, waiting_count;
    uint32_t buckets[BUCKETS];
    uint64_t current;
    double buckets_per_unit;
    double *best;          ///< [target_count] ground length known
    uint32_t *last;        ///< [target_count] the corner before the target on that way; NAV_NONE: the source
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
    const double full_turn = 6.283185307179586, rounding = 1e-6;
    uint32_t e = m->vertex_edge[vertex];
    nav__p2 at = ground_of(m, vertex);
    wall_ends ends = {.first = nav__edge_from(m, nav__edge_next(m, e))};
    for (double turn = 0;;) {
        uint32_t prev = nav__edge_prev(m, e);
        nav__p2 a = nav__edge_from(m, nav__edge_next(m, e)), b = nav__edge_from(m, prev);
        double ax = a.x - at.x, az = a.z - at.z, bx = b.x - at.x, bz = b.z - at.z;
        turn += fabs(atan2(ax * bz - az * bx, ax * bx + az * bz));
        e = m->edges[prev].twin;
        if (e == NAV_NONE) {
            ends.last = b;
            ends.wide = turn > full_turn - rounding;
            return ends;
        }
    }
}

/// May a shortest path come from `from` and bend at this corner? Only past the obstacle's side: where its
/// walls lie to both sides of the line, the path could be pulled tight on either.
static bool is_tangent(const nav_matrix *x, nav__p2 from, uint32_t vertex)
{
    nav__p2 at = ground_of(x->mesh, vertex);
    const wall_ends *w = &x->walls[vertex];
    return nav__orient(from, at, w->first) <= 0 || nav__orient(from, at, w->last) >= 0;
}

/// Where the obstacle of a corner lies, seen along a line from `a` to `b` through it on which a path may run.
static side side_of(const wall_ends *w, nav__p2 a, nav__p2 b)
{
    double first = nav__orient(a, b, w->first), last = nav__orient(a, b, w->last);
    if (w->wide || (first == 0 && last == 0)) {
        return SIDE_UNKNOWN;
    }
    return first >= 0 && last >= 0 ? SIDE_LEFT : first <= 0 && last <= 0 ? SIDE_RIGHT : SIDE_UNKNOWN;
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
    x->sights[x->sight_count++] = (sight){vertex & (MOST_VERTICES - 1), (uint32_t)side_of(&x->walls[vertex], s->from, at) & 3};
}

static nav__p2 corner_at(const nav_matrix *x, uint32_t vertex)
{
    const corner *c = &x->corners[vertex];
    return (nav__p2){(double)c->x, (double)c->z};
}

/// Sorts directions from `at` that span less than half a turn, each next one further to the left (turn 1) or
/// to the right (-1).
static void sort_turning(const nav_matrix *x, nav__p2 at, uint32_t first, uint32_t end, double turn)
{
    for (uint32_t i = first + 1; i < end; i++) {
        sight s = x->sights[i];
        uint32_t to = i;
        for (; to > first && turn * nav__orient(at, corner_at(x, x->sights[to - 1].vertex), corner_at(x, s.vertex)) < 0; to--) {
            x->sights[to] = x->sights[to - 1];
        }
        x->sights[to] = s;
    }
}

/// Brings a corner's run of sights in the order of `view`.
static void sort_view(const nav_matrix *x, uint32_t self, view *v)
{
    const wall_ends *walls = &x->walls[self];
    nav__p2 at = ground_of(x->mesh, self);
    v->unknown = v->right = v->first;
    for (uint32_t i = v->first; i < v->end; i++) {
        sight s = x->sights[i];
        side own = side_of(walls, at, corner_at(x, s.vertex));
        uint32_t to = i;
        // Room is made by moving one sight of each later group behind its own.
        if (own != SIDE_RIGHT) {
            x->sights[to] = x->sights[v->right];
            to = v->right++;
        }
        if (own == SIDE_LEFT) {
            x->sights[to] = x->sights[v->unknown];
            to = v->unknown++;
        }
        x->sights[to] = s;
    }
    sort_turning(x, at, v->first, v->unknown, -1);
    sort_turning(x, at, v->right, v->end, 1);
}

static view look(nav_matrix *x, nav_query *query, nav__p2 from, uint32_t self, const uint32_t *cells, uint32_t count)
{
    sweep s = {x, from, self};
    view v = {.first = x->sight_count};
    if (++x->sweep_stamp == 0) {
        memset(x->seen_stamp, 0, x->mesh->vertex_count * sizeof *x->seen_stamp);
        x->sweep_stamp = 1;
    }
    if (!nav__see_corners(query, x->mesh, &x->snap.filter, from, cells, count, note_sight, &s)) {
        x->failed = true;
    }
    v.end = x->sight_count;
    if (self != NAV_NONE && !x->failed) {
        sort_view(x, self, &v);
    }
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
    view *v = &x->ways[vertex].view;
    if (v->first == NOT_SEEN_YET) {
        const uint32_t *cells = NULL;
        uint32_t count = fan_cells(x, query, vertex, &cells);
        *v = look(x, query, ground_of(x->mesh, vertex), vertex, cells, count);
    }
    return *v;
}

/// By corner, which targets it sees.
static void turn_target_views(nav_matrix *x)
{
    const nav_mesh *m = x->mesh;
    uint32_t total = 0;
    for (uint32_t t = 0; t < x->target_count; t++) {
        const view *v = &x->target_views[t];
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

/// Puts an entry into a bucket after the current one.
static void put_off(nav_matrix *x, open_corner entry, uint64_t bucket)
{
    uint32_t at = x->pool_free;
    if (at != NAV_NONE) {
        x->pool_free = x->pool[at].next;
    } else {
        if (x->pool_count == x->pool_cap) {
            size_t cap = x->pool_cap ? 2 * (size_t)x->pool_cap : 1024;
            waiting *pool = cap < NAV_NONE ? resize(x, x->pool, cap, sizeof *pool) : NULL;
            if (!pool) {
                x->failed = true;
                return;
            }
            x->pool = pool;
            x->pool_cap = (uint32_t)cap;
        }
        at = x->pool_count++;
    }
    uint32_t *head = &x->buckets[bucket % BUCKETS];
    x->pool[at] = (waiting){entry, *head};
    *head = at;
    x->waiting_count++;
}

static void open_corner_at(nav_matrix *x, uint32_t vertex, double g)
{
    uint64_t bucket = (uint64_t)(g * x->buckets_per_unit);
    open_corner entry = {(float)g, vertex};
    if (bucket > x->current) {
        put_off(x, entry, bucket);
    } else {
        push(x, entry);
    }
}

/// Makes the next bucket that holds anything the current one, when that is used up. What is not out of date goes
/// into the heap, and what it sees is asked of the memory ahead of time.
/// @return false: nothing is open
static bool open_bucket(nav_matrix *x)
{
    while (x->heap_count == 0 && x->waiting_count > 0) {
        uint32_t *head = &x->buckets[++x->current % BUCKETS];
        while (*head != NAV_NONE) {
            waiting *w = &x->pool[*head];
            uint32_t vertex = w->entry.vertex, next = w->next;
            if (w->entry.g <= (float)x->corners[vertex].g) {
                uint32_t first = x->ways[vertex].view.first;
                if (first != NOT_SEEN_YET) {
                    __builtin_prefetch(&x->sights[first]);
                    __builtin_prefetch((const char *)&x->sights[first] + 64);
                }
                __builtin_prefetch(&x->watchers[vertex]);
                push(x, w->entry);
            }
            w->next = x->pool_free;
            x->pool_free = *head;
            *head = next;
            x->waiting_count--;
        }
    }
    return x->heap_count > 0;
}

static void offer(nav_matrix *x, const sight *s, double g, uint32_t parent)
{
    corner *c = &x->corners[s->vertex];
    if (g < c->g) {
        if (isinf(c->g)) {
            x->touched[x->touched_count++] = s->vertex;
        }
        c->g = g;
        x->ways[s->vertex].parent = parent;
        x->ways[s->vertex].past = (side)s->past;
        open_corner_at(x, s->vertex, g);
    }
}

/// 3D length of the way found to a target: as in an answer's points, a corner on a straight line is none.
static double length_to(nav_matrix *x, const place *from, uint32_t target)
{
    const nav_mesh *m = x->mesh;
    const place *to = &x->targets[target];
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
        nav__p2 at = ground_of(m, v), next = count ? ground_of(m, x->chain[count - 1]) : to->anchor.p;
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
static void see_targets(nav_matrix *x, const place *from)
{
    const nav_mesh *m = x->mesh;
    for (uint32_t t = 0; t < x->target_count; t++) {
        const place *to = &x->targets[t];
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
            nav__walk_leg(m, &x->snap.filter, from->anchor.cells, from->anchor.count, from->anchor.p, to->anchor.p, NULL,
                          NULL, &end);
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
    nav__p2 at = corner_at(x, vertex);
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
static void expand(nav_matrix *x, nav_query *query, const place *from, uint32_t vertex)
{
    view v = view_of(x, query, vertex);
    const corner_way *way = &x->ways[vertex];
    double g = x->corners[vertex].g;
    nav__p2 at = corner_at(x, vertex), before = way->parent == NAV_NONE ? from->anchor.p : corner_at(x, way->parent);
    nav__p2 leg = nav__sub(at, before);
    // Of a source that all but is the corner the direction says nothing.
    side past = g > x->mesh->rounding ? way->past : SIDE_UNKNOWN;
    double outwards = past == SIDE_LEFT ? -1 : past == SIDE_RIGHT ? 1 : 0;
    uint32_t first = past == SIDE_RIGHT ? v.right : v.first, end = past == SIDE_LEFT ? v.unknown : v.end;
    for (uint32_t i = first; i < end; i++) {
        const sight *s = &x->sights[i];
        nav__p2 to = corner_at(x, s->vertex);
        if (outwards * nav__cross(leg, nav__sub(to, at)) > 0) {
            break;
        }
        offer(x, s, g + nav__dist(at, to), vertex);
    }
    for (uint32_t i = v.unknown; i < v.right && past != SIDE_UNKNOWN; i++) {
        const sight *s = &x->sights[i];
        nav__p2 to = corner_at(x, s->vertex);
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
    memset(x->buckets, 0xFF, sizeof x->buckets);  // NAV_NONE
    x->pool_free = NAV_NONE;
    x->heap_count = x->pool_count = x->waiting_count = 0;
    x->current = 0;
}

static nav_status search_row(nav_matrix *x, nav_query *query, const place *from)
{
    const double rounding_up = 1 + 1e-6;  // of the heap's keys
    clear_row(x);
    see_targets(x, from);
    view v = look(x, query, from->anchor.p, NAV_NONE, from->anchor.cells, from->anchor.count);
    for (uint32_t i = v.first; i < v.end; i++) {
        offer(x, &x->sights[i], nav__dist(from->anchor.p, corner_at(x, x->sights[i].vertex)), NAV_NONE);
    }
    x->sight_count = v.first;  // the source's view is not kept
    double limit = furthest_open(x);
    uint32_t expanded = 0;
    while (!x->failed && open_bucket(x) && (double)x->heap[0].g < limit * rounding_up) {
        open_corner entry = pop(x);
        if (entry.g > (float)x->corners[entry.vertex].g) {
            continue;  // it has been reached by a shorter way since
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
    for (uint32_t t = 0; t < x->target_count && status == NAV_OK; t++) {
        lengths[t] = length_to(x, from, t);
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
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (uint32_t v = 0; v < vertices; v++) {
        for (int a = 0; a < 2; a++) {
            low[a] = fmin(low[a], (double)x->mesh->vertex_xz[2 * v + (uint32_t)a]);
            high[a] = fmax(high[a], (double)x->mesh->vertex_xz[2 * v + (uint32_t)a]);
        }
        x->corners[v] = (corner){INFINITY, x->mesh->vertex_xz[2 * v], x->mesh->vertex_xz[2 * v + 1]};
        x->ways[v].view.first = NOT_SEEN_YET;
        uint32_t e = x->mesh->vertex_edge[v];
        if (x->mesh->edges[e].vertex & NAV__CORNER) {
            x->walls[v] = ends_of(x->mesh, v);
        }
    }
    x->buckets_per_unit = (BUCKETS - 4) / hypot(high[0] - low[0], high[1] - low[1]);
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
    x->pairwise = mesh->ride_count > 0 || has_costs(mesh, &snap->filter) || !nav__passes_all(mesh, &snap->filter) ||
                  mesh->vertex_count > MOST_VERTICES;
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
    void *const blocks[] = {x->sources, x->targets, x->sights, x->walls, x->target_views, x->watchers,
                            x->watcher_targets, x->corners, x->ways, x->touched, x->chain, x->heap, x->pool, x->best, x->last,
                            x->wanted, x->seen_stamp};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        if (blocks[i]) {
            x->alloc.resize(x->alloc.ctx, blocks[i], 0);
        }
    }
    nav_alloc from = x->alloc;
    from.resize(from.ctx, x, 0);
}
