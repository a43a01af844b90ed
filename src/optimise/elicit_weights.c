/* ElicitWeights (Algorithm 7.1) in moment form: the weights for which weighted training rows change as the
 * metric does, from probes around the current classifier. */
#include "base/la.h"
#include "optimise/optimise.h"
#include "optimise/shared.h"

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

/* The least-norm solution of a (m x n, m >= n, kept) x = b; singular values below tolerance * largest count
 * as 0. condition: largest over smallest that counts; infinite when none does. */
static mel_status solve_least_norm(double *x, size_t *rank, double *condition, size_t m, size_t n,
                                   const double *a, const double *b, double tolerance, mel_error *err)
{
    MEL_AUTO_MEMORY double *copy = mel_alloc(m * n + n * n + n + m, sizeof *copy);
    if (copy == NULL)
        return mel_fail_memory(err, "a linear system");
    double *vt = copy + m * n, *value = vt + n * n, *u = value + n;
    memcpy(copy, a, m * n * sizeof *a);
    TRY(mel_svd(m, n, copy, n, value, vt, err));
    *rank = 0;
    memset(x, 0, n * sizeof *x);
    for (size_t i = 0; i < n && value[i] > tolerance * value[0]; i++) {
        add_part(x, u, m, n, a, b, vt + i * n, value[i]);
        ++*rank;
    }
    *condition = *rank > 0 ? value[0] / value[*rank - 1] : INFINITY;
    return MEL_OK;
}

/* --- asking the black box ----------------------------------------------------------------------- */

bool mel_metric_fails(mel_status status)
{
    return status != MEL_OK && status != MEL_ENOMEM && status != MEL_ESTOPPED;
}

mel_status mel_metric_finite(double value, mel_error *err)
{
    return isfinite(value) ? MEL_OK : mel_fail(err, MEL_EDATA, "the metric is %g", value);
}

static mel_status take_value(double *out, mel_weighting *w, double value, mel_error *err)
{
    w->queries++;
    *out = value;
    return mel_metric_finite(value, err);
}

/* Decisions of the rows by draw number `draw`: the class in whose stretch of [0, 1] the row's number falls.
 */
static void draw_decisions(double *decided, const mel_weighting *w, const double *chance, size_t draw)
{
    const size_t n = w->validation->n_rows, k = w->size.k;
    memset(decided, 0, n * k * sizeof *decided);
    for (size_t i = 0; i < n; i++) {
        double left = w->uniform[draw * n + i];
        size_t j = 0;
        while (j + 1 < k && left >= chance[i * k + j])
            left -= chance[i * k + j++];
        decided[i * k + j] = 1.0;
    }
}

/* The same random numbers for every classifier: differences of values then tell classifiers apart. */
static mel_status judge_draws(double *out, mel_weighting *w, const double *chance, mel_error *err)
{
    double sum = 0.0;
    for (size_t d = 0; d < w->opt.draws; d++) {
        double value = NAN;
        draw_decisions(w->decided, w, chance, d);
        TRY(w->box->judge(&value, w->box->user, w->decided, err));
        TRY(take_value(&value, w, value, err));
        sum += value;
    }
    *out = sum / w->opt.draws;
    return MEL_OK;
}

mel_status mel_weighting_value(double *out, mel_weighting *w, const double *confusion, const double *chance,
                               mel_error *err)
{
    if (w->box->judge != NULL && w->opt.labels_only)
        return judge_draws(out, w, chance, err);
    double value = NAN;
    TRY(w->box->judge != NULL ? w->box->judge(&value, w->box->user, chance, err)
                              : w->box->value(&value, w->box->user, confusion, err));
    return take_value(out, w, value, err);
}

void mel_weighting_confusion(double *confusion, const mel_weighting *w, const double *validation)
{
    const size_t cells = w->size.n_groups * w->size.k * w->size.k;
    for (size_t c = 0; c < cells; c++)
        confusion[c] = validation[c * w->size.n_directions] / (double)w->validation->n_rows;
}

