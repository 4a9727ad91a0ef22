#include "levels.h"

#include "stairwell.h"

#include <stdlib.h>

enum { HALL, ROOM, STAIRS };
enum { WIDTH = 34, DEPTH = 20, STOREYS = 4, HALL_FIRST = 7, HALL_LAST = 11, STAIR_CELLS = 7 };

const level_area level_building_areas[] = {{"hall", HALL, 1}, {"room", ROOM, 1}, {"stairs", STAIRS, 1}, {NULL, 0, 0}};

/// Rooms between z0 and z1 along the hall, walls one cell thick, each with a door to the hall at `door_z`.
static void add_rooms(cell_grid *g, rng *r, int z0, int z1, int door_z)
{
    for (int x = 1; x + 3 < WIDTH;) {
        int end = x + rng_between(r, 4, 8);
        if (end + 4 >= WIDTH) {
            end = WIDTH - 1;
        }
        cell_grid_fill(g, x, z0, end, z1, true, ROOM);
        int door = rng_between(r, x, end - 1);
        cell_grid_fill(g, door, door_z, door + 1, door_z + 1, true, HALL);
        if (rng_chance(r, 0.5)) { // a cupboard
            int at = rng_between(r, x + 1, end - 1);
            cell_grid_fill(g, at, z0 + 2, at + 1, z0 + 3, false, 0);
        }
        x = end + 1;
    }
}

void level_building(poly_mesh *mesh, uint64_t seed)
{
    rng r = rng_seeded(seed);
    cell_grid storeys[STOREYS];
    cell_cover covers[STOREYS];
    stairwell wells[STOREYS - 1];
    for (int i = 0; i < STOREYS; i++) {
        cell_grid_init(&storeys[i], WIDTH, DEPTH, 0.5);
        cell_grid_fill(&storeys[i], 1, HALL_FIRST, WIDTH - 1, HALL_LAST + 1, true, HALL);
        add_rooms(&storeys[i], &r, 1, HALL_FIRST - 1, HALL_FIRST - 1);
        add_rooms(&storeys[i], &r, HALL_LAST + 2, DEPTH - 1, HALL_LAST + 1);
        covers[i] = (cell_cover){.most = 16, .level = 3.0 * i};
    }
    for (int i = 0; i + 1 < STOREYS; i++) {
        wells[i] = (stairwell){i % 2 ? WIDTH - STAIR_CELLS - 6 : 6, HALL_FIRST + 1, STAIR_CELLS, i % 2 == 0};
        stairwell_carve(&storeys[i], &wells[i], false);
        stairwell_carve(&storeys[i + 1], &wells[i], true);
    }
    poly_mesh_init(mesh);
    for (int i = 0; i < STOREYS; i++) {
        cell_grid_cover(&storeys[i], mesh, &covers[i]);
    }
    for (int i = 0; i + 1 < STOREYS; i++) {
        uint32_t first = mesh->poly_count;
        stairwell_add_ramp(mesh, &storeys[i], &covers[i], &wells[i], STAIR_CELLS);
        for (uint32_t p = first; p < mesh->poly_count; p++) {
            mesh->areas[p] = STAIRS;
        }
    }
    for (int i = 0; i < STOREYS; i++) {
        cell_grid_deinit(&storeys[i]);
    }
    poly_mesh_link(mesh);
}
