#include "random_mesh.h"

#include "stairwell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- Delaunay triangles ---

#define MOST_POINTS 128
#define MOST_TRIANGLES 1024

typedef struct point2 {
    int64_t x, z;
} point2;

typedef struct triangle {
    int v[3];
} triangle;

/// Points 0 .. 2 are a triangle round all others.
typedef struct delaunay {
    point2 points[MOST_POINTS + 3];
    int point_count;
    triangle triangles[MOST_TRIANGLES];
    int triangle_count;
} delaunay;

static int64_t turn(point2 a, point2 b, point2 c)
{
    return (b.x - a.x) * (c.z - a.z) - (b.z - a.z) * (c.x - a.x);
}

/// Is p inside the circle round the anticlockwise triangle abc? Exact: coordinates are below 2^13, so the
/// determinant stays below 2^58.
static bool in_circle(point2 a, point2 b, point2 c, point2 p)
{
    int64_t ax = a.x - p.x, az = a.z - p.z, bx = b.x - p.x, bz = b.z - p.z, cx = c.x - p.x, cz = c.z - p.z;
    int64_t a2 = ax * ax + az * az, b2 = bx * bx + bz * bz, c2 = cx * cx + cz * cz;
    return a2 * (bx * cz - bz * cx) + b2 * (cx * az - cz * ax) + c2 * (ax * bz - az * bx) > 0;
}

/// Bowyer (1981), Watson (1981): takes out the triangles whose circle holds the new point and joins the
/// point to the edges of the hole.
static void delaunay_add(delaunay *d, int point)
{
    int edges[3 * MOST_TRIANGLES][2], edge_count = 0;
    for (int t = 0; t < d->triangle_count;) {
        const int *v = d->triangles[t].v;
        if (!in_circle(d->points[v[0]], d->points[v[1]], d->points[v[2]], d->points[point])) {
            t++;
            continue;
        }
        for (int k = 0; k < 3; k++) {
            edges[edge_count][0] = v[k];
            edges[edge_count++][1] = v[(k + 1) % 3];
        }
        d->triangles[t] = d->triangles[--d->triangle_count];
    }
    for (int i = 0; i < edge_count; i++) {
        bool inner = false;
        for (int k = 0; k < edge_count && !inner; k++) {
            inner = edges[k][0] == edges[i][1] && edges[k][1] == edges[i][0];
        }
        if (!inner && d->triangle_count < MOST_TRIANGLES) {
            d->triangles[d->triangle_count++] = (triangle){{edges[i][0], edges[i][1], point}};
        }
    }
}

static void random_delaunay(delaunay *d, rng *r)
{
    int side = rng_between(r, 8, 250), wanted = rng_between(r, 4, rng_chance(r, 0.2) ? 100 : 40);
    d->points[0] = (point2){-2000, -2000};
    d->points[1] = (point2){4000, -2000};
    d->points[2] = (point2){-2000, 4000};
    d->point_count = 3;
    d->triangles[0] = (triangle){{0, 1, 2}};
    d->triangle_count = 1;
    for (int i = 0; i < wanted; i++) {
        point2 p = {rng_between(r, 0, side), rng_between(r, 0, side)};
        bool known = false;
        for (int k = 3; k < d->point_count; k++) {
            known |= d->points[k].x == p.x && d->points[k].z == p.z;
        }
        if (!known) {
            d->points[d->point_count] = p;
            delaunay_add(d, d->point_count++);
        }
    }
}

static void make_triangles(poly_mesh *mesh, rng *r)
{
    delaunay d;
    random_delaunay(&d, r);
    for (int i = 3; i < d.point_count; i++) {
        poly_mesh_add_vertex(mesh, (double)d.points[i].x * 2, 0, (double)d.points[i].z * 2);
    }
    double holes = 0.6 * rng_unit(r) * rng_unit(r);
    for (int t = 0; t < d.triangle_count; t++) {
        const int *v = d.triangles[t].v;
        if (v[0] < 3 || v[1] < 3 || v[2] < 3 || turn(d.points[v[0]], d.points[v[1]], d.points[v[2]]) <= 0 ||
            (mesh->poly_count > 0 && rng_chance(r, holes))) {
            continue;
        }
        uint32_t corners[3] = {(uint32_t)v[0] - 3, (uint32_t)v[1] - 3, (uint32_t)v[2] - 3};
        poly_mesh_add_polygon(mesh, corners, 3);
    }
    for (int rounds = rng_between(r, 0, 3); rounds > 0; rounds--) {
        poly_mesh_link(mesh);
        poly_mesh_merge(mesh, r, mesh->poly_count, 8);
    }
}

