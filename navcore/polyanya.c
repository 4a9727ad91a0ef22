/// Polyanya (Cui, Harabor, Grastien, "Compromise-free Pathfinding on a Navigation Mesh", IJCAI 2017).
///
/// A node is a root, an interval on an edge that the root sees, and the cell behind that edge. Two
/// things differ from the paper. First, an interval is never kept as computed points: each end is a
/// ray, told by the two mesh vertices it runs through, so that every decision is an exact orientation
/// test of vertices and the search cannot be misled by rounding. Second, whatever bends at the same
/// corner shares one record (vertex, g, record bent at before), so a node is five words.
#include "interval.h"

#include <math.h>

static inline double least(double a, double b)
{
    return a < b ? a : b;
}

// ---- bounds ----------------------------------------------------------------------------------------

/// Length of the shortest way root -> interval -> place behind it with nothing else in the way (section 4.2 of
/// the paper): the place is mirrored to the far side of the edge, then bends at an end where it must.
static double interval_bound(const nav__intervals *st, const nav__fresh *n, nav__p2 place)
{
    nav__p2 a = nav__edge_from(st->m, n->left_edge);
    nav__p2 along = nav__sub(nav__edge_from(st->m, n->right_edge), a);
    double side = nav__cross(along, nav__sub(place, a));
    if (side < 0) {
        // On the root's side: the cell entered is on the left of the edge.
        double k = 2 * side / nav__dot(along, along);
        place.x += along.z * k;
        place.z -= along.x * k;
    }
    nav__p2 to_place = nav__sub(place, n->root);
    int past_right = nav__cross(nav__sub(n->right, n->root), to_place) < 0;
    int past_left = nav__cross(nav__sub(n->left, n->root), to_place) > 0;
    // A table, not branches: which it is cannot be foretold.
    const nav__p2 via[] = {n->root, n->left, n->right, n->right};
    const double to_via[] = {0, n->to_left, n->to_right, n->to_right};
    int way = past_left + 2 * past_right;
    return to_via[way] + nav__dist(via[way], place);
}

/// The same to the goal where links may lead there.
static double ride_bound(const nav__intervals *st, const nav__fresh *n)
{
    const nav__ride_ways *w = &st->ways;
    if (w->crowded) {
        double straight = interval_bound(st, n, st->goal);
        return w->cheap ? least(straight, w->least) : straight;
    }
    uint32_t island = st->m->cells[nav__edge_cell(st->m, n->node.edge)].island;
    bool there = nav__has_goal(w, island);
    double bound = there ? interval_bound(st, n, st->goal) : INFINITY;
    for (uint32_t i = 0; i < w->count && (!there || w->cheap); i++) {
        const nav__ride *ride = &st->m->rides[i];
        if (w->rest[i] < bound && st->m->cells[ride->from_cell].island == island) {
            bound = least(bound, interval_bound(st, n, nav__ride_from(ride)) + w->rest[i]);
        }
    }
    return bound;
}

// ---- into a cell -----------------------------------------------------------------------------------

/// From the node's root into the cell it enters, to a place in it: straight, or round one end of the
/// interval where that is a corner.
/// @param r  the record to go straight on from
/// @return false: a sibling that bends earlier, or a shorter way, gets there
static bool reach_place(nav__intervals *st, const nav__node *n, nav__p2 place, uint32_t *r)
{
    nav__p2 root = st->records[n->record].at;
    nav__rays rays = nav__node_rays(st, n);
    uint32_t left = n->edge, right = nav__edge_next(st->m, n->edge), bend = NAV_NONE;
    *r = n->record;
    if (!nav__same(root, nav__edge_from(st->m, right)) && nav__orient(rays.right_p, rays.right_q, place) < 0) {
        bend = n->flags & NAV__RIGHT_IS_VERTEX ? right : NAV_NONE;
    } else if (!nav__same(root, nav__edge_from(st->m, left)) && nav__orient(rays.left_p, rays.left_q, place) > 0) {
        bend = n->flags & NAV__LEFT_IS_VERTEX ? left : NAV_NONE;
    } else {
        return true;
    }
    if (bend == NAV_NONE || !nav__is_corner(st, bend)) {
        return false;
    }
    uint32_t v = st->m->edges[bend].vertex & NAV__VERTEX, key = nav__sector(st, bend);
    nav__p2 at = nav__edge_from(st->m, bend);
    double g = st->records[n->record].g + nav__dist(root, at);
    *r = nav__reach(st, key, g) ? nav__add_record(st, g, at, v, key, n->record) : NAV_NONE;
    return *r != NAV_NONE;
}

