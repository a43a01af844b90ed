/* The web app as a whole: starting and stopping it, the key of its hashes, the hourly housekeeping. */
#include "server.h"

#include "languages.h"

#include "clock.h"
#include "manage.h"

#include "base/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the key of all hashes -------------------------------------------------------------------------- */

/* The store keeps the key itself or, where it is in a file, these bytes of its hash, by which it is
 * recognised. */
enum { MARK = 16, HEX = 2 * MEL_HASH_BYTES };
static const char name[] = "key";

static void mark_of(unsigned char mark[MARK], const unsigned char key[MEL_HASH_BYTES])
{
    crypto_generichash(mark, MARK, key, MEL_HASH_BYTES, NULL, 0);
}

/* --- in the store ------------------------------------------------------------------------------- */

static mel_status find_in_store(unsigned char key[MEL_HASH_BYTES], mel_store *store, mel_error *err)
{
    unsigned char mine[MEL_HASH_BYTES];
    MEL_AUTO_MEMORY void *stored = NULL;
    size_t n = 0;
    mel_status status = mel_store_get(&stored, &n, store, name, err);
    if (status == MEL_EINVAL) {
        randombytes_buf(mine, sizeof mine);
        status = mel_store_put_once(&stored, &n, store, name, mine, sizeof mine, err);
        sodium_memzero(mine, sizeof mine);
    }
    TRY(status);
    if (n == MARK)
        return mel_fail(err, MEL_EINVAL, "the key of this store is in a file of its own: name it with --key");
    if (n != MEL_HASH_BYTES)
        return mel_fail(err, MEL_EDATA, "the store's key has %zu bytes, not %d", n, MEL_HASH_BYTES);
    memcpy(key, stored, MEL_HASH_BYTES);
    return MEL_OK;
}

/* --- in a file ---------------------------------------------------------------------------------- */

/* *there: the file exists. */
static mel_status read_file(unsigned char key[MEL_HASH_BYTES], bool *there, const char *path, mel_error *err)
{
    char text[HEX + 2] = "";
    struct stat what;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *there = file >= 0;
    if (file < 0)
        return errno == ENOENT ? MEL_OK : mel_fail(err, MEL_EINVAL, "%s: %s", path, strerror(errno));
    const bool plain = fstat(file, &what) == 0 && S_ISREG(what.st_mode);
    const bool ours = plain && (what.st_mode & (S_IRWXG | S_IRWXO)) == 0;
    const ssize_t n = ours ? read(file, text, sizeof text - 1) : 0;
    (void)close(file);
    size_t bytes = 0;
    if (!ours)
        return mel_fail(err, MEL_EINVAL, "%s: expected a file that nobody but its owner can read (chmod 600)",
                        path);
    const bool good = n >= HEX && sodium_hex2bin(key, MEL_HASH_BYTES, text, HEX, NULL, &bytes, NULL) == 0 &&
                      bytes == MEL_HASH_BYTES;
    sodium_memzero(text, sizeof text);
    return good ? MEL_OK : mel_fail(err, MEL_EDATA, "%s: expected %d hexadecimal digits", path, HEX);
}

static mel_status write_file(const char *path, const unsigned char key[MEL_HASH_BYTES], mel_error *err)
{
    char text[HEX + 2];
    sodium_bin2hex(text, HEX + 1, key, MEL_HASH_BYTES);
    text[HEX] = '\n';
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    const bool written = file >= 0 && write(file, text, HEX + 1) == HEX + 1 && fsync(file) == 0;
    const int reason = errno;
    if (file >= 0)
        (void)close(file);
    sodium_memzero(text, sizeof text);
    return written ? MEL_OK : mel_fail(err, MEL_EIO, "%s: cannot be written: %s", path, strerror(reason));
}

/* The key that the file has or gets, given what the store has: n bytes, 0 for nothing. */
static mel_status settle(unsigned char key[MEL_HASH_BYTES], const void *stored, size_t n, const char *path,
                         mel_error *err)
{
    bool there = false;
    unsigned char mark[MARK];
    TRY(read_file(key, &there, path, err));
    if (!there && n == MARK)
        return mel_fail(err, MEL_EINVAL, "%s does not exist, and the store's key is nowhere else", path);
    if (!there) {
        randombytes_buf(key, MEL_HASH_BYTES);
        if (n == MEL_HASH_BYTES)
            memcpy(key, stored, n);
        TRY(write_file(path, key, err));
    }
    mark_of(mark, key);
    const bool same = n == 0 || (n == MARK ? sodium_memcmp(stored, mark, n) == 0
                                           : n == MEL_HASH_BYTES && sodium_memcmp(stored, key, n) == 0);
    return same ? MEL_OK
                : mel_fail(err, MEL_EINVAL,
                           "%s holds another key than the one that the store's tokens were made with", path);
}

