// The mesh folder's work on job threads: reading, building and publishing what a scan found.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "folder_internal.h"
#include "log.h"

/// A load or removal that waits in the job queue.
typedef struct folder_work {
    srv_work work;
    srv_folder *folder;
    char id[NAV_ID_MAX + 1];
    bool first; ///< the service is not ready before this one is done
} folder_work;

/// Bytes of a mesh and its sidecar, as read.
typedef struct mesh_bytes {
    srv_kept kept;
    srv_source source;
} mesh_bytes;

uint64_t srv__folder_hash(const void *mesh, size_t mesh_size, const char *sidecar, size_t sidecar_size)
{
    uint64_t sizes[2] = {mesh_size, sidecar ? sidecar_size + 1 : 0};
    uint64_t hash = srv_hash(SRV_HASH_START, sizes, sizeof sizes);
    hash = srv_hash(hash, mesh, mesh_size);
    return sidecar ? srv_hash(hash, sidecar, sidecar_size) : hash;
}

/// A .navd is known by its head and its look: it has a checksum of its own, and is faster to load than to hash.
static uint64_t hash_source(const srv_source *s)
{
    if (s->mapped) {
        size_t head = s->mesh.size < 64 ? s->mesh.size : 64;
        uint64_t hash = srv__folder_hash(s->mesh.data, head, s->sidecar.data, s->sidecar.size);
        return srv_hash(hash, &s->mesh.look, sizeof s->mesh.look);
    }
    uint64_t hash = srv__folder_hash(s->mesh.data, s->mesh.size, s->sidecar.data, s->sidecar.size);
    for (size_t i = 1; i < s->part_count; i++) {
        hash =
            srv_hash(srv_hash(hash, s->parts[i].name, strlen(s->parts[i].name)), s->parts[i].bytes, s->parts[i].size);
    }
    return hash;
}

static bool item_name(srv_folder *folder, const char *id, char name[SRV_NAME_MAX])
{
    pthread_mutex_lock(&folder->lock);
    srv_item *item = srv__folder_find(folder, id);
    if (item) {
        item->queued = false; // what changes from now on is a new load's
        memcpy(name, item->name, SRV_NAME_MAX);
    }
    pthread_mutex_unlock(&folder->lock);
    return item != NULL;
}

static srv_read_result read_pair(srv_folder *folder, const char *id, mesh_bytes *out, api_problem *problem)
{
    *out = (mesh_bytes){0};
    if (!item_name(folder, id, out->kept.name)) {
        return SRV_READ_MISSING;
    }
    char sidecar[SRV_NAME_MAX];
    srv__sidecar_name(id, sidecar);
    srv_source *s = &out->source;
    srv_read_result result = srv_source_read(s, folder->path, out->kept.name, sidecar, problem);
    if (result == SRV_READ_OK) {
        out->kept.look = (srv_look_pair){.mesh = s->mesh.look, .sidecar = s->sidecar.look};
        out->kept.hash = hash_source(s);
    }
    return result;
}

void srv__folder_note(srv_folder *folder, const char *id, const srv_kept *kept, bool served)
{
    pthread_mutex_lock(&folder->lock);
    srv_item *item = srv__folder_find(folder, id);
    if (item) {
        item->taken = kept->look;
        item->has_failed_hash = !served;
        if (served) {
            item->has_hash = true;
            item->hash = kept->hash;
        } else {
            item->failed_hash = kept->hash;
        }
    }
    pthread_mutex_unlock(&folder->lock);
}

typedef enum known { KNOWN_NEW, KNOWN_SERVED, KNOWN_BROKEN } known;

static known known_bytes(srv_folder *folder, const char *id, uint64_t hash)
{
    pthread_mutex_lock(&folder->lock);
    const srv_item *item = srv__folder_find(folder, id);
    known result = KNOWN_NEW;
    if (item && item->has_failed_hash && item->failed_hash == hash) {
        result = KNOWN_BROKEN;
    } else if (item && item->has_hash && item->hash == hash) {
        result = KNOWN_SERVED;
    }
    pthread_mutex_unlock(&folder->lock);
    return result;
}

/// The next scan must take the file again.
static void look_again(srv_folder *folder, const char *id)
{
    pthread_mutex_lock(&folder->lock);
    srv_item *item = srv__folder_find(folder, id);
    if (item) {
        item->taken = (srv_look_pair){0};
    }
    pthread_mutex_unlock(&folder->lock);
    folder->rescan(folder->rescan_ctx);
}

static void fail(srv_folder *folder, const char *id, const char *name, const api_problem *problem)
{
    srv_registry_fail(folder->registry, id, name, problem);
    srv_log(SRV_WARN, SRV_EVENT("mesh file cannot be loaded; what serves goes on serving"), SRV_TEXT("mesh", id),
            SRV_TEXT("file", name), SRV_TEXT("code", api_code_text(problem->code)),
            SRV_TEXT("detail", problem->detail));
}

