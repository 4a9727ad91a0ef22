/// See orca.h.
#include "orca.h"

#include <math.h>

/// Lines whose directions differ by less are parallel.
static const float PARALLEL = 1e-5f;
/// By how much a half-plane may be entered and still be kept.
static const float SLACK = 1e-5f;

static float dot(nav__v2 a, nav__v2 b)
{
    return a.x * b.x + a.z * b.z;
}

static float cross(nav__v2 a, nav__v2 b)
{
    return a.x * b.z - a.z * b.x;
}

static nav__v2 times(nav__v2 a, float f)
{
    return (nav__v2){a.x * f, a.z * f};
}

// ---- half-planes -----------------------------------------------------------------------------------

/// The relative velocity is to leave the disc of `radius` round `centre` by the shortest way.
static nav__half_plane leave_disc(nav__v2 relative, nav__v2 centre, float radius, nav__v2 otherwise, float *by)
{
    nav__v2 w = {relative.x - centre.x, relative.z - centre.z};
    float length = sqrtf(dot(w, w));
    *by = radius - length;
    if (!(length > 0)) {
        return (nav__half_plane){otherwise.x, otherwise.z, 0};
    }
    return (nav__half_plane){w.x / length, w.z / length, 0};
}

nav__half_plane nav__orca_disc(const nav__disc *disc, nav__v2 velocity, float horizon)
{
    nav__v2 p = disc->offset, relative = {velocity.x - disc->velocity.x, velocity.z - disc->velocity.z};
    float distance2 = dot(p, p), radius = disc->radius, by;
    nav__half_plane plane;
    nav__v2 w = {relative.x - p.x / horizon, relative.z - p.z / horizon};
    float ahead = dot(w, p);
    if (ahead < 0 && ahead * ahead > radius * radius * dot(w, w)) {
        nav__v2 away = times(p, -1 / sqrtf(distance2));
        plane = leave_disc(relative, times(p, 1 / horizon), radius / horizon, away, &by);
    } else {
        // The nearer of the two tangents from the origin to the disc; its normal points away from the disc.
        float leg = sqrtf(distance2 - radius * radius);
        bool left = cross(p, w) > 0;
        float side = left ? radius : -radius;
        nav__v2 along = {(p.x * leg - p.z * side) / distance2, (p.x * side + p.z * leg) / distance2};
        plane = left ? (nav__half_plane){-along.z, along.x, 0} : (nav__half_plane){along.z, -along.x, 0};
        by = -(plane.x * relative.x + plane.z * relative.z);
    }
    plane.least = plane.x * velocity.x + plane.z * velocity.z + disc->share * by;
    return plane;
}

nav__half_plane nav__orca_gap(const nav__disc *disc, float share, float fastest, float dt)
{
    nav__v2 p = disc->offset;
    float distance = sqrtf(dot(p, p)), gap = distance - disc->radius;
    nav__v2 away = {disc->is_first ? 1.0f : -1.0f, 0};
    away = distance > 0 ? (nav__v2){-p.x / distance, -p.z / distance} : away;
    return (nav__half_plane){away.x, away.z, fminf(-share * gap / dt, 0.5f * fastest)};
}

/// The direction to an end of a wall, turned outwards as far as the clearance asks.
static nav__v2 tangent(nav__v2 end, float distance, float clearance, float turn)
{
    float s = clearance / distance, c = sqrtf(1 - s * s);
    s *= turn;
    return (nav__v2){(end.x * c - end.z * s) / distance, (end.x * s + end.z * c) / distance};
}

bool nav__orca_wall(nav__v2 a, nav__v2 b, float clearance, nav__v2 wanted, float horizon, nav__half_plane *plane)
{
    nav__v2 d = {b.x - a.x, b.z - a.z};
    float length2 = dot(d, d), length = sqrtf(length2), along = -dot(a, d);
    if (!(length > 0)) {
        return false;
    }
    nav__v2 normal = {-d.z / length, d.x / length}; // to the agent's side
    float height = -dot(a, normal), da = sqrtf(dot(a, a)), db = sqrtf(dot(b, b));
    bool beside = along < 0 || along > length2;
    if (beside && (da <= clearance || db <= clearance)) {
        // Too near to an end: away from it.
        nav__v2 end = da < db ? a : b;
        float distance = da < db ? da : db;
        if (!(distance > 0)) {
            return false;
        }
        *plane = (nav__half_plane){-end.x / distance, -end.z / distance, (clearance - distance) / horizon};
        return true;
    }
    if (beside && height <= 1e-4f * (da < db ? da : db)) {
        return false;
    }
    *plane = (nav__half_plane){normal.x, normal.z, (clearance - height) / horizon};
    float into = plane->least - dot(normal, wanted);
    if (into <= 0 || da <= clearance || db <= clearance) {
        return true;
    }
    // It would pass the wall's line in time. Beside the wall, or nearer to that than to stopping?
    nav__v2 ta = tangent(a, da, clearance, -1), tb = tangent(b, db, clearance, 1);
    float past_a = cross(ta, wanted), past_b = cross(wanted, tb);
    if (past_a < into && past_a <= past_b) {
        *plane = (nav__half_plane){ta.z, -ta.x, 0};
    } else if (past_b < into) {
        *plane = (nav__half_plane){-tb.z, tb.x, 0};
    }
    return true;
}

