// Serving threads: sockets, daemons and the loop that drives them.
//
// A thread polls two descriptors for each address: the daemon's epoll descriptor, and one eventfd for
// wake-ups. libmicrohttpd's own epoll threads are not used: up to 1.0.1 they wait out the full timeout
// whenever exactly 128 events came back, and closed-loop clients stall.
#include "http.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "clock.h"
#include "http_internal.h"
#include "log.h"

#define SWEEP_MAX_MS 500
#define SWEEP_MIN_MS 5
#define STOP_ROUNDS 100 // turns of libmicrohttpd at the end, to send what is still queued

struct srv_http {
    srv_server *server;
    srv_listener listeners[SRV_LISTEN_MAX];
    uint32_t listener_count;
    char *tls_key, *tls_cert;
    srv_thread *threads;
    uint32_t thread_count;
};

void srv__thread_wake(srv_thread *thread)
{
    // The counter cannot overflow in practice, and a full one wakes just as well.
    (void)!write(thread->wake_fd, &(uint64_t){1}, sizeof(uint64_t));
}

/// Sends paths and arguments through as they came: the api decodes them once it knows what they are.
static size_t leave_escaped(void *cls, struct MHD_Connection *connection, char *text)
{
    (void)cls, (void)connection;
    return strlen(text);
}

static struct MHD_Daemon *start_daemon(srv_http *http, srv_thread *thread, int listen_fd)
{
    const srv_config *config = &http->server->config;
    // MHD_ALLOW_SUSPEND_RESUME asks for a pipe too, to wake an internal thread. There is none, so each
    // resume would write to it and read it back for nothing.
    unsigned flags = MHD_USE_EPOLL | (MHD_ALLOW_SUSPEND_RESUME & ~(unsigned)MHD_USE_ITC);
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_KEY, 0, http->tls_key},
        {MHD_OPTION_HTTPS_MEM_CERT, 0, http->tls_cert},
        {MHD_OPTION_END, 0, NULL},
    };
    if (http->tls_key) {
        flags |= MHD_USE_TLS;
    } else {
        tls[0].option = MHD_OPTION_END;
    }
    // clang-format off
    return MHD_start_daemon(flags, 0, srv__conn_accept, thread, srv__request_handle, thread,
                            MHD_OPTION_LISTEN_SOCKET, listen_fd,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)config->max_connections + 1,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, SRV_CONNECTION_BYTES,
                            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)(config->idle_timeout_ms / 1000 + 1),
                            MHD_OPTION_NOTIFY_CONNECTION, srv__conn_notify, thread,
                            MHD_OPTION_NOTIFY_COMPLETED, srv__request_completed, thread,
                            MHD_OPTION_URI_LOG_CALLBACK, srv__request_begin, thread,
                            MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL,
                            MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
                            MHD_OPTION_ARRAY, tls,
                            MHD_OPTION_END);
    // clang-format on
}

static bool start_daemons(srv_http *http, srv_thread *thread, char *error, size_t error_size)
{
    for (uint32_t i = 0; i < http->listener_count; i++) {
        int fd = srv_listener_share(&http->listeners[i]);
        if (fd < 0) {
            snprintf(error, error_size, "cannot listen on %s: %s", http->listeners[i].url, strerror(errno));
            return false;
        }
        struct MHD_Daemon *daemon = start_daemon(http, thread, fd);
        const union MHD_DaemonInfo *info = daemon ? MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
        if (!info) {
            close(fd);
            snprintf(error, error_size, "cannot start serving%s",
                     http->tls_key ? ": check the certificate and its key" : "");
            return false;
        }
        thread->daemons[thread->daemon_count] = daemon;
        thread->epoll_fds[thread->daemon_count++] = info->epoll_fd;
    }
    return true;
}

static uint64_t sweep_interval_ns(const srv_thread *thread)
{
    uint64_t ms = thread->server->config.request_timeout_ms / 8;
    ms = ms > SWEEP_MAX_MS ? SWEEP_MAX_MS : ms < SWEEP_MIN_MS ? SWEEP_MIN_MS : ms;
    return ms * SRV_NS_PER_MS;
}

/// Takes in the connections that the kernel has accepted already: closing the socket would reset them.
static void take_backlog(struct MHD_Daemon *daemon, int listen_fd)
{
    for (;;) {
        struct sockaddr_storage address;
        socklen_t size = sizeof address;
        int fd = accept4(listen_fd, (struct sockaddr *)&address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            return;
        }
        // Closes the descriptor itself when it fails.
        (void)MHD_add_connection(daemon, fd, (struct sockaddr *)&address, size);
    }
}

