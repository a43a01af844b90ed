/* What a fit minimises: penalised log-loss, its gradient and its Hessian.
 *
 * Rows are taken in fixed blocks, blocks are grouped into a fixed number of slices, every slice has its own
 * sums, and slices are added up in order: the numbers do not depend on the number of threads.
 *
 * Parameters are one array of (n_features + 1) x n_outputs, the coefficients of a feature side by side
 * and the intercepts last. */
#ifndef MEL_MODEL_OBJECTIVE_H
#define MEL_MODEL_OBJECTIVE_H

#include "model/model.h"

/* How the sums over rows of weight * p_c * p_c' * x_a * x_b are kept. */
typedef enum {
    MEL_CURVATURE_NONE,
    MEL_CURVATURE_PAIRS,    /* [a >= b packed][class pairs]: sparse rows */
    MEL_CURVATURE_PRODUCTS, /* [class pairs][a >= b packed]: dense rows, few features and many classes */
    MEL_CURVATURE_SQUARES   /* [class pairs][a][b], lower triangles: dense rows */
} mel_curvature;

enum { MEL_COLUMN_ROWS = 64 }; /* scores of so many rows of a few classes stay in the first-level cache */

/* Work space of one thread. */
typedef struct {
    double *score;  /* block rows x ld: scores, then residuals */
    double *column; /* n_outputs x MEL_COLUMN_ROWS: scores of some rows, class by class */
    double *pair;   /* n_pairs x block rows: weight * p_c * p_c' */
    double
        *buffer; /* products of features, features scaled by the root of a pair weight, or pairs of a row */
} mel_scratch;

typedef struct {
    /* Rows elsewhere: x, y and weight are NULL. A pass that failed is not tried again, values are then NaN.
     */
    const mel_row_engine *engine;
    mel_error *failure;
    const double *facts; /* of the engine's rows */
    double *pass_in, *pass_out;

    const mel_features *x;
    const uint32_t *y;
    const double *weight; /* NULL: ones */
    double total;         /* sum of all weights */
    double l2;
    size_t n_classes, n_features, n_outputs;
    size_t n_params;
    int threads;

    size_t ld;      /* n_outputs padded */
    size_t n_pairs; /* class pairs c > c'; two classes: 1 */
    size_t ld_pair; /* n_pairs padded */
    mel_curvature curvature;
    size_t curvature_size; /* doubles of one slice */
    size_t block_rows, product_rows, most_slices;
    double *coef;    /* padded copy of the parameters */
    double *scratch; /* work space of all threads, scratch_size each */
    size_t scratch_size;
    /* Sums over rows: the log-loss, the gradient, (n_features + 1) x ld, and the curvature. Of all rows, and
     * of slices. */
    size_t gradient_size, sum_size;
    double *sum, *slice_sum;
} mel_objective;

/* --- passes to an engine ------------------------------------------------------------------------ */

/* MEL_PASS_FACTS: in[0] classes, in[1] features. Its sums: rows, their weights, their entries (intercepts
 * included), rows of positive weight of each class, and weight times square of each feature unless there is
 * no room. */
enum { MEL_FACT_ROWS, MEL_FACT_WEIGHT, MEL_FACT_ENTRIES, MEL_FACT_CLASSES };
/* MEL_PASS_LOSS: in[0] classes, in[1] features, in[2] whether with curvature, then the parameters. Its sums:
 * the log-loss, the gradient in the order of the parameters, and for each pair of classes the curvature of
 * packed pairs of features a >= b. */
enum { MEL_LOSS_HEAD = 3 };
/* Weights and features of rows that are here. */
mel_status mel_model_check_rows(const mel_features *x, const uint32_t *y, const double *weight,
                                mel_error *err);
/* A pass over rows that are here, checked already but for their classes. MEL_EINVAL for a pass about other
 * rows. */
mel_status mel_model_pass(double *out, const mel_pass *pass, const mel_features *x, const uint32_t *y,
                          const double *weight, int threads, mel_error *err);

/* --- rows here or elsewhere --------------------------------------------------------------------- */

/* Fields engine .. threads are filled by the caller and checked already, of rows elsewhere n_features too;
 * with_hessian makes room for it. */
mel_status mel_objective_init(mel_objective *obj, bool with_hessian, mel_error *err);
void mel_objective_clear(mel_objective *obj);

/* Sums of weight x_j^2 over all rows, of each feature. */
void mel_objective_squares(double *square, const mel_objective *obj);
/* Value and gradient at theta; with_hessian also collects what mel_objective_hessian needs. A value
 * that is not finite says that theta is out of range. */
double mel_objective_eval(mel_objective *obj, const double *theta, double *gradient, bool with_hessian);
/* The Hessian at the last theta evaluated with one: n_params x n_params, lower triangle. With three
 * classes or more it is made regular along equal shifts of all classes of a feature, which gradient
 * and step have no part in. */
void mel_objective_hessian(const mel_objective *obj, double *hessian);
/* Sum over rows of weight * p_c * p_c' * x_a * x_b (two classes: p (1 - p)), a >= b. */
double *mel_objective_curvature(const mel_objective *obj, size_t a, size_t b, size_t pair);
/* l2/2 times the squared weights of theta. */
double mel_objective_penalty(const mel_objective *obj, const double *theta);
/* Removes what the classes of a feature have in common: it does not change probabilities, and never
 * lowers the penalty. Nothing to do for two classes. */
void mel_objective_centre(const mel_objective *obj, double *theta);
/* --- loops over a block of rows ------------------------------------------------------------------ */

/* Dense rows: above, one symmetric product per class pair is faster. */
enum { MEL_PAIRS_MAX_FEATURES = 64 };

/* score[i][c] of rows first .. first + n: coefficients times features plus intercept. */
void mel_block_scores(const mel_objective *obj, size_t first, size_t n, double *score);
/* Turns scores into residuals weight * (p - [y = c]) in place, returns the sum of losses, and fills pair
 * (unless NULL) with weight * p_c * p_c'. Padding becomes zero. */
double mel_block_residuals(const mel_objective *obj, size_t first, size_t n, const mel_scratch *scratch,
                           bool with_pairs);
/* gradient += features' * residuals, intercepts last. */
void mel_block_gradient(const mel_objective *obj, size_t first, size_t n, const double *residual,
                        double *gradient);
/* curvature += the products that obj->curvature says. */
void mel_block_curvature(const mel_objective *obj, size_t first, size_t n, const mel_scratch *scratch,
                         double *curvature);

#endif
