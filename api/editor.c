/// Changes against what stands, and what stands against navcore's editor.
#include "editor.h"
#include "edit_json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nav_edit.h"

struct api_editor {
    nav_editor *nav;
    nav_query *query;
    api_mesh *form; ///< the ground's own revision, whose names and defaults the next ones get
    api_edit_set standing;
    uint64_t last_order;
};

/// navcore's form of edits, with the points they need.
typedef struct batch {
    nav_edit *edits;
    nav_vec *points;
    uint32_t count;
    size_t point_count;
} batch;

static bool no_memory(api_problem *problem)
{
    api_problem_set(problem, API_STORAGE_FULL, "not enough memory for the edit");
    return false;
}

static void tell_status(api_problem *problem, nav_status status, const nav_error *error)
{
    api_code code = status == NAV_NO_MEMORY || status == NAV_TOO_LARGE ? API_STORAGE_FULL
                    : status == NAV_BAD_ARGUMENT                       ? API_BAD_REQUEST
                                                                       : API_INTERNAL;
    api_problem_set(problem, code, "%s", error->message[0] ? error->message : nav_status_text(status));
}

static void batch_deinit(batch *b)
{
    free(b->edits);
    free(b->points);
}

static bool batch_init(batch *b, size_t edits, size_t points)
{
    *b = (batch){.edits = calloc(edits + 1, sizeof *b->edits), .points = malloc((points + 1) * sizeof *b->points)};
    if (!b->edits || !b->points) {
        batch_deinit(b);
        return false;
    }
    return true;
}

static nav_shape shape_of(batch *b, const api_edit *edit)
{
    nav_shape shape = {.center = edit->center,
                       .radius = edit->radius,
                       .height = edit->height,
                       .half_extents = edit->half_extents,
                       .yaw = edit->yaw,
                       .min = edit->min,
                       .max = edit->max};
    static const nav_shape_kind kinds[] = {NAV_SHAPE_CYLINDER, NAV_SHAPE_BOX, NAV_SHAPE_PRISM};
    shape.kind = kinds[edit->shape];
    if (edit->shape == API_CYLINDER) {
        shape.center.y -= edit->height / 2; // navcore's is the middle of the bottom
    }
    if (edit->shape == API_PRISM) {
        nav_vec *points = b->points + b->point_count;
        for (uint32_t i = 0; i < edit->point_count; i++) {
            points[i] = (nav_vec){edit->points[i].x, 0, edit->points[i].z};
        }
        shape.points = points;
        shape.point_count = edit->point_count;
        b->point_count += edit->point_count;
    }
    return shape;
}

static void add_put(batch *b, const api_edit *edit)
{
    nav_edit *to = &b->edits[b->count++];
    memcpy(to->id, edit->id, sizeof to->id);
    switch (edit->kind) {
    case API_OBSTACLE:
        to->kind = NAV_EDIT_OBSTACLE;
        to->shape = shape_of(b, edit);
        break;
    case API_REGION:
        to->kind = NAV_EDIT_REGION;
        to->region = (nav_region){.shape = shape_of(b, edit),
                                  .sets_area = edit->has_area,
                                  .sets_flags = edit->has_flags,
                                  .area = edit->area,
                                  .flags = edit->flags,
                                  .blocked = edit->blocked};
        break;
    case API_LINK:
    case API_EDIT_KINDS:
        to->kind = NAV_EDIT_LINK;
        to->link = edit->link;
        to->link_disabled = !edit->enabled;
        break;
    }
}

static void add_removal(batch *b, api_edit_kind kind, const char *id)
{
    static const nav_edit_kind kinds[] = {NAV_EDIT_REMOVE_OBSTACLE, NAV_EDIT_REMOVE_REGION, NAV_EDIT_REMOVE_LINK};
    nav_edit *to = &b->edits[b->count++];
    to->kind = kinds[kind];
    snprintf(to->id, sizeof to->id, "%s", id);
}

// Setting up.

/// Everything that stands in the order in which it was set, the ground's regions before it.
/// @return NULL: no memory
static const api_edit **list_all(const api_editor *editor, size_t *count)
{
    size_t items, own;
    const api_edit **first = api_edit_set_by_order(&editor->form->ground->items, 1u << API_REGION, &items);
    const api_edit **second = api_edit_set_by_order(&editor->standing, ~0u, &own);
    const api_edit **list = first && second ? malloc((items + own + 1) * sizeof *list) : NULL;
    if (list) {
        memcpy(list, first, items * sizeof *list);
        memcpy(list + items, second, own * sizeof *list);
        *count = items + own;
    }
    free(first);
    free(second);
    return list;
}

