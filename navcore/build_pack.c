/// The finished mesh: everything renumbered into flat arrays in one block.
#include "build_pack.h"

#include "alloc.h"

#include <float.h>

/// Every array begins on a line of its own kind; 16 suits all element types.
#define ALIGNMENT ((size_t)16)

/// Where an array of the block goes.
typedef struct slot {
    const void **array;
    size_t bytes;
} slot;

static bool number_edges(nav__build *b, nav__pack *p)
{
    p->old_half = nav__build_take(b, b->half_count, sizeof *p->old_half);
    p->new_edge = nav__build_take(b, b->half_count, sizeof *p->new_edge);
    p->new_cell = nav__build_take(b, b->cell_count, sizeof *p->new_cell);
    if (!p->old_half || !p->new_edge || !p->new_cell) {
        return false;
    }
    p->edge_count = p->cell_face_count = 0;
    for (uint32_t c = 0; c < b->live_cells; c++) {
        const nav__work_cell *cell = &b->cells[b->cell_order[c]];
        p->new_cell[b->cell_order[c]] = c;
        uint32_t h = cell->half;
        do {
            p->new_edge[h] = p->edge_count;
            p->old_half[p->edge_count++] = h;
            h = b->halves[h].next;
        } while (h != cell->half);
        for (uint32_t i = cell->first_item; i != NAV_NONE; i = b->items[i].next) {
            p->cell_face_count++;
        }
    }
    return true;
}

static bool set_slot(slot *s, const void *array, size_t count, size_t size)
{
    if (count > SIZE_MAX / 64 / size) {
        return false;
    }
    s->array = (const void **)array;
    s->bytes = count * size;
    return true;
}

/// Do all points lie at one height?
static bool is_flat(const nav__build *b)
{
    for (uint32_t p = 1; p < b->point_count; p++) {
        if (b->points[3 * (size_t)p + 1] != b->points[1]) {
            return false;
        }
    }
    return true;
}

/// Is each polygon one face?
static bool has_whole_polygons(const nav__build *b)
{
    for (uint32_t f = 0; f < b->face_count; f++) {
        if (b->faces[f].polygon != f) {
            return false;
        }
    }
    return true;
}

/// Sizes of all arrays, in the order in which they lie. Those that this mesh does not need have none.
static uint32_t list_slots(const nav__build *b, const nav__pack *p, nav_mesh *m, slot *slots)
{
    size_t grid_cells = (size_t)b->grid.nx * b->grid.nz;
    uint32_t n = 0;
    bool fits = true;
#define SLOT(array, count) fits = fits && set_slot(&slots[n++], &m->array, (count), sizeof *m->array)
    SLOT(cells, (size_t)m->cell_count + 1);
    SLOT(edges, p->edge_count);
    SLOT(edge_block, p->edge_count / NAV__EDGE_BLOCK + 1);
    SLOT(edge_offset, p->edge_count);
    SLOT(vertex_edge, p->vertex_count);
    SLOT(cell_faces, p->cell_face_count);
    SLOT(faces, (size_t)b->face_count + 1);
    SLOT(face_corners, b->corner_count);
    SLOT(points, 3 * (size_t)b->point_count);
    SLOT(tris, 3 * (size_t)b->tri_count);
    SLOT(grid_cells, grid_cells);
    SLOT(grid_faces, b->grid.first[grid_cells]);
    SLOT(island_area, b->island_count);
    SLOT(links, b->link_count);
    SLOT(rides, 2 * (size_t)b->link_count); // build_rides.c fills as many as it needs
    if (!is_flat(b)) {
        SLOT(vertex_y, p->vertex_count);
    }
    if (b->tri_count > 0) {
        SLOT(face_tris, (size_t)b->face_count + 1);
    }
    if (!has_whole_polygons(b)) {
        SLOT(face_polygon, b->face_count);
    }
#undef SLOT
    return fits ? n : 0;
}

