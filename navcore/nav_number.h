/// Numbers from text, the same in every locale. (The C library's strtod reads the process's decimal
/// point, and accepts hexadecimal, "nan" and "inf", none of which belong in our formats.)
#ifndef NAV_NUMBER_H
#define NAV_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/// Longest text of one number; longer ones are refused.
#define NAV_NUMBER_MAX 255

/// Reads a decimal number at `p`: sign, digits with at most one point among or beside them, exponent.
/// The value is correctly rounded; one too large for a double becomes an infinity.
/// @param end    where the text ends; need not be NUL-terminated
/// @param value  set only on success
/// @return just behind the number, NULL when there is none at `p`
const char *nav_number_parse(const char *p, const char *end, double *value);

/// Reads a decimal integer at `p`: optional sign and digits. Values beyond +-INT64_MAX are refused.
/// @return just behind the number, NULL when there is none at `p`
const char *nav_integer_parse(const char *p, const char *end, int64_t *value);

#endif
