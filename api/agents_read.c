/// What bodies and query strings say of agents.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "agents_inside.h"
#include "args_members.h"
#include "number.h"
#include "query_string.h"
#include "tick_hz.h"

#define AMOUNT_MAX 1e9 ///< of lengths and speeds
#define REPATH_MS_MAX 3.6e6
#define DT_MAX 60.0 ///< seconds of one step
#define WHOLE_MAX 9007199254740992.0

static bool fail_memory(const api_place *place)
{
    api_problem_set(place->problem, API_INTERNAL, "out of memory");
    return false;
}

static bool read_choice(const cJSON *value, const char *pointer, const char *const names[2], const api_place *place,
                        bool *second)
{
    for (int i = 0; i < 2; i++) {
        if (cJSON_IsString(value) && strcmp(value->valuestring, names[i]) == 0) {
            *second = i == 1;
            return true;
        }
    }
    return api_place_fail(place, pointer, "`%s` must be \"%s\" or \"%s\"", pointer + 1, names[0], names[1]);
}

// Members of a call.

static bool read_field(api_agents_call *call, const cJSON *value, const char *pointer, const api_place *place)
{
    const char *name = cJSON_IsString(value) ? value->valuestring : "";
    if (strcmp(name, "all") == 0) {
        call->view.fields = API_AGENT_ALL;
        return true;
    }
    api_suggestion near = api_suggest_for(name);
    const char *known;
    for (unsigned bit = 0; (known = api_agents_field_name(bit)); bit++) {
        if (strcmp(name, known) == 0) {
            call->view.fields |= 1u << bit;
            return true;
        }
        api_suggest(&near, known);
    }
    return strcmp(name, "id") == 0 || // always there
           api_place_fail(place, pointer, "an agent has no field `%.40s`%s", name, api_suggestion_text(&near));
}

static bool read_fields(api_agents_call *call, const cJSON *value, const api_place *place)
{
    if (!cJSON_IsArray(value)) {
        return api_place_fail(place, "/fields", "`fields` must be a list of names, not %s", api_json_kind(value));
    }
    call->view.fields = 0;
    call->has_fields = true;
    int index = 0;
    for (const cJSON *child = value->child; child; child = child->next) {
        char pointer[32];
        snprintf(pointer, sizeof pointer, "/fields/%d", index++);
        if (!read_field(call, child, pointer, place)) {
            return false;
        }
    }
    return true;
}

static bool read_precision(api_agents_call *call, const cJSON *value, const api_place *place)
{
    if (!api_json_finite(value) || value->valuedouble < 0 || value->valuedouble > 9 ||
        value->valuedouble != floor(value->valuedouble)) {
        return api_place_fail(place, "/precision", "`precision` must be a whole number from 0 to 9");
    }
    call->view.precision = (int)value->valuedouble;
    return true;
}

static bool read_vectors(api_agents_call *call, const cJSON *value, const api_place *place)
{
    static const char *const names[2] = {"array", "object"};
    return read_choice(value, "/vectors", names, place, &call->view.objects);
}

static bool read_frame(api_agents_call *call, const cJSON *value, const api_place *place)
{
    api_frame file;
    call->view.has_frame = true;
    return (cJSON_IsString(value) && api_frame_parse(value->valuestring, &file, &call->view.frame)) ||
           api_place_fail(place, "/frame",
                          "`frame` must be \"y-up\", \"z-up\", \"unreal\" or three signed axes such "
                          "as \"-x,-z,y\"");
}

static bool read_since(api_agents_call *call, const cJSON *value, const api_place *place)
{
    if (!api_json_finite(value) || value->valuedouble < 0 || value->valuedouble > WHOLE_MAX ||
        value->valuedouble != floor(value->valuedouble)) {
        return api_place_fail(place, "/since", "`since` must be the `version` of an earlier answer");
    }
    call->since = (uint64_t)value->valuedouble;
    return true;
}

static bool read_dt(api_agents_call *call, const cJSON *value, const api_place *place)
{
    if (!api_json_finite(value) || !(value->valuedouble > 0) || value->valuedouble > DT_MAX) {
        return api_place_fail(place, "/dt", "`dt` must be a number of seconds above 0, at most %g", DT_MAX);
    }
    call->dt = value->valuedouble;
    return true;
}

static bool read_changed(api_agents_call *call, const cJSON *value, const api_place *place)
{
    call->changed = cJSON_IsTrue(value);
    return cJSON_IsBool(value) ||
           api_place_fail(place, "/changed", "`changed` must be true or false, not %s", api_json_kind(value));
}

