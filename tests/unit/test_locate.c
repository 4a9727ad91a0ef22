/// Point location against brute force: worlds of several floors, convex and L-shaped polygons, detail
/// triangles, holes and gaps, wound both ways; every floor rule, boxes of every size.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rng.h"
#include "scratch.h"
#include "surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- worlds ----------------------------------------------------------------------------------------

enum { SIDE = 7, MOST_POLYGONS = 256, MOST_CORNERS = 8 };

typedef struct shape {
    nav_vec ring[MOST_CORNERS];
    uint32_t count;
    nav_vec top;  ///< the tip of its detail triangles
    bool has_top; ///< else its height is that of a plane or, with four corners, of the fan round corner 0
    bool l_shaped;
    uint32_t flags;
} shape;

typedef struct world {
    shape shapes[MOST_POLYGONS];
    uint32_t count;
    double climb;
    bool has_l;
    nav_mesh *mesh;
} world;

static double eighths(rng *r, int low, int high)
{
    return rng_between(r, low, high) / 8.0;
}

/// A lattice of vertices 4 apart, shaken; heights on a plane, or free.
static void shake_lattice(nav_vec v[SIDE + 1][SIDE + 1], nav_vec base, bool plane, rng *r)
{
    double sx = rng_between(r, -2, 2) / 4.0, sz = rng_between(r, -2, 2) / 4.0;
    for (int i = 0; i <= SIDE; i++) {
        for (int k = 0; k <= SIDE; k++) {
            double x = 4 * i + eighths(r, -8, 8), z = 4 * k + eighths(r, -8, 8);
            v[i][k] = (nav_vec){base.x + x, base.y + (plane ? sx * x + sz * z : eighths(r, -8, 8)), base.z + z};
        }
    }
}

static void add_quad(world *w, nav_vec v[SIDE + 1][SIDE + 1], int i, int k, bool plane, bool detail, rng *r)
{
    shape *s = &w->shapes[w->count++];
    nav_vec ring[4] = {v[i][k], v[i + 1][k], v[i + 1][k + 1], v[i][k + 1]};
    uint32_t turn = rng_below(r, 4);
    bool back = (plane || detail) && rng_chance(r, 0.5);
    s->count = 4;
    for (uint32_t c = 0; c < 4; c++) {
        s->ring[c] = ring[(turn + (back ? 4 - c : c)) % 4];
    }
    s->has_top = detail;
    // The corners' mean lies inside where they are convex.
    s->top = (nav_vec){0, 0, 0};
    for (int c = 0; c < 4; c++) {
        s->top.x += ring[c].x / 4;
        s->top.y += ring[c].y / 4;
        s->top.z += ring[c].z / 4;
    }
    s->top.y += eighths(r, -12, 12);
}

static void add_l(world *w, nav_vec v[SIDE + 1][SIDE + 1], int i, int k, rng *r)
{
    shape *s = &w->shapes[w->count++];
    nav_vec ring[8] = {v[i][k],         v[i + 1][k],     v[i + 2][k], v[i + 2][k + 1],
                       v[i + 1][k + 1], v[i + 1][k + 2], v[i][k + 2], v[i][k + 1]};
    uint32_t turn = rng_below(r, 8);
    s->count = 8;
    for (uint32_t c = 0; c < 8; c++) {
        s->ring[c] = ring[(turn + c) % 8];
    }
    s->l_shaped = w->has_l = true;
}

static void add_floor(world *w, nav_vec base, rng *r)
{
    nav_vec v[SIDE + 1][SIDE + 1];
    bool plane = rng_chance(r, 0.6), detail = rng_chance(r, 0.4), taken[SIDE][SIDE] = {{false}};
    shake_lattice(v, base, plane, r);
    for (int i = 0; i < SIDE; i++) {
        for (int k = 0; k < SIDE; k++) {
            if (taken[i][k] || rng_chance(r, 0.25)) {
                continue;
            }
            bool room = i + 1 < SIDE && k + 1 < SIDE && !taken[i + 1][k] && !taken[i][k + 1];
            if (plane && room && rng_chance(r, 0.2)) {
                taken[i + 1][k] = taken[i][k + 1] = true;
                add_l(w, v, i, k, r);
            } else {
                add_quad(w, v, i, k, plane, detail && rng_chance(r, 0.7), r);
            }
        }
    }
}

