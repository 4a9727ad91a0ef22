// One mutex for each feed. Printing, the long part, is done outside of it: channels come and go only by
// subscriptions, which are never made beside it, and by the last reader's end, which a count holds back.
#include "feed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Bytes of one event.
typedef struct srv_event {
    atomic_size_t references;
    api_buffer bytes;
} srv_event;

typedef struct channel {
    struct channel *next;
    api_agents_view view;
    size_t users; ///< its readers, and a publication that goes through it
    srv_reader *readers;
    srv_event *ring[SRV_FEED_EVENTS];
    uint64_t first, end; ///< numbers of the oldest event that is kept and of the one to come
    size_t bytes;
} channel;

struct srv_feed {
    srv_feed_metrics *metrics;
    pthread_mutex_t lock;
    // under lock:
    size_t references; ///< the owner's and the readers'
    channel *channels;
    size_t channel_count, reader_count;
    srv_feed_end ended;
};

struct srv_reader {
    srv_feed *feed;
    channel *channel;
    srv_event *current; ///< being sent; the reader's own
    // under the feed's lock:
    srv_reader *next, *previous;
    srv_event *opening; ///< the event before all others; NULL: it was read
    uint64_t at;        ///< number of the next event
    srv_feed_end ended;
    bool told; ///< the last event was read
    void (*wake)(void *ctx);
    void *wake_ctx;
};

static const struct {
    const char *name, *event;
} ends[SRV_FEED_END_COUNT] = {
#define END(reason, detail)                                                                   \
    {                                                                                         \
        reason, "event: end\ndata: {\"reason\":\"" reason "\",\"detail\":\"" detail "\"}\n\n" \
    }
    [SRV_FEED_GOES_ON] = {"none", ""},
    [SRV_FEED_SLOW] = END("slow", "events were not read as fast as they came"),
    [SRV_FEED_REMOVED] = END("mesh_deleted", "the mesh was deleted, and its agents with it"),
    [SRV_FEED_DRAIN] = END("draining", "the server is shutting down"),
    [SRV_FEED_MEMORY] = END("out_of_memory", "there was no memory for an event"),
#undef END
};

const char *srv_feed_end_text(srv_feed_end end)
{
    return ends[end].name;
}

static void release_event(srv_event *event)
{
    if (event && atomic_fetch_sub_explicit(&event->references, 1, memory_order_acq_rel) == 1) {
        api_buffer_free(&event->bytes);
        free(event);
    }
}

/// Takes the bytes over. @return NULL: no memory
static srv_event *make_event(srv_feed *feed, api_buffer *bytes)
{
    srv_event *event = bytes->failed ? NULL : malloc(sizeof *event);
    if (!event) {
        api_buffer_free(bytes);
        return NULL;
    }
    atomic_init(&event->references, 1);
    event->bytes = *bytes;
    *bytes = (api_buffer){0};
    atomic_fetch_add_explicit(&feed->metrics->events, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&feed->metrics->event_bytes, event->bytes.size, memory_order_relaxed);
    return event;
}

srv_feed *srv_feed_create(srv_feed_metrics *metrics)
{
    srv_feed *feed = calloc(1, sizeof *feed);
    if (feed) {
        feed->metrics = metrics;
        feed->references = 1;
        pthread_mutex_init(&feed->lock, NULL);
    }
    return feed;
}

/// Gives one reference back and the lock up.
static void unlock_and_release(srv_feed *feed)
{
    bool last = --feed->references == 0;
    pthread_mutex_unlock(&feed->lock);
    if (last) {
        pthread_mutex_destroy(&feed->lock);
        free(feed);
    }
}

void srv_feed_release(srv_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    unlock_and_release(feed);
}

size_t srv_feed_readers(srv_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    size_t count = feed->reader_count;
    pthread_mutex_unlock(&feed->lock);
    return count;
}

