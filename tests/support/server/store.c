/* What tests of the store share: a PostgreSQL server of their own, rows, both stores under one name. */
#include "support/server/store.h"

#include "server/sqlite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *test_store_file(const char *name)
{
    char other[128];
    const char *path = test_path(name);
    (void)unlink(path);
    static const char *const suffixes[] = { "-wal", "-shm", "-journal" };
    for (size_t i = 0; i < COUNT(suffixes); i++) { /* registered, so that test_cleanup removes them */
        (void)snprintf(other, sizeof other, "%s%s", name, suffixes[i]);
        (void)unlink(test_path(other));
    }
    return path;
}

static const char *postgres;

bool test_on_postgres(void)
{
    return postgres != NULL;
}

const char *test_fresh_url(void)
{
    if (postgres == NULL)
        return test_store_file("store.db");
    test_postgres_empty(postgres);
    return postgres;
}

/* cmocka's macro wants an array whose size it can see, hence the function behind it. */
int test_both_stores(const struct CMUnitTest *tests, size_t n)
{
    int failed = _cmocka_run_group_tests("SQLite", tests, n, NULL, NULL);
    postgres = test_postgres_start(false);
    if (postgres != NULL)
        failed += _cmocka_run_group_tests("PostgreSQL", tests, n, NULL, NULL);
    test_postgres_stop();
    test_cleanup();
    return failed;
}

mel_store *test_store_open(const char *url)
{
    mel_error err;
    mel_store *store;
    assert_ok(mel_store_open(&store, url, &err), &err);
    return store;
}

void test_add_study(mel_store *store, const char *id)
{
    mel_error err;
    char file[] = "{\"title\": \"Prüfung\"}";
    mel_study_row study = { .file = file, .state = "open", .created = 1700000000123 };
    (void)snprintf(study.id, sizeof study.id, "%s", id);
    assert_ok(mel_store_add_study(store, &study, &err), &err);
}

void test_token(unsigned char token[MEL_HASH_BYTES], const char *id)
{
    memset(token, 0, MEL_HASH_BYTES);
    token[0] = 1;
    for (size_t i = 0; id[i] != '\0' && i + 1 < MEL_HASH_BYTES; i++)
        token[i + 1] = (unsigned char)id[i];
}

void test_add_participant(mel_store *store, const char *study, const char *id, const char *label)
{
    mel_error err;
    char about[] = "{\"link\": \"anonymous\"}", copy[64];
    mel_participant_row p = {
        .about = about, .state = "active", .created = 5, .seen = 5, .seed = UINT64_MAX - 1
    };
    (void)snprintf(copy, sizeof copy, "%s", label != NULL ? label : "");
    p.label = label != NULL ? copy : NULL;
    (void)snprintf(p.id, sizeof p.id, "%s", id);
    (void)snprintf(p.study, sizeof p.study, "%s", study);
    test_token(p.token, id);
    assert_ok(mel_store_add_participant(store, &p, &err), &err);
}

static void write_body(char *out, size_t size, const char *participant, uint32_t seq)
{
    (void)snprintf(out, size, "{\"of\": \"%s\", \"number\": %u}", participant, (unsigned)seq);
}

mel_status test_append(mel_append *outcome, mel_store *store, const char *participant, uint32_t seq,
                       const char *key, mel_error *err)
{
    char body[96];
    mel_event_row event = { .seq = seq, .body = body, .time = 1000 + (int64_t)seq };
    write_body(body, sizeof body, participant, seq);
    (void)snprintf(event.key, sizeof event.key, "%s", key);
    return mel_store_append(outcome, NULL, store, participant, &event, NULL, err);
}

size_t test_events(mel_store *store, const char *participant)
{
    mel_error err;
    mel_event_row *rows;
    size_t n;
    assert_ok(mel_store_events(&rows, &n, store, participant, &err), &err);
    for (size_t i = 0; i < n; i++) {
        char body[96];
        write_body(body, sizeof body, participant, (uint32_t)i + 1);
        assert_int_equal(rows[i].seq, i + 1);
        assert_string_equal(rows[i].body, body);
        assert_int_equal(rows[i].time, 1001 + i);
    }
    mel_event_rows_free(rows, n);
    return n;
}

void test_child(int pid)
{
    int status = -1;
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

mel_status test_erase_one(mel_store *store, const char *participant, const char *const *upload, size_t n)
{
    mel_erasure who = { .n_uploads = n };
    (void)snprintf(who.id, sizeof who.id, "%s", participant);
    for (size_t i = 0; i < n; i++)
        who.upload[i] = upload[i];
    return mel_store_erase(store, &who, 1, NULL);
}

mel_status test_store_check(mel_store *store, mel_error *err)
{
    TRY(mel_store_put(store, "check", "", 0, 0, err));
    return mel_store_remove(store, "check", err);
}

static mel_status check_seq(void *user, const mel_participant_row *participant, const mel_event_row *event,
                            mel_error *err)
{
    uint32_t *last = user;
    const uint32_t due = event != NULL ? *last + 1 : 0;
    *last = due;
    return event == NULL || event->seq == due
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "participant %s: the log has a gap", participant->id);
}

static mel_status check_file(mel_sql *sql, void *context, mel_error *err)
{
    (void)context;
    mel_sqlite *c = (mel_sqlite *)sql;
    char line[256];
    TRY(mel_sqlite_line(line, sizeof line, c, "PRAGMA integrity_check(1)", err));
    if (strcmp(line, "ok") != 0)
        return mel_fail(err, MEL_EDATA, "%s: %s", c->path, line);
    TRY(mel_sqlite_line(line, sizeof line, c, "SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1", err));
    return line[0] == '\0'
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "%s: a row of table %s refers to nothing", c->path, line);
}

mel_status test_store_verify(mel_store *store, mel_error *err)
{
    mel_study_row *row = NULL;
    size_t n = 0;
    uint32_t last = 0;
    if (store->path != NULL)
        TRY(store->read(store, check_file, NULL, err));
    mel_status status = mel_store_studies(&row, &n, store, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        status = mel_store_visit(store, row[i].id, check_seq, &last, err);
    mel_study_rows_free(row, n);
    return status;
}

static mel_status add_bytes(void *user, const char *name, int64_t bytes, int64_t expires, mel_error *err)
{
    (void)name;
    (void)expires;
    (void)err;
    *(int64_t *)user += bytes;
    return MEL_OK;
}

int64_t test_store_bytes(mel_store *store, const char *prefix)
{
    int64_t bytes = 0;
    assert_int_equal(mel_store_blobs(store, prefix, add_bytes, &bytes, NULL), MEL_OK);
    return bytes;
}

mel_status test_store_image(mel_store *store, const char *study, const char *path, mel_error *err)
{
    int from = -1;
    char piece[8192];
    TRY(mel_store_image(&from, store, study, NULL, err));
    const int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(to >= 0 && lseek(from, 0, SEEK_SET) == 0);
    for (ssize_t n = 1; n > 0;) {
        n = read(from, piece, sizeof piece);
        assert_true(n >= 0 && write(to, piece, (size_t)n) == n);
    }
    assert_int_equal(close(from) + close(to), 0);
    return MEL_OK;
}
