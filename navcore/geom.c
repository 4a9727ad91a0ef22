#include "geom.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/// x + y = a + b exactly, x the rounded sum.
static double two_sum(double a, double b, double *y)
{
    double x = a + b, bv = x - a, av = x - bv;
    *y = (a - av) + (b - bv);
    return x;
}

/// x + y = a * b exactly.
static double two_product(double a, double b, double *y)
{
    double x = a * b;
    *y = fma(a, b, -x);
    return x;
}

/// Adds b to the expansion h of n components (least first), in place; h then has n + 1.
/// Shewchuk 1997, figure 6.
static int grow(double *h, int n, double b)
{
    double q = b;
    for (int i = 0; i < n; i++) {
        q = two_sum(q, h[i], &h[i]);
    }
    h[n] = q;
    return n + 1;
}

/// Adds (u1 + u0) * (v1 + v0) * sign to h.
static int grow_product(double *h, int n, const double u[2], const double v[2], double sign)
{
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            double low, high = two_product(u[i], sign * v[j], &low);
            n = grow(h, n, low);
            n = grow(h, n, high);
        }
    }
    return n;
}

/// Do all four factors have at most 26 significant bits, so that their products are exact?
static bool are_short(double a, double b, double c, double d)
{
    uint64_t bits[4];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    memcpy(&bits[2], &c, sizeof c);
    memcpy(&bits[3], &d, sizeof d);
    return ((bits[0] | bits[1] | bits[2] | bits[3]) & 0x7FFFFFF) == 0;
}

double nav__orient_exact(nav__p2 a, nav__p2 b, nav__p2 c)
{
    // Each difference as an exact pair (tail, head).
    double ab_x[2], ab_z[2], ac_x[2], ac_z[2];
    ab_x[1] = two_sum(b.x, -a.x, &ab_x[0]);
    ab_z[1] = two_sum(b.z, -a.z, &ab_z[0]);
    ac_x[1] = two_sum(c.x, -a.x, &ac_x[0]);
    ac_z[1] = two_sum(c.z, -a.z, &ac_z[0]);
    // Points on one line are the common case here. Where two points are one, or all share a coordinate,
    // nothing is to be computed; ...
    bool left_zero = ab_x[1] == 0 || ac_z[1] == 0, right_zero = ab_z[1] == 0 || ac_x[1] == 0;
    if ((left_zero && right_zero) || (b.x == c.x && b.z == c.z)) {
        return 0;
    }
    // ... and maps made from grids have short coordinates
    // and short differences, where plain arithmetic is exact.
    if (ab_x[0] == 0 && ab_z[0] == 0 && ac_x[0] == 0 && ac_z[0] == 0 && are_short(ab_x[1], ab_z[1], ac_x[1], ac_z[1])) {
        return ab_x[1] * ac_z[1] - ab_z[1] * ac_x[1];
    }
    // Both products as one expansion: at most 16 components, whose last (largest) non-zero one has the
    // sign of the whole.
    double h[16];
    int n = grow_product(h, 0, ab_x, ac_z, 1);
    n = grow_product(h, n, ab_z, ac_x, -1);
    for (int i = n - 1; i >= 0; i--) {
        if (h[i] != 0) {
            double sum = 0;
            for (int k = 0; k < n; k++) {
                sum += h[k];
            }
            // The sum's rounding could only lose the sign of a value that cancels to nothing.
            return (h[i] > 0) == (sum > 0) && sum != 0 ? sum : h[i];
        }
    }
    return 0;
}
