/// Tiled maps in JSON (doc.mapeditor.org, JSON Map Format), of the orthogonal kind, by one of two conventions:
///
/// Objects: rectangles and polygons of object layers that are called something with "navmesh" or "walkable", or
/// that have a boolean property `navmesh` or `walkable`, are walkable; an object's property `area` is its area's
/// number. Neighbours need not share whole sides.
///
/// Tiles, where there is no such layer: a cell is blocked when one of its tiles has the property `collides`, or
/// lies on a layer that has it; where tiles or layers have the property `walkable`, only cells with one of those
/// are walked on. The free cells become rectangles.
///
/// `node` of the settings chooses layers by name instead: of objects to walk on, or of tiles that block.
/// Positions are the map's pixels: x to the right, y down.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_tree.h"
#include "mesh_read.h"
#include "nav_grid.h"

#define GID_MASK 0x0FFFFFFFu ///< the rest are flips
#define MOST_DEPTH 16        ///< groups in each other

enum { BLOCKS = 1, CARRIES = 2 }; ///< what tiles and layers say of their cells

/// A tile that says something.
typedef struct tile {
    uint32_t gid, marks;
} tile;

typedef struct tiled {
    const api_reading *reading;
    api_tree tree;
    uint32_t width, height; ///< in tiles
    double tile_width, tile_height;
    tile *tiles; ///< [tile_count] by gid
    size_t tile_count, tile_cap;
    uint8_t *cells; ///< [width * height] marks
    bool any_mark;  ///< some tile or layer says something
    bool any_carrier;
    bool external;    ///< a tileset is in another file
    uint32_t skipped; ///< objects that are neither rectangles nor polygons
    bool found;       ///< a layer that `node` names
} tiled;

static bool fail_memory(const tiled *m)
{
    api_problem_set(m->reading->problem, API_STORAGE_FULL, "not enough memory to read the mesh");
    return false;
}

static const api_node *member(const tiled *m, const api_node *object, const char *name)
{
    return api_tree_member(&m->tree, object, name);
}

static bool check(const tiled *m, nav_status status)
{
    return status == NAV_OK ||
           (status == NAV_TOO_LARGE ? api_tree_fail(&m->tree, NULL, "%s", nav_status_text(status)) : fail_memory(m));
}

// Properties: {"name": value} of old, [{"name", "type", "value"}] since 1.2.

static const api_node *find_property(const tiled *m, const api_node *owner, const char *name)
{
    const api_tree *t = &m->tree;
    const api_node *properties = member(m, owner, "properties");
    if (!api_node_is(properties, API_NODE_ARRAY)) {
        return member(m, properties, name);
    }
    for (const api_node *n = properties + 1; n < api_tree_end(t, properties); n = api_tree_next(t, n)) {
        if (api_tree_is_text(t, member(m, n, "name"), name)) {
            return member(m, n, "value");
        }
    }
    return NULL;
}

static bool is_set(const tiled *m, const api_node *value)
{
    return api_tree_is_true(&m->tree, value) || api_tree_is_text(&m->tree, value, "true");
}

/// What an owner of properties says of its cells. `collides: false` and `walkable: true` are not the same.
static uint32_t marks_of(const tiled *m, const api_node *collides, const api_node *walkable)
{
    return (is_set(m, collides) ? BLOCKS : 0u) | (is_set(m, walkable) ? CARRIES : 0u) |
           (walkable && !is_set(m, walkable) ? BLOCKS : 0u);
}

// Tilesets.

static bool note_tile(tiled *m, uint64_t first, uint64_t id, uint32_t marks)
{
    if (marks == 0 || first + id > GID_MASK) {
        return true;
    }
    if (m->tile_count == m->tile_cap) {
        size_t cap = m->tile_cap ? 2 * m->tile_cap : 64;
        tile *tiles = realloc(m->tiles, cap * sizeof *tiles);
        if (!tiles) {
            return fail_memory(m);
        }
        m->tiles = tiles;
        m->tile_cap = cap;
    }
    m->tiles[m->tile_count++] = (tile){(uint32_t)(first + id), marks};
    return true;
}

