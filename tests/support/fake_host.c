#include "fake_host.h"

#include "json_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t now_ns(void *ctx)
{
    fake_host *fake = ctx;
    fake->now_ns += fake->step_ns;
    return fake->now_ns;
}

static fake_mesh *find(fake_host *fake, const char *id)
{
    for (size_t i = 0; i < fake->count; i++) {
        if (strcmp(fake->meshes[i].id, id) == 0) {
            return &fake->meshes[i];
        }
    }
    return NULL;
}

static fake_mesh *find_or_add(fake_host *fake, const char *id)
{
    fake_mesh *slot = find(fake, id);
    if (!slot && fake->count < FAKE_MESHES) {
        slot = &fake->meshes[fake->count++];
        *slot = (fake_mesh){.state = API_MESH_READY, .tick_hz = -1};
        snprintf(slot->id, sizeof slot->id, "%s", id);
    }
    return slot;
}

static const api_mesh *acquire(void *ctx, const char *id)
{
    fake_host *fake = ctx;
    const fake_mesh *slot = find(fake, id);
    if (!slot || !slot->mesh) {
        return NULL;
    }
    fake->references++;
    return slot->mesh;
}

static const api_mesh *shrunk(void *ctx, const api_mesh *mesh, double difference, bool wait, api_problem *problem)
{
    fake_host *fake = ctx;
    bool there = fake->shrunk && fake->shrunk->revision == mesh->revision && fake->shrunk->shrunk_by == difference;
    if (!there && (!wait || fake->shrink_after-- > 0)) {
        return NULL;
    }
    if (!there) {
        api_mesh_destroy(fake->shrunk);
        fake->shrunk = api_mesh_shrink(mesh, difference, NULL, problem);
    }
    fake->references += fake->shrunk != NULL;
    return fake->shrunk;
}

static void release(void *ctx, const api_mesh *mesh)
{
    fake_host *fake = ctx;
    (void)mesh;
    fake->references--;
}

static void fill_entry(fake_host *fake, const fake_mesh *slot, api_mesh_entry *entry)
{
    *entry = (api_mesh_entry){.mesh = slot->mesh, .state = slot->state, .has_error = slot->has_error};
    memcpy(entry->id, slot->id, sizeof entry->id);
    snprintf(entry->source, sizeof entry->source, "%s.json", slot->id);
    if (slot->has_error) {
        snprintf(entry->error_code, sizeof entry->error_code, "bad_mesh");
        snprintf(entry->error_detail, sizeof entry->error_detail, "line 3: it is broken");
        entry->error_at_ms = 1700000000123;
    }
    if (slot->mesh) {
        fake->references++;
    }
}

static bool entry_of(void *ctx, const char *id, api_mesh_entry *entry)
{
    fake_host *fake = ctx;
    const fake_mesh *slot = find(fake, id);
    if (slot) {
        fill_entry(fake, slot, entry);
    }
    return slot != NULL;
}

static size_t entries(void *ctx, size_t skip, api_mesh_entry *list, size_t cap)
{
    fake_host *fake = ctx;
    for (size_t i = skip; i < fake->count && i - skip < cap; i++) {
        fill_entry(fake, &fake->meshes[i], &list[i - skip]);
    }
    return fake->count;
}

static void forget_edits(fake_mesh *slot)
{
    api_editor_destroy(slot->editor);
    api_mesh_destroy(slot->pending);
    slot->editor = NULL;
    slot->pending = NULL;
}

static void publish(fake_host *fake, fake_mesh *slot, api_mesh *mesh)
{
    if (slot->agents) {
        api_agents_set_mesh(slot->agents, mesh);
    }
    forget_edits(slot);
    api_mesh_destroy(slot->mesh);
    slot->mesh = mesh;
    slot->state = API_MESH_READY;
    slot->has_error = false;
    mesh->revision = ++fake->last_revision;
    mesh->loaded_at_ms = 1700000000000;
    memcpy(mesh->id, slot->id, sizeof mesh->id);
    snprintf(mesh->source, sizeof mesh->source, "upload");
}

