#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 4096

static int fail_errno(int fd)
{
    int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    errno = error;
    return -1;
}

static bool set_flag(int fd, int level, int name)
{
    int on = 1;
    return setsockopt(fd, level, name, &on, sizeof on) == 0;
}

/// @param exclusive  refuse a port that another process listens on with SO_REUSEPORT: the option is set
///                   only after the bind, which then fails; sockets bound later may still join
static int open_tcp(const struct sockaddr_storage *address, socklen_t size, bool exclusive)
{
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    bool ok = set_flag(fd, SOL_SOCKET, SO_REUSEADDR) &&
              (address->ss_family != AF_INET6 || set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY)) &&
              (exclusive || set_flag(fd, SOL_SOCKET, SO_REUSEPORT)) &&
              bind(fd, (const struct sockaddr *)address, size) == 0 &&
              (!exclusive || set_flag(fd, SOL_SOCKET, SO_REUSEPORT)) && listen(fd, BACKLOG) == 0;
    return ok ? fd : fail_errno(fd);
}

/// Does somebody listen on this unix socket?
static bool unix_in_use(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool in_use = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return in_use;
}

static bool open_unix(srv_listener *listener, const char *path, char *error, size_t error_size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) == 0 || strlen(path) >= sizeof address.sun_path) {
        snprintf(error, error_size, "unix:%s: the path must have 1 to %zu characters", path,
                 sizeof address.sun_path - 1);
        return false;
    }
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool bound = fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0 && !bound && errno == EADDRINUSE && !unix_in_use(&address)) {
        unlink(path); // left by a process that did not end well
        bound = bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    }
    if (!bound || listen(fd, BACKLOG) != 0) {
        snprintf(error, error_size, "unix:%s: %s", path, strerror(errno));
        fail_errno(fd);
        return false;
    }
    listener->is_unix = true;
    listener->first_fd = fd;
    snprintf(listener->path, sizeof listener->path, "%s", path);
    snprintf(listener->url, sizeof listener->url, "unix:%s", path);
    return true;
}

/// Splits "host:port"; brackets round an IPv6 host are taken off.
static bool split(const char *text, char *host, size_t host_size, const char **port)
{
    const char *colon = strrchr(text, ':');
    if (!colon || !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1) || strlen(colon + 1) > 5 ||
        atoi(colon + 1) > 65535) {
        return false;
    }
    size_t length = (size_t)(colon - text);
    bool bracketed = length >= 2 && text[0] == '[' && text[length - 1] == ']';
    if (bracketed) {
        text++;
        length -= 2;
    } else if (memchr(text, ':', length)) {
        return false; // IPv6 without brackets
    }
    if (length >= host_size) {
        return false;
    }
    memcpy(host, text, length);
    host[length] = '\0';
    *port = colon + 1;
    return true;
}

bool srv_listen_address_valid(const char *address)
{
    char host[128];
    const char *port;
    return (strncmp(address, "unix:", 5) == 0 && address[5]) || split(address, host, sizeof host, &port);
}

static void write_url(srv_listener *listener, const char *scheme)
{
    char host[64] = "", port[8] = "";
    getnameinfo((const struct sockaddr *)&listener->address, listener->address_size, host, sizeof host, port,
                sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
    bool six = listener->address.ss_family == AF_INET6;
    snprintf(listener->url, sizeof listener->url, "%s://%s%s%s:%s", scheme, six ? "[" : "", host, six ? "]" : "", port);
}

bool srv_listener_open(srv_listener *listener, const char *address, const char *scheme, char *error, size_t error_size)
{
    *listener = (srv_listener){.first_fd = -1};
    if (strncmp(address, "unix:", 5) == 0) {
        return open_unix(listener, address + 5, error, error_size);
    }
    char host[128];
    const char *port;
    if (!split(address, host, sizeof host, &port)) {
        snprintf(error, error_size, "cannot listen on \"%s\": not ADDR:PORT", address);
        return false;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *found = NULL;
    int why = getaddrinfo(host[0] ? host : "0.0.0.0", port, &hints, &found);
    if (why != 0) {
        snprintf(error, error_size, "cannot listen on \"%s\": %s", address, gai_strerror(why));
        return false;
    }
    memcpy(&listener->address, found->ai_addr, found->ai_addrlen);
    listener->address_size = found->ai_addrlen;
    freeaddrinfo(found);
    int fd = open_tcp(&listener->address, listener->address_size, true);
    socklen_t size = sizeof listener->address;
    if (fd < 0 || getsockname(fd, (struct sockaddr *)&listener->address, &size) != 0) {
        snprintf(error, error_size, "cannot listen on \"%s\": %s", address, strerror(errno));
        fail_errno(fd);
        return false;
    }
    listener->address_size = size;
    listener->first_fd = fd;
    write_url(listener, scheme);
    return true;
}

int srv_listener_share(srv_listener *listener)
{
    if (listener->is_unix) {
        return fcntl(listener->first_fd, F_DUPFD_CLOEXEC, 0);
    }
    if (listener->first_fd >= 0) {
        int fd = listener->first_fd;
        listener->first_fd = -1;
        return fd;
    }
    return open_tcp(&listener->address, listener->address_size, false);
}

void srv_listener_close(srv_listener *listener)
{
    if (listener->first_fd >= 0) {
        close(listener->first_fd);
        listener->first_fd = -1;
    }
    if (listener->is_unix) {
        unlink(listener->path);
    }
}
