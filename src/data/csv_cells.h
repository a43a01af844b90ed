/* Cells of whole CSV rows: what one thread does with one span of rows. */
#ifndef MEL_DATA_CSV_CELLS_H
#define MEL_DATA_CSV_CELLS_H

#include "base/buffer.h"
#include "data/dict.h"
#include "data/show.h"

/* Bytes behind the text that may be read (not used). */
enum { MEL_CSV_PADDING = 16 };

typedef enum {
    MEL_CSV_NUMBER,      /* numbers until shown otherwise */
    MEL_CSV_NUMBER_ONLY, /* anything else is refused */
    MEL_CSV_TEXT,
    MEL_CSV_SKIP /* checked for form only */
} mel_csv_kind;

/* What the chunks of a pass share. */
typedef struct {
    char delimiter;
    size_t n_columns;
    const mel_dict *names; /* for messages */
} mel_csv_job;

/* A column as one chunk works on it, and what it found out. A text that is not known yet gets
 * known->n + its code in `fresh` for the time being. */
typedef struct {
    mel_csv_kind kind; /* NUMBER becomes SKIP at the first text */
    bool has_text;
    double *numbers; /* of the chunk's first row, or NULL */
    uint32_t *codes;
    const mel_dict *known;
    mel_dict *fresh;
    size_t huge_row; /* number of the first row with a number that is not finite, or 0 */
    mel_shown huge;
} mel_csv_finding;

typedef struct {
    const char *begin, *end;
    size_t n_rows;     /* at most so many are read */
    size_t row_number; /* of the first row, in messages */
    bool has_quotes, has_bare_cr;
    mel_csv_finding *finding; /* one per column */
    mel_buffer scratch;
    mel_status status;
    mel_error err; /* without the file's name */
} mel_csv_chunk;

/* Reads chunk->begin .. end into the columns. Failures are left in the chunk. */
void mel_csv_parse(mel_csv_chunk *chunk, const mel_csv_job *job);

/* The names in a header row; refuses empty and doubled ones. */
mel_status mel_csv_parse_header(mel_dict *names, mel_csv_chunk *chunk, char delimiter, size_t max_columns);
/* Cells of the row that starts at p. */
size_t mel_csv_count_cells(const char *p, const char *end, char delimiter);

#endif
