/// Private: a glTF 2.0 file being read. gltf_data.c finds its bytes, mesh_gltf.c walks its scene.
#ifndef API_GLTF_H
#define API_GLTF_H

#include "json_tree.h"
#include "mesh_read.h"

/// The entries of one of the file's arrays, by number.
typedef struct api_gltf_table {
    const api_node *array; ///< NULL: the file has none
    uint32_t *entries;     ///< numbers of nodes of the tree
    uint32_t count;
} api_gltf_table;

typedef struct api_gltf_buffer {
    const uint8_t *bytes; ///< NULL: not looked at yet
    size_t size;
    uint8_t *owned; ///< decoded from a data: URI
} api_gltf_buffer;

typedef struct api_gltf {
    api_tree tree;
    const uint8_t *chunk; ///< the binary chunk of a GLB, NULL: none
    size_t chunk_size;
    size_t file_size;
    api_gltf_table nodes, meshes, accessors, views, buffers;
    api_gltf_buffer *loaded; ///< [buffers.count]
} api_gltf;

/// Finds the JSON and the binary chunk, parses, makes the tables. api_gltf_close is due in either case.
bool api_gltf_open(api_gltf *g, const char *bytes, size_t size, api_problem *problem);
void api_gltf_close(api_gltf *g);

/// The entry of a table that the number `index` means.
/// @return NULL, with a complaint, where `index` is no number or there is no such entry
const api_node *api_gltf_entry(const api_gltf *g, const api_gltf_table *table, const api_node *index);

/// Numbers read from an accessor.
typedef struct api_gltf_values {
    double *data; ///< [3 * count], or [count]; to be freed
    size_t count;
} api_gltf_values;

/// Reads an accessor of three finite numbers each, of any component type: integers are divided by their range
/// where the file says `normalized`. `values` is to be freed in either case.
/// @param index  the number of the accessor, where it is used
bool api_gltf_positions(api_gltf *g, const api_node *index, api_gltf_values *values);

/// Reads an accessor of one unsigned integer each, all below `limit`.
bool api_gltf_indices(api_gltf *g, const api_node *index, uint32_t limit, api_gltf_values *values);

// The scene.

/// Column by column, without the last row.
typedef struct api_gltf_matrix {
    double m[12];
} api_gltf_matrix;

static inline void api_gltf_transform(const api_gltf_matrix *m, const double p[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = m->m[i] * p[0] + m->m[3 + i] * p[1] + m->m[6 + i] * p[2] + m->m[9 + i];
    }
}

#define API_GLTF_NAME_SIZE 128

/// Links found so far.
typedef struct api_gltf_links {
    cJSON *array; ///< in the contract's form, in the coordinates of the scene
    struct api_gltf_link_end *ends;
    size_t end_count, end_cap;
} api_gltf_links;

/// Takes the `links` in the extras of the file, a scene or a node that lies in the scene as `m` says.
bool api_gltf_take_links(api_gltf_links *l, const api_gltf *g, const api_node *owner, const api_gltf_matrix *m);
/// Notes a node without a mesh that may be the end of a link.
bool api_gltf_note_end(api_gltf_links *l, const api_gltf *g, const api_node *node, const api_gltf_matrix *m);
/// Makes links of the ends noted, after the last one.
bool api_gltf_pair_ends(api_gltf_links *l, const api_gltf *g);

#endif