/// Tiles as an object by their number, as they were before Tiled 1.2. @return false where one is no number
static bool read_numbered(tiled *m, const api_node *object, uint64_t first)
{
    const api_tree *t = &m->tree;
    if (!api_node_is(object, API_NODE_OBJECT)) {
        return true;
    }
    for (const api_node *n = object + 1; n < api_tree_end(t, object); n = api_tree_next(t, n + 1)) {
        char name[16], *end;
        unsigned long id = strtoul(api_tree_text(t, n, name, sizeof name), &end, 10);
        if (end == name || *end != '\0') {
            return api_tree_fail(t, n, "is no number of a tile");
        }
        if (!note_tile(m, first, id, marks_of(m, member(m, n + 1, "collides"), member(m, n + 1, "walkable")))) {
            return false;
        }
    }
    return true;
}

static bool read_tileset(tiled *m, const api_node *set)
{
    const api_tree *t = &m->tree;
    uint64_t first, id;
    if (!api_tree_whole(t, member(m, set, "firstgid"), UINT64_MAX, GID_MASK, &first)) {
        return false;
    }
    m->external = m->external || member(m, set, "source") != NULL;
    if (!read_numbered(m, member(m, set, "tileproperties"), first)) {
        return false;
    }
    const api_node *tiles = member(m, set, "tiles");
    if (!api_node_is(tiles, API_NODE_ARRAY)) {
        return true;
    }
    for (const api_node *n = tiles + 1; n < api_tree_end(t, tiles); n = api_tree_next(t, n)) {
        uint32_t marks = marks_of(m, find_property(m, n, "collides"), find_property(m, n, "walkable"));
        if (!api_tree_whole(t, member(m, n, "id"), UINT64_MAX, GID_MASK, &id) || !note_tile(m, first, id, marks)) {
            return false;
        }
    }
    return true;
}

static int by_gid(const void *a, const void *b)
{
    const tile *p = a, *q = b;
    return p->gid != q->gid ? (p->gid < q->gid ? -1 : 1) : 0;
}

static bool read_tilesets(tiled *m)
{
    const api_tree *t = &m->tree;
    const api_node *sets = member(m, t->nodes, "tilesets");
    if (!api_node_is(sets, API_NODE_ARRAY)) {
        return true;
    }
    for (const api_node *n = sets + 1; n < api_tree_end(t, sets); n = api_tree_next(t, n)) {
        if (!read_tileset(m, n)) {
            return false;
        }
    }
    if (m->tile_count > 1) {
        qsort(m->tiles, m->tile_count, sizeof *m->tiles, by_gid);
    }
    return true;
}

// Objects.

/// Adds one polygon of an object: its corners turned about the object's place.
typedef struct place {
    double x, y, cosine, sine;
    uint8_t area;
} place;

static bool add_corner(tiled *m, const place *p, double x, double y)
{
    return check(m, nav_soup_add_vertex(m->reading->soup, p->x + x * p->cosine - y * p->sine, 0,
                                        p->y + x * p->sine + y * p->cosine));
}

static bool add_ring(tiled *m, const place *p, uint32_t count)
{
    nav_soup *s = m->reading->soup;
    uint32_t *corners = malloc(count * sizeof *corners);
    if (!corners) {
        return fail_memory(m);
    }
    for (uint32_t k = 0; k < count; k++) {
        corners[k] = s->vertex_count - count + k;
    }
    nav_status status = nav_soup_add_polygon(s, corners, count, p->area, 0, NULL);
    free(corners);
    s->has_areas = s->has_areas || p->area != 0;
    return check(m, status);
}

