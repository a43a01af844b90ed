/* What a table is made of; readers fill it, the rest of the room reads it. */
#ifndef MEL_DATA_TABLE_H
#define MEL_DATA_TABLE_H

#include "data/dict.h"
#include "data/shared.h"

/* Which numbers of a column had a percent sign in the file. */
typedef enum { MEL_PERCENT_NONE, MEL_PERCENT_SOME, MEL_PERCENT_ALL } mel_percent_signs;

/* How long the numbers of a column are in the file: those with zeros in front (01) and the others, in bytes.
 */
typedef struct {
    size_t shortest_padded, longest_padded; /* 0: no number has zeros in front */
    size_t shortest_other;                  /* 0: there is none */
} mel_digit_widths;

typedef struct {
    mel_column_type type; /* NUMBER or TEXT once the table is finished */
    double *numbers;
    uint32_t *codes;
    mel_dict *dict; /* categories of a text column */
    mel_percent_signs percent;
    const char *currency; /* of a column that was money, never freed; NULL */
    bool declared;        /* its type was given by the caller */
    bool all_names; /* "None" is a text here, not a missing value: declared so, or in quotes wherever it is */
    bool all_quoted; /* numbers, each of them in quotes */
    mel_digit_widths widths;
    bool left_out; /* of the features: see mel_column_unfit */
} mel_column;

/* A code such as 01 or 003.1, which is another one than 1 or 3.1. */
static inline bool mel_has_zeros_in_front(const char *text, size_t n)
{
    return n > 1 && text[0] == '0' && (unsigned char)(text[1] - '0') < 10;
}

static inline bool mel_has_only_digits(const char *text, size_t n)
{
    size_t digits = 0;
    while (digits < n && (unsigned char)(text[digits] - '0') < 10)
        digits++;
    return digits == n;
}

static inline void mel_widths_merge(mel_digit_widths *to, const mel_digit_widths *from)
{
    if (from->shortest_padded != 0 &&
        (to->shortest_padded == 0 || from->shortest_padded < to->shortest_padded))
        to->shortest_padded = from->shortest_padded;
    if (from->longest_padded > to->longest_padded)
        to->longest_padded = from->longest_padded;
    if (from->shortest_other != 0 && (to->shortest_other == 0 || from->shortest_other < to->shortest_other))
        to->shortest_other = from->shortest_other;
}

/* What a reader has to say about a file: see mel_table_how and mel_table_warning. */
typedef struct {
    char *how;
    char **warning;
    size_t n_warnings;
} mel_notes;
/* The sentence becomes the next warning. */
MEL_PRINTF(3, 4) mel_status mel_notes_warn(mel_notes *notes, mel_error *err, const char *fmt, ...);
/* The sentence becomes the line on how the file was read. */
MEL_PRINTF(3, 4) mel_status mel_notes_how(mel_notes *notes, mel_error *err, const char *fmt, ...);
void mel_notes_clear(mel_notes *notes);
/* MEL_EDATA with the first warning where warnings are refused. */
mel_status mel_notes_check(const mel_notes *notes, bool strict, mel_error *err);
/* Tells the caller of a reader. */
void mel_notes_say(const mel_notes *notes, const char *file, mel_format format, const mel_notice *notice);
/* "4,000" */
typedef struct {
    char text[32];
} mel_count_words;
mel_count_words mel_count_text(size_t n);

/* Features of a LIBSVM file, compressed rows. */
typedef struct {
    bool zero_based; /* the file counts them from 0 */
    size_t n_features;
    size_t *row_start;
    uint32_t *col;
    double *value;
} mel_sparse;

struct mel_table {
    char *name;
    size_t n_rows, n_columns;
    mel_dict *names; /* code = column */
    mel_column *column;
    mel_format format; /* what the file was; AUTO: not from a file */
    bool has_header;   /* the names of the columns are the file's own */
    size_t first_row;  /* number of row 0 in the file, as messages count */
    size_t *origin;    /* taken rows: the number of each; else NULL */
    uint64_t
        *row_name; /* a hash of what the file calls each row (row_names.c); NULL: nothing was asked for */
    size_t matrix; /* see mel_table_matrix */
    bool is_sparse;
    mel_sparse sparse;
    mel_notes notes;
};

/* MEL_EDATA: "FILE: row 17, column "age": ...", or of a whole column. */
MEL_PRINTF(5, 6)
mel_status mel_cell_error(mel_error *err, const mel_table *table, size_t row, size_t column, const char *fmt,
                          ...);
MEL_PRINTF(4, 5)
mel_status mel_column_error(mel_error *err, const mel_table *table, size_t column, const char *fmt, ...);
#define mel_fail_cell(...) mel_failure(mel_cell_error(__VA_ARGS__))
#define mel_fail_column(...) mel_failure(mel_column_error(__VA_ARGS__))

/* A table of n columns without cells; takes a hold on names. NULL when memory runs out. */
mel_table *mel_table_new(const char *name, mel_dict *names, size_t n_columns);
/* Names c1, c2, ... for files without a header; NULL when memory runs out. */
mel_dict *mel_column_numbers(size_t n);

/* MEL_EDATA with the name, the option that it came from (NULL: none) and the names that are there; does not
 * name the file. */
mel_status mel_fail_no_column(const mel_dict *names, const char *name, const char *option, mel_error *err);
/* The column of that name, or MEL_EDATA with the file and the name. */
mel_status mel_table_need(size_t *column, const mel_table *table, const char *name, mel_error *err);

/* --- columns of money (unfit.c) ------------------------------------------------------------------------- */

/* A column of texts as numbers: for the caller to free(). numbers NULL: these are not all amounts of one
 * currency with decimals marked in one way. */
typedef struct {
    double *numbers;
    const char *currency; /* never freed */
    uint32_t example;     /* the code of an amount that shows how it is written */
    bool comma;           /* decimals follow one */
} mel_money;
mel_status mel_money_numbers(mel_money *out, const mel_table *table, const mel_column *column,
                             mel_error *err);
/* The currency of that text, never freed; NULL: it is none. */
const char *mel_currency_named(const char *text);

/* --- labels.c ------------------------------------------------------------------------------------------- */

/* order[0..n) becomes the codes present[0..n) of dict in that order. */
mel_status mel_order_texts(const mel_dict *dict, size_t n, const uint32_t *present, uint32_t *order,
                           mel_error *err);
/* The codes that occur in a column of texts: present[] (room for all) lists them ascending, count[] (zeros
 * before) becomes how often each does. How many occur. */
size_t mel_count_codes(const mel_table *table, const mel_column *column, uint32_t *present, size_t *count);

/* mel_same_class_name for a text of n bytes. */
bool mel_same_name(const char *text, size_t n, const char *name);

#endif
