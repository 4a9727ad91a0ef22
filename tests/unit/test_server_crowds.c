/// Crowds: ticks that are due, late and skipped, and what becomes of agents when their mesh comes and goes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "server.h"

static srv_server server;
static api_context *context;
static api_agents_host host;
static atomic_int rearmed;
static atomic_bool gate;
static atomic_int held;

static void rearm(void *ctx)
{
    (void)ctx;
    atomic_fetch_add(&rearmed, 1);
}

static void publish(double tick_hz, double side)
{
    char text[160], params[32];
    snprintf(text, sizeof text, "{\"vertices\":[[0,0,0],[0,0,%g],[%g,0,%g],[%g,0,0]],\"polygons\":[[0,1,2,3]]}", side,
             side, side, side);
    snprintf(params, sizeof params, "tick_hz=%g", tick_hz);
    api_mesh_source source = {.bytes = text, .size = strlen(text), .params = params};
    api_problem problem = {0};
    api_mesh *mesh = api_mesh_load(&source, &problem);
    assert_non_null(mesh);
    assert_true(srv_registry_publish(server.registry, "m", mesh, "m.json", 0, NULL));
}

static void wait_idle(void)
{
    size_t running = 1;
    while (srv_pool_depth(server.workers, &running) + running > 0) {
        usleep(500);
    }
}

static int setup(void **state)
{
    (void)state;
    memset(&server, 0, sizeof server);
    atomic_store(&rearmed, 0);
    server.limits = api_limits_default();
    server.registry = srv_registry_create();
    srv_pool_options pool = {.name = "test", .threads = 2, .bound = 64, .host = &server.host, .limits = &server.limits};
    server.workers = srv_pool_create(&pool);
    srv_crowds_options options = {
        .registry = server.registry, .workers = server.workers, .worker_count = 2, .max_agents = 1000};
    server.crowds = srv_crowds_create(&options);
    assert_true(server.registry && server.workers && server.crowds);
    srv_registry_set_watch(server.registry, srv_crowds_mesh_changed, server.crowds);
    srv_crowds_set_rearm(server.crowds, rearm, NULL);
    srv_host_init(&server);
    host = server.host.agents;
    context = api_context_create(&server.host, &server.limits);
    assert_non_null(context);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    api_context_destroy(context);
    srv_crowds_stop(server.crowds);
    srv_pool_destroy(server.workers);
    srv_crowds_destroy(server.crowds);
    srv_registry_destroy(server.registry);
    return 0;
}

/// One call, on this thread. Nothing else is at work on the mesh's agents.
static void call(api_method method, const char *path, const char *body, int status)
{
    api_request request = {.method = method,
                           .path = path,
                           .body = body,
                           .body_bytes = strlen(body),
                           .request_id = "test",
                           .may_change = true,
                           .start_ns = srv_now_ns()};
    api_response response = {0};
    api_task *task = NULL;
    assert_int_equal(api_begin(context, &request, &response, &task), API_AGENTS);
    assert_int_equal(api_task_run(task, context, &response), API_DONE);
    assert_int_equal(response.status, status);
    api_buffer_free(&response.body);
}

static api_agents *add_agents(int count)
{
    for (int i = 0; i < count; i++) {
        call(API_POST, "/v1/meshes/m/agents", "{\"position\":[1,0,1],\"target\":[9,0,9]}", 201);
    }
    return host.get(&server, "m");
}

static api_agents_status status(void)
{
    api_agents_status s = {0};
    host.status(&server, "m", &s);
    return s;
}

static void hold(srv_work *work, srv_worker *worker)
{
    (void)work, (void)worker;
    atomic_fetch_add(&held, 1);
    while (!atomic_load(&gate)) {
        usleep(200);
    }
}

/// Keeps both workers busy until the gate is opened.
static void hold_workers(srv_work works[2])
{
    atomic_store(&gate, false);
    atomic_store(&held, 0);
    for (int i = 0; i < 2; i++) {
        works[i] = (srv_work){.run = hold};
        assert_true(srv_pool_submit(server.workers, &works[i]));
    }
    while (atomic_load(&held) < 2) {
        usleep(200);
    }
}

static void set_tick_hz(double hz)
{
    char body[32];
    snprintf(body, sizeof body, "{\"tick_hz\":%g}", hz);
    call(API_PATCH, "/v1/meshes/m/agents/settings", body, 200);
}

/// When the next tick is due, nothing being due now.
static uint64_t next_tick(void)
{
    uint64_t now = srv_now_ns();
    uint64_t next = srv_crowds_tick(server.crowds, now);
    assert_true(next > now);
    return next;
}

