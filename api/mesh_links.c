/// Off-mesh links as JSON, in meshes and sidecars: {"id", "start", "end", "bidirectional", "cost", "area",
/// "flags", "radius", "kind", "enabled"}; only start and end must be there.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh_read.h"

#define DEFAULT_FLAGS 1u ///< what Detour's and most engines' tools give ground that has no special flag

typedef api_link_reader link_reader;

static bool fail(const link_reader *r, const char *text)
{
    return api_place_fail(r->place, r->pointer, "%s", text);
}

/// Complains of an unknown name, with the nearest known one.
static bool fail_name(const link_reader *r, const char *what, api_suggestion *near)
{
    return api_place_fail(r->place, r->pointer, "%s `%.64s`%s", what, near->name, api_suggestion_text(near));
}

/// [x, y, z], {"x", "y", "z"}, or two of them for a mesh of the plane.
static bool read_numbers(const link_reader *r, const cJSON *value, double out[3])
{
    static const char *const names[] = {"x", "y", "z"};
    int count = r->source.dimensions;
    if ((!cJSON_IsArray(value) && !cJSON_IsObject(value)) || cJSON_GetArraySize(value) != count) {
        return fail(r, count == 2 ? "must be [x, y] or {\"x\", \"y\"}" : "must be [x, y, z] or {\"x\", \"y\", \"z\"}");
    }
    for (int k = 0; k < count; k++) {
        const cJSON *number =
            cJSON_IsArray(value) ? cJSON_GetArrayItem(value, k) : cJSON_GetObjectItemCaseSensitive(value, names[k]);
        if (!number || !api_json_finite(number)) {
            return fail(r, "must hold finite numbers");
        }
        out[k] = number->valuedouble;
    }
    return true;
}

static bool read_position(const link_reader *r, const cJSON *value, nav_vec *position)
{
    double given[3] = {0};
    if (!read_numbers(r, value, given)) {
        return false;
    }
    const api_frame *f = &r->source.to_internal;
    if (r->source.dimensions == 2) {
        // The plane's two axes are those of the three that are not the height.
        double plane[2] = {given[0], given[1]};
        for (int k = 0, used = 0; k < 3; k++) {
            given[k] = k == f->axis[1] ? 0 : plane[used++];
        }
    }
    *position = api_frame_to_caller(f, (nav_vec){given[0], given[1], given[2]});
    return true;
}

static bool read_id(link_reader *r, const cJSON *value)
{
    if (!cJSON_IsString(value) || !api_id_valid(value->valuestring, strlen(value->valuestring))) {
        return fail(r, "must be an id: 1 to 64 of A-Z a-z 0-9 . _ -, not starting with a dot");
    }
    snprintf(r->link.id, sizeof r->link.id, "%s", value->valuestring);
    return true;
}

static bool read_start(link_reader *r, const cJSON *value)
{
    return read_position(r, value, &r->link.start);
}

static bool read_end(link_reader *r, const cJSON *value)
{
    return read_position(r, value, &r->link.end);
}

static bool read_bool(const link_reader *r, const cJSON *value, bool *to)
{
    if (!cJSON_IsBool(value)) {
        return fail(r, "must be true or false");
    }
    *to = cJSON_IsTrue(value);
    return true;
}

static bool read_bidirectional(link_reader *r, const cJSON *value)
{
    return read_bool(r, value, &r->link.bidirectional);
}

static bool read_enabled(link_reader *r, const cJSON *value)
{
    return read_bool(r, value, &r->enabled);
}

static bool read_size(const link_reader *r, const cJSON *value, double *to)
{
    if (!api_json_finite(value) || value->valuedouble < 0) {
        return fail(r, "must be a number of at least 0");
    }
    *to = value->valuedouble;
    return true;
}

static bool read_cost(link_reader *r, const cJSON *value)
{
    return read_size(r, value, &r->link.cost);
}

static bool read_radius(link_reader *r, const cJSON *value)
{
    return read_size(r, value, &r->link.radius);
}

static bool whole_number(const cJSON *value, double max)
{
    return api_json_finite(value) && value->valuedouble >= 0 && value->valuedouble <= max &&
           floor(value->valuedouble) == value->valuedouble;
}

