/// From edits to JSON.
#include <stdio.h>
#include <string.h>

#include "edit_json.h"

static void write_number(api_json *json, const char *name, double value)
{
    api_json_key(json, name);
    api_json_double(json, value);
}

/// A height or length: as the other coordinates of an answer, or exact.
static void write_length(api_json *json, const api_edit_terms *terms, const char *name, double value)
{
    const api_positions shortest = {.frame = &terms->frame, .dimensions = 3, .precision = -1};
    api_json_key(json, name);
    if (terms->exact) {
        api_json_double(json, value);
    } else {
        api_json_coordinate(json, &shortest, value);
    }
}

static void write_exact(api_json *json, const double *numbers, int count)
{
    api_json_open(json, '[');
    for (int k = 0; k < count; k++) {
        api_json_double(json, numbers[k]);
    }
    api_json_close(json, ']');
}

static void write_position(api_json *json, const api_edit_terms *terms, const char *name, nav_vec internal)
{
    api_json_key(json, name);
    if (terms->exact) {
        write_exact(json, (const double[]){internal.x, internal.y, internal.z}, 3);
        return;
    }
    const api_positions positions = {
        .frame = &terms->frame, .dimensions = terms->dimensions, .precision = -1, .objects = terms->objects};
    api_json_position(json, &positions, internal);
}

/// Half extents have axes but no signs.
static void write_extents(api_json *json, const api_edit_terms *terms, const char *name, nav_vec internal)
{
    const api_edit_terms unsigned_terms = {
        .frame = {.axis = {terms->frame.axis[0], terms->frame.axis[1], terms->frame.axis[2]}, .sign = {1, 1, 1}},
        .dimensions = terms->dimensions,
        .exact = terms->exact,
        .objects = terms->objects};
    write_position(json, &unsigned_terms, name, internal);
}

/// Points of the ground: the caller's axes without the height.
static void write_points(api_json *json, const api_edit_terms *terms, const api_edit *edit)
{
    const api_positions flat = {.frame = &terms->frame, .dimensions = 2, .precision = -1};
    api_json_key(json, "points");
    api_json_open(json, '[');
    for (uint32_t i = 0; i < edit->point_count; i++) {
        const api_ground *p = &edit->points[i];
        if (terms->exact) {
            write_exact(json, (const double[]){p->x, p->z}, 2);
        } else {
            api_json_position(json, &flat, (nav_vec){p->x, 0, p->z});
        }
    }
    api_json_close(json, ']');
}

static void write_prism(api_json *json, const api_edit_terms *terms, const api_edit *edit)
{
    write_points(json, terms, edit);
    if (terms->dimensions == 2) {
        return;
    }
    // The caller's up may be navcore's down.
    double low = 0, high = 0;
    for (int k = 0; k < 3; k++) {
        if (terms->frame.axis[k] == 1) {
            low = terms->frame.sign[k] * edit->min;
            high = terms->frame.sign[k] * edit->max;
        }
    }
    write_length(json, terms, "min", low < high ? low : high);
    write_length(json, terms, "max", low < high ? high : low);
}

static void write_area(api_json *json, const api_edit_terms *terms, uint8_t area)
{
    api_json_key(json, "area");
    const char *name = terms->names.areas[area].name;
    if (name[0]) {
        api_json_text(json, name);
    } else {
        api_json_u64(json, area);
    }
}

static void write_flags(api_json *json, uint32_t flags)
{
    api_json_key(json, "flags");
    api_json_u64(json, flags);
}

static void write_obstacle(api_json *json, const api_edit_terms *terms, const api_edit *edit)
{
    static const char *const shapes[] = {"cylinder", "box", "prism"};
    api_json_key(json, "shape");
    api_json_word(json, shapes[edit->shape]);
    switch (edit->shape) {
    case API_CYLINDER:
        write_position(json, terms, "center", edit->center);
        write_length(json, terms, "radius", edit->radius);
        if (terms->dimensions != 2) {
            write_length(json, terms, "height", edit->height);
        }
        break;
    case API_BOX:
        write_position(json, terms, "center", edit->center);
        write_extents(json, terms, "half_extents", edit->half_extents);
        write_number(json, "yaw", api_edit_yaw_sign(terms) * edit->yaw + 0.0);
        break;
    case API_PRISM:
        write_prism(json, terms, edit);
        break;
    }
    if (edit->ttl_ms) {
        api_json_key(json, "ttl_ms");
        api_json_u64(json, edit->ttl_ms);
    }
    if (edit->expires_ms && terms->exact) {
        api_json_key(json, "expires_ms");
        api_json_u64(json, (uint64_t)edit->expires_ms);
    } else if (edit->expires_ms) {
        api_json_key(json, "expires_at");
        api_json_time(json, edit->expires_ms);
    }
}

static void write_region(api_json *json, const api_edit_terms *terms, const api_edit *edit)
{
    write_prism(json, terms, edit);
    if (edit->has_area) {
        write_area(json, terms, edit->area);
    }
    if (edit->has_flags) {
        write_flags(json, edit->flags);
    }
    api_json_key(json, "blocked");
    api_json_bool(json, edit->blocked);
}

static void write_link(api_json *json, const api_edit_terms *terms, const api_edit *edit)
{
    const nav_link *link = &edit->link;
    write_position(json, terms, "start", link->start);
    write_position(json, terms, "end", link->end);
    api_json_key(json, "bidirectional");
    api_json_bool(json, link->bidirectional);
    if (link->cost >= 0) {
        write_number(json, "cost", link->cost);
    }
    write_area(json, terms, link->area);
    write_flags(json, link->flags);
    write_length(json, terms, "radius", link->radius);
    if (link->kind[0]) {
        api_json_key(json, "kind");
        api_json_text(json, link->kind);
    }
    api_json_key(json, "enabled");
    api_json_bool(json, edit->enabled);
}

void api_edit_write(api_json *json, const api_edit_terms *terms, const api_edit *edit)
{
    api_json_key(json, "id");
    api_json_word(json, edit->id);
    switch (edit->kind) {
    case API_OBSTACLE:
        write_obstacle(json, terms, edit);
        break;
    case API_REGION:
        write_region(json, terms, edit);
        break;
    case API_LINK:
    case API_EDIT_KINDS:
        write_link(json, terms, edit);
        break;
    }
    if (terms->exact) {
        return;
    }
    api_json_key(json, "volatile");
    api_json_bool(json, edit->is_volatile);
    api_json_key(json, "source");
    api_json_word(json, edit->from_file ? "file" : "edit");
    api_json_key(json, "touches");
    api_json_bool(json, !edit->idle);
}

void api_edit_write_put(api_json *json, const api_edit *edit)
{
    const api_edit_terms terms = api_edit_terms_exact();
    api_json_open(json, '{');
    api_json_key(json, "type");
    api_json_word(json, api_edit_kind_name(edit->kind));
    api_edit_write(json, &terms, edit);
    api_json_close(json, '}');
}

void api_edit_write_removal(api_json *json, api_edit_kind kind, const char *id)
{
    api_json_open(json, '{');
    api_json_key(json, "op");
    api_json_word(json, "delete");
    api_json_key(json, "type");
    api_json_word(json, api_edit_kind_name(kind));
    api_json_key(json, "id");
    api_json_word(json, id);
    api_json_close(json, '}');
}
