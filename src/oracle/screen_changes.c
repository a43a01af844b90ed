/* What changes from A to B, in words. */
#include "oracle/screen.h"

#include "metric/text.h"

#include <stdio.h>
#include <string.h>

enum { MOST_CHANGES = 4 };

void mel_screen_mistake(mel_buffer *out, const mel_screen *s, bool missed, bool plural)
{
    char number[MEL_NUMBER_NAME];
    const char *given = missed ? s->opt->missed : s->opt->false_alarm;
    const char *many = missed ? s->opt->missed_plural : s->opt->false_alarms;
    const char *noun = given != NULL ? given : "false alarm";
    if (missed && given == NULL)
        mel_text_add_missed(out, mel_screen_class(number, s, 1), plural);
    else if (plural && given != NULL && many != NULL)
        mel_buffer_puts(out, many);
    else if (plural)
        mel_text_add_plural(out, noun);
    else
        mel_buffer_puts(out, noun);
}

/* One entry that changes from A to B. */
typedef struct {
    size_t group, row, column;
    int64_t more; /* in B than in A, of this kind of mistake */
} change;

/* The change at one entry; for a class of which only the right answers are known, at the diagonal. */
static change change_at(const mel_screen *s, size_t group, size_t row, size_t column)
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

static size_t find_changes(change found[MOST_CHANGES], const mel_screen *s)
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
static void add_class(mel_buffer *out, const mel_screen *s, size_t code)
{
    char number[MEL_NUMBER_NAME];
    const char *name = mel_screen_class(number, s, code);
    mel_buffer_printf(out, "%s%s", strspn(name, "0123456789.-+") == strlen(name) ? "class " : "", name);
}

static void add_what(mel_buffer *out, const mel_screen *s, const change *one)
{
    if (mel_screen_is_binary(s)) {
        mel_screen_mistake(out, s, one->row == 1, magnitude(one->more) != 1);
    } else if (one->row == one->column) {
        mel_buffer_puts(out, "wrong about ");
        add_class(out, s, one->row);
    } else {
        add_class(out, s, one->row);
        mel_buffer_puts(out, " taken for ");
        add_class(out, s, one->column);
    }
}

static void add_change(mel_buffer *out, const mel_screen *s, const change *one)
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

void mel_screen_changes(mel_canvas *c, const mel_screen *s)
{
    change found[MOST_CHANGES];
    size_t n = find_changes(found, s);
    mel_buffer text;
    mel_buffer_init(&text, MEL_SCREEN_PHRASE);
    if (mel_screen_is_binary(s) && n == 2 && found[0].row == 0 && found[0].group == found[1].group) {
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
