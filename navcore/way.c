#include "way.h"

#include <string.h>

enum { MOST_ROUNDS = 24 };

bool nav__way_reserve(nav__way *way, uint32_t count)
{
    if (count > way->cap || !way->points) {
        way->points = nav__reserve(way->query, &way->query->way, count * sizeof *way->points);
        way->cap = way->points ? (uint32_t)(way->query->way.bytes / sizeof *way->points) : 0;
    }
    return way->points != NULL;
}

double nav__legs_cost(const nav__way *way, const nav__way_point *points, uint32_t count)
{
    double cost = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (points[i].ride == NAV_NONE) {
            cost += nav__leg_rate(way, &points[i]) * nav__dist3(points[i - 1].at, points[i].at);
        }
    }
    return cost;
}

bool nav__way_splice(nav__way *way, uint32_t at, const nav__way_point *points, uint32_t count)
{
    if (!nav__way_reserve(way, way->count + count)) {
        return false;
    }
    memmove(&way->points[at + count], &way->points[at + 1], (way->count - at - 1) * sizeof *points);
    memcpy(&way->points[at], points, count * sizeof *points);
    way->count = way->count + count - 1;
    way->points[at - 1].tried = false;
    if (at + count < way->count) {
        way->points[at + count].tried = false;
    }
    return true;
}

static bool same_place(nav_vec a, nav_vec b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool is_free(const nav__way_point *p)
{
    return p->vertex != NAV_NONE || p->edge != NAV_NONE;
}

/// Points that slid to an edge's end stand at the vertex there.
static void settle(const nav_mesh *m, nav__way_point *p)
{
    if (p->edge != NAV_NONE && (p->t <= 0 || p->t >= 1)) {
        uint32_t e = p->t <= 0 ? p->edge : nav__edge_next(m, p->edge);
        p->vertex = m->edges[e].vertex & NAV__VERTEX;
        p->edge = NAV_NONE;
        p->at = nav__vertex_at(m, p->vertex);
    }
}

/// Takes out points between two legs through one cell and legs without length.
static void compact(nav__way *way)
{
    nav__way_point *points = way->points;
    uint32_t n = 1;
    for (uint32_t i = 1; i < way->count; i++) {
        nav__way_point p = points[i];
        settle(way->mesh, &p);
        if (p.ride == NAV_NONE && n > 1 && points[n - 1].ride == NAV_NONE && is_free(&points[n - 1]) &&
            points[n - 1].cell == p.cell) {
            n--;
        }
        if (p.ride == NAV_NONE && same_place(points[n - 1].at, p.at)) {
            if (is_free(&p) && i + 1 < way->count) {
                continue;
            }
            if (n > 1 && points[n - 1].ride == NAV_NONE && is_free(&points[n - 1])) {
                p.cell = points[--n].cell;
            }
        }
        points[n++] = p;
    }
    way->count = n;
}

bool nav__way_improve(nav__way *way)
{
    compact(way);
    double least = NAV__LEAST_GAIN * nav__legs_cost(way, way->points, way->count);
    bool all_tried_anew = false;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        double gain = 0;
        nav__way_straighten(way);
        if (!nav__way_slide(way, least, &gain)) {
            return false;
        }
        nav__way_straighten(way);
        compact(way);
        for (uint32_t i = 1; i + 1 < way->count; i++) {
            const nav__way_point *p = &way->points[i];
            if (p->vertex != NAV_NONE && !p->tried && p->ride == NAV_NONE && p[1].ride == NAV_NONE &&
                !nav__way_leave_vertex(way, i, &gain)) {
                return false;
            }
        }
        for (uint32_t i = 1; i < way->count; i++) {
            if (!nav__way_cut_through(way, i, &gain)) {
                return false;
            }
        }
        compact(way);
        if (gain > least) {
            continue;
        }
        if (all_tried_anew) {
            break;
        }
        // Points moved a little many times, or straightened, do not tell their neighbours.
        all_tried_anew = true;
        for (uint32_t i = 0; i < way->count; i++) {
            way->points[i].tried = false;
        }
    }
    return true;
}
