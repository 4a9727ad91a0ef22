/// What the http files share: serving threads, connections, requests.
///
///     srv_thread --< daemon (one for each address) --< srv_conn --- srv_request (while one is under way)
///
/// All of it belongs to its serving thread. A request is lent to a pool's thread between
/// srv_pool_submit and srv__thread_give_back; meanwhile its connection is suspended.
#ifndef SRV_HTTP_INTERNAL_H
#define SRV_HTTP_INTERNAL_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "http.h"
#include "listen.h"
#include "server.h"

typedef struct srv_thread srv_thread;
typedef struct srv_request srv_request;
typedef struct srv_stream srv_stream;

#define SRV_REQUEST_ID_MAX 64
#define SRV_TRACE_MAX 128
#define SRV_LINGER_MAX 16
/// Memory of one connection, for its request's head and what it reads into. libmicrohttpd clears all of it after
/// each request and half of it once more: with its default of 32 KiB more than a processor's first cache holds,
/// and a tenth of what a small request costs.
#define SRV_CONNECTION_BYTES ((size_t)16 << 10)

typedef enum srv_conn_state {
    SRV_CONN_IDLE,      ///< between requests
    SRV_CONN_RECEIVING, ///< a request has begun to arrive
    SRV_CONN_BUSY,      ///< it is whole; we are at work
    SRV_CONN_SENDING    ///< the answer is on its way
} srv_conn_state;

/// One client.
typedef struct srv_conn {
    struct srv_conn *next, *previous;
    int fd;
    bool is_tcp;
    bool local;    ///< a loopback or unix peer
    bool linger;   ///< closed while the client may still be sending
    bool has_line; ///< the request line of the request under way has come
    srv_conn_state state;
    uint64_t deadline_ns; ///< by which the state must have passed; 0: none
    uint64_t bytes_seen;  ///< received, at the last sweep in which the connection was idle
    srv_stream *stream;   ///< the answer that is being sent, where it is one without an end
} srv_conn;

typedef enum srv_phase {
    SRV_PHASE_HEAD,    ///< the request line is known
    SRV_PHASE_BODY,    ///< headers accepted, the body arrives
    SRV_PHASE_DISCARD, ///< the body cannot be taken; the rest is thrown away, then refused with `refusal`
    SRV_PHASE_ANSWER,  ///< the response is filled, or on its way to be (suspended)
    SRV_PHASE_SENT     ///< handed to libmicrohttpd
} srv_phase;

/// One request and its answer. Recycled with its buffers.
struct srv_request {
    srv_work work; ///< for the pools; first, so that a work is its request
    api_request api;
    api_response response;
    api_task *task;
    bool is_job;
    bool gone; ///< the client left while it waited
    bool done; ///< the task has ended, or there was none: the response is to be sent

    srv_thread *thread;
    srv_conn *conn;
    struct MHD_Connection *connection;
    srv_phase phase;
    api_code refusal; ///< with SRV_PHASE_DISCARD
    bool late;        ///< began after the drain did
    bool close;       ///< end the connection after the answer
    bool suspended;
    bool accepts_gzip, compressed;
    bool varies;             ///< another client may get the answer compressed
    bool answered;           ///< counted in the metrics
    const char *method;      ///< as sent
    const char *traceparent; ///< W3C Trace Context, as sent; NULL: none that is well-formed
    const char *origin;      ///< allowed by --cors-origin; NULL: none
    const char *preflight;   ///< Access-Control-Request-Method of an allowed origin

    char request_id[SRV_REQUEST_ID_MAX + 1];
    char key[NAV_ID_MAX + 1]; ///< mesh id of a job
    char *uri;
    size_t uri_cap;
    char *body;
    size_t announced; ///< bytes of the body; SIZE_MAX: chunked
    size_t body_bytes, body_cap, body_limit, discarded;
    size_t budgeted; ///< of body_cap, counted in server->body_bytes

    uint64_t resume_ns; ///< when a delayed refusal is sent
    srv_request *next;  ///< in the free list, the list of finished works, or the delayed ones
};

