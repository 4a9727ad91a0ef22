#include "peer.h"

#include <DetourAlloc.h>
#include <DetourNavMeshBuilder.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace
{

constexpr int MOST_CORNERS = 6;
constexpr unsigned short NOTHING = 0xFFFF;
constexpr int MOST_NODES = 65535;

struct bounds {
    double min[3] = {INFINITY, INFINITY, INFINITY}, max[3] = {-INFINITY, -INFINITY, -INFINITY};
};

bounds bounds_of(const poly_mesh &m)
{
    bounds b;
    for (uint32_t v = 0; v < m.vertex_count; v++) {
        for (int a = 0; a < 3; a++) {
            b.min[a] = std::min(b.min[a], m.vertices[3 * (size_t)v + (size_t)a]);
            b.max[a] = std::max(b.max[a], m.vertices[3 * (size_t)v + (size_t)a]);
        }
    }
    return b;
}

/// The smallest power of two, at least 1/64, of which 65,534 reach over `extent`.
double quantum(double extent)
{
    double step = 1.0 / 64;
    while (extent / step > 65534) {
        step *= 2;
    }
    return step;
}

bool is_multiple(double value, double step)
{
    return std::fabs(value / step - std::round(value / step)) < 1e-9;
}

void copy(float *out, nav_vec p)
{
    out[0] = (float)p.x;
    out[1] = (float)p.y;
    out[2] = (float)p.z;
}

/// The same polygons, cut as Detour wants them.
poly_mesh cut_copy(const poly_mesh &source)
{
    poly_mesh m;
    poly_mesh_init(&m);
    for (uint32_t v = 0; v < source.vertex_count; v++) {
        const double *at = &source.vertices[3 * (size_t)v];
        poly_mesh_add_vertex(&m, at[0], at[1], at[2]);
    }
    for (uint32_t p = 0; p < source.poly_count; p++) {
        uint32_t copied = poly_mesh_add_polygon(&m, &source.corners[source.first[p]], poly_mesh_size(&source, p));
        m.areas[copied] = source.areas[p];
    }
    poly_mesh_cut(&m, MOST_CORNERS);
    poly_mesh_link(&m);
    return m;
}

bool fits_steps(const poly_mesh &m, const bounds &b, double step, double height_step)
{
    for (uint32_t v = 0; v < m.vertex_count; v++) {
        const double *at = &m.vertices[3 * (size_t)v];
        if (!is_multiple(at[0] - b.min[0], step) || !is_multiple(at[2] - b.min[2], step) ||
            !is_multiple(at[1] - b.min[1], height_step)) {
            return false;
        }
    }
    return true;
}

/// Polygons by the tile that their middle lies in.
std::vector<std::vector<uint32_t>> sort_into_tiles(const poly_mesh &m, const bounds &b, double side, int nx, int nz)
{
    std::vector<std::vector<uint32_t>> tiles((size_t)nx * (size_t)nz);
    for (uint32_t p = 0; p < m.poly_count; p++) {
        double x = 0, z = 0, size = poly_mesh_size(&m, p);
        for (uint32_t k = 0; k < poly_mesh_size(&m, p); k++) {
            x += poly_mesh_corner(&m, p, k)[0] / size;
            z += poly_mesh_corner(&m, p, k)[2] / size;
        }
        int i = std::min(nx - 1, (int)((x - b.min[0]) / side)), j = std::min(nz - 1, (int)((z - b.min[2]) / side));
        tiles[(size_t)j * (size_t)nx + (size_t)i].push_back(p);
    }
    return tiles;
}

} // namespace

/// Where a tile lies and how finely it is stored.
struct peer_tile {
    int x, z;
    float min[3], max[3];
    double step, height_step;
    bool alone; ///< the only one
};

/// Links as dtCreateNavMeshData takes them; it keeps those that start in its tile.
struct peer_links {
    std::vector<float> ends, radii;
    std::vector<unsigned short> flags;
    std::vector<unsigned char> areas, both_ways;

