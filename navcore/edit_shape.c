/// Shapes to convex parts on the ground plane, grown by the agent's radius.
#include "build.h"
#include "edit.h"

#include <float.h>
#include <stdlib.h>

static const double LARGEST = 1e9; ///< coordinate or size
enum { LEAST_CORNERS = 16, MOST_CORNERS = 64 };

uint32_t nav__circle_corners(double radius, double excess)
{
    double n = LEAST_CORNERS;
    if (excess > 0 && radius > 0) {
        n = ceil(acos(-1) / acos(radius / (radius + excess)) - 1e-9);
    }
    return n < LEAST_CORNERS ? LEAST_CORNERS : n > MOST_CORNERS ? MOST_CORNERS : (uint32_t)n;
}

static int by_place(const void *a, const void *b)
{
    const nav__p2 *p = a, *q = b;
    return p->x != q->x ? (p->x < q->x ? -1 : 1) : (p->z > q->z) - (p->z < q->z);
}

static void *take(const nav_editor *e, size_t bytes)
{
    return e->alloc.resize(e->alloc.ctx, NULL, bytes);
}

static void give(const nav_editor *e, void *p)
{
    if (p) {
        e->alloc.resize(e->alloc.ctx, p, 0);
    }
}

/// Andrew's monotone chain ("Another Efficient Algorithm for Convex Hulls in Two Dimensions", 1979).
bool nav__part_hull(const nav_editor *e, nav__p2 *points, uint32_t count, nav__part *part)
{
    for (uint32_t i = 0; i < count; i++) {
        points[i] = (nav__p2){nav__as_float(points[i].x), nav__as_float(points[i].z)};
    }
    qsort(points, count, sizeof *points, by_place);
    nav__p2 *hull = take(e, (2 * (size_t)count + 1) * sizeof *hull);
    if (!hull) {
        return false;
    }
    uint32_t n = 0;
    for (uint32_t pass = 0, least = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < count; i++) {
            nav__p2 p = points[pass == 0 ? i : count - 1 - i];
            while (n >= least + 2 && nav__orient(hull[n - 2], hull[n - 1], p) <= 0) {
                n--;
            }
            if (n == least || hull[n - 1].x != p.x || hull[n - 1].z != p.z) {
                hull[n++] = p;
            }
        }
        n -= n > 0; // the last is the first of the other half
        least = n;
    }
    *part = (nav__part){.at = hull, .count = n, .low = points[0], .high = points[0]};
    for (uint32_t i = 0; i < n; i++) {
        part->low = (nav__p2){fmin(part->low.x, hull[i].x), fmin(part->low.z, hull[i].z)};
        part->high = (nav__p2){fmax(part->high.x, hull[i].x), fmax(part->high.z, hull[i].z)};
    }
    return true;
}

/// What is wrong with a shape; the message for people.
typedef struct complaint {
    const char *member;
    nav_error *error;
} complaint;

static nav_status bad(complaint *c, const char *member, const char *what)
{
    c->member = member;
    return nav_fail(c->error, NAV_BAD_ARGUMENT, 0, NAV_NO_BYTE, "%s %s", member, what);
}

static bool is_place(nav_vec p)
{
    return fabs(p.x) <= LARGEST && fabs(p.y) <= LARGEST && fabs(p.z) <= LARGEST;
}

static nav_status check(const nav_shape *s, complaint *c)
{
    if (s->kind != NAV_SHAPE_PRISM && !is_place(s->center)) {
        return bad(c, "center", "is not finite, or beyond 1e9");
    }
    switch (s->kind) {
    case NAV_SHAPE_CYLINDER:
        if (!(s->radius > 0 && s->radius <= LARGEST)) {
            return bad(c, "radius", "must be above 0 and at most 1e9");
        }
        return s->height >= 0 && s->height <= LARGEST ? NAV_OK : bad(c, "height", "must be from 0 to 1e9");
    case NAV_SHAPE_BOX:
        if (!(s->half_extents.x > 0 && s->half_extents.z > 0 && s->half_extents.y >= 0 && is_place(s->half_extents))) {
            return bad(c, "half_extents", "must be above 0 (upwards at least 0) and at most 1e9");
        }
        return isfinite(s->yaw) ? NAV_OK : bad(c, "yaw", "is not finite");
    case NAV_SHAPE_PRISM:
        if (!(fabs(s->min) <= LARGEST)) {
            return bad(c, "min", "is not finite, or beyond 1e9");
        }
        if (!(fabs(s->max) <= LARGEST && s->max >= s->min)) {
            return bad(c, "max", "is below min, not finite, or beyond 1e9");
        }
        if (s->point_count < 3 || s->point_count > NAV_SHAPE_POINTS_MAX) {
            return bad(c, "points", "must be 3 to 4096");
        }
        for (uint32_t i = 0; i < s->point_count; i++) {
            if (!(fabs(s->points[i].x) <= LARGEST && fabs(s->points[i].z) <= LARGEST)) {
                return bad(c, "points", "has one that is not finite, or beyond 1e9");
            }
        }
        return NAV_OK;
    }
    return bad(c, "shape", "is none that is known");
}

