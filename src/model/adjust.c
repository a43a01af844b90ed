/* Calibration on labelled rows: sharpness and an offset for each class; and shares of classes among
 * unlabelled rows. */
#include "base/la.h"
#include "model/model.h"
#include "model/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 100, MOST_HALVINGS = 40, EM_STEPS = 2000 };
/* Two classes: the prior is worth about a third of a row, so that it does not matter where rows are many;
 * draws stand for many rows in at most about 1,500 cells, and are to have the same. More classes: the most.
 */
static const double prior_rows = 0.3, most_penalty = 1e-3, least_penalty = 2e-4;
static const double least_probability = 1e-12, least_gain = 1e-15, hidden_gain = 1e-11;
static const double least_sharpness = 0.01, most_sharpness = 100.0;
/* Log-odds of groups are expected to differ from those of all rows by about 0.5: 1 / 0.5^2 for either offset.
 */
static const double group_rows = 8.0;
/* By how much the log-likelihood must be better for probabilities to be read the wrong way round. */
static const double more_likely = 5.0;

mel_status mel_adjustment_init_groups(mel_adjustment *out, size_t n_classes, size_t n_groups, mel_error *err)
{
    *out = (mel_adjustment){ .n_classes = n_classes, .n_groups = n_groups };
    const size_t n = n_classes * mel_adjustment_curves(out);
    const mel_part parts[] = { { n, { &out->offset, &out->sharpness, &out->least } } };
    TRY(MEL_NEED(mel_parts_new(MEL_PARTS(parts)), "an adjustment", err));
    for (size_t i = 0; i < n; i++)
        out->sharpness[i] = 1.0;
    return MEL_OK;
}

mel_status mel_adjustment_init(mel_adjustment *out, size_t n_classes, mel_error *err)
{
    return mel_adjustment_init_groups(out, n_classes, 0, err);
}

mel_status mel_adjustment_copy(mel_adjustment *out, const mel_adjustment *from, mel_error *err)
{
    TRY(mel_adjustment_init_groups(out, from->n_classes, from->n_groups, err));
    const size_t n = from->n_classes * mel_adjustment_curves(from);
    memcpy(out->sharpness, from->sharpness, n * sizeof *out->sharpness);
    memcpy(out->offset, from->offset, n * sizeof *out->offset);
    if (from->least != NULL)
        memcpy(out->least, from->least, n * sizeof *out->least);
    return MEL_OK;
}

void mel_adjustment_clear(mel_adjustment *adjustment)
{
    free(adjustment->offset);
    *adjustment = (mel_adjustment){ 0 };
}

void mel_adjustment_shift(mel_adjustment *adjustment, size_t n, const double *from, const double *to)
{
    for (size_t i = 0; i < adjustment->n_classes * mel_adjustment_curves(adjustment); i++)
        adjustment->offset[i] += log(fmax(to[i % adjustment->n_classes % n], least_probability)) -
                                 log(fmax(from[i % adjustment->n_classes % n], least_probability));
}

/* The curve that begins at number `first` of the adjustment. */
static void adjust_row(double *out, const mel_adjustment *a, size_t first, const double *p)
{
    const size_t k = a->n_classes;
    double top = -INFINITY, sum = 0.0;
    for (size_t i = 0; i < k; i++) {
        const double raised = a->least != NULL ? fmax(p[i], a->least[first + i]) : p[i];
        out[i] = raised > 0.0 ? a->offset[first + i] + a->sharpness[first + i] * log(raised) : -INFINITY;
        top = fmax(top, out[i]);
    }
    for (size_t i = 0; i < k; i++)
        sum += out[i] = exp(out[i] - top);
    for (size_t i = 0; i < k; i++)
        out[i] /= sum;
}

void mel_adjust(double *out, const mel_adjustment *adjustment, size_t n, const double *probability,
                const uint32_t *group)
{
    const size_t k = adjustment->n_classes;
#pragma omp parallel for schedule(static) if (n > 10000)
    for (size_t r = 0; r < n; r++)
        adjust_row(out + r * k, adjustment, adjustment->n_groups > 0 ? group[r] * k : 0, probability + r * k);
}

