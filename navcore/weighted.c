/// A* over sites on the edges between cells (see sites.h). Paths come any-angle from it: where cells cost
/// the same, a site keeps the last site that sees it in a straight line through the edges passed, and its
/// cost counts that line (the idea of Theta*, Nash, Daniel, Koenig, Felner, AAAI 2007, with the line of
/// sight kept as a cone that edges narrow). way.c then moves the points to where they are best.
#include "weighted.h"

#include "way.h"

typedef struct open_entry {
    double key; ///< f, and among equals the one nearer to the goal first
    uint32_t site;
} open_entry;

/// What part of h is added to f: enough to part equals, too little to matter.
static const double TIE_BREAK = 1e-10;

typedef struct search_state {
    nav_query *query;
    nav__weighted *w;
    const nav_mesh *m;
    nav__sites sites;
    open_entry *heap;
    uint32_t heap_count, heap_cap;
} search_state;

// ---- the open list ---------------------------------------------------------------------------------

static inline void put(search_state *st, uint32_t i, open_entry entry)
{
    st->heap[i] = entry;
    st->sites.all[entry.site].heap = i;
}

static inline void sift_up(search_state *st, uint32_t i, open_entry entry)
{
    while (i > 0) {
        uint32_t up = (i - 1) / 4;
        if (entry.key >= st->heap[up].key) {
            break;
        }
        put(st, i, st->heap[up]);
        i = up;
    }
    put(st, i, entry);
}

/// Opens a site, or moves it forward when it is open.
static inline void open_site(search_state *st, uint32_t site)
{
    const nav__site *s = &st->sites.all[site];
    open_entry entry = {s->g + s->h + TIE_BREAK * s->h, site};
    if (s->heap != NAV_NONE) {
        sift_up(st, s->heap, entry);
        return;
    }
    if (st->heap_count == st->heap_cap) {
        size_t want = st->heap_cap ? (size_t)st->heap_cap * 2 : 256;
        open_entry *heap = nav__reserve(st->query, &st->query->site_heap, want * sizeof *heap);
        if (!heap) {
            st->sites.out_of_memory = true;
            return;
        }
        st->heap = heap;
        st->heap_cap = (uint32_t)want;
    }
    sift_up(st, st->heap_count++, entry);
}

static uint32_t pop_site(search_state *st)
{
    uint32_t top = st->heap[0].site;
    open_entry last = st->heap[--st->heap_count];
    uint32_t i = 0, n = st->heap_count;
    for (;;) {
        uint32_t first = 4 * i + 1, best = first;
        if (first >= n) {
            break;
        }
        if (first + 4 <= n) {
            const open_entry *h = st->heap + first;
            uint32_t low = h[1].key < h[0].key, high = 2 + (h[3].key < h[2].key);
            best = first + (h[high].key < h[low].key ? high : low);
        } else {
            for (uint32_t k = first + 1; k < n; k++) {
                best = st->heap[k].key < st->heap[best].key ? k : best;
            }
        }
        if (st->heap[best].key >= last.key) {
            break;
        }
        put(st, i, st->heap[best]);
        i = best;
    }
    if (n > 0) {
        put(st, i, last);
    }
    st->sites.all[top].heap = NAV__SITE_CLOSED;
    return top;
}

// ---- expanding -------------------------------------------------------------------------------------

/// What a root sees through the edges that a path has passed.
typedef struct cone {
    uint32_t root;
    nav_vec from; ///< the root
    double g;
    nav__p2 apex, left, right;
    uint32_t left_vertex, right_vertex;
} cone;

static inline nav__p2 ground(nav_vec v)
{
    return (nav__p2){v.x, v.z};
}

/// Rounding does no harm here: the cone only chooses which lines are tried.
static inline double turn(nav__p2 a, nav__p2 b, nav__p2 c)
{
    return nav__cross(nav__sub(b, a), nav__sub(c, a));
}

