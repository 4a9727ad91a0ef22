/// Off-mesh links as the searches see them.
#include "scratch.h"

#include <math.h>

double nav__ride_cost(const nav_mesh *m, const nav__ride *ride, const nav_filter *f)
{
    const nav_link *link = &m->links[ride->link];
    if (link->cost >= 0) {
        return link->cost;
    }
    double x = (double)ride->to[0] - (double)ride->from[0];
    double y = (double)ride->to[1] - (double)ride->from[1];
    double z = (double)ride->to[2] - (double)ride->from[2];
    return sqrt(x * x + y * y + z * z) * (f->area_costs ? f->area_costs[link->area] : 1);
}
