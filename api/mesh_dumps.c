/// JSON that other programs dump: Recast's polygon mesh (as rerecast and its kin write it), and the areas of a
/// Source 2 navigation file (as awpy writes them).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_tree.h"
#include "mesh_read.h"
#include "nav_area_graph.h"

static bool fail_memory(const api_tree *t)
{
    api_problem_set(t->problem, API_STORAGE_FULL, "not enough memory to read the mesh");
    return false;
}

static bool check(const api_tree *t, nav_status status, const nav_error *error)
{
    if (status == NAV_BAD_FORMAT || status == NAV_TOO_LARGE) {
        return api_tree_fail(t, NULL, "%.200s", error && error->message[0] ? error->message : nav_status_text(status));
    }
    return status == NAV_OK || fail_memory(t);
}

/// An array that must be there.
static const api_node *find_array(const api_tree *t, const api_node *object, const char *name)
{
    const api_node *array = api_tree_member(t, object, name);
    if (!api_node_is(array, API_NODE_ARRAY)) {
        api_tree_fail(t, array ? array : object, array ? "must be an array" : "needs `%s`, an array", name);
        return NULL;
    }
    return array;
}

/// [x, y, z] or {"x", "y", "z"}.
static bool read_position(const api_tree *t, const api_node *node, double v[3])
{
    if (api_node_is(node, API_NODE_ARRAY)) {
        return api_tree_numbers(t, node, 3, v);
    }
    if (!api_node_is(node, API_NODE_OBJECT)) {
        return api_tree_fail(t, node, "must be [x, y, z] or {\"x\", \"y\", \"z\"}");
    }
    static const char *const names[] = {"x", "y", "z"};
    for (int k = 0; k < 3; k++) {
        const api_node *number = api_tree_member(t, node, names[k]);
        if (!number) {
            return api_tree_fail(t, node, "has no %s", names[k]);
        }
        if (!api_tree_number(t, number, NAN, &v[k])) {
            return false;
        }
    }
    return true;
}

// Recast.

/// A mesh of whole numbers in a box: position = min + number * (cell_size, cell_height, cell_size).
typedef struct recast {
    const api_tree *tree;
    nav_soup *soup;
    double min[3], cell[3];
    const api_node *polygons, *areas, *flags;
    uint64_t width; ///< vertices of a polygon at most
} recast;

static bool read_box(recast *r)
{
    const api_tree *t = r->tree;
    const api_node *root = t->nodes, *box = api_tree_member(t, root, "aabb");
    const api_node *min = api_tree_member(t, box, "min");
    if (!min) {
        return api_tree_fail(t, box ? box : root, "has no %s", box ? "min" : "aabb");
    }
    if (!read_position(t, min, r->min) ||
        !api_tree_number(t, api_tree_member(t, root, "cell_size"), NAN, &r->cell[0]) ||
        !api_tree_number(t, api_tree_member(t, root, "cell_height"), NAN, &r->cell[1])) {
        return false;
    }
    r->cell[2] = r->cell[0];
    return true;
}

static bool read_vertices(recast *r)
{
    const api_tree *t = r->tree;
    const api_node *vertices = find_array(t, t->nodes, "vertices");
    if (!vertices || !check(t, nav_soup_reserve(r->soup, vertices->count, 0, 0, false), NULL)) {
        return false;
    }
    for (const api_node *n = vertices + 1; n < api_tree_end(t, vertices); n = api_tree_next(t, n)) {
        double v[3];
        if (!read_position(t, n, v) ||
            !check(t,
                   nav_soup_add_vertex(r->soup, r->min[0] + v[0] * r->cell[0], r->min[1] + v[1] * r->cell[1],
                                       r->min[2] + v[2] * r->cell[2]),
                   NULL)) {
            return false;
        }
    }
    return true;
}

/// One polygon's `width` numbers from `*at` on, the unused ones 65535.
static bool read_polygon(recast *r, const api_node **at, uint8_t area, uint32_t flags)
{
    enum { MOST = 64, EMPTY = 65535 };
    const api_tree *t = r->tree;
    const api_node *first = *at;
    uint32_t corners[MOST], count = 0;
    bool ended = false;
    for (uint64_t k = 0; k < r->width; k++, *at = api_tree_next(t, *at)) {
        uint64_t number;
        if (!api_tree_whole(t, *at, UINT64_MAX, UINT32_MAX, &number)) {
            return false;
        }
        ended = ended || number == EMPTY;
        if (!ended && number >= r->soup->vertex_count) {
            return api_tree_fail(t, *at, "is vertex %llu, but there are %u", (unsigned long long)number,
                                 r->soup->vertex_count);
        }
        if (!ended) {
            corners[count++] = (uint32_t)number;
        }
    }
    if (count < 3) {
        return api_tree_fail(t, first, "begins a polygon of fewer than three corners");
    }
    return check(t, nav_soup_add_polygon(r->soup, corners, count, area, flags, NULL), NULL);
}

