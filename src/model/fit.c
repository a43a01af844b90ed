/* Fitting: options and refusals, the two ways of minimising, their choice, the report. */
#include "base/la.h"
#include "model/objective.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

/* A search for the minimum. */
typedef struct {
    mel_objective *objective;
    double *theta;    /* start, then result: n_params */
    double *gradient; /* at theta when a solver returns */
    double value;     /* objective at theta when a solver returns */
    double tolerance; /* on gradient_norm */
    uint32_t max_iterations;
    uint32_t iterations;
    mel_fit_reason reason;
    const mel_progress *progress;
    double first_norm; /* for progress: gradient norm at the start */
} fit_state;

/* Largest entry of the gradient divided by the sum of weights. */
static double gradient_norm(const mel_objective *obj, const double *gradient)
{
    return mel_norm_inf(obj->n_params, gradient) / obj->total;
}

/* Progress on a logarithmic scale from the first gradient norm to the tolerance. */
static mel_status report_fitting(const fit_state *s, double norm, mel_error *err)
{
    const double whole = log(s->first_norm / s->tolerance), done = log(s->first_norm / norm);
    const double share = whole > 0.0 && done > 0.0 ? fmin(done / whole, 1.0) : 0.0;
    return mel_report_progress(s->progress, "fitting", share, err);
}

/* --- damped Newton steps by Cholesky, for few parameters ------------------------------------------------ */

/* Armijo's share of the decrease that the slope promises. */
static const double sufficient_decrease = 1e-4;
/* A promised decrease below this share of the value drowns in rounding: then the gradient decides. */
static const double noise = 1e-11;
/* A factorisation is used again while it shrinks the gradient at least by this factor a step. */
static const double good_rate = 0.1;
static const double first_ridge = 1e-12, last_ridge = 1e3; /* relative to a diagonal of ones */
enum { MAX_HALVINGS = 40 };

typedef struct {
    fit_state *s;
    double *factor; /* Cholesky factor of the scaled Hessian, lower triangle */
    double *scale;  /* 1 / sqrt(diagonal of the Hessian) */
    double *step;   /* direction */
    double *trial;  /* point tried */
    double *trial_gradient;
    double ridge; /* added to the scaled diagonal */
    double norm;  /* gradient norm at s->theta */
    double slope; /* gradient . step */
    double rate;  /* by what the last step changed the gradient norm */
    bool current; /* the objective's Hessian belongs to s->theta */
    bool fresh;   /* the factor does */
} newton_search;

/* Factorises the Hessian of the last evaluation, with unit diagonal plus ridge; a matrix that is not
 * positive definite in floating point gets a growing ridge. */
static mel_status factorise(newton_search *nw, mel_error *err)
{
    const size_t p = nw->s->objective->n_params;
    for (;;) {
        mel_objective_hessian(nw->s->objective, nw->factor);
        for (size_t i = 0; i < p; i++) {
            const double diagonal = nw->factor[i * p + i];
            nw->scale[i] = diagonal > 0.0 ? 1.0 / sqrt(diagonal) : 1.0;
        }
        for (size_t i = 0; i < p; i++) {
            for (size_t j = 0; j < i; j++)
                nw->factor[i * p + j] *= nw->scale[i] * nw->scale[j];
            const double diagonal = nw->factor[i * p + i];
            nw->factor[i * p + i] = (diagonal > 0.0 ? 1.0 : diagonal) + nw->ridge;
        }
        mel_error failure;
        const mel_status status = mel_cholesky(p, nw->factor, p, &failure);
        if (status == MEL_OK) {
            nw->fresh = true;
            return MEL_OK;
        }
        nw->ridge = fmax(nw->ridge * 100.0, first_ridge);
        if (status != MEL_ENUMERIC || nw->ridge > last_ridge)
            return mel_fail(err, status, "fitting: %s", failure.text);
    }
}

static void choose_step(newton_search *nw)
{
    const size_t p = nw->s->objective->n_params;
    for (size_t i = 0; i < p; i++)
        nw->step[i] = -nw->scale[i] * nw->s->gradient[i];
    mel_cholesky_solve(p, nw->factor, p, nw->step);
    for (size_t i = 0; i < p; i++)
        nw->step[i] *= nw->scale[i];
    nw->slope = mel_dot(p, nw->s->gradient, nw->step);
}

