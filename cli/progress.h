/* Long work: a bar on standard error, and Ctrl-C as a wish to stop. */
#ifndef MEL_CLI_PROGRESS_H
#define MEL_CLI_PROGRESS_H

#include "command.h"

/* SIGINT, SIGTERM and SIGHUP ask for a clean stop (a second one ends the program at once); SIGPIPE
 * and SIGXFSZ are ignored, so that a reader who leaves early and a file that may not grow show as failed
 * writes. */
void cli_catch_signals(void);
/* For a server: from now on SIGHUP asks it to read its settings again, unless it was started at a terminal,
 * which is then gone; SIGUSR1 and SIGUSR2 do nothing. */
void cli_catch_reload(void);
/* Whether somebody asked, once for each time. */
bool cli_reload_wanted(void);
bool cli_stop_wanted(void);
/* MEL_ESTOPPED with a sentence once somebody asked to stop: for work that the library does in one go. */
mel_status cli_check_stop(mel_error *err);

/* The callback for the library; it draws when `wanted` and standard error is a terminal, and always
 * carries the wish to stop. There is one bar, as there is one terminal. */
mel_progress cli_bar_start(bool wanted);
/* The same without a bar: for work that waits for somebody who may use the terminal. */
mel_progress cli_stop_only(void);
/* Takes the bar off the screen; everything that prints for people does so first. */
void cli_bar_clear(void);
/* No more bars: rows of a result go to the same terminal. */
void cli_bar_end(void);

#endif
