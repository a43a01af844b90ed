/* Several pictures in one drawing, in rows. */
#ifndef MEL_CLI_PANELS_H
#define MEL_CLI_PANELS_H

#include "command.h"

enum { CLI_PANEL = 360 }; /* the width of a picture, px */

/* Starts from {0}; text is for free(). */
typedef struct {
    char *text;
    size_t columns;
    double top, tallest; /* of the row at work, px */
} cli_panels;
/* A picture of width CLI_PANEL that was drawn as embedded. */
void cli_panels_put(cli_panels *panels, const char *svg, size_t column);
void cli_panels_end_row(cli_panels *panels);
/* The drawing with its style, for free(). */
mel_status cli_panels_close(char **svg, const cli_panels *panels, const char *title, mel_error *err);

#endif
