/// Loading meshes: formats by content, settings from sidecar and parameters, frames, links, names.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_mesh.h"
#include "mangle.h"

#define SQUARE "{\"vertices\":[[0,0,0],[0,0,10],[10,0,10],[10,0,0]],\"polygons\":[[0,1,2,3]]"
#define FLOOR "{\"vertices\":[[0,0,2],[10,0,2],[10,20,2],[0,20,2]],\"polygons\":[[0,1,2,3]]" // z up

static api_mesh *load_named(const char *text, size_t size, const char *name, const char *sidecar, const char *params,
                            api_problem *problem)
{
    const api_mesh_source source = {.bytes = text, .size = size, .name = name, .sidecar = sidecar, .params = params};
    return api_mesh_load(&source, problem);
}

/// Loads what must load.
static api_mesh *load(const char *text, const char *sidecar, const char *params)
{
    api_problem problem;
    api_mesh *mesh = load_named(text, strlen(text), NULL, sidecar, params, &problem);
    if (!mesh) {
        fail_msg("%s: %s %s", api_code_text(problem.code), problem.pointer, problem.detail);
    }
    return mesh;
}

static nav_mesh_info info_of(const api_mesh *mesh)
{
    nav_mesh_info info;
    nav_mesh_get_info(mesh->nav, &info);
    return info;
}

static void check_vec(nav_vec got, double x, double y, double z)
{
    if (got.x != x || got.y != y || got.z != z) {
        fail_msg("(%.9g, %.9g, %.9g) instead of (%.9g, %.9g, %.9g)", got.x, got.y, got.z, x, y, z);
    }
}

static void test_defaults(void **state)
{
    (void)state;
    api_mesh *mesh = load(SQUARE "}", NULL, NULL);
    nav_mesh_info info = info_of(mesh);
    assert_string_equal(mesh->format, "json");
    assert_int_equal(mesh->dimensions, 3);
    assert_int_equal(mesh->up, 'y');
    assert_memory_equal(&mesh->frame, &api_frame_identity, sizeof mesh->frame);
    assert_int_equal(info.polygons, 1);
    check_vec(info.max, 10, 0, 10);
    check_vec(mesh->snap, 2, 4, 2);
    assert_true(mesh->agent.radius == 0 && mesh->agent.height == 2 && mesh->agent.climb == 0.5 &&
                mesh->agent.slope == 45);
    for (size_t i = 0; i < 256; i++) {
        assert_true(mesh->areas[i].cost == 1 && !mesh->areas[i].listed && mesh->areas[i].name[0] == '\0');
    }
    for (size_t i = 0; i < 32; i++) {
        assert_true(mesh->flags[i][0] == '\0');
    }
    assert_true(mesh->memory_bytes >= info.memory_bytes + sizeof *mesh + sizeof *mesh->report);
    assert_int_equal(mesh->report->island_count, 1);
    api_mesh_destroy(mesh);
    api_mesh_destroy(NULL);
}

