/// Private: how a mesh lies in memory. Only navcore's own files include this.
///
/// Two layers over one surface:
///
///   faces   the file's polygons (non-convex ones cut into convex pieces), with their true heights.
///           Point location, heights and polygon numbers come from them. No adjacency.
///   cells   convex regions of the ground plane merged from faces of one area and one set of flags,
///           with half-edges between them. Search and raycast walk them and never look at heights.
///
/// Every cell lists the faces it lies on. A face names the one cell that holds it, or most of it: where a
/// seam bent an edge the cell was cut, and its faces are listed by every piece. Both are wound so that
/// their signed area in (x, z) is positive: the interior is on the left of each half-edge when x runs
/// right and z up.
///
///        prev(e)  \   cell   /            twin(prev(e)) starts at v in the next cell anticlockwise
///                  \  of e  /  e
///                   \      /
///                    v ----
///
/// Vertices of cells are one per fan: where obstacles touch in one point (a pinch), and where floors
/// share a position, each free sector has its own vertex, so that walking round a vertex by twins
/// never jumps through a wall. All positions are 32-bit floats relative to `origin`.
#ifndef NAV_LAYOUT_H
#define NAV_LAYOUT_H

#include "nav_mesh.h"

#define NAV__CORNER 0x80000000u   ///< in nav__edge.vertex: the free angle exceeds 180 degrees, so paths may bend here
#define NAV__DEAD_END 0x40000000u ///< likewise: nav__hangs_on(the edge's cell, the cell behind the edge)
#define NAV__VERTEX 0x3FFFFFFFu

/// A half-edge: from its vertex to the vertex of the next half-edge of its cell (the last one's next
/// is the cell's first).
typedef struct nav__edge {
    float x, z;      ///< of its vertex
    uint32_t vertex; ///< number | NAV__CORNER | NAV__DEAD_END
    uint32_t twin;   ///< the half-edge on the other side, NAV_NONE at a wall
} nav__edge;

/// Exactly convex (collinear corners are allowed).
typedef struct nav__cell {
    uint32_t first_edge; ///< cell c has edges first_edge .. cells[c + 1].first_edge - 1, anticlockwise
    uint32_t first_face; ///< likewise in cell_faces
    uint32_t island;     ///< NAV_NONE: the cell is gone, nothing leads to it and its faces are gone too
    /// Blocks are parts of the cell graph that hold together whichever one cell is closed; they hang on each
    /// other by single cells, as a tree. tree_first is the number of the block by which the cell hangs on the
    /// rest; those that hang on that block follow up to tree_last. A cell that edits touched keeps its
    /// tree_first, but its tree_last is 0, and its edges lead to no dead end: there may be another way round.
    uint32_t tree_first, tree_last;
    uint32_t flags;
    uint8_t area;
    uint8_t link_end;       ///< a link begins or ends here: in no dead end
    uint8_t shares_face;    ///< some face of its is listed by another cell too
    uint8_t level;          ///< all points of its faces, detail included, have one height
    uint16_t low_y, high_y; ///< of its faces' heights, detail included, by nav__height_index
} nav__cell;

typedef struct nav__face {
    uint32_t first_corner; ///< face f has corners face_corners[first_corner .. faces[f + 1].first_corner - 1]
    uint32_t cell;         ///< NAV_NONE: the place is free
    uint16_t low_x, low_z, high_x, high_z; ///< of its corners, by nav__bound_index
} nav__face;

/// One direction of an off-mesh link, both ends on the surface.
typedef struct nav__ride {
    uint32_t link;
    uint32_t from_cell, to_cell;
    float from[3], to[3]; ///< relative to the origin
    bool backwards;       ///< from the link's end to its start
} nav__ride;

/// What a cell of the grid lists: grid_faces[first .. end - 1].
typedef struct nav__grid_cell {
    uint32_t first, end;
} nav__grid_cell;

struct nav_mesh {
    nav_alloc alloc;
    void *block; ///< one allocation that all arrays below lie in
    size_t block_bytes;
    bool borrowed; ///< the block is the caller's, to be given back by `release` (may be NULL); never written
    void (*release)(void *ctx);
    void *release_ctx;

    nav_vec origin;
    float min[3], max[3]; ///< bounds, relative, detail included
    double rounding;      ///< how far a 32-bit absolute coordinate of this mesh may be from what was meant
    nav_agent agent;
    bool has_flags, has_areas;
    bool has_flagless; ///< with has_flags: some cell has no flag at all, so that no filter passes it
    uint32_t flags_used;
    uint64_t areas_used[4];

