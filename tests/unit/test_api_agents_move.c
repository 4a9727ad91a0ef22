/// Agents that move: steps, events, frames, settings, and meshes that change under them.
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

static char *text_of(api_method method, const char *target, const char *body)
{
    api_response response = fake_ask(&fake, method, target, body);
    assert_in_range(response.status, 200, 299);
    return response.body.data;
}

static void test_step(void **state)
{
    (void)state;
    ask(API_POST, AGENTS,
        "{\"id\":\"a\",\"position\":[1,0,1],\"target\":[1,0,9],\"max_speed\":2,\"max_acceleration\":null}", 201, NULL);
    ask(API_POST, AGENTS "/step", "{\"dt\":0.5,\"id\":\"first\"}", 200,
        "{\"agents\":[{\"id\":\"a\",\"position\":[1,0,2],\"velocity\":[0,0,2],\"yaw\":0,\"state\":\"moving\","
        "\"target\":[1,0,9],\"path\":[[1,0,9]],\"link\":null}],\"step\":1,\"id\":\"first\"}");
    ask(API_POST, AGENTS "/step", "{\"dt\":10,\"fields\":[\"position\",\"state\"]}", 200,
        "{\"agents\":[{\"id\":\"a\",\"position\":[1,0,9],\"state\":\"arrived\"}],\"step\":2}");
    free(text_of(API_POST, AGENTS "/step", "{\"dt\":1}")); // it comes to rest
    ask(API_POST, AGENTS "/step", "{\"dt\":1,\"changed\":true}", 200, "{\"agents\":[],\"step\":4}");
    static const char *const bad[] = {"{}", "{\"dt\":0}", "{\"dt\":-1}", "{\"dt\":61}", "{\"dt\":\"1\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        api_check_problem(&fake, API_POST, AGENTS "/step", bad[i],
                          (api_expected){.status = 400, .code = "bad_request", .pointer = "/dt"});
    }
    api_check_problem(&fake, API_POST, AGENTS "/step", "{\"dt\":1,\"changed\":1}",
                      (api_expected){.status = 400, .pointer = "/changed"});
}

/// A crowd that crosses itself, stepped in shares of this many. @return the last answer
static char *run_crowd(uint32_t share)
{
    api_check_stop(&fake);
    api_check_start(&fake);
    fake.step_share = share;
    for (int i = 0; i < 60; i++) {
        char body[200];
        double angle = i * 0.1047;
        snprintf(body, sizeof body, "{\"position\":[%.3f,0,%.3f],\"target\":[%.3f,0,%.3f],\"radius\":0.15}",
                 5 + 4 * cos(angle), 5 + 4 * sin(angle), 5 - 4 * cos(angle), 5 - 4 * sin(angle));
        ask(API_POST, AGENTS, body, 201, NULL);
    }
    char *last = NULL;
    for (int i = 0; i < 120; i++) {
        free(last);
        last = text_of(API_POST, AGENTS "/step", "{\"dt\":0.05}");
    }
    return last;
}

static void test_same_bytes_for_all_shares(void **state)
{
    (void)state;
    char *whole = run_crowd(0);
    static const uint32_t shares[] = {1, 7, 32};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        char *parts = run_crowd(shares[i]);
        assert_string_equal(whole, parts);
        free(parts);
    }
    free(whole);
}

static void expect_stream(const char *text)
{
    assert_int_equal(fake.stream.size, strlen(text));
    assert_memory_equal(fake.stream.data, text, strlen(text));
}

