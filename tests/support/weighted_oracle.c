#include "weighted_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct node {
    double x, y, z;
    double cost;
    bool settled;
} node;

typedef struct heap_entry {
    double cost;
    uint32_t node;
} heap_entry;

struct weighted_oracle {
    const poly_mesh *mesh;
    double *costs;
    uint32_t pieces;
    node *nodes;
    uint32_t node_count;
    uint32_t *sector;     ///< [corner_count] node of a polygon's corner: one for each free sector of a vertex
    uint32_t *edge_first; ///< [corner_count] first node within an edge, NAV_NONE at walls
    uint32_t *list_first; ///< [poly_count + 1] in lists: nodes on a polygon's border
    uint32_t *lists;
    weighted_ride *rides;
    uint32_t ride_count; ///< ride r lands on node `ride_first + r`
    uint32_t ride_first;
    uint32_t *node_first, *node_polygons; ///< polygons that a node borders on
    heap_entry *heap;
    uint32_t heap_count, heap_cap;
    oracle_point from;
};

static bool is_open(const weighted_oracle *o, uint32_t polygon)
{
    return o->costs[polygon] < INFINITY;
}

static double apart(const node *n, double x, double y, double z)
{
    return sqrt((n->x - x) * (n->x - x) + (n->y - y) * (n->y - y) + (n->z - z) * (n->z - z));
}

// --- making ---

static uint32_t find(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/// The corner of a polygon that stands at a vertex.
static uint32_t corner_at(const poly_mesh *m, uint32_t polygon, uint32_t vertex)
{
    for (uint32_t k = m->first[polygon]; k < m->first[polygon + 1]; k++) {
        if (m->corners[k] == vertex) {
            return k;
        }
    }
    abort();
}

static uint32_t add_node(weighted_oracle *o, double x, double y, double z)
{
    o->nodes = poly_mesh_resize(o->nodes, (size_t)o->node_count + 1, sizeof *o->nodes);
    o->nodes[o->node_count] = (node){.x = x, .y = y, .z = z};
    return o->node_count++;
}

/// Corners of open polygons that shared edges join are one node.
static void make_sectors(weighted_oracle *o)
{
    const poly_mesh *m = o->mesh;
    uint32_t *parent = poly_mesh_resize(NULL, m->corner_count, sizeof *parent);
    for (uint32_t k = 0; k < m->corner_count; k++) {
        parent[k] = k;
    }
    for (uint32_t p = 0; p < m->poly_count; p++) {
        for (uint32_t k = m->first[p]; k < m->first[p + 1]; k++) {
            uint32_t q = m->neighbours[k];
            if (q == NAV_NONE || !is_open(o, p) || !is_open(o, q)) {
                continue;
            }
            uint32_t next = k + 1 == m->first[p + 1] ? m->first[p] : k + 1;
            parent[find(parent, corner_at(m, q, m->corners[k]))] = find(parent, k);
            parent[find(parent, corner_at(m, q, m->corners[next]))] = find(parent, next);
        }
    }
    o->sector = poly_mesh_resize(NULL, m->corner_count, sizeof *o->sector);
    for (uint32_t k = 0; k < m->corner_count; k++) {
        if (parent[k] == k) {
            const double *v = &m->vertices[3 * (size_t)m->corners[k]];
            o->sector[k] = add_node(o, v[0], v[1], v[2]);
        }
    }
    for (uint32_t k = 0; k < m->corner_count; k++) {
        o->sector[k] = o->sector[find(parent, k)];
    }
    free(parent);
}

static void cut_edges(weighted_oracle *o)
{
    const poly_mesh *m = o->mesh;
    o->edge_first = poly_mesh_resize(NULL, m->corner_count, sizeof *o->edge_first);
    for (uint32_t p = 0; p < m->poly_count; p++) {
        for (uint32_t k = m->first[p]; k < m->first[p + 1]; k++) {
            uint32_t q = m->neighbours[k], i = k - m->first[p];
            o->edge_first[k] = NAV_NONE;
            if (q == NAV_NONE || !is_open(o, p) || !is_open(o, q)) {
                continue;
            }
            if (q < p) {
                // The other side runs from this edge's end to its begin.
                uint32_t end = m->corners[k + 1 == m->first[p + 1] ? m->first[p] : k + 1];
                o->edge_first[k] = o->edge_first[corner_at(m, q, end)];
                continue;
            }
            const double *a = poly_mesh_corner(m, p, i), *b = poly_mesh_corner(m, p, i + 1);
            o->edge_first[k] = o->node_count;
            for (uint32_t c = 1; c < o->pieces; c++) {
                double t = (double)c / o->pieces;
                add_node(o, a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2]));
            }
        }
    }
}

