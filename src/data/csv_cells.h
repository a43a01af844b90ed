/* Cells of whole CSV rows: what one thread does with one span of rows. */
#ifndef MEL_DATA_CSV_CELLS_H
#define MEL_DATA_CSV_CELLS_H

#include "base/buffer.h"
#include "data/csv_tally.h"
#include "data/dict.h"
#include "data/quote.h"

/* Bytes behind the text that may be read (not used). */
enum { MEL_CSV_PADDING = 16 };

typedef enum {
    MEL_CSV_NUMBER, /* numbers until shown otherwise */
    MEL_CSV_STYLED, /* the same, with decimal commas, thousands apart, percent signs */
    MEL_CSV_TEXT,
    MEL_CSV_SKIP,  /* checked for form only */
    MEL_CSV_SURVEY /* counted in the chunk's tallies */
} mel_csv_kind;

/* What the chunks of a pass share. */
typedef struct {
    char delimiter;
    char decimal; /* of styled numbers */
    size_t n_columns;
    bool names_rows;        /* a cell with the row's name, which is no column, comes before the others */
    bool open_end;          /* an empty cell, which is no column, comes behind the others */
    const char *first_name; /* of the first column, which has none in the header; NULL: its own */
    bool frozen;            /* types are settled: anything new means that the file changed */
    const mel_dict *names;  /* for messages */
} mel_csv_job;

/* A column as one chunk works on it, and what it found out. A text that is not known yet gets
 * known->n + its code in `fresh` for the time being. */
typedef struct {
    mel_csv_kind kind; /* NUMBER becomes SKIP at the first text */
    bool has_text;
    bool has_quoted_word; /* read as missing: see mel_tally */
    bool has_bare_word;   /* in a column of text, one that is missing among numbers only */
    size_t quoted_numbers;
    mel_digit_widths widths;
    bool declared;   /* as text, by the caller */
    double *numbers; /* of the chunk's first row, or NULL */
    uint32_t *codes;
    const mel_dict *known;
    mel_dict *fresh;
    size_t huge_row; /* number of the first row with a number that is not finite, or 0 */
    mel_quoted huge;
} mel_csv_finding;

typedef struct {
    const char *begin, *end;
    size_t n_rows;     /* at most so many are read */
    size_t row_number; /* of the first row, in messages */
    bool has_quotes, has_bare_cr;
    bool not_utf8;            /* that is why it failed */
    mel_csv_finding *finding; /* one per column */
    uint64_t *row_name;       /* of the chunk's first row; NULL: not kept */
    mel_tally *tally;         /* one per column, or NULL when nothing is surveyed */
    mel_buffer scratch;
    mel_status status;
    mel_error err; /* without the file's name */
} mel_csv_chunk;

/* Reads chunk->begin .. end into the columns. Failures are left in the chunk. */
void mel_csv_parse(mel_csv_chunk *chunk, const mel_csv_job *job);

/* The names in a header row; refuses empty and doubled ones. Where job->names_rows the first cell names no
 * column, and where job->open_end an empty last one does not. */
mel_status mel_csv_parse_header(mel_dict *names, mel_csv_chunk *chunk, const mel_csv_job *job,
                                size_t max_columns);
/* Cells of the row that starts at p. */
size_t mel_csv_count_cells(const char *p, const char *end, char delimiter);

#endif
