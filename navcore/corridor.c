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

/// A leg from a to b = a + d.
typedef struct leg {
    nav__p2 a, d;
} leg;

/// Clips the leg by the face's edges (Cyrus and Beck, "Generalized two- and three-dimensional clipping",
/// Computers & Graphics 3, 1978). With corners u, v seen from a, a lies u x v off the edge from u to v and b
/// (v - u) x d more, each times the edge's length, so that most is worked out once for each corner.
static bool clip(const nav_mesh *m, uint32_t face, const leg *l, crossing *c)
{
    uint32_t first = m->faces[face].first_corner, end = m->faces[face + 1].first_corner;
    double t0 = 0, t1 = 1, rounding2 = m->rounding * m->rounding;
    nav__p2 u = nav__sub(nav__face_corner(m, end - 1), l->a);
    double ud = nav__cross(u, l->d);
    for (uint32_t k = first; k < end; k++) {
        nav__p2 v = nav__sub(nav__face_corner(m, k), l->a);
        double vd = nav__cross(v, l->d);
        double sa = nav__cross(u, v), sb = sa + (vd - ud);
        if (sa < 0 || sb < 0) {
            // Beside by rounding counts as within: a leg along a face's edge may end in a vertex of the cell
            // that another face put there, a hair off the edge's line. So nothing here need be exact.
            nav__p2 uv = nav__sub(v, u);
            double hair2 = rounding2 * nav__dot(uv, uv);
            bool a_out = sa < 0 && sa * sa > hair2, b_out = sb < 0 && sb * sb > hair2;
            if (a_out) {
                if (b_out) {
                    return false;
                }
                double t = sa / (sa - sb);
                t = t < 1 ? t : 1;
                t0 = t > t0 ? t : t0;
            } else if (b_out) {
                double t = sa / (sa - sb);
                t = t > 0 ? t : 0;
                t1 = t < t1 ? t : t1;
            }
            if (t0 > t1) {
                return false;
            }
        }
        u = v;
        ud = vd;
    }
    *c = (crossing){t0, t1, face};
    return true;
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
    leg whole = {a, nav__sub(b, a)};
    for (uint32_t k = first; k < end; k++) {
        if (nav__meets_window(m, m->cell_faces[k], &around)) {
            *count += clip(m, m->cell_faces[k], &whole, &list[*count]);
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

/// Does c begin before d?
static inline bool begins_before(const crossing *c, const crossing *d)
{
    return c->t0 != d->t0 ? c->t0 < d->t0 : c->face < d->face;
}

static int by_beginning(const void *a, const void *b)
{
    return begins_before(a, b) ? -1 : begins_before(b, a) ? 1 : 0;
}

/// Faces are mostly listed in the order in which they lie, so that a leg meets them nearly in that order or its
/// reverse: then moving each to its place is quicker than a sort for any order.
static void sort(crossing *list, uint32_t count)
{
    if (count > 1 && begins_before(&list[count - 1], &list[0])) {
        for (uint32_t i = 0, k = count - 1; i < k; i++, k--) {
            crossing c = list[i];
            list[i] = list[k];
            list[k] = c;
        }
    }
    size_t moves = 8 * (size_t)count;
    for (uint32_t i = 1; i < count; i++) {
        crossing c = list[i];
        uint32_t k = i;
        for (; k > 0 && begins_before(&c, &list[k - 1]) && moves > 0; k--, moves--) {
            list[k] = list[k - 1];
        }
        list[k] = c;
        if (moves == 0) {
            qsort(list, count, sizeof *list, by_beginning);
            return;
        }
    }
}

/// Goes along the leg from crossing to crossing.
typedef struct course {
    const crossing *list;     ///< sorted by t0
    uint32_t count, next;     ///< those before `next` have begun
    const crossing *furthest; ///< of those
} course;

static course begin_course(crossing *list, uint32_t count)
{
    sort(list, count);
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
    nav_vec *points = nav__reserve(query, &query->points, ((size_t)*count + met) * sizeof *points);
    if (!points) {
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
        points[(*count)++] =
            (nav_vec){m->origin.x + at.x, m->origin.y + nav__face_height(m, to->face, at), m->origin.z + at.z};
    }
    return true;
}
