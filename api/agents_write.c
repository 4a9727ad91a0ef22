/// States as JSON, and the events that tell of them.
#include <math.h>
#include <stdlib.h>

#include "agents_inside.h"

static const char *const field_names[] = {
    "position",          "velocity",   "yaw",       "state",  "target", "path",      "link",
    "remaining",         "polygon",    "chase",     "radius", "height", "max_speed", "max_acceleration",
    "stopping_distance", "link_speed", "avoidance", "filter", "snap",
};

const char *api_agents_field_name(unsigned bit)
{
    return bit < sizeof field_names / sizeof *field_names ? field_names[bit] : NULL;
}

api_agents_writer api_agents_writer_begin(api_agents *agents, const api_agents_view *view, api_json *out)
{
    return (api_agents_writer){
        .agents = agents,
        .view = view,
        .out = out,
        .positions = {.frame = view->has_frame ? &view->frame : &agents->mesh->frame,
                      .dimensions = agents->mesh->dimensions,
                      .precision = view->precision,
                      .objects = view->objects},
    };
}

void api_agents_writer_deinit(api_agents_writer *writer)
{
    free(writer->corners);
}

/// Radians in the caller's frame: from the axis that follows up in cyclic order towards the one that follows
/// that, which is from +z towards +x where y is up, from +x towards +y where z is. On a flat mesh from the first
/// axis towards the second.
static double turn_yaw(const api_positions *positions, double yaw)
{
    nav_vec d = api_frame_to_caller(positions->frame, (nav_vec){sin(yaw), 0, cos(yaw)});
    const double along[3] = {d.x, d.y, d.z};
    int up = 0;
    while (positions->frame->axis[up] != 1) {
        up++;
    }
    if (positions->dimensions == 2) {
        return up == 0 ? atan2(d.z, d.y) : atan2(up == 1 ? d.z : d.y, d.x);
    }
    return atan2(along[(up + 2) % 3], along[(up + 1) % 3]);
}

static void write_yaw(const api_agents_writer *w, double yaw)
{
    static const api_frame same = {.axis = {0, 1, 2}, .sign = {1, 1, 1}};
    bool turned = w->positions.dimensions == 2 || memcmp(w->positions.frame, &same, sizeof same) != 0;
    api_json_key(w->out, "yaw");
    api_json_coordinate(w->out, &w->positions, turned ? turn_yaw(&w->positions, yaw) : yaw);
}

static void write_position(const api_agents_writer *w, const char *name, nav_vec position)
{
    api_json_key(w->out, name);
    api_json_position(w->out, &w->positions, position);
}

static void write_number(const api_agents_writer *w, const char *name, double value)
{
    // navcore keeps such numbers in 32 bits.
    static const api_positions shortest = {.precision = -1};
    api_json_key(w->out, name);
    if (isfinite(value)) {
        api_json_coordinate(w->out, &shortest, value);
    } else {
        api_json_null(w->out);
    }
}

static void write_path(api_agents_writer *w, nav_crowd_id number)
{
    uint32_t count = nav_crowd_path(w->agents->crowd, number, w->corners, w->corner_cap);
    if (count > w->corner_cap) {
        nav_vec *corners = realloc(w->corners, 2 * (size_t)count * sizeof *corners);
        if (corners) {
            w->corners = corners;
            w->corner_cap = 2 * count;
            nav_crowd_path(w->agents->crowd, number, corners, w->corner_cap);
        } else {
            w->out->out->failed = true;
            count = 0;
        }
    }
    api_json_key(w->out, "path");
    api_json_open(w->out, '[');
    for (uint32_t i = 0; i < count; i++) {
        api_json_position(w->out, &w->positions, w->corners[i]);
    }
    api_json_close(w->out, ']');
}

