/* A metric from slopes at several places, by least squares. */
#include "elicit/search/slopes.h"

#include "base/la.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A second solution is told from rounding above this share of the largest singular value. */
static const double rounding = 1e-10;
/* What is less than this share of the whole and may be nil is taken to be nil. */
static const double small = 0.2;

void mel_slope_fit_clear(mel_slope_fit *fit)
{
    free(fit->value);
    free(fit->change);
    *fit = (mel_slope_fit){ .n_unknown = 0 };
}

/* Three standard deviations of a sum of errors that are spread evenly: a third of the square of each end is
 * its variance. */
static double likely(double squares)
{
    return sqrt(3.0 * squares);
}

/* --- equations ---------------------------------------------------------------------------------- */

typedef struct {
    const mel_slope_model *model;
    size_t n_rows;       /* at least as many as unknowns: nil rows at the end say nothing */
    double *matrix;      /* n_rows x unknowns; the decomposition overwrites it */
    double *gradient;    /* q x unknowns, at one place */
    double *along;       /* unknowns: the gradient's part along the slope */
    double *values, *vt; /* singular values, descending, and vectors */
    double *rows,
        *at_right;   /* of one place: its equations, and what its changes do to their right-hand side */
    double *product; /* changes of one place x unknowns */
} system_of;

static void system_clear(system_of *s)
{
    free(s->matrix); /* and all that was made with it */
}

/* In the directions that were searched, what is left of the gradient across the slope. */
static void write_rows(const system_of *s, const mel_slope_at *at, double *rows)
{
    const size_t q = s->model->n_coordinates, d = s->model->n_unknown;
    const mel_station *station = at->station;
    s->model->gradient(s->model->context, at->place, s->gradient);
    mel_gemv_t(q, d, 1.0, s->gradient, d, station->slope, 0.0, s->along);
    for (size_t i = 0; i < station->n; i++) {
        double *row = rows + i * d;
        const double *axis = station->basis != NULL ? station->basis + i * q : NULL;
        if (axis != NULL)
            mel_gemv_t(q, d, 1.0, s->gradient, d, axis, 0.0, row);
        else
            memcpy(row, s->gradient + i * d, d * sizeof *row);
        const double part = axis != NULL ? mel_dot(q, axis, station->slope) : station->slope[i];
        mel_axpy(d, -part, s->along, row);
    }
}

