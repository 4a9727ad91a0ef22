/// The table of formats: one row for each that is read, and what is told of those that are not.
#include <string.h>

#include "mesh_read.h"
#include "nav_cooked.h"

/// Words the other way round are big-endian: their readers refuse them by name.
static bool is_mset(const char *bytes, size_t size)
{
    // KBEngine's sets have no magic: version 1, a count, parameters, then the first tile behind its reference and
    // size, of which the latter may be 64 bits wide.
    bool kbengine = size >= 56 && memcmp(bytes, "\1\0\0\0", 4) == 0 &&
                    (memcmp(bytes + 44, "VAND", 4) == 0 || memcmp(bytes + 52, "VAND", 4) == 0);
    return kbengine || api_begins_with(bytes, size, "TESM", 4) || api_begins_with(bytes, size, "MSET", 4) ||
           api_begins_with(bytes, size, "TASM", 4) || api_begins_with(bytes, size, "MSAT", 4);
}

static bool is_dnav(const char *bytes, size_t size)
{
    return api_begins_with(bytes, size, "VAND", 4) || api_begins_with(bytes, size, "DNAV", 4);
}

static bool is_mmtile(const char *bytes, size_t size)
{
    // An .mmap of newer exporters begins with the same magic and has 40 bytes.
    return size > 40 && (api_begins_with(bytes, size, "PAMM", 4) || api_begins_with(bytes, size, "MMAP", 4));
}

static bool read_mmap(const api_reading *reading)
{
    const nav_part alone = {".mmap", reading->bytes, reading->size};
    bool many = reading->part_count > 0;
    nav_error error = {0};
    nav_status status =
        nav_read_mmap(reading->soup, many ? reading->parts : &alone, many ? reading->part_count : 1, &error);
    return status == NAV_OK || api_read_failed(reading->problem, status, &error);
}

static bool is_json(const char *bytes, size_t size)
{
    size_t start = api_text_start(bytes, size);
    return start < size && bytes[start] == '{';
}

static bool is_polyanya(const char *bytes, size_t size)
{
    size_t start = api_text_start(bytes, size);
    return api_begins_with_word(bytes + start, size - start, "mesh") ||
           api_begins_with_word(bytes + start, size - start, "weighted_mesh");
}

static bool is_movingai(const char *bytes, size_t size)
{
    size_t start = api_text_start(bytes, size);
    return api_begins_with(bytes + start, size - start, "type octile", 11);
}

static bool is_source(const char *bytes, size_t size)
{
    return api_begins_with(bytes, size, "\xCE\xFA\xED\xFE", 4);
}

static bool read_source(const api_reading *reading)
{
    nav_error error = {0};
    reading->extra->up = 'z';
    nav_status status = nav_read_source(reading->soup, reading->bytes, reading->size, &error);
    return status == NAV_OK || api_read_failed(reading->problem, status, &error);
}

static bool is_godot(const char *bytes, size_t size)
{
    size_t start = api_text_start(bytes, size);
    return api_begins_with(bytes + start, size - start, "[gd_", 4);
}

static bool is_godot_binary(const char *bytes, size_t size)
{
    return api_begins_with(bytes, size, "RSRC", 4) || api_begins_with(bytes, size, "RSCC", 4);
}

static bool is_glb(const char *bytes, size_t size)
{
    return api_begins_with(bytes, size, "glTF", 4);
}

static bool is_ply(const char *bytes, size_t size)
{
    return api_begins_with_word(bytes, size, "ply");
}

static bool is_stl(const char *bytes, size_t size)
{
    return api_begins_with_word(bytes, size, "solid") || nav_stl_is_binary(bytes, size);
}

