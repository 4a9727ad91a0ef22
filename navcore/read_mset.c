/// Files that hold Detour tiles: sets, and single tiles. The tiles themselves are read_detour.c's.
///
///     MSET      magic, version 1, tile count, parameters 28    RecastDemo and most ports
///     MSAT      the same and bounds 24                         NavMeshScene
///     KBEngine  version 1, tile count, parameters 28
///     then for each tile: reference 4 or 8, size 4, with 8 padding 4; tile
///
///     DNAV      one tile, nothing else
///     MMAP      magic, Detour version, the exporter's version, size, whether there is liquid; some add more; one tile
#include "read_detour.h"

#include <string.h>

#define MMTILE_HEADER_BYTES 20
#define MMTILE_LONGER_BYTES 64 ///< by which some exporters' header is longer, at most

/// Complains about the byte `at`.
#define FAIL(d, at, ...) nav_fail((d)->error, NAV_BAD_FORMAT, 0, (at), __VA_ARGS__)

/// A kind of set, by how it begins.
typedef struct set_kind {
    const char *magic; ///< empty: none
    size_t version_at, first_tile_at;
} set_kind;

static const set_kind mset = {"TESM", 4, 40}, msat = {"TASM", 4, 64}, kbengine = {"", 0, 36};

/// KBEngine's has no magic, but the first tile has one.
static bool is_kbengine(nav__bytes file)
{
    size_t at = kbengine.first_tile_at;
    return file.size >= 8 && nav__u32_at(file, 0) == 1 &&
           (nav__has_magic(file, at + 8, NAV__TILE_MAGIC) || nav__has_magic(file, at + 16, NAV__TILE_MAGIC));
}

static nav_status find_kind(nav__detour *d, nav__bytes file, const set_kind **kind)
{
    if (nav__has_magic(file, 0, "MSET") || nav__has_magic(file, 0, "MSAT")) {
        return FAIL(d, 0, "a big-endian Detour set: write it on a little-endian machine");
    }
    const set_kind *k = nav__has_magic(file, 0, mset.magic)   ? &mset
                        : nav__has_magic(file, 0, msat.magic) ? &msat
                        : is_kbengine(file)                   ? &kbengine
                                                              : NULL;
    if (!k) {
        return nav_fail(d->error, NAV_UNKNOWN_FORMAT, 0, 0, "not a Detour set: its magic is not MSET or MSAT");
    }
    *kind = k;
    return NAV_OK;
}

static nav_status check_set_header(nav__detour *d, nav__bytes file, const set_kind *kind, uint32_t *tile_count)
{
    if (file.size < kind->first_tile_at) {
        return FAIL(d, file.size, "the file ends within the set's header of %zu bytes", kind->first_tile_at);
    }
    uint32_t version = nav__u32_at(file, kind->version_at);
    if (version != 1) {
        return FAIL(d, kind->version_at, "version %u of a Detour set, only 1 is known", version);
    }
    size_t at = kind->version_at + 4;
    *tile_count = nav__u32_at(file, at);
    // Each tile takes at least its header, so no larger count can be true.
    if (*tile_count == 0 || *tile_count > file.size / NAV__TILE_HEADER_BYTES) {
        return FAIL(d, at, "%d tiles cannot be in %zu bytes", (int32_t)*tile_count, file.size);
    }
    return NAV_OK;
}

/// References are 32 or 64 bits wide; a 64-bit one is followed by the size and four bytes of padding.
/// The first tile's magic tells which.
static nav_status find_reference_width(nav__detour *d, nav__bytes file, size_t at, size_t *width)
{
    if (nav__has_magic(file, at + 8, NAV__TILE_MAGIC)) {
        *width = 4;
    } else if (nav__has_magic(file, at + 16, NAV__TILE_MAGIC)) {
        *width = 8;
    } else if (nav__has_magic(file, at + 8, "DNAV") || nav__has_magic(file, at + 16, "DNAV")) {
        return FAIL(d, at, "the tiles are big-endian: write them on a little-endian machine");
    } else {
        return FAIL(d, at, "no Detour tile follows the set's header");
    }
    return NAV_OK;
}

