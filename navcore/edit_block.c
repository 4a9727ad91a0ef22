/// A revision's block: every array of the mesh with room behind it, and who has written what.
#include "edit.h"

#include <string.h>

enum { ALIGNMENT = 64, PAGE = 4096, MOST_WRITES = 1 << 16 };

bool nav__numbers_add(const nav_editor *e, nav__numbers *list, uint32_t value)
{
    if (!nav__grow(&e->alloc, &list->data, &list->cap, list->count, sizeof *list->data)) {
        return false;
    }
    list->data[list->count++] = value;
    return true;
}

void nav__numbers_free(const nav_editor *e, nav__numbers *list)
{
    if (list->data) {
        e->alloc.resize(e->alloc.ctx, list->data, 0);
    }
    *list = (nav__numbers){NULL, 0, 0};
}

bool nav__numbers_size(const nav_editor *e, nav__numbers *list, uint32_t count)
{
    if (!nav__grow(&e->alloc, &list->data, &list->cap, count, sizeof *list->data)) {
        return false;
    }
    if (count > list->count) {
        memset(list->data + list->count, 0, (count - list->count) * sizeof *list->data);
        list->count = count;
    }
    return true;
}

/// One array of the mesh.
typedef struct array_slot {
    size_t field; ///< where the pointer lies in nav_mesh
    size_t size;
    size_t used, room;
} array_slot;

/// What of each array is used, and how much room it has in all.
static void list_arrays(const nav_mesh *m, const nav__room *r, array_slot slots[NAV__ARRAYS])
{
    size_t grid = (size_t)m->grid_nx * m->grid_nz;
    uint32_t n = 0;
#define SLOT(array, used, more) \
    slots[n++] = (array_slot){offsetof(nav_mesh, array), sizeof *m->array, (used), (size_t)(used) + (more)}
    SLOT(cells, (size_t)m->cell_count + 1, r->cells);
    SLOT(edges, m->edge_count, r->edges);
    SLOT(edge_block, m->edge_count / NAV__EDGE_BLOCK + 1, r->edges / NAV__EDGE_BLOCK + 1);
    SLOT(edge_offset, m->edge_count, r->edges);
    SLOT(vertex_edge, m->vertex_count, r->vertices);
    SLOT(vertex_y, m->vertex_count, r->vertices);
    SLOT(cell_faces, m->cell_face_count, r->cell_faces);
    SLOT(faces, (size_t)m->face_count + 1, r->faces);
    SLOT(face_tris, (size_t)m->face_count + 1, r->faces);
    SLOT(face_polygon, m->face_count, r->faces);
    SLOT(face_pieces, m->face_count, r->faces);
    SLOT(face_corners, m->corner_count, r->corners);
    SLOT(points, 3 * (size_t)m->point_count, 3 * (size_t)r->points);
    SLOT(tris, 3 * (size_t)m->tri_count, 3 * (size_t)r->tris);
    SLOT(grid_cells, grid, 0);
    SLOT(grid_faces, m->grid_face_count, r->grid_faces);
    SLOT(island_area, m->island_count, 0);
    SLOT(links, m->link_count, r->links);
    SLOT(rides, m->ride_count, 2 * (size_t)r->links + 2 * (size_t)m->link_count);
#undef SLOT
}

static const char **field_of(nav_mesh *m, size_t field)
{
    return (const char **)((char *)m + field);
}

/// The header's pointers lead into the block.
static void point_into(const nav_editor *e, nav_mesh *m, char *block)
{
    array_slot slots[NAV__ARRAYS];
    list_arrays(&e->base, &e->room, slots);
    for (uint32_t i = 0; i < NAV__ARRAYS; i++) {
        const char *at = block + e->offsets[i];
        memcpy(field_of(m, slots[i].field), &at, sizeof at); // the arrays' element types differ
    }
    m->block = block;
}

/// Arrays that the mesh did without.
static void fill_in(nav_mesh *m, const nav_mesh *from)
{
    uint32_t *tris = (uint32_t *)m->face_tris, *polygon = (uint32_t *)m->face_polygon;
    uint32_t *pieces = (uint32_t *)m->face_pieces;
    float *y = (float *)m->vertex_y;
    for (uint32_t f = 0; f <= m->face_count && !from->face_tris; f++) {
        tris[f] = 0;
    }
    for (uint32_t f = 0; f < m->face_count && !from->face_polygon; f++) {
        polygon[f] = f;
    }
    for (uint32_t f = 0; f < m->face_count && !from->face_pieces; f++) {
        pieces[f] = NAV_NONE;
    }
    for (uint32_t v = 0; v < m->vertex_count && !from->vertex_y; v++) {
        y[v] = m->min[1];
    }
    if (!m->has_flags) { // what ground without flags is worth once a region has some
        nav__cell *cells = (nav__cell *)m->cells;
        for (uint32_t c = 0; c < m->cell_count; c++) {
            cells[c].flags = 1;
        }
    }
}

static void choose_room(nav_editor *e, const nav_mesh *m)
{
    uint64_t more = (uint64_t)e->growth * (32768 + (uint64_t)m->cell_count);
    uint32_t c = more < 60000000 ? (uint32_t)more : 60000000;
    e->room = (nav__room){.cells = c,
                          .edges = 6 * c,
                          .vertices = 4 * c,
                          .cell_faces = 3 * c,
                          .faces = 2 * c,
                          .corners = 10 * c,
                          .points = 6 * c,
                          .tris = 6 * c,
                          .grid_faces = 8 * c + m->grid_face_count,
                          .links = 1024 * e->growth};
}