    uint32_t polygon_count, face_count, corner_count, point_count, vertex_points, tri_count;
    uint32_t cell_count, edge_count, vertex_count, island_count, link_count;
    uint32_t cell_face_count; ///< at least face_count: a face whose cell was cut is listed by each piece

    const nav__face *faces;       ///< [face_count + 1]
    const uint32_t *face_corners; ///< [corner_count] points
    const float *points;       ///< [x, y, z] * point_count; the first vertex_points are polygon vertices, then detail
    const uint32_t *tris;      ///< [3] * tri_count: detail triangles, wound as the faces
    const uint32_t *face_tris; ///< [face_count + 1] first triangle of each face, see nav__face_tris; NULL: no detail
    const uint32_t *face_polygon; ///< [face_count] polygon of the file, rising (but see sorted_face_count); NULL:
                                  ///< face k is all of polygon k

    const nav__cell *cells;     ///< [cell_count + 1]
    const uint32_t *cell_faces; ///< [cell_face_count]
    const nav__edge *edges;     ///< [edge_count]
    const uint32_t *edge_block; ///< least cell of each NAV__EDGE_BLOCK half-edges, see nav__edge_cell
    const uint8_t *edge_offset; ///< [edge_count] and how far from it the half-edge's own cell is
    const float *vertex_y;      ///< [vertex_count] on the surface; NULL: all at height min[1]
    const uint32_t
        *vertex_edge; ///< [vertex_count] a half-edge that starts here; of an open fan the most clockwise (a wall).
                      ///< A vertex that nothing has any more leads to a half-edge of another

    const double *island_area; ///< [island_count] ground area
    const nav_link *links;     ///< [link_count]
    const nav__ride *rides;    ///< [ride_count], sorted by from_cell
    uint32_t ride_count;

    /// Uniform grid over the ground plane: cell (i, j), number j * grid_nx + i with i along x, lists the
    /// faces that touch it: of those whose least to greatest nav__grid_index on both axes span it, the ones
    /// that do not surely pass it by.
    float grid_x, grid_z, grid_step, grid_inverse;
    float bound_inverse; ///< 65,536ths of the longer side of the ground bounds: the unit of faces' bounds
    uint32_t grid_nx, grid_nz;
    const nav__grid_cell *grid_cells; ///< [grid_nx * grid_nz]
    const uint32_t *grid_faces;       ///< [grid_face_count]
    uint32_t grid_face_count;

    /// Of meshes with edits (edit.c); all zero in a mesh as it was built.
    bool loose_islands;         ///< cells of one island need not hang together any more
    uint32_t sorted_face_count; ///< faces below are sorted by polygon, further ones are pieces of theirs
    const uint32_t
        *face_pieces; ///< [face_count] the next in the list of pieces that begins at a sorted face; NULL: none
    void *revision;   ///< who owns the block, NULL: the mesh
};

/// Column (or row) of the grid that holds coordinate v; coordinates beside the grid belong to its border.
/// Whoever fills the grid and whoever reads it must use this one function: it never falls as v grows, so a
/// coordinate between two others is found between their columns, whatever the rounding.
static inline uint32_t nav__grid_index(double v, float least, float inverse, uint32_t count)
{
    double k = (v - (double)least) * (double)inverse;
    return k >= (double)count ? count - 1 : k > 0 ? (uint32_t)k : 0;
}

/// Coordinate v in the unit of faces' bounds; `least` is grid_x or grid_z. Like the grid's columns, bounds and
/// what is compared with them must come from this one function.
static inline uint16_t nav__bound_index(const nav_mesh *m, double v, float least)
{
    return (uint16_t)nav__grid_index(v, least, m->bound_inverse, 65536);
}

/// Height y in the same unit, from the mesh's lowest.
static inline uint16_t nav__height_index(const nav_mesh *m, double y)
{
    return nav__bound_index(m, y, m->min[1]);
}

/// Height of a cell that is level; else of one of its corners.
static inline float nav__cell_level(const nav_mesh *m, uint32_t cell)
{
    const nav__face *face = &m->faces[m->cell_faces[m->cells[cell].first_face]];
    return m->points[3 * (size_t)m->face_corners[face->first_corner] + 1];
}

/// Cells have three edges at least: a block has edges of fewer than 256 cells that follow each other.
#define NAV__EDGE_BLOCK 256u

/// The cell of a half-edge.
static inline uint32_t nav__edge_cell(const nav_mesh *m, uint32_t e)
{
    return m->edge_block[e / NAV__EDGE_BLOCK] + m->edge_offset[e];
}

