/// Many agents: they keep apart, get through, and those who cannot are told.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nav_crowd.h"
#include "small_mesh.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 256 };

typedef struct scene {
    small_mesh s;
    nav_crowd *crowd;
    nav_crowd_agent agent;
    nav_crowd_id ids[MOST];
    uint32_t count;
    double worst; ///< overlap of two so far, in radii
} scene;

static void begin(scene *c)
{
    *c = (scene){.count = 0};
    small_mesh_start(&c->s);
}

static void open_scene(scene *c)
{
    small_mesh_build(&c->s);
    nav_crowd_options options = nav_crowd_options_default();
    assert_int_equal(nav_crowd_create(&options, c->s.nav, NULL, &c->crowd), NAV_OK);
    c->agent = nav_crowd_agent_default(c->s.nav);
}

static void finish(scene *c)
{
    nav_crowd_destroy(c->crowd);
    small_mesh_finish(&c->s);
}

static nav_crowd_id add(scene *c, nav_vec from, nav_vec to)
{
    nav_crowd_id id;
    assert_int_equal(nav_crowd_add(c->crowd, &c->agent, from, &id), NAV_OK);
    assert_int_equal(nav_crowd_set_target(c->crowd, id, to), NAV_OK);
    c->ids[c->count++] = id;
    return id;
}

static nav_crowd_state state_of(const scene *c, uint32_t k)
{
    nav_crowd_state state;
    assert_true(nav_crowd_get(c->crowd, c->ids[k], &state));
    return state;
}

static uint32_t count_mode(const scene *c, nav_crowd_mode mode)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->count; k++) {
        n += state_of(c, k).mode == mode;
    }
    return n;
}

static void measure(scene *c)
{
    nav_vec p[MOST];
    for (uint32_t k = 0; k < c->count; k++) {
        p[k] = state_of(c, k).position;
        for (uint32_t j = 0; j < k; j++) {
            double apart = hypot(p[j].x - p[k].x, p[j].z - p[k].z);
            c->worst = fmax(c->worst, (2 * c->agent.radius - apart) / c->agent.radius);
        }
    }
}

/// Steps until everyone is in the mode. @return steps made, at most `most`
static int run(scene *c, double dt, int most, nav_crowd_mode until)
{
    int k = 0;
    for (; k < most && count_mode(c, until) < c->count; k++) {
        assert_int_equal(nav_crowd_step(c->crowd, dt, c->s.query), NAV_OK);
        measure(c);
    }
    return k;
}

static void hundred_swap_across_a_circle(void **unused)
{
    (void)unused;
    scene c;
    begin(&c);
    small_mesh_quad(&c.s, -60, 60, -60, 60, 0);
    open_scene(&c);
    for (int k = 0; k < 100; k++) {
        double angle = 2 * acos(-1.0) * k / 100, x = 40 * cos(angle), z = 40 * sin(angle);
        add(&c, (nav_vec){x, 0, z}, (nav_vec){-x, 0, -z});
    }
    int steps = run(&c, 0.05, 4000, NAV_CROWD_ARRIVED);
    print_message("%d steps, %u arrived, overlap %.3g\n", steps, count_mode(&c, NAV_CROWD_ARRIVED), c.worst);
    assert_int_equal(count_mode(&c, NAV_CROWD_ARRIVED), c.count);
    assert_true(c.worst <= 0.01);
    finish(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hundred_swap_across_a_circle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
