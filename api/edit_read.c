/// From JSON to changes of edits.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "edit_json.h"

#define TTL_MAX_MS 1e12
#define PLANE_HALF_HEIGHT 1e8 ///< of what stands on a mesh of the plane

/// Members of obstacles and regions, in the order of the table below.
enum {
    M_SHAPE = 1u << 0,
    M_CENTER = 1u << 1,
    M_RADIUS = 1u << 2,
    M_HEIGHT = 1u << 3,
    M_HALF_EXTENTS = 1u << 4,
    M_YAW = 1u << 5,
    M_POINTS = 1u << 6,
    M_MIN = 1u << 7,
    M_MAX = 1u << 8,
    M_TTL = 1u << 9,
    M_AREA = 1u << 10,
    M_FLAGS = 1u << 11,
    M_BLOCKED = 1u << 12,
    M_VOLATILE = 1u << 13,
    M_EXPIRES = 1u << 14,
    M_IDENTITY = 1u << 15
};

/// Something being read, and where it stands.
typedef struct edit_reader {
    const api_edit_terms *terms;
    const api_place *place;
    api_edit_kind kind;
    api_edit *edit; ///< its points have their final room
    uint32_t seen;
    char id[NAV_ID_MAX + 1];
    double min, max; ///< as given
    char pointer[128];
} edit_reader;

api_edit_terms api_edit_terms_of(const api_mesh *mesh)
{
    return (api_edit_terms){
        .frame = mesh->frame, .dimensions = mesh->dimensions, .names = {.areas = mesh->areas, .flags = mesh->flags}};
}

api_edit_terms api_edit_terms_exact(void)
{
    static const api_area no_areas[256];
    static const char no_flags[32][API_NAME_MAX + 1];
    return (api_edit_terms){
        .frame = api_frame_identity, .dimensions = 3, .names = {.areas = no_areas, .flags = no_flags}, .exact = true};
}

static bool fail(const edit_reader *r, const char *text)
{
    return api_place_fail(r->place, r->pointer, "%s", text);
}

static bool is_coordinate(const cJSON *value)
{
    return api_json_finite(value) && fabs(value->valuedouble) <= (double)FLT_MAX;
}

static bool read_coordinate(const edit_reader *r, const cJSON *value, double *to)
{
    if (!is_coordinate(value)) {
        return fail(r, "must be a finite number that fits 32 bits");
    }
    *to = value->valuedouble;
    return true;
}

/// `count` numbers: an array, or an object of members named in `names`.
static bool read_numbers(const edit_reader *r, const cJSON *value, const char *const *names, int count, double *out)
{
    bool list = cJSON_IsArray(value);
    if ((!list && !cJSON_IsObject(value)) || cJSON_GetArraySize(value) != count) {
        return count == 2 ? api_place_fail(r->place, r->pointer, "must be [%s, %s] or {\"%s\", \"%s\"}", names[0],
                                           names[1], names[0], names[1])
                          : fail(r, "must be [x, y, z] or {\"x\", \"y\", \"z\"}");
    }
    for (int k = 0; k < count; k++) {
        const cJSON *number = list ? cJSON_GetArrayItem(value, k) : cJSON_GetObjectItemCaseSensitive(value, names[k]);
        if (!number || !is_coordinate(number)) {
            return fail(r, "must hold finite numbers that fit 32 bits");
        }
        out[k] = number->valuedouble;
    }
    return true;
}

static const char *const axis_names[] = {"x", "y", "z"};

/// The caller's two axes of the ground plane.
static void ground_axes(const api_frame *frame, int axes[2])
{
    for (int k = 0, used = 0; k < 3; k++) {
        if (frame->axis[k] != 1) {
            axes[used++ & 1] = k;
        }
    }
}

/// What they are called: on a mesh of the plane x and y, whichever they are.
static void ground_names(const api_edit_terms *terms, const char *names[2])
{
    int axes[2];
    ground_axes(&terms->frame, axes);
    names[0] = terms->dimensions == 2 ? "x" : axis_names[axes[0]];
    names[1] = terms->dimensions == 2 ? "y" : axis_names[axes[1]];
}

