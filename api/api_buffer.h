/// A growing byte buffer. On running out of memory it stays valid, drops what does not fit and remembers.
#ifndef API_BUFFER_H
#define API_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct api_buffer {
    char *data; ///< malloc'ed, not NUL-terminated
    size_t size, cap;
    bool failed; ///< an append did not fit
} api_buffer;

void api_buffer_free(api_buffer *b);
/// Room for `bytes` more; NULL when there is none.
char *api_buffer_room(api_buffer *b, size_t bytes);
void api_buffer_add(api_buffer *b, const void *bytes, size_t size);
void api_buffer_add_text(api_buffer *b, const char *text);
void api_buffer_printf(api_buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
