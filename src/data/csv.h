/* CSV from a source to a table: what the files csv*.c share. */
#ifndef MEL_DATA_CSV_H
#define MEL_DATA_CSV_H

#include "base/buffer.h"
#include "data/number.h"
#include "data/quote.h"
#include "data/source.h"
#include "data/table.h"

/* A row (with its quoted line ends) may have so many bytes. */
#define MEL_CSV_ROW_CAP ((size_t)64 << 20)
enum {
    MEL_CSV_PADDING = 16,    /* bytes behind the text that may be read (not used) */
    MEL_CSV_PIECE = 1 << 18, /* bytes of a piece that one thread works on */
    MEL_CSV_PIECES = 64,     /* at most so many at a time */
    MEL_SAMPLE_ROWS = 101    /* rows that say how the file is written */
};

/* ---- csv_cells.c: where rows end, which has to be known before they can be read in parallel ---- */

/* Whole rows [begin, end) of the text; first_row counts from 0. */
typedef struct {
    size_t begin, end, first_row;
} mel_csv_span;

typedef struct {
    size_t n_spans, n_rows;
    size_t cut; /* bytes of the n_rows rows */
    mel_csv_span span[MEL_CSV_PIECES];
} mel_csv_cut;

/* Cuts text[0..n), which starts at the start of a row, into spans of whole rows. n <= MEL_CSV_PIECES * piece.
 * A line end inside quotes ends no row. The result does not depend on the number of threads. */
void mel_csv_cut_rows(mel_csv_cut *out, const char *text, size_t n, size_t piece, int threads);
/* Bytes up to and with the end of the first row, or 0 when it is not there. */
size_t mel_csv_first_row(const char *text, size_t n);

/* ---- csv_dialect.c: how the file is written, found in its first rows ---- */

/* The first rows, without their line ends; empty lines at the end are left out. */
typedef struct {
    size_t n;
    size_t row_number; /* of the first one, in messages */
    size_t most;       /* columns that are looked at: a row may be nothing but separators */
    const char *begin[MEL_SAMPLE_ROWS], *end[MEL_SAMPLE_ROWS];
} mel_csv_sample;
void mel_csv_sample_take(mel_csv_sample *out, const char *text, size_t n, size_t row_number);

/* A cell without the blanks around it and without quotes. */
typedef struct {
    const char *text;
    size_t n;
    bool quoted;
} mel_csv_cell;

/* Cells of a row; *last is the last of them. */
size_t mel_sample_count(const mel_csv_sample *sample, size_t row, char delimiter, mel_csv_cell *last);

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
 * out->delimiter is what the file itself says, or 0. Refuses lines of comments. */
mel_status mel_dialect_find_delimiter(mel_dialect *out, const mel_csv_sample *sample,
                                      const mel_read_options *opt, mel_notes *notes, mel_error *err);
/* After the delimiter; the sample is separated by it, or by tabs in place of blanks. */
mel_status mel_dialect_find_header(mel_dialect *out, const mel_csv_sample *sample,
                                   const mel_read_options *opt, mel_notes *notes, mel_error *err);

/* ---- what columns hold ---- */

typedef enum {
    MEL_CSV_NUMBER, /* decimal commas, thousands apart and percent signs included */
    MEL_CSV_TEXT,
    MEL_CSV_SKIP /* checked for form only */
} mel_csv_kind;

/* What cells that are not missing look like is counted by mel_number_shape, and percent signs besides. */
enum { MEL_SEEN_PERCENT = MEL_SHAPES, MEL_SEEN };

/* How many cells of a column look so, and the first of them as sentences quote it. */
typedef struct {
    size_t n, row;
    char *text;
} mel_csv_seen;

/* What else is found while a column is read. */
typedef struct {
    mel_digit_widths widths;
    size_t quoted_words; /* missing cells with a word in quotes, which is a name in a column of texts */
    size_t quoted_numbers;
    bool has_bare_word; /* read as text, though it may stand for missing among numbers */
} mel_csv_found;

