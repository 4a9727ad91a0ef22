/// Numbers as JSON text and back.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

static char text[API_NUMBER_MAX + 1];

static const char *of_float(float value)
{
    text[api_number_float(text, value)] = '\0';
    return text;
}

static const char *of_double(double value)
{
    text[api_number_double(text, value)] = '\0';
    return text;
}

static const char *rounded(float value, int decimals)
{
    text[api_number_rounded(text, value, decimals)] = '\0';
    return text;
}

static void test_floats_are_shortest(void **state)
{
    (void)state;
    assert_string_equal(of_float(0.0f), "0");
    assert_string_equal(of_float(-0.0f), "0");
    assert_string_equal(of_float(1.0f), "1");
    assert_string_equal(of_float(-17.0f), "-17");
    assert_string_equal(of_float(0.1f), "0.1");
    assert_string_equal(of_float(-2.5f), "-2.5");
    assert_string_equal(of_float(100000.0f), "100000");
    assert_string_equal(of_float(16777216.0f), "16777216");
    assert_string_equal(of_float(0.3333333433f), "0.33333334");
    assert_string_equal(of_float(1e38f), "1e+38");
    assert_string_equal(of_float(1e-5f), "0.00001");
    assert_string_equal(of_float(1e-7f), "1e-07");
    assert_string_equal(of_float(FLT_TRUE_MIN), "1e-45");
    assert_string_equal(of_float(NAN), "null");
    assert_string_equal(of_float(-INFINITY), "null");
}

static void assert_whole(float value)
{
    char expected[64];
    snprintf(expected, sizeof expected, "%.0f", (double)value);
    assert_string_equal(of_float(value), expected);
}

/// Up to 10^9 whole numbers have neither point nor exponent.
static void test_whole_floats(void **state)
{
    (void)state;
    for (int n = 1; n <= 20000; n++) {
        assert_whole((float)n);
        assert_whole((float)-n);
    }
    for (float size = 9; size < 1e9f; size = size * 10 + 9) {
        assert_whole(size);
        assert_whole(size + 1);
        assert_whole(-size);
        assert_whole(nextafterf(1e8f, size));
    }
    for (float size = 20001; size < 0x1p29f; size = floorf(size * 1.0137f)) {
        assert_whole(size);
    }
}

static void test_lists_of_floats(void **state)
{
    (void)state;
    const float values[] = {0, -1.5f, 1e-7f, 12345678, NAN, 0.3333333433f};
    char list[6 * API_NUMBER_MAX + 1];
    list[api_number_floats(list, values, 6)] = '\0';
    assert_string_equal(list, "0,-1.5,1e-07,12345678,null,0.33333334");
    list[api_number_floats(list, values, 1)] = '\0';
    assert_string_equal(list, "0");
}

static void test_doubles_are_shortest(void **state)
{
    (void)state;
    assert_string_equal(of_double(0.1), "0.1");
    assert_string_equal(of_double(1.0 / 3), "0.3333333333333333");
    assert_string_equal(of_double(123456789012.0), "123456789012");
    assert_string_equal(of_double(DBL_MAX), "1.7976931348623157e+308");
    assert_string_equal(of_double(-5e-324), "-5e-324");
    assert_string_equal(of_double(-0.0), "0");
    assert_string_equal(of_double(INFINITY), "null");
}

static void test_rounding(void **state)
{
    (void)state;
    assert_string_equal(rounded(1.2345f, 2), "1.23");
    assert_string_equal(rounded(1.5f, 3), "1.5");
    assert_string_equal(rounded(2.0f, 3), "2");
    assert_string_equal(rounded(100.0f, 0), "100");
    assert_string_equal(rounded(-0.0004f, 3), "0");
    assert_string_equal(rounded(-0.6f, 0), "-1");
    assert_string_equal(rounded(0.999f, 2), "1");
    assert_string_equal(rounded(1e-9f, 9), "0.000000001");
    assert_string_equal(rounded(16777215.0f, 9), "16777215");
    assert_string_equal(rounded(1e30f, 3), "1e+30");
    assert_string_equal(rounded(NAN, 3), "null");
}