static void list_nodes(weighted_oracle *o)
{
    const poly_mesh *m = o->mesh;
    o->list_first = poly_mesh_resize(NULL, (size_t)m->poly_count + 1, sizeof *o->list_first);
    o->lists = poly_mesh_resize(NULL, (size_t)m->corner_count * o->pieces, sizeof *o->lists);
    o->node_first = poly_mesh_resize(NULL, (size_t)o->node_count + 1, sizeof *o->node_first);
    o->node_polygons = poly_mesh_resize(NULL, (size_t)m->corner_count * o->pieces, sizeof *o->node_polygons);
    memset(o->node_first, 0, ((size_t)o->node_count + 1) * sizeof *o->node_first);
    uint32_t n = 0;
    for (uint32_t p = 0; p < m->poly_count; p++) {
        o->list_first[p] = n;
        for (uint32_t k = m->first[p]; k < m->first[p + 1] && is_open(o, p); k++) {
            o->lists[n++] = o->sector[k];
            for (uint32_t c = 0; o->edge_first[k] != NAV_NONE && c + 1 < o->pieces; c++) {
                o->lists[n++] = o->edge_first[k] + c;
            }
        }
    }
    o->list_first[m->poly_count] = n;
    for (uint32_t i = 0; i < n; i++) {
        o->node_first[o->lists[i] + 1]++;
    }
    for (uint32_t i = 0; i < o->node_count; i++) {
        o->node_first[i + 1] += o->node_first[i];
    }
    uint32_t *fill = poly_mesh_resize(NULL, (size_t)o->node_count + 1, sizeof *fill);
    memcpy(fill, o->node_first, ((size_t)o->node_count + 1) * sizeof *fill);
    for (uint32_t p = 0; p < m->poly_count; p++) {
        for (uint32_t i = o->list_first[p]; i < o->list_first[p + 1]; i++) {
            o->node_polygons[fill[o->lists[i]]++] = p;
        }
    }
    free(fill);
}

weighted_oracle *weighted_oracle_create(const poly_mesh *mesh, const double *costs, uint32_t pieces,
                                        const weighted_ride *rides, uint32_t ride_count)
{
    weighted_oracle *o = poly_mesh_resize(NULL, 1, sizeof *o);
    memset(o, 0, sizeof *o);
    o->mesh = mesh;
    o->pieces = pieces;
    o->costs = poly_mesh_resize(NULL, (size_t)mesh->poly_count + 1, sizeof *costs);
    memcpy(o->costs, costs, mesh->poly_count * sizeof *costs);
    make_sectors(o);
    cut_edges(o);
    list_nodes(o);
    o->ride_first = o->node_count;
    o->rides = poly_mesh_resize(NULL, (size_t)ride_count + 1, sizeof *rides);
    for (uint32_t i = 0; i < ride_count; i++) {
        if (is_open(o, rides[i].from.polygon) && is_open(o, rides[i].to.polygon)) {
            oracle_point to = rides[i].to;
            add_node(o, to.x, poly_mesh_height(mesh, to.polygon, to.x, to.z), to.z);
            o->rides[o->ride_count++] = rides[i];
        }
    }
    return o;
}

void weighted_oracle_destroy(weighted_oracle *o)
{
    if (o) {
        free(o->costs);
        free(o->nodes);
        free(o->sector);
        free(o->edge_first);
        free(o->list_first);
        free(o->lists);
        free(o->rides);
        free(o->node_first);
        free(o->node_polygons);
        free(o->heap);
        free(o);
    }
}

