/// The state folder's logs: what was committed is read again whatever happened to the end of the file.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "state.h"
#include "temp_folder.h"

/// Records that were read, one behind the other, each with a '|'.
typedef struct seen {
    char text[4096];
} seen;

typedef struct fixture {
    temp_folder files;
    srv_state *state;
    srv_state_log log;
    srv_state_found found;
    seen seen;
} fixture;

static void note(void *ctx, char *payload, size_t size)
{
    seen *s = ctx;
    assert_int_equal(strlen(payload), size);
    strncat(s->text, payload, sizeof s->text - strlen(s->text) - 2);
    strcat(s->text, "|");
}

static void open_log(fixture *f)
{
    api_problem problem;
    f->seen.text[0] = '\0';
    srv_state_log_close(&f->log);
    if (!srv_state_log_open(&f->log, f->state, "town", note, &f->seen, &f->found, &problem)) {
        fail_msg("%s", problem.detail);
    }
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    temp_folder_make(&f->files);
    char error[256];
    f->state = srv_state_open(f->files.path, error, sizeof error);
    assert_non_null(f->state);
    open_log(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    srv_state_log_close(&f->log);
    srv_state_close(f->state);
    temp_folder_remove(&f->files);
    free(f);
    return 0;
}

static void commit(fixture *f)
{
    api_problem problem;
    if (!srv_state_log_commit(&f->log, &problem)) {
        fail_msg("%s", problem.detail);
    }
}

static void add(fixture *f, const char *payload)
{
    assert_true(srv_state_log_add(&f->log, payload, strlen(payload)));
}

static char *contents(const fixture *f, size_t *size)
{
    char path[TEMP_PATH_MAX];
    snprintf(path, sizeof path, "%s/town.edits", f->files.path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *data = calloc(1, 65536);
    assert_non_null(data);
    *size = fread(data, 1, 65536, file);
    fclose(file);
    return data;
}

static void test_what_is_committed_is_read(void **state)
{
    fixture *f = *state;
    assert_false(temp_folder_has(&f->files, "town.edits"));
    add(f, "one");
    add(f, "two");
    commit(f);
    add(f, "three");
    commit(f);
    commit(f); // of nothing
    add(f, "never");
    srv_state_log_forget(&f->log);
    commit(f);
    open_log(f);
    assert_string_equal(f->seen.text, "one|two|three|");
    assert_int_equal(f->found.records, 3);
    assert_int_equal(f->found.cut_bytes + f->found.broken, 0);
    add(f, "four");
    commit(f);
    open_log(f);
    assert_string_equal(f->seen.text, "one|two|three|four|");
}

/// The file may end after any byte of the last record, or of anything: nothing before is lost, and what is
/// added afterwards is read again.
static void test_a_torn_tail_is_cut(void **state)
{
    fixture *f = *state;
    add(f, "one");
    add(f, "two");
    commit(f);
    uint64_t before = f->log.bytes;
    add(f, "a longer third record");
    commit(f);
    size_t size;
    char *data = contents(f, &size);
    assert_int_equal(size, f->log.bytes);
    for (size_t keep = 0; keep < size; keep++) {
        temp_folder_write(&f->files, "town.edits", data, keep);
        open_log(f);
        size_t whole = keep < f->log.bytes ? keep : f->log.bytes;
        assert_int_equal(f->found.cut_bytes, keep - whole);
        if (keep >= before) {
            assert_string_equal(f->seen.text, "one|two|");
            assert_int_equal(f->log.bytes, before);
        }
        add(f, "after");
        commit(f);
        open_log(f);
        assert_int_equal(f->found.cut_bytes, 0);
        assert_non_null(strstr(f->seen.text, "after|"));
    }
    // Bytes of the last record that never reached the disk.
    memset(data + size - 6, 0, 6);
    temp_folder_write(&f->files, "town.edits", data, size);
    open_log(f);
    assert_string_equal(f->seen.text, "one|two|");
    assert_int_equal(f->found.cut_bytes, size - before);
    free(data);
}

static void test_damage_in_the_middle_costs_its_record_only(void **state)
{
    fixture *f = *state;
    add(f, "one");
    add(f, "two");
    add(f, "three");
    commit(f);
    size_t size;
    char *data = contents(f, &size);
    *strstr(data, "two") = 'T';
    temp_folder_write(&f->files, "town.edits", data, size);
    free(data);
    open_log(f);
    assert_string_equal(f->seen.text, "one|three|");
    assert_int_equal(f->found.broken, 1);
    assert_int_equal(f->found.cut_bytes, 0);
}

static void test_a_foreign_file_is_set_aside(void **state)
{
    fixture *f = *state;
    temp_folder_write(&f->files, "town.edits", "navd edits 2\nsomething newer\n", SIZE_MAX);
    open_log(f);
    assert_true(f->found.foreign);
    assert_string_equal(f->seen.text, "");
    assert_true(temp_folder_has(&f->files, "town.edits.unknown"));
    add(f, "one");
    commit(f);
    open_log(f);
    assert_string_equal(f->seen.text, "one|");
}

/// No room: the commit fails with 507, and what was there is there and can be added to.
static void test_a_full_disk_changes_nothing(void **state)
{
    fixture *f = *state;
    add(f, "one");
    commit(f);
    uint64_t before = f->log.bytes;
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit old, tight;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tight = old;
    tight.rlim_cur = before + 8;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    add(f, "a record that is longer than the room");
    api_problem problem;
    bool done = srv_state_log_commit(&f->log, &problem);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_false(done);
    assert_int_equal(problem.code, API_STORAGE_FULL);
    assert_int_equal(f->log.bytes, before);
    size_t size;
    free(contents(f, &size));
    assert_int_equal(size, before);
    add(f, "two");
    commit(f);
    open_log(f);
    assert_string_equal(f->seen.text, "one|two|");
}

static void test_a_log_that_was_taken_away_is_told(void **state)
{
    fixture *f = *state;
    add(f, "one");
    commit(f);
    temp_folder_write(&f->files, "town.edits", "navd", SIZE_MAX);
    add(f, "two");
    api_problem problem;
    assert_false(srv_state_log_commit(&f->log, &problem));
    assert_int_equal(problem.code, API_INTERNAL);
}

/// The shorter log stands for what was there when it was begun, and what came meanwhile follows.
static void test_rewriting(void **state)
{
    fixture *f = *state;
    for (int i = 0; i < 100; i++) {
        add(f, "old");
    }
    commit(f);
    uint64_t long_bytes = f->log.bytes;
    api_buffer records = {0};
    srv_state_record(&records, "standing", strlen("standing"));
    srv_state_rewrite rewrite;
    api_problem problem;
    assert_true(srv_state_rewrite_begin(&rewrite, f->state, f->log.name, &records, f->log.bytes, &problem));
    add(f, "meanwhile");
    commit(f);
    assert_true(srv_state_rewrite_finish(&rewrite, &f->log, &problem));
    assert_true(f->log.bytes < long_bytes);
    add(f, "later");
    commit(f);
    open_log(f);
    assert_string_equal(f->seen.text, "standing|meanwhile|later|");
    // One that is given up leaves nothing behind.
    size_t files = temp_folder_count(&f->files);
    assert_true(srv_state_rewrite_begin(&rewrite, f->state, f->log.name, &records, f->log.bytes, &problem));
    srv_state_rewrite_drop(&rewrite);
    assert_int_equal(temp_folder_count(&f->files), files);
    open_log(f);
    assert_string_equal(f->seen.text, "standing|meanwhile|later|");
    api_buffer_free(&records);
}

static void test_removal(void **state)
{
    fixture *f = *state;
    add(f, "one");
    commit(f);
    add(f, "two");
    api_problem problem;
    assert_true(srv_state_log_remove(&f->log, &problem));
    assert_false(temp_folder_has(&f->files, "town.edits"));
    assert_true(srv_state_log_remove(&f->log, &problem));
    add(f, "three");
    commit(f);
    open_log(f);
    assert_string_equal(f->seen.text, "three|");
}

static void test_one_process_at_a_time(void **state)
{
    fixture *f = *state;
    char error[256];
    assert_null(srv_state_open(f->files.path, error, sizeof error));
    assert_non_null(strstr(error, "another process"));
    assert_null(srv_state_open("/nonexistent/folder", error, sizeof error));
    assert_non_null(strstr(error, "/nonexistent/folder"));
}

int main(void)
{
#define STATE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        STATE_TEST(test_what_is_committed_is_read),
        STATE_TEST(test_a_torn_tail_is_cut),
        STATE_TEST(test_damage_in_the_middle_costs_its_record_only),
        STATE_TEST(test_a_foreign_file_is_set_aside),
        STATE_TEST(test_a_full_disk_changes_nothing),
        STATE_TEST(test_a_log_that_was_taken_away_is_told),
        STATE_TEST(test_rewriting),
        STATE_TEST(test_removal),
        STATE_TEST(test_one_process_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
