/// Spoiled requests about agents: an answer that is well formed, and nothing changed where it is a refusal.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_check.h"
#include "rng.h"

#define AGENTS "/v1/meshes/g/agents"

enum { ROUNDS = 12000, LONGEST = 1000 };

static fake_host fake;
static rng random_state;

static const char *const tokens[] = {
    "\"a\"",
    "\"b\"",
    "\"agents\"",
    "\"position\"",
    "\"target\"",
    "\"chase\"",
    "\"filter\"",
    "null",
    "true",
    "1e999",
    "-1",
    "0",
    "1e9",
    "1e-320",
    "1e38",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\"",
    "\x80",
    "[9,0,9]",
    "{\"x\":1,\"y\":0,\"z\":1}",
    "\"dry\"",
    "\"step\"",
    "\"fields\":[\"all\"],",
    "\"frame\":\"z-up\",",
};
enum { TOKENS = sizeof tokens / sizeof *tokens };

static const struct {
    api_method method;
    const char *target, *body;
} seeds[] = {
    {API_POST, AGENTS, "{\"id\":\"n\",\"position\":[3,0,3],\"target\":[9,0,1],\"radius\":0.4,\"max_speed\":2}"},
    {API_POST, AGENTS,
     "{\"agents\":[{\"position\":{\"x\":1,\"y\":0,\"z\":1},\"chase\":{\"agent\":\"b\",\"repath_ms\":10,\"attack_"
     "range\":2}},"
     "{\"id\":\"m\",\"position\":[2,0,2],\"filter\":{\"exclude\":[3],\"costs\":{\"0\":2}},\"snap\":[1,2,3]}],"
     "\"precision\":2}"},
    {API_PATCH, AGENTS,
     "{\"agents\":[{\"id\":\"a\",\"target\":[2,0,2]},{\"id\":\"b\",\"chase\":{\"agent\":\"a\"},\"height\":1}]}"},
    {API_PATCH, AGENTS, "{\"id\":\"a\",\"position\":[4,0,4],\"max_acceleration\":null,\"stopping_distance\":1}"},
    {API_PATCH, AGENTS "/b", "{\"filter\":{\"include\":[0]},\"avoidance\":\"none\",\"link_speed\":3,\"target\":null}"},
    {API_DELETE, AGENTS, "{\"agents\":[\"a\",\"b\"]}"},
    {API_POST, AGENTS "/step", "{\"dt\":0.1,\"changed\":true,\"id\":7,\"fields\":[\"position\",\"state\"]}"},
    {API_PATCH, AGENTS "/settings", "{\"tick_hz\":null}"},
};
enum { SEEDS = sizeof seeds / sizeof *seeds };

static uint32_t below(uint32_t n)
{
    return rng_below(&random_state, n);
}

static size_t spoil(char *text, size_t size)
{
    size_t at = below((uint32_t)size + 1);
    const char *token = tokens[below(TOKENS)];
    size_t length = strlen(token);
    switch (below(4)) {
    case 0: // one byte
        if (at < size) {
            text[at] = (char)below(256);
        }
        return size;
    case 1: // a piece is lost
    {
        size_t lost = below(12);
        lost = lost < size - at ? lost : size - at;
        memmove(text + at, text + at + lost, size - at - lost);
        return size - lost;
    }
    case 2: // over what is there
        length = length < size - at ? length : size - at;
        memcpy(text + at, token, length);
        return size;
    default: // in between
        if (size + length > LONGEST) {
            return size;
        }
        memmove(text + at + length, text + at, size - at);
        memcpy(text + at, token, length);
        return size + length;
    }
}

/// All there is, but for the version, which attempts may move.
static char *everything(void)
{
    api_response response = fake_ask(&fake, API_GET, AGENTS "?fields=all", NULL);
    assert_int_equal(response.status, 200);
    char *version = strstr(response.body.data, "\"version\"");
    assert_non_null(version);
    *version = '\0';
    return response.body.data;
}

static void restore(void)
{
    api_check_answer(&fake, API_DELETE, AGENTS "?all=true", NULL, 204, "");
    api_check_answer(&fake, API_PATCH, AGENTS "/settings", "{\"tick_hz\":0}", 200, NULL);
    api_check_answer(&fake, API_POST, AGENTS,
                     "{\"agents\":[{\"id\":\"a\",\"position\":[1,0,1]},{\"id\":\"b\",\"position\":[5,0,5],"
                     "\"chase\":{\"agent\":\"a\"},\"filter\":{\"exclude\":[7]}}]}",
                     201, NULL);
}

static void try_one(const char *what, const api_response *response, const char *before)
{
    int status = response->status;
    if (status != 200 && status != 201 && status != 204 && status != 400 && status != 404 && status != 409) {
        fail_msg("%s: %d %s", what, status, response->body.data);
    }
    cJSON *json = status == 204 ? NULL : cJSON_Parse(response->body.data);
    if (status != 204 && !json) {
        fail_msg("%s: %s", what, response->body.data);
    }
    cJSON_Delete(json);
    char *after = everything();
    if (status >= 400 && strcmp(before, after) != 0) {
        fail_msg("%s was refused, and changed\n%s\nto\n%s", what, before, after);
    }
    free(after);
}

static void test_spoiled_bodies(void **state)
{
    (void)state;
    int taken = 0;
    api_check_start(&fake);
    random_state = rng_seeded(4);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t s = below(SEEDS);
        char body[LONGEST + 64];
        size_t size = strlen(seeds[s].body);
        memcpy(body, seeds[s].body, size);
        for (uint32_t times = below(4); times > 0; times--) {
            size = spoil(body, size);
        }
        body[size] = '\0';
        if (round % 8 == 0) {
            restore();
        }
        char *before = everything();
        api_response response = fake_ask_bytes(&fake, seeds[s].method, seeds[s].target, body, size);
        try_one(body, &response, before);
        taken += response.status < 300;
        free(before);
        api_buffer_free(&response.body);
    }
    api_check_stop(&fake);
    assert_in_range(taken, ROUNDS / 6, ROUNDS - ROUNDS / 6); // both kinds were tried
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_spoiled_bodies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
