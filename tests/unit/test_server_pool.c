/// The pool: bounds, order by key, work in parts, and the end; and the registry under many threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pool.h"
#include "registry.h"

static const api_host no_host;

static srv_pool *make_pool(uint32_t threads, uint32_t bound)
{
    static api_limits limits;
    limits = api_limits_default();
    srv_pool_options options = {
        .name = "test", .threads = threads, .bound = bound, .host = &no_host, .limits = &limits};
    srv_pool *pool = srv_pool_create(&options);
    assert_non_null(pool);
    return pool;
}

static void wait_idle(srv_pool *pool)
{
    size_t running = 1;
    while (srv_pool_depth(pool, &running) + running > 0) {
        usleep(500);
    }
}

/// A work that notes what it did.
typedef struct step {
    srv_work work;
    int number, parts;
    bool stopped;
} step;

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int log_numbers[64], log_count;
static atomic_int inside, most_inside;
static atomic_bool gate;

static void run_step(srv_work *work, srv_worker *worker)
{
    step *s = (step *)work;
    int now = atomic_fetch_add(&inside, 1) + 1;
    if (now > atomic_load(&most_inside)) {
        atomic_store(&most_inside, now);
    }
    while (!atomic_load(&gate)) {
        usleep(200);
    }
    pthread_mutex_lock(&log_lock);
    log_numbers[log_count++] = s->number;
    pthread_mutex_unlock(&log_lock);
    s->stopped = worker->stopping;
    atomic_fetch_sub(&inside, 1);
    if (--s->parts > 0) {
        srv_pool_again(worker->pool, work);
    }
}

static void reset(void)
{
    log_count = 0;
    atomic_store(&inside, 0);
    atomic_store(&most_inside, 0);
    atomic_store(&gate, false);
}

static step make_step(int number, const char *key, int parts)
{
    return (step){.work = {.run = run_step, .key = key}, .number = number, .parts = parts};
}

static void test_bound(void **state)
{
    (void)state;
    reset();
    srv_pool *pool = make_pool(1, 2);
    step steps[5];
    for (int i = 0; i < 5; i++) {
        steps[i] = make_step(i, NULL, 1);
    }
    size_t running = 0;
    assert_true(srv_pool_submit(pool, &steps[0].work));
    while (srv_pool_depth(pool, &running) > 0 || running == 0) {
        usleep(200);
    }
    assert_true(srv_pool_submit(pool, &steps[1].work));
    assert_true(srv_pool_submit(pool, &steps[2].work));
    assert_false(srv_pool_submit(pool, &steps[3].work)); // two wait already
    srv_pool_again(pool, &steps[4].work);                // never refused
    atomic_store(&gate, true);
    wait_idle(pool);
    assert_int_equal(log_count, 4);
    assert_int_equal(log_numbers[0], 0);
    assert_int_equal(log_numbers[1], 1);
    assert_int_equal(log_numbers[2], 2);
    assert_int_equal(log_numbers[3], 4);
    srv_pool_destroy(pool);
}

static void test_parts_go_behind_others(void **state)
{
    (void)state;
    reset();
    srv_pool *pool = make_pool(1, 8);
    step longer = make_step(1, NULL, 3), shorter = make_step(2, NULL, 1);
    assert_true(srv_pool_submit(pool, &longer.work));
    assert_true(srv_pool_submit(pool, &shorter.work));
    atomic_store(&gate, true);
    wait_idle(pool);
    const int expected[] = {1, 2, 1, 1};
    assert_int_equal(log_count, 4);
    assert_memory_equal(log_numbers, expected, sizeof expected);
    srv_pool_destroy(pool);
}

