/// Settings of a mesh that its file does not carry: the sidecar, and the parameters of an upload, which are
/// turned into an object of the same members first, so that one set of readers serves both.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh_read.h"
#include "number.h"
#include "query_string.h"
#include "tick_hz.h"

// Readers of single members: value and place in, settings out.

static bool read_frame(api_settings *s, const cJSON *value, const api_place *place)
{
    if (!cJSON_IsString(value) || !api_frame_parse(value->valuestring, &s->file, &s->caller)) {
        return api_place_fail(place, "/frame",
                              "must be \"y-up\", \"z-up\", \"unreal\" or three signed axes such as \"-x,-z,y\"");
    }
    s->has_frame = true;
    s->z_up = strcmp(value->valuestring, "z-up") == 0;
    return true;
}

static bool read_weld(api_settings *s, const cJSON *value, const api_place *place)
{
    if (!api_json_finite(value) || value->valuedouble < 0) {
        return api_place_fail(place, "/weld", "must be a distance of at least 0, not %s", api_json_kind(value));
    }
    s->weld = value->valuedouble;
    return true;
}

bool api_agent_read(nav_agent *agent, const cJSON *value, const char *pointer, const api_place *place)
{
    const struct {
        const char *name;
        double *to, max;
    } members[] = {
        {"radius", &agent->radius, HUGE_VAL},
        {"height", &agent->height, HUGE_VAL},
        {"climb", &agent->climb, HUGE_VAL},
        {"slope", &agent->slope, 90},
    };
    if (!cJSON_IsObject(value)) {
        return api_place_fail(place, pointer, "must be an object of radius, height, climb and slope, not %s",
                              api_json_kind(value));
    }
    unsigned seen = 0;
    for (const cJSON *m = value->child; m; m = m->next) {
        char at[128];
        api_pointer_join(at, sizeof at, pointer, m->string);
        size_t i = 0;
        while (i < 4 && strcmp(members[i].name, m->string) != 0) {
            i++;
        }
        if (i == 4) {
            return api_place_fail(place, at, "unknown member `%.64s`: an agent has radius, height, climb and slope",
                                  m->string);
        }
        if (place->query_string) { // the parameters are called agent_radius and so on
            snprintf(at, sizeof at, "/agent_%s", m->string);
        }
        if (seen & 1u << i) {
            return api_place_fail(place, at, "given twice");
        }
        if (!api_json_finite(m) || m->valuedouble < 0 || m->valuedouble > members[i].max) {
            return api_place_fail(place, at, "must be a number from 0%s, not %s", i == 3 ? " to 90" : " on",
                                  api_json_finite(m) ? "this one" : api_json_kind(m));
        }
        seen |= 1u << i;
        *members[i].to = m->valuedouble;
    }
    return true;
}

static bool read_agent(api_settings *s, const cJSON *value, const api_place *place)
{
    return api_agent_read(&s->agent, value, "/agent", place);
}

static bool read_snap(api_settings *s, const cJSON *value, const api_place *place)
{
    int count = 1;
    const cJSON *number = value;
    if (cJSON_IsArray(value)) {
        count = cJSON_GetArraySize(value);
        number = value->child;
    }
    if (count < 1 || count > 3 || (cJSON_IsArray(value) && count == 1)) {
        return api_place_fail(place, "/snap", "must be one number or one for each axis");
    }
    for (int k = 0; k < count; k++, number = number->next) {
        if (!api_json_finite(number) || number->valuedouble < 0) {
            return api_place_fail(place, "/snap", "must hold half extents of at least 0, not %s",
                                  api_json_finite(number) ? "negative ones" : api_json_kind(number));
        }
        s->snap[k] = number->valuedouble;
    }
    s->snap_count = count;
    s->snap_from_params = place->query_string;
    return true;
}

/// Names of areas and flags stand in answers and filters: text without control characters, not too long.
static bool check_name(const char *name, const char *pointer, const api_place *place)
{
    size_t length = strlen(name);
    if (length == 0 || length > API_NAME_MAX) {
        return api_place_fail(place, pointer, "a name has 1 to %d bytes, this one %zu", API_NAME_MAX, length);
    }
    for (const char *c = name; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7F) {
            return api_place_fail(place, pointer, "a name has no control characters");
        }
    }
    return true;
}

