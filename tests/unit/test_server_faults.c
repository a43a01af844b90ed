/* A store that fails at any one of its calls while the server answers: 503 with a sentence and nothing half
 * done; the same request works once the store does. Over real HTTP. */
#include "support/server/problem.h"
#include "support/server/store.h"

#include "server/manage.h"
#include "server/server.h"
#include "server/store_sql.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ANSWER = 1 << 17 };

/* --- the store ---------------------------------------------------------------------------------- */

/* Hands everything on to a real one until so many calls were made. */
typedef struct {
    mel_store base;
    mel_store *real;
    atomic_long left;
    atomic_bool armed, failed;
    pthread_t owner;    /* who starts the server */
    pthread_t keeper;   /* the first other thread that writes: the server's housekeeping, which never fails */
    atomic_bool tidied; /* it has written */
} shaky;

static bool fails(shaky *s)
{
    if (!s->armed || (s->tidied && pthread_equal(s->keeper, pthread_self()) != 0) ||
        atomic_fetch_sub(&s->left, 1) > 0)
        return false;
    s->failed = true;
    return true;
}

static mel_status shaky_read(mel_store *store, mel_sql_work work, void *context, mel_error *err)
{
    shaky *s = (shaky *)store;
    return fails(s) ? mel_fail(err, MEL_EIO, "the disk does not answer")
                    : s->real->read(s->real, work, context, err);
}

static mel_status shaky_write(mel_store *store, mel_sql_work work, void *context, bool erases, mel_error *err)
{
    shaky *s = (shaky *)store;
    const mel_status status = fails(s) ? mel_fail(err, MEL_EIO, "the disk does not answer")
                                       : s->real->write(s->real, work, context, erases, err);
    if (!s->tidied && pthread_equal(s->owner, pthread_self()) == 0) {
        s->keeper = pthread_self();
        s->tidied = true;
    }
    return status;
}

static mel_status shaky_measure(mel_store *store, mel_disk *out, mel_error *err)
{
    return mel_store_measure(out, ((shaky *)store)->real, err);
}

static void arm(shaky *s, long calls)
{
    s->left = calls;
    s->failed = false;
    s->armed = true;
}

/* Whether a call had come to fail. */
static bool heal(shaky *s)
{
    s->armed = false;
    return s->failed;
}

/* --- a world with a server ---------------------------------------------------------------------- */

typedef struct {
    shaky store;
    mel_server *server;
    json_t *datasets;
    char study[MEL_ID_TEXT];
} world;

/* Returns once the server has done what it does on its own: from then on only requests make calls. */
static void start(world *w)
{
    mel_server_options opt;
    mel_error err;
    mel_server_options_init(&opt);
    opt.http.port = 0;
    opt.http.workers = 4;
    opt.store = &w->store.base;
    opt.datasets = w->datasets;
    w->store.owner = pthread_self();
    w->store.tidied = false;
    assert_ok(mel_server_start(&w->server, &opt, &err), &err);
    const struct timespec moment = { .tv_nsec = 1000000 };
    while (!w->store.tidied)
        (void)nanosleep(&moment, NULL);
}

static int set_up(void **state)
{
    static world w;
    mel_app app;
    mel_error err;
    w = (world){ .datasets = json_array() };
    w.store.real = test_store_open(test_fresh_url());
    w.store.base = (mel_store){ .read = shaky_read, .write = shaky_write, .measure = shaky_measure };
    assert_ok(mel_app_init(&app, w.store.real, NULL, &err), &err);
    assert_ok(mel_manage_create(w.study, w.store.real, app.cache, test_study_text, &err), &err);
    mel_app_clear(&app);
    start(&w);
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    world *w = *state;
    mel_server_stop(w->server);
    mel_store_close(w->store.real);
    json_decref(w->datasets);
    return 0;
}

/* --- a browser ---------------------------------------------------------------------------------- */

typedef struct {
    const world *w;
    char cookie[64], csrf[40];
    unsigned status;
    bool retry; /* Retry-After was sent */
    json_t *body;
} browser;

