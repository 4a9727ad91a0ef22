/// Detour tiles, "DNAV" version 7, little-endian, as Detour and Unreal 4 write them. Readers of what tiles come in
/// are in read_mset.c and read_mmap.c.
///
///     header 100 (116) | vertices 12 | polygons 32 | links 12 or 16 | detail meshes 12 | detail vertices 12
///     | detail triangles 4 | bounding volume nodes 16 | off-mesh connections 36 (40)
///
/// In brackets Unreal's: its header has four more words behind the place of the first connection.
#include "read_detour.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/// Complains about the byte `at`.
#define FAIL(d, at, ...) nav_fail((d)->error, NAV_BAD_FORMAT, 0, (at), __VA_ARGS__)

double nav__f32_at(nav__bytes b, size_t at)
{
    uint32_t bits = nav__u32_at(b, at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

bool nav__has_magic(nav__bytes b, size_t at, const char magic[4])
{
    return b.size >= 4 && at <= b.size - 4 && memcmp(b.data + at, magic, 4) == 0;
}

/// Bytes of a tile's parts if its header, links and connections have these sizes. Counts are below 2^31
/// and the sizes small: no sum overflows.
static uint64_t tile_bytes(const nav__tile *t, uint32_t link, bool unreal)
{
    return (unreal ? UNREAL_HEADER_BYTES : NAV__TILE_HEADER_BYTES) + (uint64_t)t->vertices * VERTEX_BYTES +
           (uint64_t)t->polygons * POLYGON_BYTES + (uint64_t)t->links * link +
           (uint64_t)t->detail_meshes * DETAIL_MESH_BYTES + (uint64_t)t->detail_vertices * VERTEX_BYTES +
           (uint64_t)t->detail_tris * DETAIL_TRI_BYTES + (uint64_t)t->bv_nodes * BV_NODE_BYTES +
           (uint64_t)t->off_mesh * (unreal ? UNREAL_OFF_MESH_BYTES : OFF_MESH_BYTES);
}

/// Works out where the parts of a tile lie. Links are 12 bytes in builds with 32-bit references, 16 with 64-bit
/// ones, and Unreal's header is told by nothing but its length: whichever makes the parts end where the tile does.
static nav_status lay_out(nav__detour *d, nav__tile *t, size_t size)
{
    static const struct {
        uint32_t link;
        bool unreal;
    } kinds[] = {{12, false}, {16, false}, {12, true}, {16, true}};
    size_t k = 0;
    while (k < 4 && tile_bytes(t, kinds[k].link, kinds[k].unreal) != size) {
        k++;
    }
    if (k == 4) {
        return FAIL(d, t->start,
                    "the parts of tile %u take %llu bytes by its counts (%llu with 64-bit references), "
                    "but it has %zu",
                    t->number, (unsigned long long)tile_bytes(t, 12, false),
                    (unsigned long long)tile_bytes(t, 16, false), size);
    }
    t->unreal = kinds[k].unreal;
    t->vertices_at = t->start + (t->unreal ? UNREAL_HEADER_BYTES : NAV__TILE_HEADER_BYTES);
    t->polygons_at = t->vertices_at + (size_t)t->vertices * VERTEX_BYTES;
    t->detail_meshes_at = t->polygons_at + (size_t)t->polygons * POLYGON_BYTES + (size_t)t->links * kinds[k].link;
    t->detail_vertices_at = t->detail_meshes_at + (size_t)t->detail_meshes * DETAIL_MESH_BYTES;
    t->detail_tris_at = t->detail_vertices_at + (size_t)t->detail_vertices * VERTEX_BYTES;
    size_t bv_nodes_at = t->detail_tris_at + (size_t)t->detail_tris * DETAIL_TRI_BYTES;
    t->off_mesh_at = bv_nodes_at + (size_t)t->bv_nodes * BV_NODE_BYTES;
    return NAV_OK;
}

/// Reads a tile's header and checks it against the `size` bytes that its container gives the tile.
static nav_status read_tile_header(nav__detour *d, nav__tile *t, size_t size)
{
    if (nav__has_magic(t->file, t->start, "DNAV")) {
        return FAIL(d, t->start, "tile %u is big-endian: write it on a little-endian machine", t->number);
    }
    if (size < NAV__TILE_HEADER_BYTES || !nav__has_magic(t->file, t->start, NAV__TILE_MAGIC)) {
        return FAIL(d, t->start, "tile %u has no DNAV header", t->number);
    }
    uint32_t version = nav__u32_at(t->file, t->start + 4);
    if (version != 7) {
        return FAIL(d, t->start + 4, "tile %u has version %u: only 7 is known (Unreal 5 writes others)", t->number,
                    version);
    }
    t->x = (int32_t)nav__u32_at(t->file, t->start + 8);
    t->y = (int32_t)nav__u32_at(t->file, t->start + 12);
    t->layer = (int32_t)nav__u32_at(t->file, t->start + 16);
    uint32_t *const counts[] = {&t->polygons,        &t->vertices,    &t->links,    &t->detail_meshes,
                                &t->detail_vertices, &t->detail_tris, &t->bv_nodes, &t->off_mesh};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        size_t at = t->start + 24 + 4 * i;
        *counts[i] = nav__u32_at(t->file, at);
        if (*counts[i] > size) { // every part's entries take more than a byte each
            return FAIL(d, at, "tile %u of %zu bytes claims %d entries", t->number, size, (int32_t)*counts[i]);
        }
    }
    return lay_out(d, t, size);
}

static nav__tile *new_tile(nav__detour *d)
{
    if (d->tile_count == d->tile_cap) {
        uint32_t cap = d->tile_cap ? 2 * d->tile_cap : 16;
        nav__tile *tiles = d->soup->alloc.resize(d->soup->alloc.ctx, d->tiles, cap * sizeof *tiles);
        if (!tiles) {
            return NULL;
        }
        d->tiles = tiles;
        d->tile_cap = cap;
    }
    nav__tile *t = &d->tiles[d->tile_count];
    *t = (nav__tile){.number = d->tile_count++};
    return t;
}

nav_status nav__detour_add_tile(nav__detour *d, nav__bytes file, size_t start, size_t size, uint32_t source)
{
    nav__tile *t = new_tile(d);
    if (!t) {
        return NAV_NO_MEMORY;
    }
    t->file = file;
    t->start = start;
    t->source = source;
    return read_tile_header(d, t, size);
}

static nav_status read_position(nav__detour *d, const nav__tile *t, size_t at, double v[3])
{
    for (size_t k = 0; k < 3; k++) {
        v[k] = nav__f32_at(t->file, at + 4 * k);
        if (!isfinite(v[k])) {
            return FAIL(d, at + 4 * k, "a coordinate in tile %u is not finite", t->number);
        }
    }
    return NAV_OK;
}

static nav_status read_vertices(nav__detour *d, nav__tile *t)
{
    nav_status status = NAV_OK;
    double v[3];
    t->first_vertex = d->soup->vertex_count;
    for (uint32_t i = 0; status == NAV_OK && i < t->vertices; i++) {
        status = read_position(d, t, t->vertices_at + (size_t)i * VERTEX_BYTES, v);
        status = status == NAV_OK ? nav_soup_add_vertex(d->soup, v[0], v[1], v[2]) : status;
    }
    t->first_detail_vertex = d->soup->detail_vertex_count;
    for (uint32_t i = 0; status == NAV_OK && i < t->detail_vertices; i++) {
        status = read_position(d, t, t->detail_vertices_at + (size_t)i * VERTEX_BYTES, v);
        status = status == NAV_OK ? nav_soup_add_detail_vertex(d->soup, v[0], v[1], v[2]) : status;
    }
    return status;
}

// A polygon's record: u32 first link, u16 vertices[6], u16 neighbours[6], u16 flags, u8 corners,
// u8 area in the low six bits and type in the high two.

static size_t polygon_at(const nav__tile *t, uint32_t i)
{
    return t->polygons_at + (size_t)i * POLYGON_BYTES;
}

static uint16_t polygon_flags(nav__bytes b, size_t at)
{
    return nav__u16_at(b, at + 28);
}

static uint8_t polygon_area(nav__bytes b, size_t at)
{
    return b.data[at + 31] & 0x3F;
}

static uint8_t polygon_type(nav__bytes b, size_t at)
{
    return b.data[at + 31] >> 6;
}

/// Gives each ground polygon of the tile its number in the soup.
static nav_status number_polygons(nav__detour *d, const nav__tile *t)
{
    d->ground.count = 0;
    uint32_t next = d->soup->poly_count;
    for (uint32_t i = 0; i < t->polygons; i++) {
        uint8_t type = polygon_type(t->file, polygon_at(t, i));
        if (type != TYPE_GROUND && type != TYPE_OFF_MESH) {
            return FAIL(d, polygon_at(t, i) + 31, "polygon %u of tile %u has the unknown type %d", i, t->number, type);
        }
        if (!nav__list_push(&d->ground, &d->soup->alloc, type == TYPE_GROUND ? next++ : NAV_NONE)) {
            return NAV_NO_MEMORY;
        }
    }
    return NAV_OK;
}

static nav_status read_edge(nav__detour *d, nav__tile *t, uint32_t polygon, size_t at, uint32_t *edge)
{
    uint16_t neighbour = nav__u16_at(t->file, at);
    if (neighbour & NEIGHBOUR_OUTSIDE) {
        *edge = NAV_EDGE_SEAM;
        t->outward = (uint8_t)(t->outward | 1u << (neighbour & 7));
    } else if (neighbour == 0) {
        *edge = NAV_EDGE_WALL;
    } else if (neighbour > t->polygons) {
        return FAIL(d, at, "polygon %u of tile %u has neighbour %d of %u polygons", polygon, t->number, neighbour - 1,
                    t->polygons);
    } else {
        uint32_t number = d->ground.data[neighbour - 1];
        *edge = number == NAV_NONE ? NAV_EDGE_WALL : number; // a connection is no ground to step on
    }
    return NAV_OK;
}

/// Detail triangles number the polygon's own corners first, then its detail vertices.
static nav_status read_detail(nav__detour *d, const nav__tile *t, uint32_t polygon, const uint32_t *corners,
                              uint32_t count)
{
    size_t at = t->detail_meshes_at + (size_t)polygon * DETAIL_MESH_BYTES;
    uint32_t first_vertex = nav__u32_at(t->file, at), first_tri = nav__u32_at(t->file, at + 4);
    uint32_t vertices = t->file.data[at + 8], tris = t->file.data[at + 9];
    if (first_vertex > t->detail_vertices || vertices > t->detail_vertices - first_vertex ||
        first_tri > t->detail_tris || tris > t->detail_tris - first_tri) {
        return FAIL(d, at, "the detail mesh of polygon %u of tile %u lies outside it", polygon, t->number);
    }
    nav_status status = NAV_OK;
    for (uint32_t i = 0; status == NAV_OK && i < tris; i++) {
        size_t tri_at = t->detail_tris_at + (size_t)(first_tri + i) * DETAIL_TRI_BYTES;
        uint32_t tri[3];
        for (size_t k = 0; k < 3; k++) {
            uint32_t v = t->file.data[tri_at + k];
            if (v >= count + vertices) {
                return FAIL(d, tri_at + k, "a detail triangle of polygon %u of tile %u has vertex %u of %u", polygon,
                            t->number, v, count + vertices);
            }
            tri[k] = v < count ? corners[v] : d->soup->vertex_count + t->first_detail_vertex + first_vertex + v - count;
        }
        status = nav_soup_add_detail_tri(d->soup, tri[0], tri[1], tri[2]);
    }
    return status;
}

static nav_status read_polygon(nav__detour *d, nav__tile *t, uint32_t polygon)
{
    size_t at = polygon_at(t, polygon);
    uint32_t count = t->file.data[at + 30];
    uint32_t corners[MAX_CORNERS], edges[MAX_CORNERS];
    if (count < 3 || count > MAX_CORNERS) {
        return FAIL(d, at + 30, "polygon %u of tile %u has %u corners", polygon, t->number, count);
    }
    nav_status status = NAV_OK;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = nav__u16_at(t->file, at + 4 + 2 * i);
        if (v >= t->vertices) {
            return FAIL(d, at + 4 + 2 * i, "polygon %u of tile %u has vertex %u of %u", polygon, t->number, v,
                        t->vertices);
        }
        corners[i] = t->first_vertex + v;
        status = read_edge(d, t, polygon, at + 16 + 2 * i, &edges[i]);
        if (status != NAV_OK) {
            return status;
        }
    }
    status =
        nav_soup_add_polygon(d->soup, corners, count, polygon_area(t->file, at), polygon_flags(t->file, at), edges);
    return status == NAV_OK && polygon < t->detail_meshes ? read_detail(d, t, polygon, corners, count) : status;
}

