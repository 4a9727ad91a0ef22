/// What is near an agent: others, by a grid that is made anew in each step, and walls, kept while it stays near.
#include "crowd.h"

#include <math.h>
#include <string.h>

/// Side of a grid cell in mean radii of bodies, and how many cells there are at most.
static const float CELL_RADII = 4;
/// Part of its most speed by which who wants to go on presses those who stand in its way.
static const float PRESS = 0.5f;
enum { CELLS_PER_BODY = 4, SPARE_CELLS = 64 };
/// The first try at finding neighbours looks so far, in cells: in a crowd that is enough.
static const float FIRST_TRY = 0.9f;
/// Walls are looked for this much further than asked, in parts of the reach, so that they last for a while.
static const float WALL_SPARE = 0.5f;
enum { WALL_CELLS = 48 };

// ---- the grid --------------------------------------------------------------------------------------

static uint32_t grid_index(float v, float least, float inverse, uint32_t count)
{
    float k = (v - least) * inverse;
    return k >= (float)count ? count - 1 : k > 0 ? (uint32_t)k : 0;
}

static bool has_body(const nav_crowd *c, uint32_t i)
{
    return c->standing[i] == NAV__STANDS;
}

static nav__body body_of(const nav_crowd *c, uint32_t i)
{
    uint16_t f = c->flags[i];
    bool holds = f & NAV__ATTACKS;
    float wx = c->wanted_x[i], wz = c->wanted_z[i], wanted = sqrtf(wx * wx + wz * wz);
    float press =
        f & NAV__HAS_ARRIVED || !(wanted > 0) || nav__crowd_makes_way(c, i) ? 0 : PRESS * c->max_speed[i] / wanted;
    return (nav__body){.x = (float)c->x[i],
                       .z = (float)c->z[i],
                       .y = (float)c->y[i],
                       .vx = holds ? 0 : c->vx[i],
                       .vz = holds ? 0 : c->vz[i],
                       .press_x = press * wx,
                       .press_z = press * wz,
                       .radius = c->radius[i],
                       .height = c->height[i],
                       .share = holds || c->avoids[i] == NAV_AVOIDANCE_NONE ? 1.0f : 0.5f,
                       .slot = i,
                       .has_target = f & NAV__HAS_TARGET && c->goal[i].cell != NAV_NONE,
                       .has_arrived = (f & NAV__HAS_ARRIVED) != 0};
}

/// Sets the grid over all bodies. @return how many there are
static uint32_t measure(nav_crowd *c, float high[2])
{
    uint32_t count = 0;
    float radii = 0, low[2] = {INFINITY, INFINITY};
    high[0] = high[1] = -INFINITY;
    c->max_radius = 0;
    for (uint32_t i = 0; i < c->slot_count; i++) {
        if (!has_body(c, i)) {
            continue;
        }
        float x = (float)c->x[i], z = (float)c->z[i];
        low[0] = fminf(low[0], x);
        low[1] = fminf(low[1], z);
        high[0] = fmaxf(high[0], x);
        high[1] = fmaxf(high[1], z);
        radii += c->radius[i];
        c->max_radius = fmaxf(c->max_radius, c->radius[i]);
        count++;
    }
    if (count == 0) {
        return 0;
    }
    float width = high[0] - low[0], depth = high[1] - low[1];
    float cell = CELL_RADII * radii / (float)count, most = (float)(CELLS_PER_BODY * count);
    // Not more cells than there may be: in all, and in a row.
    cell = fmaxf(cell, fmaxf(sqrtf(width * depth / most), fmaxf(width, depth) / most));
    c->grid_x = low[0];
    c->grid_z = low[1];
    c->grid_inverse = 1 / cell;
    c->grid_nx = (uint32_t)(width / cell) + 1;
    c->grid_nz = (uint32_t)(depth / cell) + 1;
    return count;
}

