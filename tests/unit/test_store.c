/* Studies, participants, events and things: the same on SQLite and PostgreSQL. */
#include "support/server/store.h"

#include "server/store_sql.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_studies(void **state)
{
    (void)state;
    mel_error err;
    mel_store *store = test_store_open(test_fresh_url());
    mel_study_row row, *rows;
    size_t n;
    assert_ok(mel_store_studies(&rows, &n, store, &err), &err);
    assert_int_equal(n, 0);
    mel_study_rows_free(rows, n);
    assert_int_equal(mel_store_study(&row, store, "cancer", &err), MEL_EINVAL);
    assert_string_equal(err.text, "there is no study cancer");
    assert_null(row.file);

    test_add_study(store, "credit");
    test_add_study(store, "cancer");
    char file[] = "{}";
    mel_study_row again = { .id = "cancer", .file = file, .state = "open", .created = 9 };
    assert_int_equal(mel_store_add_study(store, &again, &err), MEL_ECONFLICT);
    assert_non_null(strstr(err.text, "cancer"));
    mel_study_row wrong = { .id = "third", .file = file, .state = "ajar", .created = 9 };
    assert_int_equal(mel_store_add_study(store, &wrong, &err), MEL_EINVAL);

    assert_ok(mel_store_study(&row, store, "cancer", &err), &err);
    assert_string_equal(row.file, "{\"title\": \"Prüfung\"}");
    assert_string_equal(row.state, "open");
    assert_int_equal(row.created, 1700000000123);
    mel_study_row_clear(&row);

    assert_ok(mel_store_set_state(store, "cancer", "closed", &err), &err);
    assert_int_equal(mel_store_set_state(store, "cancer", "shut", &err), MEL_EINVAL);
    assert_int_equal(mel_store_set_state(store, "nothing", "open", &err), MEL_EINVAL);
    assert_ok(mel_store_studies(&rows, &n, store, &err), &err);
    assert_int_equal(n, 2);
    assert_string_equal(rows[0].id, "cancer");
    assert_string_equal(rows[0].state, "closed");
    assert_string_equal(rows[1].id, "credit");
    assert_string_equal(rows[1].state, "open");
    mel_study_rows_free(rows, n);
    mel_store_close(store);
}

static void assert_participant(const mel_participant_row *p, const char *id, const char *label)
{
    unsigned char token[MEL_HASH_BYTES];
    test_token(token, id);
    assert_string_equal(p->id, id);
    assert_string_equal(p->study, "s");
    assert_memory_equal(p->token, token, sizeof token);
    if (label == NULL)
        assert_null(p->label);
    else
        assert_string_equal(p->label, label);
    assert_string_equal(p->about, "{\"link\": \"anonymous\"}");
    assert_string_equal(p->state, "active");
    assert_int_equal(p->created, 5);
    assert_int_equal(p->seen, 5);
    assert_true(p->seed == UINT64_MAX - 1);
}

static void test_participants(void **state)
{
    (void)state;
    mel_error err;
    mel_store *store = test_store_open(test_fresh_url());
    test_add_study(store, "s");
    test_add_study(store, "other");
    test_add_participant(store, "s", "a", "p01");
    test_add_participant(store, "s", "b", NULL);
    test_add_participant(store, "s", "c", NULL);
    test_add_participant(store, "other", "d", "p01"); /* a label is of its study */

    mel_participant_row p, *rows;
    size_t n;
    unsigned char token[MEL_HASH_BYTES];
    assert_ok(mel_store_participant(&p, store, "a", &err), &err);
    assert_participant(&p, "a", "p01");
    mel_participant_row_clear(&p);
    test_token(token, "b");
    assert_ok(mel_store_participant_by_token(&p, store, token, &err), &err);
    assert_participant(&p, "b", NULL);
    mel_participant_row_clear(&p);
    assert_ok(mel_store_participant_by_label(&p, store, "s", "p01", &err), &err);
    assert_participant(&p, "a", "p01");
    mel_participant_row_clear(&p);
    /* In pieces, each after the place of the last. */
    mel_place place = MEL_FIRST_PLACE;
    assert_ok(mel_store_participants(&rows, &n, store, "s", &place, 2, &err), &err);
    assert_int_equal(n, 2);
    assert_participant(&rows[0], "a", "p01");
    mel_participant_rows_free(rows, n);
    assert_ok(mel_store_participants(&rows, &n, store, "s", &place, 2, &err), &err);
    assert_int_equal(n, 1);
    assert_participant(&rows[0], "c", NULL);
    mel_participant_rows_free(rows, n);
    assert_ok(mel_store_participants(&rows, &n, store, "s", &place, 2, &err), &err);
    assert_int_equal(n, 0);
    mel_participant_rows_free(rows, n);

    test_token(token, "new");
    assert_ok(mel_store_set_token(store, "a", token, &err), &err);
    assert_ok(mel_store_participant_by_token(&p, store, token, &err), &err);
    assert_string_equal(p.id, "a");
    mel_participant_row_clear(&p);
    test_token(token, "a");
    assert_int_equal(mel_store_participant_by_token(&p, store, token, &err), MEL_EINVAL);
    mel_store_close(store);
}

