/// What a ray in space hits.
///
/// The ray is cut to the mesh's bounds, then followed over the grid by columns (or rows, where it runs
/// more along z), each with the grid cells that the ray passes in it, until one begins beyond the nearest
/// hit. Triangles are tested as in Woop, Benthin, Wald, "Watertight Ray/Triangle Intersection", JCGT 2(1),
/// 2013: seen along the ray all triangles are moved by one and the same shear, which brings a shared corner
/// to the same place in each. Which side of an edge the ray passes is then the sign of a difference of two
/// products, which rounding can turn to zero but never around, and zero counts as inside.
#include "nav_surface.h"
#include "scratch.h"
#include "surface.h"

#include <string.h>

enum { REMEMBERED = 64 };

/// Of a sum of few terms, relative.
static const double ROUNDING = 1e-15;

/// A ray over one mesh; relative to the mesh's origin, and begun where it enters the bounds.
typedef struct ray {
    const nav_mesh *m;
    const nav_filter *filter;
    bool all_pass;
    double origin[3], direction[3]; ///< unit
    double length;                  ///< of the part inside the bounds
    int kx, ky, kz;                 ///< axes; kz is the one the ray runs along most
    double shear_x, shear_y, shear_z;
    uint32_t seen[REMEMBERED]; ///< faces tested, by their last bits: most are listed by several grid cells

    double best;   ///< distance from origin to the nearest hit, or to the end
    uint32_t face; ///< NAV_NONE: no hit
    const float *triangle[3];
} ray;

// ---- triangles -------------------------------------------------------------------------------------

static void set_shear(ray *r)
{
    const double *d = r->direction;
    r->kz = fabs(d[0]) > fabs(d[1]) ? (fabs(d[0]) > fabs(d[2]) ? 0 : 2) : (fabs(d[1]) > fabs(d[2]) ? 1 : 2);
    r->kx = (r->kz + 1) % 3;
    r->ky = (r->kx + 1) % 3;
    r->shear_x = d[r->kx] / d[r->kz];
    r->shear_y = d[r->ky] / d[r->kz];
    r->shear_z = 1 / d[r->kz];
}

/// A corner as the ray sees it: (x, y) across, z along in units of the ray.
static void sheared(const ray *r, const float *v, double out[3])
{
    double x = (double)v[r->kx] - r->origin[r->kx], y = (double)v[r->ky] - r->origin[r->ky];
    double z = (double)v[r->kz] - r->origin[r->kz];
    out[0] = x - r->shear_x * z;
    out[1] = y - r->shear_y * z;
    out[2] = r->shear_z * z;
}

static nav__p2 ground_at(const ray *r, double t)
{
    return (nav__p2){r->origin[0] + t * r->direction[0], r->origin[2] + t * r->direction[2]};
}

/// Pieces that edits left of a face have the triangles of the whole: only what lies under the piece counts.
static bool is_on_piece(const ray *r, uint32_t face, double t)
{
    double slack2 = r->m->rounding * r->m->rounding;
    nav__p2 at;
    return face < r->m->sorted_face_count || nav__face_closest(r->m, face, ground_at(r, t), slack2, &at) <= slack2;
}

static void try_triangle(ray *r, uint32_t face, const float *v0, const float *v1, const float *v2)
{
    double a[3], b[3], c[3];
    sheared(r, v0, a);
    sheared(r, v1, b);
    sheared(r, v2, c);
    double u = c[0] * b[1] - c[1] * b[0], v = a[0] * c[1] - a[1] * c[0], w = b[0] * a[1] - b[1] * a[0];
    if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) {
        return;
    }
    double all = u + v + w;
    if (all == 0) {
        return;
    }
    double t = (u * a[2] + v * b[2] + w * c[2]) / all;
    if (t >= 0 && (t < r->best || (t == r->best && r->face == NAV_NONE)) && is_on_piece(r, face, t)) {
        r->best = t;
        r->face = face;
        r->triangle[0] = v0;
        r->triangle[1] = v1;
        r->triangle[2] = v2;
    }
}

