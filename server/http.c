/* The HTTP server: libmicrohttpd reads and writes; four things are added.
 *
 * Workers: a complete request is queued and its connection suspended, so that a handler which computes or
 * waits for the disk holds up nobody else. One that waits for others may step aside; further threads are
 * started as they are needed, so that as many requests as there are workers always go on.
 *
 * Framing: version 0.9.75 takes doubled Content-Length and Host, and Content-Length with chunks: a proxy in
 * front may read such a request otherwise, and see two where there is one. They are refused before the body
 * is read.
 *
 * Deadlines: a sweeper closes sockets whose request, or answer, has been under way for too long (bytes at a
 * fair rate buy time), and connections that idle as long.
 *
 * Limits: of headers (memory per connection), bodies each and in all, connections in all and per address. */
#include "clock.h"
#include "http_internal.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { HEADER_MEMORY = 24 * 1024, SPARE_FILES = 48, MOST_ASIDE = 256 };

/* --- the queue ---------------------------------------------------------------------------------- */

static bool is_room(const mel_http *http)
{
    return http->running < http->opt.workers;
}

/* Wakes whoever may go on now; the lock is held. Those who stepped aside come first. */
static void pass_on(mel_http *http)
{
    if (http->returning > 0 && is_room(http))
        pthread_cond_signal(&http->back);
    else if (http->first != NULL && is_room(http))
        pthread_cond_signal(&http->work);
    if (http->stopping)
        pthread_cond_broadcast(&http->work); /* workers that waited for the last one may end */
}

/* Tells the workers that a request will be queued; false when they are stopping and nobody would answer it.
 */
static bool announce(mel_http *http)
{
    pthread_mutex_lock(&http->lock);
    const bool working = !http->stopping;
    http->pending += working;
    pthread_mutex_unlock(&http->lock);
    return working;
}

static void enqueue(mel_http *http, mel_http_request *request)
{
    pthread_mutex_lock(&http->lock);
    http->pending--;
    if (request->connection != NULL)
        request->connection->busy = true;
    request->next = NULL;
    if (http->last != NULL)
        http->last->next = request;
    else
        http->first = request;
    http->last = request;
    pass_on(http);
    pthread_mutex_unlock(&http->lock);
}

static void show(mel_http_request *request)
{
    request->seen = (mel_request){ .method = request->method,
                                   .path = request->path,
                                   .client = request->client,
                                   .body = request->body != NULL ? request->body : "",
                                   .n = request->n };
}

static bool answer_at_once(const mel_http *http, mel_http_request *request)
{
    if (http->opt.answer_at_once == NULL)
        return false;
    show(request);
    return http->opt.answer_at_once(&request->response, &request->seen, http->user);
}

/* 403 where nobody reads what this sender would upload. */
static unsigned ask_for_sender(const mel_http *http, mel_http_request *request)
{
    show(request);
    const mel_sender sender =
        http->opt.sender != NULL ? http->opt.sender(&request->seen, http->user) : MEL_SENDER_STRANGER;
    if (sender == MEL_SENDER_KNOWN)
        request->pool = MEL_RESEARCHERS;
    return sender == MEL_SENDER_REFUSED ? 403 : 0;
}

/* Called for the head of a request, for every piece of its body, at its end, and once more when a worker has
 * answered. */
static enum MHD_Result on_request(void *user, struct MHD_Connection *link, const char *path,
                                  const char *method, const char *version, const char *bytes, size_t *n,
                                  void **state)
{
    (void)version;
    mel_http *http = user;
    mel_http_request *request = *state;
    if (request == NULL) {
        request = mel_http_request_new(http, link, path, method);
        if (request == NULL)
            return mel_response_refuse(link, 503);
        *state = request;
        request->refused = mel_http_check_head(link, request->limit);
        if (request->refused == 0 && request->pool == MEL_STRANGERS)
            request->refused = ask_for_sender(http, request);
        return request->refused != 0 ? mel_response_refuse(link, request->refused) : MHD_YES;
    }
    if (request->answered) {
        mel_http_mark(http, request->connection, request->response.n);
        return mel_response_send(link, &request->response, http->draining);
    }
    if (*n > 0) {
        mel_http_extend(http, request->connection, *n);
        if (request->refused == 0 && !mel_http_request_append(request, bytes, *n))
            request->refused = 503;
        *n = 0;
        return MHD_YES;
    }
    if (request->refused == 0 && answer_at_once(http, request)) {
        mel_http_mark(http, request->connection, request->response.n);
        return mel_response_send(link, &request->response, http->draining);
    }
    if (request->refused == 0 && !announce(http))
        request->refused = 503;
    if (request->refused != 0)
        return mel_response_refuse(link, request->refused);
    MHD_suspend_connection(link);
    enqueue(http, request);
    return MHD_YES;
}

