/* A question as a person sees it: two confusion matrices side by side, bars, what changes in words. */
#include "oracle/screen.h"

#include "metric/text.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_WIDTH = 40, MAX_WIDTH = 400, FRAME = MEL_SCREEN_FRAME, GAP = MEL_SCREEN_GAP };

/* Lines that the longer description of the two classifiers takes. *status: MEL_OK unless memory ran out. */
static size_t count_classifier_lines(const mel_screen *s, mel_status *status)
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
static const char *column_name(char number[MEL_NUMBER_NAME], const mel_screen *s, size_t column)
{
    if (s->whole)
        return mel_screen_class(number, s, column);
    return column == 0 ? "right" : "wrong";
}

static void add_group(mel_canvas *c, const mel_screen *s, size_t group)
{
    char number[MEL_NUMBER_NAME];
    if (s->counted.n_groups == 1)
        return;
    if (group > 0)
        mel_canvas_newline(c);
    (void)snprintf(number, sizeof number, "%zu", group + 1);
    const char *name = s->question->group_names != NULL ? s->question->group_names[group] : number;
    mel_canvas_puts(c, MEL_BOLD, "group ");
    mel_canvas_name(c, MEL_BOLD, name, s->panel - FRAME - c->column);
    mel_canvas_newline(c);
}

static void add_table_head(mel_canvas *c, const mel_screen *s)
{
    const size_t first = s->name + s->size + s->lead + s->apart;
    const size_t span = s->columns * (s->cell + s->apart) - s->apart, word = strlen("predicted");
    char number[MEL_NUMBER_NAME];
    if (s->whole) {
        mel_canvas_pad(c, first + (span > word ? (span - word) / 2 : 0));
        mel_canvas_name(c, MEL_DIM, "predicted", s->panel - FRAME - c->column);
        mel_canvas_newline(c);
    }
    mel_canvas_name(c, MEL_DIM, "true", s->name);
    for (size_t j = 0; j < s->columns; j++) {
        mel_canvas_pad(c, first + j * (s->cell + s->apart));
        mel_canvas_name_right(c, s->whole ? MEL_PLAIN : MEL_DIM, column_name(number, s, j), s->cell);
    }
    mel_canvas_newline(c);
}

static mel_paint paint_of_mistake(const mel_screen *s, size_t row)
{
    return mel_screen_is_binary(s) && row == 0 ? MEL_YELLOW : MEL_RED;
}

static void add_table(mel_canvas *c, const mel_screen *s, bool side_b, size_t group)
{
    char number[MEL_NUMBER_NAME];
    add_table_head(c, s);
    for (size_t i = 0; i < s->counted.k; i++) {
        mel_canvas_name(c, MEL_PLAIN, mel_screen_class(number, s, i), s->name);
        mel_canvas_pad(c, s->name);
        if (s->size > 0)
            mel_canvas_count(c, MEL_DIM, s->counted.size[group * s->counted.k + i], s->size);
        mel_canvas_pad(c, s->name + s->size + s->lead);
        for (size_t j = 0; j < s->columns; j++) {
            const bool right = s->whole ? i == j : j == 0;
            const int64_t count = right      ? mel_counted_at(&s->counted, side_b, group, i, i)
                                  : s->whole ? mel_counted_at(&s->counted, side_b, group, i, j)
                                             : mel_screen_wrong(s, side_b, group, i);
            const mel_paint paint = right ? MEL_BOLD : count > 0 ? paint_of_mistake(s, i) : MEL_DIM;
            mel_canvas_pad(c, c->column + s->apart);
            mel_canvas_count(c, paint, count, s->cell);
        }
        mel_canvas_newline(c);
    }
}

/* Two classes: name and count on one line, the bar below, as long as the panel is wide. */
static void add_wide_bar(mel_canvas *c, const mel_screen *s, size_t row, int64_t count, mel_paint paint)
{
    const size_t inner = s->panel - FRAME, room = inner - mel_count_columns(count) - 1;
    char number[MEL_NUMBER_NAME];
    mel_buffer label;
    mel_buffer_init(&label, MEL_SCREEN_PHRASE);
    if (s->mistakes)
        mel_question_add_mistake(&label, s->question, &s->words, row == 1, true);
    else
        mel_buffer_printf(&label, "%s: right", mel_screen_class(number, s, row));
    if (label.status != MEL_OK)
        c->text.status = label.status;
    else
        mel_canvas_name(c, MEL_PLAIN, label.data, room);
    mel_buffer_free(&label);
    mel_canvas_pad(c, room);
    mel_canvas_count(c, MEL_BOLD, count, inner - c->column);
    mel_canvas_newline(c);
    mel_canvas_bar(c, paint, count, s->longest, inner);
    mel_canvas_newline(c);
}

/* More classes: name, bar and count on one line. */
static void add_slim_bar(mel_canvas *c, const mel_screen *s, size_t row, int64_t count, mel_paint paint)
{
    const size_t inner = s->panel - FRAME, digits = mel_count_columns(s->longest);
    char number[MEL_NUMBER_NAME];
    mel_canvas_name(c, MEL_PLAIN, mel_screen_class(number, s, row), s->name);
    mel_canvas_pad(c, s->name + 1);
    mel_canvas_bar(c, paint, count, s->longest, inner - s->name - digits - 2);
    mel_canvas_pad(c, inner - digits);
    mel_canvas_count(c, MEL_BOLD, count, digits);
    mel_canvas_newline(c);
}

