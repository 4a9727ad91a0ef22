/// Where the points of a way cost least on the edges that they slide on: one by one, and all at once.
///
/// A way over given edges costs a convex function of the points' places on them, a sum of weighted
/// lengths, each of which depends on two neighbours. So Newton's method needs no more than a tridiagonal
/// system a step; sweeps of one-dimensional searches bring the way near enough for it, and go on where it
/// fails, which is where two points meet.
#include "way.h"

static const double SAME_PLACE = 1e-12; ///< along an edge, parts of it
static const double RETRY_GAIN = 1e-9;  ///< part of the cost; a point that saves it has its neighbours looked at again

enum {
    SWEEPS_BEFORE = 2, ///< before Newton's method
    MOST_STEPS = 12,   ///< of Newton's method
    MOST_HALVINGS = 5, ///< of one such step
    MOST_SWEEPS = 40,  ///< after Newton's method
    FEW_SWEEPS = 24,   ///< over points that are not in the way yet
    MOST_PLACE_STEPS = 24
};

// ---- one point -------------------------------------------------------------------------------------

static bool is_passing(const nav__way *way, const nav__way_point *p)
{
    return p->edge != NAV_NONE && nav__leg_rate(way, p) == nav__leg_rate(way, p + 1);
}

/// Where an edge meets the line from a to b on the ground, as a part of the edge; NAN when they are parallel.
static double meet_line(const nav_mesh *m, uint32_t edge, nav_vec a, nav_vec b)
{
    nav_vec d = nav__minus(b, a);
    double side_u = nav__span(d, nav__minus(nav__edge_begin(m, edge), a));
    double side_v = nav__span(d, nav__minus(nav__edge_end(m, edge), a));
    return side_u == side_v ? (double)NAN : side_u / (side_u - side_v);
}

/// Puts a point at a part of its edge; a passing one at the height of the line between a and b.
static void place(const nav_mesh *m, nav__way_point *p, double t, bool passing, nav_vec a, nav_vec b)
{
    p->t = t;
    p->at = nav__between(nav__edge_begin(m, p->edge), nav__edge_end(m, p->edge), t);
    if (passing && t > 0 && t < 1) {
        nav_vec from_a = nav__minus(p->at, a), to_b = nav__minus(b, p->at);
        double before = sqrt(from_a.x * from_a.x + from_a.z * from_a.z),
               after = sqrt(to_b.x * to_b.x + to_b.z * to_b.z);
        p->at.y = before + after > 0 ? a.y + (b.y - a.y) * before / (before + after) : a.y;
    }
}

/// One leg's cost as its end moves along an edge: rate * |origin + t * along - other end|.
typedef struct reach {
    double rate;
    double aa, ab, bb; ///< squared length is aa t^2 + 2 ab t + bb
} reach;

static reach make_reach(double rate, nav_vec origin, nav_vec along, nav_vec other)
{
    nav_vec d = nav__minus(origin, other);
    return (reach){rate, nav__dot3(along, along), nav__dot3(along, d), nav__dot3(d, d)};
}

/// Adds the first and second derivatives by t. Where the leg has no length the first one is that of
/// leaving in direction `sign`.
static void add_slope(const reach *r, double t, double sign, double *first, double *second)
{
    double q = (r->aa * t + 2 * r->ab) * t + r->bb, half = r->aa * t + r->ab;
    if (q <= SAME_PLACE * SAME_PLACE * r->aa) {
        *first += sign * r->rate * sqrt(r->aa);
        return;
    }
    double root = sqrt(q), bend = r->aa * q - half * half;
    *first += r->rate * half / root;
    *second += bend > 0 ? r->rate * bend / (q * root) : 0;
}

/// The place between 0 and 1 where two legs together cost least. Their sum is convex: Newton's method,
/// halving where it would leave what is known to hold the place.
static double best_place(const reach *before, const reach *after, double t)
{
    double first = 0, second = 0;
    add_slope(before, 0, 1, &first, &second);
    add_slope(after, 0, 1, &first, &second);
    if (first >= 0) {
        return 0;
    }
    first = second = 0;
    add_slope(before, 1, -1, &first, &second);
    add_slope(after, 1, -1, &first, &second);
    if (first <= 0) {
        return 1;
    }
    double low = 0, high = 1;
    t = t > 0 && t < 1 ? t : 0.5;
    for (int i = 0; i < MOST_PLACE_STEPS; i++) {
        first = second = 0;
        add_slope(before, t, 0, &first, &second);
        add_slope(after, t, 0, &first, &second);
        if (first > 0) {
            high = t;
        } else {
            low = t;
        }
        double next = second > 0 ? t - first / second : -1;
        if (!(next > low && next < high)) {
            next = low + (high - low) / 2;
        }
        if (fabs(next - t) < SAME_PLACE) {
            return next;
        }
        t = next;
    }
    return t;
}

