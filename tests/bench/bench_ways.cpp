/// Ways with area costs, ways over links, and matrices.
#include "own.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace
{

constexpr size_t MATRIX_SIDE = 100;
constexpr size_t MOST_PAIRS = 300; ///< for the searches with costs, which take their time
constexpr double MOST_SECONDS = 5; ///< no further round once one row has taken this long

/// A peer of the case as it now is, ready where wanted.
bool make_peer(const bench_case &c, bool wanted, detour_peer &peer)
{
    std::string why;
    if (wanted && !peer.build(c, why)) {
        std::printf("%s: %s\n", c.name.c_str(), why.c_str());
        return false;
    }
    peer.set_area_cost(AREA_MUD, COST_MUD);
    peer.set_area_cost(AREA_ROAD, COST_ROAD);
    return wanted;
}

// ---- matrix ----------------------------------------------------------------------------------------

/// Many sources and targets, in the order of the case's paths.
struct matrix_question {
    std::vector<nav_vec> sources, targets;
    std::vector<double> rows, single; ///< lengths, INFINITY where there is no way

    explicit matrix_question(const bench_case &c)
    {
        size_t side = std::min(MATRIX_SIDE, c.paths.size());
        for (size_t i = 0; i < side; i++) {
            sources.push_back(c.paths[i].start);
            targets.push_back(c.paths[i].end);
        }
        rows.resize(side * side);
        single.resize(side * side);
    }

    bool ask_rows(own_side &own)
    {
        nav_snap snap = nav_snap_default();
        nav_matrix *matrix = nullptr;
        uint32_t side = (uint32_t)sources.size();
        bool fine = nav_matrix_create(own.query, own.mesh, &snap, sources.data(), side, targets.data(), side, nullptr,
                                      &matrix) == NAV_OK;
        for (uint32_t i = 0; i < side && fine; i++) {
            fine = nav_matrix_row(matrix, own.query, i, &rows[(size_t)i * side]) == NAV_OK;
        }
        nav_matrix_destroy(matrix);
        return fine;
    }

    void ask_singly(own_side &own)
    {
        nav_path_options options = nav_path_options_default();
        options.no_partial = true;
        for (size_t i = 0; i < single.size(); i++) {
            nav_path path;
            nav_query_path(own.query, own.mesh, sources[i / targets.size()], targets[i % targets.size()], &options,
                           &path);
            single[i] = path.status == NAV_PATH_COMPLETE ? path.length : INFINITY;
        }
    }

    /// Lengths are 3D: of two ways equally short on the ground either may be meant.
    size_t differences() const
    {
        size_t count = 0;
        for (size_t i = 0; i < rows.size(); i++) {
            count += !(rows[i] == single[i] || std::fabs(rows[i] - single[i]) <= 1e-6 * (1 + single[i]));
        }
        return count;
    }
};

void bench_matrix(bench_report &report, const bench_case &c, own_side &own)
{
    matrix_question question(c);
    double rows = INFINITY, single = INFINITY;
    double started = bench_now();
    for (int round = 0; round < ROUNDS && (round == 0 || bench_now() - started < MOST_SECONDS); round++) {
        double before = bench_cpu_now();
        if (!question.ask_rows(own)) {
            std::printf("%s: no matrix\n", c.name.c_str());
            return;
        }
        double between = bench_cpu_now();
        question.ask_singly(own);
        rows = std::min(rows, between - before);
        single = std::min(single, bench_cpu_now() - between);
    }
    report.value("matrix", c, 1e3 * rows, 1e3 * single, "ms",
                 bench_text("%.0f x %.0f beside %.0f single paths: %.1f times cheaper", (double)question.sources.size(),
                            (double)question.targets.size(), (double)question.single.size(), single / rows) +
                     bench_text(", %.0f lengths differ", (double)question.differences()),
                 "single paths");
}

// ---- areas and links -------------------------------------------------------------------------------

/// What a path of ours comes to on the scale of the peer's prices.
peer_price price_of(const nav_path &path)
{
    peer_price sum;
    sum.cost = path.cost;
    sum.rides = (int)path.link_count;
    for (uint32_t i = 0, link = 0; i + 1 < path.point_count; i++) {
        nav_vec a = path.points[i], b = path.points[i + 1];
        double ground = std::hypot(b.x - a.x, b.z - a.z);
        bool rides = link < path.link_count && path.links[link].at == i;
        link += rides;
        sum.way += rides ? std::hypot(ground, b.y - a.y) : ground;
    }
    return sum;
}

/// Pairs by which side's answer is the better.
struct price_tally {
    size_t own = 0, peer = 0, rides = 0, dearer = 0, equal = 0, cheaper = 0;
    double excess = 0; ///< sum of what the peer's answer costs more, as a share of ours
    double worst = 0;  ///< greatest share by which the peer's costs less

    void note(bool own_complete, bool peer_complete, double ours, double theirs)
    {
        own += own_complete;
        peer += peer_complete;
        if (own_complete && peer_complete) {
            double slack = 1e-4 + 1e-5 * ours;
            dearer += theirs > ours + slack;
            cheaper += theirs < ours - slack;
            equal += std::fabs(theirs - ours) <= slack;
            worst = std::max(worst, ours > 0 && theirs < ours - slack ? (ours - theirs) / ours : 0);
            excess += ours > 0 ? (theirs - ours) / ours : 0;
        }
    }

    std::string tell(size_t pairs) const
    {
        size_t both = dearer + equal + cheaper;
        return bench_text("%.0f pairs: navd %.0f complete, %.0f links ridden; Detour %.0f complete", (double)pairs,
                          (double)own, (double)rides, (double)peer) +
               bench_text("; its path dearer %.0f, equal %.0f, cheaper %.0f; %.2f %% dearer on average", (double)dearer,
                          (double)equal, (double)cheaper, both ? 100 * excess / (double)both : 0) +
               (cheaper ? bench_text(", at most %.2f %% cheaper", 100 * worst) : "");
    }
};

/// Paths on a changed mesh. `by_cost`: compared by cost, else by way.
void bench_priced(bench_report &report, const char *name, const bench_case &c, own_side &own, detour_peer *peer,
                  const nav_path_options &options, bool by_cost)
{
    bench_times ours, theirs;
    price_tally tally;
    std::vector<const bench_pair *> reachable;
    size_t pairs = std::min(MOST_PAIRS, c.paths.size());
    for (size_t i = 0; i < pairs; i++) {
        nav_path path;
        nav_query_path(own.query, own.mesh, c.paths[i].start, c.paths[i].end, &options, &path);
        bool complete = path.status == NAV_PATH_COMPLETE, other_complete = peer && peer->path(c.paths[i]).complete;
        peer_price mine = price_of(path), other = other_complete ? peer->price(c.paths[i]) : peer_price();
        tally.note(complete, other_complete, by_cost ? mine.cost : mine.way, by_cost ? other.cost : other.way);
        tally.rides += (size_t)mine.rides;
        if (complete || other_complete) {
            reachable.push_back(&c.paths[i]);
        }
    }
    double started = bench_now();
    for (int round = 0; round < ROUNDS && (round == 0 || bench_now() - started < MOST_SECONDS); round++) {
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
    report.times(name, c, ours, peer ? &theirs : nullptr, tally.tell(pairs));
}

bool bench_weighted(bench_report &report, const bench_case &c, bool with_peer)
{
    own_side own;
    detour_peer peer;
    if (!own.build(c)) {
        return false;
    }
    std::vector<double> costs(256, 1);
    costs[AREA_MUD] = COST_MUD;
    costs[AREA_ROAD] = COST_ROAD;
    nav_path_options options = nav_path_options_default();
    options.snap.filter.area_costs = costs.data();
    options.no_partial = true;
    bench_priced(report, "weighted", c, own, make_peer(c, with_peer, peer) ? &peer : nullptr, options, true);
    return true;
}

bool bench_links(bench_report &report, const bench_case &c, bool with_peer)
{
    own_side own;
    detour_peer peer;
    if (!own.build(c)) {
        return false;
    }
    nav_path_options options = nav_path_options_default();
    options.no_partial = true;
    bench_priced(report, "links", c, own, make_peer(c, with_peer, peer) ? &peer : nullptr, options, false);
    return true;
}

} // namespace

bool bench_ways(bench_report &report, const bench_case &c, own_side &own, bool with_peer)
{
    bench_matrix(report, c, own);
    bench_case changed = c; // shares the polygons, which get their own areas back below
    bench_give_links(changed);
    bool fine = bench_links(report, changed, with_peer);
    changed.links.clear();
    bench_give_areas(changed);
    fine = bench_weighted(report, changed, with_peer) && fine;
    std::fill(changed.mesh.areas, changed.mesh.areas + changed.mesh.poly_count, (uint8_t)0);
    return fine;
}