/// A whole number from 0 to `max`.
static bool read_index(const cJSON *value, double max, int *index)
{
    if (!api_json_finite(value) || value->valuedouble < 0 || value->valuedouble > max ||
        floor(value->valuedouble) != value->valuedouble) {
        return false;
    }
    *index = (int)value->valuedouble;
    return true;
}

/// {"id": 3, "cost": 2.5}
static bool read_area(api_settings *s, const cJSON *value, const char *pointer, const api_place *place)
{
    int id = -1;
    double cost = 1;
    if (!cJSON_IsObject(value)) {
        return api_place_fail(place, pointer, "must be an object of id and cost, not %s", api_json_kind(value));
    }
    for (const cJSON *m = value->child; m; m = m->next) {
        char at[128];
        api_pointer_join(at, sizeof at, pointer, m->string);
        if (strcmp(m->string, "id") == 0) {
            if (!read_index(m, 255, &id)) {
                return api_place_fail(place, at, "must be a whole number from 0 to 255");
            }
        } else if (strcmp(m->string, "cost") == 0) {
            if (!api_json_finite(m) || m->valuedouble <= 0 || m->valuedouble > API_COST_MAX) {
                return api_place_fail(place, at, "must be a number above 0, at most %g", API_COST_MAX);
            }
            cost = m->valuedouble;
        } else {
            return api_place_fail(place, at, "unknown member `%.64s`: an area has id and cost", m->string);
        }
    }
    if (id < 0) {
        return api_place_fail(place, pointer, "an area needs its id");
    }
    if (s->areas[id].listed) {
        return api_place_fail(place, pointer, "area %d has the name `%s` already", id, s->areas[id].name);
    }
    snprintf(s->areas[id].name, sizeof s->areas[id].name, "%s", value->string);
    s->areas[id].cost = cost;
    s->areas[id].listed = true;
    return true;
}

static void clear_areas(api_settings *s)
{
    for (size_t i = 0; i < 256; i++) {
        s->areas[i] = (api_area){.cost = 1};
    }
}

static bool read_areas(api_settings *s, const cJSON *value, const api_place *place)
{
    if (!cJSON_IsObject(value)) {
        return api_place_fail(place, "/areas", "must be an object {name: {id, cost}}, not %s", api_json_kind(value));
    }
    clear_areas(s);
    for (const cJSON *m = value->child; m; m = m->next) {
        char at[128];
        api_pointer_join(at, sizeof at, "/areas", m->string);
        if (!check_name(m->string, at, place)) {
            return false;
        }
        for (size_t i = 0; i < 256; i++) {
            if (strcmp(s->areas[i].name, m->string) == 0) {
                return api_place_fail(place, at, "two areas are called `%s`", m->string);
            }
        }
        if (!read_area(s, m, at, place)) {
            return false;
        }
    }
    return true;
}

static bool read_flags(api_settings *s, const cJSON *value, const api_place *place)
{
    if (!cJSON_IsObject(value)) {
        return api_place_fail(place, "/flags", "must be an object {name: bit}, not %s", api_json_kind(value));
    }
    memset(s->flags, 0, sizeof s->flags);
    for (const cJSON *m = value->child; m; m = m->next) {
        char at[128];
        int bit = 0;
        api_pointer_join(at, sizeof at, "/flags", m->string);
        if (!check_name(m->string, at, place)) {
            return false;
        }
        if (!read_index(m, 31, &bit)) {
            return api_place_fail(place, at, "must be the number of a bit, 0 to 31");
        }
        for (size_t i = 0; i < 32; i++) {
            if (strcmp(s->flags[i], m->string) == 0) {
                return api_place_fail(place, at, "two flags are called `%s`", m->string);
            }
        }
        if (s->flags[bit][0]) {
            return api_place_fail(place, at, "bit %d has the name `%s` already", bit, s->flags[bit]);
        }
        snprintf(s->flags[bit], sizeof s->flags[bit], "%s", m->string);
    }
    return true;
}

