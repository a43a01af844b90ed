/* Disks that fill up or fail, memory that runs out inside SQLite, other programs in the way, servers that go
 * away: what was acknowledged is stored, nothing else is, and everything works again afterwards. */
#include "support/server/store.h"

#include <glob.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A layer over SQLite's own file access whose n-th write, truncation or sync fails, and those after it, until
 * healed; or that one only. Syncs that succeed are left out: nobody pulls the plug here. */
static struct {
    sqlite3_vfs vfs, *real;
    atomic_long left; /* operations before the failing one */
    atomic_bool armed, once, syncs_only;
    int code;
} disk;

typedef struct {
    sqlite3_file base;
    sqlite3_file *real;
} disk_file;

static int fails(bool sync)
{
    if (!disk.armed || (disk.syncs_only && !sync))
        return SQLITE_OK;
    const long left = atomic_fetch_sub(&disk.left, 1);
    return left == 0 || (left < 0 && !disk.once) ? disk.code : SQLITE_OK;
}

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((disk_file *)file)->real;
}

static int disk_close(sqlite3_file *f)
{
    return real_of(f)->pMethods->xClose(real_of(f));
}

static int disk_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    return real_of(f)->pMethods->xRead(real_of(f), to, n, at);
}

static int disk_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
    const int code = fails(false);
    if (code != SQLITE_OK) /* half of it may have arrived */
        (void)real_of(f)->pMethods->xWrite(real_of(f), from, n / 2, at);
    return code != SQLITE_OK ? code : real_of(f)->pMethods->xWrite(real_of(f), from, n, at);
}

static int disk_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    const int code = fails(false);
    return code != SQLITE_OK ? code : real_of(f)->pMethods->xTruncate(real_of(f), size);
}

static int disk_sync(sqlite3_file *f, int flags)
{
    (void)f;
    (void)flags;
    return fails(true);
}

static int disk_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return real_of(f)->pMethods->xFileSize(real_of(f), size);
}

static int disk_lock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xLock(real_of(f), level);
}

static int disk_unlock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xUnlock(real_of(f), level);
}

static int disk_reserved(sqlite3_file *f, int *out)
{
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), out);
}

static int disk_control(sqlite3_file *f, int op, void *arg)
{
    return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}

static int disk_sector(sqlite3_file *f)
{
    return real_of(f)->pMethods->xSectorSize(real_of(f));
}

static int disk_traits(sqlite3_file *f)
{
    return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}

static int disk_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
    return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, out);
}

static int disk_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
}

static void disk_shm_barrier(sqlite3_file *f)
{
    real_of(f)->pMethods->xShmBarrier(real_of(f));
}

static int disk_shm_unmap(sqlite3_file *f, int remove_it)
{
    return real_of(f)->pMethods->xShmUnmap(real_of(f), remove_it);
}

static const sqlite3_io_methods disk_methods = {
    2,           disk_close,   disk_read,     disk_write,       disk_truncate,  disk_sync,
    disk_size,   disk_lock,    disk_unlock,   disk_reserved,    disk_control,   disk_sector,
    disk_traits, disk_shm_map, disk_shm_lock, disk_shm_barrier, disk_shm_unmap, NULL,
    NULL,
};

static int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    (void)vfs;
    disk_file *f = (disk_file *)file;
    f->real = (sqlite3_file *)(f + 1);
    const int code = disk.real->xOpen(disk.real, name, f->real, flags, out);
    f->base.pMethods = f->real->pMethods != NULL ? &disk_methods : NULL;
    return code;
}

static void install_disk(void)
{
    disk.real = sqlite3_vfs_find(NULL);
    disk.vfs = *disk.real;
    disk.vfs.zName = "failing";
    disk.vfs.szOsFile = (int)sizeof(disk_file) + disk.real->szOsFile;
    disk.vfs.xOpen = disk_open;
    assert_int_equal(sqlite3_vfs_register(&disk.vfs, 1), SQLITE_OK);
}

