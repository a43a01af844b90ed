/* melicit/data.h: tables in, feature matrices and labels out.
 *
 * A table is a set of named columns of equal length, each of numbers or of text. Missing cells are
 * NaN in a column of numbers and MEL_MISSING in a column of text, and nothing else is ever NaN.
 *
 * CSV is RFC 4180. Separator, line ends, encoding, decimal mark and header are found unless the options or a
 * first line "sep=;" say them, and mel_table_how tells what was found. A column is numbers when each cell
 * that is not missing is a number, blanks around it aside: decimal, with thousands strictly in threes, or
 * with a percent sign; inf and numbers beyond the range of double are refused there. Other columns
 * are text, kept as it stands. A cell that is empty or a known word (?, NA, NULL, nan, ...; among numbers
 * also None, -, ...) is missing; in a column of text a word in quotes is a text. What may be a mistake is a
 * warning (mel_table_warning): a column of which at least half of the cells are numbers, a first column that
 * only numbers the rows and is skipped, an empty last one without a name that is left out, ...
 * docs/formats.md has every rule. Empty lines may follow the last row; in a table of one column they are rows
 * with a missing cell. Anything else that is unclear (rows of another length, quotes inside a cell without
 * quotes, text behind a closing quote, a carriage return alone among other line ends, comments, NUL bytes, a
 * damaged encoding, a comma that may mark decimals or thousands, names that are empty or there twice, no
 * rows) is refused.
 *
 * NPY arrays have 1 or 2 dimensions of floats (16, 32, 64 bits), integers (8 to 64 bits), bools or texts, in
 * either byte order and either storage order; NaN is a missing cell; columns are called c1, c2, ... NPZ
 * archives hold such arrays. LIBSVM text has ascending indices from 1 (or 0), "#" starts a comment. Any of
 * them may be packed with gzip.
 *
 * Messages count rows from 1 with the header as row 1 (row 2 behind a line "sep=;"); a row with
 * line ends inside quotes is one row. LIBSVM messages count lines. */
#ifndef MELICIT_DATA_H
#define MELICIT_DATA_H

#include "melicit/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mel_table mel_table;
#define MEL_MISSING UINT32_MAX

typedef enum { MEL_COLUMN_AUTO = 0, MEL_COLUMN_NUMBER = 1, MEL_COLUMN_TEXT = 2 } mel_column_type;
typedef enum {
    MEL_FORMAT_AUTO = 0,
    MEL_FORMAT_CSV = 1,
    MEL_FORMAT_NPY = 2,
    MEL_FORMAT_LIBSVM = 3,
    MEL_FORMAT_NPZ = 4
} mel_format;
typedef enum { MEL_HEADER_AUTO = 0, MEL_HEADER_YES = 1, MEL_HEADER_NO = 2 } mel_header;

typedef struct {
    const char *name;
    mel_column_type type;
} mel_column_override;

/* Called once a file has been read, first with what was found (mel_table_how), then with each warning. */
typedef struct {
    void (*call)(void *user, const char *file, mel_format format, const char *sentence,
                 bool is_warning); /* NULL: nobody */
    void *user;
} mel_notice;

/* Files that a pattern ('part-*.csv') stands for, in the order of what its * stands for (2 before 10), and
 * what names the rows of files that belong together row by row. */
typedef struct {
    size_t n;      /* 0: no pattern was read */
    char **key;    /* what the * stands for; may be NULL */
    size_t *start; /* n + 1: how many rows come before each file */
    char *first;   /* the first file or pattern that was read; NULL: none */
    size_t first_files;
    char *named_by;     /* the first one that names its rows; NULL: none */
    size_t n_named;     /* its rows */
    uint64_t *row_name; /* a hash of each name */
} mel_shards;

