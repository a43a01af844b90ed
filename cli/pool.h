/* Pools of classifiers in files: their statistics, found by the names of the columns. */
#ifndef MEL_CLI_POOL_H
#define MEL_CLI_POOL_H

#include "command.h"
#include "melicit/data.h"
#include "melicit/metric.h"

/* n classifiers, one row of `size` numbers each. */
typedef struct {
    size_t n, size;
    char **name;
    double *value;
    double *positives; /* share of the second of two classes; NaN: unknown */
    size_t cells;      /* groups x k x k */
    double
        *matrix;  /* n x cells: confusion matrices, counts where `rows` is known, else shares; NaN: unknown */
    double *rows; /* how many rows are behind each; NaN: unknown */
} cli_pool;

/* What the numbers of a pool are about. */
typedef struct {
    mel_layout layout;
    const char *const *class_name; /* n_classes */
    const char *const *label;      /* what else the classes are called, or NULL */
    const char *const *group_name; /* n_groups when that is above 1 */
    double prevalence;             /* share of the second of two classes (--prevalence); NaN: not given */
    bool only_if_needed;           /* it is elsewhere's: taken where the columns do not say it */
} cli_pool_about;

/* CSV with a "name" column and columns whose names (in any case) say what they are:
 * - two classes: tp, tn, fp, fn (shares or counts), tpr, tnr, fpr, fnr, recall, sensitivity, specificity,
 *   precision, prevalence: what determines the statistics, and the rest agrees with it;
 * - a class: its share of right decisions; "true>predicted": a share or a count of the confusion matrix;
 * - n: the number of rows, where counts do not say it;
 * - "group:" before any of them.
 * Shares of entries are of all rows or of the true class, as the statistics are. A first column of texts
 * without a name is "name". NPY: in the layout's order. MEL_EDATA, with the classifier and the column, for
 * anything else. */
mel_status cli_pool_read(cli_pool *out, const char *path, const cli_pool_about *about,
                         const mel_read_options *read, mel_error *err);
void cli_pool_clear(cli_pool *pool);
/* The classes and groups that the columns of a pool name, where no metric says them: of true>predicted, and
 * before the colon. Two classes are called negative and positive when the columns are tp, tn, ... Names are
 * for mel_names_free; n_groups 0: none. */
mel_status cli_pool_survey(char ***class_name, size_t *n_classes, char ***group_name, size_t *n_groups,
                           const char *path, const mel_read_options *read, mel_error *err);
/* The same for the statistics of a metric. */
mel_status cli_metric_pool(cli_pool *out, const char *path, const mel_metric *metric, double prevalence,
                           const mel_read_options *read, mel_error *err);
/* The option that says the prevalence; the field is a double, NaN unless given. */
#define CLI_PREVALENCE_OPTION(args, field)                                                                   \
    {                                                                                                        \
        .name = "prevalence", .argument = "P", .kind = CLI_NUMBER, .at = offsetof(args, field), .high = 1,   \
        .above_low = true, .below_high = true,                                                               \
        .help = "two classes: the share of the positive one, where the columns do not say it"                \
    }

/* --- what a column means (pool_columns.c) -------------------------------------------------------- */

typedef enum {
    CLI_COLUMN_NAME,       /* of the classifier */
    CLI_COLUMN_ENTRY,      /* an entry of the matrix, in the layout's kind or a count */
    CLI_COLUMN_SHARE,      /* an entry as a share of all rows, or a count */
    CLI_COLUMN_RATE,       /* an entry as a share of its true class */
    CLI_COLUMN_PRECISION,  /* two classes */
    CLI_COLUMN_PREVALENCE, /* two classes */
    CLI_COLUMN_TOTAL       /* how many rows there are */
} cli_column_kind;
typedef struct {
    cli_column_kind kind;
    size_t group, truth, said; /* 0-based; group 0 also where there are none */
} cli_column;
/* Names that the header of a pool may have which are numbers, or stand next to such: *n texts of the caller's
 * (mel_names_free). */
char **cli_pool_names(size_t *n, const cli_pool_about *about);
/* One for each column of the table. */
mel_status cli_pool_columns(cli_column *out, const mel_table *table, const cli_pool_about *about,
                            mel_error *err);

#endif