static void break_disk(long n, int code, bool once, bool syncs_only)
{
    disk.code = code;
    disk.once = once;
    disk.syncs_only = syncs_only;
    disk.left = n;
    disk.armed = true;
}

/* Whether it had come to fail. */
static bool heal_disk(void)
{
    disk.armed = false;
    return disk.left < 0;
}

static const struct {
    const char *name;
    int code;
    bool syncs_only;
} kinds[] = { { "disk full", SQLITE_FULL, false },
              { "write error", SQLITE_IOERR_WRITE, false },
              { "sync error", SQLITE_IOERR_FSYNC, true } };

static mel_store *open_with_participants(const char *path, int n)
{
    mel_store *store = test_store_open(path);
    test_add_study(store, "s");
    for (int i = 0; i < n; i++) {
        const char id[2] = { (char)('a' + i), '\0' };
        test_add_participant(store, "s", id, NULL);
    }
    return store;
}

enum { APPENDS = 6 };

/* Appends until one fails; how many were acknowledged. */
static uint32_t append_until_failure(mel_store *store, uint32_t from, const char *path)
{
    for (uint32_t seq = from; seq <= APPENDS; seq++) {
        mel_error err;
        mel_append outcome;
        char key[8];
        (void)snprintf(key, sizeof key, "k%u", (unsigned)seq);
        const mel_status status = test_append(&outcome, store, "a", seq, key, &err);
        if (status != MEL_OK) {
            assert_int_equal(status, MEL_EIO);
            assert_non_null(strstr(err.text, path));
            return seq - 1;
        }
        assert_int_equal(outcome, MEL_APPENDED);
    }
    return APPENDS;
}

/* The disk fails from its n-th operation on and is healed while the store is open. False: it never failed. */
static bool fail_and_recover(long n, size_t kind)
{
    mel_error err;
    const char *path = test_store_file("faulty.db");
    mel_store *store = open_with_participants(path, 1);
    break_disk(n, kinds[kind].code, false, kinds[kind].syncs_only);
    const uint32_t acknowledged = append_until_failure(store, 1, path);
    assert_int_equal(test_events(store, "a"), acknowledged); /* reading goes on */
    const bool working = test_store_check(store, &err) == MEL_OK;
    const bool failed = heal_disk();
    if (failed)
        assert_false(working);
    assert_ok(test_store_check(store, &err), &err);
    assert_int_equal(test_events(store, "a"), acknowledged);
    assert_int_equal(append_until_failure(store, acknowledged + 1, path), APPENDS);
    mel_store_close(store);
    store = test_store_open(path);
    assert_int_equal(test_events(store, "a"), APPENDS);
    assert_ok(test_store_verify(store, &err), &err);
    mel_store_close(store);
    return failed;
}

static void test_recovers(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        long n = 0;
        while (fail_and_recover(n, kind))
            n++;
        print_message("  %s: %ld places\n", kinds[kind].name, n);
        assert_true(n >= APPENDS);
    }
}

/* The process ends while the disk still fails. A commit whose sync failed may be found afterwards,
 * unacknowledged, but what was acknowledged is there. */
static void test_closed_while_failing(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        bool failed = true;
        for (long n = 0; failed; n++) {
            mel_error err;
            const char *path = test_store_file("faulty.db");
            mel_store *store = open_with_participants(path, 1);
            break_disk(n, kinds[kind].code, false, kinds[kind].syncs_only);
            const uint32_t acknowledged = append_until_failure(store, 1, path);
            mel_store_close(store);
            failed = heal_disk();
            store = test_store_open(path);
            const size_t stored = test_events(store, "a");
            assert_true(stored >= acknowledged && stored <= (size_t)acknowledged + (acknowledged < APPENDS));
            assert_ok(test_store_verify(store, &err), &err);
            mel_store_close(store);
        }
    }
}

