/// Rings to convex faces with their detail triangles, and to the first working surface: one cell a face,
/// half-edge k of the surface beginning at corner k of the faces.
#include "build.h"

/// Ring positions of one polygon, grown as needed.
typedef struct outline {
    nav__p2 *at;
    uint32_t cap;
} outline;

static bool load_outline(nav__build *b, outline *o, uint32_t first, uint32_t n)
{
    if (n > o->cap) {
        nav__p2 *at = nav__build_retake(b, o->at, n, sizeof *at);
        if (!at) {
            return false;
        }
        o->at = at;
        o->cap = n;
    }
    for (uint32_t i = 0; i < n; i++) {
        o->at[i] = nav__build_point(b, b->ring_points[first + i]);
    }
    return true;
}

static uint32_t ring_size(const nav__build *b, uint32_t ring)
{
    return b->rings[ring + 1].first - b->rings[ring].first;
}

/// Which rings are convex, and how many faces and corners there will be at most.
static bool survey(nav__build *b, outline *o, bool *convex, uint64_t *faces, uint64_t *corners)
{
    *faces = *corners = 0;
    for (uint32_t r = 0; r < b->ring_count; r++) {
        uint32_t n = ring_size(b, r);
        if (!load_outline(b, o, b->rings[r].first, n)) {
            return false;
        }
        convex[r] = nav__ring_is_convex(o->at, n);
        *faces += convex[r] ? 1 : n - 2;
        *corners += convex[r] ? n : 3 * (uint64_t)(n - 2);
    }
    return true;
}

static bool take_surface(nav__build *b, uint64_t faces, uint64_t corners)
{
    b->faces = nav__build_take(b, faces + 1, sizeof *b->faces);
    b->cells = nav__build_take(b, faces, sizeof *b->cells);
    b->items = nav__build_take(b, faces, sizeof *b->items);
    b->face_corners = nav__build_take(b, corners, sizeof *b->face_corners);
    b->halves = nav__build_take(b, corners, sizeof *b->halves);
    b->cell_cap = b->item_cap = (uint32_t)faces;
    b->half_cap = (uint32_t)corners;
    return b->faces && b->cells && b->items && b->face_corners && b->halves;
}

/// A new face with its cell; corners follow by add_corner.
static void begin_face(nav__build *b, uint32_t polygon, uint32_t size)
{
    const nav_soup *s = b->soup;
    uint32_t f = b->face_count++;
    b->faces[f] = (nav__work_face){.first_corner = b->corner_count, .first_tri = 0, .cell = f, .polygon = polygon};
    b->items[f] = (nav__item){f, NAV_NONE};
    b->cells[f] = (nav__work_cell){.half = b->corner_count,
                                   .size = size,
                                   .first_item = f,
                                   .last_item = f,
                                   .flags = s->has_flags ? s->flags[polygon] : 0,
                                   .area = s->has_areas ? s->areas[polygon] : 0};
}

static void add_corner(nav__build *b, uint32_t ring_corner, uint32_t index, uint32_t size, uint32_t twin)
{
    uint32_t h = b->corner_count++;
    b->face_corners[h] = b->ring_points[ring_corner];
    b->halves[h] = (nav__half){.spot = b->ring_points[ring_corner],
                               .next = index + 1 < size ? h + 1 : h + 1 - size,
                               .prev = index > 0 ? h - 1 : h + size - 1,
                               .twin = twin,
                               .cell = b->face_count - 1,
                               .kind = twin == NAV_NONE ? b->ring_kinds[ring_corner] : NAV_EDGE_ANY};
}

static void add_convex(nav__build *b, uint32_t ring)
{
    uint32_t n = ring_size(b, ring);
    begin_face(b, b->rings[ring].polygon, n);
    for (uint32_t k = 0; k < n; k++) {
        add_corner(b, b->rings[ring].first + k, k, n, NAV_NONE);
    }
}

/// The pieces of a polygon that is not convex, joined to each other along their cuts.
static nav_status add_pieces(nav__build *b, uint32_t ring, outline *o, nav__pieces *pieces)
{
    uint32_t first = b->rings[ring].first, n = ring_size(b, ring), base = b->corner_count;
    if (!load_outline(b, o, first, n)) {
        return nav__build_no_memory(b);
    }
    switch (nav__ring_cut(b, o->at, n, true, pieces)) {
    case NAV__CUT_NO_MEMORY:
        return nav__build_no_memory(b);
    case NAV__CUT_IMPOSSIBLE:
        b->report->degenerate_polygons++;
        if (b->uncut_count++ == 0) {
            b->uncut_polygon = b->rings[ring].polygon;
            b->uncut_why = b->cut_budget > 0 ? "crosses itself" : "has too many corners in each other's way";
        }
        return NAV_OK;
    case NAV__CUT_DONE:
        break;
    }
    b->report->split_polygons++;
    for (uint32_t p = 0; p < pieces->piece_count; p++) {
        uint32_t from = pieces->first[p], size = pieces->first[p + 1] - from;
        begin_face(b, b->rings[ring].polygon, size);
        for (uint32_t k = 0; k < size; k++) {
            uint32_t mate = pieces->mate[from + k];
            add_corner(b, first + pieces->corner[from + k], k, size, mate == NAV_NONE ? NAV_NONE : base + mate);
        }
    }
    return NAV_OK;
}

