// Uploads and deletions in the mesh folder, on job threads: what is served is written down before it is
// published, and gone from the folder before it is gone from the service.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "folder_internal.h"
#include "log.h"

char *srv_folder_sidecar(srv_folder *folder, const char *id)
{
    char name[SRV_NAME_MAX];
    srv_bytes bytes;
    api_problem problem;
    srv__sidecar_name(id, name);
    // The text is NUL-terminated by the reader; a NUL inside would cut it and then fail as JSON.
    return srv_file_read(folder->path, name, &bytes, &problem) == SRV_READ_OK ? bytes.data : NULL;
}

static bool begin_writing(srv_folder *folder, const char *id)
{
    pthread_mutex_lock(&folder->lock);
    srv_item *item = srv__folder_find_or_add(folder, id);
    if (item) {
        item->writing = true;
    }
    pthread_mutex_unlock(&folder->lock);
    return item != NULL;
}

/// @param kept  what has been written; NULL: it failed, the next scan judges by what is there
static void end_writing(srv_folder *folder, const char *id, const srv_kept *kept)
{
    if (kept) {
        srv__folder_note(folder, id, kept, true);
    }
    pthread_mutex_lock(&folder->lock);
    srv_item *item = srv__folder_find(folder, id);
    if (item) {
        item->writing = false;
        if (kept) {
            memcpy(item->name, kept->name, sizeof item->name);
        } else if (!item->name[0]) {
            srv__folder_forget(folder, id); // was made for this upload
        }
    }
    pthread_mutex_unlock(&folder->lock);
}

static bool is_sidecar_name(const char *name)
{
    size_t length = strlen(name), ending = strlen(SRV_SIDECAR_ENDING);
    return length >= ending && strcmp(name + length - ending, SRV_SIDECAR_ENDING) == 0;
}

/// Both files are written before the first is renamed, so that a full disk changes nothing. A crash
/// between the two renames leaves the new sidecar beside the old, whole mesh.
static bool write_pair(srv_folder *folder, const char *id, const void *bytes, size_t size, const char *sidecar,
                       srv_kept *kept, api_problem *problem)
{
    char sidecar_name[SRV_NAME_MAX];
    srv__sidecar_name(id, sidecar_name);
    srv_staged mesh, beside = {.fd = -1};
    if (!srv_file_stage(&mesh, folder->path, kept->name, bytes, size, problem)) {
        return false;
    }
    bool ok = !sidecar || srv_file_stage(&beside, folder->path, sidecar_name, sidecar, strlen(sidecar), problem);
    ok = ok && (sidecar ? srv_file_commit(&beside, &kept->look.sidecar, problem)
                        : srv_file_remove(folder->path, sidecar_name, problem));
    ok = ok && srv_file_commit(&mesh, &kept->look.mesh, problem);
    srv_file_discard(&mesh);
    srv_file_discard(&beside);
    return ok;
}

/// Removes every mesh file of the id but `except` (NULL: none).
static bool remove_files(const srv_folder *folder, const char *id, const char *except, api_problem *problem)
{
    DIR *dir = opendir(folder->path);
    if (!dir) {
        api_problem_set(problem, API_INTERNAL, "cannot read the mesh folder: %s", strerror(errno));
        return false;
    }
    char map[SRV_NAME_MAX];
    srv_look look;
    bool ok = true, outside;
    snprintf(map, sizeof map, "%.64s" SRV_MMAP_ENDING, id);
    bool has_map = srv_file_look(folder->path, map, &look, &outside);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        char of[NAV_ID_MAX + 1], stem[SRV_NAME_MAX];
        bool tile = has_map && srv_tile_stem(entry->d_name, stem) && strcmp(stem, id) == 0;
        if (tile || (srv__folder_id_of(entry->d_name, of) && strcmp(of, id) == 0 &&
                     (!except || strcmp(entry->d_name, except) != 0))) {
            bool removed = srv_file_remove(folder->path, entry->d_name, problem);
            ok = removed && ok;
            if (removed && !tile) { // there may be thousands of those
                srv_log(SRV_INFO, SRV_EVENT("mesh file removed"), SRV_TEXT("mesh", id),
                        SRV_TEXT("file", entry->d_name));
            }
        }
    }
    closedir(dir);
    return ok;
}

bool srv_folder_keep(srv_folder *folder, const char *id, const char *extension, const void *bytes, size_t size,
                     const char *sidecar, char name[256], api_problem *problem)
{
    srv_kept kept = {0};
    snprintf(kept.name, sizeof kept.name, "%.64s%.32s", id, extension);
    if (is_sidecar_name(kept.name)) {
        api_problem_set(problem, API_BAD_REQUEST, "a mesh with this id cannot be kept: %s is a sidecar's name",
                        kept.name);
        return false;
    }
    if (!begin_writing(folder, id)) {
        api_problem_set(problem, API_INTERNAL, "no memory");
        return false;
    }
    // Files of the id with other endings are of no use any more, and would win after the next start if
    // their time were newer.
    bool ok = write_pair(folder, id, bytes, size, sidecar, &kept, problem) &&
              remove_files(folder, id, kept.name, problem) && srv_files_sync(folder->path, problem);
    kept.hash = srv__folder_hash(bytes, size, sidecar, sidecar ? strlen(sidecar) : 0);
    end_writing(folder, id, ok ? &kept : NULL);
    memcpy(name, kept.name, SRV_NAME_MAX);
    return ok;
}

bool srv_folder_remove(srv_folder *folder, const char *id, api_problem *problem)
{
    char sidecar[SRV_NAME_MAX];
    srv__sidecar_name(id, sidecar);
    // Under the lock, so that no scan sees one file without the other or forgets what is still there.
    pthread_mutex_lock(&folder->lock);
    bool ok = true;
    if (srv__folder_find(folder, id)) {
        ok = remove_files(folder, id, NULL, problem) && srv_file_remove(folder->path, sidecar, problem);
        if (ok) {
            srv__folder_forget(folder, id);
        }
    }
    pthread_mutex_unlock(&folder->lock);
    return ok && srv_files_sync(folder->path, problem);
}
