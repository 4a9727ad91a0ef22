/// Which format is it: by name, by content, by a file's ending (the table is in mesh_formats.c); and which ids
/// are ids.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "mesh_read.h"

const api_format *api_format_by_name(const char *name)
{
    for (size_t i = 0; i < api_format_count; i++) {
        if (strcmp(api_formats[i].name, name) == 0) {
            return &api_formats[i];
        }
    }
    return NULL;
}

/// Appends to a text of `size` bytes that may fill up.
static void append(char *text, size_t size, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

const char *api_format_names(char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < api_format_count; i++) {
        append(text, size, i == 0 ? "" : i + 1 < api_format_count ? ", " : " and ");
        append(text, size, api_formats[i].name);
    }
    return text;
}

/// Does the file's name end with this ending, and have something before it?
static bool ends_with(const char *name, const char *ending, size_t length)
{
    size_t n = strlen(name);
    return n > length && strncasecmp(name + n - length, ending, length) == 0;
}

static const api_format *format_by_ending(const char *name)
{
    for (size_t i = 0; i < api_format_count; i++) {
        for (const char *e = api_formats[i].endings; *e;) {
            size_t length = strcspn(e, " ");
            if (ends_with(name, e, length)) {
                return &api_formats[i];
            }
            e += length + (e[length] == ' ');
        }
    }
    return NULL;
}

bool api_begins_with(const char *bytes, size_t size, const char *text, size_t length)
{
    return size >= length && memcmp(bytes, text, length) == 0;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool api_begins_with_word(const char *bytes, size_t size, const char *word)
{
    size_t length = strlen(word);
    return api_begins_with(bytes, size, word, length) && (size == length || is_space(bytes[length]));
}

size_t api_text_start(const char *bytes, size_t size)
{
    size_t at = api_begins_with(bytes, size, "\xEF\xBB\xBF", 3) ? 3 : 0;
    while (at < size && is_space(bytes[at])) {
        at++;
    }
    return at;
}

bool api_read_failed(api_problem *problem, nav_status status, const nav_error *error)
{
    switch (status) {
    case NAV_NO_MEMORY:
        api_problem_set(problem, API_STORAGE_FULL, "not enough memory for this mesh");
        break;
    case NAV_BAD_FORMAT:
    case NAV_UNKNOWN_FORMAT:
    case NAV_BAD_MESH:
    case NAV_TOO_LARGE:
        api_problem_set(problem, API_BAD_MESH, "%s", error->message[0] ? error->message : nav_status_text(status));
        break;
    default:
        api_problem_set(problem, API_INTERNAL, "%s", nav_status_text(status));
    }
    return false;
}

bool api_format_read(const api_format *format, const api_reading *reading)
{
    if (format->read_more) {
        return format->read_more(reading);
    }
    nav_error error = {0};
    nav_status status = format->read(reading->soup, reading->bytes, reading->size, &error);
    return status == NAV_OK || api_read_failed(reading->problem, status, &error);
}

static void fail_unknown(api_problem *problem)
{
    char known[sizeof problem->detail] = "";
    for (size_t i = 0; i < api_format_count; i++) {
        append(known, sizeof known, i == 0 ? "" : i + 1 < api_format_count ? ", " : " and ");
        append(known, sizeof known, api_formats[i].title);
    }
    api_problem_set(problem, API_UNSUPPORTED_MEDIA_TYPE, "the content is in no format that is known: those are %s",
                    known);
}

const api_format *api_format_detect(const void *bytes, size_t size, const char *name, api_problem *problem)
{
    if (size == 0) {
        api_problem_set(problem, API_BAD_MESH, "the file is empty");
        return NULL;
    }
    for (size_t i = 0; i < api_format_count; i++) {
        if (api_formats[i].sniff && api_formats[i].sniff(bytes, size)) {
            return &api_formats[i];
        }
    }
    const char *what = api_format_foreign(bytes, size);
    if (what) {
        api_problem_set(problem, API_UNSUPPORTED_MEDIA_TYPE, "this is %s", what);
        return NULL;
    }
    const api_format *format = name ? format_by_ending(name) : NULL;
    if (!format) {
        fail_unknown(problem);
    }
    return format;
}

const char *api_mesh_extension(const char *format, char ending[API_ENDING_MAX + 1])
{
    const api_format *known = api_format_by_name(format);
    const char *endings = known ? known->endings : ".bin";
    snprintf(ending, API_ENDING_MAX + 1, "%.*s", (int)strcspn(endings, " "), endings);
    return ending;
}

bool api_mesh_known_name(const char *name)
{
    static const char sidecar[] = ".meta.json";
    return !ends_with(name, sidecar, sizeof sidecar - 1) && strcasecmp(name, sidecar) != 0 &&
           format_by_ending(name) != NULL;
}

bool api_id_valid(const char *id, size_t length)
{
    if (length == 0 || length > NAV_ID_MAX || id[0] == '.') {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        char c = id[i];
        bool allowed = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
                       c == '_' || c == '-';
        if (!allowed) {
            return false;
        }
    }
    return true;
}