static bool is_convex(const shape *s)
{
    int left = 0, right = 0;
    for (uint32_t k = 0; k < s->count; k++) {
        nav_vec a = s->ring[k], b = s->ring[(k + 1) % s->count], c = s->ring[(k + 2) % s->count];
        double turn = (b.x - a.x) * (c.z - a.z) - (b.z - a.z) * (c.x - a.x);
        left += turn > 0;
        right += turn < 0;
    }
    return left == 0 || right == 0;
}

static void build_world(world *w)
{
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    uint32_t vertices = 0, tops = 0;
    soup.agent.climb = w->climb;
    soup.has_agent = true;
    for (uint32_t p = 0; p < w->count; p++) {
        for (uint32_t k = 0; k < w->shapes[p].count; k++) {
            nav_vec v = w->shapes[p].ring[k];
            assert_int_equal(nav_soup_add_vertex(&soup, v.x, v.y, v.z), NAV_OK);
            vertices++;
        }
    }
    uint32_t first = 0;
    for (uint32_t p = 0; p < w->count; p++) {
        const shape *s = &w->shapes[p];
        uint32_t corners[MOST_CORNERS];
        for (uint32_t k = 0; k < s->count; k++) {
            corners[k] = first + k;
        }
        assert_int_equal(nav_soup_add_polygon(&soup, corners, s->count, 0, s->flags, NULL), NAV_OK);
        if (s->has_top) {
            assert_int_equal(nav_soup_add_detail_vertex(&soup, s->top.x, s->top.y, s->top.z), NAV_OK);
            for (uint32_t k = 0; k < s->count; k++) {
                assert_int_equal(
                    nav_soup_add_detail_tri(&soup, corners[k], corners[(k + 1) % s->count], vertices + tops), NAV_OK);
            }
            tops++;
        }
        first += s->count;
    }
    soup.has_flags = true;
    nav_error error;
    if (nav_mesh_build(&soup, NULL, NULL, &w->mesh, NULL, &error) != NAV_OK) {
        fail_msg("%s", error.message);
    }
    nav_soup_deinit(&soup);
}

/// Quadrangles that the shaking made non-convex, and tops outside their outline, are left out: what the
/// height of such a polygon is nobody says.
static void drop_odd_shapes(world *w)
{
    uint32_t kept = 0;
    for (uint32_t p = 0; p < w->count; p++) {
        if (w->shapes[p].l_shaped || is_convex(&w->shapes[p])) {
            w->shapes[kept++] = w->shapes[p];
        }
    }
    w->count = kept;
}

static world *make_world(uint64_t seed, nav_vec base)
{
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    rng r = rng_seeded(seed);
    int floors = rng_between(&r, 1, 3);
    for (int f = 0; f < floors; f++) {
        add_floor(w, base, &r);
        base.y += 3 + rng_unit(&r);
        base.y = floor(base.y * 8) / 8;
    }
    drop_odd_shapes(w);
    for (uint32_t p = 0; p < w->count; p++) {
        w->shapes[p].flags = 1u << rng_below(&r, 3);
    }
    w->climb = rng_chance(&r, 0.2) ? 0 : 0.5;
    build_world(w);
    return w;
}

static void free_world(world *w)
{
    nav_mesh_destroy(w->mesh);
    free(w);
}

// ---- the rule by brute force -----------------------------------------------------------------------

typedef struct hit {
    uint32_t polygon;
    nav_vec point;
    bool over;
    double distance, counted;
    double margin; ///< how far inside the box the point lies
} hit;

static double cross(nav_vec a, nav_vec b, nav_vec p)
{
    return (b.x - a.x) * (p.z - a.z) - (b.z - a.z) * (p.x - a.x);
}

static nav_vec segment_closest(nav_vec a, nav_vec b, nav_vec p, double *d2)
{
    double dx = b.x - a.x, dz = b.z - a.z;
    double t = fmax(0, fmin(1, ((p.x - a.x) * dx + (p.z - a.z) * dz) / (dx * dx + dz * dz)));
    nav_vec q = {a.x + t * dx, a.y + t * (b.y - a.y), a.z + t * dz};
    *d2 = (q.x - p.x) * (q.x - p.x) + (q.z - p.z) * (q.z - p.z);
    return q;
}

