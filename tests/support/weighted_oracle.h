/// Cheapest paths with area costs by brute force, to judge the search by. Shares no code with navcore:
/// every edge between two polygons is cut into many pieces, and Dijkstra's method walks straight legs
/// from cut to cut through single polygons, and rides links. What it finds can be walked, so it is never
/// below the true optimum, and near it where edges are cut finely enough.
#ifndef TEST_WEIGHTED_ORACLE_H
#define TEST_WEIGHTED_ORACLE_H

#include "oracle.h"

/// One way over a link.
typedef struct weighted_ride {
    oracle_point from, to;
    double cost;
} weighted_ride;

typedef struct weighted_oracle weighted_oracle;

/// @param mesh   linked; must outlive the oracle and not change
/// @param costs  [poly_count] per unit of 3D length, > 0; INFINITY closes a polygon. Copied.
/// @param pieces that each edge is cut into
/// @param rides  [ride_count] copied; those from or to a closed polygon are left out
weighted_oracle *weighted_oracle_create(const poly_mesh *mesh, const double *costs, uint32_t pieces,
                                        const weighted_ride *rides, uint32_t ride_count);
void weighted_oracle_destroy(weighted_oracle *o);

/// Finds the cheapest ways from a point to everywhere; O(polygons * (corners * pieces)^2).
void weighted_oracle_from(weighted_oracle *o, oracle_point from);

/// What it costs to get to a point from the last weighted_oracle_from, INFINITY when there is no way.
double weighted_oracle_cost(const weighted_oracle *o, oracle_point to);

/// What the straight leg from a to b costs over the ground of a mesh without floors above each other: each
/// part at the least cost of the polygons that it lies on or runs along, INFINITY where it leaves them by
/// more than `slack`.
double weighted_oracle_leg(const weighted_oracle *o, double ax, double az, double bx, double bz, double slack);

#endif
