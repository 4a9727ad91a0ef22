/// JSON meshes: {"vertices", "polygons" or "indices", "areas"?, "flags"?, "links"?, "up"?, "agent"?, "name"?}.
///
/// Such a file is nearly all numbers, a node of cJSON takes 64 bytes for each, and there may be millions.
/// So the arrays are read straight from the text into the soup, and only the small members (links, agent)
/// go through cJSON. Nothing here recurses, so nesting costs no stack.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh_read.h"
#include "number.h"

#define NAME_CAP 64
#define INDEX_MAX 0x7FFFFFFEu ///< more vertices than that fit in no soup

/// A growing array of numbers.
typedef struct numbers {
    uint32_t *data;
    size_t count, cap;
    bool given; ///< the file has this member
} numbers;

typedef struct json_reader {
    nav_soup *soup;
    api_json_mesh *extra;
    api_problem *problem;
    const char *start, *p, *end;
    numbers areas, flags, corners; ///< corners: of the polygon being read
    bool has_vertices, has_faces, triangles, has_up, has_agent, has_name, has_links;
    char member[NAME_CAP];         ///< being read, and where in it; for messages
    size_t index[2];
    int depth;
} json_reader;

// Complaints. All return false.

static bool fail(json_reader *r, const char *what)
{
    api_problem_set(r->problem, API_BAD_MESH, "byte %zu: %s", (size_t)(r->p - r->start), what);
    return false;
}

static bool fail_at(json_reader *r, const char *pointer, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool fail_at(json_reader *r, const char *pointer, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    api_problem_set(r->problem, API_BAD_MESH, "%.110s %s", pointer, text);
    snprintf(r->problem->pointer, sizeof r->problem->pointer, "%s", pointer);
    return false;
}

/// Complains about the entry that is being read.
static bool fail_here(json_reader *r, const char *what)
{
    char pointer[128];
    api_pointer_join(pointer, sizeof pointer, "", r->member);
    for (int k = 0; k < r->depth; k++) {
        size_t length = strlen(pointer);
        snprintf(pointer + length, sizeof pointer - length, "/%zu", r->index[k]);
    }
    return fail_at(r, pointer, "%s", what);
}

static bool fail_memory(json_reader *r)
{
    api_problem_set(r->problem, API_STORAGE_FULL, "not enough memory to read the mesh");
    return false;
}

static bool check(json_reader *r, nav_status status)
{
    return status == NAV_OK || (status == NAV_TOO_LARGE ? fail(r, nav_status_text(status)) : fail_memory(r));
}

// The text.

static void skip_space(json_reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\r' || *r->p == '\t')) {
        r->p++;
    }
}

/// Steps over white space and `c`, if it is there.
static bool take(json_reader *r, char c)
{
    skip_space(r);
    bool there = r->p < r->end && *r->p == c;
    r->p += there;
    return there;
}

/// Walks a list: `while (more(r, &list)) { read an entry }`, then r->problem tells a failure from the end.
typedef struct list {
    char close;
    bool begun, failed;
} list;

static bool more(json_reader *r, list *l)
{
    if (take(r, l->close)) {
        return false;
    }
    if (l->begun && !take(r, ',')) {
        l->failed = true;
        return fail(r, l->close == ']' ? "expected `,` or `]`" : "expected `,` or `}`");
    }
    l->begun = true;
    return true;
}

/// Steps over a string whose opening quote is at the cursor, without looking into it.
static bool skip_string(json_reader *r)
{
    const char *quote = r->p++;
    while (r->p < r->end && *r->p != '"') {
        r->p += *r->p == '\\' && r->end - r->p > 1 ? 2 : 1;
    }
    if (r->p == r->end) {
        r->p = quote;
        return fail(r, "a string that does not end");
    }
    r->p++;
    return true;
}

/// Steps over a member's value, to the comma or bracket behind it. What it holds is for cJSON to check.
static bool skip_value(json_reader *r)
{
    size_t depth = 0;
    while (r->p < r->end && (depth > 0 || (*r->p != ',' && *r->p != ']' && *r->p != '}'))) {
        if (*r->p == '"') {
            if (!skip_string(r)) {
                return false;
            }
        } else {
            depth += *r->p == '[' || *r->p == '{';
            depth -= *r->p == ']' || *r->p == '}';
            r->p++;
        }
    }
    return r->p < r->end || fail(r, "the file ends within a value");
}

