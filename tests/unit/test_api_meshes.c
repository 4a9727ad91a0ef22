/// Calls about meshes and about the service.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_check.h"

static fake_host fake;

static int setup(void **state)
{
    (void)state;
    api_check_start(&fake);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    api_check_stop(&fake);
    return 0;
}

static double number_at(const cJSON *json, const char *path)
{
    return api_check_at(json, path)->valuedouble;
}

static const char *text_at(const cJSON *json, const char *path)
{
    return api_check_at(json, path)->valuestring;
}

static void test_summary(void **state)
{
    (void)state;
    cJSON *summary = api_check_json(&fake, API_GET, "/v1/meshes/g", NULL);
    assert_string_equal(text_at(summary, "id"), "g");
    assert_true(number_at(summary, "revision") == 1);
    assert_string_equal(text_at(summary, "format"), "json");
    assert_string_equal(text_at(summary, "up"), "y");
    assert_string_equal(text_at(summary, "state"), "ready");
    assert_string_equal(text_at(summary, "loaded_at"), "2023-11-14T22:13:20.000Z");
    assert_true(cJSON_IsNull(api_check_at(summary, "last_error")));
    static const struct {
        const char *path;
        double value;
    } numbers[] = {{"dimensions", 3},    {"polygons", 1},     {"vertices", 4},      {"links", 0},
                   {"islands", 1},       {"bounds/min/0", 0}, {"bounds/max/0", 10}, {"bounds/max/1", 0},
                   {"bounds/max/2", 10}, {"agent/radius", 0}, {"agent/height", 2},  {"agent/climb", 0.5},
                   {"agent/slope", 45},  {"areas/0/id", 0},   {"areas/0/cost", 1}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assert_true(number_at(summary, numbers[i].path) == numbers[i].value);
    }
    assert_true(number_at(summary, "memory_bytes") > 100);
    cJSON_Delete(summary);
}

static void test_summary_of_names(void **state)
{
    (void)state;
    api_check_load(&fake, "n",
                   "{\"vertices\":[[0,0,0],[0,0,4],[4,0,4],[4,0,0],[8,0,0],[8,0,4]],"
                   "\"polygons\":[[0,1,2,3],[3,2,5,4]],\"areas\":[9,5],\"flags\":[1,2]}",
                   "areas=%7B%22m%5C%22d%22:%7B%22id%22:5,%22cost%22:3%7D%7D&flags=%7B%22swim%22:1%7D");
    cJSON *summary = api_check_json(&fake, API_GET, "/v1/meshes/n", NULL);
    const cJSON *areas = api_check_at(summary, "areas");
    assert_int_equal(cJSON_GetArraySize(areas), 2);
    assert_true(number_at(cJSON_GetObjectItemCaseSensitive(areas, "m\"d"), "cost") == 3);
    assert_true(number_at(areas, "9/id") == 9);
    assert_true(number_at(summary, "flags/swim") == 1);
    cJSON_Delete(summary);
}

static void test_bounds_in_the_callers_frame(void **state)
{
    (void)state;
    api_check_load(&fake, "u", "{\"vertices\":[[1,5,2],[1,5,12],[4,6,12],[4,6,2]],\"polygons\":[[0,1,2,3]]}",
                   "frame=unreal");
    cJSON *summary = api_check_json(&fake, API_GET, "/v1/meshes/u", NULL);
    static const double low[] = {-4, -12, 5}, high[] = {-1, -2, 6};
    for (int k = 0; k < 3; k++) {
        char path[32];
        snprintf(path, sizeof path, "bounds/min/%d", k);
        assert_true(number_at(summary, path) == low[k]);
        snprintf(path, sizeof path, "bounds/max/%d", k);
        assert_true(number_at(summary, path) == high[k]);
    }
    cJSON_Delete(summary);
}

