/// Private: a ring to triangles, between build_clip.c and build_cut.c.
#ifndef NAV_BUILD_CLIP_H
#define NAV_BUILD_CLIP_H

#include "build.h"

/// A half-edge of the triangulation.
typedef struct nav__tri_half {
    uint32_t from; ///< ring index
    uint32_t twin, next, prev;
} nav__tri_half;

/// The ring still to be cut, doubly linked.
///
/// Ears wait in a heap, the one with the shortest cut first. Blockers are the corners that may lie in an
/// ear: those that do not turn left. Of a long ring they are also filed in a grid, so that an ear is
/// judged by the few near it.
typedef struct nav__clipper {
    const nav__p2 *at; ///< [size]
    uint64_t *budget;  ///< tests left before a ring is given up
    uint32_t size, left;
    uint32_t tip; ///< some corner that is left
    uint32_t *next, *prev;
    uint32_t *inner; ///< triangle half-edge beyond the edge that starts here, NAV_NONE: the ring's own

    uint32_t *heap; ///< [size]
    uint32_t heap_count;
    uint32_t *heap_at; ///< [size] place in the heap, NAV_NONE: none
    double *cut;       ///< [size] squared length of the cut behind the corner

    uint32_t *blockers;
    uint32_t *blocker_at; ///< [size] place in blockers, NAV_NONE: none
    uint32_t blocker_count;
    uint32_t nx, nz; ///< of the grid; 0: none
    nav__p2 least;
    double inverse;
    uint32_t *heads;                 ///< [2 * size] first blocker of a grid cell
    uint32_t *cell_next, *cell_prev; ///< [size] blockers of one grid cell; the first one's cell_prev is NAV_NONE

    nav__tri_half *halves; ///< [3 * (size - 2)]
    uint32_t half_count;
} nav__clipper;

/// Fills halves. The arrays, at, budget and size are given; all else is set here.
/// @param lenient  also takes corners with others in their triangle where there is no ear
/// @return false: no triangulation by triangles of positive area was found
bool nav__clip_ring(nav__clipper *c, bool lenient);

#endif