static void test_failing_open(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        bool failed = true;
        for (long n = 0; failed; n++) {
            mel_error err;
            const char *path = test_store_file("faulty.db");
            mel_store *store;
            break_disk(n, kinds[kind].code, false, kinds[kind].syncs_only);
            const mel_status status = mel_store_open(&store, path, &err);
            failed = heal_disk();
            if (status != MEL_OK) {
                assert_true(failed);
                assert_int_equal(status, MEL_EIO);
                assert_null(store);
            }
            mel_store_close(store);
            store = open_with_participants(path, 1);
            assert_int_equal(append_until_failure(store, 1, path), APPENDS);
            mel_store_close(store);
        }
    }
}

/* Clients that send again what was not acknowledged, and a disk with single failures: jobs that share a
 * transaction with a failure. */
typedef struct {
    mel_store *store;
    char id[2];
    int odd; /* answers that should not be */
} client;

static void *append_with_retries(void *context)
{
    client *c = context;
    char key[8];
    for (uint32_t seq = 1; seq <= APPENDS; seq++) {
        mel_append outcome = MEL_STALE;
        int tries = 0;
        (void)snprintf(key, sizeof key, "k%u", (unsigned)seq);
        while (test_append(&outcome, c->store, c->id, seq, key, NULL) != MEL_OK && tries < 100)
            tries++;
        if (outcome != MEL_APPENDED)
            c->odd++;
    }
    return NULL;
}

static void run_clients(mel_store *store, client *clients, int n)
{
    pthread_t threads[8];
    for (int i = 0; i < n; i++) {
        clients[i] = (client){ .store = store, .id = { (char)('a' + i), '\0' } };
        assert_int_equal(pthread_create(&threads[i], NULL, append_with_retries, &clients[i]), 0);
    }
    for (int i = 0; i < n; i++)
        (void)pthread_join(threads[i], NULL);
}

static void test_batches(void **state)
{
    (void)state;
    enum { CLIENTS = 8 };
    for (size_t kind = 0; kind < COUNT(kinds); kind++)
        for (long n = 0; n < 12; n++) {
            mel_error err;
            client clients[CLIENTS];
            mel_store *store = open_with_participants(test_store_file("faulty.db"), CLIENTS);
            break_disk(n, kinds[kind].code, true, kinds[kind].syncs_only);
            run_clients(store, clients, CLIENTS);
            (void)heal_disk();
            for (int i = 0; i < CLIENTS; i++) {
                assert_int_equal(clients[i].odd, 0);
                assert_int_equal(test_events(store, clients[i].id), APPENDS);
            }
            assert_ok(test_store_verify(store, &err), &err);
            mel_store_close(store);
        }
}

static void test_failing_copy(void **state)
{
    (void)state;
    const char *path = test_store_file("faulty.db");
    mel_store *store = open_with_participants(path, 3);
    assert_int_equal(append_until_failure(store, 1, path), APPENDS);
    mel_status status = MEL_EIO;
    long n = 0;
    for (; status != MEL_OK; n++) {
        mel_error err;
        const char *copy = test_store_file("copy.db");
        break_disk(n, SQLITE_FULL, false, false);
        status = test_store_image(store, "s", copy, &err);
        const bool failed = heal_disk();
        assert_int_equal(status, failed ? MEL_EIO : MEL_OK);
        assert_int_equal(access(copy, F_OK), failed ? -1 : 0);
    }
    assert_true(n > 3);
    char pattern[512];
    glob_t found = { 0 };
    (void)snprintf(pattern, sizeof pattern, "%s.export*", path);
    assert_int_equal(glob(pattern, 0, NULL, &found), GLOB_NOMATCH); /* nothing is left behind */
    globfree(&found);
    assert_int_equal(test_events(store, "a"), APPENDS);
    mel_store_close(store);
}

/* SQLite's allocations, of which one fails. */
static struct {
    sqlite3_mem_methods real;
    atomic_long left;
    atomic_bool armed;
} memory;

static bool memory_fails(void)
{
    return memory.armed && atomic_fetch_sub(&memory.left, 1) == 0;
}

static void *failing_malloc(int n)
{
    return memory_fails() ? NULL : memory.real.xMalloc(n);
}

static void *failing_realloc(void *block, int n)
{
    return memory_fails() ? NULL : memory.real.xRealloc(block, n);
}

enum { SHORT = 3 };

