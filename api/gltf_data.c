/// Where the numbers of a glTF file are: chunks, data: URIs, views, accessors, sparse accessors.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gltf.h"

enum { BYTE = 5120, UNSIGNED_BYTE = 5121, SHORT = 5122, UNSIGNED_SHORT = 5123, UNSIGNED_INT = 5125, FLOAT = 5126 };

#define LONGEST 0xFFFFFFFFu ///< sizes and offsets in a file: larger ones are nonsense

/// Elements of a view, checked to lie within it.
typedef struct elements {
    const uint8_t *bytes; ///< NULL: all zero
    size_t stride;
} elements;

/// What an accessor says of itself.
typedef struct accessor {
    const api_node *node;
    size_t count;
    int type;           ///< BYTE to FLOAT
    size_t width;       ///< numbers of an element
    size_t number_size; ///< bytes of a number
    bool normalized;
} accessor;

static bool fail_memory(api_gltf *g)
{
    api_problem_set(g->tree.problem, API_STORAGE_FULL, "not enough memory to read the mesh");
    return false;
}

// The container.

static uint32_t u32_at(const char *bytes, size_t at)
{
    const uint8_t *p = (const uint8_t *)bytes + at;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/// Finds the chunks of a GLB. @return the JSON's size, 0 with a complaint on failure
static size_t find_chunks(api_gltf *g, const char *bytes, size_t size, api_problem *problem)
{
    if (size < 20 || u32_at(bytes, 4) != 2) {
        api_problem_set(problem, API_BAD_MESH, "%s",
                        size < 20 ? "the GLB ends within its header" : "the GLB is not of version 2: export it anew");
        return 0;
    }
    size_t end = u32_at(bytes, 8), json = u32_at(bytes, 12);
    if (end > size || end < 20 || json > end - 20 || json == 0 || memcmp(bytes + 16, "JSON", 4) != 0) {
        api_problem_set(problem, API_BAD_MESH, "byte 8: the GLB says it has %zu bytes, its JSON %zu; the file has %zu",
                        end, json, size);
        return 0;
    }
    for (size_t at = 20 + json; end - at >= 8;) {
        size_t length = u32_at(bytes, at);
        if (length > end - at - 8) {
            api_problem_set(problem, API_BAD_MESH, "byte %zu: a chunk of %zu bytes where %zu are left", at, length,
                            end - at - 8);
            return 0;
        }
        if (!g->chunk && memcmp(bytes + at + 4, "BIN", 4) == 0) {
            g->chunk = (const uint8_t *)bytes + at + 8;
            g->chunk_size = length;
        }
        at += 8 + length;
    }
    return json;
}

static bool make_table(api_gltf *g, const char *name, api_gltf_table *table)
{
    const api_tree *t = &g->tree;
    table->array = api_tree_member(t, t->nodes, name);
    if (!table->array) {
        return true;
    }
    if (!api_node_is(table->array, API_NODE_ARRAY)) {
        return api_tree_fail(t, table->array, "must be an array");
    }
    table->entries = malloc((table->array->count + 1) * sizeof *table->entries);
    if (!table->entries) {
        return fail_memory(g);
    }
    const api_node *entry = table->array + 1;
    for (; entry < api_tree_end(t, table->array); entry = api_tree_next(t, entry)) {
        table->entries[table->count++] = (uint32_t)(entry - t->nodes);
    }
    return true;
}

bool api_gltf_open(api_gltf *g, const char *bytes, size_t size, api_problem *problem)
{
    *g = (api_gltf){.file_size = size, .tree = {.problem = problem}};
    const char *json = bytes;
    size_t json_size = size;
    if (api_begins_with(bytes, size, "glTF", 4)) {
        json = bytes + 20;
        json_size = find_chunks(g, bytes, size, problem);
        if (json_size == 0) {
            return false;
        }
    }
    if (!api_tree_parse(&g->tree, json, json_size, problem)) {
        return false;
    }
    if (!make_table(g, "nodes", &g->nodes) || !make_table(g, "meshes", &g->meshes) ||
        !make_table(g, "accessors", &g->accessors) || !make_table(g, "bufferViews", &g->views) ||
        !make_table(g, "buffers", &g->buffers)) {
        return false;
    }
    g->loaded = calloc(g->buffers.count + 1, sizeof *g->loaded);
    return g->loaded || fail_memory(g);
}

void api_gltf_close(api_gltf *g)
{
    for (uint32_t i = 0; g->loaded && i < g->buffers.count; i++) {
        free(g->loaded[i].owned);
    }
    api_gltf_table *const tables[] = {&g->nodes, &g->meshes, &g->accessors, &g->views, &g->buffers};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        free(tables[i]->entries);
    }
    free(g->loaded);
    api_tree_deinit(&g->tree);
    *g = (api_gltf){0};
}

