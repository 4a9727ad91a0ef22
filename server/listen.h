/// Listening sockets. Every serving thread has its own on the same TCP port; the kernel spreads
/// connections among them. A unix socket is shared.
#ifndef SRV_LISTEN_H
#define SRV_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

typedef struct srv_listener {
    bool is_unix;
    char path[108];                  ///< of the unix socket
    struct sockaddr_storage address; ///< with the port that was taken
    socklen_t address_size;
    int first_fd; ///< opened by srv_listener_open, given to the first srv_listener_share; -1 after
    char url[160];
} srv_listener;

/// Has `address` one of the forms that srv_listener_open takes?
bool srv_listen_address_valid(const char *address);

/// Opens "ADDR:PORT", "[ADDR6]:PORT" or "unix:/path".
/// @param scheme  "http" or "https", for the URL
/// @return false and one line in `error`: wrong, taken, not allowed
bool srv_listener_open(srv_listener *listener, const char *address, const char *scheme, char *error, size_t error_size);

/// A non-blocking listening descriptor for one more thread; -1: errno.
int srv_listener_share(srv_listener *listener);

/// Closes what was not given away and removes the unix socket.
void srv_listener_close(srv_listener *listener);

#endif