/* What the step promises is too small to be seen in the value. */
static bool drowned(const newton_search *nw)
{
    return -nw->slope <= noise * fmax(fabs(nw->s->value), DBL_MIN);
}

static bool acceptable(const newton_search *nw, double share, double value)
{
    if (!isfinite(value) || !mel_all_finite(nw->s->objective->n_params, nw->trial_gradient))
        return false;
    if (drowned(nw))
        return value <= nw->s->value + noise * fabs(nw->s->value) &&
               gradient_norm(nw->s->objective, nw->trial_gradient) < nw->norm;
    return value <= nw->s->value + sufficient_decrease * share * nw->slope;
}

static void accept(newton_search *nw, double value, bool with_hessian)
{
    fit_state *s = nw->s;
    const size_t bytes = s->objective->n_params * sizeof *s->theta;
    memcpy(s->theta, nw->trial, bytes);
    memcpy(s->gradient, nw->trial_gradient, bytes);
    s->value = value;
    nw->ridge = nw->ridge > first_ridge ? nw->ridge * 0.01 : 0.0; /* may not be needed here */
    const double norm = gradient_norm(s->objective, s->gradient);
    nw->rate = nw->norm > 0.0 ? norm / nw->norm : 0.0;
    nw->norm = norm;
    nw->current = with_hessian;
    nw->fresh = false;
}

/* Tries the whole step, then shorter ones. The Hessian is collected on the way while steps are not
 * yet so good that the old one will do. */
static bool search_line(newton_search *nw)
{
    fit_state *s = nw->s;
    double share = 1.0;
    for (int i = 0; i < MAX_HALVINGS; i++) {
        const bool with_hessian = i == 0 && nw->rate > good_rate;
        for (size_t j = 0; j < s->objective->n_params; j++)
            nw->trial[j] = s->theta[j] + share * nw->step[j];
        mel_objective_centre(s->objective, nw->trial);
        const double value = mel_objective_eval(s->objective, nw->trial, nw->trial_gradient, with_hessian);
        nw->current = nw->current && !with_hessian;
        if (acceptable(nw, share, value)) {
            accept(nw, value, with_hessian);
            return true;
        }
        if (drowned(nw))
            return false;
        /* Minimum of the parabola through what is known, kept away from both ends. */
        const double bend = value - s->value - share * nw->slope;
        const double best = isfinite(bend) && bend > 0.0 ? -0.5 * nw->slope * share * share / bend : 0.0;
        share = fmin(fmax(best, 0.1 * share), 0.5 * share);
    }
    return false;
}

/* The Hessian at s->theta, collected again unless the last evaluation did. */
static void refresh(newton_search *nw)
{
    if (!nw->current)
        nw->s->value = mel_objective_eval(nw->s->objective, nw->s->theta, nw->s->gradient, true);
    nw->current = true;
}

/* One accepted step, or s->reason = STALLED and *done. */
static mel_status advance(newton_search *nw, bool *done, mel_error *err)
{
    const bool reuse = !nw->current && nw->rate <= good_rate;
    for (bool old = reuse;; old = false) {
        if (!old && !nw->fresh) {
            refresh(nw);
            TRY(factorise(nw, err));
        }
        choose_step(nw);
        if (nw->slope < 0.0 && search_line(nw))
            return MEL_OK;
        if (old)
            continue;
        /* A step that leads nowhere although it is Newton's: lean towards the gradient. */
        nw->fresh = false;
        nw->ridge = fmax(nw->ridge * 1e4, first_ridge);
        if (nw->ridge > last_ridge || drowned(nw)) {
            nw->s->reason = MEL_FIT_STALLED;
            *done = true;
            return MEL_OK;
        }
    }
}