/// Two numbers on the ground, in the caller's axes with no height.
static bool read_ground(const edit_reader *r, const cJSON *value, nav_vec *caller)
{
    const char *names[2];
    double given[2], full[3] = {0, 0, 0};
    int axes[2];
    ground_names(r->terms, names);
    if (!read_numbers(r, value, names, 2, given)) {
        return false;
    }
    ground_axes(&r->terms->frame, axes);
    full[axes[0]] = given[0];
    full[axes[1]] = given[1];
    *caller = (nav_vec){full[0], full[1], full[2]};
    return true;
}

/// A position or extents as the mesh has them, in the caller's axes.
static bool read_vector(const edit_reader *r, const cJSON *value, nav_vec *caller)
{
    if (r->terms->dimensions == 2) {
        return read_ground(r, value, caller);
    }
    double v[3] = {0, 0, 0};
    if (!read_numbers(r, value, axis_names, 3, v)) {
        return false;
    }
    *caller = (nav_vec){v[0], v[1], v[2]};
    return true;
}

/// @return the axis of the caller's that is navcore's height
static int height_axis(const api_frame *frame)
{
    return frame->axis[0] == 1 ? 0 : frame->axis[1] == 1 ? 1 : 2;
}

double api_edit_yaw_sign(const api_edit_terms *terms)
{
    const api_frame *frame = &terms->frame;
    int axes[2], up = height_axis(frame);
    ground_axes(frame, axes);
    int from = terms->dimensions == 2 ? axes[0] : (up + 1) % 3, to = terms->dimensions == 2 ? axes[1] : (up + 2) % 3;
    double sign = frame->sign[from] * frame->sign[to];
    return frame->axis[from] == 2 ? sign : -sign; // from z towards x is navcore's turn
}

// Readers of members.

static bool read_identity(edit_reader *r, const cJSON *value)
{
    if (!cJSON_IsString(value)) {
        return fail(r, "must be an id: 1 to 64 of A-Z a-z 0-9 . _ -, not starting with a dot");
    }
    if (!api_edit_id_check(value->valuestring, r->pointer, r->place)) {
        return false;
    }
    snprintf(r->id, sizeof r->id, "%s", value->valuestring);
    return true;
}

static bool read_shape(edit_reader *r, const cJSON *value)
{
    static const char *const names[] = {"cylinder", "box", "prism"};
    api_suggestion near = api_suggest_for(cJSON_IsString(value) ? value->valuestring : "");
    for (int i = 0; i < 3; i++) {
        if (cJSON_IsString(value) && strcmp(value->valuestring, names[i]) == 0) {
            r->edit->shape = (api_shape)i;
            return true;
        }
        api_suggest(&near, names[i]);
    }
    return api_place_fail(r->place, r->pointer, "must be \"cylinder\", \"box\" or \"prism\"%s",
                          api_suggestion_text(&near));
}

static bool read_center(edit_reader *r, const cJSON *value)
{
    nav_vec caller;
    if (!read_vector(r, value, &caller)) {
        return false;
    }
    r->edit->center = api_frame_to_internal(&r->terms->frame, caller);
    return true;
}

static bool read_size(const edit_reader *r, const cJSON *value, double *to)
{
    if (!is_coordinate(value) || !(value->valuedouble > 0)) {
        return fail(r, "must be a finite number above 0");
    }
    *to = value->valuedouble;
    return true;
}

static bool read_radius(edit_reader *r, const cJSON *value)
{
    return read_size(r, value, &r->edit->radius);
}

static bool read_height(edit_reader *r, const cJSON *value)
{
    return read_size(r, value, &r->edit->height);
}

static bool read_half_extents(edit_reader *r, const cJSON *value)
{
    nav_vec caller;
    if (!read_vector(r, value, &caller)) {
        return false;
    }
    nav_vec e = api_frame_extents_to_internal(&r->terms->frame, caller);
    if (!(e.x > 0) || !(e.z > 0) || (r->terms->dimensions != 2 && !(e.y > 0))) {
        return fail(r, "must hold numbers above 0");
    }
    r->edit->half_extents = e;
    return true;
}

static bool read_yaw(edit_reader *r, const cJSON *value)
{
    double given = 0;
    if (!read_coordinate(r, value, &given)) {
        return false;
    }
    r->edit->yaw = api_edit_yaw_sign(r->terms) * given;
    return true;
}