static void drop_oldest(channel *c)
{
    srv_event *oldest = c->ring[c->first % SRV_FEED_EVENTS];
    c->bytes -= oldest->bytes.size;
    c->first++;
    release_event(oldest);
}

/// Gives a use of a channel back. Under the lock.
static void leave_channel(srv_feed *feed, channel *c)
{
    if (--c->users > 0) {
        return;
    }
    while (c->first < c->end) {
        drop_oldest(c);
    }
    channel **at = &feed->channels;
    while (*at != c) {
        at = &(*at)->next;
    }
    *at = c->next;
    feed->channel_count--;
    free(c);
}

/// Under the lock. @return NULL: too many, or no memory
static channel *find_or_add_channel(srv_feed *feed, const api_agents_view *view)
{
    for (channel *c = feed->channels; c; c = c->next) {
        if (api_agents_view_equal(&c->view, view)) {
            return c;
        }
    }
    channel *c = feed->channel_count < SRV_FEED_CHANNELS ? calloc(1, sizeof *c) : NULL;
    if (c) {
        c->view = *view;
        c->next = feed->channels;
        feed->channels = c;
        feed->channel_count++;
    }
    return c;
}

srv_reader *srv_feed_subscribe(srv_feed *feed, const api_agents_view *view, api_buffer *first, api_problem *problem)
{
    srv_reader *reader = calloc(1, sizeof *reader);
    srv_event *opening = make_event(feed, first);
    if (!reader || !opening) {
        free(reader);
        release_event(opening);
        api_problem_set(problem, API_INTERNAL, "out of memory");
        return NULL;
    }
    reader->feed = feed;
    reader->opening = opening;
    pthread_mutex_lock(&feed->lock);
    channel *c = find_or_add_channel(feed, view);
    if (c) {
        c->users++;
        reader->channel = c;
        reader->at = c->end;
        reader->ended = feed->ended;
        reader->next = c->readers;
        if (reader->next) {
            reader->next->previous = reader;
        }
        c->readers = reader;
        feed->reader_count++;
        feed->references++;
    }
    pthread_mutex_unlock(&feed->lock);
    if (!c) {
        release_event(opening);
        free(reader);
        api_problem_set(problem, API_OVERLOADED,
                        "events of this mesh are read in %d ways already; ask for fields and forms as others do",
                        SRV_FEED_CHANNELS);
        problem->retry_after = 1;
        return NULL;
    }
    return reader;
}

static void wake(srv_reader *reader)
{
    if (reader->wake) {
        reader->wake(reader->wake_ctx);
    }
}

/// The reader's stream ends once it has read what it has a right to. Under the lock.
static void end_reader(srv_feed *feed, srv_reader *reader, srv_feed_end why)
{
    if (reader->ended == SRV_FEED_GOES_ON) {
        reader->ended = why;
        atomic_fetch_add_explicit(&feed->metrics->dropped[why], 1, memory_order_relaxed);
    }
}

/// Under the lock. @param event  NULL: there was no memory for it
static void append(srv_feed *feed, channel *c, srv_event *event)
{
    if (event) {
        while (c->end - c->first >= SRV_FEED_EVENTS ||
               (c->bytes + event->bytes.size > SRV_FEED_BYTES && c->end - c->first >= SRV_FEED_EVENTS_LEAST)) {
            drop_oldest(c);
        }
        c->ring[c->end++ % SRV_FEED_EVENTS] = event;
        c->bytes += event->bytes.size;
    }
    for (srv_reader *reader = c->readers; reader; reader = reader->next) {
        if (!event) {
            end_reader(feed, reader, SRV_FEED_MEMORY);
        } else if (reader->at < c->first) {
            end_reader(feed, reader, SRV_FEED_SLOW);
        }
        wake(reader);
    }
}

