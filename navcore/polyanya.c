/// Polyanya (Cui, Harabor, Grastien, "Compromise-free Pathfinding on a Navigation Mesh", IJCAI 2017).
///
/// A node is a root, an interval on an edge that the root sees, and the cell behind that edge. Two
/// things differ from the paper. First, an interval is never kept as computed points: each end is a
/// ray, told by the two mesh vertices it runs through, so that every decision is an exact orientation
/// test of vertices and the search cannot be misled by rounding. Second, whatever bends at the same
/// corner shares one record (vertex, g, record bent at before), so a node is five words.
///
///              left ray        right ray
///                  \    cell    /
///         w5 -------X----------X---- w3        chain: the cell's edges but the entry edge,
///          \         \        /     /                 anticlockwise from b to a
///           a = w6 ---L------R--- b = w1       entry edge, L and R are the interval's ends
///                      \    /
///                       root
///
/// Edges between the rays are seen by the same root; those right of the right ray are reached only by
/// bending at R, which pays only where R is the vertex b and b is a corner; the same on the left.
#include "polyanya.h"

#include <math.h>
#include <string.h>

enum {
    LEFT_IS_VERTEX = 1,  ///< the interval's left end is the edge's own vertex
    RIGHT_IS_VERTEX = 2,
    LEFT_FROM_PREVIOUS = 4,  ///< the left ray runs from the previous root through the root
    RIGHT_FROM_PREVIOUS = 8,
    FINAL = 16,  ///< the goal itself, straight from the root
    RIDE = 32    ///< a link's ride, begun straight from the root (edge: the ride's number)
};

/// One bend: every node whose root is this corner, reached this way, names it.
typedef struct record {
    double g;
    uint32_t vertex;  ///< NAV_NONE: the start; vertex_count + k: the end of ride k
    uint32_t parent;
} record;

typedef struct node {
    uint32_t record;
    uint32_t edge;         ///< the half-edge, in the cell entered, that the interval lies on
    uint32_t left, right;  ///< vertices the rays run through (unless FROM_PREVIOUS)
    uint32_t flags;
} node;

typedef struct heap_entry {
    double f;
    double g;
    uint32_t node;
} heap_entry;

/// Best g at which a vertex, or the end of a ride, was a root in this search.
typedef struct root_best {
    double g;
    uint32_t stamp;
} root_best;

/// Everything the search holds; arrays are the query's buffers.
typedef struct search_state {
    nav_query *query;
    nav__search *s;
    const nav_mesh *m;
    nav__p2 start, goal;
    bool all_pass;
    bool out_of_memory;

    node *nodes;
    uint32_t node_count, node_cap;
    node *fresh;  ///< successors of the node being expanded
    uint32_t fresh_count, fresh_cap;
    record *records;
    uint32_t record_count, record_cap;
    heap_entry *heap;
    uint32_t heap_count, heap_cap;
    root_best *roots;
    uint32_t stamp;

    bool cheap_rides;   ///< some ride costs less than its straight line: see ride_bound
    double ride_floor;  ///< no way by a cheap ride costs less than this from its beginning on
} search_state;

static inline nav__p2 vertex_at(const nav_mesh *m, uint32_t v)
{
    return (nav__p2){(double)m->vertex_xz[2 * v], (double)m->vertex_xz[2 * v + 1]};
}

static inline bool same(nav__p2 a, nav__p2 b) { return a.x == b.x && a.z == b.z; }

static inline nav__p2 ride_from(const nav__ride *r) { return (nav__p2){(double)r->from[0], (double)r->from[2]}; }
static inline nav__p2 ride_to(const nav__ride *r) { return (nav__p2){(double)r->to[0], (double)r->to[2]}; }

static inline nav__p2 record_at(const search_state *st, uint32_t r)
{
    uint32_t v = st->records[r].vertex;
    if (v < st->m->vertex_count) {
        return vertex_at(st->m, v);
    }
    return v == NAV_NONE ? st->start : ride_to(&st->m->rides[v - st->m->vertex_count]);
}

// ---- storage ---------------------------------------------------------------------------------------

static bool grow(search_state *st, nav__buffer *buffer, void *array, uint32_t *cap, size_t entry)
{
    size_t want = *cap ? (size_t)*cap * 2 : 512;
    void *data = want < NAV_NONE ? nav__reserve(st->query, buffer, want * entry) : NULL;
    if (!data) {
        st->out_of_memory = true;
        return false;
    }
    memcpy(array, &data, sizeof data);
    *cap = (uint32_t)(buffer->bytes / entry < NAV_NONE ? buffer->bytes / entry : NAV_NONE - 1);
    return true;
}

