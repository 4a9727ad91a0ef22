/// Successors of a node of the interval search.
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
#include "interval.h"

// ---- dead ends -------------------------------------------------------------------------------------

/// May a ride begin behind this cell? Only links that edits added may.
static bool has_ride_behind(const nav_mesh *m, uint32_t cell)
{
    for (uint32_t i = 0; m->revision && i < m->ride_count; i++) {
        if (nav__is_behind(m, cell, m->rides[i].from_cell)) {
            return true;
        }
    }
    return false;
}

/// A shortest way enters no cell twice, so a dead end without the goal behind it need not be entered.
static bool is_blind_alley(const nav__intervals *st, uint32_t into)
{
    const nav__anchor *goal = st->s->goal;
    if (st->m->cells[into].tree_last == 0 || has_ride_behind(st->m, into)) {
        return false;
    }
    for (uint32_t i = 0; goal && i < goal->count; i++) {
        if (nav__is_behind(st->m, into, goal->cells[i])) {
            return false;
        }
    }
    return goal; // whoever spreads everywhere goes there too
}

bool nav__is_open_twin(const nav__intervals *st, uint32_t edge)
{
    const nav__edge *e = &st->m->edges[edge];
    bool dead_end = e->vertex & NAV__DEAD_END;
    if (st->confined && !dead_end) {
        return false;
    }
    uint32_t into = nav__edge_cell(st->m, e->twin);
    return (st->all_pass || nav__passes(st->m, st->s->filter, into)) && !(dead_end && is_blind_alley(st, into));
}

bool nav__holds_goal_behind(const nav__intervals *st, uint32_t cell)
{
    const nav_mesh *m = st->m;
    uint32_t goal = st->s->goal->cells[0];
    for (uint32_t e = m->cells[cell].first_edge; e < m->cells[cell + 1].first_edge; e++) {
        bool dead_end = m->edges[e].vertex & NAV__DEAD_END;
        if (dead_end && nav__is_behind(m, nav__edge_cell(m, m->edges[e].twin), goal)) {
            return true;
        }
    }
    return false;
}

// ---- a cell ----------------------------------------------------------------------------------------

/// What the expansion of one node looks at.
typedef struct view {
    const nav__node *from;
    uint32_t cell, first, last; ///< the cell's half-edges are first .. last
    nav__p2 root;
    nav__rays rays;
    bool left_open, right_open; ///< the root is that end itself: no ray bounds that side
} view;

/// Where a ray leaves the cell: through the chain's edge, in its middle (`inside`) or through the vertex
/// where the part between the rays begins or ends.
typedef struct cut {
    uint32_t edge;
    bool inside;
    nav__p2 at; ///< with `inside`
} cut;

static inline uint32_t chain_next(const view *v, uint32_t e)
{
    return e == v->last ? v->first : e + 1;
}
static inline uint32_t chain_prev(const view *v, uint32_t e)
{
    return e == v->first ? v->last : e - 1;
}

/// A new successor: all of a half-edge, seen from a record's place. The caller corrects what differs.
/// @return where it is noted; NULL without a record, or when out of memory
static inline nav__fresh *add_whole(nav__intervals *st, const view *v, uint32_t r, nav__p2 root, uint32_t e)
{
    if (r == NAV_NONE || (st->fresh_count == st->fresh_cap && !nav__grow_fresh(st))) {
        return NULL;
    }
    uint32_t next = chain_next(v, e);
    const nav__edge *right = &st->m->edges[e], *left = &st->m->edges[next];
    // What is asked soon is asked of the memory now: the cell behind, and what is known of the edge's ends.
    __builtin_prefetch(&st->m->edges[right->twin]);
    __builtin_prefetch(&st->m->edge_offset[right->twin]);
    __builtin_prefetch(&st->known[left->vertex & NAV__VERTEX]);
    __builtin_prefetch(&st->known[right->vertex & NAV__VERTEX]);
    nav__fresh *f = &st->fresh[st->fresh_count++];
    f->node = (nav__node){
        r, right->twin, {left->x, left->z}, {right->x, right->z}, NAV__LEFT_IS_VERTEX | NAV__RIGHT_IS_VERTEX};
    f->left_edge = next;
    f->right_edge = e;
    f->root = root;
    f->left = nav__edge_from(st->m, next);
    f->right = nav__edge_from(st->m, e);
    return f;
}

