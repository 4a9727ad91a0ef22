/// The polygon soup: growing flat arrays. Knows nothing of geometry; see nav_mesh_build for what it means.
#include "nav_soup.h"

#include "alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// Most entries of any array. Vertex and detail vertex numbers share one 32-bit range, so each gets half.
#define MAX_ENTRIES 0x7FFFFFFFu
#define FIRST_CAP 64u

/// One array of a group that shares a capacity.
typedef struct array {
    void *pointer; ///< to the pointer to the array, whose type differs from array to array: copied as bytes
    size_t entry_bytes;
    uint32_t extra; ///< entries beyond the capacity
} array;

/// Makes room for `more` entries behind `count` in arrays that grow together. On failure each array
/// still holds what it held and `cap` is as before.
static nav_status reserve(const nav_alloc *alloc, uint32_t *cap, uint32_t count, uint32_t more, const array *arrays,
                          size_t array_count)
{
    if (more <= *cap - count) {
        return NAV_OK;
    }
    if (more > MAX_ENTRIES - count) {
        return NAV_TOO_LARGE;
    }
    uint32_t need = count + more;
    uint32_t doubled = *cap < FIRST_CAP / 2 ? FIRST_CAP : *cap > MAX_ENTRIES / 2 ? MAX_ENTRIES : 2 * *cap;
    uint32_t grown = need > doubled ? need : doubled;
    for (size_t i = 0; i < array_count; i++) {
        size_t entries = (size_t)grown + arrays[i].extra;
        if (entries > SIZE_MAX / arrays[i].entry_bytes) {
            return NAV_TOO_LARGE;
        }
        void *p;
        memcpy(&p, arrays[i].pointer, sizeof p);
        p = alloc->resize(alloc->ctx, p, entries * arrays[i].entry_bytes);
        if (!p) {
            return NAV_NO_MEMORY;
        }
        memcpy(arrays[i].pointer, &p, sizeof p);
    }
    *cap = grown;
    return NAV_OK;
}

void nav_soup_init(nav_soup *soup, const nav_alloc *alloc)
{
    *soup = (nav_soup){.alloc = nav__alloc_or_libc(alloc), .agent = nav_agent_default(), .dimensions = 3};
}

void nav_soup_deinit(nav_soup *soup)
{
    nav_alloc alloc = soup->alloc;
    void *arrays[] = {soup->vertices,    soup->poly_first,   soup->corners, soup->areas,
                      soup->flags,       soup->parts,        soup->edges,   soup->detail_vertices,
                      soup->detail_tris, soup->detail_first, soup->links};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (arrays[i]) {
            alloc.resize(alloc.ctx, arrays[i], 0);
        }
    }
    nav_soup_init(soup, &alloc);
}

nav_status nav_soup_add_vertex(nav_soup *soup, double x, double y, double z)
{
    const array arrays[] = {{&soup->vertices, 3 * sizeof(double), 0}};
    nav_status status = reserve(&soup->alloc, &soup->vertex_cap, soup->vertex_count, 1, arrays, 1);
    if (status != NAV_OK) {
        return status;
    }
    double *v = soup->vertices + 3 * (size_t)soup->vertex_count++;
    v[0] = x;
    v[1] = y;
    v[2] = z;
    return NAV_OK;
}

static nav_status reserve_polygon(nav_soup *soup)
{
    array arrays[5] = {
        {&soup->poly_first, sizeof(uint32_t), 1},
        {&soup->areas, sizeof(uint8_t), 0},
        {&soup->flags, sizeof(uint32_t), 0},
    };
    size_t count = 3;
    if (soup->detail_first) {
        arrays[count++] = (array){&soup->detail_first, sizeof(uint32_t), 1};
    }
    if (soup->parts) {
        arrays[count++] = (array){&soup->parts, sizeof(uint32_t), 0};
    }
    return reserve(&soup->alloc, &soup->poly_cap, soup->poly_count, 1, arrays, count);
}

/// Parts are stored from the first polygon on that is not of part 0.
static nav_status begin_parts(nav_soup *soup)
{
    soup->parts = soup->alloc.resize(soup->alloc.ctx, NULL, (size_t)soup->poly_cap * sizeof *soup->parts);
    if (!soup->parts) {
        return NAV_NO_MEMORY;
    }
    memset(soup->parts, 0, (size_t)soup->poly_cap * sizeof *soup->parts);
    return NAV_OK;
}

static nav_status reserve_corners(nav_soup *soup, uint32_t count)
{
    const array arrays[] = {
        {&soup->corners, sizeof(uint32_t), 0},
        {&soup->edges, sizeof(uint32_t), 0},
    };
    return reserve(&soup->alloc, &soup->corner_cap, soup->corner_count, count, arrays, soup->has_edges ? 2 : 1);
}

/// Edges are stored from the first polygon on that has any; those before get NAV_EDGE_ANY.
static nav_status begin_edges(nav_soup *soup)
{
    soup->edges = soup->alloc.resize(soup->alloc.ctx, NULL, (size_t)soup->corner_cap * sizeof *soup->edges);
    if (!soup->edges) {
        return NAV_NO_MEMORY;
    }
    for (uint32_t i = 0; i < soup->corner_count; i++) {
        soup->edges[i] = NAV_EDGE_ANY;
    }
    soup->has_edges = true;
    return NAV_OK;
}

