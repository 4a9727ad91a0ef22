// Entries in a sorted array: a look-up is a binary search, a listing a walk. Ids are few (thousands),
// changes rare.
#include "registry.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "id_search.h"

/// The count of a published mesh; api_mesh.owner points here.
typedef struct holder {
    api_mesh *mesh;
    atomic_size_t references;
} holder;

typedef struct slot {
    char id[NAV_ID_MAX + 1];
    holder *current;  ///< NULL: never loaded
    uint32_t loading; ///< attempts under way
    uint64_t reloads, failures;
    bool has_error;
    char error_code[32];
    char error_detail[API_DETAIL_SIZE];
    int64_t error_at_ms;
    char source[256];
} slot;

struct srv_registry {
    pthread_mutex_t lock;
    // under lock:
    slot **slots; ///< sorted by id
    size_t count, cap;
    uint64_t last_revision;

    srv_dispose_fn *dispose;
    void *dispose_ctx;

    srv_registry_watch_fn *watch; ///< constant
    void *watch_ctx;
};

srv_registry *srv_registry_create(void)
{
    srv_registry *registry = calloc(1, sizeof *registry);
    if (registry) {
        pthread_mutex_init(&registry->lock, NULL);
        // Milliseconds since 1970, so that a revision (an ETag) of an earlier run is never used again.
        registry->last_revision = (uint64_t)srv_wall_ms();
    }
    return registry;
}

void srv_registry_set_dispose(srv_registry *registry, srv_dispose_fn *dispose, void *ctx)
{
    pthread_mutex_lock(&registry->lock);
    registry->dispose = dispose;
    registry->dispose_ctx = ctx;
    pthread_mutex_unlock(&registry->lock);
}

void srv_registry_set_watch(srv_registry *registry, srv_registry_watch_fn *watch, void *ctx)
{
    registry->watch = watch;
    registry->watch_ctx = ctx;
}

static void tell(const srv_registry *registry, const char *id, bool removed)
{
    if (registry->watch) {
        registry->watch(registry->watch_ctx, id, removed);
    }
}