static bool read_points(edit_reader *r, const cJSON *value)
{
    char whole[sizeof r->pointer];
    memcpy(whole, r->pointer, sizeof whole);
    uint32_t n = 0;
    if (!cJSON_IsArray(value) || r->edit->point_count < 3) {
        return fail(r, "must be a list of at least three points");
    }
    for (const cJSON *point = value->child; point; point = point->next, n++) {
        snprintf(r->pointer, sizeof r->pointer, "%.110s/%u", whole, (unsigned)n);
        nav_vec caller;
        if (!read_ground(r, point, &caller)) {
            return false;
        }
        nav_vec internal = api_frame_to_internal(&r->terms->frame, caller);
        r->edit->points[n] = (api_ground){internal.x, internal.z};
    }
    return true;
}

static bool read_min(edit_reader *r, const cJSON *value)
{
    return read_coordinate(r, value, &r->min);
}

static bool read_max(edit_reader *r, const cJSON *value)
{
    return read_coordinate(r, value, &r->max);
}

static bool read_whole(const edit_reader *r, const cJSON *value, double low, double high, double *to)
{
    double v = api_json_finite(value) ? value->valuedouble : NAN;
    if (!(v >= low && v <= high && v == floor(v))) {
        return api_place_fail(r->place, r->pointer, "must be a whole number from %.0f to %.0f", low, high);
    }
    *to = v;
    return true;
}

static bool read_ttl(edit_reader *r, const cJSON *value)
{
    double ms = 0;
    bool good = read_whole(r, value, 1, TTL_MAX_MS, &ms);
    r->edit->ttl_ms = (uint64_t)ms;
    return good;
}

static bool read_expires(edit_reader *r, const cJSON *value)
{
    double ms = 0;
    bool good = read_whole(r, value, 1, 9007199254740991.0, &ms);
    r->edit->expires_ms = (int64_t)ms;
    return good;
}

static bool read_area(edit_reader *r, const cJSON *value)
{
    r->edit->has_area = api_area_read(value, &r->terms->names, r->pointer, r->place, &r->edit->area);
    return r->edit->has_area;
}

static bool read_flags(edit_reader *r, const cJSON *value)
{
    r->edit->has_flags = api_flags_read(value, &r->terms->names, r->pointer, r->place, &r->edit->flags);
    return r->edit->has_flags;
}

static bool read_bool(const edit_reader *r, const cJSON *value, bool *to)
{
    if (!cJSON_IsBool(value)) {
        return fail(r, "must be true or false");
    }
    *to = cJSON_IsTrue(value);
    return true;
}

static bool read_blocked(edit_reader *r, const cJSON *value)
{
    return read_bool(r, value, &r->edit->blocked);
}

static bool read_volatile(edit_reader *r, const cJSON *value)
{
    return read_bool(r, value, &r->edit->is_volatile);
}

#define ALL ((1u << API_OBSTACLE) | (1u << API_REGION) | (1u << API_LINK))
#define OBSTACLES (1u << API_OBSTACLE)
#define REGIONS (1u << API_REGION)

static const struct member {
    const char *name;
    bool (*read)(edit_reader *r, const cJSON *value);
    unsigned kinds;  ///< 1 << kind
    unsigned shapes; ///< 1 << shape, of obstacles; 0: all
} members[] = {
    {"shape", read_shape, OBSTACLES, 0},
    {"center", read_center, OBSTACLES, 1u << API_CYLINDER | 1u << API_BOX},
    {"radius", read_radius, OBSTACLES, 1u << API_CYLINDER},
    {"height", read_height, OBSTACLES, 1u << API_CYLINDER},
    {"half_extents", read_half_extents, OBSTACLES, 1u << API_BOX},
    {"yaw", read_yaw, OBSTACLES, 1u << API_BOX},
    {"points", read_points, OBSTACLES | REGIONS, 1u << API_PRISM},
    {"min", read_min, OBSTACLES | REGIONS, 1u << API_PRISM},
    {"max", read_max, OBSTACLES | REGIONS, 1u << API_PRISM},
    {"ttl_ms", read_ttl, OBSTACLES, 0},
    {"area", read_area, REGIONS, 0},
    {"flags", read_flags, REGIONS, 0},
    {"blocked", read_blocked, REGIONS, 0},
    {"volatile", read_volatile, ALL, 0},
    {"expires_ms", read_expires, OBSTACLES, 0}, // of the log only
    {"id", read_identity, OBSTACLES | REGIONS, 0},
};
enum { MEMBER_COUNT = sizeof members / sizeof *members };

