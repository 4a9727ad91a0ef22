#include "own.h"

extern "C" {
#include "nav_format.h"
}

#include <cstdio>

bool own_side::build(const bench_case &c)
{
    nav_soup soup;
    nav_soup_init(&soup, nullptr);
    nav_error error;
    std::snprintf(error.message, sizeof error.message, "out of memory");
    double before = bench_now();
    nav_status status = c.set.empty() ? poly_mesh_to_soup(&c.mesh, &soup, false, 0)
                                      : nav_read_mset(&soup, c.set.data(), c.set.size(), &error);
    for (size_t i = 0; i < c.links.size() && status == NAV_OK; i++) {
        nav_link link{};
        std::snprintf(link.id, sizeof link.id, "%zu", i);
        link.start = c.links[i].start;
        link.end = c.links[i].end;
        link.radius = LINK_RADIUS;
        link.cost = -1;
        link.flags = 1;
        link.bidirectional = true;
        status = nav_soup_add_link(&soup, &link);
    }
    before = c.set.empty() ? bench_now() : before; // filling the soup is no work of navd's, reading is
    if (status == NAV_OK) {
        status = nav_mesh_build(&soup, nullptr, nullptr, &mesh, nullptr, &error);
    }
    seconds = bench_now() - before;
    nav_soup_deinit(&soup);
    query = nav_query_create(nullptr);
    if (status != NAV_OK || !query) {
        std::printf("%s: %s\n", c.name.c_str(), error.message);
        return false;
    }
    nav_mesh_get_info(mesh, &info);
    return true;
}

own_side::~own_side()
{
    nav_query_destroy(query);
    nav_mesh_destroy(mesh);
}

std::string bench_text(const char *format, double a, double b, double c, double d)
{
    char out[256];
    std::snprintf(out, sizeof out, format, a, b, c, d);
    return out;
}
