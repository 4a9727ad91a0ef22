/// The crowd's calls, and agents that are alone: routes, speeds, arrival, links, other meshes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nav_crowd.h"
#include "small_mesh.h"

#include <math.h>

static const double INSTANTLY = 1e9; ///< acceleration

typedef struct world {
    small_mesh s;
    nav_crowd *crowd;
} world;

static void open_world(world *w)
{
    small_mesh_build(&w->s);
    nav_crowd_options options = nav_crowd_options_default();
    assert_int_equal(nav_crowd_create(&options, w->s.nav, NULL, &w->crowd), NAV_OK);
}

static void close_world(world *w)
{
    nav_crowd_destroy(w->crowd);
    small_mesh_finish(&w->s);
}

static nav_crowd_id add(world *w, double x, double z, double speed)
{
    nav_crowd_agent agent = nav_crowd_agent_default(w->s.nav);
    agent.max_speed = speed;
    agent.max_acceleration = INSTANTLY;
    nav_crowd_id id;
    assert_int_equal(nav_crowd_add(w->crowd, &agent, (nav_vec){x, 0, z}, &id), NAV_OK);
    assert_int_not_equal(id, 0);
    return id;
}

static nav_crowd_state state_of(const world *w, nav_crowd_id id)
{
    nav_crowd_state state;
    assert_true(nav_crowd_get(w->crowd, id, &state));
    return state;
}

static void step(world *w, double dt, int count)
{
    for (int k = 0; k < count; k++) {
        assert_int_equal(nav_crowd_step(w->crowd, dt, w->s.query), NAV_OK);
    }
}

static void assert_at(nav_vec p, double x, double z, double slack)
{
    if (!(fabs(p.x - x) <= slack && fabs(p.z - z) <= slack)) {
        print_error("at (%.17g %.17g), not (%.17g %.17g)\n", p.x, p.z, x, z);
        fail();
    }
}

static void walks_straight_and_arrives(void **unused)
{
    (void)unused;
    world w;
    small_mesh_start(&w.s);
    small_mesh_quad(&w.s, 0, 100, 0, 100, 0);
    open_world(&w);
    nav_crowd_id id = add(&w, 10, 10, 2);
    assert_int_equal(state_of(&w, id).mode, NAV_CROWD_IDLE);
    assert_int_equal(nav_crowd_set_target(w.crowd, id, (nav_vec){40, 0, 50}), NAV_OK);
    step(&w, 0.5, 10); // 10 of 50 units
    nav_crowd_state s = state_of(&w, id);
    assert_int_equal(s.mode, NAV_CROWD_MOVING);
    assert_at(s.position, 16, 18, 1e-5);
    assert_true(fabs(s.velocity.x - 1.2) < 1e-5 && fabs(s.velocity.z - 1.6) < 1e-5);
    assert_true(fabs(s.yaw - atan2(1.2, 1.6)) < 1e-5);
    assert_true(fabs(s.remaining - 40) < 1e-5);
    step(&w, 0.5, 41);
    s = state_of(&w, id);
    assert_int_equal(s.mode, NAV_CROWD_ARRIVED);
    assert_at(s.position, 40, 50, 0);
    step(&w, 0.5, 1);
    assert_true(state_of(&w, id).velocity.x == 0);
    close_world(&w);
}

/// A step in which it covers much more than the way left ends at the target, over corners too.
static void a_long_step_arrives(void **unused)
{
    (void)unused;
    world w;
    small_mesh_start(&w.s);
    small_mesh_quad(&w.s, 0, 10, 0, 2, 0);
    small_mesh_quad(&w.s, 8, 10, 2, 10, 0);
    open_world(&w);
    nav_crowd_id id = add(&w, 1, 1, 100);
    assert_int_equal(nav_crowd_set_target(w.crowd, id, (nav_vec){9, 0, 9}), NAV_OK);
    step(&w, 1, 1);
    nav_crowd_state s = state_of(&w, id);
    assert_int_equal(s.mode, NAV_CROWD_ARRIVED);
    assert_at(s.position, 9, 9, 0);
    for (int k = 0; k < 5; k++) {
        step(&w, 1, 1);
        assert_at(state_of(&w, id).position, 9, 9, 0);
    }
    close_world(&w);
}

