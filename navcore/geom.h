/// Private: exact predicates and small geometry on the ground plane.
#ifndef NAV_GEOM_H
#define NAV_GEOM_H

#include <math.h>

/// A position on the ground plane, relative to a mesh's origin.
typedef struct nav__p2 {
    double x, z;
} nav__p2;

static inline nav__p2 nav__sub(nav__p2 a, nav__p2 b)
{
    return (nav__p2){a.x - b.x, a.z - b.z};
}
static inline double nav__cross(nav__p2 a, nav__p2 b)
{
    return a.x * b.z - a.z * b.x;
}
static inline double nav__dot(nav__p2 a, nav__p2 b)
{
    return a.x * b.x + a.z * b.z;
}
static inline double nav__dist(nav__p2 a, nav__p2 b)
{
    double x = a.x - b.x, z = a.z - b.z;
    return sqrt(x * x + z * z);
}

/// The nearest 32-bit float. By way of memory: where two roundings stand side by side, GCC 12 at -O2 makes one
/// vector of them and then takes the way there and back for nothing at all.
static inline double nav__as_float(double v)
{
    volatile float f = (float)v;
    return (double)f;
}

/// The exact sign and a good value where the fast one is in doubt.
double nav__orient_exact(nav__p2 a, nav__p2 b, nav__p2 c);

/// Below this part of its products' sizes the sign of a double 2 x 2 determinant is in doubt.
#define NAV__ORIENT_BOUND 3.3306690738754716e-16

/// Twice the signed area of abc: > 0 when c lies left of a -> b (x right, z up). The sign is exact for
/// any finite doubles (Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust
/// Geometric Predicates", 1997, section 4: the static filter, then exact expansions).
static inline double nav__orient(nav__p2 a, nav__p2 b, nav__p2 c)
{
    double l = (b.x - a.x) * (c.z - a.z), r = (b.z - a.z) * (c.x - a.x);
    double det = l - r;
    double bound = NAV__ORIENT_BOUND * (fabs(l) + fabs(r));
    return fabs(det) > bound ? det : nav__orient_exact(a, b, c); // one branch, whatever the sign
}

#endif
