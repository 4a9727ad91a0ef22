/// MovingAI's `.map` grids (movingai.com/benchmarks/formats.html): a head, then a row of characters for each
/// row of cells, the first on top.
///
///     type octile / height H / width W / map
///     . G free   S swamp   W water, entered from water only   @ O T blocked
///
/// Cell (column, row) covers x from column to column + 1 and y from row to row + 1, as in the `.scen` files
/// beside such maps: y grows downwards.
#include "nav_grid.h"
#include "read.h"

#include <string.h>

enum { BLOCKED = 0, GROUND = 1, SWAMP = 2, WATER = 3 }; ///< values of nav_grid: area plus one

typedef struct map_reader {
    nav_soup *soup;
    nav_error *error;
    nav__text text;
    int64_t width, height;
    uint8_t *cells;
} map_reader;

static nav_status read_head(map_reader *r)
{
    nav__text *t = &r->text;
    if (!nav__text_take_word(t, "type")) {
        return nav_fail(r->error, NAV_UNKNOWN_FORMAT, t->line, NAV_NO_BYTE,
                        "not a MovingAI map: it does not begin with the word `type`");
    }
    if (!nav__text_take_word(t, "octile")) {
        return nav__text_fail(t, r->error, "the map type `octile`");
    }
    nav_status status = NAV_OK;
    while (status == NAV_OK && !nav__text_take_word(t, "map")) {
        // No side can be longer than what is left to say it.
        int64_t most = t->end - t->p < INT32_MAX / 4 ? t->end - t->p : INT32_MAX / 4;
        if (r->height == 0 && nav__text_take_word(t, "height")) {
            status = nav__text_integer(t, r->error, 1, most, "the height", &r->height);
        } else if (r->width == 0 && nav__text_take_word(t, "width")) {
            status = nav__text_integer(t, r->error, 1, most, "the width", &r->width);
        } else {
            status = nav__text_fail(t, r->error, "`height`, `width` or `map`");
        }
    }
    if (status == NAV_OK && (r->width == 0 || r->height == 0)) {
        return nav_fail(r->error, NAV_BAD_FORMAT, t->line, NAV_NO_BYTE, "the map's %s is missing",
                        r->width == 0 ? "width" : "height");
    }
    return status;
}

/// Is there room for all rows? Checked before anything is multiplied.
static nav_status check_size(map_reader *r)
{
    nav__text *t = &r->text;
    while (t->p < t->end && nav__is_blank(*t->p)) {
        t->p++;
    }
    if (t->p < t->end && nav__is_newline(*t->p)) {
        nav__text_newline(t);
    }
    if (r->height > (t->end - t->p) / r->width) {
        return nav_fail(r->error, NAV_BAD_FORMAT, t->line, NAV_NO_BYTE,
                        "the file is too short for %lld rows of %lld cells", (long long)r->height, (long long)r->width);
    }
    return NAV_OK;
}

static int cell_value(char c)
{
    switch (c) {
    case '.':
    case 'G':
        return GROUND;
    case 'S':
        return SWAMP;
    case 'W':
        return WATER;
    case '@':
    case 'O':
    case 'T':
        return BLOCKED;
    default:
        return -1;
    }
}

static nav_status read_row(map_reader *r, int64_t row)
{
    nav__text *t = &r->text;
    for (int64_t x = 0; x < r->width; x++, t->p++) {
        if (t->p == t->end || nav__is_newline(*t->p)) {
            return nav_fail(r->error, NAV_BAD_FORMAT, t->line, NAV_NO_BYTE, "row %lld has %lld cells instead of %lld",
                            (long long)row, (long long)x, (long long)r->width);
        }
        int value = cell_value(*t->p);
        if (value < 0) {
            return nav_fail(r->error, NAV_BAD_FORMAT, t->line, NAV_NO_BYTE,
                            "cell %lld of row %lld is no terrain: known are . G @ O T S W", (long long)x,
                            (long long)row);
        }
        r->cells[(size_t)row * (size_t)r->width + (size_t)x] = (uint8_t)value;
        r->soup->has_areas = r->soup->has_areas || value > GROUND;
    }
    while (t->p < t->end && nav__is_blank(*t->p)) {
        t->p++;
    }
    if (t->p < t->end && !nav__is_newline(*t->p)) {
        return nav__text_fail(t, r->error, "the end of the row");
    }
    if (t->p < t->end) {
        nav__text_newline(t);
    }
    return NAV_OK;
}

static nav_status read_map(map_reader *r)
{
    nav_soup *s = r->soup;
    nav_status status = read_head(r);
    if (status == NAV_OK) {
        status = check_size(r);
    }
    if (status != NAV_OK) {
        return status;
    }
    r->cells = s->alloc.resize(s->alloc.ctx, NULL, (size_t)r->width * (size_t)r->height);
    if (!r->cells) {
        return NAV_NO_MEMORY;
    }
    for (int64_t y = 0; status == NAV_OK && y < r->height; y++) {
        status = read_row(r, y);
    }
    if (status == NAV_OK && nav__text_next_word(&r->text)) {
        status = nav__text_fail(&r->text, r->error, "the end of the file behind the last row");
    }
    if (status == NAV_OK) {
        const nav_grid grid = {r->cells, (uint32_t)r->width, (uint32_t)r->height, 1, 1, WATER};
        status = nav_soup_add_grid(s, &grid);
    }
    if (status == NAV_OK && s->poly_count == 0) {
        status = nav_fail(r->error, NAV_BAD_FORMAT, 0, NAV_NO_BYTE, "a map without a free cell");
    }
    return status;
}

nav_status nav_read_movingai(nav_soup *soup, const void *bytes, size_t size, nav_error *error)
{
    map_reader r = {.soup = soup, .error = error, .text = nav__text_begin(bytes, size)};
    strcpy(soup->format, "movingai");
    soup->dimensions = 2;
    nav_status status = read_map(&r);
    if (r.cells) {
        soup->alloc.resize(soup->alloc.ctx, r.cells, 0);
    }
    return nav__read_end(soup, status, error);
}
