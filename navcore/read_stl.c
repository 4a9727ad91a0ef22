/// STL, text and binary: triangles one by one, each with its own three corners, which building welds.
///
///     binary   80 bytes of anything, u32 count, then each: f32 normal[3], corner[3][3], u16 nothing
///     text     solid name / facet normal x y z / outer loop / vertex x y z, three times / endloop /
///              endfacet … endsolid name
///
/// Little-endian. Binary files may begin with the word "solid" too: their size tells them.
#include "read.h"
#include "read_bytes.h"

#include <math.h>
#include <string.h>

#define HEAD_SIZE 84u
#define FACET_SIZE 50u

typedef struct stl_reader {
    nav_soup *soup;
    nav_error *error;
    nav__text text;
} stl_reader;

bool nav_stl_is_binary(const void *bytes, size_t size)
{
    if (size < HEAD_SIZE + FACET_SIZE || (size - HEAD_SIZE) % FACET_SIZE != 0) {
        return false;
    }
    nav__bytes b = nav__bytes_begin(bytes, size);
    b.p += HEAD_SIZE - 4;
    return nav__bytes_u32(&b) == (size - HEAD_SIZE) / FACET_SIZE;
}

static nav_status add_triangle(nav_soup *soup)
{
    uint32_t last = soup->vertex_count;
    const uint32_t corners[3] = {last - 3, last - 2, last - 1};
    return nav_soup_add_polygon(soup, corners, 3, 0, 0, NULL);
}

static nav_status read_binary(stl_reader *r, const void *bytes, size_t size)
{
    nav__bytes b = nav__bytes_begin(bytes, size);
    size_t count = (size - HEAD_SIZE) / FACET_SIZE;
    b.p += HEAD_SIZE;
    nav_status status = nav_soup_reserve(r->soup, 3 * count, count, 3 * count, false);
    for (size_t i = 0; status == NAV_OK && i < count; i++) {
        b.p += 12;
        for (int k = 0; status == NAV_OK && k < 3; k++) {
            size_t at = nav__bytes_at(&b);
            double x = nav__bytes_f32(&b), y = nav__bytes_f32(&b), z = nav__bytes_f32(&b);
            if (!isfinite(x) || !isfinite(y) || !isfinite(z)) {
                return nav_fail(r->error, NAV_BAD_FORMAT, 0, at, "corner %d of triangle %zu is no finite position", k,
                                i);
            }
            status = nav_soup_add_vertex(r->soup, x, y, z);
        }
        b.p += 2;
        if (status == NAV_OK) {
            status = add_triangle(r->soup);
        }
    }
    return status;
}

static nav_status expect(stl_reader *r, const char *word)
{
    return nav__text_take_word(&r->text, word) ? NAV_OK : nav__text_fail(&r->text, r->error, word);
}

static void skip_line(nav__text *t)
{
    while (t->p < t->end && !nav__is_newline(*t->p)) {
        t->p++;
    }
}

/// What follows the word "facet".
static nav_status read_facet(stl_reader *r)
{
    skip_line(&r->text); // normals are worked out from the corners, and are not seldom nonsense
    nav_status status = expect(r, "outer");
    if (status == NAV_OK) {
        status = expect(r, "loop");
    }
    for (int k = 0; status == NAV_OK && k < 3; k++) {
        double v[3];
        status = expect(r, "vertex");
        for (int i = 0; status == NAV_OK && i < 3; i++) {
            status = nav__text_number(&r->text, r->error, "a coordinate", &v[i]);
        }
        if (status == NAV_OK) {
            status = nav_soup_add_vertex(r->soup, v[0], v[1], v[2]);
        }
    }
    if (status == NAV_OK) {
        status = add_triangle(r->soup);
    }
    if (status == NAV_OK) {
        status = expect(r, "endloop");
    }
    return status == NAV_OK ? expect(r, "endfacet") : status;
}

/// Solids one after the other, each ended by its word.
static nav_status read_text(stl_reader *r)
{
    nav__text *t = &r->text;
    while (nav__text_next_word(t)) {
        if (!nav__text_take_word(t, "solid")) {
            return r->soup->poly_count == 0
                       ? nav_fail(r->error, NAV_UNKNOWN_FORMAT, t->line, NAV_NO_BYTE,
                                  "no STL: neither the word `solid` nor as many triangles as it says")
                       : nav__text_fail(t, r->error, "`solid` or the end of the file");
        }
        skip_line(t);
        while (nav__text_take_word(t, "facet")) {
            nav_status status = read_facet(r);
            if (status != NAV_OK) {
                return status;
            }
        }
        if (!nav__text_take_word(t, "endsolid")) {
            return nav__text_fail(t, r->error, "`facet` or `endsolid`");
        }
        skip_line(t);
    }
    return r->soup->poly_count > 0 ? NAV_OK : nav_fail(r->error, NAV_BAD_FORMAT, 0, NAV_NO_BYTE, "an STL of nothing");
}

nav_status nav_read_stl(nav_soup *soup, const void *bytes, size_t size, nav_error *error)
{
    stl_reader r = {.soup = soup, .error = error, .text = nav__text_begin(bytes, size)};
    strcpy(soup->format, "stl");
    nav_status status = nav_stl_is_binary(bytes, size) ? read_binary(&r, bytes, size) : read_text(&r);
    return nav__read_end(soup, status, error);
}
