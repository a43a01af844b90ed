/* Single keys from a terminal, which is put back as it was whatever ends the program. */
#include "oracle/tty_keys.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/select.h>
#include <termios.h>
#include <unistd.h>

static const int endings[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
enum { N_ENDINGS = sizeof endings / sizeof *endings };

/* A signal handler is given no context, so what it must put back is here; only between
 * mel_tty_keys_begin and mel_tty_keys_end, and `taken` admits one holder at a time. */
static atomic_flag taken = ATOMIC_FLAG_INIT;
static struct {
    int file;
    struct termios before;
    struct sigaction previous[N_ENDINGS];
    bool replaced[N_ENDINGS];
    struct sigaction previous_resize;
    volatile sig_atomic_t stop;    /* a signal asked to end, and the caller's own handler let us live */
    volatile sig_atomic_t resized; /* the window has another size than when that was last told */
} held;

/* Puts the terminal and the signal's own handling back and lets it happen again, when this returns. */
static void on_ending(int signal_number)
{
    const int reason = errno;
    (void)tcsetattr(held.file, TCSANOW, &held.before);
    for (int i = 0; i < N_ENDINGS; i++)
        if (endings[i] == signal_number)
            (void)sigaction(signal_number, &held.previous[i], NULL);
    held.stop = 1;
    (void)raise(signal_number);
    errno = reason;
}

static void on_resize(int signal_number)
{
    (void)signal_number;
    held.resized = 1;
}

static void watch_signals(void)
{
    struct sigaction resize = { .sa_handler = on_resize }; /* no SA_RESTART, as below */
    (void)sigemptyset(&resize.sa_mask);
    (void)sigaction(SIGWINCH, &resize, &held.previous_resize);
    for (int i = 0; i < N_ENDINGS; i++) {
        struct sigaction mine = { .sa_handler = on_ending }; /* no SA_RESTART: reading must return */
        (void)sigfillset(&mine.sa_mask);
        held.replaced[i] = false;
        if (sigaction(endings[i], NULL, &held.previous[i]) != 0)
            continue;
        const bool ignored =
            (held.previous[i].sa_flags & SA_SIGINFO) == 0 && held.previous[i].sa_handler == SIG_IGN;
        held.replaced[i] = !ignored && sigaction(endings[i], &mine, NULL) == 0;
    }
}

bool mel_tty_keys_begin(int file)
{
    if (file < 0 || isatty(file) != 1 || atomic_flag_test_and_set(&taken))
        return false;
    struct termios raw;
    if (tcgetattr(file, &raw) != 0) {
        atomic_flag_clear(&taken);
        return false;
    }
    held.file = file;
    held.before = raw;
    held.stop = held.resized = 0;
    watch_signals();
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    /* Ctrl-C and Ctrl-\ are keys here, Ctrl-Z still suspends. */
    raw.c_cc[VINTR] = _POSIX_VDISABLE;
    raw.c_cc[VQUIT] = _POSIX_VDISABLE;
    if (tcsetattr(file, TCSAFLUSH, &raw) == 0)
        return true;
    mel_tty_keys_end();
    return false;
}

void mel_tty_keys_end(void)
{
    (void)tcsetattr(held.file, TCSADRAIN, &held.before);
    for (int i = 0; i < N_ENDINGS; i++)
        if (held.replaced[i])
            (void)sigaction(endings[i], &held.previous[i], NULL);
    (void)sigaction(SIGWINCH, &held.previous_resize, NULL);
    atomic_flag_clear(&taken);
}

/* Until there is something to read or a signal was told: one that comes between the look at the flags and the
 * waiting ends the waiting, too. False when nothing can be read without waiting. */
static bool wait_for_input(void)
{
    sigset_t watched, before;
    (void)sigemptyset(&watched);
    (void)sigaddset(&watched, SIGWINCH);
    for (int i = 0; i < N_ENDINGS; i++)
        (void)sigaddset(&watched, endings[i]);
    (void)pthread_sigmask(SIG_BLOCK, &watched, &before);
    fd_set files;
    FD_ZERO(&files);
    FD_SET(held.file, &files);
    const bool told = held.stop || held.resized;
    const int ready = told ? 0 : pselect(held.file + 1, &files, NULL, NULL, NULL, &before);
    const bool failed = ready < 0 && errno != EINTR; /* reading then says why */
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ready > 0 || failed;
}

/* A byte, MEL_TTY_RESIZED or MEL_TTY_END. */
static int read_byte(void)
{
    for (;;) {
        const bool ready = wait_for_input();
        if (held.stop)
            return MEL_TTY_END;
        if (held.resized) {
            held.resized = 0;
            return MEL_TTY_RESIZED;
        }
        unsigned char byte = 0;
        const ssize_t n = ready ? read(held.file, &byte, 1) : -1;
        if (n == 1)
            return byte;
        if (n == 0 || (ready && errno != EINTR))
            return MEL_TTY_END;
    }
}

/* Whether more follows within a moment, as in the keys that send several bytes. */
static bool more_follows(void)
{
    enum { MOMENT = 50 }; /* milliseconds */
    struct pollfd one = { .fd = held.file, .events = POLLIN };
    return poll(&one, 1, MOMENT) == 1;
}

/* The rest of ESC [ ... or ESC O x, up to its final letter. */
static int read_sequence(void)
{
    if (!more_follows())
        return MEL_TTY_UNKNOWN;
    const int kind = read_byte();
    if (kind != '[' && kind != 'O')
        return kind == MEL_TTY_END ? MEL_TTY_END : MEL_TTY_UNKNOWN;
    for (int i = 0; i < 16 && more_follows(); i++) {
        const int byte = read_byte();
        if (byte == MEL_TTY_END)
            return MEL_TTY_END;
        if (byte >= 0x40 && byte <= 0x7e)
            return byte == 'D' ? MEL_TTY_LEFT : byte == 'C' ? MEL_TTY_RIGHT : MEL_TTY_UNKNOWN;
    }
    return MEL_TTY_UNKNOWN;
}

int mel_tty_keys_read(void)
{
    enum { CTRL_C = 3, CTRL_D = 4, CTRL_BACKSLASH = 28, ESCAPE = 27 };
    const int byte = read_byte();
    if (byte == CTRL_C || byte == CTRL_D || byte == CTRL_BACKSLASH)
        return MEL_TTY_END;
    return byte == ESCAPE ? read_sequence() : byte;
}