static void stop_accepting(srv_thread *thread, uint64_t now)
{
    thread->drained = true;
    thread->close_idle_ns = now + (uint64_t)atomic_load(&thread->grace_ms) * SRV_NS_PER_MS;
    for (uint32_t i = 0; i < thread->daemon_count; i++) {
        int fd = MHD_quiesce_daemon(thread->daemons[i]);
        if (fd >= 0) {
            take_backlog(thread->daemons[i], fd);
            close(fd);
        }
    }
}

/// Milliseconds that poll may wait.
static int wait_ms(srv_thread *thread, uint64_t now)
{
    uint64_t until = UINT64_MAX;
    for (uint32_t i = 0; i < thread->daemon_count; i++) {
        MHD_UNSIGNED_LONG_LONG ms;
        if (MHD_get_timeout(thread->daemons[i], &ms) == MHD_YES) {
            if (ms == 0) {
                return 0;
            }
            until = ms < 60000 && now + ms * SRV_NS_PER_MS < until ? now + ms * SRV_NS_PER_MS : until;
        }
    }
    if (thread->conn_count > 0 || thread->linger_count > 0) {
        until = thread->next_sweep_ns < until ? thread->next_sweep_ns : until;
    }
    uint64_t delayed = srv__next_delayed(thread);
    until = delayed < until ? delayed : until;
    if (until == UINT64_MAX) {
        return -1;
    }
    return until <= now ? 0 : (int)((until - now) / SRV_NS_PER_MS) + 1;
}

static void wait(srv_thread *thread, uint64_t now)
{
    struct pollfd fds[SRV_LISTEN_MAX + SRV_LINGER_MAX + 1];
    nfds_t count = 0;
    int ms = wait_ms(thread, now);
    if (ms == 0) {
        return;
    }
    fds[count++] = (struct pollfd){.fd = thread->wake_fd, .events = POLLIN};
    for (uint32_t i = 0; i < thread->daemon_count; i++) {
        fds[count++] = (struct pollfd){.fd = thread->epoll_fds[i], .events = POLLIN};
    }
    for (uint32_t i = 0; i < thread->linger_count; i++) {
        fds[count++] = (struct pollfd){.fd = thread->lingers[i].fd, .events = POLLIN};
    }
    if (poll(fds, count, ms) > 0 && fds[0].revents) {
        uint64_t wakes;
        (void)!read(thread->wake_fd, &wakes, sizeof wakes);
    }
}

static void turn(srv_thread *thread)
{
    for (uint32_t i = 0; i < thread->daemon_count; i++) {
        MHD_run(thread->daemons[i]);
    }
}

/// Sends what is queued, then closes. No request is with a pool any more.
static void wind_up(srv_thread *thread)
{
    srv__streams_end(thread);
    for (int round = 0; round < STOP_ROUNDS && thread->conn_count > 0; round++) {
        srv__resume_finished(thread, UINT64_MAX);
        turn(thread);
        struct pollfd none[1] = {{.fd = thread->epoll_fds[0], .events = POLLIN}};
        (void)poll(none, 1, 1);
        srv__conns_sweep(thread, srv_now_ns());
    }
    srv__resume_finished(thread, UINT64_MAX);
    for (uint32_t i = 0; i < thread->daemon_count; i++) {
        MHD_stop_daemon(thread->daemons[i]);
    }
    thread->daemon_count = 0;
    srv__lingers_close(thread);
    srv__requests_free(thread);
}

static void *thread_main(void *arg)
{
    srv_thread *thread = arg;
    while (!atomic_load_explicit(&thread->finish, memory_order_acquire)) {
        uint64_t now = srv_now_ns();
        if (!thread->drained && atomic_load_explicit(&thread->drain, memory_order_acquire)) {
            stop_accepting(thread, now);
        }
        srv__resume_finished(thread, now);
        srv__streams_resume(thread);
        if (now >= thread->next_sweep_ns) {
            srv__conns_sweep(thread, now);
            thread->next_sweep_ns = now + sweep_interval_ns(thread);
        }
        if (thread->linger_count > 0) {
            srv__lingers_read(thread, now);
        }
        turn(thread);
        wait(thread, now);
    }
    wind_up(thread);
    return NULL;
}

/// Everything but the thread itself: its sockets accept, but nobody answers yet.
static bool prepare_thread(srv_http *http, srv_thread *thread, uint32_t index, char *error, size_t error_size)
{
    srv_server *server = http->server;
    thread->server = server;
    thread->index = index;
    thread->metrics = &server->metrics[index];
    thread->delayed_last = &thread->delayed;
    thread->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    thread->context = api_context_create(&server->host, &server->limits);
    if (getrandom(&thread->id_prefix, sizeof thread->id_prefix, 0) != (ssize_t)sizeof thread->id_prefix) {
        thread->id_prefix = srv_now_ns() << 16 | index;
    }
    if (thread->wake_fd < 0 || !thread->context) {
        snprintf(error, error_size, "no memory or no descriptor for a serving thread");
        return false;
    }
    return start_daemons(http, thread, error, error_size);
}

