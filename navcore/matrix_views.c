/// Views: the edges of a matrix's graph, swept corner by corner as the search comes to them. Only sights on which a
/// shortest path may bend at both ends are kept.
#include "matrix.h"

#include <math.h>
#include <string.h>

static nav__wall_ends ends_of(const nav_matrix *x, uint32_t vertex)
{
    const nav_mesh *m = x->mesh;
    const double full_turn = 6.283185307179586, rounding = 1e-6;
    uint32_t e = m->vertex_edge[vertex];
    nav__p2 at = nav__corner_at(x, vertex);
    nav__p2 first = nav__edge_from(m, nav__edge_next(m, e));
    for (double turn = 0;;) {
        uint32_t prev = nav__edge_prev(m, e);
        nav__p2 a = nav__edge_from(m, nav__edge_next(m, e)), b = nav__edge_from(m, prev);
        double ax = a.x - at.x, az = a.z - at.z, bx = b.x - at.x, bz = b.z - at.z;
        turn += fabs(atan2(ax * bz - az * bx, ax * bx + az * bz));
        e = m->edges[prev].twin;
        if (e == NAV_NONE) {
            first = turn > full_turn - rounding ? at : first;
            nav__p2 last = turn > full_turn - rounding ? at : b;
            return (nav__wall_ends){(float)first.x, (float)first.z, (float)last.x, (float)last.z};
        }
    }
}

void nav__matrix_find_walls(nav_matrix *x)
{
    for (uint32_t v = 0; v < x->mesh->vertex_count; v++) {
        if ((x->mesh->edges[x->mesh->vertex_edge[v]].vertex & ~NAV__DEAD_END) == (v | NAV__CORNER)) {
            x->walls[v] = ends_of(x, v);
        }
    }
}

static nav__p2 first_of(const nav__wall_ends *w)
{
    return (nav__p2){(double)w->first_x, (double)w->first_z};
}

static nav__p2 last_of(const nav__wall_ends *w)
{
    return (nav__p2){(double)w->last_x, (double)w->last_z};
}

/// May a shortest path come from `from` and bend at this corner? Only past the obstacle's side: where its
/// walls lie to both sides of the line, the path could be pulled tight on either.
static bool is_tangent(const nav_matrix *x, nav__p2 from, uint32_t vertex)
{
    nav__p2 at = nav__corner_at(x, vertex);
    const nav__wall_ends *w = &x->walls[vertex];
    return nav__orient(from, at, first_of(w)) <= 0 || nav__orient(from, at, last_of(w)) >= 0;
}

/// Where the obstacle of a corner lies, seen along a line from `a` to `b` through it on which a path may run.
static nav__side side_of(const nav__wall_ends *w, nav__p2 a, nav__p2 b)
{
    double first = nav__orient(a, b, first_of(w)), last = nav__orient(a, b, last_of(w));
    if (first == 0 && last == 0) {
        return NAV__SIDE_UNKNOWN;
    }
    return first >= 0 && last >= 0 ? NAV__SIDE_LEFT : first <= 0 && last <= 0 ? NAV__SIDE_RIGHT : NAV__SIDE_UNKNOWN;
}

typedef struct sweep {
    nav_matrix *x;
    nav__p2 from;
    uint32_t self; ///< the corner that looks, or NAV_NONE
} sweep;

static void note_sight(void *ctx, uint32_t vertex)
{
    sweep *s = ctx;
    nav_matrix *x = s->x;
    if (vertex == s->self || x->seen_stamp[vertex] == x->sweep_stamp || x->failed) {
        return;
    }
    x->seen_stamp[vertex] = x->sweep_stamp;
    nav__p2 at = nav__corner_at(x, vertex);
    if (!is_tangent(x, s->from, vertex) || (s->self != NAV_NONE && !is_tangent(x, at, s->self))) {
        return;
    }
    if (x->sight_count == x->sight_cap) {
        size_t cap = x->sight_cap ? 2 * (size_t)x->sight_cap : 1024;
        nav__sight *sights = cap < NAV_NONE ? nav__matrix_resize(x, x->sights, cap, sizeof *sights) : NULL;
        if (!sights) {
            x->failed = true;
            return;
        }
        x->sights = sights;
        x->sight_cap = (uint32_t)cap;
    }
    nav__side past = side_of(&x->walls[vertex], s->from, at);
    x->sights[x->sight_count++] = (nav__sight){vertex & (NAV__MATRIX_VERTICES - 1), (uint32_t)past & 3};
}

