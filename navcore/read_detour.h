/// Private: what read_detour.c (tiles) and the readers of files that hold tiles share.
#ifndef NAV_READ_DETOUR_H
#define NAV_READ_DETOUR_H

#include "read.h"

#define NAV__TILE_HEADER_BYTES 100
#define NAV__TILE_MAGIC "VAND" ///< as a little-endian machine writes it

/// A file being read.
typedef struct nav__bytes {
    const uint8_t *data;
    size_t size;
} nav__bytes;

/// A tile's counts and where its parts begin, as bytes of its file.
typedef struct nav__tile {
    nav__bytes file;
    size_t start;
    uint32_t number; ///< among all tiles read
    uint32_t source; ///< whatever the container's reader knows its file by
    int32_t x, y, layer;
    uint32_t polygons, vertices, links, detail_meshes, detail_vertices, detail_tris, bv_nodes, off_mesh;
    size_t vertices_at, polygons_at, detail_meshes_at, detail_vertices_at, detail_tris_at, off_mesh_at;
    bool unreal;                                ///< Unreal 4's longer header and connections
    uint32_t first_vertex, first_detail_vertex; ///< of the soup
    uint8_t outward;                            ///< bit s: some edge leads out by side s, 0 to 7
} nav__tile;

typedef struct nav__detour {
    nav_soup *soup;
    nav_error *error;
    nav__tile *tiles;
    uint32_t tile_count, tile_cap;
    uint32_t source;    ///< of the tile being read, for whoever must say which file is at fault
    nav__list ground;   ///< of the tile being read: soup number of each polygon, NAV_NONE for a connection
    nav__list user_ids; ///< of each link
} nav__detour;

static inline uint16_t nav__u16_at(nav__bytes b, size_t at)
{
    return (uint16_t)(b.data[at] | b.data[at + 1] << 8);
}

static inline uint32_t nav__u32_at(nav__bytes b, size_t at)
{
    return (uint32_t)nav__u16_at(b, at) | (uint32_t)nav__u16_at(b, at + 2) << 16;
}

double nav__f32_at(nav__bytes b, size_t at);

/// Do these four characters stand at byte `at`?
bool nav__has_magic(nav__bytes b, size_t at, const char magic[4]);

/// Notes the tile that takes `size` bytes from `start` on, which must lie within the file. Reads and checks its
/// header; a tile at a place that is taken is left out later, with a warning.
nav_status nav__detour_add_tile(nav__detour *d, nav__bytes file, size_t start, size_t size, uint32_t source);

/// Reads all tiles noted into the soup. Polygon numbers of the soup count ground polygons only, in the order of
/// tiles and of polygons in them; what Detour keeps as polygons of two corners, off-mesh connections, become links.
nav_status nav__detour_read(nav__detour *d);

void nav__detour_free(nav__detour *d);

/// Notes the tile of a .mmtile.
nav_status nav__mmtile_add(nav__detour *d, nav__bytes file, uint32_t source);

#endif
