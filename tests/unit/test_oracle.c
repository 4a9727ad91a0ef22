/// The oracle that judges the search is judged itself: by scenes worked out by hand, by its own
/// properties, and by the published optimal lengths where the conformance set lies beside the project.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "oracle.h"
#include "random_mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETS "/conformance/polyanya/"

/// Adds an axis-parallel rectangle over existing vertices of a lattice, `n` vertices a row.
static void add_cell(poly_mesh *m, uint32_t n, uint32_t x, uint32_t z)
{
    uint32_t a = z * n + x;
    poly_mesh_add_polygon(m, (uint32_t[]){a, a + 1, a + n + 1, a + n}, 4);
}

/// A square of unit cells; '#' is blocked, '.' free. Row 0 of the text is the lowest z.
static void draw(poly_mesh *m, uint32_t n, const char *const *rows)
{
    poly_mesh_init(m);
    for (uint32_t z = 0; z <= n; z++) {
        for (uint32_t x = 0; x <= n; x++) {
            poly_mesh_add_vertex(m, x, 0, z);
        }
    }
    for (uint32_t z = 0; z < n; z++) {
        for (uint32_t x = 0; x < n; x++) {
            if (rows[z][x] == '.') {
                add_cell(m, n + 1, x, z);
            }
        }
    }
    poly_mesh_link(m);
}

/// The polygon that holds a position; the first of several.
static oracle_point at(const poly_mesh *m, double x, double z)
{
    for (uint32_t p = 0; p < m->poly_count; p++) {
        if (poly_mesh_holds(m, p, x, z, 1e-9)) {
            return (oracle_point){x, z, p};
        }
    }
    return (oracle_point){x, z, NAV_NONE};
}

static void expect_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 * (1 + fabs(want))) && !(isinf(got) && isinf(want))) {
        print_error("%.17g instead of %.17g\n", got, want);
        fail();
    }
}

static void expect_distance(oracle *o, const poly_mesh *m, double ax, double az, double bx, double bz, double want)
{
    expect_near(oracle_distance(o, at(m, ax, az), at(m, bx, bz)), want);
}

static void bends_round_walls(void **state)
{
    (void)state;
    poly_mesh m;
    draw(&m, 3, (const char *const[]){"...", ".#.", "..."});
    oracle *o = oracle_create(&m, NULL, 0);
    expect_distance(o, &m, 0.5, 0.5, 2.5, 0.5, 2);
    expect_distance(o, &m, 0.5, 1.5, 2.5, 1.5, 1 + 2 * sqrt(0.5));
    expect_distance(o, &m, 0, 1, 3, 1, 3); // along the wall's lower side
    expect_distance(o, &m, 1, 1, 2, 2, 2); // round the block, along two of its sides
    expect_distance(o, &m, 0.5, 0.5, 2.5, 2.5, 2 * hypot(1.5, 0.5));
    oracle_destroy(o);
    poly_mesh_deinit(&m);
}

static void does_not_squeeze_through_pinches(void **state)
{
    (void)state;
    poly_mesh m;
    draw(&m, 3, (const char *const[]){"..#", ".#.", "..."});
    oracle *o = oracle_create(&m, NULL, 0);
    // The blocks touch at (2, 1): from the lower left side to the right one only the long way.
    expect_distance(o, &m, 1.5, 0.5, 2.5, 1.5, 2 * hypot(0.5, 0.5) + 2);
    // On the pinch itself either side is at hand.
    assert_true(oracle_ambiguous(o, at(&m, 2, 1)));
    assert_false(oracle_ambiguous(o, at(&m, 1, 1)));
    expect_distance(o, &m, 2, 1, 2.5, 1.5, hypot(0.5, 0.5));
    expect_distance(o, &m, 2, 1, 1.5, 0.5, hypot(0.5, 0.5));
    oracle_destroy(o);
    poly_mesh_deinit(&m);
}

