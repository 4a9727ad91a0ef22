/// The table of query arguments and how each is read.
#include "args.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

typedef struct member member;

typedef struct reader {
    api_args *args;
    const api_args_rules *rules;
    const api_place *place;
    const member *member; ///< being read
    bool form_known;      ///< a position told whether positions are objects
} reader;

/// @param pointer  of the member, "/start"
typedef bool read_fn(reader *r, const cJSON *value, const char *pointer);

struct member {
    const char *pointer; ///< '/' and the name
    uint32_t bit;
    read_fn *read;
    size_t offset; ///< of the field in api_args, where `read` serves several
    api_arg_form form;
};

/// Coordinates beyond what a 32-bit float holds name no place that an answer could name again.
static bool is_coordinate(const cJSON *value)
{
    return api_json_finite(value) && fabs(value->valuedouble) <= (double)FLT_MAX;
}

static bool fail_coordinate(const reader *r, const cJSON *value, const char *pointer)
{
    return api_place_fail(r->place, pointer, "`%s` must be a finite number that fits 32 bits, not %s", pointer + 1,
                          api_json_kind(value));
}

/// @return 0 to 2 for x, y, z; 3 for another name
static int axis_of(const char *name)
{
    return name[0] >= 'x' && name[0] <= 'z' && !name[1] ? name[0] - 'x' : 3;
}

static bool read_position_object(const reader *r, const cJSON *value, const char *pointer, int dimensions, double *to)
{
    unsigned seen = 0;
    for (const cJSON *child = value->child; child; child = child->next) {
        int axis = axis_of(child->string);
        bool unknown = axis >= dimensions, twice = !unknown && (seen & 1u << axis);
        if (unknown || twice || !is_coordinate(child)) {
            char below[96];
            api_pointer_join(below, sizeof below, pointer, child->string);
            return unknown ? api_place_fail(r->place, below, "`%.40s` is no member of a position in this mesh",
                                            child->string)
                   : twice ? api_place_fail(r->place, below, "`%s` is there twice", below + 1)
                           : fail_coordinate(r, child, below);
        }
        seen |= 1u << axis;
        to[axis] = child->valuedouble;
    }
    for (int axis = 0; axis < dimensions; axis++) {
        if (!(seen & 1u << axis)) {
            return api_place_fail(r->place, pointer, "`%s` has no `%c`", pointer + 1, 'x' + axis);
        }
    }
    return true;
}

static bool read_position_array(const reader *r, const cJSON *value, const char *pointer, int dimensions, double *to)
{
    int count = 0;
    for (const cJSON *child = value->child; child; child = child->next) {
        if (count < dimensions) {
            if (!is_coordinate(child)) {
                char below[96];
                snprintf(below, sizeof below, "%s/%d", pointer, count);
                return fail_coordinate(r, child, below);
            }
            to[count] = child->valuedouble;
        }
        count++;
    }
    if (count != dimensions) {
        return api_place_fail(r->place, pointer, "`%s` must hold %d numbers, not %d", pointer + 1, dimensions, count);
    }
    return true;
}

static bool read_vector(const reader *r, const cJSON *value, const char *pointer, double to[3])
{
    int dimensions = r->rules->mesh->dimensions == 2 ? 2 : 3;
    if (cJSON_IsArray(value)) {
        return read_position_array(r, value, pointer, dimensions, to);
    }
    if (cJSON_IsObject(value)) {
        return read_position_object(r, value, pointer, dimensions, to);
    }
    return api_place_fail(r->place, pointer, "`%s` must be a position, %s, not %s", pointer + 1,
                          dimensions == 2 ? "[x, y] or {\"x\", \"y\"}" : "[x, y, z] or {\"x\", \"y\", \"z\"}",
                          api_json_kind(value));
}

static bool read_position(reader *r, const cJSON *value, const char *pointer)
{
    double v[3] = {0, 0, 0};
    if (!read_vector(r, value, pointer, v)) {
        return false;
    }
    *(nav_vec *)(void *)((char *)r->args + r->member->offset) = (nav_vec){v[0], v[1], v[2]};
    if (!r->form_known) {
        r->form_known = true;
        // `vectors` was read before or will be read later: it wins either way.
        if (!(r->args->given & API_ARG_VECTORS)) {
            r->args->objects = cJSON_IsObject(value);
        }
    }
    return true;
}

