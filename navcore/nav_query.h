/// Questions to a mesh.
#ifndef NAV_QUERY_H
#define NAV_QUERY_H

#include "nav_mesh.h"
#include "nav_types.h"

/// Search scratch. One thread at a time per query; a query may be used with any number of meshes in
/// turn. Memory grows to the largest need and is then reused: the steady state allocates nothing.
typedef struct nav_query nav_query;

/// @return NULL when out of memory. `alloc` may be NULL and must outlive the query.
nav_query *nav_query_create(const nav_alloc *alloc);
void nav_query_destroy(nav_query *query);

/// Asked every few hundred nodes of a long search; true stops it (NAV_INTERRUPTED). NULL: never.
typedef struct nav_interrupt {
    bool (*stop)(void *ctx);
    void *ctx;
} nav_interrupt;
void nav_query_set_interrupt(nav_query *query, const nav_interrupt *interrupt);

typedef enum nav_floor { NAV_FLOOR_NEAREST, NAV_FLOOR_BELOW, NAV_FLOOR_ABOVE } nav_floor;

/// Which polygons may be used: those with a flag of `include` and none of `exclude` (a mesh without
/// flags passes always).
typedef struct nav_filter {
    uint32_t include, exclude;
    const double *area_costs; ///< [256], each finite and > 0, or NULL: every area costs 1
} nav_filter;

/// include all, exclude none, no costs.
nav_filter nav_filter_default(void);

/// How a position is brought to the mesh (../shared/API.md, section 3, `snap`).
typedef struct nav_snap {
    nav_vec half_extents; ///< 0: the point must lie on the mesh, within 32-bit rounding
    nav_floor floor;
    nav_filter filter;
} nav_snap;

/// half extents 2, 4, 2; floor nearest; default filter.
nav_snap nav_snap_default(void);

/// A place on the surface.
typedef struct nav_place {
    nav_vec point;    ///< on the surface
    double distance;  ///< 3D, from the position asked about
    uint32_t polygon; ///< of the file
    uint32_t cell;    ///< internal, of this mesh only
    uint32_t face;    ///< internal, of this mesh only
    bool inside;      ///< the position asked about lies over or under the polygon
    bool on_mesh;     ///< inside, and no further than climb above or below
} nav_place;

/// The surface that the contract's snap rule chooses.
/// @return true and `place`; false: nothing in the box (place->polygon is NAV_NONE)
bool nav_query_nearest(nav_query *query, const nav_mesh *mesh, nav_vec point, const nav_snap *snap, nav_place *place);

/// Up to `cap` surfaces by the same rule, best first, one for each surface above or below another.
/// @return how many
uint32_t nav_query_nearest_many(nav_query *query, const nav_mesh *mesh, nav_vec point, const nav_snap *snap,
                                nav_place *places, uint32_t cap);

/// The surface straight under or over the position, nearest within the box.
/// @return false beside the mesh
bool nav_query_height(nav_query *query, const nav_mesh *mesh, nav_vec point, const nav_snap *snap, nav_place *place);

typedef enum nav_path_status {
    NAV_PATH_COMPLETE,
    NAV_PATH_PARTIAL,     ///< the goal cannot be reached; leads to the reachable point nearest to it
    NAV_PATH_UNREACHABLE, ///< the same, where no partial path was asked for
    NAV_PATH_START_OFF_MESH,
    NAV_PATH_END_OFF_MESH,
    NAV_PATH_LIMIT ///< max_nodes or max_length ended the search; the best partial path
} nav_path_status;

typedef struct nav_path_options {
    nav_snap snap;
    bool no_partial;    ///< answer NAV_PATH_UNREACHABLE with no points instead of a partial path
    bool corridor;      ///< also give the polygons crossed
    bool surface;       ///< also a point at each polygon edge crossed, with its height
    uint32_t max_nodes; ///< search nodes; 0: no limit
    uint32_t explain;   ///< tell of up to so many nodes expanded; 0: none
    double max_length;  ///< the path is cut where its 3D length reaches this; 0: no limit
} nav_path_options;

nav_path_options nav_path_options_default(void);

/// One link ridden: the step from points[at] to points[at + 1].
typedef struct nav_ridden {
    uint32_t at;
    uint32_t link; ///< index into nav_mesh_links
} nav_ridden;

/// One node that the search expanded: from `root` the interval `left` - `right` of an edge was seen, and the
/// cell behind it was entered. For drawing why a path is what it is. With area costs the search is over places
/// on edges: `left` and `right` are one such place, and `polygon` lies before it.
typedef struct nav_explained {
    nav_vec root, left, right;
    double g;         ///< length of the way to root, over the ground plane; with area costs its cost
    uint32_t polygon; ///< of the file, in the cell entered
} nav_explained;

/// `points`, `polygons`, `links` and `explained` live in the query until its next call.
typedef struct nav_path {
    nav_path_status status;
    nav_place start, end;  ///< after snapping; polygon NAV_NONE where off the mesh
    double length;         ///< 3D along points
    double cost;           ///< with area costs; otherwise length
    double remaining;      ///< 3D from the last point to end.point; 0 when complete
    const nav_vec *points; ///< [point_count], consecutive ones differ
    uint32_t point_count;
    const uint32_t *polygons; ///< [polygon_count], with options.corridor
    uint32_t polygon_count;
    const nav_ridden *links; ///< [link_count] in order
    uint32_t link_count;
    uint32_t nodes;                 ///< expanded by the search
    const nav_explained *explained; ///< [explained_count] in the order of the search, with options.explain
    uint32_t explained_count;
} nav_path;

/// Shortest path over the ground plane: Polyanya (Cui, Harabor, Grastien, IJCAI 2017, section 4).
/// @return NAV_OK (see path->status), NAV_NO_MEMORY, NAV_INTERRUPTED; `path` is defined on each
nav_status nav_query_path(nav_query *query, const nav_mesh *mesh, nav_vec start, nav_vec end,
                          const nav_path_options *options, nav_path *path);

typedef enum nav_ray_status { NAV_RAY_CLEAR, NAV_RAY_BLOCKED, NAV_RAY_START_OFF_MESH } nav_ray_status;

/// `polygons` lives in the query until its next call.
typedef struct nav_ray {
    nav_ray_status status;
    double t;        ///< 0 .. 1 along start -> end on the ground plane
    nav_vec point;   ///< where the walk ends, on the surface
    nav_vec normal;  ///< unit, on the ground plane, towards the start; zero when clear
    double distance; ///< on the ground plane, from the start
    nav_place start;
    const uint32_t *polygons; ///< [polygon_count] crossed in order, with `corridor`
    uint32_t polygon_count;
} nav_ray;

/// Walks the surface in a straight line until a wall or the end.
nav_status nav_query_raycast(nav_query *query, const nav_mesh *mesh, nav_vec start, nav_vec end, const nav_snap *snap,
                             bool corridor, nav_ray *ray);

#endif
