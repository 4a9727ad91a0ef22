/// What Godot's text and binary resources have in common.
#include "read_godot.h"

#include <math.h>
#include <string.h>

#define MOST_OUTLINES 256u ///< that are looked through for holes

static bool is(const char *text, size_t length, const char *wanted)
{
    return strlen(wanted) == length && memcmp(text, wanted, length) == 0;
}

bool nav__godot_is_wanted(const char *type, size_t length)
{
    return is(type, length, "NavigationMesh") || is(type, length, "NavigationPolygon");
}

nav_status nav__godot_begin(nav__godot *g, const char *type, size_t length)
{
    nav_soup *s = g->soup;
    int dimensions = is(type, length, "NavigationPolygon") ? 2 : 3;
    if (g->resources > 0 && s->dimensions != dimensions) {
        return nav_fail(g->error, NAV_BAD_FORMAT, 0, NAV_NO_BYTE,
                        "the file has navigation meshes of two and of three dimensions");
    }
    if (g->resources == 0) { // what a file leaves out has Godot's default
        s->agent = (nav_agent){.radius = dimensions == 2 ? 10 : 0.5, .height = 1.5, .climb = 0.25, .slope = 45};
        s->has_agent = true;
        s->dimensions = dimensions;
    }
    s->part = g->resources++;
    g->first_vertex = s->vertex_count;
    g->first_polygon = s->poly_count;
    g->outline_points = 0;
    g->outline_ends.count = 0;
    return NAV_OK;
}

nav_status nav__godot_vertex(nav__godot *g, double x, double y, double z)
{
    return g->soup->dimensions == 2 ? nav_soup_add_vertex(g->soup, x, 0, y) : nav_soup_add_vertex(g->soup, x, y, z);
}

nav_status nav__godot_polygon(nav__godot *g)
{
    if (g->polygon.count < 3) {
        return nav_fail(g->error, NAV_BAD_FORMAT, 0, NAV_NO_BYTE, "polygon %u has %u corners",
                        g->soup->poly_count - g->first_polygon, g->polygon.count);
    }
    for (uint32_t k = 0; k < g->polygon.count; k++) {
        if (g->polygon.data[k] >= UINT32_MAX - g->first_vertex) {
            return NAV_TOO_LARGE;
        }
        g->polygon.data[k] += g->first_vertex;
    }
    return nav_soup_add_polygon(g->soup, g->polygon.data, g->polygon.count, 0, 0, NULL);
}

nav_status nav__godot_outline_point(nav__godot *g, double x, double y)
{
    const nav_alloc *alloc = &g->soup->alloc;
    if (g->outline_points == g->outline_cap) {
        uint32_t cap = g->outline_cap ? 2 * g->outline_cap : 64;
        double *grown = alloc->resize(alloc->ctx, g->outlines, (size_t)cap * 2 * sizeof *grown);
        if (!grown) {
            return NAV_NO_MEMORY;
        }
        g->outlines = grown;
        g->outline_cap = cap;
    }
    double *p = &g->outlines[2 * (size_t)g->outline_points++];
    p[0] = x;
    p[1] = y;
    return NAV_OK;
}

nav_status nav__godot_end_outline(nav__godot *g)
{
    return nav__list_push(&g->outline_ends, &g->soup->alloc, g->outline_points) ? NAV_OK : NAV_NO_MEMORY;
}

void nav__godot_number(nav__godot *g, const char *name, size_t length, double value)
{
    nav_agent *a = &g->soup->agent;
    const struct {
        const char *name, *old; ///< in Godot 4, and in 3
        double *to, max;
    } members[] = {{"agent_radius", "agent/radius", &a->radius, HUGE_VAL},
                   {"agent_height", "agent/height", &a->height, HUGE_VAL},
                   {"agent_max_climb", "agent/max_climb", &a->climb, HUGE_VAL},
                   {"agent_max_slope", "agent/max_slope", &a->slope, 90}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if ((is(name, length, members[i].name) || is(name, length, members[i].old)) && isfinite(value) && value >= 0 &&
            value <= members[i].max) {
            *members[i].to = value;
        }
    }
}

