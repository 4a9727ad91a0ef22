/// PLY (Stanford's polygon file format), text and binary of either byte order.
///
///     ply / format ascii 1.0 / element vertex N / property float x … / element face M /
///     property list uchar int vertex_indices / end_header, then the elements in that order
///
/// Vertices need x, y and z of any type, faces a list `vertex_indices` or `vertex_index`; faces may have
/// whole numbers `area` (0 to 255) and `flags`. All other properties and elements are stepped over.
#include "read.h"
#include "read_bytes.h"

#include <math.h>
#include <string.h>

#define MOST_ELEMENTS 16
#define MOST_PROPERTIES 64

typedef enum scalar { INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT32, FLOAT64, SCALAR_COUNT } scalar;

static const struct {
    const char *name, *other;
    size_t size;
} scalars[SCALAR_COUNT] = {{"char", "int8", 1},     {"uchar", "uint8", 1},   {"short", "int16", 2},
                           {"ushort", "uint16", 2}, {"int", "int32", 4},     {"uint", "uint32", 4},
                           {"float", "float32", 4}, {"double", "float64", 8}};

/// What a property is to us.
typedef enum role { SKIPPED, X, Y, Z, CORNERS, AREA, FLAGS, ROLE_COUNT } role;

typedef struct property {
    scalar type, count_type;
    bool list;
    role role;
} property;

typedef struct element {
    enum { OTHER, VERTEX, FACE } kind;
    int64_t count;
    property properties[MOST_PROPERTIES];
    uint32_t property_count;
} element;

typedef struct ply_reader {
    nav_soup *soup;
    nav_error *error;
    nav__text text;
    nav__bytes bytes;
    bool ascii;
    element elements[MOST_ELEMENTS];
    uint32_t element_count;
    uint32_t vertex_count;
    nav__list corners; ///< of the face being read
    double values[ROLE_COUNT];
    int64_t number; ///< of the vertex or face being read
} ply_reader;

// Head.

static void skip_line(nav__text *t)
{
    while (t->p < t->end && !nav__is_newline(*t->p)) {
        t->p++;
    }
}

static void skip_word(nav__text *t)
{
    while (!nav__text_word_ends(t)) {
        t->p++;
    }
}

static nav_status read_scalar_type(ply_reader *r, scalar *type)
{
    for (int i = 0; i < SCALAR_COUNT; i++) {
        if (nav__text_take_word(&r->text, scalars[i].name) || nav__text_take_word(&r->text, scalars[i].other)) {
            *type = (scalar)i;
            return NAV_OK;
        }
    }
    return nav__text_fail(&r->text, r->error, "a type such as `float`");
}

static nav_status read_element(ply_reader *r)
{
    nav__text *t = &r->text;
    if (r->element_count == MOST_ELEMENTS) {
        return nav__text_fail(t, r->error, "no more than 16 elements");
    }
    element *e = &r->elements[r->element_count++];
    e->kind = nav__text_take_word(t, "vertex") ? VERTEX : nav__text_take_word(t, "face") ? FACE : OTHER;
    if (e->kind == OTHER && nav__text_take_word(t, "tristrips")) {
        return nav_fail(r->error, NAV_BAD_FORMAT, t->line, NAV_NO_BYTE,
                        "its faces are triangle strips: export it with single faces");
    }
    for (uint32_t i = 0; i + 1 < r->element_count; i++) {
        if (e->kind != OTHER && r->elements[i].kind == e->kind) {
            return nav_fail(r->error, NAV_BAD_FORMAT, t->line, NAV_NO_BYTE, "a second element of the same name");
        }
    }
    if (e->kind == OTHER && nav__text_next_word(t)) {
        skip_word(t); // its name
    }
    return nav__text_integer(t, r->error, 0, INT32_MAX / 4, "the number of elements", &e->count);
}

static role role_of(ply_reader *r, const element *e, bool list)
{
    static const struct {
        const char *name;
        int kind;
        bool list;
        role role;
    } names[] = {{"x", VERTEX, false, X},
                 {"y", VERTEX, false, Y},
                 {"z", VERTEX, false, Z},
                 {"vertex_indices", FACE, true, CORNERS},
                 {"vertex_index", FACE, true, CORNERS},
                 {"area", FACE, false, AREA},
                 {"flags", FACE, false, FLAGS}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if ((int)e->kind == names[i].kind && list == names[i].list && nav__text_take_word(&r->text, names[i].name)) {
            return names[i].role;
        }
    }
    return SKIPPED;
}

