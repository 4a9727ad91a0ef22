/// The words for what is wrong with a value.
#include "json_in.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// The place that a pointer stands for in a query string: its first name is the parameter, or what `include` and
/// `exclude` were.
static const char *parameter_path(const api_place *place, const char *pointer)
{
    const char *path = *pointer == '/' ? pointer + 1 : pointer;
    return place->query_filter && strncmp(path, "filter/", 7) == 0 ? path + 7 : path;
}

static void name_parameter(const api_place *place, const char *name)
{
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
    if (place->query_string) {
        // What is wrong may be deep inside of a parameter that is JSON text.
        const char *path = parameter_path(place, pointer);
        bool inside = strchr(path, '/') && detail[0] != '`';
        api_problem_set(place->problem, API_BAD_REQUEST, "%s%s%s%s", inside ? "`" : "", inside ? path : "",
                        inside ? "`: " : "", detail);
        name_parameter(place, path);
    } else {
        api_problem_set(place->problem, API_BAD_REQUEST, "%s", detail);
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
