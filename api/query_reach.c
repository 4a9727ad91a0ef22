/// `reachable`: what is within reach, as polygon numbers and rings, or as GeoJSON for drawing.
#include <math.h>
#include <stdlib.h>

#include "nav_surface.h"
#include "query.h"

/// The plan of a ring: x to the right, z up.
typedef struct plan {
    double area; ///< positive: an outer ring
    double low[3], high[3];
    uint32_t outer; ///< of a hole: the ring round it
} plan;

static const char *const status_words[] = {
    [NAV_REACH_FOUND] = "found", [NAV_REACH_OFF_MESH] = "off_mesh", [NAV_REACH_LIMIT] = "limit"};

static void write_polygons(const api_ask *ask, const nav_reach *reach)
{
    api_buffer_room(ask->out->out, (size_t)reach->polygon_count * 48 + 256);
    api_json_key(ask->out, "polygons");
    api_json_open(ask->out, '[');
    for (uint32_t i = 0; i < reach->polygon_count; i++) {
        api_json_open(ask->out, '{');
        api_json_key(ask->out, "polygon");
        api_json_u64(ask->out, reach->polygons[i].polygon);
        api_write_number(ask, "cost", reach->polygons[i].cost);
        api_json_close(ask->out, '}');
    }
    api_json_close(ask->out, ']');
}

static void write_outline(const api_ask *ask, const nav_reach *reach)
{
    api_positions positions = api_args_positions(ask->args, ask->mesh);
    api_json_key(ask->out, "outline");
    api_json_open(ask->out, '[');
    for (uint32_t i = 0; i < reach->ring_count; i++) {
        const nav_ring *ring = &reach->rings[i];
        api_json_position_list(ask->out, &positions, reach->points + ring->first, ring->count);
    }
    api_json_close(ask->out, ']');
}

// ---- GeoJSON (RFC 7946) ----------------------------------------------------------------------------

static plan plan_of(const nav_reach *reach, const nav_ring *ring)
{
    const nav_vec *p = &reach->points[ring->first];
    plan made = {.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}, .outer = NAV_NONE};
    for (uint32_t k = 0; k < ring->count; k++) {
        nav_vec a = p[k], b = p[k + 1 < ring->count ? k + 1 : 0];
        const double at[3] = {a.x, a.y, a.z};
        for (int axis = 0; axis < 3; axis++) {
            made.low[axis] = fmin(made.low[axis], at[axis]);
            made.high[axis] = fmax(made.high[axis], at[axis]);
        }
        // Relative to the ring's first point, so that a far origin costs no digits.
        made.area += ((a.x - p->x) * (b.z - p->z) - (b.x - p->x) * (a.z - p->z)) / 2;
    }
    return made;
}

/// Could the hole lie in the ring? In plan, and on the same floor.
static bool could_hold(const plan *ring, const plan *hole)
{
    return ring->area > 0 && ring->low[0] <= hole->low[0] && ring->high[0] >= hole->high[0] &&
           ring->low[2] <= hole->low[2] && ring->high[2] >= hole->high[2] && ring->low[1] <= hole->high[1] &&
           ring->high[1] >= hole->low[1];
}

/// Crossings of the ring with the ray from (x, z) towards +x.
static bool holds(const nav_reach *reach, const nav_ring *ring, double x, double z)
{
    const nav_vec *p = &reach->points[ring->first];
    bool inside = false;
    for (uint32_t k = 0; k < ring->count; k++) {
        nav_vec a = p[k], b = p[k + 1 < ring->count ? k + 1 : 0];
        if ((a.z > z) != (b.z > z) && x < a.x + (b.x - a.x) * (z - a.z) / (b.z - a.z)) {
            inside = !inside;
        }
    }
    return inside;
}

/// The least ring round a hole. Where floors lie above each other, one at the hole's height.
static uint32_t outer_of(const nav_reach *reach, const plan *plans, uint32_t hole)
{
    uint32_t candidates = 0, best = NAV_NONE;
    for (uint32_t i = 0; i < reach->ring_count; i++) {
        if (could_hold(&plans[i], &plans[hole])) {
            candidates++;
            best = i;
        }
    }
    if (candidates < 2) {
        return best;
    }
    // The middle of an edge: a corner may be one of the ring's as well.
    const nav_ring *ring = &reach->rings[hole];
    nav_vec a = reach->points[ring->first], b = reach->points[ring->first + 1];
    double x = (a.x + b.x) / 2, z = (a.z + b.z) / 2;
    uint32_t least = NAV_NONE;
    for (uint32_t i = 0; i < reach->ring_count; i++) {
        if (could_hold(&plans[i], &plans[hole]) && (least == NAV_NONE || plans[i].area < plans[least].area) &&
            holds(reach, &reach->rings[i], x, z)) {
            least = i;
        }
    }
    return least != NAV_NONE ? least : best;
}

/// Axes of the caller's positions: the two of the ground in their order, then the height.
typedef struct geo_axes {
    int order[3];
    bool turned; ///< they show the plan from below
} geo_axes;

