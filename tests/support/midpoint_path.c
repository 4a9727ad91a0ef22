#include "midpoint_path.h"

#include <math.h>
#include <stdlib.h>

typedef struct point2 {
    double x, z;
} point2;

typedef struct node {
    point2 at;
    double cost;
    uint32_t parent;
    uint32_t edge; ///< corner of the parent whose edge leads here
    bool settled;
} node;

static double apart(point2 a, point2 b)
{
    return hypot(a.x - b.x, a.z - b.z);
}

static double turn(point2 a, point2 b, point2 c)
{
    return (b.x - a.x) * (c.z - a.z) - (b.z - a.z) * (c.x - a.x);
}

static point2 corner_of(const poly_mesh *m, uint32_t polygon, uint32_t k)
{
    const double *v = poly_mesh_corner(m, polygon, k);
    return (point2){v[0], v[2]};
}

/// Dijkstra: what A* finds with a bound that never overestimates.
static bool find_polygons(const poly_mesh *m, const double *costs, oracle_point from, oracle_point to, node *nodes)
{
    for (uint32_t p = 0; p < m->poly_count; p++) {
        nodes[p] = (node){.cost = INFINITY, .parent = NAV_NONE};
    }
    nodes[from.polygon].at = (point2){from.x, from.z};
    nodes[from.polygon].cost = 0;
    for (;;) {
        uint32_t best = NAV_NONE;
        for (uint32_t p = 0; p < m->poly_count; p++) {
            bool open = !nodes[p].settled && nodes[p].cost < INFINITY;
            if (open && (best == NAV_NONE || nodes[p].cost < nodes[best].cost)) {
                best = p;
            }
        }
        if (best == NAV_NONE || best == to.polygon) {
            return best != NAV_NONE;
        }
        nodes[best].settled = true;
        for (uint32_t k = 0; k < poly_mesh_size(m, best); k++) {
            uint32_t next = m->neighbours[m->first[best] + k];
            if (next == NAV_NONE || nodes[next].settled || costs[next] == INFINITY) {
                continue;
            }
            point2 a = corner_of(m, best, k), b = corner_of(m, best, k + 1);
            point2 middle = {(a.x + b.x) / 2, (a.z + b.z) / 2};
            double cost = nodes[best].cost + costs[best] * apart(nodes[best].at, middle);
            if (next == to.polygon) {
                cost += costs[next] * apart(middle, (point2){to.x, to.z});
            }
            if (cost < nodes[next].cost) {
                nodes[next] = (node){.at = middle, .cost = cost, .parent = best, .edge = k};
            }
        }
    }
}

/// Pulls a string through portals; the first and the last are single points (Mononen, "Simple Stupid Funnel
/// Algorithm", 2010).
static double pull(const point2 *left, const point2 *right, uint32_t count, const weighted_oracle *o)
{
    double cost = 0;
    point2 apex = left[0], l = left[0], r = right[0];
    uint32_t l_at = 0, r_at = 0;
    for (uint32_t i = 1; i < count; i++) {
        bool to_left = false, to_right = false;
        if (turn(apex, r, right[i]) >= 0) {
            if ((apex.x == r.x && apex.z == r.z) || turn(apex, l, right[i]) < 0) {
                r = right[i];
                r_at = i;
            } else {
                to_left = true;
            }
        }
        if (!to_left && turn(apex, l, left[i]) <= 0) {
            if ((apex.x == l.x && apex.z == l.z) || turn(apex, r, left[i]) > 0) {
                l = left[i];
                l_at = i;
            } else {
                to_right = true;
            }
        }
        if (to_left || to_right) {
            point2 corner = to_left ? l : r;
            cost += weighted_oracle_leg(o, apex.x, apex.z, corner.x, corner.z, 1e-6);
            i = to_left ? l_at : r_at;
            apex = l = r = corner;
            l_at = r_at = i;
        }
    }
    return cost + weighted_oracle_leg(o, apex.x, apex.z, left[count - 1].x, left[count - 1].z, 1e-6);
}

double midpoint_path_cost(const poly_mesh *mesh, const double *costs, const weighted_oracle *o, oracle_point from,
                          oracle_point to)
{
    node *nodes = poly_mesh_resize(NULL, mesh->poly_count, sizeof *nodes);
    double cost = INFINITY;
    if (find_polygons(mesh, costs, from, to, nodes)) {
        uint32_t count = 2;
        for (uint32_t p = to.polygon; nodes[p].parent != NAV_NONE; p = nodes[p].parent) {
            count++;
        }
        point2 *left = poly_mesh_resize(NULL, count, sizeof *left);
        point2 *right = poly_mesh_resize(NULL, count, sizeof *right);
        left[0] = right[0] = (point2){from.x, from.z};
        left[count - 1] = right[count - 1] = (point2){to.x, to.z};
        uint32_t i = count - 1;
        for (uint32_t p = to.polygon; nodes[p].parent != NAV_NONE; p = nodes[p].parent) {
            // Anticlockwise polygons: looking out over an edge, its begin is on the right.
            right[--i] = corner_of(mesh, nodes[p].parent, nodes[p].edge);
            left[i] = corner_of(mesh, nodes[p].parent, nodes[p].edge + 1);
        }
        cost = pull(left, right, count, o);
        free(left);
        free(right);
    }
    free(nodes);
    return cost;
}
