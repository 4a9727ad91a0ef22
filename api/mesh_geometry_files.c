/// `geometry` as OBJ and GLB.
#include <stdio.h>
#include <string.h>

#include "geometry_form.h"
#include "meshes.h"
#include "number.h"

/// The end of a chunk of items: the list's, or ITEMS_A_LOOK further.
static uint32_t chunk_end(const api_task *task, uint32_t length)
{
    return length - task->next > API_GEOMETRY_ITEMS_A_LOOK ? task->next + API_GEOMETRY_ITEMS_A_LOOK : length;
}

static void advance(api_task *task, uint32_t end, uint32_t length)
{
    task->next = end;
    if (end == length) {
        task->phase++;
        task->next = 0;
    }
}

// OBJ.

static void write_obj_vertex(api_buffer *out, const api_mesh *mesh, nav_vec internal)
{
    nav_vec v = api_frame_to_caller(&mesh->frame, internal);
    const double given[3] = {v.x, v.y, v.z};
    api_buffer_add(out, "v", 1);
    for (int k = 0; k < 3; k++) {
        char *room = api_buffer_room(out, API_NUMBER_MAX + 1);
        if (room) {
            room[0] = ' ';
            out->size += 1 + api_number_float(room + 1, (float)given[k]);
        }
    }
    api_buffer_add(out, "\n", 1);
}

/// "usemtl mud", or "usemtl area-7" where the area has no name. White space would end the name.
static void write_obj_area(api_buffer *out, const api_mesh *mesh, uint8_t area)
{
    char name[API_NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", mesh->areas[area].name);
    for (char *c = name; *c; c++) {
        *c = *c == ' ' ? '_' : *c;
    }
    if (name[0]) {
        api_buffer_printf(out, "usemtl %s\n", name);
    } else {
        api_buffer_printf(out, "usemtl area-%u\n", area);
    }
}

static void write_obj_face(api_buffer *out, const nav_face_view *face, bool reversed)
{
    char line[16];
    api_buffer_add(out, "f", 1);
    for (uint32_t i = 0; i < face->corner_count; i++) {
        uint32_t corner = face->corners[reversed && i > 0 ? face->corner_count - i : i];
        api_buffer_add(out, line, (size_t)snprintf(line, sizeof line, " %u", corner + 1));
    }
    api_buffer_add(out, "\n", 1);
}

static void write_obj(api_task *task, const nav_mesh_info *info)
{
    const api_mesh *mesh = task->mesh;
    uint32_t length = task->phase == 0 ? info->vertices : info->faces, end = chunk_end(task, length);
    bool reversed = api_geometry_reversed(mesh);
    for (uint32_t i = task->next; i < end; i++) {
        if (task->phase == 0) {
            write_obj_vertex(&task->body, mesh, nav_mesh_vertex(mesh->nav, i));
            continue;
        }
        nav_face_view face, before;
        nav_mesh_face(mesh->nav, i, &face);
        if (i > 0) {
            nav_mesh_face(mesh->nav, i - 1, &before);
        }
        if (face.corner_count == 0) {
            continue;
        }
        if (i == 0 || before.corner_count == 0 || before.area != face.area) {
            write_obj_area(&task->body, mesh, face.area);
        }
        write_obj_face(&task->body, &face, reversed);
    }
    advance(task, end, length);
}

const api_geometry_form api_geometry_obj = {"model/obj", 2, write_obj};

// GLB: header, JSON, then positions, indices and three numbers a triangle.

enum { COUNT_TRIANGLES, POSITIONS, INDICES, NUMBERS, GLB_PHASES };

#define CHUNK_JSON 0x4E4F534Au
#define CHUNK_BINARY 0x004E4942u
#define JSON_MAX 1536

static void put_u32(api_buffer *out, uint32_t value)
{
    const unsigned char bytes[] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16),
                                   (unsigned char)(value >> 24)};
    api_buffer_add(out, bytes, sizeof bytes);
}

static void put_float(api_buffer *out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u32(out, bits);
}

/// Where the node stands: vertices are stored relative to it, exactly.
static nav_vec glb_origin(const api_task *task)
{
    return nav_mesh_origin(task->mesh->nav);
}

