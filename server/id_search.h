/// Binary search for an id in a list that is sorted by id.
#ifndef SRV_ID_SEARCH_H
#define SRV_ID_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/// Id of the list's entry `at`.
typedef const char *srv_id_at_fn(const void *list, size_t at);

/// Where `id` is, or where it would be put. Inline, so that `id_at` is called by no pointer.
static inline size_t srv_id_search(const void *list, size_t count, srv_id_at_fn *id_at, const char *id, bool *found)
{
    size_t low = 0, high = count;
    *found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(id_at(list, middle), id);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

#endif