static mel_status take_newton_steps(newton_search *nw, mel_error *err)
{
    fit_state *s = nw->s;
    mel_objective_centre(s->objective, s->theta);
    s->value = mel_objective_eval(s->objective, s->theta, s->gradient, true);
    nw->current = true;
    nw->rate = 1.0;
    nw->norm = s->first_norm = gradient_norm(s->objective, s->gradient);
    if (!isfinite(s->value) || !isfinite(nw->norm))
        return mel_fail(err, MEL_ENUMERIC, "fitting: log-loss %g, gradient %g at the start", s->value,
                        nw->norm);
    for (bool done = false; !done;) {
        TRY(report_fitting(s, nw->norm, err));
        s->reason = MEL_FIT_CONVERGED;
        if (nw->norm <= s->tolerance)
            return MEL_OK;
        s->reason = MEL_FIT_BUDGET;
        if (s->iterations == s->max_iterations)
            return MEL_OK;
        TRY(advance(nw, &done, err));
        s->iterations += done ? 0 : 1;
    }
    return MEL_OK;
}

static mel_status minimise_newton(fit_state *s, mel_error *err)
{
    const size_t p = s->objective->n_params;
    newton_search nw = { .s = s };
    const mel_part parts[] = { { p * p, { &nw.factor } },
                               { p, { &nw.scale, &nw.step, &nw.trial, &nw.trial_gradient } } };
    TRY(MEL_NEED(mel_parts_new(MEL_PARTS(parts)), "the Hessian", err));
    const mel_status status = take_newton_steps(&nw, err);
    free(nw.factor);
    return status;
}

/* --- NLopt's L-BFGS, for many parameters or where a Hessian costs too much ------------------------------ */

enum {
    MEMORY = 20,     /* pairs of steps that the method remembers */
    MAX_RESTARTS = 8 /* with an empty memory, after the method gave up */
};
static const double value_cap = 1e19; /* NLopt's line search gives up at 1e20 */

typedef struct {
    fit_state *s;
    nlopt_opt opt;
    double *scale;    /* theta = scale * length * variable */
    double *variable; /* NLopt's point */
    double *theta, *gradient;
    /* NLopt sees (objective - origin) / length^2. With length the size of the scaled gradient at the
     * start, both gradient and distance to go are about 1 whatever the data; its own stop at a
     * gradient of 1e-8 is then a gain of eight digits, after which it is started again. */
    double length, origin;
    double best_norm;  /* of s->theta, the best point so far */
    mel_status status; /* progress asked to stop */
    mel_error *err;
} lbfgs_search;

static double lbfgs_value(unsigned n, const double *variable, double *slope, void *data)
{
    lbfgs_search *lb = data;
    fit_state *s = lb->s;
    if (slope == NULL || nlopt_get_force_stop(lb->opt) != 0) {
        if (slope != NULL)
            memset(slope, 0, n * sizeof *slope);
        return value_cap;
    }
    for (size_t i = 0; i < n; i++)
        lb->theta[i] = lb->scale[i] * lb->length * variable[i];
    const double value = mel_objective_eval(s->objective, lb->theta, lb->gradient, false);
    const double norm = gradient_norm(s->objective, lb->gradient);
    s->iterations++;
    const bool usable = isfinite(value) && isfinite(norm);
    /* Values that differ by rounding only are told apart by their gradients. */
    const double margin = 1e-14 * fabs(s->value);
    if (usable && (value < s->value - margin || (value <= s->value + margin && norm < lb->best_norm))) {
        s->value = value;
        lb->best_norm = norm;
        memcpy(s->theta, lb->theta, n * sizeof *lb->theta);
        memcpy(s->gradient, lb->gradient, n * sizeof *lb->gradient);
        lb->status = report_fitting(s, norm, lb->err);
    }
    if (lb->best_norm <= s->tolerance || s->iterations >= s->max_iterations || lb->status != MEL_OK)
        (void)nlopt_force_stop(lb->opt);
    for (size_t i = 0; i < n; i++)
        slope[i] = usable ? lb->scale[i] * lb->gradient[i] / lb->length : 0.0;
    return usable ? fmin((value - lb->origin) / lb->length / lb->length, value_cap) : value_cap;
}

/* Curvature of the first point's neighbourhood if all classes were equally likely: it takes the
 * units of the features out of the problem. */
static void choose_scale(lbfgs_search *lb)
{
    mel_objective *obj = lb->s->objective;
    const size_t d = obj->n_features, m = obj->n_outputs;
    double *square = lb->theta; /* d + 1 sums fit: n_params = (d + 1) m */
    mel_objective_squares(square, obj);
    square[d] = obj->total;
    const double share = 1.0 / (double)obj->n_classes;
    for (size_t j = 0; j <= d; j++) {
        const double bend = square[j] * share * (1.0 - share) + (j < d ? obj->l2 : 0.0);
        for (size_t c = 0; c < m; c++)
            lb->scale[j * m + c] = bend > 0.0 ? 1.0 / sqrt(bend) : 1.0;
    }
}

