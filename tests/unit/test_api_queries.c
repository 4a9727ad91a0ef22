/// Queries from their bytes to their answers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
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

/// `n` rooms in a row, doors at one side and the other in turn: 2n - 2 corners and much to search.
static char *zigzag(int n)
{
    char *text = malloc((size_t)n * 400 + 64);
    char *polygons = malloc((size_t)n * 100 + 64);
    assert_non_null(text);
    assert_non_null(polygons);
    size_t size = (size_t)sprintf(text, "{\"vertices\":["), used = 0;
    int vertex = 0;
    for (int i = 0; i < n; i++) {
        double x = 2.0 * i, low = i % 2 ? 0.9 : 0, high = i % 2 ? 1 : 0.1;
        const double room[4][2] = {{x, 0}, {x, 1}, {x + 1.9, 1}, {x + 1.9, 0}};
        const double door[4][2] = {{x + 1.9, low}, {x + 1.9, high}, {x + 2, high}, {x + 2, low}};
        for (int part = 0; part < (i + 1 < n ? 2 : 1); part++) {
            used += (size_t)sprintf(polygons + used, "%s[%d,%d,%d,%d]", vertex ? "," : "", vertex, vertex + 1,
                                    vertex + 2, vertex + 3);
            for (int k = 0; k < 4; k++) {
                const double *p = part ? door[k] : room[k];
                size += (size_t)sprintf(text + size, "%s[%g,0,%g]", vertex++ ? "," : "", p[0], p[1]);
            }
        }
    }
    sprintf(text + size, "],\"polygons\":[%s]}", polygons);
    free(polygons);
    return text;
}

static void test_nearest(void **state)
{
    (void)state;
    api_check_answer(&fake, API_POST, "/v1/meshes/g/nearest", "{\"point\":[2,0.5,3]}", 200,
                     "{\"status\":\"found\",\"point\":[2,0,3],\"polygon\":0,\"distance\":0.5,\"area\":0,\"flags\":0,"
                     "\"inside\":true,\"on_mesh\":true,\"revision\":1}");
    api_check_answer(&fake, API_POST, "/v1/meshes/g/nearest", "{\"point\":[-1,0,5],\"id\":\"q\"}", 200,
                     "{\"status\":\"found\",\"point\":[0,0,5],\"polygon\":0,\"distance\":1,\"area\":0,\"flags\":0,"
                     "\"inside\":false,\"on_mesh\":false,\"revision\":1,\"id\":\"q\"}");
    api_check_answer(&fake, API_POST, "/v1/meshes/g/nearest", "{\"point\":[-3,0,5],\"id\":-1.5}", 200,
                     "{\"status\":\"none\",\"revision\":1,\"id\":-1.5}");
}

static void test_nearest_many(void **state)
{
    (void)state;
    api_check_load(&fake, "floors",
                   "{\"vertices\":[[0,0,0],[0,0,10],[10,0,10],[10,0,0],[0,3,0],[0,3,10],[4,3,10],[4,3,0]],"
                   "\"polygons\":[[0,1,2,3],[4,5,6,7]]}",
                   NULL);
    cJSON *answer = api_check_json(&fake, API_POST, "/v1/meshes/floors/nearest", "{\"point\":[2,2.4,5],\"count\":8}");
    assert_int_equal(cJSON_GetArraySize(api_check_at(answer, "results")), 2);
    assert_true(api_check_at(answer, "polygon")->valuedouble == 1);
    assert_true(api_check_at(answer, "results/0/polygon")->valuedouble == 1);
    assert_true(api_check_at(answer, "results/1/polygon")->valuedouble == 0);
    cJSON_Delete(answer);
    api_check_answer(&fake, API_POST, "/v1/meshes/floors/nearest", "{\"point\":[90,0,90],\"count\":2}", 200,
                     "{\"status\":\"none\",\"results\":[],\"revision\":2}");
    api_check_answer(&fake, API_GET, "/v1/meshes/floors/nearest?point=2,1.2,5&floor=above&precision=0", NULL, 200,
                     "{\"status\":\"found\",\"point\":[2,3,5],\"polygon\":1,\"distance\":1.8,\"area\":0,\"flags\":0,"
                     "\"inside\":true,\"on_mesh\":false,\"revision\":2}");
}

