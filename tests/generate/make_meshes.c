/// Writes the sample meshes, or terrains for benchmarks.
///
///     make_meshes samples DIR            the samples, always the same bytes
///     make_meshes terrain SIDE SEED OUT  a terrain of SIDE x SIDE units; OUT ends in .obj or .json
#include "mesh_writer.h"

#include <stdlib.h>
#include <string.h>

typedef struct sample {
    const char *name;
    void (*make)(poly_mesh *mesh, uint64_t seed);
    uint64_t seed;
    const level_area *areas;
    const level_flag *flags;
    const char *format;
} sample;

static const sample samples[] = {
    {"dungeon", level_dungeon, 3, level_dungeon_areas, level_dungeon_flags, "json"},
    {"building", level_building, 1, level_building_areas, NULL, "obj"},
    {"island", level_island, 9, level_island_areas, NULL, "bin"},
};

static FILE *open_file(const char *folder, const char *name, const char *ending)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, ending);
    FILE *f = fopen(path, "wb");
    if (!f) {
        perror(path);
        exit(1);
    }
    return f;
}

static void close_file(FILE *f)
{
    if (fclose(f) != 0) {
        perror("make_meshes");
        exit(1);
    }
}

static void write_sample(const char *folder, const sample *s)
{
    poly_mesh mesh;
    s->make(&mesh, s->seed);
    FILE *f = open_file(folder, s->name, s->format);
    char comment[128];
    snprintf(comment, sizeof comment, "%s, seed %llu, made by tests/generate", s->name, (unsigned long long)s->seed);
    if (strcmp(s->format, "json") == 0) {
        write_json(f, &mesh);
    } else if (strcmp(s->format, "obj") == 0) {
        write_obj(f, &mesh, s->areas, comment);
    } else {
        poly_mesh_cut(&mesh, 6);
        poly_mesh_link(&mesh);
        if (!write_mset(f, &mesh)) {
            fprintf(stderr, "%s does not fit into one tile\n", s->name);
            exit(1);
        }
    }
    close_file(f);
    f = open_file(folder, s->name, "meta.json");
    write_sidecar(f, s->areas, s->flags);
    close_file(f);
    printf("%s: %u polygons, %u vertices\n", s->name, mesh.poly_count, mesh.vertex_count);
    poly_mesh_deinit(&mesh);
}

static void write_terrain(int side, uint64_t seed, const char *path)
{
    poly_mesh mesh;
    level_terrain(&mesh, side, seed);
    FILE *f = fopen(path, "wb");
    if (!f) {
        perror(path);
        exit(1);
    }
    size_t length = strlen(path);
    if (length > 5 && strcmp(path + length - 5, ".json") == 0) {
        write_json(f, &mesh);
    } else {
        write_obj(f, &mesh, NULL, "terrain, made by tests/generate");
    }
    close_file(f);
    printf("%s: %u polygons, %u vertices\n", path, mesh.poly_count, mesh.vertex_count);
    poly_mesh_deinit(&mesh);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "samples") == 0) {
        for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
            write_sample(argv[2], &samples[i]);
        }
        return 0;
    }
    int side = argc == 5 && strcmp(argv[1], "terrain") == 0 ? atoi(argv[2]) : 0;
    if (side > 0 && side <= 8192) {
        write_terrain(side, strtoull(argv[3], NULL, 10), argv[4]);
        return 0;
    }
    fprintf(stderr, "usage: make_meshes samples DIR\n       make_meshes terrain SIDE SEED OUT.obj|OUT.json\n");
    return 2;
}