static bool build(srv_folder *folder, const char *id, mesh_bytes *b, api_problem *problem)
{
    uint64_t began = srv_now_ns();
    api_mesh *mesh = srv_source_load(&b->source, NULL, NULL, problem);
    if (!mesh) {
        srv__folder_note(folder, id, &b->kept, false);
        fail(folder, id, b->kept.name, problem);
        return false;
    }
    double ms = (double)(srv_now_ns() - began) / SRV_NS_PER_MS;
    size_t memory = mesh->memory_bytes;
    if (!srv_edits_publish(folder->edits, id, mesh, b->kept.name, ms, NULL, problem)) {
        fail(folder, id, b->kept.name, problem);
        return false;
    }
    srv__folder_note(folder, id, &b->kept, true);
    srv_log(SRV_INFO, SRV_EVENT("mesh loaded"), SRV_TEXT("mesh", id), SRV_TEXT("file", b->kept.name),
            SRV_REAL("ms", ms), SRV_INT("memory_bytes", memory));
    return true;
}

/// One attempt. @param forced  also when the bytes are known
/// @return as api_host.reload
static bool load(srv_folder *folder, const char *id, bool forced, api_problem *problem)
{
    mesh_bytes b;
    srv_read_result result = read_pair(folder, id, &b, problem);
    switch (result) {
    case SRV_READ_OK:
        break;
    case SRV_READ_MISSING:
        api_problem_set(problem, API_NOT_FOUND, "mesh `%s` has no file in the mesh folder", id);
        srv_registry_cancelled(folder->registry, id);
        return false;
    case SRV_READ_CHANGED:
        api_problem_set(problem, API_CONFLICT, "the file of mesh `%s` is being written", id);
        srv_registry_cancelled(folder->registry, id);
        look_again(folder, id);
        return false;
    case SRV_READ_FAILED:
        fail(folder, id, b.kept.name, problem);
        return false;
    }
    bool ok = true;
    known seen = forced ? KNOWN_NEW : known_bytes(folder, id, b.kept.hash);
    if (seen == KNOWN_NEW) {
        ok = build(folder, id, &b, problem);
    } else if (seen == KNOWN_SERVED) {
        srv__folder_note(folder, id, &b.kept, true);
        srv_registry_unchanged(folder->registry, id);
    } else {
        srv__folder_note(folder, id, &b.kept, false);
        srv_registry_cancelled(folder->registry, id);
    }
    srv_source_free(&b.source);
    return ok;
}

static void finish(folder_work *w)
{
    if (w->first) {
        atomic_fetch_sub(&w->folder->first_loads, 1);
    }
    free(w);
}

static void run_load(srv_work *work, srv_worker *worker)
{
    folder_work *w = (folder_work *)work;
    api_problem problem = {0};
    if (!worker->stopping) {
        load(w->folder, w->id, false, &problem);
    }
    finish(w);
}

static void run_removal(srv_work *work, srv_worker *worker)
{
    folder_work *w = (folder_work *)work;
    srv_folder *folder = w->folder;
    srv_look look;
    bool outside;
    pthread_mutex_lock(&folder->lock);
    srv_item *item = srv__folder_find(folder, w->id);
    bool gone = item && !worker->stopping && !srv_file_look(folder->path, item->name, &look, &outside);
    char name[SRV_NAME_MAX] = "";
    if (item) {
        item->removing = false;
        item->missing_ns = 0;
        memcpy(name, item->name, sizeof name);
    }
    if (gone) {
        srv__folder_forget(folder, w->id);
    }
    pthread_mutex_unlock(&folder->lock);

    api_mesh_entry entry;
    if (gone && srv_registry_entry(folder->registry, w->id, &entry)) {
        srv_registry_release(folder->registry, entry.mesh);
        // A mesh that was uploaded over the file without keeping it is not the folder's to remove.
        if (strcmp(entry.source, SRV_SOURCE_UPLOAD) != 0) {
            srv_edits_rest(folder->edits, w->id);
            srv_registry_remove(folder->registry, w->id);
            srv_log(SRV_INFO, SRV_EVENT("mesh removed: its file is gone"), SRV_TEXT("mesh", w->id),
                    SRV_TEXT("file", name));
        }
    }
    finish(w);
}

static bool queue(srv_folder *folder, const char *id, bool first, void (*run)(srv_work *, srv_worker *))
{
    folder_work *w = calloc(1, sizeof *w);
    if (!w) {
        return false;
    }
    w->folder = folder;
    w->first = first;
    snprintf(w->id, sizeof w->id, "%s", id);
    w->work.run = run;
    w->work.key = w->id;
    if (first) {
        atomic_fetch_add(&folder->first_loads, 1);
    }
    srv_pool_again(folder->jobs, &w->work);
    return true;
}

bool srv__folder_queue_load(srv_folder *folder, const char *id, bool first)
{
    srv_item *item = srv__folder_find(folder, id);
    return item && srv_registry_loading(folder->registry, id, item->name) && queue(folder, id, first, run_load);
}

bool srv__folder_queue_removal(srv_folder *folder, const char *id)
{
    return queue(folder, id, false, run_removal);
}

bool srv_folder_reload(srv_folder *folder, const char *id, api_problem *problem)
{
    if (!srv_registry_loading(folder->registry, id, "")) {
        api_problem_set(problem, API_INTERNAL, "no memory");
        return false;
    }
    return load(folder, id, true, problem);
}
