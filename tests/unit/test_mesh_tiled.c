/// Tiled maps, dumps of Recast's polygon meshes and of Source 2 areas.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api_mesh.h"
#include "mangle.h"

static api_mesh *load(const char *text, const char *params, api_problem *problem)
{
    api_mesh_source source = {.bytes = text, .size = strlen(text), .params = params};
    return api_mesh_load(&source, problem);
}

/// Loads and compares polygons, islands and ground area.
static void check(const char *text, const char *params, uint32_t polygons, uint32_t islands, double area)
{
    api_problem problem;
    nav_mesh_info info;
    double total = 0;
    api_mesh *mesh = load(text, params, &problem);
    if (!mesh) {
        fail_msg("%s: %s", text, problem.detail);
    }
    nav_mesh_get_info(mesh->nav, &info);
    for (uint32_t i = 0; i < mesh->report->island_count; i++) {
        total += mesh->report->islands[i].area;
    }
    if (info.polygons != polygons || info.islands != islands || fabs(total - area) > 1e-3) {
        fail_msg("%s: %u polygons, %u islands, area %g", text, info.polygons, info.islands, total);
    }
    api_mesh_destroy(mesh);
}

#define MAP \
    "{\"type\":\"map\",\"orientation\":\"orthogonal\",\"height\":3,\"width\":4,\"tilewidth\":10,\"tileheight\":5,"
#define OBJECTS                                                                                        \
    "\"objects\":[{\"x\":0,\"y\":0,\"width\":20,\"height\":10},{\"x\":20,\"y\":5,\"width\":20,"        \
    "\"height\":20},{\"x\":60,\"y\":0,\"rotation\":90,\"polygon\":[{\"x\":0,\"y\":0},{\"x\":10,\"y\":" \
    "0},{\"x\":0,\"y\":8}]},{\"x\":0,\"y\":0,\"point\":true}]"
#define TILES "\"data\":[0,1,0,0, 0,1,2,0, 0,3,2147483649,0]"
#define TILE_LAYER "\"layers\":[{\"type\":\"tilelayer\",\"name\":\"a\"," TILES "}]"

static void test_objects(void **state)
{
    (void)state;
    // Two rectangles that share a part of a side; a triangle turned by a quarter.
    check(MAP "\"layers\":[{\"type\":\"objectgroup\",\"name\":\"My NavMesh\"," OBJECTS "}]}", NULL, 3, 2,
          200 + 400 + 40);
    check(MAP "\"layers\":[{\"type\":\"group\",\"layers\":[{\"type\":\"objectgroup\",\"name\":\"a\","
              "\"properties\":[{\"name\":\"walkable\",\"value\":true}]," OBJECTS "}]}]}",
          NULL, 3, 2, 640);
    check(MAP "\"layers\":[{\"type\":\"objectgroup\",\"name\":\"floor\"," OBJECTS "}]}", "node=floor", 3, 2, 640);
    api_problem problem;
    api_mesh *mesh =
        load(MAP "\"layers\":[{\"type\":\"objectgroup\",\"name\":\"navmesh\",\"offsetx\":100," OBJECTS "}]}", NULL,
             &problem);
    assert_non_null(mesh);
    nav_mesh_info info;
    nav_mesh_get_info(mesh->nav, &info);
    assert_int_equal(mesh->dimensions, 2);
    // The triangle's (10, 0) goes down and its (0, 8) to the left: y grows downwards.
    assert_true(info.min.x == 100 && info.max.x == 160 && info.min.z == 0 && info.max.z == 25);
    bool warned = false;
    for (uint32_t i = 0; i < mesh->report->warning_count; i++) {
        warned = warned || strstr(mesh->report->warnings[i], "1 objects were left out");
    }
    assert_true(warned);
    api_mesh_destroy(mesh);
}

static void test_tiles(void **state)
{
    (void)state;
    // Tile 1 blocks, flipped as well, 2 says that it is not walkable, 3 nothing.
    check(MAP "\"tilesets\":[{\"firstgid\":1,\"tileproperties\":{\"0\":{\"collides\":true},\"1\":{\"walkable\":false}}}"
              "]," TILE_LAYER "}",
          NULL, 4, 2, 8 * 50);
    check(MAP
          "\"tilesets\":[{\"firstgid\":1,\"tiles\":[{\"id\":0,\"properties\":[{\"name\":\"collides\",\"type\":\"bool\","
          "\"value\":true}]},{\"id\":1,\"properties\":[{\"name\":\"collides\",\"value\":false}]}]}]," TILE_LAYER "}",
          NULL, 4, 2, 9 * 50);
    // Only what carries is walked on: tiles 2 and 3.
    check(MAP "\"tilesets\":[{\"firstgid\":1,\"tileproperties\":{\"1\":{\"walkable\":true},\"2\":{\"walkable\":true}}}]"
              "," TILE_LAYER "}",
          NULL, 2, 2, 2 * 50);
    check(MAP "\"layers\":[{\"type\":\"tilelayer\",\"name\":\"walls\",\"properties\":{\"collides\":true}," TILES "}]}",
          NULL, 3, 2, 7 * 50);
    check(MAP TILE_LAYER "}", "node=a", 3, 2, 7 * 50);
    check(MAP "\"layers\":[{\"type\":\"tilelayer\",\"properties\":{\"collides\":true},\"encoding\":\"base64\",\"data\":"
              "\"AAAAAAEAAAAAAAAAAAAAAAAAAAABAAAAAgAAAAAAAAAAAAAAAwAAAAEAAIAAAAAA\"}]}",
          NULL, 3, 2, 7 * 50);
}

