/// Places on several floors.
///
/// One answer for each surface above or below another. Best first, a candidate is left out when
///   - it and a better one lie straight over or under the position, at one height, or in one cell or two
///     that share an edge (the position then stands on that edge);
///   - it lies beside the position, or a better one does, and their heights differ by no more than climb;
///   - it lies beside the position, and its own surface goes on towards it: a face of its cell, or of a
///     cell round the edge or corner it lies on, is a candidate too and is nearer on the ground.
#include "locate.h"
#include "surface.h"

enum { MOST_AROUND = 32 };

/// The candidates found, a binary heap with the best on top.
typedef struct candidate_heap {
    nav__candidate *data;
    uint32_t count;
} candidate_heap;

static void sift_down(candidate_heap *h, uint32_t at)
{
    nav__candidate moved = h->data[at];
    for (uint32_t child; (child = 2 * at + 1) < h->count; at = child) {
        child += child + 1 < h->count && nav__is_better(&h->data[child + 1], &h->data[child]);
        if (!nav__is_better(&h->data[child], &moved)) {
            break;
        }
        h->data[at] = h->data[child];
    }
    h->data[at] = moved;
}

static nav__candidate pop_best(candidate_heap *h)
{
    nav__candidate best = h->data[0];
    h->data[0] = h->data[--h->count];
    if (h->count > 0) {
        sift_down(h, 0);
    }
    return best;
}

/// A face's candidate, over or beside.
static bool evaluate(const nav__locator *s, uint32_t face, nav__candidate *c)
{
    nav__p2 at;
    bool over = nav__face_closest(s->m, face, s->p, INFINITY, &at) <= s->slack * s->slack;
    return nav__judge(s, face, at, over, c);
}

/// Adds the candidates that a row of grid cells lists; a face that several of them list is added as often.
/// @return false when out of memory
static bool collect_row(nav_query *query, const nav__locator *s, const nav__grid_span *span, uint32_t j,
                        candidate_heap *heap)
{
    const nav_mesh *m = s->m;
    size_t row = (size_t)j * m->grid_nx;
    for (uint32_t i = span->i0; i <= span->i1; i++) {
        nav__grid_cell list = m->grid_cells[row + i];
        size_t room = (size_t)heap->count + (list.end - list.first) + 1;
        heap->data = nav__reserve(query, &query->faces, room * sizeof *heap->data);
        if (!heap->data) {
            return false;
        }
        for (uint32_t k = list.first; k < list.end; k++) {
            uint32_t face = m->grid_faces[k];
            if (nav__takes_face(s, face)) {
                heap->count += evaluate(s, face, &heap->data[heap->count]);
            }
        }
    }
    return true;
}

/// All candidates in the box, as a heap; with a floor asked for, those beside only where none is over or under.
/// @return false when there are none, or no memory for them
static bool collect(nav_query *query, const nav__locator *s, candidate_heap *heap)
{
    const nav_mesh *m = s->m;
    nav__grid_span span;
    nav__p2 low = {s->p.x - s->half_x, s->p.z - s->half_z}, high = {s->p.x + s->half_x, s->p.z + s->half_z};
    if (!nav__grid_cover(m, low, high, &span)) {
        return false;
    }
    for (uint32_t j = span.j0; j <= span.j1; j++) {
        if (!collect_row(query, s, &span, j, heap)) {
            return false;
        }
    }
    bool over_only = false;
    for (uint32_t k = 0; k < heap->count && s->floor != NAV_FLOOR_NEAREST; k++) {
        over_only = over_only || heap->data[k].over;
    }
    for (uint32_t k = heap->count; over_only && k > 0; k--) {
        if (!heap->data[k - 1].over) {
            heap->data[k - 1] = heap->data[--heap->count];
        }
    }
    for (uint32_t k = heap->count / 2; k > 0; k--) {
        sift_down(heap, k - 1);
    }
    return heap->count > 0;
}

static bool share_edge(const nav_mesh *m, uint32_t a, uint32_t b)
{
    for (uint32_t e = m->cells[a].first_edge; e < m->cells[a + 1].first_edge; e++) {
        if (m->edges[e].twin != NAV_NONE && nav__edge_cell(m, m->edges[e].twin) == b) {
            return true;
        }
    }
    return false;
}