/// Where the members of an off-mesh connection's record lie; it begins with f32 start[3], end[3], radius.
typedef struct off_mesh_layout {
    size_t bytes, polygon, flags, user_id;
    uint8_t both_ways; ///< bit of flags
} off_mesh_layout;

static const off_mesh_layout off_mesh_plain = {OFF_MESH_BYTES, 28, 30, 32, 0x01};
static const off_mesh_layout off_mesh_unreal = {UNREAL_OFF_MESH_BYTES, 36, 39, 32, 0x80};

static nav_status read_off_mesh(nav__detour *d, const nav__tile *t, uint32_t i)
{
    const off_mesh_layout *l = t->unreal ? &off_mesh_unreal : &off_mesh_plain;
    size_t at = t->off_mesh_at + (size_t)i * l->bytes;
    double start[3], end[3];
    nav_status status = read_position(d, t, at, start);
    status = status == NAV_OK ? read_position(d, t, at + 12, end) : status;
    if (status != NAV_OK) {
        return status;
    }
    double radius = nav__f32_at(t->file, at + 24);
    if (!isfinite(radius) || radius < 0) {
        return FAIL(d, at + 24, "off-mesh connection %u of tile %u has no radius", i, t->number);
    }
    uint32_t polygon = nav__u16_at(t->file, at + l->polygon);
    if (polygon >= t->polygons || d->ground.data[polygon] != NAV_NONE) {
        return FAIL(d, at + l->polygon, "off-mesh connection %u of tile %u names polygon %u, which is none of its kind",
                    i, t->number, polygon);
    }
    nav_link link = {
        .kind = "off-mesh",
        .start = {start[0], start[1], start[2]},
        .end = {end[0], end[1], end[2]},
        .radius = radius,
        .cost = -1,
        .flags = polygon_flags(t->file, polygon_at(t, polygon)),
        .area = polygon_area(t->file, polygon_at(t, polygon)),
        .bidirectional = (t->file.data[at + l->flags] & l->both_ways) != 0,
    };
    if (!nav__list_push(&d->user_ids, &d->soup->alloc, nav__u32_at(t->file, at + l->user_id))) {
        return NAV_NO_MEMORY;
    }
    return nav_soup_add_link(d->soup, &link);
}

