// Prometheus text. Names follow its conventions: base units, _total for counters.
#include "metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api_version.h"
#include "server.h"

static const uint64_t bucket_us[SRV_METRIC_BUCKETS] = {
    50, 100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000, 2500000, 10000000};

static srv_route_metrics *find_route(srv_thread_metrics *metrics, const char *route)
{
    size_t at = ((uintptr_t)route >> 3) % SRV_METRIC_ROUTES;
    for (size_t i = 0; i < SRV_METRIC_ROUTES; i++, at = (at + 1) % SRV_METRIC_ROUTES) {
        srv_route_metrics *r = &metrics->routes[at];
        const char *text = atomic_load_explicit(&r->route, memory_order_relaxed);
        if (text == route) {
            return r;
        }
        if (!text) {
            atomic_store_explicit(&r->route, route, memory_order_release);
            return r;
        }
    }
    return NULL;
}

static void count_status(srv_route_metrics *r, int status)
{
    for (size_t i = 0; i < SRV_METRIC_STATUSES; i++) {
        int known = atomic_load_explicit(&r->statuses[i].status, memory_order_relaxed);
        if (known == 0) {
            atomic_store_explicit(&r->statuses[i].status, status, memory_order_release);
            known = status;
        }
        if (known == status) {
            srv_metric_add(&r->statuses[i].count, 1);
            return;
        }
    }
}

void srv_metrics_count(srv_thread_metrics *metrics, const char *route, int status, uint64_t ns)
{
    static const char other[] = "other";
    srv_route_metrics *r = find_route(metrics, route ? route : other);
    if (!r) {
        return;
    }
    size_t bucket = 0;
    while (bucket < SRV_METRIC_BUCKETS && ns > bucket_us[bucket] * 1000) {
        bucket++;
    }
    srv_metric_add(&r->buckets[bucket], 1);
    srv_metric_add(&r->sum_ns, ns);
    count_status(r, status);
}

/// Sums of one route over all threads.
typedef struct route_sum {
    const char *route;
    uint64_t buckets[SRV_METRIC_BUCKETS + 1];
    uint64_t sum_ns;
    struct {
        int status;
        uint64_t count;
    } statuses[SRV_METRIC_STATUSES];
} route_sum;

static uint64_t load(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void add_route(route_sum *sum, const srv_route_metrics *r)
{
    for (size_t b = 0; b <= SRV_METRIC_BUCKETS; b++) {
        sum->buckets[b] += load(&r->buckets[b]);
    }
    sum->sum_ns += load(&r->sum_ns);
    for (size_t i = 0; i < SRV_METRIC_STATUSES; i++) {
        int status = atomic_load_explicit(&r->statuses[i].status, memory_order_acquire);
        for (size_t k = 0; status != 0 && k < SRV_METRIC_STATUSES; k++) {
            if (sum->statuses[k].status == 0 || sum->statuses[k].status == status) {
                sum->statuses[k].status = status;
                sum->statuses[k].count += load(&r->statuses[i].count);
                break;
            }
        }
    }
}

/// @return how many routes; `sums` has room for SRV_METRIC_ROUTES
static size_t sum_routes(const srv_server *server, route_sum *sums)
{
    size_t count = 0;
    for (uint64_t t = 0; t < server->config.threads; t++) {
        for (size_t i = 0; i < SRV_METRIC_ROUTES; i++) {
            const srv_route_metrics *r = &server->metrics[t].routes[i];
            const char *route = atomic_load_explicit(&r->route, memory_order_acquire);
            size_t k = 0;
            while (route && k < count && strcmp(sums[k].route, route) != 0) {
                k++;
            }
            if (!route || k == SRV_METRIC_ROUTES) {
                continue;
            }
            if (k == count) {
                sums[count++].route = route;
            }
            add_route(&sums[k], r);
        }
    }
    return count;
}

static void head(api_buffer *out, const char *name, const char *type, const char *help)
{
    api_buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_requests(const srv_server *server, api_buffer *out)
{
    route_sum *sums = calloc(SRV_METRIC_ROUTES, sizeof *sums);
    if (!sums) {
        return;
    }
    size_t count = sum_routes(server, sums);
    head(out, "navd_requests_total", "counter", "Requests answered, by route and status.");
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < SRV_METRIC_STATUSES && sums[i].statuses[k].status; k++) {
            api_buffer_printf(out, "navd_requests_total{route=\"%s\",code=\"%d\"} %llu\n", sums[i].route,
                              sums[i].statuses[k].status, (unsigned long long)sums[i].statuses[k].count);
        }
    }
    head(out, "navd_request_duration_seconds", "histogram", "From the request line to the answer, by route.");
    for (size_t i = 0; i < count; i++) {
        uint64_t total = 0;
        for (size_t b = 0; b < SRV_METRIC_BUCKETS; b++) {
            total += sums[i].buckets[b];
            api_buffer_printf(out, "navd_request_duration_seconds_bucket{route=\"%s\",le=\"%g\"} %llu\n", sums[i].route,
                              (double)bucket_us[b] / 1e6, (unsigned long long)total);
        }
        total += sums[i].buckets[SRV_METRIC_BUCKETS];
        api_buffer_printf(out,
                          "navd_request_duration_seconds_bucket{route=\"%s\",le=\"+Inf\"} %llu\n"
                          "navd_request_duration_seconds_sum{route=\"%s\"} %.9g\n"
                          "navd_request_duration_seconds_count{route=\"%s\"} %llu\n",
                          sums[i].route, (unsigned long long)total, sums[i].route, (double)sums[i].sum_ns / 1e9,
                          sums[i].route, (unsigned long long)total);
    }
    free(sums);
}

