/// The grid over the faces that point location reads: which faces touch which cell of the ground plane.
#include "build.h"

#include <float.h>

#define MOST_GRID_CELLS 4000000u
#define FACES_PER_CELL 2.0 ///< more: less memory, but more faces to be looked at
#define MOST_ENTRIES_PER_FACE 8u
#define LEAST_STEP 1e-30 ///< its inverse is a finite float too

/// A face's bounds in grid cells, both ends included.
typedef struct span {
    uint32_t i0, i1, j0, j1;
} span;

static void face_bounds(const nav__build *b, uint32_t face, float min[2], float max[2])
{
    min[0] = min[1] = FLT_MAX;
    max[0] = max[1] = -FLT_MAX;
    for (uint32_t k = b->faces[face].first_corner; k < b->faces[face + 1].first_corner; k++) {
        const float *p = &b->points[3 * (size_t)b->face_corners[k]];
        min[0] = fminf(min[0], p[0]);
        min[1] = fminf(min[1], p[2]);
        max[0] = fmaxf(max[0], p[0]);
        max[1] = fmaxf(max[1], p[2]);
    }
}

static span face_span(const nav__build *b, const nav__work_grid *g, uint32_t face)
{
    float min[2], max[2];
    face_bounds(b, face, min, max);
    return (span){nav__grid_index((double)min[0], g->x, g->inverse, g->nx),
                  nav__grid_index((double)max[0], g->x, g->inverse, g->nx),
                  nav__grid_index((double)min[1], g->z, g->inverse, g->nz),
                  nav__grid_index((double)max[1], g->z, g->inverse, g->nz)};
}

/// Does the face surely miss grid cell (i, j)? Some edge has the whole cell, a little grown against the
/// rounding of its borders, on its outer side.
static bool misses(const nav__build *b, const nav__work_grid *g, uint32_t face, uint32_t i, uint32_t j)
{
    double step = 1 / (double)g->inverse, half = 0.5005 * step; // as exactly as the index has it
    nav__p2 middle = {(double)g->x + (i + 0.5) * step, (double)g->z + (j + 0.5) * step};
    uint32_t first = b->faces[face].first_corner, end = b->faces[face + 1].first_corner;
    nav__p2 from = nav__build_point(b, b->face_corners[end - 1]);
    for (uint32_t k = first; k < end; k++) {
        nav__p2 to = nav__build_point(b, b->face_corners[k]), d = nav__sub(to, from);
        double reach = (fabs(d.x) + fabs(d.z)) * half;
        if (nav__cross(d, nav__sub(middle, from)) < -reach * (1 + 1e-6)) {
            return true;
        }
        from = to;
    }
    return false;
}

/// Calls for each grid cell of the face: counts it, or enters the face.
static void visit(const nav__build *b, const nav__work_grid *g, uint32_t face, uint32_t *counts, uint32_t *cursors)
{
    span s = face_span(b, g, face);
    bool large = (uint64_t)(s.i1 - s.i0 + 1) * (s.j1 - s.j0 + 1) > 4;
    for (uint32_t j = s.j0; j <= s.j1; j++) {
        for (uint32_t i = s.i0; i <= s.i1; i++) {
            if (large && misses(b, g, face, i, j)) {
                continue;
            }
            size_t cell = (size_t)j * g->nx + i;
            if (counts) {
                counts[cell]++;
            } else {
                g->faces[cursors[cell]++] = face;
            }
        }
    }
}

/// Bounding boxes' grid cells of all faces, an upper bound of the entries.
static uint64_t count_boxes(const nav__build *b, const nav__work_grid *g)
{
    uint64_t count = 0;
    for (uint32_t f = 0; f < b->face_count; f++) {
        span s = face_span(b, g, f);
        count += (uint64_t)(s.i1 - s.i0 + 1) * (s.j1 - s.j0 + 1);
    }
    return count;
}

static void set_step(nav__work_grid *g, double step, double width, double depth)
{
    g->step = (float)step;
    g->inverse = (float)(1 / (double)g->step);
    g->nx = (uint32_t)(width / (double)g->step) + 1;
    g->nz = (uint32_t)(depth / (double)g->step) + 1;
}

/// About FACES_PER_CELL to the cell over the bounds; coarser while large faces would be entered too often.
static void choose_step(const nav__build *b, nav__work_grid *g)
{
    float min[2] = {FLT_MAX, FLT_MAX}, max[2] = {-FLT_MAX, -FLT_MAX};
    for (uint32_t f = 0; f < b->face_count; f++) {
        float low[2], high[2];
        face_bounds(b, f, low, high);
        for (int i = 0; i < 2; i++) {
            min[i] = fminf(min[i], low[i]);
            max[i] = fmaxf(max[i], high[i]);
        }
    }
    g->x = min[0];
    g->z = min[1];
    double width = (double)max[0] - (double)min[0], depth = (double)max[1] - (double)min[1];
    double cells = fmin((double)b->face_count / FACES_PER_CELL, MOST_GRID_CELLS / 2);
    double longest = fmax(width, depth);
    // The second bound keeps a long narrow mesh from needing more cells along it than there are faces.
    double step = fmax(sqrt(width * depth / cells), fmax(longest / cells, longest * 1e-7));
    step = fmax(step, LEAST_STEP);
    for (set_step(g, step, width, depth); step < longest; set_step(g, step, width, depth)) {
        uint64_t entries = count_boxes(b, g);
        if (entries <= (uint64_t)MOST_ENTRIES_PER_FACE * b->face_count) {
            return;
        }
        step *= 1.5;
    }
}

nav_status nav__build_grid(nav__build *b)
{
    nav__work_grid *g = &b->grid;
    choose_step(b, g);
    size_t cells = (size_t)g->nx * g->nz;
    g->first = nav__build_take(b, cells + 2, sizeof *g->first);
    if (!g->first) {
        return nav__build_no_memory(b);
    }
    memset(g->first, 0, (cells + 2) * sizeof *g->first);
    for (uint32_t f = 0; f < b->face_count; f++) {
        visit(b, g, f, g->first + 2, NULL);
    }
    for (size_t c = 0; c < cells; c++) {
        g->first[c + 2] += g->first[c + 1];
    }
    g->faces = nav__build_take(b, g->first[cells + 1], sizeof *g->faces);
    if (!g->faces) {
        return nav__build_no_memory(b);
    }
    for (uint32_t f = 0; f < b->face_count; f++) { // first[c + 1] moves from c's start to its end
        visit(b, g, f, NULL, g->first + 1);
    }
    return NAV_OK;
}