/// The number that `*at` stands at, and a step on; `absent` where there is no such list.
static bool next_number(recast *r, const api_node *list, const api_node **at, uint64_t absent, uint64_t max,
                        uint64_t *value)
{
    *value = absent;
    if (!list) {
        return true;
    }
    const api_node *node = *at;
    *at = api_tree_next(r->tree, node);
    return api_tree_whole(r->tree, node, UINT64_MAX, max, value);
}

static bool read_polygons(recast *r)
{
    uint32_t count = r->polygons->count / (uint32_t)r->width, used = 0;
    const api_node *at = r->polygons + 1;
    const api_node *area_at = r->areas ? r->areas + 1 : NULL, *flags_at = r->flags ? r->flags + 1 : NULL;
    for (uint32_t p = 0; p < count; p++) {
        uint64_t area, flags;
        if (!next_number(r, r->areas, &area_at, 0, 255, &area) ||
            !next_number(r, r->flags, &flags_at, 0, UINT32_MAX, &flags) ||
            !read_polygon(r, &at, (uint8_t)area, (uint32_t)flags)) {
            return false;
        }
        used |= (uint32_t)flags;
    }
    r->soup->has_areas = r->areas != NULL;
    r->soup->has_flags = used != 0; // flags that nobody has set say nothing
    return true;
}

static bool read_list(recast *r, const char *name, const api_node **list)
{
    const api_tree *t = r->tree;
    const api_node *node = api_tree_member(t, t->nodes, name);
    uint32_t polygons = r->polygons->count / (uint32_t)r->width;
    if (!node || (api_node_is(node, API_NODE_ARRAY) && node->count == 0)) {
        return true;
    }
    *list = node;
    return (api_node_is(node, API_NODE_ARRAY) && node->count == polygons) ||
           api_tree_fail(t, node, "must be an array of %u numbers, one a polygon", polygons);
}

static bool read_recast(recast *r)
{
    const api_tree *t = r->tree;
    const api_node *width = api_tree_member(t, t->nodes, "max_vertices_per_polygon");
    r->polygons = find_array(t, t->nodes, "polygons");
    if (!r->polygons || !api_tree_whole(t, width, UINT64_MAX, 64, &r->width)) {
        return false;
    }
    if (r->width < 3 || r->polygons->count == 0 || r->polygons->count % r->width != 0) {
        return api_tree_fail(t, r->polygons, "has %u numbers for polygons of %llu each", (unsigned)r->polygons->count,
                             (unsigned long long)r->width);
    }
    return read_box(r) && read_vertices(r) && read_list(r, "areas", &r->areas) && read_list(r, "flags", &r->flags) &&
           read_polygons(r);
}

bool api_read_recast(const api_reading *reading)
{
    api_tree tree;
    recast r = {.tree = &tree, .soup = reading->soup};
    strcpy(reading->soup->format, "recast");
    bool ok = api_tree_parse(&tree, reading->bytes, reading->size, reading->problem) && read_recast(&r);
    api_tree_deinit(&tree);
    if (!ok) {
        nav_soup_deinit(reading->soup);
    }
    return ok;
}

// Areas of Source 2.

typedef struct dump {
    const api_tree *tree;
    const api_node *areas; ///< {id: area}
    double *corners;
    uint32_t *first, *ids;
    uint32_t (*sorted)[2]; ///< id, number
    uint32_t (*connections)[2];
    uint32_t corner_count, connection_count;
} dump;

static int by_id(const void *a, const void *b)
{
    const uint32_t *p = a, *q = b;
    return p[0] != q[0] ? (p[0] < q[0] ? -1 : 1) : (p[1] > q[1]) - (p[1] < q[1]);
}

/// Counts what all areas have, so that lists are made as long as they will be.
static bool count_lists(const dump *d, size_t *corners, size_t *connections)
{
    const api_tree *t = d->tree;
    *corners = *connections = 0;
    for (const api_node *n = d->areas + 1; n < api_tree_end(t, d->areas); n = api_tree_next(t, n + 1)) {
        const api_node *ring = find_array(t, n + 1, "corners"), *leads = api_tree_member(t, n + 1, "connections");
        if (!ring) {
            return false;
        }
        if (ring->count < 3) {
            return api_tree_fail(t, ring, "has fewer than three corners");
        }
        if (leads && !api_node_is(leads, API_NODE_ARRAY)) {
            return api_tree_fail(t, leads, "must be an array");
        }
        *corners += ring->count;
        *connections += leads ? leads->count : 0;
    }
    return true;
}

