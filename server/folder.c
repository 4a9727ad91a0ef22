#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "folder_internal.h"
#include "id_search.h"
#include "log.h"

#define QUIET_NS ((uint64_t)SRV_FOLDER_QUIET_MS * SRV_NS_PER_MS)
#define RESTLESS_NS (4 * QUIET_NS) // after which a file that is replaced again and again is taken as it is
#define OLD_MS 2000                // at start, a file untouched for so long is taken at the first look
#define FIRST_SCAN_MAX_MS 2000     // a file that never comes to rest must not keep the service unready

/// A file of one scan.
typedef struct candidate {
    char id[NAV_ID_MAX + 1];
    char name[SRV_NAME_MAX];
    srv_look_pair look;
} candidate;

typedef struct candidates {
    candidate *list;
    size_t count, cap;
} candidates;

srv_folder *srv_folder_open(const char *path, srv_registry *registry, srv_edits *edits, char *error, size_t error_size)
{
    srv_folder *folder = calloc(1, sizeof *folder);
    if (!folder) {
        snprintf(error, error_size, "no memory");
        return NULL;
    }
    struct stat st;
    if (!realpath(path, folder->path) || stat(folder->path, &st) != 0) {
        snprintf(error, error_size, "mesh folder %s: %s", path, strerror(errno));
        free(folder);
        return NULL;
    }
    if (!S_ISDIR(st.st_mode)) {
        snprintf(error, error_size, "mesh folder %s: not a folder", path);
        free(folder);
        return NULL;
    }
    folder->registry = registry;
    folder->edits = edits;
    folder->opened_ns = srv_now_ns();
    pthread_mutex_init(&folder->lock, NULL);
    size_t removed = srv_files_clean(folder->path);
    if (removed > 0) {
        srv_log(SRV_INFO, SRV_EVENT("removed temporary files of an earlier run"), SRV_INT("count", removed));
    }
    return folder;
}

void srv_folder_connect(srv_folder *folder, srv_pool *jobs, srv_rescan_fn *rescan, void *ctx)
{
    folder->jobs = jobs;
    folder->rescan = rescan;
    folder->rescan_ctx = ctx;
}

void srv_folder_close(srv_folder *folder)
{
    if (!folder) {
        return;
    }
    for (size_t i = 0; i < folder->count; i++) {
        free(folder->items[i]);
    }
    free(folder->items);
    pthread_mutex_destroy(&folder->lock);
    free(folder);
}

const char *srv_folder_path(const srv_folder *folder)
{
    return folder->path;
}

uint64_t srv_folder_inode(const srv_folder *folder)
{
    struct stat st;
    return stat(folder->path, &st) == 0 ? st.st_ino : 0;
}

bool srv_folder_ready(srv_folder *folder)
{
    return atomic_load(&folder->scanned) && atomic_load(&folder->first_loads) == 0;
}

static const char *item_id(const void *list, size_t at)
{
    srv_item *const *items = list;
    return items[at]->id;
}

/// Where `id` is or would be. Under the lock.
static size_t position(const srv_folder *folder, const char *id, bool *found)
{
    return srv_id_search(folder->items, folder->count, item_id, id, found);
}

srv_item *srv__folder_find(srv_folder *folder, const char *id)
{
    bool found;
    size_t at = position(folder, id, &found);
    return found ? folder->items[at] : NULL;
}

srv_item *srv__folder_find_or_add(srv_folder *folder, const char *id)
{
    bool found;
    size_t at = position(folder, id, &found);
    if (found) {
        return folder->items[at];
    }
    if (folder->count == folder->cap) {
        size_t cap = folder->cap ? 2 * folder->cap : 16;
        srv_item **items = realloc(folder->items, cap * sizeof *items);
        if (!items) {
            return NULL;
        }
        folder->items = items;
        folder->cap = cap;
    }
    srv_item *item = calloc(1, sizeof *item);
    if (item) {
        snprintf(item->id, sizeof item->id, "%s", id);
        memmove(folder->items + at + 1, folder->items + at, (folder->count - at) * sizeof *folder->items);
        folder->items[at] = item;
        folder->count++;
    }
    return item;
}

void srv__folder_forget(srv_folder *folder, const char *id)
{
    bool found;
    size_t at = position(folder, id, &found);
    if (found) {
        free(folder->items[at]);
        folder->count--;
        memmove(folder->items + at, folder->items + at + 1, (folder->count - at) * sizeof *folder->items);
    }
}

void srv__sidecar_name(const char *id, char name[SRV_NAME_MAX])
{
    snprintf(name, SRV_NAME_MAX, "%.64s%s", id, SRV_SIDECAR_ENDING);
}

bool srv__folder_id_of(const char *name, char id[NAV_ID_MAX + 1])
{
    if (name[0] == '.' || strlen(name) >= SRV_NAME_MAX || !api_mesh_known_name(name)) {
        return false;
    }
    const char *dot = strrchr(name, '.');
    size_t length = dot ? (size_t)(dot - name) : 0;
    if (!api_id_valid(name, length)) {
        srv_log(SRV_DEBUG, SRV_EVENT("file ignored: its name makes no mesh id"), SRV_TEXT("file", name));
        return false;
    }
    memcpy(id, name, length);
    id[length] = '\0';
    return true;
}

