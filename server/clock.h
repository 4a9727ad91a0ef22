/// The clocks of the process.
#ifndef SRV_CLOCK_H
#define SRV_CLOCK_H

#include <stdint.h>
#include <time.h>

#define SRV_NS_PER_MS 1000000u
#define SRV_NS_PER_S 1000000000u

/// Monotonic nanoseconds.
static inline uint64_t srv_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SRV_NS_PER_S + (uint64_t)t.tv_nsec;
}

/// Milliseconds since 1970 (Unix time).
static inline int64_t srv_wall_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + (int64_t)(t.tv_nsec / SRV_NS_PER_MS);
}

#endif
