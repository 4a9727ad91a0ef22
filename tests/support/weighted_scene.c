#include "weighted_scene.h"

#include "scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refuse(const char *what)
{
    fprintf(stderr, "weighted scene: %s\n", what);
    abort();
}

/// The polygon under a position.
static oracle_point on_mesh(const weighted_scene *s, nav_vec at)
{
    for (uint32_t p = 0; p < s->mesh.poly_count; p++) {
        if (poly_mesh_holds(&s->mesh, p, at.x, at.z, 1e-6) &&
            fabs(poly_mesh_height(&s->mesh, p, at.x, at.z) - at.y) < 0.01) {
            return (oracle_point){at.x, at.z, p};
        }
    }
    refuse("a link ends beside the mesh");
    return (oracle_point){0, 0, 0};
}

uint32_t weighted_scene_rides(const weighted_scene *s, const nav_link *link, weighted_ride rides[2])
{
    double x = link->end.x - link->start.x, y = link->end.y - link->start.y, z = link->end.z - link->start.z;
    double cost = link->cost >= 0 ? link->cost : s->area_costs[link->area] * sqrt(x * x + y * y + z * z);
    rides[0] = (weighted_ride){on_mesh(s, link->start), on_mesh(s, link->end), cost};
    rides[1] = (weighted_ride){rides[0].to, rides[0].from, cost};
    return link->bidirectional ? 2 : 1;
}

static void make_oracle(weighted_scene *s, const nav_link *links, uint32_t link_count, uint32_t pieces)
{
    weighted_ride *rides = poly_mesh_resize(NULL, 2 * (size_t)link_count + 1, sizeof *rides);
    uint32_t count = 0;
    for (uint32_t i = 0; i < link_count; i++) {
        count += weighted_scene_rides(s, &links[i], rides + count);
    }
    s->oracle = weighted_oracle_create(&s->mesh, s->costs, pieces, rides, count);
    free(rides);
}

void weighted_scene_make(weighted_scene *s, poly_mesh *mesh, const nav_link *links, uint32_t link_count,
                         const nav_filter *filter, bool no_merge, uint32_t pieces)
{
    memset(s, 0, sizeof *s);
    s->mesh = *mesh;
    s->filter = *filter;
    for (int i = 0; i < 256; i++) {
        s->area_costs[i] = filter->area_costs ? filter->area_costs[i] : 1;
    }
    s->filter.area_costs = s->area_costs;
    s->costs = poly_mesh_resize(NULL, (size_t)s->mesh.poly_count + 1, sizeof *s->costs);
    for (uint32_t p = 0; p < s->mesh.poly_count; p++) {
        bool open =
            !s->mesh.has_flags || ((s->mesh.flags[p] & filter->include) && !(s->mesh.flags[p] & filter->exclude));
        s->costs[p] = open ? s->area_costs[s->mesh.areas[p]] : INFINITY;
    }
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    nav_build_options options = nav_build_options_default();
    options.no_merge = no_merge;
    nav_error error = {.message = "out of memory"};
    bool made = poly_mesh_to_soup(&s->mesh, &soup, false, 0) == NAV_OK;
    for (uint32_t i = 0; i < link_count && made; i++) {
        made = nav_soup_add_link(&soup, &links[i]) == NAV_OK;
    }
    if (!made || nav_mesh_build(&soup, &options, NULL, &s->nav, NULL, &error) != NAV_OK) {
        refuse(error.message);
    }
    nav_soup_deinit(&soup);
    if (pieces) {
        make_oracle(s, links, link_count, pieces);
    }
}

static void deal_areas(poly_mesh *mesh, rng *r, weighted_costs kind, double costs[256])
{
    uint32_t areas = (uint32_t)rng_between(r, 2, 8);
    for (uint32_t a = 0; a < 256; a++) {
        costs[a] = 1;
    }
    for (uint32_t a = 0; a < areas; a++) {
        if (kind == COSTS_WILD) {
            costs[a] = pow(10, -1 + 2.301 * rng_unit(r));
        } else if (kind == COSTS_TYPED && a > 0) {
            costs[a] = 1 + rng_below(r, 10);
        }
    }
    double plain = rng_unit(r);
    for (uint32_t p = 0; p < mesh->poly_count; p++) {
        bool first = rng_chance(r, kind == COSTS_TYPED ? 0.7 : plain);
        mesh->areas[p] = (uint8_t)(first ? 0 : rng_below(r, areas));
    }
}

void weighted_scene_random(weighted_scene *s, random_kind kind, weighted_costs costs, uint64_t seed, bool closes,
                           bool no_merge, uint32_t pieces)
{
    poly_mesh mesh;
    random_mesh(&mesh, kind, seed);
    rng r = rng_seeded(seed * 3 + (uint64_t)costs);
    double area_costs[256];
    deal_areas(&mesh, &r, costs, area_costs);
    nav_filter filter = {.include = UINT32_MAX, .area_costs = area_costs};
    if (closes) {
        mesh.has_flags = true;
        for (uint32_t p = 0; p < mesh.poly_count; p++) {
            mesh.flags[p] = rng_chance(&r, 0.1) ? 3 : 1;
        }
        filter.exclude = 2;
    }
    weighted_scene_make(s, &mesh, NULL, 0, &filter, no_merge, pieces);
    snprintf(s->name, sizeof s->name, "kind %d costs %d seed %llu%s%s", (int)kind, (int)costs, (unsigned long long)seed,
             closes ? " closed" : "", no_merge ? " unmerged" : "");
}

void weighted_scene_destroy(weighted_scene *s)
{
    weighted_oracle_destroy(s->oracle);
    nav_mesh_destroy(s->nav);
    poly_mesh_deinit(&s->mesh);
    free(s->costs);
}

bool weighted_scene_ask(const weighted_scene *s, nav_query *query, nav_vec from, nav_vec to, nav__weighted *search,
                        nav__search_result *result)
{
    nav_snap snap = nav_snap_default();
    snap.half_extents = (nav_vec){0.01, 0.5, 0.01};
    snap.filter = s->filter;
    nav_place a, b;
    if (!nav_query_nearest(query, s->nav, from, &snap, &a) || !nav_query_nearest(query, s->nav, to, &snap, &b)) {
        return false;
    }
    nav__anchor start, goal;
    nav__anchor_make(s->nav, &a, &s->filter, &start);
    nav__anchor_make(s->nav, &b, &s->filter, &goal);
    search->mesh = s->nav;
    search->filter = &s->filter;
    search->start = &start;
    search->goal = &goal;
    *result = nav__weighted_search(query, search);
    search->start = search->goal = NULL;
    return true;
}
