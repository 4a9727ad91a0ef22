/// Walls, steps, reach, random places, rays and matrices from their bytes to their answers; named filters.
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

static void test_wall(void **state)
{
    (void)state;
    api_check_answer(&fake, API_POST, "/v1/meshes/g/wall", "{\"point\":[2,0.5,6]}", 200,
                     "{\"status\":\"found\",\"distance\":2,\"point\":[0,0,6],\"normal\":[1,0,0],\"revision\":1}");
    api_check_answer(&fake, API_GET, "/v1/meshes/g/wall?point=5,0,5&max_distance=4.5", NULL, 200,
                     "{\"status\":\"none\",\"revision\":1}");
    api_check_answer(&fake, API_GET, "/v1/meshes/g/wall?point=15,0,5", NULL, 200,
                     "{\"status\":\"off_mesh\",\"revision\":1}");
}

static void test_move(void **state)
{
    (void)state;
    api_check_answer(
        &fake, API_POST, "/v1/meshes/g/move", "{\"start\":[8,0,2],\"end\":[12,0,3],\"id\":\"a\"}", 200,
        "{\"status\":\"moved\",\"point\":[10,0,3],\"polygon\":0,\"hit\":true,\"revision\":1,\"id\":\"a\"}");
    api_check_answer(&fake, API_GET, "/v1/meshes/g/move?start=8,0,2&end=9,5,3&vectors=object", NULL, 200,
                     "{\"status\":\"moved\",\"point\":{\"x\":9,\"y\":0,\"z\":3},\"polygon\":0,\"hit\":false,"
                     "\"revision\":1}");
    api_check_answer(&fake, API_GET, "/v1/meshes/g/move?start=80,0,2&end=9,5,3", NULL, 200,
                     "{\"status\":\"start_off_mesh\",\"revision\":1}");
}

static void test_pick(void **state)
{
    (void)state;
    api_check_answer(&fake, API_POST, "/v1/meshes/g/pick", "{\"origin\":[2,5,2],\"direction\":[0,-3,0]}", 200,
                     "{\"status\":\"hit\",\"point\":[2,0,2],\"distance\":5,\"normal\":[0,1,0],\"back\":false,"
                     "\"polygon\":0,\"revision\":1}");
    api_check_answer(&fake, API_GET, "/v1/meshes/g/pick?origin=2,-5,2&direction=0,1,0&max_distance=4", NULL, 200,
                     "{\"status\":\"none\",\"revision\":1}");
    api_check_problem(&fake, API_POST, "/v1/meshes/g/pick", "{\"origin\":[2,5,2],\"direction\":[0,0,-0]}",
                      (api_expected){400, "bad_request", "/direction", "", "not be zero"});
    api_check_load(&fake, "u", api_square, "frame=unreal");
    api_check_answer(&fake, API_GET, "/v1/meshes/u/pick?origin=-2,-3,5&direction=0,0,-1", NULL, 200,
                     "{\"status\":\"hit\",\"point\":[-2,-3,0],\"distance\":5,\"normal\":[0,0,1],\"back\":false,"
                     "\"polygon\":0,\"revision\":2}");
}