/// What it rides, or null.
static void write_link(const api_agents_writer *w, const nav_crowd_state *state)
{
    api_json_key(w->out, "link");
    if (state->link == NAV_NONE) {
        api_json_null(w->out);
        return;
    }
    const nav_link *link = &nav_mesh_links(nav_crowd_mesh(w->agents->crowd))[state->link];
    api_json_open(w->out, '{');
    api_json_key(w->out, "id");
    api_json_text(w->out, link->id);
    api_json_key(w->out, "kind");
    api_json_text(w->out, link->kind);
    api_json_key(w->out, "part");
    api_json_coordinate(w->out, &w->positions, state->link_part);
    api_json_close(w->out, '}');
}

static void write_chase(const api_agents_writer *w, const nav_crowd_state *state)
{
    const api_agent *chased = api_agents_find_number(w->agents, state->chase.agent);
    api_json_key(w->out, "chase");
    if (!chased) {
        api_json_null(w->out);
        return;
    }
    api_json_open(w->out, '{');
    api_json_key(w->out, "agent");
    api_json_word(w->out, chased->id);
    write_number(w, "repath_ms", state->chase.repath * 1000);
    write_number(w, "attack_range", state->chase.attack_range);
    api_json_close(w->out, '}');
}

/// Half extents in the caller's axes.
static void write_snap(const api_agents_writer *w, nav_vec half_extents)
{
    const api_frame *frame = w->positions.frame;
    api_frame unsigned_axes = {.axis = {frame->axis[0], frame->axis[1], frame->axis[2]}, .sign = {1, 1, 1}};
    api_positions positions = w->positions;
    positions.frame = &unsigned_axes;
    api_json_key(w->out, "snap");
    api_json_position(w->out, &positions, half_extents);
}

/// What the agent is.
static void write_settings(const api_agents_writer *w, const api_agent *a, uint32_t fields)
{
    nav_crowd_agent agent;
    if (nav_crowd_get_agent(w->agents->crowd, a->number, &agent) != NAV_OK) {
        return;
    }
    const struct {
        uint32_t field;
        const char *name;
        double value;
    } numbers[] = {
        {API_AGENT_RADIUS, "radius", agent.radius},
        {API_AGENT_HEIGHT, "height", agent.height},
        {API_AGENT_MAX_SPEED, "max_speed", agent.max_speed},
        {API_AGENT_MAX_ACCELERATION, "max_acceleration", agent.max_acceleration},
        {API_AGENT_STOPPING_DISTANCE, "stopping_distance", agent.stopping_distance},
        {API_AGENT_LINK_SPEED, "link_speed", agent.link_speed},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (fields & numbers[i].field) {
            write_number(w, numbers[i].name, numbers[i].value);
        }
    }
    if (fields & API_AGENT_AVOIDANCE) {
        api_json_key(w->out, "avoidance");
        api_json_word(w->out, agent.avoidance == NAV_AVOIDANCE_NONE ? "none" : "orca");
    }
    if (fields & API_AGENT_FILTER) {
        api_json_key(w->out, "filter");
        api_json_raw(w->out, a->filter->text ? a->filter->text : "null");
    }
    if (fields & API_AGENT_SNAP) {
        write_snap(w, agent.snap);
    }
}

