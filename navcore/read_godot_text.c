/// Godot's text resources and scenes (.tres, .tscn), of Godot 3 and 4:
///
///     [gd_resource type="NavigationMesh" format=3]   or [gd_scene …], then
///     [sub_resource type="NavigationPolygon" id="1"] and what it has, and
///     [resource]
///     vertices = PackedVector3Array(0, 1, 0, …)      Pool… in Godot 3
///     polygons = [PackedInt32Array(0, 1, 2), …]      or Array[PackedInt32Array]([…])
///
/// Faces are clockwise from above; y is up, in two dimensions down.
#include "nav_number.h"
#include "read_godot.h"

#include <math.h>
#include <string.h>

typedef struct text_reader {
    nav__godot godot;
    nav__text text;
    bool main_wanted; ///< the file's own resource is a navigation mesh
    char main_type[32];
    bool inside; ///< a resource is being read
} text_reader;

typedef struct word {
    const char *at;
    size_t length;
} word;

static bool is(word w, const char *wanted)
{
    return strlen(wanted) == w.length && memcmp(w.at, wanted, w.length) == 0;
}

static nav_status expected(text_reader *r, const char *what)
{
    return nav__text_fail(&r->text, r->godot.error, what);
}

static bool take(nav__text *t, char c)
{
    nav__text_next_word(t);
    bool there = t->p < t->end && *t->p == c;
    t->p += there;
    return there;
}

/// Letters, digits, and what stands between them in names: `agent/radius`, `metadata/_x`.
static word take_name(nav__text *t)
{
    nav__text_next_word(t);
    word w = {t->p, 0};
    while (t->p < t->end &&
           (strchr("/_.:-", *t->p)
                ? *t->p != '\0'
                : (*t->p >= '0' && *t->p <= '9') || (*t->p >= 'A' && *t->p <= 'Z') || (*t->p >= 'a' && *t->p <= 'z'))) {
        t->p++;
    }
    w.length = (size_t)(t->p - w.at);
    return w;
}

/// A string whose opening quote is at the cursor. @return false: it does not end
static bool take_string(nav__text *t, word *w)
{
    w->at = ++t->p;
    while (t->p < t->end && *t->p != '"') {
        if (*t->p == '\\' && t->end - t->p > 1) {
            t->p++;
        }
        if (nav__is_newline(*t->p)) {
            nav__text_newline(t);
        } else {
            t->p++;
        }
    }
    w->length = (size_t)(t->p - w->at);
    bool ended = t->p < t->end;
    t->p += ended;
    return ended;
}

/// Steps over a value of any kind: to the end of the line or the `]` of a tag, outside of brackets and strings.
static nav_status skip_value(text_reader *r, bool in_tag)
{
    nav__text *t = &r->text;
    size_t depth = 0;
    word ignored;
    while (t->p < t->end) {
        char c = *t->p;
        if (depth == 0 && (nav__is_newline(c) || (in_tag && (nav__is_blank(c) || c == ']')))) {
            return NAV_OK;
        }
        if (c == '"') {
            if (!take_string(t, &ignored)) {
                return expected(r, "the end of a string");
            }
            continue;
        }
        depth += c == '[' || c == '{' || c == '(';
        depth -= depth > 0 && (c == ']' || c == '}' || c == ')');
        if (nav__is_newline(c)) {
            nav__text_newline(t);
        } else {
            t->p++;
        }
    }
    return depth == 0 ? NAV_OK : expected(r, "a closing bracket");
}

static nav_status end_resource(text_reader *r)
{
    nav_status status = r->inside ? nav__godot_end(&r->godot) : NAV_OK;
    r->inside = false;
    return status;
}

