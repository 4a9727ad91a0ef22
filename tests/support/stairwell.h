/// Stairs between two storeys of cells: a ramp in the middle row of three, which lies over the lower storey's
/// plan and under the upper's. Both storeys are blocked round it, so that neither comes within a step of
/// the ramp's sides.
#ifndef TEST_STAIRWELL_H
#define TEST_STAIRWELL_H

#include "cell_grid.h"

typedef struct stairwell {
    int x, z, length; ///< the ramp covers cells x .. x + length - 1 of row z + 1; rows z .. z + 2 are the well
    bool up_right;    ///< rises with x
} stairwell;

/// Blocks the well on one of its storeys and frees the landing in front of the ramp's end there. Cells
/// x - 1 to x + length must be in the grid. Before cell_grid_cover.
void stairwell_carve(cell_grid *storey, const stairwell *well, bool upper);

/// Adds the ramp in `pieces`, after cell_grid_cover of both storeys.
/// @param storeys  [2] lower, upper
/// @param covers   [2] how these were covered; level is the storey's height
void stairwell_add_ramp(poly_mesh *mesh, cell_grid *storeys, const cell_cover *covers, const stairwell *well,
                        int pieces);

#endif