/// Sorts directions from `at` that span less than half a turn, each next one further to the left (turn 1) or
/// to the right (-1).
static void sort_turning(const nav_matrix *x, nav__p2 at, uint32_t first, uint32_t end, double turn)
{
    for (uint32_t i = first + 1; i < end; i++) {
        nav__sight s = x->sights[i];
        uint32_t to = i;
        nav__p2 p = nav__corner_at(x, s.vertex);
        for (; to > first; to--) {
            if (turn * nav__orient(at, nav__corner_at(x, x->sights[to - 1].vertex), p) >= 0) {
                break;
            }
            x->sights[to] = x->sights[to - 1];
        }
        x->sights[to] = s;
    }
}

/// Brings a corner's run of sights in the order of nav__view.
static void sort_view(const nav_matrix *x, uint32_t self, nav__view *v)
{
    const nav__wall_ends *walls = &x->walls[self];
    nav__p2 at = nav__corner_at(x, self);
    v->unknown = v->right = v->first;
    for (uint32_t i = v->first; i < v->end; i++) {
        nav__sight s = x->sights[i];
        nav__side own = side_of(walls, at, nav__corner_at(x, s.vertex));
        uint32_t to = i;
        // Room is made by moving one sight of each later group behind its own.
        if (own != NAV__SIDE_RIGHT) {
            x->sights[to] = x->sights[v->right];
            to = v->right++;
        }
        if (own == NAV__SIDE_LEFT) {
            x->sights[to] = x->sights[v->unknown];
            to = v->unknown++;
        }
        x->sights[to] = s;
    }
    sort_turning(x, at, v->first, v->unknown, -1);
    sort_turning(x, at, v->right, v->end, 1);
}

nav__view nav__matrix_look(nav_matrix *x, nav_query *query, nav__p2 from, uint32_t self, const uint32_t *cells,
                           uint32_t count)
{
    sweep s = {x, from, self};
    nav__view v = {.first = x->sight_count};
    if (++x->sweep_stamp == 0) {
        memset(x->seen_stamp, 0, x->mesh->vertex_count * sizeof *x->seen_stamp);
        x->sweep_stamp = 1;
    }
    if (!nav__see_corners(query, x->mesh, &x->snap.filter, from, cells, count, note_sight, &s)) {
        x->failed = true;
    }
    v.end = x->sight_count;
    if (self != NAV_NONE && !x->failed) {
        sort_view(x, self, &v);
    }
    return v;
}

/// The cells of a corner's fan.
static uint32_t fan_cells(nav_matrix *x, nav_query *query, uint32_t vertex, const uint32_t **cells)
{
    const nav_mesh *m = x->mesh;
    uint32_t first = m->vertex_edge[vertex], e = first, count = 0;
    do {
        uint32_t *list = nav__reserve(query, &query->cells, ((size_t)count + 1) * sizeof *list);
        if (!list) {
            x->failed = true;
            return 0;
        }
        list[count++] = nav__edge_cell(m, e);
        e = m->edges[nav__edge_prev(m, e)].twin;
    } while (e != NAV_NONE && e != first);
    *cells = query->cells.data;
    return count;
}

nav__view nav__matrix_view_of(nav_matrix *x, nav_query *query, uint32_t vertex)
{
    nav__view *v = &x->ways[vertex].view;
    if (v->first == NAV__NOT_SEEN_YET) {
        const uint32_t *cells = NULL;
        uint32_t count = fan_cells(x, query, vertex, &cells);
        *v = nav__matrix_look(x, query, nav__corner_at(x, vertex), vertex, cells, count);
    }
    return *v;
}