static void test_random(void **state)
{
    (void)state;
    cJSON *answer =
        api_check_json(&fake, API_POST, "/v1/meshes/g/random",
                       "{\"count\":500,\"seed\":9007199254740991,\"around\":{\"radius\":3,\"point\":[2,0,2]}}");
    const cJSON *points = api_check_at(answer, "points");
    assert_int_equal(cJSON_GetArraySize(points), 500);
    for (const cJSON *p = points->child; p; p = p->next) {
        double x = cJSON_GetArrayItem(p, 0)->valuedouble, z = cJSON_GetArrayItem(p, 2)->valuedouble;
        assert_true(x >= 0 && z >= 0 && hypot(x - 2, z - 2) <= 3 + 1e-6);
    }
    assert_int_equal(fake.worker_runs, 1); // so many are not for a serving thread
    cJSON_Delete(answer);
    api_check_answer(&fake, API_GET, "/v1/meshes/g/random?around=50,0,50,3&count=2", NULL, 200,
                     "{\"status\":\"none\",\"points\":[],\"revision\":1}");
    static const char *const bad[][2] = {
        {"{\"around\":{\"point\":[1,0,1]}}", "/around"},
        {"{\"around\":{\"point\":[1,0,1],\"radius\":-1}}", "/around/radius"},
        {"{\"around\":{\"point\":[1,0],\"radius\":1}}", "/around/point"},
        {"{\"around\":{\"pont\":[1,0,1],\"radius\":1}}", "/around/pont"},
        {"{\"around\":{\"radius\":1,\"radius\":1}}", "/around/radius"},
        {"{\"around\":[1,0,1]}", "/around"},
        {"{\"count\":10001}", "/count"},
        {"{\"seed\":-1}", "/seed"},
        {"{\"seed\":9007199254740992}", "/seed"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        api_check_problem(&fake, API_POST, "/v1/meshes/g/random", bad[i][0],
                          (api_expected){400, "bad_request", bad[i][1], "", NULL});
    }
}

#define RING "[[0,0,0],[10,0,0],[10,0,10],[0,0,10]]"

static void test_reachable(void **state)
{
    (void)state;
    api_check_answer(&fake, API_POST, "/v1/meshes/g/reachable", "{\"point\":[2,0,2]}", 200,
                     "{\"status\":\"found\",\"area\":100,\"polygons\":[{\"polygon\":0,\"cost\":0}],\"outline\":[" RING
                     "],\"revision\":1}");
    api_check_answer(&fake, API_GET, "/v1/meshes/g/reachable?point=20,0,2", NULL, 200,
                     "{\"status\":\"off_mesh\",\"area\":0,\"polygons\":[],\"outline\":[],\"revision\":1}");
    api_check_answer(&fake, API_GET, "/v1/meshes/g/reachable?point=20,0,2&format=geojson", NULL, 200,
                     "{\"status\":\"off_mesh\",\"area\":0,\"polygons\":[],\"type\":\"FeatureCollection\","
                     "\"features\":[],\"revision\":1}");
}

/// The two ground axes come first, then the height; outer rings run anticlockwise whatever the frame.
static void test_geojson_in_frames(void **state)
{
    (void)state;
    static const struct {
        const char *frame, *point, *ring;
    } cases[] = {
        {"y-up", "2,0,2", "[[0,0,0],[10,0,0],[10,10,0],[0,10,0],[0,0,0]]"},
        {"unreal", "-2,-2,0", "[[0,0,0],[-10,0,0],[-10,-10,0],[0,-10,0],[0,0,0]]"},
        {"z,x,y", "2,2,0", "[[0,0,0],[10,0,0],[10,10,0],[0,10,0],[0,0,0]]"},
        {"-x,y,z", "-2,0,2", "[[0,0,0],[0,10,0],[-10,10,0],[-10,0,0],[0,0,0]]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char target[128], expected[512];
        snprintf(target, sizeof target, "/v1/meshes/g/reachable?format=geojson&frame=%s&point=%s", cases[i].frame,
                 cases[i].point);
        snprintf(expected, sizeof expected,
                 "{\"status\":\"found\",\"area\":100,\"polygons\":[{\"polygon\":0,\"cost\":0}],"
                 "\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"geometry\":"
                 "{\"type\":\"MultiPolygon\",\"coordinates\":[[%s]]},\"properties\":{\"area\":100}}],\"revision\":1}",
                 cases[i].ring);
        api_check_answer(&fake, API_GET, target, NULL, 200, expected);
    }
    api_response response = fake_ask(&fake, API_GET, "/v1/meshes/g/reachable?point=1,0,1&format=geojson", NULL);
    assert_string_equal(response.content_type, "application/geo+json");
    api_buffer_free(&response.body);
    response = fake_ask(&fake, API_GET, "/v1/meshes/g/reachable?point=1,0,1", NULL);
    assert_string_equal(response.content_type, "application/json");
    api_buffer_free(&response.body);
}

/// A frame of four rectangles round a court, and the same on a floor above, where a solid square lies
/// above the lower court: each hole belongs to the ring at its own height.
static void test_geojson_holes(void **state)
{
    (void)state;
    api_check_load(&fake, "court",
                   "{\"vertices\":[[0,0,0],[9,0,0],[9,0,3],[0,0,3],[0,0,6],[9,0,6],[9,0,9],[0,0,9],[3,0,3],[3,0,6],"
                   "[6,0,3],[6,0,6],[2,4,2],[7,4,2],[7,4,7],[2,4,7]],"
                   "\"polygons\":[[0,1,2,10,8,3],[4,9,11,5,6,7],[3,8,9,4],[10,2,5,11],[12,13,14,15]],"
                   "\"links\":[{\"start\":[1,0,1],\"end\":[3,4,3]}]}",
                   NULL);
    cJSON *answer = api_check_json(&fake, API_GET, "/v1/meshes/court/reachable?point=1,0,1&format=geojson", NULL);
    const cJSON *shapes = api_check_at(answer, "features/0/geometry/coordinates");
    assert_int_equal(cJSON_GetArraySize(shapes), 2);
    for (const cJSON *shape = shapes->child; shape; shape = shape->next) {
        bool upper = api_check_at(shape, "0/0/2")->valuedouble == 4;
        assert_int_equal(cJSON_GetArraySize(shape), upper ? 1 : 2);
    }
    cJSON_Delete(answer);
}

static void test_matrix(void **state)
{
    (void)state;
    api_check_answer(&fake, API_POST, "/v1/meshes/g/matrix",
                     "{\"sources\":[[1,0,1],[50,0,1]],\"targets\":[[4,0,5],[1,0,1],[50,0,50]],\"id\":2}", 200,
                     "{\"status\":\"ok\",\"lengths\":[[5,0,null],[null,null,null]],\"revision\":1,\"id\":2}");
    api_check_answer(&fake, API_GET, "/v1/meshes/g/matrix?sources=1,0,1;4,0,5&targets=4,0,5", NULL, 200,
                     "{\"status\":\"ok\",\"lengths\":[[5],[0]],\"revision\":1}");
    api_check_answer(&fake, API_GET, "/v1/meshes/g/matrix?sources=&targets=4,0,5", NULL, 200,
                     "{\"status\":\"ok\",\"lengths\":[],\"revision\":1}");
    static const char *const bad[][2] = {{"sources=1,0,1;&targets=1,0,1", "sources"},
                                         {"sources=1,0,1;1,0&targets=1,0,1", "sources"},
                                         {"sources=1,0,1&targets=;", "targets"},
                                         {"sources=1,0,1", "targets"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char target[96];
        snprintf(target, sizeof target, "/v1/meshes/g/matrix?%s", bad[i][0]);
        api_check_problem(&fake, API_GET, target, NULL, (api_expected){400, "bad_request", "", bad[i][1], NULL});
    }
    api_check_problem(&fake, API_POST, "/v1/meshes/g/matrix", "{\"sources\":[[1,0,1],[1,null,1]],\"targets\":[]}",
                      (api_expected){400, "bad_request", "/sources/1/1", "", "not null"});
    assert_int_equal(fake.worker_runs, 0);
}

/// A list of `n` places along a line, in the square.
static char *matrix_body(int n, const char *more)
{
    char *body = malloc((size_t)n * 40 + 128);
    assert_non_null(body);
    size_t size = (size_t)sprintf(body, "{%s\"sources\":[", more);
    for (int list = 0; list < 2; list++) {
        for (int i = 0; i < n; i++) {
            size += (size_t)sprintf(body + size, "%s[%g,0,1]", i ? "," : "", i % 10 + 0.25);
        }
        size += (size_t)sprintf(body + size, "%s", list ? "]}" : "],\"targets\":[");
    }
    return body;
}

/// Rows are worked out in chunks, and the chunks change nothing.
static void test_matrix_in_chunks(void **state)
{
    (void)state;
    char *body = matrix_body(40, "\"id\":\"m\",");
    api_response whole = fake_ask(&fake, API_POST, "/v1/meshes/g/matrix", body);
    assert_int_equal(whole.status, 200);
    assert_int_equal(fake.worker_runs, 1);
    fake.step_ns = 400000;
    fake.worker_runs = 0;
    api_check_answer(&fake, API_POST, "/v1/meshes/g/matrix", body, 200, whole.body.data);
    assert_true(fake.worker_runs >= 10);
    api_buffer_free(&whole.body);
    free(body);
    body = matrix_body(40, "\"timeout_ms\":5,");
    api_check_problem(&fake, API_POST, "/v1/meshes/g/matrix", body, (api_expected){504, "deadline", "", "", "rows"});
    free(body);
    fake.step_ns = 0;

    // A body of more than 16 KiB is parsed on the worker, its faults are found there.
    body = matrix_body(1000, "");
    fake.worker_runs = 0;
    cJSON *answer = api_check_json(&fake, API_POST, "/v1/meshes/g/matrix", body);
    assert_int_equal(cJSON_GetArraySize(api_check_at(answer, "lengths")), 1000);
    assert_true(api_check_at(answer, "lengths/3/999")->valuedouble == 6);
    cJSON_Delete(answer);
    body[strlen(body) - 2] = 'x';
    api_check_problem(&fake, API_POST, "/v1/meshes/g/matrix", body, (api_expected){400, "bad_json", "", "", "byte"});
    free(body);
}

static void test_matrix_limits(void **state)
{
    (void)state;
    api_context_destroy(fake.context);
    fake.limits.max_matrix = 100;
    assert_true(fake_host_start(&fake));
    char *body = matrix_body(11, "");
    api_check_problem(&fake, API_POST, "/v1/meshes/g/matrix", body,
                      (api_expected){413, "too_large", "", "", "11 sources times 11 targets"});
    free(body);
    fake.client_gone = true;
    body = matrix_body(10, "");
    api_response response = fake_ask(&fake, API_POST, "/v1/meshes/g/matrix", body);
    assert_true(response.status >= 500);
    assert_int_equal(fake.references, 0);
    api_buffer_free(&response.body);
    free(body);
}

static void test_abandoned_matrix(void **state)
{
    (void)state;
    char *body = matrix_body(50, "");
    api_request request = {.method = API_POST,
                           .path = "/v1/meshes/g/matrix",
                           .body = body,
                           .body_bytes = strlen(body),
                           .start_ns = fake.now_ns};
    api_response response = {0};
    api_task *task = NULL;
    fake.step_ns = 400000;
    assert_int_equal(api_begin(fake.context, &request, &response, &task), API_WORKER);
    assert_int_equal(api_task_run(task, fake.context, &response), API_WORKER);
    api_task_abandon(task, fake.context);
    assert_int_equal(fake.references, 0);
    free(body);
}

/// GET and POST give the same bytes, by themselves and in a batch.
static void test_get_post_and_batch_agree(void **state)
{
    (void)state;
    static const char *const asked[][3] = {
        {"wall", "point=3,0,4&max_distance=3.5", "\"point\":[3,0,4],\"max_distance\":3.5"},
        {"move", "start=3,0,4&end=-3,1,5&precision=2", "\"start\":[3,0,4],\"end\":[-3,1,5],\"precision\":2"},
        {"reachable", "point=3,0,4&max_cost=1&limit=3&format=geojson",
         "\"point\":[3,0,4],\"max_cost\":1,\"limit\":3,\"format\":\"geojson\""},
        {"random", "count=3&seed=8&around=1,0,1,2.5&vectors=object",
         "\"count\":3,\"seed\":8,\"around\":{\"point\":[1,0,1],\"radius\":2.5},\"vectors\":\"object\""},
        {"pick", "origin=1,2,3&direction=0.1,-1,0&id=x", "\"origin\":[1,2,3],\"direction\":[0.1,-1,0],\"id\":\"x\""},
        {"matrix", "sources=1,0,1;2,0,2&targets=3,0,3&exclude=3",
         "\"sources\":[[1,0,1],[2,0,2]],\"targets\":[[3,0,3]],\"filter\":{\"exclude\":3}"},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char target[64], get[160], body[256], batch[320], expected[2048];
        snprintf(target, sizeof target, "/v1/meshes/g/%s", asked[i][0]);
        snprintf(get, sizeof get, "%s?%s", target, asked[i][1]);
        snprintf(body, sizeof body, "{%s}", asked[i][2]);
        snprintf(batch, sizeof batch, "{\"queries\":[{\"type\":\"%s\",%s}]}", asked[i][0], asked[i][2]);
        api_response posted = fake_ask(&fake, API_POST, target, body);
        assert_int_equal(posted.status, 200);
        snprintf(expected, sizeof expected, "{\"status\":\"ok\",\"results\":[%s],\"revision\":1}", posted.body.data);
        api_check_answer(&fake, API_GET, get, NULL, 200, posted.body.data);
        api_check_answer(&fake, API_POST, "/v1/meshes/g/batch", batch, 200, expected);
        api_buffer_free(&posted.body);
    }
}

static void test_named_filters(void **state)
{
    (void)state;
    api_check_load(&fake, "two",
                   "{\"vertices\":[[0,0,0],[0,0,4],[4,0,4],[4,0,0],[8,0,0],[8,0,4]],"
                   "\"polygons\":[[0,1,2,3],[3,2,5,4]],\"areas\":[1,5],\"flags\":[1,2]}",
                   "areas=%7B%22mud%22:%7B%22id%22:5,%22cost%22:3%7D%7D&flags=%7B%22swim%22:1%7D"
                   "&filters=%7B%22dry%22:%7B%22exclude%22:[%22swim%22]%7D,%22fast%22:%7B%22costs%22:%7B%22mud%22:1"
                   "%7D%7D%7D&default_filter=dry");
    static const char *const cases[][2] = {{"", "end_off_mesh"},
                                           {",\"filter\":{}", "complete"},
                                           {",\"filter\":\"dry\"", "end_off_mesh"},
                                           {",\"filter\":\"fast\"", "complete"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[128];
        snprintf(body, sizeof body, "{\"start\":[1,0,2],\"end\":[7,0,2]%s}", cases[i][0]);
        cJSON *answer = api_check_json(&fake, API_POST, "/v1/meshes/two/path", body);
        assert_string_equal(api_check_at(answer, "status")->valuestring, cases[i][1]);
        if (i % 2) {
            assert_true(fabs(api_check_at(answer, "cost")->valuedouble - (i == 1 ? 12 : 6)) < 1e-6);
        }
        cJSON_Delete(answer);
    }
    api_check_problem(&fake, API_POST, "/v1/meshes/two/nearest", "{\"point\":[1,0,1],\"filter\":\"fsat\"}",
                      (api_expected){400, "bad_request", "/filter", "", "did you mean `fast`?"});
    api_check_problem(&fake, API_GET, "/v1/meshes/two/nearest?point=1,0,1&include=swin", NULL,
                      (api_expected){400, "bad_request", "", "include", "did you mean `swim`?"});
}

/// On a large mesh a search that takes long is begun again on a worker; what is near is answered at once.
static void test_slices(void **state)
{
    (void)state;
    enum { SIDE = 40 };
    char *text = malloc(SIDE * SIDE * 96);
    assert_non_null(text);
    size_t size = (size_t)sprintf(text, "{\"vertices\":[");
    for (int i = 0; i <= SIDE; i++) {
        for (int k = 0; k <= SIDE; k++) {
            size += (size_t)sprintf(text + size, "%s[%d,0,%d]", i + k ? "," : "", i, k);
        }
    }
    size += (size_t)sprintf(text + size, "],\"polygons\":[");
    for (int i = 0; i < SIDE; i++) {
        for (int k = 0; k < SIDE; k++) { // every ninth is missing, so that cells do not merge into a few
            int corner = i * (SIDE + 1) + k;
            if (i % 3 != 1 || k % 3 != 1) {
                size += (size_t)sprintf(text + size, "%s[%d,%d,%d,%d]", i + k ? "," : "", corner, corner + 1,
                                        corner + SIDE + 2, corner + SIDE + 1);
            }
        }
    }
    sprintf(text + size, "]}");
    api_check_load(&fake, "large", text, NULL);
    free(text);
    static const char *const asked[] = {"/v1/meshes/large/reachable?point=0.5,0,0.5",
                                        "/v1/meshes/large/move?start=0.5,0,0.5&end=39.5,0,36.25"};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        fake.step_ns = 0;
        fake.worker_runs = 0;
        api_response whole = fake_ask(&fake, API_GET, asked[i], NULL);
        assert_int_equal(whole.status, 200);
        assert_int_equal(fake.worker_runs, 0);
        api_context_destroy(fake.context);
        fake.limits.inline_nodes = 5;
        assert_true(fake_host_start(&fake));
        fake.step_ns = 2000000;
        api_check_answer(&fake, API_GET, asked[i], NULL, 200, whole.body.data);
        if (i == 0) {
            assert_int_equal(fake.worker_runs, 1);
        }
        api_buffer_free(&whole.body);
    }
}

int main(void)
{
#define SURFACE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        SURFACE_TEST(test_wall),
        SURFACE_TEST(test_move),
        SURFACE_TEST(test_pick),
        SURFACE_TEST(test_random),
        SURFACE_TEST(test_reachable),
        SURFACE_TEST(test_geojson_in_frames),
        SURFACE_TEST(test_geojson_holes),
        SURFACE_TEST(test_matrix),
        SURFACE_TEST(test_matrix_in_chunks),
        SURFACE_TEST(test_matrix_limits),
        SURFACE_TEST(test_abandoned_matrix),
        SURFACE_TEST(test_get_post_and_batch_agree),
        SURFACE_TEST(test_named_filters),
        SURFACE_TEST(test_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
