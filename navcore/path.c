/// Paths between two positions: snapping, what can be reached, the search.
#include "flood.h"
#include "path_points.h"
#include "polyanya.h"
#include "weighted.h"

#include <math.h>
#include <string.h>

nav_path_options nav_path_options_default(void)
{
    return (nav_path_options){.snap = nav_snap_default()};
}

/// One request under way.
typedef struct path_job {
    nav_query *query;
    const nav_mesh *mesh;
    const nav_path_options *options;
    nav_path *path;
    nav__anchor start, goal;
} path_job;

// ---- what can be reached ---------------------------------------------------------------------------

/// For nav__nearest_taken.
static bool takes_flooded(const void *ctx, uint32_t cell)
{
    return nav__is_flooded(ctx, cell);
}

static bool share_island(const nav_mesh *m, const nav__anchor *a, const nav__anchor *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        for (uint32_t k = 0; k < b->count; k++) {
            if (m->cells[a->cells[i]].island == m->cells[b->cells[k]].island) {
                return true;
            }
        }
    }
    return false;
}

/// Where no way leads to the goal, the goal becomes the reachable place nearest to it.
/// @param hopeful  a common island will do, even where it may have been cut apart
/// @param goal     in: path->end; out: where the path is to lead
/// @return NAV_OK with path->status complete, partial or unreachable
static nav_status find_reachable_goal(path_job *job, bool hopeful, nav_place *goal)
{
    nav_path *path = job->path;
    const nav_mesh *m = job->mesh;
    const nav_filter *filter = &job->options->snap.filter;
    path->status = NAV_PATH_COMPLETE;
    if ((hopeful || !m->loose_islands) && nav__passes_all(m, filter) && share_island(m, &job->start, &job->goal)) {
        return NAV_OK;
    }
    nav__flooded flooded;
    if (!nav__flood(job->query, m, filter, &job->start, &flooded)) {
        return NAV_NO_MEMORY;
    }
    for (uint32_t i = 0; i < job->goal.count; i++) {
        if (nav__is_flooded(&flooded, job->goal.cells[i])) {
            return NAV_OK;
        }
    }
    if (job->options->no_partial ||
        !nav__nearest_taken(job->query, m, path->end.point, takes_flooded, &flooded, goal)) {
        path->status = NAV_PATH_UNREACHABLE;
        return NAV_OK;
    }
    path->status = NAV_PATH_PARTIAL;
    nav__anchor_make(m, goal, filter, &job->goal);
    return NAV_OK;
}

// ---- the whole -------------------------------------------------------------------------------------

static double distance(nav_vec a, nav_vec b)
{
    double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrt(x * x + y * y + z * z);
}

/// Do area costs make a difference to which way is best?
static bool is_weighted(const nav_mesh *m, const nav_filter *filter)
{
    if (!filter->area_costs) {
        return false;
    }
    double common = m->ride_count ? 1 : -1;
    for (uint32_t area = 0; area < 256; area++) {
        if (m->areas_used[area / 64] >> area % 64 & 1) {
            double cost = filter->area_costs[area];
            common = common < 0 ? cost : common;
            if (cost != common) {
                return true;
            }
        }
    }
    return false;
}

static nav__stop end_stop(const nav_place *place, const nav__anchor *anchor)
{
    return (nav__stop){place->point, anchor->p, NAV_NONE, place->cell, NAV_NONE, 0};
}

/// Where a limit left the search.
static nav__stop tip_stop(const nav_mesh *m, const nav__search *search)
{
    nav__p2 at = search->tip;
    uint32_t cell = search->tip_cell;
    double height = nav__cell_height(m, cell, at, NULL);
    return (nav__stop){.point = {m->origin.x + at.x, m->origin.y + height, m->origin.z + at.z},
                       .ground = at,
                       .vertex = NAV_NONE,
                       .cell = cell,
                       .ride = NAV_NONE};
}

/// Shortest path: stops into query->stops.
static nav__search_result search_shortest(path_job *job, const nav_place *goal, uint32_t *stop_count)
{
    nav__search search = {.mesh = job->mesh,
                          .filter = &job->options->snap.filter,
                          .start = &job->start,
                          .goal = &job->goal,
                          .max_nodes = job->options->max_nodes,
                          .explain = job->options->explain};
    nav__search_result result = nav__polyanya(job->query, &search);
    job->path->nodes = search.nodes;
    job->path->explained = job->query->explained.data;
    job->path->explained_count = search.explained_count;
    if (result != NAV__FOUND && result != NAV__LIMITED) {
        return result;
    }
    nav__stop first = end_stop(&job->path->start, &job->start);
    nav__stop last = result == NAV__FOUND ? end_stop(goal, &job->goal) : tip_stop(job->mesh, &search);
    return nav__stops_from_corners(job->query, job->mesh, &first, &last, search.corner_count, stop_count)
               ? result
               : NAV__OUT_OF_MEMORY;
}

