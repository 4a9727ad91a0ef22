/// Writes Detour sets (MSET version 1) byte by byte, so that tests and samples need no Detour.
#ifndef TEST_MSET_WRITER_H
#define TEST_MSET_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MSET_MAX_CORNERS 6
#define MSET_OUTSIDE 0x8000u ///< in neighbours: | side, 0 +x, 2 +z, 4 -x, 6 -z

typedef struct mset_polygon {
    uint8_t count;
    uint16_t vertices[MSET_MAX_CORNERS];
    uint16_t neighbours[MSET_MAX_CORNERS]; ///< 0 wall, polygon + 1, or MSET_OUTSIDE | side
    uint16_t flags;
    uint8_t area;
    bool off_mesh;
} mset_polygon;

typedef struct mset_detail {
    uint32_t first_vertex, first_tri;
    uint8_t vertex_count, tri_count;
} mset_detail;

typedef struct mset_connection {
    float start[3], end[3], radius;
    uint16_t polygon; ///< the one with off_mesh
    bool both_ways;
    uint32_t user_id;
} mset_connection;

/// All arrays are the caller's; zero what is not needed.
typedef struct mset_tile {
    int32_t x, y;
    float height, radius, climb;
    const float *vertices; ///< [3] * vertex_count
    uint32_t vertex_count;
    const mset_polygon *polygons;
    uint32_t polygon_count;
    uint32_t link_count; ///< room for Detour's run-time links, written as junk
    const mset_detail *details;
    uint32_t detail_count;
    const float *detail_vertices;
    uint32_t detail_vertex_count;
    const uint8_t (*detail_tris)[4];
    uint32_t detail_tri_count;
    uint32_t bv_node_count; ///< written as zeros
    const mset_connection *connections;
    uint32_t connection_count;
} mset_tile;

/// @param wide  64-bit references: 16 bytes before each tile and 16 for each link, else 8 and 12
/// @param size  bytes written
/// @return malloc'ed, NULL when out of memory
uint8_t *mset_write(const mset_tile *tiles, uint32_t tile_count, bool wide, size_t *size);

/// Where things lie in a set whose first tile begins at `tile` (48, or 56 when wide).
static inline size_t mset_first_tile(bool wide)
{
    return wide ? 56 : 48;
}
static inline size_t mset_vertices_at(size_t tile)
{
    return tile + 100;
}
static inline size_t mset_polygons_at(size_t tile, uint32_t vertex_count)
{
    return mset_vertices_at(tile) + 12 * (size_t)vertex_count;
}

#endif
