/// The JSON writer.
#include "json_out.h"

#include <float.h>
#include <time.h>

#include "number.h"
#include "utf8.h"

static void separate(api_json *json)
{
    if (json->comma) {
        api_buffer_add(json->out, ",", 1);
    }
    json->comma = true;
}

void api_json_open(api_json *json, char bracket)
{
    separate(json);
    api_buffer_add(json->out, &bracket, 1);
    json->comma = false;
}

void api_json_close(api_json *json, char bracket)
{
    api_buffer_add(json->out, &bracket, 1);
    json->comma = true;
}

void api_json_key_sized(api_json *json, const char *name, size_t length)
{
    char *room = api_buffer_room(json->out, length + 4);
    if (!room) {
        return;
    }
    char *to = room;
    if (json->comma) {
        *to++ = ',';
    }
    *to++ = '"';
    memcpy(to, name, length);
    to += length;
    *to++ = '"';
    *to++ = ':';
    json->out->size += (size_t)(to - room);
    json->comma = false;
}

void api_json_key_text(api_json *json, const char *name)
{
    api_json_text(json, name);
    api_buffer_add(json->out, ":", 1);
    json->comma = false;
}

/// Characters of `text` that can be copied as they are.
static size_t plain_length(const unsigned char *text, size_t size)
{
    size_t i = 0;
    while (i < size && text[i] >= 0x20 && text[i] != '"' && text[i] != '\\' && text[i] < 0x80) {
        i++;
    }
    return i;
}

