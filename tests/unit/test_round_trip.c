/// What is written must read back to the same mesh: geometry as JSON, OBJ and GLB, and the .navd. Told by 1,000
/// random questions each to the samples.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_host.h"
#include "nav_query.h"
#include "rng.h"

#define QUESTIONS 1000

static char *read_sample(const char *name, size_t *size)
{
    char path[256];
    snprintf(path, sizeof path, "samples/%s", name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *bytes = malloc(1 << 22);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1 << 22, f);
    fclose(f);
    assert_true(*size > 0 && *size < 1 << 22);
    return bytes;
}

static nav_vec anywhere(const nav_mesh_info *i, rng *r)
{
    return (nav_vec){i->min.x + rng_unit(r) * (i->max.x - i->min.x), i->min.y + rng_unit(r) * (i->max.y - i->min.y),
                     i->min.z + rng_unit(r) * (i->max.z - i->min.z)};
}

static bool is_near(double a, double b, double slack)
{
    return fabs(a - b) <= slack * (1 + fabs(a));
}

/// @param slack  by which answers may differ, 0: not at all
static void check_same(const nav_mesh *a, const nav_mesh *b, double slack, bool numbers, const char *what)
{
    nav_query *q = nav_query_create(NULL), *p = nav_query_create(NULL);
    nav_mesh_info info, other;
    nav_snap snap = nav_snap_default();
    nav_path_options options = nav_path_options_default();
    rng r = rng_seeded(7);
    unsigned complete = 0;
    nav_mesh_get_info(a, &info);
    nav_mesh_get_info(b, &other);
    assert_int_equal(info.faces, numbers ? other.faces : info.faces);
    for (unsigned i = 0; i < QUESTIONS; i++) {
        nav_vec from = anywhere(&info, &r), to = anywhere(&info, &r);
        nav_place x = {0}, y = {0};
        bool found = nav_query_nearest(q, a, from, &snap, &x);
        bool also = nav_query_nearest(p, b, from, &snap, &y);
        nav_path one, two;
        assert_int_equal(nav_query_path(q, a, from, to, &options, &one), NAV_OK);
        assert_int_equal(nav_query_path(p, b, from, to, &options, &two), NAV_OK);
        nav_ray ray, other_ray;
        assert_int_equal(nav_query_raycast(q, a, from, to, &snap, false, &ray), NAV_OK);
        assert_int_equal(nav_query_raycast(p, b, from, to, &snap, false, &other_ray), NAV_OK);
        bool same = found == also &&
                    (!found || (is_near(x.distance, y.distance, slack) && (!numbers || x.polygon == y.polygon)));
        same = same && one.status == two.status && is_near(one.length, two.length, slack) &&
               is_near(one.remaining, two.remaining, slack) && is_near(ray.t, other_ray.t, slack);
        complete += one.status == NAV_PATH_COMPLETE;
        if (!same) {
            fail_msg("%s, question %u: distance %.12g %.12g, path %d %d, length %.12g %.12g, ray %.12g %.12g", what, i,
                     x.distance, y.distance, one.status, two.status, one.length, two.length, ray.t, other_ray.t);
        }
    }
    assert_true(complete > 20);
    nav_query_destroy(q);
    nav_query_destroy(p);
}

static const nav_mesh *mesh_of(const fake_host *fake, const char *id)
{
    for (size_t i = 0; i < fake->count; i++) {
        if (strcmp(fake->meshes[i].id, id) == 0) {
            return fake->meshes[i].mesh->nav;
        }
    }
    fail_msg("no mesh %s", id);
    return NULL;
}

static const api_mesh *put(fake_host *fake, const char *id, const void *bytes, size_t size, const char *params)
{
    char target[128];
    snprintf(target, sizeof target, "/v1/meshes/%s?persist=false%s", id, params);
    fake->accept = NULL;
    api_response response = fake_ask_bytes(fake, API_PUT, target, bytes, size);
    if (response.status != 200 && response.status != 201) {
        fail_msg("%s: %s", id, response.body.data);
    }
    api_buffer_free(&response.body);
    for (size_t i = 0; i < fake->count; i++) {
        if (strcmp(fake->meshes[i].id, id) == 0) {
            return fake->meshes[i].mesh;
        }
    }
    return NULL;
}

