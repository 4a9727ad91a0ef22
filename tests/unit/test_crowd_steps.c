/// Steps cut into parts: the same bytes however many threads run them; and on random meshes nobody leaves the
/// surface, whatever is done to the crowd.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nav_crowd.h"
#include "rng.h"
#include "scene.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>

enum { MOST_WORKERS = 8, AGENTS = 120 };
#define EVERYONE UINT64_MAX

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *b = bytes;
    for (size_t k = 0; k < size; k++) {
        hash = (hash ^ b[k]) * 1099511628211u; // FNV-1a
    }
    return hash;
}

static uint64_t hash_double(uint64_t hash, double value)
{
    return hash_bytes(hash, &value, sizeof value);
}

/// Of all that can be read of all agents.
static uint64_t hash_crowd(uint64_t hash, const nav_crowd *crowd)
{
    for (nav_crowd_id id = nav_crowd_next(crowd, 0); id; id = nav_crowd_next(crowd, id)) {
        nav_crowd_state s;
        nav_vec path[16];
        assert_true(nav_crowd_get(crowd, id, &s));
        uint64_t whole[] = {s.id, s.mode, s.polygon, s.has_target, s.chase.agent, s.link, s.changed_step};
        double numbers[] = {s.position.x, s.position.y, s.position.z, s.velocity.x, s.velocity.y, s.velocity.z,
                            s.yaw,        s.target.x,   s.target.y,   s.target.z,   s.remaining,  s.link_part};
        hash = hash_bytes(hash, whole, sizeof whole);
        hash = hash_bytes(hash, numbers, sizeof numbers);
        uint32_t count = nav_crowd_path(crowd, id, path, 16);
        for (uint32_t k = 0; k < count && k < 16; k++) {
            hash = hash_double(hash_double(hash_double(hash, path[k].x), path[k].y), path[k].z);
        }
    }
    return hash;
}

// ---- workers ---------------------------------------------------------------------------------------

typedef struct workers {
    pthread_t threads[MOST_WORKERS];
    nav_query *queries[MOST_WORKERS];
    nav_crowd *crowd;
    pthread_barrier_t begin, end;
    uint32_t count, phase, items;
    bool over;
} workers;

typedef struct worker {
    workers *all;
    uint32_t number;
} worker;

/// The worker's share of a phase, in small parts that those of the others lie between.
static void run_share(workers *w, uint32_t number)
{
    enum { PART = 7 };
    for (uint32_t first = number * PART; first < w->items; first += w->count * PART) {
        uint32_t count = w->items - first < PART ? w->items - first : PART;
        nav_crowd_step_part(w->crowd, w->phase, first, count, w->queries[number]);
    }
}

static void *run_worker(void *ctx)
{
    worker *own = ctx;
    workers *w = own->all;
    for (;;) {
        pthread_barrier_wait(&w->begin);
        if (w->over) {
            return NULL;
        }
        run_share(w, own->number);
        pthread_barrier_wait(&w->end);
    }
}

static void step_by_workers(workers *w, double dt)
{
    assert_int_equal(nav_crowd_step_begin(w->crowd, dt, &w->items), NAV_OK);
    for (w->phase = 0; w->phase < NAV_CROWD_PHASES; w->phase++) {
        pthread_barrier_wait(&w->begin);
        pthread_barrier_wait(&w->end);
    }
    nav_crowd_step_end(w->crowd);
}

// ---- a busy crowd ----------------------------------------------------------------------------------

/// A crowd that things happen to, by a sequence of random numbers.
typedef struct busy {
    scene s;
    nav_crowd *crowd;
    nav_crowd_id ids[AGENTS];
    rng r;
} busy;

static nav_vec random_place(busy *b)
{
    return random_point_position(&b->s.mesh, random_point(&b->s.mesh, &b->r));
}

