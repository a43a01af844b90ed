/* What the files of the HTTP side share. */
#ifndef MEL_SERVER_HTTP_INTERNAL_H
#define MEL_SERVER_HTTP_INTERNAL_H

#include "http.h"

#include "base/internal.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <pthread.h>

/* A connection: when its current request or answer began. On a list that the sweeper walks. */
typedef struct mel_http_connection mel_http_connection;
struct mel_http_connection {
    mel_http_connection *previous, *next;
    MHD_socket socket;
    char client[MEL_CLIENT_TEXT], network[MEL_CLIENT_TEXT]; /* "": not counted */
    double since;
    bool busy; /* with a worker: not to be cut off */
};

typedef struct mel_http_request mel_http_request;
struct mel_http_request {
    mel_request seen;       /* first: what handlers see */
    mel_http_request *next; /* in the queue */
    mel_http *http;
    struct MHD_Connection *link;
    mel_http_connection *connection; /* NULL when there was no memory for it */
    char *method, *path;
    char client[INET6_ADDRSTRLEN];
    char *body;
    size_t n, capacity, limit;
    mel_byte_pool pool; /* in which the body counts */
    unsigned refused;   /* status of a request that no handler answers */
    mel_response response;
    size_t sending; /* bytes of the answer that count among the server's */
    bool answered;
};

struct mel_http {
    struct MHD_Daemon *daemon;
    mel_http_options opt;
    char proxy[INET6_ADDRSTRLEN]; /* opt.proxy, spelt as clients' addresses are */
    mel_handler handler;
    void *user;
    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t work, back,
        sweep; /* a request may be taken; whoever stepped aside may go on; time is over */
    mel_http_request *first, *last;
    mel_http_connection *connections;
    size_t pending; /* requests that are about to be queued */
    bool stopping;
    pthread_t *worker, sweeper;
    unsigned n_workers;
    unsigned running, aside, returning; /* workers with a request: at it, aside, about to go on with it */
    bool sweeping;
    uint16_t port;
    _Atomic bool draining;
};

/* --- http_request.c ------------------------------------------------------------------------------- */

/* The same spelling for the same address; false: it is none. */
bool mel_http_spell_address(char out[INET6_ADDRSTRLEN], const char *text);
/* NULL without memory. */
mel_http_request *mel_http_request_new(mel_http *http, struct MHD_Connection *link, const char *path,
                                       const char *method);
void mel_http_request_free(mel_http_request *request);
/* 0, or the status with which the head of a request is refused. */
unsigned mel_http_check_head(struct MHD_Connection *link, size_t limit);
/* A piece of the body; false when there is no room for it. */
bool mel_http_request_append(mel_http_request *request, const char *bytes, size_t n);

/* Counts the bytes of its answer, which slow clients keep in memory for a while; without room for them the
 * answer becomes 503, or 413 where there never is. */
void mel_http_request_hold_answer(mel_http_request *request);

/* --- http_compress.c ------------------------------------------------------------------------------ */

/* Packs the answer where that is safe, shorter, and taken by the client. */
void mel_http_request_compress(mel_http_request *request);

/* --- http_connection.c ---------------------------------------------------------------------------- */

/* Called by the library when a connection begins and ends. */
void mel_http_on_connection(void *http, struct MHD_Connection *link, void **context,
                            enum MHD_ConnectionNotificationCode what);
/* Asked by the library before it takes a connection: no client has more than its share of them. */
enum MHD_Result mel_http_accept(void *http, const struct sockaddr *address, socklen_t size);
mel_http_connection *mel_http_connection_of(struct MHD_Connection *link);
/* A request begins, or an answer of so many bytes, which extend the deadline. */
void mel_http_mark(mel_http *http, mel_http_connection *connection, size_t bytes);
/* So many bytes have come: a client that sends at a fair rate is not cut off. */
void mel_http_extend(mel_http *http, mel_http_connection *connection, size_t bytes);
/* The thread that cuts slow connections off. */
void *mel_http_sweep(void *http);

/* --- http_response.c ------------------------------------------------------------------------------ */

void mel_response_init(mel_response *response);
/* last: the connection is closed afterwards. */
enum MHD_Result mel_response_send(struct MHD_Connection *link, mel_response *response, bool last);
/* The answer that refuses without a handler. */
void mel_response_busy(mel_response *response);
/* The one in place of an answer that there is never room for. */
void mel_response_too_large(mel_response *response);
/* Answers without a handler, and closes the connection. */
enum MHD_Result mel_response_refuse(struct MHD_Connection *link, unsigned status);

#endif
