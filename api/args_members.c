/// The table of query arguments, and the readers of their values.
#include "args_members.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/// Coordinates beyond what a 32-bit float holds name no place that an answer could name again.
static bool is_coordinate(const cJSON *value)
{
    return api_json_finite(value) && fabs(value->valuedouble) <= (double)FLT_MAX;
}

static bool fail_coordinate(const api_reader *r, const cJSON *value, const char *pointer)
{
    return api_place_fail(r->place, pointer, "`%s` must be a finite number that fits 32 bits, not %s", pointer + 1,
                          api_json_finite(value) ? "one that large" : api_json_kind(value));
}

/// @return 0 to 2 for x, y, z; 3 for another name
static int axis_of(const char *name)
{
    return name[0] >= 'x' && name[0] <= 'z' && !name[1] ? name[0] - 'x' : 3;
}

static bool read_position_object(const api_reader *r, const cJSON *value, const char *pointer, int dimensions,
                                 double *to)
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

static bool read_position_array(const api_reader *r, const cJSON *value, const char *pointer, int dimensions,
                                double *to)
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

static bool read_vector(const api_reader *r, const cJSON *value, const char *pointer, double to[3])
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

bool api_vector_read(const api_mesh *mesh, const cJSON *value, const char *pointer, const api_place *place,
                     double to[3])
{
    const api_args_rules rules = {.mesh = mesh};
    const api_reader r = {.rules = &rules, .place = place};
    return read_vector(&r, value, pointer, to);
}

/// Positions are answered in the form of the question's first, unless `vectors` says otherwise.
static bool read_place(api_reader *r, const cJSON *value, const char *pointer, nav_vec *to)
{
    double v[3] = {0, 0, 0};
    if (!read_vector(r, value, pointer, v)) {
        return false;
    }
    *to = (nav_vec){v[0], v[1], v[2]};
    if (!r->form_known) {
        r->form_known = true;
        // `vectors` was read before or will be read later: it wins either way.
        if (!(r->args->given & API_ARG_VECTORS)) {
            r->args->objects = cJSON_IsObject(value);
        }
    }
    return true;
}

static bool read_position(api_reader *r, const cJSON *value, const char *pointer)
{
    return read_place(r, value, pointer, api_member_position(r->args, r->member));
}

static bool read_direction(api_reader *r, const cJSON *value, const char *pointer)
{
    nav_vec *to = api_member_position(r->args, r->member);
    if (!read_place(r, value, pointer, to)) {
        return false;
    }
    return to->x != 0 || to->y != 0 || to->z != 0 ||
           api_place_fail(r->place, pointer, "`%s` must point somewhere, not be zero", pointer + 1);
}

/// Makes room for `count` positions.
static bool reserve(api_points *points, size_t count)
{
    if (count <= points->cap) {
        return true;
    }
    if (count > UINT32_MAX / sizeof *points->at) {
        return false;
    }
    nav_vec *at = realloc(points->at, count * sizeof *at);
    if (!at) {
        return false;
    }
    points->at = at;
    points->cap = (uint32_t)count;
    return true;
}

static bool read_positions(api_reader *r, const cJSON *value, const char *pointer)
{
    api_points *points = api_member_positions(r->args, r->member);
    if (!cJSON_IsArray(value)) {
        return api_place_fail(r->place, pointer, "`%s` must be a list of positions, not %s", pointer + 1,
                              api_json_kind(value));
    }
    if (!reserve(points, (size_t)cJSON_GetArraySize(value))) {
        api_problem_set(r->place->problem, API_INTERNAL, "out of memory");
        return false;
    }
    for (const cJSON *child = value->child; child; child = child->next) {
        char below[32];
        snprintf(below, sizeof below, "%s/%u", pointer, (unsigned)points->count);
        if (!read_place(r, child, below, &points->at[points->count])) {
            return false;
        }
        points->count++;
    }
    return true;
}

/// In a query string it is a list: the numbers of a position, then the radius.
static bool check_around_list(const api_reader *r, const cJSON *around, const char *pointer)
{
    int dimensions = r->rules->mesh->dimensions == 2 ? 2 : 3;
    int count = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(around, "point")) + 1;
    return count == dimensions + 1 ||
           api_place_fail(r->place, pointer, "`%s` must hold %d numbers, a position's and the radius, not %d",
                          pointer + 1, dimensions + 1, count);
}