static bool read_links(api_settings *s, const cJSON *value, const api_place *place)
{
    if (!cJSON_IsArray(value)) {
        return api_place_fail(place, "/links", "must be an array, not %s", api_json_kind(value));
    }
    s->links = value; // read when names of areas and the frame are known
    s->links_from_params = place->query_string;
    return true;
}

static bool read_node(api_settings *s, const cJSON *value, const api_place *place)
{
    if (!cJSON_IsString(value)) {
        return api_place_fail(place, "/node", "must be the name of a node or mesh, not %s", api_json_kind(value));
    }
    s->node = value->valuestring;
    return true;
}

/// Filters are read when areas and flags are known (mesh_filters.c).
static bool read_filters(api_settings *s, const cJSON *value, const api_place *place)
{
    if (!cJSON_IsObject(value)) {
        return api_place_fail(place, "/filters", "must be an object {name: filter}, not %s", api_json_kind(value));
    }
    for (const cJSON *m = value->child; m; m = m->next) {
        char at[128];
        api_pointer_join(at, sizeof at, "/filters", m->string);
        if (!check_name(m->string, at, place)) {
            return false;
        }
    }
    s->filters = value;
    s->filters_from_params = place->query_string;
    return true;
}

static bool read_default_filter(api_settings *s, const cJSON *value, const api_place *place)
{
    if (!cJSON_IsObject(value) && !cJSON_IsString(value)) {
        return api_place_fail(place, "/default_filter", "must be a filter or the name of one, not %s",
                              api_json_kind(value));
    }
    s->default_filter = value;
    s->default_filter_from_params = place->query_string;
    return true;
}

static bool read_tick_hz(api_settings *s, const cJSON *value, const api_place *place)
{
    return api_tick_hz_read(value, &s->tick_hz) || api_place_fail(place, "/tick_hz", API_TICK_HZ_RULE);
}

/// Read when areas, flags and the frame are known (mesh_regions.c).
static bool read_regions(api_settings *s, const cJSON *value, const api_place *place)
{
    if (!cJSON_IsArray(value)) {
        return api_place_fail(place, "/regions", "must be an array, not %s", api_json_kind(value));
    }
    s->regions = value;
    s->regions_from_params = place->query_string;
    return true;
}

static const struct member {
    const char *name;
    bool (*read)(api_settings *s, const cJSON *value, const api_place *place);
} members[] = {
    {"frame", read_frame},     {"weld", read_weld},
    {"agent", read_agent},     {"snap", read_snap},
    {"areas", read_areas},     {"flags", read_flags},
    {"links", read_links},     {"node", read_node},
    {"filters", read_filters}, {"default_filter", read_default_filter},
    {"regions", read_regions}, {"tick_hz", read_tick_hz},
};
#define MEMBER_COUNT (sizeof members / sizeof *members)

static size_t find_member(const char *name)
{
    size_t i = 0;
    while (i < MEMBER_COUNT && strcmp(members[i].name, name) != 0) {
        i++;
    }
    return i;
}

static bool fail_unknown(const api_place *place, const char *name)
{
    char at[128];
    api_pointer_join(at, sizeof at, "", name);
    api_suggestion near = api_suggest_for(name);
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        api_suggest(&near, members[i].name);
    }
    return api_place_fail(place, at, "unknown %s `%.64s`%s", place->query_string ? "parameter" : "member", name,
                          api_suggestion_text(&near));
}

static bool read_members(api_settings *s, const cJSON *object, const api_place *place)
{
    unsigned seen = 0;
    if (!cJSON_IsObject(object)) {
        return api_place_fail(place, "", "must be an object, not %s", api_json_kind(object));
    }
    for (const cJSON *m = object->child; m; m = m->next) {
        size_t i = find_member(m->string);
        if (i == MEMBER_COUNT) {
            return fail_unknown(place, m->string);
        }
        if (seen & 1u << i) {
            char at[128];
            api_pointer_join(at, sizeof at, "", m->string);
            return api_place_fail(place, at, "given twice");
        }
        seen |= 1u << i;
        if (!members[i].read(s, m, place)) {
            return false;
        }
    }
    return true;
}

