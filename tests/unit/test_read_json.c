/// JSON meshes: every form of the contract, every complaint with its pointer, and broken text.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mangle.h"
#include "mesh_read.h"

typedef struct reading {
    nav_soup soup;
    api_file_extra extra;
    api_problem problem;
} reading;

static bool read_bytes(reading *r, const void *bytes, size_t size)
{
    memset(r, 0, sizeof *r);
    nav_soup_init(&r->soup, NULL);
    return api_json_mesh_read(&r->soup, bytes, size, &r->extra, &r->problem);
}

static bool read_text(reading *r, const char *text)
{
    return read_bytes(r, text, strlen(text));
}

static void done(reading *r)
{
    nav_soup_deinit(&r->soup);
    cJSON_Delete(r->extra.links);
}

static void check_vertex(const nav_soup *s, uint32_t i, double x, double y, double z)
{
    assert_true(i < s->vertex_count);
    assert_true(s->vertices[3 * i] == x && s->vertices[3 * i + 1] == y && s->vertices[3 * i + 2] == z);
}

static void test_polygons(void **state)
{
    (void)state;
    reading r;
    assert_true(read_text(&r, "\xEF\xBB\xBF {\"polygons\" : [ [0,1,2] ,[0, 2.0, 3e0, 1]], \"areas\":[7,255], "
                              "\"flags\":[1,4294967295],\"name\":\"a \\\"mesh\\\"\",\"up\":\"z\",\r\n"
                              "\"vertices\":[[0,0.5,-1e1],[1,0,0],{\"z\":1,\"x\":1,\"y\":2.5},[0,0,1]],"
                              "\"agent\":{\"radius\":0.3,\"climb\":0.75},"
                              "\"links\":[{\"start\":[0,0,0],\"end\":[1,1,1]}]} \n"));
    const nav_soup *s = &r.soup;
    assert_string_equal(s->format, "json");
    assert_int_equal(s->dimensions, 3);
    assert_int_equal(s->vertex_count, 4);
    check_vertex(s, 0, 0, 0.5, -10);
    check_vertex(s, 2, 1, 2.5, 1);
    assert_int_equal(s->poly_count, 2);
    static const uint32_t corners[] = {0, 1, 2, 0, 2, 3, 1}, first[] = {0, 3, 7};
    assert_memory_equal(s->corners, corners, sizeof corners);
    assert_memory_equal(s->poly_first, first, sizeof first);
    assert_true(s->has_areas && s->has_flags && !s->has_edges && s->has_agent);
    assert_int_equal(s->areas[0], 7);
    assert_int_equal(s->areas[1], 255);
    assert_true(s->flags[1] == UINT32_MAX);
    assert_true(s->agent.radius == 0.3 && s->agent.climb == 0.75 && s->agent.height == 2);
    assert_int_equal(r.extra.up, 'z');
    assert_int_equal(cJSON_GetArraySize(r.extra.links), 1);
    done(&r);
}

static void test_triangles_and_the_plane(void **state)
{
    (void)state;
    reading r;
    assert_true(read_text(&r, "{\"vertices\":[[0,1],{\"x\":2,\"y\":3},[4,5],[6,7]],\"indices\":[0,1,2,2,1,3]}"));
    assert_int_equal(r.soup.dimensions, 2);
    check_vertex(&r.soup, 1, 2, 0, 3);
    check_vertex(&r.soup, 3, 6, 0, 7);
    assert_int_equal(r.soup.poly_count, 2);
    assert_int_equal(r.soup.corners[5], 3);
    assert_false(r.soup.has_areas || r.soup.has_flags || r.soup.has_agent);
    assert_int_equal(r.extra.up, 0);
    assert_null(r.extra.links);
    done(&r);

    // Names may be written with escapes.
    assert_true(read_text(&r, "{\"\\u0076ertices\":[[0,1],[2,3],[4,5]],\"indices\":[0,1,2]}"));
    done(&r);
}

#define V "{\"vertices\":[[0,0,0],[0,0,1],[1,0,0]],"