static mel_status system_make(system_of *s, const mel_slope_model *model, size_t n, const mel_slope_at *at,
                              mel_error *err)
{
    const size_t q = model->n_coordinates, d = model->n_unknown;
    size_t n_rows = 0;
    for (size_t i = 0; i < n; i++)
        n_rows += at[i].station->reached ? at[i].station->n : 0;
    *s = (system_of){ .model = model, .n_rows = n_rows > d ? n_rows : d };
    const mel_part parts[] = { { s->n_rows * d, { &s->matrix } },
                               { q * d, { &s->gradient, &s->rows, &s->product } },
                               { d, { &s->along, &s->values } },
                               { d * d, { &s->vt } },
                               { q * q, { &s->at_right } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "the equations of a search");
    double *row = s->matrix;
    for (size_t i = 0; i < n; i++)
        if (at[i].station->reached) {
            write_rows(s, &at[i], row);
            row += at[i].station->n * d;
        }
    return MEL_OK;
}

/* --- solution ----------------------------------------------------------------------------------- */

static bool has_slope(const mel_station *station)
{
    return station->reached && !station->flat;
}

/* How long the gradient is along the slope of a place; writes the place's equations into rows. */
static double length_at(const system_of *s, const mel_slope_at *at, const double *value)
{
    write_rows(s, at, s->rows);
    return mel_dot(s->model->n_unknown, s->along, value);
}

/* What the equations of a place leave of a true value of length 1, about: three standard deviations of the
 * angles of its slope, whose errors are spread evenly over their last intervals. */
static double noise_of(size_t q, size_t n, const mel_slope_at *at)
{
    double squares = 0.0, count = 0.0;
    for (size_t i = 0; i < n; i++)
        if (has_slope(at[i].station)) {
            squares += pow(mel_norm2((at[i].station->n - 1) * q, at[i].station->change), 2.0);
            count += 1.0;
        }
    return count > 0.0 ? likely(squares / count) : 0.0;
}

/* The least residual among values whose gradients along all slopes sum to 1: unlike the least among values of
 * length 1, it is not found where most gradients nearly vanish, which fits any slopes. With M = U S V' it is
 * proportional to V S^-2 V' towards. Directions with singular values within the noise all fit alike; of these
 * values the shortest is taken, which bends least. A function of a linear one, such as B = c d d', has the
 * same slopes everywhere whatever c is, and a c that is far too large has its best point inside the ball. */
static void solve_towards(mel_slope_fit *fit, const system_of *s, const double *towards, double noise)
{
    const size_t d = fit->n_unknown;
    const double least = s->values[d - 1], floor = pow(DBL_EPSILON * s->values[0], 2.0) + DBL_MIN;
    memset(fit->value, 0, d * sizeof *fit->value);
    for (size_t k = 0; k < d; k++) {
        const double *v = s->vt + k * d;
        const double share =
            s->values[k] <= noise ? 1.0 : (least * least + floor) / (s->values[k] * s->values[k] + floor);
        mel_axpy(d, share * mel_dot(d, v, towards), v, fit->value);
    }
    const double length = mel_norm2(d, fit->value);
    if (length > 0.0)
        mel_scale(d, 1.0 / length, fit->value);
}

/* Whether no gradient points against its slope by more than it may be off by: where a gradient is nil,
 * answers may show a slope that is none, and the length along it is as likely below zero as above. */
static bool goes_along(const mel_slope_fit *fit, const system_of *s, size_t n, const mel_slope_at *at)
{
    const size_t d = fit->n_unknown;
    double most = 0.0;
    for (size_t i = 0; i < n; i++)
        most = has_slope(at[i].station) ? fmax(most, length_at(s, &at[i], fit->value)) : most;
    for (size_t i = 0; i < n; i++) {
        const double against = has_slope(at[i].station) ? -length_at(s, &at[i], fit->value) : 0.0;
        if (against <= 1e-9 * most)
            continue;
        double squares = 0.0;
        for (size_t k = 0; k < fit->n_changes; k++)
            squares += pow(mel_dot(d, s->along, fit->change + k * d), 2.0);
        if (against > likely(squares))
            return false;
    }
    return true;
}

static mel_status read_solution(mel_slope_fit *fit, const system_of *s, size_t n, const mel_slope_at *at,
                                mel_error *err)
{
    const size_t d = fit->n_unknown;
    double *towards = mel_alloc_zero(d, sizeof *towards);
    if (towards == NULL)
        return mel_fail_memory(err, "the equations of a search");
    fit->flat = true;
    for (size_t i = 0; i < n; i++)
        if (has_slope(at[i].station)) {
            fit->flat = false;
            write_rows(s, &at[i], s->rows);
            mel_axpy(d, 1.0, s->along, towards);
        }
    solve_towards(fit, s, towards, noise_of(s->model->n_coordinates, n, at));
    fit->unique = s->values[d - 2] > rounding * s->values[0];
    free(towards);
    return MEL_OK;
}

/* When the slope turns by `change`, the right-hand side of the place's equations does by the gradient's
 * length times that, and the solution by the pseudo-inverse times it: V S^-2 V' rows' right. */
static void add_changes(const system_of *s, const mel_slope_at *at, const double *value, double *out)
{
    const mel_station *station = at->station;
    const size_t q = s->model->n_coordinates, d = s->model->n_unknown, turns = station->n - 1;
    const double length = length_at(s, at, value);
    for (size_t i = 0; i < turns; i++)
        for (size_t j = 0; j < station->n; j++) {
            const double *turn = station->change + i * q;
            const double part = station->basis != NULL ? mel_dot(q, station->basis + j * q, turn) : turn[j];
            s->at_right[i * station->n + j] = length * part;
        }
    mel_gemm(false, false, turns, d, station->n, 1.0, s->at_right, station->n, s->rows, d, 0.0, out, d);
    mel_gemm(false, true, turns, d, d, 1.0, out, d, s->vt, d, 0.0, s->product, d);
    for (size_t i = 0; i < turns; i++)
        for (size_t k = 0; k < d; k++)
            s->product[i * d + k] *= k + 1 < d ? 1.0 / (s->values[k] * s->values[k]) : 0.0;
    mel_gemm(false, false, turns, d, d, 1.0, s->product, d, s->vt, d, 0.0, out, d);
}

static mel_status find_changes(mel_slope_fit *fit, const system_of *s, size_t n, const mel_slope_at *at,
                               mel_error *err)
{
    const size_t d = fit->n_unknown;
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += has_slope(at[i].station) ? at[i].station->n - 1 : 0;
    fit->change = mel_alloc(count * d, sizeof *fit->change);
    if (fit->change == NULL)
        return mel_fail_memory(err, "the equations of a search");
    for (size_t i = 0; i < n; i++)
        if (has_slope(at[i].station)) {
            add_changes(s, &at[i], fit->value, fit->change + fit->n_changes * d);
            fit->n_changes += at[i].station->n - 1;
        }
    return MEL_OK;
}

mel_status mel_slope_fit_make(mel_slope_fit *fit, const mel_slope_model *model, size_t n,
                              const mel_slope_at *at, mel_error *err)
{
    const size_t d = model->n_unknown;
    *fit = (mel_slope_fit){ .n_unknown = d };
    fit->value = mel_alloc(d, sizeof *fit->value);
    if (fit->value == NULL)
        return mel_fail_memory(err, "the equations of a search");
    system_of s;
    mel_status status = system_make(&s, model, n, at, err);
    if (status == MEL_OK)
        status = mel_svd(s.n_rows, d, s.matrix, d, s.values, s.vt, err);
    if (status == MEL_OK) {
        status = read_solution(fit, &s, n, at, err);
        if (status == MEL_OK && fit->unique && !fit->flat)
            status = find_changes(fit, &s, n, at, err);
        fit->unique = fit->unique && goes_along(fit, &s, n, at);
        fit->n_changes = fit->unique ? fit->n_changes : 0;
    }
    system_clear(&s);
    return status;
}

/* --- intervals ---------------------------------------------------------------------------------- */

bool mel_change_hides(size_t n, const double *value, size_t stride, size_t n_changes, const double *change)
{
    double all = 0.0;
    for (size_t j = 0; j < n; j++) {
        double squares = 0.0;
        for (size_t i = 0; i < n_changes; i++)
            squares += change[i * stride + j] * change[i * stride + j];
        if (fabs(value[j]) > likely(squares))
            return false;
        all += squares;
    }
    return likely(all) <= small;
}