static void test_list(void **state)
{
    (void)state;
    fake_host_add_empty(&fake, "broken", API_MESH_FAILED);
    fake_host_add_empty(&fake, "slow", API_MESH_LOADING);
    cJSON *list = api_check_json(&fake, API_GET, "/v1/meshes", NULL);
    assert_int_equal(cJSON_GetArraySize(api_check_at(list, "meshes")), 3);
    assert_string_equal(text_at(list, "meshes/0/id"), "g");
    assert_string_equal(text_at(list, "meshes/1/state"), "failed");
    assert_string_equal(text_at(list, "meshes/1/last_error/code"), "bad_mesh");
    assert_string_equal(text_at(list, "meshes/1/last_error/detail"), "line 3: it is broken");
    assert_string_equal(text_at(list, "meshes/1/last_error/at"), "2023-11-14T22:13:20.123Z");
    assert_string_equal(text_at(list, "meshes/2/state"), "loading");
    cJSON_Delete(list);
    cJSON *alone = api_check_json(&fake, API_GET, "/v1/meshes/broken", NULL);
    assert_string_equal(text_at(alone, "state"), "failed");
    cJSON_Delete(alone);
}

static void test_report(void **state)
{
    (void)state;
    // The second triangle is wound the other way and two of its corners are doubles.
    api_check_load(&fake, "r",
                   "{\"vertices\":[[0,0,0],[0,0,4],[4,0,4],[0,0,0],[4,0,4],[4,0,0]],"
                   "\"polygons\":[[0,1,2],[5,4,3],[0,1,1]]}",
                   NULL);
    cJSON *report = api_check_json(&fake, API_GET, "/v1/meshes/r/report", NULL);
    assert_true(number_at(report, "welded_vertices") == 2);
    assert_true(number_at(report, "degenerate_polygons") == 1);
    assert_true(cJSON_IsTrue(api_check_at(report, "mixed_winding")));
    assert_true(number_at(report, "islands/0/polygons") == 2);
    assert_true(number_at(report, "islands/0/area") == 16);
    assert_true(number_at(report, "totals/islands") == 1);
    assert_true(number_at(report, "revision") == 2);
    static const char *const lists[] = {"t_junctions", "non_manifold_edges", "overlaps", "dropped_links", "warnings"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        assert_true(cJSON_IsArray(api_check_at(report, lists[i])));
    }
    cJSON_Delete(report);
}

/// (b - a) x (c - a) of a face of `geometry`, its part along axis `up`; on a flat mesh its only part.
static double face_up(const cJSON *geometry, int face, int up)
{
    double p[3][3] = {{0}};
    const cJSON *corners = cJSON_GetArrayItem(api_check_at(geometry, "polygons"), face);
    for (int i = 0; i < 3; i++) {
        const cJSON *vertex =
            cJSON_GetArrayItem(api_check_at(geometry, "vertices"), cJSON_GetArrayItem(corners, i)->valueint);
        for (int k = 0; k < cJSON_GetArraySize(vertex); k++) {
            p[i][k] = cJSON_GetArrayItem(vertex, k)->valuedouble;
        }
    }
    int i = (up + 1) % 3, j = (up + 2) % 3;
    return (p[1][i] - p[0][i]) * (p[2][j] - p[0][j]) - (p[1][j] - p[0][j]) * (p[2][i] - p[0][i]);
}

static void test_geometry_faces_up(void **state)
{
    (void)state;
    static const struct {
        const char *params;
        int up;
    } frames[] = {{NULL, 1}, {"frame=z-up", 2}, {"frame=unreal", 2}, {"frame=z,x,y", 2}, {"frame=y,z,x", 0}};
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        const char *flat = "{\"vertices\":[[0,0,0],[0,0,10],[10,0,10]],\"polygons\":[[0,1,2]]}";
        const char *z_up = "{\"vertices\":[[0,0,0],[0,10,0],[10,10,0]],\"polygons\":[[0,1,2]]}";
        api_check_load(&fake, "f", i == 1 ? z_up : flat, frames[i].params);
        cJSON *geometry = api_check_json(&fake, API_GET, "/v1/meshes/f/geometry", NULL);
        assert_true(face_up(geometry, 0, frames[i].up) == 100);
        cJSON_Delete(geometry);
    }
    api_check_load(&fake, "f", "{\"vertices\":[[0,0],[0,10],[10,10]],\"polygons\":[[0,1,2]]}", NULL);
    cJSON *geometry = api_check_json(&fake, API_GET, "/v1/meshes/f/geometry", NULL);
    assert_int_equal(cJSON_GetArraySize(api_check_at(geometry, "vertices/0")), 2);
    assert_true(face_up(geometry, 0, 2) == 100);
    cJSON_Delete(geometry);
}

