#include "poly_mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void die(const char *why)
{
    fprintf(stderr, "poly_mesh: %s\n", why);
    exit(70);
}

void *poly_mesh_resize(void *p, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) {
        die("too large");
    }
    size_t bytes = count * size;
    void *q = realloc(p, bytes > 0 ? bytes : 1);
    if (!q) {
        die("out of memory");
    }
    return q;
}

static uint32_t grown(uint32_t cap, size_t need)
{
    if (need > UINT32_MAX / 2) {
        die("too large");
    }
    uint32_t next = cap ? cap : 16;
    while (next < need) {
        next *= 2;
    }
    return next;
}

void poly_mesh_init(poly_mesh *mesh)
{
    memset(mesh, 0, sizeof *mesh);
    mesh->first = poly_mesh_resize(NULL, 1, sizeof *mesh->first);
    mesh->first[0] = 0;
}

void poly_mesh_deinit(poly_mesh *mesh)
{
    free(mesh->vertices);
    free(mesh->first);
    free(mesh->corners);
    free(mesh->neighbours);
    free(mesh->areas);
    free(mesh->flags);
    memset(mesh, 0, sizeof *mesh);
}

uint32_t poly_mesh_add_vertex(poly_mesh *mesh, double x, double y, double z)
{
    if (mesh->vertex_count == mesh->vertex_cap) {
        mesh->vertex_cap = grown(mesh->vertex_cap, (size_t)mesh->vertex_count + 1);
        mesh->vertices = poly_mesh_resize(mesh->vertices, 3 * (size_t)mesh->vertex_cap, sizeof *mesh->vertices);
    }
    double *v = &mesh->vertices[3 * (size_t)mesh->vertex_count];
    v[0] = x;
    v[1] = y;
    v[2] = z;
    return mesh->vertex_count++;
}

uint32_t poly_mesh_add_polygon(poly_mesh *mesh, const uint32_t *corners, uint32_t count)
{
    if (mesh->poly_count == mesh->poly_cap) {
        mesh->poly_cap = grown(mesh->poly_cap, (size_t)mesh->poly_count + 1);
        mesh->first = poly_mesh_resize(mesh->first, (size_t)mesh->poly_cap + 1, sizeof *mesh->first);
        mesh->areas = poly_mesh_resize(mesh->areas, mesh->poly_cap, sizeof *mesh->areas);
        mesh->flags = poly_mesh_resize(mesh->flags, mesh->poly_cap, sizeof *mesh->flags);
    }
    if ((size_t)mesh->corner_count + count > mesh->corner_cap) {
        mesh->corner_cap = grown(mesh->corner_cap, (size_t)mesh->corner_count + count);
        mesh->corners = poly_mesh_resize(mesh->corners, mesh->corner_cap, sizeof *mesh->corners);
    }
    memcpy(&mesh->corners[mesh->corner_count], corners, count * sizeof *corners);
    mesh->corner_count += count;
    mesh->first[mesh->poly_count + 1] = mesh->corner_count;
    mesh->areas[mesh->poly_count] = 0;
    mesh->flags[mesh->poly_count] = 1;
    return mesh->poly_count++;
}

/// One side of an edge, for sorting equal vertex pairs together.
typedef struct side {
    uint32_t low, high, polygon, corner;
    bool forward; ///< the polygon runs it from low to high
} side;

static int compare_sides(const void *pa, const void *pb)
{
    const side *a = pa, *b = pb;
    if (a->low != b->low) {
        return a->low < b->low ? -1 : 1;
    }
    return a->high < b->high ? -1 : a->high > b->high;
}

void poly_mesh_link(poly_mesh *mesh)
{
    side *sides = poly_mesh_resize(NULL, mesh->corner_count, sizeof *sides);
    mesh->neighbours = poly_mesh_resize(mesh->neighbours, mesh->corner_count, sizeof *mesh->neighbours);
    for (uint32_t p = 0; p < mesh->poly_count; p++) {
        for (uint32_t c = mesh->first[p]; c < mesh->first[p + 1]; c++) {
            uint32_t u = mesh->corners[c], v = mesh->corners[c + 1 == mesh->first[p + 1] ? mesh->first[p] : c + 1];
            sides[c] = (side){u < v ? u : v, u < v ? v : u, p, c, u < v};
            mesh->neighbours[c] = NAV_NONE;
        }
    }
    qsort(sides, mesh->corner_count, sizeof *sides, compare_sides);
    for (uint32_t i = 0; i + 1 < mesh->corner_count; i++) {
        side *a = &sides[i], *b = &sides[i + 1];
        if (a->low != b->low || a->high != b->high) {
            continue;
        }
        if (a->forward == b->forward || mesh->neighbours[a->corner] != NAV_NONE) {
            die("an edge is shared by three polygons, or by two wound against each other");
        }
        mesh->neighbours[a->corner] = b->polygon;
        mesh->neighbours[b->corner] = a->polygon;
    }
    free(sides);
}

