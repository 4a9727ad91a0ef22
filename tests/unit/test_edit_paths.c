/// Paths among obstacles against brute force: a visibility graph over the corners of walls and obstacles and all
/// places where their outlines cross. A straight line is free where the oracle can walk it on the mesh without
/// obstacles and it runs through none of them. Shares no code with navcore.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nav_edit.h"
#include "scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BODIES = 7, CORNERS = 5, MOST_NODES = 1024, PAIRS = 6, AT_NODE = 8 };

static const double HAIR = 1e-5; ///< obstacles' corners are stored as 32-bit floats

typedef struct node {
    double x, z;
    uint32_t polygons[AT_NODE], polygon_count;
} node;

typedef struct field {
    scene s;
    oracle *oracle;
    nav_vec bodies[BODIES][CORNERS];
    uint32_t sizes[BODIES];
    node nodes[MOST_NODES];
    uint32_t count;
} field;

static double cross(double ax, double az, double bx, double bz)
{
    return ax * bz - az * bx;
}

/// Distance from a body's outline, negative inside.
static double body_distance(const field *f, uint32_t b, double x, double z)
{
    bool inside = false;
    double least = INFINITY;
    for (uint32_t i = 0; i < f->sizes[b]; i++) {
        nav_vec p = f->bodies[b][i], q = f->bodies[b][(i + 1) % f->sizes[b]];
        if ((p.z > z) != (q.z > z) && x < p.x + (z - p.z) / (q.z - p.z) * (q.x - p.x)) {
            inside = !inside;
        }
        double dx = q.x - p.x, dz = q.z - p.z, t = ((x - p.x) * dx + (z - p.z) * dz) / (dx * dx + dz * dz);
        t = fmin(fmax(t, 0), 1);
        least = fmin(least, hypot(p.x + t * dx - x, p.z + t * dz - z));
    }
    return inside ? -least : least;
}

static bool is_covered(const field *f, double x, double z)
{
    for (uint32_t b = 0; b < BODIES; b++) {
        if (body_distance(f, b, x, z) < -HAIR) {
            return true;
        }
    }
    return false;
}

static void add_node(field *f, double x, double z)
{
    node n = {.x = x, .z = z};
    for (uint32_t p = 0; p < f->s.mesh.poly_count && n.polygon_count < AT_NODE; p++) {
        if (poly_mesh_holds(&f->s.mesh, p, x, z, 1e-9)) {
            n.polygons[n.polygon_count++] = p;
        }
    }
    if (n.polygon_count > 0 && !is_covered(f, x, z)) {
        assert_true(f->count < MOST_NODES);
        f->nodes[f->count++] = n;
    }
}

/// A node where two stretches cross.
static void add_crossing(field *f, nav_vec a, nav_vec b, nav_vec c, nav_vec d)
{
    double side = cross(b.x - a.x, b.z - a.z, d.x - c.x, d.z - c.z);
    double t = cross(c.x - a.x, c.z - a.z, d.x - c.x, d.z - c.z) / side;
    double u = cross(c.x - a.x, c.z - a.z, b.x - a.x, b.z - a.z) / side;
    if (side != 0 && t >= 0 && t <= 1 && u >= 0 && u <= 1) {
        add_node(f, a.x + t * (b.x - a.x), a.z + t * (b.z - a.z));
    }
}

static nav_vec corner_of(const poly_mesh *m, uint32_t p, uint32_t k)
{
    const double *v = poly_mesh_corner(m, p, k);
    return (nav_vec){v[0], v[1], v[2]};
}

static void collect_nodes(field *f)
{
    const poly_mesh *m = &f->s.mesh;
    f->count = 0;
    for (uint32_t p = 0; p < m->poly_count; p++) {
        for (uint32_t k = 0; k < poly_mesh_size(m, p); k++) {
            nav_vec a = corner_of(m, p, k), b = corner_of(m, p, k + 1);
            if (m->neighbours[m->first[p] + k] != NAV_NONE) {
                continue;
            }
            add_node(f, a.x, a.z);
            for (uint32_t i = 0; i < BODIES; i++) {
                for (uint32_t c = 0; c < f->sizes[i]; c++) {
                    add_crossing(f, a, b, f->bodies[i][c], f->bodies[i][(c + 1) % f->sizes[i]]);
                }
            }
        }
    }
    for (uint32_t i = 0; i < BODIES; i++) {
        for (uint32_t c = 0; c < f->sizes[i]; c++) {
            add_node(f, f->bodies[i][c].x, f->bodies[i][c].z);
            for (uint32_t j = i + 1; j < BODIES; j++) {
                for (uint32_t d = 0; d < f->sizes[j]; d++) {
                    add_crossing(f, f->bodies[i][c], f->bodies[i][(c + 1) % f->sizes[i]], f->bodies[j][d],
                                 f->bodies[j][(d + 1) % f->sizes[j]]);
                }
            }
        }
    }
}

