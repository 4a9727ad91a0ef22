/// Levels made by rule and seed: the samples, and terrains of any size for benchmarks. Everything lies on
/// a grid of 1/64 of a unit, and the same seed gives the same level everywhere.
#ifndef GENERATE_LEVELS_H
#define GENERATE_LEVELS_H

#include "poly_mesh.h"

#include <stdint.h>

/// Names of areas and flags, for sidecars; both end with a NULL name.
typedef struct level_area {
    const char *name;
    uint8_t id;
    double cost;
} level_area;

typedef struct level_flag {
    const char *name;
    int bit;
} level_flag;

/// Rooms joined by corridors with doors, pools in some rooms, pillars, and a vault that no way leads to.
void level_dungeon(poly_mesh *mesh, uint64_t seed);
extern const level_area level_dungeon_areas[];
extern const level_flag level_dungeon_flags[];

/// Four storeys of rooms on both sides of a hall, above each other, joined by stairs.
void level_building(poly_mesh *mesh, uint64_t seed);
extern const level_area level_building_areas[];

/// An island of hills with lakes and boulders, smaller islands off its coast; the coast is not made of
/// squares. Areas by height: sand, grass, rock.
void level_island(poly_mesh *mesh, uint64_t seed);
extern const level_area level_island_areas[];

/// Hills with boxes standing on them, in tiles as a tiled bake makes them: no polygon crosses a multiple of
/// LEVEL_TILE units or has more than 6 corners or a straight one.
#define LEVEL_TILE 64
/// @param side  of the square, in units; two polygons come to about 9 square units
void level_terrain(poly_mesh *mesh, int side, uint64_t seed);

#endif
