/* Durable appends per second and how long each took, by many threads that each append to a participant of
 * their own. Prints: store, threads, appends, appends per second, p50, p99 and longest in milliseconds.
 * Usage: bench_store URL THREADS SECONDS. The store gets a new study; run it on one that nobody needs. */
#include "measure.h"

#include "melicit/base.h"
#include "server/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

typedef struct {
    mel_store *store;
    double till;
    double *taken; /* seconds per append */
    size_t n, capacity;
    char id[MEL_ID_TEXT];
} client;

static void *append_on(void *context)
{
    client *c = context;
    char body[160];
    mel_error err;
    while (seconds() < c->till && c->n < c->capacity) {
        const uint32_t seq = (uint32_t)c->n + 1;
        mel_append outcome;
        mel_event_row event = { .seq = seq, .body = body, .time = 1700000000000 + (int64_t)seq };
        (void)snprintf(event.key, sizeof event.key, "0123abcd-4567-89ef-0123-%012u", (unsigned)seq);
        (void)snprintf(
            body, sizeof body,
            "{\"page\": \"question\", \"value\": {\"answer\": \"A\", \"shown\": {\"picture\": \"flow\"}},"
            " \"seconds\": 3.25, \"number\": %u}",
            (unsigned)seq);
        const double start = seconds();
        if (mel_store_append(&outcome, NULL, c->store, c->id, &event, NULL, &err) != MEL_OK)
            die(err.text);
        if (outcome != MEL_APPENDED)
            die("an append was refused");
        c->taken[c->n++] = seconds() - start;
    }
    return NULL;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void add_rows(mel_store *store, const char *study, client *clients, size_t n)
{
    mel_error err;
    char file[] = "{}";
    mel_study_row row = { .file = file, .state = "open" };
    (void)snprintf(row.id, sizeof row.id, "%s", study);
    if (mel_store_add_study(store, &row, &err) != MEL_OK)
        die(err.text);
    for (size_t i = 0; i < n; i++) {
        mel_participant_row p = { .state = "active", .seed = i };
        (void)snprintf(clients[i].id, sizeof clients[i].id, "%.10s-%u", study, (unsigned)i);
        (void)snprintf(p.id, sizeof p.id, "%s", clients[i].id);
        (void)snprintf(p.study, sizeof p.study, "%s", study);
        if (mel_store_add_participant(store, &p, &err) != MEL_OK)
            die(err.text);
    }
}

static void print_times(const char *name, const client *clients, size_t n, double elapsed)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += clients[i].n;
    double *all = malloc((total > 0 ? total : 1) * sizeof *all);
    if (all == NULL || total == 0)
        die("nothing was appended");
    for (size_t i = 0, at = 0; i < n; at += clients[i++].n)
        memcpy(all + at, clients[i].taken, clients[i].n * sizeof *all);
    qsort(all, total, sizeof *all, by_value);
    printf("%s %zu threads: %zu appends, %.0f/s, p50 %.1f ms, p99 %.1f ms, longest %.1f ms\n", name, n, total,
           (double)total / elapsed, 1e3 * all[total / 2], 1e3 * all[total - 1 - total / 100],
           1e3 * all[total - 1]);
    free(all);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s URL THREADS SECONDS\n", argv[0]);
        return 2;
    }
    const size_t n = (size_t)strtoul(argv[2], NULL, 10);
    const double duration = strtod(argv[3], NULL);
    mel_store *store;
    mel_error err;
    if (mel_store_open(&store, argv[1], &err) != MEL_OK)
        die(err.text);
    client *clients = calloc(n, sizeof *clients);
    pthread_t *threads = calloc(n, sizeof *threads);
    if (clients == NULL || threads == NULL || n == 0)
        die("memory");
    char study[MEL_ID_TEXT];
    (void)snprintf(study, sizeof study, "b%d", (int)getpid());
    add_rows(store, study, clients, n);
    const double start = seconds();
    for (size_t i = 0; i < n; i++) {
        clients[i].store = store;
        clients[i].till = start + duration;
        clients[i].capacity = 100000;
        clients[i].taken = malloc(clients[i].capacity * sizeof *clients[i].taken);
        if (clients[i].taken == NULL || pthread_create(&threads[i], NULL, append_on, &clients[i]) != 0)
            die("a thread cannot start");
    }
    for (size_t i = 0; i < n; i++)
        (void)pthread_join(threads[i], NULL);
    print_times(strncmp(argv[1], "postgres", 8) == 0 ? "PostgreSQL" : "SQLite", clients, n,
                seconds() - start);
    mel_store_close(store);
    for (size_t i = 0; i < n; i++)
        free(clients[i].taken);
    free(clients);
    free(threads);
    return 0;
}