/// Straight but for rounding; the least bend on the generators' grids is a hundred times sharper.
static bool is_straight(const double *a, const double *b, const double *c)
{
    double turn = poly_mesh_turn(a, b, c);
    return fabs(turn) <= 1e-9 * hypot(b[0] - a[0], b[2] - a[2]) * hypot(c[0] - b[0], c[2] - b[2]);
}

nav_status poly_mesh_to_soup(const poly_mesh *mesh, nav_soup *soup, bool t_junctions, uint64_t shuffle)
{
    rng r = rng_seeded(shuffle);
    uint32_t *corners = poly_mesh_resize(NULL, mesh->corner_count, sizeof *corners);
    nav_status status = NAV_OK;
    for (uint32_t v = 0; v < mesh->vertex_count && status == NAV_OK; v++) {
        const double *at = &mesh->vertices[3 * (size_t)v];
        status = nav_soup_add_vertex(soup, at[0], at[1], at[2]);
    }
    for (uint32_t p = 0; p < mesh->poly_count && status == NAV_OK; p++) {
        uint32_t size = poly_mesh_size(mesh, p), count = 0;
        uint32_t start = shuffle ? rng_below(&r, size) : 0;
        bool backwards = shuffle && rng_chance(&r, 0.5);
        for (uint32_t i = 0; i < size; i++) {
            uint32_t k = (start + (backwards ? size - i : i)) % size;
            if (!t_junctions || !is_straight(poly_mesh_corner(mesh, p, k + size - 1), poly_mesh_corner(mesh, p, k),
                                             poly_mesh_corner(mesh, p, k + 1))) {
                corners[count++] = mesh->corners[mesh->first[p] + k];
            }
        }
        status = nav_soup_add_polygon(soup, corners, count, mesh->areas[p], mesh->flags[p], NULL);
    }
    soup->has_areas = true;
    soup->has_flags = mesh->has_flags;
    free(corners);
    return status;
}

/// Nearest point of the segment uv to (x, z), as a share of the way from u to v.
static double nearest_share(const double *u, const double *v, double x, double z)
{
    double dx = v[0] - u[0], dz = v[2] - u[2], square = dx * dx + dz * dz;
    double t = square > 0 ? ((x - u[0]) * dx + (z - u[2]) * dz) / square : 0;
    return t < 0 ? 0 : t > 1 ? 1 : t;
}

static bool inside(const poly_mesh *mesh, uint32_t polygon, double x, double z)
{
    const double at[3] = {x, 0, z};
    for (uint32_t k = 0; k < poly_mesh_size(mesh, polygon); k++) {
        if (poly_mesh_turn(poly_mesh_corner(mesh, polygon, k), poly_mesh_corner(mesh, polygon, k + 1), at) < 0) {
            return false;
        }
    }
    return true;
}

/// Nearest point of the outline. @return its distance
static double nearest_on_outline(const poly_mesh *mesh, uint32_t polygon, double x, double z, double *out_x,
                                 double *out_z)
{
    double best = INFINITY;
    for (uint32_t k = 0; k < poly_mesh_size(mesh, polygon); k++) {
        const double *u = poly_mesh_corner(mesh, polygon, k), *v = poly_mesh_corner(mesh, polygon, k + 1);
        double t = nearest_share(u, v, x, z);
        double px = t == 1 ? v[0] : u[0] + (v[0] - u[0]) * t, pz = t == 1 ? v[2] : u[2] + (v[2] - u[2]) * t;
        double distance = hypot(px - x, pz - z);
        if (distance < best) {
            best = distance;
            *out_x = px;
            *out_z = pz;
        }
    }
    return best;
}

