// The table of crowds, and what happens to them when meshes come and go.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "crowds_inside.h"
#include "id_search.h"
#include "log.h"

srv_crowds *srv_crowds_create(const srv_crowds_options *options)
{
    srv_crowds *crowds = calloc(1, sizeof *crowds);
    if (crowds) {
        crowds->options = *options;
        pthread_mutex_init(&crowds->lock, NULL);
    }
    return crowds;
}

static void destroy(srv_crowd *crowd)
{
    srv_feed_close(crowd->feed, SRV_FEED_REMOVED);
    srv_feed_release(crowd->feed);
    api_agents_destroy(crowd->agents);
    srv_registry_release(crowd->crowds->options.registry, crowd->mesh);
    free(crowd);
}

void srv_crowds_destroy(srv_crowds *crowds)
{
    if (!crowds) {
        return;
    }
    for (size_t i = 0; i < crowds->slot_count; i++) {
        if (crowds->slots[i]->crowd) {
            destroy(crowds->slots[i]->crowd);
        }
        free(crowds->slots[i]);
    }
    free(crowds->slots);
    pthread_mutex_destroy(&crowds->lock);
    free(crowds);
}

void srv_crowds_stop(srv_crowds *crowds)
{
    if (crowds) {
        pthread_mutex_lock(&crowds->lock);
        crowds->stopped = true;
        pthread_mutex_unlock(&crowds->lock);
    }
}

static const char *id_at(const void *list, size_t at)
{
    return ((srv_crowd_slot *const *)list)[at]->id;
}

/// Where `id` is or would be. Under the lock.
static size_t position(const srv_crowds *crowds, const char *id, bool *found)
{
    return srv_id_search(crowds->slots, crowds->slot_count, id_at, id, found);
}

/// Under the lock. @return NULL: none
static srv_crowd_slot *find_slot(const srv_crowds *crowds, const char *id)
{
    bool found;
    size_t at = position(crowds, id, &found);
    return found ? crowds->slots[at] : NULL;
}

/// Under the lock. @return NULL: no memory
static srv_crowd_slot *find_or_add_slot(srv_crowds *crowds, const char *id)
{
    bool found;
    size_t at = position(crowds, id, &found);
    if (found) {
        return crowds->slots[at];
    }
    if (crowds->slot_count == crowds->slot_cap) {
        size_t cap = crowds->slot_cap ? 2 * crowds->slot_cap : 16;
        srv_crowd_slot **slots = realloc(crowds->slots, cap * sizeof *slots);
        if (!slots) {
            return NULL;
        }
        crowds->slots = slots;
        crowds->slot_cap = cap;
    }
    srv_crowd_slot *slot = calloc(1, sizeof *slot);
    if (!slot) {
        return NULL;
    }
    snprintf(slot->id, sizeof slot->id, "%s", id);
    memmove(crowds->slots + at + 1, crowds->slots + at, (crowds->slot_count - at) * sizeof *crowds->slots);
    crowds->slots[at] = slot;
    crowds->slot_count++;
    return slot;
}

srv_crowd *srv__crowd_find(srv_crowds *crowds, const char *id)
{
    pthread_mutex_lock(&crowds->lock);
    const srv_crowd_slot *slot = find_slot(crowds, id);
    srv_crowd *crowd = slot ? slot->crowd : NULL;
    pthread_mutex_unlock(&crowds->lock);
    return crowd;
}

void srv__crowd_leave(srv_crowd *crowd)
{
    srv_crowds *crowds = crowd->crowds;
    pthread_mutex_lock(&crowds->lock);
    bool last = --crowd->references == 0;
    pthread_mutex_unlock(&crowds->lock);
    if (last) {
        destroy(crowd);
    }
}

static void print_changes(void *ctx, const api_agents_view *view, api_buffer *out)
{
    api_agents_write_changes(ctx, view, out);
}

void srv__crowd_publish(srv_crowd *crowd)
{
    if (api_agents_news(crowd->agents)) {
        srv_feed_publish(crowd->feed, print_changes, crowd->agents);
        api_agents_told(crowd->agents);
    }
}

/// Takes the mesh's reference over where it is a newer revision, else gives it back.
static void set_mesh(srv_crowd *crowd, const api_mesh *mesh)
{
    srv_registry *registry = crowd->crowds->options.registry;
    if (mesh == crowd->mesh) {
        srv_registry_release(registry, mesh);
        return;
    }
    const api_mesh *old = crowd->mesh;
    crowd->mesh = mesh;
    api_agents_set_mesh(crowd->agents, mesh);
    srv_registry_release(registry, old);
    srv__crowd_reschedule(crowd, mesh->tick_hz, crowd->set_hz, api_agents_count(crowd->agents));
    srv__crowd_publish(crowd);
}