/// 6 units before the corner and what is left after it.
static void goes_round_corners_at_full_speed(void **unused)
{
    (void)unused;
    world w;
    small_mesh_start(&w.s);
    small_mesh_quad(&w.s, 0, 10, 0, 2, 0);
    small_mesh_quad(&w.s, 8, 10, 2, 10, 0);
    open_world(&w);
    nav_crowd_id id = add(&w, 2, 2, 1);
    assert_int_equal(nav_crowd_set_target(w.crowd, id, (nav_vec){8, 0, 8}), NAV_OK);
    step(&w, 0.25, 26); // half a unit round the corner (8, 2)
    assert_at(state_of(&w, id).position, 8, 2.5, 1e-5);
    nav_vec path[2];
    assert_int_equal(nav_crowd_path(w.crowd, id, path, 2), 1);
    assert_at(path[0], 8, 8, 0);
    step(&w, 0.25, 22);
    assert_int_equal(state_of(&w, id).mode, NAV_CROWD_ARRIVED);
    close_world(&w);
}

static void a_fast_one_over_a_kilometre(void **unused)
{
    (void)unused;
    world w;
    small_mesh_start(&w.s);
    for (int k = 0; k < 11; k++) { // a zigzag: corners every 100 units
        small_mesh_quad(&w.s, 100 * k, 100 * (k + 1), 0, 10, 0);
    }
    open_world(&w);
    nav_crowd_id id = add(&w, 5, 5, 60);
    assert_int_equal(nav_crowd_set_target(w.crowd, id, (nav_vec){1005, 0, 5}), NAV_OK);
    double before = 5;
    for (int k = 0; k < 999; k++) {
        step(&w, 1.0 / 60, 1);
        nav_crowd_state s = state_of(&w, id);
        assert_int_equal(s.mode, NAV_CROWD_MOVING);
        assert_true(fabs(s.position.x - before - 1) < 1e-4 && s.position.z == 5);
        before = s.position.x;
    }
    step(&w, 1.0 / 60, 2);
    assert_int_equal(state_of(&w, id).mode, NAV_CROWD_ARRIVED);
    assert_at(state_of(&w, id).position, 1005, 5, 0);
    close_world(&w);
}

/// Sent anew in each step, the same and a little beside it: it loses no time.
static void a_target_sent_again_stalls_nothing(void **unused)
{
    (void)unused;
    world w;
    small_mesh_start(&w.s);
    small_mesh_quad(&w.s, 0, 10, 0, 2, 0);
    small_mesh_quad(&w.s, 8, 10, 2, 10, 0);
    open_world(&w);
    nav_crowd_id same = add(&w, 1, 1, 1), moving = add(&w, 1, 1.5, 1);
    nav_crowd_agent agent;
    for (int k = 0; k < 2; k++) { // they do not matter to each other
        assert_int_equal(nav_crowd_get_agent(w.crowd, k ? moving : same, &agent), NAV_OK);
        agent.avoidance = NAV_AVOIDANCE_NONE;
        assert_int_equal(nav_crowd_set_agent(w.crowd, k ? moving : same, &agent), NAV_OK);
    }
    for (int k = 0; k < 100; k++) {
        assert_int_equal(nav_crowd_set_target(w.crowd, same, (nav_vec){9, 0, 9}), NAV_OK);
        assert_int_equal(nav_crowd_set_target(w.crowd, moving, (nav_vec){9 + 1e-3 * k, 0, 9}), NAV_OK);
        step(&w, 0.1, 1);
        for (int j = 0; j < 2; j++) {
            nav_crowd_state s = state_of(&w, j ? moving : same);
            assert_int_equal(s.mode, NAV_CROWD_MOVING);
            assert_true(hypot(s.velocity.x, s.velocity.z) > 0.8); // the step round the corner is cut short
        }
    }
    double length = hypot(7, 1) + hypot(1, 7);
    assert_true(fabs(state_of(&w, same).remaining - (length - 10)) < 1e-4);
    length = hypot(7, 0.5) + hypot(1.099, 7);
    assert_true(fabs(state_of(&w, moving).remaining - (length - 10)) < 1e-4);
    close_world(&w);
}

