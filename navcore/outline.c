/// Rings round the union of polygons.
///
/// Faces run anticlockwise, so that a side between two faces of the union is run both ways and cancels out;
/// what is left are the rings. Sides that meet only in part (where the file has corners on other polygons'
/// edges, or tiles that do not share vertices) are found among faces whose cells are neighbours, and what
/// they have in common is cut out of both.
#include "reachable.h"
#include "surface.h"

#include <stdlib.h>
#include <string.h>

/// How far sides of different tiles may be apart, as for building (build_overlap.c), but no more than this
/// part of what they have in common.
static const double APART = 0.01, APART_OF_LENGTH = 0.05;

/// Of a face, or what is left of one.
typedef struct side {
    uint32_t from, to; ///< points; from NAV_NONE: the side is gone
    uint32_t face;
    uint32_t next; ///< another that starts at the same point; while sides are cut, the last of its cuts
} side;

/// A stretch that is no outline, as another side runs along it.
typedef struct cut {
    uint32_t side;
    uint32_t from, to; ///< points that stand at its ends
    double start, end; ///< 0 .. 1 along the side
    uint32_t before;   ///< another cut of the side
} cut;

typedef struct outline {
    nav_query *query;
    const nav_mesh *m;
    side *sides;
    uint32_t count, cap;
    uint32_t *first;   ///< by point: the first side that starts there
    uint32_t *place;   ///< by point: the point that stands for it, where several are one place
    uint32_t *on_path; ///< by point: where the path being followed came through, NAV_NONE
    cut *cuts;
    uint32_t cut_count, cut_cap;
    uint32_t *path; ///< sides
    nav_ring *rings;
    uint32_t ring_count, ring_cap;
    nav_vec *points;
    uint32_t point_count, point_cap;
} outline;

/// Makes room for one more entry in an array of the query's. @return false when out of memory
static bool room(outline *o, nav__buffer *buffer, void *array, uint32_t *cap, uint32_t count, size_t entry)
{
    if (count < *cap) {
        return true;
    }
    size_t want = (size_t)*cap * 2 + 64;
    void *data = want < NAV_NONE ? nav__reserve(o->query, buffer, want * entry) : NULL;
    if (!data) {
        return false;
    }
    memcpy(array, &data, sizeof data);
    *cap = (uint32_t)(buffer->bytes / entry < NAV_NONE ? buffer->bytes / entry : NAV_NONE - 1);
    return true;
}

static nav__p2 ground_of(const outline *o, uint32_t point)
{
    const float *p = o->m->points + 3 * (size_t)point;
    return (nav__p2){(double)p[0], (double)p[2]};
}

static uint32_t place_of(outline *o, uint32_t point)
{
    while (o->place[point] != point) {
        o->place[point] = o->place[o->place[point]];
        point = o->place[point];
    }
    return point;
}

// ---- whole sides -----------------------------------------------------------------------------------

/// Adds a side, or cancels it out with one that runs the other way.
static bool add_side(outline *o, uint32_t from, uint32_t to, uint32_t face)
{
    for (uint32_t *link = &o->first[to]; *link != NAV_NONE; link = &o->sides[*link].next) {
        side *other = &o->sides[*link];
        if (other->to == from) {
            *link = other->next;
            other->from = NAV_NONE;
            return true;
        }
    }
    if (!room(o, &o->query->sides, &o->sides, &o->cap, o->count, sizeof *o->sides)) {
        return false;
    }
    o->sides[o->count] = (side){from, to, face, o->first[from]};
    o->first[from] = o->count++;
    return true;
}

static bool add_face(outline *o, uint32_t face)
{
    const nav__face *f = &o->m->faces[face];
    const uint32_t *corners = o->m->face_corners + f->first_corner;
    uint32_t size = f[1].first_corner - f->first_corner;
    for (uint32_t k = 0; k < size; k++) {
        if (!add_side(o, corners[k], corners[k + 1 < size ? k + 1 : 0], face)) {
            return false;
        }
    }
    return true;
}

