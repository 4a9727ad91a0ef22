/// glTF and GLB: accessors of every kind, nodes, choosing among them, links, and what is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_mesh.h"
#include "mangle.h"

/// A buffer of a file being made.
typedef struct data {
    unsigned char bytes[1024];
    size_t size;
} data;

static void put(data *d, const void *bytes, size_t size)
{
    memcpy(d->bytes + d->size, bytes, size);
    d->size += size;
}

static void encode(const data *d, char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < d->size; i += 3) {
        uint32_t bits = (uint32_t)d->bytes[i] << 16;
        bits |= i + 1 < d->size ? (uint32_t)d->bytes[i + 1] << 8 : 0;
        bits |= i + 2 < d->size ? d->bytes[i + 2] : 0;
        for (size_t k = 0; k < 4; k++) {
            bool padding = i + k > d->size; // a byte fewer, a digit fewer
            *text++ = padding ? '=' : digits[bits >> (18 - 6 * k) & 63];
        }
    }
    *text = '\0';
}

/// Views: 0 floats with a stride of 16 (a quad, 2 by 2), 1 u8 strip, 2 u16 fan, 3 u32 triangles, 4 shorts
/// (normalised, a quad of 1 by 1), 5 bytes, 6 sparse index, 7 sparse value.
static void make_data(data *d)
{
    static const float quad[4][4] = {{0, 1, 0, 9}, {2, 1, 0, 9}, {0, 1, 2, 9}, {2, 1, 2, 9}};
    static const uint8_t strip[4] = {0, 1, 2, 3};
    static const uint16_t fan[4] = {0, 1, 3, 2};
    static const uint32_t triangles[6] = {0, 1, 2, 1, 3, 2};
    static const int16_t unit[4][4] = {{0, 0, 0}, {32767, 0, 0}, {0, 0, 32767}, {32767, 0, 32767}};
    static const int8_t bytes[4][4] = {{-1, 0, -1}, {1, 0, -1}, {-1, 0, 1}, {1, 0, 1}};
    static const uint16_t sparse_index[2] = {3, 0};
    static const float sparse_value[3] = {4, 1, 2};
    *d = (data){0};
    put(d, quad, sizeof quad);                 // 0
    put(d, strip, sizeof strip);               // 64
    put(d, fan, sizeof fan);                   // 68
    put(d, triangles, sizeof triangles);       // 76
    put(d, unit, sizeof unit);                 // 100
    put(d, bytes, sizeof bytes);               // 132
    put(d, sparse_index, sizeof sparse_index); // 148
    put(d, sparse_value, sizeof sparse_value); // 152
}

#define VIEWS                                                                                              \
    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":64,\"byteStride\":16},"                                 \
    "{\"buffer\":0,\"byteOffset\":64,\"byteLength\":4},{\"buffer\":0,\"byteOffset\":68,\"byteLength\":8}," \
    "{\"buffer\":0,\"byteOffset\":76,\"byteLength\":24},"                                                  \
    "{\"buffer\":0,\"byteOffset\":100,\"byteLength\":32,\"byteStride\":8},"                                \
    "{\"buffer\":0,\"byteOffset\":132,\"byteLength\":16,\"byteStride\":4},"                                \
    "{\"buffer\":0,\"byteOffset\":148,\"byteLength\":4},{\"buffer\":0,\"byteOffset\":152,\"byteLength\":12}],"