static void an_island_is_unreachable(void **unused)
{
    (void)unused;
    world w;
    small_mesh_start(&w.s);
    small_mesh_quad(&w.s, 0, 10, 0, 10, 0);
    small_mesh_quad(&w.s, 20, 30, 0, 10, 0);
    open_world(&w);
    nav_crowd_id id = add(&w, 2, 5, 2), off = add(&w, 2, 2, 2);
    assert_int_equal(nav_crowd_set_target(w.crowd, id, (nav_vec){25, 0, 5}), NAV_OK);
    assert_int_equal(nav_crowd_set_target(w.crowd, off, (nav_vec){15, 0, 5}), NAV_OK); // nothing is there
    step(&w, 0.1, 1);
    assert_int_equal(state_of(&w, id).mode, NAV_CROWD_UNREACHABLE);
    assert_true(state_of(&w, id).velocity.x > 1.9); // it goes as near as it can
    assert_int_equal(state_of(&w, off).mode, NAV_CROWD_UNREACHABLE);
    step(&w, 0.1, 60);
    assert_int_equal(state_of(&w, id).mode, NAV_CROWD_UNREACHABLE);
    assert_at(state_of(&w, id).position, 10, 5, 1e-6);
    assert_at(state_of(&w, off).position, 2, 2, 0);
    assert_int_equal(nav_crowd_set_target(w.crowd, id, (nav_vec){2, 0, 5}), NAV_OK);
    step(&w, 0.1, 45);
    assert_int_equal(state_of(&w, id).mode, NAV_CROWD_ARRIVED);
    close_world(&w);
}

static void a_link_leads_one_way(void **unused)
{
    (void)unused;
    world w;
    small_mesh_start(&w.s);
    small_mesh_quad(&w.s, 0, 10, 0, 10, 0);
    small_mesh_quad(&w.s, 20, 30, 0, 10, 3);
    nav_link link = {.id = "jump", .start = {9, 0, 5}, .end = {21, 3, 5}, .radius = 0.5, .cost = -1, .flags = 1};
    assert_int_equal(nav_soup_add_link(&w.s.soup, &link), NAV_OK);
    open_world(&w);
    nav_crowd_id there = add(&w, 5, 5, 2), back = add(&w, 29, 5, 2);
    nav_crowd_agent agent;
    assert_int_equal(nav_crowd_get_agent(w.crowd, there, &agent), NAV_OK);
    agent.link_speed = 5;
    assert_int_equal(nav_crowd_set_agent(w.crowd, there, &agent), NAV_OK);
    assert_int_equal(nav_crowd_set_target(w.crowd, there, (nav_vec){25, 3, 5}), NAV_OK);
    assert_int_equal(nav_crowd_set_target(w.crowd, back, (nav_vec){5, 0, 5}), NAV_OK);
    step(&w, 0.5, 4);
    assert_at(state_of(&w, there).position, 9, 5, 1e-5);
    assert_int_equal(state_of(&w, back).mode, NAV_CROWD_UNREACHABLE);
    double ride = hypot(12, 3);
    step(&w, 0.5, 1);
    nav_crowd_state s = state_of(&w, there);
    assert_int_equal(s.link, 0);
    assert_int_equal(s.polygon, NAV_NONE);
    assert_int_equal(s.mode, NAV_CROWD_MOVING);
    assert_true(fabs(s.link_part - 2.5 / ride) < 1e-5);
    assert_at(s.position, 9 + 12 * s.link_part, 5, 1e-5);
    assert_true(fabs(s.position.y - 3 * s.link_part) < 1e-5);
    // 4 units at speed 2, the ride at 5, 4 units at 2.
    int steps = (int)ceil((2 + ride / 5 + 2) / 0.5);
    step(&w, 0.5, steps - 5);
    s = state_of(&w, there);
    assert_int_equal(s.mode, NAV_CROWD_ARRIVED);
    assert_at(s.position, 25, 5, 1e-6);
    assert_true(s.position.y == 3 && s.link == NAV_NONE);
    close_world(&w);
}

