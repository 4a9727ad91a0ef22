/// Private: numbering of the finished mesh, between build_pack.c and build_fans.c.
#ifndef NAV_BUILD_PACK_H
#define NAV_BUILD_PACK_H

#include "build.h"

typedef struct nav__pack {
    uint32_t edge_count, vertex_count, cell_face_count;
    uint32_t *old_half;    ///< [edge_count] half-edge that becomes edge e
    uint32_t *new_edge;    ///< [half_count] and back
    uint32_t *new_cell;    ///< [cell_count] the finished number of a cell
    uint32_t *half_vertex; ///< [half_count] vertex | NAV__CORNER
    uint32_t *vertex_half; ///< [vertex_count] half-edge that starts there; of an open fan the most clockwise
} nav__pack;

/// Fills half_vertex, vertex_half and vertex_count; edges must be numbered.
/// @return false when out of memory
bool nav__pack_fans(nav__build *b, nav__pack *p);

#endif
