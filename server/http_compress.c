/* Answers that are made for a request, packed where the client takes that.
 *
 * The length of a packed answer tells how much its parts are alike. Whoever could make another person's
 * browser ask with words of their own, and see the lengths, could guess secrets beside those words (BREACH).
 * Here nobody can: cookies are SameSite=Strict, so that requests from other sites carry none and get nobody's
 * page; where the browser says that a request comes from another site, its answer is not packed; nor is one
 * that sets a cookie. */
#include "http_internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

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