static void test_first_events(void **state)
{
    (void)state;
    ask(API_POST, AGENTS, "{\"agents\":[{\"id\":\"a\",\"position\":[1,0,1]},{\"id\":\"b\",\"position\":[2,0,1]}]}", 201,
        NULL);
    api_response response = fake_ask(&fake, API_GET, AGENTS "/events?fields=state,position&precision=1", NULL);
    assert_int_equal(response.status, 200);
    assert_string_equal(response.content_type, "text/event-stream");
    assert_ptr_equal(response.stream, &fake);
    assert_int_equal(response.body.size, 0);
    api_buffer_free(&response.body);
    expect_stream(
        "id: 101\nevent: full\ndata: {\"step\":0,\"version\":101,\"revision\":1,\"agents\":[{\"id\":\"a\","
        "\"position\":[1,0,1],\"state\":\"idle\"},{\"id\":\"b\",\"position\":[2,0,1],\"state\":\"idle\"}]}\n\n");
    ask(API_PATCH, AGENTS "/b", "{\"position\":[3,0,3]}", 200, NULL);
    ask(API_DELETE, AGENTS "/a", NULL, 204, "");
    fake.last_event_id = "101";
    ask(API_GET, AGENTS "/events?fields=position", NULL, 200, "");
    expect_stream("id: 103\nevent: changes\ndata: {\"step\":0,\"version\":103,\"revision\":1,\"agents\":[{\"id\":\"b\","
                  "\"position\":[3,0,3]}],\"removed\":[\"a\"]}\n\n");
    static const char *const unknown[] = {"99", "104", "x", "-1", ""};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        fake.last_event_id = unknown[i];
        ask(API_GET, AGENTS "/events?fields=id", NULL, 200, "");
        expect_stream(
            "id: 103\nevent: full\ndata: {\"step\":0,\"version\":103,\"revision\":1,\"agents\":[{\"id\":\"b\"}]}\n\n");
    }
    fake.last_event_id = NULL;
    api_check_problem(&fake, API_GET, AGENTS "/events?field=id", NULL,
                      (api_expected){.status = 400, .parameter = "field"});
}

static void test_changes_since_told(void **state)
{
    (void)state;
    api_buffer out = {0};
    api_agents_view view = {.fields = API_AGENT_MODE, .precision = -1};
    free(text_of(API_POST, AGENTS, "{\"id\":\"a\",\"position\":[1,0,1]}"));
    api_agents *agents = fake.host.agents.get(&fake, "g");
    api_agents_write_changes(agents, &view, &out);
    assert_int_equal(out.size, 0); // all was told
    fake_host_load(&fake, "g", "{\"vertices\":[[5,0,5],[5,0,10],[10,0,10],[10,0,5]],\"polygons\":[[0,1,2,3]]}", NULL,
                   &(api_problem){0});
    assert_true(api_agents_news(agents));
    api_agents_write_changes(agents, &view, &out);
    const char *expected =
        "id: 102\nevent: changes\ndata: {\"step\":0,\"version\":102,\"revision\":2,\"agents\":[{\"id\":"
        "\"a\",\"state\":\"off_mesh\"}],\"removed\":[]}\n\n";
    assert_int_equal(out.size, strlen(expected));
    assert_memory_equal(out.data, expected, out.size);
    api_buffer_free(&out);
}

/// Removals beyond those that are remembered make `since` begin anew.
static void test_forgotten_removals(void **state)
{
    (void)state;
    api_buffer body = {0};
    for (int round = 0; round < 2; round++) {
        body.size = 0;
        api_buffer_add_text(&body, "{\"agents\":[");
        for (int i = 0; i < 4100; i++) {
            api_buffer_printf(&body, "%s{\"position\":[1,0,1]}", i ? "," : "");
        }
        api_buffer_add_text(&body, "],\"fields\":[]}");
        api_buffer_add(&body, "", 1);
        ask(API_POST, AGENTS, body.data, 201, NULL);
        ask(API_DELETE, AGENTS "?all=true", NULL, 204, "");
    }
    api_buffer_free(&body);
    // Versions: 101 and 103 made them, 102 and 104 took them away; of those 4,096 are remembered.
    ask(API_GET, AGENTS "?since=103", NULL, 200,
        "{\"agents\":[],\"removed\":[],\"full\":true,\"step\":0,\"version\":104,\"revision\":1}");
    ask(API_GET, AGENTS "?since=104", NULL, 200,
        "{\"agents\":[],\"removed\":[],\"full\":false,\"step\":0,\"version\":104,\"revision\":1}");
}

