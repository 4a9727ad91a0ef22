/// What the mesh calls share.
#ifndef API_MESHES_H
#define API_MESHES_H

#include "context.h"

/// Appends a summary.
void api_write_summary(api_json *json, const api_mesh_entry *entry);

/// Positions of a mesh in its caller's frame, not tied to a question.
api_positions api_mesh_positions(const api_mesh *mesh);

/// For GET: when the client has this revision already, fills a 304.
bool api_not_modified(const api_call *call, const api_mesh *mesh);

#endif
