/// Times of navd's core beside Detour's, in one process, on the same polygons and the same questions.
///
///     bench_detour [--json FILE] [--only TEXT] [--ours] [--load] [--crowd] [--edit]
///
/// --only keeps the cases whose name contains TEXT, --ours leaves the peer out (for profiling),
/// --load keeps the rows about loading, --crowd those about crowds, --edit those about obstacles.
/// Every question is asked in several rounds by turns, and its best time counts: on a busy machine that is the
/// nearest to what the code needs.
#include "own.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace
{

constexpr uint32_t MOST_FOR_WAYS = 20000; ///< polygons; matrices and costs take too long on larger meshes
constexpr double PATH_SECONDS = 20;       ///< no further round once both sides have taken this long

void bench_nearest(bench_report &report, const bench_case &c, own_side &own, detour_peer *peer)
{
    nav_snap snap = nav_snap_default();
    bench_times ours, theirs;
    std::vector<nav_vec> own_point(c.spots.size()), peer_point(c.spots.size());
    std::vector<char> own_found(c.spots.size()), peer_found(c.spots.size());
    for (int round = 0; round < ROUNDS; round++) {
        time_groups(ours, c.spots.size(), [&](size_t i) {
            nav_place place;
            own_found[i] = nav_query_nearest(own.query, own.mesh, c.spots[i].start, &snap, &place);
            own_point[i] = place.point;
        });
        if (peer) {
            time_groups(theirs, c.spots.size(),
                        [&](size_t i) { peer_found[i] = peer->nearest(c.spots[i].start, peer_point[i]); });
        }
    }
    size_t differ = 0;
    for (size_t i = 0; peer && i < c.spots.size(); i++) {
        nav_vec a = own_point[i], b = peer_point[i];
        // Heights apart: Detour cuts polygons that are not flat along other diagonals.
        differ += own_found[i] != peer_found[i] || (own_found[i] && std::hypot(a.x - b.x, a.z - b.z) > 1e-2);
    }
    report.times("nearest", c, ours, peer ? &theirs : nullptr,
                 peer ? bench_text("%.0f asked, %.0f answered otherwise", (double)c.spots.size(), (double)differ) : "");
}

void bench_raycast(bench_report &report, const bench_case &c, own_side &own, detour_peer *peer)
{
    nav_snap snap = nav_snap_default();
    bench_times ours, theirs;
    std::vector<double> own_t(c.rays.size()), peer_t(c.rays.size());
    for (int round = 0; round < ROUNDS; round++) {
        time_groups(ours, c.rays.size(), [&](size_t i) {
            nav_ray ray;
            nav_query_raycast(own.query, own.mesh, c.rays[i].start, c.rays[i].end, &snap, false, &ray);
            own_t[i] = ray.status == NAV_RAY_START_OFF_MESH ? -1 : ray.t;
        });
        if (peer) {
            time_groups(theirs, c.rays.size(), [&](size_t i) { peer_t[i] = peer->raycast(c.rays[i]); });
        }
    }
    size_t differ = 0;
    for (size_t i = 0; peer && i < c.rays.size(); i++) {
        differ += std::fabs(own_t[i] - peer_t[i]) > 1e-3;
    }
    report.times("raycast", c, ours, peer ? &theirs : nullptr,
                 peer ? bench_text("%.0f asked, %.0f stopped elsewhere", (double)c.rays.size(), (double)differ) : "");
}

double ground_length(const nav_path &path)
{
    double length = 0;
    for (uint32_t i = 0; i + 1 < path.point_count; i++) {
        length += std::hypot(path.points[i + 1].x - path.points[i].x, path.points[i + 1].z - path.points[i].z);
    }
    return length;
}

/// What came of the paths of one case, pair by pair.
struct path_tally {
    size_t own = 0, own_partial = 0, peer = 0, starved = 0, longer = 0, equal = 0, shorter = 0;
    double excess = 0; ///< sum over pairs that both answered, of the peer's length over ours

    void note(bool own_complete, double own_length, bool own_off, const peer_path *other)
    {
        own += own_complete;
        own_partial += !own_complete && !own_off;
        if (!other) {
            return;
        }
        peer += other->complete;
        starved += other->starved;
        if (own_complete && other->complete && !other->rides) {
            double slack = 1e-4 + 1e-5 * own_length;
            longer += other->ground > own_length + slack;
            shorter += other->ground < own_length - slack;
            equal += std::fabs(other->ground - own_length) <= slack;
            excess += other->ground - own_length > slack ? (other->ground - own_length) / own_length : 0;
        }
    }

    std::string tell(size_t pairs, bool with_peer) const
    {
        if (!with_peer) {
            return bench_text("%.0f pairs: navd %.0f complete, %.0f partial", (double)pairs, (double)own,
                              (double)own_partial);
        }
        size_t both = longer + equal + shorter;
        char out[256];
        std::snprintf(
            out, sizeof out,
            "%zu pairs: navd %zu complete, %zu partial; Detour %zu complete, %zu out of nodes; its path longer %zu, "
            "equal %zu, shorter %zu; %.2f %% longer on average",
            pairs, own, own_partial, peer, starved, longer, equal, shorter, both ? 100 * excess / (double)both : 0);
        return out;
    }
};

/// Times the pairs that can be answered; what cannot be reached is only counted.
void bench_path(bench_report &report, const bench_case &c, own_side &own, detour_peer *peer)
{
    nav_path_options options = nav_path_options_default();
    bench_times ours, theirs;
    path_tally tally;
    std::vector<const bench_pair *> reachable;
    for (const bench_pair &pair : c.paths) {
        nav_path path;
        nav_query_path(own.query, own.mesh, pair.start, pair.end, &options, &path);
        peer_path other = peer ? peer->path(pair) : peer_path();
        bool off = path.status == NAV_PATH_START_OFF_MESH || path.status == NAV_PATH_END_OFF_MESH;
        bool complete = path.status == NAV_PATH_COMPLETE;
        tally.note(complete, ground_length(path), off, peer ? &other : nullptr);
        if (complete || other.complete) {
            reachable.push_back(&pair);
        }
    }
    double started = bench_now();
    for (int round = 0; round < ROUNDS && (round == 0 || bench_now() - started < PATH_SECONDS); round++) {
        for (size_t i = 0; i < reachable.size(); i++) {
            nav_path path;
            double before = bench_now();
            nav_query_path(own.query, own.mesh, reachable[i]->start, reachable[i]->end, &options, &path);
            double between = bench_now();
            ours.note(i, 1e6 * (between - before));
            if (peer) {
                peer->path(*reachable[i]);
                theirs.note(i, 1e6 * (bench_now() - between));
            }
        }
    }
    report.times("path", c, ours, peer ? &theirs : nullptr, tally.tell(c.paths.size(), peer != nullptr));
}

bool bench_one(bench_report &report, const bench_case &c, bool alone, bool loading, bool crowds, bool edits)
{
    own_side own;
    if (!own.build(c)) {
        return false;
    }
    detour_peer peer;
    std::string why = "not asked";
    bool with_peer = !alone && (c.set.empty() ? peer.build(c, why) : peer.load(c.set, why));
    report.heading(c.name + ": " +
                   bench_text("%.0f polygons, %.0f search cells, %.0f islands; Detour: ", own.info.polygons,
                              own.info.cells, own.info.islands) +
                   (with_peer ? bench_text("%.0f polygons, pool of %.0f nodes", peer.polygons(), peer.pool()) : why));
    detour_peer *other = with_peer ? &peer : nullptr;
    if (edits) {
        return c.tile == 0 || bench_edits(report, c, own, alone);
    }
    if (crowds) {
        return bench_crowd(report, c, own, other);
    }
    bool fine = !with_peer || bench_load(report, c, c.set.empty() ? peer.save() : c.set);
    if (loading) {
        return fine;
    }
    bench_nearest(report, c, own, other);
    bench_raycast(report, c, own, other);
    bench_path(report, c, own, other);
    bench_surface(report, c, own, other);
    if (c.tile > 0 && c.mesh.poly_count <= MOST_FOR_WAYS) {
        fine = bench_ways(report, c, own, with_peer) && fine;
    }
    if (c.tile > 0) {
        fine = bench_crowd(report, c, own, other) && fine;
        fine = bench_edits(report, c, own, alone) && fine;
    }
    report.value("memory", c, (double)own.info.memory_bytes / own.info.polygons,
                 with_peer ? peer.bytes() / own.info.polygons : NAN, "B/polygon", "both by polygons of the file");
    report.value(c.set.empty() ? "build" : "load", c, 1e3 * own.seconds, with_peer ? 1e3 * peer.build_seconds() : NAN,
                 "ms",
                 c.set.empty() ? "from polygons; Detour is told neighbours, navd finds them"
                               : "from a Detour set; Detour uses its bytes as they are");
    return fine;
}

} // namespace