static bool add_points(tiled *m, const place *p, const api_node *points)
{
    const api_tree *t = &m->tree;
    if (!api_node_is(points, API_NODE_ARRAY) || points->count < 3) {
        return api_tree_fail(t, points, "must be an array of at least three points");
    }
    for (const api_node *n = points + 1; n < api_tree_end(t, points); n = api_tree_next(t, n)) {
        double x, y;
        if (!api_tree_number(t, member(m, n, "x"), NAN, &x) || !api_tree_number(t, member(m, n, "y"), NAN, &y) ||
            !add_corner(m, p, x, y)) {
            return false;
        }
    }
    return add_ring(m, p, points->count);
}

static bool read_object(tiled *m, const api_node *object, double dx, double dy)
{
    static const char *const others[] = {"ellipse", "point", "polyline", "text", "gid", "template"};
    const api_tree *t = &m->tree;
    const double degree = 0.017453292519943295;
    double turn, width, height;
    uint64_t area;
    place p;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (member(m, object, others[i])) {
            m->skipped++;
            return true;
        }
    }
    if (!api_tree_number(t, member(m, object, "x"), NAN, &p.x) ||
        !api_tree_number(t, member(m, object, "y"), NAN, &p.y) ||
        !api_tree_number(t, member(m, object, "rotation"), 0, &turn) ||
        !api_tree_number(t, member(m, object, "width"), 0, &width) ||
        !api_tree_number(t, member(m, object, "height"), 0, &height) ||
        !api_tree_whole(t, find_property(m, object, "area"), 0, 255, &area)) {
        return false;
    }
    p.x += dx;
    p.y += dy;
    p.cosine = turn == 0 ? 1 : cos(turn * degree);
    p.sine = turn == 0 ? 0 : sin(turn * degree);
    p.area = (uint8_t)area;
    const api_node *points = member(m, object, "polygon");
    if (points) {
        return add_points(m, &p, points);
    }
    return add_corner(m, &p, 0, 0) && add_corner(m, &p, width, 0) && add_corner(m, &p, width, height) &&
           add_corner(m, &p, 0, height) && add_ring(m, &p, 4);
}

/// Is this object layer one to walk on?
static bool is_floor(const tiled *m, const api_node *layer)
{
    const char *chosen = m->reading->settings->node;
    char name[API_NAME_MAX + 1];
    api_tree_text(&m->tree, member(m, layer, "name"), name, sizeof name);
    if (chosen) {
        return strcmp(name, chosen) == 0;
    }
    return api_holds_word(name, "navmesh") || api_holds_word(name, "walkable") ||
           is_set(m, find_property(m, layer, "navmesh")) || is_set(m, find_property(m, layer, "walkable"));
}

static bool read_object_layer(tiled *m, const api_node *layer, double dx, double dy)
{
    const api_tree *t = &m->tree;
    const api_node *objects = member(m, layer, "objects");
    if (!is_floor(m, layer)) {
        return true;
    }
    m->found = true;
    if (!api_node_is(objects, API_NODE_ARRAY)) {
        return api_tree_fail(t, objects ? objects : layer, "must have an array of objects");
    }
    for (const api_node *n = objects + 1; n < api_tree_end(t, objects); n = api_tree_next(t, n)) {
        if (!read_object(m, n, dx, dy)) {
            return false;
        }
    }
    return true;
}

// Tiles.

static uint32_t marks_of_gid(const tiled *m, uint32_t gid)
{
    const tile wanted = {gid & GID_MASK, 0};
    const tile *found = m->tile_count ? bsearch(&wanted, m->tiles, m->tile_count, sizeof wanted, by_gid) : NULL;
    return found ? found->marks : 0;
}

static bool mark_cell(tiled *m, size_t at, uint32_t gid, uint32_t layer_marks)
{
    uint32_t marks = (gid & GID_MASK) == 0 ? 0 : marks_of_gid(m, gid) | layer_marks;
    m->cells[at] |= (uint8_t)marks;
    m->any_mark = m->any_mark || marks != 0;
    m->any_carrier = m->any_carrier || (marks & CARRIES);
    return true;
}