static nav_status read_tile(nav__detour *d, nav__tile *t)
{
    nav_status status = number_polygons(d, t);
    for (uint32_t i = 0; status == NAV_OK && i < t->polygons; i++) {
        if (d->ground.data[i] != NAV_NONE) {
            status = read_polygon(d, t, i);
        }
    }
    for (uint32_t i = 0; status == NAV_OK && i < t->off_mesh; i++) {
        status = read_off_mesh(d, t, i);
    }
    return status;
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/// A link is called by its user id where that is set and the only one of its value, else by its number.
static nav_status name_links(nav__detour *d)
{
    uint32_t count = d->user_ids.count;
    nav__list sorted = {0};
    if (count && !nav__list_reserve(&sorted, &d->soup->alloc, count)) {
        return NAV_NO_MEMORY;
    }
    if (count) {
        memcpy(sorted.data, d->user_ids.data, count * sizeof *sorted.data);
        qsort(sorted.data, count, sizeof *sorted.data, compare_ids);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = d->user_ids.data[i];
        const uint32_t *found = bsearch(&id, sorted.data, count, sizeof id, compare_ids);
        bool twice = (found > sorted.data && found[-1] == id) || (found + 1 < sorted.data + count && found[1] == id);
        snprintf(d->soup->links[i].id, sizeof d->soup->links[i].id, id && !twice ? "%u" : "link-%u",
                 id && !twice ? id : i);
    }
    nav__list_free(&sorted, &d->soup->alloc);
    return NAV_OK;
}

/// Detour bakes one agent into all tiles of a mesh: the first tile's is taken.
static nav_status read_agent(nav__detour *d)
{
    const nav__tile *t = &d->tiles[0];
    double values[3]; // height, radius, climb
    for (size_t k = 0; k < 3; k++) {
        size_t at = t->start + (t->unreal ? 76 : 60) + 4 * k;
        values[k] = nav__f32_at(t->file, at);
        if (!isfinite(values[k]) || values[k] < 0) {
            return FAIL(d, at, "the agent of tile 0 has a height, radius or climb that is no size");
        }
    }
    d->soup->agent.height = values[0];
    d->soup->agent.radius = values[1];
    d->soup->agent.climb = values[2];
    d->soup->has_agent = true;
    return NAV_OK;
}

static int compare_places(const void *a, const void *b)
{
    const nav__tile *p = *(const nav__tile *const *)a, *q = *(const nav__tile *const *)b;
    if (p->x != q->x) {
        return p->x < q->x ? -1 : 1;
    }
    if (p->y != q->y) {
        return p->y < q->y ? -1 : 1;
    }
    if (p->layer != q->layer) {
        return p->layer < q->layer ? -1 : 1;
    }
    return p->number < q->number ? -1 : p->number > q->number;
}

/// Detour refuses a tile where there is one already.
static nav_status drop_double_tiles(nav__detour *d)
{
    const nav_alloc *alloc = &d->soup->alloc;
    nav__tile **order = alloc->resize(alloc->ctx, NULL, d->tile_count * sizeof *order);
    if (!order) {
        return NAV_NO_MEMORY;
    }
    for (uint32_t i = 0; i < d->tile_count; i++) {
        order[i] = &d->tiles[i];
    }
    qsort(order, d->tile_count, sizeof *order, compare_places);
    uint32_t doubles = 0;
    for (uint32_t i = 1; i < d->tile_count; i++) {
        if (order[i]->x == order[i - 1]->x && order[i]->y == order[i - 1]->y &&
            order[i]->layer == order[i - 1]->layer) {
            if (doubles++ == 0) {
                nav_soup_warn(d->soup, "tile %u lies where an earlier one does, at (%d, %d) layer %d: it is left out",
                              order[i]->number, (int)order[i]->x, (int)order[i]->y, (int)order[i]->layer);
            }
            order[i]->polygons = NAV_NONE; // told below; the order must hold until then
        }
    }
    alloc->resize(alloc->ctx, order, 0);
    if (doubles > 1) {
        nav_soup_warn(d->soup, "%u tiles are left out because they lie where earlier ones do", doubles);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->tile_count; i++) {
        if (d->tiles[i].polygons != NAV_NONE) {
            d->tiles[kept++] = d->tiles[i];
        }
    }
    d->tile_count = kept;
    return NAV_OK;
}

nav_status nav__detour_read(nav__detour *d)
{
    d->soup->has_areas = d->soup->has_flags = true;
    nav_status status = drop_double_tiles(d);
    if (status == NAV_OK) {
        d->source = d->tiles[0].source;
        status = read_agent(d);
    }
    // All vertices first: the soup numbers detail vertices behind them.
    for (uint32_t i = 0; status == NAV_OK && i < d->tile_count; i++) {
        d->source = d->tiles[i].source;
        status = read_vertices(d, &d->tiles[i]);
    }
    for (uint32_t i = 0; status == NAV_OK && i < d->tile_count; i++) {
        d->source = d->tiles[i].source;
        status = read_tile(d, &d->tiles[i]);
    }
    if (status == NAV_OK && d->soup->poly_count == 0) {
        return FAIL(d, d->tiles[0].start, "no tile has a ground polygon");
    }
    return status == NAV_OK ? name_links(d) : status;
}

void nav__detour_free(nav__detour *d)
{
    if (d->tiles) {
        d->soup->alloc.resize(d->soup->alloc.ctx, d->tiles, 0);
    }
    nav__list_free(&d->ground, &d->soup->alloc);
    nav__list_free(&d->user_ids, &d->soup->alloc);
}