static void test_settings(void **state)
{
    (void)state;
    cJSON *json = api_check_json(&fake, API_GET, AGENTS "/settings", NULL);
    assert_true(api_check_at(json, "tick_hz")->valuedouble == 0);
    assert_string_equal(api_check_at(json, "tick_hz_from")->valuestring, "mesh");
    cJSON_Delete(json);
    json = api_check_json(&fake, API_PATCH, AGENTS "/settings", "{\"tick_hz\":12.5}");
    assert_true(api_check_at(json, "tick_hz")->valuedouble == 12.5);
    assert_string_equal(api_check_at(json, "tick_hz_from")->valuestring, "call");
    cJSON_Delete(json);
    api_check_problem(&fake, API_POST, AGENTS "/step", "{\"dt\":1}", (api_expected){.status = 409, .code = "conflict"});
    json = api_check_json(&fake, API_PATCH, AGENTS "/settings", "{\"tick_hz\":null}");
    assert_true(api_check_at(json, "tick_hz")->valuedouble == 0);
    cJSON_Delete(json);
    static const char *const bad[] = {"{\"tick_hz\":-1}", "{\"tick_hz\":0.05}", "{\"tick_hz\":241}",
                                      "{\"tick_hz\":\"20\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        api_check_problem(&fake, API_PATCH, AGENTS "/settings", bad[i],
                          (api_expected){.status = 400, .code = "bad_request", .pointer = "/tick_hz"});
    }
    api_check_problem(&fake, API_PATCH, AGENTS "/settings", "{\"hz\":1}",
                      (api_expected){.status = 400, .pointer = "/hz"});
    const api_mesh *mesh = api_check_load(&fake, "t", api_square, "tick_hz=20");
    assert_true(mesh->tick_hz == 20);
    api_problem problem = {0};
    assert_null(fake_host_load(&fake, "t", api_square, "tick_hz=1000", &problem));
    assert_string_equal(problem.parameter, "tick_hz");
}

/// Positions, velocity and yaw in the caller's axes, both ways.
static void test_frames(void **state)
{
    (void)state;
    // Along +x of navcore, which is 0.5 pi from +z.
    ask(API_POST, AGENTS,
        "{\"id\":\"a\",\"position\":[1,0,2],\"target\":[9,0,2],\"max_speed\":2,\"max_acceleration\":null}", 201, NULL);
    ask(API_POST, AGENTS "/step", "{\"dt\":0.5,\"fields\":[\"position\",\"velocity\",\"yaw\"],\"precision\":4}", 200,
        "{\"agents\":[{\"id\":\"a\",\"position\":[2,0,2],\"velocity\":[2,0,0],\"yaw\":1.5708}],\"step\":1}");
    ask(API_GET, AGENTS "/a?fields=position,velocity,yaw,target&precision=4&frame=z-up", NULL, 200,
        "{\"id\":\"a\",\"position\":[2,2,0],\"velocity\":[2,0,0],\"yaw\":0,\"target\":[9,2,0]}");
    ask(API_GET, AGENTS "/a?fields=position,velocity,yaw&precision=4&frame=unreal", NULL, 200,
        "{\"id\":\"a\",\"position\":[-2,-2,0],\"velocity\":[-2,0,0],\"yaw\":3.1416}");
    ask(API_PATCH, AGENTS "/a",
        "{\"target\":[-2,-8,0],\"frame\":\"unreal\",\"snap\":[1,2,3],\"fields\":[\"target\",\"snap\"]}", 200,
        "{\"id\":\"a\",\"target\":[-2,-8,0],\"snap\":[1,2,3]}");
    ask(API_GET, AGENTS "/a?fields=target,snap", NULL, 200, "{\"id\":\"a\",\"target\":[2,0,8],\"snap\":[1,3,2]}");
    api_check_load(&fake, "flat", "{\"vertices\":[[0,0],[10,0],[10,10],[0,10]],\"polygons\":[[0,1,2,3]]}", NULL);
    ask(API_POST, "/v1/meshes/flat/agents",
        "{\"id\":\"a\",\"position\":[1,2],\"target\":[1,9],\"max_speed\":2,\"max_acceleration\":null}", 201, NULL);
    ask(API_POST, "/v1/meshes/flat/agents/step",
        "{\"dt\":0.5,\"fields\":[\"position\",\"velocity\",\"yaw\",\"target\"],\"precision\":4}", 200,
        "{\"agents\":[{\"id\":\"a\",\"position\":[1,3],\"velocity\":[0,2],\"yaw\":1.5708,\"target\":[1,9]}],\"step\":"
        "1}");
    api_check_problem(&fake, API_POST, "/v1/meshes/flat/agents", "{\"position\":[1,2,3]}",
                      (api_expected){.status = 400, .pointer = "/position"});
}