static bool take_lists(dump *d, size_t corners, size_t connections)
{
    size_t areas = d->areas->count;
    d->corners = malloc((corners + 1) * 3 * sizeof *d->corners);
    d->first = malloc((areas + 1) * sizeof *d->first);
    d->ids = malloc((areas + 1) * sizeof *d->ids);
    d->sorted = malloc((areas + 1) * sizeof *d->sorted);
    d->connections = malloc((connections + 1) * sizeof *d->connections);
    return (d->corners && d->first && d->ids && d->sorted && d->connections) || fail_memory(d->tree);
}

static bool read_area(dump *d, const api_node *area, uint32_t number)
{
    const api_tree *t = d->tree;
    uint64_t id;
    const api_node *ring = api_tree_member(t, area, "corners");
    if (!api_tree_whole(t, api_tree_member(t, area, "area_id"), number, UINT32_MAX, &id)) {
        return false;
    }
    d->ids[number] = d->sorted[number][0] = (uint32_t)id;
    d->sorted[number][1] = number;
    d->first[number] = d->corner_count;
    for (const api_node *n = ring + 1; n < api_tree_end(t, ring); n = api_tree_next(t, n)) {
        double v[3];
        if (!read_position(t, n, v)) {
            return false;
        }
        memcpy(&d->corners[3 * (size_t)d->corner_count++], v, sizeof v);
    }
    d->first[number + 1] = d->corner_count;
    return true;
}

static bool read_connections(dump *d, const api_node *area, uint32_t number, uint32_t *lost)
{
    const api_tree *t = d->tree;
    const api_node *leads = api_tree_member(t, area, "connections");
    for (const api_node *n = leads ? leads + 1 : NULL; n && n < api_tree_end(t, leads); n = api_tree_next(t, n)) {
        uint64_t id;
        if (!api_tree_whole(t, n, UINT64_MAX, UINT32_MAX, &id)) {
            return false;
        }
        uint32_t low = 0, high = d->areas->count;
        while (low < high) {
            uint32_t mid = low + (high - low) / 2;
            if (d->sorted[mid][0] < id) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        if (low == d->areas->count || d->sorted[low][0] != id) {
            ++*lost;
            continue;
        }
        d->connections[d->connection_count][0] = number;
        d->connections[d->connection_count++][1] = d->sorted[low][1];
    }
    return true;
}

static bool read_dump(dump *d, const api_reading *reading)
{
    const api_tree *t = d->tree;
    size_t corners, connections;
    uint32_t number = 0, lost = 0;
    d->areas = api_tree_member(t, t->nodes, "areas");
    if (!api_node_is(d->areas, API_NODE_OBJECT) || d->areas->count == 0) {
        return api_tree_fail(t, d->areas, "must be an object of areas");
    }
    if (!count_lists(d, &corners, &connections) || !take_lists(d, corners, connections)) {
        return false;
    }
    for (const api_node *n = d->areas + 1; n < api_tree_end(t, d->areas); n = api_tree_next(t, n + 1)) {
        if (!read_area(d, n + 1, number++)) {
            return false;
        }
    }
    qsort(d->sorted, number, sizeof *d->sorted, by_id);
    number = 0;
    for (const api_node *n = d->areas + 1; n < api_tree_end(t, d->areas); n = api_tree_next(t, n + 1)) {
        if (!read_connections(d, n + 1, number++, &lost)) {
            return false;
        }
    }
    nav_soup *s = reading->soup;
    nav_area_graph graph = {.corners = d->corners,
                            .z_up = true,
                            .first = d->first,
                            .ids = d->ids,
                            .count = number,
                            .connections = d->connections,
                            .connection_count = d->connection_count,
                            .most_links = (uint32_t)(reading->size / 24) + 64};
    nav_error error = {0};
    if (!check(t, nav_soup_add_areas(s, &graph, &error), &error)) {
        return false;
    }
    if (lost > 0) {
        nav_soup_warn(s, "%u connections lead to areas that the file does not have", lost);
    }
    return true;
}

bool api_read_awpy(const api_reading *reading)
{
    api_tree tree;
    dump d = {.tree = &tree};
    nav_soup *s = reading->soup;
    strcpy(s->format, "awpy");
    s->agent = (nav_agent){.radius = 16, .height = 72, .climb = 18, .slope = 45}; // in inches, as Source has it
    s->has_agent = true;
    reading->extra->up = 'z';
    bool ok = api_tree_parse(&tree, reading->bytes, reading->size, reading->problem) && read_dump(&d, reading);
    api_tree_deinit(&tree);
    free(d.corners);
    free(d.first);
    free(d.ids);
    free(d.sorted);
    free(d.connections);
    if (!ok) {
        nav_soup_deinit(s);
        reading->extra->up = 0;
    }
    return ok;
}
