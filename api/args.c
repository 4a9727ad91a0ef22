/// From a question to its checked arguments.
#include "args_members.h"

#include <math.h>
#include <stdlib.h>

bool api_args_form(const char *name, uint32_t allowed, api_arg_form *form)
{
    const api_member *m = api_member_find(name);
    if (!m || !(m->bit & allowed)) {
        return false;
    }
    *form = m->form;
    return true;
}

bool api_args_unknown(const api_place *place, const char *name, uint32_t allowed)
{
    const char *what = place->query_string ? "parameter" : "member";
    api_suggestion near = api_suggest_for(name);
    const api_member *m;
    for (size_t i = 0; (m = api_member_at(i)); i++) {
        if (m->bit & allowed) {
            api_suggest(&near, api_member_name(m));
        }
    }
    char pointer[96];
    api_pointer_join(pointer, sizeof pointer, "", name);
    return api_place_fail(place, pointer, "unknown %s `%.40s`%s", what, name, api_suggestion_text(&near));
}

static void set_defaults(api_args *args, const api_args_rules *rules)
{
    args->given = 0;
    args->point = args->start = args->end = args->origin = args->direction = args->around = (nav_vec){0, 0, 0};
    args->around_radius = 0;
    args->sources.count = args->targets.count = 0;
    args->snap = nav_snap_default();
    args->radius = 0;
    args->timeout_ms = rules->limits->max_timeout_ms;
    args->count = 1;
    args->max_nodes = rules->limits->max_nodes;
    args->max_length = 0;
    args->max_distance = args->max_cost = INFINITY;
    args->limit = args->explain = 0;
    args->seed = 0;
    args->precision = -1;
    args->partial = true;
    args->corridor = args->surface = args->objects = args->geojson = false;
    args->frame = rules->mesh->frame;
    args->id = NULL;
}

/// Reads one member whose name is known.
static bool read_member(api_reader *r, const api_member *m, const cJSON *value)
{
    if (r->args->given & m->bit) {
        return api_place_fail(r->place, m->pointer, "`%s` is there twice", api_member_name(m));
    }
    r->member = m;
    if (!m->read(r, value, m->pointer)) {
        return false;
    }
    r->args->given |= m->bit;
    return true;
}

static bool read_members(api_reader *r, const cJSON *object, const char *ignored)
{
    for (const cJSON *child = object->child; child; child = child->next) {
        const api_member *m = api_member_find(child->string);
        if (m && (m->bit & r->rules->allowed)) {
            if (!read_member(r, m, child)) {
                return false;
            }
        } else if (!ignored || strcmp(child->string, ignored) != 0) {
            return api_args_unknown(r->place, child->string, r->rules->allowed);
        }
    }
    return true;
}

/// Members of `defaults` fill gaps; those that this query does not take are passed over.
static bool read_fallbacks(api_reader *r, const cJSON *defaults)
{
    uint32_t given = r->args->given;
    for (const cJSON *child = defaults->child; child; child = child->next) {
        const api_member *m = api_member_find(child->string);
        if (m && (m->bit & r->rules->allowed) && !(m->bit & given) && !read_member(r, m, child)) {
            return false;
        }
    }
    return true;
}

static bool check_required(const api_reader *r)
{
    const api_member *m;
    for (size_t i = 0; (m = api_member_at(i)); i++) {
        if (m->bit & r->rules->required & ~r->args->given) {
            return api_place_fail(r->place, m->pointer, "`%s` is missing", api_member_name(m));
        }
    }
    return true;
}

nav_vec api_vector_to_internal(const api_frame *frame, const api_mesh *mesh, nav_vec caller)
{
    if (mesh->dimensions == 2) {
        double given[2] = {caller.x, caller.y}, full[3] = {0, 0, 0};
        for (int k = 0, next = 0; k < 3; k++) {
            if (frame->axis[k] != 1) {
                full[k] = given[next++ & 1];
            }
        }
        caller = (nav_vec){full[0], full[1], full[2]};
    }
    return api_frame_to_internal(frame, caller);
}

static nav_vec to_internal(const api_args *args, const api_mesh *mesh, nav_vec caller)
{
    return api_vector_to_internal(&args->frame, mesh, caller);
}

static nav_vec extents_to_internal(const api_args *args, const api_mesh *mesh)
{
    nav_vec caller = args->snap.half_extents;
    if (mesh->dimensions != 2) {
        return api_frame_extents_to_internal(&args->frame, caller);
    }
    nav_vec internal = to_internal(args, mesh, caller);
    return (nav_vec){fabs(internal.x), 0, fabs(internal.z)};
}

/// From the caller's frame, which is known only when all has been read.
static void convert(api_args *args, const api_args_rules *rules)
{
    const api_mesh *mesh = rules->mesh;
    args->snap.half_extents = args->given & API_ARG_SNAP ? extents_to_internal(args, mesh) : mesh->snap;
    const api_member *m;
    for (size_t i = 0; (m = api_member_at(i)); i++) {
        if (!(m->bit & args->given)) {
            continue;
        }
        if (m->form == API_FORM_POSITION) {
            nav_vec *position = api_member_position(args, m);
            *position = to_internal(args, mesh, *position);
        } else if (m->form == API_FORM_POSITIONS) {
            api_points *list = api_member_positions(args, m);
            for (uint32_t k = 0; k < list->count; k++) {
                list->at[k] = to_internal(args, mesh, list->at[k]);
            }
        }
    }
    args->around = to_internal(args, mesh, args->around);
}

bool api_args_read(api_args *args, const api_args_rules *rules, const cJSON *question, const cJSON *defaults,
                   const char *ignored, const api_place *place)
{
    set_defaults(args, rules);
    api_reader r = {.args = args, .rules = rules, .place = place};
    if (!cJSON_IsObject(question)) {
        return api_place_fail(place, "", "a question is a JSON object, not %s", api_json_kind(question));
    }
    if (!read_members(&r, question, ignored) || (defaults && !read_fallbacks(&r, defaults)) || !check_required(&r)) {
        return false;
    }
    if (!(args->given & API_ARG_FILTER)) {
        api_filter_default(args, rules->mesh);
    }
    convert(args, rules);
    return true;
}

bool api_args_check(const api_args_rules *rules, const cJSON *defaults, const api_place *place)
{
    api_args args = {0};
    set_defaults(&args, rules);
    api_reader r = {.args = &args, .rules = rules, .place = place};
    bool good = cJSON_IsObject(defaults)
                    ? read_members(&r, defaults, NULL)
                    : api_place_fail(place, "", "`defaults` must be an object, not %s", api_json_kind(defaults));
    api_args_deinit(&args);
    return good;
}

void api_args_deinit(api_args *args)
{
    free(args->sources.at);
    free(args->targets.at);
    args->sources = args->targets = (api_points){0};
}

api_positions api_args_positions(const api_args *args, const api_mesh *mesh)
{
    return (api_positions){
        .frame = &args->frame, .dimensions = mesh->dimensions, .precision = args->precision, .objects = args->objects};
}

void api_args_echo_id(api_json *json, const cJSON *id)
{
    if (!id) {
        return;
    }
    api_json_key(json, "id");
    if (cJSON_IsString(id)) {
        api_json_text(json, id->valuestring);
    } else {
        api_json_double(json, id->valuedouble);
    }
}
