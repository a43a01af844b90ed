/* Rows, cells and columns of the first rows of a CSV file. */
#include "data/csv_sample.h"

#include "base/internal.h"
#include "data/csv_rows.h"
#include "data/missing.h"
#include "data/number_style.h"

#include <string.h>

/* ---- rows and cells ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

bool mel_csv_sample_is_empty(const mel_csv_sample *sample, size_t row)
{
    const char *p = sample->begin[row];
    while (p < sample->end[row] && is_blank(*p))
        p++;
    return p == sample->end[row];
}

void mel_csv_sample_take(mel_csv_sample *out, const char *text, size_t n, size_t row_number)
{
    out->n = 0;
    out->row_number = row_number;
    while (out->n < MEL_SAMPLE_ROWS) {
        const size_t length = mel_csv_first_row(text, n);
        if (length == 0)
            break;
        const char *end = text + length - 1;
        end -= end > text && end[-1] == '\r';
        out->begin[out->n] = text;
        out->end[out->n++] = end;
        text += length;
        n -= length;
    }
    while (out->n > 1 && mel_csv_sample_is_empty(out, out->n - 1))
        out->n--;
}

static void skip_blanks(mel_sample_cells *row)
{
    while (row->p < row->end && is_blank(*row->p))
        row->p++;
}

mel_sample_cells mel_sample_cells_of(const mel_csv_sample *sample, size_t row, char delimiter)
{
    mel_sample_cells out = {
        .p = sample->begin[row], .end = sample->end[row], .delimiter = delimiter, .more = true
    };
    if (delimiter == ' ') {
        skip_blanks(&out);
        out.more = out.p < out.end;
    }
    return out;
}

static bool separates(const mel_sample_cells *row, char c)
{
    return row->delimiter == ' ' ? is_blank(c) : c == row->delimiter;
}

bool mel_sample_next(mel_sample_cells *row, mel_sample_cell *out)
{
    if (!row->more)
        return false;
    const char *from = row->p, *p = from;
    for (bool inside = false; p < row->end && (inside || !separates(row, *p)); p++)
        inside ^= *p == '"';
    row->p = p;
    if (row->delimiter == ' ') {
        skip_blanks(row);
        row->more = row->p < row->end;
    } else {
        row->more = p < row->end;
        row->p += row->more;
    }
    while (from < p && is_blank(*from))
        from++;
    while (from < p && is_blank(p[-1]))
        p--;
    const bool quoted = p - from >= 2 && *from == '"' && p[-1] == '"';
    *out = (mel_sample_cell){ .text = from + quoted,
                              .n = (size_t)(p - from) - 2 * (size_t)quoted,
                              .quoted = quoted };
    return true;
}

size_t mel_sample_count(const mel_csv_sample *sample, size_t row, char delimiter, mel_sample_cell *last)
{
    mel_sample_cells c = mel_sample_cells_of(sample, row, delimiter);
    size_t n = 0;
    *last = (mel_sample_cell){ 0 };
    while (mel_sample_next(&c, last))
        n++;
    return n;
}

bool mel_sample_is_number(mel_sample_cell c)
{
    bool percent;
    return mel_number_shape_of(c.text, c.n, &percent) != MEL_SHAPE_OTHER;
}

bool mel_sample_is_missing(mel_sample_cell c)
{
    return mel_missing_number(c.text, c.n);
}

/* ---- columns ---- */

static void add_cell(mel_sample_column *to, mel_sample_cell c)
{
    bool percent;
    if (mel_sample_is_missing(c))
        return;
    const mel_number_shape shape = mel_number_shape_of(c.text, c.n, &percent);
    to->numbers += shape != MEL_SHAPE_OTHER;
    to->quoted_numbers |= shape != MEL_SHAPE_OTHER && c.quoted;
    to->texts += shape == MEL_SHAPE_OTHER;
    to->fractions += shape > MEL_SHAPE_WHOLE;
    to->first_again |= c.n == to->first.n && memcmp(c.text, to->first.text, c.n) == 0;
}

mel_sample_column *mel_sample_columns(const mel_csv_sample *sample, char delimiter, size_t n, size_t before)
{
    mel_sample_column *out = mel_alloc_zero(n, sizeof *out);
    for (size_t row = 0; out != NULL && row < sample->n; row++) {
        mel_sample_cells c = mel_sample_cells_of(sample, row, delimiter);
        mel_sample_cell one;
        for (size_t i = 0; row != 0 && i < before; i++)
            (void)mel_sample_next(&c, &one);
        for (size_t j = 0; j < n && mel_sample_next(&c, &one); j++) {
            if (row == 0)
                out[j].first = one;
            else
                add_cell(&out[j], one);
        }
    }
    return out;
}

bool mel_sample_is_numeric(const mel_sample_column *c)
{
    return c->numbers != 0 && c->numbers >= c->texts;
}
