/// The mesh folder: files are taken when they are whole and new, whatever way they come; uploads and
/// deletions keep folder and service the same.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "folder.h"
#include "log.h"
#include "temp_folder.h"

/// A square with sides of 1 and of 2 units: two meshes that can be told apart by their bounds.
#define SMALL "{\"vertices\":[[0,0,0],[0,0,1],[1,0,1],[1,0,0]],\"polygons\":[[0,1,2,3]]}"
#define LARGE "{\"vertices\":[[0,0,0],[0,0,2],[2,0,2],[2,0,0]],\"polygons\":[[0,1,2,3]]}"
#define SMALL_OBJ "v 0 0 0\nv 0 0 1\nv 1 0 1\nv 1 0 0\nf 1 2 3 4\n"

typedef struct fixture {
    temp_folder files;
    srv_registry *registry;
    srv_edits *edits;
    srv_folder *folder;
    srv_pool *jobs;
    api_host host;
    api_limits limits;
    int rescans;
} fixture;

static void count_rescan(void *ctx)
{
    fixture *f = ctx;
    f->rescans++;
}

static void start(fixture *f)
{
    char error[256];
    f->registry = srv_registry_create();
    assert_non_null(f->registry);
    f->edits = srv_edits_create(f->registry, NULL);
    assert_non_null(f->edits);
    f->folder = srv_folder_open(f->files.path, f->registry, f->edits, error, sizeof error);
    assert_non_null(f->folder);
    f->limits = api_limits_default();
    srv_pool_options options = {.name = "job", .threads = 2, .bound = 8, .host = &f->host, .limits = &f->limits};
    f->jobs = srv_pool_create(&options);
    assert_non_null(f->jobs);
    srv_folder_connect(f->folder, f->jobs, count_rescan, f);
}

