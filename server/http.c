/* libmicrohttpd reads and writes; four things are added.
 *
 * Workers: a complete request is queued and its connection suspended, so that a handler which computes or
 * waits for the disk holds up nobody else.
 *
 * Framing: version 0.9.75 takes doubled Content-Length and Host, and Content-Length with chunks: a proxy in
 * front may read such a request otherwise, and see two where there is one. They are refused before the body
 * is read.
 *
 * Deadlines: the library's own timeout starts anew with every byte. Here a sweeper closes sockets whose
 * request, or answer, has been under way for too long (bytes at a fair rate buy time), and connections that
 * idle as long.
 *
 * Limits: of headers (memory per connection), bodies each and in all, connections in all and per address. */
#include "http.h"

#include "base/internal.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEADER_MEMORY = 24 * 1024, MOST_HEADERS = 100, SPARE_FILES = 48, SLOWEST = 65536 /* bytes/s */ };

/* Of a connection: when the current request or answer began. On a list that the sweeper walks. */
typedef struct wire wire;
struct wire {
    wire *previous, *next;
    MHD_socket socket;
    double since;
    bool busy; /* with a worker: not to be cut */
};

struct mel_request {
    mel_request *next; /* in the queue */
    mel_http *http;
    struct MHD_Connection *connection;
    wire *wire;
    char *method, *path;
    char client[INET6_ADDRSTRLEN];
    char *body;
    size_t n, capacity, limit;
    unsigned refused; /* status of a request that is not to be answered by a handler */
    bool seen;        /* its head */
    mel_response response;
    bool answered;
};

