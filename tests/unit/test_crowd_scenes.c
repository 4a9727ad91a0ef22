/// Many agents: they keep apart, get through, and those who cannot are told.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nav_crowd.h"
#include "small_mesh.h"

#include <math.h>

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

/// How many agents that have a target are in a mode.
static void expect_all(scene *c, nav_crowd_mode mode)
{
    uint32_t n = count_mode(c, mode);
    if (n != c->count) {
        print_error("%u of %u are %s\n", n, c->count, nav_crowd_mode_text(mode));
        fail();
    }
}

static void expect_apart(const scene *c)
{
    if (!(c->worst <= 0.01)) {
        print_error("two overlap by %.3g radii\n", c->worst);
        fail();
    }
}

/// All stand where they were sent, but for `slack`.
static void expect_there(scene *c, double slack)
{
    for (uint32_t k = 0; k < c->count; k++) {
        nav_crowd_state s = state_of(c, k);
        assert_true(hypot(s.position.x - s.target.x, s.position.z - s.target.z) <= slack);
    }
}

static void hundred_swap_across_a_circle(void **unused)
{
    (void)unused;
    for (int radius = 30; radius <= 50; radius += 20) {
        scene c;
        begin(&c);
        small_mesh_quad(&c.s, -60, 60, -60, 60, 0);
        open_scene(&c);
        for (int k = 0; k < 100; k++) {
            double angle = 2 * acos(-1.0) * k / 100, x = radius * cos(angle), z = radius * sin(angle);
            add(&c, (nav_vec){x, 0, z}, (nav_vec){-x, 0, -z});
        }
        run(&c, 0.05, 2000, NAV_CROWD_ARRIVED);
        expect_all(&c, NAV_CROWD_ARRIVED);
        expect_apart(&c);
        assert_int_equal(nav_crowd_step(c.crowd, 0.05, c.s.query), NAV_OK);
        run(&c, 0.05, 100, NAV_CROWD_MODE_COUNT); // whoever made way is back
        expect_there(&c, 1e-3);
        finish(&c);
    }
}

/// Two rooms, x below 0 and above 1, with a door between them.
static void rooms(scene *c, double door)
{
    begin(c);
    small_mesh_quad(&c->s, -30, 0, -15, 15, 0);
    small_mesh_quad(&c->s, 0, 1, -door / 2, door / 2, 0);
    small_mesh_quad(&c->s, 1, 31, -15, 15, 0);
    open_scene(c);
}

/// One behind the other and two abreast, both columns into the other room.
static void two_columns_through_a_door(void **unused)
{
    (void)unused;
    scene c;
    rooms(&c, 1.2); // of places for centres: one and a little
    for (int k = 0; k < 20; k++) {
        add(&c, (nav_vec){-3 - 1.2 * k, 0, 1}, (nav_vec){28 - 1.2 * k, 0, 4});
        add(&c, (nav_vec){-3 - 1.2 * k, 0, -1}, (nav_vec){28 - 1.2 * k, 0, -4});
    }
    run(&c, 0.05, 2000, NAV_CROWD_ARRIVED);
    expect_all(&c, NAV_CROWD_ARRIVED);
    expect_apart(&c);
    finish(&c);
}

/// From both sides at once.
static void two_columns_meet_in_a_door(void **unused)
{
    (void)unused;
    scene c;
    rooms(&c, 4);
    for (int k = 0; k < 15; k++) {
        add(&c, (nav_vec){-4 - 1.2 * k, 0, 0}, (nav_vec){24 - 1.2 * k, 0, 3});
        add(&c, (nav_vec){5 + 1.2 * k, 0, 0}, (nav_vec){-23 + 1.2 * k, 0, -3});
    }
    run(&c, 0.05, 2000, NAV_CROWD_ARRIVED);
    expect_all(&c, NAV_CROWD_ARRIVED);
    expect_apart(&c);
    finish(&c);
}

static void corridor(scene *c, double width)
{
    begin(c);
    small_mesh_quad(&c->s, 0, 40, 0, width, 0);
    open_scene(c);
}

static void head_on_with_room_for_two(void **unused)
{
    (void)unused;
    scene c;
    corridor(&c, 1.1); // of places for centres: past each other with a tenth of a radius to spare
    add(&c, (nav_vec){2, 0, 0.55}, (nav_vec){38, 0, 0.55});
    add(&c, (nav_vec){38, 0, 0.55}, (nav_vec){2, 0, 0.55});
    int steps = run(&c, 0.05, 1000, NAV_CROWD_ARRIVED);
    expect_all(&c, NAV_CROWD_ARRIVED);
    expect_apart(&c);
    expect_there(&c, 1e-3);
    assert_true(steps < 400); // 36 units at 3.5 take 206
    finish(&c);
}