bool srv__crowd_refresh(srv_crowd *crowd)
{
    const api_mesh *mesh = srv_registry_acquire(crowd->crowds->options.registry, crowd->id);
    if (mesh) {
        set_mesh(crowd, mesh);
    }
    return mesh;
}

/// A mesh with agents was published or removed.
static void run_refresh(srv_work *work, srv_worker *worker)
{
    srv_crowd *crowd = (srv_crowd *)(void *)((char *)work - offsetof(srv_crowd, refresh));
    srv_crowds *crowds = crowd->crowds;
    pthread_mutex_lock(&crowds->lock);
    crowd->refresh_waits = false;
    bool removed = crowd->removed;
    pthread_mutex_unlock(&crowds->lock);
    if (!removed && !worker->stopping) {
        srv__crowd_refresh(crowd);
    }
    srv__crowd_leave(crowd);
}

void srv_crowds_mesh_changed(void *ctx, const char *id, bool removed)
{
    srv_crowds *crowds = ctx;
    pthread_mutex_lock(&crowds->lock);
    srv_crowd_slot *slot = find_slot(crowds, id);
    srv_crowd *crowd = slot ? slot->crowd : NULL;
    if (crowd && !crowds->stopped) {
        if (!crowd->refresh_waits) {
            crowd->refresh_waits = true;
            crowd->references++;
            srv_pool_again(crowds->options.workers, &crowd->refresh);
        }
        if (removed) {
            // From now on nobody finds it; the work that waits sees to its end, behind those that know it still.
            crowd->removed = true;
            crowd->references--;
            slot->crowd = NULL;
        }
    }
    pthread_mutex_unlock(&crowds->lock);
}

/// @param mesh  a reference, taken over. @return NULL: no memory
static srv_crowd *create(srv_crowds *crowds, const char *id, const api_mesh *mesh, uint64_t *numbers)
{
    srv_crowd *crowd = calloc(1, sizeof *crowd);
    // Milliseconds since 1970, so that no version of an earlier crowd is used again.
    const api_agents_options options = {
        .max_agents = crowds->options.max_agents, .first_version = (uint64_t)srv_wall_ms(), .numbers = numbers};
    api_agents *agents = crowd ? api_agents_create(&options, mesh) : NULL;
    srv_feed *feed = agents ? srv_feed_create(&crowds->feed_metrics) : NULL;
    if (!feed) {
        api_agents_destroy(agents);
        free(crowd);
        srv_registry_release(crowds->options.registry, mesh);
        return NULL;
    }
    crowd->crowds = crowds;
    snprintf(crowd->id, sizeof crowd->id, "%s", id);
    crowd->mesh = mesh;
    crowd->agents = agents;
    crowd->feed = feed;
    crowd->references = 1;
    crowd->refresh = (srv_work){.run = run_refresh, .key = crowd->id};
    crowd->tick = (srv_work){.run = srv__crowd_run_tick, .key = crowd->id};
    crowd->mesh_hz = mesh->tick_hz;
    crowd->set_hz = -1;
    return crowd;
}

srv_crowd *srv__crowd_get(srv_crowds *crowds, const char *id)
{
    const api_mesh *mesh = srv_registry_acquire(crowds->options.registry, id);
    if (!mesh) {
        return NULL;
    }
    srv_crowd *crowd = srv__crowd_find(crowds, id);
    if (crowd) {
        set_mesh(crowd, mesh);
        return crowd;
    }
    // No other thread makes one of this id: all who do are works with this key.
    pthread_mutex_lock(&crowds->lock);
    srv_crowd_slot *slot = find_or_add_slot(crowds, id);
    pthread_mutex_unlock(&crowds->lock);
    crowd = slot ? create(crowds, id, mesh, &slot->numbers) : NULL;
    if (!slot) {
        srv_registry_release(crowds->options.registry, mesh);
    }
    if (crowd) {
        pthread_mutex_lock(&crowds->lock);
        slot->crowd = crowd;
        bool draining = crowds->draining;
        pthread_mutex_unlock(&crowds->lock);
        if (draining) {
            srv_feed_close(crowd->feed, SRV_FEED_DRAIN);
        }
    }
    return crowd;
}

void srv_crowds_drain(srv_crowds *crowds)
{
    pthread_mutex_lock(&crowds->lock);
    crowds->draining = true;
    for (size_t i = 0; i < crowds->slot_count; i++) {
        if (crowds->slots[i]->crowd) {
            srv_feed_close(crowds->slots[i]->crowd->feed, SRV_FEED_DRAIN);
        }
    }
    pthread_mutex_unlock(&crowds->lock);
}
