/* A child process that is written to and read from, with deadlines. */
#ifndef MEL_ORACLE_PROCESS_H
#define MEL_ORACLE_PROCESS_H

#include "base/internal.h"

#include <sys/types.h>

typedef struct {
    pid_t pid;    /* 0: reaped */
    bool alone;   /* it leads a process group: what it started ends with it */
    int to, from; /* its standard input and output, non-blocking; -1: closed */
    int status;   /* as waitpid gives it, once reaped */
    bool known;   /* status is */
} mel_process;

/* /bin/sh -c program, with SIGPIPE as programs expect it. alone: in a process group of its own; Ctrl-C at a
 * terminal does not reach it then, nor can it talk to the person there. 0, or an errno that says why not. */
int mel_process_start(mel_process *process, const char *program, bool alone);
/* Whether there is a terminal that programs may use to talk to a person, and whose Ctrl-C reaches them. */
bool mel_process_has_terminal(void);
/* Closes both ends, gives it `grace` seconds to end, then SIGTERM and one more second, then SIGKILL; reaps
 * it. The whole group gets the signals, and SIGTERM once the program has ended.
 */
void mel_process_end(mel_process *process, double grace);
/* Waits up to `seconds` for it to end by itself; true when it has. */
bool mel_process_wait(mel_process *process, double seconds);
/* "exit status 3", "killed by signal 9", "still running". */
void mel_process_describe(char *text, size_t n, const mel_process *process);

typedef enum { MEL_MOVED, MEL_MOVED_END, MEL_MOVED_LATE, MEL_MOVED_FAILED } mel_moved;
/* Bytes *sent to n - 1 to its standard input, of which *sent tells how far it came; END: it closed it.
 * deadline as mel_clock, 0: none. Never raises SIGPIPE. */
mel_moved mel_process_write(mel_process *process, const char *bytes, size_t n, size_t *sent, double deadline);
/* Some bytes from its standard output, at least one, at most n. */
mel_moved mel_process_read(mel_process *process, char *bytes, size_t n, size_t *got, double deadline);

/* Lines to a program and lines back, with a look at the wish to stop while it thinks. */
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
