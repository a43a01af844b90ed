/* One key from a terminal, without waiting for a line. */
#ifndef MEL_ORACLE_TTY_KEYS_H
#define MEL_ORACLE_TTY_KEYS_H

#include "base/internal.h"

enum {
    MEL_TTY_END = -1,       /* end of input, Ctrl-C, Ctrl-D or a signal that asks to stop */
    MEL_TTY_UNKNOWN = -2,   /* something that is no answer to anything */
    MEL_TTY_RESIZED = -3,   /* no key: the window has another size */
    MEL_TTY_LEFT = 0x10000, /* beyond any byte */
    MEL_TTY_RIGHT
};

/* Makes the terminal hand over single keys, unseen, and forgets what was typed ahead. From here to
 * mel_tty_keys_end the signals that end a process put the terminal back first. False when `file` is no
 * terminal or another thread holds one. */
bool mel_tty_keys_begin(int file);
/* A byte, or one of the codes above. */
int mel_tty_keys_read(void);
void mel_tty_keys_end(void);

#endif