static uint32_t add_record(search_state *st, double g, uint32_t vertex, uint32_t parent)
{
    if (st->record_count == st->record_cap &&
        !grow(st, &st->query->records, &st->records, &st->record_cap, sizeof *st->records)) {
        return NAV_NONE;
    }
    st->records[st->record_count] = (record){g, vertex, parent};
    return st->record_count++;
}

static inline bool add_node(search_state *st, node n)
{
    if (st->node_count == st->node_cap &&
        !grow(st, &st->query->nodes, &st->nodes, &st->node_cap, sizeof *st->nodes)) {
        return false;
    }
    st->nodes[st->node_count++] = n;
    return true;
}

/// Smaller f first; among equals the larger g, which is nearer to the goal.
static inline bool before(const heap_entry *a, const heap_entry *b)
{
    return a->f < b->f || (a->f == b->f && a->g > b->g);
}

static void heap_push(search_state *st, heap_entry entry)
{
    if (st->heap_count == st->heap_cap &&
        !grow(st, &st->query->heap, &st->heap, &st->heap_cap, sizeof *st->heap)) {
        return;
    }
    uint32_t i = st->heap_count++;
    while (i > 0) {
        uint32_t up = (i - 1) / 4;
        if (!before(&entry, &st->heap[up])) {
            break;
        }
        st->heap[i] = st->heap[up];
        i = up;
    }
    st->heap[i] = entry;
}

static heap_entry heap_pop(search_state *st)
{
    heap_entry *h = st->heap, top = h[0], last = h[--st->heap_count];
    uint32_t i = 0, n = st->heap_count;
    for (;;) {
        uint32_t first = 4 * i + 1, best = first;
        if (first >= n) {
            break;
        }
        uint32_t end = first + 4 < n ? first + 4 : n;
        for (uint32_t k = first + 1; k < end; k++) {
            if (before(&h[k], &h[best])) {
                best = k;
            }
        }
        if (!before(&h[best], &last)) {
            break;
        }
        h[i] = h[best];
        i = best;
    }
    h[i] = last;
    return top;
}

// ---- what the mesh allows --------------------------------------------------------------------------

static bool is_among(const nav__anchor *anchor, uint32_t cell)
{
    for (uint32_t i = 0; i < anchor->count; i++) {
        if (anchor->cells[i] == cell) {
            return true;
        }
    }
    return false;
}

static inline bool is_goal_cell(const search_state *st, uint32_t cell) { return is_among(st->s->goal, cell); }

/// A dead end without the goal behind it need not be entered from its stem.
static inline bool is_blind_alley(const search_state *st, uint32_t from, uint32_t into)
{
    const nav__cell *c = &st->m->cells[into];
    if (!c->tree_first) {
        return false;
    }
    uint32_t here = st->m->cells[from].tree_first;
    if (here >= c->tree_first && here <= c->tree_last) {
        return false;  // on the way out
    }
    const nav__anchor *goal = st->s->goal;
    for (uint32_t i = 0; i < goal->count; i++) {
        uint32_t there = st->m->cells[goal->cells[i]].tree_first;
        if (there >= c->tree_first && there <= c->tree_last) {
            return false;
        }
    }
    return true;
}

/// May one go from `cell` through its half-edge `edge`?
static inline bool is_passable(const search_state *st, uint32_t cell, uint32_t edge)
{
    uint32_t twin = st->m->edges[edge].twin;
    if (twin == NAV_NONE) {
        return false;
    }
    uint32_t into = st->m->edge_cell[twin];
    return (st->all_pass || nav__passes(st->m, st->s->filter, into)) && !is_blind_alley(st, cell, into);
}

static inline bool is_corner(const search_state *st, uint32_t edge)
{
    uint32_t v = st->m->edges[edge].vertex;
    return (v & NAV__CORNER) || (!st->all_pass && nav__touches_closed(st->m, st->s->filter, v & NAV__VERTEX));
}

/// g of a bend at a vertex, remembered as the vertex's best. False: a shorter way to it is known.
static bool reach_root(search_state *st, uint32_t v, double g)
{
    root_best *best = &st->roots[v];
    if (best->stamp == st->stamp) {
        if (g > best->g * (1 + 1e-12) + 1e-12) {
            return false;
        }
        if (g < best->g) {
            best->g = g;
        }
    } else {
        *best = (root_best){g, st->stamp};
    }
    return true;
}

static inline bool is_outdone(const search_state *st, const record *r)
{
    return r->vertex != NAV_NONE && r->g > st->roots[r->vertex].g * (1 + 1e-12) + 1e-12;
}

