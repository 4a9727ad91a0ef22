/// Agents: making, changing, removing, asking; one at a time and many.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_check.h"

#define AGENTS "/v1/meshes/g/agents"

static fake_host fake;

static int setup(void **state)
{
    (void)state;
    api_check_start(&fake);
    fake.first_version = 100;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    api_check_stop(&fake);
    return 0;
}

static void ask(api_method method, const char *target, const char *body, int status, const char *answer)
{
    api_check_answer(&fake, method, target, body, status, answer);
}

static void refuse(api_method method, const char *target, const char *body, int status, const char *code,
                   const char *pointer)
{
    api_check_problem(&fake, method, target, body, (api_expected){.status = status, .code = code, .pointer = pointer});
}

/// How many agents there are.
static int count(void)
{
    cJSON *json = api_check_json(&fake, API_GET, AGENTS, NULL);
    int agents = cJSON_GetArraySize(api_check_at(json, "agents"));
    cJSON_Delete(json);
    return agents;
}

static void test_create_one(void **state)
{
    (void)state;
    ask(API_POST, AGENTS,
        "{\"id\":\"guard\",\"position\":[1,0,1],\"target\":[9,0,1],\"radius\":0.25,\"height\":1.5,\"max_speed\":2,"
        "\"max_acceleration\":4,\"stopping_distance\":0.5,\"link_speed\":3,\"avoidance\":\"none\",\"snap\":[1,2,3]}",
        201,
        "{\"id\":\"guard\",\"position\":[1,0,1],\"velocity\":[0,0,0],\"yaw\":0,\"state\":\"idle\",\"target\":[9,0,1],"
        "\"path\":[],\"link\":null,\"remaining\":0,\"polygon\":0,\"chase\":null,\"radius\":0.25,\"height\":1.5,"
        "\"max_speed\":2,\"max_acceleration\":4,\"stopping_distance\":0.5,\"link_speed\":3,\"avoidance\":\"none\","
        "\"filter\":null,\"snap\":[1,2,3]}");
    assert_int_equal(fake.told, 1);
    assert_int_equal(fake.agent_runs, 1);
    api_response response = fake_ask(&fake, API_POST, AGENTS, "{\"position\":[2,0,2]}");
    assert_int_equal(response.status, 201);
    assert_string_equal(response.location, AGENTS "/a1");
    assert_true(response.revision == 1);
    api_buffer_free(&response.body);
    // An id that is used is passed over by those that are made.
    ask(API_POST, AGENTS, "{\"id\":\"a2\",\"position\":[3,0,3],\"fields\":[]}", 201, "{\"id\":\"a2\"}");
    ask(API_POST, AGENTS, "{\"position\":[4,0,4],\"fields\":[\"state\"]}", 201, "{\"id\":\"a3\",\"state\":\"idle\"}");
    // One that was removed is not made again.
    ask(API_DELETE, AGENTS "/a3", NULL, 204, "");
    ask(API_POST, AGENTS, "{\"position\":[4,0,4],\"fields\":[]}", 201, "{\"id\":\"a4\"}");
    ask(API_GET, AGENTS "/guard?fields=max_acceleration,id,position&vectors=object", NULL, 200,
        "{\"id\":\"guard\",\"position\":{\"x\":1,\"y\":0,\"z\":1},\"max_acceleration\":4}");
    ask(API_PATCH, AGENTS "/guard", "{\"max_acceleration\":null,\"fields\":[\"max_acceleration\",\"max_speed\"]}", 200,
        "{\"id\":\"guard\",\"max_speed\":2,\"max_acceleration\":null}");
    ask(API_POST, AGENTS, "{\"id\":\"lost\",\"position\":[90,0,4],\"fields\":[\"state\",\"position\",\"polygon\"]}",
        201, "{\"id\":\"lost\",\"position\":[90,0,4],\"state\":\"off_mesh\",\"polygon\":null}");
}