static bool add_candidate(candidates *all, const candidate *c)
{
    if (all->count == all->cap) {
        size_t cap = all->cap ? 2 * all->cap : 64;
        candidate *list = realloc(all->list, cap * sizeof *list);
        if (!list) {
            return false;
        }
        all->list = list;
        all->cap = cap;
    }
    all->list[all->count++] = *c;
    return true;
}

/// Tells of a file that no reader is for, once each while the server runs.
static void tell_unknown(srv_folder *folder, const struct dirent *entry)
{
    const char *name = entry->d_name;
    size_t length = strlen(name), ending = strlen(SRV_SIDECAR_ENDING);
    bool sidecar = length > ending && strcmp(name + length - ending, SRV_SIDECAR_ENDING) == 0;
    bool file = entry->d_type == DT_REG || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN;
    if (name[0] == '.' || sidecar || !file || api_mesh_known_name(name)) {
        return;
    }
    uint64_t hash = srv_hash(SRV_HASH_START, name, length);
    for (size_t i = 0; i < folder->told_count; i++) {
        if (folder->told[i] == hash) {
            return;
        }
    }
    if (folder->told_count < SRV_TOLD_MAX) {
        folder->told[folder->told_count++] = hash;
        srv_log(SRV_INFO, SRV_EVENT("file ignored: its ending is of no format that is known"), SRV_TEXT("file", name));
    }
}

/// @return false: the folder could not be read; nothing may be concluded from what is missing
static bool collect(srv_folder *folder, candidates *all)
{
    DIR *dir = opendir(folder->path);
    if (!dir) {
        if (!folder->unreadable) {
            srv_log(SRV_ERROR, SRV_EVENT("cannot read the mesh folder; what is loaded goes on serving"),
                    SRV_TEXT("folder", folder->path), SRV_TEXT("error", strerror(errno)));
        }
        folder->unreadable = true;
        return false;
    }
    folder->unreadable = false;
    bool complete = true;
    errno = 0;
    for (struct dirent *entry = readdir(dir); entry; errno = 0, entry = readdir(dir)) {
        candidate c = {0};
        bool outside = false;
        if (!srv__folder_id_of(entry->d_name, c.id)) {
            tell_unknown(folder, entry);
            continue;
        }
        snprintf(c.name, sizeof c.name, "%s", entry->d_name);
        if (!srv_file_look(folder->path, c.name, &c.look.mesh, &outside)) {
            if (outside) {
                srv_log(SRV_DEBUG, SRV_EVENT("link ignored: it leads out of the mesh folder"),
                        SRV_TEXT("file", c.name));
            }
            continue;
        }
        complete = add_candidate(all, &c) && complete;
    }
    complete = complete && errno == 0;
    closedir(dir);
    return complete;
}

/// By id, the newest file of an id first.
static int compare_candidates(const void *a, const void *b)
{
    const candidate *p = a, *q = b;
    int order = strcmp(p->id, q->id);
    if (order != 0) {
        return order;
    }
    if (p->look.mesh.modified_ns != q->look.mesh.modified_ns) {
        return p->look.mesh.modified_ns > q->look.mesh.modified_ns ? -1 : 1;
    }
    return strcmp(p->name, q->name);
}

/// The map that a tile belongs to. The list is sorted by id. @return NULL: none is here
static candidate *find_map(candidates *all, const char *stem)
{
    size_t low = 0, high = all->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(all->list[middle].id, stem) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < all->count && strcmp(all->list[low].id, stem) == 0; low++) {
        if (strcmp(all->list[low].name + strlen(stem), SRV_MMAP_ENDING) == 0) {
            return &all->list[low];
        }
    }
    return NULL;
}

