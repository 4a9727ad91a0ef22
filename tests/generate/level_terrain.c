#include "levels.h"

#include "cell_grid.h"
#include "relief.h"

static double height(const void *ctx, double x, double z)
{
    return relief_height(ctx, x, z);
}

void level_terrain(poly_mesh *mesh, int side, uint64_t seed)
{
    rng r = rng_seeded(seed);
    relief hills = {seed, 150, 24};
    cell_grid g;
    cell_grid_init(&g, side, side, 1);
    cell_grid_fill(&g, 0, 0, side, side, true, 0);
    for (int64_t boxes = (int64_t)side * side / 14; boxes > 0; boxes--) {
        int x = rng_between(&r, 0, side - 1), z = rng_between(&r, 0, side - 1);
        cell_grid_fill(&g, x, z, x + rng_between(&r, 1, 3), z + rng_between(&r, 1, 3), false, 0);
    }
    poly_mesh_init(mesh);
    cell_grid_cover(&g, mesh, &(cell_cover){.most = 16, .tile = LEVEL_TILE, .height = height, .ctx = &hills});
    cell_grid_deinit(&g);
    poly_mesh_cut(mesh, 6);
    poly_mesh_link(mesh);
}
