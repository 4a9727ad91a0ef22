/// Which open edges overlap in part, and which of the overlaps become portals.
///
/// Where two segments of one line overlap, each end of the overlap is an end of one of them. So it is
/// enough to look, for every open edge, which ends of other open edges lie on it: a hash grid over these
/// ends, read along each edge.
#include "build_seam.h"

#include <stdlib.h>

/// Detour joins tiles whose borders are this far apart (DetourNavMesh.cpp joins at 1 cm).
#define SEAM_APART 0.01

/// Looks at no more than this many pairs, and this many for each open edge: piles of edges in one place
/// must not stop the build.
#define MOST_PAIRS 4000000u
#define MOST_PAIRS_PER_EDGE 24u

/// An overlap that could become a portal. Shares are of edge[0]'s length.
typedef struct overlap {
    double badness; ///< how far the edges are from each other, in whole tolerances
    double length;
    uint32_t edge[2];
} overlap;

/// Two edges along the first one: shares of its length, distances from it, heights above it.
typedef struct alignment {
    double start, end; ///< share where the other edge ends and begins: it runs the other way
    double from, to;   ///< the overlap
    double length;     ///< of the first edge
    double apart;      ///< largest ground distance along the overlap
    double gap_from, gap_to;
} alignment;

typedef struct end_grid {
    double inverse, inverse_y;
    uint32_t *heads, *next; ///< ends are spots; next [vertex_points]
    uint32_t mask;
    uint32_t *first, *edges; ///< open edges at each spot, CSR
    double piece;            ///< edges are read in pieces of this length
} end_grid;

typedef struct finder {
    nav__seam *s;
    end_grid grid;
    overlap *found;
    uint32_t found_count, found_cap;
    uint64_t pairs_left;
    uint32_t *stamp;     ///< [vertex_points] last edge that met this spot
    uint32_t kept_apart; ///< overlaps met of edges that belong to different parts of the file
} finder;

static uint32_t from_spot(const nav__build *b, uint32_t half)
{
    return b->halves[half].spot;
}

static uint32_t to_spot(const nav__build *b, uint32_t half)
{
    return b->halves[b->halves[half].next].spot;
}

static nav__p2 spot_at(const nav__build *b, uint32_t spot)
{
    return (nav__p2){(double)b->spots[2 * (size_t)spot], (double)b->spots[2 * (size_t)spot + 1]};
}

static double spot_height(const nav__build *b, uint32_t spot)
{
    return (double)nav__build_height(b, spot);
}

static bool is_seam(const nav__build *b, uint32_t half)
{
    return b->halves[half].kind == NAV_EDGE_SEAM;
}

double nav__seam_tolerance(const nav__build *b, uint32_t half, uint32_t other)
{
    // A vertex on an edge is off by its own rounding and by that of the edge's ends.
    double tolerance = fmax(2 * b->weld, b->rounding);
    return is_seam(b, half) || is_seam(b, other) ? fmax(tolerance, SEAM_APART) : tolerance;
}

/// The stretch of `half` that `other` runs along in the opposite direction.
/// @return false: there is none worth the name
static bool align(const nav__build *b, uint32_t half, uint32_t other, alignment *a)
{
    uint32_t p = from_spot(b, half), q = to_spot(b, half), r = from_spot(b, other), t = to_spot(b, other);
    nav__p2 origin = spot_at(b, p), u = nav__sub(spot_at(b, q), origin);
    nav__p2 v = nav__sub(spot_at(b, r), origin), w = nav__sub(spot_at(b, t), origin);
    double square = nav__dot(u, u);
    a->length = sqrt(square);
    a->start = nav__dot(w, u) / square;
    a->end = nav__dot(v, u) / square;
    a->from = fmax(0, a->start);
    a->to = fmin(1, a->end);
    if (!(a->to > a->from)) {
        return false;
    }
    double off_start = nav__cross(u, w) / a->length, off_end = nav__cross(u, v) / a->length;
    double span = a->end - a->start;
    double share_from = (a->from - a->start) / span, share_to = (a->to - a->start) / span;
    double off_from = off_start + share_from * (off_end - off_start);
    double off_to = off_start + share_to * (off_end - off_start);
    a->apart = fmax(fabs(off_from), fabs(off_to));
    double yp = spot_height(b, p), yq = spot_height(b, q), yr = spot_height(b, r), yt = spot_height(b, t);
    a->gap_from = yt + share_from * (yr - yt) - (yp + a->from * (yq - yp));
    a->gap_to = yt + share_to * (yr - yt) - (yp + a->to * (yq - yp));
    return true;
}

