/* What monitoring wants to know of a running server: requests by route and answer, how long they took, and
 * the process. Counted by any thread, without a lock. */
#ifndef MEL_SERVER_METRICS_H
#define MEL_SERVER_METRICS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEL_METRICS_ROUTES = 64, MEL_METRICS_CLASSES = 6, MEL_METRICS_BOUNDS = 11 };

/* Of one route. [0] of the answers counts those without a status; [2]: 200 to 299, and so on. */
typedef struct {
    _Atomic uint64_t answers[MEL_METRICS_CLASSES];
    _Atomic uint64_t within[MEL_METRICS_BOUNDS + 1]; /* the last one: longer than the last bound */
    _Atomic uint64_t microseconds;
} mel_route_metrics;

typedef struct {
    mel_route_metrics route[MEL_METRICS_ROUTES];
    _Atomic int64_t running; /* requests with a worker */
} mel_metrics;

void mel_metrics_count(mel_route_metrics *route, unsigned status, double seconds);

/* What a route is called; NULL: there are no more. */
typedef struct {
    const char *method, *path;
} mel_route_name;
typedef mel_route_name (*mel_route_names)(size_t number);
/* Of the process and its store. */
typedef struct {
    bool draining;
    int64_t store_bytes, store_limit, disk_free; /* -1: not known */
    uint64_t lost;                               /* lines that logs could not take */
} mel_server_metrics;
/* All of it in the text format of Prometheus, for free(); NULL without memory. */
char *mel_metrics_text(const mel_metrics *metrics, mel_route_names name, const mel_server_metrics *server);

#endif
