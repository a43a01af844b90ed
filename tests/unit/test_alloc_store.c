/* Every allocation of the store's own code fails once; SQLite's own are in test_store_faults. */
#include "support/server/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *path, *copy;
} place;

static mel_status see(void *user, const mel_participant_row *participant, const mel_event_row *event,
                      mel_error *err)
{
    (void)user;
    (void)participant;
    (void)event;
    (void)err;
    return MEL_OK;
}

static mel_status write_some(mel_store *store, mel_error *err)
{
    char file[] = "{}", label[] = "p1", body[] = "{}";
    const mel_study_row study = { .id = "s", .file = file, .state = "open" };
    const mel_participant_row p = {
        .id = "a", .study = "s", .label = label, .about = file, .state = "active"
    };
    const mel_event_row event = { .seq = 1, .key = "k", .body = body };
    mel_event_row stored = { 0 };
    mel_append outcome;
    mel_status status = mel_store_add_study(store, &study, err);
    if (status == MEL_OK)
        status = mel_store_add_participant(store, &p, err);
    for (int i = 0; i < 2 && status == MEL_OK; i++) { /* the second time it is replayed */
        status = mel_store_append(&outcome, &stored, store, "a", &event, "complete", err);
        mel_event_row_clear(&stored);
    }
    return status;
}

static mel_status read_rows(mel_store *store, mel_error *err)
{
    mel_study_row study, *studies = NULL;
    mel_participant_row p, *participants = NULL;
    mel_event_row *events = NULL;
    size_t n_studies = 0, n_participants = 0, n_events = 0;
    mel_status status = mel_store_study(&study, store, "s", err);
    mel_study_row_clear(&study);
    if (status == MEL_OK) {
        status = mel_store_participant_by_label(&p, store, "s", "p1", err);
        mel_participant_row_clear(&p);
    }
    if (status == MEL_OK)
        status = mel_store_studies(&studies, &n_studies, store, err);
    if (status == MEL_OK)
        status = mel_store_participants(&participants, &n_participants, store, "s",
                                        &(mel_place){ .created = INT64_MIN }, 10, err);
    if (status == MEL_OK)
        status = mel_store_events(&events, &n_events, store, "a", err);
    mel_study_rows_free(studies, n_studies);
    mel_participant_rows_free(participants, n_participants);
    mel_event_rows_free(events, n_events);
    return status;
}

static mel_status use_things(mel_store *store, mel_error *err)
{
    void *bytes = NULL;
    size_t n = 0;
    mel_status status = mel_store_put_once(&bytes, &n, store, "x", "1", 1, err);
    free(bytes);
    if (status == MEL_OK) {
        status = mel_store_get(&bytes, &n, store, "x", err);
        free(bytes);
    }
    bool full = true;
    if (status == MEL_OK)
        status = mel_store_put_within(&full, store, "xy", "12", 2, 0, &(mel_room){ "x", 1 << 20 }, 1, err);
    int file = -1;
    if (status == MEL_OK)
        status = mel_store_image(&file, store, NULL, NULL, err);
    if (status == MEL_OK)
        (void)close(file);
    return status;
}

static mel_status use_store(void *context)
{
    const place *where = context;
    mel_error err;
    mel_store *store;
    (void)unlink(where->path);
    (void)unlink(where->copy);
    mel_status status = mel_store_open(&store, where->path, &err);
    if (status == MEL_OK)
        status = write_some(store, &err);
    if (status == MEL_OK)
        status = read_rows(store, &err);
    if (status == MEL_OK)
        status = use_things(store, &err);
    if (status == MEL_OK)
        status = mel_store_visit(store, "s", see, NULL, &err);
    if (status == MEL_OK)
        status = mel_store_copy(store, NULL, where->copy, &err);
    mel_store_close(store);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    place where = { test_store_file("alloc.db"), test_store_file("copy.db") };
    test_each_allocation("a store's life", use_store, &where);
}

static const char *url;

static mel_status use_postgres(void *context)
{
    mel_error err;
    mel_store *store;
    (void)context;
    mel_status status = mel_store_open(&store, url, &err);
    if (status == MEL_OK)
        status = read_rows(store, &err);
    if (status == MEL_OK)
        status = use_things(store, &err);
    mel_store_close(store);
    return status;
}

static void test_postgres_allocations(void **state)
{
    (void)state;
    mel_error err;
    url = test_postgres_start(false);
    if (url == NULL)
        return;
    mel_store *store = test_store_open(url);
    assert_ok(write_some(store, &err), &err);
    mel_store_close(store);
    test_each_allocation("a database's life", use_postgres, NULL);
}

static int stop_postgres(void **state)
{
    (void)state;
    test_postgres_stop();
    test_cleanup();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_allocations),
                                        cmocka_unit_test(test_postgres_allocations) };
    return cmocka_run_group_tests(tests, NULL, stop_postgres);
}
