/// What the readers share.
#include "read.h"

#include "nav_number.h"

#include <math.h>
#include <string.h>

bool nav__list_reserve(nav__list *list, const nav_alloc *alloc, uint32_t cap)
{
    if (cap <= list->cap) {
        return true;
    }
    uint32_t doubled = list->cap > UINT32_MAX / 2 ? UINT32_MAX : 2 * list->cap;
    uint32_t grown = cap > doubled ? cap : doubled;
    grown = grown < 16 ? 16 : grown;
    size_t entries = grown;
    if (entries > SIZE_MAX / sizeof *list->data) {
        return false;
    }
    uint32_t *data = alloc->resize(alloc->ctx, list->data, entries * sizeof *data);
    if (!data) {
        return false;
    }
    list->data = data;
    list->cap = grown;
    return true;
}

void nav__list_free(nav__list *list, const nav_alloc *alloc)
{
    if (list->data) {
        alloc->resize(alloc->ctx, list->data, 0);
    }
    *list = (nav__list){0};
}

nav__text nav__text_begin(const void *bytes, size_t size)
{
    static const char mark[] = "\xEF\xBB\xBF";
    nav__text t = {.p = bytes, .end = (const char *)bytes + size, .line = 1};
    if (size >= 3 && memcmp(bytes, mark, 3) == 0) {
        t.p += 3;
    }
    return t;
}

nav_status nav__text_fail(const nav__text *t, nav_error *error, const char *expected)
{
    bool at_end = t->p == t->end;
    if (at_end || nav__is_newline(*t->p)) {
        return nav_fail(error, NAV_BAD_FORMAT, t->line, NAV_NO_BYTE, "expected %s, found the end of the %s", expected,
                        at_end ? "file" : "line");
    }
    // The word at the cursor, with what could upset a terminal or a JSON string left out.
    char word[33];
    size_t n = 0;
    for (const char *p = t->p; p < t->end && n + 1 < sizeof word && !nav__is_blank(*p) && !nav__is_newline(*p); p++) {
        word[n++] = *p > ' ' && *p < 0x7F ? *p : '?';
    }
    word[n] = '\0';
    return nav_fail(error, NAV_BAD_FORMAT, t->line, NAV_NO_BYTE, "expected %s, found `%s`", expected, word);
}

bool nav__text_next_word(nav__text *t)
{
    while (t->p < t->end) {
        if (nav__is_newline(*t->p)) {
            nav__text_newline(t);
        } else if (nav__is_blank(*t->p)) {
            t->p++;
        } else {
            return true;
        }
    }
    return false;
}

bool nav__text_take_word(nav__text *t, const char *word)
{
    size_t length = strlen(word);
    if (!nav__text_next_word(t) || (size_t)(t->end - t->p) < length || memcmp(t->p, word, length) != 0) {
        return false;
    }
    nav__text behind = *t;
    behind.p += length;
    if (!nav__text_word_ends(&behind)) {
        return false;
    }
    *t = behind;
    return true;
}

nav_status nav__text_integer(nav__text *t, nav_error *error, int64_t min, int64_t max, const char *what, int64_t *value)
{
    nav__text_next_word(t);
    const char *word = t->p;
    const char *behind = nav_integer_parse(word, t->end, value);
    if (behind) {
        t->p = behind;
    }
    if (!behind || !nav__text_word_ends(t)) {
        t->p = word;
        return nav__text_fail(t, error, what);
    }
    if (*value < min || *value > max) {
        return nav_fail(error, NAV_BAD_FORMAT, t->line, NAV_NO_BYTE, "%s is %lld, outside %lld to %lld", what,
                        (long long)*value, (long long)min, (long long)max);
    }
    return NAV_OK;
}

nav_status nav__text_number(nav__text *t, nav_error *error, const char *what, double *value)
{
    nav__text_next_word(t);
    const char *word = t->p;
    const char *behind = nav_number_parse(word, t->end, value);
    if (behind) {
        t->p = behind;
    }
    if (!behind || !nav__text_word_ends(t) || !isfinite(*value)) {
        t->p = word;
        return nav__text_fail(t, error, what);
    }
    return NAV_OK;
}

nav_status nav__read_end(nav_soup *soup, nav_status status, nav_error *error)
{
    if (status == NAV_OK) {
        return status;
    }
    if (status == NAV_NO_MEMORY || status == NAV_TOO_LARGE) {
        nav_fail(error, status, 0, NAV_NO_BYTE, "%s", nav_status_text(status));
    }
    nav_soup_deinit(soup);
    return status;
}