// ---- where the rays leave --------------------------------------------------------------------------

/// The first chain edge whose far end is strictly left of the right ray.
static cut cut_right(const nav__intervals *st, const view *v)
{
    const nav_mesh *m = st->m;
    uint32_t a = v->from->edge, e = chain_next(v, a);
    if (v->right_open) {
        return (cut){.edge = e};
    }
    nav__p2 p = v->rays.right_p, q = v->rays.right_q, from = nav__edge_from(m, e);
    double side = v->from->flags & NAV__RIGHT_IS_VERTEX ? 0 : nav__orient(p, q, from);
    for (;;) {
        uint32_t next = chain_next(v, e);
        nav__p2 to = nav__edge_from(m, next);
        double far_side = next == a && side >= 0 ? 1 : nav__orient(p, q, to);
        if (far_side > 0 || next == a) {
            return side < 0 ? (cut){e, true, nav__cut_point(from, to, side, far_side)} : (cut){.edge = e};
        }
        e = next;
        from = to;
        side = far_side;
    }
}

/// The last chain edge whose near end is strictly right of the left ray; not before `right`.
static cut cut_left(const nav__intervals *st, const view *v, uint32_t right)
{
    const nav_mesh *m = st->m;
    uint32_t a = v->from->edge, e = chain_prev(v, a);
    if (v->left_open) {
        return (cut){.edge = e};
    }
    nav__p2 p = v->rays.left_p, q = v->rays.left_q, to = nav__edge_from(m, a);
    double far_side = v->from->flags & NAV__LEFT_IS_VERTEX ? 0 : nav__orient(p, q, to);
    for (;;) {
        nav__p2 from = nav__edge_from(m, e);
        double side = e == right && far_side <= 0 ? -1 : nav__orient(p, q, from);
        if (side < 0 || e == right) {
            return far_side > 0 ? (cut){e, true, nav__cut_point(from, to, side, far_side)} : (cut){.edge = e};
        }
        e = chain_prev(v, e);
        to = from;
        far_side = side;
    }
}

// ---- beyond the rays -------------------------------------------------------------------------------

/// The record of a bend at the vertex that half-edge `corner` starts at; NAV_NONE where it does not pay.
static uint32_t bend(nav__intervals *st, uint32_t r, nav__p2 root, uint32_t corner)
{
    uint32_t key = nav__sector(st, corner);
    double g = st->records[r].g + nav__dist(root, nav__edge_from(st->m, corner));
    return nav__reach(st, key, g) ? nav__add_record(st, g, nav__edge_from(st->m, corner),
                                                    st->m->edges[corner].vertex & NAV__VERTEX, key, r)
                                  : NAV_NONE;
}

/// An edge that the root sees end on (they share a line, as where a wall runs on as an open edge) is
/// entered by bending at its nearer end, the vertex that half-edge `near_end` starts at.
static void add_end_on(nav__intervals *st, const view *v, uint32_t r, nav__p2 root, uint32_t e, uint32_t near_end)
{
    if (nav__is_corner(st, near_end)) {
        add_whole(st, v, bend(st, r, root, near_end), nav__edge_from(st->m, near_end), e);
    }
}

static inline bool is_end_on(const nav__intervals *st, const view *v, nav__p2 root, uint32_t e)
{
    return nav__orient(root, nav__edge_from(st->m, e), nav__edge_from(st->m, chain_next(v, e))) == 0;
}