/// Adds the sum of a convex outline and a polygon round the circle of radius `grow`.
static bool add_grown(const nav_editor *e, nav__body *b, const nav__p2 *at, uint32_t n, double grow)
{
    uint32_t round = grow > 0 ? LEAST_CORNERS : 1;
    double reach = grow > 0 ? grow / cos(acos(-1) / round) : 0;
    nav__p2 *points = take(e, (size_t)n * round * sizeof *points);
    nav__part *parts = e->alloc.resize(e->alloc.ctx, b->parts, (b->part_count + 1) * sizeof *parts);
    b->parts = parts ? parts : b->parts;
    bool made = points && parts;
    for (uint32_t i = 0; made && i < n; i++) {
        for (uint32_t k = 0; k < round; k++) {
            double angle = 2 * acos(-1) * k / round;
            points[i * round + k] = (nav__p2){at[i].x + reach * cos(angle), at[i].z + reach * sin(angle)};
        }
    }
    made = made && nav__part_hull(e, points, n * round, &b->parts[b->part_count]);
    if (made && b->parts[b->part_count].count < 3) {
        give(e, b->parts[b->part_count].at); // thinner than a float
    } else {
        b->part_count += made;
    }
    give(e, points);
    return made;
}

static nav__p2 relative(const nav_editor *e, nav_vec p)
{
    return (nav__p2){p.x - e->base.origin.x, p.z - e->base.origin.z};
}

/// Takes corners out that are the same as, or on a line between, their neighbours. @return how many are left
static uint32_t clean_ring(nav__p2 *at, uint32_t n)
{
    for (bool changed = true; changed && n >= 3;) {
        changed = false;
        for (uint32_t i = 0; i < n && n >= 3; i++) {
            nav__p2 a = at[(i + n - 1) % n], b = at[i], c = at[(i + 1) % n];
            if (nav__orient(a, b, c) == 0) {
                memmove(&at[i], &at[i + 1], (n - 1 - i) * sizeof *at);
                n--;
                changed = true;
            }
        }
    }
    return n;
}

/// A simple polygon in convex pieces, each grown.
static nav_status add_prism(const nav_editor *e, nav__body *b, const nav_shape *s, double grow, complaint *c)
{
    nav__build work = {.alloc = e->alloc, .cut_budget = 20000000};
    nav__pieces pieces = {0};
    nav__p2 *at = nav__build_take(&work, s->point_count, sizeof *at);
    nav__p2 *piece = nav__build_take(&work, s->point_count, sizeof *piece);
    nav_status status = at && piece ? NAV_OK : NAV_NO_MEMORY;
    double area = 0;
    for (uint32_t i = 0; status == NAV_OK && i < s->point_count; i++) {
        nav__p2 p = relative(e, s->points[i]);
        at[i] = (nav__p2){nav__as_float(p.x), nav__as_float(p.z)};
        area += i >= 2 ? nav__cross(nav__sub(at[i - 1], at[0]), nav__sub(at[i], at[0])) : 0;
    }
    for (uint32_t i = 0; status == NAV_OK && area < 0 && i < s->point_count / 2; i++) {
        nav__p2 swap = at[i];
        at[i] = at[s->point_count - 1 - i];
        at[s->point_count - 1 - i] = swap;
    }
    uint32_t n = status == NAV_OK ? clean_ring(at, s->point_count) : 0;
    if (status == NAV_OK && n < 3) {
        status = bad(c, "points", "enclose no area");
    }
    nav__cut_result cut = status == NAV_OK ? nav__ring_cut(&work, at, n, false, &pieces) : NAV__CUT_DONE;
    if (cut != NAV__CUT_DONE) {
        status = cut == NAV__CUT_NO_MEMORY ? NAV_NO_MEMORY : bad(c, "points", "do not make a simple polygon");
    }
    for (uint32_t p = 0; status == NAV_OK && p < pieces.piece_count; p++) {
        uint32_t first = pieces.first[p], count = pieces.first[p + 1] - first;
        for (uint32_t k = 0; k < count; k++) {
            piece[k] = at[pieces.corner[first + k]];
        }
        status = add_grown(e, b, piece, count, grow) ? NAV_OK : NAV_NO_MEMORY;
    }
    nav__build_release(&work);
    return status;
}