/* How many appends a store of one life acknowledged. */
static uint32_t short_life(const char *path)
{
    mel_store *store;
    mel_error err;
    char key[8];
    uint32_t acknowledged = 0;
    mel_status status = mel_store_open(&store, path, &err);
    while (status == MEL_OK && acknowledged < SHORT) {
        mel_append outcome;
        (void)snprintf(key, sizeof key, "k%u", (unsigned)acknowledged + 1);
        status = test_append(&outcome, store, "a", acknowledged + 1, key, &err);
        if (status == MEL_OK)
            acknowledged++;
    }
    if (status == MEL_OK) {
        mel_event_row *events;
        size_t n;
        status = mel_store_events(&events, &n, store, "a", &err);
        assert_int_equal(n, status == MEL_OK ? SHORT : 0);
        mel_event_rows_free(events, n);
    }
    assert_true(status == MEL_OK || status == MEL_ENOMEM || status == MEL_EIO);
    mel_store_close(store);
    return acknowledged;
}

static size_t read_file(char *bytes, size_t size, const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, size, file);
    (void)fclose(file);
    assert_true(n > 0 && n < size);
    return n;
}

static void test_sqlite_memory(void **state)
{
    (void)state;
    static char bytes[1 << 18];
    const char *path = test_store_file("used.db");
    mel_store_close(open_with_participants(path, 1));
    const size_t size = read_file(bytes, sizeof bytes, path);
    const sqlite3_int64 before = sqlite3_memory_used();
    const long step = getenv("MELICIT_SOAK") != NULL ? 1 : 3;
    bool failed = true;
    long n = 0;
    for (; failed; n += step) {
        mel_error err;
        (void)test_store_file("used.db");
        (void)test_file("used.db", bytes, size);
        memory.left = n;
        memory.armed = true;
        const uint32_t acknowledged = short_life(path);
        memory.armed = false;
        failed = memory.left < 0;
        assert_int_equal(sqlite3_memory_used(), before);
        mel_store *store = test_store_open(path);
        assert_int_equal(test_events(store, "a"), acknowledged);
        assert_ok(test_store_verify(store, &err), &err);
        mel_store_close(store);
    }
    print_message("  %ld allocations\n", n);
}

/* Another program that keeps the file locked for a while. */
typedef struct {
    sqlite3 *db;
    atomic_bool holds;
} holder;

