/// The sweep of a place's view: from its cells through every edge, each time narrowed to what the edge
/// lets through, as in an expansion of polyanya.c that never bends. Rays run from the place through mesh
/// vertices, and every decision is an exact orientation test.
#include "visibility.h"

/// The view through an edge.
typedef struct opening {
    uint32_t edge;        ///< half-edge of the cell that is looked into
    uint32_t left, right; ///< vertices the view's rays run through
} opening;

typedef struct sweep {
    nav_query *query;
    const nav_mesh *m;
    const nav_filter *filter;
    bool all_pass;
    nav__p2 p;
    const uint32_t *cells;
    uint32_t cell_count;
    void (*visit)(void *ctx, uint32_t vertex);
    void *ctx;
    opening *stack;
    uint32_t count, cap;
    bool out_of_memory;
} sweep;

static void tell(const sweep *s, uint32_t edge)
{
    uint32_t vertex = s->m->edges[edge].vertex;
    if ((vertex & NAV__CORNER) || (!s->all_pass && nav__touches_closed(s->m, s->filter, vertex & NAV__VERTEX))) {
        s->visit(s->ctx, vertex & NAV__VERTEX);
    }
}

static void push(sweep *s, uint32_t edge, uint32_t left, uint32_t right)
{
    uint32_t twin = s->m->edges[edge].twin;
    if (twin == NAV_NONE || (!s->all_pass && !nav__passes(s->m, s->filter, nav__edge_cell(s->m, twin)))) {
        return;
    }
    if (s->count == s->cap) {
        opening *stack = nav__reserve(s->query, &s->query->sight, ((size_t)s->cap + 64) * sizeof *stack);
        if (!stack) {
            s->out_of_memory = true;
            return;
        }
        s->stack = stack;
        s->cap = (uint32_t)(s->query->sight.bytes / sizeof *stack);
    }
    s->stack[s->count++] = (opening){twin, left, right};
}

static bool holds_place(const sweep *s, uint32_t cell)
{
    for (uint32_t i = 0; i < s->cell_count; i++) {
        if (s->cells[i] == cell) {
            return true;
        }
    }
    return false;
}

static void look_round(sweep *s, uint32_t cell)
{
    const nav_mesh *m = s->m;
    for (uint32_t e = m->cells[cell].first_edge; e < m->cells[cell + 1].first_edge; e++) {
        uint32_t next = nav__edge_next(m, e), twin = m->edges[e].twin;
        tell(s, e);
        // An edge on whose line the place lies is seen end on: nothing through it is seen that its nearer
        // end does not see as well.
        if (twin != NAV_NONE && !holds_place(s, nav__edge_cell(m, twin)) &&
            nav__orient(nav__edge_from(m, e), nav__edge_from(m, next), s->p) > 0) {
            push(s, e, m->edges[next].vertex & NAV__VERTEX, m->edges[e].vertex & NAV__VERTEX);
        }
    }
}

/// Looks on into the cell behind an opening: the chain of its other edges, from the entry edge's far end
/// anticlockwise, is cut by the two rays.
static void look_into(sweep *s, opening o)
{
    const nav_mesh *m = s->m;
    nav__p2 left = nav__vertex_ground(m, o.left), right = nav__vertex_ground(m, o.right);
    uint32_t a = o.edge, e = nav__edge_next(m, a);
    double from_right = nav__orient(s->p, right, nav__edge_from(m, e));
    double from_left = nav__orient(s->p, left, nav__edge_from(m, e));
    for (; e != a; e = nav__edge_next(m, e)) {
        uint32_t next = nav__edge_next(m, e);
        nav__p2 to = nav__edge_from(m, next);
        double to_right = nav__orient(s->p, right, to), to_left = nav__orient(s->p, left, to);
        if (from_right >= 0 && from_left <= 0) {
            tell(s, e);
        }
        if (to_right > 0 && from_left < 0) {
            uint32_t l = to_left > 0 ? o.left : m->edges[next].vertex & NAV__VERTEX;
            uint32_t r = from_right < 0 ? o.right : m->edges[e].vertex & NAV__VERTEX;
            push(s, e, l, r);
        }
        from_right = to_right;
        from_left = to_left;
    }
}

bool nav__see_corners(nav_query *query, const nav_mesh *m, const nav_filter *filter, nav__p2 p, const uint32_t *cells,
                      uint32_t cell_count, void (*visit)(void *ctx, uint32_t vertex), void *ctx)
{
    sweep s = {.query = query,
               .m = m,
               .filter = filter,
               .all_pass = nav__passes_all(m, filter),
               .p = p,
               .cells = cells,
               .cell_count = cell_count,
               .visit = visit,
               .ctx = ctx,
               .stack = query->sight.data,
               .cap = (uint32_t)(query->sight.bytes / sizeof(opening))};
    for (uint32_t i = 0; i < cell_count; i++) {
        look_round(&s, cells[i]);
    }
    while (s.count > 0 && !s.out_of_memory) {
        look_into(&s, s.stack[--s.count]);
    }
    return !s.out_of_memory;
}
