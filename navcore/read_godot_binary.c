/// Godot's binary resources (.res, .scn), of Godot 3 and 4:
///
///     "RSRC", u32 big-endian?, u32 64-bit reals?, u32 version[3], string type, u64, u32 flags, u64,
///     string script class (flag 8), u32[11]; u32 n and the names of properties; u32 n external resources
///     (type, path, u64 with flag 2); u32 n internal ones (path, u64 offset). There: string type, u32 n
///     properties: u32 name, a variant. In the end "RSRC" again.
///
/// A string is a u32 length, its NUL counted, and its bytes.
#include "read_bytes.h"
#include "read_godot.h"

#include <math.h>
#include <stdio.h>

#define MOST_DEPTH 16 ///< arrays in each other
#define FLAG_UIDS 2u
#define FLAG_DOUBLE 4u
#define FLAG_SCRIPT 8u

enum {
    STRING = 5,
    NODE_PATH = 22,
    OBJECT = 24,
    DICTIONARY = 26,
    ARRAY = 30,
    BYTES = 31,
    INT32_ARRAY = 32,
    STRING_ARRAY = 34,
    VECTOR3_ARRAY = 35,
    VECTOR2_ARRAY = 37,
    STRING_NAME = 44
};

typedef struct text {
    const char *at;
    size_t length;
} text;

typedef struct binary_reader {
    nav__godot godot;
    nav__bytes bytes;
    size_t real;         ///< bytes of a real number
    nav__list names;     ///< place of each property's name in the file
    nav__list resources; ///< offset of each internal resource
    bool flagged_uids;
} binary_reader;

static nav_status bad(const binary_reader *r, const char *what)
{
    return nav_fail(r->godot.error, NAV_BAD_FORMAT, 0, nav__bytes_at(&r->bytes), "%s", what);
}

static text read_string(nav__bytes *b)
{
    uint32_t length = nav__bytes_u32(b);
    text t = {(const char *)nav__bytes_take(b, length), length};
    if (!t.at) {
        return (text){"", 0};
    }
    while (t.length > 0 && t.at[t.length - 1] == '\0') {
        t.length--;
    }
    return t;
}

static bool is(text t, const char *wanted)
{
    return strlen(wanted) == t.length && memcmp(t.at, wanted, t.length) == 0;
}

static double read_real(binary_reader *r)
{
    return r->real == 8 ? nav__bytes_f64(&r->bytes) : nav__bytes_f32(&r->bytes);
}

// Head.

static nav_status read_tables(binary_reader *r)
{
    nav__bytes *b = &r->bytes;
    const nav_alloc *alloc = &r->godot.soup->alloc;
    for (uint32_t n = nav__bytes_u32(b); n > 0 && !b->failed; n--) {
        if (!nav__list_push(&r->names, alloc, (uint32_t)nav__bytes_at(b))) {
            return NAV_NO_MEMORY;
        }
        read_string(b);
    }
    for (uint32_t n = nav__bytes_u32(b); n > 0 && !b->failed; n--) { // resources in other files
        read_string(b);
        read_string(b);
        nav__bytes_take(b, r->flagged_uids ? 8 : 0);
    }
    for (uint32_t n = nav__bytes_u32(b); n > 0 && !b->failed; n--) {
        read_string(b);
        uint64_t offset = nav__bytes_number(b, 8);
        if (offset > (size_t)(b->end - b->start)) {
            return bad(r, "a resource begins behind the end of the file");
        }
        if (!nav__list_push(&r->resources, alloc, (uint32_t)offset)) {
            return NAV_NO_MEMORY;
        }
    }
    return b->failed ? bad(r, "the file ends within its tables") : NAV_OK;
}