// --- asking ---

static void push(weighted_oracle *o, double cost, uint32_t n)
{
    if (o->heap_count == o->heap_cap) {
        o->heap_cap = o->heap_cap ? 2 * o->heap_cap : 1024;
        o->heap = poly_mesh_resize(o->heap, o->heap_cap, sizeof *o->heap);
    }
    uint32_t i = o->heap_count++;
    for (; i > 0 && o->heap[(i - 1) / 2].cost > cost; i = (i - 1) / 2) {
        o->heap[i] = o->heap[(i - 1) / 2];
    }
    o->heap[i] = (heap_entry){cost, n};
}

static heap_entry pop(weighted_oracle *o)
{
    heap_entry top = o->heap[0], last = o->heap[--o->heap_count];
    uint32_t i = 0;
    for (;;) {
        uint32_t k = 2 * i + 1;
        if (k + 1 < o->heap_count && o->heap[k + 1].cost < o->heap[k].cost) {
            k++;
        }
        if (k >= o->heap_count || o->heap[k].cost >= last.cost) {
            break;
        }
        o->heap[i] = o->heap[k];
        i = k;
    }
    if (o->heap_count) {
        o->heap[i] = last;
    }
    return top;
}

static void offer(weighted_oracle *o, uint32_t n, double cost)
{
    if (cost < o->nodes[n].cost) {
        o->nodes[n].cost = cost;
        push(o, cost, n);
    }
}

/// Walks from a place on a polygon to all that borders on it.
static void cross(weighted_oracle *o, uint32_t polygon, double cost, double x, double y, double z)
{
    for (uint32_t i = o->list_first[polygon]; i < o->list_first[polygon + 1]; i++) {
        uint32_t n = o->lists[i];
        if (!o->nodes[n].settled) {
            offer(o, n, cost + o->costs[polygon] * apart(&o->nodes[n], x, y, z));
        }
    }
    for (uint32_t r = 0; r < o->ride_count; r++) {
        const weighted_ride *ride = &o->rides[r];
        if (ride->from.polygon == polygon) {
            node at = {.x = ride->from.x, .z = ride->from.z};
            at.y = poly_mesh_height(o->mesh, polygon, at.x, at.z);
            offer(o, o->ride_first + r, cost + o->costs[polygon] * apart(&at, x, y, z) + ride->cost);
        }
    }
}

/// Polygons of a point: those that hold it at its height.
static uint32_t polygons_of(const weighted_oracle *o, oracle_point p, double y, uint32_t *polygons, uint32_t cap)
{
    uint32_t n = 0;
    for (uint32_t q = 0; q < o->mesh->poly_count && n < cap; q++) {
        if (is_open(o, q) && (q == p.polygon || (poly_mesh_holds(o->mesh, q, p.x, p.z, 1e-9) &&
                                                 fabs(poly_mesh_height(o->mesh, q, p.x, p.z) - y) < 0.01))) {
            polygons[n++] = q;
        }
    }
    return n;
}

void weighted_oracle_from(weighted_oracle *o, oracle_point from)
{
    for (uint32_t i = 0; i < o->node_count; i++) {
        o->nodes[i].cost = INFINITY;
        o->nodes[i].settled = false;
    }
    o->heap_count = 0;
    o->from = from;
    double y = poly_mesh_height(o->mesh, from.polygon, from.x, from.z);
    uint32_t polygons[64], count = polygons_of(o, from, y, polygons, 64);
    for (uint32_t i = 0; i < count; i++) {
        cross(o, polygons[i], 0, from.x, y, from.z);
    }
    while (o->heap_count) {
        heap_entry top = pop(o);
        node *n = &o->nodes[top.node];
        if (n->settled) {
            continue;
        }
        n->settled = true;
        if (top.node >= o->ride_first) {
            cross(o, o->rides[top.node - o->ride_first].to.polygon, top.cost, n->x, n->y, n->z);
            continue;
        }
        for (uint32_t i = o->node_first[top.node]; i < o->node_first[top.node + 1]; i++) {
            cross(o, o->node_polygons[i], top.cost, n->x, n->y, n->z);
        }
    }
}

