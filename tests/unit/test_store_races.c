/* Many at once: threads and processes on one store, snapshots while writers go on, kill -9. */
#include "base/rng.h"
#include "support/server/store.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 16, ROUNDS = 25, CHILDREN = 3 };

static void pause_ms(long ms)
{
    const struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };
    (void)nanosleep(&pause, NULL);
}

/* Everybody wants to write every event of the one participant. cmocka's assertions belong to the main thread,
 * so that others count what went wrong. */
typedef struct {
    mel_store *store;
    int process, number;
    atomic_int *wins; /* per seq */
    atomic_int *failures;
} rival;

static void *compete(void *context)
{
    const rival *r = context;
    char key[32];
    for (uint32_t seq = 1; seq <= ROUNDS; seq++) {
        mel_append outcome;
        (void)snprintf(key, sizeof key, "%d-%d-%u", r->process, r->number, (unsigned)seq);
        const mel_status status = test_append(&outcome, r->store, "a", seq, key, NULL);
        if (status != MEL_OK || (outcome != MEL_APPENDED && outcome != MEL_STALE))
            atomic_fetch_add(r->failures, 1);
        else if (outcome == MEL_APPENDED)
            atomic_fetch_add(&r->wins[seq - 1], 1);
    }
    return NULL;
}

/* Number of failures. */
static int compete_all(mel_store *store, int process, int threads, atomic_int wins[ROUNDS])
{
    pthread_t thread[THREADS];
    rival rivals[THREADS];
    atomic_int failures = 0;
    int started = 0;
    for (; started < threads; started++) {
        rivals[started] = (rival){ store, process, started, wins, &failures };
        if (pthread_create(&thread[started], NULL, compete, &rivals[started]) != 0)
            break;
    }
    for (int i = 0; i < started; i++)
        (void)pthread_join(thread[i], NULL);
    return failures + (started < threads);
}

static void test_one_winner(void **state)
{
    (void)state;
    atomic_int wins[ROUNDS] = { 0 };
    mel_store *store = test_store_open(test_fresh_url());
    test_add_study(store, "s");
    test_add_participant(store, "s", "a", NULL);
    assert_int_equal(compete_all(store, 0, THREADS, wins), 0);
    for (int i = 0; i < ROUNDS; i++)
        assert_int_equal(wins[i], 1);
    assert_int_equal(test_events(store, "a"), ROUNDS);
    mel_store_close(store);
}

/* A child: 0 when nothing failed; its wins go through the pipe. */
static int compete_in_child(const char *url, int process, int out)
{
    atomic_int wins[ROUNDS] = { 0 };
    unsigned char told[ROUNDS];
    mel_store *store;
    if (mel_store_open(&store, url, NULL) != MEL_OK)
        return 2;
    const int failures = compete_all(store, process, 4, wins);
    mel_store_close(store);
    for (int i = 0; i < ROUNDS; i++)
        told[i] = (unsigned char)wins[i];
    return failures == 0 && write(out, told, sizeof told) == (ssize_t)sizeof told ? 0 : 1;
}

static void test_processes(void **state)
{
    (void)state;
    const char *url = test_fresh_url();
    mel_store *store = test_store_open(url);
    test_add_study(store, "s");
    test_add_participant(store, "s", "a", NULL);
    mel_store_close(store);
    int ends[2], children[CHILDREN], sum[ROUNDS] = { 0 };
    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(compete_in_child(url, i, ends[1]));
    }
    for (int i = 0; i < CHILDREN; i++)
        test_child(children[i]);
    (void)close(ends[1]);
    unsigned char told[ROUNDS];
    while (read(ends[0], told, sizeof told) == (ssize_t)sizeof told)
        for (int i = 0; i < ROUNDS; i++)
            sum[i] += told[i];
    (void)close(ends[0]);
    for (int i = 0; i < ROUNDS; i++)
        assert_int_equal(sum[i], 1);
    store = test_store_open(url);
    assert_int_equal(test_events(store, "a"), ROUNDS);
    mel_store_close(store);
}

/* Makes the schema at the same time as others, and puts the one key there is. */
static int put_in_child(const char *url, int process, int out)
{
    mel_store *store;
    void *bytes = NULL;
    size_t n = 0;
    const unsigned char mine = (unsigned char)(process + 1);
    if (mel_store_open(&store, url, NULL) != MEL_OK)
        return 2;
    mel_status status = mel_store_put_once(&bytes, &n, store, "hash-key", &mine, 1, NULL);
    if (status == MEL_OK && (n != 1 || write(out, bytes, 1) != 1))
        status = MEL_EIO;
    free(bytes);
    mel_store_close(store);
    return status == MEL_OK ? 0 : 1;
}

