/* Fitting: options, refusals, choice of the solver, report. */
#include "model/objective.h"

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
    TRY(mel_options_take(out, sizeof *out, opt, "fit options", err));
    if ((x == NULL) == (out->engine == NULL))
        return mel_fail(err, MEL_EINVAL, "fitting needs features and labels, or an engine that has them");
    if (x != NULL)
        out->n_features = x->n_cols;
    if (!(out->l2 >= 0.0 && isfinite(out->l2)))
        return mel_fail(err, MEL_EINVAL, "l2 %g is not a finite number from 0 up", out->l2);
    if (!(out->tolerance > 0.0 && isfinite(out->tolerance)))
        return mel_fail(err, MEL_EINVAL, "tolerance %g is not a positive number", out->tolerance);
    if (out->solver < MEL_SOLVER_AUTO || out->solver > MEL_SOLVER_LBFGS)
        return mel_fail(err, MEL_EINVAL, "unknown solver %d", (int)out->solver);
    const mel_model *warm = out->warm;
    if (warm != NULL && (warm->n_classes != n_classes || warm->n_features != out->n_features))
        return mel_fail(err, MEL_EINVAL,
                        "the model to start from has %zu classes and %zu features, not %zu and %zu",
                        warm->n_classes, warm->n_features, n_classes, out->n_features);
    return MEL_OK;
}

/* Every class has rows of positive weight, of which there are so many. */
static mel_status check_classes(const double *rows, size_t k, bool weighted, mel_error *err)
{
    size_t n_present = 0, first_absent = 0;
    for (size_t c = k; c-- > 0;) {
        n_present += rows[c] > 0.0;
        first_absent = rows[c] > 0.0 ? first_absent : c;
    }
    if (n_present == 1)
        return mel_fail(err, MEL_EDATA, "only one class: every row%s has the same label",
                        weighted ? " of positive weight" : "");
    return n_present == k ? MEL_OK
                          : mel_fail(err, MEL_EDATA, "class %zu of %zu has no rows%s", first_absent, k,
                                     weighted ? " of positive weight" : "");
}

mel_status mel_model_check_rows(const mel_features *x, const uint32_t *y, const double *weight,
                                mel_error *err)
{
    double total = 0.0;
    if (y == NULL && x->n_rows > 0)
        return mel_fail(err, MEL_EINVAL, "fitting needs features and labels");
    TRY(mel_weights_check(&total, weight, x->n_rows, err));
    return mel_features_check(x, largest_feature, "fitting", err);
}

/* What rows there are, of the engine or here. Those elsewhere tell the squares of features, too. */
static mel_status ask_facts(double *facts, mel_objective *obj, mel_error *err)
{
    const size_t k = obj->n_classes, d = obj->n_features;
    const double in[] = { (double)k, (double)d };
    const mel_pass pass = { MEL_PASS_FACTS, 2, MEL_FACT_CLASSES + k + (obj->engine != NULL ? d : 0), in };
    obj->facts = facts;
    if (obj->engine != NULL) {
        TRY(obj->engine->run(facts, &pass, obj->engine->user, err));
    } else if (obj->x->n_rows == 0) {
        return mel_fail(err, MEL_EDATA, "no rows to fit on");
    } else {
        TRY(mel_model_check_rows(obj->x, obj->y, obj->weight, err));
        TRY(mel_model_pass(facts, &pass, obj->x, obj->y, obj->weight, obj->threads, err));
    }
    const double rows = facts[MEL_FACT_ROWS], total = obj->total = facts[MEL_FACT_WEIGHT];
    if (!(rows > 0.0))
        return mel_fail(err, MEL_EDATA, "no rows to fit on");
    if (!(total > 0.0 && isfinite(total)))
        return mel_fail(err, MEL_EDATA, "the weights of %.0f rows sum to %g", rows, total);
    return check_classes(facts + MEL_FACT_CLASSES, k, obj->weight != NULL || total != rows, err);
}

static mel_status check_sizes(size_t n_features, size_t k, mel_error *err)
{
    if (k == 0 || k >= UINT32_MAX)
        return mel_fail(err, MEL_EINVAL, "%zu classes", k);
    if (k == 1)
        return mel_fail(err, MEL_EDATA, "only one class: nothing to tell apart");
    if (n_features >= UINT32_MAX || n_features + 1 > SIZE_MAX / sizeof(double) / 4 / k)
        return mel_fail(err, MEL_ELIMIT, "%zu features for %zu classes are too many", n_features, k);
    return MEL_OK;
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
static mel_status run_solver(mel_model *model, mel_objective *obj, double *theta, double *gradient,
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
    if (obj->failure->code != MEL_OK) /* whatever the solver made of values that are not known */
        status = mel_fail(err, obj->failure->code, "%s", obj->failure->text);
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
    MEL_AUTO_MEMORY double *facts =
        mel_alloc_zero(MEL_FACT_CLASSES + model->n_classes + model->n_features, sizeof *facts);
    MEL_AUTO_MEMORY double *theta = mel_alloc_zero(p, sizeof *theta);
    MEL_AUTO_MEMORY double *gradient = mel_alloc_zero(p, sizeof *gradient);
    if (facts == NULL || theta == NULL || gradient == NULL)
        return mel_fail_memory(err, "the coefficients");
    TRY(ask_facts(facts, obj, err));
    const mel_objective_size size = { .n_cols = model->n_features,
                                      .rows = facts[MEL_FACT_ROWS],
                                      .entries = facts[MEL_FACT_ENTRIES] / facts[MEL_FACT_ROWS] };
    const mel_solver solver = choose_solver(&size, model->n_classes, p, opt->solver);
    if (solver == MEL_SOLVER_NEWTON && p > NEWTON_LIMIT)
        return mel_fail(err, MEL_ELIMIT, "%zu parameters are too many for Newton's method (limit %d)", p,
                        NEWTON_LIMIT);
    if (opt->warm != NULL)
        mel_model_theta(opt->warm, theta);
    return run_solver(model, obj, theta, gradient, opt, solver, err);
}

mel_status mel_model_fit(mel_model **out, mel_fit_report *report, const mel_features *x, const uint32_t *y,
                         size_t n_classes, const double *weight, const mel_fit_options *opt, mel_error *err)
{
    *out = NULL;
    mel_fit_options options = { 0 };
    TRY(check_options(&options, opt, x, n_classes, err));
    TRY(check_sizes(options.n_features, n_classes, err));
    mel_error failure = { 0 };
    mel_objective obj = { .engine = options.engine,
                          .failure = &failure,
                          .x = x,
                          .y = y,
                          .weight = weight,
                          .l2 = options.l2,
                          .n_classes = n_classes,
                          .n_features = options.n_features,
                          .threads = options.threads };
    MEL_AUTO(mel_model) *model = NULL;
    TRY(mel_model_new(&model, n_classes, options.n_features, err));
    TRY(fit(model, &obj, &options, err));
    if (report != NULL)
        *report = model->report;
    *out = model;
    model = NULL;
    return MEL_OK;
}
