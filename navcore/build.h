/// Private: the working state that the steps of nav_mesh_build hand on, and the steps.
///
///   build.c          the pipeline
///   build_memory.c   working memory, freed as one; sorting
///   build_input.c    is the soup sound? origin, tolerance
///   build_weld.c     vertices to points
///   build_rings.c    polygons to clean rings of points, all wound one way
///   build_clip.c, build_cut.c   a ring to triangles, and to exactly convex pieces
///   build_faces.c    rings to convex faces, detail triangles; one cell a face
///   build_join.c     whole edges to portals
///   build_overlap.c, build_seam.c, build_recut.c   edges that overlap in part to portals
///   build_merge.c    cells to larger cells
///   build_grid.c     the grid over the faces
///   build_cover.c    faces that cover each other at one height
///   build_links.c    off-mesh links and the cells they touch
///   build_graph.c    islands, dead-end trees, the order in memory
///   build_pack.c     everything into the mesh's one block
///   build_rides.c    links' ends on the finished surface
///   build_report.c   what was found, for people
///
/// The working surface is made of half-edges in rings, one ring a cell. Positions are 32-bit floats
/// relative to the origin from the first step on, so that what is tested exactly is what is stored.
#ifndef NAV_BUILD_H
#define NAV_BUILD_H

#include "geom.h"
#include "layout.h"

#include <string.h>

/// A half-edge of the working surface, from its spot to the spot of the next one.
typedef struct nav__half {
    uint32_t spot; ///< point number; NAV_NONE: the half-edge is gone
    uint32_t next, prev;
    uint32_t twin;
    uint32_t cell;
    uint32_t kind; ///< of the soup's edge: NAV_EDGE_ANY, _SEAM, _WALL or a polygon's number
} nav__half;

/// A face of the finished mesh; the arrays' ends are the next one's firsts.
typedef struct nav__work_face {
    uint32_t first_corner, first_tri;
    uint32_t cell;
    uint32_t polygon;
} nav__work_face;

typedef struct nav__work_cell {
    uint32_t half;       ///< any of its ring; NAV_NONE: the cell is gone
    uint32_t size;       ///< half-edges in the ring
    uint32_t first_item; ///< list of faces, nav__build.items
    uint32_t last_item;
    uint32_t flags;
    uint32_t island;
    uint32_t tree_first, tree_last; ///< as in nav__cell
    uint8_t area;
    bool link_end;
} nav__work_cell;

/// An entry of a cell's list of faces.
typedef struct nav__item {
    uint32_t face, next;
} nav__item;

/// A cleaned polygon: points ring_points[first .. the next one's first - 1].
typedef struct nav__ring {
    uint32_t first;
    uint32_t polygon;
} nav__ring;

/// A grid under construction becomes the mesh's.
typedef struct nav__work_grid {
    float x, z, step, inverse;
    uint32_t nx, nz;
    uint32_t *first, *faces;
} nav__work_grid;

struct nav__block;

typedef struct nav__build {
    const nav_soup *soup;
    nav_build_options options;
    nav_alloc alloc;
    nav_report *report; ///< never NULL
    nav_error *error;   ///< may be NULL
    struct nav__block *blocks;

    double largest; ///< absolute coordinate
    double weld;    ///< tolerance
    double rounding;
    nav_vec origin;
    nav_agent agent;

    float *points;        ///< [x, y, z] * point_count
    uint32_t point_count; ///< welded polygon vertices first, then detail vertices
    uint32_t vertex_points;
    uint32_t *point_of; ///< [soup->vertex_count], NAV_NONE: no polygon uses it

    nav__ring *rings; ///< [ring_count + 1]
    uint32_t ring_count, vertical_count, mixed_count;
    uint32_t *ring_points, *ring_kinds;

    nav__work_face *faces; ///< [face_count + 1], sorted by polygon
    uint32_t face_count, corner_count;
    uint32_t *face_corners;
    uint32_t *tris; ///< [3] * tri_count
    uint32_t tri_count;
    bool *kept;             ///< [soup->poly_count] has a face
    uint32_t uncut_count;   ///< polygons that could not be cut into convex pieces
    uint32_t uncut_polygon; ///< the first of them
    const char *uncut_why;  ///< and what it did
    uint64_t cut_budget;    ///< tests left for cutting rings: hostile ones must not stop the build

    float *spots; ///< [x, z] * vertex_points: where cells have their corners; moved by seams only
    nav__half *halves;
    uint32_t half_count, half_cap;
    nav__work_cell *cells;
    uint32_t cell_count, cell_cap;
    nav__item *items;
    uint32_t item_count, item_cap;

    nav__work_grid grid;
    nav_link *links;
    uint32_t link_count;

    uint32_t *cell_order; ///< [live_cells] in the order of the finished mesh
    uint32_t live_cells;
    uint32_t island_count;
    double *island_area;
} nav__build;