static void test_keys(void **state)
{
    (void)state;
    reset();
    srv_pool *pool = make_pool(4, 64);
    step steps[30];
    for (int i = 0; i < 30; i++) {
        steps[i] = make_step(i, i % 2 ? "odd" : "even", 1);
        assert_true(srv_pool_submit(pool, &steps[i].work));
    }
    while (atomic_load(&inside) < 2) {
        usleep(200);
    }
    usleep(20000);
    assert_int_equal(atomic_load(&inside), 2); // one for each key, though four threads are free
    atomic_store(&gate, true);
    wait_idle(pool);
    assert_int_equal(log_count, 30);
    assert_int_equal(atomic_load(&most_inside), 2);
    int last[2] = {-1, -1};
    for (int i = 0; i < 30; i++) {
        assert_true(log_numbers[i] > last[log_numbers[i] % 2]); // in order within each key
        last[log_numbers[i] % 2] = log_numbers[i];
    }
    srv_pool_destroy(pool);
}

static void *open_gate(void *arg)
{
    (void)arg;
    usleep(200000); // by then the pool is being destroyed
    atomic_store(&gate, true);
    return NULL;
}

static void test_end(void **state)
{
    (void)state;
    reset();
    srv_pool *pool = make_pool(2, 8);
    step steps[6];
    for (int i = 0; i < 6; i++) {
        steps[i] = make_step(i, i < 4 ? "key" : NULL, i == 0 ? 2 : 1);
        assert_true(srv_pool_submit(pool, &steps[i].work));
    }
    pthread_t opener;
    while (atomic_load(&inside) < 2) { // one of the key, one without
        usleep(200);
    }
    assert_int_equal(pthread_create(&opener, NULL, open_gate, NULL), 0);
    srv_pool_destroy(pool); // everything runs, what had not begun as stopping
    pthread_join(opener, NULL);
    assert_int_equal(log_count, 7);
    int stopped = 0;
    for (int i = 0; i < 6; i++) {
        stopped += steps[i].stopped;
    }
    assert_int_equal(stopped, 5); // all but the one without a key that was under way; the rest of 0 too
}

static api_mesh *make_mesh(void)
{
    static const char text[] = "{\"vertices\":[[0,0,0],[0,0,1],[1,0,1],[1,0,0]],\"polygons\":[[0,1,2,3]]}";
    api_problem problem;
    api_mesh_source source = {.bytes = text, .size = sizeof text - 1};
    api_mesh *mesh = api_mesh_load(&source, &problem);
    assert_non_null(mesh);
    return mesh;
}

static atomic_int disposed;

static bool dispose(void *ctx, api_mesh *mesh)
{
    (void)ctx;
    atomic_fetch_add(&disposed, 1);
    api_mesh_destroy(mesh);
    return true;
}

static void test_registry_entries(void **state)
{
    (void)state;
    srv_registry *registry = srv_registry_create();
    api_mesh_entry entries[4];
    bool created;
    assert_null(srv_registry_acquire(registry, "a"));
    assert_false(srv_registry_entry(registry, "a", entries));
    assert_true(srv_registry_loading(registry, "b", "b.obj"));
    assert_true(srv_registry_entry(registry, "b", entries));
    assert_int_equal(entries[0].state, API_MESH_LOADING);
    assert_string_equal(entries[0].source, "b.obj");
    srv_registry_cancelled(registry, "b"); // its file changed while it was read
    assert_true(srv_registry_entry(registry, "b", entries));
    assert_int_equal(entries[0].state, API_MESH_LOADING);
    api_problem problem;
    api_problem_set(&problem, API_BAD_MESH, "line 3");
    srv_registry_fail(registry, "b", "b.obj", &problem);
    assert_true(srv_registry_entry(registry, "b", entries));
    assert_int_equal(entries[0].state, API_MESH_FAILED);
    assert_string_equal(entries[0].error_code, "bad_mesh");
    assert_string_equal(entries[0].error_detail, "line 3");
    assert_true(srv_registry_publish(registry, "b", make_mesh(), "b.obj", 1, &created));
    assert_true(created);
    assert_true(srv_registry_publish(registry, "a", make_mesh(), SRV_SOURCE_UPLOAD, 1, &created));
    srv_registry_fail(registry, "b", "b.obj", &problem);
    assert_int_equal(srv_registry_entries(registry, 0, entries, 4), 2);
    assert_string_equal(entries[0].id, "a");
    assert_string_equal(entries[1].id, "b");
    assert_int_equal(entries[1].state, API_MESH_READY); // it serves on
    assert_true(entries[1].has_error);
    assert_true(entries[0].mesh->revision > entries[1].mesh->revision);
    srv_registry_release(registry, entries[0].mesh);
    srv_registry_release(registry, entries[1].mesh);
    assert_int_equal(srv_registry_entries(registry, 1, entries, 1), 2);
    assert_string_equal(entries[0].id, "b");
    srv_registry_release(registry, entries[0].mesh);
    srv_mesh_stats stats[2];
    assert_int_equal(srv_registry_stats(registry, 0, stats, 2), 2);
    assert_int_equal(stats[1].reloads, 1);
    assert_int_equal(stats[1].failures, 2);
    assert_int_equal(stats[1].polygons, 1);
    assert_true(stats[1].failed);
    assert_true(srv_registry_remove(registry, "b"));
    assert_false(srv_registry_remove(registry, "b"));
    srv_registry_destroy(registry);
}