// ---- bounds ----------------------------------------------------------------------------------------

/// Where the line p -> q meets the edge a - b, given which sides a and b lie on.
static inline nav__p2 cut_point(nav__p2 a, nav__p2 b, double side_a, double side_b)
{
    double t = side_a / (side_a - side_b);
    return (nav__p2){a.x + (b.x - a.x) * t, a.z + (b.z - a.z) * t};
}

/// The rays of a node.
static void node_rays(const search_state *st, const node *n, nav__p2 root, nav__p2 *left_p, nav__p2 *left_q,
                      nav__p2 *right_p, nav__p2 *right_q)
{
    *left_p = *right_p = root;
    if (n->flags & (LEFT_FROM_PREVIOUS | RIGHT_FROM_PREVIOUS)) {
        nav__p2 previous = record_at(st, st->records[n->record].parent);
        if (n->flags & LEFT_FROM_PREVIOUS) {
            *left_p = previous;
            *left_q = root;
        }
        if (n->flags & RIGHT_FROM_PREVIOUS) {
            *right_p = previous;
            *right_q = root;
        }
    }
    if (!(n->flags & LEFT_FROM_PREVIOUS)) {
        *left_q = vertex_at(st->m, n->left);
    }
    if (!(n->flags & RIGHT_FROM_PREVIOUS)) {
        *right_q = vertex_at(st->m, n->right);
    }
}

/// The interval's end points, for bounds only.
static void node_interval(const search_state *st, const node *n, nav__p2 root, nav__p2 *left, nav__p2 *right)
{
    const nav_mesh *m = st->m;
    *left = nav__edge_from(m, n->edge);
    *right = nav__edge_from(m, nav__edge_next(m, n->edge));
    if ((n->flags & (LEFT_IS_VERTEX | RIGHT_IS_VERTEX)) == (LEFT_IS_VERTEX | RIGHT_IS_VERTEX)) {
        return;
    }
    nav__p2 lp, lq, rp, rq, a = *left, b = *right;
    node_rays(st, n, root, &lp, &lq, &rp, &rq);
    if (!(n->flags & LEFT_IS_VERTEX)) {
        *left = cut_point(a, b, nav__orient(lp, lq, a), nav__orient(lp, lq, b));
    }
    if (!(n->flags & RIGHT_IS_VERTEX)) {
        *right = cut_point(a, b, nav__orient(rp, rq, a), nav__orient(rp, rq, b));
    }
}

/// Length of the shortest way root -> interval -> goal with nothing else in the way (section 4.2 of the
/// paper): the goal is mirrored to the far side of the edge, then bends at an end where it must.
static double node_bound(const search_state *st, const node *n, nav__p2 root)
{
    nav__p2 left, right, goal = st->goal;
    node_interval(st, n, root, &left, &right);
    nav__p2 a = nav__edge_from(st->m, n->edge), b = nav__edge_from(st->m, nav__edge_next(st->m, n->edge));
    nav__p2 along = nav__sub(b, a);
    double side = nav__cross(along, nav__sub(goal, a));
    if (side < 0) {
        // On the root's side: the cell entered is on the left of a -> b.
        double k = 2 * side / nav__dot(along, along);
        goal.x += along.z * k;
        goal.z -= along.x * k;
    }
    nav__p2 to_goal = nav__sub(goal, root);
    if (nav__cross(nav__sub(right, root), to_goal) < 0) {
        return nav__dist(root, right) + nav__dist(right, goal);
    }
    if (nav__cross(nav__sub(left, root), to_goal) > 0) {
        return nav__dist(root, left) + nav__dist(left, goal);
    }
    return nav__dist(root, goal);
}

static inline double least(double a, double b) { return a < b ? a : b; }

enum { RIDES_LOOKED_AT = 8 };  ///< up to so many rides the bound looks at each

/// Least cost of a way to the goal from `from` by at least one ride that is cheaper than walking its
/// straight line. Only such rides could undercut the straight distance.
static double ride_bound(const search_state *st, nav__p2 from)
{
    if (!st->cheap_rides) {
        return INFINITY;
    }
    if (st->m->ride_count > RIDES_LOOKED_AT) {
        return st->ride_floor;
    }
    double bound = INFINITY;
    for (uint32_t i = 0; i < st->m->ride_count; i++) {
        const nav__ride *r = &st->m->rides[i];
        bound = least(bound, nav__dist(from, ride_from(r)) + nav__ride_cost(st->m, r, st->s->filter));
    }
    return bound;
}