/// Working memory for `count` things of `size` bytes, not cleared; freed with the build at the latest.
/// @return NULL when out of memory or when the product overflows
void *nav__build_take(nav__build *b, size_t count, size_t size);
/// The same, larger or smaller, keeping what is in it. On failure NULL and `p` stays.
void *nav__build_retake(nav__build *b, void *p, size_t count, size_t size);
/// Frees one piece early; NULL is fine.
void nav__build_give(nav__build *b, void *p);
/// Frees all of it.
void nav__build_release(nav__build *b);

/// Makes room for one more entry of `size` bytes in a growing array.
/// @return false when out of memory or past `UINT32_MAX / 2` entries
bool nav__build_room(nav__build *b, void *array, uint32_t *cap, uint32_t count, size_t size);

/// Sorts keys upwards by radix, stable; `scratch` has the same size.
void nav__sort_u64(uint64_t *keys, uint64_t *scratch, size_t count);

nav_status nav__build_input(nav__build *b);
nav_status nav__build_weld(nav__build *b);
nav_status nav__build_rings(nav__build *b);
nav_status nav__build_faces(nav__build *b);
nav_status nav__build_join(nav__build *b);
nav_status nav__build_seams(nav__build *b);
nav_status nav__build_merge(nav__build *b);
nav_status nav__build_grid(nav__build *b);
nav_status nav__build_cover(nav__build *b);
nav_status nav__build_links(nav__build *b);
nav_status nav__build_graph(nav__build *b);
nav_status nav__build_pack(nav__build *b, nav_mesh **out);
/// On the finished mesh: the links' ends on its surface.
void nav__build_rides(nav__build *b, nav_mesh *mesh);
/// Notes a link that the mesh cannot use.
void nav__build_drop_link(nav__build *b, const nav_link *link, const char *reason);
nav_status nav__build_report(nav__build *b);

/// Adds a warning to the report, while there is room.
void nav__build_warn(nav__build *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// May these two half-edges be joined, as far as the file says?
bool nav__build_may_join(const nav__build *b, uint32_t g, uint32_t h);

/// How a ring was cut: pieces of ring indices, all exactly convex and of positive area. Arrays are
/// working memory that is used again by the next call.
typedef struct nav__pieces {
    uint32_t piece_count, corner_count;
    uint32_t *first;  ///< [piece_count + 1]
    uint32_t *corner; ///< [corner_count] index in the ring
    uint32_t *mate;   ///< [corner_count] corner whose edge is the other side of this cut, NAV_NONE: an edge of the ring
    uint32_t cap;     ///< ring corners that fit
    void *work;
    size_t work_bytes;
} nav__pieces;

typedef enum nav__cut_result { NAV__CUT_DONE, NAV__CUT_IMPOSSIBLE, NAV__CUT_NO_MEMORY } nav__cut_result;

/// Cuts a ring of positive signed area into convex pieces: ears first, then cuts are taken out again
/// while both pieces stay one convex piece (Hertel, Mehlhorn, "Fast Triangulation of the Plane with
/// Respect to Simple Polygons", 1985).
/// @param at      positions [n], neighbours differ
/// @param lenient also take ears with other corners inside when there is no better one, as rings that
///                cross themselves need
/// @return NAV__CUT_IMPOSSIBLE: no triangulation by positive triangles was found
nav__cut_result nav__ring_cut(nav__build *b, const nav__p2 *at, uint32_t n, bool lenient, nav__pieces *pieces);

/// Is the closed ring exactly convex, of positive area and wound once round?
bool nav__ring_is_convex(const nav__p2 *at, uint32_t n);

static inline nav__p2 nav__build_point(const nav__build *b, uint32_t point)
{
    const float *p = &b->points[3 * (size_t)point];
    return (nav__p2){(double)p[0], (double)p[2]};
}

/// Where the half-edge begins.
static inline nav__p2 nav__build_spot(const nav__build *b, uint32_t half)
{
    const float *p = &b->spots[2 * (size_t)b->halves[half].spot];
    return (nav__p2){(double)p[0], (double)p[1]};
}

static inline float nav__build_height(const nav__build *b, uint32_t point)
{
    return b->points[3 * (size_t)point + 1];
}

/// Absolute.
static inline nav_vec nav__build_position(const nav__build *b, uint32_t point)
{
    const float *p = &b->points[3 * (size_t)point];
    return (nav_vec){b->origin.x + (double)p[0], b->origin.y + (double)p[1], b->origin.z + (double)p[2]};
}

static inline nav_status nav__build_no_memory(nav__build *b)
{
    return nav_fail(b->error, NAV_NO_MEMORY, 0, NAV_NO_BYTE, "out of memory while building the mesh");
}

#endif
