/// Revisions of a mesh: what they share, and how they end.
#include <stdlib.h>
#include <string.h>

#include "mesh_read.h"
#include "nav_edit.h"

size_t api_mesh_memory(const api_mesh *mesh)
{
    nav_mesh_info info;
    nav_mesh_get_info(mesh->nav, &info);
    size_t bytes = info.memory_bytes + sizeof *mesh + sizeof *mesh->ground + sizeof *mesh->report +
                   mesh->filter_count * sizeof *mesh->filters;
    if (mesh->nav != mesh->ground->nav) {
        nav_mesh_get_info(mesh->ground->nav, &info);
        bytes += info.memory_bytes;
    }
    return bytes;
}

static bool no_memory(api_problem *problem)
{
    api_problem_set(problem, API_STORAGE_FULL, "not enough memory for this mesh");
    return false;
}

/// A link of the file as an item.
static bool add_link(api_edit_set *items, const nav_link *link)
{
    api_edit *item = api_edit_create(API_LINK, 0);
    if (!item) {
        return false;
    }
    item->from_file = item->enabled = true;
    memcpy(item->id, link->id, sizeof item->id);
    item->link = *link;
    bool added = api_edit_set_put(items, item);
    api_edit_release(item);
    return added;
}

bool api_mesh_ground_make(api_mesh *mesh, api_edit_set *items, api_problem *problem)
{
    api_ground_mesh *ground = calloc(1, sizeof *ground);
    if (!ground) {
        return no_memory(problem);
    }
    atomic_init(&ground->holders, 1);
    ground->nav = mesh->nav;
    ground->report = mesh->report;
    ground->filters = mesh->filters;
    ground->items = *items;
    *items = (api_edit_set){0};
    mesh->ground = ground;
    nav_mesh_info info;
    nav_mesh_get_info(mesh->nav, &info);
    const nav_link *links = nav_mesh_links(mesh->nav);
    for (uint32_t i = 0; i < info.links; i++) {
        if (!add_link(&ground->items, &links[i])) {
            return no_memory(problem);
        }
    }
    mesh->memory_bytes = api_mesh_memory(mesh);
    return true;
}

static void release_ground(api_ground_mesh *ground)
{
    if (atomic_fetch_sub_explicit(&ground->holders, 1, memory_order_acq_rel) == 1) {
        nav_mesh_destroy(ground->nav);
        free(ground->report);
        free(ground->filters);
        api_edit_set_deinit(&ground->items);
        free(ground);
    }
}

api_mesh *api_mesh_revise(const api_mesh *mesh, const api_edit_set *edits)
{
    api_mesh *revised = malloc(sizeof *revised);
    if (!revised) {
        return NULL;
    }
    *revised = *mesh;
    revised->nav = NULL;
    revised->revision = 0;
    revised->owner = NULL;
    atomic_fetch_add_explicit(&revised->ground->holders, 1, memory_order_relaxed);
    if (!api_edit_set_copy(&revised->edits, edits)) {
        api_mesh_destroy(revised);
        return NULL;
    }
    return revised;
}

void api_mesh_set_nav(api_mesh *mesh, nav_mesh *nav)
{
    mesh->nav = nav;
    mesh->memory_bytes = api_mesh_memory(mesh);
}

void api_mesh_destroy(api_mesh *mesh)
{
    if (!mesh) {
        return;
    }
    if (!mesh->ground) { // it was given up while it was loaded
        nav_mesh_destroy(mesh->nav);
        free(mesh->report);
        free(mesh->filters);
    } else {
        if (mesh->nav != mesh->ground->nav) {
            nav_mesh_destroy(mesh->nav);
        }
        release_ground(mesh->ground);
    }
    api_edit_set_deinit(&mesh->edits);
    free(mesh);
}

api_mesh *api_mesh_shrink(const api_mesh *mesh, double difference, const nav_interrupt *interrupt, api_problem *problem)
{
    nav_mesh *nav = NULL;
    nav_error error = {0};
    nav_status status = nav_mesh_shrink(mesh->nav, difference, interrupt, NULL, &nav, &error);
    if (status != NAV_OK) {
        api_problem_set(problem,
                        status == NAV_INTERRUPTED ? API_DRAINING
                        : status == NAV_NO_MEMORY ? API_STORAGE_FULL
                                                  : API_INTERNAL,
                        "no mesh for a radius larger by %g: %s", difference,
                        error.message[0] ? error.message : nav_status_text(status));
        return NULL;
    }
    api_mesh *shrunk = api_mesh_revise(mesh, &mesh->edits);
    if (!shrunk) {
        nav_mesh_destroy(nav);
        no_memory(problem);
        return NULL;
    }
    api_mesh_set_nav(shrunk, nav);
    shrunk->revision = mesh->revision;
    shrunk->shrunk_by = difference;
    return shrunk;
}