/// The clock ticks only where there are agents and a rate, and the loop is told when that begins.
static void test_when_it_ticks(void **state)
{
    (void)state;
    publish(0, 10);
    set_tick_hz(10);
    assert_true(next_tick() == UINT64_MAX); // nobody is there
    assert_int_equal(atomic_load(&rearmed), 0);
    add_agents(2);
    assert_int_equal(atomic_load(&rearmed), 1);
    assert_true(next_tick() != UINT64_MAX);
    set_tick_hz(20);
    assert_int_equal(atomic_load(&rearmed), 2);
    set_tick_hz(0);
    assert_true(next_tick() == UINT64_MAX);
    publish(5, 10);
    wait_idle();
    assert_true(next_tick() == UINT64_MAX); // the call's rate holds
    call(API_PATCH, "/v1/meshes/m/agents/settings", "{\"tick_hz\":null}", 200);
    assert_true(next_tick() != UINT64_MAX); // the mesh's
    assert_true(status().tick_hz == 5);
    publish(0, 10);
    wait_idle();
    assert_true(next_tick() == UINT64_MAX);
    publish(5, 10);
    wait_idle();
    srv_crowds_drain(server.crowds);
    assert_true(next_tick() == UINT64_MAX);
}

static void test_skipped_ticks(void **state)
{
    (void)state;
    publish(0, 10);
    add_agents(2);
    set_tick_hz(10);
    const uint64_t period = 100 * (uint64_t)SRV_NS_PER_MS;
    uint64_t first = next_tick();
    srv_work works[2];
    hold_workers(works);
    assert_true(srv_crowds_tick(server.crowds, first) == first + period); // waits for a worker
    assert_true(srv_crowds_tick(server.crowds, first + period - 1) == first + period);
    assert_int_equal(status().skipped, 0);
    assert_true(srv_crowds_tick(server.crowds, first + period) == first + 2 * period);
    assert_int_equal(status().skipped, 1);
    // The loop itself was late: the periods that have passed are lost, and the rate stays with the clock.
    assert_true(srv_crowds_tick(server.crowds, first + 5 * period + 7) == first + 6 * period);
    assert_int_equal(status().skipped, 5);
    atomic_store(&gate, true);
    wait_idle();
    assert_int_equal(status().ticks, 1);
    assert_true(nav_crowd_steps(api_agents_crowd(host.get(&server, "m"))) == 1);
    srv_crowds_tick(server.crowds, first + 6 * period);
    wait_idle();
    assert_int_equal(status().ticks, 2);
    assert_int_equal(status().skipped, 5);
    assert_int_equal(status().late, 0);
}

static void test_late_ticks(void **state)
{
    (void)state;
    publish(0, 10);
    add_agents(1);
    set_tick_hz(240);
    srv_work works[2];
    hold_workers(works);
    usleep(10000);
    srv_crowds_tick(server.crowds, srv_now_ns());
    usleep(20000);
    atomic_store(&gate, true);
    wait_idle();
    assert_int_equal(status().ticks, 1);
    assert_int_equal(status().late, 1);
}

static void test_mesh_revisions(void **state)
{
    (void)state;
    assert_null(host.get(&server, "m"));
    publish(0, 10);
    api_agents *agents = add_agents(1);
    uint64_t revision = api_agents_mesh(agents)->revision;
    publish(0, 0.5); // they stand beside it now
    wait_idle();
    assert_true(api_agents_mesh(agents)->revision > revision);
    nav_crowd_state s;
    nav_crowd *crowd = api_agents_crowd(agents);
    assert_true(nav_crowd_get(crowd, nav_crowd_next(crowd, 0), &s));
    assert_true(s.position.x <= 0.5);
    assert_true(srv_registry_remove(server.registry, "m"));
    wait_idle();
    assert_null(host.get(&server, "m"));
    publish(0, 10);
    assert_int_equal(nav_crowd_count(api_agents_crowd(host.get(&server, "m"))), 0);
}

/// Removed and put back while the work that sees to its end waits: the new mesh has no agents.
static void test_removed_and_put_back(void **state)
{
    (void)state;
    publish(0, 10);
    api_agents *agents = add_agents(3);
    api_buffer first = {0};
    api_problem problem = {0};
    api_buffer_add_text(&first, "first");
    api_agents_view view = {.fields = API_AGENT_STATE, .precision = -1};
    srv_reader *reader = host.subscribe(&server, "m", &view, &first, &problem);
    assert_non_null(reader);
    srv_work works[2];
    hold_workers(works);
    publish(0, 9);
    assert_true(srv_registry_remove(server.registry, "m"));
    publish(0, 8);
    api_agents *others = host.get(&server, "m");
    assert_ptr_not_equal(others, agents);
    assert_int_equal(nav_crowd_count(api_agents_crowd(others)), 0);
    atomic_store(&gate, true);
    wait_idle();
    const char *bytes;
    size_t size;
    bool over = false;
    assert_true(srv_reader_next(reader, &bytes, &size, &over) && size == 5);
    assert_true(srv_reader_next(reader, &bytes, &size, &over) && over);
    assert_non_null(strstr(bytes, "mesh_deleted"));
    srv_reader_close(reader);
    assert_ptr_equal(host.get(&server, "m"), others);
}

int main(void)
{
#define CROWDS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CROWDS_TEST(test_when_it_ticks),  CROWDS_TEST(test_skipped_ticks),        CROWDS_TEST(test_late_ticks),
        CROWDS_TEST(test_mesh_revisions), CROWDS_TEST(test_removed_and_put_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
