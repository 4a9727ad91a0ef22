/// Garbage in, an answer out: thousands of spoiled bodies and query strings. What is checked is that the
/// answer is well formed, that nothing leaks and, under a sanitizer, that nothing is touched that is not ours.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_check.h"
#include "rng.h"

enum { ROUNDS = 20000, LONGEST = 2000 };

static fake_host fake;
static rng random_state;

static uint32_t below(uint32_t n)
{
    return rng_below(&random_state, n);
}

/// Words that mean something somewhere.
static const char *const tokens[] = {
    "\"start\"",
    "\"end\"",
    "\"point\"",
    "\"snap\"",
    "\"filter\"",
    "\"costs\"",
    "\"include\"",
    "\"queries\"",
    "\"type\"",
    "\"path\"",
    "\"nearest\"",
    "\"defaults\"",
    "\"id\"",
    "\"frame\"",
    "\"z-up\"",
    "\"vectors\"",
    "\"object\"",
    "\"x\"",
    "\"timeout_ms\"",
    "\"count\"",
    "\"max_nodes\"",
    "null",
    "true",
    "false",
    "NaN",
    "1e999",
    "-1e999",
    "1e38",
    "-0",
    "0",
    "1e-320",
    "4294967296",
    "18446744073709551616",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "\x80",
    "\xED\xA0\x80",
    "\xF0\x9F\x98\x80",
    "&",
    "=",
    "%",
    "%00",
    "%7B",
    "+",
    "start=",
    "end=1,0,1",
    "snap=2",
    "include=1",
    "filter=%7B%22costs%22:%7B%221%22:2%7D%7D",
    "[[[[[[[[[[[[[[[[[[[[",
    "0.1000000000000000055511151231257827021181583404541",
};
enum { TOKEN_COUNT = sizeof tokens / sizeof *tokens };

/// Removes, doubles, overwrites or inserts somewhere.
static size_t spoil(char *text, size_t size)
{
    size_t at = size ? below((uint32_t)size + 1) : 0;
    switch (below(5)) {
    case 0: // a byte changed
        if (at < size) {
            text[at] = (char)below(256);
        }
        return size;
    case 1: { // a piece removed
        size_t length = below(12);
        length = length > size - at ? size - at : length;
        memmove(text + at, text + at + length, size - at - length);
        return size - length;
    }
    case 2: // the end cut off
        return at;
    case 3: { // a piece doubled
        size_t length = below(40);
        length = length > size - at ? size - at : length;
        if (size + length > LONGEST) {
            return size;
        }
        memmove(text + at + length, text + at, size - at);
        return size + length;
    }
    default: { // a word put in
        const char *token = tokens[below(TOKEN_COUNT)];
        size_t length = strlen(token);
        if (size + length > LONGEST) {
            return size;
        }
        memmove(text + at + length, text + at, size - at);
        memcpy(text + at, token, length);
        return size + length;
    }
    }
}

static void check_response(const api_response *response, const char *what)
{
    bool known = response->status == 200 || response->status == 400 || response->status == 404 ||
                 response->status == 413 || response->status == 504 || response->status == 409;
    if (!known) {
        fail_msg("%s: %d %s", what, response->status, response->body.data);
    }
    cJSON *json = cJSON_Parse(response->body.data);
    if (!json || !cJSON_GetObjectItem(json, "status")) {
        fail_msg("%s: %s", what, response->body.data);
    }
    cJSON_Delete(json);
    assert_int_equal(fake.references, 0);
}