/// {"point", "radius"}
static bool read_around(api_reader *r, const cJSON *value, const char *pointer)
{
    bool point = false, radius = false;
    if (!cJSON_IsObject(value)) {
        return api_place_fail(r->place, pointer, "`%s` must be an object of `point` and `radius`, not %s", pointer + 1,
                              api_json_kind(value));
    }
    if (r->place->query_string && !check_around_list(r, value, pointer)) {
        return false;
    }
    for (const cJSON *child = value->child; child; child = child->next) {
        bool is_point = strcmp(child->string, "point") == 0, is_radius = strcmp(child->string, "radius") == 0;
        char below[96];
        api_pointer_join(below, sizeof below, pointer, child->string);
        if ((is_point && point) || (is_radius && radius)) {
            return api_place_fail(r->place, below, "`%s` is there twice", below + 1);
        }
        if (is_point) {
            point = read_place(r, child, below, &r->args->around);
        } else if (is_radius) {
            radius = api_json_finite(child) && child->valuedouble >= 0;
            r->args->around_radius = child->valuedouble;
        } else {
            api_suggestion near = api_suggest_for(child->string);
            api_suggest(&near, "point");
            api_suggest(&near, "radius");
            return api_place_fail(r->place, below, "unknown member `%.40s`: `around` has `point` and `radius`%s",
                                  child->string, api_suggestion_text(&near));
        }
        if (is_point && !point) {
            return false;
        }
        if (is_radius && !radius) {
            return api_place_fail(r->place, below, "`%s` must be a finite number of at least 0", below + 1);
        }
    }
    return (point && radius) ||
           api_place_fail(r->place, pointer, "`%s` has no `%s`", pointer + 1, point ? "radius" : "point");
}

static bool read_snap(api_reader *r, const cJSON *value, const char *pointer)
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

static bool read_choice(const api_reader *r, const cJSON *value, const char *pointer, const char *const *choices,
                        int count, int *choice)
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
    api_suggestion near = api_suggest_for(cJSON_IsString(value) ? value->valuestring : "");
    for (int i = 0; i < count; i++) {
        api_suggest(&near, choices[i]);
    }
    return api_place_fail(r->place, pointer, "`%s` must be one of %s%s", pointer + 1, list, api_suggestion_text(&near));
}

static bool read_floor(api_reader *r, const cJSON *value, const char *pointer)
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

static bool read_filter(api_reader *r, const cJSON *value, const char *pointer)
{
    (void)pointer;
    return api_filter_read(r->args, r->rules->mesh, value, r->place);
}

static bool read_radius(api_reader *r, const cJSON *value, const char *pointer)
{
    if (!is_coordinate(value) || value->valuedouble < 0) {
        return api_place_fail(r->place, pointer, "`radius` must be a finite number of at least 0, not %s",
                              cJSON_IsNumber(value) && value->valuedouble < 0 ? "a negative one"
                              : cJSON_IsNumber(value)                         ? "one that large"
                                                                              : api_json_kind(value));
    }
    r->args->radius = value->valuedouble;
    return true;
}

/// A whole number in [low, high].
static bool read_whole(const api_reader *r, const cJSON *value, const char *pointer, double low, double high,
                       double *out)
{
    if (!api_json_finite(value) || value->valuedouble < low || value->valuedouble > high ||
        value->valuedouble != floor(value->valuedouble)) {
        return api_place_fail(r->place, pointer, "`%s` must be a whole number from %.0f to %.0f", pointer + 1, low,
                              high);
    }
    *out = value->valuedouble;
    return true;
}

static bool read_timeout(api_reader *r, const cJSON *value, const char *pointer)
{
    double ms = 0;
    if (!read_whole(r, value, pointer, 1, r->rules->limits->max_timeout_ms, &ms)) {
        return false;
    }
    r->args->timeout_ms = (uint32_t)ms;
    return true;
}

/// A hint never changes an answer, so it is checked and then not needed: location is by a grid.
static bool read_hint(api_reader *r, const cJSON *value, const char *pointer)
{
    double hint = 0;
    return read_whole(r, value, pointer, 0, UINT32_MAX, &hint);
}

static bool read_precision(api_reader *r, const cJSON *value, const char *pointer)
{
    double precision = 0;
    if (!read_whole(r, value, pointer, 0, 9, &precision)) {
        return false;
    }
    r->args->precision = (int)precision;
    return true;
}

static bool read_vectors(api_reader *r, const cJSON *value, const char *pointer)
{
    static const char *const names[] = {"array", "object"};
    int choice = 0;
    if (!read_choice(r, value, pointer, names, 2, &choice)) {
        return false;
    }
    r->args->objects = choice == 1;
    return true;
}

static bool read_frame(api_reader *r, const cJSON *value, const char *pointer)
{
    api_frame file;
    if (!cJSON_IsString(value) || !api_frame_parse(value->valuestring, &file, &r->args->frame)) {
        return api_place_fail(r->place, pointer,
                              "`frame` must be \"y-up\", \"z-up\", \"unreal\" or three signed axes "
                              "such as \"-x,-z,y\"");
    }
    return true;
}

static bool read_id(api_reader *r, const cJSON *value, const char *pointer)
{
    if (!cJSON_IsString(value) && !api_json_finite(value)) {
        return api_place_fail(r->place, pointer, "`id` must be a string or a number, not %s", api_json_kind(value));
    }
    r->args->id = value;
    return true;
}

