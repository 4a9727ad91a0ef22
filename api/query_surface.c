/// `wall`, `move`, `random` and `pick`: the surface round a place.
#include "nav_surface.h"
#include "query.h"

/// So many places are drawn and written on a serving thread.
#define INLINE_PLACES 256

static void write_status(const api_ask *ask, const char *status)
{
    api_json_key(ask->out, "status");
    api_json_word(ask->out, status);
}

static void write_polygon(const api_ask *ask, uint32_t polygon)
{
    api_json_key(ask->out, "polygon");
    api_json_u64(ask->out, polygon);
}

static api_verdict answer_wall(const api_ask *ask)
{
    static const char *const words[] = {
        [NAV_WALL_FOUND] = "found", [NAV_WALL_NONE] = "none", [NAV_WALL_OFF_MESH] = "off_mesh"};
    const api_args *args = ask->args;
    uint64_t deadline = api_take_slice(ask);
    nav_wall wall;
    nav_status status =
        nav_query_wall(ask->context->query, ask->mesh->nav, args->point, args->max_distance, &args->snap, &wall);
    if (status != NAV_OK) {
        return api_give_up(ask, status, deadline);
    }
    write_status(ask, words[wall.status]);
    if (wall.status == NAV_WALL_FOUND) {
        api_write_number(ask, "distance", wall.distance);
        api_write_position(ask, "point", wall.point);
        api_write_position(ask, "normal", wall.normal);
    }
    return API_ANSWERED;
}

static api_verdict answer_move(const api_ask *ask)
{
    const api_args *args = ask->args;
    uint64_t deadline = api_take_slice(ask);
    nav_move move;
    nav_status status = nav_query_move(ask->context->query, ask->mesh->nav, args->start, args->end, &args->snap, &move);
    if (status != NAV_OK) {
        return api_give_up(ask, status, deadline);
    }
    bool moved = move.status == NAV_MOVE_MOVED;
    write_status(ask, moved ? "moved" : "start_off_mesh");
    if (moved) {
        api_write_position(ask, "point", move.point);
        write_polygon(ask, move.polygon);
        api_json_key(ask->out, "hit");
        api_json_bool(ask->out, move.hit);
    }
    return API_ANSWERED;
}

static api_verdict answer_random(const api_ask *ask)
{
    const api_args *args = ask->args;
    if (ask->node_budget && (args->count > INLINE_PLACES || api_too_large(ask))) {
        return API_POSTPONED;
    }
    nav_random_options options = nav_random_options_default();
    options.snap = args->snap;
    options.count = args->count;
    options.seed = args->seed;
    options.has_around = args->given & API_ARG_AROUND;
    options.around = args->around;
    options.radius = args->around_radius;
    nav_random random;
    nav_status status = nav_query_random(ask->context->query, ask->mesh->nav, &options, &random);
    if (status != NAV_OK) {
        return api_refuse(ask, status);
    }
    write_status(ask, random.found ? "found" : "none");
    api_positions positions = api_args_positions(args, ask->mesh);
    api_json_key(ask->out, "points");
    api_json_position_list(ask->out, &positions, random.points, random.point_count);
    return API_ANSWERED;
}

static api_verdict answer_pick(const api_ask *ask)
{
    const api_args *args = ask->args;
    nav_pick pick;
    nav_status status = nav_query_pick(ask->context->query, ask->mesh->nav, args->origin, args->direction,
                                       args->max_distance, &args->snap.filter, &pick);
    if (status != NAV_OK) {
        return api_refuse(ask, status);
    }
    write_status(ask, pick.hit ? "hit" : "none");
    if (pick.hit) {
        api_write_position(ask, "point", pick.point);
        api_write_number(ask, "distance", pick.distance);
        api_write_position(ask, "normal", pick.normal);
        api_json_key(ask->out, "back");
        api_json_bool(ask->out, pick.back);
        write_polygon(ask, pick.polygon);
    }
    return API_ANSWERED;
}

const api_query_kind api_wall = {
    .name = "wall",
    .required = API_ARG_POINT,
    .allowed = API_ARGS_COMMON | API_ARG_POINT | API_ARG_MAX_DISTANCE,
    .max_bytes = API_QUESTION_MAX,
    .answer = answer_wall,
};

const api_query_kind api_move = {
    .name = "move",
    .required = API_ARG_START | API_ARG_END,
    .allowed = API_ARGS_COMMON | API_ARG_START | API_ARG_END,
    .max_bytes = API_QUESTION_MAX,
    .answer = answer_move,
};

const api_query_kind api_random = {
    .name = "random",
    .allowed = API_ARGS_COMMON | API_ARG_COUNT | API_ARG_SEED | API_ARG_AROUND,
    .max_count = API_RANDOM_MAX,
    .max_bytes = API_QUESTION_MAX,
    .answer = answer_random,
};

const api_query_kind api_pick = {
    .name = "pick",
    .required = API_ARG_ORIGIN | API_ARG_DIRECTION,
    .allowed = API_ARGS_COMMON | API_ARG_ORIGIN | API_ARG_DIRECTION | API_ARG_MAX_DISTANCE,
    .max_bytes = API_QUESTION_MAX,
    .answer = answer_pick,
};