static void on_completed(void *user, struct MHD_Connection *link, void **state,
                         enum MHD_RequestTerminationCode how)
{
    (void)how;
    mel_http_mark(user, mel_http_connection_of(link), 0);
    mel_http_request_free(*state);
    *state = NULL;
}

/* --- workers ------------------------------------------------------------------------------------ */

static mel_http_request *take(mel_http *http)
{
    pthread_mutex_lock(&http->lock);
    while (http->first != NULL ? !is_room(http) || http->returning > 0 : !http->stopping || http->pending > 0)
        pthread_cond_wait(&http->work, &http->lock);
    mel_http_request *request = http->first;
    if (request != NULL) {
        http->first = request->next;
        if (http->first == NULL)
            http->last = NULL;
        http->running++;
        pass_on(http);
    }
    pthread_mutex_unlock(&http->lock);
    return request;
}

static void *work(void *user)
{
    mel_http *http = user;
    for (mel_http_request *request = take(http); request != NULL; request = take(http)) {
        show(request);
        http->handler(&request->response, &request->seen, http->user);
        mel_http_request_compress(request);
        mel_http_request_hold_answer(request);
        request->answered = true;
        MHD_resume_connection(request->link);
        pthread_mutex_lock(&http->lock);
        http->running--;
        pass_on(http);
        pthread_mutex_unlock(&http->lock);
    }
    return NULL;
}

/* The lock is held, or nobody else there yet. */
static bool add_worker(mel_http *http)
{
    if (pthread_create(&http->worker[http->n_workers], NULL, work, http) != 0)
        return false;
    http->n_workers++;
    return true;
}

bool mel_request_step_aside(const mel_request *request)
{
    mel_http *http = ((const mel_http_request *)request)->http;
    pthread_mutex_lock(&http->lock);
    const bool idle = http->n_workers > http->running + http->aside + http->returning;
    const bool may = !http->stopping && http->aside < MOST_ASIDE && (idle || add_worker(http));
    if (may) {
        http->running--;
        http->aside++;
        pass_on(http);
    }
    pthread_mutex_unlock(&http->lock);
    return may;
}

void mel_request_step_back(const mel_request *request)
{
    mel_http *http = ((const mel_http_request *)request)->http;
    pthread_mutex_lock(&http->lock);
    http->aside--;
    http->returning++;
    while (!http->stopping && !is_room(http))
        pthread_cond_wait(&http->back, &http->lock);
    http->returning--;
    http->running++;
    pass_on(http);
    pthread_mutex_unlock(&http->lock);
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
        .body_limit = 65536,
        .upload_limit = (size_t)32 << 20,
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

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Paths, names and values of queries, once, in place. %00 stays as it is written: it would end the text. */
static size_t unescape(void *user, struct MHD_Connection *link, char *text)
{
    (void)user;
    (void)link;
    size_t n = 0;
    for (const char *from = text; *from != '\0'; n++) {
        const int high = from[0] == '%' ? hex_digit(from[1]) : -1;
        const int low = high >= 0 ? hex_digit(from[2]) : -1;
        const bool escaped = low >= 0 && (high > 0 || low > 0);
        text[n] = escaped ? (char)(16 * high + low) : *from;
        from += escaped ? 3 : 1;
    }
    text[n] = '\0';
    return n;
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
        flags, http->opt.port, mel_http_accept, http, on_request, http, MHD_OPTION_SOCK_ADDR, where->ai_addr,
        MHD_OPTION_THREAD_POOL_SIZE, http->opt.threads, MHD_OPTION_CONNECTION_LIMIT, http->opt.connections,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)http->opt.deadline + 5, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HEADER_MEMORY, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
        http, MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_NOTIFY_CONNECTION,
        mel_http_on_connection, http, MHD_OPTION_END);
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
    http->worker = mel_alloc((size_t)http->opt.workers + MOST_ASIDE, sizeof *http->worker);
    if (http->worker == NULL)
        return mel_fail_memory(err, "the server's workers");
    while (http->n_workers < http->opt.workers)
        if (!add_worker(http))
            return mel_fail(err, MEL_ENOMEM, "cannot start the server's worker %u", http->n_workers + 1);
    http->sweeping = pthread_create(&http->sweeper, NULL, mel_http_sweep, http) == 0;
    return http->sweeping ? MEL_OK
                          : mel_fail(err, MEL_ENOMEM, "cannot start the thread that ends slow requests");
}