/// Of two neighbours: is `to` in a block that hangs on `from`? Whoever goes there leaves again by `from` alone.
static inline bool nav__hangs_on(const nav_mesh *m, uint32_t from, uint32_t to)
{
    const nav__cell *stem = &m->cells[from], *cell = &m->cells[to];
    return cell->tree_first > stem->tree_first && cell->tree_last > 0 && stem->tree_last > 0;
}

/// Does a cell lie in the block by which another hangs on the rest, or in one that hangs on that block?
static inline bool nav__is_behind(const nav_mesh *m, uint32_t cell, uint32_t other)
{
    const nav__cell *c = &m->cells[cell];
    return m->cells[other].tree_first >= c->tree_first && m->cells[other].tree_first <= c->tree_last;
}

/// The detail triangles of a face, by number. @return where they end; none: the face is the fan round its corner 0
static inline uint32_t nav__face_tris(const nav_mesh *m, uint32_t face, uint32_t *first)
{
    *first = m->face_tris ? m->face_tris[face] : 0;
    return m->face_tris ? m->face_tris[face + 1] : 0;
}

/// The file's polygon that a face is, or is a piece of.
static inline uint32_t nav__face_polygon(const nav_mesh *m, uint32_t face)
{
    return m->face_polygon ? m->face_polygon[face] : face;
}

static inline float nav__vertex_y(const nav_mesh *m, uint32_t vertex)
{
    return m->vertex_y ? m->vertex_y[vertex] : m->min[1];
}

/// Has an edit taken the cell away (or is its place free)?
static inline bool nav__cell_is_gone(const nav_mesh *m, uint32_t cell)
{
    return m->cells[cell].island == NAV_NONE;
}

static inline bool nav__face_is_gone(const nav_mesh *m, uint32_t face)
{
    return m->faces[face].cell == NAV_NONE || nav__cell_is_gone(m, m->faces[face].cell);
}

static inline uint32_t nav__edge_next(const nav_mesh *m, uint32_t e)
{
    uint32_t c = nav__edge_cell(m, e);
    return e + 1 == m->cells[c + 1].first_edge ? m->cells[c].first_edge : e + 1;
}

static inline uint32_t nav__edge_prev(const nav_mesh *m, uint32_t e)
{
    uint32_t c = nav__edge_cell(m, e);
    return e == m->cells[c].first_edge ? m->cells[c + 1].first_edge - 1 : e - 1;
}

/// The first of the sorted faces whose polygon is not below `polygon`.
static inline uint32_t nav__sorted_face(const nav_mesh *m, uint32_t polygon)
{
    uint32_t low = 0, high = m->sorted_face_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (nav__face_polygon(m, middle) < polygon) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/// Goes through the faces of one polygon, pieces in place of those that an edit has taken away.
typedef struct nav__polygon_walk {
    uint32_t polygon, sorted, piece;
} nav__polygon_walk;

static inline uint32_t nav__polygon_next(const nav_mesh *m, nav__polygon_walk *w)
{
    for (;;) {
        if (w->piece != NAV_NONE) {
            uint32_t face = w->piece;
            w->piece = m->face_pieces[face];
            if (!nav__cell_is_gone(m, m->faces[face].cell)) {
                return face;
            }
            continue;
        }
        if (w->sorted == m->sorted_face_count || nav__face_polygon(m, w->sorted) != w->polygon) {
            return NAV_NONE;
        }
        uint32_t face = w->sorted++;
        if (!m->face_pieces || !nav__cell_is_gone(m, m->faces[face].cell)) {
            return face;
        }
        w->piece = m->face_pieces[face];
    }
}

/// @return the first of them, NAV_NONE: none
static inline uint32_t nav__polygon_first(const nav_mesh *m, uint32_t polygon, nav__polygon_walk *w)
{
    *w = (nav__polygon_walk){polygon, nav__sorted_face(m, polygon), NAV_NONE};
    return nav__polygon_next(m, w);
}

/// Rides that begin in a cell. @return how many, `first` set when any
static inline uint32_t nav__rides_from(const nav_mesh *m, uint32_t cell, const nav__ride **first)
{
    uint32_t low = 0, high = m->ride_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (m->rides[mid].from_cell < cell) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    uint32_t end = low;
    while (end < m->ride_count && m->rides[end].from_cell == cell) {
        end++;
    }
    *first = m->rides + low;
    return end - low;
}

#endif