/// `[name key=value …]`, the bracket read.
static nav_status read_tag(text_reader *r)
{
    nav__text *t = &r->text;
    word name = take_name(t), type = {"", 0};
    nav_status status = end_resource(r);
    while (status == NAV_OK && !take(t, ']')) {
        word key = take_name(t);
        if (key.length == 0 || !take(t, '=')) {
            return expected(r, "a key and `=`, or `]`");
        }
        nav__text_next_word(t);
        if (is(key, "type") && t->p < t->end && *t->p == '"') {
            status = take_string(t, &type) ? NAV_OK : expected(r, "the end of a string");
        } else {
            status = skip_value(r, true);
        }
    }
    if (status != NAV_OK) {
        return status;
    }
    bool wanted = nav__godot_is_wanted(type.at, type.length);
    if (is(name, "gd_resource")) {
        r->main_wanted = wanted;
        size_t length = type.length < sizeof r->main_type ? type.length : sizeof r->main_type - 1;
        memcpy(r->main_type, type.at, length);
        r->main_type[length] = '\0';
        return NAV_OK;
    }
    if (is(name, "sub_resource") && wanted) {
        r->inside = true;
        return nav__godot_begin(&r->godot, type.at, type.length);
    }
    if (is(name, "resource") && r->main_wanted) {
        r->inside = true;
        return nav__godot_begin(&r->godot, r->main_type, strlen(r->main_type));
    }
    return NAV_OK;
}

static nav_status read_number(text_reader *r, double *value)
{
    nav__text *t = &r->text;
    nav__text_next_word(t);
    const char *behind = nav_number_parse(t->p, t->end, value);
    if (!behind || !isfinite(*value)) {
        return expected(r, "a number");
    }
    t->p = behind;
    return NAV_OK;
}

/// Steps over the name of a packed array (`old` in Godot 3) and its bracket.
static nav_status open_packed(text_reader *r, const char *name, const char *old)
{
    word w = take_name(&r->text);
    if ((!is(w, name) && !is(w, old)) || !take(&r->text, '(')) {
        r->text.p = w.at;
        return expected(r, name);
    }
    return NAV_OK;
}

/// Before the next number of a list: steps over its comma or its closing bracket. @return false: closed, or bad
static bool more(text_reader *r, bool *begun, char close, nav_status *status)
{
    if (take(&r->text, close)) {
        return false;
    }
    if (*begun && !take(&r->text, ',')) {
        *status = expected(r, "`,` or a closing bracket");
        return false;
    }
    if (*begun && take(&r->text, close)) { // a comma before the bracket is fine
        return false;
    }
    *begun = true;
    return true;
}

/// A packed array of positions, each added as a vertex or to an outline.
static nav_status read_positions(text_reader *r, int size, bool outline)
{
    double v[3] = {0, 0, 0};
    int have = 0;
    bool begun = false;
    nav_status status = size == 3 ? open_packed(r, "PackedVector3Array", "PoolVector3Array")
                                  : open_packed(r, "PackedVector2Array", "PoolVector2Array");
    while (status == NAV_OK && more(r, &begun, ')', &status)) {
        status = read_number(r, &v[have++]);
        if (status == NAV_OK && have == size) {
            status = outline ? nav__godot_outline_point(&r->godot, v[0], v[1])
                             : nav__godot_vertex(&r->godot, v[0], v[1], v[2]);
            have = 0;
        }
    }
    return status == NAV_OK && have != 0 ? expected(r, "as many numbers as whole positions take") : status;
}

static nav_status read_polygon(text_reader *r)
{
    bool begun = false;
    nav_status status = open_packed(r, "PackedInt32Array", "PoolIntArray");
    r->godot.polygon.count = 0;
    while (status == NAV_OK && more(r, &begun, ')', &status)) {
        nav__text *t = &r->text;
        int64_t number;
        nav__text_next_word(t);
        const char *behind = nav_integer_parse(t->p, t->end, &number);
        if (!behind || number < 0 || number > INT32_MAX) {
            return expected(r, "the number of a vertex");
        }
        t->p = behind;
        if (!nav__list_push(&r->godot.polygon, &r->godot.soup->alloc, (uint32_t)number)) {
            return NAV_NO_MEMORY;
        }
    }
    return status == NAV_OK ? nav__godot_polygon(&r->godot) : status;
}