// --- Grids, and the floors of buildings ---

static void free_randomly(cell_grid *g, rng *r, double blocked)
{
    for (int z = 0; z < g->nz; z++) {
        for (int x = 0; x < g->nx; x++) {
            cell_grid_fill(g, x, z, x + 1, z + 1, !rng_chance(r, blocked), 0);
        }
    }
}

static void make_grid(poly_mesh *mesh, rng *r)
{
    cell_grid g;
    cell_grid_init(&g, rng_between(r, 1, 16), rng_between(r, 1, 16), 1 << rng_between(r, 0, 3));
    free_randomly(&g, r, 0.05 + 0.4 * rng_unit(r));
    cell_cover how = {.most = rng_between(r, 1, 6), .r = r, .stop = 0.2};
    cell_grid_cover(&g, mesh, &how);
    cell_grid_deinit(&g);
}

static void make_building(poly_mesh *mesh, rng *r)
{
    enum { MOST_STOREYS = 5, LENGTH = 4 };
    cell_grid floors[MOST_STOREYS];
    cell_cover covers[MOST_STOREYS];
    stairwell wells[MOST_STOREYS - 1];
    int nx = rng_between(r, 6, 16), nz = rng_between(r, 4, 12), most = rng_between(r, 1, 6);
    // Stairs of following storeys take turns at the ends of the plan; a short plan has room for one only.
    int storeys = rng_between(r, 2, nx < 2 * LENGTH + 4 ? 2 : MOST_STOREYS);
    for (int i = 0; i < storeys; i++) {
        cell_grid_init(&floors[i], nx, nz, 2);
        free_randomly(&floors[i], r, 0.3 * rng_unit(r));
        covers[i] = (cell_cover){.most = most, .r = r, .stop = 0.2, .level = 8 * i};
    }
    for (int i = 0; i + 1 < storeys; i++) {
        wells[i] = (stairwell){i % 2 ? nx - LENGTH - 1 : 1, rng_between(r, 0, nz - 3), LENGTH, rng_chance(r, 0.5)};
        stairwell_carve(&floors[i], &wells[i], false);
        stairwell_carve(&floors[i + 1], &wells[i], true);
    }
    for (int i = 0; i < storeys; i++) {
        cell_grid_cover(&floors[i], mesh, &covers[i]);
    }
    for (int i = 0; i + 1 < storeys; i++) {
        stairwell_add_ramp(mesh, &floors[i], &covers[i], &wells[i], rng_chance(r, 0.5) ? 1 : 4);
    }
    for (int i = 0; i < storeys; i++) {
        cell_grid_deinit(&floors[i]);
    }
}

// --- Spirals ---

