/// What of a cooked mesh must hold for queries to stay within it and to come to an end. See layout.h for what the
/// arrays mean; the names of the checks are what people get to read.
///
/// These loops see some 25 MB for each 200,000 polygons, in the time of a few milliseconds: they go through the
/// arrays in order where they can, in wide registers, and gather what is wrong instead of leaving at once.
#include "cooked.h"

#include "geom.h"

#include <math.h>
#include <string.h>

/// Words looked at together, in as many registers as they take.
typedef uint32_t words __attribute__((vector_size(64)));
#define WORDS (sizeof(words) / sizeof(uint32_t))

/// Is no word, of which only the bits in `mask` count, above `limit`? The limit is below 2^31, so that the top bit
/// of limit - word or that of the word itself tells.
static bool are_at_most(const void *data, size_t count, uint32_t mask, uint32_t limit)
{
    const char *p = data;
    words all = {0};
    size_t i = 0;
    for (; i + WORDS <= count; i += WORDS, p += sizeof(words)) {
        words w;
        memcpy(&w, p, sizeof w);
        w &= mask;
        all |= w | (limit - w);
    }
    uint32_t sum = 0;
    for (size_t k = 0; k < WORDS; k++) {
        sum |= all[k];
    }
    for (; i < count; i++, p += sizeof(uint32_t)) {
        uint32_t w;
        memcpy(&w, p, sizeof w);
        w &= mask;
        sum |= w | (limit - w);
    }
    return sum >> 31 == 0;
}

static bool are_below(const uint32_t *values, size_t count, uint32_t limit)
{
    return count == 0 || (limit > 0 && are_at_most(values, count, UINT32_MAX, limit - 1));
}

/// All but the sign of a float that is finite is below that of infinity.
static bool are_finite(const float *values, size_t count)
{
    return are_at_most(values, count, 0x7FFFFFFF, 0x7F7FFFFF);
}

static bool are_finite_doubles(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i] * 0; // what is not finite gives NaN, which stays
    }
    return sum == 0;
}

static const char *check_scalars(const nav_mesh *m)
{
    const double numbers[] = {m->origin.x,     m->origin.y,     m->origin.z,    m->rounding,
                              m->agent.radius, m->agent.height, m->agent.climb, m->agent.slope};
    const float more[] = {m->min[0], m->min[1], m->min[2],    m->max[0],       m->max[1],       m->max[2],
                          m->grid_x, m->grid_z, m->grid_step, m->grid_inverse, m->bound_inverse};
    if (!are_finite_doubles(numbers, sizeof numbers / sizeof *numbers) ||
        !are_finite(more, sizeof more / sizeof *more)) {
        return "its bounds, agent or grid are no numbers";
    }
    if (m->face_count == 0 || m->cell_count == 0 || m->edge_count == 0 || m->vertex_count == 0 ||
        m->island_count == 0 || m->grid_nx == 0 || m->grid_nz == 0 || m->edge_count > NAV__VERTEX ||
        m->vertex_count > NAV__VERTEX || m->point_count > NAV__VERTEX || m->vertex_points > m->point_count ||
        m->face_count > m->cell_face_count || m->tri_count > NAV__VERTEX || m->grid_step <= 0 || m->grid_inverse <= 0 ||
        m->bound_inverse <= 0 || m->agent.radius < 0 || m->agent.height < 0 || m->agent.climb < 0 ||
        !(m->rounding >= 0)) {
        return "its counts, agent or grid cannot be";
    }
    if (!m->face_tris != (m->tri_count == 0) || !m->tris != (m->tri_count == 0) || !m->links != (m->link_count == 0) ||
        (!m->rides && m->ride_count > 0)) {
        return "a part is missing";
    }
    return NULL;
}

