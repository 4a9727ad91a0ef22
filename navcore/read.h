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

/// Steps over white space and line ends to the next word. @return false at the end of the text
bool nav__text_next_word(nav__text *t);

/// Does a word end at the cursor?
static inline bool nav__text_word_ends(const nav__text *t)
{
    return t->p == t->end || nav__is_blank(*t->p) || nav__is_newline(*t->p);
}

/// Is the next word `word`? Steps behind it if so, else only to it.
bool nav__text_take_word(nav__text *t, const char *word);

/// Reads the next word as a whole number from `min` to `max`; `what` says in an error what it is.
nav_status nav__text_integer(nav__text *t, nav_error *error, int64_t min, int64_t max, const char *what,
                             int64_t *value);

/// Reads the next word as a finite number.
nav_status nav__text_number(nav__text *t, nav_error *error, const char *what, double *value);

/// More words than that cannot be left: each takes a character and a blank.
static inline int64_t nav__text_most_words(const nav__text *t)
{
    return (int64_t)((t->end - t->p) / 2 + 1);
}

/// Fails with what was expected and what stands at the cursor instead.
nav_status nav__text_fail(const nav__text *t, nav_error *error, const char *expected);

/// A finished reader's last step: on failure empties the soup, so that it holds nothing, and makes sure
/// that `error` says something.
nav_status nav__read_end(nav_soup *soup, nav_status status, nav_error *error);

#endif
