/// Private: what the readers share: a growing list of numbers and a cursor over text.
#ifndef NAV_READ_H
#define NAV_READ_H

#include "nav_format.h"

/// Grows by doubling; `data` is NULL while empty.
typedef struct nav__list {
    uint32_t *data;
    uint32_t count, cap;
} nav__list;

/// @return false when out of memory; the list is then as before
bool nav__list_reserve(nav__list *list, const nav_alloc *alloc, uint32_t cap);
void nav__list_free(nav__list *list, const nav_alloc *alloc);

static inline bool nav__list_push(nav__list *list, const nav_alloc *alloc, uint32_t value)
{
    if (list->count == list->cap && !nav__list_reserve(list, alloc, list->count + 1)) {
        return false;
    }
    list->data[list->count++] = value;
    return true;
}

/// A place in text; lines end with LF, CR or CR LF and count from 1.
typedef struct nav__text {
    const char *p, *end;
    size_t line;
} nav__text;

/// At the beginning of the bytes, behind a UTF-8 byte order mark if there is one.
nav__text nav__text_begin(const void *bytes, size_t size);

/// Steps over one line end at t->p and counts it.
static inline void nav__text_newline(nav__text *t)
{
    t->p += *t->p == '\r' && t->end - t->p > 1 && t->p[1] == '\n' ? 2 : 1;
    t->line++;
}

/// White space within a line.
static inline bool nav__is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static inline bool nav__is_newline(char c)
{
    return c == '\n' || c == '\r';
}

/// Fails with what was expected and what stands at the cursor instead.
nav_status nav__text_fail(const nav__text *t, nav_error *error, const char *expected);

/// A finished reader's last step: on failure empties the soup, so that it holds nothing, and makes sure
/// that `error` says something.
nav_status nav__read_end(nav_soup *soup, nav_status status, nav_error *error);

#endif