#define ACCESSORS                                                                                     \
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},"         \
    "{\"bufferView\":1,\"componentType\":5121,\"count\":4,\"type\":\"SCALAR\"},"                      \
    "{\"bufferView\":2,\"componentType\":5123,\"count\":4,\"type\":\"SCALAR\"},"                      \
    "{\"bufferView\":3,\"componentType\":5125,\"count\":6,\"type\":\"SCALAR\"},"                      \
    "{\"bufferView\":4,\"componentType\":5122,\"normalized\":true,\"count\":4,\"type\":\"VEC3\"},"    \
    "{\"bufferView\":5,\"componentType\":5120,\"count\":4,\"type\":\"VEC3\"},"                        \
    "{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\",\"sparse\":{\"count\":1," \
    "\"indices\":{\"bufferView\":6,\"componentType\":5123},\"values\":{\"bufferView\":7}}},"          \
    "{\"bufferView\":0,\"byteOffset\":16,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],"

/// A .gltf of the data and of what `rest` says, whose braces are closed here.
static char *make_file(const char *rest)
{
    data d;
    char text[2048];
    make_data(&d);
    encode(&d, text);
    char *file = malloc(8192);
    assert_non_null(file);
    snprintf(file, 8192,
             "{\"asset\":{\"version\":\"2.0\"}," VIEWS ACCESSORS
             "\"buffers\":[{\"byteLength\":164,\"uri\":\"data:application/octet-stream;base64,%s\"}],%s}",
             text, rest);
    return file;
}

static api_mesh *load(const char *file, const char *params, api_problem *problem)
{
    api_mesh_source source = {.bytes = file, .size = strlen(file), .params = params};
    return api_mesh_load(&source, problem);
}

static double total_area(const api_mesh *mesh)
{
    double area = 0;
    for (uint32_t i = 0; i < mesh->report->island_count; i++) {
        area += mesh->report->islands[i].area;
    }
    return area;
}

/// Loads what one mesh of one primitive gives and compares polygons and ground area.
static void check_primitive(const char *primitive, uint32_t polygons, double area)
{
    char rest[512];
    api_problem problem;
    nav_mesh_info info;
    snprintf(rest, sizeof rest,
             "\"nodes\":[{\"mesh\":0}],\"scenes\":[{\"nodes\":[0]}],\"meshes\":[{\"primitives\":[%s]}]", primitive);
    char *file = make_file(rest);
    api_mesh *mesh = load(file, NULL, &problem);
    if (!mesh) {
        fail_msg("%s: %s", primitive, problem.detail);
    }
    assert_string_equal(mesh->format, "gltf");
    nav_mesh_get_info(mesh->nav, &info);
    assert_int_equal(info.polygons, polygons);
    if (fabs(total_area(mesh) - area) > 1e-6) {
        fail_msg("%s: area %g instead of %g", primitive, total_area(mesh), area);
    }
    api_mesh_destroy(mesh);
    free(file);
}

static void test_primitives(void **state)
{
    (void)state;
    check_primitive("{\"attributes\":{\"POSITION\":0},\"indices\":1,\"mode\":5}", 2, 4);
    check_primitive("{\"attributes\":{\"POSITION\":0},\"indices\":2,\"mode\":6}", 2, 4);
    check_primitive("{\"attributes\":{\"POSITION\":0},\"indices\":3}", 2, 4);
    check_primitive("{\"attributes\":{\"POSITION\":0},\"mode\":5}", 2, 4);
    check_primitive("{\"attributes\":{\"POSITION\":7}}", 1, 2);
    check_primitive("{\"attributes\":{\"POSITION\":4},\"indices\":3}", 2, 1);
    check_primitive("{\"attributes\":{\"POSITION\":5},\"indices\":3}", 2, 4);
    check_primitive("{\"attributes\":{\"POSITION\":6},\"indices\":3}", 2, 6);
    // Points are passed over.
    check_primitive("{\"attributes\":{\"POSITION\":0},\"mode\":0},{\"attributes\":{\"POSITION\":0},\"indices\":3}", 2,
                    4);
}

#define QUAD "{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":3}]}"

static void check_bounds(const api_mesh *mesh, const double want[6])
{
    nav_mesh_info info;
    nav_mesh_get_info(mesh->nav, &info);
    const double got[6] = {info.min.x, info.min.y, info.min.z, info.max.x, info.max.y, info.max.z};
    for (int i = 0; i < 6; i++) {
        if (fabs(got[i] - want[i]) > 1e-5) {
            fail_msg("bound %d is %g instead of %g", i, got[i], want[i]);
        }
    }
}

static void test_nodes(void **state)
{
    (void)state;
    // Scale 2 by 1 by 3, a quarter turn about y (x to -z), then 10 up, below a node that moves by (5, 0, 0).
    char *file = make_file("\"nodes\":[{\"translation\":[5,0,0],\"children\":[1]},{\"mesh\":0,\"scale\":[2,1,3],"
                           "\"rotation\":[0,0.70710678118,0,0.70710678118],\"translation\":[0,10,0]}],"
                           "\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"meshes\":[" QUAD "]");
    api_problem problem;
    api_mesh *mesh = load(file, NULL, &problem);
    assert_non_null(mesh);
    check_bounds(mesh, (const double[]){5, 11, -4, 11, 11, 0});
    api_mesh_destroy(mesh);
    free(file);
    // The same as a matrix, column by column.
    file = make_file("\"nodes\":[{\"mesh\":0,\"matrix\":[0,0,-2,0,0,1,0,0,3,0,0,0,5,10,0,1]}],"
                     "\"scenes\":[{\"nodes\":[0]}],\"meshes\":[" QUAD "]");
    mesh = load(file, NULL, &problem);
    assert_non_null(mesh);
    check_bounds(mesh, (const double[]){5, 11, -4, 11, 11, 0});
    api_mesh_destroy(mesh);
    free(file);
}

/// @param left_out  set to the number of warnings of meshes that were left out
static uint32_t count_polygons(const char *file, const char *params, uint32_t *left_out)
{
    api_problem problem;
    nav_mesh_info info;
    api_mesh *mesh = load(file, params, &problem);
    if (!mesh) {
        fail_msg("%s", problem.detail);
    }
    nav_mesh_get_info(mesh->nav, &info);
    *left_out = 0;
    for (uint32_t i = 0; i < mesh->report->warning_count; i++) {
        *left_out += strstr(mesh->report->warnings[i], "others left out") != NULL;
    }
    api_mesh_destroy(mesh);
    return info.polygons;
}

static void test_choosing(void **state)
{
    (void)state;
    // Three places, two of them below a node of one name.
    static const char rest[] =
        "\"nodes\":[{\"name\":\"Group\",\"children\":[1,2]},{\"name\":\"a\",\"mesh\":0},{\"name\":\"b\",\"mesh\":1,"
        "\"translation\":[10,0,0]},{\"name\":\"c\",\"mesh\":1,\"translation\":[20,0,0]}],\"scenes\":[{\"nodes\":[0,3]}]"
        ","
        "\"meshes\":[" QUAD ",{\"name\":\"%s\",\"primitives\":[{\"attributes\":{\"POSITION\":7}}]}]";
    char text[1024];
    uint32_t left_out;
    snprintf(text, sizeof text, rest, "x");
    char *file = make_file(text);
    assert_int_equal(count_polygons(file, NULL, &left_out), 4);
    assert_int_equal(left_out, 0);
    assert_int_equal(count_polygons(file, "node=Group", &left_out), 3);
    assert_int_equal(left_out, 1);
    assert_int_equal(count_polygons(file, "node=a", &left_out), 2);
    assert_int_equal(count_polygons(file, "node=x", &left_out), 2);
    api_problem problem;
    assert_null(load(file, "node=nowhere", &problem));
    assert_non_null(strstr(problem.detail, "no node or mesh is called `nowhere`: there are Group, a, b, c, x"));
    free(file);
    // With a name that says it, without being asked.
    snprintf(text, sizeof text, rest, "The_NavMesh.001");
    file = make_file(text);
    assert_int_equal(count_polygons(file, NULL, &left_out), 2);
    assert_int_equal(left_out, 1);
    free(file);
}

static void test_areas_and_links(void **state)
{
    (void)state;
    char *file = make_file(
        "\"nodes\":[{\"mesh\":0,\"extras\":{\"area\":5,\"flags\":6}},{\"mesh\":1,\"translation\":[10,0,0]},"
        "{\"name\":\"Link one_Start\",\"translation\":[1,1,1],\"extras\":{\"bidirectional\":true,\"colour\":[1]}},"
        "{\"name\":\"Link one_End\",\"translation\":[11,1,1]},{\"name\":\"Link2End\"},"
        "{\"translation\":[10,0,0],\"extras\":{\"links\":[{\"id\":\"back\",\"start\":[1.5,1,1],\"end\":[-9,1,1]}]}}],"
        "\"scenes\":[{\"nodes\":[0,1,2,3,4,5]}],\"meshes\":[" QUAD
        ",{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":3,\"extras\":{\"area\":7}}]}]");
    api_problem problem;
    api_mesh *mesh = load(file, NULL, &problem);
    if (!mesh) {
        fail_msg("%s", problem.detail);
    }
    nav_mesh_info info;
    nav_mesh_get_info(mesh->nav, &info);
    assert_int_equal(nav_mesh_polygon_area(mesh->nav, 0), 5);
    assert_int_equal(nav_mesh_polygon_flags(mesh->nav, 0), 6);
    assert_int_equal(nav_mesh_polygon_area(mesh->nav, 2), 7);
    assert_int_equal(nav_mesh_polygon_flags(mesh->nav, 2), 1);
    assert_int_equal(info.links, 2);
    assert_int_equal(mesh->report->dropped_link_count, 0);
    const nav_link *links = nav_mesh_links(mesh->nav);
    assert_string_equal(links[0].id, "back");
    assert_true(links[0].start.x == 11.5 && links[0].end.x == 1 && !links[0].bidirectional);
    assert_string_equal(links[1].id, "Link-one");
    assert_true(links[1].start.x == 1 && links[1].end.x == 11 && links[1].bidirectional);
    api_mesh_destroy(mesh);
    free(file);
}

static void test_complaints(void **state)
{
    (void)state;
    static const struct {
        const char *rest, *detail;
    } cases[] = {
        {"\"meshes\":[]", "the scene has no triangles"},
        {"\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":1}]}]", "only points and lines"},
        {"\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":7}]}]",
         "/meshes/0/primitives/0/mode must be a whole number from 0 to 6"},
        {"\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":9}}]}]",
         "/meshes/0/primitives/0/attributes/POSITION is 9, but there are 8"},
        {"\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":1}}]}]", "/accessors/1 is not of type VEC3"},
        {"\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":7},\"indices\":3}]}]",
         "/accessors/3 is vertex 3 in element 4, but there are 3"},
        {"\"meshes\":[{\"primitives\":[{\"attributes\":{}}]}]", "/meshes/0/primitives/0 has no POSITION"},
        {"\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"extensions\":"
         "{\"KHR_draco_mesh_compression\":{}}}]}]",
         "compressed by KHR_draco_mesh_compression"},
        {"\"extensionsRequired\":[\"EXT_meshopt_compression\"]",
         "/extensionsRequired/0 is EXT_meshopt_compression, which is not read"},
        {"\"nodes\":[{\"children\":[1]},{\"children\":[0]}],\"scenes\":[{\"nodes\":[0]}]",
         "/nodes/1/children/0 stands twice"},
        {"\"nodes\":[{\"children\":[7]}],\"scenes\":[{\"nodes\":[0]}]", "/nodes/0/children/0 is 7, but there are 1"},
        {"\"nodes\":[{\"matrix\":[1]}],\"scenes\":[{\"nodes\":[0]}]", "/nodes/0/matrix must be an array of 16 numbers"},
        {"\"scene\":1,\"scenes\":[{\"nodes\":[]}]", "/scenes has no scene 1"},
        {"\"extras\":{\"links\":[1]}", "/extras/links/0 must be a link"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        api_problem problem;
        char *file = make_file(cases[i].rest);
        assert_null(load(file, NULL, &problem));
        if (problem.code != API_BAD_MESH || !strstr(problem.detail, cases[i].detail)) {
            fail_msg("case %zu: %s does not say %s", i, problem.detail, cases[i].detail);
        }
        free(file);
    }
    static const struct {
        const char *text, *detail;
    } files[] = {
        {"{\"asset\":{\"version\":\"1.0\"}}", "/asset is of version `1.0` of glTF"},
        {"{\"asset\":{\"version\":\"2.0\"},\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
         "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":1,\"type\":\"VEC3\"}],"
         "\"bufferViews\":[{\"buffer\":0,\"byteLength\":12}],\"buffers\":[{\"uri\":\"level.bin\",\"byteLength\":12}]}",
         "/buffers/0/uri names another file, `level.bin`"},
        {"{\"asset\":{\"version\":\"2.0\"},\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
         "\"accessors\":[{\"componentType\":5126,\"count\":1,\"type\":\"VEC3\"}]}",
         "/accessors/0 has no data"},
        {"{\"asset\":{\"version\":\"2.0\"}", "byte 26: expected `,` or `}`"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        api_problem problem;
        assert_null(load(files[i].text, NULL, &problem));
        if (problem.code != API_BAD_MESH || !strstr(problem.detail, files[i].detail)) {
            fail_msg("file %zu: %s does not say %s", i, problem.detail, files[i].detail);
        }
    }
}

