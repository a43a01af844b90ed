/* How a CSV file is written, found in its first rows: what separates the cells, and whether the first row and
 * the first column hold names. */
#ifndef MEL_DATA_CSV_DIALECT_H
#define MEL_DATA_CSV_DIALECT_H

#include "data/table.h"

enum { MEL_SAMPLE_ROWS = 101 };

/* The first rows, without their line ends; empty lines at the end are left out. */
typedef struct {
    size_t n;
    const char *begin[MEL_SAMPLE_ROWS], *end[MEL_SAMPLE_ROWS];
} mel_csv_sample;
void mel_csv_sample_take(mel_csv_sample *out, const char *text, size_t n);

/* "';'", "tab", "blanks" */
typedef struct {
    char text[8];
} mel_delimiter_text;
mel_delimiter_text mel_delimiter_name(char delimiter);

typedef struct {
    char delimiter; /* ' ': runs of blanks */
    bool header;    /* the first row holds names */
    bool row_names; /* every row but the header starts with one cell more, its name, as R writes it */
    bool index; /* the first column, without a name in the header, numbers the rows, as pandas writes it */
} mel_dialect;

/* Each fills its part of the dialect from the sample and the options, and warns of what could be otherwise.
 */
mel_status mel_dialect_find_delimiter(mel_dialect *out, const mel_csv_sample *sample,
                                      const mel_read_options *opt, mel_notes *notes, mel_error *err);
/* After the delimiter; the sample is separated by it, or by tabs in place of blanks. */
mel_status mel_dialect_find_header(mel_dialect *out, const mel_csv_sample *sample,
                                   const mel_read_options *opt, mel_notes *notes, mel_error *err);

#endif
