// Connections: who they are, and when their time is over. libmicrohttpd's own timeout is for silence
// only (a byte a second is never cut), and a suspended connection has none.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "http_internal.h"
#include "log.h"

#define LINGER_MS 2000
#define LINGER_MAX_BYTES ((uint64_t)256 << 20)

srv_conn *srv__conn_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/// 127.0.0.0/8, ::1, ::ffff:127.0.0.0/104, unix sockets
static bool is_local(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)address;
        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    }
    if (address->sa_family == AF_INET6) {
        const struct in6_addr *in = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
        return IN6_IS_ADDR_LOOPBACK(in) || (IN6_IS_ADDR_V4MAPPED(in) && in->s6_addr[12] == 127);
    }
    return address->sa_family == AF_UNIX;
}

enum MHD_Result srv__conn_accept(void *cls, const struct sockaddr *address, socklen_t length)
{
    (void)address, (void)length;
    srv_thread *thread = cls;
    if (atomic_load_explicit(&thread->server->connections, memory_order_relaxed) <
        thread->server->config.max_connections) {
        return MHD_YES;
    }
    srv_metric_add(&thread->metrics->refused_connections, 1);
    return MHD_NO;
}

static void begin(srv_thread *thread, struct MHD_Connection *connection, void **socket_context)
{
    srv_conn *conn = calloc(1, sizeof *conn);
    *socket_context = conn;
    if (!conn) {
        return;
    }
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    conn->fd = info ? info->connect_fd : -1;
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (info && info->client_addr) {
        conn->local = is_local(info->client_addr);
        conn->is_tcp = info->client_addr->sa_family != AF_UNIX;
    }
    conn->state = SRV_CONN_RECEIVING;
    conn->deadline_ns = srv_now_ns() + thread->server->config.request_timeout_ms * SRV_NS_PER_MS;
    conn->next = thread->conns;
    if (conn->next) {
        conn->next->previous = conn;
    }
    thread->conns = conn;
    thread->conn_count++;
    atomic_fetch_add_explicit(&thread->server->connections, 1, memory_order_relaxed);
}

/// Keeps the socket of a refused upload open a little: closing it with unread bytes makes the kernel
/// send a reset, which may overtake the answer.
static void linger(srv_thread *thread, const srv_conn *conn)
{
    if (!conn->linger || thread->linger_count == SRV_LINGER_MAX) {
        return;
    }
    int fd = fcntl(conn->fd, F_DUPFD_CLOEXEC, 0);
    if (fd >= 0) {
        shutdown(fd, SHUT_WR);
        thread->lingers[thread->linger_count++] =
            (srv_linger){.fd = fd, .until_ns = srv_now_ns() + (uint64_t)LINGER_MS * SRV_NS_PER_MS};
    }
}

static void end(srv_thread *thread, srv_conn *conn)
{
    linger(thread, conn);
    srv__stream_forget(conn);
    if (conn->previous) {
        conn->previous->next = conn->next;
    } else {
        thread->conns = conn->next;
    }
    if (conn->next) {
        conn->next->previous = conn->previous;
    }
    thread->conn_count--;
    atomic_fetch_sub_explicit(&thread->server->connections, 1, memory_order_relaxed);
    free(conn);
}

void srv__conn_notify(void *cls, struct MHD_Connection *connection, void **socket_context,
                      enum MHD_ConnectionNotificationCode toe)
{
    if (toe == MHD_CONNECTION_NOTIFY_STARTED) {
        begin(cls, connection, socket_context);
    } else if (*socket_context) {
        end(cls, *socket_context);
        *socket_context = NULL;
    }
}

/// Bytes that ever arrived on a TCP connection; 0 where the kernel does not tell.
static uint64_t bytes_received(const srv_conn *conn)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    if (!conn->is_tcp || getsockopt(conn->fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        size < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received) {
        return 0;
    }
    return info.tcpi_bytes_received;
}

/// The client will send no more, or the connection is broken.
static bool is_over(const srv_conn *conn)
{
    char byte;
    ssize_t n = recv(conn->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

bool srv_http_client_gone(const api_request *request)
{
    const srv_request *r = (const srv_request *)((const char *)request - offsetof(srv_request, api));
    return atomic_load_explicit(&r->thread->server->stopping, memory_order_relaxed) || is_over(r->conn);
}

/// libmicrohttpd tells of a request only when its first line is whole. That one has begun to arrive on
/// an idle connection shows in the kernel's count of bytes, which grows between two sweeps.
static void watch_idle(srv_thread *thread, srv_conn *conn, uint64_t now)
{
    uint64_t bytes = bytes_received(conn);
    if (conn->bytes_seen != 0 && bytes != conn->bytes_seen) {
        conn->state = SRV_CONN_RECEIVING;
        conn->deadline_ns = now + thread->server->config.request_timeout_ms * SRV_NS_PER_MS;
    }
    conn->bytes_seen = bytes;
}

/// Between requests, or before the first byte of the first; of a unix socket before its first line.
static bool is_idle(const srv_conn *conn)
{
    return conn->state == SRV_CONN_IDLE ||
           (conn->state == SRV_CONN_RECEIVING && !conn->has_line && bytes_received(conn) == 0);
}

static void cut(srv_conn *conn)
{
    shutdown(conn->fd, SHUT_RDWR); // libmicrohttpd sees the end and cleans up
    conn->deadline_ns = 0;
}

void srv__conns_sweep(srv_thread *thread, uint64_t now)
{
    bool close_idle = thread->close_idle_ns != 0 && now >= thread->close_idle_ns;
    for (srv_conn *conn = thread->conns; conn; conn = conn->next) {
        if (conn->state == SRV_CONN_IDLE) {
            watch_idle(thread, conn, now);
        }
        if (conn->stream) {
            srv__stream_look(conn, is_over(conn), now);
        }
        // Half a request and then the end: libmicrohttpd may have seen both at once and wait for more.
        bool never_whole = conn->state == SRV_CONN_RECEIVING && is_over(conn);
        if (never_whole || (close_idle && is_idle(conn))) {
            cut(conn);
        } else if (conn->deadline_ns != 0 && now >= conn->deadline_ns) {
            if (conn->state != SRV_CONN_IDLE) {
                srv_metric_add(&thread->metrics->cut, 1);
                srv_log(SRV_DEBUG, SRV_EVENT("connection cut: too slow"),
                        SRV_TEXT("while", conn->state == SRV_CONN_SENDING ? "sending" : "receiving"));
            }
            cut(conn);
        }
    }
}

/// @return true: there is more to come
static bool discard(srv_linger *l, uint64_t now)
{
    static _Thread_local char bin[65536];
    ssize_t n;
    while ((n = recv(l->fd, bin, sizeof bin, MSG_DONTWAIT)) > 0) {
        l->bytes += (uint64_t)n;
        if (l->bytes > LINGER_MAX_BYTES) {
            return false;
        }
    }
    return n < 0 && (errno == EAGAIN || errno == EINTR) && now < l->until_ns;
}

void srv__lingers_read(srv_thread *thread, uint64_t now)
{
    for (uint32_t i = 0; i < thread->linger_count;) {
        if (discard(&thread->lingers[i], now)) {
            i++;
        } else {
            close(thread->lingers[i].fd);
            thread->lingers[i] = thread->lingers[--thread->linger_count];
        }
    }
}

void srv__lingers_close(srv_thread *thread)
{
    while (thread->linger_count > 0) {
        close(thread->lingers[--thread->linger_count].fd);
    }
}
