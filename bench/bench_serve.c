/* Simulated participants who run whole studies over HTTP, as fast as the server lets them: bench/serve.py
 * starts the server and this. usage: bench_serve PORT STUDY PARTICIPANTS SECONDS [THINK[:VARY] [KEYS]];
 * THINK: seconds that a person takes for an answer, 0 unless given; VARY: by what share of them it is more or
 * less, 0 (all people in step) unless given. KEYS: a file for the keys of all acknowledged answers; servers
 * may then die, and people try again for a minute. Prints one JSON object. */
#define _GNU_SOURCE /* strcasestr: a proxy writes headers its own way */
#include <jansson.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ANSWER = 1 << 20, MOST_REQUEST = 8192, MOST_TIMES = 1 << 20, MOST_TEXT = 128 };

typedef struct {
    uint16_t port;
    const char *study;
    double end, think, vary;
    unsigned number;
    uint64_t chance;
    /* what came of it */
    float *time; /* seconds per answer */
    size_t answers, studies, failures, put_off, retries;
    FILE *keys; /* shared; or NULL */
} person;

typedef struct {
    int socket;
    char *bytes; /* MOST_ANSWER */
    char cookie[MOST_TEXT], csrf[MOST_TEXT];
    unsigned number; /* everybody has an address of their own */
    double end;      /* nobody waits beyond it */
    size_t put_off;  /* answers "busy, come back" */
    uint16_t port;
    bool patient;   /* tries again when the server is gone */
    size_t retries; /* how often */
} line;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_for(double seconds)
{
    const struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };
    if (seconds > 0.0)
        (void)nanosleep(&t, NULL);
}