static nav_status read_property(ply_reader *r)
{
    nav__text *t = &r->text;
    element *e = r->element_count > 0 ? &r->elements[r->element_count - 1] : NULL;
    if (!e || e->property_count == MOST_PROPERTIES) {
        return nav__text_fail(t, r->error, e ? "no more than 64 properties" : "an element before its properties");
    }
    property *p = &e->properties[e->property_count++];
    p->list = nav__text_take_word(t, "list");
    nav_status status = p->list ? read_scalar_type(r, &p->count_type) : NAV_OK;
    if (status == NAV_OK) {
        status = read_scalar_type(r, &p->type);
    }
    if (status != NAV_OK) {
        return status;
    }
    if (p->list && p->count_type >= FLOAT32) {
        return nav_fail(r->error, NAV_BAD_FORMAT, t->line, NAV_NO_BYTE, "a list's count must be of a whole type");
    }
    p->role = role_of(r, e, p->list);
    for (uint32_t i = 0; p->role != SKIPPED && i + 1 < e->property_count; i++) {
        if (e->properties[i].role == p->role) {
            return nav_fail(r->error, NAV_BAD_FORMAT, t->line, NAV_NO_BYTE, "a second property of the same meaning");
        }
    }
    skip_line(t); // its name, if it says nothing to us
    return NAV_OK;
}

static nav_status read_format(ply_reader *r)
{
    nav__text *t = &r->text;
    r->ascii = nav__text_take_word(t, "ascii");
    r->bytes.big_endian = !r->ascii && nav__text_take_word(t, "binary_big_endian");
    if (!r->ascii && !r->bytes.big_endian && !nav__text_take_word(t, "binary_little_endian")) {
        return nav__text_fail(t, r->error, "`ascii`, `binary_little_endian` or `binary_big_endian`");
    }
    return nav__text_take_word(t, "1.0") ? NAV_OK : nav__text_fail(t, r->error, "version 1.0 of the format");
}

static bool has_role(const element *e, role wanted)
{
    uint32_t i = 0;
    while (i < e->property_count && e->properties[i].role != wanted) {
        i++;
    }
    return i < e->property_count;
}

/// Are there vertices and faces with what they need?
static nav_status check_head(ply_reader *r)
{
    const element *vertex = NULL, *face = NULL;
    for (uint32_t i = 0; i < r->element_count; i++) {
        vertex = r->elements[i].kind == VERTEX ? &r->elements[i] : vertex;
        face = r->elements[i].kind == FACE ? &r->elements[i] : face;
    }
    if (!vertex || !has_role(vertex, X) || !has_role(vertex, Y) || !has_role(vertex, Z)) {
        return nav_fail(r->error, NAV_BAD_FORMAT, 0, NAV_NO_BYTE, "the PLY has no vertices with x, y and z");
    }
    if (!face || !has_role(face, CORNERS) || face->count == 0) {
        return nav_fail(r->error, NAV_BAD_FORMAT, 0, NAV_NO_BYTE, "the PLY has no faces with a list vertex_indices");
    }
    r->vertex_count = (uint32_t)vertex->count;
    r->soup->has_areas = has_role(face, AREA);
    r->soup->has_flags = has_role(face, FLAGS);
    return NAV_OK;
}

static nav_status read_head(ply_reader *r)
{
    nav__text *t = &r->text;
    nav_status status = NAV_OK;
    bool formatted = false;
    if (!nav__text_take_word(t, "ply")) {
        return nav_fail(r->error, NAV_UNKNOWN_FORMAT, t->line, NAV_NO_BYTE, "no PLY: it does not begin with `ply`");
    }
    while (status == NAV_OK && !nav__text_take_word(t, "end_header")) {
        if (nav__text_take_word(t, "comment") || nav__text_take_word(t, "obj_info")) {
            skip_line(t);
        } else if (!formatted && nav__text_take_word(t, "format")) {
            formatted = true;
            status = read_format(r);
        } else if (formatted && nav__text_take_word(t, "element")) {
            status = read_element(r);
        } else if (formatted && nav__text_take_word(t, "property")) {
            status = read_property(r);
        } else {
            status = nav__text_fail(t, r->error, formatted ? "`element`, `property` or `end_header`" : "`format`");
        }
    }
    if (status == NAV_OK && t->p < t->end && nav__is_newline(*t->p)) {
        nav__text_newline(t);
    }
    return status == NAV_OK ? check_head(r) : status;
}

// Elements.

static nav_status fail_value(const ply_reader *r, const char *what)
{
    size_t line = r->ascii ? r->text.line : 0, byte = r->ascii ? NAV_NO_BYTE : nav__bytes_at(&r->bytes);
    return nav_fail(r->error, NAV_BAD_FORMAT, line, byte, "element %lld: %s", (long long)r->number, what);
}

static double binary_scalar(nav__bytes *b, scalar type)
{
    switch (type) {
    case INT8:
        return (int8_t)nav__bytes_u8(b);
    case INT16:
        return (int16_t)nav__bytes_u16(b);
    case INT32:
        return (int32_t)nav__bytes_u32(b);
    case FLOAT32:
        return nav__bytes_f32(b);
    case FLOAT64:
        return nav__bytes_f64(b);
    default:
        return (double)nav__bytes_number(b, scalars[type].size);
    }
}

