// Answers without an end: a feed's events, sent as they come. The connection is suspended while there is nothing
// to send, and costs nothing then but a look at its socket in every sweep.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"
#include "feed.h"
#include "http_internal.h"

#define BLOCK_BYTES 32768
// A client that takes nothing for so long is cut; one that falls behind before is told so by its feed.
#define STALL_MS 30000u
// Proxies close what is silent for a minute; and a client that went without a word is noticed by what it is sent.
#define PING_MS 15000u

struct srv_stream {
    srv_stream *next, *previous; ///< of the thread
    srv_thread *thread;
    srv_conn *conn; ///< NULL: closed already
    struct MHD_Connection *connection;
    srv_reader *reader;
    const char *bytes; ///< being sent
    size_t size, at;
    bool over;    ///< nothing comes behind them
    bool broken;  ///< the client is gone, or the server ends
    bool waiting; ///< the connection is suspended
    bool ping;    ///< say something, whether there is news or not
    uint64_t sent_ns;
};

static void suspend(srv_stream *s)
{
    s->waiting = true;
    if (s->conn) {
        s->conn->deadline_ns = 0;
    }
    MHD_suspend_connection(s->connection);
}

static void resume(srv_stream *s)
{
    s->waiting = false;
    MHD_resume_connection(s->connection);
}

/// @return there are bytes to send now
static bool take_next(srv_stream *s)
{
    static const char ping[] = ": still here\n\n"; // a comment, which clients pass over
    s->at = 0;
    if (srv_reader_next(s->reader, &s->bytes, &s->size, &s->over)) {
        return s->size > 0;
    }
    if (s->ping) {
        s->bytes = ping;
        s->size = sizeof ping - 1;
    }
    return s->ping;
}

/// libmicrohttpd asks for more to send.
static ssize_t read_stream(void *cls, uint64_t position, char *to, size_t max)
{
    (void)position;
    srv_stream *s = cls;
    if (s->broken) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (s->at == s->size && (s->over || !take_next(s))) {
        if (s->over) {
            return MHD_CONTENT_READER_END_OF_STREAM;
        }
        suspend(s);
        return 0;
    }
    size_t bytes = s->size - s->at < max ? s->size - s->at : max;
    memcpy(to, s->bytes + s->at, bytes);
    s->at += bytes;
    s->ping = false;
    s->sent_ns = srv_now_ns();
    srv_reader_sent(s->reader, bytes);
    if (s->conn) {
        s->conn->deadline_ns = s->sent_ns + (uint64_t)STALL_MS * SRV_NS_PER_MS;
    }
    return (ssize_t)bytes;
}

/// On a worker, with the feed's lock held.
static void wake(void *ctx)
{
    srv_thread *thread = ctx;
    if (!atomic_exchange_explicit(&thread->streams_ready, true, memory_order_acq_rel)) {
        srv__thread_wake(thread);
    }
}

static void free_stream(void *cls)
{
    srv_stream *s = cls;
    if (s->previous) {
        s->previous->next = s->next;
    } else {
        s->thread->streams = s->next;
    }
    if (s->next) {
        s->next->previous = s->previous;
    }
    if (s->conn) {
        s->conn->stream = NULL;
    }
    srv_reader_close(s->reader);
    free(s);
}

/// What was sent and is not acknowledged in that time ends the connection; without this the kernel tries for a
/// quarter of an hour.
static void watch_peer(const srv_conn *conn)
{
    unsigned ms = STALL_MS;
    if (conn->is_tcp) {
        (void)setsockopt(conn->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
    }
}

struct MHD_Response *srv__stream_response(srv_request *r)
{
    srv_thread *thread = r->thread;
    srv_stream *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    *s = (srv_stream){.thread = thread,
                      .conn = r->conn,
                      .connection = r->connection,
                      .reader = r->response.stream,
                      .next = thread->streams,
                      .sent_ns = srv_now_ns()};
    struct MHD_Response *out =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_stream, s, free_stream);
    if (!out) {
        free(s);
        return NULL;
    }
    r->response.stream = NULL; // the stream's from now on
    if (s->next) {
        s->next->previous = s;
    }
    thread->streams = s;
    r->conn->stream = s;
    watch_peer(r->conn);
    srv_reader_attach(s->reader, wake, thread);
    return out;
}

void srv__stream_forget(srv_conn *conn)
{
    if (conn->stream) {
        conn->stream->conn = NULL;
        conn->stream = NULL;
    }
}

void srv__stream_look(srv_conn *conn, bool gone, uint64_t now)
{
    srv_stream *s = conn->stream;
    if (!s->waiting) {
        return;
    }
    s->broken = s->broken || gone;
    s->ping = now - s->sent_ns >= (uint64_t)PING_MS * SRV_NS_PER_MS;
    if (s->broken || s->ping) {
        resume(s);
    }
}

bool srv__streams_resume(srv_thread *thread)
{
    bool some = false;
    if (!atomic_exchange_explicit(&thread->streams_ready, false, memory_order_acq_rel)) {
        return false;
    }
    for (srv_stream *s = thread->streams; s; s = s->next) {
        if (s->waiting && srv_reader_ready(s->reader)) {
            resume(s);
            some = true;
        }
    }
    return some;
}

void srv__streams_end(srv_thread *thread)
{
    for (srv_stream *s = thread->streams; s; s = s->next) {
        s->broken = true;
        if (s->waiting) {
            resume(s);
        }
    }
}
