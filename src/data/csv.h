/* CSV from a source, window by window in fixed memory: what the whole-file reader and the stream
 * share, so that both see the same types, codes and refusals. */
#ifndef MEL_DATA_CSV_H
#define MEL_DATA_CSV_H

#include "data/csv_cells.h"
#include "data/csv_dialect.h"
#include "data/csv_rows.h"
#include "data/quote.h"
#include "data/table.h"
#include "data/text.h"

/* A row (with its quoted line ends) may have so many bytes. */
#define MEL_CSV_ROW_CAP ((size_t)64 << 20)

typedef struct {
    mel_column_type declared; /* AUTO unless overridden */
    bool has_text;            /* not a column of plain numbers after all */
    bool has_number;          /* in the first rows */
    bool has_quoted_word;     /* read as missing */
    bool has_bare_word;       /* read as text, though it may stand for missing */
    size_t quoted_numbers;    /* cells in quotes that were read as numbers */
    mel_digit_widths widths;
    mel_csv_kind kind; /* how this pass reads it */
    mel_tally_verdict verdict;
    mel_percent_signs percent;
    mel_dict *dict;  /* of a column that is read as text */
    size_t huge_row; /* first number that is not finite: refused if the column stays one of numbers */
    mel_quoted huge;
} mel_csv_column;

typedef struct {
    mel_read_options opt;
    const char *name; /* lent by the caller */
    mel_text text;
    mel_dialect dialect;
    char delimiter; /* of the text: a tab in place of blanks */
    char decimal;
    mel_notes notes;
    int threads;
    size_t n_pieces; /* pieces in a window */

    char *data; /* window: data[begin..size) is still to be read */
    size_t begin, size, capacity;
    bool at_end; /* the source has no more */

    size_t n_columns;
    mel_dict *names;
    mel_csv_column *column;
    mel_csv_chunk *chunk;
    mel_csv_cut cut;
    mel_tally *tally; /* one per column while they are counted */

    bool marked;   /* starts with the mark of UTF-8 */
    bool said;     /* then with the line "sep=;", which is row 1 */
    bool not_utf8; /* that is why it was refused */
    bool has_quotes;
    bool surveyed;       /* the tallies are those of the whole file */
    bool frozen;         /* types and categories are settled: anything new means that the file changed */
    size_t rows_done;    /* data rows read in this pass */
    uint64_t bytes_done; /* of those rows */
    size_t blank_row;    /* number of an empty line that only the end of the file may follow, or 0 */
} mel_csv;

/* Reads a file up to its last row and settles everything: encoding, dialect, types and categories. The rows
 * go into *table, unless table is NULL. Takes over the source, also on failure. csv is released with
 * mel_csv_close in any case. */
mel_status mel_csv_load(mel_csv *csv, mel_table **table, mel_source *source, const char *name,
                        const mel_read_options *opt, mel_error *err);
void mel_csv_close(mel_csv *csv);

/* Reads at most max_rows further rows into table (NULL: only checks and learns); *n_rows of them came. */
mel_status mel_csv_rows(mel_csv *csv, mel_table *table, size_t max_rows, size_t *n_rows, mel_error *err);
/* Back to the first data row. */
mel_status mel_csv_again(mel_csv *csv, mel_error *err);
/* A table without cells whose rows start at the next row to be read; NULL when memory runs out. */
mel_table *mel_csv_new_table(const mel_csv *csv);
/* Gives the columns their settled types and categories, and the table what there is to say about the file. */
mel_status mel_csv_finish_table(const mel_csv *csv, mel_table *table, mel_error *err);

/* csv_survey.c: from tallies to types. */

bool mel_survey_has_numbers(const mel_tally *tally);
/* Could a column be numbers in some style, going by tallies of the first rows? Then all rows must be counted.
 */
bool mel_survey_is_due(const mel_csv *csv);
/* Could one that was read as text? */
bool mel_survey_is_overdue(const mel_csv *csv);
/* The type of a column with that tally, in a file where decimals follow `decimal`. */
mel_tally_verdict mel_survey_verdict(const mel_csv *csv, size_t column, char decimal);
/* Decides about the decimal mark and every column. Refuses a mark that could be either. */
mel_status mel_survey_judge(mel_csv *csv, mel_error *err);
/* Warns of columns that are numbers but for some cells. */
mel_status mel_survey_warn(mel_csv *csv, mel_error *err);

#endif
