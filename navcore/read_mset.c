/// Detour navigation mesh sets as RecastDemo and most ports write them: "MSET" version 1, little-endian,
/// with 32- or 64-bit tile references.
///
///     set header 40 | reference and size 8 or 16 | tile | reference and size | tile ...
///     tile: header 100 | vertices 12 | polygons 32 | links 12 or 16 | detail meshes 12 | detail vertices 12
///           | detail triangles 4 | bounding volume nodes 16 | off-mesh connections 36
///
/// Polygon numbers of the soup count ground polygons only, in the order of tiles and of polygons in them.
/// What Detour keeps as polygons of two corners, off-mesh connections, become links.
#include "read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SET_BYTES 40
#define TILE_HEADER_BYTES 100
#define UNREAL_HEADER_BYTES 116
#define VERTEX_BYTES 12
#define POLYGON_BYTES 32
#define DETAIL_MESH_BYTES 12
#define DETAIL_TRI_BYTES 4
#define BV_NODE_BYTES 16
#define OFF_MESH_BYTES 36
#define UNREAL_OFF_MESH_BYTES 40

#define MAX_CORNERS 6
#define TYPE_GROUND 0
#define TYPE_OFF_MESH 1
#define NEIGHBOUR_OUTSIDE 0x8000u

/// A tile's counts and where its parts begin, as bytes of the file.
typedef struct tile {
    size_t start;
    uint32_t number;
    uint32_t polygons, vertices, links, detail_meshes, detail_vertices, detail_tris, bv_nodes, off_mesh;
    size_t vertices_at, polygons_at, detail_meshes_at, detail_vertices_at, detail_tris_at, off_mesh_at;
    uint32_t first_vertex, first_detail_vertex; ///< of the soup
} tile;

typedef struct mset_reader {
    nav_soup *soup;
    nav_error *error;
    const uint8_t *bytes;
    size_t size;
    tile *tiles;
    uint32_t tile_count, tile_cap;
    nav__list ground;   ///< of the tile being read: soup number of each polygon, NAV_NONE for a connection
    nav__list user_ids; ///< of each link
} mset_reader;

/// Complains about the byte `at`.
#define FAIL(r, at, ...) nav_fail((r)->error, NAV_BAD_FORMAT, 0, (at), __VA_ARGS__)

static uint16_t u16_at(const mset_reader *r, size_t at)
{
    return (uint16_t)(r->bytes[at] | r->bytes[at + 1] << 8);
}

static uint32_t u32_at(const mset_reader *r, size_t at)
{
    return (uint32_t)u16_at(r, at) | (uint32_t)u16_at(r, at + 2) << 16;
}

