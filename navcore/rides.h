/// Private: how the ends of off-mesh links come to lie on a surface, when a mesh is built and when it is edited.
#ifndef NAV_RIDES_H
#define NAV_RIDES_H

#include "layout.h"
#include "nav_query.h"

/// The surface that a link's end lands on. @return false: none within its radius
bool nav__ride_land(const nav_mesh *m, nav_vec end, double radius, nav_place *place);
/// Sets an end of a ride, relative to the origin, and the cell that it lies in.
void nav__ride_set_end(const nav_mesh *m, const nav_place *place, float p[3], uint32_t *cell);
/// The order of rides in a mesh, for qsort.
int nav__ride_order(const void *a, const void *b);

#endif