static bool read_bool(api_reader *r, const cJSON *value, const char *pointer)
{
    if (!cJSON_IsBool(value)) {
        return api_place_fail(r->place, pointer, "`%s` must be true or false, not %s", pointer + 1,
                              api_json_kind(value));
    }
    *((bool *)((char *)r->args + r->member->offset)) = cJSON_IsTrue(value);
    return true;
}

static bool read_count(api_reader *r, const cJSON *value, const char *pointer)
{
    double count = 0;
    if (!read_whole(r, value, pointer, 1, r->rules->max_count, &count)) {
        return false;
    }
    r->args->count = (uint32_t)count;
    return true;
}

static bool read_max_nodes(api_reader *r, const cJSON *value, const char *pointer)
{
    double nodes = 0;
    if (!read_whole(r, value, pointer, 1, r->rules->limits->max_nodes, &nodes)) {
        return false;
    }
    r->args->max_nodes = (uint32_t)nodes;
    return true;
}

static bool read_max_length(api_reader *r, const cJSON *value, const char *pointer)
{
    if (!api_json_finite(value) || !(value->valuedouble > 0)) {
        return api_place_fail(r->place, pointer, "`max_length` must be a finite number above 0");
    }
    r->args->max_length = value->valuedouble;
    return true;
}

/// A finite number of at least 0, whose field is a double.
static bool read_amount(api_reader *r, const cJSON *value, const char *pointer)
{
    if (!api_json_finite(value) || value->valuedouble < 0) {
        return api_place_fail(r->place, pointer, "`%s` must be a finite number of at least 0", pointer + 1);
    }
    *((double *)(void *)((char *)r->args + r->member->offset)) = value->valuedouble;
    return true;
}

static bool read_limit(api_reader *r, const cJSON *value, const char *pointer)
{
    double limit = 0;
    if (!read_whole(r, value, pointer, 1, UINT32_MAX, &limit)) {
        return false;
    }
    r->args->limit = (uint32_t)limit;
    return true;
}

static bool read_explain(api_reader *r, const cJSON *value, const char *pointer)
{
    double nodes = 0;
    if (!read_whole(r, value, pointer, 0, API_EXPLAIN_MAX, &nodes)) {
        return false;
    }
    r->args->explain = (uint32_t)nodes;
    return true;
}

/// Up to 2^53 - 1, which is what JSON's numbers carry exactly everywhere.
static bool read_seed(api_reader *r, const cJSON *value, const char *pointer)
{
    double seed = 0;
    if (!read_whole(r, value, pointer, 0, 9007199254740991.0, &seed)) {
        return false;
    }
    r->args->seed = (uint64_t)seed;
    return true;
}

static bool read_format(api_reader *r, const cJSON *value, const char *pointer)
{
    static const char *const names[] = {"json", "geojson"};
    int choice = 0;
    if (!read_choice(r, value, pointer, names, 2, &choice)) {
        return false;
    }
    r->args->geojson = choice == 1;
    return true;
}

static const api_member members[] = {
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
    {"/max_distance", API_ARG_MAX_DISTANCE, read_amount, offsetof(api_args, max_distance), API_FORM_NUMBER},
    {"/max_cost", API_ARG_MAX_COST, read_amount, offsetof(api_args, max_cost), API_FORM_NUMBER},
    {"/limit", API_ARG_LIMIT, read_limit, 0, API_FORM_NUMBER},
    {"/format", API_ARG_FORMAT, read_format, 0, API_FORM_TEXT},
    {"/seed", API_ARG_SEED, read_seed, 0, API_FORM_NUMBER},
    {"/around", API_ARG_AROUND, read_around, 0, API_FORM_AROUND},
    {"/origin", API_ARG_ORIGIN, read_position, offsetof(api_args, origin), API_FORM_POSITION},
    {"/direction", API_ARG_DIRECTION, read_direction, offsetof(api_args, direction), API_FORM_POSITION},
    {"/sources", API_ARG_SOURCES, read_positions, offsetof(api_args, sources), API_FORM_POSITIONS},
    {"/targets", API_ARG_TARGETS, read_positions, offsetof(api_args, targets), API_FORM_POSITIONS},
    {"/explain", API_ARG_EXPLAIN, read_explain, 0, API_FORM_NUMBER},
};
enum { MEMBER_COUNT = sizeof members / sizeof *members };

const api_member *api_member_at(size_t index)
{
    return index < MEMBER_COUNT ? &members[index] : NULL;
}

const api_member *api_member_find(const char *name)
{
    for (int i = 0; i < MEMBER_COUNT; i++) {
        if (strcmp(name, api_member_name(&members[i])) == 0) {
            return &members[i];
        }
    }
    return NULL;
}
