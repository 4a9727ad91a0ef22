/// glTF 2.0 and GLB: the triangles of a scene's nodes, moved as the nodes say, and off-mesh links.
///
/// Which nodes: the `node` of the settings names one or more nodes or meshes; with no such setting, those whose
/// name holds "navmesh", if there are any; else all. What hangs below a chosen node belongs to it.
///
/// `area` and `flags` in the `extras` of a primitive, mesh or node (the nearest counts) are its triangles' own;
/// where others have flags, those that have none get bit 0, as ordinary ground.
/// Links: two empty nodes of one name that holds "link", but for "Start" and "End" behind it; what the `extras`
/// of the start say of the link (bidirectional, cost, …) holds. And `links` in the `extras` of the file, the
/// scene or a node, in the form of the contract, in the coordinates of where they stand.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gltf.h"

#define EXTRA_VERTICES 1024 ///< beyond half the bytes of the file: instances multiply meshes

/// A node on the way from the scene to the one being read.
typedef struct frame {
    const api_node *node;
    const api_node *next, *end; ///< its children that are still to come
    api_gltf_matrix to_scene;
    bool chosen;
} frame;

typedef struct scene_reader {
    const api_reading *reading;
    api_gltf g;
    frame *path;
    size_t depth, depth_cap;
    bool *visited;                   ///< [nodes]
    char wanted[API_GLTF_NAME_SIZE]; ///< part of a name, or the whole
    bool by_setting;
    bool all;          ///< no name is looked for
    uint32_t left_out; ///< meshes that were not chosen
    uint32_t skipped;  ///< primitives of points and lines
    size_t primitives; ///< read so far
    api_gltf_links links;
} scene_reader;

static bool fail_memory(scene_reader *r)
{
    api_problem_set(r->reading->problem, API_STORAGE_FULL, "not enough memory to read the mesh");
    return false;
}

static const api_node *member(const scene_reader *r, const api_node *object, const char *name)
{
    return api_tree_member(&r->g.tree, object, name);
}

// Matrices.

static api_gltf_matrix multiply(const api_gltf_matrix *a, const api_gltf_matrix *b)
{
    api_gltf_matrix product;
    for (int column = 0; column < 4; column++) {
        for (int i = 0; i < 3; i++) {
            const double *c = &b->m[3 * column];
            product.m[3 * column + i] =
                a->m[i] * c[0] + a->m[3 + i] * c[1] + a->m[6 + i] * c[2] + (column == 3 ? a->m[9 + i] : 0);
        }
    }
    return product;
}

/// Translation times rotation (a quaternion) times scale.
static api_gltf_matrix compose(const double t[3], const double q[4], const double s[3])
{
    double x = q[0], y = q[1], z = q[2], w = q[3], n = x * x + y * y + z * z + w * w;
    double k = n > 0 ? 2 / n : 0;
    const double turn[9] = {1 - k * (y * y + z * z), k * (x * y + z * w),     k * (x * z - y * w),
                            k * (x * y - z * w),     1 - k * (x * x + z * z), k * (y * z + x * w),
                            k * (x * z + y * w),     k * (y * z - x * w),     1 - k * (x * x + y * y)};
    api_gltf_matrix m;
    for (int i = 0; i < 9; i++) {
        m.m[i] = turn[i] * s[i / 3];
    }
    memcpy(m.m + 9, t, 3 * sizeof *t);
    return m;
}

static bool read_matrix(const scene_reader *r, const api_node *node, api_gltf_matrix *m)
{
    const api_tree *t = &r->g.tree;
    double all[16], move[3] = {0}, turn[4] = {0, 0, 0, 1}, scale[3] = {1, 1, 1};
    const api_node *whole = member(r, node, "matrix"), *translation = member(r, node, "translation");
    const api_node *rotation = member(r, node, "rotation"), *scaling = member(r, node, "scale");
    if (whole) {
        if (!api_tree_numbers(t, whole, 16, all)) {
            return false;
        }
        for (int i = 0; i < 12; i++) {
            m->m[i] = all[i / 3 * 4 + i % 3];
        }
        return true;
    }
    if ((translation && !api_tree_numbers(t, translation, 3, move)) ||
        (rotation && !api_tree_numbers(t, rotation, 4, turn)) || (scaling && !api_tree_numbers(t, scaling, 3, scale))) {
        return false;
    }
    *m = compose(move, turn, scale);
    return true;
}

