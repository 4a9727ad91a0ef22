/// `filter`: which polygons may be used and what their areas cost.
#include <math.h>
#include <stdio.h>

#include "args.h"
#include "number.h"

static bool fail_at(const api_place *place, const char *base, const char *name, const char *format, const char *text)
    __attribute__((format(printf, 4, 0)));

static bool fail_at(const api_place *place, const char *base, const char *name, const char *format, const char *text)
{
    char pointer[112], detail[200];
    api_pointer_join(pointer, sizeof pointer, base, name);
    snprintf(detail, sizeof detail, format, text);
    return api_place_fail(place, pointer, "%s", detail);
}

/// One flag by its name or bit.
static bool read_flag(const api_mesh *mesh, const cJSON *value, const char *base, int index, const api_place *place,
                      uint32_t *mask)
{
    char number[16];
    snprintf(number, sizeof number, "%d", index);
    if (cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble <= 31 &&
        value->valuedouble == floor(value->valuedouble)) {
        *mask |= 1u << (unsigned)value->valuedouble;
        return true;
    }
    if (!cJSON_IsString(value)) {
        return fail_at(place, base, number, "a flag is a name or a bit from 0 to 31, not %s", api_json_kind(value));
    }
    for (unsigned bit = 0; bit < 32; bit++) {
        if (mesh->flags[bit][0] && strcmp(mesh->flags[bit], value->valuestring) == 0) {
            *mask |= 1u << bit;
            return true;
        }
    }
    return fail_at(place, base, number, "this mesh has no flag named `%.64s`", value->valuestring);
}

/// A list of flags, or one mask.
static bool read_mask(const api_mesh *mesh, const cJSON *value, const char *name, const api_place *place,
                      uint32_t *mask)
{
    char base[24];
    api_pointer_join(base, sizeof base, "/filter", name);
    *mask = 0;
    if (cJSON_IsNumber(value)) {
        if (!(value->valuedouble >= 0 && value->valuedouble <= UINT32_MAX) ||
            value->valuedouble != floor(value->valuedouble)) {
            return api_place_fail(place, base, "`%s` as one number must be a mask from 0 to 4294967295", name);
        }
        *mask = (uint32_t)value->valuedouble;
        return true;
    }
    if (!cJSON_IsArray(value)) {
        return api_place_fail(place, base, "`%s` must be a list of flags or one mask, not %s", name,
                              api_json_kind(value));
    }
    int index = 0;
    for (const cJSON *child = value->child; child; child = child->next) {
        if (!read_flag(mesh, child, base, index++, place, mask)) {
            return false;
        }
    }
    return true;
}

/// @return the area's number; 256: a number that no polygon can have; -1: an unknown name
static int find_area(const api_mesh *mesh, const char *name)
{
    for (int i = 0; i < 256; i++) {
        if (mesh->areas[i].name[0] && strcmp(mesh->areas[i].name, name) == 0) {
            return i;
        }
    }
    double number = 0;
    if (api_number_parse(name, strlen(name), &number) != API_NUMBER_OK || number < 0 || number != floor(number)) {
        return -1;
    }
    return number < 256 ? (int)number : 256;
}

/// Costs of the mesh's own, which hold where the question says nothing.
static void fill_costs(api_args *args, const api_mesh *mesh)
{
    for (int i = 0; i < 256; i++) {
        args->area_costs[i] = mesh->areas[i].cost;
    }
}

/// Costs that are all 1 are no costs: navcore's search is then the faster one.
static void use_costs(api_args *args, const api_mesh *mesh)
{
    uint64_t used[4];
    nav_mesh_areas_used(mesh->nav, used);
    for (int i = 0; i < 256; i++) {
        if ((used[i / 64] >> (i % 64) & 1) && args->area_costs[i] != 1) {
            args->snap.filter.area_costs = args->area_costs;
            return;
        }
    }
    args->snap.filter.area_costs = NULL;
}

static bool read_costs(api_args *args, const api_mesh *mesh, const cJSON *value, const api_place *place)
{
    static const char base[] = "/filter/costs";
    if (!cJSON_IsObject(value)) {
        return api_place_fail(place, base, "`costs` must be an object of areas and numbers, not %s",
                              api_json_kind(value));
    }
    fill_costs(args, mesh);
    uint64_t seen[4] = {0, 0, 0, 0};
    for (const cJSON *child = value->child; child; child = child->next) {
        int area = find_area(mesh, child->string);
        if (area < 0) {
            return fail_at(place, base, child->string, "this mesh has no area named `%.64s`", child->string);
        }
        if (!api_json_finite(child) || !(child->valuedouble > 0)) {
            return fail_at(place, base, child->string, "the cost of area `%.64s` must be a finite number above 0",
                           child->string);
        }
        if (area == 256) {
            continue;
        }
        if (seen[area / 64] >> (area % 64) & 1) {
            return fail_at(place, base, child->string, "the cost of area `%.64s` is there twice", child->string);
        }
        seen[area / 64] |= (uint64_t)1 << (area % 64);
        args->area_costs[area] = child->valuedouble;
    }
    return true;
}

bool api_filter_read(api_args *args, const api_mesh *mesh, const cJSON *value, const api_place *place)
{
    if (cJSON_IsString(value)) {
        return fail_at(place, "", "filter", "this mesh has no filter named `%.64s`", value->valuestring);
    }
    if (!cJSON_IsObject(value)) {
        return api_place_fail(place, "/filter", "`filter` must be an object or a name, not %s", api_json_kind(value));
    }
    api_filter_default(args, mesh);
    bool include = false, exclude = false, costs = false;
    for (const cJSON *child = value->child; child; child = child->next) {
        bool *seen = strcmp(child->string, "include") == 0   ? &include
                     : strcmp(child->string, "exclude") == 0 ? &exclude
                     : strcmp(child->string, "costs") == 0   ? &costs
                                                             : NULL;
        if (!seen) {
            return fail_at(place, "/filter", child->string,
                           "unknown member `%.40s`: a filter has `include`, `exclude` and `costs`", child->string);
        }
        if (*seen) {
            return fail_at(place, "/filter", child->string, "`%s` is there twice", child->string);
        }
        *seen = true;
        bool read = seen == &include   ? read_mask(mesh, child, "include", place, &args->snap.filter.include)
                    : seen == &exclude ? read_mask(mesh, child, "exclude", place, &args->snap.filter.exclude)
                                       : read_costs(args, mesh, child, place);
        if (!read) {
            return false;
        }
    }
    if (costs) {
        use_costs(args, mesh);
    }
    return true;
}

void api_filter_default(api_args *args, const api_mesh *mesh)
{
    args->snap.filter = nav_filter_default();
    uint64_t used[4];
    nav_mesh_areas_used(mesh->nav, used);
    for (int word = 0; word < 4; word++) {
        for (uint64_t rest = used[word]; rest; rest &= rest - 1) {
            if (mesh->areas[word * 64 + __builtin_ctzll(rest)].cost != 1) {
                fill_costs(args, mesh);
                args->snap.filter.area_costs = args->area_costs;
                return;
            }
        }
    }
}
