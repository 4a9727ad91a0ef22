/// A grid's free cells as rectangles that share whole edges.
///
/// Greedy: in reading order, each free cell that no rectangle has yet begins one: as wide as the row allows
/// and then as deep, or the other way round, whichever covers more. A corner of one rectangle in the middle of
/// another's side becomes a corner of both, so no edges meet in part.
#include "nav_grid.h"

#include "read.h"

#include <string.h>

typedef struct rectangle {
    uint32_t x, y, width, height;
} rectangle;

typedef struct gridder {
    const nav_grid *grid;
    nav_soup *soup;
    uint32_t *owner;  ///< [width * height] polygon, NAV_NONE: none
    uint32_t *vertex; ///< [(width + 1) * (height + 1)] vertex at a cell's corner, NAV_NONE: none is needed
    uint32_t polygons;
    nav__list corners, edges; ///< of the polygon being made
} gridder;

static size_t at(const gridder *g, uint32_t x, uint32_t y)
{
    return (size_t)y * g->grid->width + x;
}

/// Can a rectangle of this value take the cells?
static bool is_free(const gridder *g, uint8_t value, rectangle r)
{
    for (uint32_t y = r.y; y < r.y + r.height; y++) {
        for (uint32_t x = r.x; x < r.x + r.width; x++) {
            if (g->grid->cells[at(g, x, y)] != value || g->owner[at(g, x, y)] != NAV_NONE) {
                return false;
            }
        }
    }
    return true;
}

static void widen(const gridder *g, uint8_t value, rectangle *r)
{
    while (r->x + r->width < g->grid->width && is_free(g, value, (rectangle){r->x + r->width, r->y, 1, r->height})) {
        r->width++;
    }
}

static void deepen(const gridder *g, uint8_t value, rectangle *r)
{
    while (r->y + r->height < g->grid->height && is_free(g, value, (rectangle){r->x, r->y + r->height, r->width, 1})) {
        r->height++;
    }
}

static void take_rectangle(gridder *g, uint32_t x, uint32_t y)
{
    uint8_t value = g->grid->cells[at(g, x, y)];
    rectangle wide = {x, y, 1, 1}, deep = wide;
    widen(g, value, &wide);
    deepen(g, value, &wide);
    deepen(g, value, &deep);
    widen(g, value, &deep);
    bool wider = (uint64_t)wide.width * wide.height >= (uint64_t)deep.width * deep.height;
    rectangle r = wider ? wide : deep;
    for (uint32_t j = r.y; j < r.y + r.height; j++) {
        for (uint32_t i = r.x; i < r.x + r.width; i++) {
            g->owner[at(g, i, j)] = g->polygons;
        }
    }
    g->polygons++;
}

/// The rectangle of the cell at (x, y), which may lie beside the grid.
static uint32_t owner_at(const gridder *g, int64_t x, int64_t y)
{
    bool inside = x >= 0 && y >= 0 && x < g->grid->width && y < g->grid->height;
    return inside ? g->owner[at(g, (uint32_t)x, (uint32_t)y)] : NAV_NONE;
}

/// Do the rectangles round a cell's corner need a vertex there? Not where a straight border passes.
static bool needs_vertex(const gridder *g, int64_t x, int64_t y)
{
    uint32_t a = owner_at(g, x - 1, y - 1), b = owner_at(g, x, y - 1);
    uint32_t c = owner_at(g, x - 1, y), d = owner_at(g, x, y);
    return !(a == b && c == d) && !(a == c && b == d);
}

/// Rectangles round a cell's corner.
static uint32_t count_owners(const gridder *g, int64_t x, int64_t y)
{
    const uint32_t round[4] = {owner_at(g, x - 1, y - 1), owner_at(g, x, y - 1), owner_at(g, x, y),
                               owner_at(g, x - 1, y)};
    uint32_t count = 0;
    for (int k = 0; k < 4; k++) { // a rectangle's cells round a point follow each other
        count += round[k] != NAV_NONE && round[k] != round[(k + 3) % 4];
    }
    return count;
}

static nav_status add_vertices(gridder *g)
{
    nav_soup *s = g->soup;
    uint32_t columns = g->grid->width + 1, rows = g->grid->height + 1, count = 0;
    size_t corners = 0;
    for (uint32_t y = 0; y < rows; y++) {
        for (uint32_t x = 0; x < columns; x++) {
            bool needed = needs_vertex(g, x, y);
            g->vertex[(size_t)y * columns + x] = needed ? count++ : NAV_NONE;
            corners += needed ? count_owners(g, x, y) : 0;
        }
    }
    nav_status status = nav_soup_reserve(s, count, g->polygons, corners, true);
    for (uint32_t y = 0; status == NAV_OK && y < rows; y++) {
        for (uint32_t x = 0; status == NAV_OK && x < columns; x++) {
            if (g->vertex[(size_t)y * columns + x] != NAV_NONE) {
                status = nav_soup_add_vertex(s, x * g->grid->step_x, 0, y * g->grid->step_z);
            }
        }
    }
    return status;
}

