/// Polyanya's `.mesh`, version 2 (the format of the authors of the algorithm): words separated by any
/// white space.
///
///     mesh 2 V P
///     x y n polygon*n             V times; the polygons round a vertex say nothing that the rest does not
///     n vertex*n neighbour*n      P times; -1: wall
///
/// Neighbour i lies across the edge from vertex i - 1 to vertex i; the soup's edge k runs from corner k
/// to corner k + 1, so it takes neighbour k + 1.
#include "nav_number.h"
#include "read.h"

#include <math.h>
#include <string.h>

typedef struct mesh_reader {
    nav_soup *soup;
    nav_error *error;
    nav__text text;
    int64_t vertex_count, polygon_count;
    nav__list corners, edges; ///< of the polygon being read
} mesh_reader;

static bool next_word(nav__text *t)
{
    while (t->p < t->end) {
        if (nav__is_newline(*t->p)) {
            nav__text_newline(t);
        } else if (nav__is_blank(*t->p)) {
            t->p++;
        } else {
            return true;
        }
    }
    return false;
}

static bool word_ends(const nav__text *t)
{
    return t->p == t->end || nav__is_blank(*t->p) || nav__is_newline(*t->p);
}

/// Is the word at the cursor `text`? Steps behind it if so.
static bool take_word(nav__text *t, const char *text)
{
    size_t length = strlen(text);
    if (!next_word(t) || (size_t)(t->end - t->p) < length || memcmp(t->p, text, length) != 0) {
        return false;
    }
    nav__text behind = *t;
    behind.p += length;
    if (!word_ends(&behind)) {
        return false;
    }
    *t = behind;
    return true;
}

static nav_status read_integer(mesh_reader *r, int64_t min, int64_t max, const char *what, int64_t *value)
{
    nav__text *t = &r->text;
    next_word(t);
    const char *word = t->p;
    const char *behind = nav_integer_parse(word, t->end, value);
    if (behind) {
        t->p = behind;
    }
    if (!behind || !word_ends(t)) {
        t->p = word;
        return nav__text_fail(t, r->error, what);
    }
    if (*value < min || *value > max) {
        return nav_fail(r->error, NAV_BAD_FORMAT, t->line, NAV_NO_BYTE, "%s is %lld, outside %lld to %lld", what,
                        (long long)*value, (long long)min, (long long)max);
    }
    return NAV_OK;
}

static nav_status read_coordinate(mesh_reader *r, double *value)
{
    nav__text *t = &r->text;
    next_word(t);
    const char *word = t->p;
    const char *behind = nav_number_parse(word, t->end, value);
    if (behind) {
        t->p = behind;
    }
    if (!behind || !word_ends(t) || !isfinite(*value)) {
        t->p = word;
        return nav__text_fail(t, r->error, "a coordinate");
    }
    return NAV_OK;
}

/// No count of things can exceed the bytes left to say them: two bytes each.
static int64_t most_words(const mesh_reader *r)
{
    return (int64_t)((r->text.end - r->text.p) / 2 + 1);
}

static nav_status read_header(mesh_reader *r)
{
    nav__text *t = &r->text;
    if (take_word(t, "weighted_mesh")) {
        return nav_fail(r->error, NAV_BAD_FORMAT, t->line, NAV_NO_BYTE,
                        "a weighted Polyanya mesh, which this version does not read: only `mesh` version 2");
    }
    if (!take_word(t, "mesh")) {
        return nav_fail(r->error, NAV_UNKNOWN_FORMAT, t->line, NAV_NO_BYTE,
                        "not a Polyanya mesh: it does not begin with the word `mesh`");
    }
    if (take_word(t, "3")) {
        return nav_fail(r->error, NAV_BAD_FORMAT, t->line, NAV_NO_BYTE,
                        "a Polyanya mesh of version 3, which this version does not read: only version 2");
    }
    if (!take_word(t, "2")) {
        return nav__text_fail(t, r->error, "version 2 of the Polyanya mesh format");
    }
    nav_status status = read_integer(r, 3, most_words(r), "the number of vertices", &r->vertex_count);
    return status == NAV_OK ? read_integer(r, 1, most_words(r), "the number of polygons", &r->polygon_count) : status;
}

static nav_status read_vertex(mesh_reader *r)
{
    double x, y;
    int64_t around = 0, polygon;
    nav_status status = read_coordinate(r, &x);
    if (status == NAV_OK) {
        status = read_coordinate(r, &y);
    }
    if (status == NAV_OK) {
        status = read_integer(r, 0, most_words(r), "the number of polygons round a vertex", &around);
    }
    for (int64_t i = 0; status == NAV_OK && i < around; i++) {
        status = read_integer(r, -1, r->polygon_count - 1, "a polygon round a vertex", &polygon);
    }
    return status == NAV_OK ? nav_soup_add_vertex(r->soup, x, 0, y) : status;
}

static nav_status read_polygon(mesh_reader *r)
{
    int64_t count = 0, number = 0;
    nav_status status = read_integer(r, 3, most_words(r) / 2, "the number of corners", &count);
    r->corners.count = r->edges.count = 0;
    for (int64_t i = 0; status == NAV_OK && i < count; i++) {
        status = read_integer(r, 0, r->vertex_count - 1, "the vertex of a corner", &number);
        if (status == NAV_OK && !nav__list_push(&r->corners, &r->soup->alloc, (uint32_t)number)) {
            status = NAV_NO_MEMORY;
        }
    }
    for (int64_t i = 0; status == NAV_OK && i < count; i++) {
        status = read_integer(r, -1, r->polygon_count - 1, "a neighbour", &number);
        uint32_t edge = number < 0 ? NAV_EDGE_WALL : (uint32_t)number;
        if (status == NAV_OK && !nav__list_push(&r->edges, &r->soup->alloc, edge)) {
            status = NAV_NO_MEMORY;
        }
    }
    if (status != NAV_OK) {
        return status;
    }
    uint32_t last = r->edges.data[0]; // see the file's head
    memmove(r->edges.data, r->edges.data + 1, (size_t)(count - 1) * sizeof *r->edges.data);
    r->edges.data[count - 1] = last;
    return nav_soup_add_polygon(r->soup, r->corners.data, (uint32_t)count, 0, 0, r->edges.data);
}

static nav_status read_mesh(mesh_reader *r)
{
    nav_status status = read_header(r);
    for (int64_t i = 0; status == NAV_OK && i < r->vertex_count; i++) {
        status = read_vertex(r);
    }
    for (int64_t i = 0; status == NAV_OK && i < r->polygon_count; i++) {
        status = read_polygon(r);
    }
    if (status == NAV_OK && next_word(&r->text)) {
        status = nav__text_fail(&r->text, r->error, "the end of the file behind the last polygon");
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
    return nav__read_end(soup, status, error);
}
