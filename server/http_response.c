/* Responses on their way out: headers, bodies, packing, and refusals that need no handler. */
#include "http_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

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
        good = good && MHD_add_response_header(out, "Content-Encoding", "gzip") == MHD_YES &&
               MHD_add_response_header(out, "Vary", "Accept-Encoding") == MHD_YES;
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

static struct MHD_Response *response_of(const mel_response *r)
{
    const bool own = r->lent == NULL && r->body != NULL;
    static char empty[1];
    void *bytes = r->lent != NULL ? (void *)r->lent : own ? r->body : empty;
    if (r->file >= 0)
        return MHD_create_response_from_fd64(r->n, r->file);
    return MHD_create_response_from_buffer(r->n, bytes, own ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
}

enum MHD_Result mel_response_send(struct MHD_Connection *link, mel_response *r, bool last)
{
    struct MHD_Response *out = response_of(r);
    if (out == NULL)
        return MHD_NO;
    r->body = NULL; /* the response's now */
    r->file = -1;
    bool good = add_headers(out, r);
    if (last)
        good = good && MHD_add_response_header(out, "Connection", "close") == MHD_YES;
    const enum MHD_Result sent = good ? MHD_queue_response(link, r->status, out) : MHD_NO;
    MHD_destroy_response(out);
    return sent;
}

void mel_response_init(mel_response *r)
{
    *r = (mel_response){ .status = 200, .type = "application/json", .cache = "no-store", .file = -1 };
}

/* An answer whose text is there as long as the program runs. */
static void fix(mel_response *r, unsigned status, const char *text)
{
    mel_response_init(r);
    r->status = status;
    r->lent = text;
    r->n = strlen(text);
}

void mel_response_busy(mel_response *r)
{
    static const char busy[] =
        "{\"error\": {\"code\": \"busy\", \"message\": \"the server has no room for this now; try "
        "again in a moment\"}}";
    fix(r, 503, busy);
    r->retry = 1;
}

void mel_response_too_large(mel_response *r)
{
    static const char too_large[] =
        "{\"error\": {\"code\": \"too-large\", \"message\": \"this is more than the server sends\"}}";
    fix(r, 413, too_large);
}

enum MHD_Result mel_response_refuse(struct MHD_Connection *link, unsigned status)
{
    static const char too_large[] =
        "{\"error\": {\"code\": \"too-large\", \"message\": \"this is more than the "
        "server takes\"}}";
    static const char bad[] =
        "{\"error\": {\"code\": \"bad-request\", \"message\": \"this is not a request that "
        "the server understands\"}}";
    static const char closed[] =
        "{\"error\": {\"code\": \"closed\", \"message\": \"on this server only researchers upload "
        "tables\"}}";
    const char *text = status == 413 || status == 431 ? too_large : status == 403 ? closed : bad;
    mel_response r;
    if (status == 503)
        mel_response_busy(&r);
    else
        fix(&r, status, text);
    return mel_response_send(link, &r, true);
}

/* --- packing ---------------------------------------------------------------------------------------- */

enum { LEAST = 1400, MOST = 4 << 20, LEVEL = 5, GZIP = 16 }; /* LEAST: what fits into one packet anyway */

/* Whether "gzip" is among what is taken: "gzip, deflate;q=0.5", but not "gzip;q=0". */
static bool takes_gzip(const char *accepted)
{
    for (const char *at = accepted; at != NULL && *at != '\0';) {
        at += strspn(at, ", \t");
        const size_t n = strcspn(at, ",; \t");
        const bool gzip = n == 4 && strncasecmp(at, "gzip", n) == 0;
        const char *rest = at + n, *end = rest + strcspn(rest, ",");
        const char *weight = strstr(rest, "q=");
        if (gzip)
            return weight == NULL || weight >= end || mel_to_double(weight + 2, NULL) > 0.0;
        at = end;
    }
    return false;
}

static bool is_ours(const char *site)
{
    return site == NULL || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
}

static bool is_wanted(const mel_http_request *request)
{
    const mel_response *r = &request->response;
    return r->body != NULL && r->lent == NULL && r->file < 0 && !r->gzipped && r->n >= LEAST &&
           r->n <= MOST && r->cookie[0] == '\0' &&
           is_ours(mel_request_header(&request->seen, "Sec-Fetch-Site")) &&
           takes_gzip(mel_request_header(&request->seen, "Accept-Encoding"));
}

/* The body's gzip, of *size bytes, shorter than it; NULL: it is not, or there is no memory. */
static unsigned char *packed(const mel_response *r, size_t *size)
{
    z_stream zip = { .next_in = (Bytef *)r->body, .avail_in = (uInt)r->n };
    unsigned char *out = mel_alloc(r->n, 1);
    if (out == NULL ||
        deflateInit2(&zip, LEVEL, Z_DEFLATED, GZIP + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(out);
        return NULL;
    }
    zip.next_out = out;
    zip.avail_out = (uInt)r->n;
    const bool whole = deflate(&zip, Z_FINISH) == Z_STREAM_END;
    *size = r->n - zip.avail_out;
    (void)deflateEnd(&zip);
    if (!whole) {
        free(out);
        return NULL;
    }
    return out;
}

void mel_http_request_compress(mel_http_request *request)
{
    mel_response *r = &request->response;
    size_t size = 0;
    unsigned char *smaller = is_wanted(request) ? packed(r, &size) : NULL;
    if (smaller == NULL)
        return;
    free(r->body);
    r->body = (char *)smaller;
    r->n = size;
    r->gzipped = true;
}
