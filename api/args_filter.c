/// `filter`: which polygons may be used and what their areas cost.
#include <math.h>
#include <stdio.h>

#include "args.h"
#include "number.h"

/// What a filter is read from and for.
typedef struct filter_reader {
    api_filter *filter;
    const api_mesh *mesh;
    const char *pointer; ///< of the filter
    const api_place *place;
} filter_reader;

/// Complains of `text`, which stands at base/name, with the nearest known name.
static bool fail_name(const filter_reader *r, const char *base, const char *name, const char *what,
                      api_suggestion *near)
{
    char pointer[128];
    api_pointer_join(pointer, sizeof pointer, base, name);
    return api_place_fail(r->place, pointer, "%s `%.64s`%s", what, near->name, api_suggestion_text(near));
}

/// One flag by its name or bit.
static bool read_flag(const filter_reader *r, const cJSON *value, const char *base, int index, uint32_t *mask)
{
    char number[16];
    snprintf(number, sizeof number, "%d", index);
    if (cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble <= 31 &&
        value->valuedouble == floor(value->valuedouble)) {
        *mask |= 1u << (unsigned)value->valuedouble;
        return true;
    }
    if (!cJSON_IsString(value)) {
        char pointer[128];
        api_pointer_join(pointer, sizeof pointer, base, number);
        return api_place_fail(r->place, pointer, "a flag is a name or a bit from 0 to 31, not %s",
                              api_json_kind(value));
    }
    api_suggestion near = api_suggest_for(value->valuestring);
    for (unsigned bit = 0; bit < 32; bit++) {
        const char *name = r->mesh->flags[bit];
        if (name[0] && strcmp(name, value->valuestring) == 0) {
            *mask |= 1u << bit;
            return true;
        }
        api_suggest(&near, name);
    }
    return fail_name(r, base, number, "this mesh has no flag named", &near);
}

/// A list of flags, or one mask.
static bool read_mask(const filter_reader *r, const cJSON *value, uint32_t *mask)
{
    char base[112];
    api_pointer_join(base, sizeof base, r->pointer, value->string);
    *mask = 0;
    if (cJSON_IsNumber(value)) {
        if (!(value->valuedouble >= 0 && value->valuedouble <= UINT32_MAX) ||
            value->valuedouble != floor(value->valuedouble)) {
            return api_place_fail(r->place, base, "`%s` as one number must be a mask from 0 to 4294967295",
                                  value->string);
        }
        *mask = (uint32_t)value->valuedouble;
        return true;
    }
    if (!cJSON_IsArray(value)) {
        return api_place_fail(r->place, base, "`%s` must be a list of flags or one mask, not %s", value->string,
                              api_json_kind(value));
    }
    int index = 0;
    for (const cJSON *child = value->child; child; child = child->next) {
        if (!read_flag(r, child, base, index++, mask)) {
            return false;
        }
    }
    return true;
}

/// @return the area's number; 256: a number that no polygon can have; -1: an unknown name
static int find_area(const api_mesh *mesh, api_suggestion *near)
{
    for (int i = 0; i < 256; i++) {
        if (mesh->areas[i].name[0] && strcmp(mesh->areas[i].name, near->name) == 0) {
            return i;
        }
        api_suggest(near, mesh->areas[i].name);
    }
    double number = 0;
    if (api_number_parse(near->name, strlen(near->name), &number) != API_NUMBER_OK || number < 0 ||
        number != floor(number)) {
        return -1;
    }
    return number < 256 ? (int)number : 256;
}

static bool read_costs(const filter_reader *r, const cJSON *value)
{
    char base[112];
    api_pointer_join(base, sizeof base, r->pointer, "costs");
    if (!cJSON_IsObject(value)) {
        return api_place_fail(r->place, base, "`costs` must be an object of areas and numbers, not %s",
                              api_json_kind(value));
    }
    uint64_t seen[4] = {0, 0, 0, 0};
    for (const cJSON *child = value->child; child; child = child->next) {
        char pointer[128];
        api_pointer_join(pointer, sizeof pointer, base, child->string);
        api_suggestion near = api_suggest_for(child->string);
        int area = find_area(r->mesh, &near);
        if (area < 0) {
            return fail_name(r, base, child->string, "this mesh has no area named", &near);
        }
        if (!api_json_finite(child) || !(child->valuedouble > 0) || child->valuedouble > API_COST_MAX) {
            return api_place_fail(r->place, pointer, "the cost of area `%.64s` must be a number above 0, at most %g",
                                  child->string, API_COST_MAX);
        }
        if (area == 256) {
            continue;
        }
        if (seen[area / 64] >> (area % 64) & 1) {
            return api_place_fail(r->place, pointer, "the cost of area `%.64s` is there twice", child->string);
        }
        seen[area / 64] |= (uint64_t)1 << (area % 64);
        r->filter->costs[area] = child->valuedouble;
    }
    return true;
}

