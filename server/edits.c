// Applying and publishing. A request is applied at once, after all that came before it; it is committed when its
// job has its second turn, and with it whatever others applied meanwhile: one write, one sync, one swap.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "edits_internal.h"
#include "id_search.h"
#include "json_in.h"
#include "log.h"

const uint64_t srv_edit_bucket_us[SRV_EDIT_BUCKETS] = {250,   500,   1000,   2500,   5000,
                                                       10000, 25000, 100000, 500000, 2500000};

srv_edits *srv_edits_create(srv_registry *registry, srv_state *state)
{
    srv_edits *edits = calloc(1, sizeof *edits);
    if (edits) {
        edits->registry = registry;
        edits->state = state;
        pthread_mutex_init(&edits->lock, NULL);
    }
    return edits;
}

void srv_edits_connect(srv_edits *edits, srv_pool *jobs, void (*wake)(void *ctx), void *ctx)
{
    edits->jobs = jobs;
    edits->wake = wake;
    edits->wake_ctx = ctx;
}

// The table.

static const char *id_at(const void *list, size_t at)
{
    return ((srv_living *const *)list)[at]->id;
}

static size_t position(const srv_edits *edits, const char *id, bool *found)
{
    return srv_id_search(edits->living, edits->count, id_at, id, found);
}

static bool reserve(srv_edits *edits)
{
    if (edits->count < edits->cap) {
        return true;
    }
    size_t cap = edits->cap ? 2 * edits->cap : 16;
    srv_living **living = realloc(edits->living, cap * sizeof *living);
    if (living) {
        edits->living = living;
        edits->cap = cap;
    }
    return living != NULL;
}

srv_living *srv__living_find(srv_edits *edits, const char *id)
{
    pthread_mutex_lock(&edits->lock);
    bool found;
    size_t at = position(edits, id, &found);
    srv_living *living = found ? edits->living[at] : NULL;
    pthread_mutex_unlock(&edits->lock);
    return living;
}

srv_living *srv__living(srv_edits *edits, const char *id)
{
    pthread_mutex_lock(&edits->lock);
    bool found;
    size_t at = position(edits, id, &found);
    srv_living *living = found ? edits->living[at] : NULL;
    if (!living && reserve(edits) && (living = calloc(1, sizeof *living))) {
        snprintf(living->id, sizeof living->id, "%s", id);
        living->serial = ++edits->last_serial;
        memmove(edits->living + at + 1, edits->living + at, (edits->count - at) * sizeof *edits->living);
        edits->living[at] = living;
        edits->count++;
    }
    pthread_mutex_unlock(&edits->lock);
    return living;
}

static void release_group(srv_group *group)
{
    if (group && --group->holders == 0) {
        free(group);
    }
}

/// Gives up what is applied and not committed: whoever waits for it is told `problem`.
static void give_up(srv_edits *edits, srv_living *living, const api_problem *problem)
{
    if (living->open) {
        living->open->done = true;
        living->open->problem = *problem;
        release_group(living->open);
        living->open = NULL;
        atomic_fetch_add(&edits->counters.failed, 1);
    }
    api_mesh_destroy(living->pending);
    living->pending = NULL;
    srv_state_log_forget(&living->log);
    api_editor_destroy(living->editor); // it is ahead of what stands
    living->editor = NULL;
}

static void free_living(srv_edits *edits, srv_living *living)
{
    static const api_edit_set none;
    api_problem problem;
    api_problem_set(&problem, API_NOT_FOUND, "the mesh is gone");
    give_up(edits, living, &problem);
    srv__living_stand(edits, living, &none);
    srv_state_log_close(&living->log);
    free(living);
}

void srv_edits_destroy(srv_edits *edits)
{
    if (!edits) {
        return;
    }
    for (size_t i = 0; i < edits->count; i++) {
        free_living(edits, edits->living[i]);
    }
    free(edits->living);
    free(edits->heap);
    pthread_mutex_destroy(&edits->lock);
    free(edits);
}

static void remove_living(srv_edits *edits, srv_living *living)
{
    pthread_mutex_lock(&edits->lock);
    bool found;
    size_t at = position(edits, living->id, &found);
    edits->count--;
    memmove(edits->living + at, edits->living + at + 1, (edits->count - at) * sizeof *edits->living);
    pthread_mutex_unlock(&edits->lock);
    free_living(edits, living);
}