static void test_path(void **state)
{
    (void)state;
    api_check_answer(&fake, API_POST, "/v1/meshes/g/path", "{\"start\":[1,0.25,1],\"end\":[4,0,5],\"corridor\":true}",
                     200,
                     "{\"status\":\"complete\",\"length\":5,\"cost\":5,\"points\":[[1,0,1],[4,0,5]],"
                     "\"start\":{\"point\":[1,0,1],\"polygon\":0,\"distance\":0.25},"
                     "\"end\":{\"point\":[4,0,5],\"polygon\":0,\"distance\":0},"
                     "\"links\":[],\"remaining\":0,\"polygons\":[0],\"revision\":1}");
    api_check_answer(&fake, API_POST, "/v1/meshes/g/path", "{\"start\":[1e38,0,1e38],\"end\":[1,0,1]}", 200,
                     "{\"status\":\"start_off_mesh\",\"start\":null,\"end\":null,\"revision\":1}");
    cJSON *answer = api_check_json(&fake, API_POST, "/v1/meshes/g/path", "{\"start\":[1,0,1],\"end\":[-90,0,1]}");
    assert_string_equal(api_check_at(answer, "status")->valuestring, "end_off_mesh");
    assert_null(cJSON_GetObjectItem(answer, "points"));
    cJSON_Delete(answer);
}

static void test_explanation(void **state)
{
    (void)state;
    char *text = zigzag(8);
    api_check_load(&fake, "zigzag", text, NULL);
    free(text);
    const char *body = "{\"start\":[0.5,0,0.5],\"end\":[15,0,0.5],\"explain\":%d}";
    char asked[96];
    snprintf(asked, sizeof asked, body, 100);
    cJSON *answer = api_check_json(&fake, API_POST, "/v1/meshes/zigzag/path", asked);
    const cJSON *expanded = api_check_at(answer, "explain/expanded");
    double nodes = api_check_at(answer, "explain/nodes")->valuedouble;
    assert_true(nodes >= 2 && cJSON_GetArraySize(expanded) == (int)nodes);
    for (const cJSON *node = expanded->child; node; node = node->next) {
        // Each root lies on the way: its distance from the start is no more than g.
        double x = api_check_at(node, "root/0")->valuedouble, z = api_check_at(node, "root/2")->valuedouble;
        assert_true(hypot(x - 0.5, z - 0.5) <= api_check_at(node, "g")->valuedouble + 1e-6);
    }
    cJSON_Delete(answer);
    snprintf(asked, sizeof asked, body, 1);
    answer = api_check_json(&fake, API_POST, "/v1/meshes/zigzag/path", asked);
    assert_int_equal(cJSON_GetArraySize(api_check_at(answer, "explain/expanded")), 1);
    cJSON_Delete(answer);
    snprintf(asked, sizeof asked, body, 0);
    answer = api_check_json(&fake, API_POST, "/v1/meshes/zigzag/path", asked);
    assert_null(cJSON_GetObjectItem(answer, "explain"));
    cJSON_Delete(answer);
    snprintf(asked, sizeof asked, body, 10001);
    api_check_problem(&fake, API_POST, "/v1/meshes/zigzag/path", asked,
                      (api_expected){400, "bad_request", "/explain", "", "from 0 to 10000"});
}