/// Of a site on an edge: what its root sees through that edge. `out` is the half-edge of the cell left.
static cone cone_through(const search_state *st, const nav__site *site, uint32_t out)
{
    const nav_mesh *m = st->m;
    const nav__site *root = &st->sites.all[site->root];
    cone c = {.root = site->root, .from = root->at, .g = root->g, .apex = ground(root->at)};
    c.right_vertex = m->edges[out].vertex & NAV__VERTEX;
    c.left_vertex = m->edges[nav__edge_next(m, out)].vertex & NAV__VERTEX;
    c.right = nav__vertex_ground(m, c.right_vertex);
    c.left = nav__vertex_ground(m, c.left_vertex);
    if (site->left != NAV_NONE) {
        nav__p2 left = nav__vertex_ground(m, site->left), right = nav__vertex_ground(m, site->right);
        if (turn(c.apex, left, c.left) > 0) {
            c.left = left;
            c.left_vertex = site->left;
        }
        if (turn(c.apex, right, c.right) < 0) {
            c.right = right;
            c.right_vertex = site->right;
        }
    }
    return c;
}

static inline bool sees(const cone *c, nav__p2 p)
{
    return turn(c->apex, c->left, p) <= 0 && turn(c->apex, c->right, p) >= 0;
}

/// Offers every site of a cell a leg from site `from` through it, or from the root that sees it.
/// @param c     what the root of `from` sees beyond; NULL: nothing
/// @param skip  an edge whose sites have nothing to gain; NAV_NONE: none is skipped
static void cross_cell(search_state *st, uint32_t from, uint32_t cell, const cone *c, uint32_t skip)
{
    uint32_t count, first = nav__sites_of_cell(&st->sites, cell, &count);
    const nav__site *p = &st->sites.all[from];
    const nav__site *goal = &st->sites.all[st->sites.goal_site];
    double rate = nav__cell_cost(st->m, st->w->filter, cell);
    uint32_t skip_first = 0, skip_count = 0;
    if (skip != NAV_NONE) {
        skip_first = st->sites.edges[skip].first;
        skip_count = st->sites.edges[skip].count;
    }
    uint32_t *list = st->sites.lists + first, kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t site = list[i];
        nav__site *q = &st->sites.all[site];
        if (q->heap == NAV__SITE_CLOSED) {
            continue; // and never looked at again from this cell
        }
        list[kept++] = site;
        if (site - skip_first < skip_count) {
            continue;
        }
        bool straight = c && sees(c, ground(q->at));
        double g = straight ? c->g + rate * nav__dist3(c->from, q->at) : p->g + rate * nav__dist3(p->at, q->at);
        if (g >= q->g || g + q->h >= goal->g) {
            continue;
        }
        q->g = g;
        q->parent = from;
        q->cell = cell;
        q->root = straight ? c->root : from;
        q->left = straight ? c->left_vertex : NAV_NONE;
        q->right = straight ? c->right_vertex : NAV_NONE;
        open_site(st, site);
    }
    st->sites.cells[cell].count = kept;
}

/// A dead end without the goal in it is not worth entering, unless something in it may cost less.
static bool is_blind_alley(const search_state *st, uint32_t from, uint32_t into)
{
    if (!nav__hangs_on(st->m, from, into) || nav__cell_cost(st->m, st->w->filter, from) > st->sites.least_cost) {
        return false;
    }
    for (uint32_t i = 0; st->m->revision && i < st->m->ride_count; i++) {
        if (nav__is_behind(st->m, into, st->m->rides[i].from_cell)) {
            return false;
        }
    }
    const nav__anchor *goal = st->w->goal;
    for (uint32_t i = 0; i < goal->count; i++) {
        if (nav__is_behind(st->m, into, goal->cells[i])) {
            return false;
        }
    }
    return true;
}

/// Has another site of the edge been expanded for the same root and cone? What the root sees beyond has been
/// offered all there is then. If not, this one is remembered.
static bool was_seen_through(search_state *st, uint32_t edge, const cone *c)
{
    nav__site *s = &st->sites.all[st->sites.edges[edge].first];
    if (s->seen_root == c->root && s->seen_left == c->left_vertex && s->seen_right == c->right_vertex) {
        return true;
    }
    s->seen_root = c->root;
    s->seen_left = c->left_vertex;
    s->seen_right = c->right_vertex;
    return false;
}

