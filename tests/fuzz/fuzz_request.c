/// Any bytes as a request: to a loaded mesh, one of the plane, one in another frame and one that failed.
///
/// An input is "METHOD TARGET", a newline, and the body. What must hold: an answer with a status that the
/// contract has, whose JSON can be parsed, and no reference to a mesh kept.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "fake_host.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

#define TARGET_MAX 4096

static fake_host fake;

static void demand(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_request: %s\n", what);
        abort();
    }
}

static void load(const char *id, const char *text, const char *params)
{
    api_problem problem = {0};
    demand(fake_host_load(&fake, id, text, params, &problem) != NULL, problem.detail);
}

static void start(void)
{
    fake_host_init(&fake);
    fake.may_change = false;
    fake.step_ns = 50000; // time must go by, or nothing would ever be late
    fake.limits.max_matrix = 2500;
    fake.limits.inline_nodes = 8;
    demand(fake_host_start(&fake), "no memory");
    load("demo",
         "{\"vertices\":[[0,0,0],[0,0,10],[4,0,10],[4,0,0],[4,0,6],[6,0,6],[6,0,10],[6,0,0],[10,0,10],[10,0,0],"
         "[12,0,0],[12,0,4],[14,0,4],[14,0,0],[0,3,0],[0,3,4],[4,3,4],[4,3,0]],"
         "\"polygons\":[[0,1,2,4,3],[4,2,6,5],[7,5,6,8,9],[10,11,12,13],[14,15,16,17]],"
         "\"areas\":[0,1,0,0,2],\"flags\":[1,2,1,1,4],"
         "\"links\":[{\"id\":\"jump\",\"start\":[9.5,0,2],\"end\":[12.5,0,2],\"kind\":\"jump\"}]}",
         "areas=%7B%22mud%22:%7B%22id%22:1,%22cost%22:3%7D%7D&flags=%7B%22walk%22:0,%22swim%22:1%7D"
         "&filters=%7B%22dry%22:%7B%22exclude%22:[%22swim%22]%7D%7D&default_filter=%7B%22exclude%22:[31]%7D");
    load("flat", "{\"vertices\":[[0,0],[10,0],[10,10],[0,10]],\"polygons\":[[0,1,2,3]]}", NULL);
    load("u", "{\"vertices\":[[0,0,0],[0,0,10],[10,5,10],[10,5,0]],\"polygons\":[[0,1,2],[0,2,3]]}", "frame=unreal");
    fake_host_add_empty(&fake, "bad", API_MESH_FAILED);
}

static bool begins(const char *line, size_t size, const char *word, size_t *length)
{
    *length = strlen(word);
    return size > *length && memcmp(line, word, *length) == 0;
}

static api_method method_of(const char *line, size_t size, size_t *length)
{
    static const struct {
        const char *word;
        api_method method;
    } methods[] = {{"GET ", API_GET},       {"POST ", API_POST},       {"HEAD ", API_HEAD},  {"PUT ", API_PUT},
                   {"DELETE ", API_DELETE}, {"OPTIONS ", API_OPTIONS}, {"PATCH ", API_PATCH}};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (begins(line, size, methods[i].word, length)) {
            return methods[i].method;
        }
    }
    *length = 0;
    return API_OTHER;
}

static void check(const api_response *response)
{
    bool known = response->status == 200 || response->status == 204;
    for (int code = API_NO_PROBLEM + 1; code < API_CODE_COUNT; code++) {
        known = known || response->status == api_code_status((api_code)code);
    }
    demand(known, "a status of nobody's");
    demand(response->status != 500, "our fault");
    demand(response->route != NULL, "no route for the metrics");
    demand(fake.references == 0, "a mesh is still held");
    if (response->content_type && strstr(response->content_type, "json")) {
        cJSON *json = cJSON_ParseWithLength(response->body.data, response->body.size);
        demand(json != NULL, "the answer is no JSON");
        cJSON_Delete(json);
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (!fake.context) {
        start();
    }
    const char *text = (const char *)data, *end = size ? memchr(text, '\n', size) : NULL;
    size_t line = end ? (size_t)(end - text) : size, skipped;
    api_method method = method_of(text, line, &skipped);
    char target[TARGET_MAX + 1];
    size_t length = line - skipped < TARGET_MAX ? line - skipped : TARGET_MAX;
    if (length > 0) {
        memcpy(target, text + skipped, length);
    }
    target[length] = '\0';
    const char *body = end ? end + 1 : text + size;
    api_response response = fake_ask_bytes(&fake, method, target, body, size - (size_t)(body - text));
    check(&response);
    api_buffer_free(&response.body);
    return 0;
}
