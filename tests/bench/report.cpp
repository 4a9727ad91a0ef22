#include "bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

double bench_now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_cpu_now()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_times::note(size_t entry, double us)
{
    if (entry >= best.size()) {
        best.resize(entry + 1, INFINITY);
    }
    best[entry] = std::min(best[entry], us);
}

double bench_times::mean() const
{
    double sum = 0;
    for (double us : best) {
        sum += us;
    }
    return best.empty() ? 0 : sum / (double)best.size();
}

double bench_times::quantile(double share) const
{
    if (best.empty()) {
        return 0;
    }
    std::vector<double> sorted = best;
    size_t at = std::min(sorted.size() - 1, (size_t)(share * (double)sorted.size()));
    std::nth_element(sorted.begin(), sorted.begin() + (ptrdiff_t)at, sorted.end());
    return sorted[at];
}

void bench_report::heading(const std::string &text)
{
    std::printf("\n%s\n%-10s %27s   %27s\n%-10s %8s %8s %9s   %8s %8s %9s   %s\n", text.c_str(), "", "navd, us",
                "Detour, us", "", "mean", "p50", "p99", "mean", "p50", "p99", "ratio of means");
    std::fflush(stdout);
}

void bench_report::add(const std::string &bench, const std::string &name, double ours, double peer, const char *unit,
                       const char *peer_name)
{
    char text[512];
    std::string peer_text = "null", ratio_text = "null";
    if (std::isfinite(peer) && peer > 0) {
        char number[64];
        std::snprintf(number, sizeof number, "%.6g", peer);
        peer_text = number;
        std::snprintf(number, sizeof number, "%.4g", ours / peer);
        ratio_text = number;
    }
    std::snprintf(text, sizeof text,
                  "%s\n{\"bench\":\"%s\",\"case\":\"%s\",\"ours\":%.6g,\"peer\":%s,\"peer_name\":\"%s\","
                  "\"unit\":\"%s\",\"ratio\":%s}",
                  json.empty() ? "" : ",", bench.c_str(), name.c_str(), ours, peer_text.c_str(), peer_name, unit,
                  ratio_text.c_str());
    json += text;
}

void bench_report::times(const char *bench, const bench_case &c, const bench_times &ours, const bench_times *peer,
                         const std::string &note)
{
    std::printf("%-10s %8.2f %8.2f %9.2f", bench, ours.mean(), ours.quantile(0.5), ours.quantile(0.99));
    if (peer) {
        std::printf("   %8.2f %8.2f %9.2f   %.2f", peer->mean(), peer->quantile(0.5), peer->quantile(0.99),
                    ours.mean() / peer->mean());
    } else {
        std::printf("   %8s %8s %9s   -", "-", "-", "-");
    }
    std::printf("   %s\n", note.c_str());
    std::fflush(stdout);
    const char *names[] = {" mean", " p50", " p99"};
    for (int i = 0; i < 3; i++) {
        double own = i == 0 ? ours.mean() : ours.quantile(i == 1 ? 0.5 : 0.99);
        double other = !peer ? NAN : i == 0 ? peer->mean() : peer->quantile(i == 1 ? 0.5 : 0.99);
        add(std::string(bench) + names[i], c.name, own, other, "us");
    }
}

void bench_report::value(const char *bench, const bench_case &c, double ours, double peer, const char *unit,
                         const std::string &note, const char *peer_name)
{
    std::printf("%-10s %16.4g %-10s", bench, ours, unit);
    if (std::isfinite(peer)) {
        std::printf("   %16.4g %-10s   %.2f", peer, unit, ours / peer);
    } else {
        std::printf("   %16s %-10s   -", "-", "");
    }
    std::printf("   %s\n", note.c_str());
    std::fflush(stdout);
    add(bench, c.name, ours, peer, unit, peer_name);
}

bool bench_report::save() const
{
    FILE *f = std::fopen(path.c_str(), "w");
    if (!f) {
        return false;
    }
    bool written = std::fprintf(f, "[%s\n]\n", json.c_str()) > 0;
    return std::fclose(f) == 0 && written;
}
