/* Files that say what was asked of the server: one line of JSON per request, without tokens, queries, answers
 * or bodies, and per participant who was erased. */
#ifndef MEL_SERVER_JOURNAL_H
#define MEL_SERVER_JOURNAL_H

#include "melicit/base.h"
#include <stdatomic.h>
#include <stddef.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct mel_journal mel_journal;
/* Appends to the file, which is made where it is missing; path, which must outlive it, NULL: *out is NULL,
 * and nothing is kept. */
mel_status mel_journal_open(mel_journal **out, const char *path, mel_error *err);
/* Goes on in the file that has the name now: the one before was moved away. On failure all is as it was. */
mel_status mel_journal_reopen(mel_journal *journal, mel_error *err);
void mel_journal_close(mel_journal *journal);
/* Adds a line (taken over), whole even when several processes write; NULL journals take everything. False: it
 * could not be written. What it is about goes on; the next line that can be written says how many were lost,
 * and since when. */
bool mel_journal_add(mel_journal *journal, json_t *line);
/* How many lines could not be written since the last one that could. */
uint64_t mel_journal_lost(mel_journal *journal);
/* Says that a participant is about to be erased, and who wants it, so that a backup can be cleaned. */
bool mel_journal_erased(mel_journal *journal, const char *study, const char *participant, const char *by);

enum { MEL_METRICS_ROUTES = 64, MEL_METRICS_CLASSES = 6, MEL_METRICS_BOUNDS = 11 };

/* Counts for one route. answers[0]: without a status; answers[2]: 200 to 299, and so on. */
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
/* State of the process and its store. */
typedef struct {
    bool draining;
    int64_t store_bytes, store_limit, disk_free; /* -1: not known */
    uint64_t lost;                               /* lines that logs could not take */
} mel_server_metrics;
/* All of it in the text format of Prometheus, for free(); NULL without memory. */
char *mel_metrics_text(const mel_metrics *metrics, mel_route_names name, const mel_server_metrics *server);

#endif