mel_status mel_http_start(mel_http **out, const mel_http_options *opt, mel_handler handler, void *user,
                          mel_error *err)
{
    *out = NULL;
    if (opt->struct_size != sizeof *opt || opt->threads == 0 || opt->workers == 0 || opt->connections == 0 ||
        opt->admission == NULL)
        return mel_fail(err, MEL_EINVAL, "a server needs threads, workers, connections and limits");
    char proxy[INET6_ADDRSTRLEN] = "";
    if (opt->proxy != NULL && !mel_http_spell_address(proxy, opt->proxy))
        return mel_fail(err, MEL_EINVAL, "the proxy '%.80s': expected a numeric address", opt->proxy);
    mel_http *http = mel_alloc_zero(1, sizeof *http);
    if (http == NULL)
        return mel_fail_memory(err, "the server");
    http->opt = *opt;
    http->opt.connections = fit_connections(opt->connections);
    if (opt->per_address == 0)
        http->opt.per_address = (http->opt.connections + 3) / 4;
    memcpy(http->proxy, proxy, sizeof proxy);
    http->handler = handler;
    http->user = user;
    pthread_mutex_init(&http->lock, NULL);
    pthread_cond_init(&http->work, NULL);
    pthread_cond_init(&http->back, NULL);
    mel_cond_init(&http->sweep);
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

void mel_http_drain(mel_http *http)
{
    http->draining = true;
}

/* Suspended connections must be resumed before the daemon is stopped, or it aborts: workers empty the queue
 * first, and new requests are told to try again. (MHD_quiesce_daemon, which would refuse connections, aborts
 * when a thread of the library takes the socket out of its set at the same moment.) */
/* Answers that workers have given may still be on their way: they get half a second to leave. */
static void let_answers_leave(mel_admission *admission)
{
    enum { LOOKS = 100 };
    const struct timespec nap = { 0, 5000000 };
    for (int look = 0; look < LOOKS && mel_bytes_held(admission, MEL_ANSWERS) > 0; look++)
        (void)nanosleep(&nap, NULL);
}

void mel_http_stop(mel_http *http)
{
    if (http == NULL)
        return;
    pthread_mutex_lock(&http->lock);
    http->stopping = true;
    pthread_cond_broadcast(&http->work);
    pthread_cond_broadcast(&http->back);
    pthread_cond_broadcast(&http->sweep);
    pthread_mutex_unlock(&http->lock);
    for (unsigned i = 0; i < http->n_workers; i++)
        pthread_join(http->worker[i], NULL);
    if (http->sweeping)
        pthread_join(http->sweeper, NULL);
    let_answers_leave(http->opt.admission);
    if (http->daemon != NULL)
        MHD_stop_daemon(http->daemon);
    free(http->worker);
    pthread_cond_destroy(&http->sweep);
    pthread_cond_destroy(&http->back);
    pthread_cond_destroy(&http->work);
    pthread_mutex_destroy(&http->lock);
    free(http);
}
