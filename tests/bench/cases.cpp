#include "bench.h"

extern "C" {
#include "levels.h"
#include "nav_format.h"
}

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>

namespace
{

struct terrain {
    const char *name;
    int side;
    size_t pairs;
};

const terrain terrains[] = {
    {"terrain-100", 22, 2000}, {"terrain-1k", 66, 2000}, {"terrain-10k", 210, 1000}, {"terrain-200k", 945, 200}};
constexpr size_t TERRAINS = sizeof terrains / sizeof *terrains;
constexpr size_t SHORT_QUESTIONS = 16384;
constexpr double PATCH = 12;                   ///< side of the squares whose polygons share an area
constexpr double LINK_FROM = 10, LINK_TO = 50; ///< lengths of links; Detour's reach no further than the next tile
constexpr uint32_t POLYGONS_PER_LINK = 100;

/// Points uniform over a mesh by area.
class sampler
{
  public:
    sampler(const poly_mesh &m, uint64_t seed) : mesh(m), random(rng_seeded(seed))
    {
        double sum = 0;
        for (uint32_t p = 0; p < m.poly_count; p++) {
            sum += poly_mesh_area(&m, p);
            sums.push_back(sum);
        }
    }

    nav_vec point()
    {
        double at = unit() * sums.back();
        size_t p = (size_t)(std::upper_bound(sums.begin(), sums.end(), at) - sums.begin());
        uint32_t polygon = (uint32_t)std::min(p, sums.size() - 1), size = poly_mesh_size(&mesh, polygon), k = 1;
        const double *a = poly_mesh_corner(&mesh, polygon, 0);
        double part = unit() * 2 * poly_mesh_area(&mesh, polygon);
        for (; k + 2 < size; k++) { // the fan's triangle that holds this share of the area
            part -= poly_mesh_turn(a, poly_mesh_corner(&mesh, polygon, k), poly_mesh_corner(&mesh, polygon, k + 1));
            if (part < 0) {
                break;
            }
        }
        const double *b = poly_mesh_corner(&mesh, polygon, k), *c = poly_mesh_corner(&mesh, polygon, k + 1);
        double u = std::sqrt(unit()), v = unit();
        double wa = 1 - u, wb = u * (1 - v), wc = u * v;
        return {wa * a[0] + wb * b[0] + wc * c[0], wa * a[1] + wb * b[1] + wc * c[1],
                wa * a[2] + wb * b[2] + wc * c[2]};
    }

    double unit()
    {
        return rng_unit(&random);
    }
    double between(double low, double high)
    {
        return low + (high - low) * unit();
    }

