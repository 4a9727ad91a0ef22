/// Reproducible random numbers for tests, samples and benchmarks: PCG32 (O'Neill, "PCG: A Family of
/// Simple Fast Space-Efficient Statistically Good Algorithms", 2014, section 6.3, XSH RR 64/32). The
/// same seed gives the same numbers on every machine.
#ifndef TEST_RNG_H
#define TEST_RNG_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rng {
    uint64_t state;
} rng;

static inline uint32_t rng_next(rng *r)
{
    uint64_t s = r->state;
    r->state = s * 6364136223846793005u + 1442695040888963407u;
    uint32_t mixed = (uint32_t)(((s >> 18) ^ s) >> 27), turn = (uint32_t)(s >> 59);
    return (mixed >> turn) | (mixed << (-turn & 31));
}

static inline rng rng_seeded(uint64_t seed)
{
    rng r = {seed + 1442695040888963407u};
    rng_next(&r);
    r.state += 0x9E3779B97F4A7C15u * seed;
    rng_next(&r);
    return r;
}

/// 0 .. n - 1, n > 0; each as likely as the others up to n / 2^32.
static inline uint32_t rng_below(rng *r, uint32_t n)
{
    return (uint32_t)(((uint64_t)rng_next(r) * n) >> 32);
}

/// low .. high, both included.
static inline int rng_between(rng *r, int low, int high)
{
    return low + (int)rng_below(r, (uint32_t)(high - low + 1));
}

/// In [0, 1), on a grid of 2^-32.
static inline double rng_unit(rng *r)
{
    return (double)rng_next(r) * (1.0 / 4294967296.0);
}

static inline bool rng_chance(rng *r, double probability)
{
    return rng_unit(r) < probability;
}

#endif