static void test_put_once(void **state)
{
    (void)state;
    for (int round = 0; round < 4; round++) {
        const char *url = test_fresh_url();
        int ends[2], children[CHILDREN];
        assert_int_equal(pipe(ends), 0);
        for (int i = 0; i < CHILDREN; i++) {
            children[i] = fork();
            if (children[i] == 0)
                _exit(put_in_child(url, i, ends[1]));
        }
        for (int i = 0; i < CHILDREN; i++)
            test_child(children[i]);
        (void)close(ends[1]);
        unsigned char got[CHILDREN];
        assert_int_equal(read(ends[0], got, sizeof got), CHILDREN);
        (void)close(ends[0]);
        for (int i = 0; i < CHILDREN; i++)
            assert_int_equal(got[i], got[0]);
    }
}

/* Puts blobs of ten bytes for as long as there is room for them; tells how many times there was. */
static int fill_in_child(const char *url, int process, int out)
{
    enum { LEAST = 32 << 10 }; /* what the smallest counts */
    static const mel_room rooms[] = { { "blob:", (int64_t)100 * LEAST },
                                      { "blob:x", (int64_t)10 * LEAST + 5 } };
    mel_store *store;
    char name[40];
    unsigned char stored = 0;
    bool full = false;
    mel_status status = mel_store_open(&store, url, NULL);
    for (int i = 0; i < 12 && status == MEL_OK; i++) {
        (void)snprintf(name, sizeof name, "blob:x%d-%d", process, i);
        status = mel_store_put_within(&full, store, name, "0123456789", 10, 0, rooms, 2, NULL);
        stored = (unsigned char)(stored + (status == MEL_OK && !full));
    }
    mel_store_close(store);
    return status == MEL_OK && full && write(out, &stored, 1) == 1 ? 0 : 1;
}

static void test_room(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        const char *url = test_fresh_url();
        int ends[2], children[CHILDREN], sum = 0;
        int64_t bytes = 0;
        assert_int_equal(pipe(ends), 0);
        mel_store *store = test_store_open(url);
        mel_store_close(store);
        for (int i = 0; i < CHILDREN; i++) {
            children[i] = fork();
            if (children[i] == 0)
                _exit(fill_in_child(url, i, ends[1]));
        }
        for (int i = 0; i < CHILDREN; i++)
            test_child(children[i]);
        (void)close(ends[1]);
        unsigned char got[CHILDREN];
        assert_int_equal(read(ends[0], got, sizeof got), CHILDREN);
        (void)close(ends[0]);
        for (int i = 0; i < CHILDREN; i++)
            sum += got[i];
        store = test_store_open(url);
        bytes = test_store_bytes(store, "blob:");
        assert_int_equal(sum, 10);
        assert_int_equal(bytes, 100);
        mel_store_close(store);
    }
}

/* Appends to a and b in turns until told to stop: in any snapshot a has as many events as b, or one more. */
typedef struct {
    mel_store *store;
    atomic_bool stop;
    atomic_int written, failures;
} turns;

static void *take_turns(void *context)
{
    turns *t = context;
    char key[16];
    for (uint32_t seq = 1; !t->stop; seq++)
        for (int i = 0; i < 2; i++) {
            mel_append outcome;
            (void)snprintf(key, sizeof key, "k%u", (unsigned)seq);
            if (test_append(&outcome, t->store, i == 0 ? "a" : "b", seq, key, NULL) != MEL_OK ||
                outcome != MEL_APPENDED)
                t->failures++;
            t->written++;
        }
    return NULL;
}

static mel_status count_ab(void *user, const mel_participant_row *participant, const mel_event_row *event,
                           mel_error *err)
{
    size_t *counts = user;
    size_t *mine = &counts[participant->id[0] == 'b'];
    (void)err;
    if (event == NULL) {
        pause_ms(3); /* writers go on between the two */
        return MEL_OK;
    }
    return event->seq == ++*mine ? MEL_OK : MEL_EDATA;
}

static void check_snapshots(mel_store *store, const char *copy, const turns *t)
{
    mel_error err;
    size_t before = 0;
    for (int round = 0; round < 12 || t->written < 40; round++) {
        size_t counts[2] = { 0 };
        assert_ok(mel_store_visit(store, "s", count_ab, counts, &err), &err);
        assert_true(counts[0] == counts[1] || counts[0] == counts[1] + 1);
        assert_true(counts[0] >= before);
        before = counts[0];
        if (round % 4 != 0)
            continue;
        assert_ok(test_store_image(store, "s", copy, &err), &err);
        mel_store *other = test_store_open(copy);
        const size_t a = test_events(other, "a"), b = test_events(other, "b");
        assert_true(a >= before && (a == b || a == b + 1));
        mel_store_close(other);
    }
}

