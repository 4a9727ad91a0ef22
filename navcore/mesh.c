/// What a finished mesh tells of itself. Building is in build*.c, questions to the surface in the query's files.
#include "edit_store.h"
#include "layout.h"

void nav_mesh_destroy(nav_mesh *mesh)
{
    if (mesh) {
        nav_alloc alloc = mesh->alloc;
        if (mesh->revision) {
            nav__revision_release(mesh->revision);
        } else if (!mesh->borrowed) {
            alloc.resize(alloc.ctx, mesh->block, 0);
        } else if (mesh->release) {
            mesh->release(mesh->release_ctx);
        }
        alloc.resize(alloc.ctx, mesh, 0);
    }
}

static nav_vec absolute(const nav_mesh *m, const float *p)
{
    return (nav_vec){m->origin.x + (double)p[0], m->origin.y + (double)p[1], m->origin.z + (double)p[2]};
}

void nav_mesh_get_info(const nav_mesh *mesh, nav_mesh_info *info)
{
    *info = (nav_mesh_info){
        .polygons = mesh->polygon_count,
        .faces = mesh->face_count,
        .cells = mesh->cell_count,
        .vertices = mesh->face_pieces ? mesh->point_count : mesh->vertex_points, // pieces have corners of their own
        .links = mesh->link_count,
        .islands = mesh->island_count,
        .min = absolute(mesh, mesh->min),
        .max = absolute(mesh, mesh->max),
        .agent = mesh->agent,
        .has_flags = mesh->has_flags,
        .has_areas = mesh->has_areas,
        .flags_used = mesh->flags_used,
        .memory_bytes = sizeof *mesh + mesh->block_bytes,
    };
}

/// The polygon's first face, NULL where the polygon was dropped. Faces are sorted by polygon.
static const nav__face *face_of_polygon(const nav_mesh *m, uint32_t polygon)
{
    uint32_t face = nav__sorted_face(m, polygon);
    return face < m->sorted_face_count && nav__face_polygon(m, face) == polygon ? &m->faces[face] : NULL;
}

uint8_t nav_mesh_polygon_area(const nav_mesh *mesh, uint32_t polygon)
{
    const nav__face *f = face_of_polygon(mesh, polygon);
    return f ? mesh->cells[f->cell].area : 0;
}

uint32_t nav_mesh_polygon_flags(const nav_mesh *mesh, uint32_t polygon)
{
    const nav__face *f = face_of_polygon(mesh, polygon);
    return f && mesh->has_flags ? mesh->cells[f->cell].flags : 0;
}

void nav_mesh_areas_used(const nav_mesh *mesh, uint64_t used[4])
{
    for (int i = 0; i < 4; i++) {
        used[i] = mesh->areas_used[i];
    }
}

const nav_link *nav_mesh_links(const nav_mesh *mesh)
{
    return mesh->links;
}

void nav_mesh_face(const nav_mesh *mesh, uint32_t face, nav_face_view *view)
{
    const nav__face *f = &mesh->faces[face];
    if (nav__face_is_gone(mesh, face)) {
        *view = (nav_face_view){.corner_count = 0};
        return;
    }
    const nav__cell *c = &mesh->cells[f->cell];
    *view = (nav_face_view){
        .polygon = nav__face_polygon(mesh, face),
        .island = c->island,
        .flags = mesh->has_flags ? c->flags : 0,
        .area = c->area,
        .corner_count = f[1].first_corner - f->first_corner,
        .corners = &mesh->face_corners[f->first_corner],
    };
}

nav_vec nav_mesh_vertex(const nav_mesh *mesh, uint32_t vertex)
{
    return absolute(mesh, &mesh->points[3 * (size_t)vertex]);
}

nav_vec nav_mesh_origin(const nav_mesh *mesh)
{
    return mesh->origin;
}
