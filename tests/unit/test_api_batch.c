/// Batches: order, errors in place, defaults, chunks, time.
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

#define BATCH "/v1/meshes/g/batch"
#define ALL_TYPES                                                                                  \
    "\\\"path\\\", \\\"nearest\\\", \\\"raycast\\\", \\\"height\\\", \\\"move\\\", \\\"wall\\\", " \
    "\\\"reachable\\\", \\\"random\\\", \\\"pick\\\", \\\"matrix\\\""

static void test_order_and_errors_in_place(void **state)
{
    (void)state;
    api_check_answer(
        &fake, API_POST, BATCH,
        "{\"queries\":[{\"type\":\"height\",\"point\":[1,0,2],\"id\":\"a\"},"
        "{\"type\":\"height\",\"point\":[1,0,null],\"id\":7},"
        "{\"type\":\"raycast\",\"start\":[5,0,5],\"end\":[6,0,5]},"
        "{\"type\":\"what\"},{\"point\":[1,0,1]},5,"
        "{\"type\":\"height\",\"point\":[1,0,1],\"type\":\"height\"},"
        "{\"type\":\"height\",\"point\":[1,0,1],\"timeout_ms\":5},"
        "{\"type\":\"height\",\"point\":[-1,0,2]}],\"id\":\"b\"}",
        200,
        "{\"status\":\"ok\",\"results\":["
        "{\"status\":\"found\",\"point\":[1,0,2],\"height\":0,\"polygon\":0,\"revision\":1,\"id\":\"a\"},"
        "{\"error\":{\"type\":\"/problems/bad_request\",\"title\":\"The request is not valid\",\"status\":400,"
        "\"detail\":\"`point/2` must be a finite number that fits 32 bits, not null\",\"code\":\"bad_request\","
        "\"pointer\":\"/queries/1/point/2\"},\"id\":7},"
        "{\"status\":\"clear\",\"t\":1,\"point\":[6,0,5],\"distance\":1,\"revision\":1},"
        "{\"error\":{\"type\":\"/problems/bad_request\",\"title\":\"The request is not valid\",\"status\":400,"
        "\"detail\":\"`type` must be one of " ALL_TYPES "\",\"code\":\"bad_request\","
        "\"pointer\":\"/queries/3/type\"}},"
        "{\"error\":{\"type\":\"/problems/bad_request\",\"title\":\"The request is not valid\",\"status\":400,"
        "\"detail\":\"`type` must be one of " ALL_TYPES "\",\"code\":\"bad_request\","
        "\"pointer\":\"/queries/4/type\"}},"
        "{\"error\":{\"type\":\"/problems/bad_request\",\"title\":\"The request is not valid\",\"status\":400,"
        "\"detail\":\"a query is a JSON object, not a number\",\"code\":\"bad_request\",\"pointer\":\"/queries/5\"}},"
        "{\"error\":{\"type\":\"/problems/bad_request\",\"title\":\"The request is not valid\",\"status\":400,"
        "\"detail\":\"`type` is there twice\",\"code\":\"bad_request\",\"pointer\":\"/queries/6/type\"}},"
        "{\"error\":{\"type\":\"/problems/bad_request\",\"title\":\"The request is not valid\",\"status\":400,"
        "\"detail\":\"unknown member `timeout_ms`\",\"code\":\"bad_request\",\"pointer\":\"/queries/7/timeout_ms\"}},"
        "{\"status\":\"none\",\"revision\":1}],\"revision\":1,\"id\":\"b\"}");
    api_check_answer(&fake, API_POST, BATCH, "{\"queries\":[]}", 200,
                     "{\"status\":\"ok\",\"results\":[],\"revision\":1}");
}

/// An entry's answer is the single query's, byte for byte.
static void test_entries_equal_single_queries(void **state)
{
    (void)state;
    static const char *const entries[][2] = {
        {"path", "\"start\":[1,0,1],\"end\":{\"x\":3,\"y\":0,\"z\":9},\"corridor\":true,\"id\":1"},
        {"nearest", "\"point\":[-1,1,1],\"count\":3,\"precision\":1"},
        {"raycast", "\"start\":[1,0,1],\"end\":[30,0,9]"},
        {"height", "\"point\":[2,1,2],\"vectors\":\"object\""},
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        char target[64], body[256], batch[320], expected[1024];
        snprintf(target, sizeof target, "/v1/meshes/g/%s", entries[i][0]);
        snprintf(body, sizeof body, "{%s}", entries[i][1]);
        snprintf(batch, sizeof batch, "{\"queries\":[{\"type\":\"%s\",%s}]}", entries[i][0], entries[i][1]);
        api_response single = fake_ask(&fake, API_POST, target, body);
        assert_int_equal(single.status, 200);
        snprintf(expected, sizeof expected, "{\"status\":\"ok\",\"results\":[%s],\"revision\":1}", single.body.data);
        api_check_answer(&fake, API_POST, BATCH, batch, 200, expected);
        api_buffer_free(&single.body);
    }
}

