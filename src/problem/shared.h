/* What other rooms and the program use of this room beyond melicit/problem.h; not exported. */
#ifndef MEL_PROBLEM_SHARED_H
#define MEL_PROBLEM_SHARED_H

#include "melicit/problem.h"
#include "model/shared.h"

/* The place of a name among n: as it is spelt, else the only one of the same value where it is a number; n
 * when it is not there. */
size_t mel_name_place(const char *name, size_t n, const char *const *names);
/* mel_name_place for names of columns, which may also be in another case. */
size_t mel_column_place(const char *name, size_t n, const char *const *names);
/* "a", "b" and "c", shortened where there are many. */
typedef struct {
    char text[400];
} mel_name_list_text;
mel_name_list_text mel_name_list(size_t n, const char *const *name);
/* "a,b,c" as n texts in one block; an empty one or a repeated one is refused as part of --option. *out is for
 * free(), also after a refusal. */
mel_status mel_names_split(char ***out, size_t *n, const char *text, const char *option, mel_error *err);

/* Puts the labels, which come in sorted order, into the order that the naming says, and names the classes.
 * `file` is named in refusals. */
mel_status mel_classes_settle(mel_classes *out, mel_labels *labels, const mel_naming *naming,
                              const char *file, mel_error *err);
/* Classes of which the n names are known, and what files call them (which may be the names as well).
 * number_texts: as in mel_classes. */
mel_status mel_classes_of_names(mel_classes *out, size_t n, const char *const *name, const char *const *label,
                                bool number_texts, mel_error *err);
void mel_classes_clear(mel_classes *classes);

/* The codes of a column of decisions: by what the file or the options call the classes; numbers of an NPY
 * file also by place in the sorted order of labels that are texts. */
mel_status mel_classes_decisions(mel_labels *out, const mel_table *table, const char *column,
                                 const mel_classes *classes, mel_error *err);
/* Are the decisions numbers that stand for places in that order? */
bool mel_decisions_are_places(const mel_table *table, const char *column, const mel_classes *classes);
/* How decisions are written into NPY files: value[i] is the label of class i where all labels are numbers
 * (*whole: all of them are whole), else its place in the sorted order of labels. */
mel_status mel_class_values(double *value, bool *whole, size_t n, const char *const *label, mel_error *err);

/* The path of a table: as given, else in one of the folders; freed by the caller. "-" stays. A known public
 * data set that is missing is refused with the way to get it. */
mel_status mel_find_table(char **path, const char *given, const char *const *folders, mel_error *err);
/* The words of mel_reading; each list ends with NULL. */
extern const char *const mel_formats[], *const mel_decimals[], *const mel_headers[], *const mel_encodings[];
/* How files are read, an option a row: command line, descriptions and checks come from here.
 *     X(said, key, option, type, field, argument, words, only, low, high, help)
 * said: DESCRIBED under `key` in descriptions of problems, or UNSAID; type: of CLI_... and of describe.c;
 * field: of mel_reading; argument: what stands for the value in help; words: of a choice; only: the one
 * format whose files have it, or AUTO; low, high: of whole numbers. */
/* clang-format off */
#define MEL_READING_ROWS(X) \
    X(UNSAID, NULL, "format", CHOICE, format, NULL, mel_formats, AUTO, 0, 0, \
      "what the file is; auto goes by its name (.csv, .csv.gz, .npy, .npz, .svm, .libsvm), then by " \
      "content") \
    X(DESCRIBED, "delimiter", "delimiter", TEXT, delimiter, "C", NULL, CSV, 0, 0, \
      "what separates the cells of a CSV file: a character, \"tab\", \"space\" for any number of " \
      "blanks, or \"auto\", which is the default") \
    X(DESCRIBED, "decimal", "decimal", CHOICE, decimal, NULL, mel_decimals, CSV, 0, 0, \
      "what comes before the decimals of a number in a CSV file") \
    X(DESCRIBED, "header", "header", CHOICE, header, NULL, mel_headers, CSV, 0, 0, \
      "whether the first row of a CSV file holds the names of the columns; auto: no, if it has a " \
      "number where the column below has numbers. Without a header the columns are called c1, c2, ...") \
    X(DESCRIBED, "encoding", "encoding", CHOICE, encoding, NULL, mel_encodings, CSV, 0, 0, \
      "how the text of a CSV file is stored; auto: UTF-16 by its first bytes, UTF-8 where it is " \
      "valid, else Windows-1252") \
    X(DESCRIBED, "zero_based", "zero-based", FLAG, zero_based, NULL, NULL, LIBSVM, 0, 0, \
      "the indices of a LIBSVM file start at 0") \
    X(DESCRIBED, "member", "member", TEXT, member, "NAME", NULL, NPZ, 0, 0, \
      "the array to take from an NPZ file that holds several") \
    X(UNSAID, NULL, "strict", FLAG, strict, NULL, NULL, AUTO, 0, 0, \
      "refuse a file instead of warning about it") \
    X(DESCRIBED, "columns", "column", LIST, columns, "NAME:TYPE", NULL, CSV, 0, 0, \
      "read a column as \"number\" or as \"text\" (categories), whatever it looks like") \
    X(UNSAID, NULL, "max-rows", WHOLE, max_rows, "N", NULL, AUTO, 1, 1e12, \
      "refuse a file with more rows (by default 100 million)") \
    X(UNSAID, NULL, "max-columns", WHOLE, max_columns, "N", NULL, AUTO, 1, 1e9, \
      "refuse a file with more columns (by default 100,000)") \
    X(UNSAID, NULL, "max-bytes", WHOLE, max_bytes, "N", NULL, AUTO, 1, 1e15, \
      "refuse a file with more bytes after unpacking (by default 8 GiB)") \
    X(UNSAID, NULL, "max-categories", WHOLE, max_categories, "N", NULL, AUTO, 1, 4e9, \
      "refuse a column with more different texts (by default 1 million)")
