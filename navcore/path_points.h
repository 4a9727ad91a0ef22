/// Private: from what a search found to an answer's points, length, cost and corridor.
#ifndef NAV_PATH_POINTS_H
#define NAV_PATH_POINTS_H

#include "scratch.h"

/// A place that a path runs through.
typedef struct nav__stop {
    nav_vec point;    ///< absolute, on the surface
    nav__p2 ground;   ///< exact, relative
    uint32_t vertex;  ///< of a corner; NAV_NONE: see cell
    uint32_t cell;    ///< one that holds the place, where it is no corner
    uint32_t ride;    ///< the step from here to the next stop rides this ride; NAV_NONE: it walks
    double unit_cost; ///< of the walk to here, per unit of length; 0: by the areas it crosses
} nav__stop;

/// Stops of the path that nav__polyanya left in query->corners, from `first` to `last`, into query->stops:
/// only where the path truly bends or rides.
/// @return false when out of memory
bool nav__stops_from_corners(nav_query *query, const nav_mesh *m, const nav__stop *first, const nav__stop *last,
                             uint32_t corner_count, uint32_t *stop_count);

/// The same from the steps that nav__weighted_search left in query->steps.
/// @param last  NULL: the last step, which a limit chose
bool nav__stops_from_steps(nav_query *query, const nav_mesh *m, const nav_filter *filter, const nav__stop *first,
                           const nav__stop *last, uint32_t step_count, uint32_t *stop_count);

/// Cuts the stops where the path's 3D length reaches max_length (rides are not cut: the path ends before).
/// @return true when it was cut
bool nav__stops_cut(nav_query *query, const nav_mesh *m, const nav_filter *filter, double max_length,
                    uint32_t *stop_count);

/// Fills points, links, length, cost and, where asked for, polygons and surface points.
/// @return NAV_OK or NAV_NO_MEMORY
nav_status nav__stops_write(nav_query *query, const nav_mesh *m, const nav_path_options *options, uint32_t stop_count,
                            nav_path *path);

#endif
