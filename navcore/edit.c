/// Edits in, revisions out.
#include "edit.h"

#include "alloc.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NUDGES = 8 };

static const char no_memory[] = "out of memory while editing the mesh";

static void *take(const nav_alloc *a, size_t count, size_t size, int fill)
{
    void *p = a->resize(a->ctx, NULL, (count + 1) * size);
    if (p) {
        memset(p, fill, (count + 1) * size);
    }
    return p;
}

static void give(const nav_editor *e, void *p)
{
    if (p) {
        e->alloc.resize(e->alloc.ctx, p, 0);
    }
}

// ---- the editor itself -----------------------------------------------------------------------------

nav_status nav_editor_create(const nav_mesh *base, const nav_alloc *alloc, nav_editor **out, nav_error *error)
{
    nav_alloc a = nav__alloc_or_libc(alloc);
    nav_editor *e = take(&a, 1, sizeof *e, 0);
    if (!e) {
        return nav_fail(error, NAV_NO_MEMORY, 0, NAV_NO_BYTE, no_memory);
    }
    e->alloc = e->carver.alloc = a;
    e->growth = 1;
    e->next_order = 1;
    nav_status status = nav__edit_lay_out(e, base);
    e->patch_of = take(&a, base->cell_count, sizeof *e->patch_of, 0xFF);
    e->plan_of = take(&a, base->cell_count, sizeof *e->plan_of, 0xFF);
    e->rim_of = take(&a, base->edge_count, sizeof *e->rim_of, 0xFF);
    e->plan_rim_of = take(&a, base->edge_count, sizeof *e->plan_rim_of, 0xFF);
    e->grid_room = take(&a, (size_t)base->grid_nx * base->grid_nz, sizeof *e->grid_room, 0);
    if (status == NAV_OK && !(e->patch_of && e->plan_of && e->rim_of && e->plan_rim_of && e->grid_room)) {
        status = NAV_NO_MEMORY;
    }
    if (status != NAV_OK) {
        nav_editor_destroy(e);
        return nav_fail(error, status, 0, NAV_NO_BYTE,
                        status == NAV_TOO_LARGE ? "the mesh is too large to be edited" : no_memory);
    }
    *out = e;
    return NAV_OK;
}

/// Frees what the edits in force have made, not what there is of them.
static void drop_patches(nav_editor *e)
{
    for (uint32_t i = 0; i < e->patch_count; i++) {
        nav__patch *p = &e->patches[i];
        nav__numbers *const lists[] = {&p->bodies, &p->pieces, &p->faces, &p->points, &p->lists};
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
            nav__numbers_free(e, lists[k]);
        }
    }
    for (uint32_t i = 0; i < e->rim_count; i++) {
        give(e, e->rims[i].at);
        give(e, e->rims[i].half[0]);
        give(e, e->rims[i].half[1]);
    }
    e->patch_count = e->rim_count = e->carved = 0;
    e->free_patches.count = e->free_rims.count = e->free_vertices.count = e->free_points.count = 0;
    for (uint32_t i = 0; i < NAV__SLOT_EDGES; i++) {
        for (uint32_t k = 0; k < NAV__SLOT_FACES; k++) {
            e->free_cells[i][k].count = 0;
        }
    }
    for (uint32_t i = 0; i < NAV__SLOT_CORNERS; i++) {
        for (uint32_t k = 0; k < NAV__SLOT_TRIS; k++) {
            e->free_faces[i][k].count = 0;
        }
    }
    for (size_t i = 0; i < sizeof e->free_lists / sizeof *e->free_lists; i++) {
        e->free_lists[i].count = 0;
    }
}

static void free_lists(nav_editor *e)
{
    nav__numbers *const lists[] = {&e->free_patches, &e->free_rims, &e->free_vertices, &e->free_points,
                                   &e->claims,       &e->edge_seen, &e->old_vertices,  &e->fan,
                                   &e->seeds,        &e->points,    &e->dirty_pages};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        nav__numbers_free(e, lists[k]);
    }
    for (uint32_t i = 0; i < NAV__SLOT_EDGES; i++) {
        for (uint32_t k = 0; k < NAV__SLOT_FACES; k++) {
            nav__numbers_free(e, &e->free_cells[i][k]);
        }
    }
    for (uint32_t i = 0; i < NAV__SLOT_CORNERS; i++) {
        for (uint32_t k = 0; k < NAV__SLOT_TRIS; k++) {
            nav__numbers_free(e, &e->free_faces[i][k]);
        }
    }
    for (size_t i = 0; i < sizeof e->free_lists / sizeof *e->free_lists; i++) {
        nav__numbers_free(e, &e->free_lists[i]);
    }
}