// Geometry.

/// The number that the nearest extras give.
static bool read_extra(const scene_reader *r, const api_node *const owners[3], const char *name, uint64_t absent,
                       uint64_t max, uint64_t *value, bool *given)
{
    const api_node *found = NULL;
    for (int i = 0; i < 3 && !found; i++) {
        found = member(r, member(r, owners[i], "extras"), name);
    }
    *given = *given || found;
    return api_tree_whole(&r->g.tree, found, absent, max, value);
}

static bool check(scene_reader *r, nav_status status)
{
    return status == NAV_OK || fail_memory(r);
}

static bool fail_repeated(scene_reader *r)
{
    return api_tree_fail(&r->g.tree, NULL, "the file's nodes repeat its meshes too often for its size");
}

/// Adds the triangles of one primitive, whose vertices are in the soup from `base` on.
static bool add_triangles(scene_reader *r, uint64_t mode, const double *indices, size_t count, uint32_t base,
                          uint8_t area, uint32_t flags)
{
    enum { TRIANGLES = 4, STRIP = 5 };
    nav_soup *soup = r->reading->soup;
    size_t triangles = mode == TRIANGLES ? count / 3 : count < 3 ? 0 : count - 2;
    if (triangles > r->g.file_size / 2 + EXTRA_VERTICES - soup->poly_count) {
        return fail_repeated(r);
    }
    for (size_t i = 0; i < triangles; i++) {
        size_t at[3] = {mode == TRIANGLES ? 3 * i : i, mode == TRIANGLES ? 3 * i + 1 : i + 1,
                        mode == TRIANGLES ? 3 * i + 2 : i + 2};
        if (mode == STRIP && i % 2) { // every other triangle of a strip is wound the other way
            at[1] = i + 2;
            at[2] = i + 1;
        } else if (mode > STRIP) { // a fan
            at[0] = 0;
        }
        uint32_t corners[3];
        for (int k = 0; k < 3; k++) {
            corners[k] = base + (indices ? (uint32_t)indices[at[k]] : (uint32_t)at[k]);
        }
        if (!check(r, nav_soup_add_polygon(soup, corners, 3, area, flags, NULL))) {
            return false;
        }
    }
    return true;
}

/// Adds the vertices of an accessor, unless the primitive before had the same.
static bool add_vertices(scene_reader *r, const api_node *index, const frame *at, uint32_t *base, uint32_t *count)
{
    nav_soup *soup = r->reading->soup;
    api_gltf_values positions;
    bool ok = api_gltf_positions(&r->g, index, &positions);
    if (ok && positions.count > r->g.file_size / 2 + EXTRA_VERTICES - soup->vertex_count) {
        ok = fail_repeated(r);
    }
    *base = soup->vertex_count;
    *count = (uint32_t)positions.count;
    for (size_t i = 0; ok && i < positions.count; i++) {
        double p[3];
        api_gltf_transform(&at->to_scene, &positions.data[3 * i], p);
        ok = check(r, nav_soup_add_vertex(soup, p[0], p[1], p[2]));
    }
    free(positions.data);
    return ok;
}

/// A primitive's accessor of positions and how it is drawn. @return false with or without a complaint: `*mode`
/// is 0 where the primitive is to be passed over
static bool read_head(scene_reader *r, const api_node *primitive, const api_node **positions, uint64_t *mode)
{
    const api_tree *t = &r->g.tree;
    static const char *const packed[] = {"KHR_draco_mesh_compression", "EXT_meshopt_compression",
                                         "KHR_meshopt_compression"};
    const api_node *extensions = member(r, primitive, "extensions");
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        if (member(r, extensions, packed[i])) {
            return api_tree_fail(t, primitive, "is compressed by %s: export it without", packed[i]);
        }
    }
    if (!api_node_is(primitive, API_NODE_OBJECT) || !api_tree_whole(t, member(r, primitive, "mode"), 4, 6, mode)) {
        return api_node_is(primitive, API_NODE_OBJECT) ? false : api_tree_fail(t, primitive, "must be an object");
    }
    if (*mode < 4) {
        r->skipped++;
        *mode = 0;
        return true;
    }
    if (++r->primitives > r->g.file_size / 2) {
        return fail_repeated(r);
    }
    *positions = member(r, member(r, primitive, "attributes"), "POSITION");
    return *positions || api_tree_fail(t, primitive, "has no POSITION");
}

