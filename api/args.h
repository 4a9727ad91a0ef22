/// The arguments of queries: one table of members, read alike from a JSON body and from a query string.
#ifndef API_ARGS_H
#define API_ARGS_H

#include "api.h"
#include "json_in.h"
#include "json_out.h"
#include "nav_query.h"

#define API_COUNT_MAX 64      ///< largest `count` of nearest
#define API_RANDOM_MAX 10000  ///< largest `count` of random
#define API_EXPLAIN_MAX 10000 ///< largest `explain` of path

/// One bit each, in the order of the table in args_members.c.
typedef enum api_arg {
    API_ARG_POINT = 1u << 0,
    API_ARG_START = 1u << 1,
    API_ARG_END = 1u << 2,
    API_ARG_SNAP = 1u << 3,
    API_ARG_FLOOR = 1u << 4,
    API_ARG_FILTER = 1u << 5,
    API_ARG_RADIUS = 1u << 6,
    API_ARG_TIMEOUT_MS = 1u << 7,
    API_ARG_HINT = 1u << 8,
    API_ARG_PRECISION = 1u << 9,
    API_ARG_VECTORS = 1u << 10,
    API_ARG_FRAME = 1u << 11,
    API_ARG_ID = 1u << 12,
    API_ARG_COUNT = 1u << 13,
    API_ARG_PARTIAL = 1u << 14,
    API_ARG_CORRIDOR = 1u << 15,
    API_ARG_SURFACE = 1u << 16,
    API_ARG_MAX_NODES = 1u << 17,
    API_ARG_MAX_LENGTH = 1u << 18,
    API_ARG_MAX_DISTANCE = 1u << 19,
    API_ARG_MAX_COST = 1u << 20,
    API_ARG_LIMIT = 1u << 21,
    API_ARG_FORMAT = 1u << 22,
    API_ARG_SEED = 1u << 23,
    API_ARG_AROUND = 1u << 24,
    API_ARG_ORIGIN = 1u << 25,
    API_ARG_DIRECTION = 1u << 26,
    API_ARG_SOURCES = 1u << 27,
    API_ARG_TARGETS = 1u << 28,
    API_ARG_EXPLAIN = 1u << 29
} api_arg;

/// What every query takes.
#define API_ARGS_COMMON                                                                                   \
    (API_ARG_SNAP | API_ARG_FLOOR | API_ARG_FILTER | API_ARG_RADIUS | API_ARG_TIMEOUT_MS | API_ARG_HINT | \
     API_ARG_PRECISION | API_ARG_VECTORS | API_ARG_FRAME | API_ARG_ID)

/// A list of positions that grows.
typedef struct api_points {
    nav_vec *at;
    uint32_t count, cap;
} api_points;

/// Arguments of one query, checked; what was not given has its default. Positions and extents are
/// navcore's after api_args_read. To be zeroed before its first use; the lists' room is used again, until
/// api_args_deinit.
typedef struct api_args {
    uint32_t given; ///< bits of what was in the question
    nav_vec point, start, end, origin, direction;
    nav_vec around; ///< with around_radius
    double around_radius;
    api_points sources, targets;
    nav_snap snap;
    api_filter filter; ///< read from the question; snap.filter.area_costs may point into it
    double radius;     ///< of the agent that asks
    uint32_t timeout_ms;
    uint32_t count;
    uint32_t max_nodes;
    uint32_t limit;   ///< 0: none
    uint32_t explain; ///< search nodes to tell of; 0: none
    uint64_t seed;
    double max_length;             ///< 0: no limit
    double max_distance, max_cost; ///< infinite: no limit
    int precision;                 ///< negative: shortest
    bool partial, corridor, surface;
    bool geojson;
    bool objects;    ///< positions came as objects, or `vectors` says so
    api_frame frame; ///< the caller's
    const cJSON *id; ///< to be echoed; borrowed from the question, NULL: none
} api_args;

/// What arguments are read against.
typedef struct api_args_rules {
    const api_mesh *mesh;
    const api_limits *limits;
    uint32_t allowed, required; ///< api_arg bits
    uint32_t max_count;         ///< largest `count`
} api_args_rules;

/// Reads one question.
/// @param question  an object; must outlive `args` (its `id`)
/// @param defaults  an object whose members hold where the question has none and the query takes them;
///                  NULL: none. It must have been checked by api_args_check.
/// @param ignored   a member that is not an argument ("type" in a batch), NULL: none
/// @return false: place->problem says why
bool api_args_read(api_args *args, const api_args_rules *rules, const cJSON *question, const cJSON *defaults,
                   const char *ignored, const api_place *place);

/// Frees the lists.
void api_args_deinit(api_args *args);

/// Checks members of `defaults` by themselves.
bool api_args_check(const api_args_rules *rules, const cJSON *defaults, const api_place *place);

/// How an argument is written in a query string: "1,2,3", "1,2,3;4,5,6", a position and a radius behind it,
/// "2" or "2,4,2", "3", "true", a word, or a filter as JSON text.
typedef enum api_arg_form {
    API_FORM_POSITION,
    API_FORM_POSITIONS,
    API_FORM_AROUND,
    API_FORM_NUMBERS,
    API_FORM_NUMBER,
    API_FORM_BOOL,
    API_FORM_TEXT,
    API_FORM_FILTER
} api_arg_form;

/// @return false: no argument of this name among `allowed`
bool api_args_form(const char *name, uint32_t allowed, api_arg_form *form);

/// Complains of a name that is no argument, with the nearest one that is.
/// @return false
bool api_args_unknown(const api_place *place, const char *name, uint32_t allowed);

/// Turns a query string into the question that a JSON body would hold.
/// @param place  set up for a query string (query_filter is filled here)
/// @return NULL on failure, place->problem says why; the caller frees with cJSON_Delete
cJSON *api_args_from_query(const char *query, uint32_t allowed, uint32_t max_depth, api_place *place);

/// How the answer writes positions. Borrows args->frame.
api_positions api_args_positions(const api_args *args, const api_mesh *mesh);

/// Echoes `id`, when there is one.
void api_args_echo_id(api_json *json, const cJSON *id);

/// Reads `filter` (args_filter.c) into args->snap.filter.
bool api_filter_read(api_args *args, const api_mesh *mesh, const cJSON *value, const api_place *place);
/// The filter of a question that gives none: the mesh's default one.
void api_filter_default(api_args *args, const api_mesh *mesh);

/// A name by which filters are known.
/// @return NULL: none of the mesh's filters
const api_filter *api_filter_find(const api_mesh *mesh, const char *name);
/// Reads an object of `include`, `exclude` and `costs`; costs that it does not give are those of the areas.
/// @param pointer  of `value`, "/filter"
bool api_filter_parse(api_filter *filter, const api_mesh *mesh, const cJSON *value, const char *pointer,
                      const api_place *place);

#endif
