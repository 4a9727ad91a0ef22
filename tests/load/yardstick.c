/// A yardstick for `make load`: the least that a server of HTTP can do. It answers whatever comes with the
/// same 200 from a bare epoll loop, so that its CPU time per request is what the kernel and this machine
/// take today; noise from other work on the machine raises both it and navd.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 64

static const char answer[] = "HTTP/1.1 200 OK\r\n"
                             "Date: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
                             "Content-Type: application/json\r\n"
                             "X-Request-Id: 0123456789abcdef\r\n"
                             "Content-Length: 15\r\n\r\n"
                             "{\"status\":\"ok\"}";

static int listen_somewhere(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, 512) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        return -1;
    }
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static void watch(int epoll_fd, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void serve(int fd)
{
    char request[8192];
    if (recv(fd, request, sizeof request, 0) <= 0 || send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL) <= 0) {
        close(fd);
    }
}

int main(void)
{
    int listen_fd = listen_somewhere(), epoll_fd = epoll_create1(0);
    if (listen_fd < 0 || epoll_fd < 0) {
        perror("yardstick");
        return 1;
    }
    watch(epoll_fd, listen_fd);
    for (;;) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(epoll_fd, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd != listen_fd) {
                serve(events[i].data.fd);
                continue;
            }
            int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (fd >= 0) {
                setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
                watch(epoll_fd, fd);
            }
        }
    }
}
