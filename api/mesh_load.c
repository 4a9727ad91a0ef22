/// From the bytes of a file to a mesh that can be asked: format, settings, frame, links, building.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh_read.h"
#include "query_string.h"

/// What is at work while a mesh is loaded.
typedef struct loader {
    const api_mesh_source *source;
    api_problem *problem;
    api_settings settings;
    api_file_extra extra;
    nav_soup soup;
    api_edit_set items; ///< regions, and links that are not enabled: for the mesh's ground
} loader;

/// The format asked for: the parameter, else the source's own, else what the content tells.
static const api_format *choose_format(const loader *l)
{
    const api_mesh_source *s = l->source;
    char *asked = api_parameter_find(s->params, "format", l->problem);
    if (!asked && l->problem->code != API_NO_PROBLEM) {
        return NULL;
    }
    const char *name = asked ? asked : s->format;
    const api_format *format;
    if (name) {
        format = api_format_by_name(name);
        if (!format) {
            char known[256];
            api_problem_set(l->problem, API_BAD_REQUEST, "unknown format `%.32s`: known are %s", name,
                            api_format_names(known, sizeof known));
            snprintf(l->problem->parameter, sizeof l->problem->parameter, "format");
        }
    } else {
        format = api_format_detect(s->bytes, s->size, s->name, l->problem);
    }
    free(asked);
    return format;
}

static bool read_file(loader *l, api_mesh *mesh)
{
    const api_format *format = choose_format(l);
    if (!format) {
        return false;
    }
    if (API_FORMAT_IS_COOKED(format)) {
        return api_cooked_read(l->source, &l->settings, &l->soup, mesh, l->problem);
    }
    const api_reading reading = {.bytes = l->source->bytes,
                                 .size = l->source->size,
                                 .parts = l->source->parts,
                                 .part_count = l->source->part_count,
                                 .settings = &l->settings,
                                 .soup = &l->soup,
                                 .extra = &l->extra,
                                 .problem = l->problem};
    return api_format_read(format, &reading);
}

/// What the settings say of the agent, member by member, over what the file says. It must be known before
/// building: over which steps polygons join is a matter of its climb.
static void apply_agent(nav_soup *soup, const nav_agent *set)
{
    soup->agent.radius = set->radius < 0 ? soup->agent.radius : set->radius;
    soup->agent.height = set->height < 0 ? soup->agent.height : set->height;
    soup->agent.climb = set->climb < 0 ? soup->agent.climb : set->climb;
    soup->agent.slope = set->slope < 0 ? soup->agent.slope : set->slope;
    soup->has_agent = true;
}

static void turn(double *positions, uint32_t count, const api_frame *file)
{
    for (double *p = positions, *end = positions + 3 * (size_t)count; p < end; p += 3) {
        const double given[3] = {p[0], p[1], p[2]};
        for (int k = 0; k < 3; k++) {
            p[k] = file->sign[k] * given[file->axis[k]];
        }
    }
}

/// Turns the soup from the file's axes into navcore's. A format of the plane is there already.
static void apply_frame(loader *l)
{
    api_settings *s = &l->settings;
    if (!s->has_frame && l->extra.up == 'z') {
        s->z_up = api_frame_parse("z-up", &s->file, &s->caller);
    }
    nav_soup *soup = &l->soup;
    if (soup->dimensions == 2 || memcmp(&s->file, &api_frame_identity, sizeof s->file) == 0) {
        return;
    }
    turn(soup->vertices, soup->vertex_count, &s->file);
    turn(soup->detail_vertices, soup->detail_vertex_count, &s->file);
    for (uint32_t i = 0; i < soup->link_count; i++) {
        soup->links[i].start = api_frame_to_caller(&s->file, soup->links[i].start);
        soup->links[i].end = api_frame_to_caller(&s->file, soup->links[i].end);
    }
}

/// The frame whose to_caller undoes that of `frame`.
static api_frame inverse(const api_frame *frame)
{
    api_frame inverted;
    for (int k = 0; k < 3; k++) {
        inverted.axis[frame->axis[k]] = (uint8_t)k;
        inverted.sign[frame->axis[k]] = frame->sign[k];
    }
    return inverted;
}

/// Links of a JSON mesh stand in the file's axes, those of the sidecar and of parameters in the caller's.
static bool add_links(loader *l)
{
    const api_settings *s = &l->settings;
    if (l->extra.links) {
        const api_place place = {.problem = l->problem};
        const api_link_source source = {
            .to_internal = s->file, .dimensions = l->soup.dimensions, .disabled = &l->items};
        if (!api_links_add(&l->soup, l->extra.links, &source, s, &place)) {
            if (l->problem->code == API_BAD_REQUEST) { // a fault of the file, not of the request
                api_problem p = *l->problem;
                api_problem_set(l->problem, API_BAD_MESH, "%s: %.180s", p.pointer, p.detail);
                memcpy(l->problem->pointer, p.pointer, sizeof p.pointer);
            }
            return false;
        }
    }
    if (s->links) {
        const api_place place = {.problem = l->problem, .query_string = s->links_from_params};
        const api_link_source source = {
            .to_internal = inverse(&s->caller), .dimensions = l->soup.dimensions, .disabled = &l->items};
        if (!api_links_add(&l->soup, s->links, &source, s, &place)) {
            return s->links_from_params ? false : api_sidecar_blame(l->problem);
        }
    }
    return true;
}