static bool put(void *ctx, const char *id, api_mesh *mesh, const void *bytes, size_t size, const char *sidecar,
                bool persist, bool *created, api_problem *problem)
{
    fake_host *fake = ctx;
    (void)bytes;
    (void)size;
    *created = !find(fake, id);
    fake_mesh *slot = find_or_add(fake, id);
    if (!slot) {
        api_mesh_destroy(mesh);
        api_problem_set(problem, API_STORAGE_FULL, "no room");
        return false;
    }
    publish(fake, slot, mesh);
    if (persist) {
        fake->persisted++;
        free(slot->sidecar);
        slot->sidecar = sidecar ? strdup(sidecar) : NULL;
    }
    return true;
}

static char *sidecar_of(void *ctx, const char *id)
{
    const fake_mesh *slot = find(ctx, id);
    return slot && slot->sidecar ? strdup(slot->sidecar) : NULL;
}

static bool remove_mesh(void *ctx, const char *id, api_problem *problem)
{
    fake_host *fake = ctx;
    fake_mesh *slot = find(fake, id);
    if (!slot) {
        api_problem_set(problem, API_NOT_FOUND, "there is no mesh `%s`", id);
        return false;
    }
    api_agents_destroy(slot->agents);
    forget_edits(slot);
    api_mesh_destroy(slot->mesh);
    free(slot->sidecar);
    size_t after = fake->count - (size_t)(slot - fake->meshes) - 1;
    memmove(slot, slot + 1, after * sizeof *slot);
    fake->count--;
    return true;
}

static bool reload(void *ctx, const char *id, api_problem *problem)
{
    fake_host *fake = ctx;
    fake_mesh *slot = find(fake, id);
    if (!slot || !slot->mesh) {
        api_problem_set(problem, API_NOT_FOUND, "there is no mesh `%s`", id);
        return false;
    }
    slot->mesh->revision = ++fake->last_revision;
    return true;
}

static uint64_t fresh_number(void *ctx)
{
    fake_host *fake = ctx;
    return ++fake->last_revision;
}

static void *edit(void *ctx, const char *id, const api_edit_request *request, api_edited *edited, uint64_t *revision)
{
    fake_host *fake = ctx;
    fake_mesh *slot = find(fake, id);
    const api_edit_moment moment = {.wall_ms = fake->wall_ms, .fresh_number = fresh_number, .ctx = fake};
    if (request->if_match && !api_etag_matches(request->if_match, slot->mesh->revision)) {
        api_problem_set(request->place->problem, API_CONFLICT, "If-Match does not hold");
        return NULL;
    }
    slot->editor = slot->editor ? slot->editor : api_editor_create(slot->mesh, NULL, NULL, request->place->problem);
    if (!slot->editor || !api_editor_apply(slot->editor, request->changes, request->count, request->listed, &moment,
                                           request->place, edited)) {
        return NULL;
    }
    api_mesh_destroy(slot->pending);
    slot->pending = edited->mesh;
    edited->mesh = NULL;
    slot->pending_revision = *revision = ++fake->last_revision;
    api_buffer line = {0};
    api_edited_log(edited, &line);
    snprintf(fake->log, sizeof fake->log, "%.*s", (int)line.size, line.data ? line.data : "");
    api_buffer_free(&line);
    fake->tickets++;
    return slot;
}

static bool edit_commit(void *ctx, void *ticket, api_problem *problem)
{
    fake_host *fake = ctx;
    fake_mesh *slot = ticket;
    fake->tickets--;
    if (fake->storage_full) {
        forget_edits(slot);
        api_problem_set(problem, API_STORAGE_FULL, "no room");
        return false;
    }
    api_mesh *before = slot->mesh;
    slot->mesh = slot->pending;
    slot->pending = NULL;
    slot->mesh->revision = slot->pending_revision;
    if (slot->agents) {
        api_agents_set_mesh(slot->agents, slot->mesh);
    }
    api_mesh_destroy(before);
    return true;
}

