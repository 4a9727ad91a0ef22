/// nav__ring_cut: whatever the ring, its pieces are convex, cover it and fit together.
#include "build.h"
#include "rng.h"

#include "alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

static double area_of(const nav__p2 *at, const uint32_t *index, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 1; i + 1 < n; i++) {
        sum += nav__cross(nav__sub(at[index[i]], at[index[0]]), nav__sub(at[index[i + 1]], at[index[0]]));
    }
    return sum / 2;
}

static double ring_area(const nav__p2 *at, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 1; i + 1 < n; i++) {
        sum += nav__cross(nav__sub(at[i], at[0]), nav__sub(at[i + 1], at[0]));
    }
    return sum / 2;
}

static void check_piece(const nav__p2 *at, const nav__pieces *p, uint32_t piece)
{
    uint32_t first = p->first[piece], n = p->first[piece + 1] - first;
    nav__p2 *ring = malloc(n * sizeof *ring);
    assert_true(n >= 3);
    for (uint32_t k = 0; k < n; k++) {
        ring[k] = at[p->corner[first + k]];
    }
    assert_true(nav__ring_is_convex(ring, n));
    free(ring);
}

/// Every edge of the ring is an edge of just one piece, every cut of two, the other way round.
static void check_edges(const nav__pieces *p, uint32_t n)
{
    uint32_t *uses = calloc(n, sizeof *uses);
    for (uint32_t piece = 0; piece < p->piece_count; piece++) {
        for (uint32_t k = p->first[piece]; k < p->first[piece + 1]; k++) {
            uint32_t next = k + 1 < p->first[piece + 1] ? k + 1 : p->first[piece];
            if (p->mate[k] == NAV_NONE) {
                assert_int_equal(p->corner[next], (p->corner[k] + 1) % n);
                uses[p->corner[k]]++;
            } else {
                assert_int_equal(p->mate[p->mate[k]], k);
                assert_int_equal(p->corner[p->mate[k]], p->corner[next]);
            }
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(uses[i], 1);
    }
    free(uses);
}

static uint32_t cut(const nav__p2 *at, uint32_t n)
{
    nav__build b = {.alloc = nav__alloc_or_libc(NULL), .cut_budget = 10000000};
    nav__pieces p = {0};
    assert_int_equal(nav__ring_cut(&b, at, n, false, &p), NAV__CUT_DONE);
    double sum = 0, area = ring_area(at, n);
    for (uint32_t piece = 0; piece < p.piece_count; piece++) {
        check_piece(at, &p, piece);
        sum += area_of(at, &p.corner[p.first[piece]], p.first[piece + 1] - p.first[piece]);
    }
    assert_true(fabs(sum - area) <= 1e-9 * fabs(area));
    check_edges(&p, n);
    uint32_t pieces = p.piece_count;
    nav__build_release(&b);
    return pieces;
}

static void test_convex(void **state)
{
    (void)state;
    const nav__p2 square[5] = {{0, 0}, {1, 0}, {2, 0}, {2, 2}, {0, 2}};
    assert_true(nav__ring_is_convex(square, 5));
    assert_int_equal(cut(square, 5), 1);
    const nav__p2 turned[4] = {{0, 0}, {0, 2}, {2, 2}, {2, 0}};
    assert_false(nav__ring_is_convex(turned, 4));
    const nav__p2 star[5] = {{0, 10}, {-6, -8}, {9, 3}, {-9, 3}, {6, -8}}; // left turns only, twice round
    assert_false(nav__ring_is_convex(star, 5));
    const nav__p2 line[3] = {{0, 0}, {1, 1}, {2, 2}};
    assert_false(nav__ring_is_convex(line, 3));
    const nav__p2 spike[5] = {{0, 0}, {4, 0}, {2, 0}, {2, 2}, {0, 2}};
    assert_false(nav__ring_is_convex(spike, 5));
}

static void test_known(void **state)
{
    (void)state;
    const nav__p2 l[6] = {{0, 0}, {6, 0}, {6, 2}, {2, 2}, {2, 6}, {0, 6}};
    assert_int_equal(cut(l, 6), 2);
    const nav__p2 plus[12] = {{1, 0}, {2, 0}, {2, 1}, {3, 1}, {3, 2}, {2, 2},
                              {2, 3}, {1, 3}, {1, 2}, {0, 2}, {0, 1}, {1, 1}};
    assert_in_range(cut(plus, 12), 3, 5);
    // A hole reached by a bridge: two corners stand in one place each.
    const nav__p2 hole[10] = {{0, 0}, {9, 0}, {9, 9}, {0, 9}, {0, 0}, {3, 3}, {3, 6}, {6, 6}, {6, 3}, {3, 3}};
    assert_in_range(cut(hole, 10), 4, 7);
    // A corner that is right of its edge by less than any rounding.
    const nav__p2 dent[5] = {{0, 0}, {0.5, 0x1p-80}, {1, 0}, {1, 1}, {0, 1}};
    assert_int_equal(cut(dent, 5), 2);
}

/// Star-shaped rings of random radii, some corners doubled into straight sides, on a coarse grid or not.
static void test_random_stars(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        rng r = rng_seeded(seed);
        uint32_t n = 4 + rng_below(&r, seed % 50 == 0 ? 3000 : 60), count = 0;
        nav__p2 *at = malloc(2 * n * sizeof *at);
        for (uint32_t i = 0; i < n; i++) {
            double angle = 6.283185307179586 * i / n, radius = 10 * (0.2 + rng_unit(&r));
            nav__p2 p = {radius * cos(angle), radius * sin(angle)};
            if (count > 0 && rng_chance(&r, 0.2)) {
                at[count] = (nav__p2){(at[count - 1].x + p.x) / 2, (at[count - 1].z + p.z) / 2};
                count++;
            }
            at[count++] = p;
        }
        cut(at, count);
        free(at);
    }
}