const api_node *api_gltf_entry(const api_gltf *g, const api_gltf_table *table, const api_node *index)
{
    uint64_t number;
    if (!api_tree_whole(&g->tree, index, UINT64_MAX, LONGEST, &number)) {
        return NULL;
    }
    if (number >= table->count) {
        api_tree_fail(&g->tree, index, "is %llu, but there are %u", (unsigned long long)number, table->count);
        return NULL;
    }
    return g->tree.nodes + table->entries[number];
}

// Buffers.

static bool load_uri(api_gltf *g, const api_node *uri, api_gltf_buffer *buffer)
{
    size_t length;
    const char *text = api_tree_raw(&g->tree, uri, &length);
    const char *comma = text ? memchr(text, ',', length) : NULL;
    if (!text || length < 5 || memcmp(text, "data:", 5) != 0 || !comma) {
        char name[64];
        return api_tree_fail(&g->tree, uri, "names another file, `%s`: export it as GLB or with its data embedded",
                             api_tree_text(&g->tree, uri, name, sizeof name));
    }
    size_t head = (size_t)(comma - text);
    if (head < 12 || memcmp(comma - 7, ";base64", 7) != 0) {
        return api_tree_fail(&g->tree, uri, "is data in another form than base64");
    }
    buffer->owned = malloc((length - head) / 4 * 3 + 4);
    if (!buffer->owned) {
        return fail_memory(g);
    }
    buffer->bytes = buffer->owned;
    return api_base64_decode(comma + 1, length - head - 1, buffer->owned, &buffer->size) ||
           api_tree_fail(&g->tree, uri, "is not base64");
}

static const api_gltf_buffer *load_buffer(api_gltf *g, const api_node *index)
{
    const api_node *node = api_gltf_entry(g, &g->buffers, index);
    if (!node) {
        return NULL;
    }
    uint64_t number = 0, length;
    api_tree_whole(&g->tree, index, 0, LONGEST, &number);
    api_gltf_buffer *buffer = &g->loaded[number];
    if (buffer->bytes) {
        return buffer;
    }
    const api_node *uri = api_tree_member(&g->tree, node, "uri");
    if (uri && !load_uri(g, uri, buffer)) {
        return NULL;
    }
    if (!uri && number == 0 && g->chunk) {
        buffer->bytes = g->chunk;
        buffer->size = g->chunk_size;
    }
    if (!buffer->bytes) {
        api_tree_fail(&g->tree, node, "has no data: neither a uri nor a binary chunk");
        return NULL;
    }
    if (!api_tree_whole(&g->tree, api_tree_member(&g->tree, node, "byteLength"), UINT64_MAX, LONGEST, &length)) {
        return NULL;
    }
    if (length > buffer->size) {
        api_tree_fail(&g->tree, node, "says that it has %llu bytes and has %zu", (unsigned long long)length,
                      buffer->size);
        return NULL;
    }
    return buffer;
}

