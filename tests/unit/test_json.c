/// Reading and writing JSON text, query strings, names and buffers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_in.h"
#include "json_out.h"
#include "query_string.h"
#include "utf8.h"

#define DEPTH 4

static void assert_text(api_buffer *b, const char *expected)
{
    api_buffer_add(b, "", 1);
    assert_false(b->failed);
    assert_string_equal(b->data, expected);
    api_buffer_free(b);
}

static void test_writer_puts_commas(void **state)
{
    (void)state;
    api_buffer b = {0};
    api_json json = api_json_begin(&b);
    api_json_open(&json, '{');
    api_json_key(&json, "a");
    api_json_open(&json, '[');
    api_json_close(&json, ']');
    api_json_key(&json, "b");
    api_json_open(&json, '[');
    api_json_u64(&json, 18446744073709551615u);
    api_json_double(&json, -0.5);
    api_json_bool(&json, true);
    api_json_null(&json);
    api_json_open(&json, '{');
    api_json_key_text(&json, "\"");
    api_json_word(&json, "w");
    api_json_close(&json, '}');
    api_json_close(&json, ']');
    api_json_close(&json, '}');
    assert_text(&b, "{\"a\":[],\"b\":[18446744073709551615,-0.5,true,null,{\"\\\"\":\"w\"}]}");
}

static void test_writer_escapes(void **state)
{
    (void)state;
    api_buffer b = {0};
    api_json json = api_json_begin(&b);
    api_json_text(&json, "a\"\\\b\f\n\r\t\x01\x1f/\xC3\xA9\xF0\x9F\x98\x80 \x80 \xC3 \xED\xA0\x80 \xC0\xAF.");
    assert_text(&b, "\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f/\xC3\xA9\xF0\x9F\x98\x80 \xEF\xBF\xBD \xEF\xBF\xBD "
                    "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD.\"");
}

static void test_writer_tells_time(void **state)
{
    (void)state;
    api_buffer b = {0};
    api_json json = api_json_begin(&b);
    api_json_open(&json, '[');
    api_json_time(&json, 0);
    api_json_time(&json, 1709210096007); // a leap day
    api_json_time(&json, -1);
    api_json_close(&json, ']');
    assert_text(&b, "[\"1970-01-01T00:00:00.000Z\",\"2024-02-29T12:34:56.007Z\",null]");
}

static void write_position(const char *expected, api_frame frame, int dimensions, int precision, bool objects)
{
    api_buffer b = {0};
    api_json json = api_json_begin(&b);
    api_positions positions = {&frame, dimensions, precision, objects};
    api_json_position(&json, &positions, (nav_vec){1.26, -2, 3.5e300});
    assert_text(&b, expected);
}

static void test_writer_turns_positions(void **state)
{
    (void)state;
    api_frame y_up = {{0, 1, 2}, {1, 1, 1}}, z_up = {{0, 2, 1}, {1, 1, 1}}, unreal = {{0, 2, 1}, {-1, -1, 1}};
    write_position("[1.26,-2,3.4028235e+38]", y_up, 3, -1, false); // clamped, never inf
    write_position("[1.3,-2,3.4028235e+38]", y_up, 3, 1, false);
    write_position("{\"x\":1.26,\"y\":3.4028235e+38,\"z\":-2}", z_up, 3, -1, true);
    write_position("[-1.26,-3.4028235e+38,-2]", unreal, 3, -1, false);
    write_position("[1.26,3.4028235e+38]", y_up, 2, -1, false);
    write_position("{\"x\":-1.26,\"y\":-3.4028235e+38}", unreal, 2, -1, true);
}

/// A list is its positions one by one, however often the buffer grows under it.
static void test_writer_lists_positions(void **state)
{
    (void)state;
    nav_vec points[500];
    for (int i = 0; i < 500; i++) {
        points[i] = (nav_vec){i / 7.0, i, -3e30 / (i + 1)};
    }
    api_frame y_up = {{0, 1, 2}, {1, 1, 1}}, unreal = {{0, 2, 1}, {-1, -1, 1}};
    const api_positions forms[] = {{&y_up, 3, -1, false},
                                   {&unreal, 3, -1, false},
                                   {&y_up, 3, 2, false},
                                   {&y_up, 3, -1, true},
                                   {&y_up, 2, -1, false}};
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        for (size_t count = 0; count <= 500; count = count * 3 + 1) {
            api_buffer list = {0}, single = {0};
            api_json json = api_json_begin(&list);
            api_json_position_list(&json, &forms[form], points, count);
            json = api_json_begin(&single);
            api_json_open(&json, '[');
            for (size_t i = 0; i < count; i++) {
                api_json_position(&json, &forms[form], points[i]);
            }
            api_json_close(&json, ']');
            assert_int_equal(list.size, single.size);
            assert_memory_equal(list.data, single.data, single.size);
            api_buffer_free(&list);
            api_buffer_free(&single);
        }
    }
}