/// The goal, straight from a record's place.
static void add_final(nav__intervals *st, uint32_t r)
{
    double f = st->records[r].g + nav__dist(st->records[r].at, st->goal);
    if (f < st->best_final) {
        st->best_final = f;
        nav__open_node(st, (nav__node){.record = r, .flags = NAV__FINAL}, f);
    }
}

/// A ride, begun straight from a record's place. Its node's f counts the ride.
static void add_ride(nav__intervals *st, uint32_t r, uint32_t ride)
{
    const nav__ride *k = &st->m->rides[ride];
    double f = st->records[r].g + nav__dist(st->records[r].at, nav__ride_from(k));
    if (st->ways.crowded) {
        f += nav__ride_cost(st->m, k, st->s->filter) +
             nav__ride_ways_at(&st->ways, nav__ride_to(k), st->m->cells[k->to_cell].island);
    } else {
        f += st->ways.rest[ride];
    }
    if (f < st->best_final) {
        nav__open_node(st, (nav__node){.record = r, .edge = ride, .flags = NAV__RIDE}, f);
    }
}

/// The open rides that begin in a cell, straight from a record's place in it.
static void add_rides_from(nav__intervals *st, uint32_t r, uint32_t cell)
{
    const nav__ride *rides;
    uint32_t count = nav__rides_from(st->m, cell, &rides);
    for (uint32_t i = 0; i < count; i++) {
        if (nav__ride_open(st->m, &rides[i], st->s->filter)) {
            add_ride(st, r, (uint32_t)(&rides[i] - st->m->rides));
        }
    }
}

/// The rides that begin in the cell a node enters.
static void add_rides(nav__intervals *st, const nav__node *n, uint32_t cell)
{
    const nav__ride *rides;
    uint32_t count = nav__rides_from(st->m, cell, &rides);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t r;
        if (nav__ride_open(st->m, &rides[i], st->s->filter) && reach_place(st, n, nav__ride_from(&rides[i]), &r)) {
            add_ride(st, r, (uint32_t)(&rides[i] - st->m->rides));
        }
    }
}

/// Notes the ways to the ends of a successor's interval, and tells whether the interval is outdone: whether
/// every place on it is reached by a shorter way over an end of its edge.
///
/// Seen from an end u of the edge, |ux| grows at least as fast as |rx| does for any root r while x moves
/// along the edge away from u. So where the way over u is shorter at the interval's far end it is shorter
/// all along. (Ours; the paper compares roots only.)
static bool is_interval_outdone(nav__intervals *st, nav__fresh *n)
{
    const nav_mesh *m = st->m;
    uint32_t left = nav__sector(st, n->left_edge), right = nav__sector(st, n->right_edge);
    double g = st->records[n->node.record].g;
    n->to_left = nav__dist(n->root, n->left);
    n->to_right = nav__dist(n->root, n->right);
    double to_left = g + n->to_left, to_right = g + n->to_right;
    double over_left = st->known[left] + nav__dist(nav__edge_from(m, n->left_edge), n->right);
    double over_right = st->known[right] + nav__dist(nav__edge_from(m, n->right_edge), n->left);
    nav__reach(st, left, n->node.flags & NAV__LEFT_IS_VERTEX ? to_left : INFINITY);
    nav__reach(st, right, n->node.flags & NAV__RIGHT_IS_VERTEX ? to_right : INFINITY);
    return (to_right * (1 - 1e-9) > over_left + 1e-9) | (to_left * (1 - 1e-9) > over_right + 1e-9);
}

/// What leads from a successor straight to the goal, or onto a ride.
/// @return does it enter a cell of the goal?
static bool try_ends(nav__intervals *st, const nav__node *n)
{
    uint32_t cell = nav__edge_cell(st->m, n->edge), r;
    __builtin_prefetch(&st->m->cells[cell]);
    if (st->m->ride_count > 0 && st->m->cells[cell].link_end) {
        add_rides(st, n, cell);
    }
    if (!nav__is_among(st->s->goal, cell)) {
        return false;
    }
    if (reach_place(st, n, st->goal, &r)) {
        add_final(st, r);
    }
    return true;
}

