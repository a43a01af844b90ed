/* Lines of text that know how wide they are on the screen: names of any script, colours, blocks. */
#ifndef MEL_ORACLE_SCREEN_H
#define MEL_ORACLE_SCREEN_H

#include "base/buffer.h"

typedef enum {
    MEL_PLAIN,
    MEL_BOLD,
    MEL_DIM,
    MEL_BLUE,
    MEL_MAGENTA,
    MEL_RED,
    MEL_YELLOW,
    MEL_GREEN
} mel_paint;

typedef struct {
    mel_buffer text;
    size_t column; /* columns used in the current line */
    bool utf8, colour;
} mel_canvas;

void mel_canvas_init(mel_canvas *canvas, bool utf8, bool colour);
void mel_canvas_free(mel_canvas *canvas);
/* ASCII that we wrote ourselves. */
void mel_canvas_puts(mel_canvas *canvas, mel_paint paint, const char *ascii);
void mel_canvas_newline(mel_canvas *canvas);
/* Text broken between words at `width`, further lines indented. Returns how many lines. */
size_t mel_canvas_wrap(mel_canvas *canvas, mel_paint paint, const char *text, size_t width, size_t indent);

#endif