// ---- the linear program ----------------------------------------------------------------------------

/// The part of the boundary of planes[at], as base + t * (-z, x) of its normal, that the planes before it and the
/// disc of `fastest` leave.
static bool clip_boundary(const nav__half_plane *planes, uint32_t at, float fastest, float *low, float *high)
{
    nav__half_plane line = planes[at];
    float rest = fastest * fastest - line.least * line.least;
    if (rest < 0) {
        return false;
    }
    *high = sqrtf(rest);
    *low = -*high;
    nav__v2 base = {line.x * line.least, line.z * line.least}, along = {-line.z, line.x};
    for (uint32_t k = 0; k < at; k++) {
        nav__v2 n = {planes[k].x, planes[k].z};
        float slope = dot(n, along), need = planes[k].least - dot(n, base);
        if (fabsf(slope) <= PARALLEL) {
            if (need > SLACK) {
                return false;
            }
        } else if (slope > 0) {
            *low = fmaxf(*low, need / slope);
        } else {
            *high = fminf(*high, need / slope);
        }
    }
    return *low <= *high;
}

static bool is_open(const nav__half_plane *plane, nav__v2 v, float slack)
{
    return plane->x * v.x + plane->z * v.z >= plane->least - slack;
}

/// Nearest to `wanted`, or with `furthest` furthest in its direction (which then is unit).
/// @return how many planes could be kept: `count`, or the number of the first that could not
static uint32_t solve(const nav__half_plane *planes, uint32_t count, nav__v2 wanted, float fastest, bool furthest,
                      nav__v2 *v)
{
    *v = furthest ? times(wanted, fastest) : wanted;
    for (uint32_t k = 0; k < count; k++) {
        if (is_open(&planes[k], *v, 0)) {
            continue;
        }
        float low, high;
        if (!clip_boundary(planes, k, fastest, &low, &high)) {
            return k;
        }
        nav__half_plane line = planes[k];
        float t = wanted.z * line.x - wanted.x * line.z;
        t = furthest ? (t > 0 ? high : low) : fminf(fmaxf(t, low), high);
        *v = (nav__v2){line.x * line.least - line.z * t, line.z * line.least + line.x * t};
    }
    return count;
}

/// From planes[failed] on: makes least by how much any soft plane is entered. When plane k is the one entered most,
/// every other is entered no more: those are half-planes again.
static void relax(const nav__half_plane *planes, uint32_t count, uint32_t hard, uint32_t failed, float fastest,
                  nav__v2 *v)
{
    nav__half_plane others[NAV__HALF_PLANES];
    float worst = 0;
    for (uint32_t k = failed < hard ? hard : failed; k < count; k++) {
        nav__half_plane p = planes[k];
        if (is_open(&p, *v, worst)) {
            continue;
        }
        uint32_t n = 0;
        for (uint32_t j = 0; j < k; j++) {
            nav__half_plane o = planes[j];
            if (j >= hard) {
                o = (nav__half_plane){o.x - p.x, o.z - p.z, o.least - p.least};
                float length = sqrtf(o.x * o.x + o.z * o.z);
                if (length <= PARALLEL) {
                    continue; // the same direction: whichever asks for more comes by itself
                }
                o = (nav__half_plane){o.x / length, o.z / length, o.least / length};
            }
            others[n++] = o;
        }
        nav__v2 best;
        if (solve(others, n, (nav__v2){p.x, p.z}, fastest, true, &best) == n) {
            *v = best;
        } // else rounding: what there is will do
        worst = p.least - (p.x * v->x + p.z * v->z);
    }
}

nav__v2 nav__orca_choose(const nav__half_plane *planes, uint32_t count, uint32_t walls, uint32_t hard, nav__v2 wanted,
                         float fastest)
{
    nav__v2 v;
    uint32_t kept = solve(planes, count, wanted, fastest, false, &v);
    if (kept < hard) {
        relax(planes, hard, walls, kept, fastest, &v); // some overlap: that goes before
    } else if (kept < count) {
        relax(planes, count, hard, kept, fastest, &v);
    }
    return v;
}
