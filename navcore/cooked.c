/// The cooked form, little-endian:
///
///     0   magic 8
///     8   checksum 8 of all that follows (XXH3, 64 bits)
///     16  version 4, signature 4 (of the layout in memory), size 8 of the whole
///     32  scalars of the mesh, a report's counts
///     ..  where each array begins, 8 bytes each; 0: there is none
///     ..  the arrays, each on a multiple of 64
///
/// A machine of another byte order has another signature.
#include "nav_cooked.h"

#include "alloc.h"
#include "cooked.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/// To be raised when what an array or a scalar means changes though its size does not.
#define VERSION 1u
#define CHECKSUM_AT 8u
#define HASHED_AT 16u
#define ARRAY_ALIGNMENT ((size_t)64)

// A new member of the mesh: does it belong into the lists below? Then raise the version as well.
_Static_assert(sizeof(void *) != 8 || sizeof(nav_mesh) == 440, "the cooked form must know every member of a mesh");

/// Members that go into the file as they are.
#define SCALARS(X)                                                                                              \
    X(origin)                                                                                                   \
    X(min)                                                                                                      \
    X(max)                                                                                                      \
    X(rounding)                                                                                                 \
    X(agent) X(flags_used) X(areas_used) X(polygon_count) X(face_count) X(corner_count) X(point_count)          \
        X(vertex_points) X(tri_count) X(cell_count) X(edge_count) X(vertex_count) X(island_count) X(link_count) \
            X(cell_face_count) X(ride_count) X(grid_x) X(grid_z) X(grid_step) X(grid_inverse) X(bound_inverse)  \
                X(grid_nx) X(grid_nz) X(grid_face_count)

/// Arrays and how long they are. Those of OPTIONAL may be NULL.
#define ARRAYS(X)                                              \
    X(cells, (size_t)m->cell_count + 1)                        \
    X(edges, m->edge_count)                                    \
    X(edge_block, (size_t)m->edge_count / NAV__EDGE_BLOCK + 1) \
    X(edge_offset, m->edge_count)                              \
    X(vertex_edge, m->vertex_count)                            \
    X(cell_faces, m->cell_face_count)                          \
    X(faces, (size_t)m->face_count + 1)                        \
    X(face_corners, m->corner_count)                           \
    X(points, 3 * (size_t)m->point_count)                      \
    X(grid_cells, (size_t)m->grid_nx * m->grid_nz)             \
    X(grid_faces, m->grid_face_count)                          \
    X(island_area, m->island_count)
#define OPTIONAL(X)                         \
    X(vertex_y, m->vertex_count)            \
    X(tris, 3 * (size_t)m->tri_count)       \
    X(face_tris, (size_t)m->face_count + 1) \
    X(face_polygon, m->face_count)          \
    X(links, m->link_count)                 \
    X(rides, m->ride_count)

/// Counts of a report, and its lists, which are only as long as they need be.
#define REPORT_COUNTS(X)                                                                                \
    X(welded_vertices)                                                                                  \
    X(degenerate_polygons)                                                                              \
    X(duplicate_polygons)                                                                               \
    X(split_polygons)                                                                                   \
    X(flipped_polygons) X(t_junction_count) X(non_manifold_count) X(island_count) X(dropped_link_count) \
        X(warning_count)
#define REPORT_LISTS(X)                 \
    X(t_junctions, t_junction_count)    \
    X(non_manifold, non_manifold_count) \
    X(dropped_links, dropped_link_count) X(islands, island_count) X(warnings, warning_count)

/// Entries that a report's list holds.
#define KEPT(report, list, count)                                                              \
    ((report)->count < sizeof(report)->list / sizeof *(report)->list ? (size_t)(report)->count \
                                                                     : sizeof(report)->list / sizeof *(report)->list)

enum {
#define COUNT_ONE(...) +1
    ARRAY_COUNT = 0 ARRAYS(COUNT_ONE) OPTIONAL(COUNT_ONE) REPORT_LISTS(COUNT_ONE) + 1, // the last is the caller's
#undef COUNT_ONE
    FLAG_HAS_FLAGS = 1,
    FLAG_HAS_AREAS = 2,
    FLAG_HAS_FLAGLESS = 4,
    FLAG_MIXED_WINDING = 8
};