static void release(srv_registry *registry, holder *h)
{
    if (!h || atomic_fetch_sub_explicit(&h->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    api_mesh *mesh = h->mesh;
    free(h);
    // Under the lock, so that whoever takes `dispose` back knows that it is not being called any more.
    pthread_mutex_lock(&registry->lock);
    bool disposed = registry->dispose && registry->dispose(registry->dispose_ctx, mesh);
    pthread_mutex_unlock(&registry->lock);
    if (!disposed) {
        api_mesh_destroy(mesh);
    }
}

void srv_registry_destroy(srv_registry *registry)
{
    if (!registry) {
        return;
    }
    for (size_t i = 0; i < registry->count; i++) {
        release(registry, registry->slots[i]->current);
        free(registry->slots[i]);
    }
    free(registry->slots);
    pthread_mutex_destroy(&registry->lock);
    free(registry);
}

static const char *slot_id(const void *list, size_t at)
{
    slot *const *slots = list;
    return slots[at]->id;
}

/// Where `id` is or would be. Under the lock.
static size_t position(const srv_registry *registry, const char *id, bool *found)
{
    return srv_id_search(registry->slots, registry->count, slot_id, id, found);
}

static slot *find(const srv_registry *registry, const char *id)
{
    bool found;
    size_t at = position(registry, id, &found);
    return found ? registry->slots[at] : NULL;
}

/// Under the lock. @return NULL: no memory
static slot *find_or_add(srv_registry *registry, const char *id)
{
    bool found;
    size_t at = position(registry, id, &found);
    if (found) {
        return registry->slots[at];
    }
    if (registry->count == registry->cap) {
        size_t cap = registry->cap ? 2 * registry->cap : 16;
        slot **slots = realloc(registry->slots, cap * sizeof *slots);
        if (!slots) {
            return NULL;
        }
        registry->slots = slots;
        registry->cap = cap;
    }
    slot *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    snprintf(s->id, sizeof s->id, "%s", id);
    memmove(registry->slots + at + 1, registry->slots + at, (registry->count - at) * sizeof *registry->slots);
    registry->slots[at] = s;
    registry->count++;
    return s;
}

static const api_mesh *retain(holder *h)
{
    if (!h) {
        return NULL;
    }
    atomic_fetch_add_explicit(&h->references, 1, memory_order_relaxed);
    return h->mesh;
}

const api_mesh *srv_registry_acquire(srv_registry *registry, const char *id)
{
    pthread_mutex_lock(&registry->lock);
    slot *s = find(registry, id);
    const api_mesh *mesh = s ? retain(s->current) : NULL;
    pthread_mutex_unlock(&registry->lock);
    return mesh;
}

void srv_registry_release(srv_registry *registry, const api_mesh *mesh)
{
    if (mesh) {
        release(registry, mesh->owner);
    }
}

const api_mesh *srv_registry_retain(const api_mesh *mesh)
{
    return retain(mesh->owner);
}

static void fill_entry(const slot *s, api_mesh_entry *entry)
{
    memcpy(entry->id, s->id, sizeof entry->id);
    entry->mesh = retain(s->current);
    // Neither served nor failed: an attempt is under way, or was given up and another follows.
    bool loading = s->loading > 0 || !s->has_error;
    entry->state = s->current ? API_MESH_READY : loading ? API_MESH_LOADING : API_MESH_FAILED;
    entry->has_error = s->has_error;
    memcpy(entry->error_code, s->error_code, sizeof entry->error_code);
    memcpy(entry->error_detail, s->error_detail, sizeof entry->error_detail);
    entry->error_at_ms = s->error_at_ms;
    memcpy(entry->source, s->source, sizeof entry->source);
}

bool srv_registry_entry(srv_registry *registry, const char *id, api_mesh_entry *entry)
{
    pthread_mutex_lock(&registry->lock);
    slot *s = find(registry, id);
    if (s) {
        fill_entry(s, entry);
    }
    pthread_mutex_unlock(&registry->lock);
    return s != NULL;
}

size_t srv_registry_entries(srv_registry *registry, size_t skip, api_mesh_entry *entries, size_t cap)
{
    pthread_mutex_lock(&registry->lock);
    size_t count = registry->count;
    for (size_t i = 0; i < cap && skip + i < count; i++) {
        fill_entry(registry->slots[skip + i], &entries[i]);
    }
    pthread_mutex_unlock(&registry->lock);
    return count;
}

bool srv_registry_loading(srv_registry *registry, const char *id, const char *source)
{
    pthread_mutex_lock(&registry->lock);
    slot *s = find_or_add(registry, id);
    if (s) {
        s->loading++;
        if (!s->current) {
            snprintf(s->source, sizeof s->source, "%s", source);
        }
    }
    pthread_mutex_unlock(&registry->lock);
    return s != NULL;
}

static void end_attempt(slot *s)
{
    s->loading -= s->loading > 0;
}

static void clear_error(slot *s)
{
    s->has_error = false;
    s->error_code[0] = s->error_detail[0] = '\0';
    s->error_at_ms = 0;
}

bool srv_registry_publish(srv_registry *registry, const char *id, api_mesh *mesh, const char *source, double load_ms,
                          bool *created)
{
    holder *h = malloc(sizeof *h);
    if (!h) {
        api_mesh_destroy(mesh);
        return false;
    }
    h->mesh = mesh;
    atomic_init(&h->references, 1);
    mesh->owner = h;
    mesh->load_ms = load_ms;
    mesh->loaded_at_ms = srv_wall_ms();
    snprintf(mesh->id, sizeof mesh->id, "%s", id);
    snprintf(mesh->source, sizeof mesh->source, "%s", source);

    pthread_mutex_lock(&registry->lock);
    slot *s = find_or_add(registry, id);
    holder *old = h;
    if (s) {
        mesh->revision = ++registry->last_revision;
        old = s->current;
        s->current = h;
        s->reloads++;
        end_attempt(s);
        clear_error(s);
        memcpy(s->source, mesh->source, sizeof s->source);
    }
    pthread_mutex_unlock(&registry->lock);

    if (created) {
        *created = s && !old;
    }
    release(registry, old); // the one that was served; ours where there was no room for an entry
    if (s) {
        tell(registry, id, false);
    }
    return s != NULL;
}

uint64_t srv_registry_reserve(srv_registry *registry)
{
    pthread_mutex_lock(&registry->lock);
    uint64_t revision = ++registry->last_revision;
    pthread_mutex_unlock(&registry->lock);
    return revision;
}

bool srv_registry_revise(srv_registry *registry, const char *id, api_mesh *mesh, uint64_t revision)
{
    holder *h = malloc(sizeof *h);
    if (!h) {
        api_mesh_destroy(mesh);
        return false;
    }
    h->mesh = mesh;
    atomic_init(&h->references, 1);
    mesh->owner = h;
    mesh->revision = revision;
    memcpy(mesh->id, id, strlen(id) + 1);

    pthread_mutex_lock(&registry->lock);
    slot *s = find(registry, id);
    bool there = s && s->current;
    holder *old = h;
    if (there) {
        old = s->current;
        mesh->load_ms = old->mesh->load_ms;
        mesh->loaded_at_ms = old->mesh->loaded_at_ms;
        memcpy(mesh->source, old->mesh->source, sizeof mesh->source);
        s->current = h;
    }
    pthread_mutex_unlock(&registry->lock);
    release(registry, old); // the one that was served; ours where there is none
    if (there) {
        tell(registry, id, false);
    }
    return there;
}

void srv_registry_fail(srv_registry *registry, const char *id, const char *source, const api_problem *problem)
{
    pthread_mutex_lock(&registry->lock);
    slot *s = find_or_add(registry, id);
    if (s) {
        end_attempt(s);
        s->failures++;
        s->has_error = true;
        s->error_at_ms = srv_wall_ms();
        snprintf(s->error_code, sizeof s->error_code, "%s", api_code_text(problem->code));
        snprintf(s->error_detail, sizeof s->error_detail, "%s", problem->detail);
        if (!s->current) {
            snprintf(s->source, sizeof s->source, "%s", source);
        }
    }
    pthread_mutex_unlock(&registry->lock);
}

void srv_registry_unchanged(srv_registry *registry, const char *id)
{
    pthread_mutex_lock(&registry->lock);
    slot *s = find(registry, id);
    if (s) {
        end_attempt(s);
        clear_error(s);
    }
    pthread_mutex_unlock(&registry->lock);
}

void srv_registry_cancelled(srv_registry *registry, const char *id)
{
    pthread_mutex_lock(&registry->lock);
    slot *s = find(registry, id);
    if (s) {
        end_attempt(s);
    }
    pthread_mutex_unlock(&registry->lock);
}

bool srv_registry_remove(srv_registry *registry, const char *id)
{
    pthread_mutex_lock(&registry->lock);
    bool found;
    size_t at = position(registry, id, &found);
    holder *old = NULL;
    if (found) {
        old = registry->slots[at]->current;
        free(registry->slots[at]);
        registry->count--;
        memmove(registry->slots + at, registry->slots + at + 1, (registry->count - at) * sizeof *registry->slots);
    }
    pthread_mutex_unlock(&registry->lock);
    release(registry, old);
    if (found) {
        tell(registry, id, true);
    }
    return found;
}

size_t srv_registry_stats(srv_registry *registry, size_t skip, srv_mesh_stats *stats, size_t cap)
{
    pthread_mutex_lock(&registry->lock);
    size_t count = registry->count;
    for (size_t i = 0; i < cap && skip + i < count; i++) {
        const slot *s = registry->slots[skip + i];
        srv_mesh_stats *out = &stats[i];
        *out = (srv_mesh_stats){.reloads = s->reloads, .failures = s->failures, .failed = s->has_error};
        memcpy(out->id, s->id, sizeof out->id);
        if (s->current) {
            const api_mesh *mesh = s->current->mesh;
            nav_mesh_info info;
            nav_mesh_get_info(mesh->nav, &info);
            out->revision = mesh->revision;
            out->polygons = info.polygons;
            out->memory_bytes = mesh->memory_bytes;
        }
    }
    pthread_mutex_unlock(&registry->lock);
    return count;
}