static nav_crowd_agent random_agent(busy *b)
{
    nav_crowd_agent agent = nav_crowd_agent_default(b->s.nav);
    agent.radius = 0.1 + 0.4 * rng_unit(&b->r);
    agent.max_speed = 5 * rng_unit(&b->r);
    agent.max_acceleration = rng_chance(&b->r, 0.2) ? INFINITY : 1 + 10 * rng_unit(&b->r);
    agent.stopping_distance = rng_chance(&b->r, 0.5) ? 0 : rng_unit(&b->r);
    agent.avoidance = rng_chance(&b->r, 0.1) ? NAV_AVOIDANCE_NONE : NAV_AVOIDANCE_ORCA;
    agent.filter.exclude = rng_chance(&b->r, 0.2) && b->s.mesh.has_flags ? 2 : 0;
    return agent;
}

static void begin(busy *b, uint64_t seed, unsigned variant)
{
    assert_true(scene_make(&b->s, (random_kind)(seed % RANDOM_KIND_COUNT), seed, variant, NULL));
    b->r = rng_seeded(seed + 5);
    nav_crowd_options options = nav_crowd_options_default();
    options.max_searches = 40;
    assert_int_equal(nav_crowd_create(&options, b->s.nav, NULL, &b->crowd), NAV_OK);
    for (int k = 0; k < AGENTS; k++) {
        nav_crowd_agent agent = random_agent(b);
        assert_int_equal(nav_crowd_add(b->crowd, &agent, random_place(b), &b->ids[k]), NAV_OK);
    }
}

static void finish(busy *b)
{
    nav_crowd_destroy(b->crowd);
    scene_destroy(&b->s);
}

/// One of the things that callers do. @return the agent that may be anywhere now; 0: none; EVERYONE
static nav_crowd_id meddle(busy *b)
{
    uint32_t k = rng_below(&b->r, AGENTS), what = rng_below(&b->r, 20);
    nav_crowd_id *id = &b->ids[k];
    if (what < 12) {
        assert_int_equal(nav_crowd_set_target(b->crowd, *id, random_place(b)), NAV_OK);
    } else if (what < 15) {
        uint32_t prey = (k + 1 + rng_below(&b->r, AGENTS - 1)) % AGENTS;
        nav_crowd_chase chase = {b->ids[prey], rng_unit(&b->r), 3 * rng_unit(&b->r)};
        assert_int_equal(nav_crowd_set_chase(b->crowd, *id, &chase), NAV_OK);
    } else if (what == 15) {
        assert_int_equal(nav_crowd_clear_target(b->crowd, *id), NAV_OK);
    } else if (what == 16) {
        nav_crowd_agent agent = random_agent(b);
        assert_int_equal(nav_crowd_set_agent(b->crowd, *id, &agent), NAV_OK);
    } else if (what == 17) {
        assert_int_equal(nav_crowd_set_position(b->crowd, *id, random_place(b)), NAV_OK);
        return *id;
    } else if (what == 18) {
        nav_crowd_agent agent = random_agent(b);
        assert_true(nav_crowd_remove(b->crowd, *id));
        assert_int_equal(nav_crowd_add(b->crowd, &agent, random_place(b), id), NAV_OK);
        return *id;
    } else if (rng_chance(&b->r, 0.1)) {
        nav_crowd_set_mesh(b->crowd, b->s.nav); // who stands on ground that its filter closes is put beside it
        return EVERYONE;
    }
    return 0;
}

// ---- the same for every number of workers ----------------------------------------------------------

/// @param workers  0: by nav_crowd_step
static uint64_t run_busy(uint32_t count, int steps, uint64_t seed)
{
    busy b;
    begin(&b, seed, SCENE_FLAGS);
    workers w = {.crowd = b.crowd, .count = count};
    worker own[MOST_WORKERS];
    nav_query *query = nav_query_create(NULL);
    pthread_barrier_init(&w.begin, NULL, count + 1);
    pthread_barrier_init(&w.end, NULL, count + 1);
    for (uint32_t k = 0; k < count; k++) {
        own[k] = (worker){&w, k};
        w.queries[k] = nav_query_create(NULL);
        assert_int_equal(pthread_create(&w.threads[k], NULL, run_worker, &own[k]), 0);
    }
    uint64_t hash = 14695981039346656037u;
    for (int k = 0; k < steps; k++) {
        for (int j = 0; j < 3; j++) {
            meddle(&b);
        }
        if (count > 0) {
            step_by_workers(&w, 0.05);
        } else {
            assert_int_equal(nav_crowd_step(b.crowd, 0.05, query), NAV_OK);
        }
        hash = hash_crowd(hash, b.crowd);
    }
    w.over = true;
    pthread_barrier_wait(&w.begin);
    for (uint32_t k = 0; k < count; k++) {
        pthread_join(w.threads[k], NULL);
        nav_query_destroy(w.queries[k]);
    }
    pthread_barrier_destroy(&w.begin);
    pthread_barrier_destroy(&w.end);
    nav_query_destroy(query);
    finish(&b);
    return hash;
}