static void test_unreachable(void **state)
{
    (void)state;
    api_check_load(&fake, "two",
                   "{\"vertices\":[[0,0,0],[0,0,4],[4,0,4],[4,0,0],[10,0,0],[10,0,4],[14,0,4],[14,0,0]],"
                   "\"polygons\":[[0,1,2,3],[4,5,6,7]]}",
                   NULL);
    api_check_answer(
        &fake, API_POST, "/v1/meshes/two/path", "{\"start\":[1,0,2],\"end\":[12,0,2]}", 200,
        "{\"status\":\"partial\",\"length\":3,\"cost\":3,\"points\":[[1,0,2],[4,0,2]],"
        "\"start\":{\"point\":[1,0,2],\"polygon\":0,\"distance\":0},"
        "\"end\":{\"point\":[12,0,2],\"polygon\":1,\"distance\":0},\"links\":[],\"remaining\":8,\"revision\":2}");
    api_check_answer(&fake, API_POST, "/v1/meshes/two/path", "{\"start\":[1,0,2],\"end\":[12,0,2],\"partial\":false}",
                     200,
                     "{\"status\":\"unreachable\",\"start\":{\"point\":[1,0,2],\"polygon\":0,\"distance\":0},"
                     "\"end\":{\"point\":[12,0,2],\"polygon\":1,\"distance\":0},\"revision\":2}");
}

static void test_raycast_and_height(void **state)
{
    (void)state;
    api_check_answer(&fake, API_POST, "/v1/meshes/g/raycast", "{\"start\":[5,0,5],\"end\":[15,0,5],\"corridor\":true}",
                     200,
                     "{\"status\":\"blocked\",\"t\":0.5,\"point\":[10,0,5],\"normal\":[-1,0,0],\"distance\":5,"
                     "\"polygons\":[0],\"revision\":1}");
    api_check_answer(&fake, API_POST, "/v1/meshes/g/raycast", "{\"start\":[5,0,5],\"end\":[9,0,5]}", 200,
                     "{\"status\":\"clear\",\"t\":1,\"point\":[9,0,5],\"distance\":4,\"revision\":1}");
    api_check_answer(&fake, API_POST, "/v1/meshes/g/raycast", "{\"start\":[50,0,5],\"end\":[9,0,5]}", 200,
                     "{\"status\":\"start_off_mesh\",\"revision\":1}");
    api_check_answer(&fake, API_POST, "/v1/meshes/g/height", "{\"point\":[2.5,1,3]}", 200,
                     "{\"status\":\"found\",\"point\":[2.5,0,3],\"height\":0,\"polygon\":0,\"revision\":1}");
    api_check_answer(&fake, API_POST, "/v1/meshes/g/height", "{\"point\":[-1,0,3]}", 200,
                     "{\"status\":\"none\",\"revision\":1}");
}