static size_t exchange(char answer[MOST_ANSWER], uint16_t port, const char *request)
{
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(s >= 0);
    assert_int_equal(connect(s, (struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(send(s, request, strlen(request), 0), (ssize_t)strlen(request));
    size_t n = 0;
    for (ssize_t got = 1; got > 0 && n<MOST_ANSWER - 1; n += got> 0 ? (size_t)got : 0)
        got = recv(s, answer + n, MOST_ANSWER - 1 - n, 0);
    (void)close(s);
    answer[n] = '\0';
    return n;
}

/* Sends and takes cookie, status and body over. */
static void ask(browser *b, const char *method, const char *path, const char *body)
{
    static char request[4096], answer[MOST_ANSWER];
    (void)snprintf(request, sizeof request,
                   "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Melicit-CSRF: %s\r\n"
                   "Cookie: melicit=%s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                   method, path, b->csrf[0] != '\0' ? b->csrf : "first", b->cookie, strlen(body), body);
    assert_true(exchange(answer, mel_server_port(b->w->server), request) > 0);
    char *text = strstr(answer, "\r\n\r\n"), *cookie = strstr(answer, "Set-Cookie: melicit=");
    assert_non_null(text);
    assert_int_equal(sscanf(answer, "HTTP/1.1 %u", &b->status), 1);
    b->retry = strstr(answer, "Retry-After: ") != NULL;
    if (cookie != NULL && cookie < text)
        assert_int_equal(sscanf(cookie, "Set-Cookie: melicit=%63[^;]", b->cookie), 1);
    json_decref(b->body);
    b->body = json_loads(text + 4, 0, NULL);
    assert_non_null(b->body);
    const char *csrf = json_string_value(json_object_get(json_object_get(b->body, "page"), "csrf"));
    if (csrf != NULL)
        (void)snprintf(b->csrf, sizeof b->csrf, "%s", csrf);
}

static void assert_refused(const browser *b)
{
    const json_t *error = json_object_get(b->body, "error");
    assert_int_equal(b->status, 503);
    assert_true(b->retry);
    assert_string_equal(json_string_value(json_object_get(error, "code")), "storage");
    /* participants hear nothing of the server's disks and databases */
    assert_string_equal(json_string_value(json_object_get(error, "message")),
                        "the server cannot reach its store at the moment; what was saved is safe");
}

static json_int_t page_seq(const browser *b)
{
    return json_integer_value(json_object_get(json_object_get(b->body, "page"), "seq"));
}

static void join(browser *b)
{
    char body[64];
    (void)snprintf(body, sizeof body, "{\"study\": \"%s\"}", b->w->study);
    ask(b, "POST", "/api/join", body);
}

/* --- tests -------------------------------------------------------------------------------------- */

static size_t people(const world *w)
{
    mel_participant_row *row = NULL;
    size_t n = 0;
    mel_error err;
    assert_ok(mel_store_participants(&row, &n, w->store.real, w->study, &(mel_place){ .created = INT64_MIN },
                                     1000, &err),
              &err);
    mel_participant_rows_free(row, n);
    return n;
}

static void forget(world *w, browser *b)
{
    mel_error err;
    mel_participant_row *row = NULL;
    size_t n = 0;
    assert_ok(mel_store_participants(&row, &n, w->store.real, w->study, &(mel_place){ .created = INT64_MIN },
                                     1000, &err),
              &err);
    for (size_t i = 0; i < n; i++)
        assert_ok(test_erase_one(w->store.real, row[i].id, NULL, 0), &err);
    mel_participant_rows_free(row, n);
    json_decref(b->body);
    *b = (browser){ .w = w };
}

/* Whatever fails, whoever tries again is in, and in once. */
static void test_joining(void **state)
{
    world *w = *state;
    browser b = { .w = w };
    long n = 0;
    for (bool failed = true; failed; n++) {
        forget(w, &b);
        arm(&w->store, n);
        join(&b);
        failed = heal(&w->store);
        if (failed) {
            assert_refused(&b);
            join(&b);
        }
        assert_int_equal(b.status, 200);
        assert_int_equal(page_seq(&b), 1);
        assert_int_equal(people(w), 1);
    }
    print_message("  %ld calls\n", n - 1);
    assert_true(n > 3);
    json_decref(b.body);
}

static const char consent[] = "{\"agreed\": true, \"version\": \"1\"}";

/* The server starts anew, so that the log must be replayed, and the store fails on the way. */
static void test_replaying(void **state)
{
    world *w = *state;
    browser b = { .w = w };
    static const struct {
        const char *method, *path;
    } kinds[] = { { "GET", "/api/page" }, { "POST", "/api/event" } };
    char body[160];
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        forget(w, &b);
        join(&b);
        long n = 0;
        for (bool failed = true; failed; n++) {
            mel_server_stop(w->server);
            start(w);
            if (kind == 1) { /* a new person each time: the same page can be answered once */
                forget(w, &b);
                join(&b);
                mel_server_stop(w->server);
                start(w);
            }
            (void)snprintf(body, sizeof body, "{\"seq\": 1, \"key\": \"the-key-%ld\", \"value\": %s}", n,
                           consent);
            arm(&w->store, n);
            ask(&b, kinds[kind].method, kinds[kind].path, kind == 1 ? body : "");
            failed = heal(&w->store);
            if (failed) {
                assert_refused(&b);
                ask(&b, kinds[kind].method, kinds[kind].path, kind == 1 ? body : "");
            }
            assert_int_equal(b.status, 200);
            assert_int_equal(page_seq(&b), kind == 1 ? 2 : 1);
        }
        print_message("  %s: %ld calls\n", kinds[kind].path, n - 1);
        assert_true(n > 3);
    }
    json_decref(b.body);
}

/* Everything fails for a while: every request is refused, none is taken for a wrong token, and all goes on.
 */
static void test_store_away(void **state)
{
    world *w = *state;
    browser b = { .w = w };
    join(&b);
    arm(&w->store, 0);
    static const char *const paths[] = { "/api/page", "/api/result", "/api/result/session" };
    for (size_t i = 0; i < 30; i++) { /* more than wrong tokens may be tried */
        ask(&b, "GET", paths[i % COUNT(paths)], "");
        assert_refused(&b);
    }
    ask(&b, "GET", "/api/datasets", "");
    assert_int_equal(b.status, 200); /* needs no store */
    assert_true(heal(&w->store));
    ask(&b, "GET", "/api/page", "");
    assert_int_equal(b.status, 200);
    assert_int_equal(page_seq(&b), 1);
    json_decref(b.body);
}

/* Whom the store does not tell about now is looked at another time: the list is not complete, and is told. */
static void test_monitoring(void **state)
{
    world *w = *state;
    browser b[2] = { { .w = w }, { .w = w } };
    mel_app app;
    mel_error err;
    join(&b[0]);
    join(&b[1]);
    assert_ok(mel_app_init(&app, &w->store.base, NULL, &err), &err);
    size_t partly = 0;
    bool failed = true;
    for (long n = 0; failed; n++) {
        json_t *seen = NULL;
        arm(&w->store, n);
        const mel_status status =
            mel_manage_monitor(&seen, &w->store.base, app.cache, w->study, NULL, 600.0, &err);
        failed = heal(&w->store);
        assert_true(status == MEL_OK || (failed && status == MEL_EIO));
        if (status == MEL_OK) {
            assert_int_equal(json_is_true(json_object_get(seen, "complete")), !failed);
            assert_int_equal(json_array_size(json_object_get(seen, "live")), 2);
            partly += failed;
        }
        json_decref(seen);
    }
    assert_true(partly > 0);
    mel_app_clear(&app);
    json_decref(b[0].body);
    json_decref(b[1].body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_joining, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replaying, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_store_away, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_monitoring, set_up, tear_down),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_cleanup();
    return failed;
}
