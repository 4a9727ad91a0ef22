/// Private: between cooked.c and cooked_check.c.
#ifndef NAV_COOKED_PRIVATE_H
#define NAV_COOKED_PRIVATE_H

#include "layout.h"

/// Does a mesh whose arrays have the lengths that its counts say hold nothing that could lead a query astray: no
/// index out of range, no list out of order, no ring of half-edges that is not closed or not convex, no number
/// that is not finite? What is merely wrong (heights of other places, a grid that misses faces) is not found.
/// @return NULL: all is well; else what is wrong
const char *nav__cooked_check(const nav_mesh *m);

#endif