static nav_vec outline_closest(const shape *s, nav_vec p, double *d2)
{
    nav_vec best = s->ring[0];
    *d2 = INFINITY;
    for (uint32_t k = 0; k < s->count; k++) {
        double d;
        nav_vec q = segment_closest(s->ring[k], s->ring[(k + 1) % s->count], p, &d);
        if (d < *d2) {
            *d2 = d;
            best = q;
        }
    }
    return best;
}

/// Even-odd, or on the outline.
static bool is_over(const shape *s, nav_vec p)
{
    bool in = false;
    for (uint32_t k = 0; k < s->count; k++) {
        nav_vec a = s->ring[k], b = s->ring[(k + 1) % s->count];
        if ((a.z > p.z) != (b.z > p.z)) {
            in ^= (cross(a, b, p) > 0) == (b.z > a.z);
        }
    }
    double d2;
    outline_closest(s, p, &d2);
    return in || d2 == 0;
}

static bool triangle_height(nav_vec a, nav_vec b, nav_vec c, nav_vec p, double *y)
{
    double all = cross(a, b, c), wa = cross(b, c, p) / all, wb = cross(c, a, p) / all, wc = cross(a, b, p) / all;
    *y = wa * a.y + wb * b.y + wc * c.y;
    return wa >= -1e-12 && wb >= -1e-12 && wc >= -1e-12;
}

static double height_of(const shape *s, nav_vec p)
{
    double y;
    if (s->l_shaped) { // a plane: any three of its corners that are not in a line
        uint32_t c = 2;
        while (fabs(cross(s->ring[0], s->ring[1], s->ring[c])) < 1) {
            c++;
        }
        triangle_height(s->ring[0], s->ring[1], s->ring[c], p, &y);
        return y;
    }
    for (uint32_t k = 0; k < s->count; k++) {
        nav_vec a = s->has_top ? s->top : s->ring[0];
        if ((s->has_top || (k > 0 && k + 1 < s->count)) &&
            triangle_height(a, s->ring[k], s->ring[(k + 1) % s->count], p, &y)) {
            return y;
        }
    }
    double d2;
    return outline_closest(s, p, &d2).y;
}

static bool brute_hit(const world *w, uint32_t polygon, nav_vec p, const nav_snap *snap, hit *h)
{
    const shape *s = &w->shapes[polygon];
    if (!(s->flags & snap->filter.include) || (s->flags & snap->filter.exclude)) {
        return false;
    }
    double d2;
    *h = (hit){.polygon = polygon, .over = is_over(s, p)};
    h->point = h->over ? (nav_vec){p.x, height_of(s, p), p.z} : outline_closest(s, p, &d2);
    double dx = fabs(h->point.x - p.x), dy = h->point.y - p.y, dz = fabs(h->point.z - p.z);
    h->distance = sqrt(dx * dx + dy * dy + dz * dz);
    h->margin = fmin(snap->half_extents.x - dx, fmin(snap->half_extents.y - fabs(dy), snap->half_extents.z - dz));
    switch (snap->floor) {
    case NAV_FLOOR_NEAREST:
        h->counted = h->over ? fmax(0, fabs(dy) - w->climb) : h->distance;
        break;
    case NAV_FLOOR_BELOW: // all over are better than any beside
        h->counted = h->over ? -1e6 - dy : h->distance;
        h->margin = fmin(h->margin, w->climb - dy);
        break;
    case NAV_FLOOR_ABOVE:
        h->counted = h->over ? -1e6 + dy : h->distance;
        h->margin = fmin(h->margin, w->climb + dy);
        break;
    }
    return true;
}

/// @return how many hits there may be; `sure`: none is within rounding of the box's border
static uint32_t brute_hits(const world *w, nav_vec p, const nav_snap *snap, hit *hits, bool *sure)
{
    uint32_t count = 0;
    *sure = true;
    for (uint32_t i = 0; i < w->count; i++) {
        hit h;
        if (brute_hit(w, i, p, snap, &h)) {
            *sure = *sure && fabs(h.margin) > 1e-3;
            if (h.margin >= 0) {
                hits[count++] = h;
            }
        }
    }
    return count;
}

static const hit *brute_best(const hit *hits, uint32_t count)
{
    const hit *best = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!best || hits[i].counted < best->counted ||
            (hits[i].counted == best->counted && hits[i].distance < best->distance)) {
            best = &hits[i];
        }
    }
    return best;
}

// ---- comparisons -----------------------------------------------------------------------------------