static void edit_drop(void *ctx, void *ticket)
{
    fake_host *fake = ctx;
    fake->tickets--;
    forget_edits(ticket);
}

static void metrics(void *ctx, api_buffer *out)
{
    (void)ctx;
    api_buffer_add_text(out, "navd_up 1\n");
}

static bool is_ready(void *ctx)
{
    const fake_host *fake = ctx;
    return fake->ready;
}

static bool is_draining(void *ctx)
{
    const fake_host *fake = ctx;
    return fake->draining;
}

static bool client_gone(void *ctx, const api_request *request)
{
    const fake_host *fake = ctx;
    (void)request;
    return fake->client_gone;
}

static api_agents *get_agents(void *ctx, const char *id)
{
    fake_host *fake = ctx;
    fake_mesh *slot = find(fake, id);
    if (slot && slot->mesh && !slot->agents) {
        const api_agents_options options = {.max_agents = fake->limits.max_agents,
                                            .first_version = fake->first_version,
                                            .numbers = &fake->agent_numbers};
        slot->agents = api_agents_create(&options, slot->mesh);
    }
    return slot ? slot->agents : NULL;
}

static void tell(fake_host *fake, api_agents *agents)
{
    fake->told += api_agents_news(agents);
    api_agents_told(agents);
}

static bool step_agents(void *ctx, const char *id, double dt, api_context *context, api_problem *problem)
{
    fake_host *fake = ctx;
    const fake_mesh *slot = find(fake, id);
    if (slot->tick_hz > 0) {
        api_problem_set(problem, API_CONFLICT, "it ticks");
        return false;
    }
    nav_crowd *crowd = api_agents_crowd(slot->agents);
    uint32_t count = 0;
    if (nav_crowd_step_begin(crowd, dt, &count) != NAV_OK) {
        api_problem_set(problem, API_INTERNAL, "out of memory");
        return false;
    }
    uint32_t share = fake->step_share ? fake->step_share : count ? count : 1;
    for (uint32_t phase = 0; phase < NAV_CROWD_PHASES; phase++) {
        for (uint32_t first = 0; first < count; first += share) {
            nav_crowd_step_part(crowd, phase, first, count - first < share ? count - first : share,
                                api_context_query(context));
        }
    }
    nav_crowd_step_end(crowd);
    api_agents_stepped(slot->agents);
    tell(fake, slot->agents);
    return true;
}

static void agents_changed(void *ctx, const char *id)
{
    fake_host *fake = ctx;
    tell(fake, find(fake, id)->agents);
}

static void agents_status(void *ctx, const char *id, api_agents_status *status)
{
    fake_host *fake = ctx;
    const fake_mesh *slot = find(fake, id);
    *status = (api_agents_status){.tick_hz = slot->tick_hz >= 0 ? slot->tick_hz : slot->mesh->tick_hz,
                                  .tick_hz_set = slot->tick_hz >= 0};
}

static void set_tick_hz(void *ctx, const char *id, double tick_hz)
{
    fake_host *fake = ctx;
    find(fake, id)->tick_hz = tick_hz;
}

static void *subscribe(void *ctx, const char *id, const api_agents_view *view, api_buffer *first, api_problem *problem)
{
    fake_host *fake = ctx;
    (void)id;
    (void)problem;
    api_buffer_free(&fake->stream);
    fake->stream = *first;
    fake->view = *view;
    return fake;
}