static void leave_edge(search_state *st, uint32_t from)
{
    const nav_mesh *m = st->m;
    nav__site p = st->sites.all[from];
    uint32_t out = nav__edge_cell(m, p.place) == p.cell ? p.place : m->edges[p.place].twin;
    uint32_t into = nav__edge_cell(m, m->edges[out].twin);
    if (is_blind_alley(st, p.cell, into)) {
        return;
    }
    double before = nav__cell_cost(m, st->w->filter, p.cell), beyond = nav__cell_cost(m, st->w->filter, into);
    if (before != beyond) {
        // Along the edge itself the cell left has offered as much, unless the one entered costs less.
        cross_cell(st, from, into, NULL, beyond < before ? NAV_NONE : p.place);
        return;
    }
    cone c = cone_through(st, &p, out);
    if (!was_seen_through(st, p.place, &c)) {
        cross_cell(st, from, into, &c, p.place);
    }
}

static void leave_vertex(search_state *st, uint32_t from)
{
    uint32_t came_through = st->sites.all[from].cell, first = st->sites.all[from].sector, e = first;
    do {
        uint32_t cell = nav__edge_cell(st->m, e);
        if (cell != came_through) {
            cross_cell(st, from, cell, NULL, NAV_NONE);
        }
        e = nav__sector_next(&st->sites, e);
    } while (e != NAV_NONE && e != first);
}

static void ride(search_state *st, uint32_t from)
{
    uint32_t place = st->sites.all[from].place;
    const nav__ride *r = &st->m->rides[place];
    nav_vec at = {(double)r->to[0], (double)r->to[1], (double)r->to[2]};
    uint32_t site = nav__sites_add(&st->sites, NAV__SITE_LAND, place, at);
    if (site != NAV_NONE) {
        st->sites.all[site].g = st->sites.all[from].g + nav__ride_cost(st->m, r, st->w->filter);
        st->sites.all[site].parent = st->sites.all[site].root = from;
        open_site(st, site);
    }
}

static void expand(search_state *st, uint32_t from)
{
    switch (st->sites.all[from].kind) {
    case NAV__SITE_START:
        for (uint32_t i = 0; i < st->w->start->count; i++) {
            cross_cell(st, from, st->w->start->cells[i], NULL, NAV_NONE);
        }
        break;
    case NAV__SITE_EDGE:
        leave_edge(st, from);
        break;
    case NAV__SITE_VERTEX:
        leave_vertex(st, from);
        break;
    case NAV__SITE_BOARD:
        ride(st, from);
        break;
    case NAV__SITE_LAND:
        cross_cell(st, from, st->m->rides[st->sites.all[from].place].to_cell, NULL, NAV_NONE);
        break;
    case NAV__SITE_GOAL:
        break;
    }
}

// ---- what was expanded -----------------------------------------------------------------------------

static nav_vec absolute(const nav_mesh *m, nav_vec at)
{
    return (nav_vec){m->origin.x + at.x, m->origin.y + at.y, m->origin.z + at.z};
}

/// Notes a site for those who want to see the search: an interval of one point, seen from the site's root.
static bool explain(search_state *st, uint32_t site)
{
    const nav_mesh *m = st->m;
    const nav__site *s = &st->sites.all[site];
    if (s->parent == NAV_NONE) {
        return true; // the start, seen from nowhere
    }
    uint32_t cell = s->cell != NAV_NONE ? s->cell : m->rides[s->place].to_cell, face;
    nav_explained *list =
        nav__reserve(st->query, &st->query->explained, ((size_t)st->w->explained_count + 1) * sizeof *list);
    if (!list) {
        return false;
    }
    const nav__site *root = &st->sites.all[s->root];
    nav__cell_height(m, cell, ground(s->at), &face);
    list[st->w->explained_count++] = (nav_explained){.root = absolute(m, root->at),
                                                     .left = absolute(m, s->at),
                                                     .right = absolute(m, s->at),
                                                     .g = root->g,
                                                     .polygon = nav__face_polygon(m, face)};
    return true;
}

