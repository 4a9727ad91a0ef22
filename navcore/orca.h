/// Private: velocities that avoid others (optimal reciprocal collision avoidance).
///
/// Van den Berg, Guy, Lin, Manocha, "Reciprocal n-Body Collision Avoidance", ISRR 2009 (Springer 2011): each
/// neighbour and each wall closes a half-plane of velocities; of what is left open the velocity nearest to the
/// wanted one is found by a linear program of two dimensions, adding one half-plane after the other (de Berg et
/// al., "Computational Geometry", section 4.3). Where nothing is left open, walls stay closed and the most that any
/// neighbour's half-plane is entered by is made least (section 5.3 of the paper).
///
/// That may lead discs into each other where they are many. So each also keeps in its part of the ground between it
/// and the next (Zhou, Wang, Bandyopadhyay, Schwager, "Fast, On-line Collision Avoidance for Dynamic Vehicles Using
/// Buffered Voronoi Cells", RA-L 2017): to stand still is always open, so that these half-planes are never given up.
#ifndef NAV_ORCA_H
#define NAV_ORCA_H

#include <stdbool.h>
#include <stdint.h>

typedef struct nav__v2 {
    float x, z;
} nav__v2;

/// Velocities v with x * v.x + z * v.z >= least are open; (x, z) is unit.
typedef struct nav__half_plane {
    float x, z, least;
} nav__half_plane;

/// Most half-planes of one agent.
#define NAV__HALF_PLANES 28

/// Another disc, seen from the agent.
typedef struct nav__disc {
    nav__v2 offset;   ///< from the agent's centre to its
    nav__v2 velocity; ///< its own
    float radius;     ///< sum of both radii
    float share;      ///< part of keeping apart that is the agent's, 1/2 or 1
    bool is_first;    ///< tells which way to go for two in the same place
} nav__disc;

/// The two are not to meet within `horizon` seconds.
/// @param disc      does not overlap the agent
/// @param velocity  the agent's own
nav__half_plane nav__orca_disc(const nav__disc *disc, nav__v2 velocity, float horizon);

/// The agent gets nearer to the other, within dt, by no more than its share of what is free between them.
/// @param share    1 where the other does not move
/// @param fastest  where they overlap, to get apart the agent is asked for no more than half of this
nav__half_plane nav__orca_gap(const nav__disc *disc, float share, float fastest, float dt);

/// A wall from a to b, seen from the agent, which stands on its left side.
/// @param clearance  how far from it the centre is to keep, >= 0
/// @return false when it does not matter, as it is seen edge on
bool nav__orca_wall(nav__v2 a, nav__v2 b, float clearance, nav__v2 wanted, float horizon, nav__half_plane *plane);

/// The velocity nearest to `wanted` that is open, or the least bad one.
/// @param planes   first `walls` of walls and then of gaps, which go before the others from planes[hard] on
/// @param fastest  most speed, at least that of `wanted`
nav__v2 nav__orca_choose(const nav__half_plane *planes, uint32_t count, uint32_t walls, uint32_t hard, nav__v2 wanted,
                         float fastest);

#endif
