/// Polygons to clean rings of points: no corner twice in a row, no spikes, ground area, no polygon twice,
/// all wound the same way.
#include "build.h"

/// A face whose normal is nearer to the horizon than this (as a sine) is a wall, not ground.
#define STEEPEST_SINE 1e-3

static bool same_ground(const nav__build *b, uint32_t p, uint32_t q)
{
    const float *a = &b->points[3 * (size_t)p], *c = &b->points[3 * (size_t)q];
    return p == q || (a[0] == c[0] && a[2] == c[2]);
}

/// Does the ring turn straight back at q?
static bool is_spike(const nav__build *b, uint32_t p, uint32_t q, uint32_t r)
{
    nav__p2 a = nav__build_point(b, p), c = nav__build_point(b, q), d = nav__build_point(b, r);
    return nav__orient(a, c, d) == 0 && nav__dot(nav__sub(c, a), nav__sub(d, c)) < 0;
}

/// What the file says of the edge p -> r that is left of a spike p -> q -> r: the longer side covers it.
static uint32_t spike_kind(const nav__build *b, uint32_t p, uint32_t q, uint32_t r, uint32_t pq, uint32_t qr)
{
    nav__p2 a = nav__build_point(b, p), c = nav__build_point(b, q), d = nav__build_point(b, r);
    return nav__dist(a, c) > nav__dist(c, d) ? pq : qr;
}

/// Takes out needless corners on top of the stack points[0 .. n - 1].
static uint32_t settle_top(const nav__build *b, uint32_t *points, uint32_t *kinds, uint32_t n)
{
    for (;;) {
        if (n >= 2 && same_ground(b, points[n - 2], points[n - 1])) {
            kinds[n - 2] = kinds[n - 1];
            n--;
        } else if (n >= 3 && is_spike(b, points[n - 3], points[n - 2], points[n - 1])) {
            kinds[n - 3] = spike_kind(b, points[n - 3], points[n - 2], points[n - 1], kinds[n - 3], kinds[n - 2]);
            points[n - 2] = points[n - 1];
            kinds[n - 2] = kinds[n - 1];
            n--;
        } else {
            return n;
        }
    }
}

/// Cleans a ring in place.
/// @return its new size; below 3: nothing is left
static uint32_t clean_ring(const nav__build *b, uint32_t *points, uint32_t *kinds, uint32_t n)
{
    uint32_t high = 0, low = 0;
    for (uint32_t i = 0; i < n; i++) {
        points[high] = points[i];
        kinds[high] = kinds[i];
        high = settle_top(b, points, kinds, high + 1);
    }
    while (high - low >= 3) { // the same where the ring closes
        uint32_t first = points[low], last = points[high - 1];
        if (same_ground(b, last, first)) {
            high--;
        } else if (is_spike(b, points[high - 2], last, first)) {
            kinds[high - 2] = spike_kind(b, points[high - 2], last, first, kinds[high - 2], kinds[high - 1]);
            high--;
        } else if (is_spike(b, last, first, points[low + 1])) {
            kinds[high - 1] = spike_kind(b, last, first, points[low + 1], kinds[high - 1], kinds[low]);
            low++;
        } else {
            break;
        }
    }
    memmove(points, points + low, (high - low) * sizeof *points);
    memmove(kinds, kinds + low, (high - low) * sizeof *kinds);
    return high - low;
}

/// Twice the ring's area vector (Newell's method, in Sutherland, Sproull, Schumacker, "A Characterization
/// of Ten Hidden-Surface Algorithms", 1974); y is the signed ground area in (x, z).
static nav_vec area_vector(const nav__build *b, const uint32_t *points, uint32_t n)
{
    const float *o = &b->points[3 * (size_t)points[0]];
    nav_vec sum = {0, 0, 0};
    for (uint32_t i = 1; i + 1 < n; i++) {
        const float *p = &b->points[3 * (size_t)points[i]], *q = &b->points[3 * (size_t)points[i + 1]];
        double ax = (double)p[0] - (double)o[0], ay = (double)p[1] - (double)o[1], az = (double)p[2] - (double)o[2];
        double bx = (double)q[0] - (double)o[0], by = (double)q[1] - (double)o[1], bz = (double)q[2] - (double)o[2];
        sum.x += ay * bz - az * by;
        sum.y += ax * bz - az * bx;
        sum.z += ax * by - ay * bx;
    }
    return sum;
}