// Parameters.

static bool out_of_memory(api_problem *problem)
{
    api_problem_set(problem, API_INTERNAL, "out of memory");
    return false;
}

/// "2,4,2" as an array; NULL when it is no list of numbers (or no memory).
static cJSON *parse_number_list(const char *text)
{
    cJSON *list = cJSON_CreateArray();
    while (list) {
        size_t length = strcspn(text, ",");
        double number;
        cJSON *entry = api_number_parse(text, length, &number) == API_NUMBER_OK ? cJSON_CreateNumber(number) : NULL;
        if (!entry || !cJSON_AddItemToArray(list, entry)) {
            cJSON_Delete(entry);
            cJSON_Delete(list);
            return NULL;
        }
        if (text[length] == '\0') {
            return list;
        }
        text += length + 1;
    }
    return NULL;
}

/// A parameter's value as JSON: a number, a list of numbers, JSON text as it stands, else a string.
static cJSON *parse_value(const char *name, const char *text, api_problem *problem)
{
    double number;
    if (api_number_parse(text, strlen(text), &number) == API_NUMBER_OK) {
        return cJSON_CreateNumber(number);
    }
    if (*text == '{' || *text == '[') {
        cJSON *value = api_json_parse(text, strlen(text), API_SETTINGS_DEPTH, problem);
        if (!value && problem->code == API_BAD_JSON) {
            char detail[200];
            snprintf(detail, sizeof detail, "%.199s", problem->detail);
            api_problem_set(problem, API_BAD_REQUEST, "is not JSON: %s", detail);
            snprintf(problem->parameter, sizeof problem->parameter, "%s", name);
        }
        return value;
    }
    cJSON *list = parse_number_list(text);
    return list ? list : cJSON_CreateString(text);
}

/// Adds a parameter to the object; agent_radius and its like go into its `agent`.
static bool add_parameter(cJSON *object, const char *name, const char *text, const api_place *place)
{
    static const char agent_prefix[] = "agent_";
    cJSON *into = object;
    const char *member = name;
    if (strncmp(name, agent_prefix, sizeof agent_prefix - 1) == 0) {
        member = name + sizeof agent_prefix - 1;
        if (strcmp(member, "radius") != 0 && strcmp(member, "height") != 0 && strcmp(member, "climb") != 0 &&
            strcmp(member, "slope") != 0) {
            return fail_unknown(place, name);
        }
        into = cJSON_GetObjectItemCaseSensitive(object, "agent");
        into = into ? into : cJSON_AddObjectToObject(object, "agent");
    } else if (find_member(name) == MEMBER_COUNT || strcmp(name, "agent") == 0) {
        return fail_unknown(place, name);
    }
    if (!into) {
        return out_of_memory(place->problem);
    }
    if (cJSON_GetObjectItemCaseSensitive(into, member)) {
        char at[128];
        api_pointer_join(at, sizeof at, "", name);
        return api_place_fail(place, at, "given twice");
    }
    place->problem->code = API_NO_PROBLEM;
    cJSON *value = parse_value(name, text, place->problem);
    if (!value || !cJSON_AddItemToObject(into, member, value)) {
        cJSON_Delete(value);
        return place->problem->code != API_NO_PROBLEM ? false : out_of_memory(place->problem);
    }
    return true;
}

/// The query string as an object. `format` and `persist` are the upload's own and are left to it.
static cJSON *read_params(const char *params, api_problem *problem)
{
    const api_place place = {.problem = problem, .query_string = true};
    cJSON *object = cJSON_CreateObject();
    if (!object) {
        out_of_memory(problem);
        return NULL;
    }
    api_parameters pairs;
    api_parameters_init(&pairs, params);
    while (api_parameters_next(&pairs, problem)) {
        if (strcmp(pairs.name, "format") == 0 || strcmp(pairs.name, "persist") == 0) {
            continue;
        }
        if (!add_parameter(object, pairs.name, pairs.value, &place)) {
            api_parameters_deinit(&pairs);
            cJSON_Delete(object);
            return NULL;
        }
    }
    if (problem->code != API_NO_PROBLEM) {
        cJSON_Delete(object);
        return NULL;
    }
    return object;
}

