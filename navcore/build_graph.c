/// What the finished cells form: islands, blocks, and the order in which they lie in memory.
#include "build.h"

/// Twice the cell's ground area.
static double cell_area2(const nav__build *b, uint32_t cell)
{
    uint32_t start = b->cells[cell].half;
    nav__p2 o = nav__build_spot(b, start), p = nav__build_spot(b, b->halves[start].next);
    double sum = 0;
    for (uint32_t h = b->halves[b->halves[start].next].next; h != start; h = b->halves[h].next) {
        nav__p2 q = nav__build_spot(b, h);
        sum += nav__cross(nav__sub(p, o), nav__sub(q, o));
        p = q;
    }
    return sum;
}

/// Numbers connected components of cells, in the cells' order.
/// @param stack  scratch [cell_count]
static bool number_islands(nav__build *b, uint32_t *stack)
{
    for (uint32_t c = 0; c < b->cell_count; c++) {
        b->cells[c].island = NAV_NONE;
    }
    b->island_count = 0;
    for (uint32_t c = 0; c < b->cell_count; c++) {
        if (b->cells[c].half == NAV_NONE || b->cells[c].island != NAV_NONE) {
            continue;
        }
        uint32_t count = 0, island = b->island_count++;
        b->cells[c].island = island;
        stack[count++] = c;
        while (count > 0) {
            uint32_t start = b->cells[stack[--count]].half, h = start;
            do {
                uint32_t twin = b->halves[h].twin;
                if (twin != NAV_NONE && b->cells[b->halves[twin].cell].island == NAV_NONE) {
                    b->cells[b->halves[twin].cell].island = island;
                    stack[count++] = b->halves[twin].cell;
                }
                h = b->halves[h].next;
            } while (h != start);
        }
    }
    b->island_area = nav__build_take(b, b->island_count, sizeof *b->island_area);
    if (!b->island_area) {
        return false;
    }
    memset(b->island_area, 0, b->island_count * sizeof *b->island_area);
    for (uint32_t c = 0; c < b->cell_count; c++) {
        if (b->cells[c].half != NAV_NONE) {
            b->island_area[b->cells[c].island] += cell_area2(b, c) / 2;
        }
    }
    return true;
}

/// The depth-first search that finds the blocks of the cell graph: parts that hold together whichever cell is
/// taken out (Hopcroft and Tarjan, "Algorithm 447: efficient algorithms for graph manipulation", 1973).
/// All cells in which links begin or end count as neighbours of one more, which the search sets out from: a
/// ride may lead from any to any, and so no dead end ever holds one of them.
typedef struct block_search {
    uint32_t *found;  ///< [cells] when the cell was found, from 2 on; 0: not yet
    uint32_t *least;  ///< [cells] the earliest found of what the cell and those found from it touch
    uint32_t *parent; ///< [cells] the cell it was found from; NAV_NONE: none
    uint32_t *cursor; ///< [cells] the half-edge to look through next; NAV_NONE: none is left
    uint32_t *order;  ///< cells as they were found
    uint32_t *last;   ///< [cells + 1] by block: the last number of what hangs on it
    uint32_t count;
} block_search;

enum { FOUND_LINKS = 1 }; ///< when the neighbour of all links' ends was found

static bool take_block_search(nav__build *b, block_search *s)
{
    s->found = nav__build_take(b, b->cell_count, sizeof *s->found);
    s->least = nav__build_take(b, b->cell_count, sizeof *s->least);
    s->parent = nav__build_take(b, b->cell_count, sizeof *s->parent);
    s->cursor = nav__build_take(b, b->cell_count, sizeof *s->cursor);
    s->order = nav__build_take(b, b->cell_count, sizeof *s->order);
    s->last = nav__build_take(b, (size_t)b->cell_count + 1, sizeof *s->last);
    s->count = 0;
    return s->found && s->least && s->parent && s->cursor && s->order && s->last;
}

static void give_block_search(nav__build *b, block_search *s)
{
    nav__build_give(b, s->found);
    nav__build_give(b, s->least);
    nav__build_give(b, s->parent);
    nav__build_give(b, s->cursor);
    nav__build_give(b, s->order);
    nav__build_give(b, s->last);
}

static void find_cell(const nav__build *b, block_search *s, uint32_t cell, uint32_t parent)
{
    s->order[s->count++] = cell;
    s->found[cell] = FOUND_LINKS + s->count;
    s->least[cell] = b->cells[cell].link_end ? FOUND_LINKS : s->found[cell];
    s->parent[cell] = parent;
    s->cursor[cell] = b->cells[cell].half;
}

