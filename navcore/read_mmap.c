/// Maps in many files, as emulators of World of Warcraft keep them: MMM.mmap and a MMMXXYY.mmtile for each tile.
///
///     .mmap    parameters 28: f32 origin[3], tile width, tile depth, i32 most tiles, most polygons of one
///              newer: magic, version, parameters, count of off-mesh connections
#include "read_detour.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARAMETER_BYTES 28
#define MAGIC_BYTES 8
#define NEWER_BYTES (MAGIC_BYTES + PARAMETER_BYTES + 4)

/// Of Detour's eight sides of a tile, where the neighbour lies.
static const int8_t side_x[8] = {1, 1, 0, -1, -1, -1, 0, 1}, side_y[8] = {0, 1, 1, 1, 0, -1, -1, -1};

/// Reads the parameters: how many tiles the map's exporter counted.
static nav_status read_parameters(nav__detour *d, nav__bytes file, uint32_t *most_tiles)
{
    bool newer = nav__has_magic(file, 0, "PAMM");
    if (file.size != (newer ? NEWER_BYTES : PARAMETER_BYTES)) {
        return nav_fail(d->error, NAV_BAD_FORMAT, 0, NAV_NO_BYTE, "an .mmap has %d or %d bytes, this one %zu",
                        PARAMETER_BYTES, NEWER_BYTES, file.size);
    }
    *most_tiles = nav__u32_at(file, (newer ? MAGIC_BYTES : 0) + 20);
    return NAV_OK;
}

static int compare_grid(const void *a, const void *b)
{
    const nav__tile *p = a, *q = b;
    if (p->x != q->x) {
        return p->x < q->x ? -1 : 1;
    }
    if (p->y != q->y) {
        return p->y < q->y ? -1 : 1;
    }
    return p->layer != q->layer ? (p->layer < q->layer ? -1 : 1) : (p->source > q->source) - (p->source < q->source);
}

/// Is there a tile at this place? Tiles are sorted by it.
static bool has_tile(const nav__detour *d, int64_t x, int64_t y)
{
    uint32_t low = 0, high = d->tile_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const nav__tile *t = &d->tiles[middle];
        if (t->x < x || (t->x == x && t->y < y)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < d->tile_count && d->tiles[low].x == x && d->tiles[low].y == y;
}

/// Gaps are places between the outermost tiles that edges lead to where no tile is. At a map's own border edges
/// lead out as well, so that a gap is no fault for sure.
static void warn_of_gaps(nav__detour *d)
{
    int32_t low_y = INT32_MAX, high_y = INT32_MIN;
    int32_t low_x = d->tiles[0].x, high_x = d->tiles[d->tile_count - 1].x;
    for (uint32_t i = 0; i < d->tile_count; i++) {
        low_y = d->tiles[i].y < low_y ? d->tiles[i].y : low_y;
        high_y = d->tiles[i].y > high_y ? d->tiles[i].y : high_y;
    }
    uint32_t sides = 0;
    int64_t first[2] = {0, 0};
    for (uint32_t i = 0; i < d->tile_count; i++) {
        for (size_t s = 0; s < 8; s++) {
            int64_t x = (int64_t)d->tiles[i].x + side_x[s], y = (int64_t)d->tiles[i].y + side_y[s];
            bool within = x >= low_x && x <= high_x && y >= low_y && y <= high_y;
            if ((d->tiles[i].outward & 1u << s) && within && !has_tile(d, x, y)) {
                if (sides++ == 0) {
                    first[0] = x;
                    first[1] = y;
                }
            }
        }
    }
    if (sides > 0) {
        nav_soup_warn(d->soup,
                      "%u sides of tiles lead to where no tile is, the first to (%lld, %lld): they stay closed", sides,
                      (long long)first[0], (long long)first[1]);
    }
}

static nav_status read_map(nav__detour *d, const nav_part *parts, size_t count)
{
    uint32_t most_tiles = 0;
    nav_status status = read_parameters(d, (nav__bytes){parts[0].bytes, parts[0].size}, &most_tiles);
    for (size_t i = 1; status == NAV_OK && i < count; i++) {
        status = nav__mmtile_add(d, (nav__bytes){parts[i].bytes, parts[i].size}, (uint32_t)i);
    }
    if (status != NAV_OK) {
        return status;
    }
    if (d->tile_count == 0) {
        d->source = 0;
        return nav_fail(d->error, NAV_BAD_FORMAT, 0, NAV_NO_BYTE, "an .mmap without any .mmtile beside it");
    }
    // Numbers of polygons must not depend on the order in which a folder happens to be read.
    qsort(d->tiles, d->tile_count, sizeof *d->tiles, compare_grid);
    for (uint32_t i = 0; i < d->tile_count; i++) {
        d->tiles[i].number = i;
    }
    if (most_tiles < 1u << 20 && d->tile_count < most_tiles) {
        nav_soup_warn(d->soup, "%u tiles are here of the %u that the .mmap has room for", d->tile_count, most_tiles);
    }
    status = nav__detour_read(d);
    if (status == NAV_OK) {
        warn_of_gaps(d);
    }
    return status;
}

nav_status nav_read_mmap(nav_soup *soup, const nav_part *parts, size_t count, nav_error *error)
{
    nav_error own = {0};
    nav__detour d = {.soup = soup, .error = &own};
    strcpy(soup->format, "mmap");
    nav_status status = read_map(&d, parts, count);
    if (status != NAV_OK && error) {
        *error = own;
        if (own.message[0]) {
            snprintf(error->message, sizeof error->message, "%.60s: %.175s", parts[d.source].name, own.message);
        }
    }
    nav__detour_free(&d);
    return nav__read_end(soup, status, error);
}
