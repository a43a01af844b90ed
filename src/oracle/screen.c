/* A question as a person sees it: two confusion matrices side by side, bars, what changes in words; beside
 * each other or one below the other, with tables or bars alone, as the terminal is wide. */
#include "oracle/screen.h"

#include "metric/text.h"
#include "oracle/counts.h"
#include "oracle/oracle.h"
#include "oracle/shared.h"

#include <stdlib.h>
#include <string.h>

/* --- lines of text that know how wide they are ------------------------------------------------------- */

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

static void canvas_name(mel_canvas *canvas, mel_paint paint, const char *name, size_t columns)
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

static void canvas_pad(mel_canvas *canvas, size_t to_column)
{
    for (; canvas->column < to_column; canvas->column++)
        mel_buffer_puts(&canvas->text, " ");
}

static void canvas_name_right(mel_canvas *canvas, mel_paint paint, const char *name, size_t columns)
{
    const size_t n = name_columns(canvas, name);
    canvas_pad(canvas, canvas->column + (n < columns ? columns - n : 0));
    canvas_name(canvas, paint, name, columns);
}

static size_t count_columns(int64_t count)
{
    size_t digits = 1;
    for (int64_t rest = count; rest >= 10; rest /= 10)
        digits++;
    return digits + (digits - 1) / 3;
}

static void canvas_count(mel_canvas *canvas, mel_paint paint, int64_t count, size_t columns)
{
    const size_t n = count_columns(count);
    canvas_pad(canvas, canvas->column + (n < columns ? columns - n : 0));
    start(canvas, paint);
    if (count < 0)
        mel_buffer_puts(&canvas->text, "?");
    else
        mel_text_add_count(&canvas->text, (uint64_t)count);
    stop(canvas, paint);
    canvas->column += n;
}

static void canvas_repeat(mel_canvas *canvas, mel_paint paint, const char *utf8, const char *ascii,
                          size_t times)
{
    start(canvas, paint);
    for (size_t i = 0; i < times; i++)
        mel_buffer_puts(&canvas->text, canvas->utf8 ? utf8 : ascii);
    stop(canvas, paint);
    canvas->column += times;
}

void mel_canvas_newline(mel_canvas *canvas)
{
    mel_buffer_puts(&canvas->text, "\n");
    canvas->column = 0;
}

static void canvas_bar(mel_canvas *canvas, mel_paint paint, int64_t part, int64_t whole, size_t columns)
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
        canvas_repeat(canvas, paint, "", "#", visible);
        return;
    }
    canvas_repeat(canvas, paint, "\u2588", "", visible / 8);
    if (visible % 8 > 0)
        canvas_repeat(canvas, paint, eighths[visible % 8], "", 1);
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
                canvas_pad(canvas, indent);
                lines++;
            } else if (!first) {
                mel_canvas_puts(canvas, MEL_PLAIN, " ");
            }
            canvas_name(canvas, paint, word, width > canvas->column ? width - canvas->column : 1);
            free(word);
            first = false;
        }
        text += bytes + (text[bytes] == ' ');
    }
    return lines;
}

/* --- what is known of a question, and how it fits ------------------------------------------------------ */

enum { SCREEN_FRAME = 4, SCREEN_GAP = 2, SCREEN_PHRASE = 1 << 14 /* most bytes */ };

typedef struct {
    const mel_question *question;
    const mel_show_options *opt;
    mel_change_words words;
    mel_counted counted;
    size_t width;
    size_t panel;  /* columns of one side, frame included */
    bool stacked;  /* B below A instead of beside it */
    bool tables;   /* there is room for them */
    bool whole;    /* every entry of the matrices is known */
    bool mistakes; /* the number of mistakes per class is known */
    size_t classifier_lines;
    size_t columns;                 /* of a table: k, or right and wrong */
    size_t name, size, cell, apart; /* widths of names, class sizes, counts, and gaps before counts */
    size_t lead;                    /* blanks before the first gap: tables end at the right edge */
    int64_t longest;                /* the count that fills a bar */
} screen;

