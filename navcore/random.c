/// Random places, uniform by ground area.
///
/// Anywhere: a cell by areas added up, a triangle of its fan, a place in the triangle. Around a place: the
/// same over pieces of what lies in the circle. The disc's part of a cell that it does not hold wholly is
/// an inscribed polygon (the edges cut by the circle) and, over each arc of at most a quarter turn, the
/// triangle between chord and tangents; a place in one of those beyond the arc is thrown away and all is
/// drawn again, which leaves every place as likely as any other. At least 57 % of such a triangle lies
/// within the arc, so that few draws are lost, however little of the disc is walkable.
///
/// Nothing but + - * / and square roots is used, so that a seed means the same places everywhere.
#include "flood.h"
#include "nav_surface.h"
#include "surface.h"

/// Chords shorter than this part of the radius are left out, and the arc goes on over them.
static const double SHORTEST_CHORD = 1e-9;
/// Places nearer to each other than this part of the radius are one.
static const double SAME_PLACE = 1e-10;

// ---- numbers ---------------------------------------------------------------------------------------

/// SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
typedef struct dice {
    uint64_t state;
} dice;

/// In [0, 1), 53 bits.
static double roll(dice *d)
{
    uint64_t z = (d->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/// In [0, limit), limit > 0.
static double roll_below(dice *d, double limit)
{
    for (;;) {
        double value = roll(d) * limit;
        if (value < limit) {
            return value;
        }
    }
}

static nav__p2 place_in_triangle(dice *d, nav__p2 a, nav__p2 b, nav__p2 c)
{
    double s = roll(d), t = roll(d);
    if (s + t > 1) {
        s = 1 - s;
        t = 1 - t;
    }
    return (nav__p2){a.x + s * (b.x - a.x) + t * (c.x - a.x), a.z + s * (b.z - a.z) + t * (c.z - a.z)};
}

// ---- anywhere --------------------------------------------------------------------------------------

/// Twice the area of triangle k of the cell's fan round its first corner.
static double fan_area(const nav_mesh *m, uint32_t cell, uint32_t k)
{
    uint32_t first = m->cells[cell].first_edge;
    nav__p2 o = nav__edge_from(m, first), a = nav__edge_from(m, first + k + 1), b = nav__edge_from(m, first + k + 2);
    double area = nav__cross(nav__sub(a, o), nav__sub(b, o));
    return area > 0 ? area : 0;
}

static uint32_t fan_size(const nav_mesh *m, uint32_t cell)
{
    return m->cells[cell + 1].first_edge - m->cells[cell].first_edge - 2;
}

/// Twice the area, by its fan.
static double cell_area(const nav_mesh *m, uint32_t cell)
{
    double sum = 0;
    for (uint32_t k = 0; k < fan_size(m, cell); k++) {
        sum += fan_area(m, cell, k);
    }
    return sum;
}

/// Twice the areas of the cells that pass, added up.
/// @return NULL when out of memory
static const double *add_up_cells(nav_query *query, const nav_mesh *m, const nav_filter *filter)
{
    double *until = nav__reserve(query, &query->areas, m->cell_count * sizeof *until), sum = 0;
    if (!until) {
        return NULL;
    }
    for (uint32_t c = 0; c < m->cell_count; c++) {
        sum += nav__passes(m, filter, c) && !nav__cell_is_gone(m, c) ? cell_area(m, c) : 0;
        until[c] = sum;
    }
    return until;
}

static nav__p2 place_in_cell(const nav_mesh *m, uint32_t cell, dice *d)
{
    uint32_t last = fan_size(m, cell) - 1, k = 0;
    for (double value = roll_below(d, cell_area(m, cell)); k < last; k++) {
        value -= fan_area(m, cell, k);
        if (value < 0) {
            break;
        }
    }
    uint32_t first = m->cells[cell].first_edge;
    return place_in_triangle(d, nav__edge_from(m, first), nav__edge_from(m, first + k + 1),
                             nav__edge_from(m, first + k + 2));
}

static nav_vec on_surface(const nav_mesh *m, uint32_t cell, nav__p2 p)
{
    return (nav_vec){m->origin.x + p.x, m->origin.y + nav__cell_height(m, cell, p, NULL), m->origin.z + p.z};
}

/// @return NAV_OK or NAV_NO_MEMORY
static nav_status draw_anywhere(nav_query *query, const nav_mesh *m, const nav_random_options *options, nav_vec *points,
                                nav_random *random)
{
    const double *until = add_up_cells(query, m, &options->snap.filter);
    if (!until) {
        return NAV_NO_MEMORY;
    }
    double all = until[m->cell_count - 1];
    if (!(all > 0)) {
        return NAV_OK;
    }
    dice d = {options->seed};
    for (uint32_t i = 0; i < options->count; i++) {
        double value = roll_below(&d, all);
        uint32_t low = 0, high = m->cell_count - 1;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (until[middle] > value) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        points[i] = on_surface(m, low, place_in_cell(m, low, &d));
    }
    random->found = true;
    random->point_count = options->count;
    return NAV_OK;
}

// ---- the disc --------------------------------------------------------------------------------------

typedef enum piece_kind {
    WHOLE_CELL,
    TRIANGLE,
    TRIANGLE_OVER_ARC ///< what of it lies beyond the circle does not count
} piece_kind;

/// Of what may be drawn from.
typedef struct piece {
    double until;    ///< twice the areas added up, this one's included
    nav__p2 a, b, c; ///< of triangles, relative to the disc's centre
    uint32_t cell;
    piece_kind kind;
} piece;

typedef struct disc {
    nav_query *query;
    const nav_mesh *m;
    const nav_filter *filter;
    nav__flooded flooded;
    nav__p2 centre;
    double radius;
    piece *pieces;
    uint32_t count, cap;
    bool out_of_memory;
} disc;

/// The outline of a cell's part of the disc while it is walked, anticlockwise.
typedef struct outline {
    disc *disc;
    uint32_t cell;
    bool begun;
    nav__p2 first, last;
} outline;

static void add_piece(disc *d, double area, piece p)
{
    if (!(area > 0)) {
        return;
    }
    if (d->count == d->cap) {
        piece *pieces = d->cap < NAV_NONE / 2
                            ? nav__reserve(d->query, &d->query->areas, ((size_t)d->cap + 64) * sizeof *pieces)
                            : NULL;
        if (!pieces) {
            d->out_of_memory = true;
            return;
        }
        d->pieces = pieces;
        d->cap = (uint32_t)(d->query->areas.bytes / sizeof *pieces);
    }
    p.until = area + (d->count > 0 ? d->pieces[d->count - 1].until : 0);
    d->pieces[d->count++] = p;
}

static void add_triangle(const outline *o, nav__p2 a, nav__p2 b, nav__p2 c, piece_kind kind)
{
    double area = nav__cross(nav__sub(b, a), nav__sub(c, a));
    add_piece(o->disc, area, (piece){.a = a, .b = b, .c = c, .cell = o->cell, .kind = kind});
}

static void line_to(outline *o, nav__p2 to)
{
    if (!o->begun) {
        o->begun = true;
        o->first = to;
    } else {
        add_triangle(o, o->first, o->last, to, TRIANGLE);
    }
    o->last = to;
}

/// At most a quarter turn.
static void short_arc_to(outline *o, nav__p2 to)
{
    double r2 = o->disc->radius * o->disc->radius, scale = r2 / (r2 + nav__dot(o->last, to));
    nav__p2 apex = {(o->last.x + to.x) * scale, (o->last.z + to.z) * scale};
    add_triangle(o, o->last, apex, to, TRIANGLE_OVER_ARC);
    line_to(o, to);
}

static void arc_to(outline *o, nav__p2 to)
{
    if (o->last.x == to.x && o->last.z == to.z) {
        return;
    }
    if (nav__dist(o->last, to) <= SAME_PLACE * o->disc->radius) {
        line_to(o, to);
        return;
    }
    for (int turns = 0; turns < 3 && !(nav__cross(o->last, to) >= 0 && nav__dot(o->last, to) >= 0); turns++) {
        short_arc_to(o, (nav__p2){-o->last.z, o->last.x});
    }
    short_arc_to(o, to);
}

static void whole_circle(outline *o)
{
    line_to(o, (nav__p2){o->disc->radius, 0});
    for (int turns = 0; turns < 4; turns++) {
        short_arc_to(o, (nav__p2){-o->last.z, o->last.x});
    }
}

/// The part of the edge a -> b, relative to the centre, inside the circle, where that does not hold all of it.
/// @return false when there is none to speak of
static bool cut_chord(const disc *d, nav__p2 a, nav__p2 b, bool a_inside, bool b_inside, nav__p2 chord[2])
{
    nav__p2 ab = nav__sub(b, a);
    double square = nav__dot(ab, ab), half = nav__dot(a, ab);
    double discriminant = half * half - square * (nav__dot(a, a) - d->radius * d->radius);
    if (!(discriminant > 0)) {
        return false;
    }
    double root = sqrt(discriminant), t0 = (-half - root) / square, t1 = (-half + root) / square;
    if (!a_inside && !(t0 > 0 && t0 < 1)) {
        return false;
    }
    t1 = t1 > 0 ? t1 < 1 ? t1 : 1 : 0;
    chord[0] = a_inside ? a : (nav__p2){a.x + t0 * ab.x, a.z + t0 * ab.z};
    chord[1] = b_inside ? b : (nav__p2){a.x + t1 * ab.x, a.z + t1 * ab.z};
    return nav__dist(chord[0], chord[1]) > SHORTEST_CHORD * d->radius;
}

static bool holds_cell(const disc *d, uint32_t cell)
{
    const nav_mesh *m = d->m;
    for (uint32_t e = m->cells[cell].first_edge; e < m->cells[cell + 1].first_edge; e++) {
        nav__p2 v = nav__sub(nav__edge_from(m, e), d->centre);
        if (!(nav__dot(v, v) <= d->radius * d->radius)) {
            return false;
        }
    }
    return true;
}

/// Adds the pieces of the cell's part of the disc.
static void add_cell(disc *d, uint32_t cell)
{
    if (d->flooded.seen[cell] == d->flooded.stamp) {
        return;
    }
    d->flooded.seen[cell] = d->flooded.stamp;
    if (!nav__passes(d->m, d->filter, cell) || !nav__is_flooded(&d->flooded, cell)) {
        return;
    }
    if (holds_cell(d, cell)) {
        add_piece(d, cell_area(d->m, cell), (piece){.cell = cell, .kind = WHOLE_CELL});
        return;
    }
    const nav_mesh *m = d->m;
    uint32_t first = m->cells[cell].first_edge, end = m->cells[cell + 1].first_edge;
    double radius2 = d->radius * d->radius;
    outline o = {.disc = d, .cell = cell};
    nav__p2 a = nav__sub(nav__edge_from(m, end - 1), d->centre);
    bool a_inside = nav__dot(a, a) <= radius2;
    for (uint32_t e = first; e < end; e++) {
        nav__p2 b = nav__sub(nav__edge_from(m, e), d->centre), chord[2] = {a, b};
        bool b_inside = nav__dot(b, b) <= radius2;
        if ((a_inside && b_inside) || cut_chord(d, a, b, a_inside, b_inside, chord)) {
            if (o.begun) {
                arc_to(&o, chord[0]);
            } else {
                line_to(&o, chord[0]);
            }
            line_to(&o, chord[1]);
        }
        a = b;
        a_inside = b_inside;
    }
    if (o.begun) {
        arc_to(&o, o.first);
    } else if (nav__cell_holds(m, cell, d->centre)) {
        whole_circle(&o);
    }
}

static void add_listed(disc *d, nav__grid_cell list, const nav__window *window)
{
    for (uint32_t k = list.first; k < list.end; k++) {
        uint32_t face = d->m->grid_faces[k], cells[NAV__FACE_CELLS];
        uint32_t count = nav__meets_window(d->m, face, window) ? nav__face_cells(d->m, face, cells) : 0;
        for (uint32_t i = 0; i < count; i++) {
            add_cell(d, cells[i]);
        }
    }
}

/// Adds every cell that may reach into the disc: by the grid, or simply all where that is less.
static void add_cells(disc *d)
{
    const nav_mesh *m = d->m;
    nav__p2 low = {d->centre.x - d->radius, d->centre.z - d->radius};
    nav__p2 high = {d->centre.x + d->radius, d->centre.z + d->radius};
    nav__grid_span span;
    if (!nav__grid_cover(m, low, high, &span)) {
        return;
    }
    uint64_t squares = (uint64_t)(span.i1 - span.i0 + 1) * (span.j1 - span.j0 + 1);
    for (uint32_t c = 0; squares > m->cell_count && c < m->cell_count; c++) {
        if (!nav__cell_is_gone(m, c)) {
            add_cell(d, c);
        }
    }
    nav__window window = nav__window_of(m, low, high);
    for (uint32_t j = span.j0; squares <= m->cell_count && j <= span.j1; j++) {
        size_t row = (size_t)j * m->grid_nx;
        for (uint32_t i = span.i0; i <= span.i1; i++) {
            add_listed(d, m->grid_cells[row + i], &window);
        }
    }
}

static nav_vec draw_from(const disc *d, dice *rolled)
{
    double all = d->pieces[d->count - 1].until;
    for (;;) {
        double value = roll_below(rolled, all);
        uint32_t low = 0, high = d->count - 1;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (d->pieces[middle].until > value) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        const piece *p = &d->pieces[low];
        if (p->kind == WHOLE_CELL) {
            return on_surface(d->m, p->cell, place_in_cell(d->m, p->cell, rolled));
        }
        nav__p2 at = place_in_triangle(rolled, p->a, p->b, p->c);
        if (p->kind == TRIANGLE || nav__dot(at, at) <= d->radius * d->radius) {
            return on_surface(d->m, p->cell, (nav__p2){d->centre.x + at.x, d->centre.z + at.z});
        }
    }
}

/// @return NAV_OK or NAV_NO_MEMORY
static nav_status draw_around(nav_query *query, const nav_mesh *m, const nav_random_options *options, nav_vec *points,
                              nav_random *random)
{
    if (!nav_query_nearest(query, m, options->around, &options->snap, &random->around)) {
        return NAV_OK;
    }
    nav__anchor anchor;
    nav__anchor_make(m, &random->around, &options->snap.filter, &anchor);
    disc d = {.query = query,
              .m = m,
              .filter = &options->snap.filter,
              .centre = nav__ground(m, options->around),
              .radius = options->radius,
              .pieces = query->areas.data,
              .cap = (uint32_t)(query->areas.bytes / sizeof(piece))};
    if (!nav__flood(query, m, d.filter, &anchor, &d.flooded)) {
        return NAV_NO_MEMORY;
    }
    add_cells(&d);
    if (d.out_of_memory) {
        return NAV_NO_MEMORY;
    }
    nav__p2 nearest = nav__ground(m, random->around.point);
    if (d.count == 0 && nav__dist(nearest, d.centre) > d.radius + m->rounding) {
        return NAV_OK;
    }
    dice rolled = {options->seed};
    for (uint32_t i = 0; i < options->count; i++) {
        points[i] = d.count > 0 ? draw_from(&d, &rolled) : random->around.point; // a disc without area
    }
    random->found = true;
    random->point_count = options->count;
    return NAV_OK;
}

// ---- the whole -------------------------------------------------------------------------------------

nav_random_options nav_random_options_default(void)
{
    return (nav_random_options){.snap = nav_snap_default(), .count = 1};
}

nav_status nav_query_random(nav_query *query, const nav_mesh *mesh, const nav_random_options *options,
                            nav_random *random)
{
    *random = (nav_random){.found = false, .around.polygon = NAV_NONE};
    nav_vec c = options->around;
    if (options->has_around && !(isfinite(c.x) && isfinite(c.y) && isfinite(c.z) && options->radius >= 0)) {
        return NAV_BAD_ARGUMENT;
    }
    nav_vec *points = nav__reserve(query, &query->points, (size_t)options->count * sizeof *points);
    if (!points) {
        return NAV_NO_MEMORY;
    }
    random->points = points;
    return options->has_around ? draw_around(query, mesh, options, points, random)
                               : draw_anywhere(query, mesh, options, points, random);
}