/// Every pair must give the same bytes.
static void test_get_equals_post(void **state)
{
    (void)state;
    static const char *const pairs[][3] = {
        {"path", "start=1,0,1&end=9,0,9.25", "{\"start\":[1,0,1],\"end\":[9,0,9.25]}"},
        {"path", "start=1,0,1&end=9,0,9&corridor=true&surface=1&partial=false&snap=2&id=a%20b",
         "{\"start\":[1,0,1],\"end\":[9,0,9],\"corridor\":true,\"surface\":true,\"partial\":false,\"snap\":2,\"id\":"
         "\"a b\"}"},
        {"path", "start=0.1,0,0.2&end=9.87654321,0,1e0&precision=3&vectors=object",
         "{\"start\":[0.1,0,0.2],\"end\":[9.87654321,0,1e0],\"precision\":3,\"vectors\":\"object\"}"},
        {"path", "start=+1,0,1&end=9,0,9&max_nodes=10&max_length=3.5&timeout_ms=100&hint=3&radius=0",
         "{\"start\":[1,0,1],\"end\":[9,0,9],\"max_nodes\":10,\"max_length\":3.5,\"timeout_ms\":100,\"hint\":3,"
         "\"radius\":0}"},
        {"nearest", "point=-1,0,5&snap=0.5,1,2&floor=below&count=4",
         "{\"point\":[-1,0,5],\"snap\":[0.5,1,2],\"floor\":\"below\",\"count\":4}"},
        {"nearest", "point=1,0,5&include=7&exclude=1,2&frame=z-up",
         "{\"point\":[1,0,5],\"filter\":{\"include\":7,\"exclude\":[1,2]},\"frame\":\"z-up\"}"},
        {"nearest", "point=1,0,5&filter=%7B%22costs%22:%7B%220%22:2%7D%7D",
         "{\"point\":[1,0,5],\"filter\":{\"costs\":{\"0\":2}}}"},
        {"raycast", "start=1,0,1&end=20,0,3&corridor=false", "{\"start\":[1,0,1],\"end\":[20,0,3],\"corridor\":false}"},
        {"height", "point=1,%200.5,%205", "{\"point\":[1,0.5,5]}"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char get[256], post[64];
        snprintf(get, sizeof get, "/v1/meshes/g/%s?%s", pairs[i][0], pairs[i][1]);
        snprintf(post, sizeof post, "/v1/meshes/g/%s", pairs[i][0]);
        api_response response = fake_ask(&fake, API_POST, post, pairs[i][2]);
        api_check_answer(&fake, API_GET, get, NULL, 200, response.body.data);
        api_check_answer(&fake, API_HEAD, get, NULL, 200, response.body.data);
        api_buffer_free(&response.body);
    }
}

static void test_form_of_positions(void **state)
{
    (void)state;
    api_check_answer(
        &fake, API_POST, "/v1/meshes/g/height", "{\"point\":{\"z\":3,\"x\":2,\"y\":1}}", 200,
        "{\"status\":\"found\",\"point\":{\"x\":2,\"y\":0,\"z\":3},\"height\":0,\"polygon\":0,\"revision\":1}");
    api_check_answer(&fake, API_POST, "/v1/meshes/g/height",
                     "{\"vectors\":\"array\",\"point\":{\"x\":2,\"y\":1,\"z\":3}}", 200,
                     "{\"status\":\"found\",\"point\":[2,0,3],\"height\":0,\"polygon\":0,\"revision\":1}");
    api_check_answer(
        &fake, API_POST, "/v1/meshes/g/height",
        "{\"point\":[2,1,3.123456789],\"vectors\":\"object\","
        "\"precision\":2}",
        200, "{\"status\":\"found\",\"point\":{\"x\":2,\"y\":0,\"z\":3.12},\"height\":0,\"polygon\":0,\"revision\":1}");
}

static void test_frames(void **state)
{
    (void)state;
    const char *floor = "{\"vertices\":[[0,0,7],[1000,0,7],[1000,1000,7],[0,1000,7]],\"polygons\":[[0,1,2,3]]}";
    api_check_load(&fake, "z", floor, "frame=z-up");
    api_check_answer(&fake, API_POST, "/v1/meshes/z/height", "{\"point\":[200,300,9]}", 200,
                     "{\"status\":\"found\",\"point\":[200,300,7],\"height\":7,\"polygon\":0,\"revision\":2}");
    // 12 beside the mesh, 2 above: only the ground extents are wide enough, or only the height.
    api_check_answer(
        &fake, API_GET, "/v1/meshes/z/nearest?point=-12,500,9&snap=12,0,2&precision=3", NULL, 200,
        "{\"status\":\"found\",\"point\":[0,500,7],\"polygon\":0,\"distance\":12.165525060596439,\"area\":0,"
        "\"flags\":0,\"inside\":false,\"on_mesh\":false,\"revision\":2}");
    api_check_answer(&fake, API_GET, "/v1/meshes/z/nearest?point=-12,500,9&snap=12,2,1", NULL, 200,
                     "{\"status\":\"none\",\"revision\":2}");
    api_check_answer(&fake, API_POST, "/v1/meshes/z/raycast", "{\"start\":[500,500,7],\"end\":[1500,500,7]}", 200,
                     "{\"status\":\"blocked\",\"t\":0.5,\"point\":[1000,500,7],\"normal\":[-1,0,0],\"distance\":500,"
                     "\"revision\":2}");

    // Unreal: X = -x, Y = -z, Z = y of the file.
    api_check_load(&fake, "u", api_square, "frame=unreal");
    api_check_answer(&fake, API_POST, "/v1/meshes/u/height", "{\"point\":[-2,-3,1]}", 200,
                     "{\"status\":\"found\",\"point\":[-2,-3,0],\"height\":0,\"polygon\":0,\"revision\":3}");
    api_check_answer(
        &fake, API_POST, "/v1/meshes/u/raycast", "{\"start\":[-5,-5,0],\"end\":[-25,-5,0]}", 200,
        "{\"status\":\"blocked\",\"t\":0.25,\"point\":[-10,-5,0],\"normal\":[1,0,0],\"distance\":5,\"revision\":3}");
    // The question's own frame wins.
    api_check_answer(&fake, API_GET, "/v1/meshes/u/height?point=2,1,3&frame=y-up", NULL, 200,
                     "{\"status\":\"found\",\"point\":[2,0,3],\"height\":0,\"polygon\":0,\"revision\":3}");
}

static void test_flat_meshes(void **state)
{
    (void)state;
    api_check_load(&fake, "flat", "{\"vertices\":[[0,0],[10,0],[10,10],[0,10]],\"polygons\":[[0,1,2,3]]}", NULL);
    api_check_answer(
        &fake, API_POST, "/v1/meshes/flat/path", "{\"start\":[1,1],\"end\":{\"x\":4,\"y\":5},\"snap\":0}", 200,
        "{\"status\":\"complete\",\"length\":5,\"cost\":5,\"points\":[[1,1],[4,5]],"
        "\"start\":{\"point\":[1,1],\"polygon\":0,\"distance\":0},"
        "\"end\":{\"point\":[4,5],\"polygon\":0,\"distance\":0},\"links\":[],\"remaining\":0,\"revision\":2}");
    api_check_answer(&fake, API_GET, "/v1/meshes/flat/nearest?point=-1,5&snap=1,0", NULL, 200,
                     "{\"status\":\"found\",\"point\":[0,5],\"polygon\":0,\"distance\":1,\"area\":0,\"flags\":0,"
                     "\"inside\":false,\"on_mesh\":false,\"revision\":2}");
    api_check_problem(&fake, API_POST, "/v1/meshes/flat/nearest", "{\"point\":[1,2,3]}",
                      (api_expected){400, "bad_request", "/point", "", "2 numbers"});
    api_check_problem(&fake, API_POST, "/v1/meshes/flat/nearest", "{\"point\":{\"x\":1,\"y\":2,\"z\":3}}",
                      (api_expected){400, "bad_request", "/point/z", "", NULL});
}

/// Two squares side by side, the second flagged 2 and in area 5.
static void load_areas(void)
{
    api_check_load(&fake, "areas",
                   "{\"vertices\":[[0,0,0],[0,0,4],[4,0,4],[4,0,0],[8,0,0],[8,0,4]],"
                   "\"polygons\":[[0,1,2,3],[3,2,5,4]],\"areas\":[1,5],\"flags\":[1,2]}",
                   "areas=%7B%22mud%22:%7B%22id%22:5,%22cost%22:3%7D%7D&flags=%7B%22swim%22:1%7D");
}

static void test_filters(void **state)
{
    (void)state;
    load_areas();
    static const char *const closed[] = {"{\"exclude\":2}", "{\"exclude\":[\"swim\"]}", "{\"exclude\":[1]}",
                                         "{\"include\":1}", "{\"include\":[0]}"};
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++) {
        char body[128];
        snprintf(body, sizeof body, "{\"point\":[6,0,2],\"snap\":1,\"filter\":%s}", closed[i]);
        api_check_answer(&fake, API_POST, "/v1/meshes/areas/nearest", body, 200,
                         "{\"status\":\"none\",\"revision\":2}");
    }
    api_check_answer(
        &fake, API_GET, "/v1/meshes/areas/nearest?point=6,0,2&include=swim", NULL, 200,
        "{\"status\":\"found\",\"point\":[6,0,2],\"polygon\":1,\"distance\":0,\"area\":\"mud\",\"flags\":2,"
        "\"inside\":true,\"on_mesh\":true,\"revision\":2}");
    api_check_answer(&fake, API_POST, "/v1/meshes/areas/nearest", "{\"point\":[6,0,2],\"filter\":{\"include\":[]}}",
                     200, "{\"status\":\"none\",\"revision\":2}");
}

