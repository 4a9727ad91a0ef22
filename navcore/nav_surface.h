/// Questions about the surface round a place: the nearest wall, a step that slides along walls, what is
/// within reach, random places, and what a ray in space hits.
///
/// Units are the mesh's. "Ground" is the xz plane. Polygons that a filter does not pass are closed: their
/// edges are walls. Every call clears its answer first, so that it is defined on each return. Positions
/// and numbers must be finite, or NAV_BAD_ARGUMENT is returned.
#ifndef NAV_SURFACE_QUERIES_H
#define NAV_SURFACE_QUERIES_H

#include "nav_query.h"

// ---- wall ------------------------------------------------------------------------------------------

typedef enum nav_wall_status {
    NAV_WALL_FOUND,
    NAV_WALL_NONE,    ///< no wall within max_distance
    NAV_WALL_OFF_MESH ///< the position could not be snapped
} nav_wall_status;

typedef struct nav_wall {
    nav_wall_status status;
    nav_place start; ///< the position after snapping; polygon NAV_NONE: off the mesh
    double distance; ///< on the ground plane, from start.point
    nav_vec point;   ///< on the wall, with the surface's height
    nav_vec normal;  ///< unit, on the ground plane, from the wall towards the start; at a corner from the corner
} nav_wall;

/// The nearest place on a wall that can be walked to in a straight line. Walls of other floors, and walls
/// behind walls, do not count. Who stands on a wall is told the wall's normal, in a corner the sum of both.
/// @param max_distance  >= 0, may be infinite
/// @return NAV_OK, NAV_BAD_ARGUMENT, NAV_NO_MEMORY, NAV_INTERRUPTED
/// @thread one thread a query at a time
nav_status nav_query_wall(nav_query *query, const nav_mesh *mesh, nav_vec point, double max_distance,
                          const nav_snap *snap, nav_wall *wall);

// ---- move ------------------------------------------------------------------------------------------

typedef enum nav_move_status { NAV_MOVE_MOVED, NAV_MOVE_START_OFF_MESH } nav_move_status;

typedef struct nav_move {
    nav_move_status status;
    nav_place start;  ///< after snapping; polygon NAV_NONE: off the mesh
    nav_vec point;    ///< on the surface
    uint32_t polygon; ///< that holds it
    bool hit;         ///< the end was not reached
} nav_move;

/// A step along the surface that slides along walls. Where a straight walk leads to the end, the answer
/// is the end. Else it is the place nearest to the end, on the ground, on the piece of ground that hangs
/// together with the start inside the circle that has start and end as ends of a diameter; and where a wall
/// leads out of that circle, on along it for as long as that leads nearer. Never further from the end than
/// where a straight walk stops. Who is not led out of the circle is no further from the start than the end
/// is, and no small step leads on. The height of `end` does not matter.
/// @return NAV_OK, NAV_BAD_ARGUMENT, NAV_NO_MEMORY, NAV_INTERRUPTED
/// @thread one thread a query at a time
nav_status nav_query_move(nav_query *query, const nav_mesh *mesh, nav_vec start, nav_vec end, const nav_snap *snap,
                          nav_move *move);

// ---- reachable -------------------------------------------------------------------------------------

typedef enum nav_reach_status {
    NAV_REACH_FOUND,
    NAV_REACH_OFF_MESH,
    NAV_REACH_LIMIT ///< there are more polygons within max_cost than `limit`: these are the cheapest
} nav_reach_status;

typedef struct nav_reach_options {
    nav_snap snap;
    double max_cost; ///< >= 0, may be infinite
    uint32_t limit;  ///< polygons; 0: no limit
    bool outline;    ///< also give the rings round the polygons
} nav_reach_options;

/// Infinite cost, no limit, no outline.
nav_reach_options nav_reach_options_default(void);

/// A polygon within reach.
typedef struct nav_reached {
    uint32_t polygon; ///< of the file
    double cost;      ///< of the way to its nearest place
} nav_reached;