static void add_escaped(api_buffer *out, unsigned char c)
{
    static const char short_forms[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (const char *form = short_forms; *form; form += 2) {
        if ((unsigned char)form[0] == c) {
            char escape[2] = {'\\', form[1]};
            api_buffer_add(out, escape, sizeof escape);
            return;
        }
    }
    api_buffer_printf(out, "\\u%04x", c);
}

void api_json_text(api_json *json, const char *text)
{
    separate(json);
    api_buffer *out = json->out;
    const unsigned char *bytes = (const unsigned char *)text;
    size_t size = strlen(text);
    api_buffer_add(out, "\"", 1);
    for (size_t i = 0; i < size;) {
        size_t length = plain_length(bytes + i, size - i);
        if (length == 0 && bytes[i] >= 0x80) {
            length = api_utf8_length(bytes + i, size - i);
        }
        if (length) {
            api_buffer_add(out, bytes + i, length);
            i += length;
        } else if (bytes[i] >= 0x80) {
            api_buffer_add(out, "\xEF\xBF\xBD", 3);
            i++;
        } else {
            add_escaped(out, bytes[i++]);
        }
    }
    api_buffer_add(out, "\"", 1);
}

void api_json_word(api_json *json, const char *word)
{
    separate(json);
    size_t length = strlen(word);
    char *room = api_buffer_room(json->out, length + 2);
    if (room) {
        room[0] = '"';
        memcpy(room + 1, word, length);
        room[length + 1] = '"';
        json->out->size += length + 2;
    }
}

void api_json_raw(api_json *json, const char *text)
{
    separate(json);
    api_buffer_add_text(json->out, text);
}

void api_json_u64(api_json *json, uint64_t value)
{
    separate(json);
    char *room = api_buffer_room(json->out, API_NUMBER_MAX);
    if (room) {
        json->out->size += api_number_u64(room, value);
    }
}

void api_json_double(api_json *json, double value)
{
    separate(json);
    char *room = api_buffer_room(json->out, API_NUMBER_MAX);
    if (room) {
        json->out->size += api_number_double(room, value);
    }
}

void api_json_bool(api_json *json, bool value)
{
    separate(json);
    api_buffer_add_text(json->out, value ? "true" : "false");
}

void api_json_null(api_json *json)
{
    separate(json);
    api_buffer_add(json->out, "null", 4);
}

void api_json_time(api_json *json, int64_t unix_ms)
{
    time_t seconds = (time_t)(unix_ms / 1000);
    int ms = (int)(unix_ms % 1000);
    struct tm tm;
    char text[64];
    if (unix_ms < 0 || !gmtime_r(&seconds, &tm)) {
        api_json_null(json);
        return;
    }
    size_t length = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    separate(json);
    api_buffer_printf(json->out, "\"%.*s.%03dZ\"", (int)length, text, ms);
}

/// A double that is out of a float's range has no defined conversion.
static float to_float(double value)
{
    return value > FLT_MAX ? FLT_MAX : value < -FLT_MAX ? -FLT_MAX : (float)value;
}

static size_t write_coordinate(char *to, int precision, double value)
{
    return precision < 0 ? api_number_float(to, to_float(value)) : api_number_rounded(to, to_float(value), precision);
}

void api_json_coordinate(api_json *json, const api_positions *positions, double value)
{
    separate(json);
    char *room = api_buffer_room(json->out, API_NUMBER_MAX);
    if (room) {
        json->out->size += write_coordinate(room, positions->precision, value);
    }
}

// Room for a position with its brackets, names and commas.
#define POSITION_MAX (3 * (API_NUMBER_MAX + 5) + 3)

/// Mostly positions are written as they are.
static bool is_plain(const api_positions *positions)
{
    return positions->precision < 0 && !positions->objects && positions->dimensions == 3 &&
           memcmp(positions->frame, &api_frame_identity, sizeof api_frame_identity) == 0;
}

static char *put_special(char *to, const api_positions *positions, nav_vec internal)
{
    nav_vec caller = api_frame_to_caller(positions->frame, internal);
    const double values[3] = {caller.x, caller.y, caller.z};
    *to++ = positions->objects ? '{' : '[';
    int written = 0;
    for (int k = 0; k < 3; k++) {
        if (positions->dimensions == 2 && positions->frame->axis[k] == 1) {
            continue; // the height of a flat mesh
        }
        if (written > 0) {
            *to++ = ',';
        }
        if (positions->objects) {
            *to++ = '"';
            *to++ = (char)('x' + written);
            *to++ = '"';
            *to++ = ':';
        }
        to += write_coordinate(to, positions->precision, values[k]);
        written++;
    }
    *to++ = positions->objects ? '}' : ']';
    return to;
}

/// `plain`: is_plain(positions)
static inline char *put_position(char *to, const api_positions *positions, bool plain, nav_vec internal)
{
    if (!plain) {
        return put_special(to, positions, internal);
    }
    const float values[3] = {to_float(internal.x), to_float(internal.y), to_float(internal.z)};
    *to++ = '[';
    to += api_number_floats(to, values, 3);
    *to++ = ']';
    return to;
}

void api_json_position(api_json *json, const api_positions *positions, nav_vec internal)
{
    char *room = api_buffer_room(json->out, POSITION_MAX);
    if (!room) {
        return;
    }
    char *to = room;
    if (json->comma) {
        *to++ = ',';
    }
    to = put_position(to, positions, is_plain(positions), internal);
    json->out->size += (size_t)(to - room);
    json->comma = true;
}

void api_json_position_list(api_json *json, const api_positions *positions, const nav_vec *internal, size_t count)
{
    bool plain = is_plain(positions);
    api_json_open(json, '[');
    for (size_t done = 0; done < count;) {
        char *room = api_buffer_room(json->out, POSITION_MAX);
        if (!room) {
            return;
        }
        // As many as fit for sure; they are mostly much shorter, so that then there is room for more.
        size_t fit = (json->out->cap - json->out->size) / POSITION_MAX;
        size_t step = count - done < fit ? count - done : fit;
        char *to = room;
        for (size_t end = done + step; done < end; done++) {
            if (done > 0) {
                *to++ = ',';
            }
            to = put_position(to, positions, plain, internal[done]);
        }
        json->out->size += (size_t)(to - room);
    }
    api_json_close(json, ']');
}

void api_json_problem(api_json *json, const api_problem *problem, const char *request_id)
{
    api_json_open(json, '{');
    api_json_key(json, "type");
    separate(json);
    api_buffer_printf(json->out, "\"/problems/%s\"", api_code_text(problem->code));
    api_json_key(json, "title");
    api_json_text(json, api_code_title(problem->code));
    api_json_key(json, "status");
    api_json_u64(json, (uint64_t)api_code_status(problem->code));
    api_json_key(json, "detail");
    api_json_text(json, problem->detail);
    api_json_key(json, "code");
    api_json_word(json, api_code_text(problem->code));
    if (problem->pointer[0]) {
        api_json_key(json, "pointer");
        api_json_text(json, problem->pointer);
    }
    if (problem->parameter[0]) {
        api_json_key(json, "parameter");
        api_json_text(json, problem->parameter);
    }
    if (request_id) {
        api_json_key(json, "request_id");
        api_json_text(json, request_id);
    }
    api_json_close(json, '}');
}