static bool fill_batch(batch *b, const api_edit *const *list, size_t count)
{
    size_t points = 0;
    for (size_t i = 0; i < count; i++) {
        points += list[i]->point_count;
    }
    if (!batch_init(b, count, points)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        add_put(b, list[i]);
    }
    return true;
}

/// An edit that this ground refuses is told and left out.
static bool drop(api_editor *editor, const api_edit **list, size_t *count, uint32_t bad,
                 void (*told)(void *ctx, const api_edit *edit, const char *why), void *ctx, const char *why)
{
    const api_edit *edit = list[bad];
    if (told) {
        told(ctx, edit, why);
    }
    char id[NAV_ID_MAX + 1];
    memcpy(id, edit->id, sizeof id);
    api_edit_kind kind = edit->kind;
    memmove(list + bad, list + bad + 1, (*count - bad - 1) * sizeof *list);
    --*count;
    return edit->from_file || api_edit_set_remove(&editor->standing, kind, id, NULL);
}

/// Sets everything that stands.
static bool set_all(api_editor *editor, void (*told)(void *ctx, const api_edit *edit, const char *why), void *ctx,
                    api_problem *problem)
{
    size_t count = 0;
    const api_edit **list = list_all(editor, &count);
    bool good = list != NULL || no_memory(problem);
    for (bool again = true; good && again && count > 0;) {
        batch b;
        nav_mesh *nav = NULL;
        nav_edit_report report = {.bad_edit = NAV_NONE};
        nav_error error = {0};
        if (!fill_batch(&b, list, count)) {
            good = no_memory(problem);
            break;
        }
        nav_status status = nav_editor_apply(editor->nav, b.edits, b.count, &nav, &report, &error);
        batch_deinit(&b);
        again = status == NAV_BAD_ARGUMENT && report.bad_edit < count;
        if (again) {
            good = drop(editor, list, &count, report.bad_edit, told, ctx, error.message) || no_memory(problem);
        } else if (status != NAV_OK) {
            tell_status(problem, status, &error);
            good = false;
        } else {
            nav_mesh_destroy(nav);
        }
    }
    for (size_t i = 0; good && i < count; i++) {
        editor->last_order = list[i]->order > editor->last_order ? list[i]->order : editor->last_order;
    }
    free(list);
    return good;
}

/// The ground's own revision.
static api_mesh *form_of(const api_mesh *mesh)
{
    static const api_edit_set none;
    api_mesh *form = api_mesh_revise(mesh, &none);
    if (form) {
        api_mesh_set_nav(form, form->ground->nav);
    }
    return form;
}

api_editor *api_editor_create(const api_mesh *mesh, void (*told)(void *ctx, const api_edit *edit, const char *why),
                              void *ctx, api_problem *problem)
{
    api_editor *editor = calloc(1, sizeof *editor);
    if (!editor) {
        no_memory(problem);
        return NULL;
    }
    editor->form = form_of(mesh);
    editor->query = nav_query_create(NULL);
    nav_error error = {0};
    bool good = editor->form && editor->query && api_edit_set_copy(&editor->standing, &mesh->edits);
    if (!good) {
        no_memory(problem);
    } else {
        nav_status status = nav_editor_create(editor->form->ground->nav, NULL, &editor->nav, &error);
        good = status == NAV_OK;
        if (!good) {
            tell_status(problem, status, &error);
        }
    }
    if (!good || !set_all(editor, told, ctx, problem)) {
        api_editor_destroy(editor);
        return NULL;
    }
    return editor;
}

void api_editor_destroy(api_editor *editor)
{
    if (editor) {
        nav_editor_destroy(editor->nav);
        nav_query_destroy(editor->query);
        api_edit_set_deinit(&editor->standing);
        api_mesh_destroy(editor->form);
        free(editor);
    }
}

const api_edit_set *api_editor_standing(const api_editor *editor)
{
    return &editor->standing;
}

nav_mesh *api_editor_nav(api_editor *editor, api_problem *problem)
{
    nav_mesh *nav = NULL;
    nav_error error = {0};
    nav_status status = nav_editor_apply(editor->nav, NULL, 0, &nav, NULL, &error);
    if (status != NAV_OK) {
        tell_status(problem, status, &error);
        return NULL;
    }
    return nav;
}

api_mesh *api_editor_revision(api_editor *editor, api_problem *problem)
{
    api_mesh *mesh = api_mesh_revise(editor->form, &editor->standing);
    nav_mesh *nav = mesh ? api_editor_nav(editor, problem) : NULL;
    if (!mesh) {
        no_memory(problem);
    } else if (!nav) {
        api_mesh_destroy(mesh);
        return NULL;
    } else {
        api_mesh_set_nav(mesh, nav);
    }
    return mesh;
}

// Applying.

/// One request's changes on their way.
typedef struct application {
    api_editor *editor;
    const api_edit_moment *moment;
    const api_place *place;
    bool listed;
    api_edit_set standing; ///< with the changes so far
    uint64_t last_order;
    api_edited *edited;
    batch batch;
} application;