bool poly_mesh_holds(const poly_mesh *mesh, uint32_t polygon, double x, double z, double slack)
{
    double px, pz;
    return inside(mesh, polygon, x, z) || (slack > 0 && nearest_on_outline(mesh, polygon, x, z, &px, &pz) <= slack);
}

void poly_mesh_closest(const poly_mesh *mesh, uint32_t polygon, double x, double z, double out[3])
{
    out[0] = x;
    out[2] = z;
    if (!inside(mesh, polygon, x, z)) {
        nearest_on_outline(mesh, polygon, x, z, &out[0], &out[2]);
    }
    out[1] = poly_mesh_height(mesh, polygon, out[0], out[2]);
}

double poly_mesh_height(const poly_mesh *mesh, uint32_t polygon, double x, double z)
{
    const double at[3] = {x, 0, z}, *a = poly_mesh_corner(mesh, polygon, 0);
    double best = -INFINITY, height = a[1];
    for (uint32_t k = 1; k + 1 < poly_mesh_size(mesh, polygon); k++) {
        const double *b = poly_mesh_corner(mesh, polygon, k), *c = poly_mesh_corner(mesh, polygon, k + 1);
        double whole = poly_mesh_turn(a, b, c);
        if (whole <= 0) {
            continue;
        }
        // The fan's triangle that holds the point, or holds it best where rounding put it beside all.
        double wa = poly_mesh_turn(b, c, at) / whole, wb = poly_mesh_turn(c, a, at) / whole, wc = 1 - wa - wb;
        double worst = fmin(wa, fmin(wb, wc));
        if (worst > best) {
            best = worst;
            height = wa * a[1] + wb * b[1] + wc * c[1];
        }
    }
    return height;
}

double poly_mesh_area(const poly_mesh *mesh, uint32_t polygon)
{
    double twice = 0;
    const double *a = poly_mesh_corner(mesh, polygon, 0);
    for (uint32_t k = 1; k + 1 < poly_mesh_size(mesh, polygon); k++) {
        twice += poly_mesh_turn(a, poly_mesh_corner(mesh, polygon, k), poly_mesh_corner(mesh, polygon, k + 1));
    }
    return twice / 2;
}

/// Starts an empty mesh over the same vertices; `take_vertices` later puts them back.
static poly_mesh successor(poly_mesh *mesh)
{
    poly_mesh next;
    poly_mesh_init(&next);
    next.vertices = mesh->vertices;
    next.vertex_count = mesh->vertex_count;
    next.vertex_cap = mesh->vertex_cap;
    next.has_flags = mesh->has_flags;
    mesh->vertices = NULL;
    return next;
}

static void add_like(poly_mesh *next, const uint32_t *corners, uint32_t count, uint8_t area, uint32_t flags)
{
    uint32_t p = poly_mesh_add_polygon(next, corners, count);
    next->areas[p] = area;
    next->flags[p] = flags;
}

/// Signed area of a corner list.
static double list_area(const double *vertices, const uint32_t *corners, uint32_t count)
{
    double twice = 0;
    for (uint32_t k = 1; k + 1 < count; k++) {
        twice += poly_mesh_turn(&vertices[3 * (size_t)corners[0]], &vertices[3 * (size_t)corners[k]],
                                &vertices[3 * (size_t)corners[k + 1]]);
    }
    return twice;
}

static bool list_is_straight_at(const double *vertices, const uint32_t *corners, uint32_t count, uint32_t k)
{
    return is_straight(&vertices[3 * (size_t)corners[(k + count - 1) % count]], &vertices[3 * (size_t)corners[k]],
                       &vertices[3 * (size_t)corners[(k + 1) % count]]);
}

/// The diagonal that ends in the most straight corners, and of such the one that divides the area most evenly.
/// @return false when the polygon needs no cut
static bool find_cut(const poly_mesh *mesh, const uint32_t *corners, uint32_t count, uint32_t most, uint32_t *from,
                     uint32_t *to)
{
    const double *vertices = mesh->vertices;
    bool *straight = poly_mesh_resize(NULL, count, sizeof *straight), any = count > most;
    for (uint32_t k = 0; k < count; k++) {
        straight[k] = list_is_straight_at(vertices, corners, count, k);
        any |= straight[k];
    }
    double whole = list_area(vertices, corners, count), best = 0;
    for (uint32_t i = 0; i + 2 < count && any; i++) {
        for (uint32_t k = i + 2; k < count && k - i + 1 < count; k++) {
            double part = list_area(vertices, &corners[i], k - i + 1), least = fmin(part, whole - part) / whole;
            double score = least > 1e-12 ? least + straight[i] + straight[k] : 0;
            if (score > best) {
                best = score;
                *from = i;
                *to = k;
            }
        }
    }
    free(straight);
    return any && best > 0;
}