static void search_blocks(const nav__build *b, block_search *s, uint32_t root)
{
    find_cell(b, s, root, NAV_NONE);
    for (uint32_t c = root; c != NAV_NONE;) {
        uint32_t h = s->cursor[c];
        if (h == NAV_NONE) {
            uint32_t parent = s->parent[c];
            if (parent != NAV_NONE && s->least[c] < s->least[parent]) {
                s->least[parent] = s->least[c];
            }
            c = parent;
            continue;
        }
        uint32_t next = b->halves[h].next, twin = b->halves[h].twin;
        s->cursor[c] = next == b->cells[c].half ? NAV_NONE : next;
        if (twin == NAV_NONE) {
            continue;
        }
        uint32_t other = b->halves[twin].cell;
        if (s->found[other] == 0) {
            find_cell(b, s, other, c);
            c = other;
        } else if (s->found[other] < s->least[c]) {
            s->least[c] = s->found[other];
        }
    }
}

/// Numbers blocks as they were met, so that those that hang on one follow it.
static void number_blocks(nav__build *b, block_search *s)
{
    uint32_t block_count = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t c = s->order[i], parent = s->parent[c];
        bool begins = parent == NAV_NONE || s->least[c] >= s->found[parent];
        b->cells[c].tree_first = begins ? ++block_count : b->cells[parent].tree_first;
        s->last[b->cells[c].tree_first] = block_count;
    }
    for (uint32_t i = s->count; i-- > 0;) {
        uint32_t parent = s->parent[s->order[i]], last = s->last[b->cells[s->order[i]].tree_first];
        if (parent != NAV_NONE && s->last[b->cells[parent].tree_first] < last) {
            s->last[b->cells[parent].tree_first] = last;
        }
    }
    for (uint32_t i = 0; i < s->count; i++) {
        b->cells[s->order[i]].tree_last = s->last[b->cells[s->order[i]].tree_first];
    }
}

static void find_blocks(nav__build *b, block_search *s)
{
    memset(s->found, 0, b->cell_count * sizeof *s->found);
    for (int links = 1; links >= 0; links--) {
        for (uint32_t c = 0; c < b->cell_count; c++) {
            if (b->cells[c].half != NAV_NONE && s->found[c] == 0 && (!links || b->cells[c].link_end)) {
                search_blocks(b, s, c);
            }
        }
    }
    number_blocks(b, s);
}

/// Place on the Hilbert curve of order 16 (the classic table-free form of Lam and Shapiro, "A Class of
/// Fast Algorithms for the Peano-Hilbert Space-Filling Curve", 1994).
static uint32_t hilbert(uint32_t x, uint32_t z)
{
    uint32_t d = 0;
    for (uint32_t s = 1u << 15; s > 0; s >>= 1) {
        uint32_t rx = (x & s) != 0, rz = (z & s) != 0;
        d += s * s * ((3 * rx) ^ rz);
        if (rz == 0) {
            if (rx == 1) {
                x = 0xFFFFu - x;
                z = 0xFFFFu - z;
            }
            uint32_t swap = x;
            x = z;
            z = swap;
        }
    }
    return d;
}

static nav__p2 cell_middle(const nav__build *b, uint32_t cell)
{
    uint32_t start = b->cells[cell].half, h = start;
    nav__p2 sum = {0, 0};
    do {
        nav__p2 p = nav__build_spot(b, h);
        sum.x += p.x;
        sum.z += p.z;
        h = b->halves[h].next;
    } while (h != start);
    return (nav__p2){sum.x / b->cells[cell].size, sum.z / b->cells[cell].size};
}

/// Along a space-filling curve: cells that a search meets together lie together.
static bool order_cells(nav__build *b)
{
    uint64_t *keys = nav__build_take(b, 2 * (size_t)b->cell_count, sizeof *keys);
    b->cell_order = nav__build_take(b, b->cell_count, sizeof *b->cell_order);
    if (!keys || !b->cell_order) {
        return false;
    }
    const nav__work_grid *g = &b->grid;
    double scale = 65535.0 / ((double)g->step * fmax(g->nx, g->nz));
    b->live_cells = 0;
    for (uint32_t c = 0; c < b->cell_count; c++) {
        if (b->cells[c].half != NAV_NONE) {
            nav__p2 p = cell_middle(b, c);
            double x = fmin(fmax((p.x - (double)g->x) * scale, 0), 65535);
            double z = fmin(fmax((p.z - (double)g->z) * scale, 0), 65535);
            keys[b->live_cells++] = (uint64_t)hilbert((uint32_t)x, (uint32_t)z) << 32 | c;
        }
    }
    nav__sort_u64(keys, keys + b->cell_count, b->live_cells);
    for (uint32_t i = 0; i < b->live_cells; i++) {
        b->cell_order[i] = (uint32_t)keys[i];
    }
    nav__build_give(b, keys);
    return true;
}

nav_status nav__build_graph(nav__build *b)
{
    block_search s;
    uint32_t *stack = nav__build_take(b, b->cell_count, sizeof *stack);
    if (!stack || !number_islands(b, stack) || !take_block_search(b, &s) || !order_cells(b)) {
        return nav__build_no_memory(b);
    }
    find_blocks(b, &s);
    nav__build_give(b, stack);
    give_block_search(b, &s);
    return NAV_OK;
}