static double apart(nav_vec a, nav_vec b)
{
    return hypot(hypot(a.x - b.x, a.z - b.z), a.y - b.y);
}

static nav_vec random_position(const world *w, rng *r)
{
    const shape *s = &w->shapes[rng_below(r, w->count)];
    nav_vec a = s->ring[rng_below(r, s->count)], b = s->ring[rng_below(r, s->count)];
    switch (rng_below(r, 5)) {
    case 0: // on or over a vertex
        return (nav_vec){a.x, a.y + eighths(r, -16, 16) * rng_below(r, 2), a.z};
    case 1: // on or over the middle of an edge or diagonal
        return (nav_vec){(a.x + b.x) / 2, (a.y + b.y) / 2 + eighths(r, -16, 16), (a.z + b.z) / 2};
    default:
        return (nav_vec){a.x + 12 * (rng_unit(r) - 0.5), a.y + 8 * (rng_unit(r) - 0.5), a.z + 12 * (rng_unit(r) - 0.5)};
    }
}

static nav_snap random_snap(rng *r)
{
    static const double sizes[] = {0, 0.25, 2, 4, 30, 1e9, 1e200};
    nav_snap snap = nav_snap_default();
    if (rng_chance(r, 0.6)) {
        snap.half_extents = (nav_vec){sizes[rng_below(r, 7)], sizes[rng_below(r, 7)], sizes[rng_below(r, 7)]};
    }
    snap.floor = (nav_floor)rng_below(r, 3);
    if (rng_chance(r, 0.3)) {
        snap.filter.exclude = 1u << rng_below(r, 3);
    }
    return snap;
}

static void complain(uint64_t seed, nav_vec p, const nav_snap *snap, const nav_place *got, const hit *want)
{
    print_error("world %llu point %.17g %.17g %.17g box %g %g %g floor %d exclude %x\n", (unsigned long long)seed, p.x,
                p.y, p.z, snap->half_extents.x, snap->half_extents.y, snap->half_extents.z, (int)snap->floor,
                snap->filter.exclude);
    print_error("  got polygon %d (%g %g %g) distance %g inside %d\n", (int)got->polygon, got->point.x, got->point.y,
                got->point.z, got->distance, got->inside);
    if (want) {
        print_error("  want polygon %u (%g %g %g) distance %g over %d counted %g\n", want->polygon, want->point.x,
                    want->point.y, want->point.z, want->distance, want->over, want->counted);
    }
    fail();
}

#define EXPECT(condition)                            \
    do {                                             \
        if (!(condition)) {                          \
            print_error("not so: %s\n", #condition); \
            complain(seed, p, snap, &got, want);     \
        }                                            \
    } while (0)

/// The place is the closest point of its polygon, counts no more than the best, and is told rightly.
static void check_place(const world *w, uint64_t seed, nav_vec p, const nav_snap *snap, nav_place got, const hit *want)
{
    hit named;
    EXPECT(got.polygon < w->count && brute_hit(w, got.polygon, p, snap, &named));
    EXPECT(apart(got.point, named.point) < 1e-5);
    EXPECT(fabs(got.distance - apart(got.point, p)) < 1e-6);
    EXPECT(named.margin > -1e-5);
    EXPECT(named.counted <= want->counted + 1e-5);
    EXPECT(named.counted < want->counted - 1e-9 || named.distance <= want->distance + 1e-5);
    EXPECT(got.inside == named.over || apart((nav_vec){got.point.x, p.y, got.point.z}, p) < 1e-4);
    EXPECT(got.on_mesh == (got.inside && fabs(got.point.y - p.y) <= w->climb) ||
           fabs(fabs(got.point.y - p.y) - w->climb) < 1e-4);
    EXPECT(nav__face_polygon(w->mesh, got.face) == got.polygon &&
           nav__face_cell_at(w->mesh, got.face, nav__ground(w->mesh, got.point)) == got.cell);
}

static void compare_once(const world *w, uint64_t seed, nav_query *query, rng *r, int *compared)
{
    nav_vec p = random_position(w, r);
    nav_snap picked = random_snap(r), *snap = &picked;
    hit hits[MOST_POLYGONS];
    bool sure;
    uint32_t count = brute_hits(w, p, snap, hits, &sure);
    const hit *want = brute_best(hits, count);
    nav_place got;
    bool found = nav_query_nearest(query, w->mesh, p, snap, &got);
    if (!sure) {
        return;
    }
    ++*compared;
    EXPECT(found == (want != NULL));
    EXPECT(found || (got.polygon == NAV_NONE && !got.inside));
    if (found) {
        check_place(w, seed, p, snap, got, want);
    }
    uint32_t over = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (hits[i].over) {
            hits[over++] = hits[i];
        }
    }
    want = brute_best(hits, over);
    found = nav_query_height(query, w->mesh, p, snap, &got);
    EXPECT(found == (want != NULL));
    if (found) {
        check_place(w, seed, p, snap, got, want);
        EXPECT(got.inside);
    }
}

