/// A random mesh as the search sees it and as the oracle sees it.
#ifndef TEST_SCENE_H
#define TEST_SCENE_H

#include "nav_query.h"
#include "random_mesh.h"

/// What is done to a mesh on its way into navcore; bits.
enum {
    SCENE_FLAGS = 1,       ///< each polygon has one of the flags 1, 2, 4
    SCENE_T_JUNCTIONS = 2, ///< straight corners are left out of the soup
    SCENE_SHUFFLE = 4,     ///< polygons begin at any corner and are wound either way
    SCENE_NO_MERGE = 8,
    SCENE_TRANSFORM = 16, ///< turned, scaled and moved far away
    SCENE_VARIANTS = 32
};

typedef struct scene {
    poly_mesh mesh;
    nav_mesh *nav;
    double rounding; ///< how far 32-bit storage may have moved things; 0 where it is exact
    random_kind kind;
    uint64_t seed;
    unsigned variant;
} scene;

/// @param alloc  of the nav_mesh; may be NULL
/// @return false, with the reason printed, when navcore refuses the mesh
bool scene_make(scene *s, random_kind kind, uint64_t seed, unsigned variant, const nav_alloc *alloc);
void scene_destroy(scene *s);

/// "triangles 17 variant 5": what scene_make needs to make it again.
const char *scene_name(const scene *s);

/// Length of a path on the ground plane.
double ground_length(const nav_path *path);

/// Length of a path in space.
double space_length(const nav_path *path);

#endif