/* Made where it is missing, with the key that the store had, which is then removed from the store: the store
 * alone is then not enough to make tokens. MEL_EINVAL: the store goes with another key. */
static mel_status find_in_file(unsigned char key[MEL_HASH_BYTES], mel_store *store, const char *path,
                               mel_error *err)
{
    MEL_AUTO_MEMORY void *stored = NULL;
    unsigned char mark[MARK];
    size_t n = 0;
    const mel_status found = mel_store_get(&stored, &n, store, name, err);
    if (found == MEL_EINVAL)
        n = 0;
    else
        TRY(found);
    TRY(settle(key, stored, n, path, err));
    mark_of(mark, key);
    return n != MARK ? mel_store_put(store, name, mark, sizeof mark, 0, err) : MEL_OK;
}

enum { TIDY_SECONDS = 3600, AGAIN_SECONDS = 60, LEARN_SECONDS = 20 };

struct mel_server {
    mel_app app;
    mel_http *http;
    char *public_url;
    unsigned workers;
    int64_t usual_room;         /* that the store has unless the limits say */
    char url[160];              /* where it listens */
    char token[MEL_TOKEN_TEXT]; /* "": was made earlier */
    pthread_t cleaner;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool cleaning;
    _Atomic bool stopping;
};

/* --- the application ---------------------------------------------------------------------------- */

mel_status mel_app_init(mel_app *app, mel_store *store, const char *const *folders, mel_error *err)
{
    return mel_app_init_with_key(app, store, NULL, folders, err);
}

mel_status mel_app_init_with_key(mel_app *app, mel_store *store, const char *key_path,
                                 const char *const *folders, mel_error *err)
{
    *app = (mel_app){ .store = store, .folders = folders };
    if (sodium_init() < 0)
        return mel_fail(err, MEL_ESTATE, "libsodium finds no source of random numbers");
    app->admission = mel_admission_new();
    if (app->admission == NULL)
        return mel_fail_memory(err, "the server");
    if (!mel_store_is_read_only(store)) { /* otherwise nobody can log in or join, and no link be made */
        TRY(key_path == NULL ? find_in_store(app->key, store, err)
                             : find_in_file(app->key, store, key_path, err));
        TRY(mel_manage_prepare(store, err));
    }
    return mel_cache_new(&app->cache, store, folders, app->admission, err);
}

void mel_app_clear(mel_app *app)
{
    mel_cache_free(app->cache);
    mel_admission_free(app->admission);
    mel_journal_close(app->requests);
    mel_journal_close(app->audit);
    free(app->metrics);
    sodium_memzero(app->key, sizeof app->key);
    app->cache = NULL;
}

/* --- what nobody waits for ---------------------------------------------------------------------- */

#define TRUSTED_TIME "tidied" /* the name in the store of two numbers of milliseconds: trusted, doubted */

/* Until which time things expire and people are forgotten. The store keeps that time. It goes on with the
 * clock as long as the two are within a day of each other. A clock that is further off, as one that is ahead
 * at the start, erases nobody: it is believed once servers have run with it for a day, over all restarts.
 * Where no time is stored yet, it is when anybody was last seen, or now if there is nobody to erase.
 * elapsed: milliseconds that the server ran since the last call. */
static mel_status trusted_time(int64_t *out, bool *in_doubt, mel_store *store, int64_t elapsed,
                               mel_error *err)
{
    const int64_t day = 86400000, now = mel_now();
    char text[48] = "", *end = text;
    MEL_AUTO_MEMORY void *bytes = NULL;
    size_t n = 0;
    int64_t trusted = 0, doubted = 0;
    const mel_status found = mel_store_get(&bytes, &n, store, TRUSTED_TIME, err);
    if (found == MEL_OK && n < sizeof text) {
        memcpy(text, bytes, n);
        trusted = strtoll(text, &end, 10);
        doubted = strtoll(end, NULL, 10);
    } else if (found == MEL_OK || found == MEL_EINVAL) {
        TRY(mel_store_newest(&trusted, store, err));
        trusted = trusted != 0 ? trusted : now;
    } else {
        return found;
    }
    trusted += elapsed;
    doubted += elapsed;
    *in_doubt = llabs(now - trusted) >= day && doubted < day;
    if (!*in_doubt) {
        trusted = now;
        doubted = 0;
    }
    *out = trusted < now ? trusted : now;
    (void)snprintf(text, sizeof text, "%lld %lld", (long long)trusted, (long long)doubted);
    return mel_store_put(store, TRUSTED_TIME, text, strlen(text), 0, err);
}

