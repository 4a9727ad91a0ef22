/// Any bytes as a .navd, its size and checksum set right first, so that what is behind them gets looked at. What
/// opens is asked a little: whatever a made-up mesh answers, it must do no harm. The kept inputs are of the version
/// that wrote them (navd --convert of those of the other readers); of another one they are only refused.
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "nav_cooked.h"
#include "nav_query.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

// See cooked.c: checksum, then what it covers, and in it the size.
#define CHECKSUM_AT 8
#define HASHED_AT 16
#define SIZE_AT 24
#define HEAD_BYTES 32

static bool has_had_enough(void *ctx)
{
    return ++*(unsigned *)ctx > 40;
}

static void ask(const nav_mesh *mesh)
{
    static nav_query *q;
    unsigned looks = 0;
    q = q ? q : nav_query_create(NULL);
    if (!q) {
        return;
    }
    nav_query_set_interrupt(q, &(nav_interrupt){has_had_enough, &looks});
    nav_mesh_info info;
    nav_mesh_get_info(mesh, &info);
    nav_vec middle = {(info.min.x + info.max.x) / 2, (info.min.y + info.max.y) / 2, (info.min.z + info.max.z) / 2};
    nav_snap snap = nav_snap_default();
    nav_path_options options = nav_path_options_default();
    nav_place place;
    nav_path path;
    nav_ray ray;
    options.surface = options.corridor = true;
    nav_query_nearest(q, mesh, middle, &snap, &place);
    (void)nav_query_path(q, mesh, info.min, info.max, &options, &path);
    (void)nav_query_path(q, mesh, middle, info.max, &options, &path);
    (void)nav_query_raycast(q, mesh, middle, info.min, &snap, true, &ray);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    if (!copy) {
        return 0;
    }
    memcpy(copy, data, size);
    if (size >= HEAD_BYTES) {
        uint64_t whole = size;
        memcpy(copy + SIZE_AT, &whole, sizeof whole);
        uint64_t sum = XXH3_64bits(copy + HASHED_AT, size - HASHED_AT);
        memcpy(copy + CHECKSUM_AT, &sum, sizeof sum);
    }
    static nav_report report;
    nav_cooked out;
    if (nav_mesh_open(copy, size, NULL, NULL, NULL, &out, &report, NULL) == NAV_OK) {
        ask(out.mesh);
        nav_mesh_destroy(out.mesh);
    }
    free(copy);
    return 0;
}
