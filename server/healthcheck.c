// --healthcheck: one HTTP request on a plain socket, for containers without curl.
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "commands.h"

#define TIMEOUT_S 5
#define DEFAULT_URL "http://127.0.0.1:8080"

/// Where to ask.
typedef struct target {
    char host[256], port[8], path[256];
    bool is_unix;
} target;

/// @return false: not a URL of this kind
static bool parse(const char *url, target *t)
{
    *t = (target){.port = "80", .path = "/readyz"};
    if (strncmp(url, "unix:", 5) == 0) {
        t->is_unix = true;
        return snprintf(t->host, sizeof t->host, "%s", url + 5) < (int)sizeof(((struct sockaddr_un *)0)->sun_path);
    }
    if (strncmp(url, "https:", 6) == 0) {
        return false;
    }
    const char *at = strncmp(url, "http://", 7) == 0 ? url + 7 : url;
    size_t length = strcspn(at, "/");
    if (at[length] == '/' && at[length + 1]) {
        snprintf(t->path, sizeof t->path, "%s", at + length);
    }
    bool six = *at == '[';
    const char *host = six ? at + 1 : at;
    size_t host_length = strcspn(host, six ? "]" : ":/");
    const char *after = host + host_length + six;
    if (host_length >= sizeof t->host || after > at + length) {
        return false;
    }
    memcpy(t->host, host, host_length);
    t->host[host_length] = '\0';
    if (*after == ':') {
        size_t digits = strspn(after + 1, "0123456789");
        if (digits == 0 || digits > 5 || after + 1 + digits != at + length) {
            return false;
        }
        snprintf(t->port, sizeof t->port, "%.*s", (int)digits, after + 1);
    }
    // A server that listens on every address is asked on this machine's own.
    if (!t->host[0] || strcmp(t->host, "0.0.0.0") == 0) {
        snprintf(t->host, sizeof t->host, "127.0.0.1");
    } else if (strcmp(t->host, "::") == 0) {
        snprintf(t->host, sizeof t->host, "::1");
    }
    return true;
}

static int open_socket(int family, int type, int protocol, const struct sockaddr *address, socklen_t size)
{
    int fd = socket(family, type | SOCK_CLOEXEC, protocol);
    struct timeval limit = {.tv_sec = TIMEOUT_S};
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        if (connect(fd, address, size) == 0) {
            return fd;
        }
        close(fd);
    }
    return -1;
}

static int connect_to(const target *t)
{
    if (t->is_unix) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        snprintf(address.sun_path, sizeof address.sun_path, "%.107s", t->host);
        return open_socket(AF_UNIX, SOCK_STREAM, 0, (struct sockaddr *)&address, sizeof address);
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    if (getaddrinfo(t->host, t->port, &hints, &found) != 0) {
        return -1;
    }
    int fd = -1;
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
        fd = open_socket(a->ai_family, a->ai_socktype, a->ai_protocol, a->ai_addr, a->ai_addrlen);
    }
    freeaddrinfo(found);
    return fd;
}

/// @return the HTTP status, 0: no answer
static int ask(int fd, const target *t)
{
    char request[640], answer[64];
    int size = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", t->path,
                        t->is_unix ? "localhost" : t->host);
    if (send(fd, request, (size_t)size, MSG_NOSIGNAL) != size) {
        return 0;
    }
    size_t have = 0;
    while (have < sizeof answer - 1) {
        ssize_t n = recv(fd, answer + have, sizeof answer - 1 - have, 0);
        if (n <= 0) {
            break;
        }
        have += (size_t)n;
    }
    answer[have] = '\0';
    int status = 0;
    return sscanf(answer, "HTTP/1.%*1[01] %3d", &status) == 1 ? status : 0;
}

int srv_healthcheck(const char *url)
{
    target t;
    if (!parse(url ? url : DEFAULT_URL, &t)) {
        fprintf(stderr, "navd: --healthcheck: cannot ask \"%s\", expected http://HOST:PORT or unix:/path\n", url);
        return 2;
    }
    int fd = connect_to(&t);
    int status = fd >= 0 ? ask(fd, &t) : 0;
    if (fd >= 0) {
        close(fd);
    }
    if (status != 200) {
        fprintf(stderr, "navd: not ready: %s\n",
                fd < 0   ? "nobody listens"
                : status ? "it says so itself"
                         : "no answer");
        return 1;
    }
    return 0;
}