static bool is_member(const edit_reader *r, int i)
{
    bool log_only = 1u << i == M_EXPIRES;
    return (members[i].kinds & 1u << r->kind) && (!log_only || r->terms->exact);
}

static bool unknown_member(edit_reader *r, const char *name, const char *pointer)
{
    api_suggestion near = api_suggest_for(name);
    for (int i = 0; i < MEMBER_COUNT; i++) {
        if (is_member(r, i)) {
            api_suggest(&near, members[i].name);
        }
    }
    if (r->kind == API_LINK) {
        api_link_suggest(&near);
    }
    static const char *const whose[] = {"an obstacle", "a region", "a link"};
    char at[sizeof r->pointer];
    api_pointer_join(at, sizeof at, pointer, name);
    return api_place_fail(r->place, at, "unknown member `%.40s` of %s%s", name, whose[r->kind],
                          api_suggestion_text(&near));
}

static bool ignored_member(const char *name, const char *const *ignored)
{
    while (ignored && *ignored && strcmp(name, *ignored) != 0) {
        ignored++;
    }
    return ignored && *ignored;
}

/// @param link  reads what a link has beside; NULL: no link
static bool read_members(edit_reader *r, const cJSON *value, const char *const *ignored, const char *pointer,
                         api_link_reader *link)
{
    for (const cJSON *m = value->child; m; m = m->next) {
        bool known = false;
        if (ignored_member(m->string, ignored)) {
            continue;
        }
        if (link && !api_link_read_member(link, m, pointer, &known)) {
            return false;
        }
        for (int i = 0; i < MEMBER_COUNT && !known; i++) {
            if (!is_member(r, i) || strcmp(members[i].name, m->string) != 0) {
                continue;
            }
            known = true;
            api_pointer_join(r->pointer, sizeof r->pointer, pointer, m->string);
            if (r->seen & 1u << i) {
                return fail(r, "given twice");
            }
            r->seen |= 1u << i;
            if (!members[i].read(r, m)) {
                return false;
            }
        }
        if (!known) {
            return unknown_member(r, m->string, pointer);
        }
    }
    return true;
}

static bool require(edit_reader *r, uint32_t bits, const char *what, const char *pointer)
{
    for (int i = 0; i < MEMBER_COUNT; i++) {
        if (bits & ~r->seen & 1u << i) {
            api_pointer_join(r->pointer, sizeof r->pointer, pointer, members[i].name);
            return api_place_fail(r->place, r->pointer, "`%s` is missing: %s needs it", members[i].name, what);
        }
    }
    return true;
}

/// Heights from the caller's, whose up may be down. On the plane they do not matter.
static bool finish_band(edit_reader *r, const char *pointer)
{
    if (r->terms->dimensions == 2) {
        r->edit->min = -PLANE_HALF_HEIGHT;
        r->edit->max = PLANE_HALF_HEIGHT;
        return true;
    }
    if (!require(r, M_MIN | M_MAX, "a prism", pointer)) {
        return false;
    }
    if (!(r->min <= r->max)) {
        api_pointer_join(r->pointer, sizeof r->pointer, pointer, "max");
        return fail(r, "must not be below `min`");
    }
    bool up = r->terms->frame.sign[height_axis(&r->terms->frame)] > 0;
    r->edit->min = up ? r->min : -r->max;
    r->edit->max = up ? r->max : -r->min;
    return true;
}

