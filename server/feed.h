/// Events about one mesh's agents, from the worker that makes them to the serving threads that send them.
///
///     srv_feed --< channel (a way of writing states) --< srv_reader (a client that listens)
///                     \--< srv_event (bytes, counted; shared by the channel's readers)
///
/// Events of a channel are printed once, however many read it. A channel keeps the newest ones; a reader that
/// falls behind them is dropped, so that it costs neither memory nor the others' time.
#ifndef SRV_FEED_H
#define SRV_FEED_H

#include <stdatomic.h>

#include "agents.h"
#include "api.h"

typedef struct srv_feed srv_feed;
typedef struct srv_reader srv_reader;

/// Bounds of a feed.
#define SRV_FEED_CHANNELS 16              ///< ways of writing states at one time
#define SRV_FEED_EVENTS 64                ///< that a reader may be behind
#define SRV_FEED_BYTES ((size_t)32 << 20) ///< or so many bytes
#define SRV_FEED_EVENTS_LEAST 2           ///< kept however large they are

/// Why a stream ended, as its last event says.
typedef enum srv_feed_end {
    SRV_FEED_GOES_ON,
    SRV_FEED_SLOW,    ///< the reader fell behind what is kept
    SRV_FEED_REMOVED, ///< the mesh was deleted
    SRV_FEED_DRAIN,   ///< the server is shutting down
    SRV_FEED_MEMORY,  ///< there was no memory for an event
    SRV_FEED_END_COUNT
} srv_feed_end;

/// "slow", "mesh_deleted", …
const char *srv_feed_end_text(srv_feed_end end);

/// Counters of all feeds.
typedef struct srv_feed_metrics {
    atomic_uint_fast64_t events, event_bytes; ///< printed
    atomic_uint_fast64_t sent_bytes;          ///< to all readers
    atomic_uint_fast64_t dropped[SRV_FEED_END_COUNT];
} srv_feed_metrics;

/// @return NULL: no memory
srv_feed *srv_feed_create(srv_feed_metrics *metrics);
/// Gives the owner's reference back; readers keep the feed alive until they are closed.
void srv_feed_release(srv_feed *feed);

/// Readers that listen.
size_t srv_feed_readers(srv_feed *feed);

/// A new reader.
/// @param first  the event that it gets before all others (taken over): the full state, or what changed since
/// @return NULL: too many ways of writing states (`problem` is 503), or no memory
srv_reader *srv_feed_subscribe(srv_feed *feed, const api_agents_view *view, api_buffer *first, api_problem *problem);

/// Prints an event for each channel and lets readers know.
/// @param print  appends the event's bytes for a view; none: nothing to tell those
/// @thread one at a time, not beside srv_feed_subscribe
void srv_feed_publish(srv_feed *feed, void (*print)(void *ctx, const api_agents_view *view, api_buffer *out),
                      void *ctx);

/// Ends every stream, after the events that its reader has not read yet. @thread any
void srv_feed_close(srv_feed *feed, srv_feed_end why);

// A reader belongs to one thread once it is attached.

/// From now on `wake` is called, with the feed's lock held, when there is something to read.
void srv_reader_attach(srv_reader *reader, void (*wake)(void *ctx), void *ctx);
/// Is there something to read?
bool srv_reader_ready(srv_reader *reader);
/// The next bytes to send; they stay until the next call.
/// @param over  set: there is no more behind these (or there are none)
/// @return false: nothing to read now
bool srv_reader_next(srv_reader *reader, const char **bytes, size_t *size, bool *over);
/// Counts bytes that were handed to the client.
void srv_reader_sent(srv_reader *reader, size_t bytes);
/// Ends a subscription.
void srv_reader_close(srv_reader *reader);

#endif