/* By bisection of the log-odds, in which the adjusted ones rise, or fall where the sharpness is negative. */
double mel_adjustment_undo(const mel_adjustment *a, size_t group, double adjusted)
{
    if (!(adjusted > 0.0 && adjusted < 1.0))
        return adjusted;
    const size_t first = a->n_groups > 0 ? group * 2 : 0;
    const double *offset = a->offset + first, *sharpness = a->sharpness + first;
    const double least[2] = { a->least != NULL ? log(a->least[first]) : -INFINITY,
                              a->least != NULL ? log(a->least[first + 1]) : -INFINITY };
    const double aim = log(adjusted / (1.0 - adjusted)) - offset[1] + offset[0];
    double low = -700.0, high = 700.0;
    for (size_t turn = 0; turn < 100; turn++) {
        const double x = 0.5 * (low + high); /* log p = -log(1 + exp(-x)), log(1 - p) = -log(1 + exp(x)) */
        const double yes = fmax(-log1p(exp(-x)), least[1]), no = fmax(-log1p(exp(x)), least[0]);
        const bool above = (sharpness[1] * yes - sharpness[0] * no > aim) == (sharpness[1] > 0.0);
        low = above ? low : x;
        high = above ? x : high;
    }
    return 1.0 / (1.0 + exp(-0.5 * (low + high)));
}

/* --- fitting ------------------------------------------------------------------------------------ */

typedef struct {
    const mel_rows *rows;
    double stand_for;
    size_t n, k;
    size_t n_sharp; /* 1, or of two classes 2 */
    const double *weight;
    const uint32_t *label;
    size_t group; /* whose rows count; SIZE_MAX: all */
    double total, penalty;
    double n_here;        /* rows that weigh something */
    double direction;     /* 1, or -1: probabilities run the wrong way */
    const double *centre; /* offsets and sharpness that the penalty pulls towards; NULL: 0 and direction */
    double *logs;         /* n x k: of the probabilities */
    double *row;          /* one row's */
    const mel_progress *progress; /* NULL: none */
} fit;

static double weight_of(const fit *f, size_t r)
{
    if (f->group != SIZE_MAX && f->rows->group[r] != f->group)
        return 0.0;
    return f->weight != NULL ? f->weight[r] : 1.0;
}

/* What a row with probabilities f->row adds to gradient and Hessian (below the diagonal), the sharpness being
 * last. */
static void add_slopes(const fit *f, size_t r, double w, double *gradient, double *hessian)
{
    const size_t k = f->k, m = k + 1;
    const double *logs = f->logs + r * k, *q = f->row;
    double mean = 0.0, square = 0.0; /* of the logarithms */
    for (size_t i = 0; i < k; i++) {
        mean += q[i] * logs[i];
        square += q[i] * logs[i] * logs[i];
    }
    for (size_t i = 0; i < k; i++) {
        gradient[i] += w * (q[i] - (i == f->label[r] ? 1.0 : 0.0));
        for (size_t j = 0; j <= i; j++)
            hessian[i * m + j] += w * q[i] * ((i == j ? 1.0 : 0.0) - q[j]);
        hessian[k * m + i] += w * q[i] * (logs[i] - mean);
    }
    gradient[k] += w * (mean - logs[f->label[r]]);
    hessian[k * m + k] += w * (square - mean * mean);
}

/* Two classes, with a sharpness each: the loss is one of the difference of their scores, x'theta. sum: the
 * loss, its gradient and its Hessian (below the diagonal), one behind the other. */
static void evaluate_two(double *sum, const fit *f, const double *theta)
{
    double *gradient = sum + 1, *hessian = gradient + 4;
    for (size_t r = 0; r < f->n; r++) {
        const double w = weight_of(f, r) / f->total;
        if (w == 0.0)
            continue;
        const double x[4] = { -1.0, 1.0, -f->logs[2 * r], f->logs[2 * r + 1] };
        const double score = theta[1] - theta[0] + theta[2] * x[2] + theta[3] * x[3];
        const double small = exp(-fabs(score)), less = small / (1.0 + small);
        const double own = score > 0.0 ? 1.0 - less : less, miss = w * (own - (double)f->label[r]);
        sum[0] += w * (fmax(score, 0.0) + log(1.0 + small) - (double)f->label[r] * score);
        for (size_t i = 0; i < 4; i++) {
            gradient[i] += miss * x[i];
            for (size_t j = 0; j <= i; j++)
                hessian[i * 4 + j] += w * less * (1.0 - less) * x[i] * x[j];
        }
    }
}