static void test_participants_refused(void **state)
{
    (void)state;
    mel_error err;
    mel_store *store = test_store_open(test_fresh_url());
    test_add_study(store, "s");
    test_add_participant(store, "s", "a", "p01");
    test_add_participant(store, "s", "z", NULL);
    char label[] = "p01", free_label[] = "p02";
    static const struct {
        const char *name, *study, *id, *token, *state;
        bool label_taken;
        mel_status want;
        const char *sentence;
    } rows[] = {
        { "label taken", "s", "b", "b", "active", true, MEL_ECONFLICT, "the label \"p01\" is taken" },
        { "id taken", "s", "a", "b", "active", false, MEL_ECONFLICT, "participant a" },
        { "token taken", "s", "b", "a", "active", false, MEL_ECONFLICT, "participant b" },
        { "no study", "t", "b", "b", "active", false, MEL_EINVAL, "there is no study t" },
        { "no state", "s", "b", "b", "asleep", false, MEL_EINVAL, "\"asleep\"" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        mel_participant_row p = { .label = rows[i].label_taken ? label : free_label };
        (void)snprintf(p.id, sizeof p.id, "%s", rows[i].id);
        (void)snprintf(p.study, sizeof p.study, "%s", rows[i].study);
        (void)snprintf(p.state, sizeof p.state, "%s", rows[i].state);
        test_token(p.token, rows[i].token);
        assert_int_equal(mel_store_add_participant(store, &p, &err), rows[i].want);
        assert_non_null(strstr(err.text, rows[i].sentence));
    }
    mel_participant_row p;
    assert_int_equal(mel_store_participant(&p, store, "b", &err), MEL_EINVAL);
    assert_int_equal(mel_store_participant_by_label(&p, store, "s", "p02", &err), MEL_EINVAL);
    /* No token is not a token that all have in common. */
    const unsigned char none[MEL_HASH_BYTES] = { 0 };
    unsigned char token[MEL_HASH_BYTES];
    assert_ok(mel_store_set_token(store, "a", none, &err), &err);
    assert_ok(mel_store_set_token(store, "z", none, &err), &err);
    assert_int_equal(mel_store_participant_by_token(&p, store, none, &err), MEL_EINVAL);
    assert_int_equal(mel_store_set_token(store, "b", none, &err), MEL_EINVAL);
    test_token(token, "x");
    assert_ok(mel_store_set_token(store, "a", token, &err), &err);
    assert_int_equal(mel_store_set_token(store, "z", token, &err), MEL_ECONFLICT);
    mel_store_close(store);
}

static void test_outcomes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t seq;
        const char *key, *body, *state;
        mel_append want;
        size_t events;
    } rows[] = {
        { "too far", 2, "k1", "{}", NULL, MEL_STALE, 0 },
        { "zero", 0, "k1", "{}", NULL, MEL_STALE, 0 },
        { "first", 1, "k1", "{}", NULL, MEL_APPENDED, 1 },
        { "same again", 1, "k1", "{}", NULL, MEL_REPLAYED, 1 },
        { "same key, other body", 1, "k1", "{\"a\": 1}", NULL, MEL_KEY_REUSED, 1 },
        { "same key at the next place", 2, "k1", "{\"a\": 1}", NULL, MEL_KEY_REUSED, 1 },
        { "another tab", 1, "k2", "{}", NULL, MEL_STALE, 1 },
        { "second", 2, "k2", "{\"ü\": \"\\\\\"}", "complete", MEL_APPENDED, 2 },
        { "first again", 1, "k1", "{}", "left", MEL_REPLAYED, 2 },
        { "a gap", 4, "k4", "{}", NULL, MEL_STALE, 2 },
        { "largest", UINT32_MAX, "k4", "{}", NULL, MEL_STALE, 2 },
    };
    mel_error err;
    mel_store *store = test_store_open(test_fresh_url());
    test_add_study(store, "s");
    test_add_participant(store, "s", "a", NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        char body[64];
        (void)snprintf(body, sizeof body, "%s", rows[i].body);
        mel_event_row event = { .seq = rows[i].seq, .body = body, .time = 100 + (int64_t)i }, stored;
        (void)snprintf(event.key, sizeof event.key, "%s", rows[i].key);
        mel_append outcome;
        assert_ok(mel_store_append(&outcome, &stored, store, "a", &event, rows[i].state, &err), &err);
        assert_int_equal(outcome, rows[i].want);
        if (outcome == MEL_REPLAYED) {
            assert_string_equal(stored.body, body);
            assert_string_equal(stored.key, "k1");
            assert_int_equal(stored.seq, 1);
            assert_int_equal(stored.time, 102);
        } else
            assert_null(stored.body);
        mel_event_row_clear(&stored);
        mel_event_row *events;
        size_t n;
        assert_ok(mel_store_events(&events, &n, store, "a", &err), &err);
        assert_int_equal(n, rows[i].events);
        mel_event_rows_free(events, n);
    }
    mel_participant_row p;
    assert_ok(mel_store_participant(&p, store, "a", &err), &err);
    assert_string_equal(p.state, "complete"); /* a replay changes nothing */
    assert_int_equal(p.seen, 107);
    mel_participant_row_clear(&p);
    assert_ok(test_store_verify(store, &err), &err);
    mel_store_close(store);
}

