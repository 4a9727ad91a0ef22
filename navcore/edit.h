/// Private: the editor between its files.
///
///   edit.c          edits in and revisions out; what there is of obstacles, regions and links
///   edit_shape.c    shapes to convex parts, grown
///   edit_touch.c    which cells a part touches, and the lines it draws across them
///   edit_plan.c     which cells a revision must make anew, and what becomes of them
///   edit_commit.c   writes it: cells, edges between old and new, vertices
///   edit_faces.c    the surface of new cells, the grid
///   edit_links.c    off-mesh links on the changed surface
///   edit_block.c    where things lie in a revision's block, and what was written when
///   edit_store.c    blocks that share pages
///   carve*.c        plane geometry
///
/// A cell of the base that something touches is taken away and made anew from the base's own geometry and all
/// bodies that touch it: so their order does not matter, and when the last one leaves, the base's cell is back bit
/// for bit. Two cells meet at an edge of the base, their rim. Corners on it are the same for both: each side
/// says which it needs, and a neighbour that would get others than it has is made anew too.
#ifndef NAV_EDIT_PRIVATE_H
#define NAV_EDIT_PRIVATE_H

#include "carve.h"
#include "edit_store.h"
#include "layout.h"
#include "nav_edit.h"

/// A growing list of numbers.
typedef struct nav__numbers {
    uint32_t *data, count, cap;
} nav__numbers;

/// A convex outline, relative to the origin, anticlockwise, 32-bit floats.
typedef struct nav__part {
    nav__p2 *at;
    uint32_t count;
    nav__p2 low, high;
} nav__part;

/// An obstacle or region where it stands.
typedef struct nav__body {
    char id[NAV_ID_MAX + 1];
    bool is_region, blocks;
    bool arriving;  ///< to be drawn with the revision under work
    bool fresh;     ///< it came with it
    bool leaving;   ///< it goes with it
    bool awkward;   ///< rounding tore a cell that it touches
    uint64_t order; ///< of regions: later ones win
    nav_region paint;
    double low_y, high_y; ///< ground in between is touched; relative
    nav__p2 low, high;
    nav__part *parts;
    uint32_t part_count;
    nav__numbers cells; ///< of the base that it touches
} nav__body;

/// A cell of the base that is made anew.
typedef struct nav__patch {
    uint32_t cell;
    nav__numbers bodies, pieces, faces, points;
    nav__numbers lists; ///< faces of the base whose pieces are listed behind them
} nav__patch;

/// What lies on an edge of the base, of whose cells at least one was made anew.
typedef struct nav__rim {
    uint32_t edge; ///< the lesser of the two half-edges
    nav__p2 *at;   ///< [count] corners, from that half-edge's start on
    uint32_t count, cap;
    uint32_t *half[2]; ///< [count + 1] current half-edges of that half-edge's cell and of its twin's; NAV_NONE: closed
    uint32_t half_cap[2];
} nav__rim;

/// A range of the block that a revision wrote.
typedef struct nav__write {
    uint64_t edition;
    size_t offset;
    uint32_t bytes;
} nav__write;

/// What of a body counts within one cell: a part of it, or what of that lies on a face in the body's band.
typedef struct nav__draught {
    nav__part part;
    uint32_t body;
    bool own; ///< the part's corners are the draught's
} nav__draught;

/// A cell under work.
typedef struct nav__plan_cell {
    uint32_t cell;
    bool carved; ///< else the base's cell is put back
    bool ready;  ///< the result below is there
    bool has_labels;
    nav__numbers bodies;
    nav__carve_line *lines;
    uint32_t line_count, line_cap;
    nav__draught *draughts;
    uint32_t draught_count, draught_cap;
    nav__p2 *at; ///< copy of the carver's result
    uint32_t *first, *label, *corner, *side, *twin;
    uint32_t at_count, piece_count, corner_count;
    uint32_t *side_rim, *side_at; ///< of the ring's sides: plan rim, and which stretch of it
} nav__plan_cell;

typedef struct nav__plan_rim {
    uint32_t edge;
    nav__p2 *at;
    uint32_t count, cap;
} nav__plan_rim;

typedef struct nav__label {
    uint32_t flags;
    uint8_t area;
} nav__label;