bool srv__living_stand(srv_edits *edits, srv_living *living, const api_edit_set *set)
{
    api_edit_set copy;
    if (!api_edit_set_copy(&copy, set)) {
        return false;
    }
    for (int kind = 0; kind < API_EDIT_KINDS; kind++) {
        atomic_fetch_add(&edits->counters.standing[kind], copy.counts[kind]);
        atomic_fetch_sub(&edits->counters.standing[kind], living->standing.counts[kind]);
    }
    api_edit_set_deinit(&living->standing);
    living->standing = copy;
    return true;
}

// Committing.

bool srv__living_commit(srv_edits *edits, srv_living *living)
{
    if (!living->open) {
        return true;
    }
    api_problem problem;
    uint64_t before = living->log.bytes;
    api_edit_set standing;
    if (!api_edit_set_copy(&standing, &living->pending->edits)) {
        api_problem_set(&problem, API_STORAGE_FULL, "not enough memory for the edits");
        give_up(edits, living, &problem);
        return false;
    }
    if (living->has_log && !srv_state_log_commit(&living->log, &problem)) {
        srv_log(SRV_ERROR, SRV_EVENT("edits could not be kept"), SRV_TEXT("mesh", living->id),
                SRV_TEXT("code", api_code_text(problem.code)), SRV_TEXT("detail", problem.detail));
        api_edit_set_deinit(&standing);
        give_up(edits, living, &problem);
        return false;
    }
    srv__count_log(edits, before, living->log.bytes);
    // What stands is known before it is seen, so that a reader of the revision finds it listed.
    srv__living_stand(edits, living, &standing);
    api_edit_set_deinit(&standing);
    srv_registry_revise(edits->registry, living->id, living->pending, living->pending_revision);
    living->pending = NULL;
    living->open->done = living->open->kept = true;
    release_group(living->open);
    living->open = NULL;
    atomic_fetch_add(&edits->counters.commits, 1);
    srv__living_look_at_log(edits, living);
    return true;
}

static void count_time(srv_edits *edits, uint64_t ns)
{
    size_t bucket = 0;
    while (bucket < SRV_EDIT_BUCKETS && ns > srv_edit_bucket_us[bucket] * 1000) {
        bucket++;
    }
    atomic_fetch_add(&edits->counters.buckets[bucket], 1);
    atomic_fetch_add(&edits->counters.sum_ns, ns);
}

static void end_ticket(srv_ticket *ticket)
{
    release_group(ticket->group);
    free(ticket);
}

bool srv_edits_commit(srv_edits *edits, void *ticket, api_problem *problem)
{
    srv_ticket *t = ticket;
    if (!t->group->done) { // then the mesh's edits are there: a group ends before they do
        srv__living_commit(edits, srv__living_find(edits, t->id));
    }
    bool kept = t->group->kept;
    if (kept) {
        count_time(edits, srv_now_ns() - t->began_ns);
    } else {
        *problem = t->group->problem;
    }
    end_ticket(t);
    return kept;
}

void srv_edits_drop(srv_edits *edits, void *ticket)
{
    (void)edits;
    end_ticket(ticket);
}

// Applying.

static uint64_t fresh_number(void *ctx)
{
    return srv_registry_reserve(ctx);
}

static bool fail(const api_edit_request *request, const api_problem *problem)
{
    *request->place->problem = *problem;
    return false;
}

static bool holds(srv_edits *edits, srv_living *living, const api_edit_request *request)
{
    if (!request->if_match) {
        return true;
    }
    // What others have applied must be seen first, or else it is not known what it comes to.
    srv__living_commit(edits, living);
    const api_mesh *mesh = srv_registry_acquire(edits->registry, living->id);
    uint64_t revision = mesh ? mesh->revision : 0;
    srv_registry_release(edits->registry, mesh);
    if (mesh && api_etag_matches(request->if_match, revision)) {
        return true;
    }
    api_problem_set(request->place->problem, API_CONFLICT, "If-Match does not hold: mesh `%s` is at revision %" PRIu64,
                    living->id, revision);
    return false;
}

static void tell_refused(void *ctx, const api_edit *edit, const char *why)
{
    srv_log(SRV_WARN, SRV_EVENT("an edit cannot be set on this mesh"), SRV_TEXT("mesh", ctx),
            SRV_TEXT("type", api_edit_kind_name(edit->kind)), SRV_TEXT("id", edit->id), SRV_TEXT("why", why));
}

/// Makes the editor from what serves.
static bool need_editor(srv_edits *edits, srv_living *living, api_problem *problem)
{
    if (living->editor) {
        return true;
    }
    const api_mesh *mesh = srv_registry_acquire(edits->registry, living->id);
    if (!mesh) {
        api_problem_set(problem, API_NOT_FOUND, "there is no mesh `%s`", living->id);
        return false;
    }
    living->editor = api_editor_create(mesh, tell_refused, living->id, problem);
    srv_registry_release(edits->registry, mesh);
    return living->editor != NULL;
}

