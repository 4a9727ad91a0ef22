/// Areas with directed connections, as Source engines keep them, as polygon soup.
///
/// Two areas that lead to each other and lie side by side, within a step's height, share the stretch of border
/// they have in common: each side is split there, and the pieces name each other. Whatever else is connected,
/// one way only or over more than a step, becomes off-mesh links from one area to the other, a hair inside of
/// the border: meshes have no edges that are open one way. Three of them where the border is wide, so a way
/// through it may be longer than the shortest by a part of its width.
#ifndef NAV_AREA_GRAPH_H
#define NAV_AREA_GRAPH_H

#include "nav_soup.h"

typedef struct nav_area_graph {
    double *corners;       ///< [x, y, z] * first[count]; changed by the call
    bool z_up;             ///< height is the third number of corners and of what comes out, else the second
    const uint32_t *first; ///< [count + 1] area a has corners first[a] .. first[a + 1] - 1, at least three
    const uint32_t *ids;   ///< [count] of the file: links are called "id-id"
    uint32_t count;
    uint32_t (*connections)[2]; ///< [connection_count] from, to: numbers of areas; sorted by the call
    uint32_t connection_count;
    uint32_t most_links; ///< more are an error
} nav_area_graph;

/// Adds the areas as polygons, numbered alike, to a soup whose agent is set: its climb is the step.
/// @return NAV_OK, NAV_NO_MEMORY, NAV_TOO_LARGE, NAV_BAD_FORMAT with `error` set
nav_status nav_soup_add_areas(nav_soup *soup, nav_area_graph *graph, nav_error *error);

#endif