void srv_feed_publish(srv_feed *feed, void (*print)(void *ctx, const api_agents_view *view, api_buffer *out), void *ctx)
{
    channel *list[SRV_FEED_CHANNELS];
    size_t count = 0;
    pthread_mutex_lock(&feed->lock);
    for (channel *c = feed->channels; c; c = c->next) {
        c->users++;
        list[count++] = c;
    }
    pthread_mutex_unlock(&feed->lock);
    for (size_t i = 0; i < count; i++) {
        api_buffer bytes = {0};
        print(ctx, &list[i]->view, &bytes);
        bool some = bytes.size > 0 || bytes.failed;
        srv_event *event = some ? make_event(feed, &bytes) : NULL;
        pthread_mutex_lock(&feed->lock);
        if (some) {
            append(feed, list[i], event);
        }
        leave_channel(feed, list[i]);
        pthread_mutex_unlock(&feed->lock);
    }
}

void srv_feed_close(srv_feed *feed, srv_feed_end why)
{
    pthread_mutex_lock(&feed->lock);
    feed->ended = feed->ended ? feed->ended : why;
    for (channel *c = feed->channels; c; c = c->next) {
        for (srv_reader *reader = c->readers; reader; reader = reader->next) {
            end_reader(feed, reader, why);
            wake(reader);
        }
    }
    pthread_mutex_unlock(&feed->lock);
}

void srv_reader_attach(srv_reader *reader, void (*wake_fn)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&reader->feed->lock);
    reader->wake = wake_fn;
    reader->wake_ctx = ctx;
    pthread_mutex_unlock(&reader->feed->lock);
}

/// Under the lock.
static bool has_event(const srv_reader *reader)
{
    const channel *c = reader->channel;
    return reader->at >= c->first && reader->at < c->end;
}

bool srv_reader_ready(srv_reader *reader)
{
    pthread_mutex_lock(&reader->feed->lock);
    bool ready = reader->opening || has_event(reader) || reader->ended != SRV_FEED_GOES_ON;
    pthread_mutex_unlock(&reader->feed->lock);
    return ready;
}

bool srv_reader_next(srv_reader *reader, const char **bytes, size_t *size, bool *over)
{
    srv_feed *feed = reader->feed;
    srv_event *event = NULL;
    *bytes = NULL;
    *size = 0;
    *over = false;
    pthread_mutex_lock(&feed->lock);
    // What a slow reader has missed makes what is left useless to it.
    bool cut = reader->ended == SRV_FEED_SLOW || reader->ended == SRV_FEED_MEMORY;
    if (reader->opening && !cut) {
        event = reader->opening;
        reader->opening = NULL;
    } else if (has_event(reader) && !cut) {
        event = reader->channel->ring[reader->at++ % SRV_FEED_EVENTS];
        atomic_fetch_add_explicit(&event->references, 1, memory_order_relaxed);
    } else if (reader->ended != SRV_FEED_GOES_ON) {
        *over = true;
        if (!reader->told) {
            *bytes = ends[reader->ended].event;
            *size = strlen(*bytes);
            reader->told = true;
        }
    }
    pthread_mutex_unlock(&feed->lock);
    release_event(reader->current);
    reader->current = event;
    if (event) {
        *bytes = event->bytes.data;
        *size = event->bytes.size;
    }
    return event || *over;
}

void srv_reader_sent(srv_reader *reader, size_t bytes)
{
    atomic_fetch_add_explicit(&reader->feed->metrics->sent_bytes, bytes, memory_order_relaxed);
}

void srv_reader_close(srv_reader *reader)
{
    srv_feed *feed = reader->feed;
    pthread_mutex_lock(&feed->lock);
    if (reader->previous) {
        reader->previous->next = reader->next;
    } else {
        reader->channel->readers = reader->next;
    }
    if (reader->next) {
        reader->next->previous = reader->previous;
    }
    feed->reader_count--;
    leave_channel(feed, reader->channel);
    unlock_and_release(feed);
    release_event(reader->opening);
    release_event(reader->current);
    free(reader);
}
