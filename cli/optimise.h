/* melicit optimise: what it reads, comparisons, its options, one run. */
#ifndef MEL_CLI_OPTIMISE_H
#define MEL_CLI_OPTIMISE_H

#include "columns.h"
#include "dataset.h"
#include "optimise/shared.h"

typedef struct {
    const char *probs, *labels, *validation_probs, *validation_labels, *validation_groups;
    const char *features, *validation_features, *columns, *label, *group;
    const char *data, *validation, *model_out; /* tables instead, and where their model is stored */
    mel_text_list skip;
    double l2;
    mel_naming naming;
    mel_reading reading;
} cli_optimise_files;

typedef struct {
    mel_classes classes;
    mel_proba train, validation;
    mel_labels train_labels, validation_labels; /* n_classes 0: there are none */
    mel_labels groups;                          /* of the validation rows; n_classes 0: none */
    mel_shards train_shards, validation_shards; /* n 0: one file each */
} cli_optimise_rows;
/* validation_labels may be missing only when `judged`: a program gives the values. */
mel_status cli_optimise_read(cli_optimise_rows *out, const cli_optimise_files *files, bool judged,
                             cli_run *run, mel_error *err);
/* The same from tables: a model is trained on files->data. The tables then are the files of features and
 * probabilities as far as messages and basis functions go: `path` holds their places, for the caller to free.
 */
mel_status cli_optimise_read_table(cli_optimise_rows *out, cli_optimise_files *files, char *path[2],
                                   bool judged, cli_run *run, mel_error *err);
void cli_optimise_rows_clear(cli_optimise_rows *rows);

/* A set of basis functions with its values. */
typedef struct {
    const char *text; /* as given */
    mel_weight_basis *basis;
    double *train, *validation;
} cli_optimise_basis;
/* "default", "columns:a,b", "columns:*", "kmeans:K", "rbf:WIDTH[,unsquared][,group]", "file:F", joined by
 * "+". */
mel_status cli_optimise_basis_make(cli_optimise_basis *out, const char *text, const cli_optimise_files *files,
                                   const cli_optimise_rows *rows, const cli_run *run, mel_error *err);
void cli_optimise_basis_clear(cli_optimise_basis *basis);

/* A measure by its name, or of a metric file, which *metric keeps. */
mel_status cli_optimise_measure(mel_measure **measure, mel_metric **metric, const char *text,
                                const cli_optimise_rows *rows, cli_run *run, mel_error *err);
/* The black box of a measure on the validation rows, with their groups. */
mel_black_box cli_optimise_box(mel_measure *measure, const cli_optimise_rows *rows);

typedef struct {
    const char *oracle, *noise, *session, *out;
    int strategy; /* of cli_compare_strategies */
    bool kinks;
    uint64_t max_questions; /* 0: the library's */
} cli_compare_args;
extern const char *const cli_compare_strategies[];

mel_status cli_optimise_compare(cli_run *run, const cli_optimise_rows *rows, const cli_compare_args *args,
                                mel_error *err);

enum { CLI_METHOD_FW, CLI_METHOD_PI, CLI_METHOD_PLUG_IN };
/* And behind them, in the order of mel_correction. */
enum { CLI_METHOD_CORRECT = CLI_METHOD_PLUG_IN + 1 };
typedef struct {
    cli_optimise_files files;
    cli_compare_args compare; /* its out is `out` */
    const char *metric, *entries, *out, *transition;
    mel_text_list basis, epsilon;
    int method, step, weights, probes, scale, rule, take;
    bool known, labels_only;
    uint64_t iterations, draws, rounds; /* rounds: UINT64_MAX unless given */
    double time_limit;
} cli_optimise_args;
extern const cli_optimise_args cli_optimise_defaults;
extern const cli_group cli_optimise_groups[];

/* The program of --metric cmd:PROGRAM; NULL: another metric. */
const char *cli_optimise_program(const char *metric);
mel_status cli_optimise_check(const cli_run *run, const cli_optimise_args *args, mel_error *err);

/* Cleared in one place. */
typedef struct {
    cli_optimise_files files;
    char *path[2]; /* of --data and --validation */
    cli_optimise_rows rows;
    cli_optimise_basis *basis;
    size_t n_basis; /* sets of functions */
    double *epsilon;
    size_t n_epsilon, chosen; /* chosen: basis number times n_epsilon plus epsilon number */
    double *cross_fitted;     /* of each candidate; NULL: there was nothing to choose */
    bool *entry;
    mel_metric *metric;
    mel_measure *measure;
    mel_judge_command *judge;
    mel_black_box box;
    mel_optimise_options opt;
    mel_optimise_result found;
    mel_classifier *classifier;
    double value;         /* of the classifier as stored, on the validation rows; NaN: not known */
    bool majority_failed; /* the metric, at the majority of the mixture */
} cli_optimise_work;
/* The rule of corrected training rows, into w->found. */
mel_status cli_optimise_correct(cli_optimise_work *w, const cli_optimise_args *args,
                                const mel_weight_rows *train, const mel_weight_rows *validation,
                                const cli_run *run, mel_error *err);

#endif
