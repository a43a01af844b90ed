/* Fitting: options, refusals, choice of the solver, report. */
#include "model/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEWTON_MAX_PARAMS = 2000, NEWTON_LIMIT = 20000, NEWTON_STEPS = 200, LBFGS_EVALUATIONS = 20000 };
/* A Newton fit needs about five Hessians, L-BFGS some hundred gradients more: above this many gradients'
 * worth a Hessian does not pay. */
static const double newton_max_gradients = 60.0;
/* Squares of features, summed over rows, must stay far from overflow. */
static const double largest_feature = 1e100;

void mel_fit_options_init(mel_fit_options *opt)
{
    *opt = (mel_fit_options){ .struct_size = sizeof *opt, .l2 = 1.0, .tolerance = 1e-9 };
}

static mel_status check_options(mel_fit_options *out, const mel_fit_options *opt, const mel_features *x,
                                size_t n_classes, mel_error *err)
{
    mel_fit_options_init(out);
    const mel_status status = mel_options_take(out, sizeof *out, opt, "fit options", err);
    if (status != MEL_OK)
        return status;
    if (!(out->l2 >= 0.0 && isfinite(out->l2)))
        return mel_fail(err, MEL_EINVAL, "l2 %g is not a finite number from 0 up", out->l2);
    if (!(out->tolerance > 0.0 && isfinite(out->tolerance)))
        return mel_fail(err, MEL_EINVAL, "tolerance %g is not a positive number", out->tolerance);
    if (out->solver < MEL_SOLVER_AUTO || out->solver > MEL_SOLVER_LBFGS)
        return mel_fail(err, MEL_EINVAL, "unknown solver %d", (int)out->solver);
    const mel_model *warm = out->warm;
    if (warm != NULL && (warm->n_classes != n_classes || warm->n_features != x->n_cols))
        return mel_fail(err, MEL_EINVAL,
                        "the model to start from has %zu classes and %zu features, not %zu and %zu",
                        warm->n_classes, warm->n_features, n_classes, x->n_cols);
    return MEL_OK;
}

/* Every class has rows of positive weight. */
static mel_status check_labels(const uint32_t *y, size_t n, size_t k, const double *weight, mel_error *err)
{
    bool *present = mel_alloc_zero(k, sizeof *present);
    if (present == NULL)
        return mel_fail_memory(err, "the classes");
    mel_status status = MEL_OK;
    size_t n_present = 0, first_absent = 0;
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        if (y[i] >= k)
            status = mel_fail(err, MEL_EINVAL, "row %zu: class code %u, but there are %zu classes", i + 1,
                              y[i], k);
        else if (weight == NULL || weight[i] > 0.0)
            present[y[i]] = true;
    }
    for (size_t c = k; c-- > 0;) {
        n_present += present[c];
        first_absent = present[c] ? first_absent : c;
    }
    if (status == MEL_OK && n_present == 1)
        status = mel_fail(err, MEL_EDATA, "only one class: every row%s has the same label",
                          weight != NULL ? " of positive weight" : "");
    else if (status == MEL_OK && n_present < k)
        status = mel_fail(err, MEL_EDATA, "class %zu of %zu has no rows%s", first_absent, k,
                          weight != NULL ? " of positive weight" : "");
    free(present);
    return status;
}

static mel_status check_input(double *total, const mel_features *x, const uint32_t *y, size_t n_rows,
                              size_t k, const double *weight, mel_error *err)
{
    if (x == NULL || (y == NULL && n_rows > 0))
        return mel_fail(err, MEL_EINVAL, "fitting needs features and labels");
    if (k == 0 || k >= UINT32_MAX)
        return mel_fail(err, MEL_EINVAL, "%zu classes", k);
    if (n_rows == 0)
        return mel_fail(err, MEL_EDATA, "no rows to fit on");
    if (k == 1)
        return mel_fail(err, MEL_EDATA, "only one class: nothing to tell apart");
    if (x->n_cols >= UINT32_MAX || x->n_cols + 1 > SIZE_MAX / sizeof(double) / 4 / k)
        return mel_fail(err, MEL_ELIMIT, "%zu features for %zu classes are too many", x->n_cols, k);
    mel_status status = mel_weights_check(total, weight, n_rows, err);
    if (status == MEL_OK)
        status = check_labels(y, n_rows, k, weight, err);
    if (status == MEL_OK)
        status = mel_features_check(x, largest_feature, "fitting", err);
    return status;
}

static mel_objective_size size_of(const mel_features *x)
{
    const bool dense = x->dense != NULL || x->n_rows == 0 || x->n_cols == 0;
    return (mel_objective_size){
        .n_cols = x->n_cols,
        .rows = (double)x->n_rows,
        .entries = 1.0 + (dense ? (double)x->n_cols : (double)x->row_start[x->n_rows] / (double)x->n_rows)
    };
}

