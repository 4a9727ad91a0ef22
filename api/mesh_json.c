/// JSON meshes: {"vertices", "polygons" or "indices", "areas"?, "flags"?, "links"?, "up"?, "agent"?, "name"?}.
///
/// Such a file is nearly all numbers, a node of cJSON takes 64 bytes for each, and there may be millions.
/// So the arrays are read straight from the text into the soup, and only the small members (links, agent)
/// go through cJSON.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_stream.h"
#include "mesh_read.h"

#define INDEX_MAX 0x7FFFFFFEu ///< more vertices than that fit in no soup

/// A growing array of numbers.
typedef struct numbers {
    uint32_t *data;
    size_t count, cap;
    bool given; ///< the file has this member
} numbers;

typedef struct json_reader {
    api_stream text;
    nav_soup *soup;
    api_file_extra *extra;
    numbers areas, flags, corners; ///< corners: of the polygon being read
    bool has_vertices, has_faces, triangles, has_up, has_agent, has_name, has_links;
} json_reader;

static bool check(json_reader *r, nav_status status)
{
    if (status == NAV_TOO_LARGE) {
        return api_stream_fail(&r->text, nav_status_text(status));
    }
    return status == NAV_OK || api_stream_fail_memory(&r->text);
}

static bool push(json_reader *r, numbers *n, uint32_t value)
{
    if (n->count == n->cap) {
        size_t cap = n->cap ? 2 * n->cap : 64;
        uint32_t *data = realloc(n->data, cap * sizeof *data);
        if (!data) {
            return api_stream_fail_memory(&r->text);
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
    api_stream *t = &r->text;
    unsigned seen = 0;
    api_stream_list l = {.close = '}'};
    while (api_stream_more(t, &l)) {
        char name[API_STREAM_NAME_CAP];
        if (!api_stream_name(t, name)) {
            return 0;
        }
        int k = name[0] - 'x';
        if (k < 0 || k > 2 || name[1] != '\0') {
            api_stream_fail_here(t, "has a member that is not x, y or z");
            return 0;
        }
        if (seen & 1u << k) {
            api_stream_fail_here(t, "has a coordinate twice");
            return 0;
        }
        seen |= 1u << k;
        if (!api_stream_number(t, &v[k])) {
            return 0;
        }
    }
    if (l.failed) {
        return 0;
    }
    if (seen != 7 && seen != 3) {
        api_stream_fail_here(t, "needs x, y and z, or x and y");
        return 0;
    }
    return seen == 7 ? 3 : 2;
}

/// [1, 2, 3] or [1, 2]. @return how many numbers, 0 on failure
static int read_vertex_array(json_reader *r, double v[3])
{
    api_stream *t = &r->text;
    int count = 0;
    api_stream_list l = {.close = ']'};
    t->depth = 2;
    while (api_stream_more(t, &l)) {
        t->index[1] = (size_t)count;
        if (count == 3) {
            api_stream_fail_here(t, "is one number too many");
            return 0;
        }
        if (!api_stream_number(t, &v[count++])) {
            return 0;
        }
    }
    t->depth = 1;
    if (!l.failed && count < 2) {
        api_stream_fail_here(t, "needs two or three numbers");
        return 0;
    }
    return l.failed ? 0 : count;
}

static bool read_vertices(json_reader *r)
{
    api_stream *t = &r->text;
    api_stream_list l = {.close = ']'};
    if (!api_stream_take(t, '[')) {
        return api_stream_fail_here(t, "must be an array");
    }
    while (api_stream_more(t, &l)) {
        double v[3] = {0};
        t->index[0] = r->soup->vertex_count;
        t->depth = 1;
        bool array = api_stream_take(t, '[');
        if (!array && !api_stream_take(t, '{')) {
            return api_stream_fail_here(t, "must be [x, y, z] or {\"x\", \"y\", \"z\"}");
        }
        int count = array ? read_vertex_array(r, v) : read_vertex_object(r, v);
        if (count == 0) {
            return false;
        }
        if (r->soup->vertex_count == 0) {
            r->soup->dimensions = count;
        } else if (r->soup->dimensions != count) {
            return api_stream_fail_here(t, count == 2 ? "has two numbers where the first vertex has three"
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
    api_stream *t = &r->text;
    if (r->has_faces) {
        return api_stream_fail_here(t, "is one too many: a mesh has `polygons` or `indices`");
    }
    r->has_faces = true;
    r->triangles = triangles;
    return api_stream_take(t, '[') || api_stream_fail_here(t, "must be an array");
}

static bool read_polygons(json_reader *r)
{
    api_stream *t = &r->text;
    api_stream_list l = {.close = ']'};
    if (!begin_faces(r, false)) {
        return false;
    }
    while (api_stream_more(t, &l)) {
        t->index[0] = r->soup->poly_count;
        t->depth = 1;
        r->corners.count = 0;
        if (!api_stream_take(t, '[')) {
            return api_stream_fail_here(t, "must be an array of vertex numbers");
        }
        api_stream_list corners = {.close = ']'};
        t->depth = 2;
        while (api_stream_more(t, &corners)) {
            uint32_t vertex;
            t->index[1] = r->corners.count;
            if (!api_stream_whole(t, INDEX_MAX, &vertex) || !push(r, &r->corners, vertex)) {
                return false;
            }
        }
        t->depth = 1;
        if (corners.failed) {
            return false;
        }
        if (r->corners.count < 3) {
            return api_stream_fail_here(t, "has fewer than three corners");
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
    api_stream *t = &r->text;
    api_stream_list l = {.close = ']'};
    uint32_t corners[3];
    size_t count = 0;
    if (!begin_faces(r, true)) {
        return false;
    }
    t->depth = 1;
    for (; api_stream_more(t, &l); count++) {
        t->index[0] = count;
        if (!api_stream_whole(t, INDEX_MAX, &corners[count % 3])) {
            return false;
        }
        if (count % 3 == 2 && !check(r, nav_soup_add_polygon(r->soup, corners, 3, 0, 0, NULL))) {
            return false;
        }
    }
    t->depth = 0;
    return !l.failed && (count % 3 == 0 || api_stream_fail_here(t, "does not hold three numbers for each triangle"));
}

static bool read_wholes(json_reader *r, numbers *n, uint32_t max)
{
    api_stream *t = &r->text;
    api_stream_list l = {.close = ']'};
    if (n->given) {
        return api_stream_fail_here(t, "is given twice");
    }
    n->given = true;
    if (!api_stream_take(t, '[')) {
        return api_stream_fail_here(t, "must be an array");
    }
    t->depth = 1;
    while (api_stream_more(t, &l)) {
        uint32_t value;
        t->index[0] = n->count;
        if (!api_stream_whole(t, max, &value) || !push(r, n, value)) {
            return false;
        }
    }
    t->depth = 0;
    return !l.failed;
}

static bool read_up(json_reader *r)
{
    api_stream *t = &r->text;
    cJSON *value = api_stream_tree(t, API_SETTINGS_DEPTH);
    const char *text = cJSON_GetStringValue(value);
    bool known = text && (strcmp(text, "y") == 0 || strcmp(text, "z") == 0);
    r->extra->up = known ? text[0] : 0;
    bool failed = !value;
    cJSON_Delete(value);
    return !failed && (known || api_stream_fail_here(t, "must be \"y\" or \"z\""));
}

static bool read_agent(json_reader *r)
{
    api_stream *t = &r->text;
    const api_place place = {.problem = t->problem};
    cJSON *value = api_stream_tree(t, API_SETTINGS_DEPTH);
    if (!value) {
        return false;
    }
    bool ok = api_agent_read(&r->soup->agent, value, "/agent", &place);
    cJSON_Delete(value);
    r->soup->has_agent = true;
    if (!ok) {
        char pointer[128], detail[200];
        snprintf(pointer, sizeof pointer, "%s", t->problem->pointer);
        snprintf(detail, sizeof detail, "%.199s", t->problem->detail);
        return api_stream_fail_at(t, pointer, "%s", detail);
    }
    return true;
}

static bool read_links(json_reader *r)
{
    r->extra->links = api_stream_tree(&r->text, API_SETTINGS_DEPTH);
    return r->extra->links != NULL;
}

/// A mesh may have a name of its own; it is called by its id here.
static bool read_title(json_reader *r)
{
    cJSON *value = api_stream_tree(&r->text, API_SETTINGS_DEPTH);
    bool ok = value != NULL;
    cJSON_Delete(value);
    return ok;
}

/// Marks a member that may stand once.
static bool once(json_reader *r, bool *seen)
{
    if (*seen) {
        return api_stream_fail_here(&r->text, "is given twice");
    }
    *seen = true;
    return true;
}

static bool read_member(json_reader *r)
{
    api_stream *t = &r->text;
    const char *name = t->member;
    t->depth = 0;
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
    // What `geometry` tells beside a mesh, so that its answer is a mesh as well.
    if (strcmp(name, "numbers") == 0 || strcmp(name, "islands") == 0 || strcmp(name, "revision") == 0) {
        return api_stream_skip_value(t);
    }
    return api_stream_fail_here(t,
                                "is no member of a mesh: known are vertices, polygons, indices, areas, flags, links, "
                                "up, agent and name");
}

static bool read_object(json_reader *r)
{
    api_stream *t = &r->text;
    api_stream_list l = {.close = '}'};
    if (!api_stream_take(t, '{')) {
        return api_stream_fail(t, "a JSON mesh is an object");
    }
    while (api_stream_more(t, &l)) {
        if (!api_stream_name(t, t->member) || !read_member(r)) {
            return false;
        }
    }
    if (l.failed) {
        return false;
    }
    api_stream_skip_space(t);
    return t->p == t->end || api_stream_fail(t, "more text after the mesh");
}

// The whole.

/// Vertex numbers can be judged only when all vertices are known, whatever the members' order.
static bool check_corners(json_reader *r)
{
    api_stream *t = &r->text;
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
            return api_stream_fail_at(t, pointer, "is vertex %u, but there are %u", (unsigned)s->corners[c],
                                      (unsigned)s->vertex_count);
        }
    }
    return true;
}

static bool check_count(json_reader *r, const numbers *n, const char *pointer)
{
    api_stream *t = &r->text;
    return !n->given || n->count == r->soup->poly_count ||
           api_stream_fail_at(t, pointer, "has %zu entries for %u %s", n->count, (unsigned)r->soup->poly_count,
                              r->triangles ? "triangles" : "polygons");
}

static bool finish(json_reader *r)
{
    api_stream *t = &r->text;
    nav_soup *s = r->soup;
    if (s->vertex_count == 0) {
        return api_stream_fail_at(t, "/vertices", "is %s", r->has_vertices ? "empty" : "missing");
    }
    if (s->poly_count == 0) {
        return r->has_faces ? api_stream_fail_at(t, r->triangles ? "/indices" : "/polygons", "is empty")
                            : api_stream_fail_at(t, "/polygons", "is missing, and so is /indices");
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

/// The reader of another program's JSON, told by a member that ours never has. @return NULL: none known
static api_read_fn *find_foreign(const char *bytes, size_t size)
{
    static const struct {
        const char *member;
        char begins; ///< its value with this; 0: with anything
        api_read_fn *read;
    } foreign[] = {
        {"asset", '{', api_read_gltf},     {"tilewidth", 0, api_read_tiled},
        {"tilesets", '[', api_read_tiled}, {"max_vertices_per_polygon", 0, api_read_recast},
        {"areas", '{', api_read_awpy},
    };
    api_problem ignored;
    api_stream t = api_stream_begin(bytes, size, &ignored);
    api_stream_list l = {.close = '}'};
    char name[API_STREAM_NAME_CAP];
    if (!api_stream_take(&t, '{')) {
        return NULL;
    }
    while (api_stream_more(&t, &l) && api_stream_name(&t, name)) {
        api_stream_skip_space(&t);
        for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
            bool begins = !foreign[i].begins || (t.p < t.end && *t.p == foreign[i].begins);
            if (begins && strcmp(name, foreign[i].member) == 0) {
                return foreign[i].read;
            }
        }
        if (!api_stream_skip_value(&t)) {
            break;
        }
    }
    return NULL;
}

bool api_json_mesh_read(nav_soup *soup, const char *bytes, size_t size, api_file_extra *extra, api_problem *problem)
{
    json_reader r = {.text = api_stream_begin(bytes, size, problem), .soup = soup, .extra = extra};
    *extra = (api_file_extra){0};
    strcpy(soup->format, "json");
    bool ok = read_object(&r) && finish(&r);
    if (!ok) {
        nav_soup_deinit(soup);
        cJSON_Delete(extra->links);
        *extra = (api_file_extra){0};
    }
    free(r.areas.data);
    free(r.flags.data);
    free(r.corners.data);
    return ok;
}

bool api_read_json(const api_reading *reading)
{
    if (api_json_mesh_read(reading->soup, reading->bytes, reading->size, reading->extra, reading->problem)) {
        return true;
    }
    // Ours is tried first: to look for members would take longer than to read it.
    bool odd = reading->problem->code == API_BAD_MESH;
    api_read_fn *read = odd ? find_foreign(reading->bytes, reading->size) : NULL;
    if (read) {
        api_problem_set(reading->problem, API_NO_PROBLEM, "%s", "");
        return read(reading);
    }
    return false;
}