nav_status nav_soup_reserve(nav_soup *soup, size_t vertices, size_t polygons, size_t corners, bool edges)
{
    const array of_vertices[] = {{&soup->vertices, 3 * sizeof(double), 0}};
    const array of_polygons[] = {
        {&soup->poly_first, sizeof(uint32_t), 1},
        {&soup->areas, sizeof(uint8_t), 0},
        {&soup->flags, sizeof(uint32_t), 0},
    };
    const array of_corners[] = {
        {&soup->corners, sizeof(uint32_t), 0},
        {&soup->edges, sizeof(uint32_t), 0},
    };
    if (vertices > MAX_ENTRIES || polygons > MAX_ENTRIES || corners > MAX_ENTRIES) {
        return NAV_TOO_LARGE;
    }
    nav_status status = reserve(&soup->alloc, &soup->vertex_cap, 0, (uint32_t)vertices, of_vertices, 1);
    if (status == NAV_OK) {
        status = reserve(&soup->alloc, &soup->poly_cap, 0, (uint32_t)polygons, of_polygons, 3);
    }
    if (status == NAV_OK) {
        status = reserve(&soup->alloc, &soup->corner_cap, 0, (uint32_t)corners, of_corners, edges ? 2 : 1);
    }
    soup->has_edges = status == NAV_OK && edges;
    return status;
}

nav_status nav_soup_add_polygon(nav_soup *soup, const uint32_t *corners, uint32_t count, uint8_t area, uint32_t flags,
                                const uint32_t *edges)
{
    if (count < 3) {
        return NAV_BAD_ARGUMENT;
    }
    nav_status status = reserve_polygon(soup);
    if (status == NAV_OK) {
        status = reserve_corners(soup, count);
    }
    if (status == NAV_OK && edges && !soup->has_edges) {
        status = begin_edges(soup);
    }
    if (status == NAV_OK && soup->part != 0 && !soup->parts) {
        status = begin_parts(soup);
    }
    if (status != NAV_OK) {
        return status;
    }
    uint32_t first = soup->corner_count, p = soup->poly_count;
    memcpy(soup->corners + first, corners, count * sizeof *corners);
    if (soup->has_edges) {
        for (uint32_t i = 0; i < count; i++) {
            soup->edges[first + i] = edges ? edges[i] : NAV_EDGE_ANY;
        }
    }
    soup->poly_first[p] = first;
    soup->poly_first[p + 1] = first + count;
    soup->areas[p] = area;
    soup->flags[p] = flags;
    if (soup->parts) {
        soup->parts[p] = soup->part;
    }
    if (soup->detail_first) {
        soup->detail_first[p + 1] = soup->detail_tri_count;
    }
    soup->corner_count += count;
    soup->poly_count++;
    return NAV_OK;
}

nav_status nav_soup_add_detail_vertex(nav_soup *soup, double x, double y, double z)
{
    const array arrays[] = {{&soup->detail_vertices, 3 * sizeof(double), 0}};
    nav_status status = reserve(&soup->alloc, &soup->detail_vertex_cap, soup->detail_vertex_count, 1, arrays, 1);
    if (status != NAV_OK) {
        return status;
    }
    double *v = soup->detail_vertices + 3 * (size_t)soup->detail_vertex_count++;
    v[0] = x;
    v[1] = y;
    v[2] = z;
    return NAV_OK;
}

nav_status nav_soup_add_detail_tri(nav_soup *soup, uint32_t a, uint32_t b, uint32_t c)
{
    if (soup->poly_count == 0) {
        return NAV_BAD_ARGUMENT;
    }
    if (!soup->detail_first) {
        size_t entries = (size_t)soup->poly_cap + 1;
        soup->detail_first = soup->alloc.resize(soup->alloc.ctx, NULL, entries * sizeof *soup->detail_first);
        if (!soup->detail_first) {
            return NAV_NO_MEMORY;
        }
        memset(soup->detail_first, 0, entries * sizeof *soup->detail_first);
    }
    const array arrays[] = {{&soup->detail_tris, 3 * sizeof(uint32_t), 0}};
    nav_status status = reserve(&soup->alloc, &soup->detail_tri_cap, soup->detail_tri_count, 1, arrays, 1);
    if (status != NAV_OK) {
        return status;
    }
    uint32_t *t = soup->detail_tris + 3 * (size_t)soup->detail_tri_count++;
    t[0] = a;
    t[1] = b;
    t[2] = c;
    soup->detail_first[soup->poly_count] = soup->detail_tri_count;
    return NAV_OK;
}

void nav_soup_warn(nav_soup *soup, const char *format, ...)
{
    if (soup->warning_count < NAV_SOUP_WARNINGS) {
        va_list args;
        va_start(args, format);
        vsnprintf(soup->warnings[soup->warning_count++], NAV_WARNING_SIZE, format, args);
        va_end(args);
    }
}

nav_status nav_soup_add_link(nav_soup *soup, const nav_link *link)
{
    const array arrays[] = {{&soup->links, sizeof(nav_link), 0}};
    nav_status status = reserve(&soup->alloc, &soup->link_cap, soup->link_count, 1, arrays, 1);
    if (status != NAV_OK) {
        return status;
    }
    soup->links[soup->link_count++] = *link;
    return NAV_OK;
}