/// Moves the successors on: ways into the goal's cell and what has rivals are opened. One that is alone is
/// told in `next` and expanded at once, with no bound computed (section 4.3, intermediate pruning).
/// @return true when `next` is set
static bool take_fresh(nav__intervals *st, nav__node *next)
{
    uint32_t kept = 0;
    bool final = false;
    for (uint32_t i = 0; i < st->fresh_count; i++) {
        if (is_interval_outdone(st, &st->fresh[i])) {
            continue;
        }
        bool at_goal = try_ends(st, &st->fresh[i].node);
        final = final || at_goal;
        // Who is in the goal's cell goes straight to it, unless a ride further on is quicker.
        if (!at_goal || st->ways.cheap) {
            if (kept < i) {
                st->fresh[kept] = st->fresh[i];
            }
            kept++;
        }
    }
    st->fresh_count = kept;
    if (kept == 1 && !final) {
        *next = st->fresh[0].node;
        return true;
    }
    for (uint32_t i = 0; i < kept; i++) {
        const nav__fresh *n = &st->fresh[i];
        double g = st->records[n->node.record].g;
        double f = g + (st->m->ride_count > 0 ? ride_bound(st, n) : interval_bound(st, n, st->goal));
        if (f < st->best_final) {
            nav__open_node(st, n->node, f);
        }
    }
    return false;
}

/// A place that the search begins at, or begins anew at after a ride.
static void begin_at(nav__intervals *st, uint32_t origin, const nav__anchor *at)
{
    for (uint32_t i = 0; i < at->count; i++) {
        if (nav__is_among(st->s->goal, at->cells[i])) {
            add_final(st, origin);
        }
        if (st->m->cells[at->cells[i]].link_end) {
            add_rides_from(st, origin, at->cells[i]);
        }
    }
    nav__expand_place(st, origin, at);
}

/// A ride comes off the heap: its end is a root from which everything begins anew.
static void land(nav__intervals *st, const nav__node *n)
{
    const nav_mesh *m = st->m;
    const nav__ride *ride = &m->rides[n->edge];
    uint32_t v = m->vertex_count + n->edge;
    double g = st->records[n->record].g + nav__dist(st->records[n->record].at, nav__ride_from(ride)) +
               nav__ride_cost(m, ride, st->s->filter);
    // Only a shorter way counts: rides that cost nothing could go round for ever.
    bool nearer = st->known[v] > g && nav__reach(st, v, g);
    uint32_t r = nearer ? nav__add_record(st, g, nav__ride_to(ride), v, v, n->record) : NAV_NONE;
    if (r == NAV_NONE) {
        return;
    }
    nav_place place = {.point = {m->origin.x + (double)ride->to[0], m->origin.y + (double)ride->to[1],
                                 m->origin.z + (double)ride->to[2]},
                       .cell = ride->to_cell};
    nav__anchor at;
    nav__anchor_make(m, &place, st->s->filter, &at);
    begin_at(st, r, &at);
}

// ---- the search ------------------------------------------------------------------------------------

/// Writes the corners from the start to a record into query->corners.
static bool trace(nav__intervals *st, uint32_t r)
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

/// The ends of a node's interval.
static void node_interval(const nav__intervals *st, const nav__node *n, nav__p2 *left, nav__p2 *right)
{
    nav__p2 a = nav__edge_from(st->m, n->edge), b = nav__edge_from(st->m, nav__edge_next(st->m, n->edge));
    nav__rays r = nav__node_rays(st, n);
    *left = a;
    *right = b;
    if (!(n->flags & NAV__LEFT_IS_VERTEX)) {
        *left = nav__cut_point(a, b, nav__orient(r.left_p, r.left_q, a), nav__orient(r.left_p, r.left_q, b));
    }
    if (!(n->flags & NAV__RIGHT_IS_VERTEX)) {
        *right = nav__cut_point(a, b, nav__orient(r.right_p, r.right_q, a), nav__orient(r.right_p, r.right_q, b));
    }
}

static nav_vec on_surface(const nav_mesh *m, uint32_t cell, nav__p2 at, uint32_t *face)
{
    return (nav_vec){m->origin.x + at.x, m->origin.y + nav__cell_height(m, cell, at, face), m->origin.z + at.z};
}

/// Notes a node for those who want to see the search.
static bool explain(nav__intervals *st, const nav__node *n)
{
    nav__search *s = st->s;
    const nav_mesh *m = st->m;
    nav_explained *list =
        nav__reserve(st->query, &st->query->explained, ((size_t)s->explained_count + 1) * sizeof *list);
    if (!list) {
        return false;
    }
    const nav__record *r = &st->records[n->record];
    nav__p2 root = r->at, left, right;
    node_interval(st, n, &left, &right);
    uint32_t cell = nav__edge_cell(m, n->edge), face;
    nav_explained *e = &list[s->explained_count++];
    e->left = on_surface(m, cell, left, NULL);
    e->right = on_surface(m, cell, right, NULL);
    on_surface(m, cell, (nav__p2){(left.x + right.x) / 2, (left.z + right.z) / 2}, &face);
    e->polygon = nav__face_polygon(m, face);
    e->g = r->g;
    if (r->vertex < m->vertex_count) {
        double y = m->origin.y + (double)nav__vertex_y(m, r->vertex);
        e->root = (nav_vec){m->origin.x + root.x, y, m->origin.z + root.z};
    } else if (r->vertex == NAV_NONE) {
        e->root = on_surface(m, s->start->cells[0], root, NULL);
    } else {
        const nav__ride *ride = &m->rides[r->vertex - m->vertex_count];
        e->root = (nav_vec){m->origin.x + root.x, m->origin.y + (double)ride->to[1], m->origin.z + root.z};
    }
    return true;
}

