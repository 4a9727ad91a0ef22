/// Source engine's `.nav`, versions 5 to 16: rectangles along the axes, each with a height at every corner, and
/// directed connections. z is up; so is it in the soup that comes out (x, y, z as in the file), for the caller
/// to turn.
///
///     u32 0xFEEDFACE, version; u32 sub version (from 10); u32 map size; u8 analysed (from 14); u16 places, each
///     u16 length and text; u8 (from 12); u32 areas; the areas; u32 ladders of 60 bytes (from 6)
///
/// Games add bytes of their own to each area. Which, the sub version suggests and the end of the file proves.
#include "nav_area_graph.h"
#include "read.h"
#include "read_bytes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0xFEEDFACEu
#define OLDEST 5u
#define NEWEST 16u
#define LEAST_AREA 60u ///< bytes of the smallest area of any version
#define LADDER_SIZE 60u

/// What a game adds to an area: nothing, CS:GO's list of 14 bytes each, TF2's u32.
typedef enum addition { NOTHING, LIST, WORD, ADDITION_COUNT } addition;

typedef struct source_reader {
    nav_soup *soup;
    nav_error *error;
    nav__bytes bytes;
    uint32_t version, sub_version, area_count;
    size_t areas_at;
    addition added;
    bool keep; ///< store what is read; else only find out where it ends
    double *corners;
    uint32_t *first, *ids;
    uint32_t count;
    nav__list connections; ///< from, to: number of an area, id of another
} source_reader;

static nav_status bad(const source_reader *r, const char *what)
{
    return nav_fail(r->error, NAV_BAD_FORMAT, 0, nav__bytes_at(&r->bytes), "%s", what);
}

static nav_status read_head(source_reader *r)
{
    nav__bytes *b = &r->bytes;
    if (nav__bytes_u32(b) != MAGIC) {
        return nav_fail(r->error, NAV_UNKNOWN_FORMAT, 0, 0, "no Source .nav: its first bytes are others");
    }
    r->version = nav__bytes_u32(b);
    if (r->version < OLDEST || r->version > NEWEST) {
        return nav_fail(r->error, NAV_BAD_FORMAT, 0, 4, "version %u of Source's .nav; read are 5 to 16%s", r->version,
                        r->version > NEWEST ? " (of Source 2, give a JSON dump)" : "");
    }
    r->sub_version = r->version >= 10 ? nav__bytes_u32(b) : 0;
    nav__bytes_take(b, r->version >= 14 ? 5 : 4);
    uint32_t places = nav__bytes_u16(b);
    for (uint32_t i = 0; i < places && !b->failed; i++) {
        nav__bytes_take(b, nav__bytes_u16(b));
    }
    nav__bytes_take(b, r->version > 11 ? 1 : 0);
    r->area_count = nav__bytes_u32(b);
    if (b->failed) {
        return bad(r, "the file ends within its head");
    }
    if (r->area_count == 0 || r->area_count > nav__bytes_left(b) / LEAST_AREA) {
        return nav_fail(r->error, NAV_BAD_FORMAT, 0, nav__bytes_at(b) - 4, "%u areas in %zu bytes", r->area_count,
                        nav__bytes_left(b));
    }
    r->areas_at = nav__bytes_at(b);
    return NAV_OK;
}

/// Steps over `count` entries of `size` bytes.
static void skip_entries(nav__bytes *b, uint32_t count, size_t size)
{
    if (count > nav__bytes_left(b) / size) {
        b->failed = true;
        b->p = b->end;
    } else {
        b->p += count * size;
    }
}

/// Where the corners are: north-west and south-east, then the heights of the two others.
static nav_status read_corners(source_reader *r)
{
    nav__bytes *b = &r->bytes;
    double v[8];
    bool finite = true;
    for (int i = 0; i < 8; i++) {
        v[i] = nav__bytes_f32(b);
        finite = finite && isfinite(v[i]);
    }
    if (!r->keep) {
        return NAV_OK;
    }
    if (!finite) {
        return bad(r, "a corner that is no finite position");
    }
    const double ring[12] = {v[0], v[1], v[2], v[3], v[1], v[6], v[3], v[4], v[5], v[0], v[4], v[7]};
    memcpy(&r->corners[12 * (size_t)r->count], ring, sizeof ring);
    return NAV_OK;
}

static bool read_connections(source_reader *r)
{
    nav__bytes *b = &r->bytes;
    const nav_alloc *alloc = &r->soup->alloc;
    for (int direction = 0; direction < 4; direction++) {
        uint32_t n = nav__bytes_u32(b);
        for (uint32_t i = 0; i < n && !b->failed; i++) {
            uint32_t to = nav__bytes_u32(b);
            if (r->keep && !b->failed &&
                (!nav__list_push(&r->connections, alloc, r->count) || !nav__list_push(&r->connections, alloc, to))) {
                return false;
            }
        }
    }
    return true;
}

