/// Filters that a sidecar or an upload names: {"filters": {name: filter}, "default_filter": filter or name}.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "mesh_read.h"

static bool read_filter(api_filter *filter, const api_mesh *mesh, const cJSON *value, const char *pointer,
                        const api_place *place)
{
    if (!cJSON_IsObject(value)) {
        return api_place_fail(place, pointer, "must be an object of include, exclude and costs, not %s",
                              api_json_kind(value));
    }
    return api_filter_parse(filter, mesh, value, pointer, place);
}

static bool load_named(api_mesh *mesh, const cJSON *filters, const api_place *place)
{
    size_t count = (size_t)cJSON_GetArraySize(filters);
    if (count == 0) {
        return true;
    }
    mesh->filters = calloc(count, sizeof *mesh->filters);
    if (!mesh->filters) {
        api_problem_set(place->problem, API_STORAGE_FULL, "not enough memory for the filters");
        return false;
    }
    for (const cJSON *m = filters->child; m; m = m->next) {
        char pointer[128];
        api_pointer_join(pointer, sizeof pointer, "/filters", m->string);
        if (api_filter_find(mesh, m->string)) {
            return api_place_fail(place, pointer, "two filters are called `%.64s`", m->string);
        }
        api_filter *filter = &mesh->filters[mesh->filter_count];
        if (!read_filter(filter, mesh, m, pointer, place)) {
            return false;
        }
        snprintf(filter->name, sizeof filter->name, "%s", m->string);
        mesh->filter_count++;
    }
    return true;
}

static bool load_default(api_mesh *mesh, const cJSON *value, const api_place *place)
{
    static const char pointer[] = "/default_filter";
    if (!cJSON_IsString(value)) {
        return read_filter(&mesh->default_filter, mesh, value, pointer, place);
    }
    const api_filter *named = api_filter_find(mesh, value->valuestring);
    if (!named) {
        api_suggestion near = api_suggest_for(value->valuestring);
        for (uint32_t i = 0; i < mesh->filter_count; i++) {
            api_suggest(&near, mesh->filters[i].name);
        }
        return api_place_fail(place, pointer, "there is no filter named `%.64s`%s", value->valuestring,
                              api_suggestion_text(&near));
    }
    mesh->default_filter = *named;
    return true;
}

bool api_filters_load(api_mesh *mesh, const api_settings *settings, api_problem *problem)
{
    api_place place = {.problem = problem, .query_string = settings->filters_from_params};
    if (settings->filters && !load_named(mesh, settings->filters, &place)) {
        return place.query_string ? false : api_sidecar_blame(problem);
    }
    if (!settings->default_filter) {
        return api_filter_parse(&mesh->default_filter, mesh, NULL, "", &place);
    }
    place.query_string = settings->default_filter_from_params;
    return load_default(mesh, settings->default_filter, &place) ||
           (place.query_string ? false : api_sidecar_blame(problem));
}
