/* melicit/model.h: class probabilities, from our own logistic regression or from any other model. */
#ifndef MELICIT_MODEL_H
#define MELICIT_MODEL_H

#include "melicit/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Multinomial logistic regression (two classes: one weight vector for the second class). Minimises
 *     sum_i weight_i * log-loss_i + l2/2 * ||weights||^2,        intercepts not penalised,
 * which is scikit-learn's LogisticRegression with C = 1/l2. */
typedef struct mel_model mel_model;

typedef enum { MEL_SOLVER_AUTO = 0, MEL_SOLVER_NEWTON = 1, MEL_SOLVER_LBFGS = 2 } mel_solver;
/* Why a fit ended; a result, not an error. */
typedef enum {
    MEL_FIT_CONVERGED = 0, /* gradient norm below the tolerance */
    MEL_FIT_STALLED = 1,   /* no further decrease in floating point */
    MEL_FIT_BUDGET = 2     /* iterations used up */
} mel_fit_reason;

typedef struct {
    size_t struct_size;
    double l2;               /* 1 */
    double tolerance;        /* largest gradient entry divided by the sum of weights: 1e-9 */
    uint32_t max_iterations; /* 200 Newton steps or 20,000 gradient evaluations when 0 */
    /* AUTO: Newton while there are at most 2,000 parameters and a Hessian costs at most as much as 60
     * gradients. */
    mel_solver solver;
    const mel_model *warm; /* start from these coefficients (same shape), or NULL */
    int threads;
    mel_progress progress;
    const mel_row_engine *engine; /* lent: the rows are where it says, x, y and weight are NULL; NULL: here */
    size_t n_features;            /* of an engine's rows */
} mel_fit_options;
MEL_API void mel_fit_options_init(mel_fit_options *opt);

typedef struct {
    mel_fit_reason reason;
    mel_solver solver;
    uint32_t iterations;
    double objective;     /* the sum above */
    double log_loss;      /* mean log-loss on the training rows */
    double gradient_norm; /* as compared with the tolerance */
} mel_fit_report;

/* Trains a model. y: codes below n_classes, every class present; weight: NULL or n_rows non-negative finite
 * numbers. With an engine the coefficients are those of its rows in one place, to the tolerance of the fit.
 */
MEL_API mel_status mel_model_fit(mel_model **out, mel_fit_report *report, const mel_features *x,
                                 const uint32_t *y, size_t n_classes, const double *weight,
                                 const mel_fit_options *opt, mel_error *err);
MEL_API void mel_model_free(mel_model *model);

MEL_API size_t mel_model_classes(const mel_model *model); /* how many classes */
/* Names that travel with the coefficients; copied. Without them the classes are "0", "1", ... */
MEL_API mel_status mel_model_set_classes(mel_model *model, const char *const *names, mel_error *err);
/* What a class is called; lent. */
MEL_API const char *mel_model_class_name(const mel_model *model, size_t code);

/* The probability of each class for each row: probs is n_rows x n_classes, row-major. Rows sum to 1 within
 * 1e-12 and are finite for finite input. */
MEL_API mel_status mel_model_predict(double *probs, const mel_model *model, const mel_features *x,
                                     int threads, mel_error *err);

/* Model files: JSON with a version, class names, encodings and coefficients to full precision. Written to a
 * temporary file first. Load refuses what it does not understand, with the place. */
MEL_API mel_status mel_model_save(const mel_model *model, const char *path, mel_error *err);
MEL_API mel_status mel_model_load(mel_model **out, const char *path, mel_error *err);

/* Rows that something is learned from, or measured on. All pointers are borrowed. */
typedef struct {
    size_t n_rows, n_classes, n_groups; /* n_groups 0 or 1: none */
    const double *probability;          /* n_rows x n_classes; NULL: none */
    const uint32_t *label;              /* n_rows, below n_classes; NULL where nobody knows */
    const uint32_t *group;              /* n_rows, below n_groups; NULL without groups */
    const double *weight;               /* n_rows; NULL: 1 */
    const mel_features *x;              /* features to train on; NULL: none */
} mel_rows;

/* Calibrated probabilities: q_i proportional to exp(offset_i) max(p_i, least_i)^sharpness_i. */
typedef struct {
    size_t n_classes;
    /* n_classes numbers: of two classes both above 0, or both below 0 where the probabilities run the wrong
     * way; of more classes all the same, above 0. */
    double *sharpness;
    double *offset;  /* n_classes numbers; owns the memory of all three */
    double *least;   /* n_classes numbers: probabilities below are raised to it, as a model may err that says
                      * 0; NULL: none are */
    size_t n_groups; /* 0: one curve for all rows; else arrays hold n_classes numbers of each group */
} mel_adjustment;
/* An adjustment that changes nothing. */
MEL_API mel_status mel_adjustment_init(mel_adjustment *out, size_t n_classes, mel_error *err);
MEL_API void mel_adjustment_clear(mel_adjustment *adjustment);
/* Takes in that n classes have other shares where the rule is to be used: adds log(to_i / from_i) to the
 * offsets, of group after group where probabilities are those of groups and classes. */
MEL_API void mel_adjustment_shift(mel_adjustment *adjustment, size_t n, const double *from, const double *to);
/* Of two classes: which probability of the second class becomes `adjusted` in a group (0 without groups). */
MEL_API double mel_adjustment_undo(const mel_adjustment *adjustment, size_t group, double adjusted);

/* How well probabilities tell two classes apart, whatever the threshold. NaN without rows of both. */
typedef struct {
    double auc; /* the chance that a row of the second class is ranked above one of the first, ties half */
    double found, alarms; /* shares of the second and of the first class above the threshold in question */
    bool wrong_way;       /* they rank the classes the wrong way round, by more than chance does */
} mel_separation;
/* How well probabilities (n x 2) tell two classes apart; label: 1 for the second class. The threshold is the
 * lowest one above which is at most the share most_alarms of the first class. */
MEL_API mel_status mel_separation_of(mel_separation *out, size_t n, const double *probability,
                                     const uint32_t *label, double most_alarms, mel_error *err);
#ifdef __cplusplus
}
#endif
#endif
