/// Off-mesh links: which are kept, and which cells they touch.
#include "build.h"

#include <stdio.h>

/// Faces looked at for all links together: radii as large as the mesh must not stop the build.
#define MOST_FACES_SEEN 20000000u

/// How far an end of a link with this radius may be from the surface.
typedef struct reach {
    nav_vec end; ///< relative to the origin
    double ground, height;
} reach;

/// Nearest ground distance from p to the convex face, 0 inside.
static double face_distance(const nav__build *b, uint32_t face, nav__p2 p)
{
    uint32_t first = b->faces[face].first_corner, end = b->faces[face + 1].first_corner;
    double best = INFINITY;
    bool inside = true;
    nav__p2 from = nav__build_point(b, b->face_corners[end - 1]);
    for (uint32_t k = first; k < end; k++) {
        nav__p2 to = nav__build_point(b, b->face_corners[k]), d = nav__sub(to, from);
        inside = inside && nav__orient(from, to, p) >= 0;
        double t = fmin(fmax(nav__dot(nav__sub(p, from), d) / nav__dot(d, d), 0), 1);
        best = fmin(best, nav__dist(p, (nav__p2){from.x + t * d.x, from.z + t * d.z}));
        from = to;
    }
    return inside ? 0 : best;
}

/// Could the end touch this face? Judged by the heights of all its corners and detail, generously.
static bool touches(const nav__build *b, uint32_t face, const reach *r)
{
    double low = INFINITY, high = -INFINITY;
    for (uint32_t k = b->faces[face].first_corner; k < b->faces[face + 1].first_corner; k++) {
        double y = (double)nav__build_height(b, b->face_corners[k]);
        low = fmin(low, y);
        high = fmax(high, y);
    }
    for (uint32_t t = 3 * b->faces[face].first_tri; t < 3 * b->faces[face + 1].first_tri; t++) {
        double y = (double)nav__build_height(b, b->tris[t]);
        low = fmin(low, y);
        high = fmax(high, y);
    }
    return r->end.y >= low - r->height && r->end.y <= high + r->height &&
           face_distance(b, face, (nav__p2){r->end.x, r->end.z}) <= r->ground;
}

/// Marks the cells that an end may touch.
/// @param budget  faces that may still be looked at
/// @return false: none
static bool mark_end(nav__build *b, nav_vec end, double radius, uint64_t *budget)
{
    const nav__work_grid *g = &b->grid;
    reach r = {{end.x - b->origin.x, end.y - b->origin.y, end.z - b->origin.z},
               radius + b->rounding,
               radius + b->agent.climb + b->rounding};
    uint32_t i0 = nav__grid_index(r.end.x - r.ground, g->x, g->inverse, g->nx);
    uint32_t i1 = nav__grid_index(r.end.x + r.ground, g->x, g->inverse, g->nx);
    uint32_t j0 = nav__grid_index(r.end.z - r.ground, g->z, g->inverse, g->nz);
    uint32_t j1 = nav__grid_index(r.end.z + r.ground, g->z, g->inverse, g->nz);
    bool found = false;
    for (uint32_t j = j0; j <= j1 && *budget > 0; j++) {
        for (uint32_t i = i0; i <= i1; i++) {
            size_t cell = (size_t)j * g->nx + i;
            for (uint32_t k = g->first[cell]; k < g->first[cell + 1] && *budget > 0; k++, --*budget) {
                uint32_t face = g->faces[k];
                if (touches(b, face, &r)) {
                    b->cells[b->faces[face].cell].link_end = true;
                    found = true;
                }
            }
        }
    }
    return found;
}

void nav__build_drop_link(nav__build *b, const nav_link *link, const char *reason)
{
    nav_report *r = b->report;
    if (r->dropped_link_count < NAV_REPORT_CAP) {
        snprintf(r->dropped_links[r->dropped_link_count].id, sizeof r->dropped_links[0].id, "%s", link->id);
        snprintf(r->dropped_links[r->dropped_link_count].reason, sizeof r->dropped_links[0].reason, "%s", reason);
    }
    r->dropped_link_count++;
}

/// A cell that a seam cut off its face's own is marked like that one.
static void mark_pieces(nav__build *b)
{
    for (uint32_t c = 0; c < b->cell_count && b->item_count > b->face_count; c++) {
        nav__work_cell *cell = &b->cells[c];
        for (uint32_t i = cell->half == NAV_NONE ? NAV_NONE : cell->first_item; i != NAV_NONE; i = b->items[i].next) {
            cell->link_end = cell->link_end || b->cells[b->faces[b->items[i].face].cell].link_end;
        }
    }
}

nav_status nav__build_links(nav__build *b)
{
    uint64_t budget = MOST_FACES_SEEN;
    b->links = nav__build_take(b, b->soup->link_count, sizeof *b->links);
    if (!b->links) {
        return nav__build_no_memory(b);
    }
    for (uint32_t i = 0; i < b->soup->link_count; i++) {
        const nav_link *link = &b->soup->links[i];
        bool start = mark_end(b, link->start, link->radius, &budget);
        bool end = mark_end(b, link->end, link->radius, &budget);
        if (budget == 0) {
            nav__build_drop_link(b, link, "too many polygons within the links' radius");
        } else if (start && end) {
            b->links[b->link_count++] = *link;
        } else {
            nav__build_drop_link(b, link, start ? "its end is not near the mesh" : "its start is not near the mesh");
        }
    }
    mark_pieces(b);
    return NAV_OK;
}