/// An OBJ tells itself by its first statement; comments before it are skipped.
static bool is_obj(const char *bytes, size_t size)
{
    static const char *const statements[] = {"v", "vn", "vt", "vp", "f", "o", "g", "s", "l", "p", "mtllib", "usemtl"};
    size_t i = api_text_start(bytes, size);
    while (i < size && bytes[i] == '#') {
        while (i < size && bytes[i] != '\n' && bytes[i] != '\r') {
            i++;
        }
        i += api_text_start(bytes + i, size - i);
    }
    for (size_t k = 0; k < sizeof statements / sizeof *statements; k++) {
        size_t length = strlen(statements[k]);
        if (i + length < size && api_begins_with_word(bytes + i, size - i, statements[k])) {
            return true;
        }
    }
    return false;
}

static bool is_navd(const char *bytes, size_t size)
{
    return nav_cooked_is(bytes, size);
}

// JSON is a mesh of ours where it is nobody else's: other formats in JSON stand before it.
const api_format api_formats[] = {
    {"navd", "navd's own .navd files", ".navd", is_navd, NULL, NULL},
    {"mset", "Detour sets", ".bin .navmesh .mset", is_mset, nav_read_mset, NULL},
    {"dnav", "single Detour tiles", ".dnav .tile", is_dnav, nav_read_dnav, NULL},
    {"mmtile", ".mmtile tiles", ".mmtile", is_mmtile, nav_read_mmtile, NULL},
    {"mmap", ".mmap maps", ".mmap", NULL, NULL, read_mmap},
    {"json", "JSON meshes", ".json", is_json, NULL, api_read_json},
    {"polyanya", "Polyanya meshes", ".mesh", is_polyanya, nav_read_polyanya, NULL},
    {"movingai", "MovingAI maps", ".map", is_movingai, nav_read_movingai, NULL},
    {"obj", "Wavefront OBJ files", ".obj", is_obj, nav_read_obj, NULL},
    {"godot", "Godot resources", ".tres .tscn", is_godot, nav_read_godot_text, NULL},
    {"godot-binary", "binary Godot resources", ".res .scn", is_godot_binary, nav_read_godot_binary, NULL},
    {"source", "Source engine areas", ".nav", is_source, NULL, read_source},
    {"tiled", "Tiled maps in JSON", ".tmj .json", NULL, NULL, api_read_tiled},
    {"recast", "dumps of Recast's polygon mesh in JSON", ".json", NULL, NULL, api_read_recast},
    {"awpy", "dumps of Source 2 areas in JSON", ".json", NULL, NULL, api_read_awpy},
    {"gltf", "glTF 2.0 files", ".glb .gltf", is_glb, NULL, api_read_gltf}, // as text it is JSON
    {"ply", "PLY files", ".ply", is_ply, nav_read_ply, NULL},
    {"stl", "STL files", ".stl", is_stl, nav_read_stl, NULL}, // the last: in binary it has no mark
};
const size_t api_format_count = sizeof api_formats / sizeof *api_formats;

/// How formats begin that people will try and that are not read.
static const struct {
    const char *begin;
    size_t size;
    const char *what;
} foreign[] = {
    {"TEST", 4, "a Detour tile cache set (TSET): export the navigation mesh built from it, as MSET"},
    {"TAST", 4, "a Detour tile cache set (TSAT): export the navigation mesh built from it, as MSET"},
    {"TSAT", 4, "a big-endian Detour tile cache set: export the navigation mesh built from it, as little-endian MSET"},
    {"TSET", 4, "a big-endian Detour tile cache set: export the navigation mesh built from it, as little-endian MSET"},
    {"Kaydara FBX", 11, "an FBX, which this version does not read: export it as OBJ"},
    {"<?xml", 5, "XML, which this version does not read"},
    {"<map", 4, "a Tiled map in XML, which this version does not read"},
    {"\x1F\x8B", 2, "compressed by gzip: send it unpacked"},
    {"PK\x03\x04", 4, "a zip archive: send the file in it"},
};

const char *api_format_foreign(const char *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        if (api_begins_with(bytes, size, foreign[i].begin, foreign[i].size)) {
            return foreign[i].what;
        }
    }
    if (api_begins_with(bytes, size, "PAMM", 4)) {
        return "an .mmap without its tiles: put it into the mesh folder with the .mmtile files beside it";
    }
    return NULL;
}