static void stop(fixture *f)
{
    srv_pool_destroy(f->jobs);
    srv_folder_close(f->folder);
    srv_edits_destroy(f->edits);
    srv_registry_destroy(f->registry);
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    srv_log_setup(SRV_ERROR, false);
    temp_folder_make(&f->files);
    start(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    stop(f);
    temp_folder_remove(&f->files);
    free(f);
    return 0;
}

static void wait_for_jobs(fixture *f)
{
    size_t running = 1;
    while (srv_pool_depth(f->jobs, &running) + running > 0) {
        usleep(1000);
    }
}

/// Scans as the watch does, until no file is unsettled and no load is left. @return how many scans
static int settle(fixture *f)
{
    int scans = 1;
    while (srv_folder_scan(f->folder)) {
        usleep((SRV_FOLDER_QUIET_MS + 1) * 1000);
        scans++;
        assert_true(scans < 100);
    }
    wait_for_jobs(f);
    return scans;
}

/// Side of the square that serves, 0: none.
static double side(fixture *f, const char *id)
{
    const api_mesh *mesh = srv_registry_acquire(f->registry, id);
    double x = 0;
    if (mesh) {
        nav_mesh_info info;
        nav_mesh_get_info(mesh->nav, &info);
        x = info.max.x;
        srv_registry_release(f->registry, mesh);
    }
    return x;
}

static uint64_t revision(fixture *f, const char *id)
{
    const api_mesh *mesh = srv_registry_acquire(f->registry, id);
    uint64_t r = mesh ? mesh->revision : 0;
    srv_registry_release(f->registry, mesh);
    return r;
}

/// The error shown for an id; empty: none.
static const char *error_of(fixture *f, const char *id)
{
    static api_mesh_entry entry;
    assert_true(srv_registry_entry(f->registry, id, &entry));
    srv_registry_release(f->registry, entry.mesh);
    return entry.error_code;
}

static size_t known(fixture *f)
{
    return srv_registry_entries(f->registry, 0, NULL, 0);
}

static void test_start(void **state)
{
    fixture *f = *state;
    assert_false(srv_folder_ready(f->folder));
    temp_folder_write(&f->files, "a.json", SMALL, SIZE_MAX);
    temp_folder_write(&f->files, "b.c-d.obj", SMALL_OBJ, SIZE_MAX);
    temp_folder_write(&f->files, "broken.obj", "f 1 2 3\n", SIZE_MAX);
    temp_folder_write(&f->files, "notes.txt", "hello", SIZE_MAX);
    temp_folder_write(&f->files, ".hidden.obj", SMALL_OBJ, SIZE_MAX);
    temp_folder_write(&f->files, "no id.obj", SMALL_OBJ, SIZE_MAX);
    temp_folder_age(&f->files, "a.json", 10);
    settle(f);
    assert_true(srv_folder_ready(f->folder));
    assert_int_equal(known(f), 3);
    assert_true(side(f, "a") == 1);
    assert_true(side(f, "b.c-d") == 1);
    assert_true(side(f, "broken") == 0);
    assert_string_equal(error_of(f, "broken"), "bad_mesh");
    assert_string_equal(error_of(f, "a"), "");
}

static void test_old_files_are_taken_at_the_first_look(void **state)
{
    fixture *f = *state;
    temp_folder_write(&f->files, "a.json", SMALL, SIZE_MAX);
    temp_folder_age(&f->files, "a.json", 10);
    assert_false(srv_folder_scan(f->folder));
    wait_for_jobs(f);
    assert_true(srv_folder_ready(f->folder));
    assert_true(side(f, "a") == 1);
}

static void test_renamed_in(void **state)
{
    fixture *f = *state;
    settle(f);
    temp_folder_write(&f->files, ".part", SMALL, SIZE_MAX);
    usleep(20000); // so that the rename's time is later than the write's by the file system's clock
    char from[TEMP_PATH_MAX], to[TEMP_PATH_MAX];
    snprintf(from, sizeof from, "%s/.part", f->files.path);
    snprintf(to, sizeof to, "%s/a.json", f->files.path);
    assert_int_equal(rename(from, to), 0);
    assert_int_equal(settle(f), 1); // seen at once
    assert_true(side(f, "a") == 1);
}

static void test_written_in_place(void **state)
{
    fixture *f = *state;
    temp_folder_write(&f->files, "a.json", SMALL, SIZE_MAX);
    settle(f);
    uint64_t first = revision(f, "a");
    temp_folder_write(&f->files, "a.json", LARGE, strlen(LARGE) / 2);
    assert_true(srv_folder_scan(f->folder)); // it may still be growing
    wait_for_jobs(f);
    assert_int_equal(revision(f, "a"), first);
    temp_folder_write(&f->files, "a.json", LARGE, SIZE_MAX);
    assert_true(settle(f) >= 2);
    assert_true(side(f, "a") == 2);
    assert_true(revision(f, "a") > first);
}

/// As a rename within the clock's granule of the last write leaves it, or a file copied with a time to come.
static void rename_in_unsettled(fixture *f, const char *text)
{
    char from[TEMP_PATH_MAX], to[TEMP_PATH_MAX];
    snprintf(from, sizeof from, "%s/.part", f->files.path);
    snprintf(to, sizeof to, "%s/a.json", f->files.path);
    temp_folder_write(&f->files, ".part", text, SIZE_MAX);
    temp_folder_age(&f->files, ".part", -3600);
    assert_int_equal(rename(from, to), 0);
}

static void test_replaced_all_the_time(void **state)
{
    fixture *f = *state;
    settle(f);
    int loads = 0;
    uint64_t last = 0;
    for (int i = 0; i < 100; i++) {
        char text[128];
        snprintf(text, sizeof text, "{\"name\":\"%d\",%s", i, SMALL + 1);
        rename_in_unsettled(f, text);
        srv_folder_scan(f->folder);
        wait_for_jobs(f);
        loads += revision(f, "a") != last;
        last = revision(f, "a");
        usleep(10000);
    }
    assert_true(loads >= 2);
    assert_true(loads <= 20); // each waits for a moment all the same
}

/// A file that is written to all the time is not whole, however long it takes.
static void test_written_all_the_time(void **state)
{
    fixture *f = *state;
    temp_folder_write(&f->files, "a.json", SMALL, SIZE_MAX);
    settle(f);
    uint64_t first = revision(f, "a");
    for (size_t i = 0; i < 60; i++) {
        temp_folder_write(&f->files, "a.json", LARGE, 2 + i);
        temp_folder_age(&f->files, "a.json", -(int)i);
        srv_folder_scan(f->folder);
        usleep(10000);
    }
    wait_for_jobs(f);
    assert_int_equal(revision(f, "a"), first);
    assert_string_equal(error_of(f, "a"), "");
}

static void test_broken_and_repaired(void **state)
{
    fixture *f = *state;
    temp_folder_write(&f->files, "a.json", SMALL, SIZE_MAX);
    settle(f);
    uint64_t first = revision(f, "a");
    temp_folder_rename_in(&f->files, "a.json", "{\"vertices\":");
    settle(f);
    assert_int_equal(revision(f, "a"), first);
    assert_string_equal(error_of(f, "a"), "bad_mesh");
    temp_folder_rename_in(&f->files, "a.json", SMALL); // what is served already
    settle(f);
    assert_int_equal(revision(f, "a"), first);
    assert_string_equal(error_of(f, "a"), "");
}

static void test_unchanged_content(void **state)
{
    fixture *f = *state;
    temp_folder_write(&f->files, "a.json", SMALL, SIZE_MAX);
    settle(f);
    uint64_t first = revision(f, "a");
    temp_folder_rename_in(&f->files, "a.json", SMALL);
    settle(f);
    temp_folder_age(&f->files, "a.json", 3);
    settle(f);
    assert_int_equal(revision(f, "a"), first);
    api_problem problem;
    assert_true(srv_folder_reload(f->folder, "a", &problem)); // asked for by name
    assert_true(revision(f, "a") > first);
}

static void test_sidecar(void **state)
{
    fixture *f = *state;
    temp_folder_write(&f->files, "a.json", SMALL, SIZE_MAX);
    settle(f);
    uint64_t first = revision(f, "a");
    temp_folder_write(&f->files, "a.meta.json", "{\"snap\":3}", SIZE_MAX);
    settle(f);
    assert_true(revision(f, "a") > first);
    assert_int_equal(known(f), 1);
    const api_mesh *mesh = srv_registry_acquire(f->registry, "a");
    assert_true(mesh->snap.x == 3);
    srv_registry_release(f->registry, mesh);
    temp_folder_write(&f->files, "a.meta.json", "{\"nonsense\":3}", SIZE_MAX);
    settle(f);
    assert_string_equal(error_of(f, "a"), "bad_mesh");
    assert_true(side(f, "a") == 1);
    api_problem problem;
    assert_false(srv_folder_reload(f->folder, "a", &problem));
    assert_int_equal(problem.code, API_BAD_MESH);
    assert_non_null(strstr(problem.detail, "the sidecar, /nonsense: unknown"));
    temp_folder_write(&f->files, "a.meta.json", "{\"snap\":", SIZE_MAX);
    assert_false(srv_folder_reload(f->folder, "a", &problem));
    assert_int_equal(problem.code, API_BAD_MESH);
}

static void test_removed(void **state)
{
    fixture *f = *state;
    char path[TEMP_PATH_MAX];
    temp_folder_write(&f->files, "a.json", SMALL, SIZE_MAX);
    temp_folder_write(&f->files, "bad.json", "{", SIZE_MAX);
    settle(f);
    assert_int_equal(known(f), 2);
    snprintf(path, sizeof path, "%s/a.json", f->files.path);
    unlink(path);
    assert_true(srv_folder_scan(f->folder)); // an editor may be about to write it anew
    wait_for_jobs(f);
    assert_true(side(f, "a") == 1);
    snprintf(path, sizeof path, "%s/bad.json", f->files.path);
    unlink(path);
    settle(f);
    assert_int_equal(known(f), 0);
    temp_folder_write(&f->files, "a.json", LARGE, SIZE_MAX);
    settle(f);
    assert_true(side(f, "a") == 2);
}

static void test_two_files_of_one_id(void **state)
{
    fixture *f = *state;
    temp_folder_write(&f->files, "a.json", LARGE, SIZE_MAX);
    temp_folder_write(&f->files, "a.obj", SMALL_OBJ, SIZE_MAX);
    temp_folder_age(&f->files, "a.json", 20);
    temp_folder_age(&f->files, "a.obj", 10);
    settle(f);
    assert_int_equal(known(f), 1);
    assert_true(side(f, "a") == 1);
    temp_folder_age(&f->files, "a.json", 5); // now the newer
    settle(f);
    assert_true(side(f, "a") == 2);
    api_problem problem;
    assert_true(srv_folder_remove(f->folder, "a", &problem));
    assert_int_equal(temp_folder_count(&f->files), 0);
}

/// Kubernetes mounts a ConfigMap as links to `..data`, itself a link that is swapped.
static void test_links_inside(void **state)
{
    fixture *f = *state;
    char one[TEMP_PATH_MAX], two[TEMP_PATH_MAX], data[TEMP_PATH_MAX], next[TEMP_PATH_MAX], mesh[TEMP_PATH_MAX];
    snprintf(one, sizeof one, "%s/..v1", f->files.path);
    snprintf(two, sizeof two, "%s/..v2", f->files.path);
    snprintf(data, sizeof data, "%s/..data", f->files.path);
    snprintf(next, sizeof next, "%s/..next", f->files.path);
    snprintf(mesh, sizeof mesh, "%s/a.json", f->files.path);
    assert_int_equal(mkdir(one, 0700) + mkdir(two, 0700), 0);
    temp_folder_write(&f->files, "..v1/a.json", SMALL, SIZE_MAX);
    temp_folder_write(&f->files, "..v2/a.json", LARGE, SIZE_MAX);
    assert_int_equal(symlink("..v1", data) + symlink("..data/a.json", mesh), 0);
    settle(f);
    assert_true(side(f, "a") == 1);
    assert_int_equal(symlink("..v2", next) + rename(next, data), 0);
    settle(f);
    assert_true(side(f, "a") == 2);
}

static void test_links_outside(void **state)
{
    fixture *f = *state;
    temp_folder other;
    char to[TEMP_PATH_MAX], from[TEMP_PATH_MAX];
    temp_folder_make(&other);
    temp_folder_write(&other, "a.json", SMALL, SIZE_MAX);
    snprintf(to, sizeof to, "%s/a.json", other.path);
    snprintf(from, sizeof from, "%s/a.json", f->files.path);
    assert_int_equal(symlink(to, from), 0);
    snprintf(from, sizeof from, "%s/loop.json", f->files.path);
    assert_int_equal(symlink("loop.json", from), 0);
    snprintf(from, sizeof from, "%s/folder.json", f->files.path);
    assert_int_equal(mkdir(from, 0700), 0);
    snprintf(from, sizeof from, "%s/pipe.json", f->files.path);
    assert_int_equal(mkfifo(from, 0600), 0);
    settle(f);
    assert_int_equal(known(f), 0);
    temp_folder_remove(&other);
}

static void keep(fixture *f, const char *id, const char *extension, const char *text, const char *sidecar)
{
    char name[256];
    api_problem problem = {0};
    if (!srv_folder_keep(f->folder, id, extension, text, strlen(text), sidecar, name, &problem)) {
        fail_msg("%s", problem.detail);
    }
}

static void test_uploads_are_not_loaded_again(void **state)
{
    fixture *f = *state;
    temp_folder_write(&f->files, "a.obj", SMALL_OBJ, SIZE_MAX);
    settle(f);
    uint64_t first = revision(f, "a");
    keep(f, "a", ".json", LARGE, "{\"snap\":1}");
    assert_true(temp_folder_has(&f->files, "a.json"));
    assert_true(temp_folder_has(&f->files, "a.meta.json"));
    assert_false(temp_folder_has(&f->files, "a.obj")); // would be a second file of the id
    assert_int_equal(temp_folder_count(&f->files), 2);
    assert_int_equal(settle(f), 1);
    assert_int_equal(revision(f, "a"), first); // publishing is the caller's
    keep(f, "a", ".json", LARGE, NULL);
    assert_false(temp_folder_has(&f->files, "a.meta.json"));
    char *text = srv_folder_sidecar(f->folder, "a");
    assert_null(text);
    api_problem problem;
    assert_true(srv_folder_remove(f->folder, "a", &problem));
    assert_int_equal(temp_folder_count(&f->files), 0);
    assert_true(srv_folder_remove(f->folder, "a", &problem)); // nothing to do
}

static void test_an_id_that_would_be_a_sidecar(void **state)
{
    fixture *f = *state;
    char name[256];
    api_problem problem = {0};
    assert_false(srv_folder_keep(f->folder, "a.meta", ".json", SMALL, strlen(SMALL), NULL, name, &problem));
    assert_int_equal(problem.code, API_BAD_REQUEST);
    assert_int_equal(temp_folder_count(&f->files), 0);
}

static void test_a_folder_that_cannot_be_written(void **state)
{
    fixture *f = *state;
    char name[256], path[TEMP_PATH_MAX];
    api_problem problem = {0};
    // A folder in the mesh's place: the rename fails after everything else went well.
    snprintf(path, sizeof path, "%s/a.json", f->files.path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(srv_folder_keep(f->folder, "a", ".json", SMALL, strlen(SMALL), NULL, name, &problem));
    assert_int_equal(problem.code, API_INTERNAL);
    assert_int_equal(temp_folder_count(&f->files), 1);
    settle(f);
    assert_int_equal(known(f), 0);
}

static void test_leftovers_of_a_crash(void **state)
{
    fixture *f = *state;
    stop(f);
    temp_folder_write(&f->files, ".a.json.tmp-abc123", "half", SIZE_MAX);
    temp_folder_write(&f->files, ".b.json.tmp-def456", "half", SIZE_MAX);
    temp_folder_write(&f->files, ".mine", "kept", SIZE_MAX);
    char path[TEMP_PATH_MAX];
    snprintf(path, sizeof path, "%s/.b.json.tmp-def456", f->files.path);
    FILE *live = fopen(path, "r");
    assert_int_equal(flock(fileno(live), LOCK_EX), 0); // another process is writing this one
    start(f);
    assert_false(temp_folder_has(&f->files, ".a.json.tmp-abc123"));
    assert_true(temp_folder_has(&f->files, ".b.json.tmp-def456"));
    assert_true(temp_folder_has(&f->files, ".mine"));
    fclose(live);
}

static void test_staging(void **state)
{
    fixture *f = *state;
    srv_staged staged;
    srv_look look;
    api_problem problem;
    srv_bytes bytes;
    assert_true(srv_file_stage(&staged, f->files.path, "x.obj", "abc", 3, &problem));
    assert_false(temp_folder_has(&f->files, "x.obj"));
    srv_file_discard(&staged);
    assert_int_equal(temp_folder_count(&f->files), 0);
    assert_true(srv_file_stage(&staged, f->files.path, "x.obj", "abc", 3, &problem));
    assert_true(srv_file_commit(&staged, &look, &problem));
    srv_file_discard(&staged);
    assert_int_equal(srv_file_read(f->files.path, "x.obj", &bytes, &problem), SRV_READ_OK);
    assert_int_equal(bytes.size, 3);
    assert_string_equal(bytes.data, "abc");
    assert_true(srv_look_equal(&bytes.look, &look));
    free(bytes.data);
    assert_int_equal(srv_file_read(f->files.path, "../x.obj", &bytes, &problem), SRV_READ_MISSING);
    assert_int_equal(srv_file_read(f->files.path, "y.obj", &bytes, &problem), SRV_READ_MISSING);
    assert_false(srv_file_stage(&staged, "/nonexistent", "x.obj", "abc", 3, &problem));
}

static void test_hash(void **state)
{
    (void)state;
    char bytes[40] = {0};
    uint64_t seen[41 * 2];
    size_t count = 0;
    for (size_t n = 0; n <= sizeof bytes; n++) { // length alone makes a difference
        seen[count++] = srv_hash(SRV_HASH_START, bytes, n);
    }
    for (size_t i = 0; i < sizeof bytes; i++) { // and so does every byte's lowest bit
        bytes[i] = 1;
        seen[count++] = srv_hash(SRV_HASH_START, bytes, sizeof bytes);
        bytes[i] = 0;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_true(seen[i] != seen[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_start, setup, teardown),
        cmocka_unit_test_setup_teardown(test_old_files_are_taken_at_the_first_look, setup, teardown),
        cmocka_unit_test_setup_teardown(test_renamed_in, setup, teardown),
        cmocka_unit_test_setup_teardown(test_written_in_place, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replaced_all_the_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_written_all_the_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_broken_and_repaired, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unchanged_content, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sidecar, setup, teardown),
        cmocka_unit_test_setup_teardown(test_removed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_two_files_of_one_id, setup, teardown),
        cmocka_unit_test_setup_teardown(test_links_inside, setup, teardown),
        cmocka_unit_test_setup_teardown(test_links_outside, setup, teardown),
        cmocka_unit_test_setup_teardown(test_uploads_are_not_loaded_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_id_that_would_be_a_sidecar, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_folder_that_cannot_be_written, setup, teardown),
        cmocka_unit_test_setup_teardown(test_leftovers_of_a_crash, setup, teardown),
        cmocka_unit_test_setup_teardown(test_staging, setup, teardown),
        cmocka_unit_test(test_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