static double f32_at(const mset_reader *r, size_t at)
{
    uint32_t bits = u32_at(r, at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static bool has_text(const mset_reader *r, size_t at, const char *text)
{
    return r->size >= 4 && at <= r->size - 4 && memcmp(r->bytes + at, text, 4) == 0;
}

static nav_status check_set_header(mset_reader *r, uint32_t *tile_count)
{
    if (has_text(r, 0, "MSET")) {
        return FAIL(r, 0, "a big-endian Detour set: write it on a little-endian machine");
    }
    if (!has_text(r, 0, "TESM")) {
        return nav_fail(r->error, NAV_UNKNOWN_FORMAT, 0, 0, "not a Detour set: its magic is not MSET");
    }
    if (r->size < SET_BYTES) {
        return FAIL(r, r->size, "the file ends within the set's header of 40 bytes");
    }
    if (u32_at(r, 4) != 1) {
        return FAIL(r, 4, "version %u of a Detour set, only 1 is known", u32_at(r, 4));
    }
    *tile_count = u32_at(r, 8);
    // Each tile takes at least its header, so no larger count can be true.
    if (*tile_count == 0 || *tile_count > r->size / TILE_HEADER_BYTES) {
        return FAIL(r, 8, "%d tiles cannot be in %zu bytes", (int32_t)*tile_count, r->size);
    }
    return NAV_OK;
}

/// Bytes of a tile's parts if its header, links and connections have these sizes. Counts are below 2^31
/// and the sizes small: no sum overflows.
static uint64_t tile_bytes(const tile *t, uint32_t header, uint32_t link, uint32_t off_mesh)
{
    return header + (uint64_t)t->vertices * VERTEX_BYTES + (uint64_t)t->polygons * POLYGON_BYTES +
           (uint64_t)t->links * link + (uint64_t)t->detail_meshes * DETAIL_MESH_BYTES +
           (uint64_t)t->detail_vertices * VERTEX_BYTES + (uint64_t)t->detail_tris * DETAIL_TRI_BYTES +
           (uint64_t)t->bv_nodes * BV_NODE_BYTES + (uint64_t)t->off_mesh * off_mesh;
}

static bool is_unreal(const tile *t, size_t size)
{
    return tile_bytes(t, UNREAL_HEADER_BYTES, 12, UNREAL_OFF_MESH_BYTES) == size ||
           tile_bytes(t, UNREAL_HEADER_BYTES, 16, UNREAL_OFF_MESH_BYTES) == size;
}

/// Works out where the parts of a tile lie. Links are 12 bytes in builds with 32-bit references, 16 with
/// 64-bit ones; whichever makes the parts end where the tile does.
static nav_status lay_out(mset_reader *r, tile *t, size_t size)
{
    uint32_t link_bytes = tile_bytes(t, TILE_HEADER_BYTES, 12, OFF_MESH_BYTES) == size ? 12 : 16;
    uint64_t need = tile_bytes(t, TILE_HEADER_BYTES, link_bytes, OFF_MESH_BYTES);
    if (need != size) {
        if (is_unreal(t, size)) {
            return FAIL(r, t->start, "tile %u has Unreal's longer header, which this version does not read", t->number);
        }
        return FAIL(r, t->start, "the parts of tile %u take %llu bytes by its counts, but it has %zu", t->number,
                    (unsigned long long)need, size);
    }
    t->vertices_at = t->start + TILE_HEADER_BYTES;
    t->polygons_at = t->vertices_at + (size_t)t->vertices * VERTEX_BYTES;
    t->detail_meshes_at = t->polygons_at + (size_t)t->polygons * POLYGON_BYTES + (size_t)t->links * link_bytes;
    t->detail_vertices_at = t->detail_meshes_at + (size_t)t->detail_meshes * DETAIL_MESH_BYTES;
    t->detail_tris_at = t->detail_vertices_at + (size_t)t->detail_vertices * VERTEX_BYTES;
    size_t bv_nodes_at = t->detail_tris_at + (size_t)t->detail_tris * DETAIL_TRI_BYTES;
    t->off_mesh_at = bv_nodes_at + (size_t)t->bv_nodes * BV_NODE_BYTES;
    return NAV_OK;
}

/// Reads a tile's header and checks it against the `size` bytes that the set gives the tile.
static nav_status read_tile_header(mset_reader *r, tile *t, size_t size)
{
    if (has_text(r, t->start, "DNAV")) {
        return FAIL(r, t->start, "tile %u is big-endian", t->number);
    }
    if (size < TILE_HEADER_BYTES || !has_text(r, t->start, "VAND")) {
        return FAIL(r, t->start, "tile %u has no DNAV header", t->number);
    }
    if (u32_at(r, t->start + 4) != 7) {
        return FAIL(r, t->start + 4, "tile %u has version %u, only 7 is known", t->number, u32_at(r, t->start + 4));
    }
    uint32_t *const counts[] = {&t->polygons,        &t->vertices,    &t->links,    &t->detail_meshes,
                                &t->detail_vertices, &t->detail_tris, &t->bv_nodes, &t->off_mesh};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        size_t at = t->start + 24 + 4 * i;
        *counts[i] = u32_at(r, at);
        if (*counts[i] > size) { // every part's entries take more than a byte each
            return FAIL(r, at, "tile %u of %zu bytes claims %d entries", t->number, size, (int32_t)*counts[i]);
        }
    }
    return lay_out(r, t, size);
}

static tile *add_tile(mset_reader *r)
{
    if (r->tile_count == r->tile_cap) {
        uint32_t cap = r->tile_cap ? 2 * r->tile_cap : 16;
        tile *tiles = r->soup->alloc.resize(r->soup->alloc.ctx, r->tiles, cap * sizeof *tiles);
        if (!tiles) {
            return NULL;
        }
        r->tiles = tiles;
        r->tile_cap = cap;
    }
    tile *t = &r->tiles[r->tile_count];
    *t = (tile){.number = r->tile_count++};
    return t;
}

/// References are 32 or 64 bits wide; a 64-bit one is followed by the size and four bytes of padding.
/// The first tile's magic tells which.
static nav_status find_reference_width(mset_reader *r, size_t *width)
{
    if (has_text(r, SET_BYTES + 8, "VAND")) {
        *width = 4;
    } else if (has_text(r, SET_BYTES + 16, "VAND")) {
        *width = 8;
    } else if (has_text(r, SET_BYTES + 8, "DNAV") || has_text(r, SET_BYTES + 16, "DNAV")) {
        return FAIL(r, SET_BYTES, "the tiles are big-endian");
    } else {
        return FAIL(r, SET_BYTES, "no Detour tile follows the set's header");
    }
    return NAV_OK;
}

static nav_status find_tiles(mset_reader *r, uint32_t tile_count)
{
    size_t width = 0, at = SET_BYTES;
    nav_status status = find_reference_width(r, &width);
    for (uint32_t i = 0; status == NAV_OK && i < tile_count; i++) {
        if (r->size - at < 2 * width) {
            return FAIL(r, at, "the file ends before tile %u of %u", i, tile_count);
        }
        bool no_reference = u32_at(r, at) == 0 && (width == 4 || u32_at(r, at + 4) == 0);
        uint32_t size = u32_at(r, at + width);
        if (no_reference || size == 0) {
            break; // so does Detour's own loader
        }
        at += 2 * width;
        if (size > r->size - at) {
            return FAIL(r, at - width, "tile %u claims %d bytes, %zu follow", i, (int32_t)size, r->size - at);
        }
        tile *t = add_tile(r);
        if (!t) {
            return NAV_NO_MEMORY;
        }
        t->start = at;
        status = read_tile_header(r, t, size);
        at += size;
    }
    if (status == NAV_OK && r->tile_count == 0) {
        return FAIL(r, SET_BYTES, "the set has no tile");
    }
    return status;
}

static nav_status read_position(mset_reader *r, const tile *t, size_t at, double v[3])
{
    for (size_t k = 0; k < 3; k++) {
        v[k] = f32_at(r, at + 4 * k);
        if (!isfinite(v[k])) {
            return FAIL(r, at + 4 * k, "a coordinate in tile %u is not finite", t->number);
        }
    }
    return NAV_OK;
}

static nav_status read_vertices(mset_reader *r, tile *t)
{
    nav_status status = NAV_OK;
    double v[3];
    t->first_vertex = r->soup->vertex_count;
    for (uint32_t i = 0; status == NAV_OK && i < t->vertices; i++) {
        status = read_position(r, t, t->vertices_at + (size_t)i * VERTEX_BYTES, v);
        status = status == NAV_OK ? nav_soup_add_vertex(r->soup, v[0], v[1], v[2]) : status;
    }
    t->first_detail_vertex = r->soup->detail_vertex_count;
    for (uint32_t i = 0; status == NAV_OK && i < t->detail_vertices; i++) {
        status = read_position(r, t, t->detail_vertices_at + (size_t)i * VERTEX_BYTES, v);
        status = status == NAV_OK ? nav_soup_add_detail_vertex(r->soup, v[0], v[1], v[2]) : status;
    }
    return status;
}

// A polygon's record: u32 first link, u16 vertices[6], u16 neighbours[6], u16 flags, u8 corners,
// u8 area in the low six bits and type in the high two.

static size_t polygon_at(const tile *t, uint32_t i)
{
    return t->polygons_at + (size_t)i * POLYGON_BYTES;
}

static uint16_t polygon_flags(const mset_reader *r, size_t at)
{
    return u16_at(r, at + 28);
}

static uint8_t polygon_area(const mset_reader *r, size_t at)
{
    return r->bytes[at + 31] & 0x3F;
}

static uint8_t polygon_type(const mset_reader *r, size_t at)
{
    return r->bytes[at + 31] >> 6;
}

/// Gives each ground polygon of the tile its number in the soup.
static nav_status number_polygons(mset_reader *r, const tile *t)
{
    r->ground.count = 0;
    uint32_t next = r->soup->poly_count;
    for (uint32_t i = 0; i < t->polygons; i++) {
        uint8_t type = polygon_type(r, polygon_at(t, i));
        if (type != TYPE_GROUND && type != TYPE_OFF_MESH) {
            return FAIL(r, polygon_at(t, i) + 31, "polygon %u of tile %u has the unknown type %d", i, t->number, type);
        }
        if (!nav__list_push(&r->ground, &r->soup->alloc, type == TYPE_GROUND ? next++ : NAV_NONE)) {
            return NAV_NO_MEMORY;
        }
    }
    return NAV_OK;
}

static nav_status read_edge(mset_reader *r, const tile *t, uint32_t polygon, size_t at, uint32_t *edge)
{
    uint16_t neighbour = u16_at(r, at);
    if (neighbour & NEIGHBOUR_OUTSIDE) {
        *edge = NAV_EDGE_SEAM;
    } else if (neighbour == 0) {
        *edge = NAV_EDGE_WALL;
    } else if (neighbour > t->polygons) {
        return FAIL(r, at, "polygon %u of tile %u has neighbour %d of %u polygons", polygon, t->number, neighbour - 1,
                    t->polygons);
    } else {
        uint32_t number = r->ground.data[neighbour - 1];
        *edge = number == NAV_NONE ? NAV_EDGE_WALL : number; // a connection is no ground to step on
    }
    return NAV_OK;
}

/// Detail triangles number the polygon's own corners first, then its detail vertices.
static nav_status read_detail(mset_reader *r, const tile *t, uint32_t polygon, const uint32_t *corners, uint32_t count)
{
    size_t at = t->detail_meshes_at + (size_t)polygon * DETAIL_MESH_BYTES;
    uint32_t first_vertex = u32_at(r, at), first_tri = u32_at(r, at + 4);
    uint32_t vertices = r->bytes[at + 8], tris = r->bytes[at + 9];
    if (first_vertex > t->detail_vertices || vertices > t->detail_vertices - first_vertex ||
        first_tri > t->detail_tris || tris > t->detail_tris - first_tri) {
        return FAIL(r, at, "the detail mesh of polygon %u of tile %u lies outside it", polygon, t->number);
    }
    nav_status status = NAV_OK;
    for (uint32_t i = 0; status == NAV_OK && i < tris; i++) {
        size_t tri_at = t->detail_tris_at + (size_t)(first_tri + i) * DETAIL_TRI_BYTES;
        uint32_t tri[3];
        for (size_t k = 0; k < 3; k++) {
            uint32_t v = r->bytes[tri_at + k];
            if (v >= count + vertices) {
                return FAIL(r, tri_at + k, "a detail triangle of polygon %u of tile %u has vertex %u of %u", polygon,
                            t->number, v, count + vertices);
            }
            tri[k] = v < count ? corners[v] : r->soup->vertex_count + t->first_detail_vertex + first_vertex + v - count;
        }
        status = nav_soup_add_detail_tri(r->soup, tri[0], tri[1], tri[2]);
    }
    return status;
}

static nav_status read_polygon(mset_reader *r, const tile *t, uint32_t polygon)
{
    size_t at = polygon_at(t, polygon);
    uint32_t count = r->bytes[at + 30];
    uint32_t corners[MAX_CORNERS], edges[MAX_CORNERS];
    if (count < 3 || count > MAX_CORNERS) {
        return FAIL(r, at + 30, "polygon %u of tile %u has %u corners", polygon, t->number, count);
    }
    nav_status status = NAV_OK;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = u16_at(r, at + 4 + 2 * i);
        if (v >= t->vertices) {
            return FAIL(r, at + 4 + 2 * i, "polygon %u of tile %u has vertex %u of %u", polygon, t->number, v,
                        t->vertices);
        }
        corners[i] = t->first_vertex + v;
        status = read_edge(r, t, polygon, at + 16 + 2 * i, &edges[i]);
        if (status != NAV_OK) {
            return status;
        }
    }
    status = nav_soup_add_polygon(r->soup, corners, count, polygon_area(r, at), polygon_flags(r, at), edges);
    return status == NAV_OK && polygon < t->detail_meshes ? read_detail(r, t, polygon, corners, count) : status;
}