static void test_append_refused(void **state)
{
    (void)state;
    mel_error err;
    mel_append outcome = MEL_KEY_REUSED;
    mel_store *store = test_store_open(test_fresh_url());
    test_add_study(store, "s");
    test_add_participant(store, "s", "a", NULL);
    assert_int_equal(test_append(&outcome, store, "nobody", 1, "k", &err), MEL_EINVAL);
    assert_string_equal(err.text, "there is no participant nobody");
    assert_int_equal(test_append(&outcome, store, "a", 1, "", &err), MEL_EINVAL);
    char body[] = "{}";
    mel_event_row event = { .seq = 1, .key = "k", .body = body };
    assert_int_equal(mel_store_append(&outcome, NULL, store, "a", &event, "gone", &err), MEL_EINVAL);
    event.body = NULL;
    assert_int_equal(mel_store_append(&outcome, NULL, store, "a", &event, NULL, &err), MEL_EINVAL);
    assert_int_equal(outcome, MEL_KEY_REUSED); /* untouched */
    assert_int_equal(test_events(store, "a"), 0);
    assert_int_equal(test_events(store, "nobody"), 0);
    /* Without a reply, and a replay whose event nobody wants. */
    event.body = body;
    assert_ok(mel_store_append(&outcome, NULL, store, "a", &event, NULL, &err), &err);
    assert_ok(mel_store_append(&outcome, NULL, store, "a", &event, NULL, &err), &err);
    assert_int_equal(outcome, MEL_REPLAYED);
    mel_store_close(store);
}

static void test_counts(void **state)
{
    (void)state;
    mel_error err;
    mel_append outcome;
    char id[16], body[] = "{}";
    mel_store *store = test_store_open(test_fresh_url());
    test_add_study(store, "s");
    test_add_study(store, "other");
    for (int i = 0; i < 6; i++) {
        (void)snprintf(id, sizeof id, "p%d", i);
        test_add_participant(store, "s", id, NULL);
        const mel_event_row event = { .seq = 1, .key = "k", .body = body };
        const char *after = i < 3 ? "complete" : i < 5 ? "left" : NULL;
        assert_ok(mel_store_append(&outcome, NULL, store, id, &event, after, &err), &err);
    }
    mel_study_counts counts;
    assert_ok(mel_store_counts(&counts, store, "s", &err), &err);
    assert_int_equal(counts.complete, 3);
    assert_int_equal(counts.left, 2);
    assert_int_equal(counts.active, 1);
    assert_ok(mel_store_counts(&counts, store, "other", &err), &err);
    assert_int_equal(counts.complete + counts.left + counts.active, 0);
    mel_store_close(store);
}

static bool file_holds(const char *path, const char *text)
{
    FILE *file = fopen(path, "rb");
    bool found = false;
    size_t matched = 0;
    for (int c; file != NULL && !found && (c = fgetc(file)) != EOF;) {
        matched = (char)c == text[matched] ? matched + 1 : (char)c == text[0];
        found = text[matched] == '\0';
    }
    if (file != NULL)
        (void)fclose(file);
    return found;
}

static void test_delete(void **state)
{
    (void)state;
    mel_error err;
    mel_append outcome;
    const char *url = test_fresh_url();
    mel_store *store = test_store_open(url);
    test_add_study(store, "s");
    test_add_participant(store, "s", "zebra", "p01");
    test_add_participant(store, "s", "b", NULL);
    char key[16];
    for (uint32_t i = 1; i <= 20; i++) {
        (void)snprintf(key, sizeof key, "k%u", (unsigned)i);
        assert_ok(test_append(&outcome, store, "zebra", i, key, &err), &err);
        assert_ok(test_append(&outcome, store, "b", i, key, &err), &err);
    }
    assert_true(test_on_postgres() || file_holds(url, "zebra") ||
                file_holds(test_path("store.db-wal"), "zebra"));
    assert_ok(test_erase_one(store, "zebra", NULL, 0), &err);
    assert_ok(mel_store_forget_traces(store, &err), &err);
    assert_ok(test_erase_one(store, "zebra", NULL, 0), &err); /* gone already */
    assert_false(!test_on_postgres() &&
                 (file_holds(url, "zebra") || file_holds(test_path("store.db-wal"), "zebra")));
    mel_participant_row p;
    assert_int_equal(mel_store_participant(&p, store, "zebra", &err), MEL_EINVAL);
    assert_int_equal(test_events(store, "zebra"), 0);
    assert_int_equal(test_events(store, "b"), 20);
    test_add_participant(store, "s", "c", "p01"); /* the label is free again */
    assert_ok(test_store_verify(store, &err), &err);
    mel_store_close(store);
}