/// A socket that is read until the client stops sending, so that it sees the refusal and no reset.
typedef struct srv_linger {
    int fd;
    uint64_t until_ns;
    uint64_t bytes;
} srv_linger;

struct srv_thread {
    srv_server *server;
    uint32_t index;
    pthread_t pthread;
    bool running;
    int wake_fd; ///< eventfd
    struct MHD_Daemon *daemons[SRV_LISTEN_MAX];
    int epoll_fds[SRV_LISTEN_MAX];
    uint32_t daemon_count;
    api_context *context;
    srv_thread_metrics *metrics;

    _Atomic(srv_request *) finished; ///< given back by the pools, newest first
    atomic_bool drain, finish;       ///< asked by the main thread
    atomic_uint grace_ms;
    atomic_bool streams_ready; ///< there may be something to send on a stream that waits

    // The serving thread's own:
    srv_conn *conns;
    size_t conn_count;
    srv_request *free_requests;
    srv_request *delayed, **delayed_last;
    size_t delayed_count;
    srv_stream *streams;
    uint64_t next_sweep_ns;
    bool drained;           ///< stopped accepting
    uint64_t close_idle_ns; ///< when idle connections are closed; 0: not now
    srv_linger lingers[SRV_LINGER_MAX];
    uint32_t linger_count;
    uint64_t id_prefix, id_count;
    uint64_t access_count;
};

// http_request.c: callbacks of libmicrohttpd. `cls` is the serving thread.
void *srv__request_begin(void *cls, const char *uri, struct MHD_Connection *connection);
enum MHD_Result srv__request_handle(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                                    const char *version, const char *upload_data, size_t *upload_data_size,
                                    void **con_cls);
void srv__request_completed(void *cls, struct MHD_Connection *connection, void **con_cls,
                            enum MHD_RequestTerminationCode toe);
void srv__requests_free(srv_thread *thread);

// http_dispatch.c: answering inline or through a pool.
/// The request is whole: fills the response, or suspends the connection and queues the task.
void srv__dispatch(srv_request *r);
/// Refuses: fills the response.
void srv__refuse(srv_request *r, const api_problem *problem);
/// Resumes what the pools gave back and the refusals whose delay is over. @return some were
bool srv__resume_finished(srv_thread *thread, uint64_t now);
/// When the next delayed refusal is due; UINT64_MAX: none.
uint64_t srv__next_delayed(const srv_thread *thread);
/// From a pool's thread: the response is filled.
void srv__thread_give_back(srv_request *r);

// http_reply.c
/// Hands the response to libmicrohttpd. @return MHD_NO: the connection must be closed
enum MHD_Result srv__reply(srv_request *r);
/// Compresses a large response for a client that accepts it. On the thread that filled it.
void srv__compress(srv_request *r);

// http_stream.c
/// The answer whose body is r->response.stream. @return NULL: no memory
struct MHD_Response *srv__stream_response(srv_request *r);
/// The connection is closed.
void srv__stream_forget(srv_conn *conn);
/// In a sweep, of a connection with a stream. @param gone  the client will send no more
void srv__stream_look(srv_conn *conn, bool gone, uint64_t now);
/// Resumes the streams that have something to send. @return some had
bool srv__streams_resume(srv_thread *thread);
/// Ends them all.
void srv__streams_end(srv_thread *thread);

// http_headers.c
/// Reads the headers into the request. @return false: refused, `problem` is filled
bool srv__read_headers(srv_request *r, const char *method, const char *version, api_problem *problem);

// http_conn.c
void srv__conn_notify(void *cls, struct MHD_Connection *connection, void **socket_context,
                      enum MHD_ConnectionNotificationCode toe);
enum MHD_Result srv__conn_accept(void *cls, const struct sockaddr *address, socklen_t length);
srv_conn *srv__conn_of(struct MHD_Connection *connection);
/// Cuts connections whose time is over.
void srv__conns_sweep(srv_thread *thread, uint64_t now);
/// Reads from the lingering sockets and throws it away; closes those that are done.
void srv__lingers_read(srv_thread *thread, uint64_t now);
void srv__lingers_close(srv_thread *thread);

// http.c
void srv__thread_wake(srv_thread *thread);

#endif