static void passes_along_touching_corners(void **state)
{
    (void)state;
    poly_mesh m;
    // The diagonal touches a wall's corner on its left and one on its right.
    draw(&m, 4, (const char *const[]){"..##", ".#..", "..#.", "##.."});
    oracle *o = oracle_create(&m, NULL, 0);
    expect_distance(o, &m, 0, 0, 0.5, 0.5, hypot(0.5, 0.5));
    expect_distance(o, &m, 0.5, 0.5, 3.5, 3.5, INFINITY);
    oracle_destroy(o);
    poly_mesh_deinit(&m);
    draw(&m, 4, (const char *const[]){"..##", "...#", "#...", "##.."});
    o = oracle_create(&m, NULL, 0);
    expect_distance(o, &m, 0.5, 0.5, 3.5, 3.5, hypot(3, 3));
    expect_distance(o, &m, 0, 2, 4, 3, 1 + hypot(3, 1));
    oracle_destroy(o);
    poly_mesh_deinit(&m);
}

static void closed_polygons_are_walls(void **state)
{
    (void)state;
    poly_mesh m;
    draw(&m, 3, (const char *const[]){"...", "...", "..."});
    bool open[9] = {true, true, true, true, false, true, true, true, true};
    oracle *o = oracle_create(&m, open, 0);
    expect_distance(o, &m, 0.5, 1.5, 2.5, 1.5, 1 + 2 * sqrt(0.5));
    assert_true(isinf(oracle_distance(o, at(&m, 0.5, 0.5), at(&m, 1.5, 1.5))));
    oracle_destroy(o);
    poly_mesh_deinit(&m);
}

static void follows_walks(void **state)
{
    (void)state;
    poly_mesh m;
    draw(&m, 3, (const char *const[]){"..#", ".#.", "..."});
    oracle *o = oracle_create(&m, NULL, 0);
    uint32_t from = at(&m, 1.5, 0.5).polygon, to = at(&m, 2.5, 1.5).polygon;
    assert_true(oracle_walkable(o, (double[]){1.5, 0.5, 1, 1, 1, 2, 2, 2, 2.5, 1.5}, 5, from, to, 1e-9));
    assert_false(oracle_walkable(o, (double[]){1.5, 0.5, 2, 1, 2.5, 1.5}, 3, from, to, 1e-9)); // through the pinch
    assert_false(oracle_walkable(o, (double[]){1.5, 0.5, 2.5, 1.5}, 2, from, to, 1e-9));       // straight through it
    assert_false(
        oracle_walkable(o, (double[]){1.5, 0.5, 1.1, 1.1, 1, 2, 2, 2, 2.5, 1.5}, 5, from, to, 1e-9)); // cuts the block
    assert_false(oracle_walkable(o, (double[]){1.5, 0.5, 1, 1, 1, 2, 2.5, 2.5}, 4, from, to, 1e-9));  // ends elsewhere
    oracle_destroy(o);
    poly_mesh_deinit(&m);
}

/// Round a pillar three times and a half: each sheet lies over the one before.
static void keeps_floors_apart(void **state)
{
    (void)state;
    poly_mesh m;
    poly_mesh_init(&m);
    const int corners[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    for (int i = 0; i <= 14; i++) {
        double x = corners[i % 4][0], z = corners[i % 4][1];
        poly_mesh_add_vertex(&m, x, i * 2.0, z);
        poly_mesh_add_vertex(&m, 3 * x, i * 2.0, 3 * z);
    }
    for (uint32_t i = 0; i < 14; i++) {
        uint32_t a = 2 * i;
        poly_mesh_add_polygon(&m, (uint32_t[]){a, a + 1, a + 3, a + 2}, 4);
    }
    poly_mesh_link(&m);
    oracle *o = oracle_create(&m, NULL, 0);
    // From the middle of the first side to the middle of the same side three turns up: the pillar's
    // outline is 8 round, and both ends are 1 from it.
    oracle_point low = {0, 2, 0}, high = {0, 2, 12}, next = {0, 2, 4};
    expect_near(oracle_distance(o, low, next), 2 * sqrt(2) + 6);
    expect_near(oracle_distance(o, low, high), 2 * sqrt(2) + 6 + 16);
    oracle_destroy(o);
    poly_mesh_deinit(&m);
}

/// Every leg of a best path shows up again in other answers: symmetric, and no detour is shorter.
static void is_a_metric(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        poly_mesh m;
        random_mesh(&m, (random_kind)(seed % RANDOM_KIND_COUNT), seed);
        oracle *o = oracle_create(&m, NULL, 0);
        rng r = rng_seeded(seed);
        for (int i = 0; i < 6; i++) {
            oracle_point a = random_point(&m, &r), b = random_point(&m, &r), c = random_point(&m, &r);
            double ab = oracle_distance(o, a, b), ba = oracle_distance(o, b, a);
            assert_true(ab == ba || fabs(ab - ba) < 1e-9);
            assert_true(ab >= hypot(a.x - b.x, a.z - b.z) - 1e-9);
            assert_int_equal(isfinite(ab), oracle_connected(o, a, b));
            if (!oracle_ambiguous(o, b)) { // through a pinch a path could change sides
                assert_true(ab + oracle_distance(o, b, c) >= oracle_distance(o, a, c) - 1e-9);
            }
        }
        oracle_destroy(o);
        poly_mesh_deinit(&m);
    }
}