/// `[…, …]` or `Array[Type]([…, …])`, its entries polygons or outlines.
static nav_status read_list(text_reader *r, bool outlines)
{
    nav__text *t = &r->text;
    word typed = take_name(t);
    bool begun = false;
    if (is(typed, "Array")) {
        if (!take(t, '[') || take_name(t).length == 0 || !take(t, ']') || !take(t, '(')) {
            return expected(r, "`Array[Type]([`");
        }
    } else if (typed.length > 0) {
        t->p = typed.at;
        return expected(r, "an array");
    }
    nav_status status = take(t, '[') ? NAV_OK : expected(r, "`[`");
    while (status == NAV_OK && more(r, &begun, ']', &status)) {
        if (outlines) {
            status = read_positions(r, 2, true);
            status = status == NAV_OK ? nav__godot_end_outline(&r->godot) : status;
        } else {
            status = read_polygon(r);
        }
    }
    if (status == NAV_OK && typed.length > 0 && !take(t, ')')) {
        return expected(r, "`)`");
    }
    return status;
}

/// `name = value`, its name not read yet.
static nav_status read_property(text_reader *r)
{
    nav__text *t = &r->text;
    word name = {t->p, 0};
    if (*t->p == '"') {
        if (!take_string(t, &name)) {
            return expected(r, "the end of a string");
        }
    } else {
        name = take_name(t);
    }
    if (name.length == 0 || !take(t, '=')) {
        return expected(r, "`[`, or a name and `=`");
    }
    nav__text_next_word(t);
    bool flat = r->godot.soup->dimensions == 2;
    if (r->inside && is(name, "vertices")) {
        return read_positions(r, flat ? 2 : 3, false);
    }
    if (r->inside && is(name, "polygons")) {
        return read_list(r, false);
    }
    if (r->inside && flat && is(name, "outlines")) {
        return read_list(r, true);
    }
    double number;
    if (r->inside && nav_number_parse(t->p, t->end, &number)) {
        nav__godot_number(&r->godot, name.at, name.length, number);
    }
    return skip_value(r, false);
}

static nav_status read_text(text_reader *r)
{
    nav__text *t = &r->text;
    nav_status status = NAV_OK;
    if (!nav__text_next_word(t) || t->end - t->p < 4 || memcmp(t->p, "[gd_", 4) != 0) {
        return nav_fail(r->godot.error, NAV_UNKNOWN_FORMAT, t->line, NAV_NO_BYTE, "no Godot resource");
    }
    while (status == NAV_OK && nav__text_next_word(t)) {
        if (*t->p == ';') { // a comment
            while (t->p < t->end && !nav__is_newline(*t->p)) {
                t->p++;
            }
        } else {
            status = take(t, '[') ? read_tag(r) : read_property(r);
        }
    }
    if (status == NAV_OK) {
        status = end_resource(r);
    }
    if (status == NAV_OK && r->godot.soup->poly_count == 0) {
        return nav_fail(r->godot.error, NAV_BAD_FORMAT, 0, NAV_NO_BYTE,
                        r->godot.resources > 0 ? "the navigation mesh has no polygons: bake it in Godot"
                                               : "the file holds a resource `%s` and no NavigationMesh or "
                                                 "NavigationPolygon",
                        r->main_type);
    }
    return status;
}

nav_status nav_read_godot_text(nav_soup *soup, const void *bytes, size_t size, nav_error *error)
{
    text_reader r = {.godot = {.soup = soup, .error = error}, .text = nav__text_begin(bytes, size)};
    strcpy(soup->format, "godot");
    nav_status status = read_text(&r);
    if (status == NAV_OK && r.godot.resources > 1) {
        nav_soup_warn(soup, "%u navigation meshes in one file: where the scene's nodes put them is not looked at",
                      r.godot.resources);
    }
    nav__godot_deinit(&r.godot);
    return nav__read_end(soup, status, error);
}