static bool dial(line *l)
{
    const struct sockaddr_in where = { .sin_family = AF_INET,
                                       .sin_port = htons(l->port),
                                       .sin_addr = { htonl(INADDR_LOOPBACK) } };
    const int yes = 1;
    l->socket = socket(AF_INET, SOCK_STREAM, 0);
    (void)setsockopt(l->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return l->socket >= 0 && connect(l->socket, (const struct sockaddr *)&where, sizeof where) == 0;
}

/* The body of the answer, in l->bytes; its status, 0 when the connection broke. */
static int receive(line *l, char **body)
{
    size_t n = 0, length = 0;
    char *end = NULL;
    while (end == NULL || n < (size_t)(end - l->bytes) + length) {
        const ssize_t got = n < MOST_ANSWER - 1 ? recv(l->socket, l->bytes + n, MOST_ANSWER - 1 - n, 0) : 0;
        if (got <= 0)
            return 0;
        n += (size_t)got;
        l->bytes[n] = '\0';
        if (end == NULL && (end = strstr(l->bytes, "\r\n\r\n")) != NULL) {
            end += 4;
            const char *at = strcasestr(l->bytes, "Content-Length: ");
            length = at != NULL ? strtoul(at + 16, NULL, 10) : 0;
        }
    }
    *body = end;
    const char *cookie = strcasestr(l->bytes, "Set-Cookie: melicit=");
    if (cookie != NULL && cookie < end)
        (void)snprintf(l->cookie, sizeof l->cookie, "%.*s", (int)strcspn(cookie + 12, ";"), cookie + 12);
    return (int)strtol(l->bytes + 9, NULL, 10);
}

/* 0 when the connection broke. */
static int send_once(line *l, const char *request, size_t n, char **body)
{
    *body = l->bytes;
    l->bytes[0] = '\0';
    return send(l->socket, request, n, MSG_NOSIGNAL) == (ssize_t)n ? receive(l, body) : 0;
}

/* The same; where no server answers, or only the proxy does, over new connections for a minute. */
static int send_patiently(line *l, const char *request, size_t n, char **body)
{
    const double end = now() + 60.0;
    int status = send_once(l, request, n, body);
    while (l->patient && (status == 0 || status >= 500) && now() < end) {
        l->retries++;
        wait_for(0.1);
        (void)close(l->socket);
        status = dial(l) ? send_once(l, request, n, body) : 0;
    }
    return status;
}

/* Sends the request; again, as the page in a browser does, for as long as the server says that it is busy and
 * when to come back. The status. */
static int exchange(line *l, const char *request, size_t n, char **body)
{
    for (;;) {
        const int status = send_patiently(l, request, n, body);
        const char *after = strcasestr(l->bytes, "Retry-After: ");
        if (status != 503 || after == NULL || after > *body || now() > l->end)
            return status;
        l->put_off++;
        wait_for(strtod(after + 13, NULL));
    }
}

/* The page that the server answers with; NULL when it refuses. */
static json_t *post(line *l, const char *path, const char *text)
{
    char request[MOST_REQUEST], *body = NULL;
    const int n =
        snprintf(request, sizeof request,
                 "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nCookie: %s\r\n"
                 "X-Forwarded-For: 10.0.%u.%u\r\nX-Melicit-CSRF: %s\r\nContent-Length: %zu\r\n\r\n%s",
                 path, l->cookie, l->number / 250, l->number % 250, l->csrf, strlen(text), text);
    if (exchange(l, request, (size_t)n, &body) != 200)
        return NULL;
    json_t *told = json_loads(body, 0, NULL), *page = json_incref(json_object_get(told, "page"));
    json_decref(told);
    const char *csrf = json_string_value(json_object_get(page, "csrf"));
    if (csrf != NULL)
        (void)snprintf(l->csrf, sizeof l->csrf, "%s", csrf);
    return page;
}

/* One miss is worth so many false alarms. */
static double cost(const json_t *counts, double ratio)
{
    return ratio * json_number_value(json_array_get(json_array_get(counts, 1), 0)) +
           json_number_value(json_array_get(json_array_get(counts, 0), 1));
}

static void form_value(char *out, size_t room, const json_t *fields)
{
    json_t *value = json_object();
    for (size_t i = 0; i < json_array_size(fields); i++) {
        const json_t *field = json_array_get(fields, i);
        json_t *choice = json_array_get(json_object_get(field, "choices"), 0);
        const bool number = strcmp(json_string_value(json_object_get(field, "type")), "number") == 0;
        json_object_set_new(value, json_string_value(json_object_get(field, "name")),
                            number           ? json_integer(40)
                            : choice != NULL ? json_incref(choice)
                                             : json_string("text"));
    }
    char *text = json_dumps(value, 0);
    (void)snprintf(out, room, "%s", text);
    free(text);
    json_decref(value);
}

static void value_for(char *out, size_t room, const json_t *page, const person *p)
{
    const char *kind = json_string_value(json_object_get(page, "kind"));
    const json_t *question = json_object_get(page, "question");
    const double ratio = 2.0 + p->number % 10;
    if (strcmp(kind, "consent") == 0)
        (void)snprintf(out, room, "{\"agreed\": true, \"version\": \"%s\"}",
                       json_string_value(json_object_get(page, "version")));
    else if (strcmp(kind, "form") == 0)
        form_value(out, room, json_object_get(page, "fields"));
    else if (strcmp(kind, "training") == 0)
        (void)snprintf(out, room, "{\"answer\": %s}",
                       json_is_array(json_object_get(page, "choices")) ? "\"A\"" : "1");
    else if (strcmp(kind, "guess") == 0)
        (void)snprintf(out, room, "{\"ratio\": %g}", ratio);
    else if (strcmp(kind, "question") == 0)
        (void)snprintf(
            out, room, "{\"answer\": \"%s\"}",
            cost(json_object_get(question, "a"), ratio) < cost(json_object_get(question, "b"), ratio) ? "A"
                                                                                                      : "B");
    else
        (void)snprintf(out, room, "{}");
}

/* Seconds until the next answer, evenly spread around p->think. */
static double pause_of(person *p)
{
    p->chance = p->chance * 6364136223846793005U + 1442695040888963407U;
    return p->think * (1.0 + p->vary * (2.0 * (double)(p->chance >> 11) / (double)(UINT64_C(1) << 53) - 1.0));
}

static json_t *answer(line *l, person *p, json_t *page)
{
    char value[4096], body[6000], key[MOST_TEXT];
    value_for(value, sizeof value, page, p);
    (void)snprintf(key, sizeof key, "%u-%zu-%zu", p->number + 1000000, p->studies, p->answers);
    (void)snprintf(body, sizeof body, "{\"seq\": %lld, \"key\": \"%s\", \"value\": %s, \"seconds\": 2.5}",
                   (long long)json_integer_value(json_object_get(page, "seq")), key, value);
    json_decref(page);
    wait_for(pause_of(p));
    const double begun = now();
    page = post(l, "/api/event", body);
    if (page == NULL)
        return NULL;
    if (p->answers < MOST_TIMES / 16)
        p->time[p->answers] = (float)(now() - begun);
    p->answers++;
    if (p->keys != NULL)
        (void)fprintf(p->keys, "%s\n", key);
    return page;
}

static void *live(void *user)
{
    person *p = user;
    line l = { .bytes = malloc(MOST_ANSWER),
               .number = p->number,
               .end = p->end,
               .port = p->port,
               .patient = p->keys != NULL };
    char join[MOST_TEXT];
    (void)snprintf(join, sizeof join, "{\"study\": \"%s\"}", p->study);
    bool good = l.bytes != NULL && dial(&l);
    wait_for(p->think * (p->number % 100) / 100.0);
    while (good && now() < p->end) {
        l.cookie[0] = '\0';
        (void)snprintf(l.csrf, sizeof l.csrf, "first");
        json_t *page = post(&l, "/api/join", join);
        while (page != NULL && now() < p->end &&
               strcmp(json_string_value(json_object_get(page, "kind")), "done") != 0)
            page = answer(&l, p, page);
        good = page != NULL;
        p->studies += good && now() < p->end;
        json_decref(page);
    }
    p->failures = !good;
    p->put_off = l.put_off;
    p->retries = l.retries;
    (void)close(l.socket);
    free(l.bytes);
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void report(person *people, size_t n, double seconds)
{
    size_t answers = 0, studies = 0, failures = 0, put_off = 0, retries = 0, known = 0;
    float *all = malloc(sizeof *all * (size_t)MOST_TIMES);
    for (size_t i = 0; i < n; i++) {
        answers += people[i].answers;
        studies += people[i].studies;
        failures += people[i].failures;
        put_off += people[i].put_off;
        retries += people[i].retries;
        for (size_t j = 0; j < people[i].answers && j < MOST_TIMES / 16 && known < MOST_TIMES && all != NULL;
             j++)
            all[known++] = people[i].time[j];
    }
    if (all != NULL && known > 0) {
        qsort(all, known, sizeof *all, by_size);
        printf("{\"participants\": %zu, \"answers\": %zu, \"per_second\": %.1f, \"p50_ms\": %.1f, "
               "\"p99_ms\": %.1f, "
               "\"worst_ms\": %.1f, \"studies\": %zu, \"failures\": %zu, \"put_off\": %zu, "
               "\"retries\": %zu}\n",
               n, answers, (double)answers / seconds, 1000.0 * all[known / 2], 1000.0 * all[known * 99 / 100],
               1000.0 * all[known - 1], studies, failures, put_off, retries);
    } else {
        printf("{\"participants\": %zu, \"answers\": 0, \"failures\": %zu}\n", n, failures);
    }
    free(all);
}

static void forget(person *people, pthread_t *thread, size_t n)
{
    for (size_t i = 0; people != NULL && i < n; i++)
        free(people[i].time);
    free(people);
    free(thread);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fputs("usage: bench_serve PORT STUDY PARTICIPANTS SECONDS [THINK[:VARY] [KEYS]]\n", stderr);
        return 2;
    }
    const size_t n = strtoul(argv[3], NULL, 10);
    const double seconds = strtod(argv[4], NULL), start = now();
    person *people = calloc(n, sizeof *people);
    pthread_t *thread = calloc(n, sizeof *thread);
    const char *vary = argc > 5 ? strchr(argv[5], ':') : NULL;
    FILE *keys = argc > 6 ? fopen(argv[6], "w") : NULL;
    size_t begun = 0;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, (size_t)256 * 1024);
    for (; people != NULL && thread != NULL && begun < n; begun++) {
        people[begun] = (person){ .port = (uint16_t)strtoul(argv[1], NULL, 10),
                                  .study = argv[2],
                                  .end = start + seconds,
                                  .think = argc > 5 ? strtod(argv[5], NULL) : 0.0,
                                  .vary = vary != NULL ? strtod(vary + 1, NULL) : 0.0,
                                  .number = (unsigned)begun,
                                  .chance = begun + 1,
                                  .keys = keys,
                                  .time = calloc(MOST_TIMES / 16, sizeof(float)) };
        if (people[begun].time == NULL || pthread_create(&thread[begun], &small, live, &people[begun]) != 0)
            break;
    }
    pthread_attr_destroy(&small);
    for (size_t i = 0; thread != NULL && i < begun; i++)
        pthread_join(thread[i], NULL);
    if (people != NULL && begun == n)
        report(people, n, now() - start);
    if (keys != NULL)
        (void)fclose(keys);
    forget(people, thread, n);
    return begun == n ? 0 : 1;
}
