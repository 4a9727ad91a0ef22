/// Regions that a sidecar or an upload sets: {"regions": [{"id", "points", "min", "max", …}]}.
#include <stdio.h>

#include "edit_json.h"
#include "editor.h"

static bool add_region(api_edit_set *items, const api_edit_terms *terms, const cJSON *value, unsigned number,
                       const api_place *place)
{
    char pointer[32], made[32];
    api_change change;
    snprintf(pointer, sizeof pointer, "/regions/%u", number);
    snprintf(made, sizeof made, "region-%u", number);
    if (!api_change_read(&change, terms, API_REGION, NULL, value, NULL, pointer, place)) {
        return false;
    }
    api_edit *edit = change.edit;
    bool good = !change.partial || api_place_fail(place, pointer, "a region needs its points");
    snprintf(edit->id, sizeof edit->id, "%s", change.id[0] ? change.id : made);
    if (good && api_edit_set_find(items, API_REGION, edit->id)) {
        good = api_place_fail(place, pointer, "two regions have the id `%s`", edit->id);
    }
    edit->from_file = true;
    edit->order = number + 1;
    if (good && !api_edit_set_put(items, edit)) {
        api_problem_set(place->problem, API_STORAGE_FULL, "not enough memory for the regions");
        good = false;
    }
    api_change_deinit(&change);
    return good;
}

bool api_regions_read(api_edit_set *items, const api_mesh *mesh, const api_settings *settings, api_problem *problem)
{
    const api_place place = {.problem = problem, .query_string = settings->regions_from_params};
    const api_edit_terms terms = api_edit_terms_of(mesh);
    unsigned number = 0;
    const cJSON *value = settings->regions ? settings->regions->child : NULL;
    for (; value; value = value->next, number++) {
        if (!add_region(items, &terms, value, number, &place)) {
            return place.query_string ? false : api_sidecar_blame(problem);
        }
    }
    return true;
}

/// What navcore refuses of a sidecar's region.
typedef struct refusal {
    char id[NAV_ID_MAX + 1];
    char why[160];
} refusal;

static void note(void *ctx, const api_edit *edit, const char *why)
{
    refusal *r = ctx;
    snprintf(r->id, sizeof r->id, "%s", edit->id);
    snprintf(r->why, sizeof r->why, "%.150s", why);
}

bool api_regions_apply(api_mesh *mesh, api_problem *problem)
{
    if (mesh->ground->items.counts[API_REGION] == 0) {
        return true;
    }
    refusal refused = {{0}, {0}};
    api_editor *editor = api_editor_create(mesh, note, &refused, problem);
    nav_mesh *nav = editor ? api_editor_nav(editor, problem) : NULL;
    api_editor_destroy(editor);
    if (nav && refused.id[0]) {
        nav_mesh_destroy(nav);
        api_problem_set(problem, API_BAD_REQUEST, "region `%s`: %s", refused.id, refused.why);
        return false;
    }
    if (!nav) {
        return false;
    }
    api_mesh_set_nav(mesh, nav);
    return true;
}
