/* What was asked of the server: lines in files, and counts for monitoring. */
#include "journal.h"

#include "admission.h"
#include "clock.h"
#include "json_helpers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct mel_journal {
    const char *path; /* borrowed */
    pthread_mutex_t lock;
    int file;
    bool cut;      /* the last line that was begun is not whole */
    uint64_t lost; /* lines since the log could last be written ... */
    int64_t since; /* ... and when the first of them was */
};

static mel_status open_file(int *out, const char *path, mel_error *err)
{
    *out = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    return *out >= 0 ? MEL_OK : mel_fail(err, MEL_EIO, "%s: cannot be written: %s", path, strerror(errno));
}

mel_status mel_journal_open(mel_journal **out, const char *path, mel_error *err)
{
    int file = -1;
    *out = NULL;
    if (path == NULL)
        return MEL_OK;
    TRY(open_file(&file, path, err));
    *out = mel_alloc_zero(1, sizeof **out);
    if (*out == NULL) {
        (void)close(file);
        return mel_fail_memory(err, "a log");
    }
    (*out)->path = path;
    (*out)->file = file;
    (void)pthread_mutex_init(&(*out)->lock, NULL);
    return MEL_OK;
}

mel_status mel_journal_reopen(mel_journal *journal, mel_error *err)
{
    int file = -1;
    if (journal == NULL)
        return MEL_OK;
    TRY(open_file(&file, journal->path, err));
    (void)pthread_mutex_lock(&journal->lock);
    const int before = journal->file;
    journal->file = file;
    journal->cut = false;
    (void)pthread_mutex_unlock(&journal->lock);
    (void)close(before);
    return MEL_OK;
}

void mel_journal_close(mel_journal *journal)
{
    if (journal == NULL)
        return;
    (void)close(journal->file);
    (void)pthread_mutex_destroy(&journal->lock);
    free(journal);
}

/* One write is one line, also where other processes write; what a full disk cut off is a line of its own. */
static bool write_line(mel_journal *journal, const json_t *line)
{
    char *text = line != NULL ? mel_json_text(line, JSON_COMPACT) : NULL;
    if (text == NULL)
        return false;
    const size_t n = strlen(text) + 1;
    text[n - 1] = '\n'; /* in the place of the NUL */
    bool good = !journal->cut || write(journal->file, "\n", 1) == 1;
    if (good) {
        const ssize_t written = write(journal->file, text, n);
        good = written == (ssize_t)n;
        journal->cut = written > 0 && !good;
    }
    text[n - 1] = '\0';
    mel_json_free_text(text);
    return good;
}

/* Says first, where lines were lost, how many and since when. */
static bool write_lost(mel_journal *journal)
{
    if (journal->lost == 0)
        return true;
    json_t *line = json_pack("{s:I, s:I, s:I}", "time", (json_int_t)mel_clock_ms(CLOCK_REALTIME), "lost",
                             (json_int_t)journal->lost, "since", (json_int_t)journal->since);
    const bool said = write_line(journal, line);
    json_decref(line);
    if (said)
        journal->lost = 0;
    return said;
}

bool mel_journal_add(mel_journal *journal, json_t *line)
{
    if (journal == NULL) {
        json_decref(line);
        return true;
    }
    (void)pthread_mutex_lock(&journal->lock);
    const bool good = write_lost(journal) && write_line(journal, line);
    if (!good && journal->lost++ == 0)
        journal->since = mel_clock_ms(CLOCK_REALTIME);
    (void)pthread_mutex_unlock(&journal->lock);
    json_decref(line);
    return good;
}

uint64_t mel_journal_lost(mel_journal *journal)
{
    if (journal == NULL)
        return 0;
    (void)pthread_mutex_lock(&journal->lock);
    const uint64_t lost = journal->lost;
    (void)pthread_mutex_unlock(&journal->lock);
    return lost;
}

bool mel_journal_erased(mel_journal *journal, const char *study, const char *participant, const char *by)
{
    return journal == NULL ||
           mel_journal_add(journal,
                           json_pack("{s:I, s:s, s:s, s:s}", "time", (json_int_t)mel_clock_ms(CLOCK_REALTIME),
                                     "erased", participant, "study", study, "by", by));
}

/* --- counts ----------------------------------------------------------------------------------------- */

/* Seconds. */
static const double bounds[MEL_METRICS_BOUNDS] = { 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                   0.5,   1.0,  2.5,   5.0,  10.0 };

static uint64_t load_count(const _Atomic uint64_t *counter)
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
        n += load_count(&route->within[i]);
    return n;
}

static void write_answers(FILE *out, const mel_route_metrics *route, mel_route_name name)
{
    for (size_t i = 0; i < MEL_METRICS_CLASSES; i++)
        if (load_count(&route->answers[i]) > 0)
            (void)fprintf(out,
                          "melicit_requests_total{method=\"%s\",route=\"%s\",status=\"%zuxx\"} %" PRIu64 "\n",
                          name.method, name.path, i, load_count(&route->answers[i]));
}

static void write_times(FILE *out, const mel_route_metrics *route, mel_route_name name)
{
    uint64_t n = 0;
    for (size_t i = 0; i <= MEL_METRICS_BOUNDS; i++) {
        char bound[16] = "+Inf";
        if (i < MEL_METRICS_BOUNDS)
            (void)snprintf(bound, sizeof bound, "%g", bounds[i]);
        n += load_count(&route->within[i]);
        (void)fprintf(out,
                      "melicit_request_seconds_bucket{method=\"%s\",route=\"%s\",le=\"%s\"} %" PRIu64 "\n",
                      name.method, name.path, bound, n);
    }
    (void)fprintf(out, "melicit_request_seconds_sum{method=\"%s\",route=\"%s\"} %.6f\n", name.method,
                  name.path, 1e-6 * (double)load_count(&route->microseconds));
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
