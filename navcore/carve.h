/// Private: the plane geometry of edits. A convex ring and lines drawn across it become exactly convex cells.
///
/// The lines are the edges of a constrained triangulation (insertion of points as Lawson, "Software for C1 Surface
/// Interpolation", 1977; of lines by flips as Sloan, "A Fast Algorithm for Generating Constrained Delaunay
/// Triangulations", 1993; where two lines cross, a new corner is made). All its decisions are exact, so whatever
/// lines come, in any number and order, what comes out is a sound partition: rounding can move a crossing by
/// half a step of a 32-bit float, but never make cells overlap. Then needless edges are taken out again (Hertel,
/// Mehlhorn, 1985).
#ifndef NAV_CARVE_H
#define NAV_CARVE_H

#include "geom.h"
#include "nav_types.h"

/// A stretch of an outline in the ring, from a to b. Its ends on the ring must be corners of the ring.
typedef struct nav__carve_line {
    nav__p2 a, b;
    int depth; ///< 1: what lies left of it is covered once more than what lies right; 0: it only parts
} nav__carve_line;

/// What is cut. Coordinates are all 32-bit floats.
typedef struct nav__carve_job {
    const nav__p2 *ring; ///< [ring_count] anticlockwise, neighbours differ; convex but for rounding
    uint32_t ring_count;
    const nav__carve_line *lines;
    uint32_t line_count;
    bool has_labels;
    uint32_t (*depth_at)(void *ctx, nav__p2 p); ///< how many outlines of depth 1 cover p
    uint32_t (*label_at)(void *ctx, nav__p2 p); ///< with has_labels: cells of different labels stay apart
    void *ctx;
} nav__carve_job;

/// A corner that the ring's side `side` got on the way; the other side of it must get it too.
typedef struct nav__carve_extra {
    uint32_t side;
    nav__p2 at;
} nav__carve_extra;

/// Scratch that is used again, and the result.
typedef struct nav__carver {
    nav_alloc alloc;
    bool failed; ///< out of memory, or lines beyond reason: the result is none
    bool torn;   ///< why: rounding made the ring touch itself

    nav__p2 *at;       ///< [at_count] corners
    uint32_t *at_half; ///< a half-edge that begins there
    uint32_t at_count, at_cap, at_half_cap;
    struct nav__carve_half *halves; ///< three a triangle
    uint32_t half_count, half_cap;
    uint32_t *stack;
    uint32_t stack_cap;
    struct nav__carve_task *tasks;
    uint32_t task_cap;
    uint32_t *pairs;
    uint32_t pair_cap;
    struct nav__carve_cut *cuts;
    uint32_t cut_cap;
    uint32_t last; ///< triangle found last
    uint32_t dice;
    uint64_t budget;

    uint32_t *cell_first; ///< [cell_count + 1]
    uint32_t *cell_label; ///< [cell_count]
    uint32_t cell_count, cell_first_cap, cell_label_cap;
    uint32_t *corner;      ///< [corner_count] number in `at`
    uint32_t *corner_side; ///< side of the ring that the edge from this corner lies on, NAV_NONE: none
    uint32_t *corner_twin; ///< corner on the other side of that edge, NAV_NONE: none
    uint32_t corner_count, corner_cap, corner_side_cap, corner_twin_cap;
    nav__carve_extra *extras;
    uint32_t extra_count, extra_cap;
} nav__carver;

/// Cuts. With extra_count > 0 there is no other result: the ring must be given once more with those corners.
/// @return false when out of memory or out of reason
bool nav__carve(nav__carver *c, const nav__carve_job *job);
void nav__carver_free(nav__carver *c);

/// Makes room in a growing array.
bool nav__grow(const nav_alloc *alloc, void *array, uint32_t *cap, uint32_t count, size_t size);

/// Where a-b crosses the line through c and d (a and b are on its sides), to the nearest 32-bit floats; the same
/// whichever way round both are given.
nav__p2 nav__cut_at(nav__p2 a, nav__p2 b, nav__p2 c, nav__p2 d);

/// Where a-b and c-d cross; the same whichever is named first, too.
nav__p2 nav__crossing(nav__p2 a, nav__p2 b, nav__p2 c, nav__p2 d);

#endif
