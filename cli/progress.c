/* The progress bar on standard error, and Ctrl-C as a wish to stop. */
#include "progress.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { BAR_CELLS = 30, FEWEST_CELLS = 8, WORDS = 24 };
#define REDRAW_NANOSECONDS 80000000L

static struct {
    bool drawing, on_screen;
    char what[64];
    struct timespec drawn_at;
} bar;

/* Set in a handler, read in any thread. */
static atomic_int stop_wanted;
static atomic_int empty_input; /* a descriptor of /dev/null; negative: none */

/* A read that waits for standard input finds its end. */
static void on_signal(int number)
{
    (void)number;
    stop_wanted = 1;
    if (empty_input >= 0)
        (void)dup2(empty_input, STDIN_FILENO);
}

void cli_catch_signals(void)
{
    static const int stopping[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction action = { .sa_handler = SIG_IGN };
    (void)sigaction(SIGPIPE, &action, NULL);
    (void)sigaction(SIGXFSZ, &action, NULL);
    empty_input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; i < sizeof stopping / sizeof *stopping; i++) {
        struct sigaction before;
        /* A signal that is ignored from the start (nohup) stays ignored. */
        if (sigaction(stopping[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
            continue;
        /* No SA_RESTART: a read that waits is interrupted. */
        action = (struct sigaction){ .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };
        (void)sigaction(stopping[i], &action, NULL);
    }
}

static atomic_int reload_wanted;

static void on_reload(int number)
{
    (void)number;
    reload_wanted = 1;
}

void cli_catch_reload(void)
{
    const struct sigaction ignore = { .sa_handler = SIG_IGN };
    const struct sigaction reload = { .sa_handler = on_reload, .sa_flags = (int)SA_RESTART };
    (void)sigaction(SIGUSR1, &ignore, NULL);
    (void)sigaction(SIGUSR2, &ignore, NULL);
    if (isatty(STDIN_FILENO) == 0)
        (void)sigaction(SIGHUP, &reload, NULL);
}

bool cli_reload_wanted(void)
{
    return atomic_exchange(&reload_wanted, 0) != 0;
}

bool cli_stop_wanted(void)
{
    return stop_wanted != 0;
}

mel_status cli_check_stop(mel_error *err)
{
    return cli_stop_wanted() ? cli_fail(err, MEL_ESTOPPED, "stopped on request") : MEL_OK;
}

static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* On one line of the terminal: what wraps cannot be taken back. The bar gives way before the words do. */
static void draw(double share)
{
    enum { AROUND_CELLS = 3, PERCENT = 6 }; /* " [" and "]", " 100 %" */
    const double inside = share >= 0 && share <= 1 ? share : 0;
    const int room = columns() - 1 - PERCENT, most = room - WORDS - AROUND_CELLS;
    const int n_cells = most >= BAR_CELLS ? BAR_CELLS : most >= FEWEST_CELLS ? most : 0;
    const int words = n_cells == BAR_CELLS ? room - n_cells - AROUND_CELLS : n_cells > 0 ? WORDS : room;
    const int full = (int)(inside * n_cells);
    char cells[BAR_CELLS + 1] = "";
    memset(cells, '.', (size_t)n_cells);
    memset(cells, '#', (size_t)full);
    cells[n_cells] = '\0';
    (void)fputs("\r\033[K", stderr);
    if (words > 0)
        (void)fprintf(stderr, "%-*.*s%s%s%s %3d %%", words < WORDS ? words : WORDS, words, bar.what,
                      n_cells > 0 ? " [" : "", cells, n_cells > 0 ? "]" : "", (int)(inside * 100));
    (void)fflush(stderr);
    bar.on_screen = true;
}

static int on_progress(void *user, const char *what, double share)
{
    (void)user;
    if (bar.drawing) {
        struct timespec now;
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        const long since =
            (long)(now.tv_sec - bar.drawn_at.tv_sec) * 1000000000L + now.tv_nsec - bar.drawn_at.tv_nsec;
        if (strncmp(what, bar.what, sizeof bar.what - 1) != 0 || since >= REDRAW_NANOSECONDS) {
            (void)snprintf(bar.what, sizeof bar.what, "%s", what);
            bar.drawn_at = now;
            draw(share);
        }
    }
    return cli_stop_wanted();
}

static int on_waiting(void *user, const char *what, double share)
{
    (void)user;
    (void)what;
    (void)share;
    return cli_stop_wanted();
}

mel_progress cli_stop_only(void)
{
    return (mel_progress){ .call = on_waiting };
}

mel_progress cli_bar_start(bool wanted)
{
    bar.drawing = wanted && isatty(STDERR_FILENO);
    return (mel_progress){ .call = on_progress };
}

void cli_bar_clear(void)
{
    if (!bar.on_screen)
        return;
    (void)fputs("\r\033[K", stderr);
    (void)fflush(stderr);
    bar.on_screen = false;
}

void cli_bar_end(void)
{
    cli_bar_clear();
    bar.drawing = false;
}
