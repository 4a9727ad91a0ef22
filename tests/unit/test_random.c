/// Random places: as many in each part of the surface as its area says (chi-square), only where they may be,
/// and the same for the same seed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nav_surface.h"
#include "scene.h"
#include "small_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- chi-square ------------------------------------------------------------------------------------

/// How many standard deviations the statistic lies above what `bins` bins should give (Wilson and Hilferty,
/// "The Distribution of Chi-Square", PNAS 1931).
static double chi_square(const uint32_t *counts, const double *areas, uint32_t bins, uint32_t total)
{
    double area = 0, statistic = 0, used = 0;
    for (uint32_t i = 0; i < bins; i++) {
        area += areas[i];
    }
    for (uint32_t i = 0; i < bins; i++) {
        double expected = total * areas[i] / area;
        if (expected > 0) {
            statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
            used++;
        }
    }
    double freedom = used - 1, k = 2 / (9 * freedom);
    return freedom < 1 ? 0 : (cbrt(statistic / freedom) - (1 - k)) / sqrt(k);
}

/// Of one run; 4.5 is passed by chance once in 300,000 runs.
static const double DOUBTFUL = 4.5;

// ---- anywhere --------------------------------------------------------------------------------------

static nav_random draw(nav_query *query, const nav_mesh *mesh, const nav_random_options *options)
{
    nav_random random;
    assert_int_equal(nav_query_random(query, mesh, options, &random), NAV_OK);
    return random;
}

/// The open polygon at the height of a place; NAV_NONE: none.
static uint32_t polygon_of(const poly_mesh *m, const bool *open, nav_vec p)
{
    for (uint32_t i = 0; i < m->poly_count; i++) {
        if (open[i] && poly_mesh_holds(m, i, p.x, p.z, 1e-9) && fabs(poly_mesh_height(m, i, p.x, p.z) - p.y) < 1e-3) {
            return i;
        }
    }
    return NAV_NONE;
}

static bool *open_polygons(const scene *s, const nav_filter *filter)
{
    bool *open = poly_mesh_resize(NULL, s->mesh.poly_count, sizeof *open);
    for (uint32_t p = 0; p < s->mesh.poly_count; p++) {
        open[p] = !s->mesh.has_flags || !(s->mesh.flags[p] & filter->exclude);
    }
    return open;
}

static void places_are_uniform_by_area(void **state)
{
    (void)state;
    enum { PER_POLYGON = 30 };
    nav_query *query = nav_query_create(NULL);
    for (uint64_t seed = 0; seed < 80; seed++) {
        scene s;
        unsigned variant = (unsigned)(seed / 4 % 2 ? SCENE_FLAGS : 0) | (seed / 8 % 2 ? SCENE_NO_MERGE : 0);
        assert_true(scene_make(&s, (random_kind)(seed % RANDOM_KIND_COUNT), seed, variant, NULL));
        nav_random_options options = nav_random_options_default();
        options.count = PER_POLYGON * s.mesh.poly_count;
        options.seed = seed;
        options.snap.filter.exclude = variant & SCENE_FLAGS ? 2 : 0;
        bool *open = open_polygons(&s, &options.snap.filter);
        uint32_t *counts = calloc(s.mesh.poly_count, sizeof *counts), any = 0;
        double *areas = calloc(s.mesh.poly_count, sizeof *areas);
        for (uint32_t p = 0; p < s.mesh.poly_count; p++) {
            areas[p] = open[p] ? poly_mesh_area(&s.mesh, p) : 0;
            any += open[p];
        }
        nav_random random = draw(query, s.nav, &options);
        assert_true(random.found == (any > 0) && random.point_count == (any ? options.count : 0));
        for (uint32_t i = 0; i < random.point_count; i++) {
            uint32_t p = polygon_of(&s.mesh, open, random.points[i]);
            assert_true(p != NAV_NONE);
            counts[p]++;
        }
        double off = any ? chi_square(counts, areas, s.mesh.poly_count, random.point_count) : 0;
        if (off > DOUBTFUL) {
            fail_msg("%s: %g standard deviations", scene_name(&s), off);
        }
        free(open);
        free(counts);
        free(areas);
        scene_destroy(&s);
    }
    nav_query_destroy(query);
}