/// The default half extents in navcore's axes.
static bool convert_snap(const loader *l, api_mesh *mesh)
{
    const api_settings *s = &l->settings;
    int count = s->snap_count;
    double given[3] = {s->snap[0], s->snap[1], s->snap[2]};
    if (count == 0) {
        mesh->snap = nav_snap_default().half_extents;
        return true;
    }
    if (count != 1 && count != l->soup.dimensions) {
        const api_place place = {.problem = l->problem, .query_string = s->snap_from_params};
        api_place_fail(&place, "/snap", "must be one number or %d", l->soup.dimensions);
        return s->snap_from_params ? false : api_sidecar_blame(l->problem);
    }
    if (count == 1) {
        given[1] = given[2] = given[0];
    } else if (count == 2) { // the plane's two axes; height does not matter there
        double plane[2] = {given[0], given[1]};
        for (int k = 0, used = 0; k < 3; k++) {
            given[k] = s->caller.axis[k] == 1 ? nav_snap_default().half_extents.y : plane[used++];
        }
    }
    mesh->snap = api_frame_extents_to_internal(&s->caller, (nav_vec){given[0], given[1], given[2]});
    return true;
}

static bool build(loader *l, api_mesh *mesh)
{
    nav_build_options options = nav_build_options_default();
    options.weld = l->settings.weld;
    options.progress = l->source->progress;
    options.progress_ctx = l->source->progress_ctx;
    nav_error error = {0};
    mesh->report = calloc(1, sizeof *mesh->report);
    if (!mesh->report) {
        return api_read_failed(l->problem, NAV_NO_MEMORY, &error);
    }
    nav_status status = nav_mesh_build(&l->soup, &options, NULL, &mesh->nav, mesh->report, &error);
    return status == NAV_OK || api_read_failed(l->problem, status, &error);
}

static void describe(const loader *l, api_mesh *mesh)
{
    const api_settings *s = &l->settings;
    nav_mesh_info info;
    nav_mesh_get_info(mesh->nav, &info);
    mesh->frame = s->caller;
    mesh->dimensions = l->soup.dimensions;
    mesh->areas_are_costs = l->soup.areas_are_costs;
    mesh->up = s->z_up ? 'z' : 'y';
    memcpy(mesh->format, l->soup.format, sizeof mesh->format);
    mesh->agent = info.agent;
    mesh->tick_hz = s->tick_hz;
    memcpy(mesh->areas, s->areas, sizeof mesh->areas);
    for (int i = 1; l->soup.areas_are_costs && i < 256; i++) {
        mesh->areas[i].cost = s->areas[i].listed ? s->areas[i].cost : i;
    }
    memcpy(mesh->flags, s->flags, sizeof mesh->flags);
}

static bool load(loader *l, api_mesh *mesh)
{
    if (!api_settings_read(&l->settings, l->source->sidecar, l->source->params, l->problem) || !read_file(l, mesh)) {
        return false;
    }
    bool built = mesh->nav != NULL;
    if (!built) {
        apply_frame(l);
        apply_agent(&l->soup, &l->settings.agent);
    }
    if ((!built && !add_links(l)) || !convert_snap(l, mesh) || (!built && !build(l, mesh))) {
        return false;
    }
    describe(l, mesh);
    if (!api_filters_load(mesh, &l->settings, l->problem)) {
        return false;
    }
    return api_regions_read(&l->items, mesh, &l->settings, l->problem) &&
           api_mesh_ground_make(mesh, &l->items, l->problem) && api_regions_apply(mesh, l->problem);
}

api_mesh *api_mesh_load(const api_mesh_source *source, api_problem *problem)
{
    loader l = {.source = source, .problem = problem};
    api_problem_set(problem, API_NO_PROBLEM, "%s", "");
    nav_soup_init(&l.soup, NULL);
    api_mesh *mesh = calloc(1, sizeof *mesh);
    if (!mesh) {
        api_problem_set(problem, API_STORAGE_FULL, "not enough memory for this mesh");
    }
    bool loaded = mesh && load(&l, mesh), taken = mesh && mesh->borrows;
    if (mesh && !loaded) {
        api_mesh_destroy(mesh);
        mesh = NULL;
    }
    if (source->release && !taken) {
        source->release(source->release_ctx);
    }
    nav_soup_deinit(&l.soup);
    cJSON_Delete(l.extra.links);
    api_edit_set_deinit(&l.items);
    api_settings_deinit(&l.settings);
    return mesh;
}
