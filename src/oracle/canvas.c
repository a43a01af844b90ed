/* Text for a terminal, with colours where it has them. */
#include "oracle/canvas.h"

#include "metric/text.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 24 };

void mel_canvas_init(mel_canvas *canvas, bool utf8, bool colour)
{
    *canvas = (mel_canvas){ .utf8 = utf8, .colour = colour };
    mel_buffer_init(&canvas->text, MAX_BYTES);
}

void mel_canvas_free(mel_canvas *canvas)
{
    mel_buffer_free(&canvas->text);
}

static void start(mel_canvas *canvas, mel_paint paint)
{
    static const char *const codes[] = {
        [MEL_PLAIN] = "",          [MEL_BOLD] = "\x1b[1m",       [MEL_DIM] = "\x1b[2m",
        [MEL_BLUE] = "\x1b[1;36m", [MEL_MAGENTA] = "\x1b[1;35m", [MEL_RED] = "\x1b[31m",
        [MEL_YELLOW] = "\x1b[33m", [MEL_GREEN] = "\x1b[32m",
    };
    if (canvas->colour)
        mel_buffer_puts(&canvas->text, codes[paint]);
}

static void stop(mel_canvas *canvas, mel_paint paint)
{
    if (canvas->colour && paint != MEL_PLAIN)
        mel_buffer_puts(&canvas->text, "\x1b[0m");
}

void mel_canvas_puts(mel_canvas *canvas, mel_paint paint, const char *ascii)
{
    start(canvas, paint);
    mel_buffer_puts(&canvas->text, ascii);
    stop(canvas, paint);
    canvas->column += strlen(ascii);
}

/* As many characters of the name as fit. */
static void add_characters(mel_canvas *canvas, const char *name, size_t columns)
{
    if (canvas->utf8) {
        canvas->column += mel_text_add_clean(&canvas->text, name, columns);
        return;
    }
    for (size_t used = 0; *name != '\0' && used < columns; used++) {
        const long code = mel_text_next(&name);
        const char c = (char)code;
        mel_buffer_add(&canvas->text, code >= 0x20 && code < 0x7f ? &c : "?", 1);
        canvas->column++;
    }
}

static size_t name_columns(const mel_canvas *canvas, const char *name)
{
    if (canvas->utf8)
        return mel_text_columns(name);
    size_t n = 0;
    for (; *name != '\0'; n++)
        (void)mel_text_next(&name);
    return n;
}

void mel_canvas_name(mel_canvas *canvas, mel_paint paint, const char *name, size_t columns)
{
    if (columns == 0)
        return;
    start(canvas, paint);
    if (name_columns(canvas, name) <= columns) {
        add_characters(canvas, name, columns);
    } else {
        add_characters(canvas, name, columns - 1);
        mel_buffer_puts(&canvas->text, canvas->utf8 ? "\xe2\x80\xa6" : "~"); /* an ellipsis */
        canvas->column++;
    }
    stop(canvas, paint);
}

void mel_canvas_name_right(mel_canvas *canvas, mel_paint paint, const char *name, size_t columns)
{
    const size_t n = name_columns(canvas, name);
    mel_canvas_pad(canvas, canvas->column + (n < columns ? columns - n : 0));
    mel_canvas_name(canvas, paint, name, columns);
}

size_t mel_count_columns(int64_t count)
{
    size_t digits = 1;
    for (int64_t rest = count; rest >= 10; rest /= 10)
        digits++;
    return digits + (digits - 1) / 3;
}

void mel_canvas_count(mel_canvas *canvas, mel_paint paint, int64_t count, size_t columns)
{
    const size_t n = mel_count_columns(count);
    mel_canvas_pad(canvas, canvas->column + (n < columns ? columns - n : 0));
    start(canvas, paint);
    if (count < 0)
        mel_buffer_puts(&canvas->text, "?");
    else
        mel_text_add_count(&canvas->text, (uint64_t)count);
    stop(canvas, paint);
    canvas->column += n;
}

void mel_canvas_repeat(mel_canvas *canvas, mel_paint paint, const char *utf8, const char *ascii, size_t times)
{
    start(canvas, paint);
    for (size_t i = 0; i < times; i++)
        mel_buffer_puts(&canvas->text, canvas->utf8 ? utf8 : ascii);
    stop(canvas, paint);
    canvas->column += times;
}

void mel_canvas_pad(mel_canvas *canvas, size_t to_column)
{
    for (; canvas->column < to_column; canvas->column++)
        mel_buffer_puts(&canvas->text, " ");
}

void mel_canvas_newline(mel_canvas *canvas)
{
    mel_buffer_puts(&canvas->text, "\n");
    canvas->column = 0;
}

void mel_canvas_bar(mel_canvas *canvas, mel_paint paint, int64_t part, int64_t whole, size_t columns)
{
    if (part <= 0 || whole <= 0)
        return;
    /* Left blocks of 1/8 to 7/8, U+258F to U+2589. */
    static const char *const eighths[] = { "",       "\u258f", "\u258e", "\u258d",
                                           "\u258c", "\u258b", "\u258a", "\u2589" };
    const double exact = (double)part / (double)whole * (double)columns;
    const size_t steps = (size_t)(exact * (canvas->utf8 ? 8.0 : 1.0) + 0.5);
    const size_t visible = steps > 0 ? steps : 1;
    if (!canvas->utf8) {
        mel_canvas_repeat(canvas, paint, "", "#", visible);
        return;
    }
    mel_canvas_repeat(canvas, paint, "\u2588", "", visible / 8);
    if (visible % 8 > 0)
        mel_canvas_repeat(canvas, paint, eighths[visible % 8], "", 1);
}

size_t mel_canvas_wrap(mel_canvas *canvas, mel_paint paint, const char *text, size_t width, size_t indent)
{
    bool first = true;
    size_t lines = 1;
    while (*text != '\0') {
        const size_t bytes = strcspn(text, " ");
        char *word = bytes > 0 ? mel_alloc(bytes + 1, 1) : NULL;
        if (bytes > 0 && word == NULL) {
            canvas->text.status = MEL_ENOMEM;
            break;
        }
        if (word != NULL) {
            memcpy(word, text, bytes);
            word[bytes] = '\0';
            const size_t n = name_columns(canvas, word);
            if (!first && canvas->column + 1 + n > width) {
                mel_canvas_newline(canvas);
                mel_canvas_pad(canvas, indent);
                lines++;
            } else if (!first) {
                mel_canvas_puts(canvas, MEL_PLAIN, " ");
            }
            mel_canvas_name(canvas, paint, word, width > canvas->column ? width - canvas->column : 1);
            free(word);
            first = false;
        }
        text += bytes + (text[bytes] == ' ');
    }
    return lines;
}