/// What else an area holds.
static void skip_rest(source_reader *r)
{
    nav__bytes *b = &r->bytes;
    skip_entries(b, nav__bytes_u8(b), 17); // hiding spots
    if (r->version < 15) {
        skip_entries(b, nav__bytes_u8(b), 14); // approaches
    }
    uint32_t encounters = nav__bytes_u32(b);
    for (uint32_t i = 0; i < encounters && !b->failed; i++) {
        nav__bytes_take(b, 10);
        skip_entries(b, nav__bytes_u8(b), 5);
    }
    nav__bytes_take(b, 2);                 // place
    skip_entries(b, nav__bytes_u32(b), 4); // ladders up and down
    skip_entries(b, nav__bytes_u32(b), 4);
    nav__bytes_take(b, r->version >= 8 ? 8 : 0);   // times
    nav__bytes_take(b, r->version >= 11 ? 16 : 0); // light
    if (r->version >= 16) {
        skip_entries(b, nav__bytes_u32(b), 5); // what is seen
        nav__bytes_take(b, 4);
    }
    if (r->added == LIST) {
        skip_entries(b, nav__bytes_u8(b), 14);
    } else if (r->added == WORD) {
        nav__bytes_take(b, 4);
    }
}

static nav_status read_area(source_reader *r)
{
    nav__bytes *b = &r->bytes;
    uint32_t id = nav__bytes_u32(b);
    nav__bytes_take(b, r->version <= 8 ? 1 : r->version < 13 ? 2 : 4); // flags
    nav_status status = read_corners(r);
    if (status == NAV_OK && !read_connections(r)) {
        status = NAV_NO_MEMORY;
    }
    if (status != NAV_OK) {
        return status;
    }
    if (r->keep) {
        r->ids[r->count] = id;
    }
    r->count++;
    skip_rest(r);
    return b->failed ? bad(r, "the file ends within an area") : NAV_OK;
}

static nav_status read_areas(source_reader *r)
{
    nav_status status = NAV_OK;
    r->bytes.p = r->bytes.start + r->areas_at;
    r->bytes.failed = false;
    r->count = 0;
    while (status == NAV_OK && r->count < r->area_count) {
        status = read_area(r);
    }
    return status;
}

/// Does the file end where its ladders end, with this addition to its areas?
static bool ends_well(source_reader *r, addition added)
{
    r->added = added;
    if (read_areas(r) != NAV_OK) {
        return false;
    }
    uint32_t ladders = r->version >= 6 ? nav__bytes_u32(&r->bytes) : 0;
    return !r->bytes.failed && nav__bytes_left(&r->bytes) == (uint64_t)ladders * LADDER_SIZE;
}

static nav_status find_addition(source_reader *r)
{
    addition likely = r->sub_version == 1 ? LIST : r->sub_version == 2 ? WORD : NOTHING;
    nav_error first = {0}, *error = r->error;
    r->error = &first;
    bool good = ends_well(r, likely);
    if (!good && first.message[0] == '\0') {
        bad(r, "more or fewer bytes than its areas and ladders take: a game's own version of the format?");
    }
    nav_error ignored;
    r->error = &ignored;
    for (int k = 0; !good && k < ADDITION_COUNT; k++) {
        good = k != (int)likely && ends_well(r, (addition)k);
    }
    r->error = error;
    if (!good && error) {
        *error = first;
    }
    return good ? NAV_OK : NAV_BAD_FORMAT;
}

// Ids of areas to their numbers.

typedef struct id_entry {
    uint32_t id, number;
} id_entry;

static int by_id(const void *a, const void *b)
{
    const id_entry *p = a, *q = b;
    return p->id != q->id ? (p->id < q->id ? -1 : 1) : (p->number > q->number) - (p->number < q->number);
}