static geo_axes axes_of(const api_frame *frame)
{
    geo_axes axes = {.order = {0}};
    int ground = 0;
    for (int k = 0; k < 3; k++) {
        axes.order[frame->axis[k] == 1 ? 2 : ground++] = k;
    }
    int x = axes.order[0], z = axes.order[1];
    bool swapped = frame->axis[x] > frame->axis[z];
    axes.turned = (frame->sign[x] * frame->sign[z] < 0) != swapped;
    return axes;
}

static void write_ring(const api_ask *ask, const geo_axes *axes, const nav_reach *reach, const nav_ring *ring)
{
    api_positions positions = api_args_positions(ask->args, ask->mesh);
    int dimensions = ask->mesh->dimensions == 2 ? 2 : 3;
    api_json_open(ask->out, '[');
    for (uint32_t k = 0; k <= ring->count; k++) { // GeoJSON repeats the first position at the end
        uint32_t at = k % ring->count;
        at = axes->turned ? (ring->count - at) % ring->count : at;
        nav_vec v = api_frame_to_caller(&ask->args->frame, reach->points[ring->first + at]);
        const double numbers[3] = {v.x, v.y, v.z};
        api_json_open(ask->out, '[');
        for (int axis = 0; axis < dimensions; axis++) {
            api_json_coordinate(ask->out, &positions, numbers[axes->order[axis]]);
        }
        api_json_close(ask->out, ']');
    }
    api_json_close(ask->out, ']');
}

static void write_shapes(const api_ask *ask, const nav_reach *reach, const plan *plans)
{
    geo_axes axes = axes_of(&ask->args->frame);
    api_json_open(ask->out, '[');
    for (uint32_t i = 0; i < reach->ring_count; i++) {
        if (!(plans[i].area > 0)) {
            continue;
        }
        api_json_open(ask->out, '[');
        write_ring(ask, &axes, reach, &reach->rings[i]);
        for (uint32_t hole = 0; hole < reach->ring_count; hole++) {
            if (plans[hole].outer == i) {
                write_ring(ask, &axes, reach, &reach->rings[hole]);
            }
        }
        api_json_close(ask->out, ']');
    }
    api_json_close(ask->out, ']');
}

static api_verdict write_features(const api_ask *ask, const nav_reach *reach)
{
    plan *plans = calloc((size_t)reach->ring_count + 1, sizeof *plans);
    if (!plans) {
        return api_refuse(ask, NAV_NO_MEMORY);
    }
    for (uint32_t i = 0; i < reach->ring_count; i++) {
        plans[i] = plan_of(reach, &reach->rings[i]);
    }
    for (uint32_t i = 0; i < reach->ring_count; i++) {
        plans[i].outer = plans[i].area > 0 ? NAV_NONE : outer_of(reach, plans, i);
    }
    api_json *out = ask->out;
    api_json_key(out, "type");
    api_json_word(out, "FeatureCollection");
    api_json_key(out, "features");
    api_json_open(out, '[');
    if (reach->ring_count > 0) {
        api_json_open(out, '{');
        api_json_key(out, "type");
        api_json_word(out, "Feature");
        api_json_key(out, "geometry");
        api_json_open(out, '{');
        api_json_key(out, "type");
        api_json_word(out, "MultiPolygon");
        api_json_key(out, "coordinates");
        write_shapes(ask, reach, plans);
        api_json_close(out, '}');
        api_json_key(out, "properties");
        api_json_open(out, '{');
        api_write_number(ask, "area", reach->area);
        api_json_close(out, '}');
        api_json_close(out, '}');
    }
    api_json_close(out, ']');
    free(plans);
    return API_ANSWERED;
}

// ---- the query -------------------------------------------------------------------------------------

static api_verdict answer(const api_ask *ask)
{
    const api_args *args = ask->args;
    nav_reach_options options = nav_reach_options_default();
    options.snap = args->snap;
    options.max_cost = args->max_cost;
    options.limit = args->limit;
    options.outline = true;
    uint64_t deadline = api_take_slice(ask);
    nav_reach reach;
    nav_status status = nav_query_reachable(ask->context->query, ask->mesh->nav, args->point, &options, &reach);
    if (status != NAV_OK) {
        return api_give_up(ask, status, deadline);
    }
    api_json_key(ask->out, "status");
    api_json_word(ask->out, status_words[reach.status]);
    api_write_number(ask, "area", reach.area);
    write_polygons(ask, &reach);
    if (args->geojson) {
        return write_features(ask, &reach);
    }
    write_outline(ask, &reach);
    return API_ANSWERED;
}

const api_query_kind api_reachable = {
    .name = "reachable",
    .required = API_ARG_POINT,
    .allowed = API_ARGS_COMMON | API_ARG_POINT | API_ARG_MAX_COST | API_ARG_LIMIT | API_ARG_FORMAT,
    .max_bytes = API_QUESTION_MAX,
    .answer = answer,
};