typedef struct {
    size_t struct_size;
    mel_format
        format;     /* AUTO: by the file's name (.csv, .npy, .npz, .svm, .libsvm, also .gz), then content */
    char delimiter; /* CSV: ',', ';', tab, '|' or ' ' (runs of blanks); 0: found */
    char decimal;   /* CSV: '.' or ','; 0: found */
    mel_header header;    /* CSV: is the first row a header? Without one the columns are called c1, c2, ... */
    const char *encoding; /* CSV: "utf-8", "utf-16", "latin-1", "windows-1252"; NULL, "auto": found */
    const char *member;   /* NPZ: the array to take; NULL: the only one */
    bool strict;          /* refuse what would be a warning */
    bool zero_based;      /* LIBSVM: indices start at 0 */
    const mel_column_override *overrides; /* CSV: types of columns by name, instead of finding them */
    size_t n_overrides;
    bool *overrides_found; /* set for each column that the file has; NULL: a file without one is refused */
    size_t max_rows;       /* 100 million */
    size_t max_columns;    /* 100,000 */
    uint64_t max_bytes;    /* 8 GiB of text after unpacking */
    size_t max_categories; /* different texts in one column: 1,000,000 */
    int threads;           /* 0: all cores; never changes the result */
    mel_progress progress;
    mel_notice notice;
    /* CSV: a first row of nothing but these names, in any order, is the header, also where they are numbers
     * (which are compared by value). Lent until the table is read. */
    const char *const *expected_names;
    size_t n_expected_names;
    /* CSV: the column that names the rows, in any case: a first row that has it is the header, the column is
     * text, and a first column of texts without a name is it. NULL: none. */
    const char *row_name;
    size_t max_cells; /* CSV: rows x columns; 0: no limit of its own */
    bool matrices;    /* NPY: n x k x k is read, too, as n rows of k x k columns */
    /* Of files that belong together row by row. The first pattern fills it, and those that follow must have
     * the same files with as many rows each. The first CSV file that names its rows (an index of pandas, row
     * names of R) fills it, too: files with the same names in another order are put into its order, with a
     * warning; other names are refused, and so is one file beside the several of a pattern unless both name
     * their rows. Cleared by the caller; NULL: the file or pattern is on its own. */
    mel_shards *shards;
} mel_read_options;
MEL_API void mel_read_options_init(mel_read_options *opt);

/* Reads a whole file ("-": standard input). A refusal (MEL_EDATA, MEL_ELIMIT) names file, row, column and
 * value. Categories are numbered in the order in which they appear. Where there is no file of that name, * ?
 * and
 * [..] stand for parts of names: all files that match are one table, columns by name, rows in the order of
 * mel_shards and counted through; a column of texts in one of the files is one of texts. */
MEL_API mel_status mel_table_read(mel_table **out, const char *path, const mel_read_options *opt,
                                  mel_error *err);
/* The same from bytes in memory, packed or not; `name` stands for the file in messages. */
MEL_API mel_status mel_table_read_memory(mel_table **out, const void *bytes, size_t n, const char *name,
                                         const mel_read_options *opt, mel_error *err);
MEL_API void mel_table_free(mel_table *table);
MEL_API void mel_shards_clear(mel_shards *shards);

/* One line on what was found: "UTF-16, separator ';', decimal comma, header in row 1, 4,000 rows, 12
 * columns". Empty for tables that no file was read for. */
MEL_API const char *mel_table_how(const mel_table *table);
/* Sentences on what may be a mistake: "column income: 3 of 4,000 cells are not numbers, first \"abc\" in row
 * 17; treated as categories". They do not name the file. */
MEL_API size_t mel_table_warnings(const mel_table *table);
MEL_API const char *mel_table_warning(const mel_table *table, size_t i); /* one of them */

MEL_API size_t mel_table_rows(const mel_table *table);    /* how many rows */
MEL_API size_t mel_table_columns(const mel_table *table); /* how many columns */
/* What a column is called; lent. */
MEL_API const char *mel_table_column_name(const mel_table *table, size_t column);
/* Whether a column is of numbers or of texts. */
MEL_API mel_column_type mel_table_column_type(const mel_table *table, size_t column);
/* The cells of a column of numbers, lent until the table is freed; NULL when it is of texts. Sparse tables
 * (LIBSVM) hold their features apart. */
