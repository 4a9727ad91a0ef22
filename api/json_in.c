/// A strict scan before cJSON builds its tree, and the words for what is wrong with a value.
#include "json_in.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "number.h"
#include "utf8.h"

/// cJSON 1.7 copies a number into 64 bytes before it reads it, and takes what fits for the whole.
#define NUMBER_MAX 63

static bool bad_json(api_problem *problem, size_t byte, const char *what)
{
    api_problem_set(problem, API_BAD_JSON, "byte %zu: %s", byte, what);
    return false;
}

static int hex_value(unsigned char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/// @return length of the escape at text[i] == '\\', 0 when it is none that can be kept as a C string
static size_t escape_length(const unsigned char *text, size_t size, size_t i)
{
    if (i + 1 >= size) {
        return 0;
    }
    if (text[i + 1] != 'u') {
        return strchr("\"\\/bfnrt", text[i + 1]) && text[i + 1] ? 2 : 0;
    }
    int value = 0;
    for (size_t k = i + 2; k < i + 6; k++) {
        int digit = k < size ? hex_value(text[k]) : -1;
        if (digit < 0) {
            return 0;
        }
        value = value * 16 + digit;
    }
    return value == 0 ? 0 : 6;
}

/// @param at  of the opening quote; set behind the closing one
static bool scan_string(const unsigned char *text, size_t size, size_t *at, api_problem *problem)
{
    size_t i = *at + 1;
    while (i < size && text[i] != '"') {
        size_t length = 1;
        if (text[i] == '\\') {
            length = escape_length(text, size, i);
        } else if (text[i] < 0x20) {
            return bad_json(problem, i, "a control character in a string");
        } else if (text[i] >= 0x80) {
            length = api_utf8_length(text + i, size - i);
        }
        if (length == 0) {
            return bad_json(problem, i, text[i] == '\\' ? "no escape that is allowed" : "not UTF-8");
        }
        i += length;
    }
    if (i == size) {
        return bad_json(problem, *at, "a string that does not end");
    }
    *at = i + 1;
    return true;
}

bool api_json_skip_string(const char *text, size_t size, size_t *at, api_problem *problem)
{
    return scan_string((const unsigned char *)text, size, at, problem);
}

static bool scan_number(const unsigned char *text, size_t size, size_t *at, api_problem *problem)
{
    size_t length = api_number_length((const char *)text + *at, size - *at);
    if (length == 0) {
        return bad_json(problem, *at, "not a number");
    }
    if (length > NUMBER_MAX) {
        return bad_json(problem, *at, "a number of more than 63 characters");
    }
    *at += length;
    return true;
}

/// Finds what cJSON would let through: it takes any control character for white space, copies control
/// characters and malformed UTF-8 in strings, ends strings at an escaped NUL and reads numbers as strtod does.
static bool scan(const unsigned char *text, size_t from, size_t size, uint32_t max_depth, api_problem *problem)
{
    uint32_t depth = 0;
    for (size_t i = from; i < size;) {
        unsigned char c = text[i];
        if (c == '"') {
            if (!scan_string(text, size, &i, problem)) {
                return false;
            }
        } else if (c == '-' || (c >= '0' && c <= '9')) {
            if (!scan_number(text, size, &i, problem)) {
                return false;
            }
        } else {
            if (c < 0x20 && c != ' ' && c != '\t' && c != '\n' && c != '\r') {
                return bad_json(problem, i, "a control character");
            }
            if ((c == '[' || c == '{') && ++depth > max_depth) {
                api_problem_set(problem, API_BAD_JSON, "byte %zu: nested deeper than %u", i, (unsigned)max_depth);
                return false;
            }
            if ((c == ']' || c == '}') && depth > 0) {
                depth--;
            }
            i++;
        }
    }
    return true;
}

cJSON *api_json_parse(const char *text, size_t size, uint32_t max_depth, api_problem *problem)
{
    if (size == 0) {
        api_problem_set(problem, API_BAD_JSON, "the body is empty");
        return NULL;
    }
    return api_json_parse_part(text, 0, size, max_depth, problem);
}

cJSON *api_json_parse_part(const char *text, size_t from, size_t to, uint32_t max_depth, api_problem *problem)
{
    if (!scan((const unsigned char *)text, from, to, max_depth, problem)) {
        return NULL;
    }
    const char *end = NULL;
    cJSON *value = from < to ? cJSON_ParseWithLengthOpts(text + from, to - from, &end, 0) : NULL;
    size_t at = end ? (size_t)(end - text) : from;
    if (!value) {
        bad_json(problem, at, at + 1 >= to && from == 0 ? "the text ends too early" : "not JSON");
        return NULL;
    }
    while (at < to && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) {
        at++;
    }
    if (at < to) {
        cJSON_Delete(value);
        bad_json(problem, at, "more text after the JSON value");
        return NULL;
    }
    return value;
}

/// The parameter that a pointer stands for: its first name, or what `include` and `exclude` were.
static void name_parameter(const api_place *place, const char *pointer)
{
    const char *name = pointer;
    if (*name == '/') {
        name++;
    }
    if (place->query_filter && strncmp(name, "filter/", 7) == 0) {
        name += 7;
    }
    size_t length = strcspn(name, "/");
    if (length >= sizeof place->problem->parameter) {
        length = sizeof place->problem->parameter - 1;
    }
    memcpy(place->problem->parameter, name, length);
    place->problem->parameter[length] = '\0';
}

bool api_place_fail(const api_place *place, const char *pointer, const char *format, ...)
{
    char detail[sizeof place->problem->detail];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    api_problem_set(place->problem, API_BAD_REQUEST, "%s", detail);
    if (place->query_string) {
        name_parameter(place, pointer);
    } else {
        snprintf(place->problem->pointer, sizeof place->problem->pointer, "%s%s", place->prefix, pointer);
    }
    return false;
}

void api_pointer_join(char *pointer, size_t size, const char *base, const char *name)
{
    size_t length = strlen(base);
    if (length >= size) {
        length = size - 1;
    }
    memcpy(pointer, base, length);
    pointer[length] = '\0';
    size_t at = length;
    if (at + 1 >= size) {
        return;
    }
    pointer[at++] = '/';
    for (; *name; name++) {
        bool escaped = *name == '~' || *name == '/';
        if (at + (escaped ? 2 : 1) >= size) {
            pointer[length] = '\0';
            return;
        }
        pointer[at++] = escaped ? '~' : *name;
        if (escaped) {
            pointer[at++] = *name == '~' ? '0' : '1';
        }
    }
    pointer[at] = '\0';
}

bool api_json_finite(const cJSON *value)
{
    return cJSON_IsNumber(value) && isfinite(value->valuedouble);
}

const char *api_json_kind(const cJSON *value)
{
    return cJSON_IsNull(value)     ? "null"
           : cJSON_IsBool(value)   ? "a boolean"
           : cJSON_IsNumber(value) ? (isfinite(value->valuedouble) ? "a number" : "a number too large for a double")
           : cJSON_IsString(value) ? "a string"
           : cJSON_IsArray(value)  ? "an array"
                                   : "an object";
}

int api_name_distance(const char *a, const char *b, int limit)
{
    enum { LONGEST = 32 };
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST) {
        return limit + 1;
    }
    int rows[3][LONGEST + 1];
    for (size_t j = 0; j <= m; j++) {
        rows[0][j] = (int)j;
    }
    for (size_t i = 1; i <= n; i++) {
        int *now = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            now[j] = swapped && before[j - 2] + 1 < best ? before[j - 2] + 1 : best;
        }
    }
    int distance = rows[n % 3][m];
    return distance > limit ? limit + 1 : distance;
}

void api_suggest(api_suggestion *suggestion, const char *known)
{
    int distance = api_name_distance(suggestion->name, known, 2);
    // A name that would have to be written anew is not meant.
    if (distance < suggestion->distance && distance < (int)strlen(known)) {
        suggestion->distance = distance;
        suggestion->nearest = known;
    }
}

const char *api_suggestion_text(api_suggestion *suggestion)
{
    if (suggestion->nearest) {
        snprintf(suggestion->text, sizeof suggestion->text, ", did you mean `%s`?", suggestion->nearest);
    }
    return suggestion->text;
}