static const char *check_starts(const nav_mesh *m)
{
    const nav__cell *cells = m->cells, *end = &cells[m->cell_count];
    if (cells->first_edge != 0 || end->first_edge != m->edge_count || cells->first_face != 0 ||
        end->first_face != m->cell_face_count) {
        return "its cells begin or end elsewhere";
    }
    bool bad = false;
    for (const nav__cell *c = cells; c < end; c++) {
        // Beyond the limit a start could seem to rise though the sum ran over.
        bad |= c->first_edge > m->edge_count || c[1].first_edge < c->first_edge + 3 || c[1].first_face <= c->first_face;
        bad |= c->island >= m->island_count;
    }
    if (bad) {
        return "its cells are out of order";
    }
    const nav__face *faces = m->faces;
    if (faces[0].first_corner != 0 || faces[m->face_count].first_corner != m->corner_count) {
        return "its faces begin or end elsewhere";
    }
    for (uint32_t f = 0; f < m->face_count; f++) {
        bad |= faces[f].first_corner > m->corner_count || faces[f + 1].first_corner < faces[f].first_corner + 3;
        bad |= faces[f].cell >= m->cell_count;
    }
    if (m->face_polygon) {
        for (uint32_t f = 0; f < m->face_count; f++) {
            bad |= m->face_polygon[f] >= m->polygon_count || (f > 0 && m->face_polygon[f] < m->face_polygon[f - 1]);
        }
    } else {
        bad |= m->face_count > m->polygon_count;
    }
    if (m->face_tris) {
        bad |= m->face_tris[0] != 0 || m->face_tris[m->face_count] != m->tri_count;
        for (uint32_t f = 0; f < m->face_count; f++) {
            bad |= m->face_tris[f + 1] < m->face_tris[f];
        }
    }
    return bad ? "its faces are out of order" : NULL;
}

static const char *check_numbers(const nav_mesh *m)
{
    if (!are_below(m->face_corners, m->corner_count, m->point_count) ||
        !are_below(m->tris, 3 * (size_t)m->tri_count, m->point_count)) {
        return "a face names a point that is not there";
    }
    if (!are_below(m->cell_faces, m->cell_face_count, m->face_count)) {
        return "a cell names a face that is not there";
    }
    if (!are_below(m->vertex_edge, m->vertex_count, m->edge_count)) {
        return "a vertex names an edge that is not there";
    }
    if (!are_below(m->grid_faces, m->grid_face_count, m->face_count)) {
        return "the grid names a face that is not there";
    }
    size_t grid_cells = (size_t)m->grid_nx * m->grid_nz;
    bool bad = false;
    for (size_t i = 0; i < grid_cells; i++) {
        bad |= m->grid_cells[i].first > m->grid_cells[i].end || m->grid_cells[i].end > m->grid_face_count;
    }
    if (bad) {
        return "the grid's lists are out of order";
    }
    if (!are_finite(m->points, 3 * (size_t)m->point_count) ||
        (m->vertex_y && !are_finite(m->vertex_y, m->vertex_count)) ||
        !are_finite_doubles(m->island_area, m->island_count)) {
        return "a coordinate is no number";
    }
    return NULL;
}

/// A cell's ring: each corner turns left or goes straight on, and the ring goes round once: only once does it
/// turn from falling to rising.
static bool is_ring_convex(const nav__edge *e, uint32_t n)
{
    double bx = (double)e[n - 1].x, bz = (double)e[n - 1].z;
    double ux = bx - (double)e[n - 2].x, uz = bz - (double)e[n - 2].z;
    unsigned bad = 0, rounds = 0, falls = uz < 0;
    float not_finite = 0;
    for (uint32_t i = 0; i < n; i++) {
        double x = (double)e[i].x, z = (double)e[i].z, vx = x - bx, vz = z - bz;
        double left = ux * vz - uz * vx, on = ux * vx + uz * vz;
        double sense = left + (left == 0 ? on : 0); // without a jump
        unsigned fell = falls;
        falls = vz < 0;
        bad |= !(sense > 0);
        rounds += fell & ~falls;
        not_finite += (e[i].x + e[i].z) * 0.0f;
        bx = x;
        bz = z;
        ux = vx;
        uz = vz;
    }
    return !bad && rounds == 1 && not_finite == 0;
}

/// Edges ahead at which the other side of a half-edge is asked for, as it may lie anywhere.
#define AHEAD 32u

/// Half-edge e of a cell, whose next one is `next`: does what it names fit it? That the other side ends where this
/// one starts is the other side's own check.
static inline bool fits(const nav_mesh *m, uint32_t cell, uint32_t e, uint32_t next)
{
    const nav__edge *edge = &m->edges[e], *to = &m->edges[next];
    bool fine = (edge->vertex & NAV__VERTEX) < m->vertex_count && nav__edge_cell(m, e) == cell;
    if (edge->twin == NAV_NONE || !fine) {
        return fine;
    }
    if (edge->twin >= m->edge_count) {
        return false;
    }
    const nav__edge *back = &m->edges[edge->twin];
    unsigned wrong = (back->twin ^ e) | ((back->vertex ^ to->vertex) & NAV__VERTEX);
    return !wrong & (back->x == to->x) & (back->z == to->z);
}

