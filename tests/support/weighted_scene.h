/// A mesh whose areas cost differently, as the search sees it and as the brute force sees it.
#ifndef TEST_WEIGHTED_SCENE_H
#define TEST_WEIGHTED_SCENE_H

#include "random_mesh.h"
#include "weighted.h"
#include "weighted_oracle.h"

/// How areas and what they cost are dealt out.
typedef enum weighted_costs {
    COSTS_WILD,  ///< 2 to 8 areas that cost 0.1 to 20
    COSTS_TYPED, ///< most ground costs 1, the rest up to 10
    COSTS_EQUAL, ///< several areas, all cost 1
    COSTS_COUNT
} weighted_costs;

typedef struct weighted_scene {
    poly_mesh mesh;
    nav_mesh *nav;
    nav_filter filter; ///< its area_costs are `area_costs`
    double area_costs[256];
    double *costs; ///< [poly_count] INFINITY where the filter closes a polygon
    weighted_oracle *oracle;
    char name[80];
} weighted_scene;

/// Makes a scene from a mesh, which it takes over: areas and flags are set. The oracle cuts each edge into
/// `pieces` parts (0: no oracle). Builds without merging polygons with `no_merge`.
void weighted_scene_make(weighted_scene *s, poly_mesh *mesh, const nav_link *links, uint32_t link_count,
                         const nav_filter *filter, bool no_merge, uint32_t pieces);

/// A random one: a mesh of the kind, its areas, and one polygon in ten closed with `closes`.
void weighted_scene_random(weighted_scene *s, random_kind kind, weighted_costs costs, uint64_t seed, bool closes,
                           bool no_merge, uint32_t pieces);
void weighted_scene_destroy(weighted_scene *s);

/// A link's two ways as the oracle wants them. @return how many
uint32_t weighted_scene_rides(const weighted_scene *s, const nav_link *link, weighted_ride rides[2]);

/// Asks for a way; its steps are in query->steps until the next question.
/// @return false, with nothing searched, when one end is closed
bool weighted_scene_ask(const weighted_scene *s, nav_query *query, nav_vec from, nav_vec to, nav__weighted *search,
                        nav__search_result *result);

#endif