static void test_many(void **state)
{
    (void)state;
    ask(API_POST, AGENTS,
        "{\"agents\":[{\"id\":\"a\",\"position\":{\"x\":1,\"y\":0,\"z\":1},\"chase\":{\"agent\":\"b\"}},"
        "{\"id\":\"b\",\"position\":{\"x\":5,\"y\":0,\"z\":5}}],\"fields\":[\"position\",\"chase\"],\"precision\":0}",
        201,
        "{\"agents\":[{\"id\":\"a\",\"position\":{\"x\":1,\"y\":0,\"z\":1},\"chase\":{\"agent\":\"b\",\"repath_ms\":"
        "500,"
        "\"attack_range\":0}},{\"id\":\"b\",\"position\":{\"x\":5,\"y\":0,\"z\":5},\"chase\":null}],\"version\":101,"
        "\"revision\":1}");
    ask(API_PATCH, AGENTS,
        "{\"agents\":[{\"id\":\"b\",\"radius\":0.3},{\"id\":\"a\",\"chase\":null,\"target\":[2,0,2]}],"
        "\"fields\":[\"radius\",\"target\",\"chase\"]}",
        200,
        "{\"agents\":[{\"id\":\"b\",\"target\":null,\"chase\":null,\"radius\":0.3},{\"id\":\"a\",\"target\":[2,0,2],"
        "\"chase\":null,\"radius\":0.5}],\"version\":102,\"revision\":1}");
    ask(API_POST, AGENTS, "{\"agents\":[]}", 201, "{\"agents\":[],\"version\":103,\"revision\":1}");
    ask(API_DELETE, AGENTS, "{\"agents\":[\"a\",\"b\",\"a\"]}", 204, "");
    assert_int_equal(count(), 0);
}

