/* Separators and headers, found in the first rows of a file. */
#include "data/csv_dialect.h"

#include "data/csv_rows.h"
#include "data/missing.h"
#include "data/number_style.h"
#include "data/show.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows and cells of the sample ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_empty_row(const mel_csv_sample *sample, size_t row)
{
    const char *p = sample->begin[row];
    while (p < sample->end[row] && is_blank(*p))
        p++;
    return p == sample->end[row];
}

void mel_csv_sample_take(mel_csv_sample *out, const char *text, size_t n)
{
    out->n = 0;
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
    while (out->n > 1 && is_empty_row(out, out->n - 1))
        out->n--;
}

/* A cell without the blanks around it and without quotes. */
typedef struct {
    const char *text;
    size_t n;
    bool quoted;
} cell;

/* Goes from cell to cell of a row. */
typedef struct {
    const char *p, *end;
    char delimiter;
    bool more;
} cells;

static void skip_blanks(cells *row)
{
    while (row->p < row->end && is_blank(*row->p))
        row->p++;
}

static cells cells_of(const mel_csv_sample *sample, size_t row, char delimiter)
{
    cells out = { .p = sample->begin[row], .end = sample->end[row], .delimiter = delimiter, .more = true };
    if (delimiter == ' ') {
        skip_blanks(&out);
        out.more = out.p < out.end;
    }
    return out;
}

static bool separates(const cells *row, char c)
{
    return row->delimiter == ' ' ? is_blank(c) : c == row->delimiter;
}

static bool next_cell(cells *row, cell *out)
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
    *out = (cell){ .text = from + quoted, .n = (size_t)(p - from) - 2 * (size_t)quoted, .quoted = quoted };
    return true;
}

static size_t count_cells(const mel_csv_sample *sample, size_t row, char delimiter)
{
    cells c = cells_of(sample, row, delimiter);
    cell ignored;
    size_t n = 0;
    while (next_cell(&c, &ignored))
        n++;
    return n;
}

static bool is_number(cell c)
{
    bool percent;
    return mel_number_shape_of(c.text, c.n, &percent) != MEL_SHAPE_OTHER;
}

static bool is_missing(cell c)
{
    return c.n == 0 || (!c.quoted && mel_missing_number(c.text, c.n));
}

/* ---- columns of the sample ---- */

typedef struct {
    size_t numbers, fractions, texts; /* in the rows below the first; fractions: numbers that are not whole */
    cell first;
    bool first_again; /* the text of the first row is there again below */
} column;

static void add_cell(column *to, cell c)
{
    bool percent;
    if (is_missing(c))
        return;
    const mel_number_shape shape = mel_number_shape_of(c.text, c.n, &percent);
    to->numbers += shape != MEL_SHAPE_OTHER;
    to->texts += shape == MEL_SHAPE_OTHER;
    to->fractions += shape > MEL_SHAPE_WHOLE;
    to->first_again |= c.n == to->first.n && memcmp(c.text, to->first.text, c.n) == 0;
}

/* The n columns of the rows below the first, of which `before` cells are none; freed by the caller. */
static column *columns_of(const mel_csv_sample *sample, char delimiter, size_t n, size_t before)
{
    column *out = mel_alloc_zero(n, sizeof *out);
    for (size_t row = 0; out != NULL && row < sample->n; row++) {
        cells c = cells_of(sample, row, delimiter);
        cell one;
        for (size_t i = 0; row != 0 && i < before; i++)
            (void)next_cell(&c, &one);
        for (size_t j = 0; j < n && next_cell(&c, &one); j++) {
            if (row == 0)
                out[j].first = one;
            else
                add_cell(&out[j], one);
        }
    }
    return out;
}

static bool is_numeric(const column *c)
{
    return c->numbers != 0 && c->texts == 0;
}

/* ---- what separates the cells ---- */

/* How well the rows below agree with the first one. */
typedef struct {
    size_t first; /* cells of the first row */
    size_t same, one_more;
    size_t rows; /* below, but for empty ones */
} agreement;

