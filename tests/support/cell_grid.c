#include "cell_grid.h"

#include <stdlib.h>
#include <string.h>

typedef struct rectangle {
    int x0, z0, x1, z1; ///< cells x0 .. x1 - 1, z0 .. z1 - 1
} rectangle;

static size_t cell(const cell_grid *g, int x, int z)
{
    return (size_t)z * (size_t)g->nx + (size_t)x;
}

static size_t lattice(const cell_grid *g, int x, int z)
{
    return (size_t)z * ((size_t)g->nx + 1) + (size_t)x;
}

void cell_grid_init(cell_grid *grid, int nx, int nz, double step)
{
    size_t cells = (size_t)nx * (size_t)nz, points = ((size_t)nx + 1) * ((size_t)nz + 1);
    *grid = (cell_grid){.nx = nx, .nz = nz, .step = step};
    grid->is_free = poly_mesh_resize(NULL, cells, sizeof *grid->is_free);
    grid->area = poly_mesh_resize(NULL, cells, sizeof *grid->area);
    grid->corner = poly_mesh_resize(NULL, points, sizeof *grid->corner);
    grid->vertex = poly_mesh_resize(NULL, points, sizeof *grid->vertex);
    memset(grid->is_free, 0, cells * sizeof *grid->is_free);
    memset(grid->area, 0, cells * sizeof *grid->area);
    memset(grid->corner, 0, points * sizeof *grid->corner);
    memset(grid->vertex, 0xFF, points * sizeof *grid->vertex);
}

void cell_grid_deinit(cell_grid *grid)
{
    free(grid->is_free);
    free(grid->area);
    free(grid->corner);
    free(grid->vertex);
    memset(grid, 0, sizeof *grid);
}

bool cell_grid_is_free(const cell_grid *grid, int x, int z)
{
    return x >= 0 && z >= 0 && x < grid->nx && z < grid->nz && grid->is_free[cell(grid, x, z)];
}

void cell_grid_fill(cell_grid *grid, int x0, int z0, int x1, int z1, bool is_free, uint8_t area)
{
    for (int z = z0 < 0 ? 0 : z0; z < z1 && z < grid->nz; z++) {
        for (int x = x0 < 0 ? 0 : x0; x < x1 && x < grid->nx; x++) {
            grid->is_free[cell(grid, x, z)] = is_free;
            grid->area[cell(grid, x, z)] = area;
        }
    }
}

void cell_grid_mark(cell_grid *grid, int x, int z)
{
    grid->corner[lattice(grid, x, z)] = true;
}

uint32_t cell_grid_vertex(cell_grid *grid, poly_mesh *mesh, int x, int z, const cell_cover *how)
{
    uint32_t *v = &grid->vertex[lattice(grid, x, z)];
    if (*v == NAV_NONE) {
        double px = x * grid->step, pz = z * grid->step;
        *v = poly_mesh_add_vertex(mesh, px, how->height ? how->height(how->ctx, px, pz) : how->level, pz);
    }
    return *v;
}

/// May cells x0 .. x1 - 1 of row z join a rectangle of the area?
static bool row_fits(const cell_grid *g, const bool *covered, int x0, int x1, int z, uint8_t area)
{
    for (int x = x0; x < x1; x++) {
        size_t c = cell(g, x, z);
        if (!g->is_free[c] || covered[c] || g->area[c] != area) {
            return false;
        }
    }
    return true;
}

static bool stops(const cell_cover *how, int end, int start, int limit)
{
    return end >= limit || end - start >= how->most || (how->tile && end % how->tile == 0) ||
           (how->r && rng_chance(how->r, how->stop));
}

/// A rectangle of free cells with its lower corner in cell (x, z), along x first.
static rectangle grow(const cell_grid *g, bool *covered, const cell_cover *how, int x, int z)
{
    uint8_t area = g->area[cell(g, x, z)];
    rectangle a = {x, z, x + 1, z + 1};
    while (!stops(how, a.x1, x, g->nx) && row_fits(g, covered, a.x1, a.x1 + 1, z, area)) {
        a.x1++;
    }
    while (!stops(how, a.z1, z, g->nz) && row_fits(g, covered, x, a.x1, a.z1, area)) {
        a.z1++;
    }
    for (int k = a.z0; k < a.z1; k++) {
        memset(&covered[cell(g, x, k)], 1, (size_t)(a.x1 - a.x0));
    }
    return a;
}

/// Walks round the rectangle and takes every corner on its way.
static void add_rectangle(cell_grid *g, poly_mesh *mesh, const cell_cover *how, rectangle a, uint32_t *corners)
{
    static const int direction[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    uint32_t n = 0;
    int x = a.x0, z = a.z0;
    for (int side = 0; side < 4; side++) {
        int steps = side % 2 ? a.z1 - a.z0 : a.x1 - a.x0;
        for (int s = 0; s < steps; s++) {
            if (g->corner[lattice(g, x, z)]) {
                corners[n++] = cell_grid_vertex(g, mesh, x, z, how);
            }
            x += direction[side][0];
            z += direction[side][1];
        }
    }
    uint32_t p = poly_mesh_add_polygon(mesh, corners, n);
    mesh->areas[p] = g->area[cell(g, a.x0, a.z0)];
}

void cell_grid_cover(cell_grid *grid, poly_mesh *mesh, const cell_cover *how)
{
    size_t cells = (size_t)grid->nx * (size_t)grid->nz, count = 0;
    bool *covered = poly_mesh_resize(NULL, cells, sizeof *covered);
    rectangle *list = poly_mesh_resize(NULL, cells, sizeof *list);
    memset(covered, 0, cells * sizeof *covered);
    for (int z = 0; z < grid->nz; z++) {
        for (int x = 0; x < grid->nx; x++) {
            if (grid->is_free[cell(grid, x, z)] && !covered[cell(grid, x, z)]) {
                rectangle a = list[count++] = grow(grid, covered, how, x, z);
                cell_grid_mark(grid, a.x0, a.z0);
                cell_grid_mark(grid, a.x1, a.z0);
                cell_grid_mark(grid, a.x1, a.z1);
                cell_grid_mark(grid, a.x0, a.z1);
            }
        }
    }
    uint32_t *corners = poly_mesh_resize(NULL, 4 * (size_t)how->most, sizeof *corners);
    for (size_t i = 0; i < count; i++) {
        add_rectangle(grid, mesh, how, list[i], corners);
    }
    free(corners);
    free(list);
    free(covered);
}
