/// MovingAI maps: what is walked on, what is joined and what is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nav_mesh.h"
#include "nav_query.h"
#include "read_check.h"
#include "rng.h"

enum { MOST = 24 };

typedef struct map {
    int width, height;
    char cells[MOST * MOST];
} map;

static char cell(const map *m, int x, int y)
{
    return x < 0 || y < 0 || x >= m->width || y >= m->height ? '@' : m->cells[y * m->width + x];
}

static void write_map(const map *m, char *text)
{
    text += sprintf(text, "type octile\nheight %d\nwidth %d\nmap\n", m->height, m->width);
    for (int y = 0; y < m->height; y++) {
        text += sprintf(text, "%.*s\n", m->width, m->cells + y * m->width);
    }
}

static int terrain(char c)
{
    return c == 'W' ? 2 : c == '.' || c == 'G' || c == 'S' ? 1 : 0;
}

static void spread(const map *m, int *part, int x, int y, int number)
{
    static const int dx[] = {1, -1, 0, 0}, dy[] = {0, 0, 1, -1};
    part[y * m->width + x] = number;
    for (int k = 0; k < 4; k++) {
        int i = x + dx[k], j = y + dy[k];
        if (terrain(cell(m, i, j)) == terrain(cell(m, x, y)) && part[j * m->width + i] < 0) {
            spread(m, part, i, j, number);
        }
    }
}

/// Without cutting corners, what hangs together by eight neighbours hangs together by four.
static int count_parts(const map *m, int *part)
{
    int count = 0;
    memset(part, 0xFF, sizeof(int) * MOST * MOST);
    for (int y = 0; y < m->height; y++) {
        for (int x = 0; x < m->width; x++) {
            if (terrain(cell(m, x, y)) && part[y * m->width + x] < 0) {
                spread(m, part, x, y, count++);
            }
        }
    }
    return count;
}

static void test_random_maps(void **state)
{
    (void)state;
    rng r = rng_seeded(5);
    for (int round = 0; round < 300; round++) {
        map m = {.width = rng_between(&r, 1, MOST), .height = rng_between(&r, 1, MOST)};
        double blocked = rng_unit(&r), other = rng_unit(&r) / 2;
        int free_cells = 0, part[MOST * MOST];
        for (int i = 0; i < m.width * m.height; i++) {
            m.cells[i] = rng_chance(&r, blocked) ? "@OT"[i % 3] : rng_chance(&r, other) ? "SW"[i % 2] : ".G"[i % 2];
            free_cells += terrain(m.cells[i]) > 0;
        }
        char text[MOST * (MOST + 1) + 64];
        write_map(&m, text);
        nav_soup soup;
        nav_error error;
        nav_status status = read_check_text(nav_read_movingai, &soup, text, &error);
        assert_int_equal(status, free_cells > 0 ? NAV_OK : NAV_BAD_FORMAT);
        if (status == NAV_OK) {
            nav_mesh *mesh;
            nav_mesh_info info;
            nav_report *report = calloc(1, sizeof *report);
            assert_non_null(report);
            assert_true(read_check_area(&soup) == free_cells);
            assert_true((int)soup.poly_count <= free_cells);
            // What was reserved is what was needed.
            assert_true(soup.corner_count == soup.corner_cap || soup.corner_cap == 64);
            assert_true(soup.vertex_count == soup.vertex_cap || soup.vertex_cap == 64);
            assert_int_equal(nav_mesh_build(&soup, NULL, NULL, &mesh, report, &error), NAV_OK);
            nav_mesh_get_info(mesh, &info);
            assert_int_equal(info.islands, count_parts(&m, part));
            assert_int_equal(report->t_junction_count, 0); // all edges are shared whole
            assert_int_equal(report->warning_count, 0);
            for (uint32_t p = 0; p < soup.poly_count; p++) {
                const double *v = &soup.vertices[3 * (size_t)soup.corners[soup.poly_first[p]]];
                char c = cell(&m, (int)v[0], (int)v[2]);
                assert_int_equal(soup.areas[p], c == 'S' ? 1 : c == 'W' ? 2 : 0);
            }
            nav_mesh_destroy(mesh);
            free(report);
        }
        nav_soup_deinit(&soup);
    }
}