static const char *screen_class(char number[MEL_NUMBER_NAME], const screen *s, size_t code)
{
    return mel_question_class(number, s->question, code);
}

static bool screen_is_binary(const screen *s)
{
    return s->counted.k == 2;
}

enum { MIN_PANEL = 28, MOST_APART = 8 };

static int64_t screen_wrong(const screen *s, bool side_b, size_t group, size_t row)
{
    const int64_t size = s->counted.size[group * s->counted.k + row];
    const int64_t right = mel_counted_at(&s->counted, side_b, group, row, row);
    return size >= 0 && right >= 0 ? size - right : MEL_UNKNOWN_COUNT;
}

static int64_t screen_bar(const screen *s, bool side_b, size_t group, size_t row)
{
    return s->mistakes ? screen_wrong(s, side_b, group, row)
                       : mel_counted_at(&s->counted, side_b, group, row, row);
}

static void take_stock(screen *s)
{
    const size_t k = s->counted.k, rows = s->counted.n_groups * k;
    s->whole = s->mistakes = true;
    for (size_t i = 0; i < rows * k; i++)
        s->whole = s->whole && s->counted.a[i] >= 0 && s->counted.b[i] >= 0;
    for (size_t i = 0; i < rows; i++)
        s->mistakes = s->mistakes && screen_wrong(s, false, i / k, i % k) >= 0;
    s->columns = s->whole ? k : 2;
    s->longest = 1;
    for (size_t i = 0; i < rows; i++) {
        const int64_t a = screen_bar(s, false, i / k, i % k), b = screen_bar(s, true, i / k, i % k);
        const int64_t more = a > b ? a : b;
        s->longest = more > s->longest ? more : s->longest;
    }
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t longest_name(const screen *s, size_t least)
{
    char number[MEL_NUMBER_NAME];
    for (size_t i = 0; i < s->counted.k; i++)
        least = larger(least, mel_text_columns(screen_class(number, s, i)));
    return least;
}

static size_t digits_of_counts(const screen *s)
{
    size_t digits = 1;
    for (size_t i = 0; i < s->counted.n_groups * s->counted.k * s->counted.k; i++) {
        const int64_t a = s->counted.a[i], b = s->counted.b[i];
        digits = larger(digits, count_columns(a > b ? a : b));
    }
    return larger(digits, count_columns(s->longest));
}

static size_t size_columns(const screen *s)
{
    size_t columns = 0;
    for (size_t i = 0; s->opt->sizes && i < s->counted.n_groups * s->counted.k; i++)
        if (s->counted.size[i] >= 0 && !s->counted.of_each_class)
            columns = larger(columns, count_columns(s->counted.size[i]) + 1);
    return columns;
}

/* Whether the tables fit into panels of this width; sets the widths of their columns. Names are cut
 * before counts, and class sizes go before names are cut. */
static bool fit_columns(screen *s, size_t panel)
{
    const size_t n = s->columns, inner = panel - SCREEN_FRAME, digits = digits_of_counts(s);
    const size_t names = longest_name(s, strlen("true"));
    const size_t heads = larger(digits, s->whole ? names : strlen("right"));
    const size_t least_name = smaller(names, screen_is_binary(s) ? 6 : 4);
    s->panel = panel;
    s->size = size_columns(s);
    s->apart = screen_is_binary(s) ? 2 : 1;
    if (names + s->size + n * (heads + s->apart) > inner && names + n * (heads + s->apart) <= inner)
        s->size = 0;
    if (least_name + s->size + n * (digits + s->apart) > inner)
        s->size = 0;
    if (least_name + n * (digits + s->apart) > inner)
        return false;
    s->cell = heads;
    while (s->cell > digits && smaller(names, inner / 4) + s->size + n * (s->cell + s->apart) > inner)
        s->cell--;
    s->name = smaller(names, inner - s->size - n * (s->cell + s->apart));
    const size_t spare = inner - s->name - s->size - n * (s->cell + s->apart);
    const size_t wider = larger(s->apart, smaller(s->apart + spare / n, MOST_APART));
    s->lead = spare - n * (wider - s->apart);
    s->apart = wider;
    return true;
}

static void screen_lay_out(screen *s)
{
    take_stock(s);
    const size_t beside = (s->width - SCREEN_GAP) / 2;
    const bool tables = s->whole || s->mistakes; /* the bars say as much as right answers alone */
    s->stacked = false;
    s->tables = tables && beside >= MIN_PANEL && fit_columns(s, beside);
    if (s->tables)
        return;
    s->tables = tables && fit_columns(s, s->width);
    s->stacked = s->tables || beside < MIN_PANEL;
    s->panel = s->stacked ? s->width : beside;
    if (!s->tables)
        s->name = smaller(longest_name(s, 1), (s->panel - SCREEN_FRAME) / 3);
}

/* --- the picture -------------------------------------------------------------------------------------- */

enum { MIN_WIDTH = 40, MAX_WIDTH = 400, FRAME = SCREEN_FRAME, GAP = SCREEN_GAP };

/* Lines that the longer description of the two classifiers takes. *status: MEL_OK unless memory ran out. */
static size_t count_classifier_lines(const screen *s, mel_status *status)
{
    const char *const sides[] = { s->question->classifier_a, s->question->classifier_b };
    size_t most = 0;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        size_t lines = 0;
        mel_canvas scratch;
        mel_canvas_init(&scratch, s->opt->utf8, false);
        if (sides[i] != NULL && (s->opt->classifiers || s->question->named))
            lines = mel_canvas_wrap(&scratch, MEL_PLAIN, sides[i], s->panel - FRAME, 0);
        most = lines > most ? lines : most;
        if (scratch.text.status != MEL_OK)
            *status = scratch.text.status;
        mel_canvas_free(&scratch);
    }
    return most;
}

