/* The two ways of minimising an objective. */
#ifndef MEL_MODEL_SOLVER_H
#define MEL_MODEL_SOLVER_H

#include "model/objective.h"

typedef struct {
    mel_objective *objective;
    double *theta;    /* start, then result: n_params */
    double *gradient; /* at theta when a solver returns */
    double value;     /* objective at theta when a solver returns */
    double tolerance; /* on mel_gradient_norm */
    uint32_t max_iterations;
    uint32_t iterations;
    mel_fit_reason reason;
    const mel_progress *progress;
    double first_norm; /* for progress: gradient norm at the start */
} mel_solve_state;

/* Damped Newton by Cholesky factorisation; the objective has room for its Hessian. */
mel_status mel_minimise_newton(mel_solve_state *s, mel_error *err);
/* NLopt's L-BFGS in variables scaled by the diagonal of the Hessian. */
mel_status mel_minimise_lbfgs(mel_solve_state *s, mel_error *err);

/* Largest entry of the gradient divided by the sum of weights. */
double mel_gradient_norm(const mel_objective *obj, const double *gradient);
/* Progress on a logarithmic scale from the first gradient norm to the tolerance. */
mel_status mel_solve_progress(const mel_solve_state *s, double norm, mel_error *err);

#endif
