/// `nearest` and `height`: where the mesh is near a position.
#include "query.h"

static void write_surface(const api_ask *ask, const nav_place *place)
{
    api_write_place(ask, place);
    api_write_surface_kind(ask, place);
    api_json_key(ask->out, "inside");
    api_json_bool(ask->out, place->inside);
    api_json_key(ask->out, "on_mesh");
    api_json_bool(ask->out, place->on_mesh);
}

static api_verdict answer_nearest(const api_ask *ask)
{
    const api_args *args = ask->args;
    nav_place *places = ask->context->places;
    bool many = args->given & API_ARG_COUNT;
    uint32_t found;
    if (many) {
        found =
            nav_query_nearest_many(ask->context->query, ask->mesh->nav, args->point, &args->snap, places, args->count);
    } else {
        found = nav_query_nearest(ask->context->query, ask->mesh->nav, args->point, &args->snap, places) ? 1 : 0;
    }
    api_json_key(ask->out, "status");
    api_json_word(ask->out, found ? "found" : "none");
    if (found) {
        write_surface(ask, &places[0]);
    }
    if (many) {
        api_json_key(ask->out, "results");
        api_json_open(ask->out, '[');
        for (uint32_t i = 0; i < found; i++) {
            api_json_open(ask->out, '{');
            write_surface(ask, &places[i]);
            api_json_close(ask->out, '}');
        }
        api_json_close(ask->out, ']');
    }
    return API_ANSWERED;
}

/// The caller's number for a height: along its own up axis, with its sign.
static double caller_height(const api_frame *frame, nav_vec point)
{
    for (int k = 0; k < 3; k++) {
        if (frame->axis[k] == 1) {
            return frame->sign[k] * point.y;
        }
    }
    return point.y;
}

static api_verdict answer_height(const api_ask *ask)
{
    const api_args *args = ask->args;
    nav_place place;
    bool found = nav_query_height(ask->context->query, ask->mesh->nav, args->point, &args->snap, &place);
    api_json_key(ask->out, "status");
    api_json_word(ask->out, found ? "found" : "none");
    if (found) {
        api_positions positions = api_args_positions(args, ask->mesh);
        api_json_key(ask->out, "point");
        api_json_position(ask->out, &positions, place.point);
        api_json_key(ask->out, "height");
        api_json_coordinate(ask->out, &positions, caller_height(&args->frame, place.point));
        api_json_key(ask->out, "polygon");
        api_json_u64(ask->out, place.polygon);
    }
    return API_ANSWERED;
}

const api_query_kind api_nearest = {
    .name = "nearest",
    .required = API_ARG_POINT,
    .allowed = API_ARGS_COMMON | API_ARG_POINT | API_ARG_COUNT,
    .max_count = API_COUNT_MAX,
    .max_bytes = API_QUESTION_MAX,
    .answer = answer_nearest,
};

const api_query_kind api_height = {
    .name = "height",
    .required = API_ARG_POINT,
    .allowed = API_ARGS_COMMON | API_ARG_POINT,
    .max_bytes = API_QUESTION_MAX,
    .answer = answer_height,
};
