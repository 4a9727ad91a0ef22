// Log lines. A line is put together on the stack and written at once; what does not fit is cut.
#include "log.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "utf8.h"

#define LINE_MAX_BYTES 2048
#define ESCAPE_MAX_BYTES 8
#define TAIL_ROOM 16   // a closing quote, brace and newline always fit
#define FIELD_ROOM 128 // no field is begun with less: its name and a number always fit

typedef struct line {
    char text[LINE_MAX_BYTES];
    size_t size;
} line;

static srv_log_level least_level = SRV_INFO;
static bool as_json;

void srv_log_setup(srv_log_level least, bool json)
{
    least_level = least;
    as_json = json;
}

const char *srv_log_level_name(srv_log_level level)
{
    static const char *const names[SRV_LOG_LEVEL_COUNT] = {"debug", "info", "warn", "error"};
    return names[level];
}

static void add_char(line *l, char c)
{
    if (l->size < LINE_MAX_BYTES - TAIL_ROOM) {
        l->text[l->size++] = c;
    }
}

static void add_raw(line *l, const char *text)
{
    for (; *text; text++) {
        add_char(l, *text);
    }
}

static void add_format(line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_format(line *l, const char *format, ...)
{
    char buffer[64];
    va_list args;
    va_start(args, format);
    vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    add_raw(l, buffer);
}

/// JSON string escapes; in text lines the same escapes keep a hostile name from forging a line. A byte
/// that is no UTF-8 is shown as the character of its number.
static void add_escaped(line *l, const char *text)
{
    size_t left = strlen(text);
    while (left > 0 && l->size + ESCAPE_MAX_BYTES <= LINE_MAX_BYTES - TAIL_ROOM) {
        unsigned char c = (unsigned char)*text;
        size_t length = api_utf8_length((const unsigned char *)text, left);
        if (c == '"' || c == '\\') {
            add_char(l, '\\');
            add_char(l, (char)c);
        } else if (c < 0x20 || c == 0x7f || length == 0) {
            add_format(l, "\\u%04x", c);
            length = 1;
        } else {
            for (size_t i = 0; i < length; i++) {
                add_char(l, text[i]);
            }
        }
        text += length;
        left -= length;
    }
}

static bool is_plain(const char *text)
{
    return *text && text[strcspn(text, " \"\\=\t\r\n")] == '\0';
}

static void add_value(line *l, const srv_field *f)
{
    switch (f->kind) {
    case SRV_FIELD_TEXT: {
        bool quote = as_json || !is_plain(f->text);
        if (quote) {
            add_char(l, '"');
        }
        add_escaped(l, f->text);
        if (quote) {
            add_char(l, '"');
        }
        break;
    }
    case SRV_FIELD_INTEGER:
        add_format(l, "%lld", (long long)f->integer);
        break;
    case SRV_FIELD_REAL:
        add_format(l, "%.3f", f->real);
        break;
    case SRV_FIELD_END:
        break;
    }
}

static void add_time(line *l)
{
    int64_t ms = srv_wall_ms();
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    add_format(l, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
               tm.tm_min, tm.tm_sec, (int)(ms % 1000));
}

static void write_line(const line *l)
{
    const char *from = l->text;
    size_t left = l->size;
    while (left > 0) {
        ssize_t n = write(STDERR_FILENO, from, left);
        if (n <= 0) {
            return; // nobody reads the log: the service goes on
        }
        from += n;
        left -= (size_t)n;
    }
}

void srv_log_fields(srv_log_level level, const srv_field *fields)
{
    if (level < least_level) {
        return;
    }
    line l = {.size = 0};
    if (as_json) {
        add_raw(&l, "{\"time\":\"");
        add_time(&l);
        add_format(&l, "\",\"level\":\"%s\"", srv_log_level_name(level));
    } else {
        add_time(&l);
        add_format(&l, " %-5s", srv_log_level_name(level));
    }
    for (const srv_field *f = fields; f->kind != SRV_FIELD_END && l.size < LINE_MAX_BYTES - FIELD_ROOM; f++) {
        if (f->kind == SRV_FIELD_TEXT && !f->text) {
            continue;
        }
        if (as_json) {
            add_format(&l, ",\"%s\":", f->name);
            add_value(&l, f);
        } else if (f == fields && f->kind == SRV_FIELD_TEXT) {
            add_char(&l, ' ');
            add_escaped(&l, f->text);
        } else {
            add_format(&l, " %s=", f->name);
            add_value(&l, f);
        }
    }
    if (as_json) {
        l.text[l.size++] = '}';
    }
    l.text[l.size++] = '\n';
    write_line(&l);
}