/// Moves a sliding point to its best place between its neighbours.
/// @return what that saves
static double slide(const nav__way *way, nav__way_point *p)
{
    const nav_mesh *m = way->mesh;
    double rate = nav__leg_rate(way, p), rate_after = nav__leg_rate(way, p + 1);
    nav_vec a = p[-1].at, b = p[1].at;
    double cost = rate * nav__dist3(a, p->at) + rate_after * nav__dist3(p->at, b);
    nav__way_point old = *p;
    if (rate == rate_after) {
        double t = meet_line(m, p->edge, a, b);
        place(m, p, t < 0 ? 0 : t > 1 ? 1 : t == t ? t : p->t, true, a, b);
    } else {
        nav_vec origin = nav__edge_begin(m, p->edge), along = nav__minus(nav__edge_end(m, p->edge), origin);
        reach before = make_reach(rate, origin, along, a), after = make_reach(rate_after, origin, along, b);
        place(m, p, best_place(&before, &after, p->t), false, a, b);
    }
    double gain = cost - rate * nav__dist3(a, p->at) - rate_after * nav__dist3(p->at, b);
    if (gain < 0) {
        *p = old;
        return 0;
    }
    if (gain > RETRY_GAIN * cost) {
        p[-1].tried = p[1].tried = false;
    }
    return gain;
}

/// Slides points between first and last one after the other, to and fro.
static double sweep(const nav__way *way, nav__way_point *points, uint32_t count, int sweeps, double least)
{
    double total = 0;
    for (int i = 0; i < sweeps; i++) {
        double gain = 0;
        for (uint32_t k = 1; k + 1 < count; k++) {
            nav__way_point *p = &points[i % 2 ? count - 1 - k : k];
            if (p->edge != NAV_NONE) {
                gain += slide(way, p);
            }
        }
        total += gain;
        if (gain <= least) {
            break;
        }
    }
    return total;
}

// ---- straight runs ---------------------------------------------------------------------------------

static void straighten(const nav__way *way, nav__way_point *points, uint32_t count)
{
    for (uint32_t first = 0, last; first + 1 < count; first = last) {
        last = first + 1;
        while (last + 1 < count && is_passing(way, &points[last])) {
            last++;
        }
        nav_vec a = points[first].at, b = points[last].at;
        bool clear = last > first + 1;
        double reached = 0;
        for (uint32_t i = first + 1; i < last && clear; i++) {
            uint32_t edge = points[i].edge;
            double t = meet_line(way->mesh, edge, a, b), before = reached;
            nav_vec at = nav__between(nav__edge_begin(way->mesh, edge), nav__edge_end(way->mesh, edge), t);
            reached = (at.x - a.x) * (b.x - a.x) + (at.z - a.z) * (b.z - a.z);
            clear = t >= 0 && t <= 1 && reached >= before;
        }
        for (uint32_t i = first + 1; i < last && clear; i++) {
            place(way->mesh, &points[i], meet_line(way->mesh, points[i].edge, a, b), true, a, b);
        }
    }
}

void nav__way_straighten(nav__way *way)
{
    straighten(way, way->points, way->count);
}

// ---- all at once -----------------------------------------------------------------------------------

/// A row of the tridiagonal system, then of its solution.
typedef struct row {
    double diagonal, after; ///< second derivatives: by this place twice, by it and the next one
    double step;            ///< the right side, then the step to take
    double old;             ///< the place before
} row;

/// First and second derivatives of the legs between `count` sliding points and their two fixed neighbours.
/// @return false where a leg has no length
static bool derive(const nav__way *way, const nav__way_point *points, uint32_t count, row *rows)
{
    const nav_mesh *m = way->mesh;
    nav_vec along_before = {0, 0, 0};
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = (row){.old = points[i].t};
    }
    for (uint32_t i = 0; i <= count; i++) {
        // The leg to points[i]; its ends move by -along_before and along.
        nav_vec along = {0, 0, 0}, r = nav__minus(points[i].at, points[(int64_t)i - 1].at);
        if (i < count) {
            along = nav__minus(nav__edge_end(m, points[i].edge), nav__edge_begin(m, points[i].edge));
            along.y = is_passing(way, &points[i]) ? 0 : along.y;
        }
        double length = sqrt(nav__dot3(r, r)), rate = nav__leg_rate(way, &points[i]);
        if (!(length > 0)) {
            return false;
        }
        double here = nav__dot3(r, along) / length, there = nav__dot3(r, along_before) / length;
        double k = rate / length;
        if (i < count) {
            rows[i].step -= rate * here;
            rows[i].diagonal += k * (nav__dot3(along, along) - here * here);
        }
        if (i > 0) {
            rows[i - 1].step += rate * there;
            rows[i - 1].diagonal += k * (nav__dot3(along_before, along_before) - there * there);
            rows[i - 1].after = i < count ? -k * (nav__dot3(along, along_before) - here * there) : 0;
        }
        along_before = along;
    }
    return true;
}