/// A filter by name means what the present mesh's settings say.
static void test_filters_are_carried_over(void **state)
{
    (void)state;
    static const char two[] = "{\"vertices\":[[0,0,0],[0,0,10],[5,0,10],[5,0,0],[10,0,10],[10,0,0]],"
                              "\"polygons\":[[0,1,2,3],[3,2,4,5]],\"flags\":[1,2]}";
    static const char *const params[] = {
        "flags={\"walk\":0,\"swim\":1}&filters={\"dry\":{\"exclude\":[\"swim\"]}}",
        "flags={\"walk\":0,\"swim\":1}&filters={\"dry\":{\"exclude\":[]}}",
        "flags={\"walk\":0,\"swim\":1}",
    };
    static const char *const modes[] = {"unreachable", "moving", "moving"};
    for (size_t i = 0; i < 3; i++) {
        api_check_load(&fake, "w", two, params[i]);
        if (i == 0) {
            ask(API_POST, "/v1/meshes/w/agents",
                "{\"id\":\"a\",\"position\":[1,0,1],\"target\":[9,0,1],\"filter\":\"dry\",\"max_speed\":0.1}", 201,
                NULL);
        }
        char *answer = NULL;
        for (int step = 0; step < 3; step++) {
            free(answer);
            answer = text_of(API_POST, "/v1/meshes/w/agents/step", "{\"dt\":0.1,\"fields\":[\"state\",\"filter\"]}");
        }
        char expected[96];
        snprintf(expected, sizeof expected,
                 "{\"agents\":[{\"id\":\"a\",\"state\":\"%s\",\"filter\":\"dry\"}],\"step\":%d}", modes[i],
                 (int)(3 * i + 3));
        assert_string_equal(answer, expected);
        free(answer);
    }
    ask(API_PATCH, "/v1/meshes/w/agents/a", "{\"filter\":{\"exclude\":[\"swim\"]},\"fields\":[\"filter\"]}", 200,
        "{\"id\":\"a\",\"filter\":{\"exclude\":[\"swim\"]}}");
    ask(API_PATCH, "/v1/meshes/w/agents/a", "{\"filter\":null,\"fields\":[\"filter\"]}", 200,
        "{\"id\":\"a\",\"filter\":null}");
}

int main(void)
{
#define AGENT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        AGENT_TEST(test_step),
        AGENT_TEST(test_same_bytes_for_all_shares),
        AGENT_TEST(test_first_events),
        AGENT_TEST(test_changes_since_told),
        AGENT_TEST(test_forgotten_removals),
        AGENT_TEST(test_settings),
        AGENT_TEST(test_frames),
        AGENT_TEST(test_filters_are_carried_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
