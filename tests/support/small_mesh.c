#include "small_mesh.h"

#include <stdio.h>
#include <stdlib.h>

static void *counted_resize(void *ctx, void *p, size_t bytes)
{
    test_alloc *a = ctx;
    if (bytes == 0) {
        free(p);
        return NULL;
    }
    a->calls++;
    return a->refuse_from && a->calls >= a->refuse_from ? NULL : realloc(p, bytes);
}

void test_alloc_init(test_alloc *a)
{
    *a = (test_alloc){.alloc = {counted_resize, a}};
}

static void need(bool done, const char *what)
{
    if (!done) {
        fprintf(stderr, "small mesh: %s\n", what);
        abort();
    }
}

void small_mesh_start(small_mesh *s)
{
    nav_soup_init(&s->soup, NULL);
    s->nav = NULL;
    s->query = nav_query_create(NULL);
    need(s->query, "no memory");
}

uint32_t small_mesh_vertex(small_mesh *s, double x, double y, double z)
{
    need(nav_soup_add_vertex(&s->soup, x, y, z) == NAV_OK, "vertex");
    return s->soup.vertex_count - 1;
}

void small_mesh_polygon(small_mesh *s, uint32_t count, const uint32_t *corners)
{
    need(nav_soup_add_polygon(&s->soup, corners, count, 0, 1, NULL) == NAV_OK, "polygon");
}

void small_mesh_ramp(small_mesh *s, double x0, double x1, double z0, double z1, double y0, double y1)
{
    uint32_t corners[4] = {small_mesh_vertex(s, x0, y0, z0), small_mesh_vertex(s, x0, y0, z1),
                           small_mesh_vertex(s, x1, y1, z1), small_mesh_vertex(s, x1, y1, z0)};
    small_mesh_polygon(s, 4, corners);
}

void small_mesh_quad(small_mesh *s, double x0, double x1, double z0, double z1, double y)
{
    small_mesh_ramp(s, x0, x1, z0, z1, y, y);
}

void small_mesh_build(small_mesh *s)
{
    nav_error error = {.message = "out of memory"};
    need(nav_mesh_build(&s->soup, NULL, NULL, &s->nav, NULL, &error) == NAV_OK, error.message);
}

void small_mesh_finish(small_mesh *s)
{
    nav_query_destroy(s->query);
    nav_mesh_destroy(s->nav);
    nav_soup_deinit(&s->soup);
}