static void assert_thing(mel_store *store, const char *name, const void *want, size_t n_want)
{
    mel_error err;
    void *bytes;
    size_t n;
    assert_ok(mel_store_get(&bytes, &n, store, name, &err), &err);
    assert_int_equal(n, n_want);
    assert_memory_equal(bytes, want, n_want);
    free(bytes);
}

static void test_things(void **state)
{
    (void)state;
    mel_error err;
    void *bytes;
    size_t n;
    mel_store *store = test_store_open(test_fresh_url());
    assert_int_equal(mel_store_get(&bytes, &n, store, "key", &err), MEL_EINVAL);
    assert_null(bytes);
    assert_ok(mel_store_put(store, "key", "a\0b", 3, 0, &err), &err);
    assert_thing(store, "key", "a\0b", 3);
    assert_ok(mel_store_put(store, "key", NULL, 0, 0, &err), &err);
    assert_thing(store, "key", "", 0);
    /* All bytes, and many. */
    enum { MANY = 3000000 };
    unsigned char *large = malloc(MANY);
    assert_non_null(large);
    for (size_t i = 0; i < MANY; i++)
        large[i] = (unsigned char)(i * 7 + i / 251);
    assert_ok(mel_store_put(store, "upload", large, MANY, INT64_MAX, &err), &err);
    assert_thing(store, "upload", large, MANY);
    int64_t bytes_stored = 0;
    bytes_stored = test_store_bytes(store, "upl");
    assert_int_equal(bytes_stored, MANY);
    assert_ok(mel_store_put(store, "upload", large + 7, MANY - 7, INT64_MAX, &err), &err);
    assert_thing(store, "upload", large + 7, MANY - 7);
    assert_ok(mel_store_remove(store, "upload", &err), &err);
    assert_int_equal(mel_store_get(&bytes, &n, store, "upload", &err), MEL_EINVAL);
    assert_ok(mel_store_put(store, "upload", large, MANY, 1000, &err), &err); /* expired */
    for (bool more = true; more;)
        assert_ok(mel_store_expire(&more, store, 2000, &err), &err);
    bytes_stored = test_store_bytes(store, "upl");
    assert_int_equal(bytes_stored, 0);
    free(large);
    /* The first one to put it once has put it. */
    assert_ok(mel_store_put_once(&bytes, &n, store, "once", "first", 5, &err), &err);
    assert_memory_equal(bytes, "first", 5);
    free(bytes);
    assert_ok(mel_store_put_once(&bytes, &n, store, "once", "second one", 10, &err), &err);
    assert_int_equal(n, 5);
    assert_memory_equal(bytes, "first", 5);
    free(bytes);
    assert_ok(mel_store_remove(store, "once", &err), &err);
    assert_ok(mel_store_remove(store, "once", &err), &err);
    assert_int_equal(mel_store_get(&bytes, &n, store, "once", &err), MEL_EINVAL);
    mel_store_close(store);
}

/* With what only they had; what others have, or what is kept for ever, stays. */
static void test_erase(void **state)
{
    (void)state;
    mel_error err;
    void *bytes;
    size_t n;
    mel_store *store = test_store_open(test_fresh_url());
    const char *names[] = { "upload:mine", "upload:ours", "upload:kept", "upload:gone" };
    const int64_t far = 8000000000000;
    test_add_study(store, "s");
    test_add_participant(store, "s", "a", "p1");
    test_add_participant(store, "s", "b", "p2");
    const unsigned char token[2][MEL_HASH_BYTES] = { { 1 }, { 2 } };
    assert_ok(mel_store_revoke(store, "a", token[0], "{\"x\":[\"upload:mine\",\"upload:ours\"]}", &err),
              &err);
    assert_ok(mel_store_revoke(store, "b", token[1], "{\"x\":\"upload:ours\",\"y\":\"upload:min\"}", &err),
              &err);
    mel_participant_row row;
    assert_ok(mel_store_participant_by_token(&row, store, token[1], &err), &err);
    assert_string_equal(row.id, "b");
    assert_string_equal(row.about, "{\"x\":\"upload:ours\",\"y\":\"upload:min\"}");
    mel_participant_row_clear(&row);
    assert_ok(mel_store_put(store, "upload:mine", "x", 1, far, &err), &err);
    assert_ok(mel_store_put(store, "upload:ours", "x", 1, far, &err), &err);
    assert_ok(mel_store_put(store, "upload:kept", "x", 1, 0, &err), &err);
    assert_ok(test_erase_one(store, "a", names, 4), &err);
    assert_int_equal(mel_store_participant(&row, store, "a", &err), MEL_EINVAL);
    assert_int_equal(mel_store_get(&bytes, &n, store, "upload:mine", &err), MEL_EINVAL);
    assert_thing(store, "upload:ours", "x", 1);
    assert_thing(store, "upload:kept", "x", 1);
    assert_ok(test_erase_one(store, "b", names + 1, 2), &err);
    assert_int_equal(mel_store_get(&bytes, &n, store, "upload:ours", &err), MEL_EINVAL);
    assert_thing(store, "upload:kept", "x", 1);
    assert_int_equal(mel_store_revoke(store, "b", token[1], "{}", &err), MEL_EINVAL);
    mel_store_close(store);
}