void fake_host_init(fake_host *fake)
{
    *fake = (fake_host){.ready = true,
                        .may_change = true,
                        .now_ns = 1000000000,
                        .wall_ms = 1700000000000,
                        .limits = api_limits_default()};
    fake->host = (api_host){.ctx = fake,
                            .now_ns = now_ns,
                            .acquire = acquire,
                            .release = release,
                            .shrunk = shrunk,
                            .entry = entry_of,
                            .entries = entries,
                            .put = put,
                            .sidecar = sidecar_of,
                            .remove = remove_mesh,
                            .reload = reload,
                            .edit = edit,
                            .edit_commit = edit_commit,
                            .edit_drop = edit_drop,
                            .metrics = metrics,
                            .ready = is_ready,
                            .draining = is_draining,
                            .client_gone = client_gone,
                            .agents = {.get = get_agents,
                                       .step = step_agents,
                                       .changed = agents_changed,
                                       .status = agents_status,
                                       .set_tick_hz = set_tick_hz,
                                       .subscribe = subscribe}};
}

bool fake_host_start(fake_host *fake)
{
    fake->context = api_context_create(&fake->host, &fake->limits);
    return fake->context != NULL;
}

int fake_host_deinit(fake_host *fake)
{
    for (size_t i = 0; i < fake->count; i++) {
        api_agents_destroy(fake->meshes[i].agents);
        if (fake->references == 0) {
            api_mesh_destroy(fake->meshes[i].mesh);
        }
        free(fake->meshes[i].sidecar);
        forget_edits(&fake->meshes[i]);
    }
    api_buffer_free(&fake->stream);
    api_mesh_destroy(fake->shrunk);
    api_context_destroy(fake->context);
    return fake->references;
}

const api_mesh *fake_host_load(fake_host *fake, const char *id, const char *text, const char *params,
                               api_problem *problem)
{
    api_mesh_source source = {.bytes = text, .size = strlen(text), .params = params};
    api_mesh *mesh = api_mesh_load(&source, problem);
    fake_mesh *slot = mesh ? find_or_add(fake, id) : NULL;
    if (!slot) {
        api_mesh_destroy(mesh);
        return NULL;
    }
    publish(fake, slot, mesh);
    return mesh;
}

void fake_host_add_empty(fake_host *fake, const char *id, api_mesh_state state)
{
    fake_mesh *slot = find_or_add(fake, id);
    if (slot) {
        slot->state = state;
        slot->has_error = state == API_MESH_FAILED;
    }
}

/// Queues a task again and again until it is done, as a server would.
static void run_task(fake_host *fake, api_task *task, api_outcome outcome, api_response *response)
{
    while (outcome != API_DONE) {
        if (outcome == API_JOB) {
            fake->job_runs++;
        } else if (outcome == API_AGENTS) {
            fake->agent_runs++;
        } else {
            fake->worker_runs++;
        }
        outcome = api_task_run(task, fake->context, response);
    }
}

api_response fake_ask_bytes(fake_host *fake, api_method method, const char *target, const void *body, size_t size)
{
    size_t path_size = strcspn(target, "?");
    char *path = strndup(target, path_size);
    char *copy = malloc(size + 1); // exact, so that reading beyond is seen by AddressSanitizer
    api_response response = {0};
    if (path && copy) {
        if (size > 0) {
            memcpy(copy, body, size);
        }
        copy[size] = '\0';
        api_request request = {.method = method,
                               .path = path,
                               .query = target[path_size] == '?' ? target + path_size + 1 : NULL,
                               .body = copy,
                               .body_bytes = size,
                               .accept = fake->accept,
                               .if_match = fake->if_match,
                               .if_none_match = fake->if_none_match,
                               .last_event_id = fake->last_event_id,
                               .request_id = "test-1",
                               .may_change = fake->may_change,
                               .token_missing = fake->token_missing,
                               .start_ns = fake->now_ns};
        api_task *task = NULL;
        api_outcome outcome = api_begin(fake->context, &request, &response, &task);
        run_task(fake, task, outcome, &response);
        api_buffer_add(&response.body, "", 1);
        response.body.size--;
    }
    free(path);
    free(copy);
    return response;
}

api_response fake_ask(fake_host *fake, api_method method, const char *target, const char *body)
{
    return fake_ask_bytes(fake, method, target, body, body ? strlen(body) : 0);
}
