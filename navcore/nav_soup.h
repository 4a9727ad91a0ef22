/// A polygon soup: what every reader ends in and every mesh is built from.
#ifndef NAV_SOUP_H
#define NAV_SOUP_H

#include "nav_types.h"

/// What a file says of an edge (edge k of a polygon runs from its corner k to corner k + 1).
/// Values below NAV_EDGE_SEAM are the number of the polygon on the other side.
#define NAV_EDGE_SEAM 0xFFFFFFFDu ///< open towards another tile: joined by geometry, over a gap up to climb
#define NAV_EDGE_WALL 0xFFFFFFFEu ///< closed, whatever lies beyond
#define NAV_EDGE_ANY 0xFFFFFFFFu  ///< the file does not say: joined by geometry

#define NAV_SOUP_WARNINGS 8
#define NAV_WARNING_SIZE 160 ///< bytes of a warning, the NUL counted

/// Arrays grow by the nav_soup_add_ calls; a reader may also fill them itself. All are owned by the soup.
/// Polygons keep their file's order and number. They may be wound either way, be non-convex, share
/// nothing or overlap: nav_mesh_build sorts that out and reports it.
typedef struct nav_soup {
    nav_alloc alloc;

    double *vertices; ///< [x, y, z] * vertex_count
    uint32_t vertex_count, vertex_cap;

    uint32_t *poly_first; ///< [poly_count + 1]: polygon p has corners poly_first[p] .. poly_first[p + 1] - 1
    uint32_t poly_count, poly_cap;
    uint32_t *corners; ///< [corner_count] vertex numbers
    uint32_t corner_count, corner_cap;

    uint8_t *areas;  ///< [poly_cap]
    uint32_t *flags; ///< [poly_cap]; meaningful only with has_flags
    uint32_t *edges; ///< [corner_cap] NAV_EDGE_… or a polygon's number; meaningful only with has_edges
    bool has_areas, has_flags, has_edges;
    bool areas_are_costs; ///< an area's number is what it costs, until somebody says otherwise

    /// [poly_cap] or NULL: parts that the file keeps apart, such as the nodes of a scene. Edges that meet in part
    /// are joined within one part only, those with both ends in common between parts as well.
    uint32_t *parts;
    uint32_t part; ///< of the polygons to be added

    double *detail_vertices; ///< [x, y, z] * detail_vertex_count
    uint32_t detail_vertex_count, detail_vertex_cap;
    uint32_t *detail_tris; ///< [3] * detail_tri_count: numbers below vertex_count are vertices, then detail vertices
    uint32_t detail_tri_count, detail_tri_cap;
    uint32_t *detail_first; ///< [poly_cap + 1], first triangle of each polygon; NULL: no detail at all

    nav_link *links;
    uint32_t link_count, link_cap;

    nav_agent agent;
    bool has_agent;
    int dimensions; ///< 3, or 2 for a format of the plane: its (x, y) is stored as (x, 0, y)
    /// What the reader found suspicious, for the report.
    char warnings[NAV_SOUP_WARNINGS][NAV_WARNING_SIZE];
    uint32_t warning_count; ///< kept ones

    char format[24]; ///< for people: "mset", "obj", "polyanya", "json"
} nav_soup;

/// Makes an empty soup in the caller's memory (3 dimensions, default agent). `alloc` may be NULL.
void nav_soup_init(nav_soup *soup, const nav_alloc *alloc);

/// Frees what the soup holds; the soup is empty again.
void nav_soup_deinit(nav_soup *soup);

/// Makes room at once for what an empty soup is going to hold: growing by doubling costs several times that.
/// @param edges  every polygon will say what its edges are
/// @return NAV_OK, NAV_NO_MEMORY, NAV_TOO_LARGE
nav_status nav_soup_reserve(nav_soup *soup, size_t vertices, size_t polygons, size_t corners, bool edges);

/// @return NAV_OK, NAV_NO_MEMORY, NAV_TOO_LARGE
nav_status nav_soup_add_vertex(nav_soup *soup, double x, double y, double z);

/// Adds a polygon of `count` >= 3 corners (vertex numbers, checked by nav_mesh_build).
/// @param edges  [count] or NULL; giving it for one polygon makes the others' edges NAV_EDGE_ANY
nav_status nav_soup_add_polygon(nav_soup *soup, const uint32_t *corners, uint32_t count, uint8_t area, uint32_t flags,
                                const uint32_t *edges);

/// Adds a detail vertex (numbered from 0 among detail vertices).
nav_status nav_soup_add_detail_vertex(nav_soup *soup, double x, double y, double z);

/// Adds a detail triangle to the polygon added last. Numbers below vertex_count mean vertices, others
/// detail vertices from vertex_count on; so add all vertices before the first triangle.
nav_status nav_soup_add_detail_tri(nav_soup *soup, uint32_t a, uint32_t b, uint32_t c);

/// Notes what people should know of the file; notes beyond NAV_SOUP_WARNINGS are left out.
void nav_soup_warn(nav_soup *soup, const char *format, ...) __attribute__((format(printf, 2, 3)));

nav_status nav_soup_add_link(nav_soup *soup, const nav_link *link);

#endif