/// Complains of a change. @return false
static bool refuse(const application *a, uint32_t index, api_code code, const char *member, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static bool refuse(const application *a, uint32_t index, api_code code, const char *member, const char *format, ...)
{
    char text[256], pointer[64] = "";
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (a->listed) {
        snprintf(pointer, sizeof pointer, "/%u", (unsigned)index);
    }
    size_t used = strlen(pointer);
    snprintf(pointer + used, sizeof pointer - used, "%s%s", member ? "/" : "", member ? member : "");
    api_problem_set(a->place->problem, code, "%s", text);
    if (pointer[0]) {
        snprintf(a->place->problem->pointer, sizeof a->place->problem->pointer, "%s%s", a->place->prefix, pointer);
    }
    return false;
}

static void merge_region(api_edit *edit, const api_edit *from, uint32_t given)
{
    if (given & API_GIVEN_AREA) {
        edit->has_area = true;
        edit->area = from->area;
    }
    if (given & API_GIVEN_FLAGS) {
        edit->has_flags = true;
        edit->flags = from->flags;
    }
    edit->blocked = given & API_GIVEN_BLOCKED ? from->blocked : edit->blocked;
    if (given & API_GIVEN_BAND) {
        edit->min = from->min;
        edit->max = from->max;
    }
}

static void merge_link(api_edit *edit, const api_edit *from, uint32_t given)
{
    nav_link *to = &edit->link;
    const nav_link *link = &from->link;
    to->bidirectional = given & API_LINK_BIDIRECTIONAL ? link->bidirectional : to->bidirectional;
    to->cost = given & API_LINK_COST ? link->cost : to->cost;
    to->area = given & API_LINK_AREA ? link->area : to->area;
    to->flags = given & API_LINK_FLAGS ? link->flags : to->flags;
    to->radius = given & API_LINK_RADIUS ? link->radius : to->radius;
    if (given & API_LINK_KIND) {
        memcpy(to->kind, link->kind, sizeof to->kind);
    }
    edit->enabled = given & API_LINK_ENABLED ? from->enabled : edit->enabled;
}

/// The edit that a put comes to; NULL: refused.
static api_edit *settle(const application *a, uint32_t index, const api_change *change, const api_edit *there)
{
    const char *needed = change->kind == API_LINK ? "start" : "points";
    if (change->partial && !there) {
        refuse(a, index, API_BAD_REQUEST, needed, "there is no %s `%s` to change: a new one needs `%s`",
               api_edit_kind_name(change->kind), change->id, needed);
        return NULL;
    }
    api_edit *edit = api_edit_copy(change->partial ? there : change->edit);
    if (!edit) {
        no_memory(a->place->problem);
        return NULL;
    }
    if (change->partial && change->kind == API_LINK) {
        merge_link(edit, change->edit, change->given);
    } else if (change->partial) {
        merge_region(edit, change->edit, change->given);
    }
    if (change->given & API_GIVEN_VOLATILE || !change->partial) {
        edit->is_volatile = change->edit->is_volatile;
    }
    edit->from_file = false;
    edit->expires_ms = edit->ttl_ms ? a->moment->wall_ms + (int64_t)edit->ttl_ms : 0;
    return edit;
}

/// An id that nothing has and that was never made before.
static void make_id(const application *a, api_edit_kind kind, char id[NAV_ID_MAX + 1])
{
    do {
        snprintf(id, NAV_ID_MAX + 1, "%s-%llu", api_edit_kind_name(kind),
                 (unsigned long long)a->moment->fresh_number(a->moment->ctx));
    } while (api_edit_set_find(&a->standing, kind, id) || api_edit_set_find(&a->editor->form->ground->items, kind, id));
}

static bool put(application *a, uint32_t index, const api_change *change)
{
    api_changed *changed = &a->edited->changes[index];
    char *id = changed->id;
    snprintf(id, sizeof changed->id, "%s", change->id);
    if (!id[0]) {
        make_id(a, change->kind, id);
    }
    const api_edit *mine = api_edit_set_find(&a->standing, change->kind, id);
    const api_edit *there = mine ? mine : api_edit_set_find(&a->editor->form->ground->items, change->kind, id);
    if (there && change->op == API_EDIT_ADD) {
        return refuse(a, index, API_CONFLICT, a->listed ? "id" : NULL, "there is a%s %s `%s` already",
                      change->kind == API_OBSTACLE ? "n" : "", api_edit_kind_name(change->kind), id);
    }
    size_t most = a->moment->max_standing;
    if (!mine && most && api_edit_set_count(&a->standing) >= most) {
        return refuse(a, index, API_CONFLICT, NULL, "there are %zu edits on this mesh, and no more are taken", most);
    }
    api_edit *edit = settle(a, index, change, there);
    if (!edit) {
        return false;
    }
    memcpy(edit->id, id, sizeof edit->id);
    memcpy(edit->link.id, id, sizeof edit->link.id);
    edit->order = mine ? mine->order : ++a->last_order;
    edit->idle = !api_edit_touches(a->editor->query, a->editor->form->nav, edit);
    changed->created = !there;
    changed->was_kept = mine && !mine->is_volatile;
    changed->edit = edit; // held from here on
    add_put(&a->batch, edit);
    return api_edit_set_put(&a->standing, edit) || no_memory(a->place->problem);
}

static bool take_away(application *a, uint32_t index, const api_change *change)
{
    api_changed *changed = &a->edited->changes[index];
    const api_edit *mine = api_edit_set_find(&a->standing, change->kind, change->id);
    const api_edit *item = api_edit_set_find(&a->editor->form->ground->items, change->kind, change->id);
    const char *member = a->listed ? "id" : NULL, *name = api_edit_kind_name(change->kind);
    if (!mine) {
        return item ? refuse(a, index, API_CONFLICT, member,
                             "%s `%s` is the file's own: it can be changed, not deleted", name, change->id)
                    : refuse(a, index, API_NOT_FOUND, member, "there is no %s `%s`", name, change->id);
    }
    changed->was_kept = !mine->is_volatile;
    snprintf(changed->id, sizeof changed->id, "%s", change->id);
    if (item && change->kind == API_REGION) { // the sidecar's holds again
        add_put(&a->batch, item);
    } else {
        add_removal(&a->batch, change->kind, change->id);
    }
    return api_edit_set_remove(&a->standing, change->kind, change->id, NULL) || no_memory(a->place->problem);
}

/// Points that the changes may need: what they bring, or those of a region that stands.
static size_t most_points(const api_change *changes, uint32_t count)
{
    size_t points = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool bring = changes[i].edit && !changes[i].partial;
        points += bring ? changes[i].edit->point_count : API_EDIT_POINTS_MAX;
    }
    return points;
}

