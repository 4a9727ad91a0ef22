/// Living meshes: obstacles, regions and links that change while a mesh serves, and meshes for larger agents.
///
/// An editor makes revisions. Each is a whole, immutable `nav_mesh` that any number of threads may query; the
/// ones before stay as they were. What an edit does not touch is shared with them.
///
/// Axes and units are navcore's: y up, ground plane xz, the mesh's unit, absolute positions, radians.
#ifndef NAV_EDIT_H
#define NAV_EDIT_H

#include "nav_mesh.h"
#include "nav_query.h"
#include "nav_types.h"

typedef enum nav_shape_kind { NAV_SHAPE_CYLINDER, NAV_SHAPE_BOX, NAV_SHAPE_PRISM } nav_shape_kind;

#define NAV_SHAPE_POINTS_MAX 4096 ///< corners of a prism

/// An upright body. What counts of it is its outline on the ground and its height band, from its bottom to its
/// top: ground is touched where its height lies in the band, or up to the agent's climb below it (so that what
/// stands a little over the ground still stands on it). Judged for each convex face of the surface by the part
/// of it that the outline covers; other floors are left alone.
typedef struct nav_shape {
    nav_shape_kind kind;
    nav_vec center;        ///< cylinder: middle of its bottom; box: its middle
    double radius, height; ///< of a cylinder: radius > 0, height >= 0
    nav_vec half_extents;  ///< of a box: x and z > 0, y >= 0
    double yaw;            ///< of a box, right-handed about +y: +z turns towards +x
    const nav_vec *points; ///< of a prism: [point_count] corners of a simple polygon, either way round, convex or
                           ///< not; their y counts nothing. Only read during the call
    uint32_t point_count;  ///< 3 .. NAV_SHAPE_POINTS_MAX
    double min, max;       ///< of a prism: its height band, min <= max
} nav_shape;

/// What a region does to the ground in its shape. Of regions that overlap the one set last wins (one that
/// replaces another of its id keeps that one's place).
typedef struct nav_region {
    nav_shape shape;
    bool sets_area, sets_flags;
    uint8_t area;
    uint32_t flags; ///< instead of the ground's own. On a mesh without flags all other ground then has bit 0
    bool blocked;   ///< may not be walked on at all (a shut door). Not grown by the agent's radius
} nav_region;

typedef enum nav_edit_kind {
    NAV_EDIT_OBSTACLE, ///< adds an obstacle, or replaces (moves) the one of that id
    NAV_EDIT_REGION,   ///< likewise
    NAV_EDIT_LINK,     ///< likewise; one of a link of the mesh file stands in for that one
    NAV_EDIT_REMOVE_OBSTACLE,
    NAV_EDIT_REMOVE_REGION,
    NAV_EDIT_REMOVE_LINK ///< a link set by an edit; the mesh file's own of that id, if any, is back
} nav_edit_kind;

typedef struct nav_edit {
    nav_edit_kind kind;
    char id[NAV_ID_MAX + 1]; ///< not empty; obstacles, regions and links have names of their own
    nav_shape shape;         ///< of an obstacle. It is grown by the mesh's agent radius: by a polygon that holds
                             ///< the true offset and exceeds it by at most 2 % of that radius
    nav_region region;
    nav_link link;      ///< its `id` is not looked at
    bool link_disabled; ///< the link is kept but cannot be ridden
} nav_edit;

/// What applying edits came to.
typedef struct nav_edit_report {
    uint32_t bad_edit;   ///< of the edits given, the one at fault; NAV_NONE: none, or no one edit
    const char *member;  ///< static: the member at fault, such as "points" or "half_extents"; NULL: none
    bool not_found;      ///< bad_edit removes what is not there
    uint32_t cells_made; ///< search cells that the new revision does not share with the one before
    uint32_t links_off;  ///< links that now lead nowhere: an end is not near walkable ground
} nav_edit_report;

typedef struct nav_editor nav_editor;

/// Lays a mesh out for editing. Takes time and memory in proportion to the mesh; nothing of `base` is kept, it
/// may be destroyed at once.
/// @param base   any mesh, also a revision of another editor, whose edits are then the ground's own
/// @param alloc  NULL: the C library; must outlive the editor and all of its revisions
/// @return NAV_OK, NAV_NO_MEMORY, NAV_TOO_LARGE; `out` set only on NAV_OK
/// @thread any
nav_status nav_editor_create(const nav_mesh *base, const nav_alloc *alloc, nav_editor **out, nav_error *error);

/// Frees the editor; NULL is fine. Its revisions live on until they are destroyed.
void nav_editor_destroy(nav_editor *editor);

/// Applies edits in their order as one new revision, or not at all: on failure the editor is as it was. No edits
/// at all (count 0) give the present state once more.
/// Takes time in proportion to what the edits touch, whatever the size of the mesh; now and then, after many
/// edits, as long as laying the mesh out.
/// @param out     set only on NAV_OK; destroy it with nav_mesh_destroy when its last reader is done, in any order
///                and from any thread
/// @param report  may be NULL
/// @return NAV_OK, NAV_BAD_ARGUMENT (report and error say which edit and why), NAV_TOO_LARGE, NAV_NO_MEMORY
/// @thread one thread per editor at a time; takes no lock. Other threads may query and destroy revisions meanwhile
nav_status nav_editor_apply(nav_editor *editor, const nav_edit *edits, uint32_t count, nav_mesh **out,
                            nav_edit_report *report, nav_error *error);

/// Is there an obstacle, region or edited link of this id? `kind` is one of the first three.
bool nav_editor_has(const nav_editor *editor, nav_edit_kind kind, const char *id);

/// How many obstacles, regions or edited links there are.
uint32_t nav_editor_count(const nav_editor *editor, nav_edit_kind kind);

/// Makes the mesh for an agent whose radius is larger by `difference`: the ground that is nowhere nearer than that
/// to a wall, to within 2 % of `difference` (never nearer than that less 32-bit rounding). A mesh of its own, which
/// shares nothing. Links whose ends are lost are left out.
/// @param difference  > 0, finite
/// @param interrupt   asked now and then, true stops; NULL: never
/// @param out         set only on NAV_OK; a mesh with no ground left at all is a mesh too: nothing is found on it
/// @return NAV_OK, NAV_BAD_ARGUMENT, NAV_TOO_LARGE, NAV_NO_MEMORY, NAV_INTERRUPTED
/// @thread any; `mesh` is only read
nav_status nav_mesh_shrink(const nav_mesh *mesh, double difference, const nav_interrupt *interrupt,
                           const nav_alloc *alloc, nav_mesh **out, nav_error *error);

#endif