/// Does the line run through a body, and not just along its outline?
static bool runs_through(const field *f, uint32_t body, const node *a, const node *b)
{
    double cuts[CORNERS + 2] = {0, 1};
    uint32_t n = 2;
    for (uint32_t i = 0; i < f->sizes[body]; i++) {
        nav_vec p = f->bodies[body][i], q = f->bodies[body][(i + 1) % f->sizes[body]];
        double side = cross(b->x - a->x, b->z - a->z, q.x - p.x, q.z - p.z);
        double t = cross(p.x - a->x, p.z - a->z, q.x - p.x, q.z - p.z) / side;
        if (side != 0 && t > 0 && t < 1) {
            cuts[n++] = t;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = i + 1; k < n; k++) {
            double t = (cuts[i] + cuts[k]) / 2; // of neighbours among others: one more look does no harm
            if (body_distance(f, body, a->x + t * (b->x - a->x), a->z + t * (b->z - a->z)) < -HAIR) {
                return true;
            }
        }
    }
    return false;
}

static bool sees(const field *f, const node *a, const node *b)
{
    for (uint32_t i = 0; i < BODIES; i++) {
        if (runs_through(f, i, a, b)) {
            return false;
        }
    }
    const double xz[4] = {a->x, a->z, b->x, b->z};
    for (uint32_t i = 0; i < a->polygon_count; i++) {
        for (uint32_t k = 0; k < b->polygon_count; k++) {
            if (oracle_walkable(f->oracle, xz, 2, a->polygons[i], b->polygons[k], 1e-9)) {
                return true;
            }
        }
    }
    return false;
}

/// Ground length of the shortest way between the last two nodes, by Dijkstra. INFINITY: none.
static double shortest(const field *f)
{
    static double way[MOST_NODES];
    static bool done[MOST_NODES];
    uint32_t goal = f->count - 1, at = f->count - 2;
    for (uint32_t i = 0; i < f->count; i++) {
        way[i] = INFINITY;
        done[i] = false;
    }
    way[at] = 0;
    while (at != NAV_NONE && at != goal) {
        done[at] = true;
        for (uint32_t i = 0; i < f->count; i++) {
            double length = way[at] + hypot(f->nodes[i].x - f->nodes[at].x, f->nodes[i].z - f->nodes[at].z);
            if (!done[i] && length < way[i] && sees(f, &f->nodes[at], &f->nodes[i])) {
                way[i] = length;
            }
        }
        at = NAV_NONE;
        for (uint32_t i = 0; i < f->count; i++) {
            if (!done[i] && isfinite(way[i]) && (at == NAV_NONE || way[i] < way[at])) {
                at = i;
            }
        }
    }
    return way[goal];
}

static bool has_pinch(const field *f)
{
    const poly_mesh *m = &f->s.mesh;
    for (uint32_t p = 0; p < m->poly_count; p++) {
        for (uint32_t k = 0; k < poly_mesh_size(m, p); k++) {
            nav_vec a = corner_of(m, p, k);
            if (oracle_ambiguous(f->oracle, (oracle_point){a.x, a.z, p})) {
                return true;
            }
        }
    }
    return false;
}

/// Boxes turned at random, triangles and arrow heads.
static void random_bodies(field *f, rng *r, double extent, nav_edit *edits)
{
    for (uint32_t b = 0; b < BODIES; b++) {
        nav_vec at = random_point_position(&f->s.mesh, random_point(&f->s.mesh, r));
        double size = extent * (0.03 + 0.12 * rng_unit(r)), turn = 6.3 * rng_unit(r);
        const double shapes[3][CORNERS][2] = {{{-1, -0.5}, {1, -0.5}, {1, 0.5}, {-1, 0.5}},
                                              {{-0.6, -0.7}, {1, 0}, {-0.7, 0.6}},
                                              {{0, 0}, {1, -0.6}, {0.3, 0}, {1, 0.6}, {-0.3, 0.1}}};
        const uint32_t sizes[3] = {4, 3, 5};
        uint32_t kind = rng_below(r, 3);
        at.x += 0.0131 * size; // a corner on a corner of a wall to the bit would be a gap of no width
        f->sizes[b] = sizes[kind];
        for (uint32_t k = 0; k < sizes[kind]; k++) {
            double x = size * shapes[kind][k][0], z = size * shapes[kind][k][1];
            f->bodies[b][k] = (nav_vec){at.x + x * cos(turn) - z * sin(turn), 0, at.z + x * sin(turn) + z * cos(turn)};
        }
        edits[b] = (nav_edit){.kind = NAV_EDIT_OBSTACLE};
        snprintf(edits[b].id, sizeof edits[b].id, "b%u", b);
        edits[b].shape = (nav_shape){
            .kind = NAV_SHAPE_PRISM, .points = f->bodies[b], .point_count = sizes[kind], .min = -1, .max = 1};
    }
}

