/// Paths between two positions: snapping, who can be reached, the search, and the answer's points.
#include "polyanya.h"

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
    nav__search search;
} path_job;

// ---- who can be reached ----------------------------------------------------------------------------

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

/// Marks every cell that the filter lets one walk to from the start with query->reached_stamp.
static bool flood(path_job *job)
{
    nav_query *q = job->query;
    const nav_mesh *m = job->mesh;
    size_t had = q->reached.bytes;
    uint32_t *reached = nav__reserve(q, &q->reached, m->cell_count * sizeof *reached);
    uint32_t *stack = nav__reserve(q, &q->cells, m->cell_count * sizeof *stack);
    if (!reached || !stack) {
        return false;
    }
    if (q->reached.bytes != had) {
        memset((char *)reached + had, 0, q->reached.bytes - had);
    }
    if (++q->reached_stamp == 0) {
        memset(reached, 0, q->reached.bytes);
        q->reached_stamp = 1;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < job->start.count; i++) {
        reached[job->start.cells[i]] = q->reached_stamp;
        stack[count++] = job->start.cells[i];
    }
    while (count > 0) {
        uint32_t cell = stack[--count];
        for (uint32_t e = m->cells[cell].first_edge; e < m->cells[cell + 1].first_edge; e++) {
            uint32_t twin = m->edges[e].twin;
            if (twin == NAV_NONE) {
                continue;
            }
            uint32_t next = m->edge_cell[twin];
            if (reached[next] != q->reached_stamp && nav__passes(m, &job->options->snap.filter, next)) {
                reached[next] = q->reached_stamp;
                stack[count++] = next;
            }
        }
    }
    return true;
}

static bool takes_island(const void *ctx, uint32_t cell)
{
    const path_job *job = ctx;
    uint32_t island = job->mesh->cells[cell].island;
    for (uint32_t i = 0; i < job->start.count; i++) {
        if (job->mesh->cells[job->start.cells[i]].island == island) {
            return true;
        }
    }
    return false;
}

static bool takes_reached(const void *ctx, uint32_t cell)
{
    const path_job *job = ctx;
    return ((const uint32_t *)job->query->reached.data)[cell] == job->query->reached_stamp;
}

/// Where no way leads to the goal, the goal becomes the reachable place nearest to it.
/// @return NAV_OK with path->status complete or partial or unreachable
static nav_status find_reachable_goal(path_job *job)
{
    nav_path *path = job->path;
    const nav_mesh *m = job->mesh;
    bool open = nav__passes_all(m, &job->options->snap.filter);
    bool reachable = share_island(m, &job->start, &job->goal);
    if (!open && reachable) {
        if (!flood(job)) {
            return NAV_NO_MEMORY;
        }
        reachable = false;
        for (uint32_t i = 0; i < job->goal.count; i++) {
            reachable = reachable || takes_reached(job, job->goal.cells[i]);
        }
    } else if (!open && !flood(job)) {
        return NAV_NO_MEMORY;
    }
    path->status = NAV_PATH_COMPLETE;
    if (reachable) {
        return NAV_OK;
    }
    nav_place place;
    if (job->options->no_partial ||
        !nav__nearest_taken(job->query, m, path->end.point, open ? takes_island : takes_reached, job, &place)) {
        path->status = NAV_PATH_UNREACHABLE;
        return NAV_OK;
    }
    path->status = NAV_PATH_PARTIAL;
    nav__anchor_make(m, &place, &job->options->snap.filter, &job->goal);
    path->points = nav__reserve(job->query, &job->query->points, sizeof(nav_vec));
    if (!path->points) {
        return NAV_NO_MEMORY;
    }
    *(nav_vec *)job->query->points.data = place.point;
    return NAV_OK;
}

// ---- points ----------------------------------------------------------------------------------------

static double distance(nav_vec a, nav_vec b)
{
    double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrt(x * x + y * y + z * z);
}

/// Answers carry 32-bit floats: two points that print alike are one.
static bool prints_alike(nav_vec a, nav_vec b)
{
    return (float)a.x == (float)b.x && (float)a.y == (float)b.y && (float)a.z == (float)b.z;
}

