#include "stairwell.h"

void stairwell_carve(cell_grid *storey, const stairwell *well, bool upper)
{
    bool right = well->up_right == upper;
    int end = well->x + well->length, landing = right ? end : well->x - 1, edge = right ? end : well->x;
    cell_grid_fill(storey, well->x, well->z, end, well->z + 3, false, 0);
    cell_grid_fill(storey, landing, well->z, landing + 1, well->z + 3, true, 0);
    cell_grid_mark(storey, edge, well->z + 1);
    cell_grid_mark(storey, edge, well->z + 2);
}

void stairwell_add_ramp(poly_mesh *mesh, cell_grid *storeys, const cell_cover *covers, const stairwell *well,
                        int pieces)
{
    int left = well->up_right ? 0 : 1, right = 1 - left, end = well->x + well->length;
    double step = storeys[0].step, left_y = covers[left].level, right_y = covers[right].level;
    uint32_t below = cell_grid_vertex(&storeys[left], mesh, well->x, well->z + 1, &covers[left]);
    uint32_t above = cell_grid_vertex(&storeys[left], mesh, well->x, well->z + 2, &covers[left]);
    for (int i = 1; i <= pieces; i++) {
        uint32_t next_below, next_above;
        if (i < pieces) {
            double share = (double)i / pieces, x = (well->x + well->length * share) * step;
            double y = left_y + (right_y - left_y) * share;
            next_below = poly_mesh_add_vertex(mesh, x, y, (well->z + 1) * step);
            next_above = poly_mesh_add_vertex(mesh, x, y, (well->z + 2) * step);
        } else {
            next_below = cell_grid_vertex(&storeys[right], mesh, end, well->z + 1, &covers[right]);
            next_above = cell_grid_vertex(&storeys[right], mesh, end, well->z + 2, &covers[right]);
        }
        poly_mesh_add_polygon(mesh, (uint32_t[]){below, next_below, next_above, above}, 4);
        below = next_below;
        above = next_above;
    }
}