static void test_writer_tells_problems(void **state)
{
    (void)state;
    api_problem problem;
    api_problem_set(&problem, API_BAD_MESH, "line %d: %s", 3, "no \"face\"");
    api_buffer b = {0};
    api_json json = api_json_begin(&b);
    api_json_problem(&json, &problem, NULL);
    assert_text(&b, "{\"type\":\"/problems/bad_mesh\",\"title\":\"The mesh cannot be read\",\"status\":422,"
                    "\"detail\":\"line 3: no \\\"face\\\"\",\"code\":\"bad_mesh\"}");
}

static void test_codes(void **state)
{
    (void)state;
    assert_string_equal(api_code_text(API_NOT_FOUND), "not_found");
    assert_int_equal(api_code_status(API_OVERLOADED), 503);
    assert_int_equal(api_code_status(API_CODE_COUNT), 500);
    for (int code = 1; code < API_CODE_COUNT; code++) {
        assert_true(api_code_status((api_code)code) >= 400);
        assert_true(*api_code_text((api_code)code) && *api_code_title((api_code)code));
    }
}

static void assert_reads(const char *text)
{
    api_problem problem = {0};
    cJSON *json = api_json_parse(text, strlen(text), DEPTH, &problem);
    if (!json) {
        fail_msg("%s: %s", text, problem.detail);
    }
    cJSON_Delete(json);
}

static void assert_refuses_bytes(const char *text, size_t size, const char *detail)
{
    api_problem problem = {0};
    // An exact copy without a NUL, so that reading beyond its end is noticed.
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    if (size) {
        memcpy(copy, text, size);
    }
    cJSON *json = api_json_parse(copy, size, DEPTH, &problem);
    free(copy);
    if (json || problem.code != API_BAD_JSON || !strstr(problem.detail, detail)) {
        cJSON_Delete(json);
        fail_msg("%s: \"%s\", without \"%s\"", text, problem.detail, detail);
    }
}

static void assert_refuses(const char *text, const char *detail)
{
    assert_refuses_bytes(text, strlen(text), detail);
}

static void test_reader_takes_json(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        " [ ] ",
                                        "\t{\"a\" : [1, -2.5e+3 , true,false , null]}\r\n",
                                        "\"\\u00e9\\ud83d\\ude00\"",
                                        "[[[[1]]]]",
                                        "\"\xF0\x9F\x98\x80\"",
                                        "\xEF\xBB\xBF{}",
                                        "[\"]]]]{{{{\"]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_reads(texts[i]);
    }
}

static void test_reader_is_strict(void **state)
{
    (void)state;
    assert_refuses("", "empty");
    assert_refuses("  ", "byte");
    assert_refuses("[1,NaN]", "byte 3");
    assert_refuses("[Infinity]", "byte 1");
    assert_refuses("[1,]", "byte");
    assert_refuses("{} x", "byte 3: more text");
    assert_refuses("{}{}", "byte 2: more text");
    assert_refuses("[[[[[1]]]]]", "byte 4: nested deeper than 4");
    assert_refuses("[01]", "byte 1: not a number");
    assert_refuses("[-]", "byte 1: not a number");
    assert_refuses("[+1]", "byte 1");
    assert_refuses("[1.]", "byte 1: not a number");
    assert_refuses("[.5]", "byte 1");
    assert_refuses("[0x10]", "byte");
    assert_refuses("[1e]", "byte 1: not a number");
    assert_refuses("[\"a\nb\"]", "byte 3: a control character in a string");
    assert_refuses("[\"\\x\"]", "byte 2: no escape");
    assert_refuses("[\"\\u00g0\"]", "byte 2: no escape");
    assert_refuses("[\"\\u0000\"]", "byte 2: no escape");
    assert_refuses("[\"\\ud800\"]", "byte");
    assert_refuses("[\"\xC3\"]", "byte 2: not UTF-8");
    assert_refuses("[\"\xED\xA0\x80\"]", "byte 2: not UTF-8");
    assert_refuses("[\"abc", "byte 1: a string that does not end");
    assert_refuses("[\"abc\\", "byte 5: no escape");
    assert_refuses("{\"a\":1", "ends too early");
    assert_refuses("[\v1]", "byte 1: a control character");
    assert_refuses("nul", "byte");
    assert_refuses_bytes("[1\0]", 4, "byte 2: a control character");
    assert_refuses_bytes("[\"a\0b\"]", 7, "byte 3: a control character");
    assert_refuses("[1-2]", "byte 2: not JSON");
    assert_refuses("[1 2]", "byte 3: not JSON");
    assert_refuses("[1}", "byte 2");
    assert_refuses("{\"a\" 1}", "byte 5: not JSON");
    assert_refuses("{1:2}", "byte 1: not JSON");
    assert_refuses("{\"a\":}", "byte 5: not JSON");
    assert_refuses("{\"a\":1,}", "byte 7");
    assert_refuses("[truE]", "byte 1: not JSON");
    assert_refuses("[\"\\ude00\"]", "byte 2: no escape");
    assert_refuses("[\"\\ud83dx\\ude00\"]", "byte 2: no escape");
    assert_refuses("[\"\\ud83d\\ud83d\"]", "byte 2: no escape");
    assert_refuses("[\"\\ud83d\\ude0\"]", "byte 2: no escape");
}

