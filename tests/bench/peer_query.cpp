/// Detour's own functions for the questions of the rows.
#include "peer.h"

extern "C" {
#include "rng.h"
}

#include <algorithm>
#include <cmath>

namespace
{

const float HALF_EXTENTS[3] = {2, 4, 2};
constexpr int MOST_VISITED = 64; ///< polygons a step may cross

/// Detour's own source of chance is a function without context.
rng chance = rng_seeded(1);

float next_chance()
{
    return (float)(rng_next(&chance) >> 8) * (1.0f / 16777216.0f);
}

void copy(float *out, nav_vec p)
{
    out[0] = (float)p.x;
    out[1] = (float)p.y;
    out[2] = (float)p.z;
}

nav_vec vec_of(const float *p)
{
    return {p[0], p[1], p[2]};
}

} // namespace

dtPolyRef detour_peer::locate(nav_vec p, float out[3]) const
{
    float at[3];
    dtPolyRef ref = 0;
    copy(at, p);
    query->findNearestPoly(at, HALF_EXTENTS, &filter, &ref, out);
    return ref;
}

bool detour_peer::nearest(nav_vec p, nav_vec &out)
{
    float point[3] = {0, 0, 0};
    dtPolyRef ref = locate(p, point);
    out = vec_of(point);
    return ref != 0;
}

double detour_peer::raycast(const bench_pair &ray)
{
    float end[3], point[3], t = 0, normal[3];
    dtPolyRef ref = locate(ray.start, point);
    if (!ref) {
        return -1;
    }
    copy(end, ray.end);
    query->raycast(ref, point, end, &filter, &t, normal, nullptr, nullptr, 0);
    return std::min(1.0, (double)t);
}

bool detour_peer::move(const bench_pair &step, nav_vec &out)
{
    float end[3], point[3], result[3] = {0, 0, 0};
    dtPolyRef ref = locate(step.start, point), visited[MOST_VISITED];
    int count = 0;
    copy(end, step.end);
    bool moved = ref && dtStatusSucceed(
                            query->moveAlongSurface(ref, point, end, &filter, result, visited, &count, MOST_VISITED));
    out = vec_of(result);
    return moved;
}

double detour_peer::wall(nav_vec p, double radius)
{
    float point[3], distance = 0, hit[3], normal[3];
    dtPolyRef ref = locate(p, point);
    if (!ref || dtStatusFailed(query->findDistanceToWall(ref, point, (float)radius, &filter, &distance, hit, normal))) {
        return -1;
    }
    return distance;
}

bool detour_peer::random_around(nav_vec p, double radius, nav_vec &out)
{
    float point[3], result[3] = {0, 0, 0};
    dtPolyRef ref = locate(p, point), found = 0;
    if (ref) {
        query->findRandomPointAroundCircle(ref, point, (float)radius, &filter, next_chance, &found, result);
    }
    out = vec_of(result);
    return found != 0;
}

int detour_peer::reach(nav_vec p, double radius)
{
    float point[3];
    int count = 0;
    dtPolyRef ref = locate(p, point);
    if (ref) {
        query->findPolysAroundCircle(ref, point, (float)radius, &filter, corridor.data(), nullptr, reach_costs.data(),
                                     &count, (int)corridor.size());
    }
    return count;
}

/// Leaves the straight path's points, flags and polygons in the members.
peer_path detour_peer::walk(const bench_pair &pair, int straight_options)
{
    float from[3], to[3];
    dtPolyRef first = locate(pair.start, from), last = locate(pair.end, to);
    peer_path answer;
    if (!first || !last) {
        return answer;
    }
    int count = 0;
    dtStatus status = query->findPath(first, last, from, to, &filter, corridor.data(), &count, (int)corridor.size());
    answer.complete = dtStatusSucceed(status) && count > 0 && corridor[(size_t)count - 1] == last;
    answer.starved = dtStatusDetail(status, DT_OUT_OF_NODES);
    query->findStraightPath(from, to, corridor.data(), count, straight.data(), straight_flags.data(),
                            straight_refs.data(), &answer.points, (int)straight_refs.size(), straight_options);
    return answer;
}

peer_path detour_peer::path(const bench_pair &pair)
{
    peer_path answer = walk(pair, 0);
    for (int i = 0; i + 1 < answer.points; i++) {
        const float *a = &straight[3 * (size_t)i];
        answer.ground += std::hypot((double)a[3] - a[0], (double)a[5] - a[2]);
        answer.rides = answer.rides || (straight_flags[(size_t)i] & DT_STRAIGHTPATH_OFFMESH_CONNECTION);
    }
    return answer;
}

peer_price detour_peer::price(const bench_pair &pair)
{
    peer_path answer = walk(pair, DT_STRAIGHTPATH_AREA_CROSSINGS);
    peer_price sum;
    for (int i = 0; i + 1 < answer.points; i++) {
        const float *a = &straight[3 * (size_t)i];
        double x = (double)a[3] - a[0], y = (double)a[4] - a[1], z = (double)a[5] - a[2];
        double ground = std::hypot(x, z), space = std::sqrt(x * x + y * y + z * z);
        bool rides = straight_flags[(size_t)i] & DT_STRAIGHTPATH_OFFMESH_CONNECTION;
        unsigned char area = 0;
        mesh->getPolyArea(straight_refs[(size_t)i], &area);
        sum.cost += space * filter.getAreaCost(area);
        sum.way += rides ? space : ground;
        sum.rides += rides;
    }
    return sum;
}
