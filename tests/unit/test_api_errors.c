/// Everything that can be asked wrongly.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

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

static void test_bad_json(void **state)
{
    (void)state;
    static const char *const bodies[][2] = {
        {"", "empty"},
        {"{\"start\":[1,0,1]", "ends too early"},
        {"{\"start\":[1,0,1],\"end\":[NaN,0,2]}", "byte 24"},
        {"{\"start\":[1,0,1],\"end\":[Infinity,0,2]}", "byte 24"},
        {"{} {}", "byte 3"},
        {"{'start':1}", "byte"},
        {"[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", "byte 16: nested deeper than 16"},
        {"{\"id\":\"\xFF\"}", "byte 7: not UTF-8"},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        api_check_problem(&fake, API_POST, "/v1/meshes/g/path", bodies[i][0],
                          (api_expected){400, "bad_json", "", "", bodies[i][1]});
    }
    static const char *const batches[][2] = {
        {"", "empty"},
        {"{\"queries\":[]", "byte 13"},
        {"{\"queries\":[{\"type\":\"path\",\"start\":[1,0,NaN]}]}", "byte 40: not JSON"},
        {"{\"queries\":[{\"type\":\"path\"},]}", "byte 28: not JSON"},
        {"{\"queries\":[{\"type\":\"path\"]}}", "byte"},
        {"{\"queries\":[{\"type\":\"path\"} {}]}", "byte 28: more text"},
        {"{\"queries\":[1 2]}", "byte 14: more text"},
        {"{\"queries\":[{\"a\":\"\xFF\"}]}", "byte 18: not UTF-8"},
        {"{\"queries\":[\"\\u0000\"]}", "byte 13: no escape"},
        {"{\"queries\":[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}", "nested deeper than 16"},
        {"{\"queries\":[] \"id\":1}", "byte 14"},
        {"{\"queries\":[],}", "byte"},
        {"{queries:[]}", "byte 1"},
        {"{\"queries\" []}", "byte"},
        {"{\"queries\":[\"abc]}", "does not end"},
        {"{\"id\":,\"queries\":[]}", "byte 6: not JSON"},
        {"{\"queries\":[]} x", "byte 15: more text"},
        {"[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", "byte 16: nested deeper than 16"},
        {"hello", "byte 0"},
    };
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        api_check_problem(&fake, API_POST, "/v1/meshes/g/batch", batches[i][0],
                          (api_expected){400, "bad_json", "", "", batches[i][1]});
    }
}

