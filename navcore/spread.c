/// The interval search (interval.h) spread in all directions, nearest first.
///
/// A node opened tells the polygons behind its interval how near they are. From a root through an interval
/// into a convex cell the shortest way to a convex face is straight to the face's place nearest to the
/// root, where that lies between the rays; else round the end of the interval on that place's side.
///
/// Without a goal many intervals spread over ground that others have reached before. A cell remembers what
/// is enough to get to any place in it; a node that enters it no sooner has no news for it, nor for
/// anything behind it.
#include "interval.h"
#include "reachable.h"
#include "surface.h"

typedef struct spread {
    nav__reachable *r;
    nav__search search;
    nav__intervals st;
    double unit;
    double max_length;
    double *enough; ///< by cell: a length within which all of it is reached
} spread;

/// What is seen of a cell: from `root`, g from the start, between two places on the edge passed.
typedef struct sight {
    nav__p2 root, left, right;
    double g, entry; ///< length of the shortest way to the root, to the edge
    uint32_t cell;
} sight;

/// Where a way to a place in the cell turns: at the root, or at an end of the interval.
static nav__p2 turn_towards(const sight *s, nav__p2 at)
{
    nav__p2 to = nav__sub(at, s->root);
    if (nav__cross(nav__sub(s->right, s->root), to) < 0) {
        return s->right;
    }
    return nav__cross(nav__sub(s->left, s->root), to) > 0 ? s->left : s->root;
}

static double way_to(const sight *s, nav__p2 at)
{
    nav__p2 turn = turn_towards(s, at);
    return s->g + nav__dist(s->root, turn) + nav__dist(turn, at);
}

static void offer_faces(spread *sp, const sight *s)
{
    const nav_mesh *m = sp->r->m;
    for (uint32_t k = m->cells[s->cell].first_face; k < m->cells[s->cell + 1].first_face; k++) {
        uint32_t face = m->cell_faces[k];
        if (!nav__reachable_lacks(sp->r, face, s->entry * sp->unit)) {
            continue;
        }
        nav__p2 at;
        double news = fmin(sp->max_length, sp->r->costs[nav__face_polygon(m, face)] / sp->unit) - s->g;
        double length = s->g + sqrt(nav__face_closest(m, face, s->root, news * news, &at));
        if (!nav__reachable_lacks(sp->r, face, length * sp->unit)) {
            continue;
        }
        nav__p2 turn = turn_towards(s, at);
        if (!nav__same(turn, s->root)) {
            length = s->g + nav__dist(s->root, turn) + sqrt(nav__face_closest(m, face, turn, INFINITY, &at));
        }
        nav__reachable_offer(sp->r, face, length * sp->unit);
    }
}

static void open_rides(spread *sp, const sight *s, uint32_t record)
{
    const nav_mesh *m = sp->r->m;
    const nav__ride *rides;
    uint32_t count = m->cells[s->cell].link_end ? nav__rides_from(m, s->cell, &rides) : 0;
    for (uint32_t i = 0; i < count; i++) {
        nav__p2 from = {(double)rides[i].from[0], (double)rides[i].from[2]};
        double length = way_to(s, from) + nav__ride_cost(m, &rides[i], sp->r->filter) / sp->unit;
        if (nav__ride_open(m, &rides[i], sp->r->filter) && length <= sp->max_length) {
            uint32_t ride = (uint32_t)(&rides[i] - m->rides);
            nav__open_node(&sp->st, (nav__node){.record = record, .edge = ride, .flags = NAV__RIDE}, length);
        }
    }
}

/// Notes that `length` leads to a place of the cell.
/// @return false when nothing in the cell, or behind it, is news
static bool enter(spread *sp, uint32_t cell, nav__p2 at, double length)
{
    const nav_mesh *m = sp->r->m;
    if (length > sp->max_length || length >= sp->enough[cell]) {
        return false;
    }
    double furthest = 0;
    for (uint32_t e = m->cells[cell].first_edge; e < m->cells[cell + 1].first_edge; e++) {
        furthest = fmax(furthest, nav__dist(nav__edge_from(m, e), at));
    }
    sp->enough[cell] = fmin(sp->enough[cell], length + furthest);
    return true;
}

static nav__p2 nearest_on(nav__p2 a, nav__p2 b, nav__p2 p)
{
    nav__p2 d = nav__sub(b, a);
    double all = nav__dot(d, d), t = all > 0 ? nav__dot(nav__sub(p, a), d) / all : 0;
    t = t > 0 ? t < 1 ? t : 1 : 0;
    return (nav__p2){a.x + t * d.x, a.z + t * d.z};
}

