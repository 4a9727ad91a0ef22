/// Off-mesh links of a glTF file: pairs of empty nodes, and `links` in extras.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gltf.h"

/// An empty node that may be the end of a link.
struct api_gltf_link_end {
    char name[API_GLTF_NAME_SIZE]; ///< without the suffix
    const api_node *node;
    double position[3];
    bool is_end;
};
typedef struct api_gltf_link_end link_end;

static bool fail_memory(const api_gltf *g)
{
    api_problem_set(g->tree.problem, API_STORAGE_FULL, "not enough memory to read the mesh");
    return false;
}

static const api_node *member(const api_gltf *g, const api_node *object, const char *name)
{
    return api_tree_member(&g->tree, object, name);
}

/// Puts [x, y, z] into a link.
static bool add_position(cJSON *link, const char *name, const double p[3])
{
    cJSON *array = cJSON_CreateDoubleArray(p, 3);
    cJSON_DeleteItemFromObjectCaseSensitive(link, name);
    return array && cJSON_AddItemToObject(link, name, array);
}

/// The value of a node of the tree as cJSON's.
static cJSON *as_cjson(const api_gltf *g, const api_node *node)
{
    const api_tree *t = &g->tree;
    return api_json_parse_part(t->text, node->at, api_tree_text_end(t, node), API_SETTINGS_DEPTH, g->tree.problem);
}

/// An end of a link given as [x, y, z], moved to the scene.
static bool move_end(cJSON *link, const char *name, const api_gltf_matrix *m)
{
    const cJSON *end = cJSON_GetObjectItemCaseSensitive(link, name);
    double p[3], moved[3];
    if (!cJSON_IsArray(end) || cJSON_GetArraySize(end) != 3) {
        return true; // another form is left to whoever reads links to complain about
    }
    for (int k = 0; k < 3; k++) {
        p[k] = cJSON_GetArrayItem(end, k)->valuedouble;
    }
    api_gltf_transform(m, p, moved);
    return add_position(link, name, moved);
}

bool api_gltf_take_links(api_gltf_links *l, const api_gltf *g, const api_node *owner, const api_gltf_matrix *m)
{
    const api_node *links = member(g, member(g, owner, "extras"), "links");
    if (!links) {
        return true;
    }
    if (!api_node_is(links, API_NODE_ARRAY)) {
        return api_tree_fail(&g->tree, links, "must be an array of links");
    }
    for (const api_node *n = links + 1; n < api_tree_end(&g->tree, links); n = api_tree_next(&g->tree, n)) {
        if (!api_node_is(n, API_NODE_OBJECT)) {
            return api_tree_fail(&g->tree, n, "must be a link");
        }
        cJSON *read = as_cjson(g, n);
        if (!read) {
            return api_tree_fail(&g->tree, n, "is no link that can be read");
        }
        cJSON *link = cJSON_Duplicate(read, true); // what was read is one block, and its ends are to be moved
        cJSON_Delete(read);
        if (!link) {
            return fail_memory(g);
        }
        if (!move_end(link, "start", m) || !move_end(link, "end", m) || !cJSON_AddItemToArray(l->array, link)) {
            cJSON_Delete(link);
            return fail_memory(g);
        }
    }
    return true;
}

/// Is `name` an end of a link? Cuts the suffix off.
static bool cut_suffix(char *name, bool *is_end)
{
    size_t length = strlen(name);
    *is_end = length > 3 && strcasecmp(name + length - 3, "end") == 0;
    if (!*is_end && !(length > 5 && strcasecmp(name + length - 5, "start") == 0)) {
        return false;
    }
    length -= *is_end ? 3 : 5;
    while (length > 0 && strchr("_.- ", name[length - 1])) {
        length--;
    }
    name[length] = '\0';
    return length > 0 && api_holds_word(name, "link");
}

bool api_gltf_note_end(api_gltf_links *l, const api_gltf *g, const api_node *node, const api_gltf_matrix *m)
{
    link_end end = {.node = node};
    api_tree_text(&g->tree, member(g, node, "name"), end.name, sizeof end.name);
    if (!cut_suffix(end.name, &end.is_end)) {
        return true;
    }
    if (l->end_count == l->end_cap) {
        size_t cap = l->end_cap ? 2 * l->end_cap : 8;
        link_end *ends = realloc(l->ends, cap * sizeof *ends);
        if (!ends) {
            return fail_memory(g);
        }
        l->ends = ends;
        l->end_cap = cap;
    }
    memcpy(end.position, m->m + 9, sizeof end.position);
    l->ends[l->end_count++] = end;
    return true;
}

static int by_name(const void *a, const void *b)
{
    const link_end *p = a, *q = b;
    int order = strcmp(p->name, q->name);
    return order ? order : (int)p->is_end - (int)q->is_end;
}

/// What the extras of its start say of a link; members that links do not have are another program's.
static cJSON *link_of_extras(const api_gltf *g, const api_node *node)
{
    static const char *const known[] = {"id", "bidirectional", "cost", "area", "flags", "radius", "kind", "enabled"};
    const api_node *extras = member(g, node, "extras");
    cJSON *link = cJSON_CreateObject();
    for (size_t i = 0; link && i < sizeof known / sizeof *known; i++) {
        const api_node *value = member(g, extras, known[i]);
        cJSON *copy = value ? as_cjson(g, value) : NULL;
        if (copy && !cJSON_AddItemToObject(link, known[i], copy)) {
            cJSON_Delete(copy);
        }
    }
    return link;
}

/// A link's id from a name: what no id may hold becomes "-".
static void name_link(cJSON *link, char *name)
{
    name[NAV_ID_MAX] = '\0';
    for (char *c = name; *c; c++) {
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-' && (*c != '.' || c == name)) {
            *c = '-';
        }
    }
    if (!cJSON_GetObjectItemCaseSensitive(link, "id")) {
        cJSON_AddStringToObject(link, "id", name);
    }
}

bool api_gltf_pair_ends(api_gltf_links *l, const api_gltf *g)
{
    if (l->end_count > 1) {
        qsort(l->ends, l->end_count, sizeof *l->ends, by_name);
    }
    for (size_t i = 0; i + 1 < l->end_count; i++) {
        link_end *start = &l->ends[i], *end = &l->ends[i + 1];
        if (start->is_end || !end->is_end || strcmp(start->name, end->name) != 0) {
            continue;
        }
        cJSON *link = link_of_extras(g, start->node);
        if (!link || !add_position(link, "start", start->position) || !add_position(link, "end", end->position) ||
            !cJSON_AddItemToArray(l->array, link)) {
            cJSON_Delete(link);
            return fail_memory(g);
        }
        name_link(link, start->name);
    }
    return true;
}