static void add_in_pieces(poly_mesh *next, const uint32_t *corners, uint32_t count, uint32_t most, uint8_t area,
                          uint32_t flags)
{
    uint32_t from = 0, to = 0, rest = 0;
    if (!find_cut(next, corners, count, most, &from, &to)) {
        add_like(next, corners, count, area, flags);
        return;
    }
    add_in_pieces(next, &corners[from], to - from + 1, most, area, flags);
    uint32_t *piece = poly_mesh_resize(NULL, count, sizeof *piece);
    for (uint32_t k = to; k != from + count + 1; k++) {
        piece[rest++] = corners[k % count];
    }
    add_in_pieces(next, piece, rest, most, area, flags);
    free(piece);
}

void poly_mesh_cut(poly_mesh *mesh, uint32_t most)
{
    poly_mesh next = successor(mesh);
    for (uint32_t p = 0; p < mesh->poly_count; p++) {
        add_in_pieces(&next, &mesh->corners[mesh->first[p]], poly_mesh_size(mesh, p), most, mesh->areas[p],
                      mesh->flags[p]);
    }
    poly_mesh_deinit(mesh);
    *mesh = next;
}

/// The union of two corner lists across the edge that `a` runs from its corner i and `b` from its corner k.
/// @return its size; 0 when it is not convex or meets itself
static uint32_t join_lists(const double *vertices, const uint32_t *a, uint32_t a_count, uint32_t i, const uint32_t *b,
                           uint32_t b_count, uint32_t k, uint32_t *out)
{
    uint32_t n = 0;
    for (uint32_t s = 1; s <= a_count; s++) {
        out[n++] = a[(i + s) % a_count];
    }
    for (uint32_t s = 2; s < b_count; s++) {
        out[n++] = b[(k + s) % b_count];
    }
    for (uint32_t s = 0; s < n; s++) {
        for (uint32_t t = s + 1; t < n; t++) {
            if (out[s] == out[t]) {
                return 0;
            }
        }
        if (poly_mesh_turn(&vertices[3 * (size_t)out[s]], &vertices[3 * (size_t)out[(s + 1) % n]],
                           &vertices[3 * (size_t)out[(s + 2) % n]]) < 0) {
            return 0;
        }
    }
    return n;
}

void poly_mesh_merge(poly_mesh *mesh, rng *r, uint32_t tries, uint32_t most_corners)
{
    uint32_t *list = poly_mesh_resize(NULL, 2 * (size_t)most_corners + 4, sizeof *list);
    bool *done = poly_mesh_resize(NULL, mesh->poly_count, sizeof *done);
    memset(done, 0, mesh->poly_count * sizeof *done);
    poly_mesh next = successor(mesh);
    for (uint32_t t = 0; t < tries && mesh->poly_count; t++) {
        uint32_t p = rng_below(r, mesh->poly_count), size = poly_mesh_size(mesh, p), i = rng_below(r, size);
        uint32_t q = mesh->neighbours[mesh->first[p] + i];
        if (done[p] || q == NAV_NONE || done[q] || size + poly_mesh_size(mesh, q) > most_corners + 2 ||
            mesh->areas[p] != mesh->areas[q] || mesh->flags[p] != mesh->flags[q]) {
            continue;
        }
        uint32_t k = 0;
        while (mesh->neighbours[mesh->first[q] + k] != p) {
            k++;
        }
        uint32_t n = join_lists(next.vertices, &mesh->corners[mesh->first[p]], size, i, &mesh->corners[mesh->first[q]],
                                poly_mesh_size(mesh, q), k, list);
        if (n) {
            done[p] = done[q] = true;
            add_like(&next, list, n, mesh->areas[p], mesh->flags[p]);
        }
    }
    for (uint32_t p = 0; p < mesh->poly_count; p++) {
        if (!done[p]) {
            add_like(&next, &mesh->corners[mesh->first[p]], poly_mesh_size(mesh, p), mesh->areas[p], mesh->flags[p]);
        }
    }
    free(list);
    free(done);
    poly_mesh_deinit(mesh);
    *mesh = next;
}