static void add_bars(mel_canvas *c, const mel_screen *s, bool side_b, size_t group)
{
    if (!mel_screen_is_binary(s)) {
        mel_canvas_puts(c, MEL_DIM, s->mistakes ? "wrong, by true class" : "right, by true class");
        mel_canvas_newline(c);
    }
    for (size_t n = 0; n < s->counted.k; n++) {
        const size_t row = mel_screen_is_binary(s) ? 1 - n : n; /* missed positives first */
        const int64_t count = mel_screen_bar(s, side_b, group, row);
        const mel_paint paint = s->mistakes ? paint_of_mistake(s, row) : MEL_GREEN;
        if (mel_screen_is_binary(s))
            add_wide_bar(c, s, row, count, paint);
        else
            add_slim_bar(c, s, row, count, paint);
    }
}

static void add_classifier(mel_canvas *c, const mel_screen *s, bool side_b)
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
static void add_side(mel_canvas *c, const mel_screen *s, bool side_b)
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

static void add_frame_top(mel_canvas *c, const mel_screen *s, bool side_b)
{
    const size_t end = c->column + s->panel - 1;
    mel_canvas_repeat(c, MEL_DIM, "\u256d", "+", 1);
    mel_canvas_repeat(c, MEL_DIM, "\u2500", "-", 1);
    mel_canvas_puts(c, side_b ? MEL_MAGENTA : MEL_BLUE, side_b ? " B " : " A ");
    mel_canvas_repeat(c, MEL_DIM, "\u2500", "-", end - c->column);
    mel_canvas_repeat(c, MEL_DIM, "\u256e", "+", 1);
}

static void add_frame_bottom(mel_canvas *c, const mel_screen *s)
{
    mel_canvas_repeat(c, MEL_DIM, "\u2570", "+", 1);
    mel_canvas_repeat(c, MEL_DIM, "\u2500", "-", s->panel - 2);
    mel_canvas_repeat(c, MEL_DIM, "\u256f", "+", 1);
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
static const char *add_framed(mel_canvas *c, const mel_screen *s, const char *at)
{
    const size_t bytes = strcspn(at, "\n"), left = c->column;
    mel_canvas_repeat(c, MEL_DIM, "\u2502", "|", 1);
    mel_canvas_pad(c, left + 2);
    mel_buffer_add(&c->text, at, bytes);
    c->column += line_columns(at, bytes);
    mel_canvas_pad(c, left + s->panel - 1);
    mel_canvas_repeat(c, MEL_DIM, "\u2502", "|", 1);
    return at + bytes + (at[bytes] == '\n');
}

static void add_beside(mel_canvas *c, const mel_screen *s, const char *a, const char *b)
{
    add_frame_top(c, s, false);
    mel_canvas_pad(c, s->panel + GAP);
    add_frame_top(c, s, true);
    mel_canvas_newline(c);
    while (*a != '\0' || *b != '\0') {
        a = add_framed(c, s, a);
        mel_canvas_pad(c, s->panel + GAP);
        b = add_framed(c, s, b);
        mel_canvas_newline(c);
    }
    add_frame_bottom(c, s);
    mel_canvas_pad(c, s->panel + GAP);
    add_frame_bottom(c, s);
    mel_canvas_newline(c);
}

static void add_stacked(mel_canvas *c, const mel_screen *s, const char *a, const char *b)
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

static void add_sides(mel_canvas *c, const mel_screen *s)
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

static void add_head(mel_canvas *c, const mel_screen *s)
{
    mel_buffer left, right;
    mel_buffer_init(&left, MEL_SCREEN_PHRASE);
    mel_buffer_init(&right, MEL_SCREEN_PHRASE);
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
        mel_canvas_pad(c, fits ? s->width - right.size : 0);
        mel_canvas_puts(c, MEL_DIM, right.data);
        mel_canvas_newline(c);
    }
    mel_buffer_free(&left);
    mel_buffer_free(&right);
}

/* What is special about the question. */
static void add_remark(mel_canvas *c, const mel_screen *s)
{
    char *text = mel_question_remark(s->question);
    if (text == NULL)
        return;
    (void)mel_canvas_wrap(c, MEL_PLAIN, text, s->width, 2);
    mel_canvas_newline(c);
    free(text);
}

static mel_status add_changes(mel_canvas *c, const mel_screen *s, mel_error *err)
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

static mel_status show(char **out, mel_screen *s, mel_error *err)
{
    const mel_status status = mel_counted_make(&s->counted, s->question, s->opt->people, err);
    if (status != MEL_OK)
        return status;
    mel_screen_lay_out(s);
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
    mel_screen s = { .question = question, .opt = &use, .width = (size_t)use.width };
    s.words = (mel_change_words){ .missed = use.missed,
                                  .missed_plural = use.missed_plural,
                                  .false_alarm = use.false_alarm,
                                  .false_alarms = use.false_alarms };
    status = show(out, &s, err);
    mel_counted_clear(&s.counted);
    return status;
}