struct mel_http {
    struct MHD_Daemon *daemon;
    mel_http_options opt;
    char proxy[INET6_ADDRSTRLEN]; /* opt.proxy, as clients' addresses are spelt */
    mel_handler handler;
    void *user;
    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t work, sweep;
    mel_request *first, *last;
    wire *wires;
    size_t held;    /* bytes of bodies in memory */
    size_t pending; /* requests that are about to be queued */
    bool stopping;
    pthread_t *worker, sweeper;
    unsigned n_workers;
    bool sweeping;
    uint16_t port;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- requests ----------------------------------------------------------------------------------- */

const char *mel_request_method(const mel_request *request)
{
    return request->method;
}

const char *mel_request_path(const mel_request *request)
{
    return request->path;
}

const char *mel_request_client(const mel_request *request)
{
    return request->client;
}

const char *mel_request_header(const mel_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *mel_request_cookie(const mel_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND, name);
}

const char *mel_request_body(const mel_request *request, size_t *n)
{
    *n = request->n;
    return request->body != NULL ? request->body : "";
}

static void request_free(mel_request *request)
{
    if (request == NULL)
        return;
    if (request->capacity > 0) {
        pthread_mutex_lock(&request->http->lock);
        request->http->held -= request->capacity;
        pthread_mutex_unlock(&request->http->lock);
    }
    free(request->method);
    free(request->path);
    free(request->body);
    free(request->response.body);
    free(request);
}

/* One address has many spellings, and here one; false: it is none. */
static bool spell_address(char out[INET6_ADDRSTRLEN], const char *text)
{
    static const int families[] = { AF_INET, AF_INET6 };
    struct in6_addr address; /* the larger one */
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (inet_pton(families[i], text, &address) == 1)
            return inet_ntop(families[i], &address, out, INET6_ADDRSTRLEN) != NULL;
    return false;
}

static enum MHD_Result keep_last(void *user, enum MHD_ValueKind kind, const char *name, const char *value)
{
    (void)kind;
    if (strcasecmp(name, "X-Forwarded-For") == 0 && value != NULL)
        *(const char **)user = value;
    return MHD_YES;
}

/* The proxy's own client is the last one of the list: what stands before it anybody may have written. */
static void read_forwarded(mel_request *request)
{
    const char *list = NULL;
    (void)MHD_get_connection_values(request->connection, MHD_HEADER_KIND, keep_last, &list);
    if (list == NULL)
        return;
    const char *last = strrchr(list, ',');
    last = last != NULL ? last + 1 : list;
    last += strspn(last, " \t");
    const size_t n = strcspn(last, " \t");
    char text[INET6_ADDRSTRLEN];
    if (n == 0 || n >= sizeof text || last[n + strspn(last + n, " \t")] != '\0')
        return;
    memcpy(text, last, n);
    text[n] = '\0';
    (void)spell_address(request->client, text); /* or it stays the proxy's own */
}

static void read_client(mel_request *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (info == NULL || info->client_addr == NULL ||
        getnameinfo(info->client_addr,
                    info->client_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                             : sizeof(struct sockaddr_in),
                    request->client, sizeof request->client, NULL, 0, NI_NUMERICHOST) != 0)
        (void)snprintf(request->client, sizeof request->client, "?");
    if (request->http->opt.proxy != NULL && strcmp(request->client, request->http->proxy) == 0)
        read_forwarded(request);
}

/* --- framing ------------------------------------------------------------------------------------ */

typedef struct {
    unsigned n, lengths, hosts, encodings;
    bool malformed;
    unsigned long long length;
} framing;

/* Lines must end in CR LF. The library takes LF alone, too, and tells by nothing but this: what it hands out
 * lies in its buffer, where it has put a NUL in place of every CR and LF. tests/server checks that it still
 * does. */
static bool ends_in_crlf(const char *text)
{
    return text[strlen(text) + 1] == '\0';
}

static bool is_token(const char *name)
{
    return name[0] != '\0' && name[strspn(name, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '\0';
}

static enum MHD_Result look_at(void *user, enum MHD_ValueKind kind, const char *name, const char *value)
{
    (void)kind;
    framing *f = user;
    f->n++;
    f->malformed = f->malformed || !is_token(name) || (value != NULL && !ends_in_crlf(value));
    if (strcasecmp(name, "Host") == 0)
        f->hosts++;
    if (strcasecmp(name, "Transfer-Encoding") == 0)
        f->encodings++;
    if (strcasecmp(name, "Content-Length") != 0)
        return MHD_YES;
    f->lengths++;
    const size_t digits = value != NULL ? strspn(value, "0123456789") : 0;
    const bool number = digits > 0 && digits < 19 && value[digits] == '\0';
    f->malformed = f->malformed || !number;
    f->length = number ? strtoull(value, NULL, 10) : 0;
    return MHD_YES;
}

/* 0, or the status with which the head of a request is refused. Bodies in chunks, which browsers do not send,
 * are. */
static unsigned check_head(struct MHD_Connection *connection, const char *version, size_t limit)
{
    framing f = { 0 };
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, look_at, &f);
    if (f.n > MOST_HEADERS)
        return 431;
    if (f.malformed || f.hosts > 1 || f.lengths > 1 || (f.lengths > 0 && f.encodings > 0) ||
        !ends_in_crlf(version))
        return 400;
    return f.encodings > 0 ? 411 : f.length > limit ? 413 : 0;
}

/* --- answers ------------------------------------------------------------------------------------ */

static const struct {
    const char *name, *value;
} always[] = {
    { "X-Content-Type-Options", "nosniff" },
    { "X-Frame-Options", "DENY" },
    { "Referrer-Policy", "no-referrer" },
    { "Cross-Origin-Opener-Policy", "same-origin" },
    { "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
};

static bool add_headers(struct MHD_Response *out, const mel_response *r)
{
    bool good = true;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        good = good && MHD_add_response_header(out, always[i].name, always[i].value) == MHD_YES;
    good = good && MHD_add_response_header(out, "Content-Type", r->type) == MHD_YES;
    good = good && MHD_add_response_header(out, "Cache-Control", r->cache) == MHD_YES;
    if (r->gzipped)
        good = good && MHD_add_response_header(out, "Content-Encoding", "gzip") == MHD_YES;
    if (r->cookie[0] != '\0')
        good = good && MHD_add_response_header(out, "Set-Cookie", r->cookie) == MHD_YES;
    char text[160];
    if (r->name[0] != '\0') {
        (void)snprintf(text, sizeof text, "attachment; filename=\"%s\"", r->name);
        good = good && MHD_add_response_header(out, "Content-Disposition", text) == MHD_YES;
    }
    if (r->retry > 0) {
        (void)snprintf(text, sizeof text, "%u", r->retry);
        good = good && MHD_add_response_header(out, "Retry-After", text) == MHD_YES;
    }
    return good;
}

static enum MHD_Result send_response(struct MHD_Connection *connection, mel_response *r, bool last)
{
    const bool own = r->lent == NULL && r->body != NULL;
    static char empty[1];
    void *bytes = r->lent != NULL ? (void *)r->lent : own ? r->body : empty;
    struct MHD_Response *out =
        MHD_create_response_from_buffer(r->n, bytes, own ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    if (out == NULL)
        return MHD_NO;
    r->body = NULL; /* the response's now */
    bool good = add_headers(out, r);
    if (last)
        good = good && MHD_add_response_header(out, "Connection", "close") == MHD_YES;
    const enum MHD_Result sent = good ? MHD_queue_response(connection, r->status, out) : MHD_NO;
    MHD_destroy_response(out);
    return sent;
}

static void response_init(mel_response *r)
{
    *r = (mel_response){ .status = 200, .type = "application/json", .cache = "no-store" };
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status)
{
    static const char too_large[] =
        "{\"error\": {\"code\": \"too-large\", \"message\": \"this is more than the "
        "server takes\"}}";
    static const char bad[] =
        "{\"error\": {\"code\": \"bad-request\", \"message\": \"this is not a request that "
        "the server understands\"}}";
    static const char busy[] =
        "{\"error\": {\"code\": \"busy\", \"message\": \"the server has no room for this now; try "
        "again in a moment\"}}";
    const char *text = status == 413 || status == 431 ? too_large : status == 503 ? busy : bad;
    mel_response r;
    response_init(&r);
    r.status = status;
    r.lent = text;
    r.n = strlen(text);
    r.retry = status == 503 ? 1 : 0;
    return send_response(connection, &r, true);
}

/* --- reading ------------------------------------------------------------------------------------ */

/* Something begins: a request, or an answer of so many bytes, which take their time on a slow line. */
static void mark(mel_http *http, wire *entry, bool busy, size_t bytes)
{
    if (entry == NULL)
        return;
    pthread_mutex_lock(&http->lock);
    entry->busy = busy;
    entry->since = now() + (double)bytes / SLOWEST;
    pthread_mutex_unlock(&http->lock);
}

/* So many bytes have come: who sends at a fair rate is not cut off. */
static void extend(mel_http *http, wire *entry, size_t bytes)
{
    if (entry == NULL)
        return;
    pthread_mutex_lock(&http->lock);
    entry->since += (double)bytes / SLOWEST;
    pthread_mutex_unlock(&http->lock);
}

static wire *wire_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

static mel_request *request_new(mel_http *http, struct MHD_Connection *connection, const char *path,
                                const char *method)
{
    mel_request *request = mel_alloc_zero(1, sizeof *request);
    if (request == NULL)
        return NULL;
    request->http = http;
    request->connection = connection;
    request->wire = wire_of(connection);
    request->method = mel_strdup(method);
    request->path = mel_strdup(path);
    response_init(&request->response);
    if (request->method == NULL || request->path == NULL) {
        request_free(request);
        return NULL;
    }
    read_client(request);
    const bool upload = http->opt.upload_path != NULL && strcmp(path, http->opt.upload_path) == 0;
    request->limit = upload ? http->opt.upload_limit : http->opt.body_limit;
    return request;
}

/* Room for bodies is given up to a limit for all of them: many who send much at once cannot exhaust the
 * memory. */
static bool hold(mel_http *http, size_t bytes)
{
    pthread_mutex_lock(&http->lock);
    const bool fits = bytes <= http->opt.body_memory && http->held <= http->opt.body_memory - bytes;
    if (fits)
        http->held += bytes;
    pthread_mutex_unlock(&http->lock);
    return fits;
}

static bool append(mel_request *request, const char *bytes, size_t n)
{
    if (request->n + n + 1 > request->capacity) {
        size_t capacity = request->capacity == 0 ? 1024 : request->capacity;
        while (capacity < request->n + n + 1)
            capacity *= 2;
        if (capacity > request->limit + 1 && request->n + n <= request->limit)
            capacity = request->limit + 1;
        const size_t more = capacity - request->capacity;
        void *block = request->body;
        if (!hold(request->http, more))
            return false;
        request->capacity = capacity; /* given back with the request, grown or not */
        if (!mel_grow(&block, capacity, 1))
            return false;
        request->body = block;
    }
    memcpy(request->body + request->n, bytes, n);
    request->n += n;
    request->body[request->n] = '\0';
    return true;
}

/* Workers wait for what was announced; false once they are told to stop: then nobody would answer. */
static bool announce(mel_http *http)
{
    pthread_mutex_lock(&http->lock);
    const bool working = !http->stopping;
    http->pending += working;
    pthread_mutex_unlock(&http->lock);
    return working;
}

static void enqueue(mel_http *http, mel_request *request)
{
    pthread_mutex_lock(&http->lock);
    http->pending--;
    if (request->wire != NULL)
        request->wire->busy = true;
    request->next = NULL;
    if (http->last != NULL)
        http->last->next = request;
    else
        http->first = request;
    http->last = request;
    if (http->stopping)
        pthread_cond_broadcast(&http->work); /* those who waited for this one may go now */
    else
        pthread_cond_signal(&http->work);
    pthread_mutex_unlock(&http->lock);
}

/* Called for the head of a request, for every piece of its body, at its end, and once more when a worker has
 * answered. */
static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *bytes, size_t *n,
                                  void **state)
{
    mel_http *http = user;
    mel_request *request = *state;
    if (request == NULL) {
        request = request_new(http, connection, path, method);
        if (request == NULL)
            return refuse(connection, 503);
        *state = request;
        request->refused = check_head(connection, version, request->limit);
        return request->refused != 0 ? refuse(connection, request->refused) : MHD_YES;
    }
    if (request->answered) {
        mark(http, request->wire, false, request->response.n);
        return send_response(connection, &request->response, false);
    }
    if (*n > 0) {
        extend(http, request->wire, *n);
        if (request->refused == 0 && !append(request, bytes, *n))
            request->refused = 503;
        *n = 0;
        return MHD_YES;
    }
    if (request->refused == 0 && !announce(http))
        request->refused = 503;
    if (request->refused != 0)
        return refuse(connection, request->refused);
    MHD_suspend_connection(connection);
    enqueue(http, request);
    return MHD_YES;
}

static void on_completed(void *user, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode how)
{
    (void)how;
    mark(user, wire_of(connection), false, 0);
    request_free(*state);
    *state = NULL;
}

/* --- connections and their deadline ------------------------------------------------------------- */

static void on_connection(void *user, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    mel_http *http = user;
    wire *entry = *context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        entry = info != NULL ? mel_alloc_zero(1, sizeof *entry) : NULL;
        if (entry == NULL)
            return; /* the library's own timeout must do */
        *entry = (wire){ .socket = info->connect_fd, .since = now() };
        pthread_mutex_lock(&http->lock);
        entry->next = http->wires;
        if (http->wires != NULL)
            http->wires->previous = entry;
        http->wires = entry;
        pthread_mutex_unlock(&http->lock);
        *context = entry;
        return;
    }
    if (entry == NULL)
        return;
    pthread_mutex_lock(&http->lock);
    if (entry->previous != NULL)
        entry->previous->next = entry->next;
    else
        http->wires = entry->next;
    if (entry->next != NULL)
        entry->next->previous = entry->previous;
    pthread_mutex_unlock(&http->lock);
    free(entry);
    *context = NULL;
}

/* shutdown() makes the library see the end of the connection; it closes the socket itself. */
static void *sweep(void *user)
{
    mel_http *http = user;
    pthread_mutex_lock(&http->lock);
    while (!http->stopping) {
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_sec += 1;
        (void)pthread_cond_timedwait(&http->sweep, &http->lock, &soon);
        const double oldest = now() - http->opt.deadline;
        for (wire *entry = http->wires; entry != NULL; entry = entry->next)
            if (!entry->busy && entry->since < oldest) {
                (void)shutdown(entry->socket, SHUT_RDWR);
                entry->since = now();
            }
    }
    pthread_mutex_unlock(&http->lock);
    return NULL;
}

/* --- workers ------------------------------------------------------------------------------------ */

static mel_request *take(mel_http *http)
{
    pthread_mutex_lock(&http->lock);
    while (http->first == NULL && (!http->stopping || http->pending > 0))
        pthread_cond_wait(&http->work, &http->lock);
    mel_request *request = http->first;
    if (request != NULL) {
        http->first = request->next;
        if (http->first == NULL)
            http->last = NULL;
    }
    pthread_mutex_unlock(&http->lock);
    return request;
}

static void *work(void *user)
{
    mel_http *http = user;
    for (mel_request *request = take(http); request != NULL; request = take(http)) {
        http->handler(&request->response, request, http->user);
        request->answered = true;
        MHD_resume_connection(request->connection);
    }
    return NULL;
}

/* --- starting and stopping ---------------------------------------------------------------------- */

void mel_http_options_init(mel_http_options *opt)
{
    *opt = (mel_http_options){
        .struct_size = sizeof *opt,
        .address = "127.0.0.1",
        .port = 8080,
        .threads = 2,
        .workers = 16,
        .connections = 1024,
        .per_address = 512,
        .body_limit = 65536,
        .upload_limit = (size_t)32 << 20,
        .body_memory = (size_t)256 << 20,
        .deadline = 10.0,
    };
}

/* As many connections as there are file descriptors for. */
static unsigned fit_connections(unsigned wanted)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY)
        return wanted;
    const unsigned room = files.rlim_cur > SPARE_FILES + 8 ? (unsigned)files.rlim_cur - SPARE_FILES : 8;
    return wanted < room ? wanted : room;
}

