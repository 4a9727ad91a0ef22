/// A sorted list in chunks that copies share: changing one edit copies its chunk and the list of chunks.
#include <stdlib.h>
#include <string.h>

#include "edit_set.h"

#define CHUNK_MAX 64

struct api_edit_chunk {
    atomic_uint_fast32_t holders;
    uint32_t count;
    const api_edit *edits[CHUNK_MAX];
};

const char *api_edit_kind_name(api_edit_kind kind)
{
    static const char *const names[] = {"obstacle", "region", "link"};
    return names[kind];
}

const char *api_edit_kind_plural(api_edit_kind kind)
{
    static const char *const names[] = {"obstacles", "regions", "links"};
    return names[kind];
}

api_edit *api_edit_create(api_edit_kind kind, uint32_t point_count)
{
    api_edit *edit = calloc(1, sizeof *edit + point_count * sizeof *edit->points);
    if (edit) {
        atomic_init(&edit->holders, 1);
        edit->kind = kind;
        edit->point_count = point_count;
        edit->points = (api_ground *)(edit + 1);
    }
    return edit;
}

api_edit *api_edit_copy(const api_edit *edit)
{
    api_edit *copy = api_edit_create(edit->kind, edit->point_count);
    if (copy) {
        api_ground *points = copy->points;
        // All but the count of holders, which other threads may be changing.
        const size_t skip = offsetof(api_edit, kind);
        memcpy((char *)copy + skip, (const char *)edit + skip, sizeof *edit - skip);
        copy->points = points;
        if (edit->point_count > 0) {
            memcpy(points, edit->points, edit->point_count * sizeof *points);
        }
    }
    return copy;
}

const api_edit *api_edit_retain(const api_edit *edit)
{
    atomic_fetch_add_explicit(&((api_edit *)edit)->holders, 1, memory_order_relaxed);
    return edit;
}

void api_edit_release(const api_edit *edit)
{
    api_edit *own = (api_edit *)edit;
    if (own && atomic_fetch_sub_explicit(&own->holders, 1, memory_order_acq_rel) == 1) {
        free(own);
    }
}

void api_change_deinit(api_change *change)
{
    api_edit_release(change->edit);
    change->edit = NULL;
}

static void release_chunk(api_edit_chunk *chunk)
{
    if (atomic_fetch_sub_explicit(&chunk->holders, 1, memory_order_acq_rel) == 1) {
        for (uint32_t i = 0; i < chunk->count; i++) {
            api_edit_release(chunk->edits[i]);
        }
        free(chunk);
    }
}

void api_edit_set_deinit(api_edit_set *set)
{
    for (uint32_t i = 0; i < set->chunk_count; i++) {
        release_chunk(set->chunks[i]);
    }
    free(set->chunks);
    *set = (api_edit_set){0};
}

bool api_edit_set_copy(api_edit_set *to, const api_edit_set *from)
{
    *to = (api_edit_set){0};
    if (from->chunk_count == 0) {
        return true;
    }
    to->chunks = malloc(from->chunk_count * sizeof *to->chunks);
    if (!to->chunks) {
        return false;
    }
    for (uint32_t i = 0; i < from->chunk_count; i++) {
        to->chunks[i] = from->chunks[i];
        atomic_fetch_add_explicit(&to->chunks[i]->holders, 1, memory_order_relaxed);
    }
    to->chunk_count = to->chunk_cap = from->chunk_count;
    memcpy(to->counts, from->counts, sizeof to->counts);
    return true;
}

static int compare(const api_edit *edit, api_edit_kind kind, const char *id)
{
    return edit->kind != kind ? (int)edit->kind - (int)kind : strcmp(edit->id, id);
}

