/// The agents of a mesh: ids, filters, and what changed when.
#include <stdio.h>
#include <stdlib.h>

#include "agents_inside.h"

#define REMOVED_KEPT 4096 ///< removals that are remembered once they have been told
#define INDEX_LEAST 64

bool api_agents_view_equal(const api_agents_view *a, const api_agents_view *b)
{
    return a->fields == b->fields && a->precision == b->precision && a->objects == b->objects &&
           a->has_frame == b->has_frame &&
           (!a->has_frame || (memcmp(a->frame.axis, b->frame.axis, sizeof a->frame.axis) == 0 &&
                              memcmp(a->frame.sign, b->frame.sign, sizeof a->frame.sign) == 0));
}

api_agents *api_agents_create(const api_agents_options *options, const api_mesh *mesh)
{
    api_agents *agents = calloc(1, sizeof *agents);
    if (!agents) {
        return NULL;
    }
    agents->mesh = mesh;
    agents->max_agents = options->max_agents;
    agents->numbers = options->numbers;
    agents->version = agents->told = agents->forgotten = options->first_version;
    nav_crowd_options crowd = nav_crowd_options_default();
    crowd.max_agents = options->max_agents ? options->max_agents : 1; // none is refused before it gets there
    if (nav_crowd_create(&crowd, mesh->nav, NULL, &agents->crowd) != NAV_OK) {
        free(agents);
        return NULL;
    }
    return agents;
}

static void free_filter(api_agent_filter *filter)
{
    cJSON_free(filter->text);
    free(filter);
}

void api_agents_destroy(api_agents *agents)
{
    if (!agents) {
        return;
    }
    nav_crowd_destroy(agents->crowd);
    while (agents->filters) {
        api_agent_filter *next = agents->filters->next;
        free_filter(agents->filters);
        agents->filters = next;
    }
    free(agents->list);
    free(agents->by_id.slots);
    free(agents->by_number.slots);
    free(agents->removed);
    free(agents);
}

uint32_t api_agents_count(const api_agents *agents)
{
    return agents->live;
}

size_t api_agents_memory_bytes(const api_agents *agents)
{
    return nav_crowd_memory_bytes(agents->crowd) + agents->cap * sizeof *agents->list +
           (agents->by_id.cap + agents->by_number.cap) * sizeof(uint32_t) +
           agents->removed_cap * sizeof *agents->removed;
}

const api_mesh *api_agents_mesh(const api_agents *agents)
{
    return agents->mesh;
}

nav_crowd *api_agents_crowd(api_agents *agents)
{
    return agents->crowd;
}

// The index.

/// FNV-1a (Fowler, Noll, Vo), 64 bits.
static uint32_t hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    }
    return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t hash_number(nav_crowd_id number)
{
    return (uint32_t)(number * 0x9E3779B97F4A7C15u >> 32); // Knuth's multiplicative hashing
}

static void index_put(api_agent_index *index, uint32_t hash, uint32_t place)
{
    uint32_t at = hash & (index->cap - 1);
    while (index->slots[at]) {
        at = (at + 1) & (index->cap - 1);
    }
    index->slots[at] = place + 1;
}

api_agent *api_agents_find(const api_agents *agents, const char *id)
{
    const api_agent_index *index = &agents->by_id;
    for (uint32_t at = hash_text(id); index->cap; at++) {
        uint32_t slot = index->slots[at & (index->cap - 1)];
        if (slot == 0) {
            break;
        }
        api_agent *agent = &agents->list[slot - 1];
        if (agent->number && strcmp(agent->id, id) == 0) {
            return agent;
        }
    }
    return NULL;
}

api_agent *api_agents_find_number(const api_agents *agents, nav_crowd_id number)
{
    const api_agent_index *index = &agents->by_number;
    for (uint32_t at = hash_number(number); number && index->cap; at++) {
        uint32_t slot = index->slots[at & (index->cap - 1)];
        if (slot == 0) {
            break;
        }
        if (agents->list[slot - 1].number == number) {
            return &agents->list[slot - 1];
        }
    }
    return NULL;
}

static void fill_index(api_agents *agents)
{
    memset(agents->by_id.slots, 0, agents->by_id.cap * sizeof(uint32_t));
    memset(agents->by_number.slots, 0, agents->by_number.cap * sizeof(uint32_t));
    for (uint32_t i = 0; i < agents->count; i++) {
        index_put(&agents->by_id, hash_text(agents->list[i].id), i);
        index_put(&agents->by_number, hash_number(agents->list[i].number), i);
    }
}