/// Also inside a polygon: a square and a triangle cut into equal bins.
static void places_are_uniform_inside(void **state)
{
    (void)state;
    enum { SIDE = 10, COUNT = 100000 };
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 10, 0, 10, 2);
    uint32_t corners[3] = {small_mesh_vertex(&s, 20, 0, 0), small_mesh_vertex(&s, 20, 0, 10),
                           small_mesh_vertex(&s, 30, 0, 0)};
    small_mesh_polygon(&s, 3, corners);
    small_mesh_build(&s);
    nav_random_options options = nav_random_options_default();
    options.count = COUNT;
    options.seed = 5;
    nav_random random = draw(s.query, s.nav, &options);
    static uint32_t counts[2 * SIDE * SIDE];
    static double areas[2 * SIDE * SIDE];
    for (int j = 0; j < SIDE; j++) {
        for (int i = 0; i < SIDE; i++) {
            areas[j * SIDE + i] = 1;
            areas[(SIDE + j) * SIDE + i] = i + j < SIDE - 1 ? 1 : i + j == SIDE - 1 ? 0.5 : 0;
        }
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        nav_vec p = random.points[i];
        bool square = p.x <= 10;
        assert_true(square ? p.x >= 0 && p.z >= 0 && p.z <= 10 && p.y == 2
                           : p.x >= 20 && p.z >= 0 && p.x - 20 + p.z <= 10 + 1e-9 && p.y == 0);
        int column = (int)fmin(square ? p.x : p.x - 20, SIDE - 1), row = (int)fmin(p.z, SIDE - 1);
        counts[(square ? row : SIDE + row) * SIDE + column]++;
    }
    double off = chi_square(counts, areas, 2 * SIDE * SIDE, COUNT);
    print_message("%.2f standard deviations\n", off);
    assert_true(off < DOUBTFUL);
    small_mesh_finish(&s);
}

// ---- around a place --------------------------------------------------------------------------------

typedef struct circle {
    double x, z, radius;
} circle;

/// Area of a triangle's part of a circle, by cutting it into smaller ones.
static double area_in_circle(const double a[2], const double b[2], const double c[2], circle o)
{
    double da = hypot(a[0] - o.x, a[1] - o.z), db = hypot(b[0] - o.x, b[1] - o.z), dc = hypot(c[0] - o.x, c[1] - o.z);
    double area = fabs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2;
    double longest =
        fmax(hypot(a[0] - b[0], a[1] - b[1]), fmax(hypot(b[0] - c[0], b[1] - c[1]), hypot(c[0] - a[0], c[1] - a[1])));
    if (da <= o.radius && db <= o.radius && dc <= o.radius) {
        return area;
    }
    if (fmin(da, fmin(db, dc)) > o.radius + longest) {
        return 0;
    }
    double mx = (a[0] + b[0] + c[0]) / 3, mz = (a[1] + b[1] + c[1]) / 3;
    if (longest < 0.02 * o.radius) {
        return hypot(mx - o.x, mz - o.z) <= o.radius ? area : 0;
    }
    double ab[2] = {(a[0] + b[0]) / 2, (a[1] + b[1]) / 2}, bc[2] = {(b[0] + c[0]) / 2, (b[1] + c[1]) / 2};
    double ca[2] = {(c[0] + a[0]) / 2, (c[1] + a[1]) / 2};
    return area_in_circle(a, ab, ca, o) + area_in_circle(ab, b, bc, o) + area_in_circle(ca, bc, c, o) +
           area_in_circle(ab, bc, ca, o);
}

static double polygon_in_circle(const poly_mesh *m, uint32_t polygon, circle o)
{
    double sum = 0;
    const double *a = poly_mesh_corner(m, polygon, 0);
    for (uint32_t k = 1; k + 1 < poly_mesh_size(m, polygon); k++) {
        const double *b = poly_mesh_corner(m, polygon, k), *c = poly_mesh_corner(m, polygon, k + 1);
        sum += area_in_circle((double[]){a[0], a[2]}, (double[]){b[0], b[2]}, (double[]){c[0], c[2]}, o);
    }
    return sum;
}

