/// Readers: bytes in, a polygon soup or an error naming line or byte out. No reader trusts a count.
#ifndef NAV_FORMAT_H
#define NAV_FORMAT_H

#include "nav_soup.h"
#include "nav_types.h"

/// Each takes an initialised, empty soup; on failure the soup holds nothing.
/// @return NAV_OK, NAV_UNKNOWN_FORMAT (not this format at all), NAV_BAD_FORMAT, NAV_TOO_LARGE, NAV_NO_MEMORY
typedef nav_status nav_read_fn(nav_soup *soup, const void *bytes, size_t size, nav_error *error);

nav_read_fn nav_read_mset;     ///< Detour set, MSET version 1, 32- and 64-bit references
nav_read_fn nav_read_obj;      ///< Wavefront OBJ
nav_read_fn nav_read_polyanya; ///< Polyanya .mesh versions 2 and 3, and weighted
nav_read_fn nav_read_movingai; ///< MovingAI .map grids

#endif
