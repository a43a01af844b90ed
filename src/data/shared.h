/* What other rooms and the program use of this room beyond melicit/data.h; not exported. */
#ifndef MEL_DATA_SHARED_H
#define MEL_DATA_SHARED_H

#include "base/internal.h"
#include "melicit/data.h"

/* The text with U+FFFD in place of each byte that is not UTF-8, for free(); NULL when memory runs out. */
char *mel_utf8_repaired(const char *text);

/* Would a CSV cell with this text and no quotes be missing, among numbers at least? Nothing, "?", "NA", ...
 */
bool mel_is_missing_word(const char *text);

/* Does the path stand for any number of files: no such file, but *, ? or [ in it? */
bool mel_is_pattern(const char *path);
/* A file, and what the pattern's only * stands for in its name; the whole name where the pattern has more. */
typedef struct {
    char *name, *key;
} mel_matched;

typedef struct {
    size_t n;
    mel_matched *file; /* by mel_key_order */
} mel_matches;

/* The files of a pattern; MEL_EDATA when no file matches, or other ones for another rank. All ranks ask. */
mel_status mel_pattern_find(mel_matches *out, const char *pattern, mel_error *err);
void mel_matches_clear(mel_matches *matches);
/* The files of n patterns (NULL: none, and out[i] stays empty) that belong together, those of out[0] by those
 * of the others: the same text is in place of each *. out is cleared by the caller, also after a refusal. */
mel_status mel_patterns_find(mel_matches *out, size_t n, const char *const *pattern, mel_error *err);
/* Is each of them a regular file, and there is one? */
bool mel_pattern_is_files(const char *pattern);
/* The digest of a file, or one of the digests of all files of a pattern, in their order. */
mel_status mel_digest_path(char digest[MEL_DIGEST_HEX], const char *path, mel_error *err);

/* The digest of what is in a table: names, types and cells. */
void mel_table_digest(char digest[MEL_DIGEST_HEX], const mel_table *table);

const char *mel_table_name(const mel_table *table); /* file, for messages */
/* The number that messages give to a row: its place in the file, also after mel_table_take. */
size_t mel_table_row_number(const mel_table *table, size_t row);
/* What the file was: CSV, NPY, NPZ or LIBSVM; AUTO for rows taken out of a table and blocks of a stream. */
mel_format mel_table_format(const mel_table *table);
/* Whether the names of the columns are the file's own: those of a CSV with a header. */
bool mel_table_has_header(const mel_table *table);
/* k where each row is a k x k matrix of an array of three dimensions, row by row (option `matrices`); else 0.
 */
size_t mel_table_matrix(const mel_table *table);
/* SIZE_MAX when there is no such column. */
size_t mel_table_find(const mel_table *table, const char *column_name);

/* LIBSVM tables: their features as stored (lent); false for other tables. Column "label" is ordinary. */
bool mel_table_sparse(mel_features *out, const mel_table *table);

/* Rows rows[0..n) of a table, in that order; categories keep their codes. */
mel_status mel_table_take(mel_table **out, const mel_table *table, const size_t *rows, size_t n,
                          mel_error *err);

/* The codes of a column under given class names (prediction time); an unknown class is refused. */
mel_status mel_table_labels_as(mel_labels *out, const mel_table *table, const char *column, size_t n_classes,
                               const char *const *names, mel_error *err);
/* Numbers recoded into n_classes classes at their quantiles (right-closed: a value equal to a cut goes
 * to the lower class); names say the interval. Refuses cuts that coincide, with the values that tie. */
mel_status mel_table_quantile_labels(mel_labels *out, const mel_table *table, const char *column,
                                     size_t n_classes, mel_error *err);
/* The order of mel_labels for names that do not come from a table: order[i] is which of the n names is at
 * place i when all are sorted, by value where each is a number and they are not texts, else by byte. */
mel_status mel_sort_class_names(size_t *order, size_t n, const char *const *names, bool texts,
                                mel_error *err);
