#include "sites.h"

#include <string.h>

/// Sites within one edge, between cells of one cost and of two.
enum { MOST_ALIKE = 7, MOST_DIFFERING = 15 };

enum { MOST_RIDE_FEET = 8 };

/// How near an end of the path gets a site of its own on an edge, in distances between sites.
static const double FOOT_REACH = 2;

// ---- storage ---------------------------------------------------------------------------------------

/// Makes room for one more entry.
static bool grow(nav__sites *s, nav__buffer *buffer, void *array, uint32_t *cap, size_t entry)
{
    size_t want = *cap ? (size_t)*cap * 2 : 512;
    void *data = want < NAV__SITE_CLOSED ? nav__reserve(s->query, buffer, want * entry) : NULL;
    if (!data) {
        s->out_of_memory = true;
        return false;
    }
    memcpy(array, &data, sizeof data);
    *cap = (uint32_t)(buffer->bytes / entry < NAV__SITE_CLOSED ? buffer->bytes / entry : NAV__SITE_CLOSED - 1);
    return true;
}

uint32_t nav__sites_add(nav__sites *s, nav__site_kind kind, uint32_t place, nav_vec at)
{
    if (s->count == s->cap && !grow(s, &s->query->sites, &s->all, &s->cap, sizeof *s->all)) {
        return NAV_NONE;
    }
    s->all[s->count] = (nav__site){.at = at,
                                   .g = INFINITY,
                                   .h = nav__ride_bound_at(&s->bound, at),
                                   .parent = NAV_NONE,
                                   .cell = NAV_NONE,
                                   .root = NAV_NONE,
                                   .left = NAV_NONE,
                                   .right = NAV_NONE,
                                   .place = place,
                                   .heap = NAV_NONE,
                                   .kind = kind,
                                   .sector = NAV_NONE,
                                   .seen_root = NAV_NONE};
    return s->count++;
}

static void list_site(nav__sites *s, uint32_t site)
{
    if (s->list_count == s->list_cap && !grow(s, &s->query->site_lists, &s->lists, &s->list_cap, sizeof *s->lists)) {
        return;
    }
    s->lists[s->list_count++] = site;
}

/// One slot for each cell, edge and vertex of the mesh, all of them clear.
static bool prepare_slots(nav__sites *s)
{
    const nav_mesh *m = s->mesh;
    nav_query *q = s->query;
    size_t had = q->site_slots.bytes;
    size_t count = (size_t)m->cell_count + m->edge_count + m->vertex_count;
    nav__site_slot *slots = nav__reserve(q, &q->site_slots, (count + 1) * sizeof *slots);
    if (!slots) {
        return false;
    }
    if (q->site_slots.bytes != had) {
        memset((char *)slots + had, 0, q->site_slots.bytes - had);
    }
    if (++q->site_stamp == 0) {
        memset(slots, 0, q->site_slots.bytes);
        q->site_stamp = 1;
    }
    s->stamp = q->site_stamp;
    s->cells = slots;
    s->edges = slots + m->cell_count;
    s->vertices = s->edges + m->edge_count;
    return true;
}

static double least_area_cost(const nav_mesh *m, const nav_filter *filter)
{
    if (!filter->area_costs) {
        return 1;
    }
    double least = INFINITY;
    for (uint32_t word = 0; word < 4; word++) {
        for (uint64_t bits = m->areas_used[word]; bits; bits &= bits - 1) {
            double cost = filter->area_costs[64 * word + (uint32_t)__builtin_ctzll(bits)];
            least = cost < least ? cost : least;
        }
    }
    return least;
}

bool nav__sites_init(nav__sites *s, nav_query *query, const nav_mesh *mesh, const nav_filter *filter,
                     const nav__anchor *start, const nav__anchor *goal)
{
    *s = (nav__sites){.query = query,
                      .mesh = mesh,
                      .filter = filter,
                      .start = start,
                      .goal = goal,
                      .least_cost = least_area_cost(mesh, filter),
                      .all_pass = nav__passes_all(mesh, filter),
                      .all = query->sites.data,
                      .cap = (uint32_t)(query->sites.bytes / sizeof *s->all),
                      .lists = query->site_lists.data,
                      .list_cap = (uint32_t)(query->site_lists.bytes / sizeof *s->lists)};
    nav_vec at = {goal->p.x, nav__cell_height(mesh, goal->cells[0], goal->p, NULL), goal->p.z};
    nav__ride_bound_init(&s->bound, mesh, filter, at, s->least_cost);
    s->goal_site = nav__sites_add(s, NAV__SITE_GOAL, NAV_NONE, at);
    return s->goal_site != NAV_NONE && prepare_slots(s);
}