/* What stands above a column of a table. */
static const char *column_name(char number[MEL_NUMBER_NAME], const screen *s, size_t column)
{
    if (s->whole)
        return screen_class(number, s, column);
    return column == 0 ? "right" : "wrong";
}

static void add_group(mel_canvas *c, const screen *s, size_t group)
{
    char number[MEL_NUMBER_NAME];
    if (s->counted.n_groups == 1)
        return;
    if (group > 0)
        mel_canvas_newline(c);
    (void)snprintf(number, sizeof number, "%zu", group + 1);
    const char *name = s->question->group_names != NULL ? s->question->group_names[group] : number;
    mel_canvas_puts(c, MEL_BOLD, "group ");
    canvas_name(c, MEL_BOLD, name, s->panel - FRAME - c->column);
    mel_canvas_newline(c);
}

static void add_table_head(mel_canvas *c, const screen *s)
{
    const size_t first = s->name + s->size + s->lead + s->apart;
    const size_t span = s->columns * (s->cell + s->apart) - s->apart, word = strlen("predicted");
    char number[MEL_NUMBER_NAME];
    if (s->whole) {
        canvas_pad(c, first + (span > word ? (span - word) / 2 : 0));
        canvas_name(c, MEL_DIM, "predicted", s->panel - FRAME - c->column);
        mel_canvas_newline(c);
    }
    canvas_name(c, MEL_DIM, "true", s->name);
    for (size_t j = 0; j < s->columns; j++) {
        canvas_pad(c, first + j * (s->cell + s->apart));
        canvas_name_right(c, s->whole ? MEL_PLAIN : MEL_DIM, column_name(number, s, j), s->cell);
    }
    mel_canvas_newline(c);
}

static mel_paint paint_of_mistake(const screen *s, size_t row)
{
    return screen_is_binary(s) && row == 0 ? MEL_YELLOW : MEL_RED;
}