/// The value at the cursor as cJSON's. NULL on failure.
static cJSON *read_tree(json_reader *r)
{
    skip_space(r);
    const char *begin = r->p;
    if (!skip_value(r)) {
        return NULL;
    }
    cJSON *value = api_json_parse(begin, (size_t)(r->p - begin), API_SETTINGS_DEPTH, r->problem);
    if (!value) {
        if (r->problem->code != API_BAD_JSON) {
            fail_memory(r);
        } else {
            char detail[200];
            snprintf(detail, sizeof detail, "%.199s", r->problem->detail);
            r->depth = 0;
            fail_here(r, detail);
        }
    }
    return value;
}

/// A member's name and the colon behind it. Escapes are decoded by cJSON: hardly anybody writes them.
static bool read_name(json_reader *r, char name[NAME_CAP])
{
    skip_space(r);
    if (r->p == r->end || *r->p != '"') {
        return fail(r, "expected the name of a member");
    }
    const char *begin = r->p;
    if (!skip_string(r)) {
        return false;
    }
    size_t length = (size_t)(r->p - begin);
    if (memchr(begin, '\\', length)) {
        cJSON *text = api_json_parse(begin, length, 1, r->problem);
        snprintf(name, NAME_CAP, "%.63s", text ? text->valuestring : "?");
        cJSON_Delete(text);
    } else {
        snprintf(name, NAME_CAP, "%.*s", (int)(length - 2 < NAME_CAP ? length - 2 : NAME_CAP - 1), begin + 1);
    }
    return take(r, ':') || fail(r, "expected `:`");
}

static bool read_number(json_reader *r, double *value)
{
    skip_space(r);
    size_t length = api_number_length(r->p, (size_t)(r->end - r->p));
    if (length == 0) {
        return fail_here(r, "is not a number");
    }
    if (api_number_parse(r->p, length, value) != API_NUMBER_OK) {
        return fail_here(r, "is a number out of range");
    }
    r->p += length;
    return true;
}

/// A whole number from 0 to `max`.
static bool read_whole(json_reader *r, uint32_t max, uint32_t *value)
{
    skip_space(r);
    const char *p = r->p;
    uint64_t n = 0;
    while (p < r->end && *p >= '0' && *p <= '9' && n <= UINT32_MAX) {
        n = 10 * n + (uint64_t)(*p++ - '0');
    }
    bool plain = p > r->p && (*r->p != '0' || p == r->p + 1) && n <= UINT32_MAX &&
                 (p == r->end || (*p != '.' && *p != 'e' && *p != 'E'));
    if (plain) {
        r->p = p;
    } else { // 3.0 and 3e0 are whole too
        double number;
        if (!read_number(r, &number)) {
            return false;
        }
        if (number < 0 || number > UINT32_MAX || floor(number) != number) {
            return fail_here(r, "is not a whole number of 32 bits");
        }
        n = (uint64_t)number;
    }
    if (n > max) {
        return fail_here(r, "is too large");
    }
    *value = (uint32_t)n;
    return true;
}

static bool push(json_reader *r, numbers *n, uint32_t value)
{
    if (n->count == n->cap) {
        size_t cap = n->cap ? 2 * n->cap : 64;
        uint32_t *data = realloc(n->data, cap * sizeof *data);
        if (!data) {
            return fail_memory(r);
        }
        n->data = data;
        n->cap = cap;
    }
    n->data[n->count++] = value;
    return true;
}

// Members.

