/// Problem documents (RFC 9457): why a request failed.
#ifndef API_PROBLEM_H
#define API_PROBLEM_H

#include <stddef.h>

/// Stable codes with their HTTP status and title: the one table of errors.
#define API_CODE_LIST(X)                                                            \
    X(API_BAD_JSON, "bad_json", 400, "The body is not JSON")                        \
    X(API_BAD_REQUEST, "bad_request", 400, "The request is not valid")              \
    X(API_UNAUTHORIZED, "unauthorized", 401, "A token is needed")                   \
    X(API_FORBIDDEN, "forbidden", 403, "Not allowed")                               \
    X(API_NOT_FOUND, "not_found", 404, "Not found")                                 \
    X(API_METHOD_NOT_ALLOWED, "method_not_allowed", 405, "Method not allowed")      \
    X(API_CONFLICT, "conflict", 409, "Conflict with the present state")             \
    X(API_LENGTH_REQUIRED, "length_required", 411, "Content-Length is needed")      \
    X(API_TOO_LARGE, "too_large", 413, "The request or its answer is too large")    \
    X(API_URI_TOO_LONG, "uri_too_long", 414, "The address is too long")             \
    X(API_UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", 415, "Unknown format")  \
    X(API_BAD_MESH, "bad_mesh", 422, "The mesh cannot be read")                     \
    X(API_HEADERS_TOO_LARGE, "headers_too_large", 431, "The headers are too large") \
    X(API_INTERNAL, "internal", 500, "Our fault")                                   \
    X(API_OVERLOADED, "overloaded", 503, "Too busy")                                \
    X(API_DRAINING, "draining", 503, "Shutting down")                               \
    X(API_DEADLINE, "deadline", 504, "Out of time")                                 \
    X(API_STORAGE_FULL, "storage_full", 507, "No room to keep it")

typedef enum api_code {
    API_NO_PROBLEM,
#define API__ENUM(name, text, status, title) name,
    API_CODE_LIST(API__ENUM)
#undef API__ENUM
        API_CODE_COUNT
} api_code;

#define API_DETAIL_SIZE 512
typedef struct api_problem {
    api_code code;
    char detail[API_DETAIL_SIZE];
    char pointer[128];  ///< JSON Pointer of the member at fault; empty: none
    char parameter[65]; ///< name of the query parameter at fault; empty: none
    const char *allow;  ///< for 405: the Allow header; NULL otherwise
    int retry_after;    ///< seconds for Retry-After; 0: none
} api_problem;

const char *api_code_text(api_code code);
int api_code_status(api_code code);
const char *api_code_title(api_code code);

/// Fills a problem; pointer and parameter are cleared.
void api_problem_set(api_problem *problem, api_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
