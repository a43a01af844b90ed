/* How a problem is put together: names, the files that options name, rows, what has no rows. */
#ifndef MEL_PROBLEM_PROBLEM_H
#define MEL_PROBLEM_PROBLEM_H

#include "data/shared.h"
#include "problem/shared.h"

/* --- classes.c ---------------------------------------------------------------------------------- */

typedef size_t mel_place_finder(const char *name, size_t n, const char *const *names);
/* mel_name_places by mel_column_place. */
bool mel_column_places(size_t *place, size_t n, const char *const *name, const char *const *names);
/* Classes that no file has labels for: they keep their order, and `name` (NULL: "0", "1", ...) stand for
 * labels. */
mel_status mel_classes_invent(mel_classes *out, size_t n, const char *const *name, const mel_naming *naming,
                              const char *what, mel_error *err);
/* Whether the naming renames or orders: `positive` alone does neither. */
bool mel_naming_given(const mel_naming *naming);

/* --- inputs.c ----------------------------------------------------------------------------------- */

/* The table behind an option: a file, an upload or a frame. `key` says what it is for: "data" (folders are
 * searched for such alone), "probs", "labels", "groups", ...; it is what uploads and frames are called. */
mel_status mel_input_table(mel_table **out, const char *key, const char *given,
                           const mel_resources *resources, const mel_read_options *read, mel_error *err);
/* The same of a file whose header, if any, has some of these n names. */
mel_status mel_input_table_named(mel_table **out, const char *key, const char *given,
                                 const mel_resources *resources, size_t n, const char *const *name,
                                 const mel_read_options *read, mel_error *err);
/* What a file is called in refusals and descriptions: as given, uploads and frames by their key. NULL stays.
 */
enum { MEL_UPLOAD_NAME = 16 };
const char *mel_input_name(char memory[MEL_UPLOAD_NAME], const char *key, const char *given,
                           const mel_resources *resources);

/* --- rows.c, candidates.c ----------------------------------------------------------------------- */

/* Fill probability, label, group, weight and the names. */
/* training: those that train as well, after the others. */
mel_status mel_rows_from_table(mel_problem *problem, const mel_problem_options *opt, bool training,
                               mel_error *err);
mel_status mel_rows_from_probabilities(mel_problem *problem, const mel_problem_options *opt, mel_error *err);
/* The pool of `candidates`. */
mel_status mel_make_candidates(mel_problem *problem, const mel_problem_options *opt,
                               const mel_problem_want *want, mel_error *err);

/* --- make.c ------------------------------------------------------------------------------------- */

/* Whether so many classes and groups (0: none) are within what the resources allow. */
mel_status mel_check_classes(const mel_resources *resources, size_t classes, size_t groups, mel_error *err);
/* The classes of rows, which become the problem's. */
void mel_take_classes(mel_problem *problem, mel_classes *classes);
/* n classes without labels, called `name` (NULL: "0", "1", ...) unless the options say otherwise; groups
 * without names are "1", "2", .... */
mel_status mel_name_classes(mel_problem *problem, const mel_problem_options *opt, size_t n,
                            const char *const *name, mel_error *err);
mel_status mel_name_groups(mel_problem *problem, size_t n, char *const *name, mel_error *err);
mel_status mel_name_group_column(mel_problem *problem, const char *column, mel_error *err);
/* Will the planar face of two classes do? */
bool mel_is_planar(const mel_problem_options *opt, const mel_problem_want *want, size_t n_classes);
/* Kind, coordinates and threads of a space of so many classes and groups. */
mel_status mel_space_settings(mel_space_options *out, const mel_problem_options *opt,
                              const mel_problem_want *want, size_t n_classes, size_t n_groups,
                              mel_error *err);

/* --- describe.c --------------------------------------------------------------------------------- */

/* Refuses choices that are beyond their words. */
mel_status mel_choices_check(const mel_problem_options *opt, mel_error *err);
/* Fills description and typed. */
mel_status mel_problem_describe(mel_problem *problem, const mel_problem_options *opt, mel_error *err);

/* --- pools of classifiers: the numbers of a file, and what its columns mean ----------------------------- */

/* How far numbers that were rounded may contradict each other. */
#define MEL_POOL_ROUNDING 1e-3

/* A file of a pool as a row of numbers per classifier, whatever its form was. */
typedef struct {
    char *file; /* in messages */
    size_t n, n_columns;
    char **classifier, **column; /* names */
    double *value;               /* n x n_columns; NaN: missing, or a text */
    bool *text;                  /* of each column: it holds texts, as that of the names does */
    bool named;                  /* the columns have names of their own */
    bool array;                  /* NPY: columns are in the order of the layout, */
    size_t matrix;               /* or those of k x k matrices, row by row; 0: they are not */
} mel_pool_sheet;
/* The file behind an option, as mel_input_table_named reads it. */
mel_status mel_pool_sheet_read(mel_pool_sheet *out, const char *key, const char *given,
                               const mel_resources *resources, size_t n_names, const char *const *name,
                               const mel_read_options *read, mel_error *err);
void mel_pool_sheet_clear(mel_pool_sheet *sheet);
mel_status mel_pool_of_sheet(mel_pool *out, const mel_pool_sheet *sheet, const mel_pool_about *about,
                             mel_error *err);

/* --- what columns mean (candidates.c) --------------------------------------------------------- */

typedef enum {
    MEL_COLUMN_NAME,    /* of the classifier */
    MEL_COLUMN_ENTRY,   /* an entry of the matrix, in the layout's kind or a count */
    MEL_COLUMN_SHARE,   /* an entry as a share of all rows, or a count */
    MEL_COLUMN_FORMULA, /* two classes: another number of the entries */
    MEL_COLUMN_TOTAL    /* how many rows there are */
} mel_pool_column_kind;
/* A number of two classes: a sum of TN, FP, FN, TP over another one. */
typedef struct {
    const char *name;
    double part[4], whole[4];
} mel_pool_formula;
typedef struct {
    mel_pool_column_kind kind;
    size_t group, truth, said; /* 0-based; group 0 also where there are none */
    const mel_pool_formula *formula;
} mel_pool_column;
/* One for each column of the sheet. */
mel_status mel_pool_columns(mel_pool_column *out, const mel_pool_sheet *sheet, const mel_pool_about *about,
                            mel_error *err);
/* The number of two classes that a column may be called after, in any case: tp, recall, ...; NULL: none. */
const mel_pool_formula *mel_pool_formula_of(const char *name);

/* Texts, each once. */
typedef struct {
    char **name;
    size_t n, capacity;
} mel_name_set;
mel_status mel_name_set_add(mel_name_set *set, const char *text, size_t length, mel_error *err);

/* What the names of columns say. */
typedef struct {
    mel_name_set classes, groups;
    bool entries; /* "true>predicted" */
    bool words;   /* tp, recall, ... */
} mel_pool_header;
/* Takes in the name of one column, without its group. */
mel_status mel_pool_header_name(mel_pool_header *out, const char *name, const char *file, mel_error *err);
void mel_pool_header_clear(mel_pool_header *header);

#endif
