/// Edits of a living mesh (contract, section 4) as values: obstacles, regions and links, and the set of them
/// that stands at one revision. No mesh is changed here; see editor.h.
#ifndef API_EDITS_H
#define API_EDITS_H

#include <stdatomic.h>

#include "nav_types.h"

#define API_EDIT_POINTS_MAX 256 ///< corners of a prism or region

typedef enum api_edit_kind { API_OBSTACLE, API_REGION, API_LINK, API_EDIT_KINDS } api_edit_kind;

/// "obstacle", "region", "link".
const char *api_edit_kind_name(api_edit_kind kind);
/// "obstacles", "regions", "links": the collection in paths and answers.
const char *api_edit_kind_plural(api_edit_kind kind);

typedef enum api_shape { API_CYLINDER, API_BOX, API_PRISM } api_shape;

/// A point of the ground plane, navcore's axes.
typedef struct api_ground {
    double x, z;
} api_ground;

/// One obstacle, region or link. Everything in navcore's axes. Immutable once it is in a set; counted.
typedef struct api_edit {
    atomic_uint_fast32_t holders;
    api_edit_kind kind;
    char id[NAV_ID_MAX + 1];
    bool from_file;     ///< the mesh's file or sidecar says so; it is no edit that could be undone
    bool is_volatile;   ///< not to be kept
    bool idle;          ///< it touches nothing of the mesh
    uint64_t order;     ///< rises with each edit that is no replacement: of regions the later one wins
    uint64_t ttl_ms;    ///< as given; 0: for good
    int64_t expires_ms; ///< Unix time; 0: never

    // Obstacles. Regions are prisms.
    api_shape shape;
    nav_vec center, half_extents;
    double radius, height; ///< of a cylinder; its center is in the middle of its height
    double yaw;            ///< of a box: radians about +y, from +z towards +x
    double min, max;       ///< heights of a prism
    uint32_t point_count;
    api_ground *points; ///< in the same block of memory

    // Regions.
    bool has_area, has_flags, blocked;
    uint8_t area;
    uint32_t flags;

    // Links.
    nav_link link; ///< its id is `id`
    bool enabled;
} api_edit;

/// A zeroed edit with room for points, held once. @return NULL: no memory
api_edit *api_edit_create(api_edit_kind kind, uint32_t point_count);
/// A copy that may be changed, held once; the points too. @return NULL: no memory
api_edit *api_edit_copy(const api_edit *edit);
const api_edit *api_edit_retain(const api_edit *edit);
void api_edit_release(const api_edit *edit);

typedef enum api_edit_op {
    API_EDIT_PUT, ///< make it, or put it in the place of the one that is there
    API_EDIT_ADD, ///< make it; there must be none of its id
    API_EDIT_REMOVE
} api_edit_op;

/// Bits of api_change.given: which members of what stands a partial change sets.
#define API_GIVEN_AREA (1u << 16)
#define API_GIVEN_FLAGS (1u << 17)
#define API_GIVEN_BLOCKED (1u << 18)
#define API_GIVEN_BAND (1u << 19)
#define API_GIVEN_VOLATILE (1u << 20)
#define API_GIVEN_LINK(bits) ((bits)&0xFFFFu)

/// One change as it was asked for, not yet held against what stands.
typedef struct api_change {
    api_edit_op op;
    api_edit_kind kind;
    char id[NAV_ID_MAX + 1]; ///< empty: one is to be made
    api_edit *edit;          ///< owned; NULL: removal
    uint32_t given;
    bool partial; ///< a region without points or a link without ends: sets members of the one that is there
} api_change;

void api_change_deinit(api_change *change);

typedef struct api_edit_chunk api_edit_chunk;

/// Edits by kind and id. Copies share what they have in common, so that a revision costs little more than
/// what it changed. One owner; the edits in it may be read by any thread.
typedef struct api_edit_set {
    api_edit_chunk **chunks;
    uint32_t chunk_count, chunk_cap;
    uint32_t counts[API_EDIT_KINDS];
} api_edit_set;

void api_edit_set_deinit(api_edit_set *set);
/// @param to  uninitialised
/// @return false: no memory, `to` is empty
bool api_edit_set_copy(api_edit_set *to, const api_edit_set *from);
/// @return NULL: there is none
const api_edit *api_edit_set_find(const api_edit_set *set, api_edit_kind kind, const char *id);
/// Adds the edit, or puts it in the place of the one with its kind and id; holds it.
/// @return false: no memory, nothing was changed
bool api_edit_set_put(api_edit_set *set, const api_edit *edit);
/// @param found  may be NULL
/// @return false: no memory, nothing was changed
bool api_edit_set_remove(api_edit_set *set, api_edit_kind kind, const char *id, bool *found);
size_t api_edit_set_count(const api_edit_set *set);

/// Those of `kinds` (1 << kind) in the order in which they were set.
/// @return malloc'ed [count]; NULL: no memory
const api_edit **api_edit_set_by_order(const api_edit_set *set, unsigned kinds, size_t *count);

/// A walk in the order of kinds and ids.
typedef struct api_edit_walk {
    const api_edit_set *set;
    uint32_t chunk, at;
} api_edit_walk;

/// Begins at the first edit of `kind` or a later one.
api_edit_walk api_edit_set_walk(const api_edit_set *set, api_edit_kind kind);
/// @return NULL behind the last
const api_edit *api_edit_next(api_edit_walk *walk);

/// The edits of two sets together, in order; where both have one, `over` wins.
typedef struct api_edit_both {
    api_edit_walk under, over;
    const api_edit *next_under, *next_over;
} api_edit_both;

api_edit_both api_edit_both_walk(const api_edit_set *under, const api_edit_set *over, api_edit_kind kind);
const api_edit *api_edit_both_next(api_edit_both *both);

#endif