/* clang-format on */

/* What each row costs, by the columns of these names: rows x names numbers from 0 up, for free() also after a
 * refusal, which names `option`. */
mel_status mel_row_costs_read(double **out, const mel_table *table, const mel_text_list *names,
                              const char *option, mel_error *err);

/* The library's options together with the memory they point to. */
typedef struct {
    mel_read_options options;
    mel_column_override *overrides; /* with names of their own */
    bool *found;       /* overrides that any of several files has; NULL: each file must have them all */
    mel_shards shards; /* of files that belong together row by row */
} mel_reader;
mel_status mel_reader_init(mel_reader *out, const mel_reading *reading, const mel_resources *resources,
                           mel_error *err);
/* One more column that has this type, whatever it looks like. */
mel_status mel_reader_expect(mel_reader *reader, const char *column, mel_column_type type, mel_error *err);
/* Several files are read: a column whose type is given need not be in each; patterns must have the same
 * files. */
mel_status mel_reader_share(mel_reader *reader, mel_error *err);
/* Once the files have been read: MEL_EINVAL for an option that none of them, nor a file read before, reads.
 * MEL_OK where nobody counts formats. */
mel_status mel_reader_check(const mel_reader *reader, const mel_reading *reading,
                            const mel_resources *resources, mel_error *err);
void mel_reader_clear(mel_reader *reader);

/* The column of that name or, where there is none, the only one; lent by the table. name NULL: the only one.
 * `option` is what names a column. */
mel_status mel_only_column(const char **column, const mel_table *table, const char *name, const char *option,
                           mel_error *err);
/* Refuses a column that is not there with the nearest name or the columns there are. */
mel_status mel_need_column(const mel_table *table, const char *name, const char *option, mel_error *err);
/* The groups of rows, by n names that are known. */
mel_status mel_take_groups(mel_labels *out, const mel_table *table, const char *column, size_t n,
                           const char *const *name, mel_error *err);
/* mel_proba_read of a file whose header, if any, names these classes. */
mel_status mel_proba_read_classes(mel_proba *out, const char *path, const mel_classes *classes,
                                  const mel_read_options *read, mel_error *err);
/* Puts the columns of probabilities into the order of the classes, of which there are as many: by `given`
 * (as given, or NULL), by the names in the file's header, else (NPY, CSV without a header) they are in the
 * sorted order of the labels. One column is the class's that it is named after, or the positive one's if it
 * has no name or a general one such as "p"; another name is refused. */
mel_status mel_proba_order(mel_proba *proba, const char *path, const char *given, const mel_classes *classes,
                           mel_error *err);
/* A labelled table that was read. */
typedef struct {
    mel_table *table; /* NULL once it has been split */
    size_t n_rows;
    mel_labels labels;
    mel_classes classes; /* what the labels are called, in the same order */
    mel_labels groups;   /* n_classes 0: no groups */
    double *weight;      /* NULL: every row counts 1 */
} mel_dataset;
mel_status mel_dataset_read(mel_dataset *out, const mel_dataset_options *opt, const mel_resources *resources,
                            mel_error *err);
void mel_dataset_clear(mel_dataset *dataset);

/* Some of its rows. */
typedef struct {
    size_t n;
    mel_table *table; /* NULL after mel_dataset_part_encode */
    mel_encoded x;
    uint32_t *y;
    uint32_t *group; /* NULL: no groups */
    double *weight;  /* NULL: every row counts 1 */
} mel_dataset_part;
enum { MEL_PART_TRAIN = 0, MEL_PART_TEST = 1, MEL_DATASET_PARTS = 2 };
/* Moves the rows into parts, stratified by class and group: test_share of them are held out and measure. A
 * class without training rows is refused. */