static nav_status read_head(binary_reader *r)
{
    nav__bytes *b = &r->bytes;
    size_t size = nav__bytes_left(b);
    const uint8_t *magic = nav__bytes_take(b, 4);
    if (magic && memcmp(magic, "RSCC", 4) == 0) {
        return nav_fail(r->godot.error, NAV_BAD_FORMAT, 0, 0,
                        "a compressed Godot resource: save it as .tres, or without compression");
    }
    if (!magic || memcmp(magic, "RSRC", 4) != 0) {
        return nav_fail(r->godot.error, NAV_UNKNOWN_FORMAT, 0, 0, "no Godot resource: it does not begin with RSRC");
    }
    if (size < 8 || size > UINT32_MAX || memcmp(b->end - 4, "RSRC", 4) != 0) {
        return nav_fail(r->godot.error, NAV_BAD_FORMAT, 0, NAV_NO_BYTE,
                        "the resource does not end with RSRC: it was cut short");
    }
    uint32_t big = nav__bytes_u32(b);
    b->big_endian = big != 0;
    uint32_t doubles = nav__bytes_u32(b);
    nav__bytes_take(b, 12); // versions
    read_string(b);         // the type of the whole
    nav__bytes_take(b, 8);
    uint32_t flags = nav__bytes_u32(b);
    nav__bytes_take(b, 8);
    if (flags & FLAG_SCRIPT) {
        read_string(b);
    }
    nav__bytes_take(b, 44);
    r->real = doubles || (flags & FLAG_DOUBLE) ? 8 : 4;
    r->flagged_uids = flags & FLAG_UIDS;
    return b->failed ? bad(r, "the file ends within its head") : read_tables(r);
}

// Variants.

/// Bytes of a variant of fixed size, of those that count reals `*reals` too. @return false: of another kind
static bool fixed_size(uint32_t kind, size_t *bytes, size_t *reals)
{
    static const struct {
        uint8_t kind, bytes, reals;
    } sizes[] = {{1, 0, 0},   {2, 4, 0},  {3, 4, 0},   {4, 0, 1},  {10, 0, 2},  {11, 0, 4}, {12, 0, 3},
                 {13, 0, 4},  {14, 0, 4}, {15, 0, 6},  {16, 0, 9}, {17, 0, 12}, {18, 0, 6}, {20, 16, 0},
                 {23, 4, 0},  {40, 8, 0}, {41, 8, 0},  {42, 0, 0}, {43, 0, 0},  {45, 8, 0}, {46, 16, 0},
                 {47, 12, 0}, {50, 0, 4}, {51, 16, 0}, {52, 0, 16}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i].kind == kind) {
            *bytes = sizes[i].bytes;
            *reals = sizes[i].reals;
            return true;
        }
    }
    return false;
}

/// Bytes of an entry of a packed array, 0: none of those.
static size_t entry_size(const binary_reader *r, uint32_t kind)
{
    switch (kind) {
    case INT32_ARRAY:
    case 33: // of 32-bit floats
        return 4;
    case VECTOR3_ARRAY:
        return 3 * r->real;
    case 36: // of colours
        return 16;
    case VECTOR2_ARRAY:
        return 2 * r->real;
    case 48: // of 64-bit integers
    case 49: // of 64-bit floats
        return 8;
    case 53: // of vectors of four
        return 4 * r->real;
    default:
        return 0;
    }
}

static nav_status skip_variant(binary_reader *r, uint32_t kind, int depth);

static nav_status skip_variants(binary_reader *r, uint64_t count, int depth)
{
    nav_status status = NAV_OK;
    for (uint64_t i = 0; status == NAV_OK && i < count; i++) {
        status = r->bytes.failed ? bad(r, "the file ends within an array")
                                 : skip_variant(r, nav__bytes_u32(&r->bytes), depth);
    }
    return status;
}

static void skip_object(nav__bytes *b)
{
    switch (nav__bytes_u32(b)) {
    case 0:
        break;
    case 1: // in another file
        read_string(b);
        read_string(b);
        break;
    default:
        nav__bytes_take(b, 4);
    }
}

static void skip_node_path(nav__bytes *b)
{
    uint32_t names = nav__bytes_u16(b), more = nav__bytes_u16(b) & 0x7FFFu;
    nav__bytes_take(b, 4 * ((size_t)names + more));
}