/// {"x": 1, "y": 2, "z": 3} in any order. @return how many numbers, 0 on failure
static int read_vertex_object(json_reader *r, double v[3])
{
    unsigned seen = 0;
    list l = {.close = '}'};
    while (more(r, &l)) {
        char name[NAME_CAP];
        if (!read_name(r, name)) {
            return 0;
        }
        int k = name[0] - 'x';
        if (k < 0 || k > 2 || name[1] != '\0') {
            fail_here(r, "has a member that is not x, y or z");
            return 0;
        }
        if (seen & 1u << k) {
            fail_here(r, "has a coordinate twice");
            return 0;
        }
        seen |= 1u << k;
        if (!read_number(r, &v[k])) {
            return 0;
        }
    }
    if (l.failed) {
        return 0;
    }
    if (seen != 7 && seen != 3) {
        fail_here(r, "needs x, y and z, or x and y");
        return 0;
    }
    return seen == 7 ? 3 : 2;
}

/// [1, 2, 3] or [1, 2]. @return how many numbers, 0 on failure
static int read_vertex_array(json_reader *r, double v[3])
{
    int count = 0;
    list l = {.close = ']'};
    r->depth = 2;
    while (more(r, &l)) {
        r->index[1] = (size_t)count;
        if (count == 3) {
            fail_here(r, "is one number too many");
            return 0;
        }
        if (!read_number(r, &v[count++])) {
            return 0;
        }
    }
    r->depth = 1;
    if (!l.failed && count < 2) {
        fail_here(r, "needs two or three numbers");
        return 0;
    }
    return l.failed ? 0 : count;
}

static bool read_vertices(json_reader *r)
{
    list l = {.close = ']'};
    if (!take(r, '[')) {
        return fail_here(r, "must be an array");
    }
    while (more(r, &l)) {
        double v[3] = {0};
        r->index[0] = r->soup->vertex_count;
        r->depth = 1;
        bool array = take(r, '[');
        if (!array && !take(r, '{')) {
            return fail_here(r, "must be [x, y, z] or {\"x\", \"y\", \"z\"}");
        }
        int count = array ? read_vertex_array(r, v) : read_vertex_object(r, v);
        if (count == 0) {
            return false;
        }
        if (r->soup->vertex_count == 0) {
            r->soup->dimensions = count;
        } else if (r->soup->dimensions != count) {
            return fail_here(r, count == 2 ? "has two numbers where the first vertex has three"
                                           : "has three numbers where the first vertex has two");
        }
        bool flat = count == 2;
        if (!check(r, nav_soup_add_vertex(r->soup, v[0], flat ? 0 : v[1], flat ? v[1] : v[2]))) {
            return false;
        }
    }
    return !l.failed;
}

static bool begin_faces(json_reader *r, bool triangles)
{
    if (r->has_faces) {
        return fail_here(r, "is one too many: a mesh has `polygons` or `indices`");
    }
    r->has_faces = true;
    r->triangles = triangles;
    return take(r, '[') || fail_here(r, "must be an array");
}

static bool read_polygons(json_reader *r)
{
    list l = {.close = ']'};
    if (!begin_faces(r, false)) {
        return false;
    }
    while (more(r, &l)) {
        r->index[0] = r->soup->poly_count;
        r->depth = 1;
        r->corners.count = 0;
        if (!take(r, '[')) {
            return fail_here(r, "must be an array of vertex numbers");
        }
        list corners = {.close = ']'};
        r->depth = 2;
        while (more(r, &corners)) {
            uint32_t vertex;
            r->index[1] = r->corners.count;
            if (!read_whole(r, INDEX_MAX, &vertex) || !push(r, &r->corners, vertex)) {
                return false;
            }
        }
        r->depth = 1;
        if (corners.failed) {
            return false;
        }
        if (r->corners.count < 3) {
            return fail_here(r, "has fewer than three corners");
        }
        if (r->corners.count > INDEX_MAX ||
            !check(r, nav_soup_add_polygon(r->soup, r->corners.data, (uint32_t)r->corners.count, 0, 0, NULL))) {
            return false;
        }
    }
    return !l.failed;
}

