/// Meshes made by hand for single cases, and allocators that count and refuse. What fails ends the test.
#ifndef TEST_SMALL_MESH_H
#define TEST_SMALL_MESH_H

#include "nav_query.h"

/// Calls are counted; from call `refuse_from` on none gets memory (0: all do).
typedef struct test_alloc {
    nav_alloc alloc;
    size_t calls, refuse_from;
} test_alloc;

void test_alloc_init(test_alloc *a);

/// A soup until small_mesh_build, then a mesh.
typedef struct small_mesh {
    nav_soup soup;
    nav_mesh *nav;
    nav_query *query;
} small_mesh;

void small_mesh_start(small_mesh *s);
/// @return its number
uint32_t small_mesh_vertex(small_mesh *s, double x, double y, double z);
/// Area 0, flags 1, unless set in s->soup afterwards.
void small_mesh_polygon(small_mesh *s, uint32_t count, const uint32_t *corners);
/// The rectangle x0..x1, z0..z1 at height y.
void small_mesh_quad(small_mesh *s, double x0, double x1, double z0, double z1, double y);
/// A rectangle that rises along x from y0 to y1.
void small_mesh_ramp(small_mesh *s, double x0, double x1, double z0, double z1, double y0, double y1);
void small_mesh_build(small_mesh *s);
void small_mesh_finish(small_mesh *s);

#endif
