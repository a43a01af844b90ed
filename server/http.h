/* The HTTP side of the server: libmicrohttpd with what it lacks. Requests are checked (framing, sizes), read
 * in full, answered by workers, and cut off when they take too long; a handler may take its time without
 * holding up any other request. */
#ifndef MEL_SERVER_HTTP_H
#define MEL_SERVER_HTTP_H

#include "admission.h"

/* Borrowed until the handler returns. */
typedef struct {
    const char *method;
    const char *path;   /* without the query, unescaped once; %00 as it was sent */
    const char *client; /* numeric address; of the proxy's client */
    const char *body;   /* n bytes, followed by a NUL */
    size_t n;
} mel_request;
/* NULL when it was not sent; the case of the name does not matter. */
const char *mel_request_header(const mel_request *request, const char *name);
/* Where cookies are for TLS only, their names begin with this: browsers then take them from no other host
 * and from no page without TLS. Callers leave it out. */
#define MEL_HOST_COOKIE "__Host-"
const char *mel_request_cookie(const mel_request *request, const char *name);
const char *mel_request_query(const mel_request *request, const char *name);
/* Whether its client still waits and the server goes on: a handler that takes long asks now and then. */
bool mel_request_is_wanted(const mel_request *request);
/* A handler that waits for others makes room for other requests meanwhile: as many as there are workers go on
 * beside those that wait. False: too many wait like that already, and it keeps its place. */
bool mel_request_step_aside(const mel_request *request);
void mel_request_step_back(const mel_request *request); /* waits until it is its turn again */

typedef struct {
    unsigned status;   /* 200 */
    const char *type;  /* "application/json"; a constant */
    char *body;        /* taken over, free()d; NULL: empty */
    const void *lent;  /* or bytes that live as long as the server */
    int file;          /* or a file, from its beginning: taken over, closed; -1: none */
    size_t n;          /* bytes of any of them */
    bool gzipped;      /* the bytes are */
    const char *cache; /* Cache-Control; "no-store" */
    char cookie[400];  /* Set-Cookie, or "" */
    char name[128];    /* of a download, or "" */
    unsigned retry;    /* Retry-After seconds; 0: none */
} mel_response;
/* Fills the response, which starts as 200 with an empty JSON body. */
typedef void (*mel_handler)(mel_response *response, const mel_request *request, void *user);

/* Who sends a request to upload_path: nobody who may (it is refused before its body is read), a stranger, or
 * somebody known, whose bodies have memory of their own. */
typedef enum { MEL_SENDER_REFUSED, MEL_SENDER_STRANGER, MEL_SENDER_KNOWN } mel_sender;

typedef struct {
    size_t struct_size;
    const char *address;      /* "127.0.0.1" */
    uint16_t port;            /* 8080; 0: any free one */
    unsigned threads;         /* that read and write sockets; 2 */
    unsigned workers;         /* that answer; 16 */
    unsigned connections;     /* at most; 1,024, or as many as open files allow */
    unsigned per_address;     /* of one client; twice as many of an IPv6 /48; 0: a quarter of all */
    size_t body_limit;        /* bytes; 65,536 */
    size_t upload_limit;      /* of requests to upload_path; 32 MiB */
    mel_admission *admission; /* counts bytes of requests and answers; must outlive the server */
    const char *upload_path;
    /* On the threads that read and write; NULL: all are strangers. user: the handler's. */
    mel_sender (*sender)(const mel_request *request, void *user);
    /* Answers what needs neither time nor the store, on the threads that read and write, so that it never
     * waits for a worker; false: a worker has to answer. NULL: workers answer everything. */
    bool (*answer_at_once)(mel_response *response, const mel_request *request, void *user);
    const char *proxy; /* the address of a proxy whose X-Forwarded-For is believed; NULL: none */
    bool secure;       /* cookies are for TLS only */
    double deadline;   /* seconds from the first byte of a request, or of its answer, to the last; 10 */
} mel_http_options;
void mel_http_options_init(mel_http_options *opt);

typedef struct mel_http mel_http;
mel_status mel_http_start(mel_http **out, const mel_http_options *opt, mel_handler handler, void *user,
                          mel_error *err);
uint16_t mel_http_port(const mel_http *http);
/* From now on every answer ends its connection, so that clients come back through the proxy, to another
 * server.
 */
void mel_http_drain(mel_http *http);
/* Takes no new requests, finishes those under way, and returns when all threads have ended. */
void mel_http_stop(mel_http *http);

#endif