/// Against the C library's, which rounds exact values; without the zeros at the end.
static void test_rounding_of_all_kinds(void **state)
{
    (void)state;
    uint64_t seed = 99;
    for (int i = 0; i < 400000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t bits = (uint32_t)(seed >> 32);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (i % 2) { // of the size of coordinates, ties among them
            value = (float)((int32_t)bits >> 8) / (float)(1 << (i / 2 % 16));
        }
        int decimals = i / 32 % 10;
        if (!(fabsf(value) < 16777216.0f)) {
            continue;
        }
        char expected[64];
        int length = snprintf(expected, sizeof expected, "%.*f", decimals, (double)value);
        while (decimals > 0 && expected[length - 1] == '0') {
            expected[--length] = '\0';
        }
        if (expected[length - 1] == '.') {
            expected[--length] = '\0';
        }
        assert_string_equal(rounded(value, decimals), strcmp(expected, "-0") == 0 ? "0" : expected);
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    uint64_t seed = 12345;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t low = (uint32_t)(seed >> 32);
        float f;
        memcpy(&f, &low, sizeof f);
        if (isfinite(f)) {
            assert_true(strtof(of_float(f), NULL) == f);
            assert_true(strlen(text) <= 16);
        }
        double d;
        memcpy(&d, &seed, sizeof d);
        if (isfinite(d)) {
            double read = 0;
            const char *written = of_double(d);
            assert_int_equal(api_number_parse(written, strlen(written), &read), API_NUMBER_OK);
            assert_true(read == d);
        }
    }
}

/// Around every power of ten and of two, and at random: the range that has its own way.
static void test_coordinates(void **state)
{
    (void)state;
    for (float power = 1e-3f; power < 1e8f; power *= 10) {
        float value = power;
        for (int i = 0; i < 200; i++) {
            value = nextafterf(value, 0);
        }
        for (int i = 0; i < 400; i++, value = nextafterf(value, INFINITY)) {
            assert_true(strtof(of_float(value), NULL) == value);
            assert_true(strtof(of_float(-value), NULL) == -value);
        }
    }
    for (float power = 0x1p-10f; power < 0x1p26f; power *= 2) {
        assert_true(strtof(of_float(nextafterf(power, 0)), NULL) == nextafterf(power, 0));
        assert_true(strtof(of_float(power), NULL) == power);
    }
    uint32_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 1664525u + 1013904223u;
        float value = (float)(seed >> 8) / (float)(1 << (i % 24));
        assert_true(strtof(of_float(value), NULL) == value);
        // No shorter one reads back: one digit less, rounded, is another float.
        char shorter[48];
        size_t digits = strcspn(text, ".") == strlen(text) ? 0 : strlen(text) - strcspn(text, ".") - 1;
        if (digits > 0) {
            snprintf(shorter, sizeof shorter, "%.*f", (int)digits - 1, (double)value);
            assert_true(strtof(shorter, NULL) != value);
        }
    }
    assert_string_equal(of_float(999999.94f), "999999.94");
    assert_string_equal(of_float(0.01f), "0.01");
    assert_string_equal(of_float(0.099999994f), "0.099999994");
    assert_string_equal(of_float(9.9999990f), "9.999999");
    assert_string_equal(of_float(-120.5f), "-120.5");
}

static void assert_parse(const char *written, api_number_result result, double value)
{
    double read = -12345;
    assert_int_equal(api_number_parse(written, strlen(written), &read), result);
    assert_true(read == (result == API_NUMBER_OK ? value : -12345));
}

static void test_parsing(void **state)
{
    (void)state;
    assert_parse("0", API_NUMBER_OK, 0);
    assert_parse("-12.5e1", API_NUMBER_OK, -125);
    assert_parse("1E+2", API_NUMBER_OK, 100);
    assert_parse("1e-999", API_NUMBER_OK, 0);
    assert_parse("0.0000001e-400", API_NUMBER_OK, 0);
    assert_parse("1e999", API_NUMBER_TOO_LARGE, 0);
    assert_parse("-1e999", API_NUMBER_TOO_LARGE, 0);
    assert_parse("0.001e999", API_NUMBER_TOO_LARGE, 0);
    assert_parse("1e99999999999999999999999", API_NUMBER_TOO_LARGE, 0);
    assert_parse("1e-99999999999999999999999", API_NUMBER_OK, 0);
    static const char *const none[] = {"",     "nan", "inf", "+1",  "01",  "-",    ".5",  "1.", "1e", "1e+",
                                       "0x10", "1 ",  " 1",  "1,2", "--1", "1.e1", "NaN", "-.", "1f", "1_0"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_parse(none[i], API_NUMBER_NONE, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floats_are_shortest),
        cmocka_unit_test(test_whole_floats),
        cmocka_unit_test(test_lists_of_floats),
        cmocka_unit_test(test_doubles_are_shortest),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_rounding_of_all_kinds),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_coordinates),
        cmocka_unit_test(test_parsing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