/// The speed changes by no more than the acceleration allows, and it stops where it is to stop.
static void speeds_up_and_brakes(void **unused)
{
    (void)unused;
    world w;
    small_mesh_start(&w.s);
    small_mesh_quad(&w.s, 0, 100, 0, 10, 0);
    open_world(&w);
    nav_crowd_agent agent = nav_crowd_agent_default(w.s.nav);
    agent.max_speed = 5;
    agent.max_acceleration = 2;
    agent.stopping_distance = 1.5;
    nav_crowd_id id;
    assert_int_equal(nav_crowd_add(w.crowd, &agent, (nav_vec){5, 0, 5}, &id), NAV_OK);
    assert_int_equal(nav_crowd_set_target(w.crowd, id, (nav_vec){45, 0, 5}), NAV_OK);
    double speed = 0, dt = 0.05, top = 0;
    for (int k = 0; k < 400 && state_of(&w, id).mode != NAV_CROWD_ARRIVED; k++) {
        step(&w, dt, 1);
        double now = state_of(&w, id).velocity.x;
        assert_true(fabs(now - speed) <= 2 * dt + 1e-4);
        speed = now;
        top = fmax(top, now);
    }
    assert_true(fabs(top - 5) < 1e-5);
    assert_at(state_of(&w, id).position, 43.5, 5, 2e-5);
    close_world(&w);
}

static void heights_are_true(void **unused)
{
    (void)unused;
    world w;
    small_mesh_start(&w.s);
    small_mesh_quad(&w.s, 0, 10, 0, 10, 0);
    small_mesh_ramp(&w.s, 10, 20, 0, 10, 0, 5);
    small_mesh_quad(&w.s, 20, 30, 0, 10, 5);
    open_world(&w);
    nav_crowd_id id = add(&w, 5, 5, 1);
    assert_int_equal(nav_crowd_set_target(w.crowd, id, (nav_vec){25, 5, 7}), NAV_OK);
    for (int k = 0; k < 200; k++) {
        step(&w, 0.1, 1);
        nav_crowd_state s = state_of(&w, id);
        double height = s.position.x < 10 ? 0 : s.position.x > 20 ? 5 : (s.position.x - 10) / 2;
        assert_true(fabs(s.position.y - height) < 1e-5);
    }
    close_world(&w);
}

static void filters_close_ground(void **unused)
{
    (void)unused;
    world w;
    small_mesh_start(&w.s);
    small_mesh_quad(&w.s, 0, 10, 0, 10, 0);
    small_mesh_quad(&w.s, 10, 20, 0, 10, 0);
    w.s.soup.has_flags = true;
    w.s.soup.flags[1] = 2;
    open_world(&w);
    nav_crowd_id id = add(&w, 5, 5, 5);
    nav_crowd_agent agent;
    assert_int_equal(nav_crowd_get_agent(w.crowd, id, &agent), NAV_OK);
    agent.filter.exclude = 2;
    assert_int_equal(nav_crowd_set_agent(w.crowd, id, &agent), NAV_OK);
    assert_int_equal(nav_crowd_set_target(w.crowd, id, (nav_vec){15, 0, 5}), NAV_OK);
    step(&w, 0.1, 50);
    assert_int_equal(state_of(&w, id).mode, NAV_CROWD_UNREACHABLE);
    assert_true(state_of(&w, id).position.x <= 10);
    agent.filter.exclude = 0;
    assert_int_equal(nav_crowd_set_agent(w.crowd, id, &agent), NAV_OK);
    step(&w, 0.1, 50);
    assert_int_equal(state_of(&w, id).mode, NAV_CROWD_ARRIVED);
    close_world(&w);
}

// ---- chases ----------------------------------------------------------------------------------------

