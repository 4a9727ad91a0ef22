/// A grid of free and blocked cells, covered by rectangles of free cells: rooms, floors and terrains of
/// the tests, samples and benchmarks.
#ifndef TEST_CELL_GRID_H
#define TEST_CELL_GRID_H

#include "poly_mesh.h"
#include "rng.h"

/// Cell (x, z) is between lattice points (x, z) and (x + 1, z + 1). Arrays are row by row, x fastest.
typedef struct cell_grid {
    int nx, nz;
    double step;      ///< side of a cell; lattice point (0, 0) is the origin
    bool *is_free;    ///< [nx * nz] all false at first
    uint8_t *area;    ///< [nx * nz] 0 at first
    bool *corner;     ///< [(nx + 1) * (nz + 1)] a polygon has a corner here; set it where others are to join
    uint32_t *vertex; ///< [(nx + 1) * (nz + 1)] of the mesh; NAV_NONE where there is none yet
} cell_grid;

void cell_grid_init(cell_grid *grid, int nx, int nz, double step);
void cell_grid_deinit(cell_grid *grid);

/// Is (x, z) a free cell of the grid?
bool cell_grid_is_free(const cell_grid *grid, int x, int z);

/// Sets the cells x0 .. x1 - 1, z0 .. z1 - 1, as far as they are in the grid.
void cell_grid_fill(cell_grid *grid, int x0, int z0, int x1, int z1, bool is_free, uint8_t area);

/// Makes the lattice point a corner of whatever touches it.
void cell_grid_mark(cell_grid *grid, int x, int z);

typedef struct cell_cover {
    int most;                                              ///< longest side of a rectangle, in cells
    int tile;                                              ///< no rectangle crosses a multiple of this; 0: no tiles
    rng *r;                                                ///< NULL: rectangles grow as far as they can
    double stop;                                           ///< with r: the chance to stop growing at each cell
    double (*height)(const void *ctx, double x, double z); ///< of a lattice point; NULL: `level` everywhere
    const void *ctx;
    double level;
} cell_cover;

/// Adds rectangles of free cells of one area. Where a rectangle's corner lies on another's side, that side
/// gets a (straight) corner, so that neighbours have whole edges in common.
void cell_grid_cover(cell_grid *grid, poly_mesh *mesh, const cell_cover *how);

/// The mesh's vertex at a lattice point, added where there is none.
uint32_t cell_grid_vertex(cell_grid *grid, poly_mesh *mesh, int x, int z, const cell_cover *how);

#endif