static nav_status add_parts(const nav_editor *e, nav__body *b, const nav_shape *s, double grow, complaint *c)
{
    nav__p2 o = relative(e, s->center), at[MOST_CORNERS];
    if (s->kind == NAV_SHAPE_PRISM) {
        b->low_y = s->min;
        b->high_y = s->max;
        return add_prism(e, b, s, grow, c);
    }
    if (s->kind == NAV_SHAPE_BOX) {
        double u = cos(s->yaw), v = sin(s->yaw), x = s->half_extents.x, z = s->half_extents.z;
        const double sx[4] = {-x, x, x, -x}, sz[4] = {-z, -z, z, z};
        for (int i = 0; i < 4; i++) {
            at[i] = (nav__p2){o.x + sx[i] * u + sz[i] * v, o.z - sx[i] * v + sz[i] * u};
        }
        b->low_y = s->center.y - s->half_extents.y;
        b->high_y = s->center.y + s->half_extents.y;
        return add_grown(e, b, at, 4, grow) ? NAV_OK : NAV_NO_MEMORY;
    }
    double radius = s->radius + grow, excess = 0.02 * (grow > 0 ? grow : radius);
    uint32_t n = nav__circle_corners(radius, excess);
    for (uint32_t i = 0; i < n; i++) {
        double angle = 2 * acos(-1) * (i + 0.5) / n, reach = radius / cos(acos(-1) / n);
        at[i] = (nav__p2){o.x + reach * cos(angle), o.z + reach * sin(angle)};
    }
    b->low_y = s->center.y;
    b->high_y = s->center.y + s->height;
    return add_grown(e, b, at, n, 0) ? NAV_OK : NAV_NO_MEMORY;
}

static void set_bounds(const nav_editor *e, nav__body *b)
{
    b->low_y -= e->base.origin.y + e->base.agent.climb + e->base.rounding;
    b->high_y += e->base.rounding - e->base.origin.y;
    b->low = (nav__p2){DBL_MAX, DBL_MAX};
    b->high = (nav__p2){-DBL_MAX, -DBL_MAX};
    for (uint32_t p = 0; p < b->part_count; p++) {
        b->low = (nav__p2){fmin(b->low.x, b->parts[p].low.x), fmin(b->low.z, b->parts[p].low.z)};
        b->high = (nav__p2){fmax(b->high.x, b->parts[p].high.x), fmax(b->high.z, b->parts[p].high.z)};
    }
}

nav_status nav__body_make(const nav_editor *e, const nav_edit *edit, nav__body **out, const char **member,
                          nav_error *error)
{
    complaint c = {NULL, error};
    bool region = edit->kind == NAV_EDIT_REGION;
    const nav_shape *shape = region ? &edit->region.shape : &edit->shape;
    nav_status status = check(shape, &c);
    nav__body *b = status == NAV_OK ? take(e, sizeof *b) : NULL;
    if (status == NAV_OK && b) {
        *b = (nav__body){.is_region = region, .blocks = !region || edit->region.blocked, .paint = edit->region};
        memcpy(b->id, edit->id, sizeof b->id);
        b->id[NAV_ID_MAX] = 0;
        status = add_parts(e, b, shape, region ? 0 : fmax(e->base.agent.radius, 0), &c);
        set_bounds(e, b);
    } else if (status == NAV_OK) {
        status = NAV_NO_MEMORY;
    }
    if (status != NAV_OK && b) {
        nav__body_free(e, b);
    }
    if (status == NAV_NO_MEMORY) {
        nav_fail(error, status, 0, NAV_NO_BYTE, "out of memory while editing the mesh");
    }
    *member = c.member;
    *out = status == NAV_OK ? b : NULL;
    return status;
}

void nav__body_free(const nav_editor *e, nav__body *b)
{
    if (b) {
        for (uint32_t p = 0; p < b->part_count; p++) {
            give(e, b->parts[p].at);
        }
        give(e, b->parts);
        nav__numbers_free(e, &b->cells);
        give(e, b);
    }
}

/// Every part grows from its middle.
static void grow_parts(const nav_editor *e, nav__body *b, double by)
{
    for (uint32_t p = 0; p < b->part_count; p++) {
        nav__part *part = &b->parts[p];
        nav__p2 o = {(part->low.x + part->high.x) / 2, (part->low.z + part->high.z) / 2};
        nav__part grown;
        nav__p2 *at = take(e, part->count * sizeof *at);
        for (uint32_t k = 0; at && k < part->count; k++) {
            double reach = nav__dist(part->at[k], o), scale = reach > 0 ? 1 + by / reach : 1;
            at[k] = (nav__p2){o.x + (part->at[k].x - o.x) * scale, o.z + (part->at[k].z - o.z) * scale};
        }
        if (at && nav__part_hull(e, at, part->count, &grown)) {
            give(e, part->at);
            *part = grown;
        }
        give(e, at);
    }
}

bool nav__edit_nudge(nav_editor *e, uint32_t times)
{
    bool any = false;
    for (uint32_t i = 0; i < e->body_count; i++) {
        nav__body *b = e->bodies[i];
        if (b && b->awkward && !b->leaving) {
            grow_parts(e, b, 3 * e->base.rounding * times);
            b->awkward = false;
            b->arriving = any = true;
            if (!nav__edit_find_cells(e, b)) {
                return false;
            }
        }
    }
    return any;
}