/// Finds `count` elements of `size` bytes in a view.
/// @param owner  the accessor, or a part of it: has bufferView and byteOffset
static bool find_elements(api_gltf *g, const api_node *owner, size_t count, size_t size, elements *e)
{
    const api_tree *t = &g->tree;
    const api_node *view = api_gltf_entry(g, &g->views, api_tree_member(t, owner, "bufferView"));
    const api_gltf_buffer *buffer = view ? load_buffer(g, api_tree_member(t, view, "buffer")) : NULL;
    uint64_t begin, length, stride, offset;
    if (!buffer || !api_tree_whole(t, api_tree_member(t, view, "byteOffset"), 0, LONGEST, &begin) ||
        !api_tree_whole(t, api_tree_member(t, view, "byteLength"), UINT64_MAX, LONGEST, &length) ||
        !api_tree_whole(t, api_tree_member(t, view, "byteStride"), size, 65536, &stride) ||
        !api_tree_whole(t, api_tree_member(t, owner, "byteOffset"), 0, LONGEST, &offset)) {
        return false;
    }
    if (begin + length > buffer->size) {
        return api_tree_fail(t, view, "goes on behind the end of its buffer of %zu bytes", buffer->size);
    }
    if (stride < size) {
        return api_tree_fail(t, view, "has a byteStride of %llu for elements of %zu bytes", (unsigned long long)stride,
                             size);
    }
    if (count > 0 && (offset + size > length || (count - 1) > (length - offset - size) / stride)) {
        return api_tree_fail(t, owner, "goes on behind the end of its view: %zu elements of %llu bytes in %llu", count,
                             (unsigned long long)stride, (unsigned long long)length);
    }
    *e = (elements){buffer->bytes + begin + offset, (size_t)stride};
    return true;
}

// Accessors.

static size_t size_of(uint64_t type)
{
    switch (type) {
    case BYTE:
    case UNSIGNED_BYTE:
        return 1;
    case SHORT:
    case UNSIGNED_SHORT:
        return 2;
    case UNSIGNED_INT:
    case FLOAT:
        return 4;
    default:
        return 0;
    }
}

static double read_number(const uint8_t *p, int type, bool normalized)
{
    uint32_t bits = 0;
    float real;
    for (size_t k = 0; k < size_of((uint64_t)type); k++) {
        bits |= (uint32_t)p[k] << 8 * k;
    }
    switch (type) {
    case BYTE:
        return normalized ? fmax((int8_t)bits / 127.0, -1) : (int8_t)bits;
    case UNSIGNED_BYTE:
        return normalized ? bits / 255.0 : bits;
    case SHORT:
        return normalized ? fmax((int16_t)bits / 32767.0, -1) : (int16_t)bits;
    case UNSIGNED_SHORT:
        return normalized ? bits / 65535.0 : bits;
    case FLOAT:
        memcpy(&real, &bits, sizeof real);
        return (double)real;
    default:
        return bits;
    }
}

static bool read_component_type(const api_gltf *g, const api_node *node, int *type)
{
    uint64_t number;
    const api_node *member = api_tree_member(&g->tree, node, "componentType");
    if (!api_tree_whole(&g->tree, member, UINT64_MAX, LONGEST, &number)) {
        return false;
    }
    *type = (int)number;
    return size_of(number) > 0 || api_tree_fail(&g->tree, member, "is no type of glTF");
}

static bool describe(const api_gltf *g, const api_node *index, size_t width, accessor *a)
{
    const api_tree *t = &g->tree;
    uint64_t count;
    *a = (accessor){.node = api_gltf_entry(g, &g->accessors, index), .width = width};
    if (!a->node || !read_component_type(g, a->node, &a->type) ||
        !api_tree_whole(t, api_tree_member(t, a->node, "count"), UINT64_MAX, LONGEST, &count)) {
        return false;
    }
    // Elements need not have bytes of their own, but more than the file has bytes is nonsense.
    if (count > g->file_size) {
        return api_tree_fail(t, a->node, "has %llu elements, more than the file has bytes", (unsigned long long)count);
    }
    a->count = (size_t)count;
    a->number_size = size_of((uint64_t)a->type);
    a->normalized = api_tree_is_true(t, api_tree_member(t, a->node, "normalized"));
    return api_tree_is_text(t, api_tree_member(t, a->node, "type"), width == 3 ? "VEC3" : "SCALAR") ||
           api_tree_fail(t, a->node, "is not of type %s", width == 3 ? "VEC3" : "SCALAR");
}

