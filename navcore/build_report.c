/// What building found, for people: islands by size, and what looks like a wrong frame.
#include "build.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void nav__build_warn(nav__build *b, const char *format, ...)
{
    nav_report *r = b->report;
    if (r->warning_count < NAV_REPORT_WARNINGS) {
        va_list args;
        va_start(args, format);
        vsnprintf(r->warnings[r->warning_count++], sizeof r->warnings[0], format, args);
        va_end(args);
    }
}

/// Largest area first, then the lower number.
typedef struct island {
    double area;
    uint32_t id;
} island;

static int by_area_falling(const void *a, const void *b)
{
    const island *p = a, *q = b;
    return p->area != q->area ? (p->area < q->area ? 1 : -1) : (p->id > q->id) - (p->id < q->id);
}

static nav_status list_islands(nav__build *b)
{
    nav_report *r = b->report;
    island *list = nav__build_take(b, b->island_count, sizeof *list);
    uint32_t *polygons = nav__build_take(b, b->island_count, sizeof *polygons);
    if (!list || !polygons) {
        return nav__build_no_memory(b);
    }
    for (uint32_t i = 0; i < b->island_count; i++) {
        list[i] = (island){b->island_area[i], i};
        polygons[i] = 0;
    }
    for (uint32_t f = 0; f < b->face_count; f++) {
        uint32_t at = b->cells[b->faces[f].cell].island;
        bool counted = f > 0 && b->faces[f - 1].polygon == b->faces[f].polygon; // its pieces hang together
        polygons[at] += !counted;
    }
    qsort(list, b->island_count, sizeof *list, by_area_falling);
    r->island_count = b->island_count;
    for (uint32_t i = 0; i < b->island_count && i < NAV_REPORT_CAP; i++) {
        r->islands[i].id = list[i].id;
        r->islands[i].polygons = polygons[list[i].id];
        r->islands[i].area = list[i].area;
    }
    return NAV_OK;
}

/// Bounds of the surface that is left: [0] least, [1] greatest.
static void measure(const nav__build *b, float bounds[2][3])
{
    for (int i = 0; i < 3; i++) {
        bounds[0][i] = INFINITY;
        bounds[1][i] = -INFINITY;
    }
    for (uint32_t k = 0; k < b->corner_count; k++) {
        for (int i = 0; i < 3; i++) {
            float c = b->points[3 * (size_t)b->face_corners[k] + (size_t)i];
            bounds[0][i] = fminf(bounds[0][i], c);
            bounds[1][i] = fmaxf(bounds[1][i], c);
        }
    }
}

static void warn_of_frame(nav__build *b)
{
    float bounds[2][3];
    measure(b, bounds);
    double x = (double)bounds[1][0] - (double)bounds[0][0], y = (double)bounds[1][1] - (double)bounds[0][1];
    double z = (double)bounds[1][2] - (double)bounds[0][2];
    if (b->vertical_count > b->face_count) {
        nav__build_warn(b, "%u of %u polygons stand upright (normals horizontal): is the up axis another one?",
                        b->vertical_count, b->soup->poly_count);
    }
    if (fmin(x, z) < 1e-3 * fmax(x, z) && y > 0.1 * fmax(x, z)) {
        nav__build_warn(b, "the mesh is as good as flat in %s but %g high: is the up axis another one?",
                        x < z ? "x" : "z", y);
    }
    if (b->report->mixed_winding) {
        nav__build_warn(b, "mixed winding: %u polygons are wound against the others", b->report->flipped_polygons);
    }
    if (b->soup->corner_count > 0 && b->largest >= 1e7) {
        nav__build_warn(b, "coordinates up to %g: 32-bit answers are exact to %g only", b->largest, b->rounding / 4);
    }
}

nav_status nav__build_report(nav__build *b)
{
    warn_of_frame(b);
    return list_islands(b);
}
