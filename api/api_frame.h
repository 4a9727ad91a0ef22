/// The caller's axes and the mesh's. Conversion happens only at the HTTP boundary.
#ifndef API_FRAME_H
#define API_FRAME_H

#include "nav_types.h"

/// Signed axes: caller[k] = sign[k] * internal[axis[k]]; internal is navcore's (y up).
typedef struct api_frame {
    uint8_t axis[3];
    int8_t sign[3];
} api_frame;

extern const api_frame api_frame_identity;

/// A frame by its name in the contract: "y-up", "z-up", "unreal", or three signed axes such as "-x,-z,y".
/// @param file    how the file's own numbers become navcore's: internal[k] = sign[k] * file[axis[k]]
/// @param caller  how navcore's become the caller's
/// @return false for an unknown name
bool api_frame_parse(const char *name, api_frame *file, api_frame *caller);

nav_vec api_frame_to_caller(const api_frame *frame, nav_vec internal);
nav_vec api_frame_to_internal(const api_frame *frame, nav_vec caller);
/// Half extents: axes only, no signs.
nav_vec api_frame_extents_to_internal(const api_frame *frame, nav_vec caller);

#endif