/* What the store notes about a study goes with it; a name is no pattern, and what others have stays. */
static void test_delete_study(void **state)
{
    (void)state;
    static const mel_name notes[] = { { "links:s" }, { "links:s:1" }, { "links:s:2" }, { "archived:s" } };
    static const mel_name others[] = {
        { "links:st" }, { "links:t" }, { "links:t:1" }, { "links:" }, { "s" }
    };
    static const mel_name gone[] = { { "archived:s" }, { "links:s" } },
                          wild[] = { { "links:%" }, { "links:_" } };
    enum { NOTES = sizeof notes / sizeof *notes, OTHERS = sizeof others / sizeof *others };
    mel_error err;
    void *bytes;
    size_t n;
    mel_participant_row p;
    mel_study_row row;
    mel_store *store = test_store_open(test_fresh_url());
    test_add_study(store, "s");
    test_add_study(store, "t");
    test_add_participant(store, "s", "a", "p1");
    test_add_participant(store, "t", "b", "p1");
    assert_ok(mel_store_put_names(store, notes, NOTES, &err), &err);
    assert_ok(mel_store_put_names(store, others, OTHERS, &err), &err);
    assert_int_equal(mel_store_mark_study_deleted(store, "nothing", &err), MEL_EINVAL);
    assert_string_equal(err.text, "there is no study nothing");
    assert_thing(store, "links:s:1", "1", 1);
    char marked[MEL_ID_TEXT];
    assert_int_equal(mel_store_deleted_study(marked, store, &err), MEL_EINVAL);
    assert_ok(mel_store_mark_study_deleted(store, "s", &err), &err);
    assert_int_equal(mel_store_mark_study_deleted(store, "s", &err), MEL_EINVAL);
    assert_ok(mel_store_deleted_study(marked, store, &err), &err);
    assert_string_equal(marked, "s");
    /* Out of sight, and nobody can join or answer. */
    mel_append outcome;
    const mel_participant_row late = { .id = "late", .study = "s", .state = "active" };
    assert_int_equal(mel_store_study(&row, store, "s", &err), MEL_EINVAL);
    assert_int_equal(mel_store_participant(&p, store, "a", &err), MEL_EINVAL);
    assert_int_equal(mel_store_add_participant(store, &late, &err), MEL_EINVAL);
    assert_int_equal(test_append(&outcome, store, "a", 1, "k", &err), MEL_EINVAL);
    assert_ok(test_erase_one(store, "a", NULL, 0), &err);
    assert_ok(mel_store_delete_study(store, "s", gone, 2, &err), &err);
    assert_int_equal(mel_store_deleted_study(marked, store, &err), MEL_EINVAL);
    for (size_t i = 0; i < NOTES; i++)
        assert_int_equal(mel_store_get(&bytes, &n, store, notes[i].text, &err), MEL_EINVAL);
    assert_ok(mel_store_delete_study(store, "t", wild, 2, &err), &err);
    for (size_t i = 0; i < OTHERS; i++)
        assert_thing(store, others[i].text, "1", 1);
    assert_int_equal(mel_store_study(&row, store, "s", &err), MEL_EINVAL);
    assert_int_equal(mel_store_participant(&p, store, "a", &err), MEL_EINVAL);
    mel_store_close(store);
}

static void test_expiry(void **state)
{
    (void)state;
    mel_error err;
    void *bytes;
    size_t n;
    mel_store *store = test_store_open(test_fresh_url());
    const int64_t far = 8000000000000; /* the year 2223 */
    assert_ok(mel_store_put(store, "past", "x", 1, 1000, &err), &err);
    assert_ok(mel_store_put(store, "future", "x", 1, far, &err), &err);
    assert_ok(mel_store_put(store, "never", "x", 1, 0, &err), &err);
    assert_int_equal(mel_store_get(&bytes, &n, store, "past", &err), MEL_EINVAL);
    assert_thing(store, "future", "x", 1);
    assert_thing(store, "never", "x", 1);
    assert_ok(mel_store_put_once(&bytes, &n, store, "past", "new", 3, &err), &err);
    assert_int_equal(n, 3);
    free(bytes);
    bool more = true;
    assert_ok(mel_store_expire(&more, store, far - 1, &err), &err);
    assert_false(more);
    assert_thing(store, "future", "x", 1);
    assert_ok(mel_store_expire(&more, store, far, &err), &err);
    assert_true(more);
    assert_int_equal(mel_store_get(&bytes, &n, store, "future", &err), MEL_EINVAL);
    assert_thing(store, "never", "x", 1);
    assert_thing(store, "past", "new", 3);
    assert_ok(test_store_check(store, &err), &err);
    mel_store_close(store);
}

typedef struct {
    size_t participants, events, stop_after, out_of_order;
    int64_t created;
    char last[MEL_ID_TEXT];
} visited;

static mel_status count_visit(void *user, const mel_participant_row *participant, const mel_event_row *event,
                              mel_error *err)
{
    visited *v = user;
    (void)err;
    if (event == NULL) {
        v->participants++;
        v->out_of_order += participant->created < v->created ||
                           (participant->created == v->created && strcmp(participant->id, v->last) <= 0);
        v->created = participant->created;
        (void)snprintf(v->last, sizeof v->last, "%s", participant->id);
    } else {
        assert_string_equal(participant->id, v->last);
        v->events++;
    }
    return v->events == v->stop_after ? MEL_ESTOPPED : MEL_OK;
}

