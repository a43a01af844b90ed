/* The parts of the CSV reader: what comes before the rows, the rows, what is settled after them. */
#ifndef MEL_DATA_CSV_PARTS_H
#define MEL_DATA_CSV_PARTS_H

#include "data/csv.h"

/* Everything before the first row of data, but for the types of columns. Takes over the source, also on
 * failure. */
mel_status mel_csv_start(mel_csv *csv, mel_source *source, const char *name, const mel_read_options *opt,
                         mel_error *err);
/* Counts the cells of the first rows. */
mel_status mel_csv_tally_sample(mel_csv *csv, mel_error *err);

/* The number that messages give to a row of data, from 0. */
size_t mel_csv_row_number(const mel_csv *csv, size_t row);
/* At least n bytes of text in the window, where the source has so many. */
mel_status mel_csv_fill(mel_csv *csv, size_t n, mel_error *err);
mel_status mel_csv_fail_long_row(size_t row, mel_error *err);
/* Whether carriage returns alone end lines. */
bool mel_csv_returns_end_lines(const mel_csv *csv);
/* Whether the first column names or numbers the rows. */
static inline bool mel_csv_names_rows(const mel_csv *csv)
{
    return csv->dialect.row_names || csv->dialect.index;
}

#endif
