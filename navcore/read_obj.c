/// Wavefront OBJ: vertices and faces as polygon soup. Groups, materials, normals and texture coordinates
/// carry nothing that a navigation mesh needs and are stepped over.
#include "nav_number.h"
#include "read.h"

#include <math.h>
#include <string.h>

#define MAX_VERTEX_NUMBERS 7 ///< x y z w, or x y z r g b with an alpha that some exporters add

typedef struct obj_reader {
    nav_soup *soup;
    nav_error *error;
    nav__text text;
    nav__list corners; ///< of the face being read
} obj_reader;

static bool at_newline(const nav__text *t)
{
    return t->p < t->end && nav__is_newline(*t->p);
}

/// A backslash directly before a line end joins the lines.
static bool at_continuation(const nav__text *t)
{
    return t->end - t->p > 1 && *t->p == '\\' && nav__is_newline(t->p[1]);
}

static void skip_line(nav__text *t)
{
    while (t->p < t->end && !nav__is_newline(*t->p)) {
        t->p++;
    }
}

/// Steps over blanks, continued line ends and a comment.
/// @return true when a word follows in this statement
static bool next_word(nav__text *t)
{
    for (;;) {
        while (t->p < t->end && nav__is_blank(*t->p)) {
            t->p++;
        }
        if (at_continuation(t)) {
            t->p++;
            nav__text_newline(t);
        } else if (t->p < t->end && *t->p == '#') {
            skip_line(t);
        } else {
            return t->p < t->end && !at_newline(t);
        }
    }
}

/// Does a word end here?
static bool word_ends(const nav__text *t)
{
    return t->p == t->end || nav__is_blank(*t->p) || nav__is_newline(*t->p) || *t->p == '#' || at_continuation(t);
}

/// Steps over a statement's words, continued lines included.
static void skip_statement(nav__text *t)
{
    while (next_word(t)) {
        while (!word_ends(t)) {
            t->p++;
        }
    }
}

static nav_status read_vertex(obj_reader *r)
{
    nav__text *t = &r->text;
    double v[MAX_VERTEX_NUMBERS];
    size_t count = 0;
    while (next_word(t)) {
        const char *word = t->p;
        if (count == MAX_VERTEX_NUMBERS) {
            return nav__text_fail(t, r->error, "at most seven numbers for a vertex");
        }
        const char *behind = nav_number_parse(word, t->end, &v[count]);
        if (!behind) {
            return nav__text_fail(t, r->error, "a number");
        }
        t->p = behind;
        if (!word_ends(t)) {
            t->p = word;
            return nav__text_fail(t, r->error, "a number");
        }
        if (!isfinite(v[count])) {
            t->p = word;
            return nav__text_fail(t, r->error, "a number within range");
        }
        count++;
    }
    if (count < 3) {
        return nav_fail(r->error, NAV_BAD_FORMAT, t->line, NAV_NO_BYTE, "a vertex with %zu of three coordinates",
                        count);
    }
    return nav_soup_add_vertex(r->soup, v[0], v[1], v[2]);
}

/// One corner: a vertex number, then perhaps `/texture`, `//normal` or `/texture/normal`, which are only
/// checked for their characters. Negative numbers count back from the vertex read last.
static nav_status read_corner(obj_reader *r, uint32_t *vertex)
{
    nav__text *t = &r->text;
    const char *word = t->p;
    int64_t number;
    const char *behind = nav_integer_parse(word, t->end, &number);
    if (!behind) {
        return nav__text_fail(t, r->error, "a vertex number");
    }
    t->p = behind;
    if (!word_ends(t) && *t->p == '/') {
        while (!word_ends(t) && strchr("0123456789-/", *t->p) && *t->p) {
            t->p++;
        }
    }
    if (!word_ends(t)) {
        t->p = word;
        return nav__text_fail(t, r->error, "a corner such as 1, 1/2, 1//3 or 1/2/3");
    }
    int64_t count = r->soup->vertex_count;
    int64_t index = number > 0 ? number - 1 : count + number;
    if (number == 0 || index < 0 || index >= count) {
        return nav_fail(r->error, NAV_BAD_FORMAT, t->line, NAV_NO_BYTE,
                        "vertex number %lld where %lld vertices are defined so far", (long long)number,
                        (long long)count);
    }
    *vertex = (uint32_t)index;
    return NAV_OK;
}

static nav_status read_face(obj_reader *r)
{
    r->corners.count = 0;
    while (next_word(&r->text)) {
        uint32_t vertex = 0;
        nav_status status = read_corner(r, &vertex);
        if (status != NAV_OK) {
            return status;
        }
        if (!nav__list_push(&r->corners, &r->soup->alloc, vertex)) {
            return NAV_NO_MEMORY;
        }
    }
    if (r->corners.count < 3) {
        return nav_fail(r->error, NAV_BAD_FORMAT, r->text.line, NAV_NO_BYTE, "a face with %u corners",
                        (unsigned)r->corners.count);
    }
    return nav_soup_add_polygon(r->soup, r->corners.data, r->corners.count, 0, 0, NULL);
}

static bool word_is(const char *word, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Statements we have no use for are stepped over, those we have never heard of too: the format has been
/// extended by many. A line that begins with no word at all is no OBJ.
static nav_status read_statement(obj_reader *r)
{
    nav__text *t = &r->text;
    const char *word = t->p;
    if (!is_letter(*word)) {
        return nav__text_fail(t, r->error, "a statement such as `v` or `f`");
    }
    while (!word_ends(t)) {
        t->p++;
    }
    size_t length = (size_t)(t->p - word);
    if (word_is(word, length, "v")) {
        return read_vertex(r);
    }
    if (word_is(word, length, "f") || word_is(word, length, "fo")) {
        return read_face(r);
    }
    skip_statement(t);
    return NAV_OK;
}

static nav_status read_statements(obj_reader *r)
{
    nav__text *t = &r->text;
    while (t->p < t->end) {
        if (next_word(t)) {
            nav_status status = read_statement(r);
            if (status != NAV_OK) {
                return status;
            }
        }
        if (at_newline(t)) {
            nav__text_newline(t);
        }
    }
    if (r->soup->poly_count == 0) {
        return nav_fail(r->error, NAV_BAD_FORMAT, 0, NAV_NO_BYTE, "an OBJ with %u vertices and no face",
                        (unsigned)r->soup->vertex_count);
    }
    return NAV_OK;
}

nav_status nav_read_obj(nav_soup *soup, const void *bytes, size_t size, nav_error *error)
{
    obj_reader r = {.soup = soup, .error = error, .text = nav__text_begin(bytes, size)};
    strcpy(soup->format, "obj");
    nav_status status = read_statements(&r);
    nav__list_free(&r.corners, &soup->alloc);
    return nav__read_end(soup, status, error);
}