/// Puts the few elements that a sparse accessor gives singly over those it has from its view.
static bool apply_sparse(api_gltf *g, const accessor *a, const api_node *sparse, double *out)
{
    const api_tree *t = &g->tree;
    const api_node *where = api_tree_member(t, sparse, "indices"), *what = api_tree_member(t, sparse, "values");
    uint64_t count;
    int type;
    elements indices, values;
    if (!api_tree_whole(t, api_tree_member(t, sparse, "count"), UINT64_MAX, a->count, &count) ||
        !read_component_type(g, where, &type)) {
        return false;
    }
    if (type != UNSIGNED_BYTE && type != UNSIGNED_SHORT && type != UNSIGNED_INT) {
        return api_tree_fail(t, where, "must be unsigned integers");
    }
    if (!find_elements(g, where, (size_t)count, size_of((uint64_t)type), &indices) ||
        !find_elements(g, what, (size_t)count, a->width * a->number_size, &values)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        double at = read_number(indices.bytes + i * indices.stride, type, false);
        if (at >= (double)a->count) {
            return api_tree_fail(t, where, "name element %g of %zu", at, a->count);
        }
        for (size_t k = 0; k < a->width; k++) {
            const uint8_t *p = values.bytes + i * values.stride + k * a->number_size;
            out[(size_t)at * a->width + k] = read_number(p, a->type, a->normalized);
        }
    }
    return true;
}

static bool read_accessor(api_gltf *g, const accessor *a, double *out)
{
    const api_tree *t = &g->tree;
    elements from = {0};
    const api_node *sparse = api_tree_member(t, a->node, "sparse");
    bool viewed = api_tree_member(t, a->node, "bufferView") != NULL;
    if (!viewed && !sparse) {
        return api_tree_fail(t, a->node, "has no data (no bufferView): is it compressed?");
    }
    if (viewed && !find_elements(g, a->node, a->count, a->width * a->number_size, &from)) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        for (size_t k = 0; k < a->width; k++) {
            const uint8_t *p = viewed ? from.bytes + i * from.stride + k * a->number_size : NULL;
            out[i * a->width + k] = viewed ? read_number(p, a->type, a->normalized) : 0;
        }
    }
    return !sparse || apply_sparse(g, a, sparse, out);
}

static bool read_values(api_gltf *g, const accessor *a, api_gltf_values *values)
{
    values->count = a->count;
    values->data = malloc((a->count + 1) * a->width * sizeof *values->data);
    return values->data ? read_accessor(g, a, values->data) : fail_memory(g);
}

bool api_gltf_positions(api_gltf *g, const api_node *index, api_gltf_values *values)
{
    accessor a;
    *values = (api_gltf_values){0};
    if (!describe(g, index, 3, &a) || !read_values(g, &a, values)) {
        return false;
    }
    for (size_t i = 0; i < 3 * a.count; i++) {
        if (!isfinite(values->data[i])) {
            return api_tree_fail(&g->tree, a.node, "has no finite position in element %zu", i / 3);
        }
    }
    return true;
}

bool api_gltf_indices(api_gltf *g, const api_node *index, uint32_t limit, api_gltf_values *values)
{
    accessor a;
    *values = (api_gltf_values){0};
    if (!describe(g, index, 1, &a)) {
        return false;
    }
    if (a.type != UNSIGNED_BYTE && a.type != UNSIGNED_SHORT && a.type != UNSIGNED_INT) {
        return api_tree_fail(&g->tree, a.node, "must be of unsigned integers");
    }
    if (!read_values(g, &a, values)) {
        return false;
    }
    for (size_t i = 0; i < a.count; i++) {
        if (values->data[i] >= limit) {
            return api_tree_fail(&g->tree, a.node, "is vertex %.0f in element %zu, but there are %u", values->data[i],
                                 i, limit);
        }
    }
    return true;
}