static void evaluate_any(double *sums, const fit *f, const double *theta)
{
    const size_t k = f->k;
    for (size_t r = 0; r < f->n; r++) {
        const double w = weight_of(f, r) / f->total, *logs = f->logs + r * k;
        double top = -INFINITY, sum = 0.0;
        if (w == 0.0)
            continue;
        for (size_t i = 0; i < k; i++) {
            f->row[i] = theta[i] + theta[k] * logs[i];
            top = f->row[i] > top ? f->row[i] : top;
        }
        const double own = f->row[f->label[r]];
        for (size_t i = 0; i < k; i++)
            sum += f->row[i] = exp(f->row[i] - top);
        sums[0] += w * (top + log(sum) - own);
        for (size_t i = 0; i < k; i++)
            f->row[i] /= sum;
        add_slopes(f, r, w, sums + 1, sums + 1 + k + 1);
    }
}

/* Loss at theta (offsets, then sharpness) with gradient and Hessian (below the diagonal). */
static void evaluate_adjustment(double *sums, const fit *f, const double *theta)
{
    const size_t k = f->k, m = k + f->n_sharp;
    double *gradient = sums + 1, *hessian = gradient + m;
    memset(sums, 0, (1 + m + m * m) * sizeof *sums);
    (f->n_sharp > 1 ? evaluate_two : evaluate_any)(sums, f, theta);
    for (size_t i = 0; i < m; i++) {
        const double away = theta[i] - (f->centre != NULL ? f->centre[i] : i >= k ? f->direction : 0.0);
        sums[0] += 0.5 * f->penalty * away * away;
        gradient[i] += f->penalty * away;
        hessian[i * m + i] += f->penalty;
    }
}

static void move(double *to, const fit *f, const double *from, const double *step, double size)
{
    for (size_t i = 0; i < f->k + f->n_sharp; i++)
        to[i] = from[i] - size * step[i];
    for (size_t i = f->k; i < f->k + f->n_sharp; i++)
        to[i] = f->direction * fmin(fmax(f->direction * to[i], least_sharpness), most_sharpness);
}

/* Damped Newton steps on a convex function; where a step gains less than rounding loses it is the last, and
 * where rounding of the loss may hide the gain, the whole step is made. room: 1 + 3 m + m^2 numbers. */
static mel_status minimise_adjustment(const fit *f, double *theta, double *room, mel_error *err)
{
    const size_t m = f->k + f->n_sharp;
    double *step = room, *next = room + m, *sums = room + 2 * m, *gradient = sums + 1,
           *hessian = gradient + m;
    evaluate_adjustment(sums, f, theta);
    double loss = sums[0];
    for (size_t turn = 0; turn < MOST_STEPS && mel_norm_inf(m, gradient) >= 1e-12; turn++) {
        double after = INFINITY, size = 1.0;
        memcpy(step, gradient, m * sizeof *step);
        TRY(mel_cholesky(m, hessian, m, err));
        if (f->progress != NULL)
            TRY(mel_report_progress(f->progress, "calibrating", (double)turn / MOST_STEPS, err));
        mel_cholesky_solve(m, hessian, m, step);
        const double gain = mel_dot(m, step, gradient);
        if (gain < least_gain) {
            move(theta, f, theta, step, 1.0);
            break;
        }
        const size_t tries = gain < hidden_gain ? 1 : MOST_HALVINGS;
        for (size_t t = 0; t < tries && !(after < loss); t++, size /= 2.0) {
            move(next, f, theta, step, size);
            evaluate_adjustment(sums, f, next);
            after = sums[0];
        }
        if (!(after < (tries == 1 ? INFINITY : loss)))
            break;
        loss = after;
        memcpy(theta, next, m * sizeof *theta);
    }
    return MEL_OK;
}

/* What the rows weigh, and how many of them weigh something; room: k numbers. */
static mel_status weigh(fit *f, double *room, mel_error *err)
{
    memset(room, 0, f->k * sizeof *room);
    f->total = f->n_here = 0.0;
    for (size_t r = 0; r < f->n; r++) {
        const double weight = weight_of(f, r);
        f->total += weight;
        room[f->label[r]] += weight > 0.0 ? 1.0 : 0.0;
    }
    for (size_t i = 0; i < f->k; i++) {
        f->n_here += room[i];
        if (!(room[i] > 0.0) && f->group == SIZE_MAX)
            return mel_fail(err, MEL_EDATA, "calibration: there are no rows of class %zu", i + 1);
    }
    return MEL_OK;
}

/* Where the search begins. */
static void put_start(double *theta, const fit *f, const mel_adjustment *start)
{
    for (size_t i = 0; i < f->k; i++)
        theta[i] = start != NULL ? start->offset[i] : 0.0;
    for (size_t i = 0; i < f->n_sharp; i++)
        theta[f->k + i] = start != NULL ? start->sharpness[i] : f->direction;
}

