/// `path`: the shortest way.
#include "query.h"

static const char *const status_words[] = {
    [NAV_PATH_COMPLETE] = "complete",         [NAV_PATH_PARTIAL] = "partial",
    [NAV_PATH_UNREACHABLE] = "unreachable",   [NAV_PATH_START_OFF_MESH] = "start_off_mesh",
    [NAV_PATH_END_OFF_MESH] = "end_off_mesh", [NAV_PATH_LIMIT] = "limit",
};

static void write_end(const api_ask *ask, const char *name, const nav_place *place)
{
    api_json_key(ask->out, name);
    if (place->polygon == NAV_NONE) {
        api_json_null(ask->out);
        return;
    }
    api_json_open(ask->out, '{');
    api_write_place(ask, place);
    api_json_close(ask->out, '}');
}

static void write_points(const api_ask *ask, const nav_path *path)
{
    api_positions positions = api_args_positions(ask->args, ask->mesh);
    // One reservation for what is usual, so that long paths do not grow the buffer step by step.
    api_buffer_room(ask->out->out, (size_t)path->point_count * 40 + 256);
    api_json_key(ask->out, "points");
    api_json_position_list(ask->out, &positions, path->points, path->point_count);
}

static void write_links(const api_ask *ask, const nav_path *path)
{
    const nav_link *links = nav_mesh_links(ask->mesh->nav);
    api_json_key(ask->out, "links");
    api_json_open(ask->out, '[');
    for (uint32_t i = 0; i < path->link_count; i++) {
        const nav_link *link = &links[path->links[i].link];
        api_json_open(ask->out, '{');
        api_json_key(ask->out, "at");
        api_json_u64(ask->out, path->links[i].at);
        api_json_key(ask->out, "id");
        api_json_text(ask->out, link->id);
        api_json_key(ask->out, "kind");
        api_json_text(ask->out, link->kind);
        api_json_close(ask->out, '}');
    }
    api_json_close(ask->out, ']');
}

/// What the search did, for drawing.
static void write_explanation(const api_ask *ask, const nav_path *path)
{
    api_buffer_room(ask->out->out, (size_t)path->explained_count * 160 + 256);
    api_json_key(ask->out, "explain");
    api_json_open(ask->out, '{');
    api_json_key(ask->out, "nodes");
    api_json_u64(ask->out, path->nodes);
    api_json_key(ask->out, "expanded");
    api_json_open(ask->out, '[');
    for (uint32_t i = 0; i < path->explained_count; i++) {
        const nav_explained *node = &path->explained[i];
        api_json_open(ask->out, '{');
        api_write_position(ask, "root", node->root);
        api_write_position(ask, "left", node->left);
        api_write_position(ask, "right", node->right);
        api_write_number(ask, "g", node->g);
        api_json_key(ask->out, "polygon");
        api_json_u64(ask->out, node->polygon);
        api_json_close(ask->out, '}');
    }
    api_json_close(ask->out, ']');
    api_json_close(ask->out, '}');
}

static void write_path(const api_ask *ask, const nav_path *path)
{
    bool walked =
        path->status == NAV_PATH_COMPLETE || path->status == NAV_PATH_PARTIAL || path->status == NAV_PATH_LIMIT;
    api_json_key(ask->out, "status");
    api_json_word(ask->out, status_words[path->status]);
    if (walked) {
        api_json_key(ask->out, "length");
        api_json_double(ask->out, path->length);
        api_json_key(ask->out, "cost");
        api_json_double(ask->out, path->cost);
        write_points(ask, path);
    }
    write_end(ask, "start", &path->start);
    write_end(ask, "end", &path->end);
    if (walked) {
        write_links(ask, path);
        api_json_key(ask->out, "remaining");
        api_json_double(ask->out, path->remaining);
        if (ask->args->corridor) {
            api_write_polygons(ask, "polygons", path->polygons, path->polygon_count);
        }
    }
    if (ask->args->explain) {
        write_explanation(ask, path);
    }
}

static api_verdict answer(const api_ask *ask)
{
    const api_args *args = ask->args;
    nav_path_options options = nav_path_options_default();
    options.snap = args->snap;
    options.no_partial = !args->partial;
    options.corridor = args->corridor;
    options.surface = args->surface;
    options.max_length = args->max_length;
    options.explain = args->explain;
    bool budgeted = ask->node_budget && ask->node_budget < args->max_nodes;
    options.max_nodes = budgeted ? ask->node_budget : args->max_nodes;

    nav_path path;
    nav_status status = nav_query_path(ask->context->query, ask->mesh->nav, args->start, args->end, &options, &path);
    if (status != NAV_OK) {
        return api_refuse(ask, status);
    }
    // Short of the budget it was `max_length` that ended the search.
    if (budgeted && path.status == NAV_PATH_LIMIT && path.nodes >= options.max_nodes) {
        return API_POSTPONED;
    }
    write_path(ask, &path);
    return API_ANSWERED;
}

const api_query_kind api_path = {
    .name = "path",
    .required = API_ARG_START | API_ARG_END,
    .allowed = API_ARGS_COMMON | API_ARG_START | API_ARG_END | API_ARG_PARTIAL | API_ARG_CORRIDOR | API_ARG_SURFACE |
               API_ARG_MAX_NODES | API_ARG_MAX_LENGTH | API_ARG_EXPLAIN,
    .max_bytes = API_QUESTION_MAX,
    .answer = answer,
};
