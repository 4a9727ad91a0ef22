/// Shortest paths over the ground plane by brute force, to judge the search by. Shares no code with
/// navcore: a visibility graph over the corners of the walls (Lozano-Perez and Wesley, 1979), made by
/// walking every straight line from polygon to polygon, then Dijkstra.
///
/// Free space is closed: a path may touch walls and slide along them. It crosses from one polygon to
/// another only over a shared edge, so floors above each other stay apart, and where two obstacles touch
/// in a vertex a path may pass along it but not squeeze through between them: each free sector of such a
/// vertex is a corner of its own.
#ifndef TEST_ORACLE_H
#define TEST_ORACLE_H

#include "poly_mesh.h"

/// A position on a polygon (also on its outline).
typedef struct oracle_point {
    double x, z;
    uint32_t polygon;
} oracle_point;

typedef struct oracle oracle;

/// @param mesh  linked; must outlive the oracle and not change
/// @param open  [poly_count]: false closes a polygon, as a filter does; NULL: all are open. Copied.
/// @param slack how far apart two things may be and still touch, in the mesh's unit: 0 means 1e-9 of its extent.
///              Coordinates that are small multiples of a power of two are told apart exactly by far.
oracle *oracle_create(const poly_mesh *mesh, const bool *open, double slack);
void oracle_destroy(oracle *o);

/// Ground length of the shortest path, INFINITY when there is none. A point on an edge or vertex belongs
/// to every polygon that has it, whatever `polygon` names; at a vertex where obstacles touch any free
/// sector may be used.
double oracle_distance(oracle *o, oracle_point from, oracle_point to);

/// Can `to` be walked to from `from` at all?
bool oracle_connected(const oracle *o, oracle_point from, oracle_point to);

/// Is the point a vertex with more than one free sector?
bool oracle_ambiguous(const oracle *o, oracle_point point);

/// Can a path be walked as it is given, from a position on `first` to one on `last`, every leg over shared edges
/// and through one sector of each vertex?
/// @param xz     [x, z] * count
/// @param slack  how far a leg may stray
bool oracle_walkable(const oracle *o, const double *xz, uint32_t count, uint32_t first, uint32_t last, double slack);

#endif
