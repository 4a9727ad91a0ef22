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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_straight_and_arrives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