static void check_around(nav_query *query, const scene *s, const bool *open, const oracle *o,
                         nav_random_options *options, oracle_point from)
{
    enum { COUNT = 2000 };
    const poly_mesh *m = &s->mesh;
    options->has_around = true;
    options->around = random_point_position(m, from);
    options->count = COUNT;
    circle c = {from.x, from.z, options->radius};
    uint32_t *counts = calloc(m->poly_count, sizeof *counts);
    double *areas = calloc(m->poly_count, sizeof *areas), all = 0;
    for (uint32_t p = 0; p < m->poly_count; p++) {
        double x = 0, z = 0, n = poly_mesh_size(m, p);
        for (uint32_t k = 0; k < n; k++) {
            x += poly_mesh_corner(m, p, k)[0] / n;
            z += poly_mesh_corner(m, p, k)[2] / n;
        }
        if (open[p] && oracle_connected(o, from, (oracle_point){x, z, p})) {
            areas[p] = polygon_in_circle(m, p, c);
            all += areas[p];
        }
    }
    nav_random random = draw(query, s->nav, options);
    uint32_t strays = 0;
    assert_true(random.found && random.point_count == COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        nav_vec p = random.points[i];
        assert_true(hypot(p.x - c.x, p.z - c.z) <= c.radius * (1 + 1e-9) + 1e-9);
        uint32_t polygon = polygon_of(m, open, p);
        if (polygon == NAV_NONE) {
            fail_msg("%s: around (%.17g %.17g) on %u, radius %g: (%.17g %.17g %.17g)", scene_name(s), from.x, from.z,
                     from.polygon, c.radius, p.x, p.y, p.z);
        }
        counts[polygon]++;
        strays += areas[polygon] == 0;
    }
    // A place on a border may be found on a polygon that just touches the circle.
    assert_true(strays <= COUNT / 200);
    // The reference's areas are good to one in 10,000 of the circle's.
    for (uint32_t p = 0; p < m->poly_count; p++) {
        if (areas[p] < 1e-2 * all) {
            areas[p] = 0;
            counts[p] = 0;
        }
    }
    uint32_t total = 0;
    for (uint32_t p = 0; p < m->poly_count; p++) {
        total += counts[p];
    }
    double off = chi_square(counts, areas, m->poly_count, total);
    if (off > DOUBTFUL) {
        fail_msg("%s: (%g %g) on %u radius %g: %g standard deviations", scene_name(s), from.x, from.z, from.polygon,
                 c.radius, off);
    }
    free(counts);
    free(areas);
}

static void places_around_are_uniform_and_reachable(void **state)
{
    (void)state;
    nav_query *query = nav_query_create(NULL);
    int asked = 0;
    for (uint64_t seed = 0; seed < 120; seed++) {
        scene s;
        unsigned variant = (unsigned)(seed / 4 % SCENE_TRANSFORM) & ~(unsigned)SCENE_SHUFFLE;
        assert_true(scene_make(&s, (random_kind)(seed % RANDOM_KIND_COUNT), seed, variant, NULL));
        rng r = rng_seeded(seed + 12);
        nav_random_options options = nav_random_options_default();
        options.snap.filter.exclude = variant & SCENE_FLAGS ? 1u << rng_below(&r, 3) : 0;
        options.seed = seed;
        bool *open = open_polygons(&s, &options.snap.filter);
        oracle *o = oracle_create(&s.mesh, open, 0);
        for (int i = 0; i < 3; i++) {
            oracle_point from = random_point(&s.mesh, &r);
            options.radius = exp(7 * rng_unit(&r) - 2);
            // On a vertex where obstacles touch, one may stand in any sector.
            if (open[from.polygon] && !oracle_ambiguous(o, from)) {
                check_around(query, &s, open, o, &options, from);
                asked++;
            }
        }
        oracle_destroy(o);
        free(open);
        scene_destroy(&s);
    }
    print_message("%d circles\n", asked);
    assert_true(asked > 200);
    nav_query_destroy(query);
}

