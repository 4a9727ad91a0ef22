/// Edges that meet in part become portals: T-junctions and the seams of tiles.
///
/// Both cells of a portal need the same two corners. A corner of one edge that lies on the other one is
/// put into it; two corners at the same place become one. Neither is ever quite exact, so each cell that
/// would change is first tried: can its ring still be cut into convex pieces? If not, the portal is given
/// up and the edge stays a wall there. What is tried here is exactly what build_recut.c does later.
#include "build_seam.h"

#include <stdlib.h>

/// Rounds of giving up portals until all cells hold; each gives up at least one.
#define MOST_ROUNDS 32

typedef enum trial { HOLDS, FAILS, NO_MEMORY } trial;

/// A corner to be put into an edge.
typedef struct knot {
    double share;
    uint32_t place;
} knot;

static bool push_position(nav__seam *s, uint32_t *count, uint32_t spot)
{
    if (!nav__seam_ring_room(s, *count)) {
        return false;
    }
    s->ring[(*count)++] = nav__seam_at(s, spot);
    return true;
}

/// The cell's ring with the corners that shall be put into its edges; `only` limits them to one edge.
static bool load_ring(nav__seam *s, uint32_t cell, bool chains, uint32_t only, uint32_t *count)
{
    const nav__build *b = s->b;
    uint32_t start = b->cells[cell].half, h = start;
    *count = 0;
    do {
        uint32_t i = s->open_of[h];
        if (!push_position(s, count, b->halves[h].spot)) {
            return false;
        }
        if (chains && i != NAV_NONE && (only == NAV_NONE || i == only)) {
            for (uint32_t k = s->chain_first[i]; k < s->chain_first[i + 1]; k++) {
                if (!push_position(s, count, s->chain[k])) {
                    return false;
                }
            }
        }
        h = b->halves[h].next;
    } while (h != start);
    return true;
}

static trial try_cell(nav__seam *s, uint32_t cell, bool chains, uint32_t only)
{
    uint32_t n;
    if (!load_ring(s, cell, chains, only, &n)) {
        return NO_MEMORY;
    }
    for (uint32_t i = 0; i < n; i++) {
        nav__p2 p = s->ring[i], q = s->ring[i + 1 < n ? i + 1 : 0];
        if (p.x == q.x && p.z == q.z) {
            return FAILS;
        }
    }
    if (nav__ring_is_convex(s->ring, n)) {
        return HOLDS;
    }
    switch (nav__ring_cut(s->b, s->ring, n, false, &s->pieces)) {
    case NAV__CUT_DONE:
        return HOLDS;
    case NAV__CUT_NO_MEMORY:
        return NO_MEMORY;
    case NAV__CUT_IMPOSSIBLE:
        break;
    }
    return FAILS;
}

/// Do all cells with a corner at this place hold as they are now?
static trial try_around(nav__seam *s, uint32_t place)
{
    uint32_t spot = place;
    do {
        for (uint32_t k = s->spot_first[spot]; k < s->spot_first[spot + 1]; k++) {
            trial t = try_cell(s, s->b->halves[s->spot_halves[k]].cell, false, NAV_NONE);
            if (t != HOLDS) {
                return t;
            }
        }
        spot = s->fellow[spot];
    } while (spot != place);
    return HOLDS;
}

static void touch_around(nav__seam *s, uint32_t place)
{
    uint32_t spot = place;
    do {
        for (uint32_t k = s->spot_first[spot]; k < s->spot_first[spot + 1]; k++) {
            s->touched[s->b->halves[s->spot_halves[k]].cell] = true;
        }
        spot = s->fellow[spot];
    } while (spot != place);
}

static void link_places(nav__seam *s, uint32_t kept, uint32_t other)
{
    s->parent[other] = kept;
    uint32_t swap = s->fellow[kept];
    s->fellow[kept] = s->fellow[other];
    s->fellow[other] = swap;
}