static void test_defaults(void **state)
{
    (void)state;
    // `snap` fills a gap, `point` is for those that have one, what an entry says wins, and what a query
    // does not take is passed over.
    api_check_answer(
        &fake, API_POST, BATCH,
        "{\"defaults\":{\"snap\":0.5,\"point\":[1,0,-1],\"corridor\":true,\"vectors\":\"object\"},"
        "\"queries\":[{\"type\":\"nearest\"},{\"type\":\"nearest\",\"snap\":1,\"vectors\":\"array\"},"
        "{\"type\":\"raycast\",\"start\":[1,0,1],\"end\":[2,0,1]}]}",
        200,
        "{\"status\":\"ok\",\"results\":[{\"status\":\"none\",\"revision\":1},"
        "{\"status\":\"found\",\"point\":[1,0,0],\"polygon\":0,\"distance\":1,\"area\":0,\"flags\":0,"
        "\"inside\":false,\"on_mesh\":false,\"revision\":1},"
        "{\"status\":\"clear\",\"t\":1,\"point\":{\"x\":2,\"y\":0,\"z\":1},\"distance\":1,\"polygons\":[0],"
        "\"revision\":1}],\"revision\":1}");
}

static void test_bad_frames(void **state)
{
    (void)state;
    static const char *const bodies[][3] = {
        {"[]", "", "an array"},
        {"{}", "/queries", "missing"},
        {"{\"queries\":{}}", "/queries", "list"},
        {"{\"queries\":[],\"queries\":[]}", "/queries", "twice"},
        {"{\"queries\":[],\"query\":[]}", "/query", "unknown member"},
        {"{\"queries\":[],\"defaults\":[]}", "/defaults", "object"},
        {"{\"queries\":[],\"defaults\":{\"snap\":-1}}", "/defaults/snap", "at least 0"},
        {"{\"queries\":[],\"defaults\":{\"snapp\":1}}", "/defaults/snapp", "did you mean `snap`?"},
        {"{\"queries\":[],\"defaults\":{\"id\":1}}", "/defaults/id", "unknown"},
        {"{\"queries\":[],\"defaults\":{\"timeout_ms\":1}}", "/defaults/timeout_ms", "unknown"},
        {"{\"queries\":[],\"defaults\":{\"filter\":{\"costs\":{\"x\":1}}}}", "/defaults/filter/costs/x", "no area"},
        {"{\"queries\":[],\"timeout_ms\":0}", "/timeout_ms", "from 1 to 30000"},
        {"{\"queries\":[],\"timeout_ms\":1e300}", "/timeout_ms", "from 1 to 30000"},
        {"{\"queries\":[],\"id\":{}}", "/id", "an object"},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        api_check_problem(&fake, API_POST, BATCH, bodies[i][0],
                          (api_expected){400, "bad_request", bodies[i][1], "", bodies[i][2]});
    }
}

/// A batch of `n` equal questions; the caller frees.
static char *many(int n, const char *members)
{
    char *body = malloc((size_t)n * 64 + 128);
    assert_non_null(body);
    size_t size = (size_t)sprintf(body, "{%s\"queries\":[", members);
    for (int i = 0; i < n; i++) {
        size += (size_t)sprintf(body + size, "%s{\"type\":\"height\",\"point\":[%d,0,1]}", i ? "," : "", i % 10);
    }
    sprintf(body + size, "]}");
    return body;
}