static void gauge(api_buffer *out, const char *name, const char *help, double value)
{
    head(out, name, "gauge", help);
    api_buffer_printf(out, "%s %.17g\n", name, value);
}

static void counter(api_buffer *out, const char *name, const char *help, double value)
{
    head(out, name, "counter", help);
    api_buffer_printf(out, "%s %.17g\n", name, value);
}

static void write_load(srv_server *server, api_buffer *out)
{
    size_t running = 0, jobs_running = 0;
    size_t waiting = srv_pool_depth(server->workers, &running);
    size_t jobs_waiting = srv_pool_depth(server->jobs, &jobs_running);
    head(out, "navd_queue_depth", "gauge", "Works that wait for a thread, by queue.");
    api_buffer_printf(out, "navd_queue_depth{queue=\"workers\"} %zu\nnavd_queue_depth{queue=\"jobs\"} %zu\n", waiting,
                      jobs_waiting);
    head(out, "navd_queue_running", "gauge", "Works under way, by queue.");
    api_buffer_printf(out, "navd_queue_running{queue=\"workers\"} %zu\nnavd_queue_running{queue=\"jobs\"} %zu\n",
                      running, jobs_running);
    uint64_t shed = 0, deadlines = 0, cut = 0, refused = 0;
    for (uint64_t t = 0; t < server->config.threads; t++) {
        shed += load(&server->metrics[t].shed);
        deadlines += load(&server->metrics[t].deadlines);
        cut += load(&server->metrics[t].cut);
        refused += load(&server->metrics[t].refused_connections);
    }
    counter(out, "navd_shed_total", "Requests refused because a queue was full.", (double)shed);
    counter(out, "navd_deadline_total", "Requests whose time ran out.", (double)deadlines);
    counter(out, "navd_cut_total", "Connections cut because a request or its answer took too long on the wire.",
            (double)cut);
    counter(out, "navd_refused_connections_total", "Connections refused at the limit.", (double)refused);
    gauge(out, "navd_connections", "Open connections.", (double)atomic_load(&server->connections));
    gauge(out, "navd_draining", "1 while the process drains.", atomic_load(&server->draining));
}

typedef struct mesh_metric {
    const char *name, *type, *help;
} mesh_metric;

static void write_meshes(srv_server *server, api_buffer *out)
{
    static const mesh_metric metrics[] = {
        {"navd_mesh_revision", "gauge", "Revision that serves."},
        {"navd_mesh_polygons", "gauge", "Polygons of the file."},
        {"navd_mesh_memory_bytes", "gauge", "Memory of the mesh."},
        {"navd_mesh_failed", "gauge", "1 when the newest attempt to load failed."},
        {"navd_mesh_reloads_total", "counter", "Revisions published."},
        {"navd_mesh_reload_failures_total", "counter", "Attempts to load that failed."},
    };
    size_t cap = srv_registry_stats(server->registry, 0, NULL, 0);
    srv_mesh_stats *stats = calloc(cap + 1, sizeof *stats);
    if (!stats) {
        return;
    }
    size_t count = srv_registry_stats(server->registry, 0, stats, cap);
    count = count < cap ? count : cap;
    for (size_t m = 0; m < sizeof metrics / sizeof metrics[0]; m++) {
        head(out, metrics[m].name, metrics[m].type, metrics[m].help);
        for (size_t i = 0; i < count; i++) {
            const srv_mesh_stats *s = &stats[i];
            const uint64_t values[] = {s->revision, s->polygons, s->memory_bytes, s->failed, s->reloads, s->failures};
            if (s->revision != 0 || m >= 3) {
                api_buffer_printf(out, "%s{mesh=\"%s\"} %llu\n", metrics[m].name, s->id, (unsigned long long)values[m]);
            }
        }
    }
    free(stats);
}

