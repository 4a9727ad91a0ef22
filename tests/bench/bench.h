/// What the parts of the benchmarks share: meshes, questions, times and the report.
#ifndef BENCH_H
#define BENCH_H

extern "C" {
#include "nav_matrix.h"
#include "nav_surface.h"
#include "poly_mesh.h"
#include "rng.h"
}

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// A question: a path's two ends, or a ray's; `start` alone for nearest.
struct bench_pair {
    nav_vec start, end;
};

/// What a polygon's area costs where a case has areas: twice and a half more than plain ground, and half of it.
constexpr uint8_t AREA_MUD = 1, AREA_ROAD = 2;
constexpr double COST_MUD = 2.5, COST_ROAD = 0.5;
constexpr double LINK_RADIUS = 0.5; ///< of links' ends

/// One mesh to measure on.
struct bench_case {
    std::string name;
    poly_mesh mesh{};              ///< linked; deinit by whoever made it
    double tile = 0;               ///< side of the peer's tiles; 0: one tile
    std::vector<char> set;         ///< a Detour set that both load as it is; then mesh only tells where to ask
    std::vector<bench_pair> links; ///< off-mesh links to add, ridden both ways, ends on the surface
    std::vector<bench_pair> paths; ///< both ends on the surface
    std::vector<bench_pair> rays;  ///< start on the surface
    std::vector<bench_pair> steps; ///< start on the surface, the end a step from it
    std::vector<bench_pair> spots; ///< start near the surface
};

/// Seconds since some moment.
double bench_now();
/// Seconds of processor time, for what is long enough to be interrupted; reading it takes too long for the rest.
double bench_cpu_now();

/// Microseconds of many questions. Each entry is the best of several rounds, or the mean of a small group of
/// questions where one alone is too short for the clock.
struct bench_times {
    std::vector<double> best;
    void note(size_t entry, double us);
    double mean() const;
    double quantile(double share) const; ///< 0.5: the median
};

/// Prints a line at once and keeps it for the JSON file.
class bench_report
{
  public:
    explicit bench_report(std::string json_path) : path(std::move(json_path))
    {
    }
    void heading(const std::string &text);
    /// mean, p50 and p99 of both, and the ratio of the means. `peer` may be null.
    void times(const char *bench, const bench_case &c, const bench_times &ours, const bench_times *peer,
               const std::string &note);
    /// One number of both. `peer` NAN: there is none.
    void value(const char *bench, const bench_case &c, double ours, double peer, const char *unit,
               const std::string &note, const char *peer_name = "Detour");
    /// Writes the JSON file. @return false when it cannot
    bool save() const;

  private:
    void add(const std::string &bench, const std::string &name, double ours, double peer, const char *unit,
             const char *peer_name = "Detour");
    std::string path, json;
};

/// Makes the cases one by one, so that only one is in memory: terrains of growing size, then the Detour sets
/// and .mesh maps of the conformance set where it is present.
/// @return false when there is none with this number
bool bench_make_case(size_t number, bench_case &c, std::string &skipped);

/// Gives patches of the polygons, some 40 % of them, to AREA_MUD and AREA_ROAD.
void bench_give_areas(bench_case &c);
/// Adds a link for each hundred polygons.
void bench_give_links(bench_case &c);

#endif
