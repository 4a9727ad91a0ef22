/// std::to_chars and std::from_chars behind C functions: shortest, correctly rounded, and some thirty
/// times faster than printf; and a quicker way yet for coordinates. The only C++ of the service.
#include "number.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace
{

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

constexpr double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10};

struct candidate {
    uint32_t n;
    bool good; ///< n / 10^decimals is nearer to the float than to any other
};

inline candidate try_decimals(double size, double half_step, int decimals)
{
    double scaled = size * powers[decimals];
    auto n = int32_t(scaled + 0.5);
    return {uint32_t(n), std::fabs(double(n) - scaled) < half_step * powers[decimals]};
}

/// `yes ? a : b` that stays without a branch: compilers make one of it, and which digits a float needs nobody
/// foresees.
inline uint32_t choose(bool yes, uint32_t a, uint32_t b)
{
    return b + ((a - b) & (0 - uint32_t(yes)));
}

/// The decimals of n < 10^8, one in each byte, the first in the lowest: three steps that halve the
/// numbers in all lanes at once (the multipliers are 1/100 and 1/10 in fixed point).
inline uint64_t eight_digits(uint32_t n)
{
    uint64_t x = n / 10000 | uint64_t(n % 10000) << 32;
    uint64_t high = (x * 10486 >> 20) & 0x7F0000007Fu;
    x = high | (x - high * 100) << 16;
    high = (x * 103 >> 10) & 0xF000F000F000Fu;
    return high | (x - high * 10) << 8;
}

inline void store(char *to, uint64_t bytes)
{
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first digit is in the lowest byte");
    std::memcpy(to, &bytes, sizeof bytes);
}

/// A number below 10^8 without zeros before it: what most heights and the corners of grids are.
inline size_t whole_number(char *out, uint32_t n)
{
    if (n < 10) {
        *out = char('0' + n);
        return 1;
    }
    uint64_t digits = eight_digits(n);
    int zeros = __builtin_ctzll(digits) / 8;
    store(out, (digits | 0x3030303030303030u) >> 8 * zeros);
    return size_t(8 - zeros);
}

/// Writes nine digits with a point behind `whole` of them, without zeros at the end. Stores may run
/// beyond what counts.
inline size_t place_point(char *out, uint32_t nine_digits, int whole)
{
    uint32_t first = nine_digits / 100000000;
    uint64_t rest = eight_digits(nine_digits % 100000000);
    int count = rest ? 9 - __builtin_clzll(rest) / 8 : 1;
    rest |= 0x3030303030303030u;
    if (whole <= 0) {
        store(out, 0x30303030302E30u); // "0.0"
        out[2 - whole] = char('0' + first);
        store(out + 3 - whole, rest);
        return size_t(2 - whole + count);
    }
    out[0] = char('0' + first);
    store(out + 1, rest);
    if (count <= whole) {
        return size_t(whole);
    }
    out[whole] = '.';
    store(out + whole + 1, rest >> 8 * (whole - 1));
    return size_t(count + 1);
}