/* --- the probes --------------------------------------------------------------------------------- */

/* A probe: h moves by epsilon along u_d towards the constant class (fixed), or towards a classifier. */
typedef struct {
    size_t number, direction, class_code;
} probe;

static size_t count_probes(const mel_weighting *w)
{
    return w->opt.probes == MEL_PROBE_CONSTRAINED ? w->probes.n : (w->size.n_directions - 1) * w->size.k;
}

static probe probe_at(const mel_weighting *w, size_t number)
{
    return (probe){ number, 1 + number / w->size.k, number % w->size.k };
}

/* Change of the training sum of phi_l over a cell. */
static double train_change(const mel_weighting *w, const mel_iterate *h, const probe *p, size_t cell,
                           size_t l)
{
    const size_t k = w->size.k, n_basis = w->size.n_basis, n_directions = w->size.n_directions;
    const size_t class_code = w->size.whole ? cell / k : cell, predicted = w->size.whole ? cell % k : cell;
    const double *now = h->train + cell * n_directions * n_basis + l;
    if (w->opt.probes == MEL_PROBE_CONSTRAINED)
        return w->probes.train[(p->number * mel_weight_cells(&w->size) + cell) * n_basis + l] - now[0];
    const double moved = predicted == p->class_code
                             ? w->train_total[(class_code * n_directions + p->direction) * n_basis + l]
                             : 0.0;
    return moved - now[p->direction * n_basis];
}

/* Change of a validation share: [group][class][prediction]. */
static double validation_change(const mel_weighting *w, const mel_iterate *h, const probe *p, size_t cell)
{
    const size_t k = w->size.k, n_directions = w->size.n_directions;
    const double n = (double)w->validation->n_rows;
    if (w->opt.probes == MEL_PROBE_CONSTRAINED)
        return w->probes.validation[p->number * w->size.n_groups * k * k + cell] -
               h->validation[cell * n_directions] / n;
    const double moved =
        cell % k == p->class_code ? w->validation_total[cell / k * n_directions + p->direction] : 0.0;
    return (moved - h->validation[cell * n_directions + p->direction]) / n;
}

/* Chances of a probe on the validation rows. */
static void probe_chances(double *chance, const mel_weighting *w, const mel_iterate *h, const probe *p,
                          double *u)
{
    const size_t n = w->validation->n_rows, k = w->size.k;
    const double epsilon = w->opt.epsilon;
    if (w->opt.probes == MEL_PROBE_CONSTRAINED) {
        const double *towards = w->probes.chance + p->number * n * k;
        for (size_t i = 0; i < n * k; i++)
            chance[i] = h->chance[i] + epsilon * (towards[i] - h->chance[i]);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        mel_directions(u, &w->size, w->validation->probability + i * k,
                       mel_weight_basis_row(w->validation->basis, w->size.n_basis, i));
        for (size_t j = 0; j < k; j++)
            chance[i * k + j] =
                h->chance[i * k + j] +
                epsilon * u[p->direction] * ((j == p->class_code ? 1.0 : 0.0) - h->chance[i * k + j]);
    }
}

/* How the metric answers to a probe: the change, or with opt.values the value itself. */
static mel_status probe_value(double *out, mel_weighting *w, const mel_iterate *h, const probe *p, double *u,
                              mel_error *err)
{
    const size_t cells = w->size.n_groups * w->size.k * w->size.k;
    double value = 0.0;
    if (w->box->judge != NULL) {
        probe_chances(w->trial, w, h, p, u);
        TRY(mel_weighting_value(&value, w, NULL, w->trial, err));
    } else if (w->opt.known) {
        for (size_t c = 0; c < cells; c++)
            value += w->slope[c] * w->opt.epsilon * validation_change(w, h, p, c);
        *out = value;
        if (w->opt.values)
            *out += mel_dot(cells, w->slope, w->confusion);
        return MEL_OK;
    } else {
        double *moved = w->trial;
        for (size_t c = 0; c < cells; c++)
            moved[c] = w->confusion[c] + w->opt.epsilon * validation_change(w, h, p, c);
        TRY(mel_weighting_value(&value, w, moved, NULL, err));
    }
    *out = w->opt.values ? value : value - h->value;
    return MEL_OK;
}