/// Neither can pass: they meet in the middle, and after two seconds both are told so. Once one goes back, the other
/// gets on.
static void head_on_with_room_for_one(void **unused)
{
    (void)unused;
    scene c;
    corridor(&c, 0.5);
    add(&c, (nav_vec){2, 0, 0.25}, (nav_vec){38, 0, 0.25});
    add(&c, (nav_vec){38, 0, 0.25}, (nav_vec){2, 0, 0.25});
    int met = run(&c, 0.05, 1000, NAV_CROWD_STUCK);
    expect_all(&c, NAV_CROWD_STUCK);
    expect_apart(&c);
    assert_true(met >= 100 && met < 250); // 5 seconds to meet, 2 to be sure
    assert_int_equal(nav_crowd_set_target(c.crowd, c.ids[1], (nav_vec){39, 0, 0.25}), NAV_OK);
    assert_int_equal(nav_crowd_set_target(c.crowd, c.ids[0], (nav_vec){37, 0, 0.25}), NAV_OK);
    run(&c, 0.05, 400, NAV_CROWD_ARRIVED);
    expect_all(&c, NAV_CROWD_ARRIVED);
    finish(&c);
}

/// Thirty with one target stand round it close together, and then stand still.
static void one_target_for_many(void **unused)
{
    (void)unused;
    scene c;
    begin(&c);
    small_mesh_quad(&c.s, 0, 60, 0, 60, 0);
    open_scene(&c);
    for (int k = 0; k < 30; k++) {
        add(&c, (nav_vec){5 + 1.5 * (k % 6), 0, 5 + 1.5 * (k / 6)}, (nav_vec){40, 0, 40});
    }
    run(&c, 0.05, 1200, NAV_CROWD_ARRIVED);
    expect_all(&c, NAV_CROWD_ARRIVED);
    expect_apart(&c);
    expect_there(&c, 6); // thirty discs of radius a half fill one of radius 2.9 at best
    for (int k = 0; k < 100; k++) {
        assert_int_equal(nav_crowd_step(c.crowd, 0.05, c.s.query), NAV_OK);
    }
    uint64_t steps = nav_crowd_steps(c.crowd);
    for (uint32_t k = 0; k < c.count; k++) {
        assert_true(state_of(&c, k).changed_step + 50 < steps);
    }
    finish(&c);
}

/// A larger agent keeps its larger distance from walls, one of the mesh's own size may go along them.
static void a_large_one_keeps_off_walls(void **unused)
{
    (void)unused;
    scene c;
    begin(&c);
    small_mesh_quad(&c.s, 0, 40, 0, 10, 0);
    small_mesh_quad(&c.s, 30, 40, 10, 40, 0);
    c.s.soup.has_agent = true;
    c.s.soup.agent.radius = 0.5;
    open_scene(&c);
    c.agent.radius = 1;
    add(&c, (nav_vec){2, 0, 5}, (nav_vec){35, 0, 35});
    double least = 1e9;
    for (int k = 0; k < 400; k++) {
        assert_int_equal(nav_crowd_step(c.crowd, 0.05, c.s.query), NAV_OK);
        nav_vec p = state_of(&c, 0).position;
        least = p.x < 30 && p.z < 10 ? fmin(least, hypot(30 - p.x, 10 - p.z)) : least;
        least = p.x >= 30 && p.z > 10 ? fmin(least, p.x - 30) : least;
    }
    assert_int_equal(state_of(&c, 0).mode, NAV_CROWD_ARRIVED);
    assert_true(least > 0.5 - 0.001);
    finish(&c);
}

/// Who has no target makes way for who comes through.
static void who_stands_makes_way(void **unused)
{
    (void)unused;
    scene c;
    corridor(&c, 3);
    for (int k = 0; k < 3; k++) {
        nav_crowd_id id;
        assert_int_equal(nav_crowd_add(c.crowd, &c.agent, (nav_vec){20, 0, 0.4 + 1.1 * k}, &id), NAV_OK);
    }
    add(&c, (nav_vec){2, 0, 1.5}, (nav_vec){38, 0, 1.5});
    run(&c, 0.05, 600, NAV_CROWD_ARRIVED);
    expect_all(&c, NAV_CROWD_ARRIVED);
    expect_apart(&c);
    finish(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hundred_swap_across_a_circle), cmocka_unit_test(two_columns_through_a_door),
        cmocka_unit_test(two_columns_meet_in_a_door),   cmocka_unit_test(head_on_with_room_for_two),
        cmocka_unit_test(head_on_with_room_for_one),    cmocka_unit_test(one_target_for_many),
        cmocka_unit_test(a_large_one_keeps_off_walls),  cmocka_unit_test(who_stands_makes_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