/// Is the height between the edges small enough to step over? Between tiles as Detour has it: they
/// cross, or come within twice the climb at an end of the overlap (dtOverlapSlabs, in DetourNavMesh.cpp).
static bool within_climb(const nav__build *b, uint32_t half, uint32_t other, const alignment *a)
{
    double climb = b->agent.climb + b->rounding;
    if (is_seam(b, half) || is_seam(b, other)) {
        return a->gap_from * a->gap_to < 0 || fmin(fabs(a->gap_from), fabs(a->gap_to)) <= 2 * climb;
    }
    return fmax(fabs(a->gap_from), fabs(a->gap_to)) <= climb;
}

static uint32_t polygon_of(const nav__build *b, uint32_t half)
{
    return b->faces[b->items[b->cells[b->halves[half].cell].first_item].face].polygon;
}

static bool may_meet(const nav__build *b, uint32_t half, uint32_t other)
{
    if (b->halves[half].cell == b->halves[other].cell || !nav__build_may_join(b, half, other)) {
        return false;
    }
    return !(is_seam(b, half) && is_seam(b, other)) || polygon_of(b, half) != polygon_of(b, other);
}

/// Do both edges belong to one part of the file?
static bool same_part(const nav__build *b, uint32_t half, uint32_t other)
{
    const uint32_t *parts = b->soup->parts;
    return !parts || parts[polygon_of(b, half)] == parts[polygon_of(b, other)];
}

/// Notes the pair of open edges i and j if they overlap.
static bool consider(finder *f, uint32_t i, uint32_t j)
{
    const nav__build *b = f->s->b;
    uint32_t first = i < j ? i : j, second = i < j ? j : i; // met from either side, the pair is the same
    uint32_t half = f->s->open[first], other = f->s->open[second];
    alignment a;
    if (!may_meet(b, half, other) || !align(b, half, other, &a)) {
        return true;
    }
    double tolerance = nav__seam_tolerance(b, half, other), length = (a.to - a.from) * a.length;
    if (a.apart > tolerance || length <= tolerance || !within_climb(b, half, other, &a)) {
        return true;
    }
    if (!same_part(b, half, other)) {
        f->kept_apart++;
        return true;
    }
    if (!nav__build_room(f->s->b, &f->found, &f->found_cap, f->found_count, sizeof *f->found)) {
        return false;
    }
    double gap = fmin(fabs(a.gap_from), fabs(a.gap_to)) + fabs(a.gap_from + a.gap_to) / 2;
    f->found[f->found_count++] = (overlap){floor((gap + a.apart) / tolerance), length, {first, second}};
    return true;
}

static uint32_t bucket(const end_grid *g, int64_t i, int64_t j, int64_t k)
{
    uint64_t h = (uint64_t)i * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 29 ^ (uint64_t)j) * 0xBF58476D1CE4E5B9u;
    h = (h ^ h >> 32 ^ (uint64_t)k) * 0x94D049BB133111EBu;
    return (uint32_t)(h >> 32) & g->mask;
}

static int64_t column(double v, double inverse)
{
    return (int64_t)floor(v * inverse);
}

