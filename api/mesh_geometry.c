/// `geometry`: the surface for viewers, written in chunks on a worker.
#include <stdlib.h>

#include "geometry_form.h"
#include "meshes.h"
#include "route.h"

/// Vertices and faces together up to which the serving thread writes the answer itself.
#define INLINE_ITEMS 512
/// Time of a chunk.
#define CHUNK_NS 1000000u

/// The answer's lists, in order. Faces are the file's polygons, convex ones whole, others in their
/// convex pieces; `numbers` holds the file's number of each.
typedef enum geometry_list {
    LIST_VERTICES,
    LIST_POLYGONS,
    LIST_NUMBERS,
    LIST_AREAS,
    LIST_FLAGS,
    LIST_ISLANDS,
    LIST_COUNT
} geometry_list;

static const char *const list_names[LIST_COUNT] = {"vertices", "polygons", "numbers", "areas", "flags", "islands"};

/// navcore winds faces positively in (x, z). Viewers want the side that is walked on in front: corners
/// a, b, c with (b - a) x (c - a) pointing up in the caller's axes, anticlockwise on a flat mesh.
bool api_geometry_reversed(const api_mesh *mesh)
{
    nav_vec x = api_frame_to_caller(&mesh->frame, (nav_vec){1, 0, 0});
    nav_vec z = api_frame_to_caller(&mesh->frame, (nav_vec){0, 0, 1});
    nav_vec up = api_frame_to_caller(&mesh->frame, (nav_vec){0, 1, 0});
    if (mesh->dimensions == 2) {
        // The two axes that are left, in order; which they are `up` tells.
        double x0 = up.x == 0 ? x.x : x.y, x1 = up.z == 0 ? x.z : x.y;
        double z0 = up.x == 0 ? z.x : z.y, z1 = up.z == 0 ? z.z : z.y;
        return x0 * z1 - x1 * z0 < 0;
    }
    return (x.y * z.z - x.z * z.y) * up.x + (x.z * z.x - x.x * z.z) * up.y + (x.x * z.y - x.y * z.x) * up.z < 0;
}

/// Corner 0 stays the first: heights within a face are those of the fan round it.
static void write_corners(api_json *json, const nav_face_view *face, bool reverse)
{
    api_json_open(json, '[');
    for (uint32_t i = 0; i < face->corner_count; i++) {
        api_json_u64(json, face->corners[reverse && i > 0 ? face->corner_count - i : i]);
    }
    api_json_close(json, ']');
}

static void write_face_item(api_json *json, geometry_list list, const nav_face_view *face, bool reverse)
{
    switch (list) {
    case LIST_NUMBERS:
        api_json_u64(json, face->polygon);
        break;
    case LIST_AREAS:
        api_json_u64(json, face->area);
        break;
    case LIST_FLAGS:
        api_json_u64(json, face->flags);
        break;
    case LIST_ISLANDS:
        api_json_u64(json, face->island);
        break;
    default:
        write_corners(json, face, reverse);
    }
}

static void write_item(api_json *json, const api_mesh *mesh, geometry_list list, uint32_t item)
{
    if (list == LIST_VERTICES) {
        api_positions positions = api_mesh_positions(mesh);
        api_json_position(json, &positions, nav_mesh_vertex(mesh->nav, item));
        return;
    }
    nav_face_view face;
    nav_mesh_face(mesh->nav, item, &face);
    if (face.corner_count > 0) {
        write_face_item(json, list, &face, api_geometry_reversed(mesh));
    }
}

static uint32_t list_length(geometry_list list, const nav_mesh_info *info)
{
    return list == LIST_VERTICES ? info->vertices : info->faces;
}

/// A mesh without flags has no list of them: zeros would say that it has, and that no filter passes anything.
static bool has_list(geometry_list list, const nav_mesh_info *info)
{
    return list != LIST_FLAGS || info->has_flags;
}

/// Writes up to API_GEOMETRY_ITEMS_A_LOOK items of the list that task->phase names, its opening and its end.
static void write_some(api_task *task, const nav_mesh_info *info)
{
    geometry_list list = (geometry_list)task->phase;
    if (!has_list(list, info)) {
        task->phase++;
        return;
    }
    // Faces that edits took away are left out: a list may have begun without an item yet.
    bool has_items = task->body.size > 0 && task->body.data[task->body.size - 1] != '[';
    api_json json = {.out = &task->body, .comma = task->next > 0 ? has_items : list > LIST_VERTICES};
    if (task->next == 0) {
        if (list == LIST_VERTICES) {
            api_json_open(&json, '{');
        }
        api_json_key(&json, list_names[list]);
        api_json_open(&json, '[');
    }
    uint32_t length = list_length(list, info);
    uint32_t end = length - task->next > API_GEOMETRY_ITEMS_A_LOOK ? task->next + API_GEOMETRY_ITEMS_A_LOOK : length;
    for (; task->next < end; task->next++) {
        write_item(&json, task->mesh, list, task->next);
    }
    if (end == length) {
        api_json_close(&json, ']');
        task->phase++;
        task->next = 0;
    }
}