typedef struct nav__plan {
    nav__plan_cell *cells;
    uint32_t cell_count, cell_cap;
    nav__plan_rim *rims;
    uint32_t rim_count, rim_cap;
    nav__label *labels;
    uint32_t label_count, label_cap;
    const nav__plan_cell *asking; ///< for the carver's questions
} nav__plan;

typedef struct nav__edit_link {
    nav_link link;
    bool disabled;
} nav__edit_link;

enum { NAV__SLOT_EDGES = 24, NAV__SLOT_FACES = 6, NAV__SLOT_CORNERS = 16, NAV__SLOT_TRIS = 24, NAV__ARRAYS = 19 };

/// How many entries fit behind the base's.
typedef struct nav__room {
    uint32_t cells, edges, vertices, cell_faces, faces, corners, points, tris, grid_faces, links;
} nav__room;

struct nav_editor {
    nav_alloc alloc;
    nav__store *store;
    nav_mesh base; ///< in the store's image
    nav_mesh now;  ///< in the newest revision's block
    nav__revision *newest;
    nav__room room;
    size_t block_bytes;
    size_t offsets[NAV__ARRAYS];
    uint32_t growth; ///< room is so many times the usual
    bool broken;     ///< a commit failed half way: everything must be laid out again

    uint64_t edition;
    nav__write *writes;
    uint32_t write_count, write_cap;
    uint64_t writes_from; ///< the list holds all writes of editions after this one
    uint64_t *dirty;      ///< bit for each page
    nav__numbers dirty_pages;

    nav__body **bodies; ///< NULL: free
    uint32_t body_count, body_cap;
    uint32_t obstacle_count, region_count;
    uint64_t next_order;
    nav__edit_link *links;
    uint32_t link_count, link_cap;

    uint32_t *patch_of; ///< [base.cell_count] NAV_NONE: the base's own cell stands
    nav__patch *patches;
    uint32_t patch_count, patch_cap;
    nav__numbers free_patches;
    uint32_t carved;  ///< patches in use
    uint32_t *rim_of; ///< [base.edge_count]
    nav__rim *rims;
    uint32_t rim_count, rim_cap;
    nav__numbers free_rims;
    uint32_t *plan_of;     ///< [base.cell_count] scratch: number in the plan, NAV_NONE
    uint32_t *plan_rim_of; ///< [base.edge_count]
    uint32_t *grid_room;   ///< [grid cells] entries that fit where the list was moved to, 0: it was not

    nav__numbers free_cells[NAV__SLOT_EDGES][NAV__SLOT_FACES];
    nav__numbers free_faces[NAV__SLOT_CORNERS][NAV__SLOT_TRIS];
    nav__numbers free_vertices, free_points;
    nav__numbers free_lists[24]; ///< of the grid, by the logarithm of their room
    nav__numbers claims;         ///< [vertices] stamp of the pass that gave the vertex to a fan
    uint32_t claim_stamp;
    nav__numbers edge_seen; ///< [edges] stamp of the pass that has looked at it
    nav__numbers old_vertices, fan, seeds;

    nav__carver carver;
    nav__plan plan;
    nav__p2 *clip[2]; ///< scratch: a polygon and what is left of it
    uint32_t clip_cap[2];
    nav__numbers points; ///< scratch: points by place
    const nav_interrupt *interrupt;
    uint32_t cells_made;
};

// ---- edit_block.c ----

/// Lays the mesh out in a new store. @return NAV_OK, NAV_NO_MEMORY, NAV_TOO_LARGE
nav_status nav__edit_lay_out(nav_editor *e, const nav_mesh *base);
/// A block for the next revision, as the newest is; `now` lies in it. @return false when out of memory
bool nav__edit_begin(nav_editor *e, nav__revision **block);
/// The place to write `count` entries from `index` on of an array of `now`; noted. Failing to note breaks the editor.
void *nav__edit_write(nav_editor *e, const void *array, size_t index, size_t size, size_t count);
#define NAV__WRITE(e, array, index, count) \
    nav__edit_write((e), (e)->now.array, (index), sizeof *(e)->now.array, (count))
/// The revision begun is the newest.
void nav__edit_finish(nav_editor *e, nav__revision *block);
/// What the revision uses of its block, for people.
size_t nav__edit_used(const nav_editor *e);