/* Do both name one class? Numbers of less than 2^53 do by their value ("1" and "1.0"), other names and codes
 * with zeros in front ("01") by their bytes. */
bool mel_same_class_name(const char *a, const char *b);

size_t mel_encoder_features(const mel_encoder *encoder);
const char *mel_encoder_feature_name(const mel_encoder *encoder, size_t feature);
/* The columns that it reads (none for LIBSVM) with their types: as overrides for reading new tables, so
 * that a column of codes has the type it had in training. */
size_t mel_encoder_columns(const mel_encoder *encoder);
const char *mel_encoder_column_name(const mel_encoder *encoder, size_t column);
mel_column_type mel_encoder_column_type(const mel_encoder *encoder, size_t column);
/* LIBSVM: did the training rows count their indices from 0? New tables must be read so, too. */
bool mel_encoder_zero_based(const mel_encoder *encoder);
/* Columns that were left out because every cell was missing. */
size_t mel_encoder_dropped(const mel_encoder *encoder);
const char *mel_encoder_dropped_name(const mel_encoder *encoder, size_t i);

/* Columns with such a name (meta_...) are never features. */
bool mel_column_is_meta(const char *name);

/* Is this column unfit to be a feature? In CSV files, unless its type was declared: texts of which most rows
 * have one of their own (money, dates, names, ids), a count of the rows, a copy of the label (labels: of all
 * rows). `why` says so, without the file; empty: it is fit. */
typedef struct {
    char text[400];
} mel_unfit;
mel_status mel_column_unfit(mel_unfit *why, const mel_table *table, size_t column, const mel_labels *labels,
                            mel_error *err);
/* A column of texts that are all amounts of one currency, with decimals marked in one way, becomes one of
 * numbers; `said` tells it ("column income looks like money: 1,234.50 $ read as 1234.5"). Empty: it is as it
 * was. */
enum { MEL_MONEY_WORDS = 300 };
mel_status mel_table_read_money(char said[MEL_MONEY_WORDS], mel_table *table, size_t column, mel_error *err);
/* Encoders leave the column out. */
void mel_table_leave_out(mel_table *table, size_t column);

/* Seeded stratified split: first[] marks the rows of the first part, whose share of the rows, of every
 * class and (when group is not NULL) of every class within every group is `share` to within one row. */
mel_status mel_split(bool *first, size_t n, const uint32_t *label, const uint32_t *group, double share,
                     uint64_t seed, mel_error *err);

/* The header of an .npy file (version 1, C order), for writers of rows one after another; returns its bytes.
 * item: what the numbers are, as NumPy says it ("<f8": doubles, "<i8": whole numbers, of 8 bytes each, the
 * lowest first; three characters). columns: NULL for an array of one dimension. */
enum { MEL_NPY_START_BYTES = 128 };
size_t mel_npy_start(char out[MEL_NPY_START_BYTES], const char *item, size_t rows, const size_t *columns);

/* Whether the caller gave its type. */
bool mel_table_is_declared(const mel_table *table, size_t column);
/* How many different texts a column of categories has. */
size_t mel_table_categories(const mel_table *table, size_t column);

/* Groups: as mel_table_labels, but one group is fine. */
mel_status mel_table_groups(mel_labels *out, const mel_table *table, const char *column, mel_error *err);

/* What reading has to say about files, kept as bytes: to be said later, or by other ranks. */
typedef struct {
    char *bytes;
    size_t n;
    unsigned formats; /* of files that were read: bits 1 << mel_format */
    bool lost;        /* memory did not do for all of it */
} mel_kept_notices;

void mel_kept_notices_clear(mel_kept_notices *kept);
/* Bytes of the caller's own, between notices. */
void mel_kept_notices_add(mel_kept_notices *kept, const void *bytes, size_t n);
/* Whoever reads with it has what it hears kept. */
mel_notice mel_notice_to_keep(mel_kept_notices *kept);
/* Says the notices that are these n bytes. */
void mel_kept_notices_say(const char *bytes, size_t n, const mel_notice *notice);

#endif