/// What cJSON makes of a text, node by node.
static void assert_same(const cJSON *ours, const cJSON *theirs)
{
    assert_int_equal(ours->type & ~cJSON_IsReference, theirs->type);
    assert_int_equal(ours->valueint, theirs->valueint);
    assert_memory_equal(&ours->valuedouble, &theirs->valuedouble, sizeof ours->valuedouble);
    assert_int_equal(!ours->valuestring, !theirs->valuestring);
    assert_int_equal(!ours->string, !theirs->string);
    if (ours->string) {
        assert_string_equal(ours->string, theirs->string);
    }
    if (ours->valuestring) {
        assert_string_equal(ours->valuestring, theirs->valuestring);
    }
    const cJSON *a = ours->child, *b = theirs->child, *before_a = NULL;
    for (; a && b; before_a = a, a = a->next, b = b->next) {
        assert_same(a, b);
        assert_true(!before_a || a->prev == before_a);
    }
    assert_null(a);
    assert_null(b);
    assert_true(!ours->child || ours->child->prev == before_a);
}

static void assert_reads_as_cjson(const char *text)
{
    api_problem problem = {0};
    cJSON *ours = api_json_parse(text, strlen(text), 16, &problem), *theirs = cJSON_Parse(text);
    if (!ours || !theirs) {
        fail_msg("%s: %s", text, ours ? "not cJSON's" : problem.detail);
    }
    assert_same(ours, theirs);
    cJSON *copy = cJSON_Duplicate(ours, true); // outlives the block
    cJSON_Delete(ours);
    assert_same(copy, theirs);
    cJSON_Delete(copy);
    cJSON_Delete(theirs);
}

static void test_reader_builds_trees(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "null",
        "true",
        "\"\"",
        "{}",
        "[]",
        "[[],{},[[]]]",
        "\xEF\xBB\xBF [1]",
        "-0",
        "{\"a\":{\"b\":[1,{\"c\":null},\"d\"]},\"a\":false,\"\":[true]}",
        "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\uFFFF\\ud83d\\ude00\\uDBFF\\uDFFF\", \"\xC3\xA9\"]",
        "{\"\\u0061\\n\" : 1 , \"plain\":2}\r\n",
        "[2147483647,2147483648,-2147483648,-2147483649,9007199254740993,123456789012345,1234567890123456]",
        "[0.1,-0.3,1.5,123.456,12345678901.2345,0.0000000001,0.00000000001,999999999999999,99999999999999.9]",
        "[1e5,1E+5,1.25e-7,5e-324,2.2250738585072014e-308,1.7976931348623157e308,1e-400,-1e-400]",
        "[-1,-0.0,-12.75,0.5,100000000000000000000000000000000000000,0.1234567890123456789012345678901234567]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_reads_as_cjson(texts[i]);
    }
    srand(7);
    for (int i = 0; i < 20000; i++) {
        char text[64];
        double value = (rand() % 2 ? 1 : -1) * (double)rand() / (1 + rand() % 100000);
        snprintf(text, sizeof text, "[%.*g,%.*f]", rand() % 17 + 1, value, rand() % 13, value);
        assert_reads_as_cjson(text);
    }
}