// --- The published lengths ---

/// The whole file with a NUL behind it; NULL when there is none.
static char *read_shared(const char *name, size_t *size)
{
    const char *root = getenv("NAVD_SHARED");
    char path[1024];
    snprintf(path, sizeof path, "%s%s%s", root ? root : "../shared", SETS, name);
    FILE *f = fopen(path, "rb");
    if (!f) {
        return NULL;
    }
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char *text = poly_mesh_resize(NULL, *size + 1, 1);
    *size = fread(text, 1, *size, f);
    text[*size] = 0;
    fclose(f);
    return text;
}

/// The numbers of the JSON array (of arrays) behind a key, NULL when the key is missing or null.
static const char *numbers_of(const char *text, const char *key, double *out, int cap, int *count)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *p = strstr(text, quoted);
    *count = 0;
    if (!p) {
        return NULL;
    }
    p += strlen(quoted);
    while (*p && *count < cap && !strchr("\"}n", *p)) {
        char *end;
        double value = strtod(p, &end);
        if (end != p) {
            out[(*count)++] = value;
            p = end;
        } else {
            p++;
        }
    }
    return *count ? p : NULL;
}

/// Polyanya's format, version 2: (x, y) is put at (x, z).
static void read_flat(const char *text, poly_mesh *m)
{
    char *p = strchr(text, '\n');
    strtol(p, &p, 10);
    long vertices = strtol(p, &p, 10), polygons = strtol(p, &p, 10);
    poly_mesh_init(m);
    for (long v = 0; v < vertices; v++) {
        double x = strtod(p, &p), y = strtod(p, &p);
        for (long n = strtol(p, &p, 10); n > 0; n--) {
            strtol(p, &p, 10);
        }
        poly_mesh_add_vertex(m, x, 0, y);
    }
    for (long i = 0; i < polygons; i++) {
        uint32_t corners[256];
        long n = strtol(p, &p, 10);
        assert_in_range(n, 3, 256);
        for (long k = 0; k < n; k++) {
            corners[k] = (uint32_t)strtol(p, &p, 10);
        }
        for (long k = 0; k < n; k++) {
            strtol(p, &p, 10);
        }
        poly_mesh_add_polygon(m, corners, (uint32_t)n);
    }
    poly_mesh_link(m);
}

/// {"vertices":[[x,y,up]…],"polygons":[[…]…]}
static void read_floors(const char *text, poly_mesh *m)
{
    enum { CAP = 20000 };
    double *numbers = poly_mesh_resize(NULL, CAP, sizeof *numbers);
    int count;
    poly_mesh_init(m);
    assert_non_null(numbers_of(text, "vertices", numbers, CAP, &count));
    for (int i = 0; i + 2 < count; i += 3) {
        poly_mesh_add_vertex(m, numbers[i], numbers[i + 2], numbers[i + 1]);
    }
    free(numbers);
    char *p = strstr(text, "\"polygons\":");
    assert_non_null(p);
    p = strchr(p, '[') + 1;
    while ((p = strchr(p, '[')) != NULL) {
        uint32_t corners[64], n = 0;
        for (p++; *p != ']'; p += *p == ',') {
            corners[n++] = (uint32_t)strtol(p, &p, 10);
        }
        poly_mesh_add_polygon(m, corners, n);
        if (p[1] == ']') {
            break;
        }
    }
    poly_mesh_link(m);
}

