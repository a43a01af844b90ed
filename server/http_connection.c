/* Connections and their deadlines: the library's own timeout starts anew with every byte. */
#include "clock.h"
#include "http_internal.h"

#include <stdlib.h>
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

/* Without memory only the library's own timeout applies. */
static mel_http_connection *begin(mel_http *http, struct MHD_Connection *link)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(link, MHD_CONNECTION_INFO_CONNECTION_FD);
    mel_http_connection *entry = info != NULL ? mel_alloc_zero(1, sizeof *entry) : NULL;
    if (entry == NULL)
        return NULL;
    const int in_flight = IN_FLIGHT;
    (void)setsockopt(info->connect_fd, SOL_SOCKET, SO_SNDBUF, &in_flight, sizeof in_flight);
    pthread_mutex_lock(&http->lock);
    *entry = (mel_http_connection){ .socket = info->connect_fd, .since = now(), .next = http->connections };
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
