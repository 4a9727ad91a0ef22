#include "auth.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TOKEN_MAX 1024

struct srv_auth {
    const char *file; ///< NULL: no token is configured
    pthread_mutex_t lock;
    // under lock:
    char token[TOKEN_MAX];
    size_t length;
};

/// The first line without the white space around it.
static bool read_token(const char *file, char token[TOKEN_MAX], size_t *length, char *error, size_t error_size)
{
    FILE *in = fopen(file, "re");
    if (!in) {
        snprintf(error, error_size, "token file %s: %s", file, strerror(errno));
        return false;
    }
    char *line = fgets(token, TOKEN_MAX, in);
    fclose(in);
    size_t first = line ? strspn(line, " \t") : 0;
    size_t n = line ? strcspn(line + first, " \t\r\n") : 0;
    if (n == 0 || first + n >= TOKEN_MAX - 1) {
        snprintf(error, error_size, "token file %s: its first line must be a token of less than %d characters", file,
                 TOKEN_MAX - 2);
        return false;
    }
    memmove(token, token + first, n);
    token[n] = '\0';
    *length = n;
    return true;
}

srv_auth *srv_auth_create(const char *token_file, char *error, size_t error_size)
{
    srv_auth *auth = calloc(1, sizeof *auth);
    if (!auth) {
        snprintf(error, error_size, "no memory");
        return NULL;
    }
    pthread_mutex_init(&auth->lock, NULL);
    auth->file = token_file;
    if (!srv_auth_reload(auth, error, error_size)) {
        srv_auth_destroy(auth);
        return NULL;
    }
    return auth;
}

void srv_auth_destroy(srv_auth *auth)
{
    if (auth) {
        pthread_mutex_destroy(&auth->lock);
        free(auth);
    }
}

bool srv_auth_reload(srv_auth *auth, char *error, size_t error_size)
{
    char token[TOKEN_MAX];
    size_t length;
    if (!auth->file) {
        return true;
    }
    if (!read_token(auth->file, token, &length, error, error_size)) {
        return false;
    }
    pthread_mutex_lock(&auth->lock);
    memcpy(auth->token, token, length + 1);
    auth->length = length;
    pthread_mutex_unlock(&auth->lock);
    return true;
}

bool srv_auth_has_token(const srv_auth *auth)
{
    return auth->file != NULL;
}

/// Touches every byte of `given` whatever differs; only its length can be told from the time.
static bool equal_in_constant_time(const char *given, size_t given_length, const char *token, size_t length)
{
    unsigned char differ = given_length != length;
    for (size_t i = 0; i < given_length; i++) {
        differ = (unsigned char)(differ | (given[i] ^ token[i % (length ? length : 1)]));
    }
    return differ == 0;
}

bool srv_auth_check(srv_auth *auth, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    if (!auth->file || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0) {
        return false;
    }
    const char *given = authorization + sizeof scheme - 1;
    given += strspn(given, " ");
    pthread_mutex_lock(&auth->lock);
    bool same = equal_in_constant_time(given, strlen(given), auth->token, auth->length);
    pthread_mutex_unlock(&auth->lock);
    return same;
}
