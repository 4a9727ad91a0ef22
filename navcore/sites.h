/// Private: the graph that the search with area costs walks.
///
/// Its nodes are sites: corners of cells, points set on the edges between cells (Steiner points, after
/// Lanthier, Maheshwari, Sack, "Approximating Weighted Shortest Paths on Polyhedral Surfaces", SCG 1997,
/// section 2), both ends of rides, start and goal. Any two sites on one cell's border are joined by a
/// straight leg through that cell, so no arc is ever stored: a cell's list of sites, made when the cell
/// is first entered, is all there is. What is stored grows with what is explored, never with the mesh,
/// but for one slot per cell, edge and vertex that a stamp clears.
#ifndef NAV_SITES_H
#define NAV_SITES_H

#include "ride_bound.h"

typedef enum nav__site_kind {
    NAV__SITE_START,
    NAV__SITE_GOAL,
    NAV__SITE_VERTEX, ///< place: the vertex; one for each sector that closed cells leave of it
    NAV__SITE_EDGE,   ///< place: the lower of the two half-edges
    NAV__SITE_BOARD,  ///< where a ride begins; place: the ride
    NAV__SITE_LAND    ///< where it ends; place: the ride
} nav__site_kind;

#define NAV__SITE_CLOSED (NAV_NONE - 1) ///< in nav__site.heap

typedef struct nav__site {
    nav_vec at;      ///< relative to the origin
    double g;        ///< least cost known from the start; INFINITY: not reached
    double h;        ///< never more than what it costs from here to the goal
    uint32_t parent; ///< site that the last leg comes from
    uint32_t cell;   ///< that the last leg crosses; NAV_NONE: it is a ride
    /// The site that this one is seen from in a straight line through cells of one cost, all of them left
    /// by the edges on which the parents lie: g counts that line. Often the parent itself.
    uint32_t root;
    uint32_t left, right; ///< vertices that bound what root sees through those edges; NAV_NONE: nothing does
    uint32_t place;
    uint32_t heap; ///< index in the open list; NAV_NONE: not in it; NAV__SITE_CLOSED: expanded
    nav__site_kind kind;
    uint32_t sector;                           ///< of a vertex: the half-edge that its sector begins with
    uint32_t seen_root, seen_left, seen_right; ///< of an edge's first site: what the edge was passed for last
} nav__site;

/// Where the sites of a cell (in `lists`), edge or vertex (in `all`) begin.
typedef struct nav__site_slot {
    uint32_t stamp, first, count;
} nav__site_slot;

typedef struct nav__sites {
    nav_query *query;
    const nav_mesh *mesh;
    const nav_filter *filter;
    const nav__anchor *start, *goal;
    nav__ride_bound bound;
    double least_cost; ///< of any area of the mesh
    bool all_pass;
    bool out_of_memory;

    nav__site *all;
    uint32_t count, cap;
    uint32_t *lists; ///< sites, a run for each cell opened
    uint32_t list_count, list_cap;
    nav__site_slot *cells, *edges, *vertices; ///< by number
    uint32_t stamp;
    uint32_t goal_site;
} nav__sites;

/// Begins a search: no cell is open, and the only site is the goal.
/// @return false when out of memory
bool nav__sites_init(nav__sites *sites, nav_query *query, const nav_mesh *mesh, const nav_filter *filter,
                     const nav__anchor *start, const nav__anchor *goal);

/// Adds a site that is in no cell's list.
/// @return its number, NAV_NONE when out of memory
uint32_t nav__sites_add(nav__sites *sites, nav__site_kind kind, uint32_t place, nav_vec at);

/// The sites on a cell's border and in it, made when first asked for. The goal is among those of its
/// cells, the begin of an open ride among those of its cell. Sites move when others are made; numbers stay.
/// @return where in sites->lists they begin, `count` of them; `count` is 0 when out of memory
uint32_t nav__sites_of_cell(nav__sites *sites, uint32_t cell, uint32_t *count);

/// The next half-edge anticlockwise round the vertex that a half-edge starts at; NAV_NONE behind a wall or a
/// closed cell. From nav__site.sector on that leads through the sector, or round to it again.
uint32_t nav__sector_next(const nav__sites *sites, uint32_t edge);

/// The cells of a vertex site's sector, anticlockwise, at most `cap`. @return how many
uint32_t nav__sites_round(const nav__sites *sites, const nav__site *site, uint32_t *cells, uint32_t cap);

static inline double nav__cell_cost(const nav_mesh *m, const nav_filter *f, uint32_t cell)
{
    return f->area_costs ? f->area_costs[m->cells[cell].area] : 1;
}

static inline bool nav__sites_pass(const nav__sites *sites, uint32_t cell)
{
    return sites->all_pass || nav__passes(sites->mesh, sites->filter, cell);
}

#endif
