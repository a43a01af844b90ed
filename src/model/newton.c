/* Damped Newton steps by Cholesky, for few parameters. */
#include "base/la.h"
#include "model/objective.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Armijo's share of the decrease that the slope promises. */
static const double sufficient_decrease = 1e-4;
/* A promised decrease below this share of the value drowns in rounding: then the gradient decides. */
static const double noise = 1e-11;
/* A factorisation is used again while it shrinks the gradient at least by this factor a step. */
static const double good_rate = 0.1;
static const double first_ridge = 1e-12, last_ridge = 1e3; /* relative to a diagonal of ones */
enum { MAX_HALVINGS = 40 };

typedef struct {
    mel_solve_state *s;
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
} newton;

double mel_gradient_norm(const mel_objective *obj, const double *gradient)
{
    return mel_norm_inf(obj->n_params, gradient) / obj->total;
}

mel_status mel_solve_progress(const mel_solve_state *s, double norm, mel_error *err)
{
    const double whole = log(s->first_norm / s->tolerance), done = log(s->first_norm / norm);
    const double share = whole > 0.0 && done > 0.0 ? fmin(done / whole, 1.0) : 0.0;
    return mel_report_progress(s->progress, "fitting", share, err);
}

/* Factorises the Hessian of the last evaluation, with unit diagonal plus ridge; a matrix that is not
 * positive definite in floating point gets a growing ridge. */
static mel_status factorise(newton *nw, mel_error *err)
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

static void choose_step(newton *nw)
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
static bool drowned(const newton *nw)
{
    return -nw->slope <= noise * fmax(fabs(nw->s->value), DBL_MIN);
}

static bool acceptable(const newton *nw, double share, double value)
{
    if (!isfinite(value) || !mel_all_finite(nw->s->objective->n_params, nw->trial_gradient))
        return false;
    if (drowned(nw))
        return value <= nw->s->value + noise * fabs(nw->s->value) &&
               mel_gradient_norm(nw->s->objective, nw->trial_gradient) < nw->norm;
    return value <= nw->s->value + sufficient_decrease * share * nw->slope;
}

static void accept(newton *nw, double value, bool with_hessian)
{
    mel_solve_state *s = nw->s;
    const size_t bytes = s->objective->n_params * sizeof *s->theta;
    memcpy(s->theta, nw->trial, bytes);
    memcpy(s->gradient, nw->trial_gradient, bytes);
    s->value = value;
    nw->ridge = nw->ridge > first_ridge ? nw->ridge * 0.01 : 0.0; /* may not be needed here */
    const double norm = mel_gradient_norm(s->objective, s->gradient);
    nw->rate = nw->norm > 0.0 ? norm / nw->norm : 0.0;
    nw->norm = norm;
    nw->current = with_hessian;
    nw->fresh = false;
}

/* Tries the whole step, then shorter ones. The Hessian is collected on the way while steps are not
 * yet so good that the old one will do. */
static bool search_line(newton *nw)
{
    mel_solve_state *s = nw->s;
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
static void refresh(newton *nw)
{
    if (!nw->current)
        nw->s->value = mel_objective_eval(nw->s->objective, nw->s->theta, nw->s->gradient, true);
    nw->current = true;
}

/* One accepted step, or s->reason = STALLED and *done. */
static mel_status advance(newton *nw, bool *done, mel_error *err)
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

static mel_status take_newton_steps(newton *nw, mel_error *err)
{
    mel_solve_state *s = nw->s;
    mel_objective_centre(s->objective, s->theta);
    s->value = mel_objective_eval(s->objective, s->theta, s->gradient, true);
    nw->current = true;
    nw->rate = 1.0;
    nw->norm = s->first_norm = mel_gradient_norm(s->objective, s->gradient);
    if (!isfinite(s->value) || !isfinite(nw->norm))
        return mel_fail(err, MEL_ENUMERIC, "fitting: log-loss %g, gradient %g at the start", s->value,
                        nw->norm);
    for (bool done = false; !done;) {
        TRY(mel_solve_progress(s, nw->norm, err));
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

mel_status mel_minimise_newton(mel_solve_state *s, mel_error *err)
{
    const size_t p = s->objective->n_params;
    newton nw = { .s = s,
                  .factor = p <= SIZE_MAX / p ? mel_alloc(p * p, sizeof *nw.factor) : NULL,
                  .scale = mel_alloc(p, sizeof *nw.scale),
                  .step = mel_alloc(p, sizeof *nw.step),
                  .trial = mel_alloc(p, sizeof *nw.trial),
                  .trial_gradient = mel_alloc(p, sizeof *nw.trial_gradient) };
    const bool enough = nw.factor != NULL && nw.scale != NULL && nw.step != NULL && nw.trial != NULL &&
                        nw.trial_gradient != NULL;
    const mel_status status = enough ? take_newton_steps(&nw, err) : mel_fail_memory(err, "the Hessian");
    free(nw.factor);
    free(nw.scale);
    free(nw.step);
    free(nw.trial);
    free(nw.trial_gradient);
    return status;
}
