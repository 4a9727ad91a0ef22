/// Obstacles beside DetourTileCache: one cylinder put up until queries see it,
/// alone and among up to 1,000 others, and what paths take among them.
///
/// The peer's ground is the same, sampled in tiles of 48 cells of 0.3 as in
/// Recast's demo, not compressed, which spares it work. Both put up the same
/// cylinders.
#include "own.h"

extern "C" {
#include "nav_edit.h"
}

#include <DetourNavMeshBuilder.h>
#include <DetourTileCache.h>
#include <DetourTileCacheBuilder.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace
{

constexpr int STANDING = 1000, TIMED = 60;
constexpr double RADIUS = 1, HEIGHT = 2, AGENT = 0.6;
constexpr float CELL = 0.3f, HIGH_CELL = 0.2f, CLIMB = 0.9f;
constexpr int TILE = 48;

struct plain_compressor : dtTileCacheCompressor {
    int maxCompressedSize(const int size) override
    {
        return size;
    }
    dtStatus compress(const unsigned char *from, const int size, unsigned char *to, const int, int *used) override
    {
        std::memcpy(to, from, (size_t)size);
        *used = size;
        return DT_SUCCESS;
    }
    dtStatus decompress(const unsigned char *from, const int size, unsigned char *to, const int most,
                        int *used) override
    {
        *used = std::min(size, most);
        std::memcpy(to, from, (size_t)*used);
        return DT_SUCCESS;
    }
};

struct open_process : dtTileCacheMeshProcess {
    void process(dtNavMeshCreateParams *params, unsigned char *, unsigned short *flags) override
    {
        std::fill(flags, flags + params->polyCount, (unsigned short)1);
    }
};

/// The ground under the peer's cells, from navd's own mesh; NAN: none.
struct ground {
    nav_vec low;
    int width;
    std::vector<float> height;

    float at(int x, int z) const
    {
        return x < 0 || z < 0 || x >= width || z >= width ? NAN : height[(size_t)z * (size_t)width + (size_t)x];
    }
};

ground sample_ground(own_side &own, int tiles)
{
    ground g{own.info.min, tiles * TILE, {}};
    nav_snap snap = nav_snap_default();
    snap.half_extents = {0, 1e6, 0};
    for (int z = 0; z < g.width; z++) {
        for (int x = 0; x < g.width; x++) {
            nav_vec p = {g.low.x + (x + 0.5) * (double)CELL, 0, g.low.z + (z + 0.5) * (double)CELL};
            nav_place place;
            bool found = nav_query_height(own.query, own.mesh, p, &snap, &place);
            g.height.push_back(found ? (float)place.point.y : NAN);
        }
    }
    return g;
}

/// One tile, open towards its neighbours where the ground goes on.
dtStatus add_tile(dtTileCache &cache, plain_compressor &compressor, int x, int z, const ground &g)
{
    float low = INFINITY, high = -INFINITY;
    for (int j = 0; j < TILE; j++) {
        for (int i = 0; i < TILE; i++) {
            float y = g.at(x * TILE + i, z * TILE + j);
            low = std::fmin(low, y);
            high = std::fmax(high, y);
        }
    }
    if (!(low <= high)) {
        return DT_SUCCESS;
    }
    dtTileCacheLayerHeader header{};
    header.magic = DT_TILECACHE_MAGIC;
    header.version = DT_TILECACHE_VERSION;
    header.tx = x;
    header.ty = z;
    header.width = header.height = TILE;
    header.maxx = header.maxy = TILE - 1;
    header.hmax = (unsigned short)((high - low) / HIGH_CELL + 1);
    float side = TILE * CELL;
    const float bounds[6] = {(float)g.low.x + (float)x * side,       low,  (float)g.low.z + (float)z * side,
                             (float)g.low.x + (float)(x + 1) * side, high, (float)g.low.z + (float)(z + 1) * side};
    std::copy(bounds, bounds + 3, header.bmin);
    std::copy(bounds + 3, bounds + 6, header.bmax);
    std::vector<unsigned char> heights(TILE * TILE), areas(TILE * TILE), sides(TILE * TILE);
    for (int j = 0; j < TILE; j++) {
        for (int i = 0; i < TILE; i++) {
            const int step[4][2] = {{-1, 0}, {0, 1}, {1, 0}, {0, -1}};
            size_t k = (size_t)(j * TILE + i);
            float y = g.at(x * TILE + i, z * TILE + j);
            int bits = 0;
            for (int d = 0; d < 4; d++) {
                int ni = i + step[d][0], nj = j + step[d][1];
                bool inside = ni >= 0 && nj >= 0 && ni < TILE && nj < TILE;
                bool open = std::fabs(g.at(x * TILE + ni, z * TILE + nj) - y) <= CLIMB; // false where one is NAN
                bits |= open ? (inside ? 1 << d : 16 << d) : 0;
            }
            heights[k] = std::isnan(y) ? 0xFF : (unsigned char)std::fmin((y - low) / HIGH_CELL, 254);
            areas[k] = std::isnan(y) ? DT_TILECACHE_NULL_AREA : DT_TILECACHE_WALKABLE_AREA;
            sides[k] = (unsigned char)bits;
        }
    }
    unsigned char *data = nullptr;
    int size = 0;
    dtStatus status =
        dtBuildTileCacheLayer(&compressor, &header, heights.data(), areas.data(), sides.data(), &data, &size);
    return dtStatusFailed(status) ? status : cache.addTile(data, size, DT_COMPRESSEDTILE_FREE_DATA, nullptr);
}

struct tile_cache_peer {
    dtTileCacheAlloc allocator;
    plain_compressor compressor;
    open_process process;
    dtTileCache *cache = dtAllocTileCache();
    dtNavMesh *mesh = dtAllocNavMesh();

    tile_cache_peer() = default;
    tile_cache_peer(const tile_cache_peer &) = delete;
    tile_cache_peer &operator=(const tile_cache_peer &) = delete;
    ~tile_cache_peer()
    {
        dtFreeTileCache(cache);
        dtFreeNavMesh(mesh);
    }

    bool build(own_side &own)
    {
        nav_vec low = own.info.min;
        double extent = std::max(own.info.max.x - low.x, own.info.max.z - low.z);
        int tiles = (int)std::ceil(extent / (TILE * (double)CELL));
        ground g = sample_ground(own, tiles);
        dtTileCacheParams params{};
        params.orig[0] = (float)low.x;
        params.orig[2] = (float)low.z;
        params.cs = CELL;
        params.ch = HIGH_CELL;
        params.width = params.height = TILE;
        params.walkableHeight = 2;
        params.walkableRadius = (float)AGENT;
        params.walkableClimb = CLIMB;
        params.maxSimplificationError = 1.3f;
        params.maxTiles = tiles * tiles;
        params.maxObstacles = 2 * STANDING;
        dtNavMeshParams grid{};
        std::copy(params.orig, params.orig + 3, grid.orig);
        grid.tileWidth = grid.tileHeight = TILE * CELL;
        grid.maxTiles = tiles * tiles;
        grid.maxPolys = 1 << 8;
        if (dtStatusFailed(cache->init(&params, &allocator, &compressor, &process)) ||
            dtStatusFailed(mesh->init(&grid))) {
            return false;
        }
        for (int z = 0; z < tiles; z++) {
            for (int x = 0; x < tiles; x++) {
                if (dtStatusFailed(add_tile(*cache, compressor, x, z, g)) ||
                    dtStatusFailed(cache->buildNavMeshTilesAt(x, z, mesh))) {
                    return false;
                }
            }
        }
        return true;
    }

    void settle()
    {
        for (bool done = false; !done;) {
            if (dtStatusFailed(cache->update(0, mesh, &done))) {
                return;
            }
        }
    }

    /// Grown by the agent's radius, as our own are.
    dtObstacleRef add(nav_vec p)
    {
        const float at[3] = {(float)p.x, (float)(p.y - HEIGHT / 2), (float)p.z};
        dtObstacleRef ref = 0;
        while (dtStatusFailed(cache->addObstacle(at, (float)(RADIUS + AGENT), (float)HEIGHT, &ref))) {
            settle(); // its queue is full
        }
        return ref;
    }

    void remove(dtObstacleRef ref)
    {
        cache->removeObstacle(ref);
        settle();
    }
};

nav_edit cylinder(const char *id, nav_vec p)
{
    nav_edit e{};
    e.kind = NAV_EDIT_OBSTACLE;
    std::snprintf(e.id, sizeof e.id, "%s", id);
    e.shape.kind = NAV_SHAPE_CYLINDER;
    e.shape.center = p;
    e.shape.center.y -= HEIGHT / 2;  // on slopes both ends of its foot
    e.shape.radius = RADIUS + AGENT; // these meshes have agents of radius 0
    e.shape.height = HEIGHT;
    return e;
}

double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v.empty() ? NAN : v[v.size() / 2];
}