/// Thomas's algorithm; the matrix is positive definite unless the run is degenerate.
static bool solve(row *rows, uint32_t count)
{
    double before = 0;
    for (uint32_t i = 0; i < count; i++) {
        double pivot = rows[i].diagonal - (i > 0 ? before * rows[i - 1].after : 0);
        if (!(pivot > 1e-9 * rows[i].diagonal)) {
            return false;
        }
        rows[i].step = (rows[i].step - (i > 0 ? before * rows[i - 1].step : 0)) / pivot;
        before = rows[i].after;
        rows[i].after /= pivot;
    }
    for (uint32_t i = count - 1; i-- > 0;) {
        rows[i].step -= rows[i].after * rows[i + 1].step;
    }
    return true;
}

static void take_step(const nav__way *way, nav__way_point *points, uint32_t count, const row *rows, double part)
{
    for (uint32_t i = 0; i < count; i++) {
        double t = rows[i].old + part * rows[i].step, y = points[i].at.y;
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        place(way->mesh, &points[i], t, false, points[i].at, points[i].at);
        if (t > 0 && t < 1 && is_passing(way, &points[i])) {
            points[i].at.y = y;
        }
    }
}

/// Newton's method on a run of sliding points. Steps are cut at the edges' ends and halved until they gain.
static double descend(const nav__way *way, nav__way_point *points, uint32_t count, row *rows, double least)
{
    double total = 0, cost = nav__legs_cost(way, points - 1, count + 2);
    for (int i = 0; i < MOST_STEPS; i++) {
        if (!derive(way, points, count, rows) || !solve(rows, count)) {
            break;
        }
        double part = 1, now = cost;
        for (int k = 0; k <= MOST_HALVINGS; k++, part /= 2) {
            take_step(way, points, count, rows, k == MOST_HALVINGS ? 0 : part);
            now = nav__legs_cost(way, points - 1, count + 2);
            if (now < cost) {
                break;
            }
        }
        double gain = cost - now;
        total += gain;
        cost = now;
        if (gain <= least) {
            break;
        }
        bool ended = false;
        for (uint32_t k = 0; k < count; k++) {
            ended = ended || points[k].t <= 0 || points[k].t >= 1;
        }
        if (ended) {
            break;
        }
    }
    return total;
}

/// Newton's method on every run of points within their edges.
/// @param rows  [count]
static double descend_runs(const nav__way *way, nav__way_point *points, uint32_t count, row *rows, double least)
{
    double gain = 0;
    for (uint32_t first = 1; first + 1 < count;) {
        uint32_t end = first;
        while (end + 1 < count && points[end].edge != NAV_NONE && points[end].t > 0 && points[end].t < 1) {
            end++;
        }
        if (end - first > 1) {
            double saved = descend(way, &points[first], end - first, rows, least);
            if (saved > least) {
                points[first - 1].tried = points[end].tried = false;
            }
            gain += saved;
        }
        first = end + 1;
    }
    return gain;
}

bool nav__way_slide(nav__way *way, double least, double *gain)
{
    row *rows = nav__reserve(way->query, &way->query->way_rows, way->count * sizeof *rows);
    if (!rows) {
        return false;
    }
    *gain += sweep(way, way->points, way->count, SWEEPS_BEFORE, least);
    *gain += descend_runs(way, way->points, way->count, rows, least);
    *gain += sweep(way, way->points, way->count, MOST_SWEEPS, least);
    return true;
}

void nav__way_slide_few(const nav__way *way, nav__way_point *points, uint32_t count, double least)
{
    // Sweeps alone crawl where edges lie close together, as the spokes of a vertex do.
    row rows[NAV__WAY_FEW];
    straighten(way, points, count);
    sweep(way, points, count, SWEEPS_BEFORE, least);
    descend_runs(way, points, count, rows, least);
    sweep(way, points, count, FEW_SWEEPS, least);
}
