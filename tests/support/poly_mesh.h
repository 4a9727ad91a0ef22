/// Convex polygons over shared vertices: what the generators make, what the oracle walks and what soups,
/// sample files and the peers of the benchmarks are filled from. Independent of navcore's meshes.
///
/// Polygons are wound so that their signed area in (x, z) is positive, floors may overlap, and two
/// polygons are neighbours exactly when they have an edge's two vertices in common. Out of memory ends
/// the program: this is for tests and tools.
#ifndef TEST_POLY_MESH_H
#define TEST_POLY_MESH_H

#include "nav_soup.h"
#include "rng.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct poly_mesh {
    double *vertices; ///< [x, y, z] * vertex_count
    uint32_t vertex_count, vertex_cap;
    uint32_t *first; ///< [poly_count + 1]: polygon p has corners first[p] .. first[p + 1] - 1
    uint32_t poly_count, poly_cap;
    uint32_t *corners;
    uint32_t corner_count, corner_cap;
    uint32_t
        *neighbours; ///< [corner_count] across the edge from a corner to the next; NAV_NONE: wall. After poly_mesh_link
    uint8_t *areas;  ///< [poly_cap]
    uint32_t *flags; ///< [poly_cap]
    bool has_flags;  ///< the soup is given flags
} poly_mesh;

/// `realloc(p, count * size)` that ends the program when there is no memory or the product overflows.
void *poly_mesh_resize(void *p, size_t count, size_t size);

void poly_mesh_init(poly_mesh *mesh);
void poly_mesh_deinit(poly_mesh *mesh);

/// @return the new vertex's number
uint32_t poly_mesh_add_vertex(poly_mesh *mesh, double x, double y, double z);

/// Adds a polygon of area 0 and flags 1.
/// @return its number
uint32_t poly_mesh_add_polygon(poly_mesh *mesh, const uint32_t *corners, uint32_t count);

/// Finds neighbours by vertex pairs. An edge that two polygons run in the same direction, or three
/// share, ends the program: a generator made nonsense.
void poly_mesh_link(poly_mesh *mesh);

/// Fills an initialised, empty soup, polygons in the same order.
/// @param t_junctions  leave out corners on a straight edge, so that edges meet in part (heights must be planar)
/// @param shuffle      0, or a seed: each polygon starts at a random corner and half are wound the other way
nav_status poly_mesh_to_soup(const poly_mesh *mesh, nav_soup *soup, bool t_junctions, uint64_t shuffle);

static inline uint32_t poly_mesh_size(const poly_mesh *mesh, uint32_t polygon)
{
    return mesh->first[polygon + 1] - mesh->first[polygon];
}

/// Corner k of a polygon, k taken modulo its size: its [x, y, z].
static inline const double *poly_mesh_corner(const poly_mesh *mesh, uint32_t polygon, uint32_t k)
{
    uint32_t first = mesh->first[polygon];
    return &mesh->vertices[3 * (size_t)mesh->corners[first + k % poly_mesh_size(mesh, polygon)]];
}

/// Twice the signed area of abc on the ground plane; a, b, c are [x, y, z].
static inline double poly_mesh_turn(const double *a, const double *b, const double *c)
{
    return (b[0] - a[0]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[0] - a[0]);
}

/// Is (x, z) in the polygon, or no further than `slack` from it?
bool poly_mesh_holds(const poly_mesh *mesh, uint32_t polygon, double x, double z, double slack);

/// The point of the polygon nearest to (x, z) on the ground plane, with its height in the fan round corner 0.
void poly_mesh_closest(const poly_mesh *mesh, uint32_t polygon, double x, double z, double out[3]);

/// Height of the fan round corner 0 at a ground position in the polygon.
double poly_mesh_height(const poly_mesh *mesh, uint32_t polygon, double x, double z);

/// Ground area of one polygon.
double poly_mesh_area(const poly_mesh *mesh, uint32_t polygon);

/// Cuts polygons by diagonals until none has more than `most` corners (>= 3) or a straight one: what Detour
/// wants, whose rays take the wrong edge where two lie in one line. Numbers change; unlinks.
void poly_mesh_cut(poly_mesh *mesh, uint32_t most);

/// Joins random neighbours whose union is convex (straight corners allowed), `tries` attempts. Planar
/// heights only. Numbers change; unlinks. The mesh must be linked.
void poly_mesh_merge(poly_mesh *mesh, rng *r, uint32_t tries, uint32_t most_corners);

#endif
