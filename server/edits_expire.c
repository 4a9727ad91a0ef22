// Edits with a time to live. A heap knows which mesh has something to lose and when; what it is, the mesh's
// own edits tell, so that an edit that was moved or removed meanwhile costs one look in vain.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "edits_internal.h"
#include "json_in.h"
#include "log.h"

/// A mesh that is to be looked at.
typedef struct expiry_work {
    srv_work work;
    srv_edits *edits;
    char id[NAV_ID_MAX + 1];
} expiry_work;

static void sink(srv_expiry *heap, size_t count, size_t at)
{
    for (;;) {
        size_t least = at, left = 2 * at + 1;
        for (size_t child = left; child < left + 2 && child < count; child++) {
            least = heap[child].at_ms < heap[least].at_ms ? child : least;
        }
        if (least == at) {
            return;
        }
        srv_expiry swap = heap[at];
        heap[at] = heap[least];
        heap[least] = swap;
        at = least;
    }
}

bool srv__expiry_add(srv_edits *edits, const char *id, int64_t at_ms)
{
    pthread_mutex_lock(&edits->lock);
    if (edits->heap_count == edits->heap_cap) {
        size_t cap = edits->heap_cap ? 2 * edits->heap_cap : 64;
        srv_expiry *heap = realloc(edits->heap, cap * sizeof *heap);
        if (!heap) {
            pthread_mutex_unlock(&edits->lock);
            return false;
        }
        edits->heap = heap;
        edits->heap_cap = cap;
    }
    size_t at = edits->heap_count++;
    while (at > 0 && edits->heap[(at - 1) / 2].at_ms > at_ms) {
        edits->heap[at] = edits->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    edits->heap[at].at_ms = at_ms;
    snprintf(edits->heap[at].id, sizeof edits->heap[at].id, "%s", id);
    pthread_mutex_unlock(&edits->lock);
    if (at == 0 && edits->wake) {
        edits->wake(edits->wake_ctx);
    }
    return true;
}

int64_t srv_edits_next(srv_edits *edits)
{
    pthread_mutex_lock(&edits->lock);
    int64_t next = edits->heap_count ? edits->heap[0].at_ms : INT64_MAX;
    pthread_mutex_unlock(&edits->lock);
    return next;
}

/// Takes the first of the heap when it is due.
static bool take_due(srv_edits *edits, int64_t now_ms, srv_expiry *due)
{
    pthread_mutex_lock(&edits->lock);
    bool some = edits->heap_count > 0 && edits->heap[0].at_ms <= now_ms;
    if (some) {
        *due = edits->heap[0];
        edits->heap[0] = edits->heap[--edits->heap_count];
        sink(edits->heap, edits->heap_count, 0);
    }
    pthread_mutex_unlock(&edits->lock);
    return some;
}

/// Everything of the mesh whose time is over. @return how many; `changes` NULL: only counts
static uint32_t collect(const api_edit_set *set, int64_t now_ms, api_change *changes)
{
    uint32_t count = 0;
    api_edit_walk walk = api_edit_set_walk(set, API_OBSTACLE);
    for (const api_edit *edit; (edit = api_edit_next(&walk));) {
        if (!edit->expires_ms || edit->expires_ms > now_ms) {
            continue;
        }
        if (changes) {
            changes[count] = (api_change){.op = API_EDIT_REMOVE, .kind = edit->kind};
            memcpy(changes[count].id, edit->id, sizeof changes[count].id);
        }
        count++;
    }
    return count;
}

static void expire(srv_edits *edits, srv_living *living, int64_t now_ms)
{
    srv__living_commit(edits, living);
    uint32_t count = collect(&living->standing, now_ms, NULL);
    api_change *changes = count ? calloc(count, sizeof *changes) : NULL;
    if (!changes) {
        return;
    }
    collect(&living->standing, now_ms, changes);
    api_problem problem = {0};
    const api_place place = {.problem = &problem};
    const api_edit_request request = {.changes = changes, .count = count, .listed = true, .place = &place};
    api_edited edited = {0};
    uint64_t revision;
    void *ticket = srv_edits_apply(edits, living->id, &request, &edited, &revision);
    bool done = ticket && srv_edits_commit(edits, ticket, &problem);
    api_edited_deinit(&edited);
    free(changes);
    if (done) {
        atomic_fetch_add(&edits->counters.expired, count);
        srv_log(SRV_DEBUG, SRV_EVENT("edits expired"), SRV_TEXT("mesh", living->id), SRV_INT("count", count));
        return;
    }
    srv_log(SRV_ERROR, SRV_EVENT("edits that have expired could not be taken away; another attempt follows"),
            SRV_TEXT("mesh", living->id), SRV_TEXT("detail", problem.detail));
    srv__expiry_add(edits, living->id, now_ms + 1000);
}

static void run_expiry(srv_work *work, srv_worker *worker)
{
    expiry_work *w = (expiry_work *)work;
    srv_living *living = srv__living_find(w->edits, w->id);
    // A mesh that is not served loses what has expired when it comes back: its log tells the times.
    const api_mesh *mesh = living && !worker->stopping ? srv_registry_acquire(w->edits->registry, w->id) : NULL;
    if (mesh) {
        srv_registry_release(w->edits->registry, mesh);
        expire(w->edits, living, srv_wall_ms());
    }
    free(w);
}

void srv_edits_expire(srv_edits *edits)
{
    int64_t now_ms = srv_wall_ms();
    srv_expiry due;
    char last[NAV_ID_MAX + 1] = "";
    while (take_due(edits, now_ms, &due)) {
        if (strcmp(due.id, last) == 0) {
            continue; // one look takes all of them
        }
        memcpy(last, due.id, sizeof last);
        expiry_work *w = calloc(1, sizeof *w);
        if (!w) {
            srv__expiry_add(edits, due.id, now_ms + 1000);
            return;
        }
        w->edits = edits;
        w->work.run = run_expiry;
        w->work.key = w->id;
        memcpy(w->id, due.id, sizeof w->id);
        srv_pool_again(edits->jobs, &w->work);
    }
}
