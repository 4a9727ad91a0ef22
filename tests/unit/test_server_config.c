/// Options: the command line beats the environment beats the defaults, and wrong values are named.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth.h"
#include "config.h"
#include "listen.h"

static char complaint[512];

/// Reads `arguments` (NULL-terminated). The complaint is kept.
static bool read_config(srv_config *config, char **arguments)
{
    char *argv[32] = {"navd"};
    int argc = 1;
    for (; arguments[argc - 1] && argc < 32; argc++) {
        argv[argc] = arguments[argc - 1];
    }
    FILE *errors = fmemopen(complaint, sizeof complaint, "w");
    assert_non_null(errors);
    complaint[0] = '\0';
    bool ok = srv_config_read(config, argc, argv, errors);
    fclose(errors);
    return ok;
}

static void test_defaults(void **state)
{
    (void)state;
    srv_config c;
    assert_true(read_config(&c, (char *[]){NULL}));
    assert_int_equal(c.command, SRV_SERVE);
    assert_int_equal(c.listen_count, 1);
    assert_string_equal(c.listen[0], "127.0.0.1:8080");
    assert_null(c.meshes);
    assert_true(c.threads >= 1 && c.workers >= 1);
    assert_int_equal(c.access_log, SRV_ACCESS_OFF);
    assert_int_equal(c.request_timeout_ms, 30000);
}

static void test_order_of_sources(void **state)
{
    (void)state;
    srv_config c;
    setenv("NAVD_THREADS", "5", 1);
    setenv("NAVD_MAX_BODY", "2M", 1);
    setenv("NAVD_LISTEN", "127.0.0.1:1,unix:/tmp/x", 1);
    assert_true(read_config(&c, (char *[]){NULL}));
    assert_int_equal(c.threads, 5);
    assert_int_equal(c.max_body, 2u << 20);
    assert_int_equal(c.listen_count, 2);
    assert_string_equal(c.listen[1], "unix:/tmp/x");
    srv_config_deinit(&c);
    assert_true(read_config(&c, (char *[]){"--threads", "3", "--listen=[::1]:0", "--listen", "localhost:80", NULL}));
    assert_int_equal(c.threads, 3);
    assert_int_equal(c.max_body, 2u << 20);
    assert_int_equal(c.listen_count, 2);
    assert_string_equal(c.listen[0], "[::1]:0");
    srv_config_deinit(&c);
    setenv("NAVD_THREADS", "none", 1);
    assert_false(read_config(&c, (char *[]){NULL}));
    assert_non_null(strstr(complaint, "NAVD_THREADS"));
    unsetenv("NAVD_THREADS");
    unsetenv("NAVD_MAX_BODY");
    unsetenv("NAVD_LISTEN");
    srv_config_deinit(&c);
}

static void test_units(void **state)
{
    (void)state;
    srv_config c;
    assert_true(read_config(&c, (char *[]){"--max-body", "3k", "--request-timeout", "1500ms", "--drain-timeout", "2",
                                           "--idle-timeout", "2m", NULL}));
    assert_int_equal(c.max_body, 3072);
    assert_int_equal(c.request_timeout_ms, 1500);
    assert_int_equal(c.drain_timeout_ms, 2000);
    assert_int_equal(c.idle_timeout_ms, 120000);
    assert_true(read_config(&c, (char *[]){"--access-log", "2.5%", "--log", "json", "--log-level", "warn", NULL}));
    assert_int_equal(c.access_log, SRV_ACCESS_SAMPLED);
    assert_true(c.access_share == 0.025);
    assert_true(c.log_json);
    assert_int_equal(c.log_level, SRV_WARN);
}