nav_status nav__edit_lay_out(nav_editor *e, const nav_mesh *base)
{
    array_slot slots[NAV__ARRAYS];
    if ((uint64_t)base->edge_count + (uint64_t)e->growth * 6 * (32768 + (uint64_t)base->cell_count) > UINT32_MAX / 4) {
        return NAV_TOO_LARGE;
    }
    choose_room(e, base);
    list_arrays(base, &e->room, slots);
    e->block_bytes = 0;
    for (uint32_t i = 0; i < NAV__ARRAYS; i++) {
        e->offsets[i] = e->block_bytes;
        e->block_bytes += (slots[i].size * slots[i].room + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    e->block_bytes = (e->block_bytes + PAGE - 1) / PAGE * PAGE;
    e->store = nav__store_create(&e->alloc, e->block_bytes);
    e->dirty = e->alloc.resize(e->alloc.ctx, NULL, (e->block_bytes / PAGE / 64 + 1) * sizeof *e->dirty);
    if (!e->store || !e->dirty) {
        return NAV_NO_MEMORY;
    }
    memset(e->dirty, 0, (e->block_bytes / PAGE / 64 + 1) * sizeof *e->dirty);
    e->base = *base;
    point_into(e, &e->base, nav__store_image(e->store));
    for (uint32_t i = 0; i < NAV__ARRAYS; i++) {
        const void *from;
        memcpy(&from, (const char *)base + slots[i].field, sizeof from);
        if (from && slots[i].used > 0) {
            memcpy(nav__store_image(e->store) + e->offsets[i], from, slots[i].size * slots[i].used);
        }
    }
    fill_in(&e->base, base);
    e->base.alloc = e->alloc;
    e->base.revision = NULL;
    e->newest = nav__store_take(e->store);
    if (!e->newest) {
        return NAV_NO_MEMORY;
    }
    e->now = e->base;
    point_into(e, &e->now, e->newest->bytes);
    return NAV_OK;
}

/// Brings a block that was written some revisions ago to the newest state.
static void catch_up(const nav_editor *e, nav__revision *block)
{
    const char *from = e->newest->bytes;
    if (block->edition < e->writes_from) {
        for (uint32_t i = 0; i < e->dirty_pages.count; i++) {
            size_t at = (size_t)e->dirty_pages.data[i] * PAGE;
            memcpy(block->bytes + at, from + at, PAGE);
        }
        return;
    }
    uint32_t first = e->write_count;
    while (first > 0 && e->writes[first - 1].edition > block->edition) {
        first--;
    }
    for (uint32_t i = first; i < e->write_count; i++) {
        const nav__write *w = &e->writes[i];
        memcpy(block->bytes + w->offset, from + w->offset, w->bytes);
    }
}

bool nav__edit_begin(nav_editor *e, nav__revision **block)
{
    *block = nav__store_take(e->store);
    if (!*block) {
        return false;
    }
    catch_up(e, *block);
    point_into(e, &e->now, (*block)->bytes);
    return true;
}

void nav__edit_finish(nav_editor *e, nav__revision *block)
{
    block->edition = ++e->edition;
    nav__revision_hold(block); // the editor's own: the next revision is made from it
    nav__revision_release(e->newest);
    e->newest = block;
    if (e->write_count > MOST_WRITES) {
        uint32_t dropped = e->write_count / 2;
        e->writes_from = e->writes[dropped - 1].edition;
        memmove(e->writes, e->writes + dropped, (e->write_count - dropped) * sizeof *e->writes);
        e->write_count -= dropped;
    }
}

static void note_page(nav_editor *e, size_t page)
{
    uint64_t bit = (uint64_t)1 << page % 64;
    if (!(e->dirty[page / 64] & bit)) {
        e->dirty[page / 64] |= bit;
        e->broken = !nav__numbers_add(e, &e->dirty_pages, (uint32_t)page) || e->broken;
    }
}

void *nav__edit_write(nav_editor *e, const void *array, size_t index, size_t size, size_t count)
{
    char *block = e->now.block, *at = (char *)(uintptr_t)array + index * size;
    size_t offset = (size_t)(at - block), bytes = size * count;
    nav__write *last = e->write_count > 0 ? &e->writes[e->write_count - 1] : NULL;
    if (last && last->edition == e->edition + 1 && last->offset + last->bytes == offset && last->bytes < PAGE) {
        last->bytes += (uint32_t)bytes;
    } else if (nav__grow(&e->alloc, &e->writes, &e->write_cap, e->write_count, sizeof *e->writes)) {
        e->writes[e->write_count++] = (nav__write){e->edition + 1, offset, (uint32_t)bytes};
    } else {
        e->broken = true;
    }
    for (size_t page = offset / PAGE; page <= (offset + (bytes > 0 ? bytes - 1 : 0)) / PAGE; page++) {
        note_page(e, page);
    }
    return at;
}

size_t nav__edit_used(const nav_editor *e)
{
    array_slot slots[NAV__ARRAYS];
    nav__room none = {0};
    size_t sum = 0;
    list_arrays(&e->now, &none, slots);
    for (uint32_t i = 0; i < NAV__ARRAYS; i++) {
        sum += slots[i].size * slots[i].used;
    }
    return sum;
}