/* One run of NLopt from s->theta. Its return code only matters where memory ran out: why it ended is
 * known from the gradient and the count of evaluations, and -1 carries no text anyway. */
static mel_status run(lbfgs_search *lb, mel_error *err)
{
    const size_t p = lb->s->objective->n_params;
    TRY(MEL_NEED(lb->opt = nlopt_create(NLOPT_LD_LBFGS, (unsigned)p), "L-BFGS", err));
    lb->origin = lb->s->value;
    lb->length = 0.0;
    for (size_t i = 0; i < p; i++)
        lb->length = fmax(lb->length, fabs(lb->s->gradient[i]) * lb->scale[i]);
    for (size_t i = 0; i < p; i++)
        lb->variable[i] = lb->s->theta[i] / lb->scale[i] / lb->length;
    double value = 0.0;
    nlopt_result result = nlopt_set_min_objective(lb->opt, lbfgs_value, lb);
    if (result == NLOPT_SUCCESS)
        result = nlopt_set_vector_storage(lb->opt, MEMORY);
    if (result == NLOPT_SUCCESS)
        result = nlopt_optimize(lb->opt, lb->variable, &value);
    nlopt_destroy(lb->opt);
    if (result == NLOPT_OUT_OF_MEMORY)
        return mel_fail_memory(err, "L-BFGS");
    if (result == NLOPT_INVALID_ARGS)
        return mel_fail(err, MEL_ENUMERIC, "L-BFGS refuses %zu parameters", p);
    return lb->status;
}

static mel_status restart_while_better(lbfgs_search *lb, mel_error *err)
{
    fit_state *s = lb->s;
    choose_scale(lb);
    mel_objective_centre(s->objective, s->theta);
    s->value = mel_objective_eval(s->objective, s->theta, s->gradient, false);
    lb->best_norm = s->first_norm = gradient_norm(s->objective, s->gradient);
    if (!isfinite(s->value) || !isfinite(lb->best_norm))
        return mel_fail(err, MEL_ENUMERIC, "fitting: log-loss %g, gradient %g at the start", s->value,
                        lb->best_norm);
    for (int restart = 0; restart < MAX_RESTARTS; restart++) {
        const double before = s->value, norm_before = lb->best_norm;
        s->reason = MEL_FIT_CONVERGED;
        if (lb->best_norm <= s->tolerance)
            return MEL_OK;
        s->reason = MEL_FIT_BUDGET;
        if (s->iterations >= s->max_iterations)
            return MEL_OK;
        TRY(run(lb, err));
        if (!(s->value < before || lb->best_norm < norm_before))
            break;
    }
    if (lb->best_norm <= s->tolerance)
        s->reason = MEL_FIT_CONVERGED;
    else
        s->reason = s->iterations >= s->max_iterations ? MEL_FIT_BUDGET : MEL_FIT_STALLED;
    return MEL_OK;
}

static mel_status minimise_lbfgs(fit_state *s, mel_error *err)
{
    const size_t p = s->objective->n_params;
    if (p > INT_MAX)
        return mel_fail(err, MEL_ELIMIT, "%zu parameters are too many", p);
    lbfgs_search lb = { .s = s, .err = err };
    const mel_part parts[] = { { p, { &lb.scale, &lb.variable, &lb.theta, &lb.gradient } } };
    TRY(MEL_NEED(mel_parts_new(MEL_PARTS(parts)), "L-BFGS", err));
    const mel_status status = restart_while_better(&lb, err);
    free(lb.scale);
    return status;
}

/* --- options, refusals, choice of the solver, report ---------------------------------------------------- */

enum {
    NEWTON_MAX_PARAMS = 2000,
    NEWTON_LIMIT = 20000,
    NEWTON_STEPS = 200,
    LBFGS_EVALUATIONS = 20000,
    EXPONENTIAL_COST = 20 /* of one class of one row, in multiplications */
};
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

