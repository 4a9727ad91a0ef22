/// Loading: from a file's bytes in memory to a mesh that can be asked.
#include "own.h"

extern "C" {
#include "nav_format.h"
}

#include <algorithm>
#include <cmath>
#include <cstdio>

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
    return std::isfinite(ours);
}