/// A square with a square pillar in its middle, x and z from 8 to 12.
static void pillar(world *w)
{
    small_mesh_start(&w->s);
    small_mesh_quad(&w->s, 0, 20, 0, 8, 0);
    small_mesh_quad(&w->s, 0, 8, 8, 12, 0);
    small_mesh_quad(&w->s, 12, 20, 8, 12, 0);
    small_mesh_quad(&w->s, 0, 20, 12, 20, 0);
    open_world(w);
}

static void chases_round_a_pillar(void **unused)
{
    (void)unused;
    world w;
    pillar(&w);
    nav_crowd_id prey = add(&w, 10, 14, 3), hunter = add(&w, 10, 4, 4);
    nav_crowd_chase chase = {.agent = prey, .repath = 0.5, .attack_range = 2};
    assert_int_equal(nav_crowd_set_chase(w.crowd, hunter, &chase), NAV_OK);
    static const double corners[4][2] = {{6, 14}, {6, 6}, {14, 6}, {14, 14}};
    int attacked = -1, at = 0, chasing = 0;
    for (int k = 0; k < 1200; k++) {
        if (state_of(&w, prey).mode != NAV_CROWD_MOVING && attacked < 0) { // round and round
            nav_vec to = {corners[at][0], 0, corners[at][1]};
            assert_int_equal(nav_crowd_set_target(w.crowd, prey, to), NAV_OK);
            at = (at + 1) % 4;
        }
        step(&w, 0.05, 1);
        nav_crowd_state h = state_of(&w, hunter), p = state_of(&w, prey);
        double apart = hypot(h.position.x - p.position.x, h.position.z - p.position.z);
        assert_true(h.mode == NAV_CROWD_CHASING || h.mode == NAV_CROWD_ATTACKING);
        if (h.mode == NAV_CROWD_ATTACKING) {
            // It looked before both moved.
            assert_true(apart <= 2 + 0.05 * 3 + 1e-6);
            assert_true(h.velocity.x == 0 && h.velocity.z == 0);
            attacked = attacked < 0 ? k : attacked;
        } else {
            chasing++;
        }
        if (attacked >= 0 && k == attacked + 20) { // away again: it is chased again
            assert_int_equal(nav_crowd_set_position(w.crowd, prey, (nav_vec){10, 0, 18}), NAV_OK);
            assert_int_equal(nav_crowd_clear_target(w.crowd, prey), NAV_OK);
        }
        if (attacked >= 0 && k > attacked + 200) {
            break;
        }
    }
    assert_true(attacked > 0 && chasing > 0);
    assert_int_equal(state_of(&w, hunter).mode, NAV_CROWD_ATTACKING);
    assert_true(nav_crowd_remove(w.crowd, prey));
    step(&w, 0.05, 1);
    assert_int_equal(state_of(&w, hunter).mode, NAV_CROWD_IDLE);
    assert_true(state_of(&w, hunter).chase.agent == 0 && !state_of(&w, hunter).has_target);
    close_world(&w);
}

/// Through the pillar nobody is attacked, however near.
static void a_wall_stops_an_attack(void **unused)
{
    (void)unused;
    world w;
    pillar(&w);
    nav_crowd_id prey = add(&w, 10, 12.5, 3), hunter = add(&w, 10, 7.5, 0);
    nav_crowd_chase chase = {.agent = prey, .repath = 0.5, .attack_range = 6};
    assert_int_equal(nav_crowd_set_chase(w.crowd, hunter, &chase), NAV_OK);
    step(&w, 0.05, 20);
    assert_int_equal(state_of(&w, hunter).mode, NAV_CROWD_CHASING);
    assert_int_equal(nav_crowd_set_position(w.crowd, prey, (nav_vec){13, 0, 7.5}), NAV_OK);
    step(&w, 0.05, 1);
    assert_int_equal(state_of(&w, hunter).mode, NAV_CROWD_ATTACKING);
    assert_true(fabs(state_of(&w, hunter).yaw - acos(0)) < 1e-5); // it looks along x, to its prey
    close_world(&w);
}

// ---- the calls -------------------------------------------------------------------------------------