static bool read_call_id(api_agents_call *call, const cJSON *value, const api_place *place)
{
    call->id = value;
    return cJSON_IsString(value) || api_json_finite(value) ||
           api_place_fail(place, "/id", "`id` must be a string or a number, not %s", api_json_kind(value));
}

static bool read_agents(api_agents_call *call, const cJSON *value, const api_place *place)
{
    call->agents = value;
    return cJSON_IsArray(value) ||
           api_place_fail(place, "/agents", "`agents` must be a list, not %s", api_json_kind(value));
}

static bool read_tick_hz(api_agents_call *call, const cJSON *value, const api_place *place)
{
    call->tick_hz = cJSON_IsNull(value) ? -1 : value->valuedouble;
    return cJSON_IsNull(value) || api_tick_hz_read(value, &call->tick_hz) ||
           api_place_fail(place, "/tick_hz", API_TICK_HZ_RULE ", or null for what the mesh's settings say");
}

static bool read_all(api_agents_call *call, const cJSON *value, const api_place *place)
{
    (void)call;
    return cJSON_IsTrue(value) || api_place_fail(place, "/all", "`all` must be true, or not be there");
}

static const struct call_member {
    const char *name;
    uint32_t bit;
    bool (*read)(api_agents_call *call, const cJSON *value, const api_place *place);
} call_members[] = {
    {"fields", API_CALL_FIELDS, read_fields},
    {"precision", API_CALL_PRECISION, read_precision},
    {"vectors", API_CALL_VECTORS, read_vectors},
    {"frame", API_CALL_FRAME, read_frame},
    {"since", API_CALL_SINCE, read_since},
    {"dt", API_CALL_DT, read_dt},
    {"changed", API_CALL_CHANGED, read_changed},
    {"id", API_CALL_ID, read_call_id},
    {"agents", API_CALL_AGENTS, read_agents},
    {"tick_hz", API_CALL_TICK_HZ, read_tick_hz},
    {"all", API_CALL_ALL, read_all},
};
#define CALL_MEMBERS (sizeof call_members / sizeof *call_members)

/// @return NULL: no member that the call takes
static const struct call_member *find_call_member(const char *name, uint32_t allowed)
{
    for (size_t i = 0; i < CALL_MEMBERS; i++) {
        if ((call_members[i].bit & allowed) && strcmp(call_members[i].name, name) == 0) {
            return &call_members[i];
        }
    }
    return NULL;
}

static bool fail_unknown_call(const char *name, uint32_t allowed, const api_place *place)
{
    char pointer[96];
    api_pointer_join(pointer, sizeof pointer, "", name);
    api_suggestion near = api_suggest_for(name);
    for (size_t i = 0; i < CALL_MEMBERS; i++) {
        if (call_members[i].bit & allowed) {
            api_suggest(&near, call_members[i].name);
        }
    }
    return api_place_fail(place, pointer, "unknown %s `%.40s`%s", place->query_string ? "parameter" : "member", name,
                          api_suggestion_text(&near));
}

bool api_agents_read_call(api_agents_call *call, const cJSON *object, uint32_t allowed, bool others,
                          const api_place *place)
{
    *call = (api_agents_call){.view = {.fields = API_AGENT_STATE, .precision = -1}};
    if (!cJSON_IsObject(object)) {
        return api_place_fail(place, "", "the body must be a JSON object, not %s", api_json_kind(object));
    }
    for (const cJSON *child = object->child; child; child = child->next) {
        const struct call_member *m = find_call_member(child->string, allowed);
        if (!m) {
            if (!others) {
                return fail_unknown_call(child->string, allowed, place);
            }
            continue;
        }
        if (call->given & m->bit) {
            char pointer[32];
            snprintf(pointer, sizeof pointer, "/%s", m->name);
            return api_place_fail(place, pointer, "`%s` is there twice", m->name);
        }
        call->given |= m->bit;
        if (!m->read(call, child, place)) {
            return false;
        }
    }
    return true;
}

/// "position,yaw" as a list.
static cJSON *name_list(const char *text)
{
    cJSON *list = cJSON_CreateArray();
    while (list) {
        size_t size = strcspn(text, ",");
        char name[API_PARAMETER_NAME_MAX + 1];
        snprintf(name, sizeof name, "%.*s", (int)(size < sizeof name ? size : sizeof name - 1), text);
        cJSON *entry = cJSON_CreateString(name);
        if (!entry || !cJSON_AddItemToArray(list, entry)) {
            cJSON_Delete(entry);
            cJSON_Delete(list);
            return NULL;
        }
        if (text[size] == '\0') {
            break;
        }
        text += size + 1;
    }
    return list;
}