int main(int argc, char **argv)
{
    const char *json = "build/bench.json", *only = "";
    bool alone = false, loading = false, crowds = false, edits = false;
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = argv[++i];
        } else if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            only = argv[++i];
        } else if (std::strcmp(argv[i], "--ours") == 0) {
            alone = true;
        } else if (std::strcmp(argv[i], "--load") == 0) {
            loading = true;
        } else if (std::strcmp(argv[i], "--crowd") == 0) {
            crowds = true;
        } else if (std::strcmp(argv[i], "--edit") == 0) {
            edits = true;
        } else {
            std::fprintf(stderr, "usage: bench_detour [--json FILE] [--only TEXT] [--ours] [--load] [--crowd]"
                                 " [--edit]\n");
            return 2;
        }
    }
    bench_report report(json);
    bool fine = true;
    bench_case c;
    std::string skipped;
    for (size_t n = 0; bench_make_case(n, c, skipped); n++) {
        if (!skipped.empty()) {
            std::printf("%s\n", skipped.c_str());
        } else if (c.name.find(only) != std::string::npos) {
            fine = bench_one(report, c, alone, loading, crowds, edits) && fine;
        }
        poly_mesh_deinit(&c.mesh);
    }
    if (!report.save()) {
        std::fprintf(stderr, "cannot write %s\n", json);
        return 1;
    }
    return fine ? 0 : 1;
}