/* Tidies up every hour, and learns from participants so that those who join need not wait for it. What fails
 * is tried again. */
static void *clean(void *user)
{
    mel_server *server = user;
    mel_app *app = &server->app;
    double tidied = -TIDY_SECONDS, learned = -LEARN_SECONDS;
    int64_t counted = mel_clock_ms(CLOCK_MONOTONIC), till = 0;
    bool in_doubt = false;
    omp_set_num_threads(1); /* the other cores serve requests */
    pthread_mutex_lock(&server->lock);
    while (!server->stopping) {
        pthread_mutex_unlock(&server->lock);
        const double now = mel_clock_seconds(CLOCK_MONOTONIC);
        if (now - tidied >= TIDY_SECONDS || app->tidy_soon) {
            app->tidy_soon = false;
            const int64_t running = mel_clock_ms(CLOCK_MONOTONIC);
            mel_status status = trusted_time(&till, &in_doubt, app->store, running - counted, NULL);
            if (status == MEL_OK) {
                counted = running;
                status =
                    mel_manage_tidy_all(app->store, app->cache, app->audit, till, &server->stopping, NULL);
            }
            tidied = status == MEL_OK ? now : now - TIDY_SECONDS + AGAIN_SECONDS;
        }
        mel_disk_look(app->admission); /* for the metrics */
        if (now - learned >= LEARN_SECONDS) {
            (void)mel_manage_learn_all(app->store, app->cache, &server->stopping, NULL);
            learned = now;
        }
        pthread_mutex_lock(&server->lock);
        if (!server->stopping)
            mel_wait(&server->wake, &server->lock, 1.0);
    }
    pthread_mutex_unlock(&server->lock);
    if (in_doubt) /* the time since then counts after the next start */
        (void)trusted_time(&till, &in_doubt, app->store, mel_clock_ms(CLOCK_MONOTONIC) - counted, NULL);
    return NULL;
}

/* --- starting and stopping ---------------------------------------------------------------------- */

void mel_server_options_init(mel_server_options *opt)
{
    *opt = (mel_server_options){ .struct_size = sizeof *opt,
                                 .limits = { .keep_free = (int64_t)1 << 30,
                                             .upload_room = (int64_t)2 << 30,
                                             .joins = 120,
                                             .processor = 10.0,
                                             .memory = (size_t)120 << 20 } };
    mel_http_options_init(&opt->http);
    opt->http.upload_path = "/api/upload";
    opt->http.sender = mel_upload_sender;
    opt->http.answer_at_once = mel_handle_at_once;
}

/* Scheme and host, without a trailing slash. */
static mel_status check_url(char **out, const char *url, mel_error *err)
{
    *out = NULL;
    if (url == NULL)
        return MEL_OK;
    const char *host = strncmp(url, "https://", 8) == 0  ? url + 8
                       : strncmp(url, "http://", 7) == 0 ? url + 7
                                                         : NULL;
    size_t n = host != NULL ? strcspn(host, "/?#") : 0;
    if (n == 0 || (host[n] != '\0' && strcmp(host + n, "/") != 0))
        return mel_fail(err, MEL_EINVAL,
                        "the public URL '%.80s': expected https://HOST or http://HOST, without a path", url);
    *out = mel_strdup(url);
    if (*out == NULL)
        return mel_fail_memory(err, "the public URL");
    (*out)[(size_t)(host - url) + n] = '\0';
    return MEL_OK;
}

/* Where it listens, as one types it on the same machine. */
static void write_url(mel_server *server, const char *address)
{
    const bool any = strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0;
    const char *host = any ? "localhost" : address;
    (void)snprintf(server->url, sizeof server->url,
                   strchr(host, ':') != NULL ? "http://[%s]:%u" : "http://%s:%u", host,
                   (unsigned)mel_http_port(server->http));
}

const char *mel_server_url(const mel_server *server)
{
    return server->app.url;
}

