/// Detour on the same polygons.
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "bench.h"

#include <DetourNavMesh.h>
#include <DetourNavMeshQuery.h>

#include <memory>

/// How a path came out.
struct peer_path {
    bool complete = false; ///< leads to the end's polygon
    bool starved = false;  ///< the node pool ran out
    bool rides = false;    ///< over an off-mesh link, whose price the two reckon differently
    double ground = 0;     ///< length on the ground plane
    int points = 0;        ///< of the straight path
};

/// What a path costs, which takes no part in the timing.
struct peer_price {
    double cost = 0; ///< 3D length times the area's cost, links included
    double way = 0;  ///< length on the ground plane and, of links, in space
    int rides = 0;   ///< links ridden
};

struct peer_tile;
struct peer_links;

class detour_peer
{
  public:
    /// Makes tiles of Detour's own data from the polygons, cut to at most 6 corners, none of them straight.
    /// Coordinates must be multiples of 1/64, or of the power of two at which a whole map fits in 16 bits.
    /// @return false, with the reason in `why`, when they do not fit
    bool build(const bench_case &c, std::string &why);
    /// Takes a Detour set as it is.
    bool load(const std::vector<char> &set, std::string &why);

    /// The tiles as a Detour set, which load() takes.
    std::vector<char> save() const;

    bool nearest(nav_vec p, nav_vec &out);
    /// Location of the start included. @return the share of the way walked; -1 off the mesh
    double raycast(const bench_pair &ray);
    /// Location of both ends, search and straight path.
    peer_path path(const bench_pair &pair);
    /// The cost of the same path, whose straight path is cut at areas' borders for it.
    peer_price price(const bench_pair &pair);

    // Location of the start included in each.
    /// @return false off the mesh
    bool move(const bench_pair &step, nav_vec &out);
    /// @return ground distance, at most `radius`; -1 off the mesh
    double wall(nav_vec p, double radius);
    bool random_around(nav_vec p, double radius, nav_vec &out);
    /// @return how many polygons Dijkstra's flood finds in the circle
    int reach(nav_vec p, double radius);

    void set_area_cost(int area, double cost)
    {
        filter.setAreaCost(area, (float)cost);
    }

    dtNavMesh *navmesh()
    {
        return mesh.get();
    }
    double bytes() const
    {
        return memory;
    }
    double build_seconds() const
    {
        return seconds;
    }
    uint32_t polygons() const
    {
        return polygon_count;
    }
    int pool() const
    {
        return node_pool;
    }

  private:
    struct mesh_free {
        void operator()(dtNavMesh *m) const
        {
            dtFreeNavMesh(m);
        }
    };
    struct query_free {
        void operator()(dtNavMeshQuery *q) const
        {
            dtFreeNavMeshQuery(q);
        }
    };
    bool add_tile(const poly_mesh &m, const std::vector<uint32_t> &polygons, const peer_tile &tile,
                  const peer_links &links, std::string &why);
    bool add_tiles(const poly_mesh &m, double side, const peer_links &links, std::string &why);
    bool make_query();
    dtPolyRef locate(nav_vec p, float out[3]) const;
    peer_path walk(const bench_pair &pair, int straight_options);

    std::unique_ptr<dtNavMesh, mesh_free> mesh;
    std::unique_ptr<dtNavMeshQuery, query_free> query;
    dtQueryFilter filter;
    double memory = 0, seconds = 0;
    uint32_t polygon_count = 0;
    int node_pool = 0;
    std::vector<dtPolyRef> corridor;
    std::vector<float> straight;
    std::vector<unsigned char> straight_flags;
    std::vector<dtPolyRef> straight_refs;
    std::vector<float> reach_costs;
};

#endif