static void test_formats_by_content(void **state)
{
    (void)state;
    static const struct {
        const char *text, *format;
    } files[] = {
        {"\r\n " SQUARE "}", "json"},
        {"mesh\n2\n3 1\n0 0 1 0\n1 0 1 0\n1 1 1 0\n3 0 1 2 -1 -1 -1\n", "polyanya"},
        {"# made by hand\n\nv 0 0 0\nv 0 0 1\nv 1 0 0\nf 1 2 3\n", "obj"},
        {"mtllib x\nv 0 0 0\nv 0 0 1\nv 1 0 0\nf 1 2 3\n", "obj"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        api_mesh *mesh = load(files[i].text, NULL, NULL);
        assert_string_equal(mesh->format, files[i].format);
        assert_int_equal(mesh->dimensions, i == 1 ? 2 : 3);
        api_mesh_destroy(mesh);
        // The parameter wins over the content, and over the source's own.
        char params[32];
        api_problem problem;
        snprintf(params, sizeof params, "format=%s", files[i].format);
        const api_mesh_source source = {
            .bytes = files[i].text, .size = strlen(files[i].text), .format = "mset", .params = params};
        mesh = api_mesh_load(&source, &problem);
        assert_non_null(mesh);
        api_mesh_destroy(mesh);
    }
    // Where the content leaves it open, the name decides.
    static const char odd[] = "bevel on\nv 0 0 0\nv 0 0 1\nv 1 0 0\nf 1 2 3\n";
    api_problem problem;
    assert_null(load_named(odd, sizeof odd - 1, NULL, NULL, NULL, &problem));
    assert_int_equal(problem.code, API_UNSUPPORTED_MEDIA_TYPE);
    assert_non_null(strstr(problem.detail, "Wavefront OBJ"));
    api_mesh *mesh = load_named(odd, sizeof odd - 1, "a.OBJ", NULL, NULL, &problem);
    assert_non_null(mesh);
    api_mesh_destroy(mesh);
}

static void test_formats_that_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *detail;
        api_code code;
    } files[] = {
        {"", 0, "empty", API_BAD_MESH},
        {"MSET\0\0\0\1", 8, "big-endian", API_BAD_MESH},
        {"TESM\1\0\0\0", 8, "header of 40 bytes", API_BAD_MESH},
        {"TEST\1\0\0\0", 8, "tile cache", API_UNSUPPORTED_MEDIA_TYPE},
        {"TASM\1\0\0\0", 8, "header of 64 bytes", API_BAD_MESH},
        {"MSAT\0\0\0\1", 8, "big-endian", API_BAD_MESH},
        {"DNAV\0\0\0\7", 8, "big-endian", API_BAD_MESH},
        {"VAND\7\0\0\0", 8, "tile 0 has no DNAV header", API_BAD_MESH},
        {"PAMM\7\0\0\0", 8, ".mmtile files beside it", API_UNSUPPORTED_MEDIA_TYPE},
        {"TAST\1\0\0\0", 8, "as MSET", API_UNSUPPORTED_MEDIA_TYPE},
        {"TSAT\0\0\0\1", 8, "big-endian", API_UNSUPPORTED_MEDIA_TYPE},
        {"glTF\2\0\0\0", 8, "GLB ends within its header", API_BAD_MESH},
        {"\xCE\xFA\xED\xFE", 4, "version 0 of Source", API_BAD_MESH},
        {"[gd_resource", 12, "line 1", API_BAD_MESH},
        {"type octile\nheight 1", 20, "line 2", API_BAD_MESH},
        {"weighted_mesh\n3\n", 16, "line 2", API_BAD_MESH},
        {"mesh\n4\n", 7, "line 2", API_BAD_MESH},
        {"\x1F\x8B\x08", 3, "gzip", API_UNSUPPORTED_MEDIA_TYPE},
        {"hello", 5, "no format that is known", API_UNSUPPORTED_MEDIA_TYPE},
        {"v", 1, "no format that is known", API_UNSUPPORTED_MEDIA_TYPE},
        {"\xFF\xFE\x00", 3, "no format that is known", API_UNSUPPORTED_MEDIA_TYPE},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        api_problem problem;
        assert_null(load_named(files[i].bytes, files[i].size, NULL, NULL, NULL, &problem));
        if (problem.code != files[i].code || !strstr(problem.detail, files[i].detail)) {
            fail_msg("file %zu: %s, %s", i, api_code_text(problem.code), problem.detail);
        }
    }
    // KBEngine's sets, told by the first tile's magic; an .mmap, told by nothing but its name.
    char kbengine[56] = {1};
    memcpy(kbengine + 44, "VAND", 4);
    api_problem problem;
    assert_null(load_named(kbengine, sizeof kbengine, "a.obj", NULL, NULL, &problem));
    assert_non_null(strstr(problem.detail, "0 tiles cannot be"));
    assert_null(load_named(kbengine, 28, "a.mmap", NULL, NULL, &problem));
    assert_int_equal(problem.code, API_BAD_MESH);
    assert_non_null(strstr(problem.detail, "without any .mmtile"));
}