static void test_chunks(void **state)
{
    (void)state;
    char *body = many(200, "");
    cJSON *answer = api_check_json(&fake, API_POST, BATCH, body);
    const cJSON *results = api_check_at(answer, "results");
    assert_int_equal(cJSON_GetArraySize(results), 200);
    for (int i = 0; i < 200; i++) {
        const cJSON *point = cJSON_GetObjectItem(cJSON_GetArrayItem(results, i), "point");
        assert_true(cJSON_GetArrayItem(point, 0)->valuedouble == i % 10);
    }
    cJSON_Delete(answer);
    assert_int_equal(fake.worker_runs, 4); // 64, 64, 64, 8

    // A clock on which each look costs 0.4 ms ends chunks by their time.
    fake.worker_runs = 0;
    fake.step_ns = 400000;
    cJSON_Delete(api_check_json(&fake, API_POST, BATCH, body));
    assert_true(fake.worker_runs >= 60 && fake.worker_runs <= 110);
    free(body);

    fake.worker_runs = 0;
    fake.step_ns = 0;
    body = many(8, "");
    cJSON_Delete(api_check_json(&fake, API_POST, BATCH, body));
    assert_int_equal(fake.worker_runs, 0); // small ones are answered at once
    free(body);
}

/// What is no JSON is found when its turn comes, and the batch as a whole is refused then.
static void test_bad_text_far_behind(void **state)
{
    (void)state;
    char *body = many(150, "\"id\":1,");
    char *last = strrchr(body, '[');
    size_t place = (size_t)(last - body) + 1;
    last[1] = 'N';
    char detail[32];
    snprintf(detail, sizeof detail, "byte %zu: not JSON", place);
    api_check_problem(&fake, API_POST, BATCH, body, (api_expected){400, "bad_json", "", "", detail});
    assert_int_equal(fake.worker_runs, 3);
    free(body);
}

static void test_deadline_of_the_whole(void **state)
{
    (void)state;
    fake.step_ns = 400000;
    char *body = many(200, "\"timeout_ms\":20,");
    api_check_problem(&fake, API_POST, BATCH, body, (api_expected){504, "deadline", "", "", "of 200 queries"});
    free(body);
}

static void test_too_many(void **state)
{
    (void)state;
    api_context_destroy(fake.context);
    fake.limits.max_batch = 10;
    assert_true(fake_host_start(&fake));
    char *body = many(11, "");
    api_check_problem(&fake, API_POST, BATCH, body, (api_expected){413, "too_large", "/queries", "", "at most 10"});
    free(body);
}

/// Short questions with long answers do not fill the memory.
static void test_long_answers(void **state)
{
    (void)state;
    static const char entry[] = "{\"type\":\"random\",\"count\":10000},";
    enum { COUNT = 1000 };
    char *body = malloc(COUNT * sizeof entry + 64);
    assert_non_null(body);
    size_t size = (size_t)sprintf(body, "{\"queries\":[");
    for (int i = 0; i < COUNT; i++) {
        size += (size_t)sprintf(body + size, "%s", entry);
    }
    sprintf(body + size - 1, "]}");
    api_check_problem(&fake, API_POST, BATCH, body, (api_expected){413, "too_large", "", "", "the answers"});
    free(body);
}

static void test_client_gone(void **state)
{
    (void)state;
    fake.client_gone = true;
    char *body = many(100, "");
    api_response response = fake_ask(&fake, API_POST, BATCH, body);
    assert_int_equal(fake.worker_runs, 1);
    assert_true(response.status >= 500);
    api_buffer_free(&response.body);
    free(body);
}

static void test_abandoned_tasks(void **state)
{
    (void)state;
    char *body = many(100, "");
    api_request request = {
        .method = API_POST, .path = BATCH, .body = body, .body_bytes = strlen(body), .start_ns = fake.now_ns};
    api_response response = {0};
    api_task *task = NULL;
    assert_int_equal(api_begin(fake.context, &request, &response, &task), API_WORKER);
    assert_int_equal(fake.references, 1);
    assert_int_equal(api_task_run(task, fake.context, &response), API_WORKER);
    api_task_abandon(task, fake.context);
    assert_int_equal(fake.references, 0);
    assert_null(response.body.data);
    free(body);
}

int main(void)
{
#define BATCH_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        BATCH_TEST(test_order_and_errors_in_place),
        BATCH_TEST(test_entries_equal_single_queries),
        BATCH_TEST(test_defaults),
        BATCH_TEST(test_bad_frames),
        BATCH_TEST(test_chunks),
        BATCH_TEST(test_bad_text_far_behind),
        BATCH_TEST(test_deadline_of_the_whole),
        BATCH_TEST(test_too_many),
        BATCH_TEST(test_long_answers),
        BATCH_TEST(test_client_gone),
        BATCH_TEST(test_abandoned_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