void nav_editor_destroy(nav_editor *e)
{
    if (!e) {
        return;
    }
    nav__edit_plan_clear(e);
    drop_patches(e);
    free_lists(e);
    for (uint32_t i = 0; i < e->body_count; i++) {
        nav__body_free(e, e->bodies[i]);
    }
    nav__carver_free(&e->carver);
    void *const parts[] = {e->writes,    e->dirty,       e->bodies,  e->links,       e->patch_of,  e->patches,
                           e->rim_of,    e->rims,        e->plan_of, e->plan_rim_of, e->grid_room, e->plan.cells,
                           e->plan.rims, e->plan.labels, e->clip[0], e->clip[1]};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        give(e, parts[i]);
    }
    if (e->newest) {
        nav__revision_release(e->newest);
    }
    nav__store_leave(e->store);
    give(e, e);
}

/// Lays the base out anew, with more room; all bodies arrive again.
static nav_status begin_anew(nav_editor *e)
{
    nav__store *store = e->store;
    nav__revision *newest = e->newest;
    nav_mesh base = e->base, now = e->now;
    uint64_t *dirty = e->dirty;
    size_t block_bytes = e->block_bytes, offsets[NAV__ARRAYS];
    nav__room room = e->room;
    memcpy(offsets, e->offsets, sizeof offsets);
    e->store = NULL;
    e->newest = NULL;
    e->dirty = NULL;
    nav_status status = nav__edit_lay_out(e, &base);
    if (status != NAV_OK) {
        nav__store_leave(e->store);
        give(e, e->dirty);
        e->store = store;
        e->newest = newest;
        e->dirty = dirty;
        e->base = base;
        e->now = now;
        e->block_bytes = block_bytes;
        e->room = room;
        memcpy(e->offsets, offsets, sizeof offsets);
        return status;
    }
    e->base.has_flags = base.has_flags;
    nav__revision_release(newest);
    nav__store_leave(store);
    give(e, dirty);
    drop_patches(e);
    e->edition = e->writes_from = 0;
    e->write_count = e->dirty_pages.count = 0;
    memset(e->patch_of, 0xFF, e->base.cell_count * sizeof *e->patch_of);
    memset(e->rim_of, 0xFF, e->base.edge_count * sizeof *e->rim_of);
    memset(e->grid_room, 0, (size_t)e->base.grid_nx * e->base.grid_nz * sizeof *e->grid_room);
    for (uint32_t i = 0; i < e->body_count; i++) {
        if (e->bodies[i]) {
            e->bodies[i]->arriving = !e->bodies[i]->leaving;
        }
    }
    e->broken = false;
    return NAV_OK;
}

// ---- a revision ------------------------------------------------------------------------------------

static nav_status list_cells(nav_editor *e, nav__numbers *cells)
{
    for (uint32_t i = 0; i < e->body_count; i++) {
        nav__body *b = e->bodies[i];
        if (!b || !(b->arriving || b->leaving)) {
            continue;
        }
        if (b->arriving && b->cells.count == 0 && !nav__edit_find_cells(e, b)) {
            return NAV_NO_MEMORY;
        }
        for (uint32_t k = 0; k < b->cells.count; k++) {
            if (!nav__numbers_add(e, cells, b->cells.data[k])) {
                return NAV_NO_MEMORY;
            }
        }
    }
    return NAV_OK;
}

/// One attempt.
static nav_status make_revision(nav_editor *e, bool links_changed, nav_mesh **out, nav_edit_report *report)
{
    nav__numbers cells = {NULL, 0, 0};
    nav__revision *block = NULL;
    nav_mesh before = e->now;
    nav_status status = list_cells(e, &cells);
    if (status == NAV_OK) {
        status = nav__edit_plan(e, &cells);
    }
    nav__numbers_free(e, &cells);
    nav_mesh *m = status == NAV_OK ? e->alloc.resize(e->alloc.ctx, NULL, sizeof *m) : NULL;
    if (status == NAV_OK && !(m && nav__edit_begin(e, &block))) {
        status = NAV_NO_MEMORY;
    }
    if (status == NAV_OK && !(nav__edit_commit(e) && nav__edit_land_links(e, links_changed, &report->links_off))) {
        status = NAV_NO_MEMORY;
    }
    if (status != NAV_OK) {
        e->now = before;
        if (block) {
            nav__revision_release(block);
        }
        give(e, m);
    } else {
        nav__edit_finish(e, block);
        *m = e->now;
        m->alloc = e->alloc;
        m->revision = block;
        m->block_bytes = nav__edit_used(e);
        *out = m;
        report->cells_made = e->cells_made;
    }
    nav__edit_plan_clear(e);
    return status;
}