static void test_frames(void **state)
{
    (void)state;
    // z up: by parameter, by sidecar, by the file itself.
    const char *const ups[][3] = {{FLOOR "}", NULL, "frame=z-up"},
                                  {FLOOR "}", "{\"frame\":\"z-up\"}", NULL},
                                  {FLOOR ",\"up\":\"z\"}", NULL, NULL}};
    for (size_t i = 0; i < 3; i++) {
        api_mesh *mesh = load(ups[i][0], ups[i][1], ups[i][2]);
        nav_mesh_info info = info_of(mesh);
        check_vec(info.min, 0, 2, 0);
        check_vec(info.max, 10, 2, 20);
        check_vec(api_frame_to_caller(&mesh->frame, info.max), 10, 20, 2);
        assert_int_equal(mesh->up, 'z');
        check_vec(mesh->snap, 2, 4, 2); // the 4 is along the height whatever it is called
        api_mesh_destroy(mesh);
    }
    // Unreal: the file is in Recast's axes, only the caller's differ.
    api_mesh *mesh = load(SQUARE "}", NULL, "frame=unreal");
    nav_mesh_info info = info_of(mesh);
    check_vec(info.max, 10, 0, 10);
    check_vec(api_frame_to_caller(&mesh->frame, info.max), -10, -10, 0);
    assert_int_equal(mesh->up, 'y');
    api_mesh_destroy(mesh);
    // A frame that is given wins over the file's `up`: the floor then stands upright.
    api_problem problem;
    static const char upright[] = FLOOR ",\"up\":\"z\"}";
    assert_null(load_named(upright, sizeof upright - 1, NULL, NULL, "frame=y-up", &problem));
    assert_int_equal(problem.code, API_BAD_MESH);
}

static void test_settings(void **state)
{
    (void)state;
    static const char sidecar[] = "{\"agent\":{\"radius\":0.25,\"climb\":1},\"weld\":0.5,\"snap\":[1,2,3],"
                                  "\"areas\":{\"mud\":{\"id\":3,\"cost\":2.5},\"road\":{\"id\":0}},"
                                  "\"flags\":{\"door\":2,\"walk\":0},\"frame\":\"unreal\"}";
    api_mesh *mesh = load(SQUARE ",\"agent\":{\"climb\":0.2,\"height\":1.5}}", sidecar, NULL);
    assert_true(mesh->agent.radius == 0.25 && mesh->agent.climb == 1 && mesh->agent.height == 1.5);
    assert_true(info_of(mesh).agent.climb == 1); // building knew of it
    check_vec(mesh->snap, 1, 3, 2);
    assert_string_equal(mesh->areas[3].name, "mud");
    assert_true(mesh->areas[3].listed && mesh->areas[3].cost == 2.5);
    assert_string_equal(mesh->areas[0].name, "road");
    assert_true(mesh->areas[0].cost == 1);
    assert_string_equal(mesh->flags[2], "door");
    assert_string_equal(mesh->flags[0], "walk");
    api_mesh_destroy(mesh);

    // Parameters win, an agent's member by member.
    mesh = load(SQUARE "}", sidecar,
                "agent_radius=0.75&snap=4&persist=false&frame=y-up&areas=%7B%22ice%22%3A%7B%22id%22%3A9%7D%7D");
    assert_true(mesh->agent.radius == 0.75 && mesh->agent.climb == 1);
    check_vec(mesh->snap, 4, 4, 4);
    assert_memory_equal(&mesh->frame, &api_frame_identity, sizeof mesh->frame);
    assert_string_equal(mesh->areas[9].name, "ice");
    assert_false(mesh->areas[3].listed);
    assert_string_equal(mesh->flags[2], "door");
    api_mesh_destroy(mesh);

    mesh = load("{\"vertices\":[[0,0],[1,0],[1,1]],\"indices\":[0,1,2]}", NULL, "snap=3,5");
    check_vec(mesh->snap, 3, 4, 5);
    assert_int_equal(mesh->dimensions, 2);
    api_mesh_destroy(mesh);
}