static bool grow_index(api_agents *agents, uint32_t entries)
{
    uint32_t cap = agents->by_id.cap ? agents->by_id.cap : INDEX_LEAST;
    while (cap / 2 < entries) {
        cap *= 2;
    }
    if (cap == agents->by_id.cap) {
        return true;
    }
    uint32_t *by_id = malloc(cap * sizeof *by_id), *by_number = malloc(cap * sizeof *by_number);
    if (!by_id || !by_number) {
        free(by_id);
        free(by_number);
        return false;
    }
    free(agents->by_id.slots);
    free(agents->by_number.slots);
    agents->by_id = (api_agent_index){.slots = by_id, .cap = cap};
    agents->by_number = (api_agent_index){.slots = by_number, .cap = cap};
    fill_index(agents);
    return true;
}

// The list.

bool api_agents_reserve(api_agents *agents, uint32_t count)
{
    if (count > UINT32_MAX / 8 - agents->count) {
        return false;
    }
    uint32_t need = agents->count + count;
    if (need > agents->cap) {
        uint32_t cap = agents->cap ? agents->cap * 2 : INDEX_LEAST;
        cap = cap < need ? need : cap;
        api_agent *list = realloc(agents->list, cap * sizeof *list);
        if (!list) {
            return false;
        }
        agents->list = list;
        agents->cap = cap;
    }
    return grow_index(agents, need);
}

api_agent *api_agents_append(api_agents *agents, const char *id, nav_crowd_id number, api_agent_filter *filter)
{
    uint32_t place = agents->count++;
    api_agent *agent = &agents->list[place];
    *agent = (api_agent){.number = number, .filter = filter};
    snprintf(agent->id, sizeof agent->id, "%s", id);
    filter->users++;
    agents->live++;
    index_put(&agents->by_id, hash_text(id), place);
    index_put(&agents->by_number, hash_number(number), place);
    api_agents_touch(agents, agent);
    return agent;
}

bool api_agents_reserve_removals(api_agents *agents, uint32_t count)
{
    if (count <= agents->removed_cap - agents->removed_count) {
        return true;
    }
    if (count > UINT32_MAX / 8 - agents->removed_count) {
        return false;
    }
    uint32_t cap = agents->removed_count + count;
    cap = cap < 2 * REMOVED_KEPT ? 2 * REMOVED_KEPT : cap;
    api_agent_removed *removed = realloc(agents->removed, cap * sizeof *removed);
    if (!removed) {
        return false;
    }
    agents->removed = removed;
    agents->removed_cap = cap;
    return true;
}

void api_agents_erase(api_agents *agents, api_agent *agent, bool note)
{
    nav_crowd_remove(agents->crowd, agent->number);
    agent->number = 0;
    agent->filter->users--;
    agents->live--;
    if (note) {
        api_agent_removed *removed = &agents->removed[agents->removed_count++];
        removed->version = agents->version;
        memcpy(removed->id, agent->id, sizeof removed->id);
    }
}

void api_agents_tidy(api_agents *agents)
{
    if (agents->count - agents->live <= agents->live + INDEX_LEAST) {
        return;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < agents->count; i++) {
        if (agents->list[i].number) {
            agents->list[kept++] = agents->list[i];
        }
    }
    agents->count = kept;
    fill_index(agents);
}

void api_agents_make_id(api_agents *agents, char id[NAV_ID_MAX + 1])
{
    do {
        snprintf(id, NAV_ID_MAX + 1, "a%llu", (unsigned long long)++*agents->numbers);
    } while (api_agents_find(agents, id));
}

// What changed.

void api_agents_begin_change(api_agents *agents)
{
    agents->version++;
}

bool api_agents_knows(const api_agents *agents, uint64_t version)
{
    return version >= agents->forgotten && version <= agents->version;
}

/// Notes who changed by what is told as the crowd's step `step`.
static void touch_changed(api_agents *agents, uint64_t step)
{
    api_agents_begin_change(agents);
    for (uint32_t i = 0; i < agents->count; i++) {
        if (nav_crowd_changed_step(agents->crowd, agents->list[i].number) >= step) {
            api_agents_touch(agents, &agents->list[i]);
        }
    }
}

void api_agents_stepped(api_agents *agents)
{
    touch_changed(agents, nav_crowd_steps(agents->crowd));
}

bool api_agents_news(const api_agents *agents)
{
    return agents->version > agents->told;
}