/// Is any open ride cheaper than its straight line, and what does such a way cost at least?
static void measure_rides(search_state *st)
{
    st->ride_floor = INFINITY;
    for (uint32_t i = 0; i < st->m->ride_count; i++) {
        const nav__ride *r = &st->m->rides[i];
        double cost = nav__ride_cost(st->m, r, st->s->filter);
        st->ride_floor = least(st->ride_floor, cost);
        if (nav__ride_open(st->m, r, st->s->filter) && cost < nav__dist(ride_from(r), ride_to(r))) {
            st->cheap_rides = true;
        }
    }
}

// ---- successors ------------------------------------------------------------------------------------

/// From the node's root into the cell it enters, to a place in it: straight, or round one end of the
/// interval where that is a corner.
/// @param r  the record to go straight on from
/// @return false: a sibling that bends earlier, or a shorter way, gets there
static bool reach_place(search_state *st, const node *n, nav__p2 place, uint32_t *r)
{
    nav__p2 root = record_at(st, n->record), lp, lq, rp, rq;
    node_rays(st, n, root, &lp, &lq, &rp, &rq);
    uint32_t left = n->edge, right = nav__edge_next(st->m, n->edge), bend = NAV_NONE;
    *r = n->record;
    if (!same(root, nav__edge_from(st->m, right)) && nav__orient(rp, rq, place) < 0) {
        bend = n->flags & RIGHT_IS_VERTEX ? right : NAV_NONE;
    } else if (!same(root, nav__edge_from(st->m, left)) && nav__orient(lp, lq, place) > 0) {
        bend = n->flags & LEFT_IS_VERTEX ? left : NAV_NONE;
    } else {
        return true;
    }
    if (bend == NAV_NONE || !is_corner(st, bend)) {
        return false;
    }
    uint32_t v = st->m->edges[bend].vertex & NAV__VERTEX;
    double g = st->records[n->record].g + nav__dist(root, nav__edge_from(st->m, bend));
    *r = reach_root(st, v, g) ? add_record(st, g, v, n->record) : NAV_NONE;
    return *r != NAV_NONE;
}

/// The goal, straight from a record's place.
static void add_final(search_state *st, uint32_t r)
{
    if (add_node(st, (node){.record = r, .flags = FINAL})) {
        double f = st->records[r].g + nav__dist(record_at(st, r), st->goal);
        heap_push(st, (heap_entry){f, f, st->node_count - 1});
    }
}

/// A ride, begun straight from a record's place.
static void add_ride(search_state *st, uint32_t r, uint32_t ride)
{
    const nav__ride *k = &st->m->rides[ride];
    double g = st->records[r].g + nav__dist(record_at(st, r), ride_from(k)) +
               nav__ride_cost(st->m, k, st->s->filter);
    if (add_node(st, (node){.record = r, .edge = ride, .flags = RIDE})) {
        double h = least(nav__dist(ride_to(k), st->goal), ride_bound(st, ride_to(k)));
        heap_push(st, (heap_entry){g + h, g, st->node_count - 1});
    }
}

/// The rides that begin in the cell a node enters.
static void add_rides(search_state *st, const node *n, uint32_t cell)
{
    const nav__ride *rides;
    uint32_t count = nav__rides_from(st->m, cell, &rides);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t r;
        if (nav__ride_open(st->m, &rides[i], st->s->filter) && reach_place(st, n, ride_from(&rides[i]), &r)) {
            add_ride(st, r, (uint32_t)(&rides[i] - st->m->rides));
        }
    }
}

/// Notes a successor; one without a record is none.
static inline void add_fresh(search_state *st, node n)
{
    if (n.record == NAV_NONE) {
        return;
    }
    if (st->fresh_count < st->fresh_cap || grow(st, &st->query->fresh, &st->fresh, &st->fresh_cap, sizeof n)) {
        st->fresh[st->fresh_count++] = n;
    }
}

/// What the expansion of one node looks at: its cell's chain of edges from b round to a, and the rays.
typedef struct view {
    const node *from;
    uint32_t cell, first, last;  ///< the cell's half-edges are first .. last
    nav__p2 root;
    nav__p2 left_p, left_q, right_p, right_q;
    bool left_open, right_open;  ///< the root is that end itself: no ray bounds that side
} view;

static inline uint32_t chain_next(const view *v, uint32_t e) { return e == v->last ? v->first : e + 1; }
static inline uint32_t chain_prev(const view *v, uint32_t e) { return e == v->first ? v->last : e - 1; }

