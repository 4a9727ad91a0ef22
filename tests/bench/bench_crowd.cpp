/// Crowds beside DetourCrowd with its default avoidance: the same agents, places and targets.
#include "own.h"

extern "C" {
#include "nav_crowd.h"
}

#include <DetourCrowd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace
{

constexpr double RADIUS = 0.4, HEIGHT = 1.8, SPEED = 3.5, ACCELERATION = 8;
constexpr double STEP = 0.05;            ///< seconds
constexpr int STEPS = 400, MEASURE = 10; ///< overlaps are counted after each MEASURE-th step
constexpr double FURTHEST = 40;          ///< from an agent to its target
constexpr double SPACING = 2.2 * RADIUS; ///< of agents, and of targets, at least
constexpr double OVERLAP = 0.01;         ///< of a radius: less is none
constexpr double ARRIVED = RADIUS;       ///< so near to its target an agent has arrived
constexpr double LEAST_GROUND = 3;       ///< square units an agent

/// Who is to go from where to where.
struct crowd_task {
    std::vector<nav_vec> from, to;
};

/// What a run came to.
struct crowd_result {
    double us = 0; ///< processor time of an agent's step
    size_t overlaps = 0, arrived = 0;
    double deepest = 0; ///< overlap, in radii
};

/// Positions by square cells, to find who is near.
class near_grid
{
  public:
    near_grid(const std::vector<nav_vec> &all, double side) : points(all), step(side)
    {
    }
    void add(size_t i)
    {
        cells[key(points[i].x, points[i].z, 0, 0)].push_back(i);
    }
    template <typename See> void around(nav_vec p, See see) const
    {
        for (int dx = -1; dx <= 1; dx++) {
            for (int dz = -1; dz <= 1; dz++) {
                auto found = cells.find(key(p.x, p.z, dx, dz));
                for (size_t k = 0; found != cells.end() && k < found->second.size(); k++) {
                    see(found->second[k]);
                }
            }
        }
    }

  private:
    std::pair<long, long> key(double x, double z, int dx, int dz) const
    {
        return {(long)std::floor(x / step) + dx, (long)std::floor(z / step) + dz};
    }
    const std::vector<nav_vec> &points;
    double step;
    std::map<std::pair<long, long>, std::vector<size_t>> cells;
};

double ground(nav_vec a, nav_vec b)
{
    return std::hypot(a.x - b.x, a.z - b.z);
}

/// Random places of the surface that keep apart.
std::vector<nav_vec> spaced_places(own_side &own, size_t count, uint64_t seed)
{
    nav_random_options options = nav_random_options_default();
    options.count = (uint32_t)(8 * count);
    options.seed = seed;
    nav_random random;
    std::vector<nav_vec> places;
    if (nav_query_random(own.query, own.mesh, &options, &random) != NAV_OK) {
        return places;
    }
    places.reserve(count);
    near_grid grid(places, 2 * SPACING);
    for (uint32_t i = 0; i < random.point_count && places.size() < count; i++) {
        bool apart = true;
        grid.around(random.points[i],
                    [&](size_t k) { apart = apart && ground(places[k], random.points[i]) > SPACING; });
        if (apart) {
            places.push_back(random.points[i]);
            grid.add(places.size() - 1);
        }
    }
    return places;
}

/// Each agent takes the first free place near enough as its target.
crowd_task make_task(own_side &own, size_t count)
{
    crowd_task task;
    task.from = spaced_places(own, count, 11);
    std::vector<nav_vec> places = spaced_places(own, count, 12);
    std::vector<char> taken(places.size());
    near_grid grid(places, FURTHEST);
    for (size_t k = 0; k < places.size(); k++) {
        grid.add(k);
    }
    nav_path_options options = nav_path_options_default();
    std::vector<nav_vec> from;
    for (const nav_vec &p : task.from) {
        size_t chosen = places.size();
        grid.around(p, [&](size_t k) {
            if (chosen == places.size() && !taken[k] && ground(places[k], p) < FURTHEST) {
                nav_path path;
                nav_query_path(own.query, own.mesh, p, places[k], &options, &path);
                chosen = path.status == NAV_PATH_COMPLETE && path.length < 1.5 * FURTHEST ? k : chosen;
            }
        });
        if (chosen < places.size()) {
            taken[chosen] = 1;
            from.push_back(p);
            task.to.push_back(places[chosen]);
        }
    }
    task.from = from;
    return task;
}

void count_overlaps(const std::vector<nav_vec> &at, crowd_result &result)
{
    near_grid grid(at, 2 * RADIUS);
    for (size_t i = 0; i < at.size(); i++) {
        grid.around(at[i], [&](size_t k) {
            double deep = std::fabs(at[i].y - at[k].y) < HEIGHT ? 2 - ground(at[i], at[k]) / RADIUS : 0;
            result.overlaps += deep > OVERLAP;
            result.deepest = std::max(result.deepest, deep);
        });
        grid.add(i);
    }
}

/// Runs either side: `step()` makes one, `where()` fills the positions.
template <typename Step, typename Where> crowd_result run(const crowd_task &task, Step step, Where where)
{
    crowd_result result;
    std::vector<nav_vec> at(task.from.size());
    double seconds = 0;
    for (int k = 1; k <= STEPS; k++) {
        double before = bench_cpu_now();
        step();
        seconds += bench_cpu_now() - before;
        if (k % MEASURE == 0) {
            where(at);
            count_overlaps(at, result);
        }
    }
    for (size_t i = 0; i < at.size(); i++) {
        result.arrived += ground(at[i], task.to[i]) <= ARRIVED;
    }
    result.us = 1e6 * seconds / STEPS / (double)at.size();
    return result;
}

bool run_own(own_side &own, const crowd_task &task, crowd_result &result)
{
    nav_crowd_options options = nav_crowd_options_default();
    nav_crowd *crowd = nullptr;
    options.max_agents = (uint32_t)task.from.size();
    if (nav_crowd_create(&options, own.mesh, nullptr, &crowd) != NAV_OK) {
        return false;
    }
    nav_crowd_agent agent = nav_crowd_agent_default(own.mesh);
    agent.radius = RADIUS;
    agent.height = HEIGHT;
    agent.max_speed = SPEED;
    agent.max_acceleration = ACCELERATION;
    std::vector<nav_crowd_id> ids(task.from.size());
    bool fine = true;
    for (size_t i = 0; i < ids.size() && fine; i++) {
        fine = nav_crowd_add(crowd, &agent, task.from[i], &ids[i]) == NAV_OK &&
               nav_crowd_set_target(crowd, ids[i], task.to[i]) == NAV_OK;
    }
    if (fine) {
        result = run(
            task, [&] { nav_crowd_step(crowd, STEP, own.query); },
            [&](std::vector<nav_vec> &at) {
                nav_crowd_state state;
                for (size_t i = 0; i < ids.size() && nav_crowd_get(crowd, ids[i], &state); i++) {
                    at[i] = state.position;
                }
            });
    }
    nav_crowd_destroy(crowd);
    return fine;
}

bool run_peer(detour_peer &peer, const crowd_task &task, crowd_result &result)
{
    std::unique_ptr<dtCrowd, void (*)(dtCrowd *)> crowd(dtAllocCrowd(), dtFreeCrowd);
    if (!crowd->init((int)task.from.size(), (float)RADIUS, peer.navmesh())) {
        return false;
    }
    dtCrowdAgentParams params{};
    params.radius = (float)RADIUS;
    params.height = (float)HEIGHT;
    params.maxAcceleration = (float)ACCELERATION;
    params.maxSpeed = (float)SPEED;
    params.collisionQueryRange = (float)RADIUS * 12; // as RecastDemo has it, and the next two
    params.pathOptimizationRange = (float)RADIUS * 30;
    params.updateFlags =
        DT_CROWD_ANTICIPATE_TURNS | DT_CROWD_OBSTACLE_AVOIDANCE | DT_CROWD_OPTIMIZE_VIS | DT_CROWD_OPTIMIZE_TOPO;
    std::vector<int> ids(task.from.size());
    for (size_t i = 0; i < ids.size(); i++) {
        const nav_vec &a = task.from[i], &b = task.to[i];
        float from[3] = {(float)a.x, (float)a.y, (float)a.z}, to[3] = {(float)b.x, (float)b.y, (float)b.z}, at[3];
        dtPolyRef ref = 0;
        ids[i] = crowd->addAgent(from, &params);
        crowd->getNavMeshQuery()->findNearestPoly(to, crowd->getQueryHalfExtents(), crowd->getFilter(0), &ref, at);
        if (ids[i] < 0 || !crowd->requestMoveTarget(ids[i], ref, at)) {
            return false;
        }
    }
    result = run(
        task, [&] { crowd->update((float)STEP, nullptr); },
        [&](std::vector<nav_vec> &at) {
            for (size_t i = 0; i < ids.size(); i++) {
                const float *p = crowd->getAgent(ids[i])->npos;
                at[i] = {(double)p[0], (double)p[1], (double)p[2]};
            }
        });
    return true;
}

/// Square units of ground.
double area_of(own_side &own)
{
    nav_reach_options options = nav_reach_options_default();
    nav_reach reach;
    double x = (own.info.min.x + own.info.max.x) / 2, z = (own.info.min.z + own.info.max.z) / 2;
    double wide = own.info.max.x - own.info.min.x, deep = own.info.max.z - own.info.min.z;
    options.snap.half_extents = {wide, own.info.max.y - own.info.min.y + 1, deep};
    bool fine = nav_query_reachable(own.query, own.mesh, {x, own.info.min.y, z}, &options, &reach) == NAV_OK;
    return fine ? reach.area : 0;
}

} // namespace

bool bench_crowd(bench_report &report, const bench_case &c, own_side &own, detour_peer *peer)
{
    double area = area_of(own);
    for (size_t count : {100, 1000, 10000}) {
        if (area < LEAST_GROUND * (double)count) {
            continue;
        }
        crowd_task task = make_task(own, count);
        crowd_result ours, theirs;
        if (!run_own(own, task, ours)) {
            return false;
        }
        bool both = peer && run_peer(*peer, task, theirs);
        char name[32], text[256];
        std::snprintf(name, sizeof name, "crowd %zu", count);
        std::snprintf(text, sizeof text,
                      "%d steps of %zu agents, %.1f units^2 each: overlapping pairs %zu (%zu), deepest %.3f (%.3f) "
                      "radii, arrived %zu (%zu)",
                      STEPS, task.from.size(), area / (double)task.from.size(), ours.overlaps, theirs.overlaps,
                      ours.deepest, theirs.deepest, ours.arrived, theirs.arrived);
        report.value(name, c, ours.us, both ? theirs.us : NAN, "us/agent", text, "DetourCrowd");
    }
    return true;
}
