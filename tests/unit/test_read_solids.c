/// PLY and STL, text and binary.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "read_check.h"

/// Two triangles and a quad of 2 by 2 with an area and flags each, other properties all around.
static const char ply_text[] = "ply\r\nformat ascii 1.0\r\ncomment element vertex 9\r\n"
                               "element vertex 6\r\nproperty float nx\r\nproperty double x\r\nproperty float y\r\n"
                               "property float z\r\nproperty uchar red\r\n"
                               "element edge 1\r\nproperty int a\r\nproperty list uchar int some\r\n"
                               "element face 3\r\nproperty uchar area\r\nproperty list uchar int vertex_indices\r\n"
                               "property list uchar float texcoord\r\nproperty uint flags\r\nend_header\r\n"
                               "nan 0 1 0 255\r\n1 0 1 2 9\r\n1 2 1 2 9\r\n1 2 1 0 9\r\n1 4 1 0 9\r\n1 4 1.5 2 9\r\n"
                               "7 2 1 2\r\n"
                               "0 3 0 1 2 0 1\r\n3 3 0 2 3 2 0.5 0.25 4294967295\r\n255 4 3 2 5 4 0 0\r\n";

static void check_ply(const nav_soup *s)
{
    assert_string_equal(s->format, "ply");
    assert_int_equal(s->vertex_count, 6);
    assert_int_equal(s->poly_count, 3);
    read_check_polygon(s, 0, 3, (const uint32_t[]){0, 1, 2});
    read_check_polygon(s, 2, 4, (const uint32_t[]){3, 2, 5, 4});
    assert_true(s->vertices[15] == 4 && s->vertices[16] == 1.5 && s->vertices[17] == 2);
    assert_true(s->has_areas && s->has_flags);
    assert_true(s->areas[1] == 3 && s->areas[2] == 255 && s->flags[0] == 1 && s->flags[1] == UINT32_MAX);
    assert_true(read_check_area(s) == 8);
}

/// A writer of binary numbers in either order.
typedef struct writer {
    unsigned char bytes[2048];
    size_t size;
    bool big;
} writer;

static void put(writer *w, uint64_t value, size_t size)
{
    for (size_t k = 0; k < size; k++) {
        w->bytes[w->size++] = (unsigned char)(value >> 8 * (w->big ? size - 1 - k : k));
    }
}

static void put_float(writer *w, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(w, bits, 4);
}

static void put_double(writer *w, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(w, bits, 8);
}

/// The same file as ply_text.
static void write_ply(writer *w, bool big)
{
    static const double positions[6][3] = {{0, 1, 0}, {0, 1, 2}, {2, 1, 2}, {2, 1, 0}, {4, 1, 0}, {4, 1.5, 2}};
    static const int faces[3][5] = {{3, 0, 1, 2}, {3, 0, 2, 3}, {4, 3, 2, 5, 4}};
    *w = (writer){.big = big};
    w->size = (size_t)sprintf((char *)w->bytes,
                              "ply\nformat binary_%s_endian 1.0\nelement vertex 6\nproperty float nx\n"
                              "property double x\nproperty float y\nproperty float32 z\nproperty uint8 red\n"
                              "element edge 1\nproperty int a\nproperty list uchar int some\n"
                              "element face 3\nproperty uchar area\nproperty list ushort short vertex_index\n"
                              "property list uchar float texcoord\nproperty uint flags\nend_header\n",
                              big ? "big" : "little");
    for (int i = 0; i < 6; i++) {
        put_float(w, 1);
        put_double(w, positions[i][0]);
        put_float(w, (float)positions[i][1]);
        put_float(w, (float)positions[i][2]);
        put(w, 9, 1);
    }
    put(w, 7, 4);
    put(w, 1, 1);
    put(w, 2, 4);
    for (int i = 0; i < 3; i++) {
        put(w, (const uint64_t[]){0, 3, 255}[i], 1);
        put(w, (uint64_t)faces[i][0], 2);
        for (int k = 0; k < faces[i][0]; k++) {
            put(w, (uint64_t)faces[i][k + 1], 2);
        }
        put(w, i == 1, 1);
        for (int k = 0; i == 1 && k < 1; k++) {
            put_float(w, 0.5f);
        }
        put(w, (const uint64_t[]){1, UINT32_MAX, 0}[i], 4);
    }
}