/* Two studies: s with participants a (3 events), b (none), c (2); other with d (1). */
static void fill(mel_store *store)
{
    static const struct {
        const char *study, *id;
        uint32_t events;
    } rows[] = { { "s", "a", 3 }, { "s", "b", 0 }, { "s", "c", 2 }, { "other", "d", 1 } };
    mel_error err;
    mel_append outcome;
    char key[8];
    test_add_study(store, "s");
    test_add_study(store, "other");
    for (size_t i = 0; i < COUNT(rows); i++) {
        test_add_participant(store, rows[i].study, rows[i].id, i == 0 ? "ä" : NULL);
        for (uint32_t seq = 1; seq <= rows[i].events; seq++) {
            (void)snprintf(key, sizeof key, "k%u", (unsigned)seq);
            assert_ok(test_append(&outcome, store, rows[i].id, seq, key, &err), &err);
        }
    }
}

static void test_visit(void **state)
{
    (void)state;
    mel_error err;
    mel_store *store = test_store_open(test_fresh_url());
    fill(store);
    visited v = { .stop_after = SIZE_MAX };
    assert_ok(mel_store_visit(store, "s", count_visit, &v, &err), &err);
    assert_int_equal(v.participants, 3);
    assert_int_equal(v.events, 5);
    assert_string_equal(v.last, "c");
    v = (visited){ .stop_after = 2 };
    assert_int_equal(mel_store_visit(store, "s", count_visit, &v, &err), MEL_ESTOPPED);
    assert_int_equal(v.events, 2);
    assert_int_equal(mel_store_visit(store, "t", count_visit, &v, &err), MEL_EINVAL);
    mel_store_close(store);
}