static void test_complaints(void **state)
{
    (void)state;
    static const struct {
        const char *text, *pointer, *detail;
    } cases[] = {
        {"", "", "byte 0: a JSON mesh is an object"},
        {"[]", "", "byte 0: a JSON mesh is an object"},
        {"{", "", "byte 1: expected the name of a member"},
        {"{\"vertices\"", "", "byte 11: expected `:`"},
        {"{\"vertices", "", "byte 1: a string that does not end"},
        {"{\"vertices\":[", "/vertices/0", "must be [x, y, z]"},
        {"{\"vertices\":[[1,2,3]", "", "byte 20: expected `,` or `]`"},
        {"{\"vertices\":[[1,2,3],]", "/vertices/1", "must be [x, y, z]"},
        {"{\"vertices\":[[0,0,0]] \"polygons\"", "", "byte 22: expected `,` or `}`"},
        {"{\"vert\\u0001ices\":1}", "/vert\x01ices", "is no member of a mesh"},
        {"{\"ver\ntices\":1}", "", "byte 5: a control character in a name"},
        {"{}", "/vertices", "is missing"},
        {"{\"vertices\":[]}", "/vertices", "is empty"},
        {V "\"polygons\":[]}", "/polygons", "is empty"},
        {V "\"indices\":[]}", "/indices", "is empty"},
        {"{\"vertices\":[[0,0,0]]}", "/polygons", "is missing, and so is /indices"},
        {V "\"polygons\":[[0,1,2]]} x", "", "more text after the mesh"},
        {V "\"polygons\":[[0,1,2]],\"indices\":[0,1,2]}", "/indices", "one too many"},
        {V "\"polygons\":[[0,1,2]],\"vertices\":[]}", "/vertices", "given twice"},
        {V "\"polygons\":[[0,1,2]],\"areas\":[1],\"areas\":[1]}", "/areas", "given twice"},
        {V "\"polygons\":[[0,1,2]],\"color\":1}", "/color", "is no member of a mesh"},
        {"{\"vertices\":[[0,0]", "", "expected `,` or `]`"},
        {"{\"vertices\":[[0]]}", "/vertices/0", "needs two or three numbers"},
        {"{\"vertices\":[[0,0,0,0]]}", "/vertices/0/3", "is one number too many"},
        {"{\"vertices\":[[0,0,0],[0,0]]}", "/vertices/1", "has two numbers where the first vertex has three"},
        {"{\"vertices\":[[0,0],[0,0,0]]}", "/vertices/1", "has three numbers"},
        {"{\"vertices\":[[0,0,0],[0,null,0]]}", "/vertices/1/1", "is not a number"},
        {"{\"vertices\":[[0,NaN,0]]}", "/vertices/0/1", "is not a number"},
        {"{\"vertices\":[[0,01,0]]}", "/vertices/0/1", "is not a number"},
        {"{\"vertices\":[[0,1.,0]]}", "/vertices/0/1", "is not a number"},
        {"{\"vertices\":[[0,+1,0]]}", "/vertices/0/1", "is not a number"},
        {"{\"vertices\":[[0,\"1\",0]]}", "/vertices/0/1", "is not a number"},
        {"{\"vertices\":[[0,1e999,0]]}", "/vertices/0/1", "out of range"},
        {"{\"vertices\":[{\"x\":1,\"z\":2}]}", "/vertices/0", "needs x, y and z"},
        {"{\"vertices\":[{\"x\":1,\"x\":2}]}", "/vertices/0", "twice"},
        {"{\"vertices\":[{\"x\":1,\"w\":2}]}", "/vertices/0", "not x, y or z"},
        {"{\"vertices\":{}}", "/vertices", "must be an array"},
        {V "\"polygons\":[[0,1,3]]}", "/polygons/0/2", "is vertex 3, but there are 3"},
        {V "\"polygons\":[[0,1,2],[0,1]]}", "/polygons/1", "fewer than three"},
        {V "\"polygons\":[0,1,2]}", "/polygons/0", "must be an array of vertex numbers"},
        {V "\"polygons\":[[0,1,-1]]}", "/polygons/0/2", "is not a whole number"},
        {V "\"indices\":[0,1,2147483648]}", "/indices/2", "is too large"},
        {V "\"indices\":[0,1,4294967296]}", "/indices/2", "is not a whole number of 32 bits"},
        {V "\"indices\":[0,1,99999999999999999999]}", "/indices/2", "is not a whole number of 32 bits"},
        {V "\"indices\":[0,0.5,2]}", "/indices/1", "is not a whole number"},
        {V "\"indices\":[0,1,2,0,1,7]}", "/indices/5", "is vertex 7, but there are 3"},
        {V "\"indices\":[0,1]}", "/indices", "three numbers for each triangle"},
        {V "\"indices\":[0,1,2],\"areas\":[1,2]}", "/areas", "has 2 entries for 1 triangles"},
        {V "\"polygons\":[[0,1,2]],\"flags\":[]}", "/flags", "has 0 entries for 1 polygons"},
        {V "\"indices\":[0,1,2],\"areas\":[256]}", "/areas/0", "is too large"},
        {V "\"indices\":[0,1,2],\"areas\":[\"mud\"]}", "/areas/0", "is not a number"},
        {V "\"indices\":[0,1,2],\"up\":\"x\"}", "/up", "must be \"y\" or \"z\""},
        {V "\"indices\":[0,1,2],\"up\":1}", "/up", "must be \"y\" or \"z\""},
        {V "\"indices\":[0,1,2],\"agent\":{\"radius\":-1}}", "/agent/radius", "must be a number from 0 on"},
        {V "\"indices\":[0,1,2],\"agent\":{\"slope\":91}}", "/agent/slope", "from 0 to 90"},
        {V "\"indices\":[0,1,2],\"agent\":{\"size\":1}}", "/agent/size", "unknown member"},
        {V "\"indices\":[0,1,2],\"links\":[[[[[[[[[]]]]]]]]]}", "/links", "nested deeper"},
        {V "\"indices\":[0,1,2],\"links\":[1,}", "", "the file ends within a value"},
        {V "\"indices\":[0,1,2],\"links\":}", "/links", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reading r;
        if (read_text(&r, cases[i].text)) {
            fail_msg("%s is taken for a mesh", cases[i].text);
        }
        if (!strstr(r.problem.detail, cases[i].detail) || strcmp(r.problem.pointer, cases[i].pointer) != 0) {
            fail_msg("%s: `%s` at `%s`", cases[i].text, r.problem.detail, r.problem.pointer);
        }
        assert_int_equal(r.problem.code, API_BAD_MESH);
        assert_null(r.soup.vertices);
        assert_null(r.extra.links);
    }
}

static void test_nesting_costs_no_stack(void **state)
{
    (void)state;
    enum { DEPTH = 4 * 1024 * 1024 };
    static const char *const heads[] = {"{\"vertices\":", "{\"links\":", "{\"vertices\":[[0,0,0]],\"x\":"};
    char *text = malloc(DEPTH + 64);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        for (int k = 0; k < 2; k++) {
            size_t head = strlen(heads[i]);
            memcpy(text, heads[i], head);
            memset(text + head, k ? '{' : '[', DEPTH);
            reading r;
            assert_false(read_bytes(&r, text, head + DEPTH));
        }
    }
    free(text);
}

