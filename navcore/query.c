/// The scratch of a query and the defaults of what is asked of it.
#include "alloc.h"
#include "scratch.h"

#include <string.h>

enum { SMALLEST_BUFFER = 1024 };

nav_query *nav_query_create(const nav_alloc *alloc)
{
    nav_alloc from = nav__alloc_or_libc(alloc);
    nav_query *query = from.resize(from.ctx, NULL, sizeof *query);
    if (query) {
        memset(query, 0, sizeof *query);
        query->alloc = from;
    }
    return query;
}

static void free_buffer(nav_query *query, nav__buffer *buffer)
{
    if (buffer->data) {
        query->alloc.resize(query->alloc.ctx, buffer->data, 0);
    }
}

void nav_query_destroy(nav_query *query)
{
    if (!query) {
        return;
    }
#define NAV__FREE(name, what) free_buffer(query, &query->name);
    NAV__BUFFERS(NAV__FREE)
#undef NAV__FREE
    nav_alloc from = query->alloc;
    from.resize(from.ctx, query, 0);
}

void nav_query_set_interrupt(nav_query *query, const nav_interrupt *interrupt)
{
    query->interrupt = interrupt ? *interrupt : (nav_interrupt){.stop = NULL};
}

void *nav__reserve(nav_query *query, nav__buffer *buffer, size_t bytes)
{
    if (bytes <= buffer->bytes && buffer->data) {
        return buffer->data;
    }
    // At least half as much again, so that a need that creeps up settles after a few steps.
    size_t roomy = buffer->bytes > SIZE_MAX / 2 ? bytes : buffer->bytes + buffer->bytes / 2;
    size_t size = bytes > roomy ? bytes : roomy;
    size = size > SMALLEST_BUFFER ? size : SMALLEST_BUFFER;
    void *data = query->alloc.resize(query->alloc.ctx, buffer->data, size);
    if (!data) {
        return NULL;
    }
    buffer->data = data;
    buffer->bytes = size;
    return data;
}

nav_filter nav_filter_default(void)
{
    return (nav_filter){.include = UINT32_MAX, .exclude = 0, .area_costs = NULL};
}

nav_snap nav_snap_default(void)
{
    return (nav_snap){.half_extents = {2, 4, 2}, .floor = NAV_FLOOR_NEAREST, .filter = nav_filter_default()};
}