// An off-mesh connection's record: f32 start[3], end[3], radius, u16 polygon, u8 flags (bit 0: both
// ways), u8 side, u32 user id.
static nav_status read_off_mesh(mset_reader *r, const tile *t, uint32_t i)
{
    size_t at = t->off_mesh_at + (size_t)i * OFF_MESH_BYTES;
    double start[3], end[3];
    nav_status status = read_position(r, t, at, start);
    status = status == NAV_OK ? read_position(r, t, at + 12, end) : status;
    if (status != NAV_OK) {
        return status;
    }
    double radius = f32_at(r, at + 24);
    if (!isfinite(radius) || radius < 0) {
        return FAIL(r, at + 24, "off-mesh connection %u of tile %u has no radius", i, t->number);
    }
    uint32_t polygon = u16_at(r, at + 28);
    if (polygon >= t->polygons || r->ground.data[polygon] != NAV_NONE) {
        return FAIL(r, at + 28, "off-mesh connection %u of tile %u names polygon %u, which is none of its kind", i,
                    t->number, polygon);
    }
    nav_link link = {
        .kind = "off-mesh",
        .start = {start[0], start[1], start[2]},
        .end = {end[0], end[1], end[2]},
        .radius = radius,
        .cost = -1,
        .flags = polygon_flags(r, polygon_at(t, polygon)),
        .area = polygon_area(r, polygon_at(t, polygon)),
        .bidirectional = (r->bytes[at + 30] & 1) != 0,
    };
    if (!nav__list_push(&r->user_ids, &r->soup->alloc, u32_at(r, at + 32))) {
        return NAV_NO_MEMORY;
    }
    return nav_soup_add_link(r->soup, &link);
}

