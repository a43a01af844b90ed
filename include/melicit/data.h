/* melicit/data.h: tables in, feature matrices and labels out.
 *
 * A table is a set of named columns of equal length, each of numbers or of text. Missing cells are
 * NaN in a column of numbers and MEL_MISSING in a column of text, and nothing else is ever NaN. */
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
    MEL_FORMAT_LIBSVM = 3
} mel_format;

typedef struct {
    const char *name;
    mel_column_type type;
} mel_column_override;

typedef struct {
    size_t struct_size;
    mel_format format; /* AUTO: by the file's name (.csv, .csv.gz, .npy, .svm, .libsvm), then by content */
    char delimiter;    /* CSV: ',' */
    bool no_header;    /* CSV: the first line is data; columns are called c1, c2, ... */
    const mel_column_override *overrides;
    size_t n_overrides;
    size_t max_rows;       /* 100 million */
    size_t max_columns;    /* 100,000 */
    uint64_t max_bytes;    /* 8 GiB of text after unpacking */
    size_t max_categories; /* different texts in one column: 1,000,000 */
    int threads;           /* 0: all cores; never changes the result */
    mel_progress progress;
} mel_read_options;
MEL_API void mel_read_options_init(mel_read_options *opt);

/* Reads a whole file ("-": standard input, CSV). A refusal (MEL_EDATA, MEL_ELIMIT) names file, row,
 * column and value; rows are counted from 1 with the header as row 1, columns by name or number. */
MEL_API mel_status mel_table_read(mel_table **out, const char *path, const mel_read_options *opt,
                                  mel_error *err);
/* The same from bytes in memory (unpacked); `name` stands for the file in messages. */
MEL_API mel_status mel_table_read_memory(mel_table **out, const void *bytes, size_t n, const char *name,
                                         const mel_read_options *opt, mel_error *err);
MEL_API void mel_table_free(mel_table *table);

MEL_API size_t mel_table_rows(const mel_table *table);
MEL_API size_t mel_table_columns(const mel_table *table);
MEL_API const char *mel_table_name(const mel_table *table); /* file, for messages */
MEL_API const char *mel_table_column_name(const mel_table *table, size_t column);
MEL_API mel_column_type mel_table_column_type(const mel_table *table, size_t column);
/* SIZE_MAX when there is no such column. */
MEL_API size_t mel_table_find(const mel_table *table, const char *column_name);
/* Lent until the table is freed; NULL when the column is of the other type. Sparse tables (LIBSVM)
 * hold their features apart: see mel_table_sparse. */
MEL_API const double *mel_table_numbers(const mel_table *table, size_t column);
MEL_API const uint32_t *mel_table_codes(const mel_table *table, size_t column);
MEL_API size_t mel_table_categories(const mel_table *table, size_t column);
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

/* LIBSVM tables: their features as stored (lent); false for other tables. Column "label" is ordinary. */
MEL_API bool mel_table_sparse(mel_features *out, const mel_table *table);

/* Rows rows[0..n) of a table, in that order; categories keep their codes. */
MEL_API mel_status mel_table_take(mel_table **out, const mel_table *table, const size_t *rows, size_t n,
                                  mel_error *err);

/* Class labels: one code per row and the class names in the order of the codes. Numbers sort by value
 * ("2" before "10"), texts by byte. */
typedef struct {
    size_t n_rows, n_classes;
    uint32_t *code;
    char **name;
} mel_labels;
/* Refuses a missing column, missing cells, fewer than two classes, and a column in which (almost)
 * every row has a value of its own. */
MEL_API mel_status mel_table_labels(mel_labels *out, const mel_table *table, const char *column,
                                    mel_error *err);
/* The codes of a column under given class names (prediction time); an unknown class is refused. */
MEL_API mel_status mel_table_labels_as(mel_labels *out, const mel_table *table, const char *column,
                                       size_t n_classes, const char *const *names, mel_error *err);
/* Groups: as labels, but one group is fine. */
MEL_API mel_status mel_table_groups(mel_labels *out, const mel_table *table, const char *column,
                                    mel_error *err);
/* Numbers recoded into n_classes classes at their quantiles (right-closed: a value equal to a cut goes
 * to the lower class); names say the interval. Refuses cuts that coincide, with the values that tie. */
MEL_API mel_status mel_table_quantile_labels(mel_labels *out, const mel_table *table, const char *column,
                                             size_t n_classes, mel_error *err);
MEL_API void mel_labels_clear(mel_labels *labels);

/* How a table becomes features, learned on training rows: medians and modes for missing cells,
 * mean and deviation of number columns, categories of text columns (one-hot, in the order of
 * mel_labels; columns named "workclass=Private"). Columns "meta_*" are left out, as are those named in skip.
 */
typedef struct mel_encoder mel_encoder;
typedef struct {
    size_t struct_size;
    const char *const *skip; /* label, group, identifiers */
    size_t n_skip;
    bool keep_scale; /* do not standardise number columns */
    bool dense;      /* always a dense matrix; otherwise sparse when that is smaller */
} mel_encoder_options;
MEL_API void mel_encoder_options_init(mel_encoder_options *opt);
MEL_API mel_status mel_encoder_fit(mel_encoder **out, const mel_table *table, const mel_encoder_options *opt,
                                   mel_error *err);
MEL_API void mel_encoder_free(mel_encoder *encoder);
MEL_API size_t mel_encoder_features(const mel_encoder *encoder);
MEL_API const char *mel_encoder_feature_name(const mel_encoder *encoder, size_t feature);

/* An encoded table; view.dense or view.value point into memory that it owns. */
typedef struct {
    mel_features view;
    size_t unseen;  /* text cells with a category that training did not have: encoded as zeros */
    size_t imputed; /* cells filled in */
    void *memory;
} mel_encoded;
/* Column order in the table does not matter; a missing column or one of another type is refused. */
MEL_API mel_status mel_encode(mel_encoded *out, const mel_encoder *encoder, const mel_table *table,
                              mel_error *err);
MEL_API void mel_encoded_clear(mel_encoded *encoded);

/* Seeded stratified split: first[] marks the rows of the first part, whose share of every class
 * (and of every class within every group, when group is not NULL) is `share` to within one row. */
MEL_API mel_status mel_split(bool *first, size_t n, const uint32_t *label, const uint32_t *group,
                             double share, uint64_t seed, mel_error *err);

/* Tables that do not fit in memory: pass one (open) checks every cell and learns the types and
 * categories, pass two hands out blocks of rows. Memory is bounded by block size and categories. CSV
 * and CSV.gz files (not standard input). */
typedef struct mel_stream mel_stream;
MEL_API mel_status mel_stream_open(mel_stream **out, const char *path, const mel_read_options *opt,
                                   mel_error *err);
MEL_API size_t mel_stream_rows(const mel_stream *stream);
/* The next block of at most max_rows rows, with the column types and codes of the whole file; *out is
 * NULL at the end. The block is the caller's. */
MEL_API mel_status mel_stream_next(mel_table **out, mel_stream *stream, size_t max_rows, mel_error *err);
MEL_API mel_status mel_stream_rewind(mel_stream *stream, mel_error *err);
MEL_API void mel_stream_free(mel_stream *stream);

/* A matrix of doubles as an .npy file (version 1, C order); written to a temporary file first, so a
 * failure leaves the old file. "-": standard output. */
MEL_API mel_status mel_npy_write(const char *path, size_t rows, size_t columns, const double *values,
                                 mel_error *err);

#ifdef __cplusplus
}
#endif
#endif