bool nav__crowd_sort(nav_crowd *c)
{
    float high[2];
    uint32_t count = measure(c, high);
    c->body_count = 0;
    if (count == 0) {
        return true;
    }
    // width * depth <= most * cell^2, and neither is longer than most * cell: the product cannot be much more.
    size_t cells = (size_t)c->grid_nx * c->grid_nz;
    if (cells + 1 > c->grid_cap) {
        size_t cap = cells + cells / 2 + SPARE_CELLS;
        uint32_t *grid = c->alloc.resize(c->alloc.ctx, c->grid_first, cap * sizeof *grid);
        if (!grid) {
            return false;
        }
        c->grid_first = grid;
        c->grid_cap = (uint32_t)cap;
    }
    memset(c->grid_first, 0, (cells + 1) * sizeof *c->grid_first);
    for (uint32_t i = 0; i < c->slot_count; i++) {
        if (has_body(c, i)) {
            uint32_t gx = grid_index((float)c->x[i], c->grid_x, c->grid_inverse, c->grid_nx);
            uint32_t gz = grid_index((float)c->z[i], c->grid_z, c->grid_inverse, c->grid_nz);
            c->body_cell[i] = gz * c->grid_nx + gx;
            c->grid_first[c->body_cell[i] + 1]++;
        }
    }
    for (size_t k = 0; k < cells; k++) {
        c->grid_first[k + 1] += c->grid_first[k];
    }
    // From the end, so that bodies of a cell stay in the order of slots; grid_first moves to where each begins.
    for (uint32_t i = c->slot_count; i-- > 0;) {
        if (has_body(c, i)) {
            c->bodies[--c->grid_first[c->body_cell[i] + 1]] = body_of(c, i);
        }
    }
    // Entry k + 1 now has where cell k begins.
    memmove(c->grid_first, c->grid_first + 1, cells * sizeof *c->grid_first);
    c->grid_first[cells] = count;
    c->body_count = count;
    return true;
}

static bool is_nearer(const nav__neighbour *a, const nav__neighbour *b)
{
    return a->distance2 < b->distance2 || (a->distance2 == b->distance2 && a->slot < b->slot);
}

/// The nearest within the square of half side `range`; their centres may be further than `range`.
static uint32_t search_square(const nav_crowd *c, const nav__body *b, float range, uint32_t most, float limit2,
                              nav__neighbour *found)
{
    uint32_t count = 0;
    uint32_t i0 = grid_index(b->x - range, c->grid_x, c->grid_inverse, c->grid_nx);
    uint32_t i1 = grid_index(b->x + range, c->grid_x, c->grid_inverse, c->grid_nx);
    uint32_t k0 = grid_index(b->z - range, c->grid_z, c->grid_inverse, c->grid_nz);
    uint32_t k1 = grid_index(b->z + range, c->grid_z, c->grid_inverse, c->grid_nz);
    for (uint32_t k = k0; k <= k1; k++) {
        size_t row = (size_t)k * c->grid_nx;
        const nav__body *o = c->bodies + c->grid_first[row + i0], *end = c->bodies + c->grid_first[row + i1 + 1];
        for (; o < end; o++) {
            float dx = o->x - b->x, dz = o->z - b->z, d2 = dx * dx + dz * dz;
            if (!(d2 <= limit2) || o == b || o->y > b->y + b->height || b->y > o->y + o->height) {
                continue;
            }
            nav__neighbour n = {d2, o->slot, o};
            if (count == most && !is_nearer(&n, &found[count - 1])) {
                continue;
            }
            uint32_t at = count < most ? count++ : count - 1;
            for (; at > 0 && is_nearer(&n, &found[at - 1]); at--) {
                found[at] = found[at - 1];
            }
            found[at] = n;
            limit2 = count == most ? found[count - 1].distance2 : limit2;
        }
    }
    return count;
}

