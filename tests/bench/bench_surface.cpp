/// Questions about the surface round a place.
#include "own.h"

#include <algorithm>
#include <cmath>

namespace
{

constexpr double REACH = 20; ///< of wall, random and reachable, in the mesh's unit
constexpr double SAME = 1e-2;
constexpr size_t PLACES = 4096; ///< for what takes longer than a step

double ground(nav_vec a, nav_vec b)
{
    return std::hypot(a.x - b.x, a.z - b.z);
}

/// A count as a number to print.
double number(size_t n)
{
    return (double)n;
}

void bench_move(bench_report &report, const bench_case &c, own_side &own, detour_peer *peer)
{
    nav_snap snap = nav_snap_default();
    bench_times ours, theirs;
    size_t count = c.steps.size();
    std::vector<nav_vec> own_point(count), peer_point(count);
    std::vector<char> own_moved(count), peer_moved(count);
    time_by_turns(
        ours, theirs, count, peer,
        [&](size_t i) {
            nav_move move;
            nav_query_move(own.query, own.mesh, c.steps[i].start, c.steps[i].end, &snap, &move);
            own_moved[i] = move.status == NAV_MOVE_MOVED;
            own_point[i] = move.point;
        },
        [&](size_t i) { peer_moved[i] = peer->move(c.steps[i], peer_point[i]); });
    size_t nearer = 0, further = 0;
    for (size_t i = 0; peer && i < count; i++) {
        if (own_moved[i] && peer_moved[i]) {
            double mine = ground(own_point[i], c.steps[i].end), other = ground(peer_point[i], c.steps[i].end);
            nearer += mine < other - SAME;
            further += mine > other + SAME;
        }
    }
    report.times("move", c, ours, peer ? &theirs : nullptr,
                 bench_text("%.0f steps of up to 4 units; navd nearer to the end %.0f, Detour nearer %.0f",
                            number(count), number(nearer), number(further)));
}

void bench_wall(bench_report &report, const bench_case &c, own_side &own, detour_peer *peer)
{
    nav_snap snap = nav_snap_default();
    bench_times ours, theirs;
    size_t count = std::min(PLACES, c.rays.size());
    std::vector<double> own_distance(count), peer_distance(count);
    time_by_turns(
        ours, theirs, count, peer,
        [&](size_t i) {
            nav_wall wall;
            nav_query_wall(own.query, own.mesh, c.rays[i].start, REACH, &snap, &wall);
            own_distance[i] = wall.status == NAV_WALL_FOUND ? wall.distance : REACH;
            own_distance[i] = wall.status == NAV_WALL_OFF_MESH ? -1 : own_distance[i];
        },
        [&](size_t i) { peer_distance[i] = peer->wall(c.rays[i].start, REACH); });
    size_t differ = 0;
    for (size_t i = 0; peer && i < count; i++) {
        differ += std::fabs(own_distance[i] - peer_distance[i]) > SAME;
    }
    report.times("wall", c, ours, peer ? &theirs : nullptr,
                 bench_text("%.0f places, walls within %.0f units; %.0f distances differ", number(count), REACH,
                            number(differ)));
}

void bench_random(bench_report &report, const bench_case &c, own_side &own, detour_peer *peer)
{
    nav_random_options options = nav_random_options_default();
    options.has_around = true;
    options.radius = REACH;
    bench_times ours, theirs;
    size_t count = std::min(PLACES, c.rays.size());
    std::vector<double> own_distance(count), peer_distance(count);
    time_by_turns(
        ours, theirs, count, peer,
        [&](size_t i) {
            nav_random random;
            options.around = c.rays[i].start;
            options.seed = i;
            nav_query_random(own.query, own.mesh, &options, &random);
            own_distance[i] = random.found ? ground(random.points[0], c.rays[i].start) : -1;
        },
        [&](size_t i) {
            nav_vec point;
            bool found = peer->random_around(c.rays[i].start, REACH, point);
            peer_distance[i] = found ? ground(point, c.rays[i].start) : -1;
        });
    auto outside = [](const std::vector<double> &list) {
        return number((size_t)std::count_if(list.begin(), list.end(), [](double d) { return d > REACH + SAME; }));
    };
    report.times("random", c, ours, peer ? &theirs : nullptr,
                 bench_text("a place within %.0f units, %.0f times; outside: navd %.0f, Detour %.0f", REACH,
                            number(count), outside(own_distance), outside(peer_distance)));
}

void bench_reachable(bench_report &report, const bench_case &c, own_side &own, detour_peer *peer)
{
    nav_reach_options options = nav_reach_options_default();
    options.max_cost = REACH;
    bench_times ours, theirs;
    size_t count = std::min(PLACES, c.rays.size());
    std::vector<double> own_polygons(count), peer_polygons(count);
    time_by_turns(
        ours, theirs, count, peer,
        [&](size_t i) {
            nav_reach reach;
            nav_query_reachable(own.query, own.mesh, c.rays[i].start, &options, &reach);
            own_polygons[i] = reach.polygon_count;
        },
        [&](size_t i) { peer_polygons[i] = peer->reach(c.rays[i].start, REACH); });
    auto mean = [](const std::vector<double> &list) {
        double sum = 0;
        for (double n : list) {
            sum += n;
        }
        return list.empty() ? 0 : sum / (double)list.size();
    };
    report.times(
        "reachable", c, ours, peer ? &theirs : nullptr,
        bench_text("%.0f places, %.0f units; %.1f polygons on average", number(count), REACH, mean(own_polygons)) +
            (peer ? bench_text(" (ways exact), Detour %.1f (over edges' middles, in the circle)", mean(peer_polygons))
                  : ""));
}

} // namespace

void bench_surface(bench_report &report, const bench_case &c, own_side &own, detour_peer *peer)
{
    bench_move(report, c, own, peer);
    bench_wall(report, c, own, peer);
    bench_random(report, c, own, peer);
    bench_reachable(report, c, own, peer);
}
