/* Where rows end in a stretch of CSV text: the part of parsing that has to be known before rows can be
 * read in parallel. */
#ifndef MEL_DATA_CSV_ROWS_H
#define MEL_DATA_CSV_ROWS_H

#include <stddef.h>

enum {
    MEL_CSV_PIECE = 1 << 18, /* bytes of a piece that one thread works on */
    MEL_CSV_PIECES = 64      /* at most so many at a time */
};

/* Whole rows [begin, end) of the text; first_row counts from 0. */
typedef struct {
    size_t begin, end, first_row;
} mel_csv_span;

typedef struct {
    size_t n_spans, n_rows;
    size_t cut; /* bytes of the n_rows rows */
    mel_csv_span span[MEL_CSV_PIECES];
} mel_csv_cut;

/* Cuts text[0..n), which starts at the start of a row, into spans of whole rows, at most `want` rows in
 * all. n <= MEL_CSV_PIECES * piece. A line end inside quotes ends no row. The result does not depend
 * on the number of threads. */
void mel_csv_cut_rows(mel_csv_cut *out, const char *text, size_t n, size_t piece, size_t want, int threads);

/* Bytes up to and with the end of the first row, or 0 when it is not there. */
size_t mel_csv_first_row(const char *text, size_t n);

#endif