static bool read_numbers(tiled *m, const api_node *data, uint32_t layer_marks)
{
    const api_tree *t = &m->tree;
    size_t at = 0, cells = (size_t)m->width * m->height;
    if (data->count != cells) {
        return api_tree_fail(t, data, "has %u cells for a map of %u by %u", (unsigned)data->count, m->width, m->height);
    }
    for (const api_node *n = data + 1; n < api_tree_end(t, data); n = api_tree_next(t, n)) {
        uint64_t gid;
        if (!api_tree_whole(t, n, UINT64_MAX, UINT32_MAX, &gid) || !mark_cell(m, at++, (uint32_t)gid, layer_marks)) {
            return false;
        }
    }
    return true;
}

static bool read_base64(tiled *m, const api_node *data, uint32_t layer_marks)
{
    size_t length, size, cells = (size_t)m->width * m->height;
    const char *text = api_tree_raw(&m->tree, data, &length);
    uint8_t *bytes = malloc(length / 4 * 3 + 4);
    if (!bytes) {
        return fail_memory(m);
    }
    bool ok = api_base64_decode(text, length, bytes, &size) && size == 4 * cells;
    for (size_t i = 0; ok && i < cells; i++) {
        const uint8_t *b = &bytes[4 * i];
        mark_cell(m, i, b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24, layer_marks);
    }
    free(bytes);
    return ok || api_tree_fail(&m->tree, data, "is not the base64 of %zu cells", cells);
}

static bool read_tile_layer(tiled *m, const api_node *layer)
{
    const api_tree *t = &m->tree;
    const char *chosen = m->reading->settings->node;
    const api_node *data = member(m, layer, "data"), *packed = member(m, layer, "compression");
    uint32_t marks = marks_of(m, find_property(m, layer, "collides"), find_property(m, layer, "walkable"));
    if (chosen) {
        if (!api_tree_is_text(t, member(m, layer, "name"), chosen)) {
            return true;
        }
        m->found = true;
        marks |= marks == 0 ? BLOCKS : 0u;
    }
    char method[16];
    api_tree_text(t, packed, method, sizeof method);
    if (method[0]) {
        return api_tree_fail(t, packed, "is %s: save the map with its layers as CSV or plain base64", method);
    }
    if (!data) {
        return api_tree_fail(t, layer, "has no data%s",
                             member(m, layer, "chunks") ? ": the map is infinite, make it finite in Tiled" : "");
    }
    if (api_node_is(data, API_NODE_STRING)) {
        return read_base64(m, data, marks);
    }
    return api_node_is(data, API_NODE_ARRAY) ? read_numbers(m, data, marks)
                                             : api_tree_fail(t, data, "must be an array or base64");
}

// Layers.

/// Reads the object layers or the tile layers, in groups as well.
static bool read_layers(tiled *m, const api_node *owner, bool objects, double dx, double dy, unsigned depth)
{
    const api_tree *t = &m->tree;
    const api_node *layers = member(m, owner, "layers");
    if (!api_node_is(layers, API_NODE_ARRAY) || depth == MOST_DEPTH) {
        return api_tree_fail(t, layers ? layers : owner,
                             depth == MOST_DEPTH ? "is nested too deeply" : "must have an array of layers");
    }
    for (const api_node *n = layers + 1; n < api_tree_end(t, layers); n = api_tree_next(t, n)) {
        double x, y;
        const api_node *type = member(m, n, "type");
        if (!api_tree_number(t, member(m, n, "offsetx"), 0, &x) ||
            !api_tree_number(t, member(m, n, "offsety"), 0, &y)) {
            return false;
        }
        bool ok = true;
        if (api_tree_is_text(t, type, "group")) {
            ok = read_layers(m, n, objects, dx + x, dy + y, depth + 1);
        } else if (objects && api_tree_is_text(t, type, "objectgroup")) {
            ok = read_object_layer(m, n, dx + x, dy + y);
        } else if (!objects && api_tree_is_text(t, type, "tilelayer")) {
            ok = read_tile_layer(m, n);
        }
        if (!ok) {
            return false;
        }
    }
    return true;
}

