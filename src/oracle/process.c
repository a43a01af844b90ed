/* A command that answers questions through pipes. */
#define _GNU_SOURCE /* pipe2: without it, a fork in another thread could inherit an end and keep it open;    \
                       closing of files */
#include "oracle/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void close_end(int *end)
{
    if (*end >= 0)
        (void)close(*end);
    *end = -1;
}

/* Above the standard three, so that dup2 in the child cannot run over it. */
static bool lift(int *end)
{
    const int lifted = fcntl(*end, F_DUPFD_CLOEXEC, 3);
    close_end(end);
    *end = lifted;
    return lifted >= 0;
}

static bool open_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0) {
        ends[0] = ends[1] = -1;
        return false;
    }
    const bool first = lift(&ends[0]), second = lift(&ends[1]);
    return first && second;
}

/* It gets the three standard files, and signals as a program that is started by a shell has them: nothing
 * that was changed or opened for melicit itself. */
static int spawn(mel_process *process, const char *program, int input, int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int reason = posix_spawn_file_actions_init(&actions);
    if (reason != 0)
        return reason;
    reason = posix_spawnattr_init(&attributes);
    if (reason != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return reason;
    }
    sigset_t defaults;
    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGPIPE);
    (void)sigaddset(&defaults, SIGXFSZ);
    char shell[] = "/bin/sh", option[] = "-c";
    char *const arguments[] = { shell, option, (char *)program, NULL }; /* execve takes them as they are */
    reason = posix_spawnattr_setsigdefault(&attributes, &defaults);
    if (reason == 0)
        reason = posix_spawnattr_setflags(
            &attributes, (short)(POSIX_SPAWN_SETSIGDEF | (process->alone ? POSIX_SPAWN_SETPGROUP : 0)));
    if (reason == 0)
        reason = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (reason == 0)
        reason = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (reason == 0)
        reason = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    if (reason == 0)
        reason = posix_spawn(&process->pid, shell, &actions, &attributes, arguments, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return reason;
}

static bool make_nonblocking(int file)
{
    const int flags = fcntl(file, F_GETFL);
    return flags >= 0 && fcntl(file, F_SETFL, flags | O_NONBLOCK) == 0;
}

bool mel_process_has_terminal(void)
{
    const int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal >= 0)
        (void)close(terminal);
    return terminal >= 0;
}

int mel_process_start(mel_process *process, const char *program, bool alone)
{
    *process = (mel_process){ .alone = alone, .to = -1, .from = -1 };
    int input[2] = { -1, -1 }, output[2] = { -1, -1 };
    int reason = 0;
    if (!open_pipe(input) || !open_pipe(output) || !make_nonblocking(input[1]) ||
        !make_nonblocking(output[0]))
        reason = errno;
    if (reason == 0)
        reason = spawn(process, program, input[0], output[1]);
    close_end(&input[0]);
    close_end(&output[1]);
    if (reason != 0) {
        process->pid = 0;
        close_end(&input[1]);
        close_end(&output[0]);
        return reason;
    }
    process->to = input[1];
    process->from = output[0];
    return 0;
}

static void send(const mel_process *process, int signal_number)
{
    (void)kill(process->alone ? -process->pid : process->pid, signal_number);
}

/* Ended and not reaped: the number of its group cannot be anybody else's yet. */
static bool is_zombie(pid_t pid)
{
    siginfo_t how = { 0 };
    return waitid(P_PID, (id_t)pid, &how, WEXITED | WNOHANG | WNOWAIT) == 0 && how.si_pid == pid;
}

/* True when it has ended (or was reaped behind our back). */
static bool reap(mel_process *process)
{
    if (process->pid == 0)
        return true;
    if (process->alone && is_zombie(process->pid))
        send(process, SIGTERM); /* to what it left behind */
    const pid_t got = waitpid(process->pid, &process->status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR))
        return false;
    process->known = got == process->pid;
    process->pid = 0;
    return true;
}

