/* The first rows of a CSV file, taken apart by any separator: which of them separates its cells, whether the
 * first row holds names, and what names the rows. */
#include "data/csv.h"

#include "data/table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- rows and cells ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool csv_sample_is_empty(const mel_csv_sample *sample, size_t row)
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
    while (out->n > 1 && csv_sample_is_empty(out, out->n - 1))
        out->n--;
}

/* Goes from cell to cell of a row of the sample. The separator ' ' stands for runs of blanks. */
typedef struct {
    const char *p, *end;
    char delimiter;
    bool more;
} sample_cells;

static void skip_cell_blanks(sample_cells *row)
{
    while (row->p < row->end && is_blank(*row->p))
        row->p++;
}

static sample_cells sample_cells_of(const mel_csv_sample *sample, size_t row, char delimiter)
{
    sample_cells out = {
        .p = sample->begin[row], .end = sample->end[row], .delimiter = delimiter, .more = true
    };
    if (delimiter == ' ') {
        skip_cell_blanks(&out);
        out.more = out.p < out.end;
    }
    return out;
}

static bool separates(const sample_cells *row, char c)
{
    return row->delimiter == ' ' ? is_blank(c) : c == row->delimiter;
}

static bool sample_next(sample_cells *row, mel_csv_cell *out)
{
    if (!row->more)
        return false;
    const char *from = row->p, *p = from;
    for (bool inside = false; p < row->end && (inside || !separates(row, *p)); p++)
        inside ^= *p == '"';
    row->p = p;
    if (row->delimiter == ' ') {
        skip_cell_blanks(row);
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
    *out = (mel_csv_cell){ .text = from + quoted,
                           .n = (size_t)(p - from) - 2 * (size_t)quoted,
                           .quoted = quoted };
    return true;
}

size_t mel_sample_count(const mel_csv_sample *sample, size_t row, char delimiter, mel_csv_cell *last)
{
    sample_cells c = sample_cells_of(sample, row, delimiter);
    size_t n = 0;
    *last = (mel_csv_cell){ 0 };
    while (sample_next(&c, last))
        n++;
    return n;
}

static bool sample_is_number(mel_csv_cell c)
{
    return mel_number_styled(c.text, c.n, '.').shape != MEL_SHAPE_OTHER;
}

/* ---- columns ---- */

typedef struct {
    size_t numbers, fractions, texts; /* in the rows below the first; fractions: numbers that are not whole */
    mel_csv_cell first;
    bool first_again;    /* the text of the first row is there again below */
    bool quoted_numbers; /* some number below has quotes: they do not say that a cell is text */
} sample_column;

static void add_cell(sample_column *to, mel_csv_cell c)
{
    if (mel_missing_number(c.text, c.n))
        return;
    const mel_number_shape shape = mel_number_styled(c.text, c.n, '.').shape;
    to->numbers += shape != MEL_SHAPE_OTHER;
    to->quoted_numbers |= shape != MEL_SHAPE_OTHER && c.quoted;
    to->texts += shape == MEL_SHAPE_OTHER;
    to->fractions += shape > MEL_SHAPE_WHOLE;
    to->first_again |= c.n == to->first.n && memcmp(c.text, to->first.text, c.n) == 0;
}

static sample_column *columns_of_sample(const mel_csv_sample *sample, char delimiter, size_t n, size_t before)
{
    sample_column *out = mel_alloc_zero(n, sizeof *out);
    for (size_t row = 0; out != NULL && row < sample->n; row++) {
        sample_cells c = sample_cells_of(sample, row, delimiter);
        mel_csv_cell one;
        for (size_t i = 0; row != 0 && i < before; i++)
            (void)sample_next(&c, &one);
        for (size_t j = 0; j < n && sample_next(&c, &one); j++) {
            if (row == 0)
                out[j].first = one;
            else
                add_cell(&out[j], one);
        }
    }
    return out;
}

static bool sample_is_numeric(const sample_column *c)
{
    return c->numbers != 0 && c->numbers >= c->texts;
}

/* ---- separators ---- */

mel_delimiter_text mel_delimiter_name(char delimiter)
{
    if (delimiter == '\t')
        return (mel_delimiter_text){ "tab" };
    if (delimiter == ' ')
        return (mel_delimiter_text){ "blanks" };
    return (mel_delimiter_text){ { '\'', delimiter, '\'' } };
}

bool mel_delimiter_is_possible(char delimiter)
{
    const unsigned char d = (unsigned char)delimiter;
    const bool part_of_cells = d >= 0x80 || isalnum(d) || strchr("\"+-._?", d) != NULL;
    return !part_of_cells && (!iscntrl(d) || d == '\t');
}

bool mel_delimiter_said(char *delimiter, const char *row, size_t n)
{
    static const char word[] = "sep=";
    enum { WORD = sizeof word - 1 };
    while (n != 0 && (row[n - 1] == '\n' || row[n - 1] == '\r'))
        n--;
    if (n >= 2 && row[0] == '"' && row[n - 1] == '"') {
        row++;
        n -= 2;
    }
    if (n != WORD + 1 || memcmp(row, word, WORD) != 0 || !mel_delimiter_is_possible(row[WORD]))
        return false;
    *delimiter = row[WORD];
    return true;
}

/* ---- how well a separator fits ---- */

/* How the rows below agree with the first one. */
typedef struct {
    size_t first; /* cells of the first row */
    size_t same, one_more;
    size_t open;   /* rows with one cell more, the last of them empty */
    size_t second; /* cells of the row below the first */
    size_t as_second;
    size_t rows; /* below, but for empty ones */
} agreement;

static agreement agree(const mel_csv_sample *sample, char delimiter)
{
    mel_csv_cell last;
    agreement out = { .first = mel_sample_count(sample, 0, delimiter, &last) };
    for (size_t row = 1; row < sample->n; row++) {
        if (csv_sample_is_empty(sample, row))
            continue;
        const size_t n = mel_sample_count(sample, row, delimiter, &last);
        if (out.rows++ == 0)
            out.second = n;
        out.same += n == out.first;
        out.one_more += n == out.first + 1;
        out.open += n == out.first + 1 && last.n == 0;
        out.as_second += n == out.second;
    }
    return out;
}

/* All, or all but a few, which are mistakes: they must not change what separates the cells of the others. */
static bool nearly_all(size_t n, size_t rows)
{
    return n == rows || (n >= 2 && rows - n <= 1 + rows / 10);
}

static bool is_open(const agreement *a)
{
    return a->rows != 0 && a->open == a->rows;
}

static bool agrees(const agreement *a)
{
    return (a->first >= 2 && a->same == a->rows) || is_open(a);
}

/* Rows that do not. */
static size_t off(const agreement *a)
{
    return agrees(a) ? 0 : a->rows - a->same;
}

static bool nearly_agrees(const agreement *a)
{
    return agrees(a) || (a->first >= 2 && nearly_all(a->same, a->rows));
}

/* Row names need a name in every row; where the last cell of each is empty, a separator too many ends it. */
static bool has_row_names(const mel_csv_sample *sample, char delimiter, const agreement *a)
{
    const bool fits = a->one_more == a->rows || (a->first >= 2 && nearly_all(a->one_more, a->rows));
    if (csv_sample_is_empty(sample, 0) || a->rows == 0 || !fits || is_open(a))
        return false;
    for (size_t row = 1; row < sample->n; row++) {
        sample_cells c = sample_cells_of(sample, row, delimiter);
        mel_csv_cell name;
        if (sample_next(&c, &name) && name.n == 0)
            return false;
    }
    return true;
}

/* Columns of numbers and of texts below the first row. */
typedef struct {
    size_t numbers, texts;
} column_counts;

static mel_status count_columns(column_counts *out, const mel_csv_sample *sample, char delimiter, size_t n,
                                size_t before, mel_error *err)
{
    *out = (column_counts){ 0 };
    n = n < sample->most ? n : sample->most;
    MEL_AUTO_MEMORY sample_column *columns = columns_of_sample(sample, delimiter, n, before);
    TRY(MEL_NEED(columns, "the first rows of a table", err));
    for (size_t j = 0; j < n; j++) {
        const bool number = sample_is_numeric(&columns[j]);
        out->numbers += number;
        out->texts += !number && columns[j].texts != 0;
    }
    return MEL_OK;
}

/* Are all commas of the sample inside numbers, as decimal commas are? */
static bool commas_are_decimal(const mel_csv_sample *sample, char delimiter)
{
    for (size_t row = 0; row < sample->n; row++) {
        sample_cells c = sample_cells_of(sample, row, delimiter);
        mel_csv_cell one;
        while (sample_next(&c, &one))
            if (memchr(one.text, ',', one.n) != NULL && !sample_is_number(one))
                return false;
    }
    return true;
}

/* Is every row below the first a single number? Then its comma separates no cells. */
static bool rows_are_numbers(const mel_csv_sample *sample)
{
    size_t n = 0;
    for (size_t row = 1; row < sample->n; row++) {
        const mel_csv_cell whole = { sample->begin[row], (size_t)(sample->end[row] - sample->begin[row]),
                                     false };
        n += sample_is_number(whole);
    }
    return sample->n > 1 && n == sample->n - 1;
}

/* ---- which one it is ---- */

/* Candidates in the order in which they are preferred: a comma is more often part of a text or of a number,
 * and blanks are part of most texts. */
static const char candidates[] = { '\t', ';', '|', ',', ' ' };
enum { CANDIDATES = sizeof candidates, COMMA = 3, BLANKS = 4, NONE = CANDIDATES };

/* What there is to choose from. */
typedef struct {
    const mel_csv_sample *sample;
    agreement of[CANDIDATES];
} choice;

/* The candidate on which most rows agree; one with more cells stays, as the file is to be refused for the
 * rows that disagree and not to be read in another way for their sake. Blanks are another matter. */
static size_t best_agreement(const choice *c)
{
    size_t best = NONE;
    for (size_t i = 0; i < BLANKS; i++) {
        const agreement *a = &c->of[i], *b = best != NONE ? &c->of[best] : NULL;
        if (nearly_agrees(a) && (b == NULL || (off(a) < off(b) && a->first >= b->first)))
            best = i;
    }
    return best;
}

/* Do blanks take texts between tabs, or between commas that are decimal commas, further apart, into numbers?
 */
static mel_status blanks_are_better(bool *better, const choice *c, size_t than, mel_error *err)
{
    const agreement *a = &c->of[than], *b = &c->of[BLANKS];
    *better = false;
    if (!nearly_agrees(b) || (than != 0 && (than != COMMA || !commas_are_decimal(c->sample, ' '))))
        return MEL_OK;
    column_counts before, after;
    TRY(count_columns(&before, c->sample, candidates[than], a->first, 0, err));
    TRY(count_columns(&after, c->sample, ' ', b->first, 0, err));
    *better = after.texts < before.texts;
    return MEL_OK;
}

/* The chosen one gives every row the same number of cells: does another? */
static mel_status warn_of_others(const choice *c, char chosen, mel_notes *notes, mel_error *err)
{
    for (size_t i = 0; i < BLANKS; i++)
        if (candidates[i] != chosen && agrees(&c->of[i]) &&
            (i != COMMA || !commas_are_decimal(c->sample, chosen)))
            return mel_notes_warn(notes, err,
                                  "the cells could be separated by %s or by %s; taken to be %s (delimiter=C "
                                  "says which)",
                                  mel_delimiter_name(chosen).text, mel_delimiter_name(candidates[i]).text,
                                  mel_delimiter_name(chosen).text);
    return MEL_OK;
}

/* Blanks separate cells only where that makes a column of numbers, more of them than of texts where not all
 * rows agree: words of a text are apart by blanks, too. */
static mel_status choose_blanks(char *delimiter, const choice *c, mel_error *err)
{
    const agreement *a = &c->of[BLANKS];
    if (!nearly_agrees(a))
        return MEL_OK;
    column_counts n;
    TRY(count_columns(&n, c->sample, ' ', a->first, 0, err));
    if (agrees(a) ? n.numbers != 0 : n.numbers > n.texts)
        *delimiter = ' ';
    return MEL_OK;
}

/* A separator that gives the header as many cells as the rows, or leaves *delimiter as it is. */
static mel_status choose_agreeing(char *delimiter, const choice *c, mel_notes *notes, mel_error *err)
{
    const size_t best = best_agreement(c);
    if (best == NONE)
        return choose_blanks(delimiter, c, err);
    bool blanks;
    TRY(blanks_are_better(&blanks, c, best, err));
    *delimiter = blanks ? ' ' : candidates[best];
    return !blanks && agrees(&c->of[best]) ? warn_of_others(c, *delimiter, notes, err) : MEL_OK;
}

/* R leaves out the header's cell over the row names. */
static mel_status choose_with_row_names(mel_dialect *out, const choice *c, mel_notes *notes, mel_error *err)
{
    const mel_csv_sample *sample = c->sample;
    for (size_t i = 0; i < COMMA && out->delimiter == 0; i++)
        if (has_row_names(sample, candidates[i], &c->of[i]))
            out->delimiter = candidates[i];
    if (out->delimiter == 0 && has_row_names(sample, ' ', &c->of[BLANKS])) {
        column_counts n;
        TRY(count_columns(&n, sample, ' ', c->of[BLANKS].first, 1, err));
        out->delimiter = n.numbers != 0 ? ' ' : 0;
    }
    if (out->delimiter == 0 && has_row_names(sample, ',', &c->of[COMMA])) {
        if (c->of[COMMA].first == 1 && rows_are_numbers(sample)) {
            out->delimiter = ';'; /* separates nothing: the file has one column */
            return mel_notes_warn(notes, err,
                                  "the commas are taken as decimal commas of the only column (delimiter=, "
                                  "separates cells by them)");
        }
        out->delimiter = ',';
    }
    out->row_names = out->delimiter != 0;
    return MEL_OK;
}

/* Rows that agree with each other but not with the first one, a title perhaps: to be refused with their
 * separator, and not to be read as one column of texts. Between blanks that is so where all cells are
 * numbers. */
static mel_status choose_without_first(char *delimiter, const choice *c, mel_error *err)
{
    for (size_t i = 0; i < CANDIDATES && *delimiter == 0; i++) {
        const agreement *a = &c->of[i];
        if (a->second < 2 || a->rows < 2 || a->as_second != a->rows)
            continue;
        column_counts n = { 0 };
        if (i == BLANKS)
            TRY(count_columns(&n, c->sample, ' ', a->second, 0, err));
        if (n.texts == 0)
            *delimiter = candidates[i];
    }
    return MEL_OK;
}

static size_t most_alike(const choice *c)
{
    size_t best = COMMA;
    for (size_t i = BLANKS; i-- > 0;)
        if (c->of[i].first >= 2 && (c->of[best].first < 2 || c->of[i].same > c->of[best].same))
            best = i;
    return best;
}

static mel_status find_delimiter(mel_dialect *out, const mel_csv_sample *sample, mel_notes *notes,
                                 mel_error *err)
{
    choice c = { .sample = sample };
    for (size_t i = 0; i < CANDIDATES; i++)
        c.of[i] = agree(sample, candidates[i]);
    TRY(choose_agreeing(&out->delimiter, &c, notes, err));
    if (out->delimiter == 0)
        TRY(choose_with_row_names(out, &c, notes, err));
    if (out->delimiter == 0)
        TRY(choose_without_first(&out->delimiter, &c, err));
    if (out->delimiter == 0)
        out->delimiter = candidates[most_alike(&c)];
    return MEL_OK;
}

/* ---- lines of comments ---- */

/* A first row that starts with '#' is a header as NumPy writes it if it has a cell per column, else a
 * comment.
 */
static mel_status refuse_comment(const mel_csv_sample *sample, char delimiter, mel_error *err)
{
    size_t above = 0;
    while (above < sample->n && sample->begin[above] < sample->end[above] && *sample->begin[above] == '#')
        above++;
    if (above == 0 || above == sample->n)
        return MEL_OK;
    mel_csv_sample below = { .n = sample->n - above, .most = sample->most };
    memcpy(below.begin, sample->begin + above, below.n * sizeof *below.begin);
    memcpy(below.end, sample->end + above, below.n * sizeof *below.end);
    mel_dialect dialect = { .delimiter = delimiter };
    mel_notes unsaid = { 0 };
    const mel_status status = delimiter == 0 ? find_delimiter(&dialect, &below, &unsaid, err) : MEL_OK;
    mel_notes_clear(&unsaid);
    if (status != MEL_OK)
        return status;
    mel_csv_cell last;
    const size_t here = mel_sample_count(sample, 0, dialect.delimiter, &last);
    const size_t due = mel_sample_count(&below, 0, dialect.delimiter, &last);
    return here == due
               ? MEL_OK
               : mel_fail(err, MEL_EDATA,
                          "row %zu starts with '#' and has %zu cell%s where row %zu has %zu; delete "
                          "lines of comments",
                          sample->row_number, here, here == 1 ? "" : "s", sample->row_number + above, due);
}

mel_status mel_dialect_find_delimiter(mel_dialect *out, const mel_csv_sample *sample,
                                      const mel_read_options *opt, mel_notes *notes, mel_error *err)
{
    if (opt->delimiter != 0)
        out->delimiter = opt->delimiter;
    if (sample->n == 0) {
        out->delimiter = out->delimiter != 0 ? out->delimiter : ',';
        return MEL_OK;
    }
    TRY(refuse_comment(sample, out->delimiter, err));
    if (out->delimiter == 0)
        return find_delimiter(out, sample, notes, err);
    const agreement given = agree(sample, out->delimiter);
    out->row_names = has_row_names(sample, out->delimiter, &given);
    return MEL_OK;
}

/* ---- does the first row hold names? ---- */

/* The first row has whole numbers that count up where the columns hold numbers, as default names (0, 1, ...)
 * and years (2019, 2020, ...) do. */
static bool counts_up(const sample_column *columns, size_t n, size_t *start, size_t *numbers)
{
    size_t last = 0;
    *numbers = 0;
    for (size_t j = 0; j < n; j++) {
        if (!sample_is_number(columns[j].first))
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

static bool any_fraction(const sample_column *columns, size_t n)
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
    const sample_column *columns;
    size_t n;
    bool index; /* no name over a first column of different cells, or of what names the rows */
    const mel_read_options *opt;
} first_row;

static bool is_row_name(mel_csv_cell cell, const mel_read_options *opt)
{
    return opt->row_name != NULL && cell.n == strlen(opt->row_name) &&
           strncasecmp(cell.text, opt->row_name, cell.n) == 0;
}

static bool has_row_name(const sample_column *columns, size_t n, const mel_read_options *opt)
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
        const sample_column *c = &row->columns[j];
        const bool name =
            c->first.quoted && !c->quoted_numbers && mel_missing_number(c->first.text, c->first.n);
        const bool numeric = sample_is_numeric(c), number = !name && sample_is_number(c->first);
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
        sample_cells c = sample_cells_of(sample, row, delimiter);
        if (!sample_next(&c, &first[n]) || first[n].n == 0 ||
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
        sample_cells c = sample_cells_of(sample, row, delimiter);
        mel_csv_cell cell;
        double value;
        if (!sample_next(&c, &cell))
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
        if (!csv_sample_is_empty(sample, row) &&
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
    bool in_header = false;
    mel_csv_cell last;
    const bool open_end = !out->row_names && ends_open(&in_header, sample, delimiter);
    const size_t n = mel_sample_count(sample, 0, delimiter, &last) - (open_end && in_header);
    MEL_AUTO_MEMORY sample_column *columns = columns_of_sample(sample, delimiter, n, out->row_names);
    TRY(MEL_NEED(columns, "the first rows of a table", err));
    const bool unnamed = !out->row_names && n >= 2 && is_unnamed(columns[0].first);
    const bool names =
        unnamed && opt->row_name != NULL && !sample_is_numeric(&columns[0]) && !has_row_name(columns, n, opt);
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