/// > 0: strictly left of the right ray.
static inline double right_side(const search_state *st, const view *v, uint32_t edge)
{
    nav__p2 w = nav__edge_from(st->m, edge);
    if (v->right_open) {
        return same(w, v->root) ? 0 : 1;
    }
    return nav__orient(v->right_p, v->right_q, w);
}

/// < 0: strictly right of the left ray.
static inline double left_side(const search_state *st, const view *v, uint32_t edge)
{
    nav__p2 w = nav__edge_from(st->m, edge);
    if (v->left_open) {
        return same(w, v->root) ? 0 : -1;
    }
    return nav__orient(v->left_p, v->left_q, w);
}

/// The record of a bend at the vertex that half-edge `corner` starts at; NAV_NONE where it does not pay.
static uint32_t bend_at(search_state *st, const view *v, uint32_t corner)
{
    uint32_t r = v->from->record, vertex = st->m->edges[corner].vertex & NAV__VERTEX;
    double g = st->records[r].g + nav__dist(v->root, nav__edge_from(st->m, corner));
    return reach_root(st, vertex, g) ? add_record(st, g, vertex, r) : NAV_NONE;
}

/// The record from which an edge is seen: `r`, unless its root sees the edge end on (they share a line,
/// as where a wall runs on as an open edge). Then it is entered by bending at its nearer end, the vertex
/// that half-edge `near_end` starts at.
/// @return NAV_NONE where that is no corner or does not pay
static uint32_t record_for(search_state *st, const view *v, uint32_t r, uint32_t edge, uint32_t near_end)
{
    nav__p2 root = record_at(st, r);
    nav__p2 right = nav__edge_from(st->m, edge), left = nav__edge_from(st->m, chain_next(v, edge));
    if (same(root, right) || same(root, left) || nav__orient(root, right, left) != 0) {
        return r;
    }
    uint32_t vertex = st->m->edges[near_end].vertex & NAV__VERTEX;
    double g = st->records[r].g + nav__dist(root, nav__edge_from(st->m, near_end));
    return is_corner(st, near_end) && reach_root(st, vertex, g) ? add_record(st, g, vertex, r) : NAV_NONE;
}

/// Edges right of the right ray, by bending at b: chain edges from b up to `cut`, and the part of `cut`
/// right of the ray where the ray does not run through its first vertex.
static void expand_right_of(search_state *st, const view *v, uint32_t cut, bool cut_inside)
{
    uint32_t b = chain_next(v, v->from->edge), r = NAV_NONE;
    if (!(v->from->flags & RIGHT_IS_VERTEX) || v->right_open || !is_corner(st, b)) {
        return;
    }
    const nav__edge *edges = st->m->edges;
    for (uint32_t e = b;; e = chain_next(v, e)) {
        if (e == cut && !cut_inside) {
            return;
        }
        if (is_passable(st, v->cell, e)) {
            if (r == NAV_NONE && (r = bend_at(st, v, b)) == NAV_NONE) {
                return;
            }
            uint32_t flags = RIGHT_IS_VERTEX | (e == cut ? LEFT_FROM_PREVIOUS : LEFT_IS_VERTEX);
            uint32_t seen_from = record_for(st, v, r, e, e);
            add_fresh(st, (node){seen_from, edges[e].twin, edges[chain_next(v, e)].vertex & NAV__VERTEX,
                                 edges[e].vertex & NAV__VERTEX, flags});
        }
        if (e == cut) {
            return;
        }
    }
}

/// The same on the left: chain edges from `cut` to a, walked from a.
static void expand_left_of(search_state *st, const view *v, uint32_t cut, bool cut_inside)
{
    uint32_t a = v->from->edge, r = NAV_NONE;
    if (!(v->from->flags & LEFT_IS_VERTEX) || v->left_open || !is_corner(st, a)) {
        return;
    }
    const nav__edge *edges = st->m->edges;
    for (uint32_t e = chain_prev(v, a);; e = chain_prev(v, e)) {
        if (e == cut && !cut_inside) {
            return;
        }
        if (is_passable(st, v->cell, e)) {
            if (r == NAV_NONE && (r = bend_at(st, v, a)) == NAV_NONE) {
                return;
            }
            uint32_t flags = LEFT_IS_VERTEX | (e == cut ? RIGHT_FROM_PREVIOUS : RIGHT_IS_VERTEX);
            uint32_t seen_from = record_for(st, v, r, e, chain_next(v, e));
            add_fresh(st, (node){seen_from, edges[e].twin, edges[chain_next(v, e)].vertex & NAV__VERTEX,
                                 edges[e].vertex & NAV__VERTEX, flags});
        }
        if (e == cut) {
            return;
        }
    }
}