static mel_status find_address(struct addrinfo **out, const mel_http_options *opt, mel_error *err)
{
    char port[8];
    (void)snprintf(port, sizeof port, "%u", (unsigned)opt->port);
    const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                    .ai_socktype = SOCK_STREAM };
    const int code = getaddrinfo(opt->address, port, &hints, out);
    return code == 0 ? MEL_OK
                     : mel_fail(err, MEL_EINVAL, "the address '%.80s' to listen on: %s", opt->address,
                                gai_strerror(code));
}

static mel_status start_daemon(mel_http *http, mel_error *err)
{
    struct addrinfo *where = NULL;
    const mel_status status = find_address(&where, &http->opt, err);
    if (status != MEL_OK)
        return status;
    const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
                           (where->ai_family == AF_INET6 ? MHD_USE_IPv6 : 0);
    http->daemon = MHD_start_daemon(
        flags, http->opt.port, NULL, NULL, on_request, http, MHD_OPTION_SOCK_ADDR, where->ai_addr,
        MHD_OPTION_THREAD_POOL_SIZE, http->opt.threads, MHD_OPTION_CONNECTION_LIMIT,
        fit_connections(http->opt.connections), MHD_OPTION_PER_IP_CONNECTION_LIMIT, http->opt.per_address,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)http->opt.deadline + 5, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HEADER_MEMORY, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
        http, MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_END);
    freeaddrinfo(where);
    if (http->daemon == NULL)
        return mel_fail(err, MEL_EIO, "cannot listen on %.80s port %u: is another program listening there?",
                        http->opt.address, (unsigned)http->opt.port);
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_BIND_PORT);
    http->port = info != NULL ? info->port : http->opt.port;
    return MEL_OK;
}

