/// Godot's navigation meshes and polygons, as text and binary. The binary files are those kept for fuzzing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "read_check.h"

#define HEAD_3D "[gd_resource type=\"NavigationMesh\" format=3]\n\n[resource]\n"
#define HEAD_2D "[gd_resource type=\"NavigationPolygon\" format=3]\n[resource]\n"

static void check_mesh(const nav_soup *s, double radius)
{
    assert_int_equal(s->dimensions, 3);
    assert_int_equal(s->vertex_count, 4);
    assert_int_equal(s->poly_count, 2);
    read_check_polygon(s, 0, 3, (const uint32_t[]){0, 1, 2});
    read_check_polygon(s, 1, 3, (const uint32_t[]){0, 2, 3});
    assert_true(s->vertices[6] == 2 && s->vertices[7] == 1.5 && s->vertices[8] == 2);
    assert_true(fabs(s->agent.radius - radius) < 1e-6);
    assert_true(s->agent.climb == 0.25 && s->agent.height == 1.5);
}

static void test_text(void **state)
{
    (void)state;
    nav_soup soup;
    nav_error error;
    assert_int_equal(read_check_text(nav_read_godot_text, &soup,
                                     "[gd_resource type=\"NavigationMesh\" load_steps=2 format=3 uid=\"uid://x\"]\n"
                                     "\n[ext_resource type=\"Script\" path=\"res://a.gd\" id=\"1\"]\n; a comment\n"
                                     "[resource]\nresource_name = \"a ] \\\" [\nb\"\n"
                                     "vertices = PackedVector3Array(0, 1, 0, 2, 1, 0, 2, 1.5, 2, 0, 1, 2)\n"
                                     "polygons = [PackedInt32Array(0, 1, 2), PackedInt32Array(0, 2, 3)]\n"
                                     "metadata/x = {\n\"agent_radius\": [1, 2]\n}\nagent_radius = 0.25\n",
                                     &error),
                     NAV_OK);
    assert_string_equal(soup.format, "godot");
    check_mesh(&soup, 0.25);
    nav_soup_deinit(&soup);
    // Godot 3, and the polygons first.
    assert_int_equal(read_check_text(nav_read_godot_text, &soup,
                                     "[gd_resource type=\"NavigationMesh\" format=2]\r\n\r\n[resource]\r\n"
                                     "polygons = [ PoolIntArray( 0, 1, 2 ), PoolIntArray( 0, 2, 3 ) ]\r\n"
                                     "vertices = PoolVector3Array( 0, 1, 0, 2, 1, 0, 2, 1.5, 2, 0, 1, 2 )\r\n"
                                     "agent/radius = 0.6\r\n",
                                     &error),
                     NAV_OK);
    check_mesh(&soup, 0.6);
    nav_soup_deinit(&soup);
}

static void test_scenes(void **state)
{
    (void)state;
    nav_soup soup;
    nav_error error;
    assert_int_equal(
        read_check_text(nav_read_godot_text, &soup,
                        "[gd_scene load_steps=3 format=3]\n[sub_resource type=\"NavigationPolygon\" id=\"P\"]\n"
                        "vertices = PackedVector2Array(0, 0, 10, 0, 10, 10, 0, 10)\n"
                        "polygons = Array[PackedInt32Array]([PackedInt32Array(0, 1, 2, 3)])\n"
                        "outlines = Array[PackedVector2Array]([PackedVector2Array(0, 0, 9, 9, 0, 9)])\n"
                        "[sub_resource type=\"ArrayMesh\" id=\"Q\"]\nvertices = 3\n"
                        "[sub_resource type=\"NavigationPolygon\" id=\"R\"]\n"
                        "vertices = PackedVector2Array(20, 0, 30, 0, 20, 5)\npolygons = [PackedInt32Array(0, 1, 2)]\n"
                        "[node name=\"a\" type=\"Node2D\"]\nposition = Vector2(1, 2)\n",
                        &error),
        NAV_OK);
    assert_int_equal(soup.dimensions, 2);
    assert_int_equal(soup.poly_count, 2);
    read_check_polygon(&soup, 1, 3, (const uint32_t[]){4, 5, 6});
    assert_true(soup.parts && soup.parts[0] == 0 && soup.parts[1] == 1);
    assert_true(read_check_area(&soup) == 125);
    assert_int_equal(soup.warning_count, 1);
    nav_soup_deinit(&soup);
}

static void test_outlines(void **state)
{
    (void)state;
    nav_soup soup;
    nav_error error;
    assert_int_equal(read_check_text(nav_read_godot_text, &soup,
                                     HEAD_2D "vertices = PackedVector2Array()\npolygons = []\n"
                                             "outlines = Array[PackedVector2Array]([PackedVector2Array(0, 0, 10, 0, 5, "
                                             "2, 0, 10), PackedVector2Array(20, 0, 30, 0, 20, 10)])\n",
                                     &error),
                     NAV_OK);
    assert_int_equal(soup.poly_count, 2);
    read_check_polygon(&soup, 0, 4, (const uint32_t[]){0, 1, 2, 3});
    assert_true(read_check_area(&soup) == 35 + 50);
    nav_soup_deinit(&soup);
}

