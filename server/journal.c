/* Files of lines that say what was asked of the server. */
#include "journal.h"

#include "clock.h"

#include "base/internal.h"
#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct mel_journal {
    const char *path; /* borrowed */
    pthread_mutex_t lock;
    int file;
    bool cut;      /* the last line that was begun is not whole */
    uint64_t lost; /* lines since the log could last be written ... */
    int64_t since; /* ... and when the first of them was */
};

static mel_status open_file(int *out, const char *path, mel_error *err)
{
    *out = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    return *out >= 0 ? MEL_OK : mel_fail(err, MEL_EIO, "%s: cannot be written: %s", path, strerror(errno));
}

mel_status mel_journal_open(mel_journal **out, const char *path, mel_error *err)
{
    int file = -1;
    *out = NULL;
    if (path == NULL)
        return MEL_OK;
    TRY(open_file(&file, path, err));
    *out = mel_alloc_zero(1, sizeof **out);
    if (*out == NULL) {
        (void)close(file);
        return mel_fail_memory(err, "a log");
    }
    (*out)->path = path;
    (*out)->file = file;
    (void)pthread_mutex_init(&(*out)->lock, NULL);
    return MEL_OK;
}

mel_status mel_journal_reopen(mel_journal *journal, mel_error *err)
{
    int file = -1;
    if (journal == NULL)
        return MEL_OK;
    TRY(open_file(&file, journal->path, err));
    (void)pthread_mutex_lock(&journal->lock);
    const int before = journal->file;
    journal->file = file;
    journal->cut = false;
    (void)pthread_mutex_unlock(&journal->lock);
    (void)close(before);
    return MEL_OK;
}

void mel_journal_close(mel_journal *journal)
{
    if (journal == NULL)
        return;
    (void)close(journal->file);
    (void)pthread_mutex_destroy(&journal->lock);
    free(journal);
}

/* One write is one line, also where other processes write; what a full disk cut off is a line of its own. */
static bool write_line(mel_journal *journal, const json_t *line)
{
    char *text = line != NULL ? mel_json_text(line, JSON_COMPACT) : NULL;
    if (text == NULL)
        return false;
    const size_t n = strlen(text) + 1;
    text[n - 1] = '\n'; /* in the place of the NUL */
    bool good = !journal->cut || write(journal->file, "\n", 1) == 1;
    if (good) {
        const ssize_t written = write(journal->file, text, n);
        good = written == (ssize_t)n;
        journal->cut = written > 0 && !good;
    }
    text[n - 1] = '\0';
    mel_json_free_text(text);
    return good;
}

/* Says first, where lines were lost, how many and since when. */
static bool write_lost(mel_journal *journal)
{
    if (journal->lost == 0)
        return true;
    json_t *line = json_pack("{s:I, s:I, s:I}", "time", (json_int_t)mel_clock_ms(CLOCK_REALTIME), "lost",
                             (json_int_t)journal->lost, "since", (json_int_t)journal->since);
    const bool said = write_line(journal, line);
    json_decref(line);
    if (said)
        journal->lost = 0;
    return said;
}

bool mel_journal_add(mel_journal *journal, json_t *line)
{
    if (journal == NULL) {
        json_decref(line);
        return true;
    }
    (void)pthread_mutex_lock(&journal->lock);
    const bool good = write_lost(journal) && write_line(journal, line);
    if (!good && journal->lost++ == 0)
        journal->since = mel_clock_ms(CLOCK_REALTIME);
    (void)pthread_mutex_unlock(&journal->lock);
    json_decref(line);
    return good;
}

uint64_t mel_journal_lost(mel_journal *journal)
{
    if (journal == NULL)
        return 0;
    (void)pthread_mutex_lock(&journal->lock);
    const uint64_t lost = journal->lost;
    (void)pthread_mutex_unlock(&journal->lock);
    return lost;
}

bool mel_journal_erased(mel_journal *journal, const char *study, const char *participant, const char *by)
{
    return journal == NULL ||
           mel_journal_add(journal,
                           json_pack("{s:I, s:s, s:s, s:s}", "time", (json_int_t)mel_clock_ms(CLOCK_REALTIME),
                                     "erased", participant, "study", study, "by", by));
}