static nav_status read_tile(mset_reader *r, const tile *t)
{
    nav_status status = number_polygons(r, t);
    for (uint32_t i = 0; status == NAV_OK && i < t->polygons; i++) {
        if (r->ground.data[i] != NAV_NONE) {
            status = read_polygon(r, t, i);
        }
    }
    for (uint32_t i = 0; status == NAV_OK && i < t->off_mesh; i++) {
        status = read_off_mesh(r, t, i);
    }
    return status;
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/// A link is called by its user id where that is set and the only one of its value, else by its number.
static nav_status name_links(mset_reader *r)
{
    uint32_t count = r->user_ids.count;
    nav__list sorted = {0};
    if (count && !nav__list_reserve(&sorted, &r->soup->alloc, count)) {
        return NAV_NO_MEMORY;
    }
    if (count) {
        memcpy(sorted.data, r->user_ids.data, count * sizeof *sorted.data);
        qsort(sorted.data, count, sizeof *sorted.data, compare_ids);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = r->user_ids.data[i];
        const uint32_t *found = bsearch(&id, sorted.data, count, sizeof id, compare_ids);
        bool twice = (found > sorted.data && found[-1] == id) || (found + 1 < sorted.data + count && found[1] == id);
        snprintf(r->soup->links[i].id, sizeof r->soup->links[i].id, id && !twice ? "%u" : "link-%u",
                 id && !twice ? id : i);
    }
    nav__list_free(&sorted, &r->soup->alloc);
    return NAV_OK;
}

/// Detour bakes one agent into all tiles of a set: the first tile's is taken.
static nav_status read_agent(mset_reader *r)
{
    const tile *t = &r->tiles[0];
    double values[3]; // height, radius, climb
    for (size_t k = 0; k < 3; k++) {
        size_t at = t->start + 60 + 4 * k;
        values[k] = f32_at(r, at);
        if (!isfinite(values[k]) || values[k] < 0) {
            return FAIL(r, at, "the agent of tile 0 has a height, radius or climb that is no size");
        }
    }
    r->soup->agent.height = values[0];
    r->soup->agent.radius = values[1];
    r->soup->agent.climb = values[2];
    r->soup->has_agent = true;
    return NAV_OK;
}

static nav_status read_set(mset_reader *r)
{
    uint32_t tile_count = 0;
    nav_status status = check_set_header(r, &tile_count);
    if (status == NAV_OK) {
        status = find_tiles(r, tile_count);
    }
    if (status == NAV_OK) {
        status = read_agent(r);
    }
    // All vertices first: the soup numbers detail vertices behind them.
    for (uint32_t i = 0; status == NAV_OK && i < r->tile_count; i++) {
        status = read_vertices(r, &r->tiles[i]);
    }
    for (uint32_t i = 0; status == NAV_OK && i < r->tile_count; i++) {
        status = read_tile(r, &r->tiles[i]);
    }
    if (status == NAV_OK && r->soup->poly_count == 0) {
        return FAIL(r, SET_BYTES, "no tile of the set has a ground polygon");
    }
    return status == NAV_OK ? name_links(r) : status;
}

nav_status nav_read_mset(nav_soup *soup, const void *bytes, size_t size, nav_error *error)
{
    mset_reader r = {.soup = soup, .error = error, .bytes = bytes, .size = size};
    strcpy(soup->format, "mset");
    soup->has_areas = soup->has_flags = true;
    nav_status status = read_set(&r);
    if (r.tiles) {
        soup->alloc.resize(soup->alloc.ctx, r.tiles, 0);
    }
    nav__list_free(&r.ground, &soup->alloc);
    nav__list_free(&r.user_ids, &soup->alloc);
    return nav__read_end(soup, status, error);
}
