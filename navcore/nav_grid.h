/// Grids of square or oblong cells as polygon soup.
#ifndef NAV_GRID_H
#define NAV_GRID_H

#include "nav_soup.h"

/// Row by row, the first row at z = 0, the first column at x = 0.
typedef struct nav_grid {
    const uint8_t *cells; ///< [width * height] 0: blocked, else the area's number plus one
    uint32_t width, height;
    double step_x, step_z; ///< size of a cell
    uint8_t apart;         ///< cells of this value touch only each other; 0: none
} nav_grid;

/// Adds the free cells to an empty soup as rectangles, each of one area and as large as a greedy choice makes
/// them. They cover the free cells exactly and share whole edges, whose neighbours they name: so one may walk
/// across the edge of two free cells and touch a blocked corner, but not slip between two blocked cells that
/// meet in a corner.
/// @return NAV_OK, NAV_NO_MEMORY, NAV_TOO_LARGE
nav_status nav_soup_add_grid(nav_soup *soup, const nav_grid *grid);

#endif