/// Puts up one cylinder after the other, each taken down again; microseconds of
/// processor time of putting up, the median.
double time_own(nav_editor *editor, const std::vector<nav_vec> &places, nav_mesh **now)
{
    std::vector<double> times;
    for (nav_vec p : places) {
        nav_edit put = cylinder("one", p), take = put;
        take.kind = NAV_EDIT_REMOVE_OBSTACLE;
        nav_mesh *with = nullptr, *without = nullptr;
        double before = bench_cpu_now();
        if (nav_editor_apply(editor, &put, 1, &with, nullptr, nullptr) != NAV_OK) {
            continue;
        }
        nav_mesh_destroy(*now);
        times.push_back(1e6 * (bench_cpu_now() - before));
        *now = with;
        if (nav_editor_apply(editor, &take, 1, &without, nullptr, nullptr) == NAV_OK) {
            nav_mesh_destroy(*now);
            *now = without;
        }
    }
    return median(times);
}

double time_peer(tile_cache_peer &peer, const std::vector<nav_vec> &places)
{
    std::vector<double> times;
    for (nav_vec p : places) {
        double before = bench_cpu_now();
        dtObstacleRef ref = peer.add(p);
        peer.settle();
        times.push_back(1e6 * (bench_cpu_now() - before));
        peer.remove(ref);
    }
    return median(times);
}