static void nearest_and_height_agree_with_brute_force(void **state)
{
    (void)state;
    nav_query *query = nav_query_create(NULL);
    int compared = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        world *w = make_world(seed, (nav_vec){0, 0, 0});
        rng r = rng_seeded(seed + 77);
        for (int i = 0; i < 300; i++) {
            compare_once(w, seed, query, &r, &compared);
        }
        free_world(w);
    }
    print_message("%d positions\n", compared);
    assert_true(compared > 9000);
    nav_query_destroy(query);
}

static bool takes_flag(const void *ctx, uint32_t cell)
{
    const world *w = ctx;
    return w->mesh->cells[cell].flags == 2;
}

/// Among the cells taken, plain 3D distance.
static void nearest_taken_agrees_with_brute_force(void **state)
{
    (void)state;
    nav_query *query = nav_query_create(NULL);
    nav_snap any = {.half_extents = {INFINITY, INFINITY, INFINITY}, .filter = {.include = 2}};
    const nav_snap *snap = &any;
    for (uint64_t seed = 0; seed < 40; seed++) {
        world *w = make_world(seed, (nav_vec){0, 0, 0});
        rng r = rng_seeded(seed + 78);
        for (int i = 0; i < 100; i++) {
            nav_vec p = random_position(w, &r);
            hit h, best = {.distance = INFINITY};
            const hit *want = &best;
            for (uint32_t k = 0; k < w->count; k++) {
                if (brute_hit(w, k, p, snap, &h) && h.distance < best.distance) {
                    best = h;
                }
            }
            nav_place got;
            bool found = nav__nearest_taken(query, w->mesh, p, takes_flag, w, &got);
            EXPECT(found == (best.distance < INFINITY));
            if (found) {
                EXPECT(w->shapes[got.polygon].flags == 2 && fabs(apart(p, got.point) - got.distance) < 1e-6);
                // A piece of an L may come nearer in space than the L's point nearest on the ground.
                EXPECT(w->has_l ? got.distance < best.distance + 1e-5 : fabs(got.distance - best.distance) < 1e-5);
            }
        }
        free_world(w);
    }
    nav_query_destroy(query);
}

/// The first place is nearest's; each is its polygon's candidate; no floor twice, and every floor straight
/// over or under is there.
static void nearest_many_gives_each_floor_once(void **state)
{
    (void)state;
    enum { CAP = 64 };
    nav_query *query = nav_query_create(NULL);
    for (uint64_t seed = 0; seed < 40; seed++) {
        world *w = make_world(seed, (nav_vec){0, 0, 0});
        rng r = rng_seeded(seed + 79);
        for (int i = 0; i < 200; i++) {
            nav_vec p = random_position(w, &r);
            nav_snap picked = random_snap(&r), *snap = &picked;
            nav_place got, many[CAP];
            const hit *want = NULL;
            bool found = nav_query_nearest(query, w->mesh, p, snap, &got), sure;
            uint32_t count = nav_query_nearest_many(query, w->mesh, p, snap, many, CAP);
            EXPECT((count > 0) == found);
            if (count == 0) {
                continue;
            }
            EXPECT(many[0].face == got.face && apart(many[0].point, got.point) == 0);
            for (uint32_t a = 0; a < count; a++) {
                for (uint32_t b = 0; b < a; b++) {
                    double gap = fabs(many[a].point.y - many[b].point.y);
                    EXPECT(gap > (many[a].inside && many[b].inside ? 0 : w->climb));
                }
            }
            hit hits[MOST_POLYGONS];
            uint32_t hit_count = brute_hits(w, p, snap, hits, &sure);
            for (uint32_t k = 0; sure && k < hit_count; k++) {
                double least = INFINITY;
                for (uint32_t a = 0; a < count; a++) {
                    least = fmin(least, fabs(many[a].point.y - hits[k].point.y));
                }
                EXPECT(!hits[k].over || least < 1e-4 + w->climb);
            }
            uint32_t fewer = nav_query_nearest_many(query, w->mesh, p, snap, many, 1);
            EXPECT(fewer == 1 && many[0].face == got.face);
        }
        free_world(w);
    }
    nav_query_destroy(query);
}

