/// The table of query arguments: their names, and how each is read. Private to args*.c.
#ifndef API_ARGS_MEMBERS_H
#define API_ARGS_MEMBERS_H

#include "args.h"

typedef struct api_member api_member;

/// One question being read.
typedef struct api_reader {
    api_args *args;
    const api_args_rules *rules;
    const api_place *place;
    const api_member *member; ///< being read
    bool form_known;          ///< a position told whether positions are objects
} api_reader;

struct api_member {
    const char *pointer; ///< '/' and the name
    uint32_t bit;
    /// @param pointer  of the value, "/start"
    bool (*read)(api_reader *r, const cJSON *value, const char *pointer);
    size_t offset; ///< of the field in api_args, where `read` serves several
    api_arg_form form;
};

static inline const char *api_member_name(const api_member *member)
{
    return member->pointer + 1;
}

/// @return NULL: no such argument of any query
const api_member *api_member_find(const char *name);
/// The table; NULL behind its end.
const api_member *api_member_at(size_t index);

/// Reads a position or direction, in the caller's axes still; of a flat mesh the first two are set.
/// @param pointer  of the value, "/start"
bool api_vector_read(const api_mesh *mesh, const cJSON *value, const char *pointer, const api_place *place,
                     double to[3]);
/// A position from the caller's frame. On a flat mesh it holds the caller's two ground axes, in their order.
nav_vec api_vector_to_internal(const api_frame *frame, const api_mesh *mesh, nav_vec caller);

/// The field of a position.
static inline nav_vec *api_member_position(api_args *args, const api_member *member)
{
    return (nav_vec *)(void *)((char *)args + member->offset);
}
/// The field of a list of positions.
static inline api_points *api_member_positions(api_args *args, const api_member *member)
{
    return (api_points *)(void *)((char *)args + member->offset);
}

#endif