/// Looks at every open edge that has an end at this spot. Each pair is met from both its edges' sides;
/// only one of them is noted, by whichever edge the spot lies on.
static bool meet_spot(finder *f, uint32_t i, uint32_t spot)
{
    const end_grid *g = &f->grid;
    for (uint32_t k = g->first[spot]; k < g->first[spot + 1]; k++) {
        if (f->pairs_left == 0) {
            return true;
        }
        f->pairs_left--;
        if (g->edges[k] != i && !consider(f, i, g->edges[k])) {
            return false;
        }
    }
    return true;
}

/// Meets the ends that lie within the box of one piece of edge i.
static bool read_box(finder *f, uint32_t i, const double low[3], const double high[3])
{
    const nav__build *b = f->s->b;
    const end_grid *g = &f->grid;
    for (int64_t x = column(low[0], g->inverse); x <= column(high[0], g->inverse); x++) {
        for (int64_t z = column(low[2], g->inverse); z <= column(high[2], g->inverse); z++) {
            for (int64_t y = column(low[1], g->inverse_y); y <= column(high[1], g->inverse_y); y++) {
                for (uint32_t spot = g->heads[bucket(g, x, y, z)]; spot != NAV_NONE; spot = g->next[spot]) {
                    nav__p2 p = spot_at(b, spot);
                    double h = spot_height(b, spot);
                    if (f->stamp[spot] == i || p.x < low[0] || p.x > high[0] || p.z < low[2] || p.z > high[2] ||
                        h < low[1] || h > high[1]) {
                        f->pairs_left -= f->pairs_left > 0;
                        continue;
                    }
                    f->stamp[spot] = i;
                    if (!meet_spot(f, i, spot)) {
                        return false;
                    }
                }
            }
        }
    }
    return true;
}

/// Meets every end of other open edges that may lie on edge i.
static bool read_edge(finder *f, uint32_t i)
{
    const nav__build *b = f->s->b;
    uint32_t half = f->s->open[i], p = from_spot(b, half), q = to_spot(b, half);
    nav__p2 a = spot_at(b, p), c = spot_at(b, q);
    double tolerance = nav__seam_tolerance(b, half, half), climb = b->agent.climb + b->rounding;
    double ya = spot_height(b, p), yc = spot_height(b, q);
    // Between tiles a steep edge may cross the other one: both ends can be far from it.
    double reach = is_seam(b, half) ? 2 * climb + fabs(yc - ya) : climb;
    double pieces = ceil(nav__dist(a, c) / f->grid.piece);
    f->stamp[p] = f->stamp[q] = i;
    for (double k = 0; k < pieces && f->pairs_left > 0; k++) {
        double t0 = k / pieces, t1 = (k + 1) / pieces;
        nav__p2 u = {a.x + t0 * (c.x - a.x), a.z + t0 * (c.z - a.z)};
        nav__p2 v = {a.x + t1 * (c.x - a.x), a.z + t1 * (c.z - a.z)};
        double yu = ya + t0 * (yc - ya), yv = ya + t1 * (yc - ya);
        const double low[3] = {fmin(u.x, v.x) - tolerance, fmin(yu, yv) - reach, fmin(u.z, v.z) - tolerance};
        const double high[3] = {fmax(u.x, v.x) + tolerance, fmax(yu, yv) + reach, fmax(u.z, v.z) + tolerance};
        if (!read_box(f, i, low, high)) {
            return false;
        }
    }
    return true;
}

/// Open edges by the spots they begin or end at.
static bool index_ends(finder *f)
{
    nav__build *b = f->s->b;
    end_grid *g = &f->grid;
    g->first = nav__build_take(b, (size_t)b->vertex_points + 2, sizeof *g->first);
    g->edges = nav__build_take(b, 2 * (size_t)f->s->open_count, sizeof *g->edges);
    if (!g->first || !g->edges) {
        return false;
    }
    memset(g->first, 0, ((size_t)b->vertex_points + 2) * sizeof *g->first);
    for (uint32_t i = 0; i < f->s->open_count; i++) {
        g->first[from_spot(b, f->s->open[i]) + 2]++;
        g->first[to_spot(b, f->s->open[i]) + 2]++;
    }
    for (uint32_t p = 0; p < b->vertex_points; p++) {
        g->first[p + 2] += g->first[p + 1];
    }
    for (uint32_t i = 0; i < f->s->open_count; i++) {
        g->edges[g->first[from_spot(b, f->s->open[i]) + 1]++] = i;
        g->edges[g->first[to_spot(b, f->s->open[i]) + 1]++] = i;
    }
    return true;
}

