/// navd's side of a case, and what its rows have in common.
#ifndef BENCH_OWN_H
#define BENCH_OWN_H

#include "peer.h"

constexpr int ROUNDS = 3;
constexpr size_t GROUP = 16; ///< short questions are timed by the group

/// A mesh with a query of its own.
struct own_side {
    nav_mesh *mesh = nullptr;
    nav_query *query = nullptr;
    nav_mesh_info info{};
    double seconds = 0; ///< that reading and building took

    own_side() = default;
    own_side(const own_side &) = delete;
    own_side &operator=(const own_side &) = delete;
    ~own_side();

    /// @return false, having said why, when the mesh does not build
    bool build(const bench_case &c);
};

/// A printf format of up to four doubles.
std::string bench_text(const char *format, double a, double b = 0, double c = 0, double d = 0);

/// Asks every question of a list in groups; `ask(i)` answers question i.
template <typename Ask> void time_groups(bench_times &times, size_t count, Ask ask)
{
    for (size_t first = 0; first < count; first += GROUP) {
        size_t last = first + GROUP < count ? first + GROUP : count;
        double before = bench_now();
        for (size_t i = first; i < last; i++) {
            ask(i);
        }
        times.note(first / GROUP, 1e6 * (bench_now() - before) / (double)(last - first));
    }
}

/// Asks both sides by turns.
template <typename Ask, typename AskPeer>
void time_by_turns(bench_times &ours, bench_times &theirs, size_t count, bool with_peer, Ask ask, AskPeer ask_peer)
{
    for (int round = 0; round < ROUNDS; round++) {
        time_groups(ours, count, ask);
        if (with_peer) {
            time_groups(theirs, count, ask_peer);
        }
    }
}

/// Rows about the surface round a place: move, wall, random, reachable. `peer` may be null.
void bench_surface(bench_report &report, const bench_case &c, own_side &own, detour_peer *peer);

/// Rows of crowds: time of a step for each agent, overlapping pairs and arrivals. `peer` may be null.
/// @return false when something fails
bool bench_crowd(bench_report &report, const bench_case &c, own_side &own, detour_peer *peer);

/// Rows of ways with area costs and over links, each on a mesh of its own made from the case's polygons, and of
/// matrices. Only where the polygons are ours to change (no Detour set).
/// @return false when a mesh does not build
bool bench_ways(bench_report &report, const bench_case &c, own_side &own, bool with_peer);

/// Rows about loading a Detour set.
/// @return false when it does not load
bool bench_load(bench_report &report, const bench_case &c, const std::vector<char> &set);

/// Rows of obstacles: one put up, alone and among many, and paths among them.
/// @return false when something fails
bool bench_edits(bench_report &report, const bench_case &c, own_side &own, bool alone);

#endif
