/// Lists and summaries of meshes.
#include "meshes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "route.h"

/// Entries that one look at the registry fetches: a look holds references.
#define LIST_CHUNK 32

api_positions api_mesh_positions(const api_mesh *mesh)
{
    return (api_positions){.frame = &mesh->frame, .dimensions = mesh->dimensions, .precision = -1, .objects = false};
}

static void write_number(api_json *json, const char *name, uint64_t value)
{
    api_json_key(json, name);
    api_json_u64(json, value);
}

static void write_double(api_json *json, const char *name, double value)
{
    api_json_key(json, name);
    api_json_double(json, value);
}

/// Where the frame turns an axis round, least and greatest change places.
static void write_bounds(api_json *json, const api_mesh *mesh, const nav_mesh_info *info)
{
    nav_vec a = info->min, b = info->max;
    for (int k = 0; k < 3; k++) {
        if (mesh->frame.sign[k] < 0) {
            double *low = mesh->frame.axis[k] == 0 ? &a.x : mesh->frame.axis[k] == 1 ? &a.y : &a.z;
            double *high = mesh->frame.axis[k] == 0 ? &b.x : mesh->frame.axis[k] == 1 ? &b.y : &b.z;
            double swap = *low;
            *low = *high;
            *high = swap;
        }
    }
    api_positions positions = api_mesh_positions(mesh);
    api_json_key(json, "bounds");
    api_json_open(json, '{');
    api_json_key(json, "min");
    api_json_position(json, &positions, a);
    api_json_key(json, "max");
    api_json_position(json, &positions, b);
    api_json_close(json, '}');
}

static void write_agent(api_json *json, const nav_agent *agent)
{
    api_json_key(json, "agent");
    api_json_open(json, '{');
    write_double(json, "radius", agent->radius);
    write_double(json, "height", agent->height);
    write_double(json, "climb", agent->climb);
    write_double(json, "slope", agent->slope);
    api_json_close(json, '}');
}

/// Areas that the sidecar names or that occur; one without a name goes by its number.
static void write_areas(api_json *json, const api_mesh *mesh)
{
    uint64_t used[4];
    nav_mesh_areas_used(mesh->nav, used);
    api_json_key(json, "areas");
    api_json_open(json, '{');
    for (unsigned i = 0; i < 256; i++) {
        const api_area *area = &mesh->areas[i];
        if (!area->listed && !(used[i / 64] >> (i % 64) & 1)) {
            continue;
        }
        char number[4];
        snprintf(number, sizeof number, "%u", i & 0xFFu);
        api_json_key_text(json, area->name[0] ? area->name : number);
        api_json_open(json, '{');
        write_number(json, "id", i);
        write_double(json, "cost", area->cost);
        api_json_close(json, '}');
    }
    api_json_close(json, '}');
}

static void write_flags(api_json *json, const api_mesh *mesh)
{
    api_json_key(json, "flags");
    api_json_open(json, '{');
    for (unsigned bit = 0; bit < 32; bit++) {
        if (mesh->flags[bit][0]) {
            api_json_key_text(json, mesh->flags[bit]);
            api_json_u64(json, bit);
        }
    }
    api_json_close(json, '}');
}

/// Their names; what they hold is the sidecar's business.
static void write_filters(api_json *json, const api_mesh *mesh)
{
    api_json_key(json, "filters");
    api_json_open(json, '[');
    for (uint32_t i = 0; i < mesh->filter_count; i++) {
        api_json_text(json, mesh->filters[i].name);
    }
    api_json_close(json, ']');
}

static void write_contents(api_json *json, const api_mesh *mesh)
{
    nav_mesh_info info;
    nav_mesh_get_info(mesh->nav, &info);
    write_number(json, "revision", mesh->revision);
    api_json_key(json, "format");
    api_json_text(json, mesh->format);
    write_number(json, "dimensions", mesh->dimensions == 2 ? 2 : 3);
    api_json_key(json, "up");
    api_json_word(json, mesh->up == 'z' ? "z" : "y");
    write_number(json, "polygons", info.polygons);
    write_number(json, "vertices", info.vertices);
    write_number(json, "links", info.links);
    write_number(json, "islands", info.islands);
    write_bounds(json, mesh, &info);
    write_agent(json, &mesh->agent);
    write_areas(json, mesh);
    write_flags(json, mesh);
    write_filters(json, mesh);
    write_number(json, "memory_bytes", mesh->memory_bytes);
    write_double(json, "load_ms", mesh->load_ms);
    api_json_key(json, "loaded_at");
    api_json_time(json, mesh->loaded_at_ms);
}