/// Where the right ray runs along the chain from b, and b is no corner, another vertex on it may be one.
static void expand_along_right(nav__intervals *st, const view *v, const cut *c)
{
    uint32_t e = chain_next(v, v->from->edge);
    for (; e != c->edge && is_end_on(st, v, v->root, e); e = chain_next(v, e)) {
        if (nav__is_passable(st, e)) {
            add_end_on(st, v, v->from->record, v->root, e, e);
        }
    }
}

static void expand_along_left(nav__intervals *st, const view *v, const cut *c)
{
    uint32_t e = chain_prev(v, v->from->edge);
    for (; e != c->edge && is_end_on(st, v, v->root, e); e = chain_prev(v, e)) {
        if (nav__is_passable(st, e)) {
            add_end_on(st, v, v->from->record, v->root, e, chain_next(v, e));
        }
    }
}

/// Edges right of the right ray, by bending at b: chain edges from b up to the cut, and the part of the
/// cut's edge right of the ray.
static void expand_right_of(nav__intervals *st, const view *v, const cut *c)
{
    uint32_t b = chain_next(v, v->from->edge), r = NAV_NONE;
    if (!(v->from->flags & NAV__RIGHT_IS_VERTEX) || v->right_open || (b == c->edge && !c->inside)) {
        return;
    }
    if (!nav__is_corner(st, b)) {
        expand_along_right(st, v, c);
        return;
    }
    nav__p2 root = nav__edge_from(st->m, b);
    bool end_on = true; // so far the edges run along one line from b
    for (uint32_t e = b;; e = chain_next(v, e)) {
        if (e == c->edge && !c->inside) {
            return;
        }
        end_on = end_on && (e == b || is_end_on(st, v, root, e));
        if (nav__is_passable(st, e)) {
            if (r == NAV_NONE && (r = bend(st, v->from->record, v->root, b)) == NAV_NONE) {
                return;
            }
            if (end_on && e != b) {
                add_end_on(st, v, r, root, e, e);
            } else {
                nav__fresh *n = add_whole(st, v, r, root, e);
                if (n && e == c->edge) {
                    n->node.flags = NAV__RIGHT_IS_VERTEX | NAV__LEFT_FROM_PREVIOUS;
                    n->left = c->at;
                }
            }
        }
        if (e == c->edge) {
            return;
        }
    }
}

/// The same on the left: chain edges from the cut to a, walked from a.
static void expand_left_of(nav__intervals *st, const view *v, const cut *c)
{
    uint32_t a = v->from->edge, last = chain_prev(v, a), r = NAV_NONE;
    if (!(v->from->flags & NAV__LEFT_IS_VERTEX) || v->left_open || (last == c->edge && !c->inside)) {
        return;
    }
    if (!nav__is_corner(st, a)) {
        expand_along_left(st, v, c);
        return;
    }
    nav__p2 root = nav__edge_from(st->m, a);
    bool end_on = true;
    for (uint32_t e = last;; e = chain_prev(v, e)) {
        if (e == c->edge && !c->inside) {
            return;
        }
        end_on = end_on && (e == last || is_end_on(st, v, root, e));
        if (nav__is_passable(st, e)) {
            if (r == NAV_NONE && (r = bend(st, v->from->record, v->root, a)) == NAV_NONE) {
                return;
            }
            if (end_on && e != last) {
                add_end_on(st, v, r, root, e, chain_next(v, e));
            } else {
                nav__fresh *n = add_whole(st, v, r, root, e);
                if (n && e == c->edge) {
                    n->node.flags = NAV__LEFT_IS_VERTEX | NAV__RIGHT_FROM_PREVIOUS;
                    n->right = c->at;
                }
            }
        }
        if (e == c->edge) {
            return;
        }
    }
}

// ---- between the rays ------------------------------------------------------------------------------

