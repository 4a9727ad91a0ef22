/// Writes levels as files.
#ifndef GENERATE_MESH_WRITER_H
#define GENERATE_MESH_WRITER_H

#include "levels.h"

#include <stdio.h>

/// Wavefront OBJ, faces seen from above anticlockwise; materials name the areas. `areas` may be NULL.
void write_obj(FILE *out, const poly_mesh *mesh, const level_area *areas, const char *comment);

/// {"vertices", "polygons", "areas", "flags"}
void write_json(FILE *out, const poly_mesh *mesh);

/// Detour set of one tile. Polygons have at most 6 corners, vertices are fewer than 65,535.
/// @return false when it does not fit
bool write_mset(FILE *out, const poly_mesh *mesh);

/// A sidecar. `flags` may be NULL.
void write_sidecar(FILE *out, const level_area *areas, const level_flag *flags);

#endif