/// The cells' marks become what a grid has: 1 free, 0 blocked.
static bool add_cells(tiled *m)
{
    nav_soup *s = m->reading->soup;
    size_t cells = (size_t)m->width * m->height;
    for (size_t i = 0; i < cells; i++) {
        bool blocked = (m->cells[i] & BLOCKS) || (m->any_carrier && !(m->cells[i] & CARRIES));
        m->cells[i] = !blocked;
    }
    const nav_grid grid = {m->cells, m->width, m->height, m->tile_width, m->tile_height, 0};
    return check(m, nav_soup_add_grid(s, &grid)) &&
           (s->poly_count > 0 || api_tree_fail(&m->tree, NULL, "the map has no cell that is free"));
}

static bool read_tile_layers(tiled *m)
{
    const api_tree *t = &m->tree;
    size_t cells = (size_t)m->width * m->height; // each is 32 bits at most
    if (cells == 0 || cells > m->reading->size) {
        return api_tree_fail(t, NULL, "a map of %u by %u cells in %zu bytes", m->width, m->height, m->reading->size);
    }
    m->cells = calloc(cells, 1);
    if (!m->cells) {
        return fail_memory(m);
    }
    if (!read_tilesets(m) || !read_layers(m, t->nodes, false, 0, 0, 0)) {
        return false;
    }
    const char *chosen = m->reading->settings->node;
    if (chosen && !m->found) {
        return api_tree_fail(t, NULL, "no layer is called `%.60s`", chosen);
    }
    if (!m->any_mark) {
        return api_tree_fail(t, NULL,
                             "nothing says what can be walked on: no object layer `navmesh`, no tile or layer with a "
                             "property `collides` or `walkable`%s",
                             m->external ? " (tilesets in other files are not read: embed them)" : "");
    }
    return add_cells(m);
}

static bool read_map(tiled *m)
{
    const api_tree *t = &m->tree;
    const api_node *root = t->nodes, *orientation = member(m, root, "orientation");
    uint64_t width, height;
    if (orientation && !api_tree_is_text(t, orientation, "orthogonal")) {
        char name[32];
        return api_tree_fail(t, orientation, "is %s: only orthogonal maps are read",
                             api_tree_text(t, orientation, name, sizeof name));
    }
    if (!api_tree_whole(t, member(m, root, "width"), UINT64_MAX, 1u << 24, &width) ||
        !api_tree_whole(t, member(m, root, "height"), UINT64_MAX, 1u << 24, &height) ||
        !api_tree_number(t, member(m, root, "tilewidth"), NAN, &m->tile_width) ||
        !api_tree_number(t, member(m, root, "tileheight"), NAN, &m->tile_height)) {
        return false;
    }
    if (!(m->tile_width > 0) || !(m->tile_height > 0)) {
        return api_tree_fail(t, NULL, "the map's tiles have no size");
    }
    m->width = (uint32_t)width;
    m->height = (uint32_t)height;
    if (!read_layers(m, root, true, 0, 0, 0)) {
        return false;
    }
    if (m->skipped > 0) {
        nav_soup_warn(m->reading->soup, "%u objects were left out: neither rectangles nor polygons", m->skipped);
    }
    return m->reading->soup->poly_count > 0 || read_tile_layers(m);
}

bool api_read_tiled(const api_reading *reading)
{
    tiled m = {.reading = reading};
    strcpy(reading->soup->format, "tiled");
    reading->soup->dimensions = 2;
    bool ok = api_tree_parse(&m.tree, reading->bytes, reading->size, reading->problem) && read_map(&m);
    api_tree_deinit(&m.tree);
    free(m.tiles);
    free(m.cells);
    if (!ok) {
        nav_soup_deinit(reading->soup);
    }
    return ok;
}