/// Moves `other` to where `kept` is, if all cells around it bear that.
static trial move_place(nav__seam *s, uint32_t kept, uint32_t other)
{
    float *at = &s->b->spots[2 * (size_t)other], old[2] = {at[0], at[1]};
    memcpy(at, &s->b->spots[2 * (size_t)kept], sizeof old);
    trial t = try_around(s, other);
    if (t == HOLDS) {
        touch_around(s, other);
        link_places(s, kept, other);
    } else {
        memcpy(at, old, sizeof old);
    }
    return t;
}

/// Makes two spots one place.
static trial unite(nav__seam *s, uint32_t spot, uint32_t with, double tolerance)
{
    uint32_t p = nav__seam_place(s, spot), q = nav__seam_place(s, with);
    if (p == q) {
        return HOLDS;
    }
    double apart = nav__dist(nav__seam_at(s, p), nav__seam_at(s, q));
    if (apart == 0) {
        link_places(s, p, q);
        return HOLDS;
    }
    if (apart > 2 * tolerance) {
        return FAILS;
    }
    trial t = move_place(s, p, q);
    return t == FAILS ? move_place(s, q, p) : t;
}

static double portal_tolerance(const nav__seam *s, const nav__portal *p)
{
    return nav__seam_tolerance(s->b, s->open[p->edge[0]], s->open[p->edge[1]]);
}

/// Ends of both edges that a portal has at one place become one.
static trial unite_ends(nav__seam *s)
{
    for (uint32_t p = 0; p < s->portal_count; p++) {
        nav__portal *portal = &s->portals[p];
        for (int k = 0; k < 2 && !portal->dead; k++) {
            if (portal->same[k] != NAV_NONE) {
                trial t = unite(s, portal->end[k], portal->same[k], portal_tolerance(s, portal));
                if (t == NO_MEMORY) {
                    return t;
                }
                portal->dead = t == FAILS;
            }
        }
    }
    return HOLDS;
}

static double share_of(nav__p2 a, nav__p2 u, nav__p2 p)
{
    return nav__dot(nav__sub(p, a), u) / nav__dot(u, u);
}

static int by_share(const void *a, const void *b)
{
    const knot *p = a, *q = b;
    if (p->share != q->share) {
        return p->share < q->share ? -1 : 1;
    }
    return (p->place > q->place) - (p->place < q->place);
}

/// Places of the live portals' ends inside edge i, sorted along it, each once.
static bool list_knots(nav__seam *s, uint32_t i, knot **knots, uint32_t *cap, uint32_t *count)
{
    nav__build *b = s->b;
    uint32_t from = nav__seam_place(s, b->halves[s->open[i]].spot);
    uint32_t to = nav__seam_place(s, b->halves[b->halves[s->open[i]].next].spot);
    nav__p2 a = nav__seam_at(s, from), u = nav__sub(nav__seam_at(s, to), a);
    *count = 0;
    for (uint32_t p = s->first_portal[i]; p != NAV_NONE;) {
        const nav__portal *portal = &s->portals[p];
        for (int k = 0; k < 2 && !portal->dead; k++) {
            uint32_t place = nav__seam_place(s, portal->end[k]);
            if (place == from || place == to) {
                continue;
            }
            if (!nav__build_room(b, knots, cap, *count, sizeof **knots)) {
                return false;
            }
            (*knots)[(*count)++] = (knot){share_of(a, u, nav__seam_at(s, place)), place};
        }
        p = portal->next[portal->edge[1] == i];
    }
    if (*count > 1) {
        qsort(*knots, *count, sizeof **knots, by_share);
    }
    uint32_t kept = 0;
    for (uint32_t k = 0; k < *count; k++) {
        if (kept == 0 || (*knots)[k].place != (*knots)[kept - 1].place) {
            (*knots)[kept++] = (*knots)[k];
        }
    }
    *count = kept;
    return true;
}

/// Corners that would lie as good as on each other in one edge become one place, where they can.
static trial unite_knots(nav__seam *s, uint32_t i, const knot *knots, uint32_t count)
{
    const nav__build *b = s->b;
    uint32_t half = s->open[i], last = b->halves[half].spot;
    double tolerance = nav__seam_tolerance(b, half, half);
    for (uint32_t k = 0; k <= count; k++) {
        uint32_t place = k < count ? knots[k].place : b->halves[b->halves[half].next].spot;
        if (nav__dist(nav__seam_at(s, last), nav__seam_at(s, place)) <= tolerance &&
            unite(s, last, place, tolerance) == NO_MEMORY) {
            return NO_MEMORY;
        }
        last = place;
    }
    return HOLDS;
}

