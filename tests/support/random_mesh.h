/// Random meshes for tests: every kind of thing that makes a path search stumble, small enough for the
/// oracle. All coordinates are multiples of 1/8 below 1,024, so that orientation is exact in doubles and
/// positions survive 32-bit floats. The same seed gives the same mesh everywhere.
#ifndef TEST_RANDOM_MESH_H
#define TEST_RANDOM_MESH_H

#include "oracle.h"
#include "poly_mesh.h"
#include "rng.h"

typedef enum random_kind {
    RANDOM_TRIANGLES, ///< Delaunay triangles of random points with random holes, pinches, islands; some merged
    RANDOM_GRID,      ///< free cells of a grid in rectangles; straight corners where rectangles meet in part
    RANDOM_SPIRAL,    ///< a winding ramp of up to five turns, floors above each other
    RANDOM_BUILDING,  ///< floors of rooms above each other, joined by ramps
    RANDOM_KIND_COUNT
} random_kind;

/// Makes a linked mesh of 1 to about 250 polygons. Deinit it with poly_mesh_deinit.
void random_mesh(poly_mesh *mesh, random_kind kind, uint64_t seed);

/// Gives each polygon one of `count` flags (bit 0 .. count - 1), and sets has_flags.
void random_flags(poly_mesh *mesh, rng *r, uint32_t count);

/// Rotates, scales and moves far away, to coordinates that no 32-bit float holds.
void random_transform(poly_mesh *mesh, rng *r);

/// A position on the mesh: inside a polygon, on an edge, on a vertex or in the middle of a wall. Points on
/// edges and vertices are exact on meshes that were not transformed.
oracle_point random_point(const poly_mesh *mesh, rng *r);

/// Where the point lies in space.
nav_vec random_point_position(const poly_mesh *mesh, oracle_point point);

#endif