static cJSON *parameter_value(const api_parameters *pair, uint32_t bit)
{
    double number = 0;
    if (bit == API_CALL_FIELDS || bit == API_CALL_AGENTS) {
        return name_list(pair->value);
    }
    if (strcmp(pair->value, "true") == 0 || strcmp(pair->value, "false") == 0) {
        return cJSON_CreateBool(pair->value[0] == 't');
    }
    return api_number_parse(pair->value, strlen(pair->value), &number) == API_NUMBER_OK
               ? cJSON_CreateNumber(number)
               : cJSON_CreateString(pair->value);
}

cJSON *api_agents_query(const char *query, uint32_t allowed, const api_place *place)
{
    cJSON *object = cJSON_CreateObject();
    bool good = object || fail_memory(place);
    api_parameters pair;
    api_parameters_init(&pair, query);
    while (good && api_parameters_next(&pair, place->problem)) {
        const struct call_member *m = find_call_member(pair.name, allowed);
        good = m || fail_unknown_call(pair.name, allowed, place);
        cJSON *value = good ? parameter_value(&pair, m->bit) : NULL;
        if (good && (!value || !cJSON_AddItemToObject(object, pair.name, value))) {
            cJSON_Delete(value);
            good = fail_memory(place);
        }
    }
    api_parameters_deinit(&pair);
    if (!good || place->problem->code != API_NO_PROBLEM) {
        cJSON_Delete(object);
        return NULL;
    }
    return object;
}

// Members of an agent.

/// One agent being read.
typedef struct agent_reader {
    api_agent_change *change;
    const api_agent_rules *rules;
    const api_place *place;
    bool *objects, *objects_known;
} agent_reader;

/// Reads a name by the rule of ids.
static bool read_name(const agent_reader *r, const cJSON *value, const char *pointer, char to[NAV_ID_MAX + 1])
{
    if (!cJSON_IsString(value) || !api_id_valid(value->valuestring, strlen(value->valuestring))) {
        return api_place_fail(r->place, pointer, "`%s` must be an id: 1 to 64 of A-Z a-z 0-9 . _ - and no dot first",
                              pointer + 1);
    }
    snprintf(to, NAV_ID_MAX + 1, "%s", value->valuestring);
    return true;
}

static bool read_id(const agent_reader *r, const cJSON *value, const char *pointer)
{
    static const char *const taken[] = {"step", "events", "settings"};
    if (!read_name(r, value, pointer, r->change->id)) {
        return false;
    }
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        if (strcmp(r->change->id, taken[i]) == 0) {
            return api_place_fail(r->place, pointer, "no agent can be called `%s`: a call has that name", taken[i]);
        }
    }
    return true;
}

static bool read_place(const agent_reader *r, const cJSON *value, const char *pointer, nav_vec *to)
{
    double v[3] = {0, 0, 0};
    if (!api_vector_read(r->rules->mesh, value, pointer, r->place, v)) {
        return false;
    }
    if (!*r->objects_known) {
        *r->objects_known = true;
        *r->objects = cJSON_IsObject(value);
    }
    *to = api_vector_to_internal(r->rules->frame, r->rules->mesh, (nav_vec){v[0], v[1], v[2]});
    return true;
}

static bool read_position(const agent_reader *r, const cJSON *value, const char *pointer)
{
    return read_place(r, value, pointer, &r->change->position);
}

static bool read_target(const agent_reader *r, const cJSON *value, const char *pointer)
{
    r->change->no_target = cJSON_IsNull(value);
    return r->change->no_target || read_place(r, value, pointer, &r->change->target);
}

/// A finite number from 0 on, or above 0.
static bool read_amount(const agent_reader *r, const cJSON *value, const char *pointer, bool above, double max,
                        double *to)
{
    if (!api_json_finite(value) || value->valuedouble < 0 || (above && value->valuedouble == 0) ||
        value->valuedouble > max) {
        return api_place_fail(r->place, pointer, "`%s` must be a number %s 0, at most %g", pointer + 1,
                              above ? "above" : "from", max);
    }
    *to = value->valuedouble;
    return true;
}