static agreement agree(const mel_csv_sample *sample, char delimiter)
{
    agreement out = { .first = count_cells(sample, 0, delimiter) };
    for (size_t row = 1; row < sample->n; row++) {
        if (is_empty_row(sample, row))
            continue;
        const size_t n = count_cells(sample, row, delimiter);
        out.rows++;
        out.same += n == out.first;
        out.one_more += n == out.first + 1;
    }
    return out;
}

static bool agrees(const agreement *a)
{
    return a->first >= 2 && a->same == a->rows;
}

/* Blanks separate cells only where that makes a column of numbers: words of a text are apart by blanks, too.
 */
static mel_status check_blanks(bool *good, const mel_csv_sample *sample, size_t n, size_t before,
                               mel_error *err)
{
    *good = false;
    column *columns = columns_of(sample, ' ', n, before);
    if (columns == NULL)
        return mel_fail_memory(err, "the first rows of a table");
    for (size_t j = 0; j < n; j++)
        *good |= is_numeric(&columns[j]);
    free(columns);
    return MEL_OK;
}

/* Is every row below the first a single number? Then its comma separates no cells. */
static bool rows_are_numbers(const mel_csv_sample *sample)
{
    size_t n = 0;
    for (size_t row = 1; row < sample->n; row++) {
        const cell whole = { sample->begin[row], (size_t)(sample->end[row] - sample->begin[row]), false };
        n += is_number(whole);
    }
    return sample->n > 1 && n == sample->n - 1;
}

/* Row names need a name in every row; where the last cell of each is empty, a separator too many ends it. */
static bool has_row_names(const mel_csv_sample *sample, char delimiter, const agreement *a)
{
    if (is_empty_row(sample, 0) || a->rows == 0 || a->one_more != a->rows)
        return false;
    size_t open_ends = 0, nameless = 0;
    for (size_t row = 1; row < sample->n; row++) {
        cells c = cells_of(sample, row, delimiter);
        cell one = { 0 };
        for (size_t j = 0; next_cell(&c, &one); j++)
            nameless += j == 0 && one.n == 0;
        open_ends += one.n == 0;
    }
    return nameless == 0 && open_ends < a->rows;
}

/* Candidates in the order in which they are preferred: a comma is more often part of a text or of a number.
 */
static const char candidates[] = { '\t', ';', '|', ',' };
enum { CANDIDATES = sizeof candidates, COMMA = CANDIDATES - 1 };

mel_delimiter_text mel_delimiter_name(char delimiter)
{
    if (delimiter == '\t')
        return (mel_delimiter_text){ "tab" };
    if (delimiter == ' ')
        return (mel_delimiter_text){ "blanks" };
    return (mel_delimiter_text){ { '\'', delimiter, '\'' } };
}

/* Are all commas of the sample inside numbers, as decimal commas are? */
static bool commas_are_decimal(const mel_csv_sample *sample, char delimiter)
{
    for (size_t row = 0; row < sample->n; row++) {
        cells c = cells_of(sample, row, delimiter);
        cell one;
        while (next_cell(&c, &one))
            if (memchr(one.text, ',', one.n) != NULL && !is_number(one))
                return false;
    }
    return true;
}

static mel_status choose_agreeing(char *delimiter, const mel_csv_sample *sample, const agreement *a,
                                  mel_notes *notes, mel_error *err)
{
    for (size_t i = 0; i < CANDIDATES; i++) {
        if (!agrees(&a[i]))
            continue;
        if (*delimiter == 0) {
            *delimiter = candidates[i];
            continue;
        }
        if (candidates[i] == ',' && commas_are_decimal(sample, *delimiter))
            continue;
        return mel_notes_warn(notes, err,
                              "the cells could be separated by %s or by %s; taken to be %s (--delimiter says "
                              "which)",
                              mel_delimiter_name(*delimiter).text, mel_delimiter_name(candidates[i]).text,
                              mel_delimiter_name(*delimiter).text);
    }
    return MEL_OK;
}