/// Mean microseconds of the paths that lead to their end on both meshes.
void time_paths(const bench_case &c, nav_query *query, const nav_mesh *free, const nav_mesh *full, double out[2])
{
    nav_path_options options = nav_path_options_default();
    const nav_mesh *const meshes[2] = {free, full};
    size_t count = 0;
    out[0] = out[1] = 0;
    for (size_t i = 0; i < c.paths.size() && i < 300; i++) {
        double best[2] = {INFINITY, INFINITY};
        bool complete = true;
        for (int round = 0; round < 2 * ROUNDS; round++) {
            nav_path path;
            double before = bench_now();
            nav_query_path(query, meshes[round % 2], c.paths[i].start, c.paths[i].end, &options, &path);
            best[round % 2] = std::min(best[round % 2], 1e6 * (bench_now() - before));
            complete = complete && path.status == NAV_PATH_COMPLETE;
        }
        if (complete && count < 300) {
            out[0] += best[0];
            out[1] += best[1];
            count++;
        }
    }
    out[0] /= (double)count;
    out[1] /= (double)count;
}

} // namespace

bool bench_edits(bench_report &report, const bench_case &c, own_side &own, bool alone)
{
    std::vector<nav_vec> one, many;
    for (size_t i = 0; i < c.paths.size(); i++) {
        (one.size() < TIMED ? one : many).push_back(c.paths[i].start);
        many.push_back(c.paths[i].end);
    }
    // On small meshes fewer stand: at most a tenth of the ground is taken.
    double size = (own.info.max.x - own.info.min.x) * (own.info.max.z - own.info.min.z);
    double room = 0.1 * size / (3.14 * (RADIUS + AGENT) * (RADIUS + AGENT));
    many.resize(std::min({many.size(), (size_t)STANDING, (size_t)room + 1}));
    nav_editor *editor = nullptr;
    nav_mesh *free = nullptr, *now = nullptr, *full = nullptr;
    double before = bench_cpu_now();
    if (nav_editor_create(own.mesh, nullptr, &editor, nullptr) != NAV_OK ||
        nav_editor_apply(editor, nullptr, 0, &free, nullptr, nullptr) != NAV_OK ||
        nav_editor_apply(editor, nullptr, 0, &now, nullptr, nullptr) != NAV_OK) {
        return false;
    }
    report.value("edit: lay out", c, 1e3 * (bench_cpu_now() - before), NAN, "ms", "once a mesh");
    tile_cache_peer peer;
    if (!alone && !peer.build(own)) {
        std::fprintf(stderr, "%s: the peer does not build\n", c.name.c_str());
        return false;
    }
    double ours = time_own(editor, one, &now), theirs = alone ? NAN : time_peer(peer, one);
    report.value("edit: one cylinder", c, ours, theirs, "us", "median until queries see it", "DetourTileCache");
    std::vector<nav_edit> edits;
    for (size_t i = 0; i < many.size(); i++) {
        char id[32];
        std::snprintf(id, sizeof id, "o%zu", i);
        edits.push_back(cylinder(id, many[i]));
        if (!alone) {
            peer.add(many[i]);
        }
    }
    peer.settle();
    if (nav_editor_apply(editor, edits.data(), (uint32_t)edits.size(), &full, nullptr, nullptr) != NAV_OK) {
        return false;
    }
    nav_mesh_destroy(now);
    now = full;
    double paths[2];
    time_paths(c, own.query, free, full, paths);
    report.value("edit: paths among them", c, paths[1], paths[0], "us",
                 bench_text("mean, with %.0f standing and without", (double)many.size()), "none");
    ours = time_own(editor, one, &now);
    theirs = alone ? NAN : time_peer(peer, one);
    report.value("edit: one more", c, ours, theirs, "us", bench_text("median, with %.0f standing", (double)many.size()),
                 "DetourTileCache");
    nav_mesh_destroy(now);
    nav_mesh_destroy(free);
    nav_editor_destroy(editor);
    return true;
}
