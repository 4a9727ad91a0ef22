/// Who may change meshes: bearers of the token; without a token, peers on this machine.
#ifndef SRV_AUTH_H
#define SRV_AUTH_H

#include <stdbool.h>
#include <stddef.h>

typedef struct srv_auth srv_auth;

/// @param token_file  NULL: no token
/// @return NULL and one line in `error`: the file cannot be read or holds no token
srv_auth *srv_auth_create(const char *token_file, char *error, size_t error_size);
void srv_auth_destroy(srv_auth *auth);

/// Reads the file again; on failure the token that held goes on holding.
bool srv_auth_reload(srv_auth *auth, char *error, size_t error_size);

/// A token is configured.
bool srv_auth_has_token(const srv_auth *auth);

/// Is this header value "Bearer <token>" with the right token? Takes the same time wherever they differ.
/// @thread any
bool srv_auth_check(srv_auth *auth, const char *authorization);

#endif
