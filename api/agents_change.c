/// Making, changing and removing agents: all that one request asks for, or nothing.
#include <stdio.h>
#include <stdlib.h>

#include "agents_inside.h"

static api_place place_of(const api_agents_changes *changes, uint32_t index)
{
    api_place place = {.problem = changes->problem};
    if (changes->bulk) {
        snprintf(place.prefix, sizeof place.prefix, "/agents/%u", (unsigned)index);
    }
    return place;
}

static bool fail_memory(api_problem *problem)
{
    api_problem_set(problem, API_INTERNAL, "out of memory");
    return false;
}

/// What navcore refuses although every member was checked.
static bool fail_status(api_problem *problem, nav_status status)
{
    if (status == NAV_NO_MEMORY) {
        return fail_memory(problem);
    }
    api_problem_set(problem, API_INTERNAL, "an agent was refused: %s", nav_status_text(status));
    return false;
}

static bool fail_pointer(const api_agents_changes *changes, uint32_t index, api_code code, const char *member,
                         const char *text)
{
    api_place place = place_of(changes, index);
    api_problem_set(changes->problem, code, "%s", text);
    snprintf(changes->problem->pointer, sizeof changes->problem->pointer, "%s%s", place.prefix, member);
    return false;
}

/// The filters that the request names, before anything is changed.
static bool read_filters(const api_agents_changes *changes, bool all)
{
    for (uint32_t i = 0; i < changes->count; i++) {
        api_agent_change *c = &changes->list[i];
        if (!all && !(c->given & API_SET_FILTER)) {
            continue;
        }
        api_place place = place_of(changes, i);
        c->interned = api_agents_filter(changes->agents, c->filter, &changes->context->args, &place);
        if (!c->interned) {
            return false;
        }
    }
    return true;
}

/// Puts the members given over what the agent is or would be.
static void merge(const api_agent_change *c, nav_crowd_agent *agent)
{
    const nav_crowd_agent *given = &c->agent;
    agent->radius = c->given & API_SET_RADIUS ? given->radius : agent->radius;
    agent->height = c->given & API_SET_HEIGHT ? given->height : agent->height;
    agent->max_speed = c->given & API_SET_MAX_SPEED ? given->max_speed : agent->max_speed;
    agent->max_acceleration = c->given & API_SET_MAX_ACCELERATION ? given->max_acceleration : agent->max_acceleration;
    agent->stopping_distance =
        c->given & API_SET_STOPPING_DISTANCE ? given->stopping_distance : agent->stopping_distance;
    agent->link_speed = c->given & API_SET_LINK_SPEED ? given->link_speed : agent->link_speed;
    agent->avoidance = c->given & API_SET_AVOIDANCE ? given->avoidance : agent->avoidance;
    agent->snap = c->given & API_SET_SNAP ? given->snap : agent->snap;
    if (c->interned) {
        agent->filter = api_agent_nav_filter(c->interned);
    }
}

/// The agents chased must be there, those that the same request makes among them.
static bool check_chases(const api_agents_changes *changes)
{
    for (uint32_t i = 0; i < changes->count; i++) {
        const api_agent_change *c = &changes->list[i];
        if ((c->given & API_SET_CHASE) && !c->no_chase && !api_agents_find(changes->agents, c->chased)) {
            char text[128];
            snprintf(text, sizeof text, "there is no agent `%s` to chase", c->chased);
            return fail_pointer(changes, i, API_BAD_REQUEST, "/chase/agent", text);
        }
    }
    return true;
}

/// Sends the agent after its new aim.
static nav_status aim(const api_agents *agents, const api_agent_change *c)
{
    nav_crowd *crowd = agents->crowd;
    if ((c->given & API_SET_TARGET) && !c->no_target) {
        return nav_crowd_set_target(crowd, c->number, c->target);
    }
    if ((c->given & API_SET_CHASE) && !c->no_chase) {
        nav_crowd_chase chase = c->chase;
        chase.agent = api_agents_find(agents, c->chased)->number;
        return nav_crowd_set_chase(crowd, c->number, &chase);
    }
    nav_crowd_state state;
    bool chases = nav_crowd_get(crowd, c->number, &state) && state.chase.agent;
    if ((c->given & API_SET_TARGET) || ((c->given & API_SET_CHASE) && chases)) {
        return nav_crowd_clear_target(crowd, c->number);
    }
    return NAV_OK;
}

/// Nothing of what this does can fail for want of memory.
static bool aim_all(const api_agents_changes *changes)
{
    for (uint32_t i = 0; i < changes->count; i++) {
        nav_status status = aim(changes->agents, &changes->list[i]);
        if (status != NAV_OK) {
            return fail_status(changes->problem, status);
        }
    }
    return true;
}

// Making.

static bool add(const api_agents_changes *changes, uint32_t index)
{
    api_agents *agents = changes->agents;
    api_agent_change *c = &changes->list[index];
    if (!c->id[0]) {
        api_agents_make_id(agents, c->id);
    } else if (api_agents_find(agents, c->id)) {
        char text[128];
        snprintf(text, sizeof text, "there is an agent `%s` already", c->id);
        return fail_pointer(changes, index, API_CONFLICT, "/id", text);
    }
    nav_crowd_agent agent = nav_crowd_agent_default(agents->mesh->nav);
    agent.snap = agents->mesh->snap;
    merge(c, &agent);
    nav_status status = nav_crowd_add(agents->crowd, &agent, c->position, &c->number);
    if (status != NAV_OK) {
        return fail_status(changes->problem, status);
    }
    api_agents_append(agents, c->id, c->number, c->interned);
    return true;
}