double weighted_oracle_cost(const weighted_oracle *o, oracle_point to)
{
    double y = poly_mesh_height(o->mesh, to.polygon, to.x, to.z), best = INFINITY;
    double from_y = poly_mesh_height(o->mesh, o->from.polygon, o->from.x, o->from.z);
    uint32_t polygons[64], starts[64];
    uint32_t count = polygons_of(o, to, y, polygons, 64), start_count = polygons_of(o, o->from, from_y, starts, 64);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t p = polygons[i];
        for (uint32_t k = o->list_first[p]; k < o->list_first[p + 1]; k++) {
            const node *n = &o->nodes[o->lists[k]];
            best = fmin(best, n->cost + o->costs[p] * apart(n, to.x, y, to.z));
        }
        for (uint32_t r = 0; r < o->ride_count; r++) {
            const node *n = &o->nodes[o->ride_first + r];
            if (o->rides[r].to.polygon == p) {
                best = fmin(best, n->cost + o->costs[p] * apart(n, to.x, y, to.z));
            }
        }
        for (uint32_t k = 0; k < start_count; k++) {
            if (starts[k] == p) {
                node n = {.x = o->from.x, .y = from_y, .z = o->from.z};
                best = fmin(best, o->costs[p] * apart(&n, to.x, y, to.z));
            }
        }
    }
    return best;
}

// --- judging a leg ---

/// The part of the segment that lies in a polygon grown by `slack`.
static bool clip(const poly_mesh *m, uint32_t polygon, const double *a, const double *b, double slack, double *low,
                 double *high)
{
    *low = 0;
    *high = 1;
    for (uint32_t k = 0; k < poly_mesh_size(m, polygon); k++) {
        const double *u = poly_mesh_corner(m, polygon, k), *v = poly_mesh_corner(m, polygon, k + 1);
        double grown = slack * hypot(v[0] - u[0], v[2] - u[2]);
        double side_a = poly_mesh_turn(u, v, a) + grown, side_b = poly_mesh_turn(u, v, b) + grown;
        if (side_a < 0 && side_b < 0) {
            return false;
        }
        double t = side_a / (side_a - side_b);
        if (side_a < 0) {
            *low = fmax(*low, t);
        } else if (side_b < 0) {
            *high = fmin(*high, t);
        }
    }
    return *low <= *high;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double weighted_oracle_leg(const weighted_oracle *o, double ax, double az, double bx, double bz, double slack)
{
    const poly_mesh *m = o->mesh;
    double a[3] = {ax, 0, az}, b[3] = {bx, 0, bz}, length = hypot(bx - ax, bz - az);
    double *low = poly_mesh_resize(NULL, m->poly_count, sizeof *low);
    double *high = poly_mesh_resize(NULL, m->poly_count, sizeof *high);
    double *marks = poly_mesh_resize(NULL, 2 * (size_t)m->poly_count + 2, sizeof *marks);
    uint32_t count = 0;
    marks[count++] = 0;
    marks[count++] = 1;
    for (uint32_t p = 0; p < m->poly_count; p++) {
        if (!is_open(o, p) || !clip(m, p, a, b, slack, &low[p], &high[p])) {
            low[p] = 2;
            high[p] = -1;
            continue;
        }
        marks[count++] = low[p];
        marks[count++] = high[p];
    }
    qsort(marks, count, sizeof *marks, by_value);
    double cost = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (marks[i] <= marks[i - 1]) {
            continue;
        }
        double middle = (marks[i] + marks[i - 1]) / 2, least = INFINITY;
        for (uint32_t p = 0; p < m->poly_count; p++) {
            least = low[p] <= middle && middle <= high[p] ? fmin(least, o->costs[p]) : least;
        }
        cost += (marks[i] - marks[i - 1]) * length * least;
    }
    free(low);
    free(high);
    free(marks);
    return cost;
}