/// About one end a cell, so that reading an edge meets few that are not on it; but no shorter than it
/// takes to read the edges in a few dozen pieces each.
static double choose_piece(const nav__seam *s)
{
    const nav__build *b = s->b;
    nav__p2 low = {INFINITY, INFINITY}, high = {-INFINITY, -INFINITY};
    double total = 0, tolerance = 0;
    for (uint32_t i = 0; i < s->open_count; i++) {
        nav__p2 p = spot_at(b, from_spot(b, s->open[i])), q = spot_at(b, to_spot(b, s->open[i]));
        low = (nav__p2){fmin(low.x, p.x), fmin(low.z, p.z)};
        high = (nav__p2){fmax(high.x, p.x), fmax(high.z, p.z)};
        total += nav__dist(p, q);
        tolerance = fmax(tolerance, nav__seam_tolerance(b, s->open[i], s->open[i]));
    }
    double mean = total / s->open_count, spacing = sqrt((high.x - low.x) * (high.z - low.z) / s->open_count);
    return fmax(fmin(mean, fmax(spacing, mean / 32)), 4 * tolerance);
}

static bool fill_grid(finder *f)
{
    nav__build *b = f->s->b;
    end_grid *g = &f->grid;
    uint32_t buckets = 64;
    while (buckets < 2 * f->s->open_count && buckets < 1u << 30) {
        buckets *= 2;
    }
    g->mask = buckets - 1;
    g->piece = choose_piece(f->s);
    g->inverse = 1 / g->piece;
    g->inverse_y = 1 / fmax(g->piece, 8 * (b->agent.climb + b->rounding));
    g->heads = nav__build_take(b, buckets, sizeof *g->heads);
    g->next = nav__build_take(b, b->vertex_points, sizeof *g->next);
    f->stamp = nav__build_take(b, b->vertex_points, sizeof *f->stamp);
    if (!g->heads || !g->next || !f->stamp) {
        return false;
    }
    memset(g->heads, 0xFF, buckets * sizeof *g->heads);
    memset(f->stamp, 0xFF, b->vertex_points * sizeof *f->stamp);
    for (uint32_t p = 0; p < b->vertex_points; p++) {
        if (g->first[p] < g->first[p + 1]) {
            nav__p2 at = spot_at(b, p);
            uint32_t *head = &g->heads[bucket(g, column(at.x, g->inverse), column(spot_height(b, p), g->inverse_y),
                                              column(at.z, g->inverse))];
            g->next[p] = *head;
            *head = p;
        }
    }
    return true;
}

/// The nearest first; among equals by the first edge, so that what lies together is handled together.
static int best_first(const void *a, const void *b)
{
    const overlap *p = a, *q = b;
    if (p->badness != q->badness) {
        return p->badness < q->badness ? -1 : 1;
    }
    if (p->edge[0] != q->edge[0]) {
        return p->edge[0] < q->edge[0] ? -1 : 1;
    }
    if (p->length != q->length) {
        return p->length > q->length ? -1 : 1;
    }
    return (p->edge[1] > q->edge[1]) - (p->edge[1] < q->edge[1]);
}

/// What of each edge is taken: its length in as many parts as it has overlaps, each with the portals that
/// reach into it.
typedef struct taken {
    uint32_t *first; ///< [open_count + 1] parts of each edge
    uint32_t *heads; ///< [parts] list of entries
    struct entry {
        uint32_t portal, next;
    } * entries;
    uint32_t entry_count, entry_cap;
} taken;

static uint32_t part_of(const taken *t, uint32_t edge, double share)
{
    uint32_t count = t->first[edge + 1] - t->first[edge];
    double k = share * count;
    return t->first[edge] + (k >= (double)count ? count - 1 : k > 0 ? (uint32_t)k : 0);
}