static bool read_indices(json_reader *r)
{
    list l = {.close = ']'};
    uint32_t corners[3];
    size_t count = 0;
    if (!begin_faces(r, true)) {
        return false;
    }
    r->depth = 1;
    for (; more(r, &l); count++) {
        r->index[0] = count;
        if (!read_whole(r, INDEX_MAX, &corners[count % 3])) {
            return false;
        }
        if (count % 3 == 2 && !check(r, nav_soup_add_polygon(r->soup, corners, 3, 0, 0, NULL))) {
            return false;
        }
    }
    r->depth = 0;
    return !l.failed && (count % 3 == 0 || fail_here(r, "does not hold three numbers for each triangle"));
}

static bool read_wholes(json_reader *r, numbers *n, uint32_t max)
{
    list l = {.close = ']'};
    if (n->given) {
        return fail_here(r, "is given twice");
    }
    n->given = true;
    if (!take(r, '[')) {
        return fail_here(r, "must be an array");
    }
    r->depth = 1;
    while (more(r, &l)) {
        uint32_t value;
        r->index[0] = n->count;
        if (!read_whole(r, max, &value) || !push(r, n, value)) {
            return false;
        }
    }
    r->depth = 0;
    return !l.failed;
}

static bool read_up(json_reader *r)
{
    cJSON *value = read_tree(r);
    const char *text = cJSON_GetStringValue(value);
    bool known = text && (strcmp(text, "y") == 0 || strcmp(text, "z") == 0);
    r->extra->up = known ? text[0] : 0;
    bool failed = !value;
    cJSON_Delete(value);
    return !failed && (known || fail_here(r, "must be \"y\" or \"z\""));
}

static bool read_agent(json_reader *r)
{
    const api_place place = {.problem = r->problem};
    cJSON *value = read_tree(r);
    if (!value) {
        return false;
    }
    bool ok = api_agent_read(&r->soup->agent, value, "/agent", &place);
    cJSON_Delete(value);
    r->soup->has_agent = true;
    if (!ok) {
        char pointer[128], detail[200];
        snprintf(pointer, sizeof pointer, "%s", r->problem->pointer);
        snprintf(detail, sizeof detail, "%.199s", r->problem->detail);
        return fail_at(r, pointer, "%s", detail);
    }
    return true;
}

static bool read_links(json_reader *r)
{
    r->extra->links = read_tree(r);
    return r->extra->links != NULL;
}

static bool read_title(json_reader *r)
{
    cJSON *value = read_tree(r);
    cJSON_Delete(value);
    return value != NULL;
}

/// Marks a member that may stand once.
static bool once(json_reader *r, bool *seen)
{
    if (*seen) {
        return fail_here(r, "is given twice");
    }
    *seen = true;
    return true;
}

static bool read_member(json_reader *r)
{
    const char *name = r->member;
    r->depth = 0;
    if (strcmp(name, "vertices") == 0) {
        return once(r, &r->has_vertices) && read_vertices(r);
    }
    if (strcmp(name, "polygons") == 0) {
        return read_polygons(r);
    }
    if (strcmp(name, "indices") == 0) {
        return read_indices(r);
    }
    if (strcmp(name, "areas") == 0) {
        return read_wholes(r, &r->areas, 255);
    }
    if (strcmp(name, "flags") == 0) {
        return read_wholes(r, &r->flags, UINT32_MAX);
    }
    if (strcmp(name, "links") == 0) {
        return once(r, &r->has_links) && read_links(r);
    }
    if (strcmp(name, "up") == 0) {
        return once(r, &r->has_up) && read_up(r);
    }
    if (strcmp(name, "agent") == 0) {
        return once(r, &r->has_agent) && read_agent(r);
    }
    if (strcmp(name, "name") == 0) {
        return once(r, &r->has_name) && read_title(r);
    }
    return fail_here(r, "is no member of a mesh: known are vertices, polygons, indices, areas, flags, links, up, agent "
                        "and name");
}

static bool read_object(json_reader *r)
{
    list l = {.close = '}'};
    if (r->end - r->p >= 3 && memcmp(r->p, "\xEF\xBB\xBF", 3) == 0) {
        r->p += 3;
    }
    if (!take(r, '{')) {
        return fail(r, "a JSON mesh is an object");
    }
    while (more(r, &l)) {
        if (!read_name(r, r->member) || !read_member(r)) {
            return false;
        }
    }
    if (l.failed) {
        return false;
    }
    skip_space(r);
    return r->p == r->end || fail(r, "more text after the mesh");
}