static bool read_snap(reader *r, const cJSON *value, const char *pointer)
{
    double v[3] = {0, 0, 0};
    if (cJSON_IsNumber(value)) {
        if (!is_coordinate(value)) {
            return fail_coordinate(r, value, pointer);
        }
        v[0] = v[1] = v[2] = value->valuedouble;
    } else if (!read_vector(r, value, pointer, v)) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        if (v[k] < 0) {
            return api_place_fail(r->place, pointer, "`%s` must hold half extents of at least 0", pointer + 1);
        }
    }
    r->args->snap.half_extents = (nav_vec){v[0], v[1], v[2]};
    return true;
}

static bool read_choice(const reader *r, const cJSON *value, const char *pointer, const char *const *choices, int count,
                        int *choice)
{
    char list[96] = "";
    for (int i = 0; i < count; i++) {
        if (cJSON_IsString(value) && strcmp(value->valuestring, choices[i]) == 0) {
            *choice = i;
            return true;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s\"%s\"", i ? ", " : "", choices[i]);
    }
    return api_place_fail(r->place, pointer, "`%s` must be one of %s", pointer + 1, list);
}

static bool read_floor(reader *r, const cJSON *value, const char *pointer)
{
    static const char *const names[] = {"nearest", "below", "above"};
    static const nav_floor floors[] = {NAV_FLOOR_NEAREST, NAV_FLOOR_BELOW, NAV_FLOOR_ABOVE};
    int choice = 0;
    if (!read_choice(r, value, pointer, names, 3, &choice)) {
        return false;
    }
    r->args->snap.floor = floors[choice];
    return true;
}

static bool read_filter(reader *r, const cJSON *value, const char *pointer)
{
    (void)pointer;
    return api_filter_read(r->args, r->rules->mesh, value, r->place);
}

static bool read_radius(reader *r, const cJSON *value, const char *pointer)
{
    if (!api_json_finite(value) || value->valuedouble < 0) {
        return api_place_fail(r->place, pointer, "`radius` must be a finite number of at least 0, not %s",
                              cJSON_IsNumber(value) && value->valuedouble < 0 ? "a negative one"
                                                                              : api_json_kind(value));
    }
    double baked = r->rules->mesh->agent.radius;
    if (value->valuedouble > baked) {
        return api_place_fail(r->place, pointer,
                              "`radius` %g is more than the %g this mesh was made for; this version "
                              "does not shrink meshes for larger agents",
                              value->valuedouble, baked);
    }
    return true;
}

/// A whole number in [low, high].
static bool read_whole(const reader *r, const cJSON *value, const char *pointer, double low, double high, double *out)
{
    if (!api_json_finite(value) || value->valuedouble < low || value->valuedouble > high ||
        value->valuedouble != floor(value->valuedouble)) {
        return api_place_fail(r->place, pointer, "`%s` must be a whole number from %.0f to %.0f", pointer + 1, low,
                              high);
    }
    *out = value->valuedouble;
    return true;
}

static bool read_timeout(reader *r, const cJSON *value, const char *pointer)
{
    double ms = 0;
    if (!read_whole(r, value, pointer, 1, r->rules->limits->max_timeout_ms, &ms)) {
        return false;
    }
    r->args->timeout_ms = (uint32_t)ms;
    return true;
}

/// A hint never changes an answer, so it is checked and then not needed: location is by a grid.
static bool read_hint(reader *r, const cJSON *value, const char *pointer)
{
    double hint = 0;
    return read_whole(r, value, pointer, 0, UINT32_MAX, &hint);
}

static bool read_precision(reader *r, const cJSON *value, const char *pointer)
{
    double precision = 0;
    if (!read_whole(r, value, pointer, 0, 9, &precision)) {
        return false;
    }
    r->args->precision = (int)precision;
    return true;
}

static bool read_vectors(reader *r, const cJSON *value, const char *pointer)
{
    static const char *const names[] = {"array", "object"};
    int choice = 0;
    if (!read_choice(r, value, pointer, names, 2, &choice)) {
        return false;
    }
    r->args->objects = choice == 1;
    return true;
}

static bool read_frame(reader *r, const cJSON *value, const char *pointer)
{
    api_frame file;
    if (!cJSON_IsString(value) || !api_frame_parse(value->valuestring, &file, &r->args->frame)) {
        return api_place_fail(r->place, pointer,
                              "`frame` must be \"y-up\", \"z-up\", \"unreal\" or three signed axes "
                              "such as \"-x,-z,y\"");
    }
    return true;
}