/// The numbers printed are the same under the sanitizers, which build with other optimizations.
static void the_same_for_any_number_of_workers(void **unused)
{
    (void)unused;
    for (uint64_t seed = RANDOM_GRID; seed < RANDOM_KIND_COUNT; seed += 2) {
        uint64_t alone = run_busy(0, 1000, seed);
        print_message("crowd %d: 0x%016" PRIx64 "\n", (int)seed, alone);
        assert_true(run_busy(1, 1000, seed) == alone);
        assert_true(run_busy(2, 1000, seed) == alone);
        assert_true(run_busy(8, 1000, seed) == alone);
    }
}

// ---- on the surface --------------------------------------------------------------------------------

/// Each stands on the surface, at its height, on a polygon that is there, and went no faster than it may.
static void check_places(busy *b, nav_query *query, double dt, nav_vec *before, const nav_crowd_id *moved,
                         uint32_t moved_count)
{
    for (int k = 0; k < AGENTS; k++) {
        nav_crowd_state s;
        nav_crowd_agent agent;
        assert_true(nav_crowd_get(b->crowd, b->ids[k], &s));
        assert_int_equal(nav_crowd_get_agent(b->crowd, b->ids[k], &agent), NAV_OK);
        double way = hypot(s.position.x - before[k].x, s.position.z - before[k].z);
        bool was_moved = s.mode == NAV_CROWD_OFF_MESH;
        for (uint32_t j = 0; j < moved_count; j++) {
            was_moved = was_moved || moved[j] == b->ids[k] || moved[j] == EVERYONE;
        }
        before[k] = s.position;
        if (s.mode == NAV_CROWD_OFF_MESH) {
            continue;
        }
        double slack = 1e-5 + 4 * b->s.rounding;
        nav_snap snap = nav_snap_default();
        snap.half_extents = (nav_vec){slack, slack, slack};
        nav_place place;
        if (!nav_query_nearest(query, b->s.nav, s.position, &snap, &place) || s.polygon >= b->s.mesh.poly_count ||
            (!was_moved && way > agent.max_speed * dt + slack)) {
            print_error("%s: agent %d at (%.9g %.9g %.9g), polygon %u, mode %s, way %g of %g\n", scene_name(&b->s), k,
                        s.position.x, s.position.y, s.position.z, s.polygon, nav_crowd_mode_text(s.mode), way,
                        agent.max_speed * dt);
            fail();
        }
    }
}

static void nobody_leaves_the_surface(void **unused)
{
    (void)unused;
    nav_query *query = nav_query_create(NULL);
    for (uint64_t seed = 0; seed < 64; seed++) {
        busy b;
        nav_vec before[AGENTS];
        begin(&b, seed + 100, (unsigned)(seed / 4 % SCENE_VARIANTS));
        for (int k = 0; k < AGENTS; k++) {
            nav_crowd_state s;
            assert_true(nav_crowd_get(b.crowd, b.ids[k], &s));
            before[k] = s.position;
        }
        for (int k = 0; k < 40; k++) {
            nav_crowd_id moved[8];
            double dt = rng_chance(&b.r, 0.1) ? 1 : 0.05;
            for (int j = 0; j < 8; j++) {
                moved[j] = meddle(&b);
            }
            assert_int_equal(nav_crowd_step(b.crowd, dt, query), NAV_OK);
            check_places(&b, query, dt, before, moved, 8);
        }
        finish(&b);
    }
    nav_query_destroy(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_for_any_number_of_workers),
        cmocka_unit_test(nobody_leaves_the_surface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
