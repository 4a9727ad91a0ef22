/// A JSON writer: straight into the answer's buffer, no tree. Commas are its business; that objects and
/// arrays are closed is the caller's.
#ifndef API_JSON_OUT_H
#define API_JSON_OUT_H

#include <string.h>

#include "api_buffer.h"
#include "api_frame.h"
#include "api_problem.h"

typedef struct api_json {
    api_buffer *out;
    bool comma; ///< a value came before in this object or array
} api_json;

static inline api_json api_json_begin(api_buffer *out)
{
    return (api_json){.out = out, .comma = false};
}

void api_json_open(api_json *json, char bracket);
void api_json_close(api_json *json, char bracket);

/// A member's name, `length` characters that need no escape.
void api_json_key_sized(api_json *json, const char *name, size_t length);
/// A member's name that is known to need no escape: every name of the contract.
static inline void api_json_key(api_json *json, const char *name)
{
    api_json_key_sized(json, name, strlen(name));
}
/// A member's name from outside, escaped.
void api_json_key_text(api_json *json, const char *name);

/// Text from anywhere, NUL-terminated: escaped, malformed UTF-8 replaced by U+FFFD.
void api_json_text(api_json *json, const char *text);
/// Text that needs no escape.
void api_json_word(api_json *json, const char *word);
/// A value that is JSON already.
void api_json_raw(api_json *json, const char *text);
void api_json_u64(api_json *json, uint64_t value);
void api_json_double(api_json *json, double value);
void api_json_bool(api_json *json, bool value);
void api_json_null(api_json *json);
/// Unix time in milliseconds as RFC 3339 text in UTC.
void api_json_time(api_json *json, int64_t unix_ms);

/// How positions are written.
typedef struct api_positions {
    const api_frame *frame; ///< of the caller
    int dimensions;         ///< 2: the two axes of the ground plane only
    int precision;          ///< decimals, negative: the shortest that read back the same
    bool objects;           ///< {"x":…} instead of […]
} api_positions;

/// One of navcore's positions or directions, in the caller's frame.
void api_json_position(api_json *json, const api_positions *positions, nav_vec internal);
/// A list of them.
void api_json_position_list(api_json *json, const api_positions *positions, const nav_vec *internal, size_t count);
/// One coordinate.
void api_json_coordinate(api_json *json, const api_positions *positions, double value);

/// A problem document. `request_id` may be NULL.
void api_json_problem(api_json *json, const api_problem *problem, const char *request_id);

#endif