/* Half of the smallest probability above 0 of each class: what a probability of 0 is taken for. */
static void find_least(double *least, const fit *f)
{
    const size_t k = f->k;
    for (size_t i = 0; i < k; i++)
        least[i] = 1.0;
    for (size_t c = 0; c < f->n * k; c++)
        if (f->rows->probability[c] > 0.0)
            least[c % k] = fmin(least[c % k], f->rows->probability[c]);
    for (size_t i = 0; i < k; i++)
        least[i] = fmax(least[i] / 2.0, least_probability);
}

/* A curve that is as flat as it may be: the classes may be ranked the wrong way round. */
static bool is_flat(const fit *f, const double *theta)
{
    for (size_t i = 0; i < f->n_sharp; i++)
        if (fabs(theta[f->k + i]) <= 1.001 * least_sharpness)
            return f->n_sharp == 2;
    return false;
}

/* The best rising curve, or the best falling one where that is much more likely. room: 1 + 4 m + m^2. */
static mel_status fit_either_way(fit *f, double *theta, double *room, mel_error *err)
{
    const size_t m = f->k + f->n_sharp;
    double *other = room, *loss = room + m + 2 * m;
    TRY(minimise_adjustment(f, theta, room + m, err));
    if (!is_flat(f, theta))
        return MEL_OK;
    evaluate_adjustment(loss, f, theta);
    const double rising = *loss;
    f->direction = -f->direction;
    memcpy(other, theta, m * sizeof *other);
    for (size_t i = f->k; i < m; i++)
        other[i] = f->direction * fmax(fabs(theta[i]), 0.1);
    TRY(minimise_adjustment(f, other, room + m, err));
    evaluate_adjustment(loss, f, other);
    if (*loss < rising - more_likely / f->n_here)
        memcpy(theta, other, m * sizeof *theta);
    else
        f->direction = -f->direction;
    return MEL_OK;
}

static void put_curve(mel_adjustment *out, size_t curve, const fit *f, const double *theta,
                      const double *least)
{
    const size_t k = f->k, first = curve * k;
    memcpy(out->offset + first, theta, k * sizeof *theta);
    memcpy(out->least + first, least, k * sizeof *least);
    for (size_t i = 0; i < k; i++)
        out->sharpness[first + i] = theta[k + (f->n_sharp > 1 ? i : 0)];
}

/* The curve of a group, near that of all rows (centre), or that one itself where it has no rows. */
static mel_status fit_group(mel_adjustment *out, const fit *all, size_t group, const double *least,
                            double *theta, double *room, mel_error *err)
{
    fit f = *all;
    f.group = group;
    memcpy(theta, all->centre, (f.k + f.n_sharp) * sizeof *theta);
    TRY(weigh(&f, room, err));
    f.penalty = group_rows / f.n_here;
    if (f.n_here > 0.0)
        TRY(fit_either_way(&f, theta, room, err));
    put_curve(out, group, &f, theta, least);
    return MEL_OK;
}

static mel_status fit_rows(mel_adjustment *out, fit *f, const mel_adjustment *start, mel_error *err)
{
    const size_t n = f->n, k = f->k, m = k + f->n_sharp;
    MEL_AUTO_MEMORY double *theta = NULL;
    double *own = NULL, *room = NULL, *least = NULL;
    const mel_part parts[] = { { m, { &theta, &own, &f->row, &least } },
                               { 1 + 4 * m + m * m, { &room } },
                               { n * k, { &f->logs } } };
    TRY(MEL_NEED(mel_parts_new(MEL_PARTS(parts)), "an adjustment", err));
    TRY(weigh(f, room, err));
    find_least(least, f);
    for (size_t i = 0; i < n * k; i++)
        f->logs[i] = log(fmax(f->rows->probability[i], least[i % k]));
    f->penalty =
        f->n_sharp > 1 ? fmin(fmax(prior_rows / f->stand_for, least_penalty), most_penalty) : most_penalty;
    f->direction = 1.0;
    put_start(theta, f, start != NULL && start->sharpness[0] > 0.0 ? start : NULL);
    TRY(fit_either_way(f, theta, room, err));
    if (out->n_groups == 0)
        put_curve(out, 0, f, theta, least);
    f->centre = theta;
    for (size_t g = 0; g < out->n_groups; g++)
        TRY(fit_group(out, f, g, least, own, room, err));
    return MEL_OK;
}

