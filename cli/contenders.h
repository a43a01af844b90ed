/* Classifiers that are to be scored or ranked, from files of predictions or of statistics, and the measures
 * that do it. */
#ifndef MEL_CLI_CONTENDERS_H
#define MEL_CLI_CONTENDERS_H

#include "classify/shared.h"
#include "command.h"
#include "problem/shared.h"

/* The options. */
typedef struct {
    const char *labels, *groups;
    mel_text_list predictions;
    mel_naming naming;
} cli_prediction_args;
extern const cli_option cli_prediction_options[];

/* Codes in the order of the metric, where there is one. */
typedef struct {
    mel_labels truth;
    mel_classes classes;
    mel_labels groups;  /* n_classes 0: none */
    size_t n;           /* classifiers */
    char **name;        /* of their columns, or of files of one column */
    mel_labels *wanted; /* what each of them predicts */
} cli_predictions;
/* Reads --predictions and the operands, which go on with its list. `metric` may be NULL; it is put into the
 * order of the labels, and groups into its own if it has any. `given` is its file. */
mel_status cli_predictions_read(cli_predictions *out, mel_metric **metric, const char *given,
                                const cli_prediction_args *args, const mel_read_options *read, cli_run *run,
                                mel_error *err);
void cli_predictions_clear(cli_predictions *p);
size_t cli_predictions_groups(const cli_predictions *p); /* at least 1 */
/* counts: groups x k x k of classifier c. */
void cli_predictions_count(double *counts, const cli_predictions *p, size_t c);

typedef struct {
    const char *metric; /* a file, or NULL */
    const char *pool;   /* --statistics or --pool */
    const char *pool_option;
    mel_text_list named;
    double prevalence; /* NaN: not given */
    cli_prediction_args rows;
} cli_contender_args;

typedef struct {
    mel_metric *metric; /* NULL: only named measures */
    mel_layout layout;  /* of the statistics */
    size_t n, k, m;     /* classifiers, classes, groups (1: none) */
    char **name;        /* lent by the pool or the predictions */
    double *counts;     /* n x m x k x k; NaN where unknown; counts where rows are known, else shares */
    double *rows;       /* behind each classifier; NaN: unknown */
    double *statistics; /* n x mel_layout_size, for the metric */
    const char *const *class_name, *const *group_name; /* lent */
    bool paired;                                       /* all are about the same rows, in `predictions` */
    cli_predictions predictions;
    mel_pool pool;
    char **own_class, **own_group;
} cli_contenders;

#define CLI_NAMED_OPTION(what)                                                                               \
    {                                                                                                        \
        .name = "named", .argument = "NAME", .kind = CLI_LIST, .at = offsetof(cli_contender_args, named),    \
        .help =                                                                                              \
            what ": accuracy, balanced-accuracy, f1, f0.5, jaccard, precision, recall, specificity, "        \
                 "weighted-accuracy:7, mcc, kappa, g-mean, q-mean, min-recall; macro-f1, micro-f1, "         \
                 "weighted-f1, ...; with groups equalised-odds, demographic-parity, ..., f1:difference, "    \
                 "recall:ratio, ... (docs/metric-file.md has all)"                                           \
    }

/* `metric` is taken over; NULL: only names. */
mel_status cli_contenders_read(cli_contenders *out, mel_metric *metric, const cli_contender_args *args,
                               const mel_read_options *read, cli_run *run, mel_error *err);
void cli_contenders_clear(cli_contenders *c);
/* All groups of classifier i in one matrix of k x k. */
void cli_contender_together(double *matrix, const cli_contenders *c, size_t i);
/* Whether every entry of these is known. */
bool cli_known(size_t n, const double *values);

/* Puts what is left of all rows (NaN: of 1) into entries that are not known: a metric of confusion entries
 * that does not look at them has the same value and interval, however they share it. */
void cli_fill_rest(double *matrix, size_t n, double rows);

/* The same for any measure: false, and nothing is filled in, where its value depends on how they share it (n
 * entries, which make up all rows). */
bool cli_fill_for(double *matrix, size_t n, double rows, const mel_measure *measure);

/* A measure and what it looks at: all groups of a classifier, or one matrix, of everybody or of one group. */
typedef struct {
    mel_measure *measure;
    const char *name; /* "value" of a metric; lent */
    bool sees_groups;
} cli_judge;
/* The metric first, then the named ones: *n of them, for cli_judges_free. */
mel_status cli_judges_make(cli_judge **out, size_t *n, const cli_contenders *c, const mel_text_list *named,
                           mel_error *err);
/* Whether its value depends on how common the classes are, beyond the rates of decisions about each. */
bool cli_judge_sees_shares(const cli_judge *judge, size_t k, size_t m);
void cli_judges_free(cli_judge *judge, size_t n);
/* The value of counts that the judge looks at, and how sure it is, by rows and the metric's intervals. */
mel_status cli_judge_counts(mel_certainty *out, const cli_judge *judge, const double *counts,
                            const cli_run *run, mel_error *err);

/* The statistics of a classifier with these counts, groups x k x k; names are for refusals. MEL_EDATA when
 * there are no rows, or the layout asks for rates of a class without any. */
mel_status cli_statistics_of(double *out, const mel_layout *layout, const double *counts,
                             const char *const *class_name, const char *const *group_name, mel_error *err);

/* The option that says how common the classes are; the field is a double, NaN unless given. */
#define CLI_SHARES_OPTION(args, field)                                                                       \
    {                                                                                                        \
        .name = "shares", .argument = "P", .kind = CLI_NUMBER, .at = offsetof(args, field), .high = 1,       \
        .above_low = true, .below_high = true,                                                               \
        .help = "two classes: the share of the positive one, where the columns do not say it"                \
    }

#endif