static void test_registry_frees_with_the_last_reader(void **state)
{
    (void)state;
    srv_registry *registry = srv_registry_create();
    atomic_store(&disposed, 0);
    srv_registry_set_dispose(registry, dispose, NULL);
    bool created;
    assert_true(srv_registry_publish(registry, "a", make_mesh(), "a", 0, &created));
    const api_mesh *first = srv_registry_acquire(registry, "a");
    assert_true(srv_registry_publish(registry, "a", make_mesh(), "a", 0, &created));
    assert_false(created);
    assert_int_equal(atomic_load(&disposed), 0);
    assert_string_equal(first->id, "a"); // still there
    srv_registry_release(registry, first);
    assert_int_equal(atomic_load(&disposed), 1);
    const api_mesh *second = srv_registry_acquire(registry, "a");
    assert_true(srv_registry_remove(registry, "a"));
    assert_int_equal(atomic_load(&disposed), 1);
    srv_registry_release(registry, second);
    assert_int_equal(atomic_load(&disposed), 2);
    srv_registry_release(registry, NULL);
    srv_registry_destroy(registry);
}

static atomic_bool readers_end;

static void *read_meshes(void *arg)
{
    srv_registry *registry = arg;
    uint64_t last = 0;
    while (!atomic_load(&readers_end)) {
        const api_mesh *mesh = srv_registry_acquire(registry, "a");
        if (mesh) {
            nav_mesh_info info;
            nav_mesh_get_info(mesh->nav, &info);
            if (info.polygons != 1 || mesh->revision < last) {
                return (void *)1; // freed under us, or an older one came back
            }
            last = mesh->revision;
            srv_registry_release(registry, mesh);
        }
    }
    return NULL;
}

static void test_registry_swaps_under_readers(void **state)
{
    (void)state;
    enum { READERS = 4, SWAPS = 300 };
    srv_registry *registry = srv_registry_create();
    pthread_t readers[READERS];
    atomic_store(&disposed, 0);
    atomic_store(&readers_end, false);
    srv_registry_set_dispose(registry, dispose, NULL);
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(pthread_create(&readers[i], NULL, read_meshes, registry), 0);
    }
    for (int i = 0; i < SWAPS; i++) {
        assert_true(srv_registry_publish(registry, "a", make_mesh(), "a", 0, NULL));
        if (i % 50 == 49) {
            srv_registry_remove(registry, "a");
        }
    }
    atomic_store(&readers_end, true);
    for (int i = 0; i < READERS; i++) {
        void *failed;
        pthread_join(readers[i], &failed);
        assert_null(failed);
    }
    srv_registry_destroy(registry);
    assert_int_equal(atomic_load(&disposed), SWAPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_parts_go_behind_others),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_registry_entries),
        cmocka_unit_test(test_registry_frees_with_the_last_reader),
        cmocka_unit_test(test_registry_swaps_under_readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