static bool read_mesh(scene_reader *r, const api_node *mesh, const frame *at)
{
    const api_tree *t = &r->g.tree;
    const api_node *primitives = member(r, mesh, "primitives"), *last = NULL;
    uint32_t base = 0, vertices = 0;
    if (!api_node_is(primitives, API_NODE_ARRAY)) {
        return api_tree_fail(t, mesh, "must have an array of primitives");
    }
    for (const api_node *p = primitives + 1; p < api_tree_end(t, primitives); p = api_tree_next(t, p)) {
        const api_node *positions = NULL, *indices = member(r, p, "indices");
        uint64_t mode, area, flags, last_number = 0, number = 0;
        if (!read_head(r, p, &positions, &mode)) {
            return false;
        }
        if (mode == 0) {
            continue;
        }
        const api_node *const owners[3] = {p, mesh, at->node};
        if (!read_extra(r, owners, "area", 0, 255, &area, &r->reading->soup->has_areas) ||
            !read_extra(r, owners, "flags", 1, UINT32_MAX, &flags, &r->reading->soup->has_flags)) {
            return false;
        }
        bool same = last && api_tree_whole(t, last, 0, UINT32_MAX, &last_number) &&
                    api_tree_whole(t, positions, 0, UINT32_MAX, &number) && number == last_number;
        if (!same && !add_vertices(r, positions, at, &base, &vertices)) {
            return false;
        }
        last = positions;
        api_gltf_values values = {.count = vertices};
        bool ok = (!indices || api_gltf_indices(&r->g, indices, vertices, &values)) &&
                  add_triangles(r, mode, values.data, values.count, base, (uint8_t)area, (uint32_t)flags);
        free(values.data);
        if (!ok) {
            return false;
        }
    }
    return true;
}

// Which nodes.

static bool is_wanted(const scene_reader *r, const api_node *named)
{
    char name[API_GLTF_NAME_SIZE];
    api_tree_text(&r->g.tree, member(r, named, "name"), name, sizeof name);
    return r->by_setting ? strcmp(name, r->wanted) == 0 : api_holds_word(name, r->wanted);
}

static bool any_wanted(const scene_reader *r)
{
    const api_gltf_table *const tables[] = {&r->g.nodes, &r->g.meshes};
    for (size_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < tables[k]->count; i++) {
            if (is_wanted(r, r->g.tree.nodes + tables[k]->entries[i])) {
                return true;
            }
        }
    }
    return false;
}

/// Some names to choose from.
static void list_names(const scene_reader *r, char *text, size_t size)
{
    const api_gltf_table *const tables[] = {&r->g.nodes, &r->g.meshes};
    size_t used = 0;
    text[0] = '\0';
    for (size_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < tables[k]->count && used + 40 < size; i++) {
            char name[32];
            api_tree_text(&r->g.tree, member(r, r->g.tree.nodes + tables[k]->entries[i], "name"), name, sizeof name);
            int written = name[0] ? snprintf(text + used, size - used, "%s%s", used ? ", " : "", name) : 0;
            used += written > 0 ? (size_t)written : 0;
        }
    }
}

static bool choose(scene_reader *r)
{
    const char *node = r->reading->settings->node;
    r->by_setting = node != NULL;
    snprintf(r->wanted, sizeof r->wanted, "%s", node ? node : "navmesh");
    r->all = !any_wanted(r);
    if (r->all && node) {
        char names[160];
        list_names(r, names, sizeof names);
        api_problem_set(r->reading->problem, API_BAD_MESH, "no node or mesh is called `%.60s`: there are %s", node,
                        names[0] ? names : "none with a name");
        return false;
    }
    return true;
}

