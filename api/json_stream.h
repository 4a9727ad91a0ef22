/// A cursor over the JSON text of a mesh, which may be too long to make a tree of: see mesh_json.c. Nothing
/// here recurses, so nesting costs no stack.
///
/// Functions that fail return false (or NULL) and fill the problem: 422 bad_mesh with the byte where the
/// text is no JSON, with the JSON Pointer where it is not what a mesh may hold.
#ifndef API_JSON_STREAM_H
#define API_JSON_STREAM_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api_problem.h"

#define API_STREAM_NAME_CAP 64

typedef struct api_stream {
    api_problem *problem;
    const char *start, *p, *end;
    char member[API_STREAM_NAME_CAP]; ///< of the outermost object: being read
    size_t index[2];                  ///< and where in it: `depth` of these hold
    int depth;
} api_stream;

/// At the beginning of the text, behind a UTF-8 byte order mark if there is one.
api_stream api_stream_begin(const char *bytes, size_t size, api_problem *problem);

/// Complains about the byte at the cursor.
bool api_stream_fail(api_stream *s, const char *what);
/// Complains about a member: "/areas has 3 entries for 2 polygons".
bool api_stream_fail_at(api_stream *s, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/// Complains about what is being read, as member, index and depth tell.
bool api_stream_fail_here(api_stream *s, const char *what);
/// 507, out of memory.
bool api_stream_fail_memory(api_stream *s);

void api_stream_skip_space(api_stream *s);
/// Steps over white space and, if it is there, over `c`.
bool api_stream_take(api_stream *s, char c);

/// An array or object being walked, its opening bracket read: `while (api_stream_more(s, &list)) { read an
/// entry }`, after which `failed` tells a failure between entries from the end.
typedef struct api_stream_list {
    char close; ///< ']' or '}'
    bool begun, failed;
} api_stream_list;

/// Steps over the comma before the next entry, or over the closing bracket. @return true: an entry follows
bool api_stream_more(api_stream *s, api_stream_list *list);

/// A member's name and the colon behind it; names too long to be known are cut.
bool api_stream_name(api_stream *s, char name[API_STREAM_NAME_CAP]);
bool api_stream_number(api_stream *s, double *value);
/// A whole number from 0 to `max`, however it is written (3, 3.0, 3e0).
bool api_stream_whole(api_stream *s, uint32_t max, uint32_t *value);
/// Any value of an object's member as cJSON's, nested no deeper than `max_depth`. The caller deletes it.
cJSON *api_stream_tree(api_stream *s, uint32_t max_depth);
/// Steps over a member's value, to the comma or bracket behind it, without checking what it holds.
bool api_stream_skip_value(api_stream *s);

#endif
