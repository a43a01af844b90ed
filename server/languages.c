/* The languages of what the library says, from the catalogue that the pages have, too (web/languages.json).
 */
#include "languages.h"

#include "assets.h"
#include "json_helpers.h"

#include "base/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MOST_BYTES = 4 << 20 };

static const char *find_sentence(const void *catalogue, const char *english)
{
    return mel_json_string(catalogue, english);
}

static struct {
    const char *name;
    mel_language language;
} known[] = { { "de", { find_sentence, NULL, ',', '.' } },
              { "fr", { find_sentence, NULL, ',', ' ' } },
              { "es", { find_sentence, NULL, ',', '.' } } };
enum { N_KNOWN = sizeof known / sizeof *known };

static json_t *catalogue; /* borrowed by the languages; until the program ends */

/* The file as it was before it was packed; for free(). The program's own file is whole, so only memory can
 * be missing: NULL. */
static char *unpack(const mel_asset *asset, size_t *n)
{
    char *out = mel_alloc(MOST_BYTES, 1);
    z_stream stream = { .next_in = (unsigned char *)(uintptr_t)asset->bytes,
                        .avail_in = (uInt)asset->n,
                        .next_out = (unsigned char *)out,
                        .avail_out = MOST_BYTES };
    const bool begun = out != NULL && inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK;
    const bool whole = begun && inflate(&stream, Z_FINISH) == Z_STREAM_END;
    *n = stream.total_out;
    if (begun)
        (void)inflateEnd(&stream);
    if (!whole) {
        free(out);
        out = NULL;
    }
    return out;
}

mel_status mel_languages_load(mel_error *err)
{
    size_t at = 0, n = 0;
    if (catalogue != NULL)
        return MEL_OK;
    while (at < mel_n_assets && strcmp(mel_assets[at].path, "/sentences.json") != 0)
        at++;
    if (at == mel_n_assets)
        return mel_fail(err, MEL_EDATA, "the catalogue of sentences is not part of the program");
    const mel_asset *asset = &mel_assets[at];
    MEL_AUTO_MEMORY char *text = asset->gzipped ? unpack(asset, &n) : NULL;
    if (asset->gzipped && text == NULL)
        return mel_fail_memory(err, "the catalogue of sentences");
    TRY(mel_json_parse(&catalogue, asset->gzipped ? text : (const char *)asset->bytes,
                       asset->gzipped ? n : asset->n, err));
    for (size_t i = 0; i < N_KNOWN; i++)
        known[i].language.catalogue = json_object_get(catalogue, known[i].name);
    return MEL_OK;
}

bool mel_language_is_known(const char *name)
{
    size_t i = 0;
    while (i < N_KNOWN && strcmp(known[i].name, name) != 0)
        i++;
    return i < N_KNOWN || strcmp(name, "en") == 0;
}

const mel_language *mel_language_called(const char *name)
{
    for (size_t i = 0; name != NULL && i < N_KNOWN; i++)
        if (strcmp(known[i].name, name) == 0 && known[i].language.catalogue != NULL)
            return &known[i].language;
    return NULL;
}

const char *mel_language_accepted(const char *accept)
{
    double most = 0.0;
    const char *best = "en";
    while (accept != NULL && *accept != '\0') {
        accept += strspn(accept, " ,");
        const size_t length = strcspn(accept, ",");
        const char *quality = memchr(accept, '=', length);
        const double wanted = quality != NULL ? mel_to_double(quality + 1, NULL) : 1.0;
        char name[3] = { 0 };
        for (size_t i = 0; i < 2 && i < length; i++)
            name[i] = (char)tolower((unsigned char)accept[i]);
        const bool ends = length == 2 || (length > 2 && strchr("-;, ", accept[2]) != NULL);
        if (ends && mel_language_is_known(name) && wanted > most) {
            most = wanted;
            best = "en";
            for (size_t i = 0; i < N_KNOWN; i++)
                best = strcmp(known[i].name, name) == 0 ? known[i].name : best;
        }
        accept += length;
    }
    return best;
}
