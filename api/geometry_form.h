/// Private: between mesh_geometry.c and the writers of the surface in other forms than JSON.
#ifndef API_GEOMETRY_FORM_H
#define API_GEOMETRY_FORM_H

#include "context.h"

/// Items between two looks at the clock.
#define API_GEOMETRY_ITEMS_A_LOOK 256

/// A form in which the surface is given. `write` appends some items of what task->phase names, from task->next on;
/// task->phase counts up to `phases`.
typedef struct api_geometry_form {
    const char *media_type; ///< NULL: JSON
    uint32_t phases;
    void (*write)(api_task *task, const nav_mesh_info *info);
} api_geometry_form;

/// Binary glTF 2.0: one mesh of triangles in navcore's axes, which are glTF's, moved by a node to where it lies, so
/// that nothing is lost far away from zero; areas, flags and the file's polygon of each triangle beside it.
extern const api_geometry_form api_geometry_glb;
/// Wavefront OBJ in the caller's axes, faces by the file's polygon; `usemtl` names the area.
extern const api_geometry_form api_geometry_obj;

/// Must faces be wound the other way than navcore's for the side that is walked on to be in front?
bool api_geometry_reversed(const api_mesh *mesh);

#endif