static void check_forms(fake_host *fake, const char *sample)
{
    static const struct {
        const char *type, *format;
        double slack;
        bool numbers; ///< polygons keep theirs
    } forms[] = {{"application/json", "json", 0, true},
                 {"model/obj", "obj", 1e-5, true},
                 {"model/gltf-binary", "gltf", 1e-5, false}};
    // Triangles cannot hold a straight corner whose height is not its edge's, of which the island has many.
    size_t count = sizeof forms / sizeof *forms - (strncmp(sample, "island", 6) == 0);
    for (size_t i = 0; i < count; i++) {
        fake->accept = forms[i].type;
        api_response response = fake_ask(fake, API_GET, "/v1/meshes/a/geometry", NULL);
        assert_int_equal(response.status, 200);
        assert_true(i == 0 || strcmp(response.content_type, forms[i].type) == 0);
        const api_mesh *b = put(fake, "b", response.body.data, response.body.size, "");
        char what[64];
        snprintf(what, sizeof what, "%s as %s", sample, forms[i].format);
        assert_non_null(b);
        check_same(mesh_of(fake, "a"), b->nav, forms[i].slack, forms[i].numbers, what);
        api_buffer_free(&response.body);
    }
}

static void check_navd(fake_host *fake, const api_mesh *a, const char *sample)
{
    void *bytes;
    size_t size;
    api_problem problem;
    assert_true(
        api_mesh_cook(a, "{\"areas\":{\"mud\":{\"id\":3,\"cost\":2.5}},\"snap\":[1,2,3]}", &bytes, &size, &problem));
    const api_mesh *b = put(fake, "b", bytes, size, "");
    assert_string_equal(b->format, "navd");
    assert_string_equal(b->areas[3].name, "mud");
    assert_true(b->areas[3].cost == 2.5 && b->areas[4].cost == 1);
    assert_memory_equal(&b->frame, &a->frame, sizeof a->frame);
    assert_int_equal(b->up, a->up);
    check_same(a->nav, b->nav, 0, true, sample);
    // Over what is kept lies what is given; what is baked in stays as it is.
    b = put(fake, "b", bytes, size, "&areas=%7B%22ice%22:%7B%22id%22:3%7D%7D&snap=5");
    assert_string_equal(b->areas[3].name, "ice");
    assert_true(b->snap.x == 5 && b->snap.y == 5);
    api_response response = fake_ask_bytes(fake, API_PUT, "/v1/meshes/b?weld=0.5&persist=false", bytes, size);
    assert_int_equal(response.status, 400);
    assert_non_null(strstr(response.body.data, "baked into a .navd"));
    api_buffer_free(&response.body);
    ((char *)bytes)[size / 2] ^= 1;
    response = fake_ask_bytes(fake, API_PUT, "/v1/meshes/b?persist=false", bytes, size);
    assert_int_equal(response.status, 422);
    assert_non_null(strstr(response.body.data, "damaged"));
    api_buffer_free(&response.body);
    free(bytes);
}

static void test_samples(void **state)
{
    (void)state;
    static const char *const samples[] = {"dungeon.json", "building.obj", "island.bin"};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        fake_host fake;
        fake_host_init(&fake);
        assert_true(fake_host_start(&fake));
        size_t size;
        char *bytes = read_sample(samples[i], &size);
        const api_mesh *a = put(&fake, "a", bytes, size, "");
        check_forms(&fake, samples[i]);
        check_navd(&fake, a, samples[i]);
        a = put(&fake, "a", bytes, size, "&frame=-x,-z,y");
        check_navd(&fake, a, samples[i]);
        free(bytes);
        assert_int_equal(fake_host_deinit(&fake), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