/// Takes out the sides that are gone; the rest stay sorted by face.
static void pack_sides(outline *o)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < o->count; i++) {
        if (o->sides[i].from != NAV_NONE) {
            o->sides[kept] = o->sides[i];
            o->sides[kept++].next = NAV_NONE;
        }
    }
    o->count = kept;
}

// ---- sides that meet in part -----------------------------------------------------------------------

static bool add_cut(outline *o, uint32_t of, uint32_t from, uint32_t to, double start, double end)
{
    if (!room(o, &o->query->cuts, &o->cuts, &o->cut_cap, o->cut_count, sizeof *o->cuts)) {
        return false;
    }
    o->cuts[o->cut_count] = (cut){of, from, to, start, end, o->sides[of].next};
    o->sides[of].next = o->cut_count++;
    return true;
}

/// Has nothing been cut out of that stretch of the side? Where three sides lie along each other, two pair up.
static bool is_whole(const outline *o, uint32_t of, double start, double end)
{
    double slack = APART_OF_LENGTH * (end - start);
    for (uint32_t c = o->sides[of].next; c != NAV_NONE; c = o->cuts[c].before) {
        if (start < o->cuts[c].end - slack && end > o->cuts[c].start + slack) {
            return false;
        }
    }
    return true;
}

static double off_line(nav__p2 a, nav__p2 along, double length, nav__p2 p)
{
    return fabs(nav__cross(along, nav__sub(p, a))) / length;
}

static bool is_known(const uint32_t *cells, uint32_t count, uint32_t cell)
{
    for (uint32_t i = 0; i < count; i++) {
        if (cells[i] == cell) {
            return true;
        }
    }
    return false;
}

/// Can one walk from one face to the other at a place on a side of both? Beside a ramp, say, floors lie
/// along it and are not joined to it.
static bool are_joined(const outline *o, uint32_t face, uint32_t other, nav__p2 at, double apart)
{
    const nav_mesh *m = o->m;
    uint32_t here[NAV__FACE_CELLS], there[NAV__FACE_CELLS];
    uint32_t here_count = nav__face_cells(m, face, here), there_count = nav__face_cells(m, other, there);
    for (uint32_t i = 0; i < here_count; i++) {
        if (is_known(there, there_count, here[i])) {
            return true;
        }
        for (uint32_t e = m->cells[here[i]].first_edge; e < m->cells[here[i] + 1].first_edge; e++) {
            uint32_t twin = m->edges[e].twin;
            if (twin == NAV_NONE || !is_known(there, there_count, nav__edge_cell(m, twin))) {
                continue;
            }
            nav__p2 a = nav__edge_from(m, e), along = nav__sub(nav__edge_from(m, nav__edge_next(m, e)), a);
            double t = nav__dot(nav__sub(at, a), along) / nav__dot(along, along);
            t = t > 0 ? t < 1 ? t : 1 : 0;
            if (nav__dist(at, (nav__p2){a.x + t * along.x, a.z + t * along.z}) <= apart) {
                return true;
            }
        }
    }
    return false;
}

