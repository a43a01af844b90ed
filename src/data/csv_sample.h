/* The first rows of a CSV file, taken apart by any separator: what csv_separator and csv_dialect look at. */
#ifndef MEL_DATA_CSV_SAMPLE_H
#define MEL_DATA_CSV_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

enum { MEL_SAMPLE_ROWS = 101 };

/* The first rows, without their line ends; empty lines at the end are left out. */
typedef struct {
    size_t n;
    size_t row_number; /* of the first one, in messages */
    size_t most;       /* columns that are looked at: a row may be nothing but separators */
    const char *begin[MEL_SAMPLE_ROWS], *end[MEL_SAMPLE_ROWS];
} mel_csv_sample;
void mel_csv_sample_take(mel_csv_sample *out, const char *text, size_t n, size_t row_number);
/* Nothing but blanks? */
bool mel_csv_sample_is_empty(const mel_csv_sample *sample, size_t row);

/* A cell without the blanks around it and without quotes. */
typedef struct {
    const char *text;
    size_t n;
    bool quoted;
} mel_sample_cell;

/* Goes from cell to cell of a row. The separator ' ' stands for runs of blanks. */
typedef struct {
    const char *p, *end;
    char delimiter;
    bool more;
} mel_sample_cells;
mel_sample_cells mel_sample_cells_of(const mel_csv_sample *sample, size_t row, char delimiter);
bool mel_sample_next(mel_sample_cells *row, mel_sample_cell *out);

/* Cells of a row; *last is the last of them. */
size_t mel_sample_count(const mel_csv_sample *sample, size_t row, char delimiter, mel_sample_cell *last);
bool mel_sample_is_number(mel_sample_cell c);
/* Would it be a missing cell among numbers? */
bool mel_sample_is_missing(mel_sample_cell c);

typedef struct {
    size_t numbers, fractions, texts; /* in the rows below the first; fractions: numbers that are not whole */
    mel_sample_cell first;
    bool first_again;    /* the text of the first row is there again below */
    bool quoted_numbers; /* some number below has quotes: they do not say that a cell is text */
} mel_sample_column;

/* The n columns of the rows below the first, whose first `before` cells belong to none; freed by the caller,
 * NULL when memory runs out. */
mel_sample_column *mel_sample_columns(const mel_csv_sample *sample, char delimiter, size_t n, size_t before);
/* At least half numbers, as in mel_tally_is_numeric. */
bool mel_sample_is_numeric(const mel_sample_column *c);

#endif