/// What lies across a side of the cell at (x, y).
static uint32_t edge_towards(const gridder *g, uint32_t x, uint32_t y, int dx, int dy)
{
    uint32_t across = owner_at(g, (int64_t)x + dx, (int64_t)y + dy);
    if (across == NAV_NONE) {
        return NAV_EDGE_WALL;
    }
    uint8_t value = g->grid->cells[at(g, x, y)];
    uint8_t other = g->grid->cells[at(g, (uint32_t)((int64_t)x + dx), (uint32_t)((int64_t)y + dy))];
    bool apart = g->grid->apart && value != other && (value == g->grid->apart || other == g->grid->apart);
    return apart ? NAV_EDGE_WALL : across;
}

/// One side of a rectangle: from the cell corner (x, y), `length` cells in the direction (dx, dy), past the cells
/// that begin at (cell_x, cell_y); what it borders on lies to the left of the direction.
static bool add_side(gridder *g, uint32_t x, uint32_t y, int dx, int dy, uint32_t length, uint32_t cell_x,
                     uint32_t cell_y)
{
    for (uint32_t k = 0; k < length; k++) {
        uint32_t along_x = (uint32_t)((int64_t)x + (int64_t)k * dx), along_y = (uint32_t)((int64_t)y + (int64_t)k * dy);
        uint32_t vertex = g->vertex[(size_t)along_y * (g->grid->width + 1) + along_x];
        if (vertex == NAV_NONE) {
            continue;
        }
        uint32_t i = (uint32_t)((int64_t)cell_x + (int64_t)k * dx), j = (uint32_t)((int64_t)cell_y + (int64_t)k * dy);
        if (!nav__list_push(&g->corners, &g->soup->alloc, vertex) ||
            !nav__list_push(&g->edges, &g->soup->alloc, edge_towards(g, i, j, dy, -dx))) {
            return false;
        }
    }
    return true;
}

static nav_status add_polygon(gridder *g, rectangle r)
{
    uint32_t right = r.x + r.width, bottom = r.y + r.height;
    g->corners.count = g->edges.count = 0;
    if (!add_side(g, r.x, r.y, 1, 0, r.width, r.x, r.y) || !add_side(g, right, r.y, 0, 1, r.height, right - 1, r.y) ||
        !add_side(g, right, bottom, -1, 0, r.width, right - 1, bottom - 1) ||
        !add_side(g, r.x, bottom, 0, -1, r.height, r.x, bottom - 1)) {
        return NAV_NO_MEMORY;
    }
    uint8_t area = (uint8_t)(g->grid->cells[at(g, r.x, r.y)] - 1);
    return nav_soup_add_polygon(g->soup, g->corners.data, g->corners.count, area, 0, g->edges.data);
}

/// The rectangle that begins at (x, y), by its owner's extent.
static rectangle extent(const gridder *g, uint32_t x, uint32_t y)
{
    uint32_t owner = g->owner[at(g, x, y)];
    rectangle r = {x, y, 1, 1};
    while (owner_at(g, (int64_t)r.x + r.width, y) == owner) {
        r.width++;
    }
    while (owner_at(g, x, (int64_t)r.y + r.height) == owner) {
        r.height++;
    }
    return r;
}

static nav_status make_polygons(gridder *g)
{
    nav_status status = NAV_OK;
    for (uint32_t y = 0; y < g->grid->height; y++) {
        for (uint32_t x = 0; x < g->grid->width; x++) {
            if (g->grid->cells[at(g, x, y)] != 0 && g->owner[at(g, x, y)] == NAV_NONE) {
                take_rectangle(g, x, y);
            }
        }
    }
    if (g->polygons > 0) {
        status = add_vertices(g);
    }
    for (uint32_t y = 0; status == NAV_OK && y < g->grid->height; y++) {
        for (uint32_t x = 0; status == NAV_OK && x < g->grid->width; x++) {
            if (g->owner[at(g, x, y)] == g->soup->poly_count) { // numbered in the order of their first cells
                status = add_polygon(g, extent(g, x, y));
            }
        }
    }
    return status;
}

nav_status nav_soup_add_grid(nav_soup *soup, const nav_grid *grid)
{
    gridder g = {.grid = grid, .soup = soup};
    uint64_t cells = (uint64_t)grid->width * grid->height;
    if (grid->width >= INT32_MAX || grid->height >= INT32_MAX || cells > INT32_MAX / 2) {
        return NAV_TOO_LARGE;
    }
    size_t points = ((size_t)grid->width + 1) * ((size_t)grid->height + 1);
    g.owner = soup->alloc.resize(soup->alloc.ctx, NULL, (size_t)cells * sizeof *g.owner + sizeof *g.owner);
    g.vertex = soup->alloc.resize(soup->alloc.ctx, NULL, points * sizeof *g.vertex);
    nav_status status = NAV_NO_MEMORY;
    if (g.owner && g.vertex) {
        memset(g.owner, 0xFF, (size_t)cells * sizeof *g.owner);
        status = make_polygons(&g);
    }
    nav__list_free(&g.corners, &soup->alloc);
    nav__list_free(&g.edges, &soup->alloc);
    for (int k = 0; k < 2; k++) {
        uint32_t *array = k ? g.vertex : g.owner;
        if (array) {
            soup->alloc.resize(soup->alloc.ctx, array, 0);
        }
    }
    return status;
}
