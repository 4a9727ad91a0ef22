/// One line for each thing worth telling, to standard error: text for people or JSON for collectors.
#ifndef SRV_LOG_H
#define SRV_LOG_H

#include <stdbool.h>
#include <stdint.h>

typedef enum srv_log_level { SRV_DEBUG, SRV_INFO, SRV_WARN, SRV_ERROR, SRV_LOG_LEVEL_COUNT } srv_log_level;

/// Name of a level as in the configuration ("debug", "info", "warn", "error").
const char *srv_log_level_name(srv_log_level level);

typedef enum srv_field_kind { SRV_FIELD_END, SRV_FIELD_TEXT, SRV_FIELD_INTEGER, SRV_FIELD_REAL } srv_field_kind;

/// A named value of a line; a text of NULL is left out. Use the macros below.
typedef struct srv_field {
    srv_field_kind kind;
    const char *name;
    const char *text;
    int64_t integer;
    double real;
} srv_field;

#define SRV_TEXT(name_, value_) ((srv_field){.kind = SRV_FIELD_TEXT, .name = (name_), .text = (value_)})
#define SRV_INT(name_, value_) ((srv_field){.kind = SRV_FIELD_INTEGER, .name = (name_), .integer = (int64_t)(value_)})
#define SRV_REAL(name_, value_) ((srv_field){.kind = SRV_FIELD_REAL, .name = (name_), .real = (value_)})
/// What happened, in words; the first field of every line.
#define SRV_EVENT(value_) SRV_TEXT("msg", value_)

/// Writes a line: srv_log(SRV_INFO, SRV_EVENT("mesh published"), SRV_TEXT("mesh", id)).
/// @thread any; a line is one write, so lines of several threads never mix
#define srv_log(level, ...) srv_log_fields((level), (const srv_field[]){__VA_ARGS__, {.kind = SRV_FIELD_END}})

/// @param fields  ends with SRV_FIELD_END
void srv_log_fields(srv_log_level level, const srv_field *fields);

/// Set once before threads start. Default: info, text.
void srv_log_setup(srv_log_level least, bool json);

#endif
