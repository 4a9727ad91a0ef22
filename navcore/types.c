#include "nav_types.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *nav_status_text(nav_status status)
{
    static const char *const texts[] = {
#define NAV__TEXT(name, text) [name] = text,
        NAV_STATUS_LIST(NAV__TEXT)
#undef NAV__TEXT
    };
    return (unsigned)status < NAV_STATUS_COUNT ? texts[status] : "unknown status";
}

nav_status nav_fail(nav_error *error, nav_status status, size_t line, size_t byte, const char *format, ...)
{
    if (!error) {
        return status;
    }
    char place[48] = "";
    if (line) {
        snprintf(place, sizeof place, "line %zu: ", line);
    } else if (byte != NAV_NO_BYTE) {
        snprintf(place, sizeof place, "byte %zu: ", byte);
    }
    size_t used = strlen(place);
    memcpy(error->message, place, used);
    va_list args;
    va_start(args, format);
    vsnprintf(error->message + used, sizeof error->message - used, format, args);
    va_end(args);
    error->line = line;
    error->byte = byte;
    return status;
}

nav_agent nav_agent_default(void)
{
    return (nav_agent){.radius = 0, .height = 2, .climb = 0.5, .slope = 45};
}