/// The first edit that is not before (kind, id); `chunk` may be one behind the last.
static api_edit_walk lower_bound(const api_edit_set *set, api_edit_kind kind, const char *id)
{
    uint32_t low = 0, high = set->chunk_count;
    while (low < high) { // the first chunk whose last edit is not before
        uint32_t middle = low + (high - low) / 2;
        const api_edit_chunk *c = set->chunks[middle];
        if (compare(c->edits[c->count - 1], kind, id) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    api_edit_walk walk = {.set = set, .chunk = low};
    if (low == set->chunk_count) {
        return walk;
    }
    const api_edit_chunk *c = set->chunks[low];
    uint32_t from = 0, to = c->count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (compare(c->edits[middle], kind, id) < 0) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    walk.at = from;
    return walk;
}

static const api_edit *at(const api_edit_walk *walk)
{
    return walk->chunk < walk->set->chunk_count ? walk->set->chunks[walk->chunk]->edits[walk->at] : NULL;
}

api_edit_walk api_edit_set_walk(const api_edit_set *set, api_edit_kind kind)
{
    return lower_bound(set, kind, "");
}

const api_edit *api_edit_next(api_edit_walk *walk)
{
    const api_edit *edit = at(walk);
    if (edit && ++walk->at == walk->set->chunks[walk->chunk]->count) {
        walk->chunk++;
        walk->at = 0;
    }
    return edit;
}

const api_edit *api_edit_set_find(const api_edit_set *set, api_edit_kind kind, const char *id)
{
    api_edit_walk walk = lower_bound(set, kind, id);
    const api_edit *edit = at(&walk);
    return edit && compare(edit, kind, id) == 0 ? edit : NULL;
}

size_t api_edit_set_count(const api_edit_set *set)
{
    size_t count = 0;
    for (int kind = 0; kind < API_EDIT_KINDS; kind++) {
        count += set->counts[kind];
    }
    return count;
}

static int compare_order(const void *a, const void *b)
{
    const api_edit *x = *(const api_edit *const *)a, *y = *(const api_edit *const *)b;
    return x->order < y->order ? -1 : x->order > y->order;
}

const api_edit **api_edit_set_by_order(const api_edit_set *set, unsigned kinds, size_t *count)
{
    const api_edit **list = malloc((api_edit_set_count(set) + 1) * sizeof *list);
    *count = 0;
    if (!list) {
        return NULL;
    }
    api_edit_walk walk = api_edit_set_walk(set, API_OBSTACLE);
    for (const api_edit *edit; (edit = api_edit_next(&walk));) {
        if (kinds & 1u << edit->kind) {
            list[(*count)++] = edit;
        }
    }
    qsort(list, *count, sizeof *list, compare_order);
    return list;
}

static api_edit_chunk *new_chunk(const api_edit *const *edits, uint32_t count)
{
    api_edit_chunk *chunk = malloc(sizeof *chunk);
    if (chunk) {
        atomic_init(&chunk->holders, 1);
        chunk->count = count;
        for (uint32_t i = 0; i < count; i++) {
            chunk->edits[i] = api_edit_retain(edits[i]);
        }
    }
    return chunk;
}

/// Makes a chunk this set's alone. @return NULL: no memory
static api_edit_chunk *own(api_edit_set *set, uint32_t index)
{
    api_edit_chunk *chunk = set->chunks[index];
    if (atomic_load_explicit(&chunk->holders, memory_order_acquire) == 1) {
        return chunk;
    }
    api_edit_chunk *copy = new_chunk(chunk->edits, chunk->count);
    if (copy) {
        set->chunks[index] = copy;
        release_chunk(chunk);
    }
    return copy;
}

static bool reserve_chunk(api_edit_set *set)
{
    if (set->chunk_count < set->chunk_cap) {
        return true;
    }
    uint32_t cap = set->chunk_cap ? 2 * set->chunk_cap : 4;
    api_edit_chunk **chunks = realloc(set->chunks, cap * sizeof *chunks);
    if (chunks) {
        set->chunks = chunks;
        set->chunk_cap = cap;
    }
    return chunks != NULL;
}

static void insert_chunk(api_edit_set *set, uint32_t index, api_edit_chunk *chunk)
{
    memmove(set->chunks + index + 1, set->chunks + index, (set->chunk_count - index) * sizeof *set->chunks);
    set->chunks[index] = chunk;
    set->chunk_count++;
}

/// Cuts a full chunk in two, whose first half stays where it was.
static bool split(api_edit_set *set, uint32_t index)
{
    if (!reserve_chunk(set)) {
        return false;
    }
    api_edit_chunk *first = own(set, index);
    api_edit_chunk *second = first ? new_chunk(first->edits + CHUNK_MAX / 2, CHUNK_MAX - CHUNK_MAX / 2) : NULL;
    if (!second) {
        return false;
    }
    for (uint32_t i = CHUNK_MAX / 2; i < CHUNK_MAX; i++) {
        api_edit_release(first->edits[i]);
    }
    first->count = CHUNK_MAX / 2;
    insert_chunk(set, index + 1, second);
    return true;
}

/// A place for one more edit at `walk`, moved where that is.
static api_edit_chunk *make_room(api_edit_set *set, api_edit_walk *walk)
{
    if (set->chunk_count == 0) {
        api_edit_chunk *chunk = reserve_chunk(set) ? new_chunk(NULL, 0) : NULL;
        if (chunk) {
            insert_chunk(set, 0, chunk);
        }
        *walk = (api_edit_walk){.set = set};
        return chunk;
    }
    if (walk->chunk == set->chunk_count) { // behind the last
        walk->chunk--;
        walk->at = set->chunks[walk->chunk]->count;
    }
    if (set->chunks[walk->chunk]->count == CHUNK_MAX) {
        if (!split(set, walk->chunk)) {
            return NULL;
        }
        if (walk->at > CHUNK_MAX / 2) {
            walk->chunk++;
            walk->at -= CHUNK_MAX / 2;
        }
    }
    return own(set, walk->chunk);
}

bool api_edit_set_put(api_edit_set *set, const api_edit *edit)
{
    api_edit_walk walk = lower_bound(set, edit->kind, edit->id);
    const api_edit *there = at(&walk);
    if (there && compare(there, edit->kind, edit->id) == 0) {
        api_edit_chunk *chunk = own(set, walk.chunk);
        if (!chunk) {
            return false;
        }
        chunk->edits[walk.at] = api_edit_retain(edit);
        api_edit_release(there);
        return true;
    }
    api_edit_chunk *chunk = make_room(set, &walk);
    if (!chunk) {
        return false;
    }
    memmove(chunk->edits + walk.at + 1, chunk->edits + walk.at, (chunk->count - walk.at) * sizeof *chunk->edits);
    chunk->edits[walk.at] = api_edit_retain(edit);
    chunk->count++;
    set->counts[edit->kind]++;
    return true;
}

bool api_edit_set_remove(api_edit_set *set, api_edit_kind kind, const char *id, bool *found)
{
    api_edit_walk walk = lower_bound(set, kind, id);
    const api_edit *there = at(&walk);
    bool is_there = there && compare(there, kind, id) == 0;
    if (found) {
        *found = is_there;
    }
    if (!is_there) {
        return true;
    }
    api_edit_chunk *chunk = own(set, walk.chunk);
    if (!chunk) {
        return false;
    }
    chunk->count--;
    memmove(chunk->edits + walk.at, chunk->edits + walk.at + 1, (chunk->count - walk.at) * sizeof *chunk->edits);
    api_edit_release(there);
    set->counts[kind]--;
    if (chunk->count == 0) {
        release_chunk(chunk);
        set->chunk_count--;
        memmove(set->chunks + walk.chunk, set->chunks + walk.chunk + 1,
                (set->chunk_count - walk.chunk) * sizeof *set->chunks);
    }
    return true;
}

api_edit_both api_edit_both_walk(const api_edit_set *under, const api_edit_set *over, api_edit_kind kind)
{
    api_edit_both both = {.under = api_edit_set_walk(under, kind), .over = api_edit_set_walk(over, kind)};
    both.next_under = api_edit_next(&both.under);
    both.next_over = api_edit_next(&both.over);
    return both;
}

const api_edit *api_edit_both_next(api_edit_both *both)
{
    const api_edit *u = both->next_under, *o = both->next_over;
    int order = !u ? 1 : !o ? -1 : compare(u, o->kind, o->id);
    if (order <= 0) {
        both->next_under = api_edit_next(&both->under);
    }
    if (order >= 0) {
        both->next_over = api_edit_next(&both->over);
    }
    return order < 0 ? u : o;
}