static const api_geometry_form json_form = {NULL, LIST_COUNT, write_some};

static api_outcome run(api_task *task, api_context *context, api_response *response, const api_geometry_form *form)
{
    nav_mesh_info info;
    nav_mesh_get_info(task->mesh->nav, &info);
    api_problem problem;
    if (api_client_gone(context, task->request)) {
        api_problem_set(&problem, API_DEADLINE, "the client has gone");
        return api_task_fail(task, context, response, &problem);
    }
    uint64_t now = api_now(context), end = now + CHUNK_NS;
    for (; task->phase < form->phases; now = api_now(context)) {
        if (now >= task->deadline_ns) {
            api_problem_set(&problem, API_DEADLINE, "the geometry was not written within the time that a request has");
            return api_task_fail(task, context, response, &problem);
        }
        if (task->body.failed) {
            api_problem_set(&problem, API_INTERNAL, "out of memory");
            return api_task_fail(task, context, response, &problem);
        }
        if (now >= end) {
            return API_WORKER;
        }
        form->write(task, &info);
    }
    if (form == &json_form) {
        api_json json = {.out = &task->body, .comma = true};
        api_json_key(&json, "revision");
        api_json_u64(&json, task->mesh->revision);
        api_json_close(&json, '}');
    }
    response->content_type = form->media_type;
    return api_task_finish(task, context, response);
}

static api_outcome run_json(api_task *task, api_context *context, api_response *response)
{
    return run(task, context, response, &json_form);
}

static api_outcome run_glb(api_task *task, api_context *context, api_response *response)
{
    return run(task, context, response, &api_geometry_glb);
}

static api_outcome run_obj(api_task *task, api_context *context, api_response *response)
{
    return run(task, context, response, &api_geometry_obj);
}

typedef api_outcome run_fn(api_task *task, api_context *context, api_response *response);

/// The form that the client takes: the first of those it names, JSON where it has no preference.
/// @return NULL: it takes none of them
static run_fn *choose_form(const char *accept)
{
    static const struct {
        const char *type;
        run_fn *run;
    } forms[] = {{"model/gltf-binary", run_glb},
                 {"model/obj", run_obj},
                 {"application/json", run_json},
                 {"application/*", run_json},
                 {"*/*", run_json}};
    run_fn *chosen = accept && *accept ? NULL : run_json;
    const char *first = NULL;
    for (size_t i = 0; accept && i < sizeof forms / sizeof *forms; i++) {
        const char *at = strstr(accept, forms[i].type);
        if (at && (!first || at < first)) {
            first = at;
            chosen = forms[i].run;
        }
    }
    return chosen;
}

api_outcome api_mesh_geometry(api_call *call)
{
    api_context *context = call->context;
    api_problem problem = {0};
    run_fn *run_form = choose_form(call->request->accept);
    if (!run_form) {
        api_problem_set(&problem, API_UNSUPPORTED_MEDIA_TYPE,
                        "geometry is given as application/json, model/gltf-binary or model/obj");
        return api_fail(call, &problem);
    }
    const api_mesh *mesh = api_acquire_mesh(context, call->id, &problem);
    if (!mesh) {
        return api_fail(call, &problem);
    }
    bool known = api_not_modified(call, mesh);
    api_task *task = known ? NULL : api_task_create(call, run_form);
    if (!task) {
        context->host.release(context->host.ctx, mesh);
        if (known) {
            return API_DONE;
        }
        api_problem_set(&problem, API_INTERNAL, "out of memory");
        return api_fail(call, &problem);
    }
    task->mesh = mesh;
    nav_mesh_info info;
    nav_mesh_get_info(mesh->nav, &info);
    if (info.vertices <= INLINE_ITEMS && info.faces <= INLINE_ITEMS - info.vertices) {
        api_outcome outcome = run_form(task, context, call->response);
        *call->task = outcome == API_WORKER ? task : NULL;
        return outcome;
    }
    *call->task = task;
    return API_WORKER;
}
