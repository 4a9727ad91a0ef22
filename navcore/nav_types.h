/// Values shared by every public header of navcore.
///
/// Axes: navcore knows one frame only, y up; the ground plane is xz. Positions are absolute, in the
/// mesh's unit, as doubles. Other frames are turned into this one by whoever calls (see api/api_frame.h).
#ifndef NAV_TYPES_H
#define NAV_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A position or direction.
typedef struct nav_vec {
    double x, y, z;
} nav_vec;

/// What a call came to. "No path" and "not on the mesh" are results, not statuses of this kind.
#define NAV_STATUS_LIST(X)                                 \
    X(NAV_OK, "ok")                                        \
    X(NAV_BAD_ARGUMENT, "bad argument")                    \
    X(NAV_NO_MEMORY, "out of memory")                      \
    X(NAV_BAD_FORMAT, "the bytes are not what they claim") \
    X(NAV_UNKNOWN_FORMAT, "no known format")               \
    X(NAV_BAD_MESH, "the polygons make no mesh")           \
    X(NAV_TOO_LARGE, "too many vertices or polygons")      \
    X(NAV_INTERRUPTED, "stopped by the caller's interrupt")

typedef enum nav_status {
#define NAV__ENUM(name, text) name,
    NAV_STATUS_LIST(NAV__ENUM)
#undef NAV__ENUM
        NAV_STATUS_COUNT
} nav_status;

/// Static text for a status; never NULL.
const char *nav_status_text(nav_status status);

/// Why reading or building failed, for people. `line` counts from 1 (0: none), `byte` from 0
/// (NAV_NO_BYTE: none). `message` already names the place.
#define NAV_NO_BYTE SIZE_MAX
typedef struct nav_error {
    char message[240];
    size_t line;
    size_t byte;
} nav_error;

/// Fills `error` (may be NULL) from a printf format; appends "line N" or "byte N" where one is given.
/// @return `status`, so that a failing reader can `return nav_fail(...)`.
nav_status nav_fail(nav_error *error, nav_status status, size_t line, size_t byte, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/// Where memory comes from. `resize` is realloc with a context: p NULL allocates, bytes 0 frees and
/// gives NULL. A NULL nav_alloc pointer anywhere means the C library's.
typedef struct nav_alloc {
    void *(*resize)(void *ctx, void *p, size_t bytes);
    void *ctx;
} nav_alloc;

/// The agent a mesh was baked for.
typedef struct nav_agent {
    double radius; ///< the walkable surface already keeps this distance from walls
    double height;
    double climb; ///< walkable climb: the highest step
    double slope; ///< degrees
} nav_agent;

/// What holds where a format carries no agent: radius 0, height 2, climb 0.5, slope 45.
nav_agent nav_agent_default(void);

#define NAV_NONE UINT32_MAX
#define NAV_ID_MAX 64 ///< characters of an id, the NUL not counted

/// An off-mesh link.
typedef struct nav_link {
    char id[NAV_ID_MAX + 1];
    char kind[NAV_ID_MAX + 1]; ///< free text for the caller, may be empty
    nav_vec start, end;
    double radius; ///< how far from its ends the mesh may be
    double cost;   ///< of the whole ride; negative: its 3D length times the area's cost
    uint32_t flags;
    uint8_t area;
    bool bidirectional;
} nav_link;

#endif
