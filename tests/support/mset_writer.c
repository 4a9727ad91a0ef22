#include "mset_writer.h"

#include <stdlib.h>
#include <string.h>

/// A buffer that grows; `failed` once memory ran out.
typedef struct writer {
    uint8_t *data;
    size_t size, cap;
    bool failed;
} writer;

static void put(writer *w, uint64_t value, size_t bytes)
{
    if (w->size + bytes > w->cap) {
        size_t cap = w->cap ? 2 * w->cap : 4096;
        uint8_t *data = realloc(w->data, cap);
        if (!data) {
            w->failed = true;
            return;
        }
        w->data = data;
        w->cap = cap;
    }
    for (size_t i = 0; i < bytes; i++) {
        w->data[w->size++] = (uint8_t)(value >> 8 * i);
    }
}

static void put_float(writer *w, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(w, bits, 4);
}

static void put_floats(writer *w, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put_float(w, values[i]);
    }
}

static void put_zeros(writer *w, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put(w, 0, 1);
    }
}

static void put_header(writer *w, const mset_tile *t)
{
    uint32_t ground = 0;
    while (ground < t->polygon_count && !t->polygons[ground].off_mesh) {
        ground++;
    }
    put(w, 0x444E4156, 4);
    put(w, 7, 4);
    put(w, (uint32_t)t->x, 4);
    put(w, (uint32_t)t->y, 4);
    put_zeros(w, 8); // layer, user id
    const uint32_t counts[] = {t->polygon_count,       t->vertex_count,     t->link_count,    t->detail_count,
                               t->detail_vertex_count, t->detail_tri_count, t->bv_node_count, t->connection_count};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        put(w, counts[i], 4);
    }
    put(w, ground, 4); // where off-mesh polygons begin
    put_floats(w, (const float[]){t->height, t->radius, t->climb}, 3);
    put_zeros(w, 28); // bounds and their quantisation, which readers need not believe
}

static void put_polygon(writer *w, const mset_polygon *p)
{
    put(w, 0xFFFFFFFF, 4); // first link, left over from some process
    for (size_t i = 0; i < MSET_MAX_CORNERS; i++) {
        put(w, p->vertices[i], 2);
    }
    for (size_t i = 0; i < MSET_MAX_CORNERS; i++) {
        put(w, p->neighbours[i], 2);
    }
    put(w, p->flags, 2);
    put(w, p->count, 1);
    put(w, p->area | (p->off_mesh ? 1u << 6 : 0u), 1);
}

static void put_tile(writer *w, const mset_tile *t, bool wide)
{
    put_header(w, t);
    put_floats(w, t->vertices, 3 * (size_t)t->vertex_count);
    for (uint32_t i = 0; i < t->polygon_count; i++) {
        put_polygon(w, &t->polygons[i]);
    }
    for (size_t i = 0; i < (size_t)t->link_count * (wide ? 16 : 12); i++) {
        put(w, 0xCD, 1);
    }
    for (uint32_t i = 0; i < t->detail_count; i++) {
        const mset_detail *d = &t->details[i];
        put(w, d->first_vertex, 4);
        put(w, d->first_tri, 4);
        put(w, d->vertex_count, 1);
        put(w, d->tri_count, 1);
        put_zeros(w, 2);
    }
    put_floats(w, t->detail_vertices, 3 * (size_t)t->detail_vertex_count);
    for (uint32_t i = 0; i < t->detail_tri_count; i++) {
        for (size_t k = 0; k < 4; k++) {
            put(w, t->detail_tris[i][k], 1);
        }
    }
    put_zeros(w, 16 * (size_t)t->bv_node_count);
    for (uint32_t i = 0; i < t->connection_count; i++) {
        const mset_connection *c = &t->connections[i];
        put_floats(w, c->start, 3);
        put_floats(w, c->end, 3);
        put_float(w, c->radius);
        put(w, c->polygon, 2);
        put(w, c->both_ways, 1);
        put(w, 0xFF, 1); // side: none
        put(w, c->user_id, 4);
    }
}

uint8_t *mset_write(const mset_tile *tiles, uint32_t tile_count, bool wide, size_t *size)
{
    writer w = {0};
    put(&w, 0x4D534554, 4);
    put(&w, 1, 4);
    put(&w, tile_count, 4);
    put_floats(&w, (const float[]){0, 0, 0, 32, 32}, 5);
    put(&w, tile_count, 4); // most tiles
    put(&w, 1 << 15, 4);    // most polygons in a tile
    for (uint32_t i = 0; i < tile_count; i++) {
        put(&w, 0x100000 + i, wide ? 8 : 4); // a reference: salt, tile
        size_t size_at = w.size;
        put(&w, 0, wide ? 8 : 4);
        size_t begin = w.size;
        put_tile(&w, &tiles[i], wide);
        for (size_t k = 0; k < 4 && !w.failed; k++) {
            w.data[size_at + k] = (uint8_t)((w.size - begin) >> 8 * k);
        }
    }
    if (w.failed) {
        free(w.data);
        return NULL;
    }
    *size = w.size;
    return w.data;
}