static bool read_id(reader *r, const cJSON *value, const char *pointer)
{
    if (!cJSON_IsString(value) && !api_json_finite(value)) {
        return api_place_fail(r->place, pointer, "`id` must be a string or a number, not %s", api_json_kind(value));
    }
    r->args->id = value;
    return true;
}

static bool read_bool(reader *r, const cJSON *value, const char *pointer)
{
    if (!cJSON_IsBool(value)) {
        return api_place_fail(r->place, pointer, "`%s` must be true or false, not %s", pointer + 1,
                              api_json_kind(value));
    }
    *((bool *)((char *)r->args + r->member->offset)) = cJSON_IsTrue(value);
    return true;
}

static bool read_count(reader *r, const cJSON *value, const char *pointer)
{
    double count = 0;
    if (!read_whole(r, value, pointer, 1, API_COUNT_MAX, &count)) {
        return false;
    }
    r->args->count = (uint32_t)count;
    return true;
}

static bool read_max_nodes(reader *r, const cJSON *value, const char *pointer)
{
    double nodes = 0;
    if (!read_whole(r, value, pointer, 1, r->rules->limits->max_nodes, &nodes)) {
        return false;
    }
    r->args->max_nodes = (uint32_t)nodes;
    return true;
}

static bool read_max_length(reader *r, const cJSON *value, const char *pointer)
{
    if (!api_json_finite(value) || !(value->valuedouble > 0)) {
        return api_place_fail(r->place, pointer, "`max_length` must be a finite number above 0");
    }
    r->args->max_length = value->valuedouble;
    return true;
}

static const member members[] = {
    {"/point", API_ARG_POINT, read_position, offsetof(api_args, point), API_FORM_POSITION},
    {"/start", API_ARG_START, read_position, offsetof(api_args, start), API_FORM_POSITION},
    {"/end", API_ARG_END, read_position, offsetof(api_args, end), API_FORM_POSITION},
    {"/snap", API_ARG_SNAP, read_snap, 0, API_FORM_NUMBERS},
    {"/floor", API_ARG_FLOOR, read_floor, 0, API_FORM_TEXT},
    {"/filter", API_ARG_FILTER, read_filter, 0, API_FORM_FILTER},
    {"/radius", API_ARG_RADIUS, read_radius, 0, API_FORM_NUMBER},
    {"/timeout_ms", API_ARG_TIMEOUT_MS, read_timeout, 0, API_FORM_NUMBER},
    {"/hint", API_ARG_HINT, read_hint, 0, API_FORM_NUMBER},
    {"/precision", API_ARG_PRECISION, read_precision, 0, API_FORM_NUMBER},
    {"/vectors", API_ARG_VECTORS, read_vectors, 0, API_FORM_TEXT},
    {"/frame", API_ARG_FRAME, read_frame, 0, API_FORM_TEXT},
    {"/id", API_ARG_ID, read_id, 0, API_FORM_TEXT},
    {"/count", API_ARG_COUNT, read_count, 0, API_FORM_NUMBER},
    {"/partial", API_ARG_PARTIAL, read_bool, offsetof(api_args, partial), API_FORM_BOOL},
    {"/corridor", API_ARG_CORRIDOR, read_bool, offsetof(api_args, corridor), API_FORM_BOOL},
    {"/surface", API_ARG_SURFACE, read_bool, offsetof(api_args, surface), API_FORM_BOOL},
    {"/max_nodes", API_ARG_MAX_NODES, read_max_nodes, 0, API_FORM_NUMBER},
    {"/max_length", API_ARG_MAX_LENGTH, read_max_length, 0, API_FORM_NUMBER},
};
enum { MEMBER_COUNT = sizeof members / sizeof *members };

static const char *name_of(const member *m)
{
    return m->pointer + 1;
}

static const member *find_member(const char *name)
{
    for (int i = 0; i < MEMBER_COUNT; i++) {
        if (strcmp(name, name_of(&members[i])) == 0) {
            return &members[i];
        }
    }
    return NULL;
}

bool api_args_form(const char *name, uint32_t allowed, api_arg_form *form)
{
    const member *m = find_member(name);
    if (!m || !(m->bit & allowed)) {
        return false;
    }
    *form = m->form;
    return true;
}