/// An answer printed as 32-bit floats is accepted with no box at all, also far from zero.
static void an_answer_can_be_asked_again(void **state)
{
    (void)state;
    static const double distances[] = {0, 1000, 100000};
    nav_query *query = nav_query_create(NULL);
    nav_snap wide = nav_snap_default(), none = nav_snap_default();
    wide.half_extents = (nav_vec){100, 100, 100};
    none.half_extents = (nav_vec){0, 0, 0};
    for (uint64_t seed = 0; seed < 30; seed++) {
        double far = distances[seed % 3];
        world *w = make_world(seed, (nav_vec){far, far / 100, -far});
        rng r = rng_seeded(seed + 80);
        for (int i = 0; i < 300; i++) {
            nav_vec p = random_position(w, &r);
            nav_place first, again;
            assert_true(nav_query_nearest(query, w->mesh, p, &wide, &first));
            nav_vec printed = {(double)(float)first.point.x, (double)(float)first.point.y,
                               (double)(float)first.point.z};
            if (!nav_query_nearest(query, w->mesh, printed, &none, &again)) {
                fail_msg("world %llu: %.17g %.17g %.17g", (unsigned long long)seed, printed.x, printed.y, printed.z);
            }
            assert_true(apart(again.point, printed) < 1e-4 + far * 2e-7 * 4);
        }
        free_world(w);
    }
    nav_query_destroy(query);
}

// ---- single cases ----------------------------------------------------------------------------------

/// One quadrangle for each row of [x0, x1, z0, z1, y].
static nav_mesh *quads(const double (*rows)[5], uint32_t count)
{
    nav_soup soup;
    nav_mesh *mesh = NULL;
    nav_soup_init(&soup, NULL);
    for (uint32_t i = 0; i < count; i++) {
        const double *q = rows[i];
        nav_soup_add_vertex(&soup, q[0], q[4], q[2]);
        nav_soup_add_vertex(&soup, q[0], q[4], q[3]);
        nav_soup_add_vertex(&soup, q[1], q[4], q[3]);
        nav_soup_add_vertex(&soup, q[1], q[4], q[2]);
        nav_soup_add_polygon(&soup, (uint32_t[]){4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3}, 4, 0, 1, NULL);
    }
    assert_int_equal(nav_mesh_build(&soup, NULL, NULL, &mesh, NULL, NULL), NAV_OK);
    nav_soup_deinit(&soup);
    return mesh;
}

static void expect_nearest(nav_query *q, const nav_mesh *m, nav_vec p, nav_floor which, nav_vec want, double distance)
{
    nav_snap snap = nav_snap_default();
    snap.floor = which;
    nav_place got;
    assert_true(nav_query_nearest(q, m, p, &snap, &got));
    assert_true(apart(got.point, want) < 1e-9);
    assert_true(fabs(got.distance - distance) < 1e-9);
}

