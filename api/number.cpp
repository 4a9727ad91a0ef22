/// std::to_chars and std::from_chars behind C functions: shortest, correctly rounded, and some thirty
/// times faster than printf. The only C++ of the service.
#include "number.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace {

/// Room for the longest number a JSON text may hold here: to_chars never needs it all.
constexpr size_t room = API_NUMBER_MAX;

size_t null_text(char *out)
{
    std::memcpy(out, "null", 4);
    return 4;
}

/// Plain decimals where people expect them, an exponent for the very large and very small.
template <typename T> size_t shortest(char *out, T value, T plain_below)
{
    if (!std::isfinite(value)) {
        return null_text(out);
    }
    T size = std::fabs(value);
    if (size < plain_below && size == std::trunc(size)) {
        return size_t(std::to_chars(out, out + room, int64_t(value)).ptr - out);
    }
    bool plain = size < plain_below && size >= T(1e-5);
    auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
    return size_t(std::to_chars(out, out + room, value, format).ptr - out);
}

/// Is a number that does not fit a double too large (rather than too small)? `text` is a valid number.
bool is_large(const char *text, size_t size)
{
    long exponent = 0; // of the first digit that is not zero
    bool point = false, found = false;
    size_t i = text[0] == '-' ? 1 : 0;
    for (; i < size && text[i] != 'e' && text[i] != 'E'; i++) {
        if (text[i] == '.') {
            point = true;
        } else if (found || text[i] != '0') {
            found = true;
            exponent += point ? 0 : 1;
        } else {
            exponent -= point ? 1 : 0;
        }
    }
    if (i < size) {
        i += text[i + 1] == '+' ? 2 : 1;
        long written = 0;
        auto read = std::from_chars(text + i, text + size, written);
        if (read.ec != std::errc()) {
            return text[i] != '-';
        }
        return exponent + written > 0;
    }
    return exponent > 0;
}

size_t digits(const char *text, size_t size, size_t at)
{
    while (at < size && text[at] >= '0' && text[at] <= '9') {
        at++;
    }
    return at;
}

} // namespace

size_t api_number_float(char *out, float value)
{
    return shortest<float>(out, value, 1e9f);
}

size_t api_number_double(char *out, double value)
{
    return shortest<double>(out, value, 1e15);
}

size_t api_number_rounded(char *out, float value, int decimals)
{
    // From 2^24 on a 32-bit float has no decimals to round.
    if (!(std::fabs(value) < 16777216.0f)) {
        return api_number_float(out, value);
    }
    char *end = std::to_chars(out, out + room, double(value), std::chars_format::fixed, decimals).ptr;
    if (decimals > 0) {
        while (end[-1] == '0') {
            end--;
        }
        if (end[-1] == '.') {
            end--;
        }
    }
    if (end - out == 2 && out[0] == '-' && out[1] == '0') {
        out[0] = '0';
        end = out + 1;
    }
    return size_t(end - out);
}

size_t api_number_u64(char *out, uint64_t value)
{
    return size_t(std::to_chars(out, out + room, value).ptr - out);
}

size_t api_number_length(const char *text, size_t size)
{
    size_t at = size > 0 && text[0] == '-' ? 1 : 0;
    size_t end = digits(text, size, at);
    if (end == at || (text[at] == '0' && end > at + 1)) {
        return 0;
    }
    if (end < size && text[end] == '.') {
        at = end + 1;
        end = digits(text, size, at);
        if (end == at) {
            return 0;
        }
    }
    if (end < size && (text[end] == 'e' || text[end] == 'E')) {
        at = end + 1;
        at += at < size && (text[at] == '+' || text[at] == '-') ? 1 : 0;
        end = digits(text, size, at);
        if (end == at) {
            return 0;
        }
    }
    return end;
}

api_number_result api_number_parse(const char *text, size_t size, double *value)
{
    if (size == 0 || api_number_length(text, size) != size) {
        return API_NUMBER_NONE;
    }
    double read = 0;
    if (std::from_chars(text, text + size, read).ec == std::errc::result_out_of_range) {
        if (is_large(text, size)) {
            return API_NUMBER_TOO_LARGE;
        }
        read = 0;
    }
    *value = read;
    return API_NUMBER_OK;
}
