/* What a reader has to say about a file: how it was read, and what may be a mistake; and notices kept as
 * bytes. */
#include "data/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 400 };

mel_count_words mel_count_text(size_t n)
{
    char digits[24];
    mel_count_words out;
    const int length = snprintf(digits, sizeof digits, "%zu", n);
    size_t at = 0;
    for (int i = 0; i < length; i++) {
        if (i != 0 && (length - i) % 3 == 0)
            out.text[at++] = ',';
        out.text[at++] = digits[i];
    }
    out.text[at] = '\0';
    return out;
}

static mel_status add_warning(mel_notes *notes, const char *sentence, mel_error *err)
{
    void *list = notes->warning;
    TRY(MEL_NEED(mel_grow(&list, notes->n_warnings + 1, sizeof *notes->warning), "warnings", err));
    notes->warning = list;
    TRY(MEL_NEED(notes->warning[notes->n_warnings] = mel_strdup(sentence), "warnings", err));
    notes->n_warnings++;
    return MEL_OK;
}

mel_status mel_notes_warn(mel_notes *notes, mel_error *err, const char *fmt, ...)
{
    char sentence[LONGEST];
    va_list args;
    va_start(args, fmt);
    (void)mel_vprint(sentence, sizeof sentence, fmt, args);
    va_end(args);
    return add_warning(notes, sentence, err);
}

mel_status mel_notes_how(mel_notes *notes, mel_error *err, const char *fmt, ...)
{
    char sentence[LONGEST];
    va_list args;
    va_start(args, fmt);
    (void)mel_vprint(sentence, sizeof sentence, fmt, args);
    va_end(args);
    free(notes->how);
    notes->how = mel_strdup(sentence);
    return notes->how != NULL ? MEL_OK : mel_fail_memory(err, "notes on a file");
}

void mel_notes_clear(mel_notes *notes)
{
    for (size_t i = 0; i < notes->n_warnings; i++)
        free(notes->warning[i]);
    free(notes->warning);
    free(notes->how);
    *notes = (mel_notes){ 0 };
}

mel_status mel_notes_check(const mel_notes *notes, bool strict, mel_error *err)
{
    return strict && notes->n_warnings != 0
               ? mel_fail(err, MEL_EDATA, "%s (refused: reading is strict)", notes->warning[0])
               : MEL_OK;
}

void mel_notes_say(const mel_notes *notes, const char *file, mel_format format, const mel_notice *notice)
{
    if (notice->call == NULL)
        return;
    if (notes->how != NULL)
        notice->call(notice->user, file, format, notes->how, false);
    for (size_t i = 0; i < notes->n_warnings; i++)
        notice->call(notice->user, file, format, notes->warning[i], true);
}

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

static void keep_notice(void *user, const char *file, mel_format format, const char *sentence,
                        bool is_warning)
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
    return (mel_notice){ keep_notice, kept };
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