static nav_status skip_variant(binary_reader *r, uint32_t kind, int depth)
{
    nav__bytes *b = &r->bytes;
    size_t bytes = 0, reals = 0, entry = entry_size(r, kind);
    uint32_t count;
    if (depth == MOST_DEPTH) {
        return bad(r, "arrays nested too deeply");
    }
    if (fixed_size(kind, &bytes, &reals)) {
        nav__bytes_take(b, bytes + reals * r->real);
    } else if (entry > 0) {
        count = nav__bytes_u32(b);
        nav__bytes_take(b, count <= nav__bytes_left(b) / entry ? count * entry : SIZE_MAX);
    } else if (kind == STRING || kind == STRING_NAME) {
        read_string(b);
    } else if (kind == BYTES) {
        count = nav__bytes_u32(b);
        nav__bytes_take(b, ((size_t)count + 3) / 4 * 4);
    } else if (kind == STRING_ARRAY) {
        for (count = nav__bytes_u32(b); count > 0 && !b->failed; count--) {
            read_string(b);
        }
    } else if (kind == NODE_PATH) {
        skip_node_path(b);
    } else if (kind == OBJECT) {
        skip_object(b);
    } else if (kind == ARRAY || kind == DICTIONARY) {
        uint64_t entries = nav__bytes_u32(b) & 0x7FFFFFFFu; // the top bit: shared
        return skip_variants(r, kind == ARRAY ? entries : 2 * entries, depth + 1);
    } else {
        return bad(r, "a value of a kind that is not known");
    }
    return b->failed ? bad(r, "the file ends within a value") : NAV_OK;
}

// A navigation mesh.

/// Entries of a packed array, checked to be there.
static nav_status read_count(binary_reader *r, size_t entry, uint32_t *count)
{
    *count = nav__bytes_u32(&r->bytes);
    return *count <= nav__bytes_left(&r->bytes) / entry ? NAV_OK : bad(r, "an array longer than the file");
}

static nav_status read_positions(binary_reader *r, uint32_t kind, bool outline)
{
    bool flat = r->godot.soup->dimensions == 2;
    uint32_t count = 0;
    if (kind != (flat ? VECTOR2_ARRAY : VECTOR3_ARRAY)) {
        return bad(r, "positions must be an array of vectors of the mesh's dimensions");
    }
    nav_status status = read_count(r, (flat ? 2 : 3) * r->real, &count);
    for (uint32_t i = 0; status == NAV_OK && i < count; i++) {
        double x = read_real(r), y = read_real(r), z = flat ? 0 : read_real(r);
        if (!isfinite(x) || !isfinite(y) || !isfinite(z)) {
            return bad(r, "a vertex that is no finite position");
        }
        status = outline ? nav__godot_outline_point(&r->godot, x, y) : nav__godot_vertex(&r->godot, x, y, z);
    }
    return status;
}

static nav_status read_polygon(binary_reader *r, uint32_t kind)
{
    uint32_t count = 0;
    nav_status status =
        kind == INT32_ARRAY ? read_count(r, 4, &count) : bad(r, "a polygon must be an array of integers");
    r->godot.polygon.count = 0;
    for (uint32_t i = 0; status == NAV_OK && i < count; i++) {
        uint32_t corner = nav__bytes_u32(&r->bytes);
        if (corner > INT32_MAX) {
            return bad(r, "a corner is a negative number");
        }
        status = nav__list_push(&r->godot.polygon, &r->godot.soup->alloc, corner) ? NAV_OK : NAV_NO_MEMORY;
    }
    return status == NAV_OK ? nav__godot_polygon(&r->godot) : status;
}

/// An array of polygons or outlines.
static nav_status read_list(binary_reader *r, uint32_t kind, bool outlines)
{
    if (kind != ARRAY) {
        return bad(r, "polygons and outlines must be arrays");
    }
    uint32_t count = nav__bytes_u32(&r->bytes) & 0x7FFFFFFFu;
    nav_status status = NAV_OK;
    for (uint32_t i = 0; status == NAV_OK && i < count; i++) {
        uint32_t entry = nav__bytes_u32(&r->bytes);
        if (r->bytes.failed) {
            return bad(r, "the file ends within an array");
        }
        if (outlines) {
            status = read_positions(r, entry, true);
            status = status == NAV_OK ? nav__godot_end_outline(&r->godot) : status;
        } else {
            status = read_polygon(r, entry);
        }
    }
    return status;
}