static void write_kinds(api_buffer *out, const char *name, const char *type, const char *help, const uint64_t *values)
{
    head(out, name, type, help);
    for (int kind = 0; kind < API_EDIT_KINDS; kind++) {
        api_buffer_printf(out, "%s{type=\"%s\"} %llu\n", name, api_edit_kind_name((api_edit_kind)kind),
                          (unsigned long long)values[kind]);
    }
}

static void write_edits(const srv_server *server, api_buffer *out)
{
    static const char seconds[] = "navd_edit_duration_seconds";
    srv_edits_stats stats;
    srv_edits_get_stats(server->edits, &stats);
    write_kinds(out, "navd_edits_made_total", "counter", "Obstacles, regions and links set or changed.", stats.made);
    write_kinds(out, "navd_edits_removed_total", "counter", "Obstacles, regions and links removed.", stats.removed);
    write_kinds(out, "navd_edits_standing", "gauge", "Obstacles, regions and links that stand by edits.",
                stats.standing);
    counter(out, "navd_edits_expired_total", "Edits removed because their time was over.", (double)stats.expired);
    counter(out, "navd_edit_commits_total", "Revisions published by edits.", (double)stats.commits);
    counter(out, "navd_edit_commit_failures_total", "Groups of edits that could not be kept.", (double)stats.failed);
    gauge(out, "navd_state_log_bytes", "Bytes of the logs in the state folder.", (double)stats.log_bytes);
    head(out, seconds, "histogram", "Time from an edit being taken up to its being kept and served.");
    uint64_t sum = 0;
    for (int i = 0; i < SRV_EDIT_BUCKETS; i++) {
        sum += stats.buckets[i];
        api_buffer_printf(out, "%s_bucket{le=\"%g\"} %llu\n", seconds, (double)srv_edit_bucket_us[i] / 1e6,
                          (unsigned long long)sum);
    }
    sum += stats.buckets[SRV_EDIT_BUCKETS];
    api_buffer_printf(out, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.9g\n%s_count %llu\n", seconds,
                      (unsigned long long)sum, seconds, (double)stats.sum_ns / 1e9, seconds, (unsigned long long)sum);
}

static void write_radius(const srv_server *server, api_buffer *out)
{
    srv_radius_stats stats;
    srv_radius_get_stats(server->radius, &stats);
    gauge(out, "navd_radius_cache_meshes", "Meshes kept for larger agents.", (double)stats.meshes);
    gauge(out, "navd_radius_cache_bytes", "Their memory.", (double)stats.bytes);
    counter(out, "navd_radius_meshes_made_total", "Meshes made for larger agents.", (double)stats.made);
    counter(out, "navd_radius_meshes_failed_total", "Such meshes that could not be made.", (double)stats.failed);
}

static void write_process(const srv_server *server, api_buffer *out)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        counter(out, "navd_process_cpu_seconds_total", "Processor time used.",
                (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
                    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    }
    FILE *in = fopen("/proc/self/statm", "re");
    unsigned long pages = 0, resident = 0;
    if (in) {
        if (fscanf(in, "%lu %lu", &pages, &resident) == 2) {
            double page = (double)sysconf(_SC_PAGESIZE);
            gauge(out, "navd_process_resident_memory_bytes", "Resident memory.", (double)resident * page);
            gauge(out, "navd_process_virtual_memory_bytes", "Address space.", (double)pages * page);
        }
        fclose(in);
    }
    gauge(out, "navd_process_start_time_seconds", "When the process started, since 1970.",
          (double)server->started_ms / 1000);
    head(out, "navd_build_info", "gauge", "What is running.");
    api_buffer_printf(out, "navd_build_info{version=\"%s\"} 1\n", API_VERSION);
}

void srv_metrics_write(srv_server *server, api_buffer *out)
{
    write_requests(server, out);
    write_load(server, out);
    write_meshes(server, out);
    srv_crowds_metrics(server->crowds, out);
    write_edits(server, out);
    write_radius(server, out);
    write_process(server, out);
}
