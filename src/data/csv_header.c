/* Headers and row names, found in the first rows of a file. */
#include "data/csv.h"

#include "data/labels.h"
#include "data/number.h"
#include "data/quote.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- does the first row hold names? ---- */

/* The first row has whole numbers that count up where the columns hold numbers, as default names (0, 1, ...)
 * and years (2019, 2020, ...) do. */
static bool counts_up(const mel_sample_column *columns, size_t n, size_t *start, size_t *numbers)
{
    size_t last = 0;
    *numbers = 0;
    for (size_t j = 0; j < n; j++) {
        if (!mel_sample_is_number(columns[j].first))
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

static bool any_fraction(const mel_sample_column *columns, size_t n)
{
    for (size_t j = 0; j < n; j++)
        if (columns[j].fractions != 0)
            return true;
    return false;
}

static bool is_unnamed(mel_csv_cell name)
{
    static const char unnamed[] = "Unnamed: 0";
    return name.n == 0 || (name.n == sizeof unnamed - 1 && memcmp(name.text, unnamed, name.n) == 0);
}

/* The first row as far as it is judged. */
typedef struct {
    const mel_csv_sample *sample;
    const mel_sample_column *columns;
    size_t n;
    bool index; /* no name over a first column of different cells, or of what names the rows */
    const mel_read_options *opt;
} first_row;

static bool is_row_name(mel_csv_cell cell, const mel_read_options *opt)
{
    return opt->row_name != NULL && cell.n == strlen(opt->row_name) &&
           strncasecmp(cell.text, opt->row_name, cell.n) == 0;
}

static bool has_row_name(const mel_sample_column *columns, size_t n, const mel_read_options *opt)
{
    for (size_t j = 0; j < n; j++)
        if (is_row_name(columns[j].first, opt))
            return true;
    return false;
}

/* One of the names that the caller expects? *as_spelt becomes false when its spelling is another. */
static bool is_expected(mel_csv_cell cell, bool *as_spelt, const mel_read_options *opt)
{
    bool same = false;
    for (size_t i = 0; i < opt->n_expected_names; i++) {
        const char *name = opt->expected_names[i];
        if (cell.n == strlen(name) && memcmp(cell.text, name, cell.n) == 0)
            return true;
        same = same || mel_same_name(cell.text, cell.n, name);
    }
    *as_spelt = *as_spelt && !same;
    return same;
}

static bool all_expected(const first_row *row, bool *as_spelt)
{
    *as_spelt = true;
    for (size_t j = row->index; j < row->n; j++)
        if (!is_expected(row->columns[j].first, as_spelt, row->opt))
            return false;
    return row->n > row->index;
}

static mel_status warn_of_header(const first_row *row, size_t start, size_t numbers, mel_notes *notes,
                                 mel_error *err)
{
    const size_t number = row->sample->row_number;
    return numbers == 1
               ? mel_notes_warn(notes, err,
                                "row %zu holds \"%zu\" and is taken as the header (header=no makes it "
                                "data)",
                                number, start)
               : mel_notes_warn(notes, err,
                                "row %zu counts from %zu to %zu and is taken as the header (header=no "
                                "makes it data)",
                                number, start, start + numbers - 1);
}

/* The first row is numbers over numbers. That means data, unless they count up as names do. */
static mel_status judge_numbers(bool *header, const first_row *row, mel_notes *notes, mel_error *err)
{
    size_t start = 0, numbers = 0;
    *header = false;
    if (!counts_up(row->columns, row->n, &start, &numbers))
        return MEL_OK;
    const bool years = start >= 1900 && start + numbers <= 2101 && numbers >= 2;
    const bool lone = start == 0 && row->n == 1;
    const bool default_names = start == 0 && (numbers >= 3 || any_fraction(row->columns, row->n));
    const bool lone_name = lone && !row->columns[0].first_again; /* the rows below do without a 0 */
    *header = row->index || years || default_names || lone_name;
    if (*header)
        return row->index ? MEL_OK : warn_of_header(row, start, numbers, notes, err);
    const bool pair = start == 0 && numbers == 2 && row->n == 2;
    return !lone && !pair ? MEL_OK
                          : mel_notes_warn(notes, err,
                                           "row %zu holds \"0\"%s and is taken as data (header=yes makes it "
                                           "the header)",
                                           row->sample->row_number, pair ? " and \"1\"" : "");
}

static mel_status judge_first_row(bool *header, const first_row *row, mel_notes *notes, mel_error *err)
{
    bool numeric_below = false, number_over_number = false, number_at_all = false, all_again = true;
    for (size_t j = 0; j < row->n; j++) {
        const mel_sample_column *c = &row->columns[j];
        const bool name =
            c->first.quoted && !c->quoted_numbers && mel_missing_number(c->first.text, c->first.n);
        const bool numeric = mel_sample_is_numeric(c), number = !name && mel_sample_is_number(c->first);
        number_at_all |= number;
        numeric_below |= numeric;
        number_over_number |=
            numeric &&
            (number || (!name && c->first.n != 0 && mel_missing_number(c->first.text, c->first.n)));
        all_again &= c->first_again;
    }
    *header = true;
    bool as_spelt;
    if (has_row_name(row->columns, row->n, row->opt))
        return MEL_OK;
    if (all_expected(row, &as_spelt))
        return number_over_number && (!as_spelt || all_again || row->n == 1)
                   ? mel_notes_warn(notes, err,
                                    "row %zu holds names that are expected and is taken as the header, "
                                    "though they could be data (header=no makes it data)",
                                    row->sample->row_number)
                   : MEL_OK;
    if (number_over_number)
        return judge_numbers(header, row, notes, err);
    if (row->sample->n < 2)
        *header = !number_at_all;
    else if (!numeric_below && all_again)
        return mel_notes_warn(notes, err,
                              "row %zu is taken as the header, though its texts are in the rows below, too "
                              "(header=no makes it data)",
                              row->sample->row_number);
    return MEL_OK;
}

/* ---- does the first column number the rows? ---- */

static int compare_cells(const void *a, const void *b)
{
    const mel_csv_cell *x = a, *y = b;
    const size_t n = x->n < y->n ? x->n : y->n;
    const int order = memcmp(x->text, y->text, n);
    return order != 0 ? order : (x->n > y->n) - (x->n < y->n);
}

/* All different, none missing? */
static bool first_cells_differ(const mel_csv_sample *sample, char delimiter)
{
    mel_csv_cell first[MEL_SAMPLE_ROWS];
    size_t n = 0;
    for (size_t row = 1; row < sample->n; row++, n++) {
        mel_sample_cells c = mel_sample_cells_of(sample, row, delimiter);
        if (!mel_sample_next(&c, &first[n]) || first[n].n == 0 ||
            (!first[n].quoted && mel_missing_number(first[n].text, first[n].n)))
            return false;
    }
    qsort(first, n, sizeof *first, compare_cells);
    for (size_t i = 1; i < n; i++)
        if (compare_cells(&first[i - 1], &first[i]) == 0)
            return false;
    return n != 0;
}

static bool is_whole(mel_csv_cell cell)
{
    for (size_t i = 0; i < cell.n; i++)
        if (cell.text[i] < '0' || cell.text[i] > '9')
            return false;
    return cell.n > 0;
}

/* What an index of pandas or the row names of R are: all whole numbers, or no cell a number. */
static bool first_cells_name_rows(const mel_csv_sample *sample, char delimiter)
{
    size_t whole = 0, numbers = 0, n = 0;
    for (size_t row = 1; row < sample->n; row++, n++) {
        mel_sample_cells c = mel_sample_cells_of(sample, row, delimiter);
        mel_csv_cell cell;
        double value;
        if (!mel_sample_next(&c, &cell))
            return false;
        whole += is_whole(cell);
        numbers += mel_number_parse(cell.text, cell.n, &value) == MEL_NUMBER_FINITE;
    }
    return whole == n || numbers == 0;
}

/* ---- does a separator end every row? ---- */

/* Is the last cell of every row below the first empty, and is it one for which the first row has no name?
 * *in_header: the first row ends with the separator, too. */
static bool ends_open(bool *in_header, const mel_csv_sample *sample, char delimiter)
{
    mel_csv_cell last;
    const size_t first = mel_sample_count(sample, 0, delimiter, &last);
    *in_header = first >= 2 && last.n == 0;
    const size_t due = *in_header ? first : first + 1;
    for (size_t row = 1; row < sample->n; row++)
        if (!mel_csv_sample_is_empty(sample, row) &&
            (mel_sample_count(sample, row, delimiter, &last) != due || last.n != 0))
            return false;
    return sample->n > 1;
}

static mel_status warn_of_skipped(const mel_dialect *dialect, mel_notes *notes, mel_error *err)
{
    if (dialect->row_names)
        TRY(mel_notes_warn(notes, err,
                           "the rows have one cell more than the header: the first one is taken as the "
                           "row's name and skipped"));
    if (dialect->index)
        TRY(mel_notes_warn(
            notes, err,
            "the first column has no name and no value twice: it is taken to name the rows and skipped"));
    return dialect->open_end
               ? mel_notes_warn(notes, err,
                                "a separator ends every row: the empty column behind it is left out")
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
    bool in_header;
    mel_csv_cell last;
    const bool open_end = !out->row_names && ends_open(&in_header, sample, delimiter);
    const size_t n = mel_sample_count(sample, 0, delimiter, &last) - (open_end && in_header);
    MEL_AUTO_MEMORY mel_sample_column *columns = mel_sample_columns(sample, delimiter, n, out->row_names);
    if (columns == NULL)
        return mel_fail_memory(err, "the first rows of a table");
    const bool unnamed = !out->row_names && n >= 2 && is_unnamed(columns[0].first);
    const bool names = unnamed && opt->row_name != NULL && !mel_sample_is_numeric(&columns[0]) &&
                       !has_row_name(columns, n, opt);
    const bool index = unnamed && !names && first_cells_differ(sample, delimiter);
    const first_row row = {
        .sample = sample, .columns = columns, .n = n, .index = index || names, .opt = opt
    };
    if (opt->header == MEL_HEADER_AUTO && !out->row_names && !(open_end && !in_header))
        TRY(judge_first_row(&out->header, &row, notes, err));
    out->index = out->header && index && first_cells_name_rows(sample, delimiter);
    out->first_is_row_name = out->header && names;
    out->open_end = out->header && open_end;
    if (out->header && index && !out->index && columns[0].first.n != 0)
        TRY(mel_notes_warn(notes, err,
                           "column Unnamed: 0 holds numbers with fractions, which name no rows: it is kept "
                           "(leave it out of the file if it is an index)"));
    return warn_of_skipped(out, notes, err);
}
