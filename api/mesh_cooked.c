/// navd's own form, .navd: navcore's cooked mesh with a JSON text behind it that holds what the contract adds:
///
///     {"dimensions": 3, "up": "y", "frame": "x,y,z", "areas_are_costs": false, "sidecar": {...}}
///
/// The sidecar is the one the mesh was made with. One beside the .navd, and parameters, lie over it, except for
/// what is baked into the mesh; there they may only say the same.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh_read.h"
#include "nav_cooked.h"

/// Nesting of that text: the sidecar's own and one more.
#define EXTRA_DEPTH (API_SETTINGS_DEPTH + 1)
#define EXTRA_MAX_BYTES ((size_t)1 << 24)

static const char *const baked[] = {"frame", "weld", "agent", "links", "node"};

static bool no_memory(api_problem *problem)
{
    api_problem_set(problem, API_STORAGE_FULL, "not enough memory for this mesh");
    return false;
}

// Writing.

/// "-x,-z,y", which api_frame_parse takes.
static void frame_text(const api_frame *frame, char text[12])
{
    size_t n = 0;
    for (int k = 0; k < 3; k++) {
        if (k > 0) {
            text[n++] = ',';
        }
        if (frame->sign[k] < 0) {
            text[n++] = '-';
        }
        text[n++] = (char)('x' + frame->axis[k]);
    }
    text[n] = '\0';
}

/// @return the text, NULL: no memory
static char *extra_text(const api_mesh *mesh, const char *sidecar, api_problem *problem)
{
    char frame[12];
    const char up[] = {mesh->up, '\0'};
    frame_text(&mesh->frame, frame);
    cJSON *parsed = sidecar ? api_json_parse(sidecar, strlen(sidecar), API_SETTINGS_DEPTH, problem) : NULL;
    cJSON *beside = cJSON_IsObject(parsed) ? cJSON_Duplicate(parsed, true) : cJSON_CreateObject();
    cJSON_Delete(parsed);
    cJSON *extra = cJSON_CreateObject();
    bool ok = extra && beside && cJSON_AddNumberToObject(extra, "dimensions", mesh->dimensions) &&
              cJSON_AddStringToObject(extra, "up", up) && cJSON_AddStringToObject(extra, "frame", frame) &&
              cJSON_AddBoolToObject(extra, "areas_are_costs", mesh->areas_are_costs) &&
              cJSON_AddItemToObject(extra, "sidecar", beside);
    char *text = ok ? cJSON_PrintUnformatted(extra) : NULL;
    if (!ok || !text) {
        no_memory(problem);
    }
    if (!ok) {
        cJSON_Delete(beside);
    }
    cJSON_Delete(extra);
    return text;
}

bool api_mesh_cook(const api_mesh *mesh, const char *sidecar, void **bytes, size_t *size, api_problem *problem)
{
    char *text = extra_text(mesh, sidecar, problem);
    if (!text) {
        return false;
    }
    nav_status status = nav_mesh_cook(mesh->ground->nav, mesh->report, text, strlen(text), NULL, bytes, size);
    free(text);
    nav_error error = {.message = "a mesh with edits cannot be written as a .navd"};
    return status == NAV_OK || api_read_failed(problem, status == NAV_BAD_ARGUMENT ? NAV_BAD_MESH : status, &error);
}

// Reading.

static bool bad_extra(api_problem *problem)
{
    api_problem_set(problem, API_BAD_MESH, "the .navd was made wrongly: its settings cannot be read");
    return false;
}

/// What is baked in may be said again, but not otherwise.
static bool check_baked(const cJSON *kept, const cJSON *given, const api_place *place)
{
    for (size_t i = 0; i < sizeof baked / sizeof *baked; i++) {
        const cJSON *now = cJSON_GetObjectItemCaseSensitive(given, baked[i]);
        if (now && !cJSON_Compare(now, cJSON_GetObjectItemCaseSensitive(kept, baked[i]), true)) {
            char pointer[16];
            snprintf(pointer, sizeof pointer, "/%s", baked[i]);
            return api_place_fail(place, pointer, "is baked into a .navd: convert the mesh anew with it");
        }
    }
    return true;
}