/// Bodies of `path` with the pointer and a part of the detail.
static void test_bad_members(void **state)
{
    (void)state;
    static const char *const bodies[][3] = {
        {"[]", "", "an array"},
        {"null", "", "null"},
        {"{}", "/start", "`start` is missing"},
        {"{\"start\":[1,0,1]}", "/end", "`end` is missing"},
        {"{\"start\":[1e999,0,0],\"end\":[1,0,1]}", "/start/0", "too large for a double"},
        {"{\"start\":[0,1e39,0],\"end\":[1,0,1]}", "/start/1", "32 bits, not one that large"},
        {"{\"start\":[null,0,0],\"end\":[1,0,1]}", "/start/0", "null"},
        {"{\"start\":[\"NaN\",0,0],\"end\":[1,0,1]}", "/start/0", "a string"},
        {"{\"start\":[0,0],\"end\":[1,0,1]}", "/start", "3 numbers, not 2"},
        {"{\"start\":[0,0,0,0],\"end\":[1,0,1]}", "/start", "3 numbers, not 4"},
        {"{\"start\":[0,0,[0]],\"end\":[1,0,1]}", "/start/2", "an array"},
        {"{\"start\":5,\"end\":[1,0,1]}", "/start", "[x, y, z]"},
        {"{\"start\":[1,0,1],\"end\":{\"x\":1,\"y\":0}}", "/end", "no `z`"},
        {"{\"start\":[1,0,1],\"end\":{\"x\":1,\"y\":0,\"z\":true}}", "/end/z", "a boolean"},
        {"{\"start\":[1,0,1],\"end\":{\"x\":1,\"y\":0,\"z\":1,\"w\":1}}", "/end/w", "`w`"},
        {"{\"start\":[1,0,1],\"end\":{\"x\":1,\"y\":0,\"x\":1}}", "/end/x", "twice"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"end\":[2,0,2]}", "/end", "twice"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"startt\":1}", "/startt", "did you mean `start`?"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"praecision\":1}", "/praecision", "did you mean `precision`?"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"a~/b\":1}", "/a~0~1b", "unknown member"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"count\":1}", "/count", "unknown member"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"type\":\"path\"}", "/type", "unknown member"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"Start\":[1,0,1]}", "/Start", "did you mean `start`?"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"radius\":-1}", "/radius", "negative"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"radius\":\"0.5\"}", "/radius", "a string"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"radius\":1e999}", "/radius", "that large"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"snap\":[1,-1,1]}", "/snap", "at least 0"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"snap\":-1}", "/snap", "at least 0"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"snap\":[1,1]}", "/snap", "3 numbers"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"snap\":1e999}", "/snap", "finite"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"floor\":\"under\"}", "/floor", "\"nearest\", \"below\", \"above\""},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"floor\":1}", "/floor", "one of"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"partial\":1}", "/partial", "true or false"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"precision\":10}", "/precision", "from 0 to 9"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"precision\":1.5}", "/precision", "whole"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"timeout_ms\":0}", "/timeout_ms", "from 1 to 30000"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"timeout_ms\":30001}", "/timeout_ms", "from 1 to 30000"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"hint\":-1}", "/hint", "whole"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"hint\":\"1\"}", "/hint", "whole"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"vectors\":\"xyz\"}", "/vectors", "\"array\", \"object\""},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"frame\":\"x-up\"}", "/frame", "y-up"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"frame\":\"x,x,y\"}", "/frame", "y-up"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"id\":null}", "/id", "null"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"id\":1e999}", "/id", "too large"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"max_nodes\":0}", "/max_nodes", "from 1 to 5000000"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"max_nodes\":5000001}", "/max_nodes", "from 1 to 5000000"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"max_length\":0}", "/max_length", "above 0"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"filter\":[]}", "/filter", "an array"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"filter\":\"fast\"}", "/filter", "no filter named `fast`"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"filter\":{\"x\":1}}", "/filter/x", "unknown member"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"filter\":{\"include\":-1}}", "/filter/include", "mask"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"filter\":{\"include\":4294967296}}", "/filter/include", "mask"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"filter\":{\"include\":\"walk\"}}", "/filter/include", "list"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"filter\":{\"include\":[\"walk\"]}}", "/filter/include/0",
         "no flag named `walk`"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"filter\":{\"exclude\":[0,32]}}", "/filter/exclude/1",
         "bit from 0 to 31"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"filter\":{\"exclude\":1,\"exclude\":1}}", "/filter/exclude", "twice"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"filter\":{\"costs\":[]}}", "/filter/costs", "an array"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"filter\":{\"costs\":{\"1\":0}}}", "/filter/costs/1", "above 0"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"filter\":{\"costs\":{\"1\":1e308}}}", "/filter/costs/1", "at most"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"filter\":{\"costs\":{\"1\":2,\"1\":2}}}", "/filter/costs/1", "twice"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"filter\":{\"costs\":{\"no such area\":2}}}",
         "/filter/costs/no such area", "no area named `no such area`"},
        {"{\"start\":[1,0,1],\"end\":[2,0,2],\"filter\":{\"costs\":{\"-1\":2}}}", "/filter/costs/-1", "no area"},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        api_check_problem(&fake, API_POST, "/v1/meshes/g/path", bodies[i][0],
                          (api_expected){400, "bad_request", bodies[i][1], "", bodies[i][2]});
    }
    api_check_problem(&fake, API_POST, "/v1/meshes/g/nearest", "{\"point\":[1,0,1],\"count\":65}",
                      (api_expected){400, "bad_request", "/count", "", "from 1 to 64"});
    api_check_problem(&fake, API_POST, "/v1/meshes/g/nearest", "{\"point\":[1,0,1],\"corridor\":true}",
                      (api_expected){400, "bad_request", "/corridor", "", "unknown"});
}

