/// What the parts of mesh loading share: formats, settings (sidecar and upload parameters), links, and the
/// reader of JSON meshes. Private to mesh_*.c and their tests.
#ifndef API_MESH_READ_H
#define API_MESH_READ_H

#include <cjson/cJSON.h>

#include "api_mesh.h"
#include "json_in.h"
#include "nav_format.h"

/// Nesting of settings and of `links` in a mesh: /links/0/start/x and a little more.
#define API_SETTINGS_DEPTH 8

/// What a file may hold that a soup does not.
typedef struct api_file_extra {
    char up;      ///< of the file's axes: 'y', 'z', or 0: not said. The sidecar's frame wins
    cJSON *links; ///< in the file's axes, in the form of the contract; owned by the caller, NULL: none
} api_file_extra;

/// A file to be read, for readers that need more than its bytes.
typedef struct api_reading {
    const char *bytes;
    size_t size;
    const nav_part *parts; ///< [part_count] of a mesh in many files, `bytes` among them; none for one in a single file
    size_t part_count;
    const struct api_settings *settings;
    nav_soup *soup;        ///< initialised and empty; holds nothing on failure
    api_file_extra *extra; ///< all zero; likewise
    api_problem *problem;
} api_reading;

/// @return false: `problem` is 422 bad_mesh naming the place, 415 where the bytes are another program's, or 507
typedef bool api_read_fn(const api_reading *reading);

/// Is it navd's own form, for api_cooked_read and not for api_format_read?
#define API_FORMAT_IS_COOKED(format) (!(format)->read && !(format)->read_more)

/// A format that is read: one row of the table in mesh_formats.c. Content is tried row by row, in order.
typedef struct api_format {
    const char *name;  ///< in `?format=`; the reader writes it into the soup as well
    const char *title; ///< for people, in the plural: "Wavefront OBJ files"
    /// Of file names, with their dots, one blank between them; the first is given to files that the service
    /// keeps. Rows may share an ending: it only tells what no row's content test knows, and the first row has it.
    const char *endings;
    bool (*sniff)(const char *bytes, size_t size); ///< is the content surely this? NULL: it is told by name only
    nav_read_fn *read;                             ///< one of the two is NULL; both: .navd, which holds no soup
    api_read_fn *read_more;
} api_format;

extern const api_format api_formats[];
extern const size_t api_format_count;

/// What a file of no format of ours is, by its first bytes. @return "a PLY file …: export it as OBJ", NULL: no idea
const char *api_format_foreign(const char *bytes, size_t size);

/// The names of all formats: "mset, json and obj". @return `text`
const char *api_format_names(char *text, size_t size);

/// Reads by whichever of its readers the format has. @return as api_read_fn
bool api_format_read(const api_format *format, const api_reading *reading);

/// Puts a reader's failure into the problem. @return false
bool api_read_failed(api_problem *problem, nav_status status, const nav_error *error);

// For sniffing.

bool api_begins_with(const char *bytes, size_t size, const char *text, size_t length);
/// Does `word` stand at the beginning, and end there with white space or the file?
bool api_begins_with_word(const char *bytes, size_t size, const char *word);
/// Where a text begins: behind a byte order mark and white space.
size_t api_text_start(const char *bytes, size_t size);

/// @return NULL for an unknown name
const api_format *api_format_by_name(const char *name);

/// The format that the bytes are in, by their content; where that leaves it open, by the file's name.
/// @param name     may be NULL
/// @param problem  on failure 415, or 422 for no bytes at all
/// @return NULL on failure
const api_format *api_format_detect(const void *bytes, size_t size, const char *name, api_problem *problem);

/// What sidecar and parameters set.
typedef struct api_settings {
    bool has_frame;
    api_frame file, caller; ///< as api_frame_parse gives them
    bool z_up;
    double weld;     ///< negative: the default
    nav_agent agent; ///< negative where not set
    double snap[3];  ///< half extents in the caller's axes
    int snap_count;  ///< numbers given: 0 none, 1 for all axes, 2 for a mesh of the plane, or 3
    bool snap_from_params;
    api_area areas[256];
    char flags[32][API_NAME_MAX + 1];
    double tick_hz;          ///< 0: not set
    cJSON *sidecar, *params; ///< owned
    const cJSON *links;      ///< borrowed from one of them, NULL: none
    const cJSON *regions;    ///< likewise
    bool links_from_params, regions_from_params;
    const char *node; ///< of a glTF: the node or mesh that is the navmesh; borrowed likewise, NULL: not said
    const cJSON *filters, *default_filter; ///< borrowed likewise
    bool filters_from_params, default_filter_from_params;
} api_settings;

/// Reads the settings; parameters win over the sidecar.
/// @param sidecar  NUL-terminated JSON, NULL: none
/// @param params   NUL-terminated query string, NULL: none
/// @return false: `problem` is 400 bad_request with the pointer or the parameter, or 500.
///         api_settings_deinit is due in either case.
bool api_settings_read(api_settings *settings, const char *sidecar, const char *params, api_problem *problem);
void api_settings_deinit(api_settings *settings);

