// What /metrics tells of agents.
#include <stdlib.h>
#include <string.h>

#include "crowds_inside.h"

static const uint32_t bucket_us[SRV_STEP_BUCKETS] = {100,   250,   500,   1000,   2000,   3000,   4000,
                                                     5000,  7500,  10000, 15000,  20000,  25000,  30000,
                                                     40000, 50000, 75000, 100000, 250000, 1000000};

void srv__count_time(srv_step_times *times, uint64_t ns)
{
    size_t bucket = 0;
    while (bucket < SRV_STEP_BUCKETS && ns > (uint64_t)bucket_us[bucket] * 1000) {
        bucket++;
    }
    atomic_fetch_add_explicit(&times->buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&times->sum_ns, ns, memory_order_relaxed);
}

static uint64_t load(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void head(api_buffer *out, const char *name, const char *type, const char *help)
{
    api_buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_times(api_buffer *out, const char *name, const char *help, const srv_step_times *times)
{
    uint64_t total = 0;
    head(out, name, "histogram", help);
    for (size_t b = 0; b < SRV_STEP_BUCKETS; b++) {
        total += load(&times->buckets[b]);
        api_buffer_printf(out, "%s_bucket{le=\"%g\"} %llu\n", name, bucket_us[b] / 1e6, (unsigned long long)total);
    }
    total += load(&times->buckets[SRV_STEP_BUCKETS]);
    api_buffer_printf(out, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.9g\n%s_count %llu\n", name, (unsigned long long)total,
                      name, (double)load(&times->sum_ns) / 1e9, name, (unsigned long long)total);
}

static void write_counter(api_buffer *out, const char *name, const char *help, uint64_t value)
{
    head(out, name, "counter", help);
    api_buffer_printf(out, "%s %llu\n", name, (unsigned long long)value);
}

static void write_feeds(const srv_feed_metrics *feeds, api_buffer *out)
{
    write_counter(out, "navd_agent_events_total", "Events printed, each for all who read it.", load(&feeds->events));
    write_counter(out, "navd_agent_event_bytes_total", "Their bytes.", load(&feeds->event_bytes));
    write_counter(out, "navd_agent_sent_bytes_total", "Bytes of events sent, to all subscribers together.",
                  load(&feeds->sent_bytes));
    head(out, "navd_agent_dropped_subscribers_total", "counter", "Streams that the server ended, by reason.");
    for (int end = SRV_FEED_GOES_ON + 1; end < SRV_FEED_END_COUNT; end++) {
        api_buffer_printf(out, "navd_agent_dropped_subscribers_total{reason=\"%s\"} %llu\n",
                          srv_feed_end_text((srv_feed_end)end), (unsigned long long)load(&feeds->dropped[end]));
    }
}

/// Of one mesh.
typedef struct crowd_stats {
    char id[NAV_ID_MAX + 1];
    double values[7];
} crowd_stats;

/// @return how many; `stats` malloc'ed
static size_t collect(srv_crowds *crowds, crowd_stats **stats)
{
    pthread_mutex_lock(&crowds->lock);
    size_t count = 0;
    crowd_stats *list = calloc(crowds->slot_count + 1, sizeof *list);
    for (size_t i = 0; list && i < crowds->slot_count; i++) {
        const srv_crowd *crowd = crowds->slots[i]->crowd;
        if (crowd) {
            const double values[7] = {crowd->agent_count,    (double)srv_feed_readers(crowd->feed),
                                      srv__crowd_hz(crowd),  (double)crowd->steps,
                                      (double)crowd->ticks,  (double)crowd->late,
                                      (double)crowd->skipped};
            memcpy(list[count].id, crowd->id, sizeof list[count].id);
            memcpy(list[count++].values, values, sizeof values);
        }
    }
    pthread_mutex_unlock(&crowds->lock);
    *stats = list;
    return count;
}

void srv_crowds_metrics(srv_crowds *crowds, api_buffer *out)
{
    static const struct {
        const char *name, *type, *help;
    } families[7] = {
        {"navd_agents", "gauge", "Agents of the mesh."},
        {"navd_agent_subscribers", "gauge", "Clients that read events of the mesh's agents."},
        {"navd_agent_tick_hz", "gauge", "Ticks a second; 0: the agents wait for steps."},
        {"navd_agent_steps_total", "counter", "Steps made, by calls and by the clock."},
        {"navd_agent_ticks_total", "counter", "Those by the clock."},
        {"navd_agent_late_ticks_total", "counter", "Ticks begun more than half a period late."},
        {"navd_agent_skipped_ticks_total", "counter", "Ticks not made because the one before was still at work."},
    };
    crowd_stats *stats;
    size_t count = collect(crowds, &stats);
    for (size_t f = 0; stats && f < 7; f++) {
        head(out, families[f].name, families[f].type, families[f].help);
        for (size_t i = 0; i < count; i++) {
            api_buffer_printf(out, "%s{mesh=\"%s\"} %.17g\n", families[f].name, stats[i].id, stats[i].values[f]);
        }
    }
    free(stats);
    write_times(out, "navd_agent_step_seconds", "Steps of agents.", &crowds->step_times);
    write_times(out, "navd_agent_tick_seconds", "Ticks: the step and printing the event.", &crowds->tick_times);
    write_feeds(&crowds->feed_metrics, out);
}