/// Connections to areas that there are none of are dropped.
static nav_status resolve(source_reader *r)
{
    const nav_alloc *alloc = &r->soup->alloc;
    id_entry *entries = alloc->resize(alloc->ctx, NULL, (size_t)r->count * sizeof *entries);
    if (!entries) {
        return NAV_NO_MEMORY;
    }
    for (uint32_t i = 0; i < r->count; i++) {
        entries[i] = (id_entry){r->ids[i], i};
    }
    qsort(entries, r->count, sizeof *entries, by_id);
    uint32_t kept = 0, lost = 0;
    for (uint32_t i = 0; i < r->connections.count; i += 2) {
        uint32_t wanted = r->connections.data[i + 1], low = 0, high = r->count;
        while (low < high) {
            uint32_t mid = low + (high - low) / 2;
            if (entries[mid].id < wanted) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        if (low == r->count || entries[low].id != wanted) {
            lost++;
            continue;
        }
        r->connections.data[kept++] = r->connections.data[i];
        r->connections.data[kept++] = entries[low].number;
    }
    r->connections.count = kept;
    alloc->resize(alloc->ctx, entries, 0);
    if (lost > 0) {
        nav_soup_warn(r->soup, "%u connections lead to areas that the file does not have", lost);
    }
    return NAV_OK;
}

// Ladders.

static nav_status read_ladders(source_reader *r)
{
    nav__bytes *b = &r->bytes;
    uint32_t count = r->version >= 6 ? nav__bytes_u32(b) : 0;
    nav_status status = NAV_OK;
    for (uint32_t i = 0; status == NAV_OK && i < count; i++) {
        nav_link link = {.cost = -1, .flags = 1, .bidirectional = true, .kind = "ladder"};
        snprintf(link.id, sizeof link.id, "ladder-%u.%u", nav__bytes_u32(b), i);
        double width = nav__bytes_f32(b), ends[6];
        for (int k = 0; k < 6; k++) {
            ends[k] = nav__bytes_f32(b);
        }
        nav__bytes_take(b, 28);
        link.end = (nav_vec){ends[0], ends[1], ends[2]};
        link.start = (nav_vec){ends[3], ends[4], ends[5]};
        link.radius = fmax(2 * r->soup->agent.radius, width);
        bool finite = isfinite(link.radius);
        for (int k = 0; k < 6; k++) {
            finite = finite && isfinite(ends[k]);
        }
        status = finite ? nav_soup_add_link(r->soup, &link) : bad(r, "a ladder that is nowhere");
    }
    return status;
}

static nav_status take_lists(source_reader *r)
{
    const nav_alloc *alloc = &r->soup->alloc;
    r->corners = alloc->resize(alloc->ctx, NULL, 12 * (size_t)r->area_count * sizeof *r->corners);
    r->ids = alloc->resize(alloc->ctx, NULL, (size_t)r->area_count * sizeof *r->ids);
    r->first = alloc->resize(alloc->ctx, NULL, ((size_t)r->area_count + 1) * sizeof *r->first);
    if (!r->corners || !r->ids || !r->first) {
        return NAV_NO_MEMORY;
    }
    for (uint32_t i = 0; i <= r->area_count; i++) {
        r->first[i] = 4 * i;
    }
    return NAV_OK;
}

/// Source's own measures, in inches.
static const nav_agent soldier = {.radius = 16, .height = 72, .climb = 18, .slope = 45};

static nav_status make_soup(source_reader *r, size_t size)
{
    nav_area_graph graph = {.corners = r->corners,
                            .z_up = true,
                            .first = r->first,
                            .ids = r->ids,
                            .count = r->count,
                            .connections = (uint32_t(*)[2])(void *)r->connections.data,
                            .connection_count = r->connections.count / 2,
                            .most_links = (uint32_t)(size / 24) + 64};
    return nav_soup_add_areas(r->soup, &graph, r->error);
}

static nav_status read_source(source_reader *r, size_t size)
{
    nav_status status = read_head(r);
    if (status == NAV_OK) {
        status = find_addition(r);
    }
    if (status == NAV_OK) {
        status = take_lists(r);
    }
    r->keep = true;
    if (status == NAV_OK) {
        status = read_areas(r);
    }
    nav__bytes behind = r->bytes;
    if (status == NAV_OK) {
        status = resolve(r);
    }
    if (status == NAV_OK) {
        status = make_soup(r, size);
    }
    r->bytes = behind;
    return status == NAV_OK ? read_ladders(r) : status;
}

nav_status nav_read_source(nav_soup *soup, const void *bytes, size_t size, nav_error *error)
{
    source_reader r = {.soup = soup, .error = error, .bytes = nav__bytes_begin(bytes, size)};
    const nav_alloc alloc = soup->alloc;
    strcpy(soup->format, "source");
    soup->agent = soldier;
    soup->has_agent = true;
    nav_status status = read_source(&r, size);
    void *const arrays[] = {r.corners, r.ids, r.first};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (arrays[i]) {
            alloc.resize(alloc.ctx, arrays[i], 0);
        }
    }
    nav__list_free(&r.connections, &alloc);
    return nav__read_end(soup, status, error);
}