static double cost_of(const char *filter)
{
    char body[160];
    snprintf(body, sizeof body, "{\"start\":[1,0,2],\"end\":[7,0,2]%s%s}", filter ? ",\"filter\":" : "",
             filter ? filter : "");
    cJSON *answer = api_check_json(&fake, API_POST, "/v1/meshes/areas/path", body);
    assert_string_equal(api_check_at(answer, "status")->valuestring, "complete");
    double cost = api_check_at(answer, "cost")->valuedouble;
    cJSON_Delete(answer);
    return cost;
}

static void test_costs(void **state)
{
    (void)state;
    load_areas();
    // Three units in each area; the mesh's own cost of mud is 3 unless the question says otherwise.
    assert_true(fabs(cost_of(NULL) - 12) < 1e-6);
    assert_true(fabs(cost_of("{\"costs\":{\"mud\":1}}") - 6) < 1e-6);
    assert_true(fabs(cost_of("{\"costs\":{\"5\":2,\"77\":9,\"1000\":9}}") - 9) < 1e-6);
    assert_true(fabs(cost_of("{\"costs\":{\"1\":2}}") - 15) < 1e-6);
    assert_true(fabs(cost_of("{\"exclude\":4}") - 12) < 1e-6);
}

static void test_long_paths_go_to_a_worker(void **state)
{
    (void)state;
    char *text = zigzag(60);
    api_check_load(&fake, "zigzag", text, NULL);
    free(text);
    const char *body = "{\"start\":[0.5,0,0.5],\"end\":[119,0,0.5],\"id\":4}";
    api_response inside = fake_ask(&fake, API_POST, "/v1/meshes/zigzag/path", body);
    assert_int_equal(fake.worker_runs, 0);
    api_context_destroy(fake.context);
    fake.limits.inline_nodes = 5;
    assert_true(fake_host_start(&fake));
    api_check_answer(&fake, API_POST, "/v1/meshes/zigzag/path", body, 200, inside.body.data);
    assert_int_equal(fake.worker_runs, 1);
    api_buffer_free(&inside.body);

    // The caller's own limits are not a reason to move.
    cJSON *answer = api_check_json(&fake, API_POST, "/v1/meshes/zigzag/path",
                                   "{\"start\":[0.5,0,0.5],\"end\":[119,0,0.5],\"max_nodes\":5}");
    assert_string_equal(api_check_at(answer, "status")->valuestring, "limit");
    assert_true(api_check_at(answer, "remaining")->valuedouble > 1);
    cJSON_Delete(answer);
    assert_int_equal(fake.worker_runs, 1);
    answer = api_check_json(&fake, API_POST, "/v1/meshes/zigzag/path",
                            "{\"start\":[0.5,0,0.5],\"end\":[119,0,0.5],\"max_length\":50}");
    assert_string_equal(api_check_at(answer, "status")->valuestring, "limit");
    assert_true(api_check_at(answer, "length")->valuedouble <= 50.01);
    cJSON_Delete(answer);
}