    explicit peer_links(const std::vector<bench_pair> &links)
        : radii(links.size(), (float)LINK_RADIUS), flags(links.size(), 1), areas(links.size(), 0),
          both_ways(links.size(), DT_OFFMESH_CON_BIDIR)
    {
        for (const bench_pair &link : links) {
            float end[3];
            copy(end, link.start);
            ends.insert(ends.end(), end, end + 3);
            copy(end, link.end);
            ends.insert(ends.end(), end, end + 3);
        }
    }
};

namespace
{

/// Detour's code for an edge on the tile's side: 0 -x, 1 +z, 2 +x, 3 -z, 0xF for a wall.
unsigned short outer_edge(const double *a, const double *b, const peer_tile &tile)
{
    constexpr unsigned short OUTER = 0x8000;
    if (a[0] == tile.min[0] && b[0] == tile.min[0]) {
        return OUTER | 0;
    }
    if (a[2] == tile.max[2] && b[2] == tile.max[2]) {
        return OUTER | 1;
    }
    if (a[0] == tile.max[0] && b[0] == tile.max[0]) {
        return OUTER | 2;
    }
    return a[2] == tile.min[2] && b[2] == tile.min[2] ? OUTER | 3 : NOTHING;
}

/// A tile's polygons as dtCreateNavMeshData takes them.
struct tile_arrays {
    std::map<uint32_t, unsigned short> local, number; ///< of vertices and polygons of the mesh
    std::vector<unsigned short> vertices, polys, flags;
    std::vector<unsigned char> areas;

    tile_arrays(const poly_mesh &m, const std::vector<uint32_t> &polygons, const peer_tile &tile)
        : polys(polygons.size() * 2 * MOST_CORNERS, NOTHING), flags(polygons.size(), 1)
    {
        for (size_t i = 0; i < polygons.size(); i++) {
            number[polygons[i]] = (unsigned short)i;
        }
        for (size_t i = 0; i < polygons.size(); i++) {
            add(m, polygons[i], tile, &polys[i * 2 * MOST_CORNERS]);
            areas.push_back(m.areas[polygons[i]]);
        }
    }

  private:
    unsigned short vertex(const poly_mesh &m, uint32_t v, const peer_tile &tile)
    {
        auto known = local.find(v);
        if (known == local.end()) {
            known = local.emplace(v, (unsigned short)local.size()).first;
            const double *at = &m.vertices[3 * (size_t)v];
            double steps[3] = {(at[0] - tile.min[0]) / tile.step, (at[1] - tile.min[1]) / tile.height_step,
                               (at[2] - tile.min[2]) / tile.step};
            for (double s : steps) {
                vertices.push_back((unsigned short)std::lround(s));
            }
        }
        return known->second;
    }

    void add(const poly_mesh &m, uint32_t p, const peer_tile &tile, unsigned short *corner)
    {
        uint32_t size = poly_mesh_size(&m, p), first = m.first[p];
        unsigned short *neighbour = corner + MOST_CORNERS;
        for (uint32_t k = 0; k < size; k++) { // Detour's polygons run the other way
            uint32_t edge = (2 * size - 2 - k) % size, other = m.neighbours[first + edge];
            corner[k] = vertex(m, m.corners[first + size - 1 - k], tile);
            auto inside = other == NAV_NONE ? number.end() : number.find(other);
            if (inside != number.end()) {
                neighbour[k] = inside->second;
            } else if (other != NAV_NONE && !tile.alone) {
                neighbour[k] = outer_edge(poly_mesh_corner(&m, p, edge), poly_mesh_corner(&m, p, edge + 1), tile);
            }
        }
    }
};

} // namespace

