/// `raycast`: straight along the surface until a wall.
#include "query.h"

static const char *const status_words[] = {
    [NAV_RAY_CLEAR] = "clear",
    [NAV_RAY_BLOCKED] = "blocked",
    [NAV_RAY_START_OFF_MESH] = "start_off_mesh",
};

static void write_ray(const api_ask *ask, const nav_ray *ray)
{
    api_json_key(ask->out, "status");
    api_json_word(ask->out, status_words[ray->status]);
    if (ray->status == NAV_RAY_START_OFF_MESH) {
        return;
    }
    api_positions positions = api_args_positions(ask->args, ask->mesh);
    api_json_key(ask->out, "t");
    api_json_double(ask->out, ray->t);
    api_json_key(ask->out, "point");
    api_json_position(ask->out, &positions, ray->point);
    if (ray->status == NAV_RAY_BLOCKED) {
        api_json_key(ask->out, "normal");
        api_json_position(ask->out, &positions, ray->normal);
    }
    api_json_key(ask->out, "distance");
    api_json_double(ask->out, ray->distance);
    if (ask->args->corridor) {
        api_write_polygons(ask, "polygons", ray->polygons, ray->polygon_count);
    }
}

static api_verdict answer(const api_ask *ask)
{
    const api_args *args = ask->args;
    nav_ray ray;
    nav_status status = nav_query_raycast(ask->context->query, ask->mesh->nav, args->start, args->end, &args->snap,
                                          args->corridor, &ray);
    if (status != NAV_OK) {
        return api_refuse(ask, status);
    }
    write_ray(ask, &ray);
    return API_ANSWERED;
}

const api_query_kind api_raycast = {
    .name = "raycast",
    .required = API_ARG_START | API_ARG_END,
    .allowed = API_ARGS_COMMON | API_ARG_START | API_ARG_END | API_ARG_CORRIDOR,
    .max_bytes = API_QUESTION_MAX,
    .answer = answer,
};
