/* Lines to a program and lines back, with a look at the wish to stop while it thinks. */
#ifndef MEL_ORACLE_TALK_H
#define MEL_ORACLE_TALK_H

#include "oracle/process.h"

enum { MEL_MAX_SAID = 1000 };

typedef struct {
    mel_process process;
    mel_progress progress;   /* asked now and then while waiting */
    bool stopped;            /* it said so */
    char said[MEL_MAX_SAID]; /* what was read and not yet used */
    size_t n_said;
} mel_talk;

/* True as long as it said nothing that it was not asked; else said has it. */
bool mel_talk_silent(mel_talk *talk);
/* Sends n bytes and waits for a line, which is then the first *n_line characters of said; the last line may
 * lack its newline, and one that is too long counts as whole. timeout: in seconds, 0 for ever. Returns
 * MEL_ESTOPPED at the first stop request, even if another process still holds the pipe; otherwise *moved says
 * how it went. */
mel_status mel_talk_exchange(mel_talk *talk, mel_moved *moved, size_t *n_line, const char *bytes, size_t n,
                             double timeout, const char *waiting, mel_error *err);
/* Forgets a line of said. */
void mel_talk_used(mel_talk *talk, size_t n_line);

#endif