/// Beyond a double, and of any length (cJSON itself keeps 63 characters).
static void test_reader_takes_numbers_of_any_size(void **state)
{
    (void)state;
    char digits[500];
    memset(digits, '7', sizeof digits);
    digits[0] = '[';
    memcpy(digits + sizeof digits - 4, "e9]", 4);
    api_problem problem = {0};
    static const char *const infinite[] = {"[1e999]", "[-1e999]"};
    for (int i = 0; i < 3; i++) {
        const char *text = i < 2 ? infinite[i] : digits;
        cJSON *json = api_json_parse(text, strlen(text), DEPTH, &problem);
        assert_non_null(json);
        assert_true(isinf(json->child->valuedouble));
        assert_int_equal(json->child->valuedouble < 0, i == 1);
        assert_false(api_json_finite(json->child));
        cJSON_Delete(json);
    }
    const char *long_one = "[0.00000000000000000000000000000000000000000000000000000000000000000000000125]";
    cJSON *json = api_json_parse(long_one, strlen(long_one), DEPTH, &problem);
    assert_non_null(json);
    assert_true(json->child->valuedouble == 1.25e-72);
    cJSON_Delete(json);
}

/// A tree of one block within another that is not.
static void test_reader_s_trees_can_be_added(void **state)
{
    (void)state;
    api_problem problem = {0};
    cJSON *outer = cJSON_CreateObject();
    assert_true(cJSON_AddItemToObject(outer, "list", api_json_parse("[1,[2],\"a\"]", 11, DEPTH, &problem)));
    assert_true(cJSON_AddItemToObject(outer, "text", api_json_parse("\"b\"", 3, DEPTH, &problem)));
    char *text = cJSON_PrintUnformatted(outer);
    assert_string_equal(text, "{\"list\":[1,[2],\"a\"],\"text\":\"b\"}");
    cJSON_free(text);
    cJSON_Delete(outer);
}

static void test_pointers(void **state)
{
    (void)state;
    char pointer[16];
    api_pointer_join(pointer, sizeof pointer, "", "a/b~c");
    assert_string_equal(pointer, "/a~1b~0c");
    api_pointer_join(pointer, sizeof pointer, "/base", "");
    assert_string_equal(pointer, "/base/");
    api_pointer_join(pointer, sizeof pointer, "/base", "123456789");
    assert_string_equal(pointer, "/base/123456789");
    api_pointer_join(pointer, sizeof pointer, "/base", "1234567890");
    assert_string_equal(pointer, "/base"); // no room to tell it whole
    api_pointer_join(pointer, sizeof pointer, "/base", "12345678~");
    assert_string_equal(pointer, "/base");
}

static void test_name_distance(void **state)
{
    (void)state;
    assert_int_equal(api_name_distance("start", "start", 2), 0);
    assert_int_equal(api_name_distance("startt", "start", 2), 1);
    assert_int_equal(api_name_distance("satrt", "start", 2), 1);
    assert_int_equal(api_name_distance("", "ab", 2), 2);
    assert_int_equal(api_name_distance("kitten", "sitting", 9), 3);
    assert_int_equal(api_name_distance("kitten", "sitting", 2), 3);
    assert_int_equal(api_name_distance("a name of far more than thirty-two characters", "start", 2), 3);
}

static bool decodes(const char *text, bool plus, const char *expected)
{
    char out[16];
    return api_percent_decode(text, strlen(text), plus, out, sizeof out) && strcmp(out, expected) == 0;
}

static void test_percent_decoding(void **state)
{
    (void)state;
    char out[16];
    assert_true(decodes("a%20b+c", true, "a b c"));
    assert_true(decodes("a%20b+c", false, "a b+c"));
    assert_true(decodes("%C3%a9", true, "\xC3\xA9"));
    assert_true(decodes("123456789012345", true, "123456789012345"));
    assert_false(api_percent_decode("1234567890123456", 16, true, out, sizeof out)); // no room for the NUL
    static const char *const bad[] = {"%", "%1", "%g0", "%00", "%C3", "a%ff", "\x80", "%%20"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(api_percent_decode(bad[i], strlen(bad[i]), true, out, sizeof out));
    }
}

