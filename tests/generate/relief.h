/// Smooth random heights: value noise (Perlin's lattice of random values, interpolated) in two octaves.
#ifndef GENERATE_RELIEF_H
#define GENERATE_RELIEF_H

#include <math.h>
#include <stdint.h>

typedef struct relief {
    uint64_t seed;
    double wave;   ///< distance between hills, in units
    double height; ///< of the highest hill
} relief;

/// In [0, 1), the same for the same lattice point and seed.
static inline double relief_value(uint64_t seed, int64_t x, int64_t z)
{
    uint64_t h = seed + (uint64_t)x * 0x9E3779B97F4A7C15u + (uint64_t)z * 0xC2B2AE3D27D4EB4Fu;
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u; // splitmix64's finish
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
    return (double)((h ^ (h >> 31)) >> 11) * (1.0 / 9007199254740992.0);
}

static inline double relief_octave(uint64_t seed, double x, double z)
{
    double fx = floor(x), fz = floor(z), tx = x - fx, tz = z - fz;
    int64_t i = (int64_t)fx, k = (int64_t)fz;
    tx = tx * tx * (3 - 2 * tx);
    tz = tz * tz * (3 - 2 * tz);
    double low = relief_value(seed, i, k) * (1 - tx) + relief_value(seed, i + 1, k) * tx;
    double high = relief_value(seed, i, k + 1) * (1 - tx) + relief_value(seed, i + 1, k + 1) * tx;
    return low * (1 - tz) + high * tz;
}

/// Rounded to 1/64, so that 16-bit tiles hold it exactly.
static inline double relief_height(const relief *r, double x, double z)
{
    double coarse = relief_octave(r->seed, x / r->wave, z / r->wave);
    double fine = relief_octave(r->seed + 1, 4 * x / r->wave, 4 * z / r->wave);
    return floor((0.8 * coarse + 0.2 * fine) * r->height * 64) / 64;
}

#endif
