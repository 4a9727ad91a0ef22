/// Readers: bytes in, a polygon soup or an error naming line or byte out. No reader trusts a count.
#ifndef NAV_FORMAT_H
#define NAV_FORMAT_H

#include "nav_soup.h"
#include "nav_types.h"

/// Each takes an initialised, empty soup; on failure the soup holds nothing.
/// @return NAV_OK, NAV_UNKNOWN_FORMAT (not this format at all), NAV_BAD_FORMAT, NAV_TOO_LARGE, NAV_NO_MEMORY
typedef nav_status nav_read_fn(nav_soup *soup, const void *bytes, size_t size, nav_error *error);

nav_read_fn nav_read_mset;     ///< Detour set: MSET version 1, MSAT, KBEngine's; 32- and 64-bit references, Unreal 4's
nav_read_fn nav_read_dnav;     ///< one Detour tile, version 7, without a container
nav_read_fn nav_read_mmtile;   ///< one tile of an .mmap
nav_read_fn nav_read_obj;      ///< Wavefront OBJ
nav_read_fn nav_read_polyanya; ///< Polyanya .mesh versions 2 and 3, and weighted
nav_read_fn nav_read_movingai; ///< MovingAI .map grids
nav_read_fn nav_read_ply;      ///< PLY, text and binary
nav_read_fn nav_read_godot_text;   ///< Godot's .tres and .tscn
nav_read_fn nav_read_godot_binary; ///< Godot's .res and .scn
nav_read_fn nav_read_source;       ///< Source engine's .nav, z up
nav_read_fn nav_read_stl;          ///< STL, text and binary

/// Does the size of the bytes fit the number of triangles that a binary STL has in its head?
bool nav_stl_is_binary(const void *bytes, size_t size);

/// One of the files that are a mesh together.
typedef struct nav_part {
    const char *name; ///< for messages
    const void *bytes;
    size_t size;
} nav_part;

/// A map of the kind that emulators of World of Warcraft keep: an .mmap with the parameters and any number of
/// .mmtile files with a tile each, in any order. Tiles that seem to be missing are only warned of.
/// @param parts  [count]; the first is the .mmap
/// @return as nav_read_fn; errors name the file
nav_status nav_read_mmap(nav_soup *soup, const nav_part *parts, size_t count, nav_error *error);

#endif