/// Many nodes that show one mesh multiply it: only as often as the file's size allows.
static void test_repetition_is_bounded(void **state)
{
    (void)state;
    char *rest = malloc(400000);
    assert_non_null(rest);
    char *p = rest + sprintf(rest, "\"meshes\":[" QUAD "],\"nodes\":[");
    for (int i = 0; i < 3000; i++) {
        p += sprintf(p, "%s{\"mesh\":0}", i ? "," : "");
    }
    p += sprintf(p, "],\"scenes\":[{\"nodes\":[");
    for (int i = 0; i < 3000; i++) {
        p += sprintf(p, "%s%d", i ? "," : "", i);
    }
    sprintf(p, "]}]");
    data d;
    char text[2048];
    make_data(&d);
    encode(&d, text);
    char *file = malloc(500000);
    assert_non_null(file);
    sprintf(file,
            "{\"asset\":{\"version\":\"2.0\"}," VIEWS ACCESSORS
            "\"buffers\":[{\"byteLength\":164,\"uri\":\"data:application/octet-stream;base64,%s\"}],%s}",
            text, rest);
    uint32_t left_out;
    assert_int_equal(count_polygons(file, NULL, &left_out), 6000);
    free(file);
    free(rest);
}

static void try_bytes(void *ctx, const void *bytes, size_t size)
{
    unsigned *loaded = ctx;
    api_problem problem;
    api_mesh_source source = {.bytes = bytes, .size = size, .format = "gltf"};
    api_mesh *mesh = api_mesh_load(&source, &problem);
    *loaded += mesh != NULL;
    assert_true(mesh || problem.detail[0]);
    api_mesh_destroy(mesh);
}

