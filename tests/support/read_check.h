/// What every reader's tests do: read a text, hear its complaints, break it, run out of memory.
#ifndef TEST_READ_CHECK_H
#define TEST_READ_CHECK_H

#include "nav_format.h"

/// A file that must be refused, with a part of what is said about it.
typedef struct read_complaint {
    const char *text;
    const char *message;
} read_complaint;

/// A file of a test, with its size as it may hold NULs.
typedef struct read_sample {
    const void *bytes;
    size_t size;
} read_sample;

nav_status read_check_text(nav_read_fn *read, nav_soup *soup, const char *text, nav_error *error);

/// Polygon p has these corners?
void read_check_polygon(const nav_soup *soup, uint32_t p, uint32_t count, const uint32_t *corners);

void read_check_complaints(nav_read_fn *read, const read_complaint *cases, size_t count);

/// Every beginning of the file and `flips` copies with flipped bits: read within 64 times the size in memory,
/// sound corners or a complaint, nothing left over. @return how many beginnings were read as whole files
unsigned read_check_mangled(nav_read_fn *read, const void *bytes, size_t size, unsigned flips);

/// Fails each allocation in turn; each time the reader must say so and free what it has.
void read_check_memory(nav_read_fn *read, const void *bytes, size_t size);

/// Ground area of all polygons together.
double read_check_area(const nav_soup *soup);

#endif
