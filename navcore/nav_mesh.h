/// The mesh: an immutable snapshot that any number of threads may read.
#ifndef NAV_MESH_H
#define NAV_MESH_H

#include "nav_soup.h"
#include "nav_types.h"

typedef struct nav_mesh nav_mesh;

/// What building found and repaired. Counts are exact; the lists hold the first NAV_REPORT_CAP entries.
#define NAV_REPORT_CAP 256
#define NAV_REPORT_WARNINGS 16
typedef struct nav_report {
    uint32_t welded_vertices;     ///< vertices that became one with another
    uint32_t degenerate_polygons; ///< dropped: fewer than three corners or no area on the ground
    uint32_t duplicate_polygons;  ///< dropped: same corners as an earlier one
    uint32_t split_polygons;      ///< not convex, cut into convex faces
    uint32_t flipped_polygons;    ///< wound against the majority
    bool mixed_winding;
    uint32_t t_junction_count;
    uint32_t non_manifold_count;
    uint32_t island_count;
    uint32_t dropped_link_count;
    uint32_t overlap_count;
    nav_vec t_junctions[NAV_REPORT_CAP]; ///< vertices found inside another polygon's edge
    struct {
        nav_vec at;
        uint32_t polygons[2];
    } overlaps[NAV_REPORT_CAP];              ///< polygons that cover each other at one height, unjoined
    nav_vec non_manifold[NAV_REPORT_CAP][2]; ///< edges that more than two polygons share
    struct {
        char id[NAV_ID_MAX + 1];
        char reason[48];
    } dropped_links[NAV_REPORT_CAP];
    struct {
        uint32_t id, polygons;
        double area;
    } islands[NAV_REPORT_CAP]; ///< largest area first; ground area
    uint32_t warning_count;
    char warnings[NAV_REPORT_WARNINGS][NAV_WARNING_SIZE]; ///< e.g. normals all horizontal: likely a wrong frame
} nav_report;

typedef struct nav_build_options {
    double weld;   ///< tolerance by distance; negative: 1e-4, or four 32-bit float steps at the largest coordinate
    bool no_merge; ///< keep one search cell per face (tests and comparisons)
    /// Told before each step of `of`, for whoever waits; NULL: nobody.
    void (*progress)(void *ctx, unsigned step, unsigned of);
    void *progress_ctx;
} nav_build_options;

/// Defaults: weld -1, merge on.
nav_build_options nav_build_options_default(void);

/// Builds a mesh. Nothing of the soup is kept.
/// @param options  NULL: the defaults
/// @param alloc    NULL: the C library; must outlive the mesh
/// @param out      set only on NAV_OK
/// @param report   may be NULL
/// @return NAV_OK, NAV_BAD_MESH (error says which polygon and why), NAV_TOO_LARGE, NAV_NO_MEMORY
/// @thread any; no shared state
nav_status nav_mesh_build(const nav_soup *soup, const nav_build_options *options, const nav_alloc *alloc,
                          nav_mesh **out, nav_report *report, nav_error *error);

/// Frees the mesh; NULL is fine. No query may be running on it.
void nav_mesh_destroy(nav_mesh *mesh);

typedef struct nav_mesh_info {
    uint32_t polygons; ///< of the file, dropped ones included: polygon numbers are below this
    uint32_t faces;    ///< convex pieces of polygons that carry the surface
    uint32_t cells;    ///< convex regions of the search, merged from faces
    uint32_t vertices; ///< after welding
    uint32_t links;
    uint32_t islands;
    nav_vec min, max;
    nav_agent agent;
    bool has_flags, has_areas;
    uint32_t flags_used; ///< union of all polygons' flags
    size_t memory_bytes;
} nav_mesh_info;

void nav_mesh_get_info(const nav_mesh *mesh, nav_mesh_info *info);

/// Area number of a file polygon, 0 where it was dropped.
uint8_t nav_mesh_polygon_area(const nav_mesh *mesh, uint32_t polygon);
/// Flags of a file polygon.
uint32_t nav_mesh_polygon_flags(const nav_mesh *mesh, uint32_t polygon);
/// Which area numbers occur; bit n of word n/64.
void nav_mesh_areas_used(const nav_mesh *mesh, uint64_t used[4]);
/// Off-mesh links, [nav_mesh_info.links].
const nav_link *nav_mesh_links(const nav_mesh *mesh);

/// The surface for drawing: convex faces in file order, absolute positions.
typedef struct nav_face_view {
    uint32_t polygon; ///< of the file
    uint32_t island;
    uint32_t flags;
    uint8_t area;
    uint32_t corner_count;   ///< 0: an edit has taken the face away, skip it
    const uint32_t *corners; ///< vertex numbers for nav_mesh_vertex
} nav_face_view;
void nav_mesh_face(const nav_mesh *mesh, uint32_t face, nav_face_view *view);
nav_vec nav_mesh_vertex(const nav_mesh *mesh, uint32_t vertex);
/// What vertices are stored relative to, as 32-bit floats.
nav_vec nav_mesh_origin(const nav_mesh *mesh);

#endif
