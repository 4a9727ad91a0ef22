/// The spread of costs over ground of different cost: Dijkstra's search over the sites that weighted paths
/// are searched on (sites.h).
///
/// A site's way is a chain of straight legs. When a site is settled, the leg from where its last leg began
/// is tried to be drawn on straight to it, over whatever ground lies between, so that ways do not wind from
/// site to site (after Theta*: Nash, Daniel, Koenig, Felner, AAAI 2007). All costs are those of ways that
/// can be walked.
#include "reachable.h"
#include "sites.h"
#include "surface.h"
#include "walk.h"

#include <stdlib.h>

enum { MOST_CELLS = 32 };

typedef struct open_site {
    double g;
    uint32_t site;
} open_site;

typedef struct spread {
    nav__reachable *r;
    nav__sites sites;
    open_site *heap;
    uint32_t heap_count, heap_cap;
} spread;

static nav__p2 ground_of(const nav__site *s)
{
    return (nav__p2){s->at.x, s->at.z};
}

// ---- the open list ---------------------------------------------------------------------------------

static void push(spread *sp, open_site entry)
{
    if (sp->heap_count == sp->heap_cap) {
        open_site *heap = sp->heap_cap < NAV_NONE / 2 ? nav__reserve(sp->r->query, &sp->r->query->spread_heap,
                                                                     ((size_t)sp->heap_cap + 64) * sizeof *heap)
                                                      : NULL;
        if (!heap) {
            sp->sites.out_of_memory = true;
            return;
        }
        sp->heap = heap;
        sp->heap_cap = (uint32_t)(sp->r->query->spread_heap.bytes / sizeof *heap);
    }
    uint32_t i = sp->heap_count++;
    for (; i > 0 && entry.g < sp->heap[(i - 1) / 4].g; i = (i - 1) / 4) {
        sp->heap[i] = sp->heap[(i - 1) / 4];
    }
    sp->heap[i] = entry;
}

static open_site pop(spread *sp)
{
    open_site *h = sp->heap, top = h[0], last = h[--sp->heap_count];
    uint32_t i = 0, n = sp->heap_count;
    for (uint32_t first = 1; first < n; first = 4 * i + 1) {
        uint32_t best = first, end = first + 4 < n ? first + 4 : n;
        for (uint32_t k = first + 1; k < end; k++) {
            best = h[k].g < h[best].g ? k : best;
        }
        if (h[best].g >= last.g) {
            break;
        }
        h[i] = h[best];
        i = best;
    }
    h[i] = last;
    return top;
}

static void reach_site(spread *sp, uint32_t site, double g, uint32_t parent, uint32_t root)
{
    nav__site *s = &sp->sites.all[site];
    if (s->heap != NAV__SITE_CLOSED && g < s->g && g <= sp->r->max_cost) {
        s->g = g;
        s->parent = parent;
        s->root = root;
        push(sp, (open_site){g, site});
    }
}

// ---- expanding -------------------------------------------------------------------------------------

/// The open cells that a site lies in. @return how many
static uint32_t cells_of(const spread *sp, const nav__site *s, uint32_t cells[MOST_CELLS])
{
    const nav_mesh *m = sp->r->m;
    uint32_t count = 0, kept = 0;
    switch (s->kind) {
    case NAV__SITE_VERTEX:
        count = nav__sites_round(&sp->sites, s, cells, MOST_CELLS);
        break;
    case NAV__SITE_EDGE:
        cells[count++] = nav__edge_cell(m, s->place);
        cells[count++] = nav__edge_cell(m, m->edges[s->place].twin);
        break;
    case NAV__SITE_BOARD:
        cells[count++] = m->rides[s->place].from_cell;
        break;
    case NAV__SITE_LAND:
        cells[count++] = m->rides[s->place].to_cell;
        break;
    case NAV__SITE_START:
    case NAV__SITE_GOAL:
        for (uint32_t i = 0; i < sp->r->start->count && i < MOST_CELLS; i++) {
            cells[count++] = sp->r->start->cells[i];
        }
        break;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (nav__sites_pass(&sp->sites, cells[i])) {
            cells[kept++] = cells[i];
        }
    }
    return kept;
}

static void cross_cell(spread *sp, uint32_t from, uint32_t cell)
{
    const nav_mesh *m = sp->r->m;
    double cost = nav__cell_cost(m, sp->r->filter, cell), g = sp->sites.all[from].g;
    nav__p2 at = ground_of(&sp->sites.all[from]), nearest;
    for (uint32_t k = m->cells[cell].first_face; k < m->cells[cell + 1].first_face; k++) {
        uint32_t face = m->cell_faces[k];
        if (nav__reachable_lacks(sp->r, face, g)) {
            nav__reachable_offer(sp->r, face, g + cost * sqrt(nav__face_closest(m, face, at, INFINITY, &nearest)));
        }
    }
    uint32_t count, first = nav__sites_of_cell(&sp->sites, cell, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t site = sp->sites.lists[first + i];
        reach_site(sp, site, g + cost * nav__dist(at, ground_of(&sp->sites.all[site])), from, from);
    }
}

