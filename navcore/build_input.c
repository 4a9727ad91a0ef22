/// Is the soup sound, and in which numbers shall it be built? Every number of the soup that later steps
/// use as an index is checked here once.
#include "build.h"

#include <float.h>

#define LARGEST_COORDINATE 1e9
#define MOST_CORNERS 0x20000000u ///< leaves room for cuts: half-edge numbers stay far below 2^31

static nav_status bad(nav__build *b, const char *what, uint32_t polygon, uint32_t number)
{
    return nav_fail(b->error, NAV_BAD_MESH, 0, NAV_NO_BYTE, what, polygon, number);
}

static nav_status check_positions(nav__build *b, const double *positions, uint32_t count, const char *what)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            double c = positions[3 * (size_t)i + k];
            if (!(fabs(c) <= LARGEST_COORDINATE)) {
                return nav_fail(b->error, NAV_BAD_MESH, 0, NAV_NO_BYTE, "%s %u: coordinate %g is %s", what, i, c,
                                isfinite(c) ? "beyond 1e9" : "not a finite number");
            }
        }
    }
    return NAV_OK;
}

static nav_status check_polygons(nav__build *b)
{
    const nav_soup *s = b->soup;
    if (s->poly_count == 0 || s->corner_count == 0) {
        return nav_fail(b->error, NAV_BAD_MESH, 0, NAV_NO_BYTE, "the mesh has no polygons");
    }
    if (s->corner_count > MOST_CORNERS || s->poly_count > MOST_CORNERS || s->vertex_count > MOST_CORNERS ||
        s->detail_vertex_count > MOST_CORNERS || s->detail_tri_count > MOST_CORNERS) {
        return nav_fail(b->error, NAV_TOO_LARGE, 0, NAV_NO_BYTE, "more than %u corners or vertices", MOST_CORNERS);
    }
    for (uint32_t p = 0; p < s->poly_count; p++) {
        if (s->poly_first[p] > s->poly_first[p + 1] || s->poly_first[p + 1] > s->corner_count) {
            return bad(b, "polygon %u: its corners lie outside the list of %u", p, s->corner_count);
        }
        for (uint32_t k = s->poly_first[p]; k < s->poly_first[p + 1]; k++) {
            if (s->corners[k] >= s->vertex_count) {
                return bad(b, "polygon %u: there is no vertex %u", p, s->corners[k]);
            }
        }
    }
    return NAV_OK;
}

static nav_status check_detail(nav__build *b)
{
    const nav_soup *s = b->soup;
    if (!s->detail_first) {
        return NAV_OK;
    }
    for (uint32_t p = 0; p < s->poly_count; p++) {
        if (s->detail_first[p] > s->detail_first[p + 1] || s->detail_first[p + 1] > s->detail_tri_count) {
            return bad(b, "polygon %u: its detail triangles lie outside the list of %u", p, s->detail_tri_count);
        }
        for (uint32_t k = s->detail_first[p]; k < s->detail_first[p + 1]; k++) {
            for (uint32_t i = 0; i < 3; i++) {
                uint32_t v = s->detail_tris[3 * (size_t)k + i];
                if (v >= s->vertex_count && v - s->vertex_count >= s->detail_vertex_count) {
                    return bad(b, "polygon %u: there is no detail vertex %u", p, v - s->vertex_count);
                }
            }
        }
    }
    return NAV_OK;
}

static nav_status check_links(nav__build *b)
{
    for (uint32_t i = 0; i < b->soup->link_count; i++) {
        const nav_link *l = &b->soup->links[i];
        const double ends[6] = {l->start.x, l->start.y, l->start.z, l->end.x, l->end.y, l->end.z};
        nav_status status = check_positions(b, ends, 2, "an end of a link");
        if (status != NAV_OK) {
            return status;
        }
        if (!isfinite(l->radius) || l->radius < 0 || !isfinite(l->cost)) {
            return bad(b, "link %u: its radius or cost is no number >= 0", i, 0);
        }
    }
    return NAV_OK;
}

/// The step between 32-bit floats of this size.
static double float_step(double size)
{
    return size < (double)FLT_MIN ? (double)FLT_MIN : ldexp(1, ilogb(size) - (FLT_MANT_DIG - 1));
}

/// Zero wherever 32-bit floats hold the coordinates as well there as anywhere: files of floats then keep
/// each bit, and 0.1 stays the float that prints as 0.1. Else, far from zero, the middle of the bounds,
/// rounded to a power of two so that coordinate minus origin is exact.
static double axis_origin(double min, double max, bool exact)
{
    double far = fmax(fabs(min), fabs(max)), extent = max - min;
    if (exact || far <= 8 * extent) {
        return 0;
    }
    double grain = extent > 0 ? ldexp(1, ilogb(extent) + 1) : float_step(far);
    double origin = nearbyint((min / 2 + max / 2) / grain) * grain;
    return (double)(float)origin;
}

static void choose_numbers(nav__build *b)
{
    const nav_soup *s = b->soup;
    double min[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, max[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
    bool exact = true;
    for (uint32_t k = 0; k < s->corner_count; k++) {
        const double *v = &s->vertices[3 * (size_t)s->corners[k]];
        for (int i = 0; i < 3; i++) {
            min[i] = fmin(min[i], v[i]);
            max[i] = fmax(max[i], v[i]);
            exact = exact && (double)(float)v[i] == v[i];
        }
    }
    double origin[3];
    b->largest = 0;
    for (int i = 0; i < 3; i++) {
        b->largest = fmax(b->largest, fmax(fabs(min[i]), fabs(max[i])));
        origin[i] = axis_origin(min[i], max[i], exact);
    }
    b->origin = (nav_vec){origin[0], origin[1], origin[2]};
    b->rounding = 4 * float_step(b->largest);
    b->weld = b->options.weld >= 0 ? fmin(b->options.weld, LARGEST_COORDINATE) : fmax(1e-4, b->rounding);
}

nav_status nav__build_input(nav__build *b)
{
    const nav_soup *s = b->soup;
    nav_status status = check_polygons(b);
    if (status == NAV_OK) {
        status = check_positions(b, s->vertices, s->vertex_count, "vertex");
    }
    if (status == NAV_OK) {
        status = check_positions(b, s->detail_vertices, s->detail_vertex_count, "detail vertex");
    }
    if (status == NAV_OK) {
        status = check_detail(b);
    }
    if (status == NAV_OK) {
        status = check_links(b);
    }
    if (status != NAV_OK) {
        return status;
    }
    b->agent = s->has_agent ? s->agent : nav_agent_default();
    choose_numbers(b);
    return NAV_OK;
}