mel_status mel_adjustment_fit(mel_adjustment *out, const mel_rows *rows, double stand_for,
                              const mel_adjustment *start, const mel_progress *progress, mel_error *err)
{
    fit f = { .rows = rows,
              .stand_for = stand_for,
              .n = rows->n_rows,
              .k = rows->n_classes,
              .n_sharp = rows->n_classes == 2 ? 2 : 1,
              .group = SIZE_MAX,
              .weight = rows->weight,
              .label = rows->label,
              .progress = progress };
    TRY(mel_adjustment_init_groups(out, f.k, rows->n_groups > 1 ? rows->n_groups : 0, err));
    const mel_status status = fit_rows(out, &f, start, err);
    if (status != MEL_OK)
        mel_adjustment_clear(out);
    return status;
}

/* --- shares of classes -------------------------------------------------------------------------- */

static void mean_row(double *out, size_t k, const mel_rows *rows)
{
    memset(out, 0, k * sizeof *out);
    for (size_t r = 0; r < rows->n_rows; r++)
        mel_axpy(k, 1.0 / (double)rows->n_rows, rows->probability + r * k, out);
}

static void label_shares(double *out, size_t k, const mel_rows *rows)
{
    memset(out, 0, k * sizeof *out);
    for (size_t r = 0; r < rows->n_rows; r++)
        out[rows->label[r]] += 1.0 / (double)rows->n_rows;
}

/* Saerens, Latinne and Decaestecker, with a pseudo-row of every class. next: k numbers. */
static void expect(double *share, double *next, size_t k, const double *from, const mel_rows *rows)
{
    const double n = (double)rows->n_rows + (double)k;
    memcpy(share, from, k * sizeof *share);
    double moved = 1.0;
    for (size_t turn = 0; turn < EM_STEPS && moved > 1e-10; turn++) {
        for (size_t i = 0; i < k; i++)
            next[i] = (double)k * from[i] / n;
        for (size_t r = 0; r < rows->n_rows; r++) {
            const double *p = rows->probability + r * k;
            double sum = 0.0;
            for (size_t i = 0; i < k; i++)
                sum += p[i] * share[i] / from[i];
            for (size_t i = 0; i < k && sum > 0.0; i++)
                next[i] += p[i] * share[i] / from[i] / sum / n;
        }
        moved = 0.0;
        for (size_t i = 0; i < k; i++)
            moved = fmax(moved, fabs(next[i] - share[i]));
        memcpy(share, next, k * sizeof *share);
    }
}

/* Which weights of the classes give the mean of the probabilities: soft BBSE. room: 2 k^2 + k. */
static mel_status match(double *share, double *room, size_t k, const double *from, const mel_rows *labelled,
                        const mel_rows *unlabelled, mel_error *err)
{
    double *joint = room, *mean = room + k * k, *weight = mean + k, sum = 0.0;
    size_t rank = 0;
    memset(joint, 0, k * k * sizeof *joint);
    for (size_t r = 0; r < labelled->n_rows; r++)
        for (size_t j = 0; j < k; j++)
            joint[j * k + labelled->label[r]] += labelled->probability[r * k + j] / (double)labelled->n_rows;
    mean_row(mean, k, unlabelled);
    TRY(mel_least_squares(k, k, joint, k, mean, 1e-9, weight, &rank, err));
    for (size_t i = 0; i < k; i++)
        sum += share[i] = fmax(weight[i], 0.0) * from[i];
    for (size_t i = 0; i < k; i++)
        share[i] = sum > 0.0 ? share[i] / sum : from[i];
    return MEL_OK;
}

mel_status mel_prior_estimate(double *likely, double *matched, size_t n_classes, const mel_rows *labelled,
                              const mel_rows *unlabelled, mel_error *err)
{
    const size_t k = n_classes;
    MEL_AUTO_MEMORY double *from = NULL;
    double *next = NULL, *room = NULL;
    const mel_part parts[] = { { k, { &from, &next } }, { 2 * k * k + 2 * k, { &room } } };
    TRY(MEL_NEED(mel_parts_new(MEL_PARTS(parts)), "shares of classes", err));
    label_shares(from, k, labelled);
    for (size_t i = 0; i < k; i++)
        if (!(from[i] > 0.0))
            return mel_fail(err, MEL_EDATA, "shares of classes: no labelled row is of class %zu", i + 1);
    expect(likely, next, k, from, unlabelled);
    return match(matched, room, k, from, labelled, unlabelled, err);
}
