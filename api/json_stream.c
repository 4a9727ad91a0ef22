/// A cursor over the JSON text of a mesh.
#include "json_stream.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json_in.h"
#include "number.h"

api_stream api_stream_begin(const char *bytes, size_t size, api_problem *problem)
{
    api_stream s = {.problem = problem, .start = bytes, .p = bytes, .end = bytes + size};
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        s.p += 3;
    }
    return s;
}

bool api_stream_fail(api_stream *s, const char *what)
{
    api_problem_set(s->problem, API_BAD_MESH, "byte %zu: %s", (size_t)(s->p - s->start), what);
    return false;
}

bool api_stream_fail_at(api_stream *s, const char *pointer, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    api_problem_set(s->problem, API_BAD_MESH, "%.110s %s", pointer, text);
    snprintf(s->problem->pointer, sizeof s->problem->pointer, "%s", pointer);
    return false;
}

bool api_stream_fail_here(api_stream *s, const char *what)
{
    char pointer[128];
    api_pointer_join(pointer, sizeof pointer, "", s->member);
    for (int k = 0; k < s->depth; k++) {
        size_t length = strlen(pointer);
        snprintf(pointer + length, sizeof pointer - length, "/%zu", s->index[k]);
    }
    return api_stream_fail_at(s, pointer, "%s", what);
}

bool api_stream_fail_memory(api_stream *s)
{
    api_problem_set(s->problem, API_STORAGE_FULL, "not enough memory to read the mesh");
    return false;
}

void api_stream_skip_space(api_stream *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\r' || *s->p == '\t')) {
        s->p++;
    }
}

bool api_stream_take(api_stream *s, char c)
{
    api_stream_skip_space(s);
    bool there = s->p < s->end && *s->p == c;
    s->p += there;
    return there;
}

bool api_stream_more(api_stream *s, api_stream_list *l)
{
    if (api_stream_take(s, l->close)) {
        return false;
    }
    if (l->begun && !api_stream_take(s, ',')) {
        l->failed = true;
        return api_stream_fail(s, l->close == ']' ? "expected `,` or `]`" : "expected `,` or `}`");
    }
    l->begun = true;
    return true;
}

/// Steps over a string whose opening quote is at the cursor, without looking into it.
static bool skip_string(api_stream *s)
{
    const char *quote = s->p++;
    while (s->p < s->end && *s->p != '"') {
        s->p += *s->p == '\\' && s->end - s->p > 1 ? 2 : 1;
    }
    if (s->p == s->end) {
        s->p = quote;
        return api_stream_fail(s, "a string that does not end");
    }
    s->p++;
    return true;
}

bool api_stream_skip_value(api_stream *s)
{
    size_t depth = 0;
    while (s->p < s->end && (depth > 0 || (*s->p != ',' && *s->p != ']' && *s->p != '}'))) {
        if (*s->p == '"') {
            if (!skip_string(s)) {
                return false;
            }
        } else {
            depth += *s->p == '[' || *s->p == '{';
            depth -= *s->p == ']' || *s->p == '}';
            s->p++;
        }
    }
    return s->p < s->end || api_stream_fail(s, "the file ends within a value");
}

cJSON *api_stream_tree(api_stream *s, uint32_t max_depth)
{
    api_stream_skip_space(s);
    const char *begin = s->p;
    if (!api_stream_skip_value(s)) {
        return NULL;
    }
    cJSON *value = api_json_parse(begin, (size_t)(s->p - begin), max_depth, s->problem);
    if (!value) {
        if (s->problem->code != API_BAD_JSON) {
            api_stream_fail_memory(s);
        } else {
            char detail[200];
            snprintf(detail, sizeof detail, "%.199s", s->problem->detail);
            s->depth = 0;
            api_stream_fail_here(s, detail);
        }
    }
    return value;
}

/// Fills `name` from a string's text without its quotes. Escapes are left to cJSON: hardly anybody writes them.
static void copy_name(const char *text, size_t length, char name[API_STREAM_NAME_CAP])
{
    api_problem ignored;
    cJSON *decoded = memchr(text, '\\', length) ? api_json_parse(text - 1, length + 2, 1, &ignored) : NULL;
    if (decoded) {
        text = decoded->valuestring;
        length = strlen(text);
    }
    length = length < API_STREAM_NAME_CAP ? length : API_STREAM_NAME_CAP - 1;
    memcpy(name, text, length);
    name[length] = '\0';
    cJSON_Delete(decoded);
}

bool api_stream_name(api_stream *s, char name[API_STREAM_NAME_CAP])
{
    api_stream_skip_space(s);
    if (s->p == s->end || *s->p != '"') {
        return api_stream_fail(s, "expected the name of a member");
    }
    const char *quote = s->p;
    if (!skip_string(s)) {
        return false;
    }
    for (const char *c = quote; c < s->p; c++) {
        if ((unsigned char)*c < 0x20) {
            s->p = c;
            return api_stream_fail(s, "a control character in a name");
        }
    }
    copy_name(quote + 1, (size_t)(s->p - quote) - 2, name);
    return api_stream_take(s, ':') || api_stream_fail(s, "expected `:`");
}

bool api_stream_number(api_stream *s, double *value)
{
    api_stream_skip_space(s);
    size_t length = api_number_length(s->p, (size_t)(s->end - s->p));
    if (length == 0) {
        return api_stream_fail_here(s, "is not a number");
    }
    if (api_number_parse(s->p, length, value) != API_NUMBER_OK) {
        return api_stream_fail_here(s, "is a number out of range");
    }
    s->p += length;
    return true;
}

bool api_stream_whole(api_stream *s, uint32_t max, uint32_t *value)
{
    api_stream_skip_space(s);
    const char *p = s->p;
    uint64_t n = 0;
    while (p < s->end && *p >= '0' && *p <= '9' && n <= UINT32_MAX) {
        n = 10 * n + (uint64_t)(*p++ - '0');
    }
    bool plain = p > s->p && (*s->p != '0' || p == s->p + 1) && n <= UINT32_MAX &&
                 (p == s->end || (*p != '.' && *p != 'e' && *p != 'E'));
    if (plain) {
        s->p = p;
    } else { // 3.0 and 3e0 are whole too
        double number;
        if (!api_stream_number(s, &number)) {
            return false;
        }
        if (number < 0 || number > UINT32_MAX || floor(number) != number) {
            return api_stream_fail_here(s, "is not a whole number of 32 bits");
        }
        n = (uint64_t)number;
    }
    if (n > max) {
        return api_stream_fail_here(s, "is too large");
    }
    *value = (uint32_t)n;
    return true;
}
