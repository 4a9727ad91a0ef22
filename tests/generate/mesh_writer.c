#include "mesh_writer.h"

#include "mset_writer.h"

#include <stdlib.h>

void write_obj(FILE *out, const poly_mesh *mesh, const level_area *areas, const char *comment)
{
    fprintf(out, "# %s\n", comment);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        const double *p = &mesh->vertices[3 * (size_t)v];
        fprintf(out, "v %.9g %.9g %.9g\n", p[0], p[1], p[2]);
    }
    int area = -1;
    for (uint32_t p = 0; p < mesh->poly_count; p++) {
        if (areas && mesh->areas[p] != area) {
            area = mesh->areas[p];
            fprintf(out, "usemtl %s\n", areas[area].name);
        }
        fputc('f', out);
        for (uint32_t k = mesh->first[p + 1]; k-- > mesh->first[p];) {
            fprintf(out, " %u", mesh->corners[k] + 1);
        }
        fputc('\n', out);
    }
}

static void write_polygon_numbers(FILE *out, const poly_mesh *mesh, const char *name, bool flags)
{
    fprintf(out, ",\n\"%s\":[", name);
    for (uint32_t p = 0; p < mesh->poly_count; p++) {
        fprintf(out, "%s%u", p ? "," : "", flags ? mesh->flags[p] : mesh->areas[p]);
    }
    fputc(']', out);
}

void write_json(FILE *out, const poly_mesh *mesh)
{
    fputs("{\"vertices\":[", out);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        const double *p = &mesh->vertices[3 * (size_t)v];
        fprintf(out, "%s[%.9g,%.9g,%.9g]", v ? "," : "", p[0], p[1], p[2]);
    }
    fputs("],\n\"polygons\":[", out);
    for (uint32_t p = 0; p < mesh->poly_count; p++) {
        fputs(p ? ",[" : "[", out);
        for (uint32_t k = mesh->first[p + 1]; k-- > mesh->first[p];) {
            fprintf(out, "%u%s", mesh->corners[k], k > mesh->first[p] ? "," : "]");
        }
    }
    fputc(']', out);
    write_polygon_numbers(out, mesh, "areas", false);
    if (mesh->has_flags) {
        write_polygon_numbers(out, mesh, "flags", true);
    }
    fputs("}\n", out);
}

bool write_mset(FILE *out, const poly_mesh *mesh)
{
    if (mesh->vertex_count >= UINT16_MAX || mesh->poly_count >= MSET_OUTSIDE) {
        return false;
    }
    float *vertices = poly_mesh_resize(NULL, 3 * (size_t)mesh->vertex_count, sizeof *vertices);
    mset_polygon *polygons = poly_mesh_resize(NULL, mesh->poly_count, sizeof *polygons);
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++) {
        vertices[i] = (float)mesh->vertices[i];
    }
    bool fits = true;
    for (uint32_t p = 0; p < mesh->poly_count; p++) {
        uint32_t size = poly_mesh_size(mesh, p), first = mesh->first[p];
        fits = fits && size <= MSET_MAX_CORNERS;
        polygons[p] = (mset_polygon){.count = (uint8_t)size, .flags = (uint16_t)mesh->flags[p], .area = mesh->areas[p]};
        // Detour's polygons run the other way: corner k is ours from the end, and so is the edge behind it.
        for (uint32_t k = 0; k < size && fits; k++) {
            uint32_t neighbour = mesh->neighbours[first + (2 * size - 2 - k) % size];
            polygons[p].vertices[k] = (uint16_t)mesh->corners[first + size - 1 - k];
            polygons[p].neighbours[k] = neighbour == NAV_NONE ? 0 : (uint16_t)(neighbour + 1);
        }
    }
    mset_tile tile = {.height = 2,
                      .radius = 0,
                      .climb = 0.5f,
                      .vertices = vertices,
                      .vertex_count = mesh->vertex_count,
                      .polygons = polygons,
                      .polygon_count = mesh->poly_count};
    size_t bytes = 0;
    uint8_t *file = fits ? mset_write(&tile, 1, false, &bytes) : NULL;
    if (file) {
        fwrite(file, 1, bytes, out);
    }
    free(file);
    free(polygons);
    free(vertices);
    return file != NULL;
}

void write_sidecar(FILE *out, const level_area *areas, const level_flag *flags)
{
    fputs("{\"areas\":{", out);
    for (const level_area *a = areas; a->name; a++) {
        fprintf(out, "%s\"%s\":{\"id\":%d,\"cost\":%.9g}", a == areas ? "" : ",", a->name, a->id, a->cost);
    }
    fputc('}', out);
    for (const level_flag *f = flags; f && f->name; f++) {
        fprintf(out, "%s\"%s\":%d", f == flags ? ",\n\"flags\":{" : ",", f->name, f->bit);
    }
    fputs(flags ? "}}\n" : "}\n", out);
}
