/// Vertices of the finished cells: one for each fan of half-edges about a point.
#include "build_pack.h"

/// The half-edge of the fan that has a wall on its right, or `half` itself where the fan is closed.
static uint32_t most_clockwise(const nav__build *b, uint32_t half)
{
    uint32_t h = half;
    while (b->halves[h].twin != NAV_NONE) {
        h = b->halves[b->halves[h].twin].next;
        if (h == half) {
            break;
        }
    }
    return h;
}

/// The next half-edge of the fan, anticlockwise; NAV_NONE: a wall.
static uint32_t anticlockwise(const nav__build *b, uint32_t half)
{
    return b->halves[b->halves[half].prev].twin;
}

/// Is the free angle of an open fan more than 180 degrees? Each cell adds more than 0 and at most 180, so
/// the sum is past 180 exactly when a side falls right of the first one, or anything follows a straight
/// line. No angle is ever computed; helices with more than 360 degrees are met on the way.
static bool is_corner(const nav__build *b, uint32_t first)
{
    if (b->halves[first].twin != NAV_NONE) {
        return false; // closed
    }
    nav__p2 v = nav__build_spot(b, first), side = nav__build_spot(b, b->halves[first].next);
    bool straight = false;
    for (uint32_t h = first; h != NAV_NONE; h = anticlockwise(b, h)) {
        double turn = nav__orient(v, side, nav__build_spot(b, b->halves[h].prev));
        if (straight || turn < 0) {
            return true;
        }
        straight = turn == 0;
    }
    return false;
}

bool nav__pack_fans(nav__build *b, nav__pack *p)
{
    p->half_vertex = nav__build_take(b, b->half_count, sizeof *p->half_vertex);
    p->vertex_half = nav__build_take(b, p->edge_count, sizeof *p->vertex_half);
    if (!p->half_vertex || !p->vertex_half) {
        return false;
    }
    memset(p->half_vertex, 0xFF, b->half_count * sizeof *p->half_vertex);
    p->vertex_count = 0;
    for (uint32_t e = 0; e < p->edge_count; e++) {
        if (p->half_vertex[p->old_half[e]] != NAV_NONE) {
            continue;
        }
        uint32_t first = most_clockwise(b, p->old_half[e]);
        uint32_t number = p->vertex_count | (is_corner(b, first) ? NAV__CORNER : 0);
        uint32_t h = first;
        do {
            p->half_vertex[h] = number;
            h = anticlockwise(b, h);
        } while (h != NAV_NONE && h != first);
        p->vertex_half[p->vertex_count++] = first;
    }
    return true;
}