bool nav__numbers_add(const nav_editor *e, nav__numbers *list, uint32_t value);
void nav__numbers_free(const nav_editor *e, nav__numbers *list);
/// At least `count` entries, new ones 0.
bool nav__numbers_size(const nav_editor *e, nav__numbers *list, uint32_t count);

// ---- edit_shape.c ----

/// @param region  NULL: an obstacle, grown by the agent's radius
/// @return NAV_OK, NAV_BAD_ARGUMENT (member and message say why), NAV_NO_MEMORY
nav_status nav__body_make(const nav_editor *e, const nav_edit *edit, nav__body **out, const char **member,
                          nav_error *error);
/// Grows what is awkward about the bodies by some roundings. @return false: nothing is, or no memory
bool nav__edit_nudge(nav_editor *e, uint32_t times);
void nav__body_free(const nav_editor *e, nav__body *body);
/// The convex hull of points, anticlockwise, as a part. Points are sorted on the way. @return false: no memory
bool nav__part_hull(const nav_editor *e, nav__p2 *points, uint32_t count, nav__part *part);
/// Corners of a polygon round a circle that holds it and exceeds the radius by at most `excess`.
uint32_t nav__circle_corners(double radius, double excess);

// ---- edit_touch.c ----

/// Adds the numbers of all base cells that the body touches to its list. @return false when out of memory
bool nav__edit_find_cells(nav_editor *e, nav__body *body);
/// Draws the bodies of a plan's cell: its lines and blocks, and the corners on its rims.
bool nav__edit_draw(nav_editor *e, uint32_t plan_cell);
/// Adds a corner to a plan's rim. @param grown  set to true when it is new
bool nav__edit_rim_corner(nav_editor *e, uint32_t plan_rim, nav__p2 at, bool *grown);
bool nav__part_holds(const nav__part *part, nav__p2 p);
/// What of polygon e->clip[0] lies left of a -> b, or no more than `slack` right of it: into e->clip[0] again.
/// @return its corners, 0: nothing is left; NAV_NONE: out of memory
uint32_t nav__edit_clip(nav_editor *e, uint32_t count, nav__p2 a, nav__p2 b, double slack);

// ---- edit_plan.c ----

/// Fills the plan for the cells given, and more where rims need it.
nav_status nav__edit_plan(nav_editor *e, const nav__numbers *cells);
void nav__edit_plan_clear(nav_editor *e);

// ---- edit_commit.c, edit_faces.c, edit_links.c ----

/// Writes the plan into `now`. @return false: no memory or no room, the editor is broken
bool nav__edit_commit(nav_editor *e);
/// The surface of the pieces of a plan's cell, and which cells list it. Called once the pieces' numbers are known.
typedef struct nav__new_face {
    uint32_t base, piece;  ///< face of the base; piece of the plan's cell
    uint32_t first, count; ///< corners
} nav__new_face;
typedef struct nav__new_faces {
    nav__new_face *faces;
    uint32_t count, cap;
    nav__p2 *at;
    uint32_t at_count, at_cap;
    nav__numbers per_piece; ///< how many
} nav__new_faces;
bool nav__edit_cut_faces(nav_editor *e, const nav__plan_cell *c, nav__new_faces *out);
bool nav__edit_write_faces(nav_editor *e, const nav__plan_cell *c, nav__patch *patch, const nav__new_faces *faces);
bool nav__edit_drop_faces(nav_editor *e, nav__patch *patch);
/// Takes the base faces of a cell out of the grid, or puts them back.
bool nav__edit_base_faces(nav_editor *e, uint32_t cell, bool there);
/// Finds the ends of links again where they may have changed. @return false as nav__edit_commit
bool nav__edit_land_links(nav_editor *e, bool changed, uint32_t *off);

// ---- edit.c ----

/// Makes the revision in which bodies arrive and leave as they are marked.
nav_status nav__edit_run(nav_editor *e, bool links_changed, nav_mesh **out, nav_edit_report *report, nav_error *error);
/// Takes a body in, arriving. @return its number, NAV_NONE: out of memory
uint32_t nav__edit_add_body(nav_editor *e, nav__body *body);

#endif