static text read_name(binary_reader *r)
{
    uint32_t index = nav__bytes_u32(&r->bytes);
    if (index & 0x80000000u) { // written out
        uint32_t length = index & 0x7FFFFFFFu;
        const char *at = (const char *)nav__bytes_take(&r->bytes, length);
        return (text){at ? at : "", at ? length : 0};
    }
    if (index >= r->names.count) {
        r->bytes.failed = true;
        return (text){"", 0};
    }
    nav__bytes place = r->bytes;
    place.p = place.start + r->names.data[index];
    return read_string(&place);
}

static nav_status read_property(binary_reader *r, bool wanted)
{
    enum { FLOAT = 4, DOUBLE = 41 };
    nav__bytes *b = &r->bytes;
    text name = read_name(r);
    uint32_t kind = nav__bytes_u32(b);
    if (b->failed) {
        return bad(r, "a property without a name, or none");
    }
    if (wanted && is(name, "vertices")) {
        return read_positions(r, kind, false);
    }
    if (wanted && is(name, "polygons")) {
        return read_list(r, kind, false);
    }
    if (wanted && r->godot.soup->dimensions == 2 && is(name, "outlines")) {
        return read_list(r, kind, true);
    }
    nav__bytes value = *b;
    if (wanted && (kind == FLOAT || kind == DOUBLE)) {
        double number = kind == DOUBLE || r->real == 8 ? nav__bytes_f64(&value) : nav__bytes_f32(&value);
        if (!value.failed) {
            nav__godot_number(&r->godot, name.at, name.length, number);
        }
    }
    return skip_variant(r, kind, 0);
}

/// Properties of resources that are no navigation mesh are not even looked at: the next one has its own offset.
static nav_status read_resource(binary_reader *r, uint32_t offset)
{
    nav__bytes *b = &r->bytes;
    b->p = b->start + offset;
    text type = read_string(b);
    uint32_t count = nav__bytes_u32(b);
    if (b->failed) {
        return bad(r, "the file ends within a resource");
    }
    if (!nav__godot_is_wanted(type.at, type.length)) {
        return NAV_OK;
    }
    nav_status status = nav__godot_begin(&r->godot, type.at, type.length);
    for (uint32_t i = 0; status == NAV_OK && i < count; i++) {
        status = read_property(r, true);
    }
    return status == NAV_OK ? nav__godot_end(&r->godot) : status;
}

static nav_status read_binary(binary_reader *r)
{
    nav_status status = read_head(r);
    for (uint32_t i = 0; status == NAV_OK && i < r->resources.count; i++) {
        bool again = i > 0 && r->resources.data[i] <= r->resources.data[i - 1];
        status = again ? bad(r, "resources that are not one behind the other") : read_resource(r, r->resources.data[i]);
        if (status == NAV_OK && i + 1 < r->resources.count && r->godot.resources > 0 &&
            nav__bytes_at(&r->bytes) > r->resources.data[i + 1]) {
            status = bad(r, "resources that reach into each other");
        }
    }
    if (status == NAV_OK && r->godot.soup->poly_count == 0) {
        return nav_fail(r->godot.error, NAV_BAD_FORMAT, 0, NAV_NO_BYTE,
                        r->godot.resources > 0 ? "the navigation mesh has no polygons: bake it in Godot"
                                               : "the file holds no NavigationMesh or NavigationPolygon");
    }
    return status;
}

nav_status nav_read_godot_binary(nav_soup *soup, const void *bytes, size_t size, nav_error *error)
{
    binary_reader r = {.godot = {.soup = soup, .error = error}, .bytes = nav__bytes_begin(bytes, size)};
    const nav_alloc alloc = soup->alloc;
    snprintf(soup->format, sizeof soup->format, "godot-binary");
    nav_status status = read_binary(&r);
    if (status == NAV_OK && r.godot.resources > 1) {
        nav_soup_warn(soup, "%u navigation meshes in one file: where the scene's nodes put them is not looked at",
                      r.godot.resources);
    }
    nav__godot_deinit(&r.godot);
    nav__list_free(&r.names, &alloc);
    nav__list_free(&r.resources, &alloc);
    return nav__read_end(soup, status, error);
}
