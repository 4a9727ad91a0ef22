/// Which faces a straight leg inside one cell crosses, in order. A cell is merged from faces that need
/// not be crossed in the order they are listed.
#include "scratch.h"
#include "surface.h"

#include <stdlib.h>

/// A face that the leg meets, from t0 to t1 of the leg's length.
typedef struct crossing {
    double t0, t1;
    uint32_t face;
} crossing;

/// Parts of the leg shorter than this are rounding.
static const double NOTHING = 1e-9;

/// Clips the leg by the face's edges (Cyrus and Beck, "Generalized two- and three-dimensional clipping",
/// Computers & Graphics 3, 1978).
static bool clip(const nav_mesh *m, uint32_t face, nav__p2 a, nav__p2 b, crossing *c)
{
    uint32_t first = m->faces[face].first_corner, end = m->faces[face + 1].first_corner;
    *c = (crossing){0, 1, face};
    nav__p2 u = nav__face_corner(m, end - 1);
    for (uint32_t k = first; k < end && c->t0 <= c->t1; k++) {
        nav__p2 v = nav__face_corner(m, k);
        nav__p2 uv = nav__sub(v, u);
        double sa = nav__cross(uv, nav__sub(a, u)), sb = nav__cross(uv, nav__sub(b, u));
        if (sa < 0 || sb < 0) {
            // Beside by rounding counts as within: a leg along a face's edge may end in a vertex of the cell
            // that another face put there, a hair off the edge's line. So nothing here need be exact.
            double hair = -m->rounding * sqrt(nav__dot(uv, uv));
            if (sa < hair && sb < hair) {
                return false;
            }
            if (sa < hair) {
                c->t0 = fmax(c->t0, fmin(sa / (sa - sb), 1));
            } else if (sb < hair) {
                c->t1 = fmin(c->t1, fmax(sa / (sa - sb), 0));
            }
        }
        u = v;
    }
    return c->t0 <= c->t1;
}

/// The faces of the cell that the leg meets, in no order; NULL when out of memory.
static crossing *collect(nav_query *query, const nav_mesh *m, uint32_t cell, nav__p2 a, nav__p2 b, uint32_t *count)
{
    uint32_t first = m->cells[cell].first_face, end = m->cells[cell + 1].first_face;
    crossing *list = nav__reserve(query, &query->faces, ((size_t)end - first + 1) * sizeof *list);
    *count = 0;
    if (!list) {
        return NULL;
    }
    nav__window around =
        nav__window_of(m, (nav__p2){fmin(a.x, b.x), fmin(a.z, b.z)}, (nav__p2){fmax(a.x, b.x), fmax(a.z, b.z)});
    for (uint32_t k = first; k < end; k++) {
        if (nav__meets_window(m, m->cell_faces[k], &around)) {
            *count += clip(m, m->cell_faces[k], a, b, &list[*count]);
        }
    }
    if (*count == 0) {
        // The leg runs in a crack between two faces, or has no length and lies in one.
        uint32_t face;
        nav__cell_height(m, cell, (nav__p2){a.x + (b.x - a.x) / 2, a.z + (b.z - a.z) / 2}, &face);
        list[(*count)++] = (crossing){0, 1, face};
    }
    return list;
}

static int by_beginning(const void *a, const void *b)
{
    const crossing *c = a, *d = b;
    return c->t0 != d->t0 ? (c->t0 < d->t0 ? -1 : 1) : 0;
}

/// Goes along the leg from crossing to crossing.
typedef struct course {
    const crossing *list;  ///< sorted by t0
    uint32_t count, next;  ///< those before `next` have begun
    const crossing *furthest;  ///< of those
} course;

static course begin_course(crossing *list, uint32_t count)
{
    if (count > 1) {
        qsort(list, count, sizeof *list, by_beginning);
    }
    return (course){.list = list, .count = count};
}

/// The crossing to follow one that ends at t, never less than before: of those that begin by then the one
/// that leads furthest, so that a face on the other side of an edge along the leg is not counted too; else
/// the next to begin. NULL: the leg is at its end.
static const crossing *next_crossing(course *c, double t)
{
    for (;;) {
        while (c->next < c->count && c->list[c->next].t0 <= t + NOTHING) {
            const crossing *begun = &c->list[c->next++];
            c->furthest = !c->furthest || begun->t1 > c->furthest->t1 ? begun : c->furthest;
        }
        if (c->furthest && c->furthest->t1 > t + NOTHING) {
            return c->furthest;
        }
        if (c->next == c->count) {
            return NULL;
        }
        t = c->list[c->next].t0;
    }
}

static bool push_polygon(nav_query *query, uint32_t polygon, uint32_t *count)
{
    uint32_t *polygons = nav__reserve(query, &query->polygons, ((size_t)*count + 1) * sizeof *polygons);
    if (!polygons) {
        return false;
    }
    if (*count == 0 || polygons[*count - 1] != polygon) {
        polygons[(*count)++] = polygon;
    }
    return true;
}

static bool push_point(nav_query *query, nav_vec point, uint32_t *count)
{
    nav_vec *points = nav__reserve(query, &query->points, ((size_t)*count + 1) * sizeof *points);
    if (!points) {
        return false;
    }
    points[(*count)++] = point;
    return true;
}

bool nav__corridor_add(nav_query *query, const nav_mesh *m, uint32_t cell, nav__p2 a, nav__p2 b, uint32_t *count)
{
    if (m->cells[cell + 1].first_face - m->cells[cell].first_face == 1) {
        return push_polygon(query, nav__face_polygon(m, m->cell_faces[m->cells[cell].first_face]), count);
    }
    uint32_t met;
    crossing *list = collect(query, m, cell, a, b, &met);
    if (!list) {
        return false;
    }
    course along = begin_course(list, met);
    const crossing *c = next_crossing(&along, 0);
    if (!c) {
        return push_polygon(query, nav__face_polygon(m, list[0].face), count);
    }
    for (; c; c = next_crossing(&along, c->t1)) {
        if (!push_polygon(query, nav__face_polygon(m, c->face), count)) {
            return false;
        }
    }
    return true;
}

bool nav__surface_points(nav_query *query, const nav_mesh *m, uint32_t cell, nav__p2 a, nav__p2 b, uint32_t *count)
{
    if (m->cells[cell + 1].first_face - m->cells[cell].first_face == 1) {
        return true;
    }
    uint32_t met;
    crossing *list = collect(query, m, cell, a, b, &met);
    if (!list) {
        return false;
    }
    course along = begin_course(list, met);
    const crossing *from = next_crossing(&along, 0), *to;
    for (; from && (to = next_crossing(&along, from->t1)) != NULL; from = to) {
        if (nav__face_polygon(m, from->face) == nav__face_polygon(m, to->face)) {
            continue;
        }
        double t = from->t1;
        nav__p2 at = {a.x + t * (b.x - a.x), a.z + t * (b.z - a.z)};
        nav_vec point = {m->origin.x + at.x, m->origin.y + nav__face_height(m, to->face, at), m->origin.z + at.z};
        if (!push_point(query, point, count)) {
            return false;
        }
    }
    return true;
}
