/// Does an edit touch any ground of a mesh? Asked so that an edit that does nothing can be told as such: a
/// typing error, or one that a new version of the file has left in the air.
#include <math.h>

#include "editor.h"

#define OUTLINE_MAX API_EDIT_POINTS_MAX

/// What an edit covers: a polygon or a point, grown by a distance, between two heights.
typedef struct cover {
    api_ground points[OUTLINE_MAX];
    uint32_t count;
    double grown, low, high;
    api_ground least, most; ///< its bounds
} cover;

static double side(api_ground a, api_ground b, api_ground p)
{
    return (b.x - a.x) * (p.z - a.z) - (b.z - a.z) * (p.x - a.x);
}

static double segment_distance(api_ground a, api_ground b, api_ground p)
{
    double dx = b.x - a.x, dz = b.z - a.z, square = dx * dx + dz * dz;
    double t = square > 0 ? ((p.x - a.x) * dx + (p.z - a.z) * dz) / square : 0;
    t = fmin(fmax(t, 0), 1);
    return hypot(p.x - a.x - t * dx, p.z - a.z - t * dz);
}

static bool cross(api_ground a, api_ground b, api_ground c, api_ground d)
{
    return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

/// By crossings of a ray, for any simple polygon.
static bool inside(const api_ground *points, uint32_t count, api_ground p)
{
    bool in = false;
    for (uint32_t i = 0, k = count - 1; i < count; k = i++) {
        api_ground a = points[i], b = points[k];
        if ((a.z > p.z) != (b.z > p.z) && p.x < (b.x - a.x) * (p.z - a.z) / (b.z - a.z) + a.x) {
            in = !in;
        }
    }
    return count > 2 && in;
}

/// Do they come nearer to each other than the cover is grown by?
static bool meets(const cover *c, const api_ground *face, uint32_t count)
{
    if (inside(face, count, c->points[0]) || inside(c->points, c->count, face[0])) {
        return true;
    }
    for (uint32_t i = 0, k = c->count - 1; i < c->count; k = i++) {
        for (uint32_t m = 0, n = count - 1; m < count; n = m++) {
            double d = fmin(segment_distance(face[n], face[m], c->points[i]),
                            segment_distance(c->points[k], c->points[i], face[m]));
            if (d < c->grown || cross(c->points[k], c->points[i], face[n], face[m])) {
                return true;
            }
        }
    }
    return false;
}

static void add_corner(cover *c, double x, double z)
{
    c->points[c->count++] = (api_ground){x, z};
}

static void bound(cover *c)
{
    c->least = c->most = c->points[0];
    for (uint32_t i = 1; i < c->count; i++) {
        c->least = (api_ground){fmin(c->least.x, c->points[i].x), fmin(c->least.z, c->points[i].z)};
        c->most = (api_ground){fmax(c->most.x, c->points[i].x), fmax(c->most.z, c->points[i].z)};
    }
    c->least = (api_ground){c->least.x - c->grown, c->least.z - c->grown};
    c->most = (api_ground){c->most.x + c->grown, c->most.z + c->grown};
}

static void make_cover(cover *c, const api_edit *edit, const nav_agent *agent)
{
    c->count = 0;
    c->grown = edit->kind == API_OBSTACLE ? agent->radius : 0;
    c->low = edit->center.y - edit->height / 2;
    c->high = edit->center.y + edit->height / 2;
    if (edit->shape == API_CYLINDER) {
        add_corner(c, edit->center.x, edit->center.z);
        c->grown += edit->radius;
    } else if (edit->shape == API_BOX) {
        static const double signs[4][2] = {{-1, -1}, {-1, 1}, {1, 1}, {1, -1}};
        double co = cos(edit->yaw), si = sin(edit->yaw);
        for (int i = 0; i < 4; i++) {
            double x = signs[i][0] * edit->half_extents.x, z = signs[i][1] * edit->half_extents.z;
            add_corner(c, edit->center.x + x * co + z * si, edit->center.z - x * si + z * co);
        }
        c->low = edit->center.y - edit->half_extents.y;
        c->high = edit->center.y + edit->half_extents.y;
    } else {
        for (uint32_t i = 0; i < edit->point_count && i < OUTLINE_MAX; i++) {
            add_corner(c, edit->points[i].x, edit->points[i].z);
        }
        c->low = edit->min;
        c->high = edit->max;
    }
    c->low -= agent->climb; // what stands a little over the ground stands on it
    bound(c);
}

/// The usual case, at the cost of one look-up: ground in the middle of it.
static bool touches_near(nav_query *query, const nav_mesh *ground, const cover *c)
{
    nav_vec middle = {(c->least.x + c->most.x) / 2, (c->low + c->high) / 2, (c->least.z + c->most.z) / 2};
    nav_snap snap = nav_snap_default();
    snap.half_extents = (nav_vec){(c->most.x - c->least.x) / 2, (c->high - c->low) / 2, (c->most.z - c->least.z) / 2};
    nav_place place;
    if (!nav_query_nearest(query, ground, middle, &snap, &place)) {
        return false;
    }
    api_ground p = {place.point.x, place.point.z};
    bool covered =
        c->count == 1 ? hypot(p.x - c->points[0].x, p.z - c->points[0].z) < c->grown : inside(c->points, c->count, p);
    return covered && place.point.y >= c->low && place.point.y <= c->high;
}

static bool touches_face(const nav_mesh *ground, uint32_t number, const cover *c)
{
    nav_face_view face;
    api_ground corners[64];
    nav_mesh_face(ground, number, &face);
    uint32_t count = face.corner_count < 64 ? face.corner_count : 64;
    double low = INFINITY, high = -INFINITY;
    api_ground least = {INFINITY, INFINITY}, most = {-INFINITY, -INFINITY};
    for (uint32_t i = 0; i < count; i++) {
        nav_vec v = nav_mesh_vertex(ground, face.corners[i]);
        corners[i] = (api_ground){v.x, v.z};
        low = fmin(low, v.y);
        high = fmax(high, v.y);
        least = (api_ground){fmin(least.x, v.x), fmin(least.z, v.z)};
        most = (api_ground){fmax(most.x, v.x), fmax(most.z, v.z)};
    }
    return least.x <= c->most.x && most.x >= c->least.x && least.z <= c->most.z && most.z >= c->least.z &&
           low <= c->high && high >= c->low && meets(c, corners, count);
}

static bool link_touches(nav_query *query, const nav_mesh *ground, const nav_link *link, const nav_agent *agent)
{
    nav_snap snap = nav_snap_default();
    snap.half_extents = (nav_vec){link->radius, link->radius + agent->climb, link->radius};
    nav_place place;
    return nav_query_nearest(query, ground, link->start, &snap, &place) &&
           nav_query_nearest(query, ground, link->end, &snap, &place);
}

bool api_edit_touches(nav_query *query, const nav_mesh *ground, const api_edit *edit)
{
    nav_mesh_info info;
    nav_mesh_get_info(ground, &info);
    if (edit->kind == API_LINK) {
        return link_touches(query, ground, &edit->link, &info.agent);
    }
    cover c;
    make_cover(&c, edit, &info.agent);
    bool found = touches_near(query, ground, &c);
    for (uint32_t i = 0; i < info.faces && !found; i++) {
        found = touches_face(ground, i, &c);
    }
    return found;
}