/* R leaves out the header's cell over the row names. */
static mel_status choose_with_row_names(mel_dialect *out, const mel_csv_sample *sample, const agreement *a,
                                        mel_notes *notes, mel_error *err)
{
    for (size_t i = 0; i < COMMA && out->delimiter == 0; i++)
        if (has_row_names(sample, candidates[i], &a[i]))
            out->delimiter = candidates[i];
    const agreement blanks = agree(sample, ' ');
    if (out->delimiter == 0 && has_row_names(sample, ' ', &blanks)) {
        bool good;
        const mel_status status = check_blanks(&good, sample, blanks.first, 1, err);
        if (status != MEL_OK)
            return status;
        out->delimiter = good ? ' ' : 0;
    }
    if (out->delimiter == 0 && has_row_names(sample, ',', &a[COMMA])) {
        if (a[COMMA].first == 1 && rows_are_numbers(sample)) {
            out->delimiter = ';'; /* separates nothing: the file has one column */
            return mel_notes_warn(notes, err,
                                  "the commas are taken as decimal commas of the only column (--delimiter , "
                                  "separates cells by them)");
        }
        out->delimiter = ',';
    }
    out->row_names = out->delimiter != 0;
    return MEL_OK;
}

static char choose_best(const agreement *a)
{
    size_t best = COMMA;
    for (size_t i = CANDIDATES; i-- > 0;)
        if (a[i].first >= 2 && (a[best].first < 2 || a[i].same > a[best].same))
            best = i;
    return candidates[best];
}

mel_status mel_dialect_find_delimiter(mel_dialect *out, const mel_csv_sample *sample,
                                      const mel_read_options *opt, mel_notes *notes, mel_error *err)
{
    out->delimiter = opt->delimiter != 0 || sample->n != 0 ? opt->delimiter : ',';
    if (out->delimiter != 0 && sample->n != 0) {
        const agreement given = agree(sample, out->delimiter);
        out->row_names = has_row_names(sample, out->delimiter, &given);
    }
    if (out->delimiter != 0)
        return MEL_OK;
    agreement a[CANDIDATES];
    for (size_t i = 0; i < CANDIDATES; i++)
        a[i] = agree(sample, candidates[i]);
    mel_status status = choose_agreeing(&out->delimiter, sample, a, notes, err);
    const agreement blanks = agree(sample, ' ');
    if (status == MEL_OK && out->delimiter == 0 && agrees(&blanks)) {
        bool good;
        status = check_blanks(&good, sample, blanks.first, 0, err);
        out->delimiter = status == MEL_OK && good ? ' ' : 0;
    }
    if (status == MEL_OK && out->delimiter == 0)
        status = choose_with_row_names(out, sample, a, notes, err);
    if (out->delimiter == 0)
        out->delimiter = choose_best(a);
    return status;
}

/* ---- does the first row hold names? ---- */

/* The first row has whole numbers that count up where the columns hold numbers, as default names (0, 1, ...)
 * and years (2019, 2020, ...) do. */
static bool counts_up(const column *columns, size_t n, size_t *start, size_t *numbers)
{
    size_t last = 0;
    *numbers = 0;
    for (size_t j = 0; j < n; j++) {
        if (!is_number(columns[j].first))
            continue;
        double value;
        if (mel_number_parse(columns[j].first.text, columns[j].first.n, &value) != MEL_NUMBER_FINITE ||
            value < 0.0 || value > 1e6 || value != (double)(size_t)value ||
            memchr(columns[j].first.text, '.', columns[j].first.n) != NULL)
            return false;
        if (*numbers == 0)
            *start = (size_t)value;
        else if ((size_t)value != last + 1)
            return false;
        last = (size_t)value;
        ++*numbers;
    }
    return *numbers != 0;
}

static bool any_fraction(const column *columns, size_t n)
{
    for (size_t j = 0; j < n; j++)
        if (columns[j].fractions != 0)
            return true;
    return false;
}

/* The first row is numbers over numbers. That means data, unless they count up as names do. */
static mel_status judge_numbers(bool *header, const column *columns, size_t n, mel_notes *notes,
                                mel_error *err)
{
    size_t start = 0, numbers = 0;
    *header = false;
    if (!counts_up(columns, n, &start, &numbers))
        return MEL_OK;
    const bool years = start >= 1900 && start + numbers <= 2101 && numbers >= 2;
    const bool default_names = start == 0 && (numbers >= 3 || any_fraction(columns, n));
    *header = years || default_names;
    if (*header)
        return mel_notes_warn(notes, err,
                              "row 1 counts from %zu to %zu and is taken as the header (--header no makes it "
                              "data)",
                              start, start + numbers - 1);
    if (start == 0 && numbers == 2 && n == 2)
        return mel_notes_warn(notes, err,
                              "row 1 holds \"0\" and \"1\" and is taken as data (--header yes makes it the "
                              "header)");
    return MEL_OK;
}

