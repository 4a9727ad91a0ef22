/// Rays over the surface: a straight walk (walk.c) asked from outside.
#include "walk.h"

/// Longer rays are cut to this: the squares of longer ones leave the range of a double.
static const double LONGEST = 1e100;
/// Shorter ones have no direction left in a double's square, and end where they begin.
static const double SHORTEST = 1e-140;

/// A ray to further than LONGEST is asked about as far as that, which no mesh reaches.
/// @return by what the end was scaled
static double cut(nav_vec *end)
{
    double most = fmax(fabs(end->x), fabs(end->z));
    double scale = most > LONGEST ? LONGEST / most : 1;
    end->x *= scale;
    end->z *= scale;
    return scale;
}

static bool has_direction(nav__p2 a, nav__p2 b)
{
    return fabs(b.x - a.x) > SHORTEST || fabs(b.z - a.z) > SHORTEST;
}

/// Notes which polygons the ray crosses.
typedef struct corridor_walk {
    nav_query *query;
    const nav_mesh *m;
    uint32_t count;
} corridor_walk;

/// @return false when out of memory
static bool visit_corridor(void *ctx, uint32_t cell, nav__p2 from, nav__p2 to)
{
    corridor_walk *c = ctx;
    return nav__corridor_add(c->query, c->m, cell, from, to, &c->count);
}

static bool is_finite(nav_vec p)
{
    return isfinite(p.x) && isfinite(p.y) && isfinite(p.z);
}

nav_status nav_query_raycast(nav_query *query, const nav_mesh *mesh, nav_vec start, nav_vec end, const nav_snap *snap,
                             bool corridor, nav_ray *ray)
{
    *ray = (nav_ray){.status = NAV_RAY_START_OFF_MESH, .start.polygon = NAV_NONE};
    if (!is_finite(start) || !is_finite(end)) {
        return NAV_BAD_ARGUMENT;
    }
    if (!nav_query_nearest(query, mesh, start, snap, &ray->start)) {
        return NAV_OK;
    }
    nav__anchor anchor;
    nav__anchor_make(mesh, &ray->start, &snap->filter, &anchor);
    nav_vec target = end;
    double scale = cut(&target);
    nav__p2 to = nav__ground(mesh, target);
    corridor_walk polygons = {query, mesh, 0};
    nav__visit_fn *visit = corridor ? visit_corridor : NULL;
    nav__walk_end best = {.clear = true, .cell = ray->start.cell, .point = anchor.p, .t = 1};
    bool told;
    if (has_direction(anchor.p, to)) {
        told = nav__walk_leg(mesh, &snap->filter, anchor.cells, anchor.count, anchor.p, to, visit, &polygons, &best);
    } else {
        told = !visit || visit(&polygons, best.cell, anchor.p, anchor.p);
    }
    if (!told) {
        return NAV_NO_MEMORY;
    }
    ray->status = best.clear ? NAV_RAY_CLEAR : NAV_RAY_BLOCKED;
    ray->t = best.clear ? 1 : best.t * scale;
    ray->point = (nav_vec){best.clear ? end.x : mesh->origin.x + best.point.x,
                           mesh->origin.y + nav__cell_height(mesh, best.cell, best.point, NULL),
                           best.clear ? end.z : mesh->origin.z + best.point.z};
    ray->normal = (nav_vec){best.normal.x, 0, best.normal.z};
    ray->distance = nav__dist(anchor.p, best.point);
    ray->polygons = query->polygons.data;
    ray->polygon_count = polygons.count;
    return NAV_OK;
}