/// A limit ended the search: of all that is open, and the start, the place nearest to the goal.
static nav__search_result settle_for_nearest(nav__intervals *st)
{
    nav__search *s = st->s;
    s->tip = st->start;
    s->tip_cell = s->start->cells[0];
    s->length = 0;
    uint32_t best_record = 0;
    double best = nav__dist(st->start, st->goal);
    for (uint32_t i = 0; i < st->heap_count; i++) {
        const nav__node *n = &st->nodes[st->heap[i].node];
        if (n->flags & (NAV__FINAL | NAV__RIDE)) {
            continue;
        }
        nav__p2 root = st->records[n->record].at, left, right;
        node_interval(st, n, &left, &right);
        nav__p2 p = closest_on_segment(left, right, st->goal);
        double d = nav__dist(p, st->goal);
        if (d < best) {
            best = d;
            best_record = n->record;
            s->tip = p;
            s->tip_cell = nav__edge_cell(st->m, n->edge);
            s->length = st->records[n->record].g + nav__dist(root, p);
        }
    }
    return trace(st, best_record) ? NAV__LIMITED : NAV__OUT_OF_MEMORY;
}

static bool is_interrupted(const nav__intervals *st)
{
    const nav_interrupt *interrupt = &st->query->interrupt;
    return (st->s->nodes & 255) == 0 && interrupt->stop && interrupt->stop(interrupt->ctx);
}

static nav__search_result run(nav__intervals *st)
{
    nav__search *s = st->s;
    nav__node next;
    uint32_t origin = nav__add_record(st, 0, st->start, NAV_NONE, NAV_NONE, NAV_NONE);
    if (origin == NAV_NONE) {
        return NAV__OUT_OF_MEMORY;
    }
    begin_at(st, origin, s->start);
    for (;;) {
        if (st->out_of_memory) {
            return NAV__OUT_OF_MEMORY;
        }
        bool alone = take_fresh(st, &next);
        st->fresh_count = 0;
        if (!alone) {
            if (!st->heap_count) {
                return NAV__EXHAUSTED;
            }
            nav__open top = nav__pop_open(st);
            next = st->nodes[top.node];
            if (next.flags & NAV__FINAL) {
                s->length = top.f;
                return trace(st, next.record) ? NAV__FOUND : NAV__OUT_OF_MEMORY;
            }
            if (next.flags & NAV__RIDE) {
                land(st, &next);
                continue;
            }
        }
        if (nav__is_outdone(st, &st->records[next.record])) {
            continue;
        }
        if (s->max_nodes && s->nodes == s->max_nodes) {
            nav__open_node(st, next, 0); // the node at hand belongs to what is open
            return st->out_of_memory ? NAV__OUT_OF_MEMORY : settle_for_nearest(st);
        }
        s->nodes++;
        if (is_interrupted(st)) {
            return NAV__STOPPED;
        }
        if (s->explained_count < s->explain && !explain(st, &next)) {
            return NAV__OUT_OF_MEMORY;
        }
        nav__expand_node(st, &next);
    }
}

static bool share_cell(const nav__anchor *a, const nav__anchor *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        if (nav__is_among(b, a->cells[i])) {
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
    search->explained_count = 0;
    nav__intervals st;
    if (!nav__intervals_init(&st, query, search)) {
        return NAV__OUT_OF_MEMORY;
    }
    nav__ride_ways_init(&st.ways, search->mesh, search->filter, search->goal);
    // Where a ride may be quicker than a straight line, a way may lead into a cell again, and where edits touched
    // a cell not all of its neighbours' edges tell of a dead end.
    if (search->goal->count == 1 && !st.ways.cheap && !search->mesh->revision) {
        st.goal_block = search->mesh->cells[search->goal->cells[0]].tree_first;
    }
    if (!st.ways.cheap && share_cell(search->start, search->goal)) {
        search->length = nav__dist(search->start->p, search->goal->p);
        return NAV__FOUND;
    }
    return run(&st);
}