static void test_deadline(void **state)
{
    (void)state;
    char *text = zigzag(400);
    api_check_load(&fake, "zigzag", text, NULL);
    free(text);
    const char *body = "{\"start\":[0.5,0,0.5],\"end\":[799,0,0.5],\"timeout_ms\":20}";
    fake.step_ns = 25000000; // the first look is already too late
    api_check_problem(&fake, API_POST, "/v1/meshes/zigzag/path", body, (api_expected){504, "deadline", "", "", "time"});
    fake.step_ns = 0;
    cJSON_Delete(api_check_json(&fake, API_POST, "/v1/meshes/zigzag/path", body));
}

int main(void)
{
#define QUERY_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        QUERY_TEST(test_nearest),
        QUERY_TEST(test_nearest_many),
        QUERY_TEST(test_path),
        QUERY_TEST(test_explanation),
        QUERY_TEST(test_unreachable),
        QUERY_TEST(test_raycast_and_height),
        QUERY_TEST(test_get_equals_post),
        QUERY_TEST(test_form_of_positions),
        QUERY_TEST(test_frames),
        QUERY_TEST(test_flat_meshes),
        QUERY_TEST(test_filters),
        QUERY_TEST(test_costs),
        QUERY_TEST(test_long_paths_go_to_a_worker),
        QUERY_TEST(test_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