static const char *const seeds[][2] = {
    {"/v1/meshes/g/path",
     "{\"start\":[1,0,1],\"end\":{\"x\":9,\"y\":0,\"z\":9},\"snap\":[1,2,3],\"corridor\":true,\"id\":\"a\"}"},
    {"/v1/meshes/g/path",
     "{\"start\":[1,0,1],\"end\":[5,0,5],\"filter\":{\"include\":[0,1],\"exclude\":4,\"costs\":{\"1\":2}},"
     "\"precision\":3,\"partial\":false,\"max_nodes\":9,\"max_length\":1.5,\"frame\":\"-x,-z,y\"}"},
    {"/v1/meshes/g/nearest", "{\"point\":[2,0.5,3],\"count\":3,\"floor\":\"below\",\"vectors\":\"object\",\"hint\":1}"},
    {"/v1/meshes/g/raycast", "{\"start\":[1,0,1],\"end\":[30,0,9],\"radius\":0,\"timeout_ms\":100,\"surface\":true}"},
    {"/v1/meshes/g/height", "{\"point\":[2,0.5,3],\"precision\":9}"},
    {"/v1/meshes/g/batch",
     "{\"queries\":[{\"type\":\"path\",\"start\":[1,0,1],\"end\":[2,0,2],\"id\":7},"
     "{\"type\":\"nearest\",\"point\":[1,0,1]}],\"defaults\":{\"snap\":1},\"id\":\"b\",\"timeout_ms\":9}"},
};
enum { SEED_COUNT = sizeof seeds / sizeof *seeds };

static void test_spoiled_bodies(void **state)
{
    (void)state;
    api_check_start(&fake);
    random_state = rng_seeded(20240601);
    for (int round = 0; round < ROUNDS; round++) {
        const char *const *seed = seeds[below(SEED_COUNT)];
        char body[LONGEST + 1];
        size_t size = strlen(seed[1]);
        memcpy(body, seed[1], size);
        for (uint32_t times = 1 + below(4); times > 0; times--) {
            size = spoil(body, size);
        }
        body[size] = '\0';
        api_response response = fake_ask_bytes(&fake, API_POST, seed[0], body, size);
        check_response(&response, body);
        api_buffer_free(&response.body);
    }
    api_check_stop(&fake);
}

static void test_spoiled_query_strings(void **state)
{
    (void)state;
    api_check_start(&fake);
    random_state = rng_seeded(7);
    static const char *const targets[] = {
        "/v1/meshes/g/path?start=1,0,1&end=9,0,9&corridor=true&surface=0&max_nodes=5&max_length=3&id=%C3%A9",
        "/v1/meshes/g/nearest?point=1,0,1&snap=1,2,3&include=7&exclude=a,b&count=2&floor=above&precision=2",
        "/v1/meshes/g/raycast?start=1,0,1&end=9,0,9&vectors=object&frame=unreal&hint=1&radius=0",
        "/v1/meshes/g/height?point=1e0,0,1&filter=%7B%22costs%22:%7B%220%22:2%7D%7D&timeout_ms=4",
    };
    for (int round = 0; round < ROUNDS; round++) {
        char target[LONGEST + 64];
        const char *seed = targets[below(4)];
        size_t path = strcspn(seed, "?") + 1, size = strlen(seed) - path;
        memcpy(target, seed, path + size);
        for (uint32_t times = 1 + below(4); times > 0; times--) {
            size = spoil(target + path, size);
        }
        target[path + size] = '\0';
        api_response response = fake_ask(&fake, API_GET, target, NULL);
        check_response(&response, target);
        api_buffer_free(&response.body);
    }
    api_check_stop(&fake);
}

static void test_spoiled_paths(void **state)
{
    (void)state;
    api_check_start(&fake);
    random_state = rng_seeded(99);
    for (int round = 0; round < ROUNDS; round++) {
        char target[LONGEST + 1] = "/v1/meshes/g/path";
        size_t size = strlen(target);
        for (uint32_t times = 1 + below(3); times > 0; times--) {
            size = spoil(target, size);
        }
        target[size] = '\0';
        static const api_method methods[] = {API_GET, API_HEAD, API_POST, API_PATCH, API_OPTIONS, API_OTHER};
        api_response response = fake_ask(&fake, methods[below(6)], target, "{}");
        assert_true(response.status == 400 || response.status == 404 || response.status == 405 ||
                    response.status == 204 || response.status == 200);
        assert_non_null(response.route);
        api_buffer_free(&response.body);
    }
    api_check_stop(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spoiled_bodies),
        cmocka_unit_test(test_spoiled_query_strings),
        cmocka_unit_test(test_spoiled_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
