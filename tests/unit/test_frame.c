/// Frames: which names there are, and that positions go there and back.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "api_frame.h"

static void check_vec(nav_vec got, double x, double y, double z)
{
    assert_true(got.x == x && got.y == y && got.z == z);
}

static void test_names(void **state)
{
    (void)state;
    api_frame file, caller;
    const nav_vec internal = {1, 2, 3};

    assert_true(api_frame_parse("y-up", &file, &caller));
    check_vec(api_frame_to_caller(&caller, internal), 1, 2, 3);
    assert_memory_equal(&file, &api_frame_identity, sizeof file);

    // The file's third number is the height, and so is the caller's.
    assert_true(api_frame_parse("z-up", &file, &caller));
    check_vec(api_frame_to_caller(&file, (nav_vec){10, 20, 30}), 10, 30, 20);
    check_vec(api_frame_to_caller(&caller, internal), 1, 3, 2);
    check_vec(api_frame_to_internal(&caller, (nav_vec){10, 20, 30}), 10, 30, 20);

    // The file is in Recast's axes; Unreal's X = -x, Y = -z, Z = y.
    assert_true(api_frame_parse("unreal", &file, &caller));
    assert_memory_equal(&file, &api_frame_identity, sizeof file);
    check_vec(api_frame_to_caller(&caller, internal), -1, -3, 2);
    check_vec(api_frame_to_internal(&caller, (nav_vec){-1, -3, 2}), 1, 2, 3);
    check_vec(api_frame_extents_to_internal(&caller, (nav_vec){4, 5, 6}), 4, 6, 5);

    api_frame other;
    assert_true(api_frame_parse("-x,-z,y", &file, &other));
    assert_memory_equal(&other, &caller, sizeof other);
    assert_true(api_frame_parse("z,+x, y", &file, &caller)); // a plus sign of a query string is a blank
    check_vec(api_frame_to_caller(&caller, internal), 3, 1, 2);
}

static void test_what_is_no_frame(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",      "x",       "x,y",   "x,y,",  "x,y,y", "x,y,z,", "x,y,z,x", "x,,y,z", "xyz",
        "x y z", "--x,y,z", "a,b,c", "X,Y,Z", "z-Up",  "y-up ",  "unreal5", "-",      "+-x,y,z",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        api_frame file, caller;
        if (api_frame_parse(names[i], &file, &caller)) {
            fail_msg("`%s` is taken for a frame", names[i]);
        }
        assert_memory_equal(&caller, &api_frame_identity, sizeof caller);
    }
}

/// All 48 signed axes.
static void test_there_and_back(void **state)
{
    (void)state;
    unsigned frames = 0;
    for (unsigned n = 0; n < 27 * 8; n++) {
        char name[] = "+x,+x,+x";
        for (unsigned k = 0, axes = n / 8; k < 3; k++, axes /= 3) {
            name[3 * k] = n >> k & 1 ? '-' : '+';
            name[3 * k + 1] = (char)('x' + axes % 3);
        }
        api_frame file, caller;
        if (!api_frame_parse(name, &file, &caller)) {
            continue;
        }
        frames++;
        const nav_vec p = {1, -20, 300};
        nav_vec there = api_frame_to_caller(&caller, p);
        const double numbers[] = {there.x, there.y, there.z};
        for (unsigned k = 0; k < 3; k++) {
            double axis = name[3 * k + 1] == 'x' ? 1 : name[3 * k + 1] == 'y' ? -20 : 300;
            assert_true(numbers[k] == (name[3 * k] == '-' ? -axis : axis));
        }
        nav_vec back = api_frame_to_internal(&caller, there);
        check_vec(back, p.x, p.y, p.z);
        // Extents take the same axes and no signs.
        nav_vec e = api_frame_extents_to_internal(&caller, (nav_vec){numbers[0] < 0 ? -numbers[0] : numbers[0],
                                                                     numbers[1] < 0 ? -numbers[1] : numbers[1],
                                                                     numbers[2] < 0 ? -numbers[2] : numbers[2]});
        check_vec(e, 1, 20, 300);
    }
    assert_int_equal(frames, 48);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_what_is_no_frame),
        cmocka_unit_test(test_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