static void test_broken(void **state)
{
    (void)state;
    char *file = make_file("\"nodes\":[{\"mesh\":0,\"scale\":[2,1,3]},{\"mesh\":1}],\"scenes\":[{\"nodes\":[0,1]}],"
                           "\"meshes\":[" QUAD ",{\"primitives\":[{\"attributes\":{\"POSITION\":6},\"indices\":1,"
                           "\"mode\":5}]}]");
    unsigned loaded = 0;
    mangle_cuts(file, strlen(file), try_bytes, &loaded);
    assert_int_equal(loaded, 0);
    mangle_flips(file, strlen(file), 3000, 1, try_bytes, &loaded);
    assert_true(loaded > 100);
    // The same as GLB.
    data d;
    char glb[4096];
    make_data(&d);
    const char *json = "{\"asset\":{\"version\":\"2.0\"}," VIEWS ACCESSORS "\"buffers\":[{\"byteLength\":164}],"
                       "\"meshes\":[" QUAD "]}";
    uint32_t length = (uint32_t)strlen(json), bin = (uint32_t)d.size, total = 12 + 8 + length + 8 + bin;
    const uint32_t head[5] = {0x46546C67, 2, total, length, 0x4E4F534A}, chunk[2] = {bin, 0x004E4942};
    memcpy(glb, head, 20);
    memcpy(glb + 20, json, length);
    memcpy(glb + 20 + length, chunk, 8);
    memcpy(glb + 28 + length, d.bytes, bin);
    unsigned whole = 0;
    try_bytes(&whole, glb, total);
    assert_int_equal(whole, 1);
    loaded = 0;
    mangle_cuts(glb, total, try_bytes, &loaded);
    assert_int_equal(loaded, 0);
    mangle_flips(glb, total, 3000, 2, try_bytes, &loaded);
    mangle_words(glb, total, total, try_bytes, &loaded);
    assert_true(loaded > 100);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_primitives), cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_choosing),   cmocka_unit_test(test_areas_and_links),
        cmocka_unit_test(test_complaints), cmocka_unit_test(test_repetition_is_bounded),
        cmocka_unit_test(test_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