/// In a disc cut by a wall: by angle and by radius.
static void half_a_disc_is_filled_evenly(void **state)
{
    (void)state;
    enum { RINGS = 8, TURNS = 8, COUNT = 100000 };
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, -50, 50, 0, 50, 0);
    small_mesh_build(&s);
    for (int k = 0; k < 3; k++) {
        nav_random_options options = nav_random_options_default();
        options.has_around = true;
        options.count = COUNT;
        options.seed = 17;
        options.radius = 8;
        // On the wall; in the open, where the circle meets none; and beside a corner.
        options.around = (nav_vec){k == 2 ? -50 : 0, 0, k == 1 ? 20 : 0};
        nav_random random = draw(s.query, s.nav, &options);
        static uint32_t counts[RINGS * TURNS];
        static double areas[RINGS * TURNS];
        memset(counts, 0, sizeof counts);
        for (int i = 0; i < RINGS * TURNS; i++) {
            areas[i] = k == 1 || i % TURNS < (k == 0 ? 4 : 2) ? 1 : 0;
        }
        for (uint32_t i = 0; i < COUNT; i++) {
            double x = random.points[i].x - options.around.x, z = random.points[i].z - options.around.z;
            double angle = atan2(z, x);
            angle = angle < 0 ? angle + 2 * acos(-1.0) : angle;
            int ring = (int)((x * x + z * z) / 64 * RINGS), turn = (int)(angle / (2 * acos(-1.0)) * TURNS);
            ring = ring < RINGS ? ring : RINGS - 1;
            counts[ring * TURNS + (turn < TURNS ? turn : TURNS - 1)]++;
        }
        double off = chi_square(counts, areas, RINGS * TURNS, COUNT);
        print_message("%.2f standard deviations\n", off);
        assert_true(off < DOUBTFUL);
    }
    small_mesh_finish(&s);
}

// ---- single cases ----------------------------------------------------------------------------------

static void the_seed_decides(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 10, 0, 10, 0);
    small_mesh_build(&s);
    nav_random_options options = nav_random_options_default();
    options.count = 8;
    options.seed = 42;
    nav_vec first[8];
    memcpy(first, draw(s.query, s.nav, &options).points, sizeof first);
    nav_query *other = nav_query_create(NULL);
    assert_memory_equal(draw(other, s.nav, &options).points, first, sizeof first);
    options.seed = 43;
    assert_true(memcmp(draw(other, s.nav, &options).points, first, sizeof first) != 0);
    // More of the same seed begin with the same.
    options.seed = 42;
    options.count = 100;
    assert_memory_equal(draw(other, s.nav, &options).points, first, sizeof first);
    // The numbers are SplitMix64's, seed 42: cell, triangle, then two for the place.
    uint64_t state64 = 42;
    double unit[4];
    for (int i = 0; i < 4; i++) {
        uint64_t z = (state64 += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        unit[i] = (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
    }
    bool reflected = unit[2] + unit[3] > 1;
    double u = reflected ? 1 - unit[2] : unit[2], v = reflected ? 1 - unit[3] : unit[3];
    double x = first[0].x, z = first[0].z;
    // Which corner the fan begins at is the mesh's affair.
    bool known = false;
    for (int turn = 0; turn < 4; turn++) {
        double a = unit[1] < 0.5 ? 10 * (u + v) : 10 * u, b = unit[1] < 0.5 ? 10 * v : 10 * (u + v);
        double tx = turn == 0 ? a : turn == 1 ? 10 - b : turn == 2 ? 10 - a : b;
        double tz = turn == 0 ? b : turn == 1 ? a : turn == 2 ? 10 - b : 10 - a;
        known = known || (fabs(tx - x) < 1e-9 && fabs(tz - z) < 1e-9);
    }
    assert_true(known);
    nav_query_destroy(other);
    small_mesh_finish(&s);
}

static void islands_and_links(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 4, 0, 4, 0);
    small_mesh_quad(&s, 6, 10, 0, 4, 0);
    small_mesh_quad(&s, 12, 16, 0, 4, 0);
    small_mesh_quad(&s, 0, 16, 0, 4, 9);
    nav_link link = {.id = "jump", .start = {3, 0, 1}, .end = {7, 0, 1}, .radius = 0.5, .cost = -1, .flags = 1};
    assert_int_equal(nav_soup_add_link(&s.soup, &link), NAV_OK);
    small_mesh_build(&s);
    nav_random_options options = nav_random_options_default();
    options.has_around = true;
    options.around = (nav_vec){2, 0, 2};
    options.radius = 100;
    options.count = 1000;
    nav_random random = draw(s.query, s.nav, &options);
    uint32_t counts[2] = {0, 0};
    for (uint32_t i = 0; i < random.point_count; i++) {
        assert_true(random.points[i].y == 0 && random.points[i].x <= 10);
        counts[random.points[i].x > 5]++;
    }
    assert_true(counts[0] > 400 && counts[1] > 400);
    // The link leads one way only.
    options.around.x = 8;
    random = draw(s.query, s.nav, &options);
    for (uint32_t i = 0; i < random.point_count; i++) {
        assert_true(random.points[i].x >= 6 && random.points[i].x <= 10);
    }
    small_mesh_finish(&s);
}

