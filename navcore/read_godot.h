/// Private: what Godot's text and binary resources have in common. A NavigationMesh (3D) or NavigationPolygon (2D)
/// is begun, filled with whatever of it a reader meets, in any order, and ended.
#ifndef NAV_READ_GODOT_H
#define NAV_READ_GODOT_H

#include "read.h"

typedef struct nav__godot {
    nav_soup *soup;
    nav_error *error;
    uint32_t resources;                   ///< begun so far; each is a part of the soup
    uint32_t first_vertex, first_polygon; ///< of the resource
    nav__list polygon;                    ///< corners of the polygon being read, counted within the resource
    double *outlines;                     ///< [x, y] * outline_points
    uint32_t outline_points, outline_cap;
    nav__list outline_ends; ///< points up to the end of each outline
} nav__godot;

/// Is this a type of resource that holds a navigation mesh? `length` characters.
bool nav__godot_is_wanted(const char *type, size_t length);

/// @return NAV_BAD_FORMAT where resources of two and of three dimensions would be mixed
nav_status nav__godot_begin(nav__godot *g, const char *type, size_t length);
/// A vertex of the resource, of two dimensions (z 0) or three.
nav_status nav__godot_vertex(nav__godot *g, double x, double y, double z);
/// Adds g->polygon, whose corners are checked in the end.
nav_status nav__godot_polygon(nav__godot *g);
nav_status nav__godot_outline_point(nav__godot *g, double x, double y);
nav_status nav__godot_end_outline(nav__godot *g);
/// A number of the agent, by the property's name; other names are passed over.
void nav__godot_number(nav__godot *g, const char *name, size_t length, double value);
/// Checks the corners; where there are no polygons, makes them of the outlines.
nav_status nav__godot_end(nav__godot *g);
void nav__godot_deinit(nav__godot *g);

#endif