static void a_floor_above_another(void **state)
{
    (void)state;
    static const double floors[][5] = {{0, 10, 0, 10, 0}, {0, 4, 0, 10, 3}};
    nav_mesh *m = quads(floors, 2);
    nav_query *q = nav_query_create(NULL);
    expect_nearest(q, m, (nav_vec){2, 2.4, 5}, NAV_FLOOR_NEAREST, (nav_vec){2, 3, 5}, 0.6);
    expect_nearest(q, m, (nav_vec){2, 1.2, 5}, NAV_FLOOR_NEAREST, (nav_vec){2, 0, 5}, 1.2);
    expect_nearest(q, m, (nav_vec){4.3, 3, 5}, NAV_FLOOR_NEAREST, (nav_vec){4, 3, 5}, 0.3);
    expect_nearest(q, m, (nav_vec){4.3, 3, 5}, NAV_FLOOR_BELOW, (nav_vec){4.3, 0, 5}, 3);
    expect_nearest(q, m, (nav_vec){2, 2.4, 5}, NAV_FLOOR_BELOW, (nav_vec){2, 0, 5}, 2.4);
    expect_nearest(q, m, (nav_vec){2, 2.5, 5}, NAV_FLOOR_BELOW, (nav_vec){2, 3, 5}, 0.5);
    expect_nearest(q, m, (nav_vec){2, 1.2, 5}, NAV_FLOOR_ABOVE, (nav_vec){2, 3, 5}, 1.8);
    expect_nearest(q, m, (nav_vec){-1, 1, 5}, NAV_FLOOR_BELOW, (nav_vec){0, 0, 5}, sqrt(2));
    expect_nearest(q, m, (nav_vec){-1, 1, 5}, NAV_FLOOR_ABOVE, (nav_vec){0, 3, 5}, sqrt(5));
    nav_snap snap = nav_snap_default();
    nav_place places[8];
    assert_int_equal(nav_query_nearest_many(q, m, (nav_vec){2, 2.4, 5}, &snap, places, 8), 2);
    assert_true(places[0].point.y == 3 && places[1].point.y == 0);
    assert_int_equal(nav_query_nearest_many(q, m, (nav_vec){-1, 1.4, 5}, &snap, places, 8), 2);
    assert_true(places[0].point.y == 0 && places[1].point.y == 3);
    assert_int_equal(nav_query_nearest_many(q, m, (nav_vec){2, 2.4, 5}, &snap, places, 0), 0);
    snap.half_extents = (nav_vec){0, 0, 0};
    nav_place place;
    assert_false(nav_query_nearest(q, m, (nav_vec){2, 2.4, 5}, &snap, &place));
    assert_int_equal(place.polygon, NAV_NONE);
    assert_true(nav_query_nearest(q, m, (nav_vec){10, 0, 10}, &snap, &place) && place.on_mesh && place.inside);
    nav_query_destroy(q);
    nav_mesh_destroy(m);
}

/// The hole in a floor has four sides and one floor.
static void a_hole_is_one_floor(void **state)
{
    (void)state;
    static const double ring[][5] = {{0, 10, 0, 4, 0}, {0, 4, 4, 6, 0}, {6, 10, 4, 6, 0}, {0, 10, 6, 10, 0}};
    nav_mesh *m = quads(ring, 4);
    nav_query *q = nav_query_create(NULL);
    nav_snap snap = nav_snap_default();
    snap.half_extents = (nav_vec){20, 20, 20};
    nav_place places[8];
    assert_int_equal(nav_query_nearest_many(q, m, (nav_vec){4.5, 0.1, 5}, &snap, places, 8), 1);
    assert_true(apart(places[0].point, (nav_vec){4, 0, 5}) < 1e-12);
    nav_query_destroy(q);
    nav_mesh_destroy(m);
}

static void extreme_positions_are_answered_at_once(void **state)
{
    (void)state;
    static const double rows[][5] = {{0, 10, 0, 10, 0}, {10, 20, 0, 10, 0}, {0, 4, 0, 10, 3}};
    static const double values[] = {0, 5, 1e-320, -1e-320, 1e9, -1e9, 1e38, -1e38, 1e149, 1e308, -1e308};
    enum { COUNT = sizeof values / sizeof values[0] };
    nav_mesh *m = quads(rows, 3);
    nav_query *q = nav_query_create(NULL);
    for (uint32_t i = 0; i < COUNT * COUNT * COUNT; i++) {
        nav_vec p = {values[i % COUNT], values[i / COUNT % COUNT], values[i / COUNT / COUNT]};
        for (uint32_t k = 0; k < COUNT; k++) {
            nav_snap snap = nav_snap_default();
            snap.half_extents = (nav_vec){fabs(values[k]), fabs(values[k]), fabs(values[k])};
            nav_place place, many[4];
            bool found = nav_query_nearest(q, m, p, &snap, &place);
            double reach = fabs(values[k]), off = fmax(fmax(fabs(p.x) - 20, fabs(p.z) - 10), fabs(p.y) - 3);
            assert_false(found && off > reach + 1e-5);
            assert_true(!found || (isfinite(place.distance) && place.point.x >= 0 && place.point.x <= 20));
            assert_true(found == (nav_query_nearest_many(q, m, p, &snap, many, 4) > 0));
        }
    }
    nav_place place;
    nav_snap wide = nav_snap_default();
    wide.half_extents = (nav_vec){1e9, 1e9, 1e9};
    assert_true(nav_query_nearest(q, m, (nav_vec){1e8, 0, -1e8}, &wide, &place));
    assert_true(apart(place.point, (nav_vec){20, 0, 0}) < 1e-9);
    nav_query_destroy(q);
    nav_mesh_destroy(m);
}