/// A strip of `n` squares.
static char *strip(int n)
{
    char *text = malloc((size_t)n * 80 + 128);
    assert_non_null(text);
    size_t size = (size_t)sprintf(text, "{\"vertices\":[[0,0,0],[0,0,1]");
    for (int i = 1; i <= n; i++) {
        size += (size_t)sprintf(text + size, ",[%d,0,0],[%d,0,1]", i, i);
    }
    size += (size_t)sprintf(text + size, "],\"polygons\":[");
    for (int i = 0; i < n; i++) {
        size += (size_t)sprintf(text + size, "%s[%d,%d,%d,%d]", i ? "," : "", 2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2);
    }
    sprintf(text + size, "]}");
    return text;
}

static void test_geometry_in_chunks(void **state)
{
    (void)state;
    enum { SQUARES = 3000 };
    char *text = strip(SQUARES);
    api_check_load(&fake, "s", text, NULL);
    free(text);
    fake.step_ns = 300000;
    cJSON *geometry = api_check_json(&fake, API_GET, "/v1/meshes/s/geometry", NULL);
    assert_true(fake.worker_runs > 10);
    assert_int_equal(cJSON_GetArraySize(api_check_at(geometry, "vertices")), 2 * SQUARES + 2);
    static const char *const lists[] = {"polygons", "numbers", "areas", "islands"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        assert_int_equal(cJSON_GetArraySize(api_check_at(geometry, lists[i])), SQUARES);
    }
    assert_null(cJSON_GetObjectItem(geometry, "flags")); // as the mesh has none
    const cJSON *face;
    int count = 0;
    cJSON_ArrayForEach(face, api_check_at(geometry, "numbers"))
    {
        assert_true(face->valuedouble == count++);
    }
    cJSON_Delete(geometry);

    fake.step_ns = 31000000000;
    api_check_problem(&fake, API_GET, "/v1/meshes/s/geometry", NULL, (api_expected){504, "deadline", "", "", NULL});
}

static void test_geometry_types(void **state)
{
    (void)state;
    static const char *const taken[] = {"*/*", "application/json", "text/html, application/*;q=0.8", ""};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        fake.accept = taken[i];
        cJSON_Delete(api_check_json(&fake, API_GET, "/v1/meshes/g/geometry", NULL));
    }
    fake.accept = "model/stl, text/html";
    api_check_problem(&fake, API_GET, "/v1/meshes/g/geometry", NULL,
                      (api_expected){415, "unsupported_media_type", "", "", "application/json"});
}

static void test_etags(void **state)
{
    (void)state;
    static const char *const targets[] = {"/v1/meshes/g", "/v1/meshes/g/report", "/v1/meshes/g/geometry"};
    for (size_t i = 0; i < 3; i++) {
        static const char *const known[] = {"\"1\"", "W/\"1\"", "\"0\", \"1\"", "*"};
        for (size_t k = 0; k < 4; k++) {
            fake.if_none_match = known[k];
            api_response response = fake_ask(&fake, API_GET, targets[i], NULL);
            assert_int_equal(response.status, 304);
            assert_int_equal(response.body.size, 0);
            assert_int_equal(response.revision, 1);
            api_buffer_free(&response.body);
        }
        fake.if_none_match = "\"11\"";
        api_response response = fake_ask(&fake, API_GET, targets[i], NULL);
        assert_int_equal(response.status, 200);
        assert_int_equal(response.revision, 1);
        api_buffer_free(&response.body);
    }
}