static void test_complaints(void **state)
{
    (void)state;
    static const read_complaint cases[] = {
        {"", "no Godot resource"},
        {"[gd_resource type=\"ArrayMesh\"]\n[resource]\nvertices = 3\n", "holds a resource `ArrayMesh` and no"},
        {HEAD_3D, "has no polygons: bake it"},
        {HEAD_3D "vertices = PackedVector3Array(0, nan, 0)", "line 4: expected a number, found `nan,`"},
        {HEAD_3D "vertices = PackedVector3Array(0, 1)", "expected as many numbers as whole positions take"},
        {HEAD_3D "vertices = PackedVector2Array(0, 1)", "expected PackedVector3Array, found `PackedVector2Array(0,`"},
        {HEAD_3D "vertices = PackedVector3Array(0, 1 2)", "expected `,` or a closing bracket"},
        {HEAD_3D "vertices = PackedVector3Array(0, 1, 2", "expected `,` or a closing bracket, found the end"},
        {HEAD_3D "polygons = [PackedInt32Array(0, 1)]", "polygon 0 has 2 corners"},
        {HEAD_3D "polygons = [PackedInt32Array(0, -1, 2)]", "expected the number of a vertex, found `-1,`"},
        {HEAD_3D "polygons = [PackedInt32Array(0, 1, 2147483648)]", "expected the number of a vertex"},
        {HEAD_3D "polygons = {}", "expected `[`"},
        {HEAD_3D "vertices = PackedVector3Array(0, 0, 0)\npolygons = [PackedInt32Array(0, 0, 1)]",
         "polygon 0 has a corner at vertex 1, but there are 1"},
        {HEAD_2D "outlines = [PackedVector2Array(0, 0, 9, 0, 9, 9, 0, 9), PackedVector2Array(1, 1, 2, 1, 2, 2)]",
         "outline 1 lies in outline 0: bake the polygons"},
        {"[gd_scene]\n[sub_resource type=\"NavigationMesh\"]\nvertices = PackedVector3Array(0, 0, 0)\npolygons = "
         "[PackedInt32Array(0, 0, 0)]\n[sub_resource type=\"NavigationPolygon\"]\n",
         "of two and of three dimensions"},
        {HEAD_3D "a = \"b", "expected the end of a string"},
        {HEAD_3D "a = [1", "expected a closing bracket"},
        {HEAD_3D "= 3", "a name and `=`"},
    };
    read_check_complaints(nav_read_godot_text, cases, sizeof cases / sizeof *cases);
}

/// A file beside the tests.
static size_t read_kept(const char *name, unsigned char bytes[4096])
{
    char path[256];
    snprintf(path, sizeof path, "tests/fuzz/corpus/reader_godot-binary/%s", name);
    FILE *f = fopen(path, "rb");
    if (!f) {
        fail_msg("no %s: run this from the project's folder", path);
    }
    size_t size = fread(bytes, 1, 4096, f);
    fclose(f);
    return size;
}

static void test_binary(void **state)
{
    (void)state;
    static const char *const names[] = {"mesh", "doubles", "big"};
    unsigned char bytes[4096];
    nav_soup soup;
    nav_error error;
    for (size_t i = 0; i < 3; i++) {
        size_t size = read_kept(names[i], bytes);
        nav_soup_init(&soup, NULL);
        if (nav_read_godot_binary(&soup, bytes, size, &error) != NAV_OK) {
            fail_msg("%s: %s", names[i], error.message);
        }
        check_mesh(&soup, 0.25);
        nav_soup_deinit(&soup);
        assert_int_equal(read_check_mangled(nav_read_godot_binary, bytes, size, 10000), 0);
        read_check_memory(nav_read_godot_binary, bytes, size);
    }
    size_t size = read_kept("flat", bytes);
    nav_soup_init(&soup, NULL);
    assert_int_equal(nav_read_godot_binary(&soup, bytes, size, &error), NAV_OK);
    assert_true(soup.dimensions == 2 && read_check_area(&soup) == 100);
    nav_soup_deinit(&soup);
    size = read_kept("outlines", bytes);
    nav_soup_init(&soup, NULL);
    assert_int_equal(nav_read_godot_binary(&soup, bytes, size, &error), NAV_OK);
    assert_true(read_check_area(&soup) == 50);
    nav_soup_deinit(&soup);
    nav_soup_init(&soup, NULL);
    assert_int_equal(nav_read_godot_binary(&soup, "RSCC\1\0\0\0", 8, &error), NAV_BAD_FORMAT);
    assert_non_null(strstr(error.message, "compressed"));
    assert_int_equal(nav_read_godot_binary(&soup, bytes, size - 1, &error), NAV_BAD_FORMAT);
    assert_non_null(strstr(error.message, "cut short"));
}

static void test_broken(void **state)
{
    (void)state;
    static const char text[] =
        "[gd_scene format=3]\n[sub_resource type=\"NavigationPolygon\" id=\"P\"]\n"
        "outlines = [PackedVector2Array(0, 0, 10, 0, 10, 10, 0, 10)]\nagent_radius = 2.5\n"
        "vertices = PackedVector2Array(0, 0, 10, 0, 10, 10, 0, 10)\n"
        "polygons = Array[PackedInt32Array]([PackedInt32Array(0, 1, 2), PackedInt32Array(0, 2, 3)])";
    read_check_mangled(nav_read_godot_text, text, strlen(text), 20000);
    read_check_memory(nav_read_godot_text, text, strlen(text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),       cmocka_unit_test(test_scenes), cmocka_unit_test(test_outlines),
        cmocka_unit_test(test_complaints), cmocka_unit_test(test_binary), cmocka_unit_test(test_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
