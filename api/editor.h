/// Makes revisions of a mesh out of changes: holds them against what stands, and has navcore cut them out.
#ifndef API_EDITOR_H
#define API_EDITOR_H

#include "api_buffer.h"
#include "api_mesh.h"

struct api_place; // json_in.h

/// One mesh's editor: its ground laid out for editing, and the edits that stand. One thread at a time.
typedef struct api_editor api_editor;

/// @param mesh  any revision: its ground is laid out and its edits are set. It need not outlive the editor
/// @param told  called for each edit that this ground refuses; it is left out. May be NULL
/// @return NULL: problem is 507 or 500
api_editor *api_editor_create(const api_mesh *mesh, void (*told)(void *ctx, const api_edit *edit, const char *why),
                              void *ctx, api_problem *problem);
void api_editor_destroy(api_editor *editor);

/// What stands, with what was applied last.
const api_edit_set *api_editor_standing(const api_editor *editor);

/// What became of one change.
typedef struct api_changed {
    api_edit_kind kind;
    char id[NAV_ID_MAX + 1];
    const api_edit *edit; ///< held by api_edited; NULL: removed
    bool created;         ///< there was none of its id before
    bool was_kept;        ///< what stood before was to be kept (not volatile)
} api_changed;

/// What became of the changes of one request.
typedef struct api_edited {
    api_mesh *mesh; ///< the new revision, to be published or destroyed
    uint32_t count;
    api_changed *changes; ///< [count]
} api_edited;

void api_edited_deinit(api_edited *edited);

/// What the process knows when edits are made.
typedef struct api_edit_moment {
    int64_t wall_ms;                     ///< Unix time
    uint64_t (*fresh_number)(void *ctx); ///< never the same twice, for ids
    void *ctx;
    uint32_t max_standing; ///< edits of a mesh; 0: no limit
} api_edit_moment;

/// Applies changes in their order as one revision, or none of them.
/// @param listed  problems point to place->prefix + "/" + the change's index, else to place->prefix alone
/// @param edited  filled on success
/// @return false: problem says why (400, 404, 409, 507, 500), nothing was changed
bool api_editor_apply(api_editor *editor, const api_change *changes, uint32_t count, bool listed,
                      const api_edit_moment *moment, const struct api_place *place, api_edited *edited);

/// The present state once more. @return NULL: problem says why
nav_mesh *api_editor_nav(api_editor *editor, api_problem *problem);
api_mesh *api_editor_revision(api_editor *editor, api_problem *problem);

/// Adds what a line of the log says to a set, or takes it away. What has expired by `now_ms` is left out.
/// @param order  the order of the last edit so far
/// @return false: it is not understood
bool api_edit_set_replay(api_edit_set *set, const char *line, size_t size, int64_t now_ms, uint64_t *order,
                         api_problem *problem);

/// The log's line for one request's changes; volatile ones are left out. Empty: nothing is to be kept.
void api_edited_log(const api_edited *edited, api_buffer *line);

/// The log's line for one edit that is to be made again.
void api_edit_log_line(api_buffer *line, const api_edit *edit);

/// Does an obstacle, region or link touch any of this ground? Slow on large meshes where it does not.
bool api_edit_touches(nav_query *query, const nav_mesh *ground, const api_edit *edit);

#endif