bool api_sidecar_blame(api_problem *problem)
{
    if (problem->code == API_BAD_JSON || problem->code == API_BAD_REQUEST) {
        api_problem p = *problem;
        api_problem_set(problem, API_BAD_MESH, "the sidecar%s%s: %.160s", p.pointer[0] ? ", " : "", p.pointer,
                        p.detail);
        memcpy(problem->pointer, p.pointer, sizeof problem->pointer);
    }
    return false;
}

bool api_settings_read(api_settings *settings, const char *sidecar, const char *params, api_problem *problem)
{
    *settings = (api_settings){
        .file = api_frame_identity,
        .caller = api_frame_identity,
        .weld = -1,
        .agent = {.radius = -1, .height = -1, .climb = -1, .slope = -1},
    };
    clear_areas(settings);
    if (sidecar) {
        const api_place place = {.problem = problem};
        settings->sidecar = api_json_parse(sidecar, strlen(sidecar), API_SETTINGS_DEPTH, problem);
        if (!settings->sidecar || !read_members(settings, settings->sidecar, &place)) {
            return api_sidecar_blame(problem);
        }
    }
    if (params) {
        const api_place place = {.problem = problem, .query_string = true};
        settings->params = read_params(params, problem);
        return settings->params && read_members(settings, settings->params, &place);
    }
    return true;
}

void api_settings_deinit(api_settings *settings)
{
    cJSON_Delete(settings->sidecar);
    cJSON_Delete(settings->params);
    settings->sidecar = settings->params = NULL;
    settings->links = settings->regions = settings->filters = settings->default_filter = NULL;
    settings->node = NULL;
}

// Keeping what an upload set.

/// Copies the members of `from` over those of `onto`, an agent's one by one. @return false: no memory
static bool merge_members(cJSON *onto, const cJSON *from)
{
    for (const cJSON *member = from->child; member; member = member->next) {
        cJSON *there = cJSON_GetObjectItemCaseSensitive(onto, member->string);
        if (strcmp(member->string, "agent") == 0 && cJSON_IsObject(member) && cJSON_IsObject(there)) {
            if (!merge_members(there, member)) {
                return false;
            }
            continue;
        }
        cJSON *copy = cJSON_Duplicate(member, true);
        if (!copy || !(there ? cJSON_ReplaceItemViaPointer(onto, there, copy)
                             : cJSON_AddItemToObject(onto, member->string, copy))) {
            cJSON_Delete(copy);
            return false;
        }
    }
    return true;
}

char *api_sidecar_layer(const cJSON *below, const cJSON *above)
{
    cJSON *merged = below ? cJSON_Duplicate(below, true) : cJSON_CreateObject();
    cJSON *over = above ? cJSON_Duplicate(above, true) : cJSON_CreateObject();
    char *text = merged && over && merge_members(merged, over) ? cJSON_PrintUnformatted(merged) : NULL;
    cJSON_Delete(over);
    cJSON_Delete(merged);
    return text;
}

char *api_sidecar_merge(const char *sidecar, const char *params)
{
    api_problem problem;
    cJSON *there = sidecar ? api_json_parse(sidecar, strlen(sidecar), API_SETTINGS_DEPTH, &problem) : NULL;
    cJSON *merged = cJSON_IsObject(there) ? cJSON_Duplicate(there, true) : cJSON_CreateObject();
    cJSON_Delete(there);
    cJSON *set = params ? read_params(params, &problem) : NULL;
    char *text = NULL;
    if (merged && (!set || merge_members(merged, set)) && merged->child) {
        text = cJSON_Print(merged);
    }
    cJSON_Delete(set);
    cJSON_Delete(merged);
    return text;
}