static void numbers_and_order(void **unused)
{
    (void)unused;
    world w;
    small_mesh_start(&w.s);
    small_mesh_quad(&w.s, 0, 100, 0, 100, 0);
    open_world(&w);
    nav_crowd_id ids[200];
    for (int k = 0; k < 200; k++) {
        ids[k] = add(&w, 2 + k % 10 * 5, 2 + k / 10 * 4.5, 1);
    }
    for (int k = 0; k < 200; k += 3) {
        assert_true(nav_crowd_remove(w.crowd, ids[k]));
        assert_false(nav_crowd_remove(w.crowd, ids[k]));
        assert_false(nav_crowd_has(w.crowd, ids[k]));
        nav_crowd_id again = add(&w, 2 + k % 10 * 5, 2 + k / 10 * 4.5, 1); // in the same place of the crowd
        assert_true(again != ids[k]);
        assert_true(nav_crowd_remove(w.crowd, again));
    }
    nav_crowd_id last = add(&w, 1, 1, 1), at = 0;
    for (int k = 0; k < 200; k++) {
        if (k % 3 != 0) {
            at = nav_crowd_next(w.crowd, at);
            assert_true(at == ids[k]);
        }
    }
    at = nav_crowd_next(w.crowd, at);
    assert_true(at == last && nav_crowd_next(w.crowd, at) == 0 && nav_crowd_next(w.crowd, ids[0]) == 0);
    assert_int_equal(nav_crowd_count(w.crowd), 134);
    assert_int_equal(nav_crowd_set_target(w.crowd, ids[0], (nav_vec){5, 0, 5}), NAV_BAD_ARGUMENT);
    nav_crowd_state state;
    assert_false(nav_crowd_get(w.crowd, ids[0], &state));
    close_world(&w);
}

static void bad_arguments_change_nothing(void **unused)
{
    (void)unused;
    world w;
    small_mesh_start(&w.s);
    small_mesh_quad(&w.s, 0, 10, 0, 10, 0);
    open_world(&w);
    nav_crowd_id id, other = add(&w, 5, 5, 1);
    nav_crowd_agent good = nav_crowd_agent_default(w.s.nav), bad[6];
    for (int k = 0; k < 6; k++) {
        bad[k] = good;
    }
    bad[0].radius = 0;
    bad[1].height = -1;
    bad[2].max_speed = NAN;
    bad[3].max_acceleration = 0;
    bad[4].stopping_distance = INFINITY;
    bad[5].snap.y = -1;
    for (int k = 0; k < 6; k++) {
        assert_int_equal(nav_crowd_add(w.crowd, &bad[k], (nav_vec){1, 0, 1}, &id), NAV_BAD_ARGUMENT);
        assert_int_equal(id, 0);
        assert_int_equal(nav_crowd_set_agent(w.crowd, other, &bad[k]), NAV_BAD_ARGUMENT);
    }
    assert_int_equal(nav_crowd_add(w.crowd, &good, (nav_vec){NAN, 0, 1}, &id), NAV_BAD_ARGUMENT);
    assert_int_equal(nav_crowd_set_target(w.crowd, other, (nav_vec){INFINITY, 0, 1}), NAV_BAD_ARGUMENT);
    nav_crowd_chase chase = nav_crowd_chase_default();
    assert_int_equal(nav_crowd_set_chase(w.crowd, other, &chase), NAV_BAD_ARGUMENT);
    chase.agent = other; // itself
    assert_int_equal(nav_crowd_set_chase(w.crowd, other, &chase), NAV_BAD_ARGUMENT);
    assert_int_equal(nav_crowd_step(w.crowd, 0, w.s.query), NAV_BAD_ARGUMENT);
    assert_int_equal(nav_crowd_step(w.crowd, NAN, w.s.query), NAV_BAD_ARGUMENT);
    assert_int_equal(nav_crowd_steps(w.crowd), 0);
    assert_int_equal(nav_crowd_count(w.crowd), 1);
    assert_int_equal(state_of(&w, other).mode, NAV_CROWD_IDLE);
    close_world(&w);
}

