/// Private: what the files of a matrix share.
///
///     matrix.c        the search of one row, and the whole
///     matrix_views.c  which corners a place sees
///     matrix_open.c   the open list of the search
#ifndef NAV_MATRIX_PARTS_H
#define NAV_MATRIX_PARTS_H

#include "nav_matrix.h"

#include "visibility.h"
#include "walk.h"

/// On which side of a line through a corner its obstacle lies.
typedef enum nav__side { NAV__SIDE_LEFT, NAV__SIDE_UNKNOWN, NAV__SIDE_RIGHT } nav__side;

/// One corner that a place sees. Four bytes: the search goes through all of them in every row, in an order
/// that no cache foresees.
typedef struct nav__sight {
    uint32_t vertex : 30;
    uint32_t past : 2; ///< a nav__side: where the corner's obstacle lies along the line of sight
} nav__sight;

enum { NAV__MATRIX_VERTICES = 1 << 30 };

/// A run of `sights`. Of a place that is a corner itself: first those with its obstacle on the left of the line
/// of sight, leftmost first; from `unknown` on those of which that cannot be told; from `right` on those with
/// it on the right, rightmost first.
typedef struct nav__view {
    uint32_t first, unknown, right, end;
} nav__view;

#define NAV__NOT_SEEN_YET NAV_NONE ///< nav__view.first of a corner not swept yet

/// The far ends of the two walls that meet in a corner: where its open fan begins and where it ends,
/// anticlockwise. Where the fan is a full turn or more (on spiral stairs, where both walls may lie anywhere)
/// the corner itself stands for both, so that nothing is left out.
typedef struct nav__wall_ends {
    float first_x, first_z, last_x, last_z;
} nav__wall_ends;

/// A place asked about.
typedef struct nav__matrix_place {
    nav_vec asked;
    nav_place at; ///< polygon NAV_NONE: off the mesh
    nav__anchor anchor;
} nav__matrix_place;

/// How far the search of one row has come with a corner, and where that is, which is asked for together.
typedef struct nav__corner {
    double g; ///< over the ground plane; INFINITY: not reached
    float x, z;
} nav__corner;

/// The rest of a corner.
typedef struct nav__corner_way {
    uint32_t parent; ///< the corner before it on the way; NAV_NONE: the source
    nav__side past;  ///< on which side of the leg to it its obstacle lies
    nav__view view;  ///< what it sees; .first NAV__NOT_SEEN_YET: not swept yet
} nav__corner_way;

/// An entry of the heap. What rounding g puts in the wrong order is put right by reaching a corner again.
typedef struct nav__open_corner {
    float g;
    uint32_t vertex;
} nav__open_corner;

/// An entry that waits in a bucket.
typedef struct nav__waiting {
    nav__open_corner entry;
    uint32_t next; ///< in its bucket, or among those not used; NAV_NONE: the last
} nav__waiting;

/// The open list is a ring of buckets of equal width in g (Dial, "Algorithm 360: Shortest-Path Forest with
/// Topological Ordering", CACM 1969), of which only the current one is a heap. The ring reaches further than any
/// corner can be seen.
enum { NAV__BUCKETS = 1024 };

struct nav_matrix {
    nav_alloc alloc;
    const nav_mesh *mesh;
    nav_snap snap;
    bool pairwise;
    nav__matrix_place *sources, *targets;
    uint32_t source_count, target_count;

    nav__sight *sights;
    uint32_t sight_count, sight_cap;
    nav__wall_ends *walls;     ///< [vertex_count] of corners
    nav__view *target_views;   ///< [target_count]
    uint32_t *watchers;        ///< [vertex_count + 1] by corner, first of its run in watcher_targets
    uint32_t *watcher_targets; ///< targets that see the corner

    nav__corner *corners;  ///< [vertex_count]
    nav__corner_way *ways; ///< [vertex_count]
    uint32_t *touched;     ///< [vertex_count] corners whose g is not INFINITY
    uint32_t touched_count;
    uint32_t *chain; ///< [vertex_count] a way from its end

    nav__open_corner *heap; ///< of the current bucket
    uint32_t heap_count, heap_cap;
    nav__waiting *pool; ///< entries of the buckets
    uint32_t pool_count, pool_cap, pool_free, waiting_count;
    uint32_t buckets[NAV__BUCKETS]; ///< first entry of each, NAV_NONE: empty
    uint64_t current;               ///< bucket, not taken round the ring
    double buckets_per_unit;

    double *best;         ///< [target_count] ground length known
    uint32_t *last;       ///< [target_count] the corner before the target on that way; NAV_NONE: the source
    bool *wanted;         ///< [target_count] on an island of the row's source
    uint32_t *seen_stamp; ///< [vertex_count] of the sweep under way
    uint32_t sweep_stamp;
    bool failed;
};

/// An array of x->alloc; p NULL: a new one. @return NULL when out of memory
void *nav__matrix_resize(nav_matrix *x, void *p, size_t count, size_t size);

static inline nav__p2 nav__corner_at(const nav_matrix *x, uint32_t vertex)
{
    const nav__corner *c = &x->corners[vertex];
    return (nav__p2){(double)c->x, (double)c->z};
}

/// The walls of all corners. x->corners must know their places.
void nav__matrix_find_walls(nav_matrix *x);
/// The corners that a place sees on which a shortest path may bend, at the end of x->sights.
/// @param self  the corner that looks, or NAV_NONE
nav__view nav__matrix_look(nav_matrix *x, nav_query *query, nav__p2 from, uint32_t self, const uint32_t *cells,
                           uint32_t count);
/// What a corner sees; swept when first asked for.
nav__view nav__matrix_view_of(nav_matrix *x, nav_query *query, uint32_t vertex);

/// Empties the open list.
void nav__matrix_open_clear(nav_matrix *x);
/// Adds a corner whose g has just been set.
void nav__matrix_open(nav_matrix *x, uint32_t vertex);
/// Makes x->heap[0] the first entry of the open list. @return false: there is none
bool nav__matrix_open_ready(nav_matrix *x);
/// Takes the first entry, after nav__matrix_open_ready. It may be out of date.
nav__open_corner nav__matrix_pop(nav_matrix *x);

#endif
