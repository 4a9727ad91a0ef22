#include "flood.h"

#include <string.h>

uint32_t *nav__stamps(nav_query *query, uint32_t count)
{
    size_t had = query->reached.bytes;
    uint32_t *stamps = nav__reserve(query, &query->reached, ((size_t)count + 1) * sizeof *stamps);
    if (!stamps) {
        return NULL;
    }
    if (query->reached.bytes != had) {
        memset((char *)stamps + had, 0, query->reached.bytes - had);
    }
    if (++query->reached_stamp == 0) {
        memset(stamps, 0, query->reached.bytes);
        query->reached_stamp = 1;
    }
    return stamps;
}

static void flood_islands(const nav_mesh *m, const nav_filter *filter, const nav__anchor *start, uint32_t *reached,
                          uint32_t stamp)
{
    for (uint32_t i = 0; i < start->count; i++) {
        reached[m->cells[start->cells[i]].island] = stamp;
    }
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < m->ride_count; i++) {
            const nav__ride *r = &m->rides[i];
            uint32_t from = m->cells[r->from_cell].island, to = m->cells[r->to_cell].island;
            if (reached[from] == stamp && reached[to] != stamp && nav__ride_open(m, r, filter)) {
                reached[to] = stamp;
                more = true;
            }
        }
    }
}

/// A flood over cells under way.
typedef struct cell_flood {
    const nav_mesh *m;
    const nav_filter *filter;
    uint32_t *reached, stamp;
    uint32_t *stack, count; ///< room for every cell
} cell_flood;

static void reach_cell(cell_flood *f, uint32_t cell)
{
    if (f->reached[cell] != f->stamp) {
        f->reached[cell] = f->stamp;
        f->stack[f->count++] = cell;
    }
}

static void flood_from(cell_flood *f, uint32_t cell)
{
    const nav_mesh *m = f->m;
    for (uint32_t e = m->cells[cell].first_edge; e < m->cells[cell + 1].first_edge; e++) {
        uint32_t twin = m->edges[e].twin;
        if (twin != NAV_NONE && nav__passes(m, f->filter, nav__edge_cell(m, twin))) {
            reach_cell(f, nav__edge_cell(m, twin));
        }
    }
    const nav__ride *rides;
    uint32_t ride_count = m->cells[cell].link_end ? nav__rides_from(m, cell, &rides) : 0;
    for (uint32_t i = 0; i < ride_count; i++) {
        if (nav__ride_open(m, &rides[i], f->filter)) {
            reach_cell(f, rides[i].to_cell);
        }
    }
}

bool nav__flood(nav_query *query, const nav_mesh *m, const nav_filter *filter, const nav__anchor *start,
                nav__flooded *flooded)
{
    if (m->cell_count > UINT32_MAX / 2) {
        return false;
    }
    uint32_t *reached = nav__stamps(query, 2 * m->cell_count); // there are no more islands than cells
    if (!reached) {
        return false;
    }
    *flooded = (nav__flooded){m, reached, query->reached_stamp, nav__passes_all(m, filter) && !m->loose_islands,
                              reached + m->cell_count};
    if (flooded->by_island) {
        flood_islands(m, filter, start, reached, flooded->stamp);
        return true;
    }
    cell_flood f = {m, filter, reached, flooded->stamp, NULL, 0};
    f.stack = nav__reserve(query, &query->cells, m->cell_count * sizeof *f.stack);
    if (!f.stack) {
        return false;
    }
    for (uint32_t i = 0; i < start->count; i++) {
        reach_cell(&f, start->cells[i]);
    }
    while (f.count > 0) {
        flood_from(&f, f.stack[--f.count]);
    }
    return true;
}