static void only_so_many(void **unused)
{
    (void)unused;
    world w;
    small_mesh_start(&w.s);
    small_mesh_quad(&w.s, 0, 10, 0, 10, 0);
    small_mesh_build(&w.s);
    nav_crowd_options options = {.max_agents = 3};
    assert_int_equal(nav_crowd_create(&options, w.s.nav, NULL, &w.crowd), NAV_OK);
    nav_crowd_agent agent = nav_crowd_agent_default(w.s.nav);
    nav_crowd_id id, first = add(&w, 1, 1, 1);
    add(&w, 3, 3, 1);
    add(&w, 5, 5, 1);
    assert_int_equal(nav_crowd_add(w.crowd, &agent, (nav_vec){7, 0, 7}, &id), NAV_TOO_LARGE);
    assert_true(nav_crowd_remove(w.crowd, first));
    add(&w, 7, 7, 1);
    close_world(&w);
}

/// Of thirty that want a path five get one in each step, in the order in which they came.
static void searches_are_shared_out(void **unused)
{
    (void)unused;
    world w;
    small_mesh_start(&w.s);
    small_mesh_quad(&w.s, 0, 100, 0, 100, 0);
    small_mesh_build(&w.s);
    nav_crowd_options options = {.max_agents = 30, .max_searches = 5};
    assert_int_equal(nav_crowd_create(&options, w.s.nav, NULL, &w.crowd), NAV_OK);
    nav_crowd_id ids[30];
    for (int k = 0; k < 30; k++) {
        ids[k] = add(&w, 10, 5 + 3 * k, 1);
        assert_int_equal(nav_crowd_set_target(w.crowd, ids[k], (nav_vec){90, 0, 5 + 3 * k}), NAV_OK);
    }
    for (int k = 0; k < 30; k += 5) {
        step(&w, 0.1, 1);
        for (int j = 0; j < 30; j++) {
            assert_true((state_of(&w, ids[j]).velocity.x > 0) == (j < k + 5));
            assert_int_equal(state_of(&w, ids[j]).mode, NAV_CROWD_MOVING);
        }
    }
    close_world(&w);
}

/// What changed is told by the step, and what stands still is not told again.
static void changes_are_told(void **unused)
{
    (void)unused;
    world w;
    small_mesh_start(&w.s);
    small_mesh_quad(&w.s, 0, 100, 0, 100, 0);
    open_world(&w);
    nav_crowd_id walker = add(&w, 10, 10, 1), stander = add(&w, 50, 50, 1);
    assert_int_equal(state_of(&w, walker).changed_step, 1);
    step(&w, 0.5, 3);
    assert_int_equal(state_of(&w, walker).changed_step, 1);
    assert_int_equal(nav_crowd_set_target(w.crowd, walker, (nav_vec){12, 0, 10}), NAV_OK);
    assert_int_equal(state_of(&w, walker).changed_step, 4);
    step(&w, 0.5, 10);
    // 2 units take four steps, the last of which arrives; the fifth tells that the velocity is 0.
    assert_int_equal(state_of(&w, walker).changed_step, 8);
    assert_int_equal(state_of(&w, stander).changed_step, 1);
    close_world(&w);
}