// ---- where sites are set ---------------------------------------------------------------------------

static nav_vec vertex_at(const nav_mesh *m, uint32_t v)
{
    nav__p2 at = nav__vertex_ground(m, v);
    return (nav_vec){at.x, (double)nav__vertex_y(m, v), at.z};
}

uint32_t nav__sector_next(const nav__sites *s, uint32_t edge)
{
    uint32_t e = s->mesh->edges[nav__edge_prev(s->mesh, edge)].twin;
    return e != NAV_NONE && nav__sites_pass(s, nav__edge_cell(s->mesh, e)) ? e : NAV_NONE;
}

/// Where the sector of open cells that a half-edge lies in begins: its most clockwise half-edge at the
/// vertex, or the vertex's own when all is open.
static uint32_t sector_begin(const nav__sites *s, uint32_t edge)
{
    const nav_mesh *m = s->mesh;
    uint32_t own = m->vertex_edge[m->edges[edge].vertex & NAV__VERTEX], e = edge;
    while (!s->all_pass) {
        uint32_t twin = m->edges[e].twin;
        if (twin == NAV_NONE || !nav__sites_pass(s, nav__edge_cell(m, twin))) {
            return e;
        }
        e = nav__edge_next(m, twin);
        if (e == edge) {
            break;
        }
    }
    return own;
}

uint32_t nav__sites_round(const nav__sites *s, const nav__site *site, uint32_t *cells, uint32_t cap)
{
    uint32_t e = site->sector, count = 0;
    do {
        cells[count++] = nav__edge_cell(s->mesh, e);
        e = nav__sector_next(s, e);
    } while (e != NAV_NONE && e != site->sector && count < cap);
    return count;
}

/// Vertices where no path turns get a site too: a path along a wall runs through them, and no other site of
/// the edges there lies on it.
static void add_vertex(nav__sites *s, uint32_t edge)
{
    const nav_mesh *m = s->mesh;
    uint32_t v = m->edges[edge].vertex & NAV__VERTEX, sector = sector_begin(s, edge);
    // A sector that begins at a closed cell has no slot but that of its first edge, which carries no sites.
    nav__site_slot *slot = sector == m->vertex_edge[v] ? &s->vertices[v] : &s->edges[sector];
    if (slot->stamp != s->stamp) {
        uint32_t site = nav__sites_add(s, NAV__SITE_VERTEX, v, vertex_at(m, v));
        if (site == NAV_NONE) {
            return;
        }
        s->all[site].sector = sector;
        *slot = (nav__site_slot){s->stamp, site, 1};
    }
    list_site(s, slot->first);
}

/// Twice the area.
static double cell_area2(const nav_mesh *m, uint32_t cell)
{
    uint32_t first = m->cells[cell].first_edge, end = m->cells[cell + 1].first_edge;
    nav__p2 a = nav__edge_from(m, first), b = nav__sub(nav__edge_from(m, first + 1), a);
    double sum = 0;
    for (uint32_t e = first + 2; e < end; e++) {
        nav__p2 c = nav__sub(nav__edge_from(m, e), a);
        sum += nav__cross(b, c);
        b = c;
    }
    return sum;
}

/// How many sites an edge gets: a path errs by going through the nearest site instead of the best place,
/// and that costs the more, the longer the edge is beside the width of the cells it parts. Between cells
/// of one cost paths run straight on whatever the sites (nav__site.root), so few are enough.
static uint32_t site_count(const nav__sites *s, uint32_t cell, uint32_t other, nav__p2 a, nav__p2 b)
{
    const nav_mesh *m = s->mesh;
    bool alike = nav__cell_cost(m, s->filter, cell) == nav__cell_cost(m, s->filter, other);
    double area = cell_area2(m, cell), area2 = cell_area2(m, other);
    area = area2 < area ? area2 : area;
    nav__p2 d = nav__sub(b, a);
    double slim = nav__dot(d, d) / area;
    double n = alike ? 2 + slim : 2 + 2 * slim, most = alike ? MOST_ALIKE : MOST_DIFFERING;
    return (uint32_t)(n < most ? n : most);
}

/// Adds a site on an edge.
static bool add_on_edge(nav__sites *s, uint32_t place, nav_vec a, nav_vec b, double t)
{
    nav_vec at = {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z)};
    return nav__sites_add(s, NAV__SITE_EDGE, place, at) != NAV_NONE;
}