static bool open_group(srv_living *living)
{
    if (!living->open) {
        living->open = calloc(1, sizeof *living->open);
        if (living->open) {
            living->open->holders = 1;
        }
    }
    return living->open != NULL;
}

/// What it takes to have the edits found again: in the log's batch, and among what expires.
static bool note(srv_edits *edits, srv_living *living, const api_edited *edited)
{
    for (uint32_t i = 0; i < edited->count; i++) {
        const api_edit *edit = edited->changes[i].edit;
        if (edit && edit->expires_ms && !srv__expiry_add(edits, living->id, edit->expires_ms)) {
            return false;
        }
    }
    if (!living->has_log) {
        return true;
    }
    api_buffer line = {0};
    api_edited_log(edited, &line);
    bool good = !line.failed && (line.size == 0 || srv_state_log_add(&living->log, line.data, line.size));
    api_buffer_free(&line);
    return good;
}

static void count_changes(srv_edits *edits, const api_edited *edited)
{
    for (uint32_t i = 0; i < edited->count; i++) {
        const api_changed *c = &edited->changes[i];
        atomic_fetch_add(c->edit ? &edits->counters.made[c->kind] : &edits->counters.removed[c->kind], 1);
    }
}

/// @return the group that the request's changes are committed with; NULL: the request's problem says why not
static srv_group *apply(srv_edits *edits, srv_living *living, const api_edit_request *request, api_edited *edited,
                        uint64_t *revision)
{
    api_problem *problem = request->place->problem;
    const api_edit_moment moment = {
        .wall_ms = srv_wall_ms(), .fresh_number = fresh_number, .ctx = edits->registry, .max_standing = SRV_EDITS_MAX};
    if (!holds(edits, living, request) || !need_editor(edits, living, problem) ||
        !api_editor_apply(living->editor, request->changes, request->count, request->listed, &moment, request->place,
                          edited)) {
        return NULL;
    }
    api_mesh *mesh = edited->mesh;
    edited->mesh = NULL;
    if (!open_group(living) || !note(edits, living, edited)) {
        api_problem none;
        api_problem_set(&none, API_STORAGE_FULL, "not enough memory for the edit");
        fail(request, &none);
        api_mesh_destroy(mesh);
        give_up(edits, living, &none);
        return NULL;
    }
    api_mesh_destroy(living->pending);
    living->pending = mesh;
    living->pending_revision = *revision = srv_registry_reserve(edits->registry);
    count_changes(edits, edited);
    return living->open;
}

void *srv_edits_apply(srv_edits *edits, const char *id, const api_edit_request *request, api_edited *edited,
                      uint64_t *revision)
{
    srv_living *living = srv__living(edits, id);
    srv_ticket *ticket = calloc(1, sizeof *ticket);
    if (!living || !ticket) {
        free(ticket);
        api_problem_set(request->place->problem, API_STORAGE_FULL, "not enough memory for the edit");
        return NULL;
    }
    srv__living_read_log(edits, living);
    ticket->began_ns = srv_now_ns();
    snprintf(ticket->id, sizeof ticket->id, "%s", id);
    if (edits->state && !living->has_log) {
        fail(request, &living->log_problem);
    } else {
        ticket->group = apply(edits, living, request, edited, revision);
    }
    if (!ticket->group) {
        free(ticket);
        return NULL;
    }
    ticket->group->holders++;
    return ticket;
}

// Meshes that come and go.

/// Edits that touched something before and nothing now, and the other way round, are set anew; expired ones go.
static bool judge(srv_edits *edits, srv_living *living, const api_mesh *mesh, uint32_t *idle)
{
    nav_query *query = nav_query_create(NULL);
    api_edit_set judged;
    bool good = query && api_edit_set_copy(&judged, &living->standing);
    if (!good) {
        nav_query_destroy(query);
        return false;
    }
    *idle = 0;
    int64_t now_ms = srv_wall_ms();
    api_edit_walk walk = api_edit_set_walk(&living->standing, API_OBSTACLE);
    for (const api_edit *edit; good && (edit = api_edit_next(&walk));) {
        if (edit->expires_ms && edit->expires_ms <= now_ms) { // while the mesh was not served
            good = api_edit_set_remove(&judged, edit->kind, edit->id, NULL);
            continue;
        }
        bool lost = !api_edit_touches(query, mesh->ground->nav, edit);
        *idle += lost;
        if (lost == edit->idle) {
            continue;
        }
        if (lost) {
            srv_log(SRV_WARN, SRV_EVENT("an edit no longer touches the mesh"), SRV_TEXT("mesh", living->id),
                    SRV_TEXT("type", api_edit_kind_name(edit->kind)), SRV_TEXT("id", edit->id));
        }
        api_edit *copy = api_edit_copy(edit);
        good = copy != NULL;
        if (copy) {
            copy->idle = lost;
            good = api_edit_set_put(&judged, copy);
            api_edit_release(copy);
        }
    }
    nav_query_destroy(query);
    good = good && srv__living_stand(edits, living, &judged);
    api_edit_set_deinit(&judged);
    return good;
}

