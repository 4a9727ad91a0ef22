/// Loading: from a file's bytes in memory to a mesh that can be asked.
#include "own.h"

extern "C" {
#include "nav_cooked.h"
#include "nav_format.h"
}

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace
{

constexpr int LOAD_ROUNDS = 5;

/// Milliseconds of processor time of the best of several runs; NAN when one fails.
template <typename Run> double best_ms(Run run)
{
    double best = INFINITY;
    for (int round = 0; round < LOAD_ROUNDS; round++) {
        double before = bench_cpu_now();
        if (!run()) {
            return NAN;
        }
        best = std::min(best, 1e3 * (bench_cpu_now() - before));
    }
    return best;
}

nav_mesh *load_set(const std::vector<char> &set)
{
    nav_soup soup;
    nav_soup_init(&soup, nullptr);
    nav_mesh *mesh = nullptr;
    if (nav_read_mset(&soup, set.data(), set.size(), nullptr) == NAV_OK) {
        nav_mesh_build(&soup, nullptr, nullptr, &mesh, nullptr, nullptr);
    }
    nav_soup_deinit(&soup);
    return mesh;
}

/// Opens a .navd of the set's mesh, which is made first. @return NAN when that fails
double open_ms(const std::vector<char> &set)
{
    nav_mesh *mesh = load_set(set);
    void *bytes = nullptr;
    size_t size = 0;
    if (!mesh || nav_mesh_cook(mesh, nullptr, nullptr, 0, nullptr, &bytes, &size) != NAV_OK) {
        nav_mesh_destroy(mesh);
        return NAN;
    }
    nav_mesh_destroy(mesh);
    double ms = best_ms([&] {
        nav_cooked cooked{};
        bool fine = nav_mesh_open(bytes, size, nullptr, nullptr, nullptr, &cooked, nullptr, nullptr) == NAV_OK;
        nav_mesh_destroy(cooked.mesh);
        return fine;
    });
    std::free(bytes);
    return ms;
}

} // namespace

bool bench_load(bench_report &report, const bench_case &c, const std::vector<char> &set)
{
    double peer = best_ms([&] {
        detour_peer fresh;
        std::string why;
        return fresh.load(set, why);
    });
    double ours = best_ms([&] {
        nav_mesh *mesh = load_set(set);
        nav_mesh_destroy(mesh);
        return mesh != nullptr;
    });
    report.value("load mset", c, ours, peer, "ms", "a Detour set of the same polygons, in memory");
    double cooked = open_ms(set);
    report.value("load navd", c, cooked, peer, "ms", "navd's own form, checked; the peer's Detour set");
    return std::isfinite(ours) && std::isfinite(cooked);
}