/// Settings as the kept sidecar, the one beside and the parameters make them together, one over the other.
static bool merge_settings(const cJSON *extra, const api_mesh_source *source, api_settings *settings,
                           api_problem *problem)
{
    const cJSON *kept = cJSON_GetObjectItemCaseSensitive(extra, "sidecar");
    const api_place beside = {.problem = problem}, params = {.problem = problem, .query_string = true};
    if (!check_baked(kept, settings->sidecar, &beside)) {
        return api_sidecar_blame(problem);
    }
    if (!check_baked(kept, settings->params, &params)) {
        return false;
    }
    char *text = api_sidecar_layer(kept, settings->sidecar);
    if (!text) {
        return no_memory(problem);
    }
    api_settings_deinit(settings);
    bool ok = api_settings_read(settings, text, source->params, problem);
    free(text);
    return ok;
}

/// Sets what the file's own text says: dimensions and the like.
static bool read_extra(const cJSON *extra, api_settings *settings, nav_soup *soup)
{
    const cJSON *dimensions = cJSON_GetObjectItemCaseSensitive(extra, "dimensions");
    const char *up = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(extra, "up"));
    const char *frame = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(extra, "frame"));
    const cJSON *costs = cJSON_GetObjectItemCaseSensitive(extra, "areas_are_costs");
    bool flat = cJSON_IsNumber(dimensions) && dimensions->valuedouble == 2;
    if (!cJSON_IsNumber(dimensions) || (!flat && dimensions->valuedouble != 3) || !up ||
        (strcmp(up, "y") != 0 && strcmp(up, "z") != 0) || !frame || !cJSON_IsBool(costs) ||
        !api_frame_parse(frame, &settings->file, &settings->caller)) {
        return false;
    }
    soup->dimensions = flat ? 2 : 3;
    soup->areas_are_costs = cJSON_IsTrue(costs);
    settings->z_up = up[0] == 'z';
    return true;
}

static void free_copy(void *copy)
{
    free(copy);
}

/// Opens the bytes where they lie, or a copy where the caller keeps them.
static bool open_bytes(const api_mesh_source *source, api_mesh *mesh, nav_cooked *cooked, api_problem *problem)
{
    bool keep = source->release != NULL;
    void *copy = NULL;
    if (!keep && source->size > 0) {
        copy = aligned_alloc(64, (source->size + 63) / 64 * 64);
        if (!copy) {
            return no_memory(problem);
        }
        memcpy(copy, source->bytes, source->size);
    }
    nav_error error = {0};
    nav_status status =
        nav_mesh_open(keep ? source->bytes : copy, source->size, NULL, keep ? source->release : free_copy,
                      keep ? source->release_ctx : copy, cooked, mesh->report, &error);
    if (status != NAV_OK) {
        free(copy);
        return api_read_failed(problem, status, &error);
    }
    mesh->nav = cooked->mesh;
    mesh->borrows = keep && cooked->in_place;
    return true;
}

bool api_cooked_read(const api_mesh_source *source, api_settings *settings, nav_soup *soup, api_mesh *mesh,
                     api_problem *problem)
{
    nav_cooked cooked;
    mesh->report = calloc(1, sizeof *mesh->report);
    if (!mesh->report) {
        return no_memory(problem);
    }
    if (!open_bytes(source, mesh, &cooked, problem)) {
        return false;
    }
    if (!cooked.extra || cooked.extra_size > EXTRA_MAX_BYTES) {
        return bad_extra(problem);
    }
    cJSON *extra = api_json_parse(cooked.extra, cooked.extra_size, EXTRA_DEPTH, problem);
    bool ok = cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(extra, "sidecar"));
    ok = ok ? merge_settings(extra, source, settings, problem) : bad_extra(problem);
    ok = ok && (read_extra(extra, settings, soup) || bad_extra(problem));
    cJSON_Delete(extra);
    strcpy(soup->format, "navd");
    return ok;
}
