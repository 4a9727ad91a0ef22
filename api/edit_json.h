/// Edits as JSON, from and to the caller's frame; the same with exact numbers and navcore's axes for the log
/// that the process keeps.
#ifndef API_EDIT_JSON_H
#define API_EDIT_JSON_H

#include "edit_set.h"
#include "json_out.h"
#include "mesh_read.h"

/// In whose terms edits are written.
typedef struct api_edit_terms {
    api_frame frame; ///< of the caller
    int dimensions;  ///< 2: positions are [x, y], heights do not matter
    api_names names; ///< of areas and flags
    bool exact;      ///< the log's: navcore's axes, doubles, numbers instead of names, no defaults
    bool objects;    ///< positions as {"x": …}
} api_edit_terms;

api_edit_terms api_edit_terms_of(const api_mesh *mesh);
api_edit_terms api_edit_terms_exact(void);

/// A turn of the caller's is right-handed about its height axis (on the plane: from x towards y). In navcore's
/// axes it is the same turn (1) or its opposite (-1).
double api_edit_yaw_sign(const api_edit_terms *terms);

/// Reads an obstacle, region or link.
/// @param id       from the path, which an `id` in the object must match; NULL: none
/// @param ignored  members that are the list entry's, ends with NULL; NULL: none
/// @param pointer  of `value`, below place->prefix
/// @return false: place->problem says why; `change` needs no deinit
bool api_change_read(api_change *change, const api_edit_terms *terms, api_edit_kind kind, const char *id,
                     const cJSON *value, const char *const *ignored, const char *pointer, const api_place *place);

/// Reads an entry of a list: {"type", "op", "id", …}.
bool api_change_read_entry(api_change *change, const api_edit_terms *terms, const cJSON *value, const char *pointer,
                           const api_place *place);

/// Checks an id. @return false: place->problem says why
bool api_edit_id_check(const char *id, const char *pointer, const api_place *place);

/// Writes the members of an edit, `id` first, into an open object.
void api_edit_write(api_json *json, const api_edit_terms *terms, const api_edit *edit);

/// Writes an entry of the log: a put of `edit`, or the removal of an id.
void api_edit_write_put(api_json *json, const api_edit *edit);
void api_edit_write_removal(api_json *json, api_edit_kind kind, const char *id);

#endif