static void test_ply(void **state)
{
    (void)state;
    nav_soup soup;
    nav_error error;
    assert_int_equal(read_check_text(nav_read_ply, &soup, ply_text, &error), NAV_OK);
    check_ply(&soup);
    nav_soup_deinit(&soup);
    for (int big = 0; big < 2; big++) {
        writer w;
        write_ply(&w, big);
        nav_soup_init(&soup, NULL);
        assert_int_equal(nav_read_ply(&soup, w.bytes, w.size, &error), NAV_OK);
        check_ply(&soup);
        nav_soup_deinit(&soup);
        assert_int_equal(read_check_mangled(nav_read_ply, w.bytes, w.size, 20000), 0);
    }
    assert_int_equal(read_check_mangled(nav_read_ply, ply_text, strlen(ply_text) - 3, 20000), 0);
    read_check_memory(nav_read_ply, ply_text, strlen(ply_text));
}

#define PLY_HEAD "ply\nformat ascii 1.0\n"
#define PLY_XYZ "element vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
#define PLY_FACE "element face 1\nproperty list uchar int vertex_indices\nend_header\n"

static void test_ply_complaints(void **state)
{
    (void)state;
    static const read_complaint cases[] = {
        {"", "does not begin with `ply`"},
        {"ply\nelement vertex 1\n", "line 2: expected `format`, found `element`"},
        {"ply\nformat ascii 2.0\n", "line 2: expected version 1.0"},
        {"ply\nformat binary 1.0\n", "line 2: expected `ascii`, `binary_little_endian`"},
        {PLY_HEAD "property float x\n", "line 3: expected an element before its properties"},
        {PLY_HEAD "element vertex -1\n", "line 3: the number of elements is -1"},
        {PLY_HEAD "element vertex 2147483648\n", "the number of elements is 2147483648"},
        {PLY_HEAD "element vertex 3\nproperty half x\n", "line 4: expected a type such as `float`, found `half`"},
        {PLY_HEAD "element vertex 3\nproperty float x\nproperty float x\n", "a second property"},
        {PLY_HEAD PLY_XYZ "element vertex 3\n", "a second element"},
        {PLY_HEAD PLY_XYZ "element tristrips 1\n", "triangle strips"},
        {PLY_HEAD "element face 1\nproperty list float int vertex_indices\n", "must be of a whole type"},
        {PLY_HEAD "element vertex 3\nproperty float x\nproperty float z\n" PLY_FACE, "no vertices with x, y and z"},
        {PLY_HEAD PLY_XYZ "end_header\n0 0 0 0 0 1 1 0 0\n", "no faces with a list"},
        {PLY_HEAD "element vertex 99\nproperty float x\nproperty float y\nproperty float z\n" PLY_FACE "0 0 0\n",
         "too short for 99 vertices"},
        {PLY_HEAD PLY_XYZ PLY_FACE "0 0 nan 0 0 1 1 0 0\n3 0 1 2\n", "expected a number, found `nan`"},
        {PLY_HEAD PLY_XYZ PLY_FACE "0 0 0 0 0 1 1 0 0\n3 0 1 3\n", "element 0: a corner is no vertex"},
        {PLY_HEAD PLY_XYZ PLY_FACE "0 0 0 0 0 1 1 0 0\n3 0 1 -1\n", "element 0: a corner is no vertex"},
        {PLY_HEAD PLY_XYZ PLY_FACE "0 0 0 0 0 1 1 0 0\n2 0 1\n", "fewer than three corners"},
        {PLY_HEAD PLY_XYZ PLY_FACE "0 0 0 0 0 1 1 0 0\n4294967295 0 1\n", "length of a list"},
        {PLY_HEAD PLY_XYZ PLY_FACE "0 0 0 0 0 1 1 0 0\n3 0 1 2 5\n", "more data behind the last element"},
    };
    read_check_complaints(nav_read_ply, cases, sizeof cases / sizeof *cases);
}

