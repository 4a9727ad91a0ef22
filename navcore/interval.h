/// Private: the nodes of the interval search (polyanya.c), their storage, and their successors.
#ifndef NAV_INTERVAL_H
#define NAV_INTERVAL_H

#include "polyanya.h"
#include "ride_ways.h"

enum {
    NAV__LEFT_IS_VERTEX = 1, ///< the interval's left end is the edge's own vertex
    NAV__RIGHT_IS_VERTEX = 2,
    NAV__LEFT_FROM_PREVIOUS = 4, ///< the left ray runs from the previous root through the root
    NAV__RIGHT_FROM_PREVIOUS = 8,
    NAV__FINAL = 16, ///< the goal itself, straight from the root
    NAV__RIDE = 32   ///< a link's ride, begun straight from the root (edge: the ride's number)
};

/// One bend: every node whose root is this corner, reached this way, names it.
typedef struct nav__record {
    double g;
    nav__p2 at;
    uint32_t vertex; ///< NAV_NONE: the start; vertex_count + k: the end of ride k
    uint32_t parent;
    uint32_t key; ///< of what is known of the place, see nav__sector; NAV_NONE: the start
} nav__record;

/// A vertex, as it lies in the mesh.
typedef struct nav__spot {
    float x, z;
} nav__spot;

typedef struct nav__node {
    uint32_t record;
    uint32_t edge;         ///< the half-edge, in the cell entered, that the interval lies on
    nav__spot left, right; ///< vertices the rays run through (unless FROM_PREVIOUS)
    uint32_t flags;
} nav__node;

/// A successor as it is made: the node, and what its bound needs, so that the cell entered need not be looked at.
typedef struct nav__fresh {
    nav__node node;
    uint32_t left_edge, right_edge; ///< half-edges, in the cell left, that begin where the interval's edge ends
    nav__p2 root, left, right;
    double to_left, to_right; ///< from the root; only the search to a goal sets them
} nav__fresh;

/// An open node. Of equal f the younger goes first: it is deeper.
typedef struct nav__open {
    double f;
    uint32_t node;
} nav__open;

/// Everything the search holds; the arrays are the query's buffers.
typedef struct nav__intervals {
    nav_query *query;
    nav__search *s;
    const nav_mesh *m;
    nav__p2 start, goal;
    bool all_pass;
    bool out_of_memory;
    uint32_t goal_block; ///< tree_first of the goal's cell; 0: one may leave a cell that the goal is behind
    bool confined; ///< the goal is in a dead end that hangs on the cell being expanded: no other way is worth going

    nav__node *nodes;
    uint32_t node_count, node_cap;
    nav__fresh *fresh; ///< successors of the node being expanded
    uint32_t fresh_count, fresh_cap;
    nav__record *records;
    uint32_t record_count, record_cap;
    nav__open *heap;
    uint32_t heap_count, heap_cap;
    double *known;     ///< shortest way met so far to a sector (by vertex), a ride's end, or a sector (by half-edge)
    uint32_t *touched; ///< [*touched_count] which of them are not infinite
    uint32_t *touched_count;

    double best_final;   ///< length of the shortest way to the goal met so far: nothing longer is opened
    nav__ride_ways ways; ///< set by the search to a goal
} nav__intervals;

// ---- storage (interval.c) --------------------------------------------------------------------------

/// Takes the query's buffers. @return false when out of memory
bool nav__intervals_init(nav__intervals *st, nav_query *query, nav__search *search);

/// Room for one more. @return false when out of memory
bool nav__grow_records(nav__intervals *st);
bool nav__grow_fresh(nav__intervals *st);
void nav__open_node(nav__intervals *st, nav__node n, double f);
/// The open node with the least f. There must be one.
nav__open nav__pop_open(nav__intervals *st);

/// @return its number, NAV_NONE when out of memory
static inline uint32_t nav__add_record(nav__intervals *st, double g, nav__p2 at, uint32_t vertex, uint32_t key,
                                       uint32_t parent)
{
    if (st->record_count == st->record_cap && !nav__grow_records(st)) {
        return NAV_NONE;
    }
    st->records[st->record_count] = (nav__record){g, at, vertex, parent, key};
    return st->record_count++;
}

/// Is a by more than rounding longer than b?
static inline bool nav__is_longer(double a, double b)
{
    return a > b * (1 + 1e-12) + 1e-12;
}

