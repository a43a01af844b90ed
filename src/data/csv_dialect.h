/* How a CSV file is written, found in its first rows: what separates the cells, and whether the first row and
 * the first column hold names. */
#ifndef MEL_DATA_CSV_DIALECT_H
#define MEL_DATA_CSV_DIALECT_H

#include "data/csv_sample.h"
#include "data/table.h"

/* "';'", "tab", "blanks" */
typedef struct {
    char text[8];
} mel_delimiter_text;
mel_delimiter_text mel_delimiter_name(char delimiter);
/* May it separate cells, or is it part of them? */
bool mel_delimiter_is_possible(char delimiter);
/* Is the first row of n bytes, with its line end, the line "sep=;" that Excel obeys? */
bool mel_delimiter_said(char *delimiter, const char *row, size_t n);

typedef struct {
    char delimiter; /* ' ': runs of blanks */
    bool header;    /* the first row holds names */
    bool row_names; /* every row but the header starts with one cell more, its name, as R writes it */
    bool index; /* the first column, without a name in the header, numbers the rows, as pandas writes it */
    /* The first column, without a name in the header, holds texts: it gets the name that the options have
     * for it. */
    bool first_is_row_name;
    bool open_end; /* a separator ends every row, of the header perhaps: the cell behind it is no column */
} mel_dialect;

/* Each fills its part of the dialect from the sample and the options, and warns of what could be otherwise.
 */

/* csv_separator.c; out->delimiter is what the file itself says, or 0. Refuses lines of comments. */
mel_status mel_dialect_find_delimiter(mel_dialect *out, const mel_csv_sample *sample,
                                      const mel_read_options *opt, mel_notes *notes, mel_error *err);
/* After the delimiter; the sample is separated by it, or by tabs in place of blanks. */
mel_status mel_dialect_find_header(mel_dialect *out, const mel_csv_sample *sample,
                                   const mel_read_options *opt, mel_notes *notes, mel_error *err);

#endif