static void add_table(mel_canvas *c, const screen *s, bool side_b, size_t group)
{
    char number[MEL_NUMBER_NAME];
    add_table_head(c, s);
    for (size_t i = 0; i < s->counted.k; i++) {
        canvas_name(c, MEL_PLAIN, screen_class(number, s, i), s->name);
        canvas_pad(c, s->name);
        if (s->size > 0)
            canvas_count(c, MEL_DIM, s->counted.size[group * s->counted.k + i], s->size);
        canvas_pad(c, s->name + s->size + s->lead);
        for (size_t j = 0; j < s->columns; j++) {
            const bool right = s->whole ? i == j : j == 0;
            const int64_t count = right      ? mel_counted_at(&s->counted, side_b, group, i, i)
                                  : s->whole ? mel_counted_at(&s->counted, side_b, group, i, j)
                                             : screen_wrong(s, side_b, group, i);
            const mel_paint paint = right ? MEL_BOLD : count > 0 ? paint_of_mistake(s, i) : MEL_DIM;
            canvas_pad(c, c->column + s->apart);
            canvas_count(c, paint, count, s->cell);
        }
        mel_canvas_newline(c);
    }
}

/* Two classes: name and count on one line, the bar below, as long as the panel is wide. */
static void add_wide_bar(mel_canvas *c, const screen *s, size_t row, int64_t count, mel_paint paint)
{
    const size_t inner = s->panel - FRAME, room = inner - count_columns(count) - 1;
    char number[MEL_NUMBER_NAME];
    mel_buffer label;
    mel_buffer_init(&label, SCREEN_PHRASE);
    if (s->mistakes)
        mel_question_add_mistake(&label, s->question, &s->words, row == 1, true);
    else
        mel_buffer_printf(&label, "%s: right", screen_class(number, s, row));
    if (label.status != MEL_OK)
        c->text.status = label.status;
    else
        canvas_name(c, MEL_PLAIN, label.data, room);
    mel_buffer_free(&label);
    canvas_pad(c, room);
    canvas_count(c, MEL_BOLD, count, inner - c->column);
    mel_canvas_newline(c);
    canvas_bar(c, paint, count, s->longest, inner);
    mel_canvas_newline(c);
}

/* More classes: name, bar and count on one line. */
static void add_slim_bar(mel_canvas *c, const screen *s, size_t row, int64_t count, mel_paint paint)
{
    const size_t inner = s->panel - FRAME, digits = count_columns(s->longest);
    char number[MEL_NUMBER_NAME];
    canvas_name(c, MEL_PLAIN, screen_class(number, s, row), s->name);
    canvas_pad(c, s->name + 1);
    canvas_bar(c, paint, count, s->longest, inner - s->name - digits - 2);
    canvas_pad(c, inner - digits);
    canvas_count(c, MEL_BOLD, count, digits);
    mel_canvas_newline(c);
}

static void add_bars(mel_canvas *c, const screen *s, bool side_b, size_t group)
{
    if (!screen_is_binary(s)) {
        mel_canvas_puts(c, MEL_DIM, s->mistakes ? "wrong, by true class" : "right, by true class");
        mel_canvas_newline(c);
    }
    for (size_t n = 0; n < s->counted.k; n++) {
        const size_t row = screen_is_binary(s) ? 1 - n : n; /* missed positives first */
        const int64_t count = screen_bar(s, side_b, group, row);
        const mel_paint paint = s->mistakes ? paint_of_mistake(s, row) : MEL_GREEN;
        if (screen_is_binary(s))
            add_wide_bar(c, s, row, count, paint);
        else
            add_slim_bar(c, s, row, count, paint);
    }
}

static void add_classifier(mel_canvas *c, const screen *s, bool side_b)
{
    if (s->classifier_lines == 0)
        return;
    const char *classifier = side_b ? s->question->classifier_b : s->question->classifier_a;
    size_t lines = 1;
    if (classifier != NULL)
        lines = mel_canvas_wrap(c, s->question->named ? MEL_BOLD : MEL_DIM, classifier, s->panel - FRAME, 0);
    for (; lines <= s->classifier_lines; lines++) /* the tables start at the same height */
        mel_canvas_newline(c);
    mel_canvas_newline(c);
}