/// Cuts out of two sides what they have in common. Side i runs from a to b, side k from c to d, the other
/// way, so that along i the stretch runs from a or d to b or c.
/// @return false when out of memory
static bool cut_pair(outline *o, uint32_t i, uint32_t k)
{
    uint32_t a = o->sides[i].from, b = o->sides[i].to, c = o->sides[k].from, d = o->sides[k].to;
    nav__p2 pa = ground_of(o, a), pb = ground_of(o, b), pc = ground_of(o, c), pd = ground_of(o, d);
    nav__p2 along = nav__sub(pb, pa);
    double square = nav__dot(along, along), length = sqrt(square);
    double tc = nav__dot(nav__sub(pc, pa), along) / square, td = nav__dot(nav__sub(pd, pa), along) / square;
    double start = fmax(td, 0), end = fmin(tc, 1), common = (end - start) * length;
    double apart = fmax(o->m->rounding, fmin(APART, APART_OF_LENGTH * common));
    if (!(common > apart) || off_line(pa, along, length, pc) > apart || off_line(pa, along, length, pd) > apart) {
        return true;
    }
    double on_k = (tc - end) / (tc - td), on_k_end = (tc - start) / (tc - td), middle = (start + end) / 2;
    if (!is_whole(o, i, start, end) || !is_whole(o, k, on_k, on_k_end)) {
        return true;
    }
    if (!are_joined(o, o->sides[i].face, o->sides[k].face, (nav__p2){pa.x + middle * along.x, pa.z + middle * along.z},
                    2 * apart)) {
        return true;
    }
    // Which of a and d comes first, and which of c and b; or they are one place.
    double from_a = td * length, to_b = (1 - tc) * length;
    bool same_start = fabs(from_a) <= apart, same_end = fabs(to_b) <= apart;
    if (same_start) {
        o->place[place_of(o, d)] = place_of(o, a);
    }
    if (same_end) {
        o->place[place_of(o, c)] = place_of(o, b);
    }
    bool d_inside = !same_start && from_a > 0, c_inside = !same_end && to_b > 0;
    bool a_inside = !same_start && from_a < 0, b_inside = !same_end && to_b < 0;
    return add_cut(o, i, d_inside ? d : a, c_inside ? c : b, start, end) &&
           add_cut(o, k, b_inside ? b : c, a_inside ? a : d, on_k, on_k_end);
}