/// On the floor whose height is nearest; polygon NAV_NONE beside the mesh.
static oracle_point locate(const poly_mesh *m, double x, double z, double y)
{
    oracle_point best = {x, z, NAV_NONE};
    double gap = INFINITY;
    for (uint32_t p = 0; p < m->poly_count; p++) {
        double off = fabs(poly_mesh_height(m, p, x, z) - y);
        if (poly_mesh_holds(m, p, x, z, 1e-7) && off < gap) {
            gap = off;
            best.polygon = p;
        }
    }
    return best;
}

static void check_case(const poly_mesh *m, oracle *o, const char *line, const char *length_key, bool floors)
{
    double a[3] = {0}, b[3] = {0}, want;
    int count;
    assert_non_null(numbers_of(line, "start", a, floors ? 3 : 2, &count));
    assert_non_null(numbers_of(line, "goal", b, floors ? 3 : 2, &count));
    bool found = numbers_of(line, length_key, &want, 1, &count) != NULL;
    oracle_point from = locate(m, a[0], a[1], a[2]), to = locate(m, b[0], b[1], b[2]);
    double got = from.polygon == NAV_NONE || to.polygon == NAV_NONE ? INFINITY : oracle_distance(o, from, to);
    if (found ? fabs(got - want) > 1e-7 * (1 + want) : isfinite(got)) {
        print_error("%s: oracle says %.17g\n", line, got);
        fail();
    }
}

/// Walks one file of cases, mesh by mesh. @return how many were checked; -1 without the file
static int check_set(const char *cases, const char *only, const char *length_key, bool floors)
{
    size_t size;
    char *lines = read_shared(cases, &size), mesh_name[128] = "";
    if (!lines) {
        return -1;
    }
    int checked = 0;
    poly_mesh m = {0};
    oracle *o = NULL;
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        char name[128];
        if (sscanf(line, "{\"mesh\": \"%127[^\"]\"", name) != 1 || strncmp(name, only, strlen(only)) != 0) {
            continue;
        }
        if (strcmp(name, mesh_name) != 0) {
            strcpy(mesh_name, name);
            oracle_destroy(o);
            poly_mesh_deinit(&m);
            char *text = read_shared(name, &size);
            assert_non_null(text);
            (floors ? read_floors : read_flat)(text, &m);
            free(text);
            o = oracle_create(&m, NULL, 0);
        }
        check_case(&m, o, line, length_key, floors);
        checked++;
    }
    oracle_destroy(o);
    poly_mesh_deinit(&m);
    free(lines);
    return checked;
}

static void expect_set(const char *cases, const char *only, const char *length_key, bool floors)
{
    int checked = check_set(cases, only, length_key, floors);
    if (checked < 0) {
        print_message("SKIPPED: no %s; set NAVD_SHARED to the folder that holds conformance/\n", cases);
        skip();
    }
    print_message("%d published lengths of %s* agree\n", checked, only);
    assert_true(checked > 0);
}

static void agrees_on_random_meshes(void **state)
{
    (void)state;
    expect_set("cases.jsonl", "random/", "length", false);
}

static void agrees_on_a_small_map(void **state)
{
    (void)state;
    expect_set("cases.jsonl", "maps/arena", "length", false);
}

static void agrees_on_overlapping_floors(void **state)
{
    (void)state;
    expect_set("cases-multifloor.jsonl", "multifloor/", "length_xy", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bends_round_walls),
        cmocka_unit_test(does_not_squeeze_through_pinches),
        cmocka_unit_test(passes_along_touching_corners),
        cmocka_unit_test(closed_polygons_are_walls),
        cmocka_unit_test(follows_walks),
        cmocka_unit_test(keeps_floors_apart),
        cmocka_unit_test(is_a_metric),
        cmocka_unit_test(agrees_on_random_meshes),
        cmocka_unit_test(agrees_on_a_small_map),
        cmocka_unit_test(agrees_on_overlapping_floors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