mel_status mel_dataset_split(mel_dataset_part parts[MEL_DATASET_PARTS], mel_dataset *dataset,
                             double test_share, uint64_t seed, mel_error *err);
/* The encoding learned on a part: without the label, group, weight and skipped columns. */
mel_status mel_dataset_part_learn(mel_encoder **out, const mel_dataset_part *part,
                                  const mel_dataset_options *opt, mel_error *err);
/* Fills x and lets the table go. */
mel_status mel_dataset_part_encode(mel_dataset_part *part, const mel_encoder *encoder, mel_error *err);
void mel_dataset_part_clear(mel_dataset_part *part);

/* What the numbers of a pool are about. */
typedef struct {
    mel_layout layout;
    const char *const *class_name; /* n_classes */
    const char *const *label;      /* what else the classes are called, or NULL */
    const char *const *group_name; /* n_groups when that is above 1 */
    double prevalence;             /* share of the second of two classes ; NaN: not given */
    bool only_if_needed;           /* it is elsewhere's: taken where the columns do not say it */
} mel_pool_about;
/* CSV with a "name" column and columns whose names (in any case) say what they are:
 * - two classes: tp, tn, fp, fn (shares or counts), tpr, tnr, fpr, fnr, recall, sensitivity, specificity,
 *   precision, prevalence: what determines the statistics, and the rest agrees with it;
 * - a class: its share of right decisions; "true>predicted": a share or a count of the confusion matrix;
 * - "true", and the predicted classes: k rows per classifier, one for each true class, in any order;
 * - n: the number of rows, where counts do not say it;
 * - "group:" before any of them.
 * Shares of entries are of all rows or of the true class, as the statistics are. A first column of texts
 * without a name is "name". NPY: in the layout's order, or n x k x k, true by predicted classes. MEL_EDATA,
 * with the classifier and the column, for anything else. */
mel_status mel_pool_read(mel_pool *out, const char *path, const mel_pool_about *about,
                         const mel_read_options *read, mel_error *err);
void mel_pool_clear(mel_pool *pool);
/* MEL_EDATA where classes are not equally common for all classifiers: shares of all rows do not compare then.
 * The advice ends the sentence. */
mel_status mel_pool_check_shares(const mel_pool *pool, const char *const *class_name, const char *file,
                                 const char *advice, mel_error *err);
/* Whether any of its classifiers comes with counts. */
bool mel_pool_has_counts(const mel_pool *pool);
/* The classes and groups that the columns of a pool name, where no metric says them: of true>predicted, and
 * before the colon. Two classes are called negative and positive when the columns are tp, tn, ... Names are
 * for mel_names_free; n_groups 0: none. */
mel_status mel_pool_survey(char ***class_name, size_t *n_classes, char ***group_name, size_t *n_groups,
                           const char *path, const mel_read_options *read, mel_error *err);
/* Names that the header of a pool may have which are numbers, or stand next to such: *n texts of the caller's
 * (mel_names_free), NULL when memory runs out. */
char **mel_pool_names(size_t *n, const mel_pool_about *about);

/* Kinds of input: which of them read an option, and which were given. */
enum {
    MEL_OF_TABLE = 1,
    MEL_OF_PROBS = 2,
    MEL_OF_POPULATION = 4,
    MEL_OF_BALL = 8,
    MEL_OF_GROUPS = 16, /* a file of groups */
    MEL_OF_FILES = 32,  /* any file with rows */
    MEL_OF_CANDIDATES = 256,
    MEL_OF_ROWS = MEL_OF_TABLE | MEL_OF_PROBS,
    MEL_OF_ANY = MEL_OF_ROWS | MEL_OF_POPULATION | MEL_OF_BALL | MEL_OF_CANDIDATES
};
/* The words of mel_problem_options; each list ends with NULL. */
extern const char *const mel_problem_kinds[], *const mel_problem_evidences[],
                                                  *const mel_problem_radius_methods[];
/* The digest that a problem made of these files has; "": it has none (no file, or standard input). */
mel_status mel_problem_digest(char digest[MEL_DIGEST_HEX], const mel_problem_options *opt, mel_error *err);
/* Which kinds of input (MEL_OF_...) choose the problem; 0: none was given. */
unsigned mel_problem_inputs(const mel_problem_options *opt);
/* Which kinds of input read an option, by its name on the command line; 0: it does not matter. */
unsigned mel_problem_reads(const char *option);
/* Whether the numbers are within their ranges: MEL_EINVAL names the option. */
mel_status mel_problem_check_numbers(const mel_problem_options *opt, mel_error *err);
/* The statistics that a metric is about. */
mel_problem_want mel_want_of_layout(const mel_layout *layout, const char *whom);

#endif