static bool settle_all(application *a, const api_change *changes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const api_change *change = &changes[i];
        a->edited->changes[i].kind = change->kind;
        a->edited->count = i + 1;
        if (!(change->op == API_EDIT_REMOVE ? take_away(a, i, change) : put(a, i, change))) {
            return false;
        }
    }
    return true;
}

/// Has navcore make the revision.
static bool make(application *a)
{
    api_editor *editor = a->editor;
    nav_mesh *nav = NULL;
    nav_edit_report report = {.bad_edit = NAV_NONE};
    nav_error error = {0};
    // Made before, so that nothing can fail once navcore's editor has moved on.
    a->edited->mesh = api_mesh_revise(editor->form, &a->standing);
    if (!a->edited->mesh) {
        return no_memory(a->place->problem);
    }
    nav_status status = nav_editor_apply(editor->nav, a->batch.edits, a->batch.count, &nav, &report, &error);
    if (status == NAV_BAD_ARGUMENT && report.bad_edit < a->batch.count) {
        return refuse(a, report.bad_edit, API_BAD_REQUEST, report.member, "%s", error.message);
    }
    if (status != NAV_OK) {
        tell_status(a->place->problem, status, &error);
        return false;
    }
    api_mesh_set_nav(a->edited->mesh, nav);
    return true;
}

bool api_editor_apply(api_editor *editor, const api_change *changes, uint32_t count, bool listed,
                      const api_edit_moment *moment, const api_place *place, api_edited *edited)
{
    *edited = (api_edited){.changes = calloc((size_t)count + 1, sizeof *edited->changes)};
    application a = {.editor = editor,
                     .moment = moment,
                     .place = place,
                     .listed = listed,
                     .last_order = editor->last_order,
                     .edited = edited};
    if (!edited->changes) {
        return no_memory(place->problem);
    }
    bool good =
        api_edit_set_copy(&a.standing, &editor->standing) && batch_init(&a.batch, count, most_points(changes, count));
    good = good ? settle_all(&a, changes, count) && make(&a) : no_memory(place->problem);
    batch_deinit(&a.batch);
    if (!good) {
        api_edit_set_deinit(&a.standing);
        api_edited_deinit(edited);
        return false;
    }
    api_edit_set_deinit(&editor->standing);
    editor->standing = a.standing;
    editor->last_order = a.last_order;
    return true;
}

void api_edited_deinit(api_edited *edited)
{
    for (uint32_t i = 0; i < edited->count && edited->changes; i++) {
        api_edit_release(edited->changes[i].edit);
    }
    free(edited->changes);
    api_mesh_destroy(edited->mesh);
    *edited = (api_edited){0};
}
