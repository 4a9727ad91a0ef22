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
    {.pattern = "/v1/meshes/{m}/batch", .post = api_batch_begin},
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
};
enum { ROUTE_COUNT = sizeof routes / sizeof *routes };

static bool matches(const char *pattern, const char *path, const char **id, size_t *id_size)
{
    while (*pattern) {
        if (*pattern == '{') {
            size_t size = strcspn(path, "/");
            if (size == 0) {
                return false;
            }
            *id = path;
            *id_size = size;
            path += size;
            pattern += strlen("{m}");
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return *path == '\0';
}

const api_route *api_route_find(const char *path, const char **id, size_t *id_size)
{
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        *id = NULL;
        *id_size = 0;
        if (matches(routes[i].pattern, path, id, id_size)) {
            return &routes[i];
        }
    }
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
    case API_DELETE:
        return route->remove;
    default:
        return NULL;
    }
}

bool api_route_changes(const api_route *route, api_method method)
{
    return method == API_PUT || method == API_DELETE || (method == API_POST && route->post_changes);
}

const char *api_route_allow(const api_route *route)
{
    if (route->put) {
        return "GET, HEAD, PUT, DELETE, OPTIONS";
    }
    if (route->get && route->post) {
        return "GET, HEAD, POST, OPTIONS";
    }
    return route->get ? "GET, HEAD, OPTIONS" : "POST, OPTIONS";
}

const api_route *api_route_at(size_t index)
{
    return index < ROUTE_COUNT ? &routes[index] : NULL;
}
