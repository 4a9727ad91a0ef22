/// Obstacles, regions and links through the api: what is read, what is answered, what stands afterwards.
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

/// A square of ten by ten in two halves, the right one water; a link across, a region and a link that is off.
static const char pool[] =
    "{\"vertices\":[[0,0,0],[0,0,10],[5,0,10],[5,0,0],[10,0,10],[10,0,0]],\"polygons\":[[0,1,2,3],[3,2,4,5]],"
    "\"areas\":[0,1],\"links\":[{\"id\":\"jump\",\"start\":[1,0,1],\"end\":[9,0,9],\"kind\":\"jump\"},"
    "{\"id\":\"off\",\"start\":[2,0,1],\"end\":[9,0,8],\"enabled\":false}]}";
static const char pool_params[] = "areas={\"ground\":{\"id\":0},\"water\":{\"id\":1}}&flags={\"walk\":0,\"swim\":1}&"
                                  "regions=[{\"id\":\"gate\",\"points\":[[4,0],[4,10],[6,10],[6,0]],\"min\":-1,"
                                  "\"max\":1,\"blocked\":true}]";

static int setup(void **state)
{
    (void)state;
    api_check_start(&fake);
    api_check_load(&fake, "p", pool, pool_params);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(fake.tickets, 0);
    api_check_stop(&fake);
    return 0;
}

static void check(api_method method, const char *target, const char *body, int status, const char *expected)
{
    api_check_answer(&fake, method, target, body, status, expected);
}

static void refuse(api_method method, const char *target, const char *body, int status, const char *code,
                   const char *pointer, const char *detail)
{
    api_check_problem(&fake, method, target, body,
                      (api_expected){.status = status, .code = code, .pointer = pointer, .detail = detail});
}

static double length(const char *target)
{
    cJSON *answer = api_check_json(&fake, API_GET, target, NULL);
    const cJSON *status = api_check_at(answer, "status");
    double l = strcmp(status->valuestring, "complete") == 0 ? api_check_at(answer, "length")->valuedouble : -1;
    cJSON_Delete(answer);
    return l;
}

#define CYLINDER "{\"shape\":\"cylinder\",\"center\":[5,0,5],\"radius\":1,\"height\":2}"

static void test_an_obstacle_comes_moves_and_goes(void **state)
{
    (void)state;
    const char *way = "/v1/meshes/g/path?start=1,0,5&end=9,0,5";
    assert_true(length(way) == 8);
    check(API_PUT, "/v1/meshes/g/obstacles/o", CYLINDER, 201,
          "{\"id\":\"o\",\"shape\":\"cylinder\",\"center\":[5,0,5],\"radius\":1,\"height\":2,\"volatile\":false,"
          "\"source\":\"edit\",\"touches\":true,\"revision\":3}");
    // Round the circle: two tangents and the arc between them, at most 2 % more for its corners.
    double round = 2 * sqrt(15) + 2 * asin(0.25);
    double l = length(way);
    assert_true(l >= round && l < round * 1.02);
    check(API_GET, "/v1/meshes/g/obstacles/o", NULL, 200, NULL);
    check(API_PUT, "/v1/meshes/g/obstacles/o",
          "{\"id\":\"o\",\"shape\":\"cylinder\",\"center\":[5,0,9],\"radius\":1,\"height\":2}", 200, NULL);
    assert_true(length(way) == 8);
    check(API_GET, "/v1/meshes/g/obstacles", NULL, 200,
          "{\"obstacles\":[{\"id\":\"o\",\"shape\":\"cylinder\",\"center\":[5,0,9],\"radius\":1,\"height\":2,"
          "\"volatile\":false,\"source\":\"edit\",\"touches\":true}],\"revision\":4}");
    check(API_DELETE, "/v1/meshes/g/obstacles/o", NULL, 204, "");
    refuse(API_DELETE, "/v1/meshes/g/obstacles/o", NULL, 404, "not_found", "", "obstacle `o`");
    refuse(API_GET, "/v1/meshes/g/obstacles/o", NULL, 404, "not_found", "", "obstacle `o`");
    check(API_GET, "/v1/meshes/g/obstacles", NULL, 200, "{\"obstacles\":[],\"revision\":5}");
}

