/// Private: edges that meet in part, between the steps that find, choose and make their portals.
///
///   build_overlap.c  finds pairs of open edges that overlap, chooses the portals
///   build_seam.c     gives both sides of each portal the same corners, splits the edges, joins
///   build_recut.c    cuts cells that are no longer convex
#ifndef NAV_BUILD_SEAM_H
#define NAV_BUILD_SEAM_H

#include "build.h"

/// A stretch that two open edges have in common. Its ends are spots: seen along edge[0] it runs from
/// end[0] to end[1], along edge[1] the other way.
typedef struct nav__portal {
    uint32_t edge[2];     ///< numbers in nav__seam.open
    uint32_t end[2];      ///< spots
    uint32_t same[2];     ///< spot of the other edge at the same place, NAV_NONE: none
    float from[2], to[2]; ///< as shares of each edge's length, from < to
    uint32_t next[2];     ///< next portal of each edge
    uint32_t half[2];     ///< its half-edges in the end
    bool dead;
} nav__portal;

typedef struct nav__seam {
    nav__build *b;
    uint32_t *open; ///< half-edges that may be joined and are not yet
    uint32_t open_count;
    uint32_t *first_portal; ///< [open_count] list of an edge's portals
    nav__portal *portals;
    uint32_t portal_count, portal_cap;

    uint32_t *open_of;                  ///< [half_count] number in open, NAV_NONE
    uint32_t *parent;                   ///< [vertex_points] union-find: spots that became one place
    uint32_t *fellow;                   ///< [vertex_points] ring of the spots of one place
    uint32_t *spot_first, *spot_halves; ///< half-edges by the spot they begin at
    bool *touched;                      ///< [cell_count] to be looked at again

    uint32_t *chain_first; ///< [open_count + 1] corners to be put into each edge
    uint32_t *chain;
    uint32_t chain_cap;

    nav__p2 *ring; ///< scratch: positions of one cell
    uint32_t ring_cap;
    nav__pieces pieces;
} nav__seam;

/// How far two edges may be apart on the ground to be one line.
double nav__seam_tolerance(const nav__build *b, uint32_t half, uint32_t other);

/// Fills portals and the edges' lists of them.
nav_status nav__seam_find(nav__seam *s);

/// Cuts every touched cell that is not convex any more.
nav_status nav__seam_recut(nav__seam *s);

/// The place a spot belongs to.
static inline uint32_t nav__seam_place(nav__seam *s, uint32_t spot)
{
    while (s->parent[spot] != spot) {
        s->parent[spot] = s->parent[s->parent[spot]];
        spot = s->parent[spot];
    }
    return spot;
}

static inline nav__p2 nav__seam_at(nav__seam *s, uint32_t spot)
{
    const float *p = &s->b->spots[2 * (size_t)nav__seam_place(s, spot)];
    return (nav__p2){(double)p[0], (double)p[1]};
}

/// Room for one more position in the scratch ring.
static inline bool nav__seam_ring_room(nav__seam *s, uint32_t count)
{
    return nav__build_room(s->b, &s->ring, &s->ring_cap, count, sizeof *s->ring);
}

#endif