/* --- the system --------------------------------------------------------------------------------- */

static void fill_row(double *row, const mel_weighting *w, const mel_iterate *h, const probe *p)
{
    const size_t n_basis = w->size.n_basis, block = w->size.n_directions * n_basis;
    for (size_t l = 0; l < n_basis; l++)
        for (size_t e = 0; e < w->n_cells; e++) {
            double entry = w->opt.epsilon * train_change(w, h, p, w->cell[e], l);
            if (w->opt.values)
                entry += h->train[w->cell[e] * block + l];
            row[l * w->n_cells + e] = entry / w->scale[l];
        }
}

static mel_status fill_system(double *system, double *right, mel_weighting *w, const mel_iterate *h,
                              mel_error *err)
{
    const size_t m = count_probes(w), n = w->size.n_basis * w->n_cells;
    MEL_AUTO_MEMORY double *u = mel_alloc(w->size.n_directions, sizeof *u);
    if (u == NULL)
        return mel_fail_memory(err, "a probe");
    if (w->box->judge == NULL)
        mel_weighting_confusion(w->confusion, w, h->validation);
    if (w->opt.known)
        TRY(w->box->gradient(w->slope, w->box->user, w->confusion, err));
    for (size_t i = 0; i < m; i++) {
        const probe p = probe_at(w, i);
        fill_row(system + i * n, w, h, &p);
        TRY(probe_value(&right[i], w, h, &p, u, err));
    }
    return MEL_OK;
}

/* As the authors' code does: (S - shift I)^-1 r. */
static mel_status solve_shifted(double *x, size_t *rank, double *condition, size_t n, double *system,
                                const double *right, double shift, mel_error *err)
{
    double rcond = 0.0;
    memcpy(x, right, n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        system[i * n + i] -= shift;
    TRY(mel_solve(n, system, n, 1, x, 1, &rcond, err));
    *rank = n;
    *condition = 1.0 / rcond;
    return MEL_OK;
}

static mel_status solve(double *x, size_t *rank, double *condition, const mel_weighting *w, double *system,
                        const double *right, mel_error *err)
{
    const size_t m = count_probes(w), n = w->size.n_basis * w->n_cells;
    return w->opt.shift != 0.0
               ? solve_shifted(x, rank, condition, n, system, right, w->opt.shift, err)
               : solve_least_norm(x, rank, condition, m, n, system, right, w->opt.rank_tolerance, err);
}

mel_status mel_elicit_weights(double *weight, bool *flat, size_t *rank, double *condition, mel_weighting *w,
                              const mel_iterate *h, mel_error *err)
{
    const size_t m = count_probes(w), n_cells = w->n_cells, n = w->size.n_basis * n_cells;
    const size_t all = mel_weight_cells(&w->size);
    MEL_AUTO_MEMORY double *system = mel_alloc_zero(m * n + m + n, sizeof *system);
    if (system == NULL)
        return mel_fail_memory(err, "a linear system");
    double *right = system + m * n, *x = right + m;
    *flat = true;
    memset(weight, 0, w->size.n_basis * all * sizeof *weight);
    TRY(fill_system(system, right, w, h, err));
    for (size_t i = 0; i < m && *flat; i++)
        *flat = right[i] == (w->opt.values ? right[0] : 0.0);
    if (*flat)
        return MEL_OK;
    TRY(solve(x, rank, condition, w, system, right, err));
    if (!mel_all_finite(n, x))
        return mel_fail(err, MEL_ENUMERIC, "the weights are not finite");
    for (size_t l = 0; l < w->size.n_basis; l++)
        for (size_t e = 0; e < n_cells; e++)
            weight[l * all + w->cell[e]] = x[l * n_cells + e];
    return MEL_OK;
}