uint32_t nav__crowd_neighbours(const nav_crowd *c, const nav__body *body, float range, uint32_t most,
                               nav__neighbour *neighbours)
{
    float near = FIRST_TRY / c->grid_inverse;
    if (near < range) {
        uint32_t count = search_square(c, body, near, most, near * near, neighbours);
        if (count == most) {
            return count;
        }
    }
    return search_square(c, body, range, most, range * range, neighbours);
}

// ---- walls -----------------------------------------------------------------------------------------

static double distance2_to_edge(nav__p2 p, nav__p2 a, nav__p2 b)
{
    nav__p2 d = nav__sub(b, a), ap = nav__sub(p, a);
    double along = nav__dot(ap, d), all = nav__dot(d, d);
    double t = along <= 0 ? 0 : along >= all ? 1 : along / all;
    nav__p2 off = {ap.x - t * d.x, ap.z - t * d.z};
    return nav__dot(off, off);
}

typedef struct wall_list {
    nav__walls *walls;
    double distance2[NAV__WALLS];
} wall_list;

static void add_wall(wall_list *list, nav__p2 a, nav__p2 b, double distance2)
{
    nav__walls *w = list->walls;
    if (w->count == NAV__WALLS && distance2 >= list->distance2[w->count - 1]) {
        return;
    }
    uint32_t at = w->count < NAV__WALLS ? w->count++ : w->count - 1;
    for (; at > 0 && distance2 < list->distance2[at - 1]; at--) {
        list->distance2[at] = list->distance2[at - 1];
        memcpy(w->ends[at], w->ends[at - 1], sizeof w->ends[at]);
    }
    list->distance2[at] = distance2;
    float ends[4] = {(float)a.x, (float)a.z, (float)b.x, (float)b.z};
    memcpy(w->ends[at], ends, sizeof ends);
}

/// Looks through cells outwards; those behind a wall are seldom met, and what they close is closed already.
static void collect_walls(const nav_crowd *c, uint32_t i, nav__walls *walls)
{
    const nav_mesh *m = c->mesh;
    const nav_filter *filter = nav__crowd_filter_of(c, i);
    nav__p2 p = {c->x[i], c->z[i]};
    double reach2 = (double)walls->reach * (double)walls->reach;
    uint32_t cells[WALL_CELLS], count = 1;
    wall_list list = {.walls = walls};
    cells[0] = c->cell[i];
    for (uint32_t at = 0; at < count; at++) {
        uint32_t first = m->cells[cells[at]].first_edge, end = m->cells[cells[at] + 1].first_edge, e = end - 1;
        nav__p2 a = nav__edge_from(m, e);
        for (uint32_t next = first; next < end; next++) {
            nav__p2 b = nav__edge_from(m, next);
            double d2 = distance2_to_edge(p, a, b);
            uint32_t twin = m->edges[e].twin;
            bool is_near = d2 <= reach2;
            if (is_near && (twin == NAV_NONE || !nav__passes(m, filter, nav__edge_cell(m, twin)))) {
                if (nav__cross(nav__sub(b, a), nav__sub(p, a)) > 0) {
                    add_wall(&list, a, b, d2);
                }
            } else if (is_near && count < WALL_CELLS) {
                uint32_t cell = nav__edge_cell(m, twin);
                bool known = false;
                for (uint32_t k = 0; k < count && !known; k++) {
                    known = cells[k] == cell;
                }
                cells[count] = cell;
                count += !known;
            }
            e = next;
            a = b;
        }
    }
}

void nav__crowd_find_walls(nav_crowd *c, uint32_t i, float reach)
{
    nav__walls *walls = &c->walls[i];
    float x = (float)c->x[i], z = (float)c->z[i], dx = x - walls->x, dz = z - walls->z, spare = walls->reach - reach;
    if (walls->reach >= 0 && spare >= 0 && dx * dx + dz * dz <= spare * spare) {
        return;
    }
    *walls = (nav__walls){.x = x, .z = z, .reach = reach * (1 + WALL_SPARE)};
    collect_walls(c, i, walls);
}