bool detour_peer::add_tile(const poly_mesh &m, const std::vector<uint32_t> &polygons, const peer_tile &tile,
                           const peer_links &links, std::string &why)
{
    tile_arrays arrays(m, polygons, tile);
    if (arrays.local.size() >= NOTHING || polygons.size() >= 0x7FFF) {
        why = "more than 16 bits of vertices or 15 of polygons in one tile";
        return false;
    }
    dtNavMeshCreateParams params;
    std::memset(&params, 0, sizeof params);
    params.verts = arrays.vertices.data();
    params.vertCount = (int)arrays.local.size();
    params.polys = arrays.polys.data();
    params.polyAreas = arrays.areas.data();
    params.polyFlags = arrays.flags.data();
    params.polyCount = (int)polygons.size();
    params.nvp = MOST_CORNERS;
    params.offMeshConVerts = links.ends.data();
    params.offMeshConRad = links.radii.data();
    params.offMeshConFlags = links.flags.data();
    params.offMeshConAreas = links.areas.data();
    params.offMeshConDir = links.both_ways.data();
    params.offMeshConCount = (int)links.radii.size();
    params.walkableHeight = 2;
    params.walkableClimb = 0.5f;
    params.tileX = tile.x;
    params.tileY = tile.z;
    std::memcpy(params.bmin, tile.min, sizeof params.bmin);
    std::memcpy(params.bmax, tile.max, sizeof params.bmax);
    params.cs = (float)tile.step;
    params.ch = (float)tile.height_step;
    params.buildBvTree = true;
    unsigned char *data = nullptr;
    int bytes = 0;
    double before = bench_now();
    if (!dtCreateNavMeshData(&params, &data, &bytes) ||
        dtStatusFailed(mesh->addTile(data, bytes, DT_TILE_FREE_DATA, 0, nullptr))) {
        dtFree(data);
        why = "Detour refuses the tile";
        return false;
    }
    seconds += bench_now() - before;
    memory += bytes;
    return true;
}

bool detour_peer::add_tiles(const poly_mesh &m, double tile_side, const peer_links &links, std::string &why)
{
    bounds b = bounds_of(m);
    double side = tile_side > 0 ? tile_side : std::max(b.max[0] - b.min[0], b.max[2] - b.min[2]);
    double step = quantum(side), height_step = quantum(b.max[1] - b.min[1]);
    if (!fits_steps(m, b, step, height_step)) {
        why = "coordinates do not fit in 16 bits";
        return false;
    }
    int nx = std::max(1, (int)std::ceil((b.max[0] - b.min[0]) / side));
    int nz = std::max(1, (int)std::ceil((b.max[2] - b.min[2]) / side));
    std::vector<std::vector<uint32_t>> tiles = sort_into_tiles(m, b, side, nx, nz);
    dtNavMeshParams params;
    std::memset(&params, 0, sizeof params);
    for (int a = 0; a < 3; a++) {
        params.orig[a] = (float)b.min[a];
    }
    params.tileWidth = params.tileHeight = (float)side;
    params.maxTiles = nx * nz;
    for (const std::vector<uint32_t> &list : tiles) {
        params.maxPolys = std::max(params.maxPolys, (int)(list.size() + links.radii.size()));
    }
    mesh.reset(dtAllocNavMesh());
    if (dtStatusFailed(mesh->init(&params))) {
        why = "Detour refuses the mesh";
        return false;
    }
    memory += (double)sizeof(dtMeshTile) * params.maxTiles;
    for (int i = 0; i < nx * nz; i++) {
        const std::vector<uint32_t> &list = tiles[(size_t)i];
        peer_tile tile = {i % nx, i / nx, {}, {}, step, height_step, nx * nz == 1};
        double corner[3] = {b.min[0] + tile.x * side, b.min[1], b.min[2] + tile.z * side};
        for (int a = 0; a < 3; a++) {
            tile.min[a] = (float)corner[a];
            tile.max[a] = a == 1 ? (float)b.max[1] : (float)(corner[a] + side);
        }
        if (!list.empty() && !add_tile(m, list, tile, links, why)) {
            return false;
        }
    }
    return true;
}

