/// How often the server moves the agents of a mesh: a member of calls, of sidecars and of uploads.
#ifndef API_TICK_HZ_H
#define API_TICK_HZ_H

#include "agents.h"
#include "json_in.h"

#define API_TICK_HZ_RULE "`tick_hz` must be a number of ticks a second from 0.1 to 240, or 0 for none"

/// @return false: none that API_TICK_HZ_RULE allows
static inline bool api_tick_hz_read(const cJSON *value, double *tick_hz)
{
    *tick_hz = api_json_finite(value) ? value->valuedouble : -1;
    return *tick_hz == 0 || (*tick_hz >= API_TICK_HZ_MIN && *tick_hz <= API_TICK_HZ_MAX);
}

#endif