/* By the multiplications, about, of a gradient and of a Hessian with its factorisation; `entries` of a row,
 * the intercept included. */
static mel_solver choose_solver(double rows, double entries, size_t n_features, size_t n_classes,
                                size_t n_params)
{
    const double k = (double)n_classes, outputs = n_classes == 2 ? 1.0 : k;
    const double gradient = rows * outputs * (2.0 * entries + EXPONENTIAL_COST);
    const double p = ((double)n_features + 1.0) * outputs;
    const double hessian = rows * (0.5 * k * (k - 1.0)) * (0.5 * entries * (entries + 1.0)) + p * p * p / 6.0;
    return n_params <= NEWTON_MAX_PARAMS && hessian <= newton_max_gradients * gradient ? MEL_SOLVER_NEWTON
                                                                                       : MEL_SOLVER_LBFGS;
}

/* Between the model's rows of weights and the parameters' order. */
static void model_theta(const mel_model *model, double *theta)
{
    const size_t m = model->n_outputs, d = model->n_features;
    for (size_t c = 0; c < m; c++) {
        for (size_t j = 0; j < d; j++)
            theta[j * m + c] = model->weights[c * d + j];
        theta[d * m + c] = model->intercepts[c];
    }
}

static void set_model_theta(mel_model *model, const double *theta)
{
    const size_t m = model->n_outputs, d = model->n_features;
    for (size_t c = 0; c < m; c++) {
        for (size_t j = 0; j < d; j++)
            model->weights[c * d + j] = theta[j * m + c];
        model->intercepts[c] = theta[d * m + c];
    }
}

static void fill_report(mel_fit_report *report, const fit_state *s, mel_solver solver)
{
    const mel_objective *obj = s->objective;
    *report = (mel_fit_report){ .reason = s->reason,
                                .solver = solver,
                                .iterations = s->iterations,
                                .objective = s->value,
                                .log_loss = (s->value - mel_objective_penalty(obj, s->theta)) / obj->total,
                                .gradient_norm = gradient_norm(obj, s->gradient) };
}

/* Minimises from the start in theta; theta and gradient have room for every parameter. */
static mel_status run_solver(mel_model *model, mel_objective *obj, double *theta, double *gradient,
                             const mel_fit_options *opt, mel_solver solver, mel_error *err)
{
    const bool newton = solver == MEL_SOLVER_NEWTON;
    TRY(mel_objective_init(obj, newton, err));
    const uint32_t budget = newton ? NEWTON_STEPS : LBFGS_EVALUATIONS;
    fit_state s = { .objective = obj,
                    .theta = theta,
                    .gradient = gradient,
                    .tolerance = opt->tolerance,
                    .max_iterations = opt->max_iterations != 0 ? opt->max_iterations : budget,
                    .progress = &opt->progress };
    mel_blas_hold();
    mel_status status = newton ? minimise_newton(&s, err) : minimise_lbfgs(&s, err);
    mel_blas_release();
    if (obj->failure->code != MEL_OK) /* whatever the solver made of values that are not known */
        status = mel_fail(err, obj->failure->code, "%s", obj->failure->text);
    if (status == MEL_OK) {
        set_model_theta(model, theta);
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
    MEL_AUTO_MEMORY double *facts = NULL;
    double *theta = NULL, *gradient = NULL;
    const mel_part parts[] = { { MEL_FACT_CLASSES + model->n_classes + model->n_features, { &facts } },
                               { p, { &theta, &gradient } } };
    TRY(MEL_NEED(mel_parts_new(MEL_PARTS(parts)), "the coefficients", err));
    TRY(ask_facts(facts, obj, err));
    const double rows = facts[MEL_FACT_ROWS], entries = facts[MEL_FACT_ENTRIES] / rows;
    const mel_solver solver = opt->solver != MEL_SOLVER_AUTO
                                  ? opt->solver
                                  : choose_solver(rows, entries, model->n_features, model->n_classes, p);
    if (solver == MEL_SOLVER_NEWTON && p > NEWTON_LIMIT)
        return mel_fail(err, MEL_ELIMIT, "%zu parameters are too many for Newton's method (limit %d)", p,
                        NEWTON_LIMIT);
    if (opt->warm != NULL)
        model_theta(opt->warm, theta);
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
    return MEL_GIVE(out, model);
}