/// One allocation for all arrays.
static nav_status take_block(nav__build *b, const nav__pack *p, nav_mesh *m)
{
    slot slots[20];
    uint32_t count = list_slots(b, p, m, slots);
    if (count == 0) {
        return nav_fail(b->error, NAV_TOO_LARGE, 0, NAV_NO_BYTE, "the mesh does not fit into memory");
    }
    m->block_bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        m->block_bytes += (slots[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    m->block = m->alloc.resize(m->alloc.ctx, NULL, m->block_bytes);
    if (!m->block) {
        return nav__build_no_memory(b);
    }
    char *at = m->block;
    memset(at, 0, m->block_bytes); // padding too: the same mesh is the same bytes
    for (uint32_t i = 0; i < count; i++) {
        const void *start = at;
        memcpy(slots[i].array, &start, sizeof start); // the arrays' element types differ
        at += (slots[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return NAV_OK;
}

static void fill_header(const nav__build *b, const nav__pack *p, nav_mesh *m)
{
    const nav_soup *s = b->soup;
    m->origin = b->origin;
    m->rounding = b->rounding;
    m->agent = b->agent;
    m->has_flags = s->has_flags;
    m->has_areas = s->has_areas;
    m->polygon_count = s->poly_count;
    m->face_count = b->face_count;
    m->corner_count = b->corner_count;
    m->point_count = b->point_count;
    m->vertex_points = b->vertex_points;
    m->tri_count = b->tri_count;
    m->cell_count = b->live_cells;
    m->cell_face_count = p->cell_face_count;
    m->edge_count = p->edge_count;
    m->vertex_count = p->vertex_count;
    m->island_count = b->island_count;
    m->sorted_face_count = b->face_count;
    m->link_count = b->link_count;
    m->grid_x = b->grid.x;
    m->grid_z = b->grid.z;
    m->grid_step = b->grid.step;
    m->grid_inverse = b->grid.inverse;
    m->grid_nx = b->grid.nx;
    m->grid_nz = b->grid.nz;
    for (uint32_t c = 0; c < b->live_cells; c++) {
        const nav__work_cell *cell = &b->cells[b->cell_order[c]];
        m->flags_used |= cell->flags;
        m->has_flagless = m->has_flagless || (s->has_flags && !cell->flags);
        m->areas_used[cell->area / 64] |= (uint64_t)1 << cell->area % 64;
    }
}

static void grow_bounds(nav_mesh *m, const float *p)
{
    for (int i = 0; i < 3; i++) {
        m->min[i] = fminf(m->min[i], p[i]);
        m->max[i] = fmaxf(m->max[i], p[i]);
    }
}

static void fill_face_bounds(nav_mesh *m)
{
    nav__face *faces = (nav__face *)m->faces;
    float side = fmaxf(m->max[0] - m->min[0], m->max[2] - m->min[2]);
    m->bound_inverse = 65536 / side;
    for (uint32_t f = 0; f < m->face_count; f++) {
        faces[f].low_x = faces[f].low_z = UINT16_MAX;
        faces[f].high_x = faces[f].high_z = 0;
        for (uint32_t k = faces[f].first_corner; k < faces[f + 1].first_corner; k++) {
            const float *p = &m->points[3 * (size_t)m->face_corners[k]];
            uint16_t x = nav__bound_index(m, (double)p[0], m->grid_x), z = nav__bound_index(m, (double)p[2], m->grid_z);
            faces[f].low_x = x < faces[f].low_x ? x : faces[f].low_x;
            faces[f].low_z = z < faces[f].low_z ? z : faces[f].low_z;
            faces[f].high_x = x > faces[f].high_x ? x : faces[f].high_x;
            faces[f].high_z = z > faces[f].high_z ? z : faces[f].high_z;
        }
    }
}

static void fill_surface(const nav__build *b, const nav__pack *p, nav_mesh *m)
{
    nav__face *faces = (nav__face *)m->faces;
    uint32_t *face_tris = (uint32_t *)m->face_tris, *face_polygon = (uint32_t *)m->face_polygon;
    for (uint32_t f = 0; f <= b->face_count; f++) {
        const nav__work_face *w = &b->faces[f];
        faces[f] = (nav__face){.first_corner = w->first_corner, .cell = NAV_NONE};
        if (face_tris) {
            face_tris[f] = w->first_tri;
        }
        if (f < b->face_count) {
            faces[f].cell = p->new_cell[w->cell];
            if (face_polygon) {
                face_polygon[f] = w->polygon;
            }
        }
    }
    memcpy((void *)m->face_corners, b->face_corners, b->corner_count * sizeof *m->face_corners);
    memcpy((void *)m->points, b->points, 3 * (size_t)b->point_count * sizeof *m->points);
    memcpy((void *)m->tris, b->tris, 3 * (size_t)b->tri_count * sizeof *m->tris);
    nav__grid_cell *grid_cells = (nav__grid_cell *)m->grid_cells;
    size_t grid_cell_count = (size_t)b->grid.nx * b->grid.nz;
    for (size_t g = 0; g < grid_cell_count; g++) {
        grid_cells[g] = (nav__grid_cell){b->grid.first[g], b->grid.first[g + 1]};
    }
    m->grid_face_count = b->grid.first[grid_cell_count];
    memcpy((void *)m->grid_faces, b->grid.faces, m->grid_face_count * sizeof *m->grid_faces);
    memcpy((void *)m->island_area, b->island_area, b->island_count * sizeof *m->island_area);
    if (b->link_count > 0) {
        memcpy((void *)m->links, b->links, b->link_count * sizeof *m->links);
    }
    for (int i = 0; i < 3; i++) {
        m->min[i] = FLT_MAX;
        m->max[i] = -FLT_MAX;
    }
    for (uint32_t k = 0; k < b->corner_count; k++) {
        grow_bounds(m, &b->points[3 * (size_t)b->face_corners[k]]);
    }
    for (uint32_t t = 0; t < 3 * b->tri_count; t++) {
        grow_bounds(m, &b->points[3 * (size_t)b->tris[t]]);
    }
    fill_face_bounds(m);
}

static bool leads_to_dead_end(const nav__build *b, uint32_t half)
{
    uint32_t twin = b->halves[half].twin;
    return twin != NAV_NONE && b->cells[b->halves[twin].cell].tree_first > b->cells[b->halves[half].cell].tree_first;
}

static void fill_cells(const nav__build *b, const nav__pack *p, nav_mesh *m)
{
    nav__cell *cells = (nav__cell *)m->cells;
    nav__edge *edges = (nav__edge *)m->edges;
    uint32_t *block = (uint32_t *)m->edge_block, *cell_faces = (uint32_t *)m->cell_faces;
    uint8_t *offset = (uint8_t *)m->edge_offset;
    uint32_t edge = 0, item_count = 0;
    for (uint32_t c = 0; c < b->live_cells; c++) {
        const nav__work_cell *w = &b->cells[b->cell_order[c]];
        cells[c] = (nav__cell){.first_edge = edge,
                               .first_face = item_count,
                               .island = w->island,
                               .tree_first = w->tree_first,
                               .tree_last = w->tree_last,
                               .flags = w->flags,
                               .area = w->area,
                               .link_end = w->link_end};
        for (uint32_t i = w->first_item; i != NAV_NONE; i = b->items[i].next) {
            cell_faces[item_count++] = b->items[i].face;
        }
        for (uint32_t end = edge + w->size; edge < end; edge++) {
            uint32_t h = p->old_half[edge], twin = b->halves[h].twin, spot = b->halves[h].spot;
            edges[edge] = (nav__edge){.x = b->spots[2 * (size_t)spot],
                                      .z = b->spots[2 * (size_t)spot + 1],
                                      .vertex = p->half_vertex[h] | (leads_to_dead_end(b, h) ? NAV__DEAD_END : 0),
                                      .twin = twin == NAV_NONE ? NAV_NONE : p->new_edge[twin]};
            if (edge % NAV__EDGE_BLOCK == 0) {
                block[edge / NAV__EDGE_BLOCK] = c;
            }
            offset[edge] = (uint8_t)(c - block[edge / NAV__EDGE_BLOCK]);
        }
    }
    cells[b->live_cells] = (nav__cell){.first_edge = edge, .first_face = item_count};
}

static void note_height(nav_mesh *m, nav__cell *cell, uint32_t point, float first)
{
    float y = m->points[3 * (size_t)point + 1];
    uint16_t index = nav__height_index(m, (double)y);
    cell->low_y = index < cell->low_y ? index : cell->low_y;
    cell->high_y = index > cell->high_y ? index : cell->high_y;
    cell->level = cell->level && y == first;
}

/// What point location asks a cell: how high its faces lie, and whether one of them may lie on other cells too.
static void fill_cell_bounds(nav_mesh *m)
{
    nav__cell *cells = (nav__cell *)m->cells;
    for (uint32_t c = 0; c < m->cell_count; c++) {
        float first = nav__cell_level(m, c);
        cells[c].low_y = UINT16_MAX;
        cells[c].level = 1;
        for (uint32_t i = cells[c].first_face; i < cells[c + 1].first_face; i++) {
            uint32_t f = m->cell_faces[i];
            const nav__face *face = &m->faces[f];
            if (face->cell != c) {
                cells[c].shares_face = cells[face->cell].shares_face = 1;
            }
            for (uint32_t k = face->first_corner; k < face[1].first_corner; k++) {
                note_height(m, &cells[c], m->face_corners[k], first);
            }
            uint32_t first_tri, end_tri = nav__face_tris(m, f, &first_tri);
            for (uint32_t k = 3 * first_tri; k < 3 * end_tri; k++) {
                note_height(m, &cells[c], m->tris[k], first);
            }
        }
    }
}

static void fill_vertices(const nav__build *b, const nav__pack *p, nav_mesh *m)
{
    float *y = (float *)m->vertex_y;
    uint32_t *edge = (uint32_t *)m->vertex_edge;
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        uint32_t h = p->vertex_half[v];
        edge[v] = p->new_edge[h];
        if (y) {
            y[v] = nav__build_height(b, b->halves[h].spot);
        }
    }
}

nav_status nav__build_pack(nav__build *b, nav_mesh **out)
{
    nav__pack p;
    if (!number_edges(b, &p) || !nav__pack_fans(b, &p)) {
        return nav__build_no_memory(b);
    }
    nav_mesh *m = b->alloc.resize(b->alloc.ctx, NULL, sizeof *m);
    if (!m) {
        return nav__build_no_memory(b);
    }
    memset(m, 0, sizeof *m);
    m->alloc = b->alloc;
    fill_header(b, &p, m);
    nav_status status = take_block(b, &p, m);
    if (status != NAV_OK) {
        m->alloc.resize(m->alloc.ctx, m, 0);
        return status;
    }
    fill_surface(b, &p, m);
    fill_cells(b, &p, m);
    fill_cell_bounds(m);
    fill_vertices(b, &p, m);
    *out = m;
    return NAV_OK;
}