// ---- the way found ---------------------------------------------------------------------------------

/// A site as a point of a way.
static nav__way_point way_point(const search_state *st, const nav__site *s)
{
    nav__way_point p = {.at = s->at, .cell = s->cell, .ride = NAV_NONE, .vertex = NAV_NONE, .edge = NAV_NONE};
    if (s->kind == NAV__SITE_VERTEX) {
        p.vertex = s->place;
    } else if (s->kind == NAV__SITE_EDGE) {
        p.edge = s->place;
        nav__p2 a = nav__edge_from(st->m, p.edge), b = nav__edge_from(st->m, nav__edge_next(st->m, p.edge));
        p.t = nav__dist(a, ground(s->at)) / nav__dist(a, b);
    } else if (s->kind == NAV__SITE_LAND) {
        p.ride = s->place;
    }
    return p;
}

/// Moves a point on an edge to where the line from a to b meets the edge.
static void put_on_line(const nav_mesh *m, nav__way_point *p, nav__p2 a, nav__p2 b)
{
    uint32_t from = m->edges[p->edge].vertex & NAV__VERTEX;
    uint32_t to = m->edges[nav__edge_next(m, p->edge)].vertex & NAV__VERTEX;
    nav__p2 u = nav__vertex_ground(m, from), v = nav__vertex_ground(m, to);
    double side_u = turn(a, b, u), side_v = turn(a, b, v);
    if (fabs(side_u - side_v) <= 1e-9 * nav__dist(a, b) * nav__dist(u, v)) {
        return; // the line runs along the edge, and the point lies on it already
    }
    double t = side_u / (side_u - side_v);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    double yu = (double)nav__vertex_y(m, from), yv = (double)nav__vertex_y(m, to);
    p->t = t;
    p->at = (nav_vec){u.x + t * (v.x - u.x), yu + t * (yv - yu), u.z + t * (v.z - u.z)};
}

/// The points from the start to a site.
static bool trace(const search_state *st, uint32_t site, nav__way *way)
{
    const nav__site *all = st->sites.all;
    uint32_t count = 0;
    for (uint32_t s = site; s != NAV_NONE; s = all[s].parent) {
        count++;
    }
    if (!nav__way_reserve(way, count)) {
        return false;
    }
    way->count = count;
    uint32_t seen = NAV_NONE, root = NAV_NONE;
    for (uint32_t s = site; s != NAV_NONE; s = all[s].parent) {
        nav__way_point *p = &way->points[--count];
        *p = way_point(st, &all[s]);
        if (root != NAV_NONE && s != root) {
            put_on_line(st->m, p, ground(all[root].at), ground(all[seen].at));
        } else {
            seen = s;
            root = all[s].root;
        }
    }
    return true;
}

// ---- the answer ------------------------------------------------------------------------------------

/// Is b so near to the straight line from a to c that it need not be told?
static bool is_straight(nav__p2 a, nav__p2 b, nav__p2 c)
{
    nav__p2 ac = nav__sub(c, a), ab = nav__sub(b, a);
    double length = sqrt(nav__dot(ac, ac)), off = fabs(nav__cross(ac, ab));
    double along = nav__dot(ac, ab);
    return off <= 1e-8 * length * length && along >= 0 && along <= length * length;
}