static bool read_radius(const agent_reader *r, const cJSON *value, const char *pointer)
{
    return read_amount(r, value, pointer, true, AMOUNT_MAX, &r->change->agent.radius);
}

static bool read_height(const agent_reader *r, const cJSON *value, const char *pointer)
{
    return read_amount(r, value, pointer, true, AMOUNT_MAX, &r->change->agent.height);
}

static bool read_max_speed(const agent_reader *r, const cJSON *value, const char *pointer)
{
    return read_amount(r, value, pointer, false, AMOUNT_MAX, &r->change->agent.max_speed);
}

/// null: as fast as it likes.
static bool read_max_acceleration(const agent_reader *r, const cJSON *value, const char *pointer)
{
    r->change->agent.max_acceleration = INFINITY;
    return cJSON_IsNull(value) || read_amount(r, value, pointer, true, AMOUNT_MAX, &r->change->agent.max_acceleration);
}

static bool read_stopping_distance(const agent_reader *r, const cJSON *value, const char *pointer)
{
    return read_amount(r, value, pointer, false, AMOUNT_MAX, &r->change->agent.stopping_distance);
}

static bool read_link_speed(const agent_reader *r, const cJSON *value, const char *pointer)
{
    return read_amount(r, value, pointer, false, AMOUNT_MAX, &r->change->agent.link_speed);
}

static bool read_avoidance(const agent_reader *r, const cJSON *value, const char *pointer)
{
    static const char *const names[2] = {"none", "orca"};
    bool orca = false;
    if (!read_choice(value, pointer, names, r->place, &orca)) {
        return false;
    }
    r->change->agent.avoidance = orca ? NAV_AVOIDANCE_ORCA : NAV_AVOIDANCE_NONE;
    return true;
}

static bool read_filter(const agent_reader *r, const cJSON *value, const char *pointer)
{
    r->change->filter = cJSON_IsNull(value) ? NULL : value; // what it says is read by api_agents_filter
    return cJSON_IsNull(value) || cJSON_IsString(value) || cJSON_IsObject(value) ||
           api_place_fail(r->place, pointer, "`filter` must be an object, a name or null, not %s",
                          api_json_kind(value));
}

static bool read_snap(const agent_reader *r, const cJSON *value, const char *pointer)
{
    double v[3] = {0, 0, 0};
    if (cJSON_IsNumber(value)) {
        v[0] = v[1] = v[2] = value->valuedouble;
    } else if (!api_vector_read(r->rules->mesh, value, pointer, r->place, v)) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        if (!(v[k] >= 0) || v[k] > (double)FLT_MAX) {
            return api_place_fail(r->place, pointer, "`%s` must hold half extents of at least 0", pointer + 1);
        }
    }
    nav_vec turned = api_vector_to_internal(r->rules->frame, r->rules->mesh, (nav_vec){v[0], v[1], v[2]});
    r->change->agent.snap = (nav_vec){fabs(turned.x), fabs(turned.y), fabs(turned.z)};
    return true;
}

static bool fail_unknown_in_chase(const agent_reader *r, const char *name, const char *pointer)
{
    api_suggestion near = api_suggest_for(name);
    api_suggest(&near, "agent");
    api_suggest(&near, "repath_ms");
    api_suggest(&near, "attack_range");
    return api_place_fail(r->place, pointer,
                          "unknown member `%.40s`: `chase` has `agent`, `repath_ms` and `attack_range`%s", name,
                          api_suggestion_text(&near));
}

static bool read_chase(const agent_reader *r, const cJSON *value, const char *pointer)
{
    api_agent_change *c = r->change;
    unsigned seen = 0;
    c->chase = nav_crowd_chase_default();
    c->no_chase = cJSON_IsNull(value);
    if (c->no_chase) {
        return true;
    }
    if (!cJSON_IsObject(value)) {
        return api_place_fail(r->place, pointer, "`chase` must be an object or null, not %s", api_json_kind(value));
    }
    for (const cJSON *child = value->child; child; child = child->next) {
        char below[96];
        api_pointer_join(below, sizeof below, pointer, child->string);
        unsigned bit = strcmp(child->string, "agent") == 0          ? 1
                       : strcmp(child->string, "repath_ms") == 0    ? 2
                       : strcmp(child->string, "attack_range") == 0 ? 4
                                                                    : 0;
        if (seen & bit) {
            return api_place_fail(r->place, below, "`%s` is there twice", below + 1);
        }
        seen |= bit;
        if (!(bit == 1   ? read_name(r, child, below, c->chased)
              : bit == 2 ? read_amount(r, child, below, false, REPATH_MS_MAX, &c->chase.repath)
              : bit == 4 ? read_amount(r, child, below, false, AMOUNT_MAX, &c->chase.attack_range)
                         : fail_unknown_in_chase(r, child->string, below))) {
            return false;
        }
        if (bit == 2) {
            c->chase.repath /= 1000;
        }
    }
    return (seen & 1) || api_place_fail(r->place, pointer, "`chase` has no `agent`");
}