static trial unite_all_knots(nav__seam *s, knot **knots, uint32_t *cap)
{
    for (uint32_t i = 0; i < s->open_count; i++) {
        uint32_t count;
        if (s->first_portal[i] == NAV_NONE) {
            continue;
        }
        if (!list_knots(s, i, knots, cap, &count) || (count > 0 && unite_knots(s, i, *knots, count) == NO_MEMORY)) {
            return NO_MEMORY;
        }
    }
    return HOLDS;
}

/// Corners to be put into each edge: those strictly inside, no two in one position.
static bool make_chains(nav__seam *s, knot **knots, uint32_t *cap)
{
    nav__build *b = s->b;
    uint32_t total = 0;
    for (uint32_t i = 0; i < s->open_count; i++) {
        uint32_t count = 0;
        double last = 0;
        s->chain_first[i] = total;
        if (s->first_portal[i] != NAV_NONE && !list_knots(s, i, knots, cap, &count)) {
            return false;
        }
        for (uint32_t k = 0; k < count; k++) {
            if ((*knots)[k].share > last && (*knots)[k].share < 1) {
                if (!nav__build_room(b, &s->chain, &s->chain_cap, total, sizeof *s->chain)) {
                    return false;
                }
                s->chain[total++] = (*knots)[k].place;
                last = (*knots)[k].share;
            }
        }
    }
    s->chain_first[s->open_count] = total;
    return true;
}

/// Gives up an edge's portals; the cells beyond them must be looked at again.
static void kill_portals(nav__seam *s, uint32_t i)
{
    for (uint32_t p = s->first_portal[i]; p != NAV_NONE;) {
        nav__portal *portal = &s->portals[p];
        uint32_t side = portal->edge[1] == i;
        portal->dead = true;
        s->touched[s->b->halves[s->open[portal->edge[1 - side]]].cell] = true;
        p = portal->next[side];
    }
}

/// Gives up the portals that a cell cannot bear: those of single edges if that is enough, else all.
static trial relieve(nav__seam *s, uint32_t cell)
{
    const nav__build *b = s->b;
    uint32_t start = b->cells[cell].half, h = start;
    bool single = false;
    for (int all = 0; all < 2 && !single; all++) {
        do {
            uint32_t i = s->open_of[h];
            if (i != NAV_NONE && s->chain_first[i] < s->chain_first[i + 1]) {
                trial t = all ? FAILS : try_cell(s, cell, true, i);
                if (t == NO_MEMORY) {
                    return t;
                }
                if (t == FAILS) {
                    kill_portals(s, i);
                    single = true;
                }
            }
            h = b->halves[h].next;
        } while (h != start);
    }
    return HOLDS;
}

/// Gives up portals until every cell bears what is to be put into its edges.
static trial settle(nav__seam *s, knot **knots, uint32_t *cap)
{
    nav__build *b = s->b;
    for (uint32_t i = 0; i < s->open_count; i++) {
        s->touched[b->halves[s->open[i]].cell] |= s->first_portal[i] != NAV_NONE;
    }
    bool again = true;
    for (uint32_t round = 0; again; round++) {
        again = false;
        if (!make_chains(s, knots, cap)) {
            return NO_MEMORY;
        }
        for (uint32_t c = 0; c < b->cell_count; c++) {
            if (!s->touched[c]) {
                continue;
            }
            trial t = try_cell(s, c, true, NAV_NONE);
            if (t == FAILS) {
                t = relieve(s, c);
                again = true;
            }
            if (t == NO_MEMORY) {
                return t;
            }
        }
        if (round == MOST_ROUNDS) {
            for (uint32_t p = 0; p < s->portal_count; p++) {
                s->portals[p].dead = true;
            }
        }
    }
    return HOLDS;
}