/// Writes the points where the way bends, rides or meets another cost.
static bool write_steps(search_state *st, const nav__way *way)
{
    const nav_mesh *m = st->m;
    nav__weighted *w = st->w;
    nav__step *steps = nav__reserve(st->query, &st->query->steps, way->count * sizeof *steps);
    if (!steps) {
        return false;
    }
    uint32_t n = 0;
    w->cost = w->length = 0;
    for (uint32_t i = 0; i < way->count; i++) {
        const nav__way_point *p = &way->points[i], *next = i + 1 < way->count ? p + 1 : NULL;
        bool walks = n > 0 && p->ride == NAV_NONE, walks_on = next && next->ride == NAV_NONE;
        if (walks && walks_on && nav__cell_cost(m, w->filter, p->cell) == nav__cell_cost(m, w->filter, next->cell) &&
            is_straight(steps[n - 1].p, ground(p->at), ground(next->at))) {
            continue;
        }
        steps[n++] = (nav__step){ground(p->at), p->at.y, p->cell, p->ride};
        if (n > 1) {
            nav_vec a = {steps[n - 2].p.x, steps[n - 2].y, steps[n - 2].p.z};
            double leg = nav__dist3(a, p->at);
            w->length += leg;
            w->cost += p->ride == NAV_NONE ? leg * nav__cell_cost(m, w->filter, p->cell)
                                           : nav__ride_cost(m, &m->rides[p->ride], w->filter);
        }
    }
    w->step_count = n;
    return true;
}

static nav__search_result answer(search_state *st, uint32_t site, nav__search_result result)
{
    nav__way way = {.query = st->query, .mesh = st->m, .filter = st->w->filter, .least_cost = st->sites.least_cost};
    return trace(st, site, &way) && nav__way_improve(&way) && write_steps(st, &way) ? result : NAV__OUT_OF_MEMORY;
}

/// Of all sites reached within the limit, the one nearest to the goal.
static uint32_t nearest_reached(const search_state *st)
{
    const nav__sites *sites = &st->sites;
    nav_vec goal = sites->all[sites->goal_site].at;
    uint32_t best = NAV_NONE;
    double least = INFINITY;
    for (uint32_t i = 0; i < sites->count; i++) {
        const nav__site *s = &sites->all[i];
        if (s->g == INFINITY || (st->w->max_cost > 0 && s->g > st->w->max_cost)) {
            continue;
        }
        double d = nav__dist3(s->at, goal);
        if (d < least) {
            least = d;
            best = i;
        }
    }
    return best;
}

// ---- the search ------------------------------------------------------------------------------------

static nav__search_result run(search_state *st)
{
    nav__weighted *w = st->w;
    const nav_interrupt *interrupt = &st->query->interrupt;
    for (;;) {
        if (st->sites.out_of_memory) {
            return NAV__OUT_OF_MEMORY;
        }
        if (!st->heap_count) {
            return NAV__EXHAUSTED;
        }
        if ((w->max_cost > 0 && st->heap[0].key > w->max_cost) || (w->max_nodes && w->nodes == w->max_nodes)) {
            return answer(st, nearest_reached(st), NAV__LIMITED);
        }
        uint32_t site = pop_site(st);
        if (site == st->sites.goal_site) {
            return answer(st, site, NAV__FOUND);
        }
        if ((++w->nodes & 255) == 0 && interrupt->stop && interrupt->stop(interrupt->ctx)) {
            return NAV__STOPPED;
        }
        if (w->explained_count < w->explain && !explain(st, site)) {
            return NAV__OUT_OF_MEMORY;
        }
        expand(st, site);
    }
}

nav__search_result nav__weighted_search(nav_query *query, nav__weighted *search)
{
    search->nodes = search->step_count = search->explained_count = 0;
    search->cost = search->length = 0;
    if (!search->start->count || !search->goal->count) {
        return NAV__EXHAUSTED;
    }
    search_state st = {.query = query,
                       .w = search,
                       .m = search->mesh,
                       .heap = query->site_heap.data,
                       .heap_cap = (uint32_t)(query->site_heap.bytes / sizeof(open_entry))};
    if (!nav__sites_init(&st.sites, query, search->mesh, search->filter, search->start, search->goal)) {
        return NAV__OUT_OF_MEMORY;
    }
    const nav__anchor *start = search->start;
    nav_vec at = {start->p.x, nav__cell_height(st.m, start->cells[0], start->p, NULL), start->p.z};
    uint32_t site = nav__sites_add(&st.sites, NAV__SITE_START, NAV_NONE, at);
    if (site == NAV_NONE) {
        return NAV__OUT_OF_MEMORY;
    }
    st.sites.all[site].g = 0;
    st.sites.all[site].root = site;
    open_site(&st, site);
    return run(&st);
}