/// Bytes of a file below which it cannot tell of so many polygons: dropped ones take none, and queries may need
/// memory for each.
#define LEAST_BYTES(polygons) ((polygons) / 8)

/// Everything before the arrays.
typedef struct head {
    char magic[NAV_COOKED_MAGIC_BYTES];
    uint64_t checksum;
    uint32_t version, signature;
    uint64_t size;
#define DECLARE(member) unsigned char member[sizeof(((nav_mesh *)0)->member)];
    struct {
        SCALARS(DECLARE)
    } mesh;
#undef DECLARE
#define DECLARE(member) uint32_t member;
    struct {
        REPORT_COUNTS(DECLARE)
    } report;
#undef DECLARE
    uint32_t flags, unused;
    uint64_t extra_size;
    uint64_t arrays[ARRAY_COUNT];
} head;

bool nav_cooked_is(const void *bytes, size_t size)
{
    return size >= NAV_COOKED_MAGIC_BYTES && memcmp(bytes, NAV_COOKED_MAGIC, NAV_COOKED_MAGIC_BYTES) == 0;
}

/// Sizes of all that is stored, so that a build with other ones does not take the bytes for its own.
static uint32_t signature(void)
{
    const uint32_t sizes[] = {0x01020304, // tells the byte order
                              sizeof(head),
#define SIZE(array, count) sizeof *((nav_mesh *)0)->array,
                              ARRAYS(SIZE) OPTIONAL(SIZE)
#undef SIZE
#define SIZE(list, count) sizeof *((nav_report *)0)->list,
                                  REPORT_LISTS(SIZE)
#undef SIZE
    };
    return (uint32_t)XXH3_64bits(sizes, sizeof sizes);
}

// Writing.

typedef struct writer {
    char *bytes; ///< NULL: only the size is wanted
    size_t size;
    head *head;
    uint32_t array;
} writer;

static void put_array(writer *w, const void *data, size_t bytes)
{
    uint32_t k = w->array++;
    if (!data || bytes == 0) {
        w->head->arrays[k] = 0;
        return;
    }
    w->size = (w->size + ARRAY_ALIGNMENT - 1) / ARRAY_ALIGNMENT * ARRAY_ALIGNMENT;
    w->head->arrays[k] = w->size;
    if (w->bytes) {
        memcpy(w->bytes + w->size, data, bytes);
    }
    w->size += bytes;
}

static void put_arrays(writer *w, const nav_mesh *m, const nav_report *report, const void *extra, size_t extra_size)
{
    w->size = sizeof *w->head;
    w->array = 0;
#define PUT(array, count) put_array(w, m->array, (count) * sizeof *m->array);
    ARRAYS(PUT)
    OPTIONAL(PUT)
#undef PUT
#define PUT(list, count) put_array(w, report->list, KEPT(report, list, count) * sizeof *report->list);
    REPORT_LISTS(PUT)
#undef PUT
    put_array(w, extra, extra_size);
}

static void fill_head(head *h, const nav_mesh *m, const nav_report *report, size_t extra_size)
{
    memcpy(h->magic, NAV_COOKED_MAGIC, sizeof h->magic);
    h->version = VERSION;
    h->signature = signature();
#define PUT(member) memcpy(h->mesh.member, &m->member, sizeof m->member);
    SCALARS(PUT)
#undef PUT
#define PUT(member) h->report.member = report->member;
    REPORT_COUNTS(PUT)
#undef PUT
    h->flags = (m->has_flags ? FLAG_HAS_FLAGS : 0u) | (m->has_areas ? FLAG_HAS_AREAS : 0u) |
               (m->has_flagless ? FLAG_HAS_FLAGLESS : 0u) | (report->mixed_winding ? FLAG_MIXED_WINDING : 0u);
    h->extra_size = extra_size;
}