// ---- anchors ---------------------------------------------------------------------------------------

static nav__anchor anchor_at(nav_query *q, const nav_mesh *m, nav_vec p)
{
    nav_snap snap = nav_snap_default();
    nav_place place;
    nav__anchor anchor;
    assert_true(nav_query_nearest(q, m, p, &snap, &place));
    nav__anchor_make(m, &place, &snap.filter, &anchor);
    assert_int_equal(anchor.cells[0], place.cell);
    return anchor;
}

static void anchors_list_all_that_meet(void **state)
{
    (void)state;
    // Two squares that touch in a point, a third floor above that point, and one on the other side of an edge
    // that another area keeps from merging.
    static const double rows[][5] = {{0, 4, 0, 4, 0}, {4, 8, 4, 8, 0}, {0, 8, 0, 8, 5}};
    nav_mesh *m = quads(rows, 3);
    nav_query *q = nav_query_create(NULL);
    assert_int_equal(anchor_at(q, m, (nav_vec){1, 0, 1}).count, 1);
    assert_int_equal(anchor_at(q, m, (nav_vec){4, 0, 2}).count, 1);
    assert_int_equal(anchor_at(q, m, (nav_vec){4, 0, 4}).count, 2);
    assert_int_equal(anchor_at(q, m, (nav_vec){4, 5, 4}).count, 1);
    nav_query_destroy(q);
    nav_mesh_destroy(m);
}

static bool is_inside(const nav_mesh *m, uint32_t cell, nav__p2 p)
{
    bool inside = true;
    for (uint32_t e = m->cells[cell].first_edge; e < m->cells[cell + 1].first_edge; e++) {
        inside = inside && nav__orient(nav__edge_from(m, e), nav__edge_from(m, nav__edge_next(m, e)), p) > 0;
    }
    return inside;
}

/// On random worlds: every listed cell holds the position exactly, it is where the place is, and no cell of
/// the floor that holds it is missing.
static void anchors_are_exact(void **state)
{
    (void)state;
    nav_query *query = nav_query_create(NULL);
    nav_snap wide = nav_snap_default();
    wide.half_extents = (nav_vec){100, 100, 100};
    for (uint64_t seed = 0; seed < 40; seed++) {
        double far = seed % 2 ? 5000.3 : 0;
        world *w = make_world(seed, (nav_vec){far, 0, far});
        const nav_mesh *m = w->mesh;
        rng r = rng_seeded(seed + 81);
        for (int i = 0; i < 200; i++) {
            nav_place place;
            assert_true(nav_query_nearest(query, m, random_position(w, &r), &wide, &place));
            nav__anchor anchor;
            nav__anchor_make(m, &place, &wide.filter, &anchor);
            assert_true(nav__dist(anchor.p, nav__ground(m, place.point)) < 1e-5 + m->rounding * 4);
            assert_true(anchor.count >= 1 && anchor.cells[0] == place.cell);
            uint32_t holding = 0;
            for (uint32_t c = 0; c < m->cell_count; c++) {
                double gap = fabs(nav__cell_height(m, c, anchor.p, NULL) + m->origin.y - place.point.y);
                holding += nav__cell_holds(m, c, anchor.p) && gap <= w->climb + 8 * m->rounding;
            }
            // Where floors run into each other, what is inside one cell is on that one's floor.
            assert_true(holding == anchor.count || (anchor.count == 1 && is_inside(m, place.cell, anchor.p)));
            for (uint32_t k = 0; k < anchor.count; k++) {
                assert_true(nav__cell_holds(m, anchor.cells[k], anchor.p));
            }
        }
        free_world(w);
    }
    nav_query_destroy(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_floor_above_another),
        cmocka_unit_test(a_hole_is_one_floor),
        cmocka_unit_test(extreme_positions_are_answered_at_once),
        cmocka_unit_test(nearest_and_height_agree_with_brute_force),
        cmocka_unit_test(nearest_taken_agrees_with_brute_force),
        cmocka_unit_test(nearest_many_gives_each_floor_once),
        cmocka_unit_test(an_answer_can_be_asked_again),
        cmocka_unit_test(anchors_list_all_that_meet),
        cmocka_unit_test(anchors_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
