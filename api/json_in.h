/// Reading JSON from outside, under limits. Values are cJSON's: this file and args.h are the only ones
/// of the api's queries that show them.
#ifndef API_JSON_IN_H
#define API_JSON_IN_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api_problem.h"

#define API_SUGGESTION_MAX 96

/// Parses one JSON text strictly (RFC 8259): the whole of `text` must be one value, UTF-8, without NULs or
/// control characters in strings. A number beyond a double is infinite. Nesting is checked before anything is
/// built, so that depth costs no stack.
/// @return NULL on failure: 400 bad_json naming the byte, or 500. The caller frees the whole with cJSON_Delete;
///         it is one block, so nothing may be added to it or taken out (cJSON_Duplicate makes a tree of which
///         both can be done). It may itself be added to another tree.
/// @thread any
cJSON *api_json_parse(const char *text, size_t size, uint32_t max_depth, api_problem *problem);

/// The same for a value in the middle of a text: bytes `from` up to `to`, told by their place in the whole.
cJSON *api_json_parse_part(const char *text, size_t from, size_t to, uint32_t max_depth, api_problem *problem);

/// Steps over the string whose opening quote is at `*at`, checking it as above.
/// @return false: 400 bad_json naming the byte
bool api_json_skip_string(const char *text, size_t size, size_t *at, api_problem *problem);

/// Where a reader is, to name what is at fault.
typedef struct api_place {
    api_problem *problem;
    char prefix[48];   ///< JSON Pointer of the object being read: "" or "/queries/17"
    bool query_string; ///< the arguments came from a query string: name parameters instead
    bool query_filter; ///< … in which `include` and `exclude` stood for themselves, outside of `filter`
} api_place;

/// Fills place->problem with bad_request and the pointer prefix + `pointer` ("/start/0"; "" for the object
/// itself), or the parameter's name.
/// @return false, so that a reader can `return api_place_fail(...)`
bool api_place_fail(const api_place *place, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Fills `pointer` with "/name" or "base/name", escaped as RFC 6901 says; left at `base` where the name
/// is too long to be told whole.
void api_pointer_join(char *pointer, size_t size, const char *base, const char *name);

/// Is this a number that a double holds?
bool api_json_finite(const cJSON *value);

/// For messages: "a string", "null", …
const char *api_json_kind(const cJSON *value);

/// Edit distance of two names (insertions, deletions, substitutions, neighbours swapped); more than
/// `limit` is told as limit + 1.
int api_name_distance(const char *a, const char *b, int limit);

/// Looks for the known name that an unknown one may be meant for.
typedef struct api_suggestion {
    const char *name, *nearest; ///< nearest NULL: none is near
    int distance;
    char text[API_SUGGESTION_MAX]; ///< ", did you mean `start`?", or empty
} api_suggestion;

static inline api_suggestion api_suggest_for(const char *name)
{
    return (api_suggestion){.name = name, .distance = 3};
}
/// One of the known names; it must stay where it is until api_suggestion_text.
void api_suggest(api_suggestion *suggestion, const char *known);
/// To be put behind a complaint.
const char *api_suggestion_text(api_suggestion *suggestion);

#endif