/// Edges between the rays: the outer two perhaps in part.
static void expand_seen(nav__intervals *st, const view *v, const cut *right, const cut *left)
{
    const nav__node *from = v->from;
    // Where the root is an end of the entry edge, edges next to it may lie on one line with the root.
    bool open = v->right_open || v->left_open;
    for (uint32_t e = right->edge;; e = chain_next(v, e)) {
        if (nav__is_passable(st, e)) {
            nav__p2 l = nav__edge_from(st->m, chain_next(v, e)), r = nav__edge_from(st->m, e);
            if (open && !nav__same(v->root, l) && !nav__same(v->root, r) && nav__orient(v->root, r, l) == 0) {
                add_end_on(st, v, from->record, v->root, e, v->right_open ? e : chain_next(v, e));
            } else {
                nav__fresh *n = add_whole(st, v, from->record, v->root, e);
                if (n && e == right->edge && right->inside) {
                    n->node.right = from->right;
                    n->node.flags &= ~(uint32_t)NAV__RIGHT_IS_VERTEX;
                    n->node.flags |= from->flags & NAV__RIGHT_FROM_PREVIOUS;
                    n->right = right->at;
                }
                if (n && e == left->edge && left->inside) {
                    n->node.left = from->left;
                    n->node.flags &= ~(uint32_t)NAV__LEFT_IS_VERTEX;
                    n->node.flags |= from->flags & NAV__LEFT_FROM_PREVIOUS;
                    n->left = left->at;
                }
            }
        }
        if (e == left->edge) {
            return;
        }
    }
}

void nav__expand_node(nav__intervals *st, const nav__node *from)
{
    const nav_mesh *m = st->m;
    view v;
    v.from = from;
    v.cell = nav__edge_cell(m, from->edge);
    v.first = m->cells[v.cell].first_edge;
    v.last = m->cells[v.cell + 1].first_edge - 1;
    nav__enter_cell(st, v.cell);
    v.root = st->records[from->record].at;
    v.rays = nav__node_rays(st, from);
    v.left_open = nav__same(v.root, nav__edge_from(m, from->edge));
    v.right_open = nav__same(v.root, nav__edge_from(m, chain_next(&v, from->edge)));
    cut right = cut_right(st, &v), left = cut_left(st, &v, right.edge);
    expand_right_of(st, &v, &right);
    expand_left_of(st, &v, &left);
    expand_seen(st, &v, &right, &left);
}

// ---- places ----------------------------------------------------------------------------------------

/// The record of going along an edge, on whose line the place lies, to its nearer end.
/// @param end  set to where that is
static uint32_t bend_along(nav__intervals *st, uint32_t origin, nav__p2 place, uint32_t edge, nav__p2 *end)
{
    uint32_t next = nav__edge_next(st->m, edge);
    bool right = nav__dist(place, nav__edge_from(st->m, edge)) <= nav__dist(place, nav__edge_from(st->m, next));
    uint32_t corner = right ? edge : next;
    *end = nav__edge_from(st->m, corner);
    return nav__is_corner(st, corner) ? bend(st, origin, place, corner) : NAV_NONE;
}

void nav__expand_place(nav__intervals *st, uint32_t origin, const nav__anchor *at)
{
    const nav_mesh *m = st->m;
    for (uint32_t i = 0; i < at->count; i++) {
        uint32_t cell = at->cells[i];
        view v = {.cell = cell, .first = m->cells[cell].first_edge, .last = m->cells[cell + 1].first_edge - 1};
        nav__enter_cell(st, cell);
        for (uint32_t e = v.first; e <= v.last; e++) {
            if (!nav__is_passable(st, e) || nav__is_among(at, nav__edge_cell(m, m->edges[e].twin))) {
                continue;
            }
            nav__p2 right = nav__edge_from(m, e), left = nav__edge_from(m, chain_next(&v, e)), root = at->p;
            uint32_t r = origin;
            if (nav__orient(right, left, at->p) <= 0 && !nav__same(at->p, right) && !nav__same(at->p, left)) {
                r = bend_along(st, origin, at->p, e, &root);
            }
            add_whole(st, &v, r, root, e);
        }
    }
}
