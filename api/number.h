/// Numbers as JSON text and back, independent of the locale.
#ifndef API_NUMBER_H
#define API_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Room that every function below needs in `out`. None of them writes a NUL.
#define API_NUMBER_MAX 40

/// The shortest decimals that read back to the same 32-bit float; zero is "0" whatever its sign.
/// A value that is no number in JSON (nan, infinity) becomes "null".
/// @return characters written
size_t api_number_float(char *out, float value);

/// Several, at least one, with commas between. `out` needs room for API_NUMBER_MAX characters each.
size_t api_number_floats(char *out, const float *values, size_t count);

/// The shortest decimals that read back to the same double.
size_t api_number_double(char *out, double value);

/// Rounded to `decimals` (0 to 9) digits after the point, without trailing zeros.
size_t api_number_rounded(char *out, float value, int decimals);

size_t api_number_u64(char *out, uint64_t value);

typedef enum api_number_result { API_NUMBER_OK, API_NUMBER_NONE, API_NUMBER_TOO_LARGE } api_number_result;

/// Reads a whole text as a number in JSON's notation (a leading plus is no number, neither is "nan").
/// What is too small for a double is zero, as it is for strtod.
/// @param value  set on API_NUMBER_OK only
api_number_result api_number_parse(const char *text, size_t size, double *value);

/// Reads the JSON number at the start of `text`, of which api_number_length is known not to be 0.
/// @param value  infinite where a double does not hold it
/// @return its length
size_t api_number_take(const char *text, size_t size, double *value);

/// Length of the JSON number at the start of `text`, 0 when there is none.
size_t api_number_length(const char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