static void test_snapshots(void **state)
{
    (void)state;
    mel_store *store = test_store_open(test_fresh_url());
    test_add_study(store, "s");
    test_add_participant(store, "s", "a", NULL);
    test_add_participant(store, "s", "b", NULL);
    turns t = { .store = store };
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, take_turns, &t), 0);
    check_snapshots(store, test_store_file("copy.db"), &t);
    t.stop = true;
    (void)pthread_join(thread, NULL);
    assert_int_equal(t.failures, 0);
    assert_int_equal(test_events(store, "a") + test_events(store, "b"), t.written);
    mel_store_close(store);
}

/* What an appending thread of a child has been told is stored goes through the pipe. */
typedef struct {
    mel_store *store;
    int out;
    uint32_t participant, seq;
} writer;

typedef struct {
    uint32_t participant, seq;
} acknowledgement;

static void *append_on(void *context)
{
    writer *w = context;
    const char id[2] = { (char)('a' + (int)w->participant), '\0' };
    for (;; w->seq++) {
        mel_append outcome;
        char key[16];
        (void)snprintf(key, sizeof key, "k%u", (unsigned)w->seq);
        const acknowledgement told = { w->participant, w->seq };
        if (test_append(&outcome, w->store, id, w->seq, key, NULL) != MEL_OK || outcome == MEL_STALE ||
            write(w->out, &told, sizeof told) != (ssize_t)sizeof told)
            _exit(1);
    }
    return NULL;
}

enum { WRITERS = 8 };

static int append_in_child(const char *url, const size_t stored[WRITERS], int out)
{
    mel_store *store;
    pthread_t thread[WRITERS];
    writer writers[WRITERS];
    if (mel_store_open(&store, url, NULL) != MEL_OK)
        return 2;
    for (uint32_t i = 0; i < WRITERS; i++) { /* the last event again: what was not acknowledged is retried */
        writers[i] = (writer){ store, out, i, stored[i] > 0 ? (uint32_t)stored[i] : 1 };
        if (pthread_create(&thread[i], NULL, append_on, &writers[i]) != 0)
            return 3;
    }
    (void)pause();
    return 0;
}

/* One life: killed after some milliseconds; the highest acknowledged number of each participant. */
static size_t live_and_die(uint32_t told[WRITERS], const char *url, const size_t stored[WRITERS], long ms)
{
    int ends[2], status = 0;
    acknowledgement one;
    size_t n = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0)
        _exit(append_in_child(url, stored, ends[1]));
    assert_true(child > 0);
    (void)close(ends[1]);
    /* Death comes some time after the first acknowledgement, and never before. */
    while (read(ends[0], &one, sizeof one) == (ssize_t)sizeof one) {
        if (n++ == 0) {
            pause_ms(ms);
            assert_int_equal(kill(child, SIGKILL), 0);
        }
        if (one.seq > told[one.participant])
            told[one.participant] = one.seq;
    }
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return n;
}

static void test_kill(void **state)
{
    (void)state;
    const int rounds = (int)test_repeats(100, 20, 8);
    const char *url = test_fresh_url();
    size_t stored[WRITERS] = { 0 }, acknowledged = 0;
    uint32_t told[WRITERS] = { 0 };
    mel_error err;
    mel_rng rng;
    mel_rng_seed(&rng, 7);
    mel_store *store = test_store_open(url);
    test_add_study(store, "s");
    for (int i = 0; i < WRITERS; i++) {
        const char id[2] = { (char)('a' + i), '\0' };
        test_add_participant(store, "s", id, NULL);
    }
    mel_store_close(store);
    for (int round = 0; round < rounds; round++) {
        acknowledged += live_and_die(told, url, stored, (long)mel_rng_below(&rng, 40));
        store = test_store_open(url);
        for (int i = 0; i < WRITERS; i++) {
            const char id[2] = { (char)('a' + i), '\0' };
            stored[i] = test_events(store, id); /* numbers without gaps, each once */
            assert_true(stored[i] >= told[i]);
        }
        assert_ok(test_store_verify(store, &err), &err);
        mel_store_close(store);
    }
    print_message("  %d kills, %zu acknowledgements, none lost\n", rounds, acknowledged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_winner), cmocka_unit_test(test_processes), cmocka_unit_test(test_put_once),
        cmocka_unit_test(test_room),       cmocka_unit_test(test_snapshots), cmocka_unit_test(test_kill),
    };
    return test_both_stores(tests, COUNT(tests));
}