static void test_bad_parameters(void **state)
{
    (void)state;
    static const char *const queries[][3] = {
        {"", "point", "missing"},
        {"?", "point", "missing"},
        {"?point", "point", "none"},
        {"?point=", "point", "none"},
        {"?point=nan,0,0", "point", "`nan` is none"},
        {"?point=1,2", "point", "3 numbers"},
        {"?point=1,2,", "point", "none"},
        {"?point=1e999,0,0", "point", "too large"},
        {"?point=1e39,0,0", "point", "32 bits"},
        {"?point=1,0,1&point=1,0,1", "point", "twice"},
        {"?point=1,0,1&snap=a", "snap", "`a` is none"},
        {"?point=1,0,1&snap=1,-2,3", "snap", "at least 0"},
        {"?point=1,0,1&floor=up", "floor", "one of"},
        {"?point=1,0,1&pointt=3", "pointt", "unknown parameter `pointt`, did you mean `point`?"},
        {"?point=1,0,1&corridor=true", "corridor", "unknown parameter"},
        {"?point=1,0,1&id=%FF", "id", "UTF-8"},
        {"?point=1,0,1&id=%0", "id", "UTF-8"},
        {"?point=1,0,1&%zz=1", "", "percent-encoded"},
        {"?point=1,0,1&include=walk", "include", "no flag named `walk`"},
        {"?point=1,0,1&include=4294967296", "include", "mask"},
        {"?point=1,0,1&include=1&include=2", "include", "twice"},
        {"?point=1,0,1&exclude=1,x", "exclude", "no flag named `x`"},
        {"?point=1,0,1&filter=fast", "filter", "no filter"},
        {"?point=1,0,1&filter=%7B", "filter", "not JSON"},
        {"?point=1,0,1&filter=%7B%22x%22:1%7D", "filter", "unknown member"},
        {"?point=1,0,1&filter=%7B%7D&include=1", "include", "belongs inside"},
        {"?point=1,0,1&include=1&filter=%7B%7D", "filter", "beside"},
        {"?point=1,0,1&count=0", "count", "from 1 to 64"},
    };
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        char target[128] = "/v1/meshes/g/nearest";
        strncat(target, queries[i][0], sizeof target - strlen(target) - 1);
        api_check_problem(&fake, API_GET, target, NULL,
                          (api_expected){400, "bad_request", "", queries[i][1], queries[i][2]});
    }
    api_check_problem(&fake, API_GET, "/v1/meshes/g/path?start=1,0,1&end=2,0,2&partial=yes", NULL,
                      (api_expected){400, "bad_request", "", "partial", "true or false"});
    api_check_problem(&fake, API_POST, "/v1/meshes/g/nearest?point=1,0,1", "{\"point\":[1,0,1]}",
                      (api_expected){400, "bad_request", "", "", "body"});
    api_check_problem(&fake, API_POST, "/v1/meshes/g/batch?point=1,0,1", "{\"queries\":[]}",
                      (api_expected){400, "bad_request", "", "", "body"});
}

static void test_no_such_thing(void **state)
{
    (void)state;
    static const char *const paths[] = {"/nothing",
                                        "/v1",
                                        "/v1/meshes/",
                                        "/v1/meshes/g/",
                                        "/v1/meshes/g/path/",
                                        "//",
                                        "/v1/meshes//path",
                                        "/v1/meshes/../../etc/passwd",
                                        "/livez/x",
                                        "/v1/meshes/g/what",
                                        "",
                                        "*"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        api_check_problem(&fake, API_GET, paths[i], NULL, (api_expected){404, "not_found", "", "", paths[i]});
    }
    api_check_problem(&fake, API_POST, "/v1/meshes/no-such-mesh/path", "{}",
                      (api_expected){404, "not_found", "", "", "`no-such-mesh`"});
    static const char *const ids[] = {"/v1/meshes/.g",
                                      "/v1/meshes/%2e%2e",
                                      "/v1/meshes/a%2fb",
                                      "/v1/meshes/%zz",
                                      "/v1/meshes/a%00b",
                                      "/v1/meshes/\xC3\xA9",
                                      "/v1/meshes/12345678901234567890123456789012345678901234567890123456789012345"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        api_check_problem(&fake, API_GET, ids[i], NULL, (api_expected){404, "not_found", "", "", "no mesh"});
        api_check_problem(&fake, API_PUT, ids[i], api_square, (api_expected){400, "bad_request", "", "", "is no id"});
        api_check_problem(&fake, API_DELETE, ids[i], NULL, (api_expected){404, "not_found", "", "", "no mesh"});
    }
    // An id may be written with escapes that are not needed.
    cJSON_Delete(api_check_json(&fake, API_GET, "/v1/meshes/%67", NULL));
}

