/// Private: the parts of point location that locate.c and floors.c share.
#ifndef NAV_LOCATE_H
#define NAV_LOCATE_H

#include "scratch.h"

/// What is looked for. Everything is relative to the mesh's origin.
typedef struct nav__locator {
    const nav_mesh *m;
    nav__p2 p;
    double y;
    double half_x, half_y, half_z; ///< grown by rounding
    double slack, tall_slack;      ///< rounding on the ground, in height
    double climb;
    nav_floor floor;
    bool plain; ///< plain 3D distance: climb and floor do not matter
    bool open;  ///< every cell is taken
    const nav_filter *filter;
    bool (*takes)(const void *ctx, uint32_t cell); ///< instead of a filter
    const void *takes_ctx;
} nav__locator;

/// A face's candidate.
typedef struct nav__candidate {
    double counted;  ///< what the rule compares first; INFINITY: none
    double distance; ///< 3D
    nav__p2 at;
    double y;
    uint32_t face;
    bool over;
} nav__candidate;

/// Faces are sorted by polygon, so that the lower face also has the lower polygon number.
static inline bool nav__is_better(const nav__candidate *a, const nav__candidate *b)
{
    if (a->counted != b->counted) {
        return a->counted < b->counted;
    }
    return a->distance != b->distance ? a->distance < b->distance : a->face < b->face;
}

/// Does the filter, or the caller's test, take the face's cell?
static inline bool nav__takes_face(const nav__locator *s, uint32_t face)
{
    if (s->open) {
        return true;
    }
    uint32_t cell = s->m->faces[face].cell;
    return s->takes ? s->takes(s->takes_ctx, cell) : nav__passes(s->m, s->filter, cell);
}

/// Prepares a search by the snap rule.
/// @param snap  must outlive the locator
/// @return false when nothing of the mesh can be a candidate
bool nav__locator_init(nav__locator *s, const nav_mesh *m, nav_vec point, const nav_snap *snap);

/// The rule for a face whose closest point on the ground is `at`.
/// @return false when that place lies outside the box or on the wrong side of the asked floor
bool nav__judge(const nav__locator *s, uint32_t face, nav__p2 at, bool over, nav__candidate *c);

/// A polygon cut into several faces is one surface: its point closest on the ground speaks for it.
/// @return false when a face of the same polygon is nearer than `distance2`, squared, on the ground
bool nav__speaks_for_polygon(const nav__locator *s, uint32_t face, double distance2);

/// @param asked  the position the locator was made for
/// @return false when there is no candidate
bool nav__place_write(const nav__locator *s, nav_vec asked, const nav__candidate *c, nav_place *place);

#endif