static const float *point(const nav_mesh *m, uint32_t number)
{
    return m->points + 3 * (size_t)number;
}

static void try_face(ray *r, uint32_t face)
{
    const nav_mesh *m = r->m;
    const nav__face *f = &m->faces[face];
    uint32_t first, end = nav__face_tris(m, face, &first);
    for (uint32_t t = first; t < end; t++) {
        const uint32_t *corner = m->tris + 3 * (size_t)t;
        try_triangle(r, face, point(m, corner[0]), point(m, corner[1]), point(m, corner[2]));
    }
    if (first == end) {
        const uint32_t *corner = m->face_corners + f->first_corner;
        uint32_t count = f[1].first_corner - f->first_corner;
        for (uint32_t k = 1; k + 1 < count; k++) {
            try_triangle(r, face, point(m, corner[0]), point(m, corner[k]), point(m, corner[k + 1]));
        }
    }
}

// ---- over the grid ---------------------------------------------------------------------------------

static void try_list(ray *r, nav__grid_cell list, const nav__window *window)
{
    const nav_mesh *m = r->m;
    for (uint32_t k = list.first; k < list.end; k++) {
        uint32_t face = m->grid_faces[k], *seen = &r->seen[face % REMEMBERED];
        if (*seen != face && nav__meets_window(m, face, window)) {
            *seen = face;
            if (r->all_pass || nav__passes(m, r->filter, m->faces[face].cell)) {
                try_face(r, face);
            }
        }
    }
}

/// Tests what the grid cells list that the ray passes between t0 and t1.
static void try_stretch(ray *r, double t0, double t1)
{
    const nav_mesh *m = r->m;
    double slack = 8 * m->rounding; // detail may reach over its polygon's edge by rounding
    nav__p2 from = ground_at(r, t0), to = ground_at(r, t1);
    nav__p2 low = {fmin(from.x, to.x) - slack, fmin(from.z, to.z) - slack};
    nav__p2 high = {fmax(from.x, to.x) + slack, fmax(from.z, to.z) + slack};
    nav__grid_span span;
    if (!nav__grid_cover(m, low, high, &span)) {
        return;
    }
    nav__window window = nav__window_of(m, low, high);
    for (uint32_t j = span.j0; j <= span.j1; j++) {
        size_t row = (size_t)j * m->grid_nx;
        for (uint32_t i = span.i0; i <= span.i1; i++) {
            try_list(r, m->grid_cells[row + i], &window);
        }
    }
}

/// Follows the ray column by column of the grid, or row by row where it crosses fewer columns than rows.
static void follow(ray *r)
{
    const nav_mesh *m = r->m;
    bool along_x = fabs(r->direction[0]) >= fabs(r->direction[2]);
    double slope = along_x ? r->direction[0] : r->direction[2], start = along_x ? r->origin[0] : r->origin[2];
    double least = along_x ? (double)m->grid_x : (double)m->grid_z, step = 1 / (double)m->grid_inverse;
    uint32_t count = along_x ? m->grid_nx : m->grid_nz;
    uint32_t column = nav__grid_index(start, (float)least, m->grid_inverse, count);
    uint32_t last = nav__grid_index(start + r->length * slope, (float)least, m->grid_inverse, count);
    double t0 = 0;
    while (column != last && t0 <= r->best) {
        double line = least + step * (double)(slope > 0 ? column + 1 : column);
        double t1 = fmin(fmax((line - start) / slope, t0), r->length);
        try_stretch(r, t0, t1);
        t0 = t1;
        column = slope > 0 ? column + 1 : column - 1;
    }
    if (t0 <= r->best) {
        try_stretch(r, t0, r->length);
    }
}