static void test_posts_make_ids(void **state)
{
    (void)state;
    api_response a = fake_ask(&fake, API_POST, "/v1/meshes/g/obstacles", CYLINDER);
    api_response b = fake_ask(&fake, API_POST, "/v1/meshes/g/obstacles", CYLINDER);
    assert_int_equal(a.status, 201);
    assert_int_equal(b.status, 201);
    assert_string_not_equal(a.location, b.location);
    cJSON *json = cJSON_Parse(a.body.data);
    char location[160];
    snprintf(location, sizeof location, "/v1/meshes/g/obstacles/%s", api_check_at(json, "id")->valuestring);
    assert_string_equal(a.location, location);
    cJSON_Delete(json);
    api_buffer_free(&a.body);
    api_buffer_free(&b.body);
    const char *named = "{\"id\":\"mine\",\"shape\":\"box\",\"center\":[5,0,5],\"half_extents\":[1,1,1]}";
    check(API_POST, "/v1/meshes/g/obstacles", named, 201, NULL);
    refuse(API_POST, "/v1/meshes/g/obstacles", named, 409, "conflict", "", "`mine` already");
}

/// The square as mesh "framed", its file in the axes that go with the frame.
static void load_framed(const char *frame)
{
    char params[32];
    snprintf(params, sizeof params, "frame=%s", frame);
    const char *square = strcmp(frame, "z-up") == 0
                             ? "{\"vertices\":[[0,0,0],[0,10,0],[10,10,0],[10,0,0]],\"polygons\":[[0,1,2,3]]}"
                             : api_square;
    api_check_load(&fake, "framed", square, params);
}

/// Each shape is answered as it came, whatever the caller's axes.
static void test_shapes_in_frames(void **state)
{
    (void)state;
    static const char *const frames[] = {"y-up", "z-up", "unreal", "-x,y,-z", "x,-y,z"};
    static const char *const bodies[] = {
        "{\"shape\":\"box\",\"center\":[1,2,3],\"half_extents\":[1,2,3],\"yaw\":0.25,\"ttl_ms\":5000}",
        "{\"shape\":\"cylinder\",\"center\":{\"x\":1,\"y\":2,\"z\":3},\"radius\":0.5,\"height\":3,\"volatile\":true}",
        "{\"shape\":\"prism\",\"points\":[[1,2],[3,2],[1,4]],\"min\":-1,\"max\":2}"};
    static const char *const expected[] = {
        "{\"id\":\"o\",\"shape\":\"box\",\"center\":[1,2,3],\"half_extents\":[1,2,3],\"yaw\":0.25,\"ttl_ms\":5000,"
        "\"expires_at\":\"2023-11-14T22:13:25.000Z\",\"volatile\":false",
        "{\"id\":\"o\",\"shape\":\"cylinder\",\"center\":{\"x\":1,\"y\":2,\"z\":3},\"radius\":0.5,\"height\":3,"
        "\"volatile\":true",
        "{\"id\":\"o\",\"shape\":\"prism\",\"points\":[[1,2],[3,2],[1,4]],\"min\":-1,\"max\":2,\"volatile\":false"};
    for (size_t f = 0; f < sizeof frames / sizeof *frames; f++) {
        load_framed(frames[f]);
        for (size_t i = 0; i < 3; i++) {
            api_response r = fake_ask(&fake, API_PUT, "/v1/meshes/framed/obstacles/o", bodies[i]);
            if (strncmp(r.body.data, expected[i], strlen(expected[i])) != 0) {
                fail_msg("%s: %s", frames[f], r.body.data);
            }
            api_buffer_free(&r.body);
        }
    }
}

