/// What the finished cells form: islands, dead-end trees, and the order in which they lie in memory.
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

/// Peels leaves off the cell graph: cells with one portal left, again and again.
typedef struct peeler {
    uint32_t *open;   ///< [cells] portals not yet peeled
    uint32_t *order;  ///< peeled cells, leaves first
    uint32_t *stem;   ///< [cells] the cell that a peeled cell hangs on
    uint32_t *sizes;  ///< [cells] cells of its tree, itself included; 0: not peeled
    uint32_t count;
} peeler;

static bool take_peeler(nav__build *b, peeler *p)
{
    p->open = nav__build_take(b, b->cell_count, sizeof *p->open);
    p->order = nav__build_take(b, b->cell_count, sizeof *p->order);
    p->stem = nav__build_take(b, b->cell_count, sizeof *p->stem);
    p->sizes = nav__build_take(b, b->cell_count, sizeof *p->sizes);
    p->count = 0;
    return p->open && p->order && p->stem && p->sizes;
}

/// The one neighbour of a leaf that is not peeled itself.
static uint32_t stem_of(const nav__build *b, const peeler *p, uint32_t cell)
{
    uint32_t start = b->cells[cell].half, h = start;
    do {
        uint32_t twin = b->halves[h].twin;
        if (twin != NAV_NONE && p->sizes[b->halves[twin].cell] == 0) {
            return b->halves[twin].cell;
        }
        h = b->halves[h].next;
    } while (h != start);
    return NAV_NONE;
}

/// Leaves are taken in waves, so that of an island that is a tree the middle is left.
static void peel(nav__build *b, peeler *p)
{
    for (uint32_t c = 0; c < b->cell_count; c++) {
        p->open[c] = p->sizes[c] = 0;
        if (b->cells[c].half == NAV_NONE) {
            continue;
        }
        uint32_t start = b->cells[c].half, h = start;
        do {
            p->open[c] += b->halves[h].twin != NAV_NONE;
            h = b->halves[h].next;
        } while (h != start);
        if (p->open[c] == 1 && !b->cells[c].link_end) {
            p->order[p->count++] = c;
        }
    }
    uint32_t kept = 0; // order[0 .. kept - 1] are peeled, up to count they wait
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t c = p->order[i], stem = p->open[c] == 1 ? stem_of(b, p, c) : NAV_NONE;
        if (stem == NAV_NONE || stem == c) {
            continue; // the last cell of an island: its neighbours have all been peeled
        }
        p->order[kept++] = c;
        p->stem[c] = stem;
        p->sizes[c] = 1;
        if (--p->open[stem] == 1 && !b->cells[stem].link_end) {
            p->order[p->count++] = stem;
        }
    }
    p->count = kept;
}

/// Numbers each tree's cells so that those behind a cell follow it.
static void number_trees(nav__build *b, peeler *p)
{
    for (uint32_t c = 0; c < b->cell_count; c++) {
        b->cells[c].tree_first = b->cells[c].tree_last = 0;
    }
    for (uint32_t i = 0; i < p->count; i++) { // leaves first: a cell's size is whole when it is added
        uint32_t stem = p->stem[p->order[i]];
        if (p->sizes[stem] > 0) {
            p->sizes[stem] += p->sizes[p->order[i]];
        }
    }
    uint32_t next = 1;
    uint32_t *cursor = p->open; // of a numbered cell: the number its next child gets
    for (uint32_t i = p->count; i-- > 0;) { // stems before what hangs on them
        uint32_t c = p->order[i], stem = p->stem[c], first;
        if (p->sizes[stem] == 0) {
            first = next;
            next += p->sizes[c];
        } else {
            first = cursor[stem];
            cursor[stem] += p->sizes[c];
        }
        b->cells[c].tree_first = first;
        b->cells[c].tree_last = first + p->sizes[c] - 1;
        cursor[c] = first + 1;
    }
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
    peeler p;
    uint32_t *stack = nav__build_take(b, b->cell_count, sizeof *stack);
    if (!stack || !number_islands(b, stack) || !take_peeler(b, &p) || !order_cells(b)) {
        return nav__build_no_memory(b);
    }
    peel(b, &p);
    number_trees(b, &p);
    nav__build_give(b, stack);
    nav__build_give(b, p.open);
    nav__build_give(b, p.order);
    nav__build_give(b, p.stem);
    nav__build_give(b, p.sizes);
    return NAV_OK;
}
