#include "levels.h"

#include "cell_grid.h"
#include "relief.h"

#include <stdlib.h>
#include <string.h>

enum { SAND, GRASS, ROCK };
enum { CELLS = 60, BOULDERS = 70 };
#define STEP 4.0

const level_area level_island_areas[] = {{"sand", SAND, 1.5}, {"grass", GRASS, 1}, {"rock", ROCK, 2}, {NULL, 0, 0}};

/// Lattice points above the water, and the vertices halfway between land and water.
typedef struct coast {
    cell_grid grid;
    cell_cover how;
    relief relief;
    bool land[CELLS + 1][CELLS + 1];
    uint32_t along_x[CELLS + 1][CELLS + 1]; ///< between (x, z) and (x + 1, z); NAV_NONE: none yet
    uint32_t along_z[CELLS + 1][CELLS + 1]; ///< between (x, z) and (x, z + 1)
} coast;

/// Above the sea where positive: hills that fall off towards the rim.
static double height(const void *ctx, double x, double z)
{
    double middle = CELLS * STEP / 2, off = hypot(x - middle, z - middle) / middle;
    return relief_height(ctx, x, z) - floor(64 * (9.5 + 7 * pow(off, 4))) / 64;
}

/// Corners of a cell in the order of the polygons: (x, z), (x + 1, z), (x + 1, z + 1), (x, z + 1).
static const int corner_x[4] = {0, 1, 1, 0}, corner_z[4] = {0, 0, 1, 1};

static uint32_t halfway(coast *c, poly_mesh *mesh, int x, int z, int side)
{
    uint32_t *v = side == 0   ? &c->along_x[x][z]
                  : side == 1 ? &c->along_z[x + 1][z]
                  : side == 2 ? &c->along_x[x][z + 1]
                              : &c->along_z[x][z];
    if (*v == NAV_NONE) {
        int next = (side + 1) % 4;
        double ax = (x + corner_x[side]) * STEP, az = (z + corner_z[side]) * STEP;
        double bx = (x + corner_x[next]) * STEP, bz = (z + corner_z[next]) * STEP;
        bool from = c->land[x + corner_x[side]][z + corner_z[side]];
        // On the beach the ground goes on as high as the land beside it.
        *v = poly_mesh_add_vertex(mesh, (ax + bx) / 2, height(&c->relief, from ? ax : bx, from ? az : bz),
                                  (az + bz) / 2);
    }
    return *v;
}

/// The land of a cell that is partly water (marching squares: Lorensen and Cline 1987, in the plane). Two opposite
/// corners of land are two pieces.
static void add_coast_cell(coast *c, poly_mesh *mesh, int x, int z)
{
    bool is_land[4];
    int count = 0;
    for (int k = 0; k < 4; k++) {
        is_land[k] = c->land[x + corner_x[k]][z + corner_z[k]];
        count += is_land[k];
    }
    bool two_pieces = count == 2 && is_land[0] == is_land[2];
    uint32_t corners[8], n = 0;
    for (int k = 0; k < 4; k++) {
        if (!is_land[k]) {
            continue;
        }
        int before = (k + 3) % 4;
        if (!is_land[before]) {
            corners[n++] = halfway(c, mesh, x, z, before);
        }
        corners[n++] = cell_grid_vertex(&c->grid, mesh, x + corner_x[k], z + corner_z[k], &c->how);
        if (!is_land[(k + 1) % 4]) {
            corners[n++] = halfway(c, mesh, x, z, k);
        }
        if (two_pieces) {
            poly_mesh_add_polygon(mesh, corners, n);
            n = 0;
        }
    }
    if (n) {
        poly_mesh_add_polygon(mesh, corners, n);
    }
}

static void mark_land(coast *c, rng *r)
{
    for (int x = 0; x <= CELLS; x++) {
        for (int z = 0; z <= CELLS; z++) {
            c->land[x][z] = height(&c->relief, x * STEP, z * STEP) > 0;
        }
    }
    for (int i = 0; i < BOULDERS; i++) {
        c->land[rng_between(r, 0, CELLS)][rng_between(r, 0, CELLS)] = false;
    }
}

void level_island(poly_mesh *mesh, uint64_t seed)
{
    rng r = rng_seeded(seed);
    coast *c = poly_mesh_resize(NULL, 1, sizeof *c);
    memset(c->along_x, 0xFF, sizeof c->along_x);
    memset(c->along_z, 0xFF, sizeof c->along_z);
    cell_grid_init(&c->grid, CELLS, CELLS, STEP);
    c->relief = (relief){seed, 52, 26};
    c->how = (cell_cover){.most = 4, .height = height, .ctx = &c->relief};
    mark_land(c, &r);
    for (int x = 0; x < CELLS; x++) {
        for (int z = 0; z < CELLS; z++) {
            int land = c->land[x][z] + c->land[x + 1][z] + c->land[x + 1][z + 1] + c->land[x][z + 1];
            double y = height(&c->relief, (x + 0.5) * STEP, (z + 0.5) * STEP);
            cell_grid_fill(&c->grid, x, z, x + 1, z + 1, land == 4, y < 1 ? SAND : y < 7 ? GRASS : ROCK);
            for (int k = 0; k < 4 && land > 0 && land < 4; k++) {
                cell_grid_mark(&c->grid, x + corner_x[k], z + corner_z[k]);
            }
        }
    }
    poly_mesh_init(mesh);
    cell_grid_cover(&c->grid, mesh, &c->how);
    for (int x = 0; x < CELLS; x++) {
        for (int z = 0; z < CELLS; z++) {
            if (!cell_grid_is_free(&c->grid, x, z)) {
                add_coast_cell(c, mesh, x, z);
            }
        }
    }
    cell_grid_deinit(&c->grid);
    free(c);
    poly_mesh_link(mesh);
}