static void test_put(void **state)
{
    (void)state;
    api_response response = fake_ask(&fake, API_PUT, "/v1/meshes/new", api_square);
    assert_int_equal(response.status, 201);
    assert_string_equal(response.location, "/v1/meshes/new");
    assert_int_equal(response.revision, 2);
    assert_non_null(strstr(response.body.data, "\"id\":\"new\",\"revision\":2"));
    api_buffer_free(&response.body);
    assert_int_equal(fake.job_runs, 1);
    assert_int_equal(fake.persisted, 1);
    response = fake_ask(&fake, API_PUT, "/v1/meshes/new?persist=false", api_square);
    assert_int_equal(response.status, 200);
    assert_int_equal(response.location[0], '\0');
    assert_int_equal(response.revision, 3);
    api_buffer_free(&response.body);
    assert_int_equal(fake.persisted, 1);
}

static void test_put_refuses(void **state)
{
    (void)state;
    api_check_problem(&fake, API_PUT, "/v1/meshes/g", "{\"vertices\":[[0,0,0],[0,0,4],[4,0,4]],\"polygons\":[[0,1,3]]}",
                      (api_expected){422, "bad_mesh", NULL, "", "3"});
    api_check_problem(&fake, API_PUT, "/v1/meshes/g", "what is this",
                      (api_expected){415, "unsupported_media_type", NULL, "", NULL});
    api_check_problem(&fake, API_PUT, "/v1/meshes/g?persist=maybe", api_square,
                      (api_expected){400, "bad_request", "", "persist", "true or false"});
    api_check_problem(&fake, API_PUT, "/v1/meshes/g?format=%zz", api_square,
                      (api_expected){400, "bad_request", "", "format", NULL});
    api_check_problem(&fake, API_PUT, "/v1/meshes/g?frame=w-up", api_square,
                      (api_expected){400, "bad_request", "", "frame", NULL});
    api_check_problem(&fake, API_PUT, "/v1/meshes/g?colour=red", api_square,
                      (api_expected){400, "bad_request", "", "colour", NULL});
    // The mesh served before goes on being served.
    cJSON *summary = api_check_json(&fake, API_GET, "/v1/meshes/g", NULL);
    assert_true(number_at(summary, "revision") == 1);
    cJSON_Delete(summary);
}

/// What the parameters said holds after a reload too: it is in the sidecar.
static void test_put_keeps_parameters(void **state)
{
    (void)state;
    api_response response = fake_ask(&fake, API_PUT, "/v1/meshes/z?frame=z-up&persist=true",
                                     "{\"vertices\":[[0,0,5],[9,0,5],[9,9,5]],\"polygons\":[[0,1,2]]}");
    assert_int_equal(response.status, 201);
    api_buffer_free(&response.body);
    assert_non_null(fake.meshes[1].sidecar);
    assert_non_null(strstr(fake.meshes[1].sidecar, "z-up"));
    response = fake_ask(&fake, API_PUT, "/v1/meshes/z?persist=false",
                        "{\"vertices\":[[0,0,7],[9,0,7],[9,9,7]],\"polygons\":[[0,1,2]]}");
    assert_int_equal(response.status, 200);
    api_buffer_free(&response.body);
    cJSON *answer = api_check_json(&fake, API_GET, "/v1/meshes/z/height?point=8,1,7", NULL);
    assert_true(number_at(answer, "height") == 7);
    cJSON_Delete(answer);
}

static void test_if_match(void **state)
{
    (void)state;
    static const struct {
        api_method method;
        const char *target;
    } changes[] = {{API_PUT, "/v1/meshes/g"}, {API_POST, "/v1/meshes/g/reload"}, {API_DELETE, "/v1/meshes/g"}};
    fake.if_match = "\"2\"";
    for (size_t i = 0; i < 3; i++) {
        api_check_problem(&fake, changes[i].method, changes[i].target, api_square,
                          (api_expected){409, "conflict", "", "", "is at revision 1"});
    }
    fake.if_match = "*";
    api_check_problem(&fake, API_PUT, "/v1/meshes/new", api_square, (api_expected){409, "conflict", "", "", "no mesh"});
    api_check_answer(&fake, API_PUT, "/v1/meshes/g", api_square, 200, NULL);
    fake.if_match = "\"2\"";
    api_check_answer(&fake, API_DELETE, "/v1/meshes/g", NULL, 204, NULL);
}