  private:
    const poly_mesh &mesh;
    rng random;
    std::vector<double> sums;
};

/// Random paths over the whole mesh, rays of up to 50 units, steps of up to 4, and positions up to 1.5 units beside,
/// 2 over or under the surface.
void ask_at_random(bench_case &c, size_t pairs, uint64_t seed)
{
    sampler s(c.mesh, seed);
    for (size_t i = 0; i < pairs; i++) {
        nav_vec a = s.point(), b = s.point();
        c.paths.push_back({a, b});
    }
    for (size_t i = 0; i < SHORT_QUESTIONS; i++) {
        nav_vec a = s.point();
        double angle = s.between(0, 6.283185307179586), reach = s.between(0, 50);
        c.rays.push_back({a, {a.x + reach * std::cos(angle), a.y, a.z + reach * std::sin(angle)}});
        double step = reach * (4.0 / 50);
        c.steps.push_back({a, {a.x + step * std::cos(angle), a.y, a.z + step * std::sin(angle)}});
        nav_vec b = s.point();
        b.x += s.between(-1.5, 1.5);
        b.y += s.between(-2, 2);
        b.z += s.between(-1.5, 1.5);
        c.spots.push_back({b, b});
    }
}

void list_files(const char *folder, const char *ending, std::vector<std::string> &files)
{
    const char *shared = std::getenv("NAVD_SHARED");
    std::string path = std::string(shared ? shared : "../shared") + "/conformance/" + folder;
    size_t first = files.size(), tail = std::strlen(ending);
    DIR *dir = opendir(path.c_str());
    for (dirent *entry = dir ? readdir(dir) : nullptr; entry; entry = readdir(dir)) {
        size_t length = std::strlen(entry->d_name);
        if (length > tail && std::strcmp(entry->d_name + length - tail, ending) == 0) {
            files.push_back(path + "/" + entry->d_name);
        }
    }
    if (dir) {
        closedir(dir);
    }
    std::sort(files.begin() + (ptrdiff_t)first, files.end());
}

std::vector<std::string> conformance_files()
{
    std::vector<std::string> files;
    list_files("detour", ".bin", files);
    list_files("polyanya/maps", ".mesh", files);
    list_files("polyanya/maps-bench", ".mesh", files);
    return files;
}

bool read_file(const std::string &path, std::vector<char> &bytes)
{
    FILE *f = std::fopen(path.c_str(), "rb");
    if (!f) {
        return false;
    }
    char part[65536];
    for (size_t n; (n = std::fread(part, 1, sizeof part, f)) > 0;) {
        bytes.insert(bytes.end(), part, part + n);
    }
    return std::fclose(f) == 0;
}

/// The soup's polygons, wound as a poly_mesh has them.
void copy_polygons(const nav_soup &soup, poly_mesh &m)
{
    poly_mesh_init(&m);
    for (uint32_t v = 0; v < soup.vertex_count; v++) {
        const double *at = &soup.vertices[3 * (size_t)v];
        poly_mesh_add_vertex(&m, at[0], at[1], at[2]);
    }
    for (uint32_t p = 0; p < soup.poly_count; p++) {
        std::vector<uint32_t> corners(&soup.corners[soup.poly_first[p]], &soup.corners[soup.poly_first[p + 1]]);
        double twice = 0;
        for (size_t k = 1; k + 1 < corners.size(); k++) {
            twice += poly_mesh_turn(&m.vertices[3 * (size_t)corners[0]], &m.vertices[3 * (size_t)corners[k]],
                                    &m.vertices[3 * (size_t)corners[k + 1]]);
        }
        if (twice < 0) {
            std::reverse(corners.begin(), corners.end());
        }
        poly_mesh_add_polygon(&m, corners.data(), (uint32_t)corners.size());
    }
}

void make_from_file(const std::string &path, bench_case &c, std::string &skipped)
{
    std::vector<char> bytes;
    nav_soup soup;
    nav_soup_init(&soup, nullptr);
    nav_error error;
    bool is_set = path.compare(path.size() - 4, 4, ".bin") == 0;
    nav_read_fn *read = is_set ? nav_read_mset : nav_read_polyanya;
    if (!read_file(path, bytes) || read(&soup, bytes.data(), bytes.size(), &error) != NAV_OK) {
        skipped = path + " cannot be read";
        return;
    }
    copy_polygons(soup, c.mesh);
    nav_soup_deinit(&soup);
    if (is_set) {
        c.set = std::move(bytes);
    } else {
        poly_mesh_link(&c.mesh);
    }
    size_t slash = path.rfind('/'), dot = path.rfind('.');
    c.name = path.substr(slash + 1, dot - slash - 1);
    ask_at_random(c, c.mesh.poly_count > 40000 ? 200 : 1000, 1);
}

} // namespace

void bench_give_areas(bench_case &c)
{
    for (uint32_t p = 0; p < c.mesh.poly_count; p++) {
        const double *at = poly_mesh_corner(&c.mesh, p, 0);
        rng patch = rng_seeded((uint64_t)(int64_t)std::floor(at[0] / PATCH) * 4099 +
                               (uint64_t)(int64_t)std::floor(at[2] / PATCH));
        double share = rng_unit(&patch);
        c.mesh.areas[p] = share < 0.3 ? AREA_MUD : share < 0.4 ? AREA_ROAD : 0;
    }
}

void bench_give_links(bench_case &c)
{
    sampler s(c.mesh, 77);
    size_t count = c.mesh.poly_count / POLYGONS_PER_LINK + 1;
    for (size_t tries = 0; c.links.size() < count && tries < 1000 * count; tries++) {
        nav_vec a = s.point(), b = s.point();
        double length = std::hypot(a.x - b.x, a.z - b.z);
        if (length > LINK_FROM && length < LINK_TO) {
            c.links.push_back({a, b});
        }
    }
}

bool bench_make_case(size_t number, bench_case &c, std::string &skipped)
{
    c = bench_case();
    skipped.clear();
    if (number < TERRAINS) {
        const terrain &t = terrains[number];
        c.name = t.name;
        c.tile = LEVEL_TILE;
        level_terrain(&c.mesh, t.side, 1);
        ask_at_random(c, t.pairs, number + 1);
        return true;
    }
    static const std::vector<std::string> files = conformance_files();
    if (number - TERRAINS >= files.size()) {
        return false;
    }
    make_from_file(files[number - TERRAINS], c, skipped);
    return true;
}