/// What is known of a vertex is known by sector: closed cells may cut its fan in several, and nobody gets
/// from one to the other through the vertex. (Where the filter closes nothing a vertex is one sector: fans
/// end at walls.) The number of the sector of the half-edge's cell, which is open.
static inline uint32_t nav__sector(const nav__intervals *st, uint32_t edge)
{
    const nav_mesh *m = st->m;
    uint32_t v = m->edges[edge].vertex & NAV__VERTEX;
    if (st->all_pass || !nav__touches_closed(m, st->s->filter, v)) {
        return v;
    }
    for (uint32_t twin;
         (twin = m->edges[edge].twin) != NAV_NONE && nav__passes(m, st->s->filter, nav__edge_cell(m, twin));) {
        edge = nav__edge_next(m, twin);
    }
    return m->vertex_count + m->ride_count + edge;
}

/// Notes a way of length g to a sector or ride. False: a shorter one is known.
static inline bool nav__reach(nav__intervals *st, uint32_t key, double g)
{
    double known = st->known[key];
    if (nav__is_longer(g, known)) {
        return false;
    }
    st->touched[*st->touched_count] = key; // counts only if it is the first way
    *st->touched_count += known == INFINITY && g < INFINITY;
    st->known[key] = g < known ? g : known;
    return true;
}

static inline bool nav__is_outdone(const nav__intervals *st, const nav__record *r)
{
    return r->key != NAV_NONE && nav__is_longer(r->g, st->known[r->key]);
}

// ---- geometry --------------------------------------------------------------------------------------

static inline bool nav__same(nav__p2 a, nav__p2 b)
{
    return a.x == b.x && a.z == b.z;
}

static inline nav__p2 nav__spot_ground(nav__spot s)
{
    return (nav__p2){(double)s.x, (double)s.z};
}

/// Where a line meets the edge a - b, given on which sides of it a and b lie.
static inline nav__p2 nav__cut_point(nav__p2 a, nav__p2 b, double side_a, double side_b)
{
    double t = side_a / (side_a - side_b);
    return (nav__p2){a.x + (b.x - a.x) * t, a.z + (b.z - a.z) * t};
}

/// The two rays of a node: from p through q.
typedef struct nav__rays {
    nav__p2 left_p, left_q, right_p, right_q;
} nav__rays;

static inline nav__rays nav__node_rays(const nav__intervals *st, const nav__node *n)
{
    const nav__record *record = &st->records[n->record];
    nav__rays r = {record->at, nav__spot_ground(n->left), record->at, nav__spot_ground(n->right)};
    if (n->flags & NAV__LEFT_FROM_PREVIOUS) {
        r.left_p = st->records[record->parent].at;
        r.left_q = record->at;
    }
    if (n->flags & NAV__RIGHT_FROM_PREVIOUS) {
        r.right_p = st->records[record->parent].at;
        r.right_q = record->at;
    }
    return r;
}

// ---- what the mesh and the filter allow ------------------------------------------------------------

static inline bool nav__is_among(const nav__anchor *anchor, uint32_t cell)
{
    for (uint32_t i = 0; i < anchor->count; i++) {
        if (anchor->cells[i] == cell) {
            return true;
        }
    }
    return false;
}

/// May one go on from the cell being expanded through a half-edge that has a twin, where that is not sure?
bool nav__is_open_twin(const nav__intervals *st, uint32_t edge);
/// Is the goal in a dead end that hangs on the cell?
bool nav__holds_goal_behind(const nav__intervals *st, uint32_t cell);

/// Before a cell is expanded.
static inline void nav__enter_cell(nav__intervals *st, uint32_t cell)
{
    const nav__cell *c = &st->m->cells[cell];
    st->confined = st->goal_block > c->tree_first && st->goal_block <= c->tree_last && nav__holds_goal_behind(st, cell);
}

/// May one go from the cell being expanded through its half-edge?
static inline bool nav__is_passable(const nav__intervals *st, uint32_t edge)
{
    const nav__edge *e = &st->m->edges[edge];
    if (e->twin == NAV_NONE) {
        return false;
    }
    bool sure = st->all_pass && !st->confined && !(e->vertex & NAV__DEAD_END);
    return sure || nav__is_open_twin(st, edge);
}

/// May a path bend at the vertex that the half-edge starts at?
static inline bool nav__is_corner(const nav__intervals *st, uint32_t edge)
{
    uint32_t v = st->m->edges[edge].vertex;
    return (v & NAV__CORNER) || (!st->all_pass && nav__touches_closed(st->m, st->s->filter, v & NAV__VERTEX));
}

// ---- successors (interval_expand.c) ----------------------------------------------------------------

/// All successors of a node, into st->fresh.
void nav__expand_node(nav__intervals *st, const nav__node *from);

/// All ways on from a place that stands in its cells and not at an edge of them, into st->fresh: the
/// start, or the end of a ride.
/// @param origin  the place's record
void nav__expand_place(nav__intervals *st, uint32_t origin, const nav__anchor *at);

#endif
