/// Polyanya's `.mesh` (the format of the authors of the algorithm): words separated by any white space.
///
///     mesh 2 V P                  or weighted_mesh 2 V P
///     x y n polygon*n             V times; the polygons round a vertex say nothing that the rest does not
///     n vertex*n neighbour*n      P times; -1: wall. Weighted: one more number, the cost
///
///     mesh 3 V P
///     x y                                      V times
///     traversable n vertex*n neighbour*n       P times; vertices and neighbours count from 1: k open,
///                                              -k closed, 0: the outside
///
/// Neighbour i lies across the edge from vertex i - 1 to vertex i; the soup's edge k runs from corner k
/// to corner k + 1, so it takes neighbour k + 1. A cost becomes the area's number.
#include "nav_number.h"
#include "read.h"

#include <string.h>

typedef struct mesh_reader {
    nav_soup *soup;
    nav_error *error;
    nav__text text;
    int64_t vertex_count, polygon_count;
    bool weighted;
    int version;
    nav__list corners, edges; ///< of the polygon being read
    nav__list closed;         ///< [polygon_count] of version 3: is this polygon not traversable?
} mesh_reader;

static nav_status read_integer(mesh_reader *r, int64_t min, int64_t max, const char *what, int64_t *value)
{
    return nav__text_integer(&r->text, r->error, min, max, what, value);
}

static nav_status read_header(mesh_reader *r)
{
    nav__text *t = &r->text;
    r->weighted = nav__text_take_word(t, "weighted_mesh");
    if (!r->weighted && !nav__text_take_word(t, "mesh")) {
        return nav_fail(r->error, NAV_UNKNOWN_FORMAT, t->line, NAV_NO_BYTE,
                        "not a Polyanya mesh: it does not begin with the word `mesh`");
    }
    r->version = nav__text_take_word(t, "2") ? 2 : nav__text_take_word(t, "3") ? 3 : 0;
    if (r->version == 0 || (r->weighted && r->version == 3)) {
        return nav__text_fail(t, r->error, "version 2 or 3 of the Polyanya mesh format (2, where it is weighted)");
    }
    nav_status status = read_integer(r, 3, nav__text_most_words(t), "the number of vertices", &r->vertex_count);
    return status == NAV_OK ? read_integer(r, 1, nav__text_most_words(t), "the number of polygons", &r->polygon_count)
                            : status;
}

static nav_status read_vertex(mesh_reader *r)
{
    double x, y;
    int64_t around = 0, polygon;
    nav_status status = nav__text_number(&r->text, r->error, "a coordinate", &x);
    if (status == NAV_OK) {
        status = nav__text_number(&r->text, r->error, "a coordinate", &y);
    }
    if (status == NAV_OK && r->version == 2) {
        int64_t most = nav__text_most_words(&r->text);
        status = read_integer(r, 0, most, "the number of polygons round a vertex", &around);
    }
    for (int64_t i = 0; status == NAV_OK && i < around; i++) {
        status = read_integer(r, -1, r->polygon_count - 1, "a polygon round a vertex", &polygon);
    }
    return status == NAV_OK ? nav_soup_add_vertex(r->soup, x, 0, y) : status;
}

/// Weighted meshes in circulation have a number too many at the end of the last vertex's line, a cost without a
/// polygon. Steps over it.
static void skip_stray_cost(mesh_reader *r)
{
    nav__text t = r->text;
    while (t.p < t.end && nav__is_blank(*t.p)) {
        t.p++;
    }
    int64_t number;
    const char *behind = nav_integer_parse(t.p, t.end, &number);
    while (behind && behind < t.end && nav__is_blank(*behind)) {
        behind++;
    }
    if (behind && behind < t.end && nav__is_newline(*behind)) {
        nav_soup_warn(r->soup, "line %zu: a number too many behind the last vertex was passed over", t.line);
        r->text.p = behind;
    }
}

/// A neighbour as an edge of the soup.
static nav_status read_neighbour(mesh_reader *r, uint32_t *edge)
{
    int64_t number = 0;
    bool third = r->version == 3;
    nav_status status =
        read_integer(r, third ? -r->polygon_count : -1, r->polygon_count - !third, "a neighbour", &number);
    bool open = third ? number > 0 : number >= 0;
    *edge = open ? (uint32_t)(number - third) : NAV_EDGE_WALL;
    return status;
}