static void test_parameters(void **state)
{
    (void)state;
    api_problem problem = {0};
    api_parameters pair;
    api_parameters_init(&pair, "a=1&&b&c=%26=x&a=2");
    static const char *const expected[][2] = {{"a", "1"}, {"b", ""}, {"c", "&=x"}, {"a", "2"}};
    for (size_t i = 0; i < 4; i++) {
        assert_true(api_parameters_next(&pair, &problem));
        assert_string_equal(pair.name, expected[i][0]);
        assert_string_equal(pair.value, expected[i][1]);
    }
    assert_false(api_parameters_next(&pair, &problem));
    assert_int_equal(problem.code, API_NO_PROBLEM);

    api_parameters_init(&pair, "a=%zz");
    assert_false(api_parameters_next(&pair, &problem));
    assert_int_equal(problem.code, API_BAD_REQUEST);
    assert_string_equal(problem.parameter, "a");

    char *found = api_parameter_find("x=1&y=two&y=3", "y", &problem);
    assert_string_equal(found, "two");
    free(found);
    assert_null(api_parameter_find("x=1", "y", &problem));
    assert_int_equal(problem.code, API_NO_PROBLEM);
    assert_null(api_parameter_find(NULL, "y", &problem));
}

/// All sequences of one to three bytes, against the definition by code points.
static void test_utf8(void **state)
{
    (void)state;
    for (unsigned value = 0; value < 1u << 24; value += value < 0x10000 ? 1 : 7) {
        unsigned char bytes[3] = {(unsigned char)(value & 255), (unsigned char)(value >> 8 & 255),
                                  (unsigned char)(value >> 16)};
        size_t expected = 0;
        unsigned a = bytes[0], b = bytes[1], c = bytes[2];
        bool tail_b = (b & 0xC0) == 0x80, tail_c = (c & 0xC0) == 0x80;
        if (a < 0x80) {
            expected = 1;
        } else if ((a & 0xE0) == 0xC0 && tail_b) {
            expected = ((a & 31) << 6 | (b & 63)) >= 0x80 ? 2 : 0;
        } else if ((a & 0xF0) == 0xE0 && tail_b && tail_c) {
            unsigned point = (a & 15) << 12 | (b & 63) << 6 | (c & 63);
            expected = point >= 0x800 && (point < 0xD800 || point > 0xDFFF) ? 3 : 0;
        }
        if (api_utf8_length(bytes, 3) != expected) {
            fail_msg("%02x %02x %02x: %zu", a, b, c, expected);
        }
    }
    assert_int_equal(api_utf8_length((const unsigned char *)"\xF0\x90\x80\x80", 4), 4);
    assert_int_equal(api_utf8_length((const unsigned char *)"\xF0\x8F\x80\x80", 4), 0);
    assert_int_equal(api_utf8_length((const unsigned char *)"\xF4\x8F\xBF\xBF", 4), 4);
    assert_int_equal(api_utf8_length((const unsigned char *)"\xF4\x90\x80\x80", 4), 0);
    assert_int_equal(api_utf8_length((const unsigned char *)"\xF0\x90\x80\x80", 3), 0);
}

static void test_buffer_grows_and_fails_for_good(void **state)
{
    (void)state;
    api_buffer b = {0};
    for (int i = 0; i < 1000; i++) {
        api_buffer_printf(&b, "%d,", i);
    }
    assert_int_equal(b.size, 10 * 2 + 90 * 3 + 900 * 4);
    char big[2000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    api_buffer_printf(&b, "%s", big);
    assert_int_equal(b.size, 10 * 2 + 90 * 3 + 900 * 4 + 1999);
    size_t size = b.size;
    assert_null(api_buffer_room(&b, (size_t)-1));
    assert_true(b.failed);
    api_buffer_add(&b, "x", 1);
    api_buffer_printf(&b, "%d", 1);
    assert_int_equal(b.size, size);
    api_buffer_free(&b);
    assert_null(b.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writer_puts_commas),
        cmocka_unit_test(test_writer_escapes),
        cmocka_unit_test(test_writer_tells_time),
        cmocka_unit_test(test_writer_turns_positions),
        cmocka_unit_test(test_writer_lists_positions),
        cmocka_unit_test(test_writer_tells_problems),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_reader_takes_json),
        cmocka_unit_test(test_reader_is_strict),
        cmocka_unit_test(test_reader_builds_trees),
        cmocka_unit_test(test_reader_takes_numbers_of_any_size),
        cmocka_unit_test(test_reader_s_trees_can_be_added),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_name_distance),
        cmocka_unit_test(test_percent_decoding),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_buffer_grows_and_fails_for_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
