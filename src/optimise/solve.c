/* The least-norm solution of a linear system, with its rank and condition. */
#include "base/la.h"
#include "optimise/optimise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* x += v (u'b)/s with u = a v/s: the part of the solution along right singular vector v. */
static void add_part(double *x, double *u, size_t m, size_t n, const double *a, const double *b,
                     const double *v, double s)
{
    mel_gemv(m, n, 1.0 / s, a, n, v, 0.0, u);
    mel_axpy(n, mel_dot(m, u, b) / s, v, x);
}

mel_status mel_solve_least_norm(double *x, size_t *rank, double *condition, size_t m, size_t n,
                                const double *a, const double *b, double tolerance, mel_error *err)
{
    double *copy = mel_alloc(m * n + n * n + n + m, sizeof *copy);
    if (copy == NULL)
        return mel_fail_memory(err, "a linear system");
    double *vt = copy + m * n, *value = vt + n * n, *u = value + n;
    memcpy(copy, a, m * n * sizeof *a);
    const mel_status status = mel_svd(m, n, copy, n, value, vt, err);
    *rank = 0;
    memset(x, 0, n * sizeof *x);
    for (size_t i = 0; status == MEL_OK && i < n && value[i] > tolerance * value[0]; i++) {
        add_part(x, u, m, n, a, b, vt + i * n, value[i]);
        ++*rank;
    }
    *condition = status == MEL_OK && *rank > 0 ? value[0] / value[*rank - 1] : INFINITY;
    free(copy);
    return status;
}
