/* How a question fits on a terminal: beside each other or one below the other, with tables or bars alone. */
#include "oracle/screen.h"

#include "metric/text.h"

#include <string.h>

enum { MIN_PANEL = 28, MOST_APART = 8 };

int64_t mel_screen_wrong(const mel_screen *s, bool side_b, size_t group, size_t row)
{
    const int64_t size = s->counted.size[group * s->counted.k + row];
    const int64_t right = mel_counted_at(&s->counted, side_b, group, row, row);
    return size >= 0 && right >= 0 ? size - right : MEL_UNKNOWN_COUNT;
}

int64_t mel_screen_bar(const mel_screen *s, bool side_b, size_t group, size_t row)
{
    return s->mistakes ? mel_screen_wrong(s, side_b, group, row)
                       : mel_counted_at(&s->counted, side_b, group, row, row);
}

static void take_stock(mel_screen *s)
{
    const size_t k = s->counted.k, rows = s->counted.n_groups * k;
    s->whole = s->mistakes = true;
    for (size_t i = 0; i < rows * k; i++)
        s->whole = s->whole && s->counted.a[i] >= 0 && s->counted.b[i] >= 0;
    for (size_t i = 0; i < rows; i++)
        s->mistakes = s->mistakes && mel_screen_wrong(s, false, i / k, i % k) >= 0;
    s->columns = s->whole ? k : 2;
    s->longest = 1;
    for (size_t i = 0; i < rows; i++) {
        const int64_t a = mel_screen_bar(s, false, i / k, i % k), b = mel_screen_bar(s, true, i / k, i % k);
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

static size_t longest_name(const mel_screen *s, size_t least)
{
    char number[MEL_NUMBER_NAME];
    for (size_t i = 0; i < s->counted.k; i++)
        least = larger(least, mel_text_columns(mel_screen_class(number, s, i)));
    return least;
}

static size_t digits_of_counts(const mel_screen *s)
{
    size_t digits = 1;
    for (size_t i = 0; i < s->counted.n_groups * s->counted.k * s->counted.k; i++) {
        const int64_t a = s->counted.a[i], b = s->counted.b[i];
        digits = larger(digits, mel_count_columns(a > b ? a : b));
    }
    return larger(digits, mel_count_columns(s->longest));
}

static size_t size_columns(const mel_screen *s)
{
    size_t columns = 0;
    for (size_t i = 0; s->opt->sizes && i < s->counted.n_groups * s->counted.k; i++)
        if (s->counted.size[i] >= 0 && !s->counted.of_each_class)
            columns = larger(columns, mel_count_columns(s->counted.size[i]) + 1);
    return columns;
}

/* Whether the tables fit into panels of this width; sets the widths of their columns. Names are cut
 * before counts, and class sizes go before names are cut. */
static bool fit_columns(mel_screen *s, size_t panel)
{
    const size_t n = s->columns, inner = panel - MEL_SCREEN_FRAME, digits = digits_of_counts(s);
    const size_t names = longest_name(s, strlen("true"));
    const size_t heads = larger(digits, s->whole ? names : strlen("right"));
    const size_t least_name = smaller(names, mel_screen_is_binary(s) ? 6 : 4);
    s->panel = panel;
    s->size = size_columns(s);
    s->apart = mel_screen_is_binary(s) ? 2 : 1;
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

void mel_screen_lay_out(mel_screen *s)
{
    take_stock(s);
    const size_t beside = (s->width - MEL_SCREEN_GAP) / 2;
    const bool tables = s->whole || s->mistakes; /* the bars say as much as right answers alone */
    s->stacked = false;
    s->tables = tables && beside >= MIN_PANEL && fit_columns(s, beside);
    if (s->tables)
        return;
    s->tables = tables && fit_columns(s, s->width);
    s->stacked = s->tables || beside < MIN_PANEL;
    s->panel = s->stacked ? s->width : beside;
    if (!s->tables)
        s->name = smaller(longest_name(s, 1), (s->panel - MEL_SCREEN_FRAME) / 3);
}
