/// The route table.
#include "route.h"

/// Queries first: they are what is asked most.
static const api_route routes[] = {
    {.pattern = "/v1/meshes/{m}/path", .get = api_query_begin, .post = api_query_begin, .kind = &api_path},
    {.pattern = "/v1/meshes/{m}/nearest", .get = api_query_begin, .post = api_query_begin, .kind = &api_nearest},
    {.pattern = "/v1/meshes/{m}/raycast", .get = api_query_begin, .post = api_query_begin, .kind = &api_raycast},
    {.pattern = "/v1/meshes/{m}/height", .get = api_query_begin, .post = api_query_begin, .kind = &api_height},
    {.pattern = "/v1/meshes/{m}/move", .get = api_query_begin, .post = api_query_begin, .kind = &api_move},
    {.pattern = "/v1/meshes/{m}/wall", .get = api_query_begin, .post = api_query_begin, .kind = &api_wall},
    {.pattern = "/v1/meshes/{m}/reachable", .get = api_query_begin, .post = api_query_begin, .kind = &api_reachable},
    {.pattern = "/v1/meshes/{m}/random", .get = api_query_begin, .post = api_query_begin, .kind = &api_random},
    {.pattern = "/v1/meshes/{m}/pick", .get = api_query_begin, .post = api_query_begin, .kind = &api_pick},
    {.pattern = "/v1/meshes/{m}/matrix", .get = api_query_begin, .post = api_query_begin, .kind = &api_matrix},
    {.pattern = "/v1/meshes/{m}/batch", .post = api_batch_begin, .parameters = true},
    // Calls before ids: no agent can have their names.
    {.pattern = "/v1/meshes/{m}/agents/step", .post = api_agents_step, .post_changes = true},
    {.pattern = "/v1/meshes/{m}/agents/events", .get = api_agents_events, .parameters = true},
    {.pattern = "/v1/meshes/{m}/agents/settings", .get = api_agents_settings, .patch = api_agents_set},
    {.pattern = "/v1/meshes/{m}/agents/{agent}",
     .get = api_agent_get,
     .patch = api_agent_patch,
     .remove = api_agent_delete,
     .parameters = true},
    {.pattern = "/v1/meshes/{m}/agents",
     .get = api_agents_list,
     .post = api_agents_add,
     .patch = api_agents_patch,
     .remove = api_agents_delete,
     .post_changes = true,
     .parameters = true},
    {.pattern = "/v1/meshes/{m}/obstacles", .get = api_edit_list, .post = api_edit_change, .post_changes = true},
    {.pattern = "/v1/meshes/{m}/obstacles/{obstacle}",
     .get = api_edit_get,
     .put = api_edit_change,
     .remove = api_edit_change},
    {.pattern = "/v1/meshes/{m}/regions", .get = api_edit_list, .post = api_edit_change, .post_changes = true},
    {.pattern = "/v1/meshes/{m}/regions/{region}",
     .get = api_edit_get,
     .put = api_edit_change,
     .remove = api_edit_change},
    {.pattern = "/v1/meshes/{m}/links", .get = api_edit_list, .post = api_edit_change, .post_changes = true},
    {.pattern = "/v1/meshes/{m}/links/{link}", .get = api_edit_get, .put = api_edit_change, .remove = api_edit_change},
    {.pattern = "/v1/meshes/{m}/edits", .post = api_edit_change, .post_changes = true},
    {.pattern = "/livez", .get = api_service_livez},
    {.pattern = "/readyz", .get = api_service_readyz},
    {.pattern = "/healthz", .get = api_service_healthz},
    {.pattern = "/metrics", .get = api_service_metrics},
    {.pattern = "/v1/meshes", .get = api_mesh_list},
    {.pattern = "/v1/meshes/{m}", .get = api_mesh_summary, .put = api_mesh_put, .remove = api_mesh_delete},
    {.pattern = "/v1/meshes/{m}/report", .get = api_mesh_report},
    {.pattern = "/v1/meshes/{m}/geometry", .get = api_mesh_geometry},
    {.pattern = "/v1/meshes/{m}/reload", .post = api_mesh_reload, .post_changes = true},
    {.pattern = "/version", .get = api_service_version},
    {.pattern = "/openapi.json", .get = api_service_openapi},
    {.pattern = "/", .get = api_service_page},
    {.pattern = "/viewer.js", .get = api_service_page_script},
    {.pattern = "/style.css", .get = api_service_page_style},
};
enum { ROUTE_COUNT = sizeof routes / sizeof *routes };

static bool matches(const char *pattern, const char *path, api_route_ids *ids)
{
    size_t count = 0;
    *ids = (api_route_ids){.at = {NULL}};
    while (*pattern) {
        if (*pattern == '{') {
            size_t size = strcspn(path, "/");
            if (size == 0 || count == API_ROUTE_IDS) {
                return false;
            }
            ids->at[count] = path;
            ids->size[count++] = size;
            path += size;
            pattern += strcspn(pattern, "}") + 1;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return *path == '\0';
}

const api_route *api_route_find(const char *path, api_route_ids *ids)
{
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (matches(routes[i].pattern, path, ids)) {
            return &routes[i];
        }
    }
    *ids = (api_route_ids){.at = {NULL}};
    return NULL;
}

api_handler *api_route_handler(const api_route *route, api_method method)
{
    switch (method) {
    case API_GET:
    case API_HEAD:
        return route->get;
    case API_POST:
        return route->post;
    case API_PUT:
        return route->put;
    case API_PATCH:
        return route->patch;
    case API_DELETE:
        return route->remove;
    default:
        return NULL;
    }
}

bool api_route_changes(const api_route *route, api_method method)
{
    return method == API_PUT || method == API_PATCH || method == API_DELETE ||
           (method == API_POST && route->post_changes);
}

// The Allow header for each set of methods.
#define GET_0 ""
#define GET_1 "GET, HEAD, "
#define POST_0 ""
#define POST_1 "POST, "
#define PUT_0 ""
#define PUT_1 "PUT, "
#define PATCH_0 ""
#define PATCH_1 "PATCH, "
#define DELETE_0 ""
#define DELETE_1 "DELETE, "
#define ALLOW(get, post, put, patch, remove) GET_##get POST_##post PUT_##put PATCH_##patch DELETE_##remove "OPTIONS"
#define ALLOW_2(get, post, put, patch) ALLOW(get, post, put, patch, 0), ALLOW(get, post, put, patch, 1)
#define ALLOW_4(get, post, put) ALLOW_2(get, post, put, 0), ALLOW_2(get, post, put, 1)
#define ALLOW_8(get, post) ALLOW_4(get, post, 0), ALLOW_4(get, post, 1)

const char *api_route_allow(const api_route *route)
{
    static const char *const texts[32] = {ALLOW_8(0, 0), ALLOW_8(0, 1), ALLOW_8(1, 0), ALLOW_8(1, 1)};
    unsigned methods = (route->get ? 16u : 0) | (route->post ? 8u : 0) | (route->put ? 4u : 0) |
                       (route->patch ? 2u : 0) | (route->remove ? 1u : 0);
    return texts[methods];
}

const api_route *api_route_at(size_t index)
{
    return index < ROUTE_COUNT ? &routes[index] : NULL;
}