/// Edges between the rays: chain edges right_cut .. left_cut, the outer two perhaps in part.
static void expand_seen(search_state *st, const view *v, uint32_t right_cut, bool right_inside, uint32_t left_cut,
                        bool left_inside)
{
    const nav__edge *edges = st->m->edges;
    const node *from = v->from;
    for (uint32_t e = right_cut;; e = chain_next(v, e)) {
        if (is_passable(st, v->cell, e)) {
            uint32_t r = from->record;
            if (v->right_open || v->left_open) {
                r = record_for(st, v, r, e, v->right_open ? e : chain_next(v, e));
            }
            node n = {r, edges[e].twin, edges[chain_next(v, e)].vertex & NAV__VERTEX,
                      edges[e].vertex & NAV__VERTEX, LEFT_IS_VERTEX | RIGHT_IS_VERTEX};
            if (e == right_cut && right_inside) {
                n.right = from->right;
                n.flags = (n.flags & ~(uint32_t)RIGHT_IS_VERTEX) | (from->flags & RIGHT_FROM_PREVIOUS);
            }
            if (e == left_cut && left_inside) {
                n.left = from->left;
                n.flags = (n.flags & ~(uint32_t)LEFT_IS_VERTEX) | (from->flags & LEFT_FROM_PREVIOUS);
            }
            add_fresh(st, n);
        }
        if (e == left_cut) {
            return;
        }
    }
}

/// All successors of a node, into st->fresh.
static void expand(search_state *st, const node *from)
{
    const nav_mesh *m = st->m;
    view v;
    v.from = from;
    v.cell = m->edge_cell[from->edge];
    v.first = m->cells[v.cell].first_edge;
    v.last = m->cells[v.cell + 1].first_edge - 1;
    v.root = record_at(st, from->record);
    node_rays(st, from, v.root, &v.left_p, &v.left_q, &v.right_p, &v.right_q);
    uint32_t a = from->edge, b = chain_next(&v, a);
    v.left_open = same(v.root, nav__edge_from(m, a));
    v.right_open = same(v.root, nav__edge_from(m, b));

    // The first edge whose far end is strictly left of the right ray holds the right cut ...
    uint32_t right_cut = b;
    double side = from->flags & RIGHT_IS_VERTEX ? 0 : right_side(st, &v, b), far_side;
    while (chain_next(&v, right_cut) != a && (far_side = right_side(st, &v, chain_next(&v, right_cut))) <= 0) {
        right_cut = chain_next(&v, right_cut);
        side = far_side;
    }
    bool right_inside = side < 0;
    // ... and the last whose near end is strictly right of the left ray the left cut.
    uint32_t left_cut = chain_prev(&v, a);
    side = from->flags & LEFT_IS_VERTEX ? 0 : left_side(st, &v, a);
    while (left_cut != right_cut && (far_side = left_side(st, &v, left_cut)) >= 0) {
        left_cut = chain_prev(&v, left_cut);
        side = far_side;
    }
    bool left_inside = side > 0;

    expand_right_of(st, &v, right_cut, right_inside);
    expand_left_of(st, &v, left_cut, left_inside);
    expand_seen(st, &v, right_cut, right_inside, left_cut, left_inside);
}

/// Moves the successors on: ways into the goal's cell and what has rivals go to the heap. One that is
/// alone is told in `next` and expanded at once, with no bound computed (section 4.3, intermediate
/// pruning).
/// @return true when `next` is set
static bool take_fresh(search_state *st, node *next)
{
    uint32_t finals = 0;
    for (uint32_t i = 0; i < st->fresh_count; i++) {
        uint32_t cell = st->m->edge_cell[st->fresh[i].edge];
        finals += is_goal_cell(st, cell);
        if (st->m->cells[cell].link_end) {
            add_rides(st, &st->fresh[i], cell);
        }
    }
    if (st->fresh_count == 1 && !finals) {
        *next = st->fresh[0];
        return true;
    }
    for (uint32_t i = 0; i < st->fresh_count; i++) {
        node n = st->fresh[i];
        uint32_t r;
        if (finals && is_goal_cell(st, st->m->edge_cell[n.edge])) {
            if (reach_place(st, &n, st->goal, &r)) {
                add_final(st, r);
            }
        } else {
            double g = st->records[n.record].g;
            nav__p2 root = record_at(st, n.record);
            double f = g + least(node_bound(st, &n, root), ride_bound(st, root));
            if (add_node(st, n)) {
                heap_push(st, (heap_entry){f, g, st->node_count - 1});
            }
        }
    }
    return false;
}