/// Cuts the ray to the mesh's bounds, and to max_distance.
/// @param skipped  distance from the given origin to where the ray begins now
/// @return false when it misses the bounds
static bool cut_to_bounds(ray *r, double max_distance, double *skipped)
{
    const nav_mesh *m = r->m;
    double slack = 8 * m->rounding, t0 = 0, t1 = max_distance;
    for (int k = 0; k < 3; k++) {
        double low = (double)m->min[k] - slack - r->origin[k], high = (double)m->max[k] + slack - r->origin[k];
        double d = r->direction[k];
        if (d == 0) {
            if (low > 0 || high < 0) {
                return false;
            }
            continue;
        }
        double a = (d > 0 ? low : high) / d, b = (d > 0 ? high : low) / d;
        t0 = fmax(t0, a);
        t1 = fmin(t1, b);
    }
    if (!(t0 <= t1) || t0 == INFINITY) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        r->origin[k] += t0 * r->direction[k];
    }
    *skipped = t0;
    r->length = t1 - t0;
    // A hit at max_distance is one, whatever rounding makes of the difference.
    r->best = r->length + ROUNDING * t1;
    return true;
}

// ---- the whole -------------------------------------------------------------------------------------

static bool is_finite(nav_vec p)
{
    return isfinite(p.x) && isfinite(p.y) && isfinite(p.z);
}

/// @return false when there is no direction
static bool set_direction(ray *r, nav_vec v)
{
    double most = fmax(fmax(fabs(v.x), fabs(v.y)), fabs(v.z));
    if (!(most > 0)) {
        return false;
    }
    // In two steps, for lengths whose squares leave the range of a double.
    double x = v.x / most, y = v.y / most, z = v.z / most, length = sqrt(x * x + y * y + z * z);
    r->direction[0] = x / length;
    r->direction[1] = y / length;
    r->direction[2] = z / length;
    return true;
}

/// Unit normal of the triangle hit, on the side from which its corners run as the surface's do.
static nav_vec upper_normal(const ray *r)
{
    double e[2][3];
    for (int k = 0; k < 3; k++) {
        e[0][k] = (double)r->triangle[1][k] - (double)r->triangle[0][k];
        e[1][k] = (double)r->triangle[2][k] - (double)r->triangle[0][k];
    }
    nav_vec n = {e[0][2] * e[1][1] - e[0][1] * e[1][2], e[0][0] * e[1][2] - e[0][2] * e[1][0],
                 e[0][1] * e[1][0] - e[0][0] * e[1][1]};
    double length = sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
    return length > 0 ? (nav_vec){n.x / length, n.y / length, n.z / length} : (nav_vec){0, 1, 0};
}

nav_status nav_query_pick(nav_query *query, const nav_mesh *mesh, nav_vec origin, nav_vec direction,
                          double max_distance, const nav_filter *filter, nav_pick *pick)
{
    (void)query;
    *pick = (nav_pick){.polygon = NAV_NONE};
    ray r = {.m = mesh,
             .filter = filter,
             .all_pass = nav__passes_all(mesh, filter),
             .origin = {origin.x - mesh->origin.x, origin.y - mesh->origin.y, origin.z - mesh->origin.z},
             .face = NAV_NONE};
    if (!is_finite(origin) || !is_finite(direction) || !(max_distance >= 0) || !set_direction(&r, direction)) {
        return NAV_BAD_ARGUMENT;
    }
    double skipped;
    if (!cut_to_bounds(&r, max_distance, &skipped)) {
        return NAV_OK;
    }
    set_shear(&r);
    memset(r.seen, 0xFF, sizeof r.seen);
    follow(&r);
    if (r.face == NAV_NONE) {
        return NAV_OK;
    }
    const double *d = r.direction;
    pick->hit = true;
    pick->distance = fmin(skipped + r.best, max_distance);
    pick->point = (nav_vec){mesh->origin.x + r.origin[0] + r.best * d[0], mesh->origin.y + r.origin[1] + r.best * d[1],
                            mesh->origin.z + r.origin[2] + r.best * d[2]};
    pick->normal = upper_normal(&r);
    pick->back = d[0] * pick->normal.x + d[1] * pick->normal.y + d[2] * pick->normal.z > 0;
    pick->polygon = nav__face_polygon(mesh, r.face);
    return NAV_OK;
}
