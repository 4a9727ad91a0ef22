/// Which paths there are and who answers them.
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include "context.h"
#include "query.h"

struct api_route {
    const char *pattern; ///< "{m}" stands for a mesh's id, a second name in braces for that of a thing of the mesh
    api_handler *get, *post, *put, *patch, *remove;
    const api_query_kind *kind; ///< of a query, NULL otherwise
    bool post_changes;          ///< POST needs the right to change things
    bool parameters;            ///< the handler looks at the query string itself; else there must be none
};

#define API_ROUTE_IDS 2

/// Where ids stand in a path, still percent-encoded; NULL: the route has none.
typedef struct api_route_ids {
    const char *at[API_ROUTE_IDS];
    size_t size[API_ROUTE_IDS];
} api_route_ids;

/// @return NULL: no such path
const api_route *api_route_find(const char *path, api_route_ids *ids);

/// The handler for a method (HEAD is GET), NULL where the path does not take it.
api_handler *api_route_handler(const api_route *route, api_method method);

/// Does this need the right to change things?
bool api_route_changes(const api_route *route, api_method method);

/// Static text for the Allow header.
const char *api_route_allow(const api_route *route);

/// The table, for tests: NULL behind its end.
const api_route *api_route_at(size_t index);

// Handlers.
api_handler api_query_begin; // query.c: every query but batch
api_handler api_batch_begin; // query_batch.c
api_handler api_mesh_list;   // meshes.c
api_handler api_mesh_summary;
api_handler api_mesh_report;   // mesh_report.c
api_handler api_mesh_geometry; // mesh_geometry.c
api_handler api_mesh_put;      // mesh_changes.c
api_handler api_mesh_delete;
api_handler api_mesh_reload;
api_handler api_agents_list; // agents_calls.c
api_handler api_agents_add;
api_handler api_agents_patch;
api_handler api_agents_delete;
api_handler api_agent_get;
api_handler api_agent_patch;
api_handler api_agent_delete;
api_handler api_agents_step;
api_handler api_agents_settings;
api_handler api_agents_set;
api_handler api_agents_events;
api_handler api_edit_list; // edit_calls.c
api_handler api_edit_get;
api_handler api_edit_change;     // any of them
api_handler api_service_version; // service.c
api_handler api_service_livez;
api_handler api_service_readyz;
api_handler api_service_healthz;
api_handler api_service_openapi;
api_handler api_service_metrics;
api_handler api_service_page, api_service_page_script, api_service_page_style;

#endif
