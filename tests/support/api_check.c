#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "api_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char api_square[] = "{\"vertices\":[[0,0,0],[0,0,10],[10,0,10],[10,0,0]],\"polygons\":[[0,1,2,3]]}";

void api_check_start(fake_host *fake)
{
    fake_host_init(fake);
    assert_true(fake_host_start(fake));
    api_check_load(fake, "g", api_square, NULL);
}

void api_check_stop(fake_host *fake)
{
    assert_int_equal(fake_host_deinit(fake), 0);
}

const api_mesh *api_check_load(fake_host *fake, const char *id, const char *text, const char *params)
{
    api_problem problem = {0};
    const api_mesh *mesh = fake_host_load(fake, id, text, params, &problem);
    if (!mesh) {
        fail_msg("mesh %s: %s", id, problem.detail);
    }
    return mesh;
}

void api_check_answer(fake_host *fake, api_method method, const char *target, const char *question, int status,
                      const char *body)
{
    api_response response = fake_ask(fake, method, target, question);
    if (response.status != status || (body && strcmp(response.body.data, body) != 0)) {
        fail_msg("%s %s\n  gave %d %s\n  not  %d %s", target, question ? question : "", response.status,
                 response.body.data, status, body ? body : "");
    }
    assert_int_equal(fake->references, 0);
    api_buffer_free(&response.body);
}

static const char *text_of(const cJSON *json, const char *name)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(json, name);
    return cJSON_IsString(member) ? member->valuestring : "";
}

static void check_member(const cJSON *json, const char *name, const char *expected, const char *context)
{
    if (expected && strcmp(text_of(json, name), expected) != 0) {
        fail_msg("%s: `%s` is \"%s\", not \"%s\"", context, name, text_of(json, name), expected);
    }
}

void api_check_problem(fake_host *fake, api_method method, const char *target, const char *question,
                       api_expected expected)
{
    api_response response = fake_ask(fake, method, target, question);
    char context[512];
    snprintf(context, sizeof context, "%s %s -> %.300s", target, question ? question : "", response.body.data);
    if (response.status != expected.status) {
        fail_msg("%s: not %d", context, expected.status);
    }
    assert_string_equal(response.content_type, "application/problem+json");
    cJSON *json = cJSON_Parse(response.body.data);
    assert_non_null(json);
    char type[64];
    snprintf(type, sizeof type, "/problems/%s", text_of(json, "code"));
    check_member(json, "type", type, context);
    assert_true(cJSON_GetObjectItem(json, "status")->valuedouble == expected.status);
    assert_true(*text_of(json, "title") && *text_of(json, "detail"));
    check_member(json, "code", expected.code, context);
    check_member(json, "pointer", expected.pointer, context);
    check_member(json, "parameter", expected.parameter, context);
    if (expected.detail && !strstr(text_of(json, "detail"), expected.detail)) {
        fail_msg("%s: no \"%s\" in the detail", context, expected.detail);
    }
    cJSON_Delete(json);
    api_buffer_free(&response.body);
    assert_int_equal(fake->references, 0);
}

cJSON *api_check_json(fake_host *fake, api_method method, const char *target, const char *question)
{
    api_response response = fake_ask(fake, method, target, question);
    if (response.status != 200) {
        fail_msg("%s gave %d %s", target, response.status, response.body.data);
    }
    cJSON *json = cJSON_Parse(response.body.data);
    if (!json) {
        fail_msg("%s gave no JSON: %s", target, response.body.data);
    }
    api_buffer_free(&response.body);
    return json;
}

const cJSON *api_check_at(const cJSON *json, const char *path)
{
    const cJSON *value = json;
    for (const char *part = path; *part && value;) {
        char name[64];
        size_t length = strcspn(part, "/");
        assert_true(length < sizeof name);
        memcpy(name, part, length);
        name[length] = '\0';
        value = cJSON_IsArray(value) ? cJSON_GetArrayItem(value, atoi(name))
                                     : cJSON_GetObjectItemCaseSensitive(value, name);
        part += length + (part[length] == '/' ? 1 : 0);
    }
    if (!value) {
        fail_msg("no %s", path);
    }
    return value;
}