/// A box turned by yaw stands where the caller's axes say. In the corner of the square that the turned box
/// reaches and the unturned does not, there is no ground.
static void test_yaw_turns_about_the_callers_up(void **state)
{
    (void)state;
    // Long in the first axis of the ground; turned by 30 degrees right-handed about up. cos 0.866, sin 0.5.
    static const struct {
        const char *frame, *center, *extents, *inside, *outside;
    } cases[] = {
        // +z turns towards +x, so +x turns towards -z.
        {"y-up", "[5,0,5]", "[4,1,0.5]", "8,0,3.27", "8,0,6.73"},
        // about z: +x turns towards +y.
        {"z-up", "[5,5,0]", "[4,0.5,1]", "8,6.73,0", "8,3.27,0"},
        // Unreal's axes are left-handed, and yaw there turns X towards Y too.
        {"unreal", "[-5,-5,0]", "[4,0.5,1]", "-2,-3.27,0", "-2,-6.73,0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[160], target[128];
        load_framed(cases[i].frame);
        snprintf(body, sizeof body, "{\"shape\":\"box\",\"center\":%s,\"half_extents\":%s,\"yaw\":0.5235987755982988}",
                 cases[i].center, cases[i].extents);
        check(API_PUT, "/v1/meshes/framed/obstacles/o", body, 201, NULL);
        for (int k = 0; k < 2; k++) {
            snprintf(target, sizeof target, "/v1/meshes/framed/height?point=%s",
                     k ? cases[i].outside : cases[i].inside);
            cJSON *answer = api_check_json(&fake, API_GET, target, NULL);
            const char *status = api_check_at(answer, "status")->valuestring;
            if (strcmp(status, k ? "found" : "none") != 0) {
                fail_msg("%s: %s is %s", cases[i].frame, target, status);
            }
            cJSON_Delete(answer);
        }
    }
}

static void test_a_mesh_of_the_plane(void **state)
{
    (void)state;
    api_check_load(&fake, "flat", "{\"vertices\":[[0,0],[0,10],[10,10],[10,0]],\"polygons\":[[0,1,2,3]]}", NULL);
    check(API_PUT, "/v1/meshes/flat/obstacles/c", "{\"shape\":\"cylinder\",\"center\":[5,5],\"radius\":1}", 201,
          "{\"id\":\"c\",\"shape\":\"cylinder\",\"center\":[5,5],\"radius\":1,\"volatile\":false,\"source\":\"edit\","
          "\"touches\":true,\"revision\":4}");
    check(API_PUT, "/v1/meshes/flat/obstacles/b",
          "{\"shape\":\"box\",\"center\":[2,8],\"half_extents\":[1,0.5],\"yaw\":1}", 201,
          "{\"id\":\"b\",\"shape\":\"box\",\"center\":[2,8],\"half_extents\":[1,0.5],\"yaw\":1,\"volatile\":false,"
          "\"source\":\"edit\",\"touches\":true,\"revision\":5}");
    check(API_PUT, "/v1/meshes/flat/regions/r", "{\"points\":[[1,1],[2,1],{\"x\":1,\"y\":2}],\"blocked\":true}", 201,
          "{\"id\":\"r\",\"points\":[[1,1],[2,1],[1,2]],\"blocked\":true,\"volatile\":false,\"source\":\"edit\","
          "\"touches\":true,\"revision\":6}");
    cJSON *answer = api_check_json(&fake, API_GET, "/v1/meshes/flat/height?point=5,5", NULL);
    assert_string_equal(api_check_at(answer, "status")->valuestring, "none");
    cJSON_Delete(answer);
    refuse(API_PUT, "/v1/meshes/flat/obstacles/c", CYLINDER, 400, "bad_request", "/center", "[x, y]");
}

static void test_bad_obstacles(void **state)
{
    (void)state;
    static const struct {
        const char *body, *pointer, *detail;
    } cases[] = {
        {"[]", "", "must be an object"},
        {"{}", "/shape", "missing"},
        {"{\"shape\":\"cylindre\"}", "/shape", "did you mean"},
        {"{\"shape\":\"cylinder\",\"center\":[0,0,0],\"height\":1}", "/radius", "missing"},
        {"{\"shape\":\"cylinder\",\"center\":[0,0,0],\"radius\":0,\"height\":1}", "/radius", "above 0"},
        {"{\"shape\":\"cylinder\",\"center\":[0,0],\"radius\":1,\"height\":1}", "/center", "[x, y, z]"},
        {"{\"shape\":\"cylinder\",\"center\":[0,0,1e39],\"radius\":1,\"height\":1}", "/center", "32 bits"},
        {"{\"shape\":\"cylinder\",\"center\":[0,0,0],\"radius\":1,\"height\":1,\"yaw\":1}", "/yaw", "has no `yaw`"},
        {"{\"shape\":\"cylinder\",\"center\":[0,0,0],\"radius\":1,\"radius\":1,\"height\":1}", "/radius", "twice"},
        {"{\"shape\":\"box\",\"center\":[0,0,0],\"half_extents\":[1,0,1]}", "/half_extents", "above 0"},
        {"{\"shape\":\"prism\",\"points\":[[0,0],[1,1]],\"min\":0,\"max\":1}", "/points", "three points"},
        {"{\"shape\":\"prism\",\"points\":[[0,0],[1,1],[2]],\"min\":0,\"max\":1}", "/points/2", "[x, z]"},
        {"{\"shape\":\"prism\",\"points\":[[0,0],[1,1],[2,2]],\"min\":0,\"max\":1}", "/points", NULL},
        {"{\"shape\":\"prism\",\"points\":[[0,0],[1,1],[1,0]],\"max\":1}", "/min", "missing"},
        {"{\"shape\":\"prism\",\"points\":[[0,0],[1,1],[1,0]],\"min\":2,\"max\":1}", "/max", "below `min`"},
        {"{\"shape\":\"box\",\"centre\":[0,0,0]}", "/centre", "did you mean `center`"},
        {"{\"shape\":\"box\",\"center\":[0,0,0],\"half_extents\":[1,1,1],\"ttl_ms\":0}", "/ttl_ms", "from 1"},
        {"{\"shape\":\"box\",\"center\":[0,0,0],\"half_extents\":[1,1,1],\"expires_ms\":5}", "/expires_ms", "unknown"},
        {"{\"id\":\"p\",\"shape\":\"box\",\"center\":[0,0,0],\"half_extents\":[1,1,1]}", "/id", "the path says `o`"},
        {"{\"id\":\".p\",\"shape\":\"box\",\"center\":[0,0,0],\"half_extents\":[1,1,1]}", "/id", "must be an id"},
        {"{\"shape\":\"box\",\"center\":[0,0,0],\"half_extents\":[1,1,1],\"volatile\":1}", "/volatile", "true or"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        refuse(API_PUT, "/v1/meshes/g/obstacles/o", cases[i].body, 400, "bad_request", cases[i].pointer,
               cases[i].detail);
    }
    refuse(API_PUT, "/v1/meshes/g/obstacles/o", "{", 400, "bad_json", "", NULL);
    refuse(API_PUT, "/v1/meshes/g/obstacles/.o", CYLINDER, 400, "bad_request", "", "no id");
    refuse(API_PUT, "/v1/meshes/nope/obstacles/o", CYLINDER, 404, "not_found", "", "`nope`");
    check(API_GET, "/v1/meshes/g/obstacles", NULL, 200, "{\"obstacles\":[],\"revision\":1}");
}

static void test_doors_open_and_shut(void **state)
{
    (void)state;
    const char *way = "/v1/meshes/p/path?start=1,0,5&end=9,0,5&partial=false";
    api_check_load(&fake, "p", pool, pool_params);
    check(API_PUT, "/v1/meshes/p/links/jump", "{\"enabled\":false}", 200,
          "{\"id\":\"jump\",\"start\":[1,0,1],\"end\":[9,0,9],\"bidirectional\":false,\"area\":\"ground\",\"flags\":1,"
          "\"radius\":0,\"kind\":\"jump\",\"enabled\":false,\"volatile\":false,\"source\":\"edit\",\"touches\":true,"
          "\"revision\":4}");
    assert_true(length(way) < 0);
    check(API_PUT, "/v1/meshes/p/regions/gate", "{\"blocked\":false}", 200,
          "{\"id\":\"gate\",\"points\":[[4,0],[4,10],[6,10],[6,0]],\"min\":-1,\"max\":1,\"blocked\":false,"
          "\"volatile\":false,\"source\":\"edit\",\"touches\":true,\"revision\":5}");
    assert_true(length(way) == 8);
    // The sidecar's own holds again when the edit is undone; it cannot be undone itself.
    check(API_DELETE, "/v1/meshes/p/regions/gate", NULL, 204, "");
    assert_true(length(way) < 0);
    refuse(API_DELETE, "/v1/meshes/p/regions/gate", NULL, 409, "conflict", "", "the file's own");
    check(API_GET, "/v1/meshes/p/regions/gate", NULL, 200,
          "{\"id\":\"gate\",\"points\":[[4,0],[4,10],[6,10],[6,0]],\"min\":-1,\"max\":1,\"blocked\":true,"
          "\"volatile\":false,\"source\":\"file\",\"touches\":true,\"revision\":6}");
    refuse(API_PUT, "/v1/meshes/p/regions/other", "{\"blocked\":true}", 400, "bad_request", "/points",
           "no region `other`");
}

static void test_regions_paint(void **state)
{
    (void)state;
    check(API_PUT, "/v1/meshes/p/regions/mud",
          "{\"points\":[[0,0],[0,2],[2,2],[2,0]],\"min\":-1,\"max\":1,\"area\":\"water\",\"flags\":[\"swim\"]}", 201,
          NULL);
    cJSON *answer = api_check_json(&fake, API_GET, "/v1/meshes/p/nearest?point=1,0,1", NULL);
    assert_string_equal(api_check_at(answer, "area")->valuestring, "water");
    cJSON_Delete(answer);
    answer = api_check_json(&fake, API_GET, "/v1/meshes/p/nearest?point=1,0,5", NULL);
    assert_string_equal(api_check_at(answer, "area")->valuestring, "ground");
    cJSON_Delete(answer);
    refuse(API_PUT, "/v1/meshes/p/regions/mud",
           "{\"points\":[[0,0],[0,2],[2,2]],\"min\":-1,\"max\":1,\"area\":\"wader\"}", 400, "bad_request", "/area",
           "did you mean `water`");
    refuse(API_PUT, "/v1/meshes/p/regions/mud", "{\"flags\":[\"fly\"]}", 400, "bad_request", "/flags", "`fly`");
}

static void test_links(void **state)
{
    (void)state;
    const char *way = "/v1/meshes/p/path?start=1,0,5&end=9,0,5&partial=false";
    check(API_PUT, "/v1/meshes/p/links/jump", "{\"enabled\":false}", 200, NULL);
    check(API_PUT, "/v1/meshes/p/links/door",
          "{\"start\":[1,0,5],\"end\":[9,0,5],\"bidirectional\":true,\"cost\":2,\"area\":1,\"flags\":3,"
          "\"kind\":\"door\"}",
          201,
          "{\"id\":\"door\",\"start\":[1,0,5],\"end\":[9,0,5],\"bidirectional\":true,\"cost\":2,\"area\":\"water\","
          "\"flags\":3,\"radius\":0,\"kind\":\"door\",\"enabled\":true,\"volatile\":false,\"source\":\"edit\","
          "\"touches\":true,\"revision\":4}");
    assert_true(length(way) == 8);
    check(API_PUT, "/v1/meshes/p/links/door", "{\"enabled\":false}", 200, NULL);
    assert_true(length(way) < 0);
    check(API_PUT, "/v1/meshes/p/links/off", "{\"enabled\":true}", 200, NULL);
    cJSON *list = api_check_json(&fake, API_GET, "/v1/meshes/p/links", NULL);
    assert_int_equal(cJSON_GetArraySize(api_check_at(list, "links")), 3);
    assert_string_equal(api_check_at(list, "links/0/id")->valuestring, "door");
    assert_string_equal(api_check_at(list, "links/1/id")->valuestring, "jump");
    assert_string_equal(api_check_at(list, "links/2/id")->valuestring, "off");
    cJSON_Delete(list);
    check(API_DELETE, "/v1/meshes/p/links/jump", NULL, 204, "");
    list = api_check_json(&fake, API_GET, "/v1/meshes/p/links/jump", NULL);
    assert_true(cJSON_IsTrue(api_check_at(list, "enabled")));
    cJSON_Delete(list);
    refuse(API_PUT, "/v1/meshes/p/links/new", "{\"start\":[1,0,1]}", 400, "bad_request", "/end", "both of its ends");
    refuse(API_PUT, "/v1/meshes/p/links/new", "{\"enabled\":true}", 400, "bad_request", "/start", "no link `new`");
    refuse(API_PUT, "/v1/meshes/p/links/new", "{\"strat\":[1,0,1]}", 400, "bad_request", "/strat", "did you mean");
    check(API_PUT, "/v1/meshes/p/links/astray", "{\"start\":[1,0,1],\"end\":[90,0,1]}", 201,
          "{\"id\":\"astray\",\"start\":[1,0,1],\"end\":[90,0,1],\"bidirectional\":false,\"area\":\"ground\","
          "\"flags\":1,\"radius\":0,\"enabled\":true,\"volatile\":false,\"source\":\"edit\",\"touches\":false,"
          "\"revision\":8}");
}

#define ENTRY(id) \
    "{\"type\":\"obstacle\",\"id\":\"" id "\",\"shape\":\"cylinder\",\"center\":[5,0,5],\"radius\":1,\"height\":2}"

static void test_many_at_once_or_none(void **state)
{
    (void)state;
    check(API_POST, "/v1/meshes/g/edits", "{\"edits\":[" ENTRY("a") "," ENTRY("b") "]}", 200,
          "{\"results\":[{\"type\":\"obstacle\",\"id\":\"a\",\"status\":\"created\",\"touches\":true},"
          "{\"type\":\"obstacle\",\"id\":\"b\",\"status\":\"created\",\"touches\":true}],\"revision\":3}");
    check(API_POST, "/v1/meshes/g/edits",
          "[{\"op\":\"delete\",\"type\":\"obstacle\",\"id\":\"a\"}," ENTRY(
              "b") ",{\"type\":\"region\",\"id\":\"r\","
                   "\"points\":[[0,0],[0,1],[1,0]],\"min\":-1,\"max\":1}]",
          200,
          "{\"results\":[{\"type\":\"obstacle\",\"id\":\"a\",\"status\":\"removed\"},{\"type\":\"obstacle\","
          "\"id\":\"b\",\"status\":\"changed\",\"touches\":true},{\"type\":\"region\",\"id\":\"r\","
          "\"status\":\"created\",\"touches\":true}],\"revision\":4}");
    static const struct {
        const char *body, *code, *pointer;
        int status;
    } bad[] = {
        {"[" ENTRY("c") ",{\"op\":\"delete\",\"type\":\"obstacle\",\"id\":\"nope\"}]", "not_found", "/1/id", 404},
        {"{\"edits\":[" ENTRY("c") ",{\"op\":\"add\",\"type\":\"obstacle\",\"id\":\"b\",\"shape\":\"cylinder\","
                                   "\"center\":[5,0,5],\"radius\":1,\"height\":2}]}",
         "conflict", "/edits/1/id", 409},
        {"{\"edits\":[" ENTRY("c") ",{\"type\":\"obstacle\",\"shape\":\"cylinder\",\"center\":[5,0,5],\"radius\":-1,"
                                   "\"height\":2}]}",
         "bad_request", "/edits/1/radius", 400},
        {"[" ENTRY("c") ",{\"type\":\"obstacle\",\"shape\":\"prism\",\"points\":[[0,0],[1,1],[2,2]],\"min\":0,"
                        "\"max\":1}]",
         "bad_request", "/1/points", 400},
        {"[{\"type\":\"obstacles\"}]", "bad_request", "/0/type", 400},
        {"[{}]", "bad_request", "/0/type", 400},
        {"[{\"type\":\"link\",\"op\":\"remove\"}]", "bad_request", "/0/op", 400},
        {"[{\"type\":\"link\",\"op\":\"delete\"}]", "bad_request", "/0/id", 400},
        {"[{\"type\":\"link\",\"op\":\"delete\",\"id\":\"a\",\"start\":1}]", "bad_request", "/0/start", 400},
        {"[7]", "bad_request", "/0", 400},
        {"{\"edit\":[]}", "bad_request", "/edit", 400},
        {"{\"edits\":7}", "bad_request", "/edits", 400},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        refuse(API_POST, "/v1/meshes/g/edits", bad[i].body, bad[i].status, bad[i].code, bad[i].pointer, NULL);
    }
    cJSON *list = api_check_json(&fake, API_GET, "/v1/meshes/g/obstacles", NULL);
    assert_int_equal(cJSON_GetArraySize(api_check_at(list, "obstacles")), 1);
    assert_true(api_check_at(list, "revision")->valuedouble == 4);
    cJSON_Delete(list);
}

static void test_if_match_guards(void **state)
{
    (void)state;
    fake.if_match = "\"7\"";
    refuse(API_PUT, "/v1/meshes/g/obstacles/o", CYLINDER, 409, "conflict", "", "If-Match");
    fake.if_match = "\"1\"";
    check(API_PUT, "/v1/meshes/g/obstacles/o", CYLINDER, 201, NULL);
    refuse(API_DELETE, "/v1/meshes/g/obstacles/o", NULL, 409, "conflict", "", "If-Match");
    fake.if_match = NULL;
    fake.if_none_match = "\"3\"";
    check(API_GET, "/v1/meshes/g/obstacles", NULL, 304, "");
    check(API_GET, "/v1/meshes/g/obstacles/o", NULL, 304, "");
    fake.if_none_match = NULL;
}

static void test_rights(void **state)
{
    (void)state;
    fake.may_change = false;
    refuse(API_PUT, "/v1/meshes/g/obstacles/o", CYLINDER, 403, "forbidden", "", NULL);
    refuse(API_POST, "/v1/meshes/g/obstacles", CYLINDER, 403, "forbidden", "", NULL);
    refuse(API_POST, "/v1/meshes/g/edits", "[]", 403, "forbidden", "", NULL);
    refuse(API_DELETE, "/v1/meshes/g/links/l", NULL, 403, "forbidden", "", NULL);
    check(API_GET, "/v1/meshes/g/obstacles", NULL, 200, NULL);
    fake.may_change = true;
}

static void test_a_full_disk_changes_nothing(void **state)
{
    (void)state;
    check(API_PUT, "/v1/meshes/g/obstacles/o", CYLINDER, 201, NULL);
    fake.storage_full = true;
    refuse(API_PUT, "/v1/meshes/g/obstacles/p", CYLINDER, 507, "storage_full", "", NULL);
    fake.storage_full = false;
    cJSON *list = api_check_json(&fake, API_GET, "/v1/meshes/g/obstacles", NULL);
    assert_int_equal(cJSON_GetArraySize(api_check_at(list, "obstacles")), 1);
    cJSON_Delete(list);
    check(API_PUT, "/v1/meshes/g/obstacles/p", CYLINDER, 201, NULL);
}

/// The lines that a log gets, and the set that they make again.
static void test_log_lines(void **state)
{
    (void)state;
    api_edit_set set = {0};
    api_problem problem = {0};
    uint64_t order = 0;
    static const char *const bodies[] = {
        "[{\"type\":\"region\",\"id\":\"z\",\"points\":[[0.1,0],[0,1.123456789012],[1,0]],\"min\":-1,\"max\":1,"
        "\"area\":\"water\",\"flags\":[\"swim\"],\"blocked\":true}]",
        "[{\"type\":\"link\",\"id\":\"l\",\"start\":[1,0,1],\"end\":[9,0,1],\"kind\":\"a \\\"b\\\"\",\"cost\":3,"
        "\"enabled\":false}]",
        "[{\"type\":\"obstacle\",\"id\":\"v\",\"shape\":\"box\",\"center\":[1,0,1],\"half_extents\":[0.1,1,1],"
        "\"yaw\":0.3,\"volatile\":true}]",
        "[{\"type\":\"obstacle\",\"id\":\"o\",\"shape\":\"box\",\"center\":[1,0,1],\"half_extents\":[0.1,1,1],"
        "\"yaw\":0.3,\"ttl_ms\":5000},{\"type\":\"region\",\"id\":\"z\",\"blocked\":false}]",
        "[{\"op\":\"delete\",\"type\":\"obstacle\",\"id\":\"o\"},{\"op\":\"delete\",\"type\":\"obstacle\","
        "\"id\":\"v\"}]",
    };
    static const char *const lines[] = {
        "[{\"type\":\"region\",\"id\":\"z\",\"points\":[[0.1,0],[0,1.123456789012],[1,0]],\"min\":-1,\"max\":1,"
        "\"area\":1,\"flags\":2,\"blocked\":true}]",
        "[{\"type\":\"link\",\"id\":\"l\",\"start\":[1,0,1],\"end\":[9,0,1],\"bidirectional\":false,\"cost\":3,"
        "\"area\":0,\"flags\":1,\"radius\":0,\"kind\":\"a \\\"b\\\"\",\"enabled\":false}]",
        "",
        "[{\"type\":\"obstacle\",\"id\":\"o\",\"shape\":\"box\",\"center\":[1,0,1],\"half_extents\":[0.1,1,1],"
        "\"yaw\":0.3,\"ttl_ms\":5000,\"expires_ms\":1700000005000},{\"type\":\"region\",\"id\":\"z\","
        "\"points\":[[0.1,0],[0,1.123456789012],[1,0]],\"min\":-1,\"max\":1,\"area\":1,\"flags\":2,"
        "\"blocked\":false}]",
        "[{\"op\":\"delete\",\"type\":\"obstacle\",\"id\":\"o\"}]",
    };
    for (size_t i = 0; i < 5; i++) {
        check(API_POST, "/v1/meshes/p/edits", bodies[i], 200, NULL);
        assert_string_equal(fake.log, lines[i]);
        size_t size = strlen(lines[i]);
        if (size > 0 && !api_edit_set_replay(&set, lines[i], size, fake.wall_ms, &order, &problem)) {
            fail_msg("%s: %s", lines[i], problem.detail);
        }
        assert_int_equal(set.counts[API_OBSTACLE], i == 3);
    }
    const api_edit *region = api_edit_set_find(&set, API_REGION, "z");
    assert_non_null(region);
    assert_true(region->points[1].z == 1.123456789012 && !region->blocked && region->order == 1);
    // What expired while nobody looked does not come back.
    assert_true(api_edit_set_replay(&set, lines[3], strlen(lines[3]), 1700000005000, &order, &problem));
    assert_int_equal(set.counts[API_OBSTACLE], 0);
    assert_false(api_edit_set_replay(&set, "[{\"type\":\"x\"}]", 14, 0, &order, &problem));
    assert_false(api_edit_set_replay(&set, "{}", 2, 0, &order, &problem));
    api_edit_set_deinit(&set);
}

/// Sets that share, against a plain list of what is in.
static void test_sets(void **state)
{
    (void)state;
    enum { IDS = 500, ROUNDS = 20000 };
    static bool in[IDS], in_copy[IDS];
    memset(in, 0, sizeof in);
    api_edit_set set = {0}, copy = {0};
    unsigned random = 1;
    for (int round = 0; round < ROUNDS; round++) {
        random = random * 1103515245u + 12345u;
        unsigned id = random / 65536 % IDS;
        char name[16];
        snprintf(name, sizeof name, "%u", id);
        if (random / 4096 % 7 < 4) {
            api_edit *edit = api_edit_create(API_OBSTACLE, 0);
            memcpy(edit->id, name, sizeof name);
            assert_true(api_edit_set_put(&set, edit));
            api_edit_release(edit);
            in[id] = true;
        } else {
            bool found;
            assert_true(api_edit_set_remove(&set, API_OBSTACLE, name, &found));
            assert_int_equal(found, in[id]);
            in[id] = false;
        }
        if (round % 100 == 0) { // an old copy is as it was, and a new one is made
            for (unsigned i = 0; i < IDS; i++) {
                snprintf(name, sizeof name, "%u", i);
                assert_int_equal(api_edit_set_find(&copy, API_OBSTACLE, name) != NULL, round && in_copy[i]);
                assert_int_equal(api_edit_set_find(&set, API_OBSTACLE, name) != NULL, in[i]);
            }
            api_edit_set_deinit(&copy);
            assert_true(api_edit_set_copy(&copy, &set));
            memcpy(in_copy, in, sizeof in);
            size_t count = 0;
            const char *last = "";
            api_edit_walk walk = api_edit_set_walk(&set, API_OBSTACLE);
            for (const api_edit *e; (e = api_edit_next(&walk)); count++) {
                assert_true(strcmp(last, e->id) < 0);
                last = e->id;
            }
            assert_int_equal(count, api_edit_set_count(&set));
        }
    }
    api_edit_set_deinit(&set);
    api_edit_set_deinit(&copy);
}

int main(void)
{
#define EDIT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        EDIT_TEST(test_an_obstacle_comes_moves_and_goes),
        EDIT_TEST(test_posts_make_ids),
        EDIT_TEST(test_shapes_in_frames),
        EDIT_TEST(test_yaw_turns_about_the_callers_up),
        EDIT_TEST(test_a_mesh_of_the_plane),
        EDIT_TEST(test_bad_obstacles),
        EDIT_TEST(test_doors_open_and_shut),
        EDIT_TEST(test_regions_paint),
        EDIT_TEST(test_links),
        EDIT_TEST(test_many_at_once_or_none),
        EDIT_TEST(test_if_match_guards),
        EDIT_TEST(test_rights),
        EDIT_TEST(test_a_full_disk_changes_nothing),
        EDIT_TEST(test_log_lines),
        cmocka_unit_test(test_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