static void change(const char *url, const char *sqlite_text, const char *postgres_text)
{
    if (test_on_postgres()) {
        test_postgres_sql(url, postgres_text);
        return;
    }
    sqlite3 *db;
    assert_int_equal(sqlite3_open(url, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sqlite_text, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* The way in which SQLite goes about a statement. */
static void explain(char *out, size_t size, sqlite3 *db, const char *text, const char *name)
{
    char query[1024];
    sqlite3_stmt *statement;
    size_t n = 0;
    (void)snprintf(query, sizeof query, "EXPLAIN QUERY PLAN %s", text);
    assert_int_equal(sqlite3_prepare_v2(db, query, -1, &statement, NULL), SQLITE_OK);
    (void)sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    while (sqlite3_step(statement) == SQLITE_ROW && n < size)
        n += (size_t)snprintf(out + n, size - n, "%s; ", (const char *)sqlite3_column_text(statement, 3));
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
}

/* What the writer does for answers, joins, uploads and erasures, and housekeeping, reads no table as a whole.
 */
static void test_no_table_is_scanned(void **state)
{
    (void)state;
    static const mel_sql_statement statements[] = {
        MEL_SQL_COUNT_QUOTA,
        MEL_SQL_LAST_EVENTS,
        MEL_SQL_DELETE_LAST_EVENTS,
        MEL_SQL_DELETE_PARTICIPANT,
        MEL_SQL_REMOVE_UNUSED,
        MEL_SQL_ROOM_OF,
        MEL_SQL_REMOVE_NOTES,
        MEL_SQL_REMOVE_PIECES,
        MEL_SQL_REMOVE_LOST_PIECES,
        MEL_SQL_EXPIRED,
        MEL_SQL_NEXT_PARTICIPANTS,
        MEL_SQL_UNSEEN_PARTICIPANTS,
        MEL_SQL_NEWEST,
        MEL_SQL_EVENT_BY_KEY,
        MEL_SQL_LAST_SEQ,
        MEL_SQL_PARTICIPANT_BY_TOKEN,
    };
    if (test_on_postgres())
        return;
    const char *url = test_fresh_url();
    mel_store_close(test_store_open(url));
    sqlite3 *db;
    assert_int_equal(sqlite3_open(url, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA case_sensitive_like=ON", NULL, NULL, NULL), SQLITE_OK);
    for (size_t i = 0; i < COUNT(statements); i++) {
        char plan[1024] = "";
        explain(plan, sizeof plan, db, mel_sql_sources[statements[i]], "upload:%");
        print_message("  %s\n", plan);
        const char *scan = strstr(plan, "SCAN");
        assert_true(scan == NULL || strncmp(scan, "SCAN CONSTANT ROW", 17) == 0);
        assert_true(statements[i] != MEL_SQL_COUNT_QUOTA || strstr(plan, "state=? AND seen>?") != NULL);
        assert_true(statements[i] != MEL_SQL_EXPIRED || strstr(plan, "expires>? AND expires<?") != NULL);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Participants are read a thousand at a time: none is left out and none comes twice. */
static void test_visit_many(void **state)
{
    (void)state;
    mel_error err;
    const char *url = test_fresh_url();
    mel_store *store = test_store_open(url);
    test_add_study(store, "s");
    mel_store_close(store);
    /* Ten at each moment, so that pieces end among them. */
#define MANY                                                                                                 \
    "WITH RECURSIVE many(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM many WHERE i < 2104)"                   \
    " INSERT INTO %sparticipant (id, study, about, state, created, seen, seed)"                              \
    " SELECT 'p' || (i * 7919 %% 2105), 's', '{}', 'active', i / 10, 0, '1' FROM many"
    char sqlite_text[512], postgres_text[512];
    (void)snprintf(sqlite_text, sizeof sqlite_text, MANY, "");
    (void)snprintf(postgres_text, sizeof postgres_text, MANY, "melicit.");
    change(url, sqlite_text, postgres_text);
    store = test_store_open(url);
    visited v = { .stop_after = SIZE_MAX };
    assert_ok(mel_store_visit(store, "s", count_visit, &v, &err), &err);
    assert_int_equal(v.participants, 2105);
    assert_int_equal(v.out_of_order, 0);
    mel_store_close(store);
}

/* The one number that a query on a file gives, by the library alone. */
static int query(const char *path, const char *text)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int value = sqlite3_column_int(statement, 0);
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    return value;
}

static void test_copy(void **state)
{
    (void)state;
    mel_error err;
    const char *url = test_fresh_url(), *path = test_store_file("copy.db");
    mel_store *store = test_store_open(url);
    fill(store);
    assert_ok(mel_store_put(store, "secret", "x", 1, 0, &err), &err);
    assert_ok(test_store_image(store, "s", path, &err), &err);
    assert_int_equal(query(path, "SELECT count(*) FROM study"), 1);
    assert_int_equal(query(path, "SELECT count(*) FROM participant"), 3);
    assert_int_equal(query(path, "SELECT count(*) FROM event"), 5);
    assert_int_equal(query(path, "SELECT count(token) FROM participant"), 0);
    assert_int_equal(query(path, "SELECT count(*) FROM thing"), 0);
    assert_int_equal(query(path, "SELECT seed = '18446744073709551614' FROM participant WHERE label = 'ä'"),
                     1);
    assert_int_equal(access(test_path("copy.db-wal"), F_OK), -1); /* one file is all of it */
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 077, 0);
    /* Everything, over the copy before; and as a store. */
    assert_ok(test_store_image(store, NULL, path, &err), &err);
    mel_store *copy = test_store_open(path);
    assert_int_equal(test_events(copy, "a"), 3);
    assert_int_equal(test_events(copy, "d"), 1);
    assert_ok(test_store_verify(copy, &err), &err);
    mel_store_close(copy);
    assert_int_equal(test_store_image(store, "t", path, &err), MEL_EINVAL);
    assert_int_equal(query(path, "SELECT count(*) FROM study"), 2); /* left as it was */
    assert_int_equal(test_events(store, "a"), 3);
    mel_store_close(store);
}

static void test_reopen(void **state)
{
    (void)state;
    mel_error err;
    mel_append outcome;
    const char *url = test_fresh_url();
    mel_store *store = test_store_open(url);
    fill(store);
    mel_store_close(store);
    store = test_store_open(url);
    mel_store *second = test_store_open(url); /* as another process would */
    assert_int_equal(test_events(store, "a"), 3);
    assert_ok(test_append(&outcome, second, "a", 4, "k4", &err), &err);
    assert_ok(test_append(&outcome, store, "a", 4, "k4", &err), &err);
    assert_int_equal(outcome, MEL_REPLAYED);
    assert_int_equal(test_events(store, "a"), 4);
    mel_store_close(second);
    mel_store_close(store);
}

/* Tables as an earlier version made them are brought up to date, while a server that has them open goes on.
 */
#define OLDER(SCHEMA)                                                                                        \
    "DROP TABLE " SCHEMA "piece; DROP TABLE " SCHEMA "upload_use; DROP INDEX " SCHEMA "participant_created;" \
    "DROP INDEX " SCHEMA "participant_study_seen; DROP INDEX " SCHEMA "participant_seen;"                    \
    "DROP INDEX " SCHEMA "participant_state;"                                                                \
    "DROP INDEX " SCHEMA "thing_expires; ALTER TABLE " SCHEMA "study DROP COLUMN deleted;"                   \
    "ALTER TABLE " SCHEMA "thing DROP COLUMN more; ALTER TABLE " SCHEMA "event ADD COLUMN reply TEXT;"       \
    "UPDATE " SCHEMA "event SET reply = '{}';"                                                               \
    "UPDATE " SCHEMA "participant SET about = '{\"x\":\"upload:ours\"}' WHERE id IN ('a', 'b');"

static void test_older(void **state)
{
    (void)state;
    mel_error err;
    mel_append outcome;
    void *bytes;
    size_t n;
    const char *url = test_fresh_url(), *upload = "upload:ours";
    mel_store *store = test_store_open(url);
    fill(store);
    assert_ok(mel_store_put(store, upload, "x", 1, 8000000000000, &err), &err);
    mel_store_close(store);
    change(url, OLDER("") "PRAGMA user_version=1",
           OLDER("melicit.") "DROP INDEX melicit.thing_name; UPDATE melicit.schema_version SET version = 1");
    store = test_store_open(url);
    assert_int_equal(test_events(store, "a"), 3);
    assert_ok(test_append(&outcome, store, "a", 4, "k4", &err), &err);
    assert_ok(test_store_verify(store, &err), &err);
    /* Both need the upload: it goes with the second of them. */
    assert_ok(test_erase_one(store, "a", &upload, 1), &err);
    assert_thing(store, upload, "x", 1);
    assert_ok(test_erase_one(store, "b", &upload, 1), &err);
    assert_int_equal(mel_store_get(&bytes, &n, store, upload, &err), MEL_EINVAL);
    mel_store_close(store);
}

static void test_newer_and_damaged(void **state)
{
    (void)state;
    mel_error err;
    const char *url = test_fresh_url();
    mel_store *store = test_store_open(url);
    fill(store);
    change(url, "DELETE FROM event WHERE participant = 'a' AND seq = 2",
           "DELETE FROM melicit.event WHERE participant = 'a' AND seq = 2");
    assert_int_equal(test_store_verify(store, &err), MEL_EDATA);
    assert_string_equal(err.text, "participant a: the log has a gap");
    mel_store_close(store);
    change(url, "PRAGMA user_version=99", "UPDATE melicit.schema_version SET version = 99");
    assert_int_equal(mel_store_open(&store, url, &err), MEL_EDATA);
    assert_null(store);
    assert_non_null(strstr(err.text, "newer melicit (schema 99"));
}

static void test_bad_urls(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        mel_status want;
        const char *sentence;
    } rows[] = {
        { "", MEL_EINVAL, "no file name" },
        { "sqlite:", MEL_EINVAL, "no file name" },
        { ":memory:", MEL_EINVAL, "no file name" },
        { "mysql://host/db", MEL_EINVAL, "not mysql://" },
        { "sqlite:file:x.db?mode=memory", MEL_EINVAL, "cannot begin with file:" },
        { "/nowhere/at/all.db", MEL_EIO, "/nowhere/at/all.db: cannot be created: No such file" },
        { "/", MEL_EIO, "/:" },
        { "postgres:///x?host=/nowhere&password=hunter2", MEL_EIO, "PostgreSQL" },
        { "postgres://%%%", MEL_EIO, "PostgreSQL" },
    };
    mel_error err;
    mel_store *store;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const bool postgres = strncmp(rows[i].url, "postgres", 8) == 0;
        print_message("  \"%s\"\n", rows[i].url);
        const mel_status want = postgres && !mel_store_has_postgres() ? MEL_EINVAL : rows[i].want;
        assert_int_equal(mel_store_open(&store, rows[i].url, &err), want);
        assert_null(store);
        assert_non_null(strstr(err.text, rows[i].sentence));
        assert_null(strstr(err.text, "hunter2"));
        assert_int_equal(mel_store_open(&store, rows[i].url, NULL), want);
    }
    mel_store_close(NULL);
}

static void test_foreign_files(void **state)
{
    (void)state;
    if (test_on_postgres())
        return;
    mel_error err;
    mel_store *store;
    char bytes[4096];
    memset(bytes, 'x', sizeof bytes);
    const char *text = test_file("text.db", bytes, sizeof bytes), *other = test_store_file("other.db");
    assert_int_equal(mel_store_open(&store, text, &err), MEL_EDATA);
    assert_true(file_holds(text, "xxxxxxxxxxxxxxxx"));
    change(other, "CREATE TABLE mine (x)", "");
    assert_int_equal(mel_store_open(&store, other, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "another program"));
    assert_int_equal(query(other, "SELECT count(*) FROM sqlite_schema"), 1);
    /* The file is nobody else's business. */
    const char *fresh = test_store_file("fresh.db");
    char url[512];
    (void)snprintf(url, sizeof url, "sqlite:%s", fresh);
    store = test_store_open(url);
    test_add_study(store, "s");
    struct stat about;
    assert_int_equal(stat(fresh, &about), 0);
    assert_int_equal(about.st_mode & 077, 0);
    assert_int_equal(stat(test_path("fresh.db-wal"), &about), 0);
    assert_int_equal(about.st_mode & 077, 0);
    mel_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_studies),
        cmocka_unit_test(test_participants),
        cmocka_unit_test(test_participants_refused),
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_append_refused),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_delete),
        cmocka_unit_test(test_things),
        cmocka_unit_test(test_erase),
        cmocka_unit_test(test_delete_study),
        cmocka_unit_test(test_expiry),
        cmocka_unit_test(test_visit),
        cmocka_unit_test(test_visit_many),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_reopen),
        cmocka_unit_test(test_no_table_is_scanned),
        cmocka_unit_test(test_older),
        cmocka_unit_test(test_newer_and_damaged),
        cmocka_unit_test(test_bad_urls),
        cmocka_unit_test(test_foreign_files),
    };
    return test_both_stores(tests, COUNT(tests));
}