static mel_status judge_first_row(bool *header, const column *columns, size_t n, size_t n_rows,
                                  mel_notes *notes, mel_error *err)
{
    bool numeric_below = false, number_over_number = false, number_at_all = false, all_again = true;
    for (size_t j = 0; j < n; j++) {
        const column *c = &columns[j];
        const bool number = is_number(c->first) || (c->first.n != 0 && is_missing(c->first));
        number_at_all |= is_number(c->first);
        numeric_below |= is_numeric(c);
        number_over_number |= is_numeric(c) && number;
        all_again &= c->first_again;
    }
    *header = true;
    if (number_over_number)
        return judge_numbers(header, columns, n, notes, err);
    if (n_rows < 2)
        *header = !number_at_all;
    else if (!numeric_below && all_again)
        return mel_notes_warn(notes, err,
                              "row 1 is taken as the header, though its texts are in the rows below, too "
                              "(--header no makes it data)");
    return MEL_OK;
}

/* ---- does the first column number the rows? ---- */

static int compare_cells(const void *a, const void *b)
{
    const cell *x = a, *y = b;
    const size_t n = x->n < y->n ? x->n : y->n;
    const int order = memcmp(x->text, y->text, n);
    return order != 0 ? order : (x->n > y->n) - (x->n < y->n);
}

/* All different, none missing? */
static bool first_cells_differ(const mel_csv_sample *sample, char delimiter)
{
    cell first[MEL_SAMPLE_ROWS];
    size_t n = 0;
    for (size_t row = 1; row < sample->n; row++) {
        cells c = cells_of(sample, row, delimiter);
        if (!next_cell(&c, &first[n]) || is_missing(first[n]))
            return false;
        n++;
    }
    qsort(first, n, sizeof *first, compare_cells);
    for (size_t i = 1; i < n; i++)
        if (compare_cells(&first[i - 1], &first[i]) == 0)
            return false;
    return n != 0;
}

static bool is_unnamed(cell name)
{
    static const char unnamed[] = "Unnamed: 0";
    return name.n == 0 || (name.n == sizeof unnamed - 1 && memcmp(name.text, unnamed, name.n) == 0);
}

static mel_status judge_first_column(mel_dialect *out, const mel_csv_sample *sample, char delimiter,
                                     const column *columns, size_t n, mel_notes *notes, mel_error *err)
{
    if (out->row_names)
        return mel_notes_warn(notes, err,
                              "the rows have one cell more than the header: the first one is taken as the "
                              "row's name and skipped");
    out->index = n >= 2 && is_unnamed(columns[0].first) && first_cells_differ(sample, delimiter);
    return out->index ? mel_notes_warn(notes, err,
                                       "the first column has no name and numbers the rows: it is skipped")
                      : MEL_OK;
}

mel_status mel_dialect_find_header(mel_dialect *out, const mel_csv_sample *sample,
                                   const mel_read_options *opt, mel_notes *notes, mel_error *err)
{
    out->header = opt->header != MEL_HEADER_NO;
    out->row_names &= out->header;
    if (sample->n == 0 || !out->header)
        return MEL_OK;
    const char delimiter = out->delimiter == ' ' ? '\t' : out->delimiter;
    const size_t n = count_cells(sample, 0, delimiter);
    column *columns = columns_of(sample, delimiter, n, out->row_names);
    if (columns == NULL)
        return mel_fail_memory(err, "the first rows of a table");
    mel_status status = MEL_OK;
    if (opt->header == MEL_HEADER_AUTO && !out->row_names)
        status = judge_first_row(&out->header, columns, n, sample->n, notes, err);
    if (status == MEL_OK && out->header)
        status = judge_first_column(out, sample, delimiter, columns, n, notes, err);
    free(columns);
    return status;
}