static mel_solver choose_solver(const mel_objective_size *size, size_t n_classes, size_t n_params,
                                mel_solver wish)
{
    if (wish != MEL_SOLVER_AUTO)
        return wish;
    const double gradients =
        mel_objective_hessian_cost(size, n_classes) / mel_objective_gradient_cost(size, n_classes);
    return n_params <= NEWTON_MAX_PARAMS && gradients <= newton_max_gradients ? MEL_SOLVER_NEWTON
                                                                              : MEL_SOLVER_LBFGS;
}

void mel_model_theta(const mel_model *model, double *theta)
{
    const size_t m = model->n_outputs, d = model->n_features;
    for (size_t c = 0; c < m; c++) {
        for (size_t j = 0; j < d; j++)
            theta[j * m + c] = model->weights[c * d + j];
        theta[d * m + c] = model->intercepts[c];
    }
}

void mel_model_set_theta(mel_model *model, const double *theta)
{
    const size_t m = model->n_outputs, d = model->n_features;
    for (size_t c = 0; c < m; c++) {
        for (size_t j = 0; j < d; j++)
            model->weights[c * d + j] = theta[j * m + c];
        model->intercepts[c] = theta[d * m + c];
    }
}

static void fill_report(mel_fit_report *report, const mel_solve_state *s, mel_solver solver)
{
    const mel_objective *obj = s->objective;
    *report = (mel_fit_report){ .reason = s->reason,
                                .solver = solver,
                                .iterations = s->iterations,
                                .objective = s->value,
                                .log_loss = (s->value - mel_objective_penalty(obj, s->theta)) / obj->total,
                                .gradient_norm = mel_gradient_norm(obj, s->gradient) };
}

/* Minimises from the start in theta; theta and gradient have room for every parameter. */
static mel_status minimise(mel_model *model, mel_objective *obj, double *theta, double *gradient,
                           const mel_fit_options *opt, mel_solver solver, mel_error *err)
{
    const bool newton = solver == MEL_SOLVER_NEWTON;
    mel_status status = mel_objective_init(obj, newton, err);
    if (status != MEL_OK)
        return status;
    const uint32_t budget = newton ? NEWTON_STEPS : LBFGS_EVALUATIONS;
    mel_solve_state s = { .objective = obj,
                          .theta = theta,
                          .gradient = gradient,
                          .tolerance = opt->tolerance,
                          .max_iterations = opt->max_iterations != 0 ? opt->max_iterations : budget,
                          .progress = &opt->progress };
    mel_blas_hold();
    status = newton ? mel_minimise_newton(&s, err) : mel_minimise_lbfgs(&s, err);
    mel_blas_release();
    if (status == MEL_OK) {
        mel_model_set_theta(model, theta);
        fill_report(&model->report, &s, solver);
        model->fitted = true;
        model->l2 = obj->l2;
    }
    mel_objective_clear(obj);
    return status;
}

static mel_status fit(mel_model *model, mel_objective *obj, const mel_fit_options *opt, mel_error *err)
{
    const size_t p = (model->n_features + 1) * model->n_outputs;
    const mel_objective_size size = size_of(obj->x);
    const mel_solver solver = choose_solver(&size, model->n_classes, p, opt->solver);
    if (solver == MEL_SOLVER_NEWTON && p > NEWTON_LIMIT)
        return mel_fail(err, MEL_ELIMIT, "%zu parameters are too many for Newton's method (limit %d)", p,
                        NEWTON_LIMIT);
    double *theta = mel_alloc_zero(p, sizeof *theta), *gradient = mel_alloc_zero(p, sizeof *gradient);
    mel_status status;
    if (theta == NULL || gradient == NULL) {
        status = mel_fail_memory(err, "the coefficients");
    } else {
        if (opt->warm != NULL)
            mel_model_theta(opt->warm, theta);
        status = minimise(model, obj, theta, gradient, opt, solver, err);
    }
    free(theta);
    free(gradient);
    return status;
}

mel_status mel_model_fit(mel_model **out, mel_fit_report *report, const mel_features *x, const uint32_t *y,
                         size_t n_classes, const double *weight, const mel_fit_options *opt, mel_error *err)
{
    *out = NULL;
    mel_objective obj = { .x = x, .y = y, .weight = weight, .n_classes = n_classes };
    mel_fit_options options = { 0 };
    mel_status status = x != NULL ? check_options(&options, opt, x, n_classes, err)
                                  : mel_fail(err, MEL_EINVAL, "fitting needs features and labels");
    if (status == MEL_OK)
        status = check_input(&obj.total, x, y, x->n_rows, n_classes, weight, err);
    if (status != MEL_OK)
        return status;
    obj.l2 = options.l2;
    obj.threads = options.threads;
    mel_model *model = NULL;
    status = mel_model_new(&model, n_classes, x->n_cols, err);
    if (status == MEL_OK)
        status = fit(model, &obj, &options, err);
    if (status != MEL_OK) {
        mel_model_free(model);
        return status;
    }
    if (report != NULL)
        *report = model->report;
    *out = model;
    return MEL_OK;
}
