/* A question as a person sees it: two confusion matrices side by side, bars, what changes in words. */
#include "oracle/canvas.h"
#include "oracle/counts.h"
#include "oracle/oracle.h"

#include "metric/text.h"
#include "oracle/shared.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_WIDTH = 40, MAX_WIDTH = 400, GAP = 2, MIN_PANEL = 28, MOST_CHANGES = 4, MAX_PHRASE = 1 << 14 };
enum { FRAME = 4, MOST_APART = 8 };

typedef struct {
    const mel_question *question;
    const mel_show_options *opt;
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

static const char *class_name(char number[MEL_NUMBER_NAME], const screen *s, size_t code)
{
    return mel_question_class(number, s->question, code);
}

static bool is_binary(const screen *s)
{
    return s->counted.k == 2;
}

/* People of a class that a side gets wrong; unknown when the class size is. */
static int64_t wrong_of(const screen *s, bool side_b, size_t group, size_t row)
{
    const int64_t size = s->counted.size[group * s->counted.k + row];
    const int64_t right = mel_counted_at(&s->counted, side_b, group, row, row);
    return size >= 0 && right >= 0 ? size - right : MEL_UNKNOWN_COUNT;
}

/* The bars show mistakes where they are known, right answers otherwise. */
static int64_t bar_of(const screen *s, bool side_b, size_t group, size_t row)
{
    return s->mistakes ? wrong_of(s, side_b, group, row)
                       : mel_counted_at(&s->counted, side_b, group, row, row);
}

static void take_stock(screen *s)
{
    const size_t k = s->counted.k, rows = s->counted.n_groups * k;
    s->whole = s->mistakes = true;
    for (size_t i = 0; i < rows * k; i++)
        s->whole = s->whole && s->counted.a[i] >= 0 && s->counted.b[i] >= 0;
    for (size_t i = 0; i < rows; i++)
        s->mistakes = s->mistakes && wrong_of(s, false, i / k, i % k) >= 0;
    s->columns = s->whole ? k : 2;
    s->longest = 1;
    for (size_t i = 0; i < rows; i++) {
        const int64_t a = bar_of(s, false, i / k, i % k), b = bar_of(s, true, i / k, i % k);
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

/* What stands above a column of a table. */
static const char *column_name(char number[MEL_NUMBER_NAME], const screen *s, size_t column)
{
    if (s->whole)
        return class_name(number, s, column);
    return column == 0 ? "right" : "wrong";
}

static size_t longest_name(const screen *s, size_t least)
{
    char number[MEL_NUMBER_NAME];
    for (size_t i = 0; i < s->counted.k; i++)
        least = larger(least, mel_text_columns(class_name(number, s, i)));
    return least;
}

static size_t digits_of_counts(const screen *s)
{
    size_t digits = 1;
    for (size_t i = 0; i < s->counted.n_groups * s->counted.k * s->counted.k; i++) {
        const int64_t a = s->counted.a[i], b = s->counted.b[i];
        digits = larger(digits, mel_count_columns(a > b ? a : b));
    }
    return larger(digits, mel_count_columns(s->longest));
}

static size_t size_columns(const screen *s)
{
    size_t columns = 0;
    for (size_t i = 0; s->opt->sizes && i < s->counted.n_groups * s->counted.k; i++)
        if (s->counted.size[i] >= 0 && !s->counted.of_each_class)
            columns = larger(columns, mel_count_columns(s->counted.size[i]) + 1);
    return columns;
}

/* Whether the tables fit into panels of this width; sets the widths of their columns. Names are cut
 * before counts, and class sizes go before names are cut. */
static bool fit_columns(screen *s, size_t panel)
{
    const size_t n = s->columns, inner = panel - FRAME, digits = digits_of_counts(s);
    const size_t names = longest_name(s, strlen("true"));
    const size_t heads = larger(digits, s->whole ? names : strlen("right"));
    const size_t least_name = smaller(names, is_binary(s) ? 6 : 4);
    s->panel = panel;
    s->size = size_columns(s);
    s->apart = is_binary(s) ? 2 : 1;
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

/* Lines that the longer description of the two classifiers takes. *status: MEL_OK unless memory ran out. */
static size_t count_classifier_lines(const screen *s, mel_status *status)
{
    const char *const sides[] = { s->question->classifier_a, s->question->classifier_b };
    size_t most = 0;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        mel_canvas scratch;
        mel_canvas_init(&scratch, s->opt->utf8, false);
        if (sides[i] != NULL && (s->opt->classifiers || s->question->named))
            most = larger(most, mel_canvas_wrap(&scratch, MEL_PLAIN, sides[i], s->panel - FRAME, 0));
        if (scratch.text.status != MEL_OK)
            *status = scratch.text.status;
        mel_canvas_free(&scratch);
    }
    return most;
}

static void lay_out(screen *s)
{
    const size_t beside = (s->width - GAP) / 2;
    const bool tables = s->whole || s->mistakes; /* the bars say as much as right answers alone */
    s->stacked = false;
    s->tables = tables && beside >= MIN_PANEL && fit_columns(s, beside);
    if (s->tables)
        return;
    s->tables = tables && fit_columns(s, s->width);
    s->stacked = s->tables || beside < MIN_PANEL;
    s->panel = s->stacked ? s->width : beside;
    if (!s->tables)
        s->name = smaller(longest_name(s, 1), (s->panel - FRAME) / 3);
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
    mel_canvas_name(c, MEL_BOLD, name, s->panel - FRAME - c->column);
    mel_canvas_newline(c);
}

static void add_table_head(mel_canvas *c, const screen *s)
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

static mel_paint paint_of_mistake(const screen *s, size_t row)
{
    return is_binary(s) && row == 0 ? MEL_YELLOW : MEL_RED;
}

static void add_table(mel_canvas *c, const screen *s, bool side_b, size_t group)
{
    char number[MEL_NUMBER_NAME];
    add_table_head(c, s);
    for (size_t i = 0; i < s->counted.k; i++) {
        mel_canvas_name(c, MEL_PLAIN, class_name(number, s, i), s->name);
        mel_canvas_pad(c, s->name);
        if (s->size > 0)
            mel_canvas_count(c, MEL_DIM, s->counted.size[group * s->counted.k + i], s->size);
        mel_canvas_pad(c, s->name + s->size + s->lead);
        for (size_t j = 0; j < s->columns; j++) {
            const bool right = s->whole ? i == j : j == 0;
            const int64_t count = right      ? mel_counted_at(&s->counted, side_b, group, i, i)
                                  : s->whole ? mel_counted_at(&s->counted, side_b, group, i, j)
                                             : wrong_of(s, side_b, group, i);
            const mel_paint paint = right ? MEL_BOLD : count > 0 ? paint_of_mistake(s, i) : MEL_DIM;
            mel_canvas_pad(c, c->column + s->apart);
            mel_canvas_count(c, paint, count, s->cell);
        }
        mel_canvas_newline(c);
    }
}

/* The two mistakes of a binary question by name. */
static void add_mistake(mel_buffer *out, const screen *s, bool missed, bool plural)
{
    char number[MEL_NUMBER_NAME];
    const char *given = missed ? s->opt->missed : s->opt->false_alarm;
    const char *many = missed ? s->opt->missed_plural : s->opt->false_alarms;
    const char *noun = given != NULL ? given : "false alarm";
    if (missed && given == NULL)
        mel_text_add_missed(out, class_name(number, s, 1), plural);
    else if (plural && given != NULL && many != NULL)
        mel_buffer_puts(out, many);
    else if (plural)
        mel_text_add_plural(out, noun);
    else
        mel_buffer_puts(out, noun);
}

/* Two classes: name and count on one line, the bar below, as long as the panel is wide. */
static void add_wide_bar(mel_canvas *c, const screen *s, size_t row, int64_t count, mel_paint paint)
{
    const size_t inner = s->panel - FRAME, room = inner - mel_count_columns(count) - 1;
    char number[MEL_NUMBER_NAME];
    mel_buffer label;
    mel_buffer_init(&label, MAX_PHRASE);
    if (s->mistakes)
        add_mistake(&label, s, row == 1, true);
    else
        mel_buffer_printf(&label, "%s: right", class_name(number, s, row));
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
static void add_slim_bar(mel_canvas *c, const screen *s, size_t row, int64_t count, mel_paint paint)
{
    const size_t inner = s->panel - FRAME, digits = mel_count_columns(s->longest);
    char number[MEL_NUMBER_NAME];
    mel_canvas_name(c, MEL_PLAIN, class_name(number, s, row), s->name);
    mel_canvas_pad(c, s->name + 1);
    mel_canvas_bar(c, paint, count, s->longest, inner - s->name - digits - 2);
    mel_canvas_pad(c, inner - digits);
    mel_canvas_count(c, MEL_BOLD, count, digits);
    mel_canvas_newline(c);
}

static void add_bars(mel_canvas *c, const screen *s, bool side_b, size_t group)
{
    if (!is_binary(s)) {
        mel_canvas_puts(c, MEL_DIM, s->mistakes ? "wrong, by true class" : "right, by true class");
        mel_canvas_newline(c);
    }
    for (size_t n = 0; n < s->counted.k; n++) {
        const size_t row = is_binary(s) ? 1 - n : n; /* missed positives first */
        const int64_t count = bar_of(s, side_b, group, row);
        const mel_paint paint = s->mistakes ? paint_of_mistake(s, row) : MEL_GREEN;
        if (is_binary(s))
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
    mel_canvas_repeat(c, MEL_DIM, "\u256d", "+", 1);
    mel_canvas_repeat(c, MEL_DIM, "\u2500", "-", 1);
    mel_canvas_puts(c, side_b ? MEL_MAGENTA : MEL_BLUE, side_b ? " B " : " A ");
    mel_canvas_repeat(c, MEL_DIM, "\u2500", "-", end - c->column);
    mel_canvas_repeat(c, MEL_DIM, "\u256e", "+", 1);
}

static void add_frame_bottom(mel_canvas *c, const screen *s)
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
static const char *add_framed(mel_canvas *c, const screen *s, const char *at)
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

static void add_beside(mel_canvas *c, const screen *s, const char *a, const char *b)
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
    mel_buffer_init(&left, MAX_PHRASE);
    mel_buffer_init(&right, MAX_PHRASE);
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

/* One entry that changes from A to B. */
typedef struct {
    size_t group, row, column;
    int64_t more; /* in B than in A, of this kind of mistake */
} change;

/* The change at one entry; for a class of which only the right answers are known, at the diagonal. */
static change change_at(const screen *s, size_t group, size_t row, size_t column)
{
    const int64_t a = mel_counted_at(&s->counted, false, group, row, column);
    const int64_t b = mel_counted_at(&s->counted, true, group, row, column);
    const change none = { group, row, column, 0 };
    if (a < 0 || b < 0)
        return none;
    if (row != column)
        return (change){ group, row, column, b - a };
    /* Told by its mistakes, when those are known one by one. */
    const size_t other = row == 0 ? 1 : 0;
    const bool told = mel_counted_at(&s->counted, false, group, row, other) >= 0;
    return told ? none : (change){ group, row, column, a - b };
}

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

static size_t find_changes(change found[MOST_CHANGES], const screen *s)
{
    size_t n = 0;
    const size_t k = s->counted.k;
    for (size_t at = 0; at < s->counted.n_groups * k * k; at++) {
        const change one = change_at(s, at / (k * k), at / k % k, at % k);
        if (one.more == 0)
            continue;
        size_t i = n < MOST_CHANGES ? n++ : MOST_CHANGES;
        for (; i > 0 && magnitude(found[i - 1].more) < magnitude(one.more); i--)
            if (i < MOST_CHANGES)
                found[i] = found[i - 1];
        if (i < MOST_CHANGES)
            found[i] = one;
    }
    return n;
}

/* "flu"; "class 3" when the name is but a number. */
static void add_class(mel_buffer *out, const screen *s, size_t code)
{
    char number[MEL_NUMBER_NAME];
    const char *name = class_name(number, s, code);
    mel_buffer_printf(out, "%s%s", strspn(name, "0123456789.-+") == strlen(name) ? "class " : "", name);
}

static void add_what(mel_buffer *out, const screen *s, const change *one)
{
    if (is_binary(s)) {
        add_mistake(out, s, one->row == 1, magnitude(one->more) != 1);
    } else if (one->row == one->column) {
        mel_buffer_puts(out, "wrong about ");
        add_class(out, s, one->row);
    } else {
        add_class(out, s, one->row);
        mel_buffer_puts(out, " taken for ");
        add_class(out, s, one->column);
    }
}

static void add_change(mel_buffer *out, const screen *s, const change *one)
{
    char number[MEL_NUMBER_NAME];
    mel_text_add_count(out, (uint64_t)magnitude(one->more));
    mel_buffer_puts(out, one->more > 0 ? " more " : " fewer ");
    add_what(out, s, one);
    if (s->counted.n_groups > 1) {
        (void)snprintf(number, sizeof number, "%zu", one->group + 1);
        mel_buffer_printf(out, " in group %s",
                          s->question->group_names != NULL ? s->question->group_names[one->group] : number);
    }
}

static void add_changes(mel_canvas *c, const screen *s)
{
    change found[MOST_CHANGES];
    size_t n = find_changes(found, s);
    mel_buffer text;
    mel_buffer_init(&text, MAX_PHRASE);
    if (is_binary(s) && n == 2 && found[0].row == 0 && found[0].group == found[1].group) {
        const change missed = found[1]; /* as the bars: missed positives first */
        found[1] = found[0];
        found[0] = missed;
    }
    mel_buffer_puts(&text, n > 0 ? "From A to B: " : "A and B look the same at this scale.");
    for (size_t i = 0; i < n; i++) {
        mel_buffer_puts(&text, i > 0 ? ", " : "");
        add_change(&text, s, &found[i]);
    }
    mel_buffer_puts(&text, n > 0 ? "." : "");
    if (text.status != MEL_OK)
        c->text.status = text.status;
    else
        (void)mel_canvas_wrap(c, MEL_BOLD, text.data, s->width, 2);
    mel_buffer_free(&text);
    mel_canvas_newline(c);
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

void mel_show_options_init(mel_show_options *opt)
{
    *opt = (mel_show_options){ .struct_size = sizeof *opt, .width = 80, .sizes = true };
}

static mel_status show(char **out, screen *s, mel_error *err)
{
    const mel_status status = mel_counted_make(&s->counted, s->question, s->opt->people, err);
    if (status != MEL_OK)
        return status;
    take_stock(s);
    lay_out(s);
    mel_canvas c;
    mel_canvas_init(&c, s->opt->utf8, s->opt->colour);
    s->classifier_lines = count_classifier_lines(s, &c.text.status);
    add_head(&c, s);
    add_remark(&c, s);
    add_sides(&c, s);
    add_changes(&c, s);
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
    status = show(out, &s, err);
    mel_counted_clear(&s.counted);
    return status;
}
