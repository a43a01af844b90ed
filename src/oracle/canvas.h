/* Lines of text that know how wide they are on the screen: names of any script, colours, blocks. */
#ifndef MEL_ORACLE_CANVAS_H
#define MEL_ORACLE_CANVAS_H

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
/* A name: made safe, cut to `columns` with a mark, and without UTF-8 with '?' for what ASCII lacks. */
void mel_canvas_name(mel_canvas *canvas, mel_paint paint, const char *name, size_t columns);
void mel_canvas_name_right(mel_canvas *canvas, mel_paint paint, const char *name, size_t columns);
/* A count with thousands separators, right-aligned in `columns` ("?" when negative: unknown). */
void mel_canvas_count(mel_canvas *canvas, mel_paint paint, int64_t count, size_t columns);
void mel_canvas_repeat(mel_canvas *canvas, mel_paint paint, const char *utf8, const char *ascii,
                       size_t times);
/* Blanks up to a column; nothing when past it. */
void mel_canvas_pad(mel_canvas *canvas, size_t to_column);
void mel_canvas_newline(mel_canvas *canvas);
/* part/whole of `columns` columns, in eighths where the screen can; anything above zero is visible. */
void mel_canvas_bar(mel_canvas *canvas, mel_paint paint, int64_t part, int64_t whole, size_t columns);
/* Text broken between words at `width`, further lines indented. Returns how many lines. */
size_t mel_canvas_wrap(mel_canvas *canvas, mel_paint paint, const char *text, size_t width, size_t indent);

/* Columns of a count as mel_canvas_count writes it. */
size_t mel_count_columns(int64_t count);

#endif