static void pass_all(api_filter *filter, const api_mesh *mesh)
{
    const nav_filter all = nav_filter_default();
    filter->include = all.include;
    filter->exclude = all.exclude;
    for (int i = 0; i < 256; i++) {
        filter->costs[i] = mesh->areas[i].cost;
    }
}

bool api_filter_parse(api_filter *filter, const api_mesh *mesh, const cJSON *value, const char *pointer,
                      const api_place *place)
{
    static const char *const names[] = {"include", "exclude", "costs"};
    const filter_reader r = {.filter = filter, .mesh = mesh, .pointer = pointer, .place = place};
    unsigned seen = 0;
    pass_all(filter, mesh);
    for (const cJSON *child = value ? value->child : NULL; child; child = child->next) {
        api_suggestion near = api_suggest_for(child->string);
        unsigned i = 0;
        while (i < 3 && strcmp(child->string, names[i]) != 0) {
            api_suggest(&near, names[i++]);
        }
        char below[112];
        api_pointer_join(below, sizeof below, pointer, child->string);
        if (i == 3) {
            return api_place_fail(place, below,
                                  "unknown member `%.40s`: a filter has `include`, `exclude` and `costs`%s",
                                  child->string, api_suggestion_text(&near));
        }
        if (seen & 1u << i) {
            return api_place_fail(place, below, "`%s` is there twice", child->string);
        }
        seen |= 1u << i;
        if (!(i == 0   ? read_mask(&r, child, &filter->include)
              : i == 1 ? read_mask(&r, child, &filter->exclude)
                       : read_costs(&r, child))) {
            return false;
        }
    }
    return true;
}

const api_filter *api_filter_find(const api_mesh *mesh, const char *name)
{
    for (uint32_t i = 0; i < mesh->filter_count; i++) {
        if (strcmp(mesh->filters[i].name, name) == 0) {
            return &mesh->filters[i];
        }
    }
    return NULL;
}

/// Costs that are all 1 are no costs: navcore's search is then the faster one.
static void use(api_args *args, const api_mesh *mesh, const api_filter *filter)
{
    args->snap.filter = (nav_filter){.include = filter->include, .exclude = filter->exclude};
    uint64_t used[4];
    nav_mesh_areas_used(mesh->nav, used);
    for (int word = 0; word < 4; word++) {
        for (uint64_t rest = used[word]; rest; rest &= rest - 1) {
            if (filter->costs[word * 64 + __builtin_ctzll(rest)] != 1) {
                args->snap.filter.area_costs = filter->costs;
                return;
            }
        }
    }
}

bool api_filter_read(api_args *args, const api_mesh *mesh, const cJSON *value, const api_place *place)
{
    static const char pointer[] = "/filter";
    if (cJSON_IsString(value)) {
        const api_filter *named = api_filter_find(mesh, value->valuestring);
        if (named) {
            use(args, mesh, named);
            return true;
        }
        api_suggestion near = api_suggest_for(value->valuestring);
        for (uint32_t i = 0; i < mesh->filter_count; i++) {
            api_suggest(&near, mesh->filters[i].name);
        }
        return api_place_fail(place, pointer, "this mesh has no filter named `%.64s`%s", value->valuestring,
                              api_suggestion_text(&near));
    }
    if (!cJSON_IsObject(value)) {
        return api_place_fail(place, pointer, "`filter` must be an object or a name, not %s", api_json_kind(value));
    }
    if (!api_filter_parse(&args->filter, mesh, value, pointer, place)) {
        return false;
    }
    use(args, mesh, &args->filter);
    return true;
}

void api_filter_default(api_args *args, const api_mesh *mesh)
{
    use(args, mesh, &mesh->default_filter);
}