/// Of the sides, which are sorted by face, the first of a face or of one after it.
static uint32_t first_of_face(const outline *o, uint32_t face)
{
    uint32_t low = 0, high = o->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (o->sides[middle].face < face) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/// Looks for sides along side i among the faces of one cell. Each pair is met from both sides; the lesser
/// number cuts.
static bool cut_by_cell(outline *o, uint32_t i, uint32_t cell, const nav__window *window)
{
    const nav_mesh *m = o->m;
    for (uint32_t k = m->cells[cell].first_face; k < m->cells[cell + 1].first_face; k++) {
        uint32_t face = m->cell_faces[k];
        if (face <= o->sides[i].face || !nav__meets_window(m, face, window)) {
            continue;
        }
        for (uint32_t other = first_of_face(o, face); other < o->count && o->sides[other].face == face; other++) {
            if (!cut_pair(o, i, other)) {
                return false;
            }
        }
    }
    return true;
}

enum { MOST_AROUND = 64 };

/// Looks for sides along side i among the faces of its cells and of those next to them.
static bool cut_side(outline *o, uint32_t i)
{
    const nav_mesh *m = o->m;
    nav__p2 a = ground_of(o, o->sides[i].from), b = ground_of(o, o->sides[i].to);
    nav__window window = nav__window_of(m, (nav__p2){fmin(a.x, b.x) - APART, fmin(a.z, b.z) - APART},
                                        (nav__p2){fmax(a.x, b.x) + APART, fmax(a.z, b.z) + APART});
    uint32_t around[NAV__FACE_CELLS + MOST_AROUND], own = nav__face_cells(m, o->sides[i].face, around), count = own;
    for (uint32_t k = 0; k < own; k++) {
        for (uint32_t e = m->cells[around[k]].first_edge; e < m->cells[around[k] + 1].first_edge; e++) {
            uint32_t twin = m->edges[e].twin;
            if (twin != NAV_NONE && count < sizeof around / sizeof *around &&
                !is_known(around, count, nav__edge_cell(m, twin))) {
                around[count++] = nav__edge_cell(m, twin);
            }
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        if (!cut_by_cell(o, i, around[k], &window)) {
            return false;
        }
    }
    return true;
}

static int by_side(const void *x, const void *y)
{
    const cut *a = x, *b = y;
    if (a->side != b->side) {
        return a->side < b->side ? -1 : 1;
    }
    return a->start < b->start ? -1 : a->start > b->start;
}

static bool add_rest(outline *o, uint32_t from, uint32_t to, uint32_t face)
{
    if (place_of(o, from) == place_of(o, to)) {
        return true;
    }
    if (!room(o, &o->query->sides, &o->sides, &o->cap, o->count, sizeof *o->sides)) {
        return false;
    }
    o->sides[o->count++] = (side){from, to, face, NAV_NONE};
    return true;
}

/// Replaces the sides that have cuts by what is left of them.
static bool apply_cuts(outline *o)
{
    if (o->cut_count > 0) {
        qsort(o->cuts, o->cut_count, sizeof *o->cuts, by_side);
    }
    for (uint32_t c = 0; c < o->cut_count;) {
        uint32_t i = o->cuts[c].side, from = o->sides[i].from, to = o->sides[i].to, face = o->sides[i].face;
        for (; c < o->cut_count && o->cuts[c].side == i; c++) {
            if (!add_rest(o, from, o->cuts[c].from, face)) {
                return false;
            }
            from = o->cuts[c].to;
        }
        if (!add_rest(o, from, to, face)) {
            return false;
        }
        o->sides[i].from = NAV_NONE;
    }
    return true;
}

// ---- rings -----------------------------------------------------------------------------------------

/// When turning clockwise from `back`: in which part of the circle is d met?
static int turn_part(nav__p2 back, nav__p2 d)
{
    double cross = nav__cross(back, d);
    if (cross != 0) {
        return cross < 0 ? 0 : 2;
    }
    return nav__dot(back, d) < 0 ? 1 : 3;
}

/// Takes the next side from where one ends: of several the first clockwise, so that what lies to the left
/// stays the same ground.
/// @return NAV_NONE when there is none
static uint32_t take_next(outline *o, uint32_t after)
{
    uint32_t at = o->sides[after].to, *best = NULL;
    nav__p2 p = ground_of(o, at), back = nav__sub(ground_of(o, o->sides[after].from), p), best_way = {0, 0};
    for (uint32_t *link = &o->first[at]; *link != NAV_NONE; link = &o->sides[*link].next) {
        nav__p2 way = nav__sub(ground_of(o, o->sides[*link].to), p);
        int part = turn_part(back, way), best_part = turn_part(back, best_way);
        if (!best || part < best_part || (part == best_part && nav__cross(way, best_way) < 0)) {
            best = link;
            best_way = way;
        }
    }
    if (!best) {
        return NAV_NONE;
    }
    uint32_t taken = *best;
    *best = o->sides[taken].next;
    return taken;
}

/// The sides of the path from number `begin` on are a ring.
static bool add_ring(outline *o, uint32_t begin, uint32_t end)
{
    const nav_mesh *m = o->m;
    if (end - begin < 3) {
        return true;
    }
    if (!room(o, &o->query->rings, &o->rings, &o->ring_cap, o->ring_count, sizeof *o->rings)) {
        return false;
    }
    o->rings[o->ring_count++] = (nav_ring){o->point_count, end - begin};
    for (uint32_t i = begin; i < end; i++) {
        if (!room(o, &o->query->points, &o->points, &o->point_cap, o->point_count, sizeof *o->points)) {
            return false;
        }
        const float *p = m->points + 3 * (size_t)o->sides[o->path[i]].from;
        o->points[o->point_count++] =
            (nav_vec){m->origin.x + (double)p[0], m->origin.y + (double)p[1], m->origin.z + (double)p[2]};
    }
    return true;
}

/// Follows sides from one until all that hang together with it are used up. Whenever the path comes to a
/// place where it has been, a ring is closed and taken off.
static bool follow(outline *o, uint32_t from)
{
    uint32_t length = 0;
    for (uint32_t i = from; i != NAV_NONE; i = take_next(o, i)) {
        o->on_path[o->sides[i].from] = length;
        o->path[length++] = i;
        uint32_t begin = o->on_path[o->sides[i].to];
        if (begin == NAV_NONE) {
            continue;
        }
        if (!add_ring(o, begin, length)) {
            return false;
        }
        while (length > begin) {
            o->on_path[o->sides[o->path[--length]].from] = NAV_NONE;
        }
    }
    while (length > 0) {
        o->on_path[o->sides[o->path[--length]].from] = NAV_NONE; // open ends: of nothing that can be walked
    }
    return true;
}

static bool trace(outline *o)
{
    for (uint32_t p = 0; p < o->m->vertex_points; p++) {
        o->first[p] = NAV_NONE;
    }
    for (uint32_t i = o->count; i-- > 0;) {
        side *s = &o->sides[i];
        s->from = place_of(o, s->from);
        s->to = place_of(o, s->to);
        s->next = o->first[s->from];
        o->first[s->from] = i;
    }
    o->path = nav__reserve(o->query, &o->query->cells, ((size_t)o->count + 1) * sizeof *o->path);
    if (!o->path) {
        return false;
    }
    for (uint32_t p = 0; p < o->m->vertex_points; p++) {
        while (o->first[p] != NAV_NONE) {
            uint32_t i = o->first[p];
            o->first[p] = o->sides[i].next;
            if (!follow(o, i)) {
                return false;
            }
        }
    }
    return true;
}

// ---- the whole -------------------------------------------------------------------------------------

static bool take_arrays(outline *o)
{
    nav_query *q = o->query;
    uint32_t n = o->m->vertex_points;
    o->first = nav__reserve(q, &q->at_points, 3 * (size_t)n * sizeof *o->first);
    if (!o->first) {
        return false;
    }
    o->place = o->first + n;
    o->on_path = o->place + n;
    memset(o->first, 0xFF, n * sizeof *o->first);
    memset(o->on_path, 0xFF, n * sizeof *o->on_path);
    for (uint32_t p = 0; p < n; p++) {
        o->place[p] = p;
    }
    o->sides = q->sides.data;
    o->cap = (uint32_t)(q->sides.bytes / sizeof *o->sides);
    o->cuts = q->cuts.data;
    o->cut_cap = (uint32_t)(q->cuts.bytes / sizeof *o->cuts);
    o->rings = q->rings.data;
    o->ring_cap = (uint32_t)(q->rings.bytes / sizeof *o->rings);
    o->points = q->points.data;
    o->point_cap = (uint32_t)(q->points.bytes / sizeof *o->points);
    return true;
}

static int by_face(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/// Sides come in the order of their faces.
static bool add_polygons(outline *o, const uint32_t *polygons, uint32_t count)
{
    uint32_t *faces = NULL, face_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        nav__polygon_walk walk;
        uint32_t face = nav__polygon_first(o->m, polygons[i], &walk);
        for (; face != NAV_NONE; face = nav__polygon_next(o->m, &walk)) {
            faces = nav__reserve(o->query, &o->query->faces, ((size_t)face_count + 1) * sizeof *faces);
            if (!faces) {
                return false;
            }
            faces[face_count++] = face;
        }
    }
    if (o->m->face_pieces && face_count > 0) {
        qsort(faces, face_count, sizeof *faces, by_face);
    }
    for (uint32_t i = 0; i < face_count; i++) {
        if (!add_face(o, faces[i])) {
            return false;
        }
    }
    return true;
}

bool nav__outline(nav_query *query, const nav_mesh *m, const uint32_t *polygons, uint32_t count, uint32_t *ring_count)
{
    outline o = {.query = query, .m = m};
    if (!take_arrays(&o)) {
        return false;
    }
    if (!add_polygons(&o, polygons, count)) {
        return false;
    }
    pack_sides(&o);
    for (uint32_t i = 0; i < o.count; i++) {
        if (!cut_side(&o, i)) {
            return false;
        }
    }
    if (!apply_cuts(&o)) {
        return false;
    }
    pack_sides(&o);
    *ring_count = 0;
    if (!trace(&o)) {
        return false;
    }
    *ring_count = o.ring_count;
    return true;
}