/// Adds a site where the perpendicular from an end of the path meets the edge, when that end is nearer than
/// the sites are apart: out of a dear cell that is about the cheapest way.
static bool add_foot(nav__sites *s, uint32_t place, nav_vec a, nav_vec b, uint32_t count, nav__p2 from)
{
    double x = b.x - a.x, z = b.z - a.z, square = x * x + z * z, parts = count + 1.0;
    double t = ((from.x - a.x) * x + (from.z - a.z) * z) / square;
    double off_x = a.x + t * x - from.x, off_z = a.z + t * z - from.z;
    bool near = (off_x * off_x + off_z * off_z) * parts * parts < FOOT_REACH * FOOT_REACH * square;
    return !near || !(t > 0 && t < 1) || add_on_edge(s, place, a, b, t);
}

/// The same for the begins of a cell's rides.
static bool add_ride_feet(nav__sites *s, uint32_t cell, uint32_t place, nav_vec a, nav_vec b, uint32_t count)
{
    const nav__ride *rides;
    uint32_t ride_count = s->mesh->cells[cell].link_end ? nav__rides_from(s->mesh, cell, &rides) : 0;
    bool added = true;
    for (uint32_t i = 0; i < ride_count && i < MOST_RIDE_FEET && added; i++) {
        added = add_foot(s, place, a, b, count, (nav__p2){(double)rides[i].from[0], (double)rides[i].from[2]});
    }
    return added;
}

static void add_edge(nav__sites *s, uint32_t cell, uint32_t edge)
{
    const nav_mesh *m = s->mesh;
    uint32_t twin = m->edges[edge].twin;
    if (twin == NAV_NONE || !nav__sites_pass(s, nav__edge_cell(m, twin))) {
        return;
    }
    uint32_t place = edge < twin ? edge : twin;
    nav__site_slot *slot = &s->edges[place];
    if (slot->stamp != s->stamp) {
        nav_vec a = vertex_at(m, m->edges[place].vertex & NAV__VERTEX);
        nav_vec b = vertex_at(m, m->edges[nav__edge_next(m, place)].vertex & NAV__VERTEX);
        uint32_t n = site_count(s, cell, nav__edge_cell(m, twin), (nav__p2){a.x, a.z}, (nav__p2){b.x, b.z});
        *slot = (nav__site_slot){.stamp = s->stamp, .first = s->count};
        bool added = true;
        for (uint32_t i = 1; i <= n && added; i++) {
            added = add_on_edge(s, place, a, b, i / (n + 1.0));
        }
        added = added && add_foot(s, place, a, b, n, s->start->p) && add_foot(s, place, a, b, n, s->goal->p) &&
                add_ride_feet(s, cell, place, a, b, n) && add_ride_feet(s, nav__edge_cell(m, twin), place, a, b, n);
        if (!added) {
            return;
        }
        slot->count = s->count - slot->first;
    }
    for (uint32_t i = 0; i < slot->count; i++) {
        list_site(s, slot->first + i);
    }
}

static void add_rides(nav__sites *s, uint32_t cell)
{
    const nav_mesh *m = s->mesh;
    const nav__ride *rides;
    uint32_t count = m->cells[cell].link_end ? nav__rides_from(m, cell, &rides) : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (nav__ride_open(m, &rides[i], s->filter)) {
            const float *p = rides[i].from;
            nav_vec at = {(double)p[0], (double)p[1], (double)p[2]};
            uint32_t site = nav__sites_add(s, NAV__SITE_BOARD, (uint32_t)(&rides[i] - m->rides), at);
            if (site != NAV_NONE) {
                list_site(s, site);
            }
        }
    }
}

uint32_t nav__sites_of_cell(nav__sites *s, uint32_t cell, uint32_t *count)
{
    const nav_mesh *m = s->mesh;
    nav__site_slot *slot = &s->cells[cell];
    if (slot->stamp != s->stamp) {
        uint32_t first = s->list_count;
        for (uint32_t e = m->cells[cell].first_edge; e < m->cells[cell + 1].first_edge; e++) {
            add_vertex(s, e);
            add_edge(s, cell, e);
        }
        add_rides(s, cell);
        for (uint32_t i = 0; i < s->goal->count; i++) {
            if (s->goal->cells[i] == cell) {
                list_site(s, s->goal_site);
            }
        }
        *slot = (nav__site_slot){s->stamp, first, s->list_count - first};
    }
    *count = s->out_of_memory ? 0 : slot->count;
    return slot->first;
}