/// An edge on whose line the place lies is seen only end on: it is entered by bending at its nearer end.
/// @return the record of that bend, NAV_NONE where there is none
static uint32_t bend_along(search_state *st, uint32_t origin, nav__p2 place, uint32_t edge)
{
    uint32_t next = nav__edge_next(st->m, edge);
    double to_right = nav__dist(place, nav__edge_from(st->m, edge));
    double to_left = nav__dist(place, nav__edge_from(st->m, next));
    uint32_t corner = to_right <= to_left ? edge : next, v = st->m->edges[corner].vertex & NAV__VERTEX;
    double g = st->records[origin].g + least(to_right, to_left);
    return is_corner(st, corner) && reach_root(st, v, g) ? add_record(st, g, v, origin) : NAV_NONE;
}

/// Everything that leads on from a place that stands in its cells and not at an edge of them: the start,
/// or the end of a ride.
static void expand_place(search_state *st, uint32_t origin, const nav__anchor *at)
{
    const nav_mesh *m = st->m;
    for (uint32_t i = 0; i < at->count; i++) {
        uint32_t cell = at->cells[i];
        if (is_goal_cell(st, cell)) {
            add_final(st, origin);
        }
        if (m->cells[cell].link_end) {
            const nav__ride *rides;
            uint32_t count = nav__rides_from(m, cell, &rides);
            for (uint32_t k = 0; k < count; k++) {
                if (nav__ride_open(m, &rides[k], st->s->filter)) {
                    add_ride(st, origin, (uint32_t)(&rides[k] - m->rides));
                }
            }
        }
        for (uint32_t e = m->cells[cell].first_edge; e < m->cells[cell + 1].first_edge; e++) {
            if (!is_passable(st, cell, e) || is_among(at, m->edge_cell[m->edges[e].twin])) {
                continue;
            }
            uint32_t next = nav__edge_next(m, e), r = origin;
            nav__p2 right = nav__edge_from(m, e), left = nav__edge_from(m, next);
            if (nav__orient(right, left, at->p) <= 0 && !same(at->p, right) && !same(at->p, left)) {
                r = bend_along(st, origin, at->p, e);
            }
            add_fresh(st, (node){r, m->edges[e].twin, m->edges[next].vertex & NAV__VERTEX,
                                 m->edges[e].vertex & NAV__VERTEX, LEFT_IS_VERTEX | RIGHT_IS_VERTEX});
        }
    }
}

/// A ride comes off the heap: its end is a root from which everything begins anew.
static void expand_ride(search_state *st, const node *n, double g)
{
    const nav__ride *ride = &st->m->rides[n->edge];
    uint32_t v = st->m->vertex_count + n->edge;
    if (!reach_root(st, v, g)) {
        return;
    }
    uint32_t r = add_record(st, g, v, n->record);
    if (r == NAV_NONE) {
        return;
    }
    const nav_mesh *m = st->m;
    nav_place place = {.point = {m->origin.x + (double)ride->to[0], m->origin.y + (double)ride->to[1],
                                 m->origin.z + (double)ride->to[2]},
                       .cell = ride->to_cell};
    nav__anchor at;
    nav__anchor_make(m, &place, st->s->filter, &at);
    expand_place(st, r, &at);
}

// ---- the search ------------------------------------------------------------------------------------

/// Writes the corners from the start to a record into query->corners.
static bool trace(search_state *st, uint32_t r)
{
    uint32_t count = 0;
    for (uint32_t k = r; st->records[k].vertex != NAV_NONE; k = st->records[k].parent) {
        count++;
    }
    uint32_t *corners = nav__reserve(st->query, &st->query->corners, (count + 1) * sizeof *corners);
    if (!corners) {
        return false;
    }
    st->s->corner_count = count;
    for (uint32_t k = r; count > 0; k = st->records[k].parent) {
        corners[--count] = st->records[k].vertex;
    }
    return true;
}

static nav__p2 closest_on_segment(nav__p2 a, nav__p2 b, nav__p2 p)
{
    nav__p2 d = nav__sub(b, a);
    double dd = nav__dot(d, d), t = dd > 0 ? nav__dot(nav__sub(p, a), d) / dd : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return (nav__p2){a.x + d.x * t, a.z + d.z * t};
}

