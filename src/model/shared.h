/* What other rooms and the program use of this room beyond melicit/model.h; not exported. */
#ifndef MEL_MODEL_SHARED_H
#define MEL_MODEL_SHARED_H

#include "data/shared.h"
#include "melicit/model.h"

/* mel_model_load of bytes; `name` stands for the file in messages. */
mel_status mel_model_load_memory(mel_model **out, const void *bytes, size_t n, const char *name,
                                 mel_error *err);

/* Coefficients: (two classes: 1, else n_classes) rows of n_features, and as many intercepts. Lent. */
const double *mel_model_weights(const mel_model *model);
const double *mel_model_intercepts(const mel_model *model);

/* Probabilities of any other model, checked: finite, within [0, 1], rows summing to 1 within 1e-3 (then
 * rescaled exactly; a warning says of how many rows that changed more than 1e-6, which is above the rounding
 * of float32). One column is P(second class) of two, whatever its name says. */
typedef struct {
    size_t n_rows, n_classes;
    size_t n_columns; /* of the file: 1, or one for each class */
    double *value;    /* row-major, n_classes numbers per row */
    char **name;      /* of the columns, from the header of a CSV, or NULL */
    size_t n_rescaled;
} mel_proba;
mel_status mel_proba_read(mel_proba *out, const char *path, const mel_read_options *opt, mel_error *err);
void mel_proba_clear(mel_proba *proba);
/* Fitted to labelled rows that the model has not seen, by penalised likelihood: 0.3 / stand_for (how many
 * rows they stand for), at most 1e-3 and at least 2e-4, times the squares of the offsets and of sharpness - 1
 * is added to twice the mean log-loss. Two classes have a sharpness each (beta calibration): models err
 * differently at either end; more share one. Probabilities of 0 are raised to half of the smallest other one
 * of their class, so that the fit can move them. Two classes that are ranked the wrong way round get negative
 * sharpness. With groups each of them has a curve of its own, shrunk towards that of all rows: 8 / (rows of
 * the group) times the squared differences is the penalty, so that few rows change little. progress and
 * start, where the search begins, may be NULL. MEL_EDATA for a class without rows. */
mel_status mel_adjustment_fit(mel_adjustment *out, const mel_rows *rows, double stand_for,
                              const mel_adjustment *start, const mel_progress *progress, mel_error *err);
/* n rows; out may be probability itself. group: of each row, where the adjustment has groups. */
void mel_adjust(double *out, const mel_adjustment *adjustment, size_t n, const double *probability,
                const uint32_t *group);
/* mel_adjustment_init with a curve for each of n_groups; 0: one for all. */
mel_status mel_adjustment_init_groups(mel_adjustment *out, size_t n_classes, size_t n_groups, mel_error *err);
/* Curves that it holds. */
static inline size_t mel_adjustment_curves(const mel_adjustment *a)
{
    return a->n_groups > 0 ? a->n_groups : 1;
}
mel_status mel_adjustment_copy(mel_adjustment *out, const mel_adjustment *from, mel_error *err);
/* Whether an AUC is below 1/2 by more than chance makes it, with so many rows of the second and the first
 * class: three standard deviations. */
bool mel_auc_wrong_way(double auc, double positives, double negatives);
/* mel_separation_of for rows that stand for several (count, NULL: for one); number: rows of each class. */
mel_status mel_separation_counted(mel_separation *out, double number[2], size_t n, const double *probability,
                                  const uint32_t *label, const double *count, double most_alarms,
                                  mel_error *err);
/* Mean negative log-likelihood of labels y under probs (n x k); probabilities are clipped at 1e-15.
 * NaN without rows and when all weights are 0: there is no mean then. */
double mel_log_loss(size_t n, size_t k, const double *probs, const uint32_t *y, const double *weight);
/* Shares of the classes among n unlabelled rows, two ways: `likely` by expectation maximisation from the
 * shares `from` on adjusted probabilities, with one pseudo-row of each class; `matched` by what the mean of
 * the probabilities would be with these shares (soft BBSE), learned from labelled rows. k numbers each. */
mel_status mel_prior_estimate(double *likely, double *matched, size_t n_classes, const mel_rows *labelled,
                              const mel_rows *unlabelled, mel_error *err);

/* The encoding that travels with the coefficients, so that a file is enough to predict from tables: taken
 * over; lent, NULL when there is none. */
void mel_model_set_encoder(mel_model *model, mel_encoder *encoder); /* takes over */
const mel_encoder *mel_model_encoder(const mel_model *model);       /* lent; NULL when none */
size_t mel_model_features(const mel_model *model);
/* Whether class names that look like numbers are texts, sorted by byte; false unless it was said. */
void mel_model_set_number_texts(mel_model *model, bool yes);
bool mel_model_number_texts(const mel_model *model);

/* Words of model files and programs, in the order of mel_fit_reason and mel_solver. */
static const char *const mel_reason_words[] = { "converged", "stalled", "budget" };
static const char *const mel_solver_words[] = { "auto", "newton", "lbfgs" };

#endif
