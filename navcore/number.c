/// Decimal text to numbers. Most coordinates have few digits and take the exact short way; the rest go
/// through the C library in the "C" locale.
#include "nav_number.h"

#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/// Powers of ten that a double holds exactly.
static const double exact_tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define EXACT_TENS_MAX 22
#define EXACT_DIGITS 19 ///< digits that an unsigned 64-bit integer always holds
#define EXPONENT_MAX 99999

/// A number taken apart: mantissa * 10^exponent, exact only when `exact`.
typedef struct decimal {
    uint64_t mantissa;
    int exponent;
    bool negative, exact;
} decimal;

static inline bool is_digit(const char *p, const char *end)
{
    return p < end && *p >= '0' && *p <= '9';
}

/// Reads "e", sign and digits into d->exponent. An "e" without digits is no part of the number.
static const char *parse_exponent(const char *p, const char *end, decimal *d)
{
    if (p == end || (*p != 'e' && *p != 'E')) {
        return p;
    }
    const char *q = p + 1;
    bool negative = q < end && *q == '-';
    q += q < end && (*q == '-' || *q == '+');
    if (!is_digit(q, end)) {
        return p;
    }
    int exponent = 0;
    for (; is_digit(q, end); q++) {
        exponent = exponent < EXPONENT_MAX ? 10 * exponent + (*q - '0') : exponent;
    }
    d->exponent += negative ? -exponent : exponent;
    return q;
}

static const char *parse_decimal(const char *p, const char *end, decimal *d)
{
    *d = (decimal){.exact = true};
    if (p < end && (*p == '-' || *p == '+')) {
        d->negative = *p++ == '-';
    }
    int significant = 0;
    bool point = false, any = false;
    for (; p < end; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(p, end)) {
            break;
        }
        any = true;
        significant += significant > 0 || *p != '0';
        if (significant <= EXACT_DIGITS) {
            d->mantissa = 10 * d->mantissa + (uint64_t)(*p - '0');
            d->exponent -= point;
        } else {
            d->exact = d->exact && *p == '0';
            d->exponent += !point;
        }
    }
    return any ? parse_exponent(p, end, d) : NULL;
}

static double parse_slowly(const char *p, size_t size)
{
    char text[NAV_NUMBER_MAX + 1];
    memcpy(text, p, size);
    text[size] = '\0';
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (locale == (locale_t)0) {
        return strtod(text, NULL); // out of memory: the process's locale is the best that is left
    }
    double value = strtod_l(text, NULL, locale);
    freelocale(locale);
    return value;
}

const char *nav_number_parse(const char *p, const char *end, double *value)
{
    decimal d;
    const char *behind = parse_decimal(p, end, &d);
    if (!behind || behind - p > NAV_NUMBER_MAX) {
        return NULL;
    }
    // Both factors are exact, so the one operation rounds correctly (Clinger, "How to Read Floating
    // Point Numbers Accurately", PLDI 1990, section 3).
    if (d.exact && d.mantissa <= (UINT64_C(1) << 53) && d.exponent >= -EXACT_TENS_MAX && d.exponent <= EXACT_TENS_MAX) {
        double m = (double)d.mantissa;
        m = d.exponent < 0 ? m / exact_tens[-d.exponent] : m * exact_tens[d.exponent];
        *value = d.negative ? -m : m;
    } else {
        *value = parse_slowly(p, (size_t)(behind - p));
    }
    return behind;
}

const char *nav_integer_parse(const char *p, const char *end, int64_t *value)
{
    bool negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    if (!is_digit(p, end)) {
        return NULL;
    }
    int64_t n = 0;
    for (; is_digit(p, end); p++) {
        int digit = *p - '0';
        if (n > (INT64_MAX - digit) / 10) {
            return NULL;
        }
        n = 10 * n + digit;
    }
    *value = negative ? -n : n;
    return p;
}
