/* Files of lines that say what was asked of the server. */
#include "journal.h"

#include "clock.h"

#include "base/internal.h"
#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct mel_journal {
    int file;
};

mel_status mel_journal_open(mel_journal **out, const char *path, mel_error *err)
{
    *out = NULL;
    if (path == NULL)
        return MEL_OK;
    const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0)
        return mel_fail(err, MEL_EIO, "%s: cannot be written: %s", path, strerror(errno));
    *out = mel_alloc_zero(1, sizeof **out);
    if (*out == NULL) {
        (void)close(file);
        return mel_fail_memory(err, "a log");
    }
    (*out)->file = file;
    return MEL_OK;
}

void mel_journal_close(mel_journal *journal)
{
    if (journal == NULL)
        return;
    (void)close(journal->file);
    free(journal);
}

/* A log that cannot be written must not stop what it is about. */
void mel_journal_add(mel_journal *journal, json_t *line)
{
    char *text = journal != NULL && line != NULL ? mel_json_text(line, JSON_COMPACT) : NULL;
    json_decref(line);
    if (text == NULL)
        return;
    const size_t n = strlen(text);
    text[n] = '\n'; /* in the place of the NUL: one write is one line */
    const ssize_t written = write(journal->file, text, n + 1);
    (void)written;
    text[n] = '\0';
    mel_json_free_text(text);
}

void mel_journal_erased(mel_journal *journal, const char *study, const char *participant, const char *by)
{
    if (journal != NULL)
        mel_journal_add(journal,
                        json_pack("{s:I, s:s, s:s, s:s}", "time", (json_int_t)mel_clock_ms(CLOCK_REALTIME),
                                  "erased", participant, "study", study, "by", by));
}
