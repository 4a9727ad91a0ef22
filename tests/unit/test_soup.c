/// The polygon soup: arrays that grow together, and what happens when they cannot.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "mangle.h"
#include "nav_soup.h"

static void test_an_empty_soup(void **state)
{
    (void)state;
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    assert_int_equal(soup.dimensions, 3);
    assert_true(soup.agent.radius == 0 && soup.agent.height == 2 && soup.agent.climb == 0.5 && soup.agent.slope == 45);
    assert_false(soup.has_agent);
    assert_int_equal(nav_soup_add_detail_tri(&soup, 0, 1, 2), NAV_BAD_ARGUMENT); // of which polygon?
    nav_soup_deinit(&soup);
    nav_soup_deinit(&soup);
}

static void test_polygons(void **state)
{
    (void)state;
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    uint32_t corners[300];
    for (uint32_t i = 0; i < 300; i++) {
        corners[i] = i;
    }
    assert_int_equal(nav_soup_add_polygon(&soup, corners, 2, 0, 0, NULL), NAV_BAD_ARGUMENT);
    uint32_t total = 0;
    for (uint32_t p = 0; p < 1000; p++) {
        uint32_t count = 3 + p % 298;
        assert_int_equal(nav_soup_add_polygon(&soup, corners, count, (uint8_t)p, p * 7, NULL), NAV_OK);
        total += count;
    }
    assert_int_equal(soup.poly_count, 1000);
    assert_int_equal(soup.corner_count, total);
    for (uint32_t p = 0; p < 1000; p++) {
        uint32_t count = 3 + p % 298;
        assert_int_equal(soup.poly_first[p + 1] - soup.poly_first[p], count);
        assert_memory_equal(soup.corners + soup.poly_first[p], corners, count * sizeof *corners);
        assert_int_equal(soup.areas[p], (uint8_t)p);
        assert_int_equal(soup.flags[p], p * 7);
    }
    nav_soup_deinit(&soup);
}

/// Polygons without edges before and after one that has them say nothing of theirs.
static void test_edges_of_some(void **state)
{
    (void)state;
    static const uint32_t corners[] = {0, 1, 2}, edges[] = {NAV_EDGE_WALL, 0, NAV_EDGE_SEAM};
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(nav_soup_add_polygon(&soup, corners, 3, 0, 0, i == 60 ? edges : NULL), NAV_OK);
    }
    assert_true(soup.has_edges);
    for (uint32_t i = 0; i < 300; i++) {
        assert_int_equal(soup.edges[i], i / 3 == 60 ? edges[i % 3] : NAV_EDGE_ANY);
    }
    nav_soup_deinit(&soup);
}

static void test_details_of_some(void **state)
{
    (void)state;
    static const uint32_t corners[] = {0, 1, 2};
    nav_soup soup;
    nav_soup_init(&soup, NULL);
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(nav_soup_add_polygon(&soup, corners, 3, 0, 0, NULL), NAV_OK);
        for (uint32_t k = 0; i >= 40 && k < i % 3; k++) {
            assert_int_equal(nav_soup_add_detail_tri(&soup, i, k, 0), NAV_OK);
        }
    }
    uint32_t tris = 0;
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(soup.detail_first[i], tris);
        for (uint32_t k = 0; i >= 40 && k < i % 3; k++, tris++) {
            assert_int_equal(soup.detail_tris[3 * tris], i);
            assert_int_equal(soup.detail_tris[3 * tris + 1], k);
        }
        assert_int_equal(soup.detail_first[i + 1], tris);
    }
    assert_int_equal(soup.detail_tri_count, tris);
    nav_soup_deinit(&soup);
}

/// A failed call leaves the soup as it was, and it can go on.
static void test_out_of_memory(void **state)
{
    (void)state;
    static const uint32_t corners[] = {0, 1, 2}, edges[] = {NAV_EDGE_WALL, 0, NAV_EDGE_SEAM};
    for (unsigned n = 1; n < 40; n++) {
        watched_memory memory = {.limit = SIZE_MAX, .fail_at = n};
        nav_alloc alloc = watched_alloc(&memory);
        nav_soup soup;
        nav_soup_init(&soup, &alloc);
        const nav_link link = {.id = "a"};
        for (uint32_t i = 0; i < 200; i++) {
            for (int tries = 0; nav_soup_add_vertex(&soup, i, 0, 0) != NAV_OK; tries++) {
                assert_true(tries < 2 && soup.vertex_count == i);
            }
            const uint32_t *given = i >= 100 ? edges : NULL;
            for (int tries = 0; nav_soup_add_polygon(&soup, corners, 3, 1, i, given) != NAV_OK; tries++) {
                assert_true(tries < 2 && soup.poly_count == i && soup.corner_count == 3 * i);
            }
            for (int tries = 0; nav_soup_add_detail_vertex(&soup, i, 0, 0) != NAV_OK; tries++) {
                assert_true(tries < 2 && soup.detail_vertex_count == i);
            }
            for (int tries = 0; nav_soup_add_detail_tri(&soup, i, 1, 2) != NAV_OK; tries++) {
                assert_true(tries < 2 && soup.detail_tri_count == i);
            }
            for (int tries = 0; nav_soup_add_link(&soup, &link) != NAV_OK; tries++) {
                assert_true(tries < 2 && soup.link_count == i);
            }
        }
        for (uint32_t i = 0; i < 200; i++) {
            assert_true(soup.vertices[3 * i] == i && soup.detail_vertices[3 * i] == i);
            assert_true(soup.poly_first[i] == 3 * i && soup.flags[i] == i && soup.detail_first[i] == i);
            assert_int_equal(soup.edges[3 * i + 1], i >= 100 ? 0 : NAV_EDGE_ANY);
            assert_int_equal(soup.detail_tris[3 * i], i);
        }
        nav_soup_deinit(&soup);
        assert_int_equal(memory.used, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_soup), cmocka_unit_test(test_polygons),
        cmocka_unit_test(test_edges_of_some), cmocka_unit_test(test_details_of_some),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