static bool start_thread(srv_thread *thread, char *error, size_t error_size)
{
    if (pthread_create(&thread->pthread, NULL, thread_main, thread) != 0) {
        snprintf(error, error_size, "cannot start a serving thread");
        return false;
    }
    thread->running = true;
    char name[16];
    snprintf(name, sizeof name, "serve%u", thread->index % 1000);
    pthread_setname_np(thread->pthread, name);
    return true;
}

static char *read_file(const char *path, char *error, size_t error_size)
{
    enum { LARGEST = 1 << 20 };
    FILE *in = fopen(path, "re");
    char *text = in ? malloc(LARGEST) : NULL;
    if (!text) {
        snprintf(error, error_size, "%s: %s", path, strerror(errno));
    } else {
        size_t size = fread(text, 1, LARGEST - 1, in);
        text[size] = '\0';
    }
    if (in) {
        fclose(in);
    }
    return text;
}

static bool read_tls(srv_http *http, char *error, size_t error_size)
{
    const srv_config *config = &http->server->config;
    if (!config->tls_cert) {
        return true;
    }
    if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES) {
        snprintf(error, error_size, "this libmicrohttpd was built without TLS: put a proxy in front");
        return false;
    }
    http->tls_cert = read_file(config->tls_cert, error, error_size);
    http->tls_key = http->tls_cert ? read_file(config->tls_key, error, error_size) : NULL;
    return http->tls_key != NULL;
}

static bool open_listeners(srv_http *http, char *error, size_t error_size)
{
    const srv_config *config = &http->server->config;
    for (uint32_t i = 0; i < config->listen_count; i++) {
        const char *scheme = http->tls_cert ? "https" : "http";
        if (!srv_listener_open(&http->listeners[i], config->listen[i], scheme, error, error_size)) {
            return false;
        }
        http->listener_count++;
    }
    return true;
}

srv_http *srv_http_start(srv_server *server, char *error, size_t error_size)
{
    srv_http *http = calloc(1, sizeof *http);
    srv_thread *threads = calloc(server->config.threads, sizeof *threads);
    if (!http || !threads) {
        free(http);
        free(threads);
        snprintf(error, error_size, "no memory");
        return NULL;
    }
    http->server = server;
    http->threads = threads;
    bool ok = read_tls(http, error, error_size) && open_listeners(http, error, error_size);
    while (ok && http->thread_count < server->config.threads) {
        uint32_t index = http->thread_count++;
        ok = prepare_thread(http, &threads[index], index, error, error_size);
    }
    // Only now, so that a failure finds no request under way.
    for (uint32_t i = 0; ok && i < http->thread_count; i++) {
        ok = start_thread(&threads[i], error, error_size);
    }
    if (!ok) {
        srv_http_stop(http);
        return NULL;
    }
    return http;
}

const char *srv_http_url(const srv_http *http, size_t index)
{
    return index < http->listener_count ? http->listeners[index].url : NULL;
}

void srv_http_drain(srv_http *http, unsigned grace_ms)
{
    for (uint32_t i = 0; i < http->thread_count; i++) {
        atomic_store(&http->threads[i].grace_ms, grace_ms);
        atomic_store_explicit(&http->threads[i].drain, true, memory_order_release);
        srv__thread_wake(&http->threads[i]);
    }
}

static void free_thread(srv_thread *thread)
{
    for (uint32_t i = 0; i < thread->daemon_count; i++) {
        MHD_stop_daemon(thread->daemons[i]);
    }
    if (thread->context) {
        api_context_destroy(thread->context);
    }
    if (thread->wake_fd >= 0) {
        close(thread->wake_fd);
    }
}

void srv_http_stop(srv_http *http)
{
    if (!http) {
        return;
    }
    for (uint32_t i = 0; i < http->thread_count; i++) {
        atomic_store_explicit(&http->threads[i].finish, true, memory_order_release);
        if (http->threads[i].running) {
            srv__thread_wake(&http->threads[i]);
            pthread_join(http->threads[i].pthread, NULL);
        }
    }
    for (uint32_t i = 0; i < http->thread_count; i++) {
        free_thread(&http->threads[i]);
    }
    for (uint32_t i = 0; i < http->listener_count; i++) {
        srv_listener_close(&http->listeners[i]);
    }
    free(http->threads);
    free(http->tls_key);
    free(http->tls_cert);
    free(http);
}