static bool check_room(const api_agents_changes *changes)
{
    const api_agents *agents = changes->agents;
    if (changes->count <= agents->max_agents - agents->live) {
        return true;
    }
    char text[160];
    snprintf(text, sizeof text, "a mesh holds at most %u agents, and has %u", (unsigned)agents->max_agents,
             (unsigned)agents->live);
    api_problem_set(changes->problem, API_TOO_LARGE, "%s", text);
    if (changes->bulk) {
        snprintf(changes->problem->pointer, sizeof changes->problem->pointer, "/agents");
    }
    return false;
}

bool api_agents_add_all(const api_agents_changes *changes)
{
    api_agents *agents = changes->agents;
    api_agents_tidy(agents);
    if (!check_room(changes)) {
        return false;
    }
    if (!api_agents_reserve(agents, changes->count)) {
        return fail_memory(changes->problem);
    }
    api_agents_begin_change(agents);
    uint32_t made = 0;
    bool good = read_filters(changes, true);
    while (good && made < changes->count) {
        good = add(changes, made);
        made += good;
    }
    good = good && check_chases(changes) && aim_all(changes);
    while (!good && made > 0) {
        api_agents_erase(agents, api_agents_find_number(agents, changes->list[--made].number), false);
    }
    api_agents_sweep_filters(agents);
    return good;
}

// Changing.

static bool find_all(const api_agents_changes *changes)
{
    for (uint32_t i = 0; i < changes->count; i++) {
        api_agent_change *c = &changes->list[i];
        const api_agent *agent = api_agents_find(changes->agents, c->id);
        if (!agent) {
            char text[128];
            snprintf(text, sizeof text, "there is no agent `%s`", c->id);
            return fail_pointer(changes, i, API_NOT_FOUND, changes->bulk ? "/id" : "", text);
        }
        c->number = agent->number;
    }
    return true;
}

static nav_status set_agent(const api_agents *agents, api_agent_change *c)
{
    nav_status status = nav_crowd_get_agent(agents->crowd, c->number, &c->before);
    nav_crowd_agent agent = c->before;
    merge(c, &agent);
    return status == NAV_OK ? nav_crowd_set_agent(agents->crowd, c->number, &agent) : status;
}

/// Gives the first `count` changes back, newest first.
static void unset_agents(const api_agents_changes *changes, uint32_t count)
{
    const api_agents *agents = changes->agents;
    while (count > 0) {
        api_agent_change *c = &changes->list[--count];
        if (c->given & API_SET_AGENT) {
            c->before.filter = api_agent_nav_filter(api_agents_find_number(agents, c->number)->filter);
            (void)nav_crowd_set_agent(agents->crowd, c->number, &c->before);
        }
    }
}

static bool set_agents(const api_agents_changes *changes)
{
    for (uint32_t i = 0; i < changes->count; i++) {
        api_agent_change *c = &changes->list[i];
        nav_status status = c->given & API_SET_AGENT ? set_agent(changes->agents, c) : NAV_OK;
        if (status != NAV_OK) {
            unset_agents(changes, i);
            return fail_status(changes->problem, status);
        }
    }
    return true;
}

bool api_agents_patch_all(const api_agents_changes *changes)
{
    api_agents *agents = changes->agents;
    api_agents_begin_change(agents);
    bool good = find_all(changes) && check_chases(changes) && read_filters(changes, false) && set_agents(changes);
    for (uint32_t i = 0; good && i < changes->count; i++) {
        const api_agent_change *c = &changes->list[i];
        api_agent *agent = api_agents_find_number(agents, c->number);
        if (c->interned) {
            agent->filter->users--;
            agent->filter = c->interned;
            agent->filter->users++;
        }
        if (c->given & API_SET_POSITION) {
            nav_status status = nav_crowd_set_position(agents->crowd, c->number, c->position);
            good = status == NAV_OK || fail_status(changes->problem, status);
        }
        api_agents_touch(agents, agent);
    }
    good = good && aim_all(changes);
    api_agents_sweep_filters(agents);
    return good;
}

// Removing.

static bool check_ids(const api_agents *agents, const cJSON *ids, api_problem *problem)
{
    const api_place place = {.problem = problem};
    uint32_t index = 0;
    for (const cJSON *id = ids->child; id; id = id->next, index++) {
        char pointer[32];
        snprintf(pointer, sizeof pointer, "/agents/%u", (unsigned)index);
        if (!cJSON_IsString(id)) {
            return api_place_fail(&place, pointer, "`agents` must be a list of ids, not hold %s", api_json_kind(id));
        }
        if (!api_agents_find(agents, id->valuestring)) {
            api_problem_set(problem, API_NOT_FOUND, "there is no agent `%.64s`", id->valuestring);
            snprintf(problem->pointer, sizeof problem->pointer, "%s", pointer);
            return false;
        }
    }
    return true;
}

bool api_agents_remove_all(api_agents *agents, const cJSON *ids, api_problem *problem)
{
    if (ids && !check_ids(agents, ids, problem)) {
        return false;
    }
    uint32_t count = ids ? (uint32_t)cJSON_GetArraySize(ids) : agents->live;
    if (!api_agents_reserve_removals(agents, count < agents->live ? count : agents->live)) {
        return fail_memory(problem);
    }
    api_agents_begin_change(agents);
    for (const cJSON *id = ids ? ids->child : NULL; id; id = id->next) {
        api_agent *agent = api_agents_find(agents, id->valuestring);
        if (agent) { // not named twice
            api_agents_erase(agents, agent, true);
        }
    }
    for (uint32_t i = 0; !ids && i < agents->count; i++) {
        if (agents->list[i].number) {
            api_agents_erase(agents, &agents->list[i], true);
        }
    }
    api_agents_sweep_filters(agents);
    api_agents_tidy(agents);
    return true;
}