static void report_junction(nav__build *b, uint32_t spot)
{
    nav_report *r = b->report;
    if (r->t_junction_count < NAV_REPORT_CAP) {
        r->t_junctions[r->t_junction_count] = nav__build_position(b, spot);
    }
    r->t_junction_count++;
}

/// Puts the corners into edge i.
static bool split_edge(nav__seam *s, uint32_t i)
{
    nav__build *b = s->b;
    uint32_t h = s->open[i];
    for (uint32_t k = s->chain_first[i]; k < s->chain_first[i + 1]; k++) {
        if (!nav__build_room(b, &b->halves, &b->half_cap, b->half_count, sizeof *b->halves)) {
            return false;
        }
        uint32_t n = b->half_count++;
        nav__half *half = &b->halves[h];
        b->halves[n] = (nav__half){s->chain[k], half->next, h, NAV_NONE, half->cell, half->kind};
        b->halves[half->next].prev = n;
        half->next = n;
        b->cells[half->cell].size++;
        report_junction(b, s->chain[k]);
        h = n;
    }
    return true;
}

/// Finds the half-edges of edge i's portals among its pieces. `start_of` [spots] is all NAV_NONE before
/// and after.
static void find_portal_halves(nav__seam *s, uint32_t i, uint32_t *start_of)
{
    nav__build *b = s->b;
    uint32_t pieces = 1 + s->chain_first[i + 1] - s->chain_first[i], h = s->open[i];
    for (uint32_t k = 0; k < pieces; k++, h = b->halves[h].next) {
        start_of[nav__seam_place(s, b->halves[h].spot)] = h;
    }
    for (uint32_t p = s->first_portal[i]; p != NAV_NONE;) {
        nav__portal *portal = &s->portals[p];
        uint32_t side = portal->edge[1] == i;
        uint32_t from = nav__seam_place(s, portal->end[side]), to = nav__seam_place(s, portal->end[1 - side]);
        uint32_t half = start_of[from];
        if (half != NAV_NONE && nav__seam_place(s, b->halves[b->halves[half].next].spot) == to) {
            portal->half[side] = half;
        }
        p = portal->next[side];
    }
    h = s->open[i];
    for (uint32_t k = 0; k < pieces; k++, h = b->halves[h].next) {
        start_of[nav__seam_place(s, b->halves[h].spot)] = NAV_NONE;
    }
}