/// The shortest decimals of a float in [0.01, 10^6), where coordinates usually lie, in 0.6 of to_chars'
/// time. (Compared with it for every float of the range: the same but for the last digit of exact ties.)
/// Nine significant digits tell any float apart, often eight do, seldom fewer: all are
/// tried at once, as a wrong guess of the next branch costs more. A float has 24 bits and 5^10 has 24, so
/// size * 10^decimals is exact and n the nearest decimal that there is. At six digits decimals lie further
/// apart than floats, so then only zeros can still go. (Below a power of two floats lie closer together,
/// but those in this range have six digits or fewer, which are exact.)
/// @return 0 where rounding carries into a digit more
inline size_t short_decimals(char *out, float value)
{
    double size = double(value);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    bits &= 0x7F800000u;
    float power; // of two, at or below the value; a float's step there is 2^-23 of it
    std::memcpy(&power, &bits, sizeof power);
    double half_step = double(power) * 0x1p-24;

    int whole = -1 + (value >= 0.1f) + (value >= 1) + (value >= 10) + (value >= 100) + (value >= 1e3f) +
                (value >= 1e4f) + (value >= 1e5f);
    int decimals = 9 - whole;
    candidate eight = try_decimals(size, half_step, decimals - 1), seven = try_decimals(size, half_step, decimals - 2),
              six = try_decimals(size, half_step, decimals - 3);
    auto nine = uint32_t(int32_t(size * powers[decimals] + 0.5));
    uint32_t n = choose(eight.good, eight.n * 10, nine);
    n = choose(seven.good, seven.n * 100, n);
    n = choose(six.good, six.n * 1000, n);
    return n < 1000000000 ? place_point(out, n, whole) : 0;
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

static inline size_t write_float(char *out, float value)
{
    float size = std::fabs(value);
    if (size < 1e8f) {
        size_t sign = value < 0 ? 1 : 0;
        *out = '-';
        auto whole = int32_t(size);
        if (float(whole) == size) {
            return sign + whole_number(out + sign, uint32_t(whole));
        }
        size_t length = size >= 0.01f && size < 1e6f ? short_decimals(out + sign, size) : 0;
        if (length) {
            return sign + length;
        }
    }
    return shortest<float>(out, value, 1e9f);
}

size_t api_number_float(char *out, float value)
{
    return write_float(out, value);
}

size_t api_number_floats(char *out, const float *values, size_t count)
{
    char *to = out;
    for (size_t i = 0; i < count; i++) {
        to += write_float(to, values[i]);
        *to++ = ',';
    }
    return size_t(to - out) - 1;
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
    // 24 bits times those of 5^9 fit in a double's 53, so the product is exact and its rounding the right one:
    // to the nearest, ties to even. Several times as fast as to_chars with a precision.
    int64_t n = std::llrint(double(value) * powers[decimals]);
    char *at = out;
    if (n < 0) {
        *at++ = '-';
        n = -n;
    }
    int64_t unit = int64_t(powers[decimals]);
    int64_t whole = n / unit, rest = n % unit;
    at = std::to_chars(at, out + room, whole).ptr;
    if (rest == 0) {
        return size_t(at - out);
    }
    for (; rest % 10 == 0; rest /= 10) {
        decimals--;
    }
    *at = '.';
    for (char *digit = at + decimals; digit > at; digit--, rest /= 10) {
        *digit = char('0' + rest % 10);
    }
    return size_t(at + 1 + decimals - out);
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

size_t api_number_take(const char *text, size_t size, double *value)
{
    // Fifteen digits and a power of ten up to 10^10 are exact doubles, so that their quotient is rounded
    // once: the nearest double (Clinger, "How to Read Floating Point Numbers Accurately", 1990, section 3).
    size_t at = text[0] == '-' ? 1 : 0, first = at, whole = 0;
    uint64_t n = 0;
    bool point = false;
    for (; at < size; at++) {
        auto digit = unsigned(text[at]) - '0';
        if (digit < 10) {
            n = n * 10 + digit;
        } else if (text[at] == '.' && !point) {
            point = true;
            whole = at + 1;
        } else {
            break;
        }
    }
    size_t decimals = point ? at - whole : 0;
    bool exponent = at < size && (text[at] == 'e' || text[at] == 'E');
    if (!exponent && at - first <= 15 && decimals <= 10) {
        double size_of = double(n) / powers[decimals];
        *value = first ? -size_of : size_of;
        return at;
    }
    auto read = std::from_chars(text, text + size, *value);
    if (read.ec == std::errc::result_out_of_range) {
        double beyond = is_large(text, size_t(read.ptr - text)) ? HUGE_VAL : 0;
        *value = first ? -beyond : beyond;
    }
    return size_t(read.ptr - text);
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