static const char *check_edges(const nav_mesh *m)
{
    const nav__edge *edges = m->edges;
    uint32_t count = m->edge_count, inner = 0;
    for (uint32_t c = 0; c < m->cell_count; c++) {
        uint32_t first = m->cells[c].first_edge, end = m->cells[c + 1].first_edge;
        if (!is_ring_convex(&edges[first], end - first)) {
            return "a cell is not convex";
        }
        bool good = true;
        for (uint32_t e = first; e < end; e++) {
            uint32_t far = edges[e + AHEAD < count ? e + AHEAD : e].twin;
            __builtin_prefetch(&edges[far < count ? far : e]);
            good &= fits(m, c, e, e + 1 == end ? first : e + 1);
            inner += edges[e].twin - first < end - first;
        }
        if (!good) {
            return "an edge does not fit its cell, its vertex or the edge on its other side";
        }
    }
    if (inner > 0) {
        return "an edge is on the other side of one of its own cell";
    }
    unsigned wrong = 0;
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        __builtin_prefetch(&edges[m->vertex_edge[v + AHEAD < m->vertex_count ? v + AHEAD : v]]);
        wrong |= (edges[m->vertex_edge[v]].vertex ^ v) & NAV__VERTEX;
    }
    return wrong ? "a vertex names another one's edge" : NULL;
}

static bool is_text(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

/// A bool that came from elsewhere must be looked at as a byte.
static bool is_bool(const bool *value)
{
    unsigned char byte;
    memcpy(&byte, value, 1);
    return byte <= 1;
}

/// Does the position lie in the cell, on the ground, as far as its rounding allows?
static bool is_in_cell(const nav_mesh *m, uint32_t cell, const float p[3])
{
    double slack = 4 * m->rounding + 1e-5 * fmax(fabs((double)m->max[0]), fabs((double)m->max[2]));
    for (uint32_t e = m->cells[cell].first_edge; e < m->cells[cell + 1].first_edge; e++) {
        const nav__edge *a = &m->edges[e], *b = &m->edges[nav__edge_next(m, e)];
        nav__p2 along = {(double)b->x - (double)a->x, (double)b->z - (double)a->z};
        nav__p2 to = {(double)p[0] - (double)a->x, (double)p[2] - (double)a->z};
        if (nav__cross(along, to) < -slack * nav__dist((nav__p2){0, 0}, along)) {
            return false;
        }
    }
    return true;
}

static const char *check_links(const nav_mesh *m)
{
    for (uint32_t i = 0; i < m->link_count; i++) {
        const nav_link *l = &m->links[i];
        const double numbers[] = {l->start.x, l->start.y, l->start.z, l->end.x, l->end.y, l->end.z, l->radius, l->cost};
        if (!is_text(l->id, sizeof l->id) || !is_text(l->kind, sizeof l->kind) || !is_bool(&l->bidirectional) ||
            !are_finite_doubles(numbers, sizeof numbers / sizeof *numbers) || l->radius < 0) {
            return "a link cannot be";
        }
    }
    for (uint32_t i = 0; i < m->ride_count; i++) {
        const nav__ride *r = &m->rides[i];
        if (r->link >= m->link_count || r->from_cell >= m->cell_count || r->to_cell >= m->cell_count ||
            !is_bool(&r->backwards) || !are_finite(r->from, 3) || !are_finite(r->to, 3) ||
            (i > 0 && r->from_cell < r[-1].from_cell) || !is_in_cell(m, r->from_cell, r->from) ||
            !is_in_cell(m, r->to_cell, r->to)) {
            return "a ride on a link cannot be";
        }
    }
    return NULL;
}

const char *nav__cooked_check(const nav_mesh *m)
{
    const char *(*const checks[])(const nav_mesh *) = {check_scalars, check_starts, check_numbers, check_edges,
                                                       check_links};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const char *wrong = checks[i](m);
        if (wrong) {
            return wrong;
        }
    }
    return NULL;
}