static bool join_portals(nav__seam *s)
{
    nav__build *b = s->b;
    uint32_t *start_of = nav__build_take(b, b->vertex_points, sizeof *start_of);
    if (!start_of) {
        return false;
    }
    memset(start_of, 0xFF, b->vertex_points * sizeof *start_of);
    for (uint32_t i = 0; i < s->open_count; i++) {
        if (!split_edge(s, i)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < s->open_count; i++) {
        if (s->first_portal[i] != NAV_NONE) {
            find_portal_halves(s, i, start_of);
        }
    }
    for (uint32_t p = 0; p < s->portal_count; p++) {
        const nav__portal *portal = &s->portals[p];
        uint32_t g = portal->half[0], h = portal->half[1];
        if (!portal->dead && g != NAV_NONE && h != NAV_NONE && b->halves[g].twin == NAV_NONE &&
            b->halves[h].twin == NAV_NONE) {
            b->halves[g].twin = h;
            b->halves[h].twin = g;
        }
    }
    nav__build_give(b, start_of);
    return true;
}

/// All half-edges by the spot they begin at.
static bool index_spots(nav__seam *s)
{
    nav__build *b = s->b;
    s->spot_first = nav__build_take(b, (size_t)b->vertex_points + 2, sizeof *s->spot_first);
    s->spot_halves = nav__build_take(b, b->half_count, sizeof *s->spot_halves);
    if (!s->spot_first || !s->spot_halves) {
        return false;
    }
    memset(s->spot_first, 0, ((size_t)b->vertex_points + 2) * sizeof *s->spot_first);
    for (uint32_t h = 0; h < b->half_count; h++) {
        s->spot_first[b->halves[h].spot + 2]++;
    }
    for (uint32_t p = 0; p < b->vertex_points; p++) {
        s->spot_first[p + 2] += s->spot_first[p + 1];
    }
    for (uint32_t h = 0; h < b->half_count; h++) {
        s->spot_halves[s->spot_first[b->halves[h].spot + 1]++] = h;
    }
    return true;
}

static bool prepare(nav__seam *s)
{
    nav__build *b = s->b;
    s->open_of = nav__build_take(b, b->half_count, sizeof *s->open_of);
    s->parent = nav__build_take(b, b->vertex_points, sizeof *s->parent);
    s->fellow = nav__build_take(b, b->vertex_points, sizeof *s->fellow);
    s->touched = nav__build_take(b, b->cell_count, sizeof *s->touched);
    s->chain_first = nav__build_take(b, (size_t)s->open_count + 1, sizeof *s->chain_first);
    if (!s->open_of || !s->parent || !s->fellow || !s->touched || !s->chain_first || !index_spots(s)) {
        return false;
    }
    memset(s->open_of, 0xFF, b->half_count * sizeof *s->open_of);
    memset(s->touched, 0, b->cell_count * sizeof *s->touched);
    for (uint32_t i = 0; i < s->open_count; i++) {
        s->open_of[s->open[i]] = i;
    }
    for (uint32_t p = 0; p < b->vertex_points; p++) {
        s->parent[p] = s->fellow[p] = p;
    }
    return true;
}

static bool list_open(nav__seam *s)
{
    nav__build *b = s->b;
    for (uint32_t h = 0; h < b->half_count; h++) {
        s->open_count += b->halves[h].twin == NAV_NONE && b->halves[h].kind != NAV_EDGE_WALL;
    }
    s->open = nav__build_take(b, s->open_count, sizeof *s->open);
    s->first_portal = nav__build_take(b, s->open_count, sizeof *s->first_portal);
    if (!s->open || !s->first_portal) {
        return false;
    }
    memset(s->first_portal, 0xFF, s->open_count * sizeof *s->first_portal);
    for (uint32_t h = 0, i = 0; h < b->half_count; h++) {
        if (b->halves[h].twin == NAV_NONE && b->halves[h].kind != NAV_EDGE_WALL) {
            s->open[i++] = h;
        }
    }
    return true;
}

static nav_status make_portals(nav__seam *s)
{
    nav__build *b = s->b;
    knot *knots = NULL;
    uint32_t cap = 0;
    if (!prepare(s) || unite_ends(s) == NO_MEMORY || unite_all_knots(s, &knots, &cap) == NO_MEMORY ||
        settle(s, &knots, &cap) == NO_MEMORY || !join_portals(s)) {
        return nav__build_no_memory(b);
    }
    for (uint32_t h = 0; h < b->half_count; h++) {
        b->halves[h].spot = nav__seam_place(s, b->halves[h].spot);
    }
    nav__build_give(b, knots);
    return nav__seam_recut(s);
}

static void release(nav__seam *s)
{
    void *const arrays[] = {s->open,         s->first_portal,  s->portals,     s->open_of,     s->parent, s->fellow,
                            s->spot_first,   s->spot_halves,   s->touched,     s->chain_first, s->chain,  s->ring,
                            s->pieces.first, s->pieces.corner, s->pieces.mate, s->pieces.work};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        nav__build_give(s->b, arrays[i]);
    }
}

/// Edges whose neighbour the file names, and that do not touch it.
static void warn_of_strangers(const nav__seam *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->open_count; i++) {
        uint32_t kind = s->b->halves[s->open[i]].kind;
        count += kind < s->b->soup->poly_count && s->b->kept[kind] && s->first_portal[i] == NAV_NONE;
    }
    if (count > 0) {
        nav__build_warn(s->b, "%u edges name a neighbour that they do not touch: they stay closed", count);
    }
}

nav_status nav__build_seams(nav__build *b)
{
    nav__seam s = {.b = b};
    if (!list_open(&s)) {
        return nav__build_no_memory(b);
    }
    nav_status status = s.open_count > 0 ? nav__seam_find(&s) : NAV_OK;
    if (status == NAV_OK) {
        warn_of_strangers(&s);
    }
    if (status == NAV_OK && s.portal_count > 0) {
        status = make_portals(&s);
    }
    release(&s);
    return status;
}