nav_status nav_mesh_cook(const nav_mesh *mesh, const nav_report *report, const void *extra, size_t extra_size,
                         const nav_alloc *alloc, void **bytes, size_t *size)
{
    nav_alloc a = nav__alloc_or_libc(alloc);
    if (mesh->revision || mesh->loose_islands || mesh->face_pieces || mesh->sorted_face_count != mesh->face_count) {
        return NAV_BAD_ARGUMENT;
    }
    nav_report *none = NULL;
    if (!report) {
        report = none = a.resize(a.ctx, NULL, sizeof *none);
        if (!none) {
            return NAV_NO_MEMORY;
        }
        memset(none, 0, sizeof *none);
    }
    head h;
    memset(&h, 0, sizeof h);
    fill_head(&h, mesh, report, extra_size);
    writer w = {.head = &h};
    put_arrays(&w, mesh, report, extra, extra_size);
    nav_status status = w.size < LEAST_BYTES(mesh->polygon_count) ? NAV_TOO_LARGE : NAV_OK;
    w.bytes = status == NAV_OK ? a.resize(a.ctx, NULL, w.size) : NULL;
    status = status == NAV_OK && !w.bytes ? NAV_NO_MEMORY : status;
    if (status == NAV_OK) {
        h.size = w.size;
        memset(w.bytes, 0, w.size);
        put_arrays(&w, mesh, report, extra, extra_size);
        memcpy(w.bytes, &h, sizeof h);
        uint64_t checksum = XXH3_64bits(w.bytes + HASHED_AT, w.size - HASHED_AT);
        memcpy(w.bytes + CHECKSUM_AT, &checksum, sizeof checksum);
        *bytes = w.bytes;
        *size = w.size;
    }
    if (none) {
        a.resize(a.ctx, none, 0);
    }
    return status;
}

// Reading.

#define BAD(error, at, ...) nav_fail((error), NAV_BAD_FORMAT, 0, (at), __VA_ARGS__)

static nav_status check_head(const head *h, const char *bytes, size_t size, nav_error *error)
{
    if (h->version != VERSION || h->signature != signature()) {
        return BAD(error, 16, "a .navd of another version or machine (%u, %08x): convert the mesh anew", h->version,
                   h->signature);
    }
    if (h->size != size) {
        return BAD(error, 24, "a .navd of %llu bytes of which %zu are here", (unsigned long long)h->size, size);
    }
    if (XXH3_64bits(bytes + HASHED_AT, size - HASHED_AT) != h->checksum) {
        return BAD(error, CHECKSUM_AT, "the .navd is damaged: its checksum is another");
    }
    return NAV_OK;
}

/// Sets an array if it lies within the bytes. @return false: it does not
static bool get_array(const head *h, uint32_t k, const char *bytes, size_t count, size_t size, const void **array)
{
    uint64_t at = h->arrays[k];
    *array = NULL;
    if (at == 0) {
        return true;
    }
    if (at % ARRAY_ALIGNMENT != 0 || at < sizeof *h || at > h->size || count > (h->size - at) / size) {
        return false;
    }
    *array = bytes + at;
    return true;
}

/// @return what is wrong, NULL: nothing
static const char *get_mesh(const head *h, const char *bytes, nav_mesh *m)
{
    uint32_t k = 0;
#define GET(member) memcpy(&m->member, h->mesh.member, sizeof m->member);
    SCALARS(GET)
#undef GET
    m->has_flags = (h->flags & FLAG_HAS_FLAGS) != 0;
    m->has_areas = (h->flags & FLAG_HAS_AREAS) != 0;
    m->has_flagless = (h->flags & FLAG_HAS_FLAGLESS) != 0;
    m->sorted_face_count = m->face_count;
    if (h->size < LEAST_BYTES(m->polygon_count)) {
        return "it has too many polygons";
    }
    const void *p;
#define GET(array, count)                                                 \
    if (!get_array(h, k++, bytes, (count), sizeof *m->array, &p) || !p) { \
        return "the " #array " lie outside the file";                     \
    }                                                                     \
    m->array = p;
    ARRAYS(GET)
#undef GET
#define GET(array, count)                                           \
    if (!get_array(h, k++, bytes, (count), sizeof *m->array, &p)) { \
        return "the " #array " lie outside the file";               \
    }                                                               \
    m->array = p;
    OPTIONAL(GET)
#undef GET
    return nav__cooked_check(m);
}

