/// Query strings: name=value&name=value, percent-encoded.
#ifndef API_QUERY_STRING_H
#define API_QUERY_STRING_H

#include <stdbool.h>
#include <stddef.h>

#include "api_problem.h"

#define API_PARAMETER_NAME_MAX 64

/// Undoes percent-encoding: `size` bytes of `text` into `out` (`cap` bytes, NUL-terminated).
/// @param plus  '+' means a space, as in query strings
/// @return false: a broken escape, an encoded NUL, malformed UTF-8, or no room
bool api_percent_decode(const char *text, size_t size, bool plus, char *out, size_t cap);

/// Steps through the pairs of a query string.
typedef struct api_parameters {
    const char *rest; ///< raw text still to be read; NULL or empty: none
    char name[API_PARAMETER_NAME_MAX + 1];
    char *value; ///< decoded; malloc'ed, freed by the next step or by the end
} api_parameters;

/// @param query  raw query string, NULL: none
void api_parameters_init(api_parameters *parameters, const char *query);

/// @return true and a pair; false at the end, or on a failure: then problem->code is set
bool api_parameters_next(api_parameters *parameters, api_problem *problem);

/// Frees what the steps hold; needed only when leaving before the end.
void api_parameters_deinit(api_parameters *parameters);

/// The first value of one parameter.
/// @return malloc'ed; NULL when there is none (problem->code is API_NO_PROBLEM then) or on a failure
char *api_parameter_find(const char *query, const char *name, api_problem *problem);

#endif
