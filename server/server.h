/* The web app as a whole: HTTP, the application behind it, and an hourly clean-up. */
#ifndef MEL_SERVER_SERVER_H
#define MEL_SERVER_SERVER_H

#include "app.h"

/* What can be changed while the server runs. */
typedef struct {
    int64_t
        store_room; /* bytes that the store may take; 0: what it takes at the start and 80% of what is free */
    int64_t keep_free;   /* bytes of the store's disk that stay free; 1 GiB; 0: none */
    int64_t upload_room; /* bytes that uploads may take in the store; 2 GiB */
    unsigned joins;      /* of one address within a minute; 120; 0: no limits on requests */
    double processor;    /* seconds of computing per request; 10; 0: no limit */
    size_t memory;       /* bytes that the process should take; 120 MiB; 0: any number */
} mel_limits;

typedef struct {
    size_t struct_size;
    mel_http_options http;
    const char *public_url;     /* what browsers see, "https://study.example.org"; NULL: as requests say */
    mel_store *store;           /* must outlive the server */
    const char *const *folders; /* where data sets are, as in mel_resources; must outlive the server */
    const json_t *datasets;     /* what /api/datasets lists; must outlive the server */
    mel_limits limits;
    bool closed;  /* only researchers start sessions of their own and upload tables */
    bool metrics; /* counts requests, and answers /metrics */
    const char *key_path, *request_log, *audit_log; /* files; NULL: none */
} mel_server_options;
void mel_server_options_init(mel_server_options *opt);

/* The application without HTTP: the hash key of the store and the cache. Cleared with mel_app_clear, on
 * failure too. */
mel_status mel_app_init(mel_app *app, mel_store *store, const char *const *folders, mel_error *err);
/* The same with the key in a file of its own (key.h); NULL: in the store. */
mel_status mel_app_init_with_key(mel_app *app, mel_store *store, const char *key_path,
                                 const char *const *folders, mel_error *err);
void mel_app_clear(mel_app *app);

typedef struct mel_server mel_server;
mel_status mel_server_start(mel_server **out, const mel_server_options *opt, mel_error *err);
uint16_t mel_server_port(const mel_server *server);
/* What browsers open: the public URL, or where it listens. */
const char *mel_server_url(const mel_server *server);
/* The researcher's token, when this start made it: it is known nowhere else. NULL otherwise. */
const char *mel_server_token(const mel_server *server);
/* Other limits from now on, logs in the files that have their names now, and housekeeping soon. Failures
 * leave things as they were. */
mel_status mel_server_reload(mel_server *server, const mel_limits *limits, mel_error *err);
/* Whether there is so little room that nobody new can take part. */
bool mel_server_is_full(mel_server *server);
/* Tells the proxy in front (GET /healthz) to send nobody here any more; requests are still answered. */
void mel_server_drain(mel_server *server);
/* Ends the requests under way and returns when all threads have ended. NULL is fine. */
void mel_server_stop(mel_server *server);

#endif
