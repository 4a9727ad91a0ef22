/// Private: a cursor over binary data of either byte order. Reading past the end gives zeros and marks the
/// cursor as failed, so that a reader may check once for several values; counts are checked before use.
#ifndef NAV_READ_BYTES_H
#define NAV_READ_BYTES_H

#include "nav_types.h"

#include <string.h>

typedef struct nav__bytes {
    const uint8_t *start, *p, *end;
    bool big_endian;
    bool failed; ///< something was read that is not there
} nav__bytes;

static inline nav__bytes nav__bytes_begin(const void *bytes, size_t size)
{
    return (nav__bytes){.start = bytes, .p = bytes, .end = (const uint8_t *)bytes + size};
}

static inline size_t nav__bytes_left(const nav__bytes *b)
{
    return (size_t)(b->end - b->p);
}

static inline size_t nav__bytes_at(const nav__bytes *b)
{
    return (size_t)(b->p - b->start);
}

/// Steps over `count` bytes. @return where they begin, NULL when there are fewer
static inline const uint8_t *nav__bytes_take(nav__bytes *b, size_t count)
{
    if (count > nav__bytes_left(b)) {
        b->failed = true;
        b->p = b->end;
        return NULL;
    }
    const uint8_t *p = b->p;
    b->p += count;
    return p;
}

/// An unsigned number of 1, 2, 4 or 8 bytes.
static inline uint64_t nav__bytes_number(nav__bytes *b, size_t size)
{
    const uint8_t *p = nav__bytes_take(b, size);
    uint64_t value = 0;
    for (size_t k = 0; p && k < size; k++) {
        value |= (uint64_t)p[b->big_endian ? size - 1 - k : k] << 8 * k;
    }
    return value;
}

static inline uint8_t nav__bytes_u8(nav__bytes *b)
{
    return (uint8_t)nav__bytes_number(b, 1);
}

static inline uint16_t nav__bytes_u16(nav__bytes *b)
{
    return (uint16_t)nav__bytes_number(b, 2);
}

static inline uint32_t nav__bytes_u32(nav__bytes *b)
{
    return (uint32_t)nav__bytes_number(b, 4);
}

static inline double nav__bytes_f32(nav__bytes *b)
{
    uint32_t bits = nav__bytes_u32(b);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static inline double nav__bytes_f64(nav__bytes *b)
{
    uint64_t bits = nav__bytes_number(b, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