/// A stretch of an edge, the spots at its ends, and the other edge's spots at the same places.
typedef struct stretch {
    double from, to;
    uint32_t end[2], same[2];
} stretch;

/// Takes one portal out of the stretch, keeping the longer rest. Where an end moves, the spot there is
/// the portal's.
static void clip_portal(const nav__portal *portal, uint32_t edge, double slack, stretch *s)
{
    uint32_t side = portal->edge[1] == edge;
    double low = (double)portal->from[side], high = (double)portal->to[side];
    if (low >= s->to - slack || high <= s->from + slack) {
        return;
    }
    if (low - s->from >= s->to - high) {
        s->to = low;
        s->end[1] = portal->end[side];
        s->same[1] = NAV_NONE;
    } else {
        s->from = high;
        s->end[0] = portal->end[1 - side];
        s->same[0] = NAV_NONE;
    }
}

/// Takes what the edge's portals have already out of the stretch.
static void clip_taken(const nav__seam *s, const taken *t, uint32_t edge, double slack, stretch *rest)
{
    uint32_t last = part_of(t, edge, rest->to);
    for (uint32_t k = part_of(t, edge, rest->from); k <= last; k++) {
        for (uint32_t i = t->heads[k]; i != NAV_NONE; i = t->entries[i].next) {
            clip_portal(&s->portals[t->entries[i].portal], edge, slack, rest);
            if (rest->to - rest->from <= slack) {
                return;
            }
        }
    }
}

static bool enter(nav__build *b, taken *t, uint32_t edge, uint32_t portal, double from, double to)
{
    uint32_t last = part_of(t, edge, to);
    for (uint32_t k = part_of(t, edge, from); k <= last; k++) {
        if (!nav__build_room(b, &t->entries, &t->entry_cap, t->entry_count, sizeof *t->entries)) {
            return false;
        }
        t->entries[t->entry_count] = (struct entry){portal, t->heads[k]};
        t->heads[k] = t->entry_count++;
    }
    return true;
}

/// The overlap along `half`, with its ends as spots.
static stretch name_ends(const nav__build *b, uint32_t half, uint32_t other, const alignment *a, double slack)
{
    stretch s = {a->from, a->to, {from_spot(b, half), to_spot(b, half)}, {NAV_NONE, NAV_NONE}};
    if (fabs(a->start) <= slack) {
        s.same[0] = to_spot(b, other);
    } else if (a->start > 0) {
        s.end[0] = to_spot(b, other);
    }
    if (fabs(a->end - 1) <= slack) {
        s.same[1] = from_spot(b, other);
    } else if (a->end < 1) {
        s.end[1] = from_spot(b, other);
    }
    return s;
}

/// The same stretch seen from the other edge, which runs the other way.
static stretch turn_round(const stretch *s, const alignment *a)
{
    double span = a->end - a->start;
    return (stretch){
        (a->end - s->to) / span, (a->end - s->from) / span, {s->end[1], s->end[0]}, {s->same[1], s->same[0]}};
}

