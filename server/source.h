/// A mesh as files of a folder: one file, or an .mmap with the .mmtile files beside it; and its sidecar.
#ifndef SRV_SOURCE_H
#define SRV_SOURCE_H

#include "api_mesh.h"
#include "files.h"
#include "mapped.h"

#define SRV_MMAP_ENDING ".mmap"
#define SRV_NAME_SIZE 256 ///< of a file's name, the NUL counted

typedef struct srv_source {
    char name[SRV_NAME_SIZE];
    srv_bytes mesh;     ///< its look covers the tiles as well
    srv_mapped *mapped; ///< owns mesh.data; NULL: it is malloc'ed
    srv_bytes sidecar;  ///< data NULL: none
    nav_part *parts;    ///< [part_count] of an .mmap: itself, then its tiles by name
    size_t part_count;
} srv_source;

/// Is this the name of a tile, STEM, two digits, two digits, ".mmtile", with or without _ between?
/// @param stem  of the map it belongs to
bool srv_tile_stem(const char *name, char stem[SRV_NAME_SIZE]);

/// Makes one look of those at a map's files, in any order.
void srv_look_add(srv_look *look, const char *name, const srv_look *tile);

/// Reads a mesh's files. A .navd is mapped where it can be.
/// @param real_folder   as srv_file_read
/// @param sidecar_name  NULL: there is none
/// @return SRV_READ_OK, or as srv_file_read with nothing to free
srv_read_result srv_source_read(srv_source *source, const char *real_folder, const char *name, const char *sidecar_name,
                                api_problem *problem);
void srv_source_free(srv_source *source);

/// What is to be loaded. The loader takes the mesh's bytes over, so that they are the source's no more.
/// @param progress  as in api_mesh_source, NULL: nobody waits
api_mesh *srv_source_load(srv_source *source, void (*progress)(void *ctx, unsigned step, unsigned of), void *ctx,
                          api_problem *problem);

#endif
