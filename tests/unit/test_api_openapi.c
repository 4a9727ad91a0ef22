/// openapi.json against the code: routes, arguments, codes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_check.h"
#include "args_members.h"
#include "route.h"

static fake_host fake;
static cJSON *document;

static int setup(void **state)
{
    (void)state;
    api_check_start(&fake);
    document = api_check_json(&fake, API_GET, "/openapi.json", NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    cJSON_Delete(document);
    api_check_stop(&fake);
    return 0;
}

/// "/v1/meshes/{m}/path" as the document writes it.
static const cJSON *described(const char *pattern)
{
    char path[96];
    const char *id = strstr(pattern, "{m}");
    if (id) {
        snprintf(path, sizeof path, "%.*s{mesh}%s", (int)(id - pattern), pattern, id + 3);
    } else {
        snprintf(path, sizeof path, "%s", pattern);
    }
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(api_check_at(document, "paths"), path);
    if (!item) {
        fail_msg("openapi.json does not tell of %s", path);
    }
    return item;
}

/// Every route and method is in the document, and no other.
static void test_routes(void **state)
{
    (void)state;
    static const char *const names[] = {"get", "post", "put", "patch", "delete"};
    static const char *const words[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
    static const api_method methods[] = {API_GET, API_POST, API_PUT, API_PATCH, API_DELETE};
    int routes = 0;
    for (const api_route *route; (route = api_route_at((size_t)routes)); routes++) {
        for (int k = 0; k < 5; k++) {
            bool there = api_route_handler(route, methods[k]) != NULL;
            bool told = cJSON_GetObjectItemCaseSensitive(described(route->pattern), names[k]) != NULL;
            bool allowed = strstr(api_route_allow(route), words[k]) != NULL;
            if (there != told || there != allowed) {
                fail_msg("openapi.json, the Allow header and the routes differ on %s %s", names[k], route->pattern);
            }
        }
    }
    assert_int_equal(cJSON_GetArraySize(api_check_at(document, "paths")), routes);
}

static bool holds_text(const cJSON *array, const char *text)
{
    for (const cJSON *entry = array ? array->child : NULL; entry; entry = entry->next) {
        if (cJSON_IsString(entry) && strcmp(entry->valuestring, text) == 0) {
            return true;
        }
    }
    return false;
}

/// The bits of the members of a schema; fails at one that is no argument.
static uint32_t bits_of(const cJSON *properties, const char *where)
{
    uint32_t bits = 0;
    for (const cJSON *member = properties->child; member; member = member->next) {
        const api_member *known = api_member_find(member->string);
        if (!known) {
            fail_msg("%s tells of `%s`, which is no argument", where, member->string);
        }
        bits |= known->bit;
    }
    return bits;
}

/// A question's schema is named after its kind.
static void schema_name(char *out, size_t size, const api_query_kind *kind)
{
    snprintf(out, size, "%sQuestion", kind->name);
    out[0] = (char)(out[0] - 'a' + 'A');
}

static void test_bodies(void **state)
{
    (void)state;
    const cJSON *schemas = api_check_at(document, "components/schemas");
    uint32_t common = bits_of(api_check_at(schemas, "QueryOptions/properties"), "QueryOptions");
    assert_int_equal(common, API_ARGS_COMMON);
    const api_query_kind *kind;
    for (size_t i = 0; (kind = api_query_kind_at(i)); i++) {
        char name[32];
        schema_name(name, sizeof name, kind);
        const cJSON *schema = api_check_at(schemas, name);
        uint32_t own = bits_of(api_check_at(schema, "properties"), name);
        if ((own | common) != kind->allowed) {
            fail_msg("%s: the document has arguments %x, the code %x", name, own | common, kind->allowed);
        }
        const cJSON *required = cJSON_GetObjectItemCaseSensitive(schema, "required");
        const api_member *m;
        for (size_t k = 0; (m = api_member_at(k)); k++) {
            if (((kind->required & m->bit) != 0) != holds_text(required, api_member_name(m))) {
                fail_msg("%s: is `%s` required?", name, api_member_name(m));
            }
        }
        assert_true(holds_text(api_check_at(schemas, "BatchQuestion/properties/queries/items/properties/type/enum"),
                               kind->name));
    }
}

/// Where "#/components/parameters/start" leads.
static const cJSON *parameter(const cJSON *entry)
{
    return api_check_at(document, api_check_at(entry, "$ref")->valuestring + 2);
}

static void test_query_strings(void **state)
{
    (void)state;
    const api_route *route;
    for (size_t i = 0; (route = api_route_at(i)); i++) {
        if (!route->kind) {
            continue;
        }
        uint32_t bits = 0;
        int masks = 0;
        const cJSON *list = api_check_at(described(route->pattern), "get/parameters");
        for (const cJSON *entry = list->child; entry; entry = entry->next) {
            const cJSON *told = parameter(entry);
            const char *name = api_check_at(told, "name")->valuestring;
            const api_member *m = api_member_find(name);
            masks += strcmp(name, "include") == 0 || strcmp(name, "exclude") == 0;
            if (m) {
                bits |= m->bit;
                assert_int_equal(cJSON_IsTrue(api_check_at(told, "required")), (route->kind->required & m->bit) != 0);
            }
        }
        if (bits != route->kind->allowed || masks != 2 || cJSON_GetArraySize(list) != __builtin_popcount(bits) + 2) {
            fail_msg("%s: the document has parameters %x, the code %x", route->pattern, bits, route->kind->allowed);
        }
    }
}

/// The codes and statuses of problems, both ways.
static void test_problems(void **state)
{
    (void)state;
    const cJSON *codes = api_check_at(document, "components/schemas/Problem/properties/code/enum");
    const cJSON *statuses = api_check_at(document, "components/schemas/Problem/properties/status/enum");
    assert_int_equal(cJSON_GetArraySize(codes), API_CODE_COUNT - 1);
    for (int code = API_NO_PROBLEM + 1; code < API_CODE_COUNT; code++) {
        if (!holds_text(codes, api_code_text((api_code)code))) {
            fail_msg("openapi.json does not tell of `%s`", api_code_text((api_code)code));
        }
    }
    for (const cJSON *status = statuses->child; status; status = status->next) {
        bool used = false;
        for (int code = API_NO_PROBLEM + 1; code < API_CODE_COUNT; code++) {
            used = used || api_code_status((api_code)code) == (int)status->valuedouble;
        }
        assert_true(used);
    }
    for (int code = API_NO_PROBLEM + 1; code < API_CODE_COUNT; code++) {
        bool told = false;
        for (const cJSON *status = statuses->child; status; status = status->next) {
            told = told || api_code_status((api_code)code) == (int)status->valuedouble;
        }
        assert_true(told);
    }
}

/// A code is told of by a response of its own, or among those that any request may get.
static void test_every_code_has_a_response(void **state)
{
    (void)state;
    const cJSON *responses = api_check_at(document, "components/responses");
    const cJSON *anywhere = api_check_at(responses, "Refused/x-codes");
    for (int code = API_NO_PROBLEM + 1; code < API_CODE_COUNT; code++) {
        char quoted[48];
        snprintf(quoted, sizeof quoted, "`%s`", api_code_text((api_code)code));
        bool told = holds_text(anywhere, api_code_text((api_code)code));
        for (const cJSON *r = responses->child; r; r = r->next) {
            told = told || strstr(api_check_at(r, "description")->valuestring, quoted) != NULL;
        }
        if (!told) {
            fail_msg("no response tells of %s", quoted);
        }
    }
}

int main(void)
{
#define OPENAPI_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        OPENAPI_TEST(test_routes),
        OPENAPI_TEST(test_bodies),
        OPENAPI_TEST(test_query_strings),
        OPENAPI_TEST(test_problems),
        OPENAPI_TEST(test_every_code_has_a_response),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