void api_agents_write_one(api_agents_writer *w, const api_agent *a)
{
    nav_crowd_state state;
    uint32_t fields = w->view->fields;
    bool whole = fields & (API_AGENT_POLYGON | API_AGENT_REMAINING);
    if (!(whole ? nav_crowd_get : nav_crowd_glance)(w->agents->crowd, a->number, &state)) {
        return;
    }
    api_json_open(w->out, '{');
    api_json_key(w->out, "id");
    api_json_word(w->out, a->id);
    if (fields & API_AGENT_POSITION) {
        write_position(w, "position", state.position);
    }
    if (fields & API_AGENT_VELOCITY) {
        write_position(w, "velocity", state.velocity);
    }
    if (fields & API_AGENT_YAW) {
        write_yaw(w, state.yaw);
    }
    if (fields & API_AGENT_MODE) {
        api_json_key(w->out, "state");
        api_json_word(w->out, nav_crowd_mode_text(state.mode));
    }
    if (fields & API_AGENT_TARGET) {
        if (state.has_target) {
            write_position(w, "target", state.target);
        } else {
            api_json_key(w->out, "target");
            api_json_null(w->out);
        }
    }
    if (fields & API_AGENT_PATH) {
        write_path(w, a->number);
    }
    if (fields & API_AGENT_LINK) {
        write_link(w, &state);
    }
    if (fields & API_AGENT_REMAINING) {
        api_json_key(w->out, "remaining");
        api_json_coordinate(w->out, &w->positions, state.remaining);
    }
    if (fields & API_AGENT_POLYGON) {
        api_json_key(w->out, "polygon");
        if (state.polygon == NAV_NONE) {
            api_json_null(w->out);
        } else {
            api_json_u64(w->out, state.polygon);
        }
    }
    if (fields & API_AGENT_CHASE) {
        write_chase(w, &state);
    }
    if (fields & ~(uint32_t)(API_AGENT_RADIUS - 1)) {
        write_settings(w, a, fields);
    }
    api_json_close(w->out, '}');
}

void api_agents_write_list(api_agents_writer *w, uint64_t version)
{
    const api_agents *agents = w->agents;
    api_json_open(w->out, '[');
    for (uint32_t i = 0; i < agents->count; i++) {
        if (agents->list[i].number && agents->list[i].changed > version) {
            api_agents_write_one(w, &agents->list[i]);
        }
    }
    api_json_close(w->out, ']');
}

void api_agents_write_removed(const api_agents *agents, uint64_t version, api_json *out)
{
    api_json_open(out, '[');
    for (uint32_t i = 0; i < agents->removed_count; i++) {
        const api_agent_removed *removed = &agents->removed[i];
        if (removed->version > version && !api_agents_find(agents, removed->id)) {
            api_json_word(out, removed->id);
        }
    }
    api_json_close(out, ']');
}

/// @param version  0: everything
static void write_event(api_agents *agents, const api_agents_view *view, uint64_t version, api_buffer *out)
{
    api_buffer_printf(out, "id: %llu\nevent: %s\ndata: ", (unsigned long long)agents->version,
                      version ? "changes" : "full");
    api_json json = api_json_begin(out);
    api_agents_writer writer = api_agents_writer_begin(agents, view, &json);
    api_json_open(&json, '{');
    api_json_key(&json, "step");
    api_json_u64(&json, nav_crowd_steps(agents->crowd));
    api_json_key(&json, "version");
    api_json_u64(&json, agents->version);
    api_json_key(&json, "revision");
    api_json_u64(&json, agents->mesh->revision);
    api_json_key(&json, "agents");
    api_agents_write_list(&writer, version);
    if (version) {
        api_json_key(&json, "removed");
        api_agents_write_removed(agents, version, &json);
    }
    api_json_close(&json, '}');
    api_buffer_add_text(out, "\n\n");
    api_agents_writer_deinit(&writer);
}

static bool changed_since(const api_agents *agents, uint64_t version)
{
    if (agents->removed_count > 0 && agents->removed[agents->removed_count - 1].version > version) {
        return true;
    }
    for (uint32_t i = 0; i < agents->count; i++) {
        if (agents->list[i].number && agents->list[i].changed > version) {
            return true;
        }
    }
    return false;
}

void api_agents_write_changes(api_agents *agents, const api_agents_view *view, api_buffer *out)
{
    if (changed_since(agents, agents->told)) {
        write_event(agents, view, agents->told, out);
    }
}

void api_agents_write_first(api_agents *agents, const api_agents_view *view, uint64_t version, api_buffer *out)
{
    write_event(agents, view, version && api_agents_knows(agents, version) ? version : 0, out);
}
