/// `report`: what loading a mesh found and repaired.
#include <stdio.h>

#include "meshes.h"
#include "route.h"

static void write_count(api_json *json, const char *name, uint64_t value)
{
    api_json_key(json, name);
    api_json_u64(json, value);
}

/// Entries of a list that the report kept.
static uint32_t kept(uint32_t count, uint32_t cap)
{
    return count < cap ? count : cap;
}

static void write_counts(api_json *json, const nav_report *report)
{
    write_count(json, "welded_vertices", report->welded_vertices);
    write_count(json, "degenerate_polygons", report->degenerate_polygons);
    write_count(json, "duplicate_polygons", report->duplicate_polygons);
    write_count(json, "split_polygons", report->split_polygons);
    write_count(json, "flipped_polygons", report->flipped_polygons);
    api_json_key(json, "mixed_winding");
    api_json_bool(json, report->mixed_winding);
}

static void write_places(api_json *json, const api_mesh *mesh)
{
    const nav_report *report = mesh->report;
    api_positions positions = api_mesh_positions(mesh);
    api_json_key(json, "t_junctions");
    api_json_open(json, '[');
    for (uint32_t i = 0; i < kept(report->t_junction_count, NAV_REPORT_CAP); i++) {
        api_json_position(json, &positions, report->t_junctions[i]);
    }
    api_json_close(json, ']');
    api_json_key(json, "non_manifold_edges");
    api_json_open(json, '[');
    for (uint32_t i = 0; i < kept(report->non_manifold_count, NAV_REPORT_CAP); i++) {
        api_json_open(json, '[');
        api_json_position(json, &positions, report->non_manifold[i][0]);
        api_json_position(json, &positions, report->non_manifold[i][1]);
        api_json_close(json, ']');
    }
    api_json_close(json, ']');
}

/// [{"polygons": [a, b], "point": […]}]
static void write_overlaps(api_json *json, const api_mesh *mesh)
{
    const nav_report *report = mesh->report;
    api_positions positions = api_mesh_positions(mesh);
    api_json_key(json, "overlaps");
    api_json_open(json, '[');
    for (uint32_t i = 0; i < kept(report->overlap_count, NAV_REPORT_CAP); i++) {
        api_json_open(json, '{');
        api_json_key(json, "polygons");
        api_json_open(json, '[');
        api_json_u64(json, report->overlaps[i].polygons[0]);
        api_json_u64(json, report->overlaps[i].polygons[1]);
        api_json_close(json, ']');
        api_json_key(json, "point");
        api_json_position(json, &positions, report->overlaps[i].at);
        api_json_close(json, '}');
    }
    api_json_close(json, ']');
}

static void write_links_and_islands(api_json *json, const nav_report *report)
{
    api_json_key(json, "dropped_links");
    api_json_open(json, '[');
    for (uint32_t i = 0; i < kept(report->dropped_link_count, NAV_REPORT_CAP); i++) {
        api_json_open(json, '{');
        api_json_key(json, "id");
        api_json_text(json, report->dropped_links[i].id);
        api_json_key(json, "reason");
        api_json_text(json, report->dropped_links[i].reason);
        api_json_close(json, '}');
    }
    api_json_close(json, ']');
    api_json_key(json, "islands");
    api_json_open(json, '[');
    for (uint32_t i = 0; i < kept(report->island_count, NAV_REPORT_CAP); i++) {
        api_json_open(json, '{');
        write_count(json, "id", report->islands[i].id);
        write_count(json, "polygons", report->islands[i].polygons);
        api_json_key(json, "area");
        api_json_double(json, report->islands[i].area);
        api_json_close(json, '}');
    }
    api_json_close(json, ']');
}

/// Edits that stand and touch nothing of the mesh. @return how many
static uint32_t write_idle_edits(api_json *json, const api_mesh *mesh)
{
    uint32_t count = 0;
    api_json_key(json, "idle_edits");
    api_json_open(json, '[');
    api_edit_walk walk = api_edit_set_walk(&mesh->edits, API_OBSTACLE);
    for (const api_edit *edit; (edit = api_edit_next(&walk));) {
        if (!edit->idle || ++count > NAV_REPORT_CAP) {
            continue;
        }
        api_json_open(json, '{');
        api_json_key(json, "type");
        api_json_word(json, api_edit_kind_name(edit->kind));
        api_json_key(json, "id");
        api_json_word(json, edit->id);
        api_json_close(json, '}');
    }
    api_json_close(json, ']');
    return count;
}

/// How many there are of what the lists above hold the first of.
static void write_totals(api_json *json, const nav_report *report, uint32_t idle_edits)
{
    api_json_key(json, "totals");
    api_json_open(json, '{');
    write_count(json, "t_junctions", report->t_junction_count);
    write_count(json, "non_manifold_edges", report->non_manifold_count);
    write_count(json, "overlaps", report->overlap_count);
    write_count(json, "dropped_links", report->dropped_link_count);
    write_count(json, "islands", report->island_count);
    write_count(json, "warnings", report->warning_count);
    write_count(json, "idle_edits", idle_edits);
    api_json_close(json, '}');
}

static void write_report(api_json *json, const api_mesh *mesh)
{
    const nav_report *report = mesh->report;
    api_json_open(json, '{');
    write_counts(json, report);
    write_places(json, mesh);
    write_overlaps(json, mesh);
    write_links_and_islands(json, report);
    api_json_key(json, "warnings");
    api_json_open(json, '[');
    for (uint32_t i = 0; i < kept(report->warning_count, NAV_REPORT_WARNINGS); i++) {
        api_json_text(json, report->warnings[i]);
    }
    api_json_close(json, ']');
    uint32_t idle = write_idle_edits(json, mesh);
    write_totals(json, report, idle);
    write_count(json, "revision", mesh->revision);
    api_json_close(json, '}');
}

api_outcome api_mesh_report(api_call *call)
{
    api_problem problem = {0};
    const api_mesh *mesh = api_acquire_mesh(call->context, call->id, &problem);
    if (!mesh) {
        return api_fail(call, &problem);
    }
    if (!api_not_modified(call, mesh)) {
        api_json json = api_json_begin(&call->response->body);
        write_report(&json, mesh);
        call->response->revision = mesh->revision;
        api_succeed(call->response, 200);
    }
    call->context->host.release(call->context->host.ctx, mesh);
    return API_DONE;
}