/// The turn at the corner that is least in (x, z): its sign is the winding of any ring that does not
/// cross itself, exactly, however thin the ring.
static int winding_at_extreme(const nav__build *b, const uint32_t *points, uint32_t n)
{
    uint32_t least = 0;
    for (uint32_t i = 1; i < n; i++) {
        nav__p2 p = nav__build_point(b, points[i]), q = nav__build_point(b, points[least]);
        if (p.x < q.x || (p.x == q.x && p.z < q.z)) {
            least = i;
        }
    }
    double turn = nav__orient(nav__build_point(b, points[(least + n - 1) % n]), nav__build_point(b, points[least]),
                              nav__build_point(b, points[(least + 1) % n]));
    return (turn > 0) - (turn < 0);
}

/// Does the ring stand upright?
static bool is_vertical(const nav__build *b, const uint32_t *points, uint32_t n)
{
    nav_vec v = area_vector(b, points, n);
    double across = hypot(v.x, v.z);
    return across > 0 && fabs(v.y) <= STEEPEST_SINE * across;
}

/// 1: positive, -1: negative, 0: no area.
static int ring_winding(const nav__build *b, const uint32_t *points, uint32_t n)
{
    nav_vec v = area_vector(b, points, n);
    if (n > 3) {
        // A crossed ring (a bow tie) has no winding; a thin one may have an area that is all rounding.
        double reach = 0;
        nav__p2 o = nav__build_point(b, points[0]);
        for (uint32_t i = 1; i < n; i++) {
            nav__p2 d = nav__sub(nav__build_point(b, points[i]), o);
            reach = fmax(reach, d.x * d.x + d.z * d.z);
        }
        if (fabs(v.y) > reach * n * 1e-15) {
            return v.y > 0 ? 1 : -1;
        }
        return winding_at_extreme(b, points, n);
    }
    double turn =
        nav__orient(nav__build_point(b, points[0]), nav__build_point(b, points[1]), nav__build_point(b, points[2]));
    return (turn > 0) - (turn < 0);
}

static void reverse(uint32_t *list, uint32_t n)
{
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t swap = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = swap;
    }
}

/// Corner 0 stays the first: heights are those of the fan round it. Edge k ran from corner k to k + 1, and is
/// edge n - 1 - k seen from the other side.
static void reverse_ring(uint32_t *points, uint32_t *kinds, uint32_t n)
{
    reverse(points + 1, n - 1);
    reverse(kinds, n);
}

/// Finds polygons that run through the same points as an earlier one, either way round.
typedef struct twin_table {
    uint32_t *heads, *next;
    uint32_t mask;
} twin_table;

static uint32_t ring_size(const nav__build *b, uint32_t ring)
{
    return b->rings[ring + 1].first - b->rings[ring].first;
}

static bool same_cycle(const uint32_t *a, const uint32_t *c, uint32_t n, uint32_t start, bool backwards)
{
    for (uint32_t i = 0; i < n; i++) {
        if (a[i] != c[backwards ? (start + n - i) % n : (start + i) % n]) {
            return false;
        }
    }
    return true;
}

static bool same_ring(const nav__build *b, uint32_t r, uint32_t s)
{
    uint32_t n = ring_size(b, r);
    if (n != ring_size(b, s)) {
        return false;
    }
    const uint32_t *a = &b->ring_points[b->rings[r].first], *c = &b->ring_points[b->rings[s].first];
    for (uint32_t start = 0; start < n; start++) {
        if (c[start] == a[0] && (same_cycle(a, c, n, start, false) || same_cycle(a, c, n, start, true))) {
            return true;
        }
    }
    return false;
}

