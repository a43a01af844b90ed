/* Notices about files as bytes. */
#include "base/internal.h"
#include "data/shared.h"

#include <stdlib.h>
#include <string.h>

/* Before the name of a file and a sentence about it, each with its end. */
typedef struct {
    mel_format format;
    bool is_warning;
    size_t name, sentence; /* bytes */
} head;

void mel_kept_notices_clear(mel_kept_notices *kept)
{
    free(kept->bytes);
    *kept = (mel_kept_notices){ 0 };
}

void mel_kept_notices_add(mel_kept_notices *kept, const void *bytes, size_t n)
{
    void *all = kept->bytes;
    kept->lost = kept->lost || !mel_grow(&all, kept->n + n, 1);
    kept->bytes = all;
    if (kept->lost)
        return;
    memcpy(kept->bytes + kept->n, bytes, n);
    kept->n += n;
}

static void keep(void *user, const char *file, mel_format format, const char *sentence, bool is_warning)
{
    mel_kept_notices *kept = user;
    const head h = { format, is_warning, strlen(file) + 1, strlen(sentence) + 1 };
    kept->formats |= 1U << format;
    mel_kept_notices_add(kept, &h, sizeof h);
    mel_kept_notices_add(kept, file, h.name);
    mel_kept_notices_add(kept, sentence, h.sentence);
}

mel_notice mel_notice_to_keep(mel_kept_notices *kept)
{
    return (mel_notice){ keep, kept };
}

void mel_kept_notices_say(const char *bytes, size_t n, const mel_notice *notice)
{
    for (const char *at = bytes; at < bytes + n && notice->call != NULL;) {
        head h;
        memcpy(&h, at, sizeof h);
        at += sizeof h;
        notice->call(notice->user, at, h.format, at + h.name, h.is_warning);
        at += h.name + h.sentence;
    }
}