/// A ring of `rings` bands that climbs while it turns; quadrangles, cut in triangles at random.
static void make_spiral(poly_mesh *mesh, rng *r)
{
    int around = rng_between(r, 6, 12), turns = rng_between(r, 1, 5), rings = rng_between(r, 1, 4);
    int steps = around * turns + rng_between(r, 0, around - 1);
    double inner = rng_between(r, 1, 12), width = rng_between(r, 2, 6), rise = 10.0 / around,
           holes = 0.25 * rng_unit(r);
    while (steps * rings > 220) {
        rings > 1 ? rings-- : steps--;
    }
    for (int s = 0; s <= steps; s++) {
        double angle = 2 * acos(-1.0) * s / around, height = floor(s * rise * 8) / 8;
        for (int k = 0; k <= rings; k++) {
            double radius = inner * 4 + k * width * 4;
            poly_mesh_add_vertex(mesh, floor(radius * cos(angle)) / 4 + 128, height,
                                 floor(radius * sin(angle)) / 4 + 128);
        }
    }
    for (int s = 0; s < steps; s++) {
        for (int k = 0; k < rings; k++) {
            uint32_t a = (uint32_t)(s * (rings + 1) + k), b = a + 1, d = a + (uint32_t)rings + 1, c = d + 1;
            if (mesh->poly_count > 0 && rng_chance(r, holes)) {
                continue;
            }
            const double *v = mesh->vertices;
            bool convex = poly_mesh_turn(&v[3 * a], &v[3 * b], &v[3 * c]) > 0 &&
                          poly_mesh_turn(&v[3 * b], &v[3 * c], &v[3 * d]) > 0 &&
                          poly_mesh_turn(&v[3 * c], &v[3 * d], &v[3 * a]) > 0 &&
                          poly_mesh_turn(&v[3 * d], &v[3 * a], &v[3 * b]) > 0;
            if (convex && rng_chance(r, 0.5)) {
                poly_mesh_add_polygon(mesh, (uint32_t[]){a, b, c, d}, 4);
                continue;
            }
            // Triangles that rounding or a small radius has turned over are left out.
            if (poly_mesh_turn(&v[3 * a], &v[3 * b], &v[3 * c]) > 0) {
                poly_mesh_add_polygon(mesh, (uint32_t[]){a, b, c}, 3);
            }
            if (poly_mesh_turn(&v[3 * a], &v[3 * c], &v[3 * d]) > 0) {
                poly_mesh_add_polygon(mesh, (uint32_t[]){a, c, d}, 3);
            }
        }
    }
}

void random_mesh(poly_mesh *mesh, random_kind kind, uint64_t seed)
{
    static void (*const makers[RANDOM_KIND_COUNT])(poly_mesh *, rng *) = {[RANDOM_TRIANGLES] = make_triangles,
                                                                          [RANDOM_GRID] = make_grid,
                                                                          [RANDOM_SPIRAL] = make_spiral,
                                                                          [RANDOM_BUILDING] = make_building};
    rng r = rng_seeded(seed * RANDOM_KIND_COUNT + (uint64_t)kind);
    do { // a few points in a line make no triangle
        poly_mesh_init(mesh);
        makers[kind](mesh, &r);
        if (mesh->poly_count) {
            poly_mesh_link(mesh);
            return;
        }
        poly_mesh_deinit(mesh);
    } while (true);
}

void random_flags(poly_mesh *mesh, rng *r, uint32_t count)
{
    for (uint32_t p = 0; p < mesh->poly_count; p++) {
        mesh->flags[p] = 1u << rng_below(r, count);
    }
    mesh->has_flags = true;
}

void random_transform(poly_mesh *mesh, rng *r)
{
    double angle = 7 * rng_unit(r), scale = exp(4 * rng_unit(r) - 2), far = pow(10, 5 * rng_unit(r));
    double c = scale * cos(angle), s = scale * sin(angle), dx = far * (rng_unit(r) - 0.5),
           dz = far * (rng_unit(r) - 0.5);
    double dy = far * (rng_unit(r) - 0.5) / 10;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        double *p = &mesh->vertices[3 * (size_t)v], x = p[0], z = p[2];
        p[0] = c * x - s * z + dx;
        p[1] += dy;
        p[2] = s * x + c * z + dz;
    }
}

oracle_point random_point(const poly_mesh *mesh, rng *r)
{
    uint32_t polygon = rng_below(r, mesh->poly_count), size = poly_mesh_size(mesh, polygon), k = rng_below(r, size);
    const double *u = poly_mesh_corner(mesh, polygon, k), *v = poly_mesh_corner(mesh, polygon, k + 1);
    uint32_t where = rng_below(r, 10);
    if (where < 2) {
        return (oracle_point){u[0], u[2], polygon};
    }
    if (where < 4) {
        return (oracle_point){(u[0] + v[0]) / 2, (u[2] + v[2]) / 2, polygon};
    }
    double x = 0, z = 0, sum = 0;
    for (uint32_t i = 0; i < size; i++) {
        double weight = rng_unit(r) + 0.01;
        x += weight * poly_mesh_corner(mesh, polygon, i)[0];
        z += weight * poly_mesh_corner(mesh, polygon, i)[2];
        sum += weight;
    }
    return (oracle_point){x / sum, z / sum, polygon};
}

nav_vec random_point_position(const poly_mesh *mesh, oracle_point point)
{
    return (nav_vec){point.x, poly_mesh_height(mesh, point.polygon, point.x, point.z), point.z};
}