static void ride(spread *sp, uint32_t from)
{
    uint32_t place = sp->sites.all[from].place;
    const nav__ride *r = &sp->r->m->rides[place];
    nav_vec at = {(double)r->to[0], (double)r->to[1], (double)r->to[2]};
    uint32_t site = nav__sites_add(&sp->sites, NAV__SITE_LAND, place, at);
    if (site != NAV_NONE) {
        double g = sp->sites.all[from].g + nav__ride_cost(sp->r->m, r, sp->r->filter);
        reach_site(sp, site, g, from, site);
    }
}

static void expand(spread *sp, uint32_t from)
{
    uint32_t cells[MOST_CELLS], count = cells_of(sp, &sp->sites.all[from], cells);
    for (uint32_t i = 0; i < count && !sp->sites.out_of_memory; i++) {
        cross_cell(sp, from, cells[i]);
    }
    if (sp->sites.all[from].kind == NAV__SITE_BOARD) {
        ride(sp, from);
    }
}

// ---- straight legs ---------------------------------------------------------------------------------

/// What a straight leg costs while it is walked.
typedef struct leg {
    const spread *sp;
    double cost;
} leg;

static bool add_cost(void *ctx, uint32_t cell, nav__p2 from, nav__p2 to)
{
    leg *l = ctx;
    l->cost += nav__cell_cost(l->sp->r->m, l->sp->r->filter, cell) * nav__dist(from, to);
    return true;
}

/// Draws the leg to the site straight from where its parent's leg began, where that costs less.
static void straighten(spread *sp, uint32_t site)
{
    nav__site *s = &sp->sites.all[site];
    uint32_t root = s->parent == NAV_NONE ? NAV_NONE : sp->sites.all[s->parent].root;
    if (root == NAV_NONE || root == s->parent || s->kind == NAV__SITE_LAND) {
        return;
    }
    const nav__site *begin = &sp->sites.all[root];
    nav__p2 a = ground_of(begin), b = ground_of(s);
    if (begin->g + sp->sites.least_cost * nav__dist(a, b) >= s->g || nav__dist(a, b) == 0) {
        return;
    }
    uint32_t cells[MOST_CELLS], count = cells_of(sp, begin, cells);
    leg l = {sp, begin->g};
    nav__walk_end end = {.clear = false};
    nav__walk_leg(sp->r->m, sp->r->filter, cells, count, a, b, add_cost, &l, &end);
    bool arrived = false;
    count = cells_of(sp, s, cells);
    for (uint32_t i = 0; i < count; i++) {
        arrived = arrived || (end.clear && end.cell == cells[i]);
    }
    if (arrived && l.cost < s->g) {
        s->g = l.cost;
        s->root = root;
    }
}

// ---- the whole -------------------------------------------------------------------------------------

static int by_cost(const void *a, const void *b)
{
    const nav_reached *x = a, *y = b;
    if (x->cost != y->cost) {
        return x->cost < y->cost ? -1 : 1;
    }
    return x->polygon < y->polygon ? -1 : x->polygon > y->polygon;
}

static nav__search_result run(spread *sp)
{
    const nav_interrupt *interrupt = &sp->r->query->interrupt;
    for (uint32_t steps = 1; sp->heap_count > 0; steps++) {
        open_site top = pop(sp);
        nav__site *s = &sp->sites.all[top.site];
        if (s->heap == NAV__SITE_CLOSED || top.g > s->g) {
            continue;
        }
        s->heap = NAV__SITE_CLOSED;
        straighten(sp, top.site);
        // Straight legs come a little out of order: without a limit nothing is found before the end.
        if (sp->r->limit && !nav__reachable_settle(sp->r, s->g)) {
            break;
        }
        expand(sp, top.site);
        if (sp->sites.out_of_memory || sp->r->out_of_memory) {
            return NAV__OUT_OF_MEMORY;
        }
        if (steps % 256 == 0 && interrupt->stop && interrupt->stop(interrupt->ctx)) {
            return NAV__STOPPED;
        }
    }
    nav__reachable_settle(sp->r, INFINITY);
    qsort(sp->r->found, sp->r->found_count, sizeof *sp->r->found, by_cost);
    return sp->r->out_of_memory ? NAV__OUT_OF_MEMORY : sp->r->limited ? NAV__LIMITED : NAV__EXHAUSTED;
}

nav__search_result nav__spread_weighted(nav__reachable *r)
{
    spread sp = {.r = r,
                 .heap = r->query->spread_heap.data,
                 .heap_cap = (uint32_t)(r->query->spread_heap.bytes / sizeof(open_site))};
    // The sites' goal, which lies in its cells' lists, is the place where the spread begins.
    if (!nav__sites_init(&sp.sites, r->query, r->m, r->filter, r->start, r->start)) {
        return NAV__OUT_OF_MEMORY;
    }
    reach_site(&sp, sp.sites.goal_site, 0, NAV_NONE, sp.sites.goal_site);
    return run(&sp);
}
