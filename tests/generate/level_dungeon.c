#include "levels.h"

#include "cell_grid.h"

#include <stdlib.h>

enum { ROOM, CORRIDOR, DOOR, WATER };
enum { WIDTH = 80, DEPTH = 56, MOST_ROOMS = 22 };

const level_area level_dungeon_areas[] = {
    {"room", ROOM, 1}, {"corridor", CORRIDOR, 1}, {"door", DOOR, 1}, {"water", WATER, 4}, {NULL, 0, 0}};
const level_flag level_dungeon_flags[] = {{"walk", 0}, {"door", 1}, {"swim", 2}, {NULL, 0}};

typedef struct room {
    int x0, z0, x1, z1; ///< cells x0 .. x1 - 1, z0 .. z1 - 1
} room;

static bool keeps_apart(const room *a, const room *b)
{
    return a->x1 + 2 < b->x0 || b->x1 + 2 < a->x0 || a->z1 + 2 < b->z0 || b->z1 + 2 < a->z0;
}

/// Places rooms with walls between them. @return how many
static int place_rooms(rng *r, room *rooms)
{
    int count = 0;
    for (int tries = 0; tries < 400 && count < MOST_ROOMS; tries++) {
        int w = rng_between(r, 5, 13), d = rng_between(r, 4, 10);
        room a = {rng_between(r, 1, WIDTH - w - 1), rng_between(r, 1, DEPTH - d - 1), 0, 0};
        a.x1 = a.x0 + w;
        a.z1 = a.z0 + d;
        bool fits = true;
        for (int i = 0; i < count && fits; i++) {
            fits = keeps_apart(&a, &rooms[i]);
        }
        if (fits) {
            rooms[count++] = a;
        }
    }
    return count;
}

static void furnish(cell_grid *g, rng *r, const room *a)
{
    int w = a->x1 - a->x0, d = a->z1 - a->z0;
    cell_grid_fill(g, a->x0, a->z0, a->x1, a->z1, true, ROOM);
    if (w >= 8 && d >= 6 && rng_chance(r, 0.4)) {
        cell_grid_fill(g, a->x0 + 2, a->z0 + 2, a->x1 - 2, a->z1 - 2, true, WATER);
    } else if (w >= 7 && d >= 6) {
        for (int x = a->x0 + 2; x < a->x1 - 2; x += 3) {
            cell_grid_fill(g, x, a->z0 + 1, x + 1, a->z0 + 2, false, 0);
            cell_grid_fill(g, x, a->z1 - 2, x + 1, a->z1 - 1, false, 0);
        }
    }
}

/// Frees one cell of a corridor where there is rock; the first one outside a room is its door.
static void dig(cell_grid *g, int x, int z, bool *in_room)
{
    if (cell_grid_is_free(g, x, z)) {
        *in_room = g->area[z * g->nx + x] == ROOM || g->area[z * g->nx + x] == WATER;
        return;
    }
    cell_grid_fill(g, x, z, x + 1, z + 1, true, *in_room ? DOOR : CORRIDOR);
    *in_room = false;
}

/// From the middle of one room along x, then along z, to the middle of the other.
static void join_rooms(cell_grid *g, const room *a, const room *b)
{
    int x = (a->x0 + a->x1) / 2, z = (a->z0 + a->z1) / 2, to_x = (b->x0 + b->x1) / 2, to_z = (b->z0 + b->z1) / 2;
    bool in_room = true;
    while (x != to_x) {
        x += x < to_x ? 1 : -1;
        dig(g, x, z, &in_room);
    }
    while (z != to_z) {
        z += z < to_z ? 1 : -1;
        dig(g, x, z, &in_room);
    }
}

/// A room in the first place where there is nothing but rock round it.
static void wall_in_vault(cell_grid *g)
{
    enum { W = 6, D = 5 };
    for (int z = 1; z + D < DEPTH; z++) {
        for (int x = 1; x + W < WIDTH; x++) {
            bool rock = true;
            for (int k = 0; k < (W + 2) * (D + 2) && rock; k++) {
                rock = !cell_grid_is_free(g, x - 1 + k % (W + 2), z - 1 + k / (W + 2));
            }
            if (rock) {
                cell_grid_fill(g, x, z, x + W, z + D, true, ROOM);
                return;
            }
        }
    }
}

void level_dungeon(poly_mesh *mesh, uint64_t seed)
{
    rng r = rng_seeded(seed);
    room rooms[MOST_ROOMS];
    int count = place_rooms(&r, rooms);
    cell_grid g;
    cell_grid_init(&g, WIDTH, DEPTH, 1);
    for (int i = 0; i < count; i++) {
        furnish(&g, &r, &rooms[i]);
    }
    // Every room to the next one, and some ways besides that make rings.
    for (int i = 0; i + 1 < count; i++) {
        join_rooms(&g, &rooms[i], &rooms[i + 1]);
        if (i % 4 == 0 && i + 4 < count) {
            join_rooms(&g, &rooms[i], &rooms[i + 4]);
        }
    }
    wall_in_vault(&g);
    poly_mesh_init(mesh);
    cell_grid_cover(&g, mesh, &(cell_cover){.most = 16});
    cell_grid_deinit(&g);
    for (uint32_t p = 0; p < mesh->poly_count; p++) {
        mesh->flags[p] = 1u << (mesh->areas[p] == DOOR ? 1 : mesh->areas[p] == WATER ? 2 : 0);
    }
    mesh->has_flags = true;
    poly_mesh_link(mesh);
}