bool detour_peer::build(const bench_case &c, std::string &why)
{
    poly_mesh m = cut_copy(c.mesh);
    polygon_count = m.poly_count;
    bool done = add_tiles(m, c.tile, peer_links(c.links), why);
    poly_mesh_deinit(&m);
    return done && make_query();
}

bool detour_peer::make_query()
{
    // A polygon takes a node for each side of a tile that it is entered from; a larger pool only takes longer to clear.
    node_pool = (int)std::min<uint32_t>(MOST_NODES, std::max<uint32_t>(256, 2 * polygon_count));
    query.reset(dtAllocNavMeshQuery());
    corridor.resize(MOST_NODES);
    straight.resize(3 * (size_t)MOST_NODES);
    straight_flags.resize(MOST_NODES);
    straight_refs.resize(MOST_NODES);
    reach_costs.resize(MOST_NODES);
    return dtStatusSucceed(query->init(mesh.get(), node_pool));
}

/// MSET version 1 of this build's references: 40 bytes, then each tile behind its reference and size.
bool detour_peer::load(const std::vector<char> &set, std::string &why)
{
    constexpr size_t HEADER = 40, TILE_HEADER = sizeof(dtTileRef) + sizeof(int32_t);
    double before = bench_now();
    dtNavMeshParams params;
    int32_t tiles = 0;
    why = "not a set of this build";
    if (set.size() < HEADER) {
        return false;
    }
    std::memcpy(&tiles, &set[8], sizeof tiles);
    std::memcpy(&params, &set[12], sizeof params);
    mesh.reset(dtAllocNavMesh());
    if (dtStatusFailed(mesh->init(&params))) {
        return false;
    }
    memory = (double)sizeof(dtMeshTile) * params.maxTiles;
    size_t at = HEADER;
    for (int32_t i = 0; i < tiles && set.size() - at >= TILE_HEADER; i++) {
        int32_t bytes = 0;
        std::memcpy(&bytes, &set[at + sizeof(dtTileRef)], sizeof bytes);
        at += TILE_HEADER;
        if (bytes <= 0 || (size_t)bytes > set.size() - at) {
            return false;
        }
        unsigned char *data = (unsigned char *)dtAlloc((size_t)bytes, DT_ALLOC_PERM);
        if (!data) {
            return false;
        }
        std::memcpy(data, &set[at], (size_t)bytes);
        if (dtStatusFailed(mesh->addTile(data, bytes, DT_TILE_FREE_DATA, 0, nullptr))) {
            dtFree(data);
            return false;
        }
        polygon_count += (uint32_t)((const dtMeshHeader *)data)->polyCount;
        memory += bytes;
        at += (size_t)bytes;
    }
    seconds = bench_now() - before;
    return make_query();
}

std::vector<char> detour_peer::save() const
{
    std::vector<char> set;
    auto put = [&set](const void *bytes, size_t size) {
        set.insert(set.end(), (const char *)bytes, (const char *)bytes + size);
    };
    const dtNavMesh *m = mesh.get();
    const int32_t version = 1;
    int32_t tiles = 0;
    put("TESM", 4);
    put(&version, sizeof version);
    put(&tiles, sizeof tiles);
    put(m->getParams(), sizeof(dtNavMeshParams));
    for (int i = 0; i < m->getMaxTiles(); i++) {
        const dtMeshTile *tile = m->getTile(i);
        if (!tile->header) {
            continue;
        }
        struct {
            dtTileRef ref;
            int32_t size;
        } head;
        std::memset(&head, 0, sizeof head); // its padding goes into the file
        head.ref = m->getTileRef(tile);
        head.size = tile->dataSize;
        put(&head, sizeof head);
        put(tile->data, (size_t)tile->dataSize);
        tiles++;
    }
    std::memcpy(&set[8], &tiles, sizeof tiles);
    return set;
}