/// All or none, with the place of what is wrong.
static void test_atomic(void **state)
{
    (void)state;
    ask(API_POST, AGENTS, "{\"agents\":[{\"id\":\"a\",\"position\":[1,0,1]},{\"id\":\"b\",\"position\":[2,0,1]}]}", 201,
        NULL);
    static const struct {
        api_method method;
        const char *body, *code, *pointer;
        int status;
    } cases[] = {
        {API_POST, "{\"agents\":[{\"position\":[1,0,1]},{\"position\":[1,0]}]}", "bad_request", "/agents/1/position",
         400},
        {API_POST, "{\"agents\":[{\"position\":[1,0,1]},{\"position\":[1,0,\"x\"]}]}", "bad_request",
         "/agents/1/position/2", 400},
        {API_POST, "{\"agents\":[{\"position\":[1,0,1]},{}]}", "bad_request", "/agents/1/position", 400},
        {API_POST, "{\"agents\":[{\"position\":[1,0,1]},7]}", "bad_request", "/agents/1", 400},
        {API_POST, "{\"agents\":[{\"position\":[1,0,1]},{\"id\":\"a\",\"position\":[1,0,1]}]}", "conflict",
         "/agents/1/id", 409},
        {API_POST, "{\"agents\":[{\"id\":\"c\",\"position\":[1,0,1]},{\"id\":\"c\",\"position\":[1,0,1]}]}", "conflict",
         "/agents/1/id", 409},
        {API_POST, "{\"agents\":[{\"position\":[1,0,1],\"filter\":\"dry\"}]}", "bad_request", "/agents/0/filter", 400},
        {API_POST, "{\"agents\":[{\"position\":[1,0,1],\"filter\":{\"exclude\":[\"swim\"]}}]}", "bad_request",
         "/agents/0/filter/exclude/0", 400},
        {API_POST, "{\"agents\":[{\"position\":[1,0,1],\"chase\":{\"agent\":\"nobody\"}}]}", "bad_request",
         "/agents/0/chase/agent", 400},
        {API_POST, "{\"agents\":[{\"position\":[1,0,1]}],\"agent\":1}", "bad_request", "/agent", 400},
        {API_POST, "{\"agents\":{}}", "bad_request", "/agents", 400},
        {API_POST, "[]", "bad_request", "", 400},
        {API_POST, "{\"agents\":[", "bad_json", NULL, 400},
        {API_PATCH, "{\"agents\":[{\"id\":\"a\",\"radius\":2},{\"id\":\"x\",\"radius\":2}]}", "not_found",
         "/agents/1/id", 404},
        {API_PATCH, "{\"agents\":[{\"id\":\"a\",\"radius\":2},{\"radius\":2}]}", "bad_request", "/agents/1/id", 400},
        {API_PATCH, "{\"agents\":[{\"id\":\"a\",\"radius\":2},{\"id\":\"b\",\"radius\":0}]}", "bad_request",
         "/agents/1/radius", 400},
        {API_PATCH, "{\"agents\":[{\"id\":\"a\",\"radius\":2},{\"id\":\"b\",\"filter\":\"dry\"}]}", "bad_request",
         "/agents/1/filter", 400},
        {API_DELETE, "{\"agents\":[\"a\",\"x\"]}", "not_found", "/agents/1", 404},
        {API_DELETE, "{\"agents\":[\"a\",7]}", "bad_request", "/agents/1", 400},
        {API_DELETE, "{}", "bad_request", "/agents", 400},
        {API_DELETE, "{\"agents\":[\"a\"],\"all\":true}", "bad_request", "/agents", 400},
        {API_DELETE, "{\"all\":false}", "bad_request", "/all", 400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        refuse(cases[i].method, AGENTS, cases[i].body, cases[i].status, cases[i].code, cases[i].pointer);
        ask(API_GET, AGENTS "?fields=radius", NULL, 200, NULL);
        assert_int_equal(count(), 2);
        ask(API_GET, AGENTS "/a?fields=radius", NULL, 200, "{\"id\":\"a\",\"radius\":0.5}");
    }
    assert_int_equal(fake.told, 1);
}

static void test_members(void **state)
{
    (void)state;
    static const struct {
        const char *members, *pointer;
    } cases[] = {
        {"\"radius\":0", "/radius"},
        {"\"radius\":1e10", "/radius"},
        {"\"radius\":\"x\"", "/radius"},
        {"\"height\":-1", "/height"},
        {"\"max_speed\":-1", "/max_speed"},
        {"\"max_speed\":null", "/max_speed"},
        {"\"max_acceleration\":0", "/max_acceleration"},
        {"\"stopping_distance\":[]", "/stopping_distance"},
        {"\"link_speed\":-1", "/link_speed"},
        {"\"avoidance\":\"rvo\"", "/avoidance"},
        {"\"avoidance\":1", "/avoidance"},
        {"\"target\":[1]", "/target"},
        {"\"target\":1", "/target"},
        {"\"chase\":\"b\"", "/chase"},
        {"\"chase\":{}", "/chase"},
        {"\"chase\":{\"agent\":\".b\"}", "/chase/agent"},
        {"\"chase\":{\"agent\":\"x\"}", "/chase/agent"},
        {"\"chase\":{\"agent\":\"b\",\"repath\":1}", "/chase/repath"},
        {"\"chase\":{\"agent\":\"b\",\"agent\":\"b\"}", "/chase/agent"},
        {"\"chase\":{\"agent\":\"b\",\"repath_ms\":-1}", "/chase/repath_ms"},
        {"\"chase\":{\"agent\":\"b\",\"attack_range\":true}", "/chase/attack_range"},
        {"\"chase\":{\"agent\":\"b\"},\"target\":[1,0,1]", "/chase"},
        {"\"chase\":{\"agent\":\"a\"}", "/chase/agent"},
        {"\"filter\":7", "/filter"},
        {"\"filter\":{\"include\":[40]}", "/filter/include/0"},
        {"\"snap\":-1", "/snap"},
        {"\"snap\":[1,1]", "/snap"},
        {"\"position\":[1e300,0,0]", "/position/0"},
        {"\"radus\":1", "/radus"},
        {"\"radius\":1,\"radius\":1", "/radius"},
        {"\"fields\":\"state\"", "/fields"},
        {"\"fields\":[\"stat\"]", "/fields/0"},
        {"\"precision\":10", "/precision"},
        {"\"vectors\":\"list\"", "/vectors"},
        {"\"frame\":\"q-up\"", "/frame"},
        {"\"since\":1", "/since"},
        {"\"id\":\"b\"", "/id"},
    };
    ask(API_POST, AGENTS, "{\"agents\":[{\"id\":\"a\",\"position\":[1,0,1]},{\"id\":\"b\",\"position\":[2,0,1]}]}", 201,
        NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[160];
        snprintf(body, sizeof body, "{%s}", cases[i].members);
        refuse(API_PATCH, AGENTS "/a", body, 400, "bad_request", cases[i].pointer);
    }
    refuse(API_POST, AGENTS, "{\"id\":\"step\",\"position\":[1,0,1]}", 400, "bad_request", "/id");
    refuse(API_POST, AGENTS, "{\"id\":\"a/b\",\"position\":[1,0,1]}", 400, "bad_request", "/id");
    refuse(API_POST, AGENTS, "{\"id\":7,\"position\":[1,0,1]}", 400, "bad_request", "/id");
    refuse(API_PATCH, AGENTS "/x", "{}", 404, "not_found", NULL);
    refuse(API_GET, AGENTS "/x", NULL, 404, "not_found", NULL);
    refuse(API_DELETE, AGENTS "/x", NULL, 404, "not_found", NULL);
    refuse(API_GET, AGENTS "/.x", NULL, 404, "not_found", NULL);
    refuse(API_GET, "/v1/meshes/none/agents", NULL, 404, "not_found", NULL);
    refuse(API_POST, AGENTS "?id=3", "{\"position\":[1,0,1]}", 400, "bad_request", NULL);
    fake_host_add_empty(&fake, "slow", API_MESH_LOADING);
    refuse(API_GET, "/v1/meshes/slow/agents", NULL, 409, "conflict", NULL);
}

static void test_rights(void **state)
{
    (void)state;
    ask(API_POST, AGENTS, "{\"id\":\"a\",\"position\":[1,0,1]}", 201, NULL);
    fake.may_change = false;
    refuse(API_POST, AGENTS, "{\"position\":[1,0,1]}", 403, "forbidden", NULL);
    refuse(API_PATCH, AGENTS "/a", "{}", 403, "forbidden", NULL);
    refuse(API_DELETE, AGENTS "/a", NULL, 403, "forbidden", NULL);
    refuse(API_DELETE, AGENTS "?all=true", NULL, 403, "forbidden", NULL);
    refuse(API_POST, AGENTS "/step", "{\"dt\":1}", 403, "forbidden", NULL);
    fake.token_missing = true;
    refuse(API_PATCH, AGENTS "/settings", "{\"tick_hz\":1}", 401, "unauthorized", NULL);
    ask(API_GET, AGENTS "/a?fields=state", NULL, 200, "{\"id\":\"a\",\"state\":\"idle\"}");
    ask(API_HEAD, AGENTS "/events", NULL, 200, "");
}

static void test_limit(void **state)
{
    (void)state;
    api_check_stop(&fake);
    fake_host_init(&fake);
    fake.limits.max_agents = 2;
    assert_true(fake_host_start(&fake));
    api_check_load(&fake, "g", api_square, NULL);
    refuse(API_POST, AGENTS, "{\"agents\":[{\"position\":[1,0,1]},{\"position\":[1,0,1]},{\"position\":[1,0,1]}]}", 413,
           "too_large", "/agents");
    ask(API_POST, AGENTS, "{\"agents\":[{\"position\":[1,0,1]},{\"position\":[2,0,1]}]}", 201, NULL);
    refuse(API_POST, AGENTS, "{\"position\":[1,0,1]}", 413, "too_large", NULL);
    ask(API_DELETE, AGENTS "?agents=a1", NULL, 204, "");
    ask(API_POST, AGENTS, "{\"position\":[1,0,1]}", 201, NULL);
    assert_int_equal(count(), 2);
    ask(API_DELETE, AGENTS "?all=true", NULL, 204, "");
    assert_int_equal(count(), 0);
}

/// Ids are found, and the order of making kept, through many that come and go.
static void test_many_come_and_go(void **state)
{
    (void)state;
    char body[128];
    for (int i = 0; i < 1200; i++) {
        snprintf(body, sizeof body, "{\"id\":\"n%d\",\"position\":[%d,0,%d],\"fields\":[]}", i, i % 10, i / 10 % 10);
        ask(API_POST, AGENTS, body, 201, NULL);
        if (i >= 400) {
            snprintf(body, sizeof body, AGENTS "/n%d", i - 400 + (i % 2 ? -1 : 1));
            ask(API_DELETE, body, NULL, 204, "");
        }
    }
    cJSON *json = api_check_json(&fake, API_GET, AGENTS "?fields=position", NULL);
    const cJSON *agents = api_check_at(json, "agents");
    assert_int_equal(cJSON_GetArraySize(agents), 400);
    int last = -1;
    for (const cJSON *a = agents->child; a; a = a->next) {
        int n = atoi(api_check_at(a, "id")->valuestring + 1);
        assert_true(n > last && n >= 799);
        assert_true(api_check_at(a, "position")->child->valuedouble == n % 10);
        last = n;
        snprintf(body, sizeof body, AGENTS "/n%d", n);
        ask(API_GET, body, NULL, 200, NULL);
    }
    cJSON_Delete(json);
}

static void test_since(void **state)
{
    (void)state;
    ask(API_POST, AGENTS, "{\"agents\":[{\"id\":\"a\",\"position\":[1,0,1]},{\"id\":\"b\",\"position\":[2,0,1]}]}", 201,
        NULL);
    ask(API_GET, AGENTS "?fields=state", NULL, 200,
        "{\"agents\":[{\"id\":\"a\",\"state\":\"idle\"},{\"id\":\"b\",\"state\":\"idle\"}],\"full\":true,\"step\":0,"
        "\"version\":101,\"revision\":1}");
    ask(API_GET, AGENTS "?fields=state&since=101", NULL, 200,
        "{\"agents\":[],\"removed\":[],\"full\":false,\"step\":0,\"version\":101,\"revision\":1}");
    ask(API_PATCH, AGENTS "/b", "{\"target\":[8,0,1]}", 200, NULL);
    ask(API_DELETE, AGENTS "/a", NULL, 204, "");
    ask(API_GET, AGENTS "?fields=target&since=101", NULL, 200,
        "{\"agents\":[{\"id\":\"b\",\"target\":[8,0,1]}],\"removed\":[\"a\"],\"full\":false,\"step\":0,\"version\":103,"
        "\"revision\":1}");
    ask(API_POST, AGENTS, "{\"id\":\"a\",\"position\":[1,0,1]}", 201, NULL);
    // The new one of the name counts.
    ask(API_GET, AGENTS "?fields=state&since=102", NULL, 200,
        "{\"agents\":[{\"id\":\"a\",\"state\":\"idle\"}],\"removed\":[],\"full\":false,\"step\":0,\"version\":104,"
        "\"revision\":1}");
    // What was changed between steps is told with the next one as well; then only what that changes.
    ask(API_POST, AGENTS "/step", "{\"dt\":0.1}", 200, NULL);
    ask(API_POST, AGENTS "/step", "{\"dt\":0.1}", 200, NULL);
    ask(API_GET, AGENTS "?fields=state&since=105", NULL, 200,
        "{\"agents\":[{\"id\":\"b\",\"state\":\"moving\"}],\"removed\":[],\"full\":false,\"step\":2,\"version\":106,"
        "\"revision\":1}");
    // Of another run, before the beginning or after the end: everything.
    static const char *const others[] = {AGENTS "?since=1&fields=id", AGENTS "?since=7000&fields=id"};
    for (int i = 0; i < 2; i++) {
        ask(API_GET, others[i], NULL, 200,
            "{\"agents\":[{\"id\":\"b\"},{\"id\":\"a\"}],\"removed\":[],\"full\":true,\"step\":2,\"version\":106,"
            "\"revision\":1}");
    }
    api_check_problem(&fake, API_GET, AGENTS "?since=-1", NULL, (api_expected){.status = 400, .parameter = "since"});
    api_check_problem(&fake, API_GET, AGENTS "?sins=1", NULL,
                      (api_expected){.status = 400, .parameter = "sins", .detail = "`since`"});
}

int main(void)
{
#define AGENT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        AGENT_TEST(test_create_one),       AGENT_TEST(test_many),   AGENT_TEST(test_atomic),
        AGENT_TEST(test_members),          AGENT_TEST(test_rights), AGENT_TEST(test_limit),
        AGENT_TEST(test_many_come_and_go), AGENT_TEST(test_since),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