/* The inside of one side's frame, line by line. */
static void add_side(mel_canvas *c, const screen *s, bool side_b)
{
    add_classifier(c, s, side_b);
    for (size_t g = 0; g < s->counted.n_groups; g++) {
        add_group(c, s, g);
        if (s->tables) {
            add_table(c, s, side_b, g);
            mel_canvas_newline(c);
        }
        add_bars(c, s, side_b, g);
    }
}

static void add_frame_top(mel_canvas *c, const screen *s, bool side_b)
{
    const size_t end = c->column + s->panel - 1;
    canvas_repeat(c, MEL_DIM, "\u256d", "+", 1);
    canvas_repeat(c, MEL_DIM, "\u2500", "-", 1);
    mel_canvas_puts(c, side_b ? MEL_MAGENTA : MEL_BLUE, side_b ? " B " : " A ");
    canvas_repeat(c, MEL_DIM, "\u2500", "-", end - c->column);
    canvas_repeat(c, MEL_DIM, "\u256e", "+", 1);
}

static void add_frame_bottom(mel_canvas *c, const screen *s)
{
    canvas_repeat(c, MEL_DIM, "\u2570", "+", 1);
    canvas_repeat(c, MEL_DIM, "\u2500", "-", s->panel - 2);
    canvas_repeat(c, MEL_DIM, "\u256f", "+", 1);
}

/* Columns of a finished line, colours not counted. */
static size_t line_columns(const char *line, size_t bytes)
{
    size_t columns = 0;
    const char *end = line + bytes;
    while (line < end) {
        if (*line == '\x1b') {
            line += strcspn(line, "m") + 1;
            continue;
        }
        const char *start = line;
        (void)mel_text_next(&line);
        char one[8] = { 0 };
        memcpy(one, start, (size_t)(line - start));
        columns += mel_text_columns(one);
    }
    return columns;
}

/* The next line of a side in its frame; an empty one when the side has no more. */
static const char *add_framed(mel_canvas *c, const screen *s, const char *at)
{
    const size_t bytes = strcspn(at, "\n"), left = c->column;
    canvas_repeat(c, MEL_DIM, "\u2502", "|", 1);
    canvas_pad(c, left + 2);
    mel_buffer_add(&c->text, at, bytes);
    c->column += line_columns(at, bytes);
    canvas_pad(c, left + s->panel - 1);
    canvas_repeat(c, MEL_DIM, "\u2502", "|", 1);
    return at + bytes + (at[bytes] == '\n');
}

static void add_beside(mel_canvas *c, const screen *s, const char *a, const char *b)
{
    add_frame_top(c, s, false);
    canvas_pad(c, s->panel + GAP);
    add_frame_top(c, s, true);
    mel_canvas_newline(c);
    while (*a != '\0' || *b != '\0') {
        a = add_framed(c, s, a);
        canvas_pad(c, s->panel + GAP);
        b = add_framed(c, s, b);
        mel_canvas_newline(c);
    }
    add_frame_bottom(c, s);
    canvas_pad(c, s->panel + GAP);
    add_frame_bottom(c, s);
    mel_canvas_newline(c);
}

static void add_stacked(mel_canvas *c, const screen *s, const char *a, const char *b)
{
    for (int side = 0; side < 2; side++) {
        const char *at = side == 0 ? a : b;
        add_frame_top(c, s, side == 1);
        mel_canvas_newline(c);
        while (*at != '\0') {
            at = add_framed(c, s, at);
            mel_canvas_newline(c);
        }
        add_frame_bottom(c, s);
        mel_canvas_newline(c);
    }
}

static void add_sides(mel_canvas *c, const screen *s)
{
    mel_canvas a, b;
    mel_canvas_init(&a, s->opt->utf8, s->opt->colour);
    mel_canvas_init(&b, s->opt->utf8, s->opt->colour);
    add_side(&a, s, false);
    add_side(&b, s, true);
    if (a.text.status != MEL_OK || b.text.status != MEL_OK)
        c->text.status = a.text.status != MEL_OK ? a.text.status : b.text.status;
    else if (s->stacked)
        add_stacked(c, s, a.text.data, b.text.data);
    else
        add_beside(c, s, a.text.data, b.text.data);
    mel_canvas_free(&a);
    mel_canvas_free(&b);
}

