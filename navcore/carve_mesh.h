/// Private: the triangulation under nav__carve, between carve_mesh.c and carve.c.
#ifndef NAV_CARVE_MESH_H
#define NAV_CARVE_MESH_H

#include "carve.h"

/// What an edge of the triangulation is beside that.
typedef struct nav__carve_mark {
    uint32_t side; ///< of the ring, NAV_NONE: none
    int depth;     ///< left of it less right of it
    int ring;      ///< likewise, how often the ring runs round it
    bool fixed;    ///< some line runs here
} nav__carve_mark;

typedef struct nav__carve_half {
    uint32_t from, twin;
    uint32_t next, prev; ///< of the cell, once triangles are united
    nav__carve_mark mark;
    uint32_t comp; ///< of its triangle: what part of the domain; NAV_NONE: outside
    int cover;     ///< of its triangle
    bool dead;
} nav__carve_half;

typedef struct nav__carve_task {
    uint32_t from, to;
    nav__carve_mark mark;
} nav__carve_task;

typedef struct nav__carve_cut {
    double length;
    uint32_t half;
} nav__carve_cut;

/// Starts with two triangles that hold all of low .. high with room to spare.
bool nav__tri_start(nav__carver *c, nav__p2 low, nav__p2 high);

/// @return the corner at p, NAV_NONE on failure
uint32_t nav__tri_point(nav__carver *c, nav__p2 p);

/// Makes the line from corner to corner edges of the triangulation.
bool nav__tri_line(nav__carver *c, uint32_t from, uint32_t to, nav__carve_mark mark);

static inline uint32_t nav__tri_next(uint32_t h)
{
    return h % 3 == 2 ? h - 2 : h + 1;
}

static inline uint32_t nav__tri_prev(uint32_t h)
{
    return h % 3 == 0 ? h + 2 : h - 1;
}

#endif