static bool finish_obstacle(edit_reader *r, const char *pointer)
{
    static const char *const shapes[] = {"a cylinder", "a box", "a prism"};
    bool flat = r->terms->dimensions == 2;
    if (!require(r, M_SHAPE, "an obstacle", pointer)) {
        return false;
    }
    const char *what = shapes[r->edit->shape];
    for (int i = 0; i < MEMBER_COUNT; i++) {
        if ((r->seen & 1u << i) && members[i].shapes && !(members[i].shapes & 1u << r->edit->shape)) {
            api_pointer_join(r->pointer, sizeof r->pointer, pointer, members[i].name);
            return api_place_fail(r->place, r->pointer, "%s has no `%s`", what, members[i].name);
        }
    }
    switch (r->edit->shape) {
    case API_CYLINDER:
        if (flat && !(r->seen & M_HEIGHT)) {
            r->edit->height = 2 * PLANE_HALF_HEIGHT;
            r->seen |= M_HEIGHT;
        }
        return require(r, M_CENTER | M_RADIUS | M_HEIGHT, what, pointer);
    case API_BOX:
        if (flat) {
            r->edit->half_extents.y = PLANE_HALF_HEIGHT;
        }
        return require(r, M_CENTER | M_HALF_EXTENTS, what, pointer);
    case API_PRISM:
        return require(r, M_POINTS, what, pointer) && finish_band(r, pointer);
    }
    return false;
}

static bool finish_region(edit_reader *r, api_change *change, const char *pointer)
{
    r->edit->shape = API_PRISM;
    change->partial = !(r->seen & M_POINTS);
    change->given = (r->seen & M_AREA ? API_GIVEN_AREA : 0) | (r->seen & M_FLAGS ? API_GIVEN_FLAGS : 0) |
                    (r->seen & M_BLOCKED ? API_GIVEN_BLOCKED : 0);
    if (!change->partial) {
        return finish_band(r, pointer);
    }
    if (!(r->seen & (M_MIN | M_MAX))) {
        return true;
    }
    change->given |= API_GIVEN_BAND;
    return finish_band(r, pointer);
}

static bool finish_link(edit_reader *r, api_change *change, const api_link_reader *link, const char *pointer)
{
    bool start = link->given & API_LINK_START, end = link->given & API_LINK_END;
    if (start != end) {
        snprintf(r->pointer, sizeof r->pointer, "%s/%s", pointer, start ? "end" : "start");
        return fail(r, "is missing: a link needs both of its ends");
    }
    change->partial = !start;
    change->given = API_GIVEN_LINK(link->given);
    r->edit->link = link->link;
    r->edit->enabled = link->enabled;
    snprintf(r->id, sizeof r->id, "%s", link->link.id);
    return true;
}

/// The id in the object, that of the path, or none.
static bool settle_id(edit_reader *r, api_change *change, const char *id, const char *pointer)
{
    if (id && r->id[0] && strcmp(id, r->id) != 0) {
        snprintf(r->pointer, sizeof r->pointer, "%s/id", pointer);
        return api_place_fail(r->place, r->pointer, "is `%s`, the path says `%s`", r->id, id);
    }
    snprintf(change->id, sizeof change->id, "%s", id ? id : r->id);
    return true;
}

static api_edit *make_edit(api_edit_kind kind, const cJSON *value, const char *pointer, const api_place *place)
{
    const cJSON *points = kind == API_LINK ? NULL : cJSON_GetObjectItemCaseSensitive(value, "points");
    int count = cJSON_IsArray(points) ? cJSON_GetArraySize(points) : 0;
    if (count > API_EDIT_POINTS_MAX) {
        char at[128];
        api_pointer_join(at, sizeof at, pointer, "points");
        api_place_fail(place, at, "has more than %d points", API_EDIT_POINTS_MAX);
        return NULL;
    }
    api_edit *edit = api_edit_create(kind, (uint32_t)count);
    if (!edit) {
        api_problem_set(place->problem, API_STORAGE_FULL, "out of memory");
    }
    return edit;
}