static void test_methods(void **state)
{
    (void)state;
    static const struct {
        api_method method;
        const char *target, *allow;
    } cases[] = {
        {API_DELETE, "/v1/meshes/g/path", "GET, HEAD, POST, OPTIONS"},
        {API_GET, "/v1/meshes/g/batch", "POST, OPTIONS"},
        {API_POST, "/v1/meshes/g", "GET, HEAD, PUT, DELETE, OPTIONS"},
        {API_PATCH, "/v1/meshes", "GET, HEAD, OPTIONS"},
        {API_OTHER, "/livez", "GET, HEAD, OPTIONS"},
        {API_GET, "/v1/meshes/g/reload", "POST, OPTIONS"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        api_response response = fake_ask(&fake, cases[i].method, cases[i].target, NULL);
        assert_int_equal(response.status, 405);
        assert_string_equal(response.allow, cases[i].allow);
        api_buffer_free(&response.body);
        api_check_problem(&fake, cases[i].method, cases[i].target, NULL,
                          (api_expected){405, "method_not_allowed", "", "", cases[i].allow});
        response = fake_ask(&fake, API_OPTIONS, cases[i].target, NULL);
        assert_int_equal(response.status, 204);
        assert_string_equal(response.allow, cases[i].allow);
        assert_int_equal(response.body.size, 0);
        api_buffer_free(&response.body);
    }
}

static void test_rights(void **state)
{
    (void)state;
    static const struct {
        api_method method;
        const char *target;
    } changes[] = {{API_PUT, "/v1/meshes/new"}, {API_DELETE, "/v1/meshes/g"}, {API_POST, "/v1/meshes/g/reload"}};
    fake.may_change = false;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        fake.token_missing = true;
        api_check_problem(&fake, changes[i].method, changes[i].target, api_square,
                          (api_expected){401, "unauthorized", "", "", "Bearer"});
        fake.token_missing = false;
        api_check_problem(&fake, changes[i].method, changes[i].target, api_square,
                          (api_expected){403, "forbidden", "", "", NULL});
    }
    assert_int_equal(fake.job_runs, 0);
    api_check_answer(&fake, API_POST, "/v1/meshes/g/height", "{\"point\":[1,0,1]}", 200, NULL);
}

static void test_meshes_without_a_revision(void **state)
{
    (void)state;
    fake_host_add_empty(&fake, "slow", API_MESH_LOADING);
    fake_host_add_empty(&fake, "broken", API_MESH_FAILED);
    static const char *const calls[] = {"path", "batch"};
    for (size_t i = 0; i < 2; i++) {
        char target[64] = "/v1/meshes/slow/";
        strcat(target, calls[i]);
        api_check_problem(&fake, API_POST, target, "{}", (api_expected){409, "conflict", "", "", "still being loaded"});
    }
    api_check_problem(&fake, API_GET, "/v1/meshes/broken/geometry", NULL,
                      (api_expected){409, "conflict", "", "", "line 3: it is broken"});
    api_check_problem(&fake, API_GET, "/v1/meshes/broken/report", NULL,
                      (api_expected){409, "conflict", "", "", "line 3: it is broken"});
}

static void test_body_limits(void **state)
{
    (void)state;
    fake.limits.max_body = 1000;
    fake.limits.max_query_body = 100;
    assert_int_equal(api_body_limit(&fake.limits, API_PUT, "/v1/meshes/g"), 1000);
    assert_int_equal(api_body_limit(&fake.limits, API_POST, "/v1/meshes/g/path"), 100);
    assert_int_equal(api_body_limit(&fake.limits, API_PUT, "/nothing"), 100);
    assert_int_equal(api_body_limit(&fake.limits, API_GET, "/v1/meshes/g"), 100);
    api_limits defaults = api_limits_default();
    assert_int_equal(api_body_limit(&defaults, API_POST, "/v1/meshes/g/batch"), 8 << 20);
    assert_int_equal(api_body_limit(&defaults, API_POST, "/v1/meshes/g/path"), 262144);
    api_context_destroy(fake.context);
    assert_true(fake_host_start(&fake));
    char body[128];
    memset(body, ' ', sizeof body - 1);
    body[sizeof body - 1] = '\0';
    api_check_problem(&fake, API_POST, "/v1/meshes/g/path", body,
                      (api_expected){413, "too_large", "", "", "100 bytes"});
    api_check_problem(&fake, API_POST, "/v1/meshes/g/batch", body,
                      (api_expected){413, "too_large", "", "", "100 bytes"});
}

int main(void)
{
#define ERROR_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        ERROR_TEST(test_bad_json),
        ERROR_TEST(test_bad_members),
        ERROR_TEST(test_bad_parameters),
        ERROR_TEST(test_no_such_thing),
        ERROR_TEST(test_methods),
        ERROR_TEST(test_rights),
        ERROR_TEST(test_meshes_without_a_revision),
        ERROR_TEST(test_body_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