// The whole.

/// Vertex numbers can be judged only when all vertices are known, whatever the members' order.
static bool check_corners(json_reader *r)
{
    const nav_soup *s = r->soup;
    for (uint32_t p = 0; p < s->poly_count; p++) {
        for (uint32_t c = s->poly_first[p]; c < s->poly_first[p + 1]; c++) {
            if (s->corners[c] < s->vertex_count) {
                continue;
            }
            char pointer[64];
            if (r->triangles) {
                snprintf(pointer, sizeof pointer, "/indices/%u", (unsigned)c);
            } else {
                snprintf(pointer, sizeof pointer, "/polygons/%u/%u", (unsigned)p, (unsigned)(c - s->poly_first[p]));
            }
            return fail_at(r, pointer, "is vertex %u, but there are %u", (unsigned)s->corners[c],
                           (unsigned)s->vertex_count);
        }
    }
    return true;
}

static bool check_count(json_reader *r, const numbers *n, const char *pointer)
{
    return !n->given || n->count == r->soup->poly_count ||
           fail_at(r, pointer, "has %zu entries for %u %s", n->count, (unsigned)r->soup->poly_count,
                   r->triangles ? "triangles" : "polygons");
}

static bool finish(json_reader *r)
{
    nav_soup *s = r->soup;
    if (s->vertex_count == 0) {
        return fail_at(r, "/vertices", "is %s", r->has_vertices ? "empty" : "missing");
    }
    if (s->poly_count == 0) {
        return r->has_faces ? fail_at(r, r->triangles ? "/indices" : "/polygons", "is empty")
                            : fail_at(r, "/polygons", "is missing, and so is /indices");
    }
    if (!check_corners(r) || !check_count(r, &r->areas, "/areas") || !check_count(r, &r->flags, "/flags")) {
        return false;
    }
    s->has_areas = r->areas.given;
    s->has_flags = r->flags.given;
    for (uint32_t p = 0; p < s->poly_count; p++) {
        s->areas[p] = r->areas.given ? (uint8_t)r->areas.data[p] : 0;
        s->flags[p] = r->flags.given ? r->flags.data[p] : 0;
    }
    return true;
}

/// JSON of other programs, told by a member that ours never has. @return NULL: none known
static const char *find_foreign(const json_reader *failed)
{
    static const struct {
        const char *member, *what;
    } foreign[] = {
        {"asset", "a glTF, which this version does not read: export it as OBJ"},
        {"tilewidth", "a Tiled map, which this version does not read"},
        {"max_vertices_per_polygon", "a dump of Recast's polygon mesh, which is not read: export a Detour set (MSET)"},
    };
    api_problem ignored;
    json_reader r = {.problem = &ignored, .start = failed->start, .p = failed->start, .end = failed->end};
    list l = {.close = '}'};
    char name[NAME_CAP];
    if (!take(&r, '{')) {
        return NULL;
    }
    while (more(&r, &l) && read_name(&r, name) && skip_value(&r)) {
        for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
            if (strcmp(name, foreign[i].member) == 0) {
                return foreign[i].what;
            }
        }
    }
    return NULL;
}

bool api_json_mesh_read(nav_soup *soup, const char *bytes, size_t size, api_json_mesh *extra, api_problem *problem)
{
    json_reader r = {.soup = soup, .extra = extra, .problem = problem, .start = bytes, .p = bytes, .end = bytes + size};
    *extra = (api_json_mesh){0};
    strcpy(soup->format, "json");
    bool ok = read_object(&r) && finish(&r);
    if (!ok) {
        const char *what = problem->code == API_BAD_MESH ? find_foreign(&r) : NULL;
        if (what) {
            api_problem_set(problem, API_UNSUPPORTED_MEDIA_TYPE, "this is %s", what);
        }
        nav_soup_deinit(soup);
        cJSON_Delete(extra->links);
        *extra = (api_json_mesh){0};
    }
    free(r.areas.data);
    free(r.flags.data);
    free(r.corners.data);
    return ok;
}