void api_agents_told(api_agents *agents)
{
    agents->told = agents->version;
    if (agents->removed_count > REMOVED_KEPT) {
        uint32_t old = agents->removed_count - REMOVED_KEPT;
        agents->forgotten = agents->removed[old - 1].version;
        memmove(agents->removed, agents->removed + old, REMOVED_KEPT * sizeof *agents->removed);
        agents->removed_count = REMOVED_KEPT;
    }
}

// Filters.

nav_filter api_agent_nav_filter(const api_agent_filter *filter)
{
    return (nav_filter){.include = filter->value.include,
                        .exclude = filter->value.exclude,
                        .area_costs = filter->has_costs ? filter->value.costs : NULL};
}

/// Reads what a filter says on the present mesh.
static bool evaluate(const api_agents *agents, api_agent_filter *filter, const cJSON *value, api_args *scratch,
                     const api_place *place)
{
    if (!value) {
        api_filter_default(scratch, agents->mesh);
    } else if (!api_filter_read(scratch, agents->mesh, value, place)) {
        return false;
    }
    const nav_filter *read = &scratch->snap.filter;
    filter->value = (api_filter){.include = read->include, .exclude = read->exclude};
    filter->has_costs = read->area_costs;
    if (filter->has_costs) {
        memcpy(filter->value.costs, read->area_costs, sizeof filter->value.costs);
    }
    return true;
}

static api_agent_filter *find_filter(const api_agents *agents, const char *text)
{
    for (api_agent_filter *f = agents->filters; f; f = f->next) {
        if (text ? f->text && strcmp(f->text, text) == 0 : !f->text) {
            return f;
        }
    }
    return NULL;
}

api_agent_filter *api_agents_filter(api_agents *agents, const cJSON *value, api_args *scratch, const api_place *place)
{
    char *text = value ? cJSON_PrintUnformatted(value) : NULL;
    if (value && !text) {
        api_problem_set(place->problem, API_INTERNAL, "out of memory");
        return NULL;
    }
    api_agent_filter *filter = find_filter(agents, text);
    if (filter) {
        cJSON_free(text);
        return filter;
    }
    filter = calloc(1, sizeof *filter);
    if (!filter) {
        api_problem_set(place->problem, API_INTERNAL, "out of memory");
        cJSON_free(text);
        return NULL;
    }
    filter->text = text;
    if (!evaluate(agents, filter, value, scratch, place)) {
        free_filter(filter);
        return NULL;
    }
    filter->next = agents->filters;
    agents->filters = filter;
    return filter;
}

void api_agents_sweep_filters(api_agents *agents)
{
    for (api_agent_filter **at = &agents->filters; *at;) {
        api_agent_filter *filter = *at;
        if (filter->users > 0) {
            at = &filter->next;
        } else {
            *at = filter->next;
            free_filter(filter);
        }
    }
}

/// Gives agents a filter's new meaning. Without memory for it they keep the old one.
static void apply_filter(api_agents *agents, const api_agent_filter *filter)
{
    for (uint32_t i = 0; i < agents->count; i++) {
        nav_crowd_agent agent;
        const api_agent *a = &agents->list[i];
        if (a->number && a->filter == filter && nav_crowd_get_agent(agents->crowd, a->number, &agent) == NAV_OK) {
            agent.filter = api_agent_nav_filter(filter);
            (void)nav_crowd_set_agent(agents->crowd, a->number, &agent);
        }
    }
}

/// A name that the mesh does not know any more goes on meaning what it meant.
static void carry_filters_over(api_agents *agents)
{
    api_args scratch = {0};
    api_problem problem;
    const api_place place = {.problem = &problem};
    for (api_agent_filter *filter = agents->filters; filter; filter = filter->next) {
        api_agent_filter now = *filter;
        cJSON *value = filter->text ? cJSON_Parse(filter->text) : NULL;
        bool same = (filter->text && !value) || !evaluate(agents, &now, value, &scratch, &place) ||
                    (now.has_costs == filter->has_costs && memcmp(&now.value, &filter->value, sizeof now.value) == 0);
        cJSON_Delete(value);
        if (!same) {
            *filter = now;
            apply_filter(agents, filter);
        }
    }
}

void api_agents_set_mesh(api_agents *agents, const api_mesh *mesh)
{
    agents->mesh = mesh;
    nav_crowd_set_mesh(agents->crowd, mesh->nav);
    carry_filters_over(agents);
    touch_changed(agents, nav_crowd_steps(agents->crowd) + 1);
}
