/// UTF-8, as RFC 3629 defines it.
#ifndef API_UTF8_H
#define API_UTF8_H

#include <stddef.h>

/// Length of the well-formed sequence at the start of `text` (`size` >= 1 bytes), 0 when it is malformed:
/// a stray continuation, an overlong form, a surrogate, beyond U+10FFFF, or cut short.
static inline size_t api_utf8_length(const unsigned char *text, size_t size)
{
    unsigned char first = text[0];
    if (first < 0x80) {
        return 1;
    }
    size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (length == 0 || length > size) {
        return 0;
    }
    // The second byte's range excludes overlong forms, surrogates and what lies beyond U+10FFFF.
    unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (text[1] < low || text[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return length;
}

#endif