static double extent_of(const poly_mesh *m)
{
    double most = 0;
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        most = fmax(most, fmax(fabs(m->vertices[3 * (size_t)v]), fabs(m->vertices[3 * (size_t)v + 2])));
    }
    return most;
}

/// A place that is surely free.
static nav_vec free_place(const field *f, rng *r)
{
    for (int tries = 0; tries < 1000; tries++) {
        nav_vec p = random_point_position(&f->s.mesh, random_point(&f->s.mesh, r));
        bool clear = true;
        for (uint32_t b = 0; b < BODIES; b++) {
            clear = clear && body_distance(f, b, p.x, p.z) > 1e-3;
        }
        if (clear) {
            return p;
        }
    }
    fail_msg("%s: no free place", scene_name(&f->s));
    return (nav_vec){0, 0, 0};
}

static void check_pair(field *f, rng *r, nav_query *query, const nav_mesh *m)
{
    nav_vec start = free_place(f, r), end = free_place(f, r);
    uint32_t count = f->count;
    add_node(f, start.x, start.z);
    add_node(f, end.x, end.z);
    assert_int_equal(f->count, count + 2);
    double want = shortest(f);
    f->count = count;
    nav_path path;
    nav_path_options options = nav_path_options_default();
    assert_int_equal(nav_query_path(query, m, start, end, &options, &path), NAV_OK);
    bool complete = path.status == NAV_PATH_COMPLETE;
    double got = complete ? ground_length(&path) : INFINITY;
    if (complete != isfinite(want) || (complete && fabs(got - want) > 1e-4 * (1 + want))) {
        fail_msg("%s: (%.9g, %.9g) to (%.9g, %.9g): %.9g, brute force %.9g", scene_name(&f->s), start.x, start.z, end.x,
                 end.z, got, want);
    }
}

static uint32_t run_field(random_kind kind, uint64_t seed, nav_query *query)
{
    static field f;
    nav_edit edits[BODIES];
    assert_true(scene_make(&f.s, kind, seed, seed % 2 ? SCENE_NO_MERGE : 0, NULL));
    f.oracle = oracle_create(&f.s.mesh, NULL, 0);
    uint32_t pairs = 0;
    if (!has_pinch(&f)) {
        rng r = rng_seeded(seed + 4711);
        random_bodies(&f, &r, extent_of(&f.s.mesh), edits);
        nav_editor *editor;
        nav_mesh *half, *m;
        assert_int_equal(nav_editor_create(f.s.nav, NULL, &editor, NULL), NAV_OK);
        assert_int_equal(nav_editor_apply(editor, edits, BODIES / 2, &half, NULL, NULL), NAV_OK);
        assert_int_equal(nav_editor_apply(editor, edits + BODIES / 2, BODIES - BODIES / 2, &m, NULL, NULL), NAV_OK);
        nav_editor_destroy(editor);
        collect_nodes(&f);
        for (; pairs < PAIRS; pairs++) {
            check_pair(&f, &r, query, m);
        }
        nav_mesh_destroy(half);
        nav_mesh_destroy(m);
    }
    oracle_destroy(f.oracle);
    scene_destroy(&f.s);
    return pairs;
}

static void run(random_kind kind, uint64_t seeds)
{
    const char *rounds = getenv("NAVD_TEST_ROUNDS");
    seeds *= rounds ? strtoull(rounds, NULL, 10) : 1;
    nav_query *query = nav_query_create(NULL);
    uint32_t pairs = 0;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        pairs += run_field(kind, seed, query);
    }
    print_message("%u paths\n", pairs);
    assert_true(pairs > 0);
    nav_query_destroy(query);
}

static void triangles(void **state)
{
    (void)state;
    run(RANDOM_TRIANGLES, 60);
}

static void grids(void **state)
{
    (void)state;
    run(RANDOM_GRID, 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangles),
        cmocka_unit_test(grids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