/// Detail vertices are numbered behind the points.
static uint32_t detail_point(const nav__build *b, uint32_t vertex)
{
    const nav_soup *s = b->soup;
    return vertex < s->vertex_count ? b->point_of[vertex] : b->vertex_points + (vertex - s->vertex_count);
}

static void add_tri(nav__build *b, const uint32_t *vertices)
{
    uint32_t t[3];
    for (int i = 0; i < 3; i++) {
        t[i] = detail_point(b, vertices[i]);
        if (t[i] == NAV_NONE) { // a vertex no polygon uses
            return;
        }
    }
    double turn = nav__orient(nav__build_point(b, t[0]), nav__build_point(b, t[1]), nav__build_point(b, t[2]));
    if (turn != 0) { // one without ground area gives no heights
        uint32_t *out = &b->tris[3 * (size_t)b->tri_count++];
        out[0] = t[0];
        out[1] = turn > 0 ? t[1] : t[2];
        out[2] = turn > 0 ? t[2] : t[1];
    }
}

/// Each face gets its polygon's triangles; pieces of one polygon get a copy each.
static nav_status add_detail(nav__build *b)
{
    const nav_soup *s = b->soup;
    uint64_t count = 0;
    for (uint32_t f = 0; s->detail_first && f < b->face_count; f++) {
        count += s->detail_first[b->faces[f].polygon + 1] - s->detail_first[b->faces[f].polygon];
    }
    if (count > UINT32_MAX / 4) {
        return nav_fail(b->error, NAV_TOO_LARGE, 0, NAV_NO_BYTE, "too many detail triangles");
    }
    b->tris = nav__build_take(b, count, 3 * sizeof *b->tris);
    if (!b->tris) {
        return nav__build_no_memory(b);
    }
    for (uint32_t f = 0; f < b->face_count; f++) {
        b->faces[f].first_tri = b->tri_count;
        if (s->detail_first) {
            uint32_t p = b->faces[f].polygon;
            for (uint32_t t = s->detail_first[p]; t < s->detail_first[p + 1]; t++) {
                add_tri(b, &s->detail_tris[3 * (size_t)t]);
            }
        }
    }
    b->faces[b->face_count] = (nav__work_face){
        .first_corner = b->corner_count, .first_tri = b->tri_count, .cell = NAV_NONE, .polygon = NAV_NONE};
    return NAV_OK;
}

static bool place_spots(nav__build *b)
{
    b->spots = nav__build_take(b, b->vertex_points, 2 * sizeof *b->spots);
    for (uint32_t p = 0; b->spots && p < b->vertex_points; p++) {
        b->spots[2 * (size_t)p] = b->points[3 * (size_t)p];
        b->spots[2 * (size_t)p + 1] = b->points[3 * (size_t)p + 2];
    }
    return b->spots;
}

static nav_status fail_without_faces(nav__build *b)
{
    if (b->uncut_count > 0) {
        return nav_fail(b->error, NAV_BAD_MESH, 0, NAV_NO_BYTE,
                        "polygon %u %s and cannot be cut into convex pieces; no other has ground area",
                        b->uncut_polygon, b->uncut_why);
    }
    return nav_fail(b->error, NAV_BAD_MESH, 0, NAV_NO_BYTE, "no polygon has ground area");
}

nav_status nav__build_faces(nav__build *b)
{
    outline o = {NULL, 0};
    nav__pieces pieces = {0};
    uint64_t faces, corners;
    bool *convex = nav__build_take(b, b->ring_count, sizeof *convex);
    if (!convex || !survey(b, &o, convex, &faces, &corners)) {
        return nav__build_no_memory(b);
    }
    if (corners > UINT32_MAX / 4) {
        return nav_fail(b->error, NAV_TOO_LARGE, 0, NAV_NO_BYTE, "too many corners once polygons are cut");
    }
    if (!take_surface(b, faces, corners)) {
        return nav__build_no_memory(b);
    }
    for (uint32_t r = 0; r < b->ring_count; r++) {
        if (convex[r]) {
            add_convex(b, r);
        } else {
            nav_status status = add_pieces(b, r, &o, &pieces);
            if (status != NAV_OK) {
                return status;
            }
        }
    }
    b->half_count = b->corner_count;
    b->cell_count = b->item_count = b->face_count;
    nav__build_give(b, convex);
    nav__build_give(b, b->rings);
    nav__build_give(b, b->ring_points);
    nav__build_give(b, b->ring_kinds);
    if (b->face_count == 0) {
        return fail_without_faces(b);
    }
    if (b->uncut_count > 0) {
        nav__build_warn(b, "polygon %u %s and was dropped; polygons that could not be cut: %u", b->uncut_polygon,
                        b->uncut_why, b->uncut_count);
    }
    return place_spots(b) ? add_detail(b) : nav__build_no_memory(b);
}