static bool read_area(link_reader *r, const cJSON *value)
{
    if (cJSON_IsString(value)) {
        api_suggestion near = api_suggest_for(value->valuestring);
        for (size_t i = 0; i < 256; i++) {
            const api_area *area = &r->names.areas[i];
            if (area->listed && strcmp(area->name, value->valuestring) == 0) {
                r->link.area = (uint8_t)i;
                return true;
            }
            api_suggest(&near, area->name);
        }
        return fail_name(r, "no area is called", &near);
    }
    if (!whole_number(value, 255)) {
        return fail(r, "must be the name of an area or its number, 0 to 255");
    }
    r->link.area = (uint8_t)value->valuedouble;
    return true;
}

/// One flag by name or by the number of its bit.
static bool read_flag(const link_reader *r, const cJSON *value, uint32_t *flags)
{
    api_suggestion near = api_suggest_for(cJSON_IsString(value) ? value->valuestring : "");
    for (uint32_t bit = 0; bit < 32; bit++) {
        const char *name = r->names.flags[bit];
        bool named = cJSON_IsString(value) && name[0] && strcmp(name, value->valuestring) == 0;
        if (named || (whole_number(value, 31) && value->valuedouble == bit)) {
            *flags |= 1u << bit;
            return true;
        }
        api_suggest(&near, name);
    }
    return cJSON_IsString(value) ? fail_name(r, "no flag is called", &near)
                                 : fail(r, "must hold names of flags or bits, 0 to 31");
}

static bool read_flags(link_reader *r, const cJSON *value)
{
    if (whole_number(value, UINT32_MAX)) {
        r->link.flags = (uint32_t)value->valuedouble;
        return true;
    }
    if (!cJSON_IsArray(value)) {
        return fail(r, "must be a mask of 32 bits or an array of flags");
    }
    r->link.flags = 0;
    for (const cJSON *flag = value->child; flag; flag = flag->next) {
        if (!read_flag(r, flag, &r->link.flags)) {
            return false;
        }
    }
    return true;
}

static bool read_kind(link_reader *r, const cJSON *value)
{
    if (!cJSON_IsString(value) || strlen(value->valuestring) > NAV_ID_MAX) {
        return fail(r, "must be text of at most 64 bytes");
    }
    snprintf(r->link.kind, sizeof r->link.kind, "%s", value->valuestring);
    return true;
}

/// In the order of api_link_member.
static const struct member {
    const char *name;
    bool (*read)(link_reader *r, const cJSON *value);
} members[] = {
    {"id", read_id},     {"start", read_start},     {"end", read_end},     {"bidirectional", read_bidirectional},
    {"cost", read_cost}, {"area", read_area},       {"flags", read_flags}, {"radius", read_radius},
    {"kind", read_kind}, {"enabled", read_enabled},
};
#define MEMBER_COUNT (sizeof members / sizeof *members)

api_link_reader api_link_reader_begin(const api_link_source *source, const api_names *names, const api_place *place)
{
    return (api_link_reader){.link = {.cost = -1, .flags = DEFAULT_FLAGS},
                             .enabled = true,
                             .source = *source,
                             .names = *names,
                             .place = place};
}

bool api_link_read_member(api_link_reader *r, const cJSON *member, const char *pointer, bool *known)
{
    size_t i = 0;
    while (i < MEMBER_COUNT && strcmp(members[i].name, member->string) != 0) {
        i++;
    }
    *known = i < MEMBER_COUNT;
    if (!*known) {
        return true;
    }
    api_pointer_join(r->pointer, sizeof r->pointer, pointer, member->string);
    if (r->given & 1u << i) {
        return fail(r, "given twice");
    }
    r->given |= 1u << i;
    return members[i].read(r, member);
}

void api_link_suggest(api_suggestion *near)
{
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        api_suggest(near, members[i].name);
    }
}

bool api_area_read(const cJSON *value, const api_names *names, const char *pointer, const api_place *place,
                   uint8_t *area)
{
    link_reader r = {.names = *names, .place = place};
    snprintf(r.pointer, sizeof r.pointer, "%s", pointer);
    bool good = read_area(&r, value);
    *area = r.link.area;
    return good;
}