bool api_args_unknown(const api_place *place, const char *name, uint32_t allowed)
{
    const char *what = place->query_string ? "parameter" : "member";
    const char *nearest = NULL;
    int best = 3;
    for (int i = 0; i < MEMBER_COUNT; i++) {
        int distance = members[i].bit & allowed ? api_name_distance(name, name_of(&members[i]), 2) : 3;
        if (distance < best && distance < (int)strlen(name_of(&members[i]))) {
            best = distance;
            nearest = name_of(&members[i]);
        }
    }
    char pointer[96];
    api_pointer_join(pointer, sizeof pointer, "", name);
    return nearest ? api_place_fail(place, pointer, "unknown %s `%.40s`, did you mean `%s`?", what, name, nearest)
                   : api_place_fail(place, pointer, "unknown %s `%.40s`", what, name);
}

static void set_defaults(api_args *args, const api_args_rules *rules)
{
    args->given = 0;
    args->point = args->start = args->end = (nav_vec){0, 0, 0};
    args->snap = nav_snap_default();
    args->timeout_ms = rules->limits->max_timeout_ms;
    args->count = 1;
    args->max_nodes = rules->limits->max_nodes;
    args->max_length = 0;
    args->precision = -1;
    args->partial = true;
    args->corridor = args->surface = args->objects = false;
    args->frame = rules->mesh->frame;
    args->id = NULL;
}

/// Reads one member whose name is known.
static bool read_member(reader *r, const member *m, const cJSON *value)
{
    if (r->args->given & m->bit) {
        return api_place_fail(r->place, m->pointer, "`%s` is there twice", name_of(m));
    }
    r->member = m;
    if (!m->read(r, value, m->pointer)) {
        return false;
    }
    r->args->given |= m->bit;
    return true;
}

static bool read_members(reader *r, const cJSON *object, const char *ignored)
{
    for (const cJSON *child = object->child; child; child = child->next) {
        const member *m = find_member(child->string);
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
static bool read_fallbacks(reader *r, const cJSON *defaults)
{
    uint32_t given = r->args->given;
    for (const cJSON *child = defaults->child; child; child = child->next) {
        const member *m = find_member(child->string);
        if (m && (m->bit & r->rules->allowed) && !(m->bit & given) && !read_member(r, m, child)) {
            return false;
        }
    }
    return true;
}

static bool check_required(const reader *r)
{
    for (int i = 0; i < MEMBER_COUNT; i++) {
        if (members[i].bit & r->rules->required & ~r->args->given) {
            return api_place_fail(r->place, members[i].pointer, "`%s` is missing", name_of(&members[i]));
        }
    }
    return true;
}

/// On a flat mesh a position holds the caller's two ground axes, in their order.
static nav_vec to_internal(const api_args *args, const api_mesh *mesh, nav_vec caller)
{
    if (mesh->dimensions == 2) {
        double given[2] = {caller.x, caller.y}, full[3] = {0, 0, 0};
        for (int k = 0, next = 0; k < 3; k++) {
            if (args->frame.axis[k] != 1) {
                full[k] = given[next++ & 1];
            }
        }
        caller = (nav_vec){full[0], full[1], full[2]};
    }
    return api_frame_to_internal(&args->frame, caller);
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

static void convert(api_args *args, const api_args_rules *rules)
{
    const api_mesh *mesh = rules->mesh;
    args->snap.half_extents = args->given & API_ARG_SNAP ? extents_to_internal(args, mesh) : mesh->snap;
    if (args->given & API_ARG_POINT) {
        args->point = to_internal(args, mesh, args->point);
    }
    if (args->given & API_ARG_START) {
        args->start = to_internal(args, mesh, args->start);
    }
    if (args->given & API_ARG_END) {
        args->end = to_internal(args, mesh, args->end);
    }
}

bool api_args_read(api_args *args, const api_args_rules *rules, const cJSON *question, const cJSON *defaults,
                   const char *ignored, const api_place *place)
{
    set_defaults(args, rules);
    reader r = {.args = args, .rules = rules, .place = place};
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
    api_args args;
    set_defaults(&args, rules);
    reader r = {.args = &args, .rules = rules, .place = place};
    if (!cJSON_IsObject(defaults)) {
        return api_place_fail(place, "", "`defaults` must be an object, not %s", api_json_kind(defaults));
    }
    return read_members(&r, defaults, NULL);
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
