/// Feeds: events printed once, shared, kept for a while, and the ends of streams.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed.h"

static srv_feed_metrics metrics;
static srv_feed *feed;

/// What the next publication prints, and how often it was asked to.
static size_t event_bytes;
static int printed, number, woken;

static void print(void *ctx, const api_agents_view *view, api_buffer *out)
{
    (void)ctx;
    printed++;
    if (event_bytes > 0) {
        char *room = api_buffer_room(out, event_bytes + 32);
        assert_non_null(room);
        memset(room, '.', event_bytes + 32);
        out->size += (size_t)snprintf(room, 32, "%d:%d", view->precision, number);
        room[out->size] = '.';
        out->size = event_bytes;
    }
}

static void publish(size_t bytes)
{
    number++;
    event_bytes = bytes;
    srv_feed_publish(feed, print, NULL);
}

static int setup(void **state)
{
    (void)state;
    memset(&metrics, 0, sizeof metrics);
    printed = number = woken = 0;
    feed = srv_feed_create(&metrics);
    return feed ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    srv_feed_release(feed);
    return 0;
}

static srv_reader *subscribe(int precision)
{
    api_buffer first = {0};
    api_problem problem = {0};
    api_buffer_add_text(&first, "first");
    return srv_feed_subscribe(feed, &(api_agents_view){.fields = 1, .precision = precision}, &first, &problem);
}

/// The next bytes must begin with this text.
static const char *expect(srv_reader *reader, const char *text)
{
    const char *bytes;
    size_t size;
    bool over;
    assert_true(srv_reader_ready(reader));
    assert_true(srv_reader_next(reader, &bytes, &size, &over));
    assert_in_range(strlen(text), 0, size);
    assert_memory_equal(bytes, text, strlen(text));
    return bytes;
}

static void expect_nothing(srv_reader *reader)
{
    const char *bytes;
    size_t size;
    bool over;
    assert_false(srv_reader_ready(reader));
    assert_false(srv_reader_next(reader, &bytes, &size, &over));
    assert_int_equal(size, 0);
    assert_false(over);
}

/// The last event with its reason, then nothing for ever.
static void expect_end(srv_reader *reader, const char *reason)
{
    const char *bytes;
    size_t size;
    bool over;
    char text[64];
    snprintf(text, sizeof text, "event: end\ndata: {\"reason\":\"%s\",", reason);
    assert_true(srv_reader_next(reader, &bytes, &size, &over));
    assert_true(over);
    assert_memory_equal(bytes, text, strlen(text));
    assert_true(srv_reader_next(reader, &bytes, &size, &over));
    assert_true(over);
    assert_int_equal(size, 0);
}

static void wake(void *ctx)
{
    (void)ctx;
    woken++;
}

static void test_events_are_shared(void **state)
{
    (void)state;
    srv_reader *a = subscribe(2), *b = subscribe(2), *c = subscribe(3);
    srv_reader_attach(a, wake, NULL);
    assert_int_equal(srv_feed_readers(feed), 3);
    expect(a, "first");
    expect_nothing(a);
    publish(40);
    assert_int_equal(printed, 2); // once for each way of writing
    assert_int_equal(woken, 1);
    expect(b, "first");
    assert_ptr_equal(expect(a, "2:1."), expect(b, "2:1."));
    expect(c, "first");
    expect(c, "3:1.");
    publish(0); // nothing to tell
    assert_int_equal(woken, 1);
    expect_nothing(a);
    assert_int_equal(atomic_load(&metrics.events), 5);
    assert_int_equal(atomic_load(&metrics.event_bytes), 3 * 5 + 2 * 40);
    srv_reader_close(c);
    publish(40);
    assert_int_equal(printed, 5); // of the way that nobody reads, no more
    srv_reader_close(a);
    srv_reader_close(b);
    publish(40);
    assert_int_equal(printed, 5);
    assert_int_equal(srv_feed_readers(feed), 0);
}

