/* What other rooms and the program use of this room beyond melicit/optimise.h; not exported. */
#ifndef MEL_OPTIMISE_SHARED_H
#define MEL_OPTIMISE_SHARED_H

#include "classify/shared.h"
#include "melicit/optimise.h"

/* Whether a metric failed, rather than the memory or the patience of whoever waits. */
bool mel_metric_fails(mel_status status);
/* MEL_EDATA for a value of a metric that is not finite. */
mel_status mel_metric_finite(double value, mel_error *err);
/* The value of decisions on n rows with these labels (NULL for a judge). MEL_EDATA for one that is not
 * finite.
 */
mel_status mel_black_box_of(double *out, const mel_black_box *box, size_t n, size_t n_classes,
                            const uint32_t *label, const double *chance, mel_error *err);

/* A program that judges. It is started once with /bin/sh -c; for each question it reads one JSON line
 * {"query": n, "classes": [...], "chances": [[...], ...]}, one list per validation row, or with labels_only
 * {"query": n, "labels": [...]}, and answers a line with a number. */
typedef struct mel_judge_command mel_judge_command;
typedef struct {
    size_t struct_size;
    double timeout; /* seconds to wait for an answer; 60 */
    double grace;   /* seconds the program has to end once its input is closed; 2 */
    bool labels_only;
    mel_progress progress; /* asked now and then while waiting: nonzero gives up with MEL_ESTOPPED */
} mel_judge_options;
void mel_judge_options_init(mel_judge_options *opt);
/* For rows and classes like these; names are borrowed. */
mel_status mel_judge_command_start(mel_judge_command **out, const char *program, size_t n_rows,
                                   size_t n_classes, const char *const *class_name,
                                   const mel_judge_options *opt, mel_error *err);
void mel_judge_command_end(mel_judge_command *judge);
/* The black box, which lends the program. A program that ends, is late, or says anything but a number is
 * asked no more: MEL_EDATA with what happened. */
mel_black_box mel_judge_command_box(mel_judge_command *judge);

/* How a search with a classifier ended: out->end and out->failure. Only missing memory is an error then. */
mel_status mel_optimise_ended(mel_optimise_result *out, bool flat, mel_status status, const mel_error *err);

/* The baseline "plug-in": a rule that predicts the class with the largest gain_j P(Y=j|x), with gains of line
 * searches on the validation rows over gain = zeta / (1 - zeta), zeta = spacing, 2 spacing, ... The thesis
 * (appendix E.6) finds the gain of each class relative to class 0 by rules that predict one of the two:
 * rounds = 0. With more than two classes such rules may tell nothing (every G-mean is 0), so the better of
 * that and gains of 1 is the start of up to `rounds` rounds in which the gain of one class after the other
 * moves while all classes decide: never worse than gains of 1. A line is an iteration. As mel_optimise
 * otherwise. */
mel_status mel_optimise_plug_in(mel_optimise_result *found, size_t n_classes,
                                const mel_weight_rows *validation, const mel_black_box *box, double spacing,
                                uint32_t rounds, const mel_progress *progress, mel_error *err);

/* Baselines of chapter 7 for training rows with noisy labels, or of another population than the validation
 * rows: these are corrected first, then the best rule for a measure without groups is found on them. One
 * iteration; `start` is the value of the model as it is. As mel_optimise otherwise. */
typedef enum {
    MEL_CORRECT_LABELS,     /* a label is of another class as `inverse` says (Table 7.1: T^-1 L) */
    MEL_CORRECT_IMPORTANCE, /* rows count as often as such rows and labels are among the validation rows */
    MEL_CORRECT_MATCHING    /* so that their means match in the space of a kernel, whatever the labels */
} mel_correction;
mel_status mel_optimise_corrected(mel_optimise_result *found, size_t n_classes, const mel_weight_rows *train,
                                  const mel_weight_rows *validation, mel_measure *measure,
                                  mel_correction correction, const double *inverse,
                                  const mel_optimise_options *opt, mel_error *err);
/* The inverse of a transition matrix, k x k: [i][j] is how probable label j is of a row of class i. MEL_EDATA
 * for rows that are no probabilities and for classes whose labels flip alike. */
mel_status mel_transition_invert(double *inverse, size_t k, const double *transition, mel_error *err);
/* That inverse by rows whose labels are right, and a model of the noisy labels. */
mel_status mel_transition_of_clean(double *inverse, size_t k, const mel_weight_rows *clean, mel_error *err);
/* The transition matrix by the training rows that the model is surest of, as forward correction takes it. */
mel_status mel_transition_of_sure(double *transition, size_t k, const mel_weight_rows *train, mel_error *err);

/* Shorter for two classes, where the next question is about the same gain again. */
double mel_compare_first_step(size_t n_classes);

/* Sets of basis functions, and sizes of epsilon, to choose from. */
typedef struct {
    size_t n_basis;
    const double *train, *validation; /* as in mel_weight_rows, whose own are not read */
    double epsilon;
} mel_weight_candidate;
/* Cross-fitting: `folds` times, each candidate is fitted without one part of the validation rows (stratified
 * by class and group, drawn by opt->seed), and its decisions about that part are kept; the value of a
 * candidate is the metric of all decisions together. For metrics of confusion entries. */
typedef struct {
    double *value; /* lent, one for each candidate; NaN: not known, for the run was cut short */
    size_t best;   /* the candidate with the largest value */
    /* Stopped by the progress, or the metric failed (`end`, `failure`): the best classifier of any fold by
     * its value on all validation rows, of candidate `best`. Else without rules. For mel_optimise_clear. */
    mel_optimise_result cut;
} mel_weight_choice;
mel_status mel_optimise_choose(mel_weight_choice *out, size_t n_candidates,
                               const mel_weight_candidate *candidate, size_t folds, size_t n_classes,
                               const mel_weight_rows *train, const mel_weight_rows *validation,
                               const mel_black_box *box, const mel_optimise_options *opt, mel_error *err);

#endif