static void goes_over_to_another_mesh(void **unused)
{
    (void)unused;
    world w;
    small_mesh_start(&w.s);
    small_mesh_quad(&w.s, 0, 40, 0, 10, 0);
    open_world(&w);
    nav_crowd_id walker = add(&w, 5, 5, 2), lost = add(&w, 35, 5, 2);
    assert_int_equal(nav_crowd_set_target(w.crowd, walker, (nav_vec){18, 0, 5}), NAV_OK);
    step(&w, 0.5, 5);
    small_mesh other; // half as long, a little lower, and elsewhere by its origin
    small_mesh_start(&other);
    small_mesh_quad(&other, -30, 20, 0, 10, -0.25);
    small_mesh_build(&other);
    nav_crowd_set_mesh(w.crowd, other.nav);
    assert_true(nav_crowd_mesh(w.crowd) == other.nav);
    assert_int_equal(state_of(&w, lost).mode, NAV_CROWD_OFF_MESH);
    assert_at(state_of(&w, lost).position, 35, 5, 0);
    nav_crowd_state s = state_of(&w, walker);
    assert_at(s.position, 10, 5, 1e-5);
    assert_true(fabs(s.position.y + 0.25) < 1e-6 && fabs(s.velocity.x - 2) < 1e-5);
    step(&w, 0.5, 9);
    assert_int_equal(state_of(&w, walker).mode, NAV_CROWD_ARRIVED);
    assert_at(state_of(&w, walker).position, 18, 5, 1e-5);
    assert_int_equal(state_of(&w, lost).mode, NAV_CROWD_OFF_MESH);
    nav_crowd_set_mesh(w.crowd, w.s.nav);
    step(&w, 0.5, 1);
    assert_int_equal(state_of(&w, lost).mode, NAV_CROWD_IDLE);
    assert_int_equal(state_of(&w, walker).mode, NAV_CROWD_ARRIVED);
    small_mesh_finish(&other);
    close_world(&w);
}

/// Whichever call for memory fails: it is told, and the crowd goes on.
static void memory_runs_out(void **unused)
{
    (void)unused;
    world w;
    small_mesh_start(&w.s);
    small_mesh_quad(&w.s, 0, 10, 0, 2, 0);
    small_mesh_quad(&w.s, 8, 10, 2, 10, 0);
    small_mesh_build(&w.s);
    double costs[256];
    for (int k = 0; k < 256; k++) {
        costs[k] = 1;
    }
    bool done = false;
    for (size_t refuse = 1; !done && refuse < 1000; refuse++) {
        test_alloc a;
        test_alloc_init(&a);
        a.refuse_from = refuse;
        nav_crowd_options options = nav_crowd_options_default();
        nav_status status = nav_crowd_create(&options, w.s.nav, &a.alloc, &w.crowd);
        if (status == NAV_NO_MEMORY) {
            continue;
        }
        nav_crowd_agent agent = nav_crowd_agent_default(w.s.nav);
        agent.filter.area_costs = costs;
        nav_crowd_id id;
        status = nav_crowd_add(w.crowd, &agent, (nav_vec){1, 0, 1}, &id);
        if (status == NAV_OK) {
            assert_int_equal(nav_crowd_set_target(w.crowd, id, (nav_vec){9, 0, 9}), NAV_OK);
            status = nav_crowd_step(w.crowd, 0.1, w.s.query);
        }
        done = status == NAV_OK;
        assert_true(done || status == NAV_NO_MEMORY);
        a.refuse_from = 0;
        if (id) { // and later there is some again
            for (int k = 0; k < 100; k++) {
                assert_int_equal(nav_crowd_step(w.crowd, 0.1, w.s.query), NAV_OK);
            }
            assert_int_equal(state_of(&w, id).mode, NAV_CROWD_ARRIVED);
        }
        nav_crowd_destroy(w.crowd);
    }
    assert_true(done);
    small_mesh_finish(&w.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_straight_and_arrives),
        cmocka_unit_test(a_long_step_arrives),
        cmocka_unit_test(goes_round_corners_at_full_speed),
        cmocka_unit_test(a_fast_one_over_a_kilometre),
        cmocka_unit_test(a_target_sent_again_stalls_nothing),
        cmocka_unit_test(an_island_is_unreachable),
        cmocka_unit_test(a_link_leads_one_way),
        cmocka_unit_test(speeds_up_and_brakes),
        cmocka_unit_test(heights_are_true),
        cmocka_unit_test(filters_close_ground),
        cmocka_unit_test(chases_round_a_pillar),
        cmocka_unit_test(a_wall_stops_an_attack),
        cmocka_unit_test(numbers_and_order),
        cmocka_unit_test(bad_arguments_change_nothing),
        cmocka_unit_test(only_so_many),
        cmocka_unit_test(searches_are_shared_out),
        cmocka_unit_test(changes_are_told),
        cmocka_unit_test(goes_over_to_another_mesh),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
