/// A mesh as the service knows it: navcore's snapshot with the frame, names and defaults that the
/// contract adds. Immutable once published; counted by whoever holds it (the server's registry).
#ifndef API_MESH_H
#define API_MESH_H

#include "api_frame.h"
#include "api_problem.h"
#include "edit_set.h"
#include "nav_format.h"
#include "nav_mesh.h"
#include "nav_query.h"

#define API_NAME_MAX 64
#define API_COST_MAX 1e9 ///< of an area: what larger ones add up to would leave the range of a double

typedef struct api_area {
    char name[API_NAME_MAX + 1]; ///< empty: this number has no name
    double cost;                 ///< 1 unless the sidecar says otherwise
    bool listed;                 ///< named by the sidecar
} api_area;

/// Which polygons may be used and what their areas cost.
typedef struct api_filter {
    char name[API_NAME_MAX + 1]; ///< empty: it has none
    uint32_t include, exclude;
    double costs[256];
} api_filter;

/// What the file and the sidecar make of a mesh, shared by its revisions and counted by them.
typedef struct api_ground_mesh {
    atomic_size_t holders;
    nav_mesh *nav; ///< without any edit
    nav_report *report;
    api_filter *filters;
    api_edit_set items; ///< its links and regions, as edits that nobody made
} api_ground_mesh;

typedef struct api_mesh {
    nav_mesh *nav;
    nav_report *report; ///< the ground's
    api_frame frame;
    int dimensions; ///< 2: positions are [x, y]
    char up;        ///< of the file as declared: 'y' or 'z'
    char format[24];
    nav_agent agent;
    nav_vec snap;   ///< default half extents, navcore's axes
    double tick_hz; ///< how often the server moves agents by itself; 0: when it is told to
    api_area areas[256];
    char flags[32][API_NAME_MAX + 1]; ///< names by bit, empty: none
    api_filter *filters;              ///< [filter_count] named by the sidecar; the ground's
    uint32_t filter_count;
    api_filter default_filter; ///< of a question that gives none
    bool areas_are_costs;      ///< an area's number is its cost, unless the sidecar says otherwise
    bool borrows;              ///< the source's bytes, until it is destroyed
    size_t memory_bytes;       ///< nav and everything here
    api_ground_mesh *ground;
    api_edit_set edits; ///< that stand

    // Set by the server when it publishes; never by api_mesh_load.
    char id[NAV_ID_MAX + 1];
    uint64_t revision; ///< unique while the server runs
    double load_ms;
    int64_t loaded_at_ms; ///< Unix time
    char source[256];     ///< file name, or "upload"
    void *owner;          ///< the server's record that counts references
    double shrunk_by;     ///< above 0: not a published mesh, but one made of it for larger agents
} api_mesh;

/// What is to be loaded. All text is UTF-8 and not NUL-terminated unless said.
typedef struct api_mesh_source {
    const void *bytes;
    size_t size;
    const nav_part *parts; ///< [part_count] where a mesh is many files together, bytes and name of the first
    size_t part_count;     ///< also given above; 0: it is in one
    /// Where set, the loader takes the bytes over: it calls this once they are not needed any more. A .navd is used
    /// in place, so that this may be when the mesh is destroyed; until then they must not change.
    void (*release)(void *ctx);
    void *release_ctx;
    const char *format;  ///< NUL-terminated override ("obj", "mset", …), NULL: by content
    const char *name;    ///< file name, a hint for the format by its ending; may be NULL
    const char *sidecar; ///< NUL-terminated text of {mesh}.meta.json, NULL: none
    void (*progress)(void *ctx, unsigned step, unsigned of); ///< of building, for whoever waits; NULL: nobody
    void *progress_ctx;
    const char *params; ///< NUL-terminated query string (frame=…&weld=…), wins over the sidecar; NULL: none
} api_mesh_source;

/// Reads, validates and builds. Pure: no file, no clock.
/// @param problem  filled on failure: 422 bad_mesh (detail names line or byte), 415
///                 unsupported_media_type, 400 bad_request (a bad parameter or sidecar member), 500/507
/// @return NULL on failure
/// @thread any; may take seconds on a large file
api_mesh *api_mesh_load(const api_mesh_source *source, api_problem *problem);

void api_mesh_destroy(api_mesh *mesh);

/// Writes a mesh as a .navd, which loads without being parsed or built.
/// @param sidecar  NUL-terminated text of the sidecar it was loaded with, to be kept in it; NULL: none
/// @param bytes    malloc'ed
/// @return false: `problem` is 422 bad_mesh (it has edits) or 507
bool api_mesh_cook(const api_mesh *mesh, const char *sidecar, void **bytes, size_t *size, api_problem *problem);

/// Another revision of a mesh: the same file, names and defaults. It has no `nav` yet.
/// @param edits  copied
/// @return NULL: no memory
api_mesh *api_mesh_revise(const api_mesh *mesh, const api_edit_set *edits);
/// @param nav  taken over; or the ground's own
void api_mesh_set_nav(api_mesh *mesh, nav_mesh *nav);

/// The mesh of the same revision for an agent whose radius is larger by `difference`. May take as long as
/// loading the mesh did.
/// @return NULL: `problem` says why (503 draining where `interrupt` stopped it)
api_mesh *api_mesh_shrink(const api_mesh *mesh, double difference, const nav_interrupt *interrupt,
                          api_problem *problem);

/// The file ending under which bytes of a format are kept: "mset" -> ".bin", "polyanya" -> ".mesh", …
/// @return `ending`
#define API_ENDING_MAX 15
const char *api_mesh_extension(const char *format, char ending[API_ENDING_MAX + 1]);
/// Does the service read files with this name's ending? (".meta.json" is no mesh.)
bool api_mesh_known_name(const char *name);

/// Is this an id: 1 to 64 of A-Z a-z 0-9 . _ - and no dot first?
bool api_id_valid(const char *id, size_t length);

/// The sidecar text that keeps what `params` set, on top of `sidecar` (either may be NULL).
/// @return malloc'ed JSON text, NULL when there is nothing to keep or no memory
char *api_sidecar_merge(const char *sidecar, const char *params);

#endif