// Outlines.

static uint32_t outline_begin(const nav__godot *g, uint32_t outline)
{
    return outline > 0 ? g->outline_ends.data[outline - 1] : 0;
}

/// Is the point inside the outline? By crossings of a ray to the right.
static bool holds(const nav__godot *g, uint32_t outline, const double *p)
{
    uint32_t first = outline_begin(g, outline), end = g->outline_ends.data[outline];
    bool inside = false;
    for (uint32_t k = first; k < end; k++) {
        const double *a = &g->outlines[2 * (size_t)k], *b = &g->outlines[2 * (size_t)(k + 1 < end ? k + 1 : first)];
        if ((a[1] > p[1]) != (b[1] > p[1]) && p[0] < a[0] + (p[1] - a[1]) * (b[0] - a[0]) / (b[1] - a[1])) {
            inside = !inside;
        }
    }
    return inside;
}

static nav_status check_outlines(const nav__godot *g)
{
    uint32_t count = g->outline_ends.count;
    if (count > MOST_OUTLINES) {
        return nav_fail(g->error, NAV_TOO_LARGE, 0, NAV_NO_BYTE,
                        "no polygons, and more than %u outlines: bake the polygons in Godot", MOST_OUTLINES);
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < count; j++) {
            if (i != j && g->outline_ends.data[i] > outline_begin(g, i) &&
                holds(g, j, &g->outlines[2 * (size_t)outline_begin(g, i)])) {
                return nav_fail(g->error, NAV_BAD_FORMAT, 0, NAV_NO_BYTE,
                                "no polygons, and outline %u lies in outline %u: bake the polygons in Godot", i, j);
            }
        }
    }
    return NAV_OK;
}

/// Outlines that do not lie in each other are polygons themselves; building cuts them.
static nav_status use_outlines(nav__godot *g)
{
    nav_status status = check_outlines(g);
    for (uint32_t i = 0; status == NAV_OK && i < g->outline_ends.count; i++) {
        uint32_t first = outline_begin(g, i), end = g->outline_ends.data[i];
        g->polygon.count = 0;
        for (uint32_t k = first; status == NAV_OK && k < end; k++) {
            uint32_t corner = g->soup->vertex_count - g->first_vertex;
            status = nav__list_push(&g->polygon, &g->soup->alloc, corner)
                         ? nav__godot_vertex(g, g->outlines[2 * (size_t)k], g->outlines[2 * (size_t)k + 1], 0)
                         : NAV_NO_MEMORY;
        }
        if (status == NAV_OK) {
            status = nav__godot_polygon(g);
        }
    }
    return status;
}

nav_status nav__godot_end(nav__godot *g)
{
    const nav_soup *s = g->soup;
    if (s->poly_count == g->first_polygon) {
        return use_outlines(g);
    }
    for (uint32_t p = g->first_polygon; p < s->poly_count; p++) {
        for (uint32_t k = s->poly_first[p]; k < s->poly_first[p + 1]; k++) {
            if (s->corners[k] >= s->vertex_count) {
                return nav_fail(g->error, NAV_BAD_FORMAT, 0, NAV_NO_BYTE,
                                "polygon %u has a corner at vertex %u, but there are %u", p - g->first_polygon,
                                s->corners[k] - g->first_vertex, s->vertex_count - g->first_vertex);
            }
        }
    }
    return NAV_OK;
}

void nav__godot_deinit(nav__godot *g)
{
    const nav_alloc *alloc = &g->soup->alloc;
    nav__list_free(&g->polygon, alloc);
    nav__list_free(&g->outline_ends, alloc);
    if (g->outlines) {
        alloc->resize(alloc->ctx, g->outlines, 0);
        g->outlines = NULL;
    }
}