static mel_status start_threads(mel_http *http, mel_error *err)
{
    http->worker = mel_alloc(http->opt.workers, sizeof *http->worker);
    if (http->worker == NULL)
        return mel_fail_memory(err, "the server's workers");
    while (http->n_workers < http->opt.workers) {
        if (pthread_create(&http->worker[http->n_workers], NULL, work, http) != 0)
            return mel_fail(err, MEL_ENOMEM, "cannot start the server's worker %u", http->n_workers + 1);
        http->n_workers++;
    }
    http->sweeping = pthread_create(&http->sweeper, NULL, sweep, http) == 0;
    return http->sweeping ? MEL_OK
                          : mel_fail(err, MEL_ENOMEM, "cannot start the thread that ends slow requests");
}

mel_status mel_http_start(mel_http **out, const mel_http_options *opt, mel_handler handler, void *user,
                          mel_error *err)
{
    *out = NULL;
    if (opt->struct_size != sizeof *opt || opt->threads == 0 || opt->workers == 0 || opt->connections == 0)
        return mel_fail(err, MEL_EINVAL, "a server needs threads, workers and connections");
    char proxy[INET6_ADDRSTRLEN] = "";
    if (opt->proxy != NULL && !spell_address(proxy, opt->proxy))
        return mel_fail(err, MEL_EINVAL, "the proxy '%.80s': a numeric address is wanted", opt->proxy);
    mel_http *http = mel_alloc_zero(1, sizeof *http);
    if (http == NULL)
        return mel_fail_memory(err, "the server");
    http->opt = *opt;
    memcpy(http->proxy, proxy, sizeof proxy);
    http->handler = handler;
    http->user = user;
    pthread_mutex_init(&http->lock, NULL);
    pthread_cond_init(&http->work, NULL);
    pthread_cond_init(&http->sweep, NULL);
    mel_status status = start_threads(http, err);
    if (status == MEL_OK)
        status = start_daemon(http, err);
    if (status != MEL_OK) {
        mel_http_stop(http);
        return status;
    }
    *out = http;
    return MEL_OK;
}

uint16_t mel_http_port(const mel_http *http)
{
    return http->port;
}

/* Suspended connections must be resumed before the daemon is stopped, which would abort otherwise: workers
 * empty the queue first, and no request is queued any more but told to come again. (MHD_quiesce_daemon, which
 * would refuse connections, aborts when a thread of the library takes the socket out of its set at the same
 * moment.) */
void mel_http_stop(mel_http *http)
{
    if (http == NULL)
        return;
    pthread_mutex_lock(&http->lock);
    http->stopping = true;
    pthread_cond_broadcast(&http->work);
    pthread_cond_broadcast(&http->sweep);
    pthread_mutex_unlock(&http->lock);
    for (unsigned i = 0; i < http->n_workers; i++)
        pthread_join(http->worker[i], NULL);
    if (http->sweeping)
        pthread_join(http->sweeper, NULL);
    if (http->daemon != NULL)
        MHD_stop_daemon(http->daemon);
    free(http->worker);
    pthread_cond_destroy(&http->sweep);
    pthread_cond_destroy(&http->work);
    pthread_mutex_destroy(&http->lock);
    free(http);
}