bool mel_process_wait(mel_process *process, double seconds)
{
    const double deadline = mel_clock() + seconds;
    long pause = 1000000; /* nanoseconds: short at first, most programs end at once */
    while (!reap(process)) {
        if (mel_clock() >= deadline)
            return false;
        const struct timespec nap = { 0, pause };
        (void)nanosleep(&nap, NULL);
        pause = pause < 20000000 ? 2 * pause : pause;
    }
    return true;
}

void mel_process_end(mel_process *process, double grace)
{
    close_end(&process->to);
    close_end(&process->from);
    if (mel_process_wait(process, grace))
        return;
    send(process, SIGTERM);
    if (mel_process_wait(process, 1.0))
        return;
    send(process, SIGKILL);
    while (!mel_process_wait(process, 1.0))
        continue;
}

void mel_process_describe(char *text, size_t n, const mel_process *process)
{
    if (process->pid != 0)
        (void)snprintf(text, n, "still running");
    else if (!process->known)
        (void)snprintf(text, n, "ended");
    else if (WIFSIGNALED(process->status))
        (void)snprintf(text, n, "killed by signal %d", WTERMSIG(process->status));
    else
        (void)snprintf(text, n, "exit status %d%s", WEXITSTATUS(process->status),
                       WEXITSTATUS(process->status) == 127 ? ", which means not found" : "");
}

/* Looks at least once, however late it is. */
static mel_moved wait_for(int file, short what, double deadline)
{
    for (;;) {
        int milliseconds = -1;
        if (deadline > 0.0) {
            const double left = deadline - mel_clock();
            milliseconds = left <= 0.0 ? 0 : left > 1e6 ? 1000000000 : (int)(1000.0 * left) + 1;
        }
        struct pollfd one = { .fd = file, .events = what };
        const int ready = poll(&one, 1, milliseconds);
        if (ready > 0)
            return MEL_MOVED;
        if (ready < 0 && errno != EINTR && errno != EAGAIN)
            return MEL_MOVED_FAILED;
        if (ready == 0 && milliseconds == 0)
            return MEL_MOVED_LATE;
    }
}

/* write() with SIGPIPE held back in this thread and, if our write caused it, taken off again. */
static ssize_t quiet_write(int file, const char *bytes, size_t n)
{
    sigset_t pipe_only, before, pending;
    (void)sigemptyset(&pipe_only);
    (void)sigaddset(&pipe_only, SIGPIPE);
    (void)sigpending(&pending);
    const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    (void)pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    const ssize_t written = write(file, bytes, n);
    const int reason = errno;
    if (written < 0 && reason == EPIPE && !was_pending) {
        const struct timespec at_once = { 0, 0 };
        while (sigtimedwait(&pipe_only, NULL, &at_once) < 0 && errno == EINTR)
            continue;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return written;
}

mel_moved mel_process_write(mel_process *process, const char *bytes, size_t n, size_t *sent, double deadline)
{
    while (*sent < n) {
        const mel_moved ready = wait_for(process->to, POLLOUT, deadline);
        if (ready != MEL_MOVED)
            return ready;
        const ssize_t written = quiet_write(process->to, bytes + *sent, n - *sent);
        if (written < 0 && errno != EINTR && errno != EAGAIN)
            return errno == EPIPE ? MEL_MOVED_END : MEL_MOVED_FAILED;
        if (written > 0)
            *sent += (size_t)written;
    }
    return MEL_MOVED;
}

mel_moved mel_process_read(mel_process *process, char *bytes, size_t n, size_t *got, double deadline)
{
    for (;;) {
        const mel_moved ready = wait_for(process->from, POLLIN, deadline);
        if (ready != MEL_MOVED)
            return ready;
        const ssize_t count = read(process->from, bytes, n);
        if (count > 0) {
            *got = (size_t)count;
            return MEL_MOVED;
        }
        if (count == 0)
            return MEL_MOVED_END;
        if (errno != EINTR && errno != EAGAIN)
            return MEL_MOVED_FAILED;
    }
}

/* --- lines to it and back ----------------------------------------------------------------------------- */

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
