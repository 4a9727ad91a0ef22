/// Which format is it: by name, by content, by a file's ending; and which ids are ids.
#include <string.h>
#include <strings.h>

#include "mesh_read.h"

static const api_format formats[] = {
    {"mset", ".bin", nav_read_mset},
    {"json", ".json", NULL},
    {"obj", ".obj", nav_read_obj},
    {"polyanya", ".mesh", nav_read_polyanya},
};
#define FORMAT_COUNT (sizeof formats / sizeof *formats)

/// Endings of file names in the mesh folder, beyond those we give ourselves.
static const struct {
    const char *ending, *format;
} endings[] = {{".navmesh", "mset"}, {".mset", "mset"}};

/// How formats begin that people will try and that are not read.
static const struct {
    const char *begin;
    size_t size;
    const char *what;
} foreign[] = {
    {"TEST", 4, "a Detour tile cache set (TSET): export the navigation mesh built from it, as MSET"},
    {"TAST", 4, "a Detour tile cache set (TSAT): export the navigation mesh built from it, as MSET"},
    {"TSET", 4, "a big-endian Detour tile cache set: export the navigation mesh built from it, as little-endian MSET"},
    {"TASM", 4, "a Detour set with scene bounds (MSAT): export it as MSET"},
    {"MSAT", 4, "a big-endian Detour set with scene bounds (MSAT): export it as little-endian MSET"},
    {"VAND", 4, "a single Detour tile: export the set of tiles, as MSET"},
    {"DNAV", 4, "a big-endian Detour tile: export the set of tiles, as little-endian MSET"},
    {"PAMM", 4, "a .mmtile tile, which this version does not read"},
    {"glTF", 4, "a binary glTF (GLB), which this version does not read: export it as OBJ"},
    {"ply\n", 4, "a PLY, which this version does not read: export it as OBJ"},
    {"ply\r", 4, "a PLY, which this version does not read: export it as OBJ"},
    {"solid ", 6, "an STL, which this version does not read: export it as OBJ"},
    {"Kaydara FBX", 11, "an FBX, which this version does not read: export it as OBJ"},
    {"[gd_", 4, "a Godot resource, which this version does not read"},
    {"RSRC", 4, "a binary Godot resource, which this version does not read"},
    {"RSCC", 4, "a compressed Godot resource, which this version does not read"},
    {"\xCE\xFA\xED\xFE", 4, "a Source .nav, which this version does not read"},
    {"type octile", 11, "a MovingAI grid, which this version does not read"},
    {"<?xml", 5, "XML, which this version does not read"},
    {"<map", 4, "a Tiled map in XML, which this version does not read"},
    {"\x1F\x8B", 2, "compressed by gzip: send it unpacked"},
    {"PK\x03\x04", 4, "a zip archive: send the file in it"},
    {"weighted_mesh", 13, "a weighted Polyanya mesh, which this version does not read: only `mesh` version 2"},
};

const api_format *api_format_by_name(const char *name)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (strcmp(formats[i].name, name) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n > m && strcasecmp(name + n - m, ending) == 0;
}

static const api_format *format_by_ending(const char *name)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (ends_with(name, formats[i].extension)) {
            return &formats[i];
        }
    }
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (ends_with(name, endings[i].ending)) {
            return api_format_by_name(endings[i].format);
        }
    }
    return NULL;
}

static bool begins_with(const char *bytes, size_t size, const char *text, size_t length)
{
    return size >= length && memcmp(bytes, text, length) == 0;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// Does `word` stand at the beginning, and end there?
static bool begins_with_word(const char *bytes, size_t size, const char *word)
{
    size_t length = strlen(word);
    return begins_with(bytes, size, word, length) && (size == length || is_space(bytes[length]));
}

/// An OBJ tells itself by its first statement; comments before it are skipped.
static bool looks_like_obj(const char *bytes, size_t size)
{
    static const char *const statements[] = {"v", "vn", "vt", "vp", "f", "o", "g", "s", "l", "p", "mtllib", "usemtl"};
    size_t i = 0;
    while (i < size && (is_space(bytes[i]) || bytes[i] == '#')) {
        if (bytes[i] == '#') {
            while (i < size && bytes[i] != '\n' && bytes[i] != '\r') {
                i++;
            }
        } else {
            i++;
        }
    }
    for (size_t k = 0; k < sizeof statements / sizeof *statements; k++) {
        size_t length = strlen(statements[k]);
        if (i + length < size && begins_with_word(bytes + i, size - i, statements[k])) {
            return true;
        }
    }
    return false;
}

/// KBEngine writes Detour sets without a magic: version 1, a count, parameters, then the first tile.
static bool looks_like_kbengine(const char *bytes, size_t size)
{
    return size >= 48 && memcmp(bytes, "\1\0\0\0", 4) == 0 && memcmp(bytes + 44, "VAND", 4) == 0;
}

static const char *find_foreign(const char *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        if (begins_with(bytes, size, foreign[i].begin, foreign[i].size)) {
            return foreign[i].what;
        }
    }
    if (looks_like_kbengine(bytes, size)) {
        return "a KBEngine navigation mesh, which this version does not read: export it as MSET";
    }
    return NULL;
}

/// What is told by content alone.
static const api_format *sniff(const char *bytes, size_t size)
{
    if (begins_with(bytes, size, "TESM", 4) || begins_with(bytes, size, "MSET", 4)) {
        return api_format_by_name("mset"); // MSET: big-endian, which its reader refuses by name
    }
    size_t text = begins_with(bytes, size, "\xEF\xBB\xBF", 3) ? 3 : 0;
    while (text < size && is_space(bytes[text])) {
        text++;
    }
    if (text < size && bytes[text] == '{') {
        return api_format_by_name("json");
    }
    if (begins_with_word(bytes + text, size - text, "mesh")) {
        return api_format_by_name("polyanya");
    }
    return looks_like_obj(bytes + text, size - text) ? api_format_by_name("obj") : NULL;
}

const api_format *api_format_detect(const void *bytes, size_t size, const char *name, api_problem *problem)
{
    if (size == 0) {
        api_problem_set(problem, API_BAD_MESH, "the file is empty");
        return NULL;
    }
    const api_format *format = sniff(bytes, size);
    if (format) {
        return format;
    }
    const char *what = find_foreign(bytes, size);
    if (what) {
        api_problem_set(problem, API_UNSUPPORTED_MEDIA_TYPE, "this is %s", what);
        return NULL;
    }
    format = name ? format_by_ending(name) : NULL;
    if (!format) {
        api_problem_set(problem, API_UNSUPPORTED_MEDIA_TYPE,
                        "the content is in no format that is known: those are Detour sets (mset), JSON meshes (json), "
                        "Wavefront OBJ (obj) and Polyanya meshes (polyanya)");
    }
    return format;
}

const char *api_mesh_extension(const char *format)
{
    const api_format *known = api_format_by_name(format);
    return known ? known->extension : ".bin";
}

bool api_mesh_known_name(const char *name)
{
    return !ends_with(name, ".meta.json") && strcasecmp(name, ".meta.json") != 0 && format_by_ending(name) != NULL;
}

bool api_id_valid(const char *id, size_t length)
{
    if (length == 0 || length > NAV_ID_MAX || id[0] == '.') {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        char c = id[i];
        bool allowed = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
                       c == '_' || c == '-';
        if (!allowed) {
            return false;
        }
    }
    return true;
}