static void write_error(api_json *json, const api_mesh_entry *entry)
{
    api_json_key(json, "last_error");
    if (!entry->has_error) {
        api_json_null(json);
        return;
    }
    api_json_open(json, '{');
    api_json_key(json, "code");
    api_json_text(json, entry->error_code);
    api_json_key(json, "detail");
    api_json_text(json, entry->error_detail);
    api_json_key(json, "at");
    api_json_time(json, entry->error_at_ms);
    api_json_close(json, '}');
}

void api_write_summary(api_json *json, const api_mesh_entry *entry)
{
    static const char *const states[] = {
        [API_MESH_READY] = "ready", [API_MESH_LOADING] = "loading", [API_MESH_FAILED] = "failed"};
    api_json_open(json, '{');
    api_json_key(json, "id");
    api_json_text(json, entry->id);
    if (entry->mesh) {
        write_contents(json, entry->mesh);
    }
    api_json_key(json, "source");
    api_json_text(json, entry->mesh ? entry->mesh->source : entry->source);
    api_json_key(json, "state");
    api_json_word(json, states[entry->state]);
    write_error(json, entry);
    api_json_close(json, '}');
}

api_outcome api_mesh_list(api_call *call)
{
    const api_host *host = &call->context->host;
    api_mesh_entry *entries = malloc(LIST_CHUNK * sizeof *entries);
    if (!entries) {
        api_problem problem;
        api_problem_set(&problem, API_INTERNAL, "out of memory");
        return api_fail(call, &problem);
    }
    api_json json = api_json_begin(&call->response->body);
    api_json_open(&json, '{');
    api_json_key(&json, "meshes");
    api_json_open(&json, '[');
    size_t total = 1;
    for (size_t done = 0; done < total; done += LIST_CHUNK) {
        total = host->entries(host->ctx, done, entries, LIST_CHUNK);
        size_t count = total > done ? total - done : 0;
        for (size_t i = 0; i < count && i < LIST_CHUNK; i++) {
            api_write_summary(&json, &entries[i]);
            if (entries[i].mesh) {
                host->release(host->ctx, entries[i].mesh);
            }
        }
    }
    free(entries);
    api_json_close(&json, ']');
    api_json_close(&json, '}');
    return api_succeed(call->response, 200);
}

bool api_etag_matches(const char *list, uint64_t revision)
{
    char tag[32];
    snprintf(tag, sizeof tag, "\"%" PRIu64 "\"", revision);
    return strcmp(list, "*") == 0 || strstr(list, tag);
}

bool api_not_modified(const api_call *call, const api_mesh *mesh)
{
    const char *list = call->request->if_none_match;
    if (!list || !api_etag_matches(list, mesh->revision)) {
        return false;
    }
    call->response->status = 304;
    call->response->revision = mesh->revision;
    return true;
}

api_outcome api_mesh_summary(api_call *call)
{
    const api_host *host = &call->context->host;
    api_mesh_entry entry = {0};
    if (!host->entry(host->ctx, call->id, &entry)) {
        api_problem problem;
        api_problem_set(&problem, API_NOT_FOUND, "there is no mesh `%s`", call->id);
        return api_fail(call, &problem);
    }
    // A failed reload changes the summary but not the revision, so only an untroubled one may be kept.
    bool keep = entry.mesh && !entry.has_error && entry.state == API_MESH_READY;
    if (!keep || !api_not_modified(call, entry.mesh)) {
        api_json json = api_json_begin(&call->response->body);
        api_write_summary(&json, &entry);
        call->response->revision = entry.mesh ? entry.mesh->revision : 0;
        api_succeed(call->response, 200);
    }
    if (entry.mesh) {
        host->release(host->ctx, entry.mesh);
    }
    return API_DONE;
}