/// A closed ring of positions: points[first .. first + count - 1], the last is joined to the first.
typedef struct nav_ring {
    uint32_t first, count;
} nav_ring;

/// Arrays live in the query until its next call.
typedef struct nav_reach {
    nav_reach_status status;
    nav_place start;             ///< after snapping; polygon NAV_NONE: off the mesh
    double area;                 ///< on the ground, of the polygons below
    const nav_reached *polygons; ///< [polygon_count], cheapest first
    uint32_t polygon_count;
    /// Rings round the union of the polygons. Seen with x to the right and z up, outer rings run
    /// anticlockwise and holes clockwise. No ring passes a place twice: where polygons only touch in a
    /// point, each has a ring of its own.
    const nav_ring *rings; ///< [ring_count]
    uint32_t ring_count;
    const nav_vec *points; ///< of the rings
} nav_reach;

/// The polygons whose nearest place can be reached for at most max_cost. A cost is the ground length of
/// the way, each part times its area's cost, and the cost of each link ridden. Where all areas cost the
/// same it is exact: the shortest any-angle way, by the search of nav_query_path spread in all directions
/// at once. Where they differ it is that of a way over points on the edges between cells: never less than
/// the least, and on random meshes within 2 % of it.
/// A place where polygons only touch leads from none to another.
/// @return NAV_OK, NAV_BAD_ARGUMENT, NAV_NO_MEMORY, NAV_INTERRUPTED
/// @thread one thread a query at a time
nav_status nav_query_reachable(nav_query *query, const nav_mesh *mesh, nav_vec point, const nav_reach_options *options,
                               nav_reach *reach);

// ---- random ----------------------------------------------------------------------------------------

typedef struct nav_random_options {
    nav_snap snap; ///< its filter says which polygons; the rest of it is for `around`
    uint32_t count;
    uint64_t seed;   ///< the same seed gives the same places on every machine
    bool has_around; ///< only within `radius` of `around` on the ground, and only where it can walk to
    nav_vec around;
    double radius; ///< >= 0
} nav_random_options;

/// One place, seed 0, anywhere.
nav_random_options nav_random_options_default(void);

/// `points` live in the query until its next call.
typedef struct nav_random {
    bool found;       ///< false: `around` is off the mesh, nothing lies so near to it, or the filter passes nothing
    nav_place around; ///< after snapping, with has_around; else its polygon is NAV_NONE
    const nav_vec *points; ///< [options.count] on the surface
    uint32_t point_count;
} nav_random;

/// Places on the surface, each as likely as any other by ground area, independent of each other.
/// @return NAV_OK, NAV_BAD_ARGUMENT, NAV_NO_MEMORY
/// @thread one thread a query at a time
nav_status nav_query_random(nav_query *query, const nav_mesh *mesh, const nav_random_options *options,
                            nav_random *random);

// ---- pick ------------------------------------------------------------------------------------------

typedef struct nav_pick {
    bool hit;
    nav_vec point;
    double distance;  ///< along the ray, from the origin
    nav_vec normal;   ///< unit, of the triangle hit, on the upper side of the surface whatever side was hit
    bool back;        ///< the surface was hit from below
    uint32_t polygon; ///< of the file; NAV_NONE: no hit
} nav_pick;

/// The nearest triangle of the surface that a ray in space meets, both sides. A ray through an edge or a
/// vertex never slips between triangles that share it; one that runs within a triangle's plane does not
/// meet it (Woop, Benthin, Wald, "Watertight Ray/Triangle Intersection", JCGT 2013).
/// @param direction     need not be unit; NAV_BAD_ARGUMENT where it is zero
/// @param max_distance  >= 0, may be infinite; in units of length, whatever the direction's
/// @param filter        polygons that it does not pass are not there
/// @return NAV_OK, NAV_BAD_ARGUMENT
/// @thread one thread a query at a time
nav_status nav_query_pick(nav_query *query, const nav_mesh *mesh, nav_vec origin, nav_vec direction,
                          double max_distance, const nav_filter *filter, nav_pick *pick);

#endif
