/* Lines to a program and lines back. */
#include "oracle/talk.h"

#include <string.h>

/* How often a wish to stop is looked for, in seconds. */
static const double patience = 0.1;

bool mel_talk_silent(mel_talk *talk)
{
    size_t got = 0;
    if (talk->n_said == 0 &&
        mel_process_read(&talk->process, talk->said, sizeof talk->said, &got, mel_clock()) == MEL_MOVED)
        talk->n_said = got;
    return talk->n_said == 0;
}

/* More of said, until it has a line. */
static mel_moved read_line(mel_talk *talk, size_t *n, double deadline)
{
    for (;;) {
        const char *newline = memchr(talk->said, '\n', talk->n_said);
        *n = newline != NULL ? (size_t)(newline - talk->said) : talk->n_said;
        if (newline != NULL || talk->n_said == sizeof talk->said)
            return MEL_MOVED;
        size_t got = 0;
        const mel_moved moved = mel_process_read(&talk->process, talk->said + talk->n_said,
                                                 sizeof talk->said - talk->n_said, &got, deadline);
        if (moved == MEL_MOVED_END && talk->n_said > 0)
            return MEL_MOVED;
        if (moved != MEL_MOVED)
            return moved;
        talk->n_said += got;
    }
}

mel_status mel_talk_exchange(mel_talk *talk, mel_moved *moved, size_t *n_line, const char *bytes, size_t n,
                             double timeout, const char *waiting, mel_error *err)
{
    const double deadline = timeout > 0.0 ? mel_clock() + timeout : 0.0;
    mel_status status = MEL_OK;
    size_t sent = 0;
    *n_line = 0;
    for (;;) {
        const double soon = mel_clock() + patience;
        const double until = deadline > 0.0 && deadline < soon ? deadline : soon;
        *moved = MEL_MOVED;
        if (sent < n)
            *moved = mel_process_write(&talk->process, bytes, n, &sent, until);
        if (*moved == MEL_MOVED)
            *moved = read_line(talk, n_line, until);
        if (*moved != MEL_MOVED_LATE)
            return MEL_OK;
        status = mel_report_progress(&talk->progress, waiting, 0.0, err);
        talk->stopped = status != MEL_OK;
        if (talk->stopped || (deadline > 0.0 && mel_clock() >= deadline))
            return status;
    }
}

void mel_talk_used(mel_talk *talk, size_t n_line)
{
    const size_t used = n_line < talk->n_said ? n_line + 1 : n_line;
    talk->n_said -= used;
    memmove(talk->said, talk->said + used, talk->n_said);
}