static void test_reload_and_delete(void **state)
{
    (void)state;
    api_response response = fake_ask(&fake, API_POST, "/v1/meshes/g/reload", NULL);
    assert_int_equal(response.status, 200);
    assert_int_equal(response.revision, 2);
    api_buffer_free(&response.body);
    api_check_problem(&fake, API_POST, "/v1/meshes/x/reload", NULL, (api_expected){404, "not_found", "", "", "`x`"});
    response = fake_ask(&fake, API_DELETE, "/v1/meshes/g", NULL);
    assert_int_equal(response.status, 204);
    assert_int_equal(response.body.size, 0);
    assert_null(response.content_type);
    api_buffer_free(&response.body);
    api_check_problem(&fake, API_GET, "/v1/meshes/g", NULL, (api_expected){404, "not_found", "", "", "`g`"});
    api_check_problem(&fake, API_DELETE, "/v1/meshes/g", NULL, (api_expected){404, "not_found", "", "", "`g`"});
}

static void test_service(void **state)
{
    (void)state;
    api_check_answer(&fake, API_GET, "/version", NULL, 200, "{\"name\":\"navd\",\"version\":\"0.1.0\"}");
    api_check_answer(&fake, API_GET, "/livez", NULL, 200, "{\"status\":\"ok\"}");
    api_check_answer(&fake, API_GET, "/readyz", NULL, 200, "{\"status\":\"ready\"}");
    api_check_answer(&fake, API_GET, "/healthz", NULL, 200,
                     "{\"status\":\"ok\",\"meshes\":{\"total\":1,\"serving\":1,\"failed\":[]}}");
    fake_host_add_empty(&fake, "broken", API_MESH_FAILED);
    api_check_answer(&fake, API_GET, "/healthz", NULL, 200,
                     "{\"status\":\"degraded\",\"meshes\":{\"total\":2,\"serving\":1,\"failed\":[{\"id\":\"broken\","
                     "\"serving\":false,\"code\":\"bad_mesh\",\"detail\":\"line 3: it is broken\"}]}}");
    fake.ready = false;
    api_check_problem(&fake, API_GET, "/readyz", NULL, (api_expected){503, "overloaded", "", "", "still being read"});
    fake.draining = true;
    api_check_problem(&fake, API_GET, "/readyz", NULL, (api_expected){503, "draining", "", "", NULL});
    api_response response = fake_ask(&fake, API_GET, "/metrics", NULL);
    assert_string_equal(response.body.data, "navd_up 1\n");
    assert_non_null(strstr(response.content_type, "version=0.0.4"));
    api_buffer_free(&response.body);
    response = fake_ask(&fake, API_GET, "/", NULL);
    assert_non_null(strstr(response.content_type, "text/html"));
    assert_non_null(strstr(response.body.data, "</html>"));
    api_buffer_free(&response.body);
}

/// Every "$ref" leads somewhere.
static void check_references(const cJSON *root, const cJSON *value)
{
    for (const cJSON *child = value->child; child; child = child->next) {
        if (child->string && strcmp(child->string, "$ref") == 0) {
            assert_true(strncmp(child->valuestring, "#/", 2) == 0);
            api_check_at(root, child->valuestring + 2);
        }
        check_references(root, child);
    }
}

static void test_openapi_references(void **state)
{
    (void)state;
    cJSON *openapi = api_check_json(&fake, API_GET, "/openapi.json", NULL);
    check_references(openapi, openapi);
    cJSON_Delete(openapi);
}

int main(void)
{
#define MESH_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        MESH_TEST(test_summary),
        MESH_TEST(test_summary_of_names),
        MESH_TEST(test_bounds_in_the_callers_frame),
        MESH_TEST(test_list),
        MESH_TEST(test_report),
        MESH_TEST(test_geometry_faces_up),
        MESH_TEST(test_geometry_in_chunks),
        MESH_TEST(test_geometry_types),
        MESH_TEST(test_etags),
        MESH_TEST(test_put),
        MESH_TEST(test_put_refuses),
        MESH_TEST(test_put_keeps_parameters),
        MESH_TEST(test_if_match),
        MESH_TEST(test_reload_and_delete),
        MESH_TEST(test_service),
        MESH_TEST(test_openapi_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