static void add_head(mel_canvas *c, const screen *s)
{
    mel_buffer left, right;
    mel_buffer_init(&left, SCREEN_PHRASE);
    mel_buffer_init(&right, SCREEN_PHRASE);
    mel_buffer_printf(&left, "Question %lu", (unsigned long)s->question->number);
    if (s->question->expected >= s->question->number && s->question->expected > 0)
        mel_buffer_printf(&left, " of about %lu", (unsigned long)s->question->expected);
    mel_buffer_puts(&right, "out of ");
    mel_text_add_count(&right, (uint64_t)s->counted.people);
    mel_buffer_puts(&right, s->counted.of_each_class ? " people of each class" : " people");
    if (left.status != MEL_OK || right.status != MEL_OK) {
        c->text.status = MEL_ENOMEM;
    } else {
        mel_canvas_puts(c, MEL_BOLD, left.data);
        const bool fits = c->column + 2 + right.size <= s->width;
        if (!fits)
            mel_canvas_newline(c);
        canvas_pad(c, fits ? s->width - right.size : 0);
        mel_canvas_puts(c, MEL_DIM, right.data);
        mel_canvas_newline(c);
    }
    mel_buffer_free(&left);
    mel_buffer_free(&right);
}

/* What is special about the question. */
static void add_remark(mel_canvas *c, const screen *s)
{
    char *text = mel_question_remark(s->question);
    if (text == NULL)
        return;
    (void)mel_canvas_wrap(c, MEL_PLAIN, text, s->width, 2);
    mel_canvas_newline(c);
    free(text);
}

static mel_status add_changes(mel_canvas *c, const screen *s, mel_error *err)
{
    MEL_AUTO(mel_changes) *changes = NULL;
    TRY(mel_changes_make(&changes, &s->counted, s->question, &s->words, false, err));
    (void)mel_canvas_wrap(c, MEL_BOLD, changes->sentence, s->width, 2);
    mel_canvas_newline(c);
    return MEL_OK;
}

void mel_show_options_init(mel_show_options *opt)
{
    *opt = (mel_show_options){ .struct_size = sizeof *opt, .width = 80, .sizes = true };
}

static mel_status show(char **out, screen *s, mel_error *err)
{
    const mel_status status = mel_counted_make(&s->counted, s->question, s->opt->people, err);
    if (status != MEL_OK)
        return status;
    screen_lay_out(s);
    mel_canvas c;
    mel_canvas_init(&c, s->opt->utf8, s->opt->colour);
    s->classifier_lines = count_classifier_lines(s, &c.text.status);
    add_head(&c, s);
    add_remark(&c, s);
    add_sides(&c, s);
    mel_status worded = add_changes(&c, s, err);
    if (worded != MEL_OK) {
        mel_canvas_free(&c);
        return worded;
    }
    return mel_text_take(out, &c.text, "a question", err);
}

mel_status mel_question_show(char **out, const mel_question *question, const mel_show_options *opt,
                             mel_error *err)
{
    *out = NULL;
    mel_show_options use;
    mel_show_options_init(&use);
    mel_status status = mel_options_take(&use, sizeof use, opt, "show options", err);
    if (status == MEL_OK)
        status = mel_question_check(question, err);
    if (status != MEL_OK)
        return status;
    if (use.width < MIN_WIDTH || use.width > MAX_WIDTH)
        return mel_fail(err, MEL_EINVAL, "a question cannot be shown in %d columns (%d to %d)", use.width,
                        (int)MIN_WIDTH, (int)MAX_WIDTH);
    screen s = { .question = question, .opt = &use, .width = (size_t)use.width };
    s.words = (mel_change_words){ .missed = use.missed,
                                  .missed_plural = use.missed_plural,
                                  .false_alarm = use.false_alarm,
                                  .false_alarms = use.false_alarms };
    status = show(out, &s, err);
    mel_counted_clear(&s.counted);
    return status;
}