static void test_wrong_values(void **state)
{
    (void)state;
    char *wrong[][3] = {
        {"--threads", "0"},
        {"--threads", "-1"},
        {"--threads", "1x"},
        {"--threads", ""},
        {"--threads", "1e3"},
        {"--threads", "99999999999999999999"},
        {"--max-body", "17179869185"},
        {"--max-body", "18446744073709551615G"},
        {"--max-body", "1T"},
        {"--request-timeout", "9ms"},
        {"--request-timeout", "5d"},
        {"--access-log", "101%"},
        {"--access-log", "-1%"},
        {"--access-log", "nan%"},
        {"--access-log", "1"},
        {"--log", "xml"},
        {"--log-level", "loud"},
        {"--listen", "8080"},
        {"--listen", "::1:80"},
        {"--listen", "a:70000"},
        {"--listen", "unix:"},
        {"--meshes", ""},
        {"--nothing", "1"},
        {"meshes", "x"},
        {"--tls-cert", "x"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        srv_config c;
        if (read_config(&c, wrong[i])) {
            fail_msg("%s %s", wrong[i][0], wrong[i][1]);
        }
        assert_memory_equal(complaint, "navd: ", 6);
        assert_ptr_equal(strchr(complaint, '\n'), complaint + strlen(complaint) - 1); // one line
    }
    srv_config c;
    assert_false(read_config(&c, (char *[]){"--threads", NULL}));
    assert_non_null(strstr(complaint, "needs a value"));
}

static void test_commands(void **state)
{
    (void)state;
    srv_config c;
    assert_true(read_config(&c, (char *[]){"--check", "a.obj", "b.obj", NULL}));
    assert_int_equal(c.command, SRV_CHECK);
    assert_int_equal(c.operand_count, 2);
    assert_string_equal(c.operands[1], "b.obj");
    assert_false(read_config(&c, (char *[]){"--check", NULL}));
    assert_true(read_config(&c, (char *[]){"--healthcheck", NULL}));
    assert_int_equal(c.command, SRV_HEALTHCHECK);
    assert_int_equal(c.operand_count, 0);
    assert_true(read_config(&c, (char *[]){"--healthcheck", "http://h:1", NULL}));
    assert_string_equal(c.operands[0], "http://h:1");
    assert_true(read_config(&c, (char *[]){"--convert", "a.obj", "a.navd", NULL}));
    assert_int_equal(c.command, SRV_CONVERT);
    assert_int_equal(c.operand_count, 2);
    assert_false(read_config(&c, (char *[]){"--convert", "a.obj", NULL}));
    assert_false(read_config(&c, (char *[]){"--convert", "a", "b", "c", NULL}));
    assert_true(read_config(&c, (char *[]){"--print-config", "--threads", "2", NULL}));
    assert_int_equal(c.command, SRV_PRINT_CONFIG);
}

static void test_print(void **state)
{
    (void)state;
    srv_config c;
    char text[4096] = "";
    assert_true(read_config(
        &c, (char *[]){"--access-log", "5%", "--listen", "a:1", "--listen", "b:2", "--max-body", "1M", NULL}));
    FILE *out = fmemopen(text, sizeof text, "w");
    srv_config_print(&c, out);
    fclose(out);
    assert_non_null(strstr(text, "listen = a:1,b:2\n"));
    assert_non_null(strstr(text, "max-body = 1048576\n"));
    assert_non_null(strstr(text, "access-log = 5%\n"));
    assert_non_null(strstr(text, "request-timeout = 30000ms\n"));
}

static void write_token(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void test_token(void **state)
{
    (void)state;
    char path[] = "/tmp/navd-token-XXXXXX", error[256];
    assert_true(mkstemp(path) >= 0);
    write_token(path, "  secret-1 \n second line\n");
    srv_auth *auth = srv_auth_create(path, error, sizeof error);
    assert_non_null(auth);
    assert_true(srv_auth_has_token(auth));
    assert_true(srv_auth_check(auth, "Bearer secret-1"));
    assert_true(srv_auth_check(auth, "bearer  secret-1"));
    assert_false(srv_auth_check(auth, "Bearer secret-"));
    assert_false(srv_auth_check(auth, "Bearer secret-12"));
    assert_false(srv_auth_check(auth, "Bearer secret-1secret-1"));
    assert_false(srv_auth_check(auth, "Bearer "));
    assert_false(srv_auth_check(auth, "Basic secret-1"));
    assert_false(srv_auth_check(auth, "secret-1"));
    write_token(path, "secret-2");
    assert_true(srv_auth_reload(auth, error, sizeof error));
    assert_false(srv_auth_check(auth, "Bearer secret-1"));
    assert_true(srv_auth_check(auth, "Bearer secret-2"));
    write_token(path, "\n");
    assert_false(srv_auth_reload(auth, error, sizeof error));
    assert_true(srv_auth_check(auth, "Bearer secret-2"));
    srv_auth_destroy(auth);
    remove(path);
    assert_null(srv_auth_create(path, error, sizeof error));
    auth = srv_auth_create(NULL, error, sizeof error);
    assert_non_null(auth);
    assert_false(srv_auth_has_token(auth));
    assert_false(srv_auth_check(auth, "Bearer secret-2"));
    srv_auth_destroy(auth);
}

static void test_listeners(void **state)
{
    (void)state;
    srv_listener first, second;
    char error[256], taken[32];
    assert_true(srv_listener_open(&first, "127.0.0.1:0", "http", error, sizeof error));
    assert_memory_equal(first.url, "http://127.0.0.1:", 17);
    assert_true(srv_listener_share(&first) >= 0);
    assert_true(srv_listener_share(&first) >= 0); // another thread's socket on the same port
    snprintf(taken, sizeof taken, "127.0.0.1:%.6s", first.url + 17);
    assert_false(srv_listener_open(&second, taken, "http", error, sizeof error));
    assert_non_null(strstr(error, taken));
    assert_false(srv_listener_open(&second, "no.such.host.invalid:1", "http", error, sizeof error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),     cmocka_unit_test(test_order_of_sources), cmocka_unit_test(test_units),
        cmocka_unit_test(test_wrong_values), cmocka_unit_test(test_commands),         cmocka_unit_test(test_print),
        cmocka_unit_test(test_token),        cmocka_unit_test(test_listeners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