// The walk.

static bool push(scene_reader *r, const api_node *index, const api_gltf_matrix *above, bool chosen)
{
    const api_tree *t = &r->g.tree;
    const api_node *node = api_gltf_entry(&r->g, &r->g.nodes, index);
    uint64_t number = 0;
    if (!node || !api_tree_whole(t, index, 0, UINT32_MAX, &number)) {
        return false;
    }
    if (r->visited[number]) {
        return api_tree_fail(t, index, "stands twice among the nodes' children: nodes must make a tree");
    }
    r->visited[number] = true;
    if (r->depth == r->depth_cap) {
        size_t cap = r->depth_cap ? 2 * r->depth_cap : 8;
        frame *path = realloc(r->path, cap * sizeof *path);
        if (!path) {
            return fail_memory(r);
        }
        r->path = path;
        r->depth_cap = cap;
    }
    frame *f = &r->path[r->depth++];
    const api_node *children = member(r, node, "children");
    api_gltf_matrix own;
    if (!read_matrix(r, node, &own)) {
        return false;
    }
    *f = (frame){.node = node, .to_scene = multiply(above, &own), .chosen = chosen || is_wanted(r, node)};
    if (children) {
        if (!api_node_is(children, API_NODE_ARRAY)) {
            return api_tree_fail(t, children, "must be an array");
        }
        f->next = children + 1;
        f->end = api_tree_end(t, children);
    }
    return true;
}

static bool visit(scene_reader *r, const frame *f)
{
    const api_node *index = member(r, f->node, "mesh");
    if (!api_gltf_take_links(&r->links, &r->g, f->node, &f->to_scene)) {
        return false;
    }
    if (!index) {
        return api_gltf_note_end(&r->links, &r->g, f->node, &f->to_scene);
    }
    if (member(r, member(r, f->node, "extensions"), "EXT_mesh_gpu_instancing")) {
        return api_tree_fail(&r->g.tree, f->node, "has instances by EXT_mesh_gpu_instancing, which is not read");
    }
    const api_node *mesh = api_gltf_entry(&r->g, &r->g.meshes, index);
    if (!mesh) {
        return false;
    }
    if (!r->all && !f->chosen && !is_wanted(r, mesh)) {
        r->left_out++;
        return true;
    }
    bool ok = read_mesh(r, mesh, f);
    r->reading->soup->part++;
    return ok;
}

/// A node and all below it.
static bool walk(scene_reader *r, const api_node *root)
{
    static const api_gltf_matrix identity = {{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}};
    r->depth = 0;
    if (!push(r, root, &identity, false) || !visit(r, &r->path[0])) {
        return false;
    }
    while (r->depth > 0) {
        frame *f = &r->path[r->depth - 1];
        if (!f->next || f->next == f->end) {
            r->depth--;
            continue;
        }
        const api_node *child = f->next;
        f->next = api_tree_next(&r->g.tree, child);
        const api_gltf_matrix above = f->to_scene;
        if (!push(r, child, &above, f->chosen) || !visit(r, &r->path[r->depth - 1])) {
            return false;
        }
    }
    return true;
}

/// All meshes as they are, in a file that has no scene.
static bool read_all_meshes(scene_reader *r)
{
    const frame at = {.to_scene = {{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}}};
    for (uint32_t i = 0; i < r->g.meshes.count; i++) {
        const api_node *mesh = r->g.tree.nodes + r->g.meshes.entries[i];
        if (!r->all && !is_wanted(r, mesh)) {
            r->left_out++;
        } else if (!read_mesh(r, mesh, &at)) {
            return false;
        }
        r->reading->soup->part++;
    }
    return true;
}

