/// nav_mesh_build: the steps in their order. Each takes the build's state a little further; what one step
/// has checked the next ones trust.
#include "build.h"

#include "alloc.h"

/// Corners looked at while rings are cut into pieces: a second or two. Sound meshes need some thousandths.
#define CUT_BUDGET 50000000u

nav_build_options nav_build_options_default(void)
{
    return (nav_build_options){.weld = -1, .no_merge = false};
}

static nav_status run(nav__build *b, nav_mesh **out)
{
    nav_status (*const steps[])(nav__build *) = {
        nav__build_input, nav__build_weld, nav__build_rings, nav__build_faces, nav__build_join,  nav__build_seams,
        nav__build_merge, nav__build_grid, nav__build_cover, nav__build_links, nav__build_graph, nav__build_report,
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (b->options.progress) {
            b->options.progress(b->options.progress_ctx, (unsigned)i, (unsigned)(sizeof steps / sizeof *steps));
        }
        nav_status status = steps[i](b);
        if (status != NAV_OK) {
            return status;
        }
    }
    nav_status status = nav__build_pack(b, out);
    if (status == NAV_OK) {
        nav__build_rides(b, *out);
    }
    return status;
}

nav_status nav_mesh_build(const nav_soup *soup, const nav_build_options *options, const nav_alloc *alloc,
                          nav_mesh **out, nav_report *report, nav_error *error)
{
    nav__build b = {.soup = soup,
                    .options = options ? *options : nav_build_options_default(),
                    .alloc = nav__alloc_or_libc(alloc),
                    .report = report,
                    .error = error,
                    .cut_budget = CUT_BUDGET};
    if (!report) {
        b.report = nav__build_take(&b, 1, sizeof *b.report);
        if (!b.report) {
            return nav__build_no_memory(&b);
        }
    }
    memset(b.report, 0, sizeof *b.report);
    for (uint32_t i = 0; i < soup->warning_count; i++) {
        nav__build_warn(&b, "%s", soup->warnings[i]);
    }
    nav_status status = run(&b, out);
    nav__build_release(&b);
    return status;
}