static double walk(const char *text, nav_vec start, nav_vec end)
{
    nav_soup soup;
    nav_error error;
    nav_mesh *mesh;
    assert_int_equal(read_check_text(nav_read_movingai, &soup, text, &error), NAV_OK);
    assert_int_equal(nav_mesh_build(&soup, NULL, NULL, &mesh, NULL, &error), NAV_OK);
    nav_query *query = nav_query_create(NULL);
    assert_non_null(query);
    nav_path_options options = nav_path_options_default();
    options.snap.half_extents = (nav_vec){0, 0, 0};
    nav_path path;
    assert_int_equal(nav_query_path(query, mesh, start, end, &options, &path), NAV_OK);
    double length = path.status == NAV_PATH_COMPLETE ? path.length : INFINITY;
    nav_query_destroy(query);
    nav_mesh_destroy(mesh);
    nav_soup_deinit(&soup);
    return length;
}

static void test_corners_are_touched_and_not_cut(void **state)
{
    (void)state;
    // Past the corner of a single blocked cell at (2, 2).
    double length =
        walk("type octile\nheight 3\nwidth 3\nmap\n...\n...\n@..\n", (nav_vec){0, 0, 1.5}, (nav_vec){1.5, 0, 3});
    assert_true(fabs(length - (hypot(1, 0.5) + hypot(0.5, 1))) < 1e-6);
    // Between two blocked cells that meet in a corner there is no way, only one round.
    assert_true(
        isinf(walk("type octile\nheight 2\nwidth 2\nmap\n.@\n@.\n", (nav_vec){0.5, 0, 0.5}, (nav_vec){1.5, 0, 1.5})));
    length = walk("type octile\nheight 2\nwidth 4\nmap\n.@..\n....\n", (nav_vec){0, 0, 0}, (nav_vec){3, 0, 0});
    assert_true(fabs(length - (hypot(1, 1) + 1 + hypot(1, 1))) < 1e-6);
}

static void test_complaints(void **state)
{
    (void)state;
    static const read_complaint cases[] = {
        {"", "does not begin with the word `type`"},
        {"typed octile", "does not begin"},
        {"type quad\nheight 1\nwidth 1\nmap\n.", "line 1: expected the map type `octile`, found `quad`"},
        {"type octile\nheight 1\nmap\n.\n", "line 3: the map's width is missing"},
        {"type octile\nheight 1\nheight 1\nwidth 1\nmap\n.", "line 3: expected `height`, `width` or `map`"},
        {"type octile\nheight -1\nwidth 1\nmap\n.", "line 2: the height is -1, outside"},
        {"type octile\nheight 2147483648\nwidth 1\nmap\n.", "line 2: the height is 2147483648, outside"},
        {"type octile\nheight 3\nwidth 4\nmap\n....\n....\n", "too short for 3 rows of 4 cells"},
        {"type octile\nheight 3\nwidth 4\nmap\n....\n..\n......\n", "line 6: row 1 has 2 cells instead of 4"},
        {"type octile\nheight 2\nwidth 2\nmap\n..\n...\n", "line 6: expected the end of the row"},
        {"type octile\nheight 2\nwidth 2\nmap\n..\n.x\n", "line 6: cell 1 of row 1 is no terrain"},
        {"type octile\nheight 1\nwidth 2\nmap\n..\n..\n", "line 6: expected the end of the file"},
        {"type octile\nheight 1\nwidth 2\nmap\n@T\n", "without a free cell"},
    };
    read_check_complaints(nav_read_movingai, cases, sizeof cases / sizeof *cases);
}

static const char checkers[] = "type octile\r\nheight 6\r\nwidth 6\r\nmap\r\n"
                               ".@.@.@\r\n@S@W@.\r\n.@.@.@\r\n@.@.@.\r\n.@.@.@\r\n@.@.@.";

static void test_broken(void **state)
{
    (void)state;
    assert_int_equal(read_check_mangled(nav_read_movingai, checkers, strlen(checkers), 20000), 0);
    read_check_memory(nav_read_movingai, checkers, strlen(checkers));
}

/// Checkers have the most polygons for their size.
static void test_memory_of_a_large_one(void **state)
{
    (void)state;
    enum { SIDE = 400 };
    char *text = malloc(SIDE * (SIDE + 1) + 64);
    assert_non_null(text);
    char *p = text + sprintf(text, "type octile\nheight %d\nwidth %d\nmap\n", SIDE, SIDE);
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            *p++ = (x + y) % 2 ? '.' : '@';
        }
        *p++ = '\n';
    }
    *--p = '\0';
    assert_int_equal(read_check_mangled(nav_read_movingai, text, strlen(text), 2), 0);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_maps),
        cmocka_unit_test(test_corners_are_touched_and_not_cut),
        cmocka_unit_test(test_complaints),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_memory_of_a_large_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