static bool is_same_floor(const nav__locator *s, const nav__candidate *a, const nav__candidate *b)
{
    double gap = fabs(a->y - b->y);
    if (!a->over || !b->over) {
        return gap <= s->climb + s->tall_slack;
    }
    uint32_t cell_a = s->m->faces[a->face].cell, cell_b = s->m->faces[b->face].cell;
    return gap <= s->tall_slack || cell_a == cell_b || share_edge(s->m, cell_a, cell_b);
}

static bool has_nearer_face(const nav__locator *s, uint32_t cell, double reach)
{
    for (uint32_t k = s->m->cells[cell].first_face; k < s->m->cells[cell + 1].first_face; k++) {
        nav__p2 at;
        nav__candidate c;
        uint32_t face = s->m->cell_faces[k];
        double d2 = nav__face_closest(s->m, face, s->p, reach * reach, &at);
        if (d2 < reach * reach && nav__judge(s, face, at, d2 <= s->slack * s->slack, &c)) {
            return true;
        }
    }
    return false;
}

static bool touches(const nav_mesh *m, uint32_t e, nav__p2 at, double slack)
{
    nav__p2 a = nav__edge_from(m, e), b = nav__edge_from(m, nav__edge_next(m, e));
    nav__p2 ab = nav__sub(b, a), ap = nav__sub(at, a);
    double t = nav__dot(ap, ab) / nav__dot(ab, ab);
    t = t > 0 ? t < 1 ? t : 1 : 0;
    return nav__dist(at, (nav__p2){a.x + t * ab.x, a.z + t * ab.z}) <= slack;
}

/// Does the candidate's surface go on towards the position? Looks at its cell and at those met by
/// crossing open edges that touch the place, and so all round a corner.
static bool goes_on(const nav__locator *s, const nav__candidate *c)
{
    const nav_mesh *m = s->m;
    double reach = nav__dist(c->at, s->p) - s->slack;
    if (!(reach > 0)) {
        return false;
    }
    uint32_t around[MOST_AROUND], count = 1;
    around[0] = m->faces[c->face].cell;
    for (uint32_t k = 0; k < count; k++) {
        if (has_nearer_face(s, around[k], reach)) {
            return true;
        }
        for (uint32_t e = m->cells[around[k]].first_edge; e < m->cells[around[k] + 1].first_edge; e++) {
            uint32_t twin = m->edges[e].twin, next = twin == NAV_NONE ? NAV_NONE : nav__edge_cell(m, twin);
            bool known = next == NAV_NONE || count == MOST_AROUND || !touches(m, e, c->at, 2 * s->slack) ||
                         !nav__passes(m, s->filter, next);
            for (uint32_t i = 0; i < count && !known; i++) {
                known = around[i] == next;
            }
            if (!known) {
                around[count++] = next;
            }
        }
    }
    return false;
}

uint32_t nav_query_nearest_many(nav_query *query, const nav_mesh *mesh, nav_vec point, const nav_snap *snap,
                                nav_place *places, uint32_t cap)
{
    nav__locator s;
    candidate_heap heap = {NULL, 0};
    if (cap == 0 || !nav__locator_init(&s, mesh, point, snap) || !collect(query, &s, &heap)) {
        return 0;
    }
    nav__candidate *kept = nav__reserve(query, &query->cells, cap * sizeof *kept);
    uint32_t count = 0, last = NAV_NONE;
    while (kept && heap.count > 0 && count < cap) {
        nav__candidate c = pop_best(&heap);
        bool another = c.face != last;
        last = c.face;
        for (uint32_t i = 0; i < count && another; i++) {
            another = !is_same_floor(&s, &c, &kept[i]);
        }
        if (another && !c.over) {
            another = nav__speaks_for_polygon(&s, c.face, nav__dist(c.at, s.p) * nav__dist(c.at, s.p) * (1 - 1e-12)) &&
                      (count == 0 || !goes_on(&s, &c));
        }
        if (another) {
            kept[count] = c;
            nav__place_write(&s, point, &c, &places[count++]);
        }
    }
    return count;
}