/// One value, finite where it matters to us.
static nav_status read_value(ply_reader *r, scalar type, bool wanted, double *value)
{
    *value = 0;
    if (r->ascii && wanted) {
        return nav__text_number(&r->text, r->error, "a number", value);
    }
    if (r->ascii) {
        if (!nav__text_next_word(&r->text)) {
            return nav__text_fail(&r->text, r->error, "a number");
        }
        skip_word(&r->text);
        return NAV_OK;
    }
    *value = binary_scalar(&r->bytes, type);
    if (r->bytes.failed) {
        return fail_value(r, "the file ends early");
    }
    return !wanted || isfinite(*value) ? NAV_OK : fail_value(r, "a value is no finite number");
}

static nav_status read_list(ply_reader *r, const property *p)
{
    double count, value;
    nav_status status = read_value(r, p->count_type, true, &count);
    size_t left =
        r->ascii ? (size_t)nav__text_most_words(&r->text) : nav__bytes_left(&r->bytes) / scalars[p->type].size;
    if (status == NAV_OK && (count < 0 || count > (double)left || floor(count) != count)) {
        status = fail_value(r, "the length of a list is nonsense");
    }
    for (double k = 0; status == NAV_OK && k < count; k++) {
        status = read_value(r, p->type, p->role == CORNERS, &value);
        if (status != NAV_OK || p->role != CORNERS) {
            continue;
        }
        if (value < 0 || value >= r->vertex_count || floor(value) != value) {
            return fail_value(r, "a corner is no vertex of this file");
        }
        status = nav__list_push(&r->corners, &r->soup->alloc, (uint32_t)value) ? NAV_OK : NAV_NO_MEMORY;
    }
    return status;
}

static nav_status read_properties(ply_reader *r, const element *e)
{
    nav_status status = NAV_OK;
    r->corners.count = 0;
    for (uint32_t i = 0; status == NAV_OK && i < e->property_count; i++) {
        const property *p = &e->properties[i];
        status = p->list ? read_list(r, p) : read_value(r, p->type, p->role != SKIPPED, &r->values[p->role]);
    }
    return status;
}

static bool is_whole(double value, double most)
{
    return value >= 0 && value <= most && floor(value) == value;
}

static nav_status add_face(ply_reader *r)
{
    double area = r->values[AREA], flags = r->values[FLAGS];
    if (r->corners.count < 3) {
        return fail_value(r, "a face with fewer than three corners");
    }
    if (!is_whole(area, 255) || !is_whole(flags, UINT32_MAX)) {
        return fail_value(r, "a face's area is no number from 0 to 255, or its flags are no mask of 32 bits");
    }
    return nav_soup_add_polygon(r->soup, r->corners.data, r->corners.count, (uint8_t)area, (uint32_t)flags, NULL);
}

/// Bytes that one element takes at least.
static size_t least_size(const ply_reader *r, const element *e)
{
    size_t size = 0;
    for (uint32_t i = 0; i < e->property_count; i++) {
        const property *p = &e->properties[i];
        size += r->ascii ? 2 : scalars[p->list ? p->count_type : p->type].size;
    }
    return size;
}

static nav_status read_elements(ply_reader *r, const element *e)
{
    size_t left = r->ascii ? (size_t)(r->text.end - r->text.p) + 1 : nav__bytes_left(&r->bytes);
    size_t least = least_size(r, e);
    if (least == 0) {
        return NAV_OK; // of no properties: no bytes
    }
    if ((size_t)e->count > left / least) {
        return nav_fail(r->error, NAV_BAD_FORMAT, 0, NAV_NO_BYTE, "the file is too short for %lld %s",
                        (long long)e->count,
                        e->kind == VERTEX ? "vertices"
                        : e->kind == FACE ? "faces"
                                          : "elements");
    }
    nav_status status = e->kind == VERTEX ? nav_soup_reserve(r->soup, (size_t)e->count, 0, 0, false) : NAV_OK;
    for (r->number = 0; status == NAV_OK && r->number < e->count; r->number++) {
        status = read_properties(r, e);
        if (status == NAV_OK && e->kind == VERTEX) {
            status = nav_soup_add_vertex(r->soup, r->values[X], r->values[Y], r->values[Z]);
        } else if (status == NAV_OK && e->kind == FACE) {
            status = add_face(r);
        }
    }
    return status;
}

static nav_status read_ply(ply_reader *r)
{
    nav_status status = read_head(r);
    r->bytes.p = (const uint8_t *)r->text.p;
    for (uint32_t i = 0; status == NAV_OK && i < r->element_count; i++) {
        status = read_elements(r, &r->elements[i]);
    }
    if (status == NAV_OK && (r->ascii ? nav__text_next_word(&r->text) : nav__bytes_left(&r->bytes) > 0)) {
        status = fail_value(r, "more data behind the last element");
    }
    return status;
}

nav_status nav_read_ply(nav_soup *soup, const void *bytes, size_t size, nav_error *error)
{
    ply_reader r = {
        .soup = soup, .error = error, .text = nav__text_begin(bytes, size), .bytes = nav__bytes_begin(bytes, size)};
    strcpy(soup->format, "ply");
    nav_status status = read_ply(&r);
    nav__list_free(&r.corners, &soup->alloc);
    return nav__read_end(soup, status, error);
}