static bool is_text(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static const char *get_report(const head *h, const char *bytes, nav_report *r)
{
    uint32_t k = 0;
#define SKIP(array, count) k++;
    ARRAYS(SKIP)
    OPTIONAL(SKIP)
#undef SKIP
    const void *p;
    memset(r, 0, sizeof *r);
#define GET(member) r->member = h->report.member;
    REPORT_COUNTS(GET)
#undef GET
    r->mixed_winding = (h->flags & FLAG_MIXED_WINDING) != 0;
#define GET(list, count)                                                                                \
    if (!get_array(h, k++, bytes, KEPT(r, list, count), sizeof *r->list, &p) || (!p && r->count > 0)) { \
        return "the report's " #list " lie outside the file";                                           \
    }                                                                                                   \
    if (p) {                                                                                            \
        memcpy(r->list, p, KEPT(r, list, count) * sizeof *r->list);                                     \
    }
    REPORT_LISTS(GET)
#undef GET
    for (size_t i = 0; i < KEPT(r, dropped_links, dropped_link_count); i++) {
        if (!is_text(r->dropped_links[i].id, sizeof r->dropped_links[i].id) ||
            !is_text(r->dropped_links[i].reason, sizeof r->dropped_links[i].reason)) {
            return "the report's texts have no end";
        }
    }
    for (size_t i = 0; i < KEPT(r, warnings, warning_count); i++) {
        if (!is_text(r->warnings[i], sizeof r->warnings[i])) {
            return "the report's texts have no end";
        }
    }
    return NULL;
}

static nav_status open_aligned(const char *bytes, size_t size, nav_mesh *m, nav_cooked *out, nav_report *report,
                               nav_error *error)
{
    head h;
    memcpy(&h, bytes, sizeof h);
    nav_status status = check_head(&h, bytes, size, error);
    if (status != NAV_OK) {
        return status;
    }
    const char *wrong = get_mesh(&h, bytes, m);
    wrong = wrong || !report ? wrong : get_report(&h, bytes, report);
    const void *extra = NULL;
    if (!wrong && !get_array(&h, ARRAY_COUNT - 1, bytes, h.extra_size, 1, &extra)) {
        wrong = "its last part lies outside the file";
    }
    if (wrong) {
        return BAD(error, NAV_NO_BYTE, "the .navd was made wrongly: %s", wrong);
    }
    *out = (nav_cooked){.mesh = m, .extra = extra, .extra_size = extra ? (size_t)h.extra_size : 0};
    return NAV_OK;
}

nav_status nav_mesh_open(const void *bytes, size_t size, const nav_alloc *alloc, void (*release)(void *ctx), void *ctx,
                         nav_cooked *out, nav_report *report, nav_error *error)
{
    if (!nav_cooked_is(bytes, size)) {
        return nav_fail(error, NAV_UNKNOWN_FORMAT, 0, 0, "not a .navd: it begins otherwise");
    }
    if (size < sizeof(head)) {
        return BAD(error, size, "the file ends within a .navd's head of %zu bytes", sizeof(head));
    }
    nav_alloc a = nav__alloc_or_libc(alloc);
    nav_mesh *m = a.resize(a.ctx, NULL, sizeof *m);
    if (!m) {
        return nav_fail(error, NAV_NO_MEMORY, 0, NAV_NO_BYTE, "out of memory");
    }
    memset(m, 0, sizeof *m);
    m->alloc = a;
    bool in_place = (uintptr_t)bytes % NAV_COOKED_ALIGNMENT == 0;
    void *block = (void *)(uintptr_t)bytes; // never written through
    if (!in_place) {
        block = a.resize(a.ctx, NULL, size);
        if (!block) {
            a.resize(a.ctx, m, 0);
            return nav_fail(error, NAV_NO_MEMORY, 0, NAV_NO_BYTE, "out of memory");
        }
        memcpy(block, bytes, size);
    }
    nav_status status = open_aligned(block, size, m, out, report, error);
    if (status != NAV_OK) {
        if (!in_place) {
            a.resize(a.ctx, block, 0);
        }
        a.resize(a.ctx, m, 0);
        return status;
    }
    m->block = block;
    m->block_bytes = size;
    m->borrowed = in_place;
    m->release = in_place ? release : NULL;
    m->release_ctx = ctx;
    out->in_place = in_place;
    return NAV_OK;
}