static bool read_scene(scene_reader *r)
{
    static const api_gltf_matrix identity = {{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}};
    const api_tree *t = &r->g.tree;
    const api_node *scenes = member(r, t->nodes, "scenes"), *scene = NULL;
    uint64_t number;
    if (!api_tree_whole(t, member(r, t->nodes, "scene"), 0, UINT32_MAX, &number) ||
        !api_gltf_take_links(&r->links, &r->g, t->nodes, &identity)) {
        return false;
    }
    if (scenes) {
        scene = api_tree_entry(t, scenes, (uint32_t)number);
        if (!scene) {
            return api_tree_fail(t, scenes, "has no scene %llu", (unsigned long long)number);
        }
    }
    const api_node *nodes = member(r, scene, "nodes");
    if (!nodes) {
        return read_all_meshes(r);
    }
    if (!api_node_is(nodes, API_NODE_ARRAY)) {
        return api_tree_fail(t, nodes, "must be an array");
    }
    for (const api_node *n = nodes + 1; n < api_tree_end(t, nodes); n = api_tree_next(t, n)) {
        if (!walk(r, n)) {
            return false;
        }
    }
    return api_gltf_take_links(&r->links, &r->g, scene, &identity) && api_gltf_pair_ends(&r->links, &r->g);
}

// The file.

/// Extensions that a reader must know to read the file, as the file says. Those of looks do not matter here.
static bool check_extensions(scene_reader *r)
{
    static const char *const harmless[] = {
        "KHR_mesh_quantization", "KHR_materials_", "KHR_texture_",  "EXT_texture_", "KHR_lights_",
        "KHR_animation_",        "KHR_xmp",        "MSFT_texture_", "EXT_lights_"};
    const api_tree *t = &r->g.tree;
    const api_node *required = member(r, t->nodes, "extensionsRequired");
    if (!api_node_is(required, API_NODE_ARRAY)) {
        return true;
    }
    for (const api_node *n = required + 1; n < api_tree_end(t, required); n = api_tree_next(t, n)) {
        char name[64];
        bool known = false;
        api_tree_text(t, n, name, sizeof name);
        for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
            known = known || strncmp(name, harmless[i], strlen(harmless[i])) == 0;
        }
        if (!known) {
            return api_tree_fail(t, n, "is %s, which is not read: export the mesh without it", name);
        }
    }
    return true;
}

static bool check_version(scene_reader *r)
{
    char version[16];
    const api_node *asset = member(r, r->g.tree.nodes, "asset");
    api_tree_text(&r->g.tree, member(r, asset, "version"), version, sizeof version);
    return (version[0] == '2' && version[1] == '.') ||
           api_tree_fail(&r->g.tree, asset, "is of version `%s` of glTF; read is version 2", version);
}

static bool read_file(scene_reader *r)
{
    const api_reading *in = r->reading;
    if (!api_gltf_open(&r->g, in->bytes, in->size, in->problem) || !check_version(r) || !check_extensions(r) ||
        !choose(r)) {
        return false;
    }
    r->visited = calloc(r->g.nodes.count + 1, sizeof *r->visited);
    r->links.array = cJSON_CreateArray();
    if (!r->visited || !r->links.array) {
        return fail_memory(r);
    }
    if (!read_scene(r)) {
        return false;
    }
    if (in->soup->poly_count == 0) {
        return api_tree_fail(&r->g.tree, NULL, "the scene has no triangles%s",
                             r->skipped ? ", only points and lines" : "");
    }
    if (r->left_out > 0) {
        nav_soup_warn(in->soup, "the meshes of nodes called `%.40s` were read, %u others left out: `node` names others",
                      r->wanted, r->left_out);
    }
    if (r->skipped > 0) {
        nav_soup_warn(in->soup, "%u primitives of points or lines were left out", r->skipped);
    }
    return true;
}

bool api_read_gltf(const api_reading *reading)
{
    scene_reader r = {.reading = reading};
    strcpy(reading->soup->format, "gltf");
    bool ok = read_file(&r);
    if (ok && cJSON_GetArraySize(r.links.array) > 0) {
        reading->extra->links = r.links.array;
        r.links.array = NULL;
    }
    if (!ok) {
        nav_soup_deinit(reading->soup);
    }
    cJSON_Delete(r.links.array);
    free(r.visited);
    free(r.path);
    free(r.links.ends);
    api_gltf_close(&r.g);
    return ok;
}
