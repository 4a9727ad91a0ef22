#include "scene.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/// Four steps of a 32-bit float at the largest coordinate.
static double float_rounding(const poly_mesh *mesh)
{
    double largest = 0;
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++) {
        largest = fmax(largest, fabs(mesh->vertices[i]));
    }
    return 4 * (double)FLT_EPSILON * largest;
}

bool scene_make(scene *s, random_kind kind, uint64_t seed, unsigned variant, const nav_alloc *alloc)
{
    *s = (scene){.kind = kind, .seed = seed, .variant = variant};
    rng r = rng_seeded(seed);
    random_mesh(&s->mesh, kind, seed);
    if (variant & SCENE_FLAGS) {
        random_flags(&s->mesh, &r, 3);
    }
    if (variant & SCENE_TRANSFORM) {
        random_transform(&s->mesh, &r);
        s->rounding = float_rounding(&s->mesh);
    }
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    nav_build_options options = nav_build_options_default();
    options.no_merge = variant & SCENE_NO_MERGE;
    nav_error error = {.message = "out of memory"};
    nav_status status =
        poly_mesh_to_soup(&s->mesh, &soup, variant & SCENE_T_JUNCTIONS, variant & SCENE_SHUFFLE ? seed + 1 : 0);
    if (status == NAV_OK) {
        status = nav_mesh_build(&soup, &options, alloc, &s->nav, NULL, &error);
    }
    nav_soup_deinit(&soup);
    if (status != NAV_OK) {
        fprintf(stderr, "%s: %s\n", scene_name(s), error.message);
        poly_mesh_deinit(&s->mesh);
        return false;
    }
    return true;
}

void scene_destroy(scene *s)
{
    nav_mesh_destroy(s->nav);
    poly_mesh_deinit(&s->mesh);
    memset(s, 0, sizeof *s);
}

const char *scene_name(const scene *s)
{
    static const char *const kinds[RANDOM_KIND_COUNT] = {"triangles", "grid", "spiral", "building"};
    static char text[80];
    snprintf(text, sizeof text, "%s %llu variant %u", kinds[s->kind], (unsigned long long)s->seed, s->variant);
    return text;
}

double ground_length(const nav_path *path)
{
    double length = 0;
    for (uint32_t i = 0; i + 1 < path->point_count; i++) {
        length += hypot(path->points[i + 1].x - path->points[i].x, path->points[i + 1].z - path->points[i].z);
    }
    return length;
}

double space_length(const nav_path *path)
{
    double length = 0;
    for (uint32_t i = 0; i + 1 < path->point_count; i++) {
        nav_vec a = path->points[i], b = path->points[i + 1];
        length += hypot(hypot(b.x - a.x, b.z - a.z), b.y - a.y);
    }
    return length;
}