static nav_vec corner_point(const nav_mesh *m, uint32_t v)
{
    return (nav_vec){m->origin.x + (double)m->vertex_xz[2 * v], m->origin.y + (double)m->vertex_y[v],
                     m->origin.z + (double)m->vertex_xz[2 * v + 1]};
}

static nav__p2 corner_ground(const nav_mesh *m, uint32_t v)
{
    return (nav__p2){(double)m->vertex_xz[2 * v], (double)m->vertex_xz[2 * v + 1]};
}

/// An end that stands on a corner, within rounding, is that corner.
static bool is_end(const nav_mesh *m, nav_vec corner, nav_vec end)
{
    return fabs(corner.x - end.x) <= m->rounding && fabs(corner.z - end.z) <= m->rounding;
}

/// The path's points: the start, the corners where it truly bends, and `last`.
static nav_status write_points(path_job *job, nav_vec last, nav__p2 last_ground)
{
    nav_query *q = job->query;
    const nav_mesh *m = job->mesh;
    nav_path *path = job->path;
    uint32_t count = job->search.corner_count;
    nav_vec *points = nav__reserve(q, &q->points, ((size_t)count + 2) * sizeof *points);
    if (!points) {
        return NAV_NO_MEMORY;
    }
    const uint32_t *corners = q->corners.data;
    uint32_t n = 0;
    nav__p2 previous = job->start.p;
    points[n++] = path->start.point;
    for (uint32_t i = 0; i < count; i++) {
        nav_vec p = corner_point(m, corners[i]);
        nav__p2 here = corner_ground(m, corners[i]);
        nav__p2 next = i + 1 < count ? corner_ground(m, corners[i + 1]) : last_ground;
        bool needless = (n == 1 && is_end(m, p, points[0])) || (i + 1 == count && is_end(m, p, last)) ||
                        nav__orient(previous, here, next) == 0 || prints_alike(p, points[n - 1]);
        if (!needless) {
            points[n++] = p;
            previous = here;
        }
    }
    if (!prints_alike(points[n - 1], last)) {
        points[n++] = last;
    } else if (n > 1) {
        points[n - 1] = last;
    }
    path->points = points;
    path->point_count = n;
    path->length = 0;
    for (uint32_t i = 1; i < n; i++) {
        path->length += distance(points[i - 1], points[i]);
    }
    path->cost = path->length;
    path->remaining = path->status == NAV_PATH_COMPLETE ? 0 : distance(points[n - 1], path->end.point);
    return NAV_OK;
}

// ---- the whole -------------------------------------------------------------------------------------

static nav_status search_and_write(path_job *job)
{
    const nav_path_options *options = job->options;
    nav_path *path = job->path;
    const nav_mesh *m = job->mesh;
    nav_vec last = path->status == NAV_PATH_COMPLETE ? path->end.point : *path->points;
    path->points = NULL;
    nav__p2 last_ground = job->goal.p;
    job->search = (nav__search){.mesh = m,
                                .filter = &options->snap.filter,
                                .start = &job->start,
                                .goal = &job->goal,
                                .max_nodes = options->max_nodes,
                                .max_length = options->max_length};
    nav__search_result result = nav__polyanya(job->query, &job->search);
    path->nodes = job->search.nodes;
    switch (result) {
    case NAV__FOUND:
        break;
    case NAV__LIMITED:
        path->status = NAV_PATH_LIMIT;
        last_ground = job->search.tip;
        last = (nav_vec){m->origin.x + last_ground.x,
                         m->origin.y + nav__cell_height(m, job->search.tip_cell, last_ground, NULL),
                         m->origin.z + last_ground.z};
        break;
    case NAV__EXHAUSTED:
        path->status = NAV_PATH_UNREACHABLE;
        return NAV_OK;
    case NAV__STOPPED:
        return NAV_INTERRUPTED;
    case NAV__OUT_OF_MEMORY:
        return NAV_NO_MEMORY;
    }
    return write_points(job, last, last_ground);
}

static bool is_finite(nav_vec p) { return isfinite(p.x) && isfinite(p.y) && isfinite(p.z); }

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
    nav_status status = find_reachable_goal(&job);
    if (status != NAV_OK || path->status == NAV_PATH_UNREACHABLE) {
        return status;
    }
    return search_and_write(&job);
}
