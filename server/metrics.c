/* Counts of requests, and their text for Prometheus. */
#include "metrics.h"

#include "admission.h"
#include "clock.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Seconds. */
static const double bounds[MEL_METRICS_BOUNDS] = { 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                   0.5,   1.0,  2.5,   5.0,  10.0 };

static uint64_t read(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void add(_Atomic uint64_t *counter, uint64_t n)
{
    (void)atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

void mel_metrics_count(mel_route_metrics *route, unsigned status, double seconds)
{
    size_t bound = 0;
    while (bound < MEL_METRICS_BOUNDS && seconds > bounds[bound])
        bound++;
    add(&route->answers[status / 100 < MEL_METRICS_CLASSES ? status / 100 : 0], 1);
    add(&route->within[bound], 1);
    add(&route->microseconds, (uint64_t)(1e6 * (seconds > 0.0 ? seconds : 0.0)));
}

static uint64_t all_of(const mel_route_metrics *route)
{
    uint64_t n = 0;
    for (size_t i = 0; i <= MEL_METRICS_BOUNDS; i++)
        n += read(&route->within[i]);
    return n;
}

static void write_answers(FILE *out, const mel_route_metrics *route, mel_route_name name)
{
    for (size_t i = 0; i < MEL_METRICS_CLASSES; i++)
        if (read(&route->answers[i]) > 0)
            (void)fprintf(out,
                          "melicit_requests_total{method=\"%s\",route=\"%s\",status=\"%zuxx\"} %" PRIu64 "\n",
                          name.method, name.path, i, read(&route->answers[i]));
}

static void write_times(FILE *out, const mel_route_metrics *route, mel_route_name name)
{
    uint64_t n = 0;
    for (size_t i = 0; i <= MEL_METRICS_BOUNDS; i++) {
        char bound[16] = "+Inf";
        if (i < MEL_METRICS_BOUNDS)
            (void)snprintf(bound, sizeof bound, "%g", bounds[i]);
        n += read(&route->within[i]);
        (void)fprintf(out,
                      "melicit_request_seconds_bucket{method=\"%s\",route=\"%s\",le=\"%s\"} %" PRIu64 "\n",
                      name.method, name.path, bound, n);
    }
    (void)fprintf(out, "melicit_request_seconds_sum{method=\"%s\",route=\"%s\"} %.6f\n", name.method,
                  name.path, 1e-6 * (double)read(&route->microseconds));
    (void)fprintf(out, "melicit_request_seconds_count{method=\"%s\",route=\"%s\"} %" PRIu64 "\n", name.method,
                  name.path, n);
}

static void say(FILE *out, const char *name, const char *type, const char *help)
{
    (void)fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_routes(FILE *out, const mel_metrics *m, mel_route_names name,
                         void (*write)(FILE *, const mel_route_metrics *, mel_route_name))
{
    for (size_t i = 0; i < MEL_METRICS_ROUTES && name(i).path != NULL; i++)
        if (all_of(&m->route[i]) > 0)
            write(out, &m->route[i], name(i));
}

static size_t open_files(void)
{
    size_t n = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder != NULL && readdir(folder) != NULL)
        n++;
    if (folder != NULL)
        (void)closedir(folder);
    return n > 3 ? n - 3 : 0; /* not ".", ".." and this folder */
}

static void write_gauge(FILE *out, const char *name, const char *help, int64_t value)
{
    if (value < 0)
        return;
    say(out, name, "gauge", help);
    (void)fprintf(out, "%s %" PRId64 "\n", name, value);
}

static void write_store(FILE *out, const mel_server_metrics *server)
{
    write_gauge(out, "melicit_store_bytes", "What the rows of the store take.", server->store_bytes);
    write_gauge(out, "melicit_store_limit_bytes", "What they may take; 0: any number.", server->store_limit);
    write_gauge(out, "melicit_disk_free_bytes", "What there is for more on the store's disk.",
                server->disk_free);
    write_gauge(out, "melicit_log_lines_lost", "Lines of the logs since they could last be written.",
                (int64_t)server->lost);
}

static void write_process(FILE *out, const mel_metrics *m, bool draining)
{
    say(out, "melicit_requests_running", "gauge", "Requests that a worker is answering.");
    (void)fprintf(out, "melicit_requests_running %" PRId64 "\n", (int64_t)atomic_load(&m->running));
    say(out, "melicit_draining", "gauge", "1 while the server is about to stop and wants no new visitors.");
    (void)fprintf(out, "melicit_draining %d\n", draining);
    say(out, "process_cpu_seconds_total", "counter", "Processor time of the process.");
    (void)fprintf(out, "process_cpu_seconds_total %.3f\n", mel_clock_seconds(CLOCK_PROCESS_CPUTIME_ID));
    say(out, "process_resident_memory_bytes", "gauge", "Resident memory of the process.");
    (void)fprintf(out, "process_resident_memory_bytes %zu\n", mel_resident_bytes());
    say(out, "process_open_fds", "gauge", "Open file descriptors.");
    (void)fprintf(out, "process_open_fds %zu\n", open_files());
}

char *mel_metrics_text(const mel_metrics *m, mel_route_names name, const mel_server_metrics *server)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (out == NULL)
        return NULL;
    say(out, "melicit_requests_total", "counter", "Requests of /api that were answered.");
    write_routes(out, m, name, write_answers);
    say(out, "melicit_request_seconds", "histogram", "From when a worker takes a request to its answer.");
    write_routes(out, m, name, write_times);
    write_store(out, server);
    write_process(out, m, server->draining);
    const bool good = ferror(out) == 0;
    if (fclose(out) == 0 && good)
        return text;
    free(text);
    return NULL;
}