static nav_status read_cost(mesh_reader *r, uint8_t *area)
{
    int64_t cost = 0;
    nav_status status = read_integer(r, 1, 255, "the cost of a polygon", &cost);
    *area = (uint8_t)cost;
    return status;
}

static nav_status read_polygon(mesh_reader *r)
{
    int64_t count = 0, number = 0, traversable = 1, base = r->version == 3;
    uint8_t area = 0;
    nav_status status = base ? read_integer(r, 0, 1, "a polygon's mark 0 or 1", &traversable) : NAV_OK;
    if (status == NAV_OK) {
        status = read_integer(r, 3, nav__text_most_words(&r->text) / 2, "the number of corners", &count);
    }
    r->corners.count = r->edges.count = 0;
    for (int64_t i = 0; status == NAV_OK && i < count; i++) {
        status = read_integer(r, base, r->vertex_count - 1 + base, "the vertex of a corner", &number);
        if (status == NAV_OK && !nav__list_push(&r->corners, &r->soup->alloc, (uint32_t)(number - base))) {
            status = NAV_NO_MEMORY;
        }
    }
    for (int64_t i = 0; status == NAV_OK && i < count; i++) {
        uint32_t edge = NAV_EDGE_WALL;
        status = read_neighbour(r, &edge);
        if (status == NAV_OK && !nav__list_push(&r->edges, &r->soup->alloc, edge)) {
            status = NAV_NO_MEMORY;
        }
    }
    if (status == NAV_OK && r->weighted) {
        status = read_cost(r, &area);
    }
    if (status == NAV_OK && base && !nav__list_push(&r->closed, &r->soup->alloc, traversable == 0)) {
        status = NAV_NO_MEMORY;
    }
    if (status != NAV_OK) {
        return status;
    }
    uint32_t last = r->edges.data[0]; // see the file's head
    memmove(r->edges.data, r->edges.data + 1, (size_t)(count - 1) * sizeof *r->edges.data);
    r->edges.data[count - 1] = last;
    return nav_soup_add_polygon(r->soup, r->corners.data, (uint32_t)count, area, 0, r->edges.data);
}

/// Polygons that cannot be walked on keep their number and lose their surface: all corners become one, which
/// building drops.
static void drop_closed(mesh_reader *r)
{
    nav_soup *s = r->soup;
    for (uint32_t p = 0; p < r->closed.count; p++) {
        for (uint32_t k = s->poly_first[p]; r->closed.data[p] && k < s->poly_first[p + 1]; k++) {
            s->corners[k] = s->corners[s->poly_first[p]];
        }
    }
    for (uint32_t k = 0; r->closed.count > 0 && k < s->corner_count; k++) {
        if (s->edges[k] < s->poly_count && r->closed.data[s->edges[k]]) {
            s->edges[k] = NAV_EDGE_WALL; // a door into nothing
        }
    }
}

static nav_status read_mesh(mesh_reader *r)
{
    nav_status status = read_header(r);
    for (int64_t i = 0; status == NAV_OK && i < r->vertex_count; i++) {
        status = read_vertex(r);
    }
    if (status == NAV_OK && r->weighted) {
        skip_stray_cost(r);
    }
    for (int64_t i = 0; status == NAV_OK && i < r->polygon_count; i++) {
        status = read_polygon(r);
    }
    if (status == NAV_OK && nav__text_next_word(&r->text)) {
        status = nav__text_fail(&r->text, r->error, "the end of the file behind the last polygon");
    }
    if (status == NAV_OK) {
        r->soup->has_areas = r->soup->areas_are_costs = r->weighted;
        drop_closed(r);
    }
    return status;
}

nav_status nav_read_polyanya(nav_soup *soup, const void *bytes, size_t size, nav_error *error)
{
    mesh_reader r = {.soup = soup, .error = error, .text = nav__text_begin(bytes, size)};
    strcpy(soup->format, "polyanya");
    soup->dimensions = 2;
    nav_status status = read_mesh(&r);
    nav__list_free(&r.corners, &soup->alloc);
    nav__list_free(&r.edges, &soup->alloc);
    nav__list_free(&r.closed, &soup->alloc);
    return nav__read_end(soup, status, error);
}