/// Makes a portal of what is still free of an overlap.
static bool add_portal(nav__seam *s, taken *t, const overlap *o)
{
    nav__build *b = s->b;
    uint32_t half = s->open[o->edge[0]], other = s->open[o->edge[1]];
    double tolerance = nav__seam_tolerance(b, half, other);
    alignment a;
    align(b, half, other, &a); // it did when the overlap was found
    double slack = tolerance / a.length, span = a.end - a.start, other_slack = slack / span;
    stretch here = name_ends(b, half, other, &a, slack);
    clip_taken(s, t, o->edge[0], slack, &here);
    if (here.to - here.from <= slack) {
        return true;
    }
    stretch there = turn_round(&here, &a);
    clip_taken(s, t, o->edge[1], other_slack, &there);
    if (there.to - there.from <= other_slack || there.end[0] == there.end[1]) {
        return true;
    }
    if (!nav__build_room(b, &s->portals, &s->portal_cap, s->portal_count, sizeof *s->portals)) {
        return false;
    }
    double from = a.end - there.to * span, to = a.end - there.from * span;
    uint32_t p = s->portal_count++;
    s->portals[p] = (nav__portal){
        .edge = {o->edge[0], o->edge[1]},
        .end = {there.end[1], there.end[0]},
        .same = {there.same[1], there.same[0]},
        .from = {(float)from, (float)there.from},
        .to = {(float)to, (float)there.to},
        .next = {s->first_portal[o->edge[0]], s->first_portal[o->edge[1]]},
        .half = {NAV_NONE, NAV_NONE},
    };
    s->first_portal[o->edge[0]] = s->first_portal[o->edge[1]] = p;
    return enter(b, t, o->edge[0], p, from, to) && enter(b, t, o->edge[1], p, there.from, there.to);
}

static bool prepare_taken(const finder *f, taken *t)
{
    nav__build *b = f->s->b;
    uint32_t edges = f->s->open_count;
    t->first = nav__build_take(b, (size_t)edges + 1, sizeof *t->first);
    t->heads = nav__build_take(b, 2 * (size_t)f->found_count, sizeof *t->heads);
    if (!t->first || !t->heads) {
        return false;
    }
    memset(t->first, 0, ((size_t)edges + 1) * sizeof *t->first);
    memset(t->heads, 0xFF, 2 * (size_t)f->found_count * sizeof *t->heads);
    for (uint32_t k = 0; k < f->found_count; k++) {
        t->first[f->found[k].edge[0] + 1]++;
        t->first[f->found[k].edge[1] + 1]++;
    }
    for (uint32_t i = 0; i < edges; i++) {
        t->first[i + 1] += t->first[i];
    }
    return true;
}

/// Best overlaps first, each as far as it is still free.
static bool choose(finder *f)
{
    nav__build *b = f->s->b;
    taken t = {0};
    if (f->found_count > 0) { // qsort takes no null pointer, not even for nothing
        qsort(f->found, f->found_count, sizeof *f->found, best_first);
    }
    uint32_t kept = 0;
    for (uint32_t k = 0; k < f->found_count; k++) { // most pairs were met from both sides
        const overlap *o = &f->found[k];
        if (kept == 0 || o->edge[0] != f->found[kept - 1].edge[0] || o->edge[1] != f->found[kept - 1].edge[1]) {
            f->found[kept++] = *o;
        }
    }
    f->found_count = kept;
    bool good = prepare_taken(f, &t);
    for (uint32_t k = 0; good && k < f->found_count; k++) {
        good = add_portal(f->s, &t, &f->found[k]);
    }
    nav__build_give(b, t.first);
    nav__build_give(b, t.heads);
    nav__build_give(b, t.entries);
    return good;
}

nav_status nav__seam_find(nav__seam *s)
{
    nav__build *b = s->b;
    finder f = {.s = s, .pairs_left = MOST_PAIRS + (uint64_t)MOST_PAIRS_PER_EDGE * s->open_count};
    bool good = index_ends(&f) && fill_grid(&f);
    for (uint32_t i = 0; good && i < s->open_count && f.pairs_left > 0; i++) {
        good = read_edge(&f, i);
    }
    if (good && f.pairs_left == 0) {
        nav__build_warn(b, "too many edges lie on top of each other: not all that overlap were joined");
    }
    if (good && f.kept_apart > 0) {
        nav__build_warn(b, "edges of different parts of the file (nodes, meshes) overlap in part: they stay closed");
    }
    good = good && (f.found_count == 0 || choose(&f));
    nav__build_give(b, f.grid.first);
    nav__build_give(b, f.grid.edges);
    nav__build_give(b, f.grid.heads);
    nav__build_give(b, f.grid.next);
    nav__build_give(b, f.stamp);
    nav__build_give(b, f.found);
    return good ? NAV_OK : nav__build_no_memory(b);
}