/// The gap between the squares is 2e-5: one island when welded by 1e-4, two by 1e-6.
static void test_weld(void **state)
{
    (void)state;
    static const char pair[] = "{\"vertices\":[[0,0,0],[0,0,1],[1.00004,0,1],[1.00004,0,0],"
                               "[1.00006,0,0],[1.00006,0,1],[2,0,1],[2,0,0]],\"polygons\":[[0,1,2,3],[4,5,6,7]]}";
    static const struct {
        const char *params;
        uint32_t islands;
    } cases[] = {{"weld=0.0001", 1}, {"weld=1e-6", 2}, {"weld=0", 2}, {NULL, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        api_mesh *mesh = load(pair, NULL, cases[i].params);
        assert_int_equal(info_of(mesh).islands, cases[i].islands);
        api_mesh_destroy(mesh);
    }
}

#define LINKED(link) FLOOR ",\"links\":[" link "]}"

static void test_links(void **state)
{
    (void)state;
    api_mesh *mesh =
        load(LINKED("{\"start\":[1,2,2],\"end\":{\"x\":3,\"y\":4,\"z\":2},\"id\":\"a\",\"kind\":\"ladder\","
                    "\"bidirectional\":true,\"cost\":7,\"area\":\"mud\",\"flags\":[\"door\",5],"
                    "\"radius\":0.5},{\"start\":[1,2,2],\"end\":[3,4,2],\"area\":200,\"flags\":6},"
                    "{\"start\":[1,2,2],\"end\":[3,4,2],\"enabled\":false,\"id\":\"off\"}"),
             "{\"frame\":\"z-up\",\"areas\":{\"mud\":{\"id\":3}},\"flags\":{\"door\":1},"
             "\"links\":[{\"start\":[2,3,2],\"end\":[4,5,2],\"id\":\"from-sidecar\"}]}",
             NULL);
    assert_int_equal(info_of(mesh).links, 3);
    const nav_link *l = nav_mesh_links(mesh->nav);
    assert_string_equal(l[0].id, "a");
    assert_string_equal(l[0].kind, "ladder");
    check_vec(l[0].start, 1, 2, 2);
    check_vec(l[0].end, 3, 2, 4);
    assert_true(l[0].bidirectional && l[0].cost == 7 && l[0].radius == 0.5);
    assert_int_equal(l[0].area, 3);
    assert_int_equal(l[0].flags, 1 << 1 | 1 << 5);
    assert_string_equal(l[1].id, "link-1");
    assert_true(!l[1].bidirectional && l[1].cost < 0);
    assert_int_equal(l[1].area, 200);
    assert_int_equal(l[1].flags, 6);
    assert_string_equal(l[2].id, "from-sidecar");
    check_vec(l[2].start, 2, 2, 3);
    api_mesh_destroy(mesh);

    // A mesh's own links stand in the file's axes, a sidecar's in the caller's.
    mesh = load(SQUARE ",\"links\":[{\"start\":[1,0,2],\"end\":[3,0,4]}]}",
                "{\"frame\":\"unreal\",\"links\":[{\"start\":[-1,-2,0],\"end\":[-3,-4,0]}]}", NULL);
    l = nav_mesh_links(mesh->nav);
    assert_int_equal(info_of(mesh).links, 2);
    check_vec(l[0].start, 1, 0, 2);
    check_vec(l[1].start, 1, 0, 2);
    check_vec(l[1].end, 3, 0, 4);
    api_mesh_destroy(mesh);

    mesh = load("{\"vertices\":[[0,0],[9,0],[9,9]],\"indices\":[0,1,2],\"links\":[{\"start\":[1,1],\"end\":[8,2]}]}",
                NULL, NULL);
    check_vec(nav_mesh_links(mesh->nav)[0].end, 8, 0, 2);
    api_mesh_destroy(mesh);
}

typedef struct refusal {
    const char *given, *where, *detail;
} refusal;

static void check_refusal(const api_problem *problem, api_code code, const char *where, const refusal *wanted)
{
    if (problem->code != code || strcmp(where, wanted->where) != 0 || !strstr(problem->detail, wanted->detail)) {
        fail_msg("%s: %s at `%s`, %s", wanted->given, api_code_text(problem->code), where, problem->detail);
    }
}

static void test_bad_parameters(void **state)
{
    (void)state;
    static const refusal cases[] = {
        {"wedl=1", "wedl", "did you mean `weld`?"},
        {"weld=-1", "weld", "at least 0"},
        {"weld=nan", "weld", "not a string"},
        {"weld=1e999", "weld", "must be"},
        {"weld=", "weld", "must be"},
        {"weld", "weld", "must be"},
        {"weld=1&weld=1", "weld", "given twice"},
        {"frame=q", "frame", "three signed axes"},
        {"frame=x,y,y", "frame", "three signed axes"},
        {"frame=1", "frame", "three signed axes"},
        {"agent_radius=-0.1", "agent_radius", "from 0 on"},
        {"agent_slope=90.5", "agent_slope", "from 0 to 90"},
        {"agent_size=1", "agent_size", "unknown parameter"},
        {"agent=%7B%7D", "agent", "unknown parameter"},
        {"snap=1,2", "snap", "one number or 3"},
        {"snap=1,2,3,4", "snap", "one for each axis"},
        {"snap=-1", "snap", "at least 0"},
        {"snap=[1,2,null]", "snap", "not null"},
        {"areas=%7B", "areas", "is not JSON"},
        {"areas=7", "areas", "must be an object"},
        {"areas=%7B%22a%22:%7B%22id%22:256%7D%7D", "areas", "0 to 255"},
        {"flags=%7B%22a%22:32%7D", "flags", "0 to 31"},
        {"links=3", "links", "must be an array"},
        {"links=[1]", "links", "must be an object"},
        {"links=[%7B%22start%22:[0,0,0]%7D]", "links", "its start and its end"},
        {"node=3", "node", "must be the name of a node or mesh, not a number"},
        {"default_filter=a", "default_filter", "no filter named `a`"},
        {"default_filter=3", "default_filter", "the name of one, not a number"},
        {"filters=3", "filters", "must be an object"},
        {"filters=%7B%22a%22:3%7D", "filters", "include, exclude and costs, not a number"},
        {"filters=%7B%22a%22:%7B%22exclude%22:[%22door%22]%7D%7D", "filters", "no flag named `door`"},
        {"regions=7", "regions", "must be an array"},
        {"regions=[{}]", "regions", "needs its points"},
        {"format=glb", "format", "unknown format `glb`"},
        {"weld=%zz", "weld", "percent-encoded"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        api_problem problem;
        assert_null(load_named(SQUARE "}", strlen(SQUARE "}"), NULL, NULL, cases[i].given, &problem));
        check_refusal(&problem, API_BAD_REQUEST, problem.parameter, &cases[i]);
        assert_string_equal(problem.pointer, "");
    }
}

static void test_bad_sidecars(void **state)
{
    (void)state;
    static const refusal cases[] = {
        {"", "", "the sidecar: "},
        {"{\"weld\":1", "", "the sidecar: byte"},
        {"[]", "", "must be an object"},
        {"{\"frme\":\"z-up\"}", "/frme", "did you mean `frame`?"},
        {"{\"weld\":null}", "/weld", "the sidecar, /weld: "},
        {"{\"weld\":1,\"weld\":2}", "/weld", "given twice"},
        {"{\"agent\":{\"radius\":\"1\"}}", "/agent/radius", "not a string"},
        {"{\"agent\":{\"a/b\":1}}", "/agent/a~1b", "unknown member"},
        {"{\"agent\":1}", "/agent", "must be an object"},
        {"{\"areas\":{\"a\":{\"id\":1},\"b\":{\"id\":1}}}", "/areas/b", "area 1 has the name `a` already"},
        {"{\"areas\":{\"a\":{\"id\":1},\"a\":{\"id\":2}}}", "/areas/a", "two areas"},
        {"{\"areas\":{\"a\":{\"id\":1.5}}}", "/areas/a/id", "whole number"},
        {"{\"areas\":{\"a\":{\"id\":1,\"cost\":0}}}", "/areas/a/cost", "above 0"},
        {"{\"areas\":{\"a\":{\"cost\":1}}}", "/areas/a", "needs its id"},
        {"{\"areas\":{\"\":{\"id\":1}}}", "/areas/", "1 to 64 bytes"},
        {"{\"areas\":{\"a\\nb\":{\"id\":1}}}", "/areas/a\nb", "control characters"},
        {"{\"flags\":{\"a\":1,\"b\":1}}", "/flags/b", "bit 1 has the name `a` already"},
        {"{\"links\":[{\"start\":[0,0],\"end\":[0,0,0]}]}", "/links/0/start", "must be [x, y, z]"},
        {"{\"links\":[{\"start\":[0,0,1e999],\"end\":[0,0,0]}]}", "/links/0/start", "finite"},
        {"{\"links\":[{\"strat\":[0,0,0]}]}", "/links/0/strat", "unknown member"},
        {"{\"links\":[{\"id\":\".a\"}]}", "/links/0/id", "must be an id"},
        {"{\"links\":[{\"area\":\"mud\"}]}", "/links/0/area", "no area is called `mud`"},
        {"{\"links\":[{\"flags\":[\"door\"]}]}", "/links/0/flags", "no flag is called `door`"},
        {"{\"links\":[{\"bidirectional\":1}]}", "/links/0/bidirectional", "true or false"},
        {"{\"links\":[{\"cost\":-1}]}", "/links/0/cost", "at least 0"},
        {"{\"links\":[{\"start\":[0,0,0],\"end\":[1,0,1],\"id\":\"a\"},{\"start\":[0,0,0],\"end\":[1,0,1],\"id\":\"a\"}"
         "]}",
         "/links", "two links have the id `a`"},
        {"{\"filters\":{\"a\":{\"costs\":{\"mud\":2}}},\"areas\":{\"mudd\":{\"id\":1}}}", "/filters/a/costs/mud",
         "did you mean `mudd`?"},
        {"{\"filters\":{\"a\":{},\"a\":{}}}", "/filters/a", "two filters are called `a`"},
        {"{\"filters\":{\"\":{}}}", "/filters/", "1 to 64 bytes"},
        {"{\"filters\":{\"walk\":{}},\"default_filter\":\"wlak\"}", "/default_filter", "did you mean `walk`?"},
        {"{\"default_filter\":{\"includes\":1}}", "/default_filter/includes", "did you mean `include`?"},
        {"{\"regions\":{}}", "/regions", "must be an array"},
        {"{\"regions\":[{\"points\":[[0,0],[1,0]],\"min\":0,\"max\":1}]}", "/regions/0/points", "three points"},
        {"{\"snap\":[1,2]}", "/snap", "one number or 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        api_problem problem;
        assert_null(load_named(SQUARE "}", strlen(SQUARE "}"), NULL, cases[i].given, NULL, &problem));
        check_refusal(&problem, API_BAD_MESH, problem.pointer, &cases[i]);
    }
    // The same fault in the mesh itself is the mesh's.
    static const refusal own = {"links", "/links/0/area", "/links/0/area: no area is called `mud`"};
    static const char text[] = LINKED("{\"start\":[0,0,0],\"end\":[1,1,1],\"area\":\"mud\"}");
    api_problem problem;
    assert_null(load_named(text, sizeof text - 1, NULL, NULL, NULL, &problem));
    check_refusal(&problem, API_BAD_MESH, problem.pointer, &own);
}

static void check_merged(const char *sidecar, const char *params, const char *weld, const char *agent)
{
    char *text = api_sidecar_merge(sidecar, params);
    assert_non_null(text);
    if (!strstr(text, weld) || !strstr(text, agent)) {
        fail_msg("%s", text);
    }
    api_mesh *mesh = load(SQUARE "}", text, NULL);
    api_mesh_destroy(mesh);
    free(text);
}

static void test_merging_sidecars(void **state)
{
    (void)state;
    assert_null(api_sidecar_merge(NULL, NULL));
    assert_null(api_sidecar_merge(NULL, "persist=true&format=json"));
    assert_null(api_sidecar_merge("{}", ""));
    check_merged("{\"weld\":0.5}", NULL, "0.5", "weld");
    check_merged("{\"weld\":0.5,\"agent\":{\"radius\":0.25}}", "weld=0.125&agent_climb=0.75", "0.125", "0.25");
    check_merged("{\"agent\":{\"radius\":0.25,\"climb\":3}}", "agent_climb=0.75&snap=1,2,3", "0.75", "0.25");
    check_merged(NULL, "frame=-x,-z,y&agent_slope=30", "-x,-z,y", "30");

    // What was merged loads as sidecar and parameters did.
    static const char sidecar[] = "{\"agent\":{\"radius\":0.25},\"areas\":{\"mud\":{\"id\":3}}}";
    static const char params[] = "agent_height=3&snap=5&areas=%7B%22ice%22%3A%7B%22id%22%3A9%7D%7D&frame=unreal";
    char *merged = api_sidecar_merge(sidecar, params);
    api_mesh *a = load(SQUARE "}", sidecar, params), *b = load(SQUARE "}", merged, NULL);
    assert_memory_equal(&a->agent, &b->agent, sizeof a->agent);
    assert_memory_equal(&a->snap, &b->snap, sizeof a->snap);
    assert_memory_equal(&a->frame, &b->frame, sizeof a->frame);
    assert_string_equal(b->areas[9].name, "ice");
    assert_false(b->areas[3].listed);
    api_mesh_destroy(a);
    api_mesh_destroy(b);
    free(merged);
}

/// The whole way from bytes to a mesh, or to a problem that is the file's.
static void try_bytes(void *ctx, const void *bytes, size_t size)
{
    unsigned *loaded = ctx;
    api_problem problem;
    api_mesh *mesh = load_named(bytes, size, "a.json", NULL, NULL, &problem);
    if (mesh) {
        ++*loaded;
        assert_true(info_of(mesh).polygons > 0);
    } else {
        assert_true(problem.code == API_BAD_MESH || problem.code == API_UNSUPPORTED_MEDIA_TYPE);
        assert_true(problem.detail[0] != '\0');
    }
    api_mesh_destroy(mesh);
}

static void test_mangled(void **state)
{
    (void)state;
    static const char *const files[] = {
        FLOOR ",\"up\":\"z\",\"areas\":[3],\"flags\":[1],\"links\":[{\"start\":[1,2,2],\"end\":[3,4,2],\"area\":2}]}",
        "v 0 0 0\nv 0 0 4\nv 4 0 4\nv 4 0 0\nv 8 0 0\nv 8 0 4\nf 1 2 3 4\nf 4 3 6 5\n",
        "mesh\n2\n4 2\n0 0 2 0 1\n2 0 1 0\n2 2 2 0 1\n0 2 1 1\n3 0 1 2 1 -1 -1\n3 0 2 3 -1 0 -1\n",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        unsigned loaded = 0;
        mangle_cuts(files[i], strlen(files[i]), try_bytes, &loaded);
        mangle_flips(files[i], strlen(files[i]), 3000, 20 + i, try_bytes, &loaded);
        assert_true(loaded > 30);
    }
}

static void test_names(void **state)
{
    (void)state;
    static const char *const good[] = {"a", "A-Z.a_z-09", "-", "_", "a."};
    static const char *const bad[] = {"", ".", ".a", "..", "a/b", "a b", "a%", "\xC3\xA4", "a\n"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(api_id_valid(good[i], strlen(good[i])));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(api_id_valid(bad[i], strlen(bad[i])));
    }
    char id[66];
    memset(id, 'a', sizeof id);
    assert_true(api_id_valid(id, 64));
    assert_false(api_id_valid(id, 65));
    assert_false(api_id_valid("a\0b", 3));

    static const char *const meshes[] = {"a.bin", "a.b.OBJ", "a.mesh", "a.json", "a.navmesh"};
    static const char *const others[] = {"a.meta.json", ".json",       ".bin",       "a", "a.txt",
                                         "bin",         "a.META.JSON", "a.json.tmp", ""};
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++) {
        assert_true(api_mesh_known_name(meshes[i]));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(api_mesh_known_name(others[i]));
    }
    char ending[API_ENDING_MAX + 1];
    assert_string_equal(api_mesh_extension("mset", ending), ".bin");
    assert_string_equal(api_mesh_extension("polyanya", ending), ".mesh");
    assert_string_equal(api_mesh_extension("obj", ending), ".obj");
    assert_string_equal(api_mesh_extension("json", ending), ".json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_formats_by_content),
        cmocka_unit_test(test_formats_that_are_refused_by_name),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_weld),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_bad_parameters),
        cmocka_unit_test(test_bad_sidecars),
        cmocka_unit_test(test_merging_sidecars),
        cmocka_unit_test(test_mangled),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