/// The loaded mesh with what stands on its id. @return NULL: problem says why
static api_mesh *replay(srv_edits *edits, srv_living *living, const api_mesh *mesh, api_problem *problem)
{
    uint32_t idle = 0;
    api_problem_set(problem, API_STORAGE_FULL, "not enough memory for the edits of the mesh");
    if (!judge(edits, living, mesh, &idle)) {
        return NULL;
    }
    api_mesh *with = api_mesh_revise(mesh, &living->standing);
    if (!with) {
        return NULL;
    }
    api_mesh_set_nav(with, mesh->ground->nav);
    living->editor = api_editor_create(with, tell_refused, living->id, problem);
    api_mesh_destroy(with);
    api_mesh *revised = living->editor ? api_editor_revision(living->editor, problem) : NULL;
    if (!revised || !srv__living_stand(edits, living, &revised->edits)) {
        api_mesh_destroy(revised);
        return NULL;
    }
    srv_log(SRV_INFO, SRV_EVENT("edits set on the mesh"), SRV_TEXT("mesh", living->id),
            SRV_INT("edits", api_edit_set_count(&living->standing)), SRV_INT("idle", idle));
    return revised;
}

bool srv_edits_publish(srv_edits *edits, const char *id, api_mesh *mesh, const char *source, double load_ms,
                       bool *created, api_problem *problem)
{
    srv_living *living = srv__living(edits, id);
    if (!living) {
        api_mesh_destroy(mesh);
        api_problem_set(problem, API_INTERNAL, "no memory for another mesh");
        return false;
    }
    srv__living_read_log(edits, living);
    srv__living_commit(edits, living);
    api_editor *before = living->editor;
    living->editor = NULL;
    if (api_edit_set_count(&living->standing) > 0) {
        api_mesh *revised = replay(edits, living, mesh, problem);
        api_mesh_destroy(mesh);
        if (!revised) {
            api_editor_destroy(living->editor);
            living->editor = before;
            return false;
        }
        mesh = revised;
    }
    api_editor_destroy(before);
    if (!srv_registry_publish(edits->registry, id, mesh, source, load_ms, created)) {
        api_problem_set(problem, API_INTERNAL, "no memory for another mesh");
        api_editor_destroy(living->editor);
        living->editor = NULL;
        return false;
    }
    return true;
}

void srv_edits_rest(srv_edits *edits, const char *id)
{
    srv_living *living = srv__living_find(edits, id);
    if (living) {
        srv__living_commit(edits, living);
        api_editor_destroy(living->editor);
        living->editor = NULL;
    }
}

bool srv_edits_forget(srv_edits *edits, const char *id, api_problem *problem)
{
    srv_living *living = srv__living(edits, id);
    if (!living) {
        api_problem_set(problem, API_INTERNAL, "no memory");
        return false;
    }
    srv__living_read_log(edits, living);
    uint64_t before = living->log.bytes;
    if (living->has_log && !srv_state_log_remove(&living->log, problem)) {
        return false;
    }
    srv__count_log(edits, before, 0);
    remove_living(edits, living);
    return true;
}

static uint64_t load(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void srv_edits_get_stats(const srv_edits *edits, srv_edits_stats *stats)
{
    const srv_edits_counters *c = &edits->counters;
    *stats = (srv_edits_stats){.expired = load(&c->expired),
                               .failed = load(&c->failed),
                               .log_bytes = load(&c->log_bytes),
                               .commits = load(&c->commits),
                               .sum_ns = load(&c->sum_ns)};
    for (int kind = 0; kind < API_EDIT_KINDS; kind++) {
        stats->made[kind] = load(&c->made[kind]);
        stats->removed[kind] = load(&c->removed[kind]);
        stats->standing[kind] = load(&c->standing[kind]);
    }
    for (int i = 0; i <= SRV_EDIT_BUCKETS; i++) {
        stats->buckets[i] = load(&c->buckets[i]);
    }
}
