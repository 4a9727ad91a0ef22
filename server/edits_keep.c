// The log of a mesh's edits: read when the mesh is first seen, rewritten when it has become long for what it says.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "edits_internal.h"
#include "log.h"

#define SHORT_BYTES 65536 // a log up to this is as short as it need be

/// What a reader of the log has at hand.
typedef struct reading {
    srv_edits *edits;
    srv_living *living;
    api_edit_set set;
    int64_t now_ms;
    uint64_t failed;
    api_problem problem; ///< of the first that failed
} reading;

void srv__count_log(srv_edits *edits, uint64_t before, uint64_t after)
{
    atomic_fetch_add(&edits->counters.log_bytes, after);
    atomic_fetch_sub(&edits->counters.log_bytes, before);
}

static void read_record(void *ctx, char *payload, size_t size)
{
    reading *r = ctx;
    api_problem problem = {0};
    if (!api_edit_set_replay(&r->set, payload, size, r->now_ms, &r->living->last_order, &problem)) {
        r->problem = r->failed++ ? r->problem : problem;
    }
}

static void tell_found(const srv_living *living, const srv_state_found *found, const reading *r)
{
    const char *id = living->id;
    if (found->cut_bytes > 0) {
        srv_log(SRV_WARN, SRV_EVENT("the torn end of a log of edits was cut"), SRV_TEXT("mesh", id),
                SRV_INT("bytes", found->cut_bytes), SRV_INT("records", found->records));
    }
    if (found->broken > 0) {
        srv_log(SRV_ERROR, SRV_EVENT("records of edits are damaged and were passed over"), SRV_TEXT("mesh", id),
                SRV_INT("records", found->broken));
    }
    if (found->foreign) {
        srv_log(SRV_ERROR, SRV_EVENT("a log of edits of another version was set aside"), SRV_TEXT("mesh", id),
                SRV_TEXT("file", living->log.name));
    }
    if (r->failed > 0) {
        srv_log(SRV_ERROR, SRV_EVENT("records of edits are not understood and were passed over"), SRV_TEXT("mesh", id),
                SRV_INT("records", r->failed), SRV_TEXT("detail", r->problem.detail));
    }
    if (found->records > 0) {
        srv_log(SRV_INFO, SRV_EVENT("edits read"), SRV_TEXT("mesh", id), SRV_INT("records", found->records),
                SRV_INT("standing", api_edit_set_count(&r->set)), SRV_INT("bytes", living->log.bytes));
    }
}

void srv__living_read_log(srv_edits *edits, srv_living *living)
{
    if (living->log_read || !edits->state) {
        return;
    }
    living->log_read = true;
    reading r = {.edits = edits, .living = living, .now_ms = srv_wall_ms()};
    srv_state_found found;
    living->has_log =
        srv_state_log_open(&living->log, edits->state, living->id, read_record, &r, &found, &living->log_problem);
    if (!living->has_log) {
        srv_log(SRV_ERROR, SRV_EVENT("the log of edits cannot be read; no edits are taken"),
                SRV_TEXT("mesh", living->id), SRV_TEXT("detail", living->log_problem.detail));
    } else {
        tell_found(living, &found, &r);
        srv__count_log(edits, 0, living->log.bytes);
        living->shortest = living->log.bytes;
        srv__living_stand(edits, living, &r.set);
        api_edit_walk walk = api_edit_set_walk(&living->standing, API_OBSTACLE);
        for (const api_edit *edit; (edit = api_edit_next(&walk));) {
            if (edit->expires_ms) {
                srv__expiry_add(edits, living->id, edit->expires_ms);
            }
        }
    }
    api_edit_set_deinit(&r.set);
}

// Rewriting.