bool api_flags_read(const cJSON *value, const api_names *names, const char *pointer, const api_place *place,
                    uint32_t *flags)
{
    link_reader r = {.names = *names, .place = place};
    snprintf(r.pointer, sizeof r.pointer, "%s", pointer);
    bool good = read_flags(&r, value);
    *flags = r.link.flags;
    return good;
}

static bool read_link(link_reader *r, const cJSON *value, const char *pointer)
{
    snprintf(r->pointer, sizeof r->pointer, "%s", pointer);
    if (!cJSON_IsObject(value)) {
        return fail(r, "must be an object");
    }
    for (const cJSON *m = value->child; m; m = m->next) {
        bool known;
        if (!api_link_read_member(r, m, pointer, &known)) {
            return false;
        }
        if (!known) {
            api_suggestion near = api_suggest_for(m->string);
            api_link_suggest(&near);
            api_pointer_join(r->pointer, sizeof r->pointer, pointer, m->string);
            return fail_name(r, "unknown member of a link:", &near);
        }
    }
    snprintf(r->pointer, sizeof r->pointer, "%s", pointer);
    return api_link_has_ends(r) || fail(r, "a link needs its start and its end");
}

static int compare_ids(const void *a, const void *b)
{
    const nav_link *const *x = a, *const *y = b;
    return strcmp((*x)->id, (*y)->id);
}

/// An id that two links have, NULL: none. @return false when out of memory
static bool find_double_id(const nav_soup *soup, const char **id)
{
    *id = NULL;
    if (soup->link_count < 2) {
        return true;
    }
    const nav_link **sorted = malloc(soup->link_count * sizeof *sorted);
    if (!sorted) {
        return false;
    }
    for (uint32_t i = 0; i < soup->link_count; i++) {
        sorted[i] = &soup->links[i];
    }
    qsort(sorted, soup->link_count, sizeof *sorted, compare_ids);
    for (uint32_t i = 1; i < soup->link_count && !*id; i++) {
        *id = strcmp(sorted[i - 1]->id, sorted[i]->id) == 0 ? sorted[i]->id : NULL;
    }
    free(sorted);
    return true;
}

/// Such a link is no part of the mesh, but can be enabled by its id.
static bool keep_disabled(const api_link_source *source, const nav_link *link)
{
    api_edit *item = source->disabled ? api_edit_create(API_LINK, 0) : NULL;
    if (!item) {
        return !source->disabled;
    }
    item->from_file = true;
    memcpy(item->id, link->id, sizeof item->id);
    item->link = *link;
    bool kept = api_edit_set_put(source->disabled, item);
    api_edit_release(item);
    return kept;
}

bool api_links_add(nav_soup *soup, const cJSON *links, const api_link_source *source, const api_settings *settings,
                   const api_place *place)
{
    if (!cJSON_IsArray(links)) {
        return api_place_fail(place, "/links", "must be an array, not %s", api_json_kind(links));
    }
    unsigned number = 0;
    for (const cJSON *value = links->child; value; value = value->next, number++) {
        link_reader r = api_link_reader_begin(source, &(api_names){settings->areas, settings->flags}, place);
        char pointer[32];
        snprintf(pointer, sizeof pointer, "/links/%u", number);
        if (!read_link(&r, value, pointer)) {
            return false;
        }
        if (r.link.id[0] == '\0') {
            snprintf(r.link.id, sizeof r.link.id, "link-%u", (unsigned)soup->link_count);
        }
        bool kept = r.enabled ? nav_soup_add_link(soup, &r.link) == NAV_OK : keep_disabled(source, &r.link);
        if (!kept) {
            api_problem_set(place->problem, API_STORAGE_FULL, "not enough memory for the links");
            return false;
        }
    }
    const char *twice;
    if (!find_double_id(soup, &twice)) {
        api_problem_set(place->problem, API_STORAGE_FULL, "not enough memory for the links");
        return false;
    }
    return !twice || api_place_fail(place, "/links", "two links have the id `%s`", twice);
}