static nav_status find_tiles(nav__detour *d, nav__bytes file, size_t at, uint32_t tile_count)
{
    size_t width = 0, begin = at;
    nav_status status = find_reference_width(d, file, at, &width);
    for (uint32_t i = 0; status == NAV_OK && i < tile_count; i++) {
        if (file.size - at < 2 * width) {
            return FAIL(d, at, "the file ends before tile %u of %u", i, tile_count);
        }
        bool no_reference = nav__u32_at(file, at) == 0 && (width == 4 || nav__u32_at(file, at + 4) == 0);
        uint32_t size = nav__u32_at(file, at + width);
        if (no_reference || size == 0) {
            break; // so does Detour's own loader
        }
        at += 2 * width;
        if (size > file.size - at) {
            return FAIL(d, at - width, "tile %u claims %d bytes, %zu follow", i, (int32_t)size, file.size - at);
        }
        status = nav__detour_add_tile(d, file, at, size, 0);
        at += size;
    }
    if (status == NAV_OK && d->tile_count == 0) {
        return FAIL(d, begin, "the set has no tile");
    }
    return status;
}

static nav_status read_set(nav__detour *d, nav__bytes file)
{
    const set_kind *kind = NULL;
    uint32_t tile_count = 0;
    nav_status status = find_kind(d, file, &kind);
    if (status == NAV_OK) {
        status = check_set_header(d, file, kind, &tile_count);
    }
    return status == NAV_OK ? find_tiles(d, file, kind->first_tile_at, tile_count) : status;
}

static nav_status read_one(nav__detour *d, nav__bytes file)
{
    if (!nav__has_magic(file, 0, NAV__TILE_MAGIC) && !nav__has_magic(file, 0, "DNAV")) {
        return nav_fail(d->error, NAV_UNKNOWN_FORMAT, 0, 0, "not a Detour tile: its magic is not DNAV");
    }
    return nav__detour_add_tile(d, file, 0, file.size, 0);
}

nav_status nav__mmtile_add(nav__detour *d, nav__bytes file, uint32_t source)
{
    d->source = source;
    if (nav__has_magic(file, 0, "MMAP")) {
        return FAIL(d, 0, "a big-endian .mmtile: write it on a little-endian machine");
    }
    if (!nav__has_magic(file, 0, "PAMM")) {
        return nav_fail(d->error, NAV_UNKNOWN_FORMAT, 0, 0, "not a .mmtile: its magic is not MMAP");
    }
    size_t at = MMTILE_HEADER_BYTES, last = at + MMTILE_LONGER_BYTES;
    while (at <= last && !nav__has_magic(file, at, NAV__TILE_MAGIC)) {
        at += 4;
    }
    if (at > last) {
        return nav__has_magic(file, MMTILE_HEADER_BYTES, "DNAV")
                   ? FAIL(d, MMTILE_HEADER_BYTES, "the tile is big-endian: write it on a little-endian machine")
                   : FAIL(d, MMTILE_HEADER_BYTES, "no Detour tile follows the .mmtile's header");
    }
    uint32_t version = nav__u32_at(file, 4), size = nav__u32_at(file, 12);
    if (version != 7) {
        return FAIL(d, 4, "a .mmtile of Detour's version %u, only 7 is known", version);
    }
    if (size != file.size - at) {
        return FAIL(d, 12, "the tile claims %d bytes, %zu follow", (int32_t)size, file.size - at);
    }
    return nav__detour_add_tile(d, file, at, size, source);
}

static nav_status read_mmtile(nav__detour *d, nav__bytes file)
{
    return nav__mmtile_add(d, file, 0);
}

static nav_status read_file(nav_soup *soup, const char *format, nav__bytes file, nav_error *error,
                            nav_status (*find)(nav__detour *, nav__bytes))
{
    nav__detour d = {.soup = soup, .error = error};
    strcpy(soup->format, format);
    nav_status status = find(&d, file);
    status = status == NAV_OK ? nav__detour_read(&d) : status;
    nav__detour_free(&d);
    return nav__read_end(soup, status, error);
}

nav_status nav_read_mset(nav_soup *soup, const void *bytes, size_t size, nav_error *error)
{
    return read_file(soup, "mset", (nav__bytes){bytes, size}, error, read_set);
}

nav_status nav_read_dnav(nav_soup *soup, const void *bytes, size_t size, nav_error *error)
{
    return read_file(soup, "dnav", (nav__bytes){bytes, size}, error, read_one);
}

nav_status nav_read_mmtile(nav_soup *soup, const void *bytes, size_t size, nav_error *error)
{
    return read_file(soup, "mmtile", (nav__bytes){bytes, size}, error, read_mmtile);
}