bool api_change_read(api_change *change, const api_edit_terms *terms, api_edit_kind kind, const char *id,
                     const cJSON *value, const char *const *ignored, const char *pointer, const api_place *place)
{
    *change = (api_change){.kind = kind};
    if (!cJSON_IsObject(value)) {
        return api_place_fail(place, pointer, "must be an object, not %s", api_json_kind(value));
    }
    edit_reader r = {.terms = terms, .place = place, .kind = kind};
    r.edit = make_edit(kind, value, pointer, place);
    if (!r.edit) {
        return false;
    }
    api_frame back; // what turns the caller's axes into navcore's, as links are read
    for (int k = 0; k < 3; k++) {
        back.axis[terms->frame.axis[k]] = (uint8_t)k;
        back.sign[terms->frame.axis[k]] = terms->frame.sign[k];
    }
    const api_link_source source = {.to_internal = back, .dimensions = terms->dimensions == 2 ? 2 : 3};
    api_link_reader link = api_link_reader_begin(&source, &terms->names, place);
    bool good = read_members(&r, value, ignored, pointer, kind == API_LINK ? &link : NULL);
    good = good && (kind == API_OBSTACLE ? finish_obstacle(&r, pointer)
                    : kind == API_REGION ? finish_region(&r, change, pointer)
                                         : finish_link(&r, change, &link, pointer));
    good = good && settle_id(&r, change, id, pointer);
    change->given |= r.seen & M_VOLATILE ? API_GIVEN_VOLATILE : 0;
    change->edit = r.edit;
    snprintf(r.edit->id, sizeof r.edit->id, "%s", change->id);
    snprintf(r.edit->link.id, sizeof r.edit->link.id, "%s", change->id);
    if (!good) {
        api_change_deinit(change);
    }
    return good;
}

/// The word of a member among `names`.
static bool read_word(const cJSON *value, const char *pointer, const char *name, const char *const *names, int count,
                      const api_place *place, int *choice)
{
    char at[128];
    api_pointer_join(at, sizeof at, pointer, name);
    api_suggestion near = api_suggest_for(cJSON_IsString(value) ? value->valuestring : "");
    for (int i = 0; i < count; i++) {
        if (cJSON_IsString(value) && strcmp(value->valuestring, names[i]) == 0) {
            *choice = i;
            return true;
        }
        api_suggest(&near, names[i]);
    }
    return api_place_fail(place, at, "must be \"%s\", \"%s\" or \"%s\"%s", names[0], names[1], names[2],
                          api_suggestion_text(&near));
}

static bool read_removal(api_change *change, const cJSON *value, const char *pointer, const api_place *place)
{
    char at[128];
    for (const cJSON *m = value->child; m; m = m->next) {
        api_pointer_join(at, sizeof at, pointer, m->string);
        if (strcmp(m->string, "id") == 0) {
            if (!cJSON_IsString(m)) {
                return api_place_fail(place, at, "must be an id");
            }
            if (!api_edit_id_check(m->valuestring, at, place)) {
                return false;
            }
            snprintf(change->id, sizeof change->id, "%s", m->valuestring);
        } else if (strcmp(m->string, "op") != 0 && strcmp(m->string, "type") != 0) {
            return api_place_fail(place, at, "unknown member `%.40s`: a deletion has `op`, `type` and `id`", m->string);
        }
    }
    api_pointer_join(at, sizeof at, pointer, "id");
    return change->id[0] || api_place_fail(place, at, "is missing: what shall be deleted?");
}

bool api_change_read_entry(api_change *change, const api_edit_terms *terms, const cJSON *value, const char *pointer,
                           const api_place *place)
{
    static const char *const kinds[] = {"obstacle", "region", "link"}, *const ops[] = {"put", "add", "delete"};
    static const char *const own[] = {"type", "op", NULL};
    *change = (api_change){0};
    if (!cJSON_IsObject(value)) {
        return api_place_fail(place, pointer, "must be an object, not %s", api_json_kind(value));
    }
    int kind = 0, op = 0;
    const cJSON *said = cJSON_GetObjectItemCaseSensitive(value, "op");
    if (!read_word(cJSON_GetObjectItemCaseSensitive(value, "type"), pointer, "type", kinds, 3, place, &kind) ||
        (said && !read_word(said, pointer, "op", ops, 3, place, &op))) {
        return false;
    }
    if (op == API_EDIT_REMOVE) {
        *change = (api_change){.op = API_EDIT_REMOVE, .kind = (api_edit_kind)kind};
        return read_removal(change, value, pointer, place);
    }
    bool good = api_change_read(change, terms, (api_edit_kind)kind, NULL, value, own, pointer, place);
    change->op = (api_edit_op)op;
    return good;
}

bool api_edit_id_check(const char *id, const char *pointer, const api_place *place)
{
    return api_id_valid(id, strlen(id)) ||
           api_place_fail(place, pointer, "must be an id: 1 to 64 of A-Z a-z 0-9 . _ -, not starting with a dot");
}
