/* Connections and their deadlines: the library's own timeout starts anew with every byte. */
#include "clock.h"
#include "http_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

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
    if (!mel_http_address_of(text, address) || strcmp(text, http->proxy) == 0)
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
    const union MHD_ConnectionInfo *from = MHD_get_connection_info(link, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    mel_http_connection *entry = info != NULL ? mel_alloc_zero(1, sizeof *entry) : NULL;
    if (entry == NULL)
        return NULL;
    const int in_flight = IN_FLIGHT;
    (void)setsockopt(info->connect_fd, SOL_SOCKET, SO_SNDBUF, &in_flight, sizeof in_flight);
    if (from != NULL && from->client_addr != NULL)
        name_client(entry, http, from->client_addr);
    pthread_mutex_lock(&http->lock);
    entry->socket = info->connect_fd;
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