static void try_bytes(void *ctx, const void *bytes, size_t size)
{
    unsigned *loaded = ctx;
    reading r;
    if (read_bytes(&r, bytes, size)) {
        ++*loaded;
        for (uint32_t i = 0; i < r.soup.corner_count; i++) {
            assert_true(r.soup.corners[i] < r.soup.vertex_count);
        }
    } else {
        assert_true(r.problem.detail[0] != '\0');
        assert_true(r.problem.code == API_BAD_MESH || r.problem.code == API_UNSUPPORTED_MEDIA_TYPE);
        assert_null(r.soup.vertices);
    }
    done(&r);
}

static void test_mangled(void **state)
{
    (void)state;
    static const char text[] =
        "{\"polygons\":[[0,1,2],[0,2,3]],\"areas\":[7,255],\"flags\":[1,2],\"name\":\"a\",\"up\":\"z\","
        "\"vertices\":[[0,0.5,-1e1],[1,0,0],{\"z\":1,\"x\":1,\"y\":2.5},[0,0,1]],"
        "\"agent\":{\"radius\":0.3},\"links\":[{\"start\":[0,0,0],\"end\":[1,1,1]}]}";
    unsigned loaded = 0;
    mangle_cuts(text, sizeof text - 1, try_bytes, &loaded);
    assert_int_equal(loaded, 0);
    mangle_flips(text, sizeof text - 1, 20000, 11, try_bytes, &loaded);
    assert_true(loaded > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_polygons),   cmocka_unit_test(test_triangles_and_the_plane),
        cmocka_unit_test(test_complaints), cmocka_unit_test(test_nesting_costs_no_stack),
        cmocka_unit_test(test_mangled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