/// The text of a sidecar whose members lie over those of another one; either may be NULL, which is empty.
/// @return malloc'ed, NULL: no memory
char *api_sidecar_layer(const cJSON *below, const cJSON *above);

/// Opens a .navd: the mesh's `nav` and `report`, what a soup holds beside polygons, and the settings anew, with
/// those the mesh was made with below them.
/// @param settings  as read from the source's sidecar and parameters
bool api_cooked_read(const api_mesh_source *source, api_settings *settings, nav_soup *soup, api_mesh *mesh,
                     api_problem *problem);

/// Says in a problem that it is the sidecar that is at fault, and where: the pointer alone would seem to be
/// one into the request's body. @return false
bool api_sidecar_blame(api_problem *problem);

/// Reads the named filters and the default one for a mesh whose areas and flags are known.
bool api_filters_load(api_mesh *mesh, const api_settings *settings, api_problem *problem);

/// Reads the regions for a mesh whose frame, areas and flags are known, as items of its ground.
bool api_regions_read(api_edit_set *items, const api_mesh *mesh, const api_settings *settings, api_problem *problem);
/// Makes the mesh the revision in which its ground's regions hold.
bool api_regions_apply(api_mesh *mesh, api_problem *problem);

/// Gives a mesh that has been built its ground: its file's links and `items` (taken over).
/// @return false: `problem` is 507
bool api_mesh_ground_make(api_mesh *mesh, api_edit_set *items, api_problem *problem);

/// Bytes of a mesh and all that is its own.
size_t api_mesh_memory(const api_mesh *mesh);

/// Where the positions of links come from.
typedef struct api_link_source {
    api_frame to_internal;  ///< internal[k] = sign[k] * given[axis[k]]
    int dimensions;         ///< of a position
    api_edit_set *disabled; ///< where links go that are not enabled; NULL: nowhere
} api_link_source;

/// Names of areas [256] and of flags [32].
typedef struct api_names {
    const api_area *areas;
    const char (*flags)[API_NAME_MAX + 1];
} api_names;

/// A link being read, and where it stands.
typedef struct api_link_reader {
    nav_link link; ///< in navcore's axes
    bool enabled;
    unsigned given; ///< api_link_member bits
    api_link_source source;
    api_names names;
    const api_place *place;
    char pointer[128]; ///< of the member being read
} api_link_reader;

typedef enum api_link_member {
    API_LINK_ID = 1u << 0,
    API_LINK_START = 1u << 1,
    API_LINK_END = 1u << 2,
    API_LINK_BIDIRECTIONAL = 1u << 3,
    API_LINK_COST = 1u << 4,
    API_LINK_AREA = 1u << 5,
    API_LINK_FLAGS = 1u << 6,
    API_LINK_RADIUS = 1u << 7,
    API_LINK_KIND = 1u << 8,
    API_LINK_ENABLED = 1u << 9
} api_link_member;

/// A reader whose link has the defaults.
api_link_reader api_link_reader_begin(const api_link_source *source, const api_names *names, const api_place *place);

/// Reads one member of a link.
/// @param pointer  of the link, below place->prefix
/// @param known    false: a link has no such member, and nothing was done
/// @return false: place->problem says why
bool api_link_read_member(api_link_reader *reader, const cJSON *member, const char *pointer, bool *known);
/// Suggests the members that a link has.
void api_link_suggest(api_suggestion *near);

static inline bool api_link_has_ends(const api_link_reader *reader)
{
    return (reader->given & API_LINK_START) && (reader->given & API_LINK_END);
}

/// An area by name or number, flags as a mask or a list of names and bits.
bool api_area_read(const cJSON *value, const api_names *names, const char *pointer, const api_place *place,
                   uint8_t *area);
bool api_flags_read(const cJSON *value, const api_names *names, const char *pointer, const api_place *place,
                    uint32_t *flags);

/// Adds an array of links (contract, section 4) to the soup. One without an id is called "link-N"; an
/// entry that is not `enabled` goes to source->disabled instead.
/// @param place  whose pointer leads to the object that has `links`
bool api_links_add(nav_soup *soup, const cJSON *links, const api_link_source *source, const api_settings *settings,
                   const api_place *place);

/// Reads a JSON mesh (contract, section 2).
/// @param soup     initialised; holds nothing on failure
/// @param problem  on failure 422 bad_mesh naming the byte or the member, 415 where the JSON is another
///                 program's, or 507
bool api_json_mesh_read(nav_soup *soup, const char *bytes, size_t size, api_file_extra *extra, api_problem *problem);

/// The same as a format of the table.
api_read_fn api_read_json; ///< also what other programs write in JSON, told by their members
api_read_fn api_read_gltf;
api_read_fn api_read_tiled;
api_read_fn api_read_recast; ///< a dump of Recast's polygon mesh
api_read_fn api_read_awpy;   ///< a dump of Source 2 areas

/// Reads {radius, height, climb, slope}; members that are missing stay as they are.
/// @param pointer  of `value` below place->prefix
bool api_agent_read(nav_agent *agent, const cJSON *value, const char *pointer, const api_place *place);

#endif