static const char stl_text[] = "solid a thing\r\n facet normal 0 nan 0\r\n  outer loop\r\n"
                               "   vertex 0 0 0\r\n   vertex 0 0 2\r\n   vertex 2 0 0\r\n  endloop\r\n endfacet\r\n"
                               "endsolid a thing\r\nsolid\r\nfacet normal 0 1 0 outer\nouter loop vertex 2 0 0 vertex "
                               "0 0 2 vertex 2 1e-1 2 endloop endfacet\nendsolid";

static void write_stl(writer *w)
{
    static const float corners[6][3] = {{0, 0, 0}, {0, 0, 2}, {2, 0, 0}, {2, 0, 0}, {0, 0, 2}, {2, 0.1f, 2}};
    *w = (writer){.size = 80};
    memcpy(w->bytes, "solid but binary", 16);
    put(w, 2, 4);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 3 && i % 3 == 0; k++) {
            put_float(w, 0);
        }
        for (int k = 0; k < 3; k++) {
            put_float(w, corners[i][k]);
        }
        if (i % 3 == 2) {
            put(w, 0xFFFF, 2);
        }
    }
}

static void check_stl(const nav_soup *s)
{
    assert_string_equal(s->format, "stl");
    assert_int_equal(s->vertex_count, 6);
    assert_int_equal(s->poly_count, 2);
    read_check_polygon(s, 1, 3, (const uint32_t[]){3, 4, 5});
    assert_true(s->vertices[15] == 2 && s->vertices[17] == 2);
    assert_true(read_check_area(s) == 4);
}

static void test_stl(void **state)
{
    (void)state;
    nav_soup soup;
    nav_error error;
    assert_int_equal(read_check_text(nav_read_stl, &soup, stl_text, &error), NAV_OK);
    check_stl(&soup);
    nav_soup_deinit(&soup);
    writer w;
    write_stl(&w);
    nav_soup_init(&soup, NULL);
    assert_int_equal(nav_read_stl(&soup, w.bytes, w.size, &error), NAV_OK);
    check_stl(&soup);
    nav_soup_deinit(&soup);
    assert_int_equal(read_check_mangled(nav_read_stl, w.bytes, w.size, 20000), 0);
    // The first of two solids is whole.
    assert_true(read_check_mangled(nav_read_stl, stl_text, strlen(stl_text), 20000) > 0);
    read_check_memory(nav_read_stl, w.bytes, w.size);
}

static void test_stl_complaints(void **state)
{
    (void)state;
    static const read_complaint cases[] = {
        {"", "an STL of nothing"},
        {"hello", "neither the word `solid`"},
        {"solid a\nendsolid a\n", "an STL of nothing"},
        {"solid a\nvertex", "line 2: expected `facet` or `endsolid`, found `vertex`"},
        {"solid a\nfacet normal 0 0 0\nouter circle", "line 3: expected loop, found `circle`"},
        {"solid a\nfacet\nouter loop\nvertex 0 0 inf", "line 4: expected a coordinate, found `inf`"},
        {"solid a\nfacet\nouter loop\nvertex 0 0 0 vertex 0 1 0 endloop", "expected vertex, found `endloop`"},
    };
    read_check_complaints(nav_read_stl, cases, sizeof cases / sizeof *cases);
    writer w;
    nav_soup soup;
    nav_error error;
    write_stl(&w);
    static const unsigned char infinite[] = {0, 0, 0x80, 0x7F};
    memcpy(w.bytes + 84 + 12, infinite, 4);
    nav_soup_init(&soup, NULL);
    assert_int_equal(nav_read_stl(&soup, w.bytes, w.size, &error), NAV_BAD_FORMAT);
    assert_non_null(strstr(error.message, "byte 96: corner 0 of triangle 0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ply),
        cmocka_unit_test(test_ply_complaints),
        cmocka_unit_test(test_stl),
        cmocka_unit_test(test_stl_complaints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