/// Corridors of unit squares along a walk that never touches itself: many straight and equal coordinates.
static void test_random_corridors(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        rng r = rng_seeded(seed);
        uint32_t n = 2 + rng_below(&r, 200);
        nav__p2 *at = malloc(2 * (n + 1) * sizeof *at);
        double z = 0;
        for (uint32_t i = 0; i <= n; i++) { // below and above a wandering line
            z += rng_between(&r, -2, 2);
            at[i] = (nav__p2){i, z};
            at[2 * n + 1 - i] = (nav__p2){i, z + rng_between(&r, 1, 3)};
        }
        cut(at, 2 * (n + 1));
        free(at);
    }
}

static void test_budget(void **state)
{
    (void)state;
    nav__p2 at[400];
    for (uint32_t i = 0; i < 200; i++) {
        at[i] = (nav__p2){i, i % 2};
        at[399 - i] = (nav__p2){i, 3 - (double)(i % 2)};
    }
    nav__build b = {.alloc = nav__alloc_or_libc(NULL), .cut_budget = 100};
    nav__pieces p = {0};
    assert_int_equal(nav__ring_cut(&b, at, 400, true, &p), NAV__CUT_IMPOSSIBLE);
    assert_int_equal(b.cut_budget, 0);
    nav__build_release(&b);
}

/// Rings that cross themselves are cut if need be, and never into anything that is not convex.
static void test_crossed(void **state)
{
    (void)state;
    uint32_t done = 0;
    for (uint64_t seed = 1; seed <= 5000; seed++) {
        rng r = rng_seeded(seed);
        nav__p2 at[12];
        uint32_t n = 4 + rng_below(&r, 9);
        for (uint32_t i = 0; i < n; i++) {
            at[i] = (nav__p2){rng_between(&r, 0, 5), rng_between(&r, 0, 5)};
        }
        nav__build b = {.alloc = nav__alloc_or_libc(NULL), .cut_budget = 1000000};
        nav__pieces p = {0};
        if (nav__ring_cut(&b, at, n, true, &p) == NAV__CUT_DONE) {
            for (uint32_t piece = 0; piece < p.piece_count; piece++) {
                check_piece(at, &p, piece);
            }
            check_edges(&p, n);
            done++;
        }
        nav__build_release(&b);
    }
    assert_true(done > 50); // most such rings turn right more than left
}

static void test_sort(void **state)
{
    (void)state;
    rng r = rng_seeded(1);
    uint64_t keys[1000], scratch[1000];
    for (size_t i = 0; i < 1000; i++) {
        keys[i] = (uint64_t)rng_next(&r) << (i % 33) | rng_next(&r);
    }
    uint64_t sum = 0, after = 0;
    for (size_t i = 0; i < 1000; i++) {
        sum += keys[i];
    }
    nav__sort_u64(keys, scratch, 1000);
    for (size_t i = 0; i < 1000; i++) {
        after += keys[i];
        assert_true(i == 0 || keys[i - 1] <= keys[i]);
    }
    assert_true(sum == after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convex),       cmocka_unit_test(test_known),
        cmocka_unit_test(test_random_stars), cmocka_unit_test(test_random_corridors),
        cmocka_unit_test(test_budget),       cmocka_unit_test(test_crossed),
        cmocka_unit_test(test_sort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
