/* What tests of the store share: a PostgreSQL server of their own, rows, both stores under one name. */
#ifndef MEL_TEST_STORE_H
#define MEL_TEST_STORE_H

#include "support/test.h"

#include "server/store.h"

/* Starts Debian's server in a temporary folder, reachable through a socket there only, and gives its URL;
 * NULL with a printed reason when there is none. Stopped, with its folder removed, by test_postgres_stop.
 * durable: it syncs, as a real one does. */
const char *test_postgres_start(bool durable);
void test_postgres_stop(void);
/* For servers that go away: what pg_ctl does. */
void test_postgres_halt(void);
void test_postgres_resume(void);
/* Runs SQL text as the owner. */
void test_postgres_sql(const char *url, const char *text);

/* The path of a store's file that is not there yet. */
const char *test_store_file(const char *name);
void test_postgres_empty(const char *url);
/* Runs the tests on an SQLite file, then on PostgreSQL if there is one; the number of those that failed. */
int test_both_stores(const struct CMUnitTest *tests, size_t n);
/* Which store it is now, and the URL of a new and empty one. */
bool test_on_postgres(void);
const char *test_fresh_url(void);

mel_store *test_store_open(const char *url);
void test_add_study(mel_store *store, const char *id);
/* Tokens are made from ids; label may be NULL. */
void test_add_participant(mel_store *store, const char *study, const char *id, const char *label);
void test_token(unsigned char token[MEL_HASH_BYTES], const char *id);
/* An event with a body that names participant and seq. */
mel_status test_append(mel_append *outcome, mel_store *store, const char *participant, uint32_t seq,
                       const char *key, mel_error *err);
/* Number of events; their numbers, bodies and replies must be those of test_append. */
size_t test_events(mel_store *store, const char *participant);
/* mel_store_erase of one participant, with these uploads. */
mel_status test_erase_one(mel_store *store, const char *participant, const char *const *upload, size_t n);
/* Whether writing works now (a disk may be full): one blob written and removed. */
mel_status test_store_check(mel_store *store, mel_error *err);
/* Reads everything: MEL_EDATA names the first damage (pages and references of a file, gaps in a log). */
mel_status test_store_verify(mel_store *store, mel_error *err);
/* What all blobs whose names begin so take together. */
int64_t test_store_bytes(mel_store *store, const char *prefix);
/* mel_store_image under a name. */
mel_status test_store_image(mel_store *store, const char *study, const char *path, mel_error *err);
/* Waits for a child process, which must exit with 0. */
void test_child(int pid);

#endif