static const struct agent_member {
    const char *pointer;
    uint32_t bit;
    bool (*read)(const agent_reader *r, const cJSON *value, const char *pointer);
} agent_members[] = {
    {"/id", API_SET_ID, read_id},
    {"/position", API_SET_POSITION, read_position},
    {"/radius", API_SET_RADIUS, read_radius},
    {"/height", API_SET_HEIGHT, read_height},
    {"/max_speed", API_SET_MAX_SPEED, read_max_speed},
    {"/max_acceleration", API_SET_MAX_ACCELERATION, read_max_acceleration},
    {"/stopping_distance", API_SET_STOPPING_DISTANCE, read_stopping_distance},
    {"/link_speed", API_SET_LINK_SPEED, read_link_speed},
    {"/avoidance", API_SET_AVOIDANCE, read_avoidance},
    {"/target", API_SET_TARGET, read_target},
    {"/chase", API_SET_CHASE, read_chase},
    {"/filter", API_SET_FILTER, read_filter},
    {"/snap", API_SET_SNAP, read_snap},
};
#define AGENT_MEMBERS (sizeof agent_members / sizeof *agent_members)

static const struct agent_member *find_agent_member(const char *name, const api_agent_rules *rules)
{
    for (size_t i = 0; i < AGENT_MEMBERS; i++) {
        if (strcmp(agent_members[i].pointer + 1, name) == 0) {
            return agent_members[i].bit == API_SET_ID && !rules->names_id ? NULL : &agent_members[i];
        }
    }
    return NULL;
}

static bool fail_unknown_member(const agent_reader *r, const char *name)
{
    char pointer[96];
    api_pointer_join(pointer, sizeof pointer, "", name);
    api_suggestion near = api_suggest_for(name);
    for (size_t i = r->rules->names_id ? 0 : 1; i < AGENT_MEMBERS; i++) {
        api_suggest(&near, agent_members[i].pointer + 1);
    }
    return api_place_fail(r->place, pointer, "unknown member `%.40s`%s", name, api_suggestion_text(&near));
}

static bool check_whole(const agent_reader *r)
{
    const api_agent_change *c = r->change;
    if (r->rules->creates && !(c->given & API_SET_POSITION)) {
        return api_place_fail(r->place, "/position", "`position` is missing");
    }
    if (r->rules->needs_id && !(c->given & API_SET_ID)) {
        return api_place_fail(r->place, "/id", "`id` is missing");
    }
    bool target = (c->given & API_SET_TARGET) && !c->no_target, chase = (c->given & API_SET_CHASE) && !c->no_chase;
    if (target && chase) {
        return api_place_fail(r->place, "/chase", "`chase` beside `target`: an agent does one of them");
    }
    if (chase && strcmp(c->chased, c->id) == 0) {
        return api_place_fail(r->place, "/chase/agent", "an agent cannot chase itself");
    }
    return true;
}

bool api_agent_read_change(api_agent_change *change, const cJSON *value, const api_agent_rules *rules, bool in_call,
                           bool *objects, bool *objects_known, const api_place *place)
{
    const agent_reader r = {
        .change = change, .rules = rules, .place = place, .objects = objects, .objects_known = objects_known};
    if (!cJSON_IsObject(value)) {
        return api_place_fail(place, "", "an agent is a JSON object, not %s", api_json_kind(value));
    }
    for (const cJSON *child = value->child; child; child = child->next) {
        const struct agent_member *m = find_agent_member(child->string, rules);
        if (!m) {
            if (in_call && find_call_member(child->string, API_CALL_FORM)) {
                continue;
            }
            return fail_unknown_member(&r, child->string);
        }
        if (change->given & m->bit) {
            return api_place_fail(place, m->pointer, "`%s` is there twice", m->pointer + 1);
        }
        change->given |= m->bit;
        if (!m->read(&r, child, m->pointer)) {
            return false;
        }
    }
    return check_whole(&r);
}