static int print_glb_json(char json[JSON_MAX], const api_task *task, const nav_mesh_info *info, uint32_t triangles)
{
    nav_vec o = glb_origin(task);
    size_t positions = 12 * (size_t)info->vertices, indices = 12 * (size_t)triangles;
    return snprintf(
        json, JSON_MAX,
        "{\"asset\":{\"version\":\"2.0\",\"generator\":\"navd\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"
        "\"nodes\":[{\"name\":\"navmesh\",\"mesh\":0,\"translation\":[%.17g,%.17g,%.17g]}],"
        "\"meshes\":[{\"name\":\"navmesh\",\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1,\"mode\":4,"
        "\"extras\":{\"numbers\":{\"bufferView\":2,\"per_triangle\":[\"polygon\",\"area\",\"flags\"]}}}]}],"
        "\"buffers\":[{\"byteLength\":%zu}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":%zu,\"target\":34962},"
        "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu,\"target\":34963},"
        "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":%u,\"type\":\"VEC3\","
        "\"min\":[%.9g,%.9g,%.9g],\"max\":[%.9g,%.9g,%.9g]},"
        "{\"bufferView\":1,\"componentType\":5125,\"count\":%u,\"type\":\"SCALAR\"}]}",
        o.x, o.y, o.z, positions + 2 * indices, positions, positions, indices, positions + indices, indices,
        info->vertices, info->min.x - o.x, info->min.y - o.y, info->min.z - o.z, info->max.x - o.x, info->max.y - o.y,
        info->max.z - o.z, 3 * triangles);
}

static void begin_glb(api_task *task, const nav_mesh_info *info, uint32_t triangles)
{
    char json[JSON_MAX];
    uint32_t length = (uint32_t)print_glb_json(json, task, info, triangles);
    uint32_t padded = (length + 3) / 4 * 4, binary = 12 * info->vertices + 24 * triangles;
    put_u32(&task->body, 0x46546C67); // "glTF"
    put_u32(&task->body, 2);
    put_u32(&task->body, 12 + 8 + padded + 8 + binary);
    put_u32(&task->body, padded);
    put_u32(&task->body, CHUNK_JSON);
    api_buffer_add(&task->body, json, length);
    api_buffer_add(&task->body, "   ", padded - length);
    put_u32(&task->body, binary);
    put_u32(&task->body, CHUNK_BINARY);
}

static void write_glb_vertex(api_task *task, uint32_t i)
{
    nav_vec v = nav_mesh_vertex(task->mesh->nav, i), o = glb_origin(task);
    put_float(&task->body, (float)(v.x - o.x));
    put_float(&task->body, (float)(v.y - o.y));
    put_float(&task->body, (float)(v.z - o.z));
}

/// The fan round corner 0. navcore winds faces the other way round than what is seen from above must be.
static void write_glb_face(api_task *task, uint32_t i)
{
    nav_face_view face;
    nav_mesh_face(task->mesh->nav, i, &face);
    for (uint32_t k = 2; k < face.corner_count; k++) {
        bool numbers = task->phase == NUMBERS;
        put_u32(&task->body, numbers ? face.polygon : face.corners[0]);
        put_u32(&task->body, numbers ? face.area : face.corners[k]);
        put_u32(&task->body, numbers ? face.flags : face.corners[k - 1]);
    }
}

static void write_glb(api_task *task, const nav_mesh_info *info)
{
    uint32_t length = task->phase == POSITIONS ? info->vertices : info->faces, end = chunk_end(task, length);
    for (uint32_t i = task->next; i < end; i++) {
        if (task->phase == COUNT_TRIANGLES) {
            nav_face_view face;
            nav_mesh_face(task->mesh->nav, i, &face);
            task->count += face.corner_count > 0 ? face.corner_count - 2 : 0;
        } else if (task->phase == POSITIONS) {
            write_glb_vertex(task, i);
        } else {
            write_glb_face(task, i);
        }
    }
    if (task->phase == COUNT_TRIANGLES && end == length) {
        begin_glb(task, info, task->count);
    }
    advance(task, end, length);
}

const api_geometry_form api_geometry_glb = {"model/gltf-binary", GLB_PHASES, write_glb};