/// A log on its way: first beside the mesh's own work, then for a moment in its place.
typedef struct rewrite {
    srv_work work;
    srv_edits *edits;
    char id[NAV_ID_MAX + 1];
    uint64_t serial;
    char name[SRV_STATE_NAME_MAX];
    api_edit_set set;
    uint64_t from;
    bool made;
    srv_state_rewrite file;
} rewrite;

static void end_rewrite(rewrite *w)
{
    api_edit_set_deinit(&w->set);
    free(w);
}

static void tell_failed(const rewrite *w, const api_problem *problem)
{
    srv_log(SRV_WARN, SRV_EVENT("a log of edits could not be shortened"), SRV_TEXT("mesh", w->id),
            SRV_TEXT("detail", problem->detail));
}

/// Under the mesh's key: the new log takes the old one's place.
static void finish_rewrite(srv_work *work, srv_worker *worker)
{
    rewrite *w = (rewrite *)work;
    srv_living *living = srv__living_find(w->edits, w->id);
    if (worker->stopping || !living || living->serial != w->serial) {
        srv_state_rewrite_drop(&w->file);
        end_rewrite(w);
        return;
    }
    api_problem problem;
    srv__living_commit(w->edits, living); // its batch must not be caught between the two
    uint64_t before = living->log.bytes;
    if (w->made && srv_state_rewrite_finish(&w->file, &living->log, &problem)) {
        srv_log(SRV_INFO, SRV_EVENT("log of edits shortened"), SRV_TEXT("mesh", w->id), SRV_INT("from", before),
                SRV_INT("to", living->log.bytes));
        srv__count_log(w->edits, before, living->log.bytes);
    } else if (w->made) {
        tell_failed(w, &problem);
    }
    living->shortest = living->log.bytes; // where that failed, the next attempt is due when it has doubled
    living->rewriting = false;
    end_rewrite(w);
}

/// What stands, a record each, in the order in which it was set.
static bool print_all(const api_edit_set *set, api_buffer *out)
{
    size_t count;
    const api_edit **list = api_edit_set_by_order(set, ~0u, &count);
    if (!list) {
        return false;
    }
    api_buffer line = {0};
    for (size_t i = 0; i < count; i++) {
        if (!list[i]->is_volatile) {
            line.size = 0;
            api_edit_log_line(&line, list[i]);
            srv_state_record(out, line.data, line.size);
        }
    }
    bool good = !line.failed && !out->failed;
    api_buffer_free(&line);
    free(list);
    return good;
}

/// Beside the mesh's own work: edits go on meanwhile, on the old log.
static void begin_rewrite(srv_work *work, srv_worker *worker)
{
    rewrite *w = (rewrite *)work;
    api_buffer records = {0};
    api_problem problem;
    api_problem_set(&problem, API_STORAGE_FULL, "out of memory");
    w->file.staged.fd = -1;
    w->made = !worker->stopping && print_all(&w->set, &records) &&
              srv_state_rewrite_begin(&w->file, w->edits->state, w->name, &records, w->from, &problem);
    api_buffer_free(&records);
    if (!w->made && !worker->stopping) {
        tell_failed(w, &problem);
    }
    w->work.key = w->id;
    w->work.run = finish_rewrite;
    srv_pool_again(worker->pool, &w->work);
}

void srv__living_look_at_log(srv_edits *edits, srv_living *living)
{
    bool due = living->log.bytes > SHORT_BYTES && living->log.bytes > 2 * living->shortest;
    if (!due || !living->has_log || living->rewriting || !edits->jobs) {
        return;
    }
    rewrite *w = calloc(1, sizeof *w);
    if (!w || !api_edit_set_copy(&w->set, &living->standing)) {
        free(w);
        return;
    }
    w->edits = edits;
    w->serial = living->serial;
    w->from = living->log.bytes;
    w->work.run = begin_rewrite;
    memcpy(w->id, living->id, sizeof w->id);
    memcpy(w->name, living->log.name, sizeof w->name);
    living->rewriting = true;
    srv_pool_again(edits->jobs, &w->work);
}
