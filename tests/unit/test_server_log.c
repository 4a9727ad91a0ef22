/// Log lines: whatever the values are, a line is one line, and JSON stays JSON.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

static char text[8192];

/// What the calls between begin and end wrote to standard error.
static int begin_capture(int ends[2])
{
    assert_int_equal(pipe(ends), 0);
    int kept = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    return kept;
}

static void end_capture(int ends[2], int kept)
{
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(ends[1]);
    size_t size = 0;
    for (ssize_t n; (n = read(ends[0], text + size, sizeof text - 1 - size)) > 0;) {
        size += (size_t)n;
    }
    text[size] = '\0';
    close(ends[0]);
}

static void test_text(void **state)
{
    (void)state;
    int ends[2], kept = begin_capture(ends);
    srv_log_setup(SRV_INFO, false);
    srv_log(SRV_DEBUG, SRV_EVENT("not told"));
    srv_log(SRV_WARN, SRV_EVENT("it broke"), SRV_TEXT("file", "a b\n\"x\""), SRV_TEXT("plain", "yes"),
            SRV_INT("count", -3), SRV_REAL("ms", 1.5), SRV_TEXT("nothing", NULL));
    end_capture(ends, kept);
    assert_string_equal(strchr(text, ' '),
                        " warn  it broke file=\"a b\\u000a\\\"x\\\"\" plain=yes count=-3 ms=1.500\n"); // no "nothing"
}

static void test_json(void **state)
{
    (void)state;
    int ends[2], kept = begin_capture(ends);
    srv_log_setup(SRV_DEBUG, true);
    srv_log(SRV_ERROR, SRV_EVENT("it \"broke\""), SRV_TEXT("file", "\xC3\xA4\xFF\x01\\"), SRV_INT("count", 7));
    end_capture(ends, kept);
    cJSON *line = cJSON_Parse(text);
    assert_non_null(line);
    assert_string_equal(cJSON_GetObjectItem(line, "level")->valuestring, "error");
    assert_string_equal(cJSON_GetObjectItem(line, "msg")->valuestring, "it \"broke\"");
    assert_string_equal(cJSON_GetObjectItem(line, "file")->valuestring, "\xC3\xA4\xC3\xBF\x01\\");
    assert_int_equal(cJSON_GetObjectItem(line, "count")->valueint, 7);
    cJSON_Delete(line);
}

static void test_long_values(void **state)
{
    (void)state;
    static const char fills[] = {'a', '"', '\x01', '\xFF'};
    char value[4001];
    srv_log_setup(SRV_DEBUG, true);
    for (size_t f = 0; f < sizeof fills; f++) {
        for (size_t length = 1800; length <= 4000; length = length < 2100 ? length + 1 : length + 1900) {
            memset(value, fills[f], length);
            value[length] = '\0';
            int ends[2], kept = begin_capture(ends);
            srv_log(SRV_INFO, SRV_EVENT("long"), SRV_INT("before", 1), SRV_TEXT("value", value), SRV_INT("after", 2));
            end_capture(ends, kept);
            cJSON *line = cJSON_Parse(text);
            if (!line || !cJSON_GetObjectItem(line, "before") || strlen(text) > 2048) {
                fail_msg("fill %02x, length %zu", (unsigned char)fills[f], length);
            }
            cJSON_Delete(line);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_long_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