static void test_slow_by_number(void **state)
{
    (void)state;
    srv_reader *slow = subscribe(0), *quick = subscribe(0);
    expect(quick, "first");
    for (int i = 0; i < SRV_FEED_EVENTS; i++) {
        publish(10);
        expect(quick, "0:");
    }
    expect(slow, "first"); // just in time
    expect(slow, "0:1.");
    for (int i = 0; i < 2; i++) {
        publish(10);
        expect(quick, "0:");
    }
    assert_int_equal(atomic_load(&metrics.dropped[SRV_FEED_SLOW]), 1);
    expect_end(slow, "slow");
    expect_nothing(quick);
    srv_reader_close(slow);
    srv_reader_close(quick);
}

static void test_slow_by_bytes(void **state)
{
    (void)state;
    srv_reader *reader = subscribe(0);
    expect(reader, "first");
    publish(SRV_FEED_BYTES - 10);
    publish(SRV_FEED_BYTES - 10); // two are kept, however long
    expect(reader, "0:1.");
    publish(20);
    expect(reader, "0:2.");
    expect(reader, "0:3.");
    publish(SRV_FEED_BYTES - 10);
    publish(20);
    publish(20);
    expect_end(reader, "slow");
    srv_reader_close(reader);
}

static void test_ends(void **state)
{
    (void)state;
    srv_reader *reader = subscribe(0);
    srv_reader_attach(reader, wake, NULL);
    publish(10);
    srv_feed_close(feed, SRV_FEED_REMOVED);
    srv_feed_close(feed, SRV_FEED_DRAIN); // the first reason holds
    assert_int_equal(woken, 3);
    expect(reader, "first");
    expect(reader, "0:1.");
    expect_end(reader, "mesh_deleted");
    srv_reader *late = subscribe(0);
    expect(late, "first");
    expect_end(late, "mesh_deleted");
    srv_reader_close(late);
    srv_reader_close(reader);
    assert_int_equal(atomic_load(&metrics.dropped[SRV_FEED_REMOVED]), 1);
}

static void test_readers_outlive_the_owner(void **state)
{
    (void)state;
    srv_reader *reader = subscribe(0);
    publish(10);
    srv_feed_close(feed, SRV_FEED_DRAIN);
    srv_feed_release(feed);
    expect(reader, "first");
    expect(reader, "0:1.");
    expect_end(reader, "draining");
    srv_reader_close(reader);
    feed = srv_feed_create(&metrics); // for the teardown
}

static void test_no_more_ways_than_there_may_be(void **state)
{
    (void)state;
    srv_reader *readers[SRV_FEED_CHANNELS];
    for (int i = 0; i < SRV_FEED_CHANNELS; i++) {
        readers[i] = subscribe(i);
        assert_non_null(readers[i]);
    }
    assert_null(subscribe(SRV_FEED_CHANNELS));
    srv_reader *again = subscribe(3);
    assert_non_null(again);
    srv_reader_close(again);
    srv_reader_close(readers[5]);
    readers[5] = subscribe(SRV_FEED_CHANNELS);
    assert_non_null(readers[5]);
    for (int i = 0; i < SRV_FEED_CHANNELS; i++) {
        srv_reader_close(readers[i]);
    }
}

static void test_no_memory_for_an_event(void **state)
{
    (void)state;
    api_buffer failed = {.failed = true};
    api_problem problem = {0};
    assert_null(srv_feed_subscribe(feed, &(api_agents_view){.precision = 1}, &failed, &problem));
    assert_int_equal(problem.code, API_INTERNAL);
    assert_int_equal(srv_feed_readers(feed), 0);
}

int main(void)
{
#define FEED_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        FEED_TEST(test_events_are_shared),
        FEED_TEST(test_slow_by_number),
        FEED_TEST(test_slow_by_bytes),
        FEED_TEST(test_ends),
        FEED_TEST(test_readers_outlive_the_owner),
        FEED_TEST(test_no_more_ways_than_there_may_be),
        FEED_TEST(test_no_memory_for_an_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