static void test_tiled_complaints(void **state)
{
    (void)state;
    static const struct {
        const char *text, *params, *detail;
    } cases[] = {
        {MAP TILE_LAYER "}", NULL, "nothing says what can be walked on"},
        {MAP TILE_LAYER ",\"tilesets\":[{\"firstgid\":1,\"source\":\"a.tsj\"}]}", NULL, "tilesets in other files"},
        {MAP TILE_LAYER "}", "node=b", "no layer is called `b`"},
        {MAP "\"layers\":1}", NULL, "/layers must have an array of layers"},
        {MAP "\"layers\":[{\"type\":\"tilelayer\",\"data\":[1,2]}]}", NULL, "/layers/0/data has 2 cells"},
        {MAP "\"layers\":[{\"type\":\"tilelayer\",\"data\":\"AAAA\"}]}", NULL, "is not the base64 of 12 cells"},
        {MAP "\"layers\":[{\"type\":\"tilelayer\",\"data\":\"AA\",\"compression\":\"zstd\"}]}", NULL,
         "/layers/0/compression is zstd"},
        {MAP "\"layers\":[{\"type\":\"tilelayer\",\"chunks\":[]}]}", NULL, "the map is infinite"},
        {"{\"tilewidth\":1,\"orientation\":\"hexagonal\"}", NULL, "/orientation is hexagonal"},
        {"{\"tilewidth\":1,\"tileheight\":1,\"width\":16777216,\"height\":16777216,\"layers\":[]}", NULL,
         "16777216 by 16777216 cells in"},
        {"{\"tilewidth\":0,\"tileheight\":1,\"width\":1,\"height\":1,\"layers\":[]}", NULL, "tiles have no size"},
        {MAP "\"layers\":[{\"type\":\"objectgroup\",\"name\":\"navmesh\",\"objects\":[{\"x\":1}]}]}", NULL,
         "must be a number"},
        {MAP
         "\"layers\":[{\"type\":\"tilelayer\",\"properties\":{\"collides\":true},\"data\":[1,1,1,1,1,1,1,1,1,1,1,1]}]}",
         NULL, "no cell that is free"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        api_problem problem;
        assert_null(load(cases[i].text, cases[i].params, &problem));
        if (problem.code != API_BAD_MESH || !strstr(problem.detail, cases[i].detail)) {
            fail_msg("case %zu: %s does not say %s", i, problem.detail, cases[i].detail);
        }
    }
}

#define POLY_HEAD "{\"aabb\":{\"min\":[-1,5,0],\"max\":[9,9,9]},\"cell_size\":0.5,\"cell_height\":0.25,"
#define POLY_VERTICES "\"vertices\":[[0,0,0],[0,0,8],[8,0,8],[8,4,0],[16,4,0]],"

static void test_recast(void **state)
{
    (void)state;
    check(POLY_HEAD POLY_VERTICES "\"polygons\":[0,1,2,3,3,2,4,65535],\"max_vertices_per_polygon\":4}", NULL, 2, 1,
          16 + 8);
    api_problem problem;
    api_mesh *mesh = load(POLY_HEAD POLY_VERTICES "\"areas\":[7,255],\"flags\":[0,0],\"polygon_neighbors\":[],"
                                                  "\"max_vertices_per_polygon\":4,\"polygons\":[0,1,2,3,3,2,4,65535]}",
                          NULL, &problem);
    assert_non_null(mesh);
    nav_mesh_info info;
    nav_mesh_get_info(mesh->nav, &info);
    assert_string_equal(mesh->format, "recast");
    assert_true(info.min.x == -1 && info.max.x == 7 && info.min.y == 5 && info.max.y == 6 && info.max.z == 4);
    assert_false(info.has_flags);
    assert_int_equal(nav_mesh_polygon_area(mesh->nav, 1), 255);
    api_mesh_destroy(mesh);
    static const struct {
        const char *text, *detail;
    } cases[] = {
        {"{\"max_vertices_per_polygon\":4}", "needs `polygons`, an array"},
        {"{\"max_vertices_per_polygon\":4,\"polygons\":[1,2,3]}", "/polygons has 3 numbers for polygons of 4 each"},
        {"{\"max_vertices_per_polygon\":0,\"polygons\":[1,2,3]}", "/polygons has 3 numbers for polygons of 0 each"},
        {"{\"max_vertices_per_polygon\":3,\"polygons\":[1,2,3]}", "has no aabb"},
        {POLY_HEAD POLY_VERTICES "\"polygons\":[0,1,5],\"max_vertices_per_polygon\":3}",
         "/polygons/2 is vertex 5, but"},
        {POLY_HEAD POLY_VERTICES "\"polygons\":[0,1,65535],\"max_vertices_per_polygon\":3}",
         "fewer than three corners"},
        {POLY_HEAD POLY_VERTICES "\"polygons\":[0,1,2],\"areas\":[1,2],\"max_vertices_per_polygon\":3}",
         "/areas must be an array of 1 numbers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(load(cases[i].text, NULL, &problem));
        if (problem.code != API_BAD_MESH || !strstr(problem.detail, cases[i].detail)) {
            fail_msg("case %zu: %s does not say %s", i, problem.detail, cases[i].detail);
        }
    }
}

#define CORNERS_1 \
    "[{\"x\":0,\"y\":0,\"z\":0},{\"x\":50,\"y\":0,\"z\":0},{\"x\":50,\"y\":50,\"z\":0},{\"x\":0,\"y\":50,\"z\":0}]"
#define CORNERS_2 "[{\"x\":50,\"y\":20,\"z\":10},{\"x\":90,\"y\":20,\"z\":10},{\"x\":50,\"y\":90,\"z\":10}]"
#define CORNERS_3 "[{\"x\":0,\"y\":80,\"z\":-60},{\"x\":50,\"y\":80,\"z\":-60},{\"x\":0,\"y\":99,\"z\":-60}]"

static const char awpy[] = "{\"version\":35,\"is_analyzed\":true,\"areas\":{"
                           "\"7\":{\"area_id\":7,\"corners\":" CORNERS_1 ",\"connections\":[8,9],\"ladders_above\":[]},"
                           "\"8\":{\"area_id\":8,\"corners\":" CORNERS_2 ",\"connections\":[7]},"
                           "\"9\":{\"area_id\":9,\"corners\":" CORNERS_3 ",\"connections\":[]}}}";

static void test_awpy(void **state)
{
    (void)state;
    check(awpy, NULL, 3, 2, 2500 + 1400 + 475);
    api_problem problem;
    api_mesh *mesh = load(awpy, NULL, &problem);
    assert_non_null(mesh);
    assert_true(mesh->up == 'z' && mesh->agent.climb == 18);
    nav_mesh_info info;
    nav_mesh_get_info(mesh->nav, &info);
    assert_int_equal(info.links, 1);
    assert_string_equal(nav_mesh_links(mesh->nav)[0].id, "7-9");
    assert_true(info.min.y == -60 && info.max.y == 10);
    api_mesh_destroy(mesh);
    static const struct {
        const char *text, *detail;
    } cases[] = {
        {"{\"areas\":{}}", "/areas must be an object of areas"},
        {"{\"areas\":{\"1\":{}}}", "/areas/1 needs `corners`"},
        {"{\"areas\":{\"1\":{\"corners\":[1,2]}}}", "/areas/1/corners has fewer than three corners"},
        {"{\"areas\":{\"1\":{\"corners\":[1,2,3]}}}", "/areas/1/corners/0 must be [x, y, z]"},
        {"{\"areas\":{\"1\":{\"corners\":" CORNERS_2 ",\"connections\":[-1]}}}",
         "/areas/1/connections/0 must be a whole"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(load(cases[i].text, NULL, &problem));
        if (problem.code != API_BAD_MESH || !strstr(problem.detail, cases[i].detail)) {
            fail_msg("case %zu: %s does not say %s", i, problem.detail, cases[i].detail);
        }
    }
}

static void try_bytes(void *ctx, const void *bytes, size_t size)
{
    unsigned *loaded = ctx;
    api_problem problem;
    api_mesh_source source = {.bytes = bytes, .size = size};
    api_mesh *mesh = api_mesh_load(&source, &problem);
    *loaded += mesh != NULL;
    assert_true(mesh || problem.detail[0]);
    api_mesh_destroy(mesh);
}

static void test_broken(void **state)
{
    (void)state;
    static const char *const texts[] = {
        MAP "\"layers\":[{\"type\":\"objectgroup\",\"name\":\"navmesh\"," OBJECTS "}]}",
        MAP "\"tilesets\":[{\"firstgid\":1,\"tileproperties\":{\"0\":{\"collides\":true}}}]," TILE_LAYER "}",
        POLY_HEAD POLY_VERTICES "\"polygons\":[0,1,2,3,3,2,4,65535],\"areas\":[1,2],\"max_vertices_per_polygon\":4}",
        awpy,
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        unsigned loaded = 0;
        mangle_cuts(texts[i], strlen(texts[i]), try_bytes, &loaded);
        assert_int_equal(loaded, 0);
        mangle_flips(texts[i], strlen(texts[i]), 1500, i, try_bytes, &loaded);
        assert_true(loaded > 50);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects), cmocka_unit_test(test_tiles), cmocka_unit_test(test_tiled_complaints),
        cmocka_unit_test(test_recast),  cmocka_unit_test(test_awpy),  cmocka_unit_test(test_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