static void *hold_lock(void *context)
{
    holder *h = context;
    const struct timespec while_ = { 0, 300000000 };
    if (sqlite3_exec(h->db, "BEGIN EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK)
        h->holds = true;
    (void)nanosleep(&while_, NULL);
    (void)sqlite3_exec(h->db, "COMMIT", NULL, NULL, NULL);
    return NULL;
}

static void test_locked(void **state)
{
    (void)state;
    const char *path = test_store_file("shared.db");
    mel_store *store = open_with_participants(path, 1);
    holder h = { 0 };
    pthread_t thread;
    assert_int_equal(sqlite3_open(path, &h.db), SQLITE_OK);
    assert_int_equal(pthread_create(&thread, NULL, hold_lock, &h), 0);
    while (!h.holds)
        (void)sqlite3_sleep(1);
    assert_int_equal(test_events(store, "a"), 0); /* readers need not wait */
    assert_int_equal(append_until_failure(store, 1, path), APPENDS);
    (void)pthread_join(thread, NULL);
    assert_int_equal(sqlite3_close(h.db), SQLITE_OK);
    mel_store_close(store);
}

static void test_read_only(void **state)
{
    (void)state;
    if (geteuid() == 0) {
        print_message("  left out: root may write to any file\n");
        return;
    }
    mel_error err;
    mel_store *store;
    const char *path = test_store_file("locked.db");
    mel_store_close(open_with_participants(path, 1));
    assert_int_equal(chmod(path, S_IRUSR), 0);
    assert_int_equal(mel_store_open(&store, path, &err), MEL_EIO);
    assert_int_equal(chmod(path, S_IRUSR | S_IWUSR), 0);
}

static const char *postgres;

static void test_server_away(void **state)
{
    (void)state;
    mel_error err;
    mel_append outcome;
    mel_study_row study;
    mel_store *other;
    test_postgres_empty(postgres);
    mel_store *store = open_with_participants(postgres, 1);
    assert_int_equal(append_until_failure(store, 1, ""), APPENDS);
    test_postgres_halt();
    assert_int_equal(test_append(&outcome, store, "a", APPENDS + 1, "next", &err), MEL_EIO);
    assert_non_null(strstr(err.text, "PostgreSQL"));
    assert_int_equal(mel_store_study(&study, store, "s", &err), MEL_EIO);
    assert_int_equal(test_store_check(store, &err), MEL_EIO);
    assert_int_equal(mel_store_open(&other, postgres, &err), MEL_EIO);
    test_postgres_resume();
    assert_ok(test_store_check(store, &err), &err);
    assert_ok(test_append(&outcome, store, "a", APPENDS + 1, "next", &err), &err);
    assert_int_equal(outcome, MEL_APPENDED);
    assert_int_equal(test_events(store, "a"), APPENDS + 1);
    /* Restarted between two calls: nobody notices. */
    test_postgres_halt();
    test_postgres_resume();
    assert_ok(test_append(&outcome, store, "a", APPENDS + 2, "last", &err), &err);
    test_postgres_halt();
    test_postgres_resume();
    assert_int_equal(test_events(store, "a"), APPENDS + 2);
    mel_store_close(store);
}

/* Connections that are cut at any moment. */
static void *append_through_cuts(void *context)
{
    client *c = context;
    char key[16];
    for (uint32_t seq = 1; seq <= 200; seq++) {
        mel_append outcome = MEL_STALE;
        int tries = 0;
        (void)snprintf(key, sizeof key, "k%u", (unsigned)seq);
        while (test_append(&outcome, c->store, c->id, seq, key, NULL) != MEL_OK && tries < 100)
            tries++;
        if (outcome != MEL_APPENDED && !(outcome == MEL_REPLAYED && tries > 0))
            c->odd++;
    }
    return NULL;
}

static void test_cut_connections(void **state)
{
    (void)state;
    enum { CLIENTS = 4 };
    pthread_t threads[CLIENTS];
    client clients[CLIENTS];
    test_postgres_empty(postgres);
    mel_store *store = open_with_participants(postgres, CLIENTS);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (client){ .store = store, .id = { (char)('a' + i), '\0' } };
        assert_int_equal(pthread_create(&threads[i], NULL, append_through_cuts, &clients[i]), 0);
    }
    for (int i = 0; i < 5; i++)
        test_postgres_sql(postgres, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                                    " WHERE application_name = 'melicit'");
    for (int i = 0; i < CLIENTS; i++)
        (void)pthread_join(threads[i], NULL);
    for (int i = 0; i < CLIENTS; i++) {
        assert_int_equal(clients[i].odd, 0);
        assert_int_equal(test_events(store, clients[i].id), 200);
    }
    mel_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recovers),     cmocka_unit_test(test_closed_while_failing),
        cmocka_unit_test(test_failing_open), cmocka_unit_test(test_batches),
        cmocka_unit_test(test_failing_copy), cmocka_unit_test(test_sqlite_memory),
        cmocka_unit_test(test_locked),       cmocka_unit_test(test_read_only),
    };
    const struct CMUnitTest away[] = {
        cmocka_unit_test(test_server_away),
        cmocka_unit_test(test_cut_connections),
    };
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory.real) != SQLITE_OK)
        return 1;
    sqlite3_mem_methods failing = memory.real;
    failing.xMalloc = failing_malloc;
    failing.xRealloc = failing_realloc;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &failing) != SQLITE_OK)
        return 1;
    install_disk();
    int failed = cmocka_run_group_tests_name("SQLite", tests, NULL, NULL);
    postgres = test_postgres_start(false);
    if (postgres != NULL)
        failed += cmocka_run_group_tests_name("PostgreSQL", away, NULL, NULL);
    test_postgres_stop();
    test_cleanup();
    return failed;
}