MEL_API const double *mel_table_numbers(const mel_table *table, size_t column);
/* The cells of a column of texts, as codes; NULL when it is of numbers. */
MEL_API const uint32_t *mel_table_codes(const mel_table *table, size_t column);
/* The text that a code of a column stands for. */
MEL_API const char *mel_table_category(const mel_table *table, size_t column, uint32_t code);

/* A feature matrix, n_rows x n_cols: dense row-major when `dense` is set, else compressed sparse rows
 * (row i has entries row_start[i] .. row_start[i+1], columns ascending). A view: owns nothing. */
typedef struct {
    size_t n_rows, n_cols;
    const double *dense;
    size_t stride; /* doubles from one dense row to the next */
    const size_t *row_start;
    const uint32_t *col;
    const double *value;
} mel_features;

/* Class labels: one code per row and the class names in the order of the codes. Numbers sort by value
 * ("2" before "10"), texts by byte, also texts that look like numbers. */
typedef struct {
    size_t n_rows, n_classes;
    uint32_t *code;
    char **name;
    bool number_texts; /* all names look like numbers, but the file says that they are texts */
} mel_labels;
/* The labels in a column. Refuses a missing column, missing cells, fewer than two classes, and more than two
 * classes with fewer than two rows each on average (identifiers, a number to predict). */
MEL_API mel_status mel_table_labels(mel_labels *out, const mel_table *table, const char *column,
                                    mel_error *err);
/* Refuses (MEL_EDATA) names of which two look the same: they differ only in blanks, no-break or zero-width
 * characters, in the case of true and false, or in how a Latin letter and its accent are stored ("yes" and
 * "yes "). what: whose names they are, for the sentence. mel_table_labels refuses such columns. */
MEL_API mel_status mel_names_differ(size_t n, const char *const *name, const char *what, mel_error *err);
MEL_API void mel_labels_clear(mel_labels *labels);

/* How a table becomes features, learned on training rows.
 * - A column of numbers is one feature: missing cells get the median, then (x - mean) / deviation, where
 *   mean and deviation (divisor n) are those of the filled column; a constant column becomes 0.
 * - A column of text is one feature per category of the training rows, "workclass=Private", 1 where the
 *   cell has it, in the order of mel_labels and without leaving one out; missing cells get the most
 *   frequent category (the first of those that tie).
 * - Left out: columns "meta_*", those named in skip, and those without any value in the training rows.
 * - A LIBSVM table gives its features "f1", "f2", ... (the indices of the file) divided by their deviation
 * (zeros included) but not centred, so that they stay sparse; its label is never a feature. */
typedef struct mel_encoder mel_encoder;
typedef struct {
    size_t struct_size;
    const char *const *skip; /* label, group, identifiers; each must be a column */
    size_t n_skip;
    bool keep_scale;       /* do not standardise number columns */
    bool dense;            /* always a dense matrix; otherwise sparse when that is smaller */
    bool missing_category; /* missing texts are a category of their own, "workclass=?" */
} mel_encoder_options;
MEL_API void mel_encoder_options_init(mel_encoder_options *opt);
/* Learns from training rows how to encode. Refuses a table without rows, without a column that is left, or in
 * which none of them varies. */
MEL_API mel_status mel_encoder_fit(mel_encoder **out, const mel_table *table, const mel_encoder_options *opt,
                                   mel_error *err);
MEL_API void mel_encoder_free(mel_encoder *encoder);

/* An encoded table; view.dense or view.value point into memory that it owns. */
typedef struct {
    mel_features view;
    size_t unseen;  /* text cells with a category that training did not have: encoded as zeros */
    size_t imputed; /* cells filled in */
    void *memory;
} mel_encoded;
/* The features of a table. Column order does not matter; a missing column or one of another type is refused,
 * as is a number so far from the training rows that its feature is not finite. */
MEL_API mel_status mel_encode(mel_encoded *out, const mel_encoder *encoder, const mel_table *table,
                              mel_error *err);
MEL_API void mel_encoded_clear(mel_encoded *encoded);

#ifdef __cplusplus
}
#endif
#endif