/// Cheapest path, by area costs: stops into query->stops.
static nav__search_result search_cheapest(path_job *job, const nav_place *goal, uint32_t *stop_count)
{
    nav__weighted search = {.mesh = job->mesh,
                            .filter = &job->options->snap.filter,
                            .start = &job->start,
                            .goal = &job->goal,
                            .max_nodes = job->options->max_nodes,
                            .explain = job->options->explain};
    nav__search_result result = nav__weighted_search(job->query, &search);
    job->path->nodes = search.nodes;
    job->path->explained = job->query->explained.data;
    job->path->explained_count = search.explained_count;
    if (result != NAV__FOUND && result != NAV__LIMITED) {
        return result;
    }
    nav__stop first = end_stop(&job->path->start, &job->start), last = end_stop(goal, &job->goal);
    return nav__stops_from_steps(job->query, job->mesh, &job->options->snap.filter, &first,
                                 result == NAV__FOUND ? &last : NULL, search.step_count, stop_count)
               ? result
               : NAV__OUT_OF_MEMORY;
}

static nav_status search_and_write(path_job *job, const nav_place *goal)
{
    const nav_path_options *options = job->options;
    const nav_filter *filter = &options->snap.filter;
    nav_path *path = job->path;
    uint32_t count = 0;
    switch (is_weighted(job->mesh, filter) ? search_cheapest(job, goal, &count) : search_shortest(job, goal, &count)) {
    case NAV__FOUND:
        break;
    case NAV__LIMITED:
        path->status = NAV_PATH_LIMIT;
        break;
    case NAV__EXHAUSTED:
        path->status = NAV_PATH_UNREACHABLE;
        return NAV_OK;
    case NAV__STOPPED:
        return NAV_INTERRUPTED;
    case NAV__OUT_OF_MEMORY:
        return NAV_NO_MEMORY;
    }
    if (options->max_length > 0 && nav__stops_cut(job->query, job->mesh, filter, options->max_length, &count)) {
        path->status = NAV_PATH_LIMIT;
    }
    nav_status status = nav__stops_write(job->query, job->mesh, options, count, path);
    if (status == NAV_OK && path->status != NAV_PATH_COMPLETE) {
        path->remaining = distance(path->points[path->point_count - 1], path->end.point);
    }
    return status;
}

static bool is_finite(nav_vec p)
{
    return isfinite(p.x) && isfinite(p.y) && isfinite(p.z);
}

nav_status nav_query_path(nav_query *query, const nav_mesh *mesh, nav_vec start, nav_vec end,
                          const nav_path_options *options, nav_path *path)
{
    *path = (nav_path){.status = NAV_PATH_UNREACHABLE};
    path->start.polygon = path->end.polygon = NAV_NONE;
    if (!is_finite(start) || !is_finite(end)) {
        return NAV_BAD_ARGUMENT;
    }
    if (!nav_query_nearest(query, mesh, start, &options->snap, &path->start)) {
        path->status = NAV_PATH_START_OFF_MESH;
        return NAV_OK;
    }
    if (!nav_query_nearest(query, mesh, end, &options->snap, &path->end)) {
        path->status = NAV_PATH_END_OFF_MESH;
        return NAV_OK;
    }
    path_job job = {.query = query, .mesh = mesh, .options = options, .path = path};
    nav__anchor_make(mesh, &path->start, &options->snap.filter, &job.start);
    nav__anchor_make(mesh, &path->end, &options->snap.filter, &job.goal);
    nav_place goal = path->end;
    nav_status status = find_reachable_goal(&job, true, &goal);
    if (status != NAV_OK || path->status == NAV_PATH_UNREACHABLE) {
        return status;
    }
    status = search_and_write(&job, &goal);
    if (status != NAV_OK || path->status != NAV_PATH_UNREACHABLE || !mesh->loose_islands) {
        return status;
    }
    // The search has found out that edits cut the island apart.
    goal = path->end;
    status = find_reachable_goal(&job, false, &goal);
    return status != NAV_OK || path->status == NAV_PATH_UNREACHABLE ? status : search_and_write(&job, &goal);
}