/// Takes tiles that belong to a map into the look at it, and looks at the sidecars of what is left.
static void gather_tiles(srv_folder *folder, candidates *all)
{
    for (size_t i = 0; i < all->count; i++) {
        char stem[SRV_NAME_MAX];
        candidate *c = &all->list[i], *map = srv_tile_stem(c->name, stem) ? find_map(all, stem) : NULL;
        if (map) {
            srv_look_add(&map->look.mesh, c->name, &c->look.mesh);
            c->name[0] = '\0'; // its id stays until the others have been looked for
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        candidate *c = &all->list[i];
        if (c->name[0]) {
            char sidecar[SRV_NAME_MAX];
            bool outside;
            srv__sidecar_name(c->id, sidecar);
            srv_file_look(folder->path, sidecar, &c->look.sidecar, &outside);
            all->list[kept++] = *c;
        }
    }
    all->count = kept;
}

static bool pairs_equal(const srv_look_pair *a, const srv_look_pair *b)
{
    return srv_look_equal(&a->mesh, &b->mesh) && srv_look_equal(&a->sidecar, &b->sidecar);
}

/// Is what changed a new file under the old name, and not the old one written to?
static bool is_replaced(const srv_look_pair *before, const srv_look_pair *now)
{
    return (srv_look_equal(&before->mesh, &now->mesh) || before->mesh.inode != now->mesh.inode) &&
           (srv_look_equal(&before->sidecar, &now->sidecar) || before->sidecar.inode != now->sidecar.inode);
}

static bool pair_settled(const srv_look_pair *pair)
{
    return srv_look_settled(&pair->mesh) && (pair->sidecar.inode == 0 || srv_look_settled(&pair->sidecar));
}

static void tell_clash(srv_item *item, const candidate *winner, const candidate *loser)
{
    if (strcmp(item->clash, loser->name) != 0) {
        snprintf(item->clash, sizeof item->clash, "%s", loser->name);
        srv_log(SRV_WARN, SRV_EVENT("two files of one mesh id: the newer is taken"), SRV_TEXT("mesh", item->id),
                SRV_TEXT("taken", winner->name), SRV_TEXT("ignored", loser->name));
    }
}

/// One file of a scan. Under the lock. @return true: it must be looked at again
static bool look_at(srv_folder *folder, srv_item *item, const candidate *c, uint64_t now, bool first)
{
    item->missing_ns = 0;
    if (item->writing) {
        return true;
    }
    bool same_file = strcmp(item->name, c->name) == 0;
    bool old = first && c->look.mesh.modified_ns < (srv_wall_ms() - OLD_MS) * SRV_NS_PER_MS;
    if (same_file && pairs_equal(&item->taken, &c->look)) {
        item->seen = c->look;
        item->restless_ns = 0;
        return false;
    }
    if (!same_file || !pairs_equal(&item->seen, &c->look)) {
        // Written to, it may still be growing. Replaced all the time, it would never be looked at twice the same,
        // but each was put there whole.
        // (Inode numbers come back, so that not every look shows that a file was replaced.)
        bool replaced = same_file && is_replaced(&item->seen, &c->look);
        item->restless_ns = same_file && item->restless_ns ? item->restless_ns : now;
        bool take = replaced && now - item->restless_ns >= RESTLESS_NS;
        item->seen = c->look;
        item->seen_ns = now;
        snprintf(item->name, sizeof item->name, "%s", c->name);
        if (!old && !take && !pair_settled(&c->look)) {
            return true;
        }
    } else if (now - item->seen_ns < QUIET_NS) {
        return true;
    }
    item->restless_ns = 0;
    item->taken = c->look;
    if (item->queued) {
        return false; // the load that waits will read the newest bytes
    }
    item->queued = srv__folder_queue_load(folder, item->id, first);
    if (!item->queued) {
        item->taken = (srv_look_pair){0};
    }
    return !item->queued;
}

/// An item whose file was not found. Under the lock. @return true: it must be looked at again
static bool look_at_missing(srv_folder *folder, srv_item *item, uint64_t now)
{
    if (item->removing || item->writing) {
        return item->writing;
    }
    if (item->missing_ns == 0) {
        item->missing_ns = now;
        return true;
    }
    // Editors remove and write anew; a moment's absence is no deletion.
    if (now - item->missing_ns < 2 * QUIET_NS) {
        return true;
    }
    item->removing = srv__folder_queue_removal(folder, item->id);
    return !item->removing;
}

static const char *candidate_id(const void *list, size_t at)
{
    const candidate *first = list;
    return first[at].id;
}

static bool is_candidate(const candidates *all, const char *id)
{
    bool found;
    srv_id_search(all->list, all->count, candidate_id, id, &found);
    return found;
}

bool srv_folder_scan(srv_folder *folder)
{
    candidates all = {0};
    bool first = !atomic_load(&folder->scanned), again = false;
    // Held while looking, too: a file that an upload or deletion is about to make known must not be
    // judged by a look from before.
    pthread_mutex_lock(&folder->lock);
    bool complete = collect(folder, &all);
    if (all.count > 0) {
        qsort(all.list, all.count, sizeof *all.list, compare_candidates);
        gather_tiles(folder, &all);
    }
    uint64_t now = srv_now_ns();
    for (size_t i = 0; i < all.count; i++) {
        const candidate *c = &all.list[i];
        srv_item *item = srv__folder_find_or_add(folder, c->id);
        if (!item) {
            again = true;
            continue;
        }
        again = look_at(folder, item, c, now, first) || again;
        while (i + 1 < all.count && strcmp(all.list[i + 1].id, c->id) == 0) {
            tell_clash(item, c, &all.list[++i]);
        }
    }
    for (size_t i = 0; complete && i < folder->count; i++) {
        srv_item *item = folder->items[i];
        if (!is_candidate(&all, item->id)) {
            again = look_at_missing(folder, item, now) || again;
        }
    }
    pthread_mutex_unlock(&folder->lock);
    free(all.list);
    if (first && (!again || now - folder->opened_ns > (uint64_t)FIRST_SCAN_MAX_MS * SRV_NS_PER_MS)) {
        atomic_store(&folder->scanned, true);
    }
    return again;
}