typedef struct {
    mel_column_type declared; /* AUTO unless overridden */
    mel_csv_kind kind;        /* how this pass reads it */
    mel_csv_seen seen[MEL_SEEN];
    mel_csv_found found;
    mel_percent_signs percent;
    mel_dict *dict;        /* of a column that is read as text */
    mel_csv_seen too_many; /* the first text beyond the limit on categories */
} mel_csv_column;

/* ---- csv_cells.c: what one thread does with one span of rows ---- */

/* The same as one chunk sees it; row is its own, and the cell begins there in the window. */
typedef struct {
    size_t n, row;
    const char *cell;
} mel_csv_sight;

/* A column as one chunk works on it. A text that is not known yet gets known->n + its code in `fresh` for the
 * time being. What every number needs comes first, close together. */
typedef struct {
    mel_csv_kind kind;
    bool declared;                 /* as text, by the caller */
    bool has_point, has_thousands; /* one has been seen off the fast path, which knows the first of them */
    double *numbers;               /* of the chunk's first row, or NULL */
    size_t points;                 /* on the fast path: numbers with a point, */
    size_t thousands;              /* and those whose point may set thousands apart */
    mel_csv_found found;
    size_t slow; /* numbers: cells off the fast path */
    uint32_t *codes;
    const mel_dict *known;
    mel_dict *fresh;
    mel_csv_sight seen[MEL_SEEN];
} mel_csv_finding;

typedef struct mel_csv mel_csv;
typedef struct {
    const mel_csv *csv;
    const char *begin, *end;
    size_t n_rows;
    size_t row_number; /* of the first row, in messages */
    bool names_rows;   /* a cell with the row's name, which is no column, comes before the others */
    bool has_quotes, has_bare_cr;
    bool not_utf8;            /* that is why it failed */
    mel_csv_finding *finding; /* one per column */
    uint64_t *row_name;       /* of the chunk's first row; NULL: not kept */
    mel_buffer scratch;
    mel_status status;
    mel_error err; /* without the file's name */
} mel_csv_chunk;

/* Reads chunk->begin .. end into the columns. Failures are left in the chunk. */
void mel_csv_parse(mel_csv_chunk *chunk);
/* The names in a header row; refuses empty and doubled ones. */
mel_status mel_csv_parse_header(mel_dict *names, mel_csv_chunk *chunk);
/* The cell that begins there, as sentences quote it. */
mel_quoted mel_csv_quote(mel_csv_chunk *chunk, const char *cell);
/* Cells of the row that starts at p. */
size_t mel_csv_count_cells(const char *p, const char *end, char delimiter);

/* ---- csv.c ---- */

struct mel_csv {
    mel_read_options opt;
    const char *name; /* lent by the caller */
    mel_text text;
    mel_dialect dialect;
    char delimiter; /* of the text: a tab in place of blanks */
    char decimal;   /* of styled numbers */
    mel_notes notes;
    int threads;

    char *data; /* window: data[begin..size) is still to be read */
    size_t begin, size, capacity;
    bool at_end; /* the source has no more */

    size_t n_columns;
    mel_dict *names;
    mel_csv_column *column;
    mel_csv_chunk chunk[MEL_CSV_PIECES];
    size_t n_pieces; /* chunks that are used */
    mel_csv_cut cut;

    bool marked;   /* starts with the mark of UTF-8 */
    bool said;     /* then with the line "sep=;", which is row 1 */
    bool not_utf8; /* that is why it was refused */
    bool has_quotes;
    size_t rows_done;    /* data rows read in this pass */
    uint64_t bytes_done; /* of those rows */
    size_t blank_row;    /* number of an empty line that only the end of the file may follow, or 0 */
};

/* ---- csv_types.c: from what cells look like to decimal mark, types and warnings ---- */

/* The cells that keep a column from being numbers: how many, and the first. */
mel_csv_seen mel_csv_odd_cells(const mel_csv_column *column, char decimal);
/* By the first rows: kinds of columns, and a guess of the decimal mark. */
void mel_csv_guess_types(mel_csv *csv);
/* After a pass over all rows: decides about the decimal mark and every column, and warns. Columns that were
 * read as something else have a kind to be read by; the others are skipped. Refuses a mark that could be
 * either. */
mel_status mel_csv_decide_types(mel_csv *csv, bool *again, mel_error *err);

#endif
