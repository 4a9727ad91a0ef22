/// Signed axes: reading their names and turning positions.
#include "api_frame.h"

#include <string.h>

const api_frame api_frame_identity = {.axis = {0, 1, 2}, .sign = {1, 1, 1}};

/// Reads "-x,-z,y". Blanks stand for a plus sign, which is what a plus becomes in a query string.
static bool parse_axes(const char *name, api_frame *caller)
{
    unsigned seen = 0;
    const char *p = name;
    for (int k = 0; k < 3; k++) {
        caller->sign[k] = *p == '-' ? -1 : 1;
        p += *p == '-' || *p == '+' || *p == ' ';
        if (*p < 'x' || *p > 'z') {
            return false;
        }
        caller->axis[k] = (uint8_t)(*p++ - 'x');
        seen |= 1u << caller->axis[k];
        if (*p != (k < 2 ? ',' : '\0')) {
            return false;
        }
        p += k < 2;
    }
    return seen == 7;
}

bool api_frame_parse(const char *name, api_frame *file, api_frame *caller)
{
    static const api_frame height_last = {.axis = {0, 2, 1}, .sign = {1, 1, 1}}; // its own inverse
    *file = *caller = api_frame_identity;
    if (strcmp(name, "y-up") == 0) {
        return true;
    }
    if (strcmp(name, "z-up") == 0) {
        *file = *caller = height_last;
        return true;
    }
    if (parse_axes(strcmp(name, "unreal") == 0 ? "-x,-z,y" : name, caller)) {
        return true;
    }
    *caller = api_frame_identity;
    return false;
}

nav_vec api_frame_to_caller(const api_frame *frame, nav_vec internal)
{
    const double in[3] = {internal.x, internal.y, internal.z};
    double out[3];
    for (int k = 0; k < 3; k++) {
        out[k] = frame->sign[k] * in[frame->axis[k]];
    }
    return (nav_vec){out[0], out[1], out[2]};
}

nav_vec api_frame_to_internal(const api_frame *frame, nav_vec caller)
{
    const double in[3] = {caller.x, caller.y, caller.z};
    double out[3];
    for (int k = 0; k < 3; k++) {
        out[frame->axis[k]] = frame->sign[k] * in[k];
    }
    return (nav_vec){out[0], out[1], out[2]};
}

nav_vec api_frame_extents_to_internal(const api_frame *frame, nav_vec caller)
{
    const api_frame axes = {.axis = {frame->axis[0], frame->axis[1], frame->axis[2]}, .sign = {1, 1, 1}};
    return api_frame_to_internal(&axes, caller);
}