static uint32_t ring_hash(const nav__build *b, uint32_t ring)
{
    uint64_t sum = ring_size(b, ring);
    for (uint32_t k = b->rings[ring].first; k < b->rings[ring + 1].first; k++) {
        uint64_t h = (b->ring_points[k] + 1u) * 0x9E3779B97F4A7C15u;
        sum += (h ^ h >> 29) * 0xBF58476D1CE4E5B9u; // order must not matter
    }
    return (uint32_t)(sum >> 32);
}

/// @return true when an earlier ring is the same; else the ring is entered
static bool seen_before(const nav__build *b, twin_table *t, uint32_t ring)
{
    uint32_t *head = &t->heads[ring_hash(b, ring) & t->mask];
    for (uint32_t r = *head; r != NAV_NONE; r = t->next[r]) {
        if (same_ring(b, ring, r)) {
            return true;
        }
    }
    t->next[ring] = *head;
    *head = ring;
    return false;
}

static bool take_arrays(nav__build *b, twin_table *t)
{
    const nav_soup *s = b->soup;
    uint32_t buckets = 64;
    while (buckets < s->poly_count) {
        buckets *= 2;
    }
    t->mask = buckets - 1;
    t->heads = nav__build_take(b, buckets, sizeof *t->heads);
    t->next = nav__build_take(b, s->poly_count, sizeof *t->next);
    b->rings = nav__build_take(b, (size_t)s->poly_count + 1, sizeof *b->rings);
    b->ring_points = nav__build_take(b, s->corner_count, sizeof *b->ring_points);
    b->ring_kinds = nav__build_take(b, s->corner_count, sizeof *b->ring_kinds);
    if (!t->heads || !t->next || !b->rings || !b->ring_points || !b->ring_kinds) {
        return false;
    }
    memset(t->heads, 0xFF, buckets * sizeof *t->heads);
    return true;
}

/// Appends polygon p's cleaned ring, if it is one.
/// @return its winding as the file has it, 0: no ring
static int add_ring(nav__build *b, twin_table *t, uint32_t p)
{
    const nav_soup *s = b->soup;
    uint32_t from = s->poly_first[p], n = s->poly_first[p + 1] - from, at = b->rings[b->ring_count].first;
    uint32_t *points = &b->ring_points[at], *kinds = &b->ring_kinds[at];
    for (uint32_t k = 0; k < n; k++) {
        points[k] = b->point_of[s->corners[from + k]];
        kinds[k] = s->has_edges ? s->edges[from + k] : NAV_EDGE_ANY;
    }
    bool vertical = n >= 3 && is_vertical(b, points, n);
    n = vertical ? 0 : clean_ring(b, points, kinds, n);
    int winding = n >= 3 ? ring_winding(b, points, n) : 0;
    if (winding == 0) {
        b->report->degenerate_polygons++;
        b->vertical_count += vertical;
        return 0;
    }
    b->rings[b->ring_count].polygon = p;
    b->rings[b->ring_count + 1].first = at + n;
    if (seen_before(b, t, b->ring_count)) {
        b->report->duplicate_polygons++;
        return 0;
    }
    if (winding < 0) {
        reverse_ring(points, kinds, n);
    }
    b->ring_count++;
    return winding;
}

nav_status nav__build_rings(nav__build *b)
{
    twin_table table;
    if (!take_arrays(b, &table)) {
        return nav__build_no_memory(b);
    }
    uint32_t negative = 0;
    b->rings[0].first = 0;
    for (uint32_t p = 0; p < b->soup->poly_count; p++) {
        negative += add_ring(b, &table, p) < 0;
    }
    uint32_t positive = b->ring_count - negative;
    b->report->flipped_polygons = negative < positive ? negative : positive;
    b->report->mixed_winding = negative > 0 && positive > 0;
    nav__build_give(b, table.heads);
    nav__build_give(b, table.next);
    if (b->ring_count == 0) {
        return nav_fail(b->error, NAV_BAD_MESH, 0, NAV_NO_BYTE,
                        b->vertical_count == b->report->degenerate_polygons
                            ? "no polygon has ground area: all stand upright, so the up axis is likely another one"
                            : "no polygon has ground area");
    }
    return NAV_OK;
}