/// A limit ended the search: of all that is open, and the start, the place nearest to the goal.
static nav__search_result settle_for_nearest(search_state *st)
{
    nav__search *s = st->s;
    s->tip = st->start;
    s->tip_cell = s->start->cells[0];
    s->length = 0;
    uint32_t best_record = 0;
    double best = nav__dist(st->start, st->goal);
    for (uint32_t i = 0; i < st->heap_count; i++) {
        const node *n = &st->nodes[st->heap[i].node];
        if (n->flags & (FINAL | RIDE)) {
            continue;
        }
        nav__p2 root = record_at(st, n->record), left, right;
        node_interval(st, n, root, &left, &right);
        nav__p2 p = closest_on_segment(left, right, st->goal);
        double d = nav__dist(p, st->goal);
        if (d < best) {
            best = d;
            best_record = n->record;
            s->tip = p;
            s->tip_cell = st->m->edge_cell[n->edge];
            s->length = st->records[n->record].g + nav__dist(root, p);
        }
    }
    return trace(st, best_record) ? NAV__LIMITED : NAV__OUT_OF_MEMORY;
}

static nav__search_result run(search_state *st)
{
    nav__search *s = st->s;
    node next;
    uint32_t origin = add_record(st, 0, NAV_NONE, NAV_NONE);
    if (origin == NAV_NONE) {
        return NAV__OUT_OF_MEMORY;
    }
    expand_place(st, origin, s->start);
    bool alone = take_fresh(st, &next);
    for (;;) {
        if (st->out_of_memory) {
            return NAV__OUT_OF_MEMORY;
        }
        if (!alone) {
            if (!st->heap_count) {
                return NAV__EXHAUSTED;
            }
            if (s->max_length > 0 && st->heap[0].f > s->max_length) {
                return settle_for_nearest(st);
            }
            heap_entry top = heap_pop(st);
            next = st->nodes[top.node];
            if (next.flags & FINAL) {
                s->length = top.f;
                return trace(st, next.record) ? NAV__FOUND : NAV__OUT_OF_MEMORY;
            }
            if (next.flags & RIDE) {
                st->fresh_count = 0;
                expand_ride(st, &next, top.g);
                alone = take_fresh(st, &next);
                continue;
            }
        }
        if (is_outdone(st, &st->records[next.record])) {
            alone = false;
            continue;
        }
        if (s->max_nodes && s->nodes == s->max_nodes) {
            // The node at hand belongs to what is open.
            if (add_node(st, next)) {
                heap_push(st, (heap_entry){0, 0, st->node_count - 1});
            }
            return st->out_of_memory ? NAV__OUT_OF_MEMORY : settle_for_nearest(st);
        }
        if ((++s->nodes & 255) == 0 && st->query->interrupt.stop && st->query->interrupt.stop(st->query->interrupt.ctx)) {
            return NAV__STOPPED;
        }
        st->fresh_count = 0;
        expand(st, &next);
        alone = take_fresh(st, &next);
    }
}

/// Best g by vertex and by ride. A stamp makes clearing needless.
static bool prepare_roots(search_state *st)
{
    nav_query *q = st->query;
    size_t had = q->roots.bytes;
    size_t want = ((size_t)st->m->vertex_count + st->m->ride_count + 1) * sizeof *st->roots;
    st->roots = nav__reserve(q, &q->roots, want);
    if (!st->roots) {
        return false;
    }
    if (q->roots.bytes != had) {
        memset((char *)st->roots + had, 0, q->roots.bytes - had);
    }
    if (++q->root_stamp == 0) {
        memset(st->roots, 0, q->roots.bytes);
        q->root_stamp = 1;
    }
    st->stamp = q->root_stamp;
    return true;
}

static bool share_cell(const nav__anchor *a, const nav__anchor *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        if (is_among(b, a->cells[i])) {
            return true;
        }
    }
    return false;
}

nav__search_result nav__polyanya(nav_query *query, nav__search *search)
{
    search->nodes = 0;
    search->length = 0;
    search->corner_count = 0;
    search_state st = {
        .query = query,
        .s = search,
        .m = search->mesh,
        .start = search->start->p,
        .goal = search->goal->p,
        .all_pass = nav__passes_all(search->mesh, search->filter),
        .nodes = query->nodes.data,
        .node_cap = (uint32_t)(query->nodes.bytes / sizeof(node)),
        .fresh = query->fresh.data,
        .fresh_cap = (uint32_t)(query->fresh.bytes / sizeof(node)),
        .records = query->records.data,
        .record_cap = (uint32_t)(query->records.bytes / sizeof(record)),
        .heap = query->heap.data,
        .heap_cap = (uint32_t)(query->heap.bytes / sizeof(heap_entry)),
    };
    measure_rides(&st);
    if (!st.cheap_rides && share_cell(search->start, search->goal)) {
        search->length = nav__dist(search->start->p, search->goal->p);
        return NAV__FOUND;
    }
    return prepare_roots(&st) ? run(&st) : NAV__OUT_OF_MEMORY;
}
