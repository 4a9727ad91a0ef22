/// Growth of byte buffers.
#include "api_buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 512

void api_buffer_free(api_buffer *b)
{
    free(b->data);
    *b = (api_buffer){0};
}

/// Once an append has failed, later ones fail too: what is there stays a prefix of what was meant.
static char *grow(api_buffer *b, size_t bytes)
{
    if (b->failed || bytes > SIZE_MAX / 2 - b->size) {
        b->failed = true;
        return NULL;
    }
    size_t need = b->size + bytes;
    size_t cap = b->cap > FIRST_CAP / 2 ? b->cap * 2 : FIRST_CAP;
    if (cap < need) {
        cap = need;
    }
    char *data = realloc(b->data, cap);
    if (!data) {
        b->failed = true;
        return NULL;
    }
    b->data = data;
    b->cap = cap;
    return data + b->size;
}

char *api_buffer_room(api_buffer *b, size_t bytes)
{
    if (!b->failed && b->data && bytes <= b->cap - b->size) {
        return b->data + b->size;
    }
    return grow(b, bytes);
}

void api_buffer_add(api_buffer *b, const void *bytes, size_t size)
{
    if (size == 0) {
        return;
    }
    char *room = api_buffer_room(b, size);
    if (room) {
        memcpy(room, bytes, size);
        b->size += size;
    }
}

void api_buffer_add_text(api_buffer *b, const char *text)
{
    api_buffer_add(b, text, strlen(text));
}

void api_buffer_printf(api_buffer *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    char *room = api_buffer_room(b, 128);
    int length = room ? vsnprintf(room, b->cap - b->size, format, args) : -1;
    if (length >= 0 && (size_t)length >= b->cap - b->size) {
        room = api_buffer_room(b, (size_t)length + 1);
        length = room ? vsnprintf(room, b->cap - b->size, format, again) : -1;
    }
    if (length >= 0) {
        b->size += (size_t)length;
    } else {
        b->failed = true;
    }
    va_end(again);
    va_end(args);
}