static void hardly_any_room(void **state)
{
    (void)state;
    small_mesh s;
    small_mesh_start(&s);
    small_mesh_quad(&s, 0, 1000, 0, 0.001, 0);
    small_mesh_quad(&s, 2000, 2001, 0, 1, 0);
    small_mesh_build(&s);
    nav_random_options options = nav_random_options_default();
    options.has_around = true;
    options.count = 1000;
    options.around = (nav_vec){500, 0, 0.0005};
    const double radii[] = {400, 1e-3, 1e-9, 1e-170, 0, 1e38, 1e200, INFINITY};
    for (int k = 0; k < 8; k++) {
        options.radius = radii[k];
        nav_random random = draw(s.query, s.nav, &options);
        assert_true(random.found && random.point_count == 1000);
        for (uint32_t i = 0; i < 1000; i++) {
            nav_vec p = random.points[i];
            assert_true(p.x >= 0 && p.x <= 1000 && p.z >= 0 && p.z <= 0.001001);
            assert_true(hypot(p.x - 500, p.z - 0.0005) <= radii[k] * (1 + 1e-9) + 1e-6);
        }
    }
    // Beside the mesh: only what is as near to the place asked about as that.
    options.around = (nav_vec){500, 0, 1};
    options.radius = 0.5;
    assert_false(draw(s.query, s.nav, &options).found);
    options.radius = 2;
    assert_true(draw(s.query, s.nav, &options).found);
    options.around = (nav_vec){500, 0, 100};
    assert_false(draw(s.query, s.nav, &options).found);
    options.radius = -1;
    nav_random random;
    assert_int_equal(nav_query_random(s.query, s.nav, &options, &random), NAV_BAD_ARGUMENT);
    options.radius = NAN;
    assert_int_equal(nav_query_random(s.query, s.nav, &options, &random), NAV_BAD_ARGUMENT);
    options.radius = 1;
    options.around.y = INFINITY;
    assert_int_equal(nav_query_random(s.query, s.nav, &options, &random), NAV_BAD_ARGUMENT);
    assert_true(!random.found && random.point_count == 0);
    // None asked for.
    options = nav_random_options_default();
    options.count = 0;
    random = draw(s.query, s.nav, &options);
    assert_true(random.found && random.point_count == 0);
    small_mesh_finish(&s);
}

static void memory(void **state)
{
    (void)state;
    scene s;
    assert_true(scene_make(&s, RANDOM_TRIANGLES, 77, SCENE_FLAGS, NULL));
    for (size_t refuse = 1; refuse < 8; refuse++) {
        test_alloc a;
        test_alloc_init(&a);
        a.refuse_from = refuse;
        nav_query *query = nav_query_create(&a.alloc);
        for (int round = 0; query && round < 3; round++) {
            a.refuse_from = round ? 0 : refuse;
            a.calls = round == 0 ? a.calls : 0;
            rng r = rng_seeded(3);
            for (int i = 0; i < 100; i++) {
                nav_random_options options = nav_random_options_default();
                options.snap.filter.exclude = i % 3 ? 1 : 0;
                options.has_around = i % 4 > 0;
                options.around = random_point_position(&s.mesh, random_point(&s.mesh, &r));
                options.radius = 40 * rng_unit(&r);
                options.count = 50;
                nav_random random;
                nav_status status = nav_query_random(query, s.nav, &options, &random);
                assert_true(status == NAV_OK || (round == 0 && status == NAV_NO_MEMORY));
            }
            assert_true(round < 2 || a.calls == 0);
        }
        nav_query_destroy(query);
    }
    scene_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_uniform_by_area),
        cmocka_unit_test(places_are_uniform_inside),
        cmocka_unit_test(places_around_are_uniform_and_reachable),
        cmocka_unit_test(half_a_disc_is_filled_evenly),
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(islands_and_links),
        cmocka_unit_test(hardly_any_room),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
