/* L-BFGS, for many parameters or a Hessian that costs too much. */
#include "base/la.h"
#include "model/objective.h"

#include <limits.h>
#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEMORY = 20,     /* pairs of steps that the method remembers */
    MAX_RESTARTS = 8 /* with an empty memory, after the method gave up */
};
static const double value_cap = 1e19; /* NLopt's line search gives up at 1e20 */

typedef struct {
    mel_solve_state *s;
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
} lbfgs;

static double lbfgs_value(unsigned n, const double *variable, double *slope, void *data)
{
    lbfgs *lb = data;
    mel_solve_state *s = lb->s;
    if (slope == NULL || nlopt_get_force_stop(lb->opt) != 0) {
        if (slope != NULL)
            memset(slope, 0, n * sizeof *slope);
        return value_cap;
    }
    for (size_t i = 0; i < n; i++)
        lb->theta[i] = lb->scale[i] * lb->length * variable[i];
    const double value = mel_objective_eval(s->objective, lb->theta, lb->gradient, false);
    const double norm = mel_gradient_norm(s->objective, lb->gradient);
    s->iterations++;
    const bool usable = isfinite(value) && isfinite(norm);
    /* Values that differ by rounding only are told apart by their gradients. */
    const double margin = 1e-14 * fabs(s->value);
    if (usable && (value < s->value - margin || (value <= s->value + margin && norm < lb->best_norm))) {
        s->value = value;
        lb->best_norm = norm;
        memcpy(s->theta, lb->theta, n * sizeof *lb->theta);
        memcpy(s->gradient, lb->gradient, n * sizeof *lb->gradient);
        lb->status = mel_solve_progress(s, norm, lb->err);
    }
    if (lb->best_norm <= s->tolerance || s->iterations >= s->max_iterations || lb->status != MEL_OK)
        (void)nlopt_force_stop(lb->opt);
    for (size_t i = 0; i < n; i++)
        slope[i] = usable ? lb->scale[i] * lb->gradient[i] / lb->length : 0.0;
    return usable ? fmin((value - lb->origin) / lb->length / lb->length, value_cap) : value_cap;
}

/* Curvature of the first point's neighbourhood if all classes were equally likely: it takes the
 * units of the features out of the problem. */
static void choose_scale(lbfgs *lb)
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
static mel_status run(lbfgs *lb, mel_error *err)
{
    const size_t p = lb->s->objective->n_params;
    lb->opt = nlopt_create(NLOPT_LD_LBFGS, (unsigned)p);
    if (lb->opt == NULL)
        return mel_fail_memory(err, "L-BFGS");
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

static mel_status restart_while_better(lbfgs *lb, mel_error *err)
{
    mel_solve_state *s = lb->s;
    choose_scale(lb);
    mel_objective_centre(s->objective, s->theta);
    s->value = mel_objective_eval(s->objective, s->theta, s->gradient, false);
    lb->best_norm = s->first_norm = mel_gradient_norm(s->objective, s->gradient);
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

mel_status mel_minimise_lbfgs(mel_solve_state *s, mel_error *err)
{
    const size_t p = s->objective->n_params;
    if (p > INT_MAX)
        return mel_fail(err, MEL_ELIMIT, "%zu parameters are too many", p);
    lbfgs lb = { .s = s,
                 .err = err,
                 .scale = mel_alloc(p, sizeof *lb.scale),
                 .variable = mel_alloc(p, sizeof *lb.variable),
                 .theta = mel_alloc(p, sizeof *lb.theta),
                 .gradient = mel_alloc(p, sizeof *lb.gradient) };
    const bool enough = lb.scale != NULL && lb.variable != NULL && lb.theta != NULL && lb.gradient != NULL;
    const mel_status status = enough ? restart_while_better(&lb, err) : mel_fail_memory(err, "L-BFGS");
    free(lb.scale);
    free(lb.variable);
    free(lb.theta);
    free(lb.gradient);
    return status;
}