nav_status nav__edit_run(nav_editor *e, bool links_changed, nav_mesh **out, nav_edit_report *report, nav_error *error)
{
    nav_status status = NAV_OK;
    bool anew = e->broken;
    uint32_t nudges = 0;
    for (uint32_t attempt = 0; attempt < 4; attempt++) {
        if (anew) {
            e->growth *= attempt > 1 ? 2 : 1;
            status = begin_anew(e);
            links_changed = true;
        }
        e->cells_made = 0;
        if (status == NAV_OK) {
            status = make_revision(e, links_changed, out, report);
        }
        while (status == NAV_TOO_LARGE && !e->broken && nudges < MOST_NUDGES && nav__edit_nudge(e, ++nudges)) {
            status = make_revision(e, links_changed, out, report);
        }
        if (status == NAV_OK || !e->broken) {
            break;
        }
        anew = true; // no room any more, most likely: once more in the same room, then in more
    }
    for (uint32_t i = 0; i < e->body_count; i++) { // those that came or went for good, and those that did not
        nav__body *b = e->bodies[i];
        if (b && (status == NAV_OK ? b->leaving : b->fresh)) {
            *(b->is_region ? &e->region_count : &e->obstacle_count) -= 1;
            nav__body_free(e, b);
            e->bodies[i] = NULL;
        } else if (b) {
            b->arriving = b->fresh = b->leaving = b->awkward = false;
        }
    }
    if (status == NAV_NO_MEMORY || status == NAV_TOO_LARGE) {
        nav_fail(error, status, 0, NAV_NO_BYTE,
                 status == NAV_NO_MEMORY ? no_memory : "the edits are too many or too close for this mesh");
    }
    return status;
}

// ---- edits -----------------------------------------------------------------------------------------

static bool is_body(const nav__body *b, bool region, const char *id)
{
    return b && !b->leaving && b->is_region == region && strcmp(b->id, id) == 0;
}

static nav__body *find_body(const nav_editor *e, bool region, const char *id)
{
    for (uint32_t i = 0; i < e->body_count; i++) {
        if (is_body(e->bodies[i], region, id)) {
            return e->bodies[i];
        }
    }
    return NULL;
}

uint32_t nav__edit_add_body(nav_editor *e, nav__body *body)
{
    uint32_t i = 0;
    while (i < e->body_count && e->bodies[i]) {
        i++;
    }
    if (i == e->body_count) {
        if (!nav__grow(&e->alloc, &e->bodies, &e->body_cap, e->body_count, sizeof *e->bodies)) {
            return NAV_NONE;
        }
        e->body_count++;
    }
    e->bodies[i] = body;
    body->arriving = body->fresh = true;
    *(body->is_region ? &e->region_count : &e->obstacle_count) += 1;
    return i;
}

/// One that came with the same edits goes without a trace.
static void dismiss(nav_editor *e, nav__body *body)
{
    body->leaving = true;
    for (uint32_t i = 0; body->fresh && i < e->body_count; i++) {
        if (e->bodies[i] == body) {
            *(body->is_region ? &e->region_count : &e->obstacle_count) -= 1;
            nav__body_free(e, body);
            e->bodies[i] = NULL;
            return;
        }
    }
}

/// The links as they are to be.
typedef struct link_list {
    nav__edit_link *links;
    uint32_t count, cap;
    bool changed;
} link_list;

static uint32_t find_link(const nav__edit_link *links, uint32_t count, const char *id)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(links[i].link.id, id) == 0) {
            return i;
        }
    }
    return NAV_NONE;
}

static nav_status refuse(nav_edit_report *report, const char *member, nav_error *error, const char *message)
{
    report->member = member;
    return nav_fail(error, NAV_BAD_ARGUMENT, 0, NAV_NO_BYTE, "%s", message);
}

static bool is_place(nav_vec p)
{
    return fabs(p.x) <= 1e9 && fabs(p.y) <= 1e9 && fabs(p.z) <= 1e9;
}

static nav_status stage_link(nav_editor *e, const nav_edit *edit, link_list *list, nav_edit_report *report,
                             nav_error *error)
{
    const nav_link *link = &edit->link;
    if (!is_place(link->start)) {
        return refuse(report, "start", error, "start is not finite, or beyond 1e9");
    }
    if (!is_place(link->end)) {
        return refuse(report, "end", error, "end is not finite, or beyond 1e9");
    }
    if (!(link->radius >= 0 && link->radius <= 1e9)) {
        return refuse(report, "radius", error, "radius must be from 0 to 1e9");
    }
    if (!isfinite(link->cost)) {
        return refuse(report, "cost", error, "cost is not finite");
    }
    uint32_t i = find_link(list->links, list->count, edit->id);
    if (i == NAV_NONE) {
        if (!nav__grow(&e->alloc, &list->links, &list->cap, list->count, sizeof *list->links)) {
            return nav_fail(error, NAV_NO_MEMORY, 0, NAV_NO_BYTE, no_memory);
        }
        i = list->count++;
    }
    list->links[i] = (nav__edit_link){*link, edit->link_disabled};
    memcpy(list->links[i].link.id, edit->id, sizeof edit->id);
    list->changed = true;
    return NAV_OK;
}

