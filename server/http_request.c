/* Requests as they come in: their connections, who sent them, whether their head is sound, and their body. */
#define _GNU_SOURCE /* POLLRDHUP */
#include "clock.h"
#include "http_internal.h"

#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_HEADERS = 100 };

/* --- requests ----------------------------------------------------------------------------------- */

const char *mel_request_header(const mel_request *request, const char *name)
{
    return MHD_lookup_connection_value(((const mel_http_request *)request)->link, MHD_HEADER_KIND, name);
}

const char *mel_request_cookie(const mel_request *request, const char *name)
{
    const mel_http_request *r = (const mel_http_request *)request;
    char full[64];
    (void)snprintf(full, sizeof full, "%s%s", r->http->opt.secure ? MEL_HOST_COOKIE : "", name);
    return MHD_lookup_connection_value(r->link, MHD_COOKIE_KIND, full);
}

const char *mel_request_query(const mel_request *request, const char *name)
{
    return MHD_lookup_connection_value(((const mel_http_request *)request)->link, MHD_GET_ARGUMENT_KIND,
                                       name);
}

/* A browser that is gone has closed its side of the connection; nothing else is sent while an answer is
 * awaited. */
bool mel_request_is_wanted(const mel_request *request)
{
    const mel_http_request *r = (const mel_http_request *)request;
    pthread_mutex_lock(&r->http->lock);
    const bool stopping = r->http->stopping;
    pthread_mutex_unlock(&r->http->lock);
    if (stopping || r->connection == NULL)
        return !stopping;
    struct pollfd peer = { .fd = r->connection->socket, .events = POLLRDHUP };
    return poll(&peer, 1, 0) <= 0 || (peer.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0;
}

void mel_http_request_free(mel_http_request *request)
{
    if (request == NULL)
        return;
    mel_bytes_release(request->http->opt.admission, request->pool, request->capacity);
    mel_bytes_release(request->http->opt.admission, MEL_ANSWERS, request->sending);
    free(request->method);
    free(request->path);
    free(request->body);
    free(request->response.body);
    if (request->response.file >= 0)
        (void)close(request->response.file);
    free(request);
}

/* An address can be spelt in many ways, and proxies add a port or the zone of a link to it: 192.0.2.1:80,
 * [2001:db8::1]:80, fe80::1%eth0. This gives one of them. False: it is no address. */
bool mel_http_spell_address(char out[INET6_ADDRSTRLEN], const char *text)
{
    static const int families[] = { AF_INET, AF_INET6 };
    struct in6_addr address; /* the larger one */
    char host[INET6_ADDRSTRLEN];
    const bool bracketed = text[0] == '[';
    const char *colon = strchr(text, ':');
    const bool port = !bracketed && colon != NULL && strchr(colon + 1, ':') == NULL;
    const size_t n = strcspn(text + bracketed, bracketed ? "]%" : port ? ":" : "%");
    const char *rest = text + bracketed + n;
    rest += *rest == '%' ? strcspn(rest, "]") : 0;
    rest += bracketed && *rest == ']';
    if (n >= sizeof host || (bracketed && rest[-1] != ']') ||
        (*rest != '\0' && (rest[0] != ':' || rest[1 + strspn(rest + 1, "0123456789")] != '\0')))
        return false;
    memcpy(host, text + bracketed, n);
    host[n] = '\0';
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (inet_pton(families[i], host, &address) == 1)
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

/* The proxy's own client is the last of the list: anybody may have written what comes before it. */
static void read_forwarded(mel_http_request *request)
{
    const char *list = NULL;
    (void)MHD_get_connection_values(request->link, MHD_HEADER_KIND, keep_last, &list);
    if (list == NULL)
        return;
    const char *last = strrchr(list, ',');
    last = last != NULL ? last + 1 : list;
    last += strspn(last, " \t");
    const size_t n = strcspn(last, " \t");
    char text[2 * INET6_ADDRSTRLEN];
    if (n == 0 || n >= sizeof text || last[n + strspn(last + n, " \t")] != '\0')
        return;
    memcpy(text, last, n);
    text[n] = '\0';
    (void)mel_http_spell_address(request->client, text); /* otherwise the proxy's own address stays */
}

static bool address_text(char out[INET6_ADDRSTRLEN], const struct sockaddr *address)
{
    char text[2 * INET6_ADDRSTRLEN];
    const socklen_t size =
        address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    return getnameinfo(address, size, text, sizeof text, NULL, 0, NI_NUMERICHOST) == 0 &&
           mel_http_spell_address(out, text);
}

static void read_client(mel_http_request *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->link, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (info == NULL || info->client_addr == NULL || !address_text(request->client, info->client_addr))
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

static bool is_token(const char *name, size_t n)
{
    return n > 0 && strspn(name, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == n;
}

static enum MHD_Result look_at(void *user, enum MHD_ValueKind kind, const char *name, size_t n_name,
                               const char *value, size_t n_value)
{
    (void)kind;
    framing *f = user;
    f->n++;
    f->malformed =
        f->malformed || !is_token(name, n_name) || (value != NULL && strcspn(value, "\r\n") != n_value);
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

/* What two readers of HTTP may take for different requests is refused here, as far as the library's interface
 * shows it: before 1.0 it joins folded lines and takes LF for the end of a line. The proxies of deploy/ pass
 * on neither. Chunked bodies are refused: browsers do not send them. */
unsigned mel_http_check_head(struct MHD_Connection *link, size_t limit)
{
    framing f = { 0 };
    (void)MHD_get_connection_values_n(link, MHD_HEADER_KIND, look_at, &f);
    if (f.n > MOST_HEADERS)
        return 431;
    if (f.malformed || f.hosts > 1 || f.lengths > 1 || (f.lengths > 0 && f.encodings > 0))
        return 400;
    return f.encodings > 0 ? 411 : f.length > limit ? 413 : 0;
}

/* --- making, and the body ------------------------------------------------------------------------ */

mel_http_request *mel_http_request_new(mel_http *http, struct MHD_Connection *link, const char *path,
                                       const char *method)
{
    mel_http_request *request = mel_alloc_zero(1, sizeof *request);
    if (request == NULL)
        return NULL;
    request->http = http;
    request->link = link;
    request->connection = mel_http_connection_of(link);
    request->method = mel_strdup(method);
    request->path = mel_strdup(path);
    mel_response_init(&request->response);
    if (request->method == NULL || request->path == NULL) {
        mel_http_request_free(request);
        return NULL;
    }
    read_client(request);
    const bool upload = http->opt.upload_path != NULL && strcmp(path, http->opt.upload_path) == 0;
    request->pool = upload ? MEL_STRANGERS : MEL_BODIES;
    request->limit = upload ? http->opt.upload_limit : http->opt.body_limit;
    return request;
}

/* All bodies together have a limit, so that many large requests cannot exhaust the memory; uploads have one
 * of their own, so that they leave room for answers, half of it for strangers; one upload always fits. */
bool mel_http_request_append(mel_http_request *request, const char *bytes, size_t n)
{
    if (request->n + n + 1 > request->capacity) {
        size_t capacity = request->capacity == 0 ? 1024 : request->capacity;
        while (capacity < request->n + n + 1)
            capacity *= 2;
        if (capacity > request->limit + 1 && request->n + n <= request->limit)
            capacity = request->limit + 1;
        const size_t more = capacity - request->capacity;
        void *block = request->body;
        if (!mel_bytes_hold(request->http->opt.admission, request->pool, more))
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

void mel_http_request_hold_answer(mel_http_request *request)
{
    mel_admission *admission = request->http->opt.admission;
    mel_response *response = &request->response;
    const size_t n = response->lent == NULL && response->file < 0 ? response->n : 0;
    const bool fits = mel_bytes_hold(admission, MEL_ANSWERS, n);
    request->sending = fits ? n : 0;
    if (fits)
        return;
    free(response->body);
    if (n > admission->most[MEL_ANSWERS])
        mel_response_too_large(response);
    else
        mel_response_busy(response);
}

/* --- connections ------------------------------------------------------------------------------------ */

enum {
    SLOWEST = 65536, /* bytes a second that buy more time */
    IN_FLIGHT =
        65536 /* bytes that the system takes over before the client has them: it would take megabytes */
};

static double now(void)
{
    return mel_clock_seconds(CLOCK_MONOTONIC);
}

void mel_http_mark(mel_http *http, mel_http_connection *connection, size_t bytes)
{
    if (connection == NULL)
        return;
    pthread_mutex_lock(&http->lock);
    connection->busy = false;
    connection->since = now() + (double)bytes / SLOWEST;
    pthread_mutex_unlock(&http->lock);
}

void mel_http_extend(mel_http *http, mel_http_connection *connection, size_t bytes)
{
    if (connection == NULL)
        return;
    pthread_mutex_lock(&http->lock);
    const double later = connection->since + (double)bytes / SLOWEST, latest = now();
    connection->since = later < latest ? later : latest; /* what came fast buys no time to idle afterwards */
    pthread_mutex_unlock(&http->lock);
}

mel_http_connection *mel_http_connection_of(struct MHD_Connection *link)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(link, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

/* Who a connection counts for; a proxy's are of many people. */
static void name_client(mel_http_connection *out, const mel_http *http, const struct sockaddr *address)
{
    char text[INET6_ADDRSTRLEN];
    if (!address_text(text, address) || strcmp(text, http->proxy) == 0)
        return;
    mel_client_name(out->client, text);
    mel_network_name(out->network, text);
}

enum MHD_Result mel_http_accept(void *user, const struct sockaddr *address, socklen_t size)
{
    (void)size;
    mel_http *http = user;
    mel_http_connection mine = { .client = "" };
    name_client(&mine, http, address);
    size_t same = 0, near = 0;
    pthread_mutex_lock(&http->lock);
    for (const mel_http_connection *entry = http->connections; entry != NULL; entry = entry->next) {
        same += strcmp(entry->client, mine.client) == 0;
        near += strcmp(entry->network, mine.network) == 0;
    }
    pthread_mutex_unlock(&http->lock);
    const size_t most = http->opt.per_address;
    return (mine.client[0] != '\0' && same >= most) ||
                   (mine.network[0] != '\0' && near >= MEL_NETWORK_CLIENTS * most / 2)
               ? MHD_NO
               : MHD_YES;
}

/* Without memory only the library's own timeout applies. */
static mel_http_connection *begin(mel_http *http, struct MHD_Connection *link)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(link, MHD_CONNECTION_INFO_CONNECTION_FD);
    const int peer =
        info != NULL ? info->connect_fd : -1; /* libmicrohttpd 1.0 has one place for both answers */
    const union MHD_ConnectionInfo *from = MHD_get_connection_info(link, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    mel_http_connection *entry = info != NULL ? mel_alloc_zero(1, sizeof *entry) : NULL;
    if (entry == NULL)
        return NULL;
    const int in_flight = IN_FLIGHT;
    (void)setsockopt(peer, SOL_SOCKET, SO_SNDBUF, &in_flight, sizeof in_flight);
    if (from != NULL && from->client_addr != NULL)
        name_client(entry, http, from->client_addr);
    pthread_mutex_lock(&http->lock);
    entry->socket = peer;
    entry->since = now();
    entry->next = http->connections;
    if (http->connections != NULL)
        http->connections->previous = entry;
    http->connections = entry;
    pthread_mutex_unlock(&http->lock);
    return entry;
}

static void end(mel_http *http, mel_http_connection *entry)
{
    pthread_mutex_lock(&http->lock);
    if (entry->previous != NULL)
        entry->previous->next = entry->next;
    else
        http->connections = entry->next;
    if (entry->next != NULL)
        entry->next->previous = entry->previous;
    pthread_mutex_unlock(&http->lock);
    free(entry);
}

void mel_http_on_connection(void *http, struct MHD_Connection *link, void **context,
                            enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *context = begin(http, link);
    } else if (*context != NULL) {
        end(http, *context);
        *context = NULL;
    }
}

/* shutdown() makes the library see the end of the connection; it closes the socket itself. */
void *mel_http_sweep(void *user)
{
    mel_http *http = user;
    pthread_mutex_lock(&http->lock);
    while (!http->stopping) {
        mel_wait(&http->sweep, &http->lock, 1);
        const double oldest = now() - http->opt.deadline;
        for (mel_http_connection *entry = http->connections; entry != NULL; entry = entry->next)
            if (!entry->busy && entry->since < oldest) {
                (void)shutdown(entry->socket, SHUT_RDWR);
                entry->since = now();
            }
    }
    pthread_mutex_unlock(&http->lock);
    return NULL;
}