static void set_limits(mel_server *server, const mel_limits *limits)
{
    mel_app *app = &server->app;
    app->admission->store_most = limits->store_room > 0 ? limits->store_room : server->usual_room;
    app->admission->disk_keep = limits->keep_free;
    app->upload_room = limits->upload_room;
    app->joins = limits->joins;
    app->processor = limits->processor;
    app->memory = 2 * limits->memory;
    mel_admission_limit(app->admission, server->workers, limits->memory);
}

static mel_status start(mel_server *server, const mel_server_options *opt, mel_error *err)
{
    mel_app *app = &server->app;
    TRY(mel_languages_load(err));
    TRY(mel_app_init_with_key(app, opt->store, opt->key_path, opt->folders, err));
    TRY(check_url(&server->public_url, opt->public_url, err));
    app->public_url = server->public_url;
    app->secure = app->public_url != NULL && strncmp(app->public_url, "https://", 8) == 0;
    app->datasets = opt->datasets;
    app->closed = opt->closed;
    server->workers = opt->http.workers;
    if (opt->metrics)
        app->metrics = mel_alloc_zero(1, sizeof *app->metrics);
    if (opt->metrics && app->metrics == NULL)
        return mel_fail_memory(err, "counts of requests");
    TRY(mel_journal_open(&app->requests, opt->request_log, err));
    TRY(mel_journal_open(&app->audit, opt->audit_log, err));
    server->usual_room = mel_disk_watch(app->admission, opt->store);
    set_limits(server, &opt->limits);
    bool mine = false, in_doubt;
    TRY(mel_admin_token_new(server->token, &mine, false, app, err));
    if (!mine)
        server->token[0] = '\0';
    int64_t till; /* before anybody is seen by a clock that may be wrong */
    (void)trusted_time(&till, &in_doubt, opt->store, 0, NULL);
    mel_http_options http = opt->http;
    http.secure = app->secure;
    http.admission = app->admission;
    TRY(mel_http_start(&server->http, &http, mel_handle, app, err));
    write_url(server, opt->http.address);
    app->url = app->public_url != NULL ? app->public_url : server->url;
    /* For `melicit study links`; without it, links are said with --public-url. */
    (void)mel_store_put(app->store, MEL_URL_BLOB, app->url, strlen(app->url), 0, NULL);
    server->cleaning = pthread_create(&server->cleaner, NULL, clean, server) == 0;
    return server->cleaning ? MEL_OK : mel_fail(err, MEL_ENOMEM, "cannot start the server's hourly clean-up");
}

mel_status mel_server_start(mel_server **out, const mel_server_options *opt, mel_error *err)
{
    *out = NULL;
    mel_server *server = mel_alloc_zero(1, sizeof *server);
    if (server == NULL)
        return mel_fail_memory(err, "the server");
    pthread_mutex_init(&server->lock, NULL);
    mel_cond_init(&server->wake);
    mel_blas_hold(); /* each request runs on its own thread only: there are many requests */
    const mel_status status = start(server, opt, err);
    if (status == MEL_OK)
        *out = server;
    else
        mel_server_stop(server);
    return status;
}

uint16_t mel_server_port(const mel_server *server)
{
    return mel_http_port(server->http);
}

const char *mel_server_token(const mel_server *server)
{
    return server->token[0] != '\0' ? server->token : NULL;
}

mel_status mel_server_reload(mel_server *server, const mel_limits *limits, mel_error *err)
{
    mel_app *app = &server->app;
    TRY(mel_journal_reopen(app->requests, err));
    TRY(mel_journal_reopen(app->audit, err));
    set_limits(server, limits);
    for (size_t i = 0; i < MEL_KNOWN; i++)
        app->known[i] = 0; /* who is logged in, the store says */
    app->tidy_soon = true;
    return MEL_OK;
}

bool mel_server_is_full(mel_server *server)
{
    return !mel_disk_has_room(server->app.admission, MEL_STORES_NEW, 0);
}

void mel_server_drain(mel_server *server)
{
    server->app.draining = true;
    mel_http_drain(server->http);
}

void mel_server_stop(mel_server *server)
{
    if (server == NULL)
        return;
    mel_http_stop(server->http);
    pthread_mutex_lock(&server->lock);
    server->stopping = true;
    pthread_cond_signal(&server->wake);
    pthread_mutex_unlock(&server->lock);
    if (server->cleaning)
        pthread_join(server->cleaner, NULL);
    mel_app_clear(&server->app);
    mel_blas_release();
    pthread_cond_destroy(&server->wake);
    pthread_mutex_destroy(&server->lock);
    sodium_memzero(server->token, sizeof server->token);
    free(server->public_url);
    free(server);
}
