/// The cooked form: a built mesh as bytes that are used in place, wherever they lie.
#ifndef NAV_COOKED_H
#define NAV_COOKED_H

#include "nav_mesh.h"

#define NAV_COOKED_MAGIC "\x89NVD\r\n\x1A\n" ///< the first 8 bytes; a transfer as text breaks them
#define NAV_COOKED_MAGIC_BYTES 8
#define NAV_COOKED_ALIGNMENT 16u ///< of bytes that are to be used in place

/// Are these bytes meant to be the cooked form, of whatever version?
bool nav_cooked_is(const void *bytes, size_t size);

/// Writes a mesh that has no edits, its report, and bytes of the caller's.
/// @param report  may be NULL
/// @param extra   [extra_size] kept as they are
/// @param alloc   NULL: the C library
/// @param bytes   to be freed by `alloc`; set only on NAV_OK
/// @return NAV_OK, NAV_BAD_ARGUMENT (the mesh has edits), NAV_TOO_LARGE (all but a few of its polygons have been
///         dropped), NAV_NO_MEMORY
nav_status nav_mesh_cook(const nav_mesh *mesh, const nav_report *report, const void *extra, size_t extra_size,
                         const nav_alloc *alloc, void **bytes, size_t *size);

/// What nav_mesh_open gives back.
typedef struct nav_cooked {
    nav_mesh *mesh;
    const void *extra; ///< within the mesh's bytes
    size_t extra_size;
    bool in_place; ///< the mesh uses the caller's bytes; else it has copied them, as they were not aligned
} nav_cooked;

/// Makes a mesh of the cooked form. Nothing in it is believed: neither its checksum alone (it only finds damage)
/// nor any number that leads somewhere, for bytes may be made to hurt.
/// @param release  called with `ctx` when the mesh is destroyed, where its bytes were used in place; may be NULL.
///                 Until then the bytes must not change.
/// @param report   may be NULL
/// @return NAV_OK, NAV_UNKNOWN_FORMAT, NAV_BAD_FORMAT (damaged, or of another version), NAV_NO_MEMORY
/// @thread any
nav_status nav_mesh_open(const void *bytes, size_t size, const nav_alloc *alloc, void (*release)(void *ctx), void *ctx,
                         nav_cooked *out, nav_report *report, nav_error *error);

#endif
