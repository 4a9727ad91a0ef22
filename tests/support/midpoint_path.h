/// The usual way to a path with area costs, to be compared with: A* from polygon to polygon over the
/// middles of their edges, then the string pulled tight through the polygons found (what Detour does).
#ifndef TEST_MIDPOINT_PATH_H
#define TEST_MIDPOINT_PATH_H

#include "weighted_oracle.h"

/// What such a path costs, judged by weighted_oracle_leg.
/// @param mesh   linked, no floors above each other
/// @param costs  [poly_count], INFINITY: closed
/// @param o      of the same mesh and costs
/// @return INFINITY when there is no way
double midpoint_path_cost(const poly_mesh *mesh, const double *costs, const weighted_oracle *o, oracle_point from,
                          oracle_point to);

#endif