/// Opens the successors that bring news.
static void take_fresh(spread *sp)
{
    nav__intervals *st = &sp->st;
    for (uint32_t i = 0; i < st->fresh_count; i++) {
        const nav__fresh *n = &st->fresh[i];
        nav__p2 at = nearest_on(n->left, n->right, n->root);
        double g = st->records[n->node.record].g, entry = g + nav__dist(n->root, at);
        sight s = {n->root, n->left, n->right, g, entry, nav__edge_cell(st->m, n->node.edge)};
        if (enter(sp, s.cell, at, entry)) {
            offer_faces(sp, &s);
            open_rides(sp, &s, n->node.record);
            nav__open_node(st, n->node, entry);
        }
    }
    st->fresh_count = 0;
}

/// A place that the spread begins at, or begins anew at after a ride.
static void begin_at(spread *sp, uint32_t record, const nav__anchor *at)
{
    double g = sp->st.records[record].g;
    for (uint32_t i = 0; i < at->count; i++) {
        sight s = {at->p, at->p, at->p, g, g, at->cells[i]};
        if (enter(sp, s.cell, at->p, g)) {
            offer_faces(sp, &s);
            open_rides(sp, &s, record);
        }
    }
    nav__expand_place(&sp->st, record, at);
    take_fresh(sp);
}

static void land(spread *sp, const nav__node *n, double length)
{
    const nav_mesh *m = sp->r->m;
    const nav__ride *ride = &m->rides[n->edge];
    uint32_t v = m->vertex_count + n->edge;
    // Only a shorter way counts: rides that cost nothing could go round for ever.
    bool nearer = sp->st.known[v] > length && nav__reach(&sp->st, v, length);
    uint32_t record = nearer ? nav__add_record(&sp->st, length, nav__ride_to(ride), v, v, n->record) : NAV_NONE;
    if (record == NAV_NONE) {
        return;
    }
    nav_place place = {.point = {m->origin.x + (double)ride->to[0], m->origin.y + (double)ride->to[1],
                                 m->origin.z + (double)ride->to[2]},
                       .cell = ride->to_cell};
    nav__anchor at;
    nav__anchor_make(m, &place, sp->r->filter, &at);
    begin_at(sp, record, &at);
}

/// A cell is entered by an edge a few times, once for each root that no other outdoes. On a surface that is
/// not what it claims (cells wound round a vertex that a root lies beside by rounding) an interval might go
/// round for ever.
enum { MOST_ENTRIES = 256 };

static nav__search_result run(spread *sp)
{
    nav__intervals *st = &sp->st;
    const nav_interrupt *interrupt = &sp->r->query->interrupt;
    uint64_t most = (uint64_t)st->m->edge_count * MOST_ENTRIES;
    for (uint32_t steps = 1; st->heap_count > 0 && steps <= most; steps++) {
        nav__open top = nav__pop_open(st);
        nav__node n = st->nodes[top.node];
        if (!nav__reachable_settle(sp->r, top.f * sp->unit)) {
            break;
        }
        if (n.flags & NAV__RIDE) {
            land(sp, &n, top.f);
        } else if (top.f < sp->enough[nav__edge_cell(st->m, n.edge)] && !nav__is_outdone(st, &st->records[n.record])) {
            nav__expand_node(st, &n);
            take_fresh(sp);
        }
        if (st->out_of_memory || sp->r->out_of_memory) {
            return NAV__OUT_OF_MEMORY;
        }
        if (steps % 256 == 0 && interrupt->stop && interrupt->stop(interrupt->ctx)) {
            return NAV__STOPPED;
        }
    }
    nav__reachable_settle(sp->r, INFINITY);
    return sp->r->out_of_memory ? NAV__OUT_OF_MEMORY : sp->r->limited ? NAV__LIMITED : NAV__EXHAUSTED;
}

nav__search_result nav__spread(nav__reachable *r, double unit)
{
    spread sp = {.r = r, .search = {.mesh = r->m, .filter = r->filter, .start = r->start}, .unit = unit};
    sp.max_length = r->max_cost / unit;
    sp.enough = nav__reserve(r->query, &r->query->cell_bounds, r->m->cell_count * sizeof *sp.enough);
    if (!sp.enough || !nav__intervals_init(&sp.st, r->query, &sp.search)) {
        return NAV__OUT_OF_MEMORY;
    }
    for (uint32_t c = 0; c < r->m->cell_count; c++) {
        sp.enough[c] = INFINITY;
    }
    uint32_t origin = nav__add_record(&sp.st, 0, sp.st.start, NAV_NONE, NAV_NONE, NAV_NONE);
    if (origin == NAV_NONE) {
        return NAV__OUT_OF_MEMORY;
    }
    begin_at(&sp, origin, r->start);
    return run(&sp);
}