static nav_status missing(nav_edit_report *report, nav_error *error)
{
    report->not_found = true;
    return refuse(report, "id", error, "there is none of this id");
}

static nav_status stage_body(nav_editor *e, const nav_edit *edit, nav_edit_report *report, nav_error *error)
{
    bool region = edit->kind == NAV_EDIT_REGION;
    nav__body *made, *had = find_body(e, region, edit->id);
    nav_status status = nav__body_make(e, edit, &made, &report->member, error);
    if (status != NAV_OK) {
        return status;
    }
    made->order = had ? had->order : e->next_order++;
    if (had) {
        dismiss(e, had);
    }
    if (nav__edit_add_body(e, made) == NAV_NONE) {
        nav__body_free(e, made);
        return nav_fail(error, NAV_NO_MEMORY, 0, NAV_NO_BYTE, no_memory);
    }
    return NAV_OK;
}

static nav_status stage(nav_editor *e, const nav_edit *edit, link_list *list, nav_edit_report *report, nav_error *error)
{
    if (edit->id[0] == 0 || !memchr(edit->id, 0, sizeof edit->id)) {
        return refuse(report, "id", error, "id must have 1 to 64 characters");
    }
    switch (edit->kind) {
    case NAV_EDIT_OBSTACLE:
    case NAV_EDIT_REGION:
        return stage_body(e, edit, report, error);
    case NAV_EDIT_LINK:
        return stage_link(e, edit, list, report, error);
    case NAV_EDIT_REMOVE_OBSTACLE:
    case NAV_EDIT_REMOVE_REGION: {
        nav__body *body = find_body(e, edit->kind == NAV_EDIT_REMOVE_REGION, edit->id);
        if (!body) {
            return missing(report, error);
        }
        dismiss(e, body);
        return NAV_OK;
    }
    case NAV_EDIT_REMOVE_LINK: {
        uint32_t i = find_link(list->links, list->count, edit->id);
        if (i == NAV_NONE) {
            return missing(report, error);
        }
        memmove(&list->links[i], &list->links[i + 1], (list->count - i - 1) * sizeof *list->links);
        list->count--;
        list->changed = true;
        return NAV_OK;
    }
    }
    return refuse(report, "kind", error, "no edit of this kind is known");
}

/// Nothing that the edits wanted happens.
static void unstage(nav_editor *e)
{
    for (uint32_t i = 0; i < e->body_count; i++) {
        nav__body *b = e->bodies[i];
        if (b && b->fresh) {
            dismiss(e, b);
        } else if (b) {
            b->leaving = b->arriving = false;
        }
    }
}

nav_status nav_editor_apply(nav_editor *e, const nav_edit *edits, uint32_t count, nav_mesh **out,
                            nav_edit_report *report, nav_error *error)
{
    nav_edit_report local;
    report = report ? report : &local;
    *report = (nav_edit_report){.bad_edit = NAV_NONE};
    link_list list = {.cap = e->link_count + 1, .count = e->link_count};
    list.links = take(&e->alloc, e->link_count, sizeof *list.links, 0);
    if (!list.links) {
        return nav_fail(error, NAV_NO_MEMORY, 0, NAV_NO_BYTE, no_memory);
    }
    if (e->link_count > 0) {
        memcpy(list.links, e->links, e->link_count * sizeof *list.links);
    }
    nav_status status = NAV_OK;
    for (uint32_t i = 0; i < count && status == NAV_OK; i++) {
        status = stage(e, &edits[i], &list, report, error);
        report->bad_edit = status == NAV_BAD_ARGUMENT ? i : NAV_NONE;
    }
    if (status != NAV_OK) {
        unstage(e);
        give(e, list.links);
        return status;
    }
    link_list had = {e->links, e->link_count, e->link_cap, list.changed};
    e->links = list.links;
    e->link_count = list.count;
    e->link_cap = list.cap;
    status = nav__edit_run(e, list.changed, out, report, error);
    if (status != NAV_OK) {
        e->links = had.links;
        e->link_count = had.count;
        e->link_cap = had.cap;
    }
    give(e, status == NAV_OK ? had.links : list.links);
    return status;
}

bool nav_editor_has(const nav_editor *e, nav_edit_kind kind, const char *id)
{
    return kind == NAV_EDIT_LINK ? find_link(e->links, e->link_count, id) != NAV_NONE
                                 : find_body(e, kind == NAV_EDIT_REGION, id) != NULL;
}

uint32_t nav_editor_count(const nav_editor *e, nav_edit_kind kind)
{
    return kind == NAV_EDIT_LINK ? e->link_count : kind == NAV_EDIT_REGION ? e->region_count : e->obstacle_count;
}
